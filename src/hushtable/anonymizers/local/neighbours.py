"""Distinct rows in an order in which neighbours are alike, and the nearest ones of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import class_costs, neighbours
from hushtable.kernels.annealing import Near
from hushtable.kernels.class_costs import Space
from hushtable.search import Clock, check_memory

__all__ = ["Neighbours", "find"]

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
