"""Independence masking, slow and obvious: every dealing tried, independence counted in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

Vector = tuple[int, ...]


def stars(group: Sequence[Vector], weights: Sequence[float] | None = None) -> float:
    """What a group costs: its records times the columns on which they differ; -1 agrees with nothing."""
    weights = weights or [1] * len(group[0])
    differ = [len(set(cells)) > 1 or -1 in cells for cells in zip(*group, strict=True)]
    return len(group) * sum(weight for weight, hidden in zip(weights, differ, strict=True) if hidden)


def fewest_stars(clusters: Sequence[Sequence[Vector]], weights: Sequence[float] | None = None) -> float:
    """The least cost of all ways to deal equal-sized clusters into groups of one record each."""
    first, *others = [tuple(sorted(cluster)) for cluster in clusters]

    @cache
    def least(place: int, left: tuple[tuple[Vector, ...], ...]) -> float:
        if place == len(first):
            return 0
        best = float("inf")

        def choose(chosen: tuple[Vector, ...], rest: tuple[tuple[Vector, ...], ...]) -> None:
            nonlocal best
            if len(chosen) > len(others):
                best = min(best, stars(chosen, weights) + least(place + 1, rest))
                return
            cluster = left[len(chosen) - 1]
            for vector in set(cluster):
                at = cluster.index(vector)
                choose((*chosen, vector), (*rest, cluster[:at] + cluster[at + 1 :]))

        choose((first[place],), ())
        return best

    return least(0, tuple(others))


def fewest_stars_by_permutation(clusters: Sequence[Sequence[Vector]]) -> float:
    """The same for two clusters, without any cleverness: the twin's own twin."""
    one, other = clusters
    return min(sum(stars(pair) for pair in zip(one, dealt, strict=True)) for dealt in permutations(other))


def is_independent(vectors: Sequence[tuple[object, ...]], labels: Sequence[object]) -> bool:
    """Equation 1 of the source, for the whole vector and every subset of its columns."""
    n = len(labels)
    n_columns = len(vectors[0])
    for size in range(1, n_columns + 1):
        for columns in combinations(range(n_columns), size):
            cells = [tuple(vector[column] for column in columns) for vector in vectors]
            both, ours, theirs = Counter(zip(cells, labels, strict=True)), Counter(cells), Counter(labels)
            for cell in ours:
                for label in theirs:
                    if Fraction(both[cell, label], n) != Fraction(ours[cell], n) * Fraction(theirs[label], n):
                        return False
    return True
