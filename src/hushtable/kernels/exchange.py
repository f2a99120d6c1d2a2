"""Move rows between neighbouring classes, or swap two of them, while that lowers the loss.

Classes are numbered depth first, so that neighbours in number are neighbours in space. Rows of a class are a linked
list. Rounded ends and lists of values are ignored here: the caller measures the gain in what is published.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner
from hushtable.kernels.class_profile import Axes, cut_level
from hushtable.kernels.judge import Rules, passes

MIN_GAIN = 1e-9  # a lower gain may be rounding


class RowPoints(NamedTuple):
    """The distinct rows."""

    codes: CodeArray  # (n_rows, n_columns), shifted by one, a row's codes side by side
    counts: CountArray  # with a population, a row's may be 0
    sensitive: CodeArray  # (n_sensitive, n_rows), shifted by one
    population: CountArray  # (n_rows,), its records; empty where no rule asks


class ExchangedClasses(NamedTuple):
    """Classes under change."""

    first: CodeArray  # a row of each class
    next_: CodeArray  # (n_rows,), the next row of the same class; -1 after the last
    sizes: CountArray  # records
    low: CodeArray  # (n_classes, n_columns)
    high: CodeArray
    bits: CountArray  # (n_classes, n_words), the codes of unordered columns
    words: CountArray  # (n_columns + 1,), column j owns words words[j] to words[j + 1]
    shares: FloatArray  # (n_classes,), weighted sum over columns
    share_without: FloatArray  # (n_rows,), the share of a row's class without it


class ClassScratch(NamedTuple):
    """Scratch for one changed class: its rows, its span, and its sensitive counts."""

    rows: CodeArray  # (n_rows,)
    low: CodeArray  # (n_columns,)
    high: CodeArray  # (n_columns,)
    bits: CountArray  # (n_words,)
    rest_low: CodeArray  # (n_columns,) the span of a class without one of its rows
    rest_high: CodeArray  # (n_columns,)
    rest_bits: CountArray  # (n_words,)
    growths: FloatArray  # (2 * window + 1,)
    value_counts: CountArray  # (n_sensitive, widest), zero between uses
    n_distinct: CountArray  # (n_sensitive,)
    nodes: FloatArray  # (widest table of a rule,)


@jit_bare
def recompute_all_classes(points: RowPoints, axes: Axes, classes: ExchangedClasses, scratch: ClassScratch) -> None:
    """Compute the span and shares of every class."""
    for label in range(classes.sizes.size):
        _recompute_class(points, axes, classes, scratch, label)


@jit_bare
def exchange_rows(
    points: RowPoints,
    axes: Axes,
    rules: Rules,
    classes: ExchangedClasses,
    scratch: ClassScratch,
    min_size: int,
    window: int,
    sources: tuple[int, int],
) -> float:
    """Exchange every row of a run of classes once with neighbouring classes, where that gains; return the gain."""
    total = 0.0
    for source in range(sources[0], min(sources[1], classes.sizes.size)):
        row = classes.first[source]
        while row >= 0:
            following = classes.next_[row]
            total += _exchange_row(points, axes, rules, classes, scratch, (source, row), (min_size, window))
            row = following
    return total


@jit_inner
def _exchange_row(
    points: RowPoints,
    axes: Axes,
    rules: Rules,
    classes: ExchangedClasses,
    scratch: ClassScratch,
    source_row: tuple[int, int],
    limits: tuple[int, int],
) -> float:
    """Move one row to a neighbouring class, or swap it with a row there, whatever gains most; return the gain."""
    source, row = source_row
    min_size, window = limits
    sizes, shares, counts = classes.sizes, classes.shares, points.counts
    if classes.next_[classes.first[source]] < 0:
        return 0.0
    n_left = sizes[source] - counts[row]
    freed = sizes[source] * shares[source] - n_left * classes.share_without[row]
    best, best_target, best_partner = MIN_GAIN, -1, -1
    first, last = max(0, source - window), min(sizes.size, source + window + 1)
    _grow_neighbours(points, axes, classes, scratch, row, freed, (first, last))
    _share_after_change(points, axes, classes, scratch, source, (row, -1))
    rest_low, rest_high, rest_bits = scratch.rest_low, scratch.rest_high, scratch.rest_bits
    _copy_span(scratch.low, scratch.high, scratch.bits, rest_low, rest_high, rest_bits)
    for target in range(first, last):
        # Move or swap: the class that is joined grows by at least this much.
        growth = scratch.growths[target - first]
        if target == source or growth * sizes[target] >= freed:
            continue
        if n_left >= min_size:
            gain = freed - counts[row] * shares[target] - (sizes[target] + counts[row]) * growth
            if gain > best:
                best, best_target, best_partner = gain, target, -1
        gain, partner = _best_swap(
            points,
            axes,
            classes,
            scratch,
            (source, row, target, min_size),
            (growth, best),
            (rest_low, rest_high, rest_bits),
        )
        if gain > best:
            best, best_target, best_partner = gain, target, partner
    if best_target < 0:
        return 0.0
    if (scratch.n_distinct.size > 0 or points.population.size > 0) and not (
        _passes_rules(points, rules, classes, scratch, source, (row, best_partner))
        and _passes_rules(points, rules, classes, scratch, best_target, (best_partner, row))
    ):
        return 0.0
    _transfer_row(points, classes, source, best_target, row)
    if best_partner >= 0:
        _transfer_row(points, classes, best_target, source, best_partner)
    _recompute_class(points, axes, classes, scratch, source)
    _recompute_class(points, axes, classes, scratch, best_target)
    return best


@jit_inner
def _best_swap(
    points: RowPoints,
    axes: Axes,
    classes: ExchangedClasses,
    scratch: ClassScratch,
    swap: tuple[int, int, int, int],
    growth_and_best: tuple[float, float],
    rest_span: tuple[CodeArray, CodeArray, CountArray],
) -> tuple[float, int]:
    """Find the target's row to swap with ours; return gain and row, or 0 and -1 where none beats the best so far.

    The target's new span is computed only where a bound allows a gain: our row widens a span without the partner at
    least as much as one with it. ``rest_span`` is the source's span without our row.
    """
    source, row, target, min_size = swap
    growth, best = growth_and_best
    low, high, bits = rest_span
    sizes = classes.sizes
    before = sizes[source] * classes.shares[source] + sizes[target] * classes.shares[target]
    best_partner = -1
    partner = classes.first[target]
    while partner >= 0:
        difference = points.counts[partner] - points.counts[row]
        n_source, n_target = sizes[source] + difference, sizes[target] - difference
        if n_source >= min_size and n_target >= min_size:
            after = 0.0
            for j in range(axes.columns.size):
                code = points.codes[partner, j]
                n_codes = 0
                if not axes.columns[j].is_ordered:
                    for i in range(classes.words[j], classes.words[j + 1]):
                        n_codes += _count_bits(bits[i])
                    word = classes.words[j] + (code >> 6)
                    n_codes += int(bits[word] & (np.uint64(1) << np.uint64(code & 63)) == 0)
                after += axes.columns[j].weight * _column_share(axes, j, min(low[j], code), max(high[j], code), n_codes)
            gain = before - n_source * after
            if gain - n_target * (classes.share_without[partner] + growth) > best:
                gain -= n_target * _share_after_change(points, axes, classes, scratch, target, (partner, row))
                if gain > best:
                    best, best_partner = gain, partner
        partner = classes.next_[partner]
    return (best, best_partner) if best_partner >= 0 else (0.0, -1)


@jit_inner
def _column_share(axes: Axes, j: int, low: int, high: int, n_codes: int) -> float:
    """Return the share of a column that a class spans, from its lowest and highest code or its number of codes."""
    if not axes.columns[j].is_ordered:
        return float(n_codes / axes.columns[j].domain if n_codes > 1 else 0.0)
    if low == high:
        return 0.0
    if low == 0:
        # Neither an interval nor a node but the top holds the missing value beside others: the cell becomes "*".
        return 1.0
    low, high = axes.columns[j].begin + low, axes.columns[j].begin + high
    if axes.columns[j].depth > 0:
        return float(axes.levels[cut_level(axes, low, high) + 1, low].share)
    return float(axes.places[high].position - axes.places[low].position)


@jit_inner
def _share_after_change(
    points: RowPoints, axes: Axes, classes: ExchangedClasses, scratch: ClassScratch, label: int, change: tuple[int, int]
) -> float:
    """Return the share of a class without one row and with another (-1 for none); leave its span in scratch."""
    without, added = change
    n_rows = 0
    row = classes.first[label]
    while row >= 0:
        if row != without:
            scratch.rows[n_rows] = row
            n_rows += 1
        row = classes.next_[row]
    if added >= 0:
        scratch.rows[n_rows] = added
        n_rows += 1
    total = 0.0
    for j in range(axes.columns.size):
        if axes.columns[j].is_ordered:
            low = high = points.codes[scratch.rows[0], j]
            for i in range(1, n_rows):
                code = points.codes[scratch.rows[i], j]
                low, high = min(low, code), max(high, code)
            scratch.low[j], scratch.high[j] = low, high
            total += axes.columns[j].weight * _column_share(axes, j, low, high, 0)
        else:
            total += axes.columns[j].weight * _column_share(
                axes, j, 0, 0, _count_codes(points, classes, scratch, j, n_rows)
            )
    return total


@jit_inner
def _count_codes(points: RowPoints, classes: ExchangedClasses, scratch: ClassScratch, j: int, n_rows: int) -> int:
    """Set the bits of an unordered column's codes in the first rows of scratch, and count them."""
    begin = classes.words[j]
    if classes.words[j + 1] == begin + 1:
        word = np.uint64(0)
        for i in range(n_rows):
            word |= np.uint64(1) << np.uint64(points.codes[scratch.rows[i], j])
        scratch.bits[begin] = word
        return _count_bits(word)
    n_codes = 0
    for i in range(begin, classes.words[j + 1]):
        scratch.bits[i] = 0
    for i in range(n_rows):
        code = points.codes[scratch.rows[i], j]
        bit = np.uint64(1) << np.uint64(code & 63)
        n_codes += int(scratch.bits[begin + (code >> 6)] & bit == 0)
        scratch.bits[begin + (code >> 6)] |= bit
    return n_codes


@jit_inner
def _grow_neighbours(
    points: RowPoints,
    axes: Axes,
    classes: ExchangedClasses,
    scratch: ClassScratch,
    row: int,
    freed: float,
    targets: tuple[int, int],
) -> None:
    """Set how much the share of each target grows by one more row, or any number above what is freed; in one call."""
    first, last = targets
    for target in range(first, last):
        limit = freed / classes.sizes[target]
        total = 0.0
        for j in range(axes.columns.size):
            code = points.codes[row, j]
            if axes.columns[j].is_ordered:
                low, high = classes.low[target, j], classes.high[target, j]
                if code < low or code > high:
                    wider = _column_share(axes, j, min(low, code), max(high, code), 0)
                    total += axes.columns[j].weight * (wider - _column_share(axes, j, low, high, 0))
            else:
                word = classes.words[j] + (code >> 6)
                if classes.bits[target, word] & (np.uint64(1) << np.uint64(code & 63)) == 0:
                    n_codes = 0
                    for i in range(classes.words[j], classes.words[j + 1]):
                        n_codes += _count_bits(classes.bits[target, i])
                    total += axes.columns[j].weight * (n_codes + 1) / axes.columns[j].domain
                    total -= axes.columns[j].weight * (n_codes / axes.columns[j].domain if n_codes > 1 else 0.0)
            if total >= limit:
                break
        scratch.growths[target - first] = total


@jit_inner
def _count_bits(word: np.uint64) -> int:
    """Count the bits of a word by adding neighbours, then pairs, then nibbles, then bytes."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    nibbles = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    octets = (nibbles + (nibbles >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    octets += octets >> np.uint64(8)
    octets += octets >> np.uint64(16)
    return int((octets + (octets >> np.uint64(32))) & np.uint64(0x7F))


@jit_inner
def _recompute_class(
    points: RowPoints, axes: Axes, classes: ExchangedClasses, scratch: ClassScratch, label: int
) -> None:
    """Compute a class's span and shares from its rows."""
    classes.shares[label] = _share_after_change(points, axes, classes, scratch, label, (-1, -1))
    _copy_span(scratch.low, scratch.high, scratch.bits, classes.low[label], classes.high[label], classes.bits[label])
    row = classes.first[label]
    if classes.next_[row] < 0:
        classes.share_without[row] = 0.0
        return
    while row >= 0:
        classes.share_without[row] = _share_after_change(points, axes, classes, scratch, label, (row, -1))
        row = classes.next_[row]


@jit_inner
def _copy_span(
    low: CodeArray, high: CodeArray, bits: CountArray, to_low: CodeArray, to_high: CodeArray, to_bits: CountArray
) -> None:
    """Copy a span, entry by entry: for whole arrays the compiler would make a temporary copy."""
    for j in range(low.size):
        to_low[j], to_high[j] = low[j], high[j]
    for i in range(bits.size):
        to_bits[i] = bits[i]


@jit_inner
def _transfer_row(points: RowPoints, classes: ExchangedClasses, source: int, target: int, row: int) -> None:
    if classes.first[source] == row:
        classes.first[source] = classes.next_[row]
    else:
        before = classes.first[source]
        while classes.next_[before] != row:
            before = classes.next_[before]
        classes.next_[before] = classes.next_[row]
    classes.next_[row] = classes.first[target]
    classes.first[target] = row
    classes.sizes[source] -= points.counts[row]
    classes.sizes[target] += points.counts[row]


@jit_inner
def _passes_rules(
    points: RowPoints,
    rules: Rules,
    classes: ExchangedClasses,
    scratch: ClassScratch,
    label: int,
    change: tuple[int, int],
) -> bool:
    """Tell whether a class still satisfies the rules without one row and with another (-1 for none)."""
    without, added = change
    size, population = 0, 0
    row = classes.first[label]
    while row >= 0:
        if row != without:
            size += points.counts[row]
            if points.population.size > 0:
                population += points.population[row]
            _count_sensitive_values(points, scratch, row, 1)
        row = classes.next_[row]
    if added >= 0:
        size += points.counts[added]
        if points.population.size > 0:
            population += points.population[added]
        _count_sensitive_values(points, scratch, added, 1)
    holds = passes(rules, size, population, scratch.value_counts, scratch.n_distinct, scratch.nodes)
    row = classes.first[label]
    while row >= 0:
        if row != without:
            _count_sensitive_values(points, scratch, row, -1)
        row = classes.next_[row]
    if added >= 0:
        _count_sensitive_values(points, scratch, added, -1)
    return holds


@jit_inner
def _count_sensitive_values(points: RowPoints, scratch: ClassScratch, row: int, sign: int) -> None:
    for s in range(scratch.n_distinct.size):
        value = points.sensitive[s, row]
        before = scratch.value_counts[s, value]
        after = before + sign * points.counts[row]
        scratch.value_counts[s, value] = after
        if value > 0:
            scratch.n_distinct[s] += int(after > 0) - int(before > 0)
