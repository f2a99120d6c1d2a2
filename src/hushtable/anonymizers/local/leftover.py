"""A start along hierarchies: a full-domain recoding of few losses, another one of the rows that it leaves over, and on.

The cheapest levels that put a hundredth of all records into classes are taken, those are classes, and the rows left
go on. Levels that kept too few records once keep no more of fewer rows, so every node of the lattice is looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.local.pricing import Pricing, node_costs
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import unplaced
from hushtable.kernels.regroup import Check
from hushtable.search import Clock
from hushtable.tables import Table

__all__ = ["MOST_NODES", "by_levels", "n_nodes"]

MOST_NODES: Final = 100_000  # of the lattice
_SHARE_KEPT: Final = 0.01


def n_nodes(pricing: Pricing) -> int:
    """Return how many combinations of levels there are; 0 where a column has no hierarchy."""
    ladders = [axis.hierarchy for axis in pricing.axes]
    if any(ladder is None for ladder in ladders):
        return 0
    return int(np.prod([float(ladder.n_levels) for ladder in ladders if ladder is not None]))


@dataclass(frozen=True, slots=True, eq=False)
class _Rest:
    """The distinct rows left over.

    Attributes
    ----------
    rows : ndarray of int64
        Which.
    counts : ndarray of int64
    nodes : ndarray of int32, shape (n_levels of all columns, n_rows)
        Theirs at every level of the first column, then of the next.
    costs : ndarray of float64, shape (n_levels of all columns, n_rows)
        Of a record that publishes them.
    """

    rows: CountArray
    counts: CountArray
    nodes: CodeArray = field(repr=False)
    costs: FloatArray = field(repr=False)

    def of(self, kept: BoolArray) -> _Rest:
        nodes, costs = np.ascontiguousarray(self.nodes[:, kept]), np.ascontiguousarray(self.costs[:, kept])
        return _Rest(self.rows[kept], self.counts[kept], nodes, costs)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What classes satisfy, and the records of every distinct row: ``records[offsets[i]:offsets[i + 1]]``."""

    check: Check
    offsets: CountArray
    records: CodeArray


def by_levels(pricing: Pricing, clock: Clock) -> CodeArray | None:
    """Return the class of every row, -1 where it is left over; None where there is no lattice, or no time."""
    if not 0 < n_nodes(pricing) <= MOST_NODES:
        return None
    problem = pricing.problem
    ladders = [axis.hierarchy for axis in pricing.axes if axis.hierarchy is not None]
    distinct, inverse = problem.table.select(problem.columns).collapse()
    shape = tuple(ladder.n_levels for ladder in ladders)
    starts = np.append(0, np.cumsum(shape))[:-1]
    rest = _all(pricing, ladders, distinct)
    offsets = np.append(0, np.cumsum(np.bincount(inverse, minlength=distinct.n_rows)))
    asked = _Asked(problem.judge.check(len(inverse)), offsets, np.argsort(inverse, kind="stable").astype(np.int32))
    labels, n_classes = np.full(distinct.n_rows, -1, dtype=np.int32), 0
    fails, before = np.zeros(shape, dtype=bool), distinct.n_records
    while clock.left > 0:
        least = max(problem.judge.min_size, min(int(_SHARE_KEPT * distinct.n_records), int(rest.counts.sum()) // 2))
        if least < before:
            # Where less is asked, what failed may do.
            fails[...] = False
        before = least
        group = _cheapest(rest, starts, fails, least, asked, clock)
        if group is None:
            break
        kept = group >= 0
        labels[rest.rows[kept]] = n_classes + np.unique(group[kept], return_inverse=True)[1]
        n_classes = int(labels.max()) + 1
        rest = rest.of(~kept)
    return labels[inverse] if n_classes and clock.left > 0 else None


def _all(pricing: Pricing, ladders: Sequence[Hierarchy], distinct: Table) -> _Rest:
    """Lay out all rows."""
    nodes, costs = [], []
    loss, columns = pricing.problem.loss, pricing.space.columns
    for j, ladder in enumerate(ladders):
        # The missing value is a leaf of its own below the top.
        levels, codes = ladder.levels_with_missing(), distinct.codes[j] + 1
        for level, of_level in enumerate(node_costs(loss, ladder, pricing.axes[j].domain)):
            is_top = level == ladder.n_levels - 1
            of_missing = 1.0 if is_top else 0.0
            of_code = np.append(of_missing, of_level[ladder.level_codes[level]])
            nodes.append(levels[level, codes])
            costs.append(columns["star"][j] * of_code[codes])
    return _Rest(np.arange(distinct.n_rows), distinct.counts, np.array(nodes, dtype=np.int32), np.array(costs))


def _cheapest(
    rest: _Rest,
    starts: CountArray,
    fails: BoolArray,
    least: int,
    asked: _Asked,
    clock: Clock,
) -> CodeArray | None:
    """Return the groups of the cheapest levels that keep enough records, -1 for rows in none; None where none do.

    What fails is marked, and all that lies below.
    """
    n_records = int(rest.counts.sum())
    if n_records < least:
        return None
    by_level = rest.costs @ rest.counts
    costs = np.zeros(fails.shape)
    for j, start in enumerate(starts.tolist()):
        width = fails.shape[j]
        costs += by_level[start : start + width].reshape([-1 if i == j else 1 for i in range(fails.ndim)])
    n_slots = 1 << int(2 * len(rest.rows)).bit_length()
    keys, held = np.empty(n_slots, dtype=np.uint64), np.empty(n_slots, dtype=np.int64)
    first, slots, after = (np.empty(n, dtype=np.int32) for n in (n_slots, len(rest.rows), len(rest.rows)))
    groups = unplaced.Groups(rest.rows, slots, held, asked.offsets, asked.records, first, after)
    min_size = asked.check.min_size
    for number in np.argsort(costs, axis=None, kind="stable").tolist():
        levels = np.unravel_index(number, fails.shape)
        if fails[levels]:
            continue
        if clock.left <= 0:
            return None
        of_columns = starts + np.array(levels)
        n_kept = unplaced.roll_up(rest.nodes, of_columns, rest.counts, min_size, keys, held, slots)
        if n_kept >= least and asked.check.judged is not None:
            n_kept = unplaced.judge_groups(groups, asked.check.judged, min_size)
        if n_kept >= least:
            return np.where(held[slots] >= min_size, slots, -1).astype(np.int32)
        # Models that only wider classes may fail would not have it marked; what is found passes all the same.
        fails[tuple(slice(level + 1) for level in levels)] = True
    return None
