"""Scores about a target against their slow twins and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import datetime as dt
import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from score_cases import (
    MEASURED,
    MEASURED_TWINS,
    TABLE_3,
    TARGET_TWINS,
    VARIANTS,
    approx,
    cases,
    check_same,
)

from hushtable.discover import scores
from hushtable.errors import ColumnError, InputError
from twins import naive_scores as naive


@given(cases())
def test_utility_scores_are_those_of_the_slow_twins(case):
    for function, twin in TARGET_TWINS.values():
        check_same(function(case), twin(case), case)


@given(cases(kinds=MEASURED))
def test_utility_scores_of_numbers_and_dates_are_those_of_the_slow_twins(case):
    for function, twin in MEASURED_TWINS.values():
        check_same(function(case), twin(case), case)


@given(cases())
def test_the_gain_is_the_mutual_information(case):
    if naive.known(case.records, case.other):
        gain = scores.information_gain(case.data, case.columns, target=case.other).value
        assert gain == approx(naive.mutual_information(case.records, case.columns, case.other))


def test_table_3_accuracy_over_classes_is_not_that_over_records():
    paper = scores.accuracy(TABLE_3, ["Gender", "Diagnosis"], target="Outcome", variant="paper")
    assert paper.value == approx((1 / 2 + 2 / 3 + 1 + 2 / 3) / 4)


def test_the_gain_weighs_classes_by_their_records():
    people = pl.DataFrame({"sex": ["f"] * 6 + ["m"], "ill": ["flu"] * 3 + ["hiv"] * 4})
    whole = naive.entropy(people["ill"].to_list())
    score = scores.information_gain(people, ["sex"], target="ill")
    assert score.values.tolist() == approx([whole - 1, whole])
    assert score.value == approx(whole - 6 / 7)
    assert scores.information_gain(people, ["sex"], target="ill", variant="paper").value == approx(whole - 0.5)


def test_a_key_gains_everything_unless_corrected():
    people = pl.DataFrame({"id": range(8), "ill": ["flu", "hiv"] * 4})
    assert scores.information_gain(people, ["id"], target="ill").value == approx(1.0)
    corrected = scores.information_gain(people, ["id"], target="ill", corrected=True)
    assert corrected.value == approx(1 - (8 - 8 - 2 + 1) / (16 * math.log(2)))


def test_a_class_without_any_target_is_left_out_and_no_error():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "pay": [None, None, 3.0]})
    for name in ("mean_squared_error", "accuracy", "value_range", "distinct_values", "information_gain", "gini"):
        score = getattr(scores, name)(people, ["sex"], target="pay")
        assert (score.labels.tolist(), score.sizes.tolist()) == ([1], [1])
    assert scores.completeness(people, ["sex"], target="pay").values.tolist() == [0.0, 1.0]


def test_a_target_that_is_missing_everywhere_has_no_score_but_still_describes_itself():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "pay": pl.Series([None] * 3, dtype=pl.Float64)})
    for name in ("mean_squared_error", "accuracy", "value_range", "distinct_values", "information_gain", "gini"):
        for variant in VARIANTS:
            score = getattr(scores, name)(people, ["sex"], target="pay", variant=variant)
            assert math.isnan(score.value)
            assert len(score.values) == 0
            assert math.isnan(score.mean)
            assert math.isnan(score.weighted_mean)
            assert score.name.split()[0] in repr(score)
            assert score.to_frame().shape == (0, 3)
            json.dumps([score.to_dict(), score.summary()["n"]], allow_nan=False)
            assert "<b>" in score._repr_html_()
            with pytest.raises(InputError):
                score.plot()


def test_the_mean_squared_error_is_about_dates_in_days_and_keeps_small_differences_of_large_numbers():
    moments = [dt.datetime(2024, 1, 1, 0, 0), dt.datetime(2024, 1, 1, 12, 0)]
    people = pl.DataFrame({"sex": ["f", "f"], "born": [dt.date(2000, 2, 28), dt.date(2000, 3, 1)], "seen": moments})
    people = people.with_columns(pl.Series("key", [10**9, 10**9 + 1]))
    for target, expected in (("born", 1.0), ("seen", 0.0625), ("key", 0.25)):
        assert scores.mean_squared_error(people, ["sex"], target=target).value == pytest.approx(expected, rel=1e-6)
    assert scores.value_range(people, ["sex"], target="born", variant="paper").value == 2.0


@pytest.mark.parametrize("name", ["mean_squared_error", "value_range"])
@pytest.mark.parametrize(
    "cells", [pl.Series(["a", "b"]), pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), pl.Series([True, False])]
)
def test_a_target_without_differences_is_refused(name, cells):
    people = pl.DataFrame({"sex": ["f", "m"], "grade": cells})
    with pytest.raises(ColumnError, match="grade"):
        getattr(scores, name)(people, ["sex"], target="grade")


def test_a_key_gains_nothing_once_chance_is_taken_off():
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"q": rng.integers(0, 20, 4000), "y": rng.integers(0, 5, 4000)})
    assert scores.information_gain(people, ["q"], target="y").value > 0.01
    assert abs(scores.information_gain(people, ["q"], target="y", corrected=True).value) < 0.004


def test_single_records_do_not_make_accuracy():
    people = pl.DataFrame({"q": [0] * 98 + [1, 2], "y": ["a", "b"] * 50})
    assert scores.accuracy(people, ["q"], target="y").value == approx(0.51)
    assert scores.accuracy(people, ["q"], target="y", variant="paper").value > 0.8
