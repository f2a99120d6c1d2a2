"""Dealings: records of equal-sized clusters dealt into groups of one from each, by counts of equal records.

A group publishes the cells on which all its records agree and stars elsewhere. Records that agree on every column of A
are one *type*, so that a dealing is as large as its types, not as its records.
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
        """Return what the stars cost: for every group, its clusters times the weight of what it hides."""
        hidden = find_patterns(types, self) == STAR
        return float(types.n_clusters * ((hidden @ types.weights) @ self.counts))

    def remaining_types(self, types: Types) -> Types:
        """Return the records that are not dealt."""
        supply = types.supply.copy()
        for cluster, row in enumerate(supply):
            np.subtract.at(row, self.members[:, cluster], self.counts)
        return Types(types.values, supply, types.weights)


def find_patterns(types: Types, dealing: Dealing, without: int | None = None) -> CodeArray:
    """Return the cells on which the members of every group agree, perhaps without one cluster, and `STAR` elsewhere."""
    clusters = [cluster for cluster in range(types.n_clusters) if cluster != without]
    cells = types.values[dealing.members[:, clusters[0]]]
    for cluster in clusters[1:]:
        cells = np.where(types.values[dealing.members[:, cluster]] == cells, cells, np.int32(STAR))
    return cells


def list_subsets(n_columns: int) -> list[tuple[int, ...]]:
    """List all sets of columns, the largest first."""
    return [chosen for size in range(n_columns, -1, -1) for chosen in combinations(range(n_columns), size)]


def label_equal_cells(values: CodeArray, columns: Sequence[int]) -> CodeArray:
    """Label the types that could publish the same cells in some columns alike; -1 where a cell agrees with nothing."""
    cells = values[:, list(columns)]
    labels = np.zeros(len(values), dtype=np.int32)
    for column in cells.T:
        # Made dense after each column, so that keys stay small.
        keys = labels.astype(np.int64) * (int(column.max(initial=0)) + 2) + column + 1
        labels = np.unique(keys, return_inverse=True)[1].astype(np.int32)
    labels[(cells == STAR).any(axis=1)] = -1
    return labels


def poorest_counts(supply: CountArray, labels: CodeArray) -> CountArray:
    """Count the groups that each label can give: what the poorest cluster holds of it; -1 is no label."""
    n_labels = int(labels.max(initial=-1)) + 1
    has_label = labels >= 0
    counts = [np.bincount(labels[has_label], weights=row[has_label], minlength=n_labels) for row in supply]
    return np.asarray(np.min(counts, axis=0), dtype=np.int64)


def deal_greedily(types: Types) -> Dealing:
    """Deal together records that agree on much, the most agreeing sets of columns first.

    O(2^d n_types n_clusters). Its first step deals as many groups without a star as any dealing can. Every other group
    costs at least u in any dealing and at most u d here: the cost is at most d times the least. With weights that ratio
    is their sum over the smallest; with a weight of 0 there is none.
    """
    remaining = types.supply.copy()
    by_weight: dict[float, list[tuple[int, ...]]] = {}
    for columns in list_subsets(len(types.weights)):
        by_weight.setdefault(round(float(types.weights[list(columns)].sum()), 9), []).append(columns)
    parts = []
    for weight in sorted(by_weight, reverse=True):
        labels = [label_equal_cells(types.values, columns) for columns in by_weight[weight]]
        for each in sorted(labels, key=lambda each: -int(poorest_counts(remaining, each).sum())):
            part, dealt = _deal_label(remaining, each)
            remaining -= dealt
            parts.append(part)
    return merge_dealings(parts)


def merge_dealings(parts: Sequence[Dealing]) -> Dealing:
    """Return the groups of several dealings as one, equal groups counted together."""
    members = np.concatenate([part.members for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    distinct, inverse = np.unique(members, axis=0, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, inverse.ravel(), counts)
    return Dealing(np.ascontiguousarray(distinct), sums)


def align_runs(runs: Sequence[CountArray]) -> tuple[list[CountArray], CountArray]:
    """Cut rows of runs, of one total length, wherever one begins a new run; return runs by row and lengths."""
    ends = [np.cumsum(lengths) for lengths in runs]
    cuts = np.unique(np.concatenate([[0], *ends]))
    return [np.searchsorted(each, cuts[:-1], side="right") for each in ends], np.diff(cuts)


def _deal_label(remaining: CountArray, labels: CodeArray) -> tuple[Dealing, CountArray]:
    """Deal as many groups of one label as there are; return them and what was taken of every type."""
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
    """Make groups of what every cluster gives in turn: its types, and how many records of each."""
    places, counts = align_runs([lengths for _, lengths in runs])
    members = np.empty((len(counts), len(runs)), dtype=np.int32)
    for cluster, ((member_types, _), place) in enumerate(zip(runs, places, strict=True)):
        members[:, cluster] = member_types[place]
    return Dealing(members, counts)
