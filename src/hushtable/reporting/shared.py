"""What may be shown of a column: texts that enough people share, and how many records hold each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.io import Frame
from hushtable.tables import Table


class SharedText(NamedTuple):
    """A text of a column.

    Attributes
    ----------
    code : int
        Its code.
    text : str
    n_records : int
    """

    code: int
    text: str
    n_records: int


def persons_of_rows(frame: Frame, person: str | None) -> CodeArray | None:
    """Return the person of each row, -1 if missing; None if every row is a different person's."""
    return None if person is None else Table.encode(frame, [person]).codes[0]


def find_shared_texts(
    codes: CodeArray,
    texts: Sequence[str | None],
    records: CountArray,
    persons: CodeArray | None,
    *,
    min_people: int,
) -> tuple[list[SharedText], int]:
    """Return the texts that enough people share, the most frequent first, and how many records hold another one.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        -1 is missing, and never shown.
    texts : sequence of str or None
        Of each code.
    records : ndarray of int64, shape (n_rows,)
        How many records each row stands for.
    persons : ndarray of int32, shape (n_rows,), optional
        Whose each row is. Without it every record is a person.
    min_people : int
        How many people must share a text that is shown.

    Examples
    --------
    >>> codes = np.array([0, 0, 0, 1, 2, 2], dtype=np.int32)
    >>> find_shared_texts(codes, ["flu", "gout", "mumps"], np.ones(6, dtype=np.int64), None, min_people=2)
    ([SharedText(code=0, text='flu', n_records=3), SharedText(code=2, text='mumps', n_records=2)], 1)
    """
    counts = np.bincount(codes + 1, weights=records, minlength=len(texts) + 1)[1:].astype(np.int64)
    people = counts
    if persons is not None:
        is_known = (codes >= 0) & (persons >= 0)
        pairs = np.unique(codes[is_known].astype(np.int64) * (int(persons.max(initial=0)) + 1) + persons[is_known])
        people = np.bincount(pairs // (int(persons.max(initial=0)) + 1), minlength=len(texts))
    frequent_codes = [int(place) for place in np.argsort(-counts, kind="stable") if people[place] >= max(1, min_people)]
    named = [(place, texts[place]) for place in frequent_codes]
    found = [SharedText(place, text, int(counts[place])) for place, text in named if text is not None]
    return found, int(records.sum()) - sum(each.n_records for each in found)
