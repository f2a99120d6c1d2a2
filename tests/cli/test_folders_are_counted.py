"""Measures of a folder of files: those of the same rows in one file, from the distinct rows."""

import json

import pytest

import hushtable as ht
from command import done, run
from hushtable.io import distinct_rows


@pytest.fixture
def rows(tmp_path):
    """Write some people as one file, and as a folder of two."""
    people = ht.datasets.people(300, seed=4).select("sex", "education", "postcode", "diagnosis", "income")
    people.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "people").mkdir()
    for part in (0, 1):
        people[150 * part : 150 * (part + 1)].write_parquet(tmp_path / "people" / f"{part}.parquet")
    people.sample(100, seed=1).write_parquet(tmp_path / "synthetic.parquet")
    return tmp_path


COLUMNS = "sex,education,postcode"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("uniques", ["--columns", COLUMNS]),
        ("uniques", []),
        ("keys", ["--columns", COLUMNS]),
        ("assess", ["--qi", COLUMNS, "--sensitive", "diagnosis"]),
        ("mpuccs", ["synthetic.parquet", "--columns", COLUMNS]),
    ],
)
def test_figures_of_a_folder_are_those_of_one_file(rows, monkeypatch, command, options):
    monkeypatch.chdir(rows)
    folder, file = (json.loads(done(command, name, *options, "--json").out) for name in ("people", "people.parquet"))
    assert folder.pop("file") == "people"
    assert file.pop("file") == "people.parquet"
    for told in (folder, file):
        told.get("trace", {}).pop("seconds", None)
    assert folder == file


def test_rows_of_several_files_have_no_numbers(rows):
    refused = run("uniques", rows / "people", "--details", rows / "details.csv")
    assert refused.code == 2
    assert "--details numbers the rows of one file" in refused.err
    assert not (rows / "details.csv").exists()


def test_too_many_distinct_rows_are_told_with_the_widest_column(rows, monkeypatch):
    monkeypatch.setitem(distinct_rows.collapse.__kwdefaults__, "most_rows", 50)
    refused = run("uniques", rows / "people")
    assert refused.code == 2
    assert "column 'income' has the most different values" in refused.err
