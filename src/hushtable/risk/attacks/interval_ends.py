"""Where the ends of published intervals lie among the values of a column."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.columns import Column, from_texts, parse_cell
from hushtable.hierarchy import to_exact


class EndCodes(NamedTuple):
    """The codes of an interval, from one to below another, and those of the ends that belong to it."""

    first: int
    last: int
    codes: list[int]
    is_open: bool


def find_ends(text: str | None, column: Column, values: CountArray | FloatArray) -> EndCodes | None:
    """Return what an interval holds, of the values on the axis; the code of an end that is nobody's is their number."""
    cell = None if text is None else parse_cell(text)
    if cell is None or cell.ends is None or cell.ends.low is None or cell.ends.high is None:
        return None
    try:
        low, high = (_to_axis_value(bound, column) for bound in (cell.ends.low, cell.ends.high))
    except (ValueError, ArithmeticError):
        return None
    side: Literal["left", "right"] = "right" if cell.ends.is_closed else "left"
    first, last = int(np.searchsorted(values, low)), int(np.searchsorted(values, high, side=side))
    bounds = [low, high] if cell.ends.is_closed else [low]
    positions = [int(np.searchsorted(values, bound)) for bound in bounds]
    is_value = [place < len(values) and values[place] == bound for place, bound in zip(positions, bounds, strict=True)]
    codes = [place if there else len(values) for place, there in zip(positions, is_value, strict=True)]
    return EndCodes(first, last, codes, not cell.ends.is_closed)


def _to_axis_value(bound: str, column: Column) -> Any:
    if column.is_temporal:
        # Only a quarter is written as numpy does not read it.
        value = from_texts("", [bound], "date")[0].values[0] if "Q" in bound else np.datetime64(bound.replace(" ", "T"))
        return int(value.astype("datetime64[us]").astype(np.int64))
    exact = to_exact(bound)
    return exact if isinstance(exact, int) else float(exact)


def find_in_sorted(values: CountArray, wanted: CountArray) -> BoolArray:
    """Tell which are among sorted values; those that ask class by class find theirs close together."""
    places = np.searchsorted(values, wanted)
    found: BoolArray = places < len(values)
    found[found] = values[places[found]] == wanted[found]
    return found
