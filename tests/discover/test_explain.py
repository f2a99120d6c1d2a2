"""What a selection is made of: against the objective of each set of one column more or less, computed alone."""

import json

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from score_cases import PEOPLE, approx

import hushtable as ht
from hushtable.discover import compare_sets, optimizers
from hushtable.errors import ColumnError, InputError
from strategies import counted_tables

PAPER = ht.Objective.paper()
MIXED = ht.Objective((ht.Term("distinction"), ht.Term("gini", -0.5, options={"target": "ill"})))


def alone(data, objective, columns):
    """The terms and the value of one set."""
    *terms, value = compare_sets(data, [list(columns)], scores=objective).rows[0].values.values()
    return terms, value


def check(explanation, data, objective):
    own, value = alone(data, objective, explanation.best)
    assert explanation.value == approx(value)
    assert [term.score for term in explanation.terms] == approx(own)
    for column in explanation.columns:
        assert column.chosen == (column.name in explanation.best)
        other = {*explanation.best} ^ {column.name}
        if not other:
            assert column.change is None
            continue
        terms, changed = alone(data, objective, other)
        assert column.change == approx(changed - value)
        moved = [one - before for one, before in zip(terms, own, strict=True)]
        assert list(column.terms.values()) == approx(moved)


@pytest.mark.parametrize("method", [*optimizers.METHODS])
@given(table=counted_tables(min_rows=2), data=st.data())
def test_changes_are_those_of_the_sets_computed_alone(method, table, data):
    nodes = data.draw(st.sampled_from([None, 3]))
    budget = None if nodes is None else ht.Budget(nodes=nodes)
    found = ht.select_columns(table, objective=PAPER, method=method, budget=budget)
    check(found.explain(table), table, PAPER)


@pytest.mark.parametrize("method", ["exhaustive", "greedy"])
def test_terms_of_other_columns_are_explained(method):
    found = ht.select_columns(PEOPLE, objective=MIXED, columns=["age", "sex", "zip"], method=method)
    check(found.explain(PEOPLE), PEOPLE, MIXED)


@given(table=counted_tables(min_rows=2))
def test_no_column_improves_an_optimum(table):
    found = ht.select_columns(table, objective={"separation": 1.0, "attribute_length_penalty": -0.3})
    changes = [column.change for column in found.explain().columns if column.change is not None]
    assert all(change <= 1e-12 for change in changes)
    # All sets were evaluated, so that only the empty one is not known.
    assert len(changes) == len(table.names) - (len(found.best) == 1)


def test_weighted_terms_make_up_the_objective():
    for objective in (PAPER, MIXED):
        explanation = ht.select_columns(PEOPLE, objective=objective, columns=["age", "sex", "zip"]).explain()
        total = sum(term.weighted for term in explanation.terms if not term.divides)
        divisors = [term.weighted for term in explanation.terms if term.divides]
        assert explanation.value == approx(total / divisors[0] if divisors else total)


def test_what_was_not_evaluated_is_not_known_without_the_data():
    found = ht.select_columns(PEOPLE, objective=PAPER, method="branch_and_bound", budget=ht.Budget(nodes=2))
    unknown = [column for column in found.explain().columns if column.change is None]
    assert unknown
    assert all(not column.terms for column in unknown)
    assert any(line.endswith("not known") for line in found.explain().lines())
    assert all(column.change is not None for column in found.explain(PEOPLE).columns) or len(found.best) == 1


def test_data_that_are_not_those_of_the_search_are_refused():
    found = ht.select_columns(PEOPLE, objective=PAPER)
    with pytest.raises(InputError, match="in these data"):
        found.explain(pl.concat([PEOPLE, PEOPLE]))
    with pytest.raises(ColumnError, match="age"):
        found.explain(PEOPLE.drop("age"))


def test_a_term_that_is_infinite_with_and_without_a_column_is_no_number():
    data = pl.DataFrame({"a": [1, 1, 2, 2], "b": [3, 3, 4, 4], "arm": list("AABB")})
    objective = ht.Objective((ht.Term("balance", options={"treatment": "arm"}),))
    explanation = ht.select_columns(data, objective=objective, columns=["a", "b"]).explain(data)
    assert json.loads(json.dumps(explanation.to_dict(), allow_nan=False))["terms"][0]["score"] is None
    assert explanation.lines()


def test_lines_put_the_weightiest_column_first_and_leave_out_what_stays():
    data = pl.DataFrame({"few": [1, 1, 2, 2], "sex": list("fmfm"), "same": [1] * 4, "age": [1, 1, 1, 2]})
    explanation = ht.select_columns(data, objective={"distinction": 1.0}).explain()
    assert explanation.lines() == [
        "objective 1",
        "  distinction: 1 x 1 = 1",
        "without few: -0.5 (distinction -0.5)",
        "without sex: -0.5 (distinction -0.5)",
        "with same: 0",
        "with age: 0",
    ]


def test_the_record_is_plain():
    explanation = ht.select_columns(PEOPLE.rename({"sex": "<b>"}), objective=PAPER).explain()
    assert json.loads(json.dumps(explanation.to_dict()))["best"] == list(explanation.best)
    assert isinstance(explanation.to_frame("pandas"), pd.DataFrame)
    frame = explanation.to_frame()
    assert frame["column name"].to_list() == [column.name for column in explanation.columns]
    assert frame["objective change"].to_list() == [column.change for column in explanation.columns]
    assert "<b>" not in explanation._repr_html_()
    with pytest.raises(AttributeError):
        explanation.value = 0.0
