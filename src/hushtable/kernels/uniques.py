"""Who is alone on which columns: a walk over column sets, with every row leaving as early as it can.

Rows are *probes* (the records that might single someone out), *targets* (the
records they might single out), or both. A probe is alone on a column set when no
other probe equals it there and exactly one target does. The walk is depth-first;
a column set's children add one later column. Nothing is lost to its prunings:

- a class without a target never has one on a superset: it goes;
- a class with one probe and one target is a hit, and of no more use below, except
  at sizes that are not asked for;
- a class none of whose probes can still improve goes. The others' rows stay in it,
  for they still count against being alone;
- a small class is settled on the spot, for the whole subtree, from the rows that
  agree with each probe column by column (bits of one word).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit

__all__ = ["Found", "Grid", "minimal_only", "walk", "walk_all"]

_LARGEST_SETTLED: Final = 48
"""Rows of a class that is settled on the spot; a word of bits bounds it by 62."""


class Grid(NamedTuple):
    """The rows to walk over.

    ``codes`` is int32 (n_columns, n_rows), columns in the order of the walk;
    ``widths`` int64 (n_columns,), one more than the largest code; ``probes`` and
    ``targets`` int8 (n_rows,), how often the row counts as either: 0, 1, or 2 for
    more; ``allowed`` bool (max_size + 1,), the sizes asked for.
    """

    codes: CodeArray
    widths: CountArray
    probes: NDArray[np.int8]
    targets: NDArray[np.int8]
    allowed: BoolArray
    missing_matches: bool


class Found(NamedTuple):
    """Per row the first smallest column set so far.

    ``sizes`` int32 (n_rows,), one more than the largest size where there is none;
    ``paths`` int16 (n_rows, max_size), ascending columns; ``mates`` int32 (n_rows,),
    the target that equals the row there.
    """

    sizes: CodeArray
    paths: NDArray[np.int16]
    mates: CodeArray


@jit
def walk(
    grid: Grid, found: Found, pulse: CountArray, seen: FloatArray, below: FloatArray, part: int, n_parts: int
) -> None:
    """Find every probe's first smallest column set, of each size in the order of the walk.

    Of the branches below every first column, only every n_parts-th is walked.
    ``pulse`` is where others look in: the sets looked at so far, the number at which
    to stop (it may be lowered meanwhile), the first column, and the first columns whose
    small classes are settled. ``seen`` is float64 (n_columns, max_size + 1), all 0: per
    first column, how many sets of each size were walked, and at 0 how many of the
    largest size were left because nothing can come of them. ``below[k, m]`` is how many
    sets of k columns m columns have.
    """
    n_columns, n_rows = grid.codes.shape
    max_size = grid.allowed.size - 1
    scratch = np.zeros((4, grid.widths.max()), np.int32)
    path = np.zeros(max_size, np.int16)
    rows_of = [np.arange(n_rows).astype(np.int32)]
    starts_of = [np.array([0, n_rows])]
    next_of = np.zeros(max_size + 1, np.int64)
    size = 0
    while size >= 0 and pulse[0] < pulse[1]:
        column = next_of[size]
        if size == max_size or column == n_columns or starts_of[-1].size == 1:
            rows_of.pop()
            starts_of.pop()
            size -= 1
            continue
        next_of[size] += 1
        if size == 0:
            pulse[2] = column
        elif size == 1 and column % n_parts != part:
            continue
        path[size] = column
        rows, starts, small, small_starts, hits, mates = _split(
            grid, found.sizes, column, size + 1, rows_of[-1], starts_of[-1], scratch, _LARGEST_SETTLED
        )
        size += 1
        if grid.allowed[size]:
            for row, mate in zip(hits, mates):  # noqa: B905 - numba knows no strict
                if found.sizes[row] > size:
                    found.sizes[row] = size
                    found.paths[row, :size] = path[:size]
                    found.mates[row] = mate
        if size == 1:
            # Every part splits by the first column; what follows is shared out.
            _settle(grid, found, small, small_starts, path[:size], part, n_parts, pulse)
        else:
            _settle(grid, found, small, small_starts, path[:size], 0, 1, pulse)
        if pulse[0] >= pulse[1]:
            break
        if size == 1:
            pulse[3] = column + 1
        seen[path[0], size] += 1
        if starts.size == 1 and size < max_size:
            if size > 1:
                seen[path[0], 0] += below[max_size - size, n_columns - 1 - column]
            else:
                for later in range(column + 1 + (part - column - 1) % n_parts, n_columns, n_parts):
                    seen[column, 0] += below[max_size - 2, n_columns - 1 - later]
        pulse[0] += 1
        rows_of.append(rows)
        starts_of.append(starts)
        next_of[size] = column + 1


@jit
def walk_all(grid: Grid, pulse: CountArray, seen: FloatArray) -> tuple[CodeArray, CodeArray, NDArray[np.int16]]:
    """Return row, target and column set of every hit that no earlier columns of its set make.

    The sets hold -1 after their last column. All minimal sets are among them;
    `minimal_only` finds which. ``pulse`` and ``seen`` as in `walk`, but that nothing is counted as left.
    """
    n_columns, n_rows = grid.codes.shape
    max_size = grid.allowed.size - 1
    open_sizes = np.full(n_rows, np.int32(max_size + 1), np.int32)
    scratch = np.zeros((4, grid.widths.max()), np.int32)
    log_rows = np.empty(1024, np.int32)
    log_mates = np.empty(1024, np.int32)
    log_paths = np.full((1024, max_size), np.int16(-1), np.int16)
    n_logged = 0
    path = np.zeros(max_size, np.int16)
    rows_of = [np.arange(n_rows).astype(np.int32)]
    starts_of = [np.array([0, n_rows])]
    next_of = np.zeros(max_size + 1, np.int64)
    size = 0
    while size >= 0 and pulse[0] < pulse[1]:
        column = next_of[size]
        if size == max_size or column == n_columns or starts_of[-1].size == 1:
            rows_of.pop()
            starts_of.pop()
            size -= 1
            continue
        next_of[size] += 1
        if size == 0:
            pulse[2] = column
        path[size] = column
        rows, starts, _, _, hits, mates = _split(
            grid, open_sizes, column, size + 1, rows_of[-1], starts_of[-1], scratch, 0
        )
        pulse[0] += 1
        size += 1
        seen[path[0], size] += 1
        if grid.allowed[size]:
            while n_logged + hits.size > log_rows.size:
                log_rows = np.append(log_rows, np.empty_like(log_rows))
                log_mates = np.append(log_mates, np.empty_like(log_mates))
                log_paths = np.concatenate((log_paths, np.full_like(log_paths, np.int16(-1))))
            for row, mate in zip(hits, mates):  # noqa: B905 - numba knows no strict
                log_rows[n_logged] = row
                log_mates[n_logged] = mate
                log_paths[n_logged, :size] = path[:size]
                n_logged += 1
        rows_of.append(rows)
        starts_of.append(starts)
        next_of[size] = column + 1
    return log_rows[:n_logged].copy(), log_mates[:n_logged].copy(), log_paths[:n_logged].copy()


@jit
def minimal_only(offsets: CountArray, paths: NDArray[np.int16], n_columns: int) -> BoolArray:
    """Say which sets contain no other set of the same row.

    The sets of row r are ``paths[offsets[r]:offsets[r + 1]]``, smaller sets first.
    """
    is_minimal = np.ones(len(paths), np.bool_)
    holds = np.zeros(n_columns, np.bool_)
    max_size = paths.shape[1]
    for row in range(offsets.size - 1):
        for large in range(offsets[row], offsets[row + 1]):
            for place in range(max_size):
                if paths[large, place] >= 0:
                    holds[paths[large, place]] = True
            for small in range(offsets[row], large):
                if not is_minimal[small]:
                    continue
                is_inside = True
                for place in range(max_size):
                    column = paths[small, place]
                    if column >= 0 and not holds[column]:
                        is_inside = False
                        break
                if is_inside:
                    is_minimal[large] = False
                    break
            for place in range(max_size):
                if paths[large, place] >= 0:
                    holds[paths[large, place]] = False
    return is_minimal


@jit
def _next_allowed(allowed: BoolArray, size: int) -> int:
    """Return the smallest size asked for above one; past the largest where there is none."""
    for larger in range(size + 1, allowed.size):
        if allowed[larger]:
            return larger
    return allowed.size


@jit
def _split(
    grid: Grid,
    sizes: CodeArray,
    column: int,
    size: int,
    rows: CodeArray,
    starts: CountArray,
    scratch: CodeArray,
    largest_small: int,
) -> tuple[CodeArray, CountArray, CodeArray, CountArray, CodeArray, CodeArray]:
    """Split classes by a column; return the classes worth going on with, the small ones, and hits with their targets.

    ``sizes`` are those found so far, ``scratch`` int32 (4, widest column), all 0.
    """
    codes = grid.codes[column]
    lowest = 0 if not grid.missing_matches else -1
    needed = _next_allowed(grid.allowed, size)
    ends_here = grid.allowed[size] or needed == grid.allowed.size
    members, probes, targets, worth = scratch[0], scratch[1], scratch[2], scratch[3]
    kept = np.empty(rows.size, np.int32)
    small = np.empty(rows.size if largest_small > 0 else 0, np.int32)
    hits = np.empty(rows.size, np.int32)
    mates = np.empty(rows.size, np.int32)
    # A class that is kept has a probe and a target: two rows, or one that is both.
    kept_starts = np.zeros(rows.size + 1, np.int64)
    small_starts = np.zeros(rows.size + 1 if largest_small > 0 else 1, np.int64)
    touched = np.empty(min(rows.size, members.size), np.int32)
    n_kept = n_small = n_hits = n_kept_rows = n_small_rows = 0
    for label in range(starts.size - 1):
        n_touched = 0
        for place in range(starts[label], starts[label + 1]):
            row = rows[place]
            if codes[row] < lowest:
                continue
            key = codes[row] + 1
            if members[key] == 0:
                touched[n_touched] = key
                n_touched += 1
            members[key] += 1
            probes[key] += grid.probes[row]
            targets[key] += grid.targets[row]
            if grid.probes[row] == 1 and sizes[row] > needed:
                worth[key] = 1
        n_live = 0
        for each in range(n_touched):
            key = touched[each]
            n_members = members[key]
            is_hit = probes[key] == 1 and targets[key] == 1
            # From here on, members holds where the class's next row goes: in the
            # kept rows (or the hits) from 0 up, in the small ones from -2 down; -1 is nowhere.
            if is_hit and ends_here:
                worth[key] = 2
                members[key] = n_hits
                n_hits += 1
                n_live += 1
            elif probes[key] == 0 or targets[key] == 0 or worth[key] == 0:
                members[key] = -1
                worth[key] = 0
            elif n_members <= largest_small:
                members[key] = -2 - n_small_rows
                n_small_rows += n_members
                n_small += 1
                small_starts[n_small] = n_small_rows
                n_live += 1
            else:
                members[key] = n_kept_rows
                n_kept_rows += n_members
                n_kept += 1
                kept_starts[n_kept] = n_kept_rows
                n_live += 1
        if n_live > 0:
            for place in range(starts[label], starts[label + 1]):
                row = rows[place]
                if codes[row] < lowest:
                    continue
                key = codes[row] + 1
                if worth[key] == 2:
                    if grid.probes[row] > 0:
                        hits[members[key]] = row
                    if grid.targets[row] > 0:
                        mates[members[key]] = row
                elif members[key] >= 0:
                    kept[members[key]] = row
                    members[key] += 1
                elif members[key] < -1:
                    small[-2 - members[key]] = row
                    members[key] -= 1
        for each in range(n_touched):
            key = touched[each]
            members[key] = 0
            probes[key] = 0
            targets[key] = 0
            worth[key] = 0
    return (
        kept[:n_kept_rows],
        kept_starts[: n_kept + 1],
        small[:n_small_rows],
        small_starts[: n_small + 1],
        hits[:n_hits],
        mates[:n_hits],
    )


@jit
def _settle(
    grid: Grid,
    found: Found,
    rows: CodeArray,
    starts: CountArray,
    path: NDArray[np.int16],
    part: int,
    n_parts: int,
    pulse: CountArray,
) -> None:
    """Find the first smallest superset, by later columns only, on which each probe of a small class is alone.

    Looks at the classes whose first row is the part's, until it is told to stop.
    """
    max_size = grid.allowed.size - 1
    size = path.size
    first = path[size - 1] + 1
    n_later = grid.codes.shape[0] - first
    if n_later <= 0:
        return
    cells = np.empty((n_later, _LARGEST_SETTLED), np.int32)
    agree = np.empty(n_later + 1, np.int64)
    agree_after = np.empty(n_later + 1, np.int64)
    chosen = np.empty(max_size + 1, np.int64)
    for label in range(starts.size - 1):
        # The parts know different records to be settled, hence different classes: a row tells whose one is.
        if rows[starts[label]] % n_parts != part:
            continue
        if pulse[0] >= pulse[1]:
            return
        members = rows[starts[label] : starts[label + 1]]
        # Bit i of a word is the i-th row of the class: probes, targets, and targets of more than one record.
        bits = np.zeros(3, np.int64)
        for place in range(members.size):
            row = members[place]
            bit = np.int64(1) << place
            bits[0] |= bit if grid.probes[row] > 0 else 0
            bits[1] |= bit if grid.targets[row] > 0 else 0
            bits[2] |= bit if grid.targets[row] > 1 else 0
            for later in range(n_later):
                cells[later, place] = grid.codes[first + later, row]
        for place in range(members.size):
            row = members[place]
            limit = min(found.sizes[row] - 1, max_size) - size
            if grid.probes[row] != 1 or limit <= 0:
                continue
            _agreements(cells[:, : members.size], place, grid.missing_matches, agree, agree_after)
            itself = np.int64(1) << place
            if agree_after[0] & bits[0] != itself:
                continue
            n_more, mate = _smallest_addition(
                agree, agree_after, bits, int(itself), grid.allowed[size:], limit, chosen, pulse
            )
            if n_more > 0:
                found.sizes[row] = size + n_more
                found.mates[row] = members[mate]
                found.paths[row, :size] = path
                for level in range(n_more):
                    found.paths[row, size + level] = first + chosen[level]


@jit
def _agreements(
    cells: CodeArray, place: int, missing_matches: bool, agree: CountArray, agree_after: CountArray
) -> None:
    """Say which rows of a class agree with one of them on each column, and on all columns from each one on."""
    n_columns, n_members = cells.shape
    agree_after[n_columns] = (np.int64(1) << n_members) - 1
    for column in range(n_columns - 1, -1, -1):
        bits = np.int64(0)
        own = cells[column, place]
        if own >= 0 or missing_matches:
            for other in range(n_members):
                if cells[column, other] == own:
                    bits |= np.int64(1) << other
        agree[column] = bits
        # A column on which nothing matches is of no use to anyone.
        agree_after[column] = agree_after[column + 1] & bits if bits else agree_after[column + 1]


@jit
def _smallest_addition(
    agree: CountArray,
    agree_after: CountArray,
    bits: CountArray,
    itself: int,
    allowed: BoolArray,
    limit: int,
    chosen: CountArray,
    pulse: CountArray,
) -> tuple[int, int]:
    """Find the fewest columns, first in order, on which a probe of a class is alone; return how many, and its target.

    ``allowed`` says of 0, 1, 2, ... more columns whether they make a size asked for. 0 columns where there are none,
    or where it is told to stop.
    """
    n_columns = agree_after.size - 1
    probe_bits, target_bits, heavy_bits = bits[0], bits[1], bits[2]
    # With a gap in the sizes asked for, a column may be of use only to fill up a size.
    has_gap = not allowed.all()
    left = np.empty(limit + 1, np.int64)
    for n_wanted in range(1, min(limit, n_columns) + 1):
        if not allowed[n_wanted]:
            continue
        came_so_far = False
        level = 0
        left[0] = agree_after[n_columns]
        chosen[0] = -1
        while level >= 0:
            if level == 0 and pulse[0] >= pulse[1]:
                return 0, -1
            chosen[level] += 1
            column = chosen[level]
            if column > n_columns - (n_wanted - level):
                level -= 1
                continue
            both = left[level] & agree[column]
            if both & target_bits == 0 or (both == left[level] and not has_gap):
                continue
            if level + 1 == n_wanted:
                hit = both & target_bits
                if both & probe_bits == itself and hit & (hit - 1) == 0 and hit & heavy_bits == 0:
                    mate = 0
                    while hit >> mate != 1:
                        mate += 1
                    return n_wanted, mate
                came_so_far = True
            elif both & agree_after[column + 1] & probe_bits == itself:
                level += 1
                left[level] = both
                chosen[level] = column
        if not came_so_far and not has_gap:
            break
    return 0, -1
