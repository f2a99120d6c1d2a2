"""Data intrusion simulation: the formula, its interval, unequal weights."""

import numpy as np
import pytest
from drawing import even, lognormal, lumpy, sample
from hypothesis import given, strategies as st

from hushtable.errors import InputError
from hushtable.risk.population import SampleClasses, data_intrusion
from twins import naive_population as naive

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=30).filter(lambda sizes: 1 in sizes)
THREE_ERRORS = 0.9973


@given(SIZES, st.integers(0, 10_000))
def test_theta_is_that_of_the_slow_twin(sizes, more):
    theta = data_intrusion(SampleClasses.from_sizes(sizes, sum(sizes) + more))
    assert theta.value == pytest.approx(naive.intrusion(sizes, sum(sizes) + more))
    assert 0 < theta.low <= theta.value <= theta.high <= 1


@pytest.mark.parametrize("make", [even, lognormal, lumpy])
@pytest.mark.parametrize("f", [0.03, 0.1, 0.3, 0.7])
def test_the_truth_lies_within_three_standard_errors(make, f):
    people = make(0)
    within = {0.95: 0, THREE_ERRORS: 0}
    for seed in range(40):
        classes, drawn = sample(people, f, seed)
        truth = classes.n_unique / people[drawn == 1].sum()
        for confidence in within:
            theta = data_intrusion(classes, confidence=confidence)
            within[confidence] += theta.low - 1e-12 <= truth <= theta.high + 1e-12
    assert within[THREE_ERRORS] >= 39
    assert within[0.95] >= 34


def test_unequal_weights_replace_the_fraction():
    """Half of the classes of a population drawn at 0.5, half at 0.05: theta needs the weights."""
    people, chance = np.concatenate([even(4, 5_000), lognormal(3, 5_000)]), np.repeat([0.5, 0.05], 5_000)
    drawn = np.random.default_rng(5).binomial(people, chance)
    classes = SampleClasses.from_sizes(drawn[drawn > 0], people.sum())
    truth = classes.n_unique / people[drawn == 1].sum()
    theta = data_intrusion(classes, pair_weights=2 / chance[drawn == 2], confidence=THREE_ERRORS)
    assert theta.low <= truth <= theta.high
    assert data_intrusion(classes, confidence=THREE_ERRORS).high < truth


def test_equal_weights_change_nothing():
    classes = SampleClasses.from_sizes([1] * 30 + [2] * 7 + [3] * 2, 500)
    weighted = data_intrusion(classes, pair_weights=np.full(7, 2 / classes.f))
    plain = data_intrusion(classes)
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_weights_below_one_count_as_one():
    theta = data_intrusion(SampleClasses.from_sizes([1, 1, 2], 40), pair_weights=[1.5])
    assert (theta.value, theta.high) == (1, 1)


def test_the_sample_that_is_the_population():
    assert data_intrusion(SampleClasses.from_sizes([1, 2, 2], 5)).to_dict() == {
        "value": 1.0,
        "low": 1.0,
        "high": 1.0,
        "reliable": True,
        "reason": "",
    }


def test_those_outside_are_not_more_than_there_are():
    assert data_intrusion(SampleClasses.from_sizes([1] * 10, 11)).low == pytest.approx(10 / 11)


def test_without_uniques_there_is_no_answer():
    for sizes in ([2, 2], [50], []):
        theta = data_intrusion(SampleClasses.from_sizes(sizes, 100))
        assert theta.value is None
        assert (theta.low, theta.high, theta.reliable) == (0, 1, False)
        assert "no record of the sample is unique" in theta.reason


def test_without_pairs_the_value_is_the_worst_and_the_interval_wide():
    theta = data_intrusion(SampleClasses.from_sizes([1] * 20 + [3], 23_000))
    assert (theta.value, theta.high, theta.reliable) == (1, 1, False)
    assert theta.low < 0.01
    assert "no class of the sample has two records" in theta.reason


@pytest.mark.parametrize("weights", [[1.0], [[2.0, 2.0]], [np.nan, 3.0], [np.inf, 3.0]])
def test_weights_that_do_not_belong_are_errors(weights):
    with pytest.raises(InputError, match="pair_weights"):
        data_intrusion(SampleClasses.from_sizes([1, 2, 2], 50), pair_weights=weights)


def test_raw_adult(adult_classes):
    theta = data_intrusion(adult_classes)
    assert theta.value == pytest.approx(0.000329, abs=5e-7)
    assert theta.reliable


@pytest.mark.parametrize("f", [0.05, 0.1, 0.3])
def test_the_interval_holds_the_truth_where_pairs_are_few(f):
    # 30 records of people in classes of about three: of a normal error the interval held it in 86 to 91 % only.
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(400), rng.geometric(0.3, 400))[: int(30 / f)]
    in_population, n_held = np.bincount(classes), 0
    for _ in range(200):
        held = np.bincount(rng.choice(classes, 30, replace=False), minlength=len(in_population))
        is_unique = held == 1
        found = data_intrusion(SampleClasses.from_sizes(held[held > 0], len(classes)))
        n_held += found.low <= is_unique.sum() / in_population[is_unique].sum() <= found.high
    assert n_held >= 0.95 * 200
