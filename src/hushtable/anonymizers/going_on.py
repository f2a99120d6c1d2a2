"""Units that go on: the month or prefix of a new value, of the length that its class publishes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.columns import Column
from hushtable.hierarchy import UNITS, Dates, Prefix
from hushtable.recoding import Written

__all__ = ["with_own_units"]

_UNIT_TEXTS: Final = ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{4}-[0-9]{2}", "[0-9]{4}-Q[1-4]", "[0-9]{4}", "[0-9]{4}s")
"""How the label of each calendar unit is written, in their order."""


def with_own_units(
    cell: Written, column: Column, meaning: Any, labels: CodeArray, codes: CodeArray, covered: BoolArray
) -> tuple[CodeArray, Written]:
    """Give rows that the cells beside them do not cover the units of their own values.

    No unit comes from the data: how long it is says the class, and where it begins and ends the calendar or the code.

    Parameters
    ----------
    cell : Written
        What classes publish of a column.
    column : Column
        Of the rows.
    meaning : Dates or Prefix, optional
        What makes units; with anything else nothing goes on.
    labels : ndarray of int32, shape (n_rows,)
        The text beside every row.
    codes : ndarray of int32, shape (n_rows,)
        Of the rows' values; -1 is missing, and has no unit.
    covered : ndarray of bool, shape (n_rows,)
        Whether the text beside a row covers its value.

    Returns
    -------
    labels : ndarray of int32, shape (n_rows,)
        With new texts; -1 where a row that is not covered has none.
    cell : Written
        With these texts behind the others.
    """
    found = np.where(covered, labels, np.int32(-1))
    asks = ~covered & (codes >= 0)
    if not isinstance(meaning, (Dates, Prefix)) or not asks.any():
        return found, cell
    ladder = (Dates(tuple(UNITS)) if isinstance(meaning, Dates) else meaning).ladder(column)
    level_of_text = np.array([_level(text, meaning) for text in cell.texts])
    place: dict[str | None, int] = {text: i for i, text in enumerate(cell.texts)}
    rows = np.flatnonzero(asks & (level_of_text[labels] >= 0))
    for row, code, level in zip(rows.tolist(), codes[rows].tolist(), level_of_text[labels[rows]].tolist(), strict=True):
        unit = ladder.levels[level]
        found[row] = place.setdefault(unit.labels[unit.codes[code]], len(place))
    return found, replace(cell, texts=tuple(place))


def _level(text: str | None, meaning: Dates | Prefix) -> int:
    """Return the level of units that a text is one of; -1 where it is none."""
    if text is None:
        return -1
    if isinstance(meaning, Dates):
        return next((level for level, unit in enumerate(_UNIT_TEXTS) if re.fullmatch(unit, text)), -1)
    length = len(text) - 1
    return meaning.lengths.index(length) if text.endswith("*") and length in meaning.lengths else -1
