"""Columns of bounds: numbers and dates beside the cells, from the cells alone, in every file, and judged."""

import datetime as dt
import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pyreadstat
import pytest

import hushtable as ht
from command import done, run
from hushtable.anonymizers import beyond_memory
from hushtable.claims import claim_from_models
from hushtable.columns import ColumnSpec, bound_names
from hushtable.columns.cell_bounds import find_bounds
from hushtable.errors import ColumnError, InputError
from hushtable.models import KAnonymity
from twins import naive_bounds

CELLS = {
    "integer": "34 -3 [17,_25) [17,_24] [-3,_4] <20 >=90 * [2.5,_5) [0,_2.5) "
    '["31",_"34"] ["31",_""] [""] ["[20,_30)",_"40"] ["<3",_"9"]',
    "decimal": '[0.5,_1) [0.1,_0.3] 1.5 -3 <0.1 >=-2.25 ["0.5",_"0.7"] ["0.5",_"[0.7,_1)"]',
    "date": "1960s 2024-Q2 2024-02 2024-02-29 [1958,_1969) [1958-Q2,_1958-Q4] [1958-04,_1959-01) <1990-02 >=2016 9999 "
    '0001-01-01 ["1990",_"1992-02-01"]',
    "datetime": "2024-02-03_10:00:00 2024-02-03 2024-02 1960s [2024-01-01_10:00:00,_2024-03) <2020 "
    "[2024-01-01_10:00:00,_2024-01-01_11:00:00.500000]",
    "time": "08:00 [08:00,_12:00) >=18:00 <07:00:05 [08:00,_09:00]",
}  # fmt: skip
UNREADABLE = ["young", "3*", "[20*, 45*]", "2024-02-30", "[1, 2, 3]", "[]", "9" * 30, "12e3", "now"]
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=900 * i) for i in range(24)]
PEOPLE = pl.DataFrame(
    {
        "age": [None, *range(20, 43)],
        "income": [250.5 * i for i in range(24)],
        "born": DAYS,
        "ward": ["a", "b"] * 12,
        "pay": range(24),
    }
)
ASKED = {"quasi_identifiers": ["age", "income", "born", "ward"], "models": [KAnonymity(3)], "roles": "trust"}
ROLES = {"age": "quasi-identifier", "income": "quasi-identifier", "born": "quasi-identifier", "ward": "other"}
RULES = {
    "columns": {**ROLES, "pay": "other"},
    "models": [{"k-anonymity": 3}],
    "limits": {"exposure": {"rate": 1}},
    "write": {"bounds": True},
}
BOUNDS = ["age_from", "age_to", "income_from", "income_to", "born_from", "born_to"]


@pytest.fixture(scope="module")
def release():
    return ht.anonymize(PEOPLE, method=ht.Mondrian(recoding="readable"), **ASKED).with_bounds()


@pytest.mark.parametrize("kind", CELLS)
def test_bounds_are_those_of_a_twin_that_tries_values(kind):
    cells = [cell.replace("_", " ") for cell in CELLS[kind].split(" ")]
    told = dict(zip(cells, map(tuple, find_bounds(cells, kind)), strict=True))
    expected = {cell: naive_bounds.bounds(cell, kind) for cell in cells}
    # A column has no value beyond the years 1 to 9999.
    assert told == expected
    assert find_bounds([None], kind) == [(None, None)]


def test_equal_intervals_have_equal_bounds():
    closed, half_open = find_bounds(["[17, 24]", "[17, 25)"], "integer")
    assert closed == half_open == (17, 24)


@pytest.mark.parametrize("kind", CELLS)
def test_what_cannot_be_read_has_no_bounds(kind):
    unread = [cell for cell in UNREADABLE if (kind, cell) != ("decimal", "9" * 30)]
    assert find_bounds(unread, kind) == [(None, None)] * len(unread)


def lies_between(frame, name):
    """Tell whether every value of PEOPLE lies between its bounds."""
    values = PEOPLE[name].cast(frame[f"{name}_from"].dtype)
    return bool((values >= frame[f"{name}_from"]).all() and (values <= frame[f"{name}_to"]).all())


@pytest.mark.parametrize("recoding", ["readable", "tight", "cut", "label", "set"])
def test_every_value_lies_between_its_bounds(recoding):
    release = ht.anonymize(PEOPLE, method=ht.Mondrian(recoding=recoding), **ASKED).with_bounds()
    frame = release.frame
    assert frame.columns == [*("age", *BOUNDS[:2]), *("income", *BOUNDS[2:4]), *("born", *BOUNDS[4:]), "ward", "pay"]
    assert frame.select(BOUNDS).dtypes == [pl.Int64] * 2 + [pl.Float64] * 2 + [pl.Date] * 2
    assert all(lies_between(frame, name) for name in ("age", "income", "born"))
    for name, kind in (("age", "integer"), ("income", "decimal"), ("born", "date")):
        expected = [naive_bounds.bounds(cell, kind) for cell in frame[name].to_list()]
        assert [*zip(*(frame[each].to_list() for each in bound_names(name)), strict=True)] == expected
    verdict = release.verify()
    assert verdict.passed
    assert "bounds follow from the cells of age, income and born" in verdict.held


def to_pandas(frame):
    # Without types of pyarrow, a missing cell makes decimals of whole numbers.
    return frame.to_pandas(use_pyarrow_extension_array=True)


@pytest.mark.parametrize("as_kind", [to_pandas, pl.DataFrame.to_arrow, ht.Table.encode])
def test_every_kind_of_table_has_them(release, as_kind):
    found = ht.anonymize(as_kind(PEOPLE), method=ht.Mondrian(recoding="readable"), **ASKED).with_bounds()
    assert found.verify().passed
    frame = found.frame.decode() if isinstance(found.frame, ht.Table) else found.frame
    told = pl.DataFrame(frame) if not isinstance(frame, pd.DataFrame) else pl.from_pandas(frame)
    expected = release.frame
    for name in BOUNDS:
        assert told[name].cast(expected[name].dtype).to_list() == expected[name].to_list()


def forged(frame, name, row, value):
    cells = frame[name].to_list()
    cells[row] = value
    return frame.with_columns(pl.Series(name, cells, dtype=frame[name].dtype))


@pytest.mark.parametrize(
    ("name", "value"), [("age_from", 33), ("age_to", None), ("income_to", 17.25), ("born_from", dt.date(1950, 1, 2))]
)
def test_a_bound_that_does_not_follow_from_its_cell_fails(release, name, value):
    row = next(i for i, each in enumerate(release.frame[name].to_list()) if each not in (None, value))
    fake = forged(release.frame, name, row, value)
    verdict = release.claim.verify(fake)
    (failure,) = verdict.failures
    assert str(failure) == f"bounds follow from the cells of age, income and born: 1 of {name.split('_')[0]} do not"
    assert failure.rows(fake).tolist() == [row]


def test_an_open_end_must_stay_empty_and_a_column_must_be_there(release):
    row = release.frame["age_from"].to_list().index(None)
    assert not release.claim.verify(forged(release.frame, "age_from", row, 20)).passed
    assert "lacks column 'age_to'" in str(release.claim.verify(release.frame.drop("age_to")).failures[0])


def test_without_the_kind_of_a_column_nothing_is_judged(release):
    claim = replace(claim_from_models(["age"], [KAnonymity(3)]), bounds=("age",))
    verdict = claim.verify(release.frame)
    assert not verdict.complete
    (lack,) = verdict.unchecked.values()
    assert lack == "the kind of column 'age' is not known: verify with the manifest, or say it in the policy"
    assert replace(claim, specs={"age": ColumnSpec("integer")}).verify(release.frame).complete


def read_back(path):
    """Read a file with the program that others use for it."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".xlsx":
        return pl.read_excel(path).to_pandas()
    return {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}[path.suffix](path)[
        0
    ]


@pytest.mark.parametrize("ending", [".parquet", ".xlsx", ".sav", ".dta", ".xpt"])
def test_other_programs_read_numbers_and_dates(release, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    release.write(path, keep_order=True)
    found = read_back(path)
    for name in BOUNDS:
        expected = release.frame[name].to_list()
        cells = [None if pd.isna(cell) else cell for cell in found[name].tolist()]
        dates = [cell.date() if isinstance(cell, dt.datetime) else cell for cell in cells]
        assert dates == expected
        assert {type(cell) for cell in dates if cell is not None} <= ({dt.date} if "born" in name else {int, float})


def test_openpyxl_reads_numbers_and_dates(release, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    release.write(tmp_path / "out.xlsx")
    titles, *rows = openpyxl.load_workbook(tmp_path / "out.xlsx").active.values
    types = {name: {type(row[titles.index(name)]) for row in rows} - {type(None)} for name in BOUNDS}
    numbers = dict.fromkeys(BOUNDS[:4])
    assert all(types[name] <= {int, float} for name in numbers)
    assert types["born_from"] == types["born_to"] == {dt.datetime}


def test_a_csv_has_them_with_the_decimal_mark_of_the_file(release, tmp_path):
    verdict = release.write(tmp_path / "out.csv", decimal=",")
    assert verdict.passed
    found = pd.read_csv(tmp_path / "out.csv", decimal=",", parse_dates=["born_from", "born_to"])
    assert found.dtypes[["age_from", "income_from", "income_to"]].tolist() == [np.float64] * 3
    assert found["born_to"].dtype.kind == "M"
    assert run("verify", tmp_path / "out.csv").code == 0


def test_the_codebook_says_what_they_are(release, tmp_path):
    release.write(tmp_path / "out.csv")
    book = json.loads((tmp_path / "out.csv.codebook.json").read_text())
    entries = {each["name"]: each for each in book["columns"]}
    assert [*entries] == release.frame.columns
    assert entries["age_to"] == {
        "name": "age_to",
        "kind": "integer",
        "role": "bound",
        "how": "the largest value that the cell of age admits; empty if the cell names none",
    }
    assert "or the limit that its values stay below" in entries["income_to"]["how"]


def test_they_say_nothing_of_the_data():
    # Two tables that publish equal cells publish equal bounds.
    one, other = (pl.DataFrame({"age": ages}) for ages in ([21, 22, 48, 49], [20, 29, 41, 50]))
    cells = {"quasi_identifiers": ["age"], "models": [KAnonymity(2)], "roles": "trust"}
    cells["hierarchies"] = {"age": ht.Hierarchy.intervals([30])}
    told = [ht.anonymize(each, method="full_domain", **cells).with_bounds().frame for each in (one, other)]
    assert told[0].equals(told[1])


def test_labels_of_a_hierarchy_of_ones_own_have_none():
    ladder = ht.Hierarchy.from_dict({"tree": {"young": ["21", "22"], "old": ["48", "49"]}}, "age")
    table = pl.DataFrame({"age": [21, 22, 48, 49], "size": [1, 2, 8, 9]})
    asked = {"models": [KAnonymity(2)], "hierarchies": {"age": ladder}, "roles": "trust"}
    release = ht.anonymize(table, quasi_identifiers=["age", "size"], **asked).with_bounds()
    assert release.frame.columns == ["age", "size", "size_from", "size_to"]
    with pytest.raises(InputError, match="no quasi-identifier has any: 'age'"):
        ht.anonymize(table, quasi_identifiers=["age"], **asked).with_bounds()


def test_central_values_have_none():
    release = ht.anonymize(PEOPLE, method=ht.Mondrian(recoding="central"), **ASKED)
    with pytest.raises(InputError, match="central"):
        release.with_bounds()


def never_search(monkeypatch):
    def search(*_):
        raise AssertionError("it was searched")

    monkeypatch.setattr(ht.Mondrian, "search", search)


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_name_that_is_taken_is_refused_before_the_search(tmp_path, monkeypatch, is_folder):
    never_search(monkeypatch)
    data = PEOPLE.rename({"pay": "age_to"})
    if is_folder:
        (tmp_path / "in").mkdir()
        data.write_parquet(tmp_path / "in" / "0.parquet")
        data = tmp_path / "in"
    rules = ht.Policy.parse(json.dumps({**RULES, "columns": {**ROLES, "age_to": "other"}}))
    with pytest.raises(ColumnError, match="'age_to', as another column is") as caught:
        rules.protect(data)
    assert "rename 'age_to' in the input, or leave `bounds` out" in caught.value.hint


def test_what_cannot_have_bounds_is_refused_before_the_search(monkeypatch):
    never_search(monkeypatch)
    of_ward = {"columns": dict.fromkeys(ROLES, "other") | {"ward": "quasi-identifier", "pay": "other"}}
    with pytest.raises(InputError, match="no quasi-identifier has any: 'ward'"):
        ht.Policy.parse(json.dumps(RULES | of_ward)).protect(PEOPLE)
    with pytest.raises(InputError, match="central"):
        ht.Policy.parse(json.dumps({**RULES, "method": {"mondrian": {"recoding": "central"}}})).protect(PEOPLE)


@pytest.mark.parametrize("most", [beyond_memory.MOST_COUNTED, 1])
def test_a_folder_has_them(tmp_path, monkeypatch, most):
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", most)
    source = tmp_path / "in"
    source.mkdir()
    PEOPLE.write_parquet(source / "0.parquet")
    release = ht.Policy.parse(json.dumps(RULES)).protect(source)
    assert release.is_row_by_row == (most == 1)
    assert release.write(tmp_path / "out").passed
    written = pl.from_arrow(pq.read_table(tmp_path / "out")).sort("pay")
    assert written.columns[:3] == ["age", "age_from", "age_to"]
    assert all(lies_between(written, name) for name in ("age", "income", "born"))
    assert "bounds follow from the cells" in done("verify", tmp_path / "out").out


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_lazy_frame_has_them(engine):
    with duckdb.connect() as connection:
        data = PEOPLE.lazy() if engine == "polars" else connection.from_arrow(PEOPLE.to_arrow())
        session = None if engine == "polars" else connection
        release = ht.Policy.parse(json.dumps(RULES)).protect(data, session=session)
        assert release.verify().passed
        frame = release.frame.collect() if engine == "polars" else pl.DataFrame(release.frame.pl())
    assert frame.columns[:3] == ["age", "age_from", "age_to"]
    assert all(lies_between(frame.sort("pay"), name) for name in ("age", "income", "born"))


def test_the_next_batch_has_them_as_the_first(tmp_path):
    release = ht.Policy.parse(json.dumps(RULES)).protect(PEOPLE)
    release.save_recoding(tmp_path / "recoding.json")
    for later in (release.apply(PEOPLE), ht.Recoding.read(tmp_path / "recoding.json").apply(PEOPLE)):
        assert later.verify().passed
        assert later.frame.columns == release.frame.columns
        assert all(lies_between(later.frame, name) for name in ("age", "income", "born"))


def test_the_command_writes_and_judges_them(tmp_path):
    PEOPLE.write_csv(tmp_path / "in.csv")
    policy, out = tmp_path / "policy.yaml", tmp_path / "out.csv"
    policy.write_text(json.dumps({**RULES, "write": {}}))
    done("anonymize", tmp_path / "in.csv", "-o", out, "-p", policy, "--bounds")
    assert "bounds follow from the cells of age, income and born" in done("verify", out, "-p", policy).out
    with_bounds = tmp_path / "bounds.yaml"
    with_bounds.write_text(json.dumps(RULES))
    # Without a manifest nobody says which kind a column had.
    judged = run("verify", out, "-p", with_bounds, "--no-manifest")
    assert judged.code == 1
    assert "the kind of column 'age' is not known" in judged.out
    assert run("verify", out, "-p", policy, "--no-manifest").code == 2
    told = done("utility", tmp_path / "in.csv", out, "-p", policy).out
    assert "age_from" not in told
    page = tmp_path / "report.html"
    done("report", out, "--original", tmp_path / "in.csv", "-p", policy, "-o", page)
    assert "age_from among them" not in page.read_text()
