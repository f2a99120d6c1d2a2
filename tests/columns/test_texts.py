"""Columns as text: one text for each value, each distinct one changed once."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from hushtable.columns.series import (
    format_values,
    gather_labels,
    list_distinct_cells,
    map_texts,
    suppress_rows,
    without_blanks,
)


@pytest.mark.parametrize(
    ("series", "texts"),
    [
        (pl.Series([1e16, -0.0, None]), ["10000000000000000", "0", None]),
        (pl.Series([0.1], dtype=pl.Float32), ["0.10000000149011612"]),
        (
            pl.Series([dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.UTC)]).dt.convert_time_zone("Europe/Berlin"),
            ["2024-03-31 01:30:00"],
        ),
        (pl.Series([dt.datetime(2024, 3, 31)], dtype=pl.Datetime("ns")), ["2024-03-31 00:00:00"]),
        (pl.Series([True, None]), ["true", None]),
        (pl.Series([" 1E5 ", "1"]), [" 1E5 ", "1"]),
    ],
)
def test_values_have_one_text_wherever_they_are_spelled_out(series, texts):
    assert format_values(series, "c").to_list() == texts
    assert suppress_rows(series, np.zeros(len(series), dtype=bool), "c").to_list() == texts


@pytest.mark.parametrize(
    "cells", [["b", None, " ", "a", "", "b", " a"], [], [None, "\t"], ["x"], ["é", "z", "Z", "\N{ZERO WIDTH SPACE}"]]
)
def test_cells_are_listed_but_for_blank_ones(cells):
    series = pl.Series(cells, dtype=pl.String)
    distinct, codes = list_distinct_cells(series, "c")
    assert distinct.to_list() == without_blanks(series, "c").drop_nulls().unique().sort().to_list()
    assert codes.dtype == np.int32
    for categories in (pl.Categorical(), pl.Enum(["not there", *series.drop_nulls().unique()])):
        same, same_codes = list_distinct_cells(series.cast(categories), "c")
        assert same.equals(distinct)
        assert (codes.tolist(), codes.dtype) == (same_codes.tolist(), same_codes.dtype)
    spelled_out = [None if code < 0 else distinct[code] for code in codes.tolist()]
    assert spelled_out == [cell if cell and cell.strip() else None for cell in cells]


def test_labels_are_gathered():
    codes = np.array([0, 2, 1, 3], dtype=np.int32)
    assert gather_labels(["x", "y", None, "*"], codes).to_list() == ["x", None, "y", "*"]


@pytest.mark.parametrize(
    ("series", "texts"),
    [
        (pl.Series(["a", None, "a", "b"]), ["a!", None, "a!", "b!"]),
        (pl.Series([1, None]), ["1!", None]),
        (pl.Series([1.0, None]), ["1!", None]),
        (pl.Series([1.5, None]), ["1.5!", None]),
        (pl.Series([1e30, None]), [f"{pl.Series([1e30]).cast(pl.String)[0]}!", None]),
        (pl.Series([], dtype=pl.String), []),
        (pl.Series([None, None], dtype=pl.String), [None, None]),
    ],
)
def test_distinct_cells_are_changed_once(series, texts):
    seen = []
    changed = map_texts(series, lambda text: seen.append(text) or f"{text}!", "c")
    assert changed.to_list() == texts
    assert changed.dtype == pl.String
    assert len(seen) == len(set(seen))


def test_suppressed_cells_are_masked():
    assert suppress_rows(pl.Series([1, None, 3]), np.array([True, True, False]), "c").to_list() == ["*", "*", "3"]
