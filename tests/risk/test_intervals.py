"""Wilson's interval and the excess over a control, against the slow twin and Anonymeter's figures."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.risk.intervals import excess_risk, wilson_interval
from twins import naive_uniques as naive

COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_figures_of_anonymeter():
    """500 attacks, of which 100 succeed on the training records and 60 on the control."""
    attack, control = wilson_interval(100, 500), wilson_interval(60, 500)
    assert attack == pytest.approx((0.202287, 0.035002), abs=5e-7)
    assert control == pytest.approx((0.122897, 0.028522), abs=5e-7)
    value, error = excess_risk(attack, control)
    assert value == pytest.approx(0.0905140, abs=5e-8)
    assert (value - error, value + error) == pytest.approx((0.0408430, 0.1401849), abs=1e-7)


@given(COUNTS, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_is_that_of_the_slow_twin(counts, confidence):
    rate, error = wilson_interval(*counts, confidence=confidence)
    assert (rate, error) == pytest.approx(naive.wilson(*counts, confidence))
    assert -1e-12 <= rate - error <= counts[0] / counts[1] + 1e-12
    assert counts[0] / counts[1] - 1e-12 <= rate + error <= 1 + 1e-12


@given(COUNTS, st.sampled_from([0.5, 0.9, 0.95]))
def test_failures_mirror_successes(counts, confidence):
    successes, n = counts
    rate, error = wilson_interval(successes, n, confidence)
    assert wilson_interval(n - successes, n, confidence) == pytest.approx((1 - rate, error))


@given(COUNTS, COUNTS)
def test_excess_is_that_of_the_slow_twin(attacked, controlled):
    attack, control = wilson_interval(*attacked), wilson_interval(*controlled)
    assert excess_risk(attack, control) == pytest.approx(naive.excess_risk(attack, control))


def test_excess_is_not_clipped():
    value, _ = excess_risk(wilson_interval(10, 500), wilson_interval(60, 500))
    assert value < 0
    assert excess_risk((0.3, 0.0), (0.3, 0.0)) == pytest.approx((0.0, 0.0))
    assert excess_risk((1.0, 0.1), (0.5, 0.1)) == pytest.approx((1.0, 0.2))


def test_interval_holds_the_rate_as_often_as_it_says():
    random = np.random.default_rng(0)
    for truth in (0.02, 0.3, 0.9):
        held = [
            abs(wilson_interval(int(s), 200)[0] - truth) <= wilson_interval(int(s), 200)[1]
            for s in random.binomial(200, truth, 2_000)
        ]
        assert 0.92 < np.mean(held) < 0.99


def test_larger_samples_are_surer():
    errors = [wilson_interval(n // 5, n)[1] for n in (10, 100, 1_000, 10_000)]
    assert errors == sorted(errors, reverse=True)
