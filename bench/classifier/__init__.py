"""Training the classifier that ships with the package, and measuring it on sources it has not seen."""
