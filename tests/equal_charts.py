"""Equal charts are drawn once: of tests that render many pages, drawing them takes most of the time."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from hushtable.reporting import document

DRAWN: dict[bytes, str] = {}


@contextmanager
def equal_charts_drawn_once() -> Iterator[None]:
    """Keep the picture of each chart; a test that equal ones are drawn alike clears `DRAWN`."""
    draw = document.render_chart

    def draw_once(chart: document.Chart, prefix: str) -> str:
        key = pickle.dumps((chart.draws, chart.data, prefix))
        if key not in DRAWN:
            DRAWN[key] = draw(chart, prefix)
        return DRAWN[key]

    with mock.patch.object(document, "render_chart", draw_once):
        yield
