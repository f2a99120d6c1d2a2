"""Rows that are left out: against slow twins, row by row."""

import statistics

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.io import frames
from hushtable.pipeline.cleaning import Cleaning, clean_rows, is_incomplete, is_outlier

numbers = st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=12)


def quartile(values: list[int], share: float) -> float:
    """Return a quantile, linear between neighbours."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return sorted(values)[low] + (place - low) * (sorted(values)[high] - sorted(values)[low])


@given(numbers)
def test_outliers_as_one_counts_them_by_hand(cells):
    frame = frames.read(pl.DataFrame({"a": pl.Series(cells, dtype=pl.Int64)}))
    present = [cell for cell in cells if cell is not None]
    for word in ("iqr", "zscore"):
        expected = []
        for cell in cells:
            if cell is None:
                expected.append(False)
            elif word == "iqr":
                low, high = quartile(present, 0.25), quartile(present, 0.75)
                expected.append(cell < low - 1.5 * (high - low) or cell > high + 1.5 * (high - low))
            else:
                expected.append(abs(cell - statistics.fmean(present)) > 3 * statistics.pstdev(present) + 1e-9)
        assert is_outlier(frame, {None: word}).tolist() == expected


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 2)), st.one_of(st.none(), st.sampled_from("ab")))))
def test_incomplete_rows(rows):
    frame = frames.read(pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row"))
    assert is_incomplete(frame, {None: "drop"}).tolist() == [None in row for row in rows]
    assert is_incomplete(frame, {"b": "drop"}).tolist() == [row[1] is None for row in rows]


def test_incomplete_rows_go_first_and_both_are_counted():
    frame = frames.read(pl.DataFrame({"a": [1, 1, 1, 1, 1, 1, 1, 99, None], "b": list("xxxxxxxxx")}))
    rest, counts = clean_rows(frame, Cleaning(missing="drop", outlier={"a": "outlier_iqr"}))
    assert rest.native["a"].to_list() == [1] * 7
    assert counts == {"rows_left_out_missing": 1, "rows_left_out_outlier": 1}
    assert clean_rows(frame, Cleaning()) == (frame, {})


def test_outliers_among_texts_are_an_error_where_they_are_named():
    frame = frames.read(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert not is_outlier(frame, {None: "iqr"}).any()
    with pytest.raises(ht.ColumnError, match="'b', which holds no numbers"):
        is_outlier(frame, {"b": "iqr"})
    with pytest.raises(ht.ColumnError, match="no column 'c'"):
        is_outlier(frame, {"c": "iqr"})


@pytest.mark.parametrize(
    ("asked", "idle", "obstacle"),
    [
        ({}, (), None),
        ({"sequence": ["encoder", "scaler"]}, ("encoder", "scaler"), None),
        ({"encoder": {"job": "encoding_uniform"}}, ("encoder",), None),
        ({"scaler": "standard", "missing": "drop"}, ("scaler",), None),
        ({"missing": {"job": None}}, ("missing",), None),
        (
            {"encoder": {"job": "encoder_onehot"}},
            ("encoder",),
            "encoder onehot is not built: leave it out, or take uniform",
        ),
        ({"sequence": ["discretizing"]}, ("discretizing",), "discretizing in sequence is not built: leave it out"),
        (
            {"config": {"missing": {"job": {"method": "missing-simple", "value": "x"}}}},
            ("missing",),
            "missing simple is not built: leave it out, or take drop",
        ),
    ],
)
def test_what_has_no_effect_and_what_is_not_built(asked, idle, obstacle):
    record = Cleaning.model_validate(asked)
    assert (record.without_effect, record.obstacle) == (idle, obstacle)
