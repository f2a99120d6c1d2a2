"""Whether some class costs less than its members' prices: pairs one by one, larger ones by branch and bound.

Slow on purpose: NumPy alone, and nothing of the search that found the prices.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import TOLERANCE, CountArray, FloatArray

__all__ = ["Spread", "dear_class", "dear_pairs"]

_BLOCK: Final = 512  # rows compared with all others at once
_MOST_NODES: Final = 20_000  # of the search from one row
_THRESHOLDS: Final = 32

Cells = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Distinct rows, and how far their cells lie apart.

    Attributes
    ----------
    codes : ndarray of int64, shape (n_rows, n_columns)
        0 is missing.
    counts : ndarray of int64, shape (n_rows,)
    positions : tuple of ndarray or None
        On [0, 1], of every code of an ordered column from 1 on; None for one without an order.
    """

    codes: CountArray
    counts: CountArray
    positions: tuple[FloatArray | None, ...]
    domains: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "domains", tuple(len(np.unique(column)) for column in self.codes.T))

    def apart(self, rows: CountArray) -> FloatArray:
        """Return the summed share of a class of two, for some rows and all."""
        total = np.zeros((len(rows), len(self.codes)))
        indicators, weights = [], []
        for column, positions in zip(self.codes.T, self.positions, strict=True):
            if positions is None:
                known = np.unique(column)
                indicators.append(column[:, None] == known)
                weights += [2.0 / len(known)] * len(known)
                total += 2.0 / len(known)
                continue
            at = np.append(0.0, positions)[column]
            apart = np.abs(at[rows][:, None] - at)
            is_missing = column == 0
            apart[is_missing[rows][:, None] != is_missing] = 1.0
            total += apart
        if indicators:
            joined = np.concatenate(indicators, axis=1).astype(np.float64)
            total -= (joined[rows] * weights) @ joined.T
        return np.asarray(total)


def dear_pairs(spread: Spread, prices: FloatArray) -> float:
    """Return by how much the prices of two records exceed what they cost together, at most."""
    worst = float(np.max(prices[spread.counts > 1], initial=-np.inf))
    rows = np.argsort(-prices, kind="stable")
    for begin in range(0, len(rows), _BLOCK):
        some = rows[begin : begin + _BLOCK]
        exceeds = prices[some][:, None] + prices - 2 * spread.apart(some)
        exceeds[np.arange(len(some)), some] = -np.inf
        worst = max(worst, float(exceeds.max()))
    return worst


def dear_class(spread: Spread, prices: FloatArray, k: int) -> tuple[float, int]:
    """Return by how much the prices of a class exceed its cost, where one is found, and how many searches had no end.

    A class is looked for from its member of the highest price: it costs less than that for each member.
    """
    order = np.argsort(prices, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    order = order[(prices[order] > TOLERANCE) & (spread.counts[order] < k)]
    n_open = 0
    for begin in range(0, len(order), _BLOCK):
        some = order[begin : begin + _BLOCK]
        apart = spread.apart(some)
        is_near = (apart < prices[some][:, None] + TOLERANCE) & (rank <= rank[some][:, None])
        for row, near in zip(some.tolist(), is_near, strict=True):
            worst, is_settled = _from_row(spread, prices, k, row, np.flatnonzero(near))
            if worst > TOLERANCE:
                return worst, n_open
            n_open += not is_settled
    return -np.inf, n_open


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """What a class holds at least, and the rows that it may hold besides."""

    low: CountArray
    high: CountArray
    held: tuple[frozenset[int], ...]
    rows: CountArray


def _from_row(spread: Spread, prices: FloatArray, k: int, row: int, near: CountArray) -> tuple[float, bool]:
    """Look for a class with a row and some of the rows near it that costs less than its prices."""
    codes, counts = spread.codes, spread.counts.copy()
    counts[row] -= 1
    near = near[counts[near] > 0]
    near = near[np.argsort(-prices[near], kind="stable")]
    start = codes[row]
    boxes = [_Box(start, start, tuple(frozenset([int(code)]) for code in start), near)]
    for _ in range(_MOST_NODES):
        if not boxes:
            return -np.inf, True
        box = boxes.pop()
        if counts[box.rows].sum() < k - 1:
            continue
        shares = _shares(spread, box)
        bound, taken = _bound(prices[box.rows], counts[box.rows], shares, float(prices[row]), k)
        if bound <= TOLERANCE:
            continue
        members, taken = box.rows[taken > 0], taken[taken > 0]
        # What every member pays is the share of the members' own box.
        own = np.append(members, row)
        tight = _Box(codes[own].min(axis=0), codes[own].max(axis=0), _sets(spread, own), own[:0])
        value = prices[row] + taken @ prices[members] - (1 + taken.sum()) * _share(spread, tight)
        if value > TOLERANCE:
            return float(value), True
        boxes += _parts(spread, box, tight, members)
    return -np.inf, False


def _width(positions: FloatArray, low: Cells, high: Cells) -> FloatArray:
    """Return the share of an ordered column between codes; the missing one takes the whole column with it."""
    return np.asarray(np.where(low == high, 0.0, np.where(low == 0, 1.0, positions[high - 1] - positions[low - 1])))


def _share(spread: Spread, box: _Box) -> float:
    """Return the share of what a box holds at least."""
    total = 0.0
    for j, positions in enumerate(spread.positions):
        if positions is not None:
            total += float(_width(positions, box.low[j], box.high[j]))
        elif len(box.held[j]) > 1:
            total += len(box.held[j]) / spread.domains[j]
    return total


def _shares(spread: Spread, box: _Box) -> FloatArray:
    """Return the share of what a box holds at least, with each row that it may hold."""
    codes = spread.codes[box.rows]
    total = np.zeros(len(codes))
    for j, positions in enumerate(spread.positions):
        column = codes[:, j]
        if positions is not None:
            total += _width(positions, np.minimum(column, box.low[j]), np.maximum(column, box.high[j]))
            continue
        n_held = len(box.held[j])
        if n_held == 1:
            total += np.where(column == box.low[j], 0.0, 2 / spread.domains[j])
        else:
            is_new = ~np.isin(column, list(box.held[j]))
            total += (n_held + is_new) / spread.domains[j]
    return total


def _bound(prices: FloatArray, counts: CountArray, shares: FloatArray, own: float, k: int) -> tuple[float, CountArray]:
    """Return what no class of a row and some others exceeds its cost by, and how many records of each would make it.

    A class whose farthest member lies between two thresholds holds rows up to the upper one, each of which pays the
    lower one: the best k - 1, and all that have a higher price than that. Rows come by falling price.
    """
    steps = np.unique(shares)
    if len(steps) > _THRESHOLDS:
        steps = steps[np.linspace(0, len(steps) - 1, _THRESHOLDS).astype(int)]
    ends = np.append(steps[1:], np.inf)
    # The last step, and every one where all are looked at, holds what is at it and no more.
    may_hold = (shares < ends[:, None]) * counts
    before = np.cumsum(may_hold, axis=1) - may_hold
    needed = np.clip(k - 1 - before, 0, may_hold)
    paid = prices - steps[:, None]
    taken = np.where(paid > 0, may_hold, needed)
    value = own - steps + (taken * paid).sum(axis=1)
    value[may_hold.sum(axis=1) < k - 1] = -np.inf
    best = int(value.argmax())
    return float(value[best]), taken[best]


def _sets(spread: Spread, rows: CountArray) -> tuple[frozenset[int], ...]:
    return tuple(
        frozenset() if positions is not None else frozenset(spread.codes[rows, j].tolist())
        for j, positions in enumerate(spread.positions)
    )


def _parts(spread: Spread, box: _Box, tight: _Box, members: CountArray) -> list[_Box]:
    """Return the two parts of a box: those classes that reach as far as the members do in one direction, and the rest.

    The direction is the one in which they reach farthest beyond the box.
    """
    codes, widest, parts = spread.codes[box.rows], 0.0, []
    for j, positions in enumerate(spread.positions):
        if positions is None:
            column = spread.codes[members, j]
            new = column[~np.isin(column, list(box.held[j]))]
            grown = (2.0 if len(box.held[j]) == 1 else 1.0) / spread.domains[j]
            if len(new) and grown > widest:
                code = int(np.bincount(new).argmax())
                held = tuple(each | {code} if i == j else each for i, each in enumerate(box.held))
                widest = grown
                parts = [replace(box, rows=box.rows[codes[:, j] != code]), replace(box, held=held)]
            continue
        width = _width(positions, box.low[j], box.high[j])
        for name, edge, is_inside in (
            ("low", tight.low[j], codes[:, j] > tight.low[j]),
            ("high", tight.high[j], codes[:, j] < tight.high[j]),
        ):
            low, high = min(edge, box.low[j]), max(edge, box.high[j])
            grown = float(_width(positions, low, high) - width)
            if grown > widest:
                reached = getattr(box, name).copy()
                reached[j] = edge
                widest = grown
                parts = [replace(box, rows=box.rows[is_inside]), replace(box, **{name: reached})]
    return parts
