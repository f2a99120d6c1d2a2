"""Odd cells are told of at every door, refused before a release, and as was said in all of it."""

import random
import warnings
from pathlib import Path

import duckdb
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError
from hushtable.io import frames
from hushtable.tables import Table

N = 300
DAYS = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 40}" for i in range(N)]
STAYS = [f"{11 + i * i % 15:02d}.01.2024" for i in random.Random(3).sample(range(N), N)]
AGES = [str(20 + i % 50) for i in range(N)]
ODD_DAY, ODD_AGE = "31.02.1950", "04o"
PEOPLE = {
    "born": [ODD_DAY, *DAYS[1:200], ODD_DAY, *DAYS[201:]],
    "age": [*AGES[:100], ODD_AGE, *AGES[101:]],
    "admitted": [*STAYS[:150], ODD_DAY, *STAYS[151:]],
    "ill": ["flu", "gout", "mumps"] * (N // 3),
}
MISSING, TEXT = (dict.fromkeys(("born", "age", "admitted"), ColumnSpec(odd_cells=word)) for word in ("missing", "text"))
ASKED = {"quasi_identifiers": ["born", "age"], "models": [ht.KAnonymity(3)], "roles": "trust"}
POLICY = """
columns:
  born: {role: quasi-identifier, format: "%d.%m.%Y", odd_cells: ANSWER}
  age: {role: quasi-identifier, odd_cells: ANSWER}
  admitted: {role: other, odd_cells: ANSWER}
  ill: sensitive
models: [k-anonymity: 3]
limits: {exposure: {rate: 1}}
"""


@pytest.fixture
def people(tmp_path):
    pl.DataFrame(PEOPLE).write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def in_parts(folder: Path):
    """Yield the ways to read the table without holding it."""
    (folder / "parts").mkdir()
    frame = pl.DataFrame(PEOPLE)
    for place in range(3):
        frame[place * 100 : place * 100 + 100].write_parquet(folder / "parts" / f"{place}.parquet")
    yield "folder", folder / "parts", {}
    frame.write_csv(folder / "streamed.csv")
    yield "csv", folder / "streamed.csv", {"engine": "stream"}
    yield "lazy", frame.lazy(), {}
    session = duckdb.connect()
    yield "duckdb", session.sql(f"select * from '{folder}/parts/*.parquet'"), {"session": session}


def collected(release, folder: Path) -> pl.DataFrame:
    release.write(folder / "released", overwrite=True)
    path = folder / "released"
    return pl.read_parquet(path / "*.parquet") if path.is_dir() else pl.read_parquet(path)


@pytest.mark.parametrize("way", ["folder", "csv", "lazy", "duckdb"])
def test_a_table_that_is_read_in_parts_is_refused_until_decided_and_then_has_none(way, tmp_path):
    data, options = next((data, options) for name, data, options in in_parts(tmp_path) if name == way)
    with pytest.raises(InputError, match=r"2 cells of the form 99\.99\.9999 are no date"):
        ht.anonymize(data, **ASKED, **options)
    held = ht.anonymize(pl.DataFrame(PEOPLE), **ASKED, specs=MISSING).frame
    release = ht.anonymize(data, **ASKED, specs=MISSING, **options)
    release.write(tmp_path / "out", overwrite=True)
    written = pl.read_parquet(sorted((tmp_path / "out").glob("*.parquet")))
    assert written["admitted"].null_count() == 1
    assert not written.select(pl.any_horizontal(pl.all().cast(pl.String).is_in([ODD_DAY, ODD_AGE]).any())).item()
    assert sorted(written["born"].to_list(), key=str) == sorted(held["born"].to_list(), key=str)


def test_a_kept_column_alone_is_refused_too(tmp_path):
    asked = {**ASKED, "quasi_identifiers": ["age"], "identifiers": ["born"], "specs": {"age": MISSING["age"]}}
    for name, data, options in in_parts(tmp_path):
        with pytest.raises(InputError, match="'admitted': 1 cell of the form"):
            pytest.fail(f"{name}: {ht.anonymize(data, **asked, **options)}")
    with pytest.raises(InputError, match="'admitted': 1 cell of the form"):
        ht.anonymize(pl.DataFrame(PEOPLE), **asked)


def test_a_column_that_is_left_out_is_not_asked_about(people):
    left_out = ["born", "age", "admitted"]
    ht.anonymize(people, quasi_identifiers=["ill"], identifiers=left_out, models=[ht.KAnonymity(3)], roles="trust")


@pytest.mark.parametrize("answer", ["missing", "text"])
def test_an_answer_silences_every_door(people, answer):
    specs = MISSING if answer == "missing" else TEXT
    release = ht.anonymize(people, **ASKED, specs=specs)
    ht.assess(people, quasi_identifiers=["born", "age"], specs=specs)
    table = Table.encode(people, specs=specs)
    assert [column.kind for column in table.columns][:3] == (
        ["date", "integer", "date"] if answer == "missing" else ["category"] * 3
    )
    frame = pl.DataFrame(release.frame)
    assert frame["admitted"].null_count() == (1 if answer == "missing" else 0)
    policy = ht.Policy.parse(POLICY.replace("ANSWER", answer))
    written = policy.protect(people)
    path = people.with_name("out.csv")
    assert written.write(path).passed
    assert policy.verify(path, original=people).passed


def test_what_lies_beside_a_release_says_that_they_are_missing_and_quotes_none(tmp_path):
    pl.DataFrame(PEOPLE).write_csv(tmp_path / "whole.csv")
    for way, data, options in [("memory", tmp_path / "whole.csv", {"engine": "memory"}), *in_parts(tmp_path)]:
        out = tmp_path / f"out of {way}"
        out = out.with_suffix(".csv") if way in ("memory", "csv") else out
        release = ht.anonymize(data, **ASKED, specs=MISSING, **options)
        release.write(out)
        told = release.codebook.to_dict(out.name, external=False)["columns"]
        assert [entry["name"] for entry in told if entry.get("odd_cells") == "missing"] == [
            "born",
            "age",
            "admitted",
        ], way
        texts = [
            path for path in tmp_path.rglob("*") if str(path).startswith(str(out)) and path.suffix in (".json", ".md")
        ]
        assert texts
        assert not any(odd in path.read_text(encoding="utf-8") for path in texts for odd in (ODD_DAY, ODD_AGE)), way


def test_the_policy_of_scan_asks_once_and_nothing_is_released_before(people, tmp_path):
    policy, out = tmp_path / "policy.yaml", tmp_path / "out.csv"
    scanned = done("scan", people, "-p", policy)
    assert scanned.err.count("2 cells of the form 99.99.9999 are no date") == 1
    text = policy.read_text()
    assert text.count("odd_cells: refuse") == 3
    assert "2 cells of the form 99.99.9999 are no date" in " ".join(text.replace("#", "").split())
    assert ODD_DAY not in text + scanned.err + scanned.out
    asked = ["anonymize", people, "-p", policy, "-o", out, "--ask", "quasi-identifier"]
    refused = run(*asked)
    assert refused.code == 2
    assert "columns.born.odd_cells=missing" in refused.err
    assert not out.exists()
    answers = [each for name in MISSING for each in ("--set", f"columns.{name}.odd_cells=missing")]
    assert "odd" not in done(*asked, *answers).err
    assert done("verify", out, "--original", people).code == 0
    assert ODD_DAY not in out.read_text()


@pytest.mark.parametrize(
    "door",
    [["assess", "--qi", "born"], ["keys"], ["scores", "--columns", "born"], ["uniques"], ["select"]],
)
def test_every_command_tells_of_them_once(door, people):
    shown = run(door[0], people, *door[1:])
    if "No such command" in shown.err:
        pytest.fail(shown.err)
    assert shown.err.count("column 'born': 2 cells of the form 99.99.9999 are no date") == 1, shown.err


@pytest.mark.parametrize("mark", ["NA", "N/A", "NULL", r"\N", "unbekannt", "90+", "#N/A"])
def test_marks_of_missing_values_are_asked_about_as_such_alone(mark, tmp_path):
    pl.DataFrame({**PEOPLE, "age": [mark, mark, mark, *AGES[3:]]}).write_csv(tmp_path / "people.csv")
    assert frames.read(tmp_path / "people.csv").odd_cells("age") is None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ht.assess(tmp_path / "people.csv", quasi_identifiers=["age"])
    assert not [each for each in told if "of the form" in str(each.message)]


def test_beside_marks_the_odd_cells_are_found_all_the_same(tmp_path):
    cells = ["NA"] * 90 + PEOPLE["born"][90:]
    pl.DataFrame({"born": cells}).write_csv(tmp_path / "people.csv")
    frame = frames.read(tmp_path / "people.csv")
    odd = frame.odd_cells("born")
    assert odd is not None
    assert odd.forms == {"99.99.9999": 1}
    said = ColumnSpec(missing_values=("NA",), odd_cells="missing")
    assert Table.encode(frame, specs={"born": said}).column("born").kind == "date"


def test_a_declared_kind_takes_its_odd_cells_as_missing_where_that_was_said(people):
    said = ColumnSpec("integer", odd_cells="missing")
    assert Table.encode(people, ["age"], {"age": said}).column("age").kind == "integer"
    with pytest.raises(ht.errors.ColumnError, match="declared date"):
        Table.encode(people, ["ill"], {"ill": ColumnSpec("date", odd_cells="missing")})


def test_a_later_batch_is_asked_about_its_own_odd_cells(people, tmp_path):
    asked = {**ASKED, "method": ht.Mondrian(recoding="readable")}
    clean = pl.DataFrame({**PEOPLE, "born": DAYS, "age": AGES, "admitted": STAYS})
    clean.write_csv(tmp_path / "clean.csv")
    ht.anonymize(tmp_path / "clean.csv", **asked).save_recoding(tmp_path / "recoding.json")
    with pytest.raises(InputError, match="are no date"):
        ht.Recoding.read(tmp_path / "recoding.json").apply(people)
    ht.anonymize(tmp_path / "clean.csv", **asked, specs=MISSING).save_recoding(
        tmp_path / "recoding.json", overwrite=True
    )
    released = ht.Recoding.read(tmp_path / "recoding.json").apply(people)
    assert pl.DataFrame(released.frame)["admitted"].null_count() == 1


def test_some_rows_of_a_table_are_not_judged_again():
    frame, _ = frames.read(pl.DataFrame({"a": [*map(str, range(60)), *["x y"] * 60]})).without_odd_cells()
    assert frame.take(pl.Series([*range(60), 70]).to_numpy()).odd_cells("a") is None
