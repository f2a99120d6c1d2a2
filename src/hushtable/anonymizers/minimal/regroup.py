"""Better partitions from a given one, by simulated annealing and by solving small groups of blocks exactly.

A partition is an array of labels: the block (the future equivalence class) of every row. Its cost is the sum of
weighted cells of the candidates that its blocks publish. Blocks may change as long as a `Check` allows their sizes and
the model holds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.minimal import smallest
from hushtable.anonymizers.minimal.candidates import CandidateSpace
from hushtable.kernels import cost, regroup
from hushtable.kernels.cost import TIES
from hushtable.search import Clock, check_memory, say_if_first_run

__all__ = ["CheapestMates", "Cooling", "anneal", "nearest", "partition_value", "polish", "steps_within"]

Cooling = tuple[int, float, float]

_SHARE_BIG = 0.1  # of the steps that merge or split
_STEPS_PER_SECOND = 300_000  # on a slow machine
_N_STAGES = 20
_SLICE = 20_000_000  # cells that a kernel looks at between two looks at the clock
_MOST_PLACES = 2**28  # of rows in blocks: those of a gigabyte
_MOST_TOGETHER = 12
_HINT = "ask for a smaller k, use method='mondrian', or anonymize parts of the table."


@dataclass(frozen=True, slots=True, eq=False)
class CheapestMates:
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
        """Return a lower bound of the sum of weighted cells over all partitions into blocks of at least k rows.

        A block holds k - 1 rows besides a given one. The farthest of them is at least as far as its (k - 1)-th nearest.
        """
        return float(self.costs[:, k - 2].sum()) if k > 1 else 0.0


def nearest(space: CandidateSpace, n_near: int, clock: Clock, labels: CodeArray | None = None) -> CheapestMates:
    """Find the nearest rows; all others where there are fewer. O(n^2) cells.

    If the time is over before a row's turn, its mates are the rows that follow in the order of the partition's
    blocks, at a cost of 0. A cost of 0 keeps the lower bound true.
    """
    say_if_first_run(cost.nearest, 15)
    n_rows, n_columns = space.places.shape
    n_near = min(n_near, n_rows - 1)
    check_memory(28.0 * n_rows * n_near, f"finding the {n_near} nearest of {n_rows} rows", _HINT)
    order = np.arange(n_rows) if labels is None else np.argsort(labels, kind="stable")
    place = np.argsort(order)
    rows = order.astype(np.int32)[(place[:, None] + np.arange(1, n_near + 1)) % n_rows]
    costs = np.zeros((n_rows, n_near))
    n_together = max(1, _SLICE // max(1, n_rows * n_columns))
    for begin in range(0, n_rows if n_near else 0, n_together):
        if clock.left <= 0:
            break
        cost.nearest(space.places, space.costs, n_near, rows, costs, begin, begin + n_together)
    return CheapestMates(rows, costs)


def partition_value(space: CandidateSpace, labels: CodeArray) -> float:
    """Cost a partition as a sum of weighted cells."""
    sizes = np.bincount(labels)
    out = np.empty(len(sizes))
    offsets = np.append(0, np.cumsum(sizes))
    cost.block_costs(space.places, space.costs, offsets, np.argsort(labels, kind="stable").astype(np.int32), out)
    return float(out @ sizes)


def parted(space: CandidateSpace, labels: CodeArray, k: int) -> CodeArray:
    """Split blocks of 2 k rows or more and keep equal rows together, which never costs more.

    Mondrian cannot cut a block in which many rows are equal, and leaves it large.
    """
    order = np.lexsort((*space.places.T, labels))
    sizes = np.bincount(labels)
    n_parts = np.maximum(1, sizes // k)
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((np.cumsum(n_parts) - n_parts)[labels] + place * n_parts[labels] // sizes[labels], dtype=np.int32)


def anneal(
    space: CandidateSpace,
    near: CheapestMates,
    labels: CodeArray,
    check: regroup.Check,
    state: CountArray,
    schedule: Cooling,
    clock: Clock,
) -> tuple[CodeArray, float]:
    """Anneal a partition; never return a worse one.

    Parameters
    ----------
    state : ndarray of int64, shape (1,)
        Random, 1 to 2^31 - 2; moves on.
    schedule : tuple of (int, float, float)
        Steps, and the first and last temperature in weighted cells.
    clock : Clock
        Skips what is left of the schedule when its seconds are over.
    """
    least = partition_value(space, labels)
    # A model that keeps nearly all rows in one block leaves nothing to change.
    if (int(labels.max()) + 1) * max(check.room, int(np.bincount(labels).max())) > _MOST_PLACES:
        return labels, least
    blocks = _blocks(space, labels, check)
    n_steps, hot, cold = schedule
    heats = hot * (cold / hot) ** (np.arange(_N_STAGES + 1) / _N_STAGES)
    stages = [(n_steps // _N_STAGES, *pair) for pair in itertools.pairwise(heats.tolist())]
    # Once more without any rise, so that the last word is a local optimum.
    for stage in (*stages, (n_steps // 10, cold / 100, cold / 200)):
        _anneal_stage(space, near, blocks, check, state, stage, clock)
    best = np.unique(blocks.rows["block"], return_inverse=True)[1].astype(np.int32)
    value = partition_value(space, best)
    return (best, value) if value < least - TIES else (labels, least)


def _anneal_stage(
    space: CandidateSpace,
    near: CheapestMates,
    blocks: regroup.Blocks,
    check: regroup.Check,
    state: CountArray,
    stage: Cooling,
    clock: Clock,
) -> None:
    """Take the steps of a stage, slice by slice."""
    n_steps, hot, cold = stage
    done = 0
    while done < n_steps and clock.left > 0:
        now = hot * (cold / hot) ** (done / n_steps)
        draws = regroup.DrawSchedule(state, n_steps - done, now, cold, _SHARE_BIG, _SLICE // space.places.shape[1])
        done += int(regroup.anneal(space.places, space.costs, near.rows, blocks, check, draws)[0])


def steps_within(n_steps: int, seconds: float | None, n_runs: int) -> int:
    """Return how many steps each of some runs may take so that they end in time."""
    if seconds is None:
        return n_steps
    return max(1_000, min(n_steps, int(_STEPS_PER_SECOND * seconds / n_runs)))


def polish(
    space: CandidateSpace, near: CheapestMates, labels: CodeArray, judge: Judge, clock: Clock
) -> tuple[CodeArray, float]:
    """Solve groups of neighbouring blocks exactly, one after another; never return a worse partition."""
    labels = labels.copy()
    for row in range(space.n_rows):
        if clock.left <= 0:
            break
        # Every block has one turn, at its first row.
        if np.flatnonzero(labels == labels[row])[0] != row:
            continue
        rows = _group(near, labels, row)
        if not len(rows):
            continue
        some = replace(space, places=np.ascontiguousarray(space.places[rows]))
        exact = smallest.solve(some, judge.of(rows))
        was = _value_of(some, labels[rows])
        if was - exact.value > TIES:
            labels[rows] = labels.max() + 1 + exact.labels
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return labels, partition_value(space, labels)


def _value_of(space: CandidateSpace, labels: CodeArray) -> float:
    return partition_value(space, np.unique(labels, return_inverse=True)[1].astype(np.int32))


def _group(near: CheapestMates, labels: CodeArray, row: int) -> CountArray:
    """Return the rows of a row's block and of as many blocks near it as can be solved together."""
    picked, n_rows = [], 0
    for label in dict.fromkeys(labels[[row, *near.rows[row].tolist()]].tolist()):
        rows = np.flatnonzero(labels == label)
        if n_rows + len(rows) <= _MOST_TOGETHER:
            picked.append(rows)
            n_rows += len(rows)
    return np.sort(np.concatenate(picked)) if len(picked) > 1 else np.empty(0, dtype=np.int64)


def _blocks(space: CandidateSpace, labels: CodeArray, check: regroup.Check) -> regroup.Blocks:
    room = max(check.room, int(np.bincount(labels).max()))
    n_blocks = max(min(len(labels) // check.min_size, _MOST_PLACES // room), int(labels.max()) + 1)
    sizes = np.bincount(labels, minlength=n_blocks)
    used = np.flatnonzero(sizes)
    per_row, values = np.empty(len(used)), np.zeros(n_blocks)
    order, offsets = np.argsort(labels, kind="stable").astype(np.int32), np.append(0, np.cumsum(sizes[used]))
    cost.block_costs(space.places, space.costs, offsets, order, per_row)
    values[used] = per_row * sizes[used]
    return regroup.new_blocks(labels, values, room)
