"""How well a found column set agrees with a true one: a true positive is a column that is both found and true.

A ratio of nothing to nothing is undefined, NaN; two empty sets are equal, so that measures of likeness give them 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hushtable.discover.scores import base
from hushtable.discover.scores.base import Direction, Score, ScoreVariant
from hushtable.errors import InputError, check_columns


@dataclass(frozen=True, slots=True)
class Agreement:
    """The four counts of a found and a true column set."""

    tp: int  # columns found and true
    fp: int  # found only
    fn: int  # true only
    tn: int | None = None  # of the table, neither; None where the table's columns were not given

    @classmethod
    def from_sets(cls, found: Iterable[str], truth: Iterable[str], columns: Sequence[str] | None = None) -> Agreement:
        """Count; with all columns of the table, true negatives too."""
        found, truth = set(_to_list(found, "found")), set(_to_list(truth, "truth"))
        tn = None
        if columns is not None:
            everything = _to_list(columns, "columns")
            check_columns(sorted(found | truth), everything, "found and truth")
            tn = len(set(everything) - found - truth)
        return cls(len(found & truth), len(found - truth), len(truth - found), tn)


def precision(found: Iterable[str], truth: Iterable[str]) -> Score:
    """Score which share of the found columns is true: TP / (TP + FP); undefined where nothing was found.

    Examples
    --------
    >>> precision(["age", "zip", "job"], ["age", "sex"]).value
    0.3333333333333333
    """
    return _build_score("precision", Agreement.from_sets(found, truth), lambda a: _ratio(a.tp, a.tp + a.fp))


def recall(found: Iterable[str], truth: Iterable[str]) -> Score:
    """Score which share of the true columns was found: TP / (TP + FN); undefined where nothing is true.

    Examples
    --------
    >>> recall(["age", "zip", "job"], ["age", "sex"]).value
    0.5
    """
    return _build_score("recall", Agreement.from_sets(found, truth), lambda a: _ratio(a.tp, a.tp + a.fn))


def f1(found: Iterable[str], truth: Iterable[str]) -> Score:
    """Score the harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).

    Examples
    --------
    >>> f1(["age", "zip", "job"], ["age", "sex"]).value
    0.4
    """
    return f_beta(found, truth, beta=1.0)


def f_beta(found: Iterable[str], truth: Iterable[str], *, beta: float = 2.0) -> Score:
    """Score precision and recall together, recall counting beta times as much.

    (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP), which needs neither of the two to be defined.

    Examples
    --------
    >>> f_beta(["age", "zip", "job"], ["age", "sex"], beta=2).value
    0.45454545454545453
    """
    if not beta > 0:
        raise InputError(f"beta = {beta!r}.", hint="beta is a number above 0; 2 favours recall.")
    weight = beta * beta

    def measure(a: Agreement) -> float:
        return _ratio((1 + weight) * a.tp, (1 + weight) * a.tp + weight * a.fn + a.fp, of_nothing=1.0)

    return _build_score(f"F{beta:g}", Agreement.from_sets(found, truth), measure)


def jaccard(found: Iterable[str], truth: Iterable[str]) -> Score:
    """Score the columns found and true over those found or true: TP / (TP + FP + FN).

    Examples
    --------
    >>> jaccard(["age", "zip", "job"], ["age", "sex"]).value
    0.25
    """
    return _build_score(
        "Jaccard", Agreement.from_sets(found, truth), lambda a: _ratio(a.tp, a.tp + a.fp + a.fn, of_nothing=1.0)
    )


def dice(
    found: Iterable[str],
    truth: Iterable[str],
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    variant: Literal["definition", "paper", "library"] = "definition",
) -> Score:
    """Score the columns found and true over the sizes of both sets; F1 as it stands.

    (1 + a) T^b / (a F^b + R^b) for T columns found and true, F found, R true: in [0, 1], and 1 for equal sets alone.
    At b = 1 it is F-beta with beta^2 = 1 / a.

    Parameters
    ----------
    found, truth : iterable of str
    alpha : float
        Above 0: the weight of the found set. Above 1 it favours precision.
    beta : float
        Above 0 and at most 10: the higher, the more the larger set counts, and the lower do unequal sets score.
    variant : {"definition", "paper", "library"}
        The paper's text has a T / (a F^b + R^b), where equal sets have a / (1 + a) at b = 1: a half at a = 1. Its
        library has twice that, which exceeds 1 where a does. In both, equal sets of more than one column fall as b
        grows, for T has no exponent. (The paper's table 2 has the definition at a = b = 1.)

    Raises
    ------
    InputError
        ``alpha`` or ``beta`` is out of range.

    Examples
    --------
    >>> equal = (["age", "sex"], ["age", "sex"])
    >>> dice(*equal).value, dice(*equal, variant="paper").value
    (1.0, 0.5)
    >>> dice(*equal, alpha=1.5).value, dice(*equal, alpha=1.5, variant="library").value
    (1.0, 1.2)
    """
    if not 0 < alpha < math.inf or not 0 < beta <= 10:
        raise InputError(f"alpha = {alpha!r}, beta = {beta!r}.", hint="both lie above 0, and beta is 10 at most.")
    factor, power = base.choose(
        "variant", variant, {"definition": (1 + alpha, beta), "paper": (alpha, 1.0), "library": (2 * alpha, 1.0)}
    )

    def measure(a: Agreement) -> float:
        sizes = alpha * (a.tp + a.fp) ** beta + (a.tp + a.fn) ** beta
        # Sets of nothing are as alike as any two equal sets of one column.
        return float(_ratio(factor * a.tp**power, sizes, of_nothing=factor / (1 + alpha)))

    return _build_score("Dice", Agreement.from_sets(found, truth), measure)


def specificity(found: Iterable[str], truth: Iterable[str], *, columns: Sequence[str]) -> Score:
    """Score which share of the columns that are not true was not found: TN / (TN + FP).

    Undefined where all columns are true. ``columns`` are those of the table.

    Examples
    --------
    >>> specificity(["age", "zip"], ["age", "sex"], columns=["age", "sex", "zip", "job"]).value
    0.5
    """
    return _build_score(
        "specificity",
        Agreement.from_sets(found, truth, columns),
        lambda a: _ratio(_true_negatives(a), _true_negatives(a) + a.fp),
    )


def false_positive_rate(found: Iterable[str], truth: Iterable[str], *, columns: Sequence[str]) -> Score:
    """Score which share of the columns that are not true was found: FP / (TN + FP) = 1 - specificity.

    Examples
    --------
    >>> false_positive_rate(["age", "zip"], ["age", "sex"], columns=["age", "sex", "zip", "job"]).value
    0.5
    """
    agreement = Agreement.from_sets(found, truth, columns)
    return _build_score("false positive rate", agreement, lambda a: _ratio(a.fp, _true_negatives(a) + a.fp), "worse")


def accuracy(
    found: Iterable[str], truth: Iterable[str], *, columns: Sequence[str], variant: ScoreVariant = "definition"
) -> Score:
    """Score which share of the table's columns was judged right: (TP + TN) / all.

    ``variant="paper"`` is the paper's |found and true| / |true|, which is recall and knows no negatives.

    Examples
    --------
    >>> accuracy(["age", "zip"], ["age", "sex"], columns=["age", "sex", "zip", "job"]).value
    0.5
    """
    agreement = Agreement.from_sets(found, truth, columns)
    if base.is_of_paper(variant):
        return _build_score("accuracy", agreement, lambda a: _ratio(a.tp, a.tp + a.fn))
    return _build_score(
        "accuracy", agreement, lambda a: _ratio(a.tp + _true_negatives(a), a.tp + a.fp + a.fn + _true_negatives(a))
    )


def balanced_accuracy(found: Iterable[str], truth: Iterable[str], *, columns: Sequence[str]) -> Score:
    """Score the mean of recall and specificity; 0.5 is what a coin gets.

    Examples
    --------
    >>> balanced_accuracy(["age", "zip"], ["age"], columns=["age", "sex", "zip"]).value
    0.75
    """

    def measure(a: Agreement) -> float:
        return (_ratio(a.tp, a.tp + a.fn) + _ratio(_true_negatives(a), _true_negatives(a) + a.fp)) / 2

    return _build_score("balanced accuracy", Agreement.from_sets(found, truth, columns), measure)


def matthews_correlation(found: Iterable[str], truth: Iterable[str], *, columns: Sequence[str]) -> Score:
    """Score the correlation of found and true over all columns, in [-1, 1].

    Undefined where all or none of the columns are found, or are true. Matthews, 1975.

    Examples
    --------
    >>> matthews_correlation(["age", "zip"], ["age", "sex"], columns=["age", "sex", "zip", "job"]).value
    0.0
    """

    def measure(a: Agreement) -> float:
        tn = _true_negatives(a)
        margins = (a.tp + a.fp) * (a.tp + a.fn) * (tn + a.fp) * (tn + a.fn)
        return _ratio(a.tp * tn - a.fp * a.fn, math.sqrt(margins))

    return _build_score("Matthews correlation", Agreement.from_sets(found, truth, columns), measure)


def average_precision(ranking: Sequence[str], truth: Iterable[str]) -> Score:
    """Score a ranking of columns: the mean, over the true columns, of the precision down to each.

    Parameters
    ----------
    ranking : sequence of str
        The likeliest column first, each once.
    truth : iterable of str
        A true column that is not ranked counts 0. Undefined where nothing is true.

    Examples
    --------
    >>> average_precision(["age", "zip", "sex"], ["age", "sex"]).value
    0.8333333333333333
    """
    ranked, true = _to_list(ranking, "ranking"), set(_to_list(truth, "truth"))
    if len(set(ranked)) < len(ranked):
        raise InputError("the ranking names a column more than once.", hint="rank every column once.")
    hits = [place for place, name in enumerate(ranked, start=1) if name in true]
    total = sum(found / place for found, place in enumerate(hits, start=1))
    return base.score_without_parts(
        "average precision", _ratio(total, len(true)), unit="rate", direction="better", size=len(ranked)
    )


def _build_score(
    name: str, agreement: Agreement, measured: Callable[[Agreement], float], direction: Direction = "better"
) -> Score:
    judged = agreement.tp + agreement.fp + agreement.fn + (agreement.tn or 0)
    return base.score_without_parts(name, measured(agreement), unit="rate", direction=direction, size=judged)


def _ratio(part: float, whole: float, of_nothing: float = math.nan) -> float:
    return part / whole if whole else of_nothing


def _true_negatives(agreement: Agreement) -> int:
    assert agreement.tn is not None
    return agreement.tn


def _to_list(given: Iterable[str], what: str) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"{what} is one text.", hint=f"pass a collection of names: [{given!r}].")
    return list(given)
