"""A slow, obvious twin of the persons who are found by several records, from the definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any


def fitting(known: Sequence[int], persons: Sequence[Any], could_be: Callable[[int, int], bool]) -> set[Any]:
    """Who has a published row for every known record, no row being two of them."""
    rows_of: dict[Any, list[int]] = {}
    for row, person in enumerate(persons):
        if person is not None:
            rows_of.setdefault(person, []).append(row)
    return {
        person
        for person, rows in rows_of.items()
        if any(
            all(could_be(record, row) for record, row in zip(known, chosen, strict=True))
            for chosen in permutations(rows, len(known))
        )
    }
