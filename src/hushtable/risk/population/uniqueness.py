"""Population uniqueness by every estimator, with the one interval that holds the truth."""

from __future__ import annotations

from typing import Final

import numpy as np

from hushtable.risk.population.classes import Estimate, Point, SampleClasses
from hushtable.risk.population.mixtures import Bounds, bounds, npmle
from hushtable.risk.population.superpopulation import pitman, snb
from hushtable.risk.population.tree import TreeRisk

__all__ = ["dankar", "population_uniqueness", "zayatz"]

_LEAST_FRACTION: Final = {"zayatz": 0.3, "pitman": 0.3, "snb": 0.5, "npmle": 0.3, "tree": 0.3}
"""From which sampling fraction on an estimator came near the truth, or left the bounds, on all three populations of
`benchmarks/risk.py`; smaller samples of one of them put each off by a third or more."""

_WIDE = 0.5
_TOLERANCE = 1e-6
_VANISHED = 750.0  # exp(-750) is 0


def zayatz(classes: SampleClasses) -> Point:
    """Estimate population uniqueness as if the population's classes were of the sample's sizes.

    P(alone | sample unique) = s_1 P(1 | 1) / sum over i of s_i P(1 | i), s_i the sample's classes of i records and
    P(1 | i) the chance that a class of i people shows one record; times the sample's uniqueness.

    Notes
    -----
    Zayatz (1991). P(1 | i) is hypergeometric, as a running product: factorials of N lose the digits at 3e8 people.

    Examples
    --------
    >>> sample = SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290)
    >>> round(zayatz(sample).value, 3)
    0.252
    """
    if classes.settled is not None:
        return classes.settled
    n, f = classes.population_size, classes.f
    # One of i people is drawn: i f times the chance that none of the others is, which is below (1 - f)^(i - 1).
    earlier = np.arange(min(int(classes.sizes[-1]) - 1, int(_VANISHED / f) + 1), dtype=np.float64)
    missed = np.maximum(n - classes.n_records - earlier, 0.0) / (n - 1 - earlier)
    chances = np.concatenate([[1.0], np.cumprod(missed), [0.0]])
    others = chances[np.minimum(classes.sizes - 1, len(chances) - 1)]
    shown = float(classes.counts @ (classes.sizes * f * others))
    return Point(classes.n_unique * f / shown * classes.n_unique / classes.n_records)


def dankar(classes: SampleClasses) -> Point:
    """Choose among the estimators: Pitman's for f up to a tenth, else the smaller of Zayatz's and the SNB's.

    Notes
    -----
    Dankar, El Emam, Neisa and Roffey (2012), BMC Medical Informatics 12. Where Zayatz's or the SNB has no answer,
    the other's is taken.
    """
    return _chosen(classes, {"zayatz": zayatz(classes), "pitman": pitman(classes), "snb": snb(classes)})[1]


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
    >>> found = population_uniqueness(SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found["pitman"].value, 3), found["pitman"].reliable
    (0.161, False)
    """
    limits, mixture = bounds(classes), npmle(classes)
    points = {"zayatz": zayatz(classes), "pitman": pitman(classes), "snb": snb(classes)}
    # Without sample uniques there is no mixture; what is settled says why.
    points["npmle"] = classes.settled or Point(None if mixture is None else mixture.uniqueness)
    if tree is not None:
        points["tree"] = classes.settled or Point(tree.uniqueness)
    choice, chosen = _chosen(classes, points)
    found = {name: _judged(name, point, classes, limits) for name, point in points.items()}
    return found | {"dankar": _judged(choice, chosen, classes, limits)}


def _chosen(classes: SampleClasses, points: dict[str, Point]) -> tuple[str, Point]:
    """Return the estimator that Dankar's rule takes, by its name, and its answer."""
    if classes.f <= 0.1:
        return "pitman", points["pitman"]
    rivals = [(name, points[name]) for name in ("zayatz", "snb")]
    return min(rivals, key=lambda rival: 2.0 if rival[1].value is None else rival[1].value)


def _judged(name: str, point: Point, classes: SampleClasses, limits: Bounds) -> Estimate:
    """Return an answer with its interval, and whether to rely on it."""
    value, f = point.value, classes.f
    if value is None:
        return Estimate(None, limits.low, limits.high, False, point.reason)
    faults = []
    if f < 1:
        if not limits.fits:
            faults.append("no mixture of class sizes explains the sample: it was not drawn at random")
        elif limits.high - limits.low > min(_WIDE, value):
            faults.append("the sample does not settle it: anything between the bounds explains the sample")
        if not limits.low - _TOLERANCE <= value <= limits.high + _TOLERANCE:
            faults.append("outside the bounds: no mixture of class sizes that explains the sample has so many")
        if f < _LEAST_FRACTION[name]:
            faults.append(f"wrong in simulations of samples below {_LEAST_FRACTION[name]:g} of their population")
    return Estimate(value, limits.low, limits.high, not faults, "; ".join(faults))
