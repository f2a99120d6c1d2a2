"""Hive data sets: what is written by a column comes back cell by cell, and nothing hides in a folder of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from command import done, run
from hushtable.errors import InputError, VerificationError
from hushtable.io import NO_KEY, hive
from hushtable.release import manifest

ODD = ["Nord/West", "100 %", "[20, 30)", "*", "a=b", "zürich 🏔", "..", " x ", "007", None]


def folder_of(cells: list[Any], place: Path, **others: Any) -> Path:
    place.mkdir()
    n = len(cells)
    frame = pl.DataFrame({"region": cells, "sex": ["f", "m"] * (n // 2) + ["f"] * (n % 2), **others})
    frame.write_parquet(place / "in.parquet")
    return place


def released(place: Path) -> Any:
    return ht.anonymize(place, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], roles="trust")


def rows(frame: pl.DataFrame) -> list[Any]:
    return sorted(map(repr, frame.select("sex", "region").rows()))


def read(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "**/*.parquet", hive_partitioning=True, try_parse_hive_dates=False)


@pytest.mark.parametrize(
    "cells",
    [ODD, [3, -1, None, 10], [dt.date(2024, 2, 29), dt.date(1999, 1, 1), None], ["1", "2", "30"], [None, None]],
    ids=["texts", "numbers", "days", "texts of digits", "missing"],
)
def test_cells_come_back_from_the_names_of_folders(tmp_path: Path, cells: list[Any]) -> None:
    source = folder_of(cells * 6, tmp_path / "in")
    released(source).write(tmp_path / "out", by="region")
    written = read(tmp_path / "out")
    expected = pl.read_parquet(source / "in.parquet")
    assert rows(written.cast(pl.String)) == rows(expected.cast(pl.String))
    assert len([*(tmp_path / "out").glob("region=*")]) == len({*cells})
    assert all("region" not in pl.read_parquet_schema(part) for part in (tmp_path / "out").rglob("*.parquet"))
    assert done("verify", tmp_path / "out").code == 0
    # What hushtable wrote it reads.
    again = released(tmp_path / "out")
    assert again.columns == ("sex", "region")


@settings(max_examples=15, deadline=None)
@given(
    cells=st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), min_size=1, max_size=6, unique=True)
)
def test_any_text_comes_back(tmp_path_factory: Any, cells: list[str]) -> None:
    place = tmp_path_factory.mktemp("hive")
    source = folder_of(cells * 4, place / "in")
    # As bytes in a name they may be too many.
    if max(len(quote(cell, safe="")) for cell in cells) > 240:
        return
    released(source).write(place / "out", by="region")
    again = released(place / "out").origin.head(1_000).native
    assert rows(again.cast(pl.String)) == rows(pl.read_parquet(source / "in.parquet").cast(pl.String))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["", "a"], "read as missing"),
        ([NO_KEY, "a"], "read as missing"),
        ([1.5, 2.5], "cannot name folders"),
        ([True, False], "cannot name folders"),
        (["x" * 300, "a"], "too long"),
    ],
)
def test_cells_that_name_no_folder_are_refused(tmp_path: Path, cells: list[Any], told: str) -> None:
    source = folder_of(cells * 4, tmp_path / "in")
    with pytest.raises(InputError, match=told):
        released(source).write(tmp_path / "out", by="region")
    assert [each.name for each in tmp_path.iterdir()] == ["in"]


def test_what_cannot_be_written_by_a_column_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of(["a", "b", "c"] * 4, tmp_path / "in")
    release = released(source)
    with pytest.raises(ht.ColumnError, match="nobody"):
        release.write(tmp_path / "out", by="nobody")
    with pytest.raises(InputError, match="name a folder"):
        release.write(tmp_path / "out.parquet", by="region")
    monkeypatch.setattr(hive, "_MOST_FOLDERS", 2)
    with pytest.raises(InputError, match="more than 2 values"):
        release.write(tmp_path / "out", by="region")
    alone = ht.anonymize(
        source, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], identifiers=["region"], roles="trust"
    )
    with pytest.raises(InputError, match="only column"):
        alone.write(tmp_path / "out", by="sex")
    with pytest.raises(ht.ColumnError, match="region"):
        alone.write(tmp_path / "out", by="region")
    policy = {
        "columns": {"sex": "quasi-identifier", "region": "other"},
        "models": [{"k-anonymity": 2}],
        "write": {"by": "region"},
    }
    inside = ht.Policy.make(policy).protect(pl.read_parquet(source / "in.parquet"))
    with pytest.raises(InputError, match="names a file"):
        inside.write(tmp_path / "out.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["in"]


def test_every_door_writes_by_a_column_and_replaces_such_a_release(tmp_path: Path) -> None:
    source = folder_of(["a", "b", None] * 8, tmp_path / "in")
    out = tmp_path / "out"
    asked = ("--qi", "sex", "--other", "region", "--k", "2")
    done("anonymize", source, *asked, "-o", out, "--by", "region")
    assert {each.name for each in out.iterdir()} == {"_manifest.json", "region=a", "region=b", f"region={NO_KEY}"}
    assert done("verify", out).code == 0
    policy = {
        "columns": {"sex": "quasi-identifier", "region": "other"},
        "models": [{"k-anonymity": 2}],
        "write": {"by": "sex"},
    }
    ht.Policy.make(policy).protect(source).write(out, overwrite=True)
    assert {each.name for each in out.iterdir()} == {"_manifest.json", "sex=f", "sex=m"}
    (out / "sex=f" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"sex=f.notes.txt"):
        ht.Policy.make(policy).protect(source).write(out, overwrite=True)


@pytest.mark.parametrize("stranger", ["_x.parquet", ".x.parquet", "_manifest.json", "x.parquet"])
def test_nothing_hides_in_a_folder_of_a_release(tmp_path: Path, stranger: str) -> None:
    source, out = folder_of(["a", "b"] * 8, tmp_path / "in"), tmp_path / "out"
    released(source).write(out, by="region")
    before = manifest.sha256(out)
    pl.DataFrame({"sex": ["secret"]}).write_parquet(out / "region=a" / stranger)
    assert manifest.sha256(out) != before
    assert run("verify", out).code != 0
    asked: dict[str, Any] = {"quasi_identifiers": ["sex"], "models": [ht.KAnonymity(2)]}
    with pytest.raises((VerificationError, InputError)):
        ht.verify(out, **asked).raise_if_failed()
