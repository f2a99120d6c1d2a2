"""Partition refinement: the fast loops against grouping by a dictionary."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from hushtable.kernels import group
from twins import naive

ROWS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 4), st.integers(-1, 2)), max_size=25)


def int32(values):
    return np.array(values, dtype=np.int32)


def refined(columns, widths, n_rows):
    labels, n_classes = np.zeros(n_rows, dtype=np.int32), min(1, n_rows)
    for codes, n_codes in zip(columns, widths, strict=True):
        out = np.empty_like(labels)
        n_classes = group.refine_classes(labels, n_classes, int32(codes), n_codes, out)
        labels = out
    return labels, n_classes


def labels_of(groups, n_rows):
    labels = np.full(n_rows, -1)
    for label, members in enumerate(groups):
        labels[members] = label
    return labels.tolist()


@given(ROWS)
@example([])
@example([(-1, -1, -1)])
@example([(1, 1, 1)] * 5)
@pytest.mark.parametrize("widths", [(4, 5, 3), (100_000, 100_000, 100_000)], ids=["by address", "by hash"])
def test_refining_by_every_column_groups_equal_rows(widths, rows):
    columns = [[row[j] for row in rows] for j in range(3)]
    labels, n_classes = refined(columns, widths, len(rows))
    groups = naive.classes(rows)
    assert n_classes == len(groups)
    assert labels.tolist() == labels_of(groups, len(rows))


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3)), max_size=25))
def test_address_and_hash_agree_and_leave_rows_of_no_class_alone(pairs):
    # Dense labels, as the kernels ask for.
    seen = {label: i for i, label in enumerate(dict.fromkeys(label for label, _ in pairs if label >= 0))}
    labels, codes = int32([seen.get(label, -1) for label, _ in pairs]), int32([code for _, code in pairs])
    by_address, by_hash = np.empty_like(labels), np.empty_like(labels)
    table = np.full(max(1, len(seen)) * 5, np.int32(-1))
    n_address = group._refine_by_address(labels, codes, 5, table, by_address)
    n_hash = group._refine_by_hash(labels, codes, 5, by_hash)
    assert n_address == n_hash
    assert by_address.tolist() == by_hash.tolist()
    assert ((by_hash < 0) == (labels < 0)).all()
    assert sorted(set(by_hash[by_hash >= 0].tolist())) == list(range(n_hash))


def test_keys_past_32_bits_stay_apart():
    n_rows = 20
    labels = np.arange(n_rows, dtype=np.int32)
    codes = int32([2**31 - 3, 0] * 10)
    out = np.empty_like(labels)
    assert group.refine_classes(labels, n_rows, codes, 2**31 - 2, out) == n_rows
    assert out.tolist() == list(range(n_rows))


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(1, 9)), max_size=25))
def test_sizes_first_rows_and_rows_by_class(pairs):
    labels = int32([label for label, _ in pairs])
    counts = np.array([count for _, count in pairs], dtype=np.int64)
    members = [[row for row, (label, _) in enumerate(pairs) if label == each] for each in range(5)]
    assert group.class_sizes(labels, counts, 5).tolist() == naive.class_sizes(members, counts.tolist())
    assert group.first_rows(labels, 5).tolist() == [rows[0] if rows else -1 for rows in members]
    offsets, rows = group.rows_by_class(labels, 5)
    assert [rows[offsets[i] : offsets[i + 1]].tolist() for i in range(5)] == members
    assert len(rows) == offsets[5] == sum(map(len, members))


def test_sizes_past_32_bits_do_not_wrap():
    counts = np.array([2**40, 2**40], dtype=np.int64)
    assert group.class_sizes(int32([0, 0]), counts, 1).tolist() == [2**41]


def distinct(codes, widths, counts):
    labels, first = np.empty((2, len(counts)), dtype=np.int32)
    sizes = np.empty(len(counts), dtype=np.int64)
    n = group.group_equal_rows(codes, np.array(widths), counts, labels, first, sizes)
    return labels, first[:n], sizes[:n]


@given(ROWS, st.lists(st.integers(0, 3), min_size=25, max_size=25))
@example([], [1] * 25)
@example([(-1, -1, -1), (3, 4, 2)] * 3, [2] * 25)
@pytest.mark.parametrize("widths", [(5, 6, 4), (2**21, 2**21, 2**20)], ids=["narrow", "63 bits"])
def test_distinct_rows(widths, rows, counts):
    codes, counts = int32(rows).reshape(len(rows), 3).T, np.array(counts[: len(rows)], dtype=np.int64)
    labels, first, sizes = distinct(np.ascontiguousarray(codes), widths, counts)
    groups = naive.classes(rows)
    assert labels.tolist() == labels_of(groups, len(rows))
    assert first.tolist() == [members[0] for members in groups]
    assert sizes.tolist() == [int(counts[members].sum()) for members in groups]


def test_more_distinct_rows_than_there_are_slots_at_first():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 400, (2, 150_000), dtype=np.int32)
    labels, first, sizes = distinct(codes, [401, 401], np.ones(150_000, dtype=np.int64))
    _, where, inverse, counts = np.unique(codes, axis=1, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(where)
    assert first.tolist() == where[order].tolist()
    assert sizes.tolist() == counts[order].tolist()
    assert (first[labels] == where[inverse]).all()
