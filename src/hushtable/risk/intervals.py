"""Rates with their intervals, and what an attack achieves beyond its control."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any


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


class HitRates:
    """What follows from the counts of an attack that looks for some and hits so many of them."""

    __slots__: tuple[str, ...] = ()

    n_right: int | None

    @property
    def hits(self) -> tuple[int, int]:
        """How many are hit, and of how many."""
        raise NotImplementedError

    @property
    def rate(self) -> float:
        """Of those looked for, the share that is hit, in [0, 1]. Higher is riskier."""
        n_hit, n = self.hits
        return n_hit / n

    @property
    def right_rate(self) -> float | None:
        """Of those looked for, the share that is hit rightly; None where nobody can tell."""
        return None if self.n_right is None else self.n_right / self.hits[1]

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate, where those looked for are a sample."""
        return self._wilson_interval()

    def _wilson_interval(self) -> tuple[float, float]:
        centre, error = wilson_interval(*self.hits)
        return clip_interval(centre - error, centre + error)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        counts = {name: getattr(self, name) for name in self.__slots__}
        return {**counts, "rate": self.rate, "interval": list(self.interval), "right_rate": self.right_rate}
