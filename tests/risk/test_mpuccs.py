"""Who of a synthetic table can be singled out in the original one, against the slow twin and known figures."""

import datetime as dt
import json
import math
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, example, given, strategies as st

import hushtable as ht
from twins import naive_uniques as naive

TREE = [
    "check_order",
    "combo_size",
    "field_combo",
    "base_combo",
    "base_is_pruned",
    "combo_entropy",
    "base_entropy",
    "entropy_gain",
    "is_pruned",
    "mpuccs_cnt",
    "mpuccs_collision_cnt",
    "field_weighted",
    "total_weighted",
    "weighted_mpuccs_collision_cnt",
]
DETAILS = ["combo_size", "syn_idx", "field_combo", "ori_idx"]

MOMENTS = [
    dt.datetime(1969, 12, 31),
    dt.datetime(1969, 12, 31, 23, 30),
    dt.datetime(2024, 1, 1),
    dt.datetime(2024, 1, 1, 5),
    dt.datetime(2024, 1, 1, 5, 0, 10),
    dt.datetime(2024, 1, 1, 5, 0, 10, 250_000),
    dt.datetime(2024, 1, 1, 5, 0, 10, 250_001),
]
# What one column may be in either table: the same values in several types.
SIDES = {
    "number": [
        (pl.Int64(), [-2, 0, 1, 8]),
        (pl.Float64(), [-2.0, 0.0, 1.0, 8.0]),
        (pl.Float64(), [-1.5, -0.25, 0.0, 0.5, 1.25, 8.0]),
        (pl.Int8(), [-2, 0, 8]),
    ],
    "moment": [
        (pl.Date(), [dt.date(1969, 12, 31), dt.date(2024, 1, 1)]),
        (pl.Datetime("us"), MOMENTS),
        (pl.Datetime("ns"), MOMENTS[:4]),
    ],
    "text": [(pl.String(), ["low", "mid", "zürich 🏔"]), (pl.Enum(["low", "mid", "high"]), ["low", "mid", "high"])],
    "label": [(pl.String(), ["7", "8", "x"]), (pl.Int64(), [7, 8, 9])],
    "flag": [(pl.Boolean(), [False, True])],
    "constant": [(pl.String(), ["x"])],
}


@st.composite
def pairs(draw, kinds=tuple(SIDES), max_rows=12, max_columns=4, missing=True):
    """Draw an original and a synthetic frame: the same columns in another order, perhaps of other types."""
    drawn = [draw(st.sampled_from(kinds)) for _ in range(draw(st.integers(1, max_columns)))]
    frames = []
    for _ in range(2):
        n_rows = draw(st.integers(1, max_rows))
        series = []
        for j, kind in enumerate(drawn):
            dtype, values = draw(st.sampled_from(SIDES[kind]))
            holes = [None] if missing and draw(st.booleans()) else []
            cells = draw(st.lists(st.sampled_from([*values, *holes]), min_size=n_rows, max_size=n_rows))
            series.append(pl.Series(f"c{j}", cells, dtype=dtype))
        frames.append(pl.DataFrame(draw(st.permutations(series))))
    return tuple(frames)


def sizes_of(draw, n_columns):
    """Draw what n_cols may be: nothing, a size, or a list that may skip sizes."""
    some = st.sets(st.integers(1, n_columns), min_size=1).map(sorted)
    return draw(st.one_of(st.none(), st.integers(1, n_columns), some))


def rows_of(frame):
    """The rows of a frame of any library, combinations as tuples."""
    if isinstance(frame, pd.DataFrame):
        rows = frame.to_dict("records")
    else:
        rows = frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_pylist()
    return [{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows]


def found_by(result):
    """(syn_idx, combination, ori_idx) of every row of the details; each row once."""
    rows = rows_of(result.details)
    assert all(row["combo_size"] == len(row["field_combo"]) for row in rows)
    found = [(row["syn_idx"], tuple(row["field_combo"]), row["ori_idx"]) for row in rows]
    assert len(set(found)) == len(found)
    return set(found)


def frame(**columns):
    return pl.DataFrame(columns)


# Against the slow twin


@given(st.data(), pairs(), st.sampled_from(["category", "never"]), st.booleans())
@example(None, (frame(a=[1, 2]), frame(a=[1, 2])), "category", True)
@example(None, (frame(a=[1, None]), frame(a=[None, 2])), "never", True)
def test_details_are_those_of_the_slow_twin(data, tables, missing, deduplicate):
    original, synthetic = tables
    n_cols = None if data is None else sizes_of(data.draw, synthetic.width)
    options = {"missing": missing, "deduplicate": deduplicate}
    table = naive.pair(original, synthetic, deduplicate=deduplicate)
    first = ht.mpuccs(original, synthetic, n_cols=n_cols, **options)
    assert found_by(first) == naive.identified(table, n_cols, missing)
    every = ht.mpuccs(original, synthetic, n_cols=n_cols, all_minimal=True, **options)
    assert found_by(every) == naive.identified(table, n_cols, missing, all_minimal=True)


@given(st.data(), pairs(), st.sampled_from(["category", "never"]))
def test_first_smallest_is_among_all_minimal_and_all_are_minimal(data, tables, missing):
    original, synthetic = tables
    n_cols = sizes_of(data.draw, synthetic.width)
    first = found_by(ht.mpuccs(original, synthetic, n_cols=n_cols, missing=missing))
    every = found_by(ht.mpuccs(original, synthetic, n_cols=n_cols, missing=missing, all_minimal=True))
    assert first <= every
    assert {syn for syn, _, _ in first} == {syn for syn, _, _ in every}
    for syn in {syn for syn, _, _ in every}:
        combos = [set(combo) for index, combo, _ in every if index == syn]
        assert not any(a < b for a in combos for b in combos)
        assert min(map(len, combos)) == next(len(combo) for index, combo, _ in first if index == syn)


@given(st.data(), pairs(), st.sampled_from([0.5, 1.0, 0.25]))
def test_totals_are_those_of_the_slow_twin(data, tables, decay):
    original, synthetic = tables
    n_cols = sizes_of(data.draw, synthetic.width)
    result = ht.mpuccs(original, synthetic, n_cols=n_cols, field_decay_factor=decay)
    table = naive.pair(original, synthetic)
    found = naive.identified(table, n_cols)
    n, m = len(table.synthetic.rows), len(table.original.rows)
    summary = result.summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (n, m)
    assert summary["total_identified"] == len(found)
    assert summary["identification_rate"] == pytest.approx(len(found) / n if n else 0)
    weighted = sum(decay ** (len(combo) - 1) for _, combo, _ in found)
    assert summary["weighted_identification_rate"] == pytest.approx(weighted / n if n else 0)
    assert summary["total_combinations_checked"] == len(naive.combos_in_order(table, n_cols))
    assert summary["total_combinations_pruned"] == 0
    hit = {ori for _, _, ori in found}
    assert summary["distinct_originals"] == len(hit)
    assert summary["original_rate"] == pytest.approx(len(hit) / m if m else 0)
    rate, error = naive.wilson(len(found), n)
    assert summary["interval"] == pytest.approx([rate - error, rate + error], abs=1e-9)
    by_size = Counter(len(combo) for _, combo, _ in found)
    assert {size: count for size, count in summary["identified_by_size"].items() if count} == by_size
    for name in synthetic.columns:
        share = sum(name in combo for _, combo, _ in found) / len(found) if found else 0
        assert summary["identified_by_column"].get(name, 0) == pytest.approx(share)
    assert summary["complete"] is True
    assert summary["config_field_decay_factor"] == decay
    assert "config_n_cols" in summary


@given(st.data(), pairs(), st.sampled_from(["category", "never"]), st.sampled_from([0, 0.5, 1, 2.0, 3, math.inf]))
def test_tree_is_that_of_the_slow_twin(data, tables, missing, alpha):
    original, synthetic = tables
    n_cols = sizes_of(data.draw, synthetic.width)
    result = ht.mpuccs(original, synthetic, n_cols=n_cols, missing=missing, renyi_alpha=alpha)
    rows = rows_of(result.tree)
    wanted = naive.tree(naive.pair(original, synthetic), n_cols, missing, alpha=alpha)
    assert list(result.tree.columns) == TREE
    assert [row["check_order"] for row in rows] == list(range(1, len(wanted) + 1))
    for row, twin in zip(rows, wanted, strict=True):
        assert row["combo_size"] == len(twin.combo)
        assert (row["field_combo"], row["base_combo"]) == (twin.combo, twin.base)
        assert (row["mpuccs_cnt"], row["mpuccs_collision_cnt"]) == (twin.n_unique, twin.n_collisions)
        assert row["is_pruned"] is False
        assert row["field_weighted"] == row["total_weighted"] == 0.5 ** (len(twin.combo) - 1)
        assert row["weighted_mpuccs_collision_cnt"] == row["field_weighted"] * twin.n_collisions
        assert row["combo_entropy"] == pytest.approx(twin.entropy, abs=1e-12)
        if twin.base is not None:
            assert row["base_entropy"] == pytest.approx(twin.base_entropy, abs=1e-12)
            assert row["entropy_gain"] == pytest.approx(twin.gain, abs=1e-12)


@given(st.data(), pairs(kinds=("number", "text", "constant")), st.sampled_from([-0.1, -0.0137, 0.0531]))
def test_pruning_on_request_is_that_of_the_slow_twin(data, tables, delta):
    original, synthetic = tables
    n_cols = sizes_of(data.draw, synthetic.width)
    table = naive.pair(original, synthetic)
    wanted = naive.tree(table, n_cols, min_entropy_delta=delta)
    assume(all(row.gain is None or abs(row.gain - delta) > 1e-9 for row in wanted))
    pruned = {row.combo for row in wanted if row.is_pruned}
    result = ht.mpuccs(original, synthetic, n_cols=n_cols, min_entropy_delta=delta)
    assert {row["field_combo"] for row in rows_of(result.tree) if row["is_pruned"]} == pruned
    assert result.summary["total_combinations_pruned"] == len(pruned)
    assert found_by(result) == naive.identified(table, n_cols, skipped=pruned)
    assert [row["field_combo"] for row in rows_of(result.tree)] == [row.combo for row in wanted]


@given(pairs(kinds=("number",), max_columns=2), st.sampled_from([None, "auto", 0, 1, 2]))
def test_numeric_precision_is_that_of_the_slow_twin(tables, precision):
    result = ht.mpuccs(*tables, numeric_precision=precision)
    assert found_by(result) == naive.identified(naive.pair(*tables, numeric_precision=precision))


@given(pairs(kinds=("moment",), max_columns=2), st.sampled_from([None, "auto", "D", "h", "m", "s", "ms", "us"]))
def test_datetime_precision_is_that_of_the_slow_twin(tables, precision):
    result = ht.mpuccs(*tables, datetime_precision=precision)
    assert found_by(result) == naive.identified(naive.pair(*tables, datetime_precision=precision))


@given(pairs(kinds=("number", "moment"), max_columns=1), st.sampled_from([0, 1]), st.sampled_from(["D", "h", "s"]))
def test_precision_of_one_column_is_that_of_the_slow_twin(tables, decimals, unit):
    types = {table["c0"].dtype.base_type() for table in tables}
    # Whole numbers have no decimals and dates no hours: naming them may be refused.
    assume(types & {pl.Float64, pl.Datetime})
    chosen = {"numeric_precision": {"c0": decimals}} if pl.Float64 in types else {"datetime_precision": {"c0": unit}}
    assert found_by(ht.mpuccs(*tables, **chosen)) == naive.identified(naive.pair(*tables, **chosen))


@given(pairs(), st.data())
def test_columns_restrict_to_some(tables, data):
    original, synthetic = tables
    chosen = data.draw(st.sets(st.sampled_from(synthetic.columns), min_size=1))
    columns = [name for name in synthetic.columns if name in chosen]
    result = ht.mpuccs(original, synthetic, columns=columns)
    assert found_by(result) == naive.identified(naive.pair(original, synthetic, columns=columns))
    assert found_by(result) == found_by(ht.mpuccs(original.select(columns), synthetic.select(columns)))


@given(pairs(), st.sampled_from(["category", "never"]), st.data())
def test_one_table_is_compared_with_itself(tables, missing, data):
    table = tables[1]
    n_cols = sizes_of(data.draw, table.width)
    result = ht.mpuccs(table, n_cols=n_cols, missing=missing)
    found = found_by(result)
    assert all(syn == ori for syn, _, ori in found)
    assert found == naive.identified(naive.pair(table, table, deduplicate=False), n_cols, missing)
    dropped = ht.mpuccs(table, n_cols=n_cols, missing=missing, deduplicate=True)
    assert found_by(dropped) == naive.identified(naive.pair(table, table, deduplicate=True), n_cols, missing)


def scattered(n_rows, widths, seed):
    """A table whose columns have about so many values; some cells are missing, some rows occur twice."""
    random = np.random.default_rng(seed)
    codes = [random.integers(-(width > 3), width, n_rows) for width in widths]
    cells = {f"c{j}": [None if code < 0 else int(code) for code in column] for j, column in enumerate(codes)}
    table = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.Int64))
    return pl.concat([table, table[: n_rows // 10]])


@pytest.mark.parametrize("missing", ["category", "never"])
@pytest.mark.parametrize("n_cols", [None, [1, 3], [2, 5], 4])
@pytest.mark.parametrize("n_rows", [58, 59, 117, 700])
def test_larger_tables_with_repeated_rows(n_rows, n_cols, missing):
    widths = [2, 40, 3, 5, 9, 4]
    tables = scattered(n_rows, widths, 1), scattered(n_rows + 13, widths, 2)
    for deduplicate in (True, False):
        table = naive.pair(*tables, deduplicate=deduplicate)
        options = {"n_cols": n_cols, "missing": missing, "deduplicate": deduplicate}
        assert found_by(ht.mpuccs(*tables, **options)) == naive.identified(table, n_cols, missing)
        every = naive.identified(table, n_cols, missing, all_minimal=True)
        assert found_by(ht.mpuccs(*tables, **options, all_minimal=True)) == every


@pytest.mark.parametrize("n_columns", [31, 33, 65, 70])
def test_more_columns_than_bits_in_a_word(n_columns):
    widths = [2 + j % 3 for j in range(n_columns)]
    tables = scattered(12, widths, 3), scattered(14, widths, 4)
    table = naive.pair(*tables)
    for n_cols in (2, [1, 2]):
        result = ht.mpuccs(*tables, n_cols=n_cols)
        assert found_by(result) == naive.identified(table, n_cols)
        assert [row["field_combo"] for row in rows_of(result.tree)] == naive.combos_in_order(table, n_cols)
        every = naive.identified(table, n_cols, all_minimal=True)
        assert found_by(ht.mpuccs(*tables, n_cols=n_cols, all_minimal=True)) == every


def test_input_stays_as_it_was():
    tables = [table.to_pandas() for table in (PEOPLE, PEOPLE[::-1])]
    copies = [table.copy() for table in tables]
    ht.mpuccs(*tables, numeric_precision=0, control=tables[0])
    for table, copy in zip(tables, copies, strict=True):
        pd.testing.assert_frame_equal(table, copy)


# Laws


@given(pairs(), st.randoms(use_true_random=False))
def test_row_order_changes_only_the_positions(tables, random):
    original, synthetic = tables
    moved = []
    for side in tables:
        order = list(range(side.height))
        random.shuffle(order)
        moved.append(order)
    result = ht.mpuccs(original[moved[0]], synthetic[moved[1]], deduplicate=False)
    back = {(moved[1][syn], combo, moved[0][ori]) for syn, combo, ori in found_by(result)}
    assert back == found_by(ht.mpuccs(original, synthetic, deduplicate=False))


@given(pairs(), st.randoms(use_true_random=False))
def test_column_order_changes_no_minimal_set(tables, random):
    original, synthetic = tables
    names = list(synthetic.columns)
    random.shuffle(names)

    def as_sets(result):
        return {(syn, frozenset(combo), ori) for syn, combo, ori in found_by(result)}

    assert as_sets(ht.mpuccs(original, synthetic.select(names), all_minimal=True)) == as_sets(
        ht.mpuccs(original, synthetic, all_minimal=True)
    )
    # The original's column order decides nothing, not even the order of the combinations.
    assert found_by(ht.mpuccs(original.select(names), synthetic)) == found_by(ht.mpuccs(original, synthetic))


@given(pairs(), st.integers(1, 3))
def test_equal_rows_change_nothing_once_they_are_dropped(tables, times):
    original, synthetic = tables
    once = ht.mpuccs(original, synthetic, deduplicate=True)
    often = ht.mpuccs(pl.concat([original] * times), pl.concat([synthetic] * times), deduplicate=True)
    assert found_by(once) == found_by(often)
    assert rows_of(once.tree) == rows_of(often.tree)


@given(pairs())
def test_the_same_call_gives_the_same_answer(tables):
    first, second = (ht.mpuccs(*tables) for _ in range(2))
    assert rows_of(first.details) == rows_of(second.details)
    assert rows_of(first.tree) == rows_of(second.tree)
    assert first.summary == second.summary


# What PETsARD 1.6.0 gets wrong, each on a table made for it

PEOPLE = frame(age=[31, 31, 44, 44, 60], sex=["f", "m", "f", "m", "f"], town=["bonn", "graz", "graz", "bonn", "linz"])


def test_hand_made_table():
    synthetic = frame(age=[31, 31, 60, 90], sex=["f", "m", "f", "f"], town=["graz", "bonn", "bonn", "linz"])
    result = ht.mpuccs(PEOPLE, synthetic)
    # Distinct values: age 3, town 3, sex 2. The pair of age and town comes before that of age and sex.
    assert found_by(result) == {(0, ("age", "town"), 1), (1, ("age", "town"), 0), (2, ("age",), 4), (3, ("town",), 4)}
    assert {size: n for size, n in result.summary["identified_by_size"].items() if n} == {1: 2, 2: 2}
    assert result.summary["identified_by_column"]["age"] == pytest.approx(3 / 4)
    assert result.summary["weighted_identification_rate"] == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)


def test_default_loses_nothing_to_pruning():
    """Faults 1 and 2: PETsARD prunes the only pair, and finds none of four records."""
    square = frame(a=[2, 1, 1, 2], b=[1, 2, 1, 2])
    exact = ht.mpuccs(square, square)
    assert found_by(exact) == {(row, ("a", "b"), row) for row in range(4)}
    assert exact.summary["config_min_entropy_delta"] is None
    assert ht.petsard_mpuccs(square, square).summary["total_identified"] == 0


def test_pruned_combinations_say_so():
    square = frame(a=[2, 1, 1, 2], b=[1, 2, 1, 2], c=[0, 0, 0, 0])
    result = ht.mpuccs(square, square, min_entropy_delta=0.0)
    assert [row["is_pruned"] for row in rows_of(result.tree)[:3]] == [False] * 3
    assert {row["field_combo"] for row in rows_of(result.tree) if row["is_pruned"]} >= {("a", "c"), ("b", "c")}
    assert result.summary["total_combinations_pruned"] >= 2


@given(pairs(kinds=("number", "text", "constant"), missing=False))
def test_exact_finds_at_least_what_any_pruning_leaves(tables):
    exact = {syn for syn, _, _ in found_by(ht.mpuccs(*tables))}
    for delta in (-0.05, 0.0, 0.3):
        assert {syn for syn, _, _ in found_by(ht.mpuccs(*tables, min_entropy_delta=delta))} <= exact


def test_a_combination_that_settles_its_records_ends_nothing_for_others():
    """Fault 3: a combination that settles all its records ends nothing for the others."""
    original = frame(a=[1, 2, 3, 3], b=[5, 5, 6, 7])
    synthetic = frame(a=[1, 2, 3, 3], b=[5, 5, 6, 7])
    assert {combo for _, combo, _ in found_by(ht.mpuccs(original, synthetic))} == {("a",), ("b",)}
    assert len(ht.mpuccs(original, synthetic).tree) == 3


@given(pairs(max_columns=5))
def test_every_record_counts_once(tables):
    """Fault 4: PETsARD records some twice, and its weighted rate counts them twice."""
    result = ht.mpuccs(*tables)
    rows = rows_of(result.details)
    assert len({row["syn_idx"] for row in rows}) == len(rows) == result.summary["total_identified"]
    assert sum(row["mpuccs_collision_cnt"] for row in rows_of(result.tree)) == len(rows)
    assert result.summary["weighted_identification_rate"] <= result.summary["identification_rate"] + 1e-12


def test_all_minimal_combinations_on_request():
    """Fault 5: a record has several minimal combinations."""
    table = frame(a=[1, 1, 2, 2], b=[1, 2, 1, 2], c=[0, 0, 0, 9])
    found = {combo for syn, combo, _ in found_by(ht.mpuccs(table, table, all_minimal=True)) if syn == 3}
    assert found == {("c",), ("a", "b")}
    assert len([syn for syn, _, _ in found_by(ht.mpuccs(table, table)) if syn == 3]) == 1


def test_no_control_is_said():
    """Fault 6: without a control the figure does not show what the synthesis gave away."""
    summary = ht.mpuccs(PEOPLE, PEOPLE).summary
    assert "control" in summary["note"]
    assert not summary.get("control")


def test_one_original_is_counted_once_however_often_it_is_hit():
    """Fault 7."""
    original = frame(a=[1, 2, 2], b=[5, 6, 6], c=[0, 1, 2])
    synthetic = frame(a=[1, 9, 8], b=[7, 5, 8], c=[3, 3, 3])
    summary = ht.mpuccs(original, synthetic, n_cols=1).summary
    assert summary["total_identified"] == 2
    assert summary["distinct_originals"] == 1
    assert summary["original_rate"] == pytest.approx(1 / 3)


def test_positions_are_those_of_the_users_rows():
    """Fault 8: the first of equal rows stands for all of them, at its own position."""
    original = frame(a=[3, 3, 7, 8])
    synthetic = frame(a=[5, 5, 8, 7, 7])
    assert found_by(ht.mpuccs(original, synthetic, deduplicate=True)) == {(2, ("a",), 3), (3, ("a",), 2)}
    assert found_by(ht.mpuccs(original, synthetic)) == {(2, ("a",), 3)}
    summary = ht.mpuccs(original, synthetic, deduplicate=True).summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (3, 3)
    summary = ht.mpuccs(original, synthetic).summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (5, 4)


def test_positions_do_not_follow_a_pandas_index():
    original = pd.DataFrame({"a": [3, 7]}, index=[50, 40])
    synthetic = pd.DataFrame({"a": [7, 9]}, index=["x", "x"])
    assert found_by(ht.mpuccs(original, synthetic)) == {(0, ("a",), 1)}


@pytest.mark.parametrize("hole", [None, float("nan")])
def test_missing_is_one_value_or_matches_nothing(hole):
    """Fault 9: two records without a number are not two different records."""
    original = pd.DataFrame({"a": [1.0, hole], "b": ["q", "r"]})
    synthetic = pd.DataFrame({"a": [hole, hole, 5.0], "b": ["q", "r", "q"]})
    assert found_by(ht.mpuccs(original[["a"]], synthetic[["a"]], deduplicate=True)) == {(0, ("a",), 1)}
    assert found_by(ht.mpuccs(original, synthetic, columns=["a"])) == set()
    for deduplicate in (True, False):
        never = ht.mpuccs(original[["a"]], synthetic[["a"]], deduplicate=deduplicate, missing="never")
        assert found_by(never) == set()


def test_never_leaves_the_other_combinations_of_a_record():
    original = frame(a=[None, 2], b=[5, 6])
    synthetic = frame(a=[None, 3], b=[5, 9])
    assert found_by(ht.mpuccs(original, synthetic, missing="never")) == {(0, ("b",), 0)}
    assert found_by(ht.mpuccs(original, synthetic, missing="never", n_cols=2)) == set()
    assert found_by(ht.mpuccs(original, synthetic, n_cols=2)) != set()


def test_identifiers_beyond_2_to_the_53_stay_apart():
    """Fault 10: whole numbers are never read as floats."""
    big = 9_007_199_254_740_992
    original = frame(id=[big, 5], share=[0.5, 1.5])
    synthetic = frame(id=[big + 1, 6], share=[0.5, 2.5])
    assert found_by(ht.mpuccs(original, synthetic, columns=["id"])) == set()
    assert found_by(ht.mpuccs(original, synthetic, n_cols=2)) == set()
    # Nor is a whole number equal to the float next to it.
    assert found_by(ht.mpuccs(original.select("id"), frame(id=[float(big), 0.0]))) == {(0, ("id",), 0)}
    assert found_by(ht.mpuccs(frame(id=[big + 1, 5]), frame(id=[float(big), 0.0]))) == set()


@pytest.mark.parametrize("dtype", ["Int64", "Int32", "Float64", "string", "boolean", "category"])
def test_nullable_types_of_pandas(dtype):
    """Fault 11."""
    cells = {"boolean": [True, None, False]}.get(
        dtype, ["1", None, "2"] if dtype in ("string", "category") else [1, None, 2]
    )
    table = pd.DataFrame({"a": pd.array(cells, dtype=dtype), "b": [1, 1, 1]})
    assert found_by(ht.mpuccs(table, table)) == {(0, ("a",), 0), (1, ("a",), 1), (2, ("a",), 2)}
    never = found_by(ht.mpuccs(table, table, missing="never"))
    assert never == {(0, ("a",), 0), (2, ("a",), 2)}


def test_moments_with_a_time_zone_are_compared_in_utc():
    """Fault 12."""
    moments = pl.Series([dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 7, 1, 12)])
    utc = pl.DataFrame({"t": moments.dt.replace_time_zone("UTC")})
    vienna = pl.DataFrame({"t": moments.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Vienna")})
    naive_ = pl.DataFrame({"t": moments})
    for ours in (utc, vienna, naive_):
        for theirs in (utc, vienna, naive_):
            assert found_by(ht.mpuccs(ours, theirs)) == {(0, ("t",), 0), (1, ("t",), 1)}


def test_the_coarser_precision_of_the_two_tables_holds():
    """Fault 13."""
    assert found_by(ht.mpuccs(frame(a=[37.0, 40.0]), frame(a=[37.2, 39.0]))) == {(0, ("a",), 0)}
    assert found_by(ht.mpuccs(frame(a=[37.2, 41.0]), frame(a=[37.0, 39.0]))) == {(0, ("a",), 0)}
    assert found_by(ht.mpuccs(frame(a=[37, 40]), frame(a=[37.2, 39.0]))) == {(0, ("a",), 0)}
    assert found_by(ht.mpuccs(frame(a=[37.0, 40.0]), frame(a=[37.2, 39.0]), numeric_precision=None)) == set()
    days = frame(t=[dt.date(2024, 1, 1), dt.date(2024, 1, 3)])
    hours = frame(t=[dt.datetime(2024, 1, 1, 5), dt.datetime(2024, 1, 2, 6)])
    assert found_by(ht.mpuccs(days, hours)) == {(0, ("t",), 0)}
    assert found_by(ht.mpuccs(hours, days)) == {(0, ("t",), 0)}
    assert found_by(ht.mpuccs(days, hours, datetime_precision=None)) == set()


def test_precision_is_found_per_column():
    """Fault 14: a price in cents does not keep a body height from being rounded."""
    original = frame(height=[1.7, 1.8], price=[9.25, 9.5])
    synthetic = frame(height=[1.72, 1.99], price=[9.26, 9.51])
    assert found_by(ht.mpuccs(original, synthetic)) == {(0, ("height",), 0)}
    both = ht.mpuccs(original, synthetic, numeric_precision={"height": 1, "price": 1})
    assert {syn for syn, _, _ in found_by(both)} == {0, 1}


@given(pairs(kinds=("number",), max_columns=2), st.integers(-3, 2))
def test_numbers_are_rounded_to_tens_too(tables, precision):
    """Whole or decimal: -1 compares tens."""
    table = naive.pair(*tables, numeric_precision=precision)
    assert found_by(ht.mpuccs(*tables, numeric_precision=precision)) == naive.identified(table)
    by_name = dict.fromkeys(tables[0].columns, precision)
    assert found_by(ht.mpuccs(*tables, numeric_precision=by_name)) == naive.identified(table)


def test_whole_numbers_are_rounded_exactly():
    large = 2**60 + 7
    ours, theirs = frame(a=[large, 41, 9]), frame(a=[large - 3, 38, 77])
    assert found_by(ht.mpuccs(ours, theirs, numeric_precision={"a": -1})) == {(0, ("a",), 0), (1, ("a",), 1)}
    assert found_by(ht.mpuccs(ours, theirs, numeric_precision={"a": 1})) == set()
    assert found_by(ht.mpuccs(ours, frame(a=[38.2, 77.5]), numeric_precision=-1)) == {(0, ("a",), 1)}


@pytest.mark.parametrize("precision", [300, "auto", -300])
def test_precisions_beyond_a_float_lose_and_invent_nothing(precision):
    ours, theirs = frame(a=[1e300, 2e300, 0.25, 7.0]), frame(a=[1e300, 3e300, 0.25, 8.0])
    same = {(0, ("a",), 0)} if precision == -300 else {(0, ("a",), 0), (2, ("a",), 2)}
    assert found_by(ht.mpuccs(ours, theirs, numeric_precision=precision, deduplicate=False)) == same


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"numeric_precision": {"name": 1}}, "'name', which hold no numbers.\n\nHint: it may name 'age'"),
        ({"datetime_precision": {"name": "D"}}, "'name', which hold no dates.\n\nHint: it may name 'born'"),
        ({"columns": ["name"], "numeric_precision": {"name": 1}}, "Hint: no column looked at holds numbers"),
        ({"columns": ["name"], "datetime_precision": {"name": "D"}}, "Hint: no column looked at holds dates"),
        ({"numeric_precision": 1.5}, "a whole number of decimals from -300 to 300"),
        ({"numeric_precision": True}, "a whole number of decimals from -300 to 300"),
        ({"numeric_precision": 10**20}, "a whole number of decimals from -300 to 300"),
        ({"numeric_precision": {"age": "auto"}}, "a whole number of decimals from -300 to 300"),
        ({"datetime_precision": {"born": "week"}}, "'us'"),
        ({"datetime_precision": ["D"]}, "'us'"),
    ],
)
def test_a_precision_that_cannot_be_says_which_can(options, expected):
    table = frame(age=[31, 52], name=["x", "y"], born=[dt.date(1990, 1, 1), dt.date(1991, 1, 1)])
    with pytest.raises(ht.InputError) as error:
        ht.mpuccs(table, table, **options)
    assert expected in str(error.value)


def test_a_precision_finer_than_a_column_changes_nothing():
    """Whole numbers have no decimals and dates no hours: naming them is no fault."""
    table = frame(age=[31, 52], born=[dt.date(1990, 1, 1), dt.date(1991, 1, 1)])
    found = ht.mpuccs(table, table, numeric_precision={"age": 2}, datetime_precision={"born": "h"})
    assert found_by(found) == found_by(ht.mpuccs(table, table))


def test_precision_is_read_from_all_rows():
    """Fault 14: PETsARD looks at the first 100 datetimes, and never finds milliseconds."""
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=i) for i in range(150)]
    late = [*days[:-1], days[-1] + dt.timedelta(milliseconds=7)]
    near = [*days[:-1], days[-1] + dt.timedelta(milliseconds=7, microseconds=4)]
    assert (149, ("t",), 149) in found_by(ht.mpuccs(frame(t=late), frame(t=near)))
    assert (149, ("t",), 149) not in found_by(ht.mpuccs(frame(t=late), frame(t=days), datetime_precision=None))


def test_what_is_found_in_one_table_does_not_stick():
    """Fault 15."""
    rough, fine = frame(a=[1.1, 2.5]), frame(a=[1.234, 1.236])
    before = ht.mpuccs(fine, frame(a=[1.236, 1.239]))
    ht.mpuccs(rough, rough)
    after = ht.mpuccs(fine, frame(a=[1.236, 1.239]))
    assert found_by(before) == found_by(after) == {(0, ("a",), 1)}


@pytest.mark.parametrize(
    ("alpha", "wanted"),
    [
        (0, 1.0),
        (0.5, 2 * math.log2(math.sqrt(0.5) + 2 * math.sqrt(0.25)) / math.log2(3)),
        (1, 1.5 / math.log2(3)),
        (2, -math.log2(0.375) / math.log2(3)),
        (math.inf, 1 / math.log2(3)),
    ],
)
def test_entropy_of_every_order(alpha, wanted):
    """Fault 16: Shannon at 1, min-entropy at infinity, nothing negative below 1."""
    table = frame(a=["x", "x", "y", "z"])
    result = ht.mpuccs(table, table, deduplicate=False, renyi_alpha=alpha)
    assert rows_of(result.tree)[0]["combo_entropy"] == pytest.approx(wanted)


@pytest.mark.parametrize("attack", [ht.mpuccs, ht.petsard_mpuccs])
@pytest.mark.parametrize(
    "n_cols",
    [
        *[0, -1, 4, [], [0], [1, 4], [1, 99], range(0), range(3)],
        *[1.5, math.nan, "2", "12", b"\x01", True, False, [True], [1.5], ["1"], [[1]], [None], {1: 2.5}.values()],
        *[np.float64(1), np.array(1.5), np.array([1.5]), np.array([True]), np.array([[1]]), object],
    ],
)
def test_sizes_that_no_combination_has_are_an_error(n_cols, attack):
    """Fault 17: never a report of 0 % risk."""
    with pytest.raises(ht.InputError, match="give whole numbers from 1 to 3, or None for all"):
        attack(PEOPLE, PEOPLE, n_cols=n_cols)


@pytest.mark.parametrize("n_cols", [range(1, 3), {1, 2}, (2, 1, 2), np.array([1, 2]), iter([1, 2])])
def test_sizes_may_come_in_any_order_and_container(n_cols):
    assert ht.mpuccs(PEOPLE, PEOPLE, n_cols=n_cols).summary["config_n_cols"] == [1, 2]


def test_sizes_are_counted_within_the_chosen_columns():
    with pytest.raises(ht.InputError):
        ht.mpuccs(PEOPLE, PEOPLE, columns=["age", "sex"], n_cols=3)


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_nothing_found_keeps_the_columns(kind):
    """Fault 18."""
    tables = [frame(a=[1, 1]), frame(a=[2, 3])]
    if kind == "pandas":
        tables = [table.to_pandas() for table in tables]
    result = ht.mpuccs(*tables)
    assert len(result.details) == 0
    assert list(result.details.columns) == DETAILS
    assert list(result.tree.columns) == TREE


def test_an_empty_table_is_an_error_and_no_risk_of_0():
    for tables in ((frame(a=[1])[:0], frame(a=[1])), (frame(a=[1]), frame(a=[1])[:0])):
        with pytest.raises(ht.InputError, match="is empty"):
            ht.mpuccs(*tables)


def test_combinations_are_sequences_of_names():
    """Fault 19: nothing to parse, whatever a column is called."""
    table = frame(**{"a, 'b'": [1, 1, 2, 2], "(c,)": [1, 2, 1, 2]})
    assert {combo for _, combo, _ in found_by(ht.mpuccs(table, table))} == {("a, 'b'", "(c,)")}
    in_pandas = ht.mpuccs(table.to_pandas(), table.to_pandas())
    assert all(isinstance(combo, tuple) for combo in in_pandas.details["field_combo"])
    assert all(isinstance(combo, tuple) for combo in in_pandas.tree["field_combo"])
    in_polars = ht.mpuccs(table, table)
    assert in_polars.details.schema["field_combo"] == pl.List(pl.String)
    assert in_polars.tree.schema["field_combo"] == pl.List(pl.String)


def test_skipped_sizes_settle_nobody():
    """A pair identifies the record; with sizes 1 and 3 it is found at 3, on all three."""
    table = frame(a=[1, 1, 2, 2], b=[1, 2, 1, 2], c=[0, 0, 0, 0])
    assert {len(combo) for _, combo, _ in found_by(ht.mpuccs(table, table, n_cols=[1, 3]))} == {3}
    assert {len(combo) for _, combo, _ in found_by(ht.mpuccs(table, table))} == {2}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([37, 40], [37.0, 41.0]),
        (["37", "40"], [37, 41]),
        ([True, None], ["true", "x"]),
        ([dt.date(2024, 1, 1), None], [dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1)]),
    ],
)
def test_columns_are_compared_by_value(ours, theirs):
    assert (0, ("a",), 0) in found_by(ht.mpuccs(frame(a=ours), frame(a=theirs)))
    assert (0, ("a",), 0) in found_by(ht.mpuccs(frame(a=theirs), frame(a=ours)))


def test_minus_zero_is_zero():
    assert found_by(ht.mpuccs(frame(a=[0.0, 2.0]), frame(a=[-0.0, 3.0]))) == {(0, ("a",), 0)}
    assert found_by(ht.mpuccs(frame(a=[0.0, 2.0]), frame(a=[-0.3, 3.0]))) == {(0, ("a",), 0)}


# Kinds of tables


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(3)
    n = 60

    def one():
        return pl.DataFrame(
            {
                "age": random.integers(20, 45, n),
                "share": random.integers(0, 8, n) / 4,
                "town": random.choice(["bonn", "graz", "linz"], n),
                "sex": random.choice(["f", "m"], n),
            }
        )

    return one(), one()


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "csv", "parquet", "table"])
def test_any_kind_of_table_gives_the_same(people, kind, tmp_path):
    def convert(table, name):
        if kind == "pandas":
            return table.to_pandas()
        if kind == "pyarrow":
            return table.to_arrow()
        if kind == "table":
            return ht.Table.encode(table)
        path = tmp_path / f"{name}.{kind}"
        table.write_csv(path) if kind == "csv" else table.write_parquet(path)
        return path

    wanted = ht.mpuccs(*people)
    assert found_by(wanted) == naive.identified(naive.pair(*people))
    result = ht.mpuccs(convert(people[0], "original"), convert(people[1], "synthetic"))
    assert found_by(result) == found_by(wanted)
    assert result.summary == wanted.summary
    if kind == "pandas":
        assert isinstance(result.details, pd.DataFrame)
        assert isinstance(result.tree, pd.DataFrame)
    elif kind in ("csv", "parquet"):
        assert isinstance(result.details, pl.DataFrame)
        assert isinstance(result.tree, pl.DataFrame)


def test_kinds_may_be_mixed(people, tmp_path):
    path = tmp_path / "original.csv"
    people[0].write_csv(path)
    assert found_by(ht.mpuccs(path, people[1].to_pandas())) == found_by(ht.mpuccs(*people))
    assert found_by(ht.mpuccs(people[0].to_arrow(), path.rename(tmp_path / "synthetic.csv"))) == found_by(
        ht.mpuccs(people[0], people[0])
    )


def test_rows_of_a_table_that_count_twice_are_not_alone():
    original = frame(a=[1, 2, 2, 3])
    counted, _ = ht.Table.encode(original).collapse()
    synthetic = frame(a=[1, 2, 3])
    assert ht.mpuccs(counted, synthetic).summary["total_identified"] == 2
    assert ht.mpuccs(counted, synthetic, deduplicate=True).summary["total_identified"] == 3


def test_specs_say_what_the_cells_do_not(tmp_path):
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    ours.write_text("code\n1\n7\n")
    theirs.write_text("code\n1.0\n8\n")
    assert found_by(ht.mpuccs(ours, theirs)) == {(0, ("code",), 0)}
    assert found_by(ht.mpuccs(ours, theirs, specs={"code": ht.ColumnSpec("category")})) == set()


def test_values_of_records_on_request_only(people):
    assert "value_combo" not in ht.mpuccs(*people).details.columns
    result = ht.mpuccs(*people, values=True)
    assert {*result.details.columns} == {*DETAILS, "value_combo"}
    for row in rows_of(result.details):
        cells = people[1].row(row["syn_idx"], named=True)
        for value, name in zip(row["value_combo"], row["field_combo"], strict=True):
            assert cells[name] == (value if isinstance(cells[name], str) else float(value))


# Control


def test_control_of_originals_shows_no_excess(people):
    original, synthetic = people[0].unique(maintain_order=True), people[1]
    result = ht.mpuccs(original, synthetic, control=original)
    control = result.summary["control"]
    assert control["n_control"] == original.height
    assert control["n_draws"] == 5
    # As large as the originals: every draw is all of them.
    assert control["train_rate"] == pytest.approx(result.summary["identification_rate"])
    assert control["control_rate"] == pytest.approx(control["train_rate"])
    assert control["excess_risk"] == pytest.approx(0)
    low, high = control["interval"]
    assert low <= 0 <= high
    assert 0 < control["p_value"] <= 1


def test_control_rate_is_that_of_the_attack_on_the_control(people):
    original, synthetic = people
    control = original.unique(maintain_order=True)[:25].with_columns(age=pl.col("age") + 3)
    figures = ht.mpuccs(original, synthetic, control=control, n_cols=[1, 2]).summary["control"]
    table = naive.pair(control, synthetic)
    rate = len(naive.identified(table, [1, 2])) / len(table.synthetic.rows)
    assert figures["n_control"] == 25
    assert figures["control_rate"] == pytest.approx(rate)


def test_memorised_records_show_as_excess():
    random = np.random.default_rng(0)
    cells = random.permutation(4_000)
    original, control = frame(a=cells[:300], b=cells[300:600]), frame(a=cells[600:800], b=cells[800:1000])
    figures = ht.mpuccs(original, original, control=control, n_draws=3).summary["control"]
    assert figures["n_draws"] == 3
    assert figures["control_rate"] == pytest.approx(0, abs=0.02)
    # Two in three of the originals are in a draw as large as the control.
    assert figures["train_rate"] == pytest.approx(2 / 3, abs=0.02)
    assert figures["excess_risk"] == pytest.approx(2 / 3, abs=0.05)
    assert figures["interval"][0] > 0
    assert figures["p_value"] < 0.1


def test_records_that_equal_another_are_told():
    original, synthetic = frame(a=[1, 1, 1, 2], b=[3, 3, 3, 4]), frame(a=[1, 2, 2], b=[3, 4, 4])
    summary = ht.mpuccs(original, synthetic, control=synthetic, deduplicate=True).summary
    assert summary["dropped_as_equal"] == {"original": 2, "synthetic": 1, "control": 1}
    kept = ht.mpuccs(original, synthetic).summary
    assert kept["dropped_as_equal"] == {"original": 0, "synthetic": 0}
    assert ht.mpuccs(original).summary["dropped_as_equal"] == {"original": 0}
    # Where precision makes them equal, too.
    assert (
        ht.mpuccs(frame(a=[1.1, 1.2]), frame(a=[1, 2]), deduplicate=True).summary["dropped_as_equal"]["original"] == 1
    )


def test_records_that_are_equal_on_the_chosen_columns_are_not_exactly_one():
    """Age 37 stands three times in the original: no synthetic record of 37 equals exactly one."""
    original, synthetic = frame(id=[1, 2, 3, 4], age=[37, 37, 37, 52]), frame(id=[7, 8, 9], age=[37, 37, 52])
    assert found_by(ht.mpuccs(original, synthetic, columns=["age"])) == {(2, ("age",), 3)}
    summary = ht.mpuccs(original, synthetic, columns=["age"]).summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (3, 4)
    with pytest.raises(ht.InputError, match="not equal records"):
        ht.mpuccs(original, synthetic, columns=["age"], deduplicate=True)


def test_sentences_say_of_what_the_figures_are():
    original, synthetic = frame(a=[1, 1, 2]), frame(a=[1, 1, 2])
    merged, counted = ht.mpuccs(original, synthetic, deduplicate=True), ht.mpuccs(original, synthetic)
    assert "(2 of 2 distinct rows identified" in repr(merged)
    assert "(1 of 3 records identified" in repr(counted)
    assert "2 of 2 distinct rows are unique and equal exactly one distinct row" in merged.facts[0]
    assert "1 of 3 records are unique and equal exactly one original" in counted.facts[0]


def test_a_budget_that_ends_before_the_control_leaves_it_out(people):
    original, synthetic = people
    n_sets = ht.mpuccs(original, synthetic, budget=ht.Budget(nodes=10**6)).trace.nodes
    budget = ht.Budget(nodes=n_sets + 1)
    summary = ht.mpuccs(original, synthetic, control=original[:20], budget=budget).summary
    assert summary["complete"]
    assert "control" not in summary
    assert "control was not compared" in summary["note"]


def test_draws_follow_the_seed(people):
    original, synthetic = people
    control = synthetic[:20]
    figures = [ht.mpuccs(original, synthetic, control=control, seed=seed).summary["control"] for seed in (0, 0, 1)]
    assert figures[0] == figures[1]
    assert figures[0]["control_rate"] == figures[2]["control_rate"]


def test_control_changes_nothing_else(people):
    alone, beside = ht.mpuccs(*people), ht.mpuccs(*people, control=people[1][:20])
    assert found_by(alone) == found_by(beside)
    assert rows_of(alone.tree) == rows_of(beside.tree)
    assert beside.summary.get("note") != alone.summary["note"]


# Errors, budgets and what a result shows


def test_tables_of_different_columns_are_an_error():
    with pytest.raises(ht.ColumnError):
        ht.mpuccs(frame(a=[1], b=[2]), frame(a=[1]))
    with pytest.raises(ht.ColumnError):
        ht.mpuccs(frame(a=[1]), frame(a=[1], b=[2]))
    with pytest.raises(ht.ColumnError):
        ht.mpuccs(frame(a=[1]), frame(a=[1]), control=frame(b=[1]))
    with pytest.raises(ht.ColumnError):
        ht.mpuccs(frame(a=[1]), frame(a=[1]), columns=["b"])
    # Columns that are not compared do not matter.
    assert ht.mpuccs(frame(a=[1], b=[2]), frame(a=[1], c=[2]), columns=["a"]).summary["total_identified"] == 1


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "wildcard"},
        {"renyi_alpha": -0.5},
        {"renyi_alpha": math.nan},
        {"field_decay_factor": -1.0},
        {"numeric_precision": "fine"},
        {"datetime_precision": "week"},
        {"numeric_precision": {"nowhere": 2}},
        {"datetime_precision": {"nowhere": "D"}},
        {"n_draws": 0},
        {"n_permutations": 19},
        {"n_permutations": 20.5},
        {"n_permutations": True},
        {"columns": []},
    ],
)
def test_options_that_mean_nothing_are_an_error(options):
    with pytest.raises(ht.InputError):
        ht.mpuccs(PEOPLE, PEOPLE, **options)


def test_a_budget_leaves_an_honest_part():
    random = np.random.default_rng(1)
    original, synthetic = (pl.DataFrame({f"c{j}": random.integers(0, 3 + j, 400) for j in range(9)}) for _ in range(2))
    whole = ht.mpuccs(original, synthetic)
    part = ht.mpuccs(original, synthetic, budget=ht.Budget(nodes=1))
    assert whole.summary["complete"] is True
    assert part.summary["complete"] is False
    table = naive.pair(original, synthetic)
    found = found_by(part)
    for combo in {combo for _, combo, _ in found}:
        true = {
            (table.synthetic.positions[index], combo, table.original.positions[match])
            for index, match in naive.collisions(table, combo).items()
        }
        assert {row for row in found if row[1] == combo} <= true
    assert {index for index, _, _ in found_by(part)} <= {index for index, _, _ in found_by(whole)}
    assert part.summary["total_identified"] == len(found_by(part))


def test_a_result_is_plain_and_shows_no_cell():
    canary, number = "Zq7Xcanary", 481_516_237
    original = frame(name=[canary, "b", "c"], number=[number, 5, 6], day=[dt.date(1903, 7, 13)] * 3)
    synthetic = frame(name=[canary, "x", "c"], number=[number, 5, 7], day=[dt.date(1903, 7, 13)] * 3)
    for options in ({}, {"all_minimal": True}, {"control": synthetic[:2]}, {"values": True}):
        result = ht.mpuccs(original, synthetic, **options)
        shown = [repr(result), result._repr_html_(), json.dumps(result.to_dict())]
        if "values" not in options:
            shown += [str(rows_of(result.details)), str(rows_of(result.tree)), str(dict(result.summary))]
        for text in shown:
            assert canary not in text
            assert str(number) not in text
            assert "1903-07" not in text
            assert "1903, 7" not in text
        assert "<script" not in result._repr_html_()
    with pytest.raises(AttributeError):
        result.summary = {}


def test_errors_show_no_cell():
    canary = "Zq7Xcanary"
    cells = pd.DataFrame({"x": [canary, 1, 2.5]}), frame(x=[[canary], [canary], []])
    for table in cells:
        with pytest.raises(ht.InputError) as caught:
            ht.mpuccs(table, table)
        assert canary not in str(caught.value)


# Real tables


@pytest.fixture(scope="module")
def ctgan(shared_file) -> tuple[Path, Path]:
    return shared_file("data/adult/ctgan_ori.csv"), shared_file("data/adult/ctgan_syn.csv")


@pytest.fixture(scope="module")
def adult(shared_file) -> tuple[Path, Path]:
    return shared_file("data/adult/adult_ori.csv"), shared_file("data/adult/adult_syn.csv")


@pytest.mark.slow
def test_ctgan_exactly(ctgan):
    """Smallest sizes of all that is found at sizes 1 to 5."""
    summary = ht.mpuccs(*ctgan, n_cols=[1, 2, 3, 4, 5], deduplicate=True).summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (39_040, 26_007)
    assert summary["identified_by_size"] == {1: 1_372, 2: 1_212, 3: 6_278, 4: 10_495, 5: 6_639}
    assert summary["total_identified"] == 25_996
    assert summary["weighted_identification_rate"] == pytest.approx(0.135100, abs=1e-6)
    assert summary["total_combinations_checked"] == 4_943
    summary = ht.mpuccs(*ctgan, n_cols=[1, 2, 3], deduplicate=True).summary
    assert summary["total_identified"] == 8_862
    assert summary["weighted_identification_rate"] == pytest.approx(0.090868, abs=1e-6)
    assert summary["total_combinations_checked"] == 575


@pytest.mark.slow
def test_ctgan_on_all_sizes(ctgan):
    assert ht.mpuccs(*ctgan, deduplicate=True).summary["total_identified"] == 29_860
    assert ht.mpuccs(*ctgan).summary["total_identified"] == 29_852


def test_adult_exactly(adult):
    summary = ht.mpuccs(*adult, n_cols=[1, 2, 3], deduplicate=True).summary
    assert (summary["total_syn_records"], summary["total_ori_records"]) == (30_144, 32_537)
    assert summary["total_identified"] == 24_618
    assert summary["identified_by_size"] == {1: 6_195, 2: 13_803, 3: 4_620}
    assert summary["weighted_identification_rate"] == pytest.approx(0.472781, abs=1e-6)


def test_real_details_are_those_of_the_slow_twin(ctgan):
    tables = [pl.read_csv(path) for path in ctgan]
    assert found_by(ht.mpuccs(*tables, n_cols=1)) == naive.identified(naive.pair(*tables), 1)


@pytest.mark.slow
def test_ctgan_remembers_nobody(ctgan, shared_file):
    """Training records are hit no more often than as many that the synthesis never saw."""
    result = ht.mpuccs(*ctgan, control=shared_file("data/adult/ctgan_control.csv"), n_cols=[1, 2, 3])
    figures = result.summary["control"]
    assert figures["n_control"] == 9_758
    assert figures["control_rate"] == pytest.approx(6_077 / 39_040, abs=2e-4)
    assert 5_900 / 39_040 < figures["train_rate"] < 6_300 / 39_040
    assert abs(figures["excess_risk"]) < 0.01
    low, high = figures["interval"]
    assert low <= 0 <= high
    assert figures["p_value"] > 0.05


def test_progress_is_told_columns_and_combinations():
    cells = np.random.default_rng(0).integers(0, 4, (3_000, 16))
    told = []
    ht.mpuccs(pl.DataFrame(cells), n_cols=None, progress=lambda share, n_sets: told.append((share, n_sets)))
    assert told[-1][0] == 1.0
    assert all(0 <= share <= 1 for share, _ in told)
    assert told == sorted(told)


@pytest.mark.parametrize("options", [{}, {"all_minimal": True}, {"min_entropy_delta": 0.0}])
def test_progress_ends_at_one_in_every_kind_of_search(options):
    told = []
    ht.mpuccs(frame(a=[1, 1, 2], b=[3, 4, 4]), progress=lambda share, n_sets: told.append((share, n_sets)), **options)
    assert told[-1][0] == 1.0


def test_pruning_weighs_classes_by_all_their_records():
    """Classes of 2 and of 9 records are not alike, although neither is a record alone."""
    table = ht.Table.encode(frame(a=[1, 1, 2, 3], b=[1, 2, 1, 1]))
    counted = ht.Table(table.columns, table.codes, np.array([9, 2, 1, 1], dtype=np.int64))
    records = counted.expand()
    for delta in (-0.2, -0.1, 0.0, 0.1):
        options = {"deduplicate": False, "min_entropy_delta": delta}
        pruned = [ht.mpuccs(data, data, **options).tree["is_pruned"].to_list() for data in (counted, records)]
        assert pruned[0] == pruned[1]


@given(pairs(), st.integers(1, 12), st.sampled_from([None, -0.1, 0.0]))
def test_a_budget_in_nodes_is_reproducible_and_says_what_it_leaves_out(tables, nodes, delta):
    options = {"min_entropy_delta": delta, "budget": ht.Budget(nodes=nodes)}
    whole, part = ht.mpuccs(*tables, min_entropy_delta=delta), ht.mpuccs(*tables, **options)
    assert part.summary == ht.mpuccs(*tables, **options).summary
    summary, complete_to = part.summary, part.summary["complete_to_size"]
    assert summary["complete"] is (complete_to == tables[0].width)
    assert {each for each in found_by(part) if len(each[1]) <= complete_to} == {
        each for each in found_by(whole) if len(each[1]) <= complete_to
    }
    # What is found beyond is a smallest set of its record too.
    smallest = {syn: len(combo) for syn, combo, _ in found_by(whole)}
    assert all(len(combo) == smallest[syn] for syn, combo, _ in found_by(part))
    n_columns = tables[0].width
    for size, counts in summary["combinations_by_size"].items():
        assert sum(counts.values()) == math.comb(n_columns, size)
        assert counts["not_reached"] == 0 or size > complete_to
    names = ("walked", "left", "pruned", "not_reached")
    assert sum(summary[f"total_combinations_{name}"] for name in names) == summary["total_combinations_checked"]
    assert {len(row["field_combo"]) for row in rows_of(part.tree)} == set(range(1, complete_to + 1))


def test_sixty_columns_are_complete_to_a_size():
    """All sets of so many columns are 10^18: a budget gets a part that says how far it goes."""
    cells = np.random.default_rng(0).integers(0, 4, (2, 300, 60))
    result = ht.mpuccs(*(pl.DataFrame(each) for each in cells), budget=ht.Budget(nodes=4_000))
    summary = result.summary
    assert summary["complete_to_size"] == 2
    pairs = summary["combinations_by_size"][2]
    assert pairs["walked"] + pairs["left"] == 1_770
    assert pairs["pruned"] == pairs["not_reached"] == 0
    assert summary["combinations_by_size"][40]["not_reached"] == math.comb(60, 40)
    assert summary["total_combinations_checked"] == 2**60 - 1
    assert len(result.tree) == 60 + 1_770


@pytest.mark.parametrize("options", [{}, {"values": True}, {"all_minimal": True}, {"min_entropy_delta": 0.0}])
@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_result_survives_a_pickle(people, kind, options):
    tables = [table.to_pandas() if kind == "pandas" else table for table in people]
    result = ht.mpuccs(*tables, control=tables[0][:20], **options)
    again = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.trace == result.trace
    for mine, theirs in ((again.details, result.details), (again.tree, result.tree)):
        assert type(mine) is type(theirs)
        assert mine.equals(theirs)
    assert len(result.details)


def test_a_pickle_holds_no_cell_unless_asked():
    canary = b"Zq7Xcanary"
    original, synthetic = frame(name=[canary.decode(), "b"]), frame(name=[canary.decode(), "x"])
    assert canary not in pickle.dumps(ht.mpuccs(original, synthetic, control=original))
    assert canary in pickle.dumps(ht.mpuccs(original, synthetic, values=True))


def test_sizes_may_be_integers_of_numpy(people):
    original, synthetic = people
    found = ht.mpuccs(original, synthetic, n_cols=np.array([1, 2]))
    assert found.summary == ht.mpuccs(original, synthetic, n_cols=[1, 2]).summary
    assert ht.mpuccs(original, synthetic, n_cols=np.int64(2)).summary["config_n_cols"] == [2]
