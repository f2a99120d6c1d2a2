"""Minimal generalization of a few rows: the shortest path over the subsets of rows that are still free."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.minimal.candidates import Candidates, CandidateSpace
from hushtable.kernels import cost
from hushtable.search import Clock, say_if_first_run

__all__ = ["MOST_ROWS", "Smallest", "solve", "tables"]

MOST_ROWS = 16
"""Above this many rows there are too many subsets: the time grows threefold with every row."""


@dataclass(frozen=True, slots=True, eq=False)
class Smallest:
    """The cheapest partitions of a few rows.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,)
        One of them, the best by the cost that breaks ties.
    value : float
        Its cost, a sum of weighted cells; inf where no partition satisfies the models.
    ties : int
        Partitions into blocks of that cost.
    n_settled, n_pruned, n_looked_up : int
        Subsets with a partition, blocks that were too expensive alone, and costs of blocks looked up.
    first : ndarray of float64, shape (2^n_rows,)
        What each subset costs as one block.
    is_block : ndarray of bool, shape (2^n_rows,)
    values : ndarray of float64, shape (2^n_rows,)
        What each subset costs at least.
    """

    labels: CodeArray
    value: float
    ties: int
    n_settled: int
    n_pruned: int
    n_looked_up: int
    first: FloatArray
    is_block: BoolArray
    values: FloatArray


def solve(space: CandidateSpace, judge: Judge) -> Smallest:
    """Find the cheapest partition of at most `MOST_ROWS` rows."""
    say_if_first_run(cost.cheapest_partitions, 5)
    n_subsets = 1 << space.n_rows
    first = cost.subset_costs(space.places, space.costs)
    second = first if space.seconds is space.costs else cost.subset_costs(space.places, space.seconds)
    is_block = _blocks(space.n_rows, judge)
    value, again, ways = np.empty(n_subsets), np.empty(n_subsets), np.zeros(n_subsets)
    blocks, n_settled, n_pruned, n_looked_up = cost.cheapest_partitions(first, second, is_block, value, again, ways)
    labels = np.zeros(space.n_rows, dtype=np.int32)
    free, label = n_subsets - 1, 0
    while free and np.isfinite(value[-1]):
        labels[_members(int(blocks[free]), space.n_rows)] = label
        free, label = free ^ int(blocks[free]), label + 1
    counted = (n_settled, n_pruned, n_looked_up)
    return Smallest(labels, float(value[-1]), int(ways[-1]), *counted, first, is_block, value)


def _blocks(n_rows: int, judge: Judge) -> BoolArray:
    """Tell which subsets may be blocks; with only a size to reach, none that could be parted in two."""
    bits = (np.arange(1 << n_rows)[:, None] >> np.arange(n_rows)) & 1
    sizes = bits.sum(axis=1)
    fits = sizes >= judge.min_size
    if judge.is_by_size:
        return np.asarray(fits & (sizes < 2 * judge.min_size))
    asked = np.flatnonzero(fits)
    _, rows = np.nonzero(bits[asked])
    fits[asked] = judge.passes(np.append(0, np.cumsum(sizes[asked])), rows.astype(np.int32))
    return np.asarray(fits)


def _members(subset: int, n_rows: int) -> CountArray:
    return np.flatnonzero((subset >> np.arange(n_rows)) & 1)


def tables(space: CandidateSpace, found: Smallest, most: int, clock: Clock) -> Iterator[CountArray]:
    """Yield distinct tables of the least cost: the candidate that each row publishes in each column.

    Parameters
    ----------
    most : int
        Partitions are looked at until there are so many tables.
    clock : Clock
        Or until it is over: very many partitions may make the same table. Its nodes are partitions.
    """
    most_looked = clock.budget.nodes or math.inf
    listed = [space.candidates(j) for j in range(len(space.columns))]
    seen: set[bytes] = set()
    for n_looked, partition in enumerate(_partitions(found, (1 << space.n_rows) - 1), start=1):
        choices = [_ties(space, listed, _members(block, space.n_rows)) for block in partition]
        for picked in itertools.product(*(itertools.product(*each) for each in choices)):
            picks = np.empty(space.places.shape, dtype=np.int64)
            for block, each in zip(partition, picked, strict=True):
                picks[_members(block, space.n_rows)] = each
            if picks.tobytes() not in seen:
                seen.add(picks.tobytes())
                yield picks
            if len(seen) >= most or clock.left <= 0:
                return
        if n_looked >= most_looked:
            return


def _partitions(found: Smallest, free: int) -> Iterator[tuple[int, ...]]:
    """Yield the cheapest partitions of the free rows, each as its blocks."""
    if not free:
        yield ()
        return
    for block in cost.optimal_blocks(free, found.first, found.is_block, found.values).tolist():
        for others in _partitions(found, free ^ block):
            yield (block, *others)


def _ties(space: CandidateSpace, listed: list[Candidates], rows: CountArray) -> list[list[int]]:
    """Return, for every column, the common candidates of some rows that cost the least."""
    ties = []
    for j, candidates in enumerate(listed):
        at = space.places[rows, j]
        common = np.flatnonzero((candidates.first <= at.min()) & (at.max() <= candidates.last))
        costs = candidates.costs[common]
        ties.append(common[costs <= costs.min() + cost.TIES].tolist())
    return ties
