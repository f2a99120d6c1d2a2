"""Better partitions from a given one, by annealing in the candidate space."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers.judging import BlockJudge
from hushtable.anonymizers.minimal import smallest
from hushtable.anonymizers.minimal.candidates import Space
from hushtable.kernels import cost, regroup
from hushtable.kernels.shortest import TIES

__all__ = ["Neighbours", "Schedule", "anneal", "nearest", "partition_value", "polish", "steps_within"]

Schedule = tuple[int, float, float]

_SHARE_BIG = 0.1  # of the steps that merge or split
_STEPS_PER_SECOND = 300_000  # on a slow machine
_N_STAGES = 20  # between which the clock is looked at
_MOST_TOGETHER = 12


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


def anneal(
    space: Space,
    near: Neighbours,
    labels: CodeArray,
    check: regroup.Check,
    state: CountArray,
    schedule: Schedule,
    deadline: float = np.inf,
) -> tuple[CodeArray, float]:
    """Anneal a partition; never return a worse one.

    Parameters
    ----------
    state : ndarray of int64, shape (1,)
        Random, 1 to 2^31 - 2; moves on.
    schedule : tuple of (int, float, float)
        Steps, and the first and last temperature in weighted cells.
    deadline : float
        Of `time.perf_counter`; what is left of the schedule is then skipped.
    """
    blocks = _blocks(space, labels, check)
    least = float(blocks.values.sum())
    n_steps, hot, cold = schedule
    heats = hot * (cold / hot) ** (np.arange(_N_STAGES + 1) / _N_STAGES)
    stages = [(n_steps // _N_STAGES, *pair) for pair in itertools.pairwise(heats.tolist())]
    # Once more without any rise, so that the last word is a local optimum.
    for stage in (*stages, (n_steps // 10, cold / 100, cold / 200)):
        if time.perf_counter() > deadline:
            break
        draws = regroup.Draws(state, *stage, _SHARE_BIG)
        regroup.anneal(space.places, space.costs, near.rows, blocks, check, draws)
    found = np.unique(blocks.labels, return_inverse=True)[1].astype(np.int32)
    value = partition_value(space, found)
    return (found, value) if value < least - TIES else (labels, least)


def steps_within(n_steps: int, seconds: float | None, n_runs: int) -> int:
    """Return how many steps each of some runs may take so that they end in time."""
    if seconds is None:
        return n_steps
    return max(1_000, min(n_steps, int(_STEPS_PER_SECOND * seconds / n_runs)))


def polish(
    space: Space, near: Neighbours, labels: CodeArray, judge: BlockJudge, deadline: float = np.inf
) -> tuple[CodeArray, float]:
    """Solve groups of neighbouring blocks exactly, one after another; never return a worse partition."""
    labels = labels.copy()
    for row in range(space.n_rows):
        if time.perf_counter() > deadline:
            break
        # One group for every block: that of the blocks around its first row.
        if np.flatnonzero(labels == labels[row])[0] != row:
            continue
        rows = _group(near, labels, row)
        if not len(rows):
            continue
        some = replace(space, places=np.ascontiguousarray(space.places[rows]))
        found = smallest.solve(some, judge.of(rows))
        was = _value_of(some, labels[rows])
        if was - found.value > TIES:
            labels[rows] = labels.max() + 1 + found.labels
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return labels, partition_value(space, labels)


def _value_of(space: Space, labels: CodeArray) -> float:
    return partition_value(space, np.unique(labels, return_inverse=True)[1].astype(np.int32))


def _group(near: Neighbours, labels: CodeArray, row: int) -> CountArray:
    """Return the rows of a row's block and of as many blocks near it as can be solved together."""
    picked, n_rows = [], 0
    for label in dict.fromkeys(labels[[row, *near.rows[row].tolist()]].tolist()):
        rows = np.flatnonzero(labels == label)
        if n_rows + len(rows) <= _MOST_TOGETHER:
            picked.append(rows)
            n_rows += len(rows)
    return np.sort(np.concatenate(picked)) if len(picked) > 1 else np.empty(0, dtype=np.int64)


def _blocks(space: Space, labels: CodeArray, check: regroup.Check) -> regroup.Blocks:
    n_rows = len(labels)
    n_blocks = max(n_rows // check.min_size, int(labels.max()) + 1)
    sizes = np.bincount(labels, minlength=n_blocks).astype(np.int64)
    order = np.argsort(labels, kind="stable").astype(np.int32)
    offsets = np.append(0, np.cumsum(sizes))
    slots = np.empty(n_rows, dtype=np.int32)
    slots[order] = np.arange(n_rows) - offsets[labels[order]]
    members = np.zeros((n_blocks, max(check.room, int(sizes.max()))), dtype=np.int32)
    members[labels, slots] = np.arange(n_rows)
    used, spare = np.flatnonzero(sizes), np.flatnonzero(sizes == 0)
    per_row, values = np.empty(len(used)), np.zeros(n_blocks)
    cost.block_costs(space.places, space.costs, np.append(0, np.cumsum(sizes[used])), order, per_row)
    values[used] = per_row * sizes[used]
    free = np.zeros(n_blocks + 1, dtype=np.int64)
    free[0], free[1 : len(spare) + 1] = len(spare), spare
    return regroup.Blocks(labels.astype(np.int32), slots, members, sizes, values, free)
