"""Frames and tables whose rows stand for several records: whatever is done with them is done with the records."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.io import frames
from hushtable.io.frames import Frame, with_counts
from hushtable.release import manifest
from hushtable.release.exposure import ExposureLimit
from strategies import counted_tables, tables

SECRET = 7319
LIBRARIES = [pl.DataFrame, pd.DataFrame, pa.table]
NAMES = ["age", "sex"]
MODELS = [ht.KAnonymity(3), ht.TCloseness(0.6, "ill")]


def collapsed(n_rows: int = 12) -> pl.DataFrame:
    """A row for every few records, among them equal ones."""
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.choice([21, 25, 30, 44, 52], n_rows),
            "sex": rng.choice(["f", "m", None], n_rows),
            "ill": rng.choice(["flu", "gout", "mumps"], n_rows),
            "who": [f"p{i % 9}" for i in range(n_rows)],
            "ward": rng.choice(["a", "b"], n_rows),
            "n": rng.integers(1, 5, n_rows),
        }
    )


def repeated(rows: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        [row[:-1] for row in rows.rows() for _ in range(row[-1])], schema=rows.drop("n").schema, orient="row"
    )


def records(rows: Any) -> Counter[Any]:
    return Counter(pl.DataFrame(rows).rows())


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_becomes_counts(library: Any) -> None:
    frame = with_counts(frames.read(library({"a": ["x", "y"], "n": [2, 3]})), "n")
    assert (frame.columns, frame.n_rows, frame.n_records) == (("a",), 2, 5)
    assert pl.DataFrame(frame.with_row_per_record().native)["a"].to_list() == ["x", "x", "y", "y", "y"]
    assert with_counts(frame, None) is frame


def test_counts_are_read_from_text(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a,n\nx,2\ny,3\n")
    table = ht.Table.encode(tmp_path / "people.csv", counts="n")
    assert (table.names, table.counts.tolist()) == (("a",), [2, 3])
    (tmp_path / "people.csv").write_text('a;n\nx;1.200\ny;"3"\n')
    assert (
        ht.Table.encode(
            tmp_path / "people.csv", counts="n", specs={"n": ht.ColumnSpec(thousands=".", decimal=",")}
        ).n_records
        == 1203
    )


@pytest.mark.parametrize("cells", [[1.0, 2.0], pl.Series([1, 2], dtype=pl.UInt8), pl.Series(["1", "2"]), [1, 2]])
def test_whole_numbers_of_any_type_are_counts(cells: Any) -> None:
    assert with_counts(frames.read(pl.DataFrame({"n": cells, "a": ["x", "y"]})), "n").records.tolist() == [1, 2]


@pytest.mark.parametrize(
    "odd", [None, 0, -SECRET, SECRET + 0.5, float("nan"), float("inf"), 2.0**53, str(SECRET) + "x", ""]
)
def test_what_is_no_count_is_told_by_its_place(odd: Any) -> None:
    cells = pl.Series(["2", odd, "1"]) if isinstance(odd, str) else pl.Series([2.0, odd, 1.0], dtype=pl.Float64)
    with pytest.raises(ht.ColumnError, match=r"counts = 'n': 1 cells are no count, the first in row 2\.") as caught:
        ht.Table.encode(pl.DataFrame({"a": ["x", "y", "z"], "n": cells}), counts="n")
    assert str(SECRET) not in str(caught.value)


def test_counts_that_cannot_be() -> None:
    frame = frames.read(pl.DataFrame({"a": ["x", "y"], "n": [2**52, 2**52], "b": [True, False]}))
    with pytest.raises(ht.ColumnError, match="add up to"):
        with_counts(frame, "n")
    with pytest.raises(ht.ColumnError, match="no numbers"):
        with_counts(frame, "b")
    with pytest.raises(ht.ColumnError, match="no column 'm'"):
        with_counts(frame, "m")
    with pytest.raises(ht.InputError, match="have counts"):
        with_counts(replace(frame, counts=np.array([1, 2])), "n")
    with pytest.raises(ht.InputError, match="has counts"):
        ht.Table.encode(ht.Table.encode(frame), counts="n")


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_keep_their_counts(library: Any) -> None:
    frame = with_counts(frames.read(library({"a": ["x", "y", "z"], "b": [1, 2, 3], "n": [1, 2, 3]})), "n")
    assert frame.take(np.array([2, 0, 2])).records.tolist() == [3, 1, 3]
    assert frame.select(["b"]).drop([]).with_specs({}).with_learned_specs().records.tolist() == [1, 2, 3]
    assert frame.with_columns({"c": pl.Series([1, 1, 1])}).n_records == 6
    plain = frames.read(library({"a": ["w"], "b": [9]}))
    assert frame.with_rows([plain]).records.tolist() == [1, 2, 3, 1]
    assert plain.with_rows([frame, plain]).records.tolist() == [1, 1, 2, 3, 1]
    assert plain.with_rows([plain]).counts is None
    assert frame.build_alike([pl.Series("a", ["v"])]).counts is None
    assert frame.take_by_column({"a": np.array([0]), "b": np.array([1])}).n_records == 1
    with pytest.raises(ValueError, match="read-only"):
        frame.records[0] = 9


@given(tables(min_rows=1), st.data())
def test_a_table_of_a_counted_frame_and_back(rows: pl.DataFrame, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 4), min_size=rows.height, max_size=rows.height))
    table = ht.Table.encode(rows.with_columns(count=pl.Series(counts)), counts="count")
    assert table.counts.tolist() == counts
    assert table.frame().with_row_per_record().native.equals(table.expand())
    assert table.frame().n_records == table.n_records == sum(counts)


@given(counted_tables(min_rows=1), st.data())
def test_rows_that_stand_for_none_are_in_no_frame(table: ht.Table, data: st.DataObject) -> None:
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=table.n_rows, max_size=table.n_rows)))
    some = replace(table, counts=np.where(gone, 0, table.counts))
    assert some.frame().with_row_per_record().native.equals(some.expand())
    assert (some.frame().records > 0).all()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"suppression_limit": 0.4},
    {"suppression_limit": 0.4, "models": [ht.KAnonymity(9), ht.BetaLikeness(2, "ill")]},
    {"person": "who"},
    {"person": "who", "identifiers": ["who"]},
    {"models": [ht.DistinctLDiversity(2, "ill")], "method": "full_domain", "suppression_limit": 0.2},
    {"models": [ht.KAnonymity(3)], "method": "local_recoding"},
    {"models": [ht.KAnonymity(2)], "method": "mingen"},
    {"models": [ht.KMap(5)], "sensitive": ["ill"]},
    {"pseudonyms": ht.Pseudonyms(("who",), bytes(range(32)))},
]


@pytest.mark.parametrize("kind", ["table", "frame"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: "-".join(each) or "plain")
def test_a_release_of_counts_is_judged_as_its_records(options: dict[str, Any], kind: str) -> None:
    given = {"quasi_identifiers": NAMES, "models": MODELS, "roles": "trust", **options}
    rows = collapsed()
    data = with_counts(frames.read(rows), "n") if kind == "frame" else ht.Table.encode(rows, counts="n")
    if any(model.needs.population for model in given["models"]):
        given["population"] = data
    release = ht.anonymize(data, **given)
    one_by_one = pl.DataFrame(release.frame.expand() if kind == "table" else release.frame)
    slow = release.claim
    if getattr(slow, "population", None) is not None:
        slow = replace(slow, population=repeated(rows))
    verdict = release.verify()
    assert verdict == slow.verify(one_by_one, original=repeated(rows))
    assert verdict.passed
    told = release.to_dict()
    assert told["n_records"] == rows["n"].sum() == one_by_one.height + release.n_suppressed * release.drops_suppressed
    assert "n" not in one_by_one.columns


@pytest.mark.parametrize(
    "data", [lambda rows: with_counts(frames.read(rows), "n"), lambda rows: ht.Table.encode(rows, counts="n")]
)
def test_a_release_of_counts_tells_what_that_of_its_records_tells(data: Any) -> None:
    rows = collapsed(40)
    given = {"quasi_identifiers": NAMES, "models": MODELS, "roles": "trust", "suppression_limit": 0.1}
    counts, plain = ht.anonymize(data(rows), **given), ht.anonymize(repeated(rows), **given)
    limit = ExposureLimit(columns=2, rate=0.5)
    counts, plain = counts.with_exposure(limit), plain.with_exposure(limit)
    told, slow = ({**each.to_dict(), "trace": None} for each in (counts, plain))
    assert json.dumps(told) == json.dumps(slow)
    assert counts.quality == plain.quality
    assert counts.classes().equals(plain.classes())
    assert counts.codebook.to_dict("f", external=False) == plain.codebook.to_dict("f", external=False)
    assert counts.utility().to_dict() == plain.utility().to_dict()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.tsv"])
@pytest.mark.parametrize("kind", ["table", "frame"])
@pytest.mark.parametrize("at_once", [1, 7, 2**20])
def test_a_file_has_a_row_for_every_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, at_once: int
) -> None:
    monkeypatch.setattr(frames, "_ROWS_PER_PART", at_once)
    monkeypatch.setattr(frames, "_CSV_ROWS_PER_PART", at_once)
    rows, path = collapsed(), tmp_path / name
    data = with_counts(frames.read(rows), "n") if kind == "frame" else ht.Table.encode(rows, counts="n")
    release = ht.anonymize(data, quasi_identifiers=NAMES, models=MODELS, roles="trust", suppression_limit=0.2)
    verdict = release.write(path)
    cells = frames.read(path).native
    expected = release.frame.expand() if kind == "table" else release.frame
    assert records(cells) == records(expected)
    assert verdict.n_records == len(expected) == manifest.read(path)["n_records"]
    release.write(path, keep_order=True, overwrite=True)
    assert frames.read(path).native.rows() == expected.rows()
    beside = [each.read_text() for each in tmp_path.iterdir() if each.suffix == ".json"]
    assert beside
    assert all('"n"' not in text and '"counts"' not in text for text in beside)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "latin-1"])
def test_parts_of_a_csv_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    frame = frames.read(pl.DataFrame({"a": ["ü", "x, y", None, "z"], "b": [1.5, 2, 3, None]}))
    frames.write(frame, tmp_path / "whole.csv", encoding)
    monkeypatch.setattr(frames, "_CSV_ROWS_PER_PART", 1)
    frames.write(frame, tmp_path / "parts.csv", encoding)
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert frames.csv_size(frame, encoding) == (tmp_path / "whole.csv").stat().st_size


def test_rows_of_unpublished_records_are_in_no_file(tmp_path: Path) -> None:
    secret = f"canary-{SECRET}"
    rows = pl.DataFrame({"age": ["31", "31", "90"], "who": ["a", "b", secret], "n": [9, 9, 1]})
    release = ht.anonymize(
        ht.Table.encode(rows, counts="n"),
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(5)],
        suppression_limit=0.1,
        roles="trust",
        hierarchies={"age": "auto"},
        method="full_domain",
    )
    assert (release.n_suppressed, release.drops_suppressed) == (1, True)
    for name in ("out.parquet", "out.csv"):
        release.write(tmp_path / name)
    assert not any(secret.encode() in each.read_bytes() for each in tmp_path.iterdir())


def test_new_rows_with_counts_join_earlier_ones() -> None:
    rows = collapsed()
    first = ht.anonymize(repeated(rows), quasi_identifiers=NAMES, models=[ht.KAnonymity(3)], roles="trust")
    later = first.apply(ht.Table.encode(rows, counts="n"), together=True)
    assert later.to_dict()["n_records"] == 2 * rows["n"].sum()
    assert later.verify().passed


def test_a_frame_with_too_few_counts_is_none() -> None:
    with pytest.raises(AssertionError):
        Frame(frames.read(pl.DataFrame({"a": [1, 2]})).data, counts=np.array([1]))
