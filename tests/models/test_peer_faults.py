"""What other programs get wrong, as cases; each test is named after the program and the fault."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from by_hand import stats_of

import hushtable as ht
from hushtable.models import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    Ground,
    KAnonymity,
    RecursiveCLDiversity,
    TCloseness,
)


def test_pycanon_takes_the_smallest_count_as_the_first():
    """Counts 90, 5, 5 were given c = 1; the definition asks for c > 18."""
    stats = stats_of([{0: 90, 1: 5, 2: 5}])
    assert RecursiveCLDiversity(1, 3, "s").measure(stats).tolist() == [18.0]
    assert not RecursiveCLDiversity(2, 3, "s").passes(stats).any()


@pytest.mark.parametrize("l", [2, 3, 4, 6, 7, 8, 10, 14, 15, 16, 19])
def test_pycanon_floors_a_rounded_entropy(l):  # noqa: E741
    """Uniform over l values was given l - 1."""
    assert EntropyLDiversity(l, "s").passes(stats_of([dict.fromkeys(range(l), 3)])).all()


def test_pycanon_bounds_enhanced_likeness_once_not_per_value():
    """A class that breaks -ln p of a value (0.111 > 0.105) was given a beta; none satisfies it."""
    stats = stats_of([{1: 5}], {0: 10, 1: 90})
    assert BetaLikeness(0.2, "s", enhanced=True).measure(stats).tolist() == [math.inf]
    for beta in (0.12, 1, 1e6):
        assert not BetaLikeness(beta, "s", enhanced=True).passes(stats).any()


def test_pycanon_and_arx_skip_absent_values():
    """The class {a, a} of a table with a = b = 0.5 was accepted for delta = 1.1."""
    stats = stats_of([{0: 2}], {0: 2, 1: 2})
    assert DeltaDisclosure(1.1, "s").measure(stats).tolist() == [math.inf]
    assert not DeltaDisclosure(1.1, "s").passes(stats).any()
    everyone = pl.DataFrame({"q": ["x", "x", "y", "y"], "s": ["a", "a", "b", "b"]})
    assert not ht.verify(everyone, quasi_identifiers=["q"], models=[DeltaDisclosure(1.1, "s")]).passed


def test_arx_takes_logarithms_of_base_two():
    """A halved share is 1 bit away, but ln 2 = 0.69 by the paper's natural logarithm."""
    assert DeltaDisclosure(0.7, "s").passes(stats_of([{0: 1, 1: 3}], {0: 1, 1: 1})).all()


@pytest.mark.parametrize("index", [[3, 2, 1, 0], [10, 11, 12, 13]])
def test_pycanon_reads_labels_as_positions(index):
    """A permuted index gave l = 2 instead of 1; a shifted one crashed."""
    frame = pd.DataFrame({"q": ["x", "x", "y", "y"], "s": ["a", "a", "a", "b"]}, index=index)
    verdict = ht.verify(frame, quasi_identifiers=["q"], models=[DistinctLDiversity(2, "s")])
    assert verdict.distinct_sensitive == {"s": 1}
    assert not verdict.passed


def test_pycanon_drops_rows_with_a_missing_quasi_identifier():
    """k = 5 was reported with a unique row whose quasi-identifier is missing."""
    frame = pd.DataFrame({"q": ["x"] * 5 + [None]})
    verdict = ht.verify(frame, quasi_identifiers=["q"], models=[KAnonymity(5)])
    assert (verdict.passed, verdict.smallest_class, verdict.n_records) == (False, 1, 6)


def test_pycanon_divides_by_zero_where_a_number_is_constant():
    stats = stats_of([{0: 3}], {0: 9}, ground=Ground(is_ordered=True))
    assert TCloseness(0, "s").measure(stats).tolist() == [0.0]
    assert TCloseness(0, "s").passes(stats).all()


def test_anonypy_has_a_closeness_that_is_always_met():
    """A class of one value at a distance of 0.5 passed for t = 0.0001."""
    assert not TCloseness(0.0001, "s").passes(stats_of([{0: 4}], {0: 4, 1: 4})).any()
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "s": ["a", "a", "b", "b"]})
    release = ht.anonymize(frame, quasi_identifiers=["q"], models=[KAnonymity(2), TCloseness(0.05, "s")])
    assert release.partition.n_classes == 1


@pytest.mark.parametrize("model", [KAnonymity(5), DistinctLDiversity(4, "s"), EntropyLDiversity(4, "s")])
def test_anonypy_and_others_release_what_the_whole_does_not_satisfy(model):
    frame = pl.DataFrame({"q": [1, 2, 3], "s": ["a", "b", "c"]})
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(frame, quasi_identifiers=["q"], models=[model])


def test_anonypy_and_mosaicrown_lose_missing_numbers():
    frame = pl.DataFrame({"q": [1.0, 2.0, None, 3.0, 4.0, None], "s": list("abcabc")})
    release = ht.anonymize(frame, quasi_identifiers=["q"], models=[KAnonymity(2), TCloseness(0.5, "s")])
    assert release.frame.height == 6
    assert release.verify().passed


def test_anjana_wants_a_higher_c_to_be_stricter():
    """A greater c allows more: what passes for c passes for every greater one."""
    stats = stats_of([{0: 4, 1: 2, 2: 1}])
    passed = [bool(RecursiveCLDiversity(c, 2, "s").passes(stats)[0]) for c in (1, 1.3, 1.4, 2, 5)]
    assert passed == [False, False, True, True, True]


def test_several_sensitive_columns_do_not_become_quasi_identifiers():
    """pycanon's gen=False puts the other sensitive columns among the quasi-identifiers."""
    frame = pl.DataFrame({"q": ["x"] * 4, "s": ["a", "a", "b", "b"], "u": ["c", "c", "d", "d"]})
    models = [DistinctLDiversity(2, "s"), DistinctLDiversity(2, "u")]
    assert ht.verify(frame, quasi_identifiers=["q"], models=models).passed


def test_reference_is_the_whole_input_not_what_is_left():
    """A suppressed class changes no other class's distance."""
    both = stats_of([{0: 4}, {1: 4}])
    one = stats_of([{0: 4}], {0: 4, 1: 4})
    assert TCloseness(0.5, "s").measure(both)[0] == TCloseness(0.5, "s").measure(one)[0] == np.float64(0.5)


@pytest.mark.parametrize("totals", [{0: 2, 1: 2}, {0: 4}, {0: 1, 2: 1}])
@pytest.mark.parametrize("foreign", [-1, 3])
def test_no_order_has_a_place_for_a_value_that_the_whole_lacks(totals, foreign):
    """Blanked cells passed ordered t-closeness where the original has no missing value."""
    stats = stats_of([{foreign: 1, 0: 1}, {0: 1}], {**totals, 3: 0}, ground=Ground(is_ordered=True))
    assert TCloseness(0.9, "s").measure(stats)[0] == 1.0
    assert TCloseness(0.9, "s").passes(stats).tolist() == [False, True]
