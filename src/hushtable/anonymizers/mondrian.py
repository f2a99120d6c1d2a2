"""Mondrian: multidimensional k-anonymity by cutting classes in two."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hushtable import recoding as recodings
from hushtable._types import CodeArray, CountArray, FloatArray, Progress
from hushtable.column import Column
from hushtable.errors import InputError, with_hint
from hushtable.kernels import judge, replay, split
from hushtable.models.base import PrivacyModel
from hushtable.partition import NO_HIERARCHIES, Partition, grounds, totals
from hushtable.search import Budget, Trace
from hushtable.table import Table

__all__ = ["CutTree", "Mondrian"]

_PAUSE = 4_096  # settled classes between two looks at the clock


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """The cuts of a Mondrian partition, depth first, left child first.

    Attributes
    ----------
    columns : ndarray of int32, shape (n_nodes,)
        The cut column of a node; -1 where the node is a finished class. Finished
        classes come in the order of their labels.
    starts : ndarray of int64, shape (n_nodes + 1,)
        The codes of a node's left side are ``members[starts[i]:starts[i + 1]]``;
        every other code of the node's cell goes right.
    members : ndarray of int32
    """

    columns: CodeArray
    starts: CountArray
    members: CodeArray


@dataclass(frozen=True, slots=True)
class Mondrian:
    """Cut classes in two until no cut is allowable (strict: equal rows stay together).

    Parameters
    ----------
    cut : {"gain", "median"}
        ``"gain"`` looks at all allowable cuts of all columns for the one that lowers
        the set-NCP most. ``"median"`` is the paper's rule: the widest column, nearest
        its median.
    recoding : {"tight", "cut"}
        What a class publishes: the interval or set its own records span, or the
        cell that the cuts left it, whose ends belong to no one.
    n_rescored : int
        With ``"gain"``: cuts are ranked by what they gain in their own column (times
        the fourth root of the smaller side's share, which keeps the tree from lopping
        off slivers), and this many of the best compared by what they gain in all columns.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE
    2006, section 4. We depart in that a column without an allowable cut at its
    median is cut elsewhere, that categories are ordered by their frequency in the
    class at hand, and that every model is tested inside the cut, on both sides.
    About O(n d log(n / k)) for n distinct rows and d columns, times ``n_rescored`` with gain.
    """

    cut: Literal["gain", "median"] = "gain"
    recoding: Literal["tight", "cut"] = "tight"
    n_rescored: int = 4

    def __post_init__(self) -> None:
        for name, allowed in (("cut", ("gain", "median")), ("recoding", ("tight", "cut"))):
            if getattr(self, name) not in allowed:
                msg = with_hint(f"Mondrian was given {name} = {getattr(self, name)!r}.", f"choose one of {allowed}.")
                raise InputError(msg)
        if self.n_rescored < 1:
            msg = with_hint(f"Mondrian was given n_rescored = {self.n_rescored!r}.", "1 or more; 4 is a good number.")
            raise InputError(msg)

    def search(
        self,
        table: Table,
        quasi_identifiers: Sequence[str],
        models: Sequence[PrivacyModel],
        budget: Budget | None = None,
        progress: Progress | None = None,
        *,
        population: CountArray | None = None,
        hierarchies: Mapping[str, CodeArray] = NO_HIERARCHIES,
    ) -> tuple[Partition, CutTree, Trace]:
        """Partition the rows of a table whose single class satisfies the models.

        Parameters
        ----------
        table : Table
            Distinct rows with counts are best (`Table.collapse`).
        quasi_identifiers : sequence of str
        models : sequence of PrivacyModel
        budget : Budget, optional
            What is not yet cut when it ends is published as it stands, which is safe.
        progress : callable, optional
            Called with the share of rows settled.
        population : ndarray of int64, shape (n_rows,), optional
            Records of the population in every row, where a model needs them; a row's
            own count may then be 0. Every class holds a record all the same.
        hierarchies : mapping of sensitive column to ndarray
            As for `Partition.stats`.
        """
        began = time.perf_counter()
        budget = budget or Budget()
        points = _points(table, quasi_identifiers, models)
        if population is not None:
            points = points._replace(population=population)
        axes = _axes(table, quasi_identifiers)
        rules = _rules(table, models, hierarchies)
        min_size = max(1, *(model.min_size for model in models))
        options = split.Options(self.cut == "gain", min_size, self.n_rescored)
        work = _work(points, axes, self.n_rescored)
        tree = _new_tree(table.n_rows)
        status = split.PAUSED
        while status != split.DONE:
            chunk = _PAUSE if budget.nodes is None else min(_PAUSE, budget.nodes - int(tree.cursor[split.NODES]))
            late = budget.seconds is not None and time.perf_counter() - began > budget.seconds
            if late or chunk <= 0:
                break
            status = split.grow(points, axes, rules, options, work, tree, chunk)
            if status == split.NEEDS_ROOM:
                tree = tree._replace(members=np.append(tree.members, np.empty_like(tree.members)))
            if progress is not None:
                progress(int(tree.leaf_starts[tree.cursor[split.LEAVES]]) / table.n_rows)
        n_settled = int(tree.cursor[split.NODES])
        split.finish(work, tree)
        n_nodes, n_leaves = int(tree.cursor[split.NODES]), int(tree.cursor[split.LEAVES])
        labels = np.empty(table.n_rows, dtype=np.int32)
        labels[work.order] = np.repeat(np.arange(n_leaves, dtype=np.int32), np.diff(tree.leaf_starts[: n_leaves + 1]))
        partition = Partition.from_labels(labels, n_leaves, table.counts)
        starts = np.concatenate(([0], np.cumsum(tree.lengths[:n_nodes], dtype=np.int64)))
        cuts = CutTree(tree.columns[:n_nodes], starts, tree.members[: starts[-1]] - np.int32(1))
        seconds = time.perf_counter() - began
        return partition, cuts, Trace(repr(self), n_settled, seconds, complete=status == split.DONE)

    def recode(
        self, table: Table, partition: Partition, cuts: CutTree, quasi_identifiers: Sequence[str]
    ) -> recodings.Recoding:
        """Say what every class publishes."""
        if self.recoding == "tight":
            return recodings.tight(table, partition, quasi_identifiers)
        columns = tuple(table.column(name) for name in quasi_identifiers)
        made = [_cells(table, partition, cuts, j, column) for j, column in enumerate(columns)]
        return recodings.Recoding(columns, tuple(made), "cut")


def _cells(
    table: Table, partition: Partition, cuts: CutTree, j: int, column: Column
) -> recodings.Intervals | recodings.Sets:
    """Return the cells of one column that the cuts left to the classes."""
    tree = (cuts.columns, cuts.starts, cuts.members)
    if not column.is_ordered:
        domain = np.unique(table.codes[table.index(column.name)])
        return recodings.Sets(*replay.cell_sets(*tree, j, domain, partition.n_classes), len(domain))
    first, last = replay.cell_ranges(*tree, j, column.n_values, partition.n_classes)
    _, highest, has_missing = recodings.known_ranges(table, partition, column)
    only_missing = highest < 0
    low = np.where(only_missing, -1, np.maximum(first, 0)).astype(np.int32)
    high = np.where(only_missing, -1, last).astype(np.int32)
    return recodings.Intervals(low, high, has_missing, are_cells=True)


def _points(table: Table, quasi_identifiers: Sequence[str], models: Sequence[PrivacyModel]) -> split.Points:
    rows = [table.index(name) for name in quasi_identifiers]
    sensitive = [table.index(name) for name in _sensitive(models)]
    shift = np.int32(1)
    return split.Points(np.ascontiguousarray(table.codes[rows].T) + shift, table.counts, table.codes[sensitive] + shift)


def _sensitive(models: Sequence[PrivacyModel]) -> list[str]:
    return list(dict.fromkeys(name for model in models for name in model.needs.sensitive))


def _axes(table: Table, quasi_identifiers: Sequence[str]) -> split.Axes:
    columns = [table.column(name) for name in quasi_identifiers]
    has_missing = [bool((table.codes[table.index(name)] < 0).any()) for name in quasi_identifiers]
    return split.Axes(
        is_ordered=np.array([column.is_ordered for column in columns]),
        offsets=np.cumsum([0, *(column.n_values + 1 for column in columns)]),
        positions=np.concatenate(
            [
                np.append(0.0, column.positions() if column.is_ordered else np.zeros(column.n_values))
                for column in columns
            ]
        ),
        domain=np.array([column.n_values + gap for column, gap in zip(columns, has_missing, strict=True)], dtype=float),
        weights=np.ones(len(columns)),
    )


def _rules(
    table: Table, models: Sequence[PrivacyModel], hierarchies: Mapping[str, CodeArray] = NO_HIERARCHIES
) -> judge.Rules:
    sensitive = _sensitive(models)
    distributions = {name: totals(table, name) for name in sensitive}
    rules = [model.rule(distributions, grounds(table, sensitive, hierarchies)) for model in models]
    return judge.Rules(
        kinds=np.array([rule.kind for rule in rules], dtype=np.int64),
        columns=np.array([sensitive.index(rule.sensitive) if rule.sensitive else 0 for rule in rules], dtype=np.int64),
        thresholds=np.array([rule.threshold for rule in rules]),
        seconds=np.array([rule.second for rule in rules]),
        n_values=np.array([_n_occurring(table, rule.sensitive) for rule in rules], dtype=np.int64),
        tables=_stacked([rule.table for rule in rules]),
    )


def _n_occurring(table: Table, sensitive: str | None) -> int:
    """Return one more than the last entry of a column's totals that is not 0."""
    return 0 if sensitive is None else int(table.codes[table.index(sensitive)].max(initial=-1)) + 2


def _stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack tables of different shapes, with zeros where one is smaller."""
    shape = np.max([table.shape for table in tables], axis=0)
    stacked = np.zeros((len(tables), *shape))
    for out, table in zip(stacked, tables, strict=True):
        out[: table.shape[0], : table.shape[1]] = table
    return stacked


def _work(points: split.Points, axes: split.Axes, n_rescored: int) -> split.Work:
    n_rows, n_columns = points.codes.shape
    n_sensitive = len(points.sensitive)
    n_codes = int(axes.offsets[-1])
    widest = int(np.diff(axes.offsets).max())
    widest_sensitive = int(points.sensitive.max(initial=0)) + 1
    stack = np.zeros((n_rows + 1, 2), dtype=np.int32)
    stack[0] = 0, n_rows
    return split.Work(
        order=np.arange(n_rows, dtype=np.int32),
        scratch=np.empty(n_rows, dtype=np.int64),
        stack=stack,
        codes=np.empty(n_codes, dtype=np.int32),
        records=np.empty(n_codes, dtype=np.int64),
        n_codes=np.empty(n_columns, dtype=np.int64),
        shares=np.empty(n_columns),
        run_ends=np.empty(n_codes, dtype=np.int64),
        bins=np.zeros(n_codes, dtype=np.int64),
        low=np.empty(n_columns, dtype=np.int32),
        high=np.empty(n_columns, dtype=np.int32),
        counted=np.empty(n_columns, dtype=np.int64),
        side=np.zeros(widest, dtype=np.int32),
        rank=np.empty(widest, dtype=np.int32),
        stamps=np.zeros((2, n_codes), dtype=np.int64),
        held=np.zeros((2, n_sensitive, widest_sensitive), dtype=np.int64),
        n_held=np.zeros((2, n_sensitive), dtype=np.int64),
        population=np.zeros(2, dtype=np.int64),
        scores=np.empty(n_rescored),
        cuts=np.empty((n_rescored, 2), dtype=np.int64),
    )


def _new_tree(n_rows: int) -> split.Tree:
    cursor = np.zeros(5, dtype=np.int64)
    cursor[split.STACKED] = 1
    return split.Tree(
        columns=np.empty(2 * n_rows, dtype=np.int32),
        lengths=np.zeros(2 * n_rows, dtype=np.int32),
        members=np.empty(4 * n_rows + 1_024, dtype=np.int32),
        leaf_starts=np.zeros(n_rows + 1, dtype=np.int32),
        cursor=cursor,
    )
