"""Columns of dates as arrays of moments, and back."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hushtable._types import ValueArray
from hushtable.columns.column import ColumnSpec
from hushtable.columns.series import encode
from hushtable.errors import ColumnError


def read_moments(series: pl.Series, spec: ColumnSpec, *, is_typed: bool, name: str) -> NDArray[np.datetime64]:
    """Return the dates of a column; NaT is missing. Moments of a time zone are those of its clocks.

    Raises
    ------
    ColumnError
        It holds no dates.
    """
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    column, codes = encode(series, spec, is_typed=is_typed, name=name)
    if column.kind not in ("date", "datetime"):
        raise ColumnError(
            f"column {name!r} holds no dates: it is of kind {column.kind}.",
            hint="say how its dates are written (`format:`), or leave it out of the dates that are shifted or counted.",
        )
    # The last entry serves the missing cells, which index it as -1.
    return np.append(column.values, np.datetime64("NaT"))[codes]


def holds_dates(series: pl.Series, spec: ColumnSpec, name: str) -> bool:
    """Tell whether a column holds dates, also where a dataframe has them as texts, or they are declared a category."""
    if isinstance(series.dtype, (pl.Date, pl.Datetime)):
        return True
    as_typed = ColumnSpec(
        format=spec.format, latest_year=spec.latest_year, missing_values=spec.missing_values, odd_cells="missing"
    )
    is_text = isinstance(series.dtype, pl.String) or spec.format is not None
    return is_text and encode(series, as_typed, is_typed=True, name=name)[0].kind in ("date", "datetime")


def moments_as_series(values: ValueArray) -> pl.Series:
    """Return dates, moments, or days since a date as a column; NaT is missing."""
    if values.dtype.kind == "M":
        return pl.Series(values)
    days = pl.Series(values.astype("timedelta64[D]").astype(np.int64))
    return days.set(pl.Series(np.isnat(values)), None)
