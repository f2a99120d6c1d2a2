"""Rows that walk down a tree of cuts fall where a slow walk puts them, also rows and codes that no search has seen."""

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from hushtable.anonymizers import Mondrian
from hushtable.anonymizers.placement import CutTree
from hushtable.hierarchy import Hierarchy
from hushtable.models import KAnonymity
from hushtable.recoding.layout import lay_out, places_of_rows
from hushtable.search.budget import THREADS
from hushtable.tables.table import Table
from searching import search
from strategies import draws

REGIONS = {"tree": {"south": ["graz", "linz, am"], "rest": ["bonn", "[1, 2]", "zürich 🏔"]}}
METHODS = [Mondrian(), Mondrian(cut="median"), Mondrian(recoding="cut"), Mondrian(recoding="readable")]
ROW = st.tuples(
    st.none() | st.integers(-5, 5),
    st.none() | st.sampled_from("abcdefg"),
    st.none() | st.sampled_from(["low", "mid", "high"]),
    st.none() | st.sampled_from(["graz", "linz, am", "bonn", "[1, 2]", "zürich 🏔"]),
)

SCHEMA = {"age": pl.Int64, "job": pl.String, "grade": pl.Enum(["low", "mid", "high"]), "city": pl.String}


def walked(tree, points):
    """Walk node by node over the rows that come to it, as sets of places from -1 on: the slow twin."""
    labels = np.empty(len(points), dtype=np.int32)
    waiting = [np.arange(len(points))]
    n_leaves = 0
    for node, column in enumerate(tree.columns.tolist()):
        rows = waiting.pop()
        if column < 0:
            labels[rows] = n_leaves
            n_leaves += 1
            continue
        members, at = tree.members[tree.starts[node] : tree.starts[node + 1]], points[rows, column]
        left = at <= members[-1] if tree.axes[column].is_cut_in_order else np.isin(at, members)
        waiting += [rows[~left], rows[left]]
    return labels


def grown(table, k, method):
    ladders = {"city": Hierarchy.build(REGIONS, table.column("city"))}
    return search(method, table, table.names, [KAnonymity(min(k, table.n_records))], hierarchies=ladders)


def batch_of(table, random, n_rows, beyond):
    """Return rows that the table may not have, coded alike, some with codes that it does not know."""
    codes = [[random.randrange(-1, column.n_values + beyond) for _ in range(n_rows)] for column in table.columns]
    return Table(table.columns, np.array(codes, dtype=np.int32).reshape(-1, n_rows), np.ones(n_rows, np.int64))


@pytest.fixture(autouse=True)
def _in_parts(monkeypatch):
    monkeypatch.setattr("hushtable.search.budget._MIN_ROWS_PER_THREAD", 3)
    monkeypatch.setenv(THREADS, "2")


@pytest.mark.parametrize("method", METHODS, ids=repr)
@settings(max_examples=draws(60), deadline=None)
@given(st.lists(ROW, min_size=1, max_size=25), st.integers(1, 3), st.randoms(use_true_random=False))
def test_rows_fall_as_in_the_slow_walk(method, rows, k, random):
    table = Table.encode(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    found = grown(table, k, method)
    tree = found.placing
    assert tree.place_rows(table).tolist() == found.partition.labels.tolist()
    batch = batch_of(table, random, 17, beyond=0)
    expected = walked(tree, places_of_rows(batch, tree.axes) - 1)
    assert tree.place_rows(batch).tolist() == expected.tolist()
    assert tree.build_walk().place_rows(batch.select(batch.names[::-1])).tolist() == expected.tolist()


@settings(max_examples=draws(60), deadline=None)
@given(st.lists(ROW, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_codes_that_a_tree_does_not_know_go_right(rows, random):
    table = Table.encode(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    tree = grown(table, 1, Mondrian()).placing
    batch = batch_of(table, random, 17, beyond=3)
    points = np.empty((17, len(tree.axes)), dtype=np.int64)
    for j, axis in enumerate(tree.axes):
        place_of_code = np.append(axis.place, [10**6] * 3)
        points[:, j] = place_of_code[batch.codes[batch.index(axis.column.name)] + 1] - 1
    assert tree.place_rows(batch).tolist() == walked(tree, points).tolist()


@pytest.mark.parametrize("n_values", [63, 64, 65, 400])
def test_long_sides_of_categories(n_values):
    rng = np.random.default_rng(n_values)
    frame = pl.DataFrame({name: rng.integers(0, n_values, 3_000).astype(str) for name in ("a", "b")})
    table = Table.encode(frame)
    found = search(Mondrian(), table, table.names, [KAnonymity(5)])
    tree = found.placing
    assert np.diff(tree.starts).max() > n_values / 4
    assert tree.place_rows(table).tolist() == found.partition.labels.tolist()
    everywhere = np.array(np.meshgrid(*[np.arange(-1, column.n_values) for column in table.columns])).reshape(2, -1)
    batch = Table(table.columns, everywhere.astype(np.int32), np.ones(everywhere.shape[1], np.int64))
    assert tree.place_rows(batch).tolist() == walked(tree, places_of_rows(batch, tree.axes) - 1).tolist()


def test_a_table_without_rows():
    table = Table.encode(pl.DataFrame({"a": [1, 2, 3, 4]}))
    tree = search(Mondrian(), table, ["a"], [KAnonymity(2)]).placing
    empty = replace(table, codes=np.empty((1, 0), np.int32), counts=np.empty(0, np.int64))
    assert tree.place_rows(empty).tolist() == []


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_tree_pickles(method, protocol):
    rng = np.random.default_rng(0)
    rows = list(zip(rng.integers(-5, 6, 60).tolist(), rng.choice(list("abcdefg"), 60).tolist(), strict=True))
    frame = pl.DataFrame([(*row, "low", "graz") for row in rows], schema=SCHEMA, orient="row")
    table = Table.encode(frame)
    tree = grown(table, 2, method).placing
    for made in (tree, tree.build_walk()):
        again = pickle.loads(pickle.dumps(made, protocol))
        assert again.place_rows(table).tolist() == tree.place_rows(table).tolist()
        arrays = [
            getattr(again, name) for name in ("columns", "starts", "members", "nodes", "words") if hasattr(again, name)
        ]
        assert not any(array.flags.writeable for array in arrays)
        assert not any(axis.column.values.flags.writeable for axis in again.axes)


def test_axes_of_a_tree_that_was_pickled_are_those_that_it_was_made_with():
    table = Table.encode(pl.DataFrame({"a": [1, 2, 3, 4], "b": ["x", "y", "x", "y"]}))
    axes = lay_out(table, ["a", "b"], {}, {})
    tree = CutTree(axes, np.array([-1], np.int32), np.zeros(2, np.int64), np.empty(0, np.int32))
    again = pickle.loads(pickle.dumps(tree))
    assert [axis.column.texts() for axis in again.axes] == [["1", "2", "3", "4"], ["x", "y"]]
    assert again.place_rows(table).tolist() == [0, 0, 0, 0]
