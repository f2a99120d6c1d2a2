"""Re-identification risk, against the slow twin."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from hushtable.claims import verify
from hushtable.errors import ColumnError
from hushtable.models import KAnonymity
from hushtable.risk.assess import assess
from hushtable.table import ColumnSpec, Table

NAMES = ("a", "b", "s")
READINGS = ("category", "wildcard", "worst")
ROWS = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=14)
COUNTED = st.dictionaries(st.tuples(*[st.integers(-1, 2)] * 3), st.integers(1, 4), min_size=1, max_size=10)


def frame_of(rows):
    cells = {name: [None if row[j] < 0 else row[j] for row in rows] for j, name in enumerate(NAMES)}
    return pl.DataFrame(cells, schema=dict.fromkeys(NAMES, pl.Int64))


def test_hand_made_table():
    table = pl.DataFrame({"age": [31, 31, 31, 52], "sex": ["f", "f", "f", "m"], "pay": [1, 2, 1, 3]})
    risk = assess(table, quasi_identifiers=["age", "sex"], sensitive=["pay"])
    assert (risk.n_records, risk.n_classes, risk.n_unique, risk.smallest_class) == (4, 2, 1, 1)
    assert (risk.highest_risk, risk.average_risk) == (1.0, 0.5)
    assert risk.smallest_by_missing == {"category": 1, "wildcard": 1, "worst": 1}
    assert risk.distinct_sensitive == {"pay": 1}


@given(ROWS)
@example([(-1, -1, -1)])
@example([(-1, -1, 0)] * 3)
@example([(0, -1, 0), (-1, 0, 1), (0, 0, 2)])
def test_figures_are_those_of_the_slow_twin(rows):
    known = [row[:2] for row in rows]
    ones = [1] * len(rows)
    groups = naive.classes(known)
    sizes = naive.class_sizes(groups, ones)
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"])
    assert (risk.n_records, risk.n_classes) == (len(rows), len(groups))
    assert risk.n_unique == naive.unique_count(known, ones)
    assert risk.smallest_class == min(sizes)
    assert risk.highest_risk == 1 / min(sizes)
    assert risk.average_risk == pytest.approx(sum(1 / sizes[i] for i, g in enumerate(groups) for _ in g) / len(rows))
    sensitive = [row[2] for row in rows]
    distinct = [len(naive.known_counts(naive.histogram(group, ones, sensitive))) for group in groups]
    assert risk.distinct_sensitive == {"s": min(distinct)}


@given(ROWS)
@example([(0, -1, 0), (0, 1, 0), (-1, 1, 0)])
def test_three_readings_of_missing_are_those_of_the_slow_twin(rows):
    known = [row[:2] for row in rows]
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"])
    expected = {
        missing: min(naive.match_counts(known, [1] * len(rows), missing))
        for missing in ("category", "wildcard", "worst")
    }
    assert risk.smallest_by_missing == expected
    assert expected["worst"] <= expected["category"] <= expected["wildcard"]


@given(COUNTED)
def test_counts_are_records(counted):
    records = [row for row, count in counted.items() for _ in range(count)]
    table = Table.encode(frame_of(records))
    expected = assess(table, quasi_identifiers=["a", "b"], sensitive=["s"])
    collapsed, _ = table.collapse()
    assert assess(collapsed, quasi_identifiers=["a", "b"], sensitive=["s"]) == expected
    assert assess(frame_of(records), quasi_identifiers=["a", "b"], sensitive=["s"]) == expected


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_changes_nothing(rows, random):
    first = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"]).to_dict()
    shuffled = frame_of(random.sample(rows, len(rows))).select("s", "b", "a")
    second = assess(shuffled, quasi_identifiers=["b", "a"], sensitive=["s"]).to_dict()
    assert first | {"quasi_identifiers": None} == second | {"quasi_identifiers": None}


@given(rows=ROWS)
def test_dataframe_library_and_file_change_nothing(rows, tmp_path_factory):
    table = frame_of(rows)
    folder = tmp_path_factory.mktemp("files")
    table.write_csv(folder / "t.csv")
    table.write_parquet(folder / "t.parquet")
    expected = assess(table, quasi_identifiers=["a", "b"], sensitive=["s"])
    nullable = pd.DataFrame(table.to_dict(as_series=False)).astype("Int64")
    for data in (table.to_pandas(), nullable, table.to_arrow(), folder / "t.csv", folder / "t.parquet"):
        assert assess(data, quasi_identifiers=["a", "b"], sensitive=["s"]) == expected


@given(ROWS)
def test_verifier_agrees(rows):
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"])
    for missing, smallest in risk.smallest_by_missing.items():
        verdict = verify(
            frame_of(rows), quasi_identifiers=["a", "b"], models=[KAnonymity(2)], sensitive=["s"], missing=missing
        )
        assert verdict.smallest_class == smallest
        if missing == "category":
            assert (verdict.n_unique, verdict.distinct_sensitive) == (risk.n_unique, risk.distinct_sensitive)


def test_more_columns_never_lower_the_risk():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.integers(0, 4, 200) for name in "abcd"})
    highest = [assess(table, quasi_identifiers=list("abcd")[:n]).average_risk for n in range(1, 5)]
    assert highest == sorted(highest)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_empty_table_has_the_highest_risk(make):
    risk = assess(make({"a": [], "s": []}), quasi_identifiers=["a"], sensitive=["s"])
    assert (risk.highest_risk, risk.average_risk) == (1.0, 1.0)
    assert (risk.n_records, risk.n_classes, risk.n_unique, risk.smallest_class) == (0, 0, 0, 0)
    assert risk.smallest_by_missing == {"category": 0, "wildcard": 0, "worst": 0}
    assert risk.distinct_sensitive == {"s": 0}


def test_one_row():
    risk = assess(pl.DataFrame({"a": [1]}), quasi_identifiers=["a"])
    assert (risk.n_unique, risk.highest_risk, risk.average_risk) == (1, 1.0, 1.0)


def test_no_quasi_identifier_tells_nobody_apart():
    risk = assess(pl.DataFrame({"a": [1, 2, 3, 4]}), quasi_identifiers=[])
    assert (risk.n_classes, risk.smallest_class, risk.highest_risk) == (1, 4, 0.25)


def test_specs_change_what_is_one_value():
    table = pl.DataFrame({"a": ["1", "1.0"]})
    assert assess(table, quasi_identifiers=["a"]).n_unique == 2
    assert assess(table, quasi_identifiers=["a"], specs={"a": ColumnSpec("decimal")}).n_unique == 0


@pytest.mark.parametrize("names", [["x"], ["a", "a"]])
def test_columns_are_checked(names):
    with pytest.raises(ColumnError):
        assess(pl.DataFrame({"a": [1]}), quasi_identifiers=names)


def test_results_quote_no_cell():
    risk = assess(pl.DataFrame({"a": ["canary"], "s": ["canary"]}), quasi_identifiers=["a"], sensitive=["s"])
    assert "canary" not in repr(risk) + json.dumps(risk.to_dict()) + risk._repr_html_()


def test_html_escapes_column_names():
    shown = assess(pl.DataFrame({"<script>": [1]}), quasi_identifiers=["<script>"])._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
