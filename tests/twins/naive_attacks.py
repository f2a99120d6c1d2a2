"""Attacks by their definitions: every published row is compared with every known record."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

INTERVAL = re.compile(r"\[([^\",]+), ([^\",]+)([\])])|<([^=].*)|>=(.+)")


class Cell(NamedTuple):
    """What a published cell says: the values of a list, or the ends of an interval, None where it is open."""

    members: tuple[Any, ...] | None = None
    ends: tuple[str | None, str | None] | None = None
    is_closed: bool = False


def read(text: str) -> Cell:
    """Read a cell as the documentation has it: a JSON list, ``[a, b]``, ``[a, b)``, ``<b``, ``>=a`` or one value."""
    if text.startswith(('["', "[null")):
        return Cell(members=tuple(None if member in ("", None) else member for member in json.loads(text)))
    found = INTERVAL.fullmatch(text)
    if found is None:
        return Cell()
    low, high, closing, below, start = found.groups()
    return Cell(ends=(low or start, high or below), is_closed=closing == "]")


def ratings(n_persons: int, n_items: int, seed: int = 0, *, mean: float = 20.0, n_days: int = 2000) -> pl.DataFrame:
    """Draw dated ratings: few items are rated by many (Zipf), few persons rate much, each an item once.

    Persons rate for some weeks, around a day of their own.
    """
    rng = np.random.default_rng(seed)
    wanted = 1 + rng.geometric(1 / mean, n_persons)
    persons = np.repeat(np.arange(n_persons, dtype=np.int64), wanted)
    weights = 1 / np.arange(1, n_items + 1) ** 0.8
    items = rng.choice(n_items, len(persons), p=weights / weights.sum())
    pairs = np.unique(persons * n_items + items)
    persons, items = pairs // n_items, pairs % n_items
    began = rng.integers(0, n_days, n_persons)
    days = (began[persons] + rng.exponential(60, len(pairs)).astype(np.int64)) % n_days
    stars = rng.choice([1, 2, 3, 4, 5], len(pairs), p=[0.05, 0.1, 0.25, 0.35, 0.25])
    date = (np.datetime64("2000-01-01") + days.astype("timedelta64[D]")).astype("datetime64[D]")
    return pl.DataFrame({"person": persons, "item": items, "stars": stars, "date": date})


def covers(cell: Any, value: Any, tolerance: Any = 0, *, labels: Mapping[str, Sequence[Any]] | None = None) -> bool:
    """Tell whether a published cell may be a value that is known within a tolerance."""
    labels = labels or {}
    if cell == "*":
        return True
    if cell is None or value is None:
        return (cell is None and value is None) or (
            cell is not None and value is None and None in (read(str(cell)).members or ())
        )
    if cell in labels:
        return any(covers(str(each), value, tolerance) for each in labels[cell])
    if isinstance(value, str):
        members = read(cell).members
        return cell == value if members is None else value in members
    tolerance = dt.timedelta() if tolerance == 0 and isinstance(value, dt.date) else tolerance
    low, high = value - tolerance, value + tolerance
    kind = dt.date.fromisoformat if isinstance(value, dt.date) else type(value)
    parts = read(str(cell))
    if parts.members is not None:
        return any(member is not None and low <= kind(member) <= high for member in parts.members)
    if parts.ends is None:
        return bool(low <= kind(str(cell)) <= high)
    first, last = parts.ends
    begins = first is None or kind(first) <= high
    ends = last is None or (kind(last) >= low if parts.is_closed else kind(last) > low)
    return begins and ends


def n_candidates(
    rows: Sequence[tuple[Any, ...]],
    persons: Sequence[Any],
    known: Sequence[tuple[Any, ...]],
    tolerance: Sequence[Any],
) -> list[Any]:
    """List the persons who have a row of their own for each known record."""
    found = []
    for person in dict.fromkeys(each for each in persons if each is not None):
        own = [row for row, whose in zip(rows, persons, strict=True) if whose == person]
        if any(
            all(
                all(covers(cell, value, amount) for cell, value, amount in zip(row, record, tolerance, strict=True))
                for row, record in zip(chosen, known, strict=True)
            )
            for chosen in permutations(own, len(known))
        ):
            found.append(person)
    return found


class Ranked(NamedTuple):
    """Who has the highest score, who else has it or is within the limit of it; nobody where all scores are 0."""

    best: list[Any]
    near: list[Any]


def rank_persons(
    rows: Sequence[tuple[Any, ...]],
    persons: Sequence[Any],
    known: Sequence[tuple[Any, ...]],
    tolerance: Sequence[Any],
    exact: Sequence[int],
    limit: float,
) -> Ranked:
    """Score persons by definition: every way to give known records rows of their own is tried.

    A record that fits counts 1 / log of the persons who have a row that fits in the exact columns, at least 2.
    """
    everybody = list(dict.fromkeys(each for each in persons if each is not None))

    def fits(row: tuple[Any, ...], record: tuple[Any, ...], columns: Sequence[int]) -> bool:
        return all(covers(row[j], record[j], tolerance[j]) for j in columns)

    weights = []
    for record in known:
        having = {whose for row, whose in zip(rows, persons, strict=True) if fits(row, record, exact)} - {None}
        weights.append(1 / math.log(max(2, len(having))) if exact else 1.0)

    def score(own: Sequence[tuple[Any, ...]], records: Sequence[int]) -> float:
        if not records:
            return 0.0
        without = score(own, records[1:])
        ways = [
            weights[records[0]] + score([*own[:i], *own[i + 1 :]], records[1:])
            for i, row in enumerate(own)
            if fits(row, known[records[0]], range(len(row)))
        ]
        return max([without, *ways])

    scores = {
        each: score([row for row, whose in zip(rows, persons, strict=True) if whose == each], range(len(known)))
        for each in everybody
    }
    highest = max(scores.values(), default=0.0)
    if not highest:
        return Ranked([], [])
    enough = highest - limit * statistics.pstdev(scores.values())
    best = [each for each, value in scores.items() if math.isclose(value, highest, rel_tol=1e-12)]
    return Ranked(best, [each for each, value in scores.items() if each in best or value > enough])
