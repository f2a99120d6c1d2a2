"""Class sizes of column sets against a count by dicts."""

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from hushtable.kernels.subsets import N_FIGURES, Levels, measure_columns, walk_subsets
from strategies import coded_rows


def levels(n_columns: int, n_rows: int, n_bins: int) -> Levels:
    return Levels(
        np.empty((n_columns + 1, n_rows), np.int32),
        np.empty((n_columns + 1, n_rows // 2 + 1), np.int32),
        np.zeros((n_columns + 1, 7), np.int64),
        np.zeros((2, n_bins), np.int64),
        np.empty(n_bins, np.int32),
        np.empty(n_rows, np.int32),
    )


def slowly(codes, counts, mask):
    sizes = Counter()
    for row, count in enumerate(counts.tolist()):
        sizes[tuple(codes[j, row] for j in range(len(codes)) if mask >> j & 1)] += count
    return [len(sizes), sum(size * (size - 1) // 2 for size in sizes.values()), min(sizes.values())]


@st.composite
def counted(draw):
    codes, widths = draw(coded_rows(max_rows=14, max_columns=4).filter(lambda case: case[0].shape[1] > 0))
    n_rows = codes.shape[1]
    counts = draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
    return codes, np.array(widths, dtype=np.int64), np.array(counts, dtype=np.int64)


@given(counted(), st.integers(0, 4))
def test_a_walk_measures_every_column_set(case, n_fixed):
    codes, widths, counts = case
    n = len(codes)
    n_fixed = min(n_fixed, n)
    out = np.zeros((1 << n, N_FIGURES), dtype=np.int64)
    scratch = levels(n, codes.shape[1], int(widths.max()) + 1)
    bits = np.int64(1) << np.arange(n)
    for pattern in range(1 << n_fixed):
        prefix = np.array([*(j for j in range(n_fixed) if pattern >> j & 1), n_fixed])
        walk_subsets(codes, counts, bits, prefix, scratch, out)
    assert not scratch.bins.any()
    assert out.tolist() == [slowly(codes, counts, mask) for mask in range(1 << n)]


@given(counted(), st.integers(5, 40))
def test_one_set_is_measured_whatever_the_order_and_the_bins(case, n_bins):
    codes, widths, counts = case
    n = len(codes)
    scratch = levels(n, codes.shape[1], n_bins)
    for mask in range(1 << n):
        columns = np.array([j for j in range(n) if mask >> j & 1], dtype=np.int64)
        for order in (columns, columns[::-1].copy()):
            level = measure_columns(codes, widths, counts, order, scratch)
            assert scratch.tally[level, -N_FIGURES:].tolist() == slowly(codes, counts, mask)
    assert not scratch.bins.any()


def test_wide_columns_are_split_class_by_class():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 3000, (4, 5000)).astype(np.int32)
    codes[0] %= 5
    codes[3] = rng.integers(-1, 2, 5000)
    widths, counts = np.array([5, 3000, 3000, 2]), np.ones(5000, dtype=np.int64)
    scratch = levels(4, 5000, 4096)
    for columns in ([1, 2, 0, 3], [2, 0, 3], [1, 3], [0, 3]):
        level = measure_columns(codes, widths, counts, np.array(columns), scratch)
        mask = sum(1 << j for j in columns)
        assert scratch.tally[level, -N_FIGURES:].tolist() == slowly(codes, counts, mask)
