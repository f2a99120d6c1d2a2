"""Slow, obvious twins of the scores about a treatment, and of causal importance, over one dict a record."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from twins.naive_scores import Order, Parts, Record, cells, classes, known, number, shares, total_variation, variance


def arms(records: list[Record], treatment: str, treated: Any) -> tuple[list[Record], list[Record]]:
    """Treated and control records; those whose treatment is missing are in neither arm."""
    given = [record for record in records if record[treatment] is not None]
    return [r for r in given if r[treatment] == treated], [r for r in given if r[treatment] != treated]


def largest_gap(p: dict[Any, Fraction], q: dict[Any, Fraction], ranked: Iterable[Any]) -> Fraction:
    """The Kolmogorov-Smirnov statistic: the largest difference of the distribution functions."""
    gap, widest = Fraction(0), Fraction(0)
    for value in ranked:
        gap += p.get(value, Fraction(0)) - q.get(value, Fraction(0))
        widest = max(widest, abs(gap))
    return widest


def covariate_shift(
    records: list[Record],
    columns: Sequence[str],
    treatment: str,
    treated: Any,
    *,
    orders: dict[str, Order],
    variant: str = "definition",
) -> Parts:
    """Total variation between the arms over the classes; the paper's KS over the classes plus sum |P(T) - P|.

    The paper's classes go by their values, the first column's first; a missing value is the
    lowest, and a category goes by its text.
    """
    ones, others = arms(records, treatment, treated)

    def keys(members: list[Record], names: Sequence[str]) -> list[Any]:
        return [tuple(record[name] for name in names) for record in members]

    p, q = shares(keys(ones, columns)), shares(keys(others, columns))
    value = total_variation(p, q)
    if variant == "paper":

        def rank(key: tuple[Any, ...]) -> list[int]:
            return [
                -1 if cell is None else list(orders[name] or sorted(set(known(records, name)))).index(cell)
                for name, cell in zip(columns, key, strict=True)
            ]

        everybody = shares(keys([*ones, *others], columns))
        value = largest_gap(p, q, sorted(everybody, key=rank)) + 2 * total_variation(p, everybody)
    values: dict[Hashable, float] = {}
    for name in columns:
        p, q, order = shares(cells(ones, name)), shares(cells(others, name)), orders[name]
        shift = total_variation(p, q) if order is None else largest_gap(p, q, [None, *order])
        values[name] = float(shift)
    return Parts(float(value), values, dict.fromkeys(columns, len(ones) + len(others)))


def apart(ones: list[Fraction], others: list[Fraction], statistic: str) -> float:
    """Compare two samples: standardized mean difference, Welch's t, or ratio of variances.

    Variances are divided by n - 1; that of one record is 0.
    """
    if not ones or not others:
        return math.nan
    means = [sum(sample, Fraction(0)) / len(sample) for sample in (ones, others)]
    variances = [variance(sample) * len(sample) / max(len(sample) - 1, 1) for sample in (ones, others)]
    if statistic == "variance_ratio":
        low, high = sorted(variances)
        if low:
            return float(high / low)
        return math.inf if high else 1.0
    if statistic == "smd":
        squared = sum(variances, Fraction(0)) / 2
    else:
        squared = variances[0] / len(ones) + variances[1] / len(others)
    difference = means[0] - means[1]
    if squared:
        return float(difference) / math.sqrt(squared)
    return math.copysign(math.inf, difference) if difference else 0.0


def balance(
    records: list[Record],
    columns: Sequence[str],
    treatment: str,
    treated: Any,
    *,
    orders: dict[str, Order],
    statistic: str = "smd",
) -> dict[str, float]:
    """The statistic of every column, without its sign.

    Of a column without an order, that of the value (missing is one) that is farthest apart.
    """
    ones, others = arms(records, treatment, treated)
    found = {}
    for name in columns:
        order = orders[name]
        if order is None:
            found[name] = max(
                abs(
                    apart(
                        [Fraction(cell == value) for cell in cells(ones, name)],
                        [Fraction(cell == value) for cell in cells(others, name)],
                        statistic,
                    )
                )
                for value in {*cells(ones, name), *cells(others, name)}
            )
        else:
            place = list(order).index if order and isinstance(order[0], str) else number
            first, second = ([Fraction(place(cell)) for cell in known(arm, name)] for arm in (ones, others))
            found[name] = abs(apart(first, second, statistic))
    return found


def propensity_overlap(
    records: list[Record], columns: Sequence[str], treatment: str, treated: Any, *, variant: str = "definition"
) -> Parts:
    """Scores are shares of treated in the class. The share of records in the range of both arms' scores.

    The paper's is the mean over the treated of |score - mean score of the controls|.
    """
    ones, others = arms(records, treatment, treated)
    groups = classes([*ones, *others], columns)
    chance = {key: Fraction(sum(r[treatment] == treated for r in rows), len(rows)) for key, rows in groups.items()}

    def scores_of(arm: list[Record]) -> list[Fraction]:
        return [chance[tuple(record[name] for name in columns)] for record in arm]

    first, second = scores_of(ones), scores_of(others)
    if variant == "paper":
        centre = sum(second, Fraction(0)) / len(second)
        value = float(sum(abs(score - centre) for score in first) / len(first))
    else:
        low, high = max(min(first), min(second)), min(max(first), max(second))
        value = sum(low <= score <= high for score in [*first, *second]) / len([*first, *second])
    return Parts(value, {key: float(p) for key, p in chance.items()}, {key: len(rows) for key, rows in groups.items()})


def causal_importance(names: Sequence[str], adjacency: Sequence[Sequence[int]], columns: Sequence[str]) -> float:
    """The sum, over the set, of the entries of each column's row of the adjacency matrix."""
    return float(sum(abs(entry) for name in columns for entry in adjacency[names.index(name)]))
