"""Slow, obvious twins of the counts of exposure: plain Python over itertools and counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Cells = Mapping[str, Sequence[Any]]


def lone(cells: Cells, columns: Sequence[str], counts: Sequence[int], persons: Sequence[Any] | None = None) -> set[int]:
    """The rows that stand for one record which nobody equals on the columns; by persons, those that no second one has.

    A record without a person (None) is nobody's, and hides nobody.
    """
    keys = list(zip(*(cells[name] for name in columns), strict=True))
    if persons is not None:
        known = {(key, person) for key, person in zip(keys, persons, strict=True) if person is not None}
        n_persons = Counter(key for key, _ in known)
        return {row for row, key in enumerate(keys) if n_persons[key] <= 1}
    n_records: Counter[Any] = Counter()
    for key, n in zip(keys, counts, strict=True):
        n_records[key] += n
    return {row for row, (key, n) in enumerate(zip(keys, counts, strict=True)) if n == 1 and n_records[key] == 1}


def alone(
    cells: Cells, columns: Sequence[str], counts: Sequence[int], most: int, persons: Sequence[Any] | None = None
) -> int:
    """How many records are unique on some set of at most so many of the columns."""
    sets = (each for size in range(1, min(most, len(columns)) + 1) for each in combinations(columns, size))
    rows: set[int] = set().union(*(lone(cells, each, counts, persons) for each in sets))
    return sum(counts[row] for row in rows)


def told(
    cells: Cells,
    classes: Sequence[int],
    columns: Sequence[str],
    counts: Sequence[int],
    persons: Sequence[Any] | None = None,
) -> int:
    """How many records are unique among those of their class by some columns."""
    return sum(counts[row] for row in lone({**cells, "": classes}, ["", *columns], counts, persons))
