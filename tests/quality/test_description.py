"""A table in figures, against pandas."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

from hushtable.columns.column import Column
from hushtable.quality.similarity import describe_table, pearson
from hushtable.tables.table import Table
from strategies import counted_tables, tables

NUMBERS = ("integer", "decimal")


def naive_description(table):
    """Describe the records, one by one, with pandas; its NaN is None."""
    records = table.expand()
    # Everything a float or an object, so that pandas is asked of plain columns.
    numbers = [column.name for column in table.columns if column.kind in NUMBERS]
    frame = pd.DataFrame(
        {name: pd.Series(records[name].to_list(), dtype="float64" if name in numbers else "object")
         for name in table.names}
    )  # fmt: skip
    columns = {name: naive_column(frame[name], is_number=name in numbers) for name in table.names}
    matrix = frame[numbers].corr()
    correlations = {
        (first, second): None if math.isnan(matrix.loc[first, second]) else matrix.loc[first, second]
        for place, first in enumerate(numbers)
        for second in numbers[:place]
    }
    return int(frame.isna().any(axis=1).sum()), columns, correlations


def naive_column(column, *, is_number):
    figures = {"n_missing": int(column.isna().sum()), "n_distinct": column.nunique()}
    names = ("mean", "median", "std", "minimum", "maximum", "kurtosis", "skewness", "q1", "q3")
    if not is_number:
        return figures | dict.fromkeys(names)
    values = [column.mean(), column.median(), column.std(), column.min(), column.max(), column.kurt(), column.skew()]
    values += [column.quantile(0.25), column.quantile(0.75)]
    figures |= {name: None if math.isnan(value) else value for name, value in zip(names, values, strict=True)}
    if column.nunique() == 1:
        # The one departure: pandas calls a constant symmetric and normal.
        figures |= {"kurtosis": None, "skewness": None}
    return figures


def close(found, expected):
    """Compare figures by name; None is close to None alone."""
    defined = {name: value for name, value in expected.items() if value is not None}
    undefined = found.keys() - defined.keys()
    return (
        found.keys() == expected.keys()
        and all(found[name] is None for name in undefined)
        and {name: found[name] for name in defined} == pytest.approx(defined, rel=1e-9, abs=1e-9)
    )


@given(counted_tables(max_columns=5), counted_tables(max_columns=4, kinds=NUMBERS))
def test_describe_is_pandas(mixed, numbers):
    for table in (mixed, numbers):
        described = describe_table(table)
        n_incomplete, columns, correlations = naive_description(table)
        assert (described.n_rows, described.n_columns) == (table.n_records, len(table.columns))
        assert described.n_incomplete == n_incomplete
        for name, column in described.columns.items():
            found = column.to_dict()
            assert found.pop("kind") == table.column(name).kind
            assert close(found, columns[name]), name
        assert list(described.correlations) == list(correlations)
        assert close(described.correlations, correlations)


@given(tables(kinds=NUMBERS))
def test_counts_are_records(frame):
    table = Table.encode(frame)
    distinct, _ = table.collapse()
    assert close(flat(describe_table(distinct)), flat(describe_table(table)))


@given(counted_tables(min_rows=1))
def test_rows_that_count_nothing_are_nobody(table):
    """So are values that no record has."""
    ghosts = Table(table.columns, table.codes[:, ::-1].copy(), np.zeros_like(table.counts))
    together = Table(
        table.columns, np.hstack([table.codes, ghosts.codes]), np.concatenate([table.counts, ghosts.counts])
    )
    assert describe_table(together) == describe_table(table)
    assert describe_table(table.take(np.arange(1))) == describe_table(table.take(np.arange(1)).without_unused())


def flat(description):
    """Return every figure by a name of its own."""
    columns = {
        (name, key): value for name, column in description.columns.items() for key, value in column.to_dict().items()
    }
    sizes = {"n_rows": description.n_rows, "n_incomplete": description.n_incomplete}
    return {key: value for key, value in (columns | description.correlations | sizes).items() if key[-1] != "kind"}


def test_worked_by_hand():
    frame = pl.DataFrame({"a": [1, 2, 2, 3, 12], "b": [2.0, 4.0, 4.0, None, 24.0], "c": ["x", None, "x", "y", "x"]})
    described = describe_table(Table.encode(frame))
    a = described.columns["a"]
    assert (a.mean, a.median, a.q1, a.q3, a.minimum, a.maximum) == (4.0, 2.0, 2.0, 3.0, 1, 12)
    # Deviations -3, -2, -2, -1, 8: squares add up to 82, cubes to 468, fourth powers to 4210.
    assert a.std == pytest.approx(math.sqrt(82 / 4))
    assert a.skewness == pytest.approx(5 * 2 / 3 * 468 / 82**1.5)
    assert a.kurtosis == pytest.approx(4 / (3 * 2) * (5 * 6 * 4210 / 82**2 - 3 * 4))
    assert described.correlations == {("b", "a"): pytest.approx(1.0)}
    assert (described.n_rows, described.n_incomplete) == (5, 2)
    assert (described.columns["c"].n_missing, described.columns["c"].n_distinct) == (1, 2)
    assert described.columns["c"].mean is None


@pytest.mark.parametrize(
    ("cells", "mean", "std", "skewness", "kurtosis"),
    [
        ([], None, None, None, None),
        ([None, None], None, None, None, None),
        ([7], 7.0, None, None, None),
        ([7, 7, 7, 7], 7.0, 0.0, None, None),
        ([0.1] * 6, 0.1, 0.0, None, None),
        ([1, 3], 2.0, math.sqrt(2), None, None),
        ([1, 2, 3], 2.0, 1.0, 0.0, None),
    ],
)
def test_what_few_records_do_not_define(cells, mean, std, skewness, kurtosis):
    dtype = pl.Float64 if 0.1 in cells else pl.Int64
    column = describe_table(Table.encode(pl.DataFrame({"a": cells}, schema={"a": dtype}))).columns["a"]
    assert (column.mean, column.std, column.kurtosis) == (mean, pytest.approx(std), kurtosis)
    assert column.skewness == (None if skewness is None else pytest.approx(skewness))


def test_no_numbers_have_no_correlations():
    described = describe_table(Table.encode(pl.DataFrame({"a": ["x", "y"], "b": ["u", None]})))
    assert described.correlations == {}
    assert described.columns["a"].to_dict()["mean"] is None


def test_no_columns():
    table = Table((), np.empty((0, 2), dtype=np.int32), np.array([1, 2], dtype=np.int64))
    assert describe_table(table).to_dict() == {
        "n_rows": 3, "n_columns": 0, "n_incomplete": 0, "columns": {}, "correlations": []
    }  # fmt: skip


def test_correlations_are_the_lower_triangle_row_by_row():
    """Also of columns with odd names; a pair that is constant where both are present has none."""
    frame = pl.DataFrame({"": [1, 2, 3], "z": ["x", "y", "z"], "a b": [3, 2, 1], "λ": [None, None, 4]})
    described = describe_table(Table.encode(frame))
    assert list(described.correlations) == [("a b", ""), ("λ", ""), ("λ", "a b")]
    assert list(described.correlations.values()) == [pytest.approx(-1.0), None, None]
    rows = described.to_dict()["correlations"]
    assert rows[1] == {"first": "λ", "second": "", "value": None}


@pytest.mark.parametrize("largest", [1.7e308, 5e-324, 1e-200, 1e200])
def test_the_largest_and_smallest_floats_neither_overflow_nor_vanish(largest):
    """Their spread alone may be more than a float holds."""
    frame = pl.DataFrame({"a": [-largest, -largest, largest], "b": [2.0, 2.0, 1.0]})
    described = describe_table(Table.encode(frame))
    a = described.columns["a"]
    assert (a.minimum, a.median, a.maximum, a.q3) == (-largest, -largest, largest, 0.0)
    assert a.skewness == pytest.approx(math.sqrt(3))
    assert described.correlations["b", "a"] == pytest.approx(-1.0)
    assert a.std is None if largest > 1e308 else a.std == pytest.approx(largest * 2 / math.sqrt(3), rel=0.5)


def test_whole_numbers_too_large_for_floats_are_constant_where_floats_are():
    values = np.array([2**62, 2**62 + 1])
    table = Table((Column("a", "integer", values), Column("b", "integer", np.array([0, 1]))),
                  np.array([[0, 1, 1, 0], [0, 1, 0, 1]], dtype=np.int32), np.ones(4, dtype=np.int64))  # fmt: skip
    described = describe_table(table)
    assert described.columns["a"].maximum == 2**62 + 1
    assert (described.columns["a"].skewness, described.correlations["b", "a"]) == (None, None)


def test_no_value_is_in_the_repr():
    """Of one record, every figure is its value."""
    described = describe_table(Table.encode(pl.DataFrame({"salary": [48151623], "job": ["spy"]})))
    shown = f"{described!r} {described.columns!r}"
    assert "48151623" not in shown
    assert "spy" not in shown
    assert repr(described.columns["salary"]) == "ColumnDescription(kind='integer', n_missing=0, n_distinct=1)"


def test_rounding_takes_no_correlation_past_one():
    first = np.array([0.0, 0.2, 0.7])
    assert pearson(first, first * 3, np.ones(3, dtype=np.int64)) == 1.0
