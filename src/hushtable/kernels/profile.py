"""What a class holds of every column: its distinct codes, their records, and the share they publish.

The *profile* of a column lists its distinct codes in the order in which cuts take
them from the right side to the left: by code where the column is ordered, by
falling frequency where it is not. Where a class publishes a node of a tree they come
child by child, the most frequent child first: those of a hierarchy are only cut apart
between children. Codes are shifted by one here: 0 is missing, and comes first where
a column is ordered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit
from hushtable.kernels.shares import Axes, cut_level, price_prefixes, share_of

__all__ = ["ROUNDER", "Axes", "Points", "Work", "foresee", "gain_of_cut", "may_cut", "preference", "profile"]

ROUNDER = 0.01  # of its gain: by how much a cut may fall short that falls between wider units, level by level


class Points(NamedTuple):
    """The distinct rows.

    codes : int32 (n_rows, n_columns), shifted by one, a row's codes side by side
    counts : int64 (n_rows,)
    sensitive : int32 (n_sensitive, n_rows), shifted by one
    population : int64 (n_rows,), records of the population; empty where no rule asks.
        With a population a row's count may be 0.
    """

    codes: CodeArray
    counts: CountArray
    sensitive: CodeArray
    population: CountArray = np.empty(0, dtype=np.int64)


class Work(NamedTuple):
    """Scratch of the search; nothing in it outlives a class but ``order``, ``stack`` and ``stamps``."""

    order: CodeArray  # (n_rows,) the rows, class by class
    scratch: CountArray  # (n_rows,)
    stack: CodeArray  # (n_rows + 1, 2) runs of `order` still to be cut
    codes: CodeArray  # profile: distinct codes, at the column's offset
    records: CountArray  # profile: records of each
    n_codes: CountArray  # (n_columns,) profile: how many
    shares: FloatArray  # (n_columns,) published share of the class
    left: FloatArray  # profile: published share of the entries up to each
    right: FloatArray  # profile: published share of the entries from each on
    levels: CountArray  # (n_columns,) profile: the level of the children that are cut apart
    run_ends: CountArray  # profile: where the rows of each end, once sorted
    bins: CountArray  # (all codes,) zero between uses
    low: CodeArray  # (n_columns,) lowest code in the class
    high: CodeArray  # (n_columns,) highest code in the class
    counted: CountArray  # (n_columns,) columns counted in histograms
    side: CodeArray  # (widest column,) zero between uses
    rank: CodeArray  # (widest column,) place of a code in the profile
    stamps: CountArray  # (2, all codes) when a code was last seen on a side
    spans: CountArray  # (2, n_columns, 5) lowest and highest code, units, characters, shares listed on a side
    held: CountArray  # (2, n_sensitive, widest) records of each sensitive value, left and right
    n_held: CountArray  # (2, n_sensitive) distinct known values, left and right
    population: CountArray  # (2,) records of the population, left and right
    scores: FloatArray  # (n_rescored,) best cuts so far, falling
    cuts: CountArray  # (n_rescored, 3) their column, prefix length, and rows dealt of the next entry


@jit
def profile(points: Points, axes: Axes, work: Work, start: int, end: int) -> None:
    """Profile all columns of the class that is the run ``start`` to ``end`` of ``work.order``.

    A column is counted in a histogram where its codes lie close together, and
    sorted where there are far more codes than rows, which touches less memory.
    """
    n_columns = axes.domain.size
    low, high = work.low, work.high
    low[:] = high[:] = points.codes[work.order[start]]
    for i in range(start + 1, end):
        codes = points.codes[work.order[i]]
        for j in range(n_columns):
            low[j], high[j] = min(low[j], codes[j]), max(high[j], codes[j])
    n_counted = 0
    for j in range(n_columns):
        work.n_codes[j] = 1
        work.codes[axes.offsets[j]] = low[j]
        if low[j] < high[j]:
            if high[j] - low[j] < 4 * (end - start) + 64:
                work.counted[n_counted] = j
                n_counted += 1
            else:
                _profile_by_sorting(points, axes, work, j, start, end)
    for i in range(start, end):
        row = work.order[i]
        codes, count = points.codes[row], points.counts[row]
        for c in range(n_counted):
            j = work.counted[c]
            work.bins[axes.offsets[j] + codes[j]] += count
    if points.population.size > 0:
        _mark_empty(points, axes, work, start, end, n_counted)
    for c in range(n_counted):
        _collect(axes, work, work.counted[c])
    for j in range(n_columns):
        work.shares[j] = 0.0
        if work.n_codes[j] > 1 and (not axes.is_ordered[j] or axes.depths[j] > 0):
            _sort(axes, work, j)
    price_prefixes(axes, work.codes, work.n_codes, work.left, False)
    price_prefixes(axes, work.codes, work.n_codes, work.right, True)
    for j in range(n_columns):
        if work.n_codes[j] > 1:
            work.shares[j] = work.left[axes.offsets[j] + work.n_codes[j] - 1]


@jit
def _mark_empty(points: Points, axes: Axes, work: Work, start: int, end: int, n_counted: int) -> None:
    """Mark codes that only rows without records have: a cut has to send those to a side too."""
    for i in range(start, end):
        row = work.order[i]
        if points.counts[row] == 0:
            for c in range(n_counted):
                j = work.counted[c]
                bin_ = axes.offsets[j] + points.codes[row, j]
                if work.bins[bin_] == 0:
                    work.bins[bin_] = -1


@jit
def _collect(axes: Axes, work: Work, j: int) -> None:
    """List the codes that a histogram counted, and leave it zero."""
    begin = axes.offsets[j]
    n_found = 0
    for code in range(work.low[j], work.high[j] + 1):
        if work.bins[begin + code] != 0:
            work.codes[begin + n_found] = code
            work.records[begin + n_found] = max(work.bins[begin + code], 0)
            work.bins[begin + code] = 0
            n_found += 1
    work.n_codes[j] = n_found


@jit
def _profile_by_sorting(points: Points, axes: Axes, work: Work, j: int, start: int, end: int) -> None:
    begin = axes.offsets[j]
    n_found = 0
    keys = work.scratch[start:end]
    for i in range(start, end):
        keys[i - start] = (np.int64(points.codes[work.order[i], j]) << 32) | work.order[i]
    keys.sort()
    for key in keys:
        code, row = key >> 32, key & 0xFFFFFFFF
        if n_found == 0 or work.codes[begin + n_found - 1] != code:
            work.codes[begin + n_found] = code
            work.records[begin + n_found] = 0
            n_found += 1
        work.records[begin + n_found - 1] += points.counts[row]
    work.n_codes[j] = n_found


@jit
def _sort(axes: Axes, work: Work, j: int) -> None:
    """Sort a profile by falling records; where it publishes a node, by those of the children."""
    begin, n_codes = axes.offsets[j], work.n_codes[j]
    codes, records = work.codes[begin : begin + n_codes], work.records[begin : begin + n_codes]
    keys = work.run_ends[begin : begin + n_codes]
    keys[:] = records
    is_list = not axes.is_ordered[j] and n_codes <= axes.most[j, 0]
    if is_list:
        n_chars = 0
        for code in codes:
            n_chars += axes.chars[begin + code]
        is_list = n_chars <= axes.most[j, 1]
    if axes.depths[j] > 0 and not is_list:
        first = int(codes[0] == 0)
        work.levels[j] = cut_level(axes.nodes, begin + codes[first], begin + codes[-1])
        _add_up(axes.nodes[work.levels[j], begin:], codes, keys)
    if n_codes <= 48:
        for i in range(1, n_codes):
            code, count, key = codes[i], records[i], keys[i]
            place = i
            while place > 0 and keys[place - 1] < key:
                codes[place], records[place], keys[place] = codes[place - 1], records[place - 1], keys[place - 1]
                place -= 1
            codes[place], records[place], keys[place] = code, count, key
    else:
        # Stable: ties stay in code order, and the codes of a child together.
        order = np.argsort(-keys, kind="mergesort")
        codes[:] = codes[order]
        records[:] = records[order]


@jit
def _add_up(nodes: CodeArray, codes: CodeArray, keys: CountArray) -> None:
    """Give every code, ascending, the sum of the keys of its node."""
    first = 0
    for i in range(1, codes.size + 1):
        if i == codes.size or nodes[codes[i]] != nodes[codes[first]]:
            keys[first:i] = keys[first:i].sum()
            first = i


@jit
def gain_of_cut(axes: Axes, work: Work, column: int, length: int, n_left: int, n_right: int) -> float:
    """Return what a cut after a prefix of a column spares in all columns; the others' spans on its sides are set."""
    begin, c, total = axes.offsets[column], 0, 0.0
    for j in range(axes.domain.size):
        if work.n_codes[j] == 1:
            continue
        gain = (n_left + n_right) * work.shares[j]
        for side in range(2):
            if j == column:
                share = work.right[begin + length] if side else work.left[begin + length - 1]
            else:
                low, high, n_units = work.spans[side, c, 0], work.spans[side, c, 1], work.spans[side, c, 2]
                share = share_of(axes, j, low, high, n_units, work.spans[side, c, 3], work.spans[side, c, 4])
            gain -= (n_right if side else n_left) * share
        c += int(j != column)
        total += axes.weights[j] * gain
    return total


@jit
def foresee(axes: Axes, work: Work, j: int, min_size: int) -> None:
    """Lower the prices of a hierarchical column's prefixes, and of what follows them, by what later cuts will gain.

    A run of several children still publishes the node over all of them, so that the first cuts between them
    gain nothing. What cutting all children apart will gain, of those that are large enough for a class, is
    therefore credited to the cuts that lead there, in proportion to the entropy of the children they take away.
    """
    begin, n_codes = axes.offsets[j], work.n_codes[j]
    codes, records = work.codes[begin : begin + n_codes], work.records[begin : begin + n_codes]
    nodes, shares = axes.nodes[work.levels[j], begin:], axes.shares[work.levels[j], begin:]
    entropy, n, n_child = 0.0, records.sum(), 0
    for i in range(n_codes):
        n_child += records[i]
        if i + 1 == n_codes or nodes[codes[i]] != nodes[codes[i + 1]]:
            entropy += n_child * math.log(n / n_child) if n_child > 0 else 0.0
            n_child = 0
    if entropy > 0:
        entropy /= n
        prices = work.left[begin : begin + n_codes]
        _foresee_runs(nodes, shares, codes, records, entropy, min_size, work.shares[j], prices)
        codes, records, prices = codes[::-1], records[::-1], work.right[begin : begin + n_codes][::-1]
        _foresee_runs(nodes, shares, codes, records, entropy, min_size, work.shares[j], prices)


@jit
def _foresee_runs(
    nodes: CodeArray,
    shares: FloatArray,
    codes: CodeArray,
    records: CountArray,
    entropy: float,
    min_size: int,
    share: float,
    prices: FloatArray,
) -> None:
    """Lower the price of the first two children, the first three, and so on."""
    n, n_child, largest, first, gain, logs = 0, 0, 0, 0, 0.0, 0.0
    for i in range(codes.size):
        n_child += records[i]
        if i + 1 < codes.size and nodes[codes[i]] == nodes[codes[i + 1]]:
            continue
        n, largest = n + n_child, max(largest, n_child)
        logs += n_child * math.log(n_child) if n_child > 0 else 0.0
        if n_child >= min_size:
            gain += n_child * (share - (0.0 if first == i or codes[i] == 0 else shares[codes[i]]))
        # Two classes at least must come of it.
        if gain > 0 and n - largest >= min_size:
            prices[i] = min(prices[i], share - gain / n * (1.0 - (math.log(n) - logs / n) / entropy))
        n_child, first = 0, i + 1


@jit
def preference(axes: Axes, work: Work, j: int, length: int) -> float:
    """Return the factor by which a cut after a prefix is preferred: the more, the rounder the point where it falls."""
    if axes.rounds[j] == 0:
        return 1.0
    begin, level = axes.offsets[j], axes.rounds[j] - 1
    left, right = begin + work.codes[begin + length - 1], begin + work.codes[begin + length]
    while level > 0 and axes.starts[level, left] == axes.starts[level, right]:
        level -= 1
    return float(1.0 + ROUNDER * level)


@jit
def may_cut(axes: Axes, work: Work, j: int, length: int) -> bool:
    """Tell whether a prefix of a hierarchical column's profile ends between two children of its node."""
    begin = axes.offsets[j]
    nodes = axes.nodes[work.levels[j]]
    return bool(nodes[begin + work.codes[begin + length - 1]] != nodes[begin + work.codes[begin + length]])
