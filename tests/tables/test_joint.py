"""Several tables in one code: equal values have equal codes, whatever their types."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.tables.joint import encode_jointly


def joint_of(*columns, **options):
    return encode_jointly([ht.Table.encode(pl.DataFrame({"a": cells})) for cells in columns], **options)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([1, 2, None], [2.0, 1.0, None]),
        (["1", "2", None], [2, 1, None]),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), None], [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 1), None]),
    ],
)
def test_equal_values_have_equal_codes(ours, theirs):
    joint = joint_of(ours, theirs)
    mine, other = (table.codes[0].tolist() for table in joint.tables)
    assert mine == [0, 1, -1]
    assert other == [1, 0, -1]
    assert joint.widths == (2,)


def test_any_number_of_tables_share_the_code():
    joint = joint_of(["b"], ["a"], ["c", "b"])
    assert [table.codes[0].tolist() for table in joint.tables] == [[1], [0], [2, 1]]
    assert [joint.text(0, code) for code in (-1, 0, 1, 2)] == [None, "a", "b", "c"]


def test_values_may_be_coarser_than_they_are_written():
    assert joint_of([1.24], [1.21], decimals={"a": 1}).widths == (1,)
    hours = [dt.datetime(2024, 1, 1, 5, 7)], [dt.datetime(2024, 1, 1, 5, 9)]
    assert joint_of(*hours, units={"a": "h"}).widths == (1,)
    assert joint_of(*hours).widths == (2,)


def test_distinct_rows_are_the_first_of_each_kind():
    rows = joint_of(["x", "y", "x"]).tables[0].distinct_rows([2])
    assert rows.positions.tolist() == [0, 1]
    assert rows.counts.tolist() == [1, 1]
    assert rows.n_records == 2


def test_codes_without_values_say_only_who_is_equal():
    joint = joint_of(["x", "y"], ["y"]).without_values()
    assert joint.values == ()
    assert np.array_equal(joint.tables[0].codes, [[0, 1]])
