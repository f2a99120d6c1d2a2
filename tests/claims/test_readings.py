"""Rows grouped without a partition: labels of equal rows, and what rows with missing cells match."""

import numpy as np
import pytest

from hushtable.claims.grouping import label_rows, match_classes
from hushtable.models.base import Histogram
from twins import naive


@pytest.mark.parametrize("widths", [[], [1], [3, 4], [2] * 9, [400, 400], [2**31 - 2] * 3])
@pytest.mark.parametrize("n_rows", [0, 1, 60, 3000])
def test_labels_are_sorted_and_name_the_first_row(widths, n_rows):
    rng = np.random.default_rng(n_rows)
    drawn = [rng.integers(-1, width, n_rows).astype(np.int32) for width in widths]
    codes = np.array(drawn, dtype=np.int32).reshape(len(widths), n_rows)[:, rng.integers(0, max(1, n_rows), n_rows)]
    rows = list(zip(*codes.tolist(), strict=True)) if widths else [()] * n_rows
    distinct = sorted(set(rows))
    labels, first = label_rows(codes)
    assert labels.tolist() == [distinct.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in distinct]


@pytest.mark.parametrize("widths", [[3, 2, 2, 2], [40, 30, 3], [2000, 5], [9]])
def test_rows_with_missing_cells_match_what_the_slow_twin_says(widths):
    rng = np.random.default_rng(len(widths))
    codes = np.array([rng.integers(0, width, 400) for width in widths], dtype=np.int32)
    codes[rng.random(codes.shape) < 0.3] = -1
    codes = np.unique(codes, axis=1)[:, ::-1]
    n_rows = codes.shape[1]
    sizes = rng.integers(1, 5, n_rows)
    # The one value of a row is its own number, so that the histogram names whom it matches.
    alone = Histogram(np.arange(n_rows + 1), np.arange(n_rows, dtype=np.int32), sizes)
    matched, found = match_classes(codes, sizes, {"who": alone}, "wildcard")
    rows = list(zip(*codes.tolist(), strict=True))
    assert matched.tolist() == naive.match_counts(rows, sizes.tolist(), "wildcard")
    at = zip(found["who"].offsets[:-1], found["who"].offsets[1:], strict=True)
    for row, (begin, end) in zip(rows, at, strict=True):
        theirs = [i for i, other in enumerate(rows) if naive.rows_match(row, other, "wildcard")]
        assert found["who"].codes[begin:end].tolist() == theirs
        assert found["who"].counts[begin:end].tolist() == sizes[theirs].tolist()
