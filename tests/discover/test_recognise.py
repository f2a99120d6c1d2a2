"""Proposed roles: every rule, and that no proposal quotes a cell."""

import datetime as dt
import json
from dataclasses import replace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hushtable.discover.recognise import find_quasi_identifiers
from hushtable.table import Table


def proposed(name, cells, **options):
    (found,) = find_quasi_identifiers(pl.DataFrame({name: pl.Series(cells, **options)})).columns
    return found


@pytest.mark.parametrize(
    "name",
    ["name", "Name", "first name", "FirstName", "first_name", "e-mail", "EMail", "phone", "IP", "home.address", "SSN"],
)
def test_names_of_identifiers(name):
    found = proposed(name, ["x", "x", "y"])
    assert found.role == "identifier"
    assert found.reason.startswith("its name says ")


@pytest.mark.parametrize(
    "name", ["age", "AGE", "ageYears", "birth_date", "sex", "zipCode", "ZIP", "marital-status", "native country"]
)
def test_names_of_quasi_identifiers(name):
    assert proposed(name, ["x", "x", "y"]).role == "quasi-identifier"


@pytest.mark.parametrize("name", ["salary", "monthly_income", "Diagnosis", "ICD10", "hivStatus", "capital-gain"])
def test_names_of_sensitive_columns(name):
    assert proposed(name, ["x", "x", "y"]).role == "sensitive"


@pytest.mark.parametrize("name", ["salary_name", "country name"])
def test_most_careful_word_of_a_name_counts(name):
    assert proposed(name, ["x", "x", "y"]).role == "identifier"


@pytest.mark.parametrize("name", ["agent", "sexton", "message", "page", "col1", "X", "1", "😀"])
def test_words_are_whole_words(name):
    assert proposed(name, ["x"] * 5).role == "other"


@pytest.mark.parametrize("name", ["village2image", "my.age", "AgeGroup", "age_2"])
def test_names_are_split_into_words(name):
    assert proposed(name, ["x"] * 5).role == "quasi-identifier"


LOOKS = {
    "an e-mail address": "canary{}@example.org",
    "a web address": "https://example.org/canary{}",
    "an IP address": "10.0.0.{}",
    "an IBAN": "DE8937040044053201300{}",
    "a US social security number": "123-45-678{}",
    "a UUID": "123e4567-e89b-12d3-a456-42661417400{}",
    "a telephone number": "+49 170 123456{}",
}


@pytest.mark.parametrize("name", ["patient", "patient_id", "PatientID", "person no", "id", "subjectid", "client-key"])
def test_whose_record_a_row_is_may_repeat(name):
    table = pl.DataFrame({name: [f"P{i % 40}" for i in range(100)]})
    (column,) = find_quasi_identifiers(table).columns
    assert column.role == "identifier"
    assert "write `person:" in column.warning


@pytest.mark.parametrize("name", ["patient_type", "zip_id", "member", "code"])
def test_a_few_kinds_of_people_are_no_persons(name):
    table = pl.DataFrame({name: [f"P{i % 4}" for i in range(100)]})
    assert find_quasi_identifiers(table).columns[0].role != "identifier"


@pytest.mark.parametrize("looks", LOOKS)
def test_looks_of_identifiers(looks):
    found = proposed("col", [LOOKS[looks].format(i % 5) for i in range(50)])
    assert (found.role, found.reason) == ("identifier", f"most of its cells look like {looks}")


def test_looks_go_before_the_name():
    assert proposed("age", ["a@b.org", "a@b.org"]).role == "identifier"


@pytest.mark.parametrize(("n_others", "role"), [(2, "identifier"), (3, "other")])
def test_most_cells_are_four_in_five_distinct_ones(n_others, role):
    cells = [f"a{i}@b.org" for i in range(10 - n_others)] + [f"other {i}" for i in range(n_others)]
    assert proposed("col", cells * 20).role == role


def test_looks_are_found_in_many_values():
    assert proposed("col", [f"a{i}@b.org" for i in range(5_000)]).reason.endswith("an e-mail address")


@pytest.mark.parametrize(
    ("cells", "role", "reason"),
    [
        ([None, None], "other", "it holds no value"),
        (["", "  "], "other", "it holds no value"),
        (["x"] * 9, "other", "it holds a single value"),
        ([f"text {i}" for i in range(9)], "identifier", "text, and nearly every value occurs once"),
        ([f"text {i}" for i in range(9)] + ["text 0"], "identifier", "text, and nearly every value occurs once"),
        (list(range(9)), "quasi-identifier", "nearly every value occurs once"),
        ([dt.date(2020, 1, 1)] * 3, "quasi-identifier", "a date, which others may know"),
        ([dt.datetime(2020, 1, 1)] * 3, "quasi-identifier", "a date, which others may know"),
        (["u", "v", "w"] * 2, "quasi-identifier", "a category with many values for so few records"),
        (["u", "v"] * 50, "other", "nothing about its name or cells stands out"),
        ([1.5, 2.5] * 50, "other", "nothing about its name or cells stands out"),
        ([True, False] * 50, "other", "nothing about its name or cells stands out"),
    ],
)
def test_rules_for_cells(cells, role, reason):
    found = proposed("col", cells)
    assert (found.role, found.reason) == (role, reason)


@pytest.mark.parametrize(
    ("cells", "role"), [(list(range(20)), "identifier"), ([1, 2] * 10, "other"), (["p1", "p2"] * 50, "other")]
)
def test_id_in_the_name_counts_where_values_are_unique(cells, role):
    assert proposed("patient_id", cells).role == role


def test_one_record_is_not_nearly_unique():
    assert proposed("col", ["only"]).reason == "it holds a single value"


def test_missing_cells_do_not_hide_uniqueness():
    found = proposed("col", [f"text {i}" for i in range(9)] + [None] * 50)
    assert (found.role, found.n_distinct, found.n_missing) == ("identifier", 9, 50)


def test_counts_are_records():
    table = Table.encode(pl.DataFrame({"col": ["x", "y", None]}))
    table = replace(table, counts=table.counts * 40)
    (found,) = find_quasi_identifiers(table).columns
    assert (found.role, found.n_missing) == ("other", 40)


@pytest.mark.parametrize(
    ("cells", "alike"),
    [
        (["F", "f ", "Ｆ"], 2),
        (["F", "M"], 0),
        (["New  York", "new york", "NEW YORK ", "Boston"], 2),
        (["STRASSE", "Straße"], 1),
        (["é", "e\u0301"], 1),
        (["1", "1 "], 1),
    ],
)
def test_near_duplicate_categories_are_warned_of(cells, alike):
    expected = f"{alike} values differ from another only in case or spaces" if alike else ""
    assert proposed("col", cells * 9).warning == expected


@pytest.mark.parametrize("cells", [[1, 2], [1.5, 2.5], [dt.date(2020, 1, 1)], [None]])
def test_measured_columns_have_no_spellings(cells):
    assert proposed("col", cells).warning == ""


SECRETS = {
    "plain": ["canary-a", "canary-b", "CANARY-B "],
    "mail": ["canary@a.org", "canary@b.org", "canary@c.org"],
    "salary": ["canary 1", "canary 2", "canary 3"],
    "age": ["canary 1", "Canary 1", "canary 1 "],
    "id": ["canary 1", "canary 2", "canary 3"],
    "number": [739_101, 739_102, 739_103],
    "day": [dt.date(1973, 9, 1), dt.date(1973, 9, 2), dt.date(1973, 9, 3)],
    "lone": ["canary"] * 3,
}


def test_proposals_quote_no_cell():
    roles = find_quasi_identifiers(pl.DataFrame(SECRETS))
    shown = repr(roles) + json.dumps(roles.to_dict()) + roles._repr_html_() + str(dict(roles.roles))
    assert not any(secret in shown for secret in ("canary", "CANARY", "Canary", "7391", "1973"))


def test_roles_of_a_whole_table():
    roles = find_quasi_identifiers(pl.DataFrame({"name": ["x", "y"], "age": [1, 1], "pay": [1, 2], "zip": ["1", "1"]}))
    assert list(roles.roles) == [column.name for column in roles.columns] == ["name", "age", "pay", "zip"]
    assert roles.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "pay": "sensitive",
        "zip": "quasi-identifier",
    }
    assert roles.quasi_identifiers == ("age", "zip")


def test_dataframe_library_changes_nothing(tmp_path):
    table = pl.DataFrame({name: cells for name, cells in SECRETS.items() if name != "day"})
    expected = find_quasi_identifiers(table)
    assert find_quasi_identifiers(pd.DataFrame(table.to_dict(as_series=False))) == expected
    assert find_quasi_identifiers(pa.table(table.to_dict(as_series=False))) == expected
    assert find_quasi_identifiers(Table.encode(table)) == expected
    table.write_csv(tmp_path / "t.csv")
    assert find_quasi_identifiers(tmp_path / "t.csv") == expected


@pytest.mark.parametrize("n_columns", [0, 2])
def test_empty_table(n_columns):
    table = pl.DataFrame({f"c{j}": [] for j in range(n_columns)}, schema={f"c{j}": pl.String for j in range(n_columns)})
    roles = find_quasi_identifiers(table)
    assert [column.reason for column in roles.columns] == ["it holds no value"] * n_columns


def test_html_escapes_column_names():
    shown = find_quasi_identifiers(pl.DataFrame({"<script>alert(1)</script>": ["x"]}))._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
