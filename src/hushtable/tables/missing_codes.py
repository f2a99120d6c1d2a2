"""Cells that look like the code of a missing value, and would be taken for values: -9 or 99, N/A among numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from hushtable.columns import (
    MISSING_CODES,
    begins_with_numbers,
    count_missing_numbers,
    count_odd_texts,
    ends_with_codes,
)
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.tables.table import Table

__all__ = ["FEWEST_RECORDS", "find_missing_codes", "nameable_codes", "warn_of_missing_codes"]

FEWEST_RECORDS: Final = 50
"""Below so many records what is counted may be so by chance."""

_FEWEST_NAMED: Final = 5  # records that share a value which is named
_FEWEST_OF_A_TEXT: Final = 20  # the same of a text that may be anything


def find_missing_codes(data: Frame | Table, names: Sequence[str] | None = None) -> dict[str, dict[str, int]]:
    """Count by column the cells that look like a code of a missing value among numbers, and were not said to be one.

    Parameters
    ----------
    data : Frame or Table
    names : sequence of str, optional
        The columns to look at; all when not given.

    Returns
    -------
    dict of column to dict of code to int
        The records of every code: numbers far from all others, and the few texts of a column of numbers.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.io import frames
    >>> ages = [*range(20, 45), 999] * 2
    >>> find_missing_codes(frames.read(pl.DataFrame({"age": ages, "sex": ["f", "m"] * 26})))
    {'age': {'999': 2}}
    """
    if data.n_records < FEWEST_RECORDS:
        return {}
    all_names = data.names
    counted = ((name, _of_column(data, name)) for name in (all_names if names is None else names))
    return {name: codes for name, codes in counted if codes}


def nameable_codes(codes: Mapping[str, int]) -> dict[str, int]:
    """Return the codes that may be named: words for a missing value, which are nobody's, and what enough records share.

    Examples
    --------
    >>> nameable_codes({"777": 1, "99": 5, "n/a": 1, "see file": 1})
    {'99': 5, 'n/a': 1}
    """
    least = {code: _fewest_named(code) for code in codes}
    return {code: n for code, n in codes.items() if n >= least[code]}


def _fewest_named(code: str) -> int:
    if _is_number(code):
        return _FEWEST_NAMED
    return 1 if code in MISSING_CODES else _FEWEST_OF_A_TEXT


def _of_column(data: Frame | Table, name: str) -> dict[str, int]:
    if isinstance(data, Frame):
        try:
            text = data.text(name)
            if text is not None and not begins_with_numbers(text):
                return {}
            values = data.values(name)
            odd = count_odd_texts(values)
            # Only where an end is a code all values are counted, which takes longer.
            if odd or (text is not None and not data.is_text) or not ends_with_codes(values):
                return odd
            data = Table.encode(data.select([name]), specs={name: data.spec(name)})
        except ColumnError:
            # Lists and the like, and what cannot be read, have no codes.
            return {}
    column, codes = data.column(name), data.codes[data.index(name)]
    is_known = codes >= 0
    counts = np.bincount(codes[is_known], weights=data.counts[is_known], minlength=column.n_values)
    return count_missing_numbers(column, counts.astype(np.int64))


def warn_of_missing_codes(data: Frame | Table, names: Sequence[str], stacklevel: int = 3) -> None:
    """Warn of cells that look like codes of missing values; no value of a few records is named, nor an odd text."""
    for name, codes in find_missing_codes(data, names).items():
        for line in _lines(name, codes):
            warnings.warn(line, stacklevel=stacklevel)


def _lines(name: str, codes: Mapping[str, int]) -> Iterator[str]:
    named = {code: n for code, n in nameable_codes(codes).items() if code in MISSING_CODES or _is_number(code)}
    rare = sum(n for code, n in codes.items() if code not in named and _is_number(code))
    others = sum(n for code, n in codes.items() if code not in named and not _is_number(code))
    for code, n in named.items():
        where = ", far from its other numbers" if _is_number(code) else ", where nearly all cells are numbers"
        yield (
            f"column {name!r} holds {code} in {n:,} records{where}: a code of a missing value? "
            f"If so, make these cells missing first, or say missing_values=({code!r},)."
        )
    if rare:
        yield (
            f"column {name!r} holds numbers far from its others in {rare:,} records, too few to name them: codes of a "
            "missing value? If so, make these cells missing first, or name the codes as missing_values."
        )
    if others:
        yield (
            f"column {name!r} holds numbers, and other texts in {others:,} records: it is read as categories. If these "
            "texts mean a missing value, name them as missing_values."
        )


def _is_number(code: str) -> bool:
    return code.lstrip("-").isdigit()
