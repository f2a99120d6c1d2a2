"""Slow, obvious twins of the counts of exposure: plain Python over itertools and counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Cells = Mapping[str, Sequence[Any]]


def lone(cells: Cells, columns: Sequence[str], counts: Sequence[int]) -> set[int]:
    """The rows that stand for one record which nobody equals on the columns."""
    keys = list(zip(*(cells[name] for name in columns), strict=True))
    n_records: Counter[Any] = Counter()
    for key, n in zip(keys, counts, strict=True):
        n_records[key] += n
    return {row for row, (key, n) in enumerate(zip(keys, counts, strict=True)) if n == 1 and n_records[key] == 1}


def alone(cells: Cells, columns: Sequence[str], counts: Sequence[int], most: int) -> int:
    """How many records are unique on some set of at most so many of the columns."""
    sets = (each for size in range(1, min(most, len(columns)) + 1) for each in combinations(columns, size))
    return len(set().union(*(lone(cells, each, counts) for each in sets)))


def told(cells: Cells, classes: Sequence[int], columns: Sequence[str], counts: Sequence[int]) -> int:
    """How many records are unique among those of their class by some columns."""
    return len(lone({**cells, "": classes}, ["", *columns], counts))
