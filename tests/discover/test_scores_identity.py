"""Scores of class sizes against their slow twins, the source's table 3, and known faults.

The faults are those of the library that goes with the source: Simões, Vilela, Santos, Abreu, QIDLearningLib.
"""

import math
from fractions import Fraction
from functools import partial

import polars as pl
import pytest
from hypothesis import given, strategies as st
from score_cases import PEOPLE, SET, TABLE_3, TWINS, approx, cases, check_same

from hushtable.discover import scores
from hushtable.errors import InputError
from hushtable.tables.table import Table
from twins import naive_scores as naive


@given(cases())
def test_identity_scores_are_those_of_the_slow_twins(case):
    for function, twin in TWINS.values():
        check_same(function(case.data, case.columns), twin(case.records, case.columns), case)
    penalty = scores.attribute_length_penalty(case.data, case.columns).value
    assert penalty == approx(naive.attribute_length_penalty(list(case.orders), case.columns))


@given(cases(), st.data())
def test_separation_gains_less_the_more_columns_there_are(case, data):
    names = list(case.orders)
    few = [name for name in case.columns if data.draw(st.booleans())]
    extra = data.draw(st.sampled_from(names))
    if extra in case.columns:
        return

    def gain(columns):
        with_extra, without = (scores.separation(case.data, chosen).value for chosen in ([*columns, extra], columns))
        return with_extra - without

    assert gain(few) >= gain(case.columns) - 1e-12


@pytest.mark.parametrize(
    ("columns", "n_classes", "smallest", "apart", "accuracy", "shift"),
    [
        (["Age", "Gender"], 8, 1, 42, 1, Fraction(13, 12)),
        (["Age", "Diagnosis"], 9, 1, 44, 1, Fraction(83, 60)),
        (["Gender", "Diagnosis"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
        (["Age", "Treatment"], 9, 1, 44, 1, Fraction(73, 60)),
        (["Gender", "Treatment"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
        (["Age", "Gender", "Treatment"], 9, 1, 44, 1, Fraction(73, 60)),
        (["Age", "Diagnosis", "Treatment"], 9, 1, 44, 1, Fraction(83, 60)),
        (["Gender", "Diagnosis", "Treatment"], 4, 2, 37, Fraction(7, 10), Fraction(13, 10)),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_table_3_of_the_source_has_these_values_and_not_those_of_its_table_4(
    columns, n_classes, smallest, apart, accuracy, shift
):
    assert scores.k_anonymity(TABLE_3, columns).value == smallest
    assert scores.k_anonymity(TABLE_3, columns, variant="paper").value == approx(10 / n_classes)
    assert scores.distinction(TABLE_3, columns).value == n_classes / 10
    assert scores.separation(TABLE_3, columns).value == approx(apart / 45)
    assert scores.accuracy(TABLE_3, columns, target="Outcome").value == approx(float(accuracy))
    arms = {"treatment": "Treatment", "treated": "A"}
    assert scores.covariate_shift(TABLE_3, columns, variant="paper", **arms).value == approx(float(shift))


def test_the_examples_of_the_source_for_distinction_and_separation():
    twice = pl.DataFrame({"A": [1, 2, 1, 2], "B": list("XYXY")})
    each_once = pl.DataFrame({"A": [1, 2, 1, 2], "B": list("XYYX")})
    assert scores.distinction(twice, ["A", "B"]).value == 0.5
    assert scores.separation(twice, ["A", "B"]).value == approx(2 / 3)
    assert scores.separation(each_once, ["A", "B"]).value == 1.0


def test_k_is_the_smallest_class_and_the_mean_class_size_is_1_over_distinction():
    assert scores.k_anonymity(PEOPLE, ["sex"]).value == 1
    mean = scores.k_anonymity(PEOPLE, SET, variant="paper").value
    assert mean == approx(1 / scores.distinction(PEOPLE, SET).value)


def test_records_with_a_missing_cell_are_counted():
    people = pl.DataFrame({"age": [31, 31, None, None], "sex": ["f", "f", "m", None]})
    for columns, sizes in ((["age"], [2, 2]), (["age", "sex"], [2, 1, 1])):
        assert scores.k_anonymity(people, columns).sizes.tolist() == sizes
        assert scores.separation(people, columns).sizes.sum() == 4


def test_entropy_does_not_depend_on_the_order_of_the_columns_nor_is_it_0_for_one_column():
    one, two = scores.group_entropy(PEOPLE, ["sex", "zip"]), scores.group_entropy(PEOPLE, ["zip", "sex"])
    assert one.value == approx(two.value)
    assert scores.group_entropy(PEOPLE, ["sex"]).value > 0
    assert scores.group_entropy(pl.DataFrame({"a": [1, 2, 3, 4]}), ["a"]).value == 2.0


def test_the_length_penalty_is_least_for_half_of_the_columns():
    names = PEOPLE.columns[:4]
    values = [scores.attribute_length_penalty(PEOPLE.select(names), names[:size]).value for size in range(5)]
    assert values == approx([1.0, 0.625, 0.5, 0.625, 1.0])


def test_a_length_penalty_of_no_columns_at_all_is_refused():
    with pytest.raises(InputError):
        scores.attribute_length_penalty(pl.DataFrame(), [])


def test_the_paper_s_entropy_lies_between_minus_the_log_of_the_records_and_0():
    paper = partial(scores.group_entropy, variant="paper")
    assert paper(pl.DataFrame({"a": range(8)}), ["a"]).value == approx(-math.log(8))
    assert paper(pl.DataFrame({"a": [1] * 8}), ["a"]).value == 0.0


def test_a_length_penalty_of_no_records_is_refused_as_other_scores_are():
    for data in (PEOPLE[:0], Table.encode(PEOPLE[:0])):
        with pytest.raises(InputError, match="no records"):
            scores.attribute_length_penalty(data, ["age"])
