"""Column sets beside one another: every number is that of the score called alone."""

import json
import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from score_cases import PEOPLE, TABLE_3, approx, cases

import hushtable as ht
from hushtable.discover import compare_sets, scores
from hushtable.discover.scores import truth
from hushtable.errors import ColumnError, InputError
from hushtable.tables.table import Table

OPTIONS = {
    "gini": {"target": "pay"},
    "l_diversity": {"sensitive": "ill"},
    "covariate_shift": {"treatment": "arm", "treated": "A", "variant": "paper"},
}
BY_NAME = ["distinction", "separation", "group_entropy", "k_anonymity", "attribute_length_penalty"]


@given(cases(), st.data())
def test_numbers_are_those_of_the_scores_alone(case, data):
    names = [*case.orders]
    sets = data.draw(st.lists(st.lists(st.sampled_from(names), unique=True), min_size=1, max_size=4))
    terms = [*BY_NAME, ht.Term("accuracy", options={"target": case.other}), ht.Term("k_anonymity", aggregate="mean")]
    for row, columns in zip(compare_sets(case.data, sets, scores=terms).rows, sets, strict=True):
        assert sorted(row.columns) == sorted(columns)
        expected = [getattr(scores, name)(case.data, columns).value for name in BY_NAME]
        expected.append(scores.accuracy(case.data, columns, target=case.other).value)
        expected.append(scores.k_anonymity(case.data, columns).mean)
        for value, number in zip(row.values.values(), expected, strict=True):
            assert value == approx(number)


@pytest.mark.parametrize("name", OPTIONS)
def test_scores_with_options_are_those_of_the_functions(name):
    sets = [["age"], ["age", "sex"], ["sex", "zip"]]
    found = compare_sets(PEOPLE, sets, scores=[ht.Term(name, options=OPTIONS[name])])
    alone = [getattr(scores, name)(PEOPLE, columns, **OPTIONS[name]) for columns in sets]
    assert [next(iter(row.values.values())) for row in found.rows] == approx([score.value for score in alone])
    assert (found.scores[0].unit, found.scores[0].direction) == (alone[0].unit, alone[0].direction)


def test_class_sizes_are_shown_when_nothing_is_asked_for():
    found = compare_sets(TABLE_3, [["Age", "Gender"]])
    entropy = -0.3 * math.log2(0.3) - 0.7 * math.log2(0.1)
    assert list(found.rows[0].values.values()) == approx([0.8, 42 / 45, entropy, 1.0, 1.25])
    assert [score.unit for score in found.scores] == ["rate", "rate", "bits", "records", "records"]


def test_an_objective_shows_its_terms_and_its_value():
    objective = ht.Objective.paper()
    found = compare_sets(PEOPLE, [["age"], ["age", "sex", "zip"]], scores=objective)
    assert [score.label for score in found.scores] == [*objective.labels, "objective value"]
    for row in found.rows:
        best = ht.select_columns(PEOPLE, objective=objective, method="exhaustive").history
        held = [name in row.columns for name in best.columns]
        at = best.sets.tolist().index(held)
        assert row.values["objective value"] == approx(best.values[at])


def test_a_set_is_judged_against_a_true_one():
    sets = [["age", "zip"], ["sex"], []]
    found = compare_sets(PEOPLE, sets, scores=["distinction"], truth=["age", "sex"])
    for row, columns in zip(found.rows, sets, strict=True):
        for name in ("precision", "recall", "f1", "f_beta", "jaccard"):
            assert row.values[f"truth.{name}"] == approx(getattr(truth, name)(columns, ["age", "sex"]).value)
        for name in ("specificity", "false_positive_rate", "accuracy", "matthews_correlation"):
            expected = getattr(truth, name)(columns, ["age", "sex"], columns=PEOPLE.columns).value
            assert row.values[f"truth.{name}"] == approx(expected)
    assert found.truth == ("age", "sex")
    assert {score.direction for score in found.scores if "positive" in score.label} == {"worse"}


def test_functions_and_bounds_are_scored_too():
    def n_classes(partition):
        return partition.n_classes

    found = compare_sets(PEOPLE, [["sex"]], scores=[ht.Term(n_classes), ht.Term("k_anonymity", bounds=(0, 4))])
    assert list(found.rows[0].values.values()) == [3.0, 0.25]
    assert [(score.unit, score.direction) for score in found.scores] == [("", None), ("scaled to [0, 1]", "safer")]


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.Table])
def test_frames_come_back_as_the_kind_that_went_in(kind):
    data = {pl.DataFrame: PEOPLE, pd.DataFrame: PEOPLE.to_pandas(), pa.Table: PEOPLE.to_arrow()}[kind]
    found = compare_sets(data, {"who": ["age", "sex"], "where": ["zip"]}, truth=["age"])
    frame = found.to_frame()
    assert isinstance(frame, kind)
    assert [row.name for row in found.rows] == ["who", "where"]
    assert frame.shape == (2, 16)


def test_odd_names_are_columns_like_any_other():
    odd = pl.DataFrame({"*": [1, 2], "^a.*$": [1, 1], "a b, c": ["x", "y"], "🏔": [None, None], "<b>": [1, 2]})
    found = compare_sets(odd, [[name] for name in odd.columns] + [odd.columns])
    assert [row.values["distinction"] for row in found.rows] == [1.0, 0.5, 1.0, 0.5, 1.0, 1.0]
    assert "<b>&lt;b&gt;" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_the_comparison_is_plain_and_holds_no_cell():
    people = PEOPLE.with_columns(ill=pl.lit("secret"))
    found = compare_sets(people, [["ill"], []], scores=[ht.Term("gini", options={"target": "pay"})], truth=[])
    plain = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(plain)["sets"][1]["name"] == "no columns"
    assert math.isnan(found.rows[0].values["truth.recall"])
    for text in (plain, repr(found), found._repr_html_()):
        assert "secret" not in text


def test_a_table_with_counts_and_a_single_record():
    assert compare_sets(Table.encode(PEOPLE), [["sex"]]).rows == compare_sets(PEOPLE, [["sex"]]).rows
    one = compare_sets(PEOPLE[:1], [["sex"], []]).rows
    assert [row.values["distinction"] for row in one] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("sets", "words", "error", "match"),
    [
        ([], {}, InputError, "no column sets"),
        ("age", {}, InputError, "one text"),
        (["age"], {}, InputError, "set 1 = 'age'"),
        ([["age"], ["nobody"]], {}, ColumnError, "set 2"),
        ([["age", "age"]], {}, ColumnError, "more than once"),
        ([["age"]], {"scores": "gini"}, InputError, "one text"),
        ([["age"]], {"scores": []}, InputError, "no terms|at least one"),
        ([["age"]], {"scores": ["distinktion"]}, InputError, "unknown score"),
        ([["age"]], {"truth": "age"}, InputError, "truth"),
        ([["age"]], {"truth": ["nobody"]}, ColumnError, "nobody"),
    ],
)
def test_what_cannot_be_compared_says_why(sets, words, error, match):
    with pytest.raises(error, match=match):
        compare_sets(PEOPLE, sets, **words)


def test_no_records_are_refused():
    with pytest.raises(InputError, match="no records"):
        compare_sets(PEOPLE[:0], [["age"]])
