"""Keys: a depth-first search for all minimal column sets that tell rows apart, exactly or but for a few.

What no key can miss is *evidence*: a set of columns of which every key holds at least one. Two rows give the
columns in which they differ; a column set that is too coarse gives all other columns. Keys are the minimal sets that
hit all evidence. The search builds those from the evidence that it has, asks the rows about each, and draws new
evidence from the partition of a set that does not tell them apart (HPIValid: Birnick, Bläsius, Friedrich, Naumann,
Papenbrock, Schirneck, PVLDB 13(11), 2020; hitting sets: Murakami, Uno, Discrete Applied Mathematics 170, 2014).

A set that hits all evidence, and of which each column is the only one to hit some of it, is minimal for sure: without
that column it misses evidence. A branch whose column loses that can be left although more evidence may come: all sets
without the column were searched in an earlier branch. This needs the branches one after the other.

Sets of columns are words of 64 bits, as many as it takes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit

__all__ = ["KeyRows", "KeyRules", "figures", "first_evidence", "greedy", "search"]

ColumnWords = NDArray[np.uint64]

_FEW_PAIRS: Final = 400
"""So many pairs of rows are looked at one by one: then a set's whole subtree needs no other evidence."""
_SAMPLED_ROWS: Final = 1 << 16
_EXPONENT: Final = 0.3  # of the pairs of a partition: how many of them are drawn (HPIValid)
_ONE: Final = np.uint64(1)


class KeyRows(NamedTuple):
    """Rows by column and by row, and the widest columns' codes.

    codes : int32 (n_columns, n_rows), -1 is missing;  cells : int32 (n_rows, n_columns), the same
    widths : int64 (n_columns,), codes of each column, missing counted
    """

    codes: CodeArray
    cells: CodeArray
    widths: CountArray


class KeyRules(NamedTuple):
    """What a key is.

    by_pairs : whether pairs of rows that agree are counted, else the rows that are not alone
    most : how many of them a key may leave
    max_size : the most columns of a key
    seed : of the pairs that are drawn
    """

    by_pairs: bool
    most: int
    max_size: int
    seed: int


@jit
def _n_bits(word: np.uint64) -> int:
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    # Sums of bytes by shifts: a product would run over, of which Python warns without compilation.
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return int(np.int64(word & np.uint64(127)))


@jit
def _bit(column: int) -> np.uint64:
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


@jit
def _split(
    codes: CodeArray,
    members: CodeArray,
    ends: CodeArray,
    at: tuple[int, int, int, int],
    bins: CodeArray,
    touched: CodeArray,
) -> tuple[int, int, int]:
    """Split classes of two rows or more by one column; write what still has two rows or more behind them.

    at : where members begin and end, where the ends of classes begin and end
    bins : int32, as long as the column is wide, 0 between uses

    Returns where the new members and the new ends end, and the pairs of rows that share a class.
    """
    begin, filled, first_end, last_end = at
    n_ends, pairs = last_end, 0
    for c in range(first_end, last_end):
        end = ends[c]
        if end - begin == 2:
            a, b = members[begin], members[begin + 1]
            if codes[a] == codes[b]:
                members[filled], members[filled + 1] = a, b
                filled += 2
                ends[n_ends] = filled
                n_ends += 1
                pairs += 1
            begin = end
            continue
        n_touched = 0
        for i in range(begin, end):
            code = codes[members[i]] + 1
            if bins[code] == 0:
                touched[n_touched] = code
                n_touched += 1
            bins[code] += 1
        for t in range(n_touched):
            size = int(bins[touched[t]])
            if size == 1:
                bins[touched[t]] = -1
            else:
                bins[touched[t]] = filled
                filled += size
                ends[n_ends] = filled
                n_ends += 1
                pairs += size * (size - 1) // 2
        for i in range(begin, end):
            row = members[i]
            code = codes[row] + 1
            place = bins[code]
            if place >= 0:
                members[place] = row
                bins[code] = place + 1
        for t in range(n_touched):
            bins[touched[t]] = 0
        begin = end
    return filled, n_ends, pairs


@jit
def _difference(cells: CodeArray, a: int, b: int, out: ColumnWords) -> None:
    out[:] = np.uint64(0)
    for j in range(cells.shape[1]):
        if cells[a, j] != cells[b, j]:
            out[j >> 6] |= _bit(j)


@jit
def _random(state: ColumnWords, below: int) -> int:
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int(np.int64((x >> np.uint64(11)) % np.uint64(below)))


@jit
def _draw(
    cells: CodeArray, members: CodeArray, ends: CodeArray, at: tuple[int, int, int, int], pairs: int, state: ColumnWords
) -> ColumnWords:
    """Return the minimal difference sets of some pairs of rows that share a class, or of all where they are few."""
    begin, _, first_end, last_end = at
    n_words = (cells.shape[1] + 63) // 64
    n = 0
    if pairs <= _FEW_PAIRS:
        drawn = np.zeros((pairs, n_words), np.uint64)
        for c in range(first_end, last_end):
            for i in range(begin, ends[c]):
                for k in range(i + 1, ends[c]):
                    _difference(cells, members[i], members[k], drawn[n])
                    n += 1
            begin = ends[c]
        return _minimal(drawn)
    n_drawn = int(np.float64(pairs) ** _EXPONENT) + 1
    drawn = np.zeros((n_drawn, n_words), np.uint64)
    n_classes = last_end - first_end
    for n in range(n_drawn):
        # A class of every size has its turn: large ones differ in few columns, small ones in others.
        c = first_end + _random(state, n_classes)
        start = begin if c == first_end else ends[c - 1]
        size = ends[c] - start
        i = _random(state, size)
        k = (i + 1 + _random(state, size - 1)) % size
        _difference(cells, members[start + i], members[start + k], drawn[n])
    return _minimal(drawn)


@jit
def _minimal(sets: ColumnWords) -> ColumnWords:
    """Return the sets that hold no other one, the smallest first; each once, and none that is empty."""
    n, n_words = sets.shape
    sizes = np.zeros(n, np.int64)
    for i in range(n):
        for w in range(n_words):
            sizes[i] += _n_bits(sets[i, w])
    kept = np.empty_like(sets)
    n_kept = 0
    for i in np.argsort(sizes):
        if sizes[i] == 0:
            continue
        is_new = True
        for k in range(n_kept):
            holds = True
            for w in range(n_words):
                if kept[k, w] & ~sets[i, w]:
                    holds = False
                    break
            if holds:
                is_new = False
                break
        if is_new:
            kept[n_kept] = sets[i]
            n_kept += 1
    return kept[:n_kept].copy()


@jit
def first_evidence(rows: KeyRows, seed: int) -> ColumnWords:
    """Return difference sets of pairs that agree in a column, for every column, from evenly spaced rows."""
    n_columns, n_rows = rows.codes.shape
    step = (n_rows + _SAMPLED_ROWS - 1) // _SAMPLED_ROWS
    state = np.array([seed * 2 + 0x9E3779B97F4A7C1], dtype=np.uint64)
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    n_sampled = (n_rows + step - 1) // step
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    members, ends = np.empty(2 * n_sampled, np.int32), np.empty(n_sampled + 2, np.int32)
    evidence = np.zeros((0, (n_columns + 63) // 64), np.uint64)
    for j in range(n_columns):
        members[:n_sampled] = np.arange(0, n_rows, step)
        ends[0] = n_sampled
        filled, n_ends, pairs = _split(rows.codes[j], members, ends, (0, n_sampled, 0, 1), bins, touched)
        if pairs > 0:
            drawn = _draw(rows.cells, members, ends, (n_sampled, filled, 1, n_ends), pairs, state)
            evidence = np.concatenate((evidence, drawn))
    return _minimal(evidence)


@jit
def search(
    rows: KeyRows, rules: KeyRules, evidence: ColumnWords, pulse: CountArray
) -> tuple[ColumnWords, CountArray, ColumnWords, bool, bool]:
    """Find all minimal keys of at most so many columns, given evidence.

    pulse : int64 (3,), sets looked at, the number at which to stop, and the first columns done

    Returns
    -------
    The keys as words; for each its pairs of rows that agree and its rows that are not alone; the evidence with what
    was added; whether larger keys may exist; whether the search came to its end.
    """
    n_columns, n_rows = rows.codes.shape
    n_words = (n_columns + 63) // 64
    log, n_log = evidence.copy(), len(evidence)
    keys, n_keys = np.zeros((64, n_words), np.uint64), 0
    told = np.zeros((64, 2), np.int64)
    state = np.array([rules.seed * 2 + 0x2545F4914F6CDD1], dtype=np.uint64)
    # The partitions on the way down: their rows and the ends of their classes, one behind the other.
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    members, ends = np.empty(4 * n_rows + 4, np.int32), np.empty(2 * n_rows + 4, np.int32)
    members[:n_rows] = np.arange(n_rows)
    ends[0] = n_rows
    n_levels = n_columns + 2
    member_ends, end_ends, pairs = np.zeros((3, n_levels + 1), np.int64)
    member_ends[1], end_ends[1], pairs[0] = n_rows, 1, n_rows * (n_rows - 1) // 2
    split_to = 0
    # The evidence that a set hits once, by the column that does, or not at all: -1.
    alive, owners = np.zeros((max(64, 2 * n_log), n_words), np.uint64), np.zeros(max(64, 2 * n_log), np.int32)
    alive_ends, folded = np.zeros((2, n_levels + 1), np.int64)
    chosen = np.zeros((n_levels, n_words), np.uint64)
    path = np.zeros(n_levels, np.int64)
    free = np.zeros((n_levels, n_words), np.uint64)
    todo, n_todo, n_done = (
        np.zeros((n_levels, n_columns), np.int64),
        np.zeros(n_levels, np.int64),
        np.zeros(n_levels, np.int64),
    )
    is_open, is_settled = np.zeros((2, n_levels), np.bool_)
    shared = np.zeros((n_columns, n_words), np.uint64)
    common = np.zeros(n_words, np.uint64)
    is_cut = False
    for j in range(n_columns):
        free[0, j >> 6] |= _bit(j)
    level = 0
    while level >= 0:
        # New evidence: of branches before, or of this set itself.
        filled = alive_ends[level + 1]
        if folded[level] < n_log:
            alive = _more_words(alive, filled + n_log - folded[level])
            owners = _more_codes(owners, len(alive))
            for e in range(folded[level], n_log):
                n_hits = 0
                for w in range(n_words):
                    n_hits += _n_bits(log[e, w] & chosen[level, w])
                if n_hits > 1:
                    continue
                owner = -1
                if n_hits == 1:
                    for i in range(level):
                        if log[e, path[i] >> 6] & _bit(path[i]):
                            owner = path[i]
                alive[filled], owners[filled] = log[e], owner
                filled += 1
            folded[level], alive_ends[level + 1] = n_log, filled
        if not is_open[level]:
            if pulse[0] >= pulse[1]:
                return keys[:n_keys].copy(), told[:n_keys].copy(), log[:n_log].copy(), True, False
            pulse[0] += 1
            # Which evidence is not hit, and what each column of the set alone hits.
            for i in range(level):
                shared[path[i]] = ~np.uint64(0)
            common[:] = ~np.uint64(0)
            best, fewest = -1, n_columns + 1
            for e in range(alive_ends[level], filled):
                owner = owners[e]
                if owner >= 0:
                    for w in range(n_words):
                        shared[owner, w] &= alive[e, w]
                else:
                    n_free = 0
                    for w in range(n_words):
                        common[w] &= alive[e, w]
                        n_free += _n_bits(alive[e, w] & free[level, w])
                    if n_free < fewest:
                        best, fewest = e, n_free
            if best < 0:
                if not is_settled[level]:
                    while split_to < level:
                        size = member_ends[split_to + 1] - member_ends[split_to]
                        n_ends = end_ends[split_to + 1] - end_ends[split_to]
                        members = _more_codes(members, member_ends[split_to + 1] + size)
                        ends = _more_codes(ends, end_ends[split_to + 1] + n_ends + size // 2 + 1)
                        at = (
                            member_ends[split_to],
                            member_ends[split_to + 1],
                            end_ends[split_to],
                            end_ends[split_to + 1],
                        )
                        split_to += 1
                        member_ends[split_to + 1], end_ends[split_to + 1], pairs[split_to] = _split(
                            rows.codes[path[split_to - 1]], members, ends, at, bins, touched
                        )
                n_pairs = 0 if is_settled[level] else pairs[level]
                n_repeated = 0 if is_settled[level] else member_ends[level + 1] - member_ends[level]
                if (n_pairs if rules.by_pairs else n_repeated) <= rules.most:
                    if n_keys == len(keys):
                        keys = _more_words(keys, n_keys + 1)
                        more = np.zeros((len(keys), 2), np.int64)
                        more[:n_keys] = told
                        told = more
                    keys[n_keys] = chosen[level]
                    told[n_keys, 0], told[n_keys, 1] = n_pairs, n_repeated
                    n_keys += 1
                    level -= 1
                    split_to = min(split_to, level)
                    continue
                at = (member_ends[level], member_ends[level + 1], end_ends[level], end_ends[level + 1])
                if rules.most == 0:
                    found = _draw(rows.cells, members, ends, at, n_pairs, state)
                    is_settled[level] = n_pairs <= _FEW_PAIRS
                else:
                    # The columns outside a largest set that is no key.
                    found = np.zeros((1, n_words), np.uint64)
                    for j in range(n_columns - 1, -1, -1):
                        if chosen[level, j >> 6] & _bit(j):
                            continue
                        size = at[1] - at[0]
                        members = _more_codes(members, at[1] + size)
                        ends = _more_codes(ends, at[3] + (at[3] - at[2]) + size // 2 + 1)
                        to, n_ends, n_pairs = _split(rows.codes[j], members, ends, at, bins, touched)
                        if (n_pairs if rules.by_pairs else to - at[1]) > rules.most:
                            at = (at[1], to, at[3], n_ends)
                        else:
                            found[0, j >> 6] |= _bit(j)
                    if not found.any():
                        # Not even all columns are a key.
                        return keys[:0].copy(), told[:0].copy(), log[:n_log].copy(), False, True
                log = _more_words(log, n_log + len(found))
                log[n_log : n_log + len(found)] = found
                n_log += len(found)
                continue
            if level >= rules.max_size:
                is_cut = True
                level -= 1
                split_to = min(split_to, level)
                continue
            # Without columns that would leave one of the set with nothing to hit alone.
            for i in range(level):
                for w in range(n_words):
                    free[level, w] &= ~shared[path[i], w]
            is_last = level + 1 == rules.max_size
            n_todo[level] = n_done[level] = 0
            for j in range(n_columns):
                word, bit = j >> 6, _bit(j)
                if alive[best, word] & free[level, word] & bit:
                    free[level, word] &= ~bit
                    if is_last and not common[word] & bit:
                        is_cut = True
                    else:
                        todo[level, n_todo[level]] = j
                        n_todo[level] += 1
            is_open[level] = True
        if n_done[level] > 0:
            column = todo[level, n_done[level] - 1]
            free[level, column >> 6] |= _bit(column)
            if level == 0:
                pulse[2] += 1
        if n_done[level] == n_todo[level]:
            level -= 1
            split_to = min(split_to, level)
            continue
        column = todo[level, n_done[level]]
        n_done[level] += 1
        word, bit = column >> 6, _bit(column)
        begin = alive_ends[level]
        alive = _more_words(alive, 2 * filled - begin)
        owners = _more_codes(owners, len(alive))
        to = filled
        for e in range(begin, filled):
            if alive[e, word] & bit:
                if owners[e] < 0:
                    alive[to], owners[to] = alive[e], column
                    to += 1
            else:
                alive[to], owners[to] = alive[e], owners[e]
                to += 1
        path[level] = column
        chosen[level + 1], free[level + 1] = chosen[level], free[level]
        chosen[level + 1, word] |= bit
        is_settled[level + 1], is_open[level + 1] = is_settled[level], False
        level += 1
        folded[level], alive_ends[level], alive_ends[level + 1] = n_log, filled, to
    return keys[:n_keys].copy(), told[:n_keys].copy(), log[:n_log].copy(), is_cut, True


@jit
def figures(rows: KeyRows, rules: KeyRules, columns: CountArray) -> tuple[int, int, int]:
    """Add columns one by one until they are a key.

    Returns how many columns that took, all of them if they are none; how many pairs of rows agree in these, and how
    many rows are not alone.
    """
    n_rows = rows.codes.shape[1]
    members, ends = np.empty(2 * n_rows, np.int32), np.empty(2 + n_rows, np.int32)
    bins = np.zeros(rows.widths.max() + 1, np.int32)
    touched = np.empty(min(rows.widths.max(), n_rows) + 1, np.int32)
    members[:n_rows] = np.arange(n_rows)
    ends[0] = n_rows
    n, n_ends, pairs, n_used = n_rows, 1, n_rows * (n_rows - 1) // 2, 0
    for column in columns:
        if (pairs if rules.by_pairs else n) <= rules.most:
            break
        to, last, pairs = _split(rows.codes[column], members, ends, (0, n, 0, n_ends), bins, touched)
        n, n_ends = _keep_last(members, ends, (n, to, n_ends, last))
        n_used += 1
    return n_used, pairs, n


@jit
def _keep_last(members: CodeArray, ends: CodeArray, at: tuple[int, int, int, int]) -> tuple[int, int]:
    """Move what was split to the front; return how many members and classes that are."""
    begin, to, first_end, last_end = at
    for i in range(to - begin):
        members[i] = members[begin + i]
    for c in range(last_end - first_end):
        ends[c] = ends[first_end + c] - begin
    return to - begin, last_end - first_end


@jit
def greedy(codes: CodeArray, widths: CountArray) -> CountArray:
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
            _, _, pairs = _split(codes[order[k]], members, ends, (0, n, 0, n_ends), bins, touched)
            if fewest < 0 or pairs < fewest:
                fewest, best = pairs, k
        order[i], order[best] = order[best], order[i]
        to, last, _ = _split(codes[order[i]], members, ends, (0, n, 0, n_ends), bins, touched)
        n, n_ends = _keep_last(members, ends, (n, to, n_ends, last))
    return order
