"""How a column is distributed before and after, in few places: round bins, or the values that many records share."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import FloatArray
from hushtable.columns import Column
from hushtable.quality import distances as spreads
from hushtable.quality.distances import Spread

if TYPE_CHECKING:
    from hushtable.quality.cell_values import Standing

__all__ = ["Distribution", "distribution"]

_MOST_PLACES: Final = 10
_LEAST: Final = 11  # records that share what is named
_OUTSIDE: Final = 0.01  # of the records, on either side, in the open bins; at least so many as are named
_MONTHS: Final = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_MISSING: Final = "missing"
_OTHERS: Final = "all others"


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of records by place.

    Attributes
    ----------
    places : tuple of str
        Bins between round numbers or days, the outer ones open; of a category, the most frequent values of those
        that 11 records share, and all others. The missing value is last, where there is one.
    original : tuple of float or None
        In [0, 1]; None of a bin with 1 to 10 records.
    release : tuple of float
        What the published cells say, in [0, 1].
    """

    places: tuple[str, ...] = field(repr=False)
    original: tuple[float | None, ...] = field(repr=False)
    release: tuple[float, ...] = field(repr=False)


def distribution(standing: Standing) -> Distribution | None:
    """Count the records of the original and of the release by place; None where a side says nothing.

    Parameters
    ----------
    standing : Standing

    Notes
    -----
    A published cell stands for its values equally; see `hushtable.quality.cell_values`.
    """
    both = standing.original, standing.published
    if standing.column.is_measured:
        edges, places = _edges(standing)
        counted = [_added(each, spreads.binned(each, edges)) for each in both]
    else:
        values = _frequent(standing.original)
        texts = standing.column.texts()
        places = [texts[value] for value in values.tolist()]
        counted = [_with_others(each, _added(each, spreads.by_value(each, values))) for each in both]
        places.append(_OTHERS)
    totals = [float(each.counts.sum()) for each in both]
    if not all(totals):
        return None
    places.append(_MISSING)
    ours, theirs = counted
    shown = [place for place in range(len(places)) if ours[place] > 0 or theirs[place] > 0]
    return Distribution(
        tuple(places[place] for place in shown),
        tuple(None if 0 < ours[place] < _LEAST else float(ours[place] / totals[0]) for place in shown),
        tuple(float(theirs[place] / totals[1]) for place in shown),
    )


def _added(spread: Spread, shares: FloatArray) -> FloatArray:
    """Return the records of every place, from the shares of each cell."""
    return np.asarray(spread.counts @ shares)


def _with_others(spread: Spread, counted: FloatArray) -> FloatArray:
    """Put what is in no place before the missing value."""
    rest = max(0.0, float(spread.counts.sum() - counted.sum()))
    return np.insert(counted, len(counted) - 1, rest if rest > 1e-6 else 0.0)


def _frequent(original: Spread) -> np.ndarray:
    """Return the codes of the most frequent values, ascending."""
    counts = np.bincount(original.low.astype(np.int64), weights=original.share * original.counts[original.cell])
    order = np.argsort(-counts, kind="stable")[:_MOST_PLACES]
    return np.sort(order[counts[order] >= _LEAST])


def _edges(standing: Standing) -> tuple[FloatArray, list[str]]:
    """Return round edges between bins as places, and what the bins are called."""
    column, axis, original = standing.column, standing.axis, standing.original
    order = np.argsort(original.low)
    records = (original.share * original.counts[original.cell])[order]
    reached, n = np.cumsum(records), float(records.sum())
    outside = max(_OUTSIDE * n, _LEAST)
    if 2 * outside >= n:
        return np.empty(0), ["all values"]
    ends = [float(original.low[order][int(np.searchsorted(reached, at))]) for at in (outside, n - outside)]
    if column.kind in ("date", "datetime"):
        texts, shown = _calendar(column, axis.first, ends)
    else:
        texts, shown = _numbers(axis.number(ends[0]), axis.number(ends[1]), column.kind)
    if not texts:
        return np.empty(0), ["all values"]
    names = [f"<{shown[0]}", *(f"{low}–{high}" for low, high in itertools.pairwise(shown)), f"≥{shown[-1]}"]
    return np.array([float(place) for place in axis.bounds(texts)]), names


def _numbers(low: float, high: float, kind: str) -> tuple[list[str], list[str]]:
    """Return multiples of 1, 2 or 5 times a power of ten between two numbers, at most so many."""
    least = 1.0 if kind == "integer" else 0.0
    if not high > low:
        return [], []
    power = 10.0 ** math.floor(math.log10((high - low) / _MOST_PLACES))
    step = next(each for each in (2, 5, 10, 20) if (high - low) / (each * power) <= _MOST_PLACES - 2) * power
    step = max(step, least)
    multiples = np.arange(math.floor(low / step) + 1, math.ceil(high / step)) * step
    exact = [float(f"{each:.12g}") for each in multiples.tolist()]
    return [repr(each) for each in exact], [f"{each:,.12g}" for each in exact]


def _calendar(column: Column, first: float, ends: list[float]) -> tuple[list[str], list[str]]:
    """Return first days of months, quarters or years between two days, at most so many."""
    whole = np.array([int(place) + int(first) for place in ends]).astype(column.values.dtype)
    low, high = whole.astype("datetime64[M]").astype(np.int64) + 1970 * 12
    step = next((each for each in _MONTHS if (high - low) / each <= _MOST_PLACES - 2), _MONTHS[-1])
    months = np.arange(low // step + 1, high // step + 1) * step
    days = (months - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]").astype(str).tolist()
    return days, [day[:4] if step % 12 == 0 else day[:7] for day in days]
