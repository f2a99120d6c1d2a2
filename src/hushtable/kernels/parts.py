"""Cuts of classes whose rows lie in parts, on several machines: chosen in one place, counted in many.

Each part counts its rows on the left of every cut that may be the best; the result is the same cut as over all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import jit_bare
from hushtable.kernels.class_profile import Axes, Profile, profile_rows
from hushtable.kernels.rows import ByteArray, Rows
from hushtable.kernels.split import (
    CUTS_PER_BYTE,
    Choice,
    CutNode,
    JudgedCut,
    Options,
    Work,
    best_by_median,
    compare_cuts,
    rank_by_gain,
    varying_columns,
)


@jit_bare
def rank_cuts(
    rows: Rows,
    axes: Axes,
    checker: JudgedCut,
    by_gain: bool,
    deals_ties: bool,
    options: Options,
    work: Work,
    bounds: CountArray,
) -> int:
    """Choose the candidate cuts of one class, and return how many; the median rule has one, the best.

    They are the first of ``work.choice.cuts``, and what the class holds is in ``work.profile``; bounds are tightened.
    """
    size = 0
    for i in range(rows.order.size):
        size += rows.words[i, rows.words.shape[1] - 1] if rows.is_weighted else 1
    if size < 2 * options.min_size or rows.order.size < 2:
        return 0
    node = CutNode(0, rows.order.size, size)
    profile_rows(rows, axes, work.profile, 0, rows.order.size, bounds)
    if by_gain:
        return rank_by_gain(rows, axes, checker, options, work.profile, work.choice, node)
    return 1 + best_by_median(rows, axes, checker, options, work.profile, work.choice, node, deals_ties)


@jit_bare
def best_by_marks(axes: Axes, profile: Profile, choice: Choice, n_cuts: int, marks: ByteArray, size: int) -> int:
    """Return the ranked cut that gains most over all columns; marks are the sides of codes, two bits a cut."""
    n_varying = varying_columns(axes, profile)
    varying = profile.varying[:, :n_varying]
    best, best_gain = 0, -1.0
    for group in range(marks.shape[0]):
        first = group * CUTS_PER_BYTE
        last = min(first + CUTS_PER_BYTE, n_cuts)
        for c in range(varying.shape[1]):
            j, begin = int(varying[0, c]), int(varying[1, c])
            for position in range(begin, begin + profile.columns[j].n_codes):
                entry = begin + profile.entries[position].code
                choice.marks[entry] = marks[group, entry]
        best, best_gain = compare_cuts(axes, profile, choice, varying, (first, last), size, (best, best_gain))
    return best


class Sides(NamedTuple):
    """Cuts of several classes whose left sides are counted."""

    columns: CodeArray  # (n_classes, n_cuts), which column each cuts; -1 where a class has no more cuts
    starts: CountArray  # (n_classes, n_cuts), where its flags of its column's codes begin
    goes_left: ByteArray  # 1 where a code goes left
    begins: CountArray  # (n_columns + 1,), where the entries of each column begin


@jit_bare
def tally_left_sides(
    codes: NDArray[Any], class_of_row: CodeArray, kinds: CodeArray, sides: Sides, counts: CountArray
) -> None:
    """Add rows, one record each, to the counts of the left sides of cuts; rows of class -1 are skipped."""
    n_columns = sides.begins.size - 1
    for i in range(class_of_row.size):
        label, kind = class_of_row[i], kinds[i]
        if label < 0:
            continue
        for c in range(sides.columns.shape[1]):
            column = sides.columns[label, c]
            if column < 0:
                break
            if sides.goes_left[sides.starts[label, c] + codes[i, column]]:
                for j in range(n_columns):
                    counts[label, c, sides.begins[j] + codes[i, j], kind] += 1
