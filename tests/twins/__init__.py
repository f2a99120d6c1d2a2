"""Slow twins: every fast thing once more, in the most obvious way."""
