"""How a scan proposes to read the dates of a column: their format, and the century of years of two digits."""

from __future__ import annotations

from typing import Final, NamedTuple

from hushtable.columns import (
    ColumnSpec,
    date_formats_of_digits,
    find_ambiguities,
    has_two_digits,
    infer_spelling,
    latest_year_of,
    this_day,
    to_canonical_texts,
)
from hushtable.io import Frame

_TOPICS: Final = ("birth", "date")
_YEARS: Final = "%Y"


class Dating(NamedTuple):
    """The proposal for a column of dates."""

    spec: ColumnSpec = ColumnSpec()  # its format, where only one fits, and the latest year
    formats: tuple[str, ...] = ()  # several that fit: somebody has to choose
    are_years: bool = False  # its numbers may be years, which need no format


def propose_dating(frame: Frame, name: str, topic: str) -> Dating:
    """Propose how the dates of a column are read; digits are dates only if its topic is ``"birth"`` or ``"date"``."""
    spec, text = frame.spec(name), frame.text(name)
    if spec.format is not None:
        return Dating()
    formats: tuple[str, ...] = ()
    if text is not None:
        known = infer_spelling(text, spec).format
        formats = find_ambiguities(text, spec)[0] if known is None else (known,)
    # Whole numbers that are dates are read as text.
    digits = frame.with_specs({name: ColumnSpec(format=_YEARS)}).text(name) if text is None else text
    if digits is not None and not formats and topic in _TOPICS:
        formats = date_formats_of_digits(to_canonical_texts(digits, ColumnSpec(missing_values=spec.missing_values)))
    if not formats or _YEARS in formats:
        return Dating(are_years=bool(formats))
    year = None
    if digits is not None and has_two_digits(formats[0]):
        this_year = int(str(this_day())[:4])
        year = latest_year_of(digits, formats[0], this_year, is_birth=topic == "birth")
    if len(formats) > 1:
        return Dating(ColumnSpec(latest_year=year), formats)
    return Dating(ColumnSpec(format=formats[0], latest_year=year))


def describe_century(latest_year: int, topic: str) -> str:
    """Describe which years two digits mean, and why."""
    years = f"{latest_year % 100:02} is {latest_year}, {(latest_year + 1) % 100:02} is {latest_year - 99}"
    why = "no birth lies in the future" if topic == "birth" else "its dates lie closest together so"
    return f"two digits: {years}, as {why}; say another year if that is wrong"
