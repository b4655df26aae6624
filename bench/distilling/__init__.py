"""How the table of the local embedder is made from a larger model."""
