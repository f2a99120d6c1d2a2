"""Dates and moments in text, read as `datetime.strptime` reads them, as fast as polars where both agree."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

import polars as pl

__all__ = ["has_time", "read_moments"]

_AGREED: Final = {
    "%d": "(?:0[1-9]|[12][0-9]|3[01])",
    "%m": "(?:0[1-9]|1[0-2])",
    "%b": "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    "%Y": "(?:[1-9][0-9]{3})",
    # Polars takes 69 for 2069.
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

_LENIENT_SECONDS: Final = rf"{_AGREED['%S']}(?:\.[0-9]{{1,9}})?", "%S%.f"
_PARTS: Final = re.compile(r"\.%f|%.|[^%]", re.DOTALL)


def read_moments(texts: pl.Series, format_: str) -> pl.Series:
    """Read texts by a format of strptime; moments with an offset in UTC, null where a text is none of the format.

    Seconds before an offset may have decimals: in ISO, one column writes both.

    Examples
    --------
    >>> read_moments(pl.Series(["31.1.69", "31.2.69"]), "%d.%m.%y").to_list()
    [datetime.datetime(1969, 1, 31, 0, 0), None]
    """
    texts = texts.str.strip_chars()
    moments = _read_agreed(texts, format_)
    rest = texts.filter(moments.is_null() & texts.is_not_null()).unique()
    if not len(rest):
        return moments
    read = pl.Series([_read_one(text, format_) for text in rest.to_list()], dtype=pl.Datetime("us"))
    others = texts.replace_strict(rest, read, default=None, return_dtype=pl.Datetime("us"))
    return moments.zip_with(moments.is_not_null(), others)


def has_time(format_: str) -> bool:
    """Tell whether a format of dates names a time of the day too."""
    return any(directive in format_ for directive in ("%H", "%I", "%T", "%R", "%X", "%c"))


def _read_agreed(texts: pl.Series, format_: str) -> pl.Series:
    """Read the texts that polars reads as the standard library does; null elsewhere."""
    parts = _PARTS.findall(format_)
    if "".join(parts) != format_ or any("%" in part and part not in _AGREED for part in parts):
        return pl.Series([None], dtype=pl.Datetime("us")).new_from_index(0, len(texts))
    patterns, names = dict(_AGREED), dict(_IN_POLARS)
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
