"""Slow twins of what attacks count: one row and one condition after another."""

import math


def count_matches(rows, query, limit):
    """Count rows (tuples of codes) that satisfy all of (column, low, high, negated); the last one counted too."""
    found = [
        place
        for place, row in enumerate(rows)
        if all((low <= row[column] <= high) != negated for column, low, high, negated in query)
    ][: limit + 1]
    return len(found), found[-1] if found else -1


def distance(one, other, n_numbers):
    """Sum the differences of the cells that both rows have, or both lack, and of one column more, then scale to all."""
    differences = [1.0]
    for j, (a, b) in enumerate(zip(one, other, strict=True)):
        if math.isnan(a) and math.isnan(b):
            differences.append(0.0)
        elif not math.isnan(a) and not math.isnan(b):
            differences.append(abs(a - b) if j < n_numbers else float(a != b))
    if len(differences) == len(one) + 1:
        return sum(differences) - 1
    return sum(differences) * (len(one) + 1) / len(differences) - 1


def nearest_rows(targets, candidates, n_numbers, n_near):
    """Return the places and distances of the nearest candidates of every target, of equal ones the first."""
    out = []
    for target in targets:
        far = sorted((distance(target, row, n_numbers), place) for place, row in enumerate(candidates))
        out.append(far[:n_near])
    return [[place for _, place in each] for each in out], [[far for far, _ in each] for each in out]


def share_nearest(targets, candidates, n_numbers, counts):
    """Return for every candidate how many targets it is nearest to; equally near records share a target."""
    shares = [0.0] * len(candidates)
    for target in targets:
        far = [distance(target, row, n_numbers) for row in candidates]
        tied = [place for place, each in enumerate(far) if each == min(far)]
        for place in tied:
            shares[place] += counts[place] / sum(counts[each] for each in tied)
    return shares
