"""Kernels and matrices of perturbation against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.kernels import microaggregation as kernel, rank_swap
from hushtable.perturbation import floors, microaggregation as groups
from hushtable.perturbation.method import standardise
from hushtable.perturbation.pram import invariant_matrix, round_keeping_margins
from twins import naive_perturbation as naive


def sets_of(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def draw_points(seed: int, n_rows: int, n_columns: int, *, whole: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n_rows, n_columns)).astype(float) if whole else rng.normal(size=(n_rows, n_columns))


@pytest.mark.parametrize("seed", range(12))
def test_mdav_groups_as_its_definition(seed: int) -> None:
    n_rows, k = 7 + 3 * seed, 2 + seed % 4
    points = draw_points(seed, n_rows, 1 + seed % 3, whole=seed % 3 == 0)
    labels = np.empty(n_rows, dtype=np.int32)
    n_groups = kernel.label_by_mdav(points, k, labels)
    expected = naive.mdav(points.tolist(), k)
    assert n_groups == len(expected)
    # Where many distances are equal, rounding may decide which row is farthest.
    if seed % 3:
        assert sets_of(labels) == {frozenset(group) for group in expected}
    assert np.bincount(labels).min() >= min(k, n_rows)


@pytest.mark.parametrize("seed", range(10))
def test_one_column_is_grouped_at_the_least_loss(seed: int) -> None:
    n_rows, k = 6 + seed % 4, 2 + seed % 2
    values = np.sort(draw_points(seed, n_rows, 1, whole=seed % 2 == 0)[:, 0])
    labels = np.empty(n_rows, dtype=np.int32)
    kernel.label_sorted(values, k, labels)
    assert np.bincount(labels).min() >= k
    points = [[value] for value in values.tolist()]
    assert naive.sse([sorted(each) for each in sets_of(labels)], points) == pytest.approx(
        naive.best_partition(points, k), abs=1e-9
    )


@pytest.mark.parametrize("k", [2, 3, 5])
def test_annealing_keeps_groups_of_k_and_loses_less_than_mdav(k: int) -> None:
    points = draw_points(k, 120, 3)
    before = groups.label_in_blocks(points, k)
    after = groups.anneal(points, before, k, 100_000, np.array([7]))
    sizes = np.bincount(after)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert naive.sse([list(each) for each in sets_of(after)], points.tolist()) == pytest.approx(
        groups.sum_of_squares(points, after)
    )
    assert groups.sum_of_squares(points, after) < groups.sum_of_squares(points, before)
    assert (groups.anneal(points, before, k, 100_000, np.array([7])) == after).all()


def test_annealing_finds_the_best_partition_of_few_points() -> None:
    for seed in range(4):
        points = draw_points(seed, 9, 2)
        labels = groups.anneal(points, groups.label_in_blocks(points, 3), 3, 20_000, np.array([seed + 1]))
        assert groups.sum_of_squares(points, labels) == pytest.approx(naive.best_partition(points.tolist(), 3))


def test_prices_of_triples_are_those_of_every_triple() -> None:
    points, prices = draw_points(3, 12, 2), np.linspace(0, 1, 12)
    least, partners = np.empty(12), np.zeros((12, 2), dtype=np.int32)
    kernel.price_triples(points, prices, least, partners)
    assert least == pytest.approx(np.array(naive.least_reduced_costs(points.tolist(), prices.tolist())))
    for row, others in enumerate(partners.tolist()):
        assert naive.sse([[row, *others]], points.tolist()) - prices[[row, *others]].sum() == pytest.approx(least[row])


@pytest.mark.parametrize(("seed", "k"), [(0, 3), (1, 3), (2, 4), (3, 2)])
def test_no_partition_is_below_a_floor(seed: int, k: int) -> None:
    points = draw_points(seed, 9, 2)
    best = naive.best_partition(points.tolist(), k)
    assert 0 < floors.floor_by_nearest(points, k) <= best + 1e-9
    if k > 2:
        prices = floors.price_records(points, groups.label_in_blocks(points, k), k)
        assert 0 < floors.floor_by_prices(points, prices, k) <= best + 1e-9
        # A certificate is judged, not believed: prices that are too high prove less.
        assert floors.floor_by_prices(points, prices * 2, k) <= best + 1e-9


def test_the_two_steps_of_pram_make_its_matrix_invariant() -> None:
    for n_values in (1, 2, 3, 7):
        frequencies = np.random.default_rng(n_values).dirichlet(np.ones(n_values))
        first = [[0.5 if i == j else 0.5 / (n_values - 1) for j in range(n_values)] for i in range(n_values)]
        matrix = invariant_matrix(frequencies)
        assert matrix.sum(axis=1) == pytest.approx(np.ones(n_values), abs=1e-14)
        assert np.abs(frequencies @ matrix - frequencies).max() < 1e-12
        if n_values > 1:
            assert matrix == pytest.approx(np.array(naive.invariant(first, frequencies.tolist())), abs=1e-14)


def test_rounding_keeps_margins_and_is_right_on_average() -> None:
    counts = np.array([70, 25, 5])
    flows = counts[:, None] * invariant_matrix(counts / counts.sum())
    rounded = [round_keeping_margins(flows, np.random.default_rng(seed)) for seed in range(300)]
    for each in rounded:
        assert (each.sum(axis=0) == counts).all()
        assert (each.sum(axis=1) == counts).all()
        assert (np.abs(each - flows) < 1 + 1e-9).all()
    assert np.mean(rounded, axis=0) == pytest.approx(flows, abs=0.15)


@pytest.mark.parametrize(("n_places", "most"), [(1, 1), (10, 1), (101, 7), (50, 50), (5, 0)])
def test_pairs_are_never_farther_apart_than_asked(n_places: int, most: int) -> None:
    partners = np.empty(n_places, dtype=np.int64)
    rank_swap.pair_places(most, partners, np.array([5]))
    places = np.arange(n_places)
    assert (partners[partners] == places).all()
    assert np.abs(partners - places).max() <= most
    alone = np.flatnonzero(partners == places)
    # Who stays alone found nobody free behind: those alone are farther apart than asked.
    assert (np.diff(alone) > most).all()


def test_standardised_columns_have_mean_0_and_deviation_1() -> None:
    numbers = np.array([[1e300, 5, 1], [3e300, 5, np.nan], [5e300, 5, 3]])
    points = standardise(numbers)
    assert points[:, 0].tolist() == pytest.approx([-1, 0, 1])
    assert points[:, 1].tolist() == [0, 0, 0]
    assert np.isnan(points[1, 2])
    assert points[[0, 2], 2] == pytest.approx(np.array([-1, 1]) / np.sqrt(2))
