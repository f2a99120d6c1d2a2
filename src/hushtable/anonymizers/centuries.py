"""Dates of the wrong century: years of two digits that nobody explained, births in the future, years below 1000."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from hushtable.columns import Column, encode, has_two_digits, this_day
from hushtable.errors import ColumnError, with_hint
from hushtable.io import Frame

_EARLIEST: Final = np.datetime64("1000-01-01")


def check_centuries(source: Frame, names: Iterable[str]) -> None:
    """Raise ColumnError if two-digit years fall in the future and the user declared no century."""
    for name in _list_columns_without_century(source, names):
        column, _ = encode(source.column(name), source.spec(name), is_typed=source.is_text, name=name)
        n_future = int((column.values > this_day()).sum()) if column.is_temporal else 0
        if n_future:
            what = f"column {name!r} has years of two digits, and {n_future} of its dates would lie in the future."
            raise ColumnError(what, hint=ask_for_latest_year(name))


def doubts_of_centuries(source: object, columns: Sequence[Column]) -> Iterator[str]:
    """Yield a warning for each column with undeclared two-digit years, or with dates of an impossible century."""
    names = [column.name for column in columns if column.is_temporal]
    for name in _list_columns_without_century(source, names) if isinstance(source, Frame) else ():
        what = f"column {name!r} has years of two digits, which are read as 1969 to 2068."
        yield with_hint(what, ask_for_latest_year(name))
    for column in columns:
        for dates in describe_impossible_dates(column):
            yield (
                f"column {column.name!r} has {dates}: look how its dates are written (`format:`, `latest_year:`), or "
                "declare these as missing."
            )


def describe_impossible_dates(column: Column) -> Iterator[str]:
    """Describe how many distinct dates of a column are impossible: births after today, years below 1000."""
    if column.kind not in ("date", "datetime") or not column.n_values:
        return
    early, late = column.values < _EARLIEST, column.values > this_day()
    if early.any():
        yield f"{np.count_nonzero(early):,} dates before the year 1000"
    if late.any():
        # Imported late: rarely needed, and it reads a list of names.
        from hushtable.discover import names_birth

        if names_birth(column.name):
            yield f"{np.count_nonzero(late):,} births after today"


def ask_for_latest_year(name: str) -> str:
    """Return the hint that says how to declare the century of two-digit years."""
    year = this_day().astype("datetime64[Y]")
    return (
        f"say the latest year that they mean, `latest_year: {year}` for instance: in a policy, --set "
        f"columns.{name}.latest_year={year}, ColumnSpec(latest_year={year}) in Python."
    )


def _list_columns_without_century(source: Frame, names: Iterable[str]) -> list[str]:
    specs = {name: source.spec(name) for name in names}
    return [name for name, spec in specs.items() if has_two_digits(spec.format) and spec.latest_year is None]
