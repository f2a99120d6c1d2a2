"""The examples of docs/scores.md, the source's listing 1 among them, run and print what the page says."""

import doctest
from pathlib import Path


def test_the_page_runs():
    page = Path(__file__).parents[2] / "docs" / "scores.md"
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 15
    assert result.failed == 0
