"""Swaps against all products of paths, found by trying."""

from itertools import product

import numpy as np
import polars as pl
import pytest

from hushtable.tabulation.cells import build_system
from hushtable.tabulation.swaps import SwapSearch
from hushtable.tabulation.tabulating import read_records

TREE = {"g": {"low": ["g0", "g1"], "high": ["g2", "g3"]}}


def drawn_system(shape, seed, hierarchies=None):
    draw = np.random.default_rng(seed)
    people = pl.DataFrame({name: [f"{name}{code}" for code in draw.integers(0, size, 60)]
                           for name, size in zip("ghj", shape, strict=False)})  # fmt: skip
    table = read_records(people, list("ghj")[: len(shape)], hierarchies=hierarchies).count(list("ghj")[: len(shape)], 1)
    return build_system([table.table]), table.table, draw


def paths_by_trying(axis):
    """All changes by one of some labels, after which every total is the sum of its parts."""
    for signs in product((-1, 0, 1), repeat=len(axis.labels)):
        if all(signs[total] == sum(signs[part] for part in parts) for total, parts in axis.sums):
            yield np.array(signs)


@pytest.mark.parametrize(("shape", "tree"), [((3, 3), None), ((4, 2), TREE), ((2, 2, 2), None)])
def test_a_swap_is_the_cheapest_product_of_paths(shape, tree):
    system, table, draw = drawn_system(shape, 1, tree)
    prices = draw.integers(1, 50, system.n_cells).astype(float)
    may_move, room = draw.random(system.n_cells) < 0.9, draw.integers(0, 4, system.n_cells).astype(float)
    search = SwapSearch(system)
    products = []
    for parts in product(*(list(paths_by_trying(axis)) for axis in table.axes)):
        whole = parts[0]
        for part in parts[1:]:
            whole = np.multiply.outer(whole, part)
        products.append(whole.ravel())
    moves = np.array(products)
    for cell, amount in product(range(system.n_cells), (1, -2)):
        all_ways = amount * moves * moves[:, [cell]]
        fits = (
            (all_ways[:, cell] == amount) & (all_ways >= -room).all(axis=1) & (all_ways[:, ~may_move] == 0).all(axis=1)
        )
        costs = (all_ways[fits] != 0) @ prices
        found = search.find(cell, amount, prices, room, may_move)
        assert (found is None) == (not fits.any())
        if found is not None:
            assert found[cell] == amount
            assert (found != 0) @ prices == costs.min()
            assert not np.add.reduceat(found[system.equations.cells] * system.equations.signs,
                                       system.equations.starts[:-1]).any()  # fmt: skip
