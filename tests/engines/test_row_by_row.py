"""Records that are cut one by one: classes, cells and files are those of the same table in memory, number by number."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from engine_tables import frames
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.anonymizers import beyond_memory, row_by_row
from hushtable.errors import ColumnError, InputError
from hushtable.io import RowCodes, scan
from hushtable.release import notes
from record_tables import MODELS, people


@pytest.fixture(autouse=True)
def _one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond_memory, "MOST_COUNTED", 1)
    monkeypatch.setattr(row_by_row, "_ROWS_AT_ONCE", 37)


def folder_of(table: pl.DataFrame, folder: Path, n_parts: int) -> Path:
    folder.mkdir()
    ends = np.linspace(0, len(table), n_parts + 1).astype(int)
    for part, (begin, end) in enumerate(itertools.pairwise(ends)):
        table[begin:end].write_parquet(folder / f"{part}.parquet")
    return folder


def classes_of(labels: Any) -> list[int]:
    return np.asarray(labels).tolist()


@pytest.mark.parametrize("recoding", ["tight", "readable", "set", "label"])
@pytest.mark.parametrize("models", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_labels_cells_and_loss_are_those_of_one_table_in_memory(
    tmp_path: Path, recoding: Any, models: Any, seed: int
) -> None:
    table = people(150, seed)
    prefix: dict[str, Any] = {"code": {"prefix": [3, 2]}} if seed else {}
    asked: dict[str, Any] = {
        "quasi_identifiers": ["town", "age", "weight", "code"],
        "models": models,
        "hierarchies": prefix,
        "method": ht.Mondrian(recoding=recoding, cut="median" if seed == 2 else "gain"),
        "loss": ht.SetNCP(scale="rank") if seed == 1 and recoding == "tight" else ht.SetNCP(weights={"age": 3.0}),
        "roles": "trust",
    }
    inside = ht.anonymize(table, **asked)
    release = ht.anonymize(folder_of(table, tmp_path / "in", 1 + seed), **asked)
    assert release.is_row_by_row
    labels = release.partition.labels[release.origin.numbered_records.rows]
    assert classes_of(labels) == classes_of(inside.partition.labels)
    assert release.loss == pytest.approx(inside.loss, rel=1e-12)
    assert release.classes().equals(inside.classes())
    ours, theirs = release.to_dict(), inside.to_dict()
    for name in ("n_records", "n_classes", "smallest_class", "quality", "recoding", "models"):
        assert ours[name] == theirs[name], name
    assert notes.find_outlier_columns(release.distinct, release.margins) == notes.find_outlier_columns(inside)
    release.verify().raise_if_failed()
    release.write(tmp_path / "out")
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert Counter(map(str, written.rows())) == Counter(map(str, inside.frame.cast(written.schema).rows()))


def test_a_file_of_text_is_cut_as_in_memory(tmp_path: Path) -> None:
    table = people(120, 5).with_columns(code=pl.lit("0") + pl.col("code"))
    table.write_csv(tmp_path / "in.csv")
    asked: dict[str, Any] = {
        "quasi_identifiers": ["age", "code", "town"],
        "models": [ht.KAnonymity(4), ht.DistinctLDiversity(2, "pay")],
        "roles": "trust",
    }
    inside = ht.anonymize(str(tmp_path / "in.csv"), **asked)
    release = ht.anonymize(str(tmp_path / "in.csv"), **asked, engine="stream")
    assert release.is_row_by_row
    assert classes_of(release.partition.labels[release.origin.numbered_records.rows]) == classes_of(
        inside.partition.labels
    )
    release.write(tmp_path / "out.csv")
    inside.write(tmp_path / "inside.csv")
    written, expected = (pl.read_csv(tmp_path / name, infer_schema=False) for name in ("out.csv", "inside.csv"))
    assert Counter(written.rows()) == Counter(expected.rows())


def test_what_takes_distinct_rows_counts_them(tmp_path: Path) -> None:
    folder = folder_of(people(80, 1), tmp_path / "in", 2)
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "town"], "models": [ht.KAnonymity(4)], "roles": "trust"}
    others: list[dict[str, Any]] = [
        {"method": ht.Mondrian(recoding="cut")},
        {"method": ht.Mondrian(recoding="central")},
        {"method": ht.FullDomain(), "loss": "ncp"},
        {"suppression_limit": 0.1},
    ]
    for other in others:
        release = ht.anonymize(folder, **asked, **other)
        assert not release.is_row_by_row
        release.verify().raise_if_failed()


def test_of_far_more_records_than_distinct_rows_the_rows_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(people(80, 1), tmp_path / "in", 2)
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "town"], "models": [ht.KAnonymity(4)], "roles": "trust"}
    monkeypatch.setattr(beyond_memory, "_MOST_CODED", 80)
    assert ht.anonymize(folder, **asked).is_row_by_row
    monkeypatch.setattr(beyond_memory, "_MOST_CODED", 79)
    assert not ht.anonymize(folder, **asked).is_row_by_row


def test_what_the_classes_alone_cannot_tell_is_refused(tmp_path: Path) -> None:
    folder = folder_of(people(80, 1), tmp_path / "in", 2)
    release = ht.anonymize(folder, quasi_identifiers=["age", "town"], models=[ht.KAnonymity(4)], roles="trust")
    with pytest.raises(InputError, match="cut one by one"):
        release.save_recoding(tmp_path / "cells.json")
    with pytest.raises(InputError, match="cut one by one"):
        release.apply(folder)
    with pytest.raises(InputError, match="known by their places"):
        _ = release.frame


@pytest.mark.filterwarnings("ignore::hushtable.errors.ExposureWarning")
@pytest.mark.parametrize("recoding", ["tight", "readable", "label"])
def test_what_is_told_of_classes_is_what_memory_tells(tmp_path: Path, recoding: Any) -> None:
    grouped: dict[str, Any] = {} if recoding == "tight" else {"town": ht.Hierarchy.frequency()}
    table = people(150, 2).with_columns(note=pl.Series([f"n{i % 9}" for i in range(150)]))
    asked: dict[str, Any] = {
        "quasi_identifiers": ["town", "age", "code"],
        "models": [ht.KAnonymity(4)],
        "sensitive": ["ill"],
        "hierarchies": {"code": {"prefix": [3, 2]}, **grouped},
        "method": ht.Mondrian(recoding=recoding),
        "accept": {"note": "a test"},
    }
    inside = ht.anonymize(table, **asked)
    # To which step kept numbers can be rounded takes their distinct rows, which are too many here.
    inside = replace(inside, exposure=replace(inside.exposure, steps=()))
    release = ht.anonymize(folder_of(table, tmp_path / "in", 2), **asked)
    assert release.is_row_by_row
    ours, theirs = (each.codebook.to_dict("x", external=False) for each in (release, inside))
    assert ours == theirs
    assert release.exposure.to_dict() == inside.exposure.to_dict()
    for audience in ("internal", "external"):
        ours, theirs = (
            {each["name"]: each for each in ht.report(one, audience=audience).to_dict()["sections"]}
            for one in (release, inside)
        )
        for name in ("unprotected", "tests", "told", "done", "asked") if audience == "internal" else theirs:
            assert ours.get(name) == theirs.get(name), name


def test_what_takes_distinct_rows_is_refused_by_name(tmp_path: Path) -> None:
    folder = folder_of(people(80, 1), tmp_path / "in", 2)
    release = ht.anonymize(folder, quasi_identifiers=["age", "town"], models=[ht.KAnonymity(4)], roles="trust")
    for ask, named in {
        release.utility: "utility",
        release.attack: "an attack",
        release.with_bound: "a floor",
        release.plot: "a chart",
        release.mapping: "a mapping",
    }.items():
        with pytest.raises(InputError, match=f"{named}.* takes the distinct rows") as refused:
            ask()
        assert "engine='memory'" in str(refused.value)


def test_a_pass_that_meets_other_records_writes_nothing(tmp_path: Path) -> None:
    table = people(80, 1)
    folder = folder_of(table, tmp_path / "in", 1)
    release = ht.anonymize(folder, quasi_identifiers=["age", "town"], models=[ht.KAnonymity(4)], roles="trust")
    path = folder / "0.parquet"
    was = path.stat()
    # The same values in another order, in a file of the same size and time.
    swapped = table.with_columns(age=pl.concat([table["age"][40:], table["age"][:40]]))
    records = release.origin.numbered_records.records
    batch = swapped.select("age", "town").to_arrow()
    with pytest.raises(InputError, match="changed while it was read"):
        records.check_batch(batch.select(["age", "town"]), 0)
    with pytest.raises(InputError, match="changed while it was read"):
        records.check_batch(table.select("age", "town").to_arrow(), 1)
    records.check_batch(table.select("age", "town").to_arrow(), 0)
    swapped.write_parquet(path)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    with pytest.raises(InputError, match="changed while it was read"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@settings(max_examples=60, deadline=None)
@given(table=frames(max_rows=20), parts=st.integers(1, 3))
def test_codes_and_margins_are_those_of_a_slow_twin(tmp_path_factory: Any, table: pl.DataFrame, parts: int) -> None:
    folder = folder_of(table, tmp_path_factory.mktemp("rows") / "in", parts)
    source = scan(folder)
    try:
        codes = RowCodes.from_scan(source, table.columns)
    except ColumnError:
        return
    assert codes.n_records == len(table)
    margins = codes.margins().frame if len(table) else None
    for column, cells, ours in zip(table.get_columns(), codes.cells.cells, codes.codes, strict=True):
        name, plain = column.name, [_plain(cell) for cell in column.to_list()]
        known = [_plain(cell) for cell in cells.to_list()]
        assert [known[code] for code in ours.tolist()] == plain
        if margins is not None:
            counted: Counter[Any] = Counter()
            for cell, count in zip(margins.column(name).to_list(), margins.counts.tolist(), strict=True):
                counted[_plain(cell)] += count
            assert counted == Counter(plain)


def _plain(cell: Any) -> Any:
    """NaN is missing, and 0 has no sign."""
    return None if cell is None or cell != cell else (cell + 0.0 if isinstance(cell, float) else cell)


@pytest.mark.parametrize(("n_values", "dtype"), [(255, np.uint8), (256, np.uint16), (66_000, np.uint32)])
def test_codes_take_as_few_bytes_as_they_can(tmp_path: Path, n_values: int, dtype: Any) -> None:
    values = np.random.default_rng(0).permutation(n_values)
    folder = folder_of(pl.DataFrame({"v": values}), tmp_path / "in", 3)
    (ours,) = RowCodes.from_scan(scan(folder), ["v"]).codes
    assert ours.dtype == dtype
    assert (ours == values + 1).all()
