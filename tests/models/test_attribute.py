"""Models against attribute disclosure, against the slow twins."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable._types import RULE_DISTINCT
from hushtable.errors import ModelError
from hushtable.models import ClassStats, DistinctLDiversity, Histogram, Needs
from twins import naive

CLASSES = st.lists(st.dictionaries(st.integers(-1, 5), st.integers(1, 4), min_size=1, max_size=6), max_size=6)
"""One class-by-value histogram a class; -1 is the missing value."""


def stats_of(classes):
    ordered = [sorted(held.items()) for held in classes]
    offsets = np.cumsum([0, *map(len, ordered)])
    codes = np.array([code for held in ordered for code, _ in held], dtype=np.int32)
    counts = np.array([count for held in ordered for _, count in held], dtype=np.int64)
    sizes = np.array([sum(held.values()) for held in classes], dtype=np.int64)
    return ClassStats(sizes, {"s": Histogram(offsets, codes, counts)})


def merged(classes):
    return {code: sum(held.get(code, 0) for held in classes) for held in classes for code in held}


@pytest.mark.parametrize("number", [0, -1, 2.5, 2.0, True, "5", None, float("nan")])
def test_l_is_a_whole_number(number):
    with pytest.raises(ModelError, match="distinct-l-diversity was given l = "):
        DistinctLDiversity(number, "s")


@pytest.mark.parametrize("sensitive", [None, 5, ["s"], ("s",), b"s"])
def test_sensitive_is_a_columns_name(sensitive):
    with pytest.raises(ModelError, match="sensitive"):
        DistinctLDiversity(2, sensitive)


@given(CLASSES, st.integers(1, 6))
def test_passes_is_the_slow_twin(classes, number):
    found = DistinctLDiversity(number, "s").passes(stats_of(classes))
    assert found.tolist() == [naive.distinct_l(held, number) for held in classes]


@given(CLASSES)
def test_measure_counts_known_values(classes):
    found = DistinctLDiversity(2, "s").measure(stats_of(classes))
    assert found.tolist() == [len(naive.known_counts(held)) for held in classes]


@given(CLASSES, st.integers(1, 6))
def test_rule_judges_as_passes(classes, number):
    model, stats = DistinctLDiversity(number, "s"), stats_of(classes)
    rule = model.rule({})
    assert (rule.kind, rule.sensitive, rule.table.size) == (RULE_DISTINCT, "s", 0)
    assert (model.measure(stats) >= rule.threshold).tolist() == model.passes(stats).tolist()


@pytest.mark.parametrize(("held", "distinct"), [({-1: 9}, 0), ({-1: 1, 3: 2}, 1), ({0: 1}, 1), ({0: 5, 4: 1}, 2)])
def test_missing_is_not_a_value(held, distinct):
    assert DistinctLDiversity(distinct + 1, "s").passes(stats_of([held])).tolist() == [False]
    if distinct:
        assert DistinctLDiversity(distinct, "s").passes(stats_of([held])).tolist() == [True]


def test_needs_its_column():
    model = DistinctLDiversity(3, "s")
    assert model.needs == Needs(sensitive=("s",), persons=False)
    assert model.min_size == 3


@given(CLASSES, st.integers(1, 6))
def test_classes_that_pass_reach_the_smallest_size(classes, number):
    model, stats = DistinctLDiversity(number, "s"), stats_of(classes)
    assert (stats.sizes[model.passes(stats)] >= model.min_size).all()


@given(st.lists(CLASSES.filter(bool), min_size=1, max_size=4), st.integers(1, 5))
def test_merging_classes_that_pass_gives_one_that_passes(groups, number):
    model = DistinctLDiversity(number, "s")
    assert model.monotone_coarsening
    for group in groups:
        if model.passes(stats_of(group)).all():
            assert model.passes(stats_of([merged(group)])).all()


@given(CLASSES, st.integers(1, 5), st.data())
def test_suppressing_classes_leaves_the_others_judgement(classes, number, data):
    model = DistinctLDiversity(number, "s")
    assert model.monotone_suppression
    kept = data.draw(st.lists(st.booleans(), min_size=len(classes), max_size=len(classes)))
    before = model.passes(stats_of(classes))[np.array(kept, dtype=bool)]
    after = model.passes(stats_of([held for held, keep in zip(classes, kept, strict=True) if keep]))
    assert before.tolist() == after.tolist()
