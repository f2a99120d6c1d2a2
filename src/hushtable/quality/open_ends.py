"""How far open cells reach, as a guess that is drawn anew for every draw: `<20` and `>=90` do not say where they end.

What lies beyond the outermost bound that a column names follows a generalized Pareto law, to which tails of most
distributions tend (Pickands, "Statistical inference using extreme order statistics", Annals of Statistics 3, 1975).
Its density begins where that of the records inside ends; its shape nobody can tell, and is drawn: from -1, a tail that
ends abruptly, as that of a uniform column, to 0, which falls off exponentially; neither is reached.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import FloatArray
from hushtable.quality.cell_values import OPEN_ABOVE, OPEN_BELOW, Spread

_REACH_IN_SCALES: Final = 3.0  # times its scale, which 95 % of an exponential tail do not exceed
_ITERATIONS: Final = 200  # of the likeliest masses
_MIN_TAIL_SHARE: Final = 0.01  # of what the column names: no tail is shorter


class Tail(NamedTuple):
    """What lies beyond the outermost bound of a column."""

    cut: float  # the bound, as a place
    scale: float  # how long it is if it is as dense everywhere as at its begin
    side: int  # -1 below, 1 above

    def holds(self, points: FloatArray) -> FloatArray:
        """Tell which places are in it."""
        return np.asarray(points >= self.cut if self.side > 0 else points < self.cut)

    def densities(self, points: FloatArray, shape: float, *, is_whole: bool) -> FloatArray:
        """Return how dense places of it are, as against its begin; `shape` is in (-1, 0).

        `is_whole`: a place stands for all up to the next.
        """
        beyond = self.side * (points + is_whole / 2 - self.cut) / self.scale
        return np.asarray(np.maximum(0.0, 1 + shape * beyond) ** (-1 / shape - 1))


def extend_open_cells(released: Spread, zero: float | None) -> tuple[Spread, tuple[Tail, ...]] | None:
    """Return a column of numbers or dates with open cells as far as they may reach, and its tails.

    None where the column names a single bound: how wide anything is, it does not tell. A column that names nothing
    below the place of 0 does not go there.
    """
    open_ends = released.open_ends
    if open_ends is None or not open_ends.any():
        return released, ()
    bits, end = open_ends[released.cell], released.low + released.width
    bounds = np.concatenate([released.low[bits & OPEN_BELOW == 0], end[bits & OPEN_ABOVE == 0]])
    first, last = float(bounds.min()), float(bounds.max())
    if first == last:
        return None
    edges, masses = _likeliest_masses(released)
    low, width, tails = released.low.copy(), released.width.copy(), []
    for side, bit in ((-1, OPEN_BELOW), (1, OPEN_ABOVE)):
        is_open = bits & bit > 0
        if not is_open.any():
            continue
        tail = Tail(first if side < 0 else last, _tail_scale(edges, masses, first, last, side, released.is_whole), side)
        reach = _REACH_IN_SCALES * tail.scale
        if side < 0 and zero is not None and zero <= first:
            reach = min(reach, first - zero)
        reach = math.ceil(reach) if released.is_whole else reach
        new = tail.cut + side * reach
        if side < 0:
            width[is_open] += low[is_open] - new
            low[is_open] = new
        else:
            width[is_open] = new - low[is_open]
        if reach > 0:
            tails.append(tail)
    return replace(released, low=low, width=width), tuple(tails)


def open_rate(released: Spread) -> float:
    """Return the share of the records whose cell is open, or says nothing."""
    is_open = (
        ~released.is_informative if released.open_ends is None else ~released.is_informative | (released.open_ends > 0)
    )
    return float(is_open[released.rows].mean()) if len(released.rows) else 0.0


def _likeliest_masses(released: Spread) -> tuple[FloatArray, FloatArray]:
    """Return the likeliest shares of the records between neighbouring bounds (Turnbull, JRSS B 38, 1976)."""
    end = released.low + np.maximum(released.width, np.finfo(float).tiny)
    edges = np.unique(np.concatenate([released.low, end]))
    first, after = np.searchsorted(edges, released.low), np.searchsorted(edges, end)
    after = np.maximum(after, np.minimum(first + 1, len(edges) - 1))
    steps = np.zeros((released.n_cells, len(edges)))
    np.add.at(steps, (released.cell, first), 1.0)
    np.add.at(steps, (released.cell, after), -1.0)
    covered = np.cumsum(steps, axis=1)[:, :-1] > 0
    counts = np.bincount(released.rows, minlength=released.n_cells) * covered.any(axis=1)
    masses = np.diff(edges) / (edges[-1] - edges[0])
    for _ in range(_ITERATIONS):
        of_cells = covered @ masses
        masses = masses * (np.divide(counts, of_cells, out=np.zeros_like(of_cells), where=of_cells > 0) @ covered)
        masses /= masses.sum()
    return edges, masses


def _tail_scale(edges: FloatArray, masses: FloatArray, first: float, last: float, side: int, is_whole: bool) -> float:
    """Return how far one goes inwards from the outermost bound for as many records as lie beyond it."""
    below = np.append(0.0, np.cumsum(masses))
    at = np.interp([first, last], edges, below)
    beyond, inside = (at[0] if side < 0 else 1 - at[1]), at[1] - at[0]
    min_scale = max(float(is_whole), _MIN_TAIL_SHARE * (last - first))
    if inside <= beyond:
        return max(min_scale, (last - first) * float(beyond / max(inside, 1e-3)))
    reached = float(np.interp(at[0] + beyond if side < 0 else at[1] - beyond, below, edges))
    return max(min_scale, reached - first if side < 0 else last - reached)
