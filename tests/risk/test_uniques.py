"""Minimal sample uniques and SUDA scores, against the slow twin and known figures."""

import datetime as dt
import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import hushtable as ht
from strategies import tables
from twins import naive_uniques as naive

ADULT = ["age", "type_employer", "education", "marital", "occupation", "race", "sex", "country"]


def rows_of(frame):
    """The rows of a frame of any library."""
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("records")
    return frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_pylist()


def found_by(result):
    """(record, column set) of every row of the sets; each row once."""
    rows = rows_of(result.sets)
    assert all(row["size"] == len(row["columns"]) for row in rows)
    found = [(row["record"], frozenset(row["columns"])) for row in rows]
    assert len(set(found)) == len(found)
    return set(found)


def size_limit(draw, table):
    return draw(st.one_of(st.none(), st.integers(1, table.width)))


def frame(**columns):
    return pl.DataFrame(columns)


# Against the slow twin


@given(tables(min_rows=1, max_columns=5), st.data(), st.sampled_from(["category", "never"]))
@example(frame(a=[1]), None, "category")
@example(frame(a=[None]), None, "category")
@example(frame(a=[None, 1, 1]), None, "never")
def test_sets_are_those_of_the_slow_twin(table, data, missing):
    max_size = None if data is None else size_limit(data.draw, table)
    result = ht.minimal_uniques(table, max_size=max_size, missing=missing)
    wanted = naive.minimal_uniques(table, max_size, missing)
    assert found_by(result) == wanted
    assert {size: n for size, n in result.n_by_size.items() if n} == Counter(len(columns) for _, columns in wanted)


@given(tables(min_rows=1, max_columns=5), st.data())
def test_scores_are_those_of_the_slow_twin(table, data):
    max_size = size_limit(data.draw, table)
    result = ht.minimal_uniques(table, max_size=max_size)
    found = naive.minimal_uniques(table, max_size)
    d, n = table.width, table.height
    elliot = {size: naive.elliot_weight(size, d, max_size) for size in range(1, d + 1)}
    ihsn = {size: naive.ihsn_weight(size, d) for size in range(1, d + 1)}
    assert len(result.suda) == len(result.suda_ihsn) == n
    np.testing.assert_allclose(result.suda, naive.scores(found, n, elliot))
    np.testing.assert_allclose(result.suda_ihsn, naive.scores(found, n, ihsn))
    wanted = naive.contributions(found, table.columns, elliot)
    for name in table.columns:
        assert result.contributions.get(name, 0) == pytest.approx(wanted[name])


@given(tables(min_rows=1, max_columns=4), st.sampled_from([0.01, 0.1, 0.5]))
def test_dis_is_that_of_the_slow_twin(table, fraction):
    result = ht.minimal_uniques(table, disclosure_fraction=fraction)
    pair = naive.pair(table, table, deduplicate=False)
    rows = pair.synthetic.rows
    assert result.dis == pytest.approx(naive.disclosure_rate(rows, fraction))
    found = naive.minimal_uniques(table)
    weights = {size: naive.elliot_weight(size, table.width) for size in range(1, table.width + 1)}
    score = naive.scores(found, table.height, weights)
    np.testing.assert_allclose(result.dis_suda, naive.dis_suda(score, rows, table.width, fraction), atol=1e-12)
    assert np.all((result.dis_suda > 0) == (np.array(score) > 0))
    assert np.all(result.dis_suda <= 1 + 1e-12)


@given(tables(min_rows=1, max_columns=4))
def test_details_have_the_scores_of_each_record(table):
    result = ht.minimal_uniques(table)
    details, sets = result.details, result.sets
    assert details.columns == ["record", "size", "columns", "suda", "dis_suda"]
    assert details.select(sets.columns).rows() == sets.rows()
    for record, suda, dis_suda in details.select("record", "suda", "dis_suda").rows():
        assert (suda, dis_suda) == (result.suda[record], result.dis_suda[record])
    # Whoever has no row scores 0.
    others = sorted(set(range(table.height)) - set(details["record"]))
    assert not result.suda[others].any()
    assert not result.dis_suda[others].any()
    assert result.summary()["unique_rate"] == len(set(details["record"])) / table.height


@given(tables(min_rows=1, max_columns=4))
def test_shares_of_values_add_up_to_those_of_columns(table):
    result = ht.minimal_uniques(table)
    by_value = rows_of(result.contributions_by_value())
    assert all(row["contribution"] >= 0 for row in by_value)
    pairs = [(row["column"], row["value"]) for row in by_value]
    assert len(set(pairs)) == len(pairs)
    for name in table.columns:
        total = sum(row["contribution"] for row in by_value if row["column"] == name)
        assert total == pytest.approx(result.contributions.get(name, 0))


def test_share_of_one_value():
    # Record 0 alone by a, record 3 by b.
    result = ht.minimal_uniques(frame(a=["x", "y", "y", "y"], b=[1, 1, 1, 2]), max_size=1)
    by_value = {
        (row["column"], str(row["value"])): row["contribution"] for row in rows_of(result.contributions_by_value())
    }
    assert by_value["a", "x"] == pytest.approx(0.5)
    assert by_value["b", "2"] == pytest.approx(0.5)
    assert by_value.get(("a", "y"), 0) == 0


# Hand-made figures


def test_hand_made_table():
    table = frame(age=[31, 31, 44, 60], sex=["f", "m", "f", "f"], town=["bonn", "bonn", "graz", "graz"])
    result = ht.minimal_uniques(table)
    assert found_by(result) == {
        (0, frozenset({"age", "sex"})),
        (0, frozenset({"sex", "town"})),
        (1, frozenset({"sex"})),
        (2, frozenset({"age"})),
        (3, frozenset({"age"})),
    }
    assert result.n_by_size[1] == 3
    assert result.n_by_size[2] == 2
    # (3 - k)! with three columns: 2 for a single column, 1 for a pair.
    assert result.suda.tolist() == [2.0, 2.0, 2.0, 2.0]
    # (2^(3 - k) - 1) k! (3 - k)! / 3!: 1 for a single column, 1/3 for a pair.
    assert result.suda_ihsn.tolist() == pytest.approx([2 / 3, 1.0, 1.0, 1.0])
    assert result.contributions == pytest.approx({"age": 5 / 8, "sex": 4 / 8, "town": 1 / 8})
    # Nobody is in a pair: a unique record is certain to be a match.
    assert result.dis == 1.0
    assert result.dis_suda.tolist() == [1.0] * 4


def test_rate_of_uniques_and_pairs():
    table = frame(a=[1, 2, 3, 3, 4, 4, 5, 5, 5])
    result = ht.minimal_uniques(table, disclosure_fraction=0.2)
    # Two uniques, four records in pairs; three alike are neither.
    assert result.dis == pytest.approx(2 * 0.2 / (2 * 0.2 + 4 * 0.8))
    assert np.count_nonzero(result.dis_suda) == 2
    # Records of equal scores share the expected matches: each has the rate itself.
    assert result.dis_suda[:2] == pytest.approx([result.dis] * 2)


def test_all_uniques_are_counted():
    """sdcMicro counts no unique whose hash has a neighbour: 631 of 899."""
    table = pl.DataFrame({"a": [*range(5_000), 9_999, 9_999]})
    result = ht.minimal_uniques(table)
    assert result.dis == pytest.approx(5_000 * 0.01 / (5_000 * 0.01 + 2 * 0.99))


@pytest.mark.parametrize(
    ("max_size", "weights"), [(None, [6, 2, 1, 1]), (4, [6, 2, 1, 1]), (3, [6, 2, 1]), (2, [6, 2]), (1, [3])]
)
def test_weights_under_a_size_limit(max_size, weights):
    """prod_{j=k}^{M} (4 - j) with M = min(max_size, 3)."""
    assert [naive.elliot_weight(k, 4, max_size) for k in range(1, len(weights) + 1)] == weights
    table = frame(a=[1, 0, 0], b=[0, 0, 0], c=[0, 0, 0], d=[0, 0, 0])
    result = ht.minimal_uniques(table, max_size=max_size)
    assert result.suda.tolist() == [weights[0], 0, 0]


def test_a_record_on_every_column_only():
    """All pairs of bits twice: alone on all three columns only."""
    table = frame(a=[0, 0, 1, 1, 0, 0, 1, 1], b=[0, 1, 0, 1, 0, 1, 0, 1], c=[0, 0, 0, 0, 1, 1, 1, 1])
    result = ht.minimal_uniques(table)
    assert found_by(result) == {(row, frozenset("abc")) for row in range(8)}
    assert result.suda.tolist() == [1.0] * 8
    assert not found_by(ht.minimal_uniques(table, max_size=2))
    assert np.all(ht.minimal_uniques(table, max_size=2).dis_suda == 0)


def test_equal_records_are_never_alone():
    result = ht.minimal_uniques(frame(a=[1, 1, 2, 2], b=["x", "x", "y", "y"]))
    assert len(result.sets) == 0
    assert set(result.sets.columns) == {"record", "size", "columns"}
    assert result.suda.tolist() == result.dis_suda.tolist() == [0.0] * 4
    assert result.dis == 0
    assert not any(result.contributions.values())


def test_an_empty_table_is_an_error_and_no_score_of_0():
    with pytest.raises(ht.InputError, match="is empty"):
        ht.minimal_uniques(frame(a=[1])[:0])


def test_missing_is_one_value_or_matches_nothing():
    table = pd.DataFrame({"a": [None, 1.0, 1.0, 2.0], "b": [5, 5, 6, 6]})
    assert (0, frozenset({"a"})) in found_by(ht.minimal_uniques(table))
    assert (0, frozenset({"a"})) not in found_by(ht.minimal_uniques(table, missing="never"))
    twice = pd.DataFrame({"a": [float("nan"), float("nan"), 1.0]})
    assert {record for record, _ in found_by(ht.minimal_uniques(twice))} == {2}


# Laws


@given(tables(min_rows=1, max_columns=5), st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_changes_nothing(table, random):
    rows = list(range(table.height))
    random.shuffle(rows)
    names = list(table.columns)
    random.shuffle(names)
    plain, moved = ht.minimal_uniques(table), ht.minimal_uniques(table[rows].select(names))
    assert {(rows[record], columns) for record, columns in found_by(moved)} == found_by(plain)
    np.testing.assert_allclose(moved.suda, np.asarray(plain.suda)[rows])
    np.testing.assert_allclose(moved.dis_suda, np.asarray(plain.dis_suda)[rows])


@given(tables(min_rows=1, max_columns=5), st.integers(1, 5))
def test_a_size_limit_only_cuts_the_larger_sets(table, max_size):
    max_size = min(max_size, table.width)
    whole = found_by(ht.minimal_uniques(table))
    assert found_by(ht.minimal_uniques(table, max_size=max_size)) == {
        each for each in whole if len(each[1]) <= max_size
    }


@given(tables(min_rows=1, max_columns=4))
def test_mpuccs_of_one_table_are_smallest_minimal_uniques(table):
    every = found_by(ht.minimal_uniques(table))
    records = ht.mpuccs(table, all_minimal=True).details.to_dicts()
    assert {(row["syn_idx"], frozenset(row["field_combo"])) for row in records} == every
    first = ht.mpuccs(table).details.to_dicts()
    smallest = {record: min(len(columns) for index, columns in every if index == record) for record, _ in every}
    assert {row["syn_idx"]: row["combo_size"] for row in first} == smallest


@pytest.mark.parametrize("missing", ["category", "never"])
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "max_size"), [(63, 6, None), (64, 6, 3), (65, 7, None), (900, 6, None), (20, 70, 2)]
)
def test_larger_tables(n_rows, n_columns, max_size, missing):
    random = np.random.default_rng(n_rows)
    codes = [random.integers(-1, 2 + 3 * (j % 4), n_rows).tolist() for j in range(n_columns)]
    table = pl.DataFrame({f"c{j}": [None if code < 0 else code for code in column] for j, column in enumerate(codes)})
    table = pl.concat([table, table[:5]])
    result = ht.minimal_uniques(table, max_size=max_size, missing=missing)
    assert found_by(result) == naive.minimal_uniques(table, max_size, missing)


@given(tables(min_rows=1, max_columns=4), st.data())
def test_columns_restrict_to_some(table, data):
    columns = data.draw(st.lists(st.sampled_from(table.columns), min_size=1, unique=True))
    assert found_by(ht.minimal_uniques(table, columns=columns)) == naive.minimal_uniques(table.select(columns))


def test_rows_of_a_table_that_count_twice_are_not_alone():
    table = frame(a=[1, 2, 2, 3, 4, 4], b=[0, 0, 0, 1, 1, 1])
    counted, _ = ht.Table.encode(table).collapse()
    plain, collapsed = ht.minimal_uniques(table), ht.minimal_uniques(counted)
    assert collapsed.n_by_size == plain.n_by_size
    assert collapsed.dis == pytest.approx(plain.dis)
    assert collapsed.contributions == pytest.approx(plain.contributions)


# Kinds of tables, errors and what a result shows


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "csv", "parquet", "table"])
def test_any_kind_of_table_gives_the_same(kind, tmp_path):
    random = np.random.default_rng(2)
    table = pl.DataFrame(
        {
            "age": random.integers(20, 30, 40),
            "town": random.choice(["bonn", "graz"], 40),
            "share": random.integers(0, 4, 40) / 4,
        }
    )
    path = tmp_path / f"table.{kind}"
    if kind in ("csv", "parquet"):
        table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    data = {
        "pandas": table.to_pandas,
        "pyarrow": table.to_arrow,
        "table": lambda: ht.Table.encode(table),
    }.get(kind, lambda: path)()
    wanted, result = ht.minimal_uniques(table), ht.minimal_uniques(data)
    assert found_by(result) == found_by(wanted) == naive.minimal_uniques(table)
    np.testing.assert_array_equal(result.suda, wanted.suda)
    np.testing.assert_array_equal(result.dis_suda, wanted.dis_suda)
    if kind == "pandas":
        assert isinstance(result.sets, pd.DataFrame)
    elif kind in ("csv", "parquet"):
        assert isinstance(result.sets, pl.DataFrame)


@pytest.mark.parametrize(
    "options",
    [
        {"max_size": 0},
        {"max_size": -1},
        {"columns": []},
        {"missing": "wildcard"},
        {"disclosure_fraction": -0.1},
        {"disclosure_fraction": 1.5},
        {"disclosure_fraction": math.nan},
    ],
)
def test_options_that_mean_nothing_are_an_error(options):
    with pytest.raises(ht.InputError):
        ht.minimal_uniques(frame(a=[1, 2], b=[1, 1]), **options)


def test_unknown_columns_are_an_error():
    with pytest.raises(ht.ColumnError):
        ht.minimal_uniques(frame(a=[1]), columns=["b"])


def test_a_budget_leaves_an_honest_part():
    random = np.random.default_rng(1)
    table = pl.DataFrame({f"c{j}": random.integers(0, 3 + j, 400) for j in range(9)})
    whole = found_by(ht.minimal_uniques(table, max_size=4))
    part = ht.minimal_uniques(table, max_size=4, budget=ht.Budget(nodes=20))
    assert found_by(part) < whole
    assert part.summary()["complete"] is False
    assert ht.minimal_uniques(table, max_size=4).summary()["complete"] is True


def test_a_result_is_plain_and_shows_no_cell():
    canary, number = "Zq7Xcanary", 481_516_237
    table = frame(
        name=[canary, "b", "b"], number=[number, 5, 5], day=[dt.date(1903, 7, 13), *[dt.date(2000, 1, 1)] * 2]
    )
    result = ht.minimal_uniques(table)
    shown = [repr(result), result._repr_html_(), json.dumps(result.to_dict()), str(result.summary())]
    shown += [str(rows_of(result.sets)), str(result.contributions)]
    for text in shown:
        assert canary not in text
        assert str(number) not in text
        assert "1903-07" not in text
        assert "1903, 7" not in text
    assert "<script" not in result._repr_html_()
    with pytest.raises(AttributeError):
        result.max_size = 1


# A real table


@pytest.fixture(scope="module")
def adult(shared_file):
    return ht.Table.encode(shared_file("data/adult/adult_ori.csv"), columns=ADULT)


def test_adult_by_size(adult):
    result = ht.minimal_uniques(adult)
    assert result.n_by_size == {1: 3, 2: 1_246, 3: 16_091, 4: 24_577, 5: 11_186, 6: 1_924, 7: 139, 8: 6}
    assert np.count_nonzero(result.suda) == 15_480
    # All uniques count; sdcMicro finds 1690 of these 15480, and a rate of 0.0039.
    assert result.dis == pytest.approx(0.0347, abs=5e-5)
    per_record = Counter(row["record"] for row in rows_of(result.sets))
    assert len(result.sets) == 55_172
    assert max(per_record.values()) == 26


@pytest.mark.parametrize(
    ("max_size", "n_sets", "n_records"), [(3, 17_340, 6_880), (4, 41_917, 12_674), (5, 53_103, 14_885)]
)
def test_adult_up_to_a_size(adult, max_size, n_sets, n_records):
    result = ht.minimal_uniques(adult, max_size=max_size)
    assert sum(result.n_by_size.values()) == len(result.sets) == n_sets
    assert np.count_nonzero(result.suda) == n_records
