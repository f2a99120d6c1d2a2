"""Data intrusion simulation: the chance that a unique match is right, from singles and pairs alone."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from hushtable.errors import InputError, with_hint
from hushtable.risk.intervals import standard_score
from hushtable.risk.population.classes import Estimate, SampleClasses

__all__ = ["data_intrusion"]

_FEW_PAIRS: Final = 10


def data_intrusion(
    classes: SampleClasses, *, pair_weights: ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """Estimate theta: of all people who match a unique record of the sample, the share whom the record is of.

    theta = n1 / (n1 + S), n1 the sample's uniques and S the people outside the sample who share
    their values. S is estimated by 2 n2 (1 - f) / f, n2 the classes of two.

    Parameters
    ----------
    classes : SampleClasses
    pair_weights : array of float, shape (n_pairs,), optional
        The sum of both weights for every class of two, in place of 2 / f, where records were drawn
        with unequal probability. Weights are inverse inclusion probabilities; a sum below 2 counts as 2.
    confidence : float
        Of the interval, in (0, 1).

    Raises
    ------
    InputError
        Where there is not one finite weight sum for every class of two.

    Notes
    -----
    Skinner and Elliot (2002), Journal of the Royal Statistical Society B 64. No model: S is
    estimated without bias under random sampling, whatever the population looks like.
    Its error is that of a sum over classes, whose variance is estimated by S (2 - f) / f + 6 n3 (1 - f)^2 / f^2, n3
    the classes of three; the interval solves (estimate - S)^2 = z^2 variance for S, as Wilson does for a rate, so
    that it says something without any pair too. Below ten pairs, where a normal error says too little, it is widened to
    the exact one: without classes of three, each of the n2 pairs and the S people is a pair with chance f / (2 - f), so
    that the limits of S are quantiles of the negative binomial (as Clopper and Pearson's of a rate). Clustered
    samples (households, schools) break it: theta is then higher.

    Examples
    --------
    >>> theta = data_intrusion(SampleClasses.of([1] * 60 + [2] * 15 + [3] * 5, 1_050))
    >>> round(theta.value, 3), round(theta.low, 3), round(theta.high, 3)
    (0.182, 0.111, 0.312)
    """
    f, n_unique, n_pairs = classes.f, classes.n_unique, classes.n_pairs
    if n_unique == 0:
        return Estimate(None, 0.0, 1.0, False, "not estimable: no record of the sample is unique")
    if f == 1:
        return Estimate(1.0, 1.0, 1.0, True, "")
    each = 2 * (1 - f) / f
    others = np.full(n_pairs, each) if pair_weights is None else _others(pair_weights, n_pairs)
    shared = float(others.sum())
    # Pairs count by what they stand for: the larger ones make the sum less sure.
    spread = 1 + (float(others @ others) / shared if shared else each)
    triples = 6 * classes.n_of(3) * ((1 - f) / f) ** 2
    z = standard_score(confidence)
    # Both roots of the quadratic, the lower one by their product, which loses no digits.
    upper = shared + z * z * spread / 2 + z * (spread * shared + z * z * spread * spread / 4 + triples) ** 0.5
    lower = max((shared * shared - z * z * triples) / upper, 0.0)
    upper = min(upper, classes.population_size - classes.n_records)
    if n_pairs < _FEW_PAIRS and pair_weights is None:
        least, most = _exact(n_pairs, f / (2 - f), confidence)
        lower, upper = min(lower, least), min(max(upper, most), classes.population_size - classes.n_records)
    value, low, high = (n_unique / (n_unique + people) for people in (shared, upper, lower))
    reason = "" if n_pairs else "no class of the sample has two records: the value is the worst that can be"
    return Estimate(value, low, high, not reason, reason)


def _exact(n_pairs: int, share: float, confidence: float) -> tuple[float, float]:
    """Return between which numbers of people lie who are no pair, where so many of all are, each with a chance."""
    from scipy.stats import nbinom

    tail = (1 - confidence) / 2
    least = float(nbinom.ppf(tail, n_pairs, share)) if n_pairs else 0.0
    return least, float(nbinom.ppf(1 - tail, n_pairs + 1, share))


def _others(pair_weights: ArrayLike, n_pairs: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return how many people outside the sample each class of two stands for."""
    sums = np.asarray(pair_weights, dtype=np.float64)
    if sums.shape != (n_pairs,) or not np.isfinite(sums).all():
        msg = with_hint(
            f"pair_weights has the shape {sums.shape}, or holds what is no number.",
            f"the sum of both weights for each of the {n_pairs} classes of two.",
        )
        raise InputError(msg)
    return np.maximum(sums - 2, 0.0)
