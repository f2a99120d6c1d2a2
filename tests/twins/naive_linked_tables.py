"""A slow attacker of linked tables, from the definition: who knows exact facts of a person in all tables finds whom?

Imports nothing that it attacks. A fact is a row of the original; a pseudonym fits a person by the largest matching of
facts to its published rows, each row for one fact; the best-fitting pseudonyms are the candidates.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

Row = tuple[str, ...]
Tables = Mapping[str, Sequence[tuple[str, Row]]]
"""By name of the table: whose row it is, and its cells."""


class Found(NamedTuple):
    """How many persons were looked for, were alone among the candidates, and among fewer than k of them."""

    n_persons: int
    n_found: int
    n_few: int


def covers(cell: str, value: str) -> bool:
    """Whether a published cell may stand for a value."""
    if cell in ("*", value):
        return True
    if not cell.startswith("["):
        return False
    if cell.startswith('["'):
        return value in json.loads(cell)
    low, high = cell[1:-1].split(", ")
    if all(each.lstrip("-").isdigit() for each in (low, high, value)):
        return int(low) <= int(value) <= int(high)
    return low <= value <= high


def n_matched(facts: Sequence[tuple[str, Row]], published: Sequence[tuple[str, Row]]) -> int:
    """The size of the largest matching of facts to rows of the same table."""
    fits = [
        [
            j
            for j, (table, row) in enumerate(published)
            if table == name and all(covers(cell, value) for cell, value in zip(row, fact, strict=True))
        ]
        for name, fact in facts
    ]
    owner: dict[int, int] = {}

    def assign(i: int, seen: set[int]) -> bool:
        for j in fits[i]:
            if j not in seen:
                seen.add(j)
                if j not in owner or assign(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return sum(assign(i, set()) for i in range(len(facts)))


def rows_by_person(tables: Tables) -> dict[str, list[tuple[str, Row]]]:
    """All rows of everybody, each with its table."""
    found: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for name, rows in tables.items():
        for person, row in rows:
            found[person].append((name, row))
    return found


def attack(
    original: Tables, published: Tables, pseudonyms: Mapping[str, str], unit: str | None, n_known: int | None, k: int
) -> Found:
    """Look for everybody by the row of ``unit`` (where it is known) and so many rows of other tables, or all (None)."""
    rng, known, shown = random.Random(n_known), rows_by_person(original), rows_by_person(published)
    n_persons = n_found = n_few = 0
    for person, rows in known.items():
        own_row = [each for each in rows if each[0] == unit]
        events = [each for each in rows if each[0] != unit]
        if len(events) < (n_known or 0):
            continue
        n_persons += 1
        facts = events if n_known is None else rng.sample(events, n_known)
        fits = {
            pseudonym: n_matched(facts, theirs)
            for pseudonym, theirs in shown.items()
            if n_matched(own_row, theirs) == len(own_row)
        }
        best = max(fits.values(), default=0)
        candidates = {pseudonym for pseudonym, n in fits.items() if n == best}
        if pseudonyms[person] in candidates:
            n_found += len(candidates) == 1
            n_few += len(candidates) < k
    return Found(n_persons, n_found, n_few)


def smallest_bundle(published: Tables) -> int:
    """Among how few pseudonyms the multiset of all rows of any is."""
    told: dict[tuple[Any, ...], int] = defaultdict(int)
    for rows in rows_by_person(published).values():
        told[tuple(sorted(rows))] += 1
    return min(told.values())


def fewest_by_row_and_m(published: Tables, unit: str, m: int) -> int:
    """Among how few persons anybody is, for who knows the row in ``unit`` and any m rows of other tables.

    A row may stand for a known one if each of its cells is the same or ``*``.
    """

    def n_held(known: Sequence[tuple[str, Row]], rows: Sequence[tuple[str, Row]]) -> int:
        owner: dict[int, int] = {}

        def assign(i: int, seen: set[int]) -> bool:
            for j, (table, row) in enumerate(rows):
                name, fact = known[i]
                fits = table == name and all(cell in ("*", value) for cell, value in zip(row, fact, strict=True))
                if fits and j not in seen:
                    seen.add(j)
                    if j not in owner or assign(owner[j], seen):
                        owner[j] = i
                        return True
            return False

        return sum(assign(i, set()) for i in range(len(known)))

    everybody = rows_by_person(published)
    fewest = len(everybody)
    for rows in everybody.values():
        own = [each for each in rows if each[0] == unit]
        events = [each for each in rows if each[0] != unit]
        for known in combinations(events, min(m, len(events))):
            facts = [*own, *known]
            fewest = min(fewest, sum(n_held(facts, theirs) == len(facts) for theirs in everybody.values()))
    return fewest
