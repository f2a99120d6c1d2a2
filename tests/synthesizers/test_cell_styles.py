"""Styles: values are written as a column writes its own, or not at all."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from hushtable.columns.column import ColumnSpec
from hushtable.columns.series import encode, infer_spec
from hushtable.errors import ColumnError
from hushtable.synthesizers.writing import cells_like, convert_cells, n_decimals


def written(cells, values, spec=None, dtype=None):
    series = pl.Series(cells, dtype=dtype)
    spec = spec or ColumnSpec()
    if isinstance(series.dtype, pl.String):
        spec = infer_spec(series, spec, is_typed=True)
    column, codes = encode(series, spec, is_typed=True, name="c")
    found = cells_like(series, column, codes, spec, np.array(values))
    return None if found is None else found.to_list()


@pytest.mark.parametrize(
    ("cells", "values", "expected"),
    [
        (["1", "20", None], [3, -40], ["3", "-40"]),
        (["1.50", "2.00", ""], [3.0, 4.25], ["3.00", "4.25"]),
        (["1", "2.5", "3.25"], [4.0, 0.5], ["4", "0.5"]),
        (["1.0", "2.5", "3.25"], [4.0, 0.75], ["4.0", "0.75"]),
        (["1,50", "2,25"], [3.5], ["3,50"]),
        (["1.234,50", "7,00", "2.500,10"], [1234567.5, 12.0], ["1.234.567,50", "12,00"]),
        (["1,234", "2,345,678", "12,345"], [999, 123456], ["999", "123,456"]),
        ([" 39", " 40"], [41], [" 41"]),
        ([" 39", "40", "41"], [7], ["7"]),
        (["2020-01-31", "2021-12-01"], ["2020-05-06"], ["2020-05-06"]),
        (["31.01.2020", "01.12.2021"], ["2020-05-06"], ["06.05.2020"]),
        (["31.1.2020", "1.12.2021", "5.5.2020"], ["2020-05-06"], ["6.5.2020"]),
        (["01/31/2020", "02/28/2020"], ["2020-05-06"], ["05/06/2020"]),
        (["Jan 31, 2020", "Feb 28, 2020"], ["2020-05-06"], ["May 06, 2020"]),
    ],
)
def test_text(cells, values, expected):
    dtype = "datetime64[D]" if isinstance(values[0], str) else None
    assert written(cells, np.array(values, dtype)) == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2020-01-31 10:05", "2021-12-01 00:00"], "2020-05-06 07:08"),
        (["2020-01-31T10:05:01", "2021-12-01T00:00:00"], "2020-05-06T07:08:09"),
        (["2020-01-31 10:05:01.250", "2021-12-01 00:00:00.500"], "2020-05-06 07:08:09.000"),
        (["31.01.2020 10:05", "01.12.2021 00:00"], "06.05.2020 07:08"),
        (["31.1.2020 10:05", "1.12.2021 00:00"], "6.5.2020 07:08"),
    ],
)
def test_moments(cells, expected):
    assert written(cells, np.array(["2020-05-06T07:08:09"], "datetime64[us]")) == [expected]


@pytest.mark.parametrize("cells", [["1e-7", "2.5e3", "1e300"], ["+1", "+2"], ["31-JAN-2020", "28-FEB-2020"]])
def test_no_style(cells):
    values = np.array([dt.date(2020, 1, 1)], "datetime64[D]") if "JAN" in cells[0] else np.array([5.0])
    assert written(cells, values) is None


def test_leading_zeros_that_were_said_to_be_numbers():
    assert written(["007", "042", "001"], [5], ColumnSpec("integer")) is None


@pytest.mark.parametrize(
    ("dtype", "cells", "values", "expected"),
    [
        (pl.Int8(), [1, 2, None], [3], 3),
        (pl.Float32(), [0.5, 1.5], [0.1], np.float32(0.1)),
        (pl.Decimal(10, 2), [Decimal("1.50"), None], [2.25], Decimal("2.25")),
        (pl.Date(), [dt.date(2020, 1, 1)], ["2020-05-06"], dt.date(2020, 5, 6)),
        (pl.Datetime("ms"), [dt.datetime(2020, 1, 1)], ["2020-05-06T07:08"], dt.datetime(2020, 5, 6, 7, 8)),
        (pl.Enum(["1", "2"]), ["1", "2"], [1], None),
    ],
    ids=str,
)
def test_types(dtype, cells, values, expected):
    values = np.array(values, "datetime64[us]" if isinstance(values[0], str) else None)
    values = values.astype("datetime64[D]") if isinstance(dtype, pl.Date) else values
    series = pl.Series(cells, dtype=dtype)
    column, codes = encode(series, ColumnSpec(), is_typed=False, name="c")
    found = cells_like(series, column, codes, ColumnSpec(), values)
    assert found is None if expected is None else found.dtype == dtype and found.to_list() == [expected]


def test_time_zones():
    zone = "Europe/Berlin"
    series = pl.Series([dt.datetime(2020, 1, 1)]).dt.replace_time_zone(zone)
    column, codes = encode(series, ColumnSpec(), is_typed=False, name="c")
    assert cells_like(series, column, codes, ColumnSpec(), column.values).equals(series)


def test_decimals():
    for dtype in (pl.Float32(), pl.Float64()):
        series = pl.Series([0.1, 2.25, None, 7], dtype=dtype)
        assert n_decimals(encode(series, ColumnSpec(), is_typed=False, name="c")[0], series) == 2


@pytest.mark.parametrize(
    ("new", "own", "expected"),
    [
        (pl.Series([2.5, None]), ["1,50", "2,25"], ["2,50", None]),
        (pl.Series([3]), ["1,50", "2,25"], ["3,00"]),
        (pl.Series(["anything"]), ["1,50", "2,25"], ["anything"]),
        (pl.Series([7]), ["01234", "x"], ["7"]),
        (pl.Series([dt.date(2020, 5, 6)]), ["31.01.2020", "01.12.2021"], ["06.05.2020"]),
        (pl.Series([dt.datetime(2020, 5, 6, 7)]), ["31.01.2020", "01.12.2021"], ["2020-05-06 07:00:00"]),
    ],
)
def test_cells_from_elsewhere(new, own, expected):
    own = pl.Series(own)
    spec = infer_spec(own, ColumnSpec(), is_typed=True)
    column, codes = encode(own, spec, is_typed=True, name="c")
    assert convert_cells(new, own, column, codes, spec).to_list() == expected


def test_cells_of_another_type_are_named_by_their_column_only():
    own = pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"]))
    column, codes = encode(own, ColumnSpec(), is_typed=False, name="level")
    with pytest.raises(ColumnError, match="'level'") as caught:
        convert_cells(pl.Series(["canary"]), own, column, codes, ColumnSpec())
    assert "canary" not in str(caught.value)
