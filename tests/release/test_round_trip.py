"""What was read is the same number, date and missing value in every file, as other programs read it."""

import datetime as dt
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import hushtable as ht
from command import done

HEAD = "alter;kosten;tage;aufnahme;plz;befund;menge\n"
ROWS = [
    "31;1.234,50;3;31.01.2023;01067;frei;2",
    "31;9,00;999;01.01.1900;01069;unbekannt;1",
    "31;0,25;12;28.02.2023;99999;frei;90+",
    "31;999,00;7;k. A.;01067;belegt;3",
] * 3
COSTS, DAYS = [1234.5, 9.0, 0.25, None] * 3, [3, None, 12, 7] * 3
SEEN = [dt.date(2023, 1, 31), None, dt.date(2023, 2, 28), None] * 3
PLACES, FOUND, AMOUNT = (
    ["01067", "01069", None, "01067"] * 3,
    ["frei", None, "frei", "belegt"] * 3,
    ["2", "1", "90+", "3"] * 3,
)
POLICY = """
read: {decimal: ","}
columns:
  alter: quasi-identifier
  kosten: {role: other, missing_values: ["999,00"]}
  tage: {role: sensitive, missing_values: ["999"]}
  aufnahme: {role: other, missing_values: ["01.01.1900", k. A.]}
  plz: {role: other, missing_values: ["99999"]}
  befund: {role: other, kind: category, missing_values: [unbekannt]}
  menge: {role: other, missing_values: []}
models: [k-anonymity: 3]
accept: {kosten: made up, aufnahme: made up, plz: made up, befund: made up, menge: made up}
"""


def read_with_others(path: Path) -> dict[str, list[object]]:
    """Read a file with the program that others use for it; None is a missing cell."""
    if path.suffix == ".xlsx":
        return {column.name: column.to_list() for column in pl.read_excel(path, infer_schema_length=None)}
    if path.suffix == ".csv":
        return {
            name: column.to_list()
            for name, column in pl.read_csv(path, separator=";", infer_schema=False).to_dict().items()
        }
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        read = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}[path.suffix]
        frame = read(path)[0]
    cells = {name: [None if pd.isna(cell) or cell == "" else cell for cell in frame[name].tolist()] for name in frame}
    return {name: [c.date() if isinstance(c, dt.datetime) else c for c in cells[name]] for name in cells}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("round_trip")
    (folder / "in.csv").write_text(HEAD + "\n".join(ROWS), encoding="utf-8")
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx", ".sav", ".dta", ".xpt"])
def test_numbers_dates_and_missing_cells_are_the_same_in_every_file(folder: Path, ending: str) -> None:
    release = ht.Policy.parse(POLICY).protect(folder / "in.csv")
    path = folder / f"out{ending}"
    release.write(path, keep_order=True)
    cells = read_with_others(path)
    if ending == ".csv":
        # Text is the text that it was.
        assert cells["kosten"] == ["1.234,50", "9,00", "0,25", None] * 3
        assert cells["aufnahme"] == ["31.01.2023", None, "28.02.2023", None] * 3
        assert cells["tage"] == [None if day is None else str(day) for day in DAYS]
    else:
        assert cells["kosten"] == COSTS
        assert cells["aufnahme"] == SEEN
        assert cells["tage"] == DAYS
    assert (cells["plz"], cells["befund"], cells["menge"]) == (PLACES, FOUND, AMOUNT)


def test_the_frame_the_codebook_and_the_utility_agree_on_what_is_missing(folder: Path) -> None:
    release = ht.Policy.parse(POLICY).protect(folder / "in.csv")
    assert release.frame["tage"].null_count() == 3
    assert release.frame["befund"].to_list() == FOUND
    entries = {entry["name"]: entry for entry in release.codebook.to_dict("out.csv", external=False)["columns"]}
    assert entries["tage"]["missing_values"] == ["999"]
    release.write(folder / "kept.csv")
    told = json.loads(done("utility", folder / "in.csv", folder / "kept.csv", "--json").out)["columns"]
    means = {column["name"]: (column["mean"], column["released_mean"]) for column in told}
    assert means["kosten"] == pytest.approx((1243.75 / 3,) * 2)
    assert means["tage"] == pytest.approx((22 / 3,) * 2)


def test_measure_levels_are_those_of_the_kinds(folder: Path) -> None:
    path = folder / "levels.sav"
    ht.Policy.parse(POLICY).protect(folder / "in.csv").write(path)
    _, meta = pyreadstat.read_sav(path)
    assert meta.variable_measure == {
        "alter": "scale",
        "kosten": "scale",
        "tage": "scale",
        "aufnahme": "scale",
        "plz": "nominal",
        "befund": "nominal",
        "menge": "nominal",
    }


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_what_the_policy_calls_columns_stands_in_files_of_statistics_programs_and_in_the_codebook(
    folder: Path, ending: str
) -> None:
    policy = ht.Policy.parse(POLICY).with_entries(
        {("columns", "alter"): {"role": "quasi-identifier", "label": "Alter"}, ("columns", "tage", "label"): "Tage"}
    )
    release, path = policy.protect(folder / "in.csv"), folder / f"labelled{ending}"
    release.write(path)
    _, meta = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}[ending](path)
    labels = meta.column_names_to_labels
    assert labels["alter"].startswith("Alter (coarsened")
    assert (labels["tage"], labels["kosten"] or "") == ("Tage", "")
    book = release.codebook.to_dict(path.name, external=False)["columns"]
    assert {entry["name"]: entry.get("label") for entry in book if entry["name"] in ("alter", "tage", "plz")} == {
        "alter": "Alter",
        "tage": "Tage",
        "plz": None,
    }


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_declared_code_is_missing_in_the_dataframe_that_comes_out(kind: type) -> None:
    data = kind(
        {"age": [31] * 4, "stay": [3, 999, 12, 7], "seen": [dt.date(9999, 12, 31)] * 2 + [dt.date(2023, 1, 1)] * 2}
    )
    specs = {"stay": ht.ColumnSpec(missing_values=["999"]), "seen": ht.ColumnSpec(missing_values=["9999-12-31"])}
    released = ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], specs=specs).frame
    known = pl.DataFrame(released)
    assert known["stay"].to_list() == [3, None, 12, 7]
    assert known["seen"].null_count() == 2


def test_once_answered_nobody_asks_again(tmp_path: Path) -> None:
    rows = [f"{20 + i % 40};{999 if i % 10 == 0 else i % 7}" for i in range(200)]
    (tmp_path / "in.csv").write_text("age;stay\n" + "\n".join(rows), encoding="utf-8")
    policy = tmp_path / "policy.yaml"
    done("scan", tmp_path / "in.csv", "--write-policy", policy)
    text = policy.read_text(encoding="utf-8")
    assert 'missing_values: ["999"]' in text
    asked = (
        "anonymize",
        tmp_path / "in.csv",
        "-p",
        policy,
        "-o",
        tmp_path / "out.csv",
        "--force",
        "--set",
        "columns.stay.role=sensitive",
    )
    assert "999" not in done(*asked).err
    policy.write_text(text.replace('missing_values: ["999"]', "missing_values: []"), encoding="utf-8")
    made = done(*asked)
    assert "999" not in made.err + made.out


@pytest.mark.parametrize("door", ["folder", "csv", "lazy", "duckdb"])
def test_a_declared_code_is_missing_whatever_engine_writes(tmp_path: Path, door: str) -> None:
    data = pl.DataFrame({"age": [31] * 8, "stay": [3, 999, 12, 7] * 2, "ward": ["A", "?", "B", None] * 2})
    rules = ht.Policy.parse(
        'columns: {age: quasi-identifier, stay: {role: other, missing_values: ["999"]}, '
        'ward: {role: sensitive, missing_values: ["?"]}}\nmodels: [k-anonymity: 3]\naccept: {stay: made up}'
    )
    (tmp_path / "in").mkdir()
    data.write_parquet(tmp_path / "in" / "part.parquet")
    data.write_csv(tmp_path / "in.csv")
    if door == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        source = duckdb.sql(f"SELECT * FROM '{tmp_path}/in/part.parquet'")
    else:
        source = {"folder": tmp_path / "in", "csv": tmp_path / "in.csv", "lazy": data.lazy()}[door]
    path = tmp_path / "out.parquet"
    rules.protect(source, engine="stream" if door == "csv" else "auto").write(path)
    made = pl.read_parquet(path)
    assert made["stay"].cast(pl.Int64).sort().to_list() == [None, None, 3, 3, 7, 7, 12, 12]
    assert made["ward"].null_count() == 4
