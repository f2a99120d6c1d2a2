"""The page about full domain is run."""

import doctest
from pathlib import Path


def test_examples_of_the_page_are_true():
    page = Path(__file__).parents[2] / "docs" / "full_domain.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted
    assert not result.failed
