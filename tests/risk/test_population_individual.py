"""Benedetti and Franconi's risk and that of households, against integrals and products."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.errors import InputError
from hushtable.risk.population import benedetti_franconi, household_risk
from twins import naive_population as naive


def exactly(f, weight_sum):
    """Return the risk by the recurrence, with more digits than it loses."""
    with localcontext() as context:
        context.prec = 50 + 14 * f
        p = Decimal(f) / Decimal(weight_sum)
        q = 1 - p
        integral = -p.ln() / q
        for size in range(1, f):
            integral = (1 / Decimal(size) - p * integral) / q
        return float(p * integral)


def test_check_values():
    """At p = 0.05, to 6 significant digits."""
    wanted = {1: 0.15767, 2: 0.0443332, 3: 0.0239825, 5: 0.012301, 10: 0.00552132, 40: 0.00128037}
    sizes = np.array(list(wanted))
    assert benedetti_franconi(sizes, sizes / 0.05) == pytest.approx(np.array(list(wanted.values())), rel=5e-6)


@given(st.lists(st.tuples(st.integers(1, 20), st.floats(1.001, 50)), min_size=1, max_size=8))
def test_risk_is_the_integral(pairs):
    sizes, weights = np.array(pairs).T
    risks = benedetti_franconi(sizes, sizes * weights)
    wanted = [naive.benedetti_franconi(int(f), f * w) for f, w in zip(sizes, weights, strict=True)]
    assert risks == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("f", [1, 2, 3, 29, 30, 31, 100])
@pytest.mark.parametrize("weight", [1 + 2**-40, 1.0001, 1.5, 1.99, 2.0, 2.01, 7, 1e3, 1e6, 1e12, 1e15])
def test_no_digits_are_lost_at_either_end(f, weight):
    assert benedetti_franconi([f], [f * weight])[0] == pytest.approx(exactly(f, f * weight), rel=1e-12)


def test_the_whole_class_in_the_sample_gives_one_over_its_size():
    sizes = np.arange(1, 200)
    assert benedetti_franconi(sizes, sizes).tolist() == pytest.approx((1 / sizes).tolist(), rel=1e-15)
    # Calibrated weights may fall below 1: the risk is not above that.
    assert benedetti_franconi(sizes, 0.5 * sizes).tolist() == benedetti_franconi(sizes, sizes).tolist()


def test_very_large_classes():
    assert benedetti_franconi([10**7], [10**9])[0] == pytest.approx(1e-9, rel=1e-6)
    assert benedetti_franconi([], []).tolist() == []


@pytest.mark.parametrize(
    ("f", "sums"), [([0], [1.0]), ([1.5], [3.0]), ([1], [0.0]), ([1], [-2.0]), ([1], [np.nan]), ([1, 1], [2.0])]
)
def test_what_is_no_class_is_an_error(f, sums):
    with pytest.raises(InputError, match="Hint"):
        benedetti_franconi(f, sums)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.999, 1.0]), st.integers(-1, 3)), max_size=12))
def test_households_are_those_of_the_slow_twin(members):
    risks, codes = [r for r, _ in members], [c for _, c in members]
    assert household_risk(risks, codes) == pytest.approx(naive.household(risks, codes), abs=1e-12)


def test_small_risks_of_households_add_up():
    assert household_risk([1e-18, 1e-18], [0, 0]) == pytest.approx([2e-18, 2e-18], rel=1e-12)


@pytest.mark.parametrize(("risks", "codes"), [([1.1], [0]), ([-0.1], [0]), ([np.nan], [0]), ([0.1, 0.2], [0])])
def test_what_is_no_risk_is_an_error(risks, codes):
    with pytest.raises(InputError, match="risks are outside"):
        household_risk(risks, codes)
