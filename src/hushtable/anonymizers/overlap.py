"""Undo cuts whose sides publish cells that cover people of one another.

A search counts the people on either side of a cut, a reader those whom the published cells cover. They
are the same people until a class publishes a node of a hierarchy with children on both sides,
or ``*`` for missing values beside others. Who covers more people than it has is safe by
k-map, but not by delta-presence: the share of them that is in the table falls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.anonymizers.cuts import CutTree
from hushtable.anonymizers.method import Problem, is_bounded_below
from hushtable.claims.coverage import count_covered
from hushtable.column import ColumnSpec
from hushtable.hierarchy import Hierarchy
from hushtable.models.base import ClassStats
from hushtable.partition import Partition
from hushtable.recoding import Recoding
from hushtable.table import Table

__all__ = ["undo_overlaps"]


def undo_overlaps(
    found: Partition, cuts: CutTree, recode: Callable[[Partition, CutTree], Recoding], problem: Problem
) -> tuple[Partition, CutTree]:
    """Undo the last cut of every class that fails by the people whom its cells cover, until none does.

    Parameters
    ----------
    found, cuts
        The classes are the leaves of the cuts.
    recode : callable
        Says what the classes of a partition and its cuts publish.
    problem : Problem
        Every class that was cut satisfied its models, and so does what is undone.
    """
    models, people = [model for model in problem.judge.models if is_bounded_below(model)], problem.judge.population
    while people is not None and models:
        sizes, covered, cell_of_class = _covered(problem.table, found, recode(found, cuts), people, problem.ladders)
        stats = ClassStats(sizes, population=covered)
        failed = ~np.all([model.passes(stats) for model in models], axis=0)[cell_of_class]
        if not failed.any() or found.n_classes == 1:
            break
        found, cuts = _without_last_cut(problem.table, found, cuts, failed)
    return found, cuts


def _covered(
    table: Table, found: Partition, recoding: Recoding, people: CountArray, hierarchies: Mapping[str, Hierarchy]
) -> tuple[CountArray, CountArray, CountArray]:
    """Return records and people by distinct published cells, and the cells of every class."""
    published, codes, rows = [], [], []
    for column in recoding.columns:
        label_of_class, labels = recoding.labels(column.name)
        texts = list(dict.fromkeys(labels))
        published.append(texts)
        codes.append(np.array([texts.index(label) for label in labels])[label_of_class])
        rows.append(table.codes[table.index(column.name)] + 1)
    meanings = {**hierarchies, **recoding.meanings()}
    cells, cell_of_class = np.unique(np.stack(codes), axis=1, return_inverse=True)
    covered, _ = count_covered(
        published,
        cells,
        [[None, *column.texts()] for column in recoding.columns],
        np.stack(rows),
        people,
        [
            ColumnSpec(column.kind, tuple(column.texts()) if column.kind == "ordered" else None)
            for column in recoding.columns
        ],
        [meanings.get(column.name) for column in recoding.columns],
    )
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    sizes = np.bincount(cell_of_class, weights=found.sizes, minlength=cells.shape[1]).astype(np.int64)
    return sizes, covered, cell_of_class


def _without_last_cut(table: Table, found: Partition, cuts: CutTree, failed: BoolArray) -> tuple[Partition, CutTree]:
    """Make one class of all that came of the last cut above each failing class."""
    n_nodes = len(cuts.columns)
    leaves = np.flatnonzero(cuts.columns < 0)
    parent, end = np.full(n_nodes, -1), np.arange(1, n_nodes + 1)
    for node in reversed(np.flatnonzero(cuts.columns >= 0).tolist()):
        left, right = node + 1, int(end[node + 1])
        parent[[left, right]], end[node] = node, end[right]
    undone = np.unique(parent[leaves[failed]])
    opened = np.zeros(n_nodes + 1, dtype=np.int64)
    np.add.at(opened, undone + 1, 1)
    np.add.at(opened, end[undone], -1)
    kept = np.cumsum(opened)[:n_nodes] == 0
    is_cut = kept & (cuts.columns >= 0)
    is_cut[undone] = False
    lengths = np.diff(cuts.starts)
    columns = np.where(is_cut, cuts.columns, np.int32(-1))[kept]
    starts = np.concatenate(([0], np.cumsum(np.where(is_cut, lengths, 0)[kept])))
    # Depth first, what is gone comes right after the node that is a class now.
    last_kept = np.maximum.accumulate(np.where(kept, np.arange(n_nodes), 0))
    label_of_node = np.cumsum(kept & ~is_cut) - 1
    labels = label_of_node[last_kept[leaves]].astype(np.int32)[found.labels]
    merged = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
    return merged, CutTree(cuts.axes, columns, starts, cuts.members[np.repeat(is_cut, lengths)])
