"""Sequential trees: each column is drawn from a tree on the columns before it, as in Reiter 2005 and in synthpop.

Columns are coarsened first: a number is the bin that it lies in (`margins`), a rare category the pool of all rare
ones, a missing cell a level of its own. So no leaf holds a value of few people. Differences from CART as synthpop runs
it: a drawn level comes from the leaf or, with a chance that shrinks as leaves grow, from a node above it; and a number
lies anywhere in the bin of its donor, never at the donor's own value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from scipy.special import ndtri

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.synthesizers.copula import main_direction
from hushtable.synthesizers.margins import Original, Sharing, find_bins
from hushtable.synthesizers.writing import ends_of
from hushtable.tables import Table

SHRINKAGE: Final = 20.0
"""So many records of the node above count in each node: chosen by what attacks find, as `MIN_GAIN` is."""

MIN_GAIN: Final = 0.001
"""Share of a column's variance that a split must explain. Splits for less copy chance, and so people."""

_MAX_LEVELS: Final = 32  # of a category that decide where trees split: the most frequent ones


@dataclass(frozen=True, slots=True, eq=False)
class ColumnLevels:
    """A coarsened column: level 0 is missing."""

    codes: CodeArray = field(repr=False)  # (n_records,)
    begins: CountArray = field(repr=False)  # (n_levels + 1,), where each level begins in the column's line
    is_nominal: bool


def coarsen_column(table: Table, j: int, sharing: Sharing) -> ColumnLevels:
    """Return the levels of a column, with those of its records: bins of numbers, and other values as they are."""
    column, codes = table.columns[j], np.repeat(table.codes[j], table.counts)
    ends = ends_of(table.codes[j], table.counts, column.n_values)
    begins = find_bins(sharing)[0] if column.is_measured and column.n_values else np.arange(column.n_values)
    levels = np.searchsorted(begins, codes, side="right")
    level_begins = np.concatenate([[0], ends[begins], ends[-1:]])
    return ColumnLevels(levels.astype(np.int32), level_begins, column.kind == "category")


def draw_positions(
    original: Original, order: Sequence[int], min_leaf: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Draw new records column by column; return positions in the line of each column, (n_columns, n)."""
    table = original.table
    weights = np.repeat(original.weights, table.counts)
    columns = [coarsen_column(table, j, original.sharing[j]) for j in range(len(table.columns))]
    drawn = np.empty((len(columns), n), dtype=np.int32)
    positions = np.empty((len(columns), n))
    for turn, j in enumerate(order):
        target, before = columns[j], [columns[i] for i in order[:turn]]
        records = _draw_donors(target, before, drawn[list(order[:turn])], weights, min_leaf, n, rng)
        drawn[j] = target.codes[records]
        begin, end = target.begins[drawn[j]], target.begins[drawn[j] + 1]
        within = begin + rng.random(n) * (end - begin)
        positions[j] = np.minimum(within, np.nextafter(end.astype(np.float64), 0))
    return positions


def _draw_donors(
    target: ColumnLevels,
    before: Sequence[ColumnLevels],
    drawn: CodeArray,
    weights: FloatArray,
    min_leaf: int,
    n: int,
    rng: np.random.Generator,
) -> CountArray:
    """Draw a record of a leaf, or of a node above it, for each new record, given its cells before this one."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise InputError("the method 'trees' needs scikit-learn.", hint="install hushtable[sklearn].") from None
    seed = int(rng.integers(2**31))
    scores = score_levels(target)[target.codes]
    least_share = min_leaf / weights.sum()
    if not before or least_share > 0.5 or not scores.var(axis=0).any():
        return rng.integers(len(target.codes), size=n)
    ranks = [rank_levels(each, scores) for each in before]
    tree = DecisionTreeRegressor(
        min_weight_fraction_leaf=least_share,
        min_impurity_decrease=MIN_GAIN * float(scores.var(axis=0).mean()),
        random_state=seed,
    )
    learned = np.array([rank[each.codes] for rank, each in zip(ranks, before, strict=True)], dtype=np.float32).T
    tree.fit(learned, scores, sample_weight=weights)
    leaves = tree.apply(learned)
    new = np.array([rank[codes] for rank, codes in zip(ranks, drawn, strict=True)], dtype=np.float32).T
    parents = np.zeros(tree.tree_.node_count, dtype=np.int64)
    for children in (tree.tree_.children_left, tree.tree_.children_right):
        parents[children[children > 0]] = np.flatnonzero(children > 0)
    return draw_from_nodes(leaves, parents, tree.apply(new), rng)


def draw_from_nodes(leaves: CountArray, parents: CountArray, nodes: CountArray, rng: np.random.Generator) -> CountArray:
    """Draw a record for each of some leaves; nodes are numbered in preorder, and the root, 0, is its own parent.

    A node of m records is left for its parent with the chance s / (m + s), where s is the shrinkage: the shares of
    a node's levels are ``(counts + s * shares of its parent) / (m + s)``.
    """
    sizes = np.bincount(leaves, minlength=len(parents))
    # Of leaves, which come after the nodes above them, to the root.
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    by_leaf = np.argsort(leaves, kind="stable")
    begins = np.searchsorted(leaves[by_leaf], np.arange(len(parents)))
    nodes = nodes.copy()
    climbing = np.arange(len(nodes))
    while len(climbing):
        at = nodes[climbing]
        leaves_node = (rng.random(len(at)) * (sizes[at] + SHRINKAGE) < SHRINKAGE) & (at > 0)
        climbing = climbing[leaves_node]
        nodes[climbing] = parents[nodes[climbing]]
    shift = (rng.random(len(nodes)) * sizes[nodes]).astype(np.int64)
    return np.asarray(by_leaf[begins[nodes] + np.minimum(shift, sizes[nodes] - 1)])


def score_levels(levels: ColumnLevels) -> FloatArray:
    """Return what a tree has to explain of each level, (n_levels, n_scores): squared errors are Gini for categories."""
    sizes = np.bincount(levels.codes, minlength=len(levels.begins) - 1)
    if levels.is_nominal:
        most = np.argsort(-sizes, kind="stable")[:_MAX_LEVELS]
        return np.asarray((np.arange(len(sizes))[:, None] == most).astype(np.float64))
    present = np.append(0, sizes[1:])
    middles = (np.cumsum(present) - present / 2)[1:] / max(present.sum(), 1)
    scores = np.append(0, ndtri(np.clip(middles, 1e-9, 1 - 1e-9)))
    is_missing = np.arange(len(sizes)) == 0
    return np.stack([scores, is_missing * 1.0], axis=1)[:, : 1 + bool(sizes[0])]


def rank_levels(levels: ColumnLevels, scores: FloatArray) -> CountArray:
    """Rank the levels of a column for splits: categories by the target's scores along the direction they vary most."""
    n_levels = len(levels.begins) - 1
    if not levels.is_nominal:
        return np.arange(n_levels)
    sizes = np.maximum(np.bincount(levels.codes, minlength=n_levels), 1)
    sums = [np.bincount(levels.codes, weights=each, minlength=n_levels) for each in (scores - scores.mean(axis=0)).T]
    means = np.array(sums) / sizes
    along = np.round(main_direction((means * sizes) @ means.T) @ means, 6)
    ranks = np.empty(n_levels, dtype=np.int64)
    ranks[np.argsort(along, kind="stable")] = np.arange(n_levels)
    return ranks
