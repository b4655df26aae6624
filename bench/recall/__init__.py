"""Evidence recall: of the turns that answer a question about a conversation, how many a recall gives back."""
