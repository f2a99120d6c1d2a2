"""What all tests of reports share."""

from collections.abc import Iterator

import pytest

from equal_charts import equal_charts_drawn_once


@pytest.fixture(scope="module", autouse=True)
def _equal_charts_are_drawn_once() -> Iterator[None]:
    with equal_charts_drawn_once():
        yield
