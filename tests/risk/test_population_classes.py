"""The classes of a sample as estimators see them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.errors import InputError
from hushtable.risk.population import SampleClasses

SIZES = st.lists(st.integers(1, 40), max_size=30)


@given(SIZES, st.floats(1, 1e9))
def test_classes_are_counted_by_size(sizes, larger):
    population = max(sum(sizes), 1) * larger
    classes = SampleClasses.from_sizes(np.array(sizes, dtype=np.int64), population)
    assert classes.n_records == sum(sizes)
    assert classes.n_classes == len(sizes)
    assert (classes.n_unique, classes.n_pairs) == (sizes.count(1), sizes.count(2))
    assert [sizes.count(size) for size in classes.sizes] == classes.counts.tolist()
    assert classes.sizes.tolist() == sorted(set(sizes))
    assert classes.f == pytest.approx(sum(sizes) / population)


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        SampleClasses.from_sizes([1, 2], 10).counts[0] = 5


def test_weights_of_one_may_sum_to_a_little_less_than_their_number():
    classes = SampleClasses.from_sizes([1] * 10, sum([0.1] * 100) - 1e-12)
    assert classes.f == 1


@pytest.mark.parametrize("population", [9, 9.999, 0, -1, float("nan"), float("inf")])
def test_a_population_smaller_than_its_sample_is_an_error(population):
    with pytest.raises(InputError, match=r"population_size = .*10 records.*\n\nHint: the people"):
        SampleClasses.from_sizes([1, 2, 7], population)


@pytest.mark.parametrize("sizes", [[1, 0], [-1], [1.5], [[1]], [True], ["a"]])
def test_sizes_that_are_none_are_errors(sizes):
    with pytest.raises(InputError, match="class_sizes holds"):
        SampleClasses.from_sizes(np.array(sizes), 100)
