"""Class sizes of many column sets: a walk through the lattice of subsets, splitting classes one column at a time.

A level keeps the rows of classes that can still be split. (TANE's stripped partitions: Huhtala, Kärkkäinen, Porkka,
Toivonen, The Computer Journal 42(2), 1999.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit
from hushtable.kernels.group import SLOTS_ALWAYS, SLOTS_PER_ROW, refine_classes

N_FIGURES = 3
"""Figures of a column set: classes, pairs of records that share a class, records of the smallest class."""


class Levels(NamedTuple):
    """Scratch: the partitions from no column (level 0) down to the column set at hand."""

    rows: CodeArray  # (n_levels, n_rows), the rows of classes of two rows or more, class by class
    ends: CodeArray  # (n_levels, n_rows // 2 + 1), where each of those classes ends in ``rows``
    # (n_levels, 7): 0 the classes in ``rows``; 1 classes of one row, 2 their pairs of records and 3 the records of the
    # smallest; 4, 5 and 6 the figures of all classes
    tally: CountArray
    bins: CountArray  # (2, at least the widest column + 1), rows and records of each code; zero between uses
    touched: CodeArray  # as long as the bins, the codes that a class holds
    row_codes: CodeArray  # (n_rows,), the codes of the class that is split


@jit
def measure_columns(
    codes: CodeArray, widths: CountArray, counts: CountArray, columns: CountArray, levels: Levels
) -> int:
    """Split by some columns, widest first; return the level that holds the partition and its figures.

    While the classes are few, labels by direct address are cheapest: narrow columns first, or one that makes most rows
    unique.
    """
    n_rows = counts.size
    labels, relabelled = np.zeros(n_rows, np.int32), np.empty(n_rows, np.int32)
    n_classes = 1
    first, last = 0, columns.size
    if last > 0 and widths[columns[0]] > n_rows // 4:
        n_classes = refine_classes(labels, n_classes, codes[columns[0]], widths[columns[0]], relabelled)
        labels, relabelled = relabelled, labels
        first = 1
    else:
        while last > 0 and n_classes * (widths[columns[last - 1]] + 1) <= SLOTS_PER_ROW * n_rows + SLOTS_ALWAYS:
            last -= 1
            n_classes = refine_classes(labels, n_classes, codes[columns[last]], widths[columns[last]], relabelled)
            labels, relabelled = relabelled, labels
    _start_level(labels, n_classes, counts, levels)
    level = 0
    while first < last:
        joint_codes, width = codes[columns[first]], widths[columns[first]] + 1
        first += 1
        while first < last and width * (widths[columns[first]] + 1) <= levels.touched.size:
            wide = widths[columns[first]] + 1
            # Both codes count from -1.
            joint_codes = (joint_codes + np.int32(1)) * np.int32(wide) + codes[columns[first]]
            width *= wide
            first += 1
        _split_level(levels, level, joint_codes, counts)
        level += 1
    return level


@jit
def _start_level(labels: CodeArray, n_classes: int, counts: CountArray, levels: Levels) -> None:
    """Make level 0 from given classes."""
    n_members = np.zeros(n_classes, np.int32)
    sizes = np.zeros(n_classes, np.int64)
    for row in range(labels.size):
        n_members[labels[row]] += 1
        sizes[labels[row]] += counts[row]
    n_split = n_single = single_pairs = pairs = filled = 0
    smallest = smallest_single = sizes[0]
    for c in range(n_classes):
        size = sizes[c]
        pairs += size * (size - 1) // 2
        smallest = min(smallest, size)
        if n_members[c] == 1:
            smallest_single = min(smallest_single, size) if n_single > 0 else size
            n_single += 1
            single_pairs += size * (size - 1) // 2
            n_members[c] = -1
        else:
            filled += n_members[c]
            # From here on, where the next row of the class goes.
            n_members[c] = filled - n_members[c]
            levels.ends[0, n_split] = filled
            n_split += 1
    for row in range(labels.size):
        position = n_members[labels[row]]
        if position >= 0:
            levels.rows[0, position] = row
            n_members[labels[row]] = position + 1
    levels.tally[0, :4] = (n_split, n_single, single_pairs, smallest_single)
    levels.tally[0, 4:] = (n_classes, pairs, smallest)


@jit
def walk_subsets(
    codes: CodeArray, counts: CountArray, bits: CountArray, prefix: CountArray, levels: Levels, figures: CountArray
) -> None:
    """Measure every union of a prefix, which ends with the first column that may be added, and later columns."""
    n_columns = bits.size
    base = prefix.size - 1
    _start_level(np.zeros(counts.size, np.int32), 1, counts, levels)
    for i in range(base):
        _split_level(levels, i, codes[prefix[i]], counts)
    mask = bits[prefix[:base]].sum()
    figures[mask] = levels.tally[base, 4:]
    path = np.zeros(n_columns + 1, np.int64)
    level = base
    column = prefix[base]
    while True:
        if column < n_columns:
            _split_level(levels, level, codes[column], counts)
            mask += bits[column]
            path[level] = column
            level += 1
            figures[mask] = levels.tally[level, 4:]
            column += 1
        elif level > base:
            level -= 1
            mask -= bits[path[level]]
            column = path[level] + 1
        else:
            return


@jit
def _split_level(levels: Levels, level: int, codes: CodeArray, counts: CountArray) -> None:
    """Split the classes of a level by one column; they become the next level."""
    rows, next_rows, ends = levels.rows[level], levels.rows[level + 1], levels.ends[level + 1]
    bins, touched, row_codes = levels.bins, levels.touched, levels.row_codes
    n_single, single_pairs, smallest_single = levels.tally[level, 1], levels.tally[level, 2], levels.tally[level, 3]
    if n_single == 0:
        smallest_single = np.iinfo(np.int64).max
    smallest = smallest_single
    n_classes = filled = begin = pairs = 0
    for c in range(levels.tally[level, 0]):
        end = levels.ends[level, c]
        n_touched = 0
        for i in range(begin, end):
            code = codes[rows[i]] + 1
            row_codes[i] = code
            if bins[0, code] == 0:
                touched[n_touched] = code
                n_touched += 1
            bins[0, code] += 1
            bins[1, code] += counts[rows[i]]
        # From here on bins[0] is where the next row of a code goes, or -1 where it is alone.
        for j in range(n_touched):
            code = touched[j]
            n_rows, size = bins[0, code], bins[1, code]
            smallest = min(smallest, size)
            bins[1, code] = 0
            if n_rows == 1:
                bins[0, code] = -1
                n_single += 1
                single_pairs += size * (size - 1) // 2
                smallest_single = min(smallest_single, size)
            else:
                bins[0, code] = filled
                filled += n_rows
                ends[n_classes] = filled
                n_classes += 1
                pairs += size * (size - 1) // 2
        for i in range(begin, end):
            code = row_codes[i]
            position = bins[0, code]
            if position >= 0:
                next_rows[position] = rows[i]
                bins[0, code] = position + 1
        for j in range(n_touched):
            bins[0, touched[j]] = 0
        begin = end
    levels.tally[level + 1, :4] = (n_classes, n_single, single_pairs, smallest_single)
    levels.tally[level + 1, 4:] = (n_single + n_classes, single_pairs + pairs, smallest)
