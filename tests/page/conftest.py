"""What all tests of the page share."""

from collections.abc import Iterator

import pytest

from equal_charts import equal_charts_drawn_once
from served_page import Visitor, hospital, served


@pytest.fixture(scope="module", autouse=True)
def _equal_charts_are_drawn_once() -> Iterator[None]:
    with equal_charts_drawn_once():
        yield


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A hospital's table, opened and decided; the tests of a file share it and put back what they change."""
    folder = tmp_path_factory.mktemp("ward")
    hospital(folder / "aufnahmen.csv", 200)
    with served(folder) as visitor:
        visitor.open("aufnahmen.csv")
        yield visitor
