"""Strict Mondrian: cut a class in two where that lowers the loss most, by profiles of the class and its sides."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype
from hushtable.kernels.class_profile import (
    BONUS_PER_ROUND_LEVEL,
    Axes as Axes,
    Profile,
    cut_preference,
    foresee_gains,
    interval_share,
    may_cut,
    profile_rows,
    share_of,
    sort_profile,
)
from hushtable.kernels.judge import Rules, passes_inline
from hushtable.kernels.rows import ROWS_PER_BLOCK, ByteArray, Rows as Rows, mark_sides, split_rows


class JudgedCut(NamedTuple):
    """What rules look at besides the number of records, and scratch for it, left and right."""

    is_judged: bool  # False where the number of records says all: nothing else is read then
    rules: Rules
    sensitive: CodeArray  # (n_sensitive, n_table_rows), shifted by one, in the table's order
    population: CountArray  # (n_table_rows,), its records, in the table's order; empty where no rule asks
    value_counts: CountArray  # (2, n_sensitive, widest), records of each sensitive value
    n_distinct: CountArray  # (2, n_sensitive), distinct known values
    n_population: CountArray  # (2,), records of the population
    order: CodeArray  # (n_rows,), rows of a class by the profile of a column
    position_of_code: CodeArray  # (widest column,), the position of a code in that profile
    n_moved: CountArray  # (1,), how many of those rows are on the left; -1 between columns
    nodes: FloatArray  # (widest table of a rule,), as `hushtable.kernels.judge.passes` takes it


class CutNode(NamedTuple):
    """A class to be cut: a run of rows, and the records in it."""

    start: int
    end: int
    size: int


@jit_inner
def passes_on_both_sides(
    rows: Rows,
    checker: JudgedCut,
    entries: NDArray[Any],
    node: CutNode,
    j: int,
    length: int,
    n_whole: int,
    n_left: int,
) -> bool:
    """Tell whether both sides of a cut of column j satisfy every rule; shorter cuts of a column must come first."""
    if checker.n_moved[0] < 0:
        _start_sweep(rows, checker, entries, node, j)
    until = n_left - n_whole
    if length > 0:
        until += entries[length - 1].key
    for i in range(checker.n_moved[0], until):
        _add_to_side(rows, checker, checker.order[i], 0, 1)
        _add_to_side(rows, checker, checker.order[i], 1, -1)
    checker.n_moved[0] = until
    for side in range(2):
        size = node.size - n_left if side else n_left
        if not passes_inline(
            checker.rules,
            size,
            checker.n_population[side],
            checker.value_counts[side],
            checker.n_distinct[side],
            checker.nodes,
        ):
            return False
    return True


@jit_inner
def _start_sweep(rows: Rows, checker: JudgedCut, entries: NDArray[Any], node: CutNode, j: int) -> None:
    """Put all rows on the right side, in the order in which cuts take them; a key is how many come up to its entry."""
    for position in range(entries.size):
        entries[position].key = 0
        checker.position_of_code[entries[position].code] = position
    for i in range(node.start, node.end):
        position = checker.position_of_code[rows.codes[i, j]]
        if position + 1 < entries.size:
            entries[position + 1].key += 1
        _add_to_side(rows, checker, i, 1, 1)
    for position in range(1, entries.size):
        entries[position].key += entries[position - 1].key
    for i in range(node.start, node.end):
        position = checker.position_of_code[rows.codes[i, j]]
        checker.order[entries[position].key] = i
        # In the end every start has moved to the end of its run.
        entries[position].key += 1
    checker.n_moved[0] = 0


@jit_inner
def end_sweep(rows: Rows, checker: JudgedCut, node: CutNode) -> None:
    """Clear the sensitive counts of a column's cuts, touching only values that the class holds."""
    if checker.n_moved[0] < 0:
        return
    for i in range(node.start, node.end):
        for s in range(checker.n_distinct.shape[1]):
            value = checker.sensitive[s, rows.order[i]]
            checker.value_counts[0, s, value] = 0
            checker.value_counts[1, s, value] = 0
    checker.n_distinct[:] = 0
    checker.n_population[:] = 0
    checker.n_moved[0] = -1


@jit_inner
def _add_to_side(rows: Rows, checker: JudgedCut, i: int, side: int, sign: int) -> None:
    """Add a row's sensitive values and population to a side, or, with sign -1, take them away."""
    row = rows.order[i]
    count = sign * (rows.words[i, rows.words.shape[1] - 1] if rows.is_weighted else 1)
    if checker.population.size > 0:
        checker.n_population[side] += sign * checker.population[row]
    for s in range(checker.n_distinct.shape[1]):
        value = checker.sensitive[s, row]
        before = checker.value_counts[side, s, value]
        checker.value_counts[side, s, value] = before + count
        if value > 0:
            checker.n_distinct[side, s] += int(before + count > 0) - int(before > 0)


_ABOVE_ALL_CODES = 2**31 - 1
_MOST_BALANCED = 0.841  # no less than the fourth root of a half, the factor of a cut into halves
CUTS_PER_BYTE: Final = 4
"""Cuts whose sides are marked together: two bits of a byte each."""

CUT: Final = record_dtype(
    ("score", np.float64),
    ("column", np.int64),
    ("length", np.int64),  # of the prefix of the profile that goes left
    ("n_dealt", np.int64),  # rows of the next entry that go left too
    ("n_left", np.int64),  # records
    ("left", np.float64),  # the share of its column that the left side publishes
    ("right", np.float64),
)


class Choice(NamedTuple):
    """The best cuts so far, and what is looked at to compare them."""

    cuts: NDArray[Any]  # CUT (n_rescored,), falling
    spans: CountArray  # (n_columns, 5, 8): ends, units, characters and shares listed, on both sides of four cuts
    marks: ByteArray  # (all codes,), zero between uses
    sides: ByteArray  # (all codes,), zero between uses
    block: ByteArray  # (ROWS_PER_BLOCK,)
    cut_columns: CountArray  # uint64 (2, 4), columns that are cut, and where they begin
    open_columns: CountArray  # uint64 (2, n_columns), columns that are marked, and where they begin


class Options(NamedTuple):
    """What to look for, and for how long."""

    min_size: int  # records that every class needs
    n_nodes: int = 2**62  # after so many classes a search pauses
    n_rows: int = 2**62  # after classes of so many rows, too


@jit_inner
def best_by_gain(
    rows: Rows, axes: Axes, checker: JudgedCut, options: Options, profile: Profile, choice: Choice, node: CutNode
) -> int:
    """Find the allowable cut that lowers the loss most; return its position in ``choice.cuts``, or -1."""
    n_cuts = rank_by_gain(rows, axes, checker, options, profile, choice, node)
    return n_cuts - 1 if n_cuts < 2 else _best_of_all(rows, axes, profile, choice, node)


@jit_inner
def rank_by_gain(
    rows: Rows, axes: Axes, checker: JudgedCut, options: Options, profile: Profile, choice: Choice, node: CutNode
) -> int:
    """Put the allowable cuts that gain most in their own column into ``choice.cuts``; return how many there are."""
    size, min_size, cuts = node.size, options.min_size, choice.cuts
    last = cuts.size - 1
    for i in range(cuts.size):
        cuts[i].score = -1.0
    for j in range(axes.columns.size):
        n_codes = profile.columns[j].n_codes
        if n_codes == 1:
            continue
        axis, share, begin = axes.columns[j], profile.columns[j].share, axes.columns[j].begin
        is_tree = axis.is_ordered and axis.depth > 0
        most_preferred = 1.0 + BONUS_PER_ROUND_LEVEL * axis.n_rounds
        if axis.depth == 0:
            most_preferred *= _MOST_BALANCED
        sort_profile(axes, profile, j)
        if is_tree:
            foresee_gains(axes, profile, j, min_size)
        entries = profile.entries[begin : begin + n_codes]
        lowest = axes.places[begin + entries[0].code].position
        highest = axes.places[begin + entries[n_codes - 1].code].position
        n_left = 0
        for length in range(1, n_codes):
            n_left += entries[length - 1].records
            n_right = size - n_left
            if n_left < min_size:
                continue
            if n_right < min_size:
                break
            if not axis.is_plain:
                left_share, right_share = entries[length - 1].left, entries[length].right
            elif axis.is_ordered:
                left_share = axes.places[begin + entries[length - 1].code].position - lowest
                right_share = highest - axes.places[begin + entries[length].code].position
                if entries[0].code == 0:
                    # Missing beside others: the cell becomes "*".
                    left_share = 1.0 if length > 1 else 0.0
            else:
                left_share = length / axis.domain if length > 1 else 0.0
                right_share = (n_codes - length) / axis.domain if n_codes - length > 1 else 0.0
            score = axis.weight * (size * share - n_left * left_share - n_right * right_share)
            if score >= 0 and score * most_preferred <= cuts[last].score:
                continue
            if axis.depth == 0:
                # A mild preference for cuts into halves.
                score *= math.sqrt(math.sqrt(min(n_left, n_right) / size))
            if axis.n_rounds > 0:
                score *= cut_preference(axes, j, entries, length)
            if score <= cuts[last].score or (
                is_tree and not may_cut(axes, j, profile.columns[j].level, entries, length)
            ):
                continue
            if checker.is_judged and not passes_on_both_sides(rows, checker, entries, node, j, length, n_left, n_left):
                continue
            _insert_cut(cuts, score, j, length, n_left, left_share, right_share)
        if checker.is_judged:
            end_sweep(rows, checker, node)
    n_cuts = 0
    while n_cuts < cuts.size and cuts[n_cuts].score >= 0:
        n_cuts += 1
    return n_cuts


@jit_inner
def _insert_cut(
    cuts: NDArray[Any], score: float, j: int, length: int, n_left: int, left_share: float, right_share: float
) -> None:
    """Insert a cut among the best; an earlier one keeps its rank in a tie."""
    rank = cuts.size - 1
    while rank > 0 and cuts[rank - 1].score < score:
        cut, before = cuts[rank], cuts[rank - 1]
        cut.score, cut.column, cut.length = before.score, before.column, before.length
        cut.n_left, cut.left, cut.right = before.n_left, before.left, before.right
        rank -= 1
    cut = cuts[rank]
    cut.score, cut.column, cut.length, cut.n_dealt = score, j, length, 0
    cut.n_left, cut.left, cut.right = n_left, left_share, right_share


@jit_inner
def _best_of_all(rows: Rows, axes: Axes, profile: Profile, choice: Choice, node: CutNode) -> int:
    """Return the ranked cut that gains most over all columns."""
    cuts, varying = choice.cuts, profile.varying[:, : varying_columns(axes, profile)]
    best, best_gain = 0, -1.0
    for first in range(0, cuts.size, CUTS_PER_BYTE):
        last = first
        while last < min(first + CUTS_PER_BYTE, cuts.size) and cuts[last].score >= 0:
            last += 1
        if last == first:
            break
        n_cut = _mark_left_codes(axes, profile, choice, first, last)
        cut, all_sides, n_open = choice.cut_columns[:, :n_cut], (1 << 2 * (last - first)) - 1, varying.shape[1]
        for c in range(n_open):
            choice.open_columns[0, c], choice.open_columns[1, c] = varying[0, c], varying[1, c]
        for begin in range(node.start, node.end, ROWS_PER_BLOCK):
            n_open = _keep_open_columns(axes, profile, choice, n_open, (first, last))
            if n_open == 0:
                break
            run = (begin, min(begin + ROWS_PER_BLOCK, node.end))
            columns = (cut, choice.open_columns[:, :n_open])
            mark_sides(rows, run, columns, choice.sides, all_sides, choice.block, choice.marks)
        for i in range(first, last):
            begin = axes.columns[cuts[i].column].begin
            for position in range(begin, begin + cuts[i].length):
                choice.sides[begin + profile.entries[position].code] = 0
        best, best_gain = compare_cuts(axes, profile, choice, varying, (first, last), node.size, (best, best_gain))
    return best


@jit_inner
def _keep_open_columns(axes: Axes, profile: Profile, choice: Choice, n_open: int, run: tuple[int, int]) -> int:
    """Keep the columns whose marks may still change what they span on some side; return how many there are.

    A large class has all its codes on all sides, or an interval its ends, after a few of its rows. The sides of the
    cuts of a column itself are known.
    """
    open_columns, n_kept = choice.open_columns, 0
    for c in range(n_open):
        j, begin = int(open_columns[0, c]), int(open_columns[1, c])
        needed = 0
        for i in range(run[0], run[1]):
            needed |= 0 if choice.cuts[i].column == j else 3 << 2 * (i - run[0])
        n_codes, axis = profile.columns[j].n_codes, axes.columns[j]
        step = n_codes - 1 if axis.is_plain and axis.is_ordered else 1
        position = 0
        while position < n_codes and choice.marks[begin + profile.entries[begin + position].code] & needed == needed:
            position += step
        if position < n_codes:
            open_columns[0, n_kept], open_columns[1, n_kept] = j, begin
            n_kept += 1
    return n_kept


@jit_inner
def varying_columns(axes: Axes, profile: Profile) -> int:
    """List in the profile the columns of which a class holds several codes, and where they begin; count them."""
    n_varying = 0
    for j in range(axes.columns.size):
        if profile.columns[j].n_codes > 1:
            profile.varying[0, n_varying], profile.varying[1, n_varying] = j, axes.columns[j].begin
            n_varying += 1
    return n_varying


@jit_inner
def compare_cuts(
    axes: Axes,
    profile: Profile,
    choice: Choice,
    varying: CountArray,
    run: tuple[int, int],
    size: int,
    best_so_far: tuple[int, float],
) -> tuple[int, float]:
    """Compare cuts whose sides are marked with the best one before them; return the best, and what it gains."""
    (first, last), (best, best_gain) = run, best_so_far
    for c in range(varying.shape[1]):
        j, begin = int(varying[0, c]), int(varying[1, c])
        entries = profile.entries[begin : begin + profile.columns[j].n_codes]
        _span_sides(axes, j, entries, choice.marks[begin:], choice.spans[j], 2 * (last - first))
    for i in range(first, last):
        cut = choice.cuts[i]
        score = _total_gain(axes, profile, choice.spans, cut, i - first, size)
        j, begin = cut.column, axes.columns[cut.column].begin
        score *= cut_preference(axes, j, profile.entries[begin:], cut.length)
        if score > best_gain:
            best, best_gain = i, score
    return best, best_gain


@jit_inner
def _mark_left_codes(axes: Axes, profile: Profile, choice: Choice, first: int, last: int) -> int:
    """Mark the codes that each cut sends left; return how many columns are cut."""
    n_cut, cut_columns = 0, choice.cut_columns
    for i in range(first, last):
        j, left_bit = choice.cuts[i].column, 1 << 2 * (i - first)
        begin = axes.columns[j].begin
        for position in range(begin, begin + choice.cuts[i].length):
            choice.sides[begin + profile.entries[position].code] |= left_bit
        is_new = True
        for c in range(n_cut):
            is_new &= int(cut_columns[0, c]) != j
        if is_new:
            cut_columns[0, n_cut], cut_columns[1, n_cut] = j, begin
            n_cut += 1
    return n_cut


@jit_inner
def _span_sides(axes: Axes, j: int, entries: NDArray[Any], marks: ByteArray, spans: CountArray, n_sides: int) -> None:
    """Set what a column spans on each of eight sides, used or not, from its marks, and clear those."""
    axis, n_codes, all_sides = axes.columns[j], entries.size, (1 << n_sides) - 1
    code_info = axes.places[axis.begin :]
    low, high, n_units, n_chars, listed_shares = spans[0], spans[1], spans[2], spans[3], spans[4]
    low[:] = high[:] = n_units[:] = n_chars[:] = listed_shares[:] = 0
    if axis.is_plain and axis.is_ordered:
        # By code: from either end until all sides are seen.
        seen_sides, i = 0, 0
        while seen_sides != all_sides and i < n_codes:
            code = entries[i].code
            sides = int(marks[code])
            fresh = sides & ~seen_sides
            if fresh != 0:
                for side in range(8):
                    low[side] += (fresh >> side & 1) * code
            seen_sides |= sides
            i += 1
        seen_sides, i = 0, n_codes - 1
        while seen_sides != all_sides and i >= 0:
            code = entries[i].code
            sides = int(marks[code])
            fresh = sides & ~seen_sides
            if fresh != 0:
                for side in range(8):
                    high[side] += (fresh >> side & 1) * code
            seen_sides |= sides
            i -= 1
    elif axis.is_plain:
        for i in range(n_codes):
            sides = int(marks[entries[i].code])
            for side in range(8):
                n_units[side] += sides >> side & 1
    else:
        low[:] = _ABOVE_ALL_CODES
        seen_sides, last = 0, -1
        for i in range(n_codes):
            code = entries[i].code
            sides = int(marks[code])
            unit = code_info[code].unit
            if unit != last:
                seen_sides, last = 0, unit
            fresh = sides & ~seen_sides if axis.most_units > 0 else 0
            seen_sides |= sides
            chars, share = code_info[unit].chars, code_info[unit].listed
            for side in range(8):
                is_held, is_fresh = sides >> side & 1, fresh >> side & 1
                low[side] = min(low[side], code + (1 - is_held) * _ABOVE_ALL_CODES)
                high[side] = max(high[side], is_held * code)
                n_units[side] += is_fresh
                n_chars[side] += is_fresh * chars
                listed_shares[side] += is_fresh * share
    for i in range(n_codes):
        marks[entries[i].code] = 0


@jit_inner
def _total_gain(axes: Axes, profile: Profile, spans: CountArray, cut: Any, cut_index: int, size: int) -> float:
    """Return what a marked cut gains in all columns, per bit of entropy if its own column has a hierarchy."""
    n_left = cut.n_left
    n_right = size - n_left
    total = 0.0
    for j in range(axes.columns.size):
        if profile.columns[j].n_codes == 1:
            continue
        axis, gain = axes.columns[j], size * profile.columns[j].share
        for side in range(2):
            bit = 2 * cut_index + side
            of = spans[j]
            if j == cut.column:
                share = cut.right if side else cut.left
            elif axis.is_plain and axis.is_ordered:
                share = interval_share(axes, axis.begin, of[0, bit], of[1, bit])
            else:
                share = share_of(axes, j, of[0, bit], of[1, bit], of[2, bit], of[3, bit], of[4, bit])
            gain -= (n_right if side else n_left) * share
        total += axis.weight * gain
    if axes.columns[cut.column].is_ordered and axes.columns[cut.column].depth > 0 and n_left > 0 and n_right > 0:
        total /= (n_left * math.log2(size / n_left) + n_right * math.log2(size / n_right)) / size
    return total


@jit_inner
def best_by_median(
    rows: Rows,
    axes: Axes,
    checker: JudgedCut,
    options: Options,
    profile: Profile,
    choice: Choice,
    node: CutNode,
    deals_ties: bool,
) -> int:
    """Take the widest column that has an allowable cut, and of its cuts the one nearest the median.

    Relaxed Mondrian (``deals_ties``) halves exactly and deals the records of the median to both sides; rows count 1.
    """
    size, cut = node.size, choice.cuts[0]
    tried_width, tried = math.inf, -1
    for _ in range(axes.columns.size):
        # The next in falling width, of equal ones the first.
        width, j = -1.0, -1
        for candidate in range(axes.columns.size):
            wide = axes.columns[candidate].weight * profile.columns[candidate].share
            is_next = wide < tried_width or (wide == tried_width and candidate > tried)
            if is_next and wide > width:
                width, j = wide, candidate
        tried_width, tried = width, j
        axis = axes.columns[j]
        begin, n_codes = axis.begin, profile.columns[j].n_codes
        sort_profile(axes, profile, j)
        entries = profile.entries[begin : begin + n_codes]
        is_tree, halves = axis.is_ordered and axis.depth > 0, deals_ties and axis.depth == 0
        n_left, nearest = 0, 2 * size
        if halves and n_codes > 1 and size // 2 >= options.min_size:
            n_short, length = 0, 0
            while n_short + entries[length].records <= size // 2:
                n_short += entries[length].records
                length += 1
            is_allowed = True
            if checker.is_judged:
                is_allowed = passes_on_both_sides(rows, checker, entries, node, j, length, n_short, size // 2)
                end_sweep(rows, checker, node)
            if is_allowed:
                cut.column, cut.length, cut.n_dealt, cut.n_left = j, length, size // 2 - n_short, size // 2
                return 0
        for length in range(1, n_codes):
            n_left += entries[length - 1].records
            off = abs(2 * n_left - size)
            if n_left < options.min_size or size - n_left < options.min_size or off >= nearest:
                continue
            if is_tree and not may_cut(axes, j, profile.columns[j].level, entries, length):
                continue
            if checker.is_judged and not passes_on_both_sides(rows, checker, entries, node, j, length, n_left, n_left):
                continue
            nearest = off
            cut.column, cut.length, cut.n_dealt, cut.n_left = j, length, 0, n_left
        if checker.is_judged:
            end_sweep(rows, checker, node)
        if nearest < 2 * size:
            return 0
    return -1


DONE, PAUSED, NEEDS_ROOM = 0, 1, 2

# Where `Tree.cursor` keeps its counters.
STACKED, NODES, LEAVES, MEMBERS = 0, 1, 2, 3


class SplitTree(NamedTuple):
    """The cuts in depth-first order, left child first; column -1 is a finished class."""

    columns: CodeArray  # (n_nodes,), the cut column
    lengths: CodeArray  # (n_nodes,), its left side's length in ``members``
    members: CodeArray  # the left sides' shifted codes, one after the other
    leaf_starts: CodeArray  # (n_classes + 1,), runs of rows
    cursor: CountArray  # (4,), counters


class Work(NamedTuple):
    """Scratch of a search; nothing in it outlives a class but the stack."""

    stack: CountArray  # (capacity, 3 + 2 * n_columns), runs to be cut: start, end, records, and each column's bounds
    profile: Profile
    choice: Choice
    spare: Rows  # room for one class


@jit_bare
def grow_tree(
    rows: Rows,
    axes: Axes,
    checker: JudgedCut,
    by_gain: bool,
    deals_ties: bool,
    options: Options,
    work: Work,
    tree: SplitTree,
) -> int:
    """Cut classes until all are finished or it is time to pause; return DONE, PAUSED or NEEDS_ROOM.

    Cuts are chosen by the gain rule, or, where ``by_gain`` is False, by the median rule, which may deal ties.
    """
    cursor, stack, cuts, spare = tree.cursor, work.stack, work.choice.cuts, work.spare
    last = cursor[NODES] + options.n_nodes
    n_looked = 0
    while cursor[STACKED] > 0:
        if cursor[NODES] >= last or n_looked >= options.n_rows:
            return PAUSED
        if cursor[STACKED] == len(stack):
            return NEEDS_ROOM
        top = cursor[STACKED] - 1
        start, end, size = stack[top, 0], stack[top, 1], stack[top, 2]
        n_looked += end - start
        best = -1
        if size >= 2 * options.min_size and end - start > 1:
            profile_rows(rows, axes, work.profile, start, end, stack[top, 3:])
            node = CutNode(start, end, size)
            if by_gain:
                best = best_by_gain(rows, axes, checker, options, work.profile, work.choice, node)
            else:
                best = best_by_median(rows, axes, checker, options, work.profile, work.choice, node, deals_ties)
        node_index = cursor[NODES]
        if best < 0:
            cursor[STACKED] -= 1
            cursor[NODES] += 1
            tree.columns[node_index] = -1
            tree.lengths[node_index] = 0
            cursor[LEAVES] += 1
            tree.leaf_starts[cursor[LEAVES]] = end
            continue
        column, length, n_left, n_dealt = cuts[best].column, cuts[best].length, cuts[best].n_left, cuts[best].n_dealt
        if cursor[MEMBERS] + length > tree.members.size:
            return NEEDS_ROOM
        cursor[NODES] += 1
        tree.columns[node_index] = column
        tree.lengths[node_index] = length
        axis = axes.columns[column]
        entries, goes_left = work.profile.entries[axis.begin :], work.choice.sides[axis.begin :]
        for i in range(length):
            code = entries[i].code
            tree.members[cursor[MEMBERS] + i] = code
            goes_left[code] = 1
        cursor[MEMBERS] += length
        dealt = entries[length].code if n_dealt > 0 else -1
        middle = split_rows(rows, start, end, column, goes_left, (dealt, n_dealt), spare)
        for i in range(length):
            goes_left[entries[i].code] = 0
        for i in range(stack.shape[1]):
            stack[top + 1, i] = stack[top, i]
        stack[top, 0], stack[top, 2] = middle, size - n_left
        stack[top + 1, 1], stack[top + 1, 2] = middle, n_left
        if axis.is_ordered and axis.depth == 0 and n_dealt == 0:
            stack[top + 1, 4 + 2 * column] = entries[length - 1].code
            stack[top, 3 + 2 * column] = entries[length].code
        cursor[STACKED] += 1
    return DONE


@jit_bare
def finish_tree(stack: CountArray, tree: SplitTree) -> None:
    """Make classes of whatever is still stacked."""
    cursor = tree.cursor
    while cursor[STACKED] > 0:
        cursor[STACKED] -= 1
        tree.columns[cursor[NODES]] = -1
        tree.lengths[cursor[NODES]] = 0
        cursor[NODES] += 1
        cursor[LEAVES] += 1
        tree.leaf_starts[cursor[LEAVES]] = stack[cursor[STACKED], 1]
