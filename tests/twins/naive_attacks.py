"""Attacks by their definitions: every published row is compared with every known record."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl

from hushtable.columns import read


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
            cell is not None and value is None and None in read(str(cell)).members
        )
    if cell in labels:
        return any(covers(str(each), value, tolerance) for each in labels[cell])
    if isinstance(value, str):
        parts = read(cell)
        return value in parts.members if parts.form == "set" else cell == value
    tolerance = dt.timedelta() if tolerance == 0 and isinstance(value, dt.date) else tolerance
    low, high = value - tolerance, value + tolerance
    kind = dt.date.fromisoformat if isinstance(value, dt.date) else type(value)
    parts = read(str(cell))
    if parts.form == "set":
        return any(member is not None and low <= kind(member) <= high for member in parts.members)
    if parts.ends is None:
        return bool(low <= kind(str(cell)) <= high)
    begins = parts.ends.low is None or kind(parts.ends.low) <= high
    ends = parts.ends.high is None or (
        kind(parts.ends.high) >= low if parts.ends.is_closed else kind(parts.ends.high) > low
    )
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
