"""Keys from their definition: every column set, small ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any


def left_by(rows: Sequence[tuple[Any, ...]], columns: Sequence[int], measure: str) -> Fraction:
    """Return the share of pairs of rows that agree, or of rows that are not alone."""
    sizes = Counter(tuple(row[j] for j in columns) for row in rows).values()
    if measure == "unique_rate":
        return Fraction(sum(size for size in sizes if size > 1), len(rows))
    n_pairs = len(rows) * (len(rows) - 1)
    return Fraction(sum(size * (size - 1) for size in sizes), n_pairs) if n_pairs else Fraction(0)


def minimal_keys(
    rows: Sequence[tuple[Any, ...]], n_columns: int, max_size: int, measure: str, error: float, policy: str
) -> list[tuple[int, ...]]:
    """Return all minimal keys of one column or more, by size and then in order."""
    if policy == "distinct":
        rows = list(dict.fromkeys(rows))
    keys: list[tuple[int, ...]] = []
    for size in range(1, max_size + 1):
        smaller = [set(key) for key in keys]
        for columns in combinations(range(n_columns), size):
            if any(key <= set(columns) for key in smaller):
                continue
            if left_by(rows, columns, measure) <= Fraction(str(error)):
                keys.append(columns)
    return keys
