"""Membership attacks from their definitions, record by record and label by label."""

import math
from collections import Counter
from itertools import combinations


def ranks(values):
    """Return mid-ranks, from 1."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values
    ]


def distance_scales(columns):
    """Return for each column its median and standard deviation, of numbers; None of texts."""
    scales = []
    for column in columns:
        known = sorted(value for value in column if value is not None)
        if not known or isinstance(known[0], str):
            scales.append(None)
            continue
        n = len(known)
        median = (known[(n - 1) // 2] + known[n // 2]) / 2
        mean = sum(known) / n
        scales.append((median, math.sqrt(sum((value - mean) ** 2 for value in known) / n) or 1.0))
    return scales


def squared_distance(first, second, scales):
    """Return the squared distance: of numbers standardised, a missing one the median, and 1 for what differs else."""
    total = 0.0
    for a, b, scale in zip(first, second, scales, strict=True):
        if scale is None:
            total += a != b
            continue
        median, deviation = scale
        numbers = [(median if value is None else value) / deviation for value in (a, b)]
        total += (numbers[0] - numbers[1]) ** 2 + ((a is None) != (b is None))
    return total


def nearest(record, table, scales):
    """Return the least squared distance to a record of a table."""
    return min(squared_distance(record, other, scales) for other in table)


def counts_score(record, synthetic, reference, order):
    """Sum log((count in S + 1) / (count in R + 1)) over all column sets of up to a size; tables of one size."""
    total = 0.0
    for size in range(1, order + 1):
        for columns in combinations(range(len(record)), size):
            n = [
                sum(all(other[j] == record[j] for j in columns) for other in table) for table in (synthetic, reference)
            ]
            total += math.log((n[0] + 1) / (n[1] + 1))
    return total


def copies_score(record, synthetic, reference):
    """Return log((copies in S + 1/2) / (copies in R + 1/2))."""
    return math.log((synthetic.count(record) + 0.5) / (reference.count(record) + 0.5))


def agreement(record, table, known):
    """Return the greatest sum, over cells equal to those of a record of a table, of the surprisal among known ones."""
    frequencies = [Counter(other[j] for other in known) for j in range(len(record))]
    return max(
        sum(-math.log(frequencies[j][record[j]] / len(known)) for j in range(len(record)) if other[j] == record[j])
        for other in table
    )


def area(members, others):
    """Return the share of pairs in which the member scores higher, ties half."""
    return sum((m > o) + (m == o) / 2 for m in members for o in others) / len(members) / len(others)


def recognised(members, others, share):
    """Return how many members are strictly above the threshold that a share of non-members exceeds."""
    k = math.floor(share * len(others))
    threshold = sorted(others, reverse=True)[k]
    return sum(m > threshold for m in members)


def chance_of_at_least(x, m, n, k):
    """Return the chance that x or more of m are above the (k+1)-th largest of n, all alike: by counting orders."""

    def chance(y):
        # Below the threshold's place: y members and k others above it, in any order, then that other.
        return math.comb(y + k, k) * math.comb(m - y + n - k - 1, m - y) / math.comb(m + n, m)

    return sum(chance(y) for y in range(x, m + 1))


def false_discoveries(p_values, share):
    """Return which are selected: the largest count whose largest p-value is at most share x count / n."""
    n = len(p_values)
    ordered = sorted(p_values)
    most = max((i for i in range(1, n + 1) if ordered[i - 1] <= share * i / n), default=0)
    return [most > 0 and p <= ordered[most - 1] for p in p_values]
