"""What parts count of the left sides of cuts, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.kernels import parts as counting


@pytest.mark.parametrize("seed", range(4))
def test_left_sides_are_counted_as_a_slow_twin_counts_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths, n_kinds, n_rows, n_classes, n_cuts = [3, 5], 1 + seed, 40, 3, 2
    codes = np.zeros((n_rows, 8), dtype=np.uint8)
    for j, width in enumerate(widths):
        codes[:, j] = rng.integers(0, width, n_rows)
    labels, kinds = (rng.integers(low, high, n_rows).astype(np.int32) for low, high in ((-1, n_classes), (0, n_kinds)))
    columns = rng.integers(-1, 2, (n_classes, n_cuts)).astype(np.int32)
    goes_left = rng.integers(0, 2, (n_classes, n_cuts, max(widths))).astype(np.uint8)
    starts = np.arange(n_classes * n_cuts).reshape(n_classes, n_cuts) * max(widths)
    begins = np.cumsum([0, *widths])
    counts = np.zeros((n_classes, n_cuts, begins[-1], n_kinds), dtype=np.int64)
    counting.tally_left_sides(codes, labels, kinds, counting.Sides(columns, starts, goes_left.ravel(), begins), counts)
    expected = np.zeros_like(counts)
    for row, label in enumerate(labels):
        for cut in range(n_cuts) if label >= 0 else ():
            if (columns[label, : cut + 1] < 0).any() or not goes_left[label, cut, codes[row, columns[label, cut]]]:
                continue
            for j in range(len(widths)):
                expected[label, cut, begins[j] + codes[row, j], kinds[row]] += 1
    assert np.array_equal(counts, expected)
