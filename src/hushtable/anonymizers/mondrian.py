"""Mondrian: multidimensional k-anonymity by cutting classes in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, Progress
from hushtable.anonymizers import publish
from hushtable.anonymizers.axes import Axis, check_grid, lay_out, pack, places
from hushtable.anonymizers.exchange import improve
from hushtable.anonymizers.judging import rules_of, sensitive_of
from hushtable.anonymizers.publish import STYLES, Style
from hushtable.errors import InputError, check_whole, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import group, replay, split
from hushtable.models.base import PrivacyModel
from hushtable.partition import Partition
from hushtable.quality import loss as losses
from hushtable.quality.loss import Loss
from hushtable.recoding import Recoding
from hushtable.search import Budget, Clock, Trace, check_memory
from hushtable.table import Table

__all__ = ["CutTree", "Mondrian"]

NO_HIERARCHIES: Final[Mapping[str, Hierarchy]] = MappingProxyType({})
NO_NUMBERS: Final[Mapping[str, float]] = MappingProxyType({})

_PAUSE = 4_096  # settled classes between two looks at the clock
_MOST_RESCORED: Final = 1_000_000
_MOST_MARGIN: Final = 10**15  # records; with any k it still fits the kernels' numbers
_PAUSE_CELLS = 4_000_000  # and cells of all of them


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
    """Cut classes in two until no cut is allowable.

    Parameters
    ----------
    cut : {"gain", "median"}
        ``"gain"`` looks at all allowable cuts of all columns for the one that lowers
        the set-NCP most. ``"median"`` is the paper's rule: the widest column, nearest
        its median.
    recoding : {"tight", "cut", "label", "set", "central"}
        What a class publishes: the interval or set its own records span; the cell
        that the cuts left it, whose ends belong to no one; the label of the lowest
        hierarchy node over its records (columns without a hierarchy: tight); the set
        of values, or of hierarchy nodes, that it reaches; one central value (median or
        mode). A column with a hierarchy publishes labels in the first two styles too.
    n_rescored : int
        With ``"gain"``: cuts are ranked by what they gain in their own column (times
        the fourth root of the smaller side's share, which keeps the tree from lopping
        off slivers), and this many of the best compared by what they gain in all columns.
    strict : bool
        False deals the records that hold the median to both sides (``"median"`` only):
        classes of nearly equal size, which overlap. Equal records may then part.
    margin : int
        Classes hold this many records more than the models ask, which blunts attacks
        that know where cutting stopped: without it, an exact reader of the algorithm can
        learn of sensitive values from the cuts that models of them forbade. The release
        claims what the models ask.
    grid : mapping of column to float
        Cuts of these number columns fall on multiples of a width, whatever the data.
    exchange : bool
        Afterwards move and swap records between neighbouring classes while that lowers
        the set-NCP; not with ``recoding="cut"``, whose cells it would leave.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE
    2006, section 4. We depart in that a column without an allowable cut at its
    median is cut elsewhere, that categories are ordered by their frequency in the
    class at hand, and that every model is tested inside the cut, on both sides.
    Ties are broken by content and by the columns' names: the order of rows and
    quasi-identifiers changes nothing.
    About O(n d log(n / k)) for n distinct rows and d columns, times ``n_rescored`` with gain.
    """

    cut: Literal["gain", "median"] = "gain"
    recoding: Style = "tight"
    n_rescored: int = 4
    strict: bool = True
    margin: int = 0
    grid: Mapping[str, float] = field(default_factory=dict)
    exchange: bool = False

    losses: ClassVar[tuple[str, ...]] = ("ncp",)
    finds_matchings: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, allowed in (("cut", ("gain", "median")), ("recoding", STYLES)):
            if getattr(self, name) not in allowed:
                msg = with_hint(f"Mondrian was given {name} = {getattr(self, name)!r}.", f"choose one of {allowed}.")
                raise InputError(msg)
        check_whole("Mondrian was given n_rescored", self.n_rescored, 1, _MOST_RESCORED)
        check_whole("Mondrian was given margin", self.margin, 0, _MOST_MARGIN)
        check_grid(self.grid)
        if not self.strict and self.cut != "median":
            msg = with_hint("relaxed Mondrian deals the median.", 'pass cut="median" with strict=False.')
            raise InputError(msg)
        if self.recoding == "cut" and (self.exchange or not self.strict):
            what = "exchange=True" if self.exchange else "strict=False"
            msg = with_hint(
                f'{what} makes classes that are no cells of cuts, so recoding="cut" cannot tell them.',
                "choose another recoding.",
            )
            raise InputError(msg)

    def search(
        self,
        table: Table,
        quasi_identifiers: Sequence[str],
        models: Sequence[PrivacyModel],
        budget: Budget | None = None,
        progress: Progress | None = None,
        *,
        hierarchies: Mapping[str, Hierarchy] = NO_HIERARCHIES,
        loss: Loss | None = None,
        population: CountArray | None = None,
        reference: Table | None = None,
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
        reference : Table, optional
            Whose sensitive values are the distribution that models compare with; the
            table itself when not given.
        hierarchies : mapping of column to Hierarchy
            Aligned to the table's columns; a quasi-identifier is cut along its own, a
            sensitive column's is for models that ask how far apart values are.
        loss : Loss, optional
            The set-NCP, whose weights count; without it all of them are 1.
        """
        weights = loss.weights if loss else NO_NUMBERS
        clock = Clock.start(budget)
        # Of equal cuts the first one is made, so columns come by name and rows by content, however they were given.
        names = sorted(quasi_identifiers)
        laid_out = lay_out(table, names, hierarchies, self.grid)
        axes = pack(laid_out, weights)
        sensitive = [table.index(name) for name in sensitive_of(models)]
        points = split.Points(places(table, laid_out), table.counts, table.codes[sensitive] + np.int32(1))
        if population is not None:
            points = points._replace(population=population)
        rules = rules_of(reference or table, models, hierarchies)
        min_size = max(1, *(model.min_size for model in models)) + self.margin
        options = split.Options(self.cut == "gain", min_size, self.n_rescored, not self.strict)
        order = _by_content(table, population) if self.exchange or not self.strict else np.arange(table.n_rows)
        work = _work(points, axes, self.n_rescored, order)
        tree = _new_tree(table.n_rows)
        status = split.PAUSED
        while status != split.DONE:
            n_settled = int(tree.cursor[split.NODES])
            if clock.is_over(n_settled):
                break
            chunk = _PAUSE if clock.budget.nodes is None else min(_PAUSE, clock.budget.nodes - n_settled)
            status = split.grow(points, axes, rules, options, work, tree, chunk, _PAUSE_CELLS // len(laid_out))
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
        if self.exchange:
            improved = improve(table, partition, work.order, points, axes, rules, min_size, clock)
            # The kernels measure a run of a hierarchy's children, a release publishes the node over it.
            candidates = (partition, improved)
            partition = min(candidates, key=lambda each: self._loss(table, each, laid_out, weights))
        starts = np.concatenate(([0], np.cumsum(tree.lengths[:n_nodes], dtype=np.int64)))
        # Column -1, of a finished class, finds the last entry.
        asked = np.array([*map(quasi_identifiers.index, names), -1], dtype=np.int32)
        cuts = CutTree(asked[tree.columns[:n_nodes]], starts, tree.members[: starts[-1]] - np.int32(1))
        return partition, cuts, Trace(repr(self), n_settled, clock.spent, complete=status == split.DONE)

    def _loss(self, table: Table, partition: Partition, axes: Sequence[Axis], weights: Mapping[str, float]) -> float:
        published = publish.from_classes(table, partition, axes, self.recoding)
        return losses.SetNCP(weights).value(losses.measure(published, partition.sizes))

    def recode(
        self,
        table: Table,
        partition: Partition,
        cuts: CutTree,
        quasi_identifiers: Sequence[str],
        hierarchies: Mapping[str, Hierarchy] = NO_HIERARCHIES,
    ) -> Recoding:
        """Say what every class publishes."""
        axes = lay_out(table, quasi_identifiers, hierarchies, self.grid)
        if self.recoding != "cut":
            return publish.from_classes(table, partition, axes, self.recoding)
        tree = (cuts.columns, cuts.starts, cuts.members)
        n_values = sum(axis.n_places for axis in axes if not axis.is_ordered)
        check_memory(
            4.0 * partition.n_classes * n_values,
            f"telling the cells of {partition.n_classes} classes over {n_values} categories",
            'choose recoding="tight", or give columns of many categories a hierarchy.',
        )
        cells = [
            replay.cell_ranges(*tree, j, axis.n_places - 1, partition.n_classes)
            if axis.is_ordered
            else replay.cell_sets(*tree, j, np.unique(table.codes[table.index(axis.column.name)]), partition.n_classes)
            for j, axis in enumerate(axes)
        ]
        return publish.from_cells(table, partition, axes, cells, "cut")


def _by_content(table: Table, population: CountArray | None) -> CountArray:
    """Return the rows by their codes, columns by name: only rows that are alike in all stay in the table's order."""
    order = np.lexsort([table.counts] if population is None else [population, table.counts])
    for name in sorted(table.names, reverse=True):
        places = table.codes[table.index(name), order] + np.int32(1)
        order = order[group.rows_by_class(places, table.column(name).n_values + 1)[1]]
    # Relaxed cuts deal out records, so rows that only a population holds come last.
    return order[np.argsort(table.counts[order] == 0, kind="stable")]


def _work(points: split.Points, axes: split.Axes, n_rescored: int, order: CountArray) -> split.Work:
    n_rows, n_columns = points.codes.shape
    n_sensitive = len(points.sensitive)
    n_codes = int(axes.offsets[-1])
    widest = int(np.diff(axes.offsets).max())
    widest_sensitive = int(points.sensitive.max(initial=0)) + 1
    stack = np.zeros((n_rows + 1, 2), dtype=np.int32)
    stack[0] = 0, n_rows
    return split.Work(
        order=order.astype(np.int32),
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
        cuts=np.empty((n_rescored, 3), dtype=np.int64),
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
