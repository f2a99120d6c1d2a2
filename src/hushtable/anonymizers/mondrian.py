"""Mondrian: multidimensional k-anonymity by cutting classes in two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final, Literal

import numpy as np

from hushtable.anonymizers import publish
from hushtable.anonymizers.cuts import CutTree
from hushtable.anonymizers.exchange import improve
from hushtable.anonymizers.merging import undo_overlaps
from hushtable.anonymizers.method import Found, Offers, Problem, register
from hushtable.anonymizers.outlier_suppression import suppress_for_loss
from hushtable.anonymizers.parallel import Search, grow, side_by_side
from hushtable.anonymizers.publish import STYLES, Style
from hushtable.errors import InputError, check_whole, listed, with_hint
from hushtable.kernels import exchange as exchanging, replay, split
from hushtable.recoding import Axis, Lists, Recoding, by_content, check_grid, lay_out, pack, packed_rows, places
from hushtable.search import check_memory, say_if_first_run
from hushtable.tables import Partition

__all__ = ["Mondrian"]

_N_RESCORED: Final = 4
_MAX_LISTED: Final = 4
_MAX_LENGTH: Final = 60
_MOST_RESCORED: Final = 1_000_000
_MOST_MARGIN: Final = 10**15  # records; with any k it still fits the kernels' numbers


@register
@dataclass(frozen=True, slots=True)
class Mondrian:
    """Cut classes in two until no cut is allowable.

    Parameters
    ----------
    cut : {"gain", "median"}
        ``"gain"`` looks at all allowable cuts of all columns for the one that lowers
        the set-NCP most. ``"median"`` is the paper's rule: the widest column, nearest
        its median.
    recoding : {"tight", "readable", "cut", "label", "set", "central"}
        What a class publishes: the interval or set its own records span; what people read and
        use (round intervals, calendar units, short lists, names of groups; the default of
        policies and of the command); the cell
        that the cuts left it, whose ends belong to no one; the label of the lowest
        hierarchy node over its records (columns without a hierarchy: tight); the set
        of values, or of hierarchy nodes, that it reaches; one central value (median or
        mode). A column with a hierarchy publishes labels in the first three styles too.
    n_rescored : int
        With ``"gain"``: cuts are ranked by what they gain in their own column (where that publishes intervals or
        sets, times the fourth root of the smaller side's share, which keeps the tree from lopping
        off slivers), and this many of the best compared by what they gain in all columns.
        In a column with a hierarchy, a cut between some of a node's many children counts
        its share of what cutting all of them apart will gain, and the best are compared by what they gain per
        bit, the entropy of their two sides: few cuts pay there, and a rare child can be
        cut off only while it is enough records for a class.
    strict : bool
        False deals the records that hold the median to both sides (``"median"`` only):
        classes of nearly equal size, which overlap. Equal records may then part.
    margin : int
        Classes hold this many records more than the models ask, which blunts attacks
        that know where cutting stopped: without it, an exact reader of the algorithm can
        learn of sensitive values from the cuts that models of them forbade. The release
        claims what the models ask.
    grid : mapping of column to float
        Cuts of these number columns fall on multiples of a width, whatever the data. With
        ``"readable"`` all do: by 1, 2 or 5 times a power of ten, at most about 200 cells.
    exchange : bool
        Afterwards move and swap records between neighbouring classes while that lowers
        the set-NCP; not with ``recoding="cut"``, whose cells it would leave.
    max_listed, max_length : int
        With ``"readable"``: a class lists the values of a category that it holds where they are at most
        so many, and the list at most so many characters. Else it publishes the smallest
        group by frequency that holds them, ``other (10 values)``, or ``*``. Of a hierarchy made
        by a rule, it lists as few labels below the top instead of ``*``. A list tells which
        values a class does not hold; ``"cut"`` hides that.

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
    n_rescored: int = _N_RESCORED
    strict: bool = True
    margin: int = 0
    grid: Mapping[str, float] = field(default_factory=dict)
    exchange: bool = False
    max_listed: int = _MAX_LISTED
    max_length: int = _MAX_LENGTH

    name: ClassVar[str] = "mondrian"

    @property
    def offers(self) -> Offers:
        """What is cut counts a population; a centre of its own covers nobody else, and relaxed cells overlap."""
        return Offers(
            parts_equal_records=not self.strict,
            counts_population=self.recoding != "central",
            suppresses=True,
            keeps_apart=self.strict and not self.exchange,
            takes_equal_rows=self.strict and not self.exchange,
        )

    def __post_init__(self) -> None:
        for name, allowed in (("cut", ("gain", "median")), ("recoding", STYLES)):
            if getattr(self, name) not in allowed:
                msg = with_hint(f"Mondrian was given {name} = {getattr(self, name)!r}.", f"choose one of {allowed}.")
                raise InputError(msg)
        for name in ("strict", "exchange"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                msg = with_hint(f"Mondrian was given {name} = {getattr(self, name)!r}.", "true or false.")
                raise InputError(msg)
        check_whole("Mondrian was given n_rescored", self.n_rescored, 1, _MOST_RESCORED)
        check_whole("Mondrian was given margin", self.margin, 0, _MOST_MARGIN)
        check_whole("Mondrian was given max_listed", self.max_listed, 1, _MOST_RESCORED)
        check_whole("Mondrian was given max_length", self.max_length, 1, _MOST_RESCORED)
        for name, usual in (("max_listed", _MAX_LISTED), ("max_length", _MAX_LENGTH)):
            if self.recoding != "readable" and getattr(self, name) != usual:
                msg = f"Mondrian was given {name} = {getattr(self, name)!r}, which has no effect."
                raise InputError(with_hint(msg, 'it goes with recoding="readable".'))
        if self.cut != "gain" and self.n_rescored != _N_RESCORED:
            msg = with_hint(
                f"Mondrian was given n_rescored = {self.n_rescored!r}, which has no effect.", 'it goes with cut="gain".'
            )
            raise InputError(msg)
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

    def search(self, problem: Problem) -> Found:
        """Cut a table whose single class passes, until no cut is allowable.

        What is not yet cut when the budget ends is published as it stands, which is safe.
        Distinct rows with counts are best (`hushtable.Table.collapse`).
        """
        say_if_first_run(split.grow, 10)
        if problem.most_suppressed == 0 or problem.judge.population is not None:
            return self._cut(problem)
        return suppress_for_loss(problem, self._cut, self._axes(problem))

    def _axes(self, problem: Problem) -> tuple[Axis, ...]:
        # Of equal cuts the first one is made, so columns come by name and rows by content, however they were given.
        # Whoever asks a file whom its cells cover has to know it from the file and the manifest.
        is_covering = problem.judge.population is not None or problem.hides_persons
        lists = Lists(self.max_listed, self.max_length, names_groups=not is_covering)
        readable = lists if self.recoding == "readable" else None
        axes = lay_out(problem.judge.laid_out, sorted(problem.columns), problem.ladders, self.grid, readable)
        ranked = [axis.column.name for axis in axes if axis.column.by_rank and axis.edges]
        if ranked:
            msg = with_hint(
                f"columns {listed(ranked)} are measured on ranks, and cut on a grid of values.",
                "choose recoding 'readable', no grid, or the scale 'value'.",
            )
            raise InputError(msg)
        return axes

    def _cut(self, problem: Problem) -> Found:
        """Cut, and suppress nothing."""
        table, clock = problem.table, problem.clock
        axes = self._axes(problem)
        packed = pack(axes, problem.loss.weights)
        rules, min_size = problem.judge.rules(), problem.judge.min_size + self.margin
        is_sorted = self.exchange or not self.strict
        order = by_content(table, problem.judge.population) if is_sorted else None
        people = np.empty(0, dtype=np.int64) if problem.judge.population is None else problem.judge.population
        codes, deals_ties = problem.judge.codes(), None if self.cut == "gain" else not self.strict
        options = split.Options(min_size)
        search = Search(packed, rules, codes, people, options, self.n_rescored, deals_ties)
        grown = grow(search, side_by_side(packed_rows(table, axes), table.counts, order), clock)
        ends = grown.tree.leaf_starts[: grown.tree.cursor[split.LEAVES] + 1]
        partition = Partition.from_runs(grown.order, ends, table.counts, is_ascending=not is_sorted)
        cuts = CutTree.of(grown.tree, axes)
        publish_ = partial(self._published, problem)
        if self.exchange:
            points = exchanging.Points(places(table, axes), table.counts, codes, people)
            improved = improve(table, partition, grown.order, points, packed, rules, min_size, clock)
            # The kernel measures spans and sets, and not what is written of them.
            made = [(each, publish_(each, cuts)) for each in (partition, improved)]
            partition, recoding = min(made, key=lambda each: problem.loss.of(each[1], each[0].sizes))
            return Found(partition, recoding, clock.trace(repr(self), grown.n_settled, complete=grown.is_complete))
        partition, cuts = undo_overlaps(partition, cuts, publish_, problem)
        trace = clock.trace(repr(self), grown.n_settled, complete=grown.is_complete)
        return Found(partition, publish_(partition, cuts), trace, cuts if self.strict else None)

    def _published(self, problem: Problem, partition: Partition, cuts: CutTree) -> Recoding:
        """Say what every class publishes."""
        table, place = problem.table, {axis.column.name: j for j, axis in enumerate(cuts.axes)}
        axes = [cuts.axes[place[name]] for name in problem.columns]
        if self.recoding != "cut":
            return publish.from_classes(table, partition, axes, self.recoding)
        tree = (cuts.columns, cuts.starts, cuts.members)
        n_values = sum(axis.n_places for axis in axes if not axis.is_ordered)
        check_memory(
            4.0 * partition.n_classes * n_values,
            f"telling the cells of {partition.n_classes} classes over {n_values} categories",
            'choose recoding="tight", or give columns of many categories a hierarchy.',
        )
        cells = {
            name: replay.cell_ranges(*tree, place[name], axis.n_places - 1, partition.n_classes)
            if axis.is_cut_in_order
            else replay.cell_sets(*tree, place[name], np.unique(table.codes[table.index(name)]), partition.n_classes)
            for name, axis in zip(problem.columns, axes, strict=True)
            if axis.hierarchy is None
        }
        return publish.from_cells(table, partition, axes, cells, "cut")
