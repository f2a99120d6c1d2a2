"""What classes cost: the share of each column that they publish, and something for the length of a list.

Codes are shifted by one here: 0 is missing.
"""

from __future__ import annotations

from typing import NamedTuple

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import inlined, jit

__all__ = ["LETTER", "WHOLE", "Axes", "cut_level", "price_prefixes", "share_of"]

LETTER = 0.002  # of the domain: what a character of a list costs, so that of equal cuts the shorter text wins
WHOLE = 2**40  # what shares of a domain are counted in


class Axes(NamedTuple):
    """What the codes of each column are worth.

    is_ordered : bool (n_columns,), whether the lowest and highest code tell what is published
    offsets : int64 (n_columns + 1,), column j owns entries offsets[j] to offsets[j + 1]
    positions : float64, entry offsets[j] + shifted code, in [0, 1] (ordered columns)
    domain : float64 (n_columns,), how many values the whole column has, missing included
    weights : float64 (n_columns,)
    depths : int64 (n_columns,), levels of the column's tree, 0 where it has none
    nodes : int32 (n_levels, all codes), the node of a code at a level; -1 for missing
    shares : float64 (n_levels, all codes), the share of the domain under that node
    most : int64 (n_columns, 2), how many units a list holds, and characters; 0 where nothing is listed
    units : int32 (all codes), the code that stands for what a list writes of a code: itself, or the first one of
        the node below the top of a hierarchy
    chars : int64 (all codes), what a unit adds to the length of a list
    listed : int64 (all codes), the share of a unit of a hierarchy, times `WHOLE`: sums of it are exact
    rounds : int64 (n_columns,), levels of round units that intervals are widened to, 0 where there are none
    steps : float64 (n_levels, n_columns), how wide a class is at least that is widened to units of a level
    starts, ends : float64 (n_levels, all codes), where the unit over a code begins and ends
    """

    is_ordered: BoolArray
    offsets: CountArray
    positions: FloatArray
    domain: FloatArray
    weights: FloatArray
    depths: CountArray
    nodes: CodeArray
    shares: FloatArray
    most: CountArray
    units: CodeArray
    chars: CountArray
    listed: CountArray
    rounds: CountArray
    steps: FloatArray
    starts: FloatArray
    ends: FloatArray


@inlined
def share_of(axes: Axes, j: int, low: int, high: int, n_units: int, n_chars: int, listed: int) -> float:
    """Return what a class costs, from its lowest and highest code, and from what a list of it would hold.

    That is the share of the column that it publishes, and something for the length of a list. Without units
    it is not listed.
    """
    is_short = 0 < n_units <= axes.most[j, 0] and n_chars <= axes.most[j, 1]
    if not axes.is_ordered[j]:
        if n_units == 1:
            return 0.0
        if is_short:
            return float(n_units / axes.domain[j] + LETTER * n_chars)
    elif low == high and (axes.rounds[j] == 0 or low == 0):
        return 0.0
    elif is_short and n_units > 1:
        return float(min(1.0, listed / WHOLE) + LETTER * n_chars)
    if low == 0:
        # Neither an interval nor a node but the top holds the missing value beside others: the cell becomes "*".
        return 1.0
    low, high = axes.offsets[j] + low, axes.offsets[j] + high
    if axes.depths[j] > 0:
        return float(axes.shares[cut_level(axes.nodes, low, high) + 1, low])
    width = axes.positions[high] - axes.positions[low]
    if axes.rounds[j] > 0:
        level = axes.rounds[j] - 1
        while level > 0 and width < axes.steps[level, j]:
            level -= 1
        return float(axes.ends[level, high] - axes.starts[level, low])
    return float(width)


@jit
def price_prefixes(axes: Axes, codes: CodeArray, n_codes: CountArray, prices: FloatArray, from_end: bool) -> None:
    """Set what the first code of each column costs, the first two, and so on; or the last, the last two.

    Columns of one code are left out; codes of a unit come together. This is `share_of`, written out: here levels and
    units are found by going on from the prefix before.
    """
    for j in range(axes.domain.size):
        if n_codes[j] == 1:
            continue
        begin, is_ordered, domain = axes.offsets[j], axes.is_ordered[j], axes.domain[j]
        depth, n_rounds = axes.depths[j], axes.rounds[j]
        most_units, most_chars = axes.most[j, 0], axes.most[j, 1]
        place, step = (begin + n_codes[j] - 1, -1) if from_end else (begin, 1)
        low, high, last, level = codes[place], codes[place], -1, 0
        n_units, n_chars, listed = 0, 0, 0
        for _ in range(n_codes[j]):
            code = codes[place]
            low, high = min(low, code), max(high, code)
            if most_units > 0:
                unit = axes.units[begin + code]
                if unit != last:
                    n_units, last = n_units + 1, unit
                    n_chars, listed = n_chars + axes.chars[begin + unit], listed + axes.listed[begin + unit]
            is_short = 0 < n_units <= most_units and n_chars <= most_chars
            if not is_ordered and n_units == 1:
                price = 0.0
            elif not is_ordered and is_short:
                price = n_units / domain + LETTER * n_chars
            elif is_ordered and low == high and (n_rounds == 0 or low == 0):
                price = 0.0
            elif is_ordered and is_short and n_units > 1:
                price = min(1.0, listed / WHOLE) + LETTER * n_chars
            elif low == 0:
                price = 1.0
            elif depth > 0:
                # A run that grows never finds its node lower, nor its round unit.
                while axes.nodes[level + 1, begin + low] != axes.nodes[level + 1, begin + high]:
                    level += 1
                price = axes.shares[level + 1, begin + low]
            else:
                price = axes.positions[begin + high] - axes.positions[begin + low]
                if n_rounds > 0:
                    while level + 1 < n_rounds and price >= axes.steps[level + 1, j]:
                        level += 1
                    price = axes.ends[level, begin + high] - axes.starts[level, begin + low]
            prices[place] = price
            place += step


@jit
def cut_level(nodes: CodeArray, low: int, high: int) -> int:
    """Return the level below the lowest node that covers entries low to high of a hierarchy: where it is cut."""
    level = 0
    while nodes[level + 1, low] != nodes[level + 1, high]:
        level += 1
    return level
