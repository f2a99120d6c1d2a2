"""The commands mpuccs and uniques."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run

ORIGINAL = pl.DataFrame({"age": [31, 31, 52, 47], "city": ["Aa", "Bb", "Cc", "Cc"]})
SYNTHETIC = pl.DataFrame({"age": [31, 47, 52, 52], "city": ["Bb", "Bb", "Cc", "Dd"]})
CELLS = ("Aa", "Bb", "Cc", "Dd", "31", "47", "52")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ORIGINAL.write_csv("original.csv")
    SYNTHETIC.write_csv("synthetic.csv")
    ORIGINAL[:2].write_csv("control.csv")


def shows_cells(text):
    # Whole words only: 31 also stands in a share.
    words = text.replace('"', " ").replace("|", " ").split()
    return any(cell in words for cell in CELLS)


def test_mpuccs_prints_totals_and_what_they_do_not_say(files):
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1,2")
    assert "3 of 4 records are unique and equal exactly one original" in outcome.out
    assert "match by chance" in outcome.out
    assert not shows_cells(outcome.out)


def test_mpuccs_against_a_control(files):
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "all", "--control", "control.csv", "--json")
    found = json.loads(outcome.out)
    assert found["control"]["n_control"] == 2
    assert len(found["control"]["interval"]) == 2
    assert "note" not in found
    text = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "all", "--control", "control.csv").out
    assert "excess risk" in text


def test_records_dropped_as_equal_are_told(files):
    pl.concat([SYNTHETIC, SYNTHETIC[:3]]).write_csv("repeated.csv")
    arguments = ("mpuccs", "original.csv", "repeated.csv", "--sizes", "1", "--deduplicate")
    assert "that equal another of their table were dropped before: 0 of the original and 3 of the synthetic.\n" in (
        done(*arguments).out
    )
    assert json.loads(done(*arguments, "--json").out)["dropped_as_equal"] == {"original": 0, "synthetic": 3}
    assert "dropped" not in done(*arguments[:-1]).out
    assert "--deduplicate" in run(*arguments, "--columns", "age").err


@pytest.mark.parametrize("n", ["19", "0"])
def test_too_few_permutations_are_an_error(files, n):
    outcome = run("mpuccs", "original.csv", "synthetic.csv", "--control", "control.csv", "--permutations", n)
    assert outcome.code == 2
    assert "20 or more" in outcome.err


def test_mpuccs_of_one_table(files):
    outcome = done("mpuccs", "original.csv", "--sizes", "1,2", "--columns", "age,city")
    assert "4 of 4 records are unique in the table" in outcome.out


def test_precisions_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"a": [1.25, 2.5], "t": ["2024-01-01T05:00:00", "2024-01-02T06:30:00"]}).write_csv("original.csv")
    pl.DataFrame({"a": [1.24, 9.5], "t": ["2024-01-01T05:59:00", "2024-03-02T06:30:00"]}).write_csv("synthetic.csv")

    def identified(*options):
        outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--json", *options)
        return json.loads(outcome.out)["total_identified"]

    exact = ("--decimals", "exact", "--datetime-unit", "exact")
    assert identified(*exact) == 0
    assert (
        identified("--decimals", "1", "--datetime-unit", "exact", "--columns", "a") == identified("--columns", "a") + 1
    )
    assert identified("--decimals", "a=0", "--columns", "a") == 1
    for unit in ("h", "D", "t=h"):
        assert identified("--datetime-unit", unit, "--columns", "t") == 1
    assert identified("--datetime-unit", "m", "--columns", "t") == 0
    assert identified("--compat", "petsard-1.6", "--decimals", "1", "--datetime-unit", "H") == 1


def test_options_of_sets_and_their_weights(files):
    def found(*options):
        outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "all", "--json", *options)
        return json.loads(outcome.out)

    assert found("--decay", "1")["weighted_identification_rate"] == found()["identification_rate"]
    pruned = found("--entropy-delta", "5", "--alpha", "inf")
    assert (pruned["total_combinations_pruned"], pruned["config_renyi_alpha"]) == (1, "inf")
    every = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "all", "--all-minimal", "--details", "all.csv")
    assert "Wrote all.csv" in every.err
    assert pl.read_csv("all.csv").height >= found()["total_identified"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_tree_is_written_set_by_set(files, ending):
    name = f"tree.{ending}"
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "all", "--tree", name, "--alpha", "1")
    assert f"Wrote {name}" in outcome.err
    tree = (pl.read_csv if ending == "csv" else pl.read_parquet)(name)
    assert [json.loads(each) for each in tree["field_combo"]] == [["age"], ["city"], ["age", "city"]]
    assert not shows_cells(str(tree["field_combo"].to_list()))


def test_draws_and_permutations_are_those_asked_for(files):
    asked = ("--control", "control.csv", "--draws", "2", "--permutations", "27", "--seed", "3")
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--json", *asked)
    control = json.loads(outcome.out)["control"]
    assert (control["n_draws"], control["n_permutations"]) == (2, 27)


@pytest.mark.parametrize(
    "options",
    [
        ("--permutations", "5"),
        ("--draws", "5"),
        ("--seed", "5"),
        ("--alpha", "1"),
        ("--show-values",),
        *[
            ("--compat", "petsard-1.6", *other)
            for other in (("--columns", "age"), ("--all-minimal",), ("--seconds", "5"))
        ],
        ("--compat", "petsard-1.6", "--control", "control.csv"),
        ("--compat", "petsard-1.6", "--missing", "never"),
    ],
)
def test_an_option_without_effect_is_an_error(files, options):
    outcome = run("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", *options)
    assert outcome.code == 2
    assert "has no effect with" in outcome.err
    assert "Hint" in outcome.err


@pytest.mark.parametrize(("columns", "sizes"), [("age", [1]), ("age,city", [1, 2]), ("", [1, 2])])
def test_default_sizes_are_those_that_a_table_has(files, columns, sizes):
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--columns", columns, "--json")
    assert json.loads(outcome.out)["config_n_cols"] == sizes


@pytest.mark.parametrize("options", [("--compat", "petsard-1.6")])
def test_one_table_alone_takes_no_option_of_two(files, options):
    outcome = run("mpuccs", "original.csv", "--sizes", "1", *options)
    assert outcome.code == 2
    assert "without a synthetic table" in outcome.err


def test_threads_are_told_to_the_search_and_to_polars(files, monkeypatch):
    script = """
import os, sys
from hushtable import cli
sys.argv = ["hushtable", "mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--threads", "1", "--json"]
cli.build_app("mpuccs")(standalone_mode=False)
import polars
from hushtable.search.budget import n_threads
assert n_threads() == 1, n_threads()
assert polars.thread_pool_size() == 1, polars.thread_pool_size()
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_mpuccs_as_petsard_has_it(files):
    found = json.loads(
        done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--compat", "petsard-1.6", "--json").out
    )
    assert found["config_min_entropy_delta"] == 0.0
    assert "identified_by_size" not in found
    assert (
        "of 4 distinct rows"
        in done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--compat", "petsard-1.6").out
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_details_are_written_without_values_unless_asked(files, ending):
    name = f"details.{ending}"
    outcome = done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1,2", "--details", name)
    assert "keep it as safe as the data" in outcome.err
    read = pl.read_csv if ending == "csv" else pl.read_parquet
    found = read(name)
    assert found.columns == ["combo_size", "syn_idx", "field_combo", "ori_idx"]
    assert json.loads(found["field_combo"][0]) == ["age"]
    done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1,2", "--details", name, "--show-values", "--force")
    assert json.loads(read(name)["value_combo"][0]) == ["47"]


@pytest.mark.parametrize(
    "options",
    [
        ("--sizes", "one"),
        ("--sizes", "9"),
        ("--compat", "petsard-9"),
        ("--compat", "petsard-1.6", "--decimals", "exact"),
        ("--missing", "often"),
        ("--decimals", "few"),
        ("--decimals", "city=2"),
        ("--decimals", "=2"),
        ("--decimals", "age=2,age=1"),
        ("--datetime-unit", "week"),
        ("--decay", "0"),
        ("--entropy-delta", "0", "--all-minimal"),
        ("--entropy-delta", "0", "--alpha", "-1"),
    ],
)
def test_wrong_arguments_exit_with_2(files, options):
    outcome = run("mpuccs", "original.csv", "synthetic.csv", *options)
    assert outcome.code == 2
    assert "Hint" in outcome.err


def test_uniques_prints_sizes_and_columns(files):
    outcome = done("uniques", "original.csv")
    assert "records are unique on at most 2 of 2 columns" in outcome.out
    assert not shows_cells(outcome.out)
    found = json.loads(done("uniques", "original.csv", "--max-size", "1", "--json").out)
    assert found["max_size"] == 1
    assert "by_value" not in found


def test_uniques_shows_values_only_on_request(files):
    outcome = done("uniques", "original.csv", "--show-values", "--details", "sets.csv")
    assert shows_cells(outcome.out)
    assert pl.read_csv("sets.csv").columns == ["record", "size", "columns", "suda", "dis_suda"]
    assert json.loads(done("uniques", "original.csv", "--show-values", "--json").out)["by_value"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_details_of_uniques_have_the_scores_of_their_record(files, ending):
    name = f"sets.{ending}"
    done("uniques", "original.csv", "--details", name, "--disclosure-fraction", "0.2")
    written = (pl.read_csv if ending == "csv" else pl.read_parquet)(name)
    found = ht.minimal_uniques(ORIGINAL, disclosure_fraction=0.2)
    assert written["suda"].to_list() == found.suda[written["record"].to_list()].tolist()
    assert written["dis_suda"].to_list() == pytest.approx(found.dis_suda[written["record"].to_list()].tolist())
    assert [json.loads(each) for each in written["columns"]] == [list(each) for each in found.sets["columns"]]


def test_details_of_uniques_where_nobody_is(files):
    pl.concat([ORIGINAL, ORIGINAL]).write_csv("twice.csv")
    done("uniques", "twice.csv", "--details", "sets.csv")
    assert pl.read_csv("sets.csv").shape == (0, 5)


def test_the_disclosure_fraction_is_the_one_asked_for(files):
    assert "(DIS, for a sample of 1 %)" in done("uniques", "original.csv").out
    assert "(DIS, for a sample of 12.5 %)" in done("uniques", "original.csv", "--disclosure-fraction", "0.125").out
    found = json.loads(done("uniques", "original.csv", "--disclosure-fraction", "0.2", "--json").out)
    assert found["disclosure_fraction"] == 0.2
    for fraction in ("0", "1", "nan"):
        assert run("uniques", "original.csv", "--disclosure-fraction", fraction).code == 2


def test_a_budget_that_ends_is_said(files):
    pl.DataFrame(np.random.default_rng(0).integers(0, 3, (3_000, 24))).write_csv("wide.csv")
    outcome = done("mpuccs", "wide.csv", "--sizes", "all", "--seconds", "0.01")
    assert "NOT complete" in outcome.out
    assert "not reached" in outcome.out
    outcome = done("uniques", "wide.csv", "--seconds", "0.01")
    assert "sets of up to" in outcome.out
    assert "not reached" in outcome.out
