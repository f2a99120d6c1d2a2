"""Whether weekdays and seasons give a shift of dates away, and which offsets a reader who knows them has left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.release.timelines.shifting import DateShift

_PERSONS_IN_SAMPLE: Final = 1_000
_UNEVEN: Final = 1e-3  # the p-value below which weekdays are not evenly distributed
_SHARE_OF_FLAT: Final = 0.1  # of chi-squared per date that is left where weekdays were levelled
_THURSDAY: Final = 3  # the weekday of 1970-01-01, from Monday


@dataclass(frozen=True, slots=True)
class DateCurve:
    """How dates lie over weekdays and months, before and after a shift, and what that leaves of the offsets."""

    input_weekday_chi2: float  # against evenly distributed weekdays
    input_weekday_p: float
    input_month_peak: float  # dates a day in the busiest month, as a multiple of the mean; 1 is flat
    weekday_chi2: float  # of the shifted dates
    weekday_p: float
    month_peak: float
    n_offsets: int
    # 2^entropy of a person's offset, for a reader who knows how many dates fall on each weekday and in each month
    mean_offsets: float
    fewest_offsets: float
    n_persons: int  # who were looked at
    # Whether weekdays are uneven in the input and hardly among the shifted dates, as only a shift makes them
    shows_shift: bool


def measure_curve(
    dates: NDArray[np.datetime64], shifted: NDArray[np.datetime64], persons: CodeArray | CountArray, shift: DateShift
) -> DateCurve | None:
    """Compare the dates of the input with the shifted ones that are published; None without any.

    Parameters
    ----------
    dates : array of datetime64
        Of the input, within the window; NaT is missing.
    shifted : array of datetime64, shape (n_published,)
        Those that are published; NaT is missing.
    persons : array of int, shape (n_published,)
    shift : DateShift
    """
    days = dates[~np.isnat(dates)].astype("datetime64[D]")
    is_date = ~np.isnat(shifted)
    shown, whose = shifted[is_date].astype("datetime64[D]"), persons[is_date]
    if not len(days) or not len(shown):
        return None
    first, last = (np.datetime64(day) for day in shift.window)
    window = np.arange(first, last + 1)
    by_day = _rate_weekdays(days, window)[_weekdays(window)] * _rate_months(days, window)[_months(window)]
    effective = _count_effective_offsets(np.log(by_day), (shown - first).astype(np.int64), whose, shift)
    first_shown, last_shown = (np.datetime64(day) for day in shift.published_window)
    (input_chi2, input_p), (chi2, p) = (_test_weekdays(each) for each in (days, shown))
    return DateCurve(
        input_weekday_chi2=input_chi2,
        input_weekday_p=input_p,
        input_month_peak=_peak_of_months(days, window),
        weekday_chi2=chi2,
        weekday_p=p,
        month_peak=_peak_of_months(shown, np.arange(first_shown, last_shown + 1)),
        n_offsets=shift.n_offsets,
        mean_offsets=float(effective.mean()),
        fewest_offsets=float(effective.min()),
        n_persons=len(effective),
        shows_shift=input_p < _UNEVEN and chi2 / len(shown) < _SHARE_OF_FLAT * input_chi2 / len(days),
    )


def _weekdays(days: NDArray[np.datetime64]) -> CountArray:
    return np.asarray((days.astype(np.int64) + _THURSDAY) % 7)


def _months(days: NDArray[np.datetime64]) -> CountArray:
    return np.asarray(days.astype("datetime64[M]").astype(np.int64) % 12)


def _test_weekdays(days: NDArray[np.datetime64]) -> tuple[float, float]:
    """Return chi-squared of the weekdays against evenly distributed ones, and its p-value."""
    from scipy.special import chdtrc

    counts = np.bincount(_weekdays(days), minlength=7)
    expected = counts.sum() / 7
    statistic = float(((counts - expected) ** 2).sum() / expected)
    return statistic, float(chdtrc(6, statistic))


def _rate_weekdays(days: NDArray[np.datetime64], window: NDArray[np.datetime64]) -> FloatArray:
    return _rate(_weekdays(days), _weekdays(window), 7)


def _rate_months(days: NDArray[np.datetime64], window: NDArray[np.datetime64]) -> FloatArray:
    return _rate(_months(days), _months(window), 12)


def _peak_of_months(days: NDArray[np.datetime64], window: NDArray[np.datetime64]) -> float:
    return float(_rate_months(days, window).max())


def _rate(parts: CountArray, parts_of_window: CountArray, n_parts: int) -> FloatArray:
    """Return how many dates a day fall into each part, relative to their mean; one more each, so that none is 0."""
    counts = np.bincount(parts, minlength=n_parts) + 1
    n_days = np.bincount(parts_of_window, minlength=n_parts)
    return np.asarray((counts / np.maximum(n_days, 1)) / (counts.sum() / max(1, len(parts_of_window))))


def _count_effective_offsets(
    log_rates: FloatArray, places: CountArray, persons: CodeArray | CountArray, shift: DateShift
) -> FloatArray:
    """Return 2^entropy of the offset of each person of a sample, given all of its published dates.

    ``places`` are days since the beginning of the window; less an offset, each lies in the window.
    """
    sample = np.unique(persons)
    if len(sample) > _PERSONS_IN_SAMPLE:
        sample = np.sort(np.random.default_rng(0).choice(sample, _PERSONS_IN_SAMPLE, replace=False))
    is_in = np.isin(persons, sample)
    owner = np.searchsorted(sample, persons[is_in])
    by_offset = [
        np.bincount(owner, weights=log_rates[places[is_in] - n * shift.unit_days], minlength=len(sample))
        for n in range(shift.n_offsets)
    ]
    log_odds = np.array(by_offset)
    chances = np.exp(log_odds - log_odds.max(axis=0))
    chances /= chances.sum(axis=0)
    entropy = -(chances * np.log2(np.maximum(chances, 1e-300))).sum(axis=0)
    return np.asarray(2.0**entropy)
