"""Models against re-identification, against the slow twin."""

import dataclasses

import numpy as np
import pytest
from by_hand import stats_of as stats_by_hand
from hypothesis import given, strategies as st

from hushtable._types import RULE_SIZE
from hushtable.errors import ModelError
from hushtable.models import AlphaKAnonymity, ClassStats, KAnonymity, Needs
from twins import naive

SIZES = st.lists(st.integers(1, 9), max_size=8)


def stats_of(sizes):
    return ClassStats(np.array(sizes, dtype=np.int64))


@pytest.mark.parametrize("k", [0, -1, 2.5, 5.0, True, "5", None, float("nan"), [5], np.float64(5), np.True_])
def test_k_is_a_whole_number(k):
    with pytest.raises(ModelError, match="k-anonymity was given k = "):
        KAnonymity(k)


@pytest.mark.parametrize("k", [1, 2, 10**9, np.int64(5), np.int32(5)])
def test_whole_numbers_are_taken(k):
    assert KAnonymity(k).k == k


@given(SIZES, st.integers(1, 10))
def test_passes_is_the_slow_twin(sizes, k):
    assert KAnonymity(k).passes(stats_of(sizes)).tolist() == [naive.k_anonymous(size, k) for size in sizes]


@given(SIZES)
def test_measure_is_the_size(sizes):
    assert KAnonymity(2).measure(stats_of(sizes)).tolist() == sizes


@given(SIZES, st.integers(1, 10))
def test_rule_judges_as_passes(sizes, k):
    rule = KAnonymity(k).rule({})
    assert (rule.kind, rule.sensitive, rule.table.size) == (RULE_SIZE, None, 0)
    assert [size >= rule.threshold for size in sizes] == KAnonymity(k).passes(stats_of(sizes)).tolist()


def test_needs_nothing_but_sizes():
    model = KAnonymity(3)
    assert model.needs == Needs()
    assert model.min_size == 3


@given(st.lists(SIZES.filter(bool), min_size=1, max_size=5), st.integers(1, 10))
def test_merging_classes_that_pass_gives_one_that_passes(groups, k):
    model = KAnonymity(k)
    assert model.monotone_coarsening
    for group in groups:
        if model.passes(stats_of(group)).all():
            assert model.passes(stats_of([sum(group)])).all()


@given(SIZES, st.integers(1, 10), st.data())
def test_suppressing_classes_leaves_the_others_judgement(sizes, k, data):
    model = KAnonymity(k)
    assert model.monotone_suppression
    kept = data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    before = model.passes(stats_of(sizes))[np.array(kept, dtype=bool)]
    after = model.passes(stats_of([size for size, keep in zip(sizes, kept, strict=True) if keep]))
    assert before.tolist() == after.tolist()


def test_model_is_frozen_and_compared_by_value():
    model = KAnonymity(3)
    with pytest.raises(AttributeError):
        model.k = 2
    assert {model, KAnonymity(3)} == {model}
    assert model != KAnonymity(4)


@pytest.mark.parametrize("model", [KAnonymity(3), AlphaKAnonymity(0.9, 3, "s")], ids=lambda model: model.name)
def test_k_counts_persons_where_they_are_known(model):
    four_records = stats_by_hand([{0: 2, 1: 2}] * 3)
    assert model.passes(four_records).tolist() == [True] * 3
    by_person = dataclasses.replace(four_records, persons=np.array([1, 2, 3]))
    assert model.passes(by_person).tolist() == [False, False, True]
