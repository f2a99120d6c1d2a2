"""Row by row what PETsARD 1.6.0 gives: its own results on real tables, the slow twin on random ones."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from twins import naive_uniques as naive

TOTALS = [
    "total_syn_records",
    "total_ori_records",
    "total_identified",
    "identification_rate",
    "weighted_identification_rate",
    "total_combinations_checked",
    "total_combinations_pruned",
]
# Table, sizes, stem of the files, and the entropy gain at or below which a combination was pruned.
ORACLES = {
    "ctgan 1": ("ctgan", [1], "ctgan__n1__", None),
    "adult 1": ("adult", [1], "adult__n1__", None),
    "adult 1-2": ("adult", [1, 2], "adult__n1_2__", None),
    "adult 1-3": ("adult", [1, 2, 3], "adult__n1_2_3__ref_", None),
    "adult 1-3 unpruned": ("adult", [1, 2, 3], "adult__n1_2_3_nopruning__ref_", -1e9),
}


def run(original: Any, synthetic: Any, n_cols: Any, delta: float | None = None, **options: Any) -> ht.PetsardMpuccs:
    if delta is not None:
        options["min_entropy_delta"] = delta
    return ht.petsard_mpuccs(original, synthetic, n_cols=n_cols, **options)


def read_csv(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        return list(csv.DictReader(lines))


def as_text(cell: Any) -> str:
    """A cell as the reference's CSV has it."""
    return "" if cell is None else str(cell)


@pytest.fixture(scope="module", params=ORACLES.values(), ids=ORACLES)
def both(request: pytest.FixtureRequest, shared_file: Callable[[str], Path]) -> tuple[ht.PetsardMpuccs, str]:
    pair, n_cols, stem, delta = request.param
    tables = [shared_file(f"data/adult/{pair}_{side}.csv") for side in ("ori", "syn")]
    return run(*tables, n_cols, delta, values=True), f"oracles/mpuccs/{stem}"


def test_tree_of_the_reference(both: tuple[ht.Mpuccs, str], shared_file: Callable[[str], Path]) -> None:
    result, stem = both
    wanted = read_csv(shared_file(f"{stem}tree.csv"))
    assert list(result.tree.columns) == list(wanted[0])
    assert len(result.tree) == len(wanted)
    for row, oracle in zip(result.tree.to_dicts(), wanted, strict=True):
        for name in ("check_order", "combo_size", "field_combo", "base_combo", "base_is_pruned", "is_pruned"):
            assert as_text(row[name]) == oracle[name], (name, row)
        for name in ("mpuccs_cnt", "mpuccs_collision_cnt"):
            assert row[name] == int(float(oracle[name])), (name, row)
        for name in ("field_weighted", "total_weighted", "weighted_mpuccs_collision_cnt"):
            assert row[name] == float(oracle[name]), (name, row)
        for name in ("combo_entropy", "base_entropy", "entropy_gain"):
            assert (row[name] is None) == (oracle[name] == ""), (name, row)
            if row[name] is not None:
                assert row[name] == pytest.approx(float(oracle[name]), abs=1e-12), (name, row)


def test_details_of_the_reference(both: tuple[ht.Mpuccs, str], shared_file: Callable[[str], Path]) -> None:
    result, stem = both
    wanted = read_csv(shared_file(f"{stem}details.csv.gz"))
    for name in wanted[0]:
        found = [as_text(cell) for cell in result.details[name].to_list()]
        assert found == [row[name] for row in wanted], name


def test_totals_of_the_reference(both: tuple[ht.Mpuccs, str], shared_file: Callable[[str], Path]) -> None:
    result, stem = both
    # What comes from the reference itself is a table with its configuration, the rewrite's is without.
    if stem.endswith("ref_"):
        wanted = json.loads(shared_file(f"{stem}global.json").read_text())
        assert list(wanted) == TOTALS
        for name, value in wanted.items():
            assert result.summary[name] == pytest.approx(value, abs=1e-12), name
        return
    oracle = read_csv(shared_file(f"{stem}global.csv"))[0]
    assert [name for name in result.summary if name in oracle] == list(oracle)
    for name, text in oracle.items():
        if name in TOTALS:
            assert result.summary[name] == pytest.approx(float(text), abs=1e-12), name
        else:
            assert as_text(result.summary[name]) == text, name


def test_pairs_of_ctgan(shared_file: Callable[[str], Path]) -> None:
    """Totals of the reference on the larger sizes of the CTGAN, pruned by default."""
    tables = [shared_file(f"data/adult/ctgan_{side}.csv") for side in ("ori", "syn")]
    for n_cols, identified, weighted, pruned, n_details in (
        ([1, 2], 2_371, 0.047938, 34, 2_371),
        ([1, 2, 3], 5_902, 0.071081, 179, 5_985),
    ):
        result = run(*tables, n_cols)
        assert result.summary["total_identified"] == identified
        assert result.summary["weighted_identification_rate"] == pytest.approx(weighted, abs=1e-6)
        assert result.summary["total_combinations_pruned"] == pruned
        assert len(result.details) == n_details


@pytest.mark.slow
def test_five_columns_at_once(shared_file: Callable[[str], Path]) -> None:
    for pair, identified, pruned, n_details in (("ctgan", 23_377, 1_195, 27_062), ("adult", 27_680, 1_416, 29_882)):
        tables = [shared_file(f"data/adult/{pair}_{side}.csv") for side in ("ori", "syn")]
        result = run(*tables, [1, 2, 3, 4, 5])
        assert result.summary["total_combinations_checked"] == 4_943
        assert result.summary["total_identified"] == identified
        assert result.summary["total_combinations_pruned"] == pruned
        assert len(result.details) == n_details


@st.composite
def pairs(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables of whole numbers and texts without missing cells: where the reference is right about equality."""
    n_columns = draw(st.integers(1, 5))
    palettes = [
        draw(st.sampled_from([["x", "y, z", "'q'"], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7], ["k"]])) for _ in range(n_columns)
    ]
    frames = []
    for _ in range(2):
        n_rows = draw(st.integers(1, 12))
        cells = {
            f"c{j}": draw(st.lists(st.sampled_from(palette), min_size=n_rows, max_size=n_rows))
            for j, palette in enumerate(palettes)
        }
        frames.append(pl.DataFrame(cells))
    return frames[0], frames[1]


@given(
    pairs(),
    st.data(),
    st.sampled_from([None, 0.0, 0.0531, -0.0937, -1e9]),
    st.sampled_from([2.0, 3.0]),
    st.sampled_from([0.5, 0.25]),
)
def test_random_tables(
    tables: tuple[pl.DataFrame, pl.DataFrame], data: st.DataObject, delta: float | None, alpha: float, decay: float
) -> None:
    original, synthetic = tables
    some = st.sets(st.integers(1, original.width), min_size=1).map(sorted)
    n_cols = data.draw(st.one_of(st.none(), st.integers(1, original.width), some))
    result = run(original, synthetic, n_cols, delta, values=True, renyi_alpha=alpha, field_decay_factor=decay)
    twin = naive.petsard(
        original,
        synthetic,
        n_cols,
        min_entropy_delta=0.0 if delta is None else delta,
        renyi_alpha=alpha,
        field_decay_factor=decay,
    )
    details = [
        (row["combo_size"], row["syn_idx"], row["field_combo"], row["value_combo"], row["ori_idx"])
        for row in result.details.to_dicts()
    ]
    assert details == [(size, syn, str(combo), str(values), ori) for size, syn, combo, values, ori in twin.details]
    for name, value in twin.totals.items():
        assert result.summary[name] == pytest.approx(value), name
    rows = result.tree.to_dicts()
    assert [row["check_order"] for row in rows] == list(range(1, len(rows) + 1))
    for row, wanted in zip(rows, twin.tree, strict=True):
        assert row["combo_size"] == len(wanted.combo)
        assert row["field_combo"] == str(wanted.combo)
        assert as_text(row["base_combo"]) == as_text(wanted.base)
        assert (row["base_is_pruned"], row["is_pruned"]) == (wanted.base_is_pruned, wanted.is_pruned)
        assert (row["mpuccs_cnt"], row["mpuccs_collision_cnt"]) == (wanted.n_unique, wanted.n_collisions)
        assert row["field_weighted"] == row["total_weighted"] == decay ** (len(wanted.combo) - 1)
        assert row["weighted_mpuccs_collision_cnt"] == pytest.approx(row["field_weighted"] * wanted.n_collisions)
        for name, entropy in (
            ("combo_entropy", wanted.entropy),
            ("base_entropy", wanted.base_entropy),
            ("entropy_gain", wanted.gain),
        ):
            assert row[name] == (None if entropy is None else pytest.approx(entropy, abs=1e-12))


def test_more_columns_than_bits_in_a_word() -> None:
    rows = [{f"c{j}": (i * (j + 3)) % (2 + j % 4) for j in range(66)} for i in range(9)]
    original, synthetic = pl.DataFrame(rows), pl.DataFrame(rows[::-1])
    result, twin = run(original, synthetic, [1, 2]), naive.petsard(original, synthetic, [1, 2])
    assert result.tree["field_combo"].to_list() == [str(row.combo) for row in twin.tree]
    assert result.tree["is_pruned"].to_list() == [row.is_pruned for row in twin.tree]
    found = result.details.select("syn_idx", "field_combo", "ori_idx").rows()
    assert found == [(syn, str(combo), ori) for _, syn, combo, _, ori in twin.details]


def test_walks_by_column_not_by_size() -> None:
    table = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 3], "c": [1, 2, 2, 2]})
    tree = run(table, table, None).tree
    combos = ["('a',)", "('b',)", "('a', 'b')", "('c',)", "('a', 'c')", "('b', 'c')", "('a', 'b', 'c')"]
    assert tree["field_combo"].to_list() == combos


def test_a_record_found_twice_keeps_both_rows() -> None:
    """A smaller combination that comes later replaces the larger one, which stays in details and weights."""
    table = pl.DataFrame({"a": [1, 2, 2], "b": [3, 1, 3], "c": [2, 2, 1]})
    result = run(table, table, None)
    assert result.details["syn_idx"].to_list() == [0, 1, 2, 2]
    assert result.details["field_combo"].to_list() == ["('a',)", "('b',)", "('a', 'b')", "('c',)"]
    assert result.summary["total_identified"] == 3
    assert result.summary["weighted_identification_rate"] == pytest.approx(7 / 6)


def test_positions_are_those_without_equal_rows() -> None:
    original = pl.DataFrame({"a": [3, 3, 7]})
    synthetic = pl.DataFrame({"a": [5, 5, 5, 7]})
    assert run(original, synthetic, 1, values=True).details.rows() == [(1, 1, "('a',)", "(7,)", 1)]


def test_pandas_gives_texts_too() -> None:
    table = pd.DataFrame({"a": [1, 2, 2], "b": [3, 1, 3]})
    result = run(table, table, None)
    assert isinstance(result.details, pd.DataFrame)
    assert result.details["field_combo"].tolist()[0] == "('a',)"
    assert result.tree["base_combo"].tolist()[2] == "('a',)"


MOMENTS = [dt.datetime(2024, 1, 1, 5, 6, 7, 8_000), dt.datetime(2024, 1, 2, 5, 6, 7)]


@pytest.mark.parametrize(
    ("spelling", "step"),
    [
        *[(each, dt.timedelta(hours=1)) for each in ("D", "d")],
        *[(each, dt.timedelta(minutes=1)) for each in ("H", "h")],
        *[(each, dt.timedelta(seconds=1)) for each in ("T", "t", "min", "MIN", "m")],
        *[(each, dt.timedelta(milliseconds=1)) for each in ("S", "s", "sec", "SEC")],
        *[(each, dt.timedelta(microseconds=1)) for each in ("L", "l", "ms", "MS")],
        *[(each, None) for each in ("U", "u", "us", "US", "micro", "MICRO", "N", "n", "ns", "NS", "nano", "NANO")],
    ],
)
def test_its_spellings_of_units(spelling: str, step: dt.timedelta | None) -> None:
    """Moments that differ by less than the unit are equal; those that differ by a day are not."""
    near = MOMENTS if step is None else [moment + step for moment in MOMENTS]
    original = pl.DataFrame({"t": MOMENTS})
    result = run(original, pl.DataFrame({"t": near}), 1, datetime_precision=spelling)
    assert result.summary["total_identified"] == 2
    assert result.summary["config_datetime_precision"] == spelling
    apart = [moment + dt.timedelta(days=7, microseconds=1) for moment in MOMENTS]
    assert run(original, pl.DataFrame({"t": apart}), 1, datetime_precision=spelling).summary["total_identified"] == 0


@pytest.mark.parametrize(
    ("moment", "unit"),
    [
        (dt.datetime(2024, 1, 1), None),
        (dt.datetime(2024, 1, 1, 5), "H"),
        (dt.datetime(2024, 1, 1, 5, 6), "T"),
        (dt.datetime(2024, 1, 1, 5, 6, 7), "s"),
        # It never finds milliseconds.
        (dt.datetime(2024, 1, 1, 5, 6, 7, 8_000), "us"),
        (dt.datetime(2024, 1, 1, 5, 6, 7, 8_001), "us"),
    ],
)
def test_unit_it_finds_in_the_original(moment: dt.datetime, unit: str | None) -> None:
    table = pl.DataFrame({"t": [moment]})
    late = pl.DataFrame({"t": [dt.datetime(2025, 1, 1, 5, 6, 7, 8)]})
    assert run(table, late, 1).summary["config_datetime_precision"] == unit


def test_none_is_the_most_decimals_of_the_original() -> None:
    original = pl.DataFrame({"a": [1.25, 2.5], "b": [0.5, 1.0]})
    synthetic = pl.DataFrame({"a": [1.254, 7.0], "b": [0.504, 9.0]})
    found = run(original, synthetic, 1)
    assert found.summary["config_numeric_precision"] == 2
    assert found.summary["total_identified"] == 1
    assert run(original, synthetic, 1, numeric_precision=1).summary["config_numeric_precision"] == 1
    # Whole numbers are not rounded to: 37.0 and 37.2 stay apart.
    whole = run(pl.DataFrame({"a": [37.0]}), pl.DataFrame({"a": [37.2]}), 1)
    assert whole.summary["config_numeric_precision"] is None
    assert whole.summary["total_identified"] == 0


def test_its_defaults_are_those_of_its_guide() -> None:
    table = pl.DataFrame({"a": [1, 2], "b": [1, 1]})
    config = {name: value for name, value in ht.petsard_mpuccs(table, table).summary.items() if "config" in name}
    assert config == {
        "config_n_cols": "None",
        "config_min_entropy_delta": 0.0,
        "config_field_decay_factor": 0.5,
        "config_renyi_alpha": 2.0,
        "config_numeric_precision": None,
        "config_datetime_precision": None,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"n_cols": 2},
        {"field_decay_factor": 0.0},
        {"numeric_precision": 1.5},
        {"numeric_precision": "auto"},
        {"datetime_precision": "week"},
        {"datetime_precision": 3},
    ],
)
def test_options_that_mean_nothing_are_an_error(options: dict[str, Any]) -> None:
    table = pl.DataFrame({"a": [1, 2]})
    with pytest.raises(ht.InputError):
        ht.petsard_mpuccs(table, table, **options)


def test_reports_survive_a_pickle() -> None:
    table = pl.DataFrame({"a": [1, 2, 2], "b": [3, 1, 3]})
    result = run(table, table, None, values=True)
    again = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.details.equals(result.details)
    assert again.tree.equals(result.tree)


def test_values_of_records_on_request_only() -> None:
    table = pl.DataFrame({"a": ["Zq7Xcanary", "b"]})
    result = run(table, table, None)
    assert "value_combo" not in result.details.columns
    assert b"Zq7Xcanary" not in pickle.dumps(result)
    assert "Zq7Xcanary" in run(table, table, None, values=True).details["value_combo"][0]
