"""How many distinct cells a column has, of how many units, and whether they nest."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.columns import from_texts
from hushtable.quality import cell_kinds
from reading import holds
from twins import naive_cell_kinds

STYLES = ("tight", "readable", "nested", "cut", "label", "central")


def protected(frame, recoding, **options):
    return ht.anonymize(
        frame,
        quasi_identifiers=frame.columns,
        models=[ht.KAnonymity(2)],
        method=ht.Mondrian(recoding=recoding),
        roles="trust",
        **options,
    )


def labels_of(release, name):
    """Return the values under each label of a column's hierarchy."""
    ladder = release.claim.hierarchies.get(name)
    if not isinstance(ladder, ht.Hierarchy):
        return None
    nodes = zip(ladder.labels[1:], ladder.level_codes[1:], strict=True)
    return {
        label: {value for value, code in zip(ladder.values, codes.tolist(), strict=True) if code == node}
        for labels, codes in nodes
        for node, label in enumerate(labels)
    }


@settings(max_examples=40)
@given(st.data(), st.sampled_from(STYLES))
def test_cells_are_counted_and_nest_as_the_definition_says(data, recoding):
    n = data.draw(st.integers(4, 24))
    days = st.integers(0, 3_000).map(lambda day: dt.date(2018, 1, 1) + dt.timedelta(day))
    columns = {
        "n": (st.integers(0, 60), "integer"),
        "day": (days, "date"),
        "job": (st.sampled_from("abcdefgh"), "category"),
    }
    drawn = {name: data.draw(st.lists(cells, min_size=n, max_size=n)) for name, (cells, _) in columns.items()}
    frame = pl.DataFrame(drawn)
    release = protected(frame, recoding)
    for name, (_, kind) in columns.items():
        cells = release.frame[name].cast(pl.String).to_list()
        found = release.quality.cells[name]
        labels = labels_of(release, name)
        values = sorted({str(value) for value in drawn[name]})
        assert found.n_cells == len(naive_cell_kinds.distinct_cells(cells))
        assert 0 <= found.n_units <= found.n_cells
        assert found.nest == naive_cell_kinds.nest(
            cells, values, lambda cell, value, kind=kind, labels=labels: holds(cell, value, kind, labels)
        ), (recoding, name, cells)
        assert found.nest or recoding not in ("nested", "central")


@pytest.mark.parametrize(
    ("kind", "texts", "n_units"),
    [
        ("date", ["2023-01", "2023-02", "[2023-01, 2023-02)"], 2),
        ("date", ["2023-01-05", "2023", "2020s", "2023-Q1"], 4),
        ("date", ["[2020, 2025)", "[1995, 2000)", "[2020-01-01, 2025-01-01)"], 1),
        ("date", ["[2020-01-01, 2020-01-15)", "[2020-03-01, 2020-03-15)", "<2020", ">=2023"], 2),
        ("integer", ["[0, 5)", "[10, 15)", "[0, 10)", "7", "8", "<5"], 4),
        ("time", ["[08:00, 08:15)", "[09:15, 09:30)", "[08:00, 09:00)"], 2),
        ("category", ["10115", "10*", "101*", "[10*, 45*]", "nurse and 4 more", '["a", "b"]'], 6),
    ],
)
def test_texts_of_one_width_or_form_are_one_unit(kind, texts, n_units):
    value = {"date": "2023-01-05", "integer": "7", "time": "08:00", "category": "10115"}[kind]
    column, _ = from_texts("x", [value], kind)
    assert len({cell_kinds._unit_of(text, column, {value, "8"}) for text in texts}) == n_units


def test_calendar_units_are_told_apart_by_their_shape():
    # Three months are one unit, a year another; `*` and missing cells are none.
    days = [*[dt.date(2023, 1, 5)] * 2, *[dt.date(2023, 2, 5)] * 2, *[dt.date(2023, 3, 31)] * 2, None, None]
    release = protected(pl.DataFrame({"day": days, "n": [1, 1, 2, 2, 3, 3, 4, 4]}), "readable")
    assert release.frame["day"].to_list()[-1] is None
    figures = release.quality.cells["day"]
    assert (figures.n_cells, figures.n_units, figures.nest) == (3, 1, True)


def test_a_summary_and_json_tell_it():
    people = ht.datasets.people(400).select("birth_date", "sex", "postcode")
    release = protected(people, "readable")
    (line,) = [fact for fact in release.facts if fact.startswith("Distinct cells")]
    figures = release.quality.cells["birth_date"]
    assert f"birth_date {figures.n_cells} ({figures.n_units})" in line
    assert "overlap without nesting in birth_date" in line
    assert release.to_dict()["quality"]["cells"]["birth_date"] == {
        "n_cells": figures.n_cells, "n_units": figures.n_units, "nest": False,
    }  # fmt: skip
