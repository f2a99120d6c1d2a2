"""Better partitions from a given one, by annealing in the candidate space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.anonymizers.candidates import Space
from hushtable.kernels import cost, regroup

__all__ = ["Neighbours", "improve", "nearest", "partition_value"]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The rows that each row is made equal to most cheaply.

    Attributes
    ----------
    rows : ndarray of int32, shape (n_rows, n_near)
    costs : ndarray of float64, shape (n_rows, n_near)
        What one of the two then costs.
    """

    rows: CodeArray
    costs: FloatArray

    def bound(self, k: int) -> float:
        """Return a sum of weighted cells that no partition into blocks of k rows goes below.

        A row's block holds k - 1 others, the dearest of which is no nearer than its
        (k - 1)-th nearest.
        """
        return float(self.costs[:, k - 2].sum()) if k > 1 else 0.0


def nearest(space: Space, n_near: int) -> Neighbours:
    """Find the nearest rows; all others where there are fewer. O(n^2) cells."""
    n_near = min(n_near, space.n_rows - 1)
    rows = np.zeros((space.n_rows, n_near), dtype=np.int32)
    costs = np.zeros((space.n_rows, n_near))
    if n_near:
        cost.nearest(space.places, space.costs, n_near, rows, costs)
    return Neighbours(rows, costs)


def partition_value(space: Space, labels: CodeArray) -> float:
    """Cost a partition as a sum of weighted cells."""
    sizes = np.bincount(labels)
    out = np.empty(len(sizes))
    offsets = np.append(0, np.cumsum(sizes))
    cost.block_costs(space.places, space.costs, offsets, np.argsort(labels, kind="stable").astype(np.int32), out)
    return float(out @ sizes)


def improve(
    space: Space,
    near: Neighbours,
    labels: CodeArray,
    check: regroup.Check,
    seed: int,
    plan: list[tuple[int, float, float]],
    stop: Callable[[CodeArray, float], bool] | None = None,
) -> tuple[CodeArray, float]:
    """Anneal a partition; never return a worse one."""
    blocks = _blocks(labels, check)
    offsets = blocks.values
    sizes = np.bincount(labels, minlength=len(offsets))
    used = np.flatnonzero(sizes)
    per_row = np.empty(len(used))
    cost.block_costs(
        space.places,
        space.costs,
        np.append(0, np.cumsum(sizes[used])),
        np.argsort(labels, kind="stable").astype(np.int32),
        per_row,
    )
    blocks.values[used] = per_row * sizes[used]
    best, least = labels, float(blocks.values.sum())
    state = np.array([seed % 2_147_483_645 + 1], dtype=np.int64)
    for n_steps, hot, cold in plan:
        regroup.anneal(space.places, space.costs, near.rows, blocks, check, regroup.Draws(state, n_steps, hot, cold, 0.1))
        value = float(blocks.values[blocks.sizes > 0].sum())
        if value < least:
            best, least = np.unique(blocks.labels, return_inverse=True)[1].astype(np.int32), value
        if stop is not None and stop(best, least):
            break
    return best, least


def _blocks(labels: CodeArray, check: regroup.Check) -> regroup.Blocks:
    n_rows = len(labels)
    n_blocks = max(n_rows // check.min_size, int(labels.max()) + 1)
    sizes = np.bincount(labels, minlength=n_blocks).astype(np.int64)
    order = np.argsort(labels, kind="stable")
    slots = np.empty(n_rows, dtype=np.int32)
    starts = np.cumsum(sizes) - sizes
    slots[order] = (np.arange(n_rows) - starts[labels[order]]).astype(np.int32)
    members = np.zeros((n_blocks, check.room), dtype=np.int32)
    members[labels, slots] = np.arange(n_rows)
    spare = np.flatnonzero(sizes == 0)
    free = np.zeros(n_blocks + 1, dtype=np.int64)
    free[0], free[1 : len(spare) + 1] = len(spare), spare
    return regroup.Blocks(labels.astype(np.int32).copy(), slots, members, sizes, np.zeros(n_blocks), free)
