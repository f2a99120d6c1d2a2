"""What a class holds of a column, against counting with a dictionary."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from hushtable.kernels import group
from hushtable.kernels.histogram import class_ranges, class_values

N_CLASSES, N_CODES = 4, 5
CELLS = st.lists(
    st.tuples(st.integers(-1, N_CLASSES - 1), st.integers(-1, N_CODES - 1), st.integers(1, 4)), max_size=25
)


def columns_of(cells):
    labels = np.array([label for label, _, _ in cells], dtype=np.int32)
    codes = np.array([code for _, code, _ in cells], dtype=np.int32)
    counts = np.array([count for _, _, count in cells], dtype=np.int64)
    members = [[row for row, cell in enumerate(cells) if cell[0] == label] for label in range(N_CLASSES)]
    return labels, codes, counts, members


@given(CELLS)
@example([(0, -1, 2), (0, -1, 1)])
def test_class_ranges(cells):
    labels, codes, _, members = columns_of(cells)
    low, high = class_ranges(labels, codes, N_CLASSES)
    for label, rows in enumerate(members):
        if rows:
            assert (low[label], high[label]) == (codes[rows].min(), codes[rows].max())
        else:
            assert low[label] > high[label]


@given(CELLS)
@example([])
@example([(2, -1, 3)])
def test_class_values(cells):
    labels, codes, counts, members = columns_of(cells)
    offsets, rows = group.rows_by_class(labels, N_CLASSES)
    found_offsets, found_codes, found_counts = class_values(offsets, rows, codes, counts, N_CODES)
    for label, rows_of_class in enumerate(members):
        begin, end = found_offsets[label], found_offsets[label + 1]
        expected = naive.histogram(rows_of_class, counts.tolist(), codes.tolist())
        assert found_codes[begin:end].tolist() == sorted(expected)
        assert found_counts[begin:end].tolist() == [expected[code] for code in sorted(expected)]
    assert len(found_codes) == len(found_counts) == found_offsets[-1]


def test_a_row_that_stands_for_no_record_adds_no_value():
    offsets, rows = np.array([0, 3]), np.array([0, 1, 2], dtype=np.int32)
    codes, counts = np.array([1, 0, 1], dtype=np.int32), np.array([0, 2, 0])
    _, found_codes, found_counts = class_values(offsets, rows, codes, counts, 2)
    assert (found_codes.tolist(), found_counts.tolist()) == ([0], [2])
