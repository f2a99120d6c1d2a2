"""A slow judge of linked records, from the definitions: rows are tuples of published cells, with whose they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any


def histories(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any]) -> dict[Any, list[tuple[Any, ...]]]:
    """The published rows of every person."""
    found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row, person in zip(rows, persons, strict=True):
        found[person].append(row)
    return dict(found)


def is_linked_k_anonymous(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any], k: int) -> bool:
    """Whether everybody's multiset of rows is that of k persons."""
    if None in persons:
        return False
    told = Counter(frozenset(Counter(each).items()) for each in histories(rows, persons).values())
    return all(n >= k for n in told.values())


def who_fits(known: Sequence[tuple[Any, ...]], of_person: dict[Any, list[tuple[Any, ...]]]) -> set[Any]:
    """Who has a row for each known one, no row for two: of equal cells, or `*`."""
    return {
        person
        for person, rows in of_person.items()
        if any(
            all(
                all(cell in (value, "*") for cell, value in zip(row, record, strict=True))
                for row, record in zip(chosen, known, strict=True)
            )
            for chosen in permutations(rows, len(known))
        )
    }


def fewest_by(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any], m: int) -> int:
    """Among how few persons anybody is, for someone who knows any m records."""
    of_person = histories(rows, persons)
    return min(
        len(who_fits(known, of_person))
        for records in of_person.values()
        for known in combinations(records, min(m, len(records)))
    )


def is_km_anonymous(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any], k: int, m: int) -> bool:
    """Whether anyone who knows m records finds k persons."""
    return None not in persons and fewest_by(rows, persons, m) >= k


def fewest_values(rows: Sequence[tuple[Any, ...]], persons: Sequence[Any], values: Sequence[Any]) -> int:
    """The fewest known values of a sensitive column in equal rows of equal histories."""
    told = {who: frozenset(Counter(each).items()) for who, each in histories(rows, persons).items()}
    found: dict[Any, set[Any]] = defaultdict(set)
    for row, person, value in zip(rows, persons, values, strict=True):
        found[row, told[person]] |= {value}
    return min(len(each) for each in found.values())


def rare_sets(records: Sequence[tuple[int, int]], k: int, m: int) -> list[tuple[int, ...]]:
    """Sets of m records, as (person, their classes, how many persons hold them), that fewer than k persons hold."""
    of_person = histories([row for row, _ in records], [who for _, who in records])
    held = {
        who: {n: {tuple(sorted(each)) for each in combinations(rows, n)} for n in range(1, m + 1)}
        for who, rows in of_person.items()
    }
    found = []
    for who, rows in of_person.items():
        size = min(m, len(rows))
        for known in held[who][size]:
            n = sum(known in others[size] for others in held.values())
            if n < k:
                found.append((who, *known, *[-1] * (m - size), n))
    return sorted(found)
