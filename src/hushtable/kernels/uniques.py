"""Find the column sets on which records are alone: a walk over column sets that drops every row as early as it can.

Rows are *probes* (the records that might single someone out), *targets* (the records they might single out), or both. A
probe is alone on a column set when no other probe equals it there and exactly one target does. The walk is depth-first;
a column set's children add one later column. Nothing is lost to its prunings: a class without a target goes; a class
with one probe and one target is a hit, and of no more use below, except at sizes that are not asked for; a class none
of whose probes can still improve goes, but the others' rows stay, for they still count against being alone; rows that
are equal in all later columns are merged, as nothing below tells them apart; a small class is resolved at once, for
the whole subtree: the rows that agree with a probe on a column are bits of one word.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype
from hushtable.kernels.sampling import (
    NO_ROOM,
    WALK_OVER,
    FoundSets as FoundSets,
    WalkGrid as WalkGrid,
    WalkStack,
    new_stack,
    next_column,
    with_more_room,
)

MAX_SMALL_CLASS_ROWS: Final = 48
"""Classes of at most so many rows are resolved at once; a word of bits bounds it by 62."""

_COLUMN: Final = record_dtype(
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
    return Settling(np.empty((n_columns, MAX_SMALL_CLASS_ROWS), dtype=np.int32), np.empty(n_columns + 2, dtype=_COLUMN))


@jit_inner
def resolve_small_classes(
    grid: WalkGrid,
    best: FoundSets,
    split: _Split,
    starts: CountArray,
    path: NDArray[np.int16],
    whose: tuple[int, int],
    pulse: CountArray,
    scratch: Settling,
) -> None:
    """Find the first smallest superset, by later columns only, on which each probe of a small class is alone."""
    (part, n_parts), rows = whose, split.small
    max_size, size = grid.allowed.size - 1, path.size
    first = int(path[size - 1]) + 1
    n_later = grid.codes.shape[0] - first
    if n_later <= 0:
        return
    cells, columns = scratch.cells, scratch.columns[: n_later + 1]
    for label in range(starts.size - 1):
        begin = starts[label]
        # The parts have found sets of different records, so keep different classes: the first row tells whose one is.
        if _row_of(rows[begin]) % n_parts != part:
            continue
        if pulse[0] >= pulse[1]:
            return
        n_members = starts[label + 1] - begin
        # Bit i of a word is the i-th row of the class: probes, targets, and targets of more than one record.
        probes = targets = heavy = np.int64(0)
        for member in range(n_members):
            entry = rows[begin + member]
            row, bit = _row_of(entry), np.int64(1) << member
            probes |= bit if grid.probes[row] > 0 else 0
            targets |= bit if grid.targets[row] > 0 else 0
            heavy |= bit if grid.targets[row] > 1 or entry < 0 else 0
            for later in range(n_later):
                cells[later, member] = grid.codes[first + later, row]
        for member in range(n_members):
            row = rows[begin + member]
            if row < 0 or grid.probes[row] != 1:
                continue
            limit = min(int(best.sizes[row]) - 1, max_size) - size
            if limit <= 0:
                continue
            _set_agreements(cells, n_members, member, grid.missing_matches, columns)
            itself = np.int64(1) << member
            if columns[0].agree_after & probes != itself:
                continue
            bits = (itself, probes, targets, heavy)
            n_more, mate = _smallest_addition(columns, bits, grid.allowed[size:], limit, pulse)
            if n_more > 0:
                _keep_set(best, split, row, rows[begin + mate], size + n_more, path)
                for level in range(n_more):
                    best.paths[row, size + level] = first + columns[level].chosen


@jit_inner
def _keep_set(best: FoundSets, split: _Split, row: int, mate: int, size: int, path: NDArray[np.int16]) -> None:
    """Keep a set of so many columns as a row's smallest; ``path`` has the first ones."""
    best.sizes[row], best.mates[row] = size, mate
    split.states[row] = (split.states[row] & _ROLES) | size << _SIZE_SHIFT
    for level in range(path.size):
        best.paths[row, level] = path[level]


@jit_inner
def _set_agreements(cells: CodeArray, n_members: int, probe: int, missing_matches: bool, columns: NDArray[Any]) -> None:
    """Set which rows of a class agree with one of them on each column, and on all columns from each one on."""
    agree_after = (np.int64(1) << n_members) - 1
    columns[columns.size - 1].agree_after = agree_after
    for column in range(columns.size - 2, -1, -1):
        bits = np.int64(0)
        own = cells[column, probe]
        if own >= 0 or missing_matches:
            for other in range(n_members):
                if cells[column, other] == own:
                    bits |= np.int64(1) << other
        # A column on which nothing matches is of no use to anyone.
        if bits != 0:
            agree_after &= bits
        columns[column].agree, columns[column].agree_after = bits, agree_after


@jit_inner
def _smallest_addition(
    columns: NDArray[Any],
    bits: tuple[np.int64, np.int64, np.int64, np.int64],
    allowed: BoolArray,
    limit: int,
    pulse: CountArray,
) -> tuple[int, int]:
    """Find the fewest columns, first in order, on which a probe of a class is alone; return how many, and its target.

    ``bits`` of the probe, of all probes, targets, and targets of more than one record. 0 columns where there are none.
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
            candidates, column = columns[level].left, columns[level].chosen + 1
            columns[level].chosen = column
            if column > n_columns - (n_wanted - level):
                level -= 1
                continue
            matching = candidates & columns[column].agree
            if matching & target_bits == 0 or (matching == candidates and not has_gap):
                continue
            if level + 1 == n_wanted:
                hit = matching & target_bits
                if matching & probe_bits == itself and hit & (hit - 1) == 0 and hit & heavy_bits == 0:
                    mate = 0
                    while hit >> mate != 1:
                        mate += 1
                    return n_wanted, mate
                came_so_far = True
            elif matching & columns[column + 1].agree_after & probe_bits == itself:
                level += 1
                columns[level].left, columns[level].chosen = matching, column
        if not came_so_far and not has_gap:
            break
    return 0, -1


_LOG_FULL: Final = -3  # besides what `next_column` returns

_KEY: Final = record_dtype(
    ("records", np.int64),  # probes of a class with a code, and targets times `_ONE_TARGET`
    ("members", np.int32),  # its rows; then where the next of them goes
    ("worth", np.int32),  # 1 where a probe can still improve, 2 where it is a hit
)
_ONE_TARGET: Final = 2**32

# What a split reads of a row is one number, as it looks the rows up one by one, all over memory: the row as a probe
# (0 to 2) and as a target (0 to 2), two bits each; above them its smallest set so far, 0 if it is not one probe.
_SIZE_SHIFT: Final = 4
_ROLES: Final = 2**_SIZE_SHIFT - 1


class _Split(NamedTuple):
    """What a split reads of each row, what comes of it besides classes to go on with, and scratch for it."""

    states: CodeArray  # (n_rows,), see `_SIZE_SHIFT`
    keys: NDArray[Any]  # a record (widest,), all 0 between uses
    touched: CodeArray  # (n_rows,), the codes that a class holds
    slots: CodeArray  # (4 * most suffixes,), where a suffix stands in a class, by role; -1 between uses
    small: CodeArray  # (n_rows,), the small classes
    small_starts: CountArray  # (n_rows + 1,), where they begin
    hits: CodeArray  # (2, n_rows), probes and their targets


class _Log(NamedTuple):
    """Hits as they come, of rows with their targets: int32 (2, room), and their column sets: int16 (room, max_size)."""

    hits: CodeArray
    paths: NDArray[np.int16]
    n_hits: CountArray


def _new_split(grid: WalkGrid, sizes: CodeArray) -> _Split:
    n_rows = grid.codes.shape[1]
    limits = np.where(grid.probes == 1, sizes, 0) << _SIZE_SHIFT
    return _Split(
        (limits | grid.targets << 2 | grid.probes).astype(np.int32),
        np.zeros(grid.widths.max(), dtype=_KEY),
        np.empty(n_rows, dtype=np.int32),
        np.full(4 * int(grid.n_suffixes.max(initial=0)), -1, dtype=np.int32),
        np.empty(n_rows, dtype=np.int32),
        np.zeros(n_rows + 1, dtype=np.int64),
        np.empty((2, n_rows), dtype=np.int32),
    )


@jit_inner
def _row_of(entry: int) -> int:
    """Return the row of an entry of a class; ``~row`` stands for several rows, of which this is one."""
    return int(entry ^ (entry >> 31))


def walk_sets(
    grid: WalkGrid, best: FoundSets, pulse: CountArray, counts: FloatArray, below: FloatArray, part: int, n_parts: int
) -> None:
    """Find every probe's first smallest column set, of each size in the order of the walk; of n_parts branches, one.

    ``pulse`` is where others look in: sets looked at, the number at which to stop (it may be lowered), the first
    column, and first columns settled. ``counts`` (n_columns, max_size + 1) is set to how many sets of each size were
    walked, at 0 to how many of the largest were left without a loss. ``below[k, m]`` is how many sets of k columns m
    columns have.
    """
    n_columns = len(grid.codes)
    stack, split = new_stack(grid.codes.shape[1], len(grid.allowed) - 1), _new_split(grid, best.sizes)
    settling = new_settling(n_columns)
    while not walk_on(grid, best, stack, (split, settling), pulse, counts, below, (part, n_parts)):
        stack = with_more_room(stack)


@jit_bare
def walk_on(
    grid: WalkGrid,
    best: FoundSets,
    stack: WalkStack,
    scratch: tuple[_Split, Settling],
    pulse: CountArray,
    counts: FloatArray,
    below: FloatArray,
    whose: tuple[int, int],
) -> bool:
    """Walk on; tell whether it is over, or the stack has no room."""
    split, settling = scratch
    part, n_parts = whose
    path, n_columns, max_size = stack.path, grid.codes.shape[0], grid.allowed.size - 1
    while pulse[0] < pulse[1]:
        column = next_column(stack, n_columns)
        if column < 0:
            return column == WALK_OVER
        size = stack.size[0]
        if size == 0:
            pulse[2] = column
        elif size == 1 and column % n_parts != part:
            continue
        path[size] = column
        n_small, n_hits = _split_classes(grid, column, size + 1, stack, split, MAX_SMALL_CLASS_ROWS)
        size += 1
        if size < max_size and column + 1 < grid.n_suffixes.size and grid.n_suffixes[column + 1] > 0:
            n_small = _merge_equal_rows(grid, column + 1, size, stack, split, n_small)
        if grid.allowed[size]:
            for hit in range(n_hits):
                row = split.hits[0, hit]
                if best.sizes[row] > size:
                    _keep_set(best, split, row, split.hits[1, hit], size, path[:size])
        # Every part splits by the first column; what follows is shared out.
        mine, n_shares = (part, n_parts) if size == 1 else (0, 1)
        if n_small > 0:
            starts = split.small_starts[: n_small + 1]
            resolve_small_classes(grid, best, split, starts, path[:size], (mine, n_shares), pulse, settling)
        if pulse[0] >= pulse[1]:
            break
        if size == 1:
            pulse[3] = column + 1
        counts[path[0], size] += 1
        if stack.levels[size].n_classes == 0 and size < max_size:
            if size > 1:
                counts[path[0], 0] += below[max_size - size, n_columns - 1 - column]
            else:
                for later in range(column + 1 + (part - column - 1) % n_parts, n_columns, n_parts):
                    counts[column, 0] += below[max_size - 2, n_columns - 1 - later]
        pulse[0] += 1
        stack.size[0] = size
    return True


def walk_all(grid: WalkGrid, pulse: CountArray, counts: FloatArray) -> tuple[CodeArray, CodeArray, NDArray[np.int16]]:
    """Return row, target and set of every hit that no earlier columns of its set make, for `mark_minimal_sets`."""
    n_rows, max_size = grid.codes.shape[1], len(grid.allowed) - 1
    stack, split = new_stack(n_rows, max_size), _new_split(grid, np.full(n_rows, max_size + 1, dtype=np.int32))
    hits, paths = np.empty((2, 2 * n_rows), dtype=np.int32), np.full((2 * n_rows, max_size), -1, dtype=np.int16)
    log = _Log(hits, paths, np.zeros(1, dtype=np.int64))
    status = NO_ROOM
    while status != WALK_OVER:
        status = walk_all_on(grid, stack, split, log, pulse, counts)
        if status == NO_ROOM:
            stack = with_more_room(stack)
        elif status == _LOG_FULL:
            hits = np.concatenate((log.hits, np.empty_like(log.hits)), axis=1)
            log = log._replace(hits=hits, paths=np.concatenate((log.paths, np.full_like(log.paths, -1))))
    n_hits = int(log.n_hits[0])
    return log.hits[0, :n_hits].copy(), log.hits[1, :n_hits].copy(), log.paths[:n_hits].copy()


@jit_bare
def walk_all_on(
    grid: WalkGrid, stack: WalkStack, split: _Split, log: _Log, pulse: CountArray, counts: FloatArray
) -> int:
    """Walk on; return WALK_OVER, or NO_ROOM or _LOG_FULL where the stack or the log has no room."""
    path, n_columns = stack.path, grid.codes.shape[0]
    while pulse[0] < pulse[1]:
        # As many hits as rows may come.
        if log.n_hits[0] + grid.codes.shape[1] > log.hits.shape[1]:
            return _LOG_FULL
        column = next_column(stack, n_columns)
        if column < 0:
            return column
        size = stack.size[0]
        if size == 0:
            pulse[2] = column
        path[size] = column
        _, n_hits = _split_classes(grid, column, size + 1, stack, split, 0)
        pulse[0] += 1
        size += 1
        counts[path[0], size] += 1
        if grid.allowed[size]:
            for hit in range(n_hits):
                n_logged = log.n_hits[0]
                log.hits[0, n_logged], log.hits[1, n_logged] = split.hits[0, hit], split.hits[1, hit]
                for level in range(size):
                    log.paths[n_logged, level] = path[level]
                log.n_hits[0] += 1
        stack.size[0] = size
    return WALK_OVER


def mark_minimal_sets(offsets: CountArray, paths: NDArray[np.int16], n_columns: int) -> BoolArray:
    """Tell which sets contain no other of their row, ``paths[offsets[r]:offsets[r + 1]]``, smaller ones first."""
    is_minimal = np.ones(len(paths), dtype=np.bool_)
    _drop_larger(offsets, paths, np.zeros(n_columns, dtype=np.bool_), is_minimal)
    return is_minimal


@jit_bare
def _drop_larger(offsets: CountArray, paths: NDArray[np.int16], holds: BoolArray, is_minimal: BoolArray) -> None:
    """Unmark the sets that contain another one; ``holds`` is False for every column."""
    max_size = paths.shape[1]
    for row in range(offsets.size - 1):
        for large in range(offsets[row], offsets[row + 1]):
            for position in range(max_size):
                if paths[large, position] >= 0:
                    holds[paths[large, position]] = True
            for small in range(offsets[row], large):
                if not is_minimal[small]:
                    continue
                is_inside = True
                for position in range(max_size):
                    column = paths[small, position]
                    if column >= 0 and not holds[column]:
                        is_inside = False
                        break
                if is_inside:
                    is_minimal[large] = False
                    break
            for position in range(max_size):
                if paths[large, position] >= 0:
                    holds[paths[large, position]] = False


@jit_inner
def _next_size(allowed: BoolArray, size: int) -> int:
    """Return the smallest size asked for above one; past the largest where there is none."""
    larger = size + 1
    while larger < allowed.size and not allowed[larger]:
        larger += 1
    return larger


@jit_inner
def _count_codes(split: _Split, codes: CodeArray, members: CodeArray, lowest: int, least_worth: int) -> int:
    """Count the records of a class by code in ``keys``; return how many codes it has, which ``touched`` lists."""
    keys, touched, n_touched = split.keys, split.touched, 0
    for entry in members:
        row = _row_of(entry)
        code, state = codes[row], np.int64(split.states[row])
        if code < lowest:
            continue
        key = keys[code + 1]
        # Always written, and overwritten where the class has the code already: no branch to guess.
        touched[n_touched] = code + 1
        n_touched += int(key.members == 0)
        key.members += 1
        key.records += (state & 3) + (state >> 2 & 3) * _ONE_TARGET << int(entry < 0)
        key.worth |= int(state >= least_worth) & int(entry >= 0)
    return n_touched


@jit_inner
def _split_classes(
    grid: WalkGrid, column: int, size: int, stack: WalkStack, split: _Split, largest_small: int
) -> tuple[int, int]:
    """Split the classes before a column set's last column by it; return how many are small, and how many hits."""
    codes = grid.codes[column]
    lowest = -1 if grid.missing_matches else 0
    needed = _next_size(grid.allowed, size)
    is_last = needed == grid.allowed.size
    ends_here = grid.allowed[size] or is_last
    # Larger ones are of no use; a hit on the largest set is of use to those that have no smaller one.
    least_worth = 1 + (size if is_last else needed) << _SIZE_SHIFT
    keys, touched, rows, starts = split.keys, split.touched, stack.rows, stack.starts
    above, level = stack.levels[size - 1], stack.levels[size]
    # A class that is kept has a probe and a target: two rows, or one that is both.
    level.first = above.first + above.n_classes + 1
    level.next_column = column + 1
    n_kept_rows = starts[level.first - 1]
    starts[level.first] = n_kept_rows
    n_kept = n_small = n_hits = n_small_rows = 0
    for label in range(above.first, above.first + above.n_classes):
        n_touched = _count_codes(split, codes, rows[starts[label] : starts[label + 1]], lowest, least_worth)
        n_live = 0
        for i in range(n_touched):
            key = keys[touched[i]]
            n_members = int(key.members)
            # From here on, members holds where the class's next row goes: in the
            # kept rows (or the hits) from 0 up, in the small ones from -2 down; -1 is nowhere.
            n_live += 1
            if key.records == 1 + _ONE_TARGET and ends_here and (key.worth > 0 or not is_last):
                key.worth = 2
                key.members = n_hits
                n_hits += 1
            elif is_last or key.records & _ONE_TARGET - 1 == 0 or key.records < _ONE_TARGET or key.worth == 0:
                key.members = -1
                key.worth = 0
                n_live -= 1
            elif n_members <= largest_small:
                key.members = -2 - n_small_rows
                n_small_rows += n_members
                n_small += 1
                split.small_starts[n_small] = n_small_rows
            else:
                key.members = n_kept_rows
                n_kept_rows += n_members
                n_kept += 1
                starts[level.first + n_kept] = n_kept_rows
        if n_live > 0:
            for position in range(starts[label], starts[label + 1]):
                entry = rows[position]
                row = _row_of(entry)
                if codes[row] < lowest:
                    continue
                key = keys[codes[row] + 1]
                to = int(key.members)
                if key.worth == 2:
                    if grid.probes[row] > 0:
                        split.hits[0, to] = row
                    if grid.targets[row] > 0:
                        split.hits[1, to] = row
                elif to >= 0:
                    rows[to] = entry
                    key.members = to + 1
                elif to < -1:
                    split.small[-2 - to] = entry
                    key.members = to - 1
        for i in range(n_touched):
            key = keys[touched[i]]
            key.records = key.members = key.worth = 0
    level.n_classes = n_kept
    return n_small, n_hits


@jit_inner
def _merge_equal_rows(grid: WalkGrid, column: int, size: int, stack: WalkStack, split: _Split, n_small: int) -> int:
    """Merge the rows of each class that are equal from a column on; return how many classes are small then.

    No set below tells them apart: two such probes are never alone, and two such targets never one.
    """
    suffixes, rows, starts, level = grid.suffixes[column], stack.rows, stack.starts, stack.levels[size]
    states, slots = split.states, split.slots
    least_worth = 1 + _next_size(grid.allowed, size) << _SIZE_SHIFT
    begin = to = starts[level.first]
    n_kept, n_small_rows = 0, split.small_starts[n_small]
    for label in range(level.n_classes):
        first, n_live, end = to, 0, starts[level.first + label + 1]
        for position in range(begin, end):
            entry = rows[position]
            row = _row_of(entry)
            slot = 4 * suffixes[row] + _role_of(states[row])
            same = slots[slot]
            if same < 0:
                slots[slot], rows[to] = to, entry
                to += 1
                n_live += int(entry >= 0 and states[row] >= least_worth)
            elif rows[same] >= 0:
                n_live -= int(states[rows[same]] >= least_worth)
                rows[same] = ~rows[same]
        for position in range(first, to):
            row = _row_of(rows[position])
            slots[4 * suffixes[row] + _role_of(states[row])] = -1
        begin = end
        if n_live == 0:
            to = first
        elif to - first <= MAX_SMALL_CLASS_ROWS:
            for position in range(first, to):
                split.small[n_small_rows] = rows[position]
                n_small_rows += 1
            n_small, to = n_small + 1, first
            split.small_starts[n_small] = n_small_rows
        else:
            n_kept += 1
            starts[level.first + n_kept] = to
    level.n_classes = n_kept
    return n_small


@jit_inner
def _role_of(state: int) -> int:
    """Return whether a row is a probe, plus 2 where it is a target."""
    return int(state & 3 != 0) + 2 * int(state & 12 != 0)
