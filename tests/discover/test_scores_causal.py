"""What needs the extra: a regression for the propensity, and a causal graph."""

import datetime as dt
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from score_cases import VARIANTS, counted, treatments, words_of

from hushtable.discover import scores
from hushtable.discover.scores.causal import CausalGraph, causal_graph
from hushtable.errors import ColumnError, InputError
from strategies import draws
from twins import naive_scores as naive, naive_treatment


@pytest.mark.parametrize("variant", VARIANTS)
@given(drawn=treatments(kinds=("integer", "text"), max_rows=8))
@settings(max_examples=25)
def test_logistic_propensities_are_those_of_scikit_learn_with_a_row_for_every_record(variant, drawn):
    linear_model = pytest.importorskip("sklearn.linear_model")
    case, treated = drawn
    words = {"model": "logistic", "variant": variant, **words_of(case, treated)}
    score = scores.propensity_overlap(case.data, case.columns, **words)
    ones, others = naive_treatment.arms(case.records, case.other, treated)
    people = [*ones, *others]
    features = np.array([[1.0, *features_of(record, case)] for record in people])
    fitted = linear_model.LogisticRegression(max_iter=5000).fit(features, [1] * len(ones) + [0] * len(others))
    chances = fitted.predict_proba(features)[:, 1]
    keys = [tuple(record[name] for name in case.columns) for record in people]
    expected = dict(zip(keys, chances.tolist(), strict=True))
    assert sorted(score.values.tolist()) == pytest.approx(sorted(expected.values()), abs=2e-3)
    assert sorted(score.sizes.tolist()) == sorted(naive.tally(keys).values())
    if variant == "paper":
        centre = chances[len(ones) :].mean()
        assert score.value == pytest.approx(np.abs(chances[: len(ones)] - centre).mean(), abs=2e-3)


def features_of(record, case):
    """Ordered columns on [0, 1] and whether they are missing; categories one by one, missing ones too."""
    found = []
    for name in case.columns:
        cell, order = record[name], case.orders[name]
        if order:
            span = order[-1] - order[0]
            found += [0.0 if cell is None or not span else (cell - order[0]) / span, cell is None]
        else:
            found += [cell == value for value in [None, *sorted(set(naive.known(case.records, name)))]]
    return found


def test_logistic_propensities_compare_classes_of_one_arm_only():
    pytest.importorskip("sklearn")
    ages = list(range(40))
    people = pl.DataFrame({"age": ages, "arm": ["A" if age % 3 or age > 30 else "B" for age in ages]})
    words = {"treatment": "arm", "treated": "A"}
    assert scores.propensity_overlap(people, ["age"], **words).value == 0.0
    score = scores.propensity_overlap(people, ["age"], model="logistic", **words)
    assert score.value > 0.5
    assert ((score.values > 0) & (score.values < 1)).all()
    # The older, the likelier treated: a model of the wrong class would fall.
    assert score.values[-1] > score.values[0]


def test_logistic_propensities_read_columns_of_every_kind():
    pytest.importorskip("sklearn")
    for cells in (
        pl.Series([1, 2] * 10, dtype=pl.Int32),
        pl.Series([True, False] * 10),
        pl.Series(["f", "m"] * 10, dtype=pl.Categorical),
        pl.Series(["f", "m"] * 10, dtype=pl.Enum(["m", "f"])),
        pl.Series([dt.date(2024, 1, 1), dt.date(2025, 1, 1)] * 10),
    ):
        people = pl.DataFrame({"x": cells, "arm": ["A", "B"] * 8 + ["B", "A"] * 2})
        score = scores.propensity_overlap(people, ["x"], treatment="arm", treated="A", model="logistic")
        assert len(score.values) == 2
        assert score.values[0] > score.values[1]


def test_a_logistic_model_of_no_columns_is_the_share_of_treated():
    pytest.importorskip("sklearn")
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("ABBB")})
    score = scores.propensity_overlap(people, [], treatment="arm", treated="A", model="logistic")
    assert score.values.tolist() == pytest.approx([0.25], abs=1e-3)


@pytest.mark.parametrize(
    ("module", "call"),
    [
        (
            "sklearn.linear_model",
            lambda people: scores.propensity_overlap(people, ["age"], treatment="arm", model="logistic"),
        ),
        ("causallearn.search.ConstraintBased.PC", lambda people: causal_graph(people)),
        ("causallearn.search.ScoreBased.GES", lambda people: causal_graph(people, method="ges")),
    ],
)
def test_what_is_not_installed_is_named_with_its_extra(module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    people = pl.DataFrame({"age": [1, 2, 3, 4], "arm": list("AABB")})
    with pytest.raises(InputError, match=r"hushtable\[causal\]"):
        call(people)


@given(st.data())
@settings(max_examples=draws(50))
def test_causal_importance_sums_the_rows_of_the_adjacency(data):
    names = tuple(f"c{j}" for j in range(data.draw(st.integers(1, 5))))
    upper = np.array(data.draw(st.lists(st.booleans(), min_size=len(names) ** 2, max_size=len(names) ** 2)))
    upper = np.triu(upper.reshape(len(names), -1), 1)
    graph = CausalGraph(names, upper | upper.T)
    columns = data.draw(st.lists(st.sampled_from(names), unique=True))
    people = pl.DataFrame({name: [1, 2] for name in names})
    score = scores.causal_importance(people, columns, graph=graph)
    assert score.value == naive_treatment.causal_importance(names, graph.adjacency.astype(int).tolist(), columns)
    assert dict(zip(score.labels, score.values.tolist(), strict=True)) == {
        name: naive_treatment.causal_importance(names, graph.adjacency.astype(int).tolist(), [name]) for name in columns
    }


def test_a_graph_of_other_columns_is_refused():
    graph = CausalGraph(("age",), np.zeros((1, 1), bool))
    people = pl.DataFrame({"age": [1], "sex": ["f"]})
    with pytest.raises(ColumnError, match="sex"):
        scores.causal_importance(people, ["sex"], graph=graph)
    with pytest.raises(ValueError, match="read-only"):
        graph.adjacency[0, 0] = True


def chained(n=400):
    """Three columns in a chain, x - y - z, one column apart, and one constant; of which x and z meet only through y."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, n)
    y = np.where(rng.random(n) < 0.8, x, rng.integers(0, 3, n))
    z = np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))
    return pl.DataFrame(
        {
            "x": [["red", "green", "blue"][i] for i in x],
            "y": y,
            "z": [["low", "mid", "high"][i] for i in z],
            "alone": np.arange(n) % 7 // 3,
            "same": ["k"] * n,
        }
    )


@pytest.mark.parametrize(
    "words", [{"test": "gsq", "alpha": 0.001}, {"test": "chisq", "alpha": 0.001}, {"method": "ges"}]
)
def test_the_graph_of_a_chain_has_its_edges(words):
    pytest.importorskip("causallearn")
    graph = causal_graph(chained(), **words)
    assert graph.names == ("x", "y", "z", "alone", "same")
    expected = np.zeros((5, 5), bool)
    expected[[0, 1, 1, 2], [1, 0, 2, 1]] = True
    assert graph.adjacency.tolist() == expected.tolist()
    assert scores.causal_importance(chained(), ["y"], graph=graph).value == 2.0
    assert scores.causal_importance(chained(), ["x", "y", "same"], graph=graph).value == 3.0


METHODS = pytest.mark.parametrize("method", ["pc", "ges"])


@METHODS
def test_the_graph_does_not_depend_on_what_the_values_are_called(method):
    # A linear test of the values' numbers would: these are symmetric about the middle value.
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, 600)
    people = pl.DataFrame({"x": x, "is_middle": np.where(rng.random(600) < 0.9, x == 1, x != 1)})
    renamed = people.with_columns(pl.col("x").replace_strict({0: "b", 1: "a", 2: "c"}))
    for data in (people, renamed):
        assert causal_graph(data, method=method).adjacency.tolist() == [[False, True], [True, False]]


@METHODS
def test_two_columns_are_joined_only_where_they_hang_together(method):
    # GES's prior has no number of its own for two columns.
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(8)
    x, apart = rng.integers(0, 3, (2, 500))
    near = np.where(rng.random(500) < 0.8, x, apart)
    assert not causal_graph(pl.DataFrame({"x": x, "apart": apart}), method=method, alpha=0.001).adjacency.any()
    assert causal_graph(pl.DataFrame({"x": x, "near": near}), method=method, alpha=0.001).adjacency[0, 1]


@METHODS
def test_a_collider_joins_its_parents_to_it_alone(method):
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(9)
    a, b = rng.integers(0, 2, (2, 2000))
    people = pl.DataFrame({"a": a, "sum": a + b + (rng.random(2000) < 0.1), "b": b})
    graph = causal_graph(people, method=method, alpha=0.001)
    assert graph.adjacency.tolist() == [[False, True, False], [True, False, True], [False, True, False]]
    assert scores.causal_importance(people, ["sum"], method=method, alpha=0.001).value == 2.0


@METHODS
def test_one_row_one_column_and_constant_columns_have_no_edges(method):
    pytest.importorskip("causallearn")
    for people in (pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1] * 9})):
        assert not causal_graph(people, method=method).adjacency.any()


def test_the_input_is_not_changed_by_the_graph():
    pytest.importorskip("causallearn")
    frame = chained(60).to_pandas()
    before = frame.copy(deep=True)
    score = scores.causal_importance(frame, ["x", "y"])
    pd.testing.assert_frame_equal(frame, before)
    assert type(score.to_frame()) is pd.DataFrame


@METHODS
def test_copies_of_a_column_are_no_error(method):
    # A linear test fails on the ten records of the source's table 3: two columns are one partition.
    pytest.importorskip("causallearn")
    ten = pl.DataFrame({"a": list("HDHDHHDHDH"), "b": list("ABABAABABA"), "c": list("MFFMMFMFFM")})
    graph = causal_graph(ten, method=method)
    assert graph.adjacency[0, 1]
    assert not graph.adjacency.diagonal().any()
    assert (graph.adjacency == graph.adjacency.T).all()


@METHODS
def test_a_graph_is_the_same_for_counted_rows_missing_cells_and_every_run(method, capsys):
    pytest.importorskip("causallearn")
    frame = chained(60).with_columns(pl.when(pl.col("y") > 0).then("y"))
    counts = [1 + i % 3 for i in range(60)]
    rows = frame[np.repeat(np.arange(60), counts)]
    graphs = [
        causal_graph(data, method=method).adjacency.tolist() for data in (rows, counted(frame, counts), rows[::-1])
    ]
    assert graphs[0] == graphs[1] == graphs[2]
    assert capsys.readouterr() == ("", "")


def test_columns_of_many_values_are_binned():
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(11)
    age = rng.normal(40, 12, 500)
    people = pl.DataFrame({"age": age, "pay": age * 2 + rng.normal(0, 1, 500), "key": [f"k{i}" for i in range(500)]})
    graph = causal_graph(people)
    assert graph.adjacency.tolist() == [[False, True, False], [True, False, False], [False] * 3]


@pytest.mark.parametrize(
    "words", [{"alpha": 0}, {"alpha": 1}, {"alpha": math.nan}, {"bins": 1}, {"test": "fisherz"}, {"method": "lingam"}]
)
def test_parameters_out_of_range_are_refused(words):
    with pytest.raises(InputError, match=str(next(iter(words.values())))):
        causal_graph(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), **words)


def test_the_graph_cuts_wide_columns_and_stands_missing_and_constant_ones():
    pytest.importorskip("causallearn")
    rng = np.random.default_rng(1)
    people = chained(500).with_columns(
        size=pl.Series(rng.random(500)) + pl.col("y") * 10,
        key=pl.Series([f"k{i % 97}" for i in range(500)]),
        alone=pl.when(pl.col("alone") > 0).then("alone"),
    )
    graph = causal_graph(people, bins=4)
    assert graph.adjacency.shape == (7, 7)
    assert not graph.adjacency[graph.names.index("same")].any()
    assert (graph.adjacency == graph.adjacency.T).all()
    assert scores.causal_importance(people, ["size"], alpha=0.05).value >= 1
