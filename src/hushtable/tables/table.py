"""Table: the coded rows that everything else works on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from hushtable._types import CodeArray, CountArray, freeze_array
from hushtable.columns import Column, ColumnSpec, check_specs, merge_spellings, series
from hushtable.errors import ColumnError, InputError, check_columns, names_in
from hushtable.io import Frame, frames
from hushtable.kernels import group
from hushtable.search import check_memory

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding

_MAX_KEYS: Final = 2**63  # different rows that fit the one number that kernels group by


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows as codes.

    Attributes
    ----------
    columns : tuple of Column
    codes : ndarray of int32, shape (n_columns, n_rows), read-only
        Code i of a column means ``column.values[i]``; -1 is missing. Each column is contiguous.
    counts : ndarray of int64, shape (n_rows,), read-only
        How many records each row stands for.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.encode(pl.DataFrame({"age": [34, 7, 34], "sex": ["f", "m", "f"]}))
    >>> table
    Table(3 records in 3 rows, columns 'age', 'sex')
    >>> distinct, inverse = table.collapse()
    >>> distinct.counts.tolist(), inverse.tolist()
    ([2, 1], [0, 1, 0])
    """

    columns: tuple[Column, ...]
    codes: CodeArray = field(repr=False)
    counts: CountArray = field(repr=False)

    def __post_init__(self) -> None:
        freeze_array(self.codes)
        freeze_array(self.counts)

    def __repr__(self) -> str:
        names = ", ".join(repr(name) for name in self.names)
        return f"Table({self.n_records} records in {self.n_rows} rows, columns {names})"

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """How many rows there are; a row may stand for several records."""
        return len(self.counts)

    @property
    def n_records(self) -> int:
        """How many records the rows stand for."""
        return int(self.counts.sum())

    @classmethod
    def encode(
        cls,
        data: Any,
        columns: Sequence[str] | None = None,
        specs: Mapping[str, ColumnSpec] | None = None,
        typed: Collection[str] = (),
        *,
        counts: str | None = None,
    ) -> Table:
        """Code the columns of a frame or file.

        Parameters
        ----------
        data : path, dataframe, or Table
            A Table gives the table of the named columns.
        columns : sequence of str, optional
            Which columns, in which order; all when not given.
        specs : mapping of column name to ColumnSpec, optional
            Kinds and orders where the data do not say. The cells of a CSV are
            typed by their texts; a dataframe's columns by their dtypes.
        typed : collection of str
            Columns whose texts are typed as a CSV's even in a dataframe, so that two
            spellings of one value ("1", "1.0") are one value.
        counts : str, optional
            A column of whole numbers, 1 or more each, that says how many records each row stands for. It becomes
            ``Table.counts`` and is no column of the table.

        Raises
        ------
        ColumnError
            A column does not exist, mixes types, has a type that cannot be coded
            (lists, structs), or holds infinite numbers; a count is none.
        InputError
            Rows that have counts were given others.

        Notes
        -----
        One hash pass over each column; O(n) per column plus sorting its distinct values.

        Examples
        --------
        >>> import polars as pl
        >>> Table.encode(pl.DataFrame({"age": [34, 7], "n": [20, 3]}), counts="n")
        Table(23 records in 2 rows, columns 'age')
        """
        if isinstance(data, Table):
            if counts is not None:
                raise InputError(
                    f"counts = {counts!r} was given for a Table, which has counts.", hint="leave counts out."
                )
            return data.select(data.names if columns is None else columns)
        check_specs(specs)
        frame = frames.with_counts(frames.read(data).with_specs(specs or {}), counts)
        names = frame.columns if columns is None else names_in(columns, "columns")
        check_columns(names, frame.columns, "columns")
        frame, undecided = frame.without_odd_cells(names)
        if undecided:
            from hushtable.io import warn_of_odd_cells

            warn_of_odd_cells(undecided)
        encoded = []
        for name in names:
            is_typed = frame.is_text or name in typed
            encoded.append(series.encode(frame.column(name), frame.spec(name), is_typed=is_typed, name=name))
        codes = np.empty((len(names), frame.n_rows), dtype=np.int32)
        for j, (_, column_codes) in enumerate(encoded):
            codes[j] = column_codes
        return cls(tuple(column for column, _ in encoded), codes, frame.records)

    def index(self, name: str) -> int:
        """Return the position of a column; ColumnError where there is none of that name."""
        try:
            return self.names.index(name)
        except ValueError:
            check_columns([name], self.names, "columns")
            raise

    def column(self, name: str) -> Column:
        """Return a column by its name."""
        return self.columns[self.index(name)]

    def select(self, columns: Sequence[str]) -> Table:
        """Return the table of some columns, in the order given; rows are not collapsed."""
        check_columns(columns, self.names, "columns")
        picks = [self.index(name) for name in columns]
        # Columns that lie side by side are not copied.
        first, last = min(picks, default=0), max(picks, default=-1)
        codes = self.codes[first : last + 1] if picks == [*range(first, last + 1)] else self.codes[picks]
        return Table(tuple(self.columns[j] for j in picks), codes, self.counts)

    def collapse(self) -> tuple[Table, CodeArray]:
        """Return the distinct rows with their counts, and which of them each row became.

        Returns
        -------
        distinct : Table
            In the order of first appearance.
        inverse : ndarray of int32, shape (n_rows,)
            ``distinct.codes[:, inverse]`` are this table's codes again.
        """
        widths = [column.n_values + 1 for column in self.columns]
        if math.prod(widths) < _MAX_KEYS:
            inverse, first = np.empty((2, self.n_rows), dtype=np.int32)
            counts = np.empty(self.n_rows, dtype=np.int64)
            n = group.group_equal_rows(
                self.codes, np.array(widths, dtype=np.int64), self.counts, inverse, first, counts
            )
            return Table(self.columns, np.take(self.codes, first[:n], axis=1), counts[:n].copy()), inverse
        inverse, n_distinct = label_rows(self.codes, [column.n_values for column in self.columns], self.n_rows)
        first = group.first_rows(inverse, n_distinct)
        counts = group.class_sizes(inverse, self.counts, n_distinct)
        return Table(self.columns, np.ascontiguousarray(self.codes[:, first]), counts), inverse

    def with_population(self, people: Table) -> Table:
        """Return these rows and, below them, those of a population, which count 0 records.

        Parameters
        ----------
        people : Table
            Any of this table's columns, of the same kinds; it holds no others' values.

        Raises
        ------
        ColumnError
            A column is of two kinds, or its two orders contradict one another.
        """
        columns = []
        codes = np.full((len(self.columns), self.n_rows + people.n_rows), np.int32(-1), np.int32)
        for j, column in enumerate(self.columns):
            joint = _merge_columns(column, people.column(column.name)) if column.name in people.names else column
            columns.append(joint)
            codes[j, : self.n_rows] = _translate_codes(self.codes[j], column, joint)
            if column.name in people.names:
                source = people.column(column.name)
                codes[j, self.n_rows :] = _translate_codes(people.codes[people.index(column.name)], source, joint)
        return Table(tuple(columns), codes, np.append(self.counts, np.zeros_like(people.counts)))

    def take(self, rows: CountArray) -> Table:
        """Return the table of some rows, in the order given."""
        return Table(self.columns, np.ascontiguousarray(self.codes[:, rows]), self.counts[rows])

    def without_unused(self) -> Table:
        """Return the table without the values that no row has."""
        columns, codes = [], np.empty_like(self.codes)
        for j, column in enumerate(self.columns):
            used = np.unique(self.codes[j][self.codes[j] >= 0])
            codes[j] = np.where(self.codes[j] < 0, -1, np.searchsorted(used, self.codes[j]))
            columns.append(replace(column, values=column.values[used]))
        return Table(tuple(columns), codes, self.counts)

    def with_rounding(self, roundings: Mapping[str, KeptRounding]) -> Table:
        """Return the table with some columns of numbers rounded."""
        if not roundings:
            return self
        from hushtable.columns import round_values

        columns, codes = list(self.columns), self.codes.copy()
        for name, rounding in roundings.items():
            place = self.index(name)
            columns[place], code_of_value = round_values(columns[place], rounding)
            codes[place] = code_of_value[codes[place]]
        return replace(self, columns=tuple(columns), codes=codes)

    def with_row_per_record(self) -> Table:
        """Return the table with a row for every record."""
        if (self.counts == 1).all():
            return self
        check_memory(
            self.n_records * (4.0 * len(self.columns) + 8),
            f"a row for each of {self.n_records} records",
            "use a method that keeps counts, such as 'mondrian', or anonymize parts of the table.",
        )
        codes = np.repeat(self.codes, self.counts, axis=1)
        return Table(self.columns, codes, np.ones(codes.shape[1], dtype=np.int64))

    @property
    def records(self) -> CountArray:
        """How many records each row stands for, as a `Frame` says it."""
        return self.counts

    def frame(self) -> Frame:
        """Return the rows as a frame with counts of records; rows that stand for none are not in it."""
        if (self.counts == 1).all():
            return frames.read(self.decode())
        counted_rows = self if self.counts.all() else self.take(np.flatnonzero(self.counts))
        return replace(frames.read(counted_rows.decode()), counts=counted_rows.counts)

    def expand(self) -> pl.DataFrame:
        """Return the records, every row as often as it counts, as a polars frame of typed values."""
        return self.decode()[np.repeat(np.arange(self.n_rows), self.counts)]

    def decode(self) -> pl.DataFrame:
        """Return the rows as a polars frame of typed values, without counts of records."""
        return pl.DataFrame([self.values(name).alias(name) for name in self.names])

    def values(self, name: str) -> pl.Series:
        """Return one column as typed values, a polars series without a name."""
        codes = [None if code < 0 else code for code in self.codes[self.index(name)].tolist()]
        return _to_series(self.column(name)).gather(pl.Series(codes, dtype=pl.UInt32))


def label_rows(columns: Iterable[CodeArray], widths: Iterable[int], n_rows: int) -> tuple[CodeArray, int]:
    """Return the class of every row, by first appearance, and how many there are; columns are not copied."""
    labels, n_classes = np.zeros(n_rows, dtype=np.int32), min(1, n_rows)
    for codes, width in zip(columns, widths, strict=True):
        refined = np.empty_like(labels)
        n_classes = group.refine_classes(labels, n_classes, codes, width, refined)
        labels = refined
    return labels, n_classes


def _merge_columns(column: Column, population_column: Column) -> Column:
    """Return the column of the values that either holds."""
    if column.kind != population_column.kind:
        raise ColumnError(
            f"column {column.name!r} is {column.kind} in the data and {population_column.kind} in the population.",
            hint="give its kind in specs.",
        )
    if column.kind != "ordered":
        return replace(column, values=np.union1d(column.values, population_column.values))
    shorter, longer = sorted((column.values.tolist(), population_column.values.tolist()), key=len)
    if [value for value in longer if value in set(shorter)] != shorter:
        raise ColumnError(
            f"the values of column {column.name!r} in the data and in the population have no common order.",
            hint="declare one order for both, and keep to values that one of them holds.",
        )
    return replace(column, values=np.array(longer, dtype=object))


def _translate_codes(codes: CodeArray, column: Column, joint: Column) -> CodeArray:
    """Translate a column's codes to those of a column that holds all its values."""
    code_of = {value: code for code, value in enumerate(joint.values.tolist())}
    translated = np.array([*(code_of[value] for value in column.values.tolist()), -1], dtype=np.int32)
    return np.asarray(translated[codes])


def open_table(data: Any, specs: Mapping[str, ColumnSpec] | None = None) -> Table | Frame:
    """Open a file or wrap a dataframe, with what is declared of its columns; a Table stays as it is."""
    if isinstance(data, Table):
        return data
    frame = frames.read(data)
    return frame if specs is None else frame.with_specs(specs)


def encode_table(
    source: Any, columns: Sequence[str] | None = None, specs: Mapping[str, ColumnSpec] | None = None
) -> Table:
    """Code the columns of a frame or file; a Table stays as it is, with all its columns."""
    return source if isinstance(source, Table) else Table.encode(source, columns, specs)


def merge_spellings_in(table: Table, names: Collection[str]) -> Table:
    """Return the table in which values of some columns that differ in their spelling alone are one value."""
    columns, codes = list(table.columns), table.codes
    for j in [table.index(name) for name in names]:
        merged, of_merged = merge_spellings(table.columns[j], table.codes[j])
        if merged is not table.columns[j]:
            # Copied only here: rows are many, and most columns have one spelling.
            codes = table.codes.copy() if codes is table.codes else codes
            columns[j], codes[j] = merged, of_merged
    return table if codes is table.codes else Table(tuple(columns), codes, table.counts)


def _to_series(column: Column) -> pl.Series:
    if column.kind in ("ordered", "category"):
        return pl.Series(column.values.tolist(), dtype=pl.String)
    values = pl.Series(column.values)
    return values.dt.time() if column.kind == "time" else values
