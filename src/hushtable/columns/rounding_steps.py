"""Propose the step to which the numbers of a kept column are rounded, so that few records stay alone."""

from __future__ import annotations

import bisect
import math
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns.column import Column
from hushtable.columns.rounding import KeptRounding, format_number, round_floats

_LEADING_DIGITS: Final = (1, 2, 5)
_LEAST_EXPONENT: Final = -6  # of a proposed step
_MOST_DISTINCT_STEPS: Final = 1e9  # a step is no smaller part of the range


class ProposedStep(NamedTuple):
    """A step, and how many records are then alone with their number."""

    column: str
    round: float
    n_alone: int
    n_now: int  # how many are alone with their number as it is
    n_records: int
    in_class: bool  # whether they are alone in their class, or in the whole table

    @property
    def entry(self) -> str:
        """The column and its step, as the command takes them."""
        return f"{self.column}={format_number(self.round)}"

    def describe(self) -> str:
        """Describe what rounding would do."""
        step, name = format_number(self.round), self.column
        if self.in_class:
            return (
                f"round: {step} leaves {self.n_alone:,} of {self.n_records:,} records alone on {name} in their class "
                f"(now {self.n_now:,})"
            )
        return (
            f"round: {step} leaves {self.n_alone:,} of {self.n_records:,} records alone on {name} (now {self.n_now:,})"
        )


def propose_step(
    column: Column, codes: CodeArray, counts: CountArray, rate: float, classes: CodeArray | None = None
) -> ProposedStep | None:
    """Propose the least step, 1, 2 or 5 times a power of ten, that leaves at most a share of the records alone.

    Parameters
    ----------
    column : Column
        Of numbers.
    codes : ndarray of int32, shape (n_rows,)
        Of the column; -1 is missing, which is a value of its own.
    counts : ndarray of int64, shape (n_rows,)
        How many records each row stands for.
    rate : float
        A share of the records, in [0, 1].
    classes : ndarray of int32, shape (n_rows,), optional
        Records are then counted that are alone in their class.

    Returns
    -------
    ProposedStep or None
        None where the column holds no numbers, no more records are alone now, or no step is enough.

    Notes
    -----
    A binary search: a larger step is taken to leave fewer alone, which the proposed one was counted for.
    """
    if column.kind not in ("integer", "decimal") or not column.n_values:
        return None
    most, steps = int(rate * counts.sum()), list_steps(column)
    count = partial(_count_alone, *_sort_cells(codes, counts, column.n_values, classes))
    if count(np.arange(column.n_values)) <= most:
        return None
    place = bisect.bisect_left(steps, True, key=lambda step: count(_rank_rounded(column, step)) <= most)
    return None if place == len(steps) else measure_step(column, codes, counts, steps[place], classes)


def measure_step(
    column: Column, codes: CodeArray, counts: CountArray, step: float, classes: CodeArray | None
) -> ProposedStep:
    """Count who is alone with a number rounded to a step, and as it is; parameters as of `propose_step`."""
    count = partial(_count_alone, *_sort_cells(codes, counts, column.n_values, classes))
    n_now, n_alone = count(np.arange(column.n_values)), count(_rank_rounded(column, step))
    return ProposedStep(column.name, step, n_alone, n_now, int(counts.sum()), classes is not None)


def round_codes(column: Column, codes: CodeArray, step: float) -> CodeArray:
    """Encode numbers rounded to a step; a missing one is a value of its own."""
    ranks = _rank_rounded(column, step)
    return np.append(ranks, len(ranks))[codes].astype(np.int32)


def list_steps(column: Column) -> list[float]:
    """List the steps between the least distance of two values and their range."""
    values = column.values.astype(np.float64)
    span = float(values[-1] - values[0])
    if not 0 < span < math.inf:
        return []
    least = max(float(np.diff(values).min()), span / _MOST_DISTINCT_STEPS)
    exponents = range(max(_LEAST_EXPONENT, math.floor(math.log10(least))), math.floor(math.log10(span)) + 1)
    steps = [float(f"{digit}e{exponent}") for exponent in exponents for digit in _LEADING_DIGITS]
    return [int(step) if step == int(step) else step for step in steps if step <= span]


def _rank_rounded(column: Column, step: float) -> CountArray:
    """Return the rank of each rounded value; values are in order."""
    rounded = round_floats(column.values.astype(np.float64), KeptRounding(round=step))
    return np.cumsum(np.append(False, rounded[1:] != rounded[:-1]))


def _sort_cells(
    codes: CodeArray, counts: CountArray, n_values: int, classes: CodeArray | None
) -> tuple[CountArray, BoolArray]:
    """Sort cells by class and value, the missing one last; return their values' codes, and where a class begins.

    Rounding keeps this order. Of equal records two are enough to see that none is alone.
    """
    keys = np.where(codes < 0, n_values, codes)
    if classes is not None:
        keys = keys + classes.astype(np.int64) * (n_values + 1)
    keys = np.sort(np.repeat(keys, np.minimum(counts, 2)))
    groups, sorted_codes = np.divmod(keys, n_values + 1)
    return sorted_codes, groups[1:] != groups[:-1]


def _count_alone(codes: CountArray, begins_class: BoolArray, ranks: CountArray) -> int:
    """Count the records that are alone in their class with the rank of their value."""
    cell_ranks = np.append(ranks, len(ranks))[codes]
    is_edge = np.concatenate([[True], begins_class | (cell_ranks[1:] != cell_ranks[:-1]), [True]])
    return int((is_edge[1:] & is_edge[:-1]).sum())
