"""Population uniqueness by Pitman's sampling formula.

Population uniqueness by the slide negative binomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hushtable._types import FloatArray
from hushtable.risk.population.classes import Point, SampleClasses

__all__ = ["fit_pitman", "fit_snb", "pitman", "snb"]

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
    return max(peaks, key=lambda peak: _pitman_likelihood(classes, *peak), default=None)


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


def _pitman_likelihood(classes: SampleClasses, alpha: float, theta: float) -> float:
    """Return the log-likelihood without what does not depend on the parameters."""
    from scipy.special import gammaln

    u, n = classes.n_classes, classes.n_records
    between = (u - 1) * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    among = gammaln(theta + n) - gammaln(theta + 1)
    return float(between - among + classes.counts @ (gammaln(classes.sizes - alpha) - gammaln(1 - alpha)))


_ALPHA = (1e-12, 1e4)
_ODDS = (1e-9, 1e9)
_EDGE = 0.01
_FLAT = 1e-6  # of the log-likelihood per class


def snb(classes: SampleClasses) -> Point:
    """Estimate population uniqueness by classes of 1 + NB(alpha, beta) people.

    U = K beta^alpha / N, K = u / (1 - p_0) the population's classes, p_0 the chance that the sample
    misses one; (alpha, beta) by `fit_snb`.

    Notes
    -----
    Chen and Keller-McNulty (1998). ARX solves moment equations with two slips; this is the likelihood instead.

    Examples
    --------
    >>> sample = SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
    >>> round(snb(sample).value, 3)
    0.213
    """
    if classes.settled is not None:
        return classes.settled
    if classes.n_unique == classes.n_records or len(classes.sizes) < 2:
        return Point(None, "not estimable: the slide negative binomial needs classes of one record and of several")
    fitted = fit_snb(classes)
    if fitted is None:
        return Point(
            None, "not estimable: the likelihood of the slide negative binomial has no maximum inside its range"
        )
    alpha, beta = fitted
    odds = classes.f * (1 - beta) / beta
    seen = -math.expm1(math.log1p(-classes.f) - alpha * math.log1p(odds))
    value = classes.n_classes / seen * beta**alpha / classes.population_size
    if value > 1:
        return Point(None, "not estimable: the slide negative binomial, as fitted, has more unique people than people")
    return Point(value)


def fit_snb(classes: SampleClasses) -> tuple[float, float] | None:
    """Return (alpha, beta) of the greatest likelihood of the sizes of classes that the sample did not miss.

    None where it lies at the edge of what is searched, or the search did not end. Of a part of a population: f < 1.

    Notes
    -----
    Each person of a class of 1 + NB(alpha, beta) is drawn with probability f, which leaves the sum of a
    Bernoulli(f) and a NB(alpha, 1 / (1 + odds)), odds = f (1 - beta) / beta. From six starts, along log alpha and
    log odds; the best end counts.
    """
    from scipy.optimize import minimize

    f, bounds = classes.f, [tuple(map(math.log, ends)) for ends in (_ALPHA, _ODDS)]

    def cost(point: FloatArray) -> tuple[float, FloatArray]:
        value, slope = _snb_likelihood(classes, *np.exp(point))
        return -value / classes.n_classes, -slope / classes.n_classes

    # In small samples of much larger classes alpha is about f.
    starts = np.log([(f, 1), (f, 100), (0.1, 1), (0.1, 10), (1, 1), (10, 0.1)])
    # L-BFGS-B calls a parallel BLAS for vectors of two, which takes a second where cores are shared.
    precision = {"ftol": 1e-15, "gtol": 1e-10, "xtol": 1e-12, "maxfun": 1_000}
    ends = [minimize(cost, start, jac=True, method="TNC", bounds=bounds, options=precision) for start in starts]
    best = min(ends, key=lambda end: float(end.fun))
    inside = all(low + _EDGE < x < high - _EDGE for x, (low, high) in zip(best.x, bounds, strict=True))
    # A search that cannot improve the last digit says that it failed: the slope decides.
    if not (inside and np.abs(cost(best.x)[1]).max() < _FLAT):
        return None
    alpha, odds = np.exp(best.x)
    return float(alpha), f / (f + float(odds))


def _snb_likelihood(classes: SampleClasses, alpha: float, odds: float) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the sizes, given that they are above 0, and its slope by log alpha and log odds."""
    from scipy.special import digamma, gammaln

    f, k = classes.f, classes.sizes.astype(np.float64)
    log_beta = -math.log1p(odds)

    def negative_binomial(k: FloatArray) -> tuple[FloatArray, FloatArray]:
        logs = gammaln(k + alpha) - gammaln(alpha) - gammaln(k + 1) + alpha * log_beta + k * (math.log(odds) + log_beta)
        return logs, np.stack(
            [alpha * (digamma(k + alpha) - digamma(alpha) + log_beta), (k - alpha * odds) / (1 + odds)]
        )

    (first, first_slope), (other, other_slope) = negative_binomial(k), negative_binomial(k - 1)
    logs = np.logaddexp(math.log1p(-f) + first, math.log(f) + other)
    share = np.exp(math.log1p(-f) + first - logs)
    slopes = share * first_slope + (1 - share) * other_slope
    log_missed = math.log1p(-f) + alpha * log_beta
    seen = -math.expm1(log_missed)
    # Of log(seen) = log(1 - missed).
    missing = -math.exp(log_missed) / seen * alpha * np.array([log_beta, -odds / (1 + odds)])
    value = float(classes.counts @ logs) - classes.n_classes * math.log(seen)
    return value, slopes @ classes.counts - classes.n_classes * missing
