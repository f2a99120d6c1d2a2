"""Texts that are numbers with a unit ("25k", "4 %", "€ 1,200"): read as amounts where all leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.columns import Column, ColumnSpec, canonical, doubts, found, from_texts, strings
from hushtable.tables import Table

__all__ = ["by_amount", "read_amounts"]

_TIMES: Final[Mapping[str, float]] = MappingProxyType(
    {"": 1.0}
    | dict.fromkeys(("k", "K", "tsd", "Tsd", "Tsd."), 1e3)
    | dict.fromkeys(("M", "Mio", "Mio.", "mio", "Mill.", "million"), 1e6)
    | dict.fromkeys(("bn", "Mrd", "Mrd.", "mrd", "billion"), 1e9)
)
"""What units of different cells say beside one another; `m` may be a metre, `B` a byte: they stand alone only."""

_CURRENCY: Final = r"[$€£¥₹₩₽]|[A-Z]{3}"
_AMOUNT: Final = re.compile(
    rf"(?P<before>(?:{_CURRENCY})?) ?(?P<number>[+-]?[0-9](?:[0-9.,' \u00a0\u202f]*[0-9])?)"
    rf"[ \u00a0]?(?P<unit>[^\W\d_]{{0,10}}\.?|%|‰|°C?|[$€£¥₹₩₽])[ \u00a0]?(?P<after>(?:{_CURRENCY})?)"
)


def by_amount(table: Table, names: tuple[str, ...]) -> tuple[Table, tuple[str, ...]]:
    """Return a table in which columns of text that are amounts are numbers, and which these are.

    Parameters
    ----------
    table : Table
    names : tuple of str
        The columns that may be read so.
    """
    columns: list[Column] = []
    codes: list[CodeArray] = []
    read = []
    for column, of_rows in zip(table.columns, table.codes, strict=True):
        amounts = read_amounts(column) if column.name in names else None
        if amounts is None:
            columns.append(column)
            codes.append(of_rows)
        else:
            columns.append(amounts[0])
            codes.append(np.append(amounts[1], np.int32(-1))[of_rows])
            read.append(column.name)
    return replace(table, columns=tuple(columns), codes=np.array(codes, dtype=np.int32)), tuple(read)


def read_amounts(column: Column) -> tuple[Column, CodeArray] | None:
    """Read the values of a category as amounts; None where they are not all numbers with units that fit together.

    Returns
    -------
    column : Column
        Of numbers.
    codes : ndarray of int32, shape (n_values,)
        The code of each value.

    Examples
    --------
    >>> incomes, codes = read_amounts(from_texts("income", ["25k", "4k", "900", "1.2M"])[0])
    >>> incomes.texts()
    ['900', '4000', '25000', '1200000']
    >>> read_amounts(from_texts("length", ["5 m", "2 km"])[0]) is None
    True
    """
    if column.kind != "category" or not column.n_values:
        return None
    matches = [_AMOUNT.fullmatch(text.strip()) for text in column.values.tolist()]
    if not all(matches):
        return None
    parts = [match.groupdict() for match in matches if match]
    units = {part["unit"] for part in parts}
    if any(len({part[end] for part in parts}) > 1 for end in ("before", "after")):
        return None
    if len(units) > 1 and not units <= _TIMES.keys():
        return None
    times = np.array([_TIMES.get(part["unit"], 1.0) for part in parts])
    readings = [numbers * times for numbers in _numbers([part["number"] for part in parts])]
    # By a point or a comma: where one reading is a thousand times the other everywhere, they agree on what counts.
    if not readings or any(
        not np.allclose(each / np.abs(each).max(), readings[0] / np.abs(readings[0]).max()) for each in readings
    ):
        return None
    values, codes = np.unique(readings[0], return_inverse=True)
    return Column(column.name, "decimal", values), codes.ravel().astype(np.int32)


def _numbers(cells: list[str]) -> list[FloatArray]:
    """Return the numbers of texts, in every way that their marks may be read; none where a text is no number."""
    texts = strings("", cells)
    marks = doubts(texts, ColumnSpec())[1]
    specs = [ColumnSpec(decimal=decimal, thousands=thousands) for decimal, thousands in marks]
    read = []
    for spec in specs or [found(texts, ColumnSpec())]:
        numbers, places = from_texts("", canonical(texts, spec).to_list())
        if numbers.kind not in ("integer", "decimal") or not numbers.values.any():
            return []
        read.append(numbers.values.astype(np.float64)[places])
    return read
