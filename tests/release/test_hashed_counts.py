"""Unique records, counted by hashes, are those that memory counts."""

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushtable as ht
from hushtable.io import frames
from hushtable.release import hashed_counts
from hushtable.release.exposing import KeptColumns, measure_exposure
from hushtable.release.exposure import ExposureLimit


@pytest.mark.parametrize("seed", range(4))
def test_hashes_count_what_memory_counts(seed, monkeypatch):
    monkeypatch.setattr(hashed_counts, "_HASHES_PER_SORT", 16)
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({name: rng.integers(0, width, 60) for name, width in zip("abc", (9, 25, 4), strict=True)})
    table = table.with_columns(pl.when(pl.col("a") > 0).then("a"))
    whole = measure_exposure(frames.read(table), np.zeros(60, np.int32), KeptColumns(list("abc")))
    found = hashed_counts.count_unique_records([table[:25].to_arrow(), table[25:].to_arrow()], list("abc"), 2, 1.0)
    assert (found[0], found[1], found[3]) == (60, whole.n_unique, 2)


def test_cells_of_any_type_are_counted():
    cells = {
        "list": [[1], [1], [2]],
        "struct": [{"x": 1}, {"x": 1}, {"x": 2}],
        "binary": [b"a", b"a", b"b"],
        "time": [dt.time(1), dt.time(1), dt.time(2)],
        "duration": [dt.timedelta(1), dt.timedelta(1), dt.timedelta(2)],
        "half": pa.array(np.array([1, 1, 2], np.float16)),
    }
    for name, column in cells.items():
        assert hashed_counts.count_unique_records([pa.table({name: column})], [name], 1, 1.0)[1] == 1, name


def test_no_larger_sets_are_looked_at_once_the_limit_is_passed():
    table = pa.table({"a": range(60), "b": [0] * 60})
    assert hashed_counts.count_unique_records([table], ["a", "b"], 2, 0.05)[3] == 1


def test_odd_columns_are_measured_and_written(tmp_path):
    (tmp_path / "in").mkdir()
    table = pa.table(
        {
            "age": [30] * 60,
            "tags": [[i % 2] for i in range(60)],
            "at": pa.array([i % 3 for i in range(60)], pa.time64("us")),
            "key": [b"x"] * 60,
            "took": pa.array([5] * 60, pa.duration("us")),
        }
    )
    pq.write_table(table, tmp_path / "in" / "0.parquet")
    release = ht.anonymize(tmp_path / "in", quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust")
    release = release.with_exposure(ExposureLimit(), is_enforced=True)
    assert (release.exposure.n_records, release.exposure.n_unique) == (60, 0)
    release.write(tmp_path / "out")
    written = pq.read_table(tmp_path / "out")
    assert written.schema.names == table.schema.names
    assert Counter(map(str, written["tags"].to_pylist())) == Counter(map(str, table["tags"].to_pylist()))


def test_too_many_distinct_rows_to_hold_are_counted_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("hushtable.release.exposing._MAX_ROWS_HELD", 10)
    (tmp_path / "in").mkdir()
    table = pl.DataFrame({"age": [30] * 60, "a": range(60), "b": [1, 2] * 30})
    table.write_parquet(tmp_path / "in" / "0.parquet")
    release = ht.anonymize(tmp_path / "in", quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust")
    release = release.with_exposure(ExposureLimit(), is_enforced=True)
    with pytest.raises(ht.ExposureError, match="at least 60 of 60 records are unique"):
        release.write(tmp_path / "out")
    release = release.with_exposure(ExposureLimit(), accepted={"a": "nobody knows it"}, is_enforced=True)
    release.write(tmp_path / "out")
