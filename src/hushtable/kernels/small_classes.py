"""A small class settled on the spot: for each of its probes the smallest superset on which it is alone.

The whole subtree at once: the rows that agree with a probe on a column are bits of one word.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import inner
from hushtable.kernels._records import record
from hushtable.kernels.lattice_walk import Found, Grid

__all__ = ["LARGEST", "Settling", "new_settling", "settle"]

LARGEST: Final = 48
"""Rows of a class that is settled on the spot; a word of bits bounds it by 62."""

_COLUMN: Final = record(
    ("agree", np.int64),  # bits of the rows that agree with a probe on a column
    ("agree_after", np.int64),  # and on all from it on
    ("chosen", np.int64),  # of the columns under way, by size: which
    ("left", np.int64),  # and the rows that agree on those before
)


class Settling(NamedTuple):
    """Scratch for a small class: ``cells`` int32 (n_columns, rows), later columns; and a record for each of those."""

    cells: CodeArray
    columns: NDArray[Any]


def new_settling(n_columns: int) -> Settling:
    """Return scratch for classes over so many columns."""
    return Settling(np.empty((n_columns, LARGEST), dtype=np.int32), np.empty(n_columns + 2, dtype=_COLUMN))


@inner
def settle(
    grid: Grid,
    found: Found,
    rows: CodeArray,
    starts: CountArray,
    path: NDArray[np.int16],
    whose: tuple[int, int],
    pulse: CountArray,
    scratch: Settling,
) -> None:
    """Find the first smallest superset, by later columns only, on which each probe of a small class is alone.

    Looks at the classes whose first row is the part's, until it is told to stop.
    """
    part, n_parts = whose
    max_size, size = grid.allowed.size - 1, path.size
    first = int(path[size - 1]) + 1
    n_later = grid.codes.shape[0] - first
    if n_later <= 0:
        return
    cells, columns = scratch.cells, scratch.columns[: n_later + 1]
    for label in range(starts.size - 1):
        begin = starts[label]
        # The parts know different records to be settled, hence different classes: a row tells whose one is.
        if rows[begin] % n_parts != part:
            continue
        if pulse[0] >= pulse[1]:
            return
        n_members = starts[label + 1] - begin
        # Bit i of a word is the i-th row of the class: probes, targets, and targets of more than one record.
        probes = targets = heavy = np.int64(0)
        for place in range(n_members):
            row = rows[begin + place]
            bit = np.int64(1) << place
            probes |= bit if grid.probes[row] > 0 else 0
            targets |= bit if grid.targets[row] > 0 else 0
            heavy |= bit if grid.targets[row] > 1 else 0
            for later in range(n_later):
                cells[later, place] = grid.codes[first + later, row]
        for place in range(n_members):
            row = rows[begin + place]
            limit = min(int(found.sizes[row]) - 1, max_size) - size
            if grid.probes[row] != 1 or limit <= 0:
                continue
            _agreements(cells, n_members, place, grid.missing_matches, columns)
            itself = np.int64(1) << place
            if columns[0].agree_after & probes != itself:
                continue
            bits = (itself, probes, targets, heavy)
            n_more, mate = _smallest_addition(columns, bits, grid.allowed[size:], limit, pulse)
            if n_more > 0:
                found.sizes[row] = size + n_more
                found.mates[row] = rows[begin + mate]
                for level in range(size):
                    found.paths[row, level] = path[level]
                for level in range(n_more):
                    found.paths[row, size + level] = first + columns[level].chosen


@inner
def _agreements(cells: CodeArray, n_members: int, place: int, missing_matches: bool, columns: NDArray[Any]) -> None:
    """Say which rows of a class agree with one of them on each column, and on all columns from each one on."""
    agree_after = (np.int64(1) << n_members) - 1
    columns[columns.size - 1].agree_after = agree_after
    for column in range(columns.size - 2, -1, -1):
        bits = np.int64(0)
        own = cells[column, place]
        if own >= 0 or missing_matches:
            for other in range(n_members):
                if cells[column, other] == own:
                    bits |= np.int64(1) << other
        # A column on which nothing matches is of no use to anyone.
        if bits != 0:
            agree_after &= bits
        columns[column].agree, columns[column].agree_after = bits, agree_after


@inner
def _smallest_addition(
    columns: NDArray[Any],
    bits: tuple[np.int64, np.int64, np.int64, np.int64],
    allowed: BoolArray,
    limit: int,
    pulse: CountArray,
) -> tuple[int, int]:
    """Find the fewest columns, first in order, on which a probe of a class is alone; return how many, and its target.

    ``bits`` of the probe itself, of all probes, targets, and targets of more than one record. ``allowed`` says of
    0, 1, 2, ... more columns whether they make a size asked for. 0 columns where there are none, or where it is
    told to stop.
    """
    n_columns = columns.size - 1
    itself, probe_bits, target_bits, heavy_bits = bits
    # With a gap in the sizes asked for, a column may be of use only to fill up a size.
    has_gap = False
    for n_more in range(allowed.size):
        has_gap = has_gap or not allowed[n_more]
    for n_wanted in range(1, min(limit, n_columns) + 1):
        if not allowed[n_wanted]:
            continue
        came_so_far = False
        level = 0
        columns[0].left, columns[0].chosen = columns[n_columns].agree_after, -1
        while level >= 0:
            if level == 0 and pulse[0] >= pulse[1]:
                return 0, -1
            left, column = columns[level].left, columns[level].chosen + 1
            columns[level].chosen = column
            if column > n_columns - (n_wanted - level):
                level -= 1
                continue
            both = left & columns[column].agree
            if both & target_bits == 0 or (both == left and not has_gap):
                continue
            if level + 1 == n_wanted:
                hit = both & target_bits
                if both & probe_bits == itself and hit & (hit - 1) == 0 and hit & heavy_bits == 0:
                    mate = 0
                    while hit >> mate != 1:
                        mate += 1
                    return n_wanted, mate
                came_so_far = True
            elif both & columns[column + 1].agree_after & probe_bits == itself:
                level += 1
                columns[level].left, columns[level].chosen = both, column
        if not came_so_far and not has_gap:
            break
    return 0, -1
