"""Population uniqueness by Pitman's sampling formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hushtable.risk.population.classes import SampleClasses
from hushtable.risk.population.estimate import Point

__all__ = ["fit_pitman", "pitman"]

_ALPHAS = (1e-4, *np.linspace(0.02, 0.98, 25).tolist(), 1 - 1e-4)


def pitman(classes: SampleClasses) -> Point:
    """Estimate population uniqueness by the Ewens-Pitman partition.

    U = N^(alpha - 1) Gamma(theta + 1) / Gamma(theta + alpha), (alpha, theta) by `fit_pitman`.

    Notes
    -----
    Hoshino (2001), Journal of Official Statistics 17, as ARX does: the asymptotic form for large N.

    Examples
    --------
    >>> sample = SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
    >>> round(pitman(sample).value, 3)
    0.161
    """
    if classes.settled is not None:
        return classes.settled
    if classes.n_classes < 2 or classes.n_unique == classes.n_records:
        return Point(None, "not estimable: Pitman's model needs classes of one record and of several")
    fitted = fit_pitman(classes)
    if fitted is None:
        return Point(None, "not estimable: the likelihood of Pitman's model has no maximum inside its range")
    alpha, theta = fitted
    n = classes.population_size
    value = math.exp((alpha - 1) * math.log(n) + math.lgamma(theta + 1) - math.lgamma(theta + alpha))
    if value > 1:
        return Point(None, "not estimable: Pitman's model, as fitted, has more unique people than people")
    return Point(value)


def fit_pitman(classes: SampleClasses) -> tuple[float, float] | None:
    """Return (alpha, theta) of the greatest likelihood, 0 < alpha < 1, theta > -alpha; None where it has no maximum.

    Notes
    -----
    The likelihood's derivative along theta is solved for each alpha, then its sign is followed along alpha: all
    maxima between the points of a grid are found, and the best is taken. In closed form by digamma functions, so
    the cost does not depend on the number of records, but for the distinct sizes of classes.
    """
    slopes = [_slope(classes, alpha)[0] for alpha in _ALPHAS]
    found = [
        _root(lambda alpha: _slope(classes, alpha)[0], low, high)
        for (low, before), (high, after) in pairwise(zip(_ALPHAS, slopes, strict=True))
        if before > 0 >= after
    ]
    peaks = [(alpha, _slope(classes, alpha)[1]) for alpha in found]
    return max(peaks, key=lambda peak: _likelihood(classes, *peak), default=None)


def _slope(classes: SampleClasses, alpha: float) -> tuple[float, float]:
    """Return the derivative of the log-likelihood along alpha at the best theta for it, and that theta."""
    from scipy.special import digamma

    u, n = classes.n_classes, classes.n_records

    def reciprocals(theta: float) -> float:
        """Return the sum over i = 1 .. u - 1 of 1 / (theta + i alpha)."""
        return float(digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha

    def along_theta(log: float) -> float:
        theta = math.exp(log) - alpha
        return reciprocals(theta) - float(digamma(theta + n) - digamma(theta + 1))

    theta = math.exp(_root(along_theta, math.log(1e-9), math.log(1e3 * n * n))) - alpha
    within = classes.counts @ (digamma(classes.sizes - alpha) - digamma(1 - alpha))
    return ((u - 1) - theta * reciprocals(theta)) / alpha - float(within), theta


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that falls from above 0 to below crosses it; an end where it does not cross."""
    from scipy.optimize import brentq

    if function(low) <= 0:
        return low
    if function(high) >= 0:
        return high
    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-14))


def _likelihood(classes: SampleClasses, alpha: float, theta: float) -> float:
    """Return the log-likelihood without what does not depend on the parameters."""
    from scipy.special import gammaln

    u, n = classes.n_classes, classes.n_records
    between = (u - 1) * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    among = gammaln(theta + n) - gammaln(theta + 1)
    return float(between - among + classes.counts @ (gammaln(classes.sizes - alpha) - gammaln(1 - alpha)))
