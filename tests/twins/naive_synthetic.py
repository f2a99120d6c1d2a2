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
    total = 0.0
    for j, (a, b) in enumerate(zip(one, other, strict=True)):
        if math.isnan(a) and math.isnan(b):
            continue
        if j < n_numbers and not math.isnan(a) and not math.isnan(b):
            total += abs(a - b)
        else:
            total += float(a != b)
    return total


def nearest_rows(targets, candidates, n_numbers, n_near):
    """Return the places and distances of the nearest candidates of every target, of equal ones the first."""
    out = []
    for target in targets:
        far = sorted((distance(target, row, n_numbers), place) for place, row in enumerate(candidates))
        out.append(far[:n_near])
    return [[place for _, place in each] for each in out], [[far for far, _ in each] for each in out]
