"""How the cells of a column spell values: marks of numbers, formats of dates, texts that mean missing.

`infer_spelling` says how as far as the cells leave no doubt, `find_ambiguities` what else they could mean, and
`to_canonical_texts` rewrites them
as `hushtable.columns.column` reads them: with a point, ISO dates, missing cells empty.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple, TypeVar

import polars as pl

from hushtable.columns.cells import SUPPRESSED
from hushtable.columns.column import Column, ColumnSpec
from hushtable.columns.date_formats import EXCEL, has_two_digits, precision_of, read_moments, to_iso
from hushtable.columns.item_sets import canonical_set_text

_FEWEST_NUMBERS: Final = 3
_MIN_SHARE_OF_NUMBERS: Final = 0.9  # of the filled cells, numbers
_CELLS_IN_SAMPLE: Final = 1_000  # cells that tell whether a column is of numbers
_MAX_ODD_TEXTS: Final = 3  # texts among them
_HALF_OF_CENTURY: Final = 50

Key = TypeVar("Key")

_SIGNS: Final = re.compile(r"[^\w]|_")


class _Marks(NamedTuple):
    """The marks of numbers."""

    decimal: str
    thousands: str | None


_POINT_ALONE: Final = _Marks(".", None)
_SPACES: Final = " \u00a0\u202f"
_MARKS: Final = tuple(_Marks(d, t) for d in ".," for t in (None, ".", ",", " ", "'") if t != d)
_NUMBERLIKE: Final = re.compile(rf"[+-]?[0-9][0-9.,'{_SPACES}]*([eE][+-]?[0-9]+)?", re.ASCII)
_OTHER_MARKS: Final = rf"[,'{_SPACES}]|\..*\."
"""What no number holds that is written with a point and nothing else."""

_ISO: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_PATTERNS: Final = {
    **{f"%{letter}": "[0-9]{1,2}" for letter in "dmHIMS"},
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%q": "[1-4]",
    "%b": r"\p{L}{3,10}\.?",
    "%B": r"\p{L}{3,10}",
    "%p": r"(?i:[ap]\.?\s?m\.?)",
    "%z": r"(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})",
}
"""Texts of the directives of common formats, as polars has patterns; several offsets may stand in one column."""
_WORD_OR_NUMBER: Final = re.compile(r"[^\W\d_]+\.?|[0-9]+")
_OFFSET: Final = re.compile(r"(?<=:[0-9]{2})(\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})$", re.ASCII)
_HALF_OF_DAY: Final = re.compile(r"[ap]\.?\s?m\.?$", re.ASCII | re.IGNORECASE)
_FIRST_AND_LAST_YEAR: Final = 1900, 2100
"""Years of months, quarters and digits that are taken for dates: 07/1011 may be the number of a file."""


@cache
def _common_formats() -> Mapping[str, tuple[str, ...]]:
    """Return the common date formats by the shape of their texts; ISO needs none."""
    orders = [order for sign in "./-" for order in (f"%d{sign}%m{sign}", f"%m{sign}%d{sign}")]
    numbers = [f"{order}{year}" for order in orders for year in _YEARS]
    numbers += [f"{year}{sign}%m{sign}%d" for sign in "./-" for year in _YEARS]
    numbers += ["%d. %m. %Y", "%d. %m. %y", "%Y年%m月%d日", "%Y년 %m월 %d일"]
    names = [f"%d{sign}%b{sign}{year}" for sign in (" ", "-", "/", "") for year in _YEARS]
    names += ["%d. %b %Y", "%d.%b.%Y", "%b %d, %Y", "%d de %b de %Y"]
    days = [*numbers, *names, *(name.replace("%b", "%B") for name in names)]
    clocks = [clock for hours in _CLOCKS for clock in (hours, hours.replace("%M", "%M:%S"))]
    moments = [f"{day}{between}{clock}" for day in days for between in " T" for clock in clocks]
    moments += [f"%d%b%Y:{clock}" for clock in clocks]
    moments += [f"%Y-%m-%d{between}{clock}%z" for between in " T" for clock in clocks if "%p" not in clock]
    months = ["%m/%Y", "%m-%Y", "%Y-%m", "%Y/%m", "%Y年%m月", "%b-%y", "%B-%y"]
    months += [f"{name}{sign}%Y" for sign in (" ", "-", "/", "") for name in ("%b", "%B")]
    quarters = [f"%Y{sign}{letter}%q" for letter in "QT" for sign in ("-", " ", "/")]
    quarters += [f"{letter}%q{sign}%Y" for letter in "QT" for sign in ("-", " ", "/")]
    quarters += ["%YQ%q", "%q. Quartal %Y", "%qe kwartaal %Y"]
    found: dict[str, list[str]] = {}
    for format_ in (*days, *moments, *months, *quarters):
        found.setdefault(_text_shape(_DIRECTIVE.sub(_write_sample, format_)), []).append(format_)
    return {shape: tuple(formats) for shape, formats in found.items()}


_YEARS: Final = "%Y", "%y"
_CLOCKS: Final = "%H:%M", "%I:%M %p", "%I:%M%p"
_DIRECTIVE: Final = re.compile("%[a-zA-Z]")


def _write_sample(directive: re.Match[str]) -> str:
    return {"%b": "May", "%B": "May", "%p": "AM", "%z": "Z"}.get(directive[0], "10")


def _text_shape(text: str) -> str:
    """Return the shape of a text: one character for each word and number."""
    text = _HALF_OF_DAY.sub("M", _OFFSET.sub("Z", text))
    return _WORD_OR_NUMBER.sub(lambda part: "9" if part[0].isdigit() else "a", text)


def _pattern_of_format(format_: str) -> str:
    pattern = _DIRECTIVE.sub(lambda directive: _PATTERNS[directive[0]], re.escape(format_))
    return f"^(?:{pattern})$"


def infer_spelling(series: pl.Series, spec: ColumnSpec) -> ColumnSpec:
    """Complete a spec by the spelling of a text column's cells, if that is certain; declared settings go first."""
    texts = _informative_texts(series, spec)
    if texts is None:
        return spec
    formats = _fitting_formats(texts, spec)
    if formats:
        is_settled = len(formats) == 1 and not _asks_for_century(formats[0], spec)
        return replace(spec, format=formats[0]) if is_settled else spec
    marks = _fitting_marks(texts, spec)
    if len(marks) != 1 or marks[0] == _POINT_ALONE:
        return spec
    return replace(spec, decimal=marks[0].decimal, thousands=marks[0].thousands)


def find_ambiguities(
    series: pl.Series, spec: ColumnSpec, *, points_may_group: bool = False
) -> tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]]:
    """Return the possible date formats and marks of numbers of a text column, if several fit.

    ``1.234`` is a number with a decimal point, unless points may group digits: then it may be 1234 as well.
    """
    if points_may_group and _is_grouped_by_points(series, spec):
        return (), (_POINT_ALONE, _Marks(",", "."))
    texts = _informative_texts(series, spec)
    if texts is None:
        return (), ()
    formats = _fitting_formats(texts, spec)
    if formats:
        return (formats, ()) if len(formats) > 1 or _asks_for_century(formats[0], spec) else ((), ())
    marks = _fitting_marks(texts, spec)
    return (), marks if len(marks) > 1 else ()


def to_canonical_texts(series: pl.Series, spec: ColumnSpec) -> pl.Series:
    """Rewrite the cells of a text column in canonical spelling; texts that do not fit the spec stay."""
    if spec.missing_values:
        series = series.set(series.str.strip_chars().is_in(list(spec.missing_values)).fill_null(False), None)
    if spec.separator is not None:
        texts = series.drop_nulls().unique()
        sets = [canonical_set_text(text, spec.separator, spec.missing_values or ()) for text in texts.to_list()]
        return series.replace_strict(texts, pl.Series(sets, dtype=pl.String), default=None, return_dtype=pl.String)
    is_category = spec.order is not None or spec.kind in ("category", "ordered")
    if is_category or (spec.format is None and spec.decimal is None and spec.thousands is None):
        return series
    texts = series.drop_nulls().unique()
    if spec.format is not None:
        return _replace_texts(series, texts, to_iso(texts, spec.format, spec.latest_year))
    fitting = _fitting_marks(_without_blanks(texts), spec)
    if len(fitting) != 1:
        return series
    return _replace_texts(series, texts, _numbers_with_point(texts, fitting[0]))


def to_numbers_with_point(texts: pl.Series, spec: ColumnSpec) -> pl.Series:
    """Rewrite texts that spell numbers by the declared marks with a point; missing where a text spells none."""
    return _numbers_with_point(texts, _Marks(spec.decimal or _POINT_ALONE.decimal, spec.thousands))


def formats_of_some(texts: pl.Series) -> tuple[str, ...]:
    """Return the formats of dates and moments whose separators occur in some texts."""
    shapes = dict.fromkeys(_text_shape(text) for text in texts.drop_nulls().to_list())
    formats = [each for shape in shapes for each in _common_formats().get(shape, ())]
    return tuple(each for each in formats if texts.str.contains(_pattern_of_format(each)).any())


def number_patterns(spec: ColumnSpec) -> list[str]:
    """Return the patterns of numbers for each pair of marks that a spec allows; the plain one first."""
    return [_number_pattern(marks) for marks in _list_marks(spec)]


def begins_with_numbers(series: pl.Series) -> bool:
    """Tell whether most of the first cells of a text column are numbers, whatever their marks."""
    first = series.drop_nulls().head(_CELLS_IN_SAMPLE).str.strip_chars()
    return 2 * int(first.str.contains(f"^(?:{_NUMBERLIKE.pattern})$").sum()) > len(first)


def count_odd_texts(series: pl.Series) -> dict[str, int]:
    """Count the few texts among the numbers of a column, such as ``N/A``, text by text.

    Nothing is counted where the column holds numbers only, or fewer than nine in ten cells are numbers.
    """
    if not isinstance(series.dtype, pl.String):
        return {}
    filled = series.str.strip_chars()
    filled = filled.filter((filled != "") & (filled != SUPPRESSED))
    is_number = filled.str.contains(f"^(?:{_NUMBERLIKE.pattern})$")
    if is_number.all() or is_number.sum() < _MIN_SHARE_OF_NUMBERS * len(filled):
        return {}
    # A code such as 01234 is no number.
    numbers, odd = filled.filter(is_number), filled.filter(~is_number).rename("text")
    if numbers.str.contains("^0[0-9]").any() or numbers.n_unique() < _FEWEST_NUMBERS or odd.n_unique() > _MAX_ODD_TEXTS:
        return {}
    return dict(odd.value_counts(sort=True, name="n").iter_rows())


def count_near_duplicates(column: Column) -> int:
    """Count the values of a category that differ from another only in case, spaces or width."""
    if column.is_measured:
        return 0
    folded = {" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in column.values.tolist()}
    return column.n_values - len(folded)


def fold_text(text: str) -> str:
    """Fold a text: no case, accents or punctuation, and one space between words."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_SIGNS.sub(" ", "".join(c for c in plain if not unicodedata.combining(c))).split())


def _informative_texts(series: pl.Series, spec: ColumnSpec) -> pl.Series | None:
    """Return the distinct texts that show a column's spelling; None if there is nothing to infer."""
    if spec.format is not None or spec.order is not None or spec.kind in ("category", "ordered"):
        return None
    if spec.missing_values:
        series = to_canonical_texts(series, ColumnSpec(missing_values=spec.missing_values))
    first = _find_filled_text(series)
    if first is None:
        return None
    if _NUMBERLIKE.fullmatch(first) and not series.str.strip_chars().str.contains(_OTHER_MARKS).any():
        return None
    if not _NUMBERLIKE.fullmatch(first) and _text_shape(first) not in _common_formats():
        return None
    return _without_blanks(series.drop_nulls().unique())


def _find_filled_text(series: pl.Series) -> str | None:
    """Return the first text that is neither blank nor suppressed, without blanks at its ends."""
    # Few columns begin with so many empty cells.
    for part in (series.head(_CELLS_IN_SAMPLE), series):
        texts = part.drop_nulls().str.strip_chars()
        filled = texts.filter((texts != "") & (texts != SUPPRESSED))
        if len(filled):
            return str(filled[0])
    return None


def _is_grouped_by_points(series: pl.Series, spec: ColumnSpec) -> bool:
    """Tell whether all texts are integers with points as thousands marks, and some only then."""
    if (
        spec.kind not in (None, "integer", "decimal")
        or spec.order is not None
        or not series.str.contains(".", literal=True).any()
    ):
        return False
    texts = _without_blanks(
        to_canonical_texts(series, ColumnSpec(missing_values=spec.missing_values)).drop_nulls().unique()
    )
    # The point may occur only in the text of a missing value.
    grouped = texts.str.contains(r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})*$")
    return bool(texts.str.contains(".", literal=True).any()) and bool(grouped.all())


def _without_blanks(texts: pl.Series) -> pl.Series:
    stripped = texts.str.strip_chars().unique()
    return stripped.filter((stripped != "") & (stripped != SUPPRESSED))


def _fitting_formats(texts: pl.Series, spec: ColumnSpec) -> tuple[str, ...]:
    """Return the formats that fit all texts, only one of equivalent ones."""
    if not len(texts) or spec.kind in ("integer", "decimal", "time"):
        return ()
    formats = _common_formats().get(_text_shape(texts[0]), ())
    if formats and texts.str.contains(_ISO).all():
        # Other ISO texts are parsed without a format.
        formats = tuple(each for each in formats if "%z" in each or "%p" in each)
    fitting = [each for each in formats if texts.str.contains(_pattern_of_format(each)).all()]
    read = {each: read_moments(texts, each, spec.latest_year) for each in fitting}
    return _drop_equal_readings({each: moments for each, moments in read.items() if _are_dates(moments, each)})


def _are_dates(moments: pl.Series, format_: str) -> bool:
    """Tell whether all texts of a column were parsed as dates, and are no other numbers."""
    if moments.null_count():
        return False
    if precision_of(format_) == "day":
        return True
    years, months = moments.dt.year(), moments.dt.month()
    # 2010/11 may also be a school year.
    return bool(years.is_between(*_FIRST_AND_LAST_YEAR).all()) and not bool(((years + 1) % 100 == months).all())


def _asks_for_century(format_: str, spec: ColumnSpec) -> bool:
    return has_two_digits(format_) and spec.latest_year is None


def date_formats_of_digits(series: pl.Series) -> tuple[str, ...]:
    """Return the date formats by which all texts of a column of digits are dates from 1900 to 2100.

    Nothing but the column's name can tell that they are dates.
    """
    texts = _without_blanks(series.drop_nulls().unique())
    moments_by_format = {}
    for format_, pattern in _PATTERNS_OF_DIGITS.items() if len(texts) else ():
        if texts.str.contains(pattern).all():
            moments = read_moments(texts, format_)
            if not moments.null_count() and moments.dt.year().is_between(*_FIRST_AND_LAST_YEAR).all():
                moments_by_format[format_] = moments
    return _drop_equal_readings(moments_by_format)


_PATTERNS_OF_DIGITS: Final = {
    "%Y%m%d": "^[0-9]{8}$",
    "%d%m%Y": "^[0-9]{7,8}$",
    "%m%d%Y": "^[0-9]{7,8}$",
    "%m.%Y": r"^[0-9]{1,2}\.[0-9]{4}$",
    "%Y": "^[0-9]{4}$",
    EXCEL: r"^[0-9]{4,5}(\.0)?$",
}


def latest_year_of(series: pl.Series, format_: str, this_year: int, *, is_birth: bool) -> int:
    """Propose the latest year for a column of two-digit years.

    Births are never in the future. Other dates are read so that they stay together, where most of a century
    has none of them: 98, 03 and 27 are of 1998 to 2027.
    """
    years = (
        read_moments(_without_blanks(series.drop_nulls()), format_, this_year).dt.year().drop_nulls().unique().sort()
    )
    if is_birth or not len(years):
        return this_year
    # The century ends at the longest gap without dates: years before the gap belong to the later century.
    gap, year = max((after - year, year) for year, after in itertools.pairwise([*years.to_list(), years[0] + 100]))
    is_ahead = gap >= _HALF_OF_CENTURY and year < years[-1]
    return year + 100 if is_ahead else this_year


def _fitting_marks(texts: pl.Series, spec: ColumnSpec) -> tuple[_Marks, ...]:
    """Return the marks by which all texts are numbers, only one of equivalent ones."""
    if not len(texts) or spec.kind in ("date", "datetime", "time"):
        return ()
    fitting = [marks for marks in _list_marks(spec) if texts.str.contains(_number_pattern(marks)).all()]
    return _drop_equal_readings({marks: _with_point(texts, marks) for marks in fitting})


def _list_marks(spec: ColumnSpec) -> list[_Marks]:
    return [
        marks for marks in _MARKS if spec.decimal in (None, marks.decimal) and spec.thousands in (None, marks.thousands)
    ]


def _drop_equal_readings(read: dict[Key, pl.Series]) -> tuple[Key, ...]:
    """Return the first of the formats or marks that give the same values."""
    kept: dict[Key, pl.Series] = {}
    for key, values in read.items():
        if not any(values.equals(other) for other in kept.values()):
            kept[key] = values
    return tuple(kept)


def _number_pattern(marks: _Marks) -> str:
    groups = "" if marks.thousands is None else f"|[1-9][0-9]{{0,2}}(?:{_mark_pattern(marks.thousands)}[0-9]{{3}})+"
    return rf"^[+-]?(?:0|[1-9][0-9]*{groups})(?:{_mark_pattern(marks.decimal)}[0-9]+)?(?:[eE][+-]?[0-9]{{1,3}})?$"


def _mark_pattern(mark: str) -> str:
    return f"[{_SPACES}]" if mark == " " else re.escape(mark)


def _with_point(texts: pl.Series, marks: _Marks) -> pl.Series:
    texts = texts.str.strip_chars()
    plain = texts if marks.thousands is None else texts.str.replace_all(_mark_pattern(marks.thousands), "")
    return plain.str.replace(marks.decimal, ".", literal=True)


def _numbers_with_point(texts: pl.Series, marks: _Marks) -> pl.Series:
    is_number = texts.str.strip_chars().str.contains(_number_pattern(marks))
    return _with_point(texts, marks).set(~is_number, None)


def _replace_texts(series: pl.Series, texts: pl.Series, new: pl.Series) -> pl.Series:
    return series.replace(texts, new.zip_with(new.is_not_null(), texts))
