"""Formats of dates beyond `datetime.strptime`, rewritten as formats that it reads.

============  ==========================================================================================
in a format   reads
============  ==========================================================================================
``%B``        the name of a month in English, German, French, Spanish, Italian or Dutch, in any case
``%b``        its abbreviation, with or without a point behind it
``%q``        a quarter from 1 to 4: ``%Y-Q%q``, ``%q. Quartal %Y``
``%p``        also am, a.m. and a. m.
no day        a month (``%m/%Y``), a quarter or a year (``%Y``): a date of that precision
``excel``     the serial number of a day in Excel: 15984 is 1943-10-05
============  ==========================================================================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import polars as pl

# Of each month: names, then abbreviations, in several languages.
_NAMES: Final = """\
january januar jänner jaenner janvier enero gennaio januari | jan jän janv ene gen
february februar feber février febrero febbraio februari | feb févr fév
march märz maerz mars marzo maart | mar mär mrz märz maerz mars mrt
april avril abril aprile | apr avr abr
may mai mayo maggio mei | may mai mag mei
june juni juin junio giugno | jun juni juin giu
july juli juillet julio luglio | jul juli juil lug
august août agosto augustus | aug août ago
september septembre septiembre setiembre settembre | sep sept set
october oktober octobre octubre ottobre | oct okt ott
november novembre noviembre | nov
december dezember décembre diciembre dicembre | dec dez déc dic
"""
_NON_LETTER: Final = r"[^\p{L}]"
_LAST_SERIAL: Final = 2_958_465  # 9999-12-31
_NO_DAY: Final = 60  # 29 February 1900, which Excel counts and which never was


def to_strptime(texts: pl.Series, format_: str, precision: str) -> tuple[pl.Series, str]:
    """Rewrite texts and their format for the standard library; null if a text has no known month.

    A month, quarter or year, as the precision says, becomes its first day.
    """
    if "%q" in format_:
        return _quarters_as_months(texts, format_)
    for directive in ("%b", "%B"):
        if directive in format_:
            texts = _number_months(texts, directive, has_point=f"{directive}." in format_)
            # The marks separate the month's digits from neighbouring ones, as in 3Feb1942.
            format_ = format_.replace(directive, "|%m|")
    if "%p" in format_:
        texts = texts.str.replace(r"(?i)a\.?\s?m\b\.?", "AM").str.replace(r"(?i)p\.?\s?m\b\.?", "PM")
    if precision == "month":
        return texts + "|01", f"{format_}|%d"
    if precision == "year":
        return texts + "|01|01", f"{format_}|%m|%d"
    return _with_leading_zero(texts, format_), format_


def read_serials(texts: pl.Series) -> pl.Series:
    """Parse days as Excel counts them."""
    days = texts.str.extract(r"^([0-9]{1,7})(?:\.0+)?$").cast(pl.Int64)
    days = days.set(~days.is_between(1, _LAST_SERIAL) | (days == _NO_DAY), None)
    from_1970 = days - (days > _NO_DAY).cast(pl.Int64) - 25_568
    return from_1970.cast(pl.Int32).cast(pl.Date).cast(pl.Datetime("us"))


@cache
def _month_numbers(directive: str) -> Mapping[str, str]:
    """Return the months' numbers by name, or by abbreviation, with and without accents."""
    numbers: dict[str, str] = {}
    for number, line in enumerate(_NAMES.splitlines(), 1):
        names, abbreviations = line.split("|")
        for name in (names if directive == "%B" else abbreviations).split():
            plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
            numbers |= {name: f"{number:02}", plain: f"{number:02}"}
    return MappingProxyType(numbers)


def _number_months(texts: pl.Series, directive: str, *, has_point: bool) -> pl.Series:
    numbers = _month_numbers(directive)
    names = "|".join(sorted(numbers, key=len, reverse=True))
    point = "" if has_point or directive == "%B" else r"\.?"
    pattern = rf"(?i)^(|.*{_NON_LETTER})({names}){point}(|{_NON_LETTER}.*)$"
    parts = texts.str.normalize("NFC").str.extract_groups(pattern).struct
    number = parts.field("2").str.to_lowercase().replace_strict(numbers, default=None, return_dtype=pl.String)
    return parts.field("1") + "|" + number + "|" + parts.field("3")


def _quarters_as_months(texts: pl.Series, format_: str) -> tuple[pl.Series, str]:
    year = "%Y" if "%Y" in format_ else "%y"
    pattern = re.escape(format_).replace("%q", "(?P<quarter>[1-4])")
    pattern = pattern.replace(year, f"(?P<year>[0-9]{{{4 if year == '%Y' else 2}}})")
    parts = texts.str.extract_groups(f"^{pattern}$").struct
    month = (parts.field("quarter").cast(pl.Int64) * 3 - 2).cast(pl.String).str.zfill(2)
    return parts.field("year") + "|" + month + "|01", f"{year}|%m|%d"


def _with_leading_zero(texts: pl.Series, format_: str) -> pl.Series:
    """Restore the leading zero that a program removed from a date of digits: 5101943 becomes 05101943."""
    if not re.fullmatch("(%d%m|%m%d)%[Yy]", format_):
        return texts
    width = 8 if format_.endswith("Y") else 6
    # A missing text stays missing.
    is_short = texts.str.contains(rf"^[0-9]{{{width - 1}}}$").fill_null(False)
    return ("0" + texts).zip_with(is_short, texts)
