"""Cells of one ladder of nested units a column, and the units that are proposed."""

import datetime as dt
import json
from collections import Counter

import polars as pl
import pytest

import hushtable as ht
from hushtable.columns import from_texts
from hushtable.errors import InputError
from hushtable.hierarchy import Dates, Intervals, Prefix, Suppression, propose_units

DATES = ht.ColumnSpec(kind="date", format="%d.%m.%Y")
NESTED = ht.Mondrian(recoding="nested")


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        (["17", "34", "90"], Intervals((5, 10, 20, 40))),
        (["0", "1", "2", "3"], Intervals((2,))),
        (["0", "1"], Suppression()),
        (["3", "3"], Suppression()),
        (["0.5", "2.25"], Intervals((0.05, 0.1, 0.2, 0.4, 0.8, 1.6))),
        (["1200", "390000"], Intervals((5000, 10000, 20000, 40000, 80000, 160000, 320000))),
        (["1990-05-01", "1991-01-01"], Dates(("month", "quarter", "half-year", "year", "5 years", "decade", "20 years",
                                              "40 years"))),
        (["AB12", "AB34", "CD12"], Prefix((3, 2, 1))),
        (["red", "green", "blue"], None),
    ],
)  # fmt: skip
def test_units_follow_from_the_kind_and_the_range(texts, rule):
    assert propose_units(from_texts("x", texts)[0]) == rule


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("half-year", "[2023-07, 2024-01)"), ("5 years", "[2020, 2025)"), ("20 years", "[2020, 2040)"),
        ("40 years", "[2000, 2040)"),
    ],
)  # fmt: skip
def test_long_units_of_dates_are_intervals_between_first_days(unit, label):
    column, _ = from_texts("day", ["2023-08-01", "2023-12-31"])
    assert Dates((unit,)).ladder(column).levels[0].labels == (label,)


def test_every_cell_of_a_hospital_is_one_unit():
    visits = ht.datasets.visits(3_000).select("Geburtsdatum", "Geschlecht", "PLZ", "Beruf", "Aufnahmedatum", "Größe")
    release = ht.anonymize(
        visits,
        quasi_identifiers=visits.columns,
        models=[ht.KAnonymity(5)],
        method=NESTED,
        specs={
            "Geburtsdatum": DATES,
            "Aufnahmedatum": DATES,
            "PLZ": ht.ColumnSpec("category"),
            "Größe": ht.ColumnSpec("decimal", decimal=","),
        },
        roles="trust",
    )
    assert release.verify().passed
    assert all(figures.nest for figures in release.quality.cells.values())
    assert max(release.quality.cells[name].n_cells for name in ("Geburtsdatum", "Aufnahmedatum")) <= 60
    assert min(Counter(release.frame.rows()).values()) >= 5


def test_a_written_release_is_judged_and_its_manifest_tells_the_units(tmp_path):
    people = ht.datasets.people(600).select("birth_date", "postcode", "education", "income")
    people = people.with_columns(birth_date=pl.when(pl.col("income") % 7 > 0).then("birth_date"))
    release = ht.anonymize(people, quasi_identifiers=people.columns, models=[ht.KAnonymity(3)], method=NESTED)
    release.write(tmp_path / "out.csv")
    hierarchies = json.loads((tmp_path / "out.csv.manifest.json").read_text())["claim"]["hierarchies"]
    assert hierarchies["birth_date"]["dates"]["levels"][:2] == ["month", "quarter"]


def test_people_who_are_counted_see_whom_a_cell_covers():
    # No names of groups then: a category publishes the value or `*`.
    frame = pl.DataFrame({"day": [dt.date(2020, 1, 1 + i % 28) for i in range(60)], "job": list("abcdef") * 10})
    release = ht.anonymize(
        frame,
        quasi_identifiers=["day", "job"],
        models=[ht.KMap(4)],
        method=NESTED,
        population=pl.concat([frame, frame]),
        roles="trust",
    )
    assert release.verify().passed
    assert set(release.frame["job"]) <= {*"abcdef", "*"}


def test_what_has_no_effect_is_refused():
    frame = pl.DataFrame({"n": list(range(40))})
    options = {"quasi_identifiers": ["n"], "models": [ht.KAnonymity(2)], "roles": "trust"}
    with pytest.raises(InputError, match="grid"):
        ht.Mondrian(recoding="nested", grid={"n": 5})
    with pytest.raises(InputError, match="measured on ranks"):
        ht.anonymize(frame, method=NESTED, loss={"ncp": {"scale": "rank"}}, **options)


def test_the_word_units_proposes_them_for_one_column():
    people = ht.datasets.people(400).select("birth_date", "sex")
    release = ht.anonymize(
        people,
        quasi_identifiers=["birth_date", "sex"],
        models=[ht.KAnonymity(5)],
        method="full_domain",
        hierarchies={"birth_date": "units"},
    )
    assert "5 years" in release.hierarchies["birth_date"].rule.levels
    assert release.quality.cells["birth_date"].n_units <= 1
