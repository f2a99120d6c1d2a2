"""From positions, or from another package's values, to a table like the one that was given.

The records of a column stand in a line by their values, missing ones first, categories by the alphabet. A position is
a number in [0, n_records): the cell of the record that stands there, or one between it and its neighbour.
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
    # (n_between,), new rows that have a value between two records instead
    interpolated_rows: CountArray = field(repr=False)
    values: ValueArray = field(repr=False)  # (n_between,), those values, of the column's kind


def ends_of(codes: CodeArray, counts: CountArray, n_values: int) -> CountArray:
    """Return where the records of each code end in a column's line, shape (n_values + 1,), the missing ones first."""
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    sizes = np.bincount(codes + 1, weights=counts, minlength=n_values + 1)
    return np.asarray(np.cumsum(sizes.astype(np.int64)))


def to_positions(shares: FloatArray, n_records: int) -> FloatArray:
    """Turn shares of a line into positions in it; a share may have been rounded to 1."""
    return np.asarray(np.minimum(shares * n_records, np.nextafter(np.float64(n_records), 0)))


def cells_at(column: Column, ends: CountArray, positions: FloatArray, values: ValueSource, decimals: int) -> Drawn:
    """Find the cells at positions, in [0, n_records), of a column whose values end at `ends` (see `ends_of`).

    Interpolated, the m records with a value are met at rank ``u * (m - 1)`` with u in [0, 1), as quantiles are by
    default: the greatest value is neared, not met, and the others by rounding, or where several records share them.
    """
    records = positions.astype(np.int64)
    nothing = Drawn(records, np.empty(0, np.int64), column.values[:0])
    n_missing, n_present = int(ends[0]), int(ends[-1] - ends[0])
    if values == "observed" or not column.is_measured or n_present < 2:
        return nothing
    ranks = np.where(records < n_missing, 0.0, (positions - n_missing) * ((n_present - 1) / n_present))
    below = np.minimum(ranks.astype(np.int64), n_present - 2)
    low, high = (np.searchsorted(ends, below + n_missing + step, side="right") - 1 for step in (0, 1))
    between = np.flatnonzero((records >= n_missing) & (low < high))
    share = (ranks - below)[between]
    return Drawn(records, between, _interpolate_values(column, low[between], high[between], share, decimals))


def _interpolate_values(
    column: Column, low: CountArray, high: CountArray, share: FloatArray, decimals: int
) -> ValueArray:
    """Interpolate between values, as finely as the column has them."""
    if column.kind == "decimal" and not _are_whole(column.values):
        below, above = column.values[low], column.values[high]
        # Their difference may be past the largest float.
        between = to_decimals(below * (1 - share) + above * share, min(decimals, _MAX_DECIMALS))
        return np.asarray(np.clip(between, below, above))
    integers = column.values.astype(np.int64)
    unit = _value_step(column, integers)
    # Modulo 2^64 a difference is exact even where it does not fit an int64.
    distance = (integers[high].astype(np.uint64) - integers[low].astype(np.uint64)) // np.uint64(unit)
    steps = np.minimum(np.rint(share * distance.astype(np.float64)).astype(np.uint64), distance)
    between = integers[low].astype(np.uint64) + steps * np.uint64(unit)
    return np.asarray(between.astype(np.int64).astype(column.values.dtype))


def _are_whole(values: FloatArray) -> bool:
    """Tell whether decimals are whole numbers, which pandas holds as such beside missing cells."""
    return bool((values % 1 == 0).all() and np.abs(values).max() < 2**53)


def _value_step(column: Column, integers: CountArray) -> int:
    """Return the step in which a column counts: a power of ten, days, or a unit of time."""
    units = {"date": (1,), "datetime": _TIME_STEPS_MICROSECONDS, "time": _TIME_STEPS_MICROSECONDS}.get(
        column.kind, _WHOLE_STEPS
    )
    return int(next(unit for unit in units if not (integers % unit).any()))


def frame_at(frame: Frame, table: Table, values: ValueSource, positions: FloatArray) -> Frame:
    """Return the cells at positions (n_columns, n) of a frame's columns, given the table of all of them.

    Every cell is one of the frame's, as it stands there; values between two records are written over some.
    """
    rows: dict[str, CountArray] = {}
    between = {}
    for j, column in enumerate(table.columns):
        cells, codes = frame.column(column.name), table.codes[j]
        decimals = n_decimals(column, cells) if _has_decimals(column, values) else 0
        new_cells = cells_at(column, _ends_of_column(table, j), positions[j], values, decimals)
        rows[column.name] = np.argsort(codes, kind="stable")[new_cells.records]
        if len(new_cells.interpolated_rows):
            written = cells_like(cells, column, codes, frame.spelling(column.name), new_cells.values)
            between[column.name] = new_cells.interpolated_rows, written
    new_frame = frame.take_by_column(rows)
    for name, (changed, written) in between.items():
        new_frame = new_frame if written is None else new_frame.with_cells(name, changed, written)
    return new_frame


def table_at(table: Table, values: ValueSource, positions: FloatArray) -> Table:
    """Return the table of the values at positions of its columns, each record a row."""
    columns, codes = [], np.empty(positions.shape, dtype=np.int32)
    for j, column in enumerate(table.columns):
        ends = _ends_of_column(table, j)
        decimals = n_decimals(column) if _has_decimals(column, values) else 0
        new_column, codes[j] = _encode_cells(column, ends, cells_at(column, ends, positions[j], values, decimals))
        columns.append(new_column)
    return Table(tuple(columns), codes, np.ones(positions.shape[1], dtype=np.int64)).without_unused()


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
    if not len(new_cells.interpolated_rows):
        return column, codes.astype(np.int32)
    values = np.union1d(column.values, new_cells.values)
    codes = np.append(np.searchsorted(values, column.values), -1)[codes]
    codes[new_cells.interpolated_rows] = np.searchsorted(values, new_cells.values)
    return replace(column, values=values), codes.astype(np.int32)
