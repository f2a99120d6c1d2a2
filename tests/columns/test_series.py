"""Columns of every library and type: each is read, or refused by an error of ours that names it."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import ColumnSpec
from hushtable.columns.series import encode
from hushtable.errors import ColumnError
from hushtable.io import frames

HALF = "canary\ud800"
TWICE = [1, 1, 1, 2, 2, 2]


def objects(cells):
    return pd.Series(cells, dtype=object)


def arrow(cells, dtype):
    return pa.array(cells, dtype)


NO_TABLE_HOLDS = {
    "surrogate": objects(["a", HALF] * 3),
    "surrogate in lists": objects([[HALF]] * 6),
    "surrogate in a category": pd.Series(pd.Categorical(objects(["a", HALF] * 3))),
    "surrogate in an ordered category": pd.Series(pd.Categorical(objects(["a", HALF] * 3), ordered=True)),
    "surrogate in pandas strings": pd.Series(["a", HALF] * 3, dtype=pd.StringDtype("python")),
    "bytes that are no text": pa.Array.from_buffers(
        pa.string(), 6, [None, pa.py_buffer(np.arange(7, dtype=np.int32).tobytes()), pa.py_buffer(b"\xff\xfeabcd")]
    ),
    "long double": pd.Series(np.array(TWICE, np.longdouble)),
    "long double objects": objects([np.longdouble(1)] * 6),
    "complex": pd.Series(np.array(TWICE, complex)),
    "long complex": pd.Series(np.array(TWICE, np.clongdouble)),
    "complex objects": objects([1j] * 6),
    "mixed types": objects(["a", 1, 2.0, None, "b", "c"]),
    "sets": objects([{1}] * 6),
    "objects": objects([object()] * 6),
    "polars objects": pl.Series([object(), None] * 3, dtype=pl.Object),
    "infinite Decimals": objects([Decimal("Infinity"), None] * 3),
    "signalling Decimals": objects([Decimal("sNaN"), None] * 3),
    "huge Decimals": objects([Decimal("1E+400"), None] * 3),
    "huge decimals of pyarrow": arrow([Decimal(10) ** 60, None] * 3, pa.decimal256(70, 2)),
    "categories of one text": pd.Series(pd.Categorical(objects([1, "1"] * 3), categories=[1, "1"], ordered=True)),
    "seconds past the years": arrow([10**13, None] * 3, pa.timestamp("s")),
    "microseconds past the years": pl.Series([2**63 - 1, None] * 3, dtype=pl.Datetime("us")),
    "milliseconds past the years": pl.Series([2**63 - 1, None] * 3, dtype=pl.Datetime("ms")),
    "days before the years": pl.Series([-(2**31), None] * 3, dtype=pl.Date),
    "days past the years": pl.Series([2**31 - 1, None] * 3, dtype=pl.Date),
    "unknown time zone": arrow([1, None] * 3, pa.timestamp("ns", "Nowhere/Land")),
    "maps": arrow([[("a", 1)], None] * 3, pa.map_(pa.string(), pa.int64())),
}

CAN_BE_GROUPED = {
    "float16": pd.Series(np.array(TWICE, np.float16)),
    "float16 of pyarrow": pa.array(np.array(TWICE, np.float16)),
    "Decimals": objects([Decimal("1.5"), Decimal("1E+3"), None] * 2),
    "decimals of polars": pl.Series([Decimal("1.5"), None] * 3),
    "decimals of pyarrow": arrow([Decimal("1.5"), None] * 3, pa.decimal256(50, 2)),
    "large texts": arrow(["a", None] * 3, pa.large_string()),
    "categories of numbers": pd.Series([1.5, 2, 1e16, None, 2, 1e16]).astype("category"),
    "dictionary of numbers": arrow([1.5, None] * 3, pa.float64()).dictionary_encode(),
    "time zone": pd.Series(pd.date_range("2024-01-01", periods=6, tz="Europe/Berlin")),
    "time zone of polars": pl.Series([1, None] * 3, dtype=pl.Datetime("ms", "Asia/Tokyo")),
    "time zone of pyarrow": arrow([1, None] * 3, pa.timestamp("ns", "+05:30")),
    "exponents": pl.Series([1e16, -0.0, 0.0, 1.0, float("nan"), None]),
}

NOT_PICKED = {
    "string views": arrow(["a", None] * 3, pa.string_view()),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3, 6]), pa.array(["a", "b"])),
}

UNGROUPED = {
    "lists": objects([[1]] * 6),
    "bytes": objects([b"\xff"] * 6),
    "durations": pl.Series([dt.timedelta(1), None] * 3),
    "durations of pandas": pd.Series(pd.timedelta_range("1D", periods=6)),
}


def frame_of(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"odd": column, "q": TWICE})
    return (
        pl.DataFrame({"odd": column, "q": TWICE})
        if isinstance(column, pl.Series)
        else pa.table([column, TWICE], ["odd", "q"])
    )


def read_column(data, path):
    frames.read(data).column("odd")


def generalize(data, path):
    assert ht.anonymize(data, quasi_identifiers=["odd"], models=[ht.KAnonymity(2)]).verify().passed


def judge(data, path):
    models = [ht.KAnonymity(2), ht.DistinctLDiversity(1, "odd")]
    assert ht.anonymize(data, quasi_identifiers=["q"], models=models).verify().passed


def verify_groups(data, path):
    ht.verify(data, quasi_identifiers=["odd"], models=[ht.KAnonymity(2)])


def verify_values(data, path):
    ht.verify(data, quasi_identifiers=["q"], models=[ht.TCloseness(0.9, "odd")])


def replace_by_pseudonyms(data, path):
    pseudonyms = ht.Pseudonyms(columns=["odd"], key=bytes(range(32)))
    options = {"quasi_identifiers": ["q"], "models": [ht.KAnonymity(2)], "roles": "trust"}
    _ = ht.anonymize(data, pseudonyms=pseudonyms, **options).frame


def write_csv(data, path):
    ht.anonymize(data, quasi_identifiers=["q"], models=[ht.KAnonymity(2)]).write(path / "out.csv")


def write_parquet(data, path):
    ht.anonymize(data, quasi_identifiers=["q"], models=[ht.KAnonymity(2)]).write(path / "out.parquet")


GROUPING = [generalize, judge, verify_groups, verify_values, replace_by_pseudonyms]
WRITING = [write_csv, write_parquet]


def cases(columns):
    return pytest.mark.parametrize("column", columns.values(), ids=columns.keys())


def check_refused(use, column, path):
    with pytest.raises(ColumnError, match="'odd'") as caught:
        use(frame_of(column), path)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(path.iterdir()) == []


@pytest.mark.parametrize("use", [read_column, *GROUPING, *WRITING])
@cases(NO_TABLE_HOLDS)
def test_cells_that_no_table_holds_are_refused_by_their_column(column, use, tmp_path):
    check_refused(use, column, tmp_path)


@pytest.mark.parametrize("use", [read_column, *GROUPING, *WRITING])
@cases(CAN_BE_GROUPED)
def test_odd_types_are_grouped_and_written(column, use, tmp_path):
    use(frame_of(column), tmp_path)


@pytest.mark.parametrize("use", GROUPING)
@cases(UNGROUPED)
def test_cells_that_cannot_be_grouped_are_refused_by_their_column(column, use, tmp_path):
    check_refused(use, column, tmp_path)


@pytest.mark.parametrize("use", WRITING)
@cases(NOT_PICKED)
def test_rows_that_pyarrow_cannot_pick_are_written(column, use, tmp_path):
    data = frame_of(column)
    use(data, tmp_path)
    (written,) = (frames.read(path) for path in tmp_path.iterdir() if path.suffix in (".csv", ".parquet"))
    cells = zip(data["odd"].to_pylist(), map(str, data["q"].to_pylist()), strict=True)
    assert sorted(map(repr, written.data.select("odd", "q").rows())) == sorted(map(repr, cells))


def test_a_name_of_half_a_character_is_no_text():
    with pytest.raises(ColumnError, match="names that are not text"):
        frames.read(pd.DataFrame([[1]], columns=objects([HALF])))


def test_a_missing_category_is_missing():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert frames.read(pa.table({"c": column})).column("c").to_list() == ["a", None, None]


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_floats_are_numbers_whatever_their_texts_look_like(dtype, is_typed):
    series = pl.Series([1e16, 2e16, 0.0, -0.0], dtype=dtype)
    column, codes = encode(series, ColumnSpec(), is_typed=is_typed, name="c")
    assert (column.kind, codes.tolist()) == ("decimal", [1, 2, 0, 0])


@pytest.mark.parametrize(
    "cells",
    [
        [3, None, -2, 3, 7],
        [2**63 - 1, -(2**63), None, 0],
        [2**63 - 1, 2**63 - 4, 2**63 - 1],
        [-(2**63), -(2**63) + 3],
        [None, None],
        [],
        [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1)],
        [dt.date(1969, 12, 30), None, dt.date(1970, 1, 2), dt.date(1969, 12, 30)],
        [dt.datetime(2024, 1, 1, 0, 0, 0, 3), dt.datetime(2024, 1, 1)],
        [0.5, -1.0, None, 0.5],
    ],
)
def test_values_far_apart_and_close_are_coded_alike(cells):
    dtype = pl.Int64 if not any(cells) else None
    column, codes = encode(pl.Series(cells, dtype=dtype), ColumnSpec(), is_typed=False, name="c")
    assert codes.dtype == np.int32
    distinct = sorted({cell for cell in cells if cell is not None})
    assert column.values.tolist() == distinct
    assert codes.tolist() == [-1 if cell is None else distinct.index(cell) for cell in cells]
