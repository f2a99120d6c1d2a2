import json

import numpy as np
import polars as pl
import pytest

from command import done, run, tree
from hushtable.release.edition import Edition


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "race": [f"r{code}" for code in rng.integers(0, 3, 41)],
            "income": rng.integers(10_000, 99_999, 41),
            "saving": rng.integers(0, 5_000, 41),
            "town": [f"t{code}" for code in rng.integers(0, 4, 41)],
        }
    )
    path = tmp_path / "in.csv"
    frame.write_csv(path)
    return path


def options(table, name="out.csv"):
    return [table, "--a", "race", "--b", "income,saving", "--clusters", "5", "-o", table.with_name(name)]


def test_writes_both_files_and_says_what_it_did(table):
    outcome = done("mask-dependence", *options(table))
    assert "exactly independent of cluster" in outcome.out
    assert "Independence from 5 clusters of income and saving holds for race, in 40 records." in outcome.out
    assert "Left out to make clusters equal: 1." in outcome.out
    assert "not people" in outcome.out
    assert sorted(tree(table.parent)) == ["in.csv", "out.clusters.csv", "out.csv", "out.csv.manifest.json"]
    assert pl.read_csv(table.with_name("out.csv")).columns == ["race", "town", "cluster"]
    assert pl.read_csv(table.with_name("out.clusters.csv")).columns == ["cluster", "income", "saving"]


def test_says_how_text_was_clustered(table):
    assert "note:" not in done("mask-dependence", *options(table)).out
    outcome = done(
        "mask-dependence", table, "--a", "race", "--b", "town", "--clusters", "2", "-o", table.with_name("t.csv")
    )
    assert "'town' is text: clustered by frequency, then by alphabet" in outcome.out


def test_an_order_of_text_is_declared(table):
    asked = ("mask-dependence", table, "--a", "race", "--b", "town", "--clusters", "2", "-o", table.with_name("t.csv"))
    outcome = done(*asked, "--order", "town=t3,t1,t0,t2")
    assert "note:" not in outcome.out
    values = pl.read_csv(table.with_name("t.clusters.csv"))
    places = {
        cluster: {"t3t1t0t2".index(town) for town in rows["town"]} for (cluster,), rows in values.group_by("cluster")
    }
    low, high = sorted(places.values(), key=min)
    assert max(low) <= min(high)
    assert run(*asked, "--order", "town", "--force").code == 2


def test_json_holds_figures_and_no_cell(table):
    outcome = done("mask-dependence", *options(table, "out.parquet"), "--publish", "bins", "--seed", "3", "--json")
    told = json.loads(outcome.out)
    assert told["verified"]["passed"]
    assert told["n_stars"] == sum(told["stars_by_column"].values())
    incomes = pl.read_csv(table)["income"].cast(pl.String).to_list()
    assert not any(income in outcome.out for income in incomes)
    assert table.with_name("out.clusters.parquet").is_file()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["--a", "income"], "more than one of a, b and c"),
        (["--clusters", "1"], "clusters = 1"),
        (["--clusters", "99"], "clusters = 99"),
        (["--method", "magic"], "method = 'magic'"),
        (["--a", "nobody"], "no column 'nobody'"),
        (["--values", "in.csv"], "the output is the input"),
        (["--values", "out.csv"], "name two files"),
        (["--seconds", "0"], "budget seconds"),
    ],
)
def test_wrong_input_leaves_nothing_behind(table, changes, words, monkeypatch):
    monkeypatch.chdir(table.parent)
    before = tree(table.parent)
    outcome = run("mask-dependence", *options(table), *changes)
    assert outcome.code == 2
    assert words in outcome.err
    assert tree(table.parent) == before


def test_a_table_that_is_not_independent_is_not_written(table, monkeypatch):
    before = tree(table.parent)
    plain = Edition.frame

    def spoilt(self):
        frame = plain(self)
        return frame.with_columns({"race": pl.Series([str(row) for row in range(frame.n_rows)])})

    monkeypatch.setattr(Edition, "frame", spoilt)
    outcome = run("mask-dependence", *options(table))
    assert outcome.code == 1
    assert "do not publish" in outcome.err
    assert tree(table.parent) == before


def test_a_direct_identifier_needs_a_reason(table):
    names = table.with_name("names.csv")
    pl.read_csv(table)[:39].with_columns(surname=pl.Series(["Lang", "Kurz", "Bauer"] * 13)).write_csv(names)
    asked = ("mask-dependence", *options(names), "--c", "surname")
    refused = run(*asked)
    assert refused.code == 2
    assert "--accept 'surname=a reason'" in refused.err
    assert not table.with_name("out.csv").exists()
    assert "Accepted: surname (made up)." in done(*asked, "--accept", "surname=made up").out
