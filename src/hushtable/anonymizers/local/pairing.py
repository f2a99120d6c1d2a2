"""A start for classes of two: every row is followed by another at the least cost of all, and rings taken apart."""

from __future__ import annotations

from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers.local.neighbours import Neighbours
from hushtable.kernels import pairing
from hushtable.kernels.class_costs import Space

__all__ = ["MOST_COPIES", "pairs"]

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
    n_classes = pairing.take_apart(some, place[following], of_copy, np.empty(n_all, dtype=np.int32), np.empty(n_all))
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
