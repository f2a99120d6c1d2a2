"""The likeliest mixture of class sizes, and the bounds of those that fit."""

import numpy as np
import pytest
from drawing import even, lognormal, lumpy, sample
from hypothesis import given, settings, strategies as st

from hushtable.risk.population import SampleClasses, bounds, npmle, uniqueness
from strategies import draws
from twins import naive_population as naive

SMALL = st.lists(st.integers(1, 4), min_size=1, max_size=7)
PEOPLE = 29  # every size has a place of its own on the grid


@given(SMALL.filter(lambda sizes: 1 in sizes))
@settings(max_examples=15)
def test_the_mixture_is_that_of_the_slow_twin(sizes):
    few = naive.mixture(sizes, PEOPLE, steps=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniqueness, "_N_EM_STEPS", 12)
        found = npmle(SampleClasses.from_sizes(sizes, PEOPLE))
    assert (found.uniqueness, found.tau1, found.tau2, found.theta) == pytest.approx(few, rel=1e-9)


@given(SMALL, st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=draws(40))
def test_bounds_are_those_of_the_slow_twin(sizes, z):
    found = bounds(SampleClasses.from_sizes(sizes, PEOPLE), z=z)
    slow = naive.bounds(sizes, PEOPLE, z)
    assert found.fits == (slow[0] is not None)
    if found.fits:
        unique = sizes.count(1)
        wanted = [slow[0] / PEOPLE, slow[1] / PEOPLE, *(min(end, unique) for end in slow[2:])]
        assert [found.low, found.high, *found.tau1, *found.tau2] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(("make", "f"), [(even, 0.1), (lognormal, 0.1), (lognormal, 0.4), (lumpy, 0.05)])
def test_bounds_hold_the_truth(make, f):
    """In 24 of 25 samples of each population; 100 samples in all."""
    held = 0
    for seed in range(25):
        people = make(seed)
        classes, drawn = sample(people, f, seed)
        found = bounds(classes)
        truth, unique = people == 1, drawn == 1
        held += (
            found.low <= truth.sum() / people.sum() <= found.high
            and found.tau1[0] <= (truth & unique).sum() <= found.tau1[1]
            and found.tau2[0] <= (1 / people[unique]).sum() <= found.tau2[1]
        )
    assert held >= 24


def test_more_of_the_population_narrows_the_bounds():
    found = [bounds(sample(lognormal(0), f, 0)[0]) for f in (0.05, 0.2, 0.5, 0.9)]
    widths = [each.high - each.low for each in found]
    assert widths == sorted(widths, reverse=True)


def test_the_mixture_comes_near_the_truth_in_large_samples():
    people = lognormal(0)
    found = npmle(sample(people, 0.5, 0)[0])
    assert found.uniqueness == pytest.approx((people == 1).sum() / people.sum(), rel=0.1)


def test_the_sample_that_is_the_population():
    classes = SampleClasses.from_sizes([1, 1, 2, 5], 9)
    assert npmle(classes) == uniqueness.Mixture(2 / 9, 2.0, 2.0, 1.0)
    assert bounds(classes) == uniqueness.Bounds(2 / 9, 2 / 9, (2.0, 2.0), (2.0, 2.0))


def test_without_uniques_there_is_no_mixture():
    for larger in (1, 1 + 1e-7, 10):
        assert npmle(SampleClasses.from_sizes([50, 50], 100 * larger)) is None


def test_the_empty_sample_says_nothing():
    empty = SampleClasses.from_sizes(np.array([], dtype=int), 100)
    assert npmle(empty) is None
    assert (bounds(empty).low, bounds(empty).high) == (0, 1)


def test_what_no_random_sample_looks_like_leaves_everything_open():
    """Large classes of every size once, and a thousand uniques: not from one in a thousand."""
    sizes = [1] * 1_000 + [2] * 300 + list(range(3, 900))
    found = bounds(SampleClasses.from_sizes(sizes, 1_000 * sum(sizes)))
    assert (found.low, found.high, found.fits) == (0, 1, False)


def test_raw_adult(adult_classes):
    found = bounds(adult_classes)
    assert (found.low, found.high) == pytest.approx((0, 0.384), abs=0.002)
    assert npmle(adult_classes).theta == pytest.approx(0.000329, rel=0.01)
