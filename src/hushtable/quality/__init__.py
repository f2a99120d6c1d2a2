"""What a release lost, and what it is still good for."""
