"""Slow, obvious twins of the scores of found against true column sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


class Judged(NamedTuple):
    """How many columns are right and wrong, found and not."""

    tp: int
    fp: int
    fn: int
    tn: int


def judged(found: Iterable[str], truth: Iterable[str], columns: Iterable[str]) -> Judged:
    """Look at every column of the table once."""
    found, truth = set(found), set(truth)
    tp = fp = fn = tn = 0
    for name in columns:
        if name in found and name in truth:
            tp += 1
        elif name in found:
            fp += 1
        elif name in truth:
            fn += 1
        else:
            tn += 1
    return Judged(tp, fp, fn, tn)


def ratio(part: float, whole: float) -> float:
    """Nothing of nothing is undefined."""
    return part / whole if whole else math.nan


def harmonic(precision: float, recall: float, beta: float) -> float:
    """Table 2's F-beta, where both are defined and not both 0."""
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def dice(found: set[str], truth: set[str], alpha: Fraction, beta: int, *, factor: Fraction, power: int) -> float:
    """Count, raise, weigh and divide, in whole numbers; of nothing what one equal column each has."""
    both = Fraction(len(found & truth)) if found or truth else Fraction(1)
    sizes = (len(found), len(truth)) if found or truth else (1, 1)
    return float(factor * both**power / (alpha * sizes[0] ** beta + sizes[1] ** beta))


def correlation(found: set[str], truth: set[str], columns: Sequence[str]) -> float:
    """Pearson's correlation of two lists of 0 and 1, one entry a column; undefined where one is constant."""
    x, y = [Fraction(name in found) for name in columns], [Fraction(name in truth) for name in columns]
    n = len(columns)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    shared = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    alone = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return float(shared) / math.sqrt(alone) if alone else math.nan


def average_precision(ranking: Sequence[str], truth: Iterable[str]) -> float:
    """The mean, over the true columns, of the precision of the ranking cut at each; 0 for one not ranked."""
    truth = set(truth)
    precisions = []
    for name in truth:
        if name in ranking:
            cut = ranking[: list(ranking).index(name) + 1]
            precisions.append(Fraction(len(truth & set(cut)), len(cut)))
        else:
            precisions.append(Fraction(0))
    return float(sum(precisions) / len(precisions)) if precisions else math.nan
