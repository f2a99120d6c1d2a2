"""Kernels of the candidate space: costs, blocks worth having, and partitions that change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hushtable.kernels import cost, judge, pricing, regroup
from hushtable.kernels.cost import Costs
from hushtable.models import DistinctLDiversity, KAnonymity


def priced(n_rows: int, seed: int = 0) -> tuple[np.ndarray, Costs]:
    """A span column of 6 places, and a hierarchy of 4 leaves in two branches whose top is dearer than the branch."""
    rng = np.random.default_rng(seed)
    places = np.stack((rng.integers(0, 7, n_rows), rng.integers(1, 5, n_rows)), axis=1).astype(np.int32)
    positions = np.zeros(12)
    positions[1:7] = np.linspace(0, 1, 6)
    nodes = np.zeros((3, 12), dtype=cost.NODE)
    nodes["node"][0, 8:] = range(4)
    nodes["node"][1, 8:] = [0, 0, 1, 1]
    nodes["least"][1, 8:], nodes["least"][2] = [0.3, 0.3, 0.6, 0.6], 1.0
    columns = np.zeros(2, dtype=cost.COLUMN)
    columns["begin"], columns["star"], columns["is_span"] = [0, 7], 1.0, [True, False]
    return places, Costs(columns, positions, nodes)


def slow_cost(places: np.ndarray, rows: list[int] | np.ndarray) -> float:
    ages, jobs = places[rows, 0], places[rows, 1]
    age = 0.0 if len(set(ages)) == 1 else 1.0 if 0 in ages else (max(ages) - min(ages)) / 5
    branches = {(job - 1) // 2 for job in jobs}
    job = 0.0 if len(set(jobs)) == 1 else 1.0 if len(branches) == 2 else [0.3, 0.6][branches.pop()]
    return float(age + job)


def test_pairs_subsets_and_blocks_cost_the_same() -> None:
    places, costs = priced(8)
    pairs, subsets = cost.pair_costs(places, costs), cost.subset_costs(places, costs)
    for size in range(1, 5):
        blocks = list(itertools.combinations(range(8), size))
        out = np.empty(len(blocks))
        offsets = np.arange(len(blocks) + 1) * size
        cost.block_costs(places, costs, offsets, np.array(blocks, dtype=np.int32).ravel(), out)
        for block, found in zip(blocks, out, strict=True):
            expected = slow_cost(places, list(block))
            assert found == pytest.approx(expected)
            assert subsets[sum(1 << row for row in block)] == pytest.approx(size * expected)
            if size == 2:
                assert pairs[block] == pytest.approx(expected)


@pytest.mark.parametrize("n_near", [1, 3, 8])
def test_nearest_rows_are_those_of_the_cheapest_pairs(n_near: int) -> None:
    places, costs = priced(9)
    near, distances = np.zeros((9, n_near), np.int32), np.zeros((9, n_near))
    cost.find_nearest(places, costs, n_near, near, distances)
    pairs = cost.pair_costs(places, costs)
    for row in range(9):
        others = np.sort(np.delete(pairs[row], row))[:n_near]
        assert distances[row] == pytest.approx(others)
        assert pairs[row, near[row]] == pytest.approx(others)
        assert row not in near[row]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_pricing_finds_every_block_below_and_no_other(k: int, seed: int) -> None:
    places, costs = priced(9, seed)
    duals = np.random.default_rng(seed).uniform(0, 2, 9)
    expected = {}
    for size in range(k, 2 * k):
        for block in itertools.combinations(range(9), size):
            expected[block] = size * slow_cost(places, list(block)) - duals[list(block)].sum()
    below = -0.4
    found = pricing.FoundBlocks(
        np.empty((2_000, 2 * k - 1), np.int32), np.empty(2_000), np.zeros(9), np.zeros(3, dtype=np.int64)
    )
    wanted = pricing.Wanted(k, duals, np.zeros(9), below, True, 1_000_000)
    assert pricing.price_blocks(places, costs, wanted, pricing.new_stack(9, 2, k), found)
    n_found = found.counts[0]
    blocks = [tuple(sorted(row for row in rows if row >= 0)) for rows in found.rows[:n_found].tolist()]
    assert sorted(blocks) == sorted(block for block, reduced in expected.items() if reduced < below)
    assert found.reduced[:n_found] == pytest.approx([expected[block] for block in blocks])

    found.counts[:] = 0
    best = pricing.Wanted(k, duals, np.zeros(9), 0.0, False, 1_000_000)
    assert pricing.price_blocks(places, costs, best, pricing.new_stack(9, 2, k), found)
    for root in range(9):
        reduced = [value for block, value in expected.items() if block[0] == root]
        assert found.best[root] == pytest.approx(min(0.0, *reduced, 0.0))


@pytest.mark.parametrize(("room", "most_nodes"), [(1, 1_000_000), (2_000, 0), (2_000, 3)])
@pytest.mark.parametrize("is_all", [True, False])
def test_pricing_in_slices_finds_the_same(room: int, most_nodes: int, is_all: bool) -> None:
    places, costs = priced(9)
    duals = np.random.default_rng(0).uniform(0, 2, 9)

    def searched(room: int, most_nodes: int) -> tuple[list[list[int]], list[float], int]:
        counts = np.zeros(3, dtype=np.int64)
        found = pricing.FoundBlocks(np.empty((room, 3), np.int32), np.empty(room), np.zeros(9), counts)
        wanted = pricing.Wanted(2, duals, np.zeros(9), 0.0, is_all, most_nodes)
        stack = pricing.new_stack(9, 2, 2)
        rows: list[list[int]] = []
        n_slices, is_complete = 0, False
        while not is_complete:
            counts[:] = 0
            is_complete = pricing.price_blocks(places, costs, wanted, stack, found)
            rows += found.rows[: counts[0]].tolist()
            n_slices += 1
        return rows, found.best.tolist(), n_slices

    whole, sliced = searched(2_000, 1_000_000), searched(room, most_nodes)
    assert sliced[:2] == whole[:2]
    assert whole[2] == 1 < sliced[2]


@pytest.mark.parametrize("is_diverse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_annealing_keeps_a_partition_and_its_costs(seed: int, is_diverse: bool) -> None:
    n_rows, k = 30, 3
    places, costs = priced(n_rows, seed)
    near, distances = np.zeros((n_rows, 5), np.int32), np.zeros((n_rows, 5))
    cost.find_nearest(places, costs, 5, near, distances)
    labels = np.repeat(np.arange(10, dtype=np.int32), 3)
    values = np.array([3 * slow_cost(places, np.flatnonzero(labels == block)) for block in range(10)])
    blocks = regroup.new_blocks(labels, values, 9)
    # Every block begins with both known values of a sensitive column; a missing one does not count.
    secret = np.tile(np.array([1, 2, 0], dtype=np.int32), 10)[None, :]
    models = [KAnonymity(k), DistinctLDiversity(2, "secret")] if is_diverse else [KAnonymity(k)]
    rules = [model.rule({"secret": np.array([10, 10, 10])}) for model in models]
    kinds, thresholds = np.array([rule.kind for rule in rules]), np.array([float(rule.threshold) for rule in rules])
    judged = regroup.JudgedBlock(
        True,
        secret,
        judge.Rules(kinds, np.zeros(2, np.int64), thresholds),
        np.zeros((1, 3), np.int64),
        np.zeros(1, np.int64),
        np.empty(0),
    )
    check = regroup.Check(k, 9, judged if is_diverse else regroup.judge_nothing())
    draws = regroup.DrawSchedule(np.array([seed + 1]), 3_000, 3.0, 0.01, 0.3)
    taken = regroup.anneal(places, costs, near, blocks, check, draws)
    assert taken[0] == 3_000
    assert (taken[1:] > 0).all()
    sizes = blocks.blocks["n_rows"]
    assert sizes.sum() == n_rows
    assert (sizes == 0).sum() == blocks.free[0]
    for block in np.flatnonzero(sizes):
        rows = blocks.members[block, : sizes[block]]
        assert k <= len(rows) <= 9
        assert not is_diverse or {1, 2} <= set(secret[0, rows].tolist())
        assert (blocks.rows["block"][rows] == block).all()
        assert (blocks.rows["slot"][rows] == np.arange(len(rows))).all()
        assert blocks.blocks["value"][block] == pytest.approx(len(rows) * slow_cost(places, rows))
    assert blocks.blocks["value"][sizes > 0].sum() < values.sum()


def test_blocks_larger_than_the_room_are_not_filled_beyond_it() -> None:
    """A child of two tables may begin with a block that no parent had."""
    n_rows = 24
    places, costs = priced(n_rows, 3)
    near, distances = np.zeros((n_rows, 5), np.int32), np.zeros((n_rows, 5))
    cost.find_nearest(places, costs, 5, near, distances)
    labels = np.array([0] * 11 + [1] * 7 + [2] * 6, dtype=np.int32)
    values = np.array([size * slow_cost(places, np.flatnonzero(labels == b)) for b, size in enumerate((11, 7, 6))])
    blocks = regroup.new_blocks(labels, values, 11)
    draws = regroup.DrawSchedule(np.array([1]), 2_000, 3.0, 0.01, 0.5)
    taken = regroup.anneal(places, costs, near, blocks, regroup.Check(2, 5, regroup.judge_nothing()), draws)
    assert taken[0] == 2_000
    assert blocks.blocks["n_rows"].sum() == n_rows
