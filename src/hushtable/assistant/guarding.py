"""The table that verdicts are made on: values of few persons are moved to a near value that many have.

Missing cells of few persons become the most frequent value, odd cells are missing, and equal values are spelled alike.

One person with a rare value, or far from all others, can change a loss from nothing to everything: a column that is cut
nowhere, a domain that is ten times as wide. An assistant that drafts the other columns away would see it. So verdicts
are of a table in which nobody stands alone on one column. The page shows a person the figures of the table itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.assistant.source import FEWEST_PERSONS, AssistantSource
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.reporting import PeopleCounter, persons_of_rows
from hushtable.tables import Table

_ORDERED_KINDS: Final = ("integer", "decimal", "date", "datetime", "time", "ordered")


def guard_frame(source: AssistantSource, names: Sequence[str], person: str | None) -> Frame:
    """Return the table without odd cells, and with rare values of some columns moved; equal rows stay equal."""
    frame = source.typed_frame
    people = PeopleCounter(frame.records, persons_of_rows(frame, person))
    columns = []
    for name in frame.columns:
        column = frame.column(name)
        if name in names and (rows := _find_rows(source, name, people)) is not None:
            # A cell of the near value stands for it, as the file spells it.
            column = column.gather(rows)
        columns.append(column.alias(name))
    return source.frame.build_alike(columns)


def _find_rows(source: AssistantSource, name: str, people: PeopleCounter) -> CountArray | None:
    """Return for every row a row whose cell of a column stands for its own; None if the column cannot be read."""
    try:
        table = Table.encode(source.typed_frame, [name])
    except ColumnError:
        return None
    (column,), (codes,) = table.columns, table.codes
    counts = people.count(codes, column.n_values)
    moved = move_rare_codes(counts, FEWEST_PERSONS, is_ordered=column.kind in _ORDERED_KINDS)
    if column.n_values and people.count(np.where(codes < 0, 0, -1), 1)[0] < FEWEST_PERSONS:
        codes = np.where(codes < 0, np.argmax(counts), codes)
    rows = np.arange(len(codes), dtype=np.int64)
    first_rows = np.zeros(column.n_values, dtype=np.int64)
    first_rows[codes[codes >= 0][::-1]] = rows[codes >= 0][::-1]
    # A value that stays is taken from its first row, too: as text, 7 and 007 were two.
    return np.where(codes >= 0, first_rows[moved[codes]], rows) if column.n_values else rows


def move_rare_codes(counts: CountArray, least: int, *, is_ordered: bool) -> CodeArray:
    """Return the code that stands for each code.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_values,)
        The persons who have each value, in the order of the values.
    least : int
        Fewer persons are few.
    is_ordered : bool
        Whether values are numbers, dates or ranks.

    Returns
    -------
    ndarray of int32, shape (n_values,)
        If most persons have a value of many, rare values become the nearest one of these. Else values are rare by
        nature, as incomes are: the ends are moved to values that so many persons reach.

    Examples
    --------
    >>> move_rare_codes(np.array([40, 1, 30, 2]), 11, is_ordered=False)
    array([0, 0, 2, 2], dtype=int32)
    >>> move_rare_codes(np.array([1, 5, 6, 7, 6, 5, 1]), 11, is_ordered=True)
    array([2, 2, 2, 3, 4, 4, 4], dtype=int32)
    """
    codes = np.arange(len(counts), dtype=np.int32)
    common = np.flatnonzero(counts >= least).astype(np.int32)
    if 2 * counts[common].sum() > counts.sum():
        after = np.searchsorted(common, codes)
        left, right = common[np.maximum(after - 1, 0)], common[np.minimum(after, len(common) - 1)]
        return np.where(np.abs(codes - left) <= np.abs(right - codes), left, right).astype(np.int32)
    if not is_ordered or counts.sum() < 2 * least:
        return codes
    low = int(np.argmax(np.cumsum(counts) >= least))
    high = len(counts) - 1 - int(np.argmax(np.cumsum(counts[::-1]) >= least))
    return np.clip(codes, min(low, high), max(low, high)).astype(np.int32)
