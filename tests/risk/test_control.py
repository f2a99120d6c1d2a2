"""The comparison with a control: many draws in one walk against one attack after the other."""

from itertools import chain, cycle

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st
from test_mpuccs import pairs, sizes_of

import hushtable as ht
from hushtable.policy import find_failures, mpuccs_figures
from hushtable.risk.mpuccs import compare_with_control
from twins import naive_uniques as naive

N_DRAWS, N_PERMUTATIONS = 3, 40


def attacks(table, control, n_cols, missing, seed, *, deduplicate, skipped=()):
    """How many synthetic records are identified in each draw: of originals, of control records, of mixed halves."""
    rng = np.random.default_rng(seed)
    n_original, n_control = len(table.original.rows), len(control.rows)
    n_each = min(n_original, n_control)
    pool = table.original.rows + control.rows

    def drawn(first, size):
        return first + (np.arange(size) if size == n_each else np.sort(rng.choice(size, n_each, replace=False)))

    def attack(rows):
        records = naive.Records([pool[row] for row in rows], list(range(len(rows))))
        hit = table._replace(original=naive.distinct(records) if deduplicate else records)
        return len({each for each, _, _ in naive.identified(hit, n_cols, missing, skipped=skipped)})

    on_original = [attack(drawn(0, n_original)) for _ in range(1 if n_original == n_each else N_DRAWS)]
    on_control = [attack(drawn(n_original, n_control)) for _ in range(1 if n_control == n_each else N_DRAWS)]
    halves = []
    for _ in range(N_PERMUTATIONS):
        both = np.concatenate([drawn(0, n_original), drawn(n_original, n_control)])
        order = rng.permutation(2 * n_each)
        halves.append([attack(both[order[:n_each]]), attack(both[order[n_each:]])])
    return on_original, on_control, halves


def figures(on_original, on_control, halves, n_attacks):
    def excess(a, b):
        return (a - b) / (n_attacks - b) if b < n_attacks else np.nan

    observed = excess(np.mean(on_original), np.mean(on_control))
    by_chance = [excess(*half) for half in halves]
    reach = 1.959963984540054 * np.std(by_chance, ddof=1)
    return {
        "train_rate": np.mean(on_original) / n_attacks,
        "control_rate": np.mean(on_control) / n_attacks,
        "excess_risk": np.clip(observed, -1, 1),
        "interval": np.clip([observed - reach, observed + reach], -1, 1).tolist(),
        "p_value": (1 + sum(not each < observed for each in by_chance)) / (1 + N_PERMUTATIONS),
    }


@given(
    st.data(),
    pairs(kinds=("number", "text", "flag"), max_rows=9, max_columns=3),
    st.sampled_from(["category", "never"]),
    st.booleans(),
    st.sampled_from([None, None, -0.0137, 0.0531]),
)
def test_figures_are_those_of_one_attack_after_the_other(data, tables, missing, deduplicate, delta):
    original, synthetic = tables
    n_cols = sizes_of(data.draw, synthetic.width)
    # The control is made of cells of both, so that types and precisions stay as they are.
    rows = data.draw(st.lists(st.integers(0, original.height - 1), min_size=1, max_size=8))
    control = original[rows].with_columns(
        data.draw(st.sampled_from(original.get_columns())).reverse().gather([each % original.height for each in rows])
    )
    options = {"missing": missing, "deduplicate": deduplicate, "min_entropy_delta": delta, "numeric_precision": None}
    found = ht.mpuccs(
        original,
        synthetic,
        control=control,
        n_cols=n_cols,
        n_draws=N_DRAWS,
        n_permutations=N_PERMUTATIONS,
        seed=5,
        datetime_precision=None,
        **options,
    )
    exact = {"deduplicate": deduplicate, "numeric_precision": None, "datetime_precision": None}
    table = naive.pair(original, synthetic, **exact)
    tree = naive.tree(table, n_cols, missing, min_entropy_delta=delta)
    assume(delta is None or all(row.gain is None or abs(row.gain - delta) > 1e-9 for row in tree))
    skipped = {row.combo for row in tree if delta is not None and row.is_pruned}
    # Equal records count as one in each draw, and not before it.
    every = exact | {"deduplicate": False}
    originals, controls = (naive.pair(each, synthetic, **every).original for each in (original, control))
    drawn = attacks(
        table._replace(original=originals), controls, n_cols, missing, 5, deduplicate=deduplicate, skipped=skipped
    )
    wanted = figures(*drawn, n_attacks=len(table.synthetic.rows))
    assert {name: found.summary["control"][name] for name in wanted} == {
        name: pytest.approx(value, nan_ok=True) for name, value in wanted.items()
    }


def test_no_excess_where_all_are_drawn_alike():
    """The distinct rows of many records have more of the rare ones than the distinct rows of few."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(10):
        original, control, made = (
            pl.DataFrame({name: [f"v{each}" for each in rng.zipf(1.5, n)] for name in "ab"}) for n in (500, 200, 500)
        )
        compared = ht.mpuccs(original, made, control=control, n_cols=2, n_permutations=20, deduplicate=True).summary[
            "control"
        ]
        assert compared["n_compared"] <= compared["n_control"] < 200
        found.append(compared["excess_risk"])
    assert abs(np.mean(found)) < 2 * np.std(found) / np.sqrt(10) + 0.005


def test_the_excess_is_of_plain_shares_and_within_its_range():
    """Attacks of 10 records: 1 of the originals and 9 of the control succeed; the ratio alone would be -8."""

    def attack(successes):
        return lambda draws: np.array([next(successes) for _ in draws])

    def compare(on_original, on_control, n_control=10):
        rows = np.arange(40), 40 + np.arange(n_control)
        successes = chain([on_original, on_control], cycle([2, 8, 8, 2]))
        return compare_with_control(*rows, 10, attack(successes), n_draws=1, n_permutations=20, seed=0)

    below = compare(1, 9)
    assert below["excess_risk"] == -1
    assert below["interval"][0] == -1
    beyond = compare(5, 2)
    assert beyond["excess_risk"] == pytest.approx(3 / 8)
    assert -1 <= beyond["interval"][0] < 3 / 8 < beyond["interval"][1] <= 1
    # A copy hits all compared originals once: 5 of 10 attacks, of which 2 succeed on the control.
    assert compare(5, 2, n_control=5)["most"] == pytest.approx((0.5 - 0.2) / (1 - 0.2))
    unknown = compare(10, 10)
    assert np.isnan([unknown["excess_risk"], *unknown["interval"]]).all()
    assert unknown["p_value"] == 1


def test_a_limit_that_a_copy_would_not_exceed_beyond_the_control_fails():
    """As many originals as attacks could show 0.25, but the control's own rate of 0.2 leaves 0.0625."""
    control = {"most": (0.25 - 0.2) / 0.8, "n_compared": 25, "excess_risk": 0.0, "interval": [0.0, 0.01]}
    summary = {
        "identification_rate": 0.2,
        "total_identified": 20,
        "weighted_identification_rate": 0.2,
        "total_syn_records": 100,
        "control": control,
    }
    assert not find_failures(mpuccs_figures(summary, {"excess": 0.05}), {"excess": 0.05})
    (failed,) = find_failures(mpuccs_figures(summary, {"excess": 0.1}), {"excess": 0.1})
    assert "the control is too small" in failed["because"]


def test_rows_that_count_twice_are_never_the_only_one():
    table = ht.Table.encode(pl.DataFrame({"a": [1, 2]}))
    twice = ht.Table(table.columns, table.codes, np.array([2, 1], dtype=np.int64))
    alone = pl.DataFrame({"a": [1, 2]})
    found = ht.mpuccs(twice, alone, control=twice, deduplicate=False)
    assert found.summary["control"]["train_rate"] == 0.5
    assert found.summary["identification_rate"] == 0.5
    # A synthetic record that is there twice singles nobody out.
    assert ht.mpuccs(alone, twice, control=alone, deduplicate=False).summary["control"]["train_rate"] == 1 / 3


@pytest.mark.parametrize("n_permutations", [20, 31, 32, 33, 199])
def test_draws_fill_words_and_go_past_them(n_permutations):
    """A word holds 64 draws; whatever lies at its end counts too."""
    rng = np.random.default_rng(0)
    original, synthetic, control = (pl.DataFrame(rng.integers(0, 9, (40, 3))) for _ in range(3))
    few, many = (
        ht.mpuccs(original, synthetic, control=control[:30], n_permutations=n).summary["control"]
        for n in (n_permutations, 199)
    )
    assert few["train_rate"] == many["train_rate"]
    assert few["n_permutations"] == n_permutations
    low, high = few["interval"]
    assert (low + high) / 2 == pytest.approx(few["excess_risk"])
    assert high > low


def test_199_permutations_when_not_said_otherwise():
    table = pl.DataFrame({"a": [1, 2, 3]})
    assert ht.mpuccs(table, table, control=table).summary["control"]["n_permutations"] == 199
