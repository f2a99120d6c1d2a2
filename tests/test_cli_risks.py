"""The commands mpuccs and uniques."""

import json

import numpy as np
import polars as pl
import pytest

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


def test_mpuccs_of_one_table(files):
    outcome = done("mpuccs", "original.csv", "--sizes", "1,2", "--columns", "age,city")
    assert "4 of 4 records are unique in the table" in outcome.out


def test_mpuccs_as_petsard_has_it(files):
    found = json.loads(
        done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--compat", "petsard-1.6", "--json").out
    )
    assert found["config_min_entropy_delta"] == 0.0
    assert "identified_by_size" not in found
    assert (
        "of 4 records" in done("mpuccs", "original.csv", "synthetic.csv", "--sizes", "1", "--compat", "petsard-1.6").out
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
    "options", [("--sizes", "one"), ("--sizes", "9"), ("--compat", "petsard-9"), ("--missing", "often")]
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
    assert pl.read_csv("sets.csv").columns == ["record", "size", "columns"]
    assert json.loads(done("uniques", "original.csv", "--show-values", "--json").out)["by_value"]


def test_a_budget_that_ends_is_said(files):
    pl.DataFrame(np.random.default_rng(0).integers(0, 3, (3_000, 24))).write_csv("wide.csv")
    outcome = done("mpuccs", "wide.csv", "--sizes", "all", "--seconds", "0.01")
    assert "NOT complete" in outcome.out
