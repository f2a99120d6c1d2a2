"""Make tables of counts or sums from records, and hide the cells that would tell of few persons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.claims import HiddenCells
from hushtable.columns import ColumnSpec
from hushtable.engines import open_rows
from hushtable.errors import InputError, check_choice, check_columns, check_whole, quote_names
from hushtable.io import Frame
from hushtable.tables import Table
from hushtable.tabulation.cells import MAX_CELLS, SHOWN, CellTable, Dimension, find_sums

_MAX_DECIMALS: Final = 4

TOTAL: Final = HiddenCells.total
MISSING_LABEL: Final = "(missing)"

AskedLevel = Literal["exact", "upper"]
CellWeight = Literal["count", "one", "log"]


@dataclass(frozen=True, slots=True)
class CellRules:
    """Which cells must be hidden.

    Attributes
    ----------
    threshold : int
        Cells of fewer persons (or records) are hidden, but not those of none.
    dominance : (int, float), optional
        (n, k): cells of whose sum the n largest contributions are more than k percent.
    p : float, optional
        Cells in which the second largest contributor can compute the largest to within p percent.
    sensitive : str, optional
        A dimension whose lines must not tell of all but one of a group: neither a zero nor a hundred percent.
    level : "exact" or "upper"
        What a reader must hold possible of a hidden count: another value, or one that reaches the threshold.
    safety : float
        By how many percent of itself a hidden sum must be able to move, where no rule says more.
    singletons : bool
        Whether nobody who is alone in a cell, and knows its value, must be able to compute another hidden one from it.
    """

    threshold: int = 10
    dominance: tuple[int, float] | None = None
    p: float | None = None
    sensitive: str | None = None
    level: AskedLevel = "upper"
    safety: float = 10.0
    singletons: bool = True

    def __post_init__(self) -> None:
        check_whole("threshold", self.threshold, 1)
        check_choice("level", self.level, ("exact", "upper"))
        if self.dominance is not None:
            check_whole("dominance n", self.dominance[0], 1)
            if not 0 < self.dominance[1] <= 100:
                raise InputError(f"dominance k = {self.dominance[1]!r}.", hint="a percentage above 0, up to 100.")
        if self.p is not None and not self.p > 0:
            raise InputError(f"p = {self.p!r}.", hint="a percentage above 0.")
        if not self.safety > 0:
            raise InputError(f"safety = {self.safety!r}.", hint="a percentage above 0.")


@dataclass(frozen=True, slots=True, eq=False)
class CountedTable:
    """A table with what rules ask of its cells, by cell in C order.

    Attributes
    ----------
    table : CellTable
        All values shown.
    n_persons : array
        Distinct persons, or records where nobody says whose they are.
    largest : array, shape (n_largest, n_cells)
        The largest contributions, in units; those of a person are added first.
    alone : array
        The number of the contributor who is alone in a cell; -1 where there are more, or none.
    """

    table: CellTable
    n_persons: CountArray
    largest: FloatArray
    alone: CountArray


@dataclass(slots=True, eq=False)
class _Tally:
    """What was added to cells so far."""

    values: CountArray
    n_persons: CountArray
    largest: FloatArray
    alone: CountArray  # of each cell some contributor

    @classmethod
    def empty(cls, n_cells: int, n_largest: int) -> _Tally:
        nothing = np.zeros(n_cells, dtype=np.int64)
        return cls(nothing, nothing.copy(), np.zeros((n_largest, n_cells)), np.full(n_cells, -1))


@dataclass(frozen=True, slots=True, eq=False)
class TabulatedRecords:
    """Records, ready to be counted in tables."""

    labels: Mapping[str, tuple[tuple[str, ...], CountArray]]  # of each dimension: labels, and the code of every record
    parents: Mapping[str, Mapping[str, Sequence[str]]]  # of each dimension: parent to parts
    amounts: CountArray  # in units
    decimals: int
    n_records: CountArray  # of each row: equal records are one row
    persons: CountArray | None  # the number of each row's person; None where every record is one
    counts_persons: bool  # whether a cell shows distinct persons

    def n_cells(self, by: Sequence[str]) -> int:
        """Return how many cells a table has, totals among them."""
        return math.prod(len(self._build_axis(name)[0].labels) for name in by)

    def count(self, by: Sequence[str], n_largest: int) -> CountedTable:
        """Count the records in every combination of labels and totals of some dimensions."""
        axes, levels = zip(*(self._build_axis(name) for name in by), strict=True)
        shape = tuple(len(axis.labels) for axis in axes)
        n_cells = int(np.prod(shape, dtype=float))
        if n_cells > MAX_CELLS:
            raise InputError(f"{n_cells:,} combinations of labels.", hint=f"at most {MAX_CELLS:,} are counted.")
        tally = _Tally.empty(n_cells, n_largest)
        for places in self._cells_at_levels(levels, shape):
            rows = np.flatnonzero(places >= 0)
            self._add(places[rows], rows, tally)
        values = tally.values
        if self.counts_persons:
            values = tally.n_persons.copy()
        nothing = np.full(n_cells, np.inf)
        status = np.full(n_cells, SHOWN)
        table = CellTable(" x ".join(by), axes, values, status, -nothing, nothing, self.decimals)
        alone = np.where(tally.n_persons == 1, tally.alone, -1)
        return CountedTable(table, tally.n_persons, tally.largest, alone)

    def find_sensitive_unions(
        self, table: CellTable, is_hidden: BoolArray, rules: CellRules, n_largest: int
    ) -> Iterator[CountArray]:
        """Yield hidden cells whose sum follows from a shown total, where a rule would hide that sum.

        Of two hidden cells or more of a line everybody knows the sum: it is a cell that nobody printed.
        """
        axes, levels = zip(*(self._build_axis(axis.name) for axis in table.axes), strict=True)
        grid = np.arange(len(table.values)).reshape(table.shape)
        for position, axis in enumerate(axes):
            lines = np.moveaxis(grid, position, -1).reshape(-1, len(axis.labels))
            for total, parts in axis.sums:
                cells = lines[:, parts]
                is_part = is_hidden[cells] & ~is_hidden[lines[:, total], None]
                is_part &= is_part.sum(axis=1, keepdims=True) > 1
                line_of = np.full(grid.size, -1)
                line_of[cells[is_part]] = np.repeat(np.arange(len(lines)), is_part.sum(axis=1))
                for line in self._find_sensitive(line_of, levels, table.shape, len(lines), rules, n_largest):
                    yield cells[line][is_part[line]]

    def _find_sensitive(
        self,
        line_of: CountArray,
        levels: Sequence[CountArray],
        shape: tuple[int, ...],
        n_lines: int,
        rules: CellRules,
        n_largest: int,
    ) -> list[int]:
        """Return the lines whose marked cells are sensitive together; no record is in two cells of a line."""
        found = []
        for places in self._cells_at_levels(levels, shape):
            lines = np.where(places >= 0, line_of[places], -1)
            rows = np.flatnonzero(lines >= 0)
            found.append((lines[rows], rows))
        tally = _Tally.empty(n_lines, n_largest)
        self._add(np.concatenate([part for part, _ in found]), np.concatenate([rows for _, rows in found]), tally)
        return np.flatnonzero(is_sensitive(tally.values, tally.n_persons, tally.largest, rules)).tolist()

    def _cells_at_levels(self, levels: Sequence[CountArray], shape: tuple[int, ...]) -> Iterator[CountArray]:
        """Yield the cell of every record, at each combination of levels of the dimensions; -1 where it has none."""
        for chosen in product(*levels):
            has_cell = np.min(chosen, axis=0) >= 0
            yield np.where(has_cell, np.ravel_multi_index(tuple(np.maximum(codes, 0) for codes in chosen), shape), -1)

    def _add(self, places: CountArray, rows: CountArray, tally: _Tally) -> None:
        """Add rows to cells, in place; each cell comes once."""
        if not len(rows):
            return
        amounts: FloatArray = self.amounts[rows].astype(np.float64)
        n_alike, contributors = self.n_records[rows], rows
        if self.persons is not None:
            pairs, first = np.unique(np.stack([places, self.persons[rows]]), axis=1, return_inverse=True)
            added = np.bincount(first.ravel(), weights=amounts * n_alike, minlength=pairs.shape[1])
            amounts = added.astype(np.float64)
            places, contributors = pairs[0], pairs[1]
            n_alike = np.ones(len(places), dtype=np.int64)
        np.add.at(tally.values, places, np.rint(amounts).astype(np.int64) * n_alike)
        np.add.at(tally.n_persons, places, n_alike)
        tally.alone[places] = contributors
        # The contributions of a cell from the largest on; equal ones of several persons follow one another.
        order = np.lexsort((-amounts, places))
        cells, amounts, n_alike = places[order], amounts[order], n_alike[order]
        starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
        before = np.cumsum(n_alike) - n_alike
        rank = before - np.repeat(before[starts], np.diff(np.r_[starts, len(cells)]))
        for place in range(len(tally.largest)):
            at_rank = (rank <= place) & (place < rank + n_alike)
            tally.largest[place, cells[at_rank]] = amounts[at_rank]

    def _build_axis(self, name: str) -> tuple[Dimension, list[CountArray]]:
        """Return a dimension with its totals, and the label of every record on each level."""
        leaves, codes = self.labels[name]
        tree = self.parents.get(name, {})
        parent_of = {part: parent for parent, parts in tree.items() for part in parts}
        inner = [parent for parent in tree if parent not in leaves]
        labels = (*leaves, *inner, TOTAL)
        place = {label: position for position, label in enumerate(labels)}
        levels, current = [codes], list(leaves)
        while any(label in parent_of for label in current):
            current = [parent_of.get(label, "") for label in current]
            levels.append(np.array([place.get(label, -1) for label in current], dtype=np.int64)[codes])
        levels.append(np.full(len(codes), place[TOTAL], dtype=np.int64))
        return Dimension(name, labels, tuple(find_sums(labels, TOTAL, tree)), place[TOTAL]), levels


def read_records(
    data: Any,
    dimensions: Sequence[str],
    *,
    value: str | None = None,
    person: str | None = None,
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> TabulatedRecords:
    """Read the records that tables are made of.

    Raises
    ------
    InputError
        A label is that of totals, a value is missing or negative, or a hierarchy does not fit.
    """
    frame = _open_rows(data, [*dimensions, *(name for name in (value, person) if name is not None)])
    if not frame.n_rows:
        raise InputError("there are no records to count.", hint="give a table with at least one row.")
    table = Table.encode(frame, list(dimensions), {name: ColumnSpec("category") for name in dimensions})
    labels = {}
    for name, column, codes in zip(dimensions, table.columns, table.codes, strict=True):
        texts = (*column.texts(), MISSING_LABEL)
        used = codes.astype(np.int64)
        used = np.where(used < 0, len(texts) - 1, used)
        if not (used == len(texts) - 1).any():
            texts = texts[:-1]
        if TOTAL in texts:
            raise InputError(f"column {name!r} has the label {TOTAL!r} itself.", hint="leave rows of totals out.")
        labels[name] = texts, used
    persons = None
    if person is not None:
        persons = Table.encode(frame, [person], {person: ColumnSpec("category")}).codes[0].astype(np.int64)
        if (persons < 0).any():
            raise InputError(f"{int((persons < 0).sum())} records have no {person!r}.", hint="say whose they are.")
    amounts, decimals = np.ones(frame.n_rows, dtype=np.int64), 0
    if value is not None:
        amounts, decimals = _read_amounts(frame, value)
    is_alone = _are_in_one_cell(labels, persons)
    return TabulatedRecords(
        labels, hierarchies or {}, amounts, decimals, frame.records, persons, value is None and is_alone
    )


def _open_rows(data: object, names: Sequence[str]) -> Frame:
    """Return the columns that are counted; of what is not in memory its distinct rows, with counts of records."""
    rows = open_rows(data)
    check_columns(names, rows.names, "columns of tables")
    if isinstance(rows, Table):
        return rows.frame()
    return rows if isinstance(rows, Frame) else rows.collapse(list(dict.fromkeys(names)))


def _are_in_one_cell(labels: Mapping[str, tuple[tuple[str, ...], CountArray]], persons: CountArray | None) -> bool:
    """Whether all records of each person have the same labels, so that counts of persons add up."""
    if persons is None:
        return True
    rows = np.unique(np.stack([persons, *(codes for _, codes in labels.values())]), axis=1)
    return int(rows.shape[1]) == len(np.unique(persons))


def _read_amounts(frame: Frame, value: str) -> tuple[CountArray, int]:
    """Return a column of amounts in units, and the decimals of a unit."""
    table = Table.encode(frame, [value])
    column, codes = table.columns[0], table.codes[0]
    if column.kind not in ("integer", "decimal"):
        raise InputError(f"column {value!r} holds no numbers.", hint="name a column of numbers with value.")
    numbers = np.append(np.asarray(column.values, dtype=np.float64), np.nan)[codes]
    if not np.isfinite(numbers).all():
        raise InputError(f"column {value!r} has missing values.", hint="leave these records out, or say 0.")
    if (numbers < 0).any():
        raise InputError(
            f"column {value!r} has {int((numbers < 0).sum())} values below 0.",
            hint="rules of contributions are for amounts of 0 or more: tabulate them apart, or shift them.",
        )
    for decimals in range(_MAX_DECIMALS + 1):
        scaled = numbers * 10**decimals
        if np.allclose(scaled, np.rint(scaled), rtol=0, atol=1e-6):
            break
    return np.rint(numbers * 10**decimals).astype(np.int64), decimals


def find_primary(counted: CountedTable, rules: CellRules, *, is_sum: bool) -> BoolArray:
    """Return the cells that the rules hide."""
    if not is_sum:
        is_primary = (counted.n_persons > 0) & (counted.n_persons < rules.threshold)
    else:
        is_primary = is_sensitive(counted.table.values, counted.n_persons, counted.largest, rules)
    return is_primary | _find_telling_lines(counted.table, rules.sensitive)


def is_sensitive(values: CountArray, n_persons: CountArray, largest: FloatArray, rules: CellRules) -> BoolArray:
    """Return which sums the rules hide."""
    is_primary: BoolArray = (n_persons > 0) & (n_persons < rules.threshold)
    if rules.dominance is not None:
        n, k = rules.dominance
        is_primary |= largest[:n].sum(axis=0) * 100 > k * values
    if rules.p is not None:
        is_primary |= (values > 0) & ((values - largest[0] - largest[1]) * 100 < rules.p * largest[0])
    return is_primary


def _find_telling_lines(table: CellTable, sensitive: str | None) -> BoolArray:
    """Return the cells of lines over a sensitive dimension of which all, or all but one, are in one category."""
    telling = np.zeros(table.shape, dtype=np.bool_)
    names = [axis.name for axis in table.axes]
    if sensitive is None or sensitive not in names:
        return telling.ravel()
    position = names.index(sensitive)
    axis = table.axes[position]
    lines = np.moveaxis(table.values.reshape(table.shape), position, -1)
    marked = np.moveaxis(telling, position, -1)
    parts = list(axis.sums[0][1])
    inner = lines[..., parts]
    whole = inner.sum(axis=-1)
    is_telling = (whole > 0) & (inner.max(axis=-1) >= whole - 1)
    for part in parts:
        marked[..., part] |= is_telling
    return telling.ravel()


def protection_levels(
    counted: CountedTable, is_primary: BoolArray, rules: CellRules, least: float, *, is_sum: bool
) -> tuple[FloatArray, FloatArray]:
    """Return how low and how high a reader must hold each primary cell possible, in units."""
    values = counted.table.values.astype(np.float64)
    if is_sum:
        move = np.maximum(1.0, np.ceil(values * rules.safety / 100))
        if rules.dominance is not None:
            n, k = rules.dominance
            move = np.maximum(move, np.ceil(100 / k * counted.largest[:n].sum(axis=0) - values))
        if rules.p is not None:
            rest = values - counted.largest[0] - counted.largest[1]
            move = np.maximum(move, np.ceil(rules.p / 100 * counted.largest[0] - rest))
        up = values + move
    else:
        move = np.ones(len(values))
        up = values + 1
        if rules.level == "upper":
            up = np.maximum(up, rules.threshold)
    down = np.maximum(values - move, least)
    return np.where(is_primary, down, np.inf), np.where(is_primary, up, -np.inf)


def check_dimensions(by: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the dimensions of all tables, each once."""
    if not by or not all(by):
        raise InputError("no dimension was given.", hint="name the columns of each table: by=['region', 'sex'].")
    for names in by:
        doubled = {name for name in names if list(names).count(name) > 1}
        if doubled:
            raise InputError(f"a table has {quote_names(sorted(doubled))} twice.", hint="name every column once.")
    return tuple(dict.fromkeys(name for names in by for name in names))
