"""Open cells: how far they may reach, as a guess that is drawn, and what is told where most records have them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.quality.cell_values import OPEN_ABOVE, OPEN_BELOW, Spread
from hushtable.quality.open_ends import Tail, open_rate, reaching


def tens(n_cells: int, counts: list[int], *, opened: dict[int, int]) -> Spread:
    """Return a column whose cells are ten wide, from 0 on, the outer ones open as asked."""
    rows = np.repeat(np.arange(n_cells), counts).astype(np.int32)
    ends = np.zeros(n_cells, dtype=np.int64)
    for cell, bits in opened.items():
        ends[cell] = bits
    cells = np.arange(n_cells)
    told, widths = np.ones(n_cells, dtype=bool), np.full(n_cells, 10.0)
    return Spread(
        rows, told, np.zeros(n_cells), cells, 10.0 * cells, widths, np.ones(n_cells), is_whole=False, open_ends=ends
    )


def test_a_column_without_open_cells_ends_where_it_says() -> None:
    spread = tens(4, [5, 5, 5, 5], opened={})
    assert reaching(spread, None) == (spread, ())
    assert open_rate(spread) == 0


def test_a_tail_of_a_uniform_column_is_as_long_as_its_share_of_the_records() -> None:
    spread = tens(5, [100, 100, 100, 100, 200], opened={4: OPEN_ABOVE})
    found = reaching(spread, None)
    assert found is not None
    reached, (tail,) = found
    assert (tail.cut, tail.side) == (40.0, 1)
    # Inside, as many records as lie beyond 40 take 20.
    assert tail.scale == pytest.approx(20, rel=1e-6)
    assert reached.low.tolist() == spread.low.tolist()
    assert reached.width.tolist() == [10, 10, 10, 10, pytest.approx(60)]
    assert open_rate(spread) == pytest.approx(1 / 3)


def test_a_column_that_names_nothing_below_zero_does_not_go_there() -> None:
    spread = tens(4, [300, 10, 10, 10], opened={0: OPEN_BELOW})
    found = reaching(spread, 0.0)
    assert found is not None
    reached, _ = found
    assert (reached.low[0], reached.width[0]) == (0.0, 10.0)


def test_of_a_single_bound_no_scale_is_told() -> None:
    assert reaching(tens(2, [9, 9], opened={0: OPEN_BELOW, 1: OPEN_ABOVE}), None) is None


@pytest.mark.parametrize("shape", [-0.999, -0.5, -0.001])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_shares_beyond_are_those_of_a_generalized_pareto_law(shape: float, side: int) -> None:
    tail = Tail(cut=50.0, scale=8.0, side=side)
    step = 0.01
    places = 50 + side * np.arange(step / 2, 400, step)
    densities = tail.densities(places, shape, is_whole=False)
    assert densities.sum() * step == pytest.approx(8.0, rel=1e-2)
    beyond = side * (places - 50)
    for share in (4.0, 7.9):
        expected = 1 - (1 + shape * share / 8.0) ** (-1 / shape)
        assert densities[beyond < share].sum() * step / 8.0 == pytest.approx(expected, abs=1e-2)
    if shape == -0.999:
        # Nearly as dense everywhere, and then it ends.
        assert densities[beyond < 7].min() > 0.99
        assert not densities[beyond > 8.01].any()


def test_who_reads_a_slope_is_told_where_most_cells_are_open(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, 400)
    table = pl.DataFrame(
        {"age": age, "sex": rng.choice(["f", "m"], 400), "income": 20 + 0.3 * age + rng.normal(0, 3, 400)}
    )
    released = table.with_columns(
        pl.when(pl.col("age") < 40)
        .then(pl.lit("<40"))
        .when(pl.col("age") < 45)
        .then(pl.lit("[40, 45)"))
        .when(pl.col("age") < 50)
        .then(pl.lit("[45, 50)"))
        .otherwise(pl.lit(">=50"))
        .alias("age")
    )
    table.write_csv(tmp_path / "people.csv")
    released.write_csv(tmp_path / "release.csv")
    policy = ht.Policy.make(
        {
            "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "income": "other"},
            "models": [{"k-anonymity": 5}],
        }
    )
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    asked = ["utility", tmp_path / "people.csv", tmp_path / "release.csv", "-p", tmp_path / "policy.yaml"]
    told = done(*asked, "--model", "income ~ age + sex")
    assert "age: " in told.out
    assert "of the records have open cells, such as <20, or *." in told.out
    found = json.loads(done(*asked, "--model", "income ~ age + sex", "--json").out)
    (warning,) = found["regression"]["warnings"]
    assert warning.startswith("age: ")
    assert not json.loads(done(*asked, "--model", "income ~ sex", "--json").out)["regression"]["warnings"]
