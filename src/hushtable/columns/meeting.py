"""How one column of several tables meets: equal values get one spelling, whichever program wrote each table.

The first table is the reference: its values keep their spelling, and are never merged: what is unique in it stays so.
First, what programs write for a missing cell (``NaN``, ``NULL``) is missing where the reference does not hold it. Then
others are read as the reference is, in this order: booleans (``True``, ``t``, ``yes`` and 1 are one value, where one of
the columns has a word for it); text as numbers, dates or times, where one column holds such or all could; values that
differ in blanks, case, width or Unicode form alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray
from hushtable.columns.cells import parse_cell, with_first_days
from hushtable.columns.column import Column, ColumnSpec, Kind, from_texts, value_text
from hushtable.columns.spellings import find_ambiguities, infer_spelling, to_canonical_texts
from hushtable.errors import ColumnError

_WHOLE_NUMBER: Final = re.compile(r"0*([0-9]+)(?:\.0+)?", re.ASCII)
_NUMBERS: Final = frozenset({"integer", "decimal"})
_FAMILIES: Final[tuple[frozenset[str], ...]] = (_NUMBERS, frozenset({"date", "datetime"}), frozenset({"time"}))
_MISSING_MARKS: Final = frozenset(
    ("NaN", "nan", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaT", "None", "none", "NULL", "Null", "null", "nil", ".")
)
"""What programs write where a cell is missing."""

_TRUTH_BY_TEXT: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_MIN_SHARE_READ: Final = 0.5  # of a column's values, so that it is read as another table's kind
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_INTEGER: Final = re.compile(r"-?[0-9]+", re.ASCII)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MIDNIGHT: Final = re.compile(r"[T ]00:00(:00(\.0+)?)?$")
_MOST_DIGITS: Final = 19  # of whole numbers, which have 64 bits
_LONGEST_FORM: Final = 24

Texts = list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """A column of one of the tables, spelled as the tables together spell it."""

    column: Column
    codes: CodeArray  # (n_values + 1,), the new code of each former one. The last entry is the missing value's, -1.


class _Spelled(NamedTuple):
    """The texts of a column by table, and the kinds that all of them are of; None where they are text."""

    texts: Sequence[Texts]
    family: frozenset[str] | None


def fold_spelling(text: str) -> str:
    """Fold the differences between programs: case, width, Unicode form, blanks."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def spell_names_as(reference: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Spell names of persons as a reference does, which another program wrote; others keep their spelling."""
    known = set(reference)
    if not known or known.issuperset(others):
        return others
    name_of = {_fold_name(name): name for name in reference}
    return [name if name in known else name_of.get(_fold_name(name), name) for name in others]


def _fold_name(name: str) -> str:
    """Fold what `fold_spelling` folds, and that 012 and 12.0 are 12."""
    folded = fold_spelling(name)
    number = _WHOLE_NUMBER.fullmatch(folded)
    return number[1] if number else folded


def kinds_of_one_family(columns: Sequence[Column]) -> bool:
    """Tell whether all columns that have values are numbers, or all are dates, or all are times."""
    kinds = {column.kind for column in columns if column.n_values}
    return any(kinds <= family for family in _FAMILIES)


def meet_columns(columns: Sequence[Column], has_missing: Sequence[bool], *, is_text: bool = False) -> list[Met] | None:
    """Spell one column of several tables alike; the first table's is the reference.

    O(n) in the distinct values, and none of them is read where the reference holds all of the others'.
    """
    if any(column.separator is not None for column in columns):
        return None
    if kinds_of_one_family(columns):
        return _meet_days(columns)
    given: list[Texts] = [[*column.texts()] for column in columns]
    texts = _without_marks(given, has_missing)
    if texts == given and _are_alike(columns, texts):
        return None
    for meet in (_meet_booleans, *([] if is_text else [_meet_as_values]), _meet_by_spelling):
        met = meet(columns, texts)
        if met is not None:
            return [
                _rebuild_column(column, spelled, met.family) for column, spelled in zip(columns, met.texts, strict=True)
            ]
    return None


def merge_spellings(column: Column, codes: CodeArray) -> tuple[Column, CodeArray]:
    """Merge values that differ only in spelling into the first one's code; see `fold_spelling`.

    Whoever learns either of them learns the same of a person. Measured values and sets stay as they are.
    """
    if column.is_measured or column.separator is not None:
        return column, codes
    place_of: dict[str, int] = {}
    folded = [place_of.setdefault(fold_spelling(text), len(place_of)) for text in column.texts()]
    if len(place_of) == column.n_values:
        return column, codes
    _, first = np.unique(folded, return_index=True)
    merged = np.array([*folded, -1], dtype=np.int32)
    return replace(column, values=column.values[first]), merged[codes]


def merge_items(items: Sequence[str], holds: BoolArray) -> tuple[list[str], BoolArray]:
    """Merge items that differ only in spelling, given which value holds which; shape (n_items, n_values)."""
    place_of: dict[str, int] = {}
    folded = [place_of.setdefault(fold_spelling(item), len(place_of)) for item in items]
    merged = np.zeros((len(place_of), holds.shape[1]), dtype=bool)
    np.logical_or.at(merged, folded, holds)
    _, first = np.unique(folded, return_index=True)
    return [items[place] for place in first], merged


def form_of(text: str) -> str:
    """Return the form of a text without its own letters: ``9`` for digits, ``a`` and ``A``, others as they are."""
    kinds = (
        "9" if sign.isdigit() else "A" if sign.isupper() else "a" if sign.isalpha() else " " if sign.isspace() else sign
        for sign in text
    )
    form = re.sub(r"(.)\1+", r"\1", "".join(kinds))
    return form if len(form) <= _LONGEST_FORM else f"{form[:_LONGEST_FORM]}..."


def column_of_cell_values(name: str, cells: Iterable[str | None], kind: Kind | None = None) -> Column:
    """Return a column of the values in published cells: values, members of sets, ends of intervals."""
    members: dict[str, None] = {}
    bounds: dict[str, None] = {}
    for cell in cells:
        parsed = None if cell is None else parse_cell(cell)
        if parsed is None or parsed.form == "any":
            continue
        bounds |= dict.fromkeys(end for end in parsed.ends[:2] if end is not None) if parsed.ends else {}
        named = (cell,) if parsed.form == "value" else parsed.members
        members |= dict.fromkeys(text for text in named if text is not None)
    texts = list(dict.fromkeys([*spell_ends(list(bounds), list(members), kind), *members]))
    try:
        return from_texts(name, texts, kind)[0]
    except ColumnError:
        return from_texts(name, texts, "category")[0]


def spell_ends(ends: Sequence[str], values: Sequence[str], kind: str | None) -> list[str]:
    """Format ends of intervals as values of a kind: dates as days, or as months if the values are months."""
    if kind not in ("date", "datetime"):
        return list(ends)
    days = with_first_days(ends)
    try:
        dtype = from_texts("", values, "date")[0].values.dtype if kind == "date" and values else None
        return days if dtype is None else [value_text("date", np.datetime64(day).astype(dtype)) for day in days]
    except (ColumnError, ValueError):
        return days


def _meet_days(columns: Sequence[Column]) -> list[Met] | None:
    """Convert days and moments to what the reference has; None if all columns are of one kind."""
    kind = columns[0].kind
    if {column.kind for column in columns} != {"date", "datetime"}:
        return None
    days = [column.values.astype("datetime64[D]") for column in columns]
    if kind == "date" and any((column.values != day).any() for column, day in zip(columns, days, strict=True)):
        return None
    values = days if kind == "date" else [column.values.astype("datetime64[us]") for column in columns]
    return [
        Met(replace(column, kind=kind, values=new), np.array([*range(len(new)), -1], dtype=np.int32))
        for column, new in zip(columns, values, strict=True)
    ]


def _are_alike(columns: Sequence[Column], texts: Sequence[Texts]) -> bool:
    """Tell whether all columns are text, and the reference holds every value of the others."""
    known = set(texts[0])
    is_text = not any(column.is_measured for column in columns if column.n_values)
    return is_text and all(known.issuperset(others) for others in texts[1:])


def _without_marks(texts: Sequence[Texts], has_missing: Sequence[bool]) -> list[Texts]:
    """Make marks of missing cells missing: words in one table that the others do not hold."""
    known = set(texts[0]) & _MISSING_MARKS
    others = {text for table in texts[1:] for text in table} & _MISSING_MARKS
    if any(has_missing[1:]) or others - known:
        known &= others
    return [[None if text in _MISSING_MARKS and text not in known else text for text in table] for table in texts]


def _meet_booleans(columns: Sequence[Column], texts: Sequence[Texts]) -> _Spelled | None:
    folded = [{fold_spelling(text) for text in table if text is not None} for table in texts]
    is_word = any(not word.isdigit() for table in folded for word in table)
    if not is_word or not all(table <= _TRUTH_BY_TEXT.keys() for table in folded):
        return None
    spelling_of: dict[bool, str] = {}
    for text in (text for table in texts for text in table if text is not None):
        spelling_of.setdefault(_TRUTH_BY_TEXT[fold_spelling(text)], text)
    met = [
        [None if text is None else spelling_of[_TRUTH_BY_TEXT[fold_spelling(text)]] for text in table]
        for table in texts
    ]
    return _Spelled(met, _NUMBERS if columns[0].is_measured and columns[0].n_values == 2 else None)


def _meet_as_values(columns: Sequence[Column], texts: Sequence[Texts]) -> _Spelled | None:
    """Read all tables as numbers, dates or times, as one of them is or all may be."""
    kinds = {column.kind for column in columns if column.is_measured and column.n_values}
    families = {family for family in _FAMILIES if family & kinds}
    if len(families) > 1 or (not families and _is_mostly_in_reference(texts)):
        return None
    if not families and any(_is_code(text) for table in texts for text in table if text is not None):
        return None
    for family in families or _FAMILIES:
        read = _read_alike(columns, texts, family)
        shares = [
            sum(value is not None for value in values) / max(1, sum(text is not None for text in table))
            for values, table in zip(read, texts, strict=True)
            if any(text is not None for text in table)
        ]
        if shares and min(shares) >= (_MIN_SHARE_READ if families else 1.0):
            pairs = [zip(values, table, strict=True) for values, table in zip(read, texts, strict=True)]
            # Texts of no such kind stay as they are.
            met = [[text if value is None else value for value, text in table] for table in pairs]
            return _Spelled(met, family if min(shares) == 1 else None)
    return None


def _is_code(text: str) -> bool:
    """Tell whether a text is digits with a leading zero: a code, unless another table has numbers."""
    return text[:1] == "0" and text.isdecimal() and len(text) > 1


def _is_mostly_in_reference(texts: Sequence[Texts]) -> bool:
    """Tell whether the reference holds at least half of the values of each other table: they meet as texts."""
    known = set(texts[0])
    return all(2 * sum(text in known for text in table) >= len(table) for table in texts[1:])


def _read_alike(columns: Sequence[Column], texts: Sequence[Texts], family: frozenset[str]) -> list[Texts]:
    """Convert texts to canonical values of a family; None for texts that are not."""
    is_measured = [column.is_measured and column.n_values > 0 for column in columns]
    known_values = {
        value
        for table, measured in zip(texts, is_measured, strict=True)
        if measured
        for value in _write_values(table, family)
        if value is not None
    }
    return [
        _write_values(table, family)
        if measured
        else max(_list_readings(table, family), key=lambda values: _count_known(values, known_values))
        for table, measured in zip(texts, is_measured, strict=True)
    ]


def _count_known(values: Texts, known: set[str]) -> tuple[int, int]:
    """Count the values that another table holds, then those that could be parsed."""
    return sum(value in known for value in values), sum(value is not None for value in values)


def _list_readings(texts: Texts, family: frozenset[str]) -> Iterator[Texts]:
    """Yield the possible readings of texts, by the marks and formats that fit them."""
    series = pl.Series([text for text in texts if text is not None], dtype=pl.String).str.strip_chars()
    formats, marks = find_ambiguities(series, ColumnSpec(), points_may_group=True)
    specs = [infer_spelling(series, ColumnSpec())]
    specs += [ColumnSpec(format=format_) for format_ in formats]
    specs += [ColumnSpec(decimal=decimal, thousands=thousands) for decimal, thousands in marks]
    for spec in specs:
        cells = iter(to_canonical_texts(series, spec).to_list())
        yield _write_values([None if text is None else next(cells) for text in texts], family)


def _write_values(texts: Texts, family: frozenset[str]) -> Texts:
    if "integer" in family:
        return [None if text is None else _write_number(text) for text in texts]
    kind: Kind = "time" if "time" in family else "datetime"
    filled = [text for text in texts if text is not None]
    values = dict(zip(filled, _write_moments(filled, kind), strict=True))
    return [None if text is None else values[text] for text in texts]


def _write_number(text: str) -> str | None:
    if not _NUMBER.fullmatch(text):
        return None
    if _INTEGER.fullmatch(text):
        # Longer numbers are keys: as decimals, two of them could become equal.
        return str(int(text)) if len(text) < _MOST_DIGITS else None
    number = float(text)
    return value_text("decimal", number) if np.isfinite(number) else None


def _write_moments(texts: Sequence[str], kind: Kind) -> Texts:
    """Convert moments to one spelling, those at midnight to days; None for other texts."""
    try:
        column, codes = from_texts("", texts, kind)
    except ColumnError:
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return [*_write_moments(texts[:half], kind), *_write_moments(texts[half:], kind)]
    written = [_MIDNIGHT.sub("", text) if kind == "datetime" else text for text in column.texts()]
    return [written[code] if code >= 0 else None for code in codes.tolist()]


def _meet_by_spelling(_: Sequence[Column], texts: Sequence[Texts]) -> _Spelled:
    """Spell texts as in the reference; texts that it lacks, as in the first table that has them."""
    reference_texts = {text for text in texts[0] if text is not None}
    spelling_of: dict[str, str] = {}
    for text in (text for table in texts for text in table if text is not None):
        spelling_of.setdefault(fold_spelling(text), text)
    met = [
        [text if text is None or text in reference_texts else spelling_of[fold_spelling(text)] for text in table]
        for table in texts
    ]
    return _Spelled(met, None)


def _rebuild_column(column: Column, texts: Texts, family: frozenset[str] | None) -> Met:
    """Build a column from the new texts of its values."""
    if column.is_measured and family is None and texts == column.texts():
        return Met(column, np.array([*range(column.n_values), -1], dtype=np.int32))
    filled = list(dict.fromkeys(text for text in texts if text is not None))
    kind = _kind_of(filled, column.kind, family)
    met, codes = from_texts(column.name, filled, kind, filled if kind == "ordered" and filled else None)
    code_of = dict(zip(filled, codes.tolist(), strict=True))
    translated = [-1 if text is None else code_of[text] for text in texts]
    return Met(replace(met, by_rank=column.by_rank), np.array([*translated, -1], dtype=np.int32))


def _kind_of(texts: Sequence[str], former: Kind, family: frozenset[str] | None) -> Kind:
    if family is None:
        return former if former in ("category", "ordered") else "category"
    if "integer" in family:
        return "integer" if all(_INTEGER.fullmatch(text) for text in texts) else "decimal"
    if "time" in family:
        return "time"
    return "date" if all(_DATE.fullmatch(text) for text in texts) else "datetime"
