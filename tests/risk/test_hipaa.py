"""The Safe Harbor's rules: what may stay, and what may not."""

import datetime as dt

import polars as pl
import pytest

from hushtable.risk.assess import assess
from hushtable.risk.hipaa import safe_harbor
from hushtable.tables.table import Table

TODAY = dt.date(2026, 6, 1)
BROKEN = {
    "patient name": (["Ann Smith", "Bob Jones"], "A"),
    "street": (["1 High Street", "2 Main Road"], "B"),
    "zip": (["02139", "10001"], "B"),
    "city": (["Boston", "Chicago"], "B"),
    "birth_date": ([dt.date(1980, 5, 3), dt.date(1990, 7, 1)], "C"),
    "admission": (["2020-03", "2021-04"], "C"),
    "age": ([34, 90], "C"),
    "year_of_birth": ([1910, 2001], "C"),
    "birth_year": ([1920, 1931, 1999], "C"),
    "birth year": (["[1930, 1940)", "[1990, 2000)"], "C"),
    "geburtsjahr": ([1936, 1980], "C"),
    "birth date": ([dt.date(1931, 1, 1), dt.date(1990, 1, 1)], "C"),
    "yob": (["May 1980", "Jun 1990"], "C"),
    "admission_year": ([1925, 2020], "C"),
    "zip3": (["036", "021"], "B"),
    "zip code": ([36, 21], "B"),
    "postcode": (["893**", "100**"], "B"),
    "age at visit": (["[85, 95)", "[20, 30)"], "C"),
    "age_years": ([34.0, 90.0], "C"),
    "alter": ([34, 101], "C"),
    "phone": (["+1 617 555 0101", "+1 617 555 0102"], "D"),
    "mail": (["a@b.org", "c@d.org"], "D"),
    "ssn": (["123-45-6789", "123-45-6780"], "G"),
    "iban": (["DE44500105175407324931", "DE44500105175407324932"], "J"),
    "ip": (["10.0.0.1", "10.0.0.2"], "M"),
    "url": (["https://a.org/x", "https://b.org/y"], "N"),
    "patient_id": ([f"P{i}" for i in range(2)], "R"),
}
KEPT = {
    "zip": ["021", "100**"],
    "zip ": ["000", "*"],
    "birth_date": [dt.date(1980, 1, 1), dt.date(1990, 1, 1)],
    "admission": ["[2020, 2022)", "2023"],
    "age": [34, 89],
    "age ": ["[80, 90)", ">=90"],
    "age  ": ["90+", "<18"],
    "year_of_birth": [1950, 2001],
    "birth_year": [1937, 2001],
    "admission_year": [2019, 2020],
    "zip3": ["021", "000"],
    "zip code": [21, 100],
    "sex": ["f", "m"],
    "country": ["France", "Spain"],
    "diagnosis": ["flu", "gout"],
    "empty": [None, None],
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_may_not_stay_is_found(name):
    cells, letter = BROKEN[name]
    (found,) = safe_harbor(pl.DataFrame({name: cells}), today=TODAY)
    assert (found.column, found.rule[0]) == (name, letter)


@pytest.mark.parametrize("name", KEPT)
def test_what_may_stay_is_not(name):
    assert safe_harbor(pl.DataFrame({name: KEPT[name] * 2}), today=TODAY) == ()


def test_the_day_decides_who_is_over_89():
    born = pl.DataFrame({"birth_year": [1937, 1999]})
    assert safe_harbor(born, today=dt.date(2026, 12, 31)) == ()
    assert safe_harbor(born, today=dt.date(2027, 1, 1))
    # However late it is, these people are.
    risk = assess(
        pl.DataFrame({"birth_year": [1920, 1931, 1999] * 6}),
        quasi_identifiers=["birth_year"],
        tolerance="hipaa-safe-harbor",
    )
    assert risk.within_tolerance is False


def test_a_column_that_cannot_be_read_is_found():
    (found,) = safe_harbor(pl.DataFrame({"lists": [[1], [2]]}))
    assert "cannot be read" in found.rule


def test_values_that_no_row_has_are_not_looked_at():
    table = Table.encode(pl.DataFrame({"age": [30, 95]}))
    assert len(safe_harbor(table)) == 1
    assert safe_harbor(table.take([0])) == ()


def test_the_preset_looks_at_all_columns():
    frame = pl.DataFrame({"sex": ["f", "m"], "mail": ["canary@b.org", "canary@d.org"]})
    risk = assess(frame, quasi_identifiers=["sex"], tolerance="hipaa-safe-harbor")
    assert risk.within_tolerance is False
    assert [found.column for found in risk.safe_harbor] == ["mail"]
    assert (risk.tolerance, risk.n_above_tolerance) == (None, None)
    assert "canary" not in repr(risk) + str(risk.to_dict()) + risk._repr_html_()
    assert any("no legal opinion" in note for note in risk.notes)
    assert assess(frame.drop("mail"), quasi_identifiers=["sex"], tolerance="hipaa-safe-harbor").within_tolerance
