"""The search of large tables, on small ones: cuts that see a few sums, moves in a part of the table, whole numbers."""

from itertools import pairwise

import numpy as np
import pytest
from test_tabulating import cheapest_by_trying, exact_levels, system_of

from hushtable.tabulation import suppressing, witnesses
from hushtable.tabulation.auditing import ask_of_hidden, audit
from hushtable.tabulation.suppressing import suppress
from hushtable.tabulation.swaps import SwapSearch
from twins.cell_tables import all_tables, values_by_cell


def drawn_table(shape, seed, mean=4):
    inner = np.random.default_rng(seed).poisson(mean, shape)
    for axis in range(len(shape)):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    return inner.ravel()


@pytest.fixture
def large(monkeypatch):
    """Take every table for a large one."""
    monkeypatch.setattr(suppressing, "_MAX_EXACT_CELLS", 0)
    monkeypatch.setattr(witnesses, "_LARGE", 0)


@pytest.mark.usefixtures("large")
def test_the_bound_of_near_cuts_is_never_above_the_optimum_and_the_pattern_protects():
    tables = all_tables((2, 3), 9)
    draw = np.random.default_rng(5)
    n_found = n_tight = 0
    for cells in tables[draw.permutation(len(tables))][:400]:
        is_primary = (cells > 0) & (cells < 2)
        if is_primary[-1] or not 0 < is_primary.sum() < 4 or cells[-1] < 7:
            continue
        best = cheapest_by_trying(tables, cells, is_primary)
        if best == np.inf:
            continue
        found = suppress(system_of(cells, (2, 3)), is_primary, exact_levels(cells, is_primary), cells.astype(float))
        assert found.bound <= best <= found.cost
        values = values_by_cell(tables, cells, found.is_hidden, 1)
        for cell in np.flatnonzero(is_primary).tolist():
            assert cells[cell] + 1 in values[cell]
            assert max(cells[cell] - 1, 1) in values[cell]
        n_found += 1
        n_tight += found.bound > best / 2
        if n_found == 8:
            assert n_tight > 3  # a bound that says something
            return
    raise AssertionError(n_found)


@pytest.mark.parametrize("seed", range(3))
def test_in_three_dimensions_the_optimum_is_between_bound_and_cost(seed, monkeypatch):
    shape = (3, 3, 3)
    table = drawn_table(shape, seed)
    is_primary = (table > 0) & (table < 3)
    asked = system_of(table, shape), is_primary, exact_levels(table, is_primary), np.maximum(table, 1.0)
    best = suppress(*asked)
    assert best.is_optimal
    monkeypatch.setattr(suppressing, "_MAX_EXACT_CELLS", 0)
    found = suppress(*asked)
    assert {cell.outcome for cell in found.audit.cells} == {"protected"}
    assert found.bound <= best.cost <= found.cost


@pytest.mark.parametrize("threshold", [None, 5])
def test_a_published_table_is_judged_alike_by_moves_in_parts_of_it(threshold, monkeypatch):
    shape = (4, 5, 4)
    table = drawn_table(shape, 1)
    system = system_of(table, shape).with_hidden((table > 0) & (table < 5))
    levels = ask_of_hidden(system, threshold=threshold)
    whole = audit(system, levels, threshold=threshold, explain=False)
    monkeypatch.setattr(witnesses, "_LARGE", 0)
    parts = audit(system, levels, threshold=threshold, explain=False)
    assert [(cell.cell, cell.outcome) for cell in parts.cells] == [(cell.cell, cell.outcome) for cell in whole.cells]
    assert len({cell.outcome for cell in parts.cells}) > 1
    base = system.values.copy()
    for witness in parts.witnesses:
        base[parts.open_cells] = witness.values
        assert not np.add.reduceat(base[system.equations.cells] * system.equations.signs,
                                   system.equations.starts[:-1]).any()  # fmt: skip
        assert (base[system.hidden] >= 1).all()


def test_the_part_of_a_table_around_a_cell_is_a_product_of_labels():
    shape = (4, 5, 4)
    table = drawn_table(shape, 2)
    system = system_of(table, shape)
    may_move = table > 0
    cell = int(np.flatnonzero(may_move)[3])
    asked = cell, 1, np.ones(system.n_cells), table - 1.0, may_move
    search = SwapSearch(system)
    around = [search.look_around(*asked, size) for size in (20, 60, 10_000)]
    for smaller, larger in pairwise(around):
        assert (smaller <= larger).all()
    for part, size in zip(around, (20, 60, may_move.sum()), strict=True):
        assert part[cell]
        assert size <= part.sum() <= may_move.sum()
        places = np.argwhere(part.reshape(5, 6, 5))
        inside = np.zeros((5, 6, 5), dtype=bool)
        inside[np.ix_(*(np.unique(axis) for axis in places.T))] = True
        assert np.array_equal(part, inside.ravel() & may_move)
