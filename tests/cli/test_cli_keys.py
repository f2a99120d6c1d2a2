"""The command keys, and what scan says of columns that are a key together."""

import json
from pathlib import Path

import polars as pl
import pytest

from command import done, run

TABLE = pl.DataFrame(
    {"age": [31, 31, 52, 52, 52], "sex": ["f", "m", "f", "f", "f"], "city": ["Aa", "Aa", "Aa", "Bb", "Bb"]}
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("in.csv")
    return tmp_path


def test_keys_are_listed_with_what_was_counted() -> None:
    out = done("keys", "in.csv").out
    assert "1 minimal key: " in out
    assert "counted on 4 distinct rows, of 5 records" in out
    assert "age, sex, city" in out
    assert "Aa" not in out
    assert "Two equal records have no key" in done("keys", "in.csv", "--rows", "all").out


def test_json_details_and_top() -> None:
    arguments = ("keys", "in.csv", "--error", "0.2", "--max-size", "2", "--top", "1")
    found = json.loads(done(*arguments, "--json").out)
    assert found["keys"] == [{"columns": ["age", "sex"], "size": 2, "g1": pytest.approx(1 / 6), "unique_rate": 0.5}]
    assert (found["n_keys"], found["complete"]) == (3, True)
    assert "... and 2 more" in done(*arguments, "--details", "out.csv").out
    assert pl.read_csv("out.csv")["columns"].to_list() == ['["age", "sex"]', '["age", "city"]', '["sex", "city"]']


def test_a_sample_is_not_called_complete() -> None:
    assert "NOT complete" in done("keys", "in.csv", "--sample", "3", "--seed", "1").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seed", "1"),
        ("--measure", "g1"),
        ("--sample", "3", "--seconds", "1"),
        ("--error", "1"),
        ("--error", "0.1", "--measure", "g3"),
        ("--rows", "some"),
        ("--columns", "nope"),
        ("--max-size", "9"),
        ("--fail-above", "rate=0.1"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...]) -> None:
    assert run("keys", "in.csv", *arguments).code == 2


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (("--fail-above", "count=1"), ""),
        (("--fail-above", "count=0"), "count is 1, above the limit of 0"),
        (("--fail-above", "count=0", "--max-size", "2"), ""),
        (("--fail-above", "count=0", "--max-size", "2", "--rows", "all"), ""),
        (("--fail-above", "count=9", "--sample", "3"), "keys of more than 0 columns may be missing"),
    ],
)
def test_a_key_of_few_columns_may_fail_a_job(options: tuple[str, ...], because: str) -> None:
    ended = run("keys", "in.csv", "--json", *options)
    assert ended.code == (1 if because else 0)
    assert because in ended.err
    assert bool(json.loads(ended.out)["failed_above"]) == bool(because)


def test_scan_tells_columns_that_are_a_key_together() -> None:
    ages = [20 + i // 2 for i in range(40)]
    table = pl.DataFrame(
        {"age": ages, "sex": ["female", "male"] * 20, "diagnosis": ["flu", "flu", "gout", "gout"] * 10}
    )
    table.write_csv("people.csv")
    out = done("scan", "people.csv", "--persons").out
    assert "A key together" in out
    assert "  age + sex\n" in out
    keys = json.loads(done("scan", "people.csv", "--persons", "--json").out)["keys"]
    assert keys["top"][0]["columns"] == ["age", "sex"]
    assert keys["complete"]
