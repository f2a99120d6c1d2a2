"""From positions, or from another package's values, to a table like the one that was given.

The records of a column stand in a line by their values, missing ones first, categories by the alphabet. A position is
a number in [0, n_records): the cell of the record that stands there, or one from its bin (`margins`).
`hushtable.columns.spellings` reads cells as values; here values become cells, of the column's type and spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from hushtable._types import CodeArray, CountArray, FloatArray, ValueArray
from hushtable.columns import Column, ColumnSpec, Kind, encode, value_text
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.synthesizers.margins import (
    Original,
    Sharing,
    build_bins,
    replace_rare_categories,
    replace_rare_ranks,
)
from hushtable.tables import Table, to_decimals

_THOUSANDS_PATTERN: Final = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ISO_FORMATS: Final = ("%Y-%m-%d", *(f"%Y-%m-%d{t}%H:%M{s}" for t in " T" for s in ("", ":%S", ":%S%.3f", ":%S%.6f")))
_CLOCK_FORMATS: Final = ("%H:%M", "%-H:%M", "%H:%M:%S", "%H:%M:%S%.3f", "%H:%M:%S%.6f")


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A style of numbers."""

    min_decimals: int  # decimals that every number has, zeros where it needs none
    decimal: str
    thousands: str  # what groups digits; empty where nothing does

    def format_values(self, values: ValueArray) -> pl.Series:
        kind: Kind = "integer" if values.dtype.kind == "i" else "decimal"
        return pl.Series([self._format_number(value_text(kind, value)) for value in values], dtype=pl.String)

    def _format_number(self, plain: str) -> str:
        whole, _, decimals = plain.partition(".")
        decimals = decimals.ljust(self.min_decimals, "0")
        whole = _THOUSANDS_PATTERN.sub(self.thousands, whole) if self.thousands else whole
        return whole + self.decimal + decimals if decimals else whole


@dataclass(frozen=True, slots=True)
class _Moments:
    """A style of dates and moments."""

    format: str  # as polars has it

    def format_values(self, values: ValueArray) -> pl.Series:
        moments = pl.Series(values.astype("datetime64[us]"))
        return (moments.dt.replace_time_zone("UTC") if "%z" in self.format else moments).dt.to_string(self.format)


def cells_like(
    series: pl.Series, column: Column, codes: CodeArray, spec: ColumnSpec, values: ValueArray
) -> pl.Series | None:
    """Write values of a measured kind in the type and style of a column: `series`, `column` and `codes` are its cells.

    None for categories, and for text where no style is found that writes at least half of its values back as they stand
    there (exponents, leading signs and zeros).
    """
    if not isinstance(series.dtype, pl.String):
        return _cast_values(values, series.dtype)
    first = np.unique(codes[codes >= 0], return_index=True)[1]
    own = series.filter(pl.Series(codes >= 0)).gather(first)
    # Adult's own file has a blank behind every comma.
    blanks = own.str.extract(r"^(\s*)").unique()
    blank = blanks[0] if len(blanks) == 1 else ""
    hits_by_style = [
        (int((blank + style.format_values(column.values) == own).sum()), style)
        for style in _candidate_styles(own, column, spec)
    ]
    hits, best = max(hits_by_style, key=lambda each: each[0], default=(0, None))
    return blank + best.format_values(values) if best is not None and 2 * hits >= len(own) else None


def convert_cells(new: pl.Series, series: pl.Series, column: Column, codes: CodeArray, spec: ColumnSpec) -> pl.Series:
    """Convert cells from elsewhere to the type of a column, and to its spelling where that is found."""
    if not isinstance(series.dtype, pl.String):
        try:
            return new.cast(series.dtype)
        except pl.exceptions.PolarsError:
            raise ColumnError(
                f"column {column.name!r} is not of the type that it has here.", hint="return its type."
            ) from None
    if isinstance(new.dtype, pl.String):
        return new
    new_column, new_codes = encode(new, ColumnSpec(), is_typed=False, name=column.name)
    written = cells_like(series, column, codes, spec, new_column.values) if _is_alike(new_column, column) else None
    texts = pl.Series(new_column.texts(), dtype=pl.String) if written is None else written
    return texts.gather(pl.Series([None if place < 0 else place for place in new_codes.tolist()], dtype=pl.UInt32))


def n_decimals(column: Column, series: pl.Series | None = None) -> int:
    """Return the fewest decimals that write all values of a column of decimals, which may have come as float32."""
    # In full, a float32 has digits that nobody gave it.
    is_short = series is not None and isinstance(series.dtype, pl.Float32)
    values = column.values.astype(np.float32) if is_short else column.values
    return max((len(value_text("decimal", value).partition(".")[2]) for value in values), default=0)


def _candidate_styles(own: pl.Series, column: Column, spec: ColumnSpec) -> Iterator[_Numbers | _Moments]:
    """Yield the styles that a column of text may have."""
    if column.kind in ("integer", "decimal"):
        mark = spec.decimal or "."
        lengths = [len(text.strip().partition(mark)[2]) for text in own.to_list()]
        yield from (
            _Numbers(min(lengths, default=0), mark, groups) for groups in ("", spec.thousands) if groups is not None
        )
        return
    if column.kind == "time":
        yield from map(_Moments, _CLOCK_FORMATS)
        return
    if spec.format is not None and (spec.format == "excel" or "%q" in spec.format):
        return
    for each in _ISO_FORMATS if spec.format is None else (spec.format.replace("%f", "%6f"),):
        yield _Moments(each)
        # Days and months without a zero before them.
        yield _Moments(each.replace("%d", "%-d").replace("%m", "%-m"))


def _is_alike(source: Column, column: Column) -> bool:
    """Tell whether the values of one column can be written as those of another."""
    if source.kind == "datetime" and column.kind == "date":
        # pandas has dates as moments at midnight.
        return bool((source.values == source.values.astype("datetime64[D]")).all())
    numbers, times = {"integer", "decimal"}, {"date", "datetime"}
    return any({source.kind, column.kind} <= kinds for kinds in (numbers, times, {"time"}))


def _cast_values(values: ValueArray, dtype: pl.DataType) -> pl.Series | None:
    if isinstance(dtype, pl.Datetime):
        moments = pl.Series(values).cast(pl.Datetime(dtype.time_unit))
        zone = dtype.time_zone
        return moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else moments
    if isinstance(dtype, pl.Time):
        return pl.Series(values).cast(pl.Datetime("us")).dt.time()
    if isinstance(dtype, pl.Date) or dtype.is_numeric():
        return pl.Series(values).cast(dtype)
    return None


ValueSource = Literal["interpolated", "observed"]

_TIME_STEPS_MICROSECONDS: Final = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000, 1)
_WHOLE_STEPS: Final = tuple(10**power for power in range(18, -1, -1))
_MAX_DECIMALS: Final = 300  # 10 to the power of more is no float


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The new cells of a column."""

    records: CountArray = field(repr=False)  # (n,), whose cell each is: a position in the line of the column's records
    # (n_spread,), new rows that have a value of no record instead
    spread_rows: CountArray = field(repr=False)
    values: ValueArray = field(repr=False)  # (n_spread,), those values, of the column's kind
    empty_rows: CountArray = field(repr=False)  # (n_empty,), new rows whose cell has to be empty instead


def ends_of(codes: CodeArray, counts: CountArray, n_values: int) -> CountArray:
    """Return where the records of each code end in a column's line, shape (n_values + 1,), the missing ones first."""
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    sizes = np.bincount(codes + 1, weights=counts, minlength=n_values + 1)
    return np.asarray(np.cumsum(sizes.astype(np.int64)))


def to_positions(shares: FloatArray, n_records: int) -> FloatArray:
    """Turn shares of a line into positions in it; a share may have been rounded to 1."""
    return np.asarray(np.minimum(shares * n_records, np.nextafter(np.float64(n_records), 0)))


def cells_at(
    column: Column,
    ends: CountArray,
    positions: FloatArray,
    sharing: Sharing | None = None,
    decimals: int = 0,
) -> Drawn:
    """Find the cells at positions, in [0, n_records), of a column whose values end at `ends` (see `ends_of`).

    Without `sharing` every cell is a record's; with it, no value that fewer than ten people share is (see `margins`).
    """
    nothing = np.empty(0, np.int64)
    observed = Drawn(positions.astype(np.int64), nothing, column.values[:0], nothing)
    if sharing is None or not column.n_values:
        return observed
    if column.is_measured:
        return _interpolate_numbers(column, ends, sharing, observed.records, positions, decimals)
    replace_rare = replace_rare_categories if column.kind == "category" else replace_rare_ranks
    moved, is_empty = replace_rare(ends, sharing, positions)
    return replace(observed, records=moved.astype(np.int64), empty_rows=np.flatnonzero(is_empty))


def _interpolate_numbers(
    column: Column, ends: CountArray, sharing: Sharing, records: CountArray, positions: FloatArray, decimals: int
) -> Drawn:
    """Spread the records of each bin of a column of numbers evenly over it; one rare value alone stays empty."""
    values = _to_floats(column)
    bins = build_bins(values, np.diff(ends), sharing)
    begins, bin_ends = ends[bins.begins], ends[np.append(bins.begins[1:], column.n_values)]
    bin_of = np.clip(np.searchsorted(begins, positions, side="right") - 1, 0, None)
    spread = np.flatnonzero((records >= ends[0]) & bins.is_spread[bin_of])
    if column.n_values == 1:
        return Drawn(records, spread[:0], column.values[:0], spread)
    at = bin_of[spread]
    shares = (positions[spread] - begins[at]) / (bin_ends - begins)[at]
    with np.errstate(over="ignore"):
        between = np.clip(bins.lows[at] * (1 - shares) + bins.highs[at] * shares, values[0], values[-1])
    return Drawn(records, spread, _from_floats(column, between, decimals), spread[:0])


def _to_floats(column: Column) -> FloatArray:
    """Return a column's values as floats: decimals as they are, others as steps from the first one."""
    if column.kind == "decimal" and not _are_whole(column.values):
        return np.asarray(column.values)
    integers = column.values.astype(np.int64)
    # Modulo 2^64 a difference is exact even where it does not fit an int64.
    steps = (integers.astype(np.uint64) - integers[:1].astype(np.uint64)) // np.uint64(_value_step(column, integers))
    return steps.astype(np.float64)


def _from_floats(column: Column, numbers: FloatArray, decimals: int) -> ValueArray:
    """Turn floats into values, as fine as the column has them; the other way of `_to_floats`."""
    if column.kind == "decimal" and not _are_whole(column.values):
        return np.asarray(
            np.clip(to_decimals(numbers, min(decimals, _MAX_DECIMALS)), column.values[0], column.values[-1])
        )
    integers = column.values.astype(np.int64)
    unit = np.uint64(_value_step(column, integers))
    distance = (integers[-1:].astype(np.uint64) - integers[:1].astype(np.uint64)) // unit
    steps = np.minimum(np.rint(np.minimum(numbers, np.nextafter(2.0**64, 0))).astype(np.uint64), distance)
    return np.asarray((integers[:1].astype(np.uint64) + steps * unit).astype(np.int64).astype(column.values.dtype))


def _are_whole(values: FloatArray) -> bool:
    """Tell whether decimals are whole numbers, which pandas holds as such beside missing cells."""
    return bool((values % 1 == 0).all() and np.abs(values).max() < 2**53)


def _value_step(column: Column, integers: CountArray) -> int:
    """Return the step in which a column counts: a power of ten, days, or a unit of time."""
    units = {"date": (1,), "datetime": _TIME_STEPS_MICROSECONDS, "time": _TIME_STEPS_MICROSECONDS}.get(
        column.kind, _WHOLE_STEPS
    )
    return int(next(unit for unit in units if not (integers % unit).any()))


def frame_at(frame: Frame, original: Original, values: ValueSource, positions: FloatArray) -> Frame:
    """Return the cells at positions (n_columns, n) of a frame's columns, given all of them as the original.

    Every cell is one of the frame's, as it stands there; values of no record, and empty cells, are written over some.
    """
    table = original.table
    rows: dict[str, CountArray] = {}
    written: dict[str, tuple[CountArray, pl.Series]] = {}
    empty: dict[str, CountArray] = {}
    for j, column in enumerate(table.columns):
        name, cells, codes = column.name, frame.column(column.name), table.codes[j]
        decimals = n_decimals(column, cells) if _has_decimals(column, values) else 0
        ends, sharing = _ends_of_column(table, j), _sharing_of(original, j, values)
        new_cells = cells_at(column, ends, positions[j], sharing, decimals)
        rows[name], empty[name] = np.argsort(codes, kind="stable")[new_cells.records], new_cells.empty_rows
        if len(new_cells.spread_rows):
            texts = _write_cells(cells, column, codes, frame.spelling(name), new_cells.values)
            if texts is None:
                empty[name] = new_cells.spread_rows
            else:
                written[name] = new_cells.spread_rows, texts
    new_frame = frame.take_by_column(rows)
    for name, (changed, texts) in written.items():
        new_frame = new_frame.with_cells(name, changed, texts)
    for name, changed in empty.items():
        new_frame = new_frame.with_empty_cells(name, changed) if len(changed) else new_frame
    return new_frame


def _write_cells(
    cells: pl.Series, column: Column, codes: CodeArray, spec: ColumnSpec, values: ValueArray
) -> pl.Series | None:
    """Write values in the style of a column; numbers of a column without one plainly, times of it not at all."""
    written = cells_like(cells, column, codes, spec, values)
    if written is None and column.kind in ("integer", "decimal"):
        return _Numbers(0, spec.decimal or ".", "").format_values(values)
    return written


def table_at(original: Original, values: ValueSource, positions: FloatArray) -> Table:
    """Return the table of the values at positions of the original's columns, each record a row."""
    table = original.table
    columns, codes = [], np.empty(positions.shape, dtype=np.int32)
    for j, column in enumerate(table.columns):
        ends = _ends_of_column(table, j)
        decimals = n_decimals(column) if _has_decimals(column, values) else 0
        new_cells = cells_at(column, ends, positions[j], _sharing_of(original, j, values), decimals)
        new_column, codes[j] = _encode_cells(column, ends, new_cells)
        columns.append(new_column)
    return Table(tuple(columns), codes, np.ones(positions.shape[1], dtype=np.int64)).without_unused()


def _sharing_of(original: Original, j: int, values: ValueSource) -> Sharing | None:
    return None if values == "observed" else original.sharing[j]


def frame_like(frame: Frame, table: Table, source: Frame) -> Frame:
    """Return values from elsewhere as a frame of the types and spellings of another, coded as a table."""
    columns = [
        convert_cells(source.column(name), frame.column(name), column, codes, frame.spelling(name)).alias(name)
        for name, column, codes in zip(table.names, table.columns, table.codes, strict=True)
    ]
    return frame.build_alike(columns)


def table_like(table: Table, source: Frame) -> Table:
    """Return values from elsewhere as a table whose categories are those of another."""
    orders = {column.name: tuple(column.texts()) for column in table.columns if column.kind == "ordered"}
    specs = {column.name: ColumnSpec("category") for column in table.columns if column.kind == "category"}
    specs |= {name: ColumnSpec("ordered", order or None) for name, order in orders.items()}
    return Table.encode(source, table.names, specs)


def _has_decimals(column: Column, values: ValueSource) -> bool:
    return column.kind == "decimal" and values == "interpolated"


def _ends_of_column(table: Table, j: int) -> CountArray:
    return ends_of(table.codes[j], table.counts, table.columns[j].n_values)


def _encode_cells(column: Column, ends: CountArray, new_cells: Drawn) -> tuple[Column, CodeArray]:
    """Return a column with all values that were drawn, and the code of each."""
    codes = np.searchsorted(ends, new_cells.records, side="right") - 1
    if len(new_cells.spread_rows):
        values = np.union1d(column.values, new_cells.values)
        codes = np.append(np.searchsorted(values, column.values), -1)[codes]
        codes[new_cells.spread_rows] = np.searchsorted(values, new_cells.values)
        column = replace(column, values=values)
    codes[new_cells.empty_rows] = -1
    return column, codes.astype(np.int32)
