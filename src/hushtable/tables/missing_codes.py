"""Cells that look like the code of a missing value, and would be taken for values: -9 or 99, N/A among numbers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from hushtable._types import FEWEST_RECORDS
from hushtable.columns import (
    begins_with_numbers,
    count_missing_codes,
    count_missing_numbers,
    count_odd_texts,
    count_sentinel_codes,
    count_sentinel_dates,
    count_spellings,
    count_texts,
    ends_with_codes,
    format_values,
    is_missing_word,
    is_open_end,
    to_canonical_texts,
    without_declared,
)
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.tables.table import Table

_MIN_RECORDS_PER_VALUE: Final = 5  # records that share a value which is named
_MIN_RECORDS_PER_TEXT: Final = 20  # the same of a text that may be anything

_NUMBER_OR_DAY: Final = re.compile(
    r"-?[0-9]+([.,]0+)?|[0-9]{1,4}([./-])[0-9]{1,2}\2[0-9]{1,4}([ T][0-9:.]+)?", re.ASCII
)


def find_missing_codes(data: Frame | Table, names: Sequence[str] | None = None) -> dict[str, dict[str, int]]:
    """Count by column and code, as spelled, the cells that look like a missing value among numbers, dates or codes.

    Those are far numbers, days such as 1900-01-01, codes of nines, and few texts among numbers that are no open ends.
    """
    if data.n_records < FEWEST_RECORDS:
        return {}
    all_names = data.names
    counted = ((name, _count_in_column(data, name)) for name in (all_names if names is None else names))
    return {name: codes for name, codes in counted if codes}


def count_open_ends(data: Frame, name: str) -> int:
    """Count the cells of a column of numbers that are an open end, such as ``90+``: values, and no missing ones."""
    try:
        text, odd = data.text(name), data.odd_cells(name)
    except ColumnError:
        # What cannot be read has no ends.
        return 0
    # Of odd cells another question is asked.
    text = text if text is None or odd is None else odd.drop_from(text)
    texts = {} if text is None or not begins_with_numbers(text) else count_odd_texts(text)
    return sum(n for code, n in texts.items() if is_open_end(code))


def nameable_codes(codes: Mapping[str, int]) -> dict[str, int]:
    """Return the codes that may be named: words for a missing value, and what enough records share."""
    least = {code: _min_records_to_report(code) for code in codes}
    return {code: n for code, n in codes.items() if n >= least[code]}


def _min_records_to_report(code: str) -> int:
    if _is_number_or_day(code):
        return _MIN_RECORDS_PER_VALUE
    # A word for a missing value is nobody's value.
    return 1 if is_missing_word(code) else _MIN_RECORDS_PER_TEXT


def _count_in_column(data: Frame | Table, name: str) -> dict[str, int]:
    try:
        return _count_in_frame(data, name) if isinstance(data, Frame) else _count_in_numbers(data, name)
    except ColumnError:
        # Lists and the like, and what cannot be read, have no codes.
        return {}


def _count_in_frame(data: Frame, name: str) -> dict[str, int]:
    spec = data.specs.get(name)
    if spec is not None and spec.missing_values is not None:
        return {}
    text, odd_cells = data.text(name), data.odd_cells(name)
    if text is None:
        column = data.column(name)
        if column.dtype.is_temporal():
            # Few columns hold such a day: of the others only the distinct values are formatted.
            distinct = format_values(column.unique(), name)
            if not count_sentinel_dates(distinct, distinct):
                return {}
            texts = format_values(column, name)
            return count_sentinel_dates(texts, texts)
        return _count_in_numbers(Table.encode(data.select([name])), name) if ends_with_codes(column) else {}
    # Of odd cells another question is asked.
    text = text if odd_cells is None else odd_cells.drop_from(text)
    words = [code for code in count_missing_codes(text) if is_missing_word(code)]
    # Without its words a column may turn out to hold numbers or dates.
    without_words = without_declared(text, words)
    data = data.with_columns({name: without_words})
    spelling = data.spelling(name)
    values = to_canonical_texts(without_words, spelling)
    days = count_sentinel_dates(without_words, values)
    if days or spelling.format is not None:
        return days | count_texts(text, words)
    if not begins_with_numbers(without_words):
        return count_sentinel_codes(without_words)
    odd = {code: n for code, n in count_odd_texts(to_canonical_texts(text, spelling)).items() if not is_open_end(code)}
    if spelling.odd_cells == "text":
        # That they are values was said.
        odd = {code: n for code, n in odd.items() if is_missing_word(code)}
    # Only where an end is a code all values are counted, which takes longer.
    if not data.is_text or not ends_with_codes(values):
        return odd | count_sentinel_codes(without_words)
    numbers = _count_in_numbers(Table.encode(data.select([name]), specs={name: data.spec(name)}), name)
    return odd | count_spellings(without_words, values, numbers) | count_sentinel_codes(without_words)


def _count_in_numbers(data: Table, name: str) -> dict[str, int]:
    column, codes = data.column(name), data.codes[data.index(name)]
    is_known = codes >= 0
    counts = np.bincount(codes[is_known], weights=data.counts[is_known], minlength=column.n_values)
    return count_missing_numbers(column, counts.astype(np.int64))


def warn_of_missing_codes(data: Frame | Table, names: Sequence[str], stacklevel: int = 3) -> None:
    """Warn of cells that look like codes of missing values; no value of a few records is named, nor an odd text."""
    for name, codes in find_missing_codes(data, names).items():
        for line in _describe_codes(name, codes):
            warnings.warn(line, stacklevel=stacklevel)
    open_ends = {name: count_open_ends(data, name) for name in names} if isinstance(data, Frame) else {}
    for name, n in open_ends.items():
        if n:
            warnings.warn(
                f"column {name!r} holds numbers, and open ends such as 90+ in {n:,} records: it is read as categories. "
                "An open end is no missing value. To make numbers of the column, write the number alone (90), and say "
                "hierarchy: {tails: {high: 90}}.",
                stacklevel=stacklevel,
            )


def _describe_codes(name: str, codes: Mapping[str, int]) -> Iterator[str]:
    named = {code: n for code, n in nameable_codes(codes).items() if is_missing_word(code) or _is_number_or_day(code)}
    others = {code: n for code, n in codes.items() if code not in named}
    texts = sum(n for code, n in others.items() if not _is_number_or_day(code))
    rare = sum(others.values()) - texts
    for code, n in named.items():
        is_text = not _is_number_or_day(code)
        where = ", where nearly all cells are numbers" if is_text else ", far from its other values"
        yield (
            f"column {name!r} holds {code} in {n:,} records{where}: a code of a missing value? Answer once: "
            f'missing_values: ["{code}"] if it is one, missing_values: [] if it is a value.'
        )
    if rare:
        yield (
            f"column {name!r} holds days or numbers far from its others in {rare:,} records, too few to name them: "
            "codes of a missing value? If so, name them as missing_values; missing_values: [] says that they are not."
        )
    if texts:
        yield (
            f"column {name!r} holds numbers, and other texts in {texts:,} records: it is read as categories. If these "
            "texts mean a missing value, name them as missing_values; missing_values: [] says that they are values."
        )


def _is_number_or_day(code: str) -> bool:
    return _NUMBER_OR_DAY.fullmatch(code) is not None
