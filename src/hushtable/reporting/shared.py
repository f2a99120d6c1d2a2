"""What may be shown of a column: texts that enough people share, and how many records hold each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, eq=False)
class PeopleCounter:
    """Counts the people of groups of rows.

    Attributes
    ----------
    records : ndarray of int64, shape (n_rows,)
        How many records each row stands for.
    persons : ndarray of int32, shape (n_rows,), optional
        Whose each row is, -1 if missing. Without it every record is a person.
    """

    records: CountArray = field(repr=False)
    persons: CodeArray | None = field(repr=False)

    def count(self, groups: CodeArray, n_groups: int) -> CountArray:
        """Return how many people each group has; rows of group -1 are in none."""
        if self.persons is None:
            # Counts are whole numbers far below 2^53, so that bincount's floats are exact.
            return np.bincount(groups + 1, weights=self.records, minlength=n_groups + 1)[1:].astype(np.int64)
        is_known = (groups >= 0) & (self.persons >= 0)
        width = int(self.persons.max(initial=0)) + 1
        pairs = np.unique(groups[is_known].astype(np.int64) * width + self.persons[is_known])
        return np.bincount(pairs // width, minlength=n_groups)


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
    counts = PeopleCounter(records, None).count(codes, len(texts))
    people = counts if persons is None else PeopleCounter(records, persons).count(codes, len(texts))
    frequent_codes = [int(place) for place in np.argsort(-counts, kind="stable") if people[place] >= max(1, min_people)]
    named = [(place, texts[place]) for place in frequent_codes]
    found = [SharedText(place, text, int(counts[place])) for place, text in named if text is not None]
    return found, int(records.sum()) - sum(each.n_records for each in found)
