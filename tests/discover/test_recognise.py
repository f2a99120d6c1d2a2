"""Proposed roles: every rule, that order does not count, and that no proposal quotes a cell."""

import datetime as dt
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import hushtable as ht
from hushtable.discover.recognise import find_quasi_identifiers
from hushtable.errors import InputError
from hushtable.tables.table import Table


def proposed(name, cells, **options):
    """Return what is proposed of a column alone in a table of persons."""
    (found,) = find_quasi_identifiers(pl.DataFrame({name: cells}, strict=False), of_persons=True, **options).columns
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


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("income sex", "quasi-identifier"),
        ("salary_country_mail", "identifier"),
        ("diagnosis year", "sensitive"),
        ("patient name", "identifier"),
        ("mother_name", "identifier"),
        ("country name", "quasi-identifier"),
        ("school_name", "quasi-identifier"),
        ("salary_name", "sensitive"),
        ("patient age", "quasi-identifier"),
    ],
)
def test_most_careful_word_of_a_name_counts(name, role):
    assert proposed(name, ["x", "x", "y"]).role == role


@pytest.mark.parametrize("name", ["agent", "sexton", "message", "page", "storage", "col1", "X", "1", "😀"])
def test_words_are_whole_words(name):
    assert proposed(name, ["x", "y"] * 5).role == "ask"


@pytest.mark.parametrize("name", ["village2image", "my.age", "AgeGroup", "age_2", "AGEGRP", "hhsize"])
def test_names_are_split_into_words(name):
    assert proposed(name, ["x", "y"] * 5).role == "quasi-identifier"


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
    assert f"`person: {name}`" in column.warning
    assert find_quasi_identifiers(table).person == name


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


@pytest.mark.parametrize(("n_others", "role"), [(2, "identifier"), (3, "ask")])
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
        ([f"{i:06}" for i in range(0, 4000, 37)], "identifier", "text, and nearly every value occurs once"),
        (list(range(9)), "identifier", "it numbers the records"),
        (list(range(1, 40)), "identifier", "it numbers the records"),
        (list(range(7000, 7060)), "ask", "a number that many records have for themselves"),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "quasi-identifier", "a date, which others may know"),
        ([dt.datetime(2020, 1, 1, 3), dt.datetime(2021, 1, 1)], "quasi-identifier", "its cells are moments, which"),
        (
            [dt.date(1950 + i, 1, 1) for i in range(50)],
            "quasi-identifier",
            "its cells are dates over more than 30",
        ),
        (["u", "v", "w"] * 2, "ask", "categories that nothing is known of"),
        ([7, 8] * 50, "ask", "codes that nothing is known of"),
        (list(range(100, 130)) * 10, "ask", "numbers that nothing is known of"),
        ([0.5 + i for i in range(30)] * 10, "other", "a measured number, which others rarely know"),
        ([f"{i},5" for i in range(30)] * 10, "other", "a measured number, which others rarely know"),
        (["f", "m"] * 50, "quasi-identifier", "most of its cells are listed as a sex"),
    ],
)
def test_rules_for_cells(cells, role, reason):
    found = proposed("col", cells)
    assert found.role == role
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("cells", "role"), [(list(range(20)), "identifier"), ([1, 2] * 10, "ask"), (["p1", "p2"] * 50, "ask")]
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
    (found,) = find_quasi_identifiers(table, of_persons=True).columns
    assert (found.role, found.n_missing) == ("ask", 40)


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
    expected = f"{alike} values differ from another only in case, spaces or width" if alike else ""
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
    roles = find_quasi_identifiers(pl.DataFrame({"name": ["x", "y"], "age": [1, 2], "pay": [1, 2], "zip": ["1", "2"]}))
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


def people(**columns):
    """Return a table that is about persons, with some more columns; ages stand in it for what others know."""
    ages = [20 + i * 7 % 50 for i in range(400)]
    return pl.DataFrame({"age": ages, **{name: cells * (400 // len(cells)) for name, cells in columns.items()}})


def roles_of(table, **options):
    return dict(find_quasi_identifiers(table, **options).roles)


def test_what_few_differ_in_is_asked():
    column = find_quasi_identifiers(people().with_columns(sex=pl.Series(["f"] * 399 + ["m"]))).columns[1]
    assert column.role == "ask"
    assert column.reason == "its name says 'sex', but distinguishes hardly anyone"


def test_at_most_a_third_is_asked():
    # Drawn, so that nothing follows from anything, and each as often.
    cells = {f"v{i}": ["x", "y", "z", "u"][: 2 + i % 3 % 2 * 2] * (200 - i % 3 % 2 * 100) for i in range(8)}
    roles = find_quasi_identifiers(people(**{name: Random(name).sample(each, 400) for name, each in cells.items()}))
    assert len(roles.ask) == 3
    assert sum(column.reason.endswith("; not asked, as others come first") for column in roles.columns) == 5


def test_twins_have_one_share_and_one_role():
    table = people(education=["lo", "mid", "hi", "top", "mid"], v7=[1, 2, 3, 4, 2])
    age, education, twin = find_quasi_identifiers(table).columns
    assert twin.role == education.role == "quasi-identifier"
    assert twin.reason == "says the same as 'education', one to one"
    assert twin.power == education.power == pytest.approx(1 - age.power)
    alone = find_quasi_identifiers(table.drop("v7")).columns
    assert education.power == alone[1].power


def test_weights_are_asked_and_known_to_nobody():
    column = find_quasi_identifiers(people().with_columns(fnlwgt=pl.int_range(400) * 977 + 12285)).columns[1]
    assert (column.role, column.knowable_by, column.power) == ("ask", "nobody", 0.0)


def test_powers_sum_to_one():
    roles = find_quasi_identifiers(ht.datasets.people(500, seed=0))
    assert sum(column.power for column in roles.columns) == pytest.approx(1)
    assert all(0 <= column.score <= 1 and 0 <= column.power <= 1 for column in roles.columns)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["age"], True),
        (["customer_id", "price", "sku", "brand", "stock"], True),
        (["date", "time", "value"], True),
        (["name"], True),
        (["date", "temperature", "pressure"], False),
        (["name", "price", "brand"], False),
        (["doors", "safety", "persons"], False),
        (["v0", "v1"], False),
    ],
)
def test_tables_of_persons(columns, expected):
    cells = {name: [10 * j + i * (j + 2) % 13 for i in range(60)] for j, name in enumerate(columns)}
    roles = find_quasi_identifiers(pl.DataFrame(cells))
    assert roles.of_persons is expected
    assert roles.persons_reason
    assert expected or (set(roles.roles.values()) == {"other"} and not roles.ask)


def test_moments_at_one_pace_are_a_machines():
    start = dt.datetime(2024, 1, 1)
    paced = [start + i * dt.timedelta(minutes=10) for i in range(300)]
    by_chance = [start + i * i * dt.timedelta(minutes=10) for i in range(300)]
    for column in (pl.Series(paced), pl.Series(paced).dt.strftime("%Y-%m-%d %H:%M")):
        assert not find_quasi_identifiers(pl.DataFrame({"v0": column})).of_persons
    assert find_quasi_identifiers(pl.DataFrame({"v0": by_chance})).quasi_identifiers == ("v0",)


def test_you_may_say_what_the_rows_are():
    table = pl.DataFrame({"v0": ["x", "y"] * 9})
    assert find_quasi_identifiers(table, of_persons=True).ask == ("v0",)
    refused = find_quasi_identifiers(pl.DataFrame({"age": [1, 2]}), of_persons=False)
    assert refused.roles == {"age": "other"}
    assert refused.persons_reason == "declared as not about persons"


def test_words_of_your_own_come_first(tmp_path):
    table = people(wiek=[1, 2, 3, 4], Vorname_kod=["a", "b"], country=["x", "y"], zarobki=[1, 2])
    words = {"wiek": "age", "kod": "other", "country": "sensitive", "zarobki": "income"}
    (tmp_path / "words.tsv").write_text(
        "# mine\n\nwiek, lata\tage\r\nKod\tother\ncountry\tsensitive\nzarobki\tincome\n", encoding="utf-8-sig"
    )
    expected = {"age": "quasi-identifier", "wiek": "quasi-identifier", "Vorname_kod": "other"} | dict.fromkeys(
        ("country", "zarobki"), "sensitive"
    )
    assert roles_of(table, words=words) == roles_of(table, words=tmp_path / "words.tsv") == expected


@pytest.mark.parametrize("line", ["wiek age", "wiek\tages", "wiek\tage\tmore", "wiek\t"])
def test_wrong_words_are_refused(tmp_path, line):
    (tmp_path / "words.tsv").write_text(f"# mine\n{line}\n")
    with pytest.raises(InputError, match=r"(?s)line 2 of words.tsv has .*one of identifier"):
        find_quasi_identifiers(people(), words=tmp_path / "words.tsv")


@pytest.mark.parametrize("words", [7, "nowhere.tsv", {"wiek": "old"}])
def test_words_that_are_none_are_refused(words):
    with pytest.raises(InputError):
        find_quasi_identifiers(people(), words=words)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_frame_of_the_proposals_is_of_the_library_of_the_data(make):
    table = make({"age": [31, 52], "e-mail": ["a@b.org", "c@d.org"]})
    roles = find_quasi_identifiers(table)
    frame = roles.to_frame()
    assert type(frame) is type(table)
    assert list(pl.DataFrame(frame)["role"]) == list(roles.roles.values()) == ["quasi-identifier", "identifier"]
    assert roles.identifiers == ("e-mail",)


def by_name(table):
    roles = find_quasi_identifiers(table)
    return {column.name: column for column in roles.columns}, roles.of_persons, roles.persons_reason


@pytest.mark.parametrize("seed", [0, 1])
def test_order_of_rows_and_columns_changes_nothing(seed):
    table = ht.datasets.people(600, seed=1).with_columns(v1=pl.int_range(600) % 7, v2=pl.int_range(600) % 7 * 3)
    columns = table.columns
    random.Random(seed).shuffle(columns)
    assert by_name(table.select(columns).sample(600, shuffle=True, seed=seed)) == by_name(table)


ODD_NAMES = ["age", "^a.*$", "*", "🦔", "Größe [cm]", "a\tb", "出生日期", "x" * 300, "İd", "ﬁle id", "idid" * 30]
ODD_CELLS = [None, "", " ", "0", "1e999", "1,5", "2024-02-30", "01.02.2024", "٣", "\x00", "f", "m", "7" * 400, "18-25"]


@st.composite
def odd_tables(draw):
    names = draw(st.lists(st.sampled_from(ODD_NAMES), min_size=1, max_size=4, unique=True))
    n_rows = draw(st.integers(0, 6))
    one_type = [st.sampled_from(ODD_CELLS), st.integers(-(2**60), 2**60), st.floats(allow_infinity=False), st.none()]
    return pl.DataFrame(
        [
            pl.Series(name, draw(st.lists(draw(st.sampled_from(one_type)), min_size=n_rows, max_size=n_rows)))
            for name in names
        ]
    )


@given(odd_tables(), st.sampled_from([None, True]))
def test_odd_tables_get_a_role_for_every_column(table, of_persons):
    roles = find_quasi_identifiers(table, of_persons=of_persons)
    assert [column.name for column in roles.columns] == table.columns
    assert all(column.reason and np.isfinite([column.score, column.power]).all() for column in roles.columns)
    assert len(roles.ask) <= max(1, len(table.columns) // 3)
    assert json.loads(json.dumps(roles.to_dict()))["of_persons"] == roles.of_persons


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(["canary one", "1967-11-09 canary", "canary@example.org", "77431"]), min_size=1, max_size=9
    )
)
def test_no_cell_is_quoted(cells):
    for name in ("col", "age", "date", "id"):
        roles = find_quasi_identifiers(pl.DataFrame({name: cells}), of_persons=True)
        shown = repr(roles) + roles._repr_html_() + json.dumps(roles.to_dict()) + str(roles.to_frame())
        assert not any(secret in shown for secret in ("canary", "1967", "77431"))


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
FLOORS = {"made up": 0.85, "E": 0.9, "P": 0.85, "E renamed": 0.6}


@pytest.mark.parametrize("truth", FLOORS)
def test_proposals_are_near_the_truth(truth, shared_file):
    truths = pytest.importorskip("roles_truth", reason="the benchmarks are not part of a source distribution")
    real = pytest.importorskip("roles_real")
    if truth == "made up":
        cases = {name: make() for name, make in pytest.importorskip("roles_tables").TABLES.items()}
        judged = truths.TRUTHS
    else:
        judged = real.TRUTH_P if truth == "P" else real.TRUTH_E
        data = shared_file("data/uci/car.csv").parents[1]
        cases = {name: real.read_real(name, data=data) for name in judged}
    if truth == "E renamed":
        cases = {name: truths.renamed(table) for name, table in cases.items()}
        judged = {name: each.renamed() for name, each in judged.items()}
    found = {name: find_quasi_identifiers(table) for name, table in cases.items()}
    scores = [truths.f1(roles.quasi_identifiers, judged[name]) for name, roles in found.items()]
    assert sum(scores) / len(scores) >= FLOORS[truth]
    assert all(len(roles.ask) <= len(cases[name].columns) / 3 for name, roles in found.items())
    assert not any(roles.ask for name, roles in found.items() if not judged[name].of_persons)


def passengers(n: int = 300) -> pl.DataFrame:
    """Passengers of an airline, who rated its services from 0 to 5."""
    draw = random.Random(0)
    asked = (
        "Gate location",
        "Inflight wifi service",
        "Departure/Arrival time convenient",
        "Seat comfort",
        "Check-in unit",
    )
    rated = {name: [i % 6 if i < 6 else draw.randint(0, 5) for i in range(n)] for name in asked}
    told = {
        "Gender": [draw.choice(("Male", "Female")) for _ in range(n)],
        "Age": [draw.randint(7, 85) for _ in range(n)],
    }
    return pl.DataFrame(
        {
            **told,
            "Customer Type": [draw.choice(("Loyal Customer", "disloyal Customer")) for _ in range(n)],
            "Class": [draw.choice(("Eco", "Eco Plus", "Business")) for _ in range(n)],
            **rated,
            "Departure Delay in Minutes": [draw.randint(0, 200) for _ in range(n)],
        }
    )


def test_answers_on_one_scale_are_not_what_others_know():
    roles = ht.find_quasi_identifiers(passengers())
    assert roles.quasi_identifiers == ("Gender", "Age", "Customer Type", "Class")
    rated = [column for column in roles.columns if column.topic == "answer"]
    assert len(rated) == 5
    assert all(column.role == "other" and "one of 5 columns on one scale up to 5" in column.reason for column in rated)


def test_a_region_is_no_answer_and_four_columns_are_no_list_of_questions():
    table = passengers().rename({"Gate location": "region"})
    assert ht.find_quasi_identifiers(table).roles["region"] == "quasi-identifier"
    assert not [column for column in ht.find_quasi_identifiers(table).columns if column.topic == "answer"]


@pytest.mark.parametrize("separator", [";", "|", ", "])
def test_several_codes_in_a_cell_are_told(separator):
    draw = random.Random(0)
    codes = ["I10", "E11", "F32", "J44", "M54", "N40"]
    lists = [separator.join(draw.sample(codes, draw.randint(1, 3))) for _ in range(200)]
    roles = find_quasi_identifiers(pl.DataFrame({"codes": lists, "age": range(200)}))
    told = next(each.warning for each in roles.columns if each.name == "codes")
    assert "several codes each" in told
    assert not any(code in told for code in codes)


def test_names_and_sentences_are_no_lists_of_codes():
    names = ["Miller, Ann", "Smith, Bob", "Jones, Cy"] + [f"Name{i}, First{i}" for i in range(40)]
    places = [f"Street {i}, Town {i % 3}" for i in range(43)]
    roles = find_quasi_identifiers(pl.DataFrame({"who": names, "where": places}))
    assert not any("several codes" in each.warning for each in roles.columns)
