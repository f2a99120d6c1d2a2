"""Dealings: groups with one record from each of several equal-sized clusters, by counts of equal records.

A group publishes the cells on which all its records agree and stars elsewhere. Records that agree on every column of A
are one *type*, so the size of a dealing depends on its types, not on its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, freeze_array

STAR = -1  # the code of a cell that agrees with no other, and of a masked one


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """The distinct A vectors, and how many records of each every cluster holds."""

    values: CodeArray  # (n_types, n_columns); -1 agrees with nothing
    supply: CountArray  # (n_clusters, n_types); every row has the same sum
    weights: FloatArray  # what a star in each column costs, 0 or more

    def __post_init__(self) -> None:
        for array in (self.values, self.supply, self.weights):
            freeze_array(array)

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.supply)

    @property
    def n_groups(self) -> int:
        """How many groups a dealing has: the records of one cluster."""
        return int(self.supply[0].sum())


@dataclass(frozen=True, slots=True, eq=False)
class Dealing:
    """Groups of one record from each cluster."""

    members: CodeArray  # (n_distinct, n_clusters): the type of the record that each cluster gives
    counts: CountArray  # how many groups have these members

    def __post_init__(self) -> None:
        freeze_array(self.members)
        freeze_array(self.counts)

    def cost(self, types: Types) -> float:
        """Return the cost of the stars: over groups, the number of clusters times the weight of the starred columns."""
        hidden = find_patterns(types, self) == STAR
        return float(types.n_clusters * ((hidden @ types.weights) @ self.counts))

    def remaining_types(self, types: Types) -> Types:
        """Return the types with the counts of records that are not dealt."""
        supply = types.supply.copy()
        for cluster, row in enumerate(supply):
            np.subtract.at(row, self.members[:, cluster], self.counts)
        return Types(types.values, supply, types.weights)


def find_patterns(types: Types, dealing: Dealing, without: int | None = None) -> CodeArray:
    """Return the cells on which all members of each group agree (maybe without one cluster), `STAR` elsewhere."""
    clusters = [cluster for cluster in range(types.n_clusters) if cluster != without]
    cells = types.values[dealing.members[:, clusters[0]]]
    for cluster in clusters[1:]:
        cells = np.where(types.values[dealing.members[:, cluster]] == cells, cells, np.int32(STAR))
    return cells


def list_subsets(n_columns: int) -> list[tuple[int, ...]]:
    """List all sets of columns, the largest first."""
    return [chosen for size in range(n_columns, -1, -1) for chosen in combinations(range(n_columns), size)]


def label_equal_cells(values: CodeArray, columns: Sequence[int]) -> CodeArray:
    """Label types by their cells in some columns: equal cells, equal label; -1 if a cell agrees with nothing."""
    cells = values[:, list(columns)]
    labels = np.zeros(len(values), dtype=np.int32)
    for column in cells.T:
        # Renumbered densely after each column, so that keys do not overflow.
        keys = labels.astype(np.int64) * (int(column.max(initial=0)) + 2) + column + 1
        labels = np.unique(keys, return_inverse=True)[1].astype(np.int32)
    labels[(cells == STAR).any(axis=1)] = -1
    return labels


def poorest_counts(supply: CountArray, labels: CodeArray) -> CountArray:
    """Count the groups that each label allows: the least number of its records in any cluster; -1 is no label."""
    n_labels = int(labels.max(initial=-1)) + 1
    has_label = labels >= 0
    counts = [np.bincount(labels[has_label], weights=row[has_label], minlength=n_labels) for row in supply]
    return np.asarray(np.min(counts, axis=0), dtype=np.int64)


def deal_greedily(types: Types) -> Dealing:
    """Deal records that agree on many columns into groups, the heaviest sets of columns first.

    O(2^d n_types n_clusters), d columns. The first step deals as many groups without a star as any dealing can. Every
    other group costs at least u in any dealing and at most u d here, for u clusters: the cost is at most d times the
    least. With weights that ratio is their sum over the smallest; with a weight of 0 there is none.
    """
    remaining = types.supply.copy()
    by_weight: dict[float, list[tuple[int, ...]]] = {}
    for columns in list_subsets(len(types.weights)):
        by_weight.setdefault(round(float(types.weights[list(columns)].sum()), 9), []).append(columns)
    parts = []
    for weight in sorted(by_weight, reverse=True):
        labels = [label_equal_cells(types.values, columns) for columns in by_weight[weight]]
        for each in sorted(labels, key=lambda each: -int(poorest_counts(remaining, each).sum())):
            part, dealt = _deal_labels(remaining, each)
            remaining -= dealt
            parts.append(part)
    return merge_dealings(parts)


def merge_dealings(parts: Sequence[Dealing]) -> Dealing:
    """Merge several dealings into one, with equal groups counted together."""
    members = np.concatenate([part.members for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    distinct, inverse = np.unique(members, axis=0, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, inverse.ravel(), counts)
    return Dealing(np.ascontiguousarray(distinct), sums)


def align_runs(runs: Sequence[CountArray]) -> tuple[list[CountArray], CountArray]:
    """Cut several sequences of runs, of one total length, at the ends of all; return each one's runs, and lengths."""
    ends = [np.cumsum(lengths) for lengths in runs]
    cuts = np.unique(np.concatenate([[0], *ends]))
    return [np.searchsorted(each, cuts[:-1], side="right") for each in ends], np.diff(cuts)


def _deal_labels(remaining: CountArray, labels: CodeArray) -> tuple[Dealing, CountArray]:
    """Deal as many groups of each label as possible; return them, and the records dealt of every type."""
    n_groups = poorest_counts(remaining, labels)
    by_label = np.argsort(labels, kind="stable")
    by_label = by_label[np.searchsorted(labels[by_label], 0) :]
    starts = np.searchsorted(labels[by_label], np.arange(len(n_groups)))
    dealt = np.zeros_like(remaining)
    for row, out in zip(remaining, dealt, strict=True):
        before = np.concatenate(([0], np.cumsum(row[by_label])))[:-1]
        before -= before[starts][labels[by_label]]
        out[by_label] = np.clip(n_groups[labels[by_label]] - before, 0, row[by_label])
    return deal_in_runs([(by_label, row[by_label]) for row in dealt]), dealt


def deal_in_runs(runs: Sequence[tuple[CountArray, CountArray]]) -> Dealing:
    """Form groups from each cluster's sequence of types and numbers of records, in this order."""
    places, counts = align_runs([lengths for _, lengths in runs])
    members = np.empty((len(counts), len(runs)), dtype=np.int32)
    for cluster, ((member_types, _), place) in enumerate(zip(runs, places, strict=True)):
        members[:, cluster] = member_types[place]
    return Dealing(members, counts)
