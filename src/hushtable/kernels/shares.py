"""What classes cost: the share of each column that they publish, and something for the length of a list.

Codes are shifted by one here: 0 is missing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable.kernels._jit import bare, inlined, record

__all__ = ["AXIS", "LETTER", "LEVEL", "PLACE", "WHOLE", "Axes", "cut_level", "price_prefixes", "share_of"]

LETTER = 0.006  # of the domain: what a character of a list costs, so that of equal cuts the shorter text wins
WHOLE = 2**40  # what shares of a domain are counted in

AXIS: Final = record(
    ("begin", np.int64),  # its entries follow from here on, one a shifted code
    ("is_ordered", np.bool_),  # whether the lowest and highest code tell what is published
    ("is_plain", np.bool_),  # an interval of positions or a set of values: no tree, no list, no round units
    ("domain", np.float64),  # how many values the whole column has, missing included
    ("weight", np.float64),
    ("depth", np.int64),  # levels of its tree, 0 without one
    ("most_units", np.int64),  # how many units a list holds, 0 where nothing is listed
    ("most_chars", np.int64),  # and characters
    ("n_rounds", np.int64),  # levels of round units that intervals are widened to, 0 without them
    ("keeps_labels", np.bool_),  # whether what lies in one round unit publishes that, however narrow it is
)

PLACE: Final = record(
    ("position", np.float64),  # in [0, 1] (ordered columns)
    ("chars", np.int64),  # what a unit adds to the length of a list
    ("listed", np.int64),  # the share of a unit of a hierarchy, times `WHOLE`: sums of it are exact
    ("unit", np.int32),  # the code that stands for what a list writes of this one: itself, or the first one of
    # the node below the top of a hierarchy
)

LEVEL: Final = record(
    ("step", np.float64),  # how wide a class of the column is at least that is widened to round units of a level
    ("start", np.float64),  # where the round unit over a code begins
    ("end", np.float64),  # and ends
    ("share", np.float64),  # of the domain, under the node
    ("node", np.int32),  # of the tree, over a code; -1 for missing
)


class Axes(NamedTuple):
    """What the codes of each column are worth.

    columns : AXIS (n_columns,)
    places : PLACE (n_entries,), entry ``begin`` + shifted code of a column
    levels : LEVEL (n_levels, n_entries), of trees and of round units
    """

    columns: NDArray[Any]
    places: NDArray[Any]
    levels: NDArray[Any]


@inlined
def _start(axes: Axes, level: int, entry: int) -> float:
    """Return where the round unit over an entry begins."""
    return float(axes.levels[level, entry].start)


@inlined
def share_of(axes: Axes, j: int, low: int, high: int, n_units: int, n_chars: int, listed: int) -> float:
    """Return what a class costs, from its lowest and highest code, and from what a list of it would hold.

    That is the share of the column that it publishes, and something for the length of a list. Without units
    it is not listed.
    """
    axis = axes.columns[j]
    is_short = 0 < n_units <= axis.most_units and n_chars <= axis.most_chars
    if not axis.is_ordered:
        if n_units == 1:
            return 0.0
        if is_short:
            return float(n_units / axis.domain + LETTER * n_chars)
    elif low == high and (axis.n_rounds == 0 or low == 0):
        return 0.0
    elif is_short and n_units > 1:
        return float(min(1.0, listed / WHOLE) + LETTER * n_chars)
    if low == 0:
        # Neither an interval nor a node but the top holds the missing value beside others: the cell becomes "*".
        return 1.0
    low, high = axis.begin + low, axis.begin + high
    if axis.depth > 0:
        return float(axes.levels[cut_level(axes, low, high) + 1, low].share)
    width = axes.places[high].position - axes.places[low].position
    if axis.n_rounds > 0:
        level = axis.n_rounds - 1
        if axis.keeps_labels:
            unit = 0
            while unit < axis.n_rounds and _start(axes, unit, low) != _start(axes, unit, high):
                unit += 1
            if unit < axis.n_rounds:
                return float(axes.levels[unit, high].end - axes.levels[unit, low].start)
        while level > 0 and width < axes.levels[level, low].step:
            level -= 1
        return float(axes.levels[level, high].end - axes.levels[level, low].start)
    return float(width)


@bare
def price_prefixes(axes: Axes, j: int, entries: NDArray[Any], from_end: bool) -> None:
    """Set what the first entry of a column's profile costs, the first two, and so on; or the last, the last two.

    entries : `hushtable.kernels.class_profile.ENTRY`, of the column alone; those of a unit come together

    This is `share_of`, written out: here levels and units are found by going on from the prefix before.
    """
    axis = axes.columns[j]
    begin = axis.begin
    place, step = (entries.size - 1, -1) if from_end else (0, 1)
    low, high, last, level, unit = entries[place].code, entries[place].code, -1, 0, 0
    n_units, n_chars, listed = 0, 0, 0
    for _ in range(entries.size):
        code = entries[place].code
        low, high = min(low, code), max(high, code)
        if axis.most_units > 0:
            unit = axes.places[begin + code].unit
            if unit != last:
                n_units, last = n_units + 1, unit
                n_chars += axes.places[begin + unit].chars
                listed += axes.places[begin + unit].listed
        is_short = 0 < n_units <= axis.most_units and n_chars <= axis.most_chars
        if not axis.is_ordered and n_units == 1:
            price = 0.0
        elif not axis.is_ordered and is_short:
            price = n_units / axis.domain + LETTER * n_chars
        elif axis.is_ordered and low == high and (axis.n_rounds == 0 or low == 0):
            price = 0.0
        elif axis.is_ordered and is_short and n_units > 1:
            price = min(1.0, listed / WHOLE) + LETTER * n_chars
        elif low == 0:
            price = 1.0
        elif axis.depth > 0:
            # A run that grows never finds its node lower, nor its round unit.
            while axes.levels[level + 1, begin + low].node != axes.levels[level + 1, begin + high].node:
                level += 1
            price = axes.levels[level + 1, begin + low].share
        else:
            price = axes.places[begin + high].position - axes.places[begin + low].position
            if axis.n_rounds > 0:
                while level + 1 < axis.n_rounds and price >= axes.levels[level + 1, begin].step:
                    level += 1
                chosen = level
                if axis.keeps_labels:
                    while unit < axis.n_rounds and _start(axes, unit, begin + low) != _start(axes, unit, begin + high):
                        unit += 1
                    chosen = level if unit == axis.n_rounds else unit
                price = axes.levels[chosen, begin + high].end - axes.levels[chosen, begin + low].start
        if from_end:
            entries[place].right = price
        else:
            entries[place].left = price
        place += step


@inlined
def cut_level(axes: Axes, low: int, high: int) -> int:
    """Return the level below the lowest node that covers entries low to high of a hierarchy: where it is cut."""
    level = 0
    while axes.levels[level + 1, low].node != axes.levels[level + 1, high].node:
        level += 1
    return level
