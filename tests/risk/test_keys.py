"""Minimal keys, exact and approximate, against the slow twin; budgets, samples, and what is refused."""

import os
import random
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hushtable as ht
from hushtable.errors import ColumnError, InputError
from hushtable.tables import lattice
from twins import naive_keys as naive

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[2] / "../shared"))
PEOPLE = pl.DataFrame(
    {"age": [31, 31, 52, 52], "sex": ["f", "m", "f", "f"], "city": ["A", "A", "A", "B"]},
)


def a_table(chance, most_rows=30):
    n_rows, n_columns = chance.randint(1, most_rows), chance.randint(1, 6)
    palettes = [[*range(chance.randint(1, 7)), *([None] if chance.random() < 0.3 else [])] for _ in range(n_columns)]
    rows = [tuple(chance.choice(palette) for palette in palettes) for _ in range(n_rows)]
    return rows + [chance.choice(rows) for _ in range(chance.choice([0, 0, 3]))], n_columns


def framed(rows, n_columns):
    return pl.DataFrame({f"c{j}": pl.Series([row[j] for row in rows], dtype=pl.Int64) for j in range(n_columns)})


def expected(rows, n_columns, max_size, measure, error, policy):
    keys = naive.minimal_keys(rows, n_columns, max_size, measure, error, policy)
    return [tuple(f"c{j}" for j in key) for key in keys]


@pytest.mark.parametrize("case", range(60))
def test_all_minimal_keys_as_the_twin_finds_them(case):
    chance = random.Random(case)
    rows, n_columns = a_table(chance)
    asked = {
        "max_size": chance.randint(1, n_columns),
        "measure": chance.choice(["g1", "unique_rate"]),
        "error": chance.choice([0.0, 0.0, 1e-9, 0.02, 0.1, 0.5, 0.99]),
        "rows": chance.choice(["distinct", "all"]),
    }
    wanted = expected(rows, n_columns, asked["max_size"], asked["measure"], asked["error"], asked["rows"])
    for budget in (None, ht.Budget(nodes=10**9)):
        found = ht.minimal_keys(framed(rows, n_columns), **asked, budget=budget, seed=case)
        assert found.keys == tuple(wanted)
        assert found.complete
        assert found.complete_to_size == asked["max_size"]
    seen = rows if asked["rows"] == "all" else list(dict.fromkeys(rows))
    for names, g1, alone in zip(found.keys, found.errors, found.unique_rates, strict=True):
        columns = [int(name[1:]) for name in names]
        assert g1 == pytest.approx(float(naive.left_by(seen, columns, "g1")))
        assert alone == pytest.approx(1 - float(naive.left_by(seen, columns, "unique_rate")))


def test_one_row_and_one_column():
    assert ht.minimal_keys(PEOPLE[:1]).keys == (("age",), ("sex",), ("city",))
    assert ht.minimal_keys(pl.DataFrame({"x": [1, 1, 1]})).keys == (("x",),)
    assert ht.minimal_keys(pl.DataFrame({"x": [1, 1, 1]}), rows="all").keys == ()
    assert ht.minimal_keys(pl.DataFrame({"x": [1, 1], "y": [2, 2]}), rows="all").complete


def test_counts_of_rows_are_records():
    table = ht.Table.encode(PEOPLE.with_columns(n=pl.Series([1, 1, 1, 2])), counts="n")
    assert ht.minimal_keys(table).n_records == 5
    assert ht.minimal_keys(table, rows="all").keys == ()
    assert ht.minimal_keys(table, rows="all", error=0.1).keys == (("age", "sex", "city"),)


@pytest.mark.parametrize(("most", "width"), [(0, 30), (3, 30), (0, 2**15 + 1)])
def test_sets_of_several_words(most, width):
    # Two columns far apart are needed, whichever way: all others say nothing.
    grid = np.array([(a, b) for a in range(9) for b in range(9)], dtype=np.int32).T
    codes = np.zeros((150, 81), dtype=np.int32)
    codes[3], codes[149] = grid
    codes[70] = codes[3] * 2 + (codes[149] > 4)
    # Codes of more than 15 bits are searched as they are.
    widths = np.full(150, width)
    found = lattice.find_all_keys(codes, widths, lattice.KeyRules(True, most, 150, 0))
    assert [np.flatnonzero(key).tolist() for key in found.members] == [[3, 149], [70, 149]]
    assert found.complete_to == 150


def test_the_seed_changes_no_key():
    table = ht.datasets.people(200, seed=1)
    assert ht.minimal_keys(table, seed=0).keys == ht.minimal_keys(table, seed=5).keys


def test_a_budget_says_up_to_where_nothing_is_missing():
    chance = np.random.default_rng(3)
    table = pl.DataFrame({f"c{j:03}": chance.integers(0, 3, 120) for j in range(90)})
    pairs = ht.minimal_keys(table, max_size=4)
    cut = ht.minimal_keys(table, budget=ht.Budget(nodes=2_000))
    assert not cut.complete
    assert not cut.trace.complete
    assert cut.complete_to_size < 90
    upto = {key for key in pairs.keys if len(key) <= cut.complete_to_size}
    assert upto <= set(cut.keys)
    distinct = table.unique()
    for key in cut.keys:
        assert distinct.select(key).is_unique().all()
        assert all(not distinct.select([c for c in key if c != each]).is_unique().all() for each in key)
    assert ht.minimal_keys(table, budget=ht.Budget(nodes=2_000)).keys == cut.keys


def test_what_an_earlier_stage_found_stays_when_the_budget_ends():
    chance = np.random.default_rng(5)
    table = pl.DataFrame({f"c{j}": chance.integers(0, 2 + j, 30) for j in range(7)})
    every = ht.minimal_keys(table).keys
    reached = set()
    for nodes in range(1, 200, 4):
        found = ht.minimal_keys(table, budget=ht.Budget(nodes=nodes))
        due = {key for key in every if len(key) <= found.complete_to_size}
        assert due <= set(found.keys) <= set(every)
        reached.add(found.complete_to_size)
    assert len(reached) > 2


@pytest.mark.parametrize("measure", ["g1", "unique_rate"])
def test_a_sample_gives_one_key_that_holds_on_all_rows(measure):
    table = ht.datasets.people(400, seed=2)
    wanted = ht.minimal_keys(table, measure=measure, error=0.01)
    found = ht.minimal_keys(table, measure=measure, error=0.01, sample=40, seed=1)
    assert len(found) == 1
    assert found.keys[0] in wanted.keys
    assert found.errors[0] == wanted.errors[wanted.keys.index(found.keys[0])]
    assert not found.complete
    assert found.complete_to_size == 0
    few = table.select("sex", "education", "nationality")
    assert len(ht.minimal_keys(few, max_size=1, measure=measure, sample=40)) == 0


def test_ranked_puts_first_what_is_easily_known():
    table = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 2, 2], "d": [1, 2, 3, 4]})
    found = ht.minimal_keys(table)
    assert found.keys == (("d",), ("a", "b"), ("b", "c"))
    assert found.n_by_size == {1: 1, 2: 2}
    assert found.easiest_keys(2)["columns"].to_list() == [["d"], ["a", "b"]]
    assert found.to_frame().columns == ["columns", "size", "g1", "unique_rate"]
    assert isinstance(ht.minimal_keys(table.to_pandas()).to_frame(), pd.DataFrame)
    assert found.summary()["n_keys"] == 3
    assert "3 minimal keys" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_size": 0}, "max_size = 0"),
        ({"max_size": 4}, "max_size = 4"),
        ({"measure": "g2"}, "measure = 'g2'"),
        ({"rows": "some"}, "rows = 'some'"),
        ({"error": 1.0}, "error = 1.0"),
        ({"error": float("nan")}, "error = nan"),
        ({"error": -0.1}, "error = -0.1"),
        ({"sample": 1}, "sample = 1"),
        ({"sample": 3, "budget": ht.Budget(seconds=1)}, "sample and budget"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        ht.minimal_keys(PEOPLE, **options)


def test_tables_that_are_refused():
    with pytest.raises(InputError, match="empty"):
        ht.minimal_keys(PEOPLE[:0])
    with pytest.raises(ColumnError, match="nope"):
        ht.minimal_keys(PEOPLE, ["nope"])


@pytest.mark.skipif(not SHARED.exists(), reason="needs the real tables of HUSHTABLE_SHARED")
@pytest.mark.parametrize(
    ("file", "sizes"),
    [("adult/adult_ori.csv", {10: 2}), ("uci/nursery.csv", {8: 1}), ("uci/mushroom.csv", {15: 1})],
)
def test_known_numbers_of_keys(file, sizes):
    table = pl.read_csv(SHARED / "data" / file, has_header=False, skip_rows=1, infer_schema=False)
    found = ht.minimal_keys(table)
    assert found.n_by_size == sizes
    assert found.complete


def test_a_column_with_a_missing_cell_is_in_no_key_that_never_counts_it():
    people = pl.DataFrame({"id": [1, 2, 3, None], "age": [31, 31, 52, 52], "city": ["A", "B", "A", "B"]})
    assert ht.minimal_keys(people).keys == (("id",), ("age", "city"))
    found = ht.minimal_keys(people, missing="never")
    assert (found.keys, found.complete, found.complete_to_size) == ((("age", "city"),), True, 3)
    assert ht.minimal_keys(people, missing="never", sample=3).keys == (("age", "city"),)
    # Rows that differ in that column only are still two rows.
    assert ht.minimal_keys(people, ["id", "age"], missing="never").keys == ()
    assert ht.minimal_keys(people, ["id"], missing="never").keys == ()
    for options in ({"missing": "never", "error": 0.1}, {"missing": "maybe"}):
        with pytest.raises(InputError, match="missing"):
            ht.minimal_keys(people, **options)
