"""Profiles of classes: of every column the distinct codes, their records, and the share that they publish."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.kernels._jit import jit, jit_bare, jit_inline, jit_inner, record_dtype
from hushtable.kernels.rows import Rows, tally_codes


@jit
def class_ranges(labels: CodeArray, codes: CodeArray, n_classes: int) -> tuple[CodeArray, CodeArray]:
    """Return the lowest and the highest code of every class (-1, missing, is the lowest of all)."""
    low = np.full(n_classes, np.iinfo(np.int32).max, np.int32)
    high = np.full(n_classes, np.int32(-2), np.int32)
    for row in range(labels.size):
        label = labels[row]
        if label >= 0:
            low[label] = min(low[label], codes[row])
            high[label] = max(high[label], codes[row])
    return low, high


@jit_bare
def find_known_ranges(
    labels: CodeArray, codes: CodeArray, ranks: CodeArray, low: CodeArray, high: CodeArray, has_missing: BoolArray
) -> None:
    """Set the lowest and highest known rank of every class, from 0 (-1: none), and whether a value is missing."""
    low[:], high[:], has_missing[:] = 2**31 - 1, -1, False
    for row in range(labels.size):
        label, rank = labels[row], ranks[codes[row] + 1] - 1
        if label < 0:
            continue
        if rank < 0:
            has_missing[label] = True
        else:
            low[label] = min(low[label], rank)
            high[label] = max(high[label], rank)
    for label in range(low.size):
        low[label] = min(low[label], high[label])


@jit
def class_codes(labels: CodeArray, codes: CodeArray, n_codes: int, n_classes: int) -> tuple[CountArray, CodeArray]:
    """Return the distinct codes (at most 63) of every class: c has ``codes[offsets[c]:offsets[c + 1]]``, ascending."""
    code_bits = np.zeros(n_classes, np.uint64)
    for row in range(labels.size):
        if labels[row] >= 0:
            code_bits[labels[row]] |= np.uint64(1) << np.uint64(codes[row] + 1)
    offsets, n_found = np.zeros(n_classes + 1, np.int64), 0
    for label in range(n_classes):
        word = code_bits[label]
        while word:
            word &= word - np.uint64(1)
            n_found += 1
        offsets[label + 1] = n_found
    found_codes = np.empty(n_found, np.int32)
    for label in range(n_classes):
        position = offsets[label]
        for code in range(-1, n_codes):
            if code_bits[label] >> np.uint64(code + 1) & np.uint64(1):
                found_codes[position] = code
                position += 1
    return offsets, found_codes


@jit
def class_values(
    offsets: CountArray, rows: CodeArray, codes: CodeArray, counts: CountArray, n_codes: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Return the sparse class-by-value histogram of a column, codes ascending; rows that count 0 hold nothing."""
    n_classes = offsets.size - 1
    found_offsets = np.zeros(n_classes + 1, np.int64)
    found_codes = np.empty(rows.size, np.int32)
    found_counts = np.empty(rows.size, np.int64)
    records = np.zeros(n_codes + 1, np.int64)
    n_found = 0
    for label in range(n_classes):
        begin = n_found
        for i in range(offsets[label], offsets[label + 1]):
            if counts[rows[i]] == 0:
                continue
            code = codes[rows[i]]
            if records[code + 1] == 0:
                found_codes[n_found] = code
                n_found += 1
            records[code + 1] += counts[rows[i]]
        sort_codes(records, found_codes[begin:n_found], found_counts[begin:n_found])
        found_offsets[label + 1] = n_found
    return found_offsets, found_codes[:n_found].copy(), found_counts[:n_found].copy()


@jit_inner
def sort_codes(records: CountArray, codes: CodeArray, counts: CountArray) -> None:
    """Sort a class's codes, and set how many records each has; ``records`` is 0 everywhere afterwards.

    If they are many, all entries are scanned; few are sorted by Shell's sort, which compiles ten times faster than
    numpy's.
    """
    n_held, position = codes.size, 0
    if _MAX_ENTRIES_PER_CODE * n_held > records.size:
        for entry in range(records.size):
            if records[entry] > 0:
                codes[position], counts[position], records[entry] = entry - 1, records[entry], 0
                position += 1
        return
    gap = 1
    while gap < n_held // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n_held):
            code, position = codes[i], i
            while position >= gap and codes[position - gap] > code:
                codes[position] = codes[position - gap]
                position -= gap
            codes[position] = code
        gap //= 3
    for position in range(n_held):
        counts[position] = records[codes[position] + 1]
        records[codes[position] + 1] = 0


_MAX_ENTRIES_PER_CODE = 16  # with more entries per code of a class, sorting is faster than a scan

N_EXPONENTS = 2**11
# Bits of the lower part of a mantissa of 53: 2^36 of either part add up without overflow.
LOW_MANTISSA_BITS = 26


@jit_bare
def add_mantissas(bits: NDArray[np.uint64], sums: CountArray) -> None:
    """Add the mantissas of finite floats, given as bits, to the lower and upper sums of their exponents."""
    for i in range(bits.size):
        exponent = np.int64(bits[i] >> np.uint64(52)) & (N_EXPONENTS - 1)
        mantissa = np.int64(bits[i] & np.uint64(2**52 - 1))
        if exponent > 0:
            mantissa += 2**52
        sign = -1 if bits[i] >> np.uint64(63) else 1
        sums[exponent, 0] += sign * (mantissa & (2**LOW_MANTISSA_BITS - 1))
        sums[exponent, 1] += sign * (mantissa >> LOW_MANTISSA_BITS)


# Of the domain: what a character of a list costs, so that of equal cuts the shorter text wins.
COST_PER_CHARACTER = 0.006
UNITS_PER_DOMAIN = 2**40  # what shares of a domain are counted in

AXIS: Final = record_dtype(
    ("begin", np.int64),  # its entries follow from here on, one a shifted code
    ("is_ordered", np.bool_),  # whether the lowest and highest code tell what is published
    ("is_plain", np.bool_),  # an interval of positions or a set of values: no tree, no list, no round units
    ("domain", np.float64),  # how many values the whole column has, missing included
    ("weight", np.float64),
    ("depth", np.int64),  # levels of its tree, 0 without one
    ("most_units", np.int64),  # how many units a list holds, 0 where nothing is listed
    ("most_chars", np.int64),  # and characters
    ("n_rounds", np.int64),  # levels of round units that intervals are widened to, 0 without them
    ("keeps_labels", np.bool_),  # whether what lies in one round unit publishes that, however narrow it is
)

PLACE: Final = record_dtype(
    ("position", np.float64),  # in [0, 1] (ordered columns)
    ("chars", np.int64),  # what a unit adds to the length of a list
    ("listed", np.int64),  # the share of a unit of a hierarchy, times `UNITS_PER_DOMAIN`: sums of it are exact
    ("unit", np.int32),  # the code that stands for what a list writes of this one: itself, or the first one of
    # the node below the top of a hierarchy
)

LEVEL: Final = record_dtype(
    ("step", np.float64),  # classes at least as wide are widened to round units of this level
    ("start", np.float64),  # where the round unit over a code begins
    ("end", np.float64),  # and ends
    ("share", np.float64),  # of the domain, under the node
    ("node", np.int32),  # of the tree, over a code; -1 for missing
)


class Axes(NamedTuple):
    """What publishing the codes of each column costs."""

    columns: NDArray[Any]  # AXIS (n_columns,)
    places: NDArray[Any]  # PLACE (n_entries,), entry ``begin`` + shifted code of a column
    levels: NDArray[Any]  # LEVEL (n_levels, n_entries), of trees and of round units


@jit_inline
def _unit_start(axes: Axes, level: int, entry: int) -> float:
    """Return where the round unit over an entry begins."""
    return float(axes.levels[level, entry].start)


@jit_inline
def interval_share(axes: Axes, begin: int, low: int, high: int) -> float:
    """Return the share of a column of intervals without round units that a class publishes, from its ends."""
    if low == high:
        return 0.0
    if low == 0:
        # A missing value beside others: the cell becomes "*".
        return 1.0
    return float(axes.places[begin + high].position - axes.places[begin + low].position)


@jit_inline
def share_of(axes: Axes, j: int, low: int, high: int, n_units: int, n_chars: int, listed_share: int) -> float:
    """Return the share of a column that a class publishes, plus a little for the length of a list."""
    axis = axes.columns[j]
    is_short = 0 < n_units <= axis.most_units and n_chars <= axis.most_chars
    if not axis.is_ordered:
        if n_units == 1:
            return 0.0
        if is_short:
            return float(n_units / axis.domain + COST_PER_CHARACTER * n_chars)
    elif low == high and (axis.n_rounds == 0 or low == 0):
        return 0.0
    elif is_short and n_units > 1:
        return float(min(1.0, listed_share / UNITS_PER_DOMAIN) + COST_PER_CHARACTER * n_chars)
    if low == 0:
        # Neither an interval nor a node but the top holds the missing value beside others: the cell becomes "*".
        return 1.0
    low, high = axis.begin + low, axis.begin + high
    if axis.depth > 0:
        return float(axes.levels[cut_level(axes, low, high) + 1, low].share)
    width = axes.places[high].position - axes.places[low].position
    if axis.n_rounds > 0:
        level = axis.n_rounds - 1
        if axis.keeps_labels:
            unit = 0
            while unit < axis.n_rounds and _unit_start(axes, unit, low) != _unit_start(axes, unit, high):
                unit += 1
            if unit < axis.n_rounds:
                return float(axes.levels[unit, high].end - axes.levels[unit, low].start)
        while level > 0 and width < axes.levels[level, low].step:
            level -= 1
        return float(axes.levels[level, high].end - axes.levels[level, low].start)
    return float(width)


@jit_bare
def price_prefixes(axes: Axes, j: int, entries: NDArray[Any], from_end: bool) -> None:
    """Set the price of the first entry of a column's profile, of the first two, and so on; or of the last ones.

    This is `share_of`, step by step: level and round unit continue from the prefix before.
    """
    axis = axes.columns[j]
    begin = axis.begin
    position, step = (entries.size - 1, -1) if from_end else (0, 1)
    low, high, last, level, unit = entries[position].code, entries[position].code, -1, 0, 0
    n_units, n_chars, listed_share = 0, 0, 0
    for _ in range(entries.size):
        code = entries[position].code
        low, high = min(low, code), max(high, code)
        if axis.most_units > 0:
            unit = axes.places[begin + code].unit
            if unit != last:
                n_units, last = n_units + 1, unit
                n_chars += axes.places[begin + unit].chars
                listed_share += axes.places[begin + unit].listed
        is_short = 0 < n_units <= axis.most_units and n_chars <= axis.most_chars
        if not axis.is_ordered and n_units == 1:
            price = 0.0
        elif not axis.is_ordered and is_short:
            price = n_units / axis.domain + COST_PER_CHARACTER * n_chars
        elif axis.is_ordered and low == high and (axis.n_rounds == 0 or low == 0):
            price = 0.0
        elif axis.is_ordered and is_short and n_units > 1:
            price = min(1.0, listed_share / UNITS_PER_DOMAIN) + COST_PER_CHARACTER * n_chars
        elif low == 0:
            price = 1.0
        elif axis.depth > 0:
            # A run that grows never finds its node lower, nor its round unit.
            while axes.levels[level + 1, begin + low].node != axes.levels[level + 1, begin + high].node:
                level += 1
            price = axes.levels[level + 1, begin + low].share
        else:
            price = axes.places[begin + high].position - axes.places[begin + low].position
            if axis.n_rounds > 0:
                while level + 1 < axis.n_rounds and price >= axes.levels[level + 1, begin].step:
                    level += 1
                chosen_level = level
                if axis.keeps_labels:
                    while unit < axis.n_rounds and _unit_start(axes, unit, begin + low) != _unit_start(
                        axes, unit, begin + high
                    ):
                        unit += 1
                    chosen_level = level if unit == axis.n_rounds else unit
                price = axes.levels[chosen_level, begin + high].end - axes.levels[chosen_level, begin + low].start
        if from_end:
            entries[position].right = price
        else:
            entries[position].left = price
        position += step


@jit_inline
def cut_level(axes: Axes, low: int, high: int) -> int:
    """Return the level below the lowest node that covers entries low to high of a hierarchy: where it is cut."""
    level = 0
    while axes.levels[level + 1, low].node != axes.levels[level + 1, high].node:
        level += 1
    return level


# Of its gain: by how much a cut between wider units may fall short, level by level.
BONUS_PER_ROUND_LEVEL = 0.01

ENTRY: Final = record_dtype(
    ("records", np.int64),
    ("key", np.int64),  # what entries are sorted by; then where the rows of each end, once sorted
    ("left", np.float64),  # the share published by the entries up to this one; not set in plain columns
    ("right", np.float64),  # and from this one on
    ("code", np.int32),
)

COLUMN: Final = record_dtype(
    ("n_codes", np.int64),  # entries of the profile
    ("level", np.int64),  # of the children that a cut separates
    ("share", np.float64),  # that the class publishes
    ("is_sorted", np.bool_),  # by records
)


class Profile(NamedTuple):
    """The codes of one class, column by column."""

    columns: NDArray[Any]  # COLUMN (n_columns,)
    entries: NDArray[Any]  # ENTRY (all codes,), at each column's begin
    bins: CountArray  # (all codes,), zero between uses
    varying: CountArray  # uint64 (2, n_columns), the columns that vary, and where they begin


@jit_inner
def profile_rows(rows: Rows, axes: Axes, profile: Profile, start: int, end: int, bounds: CountArray) -> None:
    """List the codes of every column in a run of rows, ascending, and tighten the columns' bounds.

    Codes in a narrow range are counted in bins; others are sorted, which touches less memory.
    """
    n_counted = 0
    for j in range(axes.columns.size):
        column = profile.columns[j]
        begin = axes.columns[j].begin
        column.n_codes, column.share, column.is_sorted = 1, 0.0, False
        low, high = bounds[2 * j], bounds[2 * j + 1]
        profile.entries[begin].code = low
        if low == high:
            continue
        if high - low < 4 * (end - start) + 64:
            profile.varying[0, n_counted], profile.varying[1, n_counted] = j, begin
            n_counted += 1
        else:
            profile.columns[j].n_codes = _list_rows(rows, profile.entries[begin : begin + end - start], j, start)
    tally_codes(rows, start, end, profile.varying[:, :n_counted], profile.bins)
    for c in range(n_counted):
        j, begin = int(profile.varying[0, c]), int(profile.varying[1, c])
        n_codes = 0
        for code in range(bounds[2 * j], bounds[2 * j + 1] + 1):
            n_records = profile.bins[begin + code]
            profile.entries[begin + n_codes].code = code
            profile.entries[begin + n_codes].records = max(n_records, 0)
            profile.bins[begin + code] = 0
            n_codes += int(n_records != 0)
        profile.columns[j].n_codes = n_codes
    for j in range(axes.columns.size):
        axis, column = axes.columns[j], profile.columns[j]
        first, n_codes = axis.begin, column.n_codes
        bounds[2 * j], bounds[2 * j + 1] = profile.entries[first].code, profile.entries[first + n_codes - 1].code
        if n_codes == 1:
            continue
        if not axis.is_plain:
            _price_profile(axes, profile, j)
        elif axis.is_ordered:
            column.share = interval_share(axes, first, bounds[2 * j], bounds[2 * j + 1])
        else:
            column.share = n_codes / axis.domain


@jit_inner
def _list_rows(rows: Rows, entries: NDArray[Any], j: int, start: int) -> int:
    """List a column's codes by sorting an entry per row; return the number of distinct codes."""
    for i in range(entries.size):
        row, entry = start + i, entries[i]
        entry.code, entry.key, entry.records = rows.codes[row, j], 0, 1
        if rows.is_weighted:
            entry.records = rows.words[row, rows.words.shape[1] - 1]
    _sort_entries(entries)
    n_codes = 1
    for i in range(1, entries.size):
        if entries[i].code == entries[n_codes - 1].code:
            entries[n_codes - 1].records += entries[i].records
        else:
            entries[n_codes].code, entries[n_codes].records = entries[i].code, entries[i].records
            n_codes += 1
    return n_codes


@jit_inner
def _sort_entries(entries: NDArray[Any]) -> None:
    """Sort entries by falling key, then by rising code: Shell's sort, which suits few entries."""
    gap = 1
    while gap < entries.size // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, entries.size):
            code, records, key = entries[i].code, entries[i].records, entries[i].key
            slot = i
            while slot >= gap:
                other = entries[slot - gap]
                if other.key > key or (other.key == key and other.code < code):
                    break
                entries[slot].code, entries[slot].records, entries[slot].key = (other.code, other.records, other.key)
                slot -= gap
            entries[slot].code, entries[slot].records, entries[slot].key = code, records, key
        gap //= 3


@jit_inner
def sort_profile(axes: Axes, profile: Profile, j: int) -> None:
    """Sort a column's profile by falling records; if it publishes a node, by the records of the node's children."""
    axis, column = axes.columns[j], profile.columns[j]
    # One entry needs no order, and a class that holds only missing cells has no node to look for.
    if column.is_sorted or column.n_codes == 1:
        return
    column.is_sorted = True
    if axis.is_ordered and axis.depth == 0:
        return
    begin, n_codes = axis.begin, column.n_codes
    entries = profile.entries[begin : begin + n_codes]
    is_list = not axis.is_ordered and n_codes <= axis.most_units
    if is_list:
        n_chars = 0
        for i in range(n_codes):
            n_chars += axes.places[begin + entries[i].code].chars
        is_list = n_chars <= axis.most_chars
    if axis.depth > 0 and not is_list:
        first = int(entries[0].code == 0)
        column.level = cut_level(axes, begin + entries[first].code, begin + entries[n_codes - 1].code)
        _sum_by_node(axes, begin, column.level, entries)
    else:
        for i in range(n_codes):
            entries[i].key = entries[i].records
    _sort_entries(entries)


@jit_inner
def _sum_by_node(axes: Axes, begin: int, level: int, entries: NDArray[Any]) -> None:
    """Set the key of every entry, which are in the order of codes, to the records of its node."""
    first, n_records = 0, 0
    for i in range(entries.size):
        n_records += entries[i].records
        node = axes.levels[level, begin + entries[i].code].node
        if i + 1 == entries.size or axes.levels[level, begin + entries[i + 1].code].node != node:
            for sibling in range(first, i + 1):
                entries[sibling].key = n_records
            first, n_records = i + 1, 0


@jit_inner
def _price_profile(axes: Axes, profile: Profile, j: int) -> None:
    """Sort a column's profile, and set the shares that its prefixes, suffixes and the whole publish."""
    sort_profile(axes, profile, j)
    begin, n_codes = axes.columns[j].begin, profile.columns[j].n_codes
    entries = profile.entries[begin : begin + n_codes]
    price_prefixes(axes, j, entries, False)
    price_prefixes(axes, j, entries, True)
    profile.columns[j].share = entries[n_codes - 1].left


@jit_inner
def foresee_gains(axes: Axes, profile: Profile, j: int, min_size: int) -> None:
    """Lower the prices of a hierarchical column's prefixes and suffixes by what later cuts will gain.

    A run of several children publishes the node over them, so that the first cuts between them gain nothing. The gain
    of separating all children is credited to the cuts that lead there, in proportion to the entropy of the children
    they take.
    """
    begin, n_codes, level = axes.columns[j].begin, profile.columns[j].n_codes, profile.columns[j].level
    entries = profile.entries[begin : begin + n_codes]
    entropy, n, n_child = 0.0, 0, 0
    for i in range(n_codes):
        n += entries[i].records
    for i in range(n_codes):
        n_child += entries[i].records
        if i + 1 == n_codes or _differ_in_child(axes, begin, level, entries, i, i + 1):
            entropy += n_child * math.log(n / n_child) if n_child > 0 else 0.0
            n_child = 0
    if entropy > 0:
        entropy /= n
        for way in range(2):
            _foresee_runs(axes, begin, profile.columns[j], entries, entropy, min_size, way == 1)


@jit_inner
def _differ_in_child(axes: Axes, begin: int, level: int, entries: NDArray[Any], first: int, second: int) -> bool:
    """Tell whether two entries belong to different children."""
    node = axes.levels[level, begin + entries[first].code].node
    return bool(node != axes.levels[level, begin + entries[second].code].node)


@jit_inner
def _foresee_runs(
    axes: Axes, begin: int, column: Any, entries: NDArray[Any], entropy: float, min_size: int, from_end: bool
) -> None:
    """Lower the price of the first two children, the first three, and so on; or of the last two."""
    level, share = column.level, column.share
    step = -1 if from_end else 1
    first = entries.size - 1 if from_end else 0
    n, n_child, largest, gain, logs = 0, 0, 0, 0.0, 0.0
    position = first
    for i in range(entries.size):
        n_child += entries[position].records
        if i + 1 < entries.size and not _differ_in_child(axes, begin, level, entries, position, position + step):
            position += step
            continue
        n, largest = n + n_child, max(largest, n_child)
        logs += n_child * math.log(n_child) if n_child > 0 else 0.0
        if n_child >= min_size:
            code = entries[position].code
            is_one = first == position or code == 0
            gain += n_child * (share - (0.0 if is_one else axes.levels[level, begin + code].share))
        # Only if the run can be divided into two classes or more.
        if gain > 0 and n - largest >= min_size:
            foreseen = share - gain / n * (1.0 - (math.log(n) - logs / n) / entropy)
            if from_end:
                entries[position].right = min(entries[position].right, foreseen)
            else:
                entries[position].left = min(entries[position].left, foreseen)
        n_child = 0
        position += step
        first = position


@jit_inner
def cut_preference(axes: Axes, j: int, entries: NDArray[Any], length: int) -> float:
    """Return the factor by which a cut after a prefix is preferred: the rounder the cut point, the higher."""
    axis = axes.columns[j]
    if axis.n_rounds == 0:
        return 1.0
    level = axis.n_rounds - 1
    left, right = axis.begin + entries[length - 1].code, axis.begin + entries[length].code
    while level > 0 and axes.levels[level, left].start == axes.levels[level, right].start:
        level -= 1
    return float(1.0 + BONUS_PER_ROUND_LEVEL * level)


@jit_inner
def may_cut(axes: Axes, j: int, level: int, entries: NDArray[Any], length: int) -> bool:
    """Tell whether a cut after a prefix of a hierarchical column's profile separates two children of its node."""
    return _differ_in_child(axes, axes.columns[j].begin, level, entries, length - 1, length)
