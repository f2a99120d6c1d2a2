"""What scores of members and non-members show: curves, rates at few false alarms, and one test of many attacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv
from scipy.stats import rankdata

from hushtable._types import CountArray, FloatArray
from hushtable.risk.intervals import standard_score

_N_THRESHOLDS: Final = 200  # of false alarm rates, over which a rate is averaged
_N_HALVINGS: Final = 40
_POWER: Final = 0.8
_TAIL: Final = 0.025
_LABELS_PER_BATCH: Final = 64


@dataclass(frozen=True, slots=True)
class Recognition:
    """How many members an attacker recognises who accuses few outsiders wrongly.

    Attributes
    ----------
    false_alarms : float
        The share of non-members that may be accused; 0 is none of those that there are.
    n_recognised : int
        Members whose score is above that of all other non-members.
    rate : float
        Their share of all members.
    excess : float
        The share of the people who leak, beyond those accused by chance.
    low, high : float
        The ends of its 95 % interval: by the beta-binomial distribution, since the threshold is estimated from
        non-members too. The lower end holds for all attacks together (Bonferroni), since the best one is quoted.
    p_value : float
        The chance of so many, if members were like non-members.
    """

    false_alarms: float
    n_recognised: int
    rate: float
    excess: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Area:
    """The area under a receiver operating characteristic, and the ends of its 95 % interval; 0.5 is chance."""

    value: float
    low: float
    high: float


def area_under_curve(members: FloatArray, others: FloatArray) -> Area:
    """Return the chance that a member scores higher than a non-member, ties counted half, with DeLong's interval.

    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), by mid-ranks (Sun and Xu, 2014).
    """
    m, n = len(members), len(others)
    ranks = rankdata(np.concatenate([members, others]))
    of_members = (ranks[:m] - rankdata(members)) / n  # of each member, the share of non-members below
    of_others = 1 - (ranks[m:] - rankdata(others)) / m
    area = float(of_members.mean())
    if min(m, n) < 2:
        return Area(area, math.nan, math.nan)
    error = standard_score() * math.sqrt(float(of_members.var(ddof=1)) / m + float(of_others.var(ddof=1)) / n)
    return Area(area, max(0.0, area - error), min(1.0, area + error))


def recognise(members: FloatArray, others: FloatArray, false_alarms: float, n_attacks: int = 1) -> Recognition:
    """Count the members above the threshold that so many non-members exceed; NaN where there are too few of those.

    The lower end of the interval holds for so many attacks together.
    """
    m, n = len(members), len(others)
    n_above = _n_accused(n, false_alarms)
    if n_above is None:
        return Recognition(false_alarms, 0, *[math.nan] * 5)
    threshold = np.partition(others, n - 1 - n_above)[n - 1 - n_above]
    n_found = int((members > threshold).sum())
    # Of those who do not leak, as large a share is accused as of non-members.
    share_by_chance = (n_above + 1) / (n + 1) if n_above == 0 else n_above / n
    excess = (n_found / m - share_by_chance) / (1 - share_by_chance)
    low, high = _leaking_share_interval(n_found, m, n, n_above, n_attacks)
    p_value = _chance_of_at_least(n_found, 0.0, m, n, n_above)
    return Recognition(false_alarms, n_found, n_found / m, excess, low, high, p_value)


def least_recognised(m: int, n: int, false_alarms: float) -> float:
    """Return the smallest share of leaking people that these numbers tell from none, with a power of 80 %."""
    n_above = _n_accused(n, false_alarms)
    if n_above is None:
        return math.nan
    counts = np.arange(m + 2)
    n_needed = int(np.argmax(_chances_of_at_least(counts, 0.0, m, n, n_above) <= _TAIL))
    return _bisect(lambda share: _chance_of_at_least(n_needed, share, m, n, n_above) >= _POWER)


def least_area(m: int, n: int) -> float:
    """Return the smallest area under the curve that these numbers tell from one half, with a power of 80 %."""
    return 0.5 + (standard_score() + standard_score(2 * _POWER - 1)) * math.sqrt((m + n + 1) / (12 * m * n))


def _n_accused(n: int, false_alarms: float) -> int | None:
    """Return how many of the non-members may be accused; None where they are too few for that share."""
    n_above = int(false_alarms * n + 1e-9)
    return n_above if n > n_above and bool(n_above) == (false_alarms > 0) else None


def _leaking_share_interval(n_found: int, m: int, n: int, n_above: int, n_attacks: int) -> tuple[float, float]:
    """Return the shares of leaking people beyond which so many recognised ones would be no chance."""
    low = _bisect(lambda share: _chance_of_at_least(n_found, share, m, n, n_above) > _TAIL / n_attacks)
    high = _bisect(lambda share: 1 - _chance_of_at_least(n_found + 1, share, m, n, n_above) <= _TAIL)
    return low, high


def _chance_of_at_least(n_found: int, share: float, m: int, n: int, n_above: int) -> float:
    """Return the chance of at least so many recognised members: see `_chances_of_at_least`."""
    return float(_chances_of_at_least(np.array([n_found]), share, m, n, n_above)[0])


def _chances_of_at_least(counts: CountArray, share: float, m: int, n: int, n_above: int) -> FloatArray:
    """Return the chance of so many recognised members if a share of them leaks and the others are like non-members.

    The true share of non-members above the threshold is distributed as Beta(n_above + 1, n - n_above).
    """
    middles = (np.arange(_N_THRESHOLDS) + 0.5) / _N_THRESHOLDS
    accused = share + (1 - share) * betaincinv(n_above + 1, n - n_above, middles)
    counts = counts[:, None]
    upper = betainc(np.maximum(counts, 1), np.maximum(m - counts + 1, 1e-9), accused)
    return np.asarray(np.where(counts <= 0, 1.0, np.where(counts > m, 0.0, upper)).mean(axis=1))


def _bisect(holds: Callable[[float], bool]) -> float:
    """Return the least share from which on a condition holds; 1 where it never does."""
    low, high = 0.0, 1.0
    if holds(0.0):
        return 0.0
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def linear_statistics(scores: FloatArray, which: NDArray[np.bool_] | None = None) -> FloatArray:
    """Return what each unit adds to three statistics if it is a member: its rank, being in the top 1 % and 0.1 %.

    Centred, so that each sums to 0; of units that do not count, 0. Where ties reach over the end of the top, none of
    the tied ones is in it.
    """
    counted = np.ones(len(scores), dtype=bool) if which is None else which
    values = scores[counted]
    n = len(values)
    parts = [rankdata(values)]
    for share in (0.01, 0.001):
        n_top = int(share * n)
        threshold = np.partition(values, n - 1 - n_top)[n - 1 - n_top] if n_top else np.inf
        parts.append((values > threshold).astype(float))
    statistics = np.zeros((len(parts), len(scores)))
    statistics[:, counted] = [part - part.mean() for part in parts]
    return statistics


def adjust_p_values(
    statistics: Sequence[FloatArray], is_member: NDArray[np.bool_], n_permutations: int, rng: np.random.Generator
) -> FloatArray:
    """Return the p-value of each group of statistics, adjusted for all by the maximum over permutations of the labels.

    Westfall and Young (1993), single step. A statistic (n_statistics, n_units) is what each unit adds if it is a
    member, and sums to 0. Scores do not depend on who is a member, so that the labels can be exchanged and no attack
    runs again. A statistic that cannot vary counts as 0.
    """
    sizes = [len(each) for each in statistics]
    stacked = np.vstack(list(statistics))
    n, m = len(is_member), int(is_member.sum())
    # The variance of a sum over m of n units drawn without replacement.
    spread = np.sqrt((stacked**2).sum(axis=1) * m * (n - m) / (n * max(1, n - 1)))
    scaled = (stacked / np.where(spread > 1e-12, spread, np.inf)[:, None]).astype(np.float32)
    observed = scaled @ is_member.astype(np.float32)
    largest = np.array([part.max() for part in np.split(observed, np.cumsum(sizes)[:-1])])
    maxima = np.empty(n_permutations)
    labels = is_member.astype(np.float32)
    for begin in range(0, n_permutations, _LABELS_PER_BATCH):
        n_drawn = min(_LABELS_PER_BATCH, n_permutations - begin)
        drawn = np.stack([rng.permutation(labels) for _ in range(n_drawn)], axis=1)
        maxima[begin : begin + n_drawn] = (scaled @ drawn).max(axis=0)
    # Float sums of one set of units differ in their last digits with their order.
    return np.asarray((1 + (maxima[None] >= largest[:, None] - 1e-4).sum(axis=1)) / (1 + n_permutations))


def conformal_p_values(members: FloatArray, others: FloatArray) -> FloatArray:
    """Return for each member the share of non-members, itself among them, that score at least as high."""
    ordered = np.sort(others)
    n_at_least = len(others) - np.searchsorted(ordered, members, side="left")
    return np.asarray((1 + n_at_least) / (1 + len(others)))


def select_by_false_discoveries(p_values: FloatArray, share: float) -> NDArray[np.bool_]:
    """Select as many of the smallest p-values as bound the share of false ones: Benjamini and Hochberg (1995)."""
    n = len(p_values)
    ordered = np.sort(p_values)
    passes = np.flatnonzero(ordered <= share * np.arange(1, n + 1) / n)
    return np.asarray(p_values <= ordered[passes[-1]]) if len(passes) else np.zeros(n, dtype=bool)
