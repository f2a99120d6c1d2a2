"""Scores that need the extra: a causal graph, and a regression for the propensity."""

import sys

import numpy as np
import polars as pl
import pytest

from hushtable.discover import scores
from hushtable.discover.scores.causal import CausalGraph, causal_graph
from hushtable.errors import ColumnError, InputError


def chain(n=2000):
    """a -> b -> c, and d beside them."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.8, b, rng.integers(0, 3, n))
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": rng.integers(0, 3, n)})


@pytest.mark.parametrize("test", ["gsq", "chisq"])
def test_the_graph_joins_what_is_directly_related(test):
    pytest.importorskip("causallearn")
    data = chain()
    graph = causal_graph(data.with_columns(pl.all().replace_strict({0: "x", 1: "y", 2: "z"})), alpha=0.01, test=test)
    edges = {(graph.names[i], graph.names[j]) for i, j in np.argwhere(graph.adjacency) if i < j}
    assert edges == {("a", "b"), ("b", "c")}
    assert scores.causal_importance(data, ["b", "c"], graph=graph).values.tolist() == [2.0, 1.0]
    assert scores.causal_importance(data, ["b", "c"], graph=graph).value == 3.0


def test_the_graph_cuts_wide_columns_and_stands_constant_ones():
    pytest.importorskip("causallearn")
    data = chain(500)
    rng = np.random.default_rng(1)
    wide = data.with_columns(
        one=pl.lit("x"),
        size=pl.Series(data["a"] * 10 + rng.random(500)),
        key=pl.Series([f"k{i % 97}" for i in range(500)]),
    ).with_columns(d=pl.when(pl.col("d") == 0).then(None).otherwise("d"))
    graph = causal_graph(wide, bins=4)
    assert graph.adjacency.shape == (7, 7)
    assert not graph.adjacency[graph.names.index("one")].any()
    assert (graph.adjacency == graph.adjacency.T).all()
    assert scores.causal_importance(wide, ["size"], alpha=0.05).value >= 1


def test_a_regression_finds_support_where_classes_hold_one_arm():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    age = rng.permutation(200)
    arm = np.where(rng.random(200) < 0.2 + 0.6 * age / 200, "A", "B")
    data = pl.DataFrame({"age": age, "job": rng.choice(list("xyz"), 200), "arm": arm})
    options = {"treatment": "arm", "treated": "A"}
    assert scores.propensity_overlap(data, ["age"], **options).value == 0.0
    found = scores.propensity_overlap(data, ["age", "job"], **options, model="logistic")
    assert 0.8 < found.value <= 1
    assert found.values.min() > 0
    assert scores.propensity_overlap(data, ["age"], **options, model="logistic", variant="paper").value < 0.5


def test_a_missing_extra_says_how_to_get_it(monkeypatch):
    data = pl.DataFrame({"a": [1, 2], "arm": ["A", "B"]})
    for module in ("causallearn.search.ConstraintBased.PC", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"'causallearn'[\s\S]*pip install 'hushtable\[causal\]'"):
        causal_graph(data)
    with pytest.raises(InputError, match=r"'sklearn'[\s\S]*pip install"):
        scores.propensity_overlap(data, ["a"], treatment="arm", model="logistic")


def test_what_cannot_be_searched_says_why():
    data = pl.DataFrame({"a": [1, 2], "b": [1, 2]})
    with pytest.raises(InputError, match="alpha"):
        causal_graph(data, alpha=0)
    with pytest.raises(InputError, match="'fisherz'"):
        causal_graph(data, test="fisherz")
    with pytest.raises(ColumnError, match="of the graph"):
        scores.causal_importance(data, ["b"], graph=CausalGraph(("a",), np.zeros((1, 1), bool)))
