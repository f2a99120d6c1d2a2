"""What each class publishes of every column, and as which text."""
