"""Distinct rows of files: the same as polars finds in the whole table, whatever the batches and the types."""

import datetime as dt
from collections import Counter
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from hushtable.errors import ColumnError, InputError
from hushtable.io import distinct_rows
from hushtable.io.batches import scan
from hushtable.io.distinct_rows import RowKeys, RowWords, collapse
from hushtable.tables.table import Table
from typed_frames import rows_of, tables, written


def records(frame):
    rows = rows_of(frame.native)
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, frame.counts.tolist(), strict=True))


@given(data=st.data(), table=tables())
def test_distinct_rows_are_those_of_the_whole_table(tmp_path_factory, data, table):
    sizes = data.draw(st.lists(st.integers(0, 5), max_size=3))
    group = data.draw(st.integers(1, 4))
    folder = written(table, tmp_path_factory.mktemp("t") / "in", sizes, row_group_size=group)
    frame = collapse(scan(folder))
    assert records(frame) == Counter(rows_of(table))
    assert frame.n_records == len(table)
    assert frame.native.schema == pl.read_parquet(folder / "0.parquet").schema
    coded = collapse(scan(folder), coded=table.columns[1:])
    assert coded.counts.tolist() == frame.counts.tolist()
    for one, other, name in zip(coded.native, frame.native, table.columns, strict=True):
        is_text = name in table.columns[1:] and other.dtype in (pl.String, pl.Categorical, pl.Enum)
        assert isinstance(one.dtype, pl.Enum) if is_text else one.dtype == other.dtype
        assert (one.cast(pl.String) if is_text else one).equals(other.cast(pl.String) if is_text else other)
    whole = Table.encode(table).collapse()[0]
    # Blank texts are cells of a file, and missing in a table.
    ours = Table.encode(frame).collapse()[0]
    assert sorted(ours.counts.tolist()) == sorted(whole.counts.tolist())
    for one, other in zip(ours.columns, whole.columns, strict=True):
        assert (one.kind, one.values.tolist()) == (other.kind, other.values.tolist())


@given(table=tables(min_rows=1), seed=st.integers(0, 5))
def test_the_order_of_records_and_files_does_not_show(tmp_path_factory, table, seed):
    mixed = table[np.random.default_rng(seed).permutation(len(table))]
    folder = tmp_path_factory.mktemp("t")
    one = collapse(scan(written(table, folder / "one", [])))
    other = collapse(scan(written(mixed, folder / "other", [len(table) // 2], row_group_size=2)))
    assert one.native.equals(other.native)
    assert one.counts.tolist() == other.counts.tolist()


@pytest.mark.parametrize("is_coded", [True, False])
@pytest.mark.parametrize("store_schema", [True, False])
def test_how_a_file_is_coded_does_not_matter(tmp_path, is_coded, store_schema):
    cells = pa.table({"a": ["x", None, "y", "x"], "b": pa.array([1, 2, None, 1], pa.int16())})
    coded = cells.set_column(0, "a", cells.column(0).dictionary_encode())
    pq.write_table(coded, tmp_path / "1.parquet", use_dictionary=is_coded, store_schema=store_schema, row_group_size=2)
    frame = collapse(scan(tmp_path / "1.parquet"))
    assert records(frame) == {("x", 1): 2, (None, 2): 1, ("y", None): 1}


def test_columns_come_in_the_order_asked_for(tmp_path):
    pl.DataFrame({"a": [1, 1], "a.b": [2, 3], "c": [4, 4]}).write_parquet(tmp_path / "t.parquet")
    assert collapse(scan(tmp_path / "t.parquet"), ["c", "a"]).native.rows() == [(4, 1)]
    with pytest.raises(ColumnError, match="'d'"):
        collapse(scan(tmp_path / "t.parquet"), ["d"])


@pytest.mark.parametrize("n_keys", [2**62, 3, 1])
def test_rows_of_many_wide_columns_take_several_words(tmp_path, monkeypatch, n_keys):
    sorting_keys = distinct_rows._sorting_keys
    # As if the hashes of many rows were equal.
    monkeypatch.setattr(distinct_rows, "_sorting_keys", lambda words: sorting_keys(words) % n_keys)
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.integers(0, 2**62, 500)[rng.integers(0, 500, 2_000)] for j in range(12)})
    table = pl.concat([table, table[:700]])
    monkeypatch.setattr(distinct_rows, "_MIN_ROWS_PER_MERGE", 100)
    frame = collapse(scan(written(table, tmp_path / "in", [900], row_group_size=300)))
    expected = table.group_by(table.columns).len().sort(table.columns)
    assert frame.native.equals(expected.drop("len"))
    assert frame.counts.tolist() == expected["len"].to_list()


@given(
    st.lists(st.integers(1, 2**20), min_size=1, max_size=9),
    st.booleans(),
    st.integers(0, 30),
    st.integers(0, 100),
)
def test_words_and_keys_tell_rows_apart(widths, has_room, n_rows, seed):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, width, n_rows) for width in widths]
    of_columns = [(np.arange(width), code) for width, code in zip(widths, codes, strict=True)]
    layout = RowWords(widths, has_room=has_room)
    assert layout.has_room_for(widths)
    words = layout.pack_rows(of_columns, n_rows)
    assert all((layout.codes_of_column(words, j) == code).all() for j, code in enumerate(codes))
    keys = RowKeys(widths).keys_of_rows(of_columns, n_rows, grow=True)
    assert len(np.unique(keys)) == len(set(zip(*(code.tolist() for code in codes), strict=True)))


def test_too_many_distinct_rows_name_the_column_with_the_most(tmp_path):
    pl.DataFrame({"sex": ["f", "m"] * 50, "zip": range(100)}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        InputError, match=r"(?s)more than 99 distinct rows.*'zip' has the most different values \(100\)"
    ):
        collapse(scan(tmp_path / "t.parquet"), most_rows=99)
    assert collapse(scan(tmp_path / "t.parquet"), most_rows=100).n_rows == 100


def test_types_that_cannot_be_grouped(tmp_path):
    pl.DataFrame({"a": [[1]], "b": [b"x"], "c": [1]}).write_parquet(tmp_path / "t.parquet")
    for name in "ab":
        with pytest.raises(ColumnError, match="cannot be grouped"):
            collapse(scan(tmp_path / "t.parquet"), [name])
    assert collapse(scan(tmp_path / "t.parquet"), ["c"]).n_rows == 1


def test_moments_of_a_zone_keep_it(tmp_path):
    at = dt.datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Paris"))
    pl.DataFrame({"at": [at, at]}).write_parquet(tmp_path / "t.parquet")
    assert collapse(scan(tmp_path / "t.parquet")).native.schema["at"] == pl.Datetime("us", "Europe/Paris")
