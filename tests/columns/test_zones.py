"""Moments that tell their offset are read in UTC, whatever offsets a column has."""

import datetime as dt
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.columns import ColumnSpec
from hushtable.columns.series import encode
from reading import measure

ZONES = [
    dt.UTC,
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("America/New_York"),
    dt.timezone(dt.timedelta(hours=5, minutes=30)),
]
MOMENTS = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2100, 1, 1), timezones=st.sampled_from(ZONES))


def coded(cells):
    return encode(pl.Series(cells), ColumnSpec(), is_typed=True, name="seen")


@given(st.lists(MOMENTS, min_size=1, max_size=10), st.sampled_from("T "), st.booleans())
def test_equal_moments_of_two_zones_are_one_value(moments, between, with_z):
    cells = [each.isoformat(sep=between, timespec="seconds") for each in moments]
    cells = [each.replace("+00:00", "Z") if with_z else each for each in cells]
    column, codes = coded(cells)
    assert column.kind == "datetime"
    for cell, code in zip(cells, codes.tolist(), strict=True):
        assert measure(column.text(code), "datetime") == measure(cell, "datetime")
    assert column.n_values == len({measure(each, "datetime") for each in cells})


@pytest.mark.parametrize(
    "cells", [["2024-03-31T02:30:00+01:00", "2024-03-31T02:30:00"], ["2024-03-31+01:00"], ["2024-03-31T02:30:00 CET"]]
)
def test_what_cannot_be_ordered_is_no_moment(cells):
    assert coded(cells)[0].kind == "category"


def test_the_night_when_clocks_go_back_has_two_half_past_two():
    column, codes = coded(["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00", "2024-10-27T01:30:00.500Z"])
    assert column.texts() == ["2024-10-27 00:30:00", "2024-10-27 01:30:00", "2024-10-27 01:30:00.500000"]
    assert codes.tolist() == [0, 1, 2]


def test_a_release_says_that_its_moments_are_in_utc_and_keeps_other_cells(tmp_path):
    berlin = ZoneInfo("Europe/Berlin")
    moments = [(dt.datetime(2024, 3, 30, 20, tzinfo=dt.UTC) + dt.timedelta(minutes=37 * i)) for i in range(60)]
    cells = [each.astimezone(berlin).isoformat() for each in moments]
    pl.DataFrame({"seen": cells, "left": cells, "ill": ["a", "b"] * 30}).write_csv(tmp_path / "in.csv")
    asked = {"quasi_identifiers": ["seen"], "sensitive": ["ill"], "models": [ht.KAnonymity(5)], "roles": "trust"}
    release = ht.anonymize(tmp_path / "in.csv", **asked, method=ht.Mondrian(recoding="readable"))
    assert release.write(tmp_path / "out.csv").passed
    assert "moments are in UTC" in (tmp_path / "out.csv.codebook.md").read_text(encoding="utf-8")
    assert set(pl.read_csv(tmp_path / "out.csv", infer_schema=False)["left"]) == set(cells)
    assert ht.synthesize(tmp_path / "in.csv", seed=1)["seen"].str.contains(r"[+Z]").all()
