"""Keys: a depth-first search for all minimal column sets that tell rows apart, exactly or but for a few.

What no key can miss is *evidence*: a set of columns of which every key holds at least one. Two rows give the columns in
which they differ; a column set that is too coarse gives all other columns. Keys are the minimal sets that hit all
evidence. The search builds those, asks the rows about each, and draws new evidence from the partition of a set that
does not tell them apart (HPIValid: Birnick, Bläsius, Friedrich, Naumann, Papenbrock, Schirneck, PVLDB 13(11), 2020;
hitting sets: Murakami, Uno, Discrete Applied Mathematics 170, 2014).

A set that hits all evidence, and of which each column is the only one to hit some of it, is minimal for sure. A branch
whose column loses that is left although more evidence may come: an earlier branch searched all sets without it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_inner
from hushtable.kernels.evidence import (
    MAX_PAIRS_ENUMERATED,
    ColumnWords,
    KeyCodes,
    KeyRows,
    count_bits,
    draw_below,
    draw_pairs,
    minimal_sets,
    n_pairs_to_draw,
    split_classes,
    write_difference,
)

_LISTED_PAIRS: Final = 1 << 13
"""Up to so many pairs of rows are kept as the columns in which they differ: filtering them beats splitting classes."""
_ONE: Final = np.uint64(1)


class KeyRules(NamedTuple):
    """What a key is."""

    by_pairs: bool  # whether pairs of rows that agree are counted, else the rows that are not alone
    max_left: int  # how many of them a key may leave over
    max_size: int  # the most columns of a key
    seed: int  # of the pairs that are drawn


@jit_inner
def _column_bit(column: int) -> np.uint64:
    return _ONE << np.uint64(column & 63)


@jit
def _more_words(words: ColumnWords, needed: int) -> ColumnWords:
    if needed <= len(words):
        return words
    grown = np.zeros((max(needed, 2 * len(words)), words.shape[1]), np.uint64)
    grown[: len(words)] = words
    return grown


@jit
def _more_codes(codes: CodeArray, needed: int) -> CodeArray:
    if needed <= len(codes):
        return codes
    grown = np.zeros(max(needed, 2 * len(codes)), codes.dtype)
    grown[: len(codes)] = codes
    return grown


class _KeyWalk(NamedTuple):
    """Where the search is. Each row is a level: the column set on the way down that has so many columns."""

    path: CountArray  # the column that each level adds
    chosen: ColumnWords  # the level's columns
    free: ColumnWords  # the columns that may still be added
    todo: CountArray  # those that are added in turn
    n_todo: CountArray  # how many of them there are
    n_done: CountArray  # how many were begun
    is_open: BoolArray  # whether they were counted
    shared: ColumnWords  # by column of the set: the columns that are in all evidence that it alone hits


class _Alive(NamedTuple):
    """The evidence that a level hits once or not at all, level behind level."""

    sets: ColumnWords
    owners: CodeArray  # the column that hits it, or -1
    ends: CountArray  # where each level begins, and the last one ends
    folded: CountArray  # how much of all evidence a level knows
    common: ColumnWords  # by level: the columns that hit all evidence that the level does not hit
    best: CountArray  # by level: which evidence it does not hit and has the fewest free columns, or -1
    fewest: CountArray  # how many


class _Agreeing(NamedTuple):
    """The rows that agree on a level's columns: as classes while they are many, then as pairs of rows."""

    members: CodeArray  # rows, level behind level
    ends: CodeArray  # where their classes end
    member_ends: CountArray  # where those of each level begin
    end_ends: CountArray
    pairs: CountArray  # how many pairs of rows agree on a level
    differences: ColumnWords  # pairs of rows as the columns in which they differ, level behind level
    difference_ends: CountArray  # where those of each level begin
    separating: ColumnWords  # by level: the columns in which all its pairs differ
    known_levels: CountArray  # (2,), the last level that is known, and the first one that is known as pairs


@jit
def search_keys(
    rows: KeyRows, rules: KeyRules, evidence: ColumnWords, pulse: CountArray
) -> tuple[ColumnWords, CountArray, ColumnWords, bool, bool]:
    """Find all minimal keys of at most so many columns, given evidence.

    Returns the keys as words; for each its pairs of rows that agree and its rows that are not alone; the evidence with
    what was added; whether larger keys may exist; whether the search came to its end. ``pulse`` is (3,): sets looked
    at, the number at which to stop, and the first columns done.
    """
    n_columns, n_rows = rows.codes.shape
    n_words = (n_columns + 63) // 64
    log, n_log = evidence.copy(), len(evidence)
    keys, key_counts, n_keys = np.zeros((64, n_words), np.uint64), np.zeros((64, 2), np.int64), 0
    state = np.array([rules.seed * 2 + 0x2545F4914F6CDD1], dtype=np.uint64)
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    walk = _start_walk(n_columns)
    alive = _no_evidence(n_columns, n_log)
    agreeing = _all_rows(rows, rules.max_left == 0)
    is_cut = False
    level = 0
    while level >= 0:
        if alive.folded[level] < n_log:
            alive = _more_alive(alive, alive.ends[level + 1] + n_log - alive.folded[level])
            _fold_evidence(alive, log, n_log, walk, level)
        if not walk.is_open[level]:
            if pulse[0] >= pulse[1]:
                return keys[:n_keys].copy(), key_counts[:n_keys].copy(), log[:n_log].copy(), True, False
            pulse[0] += 1
            if alive.best[level] < 0:
                if agreeing.known_levels[0] < level:
                    agreeing = _refine_agreeing(agreeing, rows, rules, walk, level, bins, touched)
                n_pairs, n_repeated = _count_agreeing(agreeing, level)
                if (n_pairs if rules.by_pairs else n_repeated) <= rules.max_left:
                    keys, key_counts = _more_keys(keys, key_counts, n_keys)
                    keys[n_keys] = walk.chosen[level]
                    key_counts[n_keys, 0], key_counts[n_keys, 1] = n_pairs, n_repeated
                    n_keys += 1
                    level -= 1
                    continue
                if rules.max_left == 0:
                    new_evidence = _draw_evidence(agreeing, rows.cells, level, state)
                else:
                    new_evidence, agreeing = _complement_of_non_key(
                        agreeing, rows, rules, walk.chosen[level], level, bins, touched
                    )
                    if not new_evidence.any():
                        # Not even all columns are a key.
                        return keys[:0].copy(), key_counts[:0].copy(), log[:n_log].copy(), False, True
                log = _more_words(log, n_log + len(new_evidence))
                log[n_log : n_log + len(new_evidence)] = new_evidence
                n_log += len(new_evidence)
                continue
            if level >= rules.max_size:
                is_cut = True
                level -= 1
                continue
            is_cut |= _open_level(walk, alive, level, level + 1 == rules.max_size)
        if walk.n_done[level] > 0:
            column = walk.todo[level, walk.n_done[level] - 1]
            walk.free[level, column >> 6] |= _column_bit(column)
            if level == 0:
                pulse[2] += 1
        agreeing.known_levels[0] = min(agreeing.known_levels[0], level)
        if walk.n_done[level] == walk.n_todo[level]:
            level -= 1
            continue
        column = walk.todo[level, walk.n_done[level]]
        walk.n_done[level] += 1
        word, bit = column >> 6, _column_bit(column)
        if rules.max_left == 0 and alive.common[level, word] & bit:
            # With this column all evidence is hit. Where the pairs are known, they say at once whether it is a key.
            if agreeing.known_levels[0] < level:
                agreeing = _refine_agreeing(agreeing, rows, rules, walk, level, bins, touched)
            if level >= agreeing.known_levels[1] and agreeing.separating[level, word] & bit:
                pulse[0] += 1
                keys, key_counts = _more_keys(keys, key_counts, n_keys)
                keys[n_keys] = walk.chosen[level]
                keys[n_keys, word] |= bit
                n_keys += 1
                continue
        alive = _more_alive(alive, 2 * alive.ends[level + 1] - alive.ends[level])
        _descend(alive, walk, level, column)
        level += 1
    return keys[:n_keys].copy(), key_counts[:n_keys].copy(), log[:n_log].copy(), is_cut, True


@jit
def _start_walk(n_columns: int) -> _KeyWalk:
    """Return a walk at its first level, no column, where all columns are free."""
    n_levels, n_words = n_columns + 2, (n_columns + 63) // 64
    free = np.zeros((n_levels, n_words), np.uint64)
    for j in range(n_columns):
        free[0, j >> 6] |= _column_bit(j)
    counts = np.zeros((3, n_levels), np.int64)
    return _KeyWalk(
        counts[0],
        np.zeros((n_levels, n_words), np.uint64),
        free,
        np.zeros((n_levels, n_columns), np.int64),
        counts[1],
        counts[2],
        np.zeros(n_levels, np.bool_),
        np.zeros((n_columns, n_words), np.uint64),
    )


@jit
def _no_evidence(n_columns: int, n_log: int) -> _Alive:
    n_levels, n_words = n_columns + 2, (n_columns + 63) // 64
    room = max(64, 2 * n_log)
    common = np.full((n_levels, n_words), ~np.uint64(0), np.uint64)
    counts = np.zeros((3, n_levels + 1), np.int64)
    best, fewest = np.full(n_levels, -1), np.full(n_levels, n_columns + 1)
    return _Alive(
        np.zeros((room, n_words), np.uint64), np.zeros(room, np.int32), counts[0], counts[1], common, best, fewest
    )


@jit
def _all_rows(rows: KeyRows, as_pairs: bool) -> _Agreeing:
    """Return the first level: on no column at all, all rows agree."""
    n_columns, n_rows = rows.codes.shape
    n_levels, n_words = n_columns + 2, (n_columns + 63) // 64
    members, ends = np.empty(4 * n_rows + 4, np.int32), np.empty(2 * n_rows + 4, np.int32)
    members[:n_rows] = np.arange(n_rows)
    ends[0] = n_rows
    counts = np.zeros((4, n_levels + 1), np.int64)
    counts[0, 1], counts[1, 1], counts[2, 0] = n_rows, 1, n_rows * (n_rows - 1) // 2
    known_levels = np.array([0, n_levels])
    separating = np.zeros((n_levels, n_words), np.uint64)
    first = _Agreeing(
        members,
        ends,
        counts[0],
        counts[1],
        counts[2],
        np.zeros((_LISTED_PAIRS if as_pairs else 0, n_words), np.uint64),
        counts[3],
        separating,
        known_levels,
    )
    if as_pairs and counts[2, 0] <= _LISTED_PAIRS:
        _list_pairs(first, rows.cells, 0)
    return first


@jit
def _more_keys(keys: ColumnWords, key_counts: CountArray, n_keys: int) -> tuple[ColumnWords, CountArray]:
    """Make room for one more key."""
    if n_keys < len(keys):
        return keys, key_counts
    keys = _more_words(keys, n_keys + 1)
    more = np.zeros((len(keys), 2), np.int64)
    more[:n_keys] = key_counts
    return keys, more


@jit_inner
def _note_evidence(alive: _Alive, walk: _KeyWalk, level: int, e: int) -> None:
    """Update what a level knows of all evidence that it does not hit, by one more."""
    n_free = 0
    for w in range(alive.sets.shape[1]):
        alive.common[level, w] &= alive.sets[e, w]
        n_free += count_bits(alive.sets[e, w] & walk.free[level, w])
    if n_free < alive.fewest[level]:
        alive.best[level], alive.fewest[level] = e, n_free


@jit_inner
def _fold_evidence(alive: _Alive, log: ColumnWords, n_log: int, walk: _KeyWalk, level: int) -> None:
    """Add new evidence to a level: from earlier branches, or from its own set."""
    filled = alive.ends[level + 1]
    for e in range(alive.folded[level], n_log):
        n_hits = 0
        for w in range(log.shape[1]):
            n_hits += count_bits(log[e, w] & walk.chosen[level, w])
        if n_hits > 1:
            continue
        owner = -1
        if n_hits == 1:
            for i in range(level):
                if log[e, walk.path[i] >> 6] & _column_bit(walk.path[i]):
                    owner = walk.path[i]
        for w in range(log.shape[1]):
            alive.sets[filled, w] = log[e, w]
        alive.owners[filled] = owner
        if owner < 0:
            _note_evidence(alive, walk, level, filled)
        filled += 1
    alive.folded[level], alive.ends[level + 1] = n_log, filled


@jit
def _more_alive(alive: _Alive, needed: int) -> _Alive:
    if needed <= len(alive.sets):
        return alive
    sets = _more_words(alive.sets, needed)
    owners = _more_codes(alive.owners, len(sets))
    return _Alive(sets, owners, alive.ends, alive.folded, alive.common, alive.best, alive.fewest)


@jit_inner
def _open_level(walk: _KeyWalk, alive: _Alive, level: int, is_last: bool) -> bool:
    """List the columns to add to a level's set in turn; return whether one was left out that may be part of a key.

    They are free columns of one evidence that is not hit, but for those that leave another column nothing to hit alone.
    """
    free, shared = walk.free, walk.shared
    n_words = free.shape[1]
    for i in range(level):
        for w in range(n_words):
            shared[walk.path[i], w] = ~np.uint64(0)
    for e in range(alive.ends[level], alive.ends[level + 1]):
        owner = alive.owners[e]
        if owner >= 0:
            for w in range(n_words):
                shared[owner, w] &= alive.sets[e, w]
    for i in range(level):
        for w in range(n_words):
            free[level, w] &= ~shared[walk.path[i], w]
    is_cut = False
    walk.n_todo[level] = walk.n_done[level] = 0
    # The most distinctive column last: in its branch all others are free, most keys lie there, and few rows agree.
    for j in range(walk.todo.shape[1] - 1, -1, -1):
        word, bit = j >> 6, _column_bit(j)
        if alive.sets[alive.best[level], word] & free[level, word] & bit:
            free[level, word] &= ~bit
            if is_last and not alive.common[level, word] & bit:
                is_cut = True
            else:
                walk.todo[level, walk.n_todo[level]] = j
                walk.n_todo[level] += 1
    walk.is_open[level] = True
    return is_cut


@jit_inner
def _descend(alive: _Alive, walk: _KeyWalk, level: int, column: int) -> None:
    """Start the level below, with one column more."""
    word, bit, below = column >> 6, _column_bit(column), level + 1
    walk.path[level] = column
    for w in range(walk.free.shape[1]):
        walk.chosen[below, w], walk.free[below, w] = walk.chosen[level, w], walk.free[level, w]
        alive.common[below, w] = ~np.uint64(0)
    walk.chosen[below, word] |= bit
    walk.is_open[below] = False
    begin, filled = alive.ends[level], alive.ends[below]
    alive.best[below], alive.fewest[below] = -1, walk.todo.shape[1] + 1
    to = filled
    for e in range(begin, filled):
        owner = alive.owners[e]
        if alive.sets[e, word] & bit:
            if owner >= 0:
                continue
            owner = column
        for w in range(alive.sets.shape[1]):
            alive.sets[to, w] = alive.sets[e, w]
        alive.owners[to] = owner
        if owner < 0:
            _note_evidence(alive, walk, below, to)
        to += 1
    alive.folded[below], alive.ends[below + 1] = alive.folded[level], to


@jit_inner
def _count_agreeing(agreeing: _Agreeing, level: int) -> tuple[int, int]:
    """Return the pairs of rows that agree on a level, and the rows not alone: a lower bound, exact for keys."""
    if level >= agreeing.known_levels[1]:
        return agreeing.pairs[level], min(1, agreeing.pairs[level])
    return agreeing.pairs[level], agreeing.member_ends[level + 1] - agreeing.member_ends[level]


@jit
def _refine_agreeing(
    agreeing: _Agreeing,
    rows: KeyRows,
    rules: KeyRules,
    walk: _KeyWalk,
    level: int,
    bins: CodeArray,
    touched: CodeArray,
) -> _Agreeing:
    """Find the rows that agree on a level, from those of the levels above it."""
    known_levels = agreeing.known_levels
    while known_levels[0] < level:
        last, column = known_levels[0], walk.path[known_levels[0]]
        if known_levels[1] > last:
            at = _level_bounds(agreeing, last)
            agreeing = _more_members(agreeing, at)
            agreeing.member_ends[last + 2], agreeing.end_ends[last + 2], agreeing.pairs[last + 1] = split_classes(
                rows.codes[column], agreeing.members, agreeing.ends, at, bins, touched
            )
            known_levels[1] = len(agreeing.pairs)
            if rules.max_left == 0 and agreeing.pairs[last + 1] <= _LISTED_PAIRS:
                _list_pairs(agreeing, rows.cells, last + 1)
        else:
            needed = 2 * agreeing.difference_ends[last + 1] - agreeing.difference_ends[last]
            agreeing = _more_differences(agreeing, needed)
            _sift_pairs(agreeing, last, column)
        known_levels[0] += 1
    return agreeing


@jit_inner
def _level_bounds(agreeing: _Agreeing, level: int) -> tuple[int, int, int, int]:
    """Return where a level's members begin and end, and where the ends of its classes begin and end."""
    return (
        agreeing.member_ends[level],
        agreeing.member_ends[level + 1],
        agreeing.end_ends[level],
        agreeing.end_ends[level + 1],
    )


@jit
def _more_members(agreeing: _Agreeing, at: tuple[int, int, int, int]) -> _Agreeing:
    """Make room behind classes to split them."""
    size = at[1] - at[0]
    members = _more_codes(agreeing.members, at[1] + size)
    ends = _more_codes(agreeing.ends, at[3] + (at[3] - at[2]) + size // 2 + 1)
    return _Agreeing(
        members,
        ends,
        agreeing.member_ends,
        agreeing.end_ends,
        agreeing.pairs,
        agreeing.differences,
        agreeing.difference_ends,
        agreeing.separating,
        agreeing.known_levels,
    )


@jit
def _more_differences(agreeing: _Agreeing, needed: int) -> _Agreeing:
    if needed <= len(agreeing.differences):
        return agreeing
    return _Agreeing(
        agreeing.members,
        agreeing.ends,
        agreeing.member_ends,
        agreeing.end_ends,
        agreeing.pairs,
        _more_words(agreeing.differences, needed),
        agreeing.difference_ends,
        agreeing.separating,
        agreeing.known_levels,
    )


@jit_inner
def _list_pairs(agreeing: _Agreeing, cells: KeyCodes, level: int) -> None:
    """Write the pairs of rows of a level's classes as the columns in which they differ."""
    members, ends, differences = agreeing.members, agreeing.ends, agreeing.differences
    begin, n = agreeing.member_ends[level], 0
    for c in range(agreeing.end_ends[level], agreeing.end_ends[level + 1]):
        for i in range(begin, ends[c]):
            for k in range(i + 1, ends[c]):
                write_difference(cells, members[i], members[k], differences, n)
                n += 1
        begin = ends[c]
    agreeing.difference_ends[level], agreeing.difference_ends[level + 1] = 0, n
    agreeing.known_levels[1] = level
    _set_common_columns(agreeing, level)


@jit_inner
def _sift_pairs(agreeing: _Agreeing, level: int, column: int) -> None:
    """Filter a level's pairs: write those that agree in a column too behind them."""
    begin, end = agreeing.difference_ends[level], agreeing.difference_ends[level + 1]
    differences = agreeing.differences
    word, shift, to = column >> 6, np.uint64(column & 63), end
    for i in range(begin, end):
        # Always written, and overwritten if the pair differs: faster than a branch.
        for w in range(differences.shape[1]):
            differences[to, w] = differences[i, w]
        to += 1 - np.int64((differences[i, word] >> shift) & _ONE)
    agreeing.difference_ends[level + 2] = to
    agreeing.pairs[level + 1] = to - end
    _set_common_columns(agreeing, level + 1)


@jit_inner
def _set_common_columns(agreeing: _Agreeing, level: int) -> None:
    for w in range(agreeing.separating.shape[1]):
        common = ~np.uint64(0)
        for i in range(agreeing.difference_ends[level], agreeing.difference_ends[level + 1]):
            common &= agreeing.differences[i, w]
        agreeing.separating[level, w] = common


@jit
def _draw_evidence(agreeing: _Agreeing, cells: KeyCodes, level: int, state: ColumnWords) -> ColumnWords:
    """Return the minimal difference sets of some pairs of rows that agree on a level, or of all where they are few."""
    n_pairs = agreeing.pairs[level]
    if level < agreeing.known_levels[1]:
        return draw_pairs(cells, agreeing.members, agreeing.ends, _level_bounds(agreeing, level), n_pairs, state)
    begin = agreeing.difference_ends[level]
    pairs = agreeing.differences[begin : begin + n_pairs]
    if n_pairs <= MAX_PAIRS_ENUMERATED:
        return minimal_sets(pairs)
    sample = np.empty((n_pairs_to_draw(n_pairs), pairs.shape[1]), np.uint64)
    for n in range(len(sample)):
        sample[n] = pairs[draw_below(state, n_pairs)]
    return minimal_sets(sample)


@jit
def _complement_of_non_key(
    agreeing: _Agreeing,
    rows: KeyRows,
    rules: KeyRules,
    columns: ColumnWords,
    level: int,
    bins: CodeArray,
    touched: CodeArray,
) -> tuple[ColumnWords, _Agreeing]:
    """Extend a level's set to a maximal one that is no key; return the columns outside of it."""
    complement = np.zeros((1, len(columns)), np.uint64)
    at = _level_bounds(agreeing, level)
    for j in range(len(rows.codes) - 1, -1, -1):
        if columns[j >> 6] & _column_bit(j):
            continue
        agreeing = _more_members(agreeing, at)
        to, n_ends, n_pairs = split_classes(rows.codes[j], agreeing.members, agreeing.ends, at, bins, touched)
        if (n_pairs if rules.by_pairs else to - at[1]) > rules.max_left:
            at = (at[1], to, at[3], n_ends)
        else:
            complement[0, j >> 6] |= _column_bit(j)
    return complement, agreeing


@jit
def add_until_key(rows: KeyRows, rules: KeyRules, columns: CountArray) -> tuple[int, int, int]:
    """Add columns one by one until they are a key; return how many, pairs of rows that agree, and rows not alone."""
    n_rows = rows.codes.shape[1]
    members, ends = np.empty(2 * n_rows, np.int32), np.empty(2 + n_rows, np.int32)
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    members[:n_rows] = np.arange(n_rows)
    ends[0] = n_rows
    n, n_ends, pairs, n_used = n_rows, 1, n_rows * (n_rows - 1) // 2, 0
    for column in columns:
        if (pairs if rules.by_pairs else n) <= rules.max_left:
            break
        to, last, pairs = split_classes(rows.codes[column], members, ends, (0, n, 0, n_ends), bins, touched)
        n, n_ends = _keep_last(members, ends, (n, to, n_ends, last))
        n_used += 1
    return n_used, pairs, n


@jit
def _keep_last(members: CodeArray, ends: CodeArray, at: tuple[int, int, int, int]) -> tuple[int, int]:
    """Move the newest classes to the front; return the numbers of their members and classes."""
    begin, to, first_end, last_end = at
    for i in range(to - begin):
        members[i] = members[begin + i]
    for c in range(last_end - first_end):
        ends[c] = ends[first_end + c] - begin
    return to - begin, last_end - first_end


@jit
def order_greedily(codes: CodeArray, widths: CountArray) -> CountArray:
    """Return all columns in the order in which each leaves the fewest pairs of rows that agree."""
    n_columns, n_rows = codes.shape
    members, ends = np.empty(2 * n_rows, np.int32), np.empty(2 + n_rows, np.int32)
    bins = np.zeros(widths.max() + 1, np.int32)
    touched = np.empty(min(widths.max(), n_rows) + 1, np.int32)
    members[:n_rows] = np.arange(n_rows)
    ends[0] = n_rows
    n, n_ends = n_rows, 1
    order = np.arange(n_columns)
    for i in range(n_columns):
        fewest, best = -1, i
        for k in range(i, n_columns):
            _, _, pairs = split_classes(codes[order[k]], members, ends, (0, n, 0, n_ends), bins, touched)
            if fewest < 0 or pairs < fewest:
                fewest, best = pairs, k
        order[i], order[best] = order[best], order[i]
        to, last, _ = split_classes(codes[order[i]], members, ends, (0, n, 0, n_ends), bins, touched)
        n, n_ends = _keep_last(members, ends, (n, to, n_ends, last))
    return order
