"""Slow twins of `hushtable.release.timelines`, from the definitions: they import nothing that they judge."""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import pairwise


def offset(key: bytes, person: str, n: int, days: int) -> int:
    """The keyed offset of a person in days."""
    digest = hmac.new(key, b"hushtable: offset of dates\0" + person.encode(), hashlib.sha256).hexdigest()
    return int(digest, 16) % n * days


def published(dates: Iterable[date], offset_days: int, first: date, last: date, reach: int) -> list[date]:
    """The shifted dates of a person that lie so that every offset from 0 to the reach keeps them in the window."""
    shifted = [day + timedelta(offset_days) for day in dates]
    return [day for day in shifted if first <= day - timedelta(reach) and day <= last]


def intervals(events: Iterable[tuple[int, int]], n_known: int | None, least: int) -> tuple[int, float]:
    """How many persons have so many intervals, and the mean chance that a run of them is had by fewer than `least`."""
    days_of = defaultdict(list)
    for person, day in events:
        days_of[person].append(day)
    runs = {}
    for person, days in days_of.items():
        days.sort()
        gaps = [later - earlier for earlier, later in pairwise(days)]
        n = len(gaps) if n_known is None else n_known
        runs[person] = [tuple(gaps[i : i + n]) for i in range(len(gaps) - n + 1)] if n and len(gaps) >= n else []
    able = [person for person, own in runs.items() if own]
    chances = [
        sum(sum(run in runs[other] for other in able) < least for run in runs[person]) / len(runs[person])
        for person in able
    ]
    return len(able), sum(chances) / max(1, len(able))
