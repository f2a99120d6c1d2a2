"""Rates with their intervals, and what an attack achieves beyond its control."""

from __future__ import annotations

from statistics import NormalDist


def standard_score(confidence: float = 0.95) -> float:
    """Return how many standard errors a two-sided normal interval reaches to either side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the centre and half width of Wilson's interval of a rate.

    Wilson (1927), as Anonymeter (Giomi et al., PETS 2023, section 4) uses it: the centre takes the place of the rate.
    It assumes independent trials, which records that hit the same person are not: ``n`` may be how many independent
    ones say as much, and successes the mean of several runs.
    """
    z = standard_score(confidence)
    rate = (successes + z * z / 2) / (n + z * z)
    error = z / (n + z * z) * (successes * (n - successes) / n + z * z / 4) ** 0.5
    return rate, error


def excess_risk(attack: tuple[float, float], control: tuple[float, float]) -> tuple[float, float]:
    """Return the risk that an attack achieves beyond its control, and the half width of its interval.

    (attack - control) / (1 - control), its error propagated: Anonymeter (Giomi et al., PETS 2023, section 4). Below 0
    where the control succeeds more often; NaN where it always does.
    """
    (a, a_error), (c, c_error) = attack, control
    if c >= 1:
        return float("nan"), float("nan")
    error = ((a_error / (1 - c)) ** 2 + (c_error * (a - 1) / (1 - c) ** 2) ** 2) ** 0.5
    return (a - c) / (1 - c), error


def clip_interval(low: float, high: float) -> tuple[float, float]:
    """Return an interval of a rate with its ends brought into [0, 1], each by itself."""
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
