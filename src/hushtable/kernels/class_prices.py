"""Prices of rows against classes: k records of a class that cost less than their prices show them too high."""

from __future__ import annotations

from typing import NamedTuple

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner


class OpenClasses(NamedTuple):
    """Rows that can be a class together, one class after the other; a row may be in many."""

    rows: CodeArray  # (n_members,)
    starts: CountArray  # (n_classes + 1,)
    costs: FloatArray  # (n_classes,), of a record that is in the class


class Dearest(NamedTuple):
    """Scratch: the k dearest records of a class, in falling order."""

    prices: FloatArray  # (k,)
    rows: CountArray  # (k,)


@jit_inner
def _find_dearest(classes: OpenClasses, number: int, counts: CountArray, prices: FloatArray, dearest: Dearest) -> int:
    """Find the k dearest records of a class; return how many of them it has."""
    k, n = dearest.prices.size, 0
    for i in range(classes.starts[number], classes.starts[number + 1]):
        row = classes.rows[i]
        price = prices[row]
        for _ in range(min(counts[row], k)):
            if n == k and price <= dearest.prices[k - 1]:
                break
            n = min(n + 1, k)
            at = n - 1
            while at > 0 and dearest.prices[at - 1] < price:
                dearest.prices[at], dearest.rows[at] = dearest.prices[at - 1], dearest.rows[at - 1]
                at -= 1
            dearest.prices[at], dearest.rows[at] = price, row
    return n


@jit_bare
def choose_classes(
    classes: OpenClasses, counts: CountArray, prices: FloatArray, dearest: Dearest, chosen: CountArray
) -> float:
    """Choose what pays at these prices, a class with at least k records; return its cost without the prices.

    Every class chooses by itself, so a row may be chosen too often: ``chosen`` (n_rows,) counts its records. With the
    prices of all records the result is a lower bound of what classes cost that choose every record once.
    """
    k, total = dearest.prices.size, 0.0
    chosen[:] = 0
    for number in range(classes.costs.size):
        cost, gain, n_paying = classes.costs[number], 0.0, 0
        begin, end = classes.starts[number], classes.starts[number + 1]
        for i in range(begin, end):
            row = classes.rows[i]
            if prices[row] > cost:
                gain += counts[row] * (cost - prices[row])
                n_paying += counts[row]
        if n_paying >= k:
            total += gain
            for i in range(begin, end):
                row = classes.rows[i]
                if prices[row] > cost:
                    chosen[row] += counts[row]
        elif _find_dearest(classes, number, counts, prices, dearest) == k:
            above = k * cost
            for i in range(k):
                above -= dearest.prices[i]
            if above < 0:
                total += above
                for i in range(k):
                    chosen[dearest.rows[i]] += 1
    return total


@jit_bare
def lower_prices(
    classes: OpenClasses, counts: CountArray, prices: FloatArray, dearest: Dearest, tolerance: float
) -> None:
    """Lower prices until no k records of a class cost less, one class after the other, the dearest rows alike."""
    k = dearest.prices.size
    for number in range(classes.costs.size):
        while _find_dearest(classes, number, counts, prices, dearest) == k:
            excess = -k * classes.costs[number]
            for i in range(k):
                excess += dearest.prices[i]
            if excess <= tolerance:
                break
            for i in range(k):
                row = dearest.rows[i]
                prices[row] = min(prices[row], dearest.prices[i] - excess / k)


@jit_bare
def cost_above_prices(
    classes: OpenClasses, counts: CountArray, prices: FloatArray, dearest: Dearest, above: FloatArray
) -> None:
    """Tell of every member how much the cheapest k records of its class, one of its row among them, cost above prices.

    ``above`` (n_members,) is inf where a class has fewer than k records.
    """
    k = dearest.prices.size
    for number in range(classes.costs.size):
        least = float("inf")
        if _find_dearest(classes, number, counts, prices, dearest) == k:
            least = k * classes.costs[number]
            for i in range(k):
                least -= dearest.prices[i]
        for i in range(classes.starts[number], classes.starts[number + 1]):
            above[i] = least + max(0.0, dearest.prices[k - 1] - prices[classes.rows[i]])
