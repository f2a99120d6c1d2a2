"""Files of SPSS, Stata and SAS: what is read comes out again, and labels tell nothing of who is gone."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from hushtable.io import frames

pyreadstat = pytest.importorskip("pyreadstat", reason="needs hushtable[stats]")

N = 40
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=377 * i) for i in range(N)]
MOMENTS = [dt.datetime(2020, 1, 1, 3, 4, 5) + dt.timedelta(hours=31 * i) for i in range(N)]
COLUMNS: dict[str, pl.Series] = {
    "age": pl.Series([20 + i % 17 for i in range(N)], dtype=pl.Float64),
    "height": pl.Series([150.25 + i / 3 for i in range(N)]),
    "gaps": pl.Series([None if i % 5 == 0 else float(i % 4) for i in range(N)]),
    "text": pl.Series([("ä", "b b", "ÇÇ", "日本")[i % 4] for i in range(N)]),
    "essay": pl.Series(["x" * (900 + i) for i in range(N)]),
    "holes": pl.Series([None if i % 3 else "seen" for i in range(N)]),
    "day": pl.Series(DAYS),
    "moment": pl.Series(MOMENTS),
    "time": pl.Series([moment.time() for moment in MOMENTS]),
    "large": pl.Series([2.0**40 + i for i in range(N)]),
}
ENDINGS = (".sav", ".zsav", ".dta", ".xpt")
WRITE = {
    ".sav": pyreadstat.write_sav,
    ".zsav": pyreadstat.write_sav,
    ".dta": pyreadstat.write_dta,
    ".xpt": pyreadstat.write_xport,
}
READ = {
    ".sav": pyreadstat.read_sav,
    ".zsav": pyreadstat.read_sav,
    ".dta": pyreadstat.read_dta,
    ".xpt": pyreadstat.read_xport,
}


def made(path: Path, frame: pl.DataFrame, **options: Any) -> Path:
    if path.suffix == ".zsav":
        options["compress"] = True
    WRITE[path.suffix](frame, str(path), **options)
    return path


def read_back(path: Path) -> tuple[pl.DataFrame, Any]:
    tags = {} if path.suffix == ".xpt" else {"user_missing": True}
    return READ[path.suffix](str(path), output_format="polars", **tags)


def in_order(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(frame.rows(), key=repr)


def with_ids(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({"qi": [float(i % 4) for i in range(N)]}).with_columns(frame)


def released(path: Path, **asked: Any) -> ht.Release[Any]:
    asked = {"models": [ht.KAnonymity(3)], "quasi_identifiers": ["qi"], "roles": "trust"} | asked
    return ht.anonymize(str(path), **asked)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_kept_column_comes_out_as_it_went_in(tmp_path: Path, ending: str, name: str) -> None:
    source = made(tmp_path / f"in{ending}", with_ids(pl.DataFrame({name: COLUMNS[name]})))
    out = tmp_path / f"out{ending}"
    assert released(source).write(out).passed
    (before, _), (after, _) = read_back(source), read_back(out)
    # Rows are shuffled, and the first column was rewritten.
    assert in_order(before.select(name)) == in_order(after.select(name))


@pytest.mark.parametrize("into", [".sav", ".zsav", ".dta", ".xpt", ".csv", ".parquet", ".xlsx"])
def test_one_program_s_file_becomes_another_s(tmp_path: Path, into: str) -> None:
    columns = {name: COLUMNS[name] for name in ("age", "height", "text", "day")}
    source = made(tmp_path / "in.sav", with_ids(pl.DataFrame(columns)))
    out = tmp_path / f"out{into}"
    assert released(source).write(out).passed
    back = frames.read(str(out))
    assert back.n_rows == N
    assert sorted(map(str, back.values("age").to_list())) == sorted(str(int(age)) for age in COLUMNS["age"].to_list())


SURVEY = pl.DataFrame(
    {
        "V1": [float(20 + i % 12) for i in range(N)],
        "V2": [float(1 + i % 2) for i in range(N)],
        "V3": [99.0 if i % 9 == 0 else -3.0 if i % 7 == 0 else float(i % 4) for i in range(N)],
        "V4": ["a" if i % 2 else "zz" for i in range(N)],
    }
)
TOLD: dict[str, Any] = {
    "column_labels": {"V1": "Age in years", "V2": "Sex of respondent", "V3": "Trust in courts", "V4": "Shop"},
    "variable_value_labels": {
        "V2": {1.0: "female", 2.0: "male", 3.0: "CANARY of Kleinhausen"},
        "V3": {99.0: "refused", 1.0: "a lot", 77.0: "CANARY who moved away"},
        "V4": {"a": "shop A", "q": "CANARY shop"},
    },
    "missing_ranges": {"V3": [99.0, {"lo": -9.0, "hi": -1.0}]},
    "variable_measure": {"V2": "nominal", "V3": "ordinal"},
    "variable_format": {"V3": "F3.0"},
    "file_label": "CANARY file",
    "note": "CANARY note",
}
ROLES = {"quasi_identifiers": ["V1", "V2"]}


def test_labels_missing_values_and_formats_survive_where_they_are_true(tmp_path: Path) -> None:
    source = made(tmp_path / "in.sav", SURVEY, **TOLD)
    release = released(source, **ROLES)
    out = tmp_path / "out.sav"
    assert release.write(out).passed
    cells, meta = read_back(out)
    assert b"CANARY" not in out.read_bytes()
    assert meta.variable_value_labels["V3"] == {99.0: "refused", 1.0: "a lot"}
    assert meta.variable_value_labels["V4"] == {"a": "shop A"}
    assert meta.missing_ranges["V3"] == [{"lo": -9.0, "hi": -1.0}, {"lo": 99.0, "hi": 99.0}]
    assert (meta.variable_measure["V3"], meta.original_variable_types["V3"]) == ("ordinal", "F3.0")
    assert meta.column_names_to_labels["V3"] == "Trust in courts"
    assert meta.column_names_to_labels["V1"].startswith("Age in years (coarsened: ")
    assert "V1" not in meta.missing_ranges
    assert sorted(cells["V3"].to_list()) == sorted(SURVEY["V3"].to_list())
    assert not meta.file_label
    assert not meta.notes
    book = {each["name"]: each for each in release.codebook.to_dict("out.sav", external=False)["columns"]}
    assert (book["V3"]["label"], book["V3"]["values"]) == ("Trust in courts", {"99": "refused", "1": "a lot"})
    assert (book["V1"]["label"], "values" in book["V1"]) == ("Age in years", False)


def test_declared_missing_values_are_missing_each_with_its_code(tmp_path: Path) -> None:
    frame = frames.read(str(made(tmp_path / "in.sav", SURVEY, **TOLD)))
    assert frame.spec("V3").missing_values == ("-3", "99")
    column = ht.Table.encode(frame, ["V3"]).column("V3")
    assert column.texts() == list("0123")
    assert frame.column("V3").null_count() == 0


def test_codes_with_labels_are_categories(tmp_path: Path) -> None:
    frame = frames.read(str(made(tmp_path / "in.sav", SURVEY, **TOLD)))
    kinds = {column.name: column.kind for column in ht.Table.encode(frame).columns}
    assert kinds == {"V1": "integer", "V2": "category", "V3": "integer", "V4": "category"}
    # Without a measure, a label for each code says the same.
    plain = made(tmp_path / "plain.sav", SURVEY, variable_value_labels=TOLD["variable_value_labels"])
    assert ht.Table.encode(frames.read(str(plain)), ["V2"]).column("V2").kind == "category"


def test_tagged_missing_values_of_stata_are_missing_and_survive(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    cells = ["a" if i % 5 == 0 else None if i % 7 == 0 else float(i % 6) for i in range(N)]
    frame = pandas.DataFrame({"qi": [float(i % 4) for i in range(N)], "x": pandas.Series(cells, dtype=object)})
    source = tmp_path / "in.dta"
    pyreadstat.write_dta(
        frame, str(source), missing_user_values={"x": ["a"]}, variable_value_labels={"x": {"a": "refused"}}
    )
    read = frames.read(str(source))
    assert ht.Table.encode(read, ["x"]).column("x").texts() == list("012345")
    out = tmp_path / "out.dta"
    assert released(source).write(out).passed
    after, meta = read_back(out)
    assert meta.missing_user_values == {"x": ["a"]}
    assert sorted(map(str, after["x"].to_list())) == sorted(map(str, read_back(source)[0]["x"].to_list()))


def test_tagged_missing_values_are_missing_cells_in_files_of_other_programs(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"qi": [0.0] * N, "x": ["a", 1.0, None, 2.5] * 10, "y": ["z", None] * 20}
    source = tmp_path / "in.dta"
    frame = pandas.DataFrame({name: pandas.Series(cells, dtype=object) for name, cells in columns.items()})
    pyreadstat.write_dta(frame.astype({"qi": float}), str(source), missing_user_values={"x": ["a"], "y": ["z"]})
    for ending in ENDINGS:
        out = tmp_path / f"out{ending}"
        assert released(source).write(out).passed
        after = frames.read(str(out))
        # A file of Stata declares them, as the source did.
        tagged, known = ([".a", "1", "2.5"], [".z"]) if ending == ".dta" else ([1.0, 2.5], [])
        assert sorted(after.column("x").drop_nulls().to_list()) == sorted(tagged * 10)
        assert after.column("y").drop_nulls().to_list() == known * 20


def test_dates_with_tagged_missing_values_are_dates(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    cells = {"day": ["a", 366.0, None, 731.0] * 10, "moment": ["b", 86_400_000.0, None, 1.0] * 10}
    frame = pandas.DataFrame({name: pandas.Series(each, dtype=object) for name, each in cells.items()})
    path = tmp_path / "in.dta"
    options = {
        "variable_format": {"day": "%td", "moment": "%tc"},
        "missing_user_values": {"day": ["a"], "moment": ["b"]},
    }
    pyreadstat.write_dta(frame, str(path), **options)
    read = frames.read(str(path))
    assert read.column("day").to_list() == [None, dt.date(1961, 1, 1), None, dt.date(1962, 1, 1)] * 10
    second = dt.datetime(1960, 1, 2)
    assert read.column("moment").to_list() == [None, second, None, dt.datetime(1960, 1, 1, 0, 0, 0, 1000)] * 10


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".xpt"])
def test_durations_stay_numbers_in_their_format(tmp_path: Path, ending: str) -> None:
    # More than a day, and less than nothing: no times of a day, which begin anew at midnight.
    table = with_ids(pl.DataFrame({"lasts": [3600.0 * (i - 1) for i in range(N)]}))
    source = made(tmp_path / f"in{ending}", table, variable_format={"lasts": "TIME8"})
    out = tmp_path / f"out{ending}"
    assert released(source).write(out).passed
    read = READ[ending]
    (before, _), (after, meta) = (read(str(path), disable_datetime_conversion=True) for path in (source, out))
    assert sorted(after["lasts"]) == sorted(before["lasts"])
    assert meta.original_variable_types["lasts"] == "TIME8"


def test_formats_stay_with_the_program_that_knows_them(tmp_path: Path) -> None:
    table = with_ids(pl.DataFrame({"coded": COLUMNS["age"], "day": COLUMNS["day"]}))
    source = made(tmp_path / "in.xpt", table, variable_format={"coded": "Z5", "day": "YYMMDD10"})
    formats = {}
    for ending in ENDINGS:
        out = tmp_path / f"out{ending}"
        assert released(source).write(out).passed
        shown = read_back(out)[1].original_variable_types
        formats[ending] = (shown["coded"], shown["day"])
    assert formats[".xpt"] == ("Z5", "YYMMDD10")
    assert formats[".sav"] == formats[".zsav"] == ("F8.0", "DATE11")
    assert formats[".dta"][1] == "%td"


def test_numbers_that_are_all_missing_stay_numbers(tmp_path: Path) -> None:
    source = made(tmp_path / "in.sav", with_ids(pl.DataFrame({"none": pl.Series([None] * N, dtype=pl.Float64)})))
    out = tmp_path / "out.sav"
    assert released(source).write(out).passed
    assert read_back(out)[1].readstat_variable_types["none"] == "double"


def test_long_codes_keep_their_labels(tmp_path: Path) -> None:
    table = with_ids(pl.DataFrame({"firm": ["a long text", "another"] * 20}))
    labels = {"firm": {"a long text": "label", "a gone text": "CANARY"}}
    source = made(tmp_path / "in.sav", table, variable_value_labels=labels)
    out = tmp_path / "out.sav"
    assert released(source).write(out).passed
    assert read_back(out)[1].variable_value_labels["firm"] == {"a long text": "label"}


def test_files_of_stata_are_in_the_format_that_every_edition_reads(tmp_path: Path) -> None:
    frames.write(frames.read(SURVEY), tmp_path / "out.dta")
    # 118 is that of Stata 14; 119 is for more columns than most editions hold.
    assert (tmp_path / "out.dta").read_bytes().startswith(b"<stata_dta><header><release>118</release>")


def test_labels_tell_what_coded_names_do_not(tmp_path: Path) -> None:
    people = ht.datasets.people(300)
    labels = {
        "name": "Name of the respondent",
        "birth_date": "Date of birth",
        "sex": "Sex",
        "postcode": "Postal code of the home address",
        "education": "Highest level of education completed",
        "marital_status": "Marital status",
        "occupation": "Current occupation",
        "nationality": "Nationality",
        "income": "Net income of the household per month",
        "diagnosis": "Main diagnosis (ICD-10)",
        "blood_pressure": "Systolic blood pressure",
    }
    coded = people.select(list(labels)).rename({name: f"V{i}" for i, name in enumerate(labels, start=1)})
    told = {f"V{i}": label for i, label in enumerate(labels.values(), start=1)}
    true = {"V2", "V3", "V4", "V5", "V6", "V7", "V8"}
    path = made(tmp_path / "in.sav", coded, column_labels=told)
    roles = ht.find_quasi_identifiers(str(path))
    found = {*roles.quasi_identifiers}
    assert 2 * len(found & true) / (len(found) + len(true)) >= 0.9
    assert roles.roles["V1"] == "identifier"
    assert roles.roles["V10"] == "sensitive"
    assert [each.label for each in roles.columns] == list(labels.values())


@pytest.mark.parametrize(
    ("ending", "columns"),
    [
        (".sav", {"two words": [1]}),
        (".sav", {"and": [1]}),
        (".sav", {"a": [1], "A": [2]}),
        (".dta", {"x" * 33: [1]}),
        (".dta", {"long": [1]}),
        (".xpt", {"é": [1]}),
        (".sav", {"x": [[1]]}),
        (".dta", {"x": [dt.timedelta(1)]}),
        (".dta", {"x": ["y" * 2_046]}),
    ],
)
def test_what_a_program_cannot_hold_is_refused(tmp_path: Path, ending: str, columns: dict[str, Any]) -> None:
    path = tmp_path / f"out{ending}"
    with pytest.raises(ht.ColumnError, match=r"cannot hold columns|has no cells"):
        frames.check_writable(frames.read(pl.DataFrame(columns)), path)


def test_what_is_no_such_file_is_refused_without_its_cells(tmp_path: Path) -> None:
    for ending in (".sav", ".dta", ".sas7bdat", ".xpt"):
        path = tmp_path / f"in{ending}"
        path.write_bytes(b"$FL2 secret of Ms Miller" * 20)
        with pytest.raises(ht.InputError, match="can be read as") as caught:
            frames.read(str(path))
        assert "Miller" not in str(caught.value)


def test_without_the_library_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "in.sav", SURVEY)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ht.InputError, match=r"hushtable\[stats\]"):
        frames.read(str(path))


def test_a_stream_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    for ending in (".sav", ".dta", ".xpt"):
        raw = made(tmp_path / f"in{ending}", SURVEY).read_bytes()
        assert frames.read_stream(raw, "-", frames.Dialect()).n_rows == N


def test_rows_that_are_made_up_have_no_labels_of_people(tmp_path: Path) -> None:
    frame = frames.read(str(made(tmp_path / "in.sav", SURVEY, **TOLD)))
    assert frame.variables
    drawn = frame.build_alike([pl.Series("V2", [1.0, 2.0])])
    assert drawn.variables == {}
    frames.write(drawn, tmp_path / "out.sav")
    assert b"CANARY" not in (tmp_path / "out.sav").read_bytes()
