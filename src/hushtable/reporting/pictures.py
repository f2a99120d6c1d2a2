"""Charts to SVG that takes its colours from the page around it."""

from __future__ import annotations

import re
import warnings
from typing import Final

from hushtable.plots import charts, style
from hushtable.reporting.sections import Chart

__all__ = ["draw"]

_COLOURS: Final = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#b0b0b0": "var(--line)",
    **{colour: f"var(--series-{place})" for place, colour in enumerate(style.PALETTE, start=1)},
}
"""What matplotlib writes, and what stands for it on a page that may be light or dark."""


def draw(chart: Chart, prefix: str) -> str:
    """Return a chart as an ``svg`` element.

    Parameters
    ----------
    chart : Chart
    prefix : str
        What its ids begin with: two pictures on one page share none.
    """
    with style.apart():
        axes = getattr(charts, chart.draws)(**chart.data)
    with warnings.catch_warnings():
        # The reader's fonts write what matplotlib's have no sign for.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        svg = style.as_svg(axes)
    svg = svg[svg.index("<svg") :]
    for colour, variable in _COLOURS.items():
        svg = re.sub(colour, variable, svg, flags=re.IGNORECASE)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return _with_own_ids(_opened(svg), prefix)


def _opened(svg: str) -> str:
    """Let the page say how large the picture is; what it shows stands beside it in words."""
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return f'<svg {view[0]} aria-hidden="true" focusable="false">{rest}'


def _with_own_ids(svg: str, prefix: str) -> str:
    """Number the ids, which matplotlib draws at random, in the order in which they come."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f"{found[1]}{names.setdefault(found[2], f'{prefix}{len(names)}')}{found[3]}"

    svg = re.sub(r'(\bid=")([^"]+)(")', named, svg)
    svg = re.sub(r'(xlink:href="#)([^"]+)(")', named, svg)
    return re.sub(r"(url\(#)([^)]+)(\))", named, svg)
