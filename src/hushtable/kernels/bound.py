"""How far every row is from the others: a floor under what any class that holds it publishes."""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit

__all__ = ["nearest_records"]


@jit
def nearest_records(
    places: CodeArray,
    counts: CountArray,
    is_ordered: BoolArray,
    positions: FloatArray,
    domain: FloatArray,
    k: int,
    out: FloatArray,
) -> None:
    """Set each row's summed share with the farthest of its k nearest records, itself among them.

    places : int32 (n_rows, n_columns), 0 is missing
    positions : float64 (n_columns, most places), for ordered columns
    domain : float64 (n_columns,), distinct values, the missing one included
    """
    n_rows, n_columns = places.shape
    nearest = np.empty(k)
    records = np.empty(k, np.int64)
    for row in range(n_rows):
        # The nearest rows so far by rising distance, just enough of them to hold k records.
        n_kept, n_held = 0, counts[row]
        nearest[0], records[0] = 0.0, counts[row]
        n_kept = 1
        for other in range(n_rows):
            if other == row:
                continue
            limit = nearest[n_kept - 1] if n_held >= k else np.inf
            distance = 0.0
            for j in range(n_columns):
                a, b = places[row, j], places[other, j]
                if a != b:
                    if not is_ordered[j]:
                        distance += 2.0 / domain[j]
                    elif a == 0 or b == 0:
                        distance += 1.0
                    else:
                        distance += abs(positions[j, a] - positions[j, b])
                if distance >= limit:
                    break
            if distance >= limit:
                continue
            place = min(n_kept, k - 1)
            n_held += counts[other] - (records[k - 1] if n_kept == k else 0)
            while place > 0 and nearest[place - 1] > distance:
                nearest[place], records[place] = nearest[place - 1], records[place - 1]
                place -= 1
            nearest[place], records[place] = distance, counts[other]
            n_kept = min(n_kept + 1, k)
            while n_held - records[n_kept - 1] >= k:
                n_kept -= 1
                n_held -= records[n_kept]
        out[row] = nearest[n_kept - 1]
