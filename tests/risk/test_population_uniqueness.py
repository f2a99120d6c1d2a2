"""Population uniqueness: each estimator against its slow twin, its own model, and the truth."""

import math

import numpy as np
import polars as pl
import pytest
from drawing import lognormal, pitman_partition, sample, slide_classes
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.risk.population import SampleClasses, TreeRisk, dankar, pitman, population_uniqueness, snb, zayatz
from hushtable.risk.population.uniqueness import fit_pitman, fit_snb
from strategies import draws
from twins import naive_population as naive

NAMES = ["zayatz", "pitman", "snb", "npmle", "tree", "dankar"]
MIXED = st.lists(st.integers(1, 6), min_size=3, max_size=25).filter(lambda sizes: 1 in sizes and len(set(sizes)) > 1)


@given(MIXED, st.integers(1, 5_000))
def test_zayatz_is_that_of_the_slow_twin(sizes, more):
    found = zayatz(SampleClasses.from_sizes(sizes, sum(sizes) + more)).value
    assert found == pytest.approx(naive.zayatz(sizes, sum(sizes) + more), rel=1e-10)


@given(MIXED, st.floats(0.001, 0.999), st.floats(1e-3, 1e3))
@settings(max_examples=draws(50))
def test_pitmans_fit_has_the_greatest_likelihood(sizes, alpha, above):
    fitted = fit_pitman(SampleClasses.from_sizes(sizes, 10_000))
    if fitted is not None:
        best = naive.pitman_likelihood(sizes, *fitted)
        assert best >= naive.pitman_likelihood(sizes, alpha, above - alpha) - 1e-9


@given(MIXED, st.floats(0.01, 5), st.floats(0.1, 0.99))
@settings(max_examples=draws(50))
def test_the_fit_of_the_snb_has_the_greatest_likelihood(sizes, alpha, beta):
    fitted = fit_snb(SampleClasses.from_sizes(sizes, 4 * sum(sizes)))
    if fitted is not None and fitted[1] > 0.02:  # the slow twin sees classes of up to 4,000 people
        best = naive.snb_likelihood(sizes, 0.25, *fitted)
        assert best >= naive.snb_likelihood(sizes, 0.25, alpha, beta) - 1e-6


@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 200.0), (0.7, 50.0), (0.8, 5.0)])
def test_pitman_recovers_its_own_parameters(alpha, theta):
    drawn = [pitman_partition(10_000, alpha, theta, seed) for seed in range(6)]
    fitted = np.mean([fit_pitman(SampleClasses.from_sizes(sizes, 100_000)) for sizes in drawn], axis=0)
    assert fitted[0] == pytest.approx(alpha, abs=0.02)
    assert fitted[1] == pytest.approx(theta, rel=0.2, abs=2)


def test_pitman_finds_the_uniqueness_of_its_own_population():
    people = pitman_partition(40_000, 0.6, 300.0, seed=2)
    found = pitman(sample(people, 0.1, 0)[0]).value
    assert found == pytest.approx((people == 1).sum() / people.sum(), rel=0.06)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.2), (2.0, 0.5), (0.1, 0.05)])
@pytest.mark.parametrize("f", [0.1, 0.5])
def test_the_snb_recovers_its_own_parameters(alpha, beta, f):
    people = slide_classes(60_000, alpha, beta, seed=3)
    classes = sample(people, f, 0)[0]
    fitted = fit_snb(classes)
    assert fitted == pytest.approx((alpha, beta), rel=0.2)
    assert snb(classes).value == pytest.approx((people == 1).sum() / people.sum(), rel=0.15)


def test_dankar_chooses_by_the_fraction():
    small, large = (SampleClasses.from_sizes([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3, n) for n in (1_290, 400))
    assert dankar(small) == pitman(small)
    assert dankar(large).value == min(zayatz(large).value, snb(large).value)


def test_order_changes_nothing():
    sizes = np.array([1] * 60 + [2] * 15 + [3] * 5 + [8] * 3)
    mixed = np.random.default_rng(0).permutation(sizes)
    one, other = (population_uniqueness(SampleClasses.from_sizes(each, 1_290)) for each in (sizes, mixed))
    assert one == other


def test_the_sample_that_is_the_population_gives_the_truth():
    found = population_uniqueness(
        SampleClasses.from_sizes([1, 1, 1, 2, 5], 10), tree=TreeRisk(np.zeros(3), 3.0, 3.0, 0.9)
    )
    assert list(found) == NAMES
    for estimate in found.values():
        assert estimate.to_dict() == {"value": 0.3, "low": 0.3, "high": 0.3, "reliable": True, "reason": ""}


SHAPES = {
    "one record": [1],
    "one class": [50],
    "two classes": [1, 2],
    "all unique": [1] * 40,
    "no uniques": [2] * 9 + [3] * 4,
    "no pairs": [1] * 9 + [3] * 4,
    "a unique and a crowd": [1, 100_000],
    "pairs": [2] * 5,
    "nothing": [],
}


@pytest.mark.parametrize("larger", [1, 1 + 1e-7, 1.01, 2, 1e3, 1e9])
@pytest.mark.parametrize("shape", SHAPES)
def test_odd_samples_get_an_answer_or_a_reason(shape, larger):
    sizes = np.array(SHAPES[shape], dtype=int)
    found = population_uniqueness(SampleClasses.from_sizes(sizes, max(int(sizes.sum()), 1) * larger))
    for estimate in found.values():
        assert 0 <= estimate.low <= estimate.high <= 1
        assert estimate.reliable == (estimate.reason == "")
        if estimate.value is None:
            assert estimate.reason.startswith("not estimable: ")
        else:
            assert 0 <= estimate.value <= 1
        # No unique person in a sample is no proof that there is none.
        if 1 not in sizes and larger > 1:
            assert estimate.value is None


def test_models_without_a_maximum_say_so():
    unique = population_uniqueness(SampleClasses.from_sizes([1] * 40, 400))
    assert "classes of one record and of several" in unique["pitman"].reason
    assert "classes of one record and of several" in unique["snb"].reason
    pairs = population_uniqueness(SampleClasses.from_sizes([1] * 551 + [2] * 26, 30_162))
    assert "no maximum inside its range" in pairs["pitman"].reason
    assert "no maximum inside its range" in pairs["snb"].reason
    assert pairs["dankar"].value is None


def test_what_makes_an_estimate_unreliable():
    people = lognormal(0)
    small, large = (population_uniqueness(sample(people, f, 0)[0]) for f in (0.02, 0.6))
    assert "does not settle it" in small["zayatz"].reason
    assert "samples below 0.3" in small["zayatz"].reason
    assert large["zayatz"].reliable
    outside = population_uniqueness(sample(people, 0.6, 0)[0], tree=TreeRisk(np.zeros(1), 1.0, 1.0, 0.9))["tree"]
    assert "outside the bounds" in outside.reason
    assert not outside.reliable
    sizes = [1] * 1_000 + [2] * 300 + list(range(3, 900))
    odd = population_uniqueness(SampleClasses.from_sizes(sizes, 1_000 * sum(sizes)))["zayatz"]
    assert "not drawn at random" in odd.reason


def test_raw_adult(adult_classes):
    assert (adult_classes.n_classes, adult_classes.n_unique) == (18_109, 14_021)
    found = population_uniqueness(adult_classes)
    assert found["zayatz"].value == pytest.approx(0.21616482, abs=1e-8)
    assert found["pitman"].value == pytest.approx(0.02966387, abs=1e-8)
    assert found["snb"].value == pytest.approx(0.33, abs=0.005)
    assert found["dankar"] == found["pitman"]
    assert not any(estimate.reliable for estimate in found.values())
    alpha, theta = fit_pitman(adult_classes)
    assert (alpha, theta) == pytest.approx((0.70003, 2_559.9), rel=2e-5)
    assert math.isclose(found["zayatz"].high, 0.384, abs_tol=0.002)


def test_an_estimate_is_not_reliable_where_the_bounds_are_wider_than_it():
    # Of made-up people, half of them sampled, Pitman's is a quarter too high, between bounds of nearly 0 and a third.
    people = ht.datasets.people(n=2000, seed=1).select("sex", "postcode", "education")
    classes = people.with_row_index().with_columns(label=pl.struct(people.columns).rank("dense"))["label"].to_numpy()
    drawn = np.random.default_rng(0).choice(classes, 1000, replace=False)
    found = population_uniqueness(SampleClasses.from_sizes([size for size in np.bincount(drawn) if size], 2000))[
        "pitman"
    ]
    assert found.value > 1.2 * (np.bincount(classes) == 1).sum() / 2000
    assert not found.reliable
    assert "does not settle it" in found.reason
