"""Whom the intervals between a person's dates single out, were they published exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray

_KNOWN: Final = (1, 2, 3, None)


@dataclass(frozen=True, slots=True)
class KnownIntervals:
    """What somebody finds who knows so many intervals between consecutive dates of a person.

    A person with several runs of so many intervals counts by the share of them that finds it.
    """

    n_intervals: int | None  # None: all of them
    n_persons: int  # who have so many
    found: float  # the chance that one run of them finds the person alone, in [0, 1]
    few: float  # that it finds fewer than k persons


def measure_intervals(persons: CodeArray, days: CountArray, k: int) -> tuple[KnownIntervals, ...]:
    """Measure whom 1, 2, 3 and all intervals between consecutive dates find, by days.

    Parameters
    ----------
    persons : array of int, shape (n_dates,)
        Whose date it is, from 0.
    days : array of int, shape (n_dates,)
    k : int
        Among fewer persons nobody is to be.

    Returns
    -------
    tuple of KnownIntervals
        Without those that nobody has.
    """
    order = np.lexsort((days, persons))
    whose, sorted_days = persons[order], days[order]
    is_same = whose[1:] == whose[:-1]
    owner, intervals = whose[1:][is_same].astype(np.int64), np.diff(sorted_days)[is_same]
    n_own = np.bincount(owner)
    measured = (
        _measure_runs(owner, intervals, n, k) if n else _measure_all(owner, intervals, n_own, k) for n in _KNOWN
    )
    return tuple(each for each in measured if each.n_persons)


def _measure_runs(owner: CountArray, intervals: CountArray, n_known: int, k: int) -> KnownIntervals:
    """Measure what each run of consecutive intervals of a person finds."""
    n_runs = max(0, len(owner) - n_known + 1)
    begins = np.flatnonzero(owner[:n_runs] == owner[n_known - 1 :][:n_runs])
    runs = np.array([intervals[begins + step] for step in range(n_known)])
    n_holders = _count_holders(runs, owner[begins])
    whose, n_of_person = np.unique(owner[begins], return_inverse=True)
    n_own = np.bincount(n_of_person)
    found, few = (np.bincount(n_of_person, weights=n_holders < least) / n_own for least in (2, max(k, 2)))
    n_persons = len(whose)
    return KnownIntervals(
        n_known, n_persons, float(found.sum()) / max(n_persons, 1), float(few.sum()) / max(n_persons, 1)
    )


def _measure_all(owner: CountArray, intervals: CountArray, n_own: CountArray, k: int) -> KnownIntervals:
    """Measure what all intervals of a person find: those with the same ones, and as many."""
    n_found = n_few = 0
    starts = np.cumsum(n_own) - n_own
    for length in np.unique(n_own[n_own > 0]).tolist():
        begins = starts[n_own == length]
        n_holders = _count_holders(np.array([intervals[begins + step] for step in range(length)]), owner[begins])
        n_found += int((n_holders < 2).sum())
        n_few += int((n_holders < max(k, 2)).sum())
    n_persons = int((n_own > 0).sum())
    return KnownIntervals(None, n_persons, n_found / max(n_persons, 1), n_few / max(n_persons, 1))


def _count_holders(runs: CountArray, persons: CountArray) -> CountArray:
    """Count, for every run (a column of ``runs``), the persons who have an equal one."""
    labels = np.zeros(len(persons), dtype=np.int64)
    for step in runs:
        # Ranks keep the products below 2^63, whatever the intervals are.
        _, ranks = np.unique(step, return_inverse=True)
        _, labels = np.unique(labels * (int(ranks.max(initial=0)) + 1) + ranks, return_inverse=True)
    # Pairs of a run and a person, each once.
    n_persons = int(persons.max(initial=0)) + 1
    pairs = np.unique(labels * n_persons + persons)
    return np.asarray(np.bincount(pairs // n_persons, minlength=1)[labels])
