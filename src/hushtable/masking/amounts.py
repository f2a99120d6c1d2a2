"""Read texts such as "25k", "4 %" or "€ 1,200" as amounts, if a whole column leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.columns import (
    Column,
    ColumnSpec,
    find_ambiguities,
    from_texts,
    infer_spelling,
    text_series,
    to_canonical_texts,
)
from hushtable.tables import Table

_FACTOR_OF_UNIT: Final[Mapping[str, float]] = MappingProxyType(
    {"": 1.0}
    | dict.fromkeys(("k", "K", "tsd", "Tsd", "Tsd."), 1e3)
    | dict.fromkeys(("M", "Mio", "Mio.", "mio", "Mill.", "million"), 1e6)
    | dict.fromkeys(("bn", "Mrd", "Mrd.", "mrd", "billion"), 1e9)
)
"""Factors of units that a column may mix. Not `m` (a metre?) or `B` (a byte?): these only if all cells have them."""

_CURRENCY: Final = r"[$€£¥₹₩₽]|[A-Z]{3}"
_AMOUNT: Final = re.compile(
    rf"(?P<before>(?:{_CURRENCY})?) ?(?P<number>[+-]?[0-9](?:[0-9.,' \u00a0\u202f]*[0-9])?)"
    rf"[ \u00a0]?(?P<unit>[^\W\d_]{{0,10}}\.?|%|‰|°C?|[$€£¥₹₩₽])[ \u00a0]?(?P<after>(?:{_CURRENCY})?)"
)


def convert_amounts(table: Table, names: tuple[str, ...]) -> tuple[Table, tuple[str, ...]]:
    """Convert columns of amounts to numbers; return the table and the names of these columns."""
    read = {name: amounts for name in table.names if name in names and (amounts := read_amounts(table.column(name)))}
    columns = tuple(read[column.name][0] if column.name in read else column for column in table.columns)
    codes = table.codes.copy()
    for name, (_, code_of_value) in read.items():
        place = table.index(name)
        codes[place] = np.append(code_of_value, np.int32(-1))[codes[place]]
    return replace(table, columns=columns, codes=codes), tuple(read)


def read_amounts(column: Column) -> tuple[Column, CodeArray] | None:
    """Read a category's values as amounts, with the new code of each; None if numbers or units do not fit."""
    if column.kind != "category" or not column.n_values:
        return None
    matches = [_AMOUNT.fullmatch(text.strip()) for text in column.values.tolist()]
    if not all(matches):
        return None
    parts = [match.groupdict() for match in matches if match]
    units = {part["unit"] for part in parts}
    if any(len({part[end] for part in parts}) > 1 for end in ("before", "after")):
        return None
    if len(units) > 1 and not units <= _FACTOR_OF_UNIT.keys():
        return None
    times = np.array([_FACTOR_OF_UNIT.get(part["unit"], 1.0) for part in parts])
    readings = [numbers * times for numbers in _parse_numbers([part["number"] for part in parts])]
    # A point or comma may be decimal or group thousands. Readings that differ by one factor only are equally good.
    if not readings or any(
        not np.allclose(each / np.abs(each).max(), readings[0] / np.abs(readings[0]).max()) for each in readings
    ):
        return None
    values, codes = np.unique(readings[0], return_inverse=True)
    return Column(column.name, "decimal", values), codes.ravel().astype(np.int32)


def _parse_numbers(cells: list[str]) -> list[FloatArray]:
    """Parse texts in every way that their marks allow; an empty list if a text is no number."""
    texts = text_series("", cells)
    marks = find_ambiguities(texts, ColumnSpec(), points_may_group=True)[1]
    specs = [ColumnSpec(decimal=decimal, thousands=thousands) for decimal, thousands in marks]
    read = []
    for spec in specs or [infer_spelling(texts, ColumnSpec())]:
        numbers, places = from_texts("", to_canonical_texts(texts, spec).to_list())
        if numbers.kind not in ("integer", "decimal") or not numbers.values.any():
            return []
        read.append(numbers.values.astype(np.float64)[places])
    return read
