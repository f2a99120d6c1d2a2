"""The walk over column sets tells how far it has come."""

import threading
from unittest import mock

import numpy as np
import pytest

from hushtable.kernels import uniques
from hushtable.search.budget import Budget
from hushtable.tables import lattice


def grid_of(n_columns, max_size):
    codes = np.random.default_rng(0).integers(0, 3, (n_columns, 60)).astype(np.int32)
    ones = np.ones(60, dtype=np.int64)
    return lattice.build_grid(codes, [3] * n_columns, ones, ones, range(1, max_size + 1))


@pytest.mark.parametrize("budget", [None, Budget(seconds=3_600)])
@pytest.mark.parametrize(("search", "kernel"), [("find_smallest_sets", "walk_sets"), ("find_minimal_sets", "walk_all")])
def test_the_share_never_falls_between_stages_and_ends_at_one(search, kernel, budget):
    told, looked_in = [], threading.Event()
    walk = getattr(uniques, kernel)

    def tell(share, n_sets):
        told.append((share, n_sets))
        looked_in.set()

    def dawdling(*arguments):
        """Do not begin, nor end, before somebody has looked in."""
        for work in (lambda: None, lambda: walk(*arguments)):
            found = work()
            looked_in.clear()
            looked_in.wait()
        return found

    with mock.patch.object(uniques, kernel, dawdling):
        getattr(lattice, search)(grid_of(7, 7), budget=budget, progress=tell)
    assert told == sorted(told)
    assert told[0] == (0.0, 0)
    assert told[-1][0] == 1.0
    assert all(0 <= share <= 1 for share, _ in told)


@pytest.mark.parametrize("search", [lattice.find_smallest_sets, lattice.find_minimal_sets])
def test_the_share_is_one_when_a_budget_ended_the_walk(search):
    told = []
    found = search(grid_of(7, 7), budget=Budget(nodes=2), progress=lambda *each: told.append(each))
    assert found.complete_to < 7
    assert told[-1] == (1.0, found.n_sets)
