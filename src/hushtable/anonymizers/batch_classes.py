"""Classes of a batch: every row is published by the cells of the lowest cut below which enough new rows share them.

A row first comes to a finished class of the earlier release. If the cells there do not cover it, they go on: a date
gets the calendar unit that is as long, a number what lies between the cuts around the class. If the new rows of a class
are too few, they climb to the cut above and are published by its wider cells, together with others that climbed there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, freeze_array
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.placement import Routes, with_own_units, write_bounds
from hushtable.claims import count_fewest_persons, covers_row_value, pair_rows
from hushtable.errors import InfeasibleError
from hushtable.recoding import Written
from hushtable.release import Batch
from hushtable.tables import Partition, Table, label_rows

_OUT: Final = -1  # the node of a row above the first cut: nothing publishes it


@dataclass(frozen=True, slots=True, eq=False)
class CellTree:
    """What is published at each node of the cuts of an earlier release."""

    routes: Routes
    cells: Mapping[str, Written]  # with an entry for each node, in place of each class
    meanings: Mapping[str, object]  # of the columns whose labels mean what a hierarchy says
    # Of numbers and dates that are cut in their order: where the values of each node begin and end
    bounds: Mapping[str, tuple[list[str | None], list[str | None]]]

    @classmethod
    def build(
        cls,
        routes: Routes,
        of_classes: Mapping[str, Written],
        class_of_leaf: CodeArray,
        of_cuts: Mapping[str, Written],
        hierarchies: Mapping[str, object],
        in_order: Iterable[str],
    ) -> CellTree:
        """Put the cells of finished classes and those of cuts in the order of the nodes."""
        is_cut, classes = routes.cut >= 0, class_of_leaf.astype(np.int64)
        joined = {name: _join_nodes(cell.take(classes), of_cuts[name], is_cut) for name, cell in of_classes.items()}
        meanings = {**hierarchies, **{name: cell.means for name, cell in joined.items() if cell.means}}
        return cls(routes, joined, meanings, {name: routes.bounds(name) for name in in_order})


def _join_nodes(of_leaves: Written, of_cuts: Written, is_cut: BoolArray) -> Written:
    """Return cells with an entry for each node."""
    label_of: dict[str | None, int] = {text: i for i, text in enumerate(of_leaves.texts)}
    shifted = np.array([label_of.setdefault(text, len(label_of)) for text in of_cuts.texts], dtype=np.int32)
    label = np.empty(len(is_cut), dtype=np.int32)
    lost, lost_by_rank = np.empty(len(is_cut)), np.empty(len(is_cut))
    for nodes, own, labels in ((is_cut, of_cuts, shifted[of_cuts.label]), (~is_cut, of_leaves, of_leaves.label)):
        label[nodes], lost[nodes], lost_by_rank[nodes] = labels, own.lost, own.lost_by_rank
    # Groups that only wide cells name have a meaning, too.
    means = of_leaves.means or of_cuts.means
    return replace(of_leaves, label=label, lost=lost, lost_by_rank=lost_by_rank, texts=tuple(label_of), means=means)


@dataclass(frozen=True, slots=True, eq=False)
class BatchClasses:
    """The classes of a batch, each of which passes."""

    classes: CodeArray  # -1 where a row has none
    cells: Mapping[str, Written]
    unfit: Mapping[str, BoolArray]  # (n_rows,): whether the first cell of the column does not cover the row
    is_unfit: BoolArray  # (n_rows,): whether cells that do not cover the row are why it has no class, if it has none
    is_left_out: BoolArray  # (n_rows,): whether the row is not to be published
    n_wider: int = 0  # records that cells of a cut publish

    def describe(self, counts: CountArray, *, replaces_earlier: bool) -> Batch:
        """Count what became of the records, or raise InfeasibleError where none is left."""
        is_out = (self.classes < 0) & ~self.is_left_out
        n_unfit, n_failed = int(counts[is_out & self.is_unfit].sum()), int(counts[is_out & ~self.is_unfit].sum())
        # A record that a class takes fits all its columns.
        by_column = {name: int(counts[unfit & self.is_unfit & is_out].sum()) for name, unfit in self.unfit.items()}
        by_column = {name: n for name, n in by_column.items() if n}
        if self.is_left_out.all():
            raise InfeasibleError(
                f"all {int(counts.sum()):,} records are of persons who are in previous batches: none is left.",
                hint="check that the new batch is not among the previous ones.",
            )
        if (self.classes < 0).all():
            where = f" ({', '.join(f'column {name!r}: {n:,}' for name, n in by_column.items())})" if by_column else ""
            raise InfeasibleError(
                f"{n_unfit:,} of the {int(counts.sum()):,} records fit no cell of the earlier release{where}, and "
                f"{n_failed:,} are in classes that fail by themselves: none is left.",
                hint="collect more records before they are published, or anonymize them anew.",
            )
        n_left_out = int(counts[self.is_left_out].sum())
        return Batch(replaces_earlier, n_unfit, n_failed, by_column, self.n_wider, n_left_out)


def judge_classes(
    classes: CodeArray,
    published: Mapping[str, Written],
    unfit: Mapping[str, BoolArray],
    judge: Judge,
    is_left_out: BoolArray,
) -> BatchClasses:
    """Return the classes of rows that have one place only (class -1: none), without those that fail by themselves."""
    is_placed: BoolArray = (classes >= 0) & ~is_left_out
    used, dense = np.unique(classes[is_placed], return_inverse=True)
    labels = np.full(len(classes), np.int32(-1), np.int32)
    labels[is_placed] = dense
    partition = Partition.from_labels(labels, len(used), judge.table.counts)
    passes = np.append(judge.passes(partition.offsets, partition.rows), False)[labels]
    return BatchClasses(np.where(passes, classes, np.int32(-1)), published, unfit, ~is_placed, is_left_out)


def find_batch_classes(tree: CellTree, judge: Judge, is_left_out: BoolArray, *, hides_persons: bool) -> BatchClasses:
    """Return the class of each row of a batch, given the judge of its rows; rows that are left out have none.

    A class of the batch passes all models by the rows of the batch alone. With ``hides_persons``, it also has as many
    persons as the smallest class must hold if a reader only knows which records its cells cover.

    Notes
    -----
    Rows climb level by level, all rows of a level at once: O(n) for each level of the cuts.
    """
    climb = _Climb.start(tree, judge, is_left_out)
    unfit = {name: (climb.labels[j] < 0)[climb.inverse] for j, name in enumerate(tree.cells)}
    first = climb.nodes.copy()
    climb.settle(np.arange(len(first)))
    climb.rise()
    while hides_persons and climb.reopen_few():
        climb.rise()
    return climb.finish(first, unfit)


@dataclass(slots=True, eq=False)
class _Climb:
    """Distinct rows of a batch on their way up."""

    tree: CellTree
    judge: Judge
    is_left_out: BoolArray  # (n_rows,)
    distinct: Table
    inverse: CodeArray  # of each row of the batch, which distinct row it is
    parents: CountArray
    depths: CountArray
    nodes: CountArray  # of each distinct row
    labels: CodeArray  # (n_columns, n_distinct): the texts at its node; -1 where nothing there covers it
    is_settled: BoolArray  # whether its class passes
    texts: dict[str, tuple[str | None, ...]]
    wider: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)  # of a column's text: its shares

    @classmethod
    def start(cls, tree: CellTree, judge: Judge, is_left_out: BoolArray) -> _Climb:
        """Put each row where the cuts lead it."""
        distinct, inverse = judge.table.select(tuple(tree.cells)).collapse()
        parents, depths = tree.routes.parents(), tree.routes.depths()
        leaves = np.flatnonzero(tree.routes.cut < 0)
        nodes = leaves[tree.routes.place_rows(distinct, tree.meanings)]
        labels = np.full((len(tree.cells), distinct.n_rows), -1, dtype=np.int32)
        texts = {name: cell.texts for name, cell in tree.cells.items()}
        is_settled = np.zeros(len(nodes), dtype=bool)
        climb = cls(tree, judge, is_left_out, distinct, inverse, parents, depths, nodes, labels, is_settled, texts)
        climb._label(np.arange(distinct.n_rows))
        return climb

    def rise(self) -> None:
        """Let rows without a class climb until they have one, or nothing is above them."""
        for depth in range(int(self.depths.max(initial=0)), -1, -1):
            rows = np.flatnonzero(~self.is_settled & (self.nodes != _OUT))
            rows = rows[self.depths[self.nodes[rows]] == depth]
            self.nodes[rows] = self.parents[self.nodes[rows]]
            rows = rows[self.nodes[rows] != _OUT]
            if len(rows):
                self._label(rows)
                self.settle(rows)

    def settle(self, rows: CountArray) -> None:
        """Give rows a class if their cells cover them and the class of these cells passes."""
        rows = rows[(self.labels[:, rows] >= 0).all(axis=0)]
        if not len(rows):
            return
        is_tried = self.is_settled.copy()
        is_tried[rows] = True
        numbers, first = self._number(np.flatnonzero(is_tried))
        # Rows that have a class are judged again only if others join them.
        is_joined = np.append(np.zeros(len(first), dtype=bool), False)
        is_joined[numbers[rows]] = True
        dense = np.where(is_joined, np.cumsum(is_joined) - 1, -1)
        partition = self._partition(dense[numbers], int(is_joined.sum()))
        passes = self.judge.passes(partition.offsets, partition.rows)
        self.is_settled[rows] = passes[dense[numbers[rows]]]

    def reopen_few(self) -> bool:
        """Unsettle rows whose class, as far as a reader can tell, has too few persons; return whether there are any."""
        settled = np.flatnonzero(self.is_settled)
        if not len(settled):
            return False
        numbers, first = self._number(settled)
        sizes = self._partition(numbers, len(first)).sizes
        table, names = self.judge.table, tuple(self.tree.cells)
        columns = [table.column(name) for name in names]
        classes, rows = pair_rows(
            [self.texts[name] for name in names],
            self.labels[:, first],
            [[None, *column.texts()] for column in columns],
            np.stack([table.codes[table.index(name)] for name in names]) + 1,
            [column.spec for column in columns],
            [self.tree.meanings.get(name) for name in names],
            names,
        )
        assert self.judge.person is not None
        persons = table.codes[table.index(self.judge.person)]
        fewest = count_fewest_persons(classes, persons[rows], sizes, table.counts[rows])
        few = settled[(fewest < self.judge.min_size)[numbers[settled]]]
        self.is_settled[few] = False
        return len(few) > 0

    def finish(self, first: CountArray, unfit: Mapping[str, BoolArray]) -> BatchClasses:
        """Number the classes, and collect what they publish."""
        classes, first_rows = self._number(np.flatnonzero(self.is_settled))
        combinations, nodes = self.labels[:, first_rows], self.nodes[first_rows]
        published = {}
        for j, (name, cell) in enumerate(self.tree.cells.items()):
            own = cell.take(nodes)
            shares = [self.wider.get((j, label), (0.0, 0.0)) for label in combinations[j].tolist()]
            by_value, by_rank = np.array(shares).reshape(-1, 2).T
            published[name] = replace(
                own,
                label=combinations[j],
                lost=np.maximum(own.lost, by_value),
                lost_by_rank=np.maximum(own.lost_by_rank, by_rank),
                texts=self.texts[name],
            )
        is_wider = self.is_settled & (self.nodes != first)
        of_row = np.where(self.is_left_out, np.int32(-1), classes[self.inverse])
        n_wider = int(self.judge.table.counts[is_wider[self.inverse] & ~self.is_left_out].sum())
        is_unfit = np.any([*unfit.values()], axis=0)
        return BatchClasses(of_row, published, unfit, is_unfit, self.is_left_out, n_wider)

    def _number(self, rows: CountArray) -> tuple[CodeArray, CountArray]:
        """Number distinct rows by the texts that publish them, -1 for all others; return a row of each number, too."""
        widths = [len(texts) for texts in self.texts.values()]
        # Read-only, as columns are: for writable arrays numba would compile the kernel again.
        number, n_numbers = label_rows([freeze_array(labels[rows]) for labels in self.labels], widths, len(rows))
        numbers = np.full(len(self.nodes), -1, dtype=np.int32)
        numbers[rows] = number
        first = np.zeros(n_numbers, dtype=np.int64)
        first[number[::-1]] = rows[::-1]
        return numbers, first

    def _partition(self, numbers: CountArray | CodeArray, n_classes: int) -> Partition:
        """Return the rows of the batch by the class of their distinct row, given by its number; -1: none."""
        labels = np.where(self.is_left_out, -1, numbers[self.inverse]).astype(np.int32)
        return Partition.from_labels(labels, n_classes, self.judge.table.counts)

    def _label(self, rows: CountArray) -> None:
        """Set the texts by which the nodes of rows publish them; -1 if no text of the node covers a row."""
        nodes = self.nodes[rows]
        for j, (name, cell) in enumerate(self.tree.cells.items()):
            column, codes = self.distinct.columns[j], self.distinct.codes[j][rows]
            meaning, (used, place) = self.tree.meanings.get(name), np.unique(cell.label[nodes], return_inverse=True)
            texts = [cell.texts[label] for label in used.tolist()]
            covered = covers_row_value(texts, column, meaning, place.astype(np.int32), codes)
            self.labels[j, rows] = np.where(covered, used[place], -1)
            if not covered.all():
                self._extend_cells(j, rows, nodes)

    def _extend_cells(self, j: int, rows: CountArray, nodes: CountArray) -> None:
        """Give rows outside the cells of a column another cell: their own unit, or the values between the cuts."""
        name, column = list(self.tree.cells)[j], self.distinct.columns[j]
        cell, codes, covered = self.tree.cells[name], self.distinct.codes[j][rows], self.labels[j, rows] >= 0
        goes_up = np.zeros(len(rows), dtype=bool)
        if name in self.tree.bounds:
            lows, highs = self.tree.bounds[name]
            is_between = np.array([None not in ends for ends in zip(lows, highs, strict=True)])
            goes_up = ~covered & (codes >= 0) & (is_between[nodes] | (column.kind not in ("date", "datetime")))
        extended = replace(cell, texts=self.texts[name])
        labels, extended = with_own_units(
            extended, column, self.tree.meanings.get(name), cell.label[nodes], codes, covered | goes_up
        )
        self.texts[name] = extended.texts
        needs_bounds = ~covered & (codes >= 0) & (goes_up | (labels < 0))
        self.labels[j, rows] = np.where(goes_up, -1, labels)
        if name in self.tree.bounds and needs_bounds.any():
            # All rows of a node get the same cell: of two different ones, each would have fewer rows.
            is_wide = np.isin(nodes, nodes[needs_bounds]) & (codes >= 0)
            wide, place = np.unique(nodes[is_wide], return_inverse=True)
            self.labels[j, rows[is_wide]] = self._write_bounds(j, name, wide)[place]

    def _write_bounds(self, j: int, name: str, nodes: CountArray) -> CountArray:
        """Return the label of the values between the cuts around each node."""
        lows, highs = ([ends[node] for node in nodes.tolist()] for ends in self.tree.bounds[name])
        texts, by_value, by_rank = write_bounds(lows, highs, self.distinct.columns[j])
        label_of_text: dict[str | None, int] = {text: i for i, text in enumerate(self.texts[name])}
        labels = [label_of_text.setdefault(text, len(label_of_text)) for text in texts]
        self.texts[name] = tuple(label_of_text)
        for label, *shares in zip(labels, by_value.tolist(), by_rank.tolist(), strict=True):
            self.wider[j, label] = (shares[0], shares[1])
        return np.array(labels, dtype=np.int64)
