"""How new values are written as a column writes its own: the way back from values to cells.

`hushtable.columns.spellings` reads cells as values; here values become cells, of the column's type and in its spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from hushtable._types import CodeArray, ValueArray
from hushtable.columns import Column, ColumnSpec, Kind, encode, value_text
from hushtable.errors import ColumnError, with_hint

__all__ = ["cells_like", "like", "n_decimals"]

_GROUPED: Final = re.compile(r"(?<=[0-9])(?=(?:[0-9]{3})+$)")
_ISO: Final = ("%Y-%m-%d", *(f"%Y-%m-%d{t}%H:%M{s}" for t in " T" for s in ("", ":%S", ":%S%.3f", ":%S%.6f")))
_CLOCKS: Final = ("%H:%M", "%-H:%M", "%H:%M:%S", "%H:%M:%S%.3f", "%H:%M:%S%.6f")


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A style of numbers.

    Attributes
    ----------
    least : int
        Decimals that every number has, zeros where it needs none.
    decimal : str
    thousands : str
        What groups digits; empty where nothing does.
    """

    least: int
    decimal: str
    thousands: str

    def write(self, values: ValueArray) -> pl.Series:
        kind: Kind = "integer" if values.dtype.kind == "i" else "decimal"
        return pl.Series([self._text(value_text(kind, value)) for value in values], dtype=pl.String)

    def _text(self, plain: str) -> str:
        whole, _, decimals = plain.partition(".")
        decimals = decimals.ljust(self.least, "0")
        whole = _GROUPED.sub(self.thousands, whole) if self.thousands else whole
        return whole + self.decimal + decimals if decimals else whole


@dataclass(frozen=True, slots=True)
class _Moments:
    """A style of dates and moments.

    Attributes
    ----------
    format : str
        As polars has it.
    """

    format: str

    def write(self, values: ValueArray) -> pl.Series:
        moments = pl.Series(values).cast(pl.Datetime("us"))
        return (moments.dt.replace_time_zone("UTC") if "%z" in self.format else moments).dt.to_string(self.format)


def cells_like(
    series: pl.Series, column: Column, codes: CodeArray, spec: ColumnSpec, values: ValueArray
) -> pl.Series | None:
    """Write values of a measured kind as a column writes its own.

    Parameters
    ----------
    series : polars.Series
        The column's cells.
    column : Column
        What they mean.
    codes : ndarray of int32, shape (n_rows,)
        Of each cell.
    spec : ColumnSpec
        How text is spelled.
    values : ndarray
        Of the column's kind, or other numbers.

    Returns
    -------
    polars.Series or None
        Of the column's type. None for a column of text where no style is found that writes at least half of its
        values back as they stand there (exponents, leading signs and zeros), and for categories.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> prices = pl.Series(["1,50", "1.234,00"])
    >>> column, codes = from_texts("price", ["1.50", "1234.00"])
    >>> cells_like(prices, column, codes, ColumnSpec(decimal=",", thousands="."), np.array([7.0, 2500.2])).to_list()
    ['7,00', '2.500,20']
    """
    if not isinstance(series.dtype, pl.String):
        return _of_type(values, series.dtype)
    first = np.unique(codes[codes >= 0], return_index=True)[1]
    own = series.filter(pl.Series(codes >= 0)).gather(first)
    # Adult's own file has a blank behind every comma.
    blanks = own.str.extract(r"^(\s*)").unique()
    blank = blanks[0] if len(blanks) == 1 else ""
    told = [(int((blank + style.write(column.values) == own).sum()), style) for style in _styles(own, column, spec)]
    hits, best = max(told, key=lambda each: each[0], default=(0, None))
    return blank + best.write(values) if best is not None and 2 * hits >= len(own) else None


def like(new: pl.Series, series: pl.Series, column: Column, codes: CodeArray, spec: ColumnSpec) -> pl.Series:
    """Return cells that come from elsewhere in the type of a column, values in its spelling where that is found.

    Raises
    ------
    ColumnError
        They cannot be turned into that type.
    """
    if not isinstance(series.dtype, pl.String):
        try:
            return new.cast(series.dtype)
        except pl.exceptions.PolarsError:
            msg = with_hint(f"column {column.name!r} is not of the type that it has here.", "return its type.")
            raise ColumnError(msg) from None
    if isinstance(new.dtype, pl.String):
        return new
    known, places = encode(new, ColumnSpec(), is_typed=False, name=column.name)
    written = cells_like(series, column, codes, spec, known.values) if _is_alike(known, column) else None
    texts = pl.Series(known.texts(), dtype=pl.String) if written is None else written
    return texts.gather(pl.Series([None if place < 0 else place for place in places.tolist()], dtype=pl.UInt32))


def n_decimals(column: Column, series: pl.Series | None = None) -> int:
    """Return the fewest decimals that write all values of a column of decimals, which may have come as float32."""
    # In full, a float32 has digits that nobody gave it.
    is_short = series is not None and isinstance(series.dtype, pl.Float32)
    values = column.values.astype(np.float32) if is_short else column.values
    return max((len(value_text("decimal", value).partition(".")[2]) for value in values), default=0)


def _styles(own: pl.Series, column: Column, spec: ColumnSpec) -> Iterator[_Numbers | _Moments]:
    """Tell the styles that a column of text may have."""
    if column.kind in ("integer", "decimal"):
        mark = spec.decimal or "."
        lengths = [len(text.strip().partition(mark)[2]) for text in own.to_list()]
        yield from (
            _Numbers(min(lengths, default=0), mark, groups) for groups in ("", spec.thousands) if groups is not None
        )
        return
    if column.kind == "time":
        yield from map(_Moments, _CLOCKS)
        return
    for each in _ISO if spec.format is None else (spec.format.replace("%f", "%6f"),):
        yield _Moments(each)
        # Days and months without a zero before them.
        yield _Moments(each.replace("%d", "%-d").replace("%m", "%-m"))


def _is_alike(known: Column, column: Column) -> bool:
    """Tell whether the values of one column can be written as those of another."""
    if known.kind == "datetime" and column.kind == "date":
        # pandas has dates as moments at midnight.
        return bool((known.values == known.values.astype("datetime64[D]")).all())
    numbers, times = {"integer", "decimal"}, {"date", "datetime"}
    return any({known.kind, column.kind} <= kinds for kinds in (numbers, times, {"time"}))


def _of_type(values: ValueArray, dtype: pl.DataType) -> pl.Series | None:
    if isinstance(dtype, pl.Datetime):
        moments = pl.Series(values).cast(pl.Datetime(dtype.time_unit))
        zone = dtype.time_zone
        return moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else moments
    if isinstance(dtype, pl.Time):
        return pl.Series(values).cast(pl.Datetime("us")).dt.time()
    if isinstance(dtype, pl.Date) or dtype.is_numeric():
        return pl.Series(values).cast(dtype)
    return None
