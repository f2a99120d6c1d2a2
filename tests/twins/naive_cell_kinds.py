"""Cells of one kind, by the words of the definition: every pair of cells, value by value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations


def distinct_cells(cells: Sequence[str | None]) -> list[str]:
    """List the distinct cells besides `*` and missing ones."""
    return sorted({cell for cell in cells if cell not in (None, "*")})


def nest(cells: Sequence[str | None], values: Sequence[str | None], holds: Callable[[str, str | None], bool]) -> bool:
    """Tell whether of any two cells one holds all values of the other, or none of them."""
    held = [{value for value in values if holds(cell, value)} for cell in distinct_cells(cells)]
    return all(one <= other or other <= one or not one & other for one, other in combinations(held, 2))
