"""What a class holds of a column, against counting with a dictionary."""

import numpy as np
from hypothesis import example, given, strategies as st

from hushtable.kernels import group
from hushtable.kernels.class_profile import class_codes, class_ranges, class_values, find_known_ranges
from twins import naive

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
@example([(1, -1, 2), (1, 3, 1), (1, 0, 1)])
def test_known_ranges(cells):
    labels, codes, _, members = columns_of(cells)
    # Backwards, as a hierarchy may lay codes out; two of them in one place.
    place = np.array([0, *(1 + code for code in (3, 2, 2, 1, 0))], dtype=np.int32)
    low, high = np.empty((2, N_CLASSES), dtype=np.int32)
    has_missing = np.empty(N_CLASSES, dtype=bool)
    find_known_ranges(labels, codes, place, low, high, has_missing)
    for label, rows in enumerate(members):
        known = [int(place[codes[row] + 1]) - 1 for row in rows if codes[row] >= 0]
        assert (low[label], high[label]) == ((min(known), max(known)) if known else (-1, -1))
        assert has_missing[label] == any(codes[row] < 0 for row in rows)


@given(CELLS)
@example([])
@example([(2, -1, 3), (2, 4, 1), (-1, 0, 1)])
def test_class_codes(cells):
    labels, codes, _, members = columns_of(cells)
    offsets, found = class_codes(labels, codes, N_CODES, N_CLASSES)
    for label, rows in enumerate(members):
        assert found[offsets[label] : offsets[label + 1]].tolist() == sorted({int(codes[row]) for row in rows})
    assert len(found) == offsets[-1]


def test_class_codes_of_a_whole_word():
    codes = np.arange(-1, 63, dtype=np.int32)
    offsets, found = class_codes(np.zeros(64, dtype=np.int32), codes, 63, 1)
    assert (offsets.tolist(), found.tolist()) == ([0, 64], codes.tolist())


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
