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
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.kernels._jit import inner, record
from hushtable.kernels.rows import Rows, tally
from hushtable.kernels.shares import Axes, cut_level, price_prefixes

__all__ = ["COLUMN", "ENTRY", "ROUNDER", "Profile", "foresee", "may_cut", "preference", "profile", "sort_profile"]

ROUNDER = 0.01  # of its gain: by how much a cut may fall short that falls between wider units, level by level

ENTRY: Final = record(
    ("records", np.int64),
    ("key", np.int64),  # what entries are sorted by; then where the rows of each end, once sorted
    ("left", np.float64),  # the share published by the entries up to this one; not set in plain columns
    ("right", np.float64),  # and from this one on
    ("code", np.int32),
)

COLUMN: Final = record(
    ("n_codes", np.int64),  # entries of the profile
    ("level", np.int64),  # of the children that are cut apart
    ("share", np.float64),  # that the class publishes
    ("is_sorted", np.bool_),  # by records
)


class Profile(NamedTuple):
    """What one class holds.

    columns : COLUMN (n_columns,)
    entries : ENTRY (all codes,), at each column's begin
    bins : int64 (all codes,), zero between uses
    counted : uint64 (2, n_columns), the columns that vary, and where they begin
    """

    columns: NDArray[Any]
    entries: NDArray[Any]
    bins: CountArray
    counted: CountArray


@inner
def profile(rows: Rows, axes: Axes, held: Profile, start: int, end: int, bounds: CountArray) -> None:
    """List the codes of all columns of a run of rows by code.

    bounds : int64 (2 * n_columns,), between which codes each column lies; is tightened

    A column is counted in bins where its codes lie close together, and
    sorted where there are far more codes than rows, which touches less memory.
    """
    n_counted = 0
    for j in range(axes.columns.size):
        column = held.columns[j]
        begin = axes.columns[j].begin
        column.n_codes, column.share, column.is_sorted = 1, 0.0, False
        low, high = bounds[2 * j], bounds[2 * j + 1]
        held.entries[begin].code = low
        if low == high:
            continue
        if high - low < 4 * (end - start) + 64:
            held.counted[0, n_counted], held.counted[1, n_counted] = j, begin
            n_counted += 1
        else:
            held.columns[j].n_codes = _list_rows(rows, held.entries[begin : begin + end - start], j, start)
    tally(rows, start, end, held.counted[:, :n_counted], held.bins)
    for c in range(n_counted):
        j, begin = int(held.counted[0, c]), int(held.counted[1, c])
        n_codes = 0
        for code in range(bounds[2 * j], bounds[2 * j + 1] + 1):
            n_records = held.bins[begin + code]
            held.entries[begin + n_codes].code = code
            held.entries[begin + n_codes].records = max(n_records, 0)
            held.bins[begin + code] = 0
            n_codes += int(n_records != 0)
        held.columns[j].n_codes = n_codes
    for j in range(axes.columns.size):
        axis, column = axes.columns[j], held.columns[j]
        first, n_codes = axis.begin, column.n_codes
        bounds[2 * j], bounds[2 * j + 1] = held.entries[first].code, held.entries[first + n_codes - 1].code
        if n_codes == 1:
            continue
        if not axis.is_plain:
            _price(axes, held, j)
        elif not axis.is_ordered:
            column.share = n_codes / axis.domain
        elif bounds[2 * j] == 0:
            column.share = 1.0
        else:
            column.share = axes.places[first + bounds[2 * j + 1]].position - axes.places[first + bounds[2 * j]].position


@inner
def _list_rows(rows: Rows, entries: NDArray[Any], j: int, start: int) -> int:
    """List a column's codes by sorting the rows, of which there is an entry each; return how many there are."""
    for i in range(entries.size):
        row, entry = start + i, entries[i]
        entry.code, entry.key, entry.records = rows.codes[row, j], 0, 1
        if rows.is_weighted:
            entry.records = rows.words[row, rows.words.shape[1] - 1]
    _sort(entries)
    n_codes = 1
    for i in range(1, entries.size):
        if entries[i].code == entries[n_codes - 1].code:
            entries[n_codes - 1].records += entries[i].records
        else:
            entries[n_codes].code, entries[n_codes].records = entries[i].code, entries[i].records
            n_codes += 1
    return n_codes


@inner
def _sort(entries: NDArray[Any]) -> None:
    """Sort entries by falling keys, those of a key by their codes: Shell's sort, which few entries suit."""
    gap = 1
    while gap < entries.size // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, entries.size):
            code, records, key = entries[i].code, entries[i].records, entries[i].key
            place = i
            while place >= gap:
                other = entries[place - gap]
                if other.key > key or (other.key == key and other.code < code):
                    break
                entries[place].code, entries[place].records, entries[place].key = other.code, other.records, other.key
                place -= gap
            entries[place].code, entries[place].records, entries[place].key = code, records, key
        gap //= 3


@inner
def sort_profile(axes: Axes, held: Profile, j: int) -> None:
    """Sort a profile by falling records; where it publishes a node, by those of the children."""
    axis, column = axes.columns[j], held.columns[j]
    # One entry needs no order, and a class that holds only missing cells has no node to look for.
    if column.is_sorted or column.n_codes == 1:
        return
    column.is_sorted = True
    if axis.is_ordered and axis.depth == 0:
        return
    begin, n_codes = axis.begin, column.n_codes
    entries = held.entries[begin : begin + n_codes]
    is_list = not axis.is_ordered and n_codes <= axis.most_units
    if is_list:
        n_chars = 0
        for i in range(n_codes):
            n_chars += axes.places[begin + entries[i].code].chars
        is_list = n_chars <= axis.most_chars
    if axis.depth > 0 and not is_list:
        first = int(entries[0].code == 0)
        column.level = cut_level(axes, begin + entries[first].code, begin + entries[n_codes - 1].code)
        _add_up(axes, begin, column.level, entries)
    else:
        for i in range(n_codes):
            entries[i].key = entries[i].records
    _sort(entries)


@inner
def _add_up(axes: Axes, begin: int, level: int, entries: NDArray[Any]) -> None:
    """Give every entry, by code, the records of its node."""
    first, n_records = 0, 0
    for i in range(entries.size):
        n_records += entries[i].records
        node = axes.levels[level, begin + entries[i].code].node
        if i + 1 == entries.size or axes.levels[level, begin + entries[i + 1].code].node != node:
            for sibling in range(first, i + 1):
                entries[sibling].key = n_records
            first, n_records = i + 1, 0


@inner
def _price(axes: Axes, held: Profile, j: int) -> None:
    """Sort a profile, and set what its prefixes and the whole publish."""
    sort_profile(axes, held, j)
    begin, n_codes = axes.columns[j].begin, held.columns[j].n_codes
    entries = held.entries[begin : begin + n_codes]
    for way in range(2):
        # Not True and False, for each of which the compiler would make a kernel of its own.
        price_prefixes(axes, j, entries, way == 1)
    held.columns[j].share = entries[n_codes - 1].left


@inner
def foresee(axes: Axes, held: Profile, j: int, min_size: int) -> None:
    """Lower the prices of a hierarchical column's prefixes, and of what follows them, by what later cuts will gain.

    A run of several children still publishes the node over all of them, so that the first cuts between them
    gain nothing. What cutting all children apart will gain, of those that are large enough for a class, is
    therefore credited to the cuts that lead there, in proportion to the entropy of the children they take away.
    """
    begin, n_codes, level = axes.columns[j].begin, held.columns[j].n_codes, held.columns[j].level
    entries = held.entries[begin : begin + n_codes]
    entropy, n, n_child = 0.0, 0, 0
    for i in range(n_codes):
        n += entries[i].records
    for i in range(n_codes):
        n_child += entries[i].records
        if i + 1 == n_codes or _parts(axes, begin, level, entries, i, i + 1):
            entropy += n_child * math.log(n / n_child) if n_child > 0 else 0.0
            n_child = 0
    if entropy > 0:
        entropy /= n
        for way in range(2):
            _foresee_runs(axes, begin, held.columns[j], entries, entropy, min_size, way == 1)


@inner
def _parts(axes: Axes, begin: int, level: int, entries: NDArray[Any], one: int, other: int) -> bool:
    """Tell whether two entries are of two children."""
    node = axes.levels[level, begin + entries[one].code].node
    return bool(node != axes.levels[level, begin + entries[other].code].node)


@inner
def _foresee_runs(
    axes: Axes, begin: int, column: Any, entries: NDArray[Any], entropy: float, min_size: int, from_end: bool
) -> None:
    """Lower the price of the first two children, the first three, and so on; or of the last two."""
    level, share = column.level, column.share
    step = -1 if from_end else 1
    first = entries.size - 1 if from_end else 0
    n, n_child, largest, gain, logs = 0, 0, 0, 0.0, 0.0
    place = first
    for i in range(entries.size):
        n_child += entries[place].records
        if i + 1 < entries.size and not _parts(axes, begin, level, entries, place, place + step):
            place += step
            continue
        n, largest = n + n_child, max(largest, n_child)
        logs += n_child * math.log(n_child) if n_child > 0 else 0.0
        if n_child >= min_size:
            code = entries[place].code
            is_one = first == place or code == 0
            gain += n_child * (share - (0.0 if is_one else axes.levels[level, begin + code].share))
        # Two classes at least must come of it.
        if gain > 0 and n - largest >= min_size:
            foreseen = share - gain / n * (1.0 - (math.log(n) - logs / n) / entropy)
            if from_end:
                entries[place].right = min(entries[place].right, foreseen)
            else:
                entries[place].left = min(entries[place].left, foreseen)
        n_child = 0
        place += step
        first = place


@inner
def preference(axes: Axes, j: int, entries: NDArray[Any], length: int) -> float:
    """Return the factor by which a cut after a prefix is preferred: the more, the rounder the point where it falls."""
    axis = axes.columns[j]
    if axis.n_rounds == 0:
        return 1.0
    level = axis.n_rounds - 1
    left, right = axis.begin + entries[length - 1].code, axis.begin + entries[length].code
    while level > 0 and axes.levels[level, left].start == axes.levels[level, right].start:
        level -= 1
    return float(1.0 + ROUNDER * level)


@inner
def may_cut(axes: Axes, j: int, level: int, entries: NDArray[Any], length: int) -> bool:
    """Tell whether a prefix of a hierarchical column's profile ends between two children of its node."""
    return _parts(axes, axes.columns[j].begin, level, entries, length - 1, length)
