"""``python -m hushtable``: the same as the command ``hushtable``."""

from hushtable.cli import command

# A process that another one starts imports this file, and is no command.
if __name__ == "__main__":
    command()
