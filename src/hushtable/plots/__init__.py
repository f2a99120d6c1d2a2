"""What is drawn: arrays to matplotlib axes, in one style."""
