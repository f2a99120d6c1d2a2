"""``python -m hushtable``: the same as the command ``hushtable``."""

from hushtable.cli import command

command()
