"""Dates and moments in text, read as `datetime.strptime` reads them, as fast as polars where both agree.

What the standard library does not know, `hushtable.columns.date_patterns` rewrites for it.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from typing import Final, Literal

import numpy as np
import polars as pl

EXCEL: Final = "excel"
"""The format of days that are written as Excel counts them."""

CalendarUnit = Literal["day", "month", "quarter", "year"]
_YEARS: Final = ("%Y", "%y")
_MONTHS: Final = ("%m", "%b", "%B")
_A_MOMENT: Final = dt.datetime(2003, 11, 25, 13, 14, 15)

_PATTERN_OF_DIRECTIVE: Final = {
    "%d": "(?:0[1-9]|[12][0-9]|3[01])",
    "%m": "(?:0[1-9]|1[0-2])",
    "%Y": "(?:[1-9][0-9]{3})",
    # Polars reads 69 as 2069, Python as 1969.
    "%y": "(?:[0-57-9][0-9]|6[0-8])",
    "%H": "(?:[01][0-9]|2[0-3])",
    "%I": "(?:0[1-9]|1[0-2])",
    "%p": "(?:AM|PM)",
    "%M": "(?:[0-5][0-9])",
    "%S": "(?:[0-5][0-9])",
    ".%f": r"(?:\.[0-9]{1,6})",
    "%z": "(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])",
}
"""Texts of each directive that polars reads as the standard library does."""

_IN_POLARS: Final = {".%f": "%.f", "%z": "%#z"}
"""How polars writes the directives that it has under other names."""

_LENIENT_SECONDS: Final = rf"{_PATTERN_OF_DIRECTIVE['%S']}(?:\.[0-9]{{1,9}})?", "%S%.f"
_FEBRUARY, _LEAP_DAY = 2, 29
_PARTS: Final = re.compile(r"\.%f|%.|[^%]", re.DOTALL)


def read_moments(texts: pl.Series, format_: str, latest_year: int | None = None) -> pl.Series:
    """Parse texts by a date format; moments with an offset become UTC, other texts null.

    Seconds before an offset may have decimals: in ISO, one column writes both. Years of two digits are the latest that
    they may be until `latest_year`; where that is not given, those from 1969 to 2068, as strptime has it.
    """
    # A quick check first: most columns hold no such dates.
    from hushtable.columns.date_patterns import read_serials, to_strptime

    texts = texts.str.strip_chars()
    if format_ == EXCEL:
        return read_serials(texts)
    moments = _read_by_format(*to_strptime(texts, format_, precision_of(format_) or "day"))
    return moments if latest_year is None or "%y" not in format_ else _move_to_century(moments, latest_year)


def to_iso(texts: pl.Series, format_: str, latest_year: int | None = None) -> pl.Series:
    """Convert dates to ISO, as precisely as they are given; null for texts that do not fit the format."""
    moments = read_moments(texts, format_, latest_year)
    if precision_of(format_) == "quarter":
        return moments.dt.to_string("%Y-Q") + moments.dt.quarter().cast(pl.String)
    if not has_time(format_):
        return moments.dt.to_string({"year": "%Y", "month": "%Y-%m"}.get(precision_of(format_) or "day", "%Y-%m-%d"))
    has_decimals = "%f" in format_ or "%z" in format_
    return moments.dt.to_string("%Y-%m-%d %H:%M:%S%.6f" if has_decimals else "%Y-%m-%d %H:%M:%S")


def has_two_digits(format_: str | None) -> bool:
    """Tell whether a date format has years of two digits, which lack the century."""
    return format_ is not None and "%y" in format_


def this_day() -> np.datetime64:
    """Return the current day: nobody was born after it."""
    return np.datetime64(dt.datetime.now(dt.UTC).date(), "D")


@cache
def precision_of(format_: str) -> CalendarUnit | None:
    """Return the precision of a date format; None if it is not one."""
    if format_ == EXCEL:
        return "day"
    directives = sorted(re.findall("%.", format_))
    for year in _YEARS:
        if directives == [year]:
            return "year"
        if directives == sorted([year, "%q"]):
            return "quarter"
        if any(directives == sorted([year, month]) for month in _MONTHS):
            return "month"
    return "day" if _names_a_day(format_) else None


def _names_a_day(format_: str) -> bool:
    # A year is added, because Python warns about a day and month without one.
    if not any(sign in format_ for sign in ("%Y", "%y", "%G", "%x", "%c")):
        return False
    try:
        moment = _A_MOMENT.replace(tzinfo=dt.UTC) if "%z" in format_ else _A_MOMENT
        return dt.datetime.strptime(moment.strftime(format_), format_).date() == moment.date()
    except (ValueError, re.error):
        return False


def has_time(format_: str) -> bool:
    """Tell whether a date format also has a time of day."""
    return any(directive in format_ for directive in ("%H", "%I", "%T", "%R", "%X", "%c"))


def _read_by_format(texts: pl.Series, format_: str) -> pl.Series:
    """Read texts by a format of strptime."""
    moments = _read_agreed(texts, format_)
    rest = texts.filter(moments.is_null() & texts.is_not_null()).unique()
    if not len(rest):
        return moments
    read = pl.Series([_read_one(text, format_) for text in rest.to_list()], dtype=pl.Datetime("us"))
    others = texts.replace_strict(rest, read, default=None, return_dtype=pl.Datetime("us"))
    return moments.zip_with(moments.is_not_null(), others)


def _move_to_century(moments: pl.Series, latest_year: int) -> pl.Series:
    """Move moments by centuries, to the last one not after the latest year; null if the day does not exist there."""
    year = latest_year - (latest_year - moments.dt.year()) % 100
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    is_none = (moments.dt.month() == _FEBRUARY) & (moments.dt.day() == _LEAP_DAY) & ~is_leap
    return moments.set(is_none, None).dt.replace(year=year)


def _read_agreed(texts: pl.Series, format_: str) -> pl.Series:
    """Parse the texts that polars parses like the standard library; null for others."""
    parts = _PARTS.findall(format_)
    if "".join(parts) != format_ or any("%" in part and part not in _PATTERN_OF_DIRECTIVE for part in parts):
        return pl.Series([None], dtype=pl.Datetime("us")).new_from_index(0, len(texts))
    patterns, names = dict(_PATTERN_OF_DIRECTIVE), dict(_IN_POLARS)
    is_zoned = "%z" in parts
    if is_zoned and ".%f" not in parts:
        patterns["%S"], names["%S"] = _LENIENT_SECONDS
    pattern = "".join(patterns.get(part, re.escape(part)) for part in parts)
    fitting = texts.set(~texts.str.contains(f"^(?:{pattern})$"), None)
    dtype = pl.Datetime("us", "UTC" if is_zoned else None)
    moments = fitting.str.strptime(dtype, "".join(names.get(part, part) for part in parts), strict=False)
    return moments.dt.replace_time_zone(None) if is_zoned else moments


def _read_one(text: str, format_: str) -> dt.datetime | None:
    try:
        moment = dt.datetime.strptime(text, format_)
        return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
