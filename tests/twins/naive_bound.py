"""All classes and all partitions of a small table, one after the other: what prices may not exceed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

Record = tuple[int | None, str | None]


def share(rows: list[Record], members: tuple[int, ...]) -> float:
    """What a class publishes, summed over age (by its width) and job (by the number of its values)."""
    ages = [age for age, _ in rows if age is not None]
    width = max(ages, default=0) - min(ages, default=0)
    of_class = {rows[i][0] for i in members}
    total = 0.0
    if len(of_class) > 1:
        total += 1.0 if None in of_class else (max(of_class) - min(of_class)) / width  # type: ignore[type-var]
    jobs = {rows[i][1] for i in members}
    return total + (len(jobs) / len({job for _, job in rows}) if len(jobs) > 1 else 0.0)


def classes(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Every class of k records or more."""
    for size in range(k, n + 1):
        yield from combinations(range(n), size)


def partitions(left: tuple[int, ...], k: int) -> Iterator[list[tuple[int, ...]]]:
    """Every partition into classes of k records or more."""
    if not left:
        yield []
        return
    for size in range(k, len(left) + 1):
        for others in combinations(left[1:], size - 1):
            rest = tuple(i for i in left[1:] if i not in others)
            for parts in partitions(rest, k):
                yield [(left[0], *others), *parts]


def least_loss(rows: list[Record], k: int) -> float:
    """The set-NCP of the best release."""
    everyone = tuple(range(len(rows)))
    costs = {each: len(each) * share(rows, each) for each in classes(len(rows), k)}
    return min(sum(costs[each] for each in parts) for parts in partitions(everyone, k)) / len(rows) / 2


def least_loss_with_suppression(rows: list[Record], k: int) -> float:
    """The set-NCP of the best release that may leave out records, each of which costs both columns."""
    everyone = tuple(range(len(rows)))
    best = float(2 * len(rows))
    for size in range(len(rows) + 1):
        for kept in combinations(everyone, size):
            for parts in partitions(kept, k):
                cost = sum(len(each) * share(rows, each) for each in parts)
                best = min(best, cost + 2 * (len(rows) - size))
    return best / len(rows) / 2


def slack(rows: list[Record], prices: list[float], k: int, row: Record) -> float:
    """By how much the price of every record of a row may rise until some class exceeds what it costs."""
    left = []
    for each in classes(len(rows), k):
        own = sum(rows[i] == row for i in each)
        if own:
            left.append((len(each) * share(rows, each) - sum(prices[i] for i in each)) / own)
    return min(left)


def worst_excess(rows: list[Record], prices: list[float], k: int) -> float:
    """By how much the prices of some class exceed what it costs, at most."""
    return max(sum(prices[i] for i in each) - len(each) * share(rows, each) for each in classes(len(rows), k))


def settle_prices(
    listed: list[tuple[dict[int, int], float]],
    counts: list[int],
    k: int,
    steps: list[float],
    ceilings: list[float],
    prices: list[float],
) -> list[float]:
    """Raise prices by every step; then, one class after the other, lower those of its members to what it costs."""
    prices = list(prices)
    for step in steps:
        for row, count in enumerate(counts):
            if count < k:
                prices[row] = max(prices[row], min(ceilings[row], prices[row] + step * count))
        for members, cost in listed:
            excess = sum(n * prices[row] for row, n in members.items()) - cost
            for row, n in members.items():
                prices[row] -= max(0.0, excess) * n / sum(each**2 for each in members.values())
    return prices
