"""How a scan proposes to read the dates of a column: their format, and the century of years of two digits."""

from __future__ import annotations

from typing import Final, NamedTuple

import polars as pl

from hushtable.columns import (
    ColumnSpec,
    canonical,
    date_formats_of_digits,
    dates_as_text,
    doubts,
    found,
    has_two_digits,
    latest_year_of,
    this_day,
)
from hushtable.io import Frame

__all__ = ["Dating", "describe_century", "propose_dating"]

_TOPICS: Final = ("birth", "date")
_YEARS: Final = "%Y"


class Dating(NamedTuple):
    """What is proposed of a column of dates.

    Attributes
    ----------
    spec : ColumnSpec
        Its format, where only one fits, and the latest year.
    formats : tuple of str
        Several that fit: somebody has to choose.
    are_years : bool
        Its numbers may be years, which need no format.
    """

    spec: ColumnSpec = ColumnSpec()
    formats: tuple[str, ...] = ()
    are_years: bool = False


def propose_dating(frame: Frame, name: str, topic: str) -> Dating:
    """Propose how the dates of a column are read; digits are dates only where the column's name says so.

    Parameters
    ----------
    frame : Frame
    name : str
    topic : str
        What the column is about: ``"birth"``, ``"date"`` or something else.
    """
    spec, text = frame.spec(name), frame.text(name)
    if spec.format is not None:
        return Dating()
    if text is not None:
        formats, known = doubts(text, spec)[0], found(text, spec)
        if formats or known.format is not None:
            return _of_formats(formats or (known.format or "",), text, topic)
    digits = dates_as_text(frame.column(name)) if text is None else text
    if topic not in _TOPICS or not isinstance(digits.dtype, pl.String):
        return Dating()
    formats = date_formats_of_digits(canonical(digits, ColumnSpec(missing_values=spec.missing_values)))
    return Dating(are_years=True) if _YEARS in formats else _of_formats(formats, digits, topic)


def describe_century(latest_year: int, topic: str) -> str:
    """Say which years two digits mean, and why.

    Examples
    --------
    >>> describe_century(2026, "birth")
    'two digits: 26 is 2026, 27 is 1927, as no birth lies in the future; say another year if that is wrong'
    """
    years = f"{latest_year % 100:02} is {latest_year}, {(latest_year + 1) % 100:02} is {latest_year - 99}"
    why = "no birth lies in the future" if topic == "birth" else "its dates lie closest together so"
    return f"two digits: {years}, as {why}; say another year if that is wrong"


def _of_formats(formats: tuple[str, ...], text: pl.Series, topic: str) -> Dating:
    if not formats:
        return Dating()
    year = None
    if has_two_digits(formats[0]):
        this_year = int(str(this_day())[:4])
        year = latest_year_of(text, formats[0], this_year, is_birth=topic == "birth")
    one = formats[0] if len(formats) == 1 else None
    return Dating(ColumnSpec(format=one, latest_year=year), formats if one is None else ())
