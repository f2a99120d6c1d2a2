"""What mixtures of class sizes explain a sample: the likeliest one, and how far apart those that fit may lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable._types import FloatArray
from hushtable.risk.population.classes import SampleClasses
from hushtable.search import linprog

__all__ = ["Bounds", "Mixture", "bounds", "npmle"]

_SINGLE = 12  # records; larger classes are pooled in ranges
_EVERY = 30  # people; sizes of larger classes form a grid
_RATIO = 1.1
_STEPS = 3_000


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

    ``shown[i, j]`` is the chance that a class of ``people[j]`` shows as many records as range i
    says, of which ``seen[i]`` classes have so many; range by range, from one record on.
    """

    people: FloatArray
    shown: FloatArray
    seen: FloatArray

    @classmethod
    def of(cls, classes: SampleClasses) -> _SizeGrid:
        largest = int(classes.sizes.max())
        most = min(max(3 * largest / classes.f, _EVERY), classes.population_size)
        people = np.unique(np.concatenate([np.arange(1.0, _EVERY + 1), _geometric(_EVERY, most, _RATIO), [most]]))
        people = people[people <= most]
        starts = np.concatenate([np.arange(1.0, _SINGLE + 1), _geometric(_SINGLE + 1, largest, 1.5)])
        at_least = _at_least(starts, people, classes.f)
        shown = at_least - np.vstack([at_least[1:], np.zeros(len(people))])
        places = np.searchsorted(starts, classes.sizes, side="right") - 1
        seen = np.bincount(places, weights=classes.counts, minlength=len(starts)).astype(np.float64)
        return cls(people, shown, seen)


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
    >>> found = npmle(SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found.uniqueness, 3), round(found.theta, 3)
    (0.156, 0.175)
    """
    n_unique = classes.n_unique
    if n_unique == 0:
        return None
    if classes.f == 1:
        return Mixture(n_unique / classes.n_records, float(n_unique), float(n_unique), 1.0)
    grid, f, n = _SizeGrid.of(classes), classes.f, classes.population_size
    here = grid.seen > 0
    shown, seen = grid.shown[here], grid.seen[here]
    found = 1 - (1 - f) ** grid.people
    h = n / (len(grid.people) * grid.people)
    for _ in range(_STEPS):
        # A range that no size of the grid reaches has a mean of 0, and nothing to say.
        h = h * (seen / np.maximum(shown @ h, 1e-300) @ shown) / found
        h *= n / (h @ grid.people)
    # Each of F people is the only one drawn.
    only = f * (1 - f) ** (grid.people - 1) * h
    theta = float((only @ grid.people) / (only @ grid.people**2))
    return Mixture(float(h[0]) / n, f * float(h[0]), float(only.sum()), theta)


def bounds(classes: SampleClasses, *, z: float = 3.0) -> Bounds:
    """Return the least and the most population uniqueness of all mixtures of class sizes that fit the sample.

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
    >>> found = bounds(SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, 1_290))
    >>> round(found.low, 3), round(found.high, 3)
    (0.0, 0.629)
    """
    n_unique = float(classes.n_unique)
    if classes.n_records == 0:
        return Bounds(0.0, 1.0, (0.0, 0.0), (0.0, 0.0))
    if classes.f == 1:
        known = n_unique / classes.n_records
        return Bounds(known, known, (n_unique, n_unique), (n_unique, n_unique))
    grid, f, n = _SizeGrid.of(classes), classes.f, classes.population_size
    error = np.sqrt(np.maximum(grid.seen, 1))
    # Variables are shares of people, so that their sizes are alike.
    rows = grid.shown * (n / grid.people) / error[:, None]
    limits = np.concatenate([grid.seen / error + z, z - grid.seen / error])
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


def _geometric(start: float, end: float, ratio: float) -> FloatArray:
    """Return whole numbers from ``start`` to ``end`` that grow by a ratio."""
    steps = int(np.ceil(np.log(max(end / start, 1.0)) / np.log(ratio)))
    return np.unique(np.round(start * ratio ** np.arange(steps + 1)))


def _at_least(records: FloatArray, people: FloatArray, f: float) -> FloatArray:
    """Return the chance that a class shows at least so many records, shape (n_records, n_people)."""
    from scipy.special import betainc

    i, size = records[:, None], people[None, :]
    return np.where(size >= i, betainc(i, np.maximum(size - i, 0) + 1, f), 0.0)
