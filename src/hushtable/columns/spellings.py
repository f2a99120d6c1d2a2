"""How the cells of a column spell values: marks of numbers, formats of dates, texts that mean missing.

`found` says how a column is spelled as far as its cells leave no doubt, `doubts` what else they could mean,
and `canonical` rewrites them as `hushtable.columns.column` reads them: with a point, ISO dates, missing cells empty.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

import polars as pl

from hushtable.columns.cells import SUPPRESSED
from hushtable.columns.column import Column, ColumnSpec
from hushtable.columns.date_formats import has_time, read_moments
from hushtable.columns.item_sets import set_text

__all__ = [
    "begins_with_numbers",
    "canonical",
    "count_near_duplicates",
    "count_odd_texts",
    "doubts",
    "fold",
    "formats_of_some",
    "found",
    "number_patterns",
]

_FEWEST_NUMBERS: Final = 3
_MOSTLY: Final = 0.9  # of the filled cells, numbers
_LOOKED_AT: Final = 1_000  # cells that tell whether a column is of numbers
_FEW_ODD: Final = 3  # texts among them

Key = TypeVar("Key")

_SIGNS: Final = re.compile(r"[^\w]|_")


class _Marks(NamedTuple):
    """How numbers are written."""

    decimal: str
    thousands: str | None


_PLAIN: Final = _Marks(".", None)
_SPACES: Final = " \u00a0\u202f"
_MARKS: Final = tuple(_Marks(d, t) for d in ".," for t in (None, ".", ",", " ", "'") if t != d)
_NUMBERLIKE: Final = re.compile(rf"[+-]?[0-9][0-9.,'{_SPACES}]*([eE][+-]?[0-9]+)?", re.ASCII)
_MARKED: Final = rf"[,'{_SPACES}]|\..*\."
"""What no number holds that is written with a point and nothing else."""

_DAY: Final = "[0-9]{1,2}"
_MONTH: Final = "[A-Za-z]{3,9}"
_YEAR: Final = "[0-9]{4}"
_ISO: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCKS: Final = {
    f"{between}[0-9]{{1,2}}:[0-9]{{2}}{seconds}": f"{between}%H:%M{clock}"
    for between in " T"
    for seconds, clock in (("", ""), (":[0-9]{2}", ":%S"))
}


def _days() -> dict[str, tuple[str, ...]]:
    """Return the patterns of dates in text, each with the formats that it may be of."""
    days = {}
    for sign in "./-":
        one = re.escape(sign)
        orders = f"%d{sign}%m{sign}", f"%m{sign}%d{sign}"
        days[f"{_DAY}{one}{_DAY}{one}{_YEAR}"] = tuple(f"{order}%Y" for order in orders)
        days[f"{_DAY}{one}{_DAY}{one}[0-9]{{2}}"] = (*(f"{order}%y" for order in orders), f"%y{sign}%m{sign}%d")
        days[f"{_YEAR}{one}{_DAY}{one}{_DAY}"] = (f"%Y{sign}%m{sign}%d",)
    for sign in " -":
        days[f"{_DAY}{sign}{_MONTH}{sign}{_YEAR}"] = tuple(f"%d{sign}{month}{sign}%Y" for month in ("%b", "%B"))
    days[f"{_MONTH} {_DAY}, {_YEAR}"] = ("%b %d, %Y", "%B %d, %Y")
    return days


_OFFSET: Final = "(?:Z|[+-][0-9]{2}:?[0-9]{2})"
_ZONED: Final = {
    f"{_ISO[1:]}{between}[0-9]{{2}}:[0-9]{{2}}{seconds}{_OFFSET}": (f"%Y-%m-%d{between}%H:%M{clock}%z",)
    for between in " T"
    for seconds, clock in (("", ""), (r":[0-9]{2}(?:\.[0-9]{1,9})?", ":%S"))
}
"""Moments in ISO with an offset from UTC; several offsets may stand in one column."""

_DATES: Final = _ZONED | {
    day + time: tuple(each + clock for each in formats)
    for day, formats in _days().items()
    for time, clock in {"": "", **_CLOCKS}.items()
}


def found(series: pl.Series, spec: ColumnSpec) -> ColumnSpec:
    """Complete a spec by how the cells of a text column are spelled, where they leave no doubt.

    Parameters
    ----------
    series : polars.Series of text
    spec : ColumnSpec
        What was said of the column; it is never overruled.

    Examples
    --------
    >>> found(pl.Series(["31.01.2023", "1.2.2023"]), ColumnSpec()).format
    '%d.%m.%Y'
    >>> spec = found(pl.Series(["1.234,50", "7"]), ColumnSpec())
    >>> spec.decimal, spec.thousands
    (',', '.')
    """
    texts = _telling(series, spec)
    if texts is None:
        return spec
    formats = _formats(texts, spec)
    if formats:
        is_settled = len(formats) == 1 and "%y" not in formats[0]
        return replace(spec, format=formats[0]) if is_settled else spec
    marks = _marks(texts, spec)
    if len(marks) != 1 or marks[0] == _PLAIN:
        return spec
    return replace(spec, decimal=marks[0].decimal, thousands=marks[0].thousands)


def doubts(
    series: pl.Series, spec: ColumnSpec, *, points_may_group: bool = False
) -> tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]]:
    """Return what the cells of a text column could mean where it is not settled: formats of dates, marks of numbers.

    ``1.234`` is a number with a decimal point, unless points may group digits: then it may be 1234 as well.
    """
    if points_may_group and _is_grouped_by_points(series, spec):
        return (), (_PLAIN, _Marks(",", "."))
    texts = _telling(series, spec)
    if texts is None:
        return (), ()
    formats = _formats(texts, spec)
    if formats:
        return (formats, ()) if len(formats) > 1 or "%y" in formats[0] else ((), ())
    marks = _marks(texts, spec)
    return (), marks if len(marks) > 1 else ()


def canonical(series: pl.Series, spec: ColumnSpec) -> pl.Series:
    """Rewrite the cells of a text column as values are written here; a text that is not of the spelling stays.

    Examples
    --------
    >>> canonical(pl.Series(["1,50", "NA"]), ColumnSpec(decimal=",", missing_values=("NA",))).to_list()
    ['1.50', None]
    >>> canonical(pl.Series(["31.1.2023"]), ColumnSpec(format="%d.%m.%Y")).to_list()
    ['2023-01-31']
    >>> canonical(pl.Series(["2023-01-31T08:15+02:00"]), ColumnSpec(format="%Y-%m-%dT%H:%M%z")).to_list()
    ['2023-01-31 06:15:00.000000']
    >>> canonical(pl.Series(["I10; E11;I10"]), ColumnSpec(separator=";")).to_list()
    ['E11;I10']
    """
    if spec.missing_values:
        series = series.set(series.str.strip_chars().is_in(list(spec.missing_values)).fill_null(False), None)
    if spec.separator is not None:
        texts = series.drop_nulls().unique()
        sets = [set_text(text, spec.separator, spec.missing_values or ()) for text in texts.to_list()]
        return series.replace_strict(texts, pl.Series(sets, dtype=pl.String), default=None, return_dtype=pl.String)
    is_category = spec.order is not None or spec.kind in ("category", "ordered")
    if is_category or (spec.format is None and spec.decimal is None and spec.thousands is None):
        return series
    texts = series.drop_nulls().unique()
    if spec.format is not None:
        return _replaced(series, texts, _moments(texts, spec.format))
    fitting = _marks(_filled(texts), spec)
    if len(fitting) != 1:
        return series
    is_number = texts.str.strip_chars().str.contains(_pattern(fitting[0]))
    return _replaced(series, texts, _with_point(texts, fitting[0]).set(~is_number, None))


def formats_of_some(texts: pl.Series) -> tuple[str, ...]:
    """Return the formats of dates and moments by whose signs some texts are written.

    Examples
    --------
    >>> formats_of_some(pl.Series(["31.02.2023", "x"]))
    ('%d.%m.%Y', '%m.%d.%Y')
    """
    is_used = (texts.str.contains(f"^(?:{pattern})$").any() for pattern in _DATES)
    return tuple(each for formats, used in zip(_DATES.values(), is_used, strict=True) if used for each in formats)


def number_patterns(spec: ColumnSpec) -> list[str]:
    """Return the patterns of numbers, one for each pair of marks that a spec allows; the plain one first.

    Examples
    --------
    >>> len(number_patterns(ColumnSpec())), len(number_patterns(ColumnSpec(decimal=",", thousands=".")))
    (8, 1)
    """
    return [_pattern(marks) for marks in _list_marks(spec)]


def begins_with_numbers(series: pl.Series) -> bool:
    """Tell whether most of the first cells of a text column are numbers, whatever their marks.

    Examples
    --------
    >>> begins_with_numbers(pl.Series(["1,5", "2", "x"])), begins_with_numbers(pl.Series(["x", "1"]))
    (True, False)
    """
    first = series.drop_nulls().head(_LOOKED_AT).str.strip_chars()
    return 2 * int(first.str.contains(f"^(?:{_NUMBERLIKE.pattern})$").sum()) > len(first)


def count_odd_texts(series: pl.Series) -> dict[str, int]:
    """Count the few texts among the numbers of a column, such as ``N/A``, text by text.

    Nothing is counted where the column holds numbers only, or fewer than nine in ten cells are numbers.

    Examples
    --------
    >>> count_odd_texts(pl.Series([*map(str, range(20)), "N/A"]))
    {'N/A': 1}
    """
    if not isinstance(series.dtype, pl.String):
        return {}
    filled = series.str.strip_chars()
    filled = filled.filter((filled != "") & (filled != SUPPRESSED))
    is_number = filled.str.contains(f"^(?:{_NUMBERLIKE.pattern})$")
    if is_number.all() or is_number.sum() < _MOSTLY * len(filled):
        return {}
    # A code such as 01234 is no number.
    numbers, odd = filled.filter(is_number), filled.filter(~is_number).rename("text")
    if numbers.str.contains("^0[0-9]").any() or numbers.n_unique() < _FEWEST_NUMBERS or odd.n_unique() > _FEW_ODD:
        return {}
    return dict(odd.value_counts(sort=True, name="n").iter_rows())


def count_near_duplicates(column: Column) -> int:
    """Count the values of a category that differ from another only in case, spaces or width.

    Examples
    --------
    >>> from hushtable.columns.column import from_texts
    >>> count_near_duplicates(from_texts("sex", ["F", "f ", "\uff26", "m"])[0])
    2
    """
    if column.is_measured:
        return 0
    folded = {" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in column.values.tolist()}
    return column.n_values - len(folded)


def fold(text: str) -> str:
    """Return a text without case, accents and marks, words with one space between them.

    Examples
    --------
    >>> fold("Côte-d'Ivoire"), fold("?")
    ('cote d ivoire', '')
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_SIGNS.sub(" ", "".join(c for c in plain if not unicodedata.combining(c))).split())


def _telling(series: pl.Series, spec: ColumnSpec) -> pl.Series | None:
    """Return the distinct texts that say how a column is spelled; None where nothing is to be found."""
    if spec.format is not None or spec.order is not None or spec.kind in ("category", "ordered"):
        return None
    if spec.missing_values:
        series = canonical(series, ColumnSpec(missing_values=spec.missing_values))
    series = series.str.strip_chars()
    place = ((series != "") & (series != SUPPRESSED)).arg_max()
    first = None if place is None else series[place]
    if not first or first == SUPPRESSED:
        return None
    if _NUMBERLIKE.fullmatch(first) and not series.str.contains(_MARKED).any():
        return None
    if not _NUMBERLIKE.fullmatch(first) and not any(re.fullmatch(pattern, first) for pattern in _DATES):
        return None
    return _filled(series.drop_nulls().unique())


def _is_grouped_by_points(series: pl.Series, spec: ColumnSpec) -> bool:
    """Tell whether all texts are whole numbers if points group their digits, some of them only then."""
    if (
        spec.kind not in (None, "integer", "decimal")
        or spec.order is not None
        or not series.str.contains(".", literal=True).any()
    ):
        return False
    texts = _filled(canonical(series, ColumnSpec(missing_values=spec.missing_values)).drop_nulls().unique())
    # A point may have stood in the text of a missing value alone.
    grouped = texts.str.contains(r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})*$")
    return bool(texts.str.contains(".", literal=True).any()) and bool(grouped.all())


def _filled(texts: pl.Series) -> pl.Series:
    stripped = texts.str.strip_chars().unique()
    return stripped.filter((stripped != "") & (stripped != SUPPRESSED))


def _formats(texts: pl.Series, spec: ColumnSpec) -> tuple[str, ...]:
    """Return the formats of which all texts are, one of those that mean the same."""
    if not len(texts) or spec.kind in ("integer", "decimal", "time"):
        return ()
    for pattern, formats in (_ZONED if texts.str.contains(_ISO).all() else _DATES).items():
        if re.fullmatch(pattern, texts[0]) and texts.str.contains(f"^(?:{pattern})$").all():
            read = {each: read_moments(texts, each) for each in formats}
            return _different({each: moments for each, moments in read.items() if not moments.null_count()})
    return ()


def _marks(texts: pl.Series, spec: ColumnSpec) -> tuple[_Marks, ...]:
    """Return the marks by which all texts are numbers, one of those that mean the same."""
    if not len(texts) or spec.kind in ("date", "datetime", "time"):
        return ()
    fitting = [marks for marks in _list_marks(spec) if texts.str.contains(_pattern(marks)).all()]
    return _different({marks: _with_point(texts, marks) for marks in fitting})


def _list_marks(spec: ColumnSpec) -> list[_Marks]:
    return [
        marks for marks in _MARKS if spec.decimal in (None, marks.decimal) and spec.thousands in (None, marks.thousands)
    ]


def _different(read: dict[Key, pl.Series]) -> tuple[Key, ...]:
    """Return the first of those that read the same."""
    kept: dict[Key, pl.Series] = {}
    for key, values in read.items():
        if not any(values.equals(other) for other in kept.values()):
            kept[key] = values
    return tuple(kept)


def _pattern(marks: _Marks) -> str:
    groups = "" if marks.thousands is None else f"|[1-9][0-9]{{0,2}}(?:{_sign(marks.thousands)}[0-9]{{3}})+"
    return rf"^[+-]?(?:0|[1-9][0-9]*{groups})(?:{_sign(marks.decimal)}[0-9]+)?(?:[eE][+-]?[0-9]{{1,3}})?$"


def _sign(mark: str) -> str:
    return f"[{_SPACES}]" if mark == " " else re.escape(mark)


def _with_point(texts: pl.Series, marks: _Marks) -> pl.Series:
    texts = texts.str.strip_chars()
    plain = texts if marks.thousands is None else texts.str.replace_all(_sign(marks.thousands), "")
    return plain.str.replace(marks.decimal, ".", literal=True)


def _moments(texts: pl.Series, format_: str) -> pl.Series:
    """Write dates and moments in ISO; null where a text is none of the format."""
    has_decimals = "%f" in format_ or "%z" in format_
    clock = (" %H:%M:%S%.6f" if has_decimals else " %H:%M:%S") if has_time(format_) else ""
    return read_moments(texts, format_).dt.to_string(f"%Y-%m-%d{clock}")


def _replaced(series: pl.Series, texts: pl.Series, new: pl.Series) -> pl.Series:
    return series.replace(texts, new.zip_with(new.is_not_null(), texts))
