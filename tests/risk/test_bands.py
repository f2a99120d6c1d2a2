"""Bands of class sizes, against a walk over every size."""

import itertools

import pytest
from hypothesis import given, strategies as st

from hushtable.risk.bands import record_bands, size_bands

SIZES = st.dictionaries(st.integers(1, 3000), st.integers(0, 50), max_size=12)


def naive_name(size):
    """Name the band of a size by trying what it can be."""
    if size < 3:
        return str(size)
    edges = [3, *(step * 10**power for power in range(12) for step in (5, 10, 20))]
    low, high = next((low, high) for low, high in itertools.pairwise(edges) if low <= size < high)
    return f"{low:,} to {high - 1:,}"


def naive(mapping):
    """Return the records of each band that has any."""
    found = {}
    for size, n in mapping.items():
        if n:
            found[naive_name(size)] = found.get(naive_name(size), 0) + size * n
    return found


@given(st.lists(SIZES, min_size=1, max_size=3))
def test_every_record_is_in_the_band_of_its_size(sizes):
    names, counts = size_bands(*sizes)
    assert len(set(names)) == len(names)
    for mapping, records in zip(sizes, counts, strict=True):
        assert len(records) == len(names)
        assert {name: n for name, n in zip(names, records, strict=True) if n} == naive(mapping)
        assert sum(records) == sum(size * n for size, n in mapping.items())


@given(st.lists(SIZES, min_size=1, max_size=3))
def test_bands_have_no_gap_and_end_with_the_largest_class(sizes):
    names, counts = size_bands(*sizes)
    held = [size for mapping in sizes for size, n in mapping.items() if n]
    assert names == tuple(dict.fromkeys(naive_name(size) for size in range(1, max(held, default=0) + 1)))
    assert all(isinstance(n, int) for records in counts for n in records)


def test_the_bands_are_those_of_the_page():
    assert size_bands({1234: 1})[0] == (
        *("1", "2", "3 to 4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 to 199", "200 to 499", "500 to 999"),
        "1,000 to 1,999",
    )


@pytest.mark.parametrize("largest", [1, 2, 3, 4, 5, 9, 10, 19, 20, 99, 100, 10**6, 10**9])
def test_the_last_band_holds_the_largest_class(largest):
    names, (records,) = size_bands({largest: 1})
    assert names[-1] == naive_name(largest)
    assert records == (*[0] * (len(names) - 1), largest)


def test_nothing_has_no_bands():
    assert size_bands() == ((), ())
    assert size_bands({}, {}) == ((), ((), ()))
    assert size_bands({}, {0: 3}) == ((), ((), ()))
    assert size_bands({}, {2: 1}) == (("1", "2"), ((0, 0), (0, 2)))


def test_records_whose_class_holds_nobody_have_a_band():
    assert record_bands({0: 2, 3: 4}, {1: 1}) == (("0", "1", "2", "3 to 4"), ((2, 0, 0, 4), (0, 1, 0, 0)))
    assert record_bands({0: 2}) == (("0",), ((2,),))
