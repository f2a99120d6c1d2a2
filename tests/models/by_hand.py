"""Class statistics written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hushtable.models import ClassStats, Ground, Histogram

Held = dict[int, int]
"""Records of each code in one class; -1 is the missing value."""


def histogram_of(classes: Sequence[Held]) -> Histogram:
    ordered = [sorted(held.items()) for held in classes]
    return Histogram(
        np.cumsum([0, *map(len, ordered)]),
        np.array([code for held in ordered for code, _ in held], dtype=np.int32),
        np.array([count for held in ordered for _, count in held], dtype=np.int64),
    )


def added(classes: Sequence[Held]) -> Held:
    """Records of each code in all of the classes together."""
    return {code: sum(held.get(code, 0) for held in classes) for held in classes for code in held}


def totals_of(whole: Held) -> np.ndarray:
    return np.array([whole.get(code, 0) for code in range(-1, max(whole, default=0) + 1)], dtype=np.int64)


def stats_of(
    classes: Sequence[Held] = (),
    whole: Held | None = None,
    *,
    more: Mapping[str, Sequence[Held]] | None = None,
    sizes: Sequence[int] | None = None,
    population: Sequence[int] | None = None,
    ground: Ground | None = None,
) -> ClassStats:
    """Statistics of the column "s" (and of ``more``); the whole is the sum of the classes unless given."""
    columns = {"s": classes, **(more or {})}
    totals = {name: totals_of(added(held)) for name, held in columns.items()}
    if whole is not None:
        totals["s"] = totals_of(whole)
    return ClassStats(
        np.array([sum(held.values()) for held in classes] if sizes is None else sizes, dtype=np.int64),
        {name: histogram_of(held) for name, held in columns.items()},
        totals,
        None if population is None else np.array(population, dtype=np.int64),
        {} if ground is None else {"s": ground},
    )
