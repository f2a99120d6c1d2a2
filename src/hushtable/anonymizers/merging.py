"""Undo cuts whose sides publish cells that cover people of one another.

A search counts the people on either side of a cut, a reader those whom the published cells cover. They
are the same people until a class publishes a node of a hierarchy with children on both sides,
or ``*`` for missing values beside others. Who covers more people than it has is safe by
k-map, but not by delta-presence: the share of them that is in the table falls. And where nobody
tells a reader whose record a row is, a class has as many persons as its cells cannot do without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.anonymizers.cuts import CutTree
from hushtable.anonymizers.method import Problem, is_bounded_below
from hushtable.claims import count_covered, fewest_persons, pair_rows
from hushtable.columns import ColumnSpec
from hushtable.models import ClassStats, PrivacyModel
from hushtable.recoding import Recoding
from hushtable.tables import Partition, Table

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
    failing = _failing(problem)
    while failing is not None and found.n_classes > 1:
        covering, cell_of_class = _cover(problem, recode(found, cuts))
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        failed = failing(covering, np.bincount(cell_of_class, weights=found.sizes).astype(np.int64))
        if not failed.any():
            break
        found, cuts = _without_last_cut(problem.table, found, cuts, failed[cell_of_class])
    return found, cuts


class _Covering(NamedTuple):
    """What distinct classes publish, and whom that may cover; as `hushtable.claims.coverage` asks."""

    published: list[list[str | None]]
    classes: CodeArray
    people: list[list[str | None]]
    rows: CodeArray
    specs: list[ColumnSpec]
    meanings: list[Any]
    names: list[str]


def _failing(problem: Problem) -> Callable[[_Covering, CountArray], BoolArray] | None:
    """Return what tells which published classes, of so many records, fail; None where overlaps are harmless."""
    judge, table = problem.judge, problem.table
    people, bounded = judge.population, [model for model in judge.models if is_bounded_below(model)]
    if people is not None and bounded:
        return lambda covering, sizes: _fail_by_population(covering, sizes, people, bounded)
    if problem.hides_persons and judge.person is not None:
        persons = table.codes[table.index(judge.person)]
        return lambda covering, sizes: _n_persons(covering, sizes, persons, table.counts) < judge.min_size
    return None


def _fail_by_population(
    covering: _Covering, sizes: CountArray, people: CountArray, models: Sequence[PrivacyModel]
) -> BoolArray:
    published, classes, texts, rows, *told = covering
    covered, _ = count_covered(published, classes, texts, rows, people, *told)
    stats = ClassStats(sizes, population=covered)
    return np.asarray(~np.all([model.passes(stats) for model in models], axis=0))


def _n_persons(covering: _Covering, sizes: CountArray, persons: CodeArray, counts: CountArray) -> CountArray:
    classes, rows = pair_rows(*covering)
    return fewest_persons(classes, persons[rows], sizes, counts[rows])


def _cover(problem: Problem, recoding: Recoding) -> tuple[_Covering, CountArray]:
    """Return the distinct published cells with the rows that they may cover, and the cells of every class."""
    table, published, codes, rows = problem.table, [], [], []
    for column in recoding.columns:
        label_of_class, labels = recoding.labels(column.name)
        texts = list(dict.fromkeys(labels))
        places = {text: place for place, text in enumerate(texts)}
        published.append(texts)
        codes.append(np.array([places[label] for label in labels])[label_of_class])
        rows.append(table.codes[table.index(column.name)] + 1)
    meanings = {**problem.ladders, **recoding.meanings()}
    classes, cell_of_class = np.unique(np.stack(codes), axis=1, return_inverse=True)
    covering = _Covering(
        published,
        classes,
        [[None, *column.texts()] for column in recoding.columns],
        np.stack(rows),
        [column.spec for column in recoding.columns],
        [meanings.get(column.name) for column in recoding.columns],
        [column.name for column in recoding.columns],
    )
    return covering, cell_of_class


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
