"""Perturbation, slow and obvious: MDAV by sorting, groups by trying all, prices by looking at every triple."""

from __future__ import annotations

from itertools import combinations


def squared(one: list[float], other: list[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def mean(points: list[list[float]]) -> list[float]:
    return [sum(column) / len(points) for column in zip(*points, strict=True)]


def sse(groups: list[list[int]], points: list[list[float]]) -> float:
    total = 0.0
    for group in groups:
        middle = mean([points[row] for row in group])
        total += sum(squared(points[row], middle) for row in group)
    return total


def mdav(points: list[list[float]], k: int) -> list[list[int]]:
    """Domingo-Ferrer, Torra 2005; the first row where distances are equal."""
    left, groups = list(range(len(points))), []

    def farthest(place: list[float]) -> int:
        return max(left, key=lambda row: (squared(points[row], place), -row))

    def take(row: int) -> None:
        near = sorted(left, key=lambda other: (other != row, squared(points[other], points[row]), other))[:k]
        groups.append(near)
        for each in near:
            left.remove(each)

    while len(left) >= 3 * k:
        far = farthest(mean([points[row] for row in left]))
        take(far)
        take(farthest(points[far]))
    if len(left) >= 2 * k:
        take(farthest(mean([points[row] for row in left])))
    if left:
        groups.append(left)
    return groups


def best_partition(points: list[list[float]], k: int) -> float:
    """The least sum of squares of all partitions into groups of at least k rows."""

    def least(rows: tuple[int, ...]) -> float:
        if not rows:
            return 0.0
        first, others = rows[0], rows[1:]
        best = float("inf")
        for size in range(k - 1, len(others) + 1):
            if 0 < len(others) - size < k:
                continue
            for members in combinations(others, size):
                rest = tuple(row for row in others if row not in members)
                best = min(best, sse([[first, *members]], points) + least(rest))
        return best

    return least(tuple(range(len(points))))


def least_reduced_costs(points: list[list[float]], prices: list[float]) -> list[float]:
    least = [float("inf")] * len(points)
    for triple in combinations(range(len(points)), 3):
        cost = sse([list(triple)], points) - sum(prices[row] for row in triple)
        for row in triple:
            least[row] = min(least[row], cost)
    return least


def invariant(first: list[list[float]], frequencies: list[float]) -> list[list[float]]:
    """Gouweleeuw et al. 1998: R = P Q with Q[k][j] = P[j][k] t[j] / sum over i of t[i] P[i][k]."""
    n = range(len(frequencies))
    back = [[first[j][k] * frequencies[j] / sum(frequencies[i] * first[i][k] for i in n) for j in n] for k in n]
    return [[sum(first[i][k] * back[k][j] for k in n) for j in n] for i in n]
