"""Prices for k = 2: what the cheapest fractional matching of all records charges each of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import spacing
from hushtable.quality.dual_prices import Priced, in_turn, nearest_shares, proven
from hushtable.search import Clock

__all__ = ["matched"]

_NEAREST: Final = 24  # rows that a row may be matched with, at first
_FREE: Final = 4  # records of a row that serve as many others as want them: what is left of them still forms classes
_MOST_PAIRS: Final = 200_000
_ROUNDS: Final = 6
_LONGER: Final = 1.5  # how much longer than the step before it an assignment may take
_MARGIN: Final = 1e-6
_WHOLE: Final = 2.0**24  # what costs are counted in


def matched(rows: spacing.Rows, clock: Clock) -> Priced:
    """Return prices that no class of two records or more exceeds its cost by.

    Notes
    -----
    Three records publish at least half of what their three pairs do together, so prices that no pair exceeds
    are exceeded by no class. The highest sum of such prices is the cost of the cheapest fractional perfect matching:
    half that of an assignment of records to other records, which SciPy's Jonker-Volgenant finds among the nearest.
    Its prices are shortest distances in the residual graph. Pairs that they leave too dear are added, and it is
    solved again. A row of four records or more is given the price 0.

    No assignment is begun that may take longer than what is left of a budget, by how long the step before it took: an
    assignment runs to its end. Without one, a record pays what its nearest costs.
    """
    n_rows = len(rows.counts)
    near = nearest_shares(rows, 2, clock)
    began = clock.spent
    nearest, distances = np.full((n_rows, _NEAREST), -1, dtype=np.int32), np.empty((n_rows, _NEAREST))
    in_turn(lambda run: spacing.neighbours(rows, nearest, distances, run), n_rows, lambda: clock.left <= 0)
    if clock.left < _LONGER * (clock.spent - began):
        return Priced(near, 0, complete=False)
    is_known = nearest >= 0
    pairs = np.column_stack([np.repeat(np.arange(n_rows), is_known.sum(axis=1)), nearest[is_known]])
    apart = distances[is_known]
    dear, between = np.empty((_MOST_PAIRS, 2), dtype=np.int32), np.empty(_MOST_PAIRS)
    for _ in range(_ROUNDS):
        began = clock.spent
        prices = _prices(rows, pairs, apart)
        n_dear = spacing.dear_pairs(rows, prices, _MARGIN, (0, n_rows), dear, between)
        if n_dear == 0 or clock.left < _LONGER * (clock.spent - began):
            break
        n_dear = min(n_dear, _MOST_PAIRS)
        pairs, apart = np.concatenate([pairs, dear[:n_dear]]), np.append(apart, between[:n_dear])
    found = proven(rows, 2, prices, clock)
    return max(Priced(near, 0, complete=False), found, key=lambda each: float(each.prices @ rows.counts))


def _prices(rows: spacing.Rows, pairs: CodeArray | CountArray, apart: FloatArray) -> FloatArray:
    """Return the prices of an optimal fractional matching over some pairs of rows."""
    n_rows, counts = len(rows.counts), rows.counts
    is_free = counts >= _FREE
    # A record alone never costs more than everything, twice: with that each has something to be assigned to.
    alone = np.full(n_rows, 2.0 * len(rows.unit))
    for one, other in ((0, 1), (1, 0)):
        to_free = is_free[pairs[:, other]]
        np.minimum.at(alone, pairs[to_free, one], 2 * apart[to_free])
    copies = np.where(is_free, 0, counts)
    begin = np.cumsum(copies) - copies
    row_of = np.repeat(np.arange(n_rows), copies)
    keys = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    kept = keys[1][~is_free[keys[0]].any(axis=1)]
    one, other, cost = pairs[kept, 0], pairs[kept, 1], 2 * apart[kept]
    edges = [(np.arange(len(row_of)), np.arange(len(row_of)), 2 * alone[row_of])]
    for i in range(_FREE - 1):
        for j in range(_FREE - 1):
            both = (copies[one] > i) & (copies[other] > j)
            a, b = begin[one[both]] + i, begin[other[both]] + j
            edges += [(a, b, cost[both]), (b, a, cost[both])]
            own = np.flatnonzero(copies > max(i, j)) if i != j else np.empty(0, dtype=np.int64)
            edges.append((begin[own] + i, begin[own] + j, np.zeros(len(own))))
    by_copy = _duals(len(row_of), *(np.concatenate(each) for each in zip(*edges, strict=True)))
    sums = np.bincount(row_of, weights=by_copy, minlength=n_rows)
    return np.asarray(sums / np.maximum(1, copies))


def _duals(n: int, left: CountArray, right: CountArray, costs: FloatArray) -> FloatArray:
    """Return half the sum of the two prices of each, where each left one is assigned a right one at the least cost."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if n == 0:
        return np.empty(0)
    # Whole numbers: where sums are rounded, the algorithm goes round in circles. A cost of 0 would be no edge.
    costs = np.floor(costs * _WHOLE)
    graph: Any = csr_matrix((costs + 1.0, (left, right)), shape=(n, n))
    assigned = np.empty(n, dtype=np.int64)
    ones, others = min_weight_full_bipartite_matching(graph)
    assigned[ones] = others
    order = np.argsort(right, kind="stable")
    left, right, costs = left[order], right[order], costs[order]
    paid = np.empty(n)
    is_assigned = assigned[left] == right
    paid[left[is_assigned]] = costs[is_assigned]
    starts = np.searchsorted(right, np.arange(n))
    slack, source = costs - paid[left], assigned[left]
    prices = np.zeros(n)
    for _ in range(n):
        lower = np.minimum.reduceat(prices[source] + slack, starts)
        if not (lower < prices).any():
            break
        prices = np.minimum(prices, lower)
    return np.asarray((paid - prices[assigned] + prices) / 2 / _WHOLE)
