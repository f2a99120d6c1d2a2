"""Recoding: what every class publishes in every quasi-identifier, as codes; texts are formatted on demand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, freeze_array, reduce_to_fields
from hushtable.columns import Column, cells, from_texts, value_text, words_of
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Hierarchy, NamedSets, Rounding, Rule, format_exact, name_of
from hushtable.kernels import group
from hushtable.recoding.readable import (
    Classwise,
    CodeRanges,
    Labels,
    Listed,
    Rounded,
    Spans,
    are_alike,
    distinct_numbers,
    distinct_pairs,
    number_rows,
    number_runs,
)


@dataclass(frozen=True, slots=True, eq=False)
class Written(Classwise):
    """Published cells as texts."""

    label: CodeArray = field(repr=False)  # which of the texts
    lost: FloatArray = field(repr=False)  # the published share of the column, by values
    lost_by_rank: FloatArray = field(repr=False)  # the same, by ranks
    texts: tuple[str | None, ...] = field(repr=False)  # each once; None is a missing cell
    # The meaning of labels among the texts that are not in the column's own hierarchy
    means: Hierarchy | Rule | None = field(default=None, repr=False)

    per_class: ClassVar[tuple[str, ...]] = ("label", "lost", "lost_by_rank")

    def shares(self, column: Column) -> FloatArray:
        """Return the share of the column that every class publishes."""
        return self.lost_by_rank if column.by_rank else self.lost

    def format_labels(self, column: Column) -> Labels:
        """Return the texts."""
        return self.label, list(self.texts)

    def label_meaning(self, column: Column) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        return self.means


_MAX_CLASSES_CACHED: Final = 2**22  # with more classes, labels are not cached

_ROUND_STEPS: Final = (
    *(("Y", 10), ("Y", 1), ("M", 1), ("D", 1), ("h", 1)),
    *((unit, step) for unit in ("m", "s") for step in (30, 10, 5, 1)),
    *(("us", digit * 10**power) for power in range(5, -1, -1) for digit in (5, 1)),
)
"""Steps from one round moment to the next, in numpy's units, the widest first."""
_STEPS_OF_QUARTERS: Final = (("Y", 10), ("Y", 1), ("M", 3))


def cut_point(column: Column, code: int) -> str:
    """Return the edge of a cut before ``code``, as text: the roundest value above the one before, up to its own.

    A round number reveals less about the people on either side than the value of one of them.
    """
    low, high = column.values[code - 1], column.values[code]
    if column.kind in ("integer", "decimal"):
        ends = Decimal(column.text(code - 1)), Decimal(column.text(code))
        if column.kind == "integer":
            return str(int(_roundest_number(*ends, lambda number: number > ends[0])))
        # Compared as float: between neighbouring floats, a rounder decimal may be read as the lower one.
        return value_text("decimal", float(_roundest_number(*ends, lambda number: float(number) > low)))
    moments = low.astype("datetime64[us]"), high.astype("datetime64[us]")
    if not all(isinstance(moment.item(), dt.datetime) for moment in moments):
        # The standard library's calendar has only the years 1 to 9999.
        return column.text(code)
    if column.precision == "quarter":
        # Ends of intervals have to be numbers or dates, so a quarter is written as its first month.
        return str(_roundest_moment(*moments, _STEPS_OF_QUARTERS).astype("datetime64[M]"))
    return value_text(column.kind, _roundest_moment(*moments).astype(column.values.dtype))


def grid_point(rounding: Rounding, low: int, high: int) -> str:
    """Return the roundest grid point from the end of one place's cell to the beginning of another's, as text."""
    if rounding.is_calendar:
        before, after = (rounding.first_day(int(cell)) for cell in rounding.cells[[low, high]])
        moment = _roundest_moment(before, after, _STEPS_OF_QUARTERS if rounding.unit == "quarter" else _ROUND_STEPS)
        return str(moment.astype("datetime64[D]"))
    last, first = (rounding.first + int(cell) for cell in rounding.cells[[low, high]])
    if rounding.kind == "time":
        before, after = (np.datetime64(cell * int(rounding.grid), "s") for cell in (last, first))
        return value_text("time", _roundest_moment(before, after))
    ends = [Decimal(format_exact(cell * rounding.grid)) for cell in (last, last + 1, first)]
    return format_exact(Fraction(_roundest_number(ends[0], ends[2], lambda number: number >= ends[1])))


def _roundest_number(low: Decimal, high: Decimal, is_above: Callable[[Decimal], bool]) -> Decimal:
    """Return the roundest number above ``low`` and below ``high``, or ``high`` if no other is as round."""
    # Enough digits for any two floats.
    with localcontext(prec=1_100):
        power = max(end.adjusted() for end in (low, high) if end) + 1
        while True:
            for digit in (5, 1):
                step = Decimal(digit).scaleb(power)
                candidate = (high / step).to_integral_value(ROUND_FLOOR) * step
                if candidate == high and is_above(candidate - step):
                    candidate -= step
                if is_above(candidate):
                    return candidate
            power -= 1


def _roundest_moment(
    low: np.datetime64, high: np.datetime64, steps: Sequence[tuple[str, int]] = _ROUND_STEPS
) -> np.datetime64:
    """Return the roundest moment above ``low`` and below ``high``, or ``high`` if no other is as round."""
    candidates = (each for unit, step in steps for each in _last_multiples(high, unit, step))
    roundest: np.datetime64 = next(each for each in candidates if each > low)
    return roundest


def _last_multiples(moment: np.datetime64, unit: str, step: int) -> tuple[Any, ...]:
    """Return the last multiple of a step up to a moment; if that is the moment itself, also the one before."""
    kind = f"datetime64[{unit}]"
    number = moment.astype(kind).astype(np.int64)
    # With an explicit unit: numpy no longer guesses it for bare numbers.
    before, last = np.array([number - number % step - step, number - number % step]).astype(kind)
    return (before, last) if last == moment else (last,)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedIntervals(Spans):
    """Intervals of an ordered column, whose places are codes."""

    # Whether ends are those of a cut's cell, between two values, not values of the class
    are_cells: bool = False

    def shares(self, column: Column) -> FloatArray:
        """Return the published width of every class over the width of the whole column."""
        if self.are_cells and column.is_measured:
            ends = _cell_ends(column)
            shares = ends[self.high + 1] - ends[np.maximum(self.low, 0)]
            shares[self.low == self.high] = 0.0
        else:
            positions = np.append(column.positions(), 0.0)
            shares = positions[self.high] - positions[self.low]
        return np.where(self.is_star, 1.0, shares)

    def format_labels(self, column: Column) -> Labels:
        """Write the cells, each distinct one once."""
        width = column.n_values + 1
        # One key for all stars, one for all classes of missing values only; else low and high in one number.
        known = (self.low.astype(np.int64) + 1) * width + self.high + 2
        keys = np.where(self.is_star, 0, np.where(self.high < 0, 1, known))
        distinct, label_of_class = distinct_numbers(keys, width * width + 1)
        texts: list[str | None] = []
        for key in distinct.tolist():
            low, high = (key - 1) // width - 1, (key - 1) % width - 1
            if key == 0:
                texts.append(cells.SUPPRESSED)
            elif high < 0:
                texts.append(None)
            else:
                texts.append(self._format_cell(column, low, high))
        return label_of_class, texts

    def _format_cell(self, column: Column, low: int, high: int) -> str:
        if low == high:
            return cells.format_value(column.text(low))
        is_whole = low == 0 and high == column.n_values - 1
        if not column.is_measured:
            return cells.SUPPRESSED if is_whole else cells.format_set(column.text(i) for i in range(low, high + 1))
        if not self.are_cells:
            return cells.format_interval(column.text(low), column.text(high))
        if is_whole:
            return cells.SUPPRESSED
        if low == 0:
            return cells.format_below(cut_point(column, high + 1))
        if high == column.n_values - 1:
            return cells.format_at_least(cut_point(column, low))
        return cells.format_half_open(cut_point(column, low), cut_point(column, high + 1))


@dataclass(frozen=True, slots=True, eq=False)
class SetNames:
    """Names of long sets of a column: the most frequent value that may be shown, and how many more there are."""

    counts: CountArray = field(repr=False)  # records of each value
    may_name: BoolArray = field(repr=False)  # which values many enough people have
    max_length: int  # characters of a set that is listed
    language: str

    __reduce__ = reduce_to_fields

    def shorten_texts(
        self, column: Column, texts: Sequence[str | None]
    ) -> tuple[list[str | None], dict[str, tuple[str | None, ...]]]:
        """Replace long sets by distinct names; return the texts, and the members under each name."""
        code_of = {text: code for code, text in enumerate(column.texts())}
        used_names = {*code_of, *texts}
        members_by_name: dict[str, tuple[str | None, ...]] = {}
        shortened: list[str | None] = []
        for text in texts:
            cell = None if text is None or len(text) <= self.max_length else cells.parse_cell(text)
            if cell is None or cell.form != "set":
                shortened.append(text)
                continue
            codes = [code_of[member] for member in cell.members if member is not None]
            first = self._name_set([code for code in codes if self.may_name[code]], len(cell.members), column)
            name, number = first, 1
            while name in used_names or name in members_by_name:
                number += 1
                name = f"{first} ({number})"
            members_by_name[name] = cell.members
            shortened.append(name)
        return shortened, members_by_name

    def _name_set(self, codes: Sequence[int], n_members: int, column: Column) -> str:
        words = words_of(self.language)
        most_frequent = max(codes, key=lambda code: (self.counts[code], -code), default=None)
        name = None if most_frequent is None else name_of(column.text(most_frequent), n_members, words, self.max_length)
        return name or words.name_other_group(None, n_members)


@dataclass(frozen=True, slots=True, eq=False)
class Sets(Classwise):
    """Sets of values of a categorical column."""

    offsets: CountArray = field(repr=False)
    # Class c publishes `codes[offsets[c]:offsets[c + 1]]`, ascending; -1 is the missing value
    codes: CodeArray = field(repr=False)
    domain: int  # how many values the whole column has, the missing one included
    naming: SetNames | None = None  # of sets that are too long to list

    run: ClassVar[str] = "codes"

    def shares(self, column: Column) -> FloatArray:
        """Return the published values of every class over all values; 0 for a single value."""
        n_values = np.diff(self.offsets)
        return np.where(n_values > 1, n_values / max(1, self.domain), 0.0)

    def format_labels(self, column: Column) -> Labels:
        """Write the sets, each distinct one once."""
        label_of_class, texts = format_runs(self.offsets, self.codes, partial(self._format_cell, column))
        return label_of_class, texts if self.naming is None else self.naming.shorten_texts(column, texts)[0]

    def label_meaning(self, column: Column) -> Hierarchy | None:
        """Return what the names of long sets mean; None where there are none."""
        if self.naming is None:
            return None
        named = self.naming.shorten_texts(
            column, format_runs(self.offsets, self.codes, partial(self._format_cell, column))[1]
        )[1]
        return Hierarchy.build(NamedSets(named), column) if named else None

    def _format_cell(self, column: Column, members: CodeArray) -> str | None:
        if len(members) == 1:
            return None if members[0] < 0 else cells.format_value(column.text(members[0]))
        if len(members) == self.domain:
            return cells.SUPPRESSED
        return cells.format_set(None if code < 0 else column.text(code) for code in members)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes(Classwise):
    """Nodes of a column's hierarchy: one for each class."""

    level: CodeArray = field(repr=False)  # 0 is a single value; -1 where only missing values are
    node: CodeArray = field(repr=False)
    has_missing: BoolArray = field(repr=False)  # beside known values they make the cell "*"
    hierarchy: Hierarchy
    is_proposed: bool = False  # whether nobody gave the hierarchy, so that only these cells know what labels mean

    per_class: ClassVar[tuple[str, ...]] = ("level", "node", "has_missing")

    def shares(self, column: Column) -> FloatArray:
        """Return the share under each node; 0 for a single value."""
        shares: FloatArray = np.zeros(len(self.level))
        for level in range(1, self.hierarchy.n_levels):
            at = self.level == level
            shares[at] = self.hierarchy.shares[level][self.node[at]]
        shares[self.has_missing & (self.level >= 0)] = 1.0
        return shares

    def format_labels(self, column: Column) -> Labels:
        """Write the nodes, each distinct one once."""
        top = self.hierarchy.n_levels - 1
        mixed = self.has_missing & (self.level >= 0)
        level, node = np.where(mixed, top, self.level), np.where(mixed, 0, self.node)
        distinct, label_of_class = distinct_pairs(level, node)
        return label_of_class, [self._format_cell(column, *pair) for pair in distinct]

    def label_meaning(self, column: Column) -> Hierarchy | None:
        """Return what the labels among the cells mean, unless the request says it."""
        return self.hierarchy if self.is_proposed else None

    def _format_cell(self, column: Column, level: int, node: int) -> str | None:
        if level < 0:
            return None
        return cells.format_value(column.text(node)) if level == 0 else self.hierarchy.labels[level][node]


@dataclass(frozen=True, slots=True, eq=False)
class NodeSets(Classwise):
    """Sets of nodes of a column's hierarchy: those with records of a class, all of one level."""

    offsets: CountArray = field(repr=False)
    # Class c publishes `members[offsets[c]:offsets[c + 1]]`, indices into `texts`
    members: CodeArray = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)  # of each node of every level; the last is the missing value
    widths: FloatArray = field(repr=False)  # the share under each
    n_leaves: int  # so many texts come first that are single values

    run: ClassVar[str] = "members"

    def shares(self, column: Column) -> FloatArray:
        """Return the share under all nodes of each class; 0 for a single value."""
        ends = np.append(0.0, np.cumsum(self.widths[self.members]))
        shares = np.minimum(1.0, ends[self.offsets[1:]] - ends[self.offsets[:-1]])
        first = self.members[self.offsets[:-1]]
        is_value = (first < self.n_leaves) | (first == len(self.texts) - 1)
        is_star = np.array([text == cells.SUPPRESSED for text in self.texts])
        stars = np.append(0, np.cumsum(is_star[self.members]))
        shares = np.where(is_value & (np.diff(self.offsets) == 1), 0.0, shares)
        return np.where(stars[self.offsets[1:]] > stars[self.offsets[:-1]], 1.0, shares)

    def format_labels(self, column: Column) -> Labels:
        """Write the sets, each distinct one once."""
        return format_runs(self.offsets, self.members, self._format_cell)

    def _format_cell(self, members: CodeArray) -> str | None:
        texts = [self.texts[member] for member in members]
        if cells.SUPPRESSED in texts:
            return cells.SUPPRESSED
        if len(texts) > 1:
            return cells.format_set(each for member in members for each in self._list_node_texts(member))
        return cells.format_value(texts[0]) if texts[0] is not None and members[0] < self.n_leaves else texts[0]

    def _list_node_texts(self, member: int) -> list[str | None]:
        """Return the list entries of a node: its label, or the members if the label is itself a set."""
        text = self.texts[member]
        cell = None if text is None or member < self.n_leaves else cells.parse_cell(text)
        return [*cell.members] if cell and cell.form == "set" else [text]


@dataclass(frozen=True, slots=True, eq=False)
class GridCells(Spans):
    """Runs of cells of a column with a grid."""

    edges: tuple[str, ...] = field(repr=False)  # where every cell begins, and where the last one ends

    def shares(self, column: Column) -> FloatArray:
        """Return the published cells over all cells."""
        shares = np.where(self.high < 0, 0.0, (self.high - self.low + 1) / max(1, len(self.edges) - 1))
        return np.where(self.is_star, 1.0, shares)

    def format_labels(self, column: Column) -> Labels:
        """Write the cells; the outermost are open, and all of them together are ``*``."""
        low, high = np.where(self.is_star, 0, self.low), np.where(self.is_star, len(self.edges) - 2, self.high)
        distinct, label_of_class = distinct_pairs(low, high)
        return label_of_class, [self._format_cell(*pair) for pair in distinct]

    def _format_cell(self, low: int, high: int) -> str | None:
        last = len(self.edges) - 2
        if high < 0:
            return None
        if low == 0:
            return cells.SUPPRESSED if high == last else cells.format_below(self.edges[high + 1])
        return (
            cells.format_at_least(self.edges[low])
            if high == last
            else cells.format_half_open(self.edges[low], self.edges[high + 1])
        )


@dataclass(frozen=True, slots=True, eq=False)
class Centres(Classwise):
    """Central values: one value of each class."""

    code: CodeArray = field(repr=False)  # -1 is the missing value
    spans: FloatArray = field(repr=False)  # the share of the column that the class spans, which is what is lost

    per_class: ClassVar[tuple[str, ...]] = ("code", "spans")

    def shares(self, column: Column) -> FloatArray:
        """Return what each class spans."""
        return self.spans

    def format_labels(self, column: Column) -> Labels:
        """Write the values, each distinct one once."""
        distinct, label_of_class = np.unique(self.code, return_inverse=True)
        texts = [None if code < 0 else cells.format_value(column.text(code)) for code in distinct.tolist()]
        return label_of_class.astype(np.int32), texts


def format_runs(offsets: CountArray, members: CodeArray, write: Callable[[CodeArray], str | None]) -> Labels:
    """Format the members of every class, each distinct run once."""
    label_of_class, first = number_rows(number_runs(members, offsets[:-1], np.diff(offsets)))
    return label_of_class, [write(members[offsets[label] : offsets[label + 1]]) for label in first.tolist()]


SUPPRESSION_STYLE: Final = "suppressed"
"""Of a recoding whose cells are values or ``*``: nodes of hierarchies of two levels."""

Cells: TypeAlias = (
    PublishedIntervals | Sets | Nodes | NodeSets | GridCells | Centres | Rounded | CodeRanges | Listed | Written
)


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """What every class publishes, column by column."""

    columns: tuple[Column, ...]
    cells: tuple[Cells, ...] = field(repr=False)
    style: str  # as the method names it: "tight", "cut" ...
    # The cache of `format_labels`
    _labels_by_column: dict[str, Labels] = field(default_factory=dict, init=False, repr=False, compare=False)

    __reduce__ = reduce_to_fields

    @property
    def levels(self) -> dict[str, int]:
        """The highest level that a class publishes of every column with a hierarchy; 0 is the values themselves."""
        pairs = zip(self.columns, self.cells, strict=True)
        return {column.name: int(cell.level.max(initial=0)) for column, cell in pairs if isinstance(cell, Nodes)}

    def shares(self) -> FloatArray:
        """Return how much of each column each class publishes, 0 to 1; shape (n_columns, n_classes)."""
        return np.array([cell.shares(column) for column, cell in zip(self.columns, self.cells, strict=True)])

    def select(self, names: Sequence[str]) -> Recoding:
        """Return what some columns publish, in this order."""
        places = [[column.name for column in self.columns].index(name) for name in names]
        return replace(self, columns=tuple(self.columns[j] for j in places), cells=tuple(self.cells[j] for j in places))

    def take(self, classes: CountArray | BoolArray) -> Recoding:
        """Return what some classes publish, in the order in which they are named, or all that are marked."""
        return replace(self, cells=tuple(cell.take(classes) for cell in self.cells))

    @classmethod
    def concatenate(cls, parts: Sequence[Recoding]) -> Recoding:
        """Concatenate the classes of several parts of one table that are coded and laid out alike."""
        if not parts:
            raise InputError("no recodings were given to be concatenated.", hint="give one or more.")
        first = parts[0]
        for number, part in enumerate(parts[1:], start=1):
            difference = first._describe_difference(part)
            if difference:
                msg = f"the recoding at position {number} differs from the one at position 0 in {difference}."
                hint = "recode the parts of one table by the columns, hierarchies and style of the whole."
                raise InputError(msg, hint=hint)
        joined = (own.concatenate_with(others) for own, *others in zip(*(part.cells for part in parts), strict=True))
        return replace(first, cells=tuple(joined))

    def _describe_difference(self, other: Recoding) -> str | None:
        """Describe the first difference that prevents concatenating two recodings; None if there is none."""
        if self.style != other.style:
            return f"its style: {other.style!r} and not {self.style!r}"
        own, others = ([column.name for column in each.columns] for each in (self, other))
        if own != others:
            return f"its columns: {quote_names(others)} and not {quote_names(own)}"
        for j, column in enumerate(self.columns):
            if not are_alike(column, other.columns[j]):
                return f"the values of column {column.name!r}"
            what = self.cells[j].find_difference(other.cells[j])
            if what:
                return f"the {what} of what column {column.name!r} publishes"
        return None

    def number_combinations(self) -> CodeArray:
        """Number the distinct combinations of cells: an entry for each class, and a last one for suppressed records."""
        n_classes = len(self.cells[0].shares(self.columns[0]))
        numbers, n_numbers = np.zeros(n_classes + 1, dtype=np.int32), 1
        for column in self.columns:
            label_of_class, labels = self.format_labels(column.name)
            code_of_text: dict[str | None, int] = {}
            text_codes = [code_of_text.setdefault(text, len(code_of_text)) for text in (*labels, cells.SUPPRESSED)]
            # Read-only, as columns are: for writable arrays numba would compile the kernel again.
            codes = freeze_array(np.array(text_codes, dtype=np.int32)[np.append(label_of_class, len(labels))])
            refined = np.empty_like(numbers)
            n_numbers = group.refine_classes(numbers, n_numbers, codes, len(code_of_text), refined)
            numbers = refined
        return numbers

    def meanings(self) -> dict[str, Hierarchy | Rule]:
        """Return the meaning of labels in columns without a hierarchy of their own."""
        pairs = zip(self.columns, self.cells, strict=True)
        tells = (Rounded, CodeRanges, Listed, Nodes, Sets, Written)
        meanings_by_name = {
            column.name: cell.label_meaning(column) for column, cell in pairs if isinstance(cell, tells)
        }
        return {name: meaning for name, meaning in meanings_by_name.items() if meaning is not None}

    def format_labels(self, name: str) -> Labels:
        """Return a column's published texts, and the index of each class's text; cached, if not too large."""
        if name in self._labels_by_column:
            return self._labels_by_column[name]
        place = {column.name: j for j, column in enumerate(self.columns)}[name]
        label_of_class, texts = self.cells[place].format_labels(self.columns[place])
        made = freeze_array(label_of_class), tuple(texts)
        if len(label_of_class) <= _MAX_CLASSES_CACHED:
            self._labels_by_column[name] = made
        return made


def _cell_ends(column: Column) -> FloatArray:
    """Return the edges of cells on [0, 1]: entry i is the beginning of a cell that begins at code i."""
    if column.n_values < 2:
        return np.zeros(2)
    # Positions of cut points: those of a column of the same range that has them as values.
    texts = [cut_point(column, code) for code in range(1, column.n_values)]
    if column.kind == "time":
        times, codes = from_texts(column.name, texts, "time")
        points = times.values[codes]
    else:
        points = np.array(texts, dtype=column.values.dtype)
    ends = replace(column, values=np.concatenate([column.values[:1], points, column.values[-1:]])).positions()
    ends[-1] = 1.0
    return ends
