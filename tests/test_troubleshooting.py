"""The page of refusals quotes messages that the program has."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "troubleshooting.md"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
# As messages are written over several lines of code, and with values in them.
WORDS = re.sub(r'"\s*\n\s*f?"', "", SOURCE)


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs here")
def test_every_quoted_message_is_one_of_the_program():
    quoted = [
        each
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
        for each in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]
    assert len(quoted) > 15
    lacking = [each for each in quoted if each not in WORDS and re.sub(r"utf-8", "{encoding}", each) not in WORDS]
    assert lacking == []
