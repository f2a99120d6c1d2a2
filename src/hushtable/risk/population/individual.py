"""Individual risk by weights alone, of a household, and the chance that a unique match is right (theta)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from hushtable._types import BoolArray, FloatArray
from hushtable.errors import InputError
from hushtable.risk.intervals import standard_score
from hushtable.risk.population.classes import Estimate, SampleClasses

_MIN_PAIRS_FOR_NORMAL: Final = 10


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
    >>> theta = data_intrusion(SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5, 1_050))
    >>> round(theta.value, 3), round(theta.low, 3), round(theta.high, 3)
    (0.182, 0.111, 0.312)
    """
    f, n_unique, n_pairs = classes.f, classes.n_unique, classes.n_pairs
    if n_unique == 0:
        return Estimate(None, 0.0, 1.0, False, "not estimable: no record of the sample is unique")
    if f == 1:
        return Estimate(1.0, 1.0, 1.0, True, "")
    each = 2 * (1 - f) / f
    others = np.full(n_pairs, each) if pair_weights is None else _people_outside_sample(pair_weights, n_pairs)
    shared = float(others.sum())
    # Pairs count by what they stand for: the larger ones make the sum less sure.
    spread = 1 + (float(others @ others) / shared if shared else each)
    triples = 6 * classes.n_of(3) * ((1 - f) / f) ** 2
    z = standard_score(confidence)
    # Both roots of the quadratic, the lower one by their product, which loses no digits.
    upper = shared + z * z * spread / 2 + z * (spread * shared + z * z * spread * spread / 4 + triples) ** 0.5
    lower = max((shared * shared - z * z * triples) / upper, 0.0)
    upper = min(upper, classes.population_size - classes.n_records)
    if n_pairs < _MIN_PAIRS_FOR_NORMAL and pair_weights is None:
        exact_low, exact_high = _exact_limits(n_pairs, f / (2 - f), confidence)
        lower, upper = min(lower, exact_low), min(max(upper, exact_high), classes.population_size - classes.n_records)
    value, low, high = (n_unique / (n_unique + people) for people in (shared, upper, lower))
    reason = "" if n_pairs else "no class of the sample has two records: the value is the worst that can be"
    return Estimate(value, low, high, not reason, reason)


def _exact_limits(n_pairs: int, share: float, confidence: float) -> tuple[float, float]:
    """Return exact limits of the people outside pairs, where ``n_pairs`` are pairs, each with the chance ``share``."""
    from scipy.stats import nbinom

    tail = (1 - confidence) / 2
    least = float(nbinom.ppf(tail, n_pairs, share)) if n_pairs else 0.0
    return least, float(nbinom.ppf(1 - tail, n_pairs + 1, share))


def _people_outside_sample(pair_weights: ArrayLike, n_pairs: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return how many people outside the sample each class of two stands for."""
    sums = np.asarray(pair_weights, dtype=np.float64)
    if sums.shape != (n_pairs,) or not np.isfinite(sums).all():
        raise InputError(
            f"pair_weights has the shape {sums.shape}, or holds what is no number.",
            hint=f"the sum of both weights for each of the {n_pairs} classes of two.",
        )
    return np.maximum(sums - 2, 0.0)


_MIN_RECORDS_FOR_SERIES = 30  # records; from here on the series needs few terms whatever the weights
_SERIES_PRECISION = 1e-17


def benedetti_franconi(f: ArrayLike, weight_sums: ArrayLike) -> FloatArray:
    """Estimate the mean of 1 / F over the people F of a class, given its records and their weights.

    With p = f / sum of weights, ``r`` is the mean of 1 / F where F - f is negative binomial
    (f, p): the integral over t from 0 to 1 of t^(f-1) p^f / (1 - (1-p) t)^f. The sum of r over
    records is the expected number of re-identifications.

    Parameters
    ----------
    f : array of int, shape (n,)
        Records of each class, at least 1.
    weight_sums : array of float, shape (n,)
        Their weights' sum, an estimate of the people of the class. A sum below f counts as f,
        which gives the highest risk of f records, 1 / f.

    Returns
    -------
    ndarray of float64, shape (n,)
        In (0, 1]; lower is safer.

    Raises
    ------
    InputError
        For a class without records, or a sum of weights that is not positive and finite.

    Notes
    -----
    Benedetti and Franconi (1998), in the form of Rinott (2003). With s = p t / (1 - (1-p) t)
    the integral is p J_f, J_f = integral of s^(f-1) / (p + q s), q = 1 - p, for which
    q J_(f+1) = 1/f - p J_f. Forward, this is stable for p up to 1/2, and starts with
    J_1 = log(1/p) / q. Elsewhere, and from 30 records on, J_f = sum over k of k! q^k / (f (f+1) ... (f+k)).
    It is p 2F1(1, 1; f + 1; q) / f, for which SciPy has no number from 100 records on.
    sdcMicro takes p / (f - 1 + p) from f = 3 on, which is up to some percent too high.
    O(n f) for few records, some 60 steps otherwise; pass classes, not records.

    It depends on f and the weights alone: with equal weights all uniques of a sample get
    one value, however rare they are.

    Examples
    --------
    >>> benedetti_franconi([1, 2, 5], [20, 40, 100]).round(6).tolist()
    [0.15767, 0.044333, 0.012301]
    """
    records, sums = np.asarray(f, dtype=np.float64), np.asarray(weight_sums, dtype=np.float64)
    if records.ndim != 1 or records.shape != sums.shape:
        raise InputError(
            f"f has the shape {records.shape}, weight_sums {sums.shape}.", hint="one of each for every class."
        )
    if not ((records >= 1) & (records == np.floor(records)) & (sums > 0) & np.isfinite(sums)).all():
        raise InputError(
            "a class has no whole number of records, or its weights do not sum to a positive number.",
            hint="f of at least 1, and weights that say for how many people a record stands.",
        )
    sums = np.maximum(sums, records)
    p, q = records / sums, (sums - records) / sums
    is_small = (records < _MIN_RECORDS_FOR_SERIES) & (p < 0.5)
    risks = np.empty(len(records))
    risks[is_small] = p[is_small] * _integrals_by_recurrence(records[is_small], p[is_small], q[is_small])
    risks[~is_small] = p[~is_small] * _integrals_by_series(records[~is_small], q[~is_small])
    return risks


def household_risk(risks: ArrayLike, household_codes: ArrayLike) -> FloatArray:
    """Return the chance that at least one member of a record's household is found: 1 - product of (1 - risk).

    Parameters
    ----------
    risks : array of float, shape (n_records,)
        In [0, 1].
    household_codes : array of int, shape (n_records,)
        Whose household a record is of; -1 is unknown, and such a record is a household of its own.

    Raises
    ------
    InputError
        For risks outside [0, 1].

    Notes
    -----
    It takes the finds of members for independent, which they are not: whoever is found leads to the others.

    Examples
    --------
    >>> household_risk([0.5, 0.5, 0.1, 0.2], [0, 0, 1, -1]).round(6).tolist()
    [0.75, 0.75, 0.1, 0.2]
    """
    alone, codes = np.asarray(risks, dtype=np.float64), np.asarray(household_codes, dtype=np.int64)
    if alone.shape != codes.shape or not ((alone >= 0) & (alone <= 1)).all():
        raise InputError(
            "risks are outside [0, 1], or not one for each household code.", hint="one probability per record."
        )
    has_household: BoolArray = codes >= 0
    with np.errstate(divide="ignore"):
        logs = np.bincount(codes[has_household], weights=np.log1p(-alone[has_household]))
    answer = alone.copy()
    answer[has_household] = -np.expm1(logs)[codes[has_household]]
    return answer


def _integrals_by_recurrence(records: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """Return J_f from J_1 on."""
    integrals = -np.log(p) / q
    for size in range(1, int(records.max(initial=1))):
        more = records > size
        integrals[more] = (1 / size - p[more] * integrals[more]) / q[more]
    return integrals


def _integrals_by_series(records: FloatArray, q: FloatArray) -> FloatArray:
    """Return J_f by its power series in q, whose terms are all positive."""
    term = 1 / records
    total, k = term.copy(), 0
    while (term > _SERIES_PRECISION * total).any():
        k += 1
        term = term * q * k / (records + k)
        total += term
    return total
