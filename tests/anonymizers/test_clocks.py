"""Searches end when their clock says, whatever they are at; no test looks at a real clock."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from anonymizers.test_mingen import adult_like, laid_out
from hushtable.anonymizers import mondrian, parallel, partition_search
from hushtable.kernels import cost, exchange as exchange_kernels, regroup as regroup_kernels
from hushtable.search import budget
from hushtable.search.budget import Budget, Clock

NAMES = ["age", "sex", "job"]


class Ticking:
    """A clock that goes on by a tick whenever someone looks at it."""

    def __init__(self, monkeypatch: Any, tick: float = 1.0) -> None:
        self.n_looks = 0
        self.tick = tick
        monkeypatch.setattr(budget, "perf_counter", self)

    def __call__(self) -> float:
        self.n_looks += 1
        return self.n_looks * self.tick


@pytest.fixture
def ticking(monkeypatch: Any) -> Ticking:
    return Ticking(monkeypatch)


def counted(monkeypatch: Any, module: Any, name: str) -> list[Any]:
    """Count the calls of a kernel."""
    calls: list[Any] = []
    kernel = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: calls.append(given) or kernel(*given))
    return calls


@pytest.mark.parametrize("seconds", [1, 30, 300])
@pytest.mark.parametrize(
    "models", [[ht.KAnonymity(3)], [ht.KAnonymity(3), ht.DistinctLDiversity(2, "ill")], [ht.GlobalK1(3)]]
)
@pytest.mark.parametrize("method", ["mingen", "genetic", "mondrian", "local_recoding"])
def test_a_search_looks_at_its_clock_until_that_is_over_and_gives_a_release(
    method: str, models: list[Any], seconds: int, ticking: Ticking
) -> None:
    if method != "mingen" and isinstance(models[0], ht.GlobalK1):
        pytest.skip("makes classes")
    release = ht.anonymize(
        adult_like(90), quasi_identifiers=NAMES, models=models, method=method, budget=Budget(seconds=seconds)
    )
    assert release.verify().passed
    # Every look takes a second; what follows the end looks a few times more.
    assert ticking.n_looks < seconds + 200


@pytest.mark.parametrize("notion", [ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1])
@pytest.mark.parametrize("seconds", [1, 50, 2_000])
def test_ties_of_a_matching_notion_end_in_time(notion: Any, seconds: int, ticking: Ticking) -> None:
    release = ht.anonymize(
        adult_like(16),
        quasi_identifiers=NAMES,
        models=[notion(2)],
        method=ht.MinGen(n_best=5_000, tie_break=ht.Certainty()),
        loss="minimal_distortion",
        budget=Budget(seconds=seconds),
    )
    assert release.verify().passed
    assert ticking.n_looks < seconds + 200


def test_ties_of_equal_rows_end_in_time(ticking: Ticking) -> None:
    frame = pl.DataFrame({"age": [30] * 16})
    release = ht.anonymize(
        frame,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2)],
        method=ht.MinGen(n_best=2),
        budget=Budget(seconds=500),
    )
    assert release.trace.optimal
    assert release.alternatives == ()
    assert ticking.n_looks < 700


def test_drawn_tables_end_in_time(ticking: Ticking) -> None:
    release = ht.anonymize(
        adult_like(40),
        quasi_identifiers=NAMES,
        models=[ht.KAnonymity(2)],
        method=ht.MinGen(iterations=1_000_000),
        budget=Budget(seconds=20),
    )
    assert 0 < release.trace.nodes < 1_000_000
    assert ticking.n_looks < 40
    assert release.verify().passed


def test_the_nearest_rows_are_found_in_slices_and_are_the_same(monkeypatch: Any) -> None:
    space, _ = laid_out(adult_like(50), 3)
    whole = partition_search.find_nearest(space, 7, Clock())
    calls = counted(monkeypatch, cost, "find_nearest")
    monkeypatch.setattr(partition_search, "_CELLS_BETWEEN_LOOKS", 4 * 50 * len(NAMES))
    sliced = partition_search.find_nearest(space, 7, Clock())
    assert len(calls) == 13
    assert np.array_equal(sliced.rows, whole.rows)
    assert np.array_equal(sliced.costs, whole.costs)


def test_rows_whose_turn_does_not_come_have_neighbours_and_no_cost(monkeypatch: Any, ticking: Ticking) -> None:
    space, _ = laid_out(adult_like(50), 3)
    labels = np.repeat(np.arange(10, dtype=np.int32), 5)[np.random.default_rng(0).permutation(50)]
    whole = partition_search.find_nearest(space, 7, Clock())
    monkeypatch.setattr(partition_search, "_CELLS_BETWEEN_LOOKS", 4 * 50 * len(NAMES))
    found = partition_search.find_nearest(space, 7, Clock(Budget(seconds=3.5)), labels)
    n_done = int((found.costs == whole.costs).all(axis=1).argmin())
    assert 0 < n_done < 50
    assert (found.costs[n_done:] == 0).all()
    assert found.bound(3) <= whole.bound(3)
    for row, near in enumerate(found.rows.tolist()):
        assert len({row, *near}) == 8
    order = np.argsort(labels, kind="stable")
    last = int(order[order >= n_done][0])
    at = int(np.flatnonzero(order == last)[0])
    assert found.rows[last].tolist() == np.roll(order, -at)[1:8].tolist()


def test_annealing_takes_all_its_steps_in_slices(monkeypatch: Any) -> None:
    space, judge = laid_out(adult_like(60), 3)
    near = partition_search.find_nearest(space, 8, Clock())
    labels = np.repeat(np.arange(20, dtype=np.int32), 3)
    calls = counted(monkeypatch, regroup_kernels, "anneal")
    monkeypatch.setattr(partition_search, "_CELLS_BETWEEN_LOOKS", 500 * len(NAMES))
    state = np.array([7], dtype=np.int64)
    found, value = partition_search.anneal_partition(
        space, near, labels, judge.check_for_kernels(9), state, (4_000, 0.3, 0.01), Clock()
    )
    assert len(calls) > 100
    assert sum(draws.n_steps for *_, draws in calls[:1]) == 200
    assert value < partition_search.partition_value(space, labels)
    assert np.bincount(found).min() >= 3


def test_a_block_of_nearly_everyone_is_left_as_it_is(monkeypatch: Any) -> None:
    space, judge = laid_out(adult_like(60), 3)
    monkeypatch.setattr(partition_search, "_MOST_PLACES", 100)
    labels = np.append(np.zeros(57, dtype=np.int32), np.ones(3, dtype=np.int32))
    near = partition_search.find_nearest(space, 8, Clock())
    state = np.array([7], dtype=np.int64)
    found, value = partition_search.anneal_partition(
        space, near, labels, judge.check_for_kernels(60), state, (4_000, 0.3, 0.01), Clock()
    )
    assert found is labels
    assert value == partition_search.partition_value(space, labels)


def test_mondrian_is_grown_in_slices_and_is_the_same(monkeypatch: Any) -> None:
    given: dict[str, Any] = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)]}
    whole = ht.anonymize(adult_like(300), **given)
    calls = counted(monkeypatch, parallel.split, "grow_tree")
    monkeypatch.setattr(parallel, "_CELLS_BETWEEN_LOOKS", 300)
    sliced = ht.anonymize(adult_like(300), **given)
    assert len(calls) > 5
    assert sliced.frame.equals(whole.frame)


def test_exchange_sweeps_in_slices_and_is_the_same(monkeypatch: Any) -> None:
    given: dict[str, Any] = {
        "quasi_identifiers": NAMES,
        "models": [ht.KAnonymity(3)],
        "method": ht.Mondrian(exchange=True),
    }
    whole = ht.anonymize(adult_like(300), **given)
    calls = counted(monkeypatch, exchange_kernels, "exchange_rows")
    monkeypatch.setattr(mondrian, "_CLASSES_BETWEEN_LOOKS", 5)
    sliced = ht.anonymize(adult_like(300), **given)
    assert len(calls) > 20
    assert sliced.frame.equals(whole.frame)


def test_exchange_ends_with_the_clock_and_keeps_what_it_gained(monkeypatch: Any) -> None:
    given: dict[str, Any] = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)]}
    plain = ht.anonymize(adult_like(300), **given)
    monkeypatch.setattr(mondrian, "_CLASSES_BETWEEN_LOOKS", 5)
    Ticking(monkeypatch)
    release = ht.anonymize(adult_like(300), method=ht.Mondrian(exchange=True), budget=Budget(seconds=12), **given)
    assert release.verify().passed
    assert release.loss < plain.loss


def test_listing_tables_ends_where_the_clock_does(ticking: Ticking) -> None:
    space, judge = laid_out(adult_like(10).with_columns(age=pl.lit(30), sex=pl.lit("f"), job=pl.lit("a")), 2)
    found = partition_search.solve_over_subsets(space, judge)
    listed = list(itertools.islice(partition_search.best_tables(space, found, 2, Clock(Budget(seconds=9))), 5))
    assert len(listed) == 1
    assert ticking.n_looks < 15
