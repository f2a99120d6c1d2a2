"""Table: the same codes from every dataframe library and from files, and collapsing to counts."""

import datetime as dt
import decimal
from collections import Counter

import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given

from hushtable import ColumnSpec, Table
from hushtable.errors import ColumnError
from hushtable.io import frames
from strategies import counted_tables, tables
from twins import naive

SECRET = "canary-7319"
DATE, MOMENT = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 10, 30)
DATE_TEXT, MOMENT_TEXT = "2024-01-01", "2024-01-01 10:30:00"
BERLIN = "Europe/Berlin"
LEVELS = ["low", "mid", "high"]
CENTS = [decimal.Decimal("2.50"), None, decimal.Decimal("1.00")]


def encoded(data, spec=None):
    if isinstance(data, (pl.Series, pd.Series)):
        data = data.to_frame("c")
    elif isinstance(data, (pa.Array, pa.ChunkedArray)):
        data = pa.table({"c": data})
    table = Table.encode(data, specs={"c": spec} if spec else None)
    column = table.column("c")
    return column.kind, column.texts(), table.codes[0].tolist()


def pandas_ns(texts):
    return pd.Series(pd.to_datetime(texts)).astype("datetime64[ns]")


TEXT = ("category", ["a", "b"], [1, -1, 0, 1])
INTEGER = ("integer", ["2", "1152921504606846977"], [1, -1, 0])
DECIMAL = ("decimal", ["-1", "1.5"], [1, -1, 0])
ORDERED = ("ordered", LEVELS, [2, 0, -1, 1])
UNORDERED = ("category", ["high", "low", "mid"], [0, 1, -1, 2])
DATES = ("date", [DATE_TEXT], [0, -1])
MOMENTS = ("datetime", [MOMENT_TEXT], [0, -1])
IN_UTC = ("datetime", ["2024-01-01 09:30:00"], [0, -1])
FLAGS = ("category", ["false", "true"], [1, -1, 0])
NOTHING = ("category", [], [-1, -1])
LABELS = ["high", "low", None, "mid"]
BIG = 2**60 + 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (pd.Series(["b", None, "a", "b"], dtype=object), TEXT),
        (pd.Series(["b", np.nan, "a", "b"], dtype=object), TEXT),
        (pd.Series(["b", None, "a", "b"], dtype="string"), TEXT),
        (pd.Series(["b", None, "a", "b"], dtype="str"), TEXT),
        (pd.Series(["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.string())), TEXT),
        (pd.Series([BIG, None, 2], dtype="Int64"), INTEGER),
        (pd.Series([BIG, None, 2], dtype=object), INTEGER),
        (pd.Series([BIG, None, 2], dtype=pd.ArrowDtype(pa.int64())), INTEGER),
        (pd.Series([1.5, np.nan, -1]), DECIMAL),
        (pd.Series([1.5, None, -1], dtype="Float64"), DECIMAL),
        (pd.Series([1.5, None, -1], dtype="float32"), DECIMAL),
        (pd.Series([1.5, None, -1], dtype=pd.ArrowDtype(pa.float64())), DECIMAL),
        (pd.Series(CENTS, dtype=object), ("decimal", ["1", "2.5"], [1, -1, 0])),
        (pd.Series(pd.Categorical(LABELS, LEVELS, ordered=True)), ORDERED),
        (pd.Series(pd.Categorical(LABELS, LEVELS)), UNORDERED),
        (pd.Series(pd.Categorical([10, 9, None])), ("category", ["10", "9"], [0, 1, -1])),
        (pd.Series(pd.Categorical([10, 9, 10])), ("category", ["10", "9"], [0, 1, 0])),
        (pd.Series(pd.Categorical([10, 9, None], [10, 9], ordered=True)), ("ordered", ["10", "9"], [0, 1, -1])),
        (pandas_ns([MOMENT_TEXT, None]), MOMENTS),
        (pandas_ns([MOMENT_TEXT, None]).astype("datetime64[s]"), MOMENTS),
        (pandas_ns([MOMENT_TEXT, None]).dt.tz_localize(BERLIN), IN_UTC),
        (pd.Series([DATE, None], dtype=object), DATES),
        (pd.Series([True, False]), ("category", ["false", "true"], [1, 0])),
        (pd.Series([True, None, False], dtype="boolean"), FLAGS),
        (pd.Series([True, None, False], dtype=object), FLAGS),
        (pd.Series([None, None], dtype=object), NOTHING),
        (pd.Series([np.nan, np.nan]), ("decimal", [], [-1, -1])),
        (pd.Series([-0.0, 0.0]), ("decimal", ["0"], [0, 0])),
        (pl.Series(["b", None, "a", "b"]), TEXT),
        (pl.Series([BIG, None, 2]), INTEGER),
        (pl.Series([BIG, None, 2], dtype=pl.UInt64), INTEGER),
        (pl.Series([BIG, None, 2], dtype=pl.Int128), INTEGER),
        (pl.Series([2, None, -1], dtype=pl.Int8), ("integer", ["-1", "2"], [1, -1, 0])),
        (pl.Series([1.5, None, -1.0]), DECIMAL),
        (pl.Series([1.5, float("nan"), -1.0]), DECIMAL),
        (pl.Series([1.5, float("nan"), None, -1.0], dtype=pl.Float32), ("decimal", ["-1", "1.5"], [1, -1, -1, 0])),
        (pl.Series([-0.0, 0.0]), ("decimal", ["0"], [0, 0])),
        (pl.Series(CENTS), ("decimal", ["1", "2.5"], [1, -1, 0])),
        (pl.Series(LABELS, dtype=pl.Enum(LEVELS)), ORDERED),
        (pl.Series(LABELS, dtype=pl.Categorical), UNORDERED),
        (pl.Series([DATE, None]), DATES),
        (pl.Series([MOMENT, None]), MOMENTS),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ms")), MOMENTS),
        (pl.Series([MOMENT, None], dtype=pl.Datetime("ns")), MOMENTS),
        (pl.Series([MOMENT, None]).dt.replace_time_zone(BERLIN), IN_UTC),
        (pl.Series([True, None, False]), FLAGS),
        (pl.Series([None, None]), NOTHING),
        (pl.Series([" ", "", None, "x"]), ("category", ["x"], [-1, -1, -1, 0])),
        (pl.Series(["1", "1.0", " 1"]), ("category", [" 1", "1", "1.0"], [1, 2, 0])),
        (pl.Series([], dtype=pl.Int64), ("integer", [], [])),
        (pl.Series([2**63 - 1, -(2**63)]), ("integer", [str(-(2**63)), str(2**63 - 1)], [1, 0])),
        (pa.array(["b", None, "a", "b"]), TEXT),
        (pa.array(["b", None, "a", "b"], pa.large_string()), TEXT),
        (pa.chunked_array([["b", None], ["a"], [], ["b"]]), TEXT),
        (pa.array([BIG, None, 2]), INTEGER),
        (pa.array([1.5, None, -1]), DECIMAL),
        (pa.array([1.5, float("nan"), -1]), DECIMAL),
        (pa.array(CENTS), ("decimal", ["1", "2.5"], [1, -1, 0])),
        (pa.array(LABELS).dictionary_encode(), UNORDERED),
        (pa.array([10, 9, None]).dictionary_encode(), ("category", ["10", "9"], [0, 1, -1])),
        (pa.array([DATE, None]), DATES),
        (pa.array([DATE, None], pa.date64()), ("datetime", ["2024-01-01 00:00:00"], [0, -1])),
        (pa.array([MOMENT, None]), MOMENTS),
        (pa.array([MOMENT, None], pa.timestamp("ns")), MOMENTS),
        (pa.array([MOMENT.replace(hour=9), None], pa.timestamp("us", BERLIN)), IN_UTC),
        (pa.array([True, None, False]), FLAGS),
        (pa.nulls(2), NOTHING),
    ],
)
def test_codes_and_values_of_every_type(data, expected):
    assert encoded(data) == expected


def test_an_ordered_dictionary_keeps_its_order():
    data = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1]), pa.array(LEVELS), ordered=True)
    assert encoded(data) == ORDERED


@pytest.mark.parametrize(
    "data",
    [
        *[pl.Series([float("inf"), 1.0]), pd.Series([-np.inf, 1.0]), pa.array([float("inf"), None])],
        *[pl.Series([[1]]), pd.Series([[1], [2]]), pa.array([[1]])],
        *[pl.Series([{"a": 1}]), pd.Series([{"a": 1}]), pa.array([{"a": 1}])],
        *[pl.Series([[1]], dtype=pl.Array(pl.Int8, 1)), pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))],
        *[pl.Series([dt.timedelta(1)]), pa.array([dt.timedelta(1)])],
        *[pl.Series([b"x"]), pd.Series([b"x"]), pa.array([b"x"]), pd.Series(pd.to_timedelta([1], unit="s"))],
        *[pl.Series([object()], dtype=pl.Object), pd.Series([object()]), pd.Series([{1}, {2}]), pd.Series([1j])],
        *[pd.Series(pd.period_range("2024", periods=2, freq="D")), pd.Series(pd.interval_range(0, 2))],
    ],
)
def test_types_that_cannot_be_coded(data):
    with pytest.raises(ColumnError, match="column 'c'"):
        encoded(data)


@pytest.mark.parametrize(
    "cells",
    [
        *[[1, SECRET], [SECRET, 1], [1.5, SECRET], [True, SECRET], [DATE, SECRET], [DATE, MOMENT], [1, 2.5]],
        *[[1, True], [True, 1], [1, DATE], [SECRET, b"x"], [[1], SECRET]],
    ],
)
def test_a_column_of_mixed_types(cells):
    with pytest.raises(ColumnError, match="column 'c'") as caught:
        encoded(pd.Series(cells, dtype=object))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "data",
    [
        pl.Series([2**63, 1], dtype=pl.UInt64),
        pl.Series([-(2**100)], dtype=pl.Int128),
        pd.Series(np.array([2**63, 1], dtype="uint64")),
        pd.Series([2**64, 1], dtype=object),
        pa.array([2**63, 1], pa.uint64()),
    ],
)
def test_integers_past_an_int64(data):
    with pytest.raises(ColumnError, match="'c' holds integers past") as caught:
        encoded(data)
    assert "9223372036854775808" not in str(caught.value)


def test_moments_outside_the_years_of_python():
    far = pl.Series([2**61, 0], dtype=pl.Int64).cast(pl.Datetime("us"))
    kind, texts, codes = encoded(far)
    assert (kind, codes) == ("datetime", [1, 0])
    assert texts[0] == "1970-01-01 00:00:00"
    assert texts[1] != texts[0]


def test_nanoseconds_are_read_as_microseconds():
    data = pl.Series([1, 999, 1000], dtype=pl.Int64).cast(pl.Datetime("ns"))
    assert encoded(data)[2] == [0, 0, 1]


@pytest.mark.parametrize(
    ("data", "spec", "expected"),
    [
        (pl.Series(["10", "9"]), ColumnSpec(kind="integer"), ("integer", ["9", "10"], [1, 0])),
        (pl.Series(["1", "1.0"]), ColumnSpec(kind="decimal"), ("decimal", ["1"], [0, 0])),
        (pl.Series([10, 9]), ColumnSpec(kind="category"), ("category", ["10", "9"], [0, 1])),
        (pl.Series([1.0, 0.5]), ColumnSpec(kind="category"), ("category", ["0.5", "1"], [1, 0])),
        (pl.Series([10, 9]), ColumnSpec(kind="ordered", order=("10", "9")), ("ordered", ["10", "9"], [0, 1])),
        (pl.Series([10, 9]), ColumnSpec(order=("10", "9")), ("ordered", ["10", "9"], [0, 1])),
        (pl.Series(["b", "a"]), ColumnSpec(order=("b", "x", "a")), ("ordered", ["b", "a"], [0, 1])),
        (pl.Series(["b", "a"]), ColumnSpec(kind="ordered"), ("ordered", ["a", "b"], [1, 0])),
        (pl.Series([True, False]), ColumnSpec(order=("true", "false")), ("ordered", ["true", "false"], [0, 1])),
        (
            pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
            ColumnSpec(kind="category"),
            ("category", ["a", "b"], [1, 0]),
        ),
        (
            pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
            ColumnSpec(order=("a", "b")),
            ("ordered", ["a", "b"], [1, 0]),
        ),
        (pl.Series(["2", "1"], dtype=pl.Enum(["2", "1"])), ColumnSpec(kind="integer"), ("integer", ["1", "2"], [1, 0])),
        (pl.Series([None, None], dtype=pl.Enum([])), ColumnSpec(), ("ordered", [], [-1, -1])),
    ],
)
def test_declared_kinds_and_orders(data, spec, expected):
    assert encoded(data, spec) == expected


@pytest.mark.parametrize(
    ("data", "spec"),
    [
        (pl.Series([SECRET]), ColumnSpec(kind="integer")),
        (pl.Series([SECRET]), ColumnSpec(order=("a",))),
        (pl.Series([True]), ColumnSpec(kind="decimal")),
        (pl.Series([DATE]), ColumnSpec(kind="integer")),
        (pl.Series([1, 2]), ColumnSpec(kind="date")),
    ],
)
def test_declared_kinds_that_misfit(data, spec):
    with pytest.raises(ColumnError, match="column 'c'") as caught:
        encoded(data, spec)
    assert SECRET not in str(caught.value)


def test_a_csv_is_typed_by_its_texts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n,x,d,t,z\n10,1.50,2024-01-01,2024-01-01T10:30,01234\n9,1.5,,,\n 10,-1,2024-01-01,,\n")
    table = Table.encode(path)
    assert [column.kind for column in table.columns] == ["integer", "decimal", "date", "datetime", "category"]
    assert table.codes.tolist() == [[1, 0, 1], [1, 1, 0], [0, -1, 0], [0, -1, -1], [0, -1, -1]]
    assert Table.encode(str(path)).codes.tolist() == table.codes.tolist()


def test_a_csv_gives_the_codes_of_the_typed_frame(tmp_path):
    frame = pl.DataFrame(
        {
            "n": [10, None, -9, 10],
            "x": [1.5, 0.1 + 0.2, None, -1.0],
            "d": [DATE, None, dt.date(1969, 12, 31), DATE],
            "t": [MOMENT, dt.datetime(1900, 1, 1, 0, 0, 1), None, MOMENT],
            "c": ["b", "a", None, "b"],
        }
    )
    frames.write(frames.read(frame), tmp_path / "a.csv")
    from_file, from_frame = Table.encode(tmp_path / "a.csv"), Table.encode(frame)
    assert from_file.codes.tolist() == from_frame.codes.tolist()
    for one, other in zip(from_file.columns, from_frame.columns, strict=True):
        assert (one.name, one.kind, one.texts()) == (other.name, other.kind, other.texts())


def test_columns_are_picked_in_the_order_given():
    frame = pl.DataFrame({"a": [1], "b": [2], "c": [3]})
    assert Table.encode(frame, ["c", "a"]).names == ("c", "a")
    assert Table.encode(Table.encode(frame), ["c", "a"]).names == ("c", "a")
    assert Table.encode(frame, []).names == Table.encode(Table.encode(frame), []).names == ()


@pytest.mark.parametrize("columns", [["a", "d"], ["a", "a"]])
def test_columns_that_cannot_be_picked(columns):
    frame = pl.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(ColumnError):
        Table.encode(frame, columns)
    with pytest.raises(ColumnError):
        Table.encode(frame).select(columns)


def same_table(one, other):
    assert one.names == other.names
    assert one.codes.tolist() == other.codes.tolist()
    assert [(c.kind, c.texts()) for c in one.columns] == [(c.kind, c.texts()) for c in other.columns]


@given(tables(min_rows=1))
def test_pandas_polars_and_pyarrow_give_the_same_table(frame):
    assume(all(frame[name].count() for name in frame.columns))
    plain = frame.cast({pl.Enum: pl.String})
    same_table(Table.encode(plain.to_arrow()), Table.encode(plain))
    same_table(
        Table.encode(pa.table({name: pa.array(plain[name].to_list()) for name in plain.columns})), Table.encode(plain)
    )
    same_table(Table.encode(plain.to_pandas(use_pyarrow_extension_array=True)), Table.encode(plain))


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda size: pl.Series([None] * size, dtype=pl.Date), "date"),
        (lambda size: pl.Series([None] * size, dtype=pl.Datetime), "datetime"),
        (lambda size: pl.Series([None] * size, dtype=pl.Float64), "decimal"),
        (lambda size: pa.nulls(size, pa.date32()), "date"),
        (lambda size: pa.nulls(size, pa.timestamp("us")), "datetime"),
        (lambda size: pa.nulls(size, pa.float64()), "decimal"),
        (lambda size: pa.nulls(size, pa.int64()), "integer"),
        (lambda size: pd.Series([None] * size, dtype="datetime64[ns]"), "datetime"),
        (lambda size: pd.Series([None] * size, dtype="Int64"), "integer"),
        (lambda size: pd.Series([None] * size, dtype="float64"), "decimal"),
    ],
)
def test_a_column_without_values_keeps_its_kind(make, kind, size):
    assert encoded(make(size)) == (kind, [], [-1] * size)


@given(tables())
def test_codes_keep_the_order_of_the_values(frame):
    table = Table.encode(frame)
    for name, codes, column in zip(frame.columns, table.codes, table.columns, strict=True):
        cells = frame[name].cast(pl.String) if frame[name].dtype == pl.Boolean else frame[name]
        assert [code < 0 for code in codes] == cells.is_null().to_list()
        assert column.n_values == cells.drop_nulls().n_unique()
        ranks = cells.rank("dense").to_list()
        assert codes.tolist() == [-1 if rank is None else rank - 1 for rank in ranks]


@given(tables())
def test_decoding_gives_the_cells_back(frame):
    as_text = frame.cast({pl.Enum: pl.String, pl.Boolean: pl.String})
    decoded = Table.encode(frame).decode()
    assert decoded.columns == frame.columns
    assert decoded.rows() == as_text.rows()
    if frame.height:
        assert decoded.schema == as_text.schema


@given(counted_tables())
def test_collapsing_counts_as_a_dictionary_does(table):
    rows = list(zip(*table.codes.tolist(), strict=True))
    distinct, inverse = table.collapse()
    counts = Counter()
    for row, count in zip(rows, table.counts.tolist(), strict=True):
        counts[row] += count
    assert list(zip(*distinct.codes.tolist(), strict=True)) == list(counts)
    assert distinct.counts.tolist() == list(counts.values())
    assert distinct.n_records == table.n_records
    assert distinct.columns == table.columns
    assert distinct.codes[:, inverse].tolist() == table.codes.tolist()
    groups = naive.classes(rows)
    assert inverse.tolist() == [next(c for c, rows in enumerate(groups) if row in rows) for row in range(table.n_rows)]


@given(counted_tables())
def test_collapsing_twice_changes_nothing(table):
    once, _ = table.collapse()
    twice, inverse = once.collapse()
    assert twice.codes.tolist() == once.codes.tolist()
    assert twice.counts.tolist() == once.counts.tolist()
    assert inverse.tolist() == list(range(once.n_rows))


@given(counted_tables())
def test_expanding_repeats_the_rows(table):
    rows = zip(table.decode().rows(), table.counts.tolist(), strict=True)
    assert table.expand().rows() == [row for row, count in rows for _ in range(count)]
    assert Counter(table.expand().rows()) == Counter(table.collapse()[0].expand().rows())


@given(counted_tables(max_columns=3))
def test_selecting_keeps_rows_and_counts(table):
    names = table.names[::-1]
    chosen = table.select(names)
    assert chosen.names == names
    assert chosen.codes.tolist() == table.codes[::-1].tolist()
    assert chosen.counts.tolist() == table.counts.tolist()
    assert all(chosen.column(name) is table.column(name) for name in names)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_tables_of_no_row_and_of_one(n_rows):
    table = Table.encode(pl.DataFrame({"a": [1], "b": ["x"]})[:n_rows])
    distinct, inverse = table.collapse()
    assert table.n_rows == table.n_records == distinct.n_rows == len(inverse) == n_rows
    assert table.codes.shape == distinct.codes.shape == (2, n_rows)
    assert table.decode().shape == table.expand().shape == (n_rows, 2)


def test_a_table_of_no_columns_keeps_its_records():
    table = Table.encode(pl.DataFrame({"a": [1, 2]})).select([])
    distinct, inverse = table.collapse()
    assert (table.n_records, table.codes.shape) == (2, (0, 2))
    assert distinct.counts.tolist() == [2]
    assert inverse.tolist() == [0, 0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a long loop")
def test_collapsing_many_distinct_rows_takes_the_hash():
    n_rows = 100_000
    generator = np.random.default_rng(0)
    columns = {name: generator.permutation(n_rows) for name in "abc"} | {"d": generator.integers(0, 3, n_rows)}
    frame = pl.DataFrame(columns)
    frame = pl.concat([frame, frame[:1000], frame[:10]])
    table = Table.encode(frame)
    distinct, inverse = table.collapse()
    assert distinct.n_rows == n_rows
    assert distinct.n_records == frame.height
    assert np.array_equal(distinct.codes[:, inverse], table.codes)
    assert Counter(distinct.counts.tolist()) == {1: n_rows - 1000, 2: 990, 3: 10}
    pair, _ = table.select(["d", "a"]).collapse()
    assert pair.n_rows == frame.select("d", "a").n_unique()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a long loop")
def test_hashed_rows_are_counted_as_polars_counts_them():
    generator = np.random.default_rng(1)
    frame = pl.DataFrame({name: generator.integers(0, 400, 50_000) for name in "abcd"})
    frame = frame.with_columns(pl.when(pl.col("a") % 7 > 0).then("a"), e=pl.lit("x"))
    frame = pl.concat([frame, frame.sample(20_000, seed=1)])
    distinct, _ = Table.encode(frame).collapse()
    expected = frame.group_by(frame.columns, maintain_order=True).len()
    assert distinct.decode().rows() == expected.drop("len").rows()
    assert distinct.counts.tolist() == expected["len"].to_list()


def test_arrays_are_read_only_and_contiguous():
    table = Table.encode(pl.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"]}))
    for each in (table, table.collapse()[0], table.select(["b"])):
        assert each.codes.dtype == np.int32
        assert each.counts.dtype == np.int64
        assert all(codes.flags.c_contiguous for codes in each.codes)
        with pytest.raises(ValueError, match="read-only"):
            each.codes[0, 0] = 0
        with pytest.raises(ValueError, match="read-only"):
            each.counts[0] = 0


def test_encoding_leaves_the_data_as_they_were():
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", None]}, index=[5, 5])
    before = frame.copy(deep=True)
    Table.encode(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_the_repr_shows_names_and_numbers_only():
    table = Table.encode(pl.DataFrame({"age": [7319, 7319], "sex": [SECRET, SECRET]}))
    shown = repr(table) + repr(table.columns) + repr(table.collapse()[0])
    assert repr(table) == "Table(2 records in 2 rows, columns 'age', 'sex')"
    assert SECRET not in shown
    assert "7319" not in shown


@pytest.mark.parametrize("name", ["two words", "a'b", "😀", "a,b"])
def test_odd_column_names(name):
    table = Table.encode(pd.DataFrame({name: [1, 2], "x": ["a", "b"]}))
    assert table.names == (name, "x")
    assert table.index(name) == 0
    assert table.decode().columns == [name, "x"]
