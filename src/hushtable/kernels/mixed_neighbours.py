"""The nearest rows of another table, by the sum of the differences of numbers and of unequal categories."""

from __future__ import annotations

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.kernels._jit import bare

__all__ = ["nearest_rows"]


@bare
def nearest_rows(
    targets: FloatArray, candidates: FloatArray, n_numbers: int, near: CountArray, distances: FloatArray
) -> None:
    """Find the nearest candidates of every target, nearest first, of equally near ones the first.

    targets, candidates : float64 (n_rows, n_columns), NaN is missing; the first columns are numbers, scaled
    n_numbers : how many columns are numbers; two of the others differ by 0 or 1
    near : int64 (n_targets, n_near), out; n_near is at most the number of candidates
    distances : float64 (n_targets, n_near), out
    """
    n_near = near.shape[1]
    for target in range(targets.shape[0]):
        n_found = 0
        worst = np.inf
        for row in range(candidates.shape[0]):
            apart = 0.0
            for j in range(targets.shape[1]):
                a, b = targets[target, j], candidates[row, j]
                if a == b:
                    continue
                if np.isnan(a) and np.isnan(b):
                    continue
                if j >= n_numbers or np.isnan(a) or np.isnan(b):
                    apart += 1.0
                else:
                    apart += abs(a - b)
                if apart >= worst:
                    break
            if apart >= worst:
                continue
            place = min(n_found, n_near - 1)
            while place > 0 and distances[target, place - 1] > apart:
                distances[target, place] = distances[target, place - 1]
                near[target, place] = near[target, place - 1]
                place -= 1
            distances[target, place] = apart
            near[target, place] = row
            n_found = min(n_found + 1, n_near)
            if n_found == n_near:
                worst = distances[target, n_near - 1]
