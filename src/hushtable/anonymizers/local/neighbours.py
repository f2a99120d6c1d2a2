"""Distinct rows in an order in which neighbours are alike, and the nearest ones of each.

A start for classes of two: every row is followed by another at the least cost of all, and rings taken apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import class_costs, neighbours
from hushtable.kernels.annealing import Near
from hushtable.kernels.class_costs import Space
from hushtable.search import Clock, check_memory

__all__ = ["MOST_COPIES", "Neighbours", "find", "pairs"]

_BLOCK: Final = 32  # rows that share a bound
_SIDES: Final = 1_024  # blocks looked at on either side
_MOST_BOUNDED: Final = 256  # places of a column that bounds look at
_TOGETHER: Final = 1_024  # rows between two looks at the clock


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest rows.

    Attributes
    ----------
    order : ndarray of int64, shape (n_rows,)
        The rows, equal ones side by side.
    near : Near
        Of the rows in that order.
    costs : ndarray of float64, shape (n_distinct, n_near)
        What a class of two costs each.
    complete : bool
        Whether there was time for all rows.
    """

    order: CountArray
    near: Near = field(repr=False)
    costs: FloatArray = field(repr=False)
    complete: bool


def find(space: Space, labels: CodeArray, n_near: int, clock: Clock) -> Neighbours:
    """Find the nearest rows, where classes are numbered so that neighbours in number are neighbours in space.

    Rows whose turn does not come in time, and those of large tables that lie far apart in that order, are not found.
    """
    _, first, distinct = np.unique(space.codes, axis=0, return_index=True, return_inverse=True)
    distinct = distinct.reshape(-1)
    # Distinct rows by the class of their first row; equal rows may lie in several.
    ranked = np.lexsort((np.arange(len(first)), labels[first]))
    rank = np.empty_like(ranked)
    rank[ranked] = np.arange(len(ranked))
    distinct = rank[distinct].astype(np.int32)
    order = np.argsort(distinct, kind="stable")
    counts = np.bincount(distinct).astype(np.int64)
    codes = np.ascontiguousarray(space.codes[first[ranked]])
    n_near = min(n_near, len(codes))
    some = space._replace(codes=codes)
    n_bounded = np.where(
        (space.columns["n_places"] <= _MOST_BOUNDED)
        & np.isin(space.columns["kind"], (class_costs.KIND_TABLE, class_costs.KIND_SET)),
        space.columns["n_places"],
        0,
    )
    entries = np.append(0, np.cumsum(n_bounded))
    n_blocks = -(-len(codes) // _BLOCK)
    needed = 4.0 * n_blocks * int(entries[-1]) + 12.0 * len(codes) * n_near
    check_memory(needed, f"finding the {n_near} nearest of {len(codes)} rows", "anonymize parts of the table.")
    bounds = np.zeros((n_blocks, int(entries[-1])), dtype=np.float32)
    neighbours.fill_bounds(some, entries, _BLOCK, bounds)
    found = np.full((len(codes), n_near), -1, dtype=np.int32)
    costs = np.full((len(codes), n_near), np.inf)
    begin = 0
    while begin < len(codes) and clock.left > 0:
        neighbours.nearest(some, counts, entries, bounds, (_BLOCK, _SIDES, begin, begin + _TOGETHER), found, costs)
        begin += _TOGETHER
    offsets = np.append(0, np.cumsum(counts))
    return Neighbours(order, Near(found, distinct[order].astype(np.int32), offsets), costs, begin >= len(codes))


MOST_COPIES: Final = 60_000
_N_NEAR: Final = 24


def pairs(space: Space, found: Neighbours) -> CodeArray | None:
    """Return classes of two and three rows, a label for every row; None where there are too few or too many rows.

    Notes
    -----
    The fractional matching of least cost is half an assignment without fixed points. Of four equal rows or more, all
    but two or three are pairs of their own.
    """
    offsets = found.near.offsets
    counts = np.diff(offsets)
    n_copies = np.where(counts > 3, 2 + counts % 2, counts)
    n_all = int(n_copies.sum())
    if len(found.order) < 2 or n_all > MOST_COPIES:
        return None
    copies = np.repeat(offsets[:-1], n_copies) + _within(n_copies)
    following = copies[_assigned(found, n_copies)]
    labels = np.full(len(found.order), -1, dtype=np.int32)
    some = space._replace(codes=np.ascontiguousarray(space.codes[found.order[copies]]))
    place = np.empty(len(found.order), dtype=np.int32)
    place[copies] = np.arange(n_all)
    of_copy = np.full(n_all, -1, dtype=np.int32)
    n_classes = neighbours.take_apart(some, place[following], of_copy, np.empty(n_all, dtype=np.int32), np.empty(n_all))
    labels[copies] = of_copy
    # What is left of a row's copies is an even number, side by side.
    rest = np.flatnonzero(labels < 0)
    labels[rest] = n_classes + np.arange(len(rest)) // 2
    ordered = np.empty_like(labels)
    ordered[found.order] = labels
    return ordered


def _within(counts: CountArray) -> CountArray:
    """Return 0, 1, 2 ... within each of several runs."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _assigned(found: Neighbours, n_copies: CountArray) -> CodeArray:
    """Return the copy that follows each, never itself."""
    from scipy import sparse
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    first = np.cumsum(n_copies) - n_copies
    n_all = int(n_copies.sum())
    near, costs = found.near.rows[:, :_N_NEAR], found.costs[:, :_N_NEAR]
    row, rank = np.nonzero(near >= 0)
    other, cost = near[row, rank], costs[row, rank]
    # Every copy of the one beside every copy of the other.
    n_each = n_copies[row] * n_copies[other]
    edge = np.repeat(np.arange(len(row)), n_each)
    within = _within(n_each)
    tail = first[row[edge]] + within // n_copies[other[edge]]
    head = first[other[edge]] + within % n_copies[other[edge]]
    # One ring through all copies, dearer than anything else, so that there is an assignment.
    ring = np.arange(n_all)
    dearest = float(cost.max(initial=0.0)) * 4 + 1
    tail, head = np.append(tail, ring), np.append(head, (ring + 1) % n_all)
    weight: FloatArray = np.append(cost[edge], np.full(n_all, dearest))
    is_other = tail != head
    tail, head, weight = tail[is_other], head[is_other], weight[is_other]
    key = tail * n_all + head
    order = np.lexsort((weight, key))
    is_first = np.append(True, key[order][1:] != key[order][:-1])
    kept = order[is_first]
    # An edge of 0 is no edge to scipy.
    graph = sparse.csr_matrix((weight[kept] + 1.0, (tail[kept], head[kept])), shape=(n_all, n_all))
    return np.asarray(min_weight_full_bipartite_matching(graph)[1])
