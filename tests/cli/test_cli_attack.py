"""The command attack."""

import json

import numpy as np
import polars as pl
import pytest

from command import done, run


def people(n, seed):
    """Return made-up people whose columns tell much together."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "city": [f"c{each}" for each in rng.integers(40, size=n)],
            "job": [f"j{each}" for each in rng.integers(40, size=n)],
            "pay": np.round(rng.lognormal(10, 1, n)),
        }
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("original", 1), ("control", 2), ("unrelated", 3)):
        people(120, seed).write_csv(f"{name}.csv")


def test_the_three_headings(files):
    out = done("attack", "original.csv", "unrelated.csv", "--control", "control.csv", "--attacks", "60").out
    assert out.index("Singling out") < out.index("Linkability") < out.index("Inference")
    assert out.count("multivariate") == 2
    assert "c17" not in out


def test_a_copy_fails_every_limit_and_unrelated_people_none(files):
    limits = "singling-out=0.3,linkability=0.3,inference=0.3"
    options = ("--control", "control.csv", "--attacks", "100", "--secret", "pay", "--fail-above", limits, "--json")
    copied = run("attack", "original.csv", "original.csv", *options)
    assert copied.code == 1
    assert len(json.loads(copied.out)["failed_above"]) == 3
    assert run("attack", "original.csv", "unrelated.csv", *options).code == 0


def test_a_control_that_is_too_small_passes_no_limit(files):
    people(10, 4).write_csv("few.csv")
    options = ("--control", "few.csv", "--attacks", "50", "--secret", "pay", "--fail-above", "singling-out=0.3")
    outcome = run("attack", "original.csv", "unrelated.csv", *options)
    assert outcome.code == 1
    assert "cannot be said" in outcome.err


def test_distances_and_attribution_stand_beside_the_attacks(files):
    options = ("--control", "control.csv", "--secret", "job", "--attacks", "20")
    copied = json.loads(done("attack", "original.csv", "original.csv", *options, "--json").out)["figures"]
    told = {each["name"]: each for each in copied}
    assert [*told] == ["dcr", "nndr", "tcap", "rapid"]
    assert told["dcr"]["value"] > 0.95
    assert told["nndr"]["value"] == 0
    assert told["tcap"] | {"figures": {}} == told["tcap"] | {"value": 1.0, "target": "job", "figures": {}}
    shown = done("attack", "original.csv", "unrelated.csv", *options).out
    assert shown.index("Inference") < shown.index("Distances and attribution") < shown.index("dcr  ")
    assert "0.5 is chance, 1 a copy" in shown
    limits = "dcr=0.9,tcap=0.9"
    assert run("attack", "original.csv", "original.csv", *options, "--fail-above", limits).code == 1
    assert run("attack", "original.csv", "unrelated.csv", *options, "--fail-above", "dcr=0.9").code == 0
    # Without a control nothing is known, which is no pass.
    unknown = run("attack", "original.csv", "unrelated.csv", "--attacks", "20", "--secret", "job", *limit("dcr=0.9"))
    assert unknown.code == 1
    assert "dcr needs a control" in unknown.err


def limit(text):
    return "--fail-above", text


def test_a_report_of_attacks(files):
    done("attack", "original.csv", "unrelated.csv", "--secret", "pay", "--attacks", "20", "--report", "told.html")
    with open("told.html", encoding="utf-8") as file:
        page = file.read()
    assert "Is it possible to single out an individual?" in page
    assert "Distances and attribution" in page


def test_halves_are_given_twice(files):
    outcome = run("attack", "original.csv", "unrelated.csv", "--aux", "age,city")
    assert outcome.code == 2
    assert "given 1 times" in outcome.err
    done("attack", "original.csv", "unrelated.csv", "--aux", "age,city", "--aux", "job", "--attacks", "9",
         "--secret", "pay")  # fmt: skip


def test_a_query_takes_all_columns_of_a_narrow_table_and_never_fewer_than_asked(files):
    people(60, 1).select("age", "pay").write_csv("narrow.csv")
    narrow = ("attack", "narrow.csv", "narrow.csv", "--attacks", "5")
    attacks = json.loads(done(*narrow, "--json").out)["attacks"]
    assert attacks[0]["settings"]["n_cols"] == 2
    refused = run(*narrow, "--n-cols", "3")
    assert refused.code == 2
    assert "n_cols" in refused.err


def test_membership_is_attacked_where_there_is_a_control(files):
    asked = ("--attacks", "5", "--fail-above", "membership=0.7", "--json")
    copied = run("attack", "original.csv", "original.csv", "--control", "control.csv", *asked, "--exposed", "who.csv")
    assert copied.code == 1
    answer = json.loads(copied.out)
    assert answer["membership"]["verdict"] == "found"
    assert [each["figure"] for each in answer["failed_above"]] == ["membership"]
    # Who is recognised stands in the file alone.
    assert len(pl.read_csv("who.csv")) > 60
    assert "row" not in answer["membership"]
    other = run("attack", "original.csv", "unrelated.csv", "--control", "control.csv", *asked)
    assert other.code == 0, other.err
    alone = run("attack", "original.csv", "unrelated.csv", "--attacks", "5", "--fail-above", "membership=0.7")
    assert alone.code == 1
    assert "Membership was not attacked" in alone.out
    assert "needs a --control" in alone.err
    assert run("attack", "original.csv", "unrelated.csv", "--exposed", "w.csv").code == 2
    rate = run("attack", "original.csv", "unrelated.csv", "--control", "control.csv", "--attacks", "5",
               "--fail-above", "membership-rate=0.01")  # fmt: skip
    assert "at least 1,000 non-members are needed" in rate.err
