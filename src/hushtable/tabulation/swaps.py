"""Swaps: small moves of a table that keep all of its sums, found by adding up prices instead of by a programme.

A path through a dimension raises one label with all totals above it, and lowers another one with those above that. The
product of a path in each dimension changes every line that it meets by as much up as down (the basic moves of Diaconis
and Sturmfels, 1998). All swaps through a cell of a table of ten thousand are priced in a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.tabulation.cells import CellSystem, Dimension

_MAX_PATHS: Final = 4_000  # of a dimension; one of more has no swaps
_MAX_PRODUCTS: Final = 2_000_000  # of the paths through one cell
_NEVER: Final = 1e12  # the price of a cell that must not move
_CHEAPEST: Final = 2_000  # swaps whose labels make the part of a table around a cell


@dataclass(slots=True, eq=False)
class SwapSearch:
    """The swaps of a system of tables: the paths of each dimension of each table."""

    system: CellSystem
    paths: list[list[FloatArray]] = field(init=False)
    table_of: CountArray = field(init=False)  # the first table that holds a cell, -1 for none

    def __post_init__(self) -> None:
        self.paths = [[_list_paths(axis) for axis in axes] for axes, _ in self.system.grids]
        self.table_of = np.full(self.system.n_cells, -1)
        for number, (_, cells) in reversed(list(enumerate(self.system.grids))):
            self.table_of[cells.ravel()] = number

    def find(
        self, cell: int, amount: int, prices: FloatArray, room_down: FloatArray, may_move: BoolArray
    ) -> CountArray | None:
        """Return the cheapest swap that moves a cell by an amount, in units; None if there is none.

        Parameters
        ----------
        cell : int
        amount : int
            Below 0: down.
        prices : array
            What it costs that a cell moves, 0 or more.
        room_down : array
            How far each can fall.
        may_move : array
            Which cells may move.
        """
        number = int(self.table_of[cell])
        through, price = self._price(cell, amount, prices, room_down, may_move)
        best = int(np.argmin(price)) if price.size else 0
        if not price.size or price.flat[best] >= _NEVER:
            return None
        signs = np.ones(())
        for paths, chosen in zip(through, np.unravel_index(best, price.shape), strict=True):
            signs = np.multiply.outer(signs, paths[chosen])
        move = np.zeros(self.system.n_cells, dtype=np.int64)
        move[self.system.grids[number][1].ravel()] = np.rint(signs.ravel() * amount).astype(np.int64)
        return move if self._keeps_sums(number, move) else None

    def look_around(
        self, cell: int, amount: int, prices: FloatArray, room_down: FloatArray, may_move: BoolArray, size: int
    ) -> BoolArray:
        """Return the cells that may move in a part of a table, which has so many of them.

        The labels of the part are those of the swaps that lack least, which a programme may mend. The parameters are
        those of `find`; no cell is in the part where there are no swaps.
        """
        around = np.zeros(self.system.n_cells, dtype=np.bool_)
        through, price = self._price(cell, amount, prices, room_down, may_move)
        if not price.size:
            return around
        cells = self.system.grids[int(self.table_of[cell])][1]
        is_inside = [np.zeros(length, dtype=np.bool_) for length in cells.shape]
        order = np.argsort(price, axis=None, kind="stable")[:_CHEAPEST]
        for places in zip(*np.unravel_index(order, price.shape), strict=True):
            labels = [paths[place] != 0 for paths, place in zip(through, places, strict=True)]
            if all(inside[new].all() for inside, new in zip(is_inside, labels, strict=True)):
                continue
            for inside, new in zip(is_inside, labels, strict=True):
                inside |= new
            part = cells[np.ix_(*is_inside)]
            if may_move[part].sum() >= size:
                break
        around[cells[np.ix_(*is_inside)]] = True
        return around & may_move

    def _price(
        self, cell: int, amount: int, prices: FloatArray, room_down: FloatArray, may_move: BoolArray
    ) -> tuple[list[FloatArray], FloatArray]:
        """Return the paths through a cell, and the price of each product of them; none where there are too many.

        Each cell that must not move, or not so far, adds what no others cost together.
        """
        number = int(self.table_of[cell])
        nothing: list[FloatArray] = []
        if number < 0:
            return nothing, np.zeros(0)
        cells = self.system.grids[number][1]
        position = np.argwhere(cells == cell)[0]
        through = [
            (paths := each[each[:, place] != 0]) * paths[:, [place]]
            for each, place in zip(self.paths[number], position, strict=True)
        ]
        if np.prod([float(len(paths)) for paths in through]) > _MAX_PRODUCTS:
            return nothing, np.zeros(0)
        lines = [np.abs(paths) for paths in through]
        # The sign of an amount times that of a path is that of its cell's move.
        is_stuck = (room_down < abs(amount)).astype(np.float64)[cells]
        both, signed = _multiply(is_stuck, lines), _multiply(is_stuck, through)
        n_stuck = (both - np.sign(amount) * signed) / 2
        price = _multiply(np.where(may_move, prices, _NEVER)[cells], lines) + _NEVER * np.rint(n_stuck)
        return through, price

    def _keeps_sums(self, number: int, move: CountArray) -> bool:
        """Whether a move of one table keeps the sums of all."""
        if len(self.system.grids) == 1 and len(self.system.grids[number][1].ravel()) == self.system.n_cells:
            return True
        equations = self.system.equations
        sums = np.add.reduceat(move[equations.cells] * equations.signs, equations.starts[:-1])
        return not sums.any()


def _multiply(amounts: FloatArray, paths: Sequence[FloatArray]) -> FloatArray:
    """Return the sum of the amounts over each product of paths."""
    for axis in reversed(range(len(paths))):
        amounts = np.moveaxis(np.tensordot(amounts, paths[axis], axes=([axis], [1])), -1, axis)
    return amounts


def _list_paths(axis: Dimension) -> FloatArray:
    """Return the paths of a dimension, one a row: which labels move up and which down."""
    chains = _list_chains(axis)
    if len(chains) * (len(chains) + 1) // 2 > _MAX_PATHS:
        return np.zeros((0, len(axis.labels)))
    pairs = [one - other for one, other in combinations(chains, 2)]
    paths = np.array([*chains, *pairs])
    adds_up = np.ones(len(paths), dtype=np.bool_)
    for total, parts in axis.sums:
        adds_up &= paths[:, total] == paths[:, list(parts)].sum(axis=1)
    chosen: FloatArray = paths[adds_up & (np.abs(paths).max(axis=1) == 1)]
    return chosen


def _list_chains(axis: Dimension) -> list[FloatArray]:
    """Return for every label without parts which labels grow with it."""
    inner = {total for total, _ in axis.sums}
    chains = []
    for leaf in range(len(axis.labels)):
        if leaf in inner:
            continue
        chain = np.zeros(len(axis.labels))
        chain[leaf] = 1.0
        # Each pass settles the totals one level higher.
        for _ in axis.sums:
            for total, parts in axis.sums:
                chain[total] = chain[list(parts)].sum()
        chains.append(chain)
    return chains
