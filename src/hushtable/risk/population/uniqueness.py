"""Population uniqueness by every estimator, with the one interval that holds the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from hushtable._types import FloatArray
from hushtable.risk.population.classes import Estimate, Point, SampleClasses
from hushtable.risk.population.tree import TreeRisk
from hushtable.search import linprog

_MAX_EXACT_RECORDS = 12  # records; larger classes are pooled in ranges
_MAX_EXACT_PEOPLE = 30  # people; sizes of larger classes form a grid
_GRID_RATIO = 1.1
_N_EM_STEPS = 3_000


@dataclass(frozen=True, slots=True)
class Mixture:
    """What the likeliest mixture of class sizes says of the population.

    Attributes
    ----------
    uniqueness : float
        Share of people who are alone in their class.
    tau1 : float
        Expected number of sample uniques who are.
    tau2 : float
        Expected sum of 1 / F over the sample's uniques.
    theta : float
        The chance that a unique match is right.
    """

    uniqueness: float
    tau1: float
    tau2: float
    theta: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that any mixture of class sizes gives which fits the sample.

    Attributes
    ----------
    low, high : float
        Of population uniqueness, in [0, 1].
    tau1, tau2 : tuple of float
        Least and most, at most the number of sample uniques.
    fits : bool
        False where no mixture explains the sample: then anything may be.
    """

    low: float
    high: float
    tau1: tuple[float, float]
    tau2: tuple[float, float]
    fits: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class _SizeGrid:
    """Sizes of population classes, and what the sample shows of each.

    ``chances[i, j]`` is the chance that a class of ``people[j]`` shows as many records as range i
    says; ``class_counts[i]`` classes show so many. Ranges ascend from one record on.
    """

    people: FloatArray
    chances: FloatArray
    class_counts: FloatArray

    @classmethod
    def from_classes(cls, classes: SampleClasses) -> _SizeGrid:
        largest = int(classes.sizes.max())
        end = min(max(3 * largest / classes.f, _MAX_EXACT_PEOPLE), classes.population_size)
        people = np.unique(
            np.concatenate(
                [np.arange(1.0, _MAX_EXACT_PEOPLE + 1), _geometric_grid(_MAX_EXACT_PEOPLE, end, _GRID_RATIO), [end]]
            )
        )
        people = people[people <= end]
        starts = np.concatenate(
            [np.arange(1.0, _MAX_EXACT_RECORDS + 1), _geometric_grid(_MAX_EXACT_RECORDS + 1, largest, 1.5)]
        )
        at_least = _tail_chances(starts, people, classes.f)
        chances = at_least - np.vstack([at_least[1:], np.zeros(len(people))])
        positions = np.searchsorted(starts, classes.sizes, side="right") - 1
        class_counts = np.bincount(positions, weights=classes.counts, minlength=len(starts)).astype(np.float64)
        return cls(people, chances, class_counts)


def npmle(classes: SampleClasses) -> Mixture | None:
    """Return the likeliest mixture of class sizes, without a model of how they are spread; None without sample uniques.

    Notes
    -----
    Numbers h of population classes of each size on a grid, s_i Poisson with the mean sum of h P(i records | size);
    3,000 EM steps, each scaled so that all people are counted. Sizes 1 to 30, then geometric to three
    times the largest class / f. Steps end before they overfit, so the start (as many people in each size) matters.
    It wavers in samples below a tenth.

    Examples
    --------
    >>> found = npmle(SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found.uniqueness, 3), round(found.theta, 3)
    (0.156, 0.175)
    """
    n_unique = classes.n_unique
    if n_unique == 0:
        return None
    if classes.f == 1:
        return Mixture(n_unique / classes.n_records, float(n_unique), float(n_unique), 1.0)
    grid, f, n = _SizeGrid.from_classes(classes), classes.f, classes.population_size
    occurs = grid.class_counts > 0
    chances, class_counts = grid.chances[occurs], grid.class_counts[occurs]
    chance_shown = 1 - (1 - f) ** grid.people
    h = n / (len(grid.people) * grid.people)
    for _ in range(_N_EM_STEPS):
        # A range that no size of the grid reaches has a mean of 0, and nothing to say.
        h = h * (class_counts / np.maximum(chances @ h, 1e-300) @ chances) / chance_shown
        h *= n / (h @ grid.people)
    # Each of F people is the only one drawn.
    only = f * (1 - f) ** (grid.people - 1) * h
    theta = float((only @ grid.people) / (only @ grid.people**2))
    return Mixture(float(h[0]) / n, f * float(h[0]), float(only.sum()), theta)


def bounds(classes: SampleClasses, *, z: float = 3.0) -> Bounds:
    """Return the bounds of population uniqueness over all mixtures of class sizes that fit the sample.

    Numbers h of population classes of each size that give, within ``z`` standard errors each, the sample's classes of
    1 to 12 records and of ranges above, and as many people as there are.

    Parameters
    ----------
    classes : SampleClasses
    z : float
        At z = 3 they held the truth in every sample that we tried.

    Notes
    -----
    A linear programme of some 150 variables for each end, by HiGHS; sizes are on a grid as those of `npmle` are. The
    standard error of s classes is taken as sqrt(max(s, 1)).

    Examples
    --------
    >>> found = bounds(SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found.low, 3), round(found.high, 3)
    (0.0, 0.629)
    """
    n_unique = float(classes.n_unique)
    if classes.n_records == 0:
        return Bounds(0.0, 1.0, (0.0, 0.0), (0.0, 0.0))
    if classes.f == 1:
        uniqueness = n_unique / classes.n_records
        return Bounds(uniqueness, uniqueness, (n_unique, n_unique), (n_unique, n_unique))
    grid, f, n = _SizeGrid.from_classes(classes), classes.f, classes.population_size
    error = np.sqrt(np.maximum(grid.class_counts, 1))
    # Variables are shares of people, so that their sizes are alike.
    rows = grid.chances * (n / grid.people) / error[:, None]
    limits = np.concatenate([grid.class_counts / error + z, z - grid.class_counts / error])
    # Of people: who is alone, and 1 / F of whom is the only one drawn of F, but for f.
    ends = []
    for objective in ((grid.people == 1).astype(np.float64), (1 - f) ** (grid.people - 1) / grid.people):
        for sign in (1, -1):
            answer = linprog(
                sign * objective,
                A_ub=np.vstack([rows, -rows]),
                b_ub=limits,
                A_eq=np.ones((1, len(objective))),
                b_eq=[1.0],
                method="highs",
            )
            if not answer.success:
                return Bounds(0.0, 1.0, (0.0, n_unique), (0.0, n_unique), fits=False)
            ends.append(min(max(sign * float(answer.fun), 0.0), 1.0))
    low, high, least, most = ends
    tau1, tau2 = ((min(f * n * a, n_unique), min(f * n * b, n_unique)) for a, b in ((low, high), (least, most)))
    return Bounds(low, high, tau1, tau2)


def _geometric_grid(start: float, end: float, ratio: float) -> FloatArray:
    """Return whole numbers from ``start`` to ``end`` that grow by a ratio."""
    steps = int(np.ceil(np.log(max(end / start, 1.0)) / np.log(ratio)))
    return np.unique(np.round(start * ratio ** np.arange(steps + 1)))


def _tail_chances(records: FloatArray, people: FloatArray, f: float) -> FloatArray:
    """Return the chance that a class shows at least so many records, shape (n_records, n_people)."""
    from scipy.special import betainc

    i, size = records[:, None], people[None, :]
    return np.where(size >= i, betainc(i, np.maximum(size - i, 0) + 1, f), 0.0)


_ALPHA_GRID = (1e-4, *np.linspace(0.02, 0.98, 25).tolist(), 1 - 1e-4)


def pitman(classes: SampleClasses) -> Point:
    """Estimate population uniqueness by the Ewens-Pitman partition.

    U = N^(alpha - 1) Gamma(theta + 1) / Gamma(theta + alpha), (alpha, theta) by `fit_pitman`.

    Notes
    -----
    Hoshino (2001), Journal of Official Statistics 17, as ARX does: the asymptotic form for large N.

    Examples
    --------
    >>> sample = SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
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

    The likelihood's derivative along theta is solved for each alpha, then its sign is followed along alpha: all maxima
    between the points of a grid are found. In closed form by digamma functions, so only distinct sizes of classes cost.
    """
    slopes = [_profile_slope(classes, alpha)[0] for alpha in _ALPHA_GRID]
    roots = [
        _find_root(lambda alpha: _profile_slope(classes, alpha)[0], low, high)
        for (low, before), (high, after) in pairwise(zip(_ALPHA_GRID, slopes, strict=True))
        if before > 0 >= after
    ]
    peaks = [(alpha, _profile_slope(classes, alpha)[1]) for alpha in roots]
    return max(peaks, key=lambda peak: _pitman_likelihood(classes, *peak), default=None)


def _profile_slope(classes: SampleClasses, alpha: float) -> tuple[float, float]:
    """Return the derivative of the log-likelihood along alpha at the best theta for it, and that theta."""
    from scipy.special import digamma

    u, n = classes.n_classes, classes.n_records

    def sum_reciprocals(theta: float) -> float:
        """Return the sum over i = 1 .. u - 1 of 1 / (theta + i alpha)."""
        return float(digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha

    def slope_along_theta(log: float) -> float:
        theta = math.exp(log) - alpha
        return sum_reciprocals(theta) - float(digamma(theta + n) - digamma(theta + 1))

    theta = math.exp(_find_root(slope_along_theta, math.log(1e-9), math.log(1e3 * n * n))) - alpha
    within = classes.counts @ (digamma(classes.sizes - alpha) - digamma(1 - alpha))
    return ((u - 1) - theta * sum_reciprocals(theta)) / alpha - float(within), theta


def _find_root(function: Callable[[float], float], low: float, high: float) -> float:
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


_ALPHA_BOUNDS = (1e-12, 1e4)
_ODDS_BOUNDS = (1e-9, 1e9)
_MIN_LOG_DISTANCE_TO_BOUND = 0.01
_MAX_SLOPE_PER_CLASS = 1e-6  # of the log-likelihood per class


def snb(classes: SampleClasses) -> Point:
    """Estimate population uniqueness by classes of 1 + NB(alpha, beta) people.

    U = K beta^alpha / N, K = u / (1 - p_0) the population's classes, p_0 the chance that the sample
    misses one; (alpha, beta) by `fit_snb`.

    Notes
    -----
    Chen and Keller-McNulty (1998). ARX solves moment equations with two slips; this is the likelihood instead.

    Examples
    --------
    >>> sample = SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
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
    chance_shown = -math.expm1(math.log1p(-classes.f) - alpha * math.log1p(odds))
    value = classes.n_classes / chance_shown * beta**alpha / classes.population_size
    if value > 1:
        return Point(None, "not estimable: the slide negative binomial, as fitted, has more unique people than people")
    return Point(value)


def fit_snb(classes: SampleClasses) -> tuple[float, float] | None:
    """Return (alpha, beta) of the greatest likelihood of the sizes of classes that the sample (f < 1) did not miss.

    None where it lies at the edge of what is searched, or the search did not end. Each person of a class of 1 +
    NB(alpha, beta) is drawn with probability f, which leaves the sum of a Bernoulli(f) and a NB(alpha, 1 / (1 + odds)),
    odds = f (1 - beta) / beta.
    """
    from scipy.optimize import minimize

    f, limits = classes.f, [tuple(map(math.log, ends)) for ends in (_ALPHA_BOUNDS, _ODDS_BOUNDS)]

    def cost(point: FloatArray) -> tuple[float, FloatArray]:
        value, slope = _snb_likelihood(classes, *np.exp(point))
        return -value / classes.n_classes, -slope / classes.n_classes

    # In small samples of much larger classes alpha is about f.
    starts = np.log([(f, 1), (f, 100), (0.1, 1), (0.1, 10), (1, 1), (10, 0.1)])
    # L-BFGS-B calls a parallel BLAS for vectors of two, which takes a second where cores are shared.
    precision = {"ftol": 1e-15, "gtol": 1e-10, "xtol": 1e-12, "maxfun": 1_000}
    ends = [minimize(cost, start, jac=True, method="TNC", bounds=limits, options=precision) for start in starts]
    best = min(ends, key=lambda end: float(end.fun))
    inside = all(
        low + _MIN_LOG_DISTANCE_TO_BOUND < x < high - _MIN_LOG_DISTANCE_TO_BOUND
        for x, (low, high) in zip(best.x, limits, strict=True)
    )
    # A search that cannot improve the last digit says that it failed: the slope decides.
    if not (inside and np.abs(cost(best.x)[1]).max() < _MAX_SLOPE_PER_CLASS):
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
    chance_shown = -math.expm1(log_missed)
    # Of log(seen) = log(1 - missed).
    missing = -math.exp(log_missed) / chance_shown * alpha * np.array([log_beta, -odds / (1 + odds)])
    value = float(classes.counts @ logs) - classes.n_classes * math.log(chance_shown)
    return value, slopes @ classes.counts - classes.n_classes * missing


_MIN_SAMPLING_FRACTION: Final = {"zayatz": 0.3, "pitman": 0.3, "snb": 0.5, "npmle": 0.3, "tree": 0.3}
"""From which sampling fraction on an estimator came near the truth, or left the bounds, on all three populations of
`benchmarks/risk.py`; smaller samples of one of them put each off by a third or more."""

_MAX_BOUNDS_WIDTH = 0.5
_BOUNDS_TOLERANCE = 1e-6
_MAX_EXPONENT = 750.0  # exp(-750) is 0


def zayatz(classes: SampleClasses) -> Point:
    """Estimate population uniqueness as if the population's classes were of the sample's sizes.

    P(alone | sample unique) = s_1 P(1 | 1) / sum over i of s_i P(1 | i), s_i the sample's classes of i records and
    P(1 | i) the chance that a class of i people shows one record; times the sample's uniqueness.

    Notes
    -----
    Zayatz (1991). P(1 | i) is hypergeometric, as a running product: factorials of N lose the digits at 3e8 people.

    Examples
    --------
    >>> sample = SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
    >>> round(zayatz(sample).value, 3)
    0.252
    """
    if classes.settled is not None:
        return classes.settled
    n, f = classes.population_size, classes.f
    # One of i people is drawn: i f times the chance that none of the others is, which is below (1 - f)^(i - 1).
    earlier = np.arange(min(int(classes.sizes[-1]) - 1, int(_MAX_EXPONENT / f) + 1), dtype=np.float64)
    missed = np.maximum(n - classes.n_records - earlier, 0.0) / (n - 1 - earlier)
    chances = np.concatenate([[1.0], np.cumprod(missed), [0.0]])
    others = chances[np.minimum(classes.sizes - 1, len(chances) - 1)]
    n_shown = float(classes.counts @ (classes.sizes * f * others))
    return Point(classes.n_unique * f / n_shown * classes.n_unique / classes.n_records)


def dankar(classes: SampleClasses) -> Point:
    """Choose among the estimators: Pitman's for f up to a tenth, else the smaller of Zayatz's and the SNB's.

    Notes
    -----
    Dankar, El Emam, Neisa and Roffey (2012), BMC Medical Informatics 12. Where Zayatz's or the SNB has no answer,
    the other's is taken.
    """
    return _choose_estimator(classes, {"zayatz": zayatz(classes), "pitman": pitman(classes), "snb": snb(classes)})[1]


def population_uniqueness(classes: SampleClasses, *, tree: TreeRisk | None = None) -> dict[str, Estimate]:
    """Estimate the share of people who are alone in their class in the whole population.

    Parameters
    ----------
    classes : SampleClasses
    tree : TreeRisk, optional
        What a tree of the sample's columns expects.

    Returns
    -------
    dict of str to Estimate
        zayatz, pitman, snb, npmle, tree (where given) and dankar, each with the `bounds` as its interval.
        Where the sample is the population, all give the truth.

    Notes
    -----
    A small sample does not settle population uniqueness, and each point estimate is wrong somewhere, by up to seven
    times. They are reported for comparison with other programs. ``reliable`` is False where the bounds are wider than a
    half, or than the value, or do not hold it, and for samples in which simulation found the estimator wrong.

    Examples
    --------
    >>> found = population_uniqueness(SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found["pitman"].value, 3), found["pitman"].reliable
    (0.161, False)
    """
    limits, mixture = bounds(classes), npmle(classes)
    points = {"zayatz": zayatz(classes), "pitman": pitman(classes), "snb": snb(classes)}
    # Without sample uniques there is no mixture; what is settled says why.
    points["npmle"] = classes.settled or Point(None if mixture is None else mixture.uniqueness)
    if tree is not None:
        points["tree"] = classes.settled or Point(tree.uniqueness)
    choice, chosen = _choose_estimator(classes, points)
    found = {name: _build_estimate(name, point, classes, limits) for name, point in points.items()}
    return found | {"dankar": _build_estimate(choice, chosen, classes, limits)}


def _choose_estimator(classes: SampleClasses, points: dict[str, Point]) -> tuple[str, Point]:
    """Return the estimator that Dankar's rule takes, by its name, and its answer."""
    if classes.f <= 0.1:
        return "pitman", points["pitman"]
    rivals = [(name, points[name]) for name in ("zayatz", "snb")]
    return min(rivals, key=lambda rival: 2.0 if rival[1].value is None else rival[1].value)


def _build_estimate(name: str, point: Point, classes: SampleClasses, limits: Bounds) -> Estimate:
    """Return an answer with its interval, and whether to rely on it."""
    value, f = point.value, classes.f
    if value is None:
        return Estimate(None, limits.low, limits.high, False, point.reason)
    faults = []
    if f < 1:
        if not limits.fits:
            faults.append("no mixture of class sizes explains the sample: it was not drawn at random")
        elif limits.high - limits.low > min(_MAX_BOUNDS_WIDTH, value):
            faults.append("the sample does not settle it: anything between the bounds explains the sample")
        if not limits.low - _BOUNDS_TOLERANCE <= value <= limits.high + _BOUNDS_TOLERANCE:
            faults.append("outside the bounds: no mixture of class sizes that explains the sample has so many")
        if f < _MIN_SAMPLING_FRACTION[name]:
            faults.append(f"wrong in simulations of samples below {_MIN_SAMPLING_FRACTION[name]:g} of their population")
    return Estimate(value, limits.low, limits.high, not faults, "; ".join(faults))
