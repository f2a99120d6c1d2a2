"""The margin of a column: what drawn records may show of its values, if few people share them.

The records of a column stand in a line by their values (`writing`). A value that at least ten people share stays as
it is. All others lose theirs: numbers and times are spread over bins of at least ten people, categories are pooled.
Arrays in, arrays out.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.tables import Table

MIN_PEOPLE: Final = 10
"""How many people share a value that synthetic records may show.

Attacks that count values find people through fewer; more lose categories and hide hardly more: docs/synthesize.md.
"""

_MAX_BINS: Final = 64
"""Into how many bins the people of a column of numbers are put, at most.

Every bin as full as in the original tells of its people: an attack adds that up over the bins. Fewer bins lose heaps.
"""

_HEAP: Final = 3.0  # a number stays alone if it has so many times the people of the values around it
_N_AROUND: Final = 5  # values around it, on each side

_ROUNDING: Final = 1e-6  # shares of persons, such as thirds, may sum to just below a whole number


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """How many people share each value of a column."""

    people: CountArray = field(repr=False)  # (n_values,)
    # (n_values,), records of each value, of which each person's sum to 1: people in several values, at least
    weights: FloatArray = field(repr=False)

    @property
    def is_rare(self) -> BoolArray:
        """Which values fewer than ten people share."""
        return np.asarray(self.people < MIN_PEOPLE)


@dataclass(frozen=True, slots=True, eq=False)
class Original:
    """The records to learn from, ready to be drawn from."""

    table: Table  # rare categories of a column all have the code of the first of them
    sharing: tuple[Sharing, ...] = field(repr=False)
    weights: FloatArray = field(repr=False)  # (n_rows,), of each record of a row; those of a person sum to 1


def build_original(table: Table, persons: CodeArray | None, *, pools: bool = True) -> Original:
    """Count who shares what, and pool rare categories if asked; `persons` are those of the rows, -1 is nobody's."""
    persons = np.full(table.n_rows, -1) if persons is None else persons
    records = np.bincount(persons + 1, weights=table.counts)
    weights = np.where(persons < 0, 1.0, 1 / np.maximum(records[persons + 1], 1))
    sharing = tuple(
        _count_sharing(codes, table.counts, persons, weights, column.n_values)
        for codes, column in zip(table.codes, table.columns, strict=True)
    )
    codes = table.codes.copy()
    for j, column in enumerate(table.columns):
        rare = np.append(sharing[j].is_rare, False)  # the missing code, -1, is last
        if pools and column.kind == "category" and rare.any():
            codes[j, rare[codes[j]]] = np.argmax(rare)
    return Original(replace(table, codes=codes), sharing, weights)


def _count_sharing(
    codes: CodeArray, counts: CountArray, persons: CodeArray, weights: FloatArray, n_values: int
) -> Sharing:
    has_value, is_person = codes >= 0, persons >= 0
    nobodys = np.bincount(codes[has_value & ~is_person], counts[has_value & ~is_person], n_values)
    pairs = np.unique(np.stack([codes, persons])[:, has_value & is_person & (counts > 0)], axis=1)
    people = nobodys + np.bincount(pairs[0], minlength=n_values)
    shares = np.bincount(codes[has_value], (weights * counts)[has_value], n_values)
    return Sharing(people.astype(np.int64), shares.astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Consecutive values of a column of numbers: each a value that many share, or a bin of several that few share."""

    begins: CountArray = field(repr=False)  # (n_bins,), the first value of each
    is_spread: BoolArray = field(repr=False)  # (n_bins,), whether its records lie anywhere between `lows` and `highs`
    lows: FloatArray = field(repr=False)  # (n_bins,)
    highs: FloatArray = field(repr=False)  # (n_bins,)


def find_bins(sharing: Sharing) -> tuple[CountArray, BoolArray]:
    """Return where bins begin, and which are spread: numbers that stay alone, runs of others in bins of enough people.

    A number stays if it fills a bin by itself, or is a heap. What is left at the end of a run joins its last bin.
    """
    n_people = np.append(0, np.cumsum(sharing.weights))
    n_values = len(sharing.people)
    fill = max(MIN_PEOPLE, n_people[-1] / _MAX_BINS)
    stays = ~sharing.is_rare & ((sharing.people >= fill) | _is_heap(sharing.people))
    # A run begins where another value follows one that stays, and every value that stays is a run of its own.
    runs = np.flatnonzero(stays | np.append(True, stays[:-1]))
    begins: list[int] = []
    upto = n_people.tolist()
    for begin, end in zip(runs.tolist(), [*runs[1:].tolist(), n_values], strict=True):
        begins.append(begin)
        while True:
            begin = bisect_left(upto, upto[begin] + fill - _ROUNDING, begin + 1, end + 1)
            if begin > end or upto[end] - upto[begin] < fill - _ROUNDING:
                break
            begins.append(begin)
    bins = np.array(begins, dtype=np.int64)
    return bins, ~stays[bins]


def _is_heap(people: CountArray) -> BoolArray:
    """Tell which values have three times as many people as the five values on each side have in the mean."""
    upto = np.append(0, np.cumsum(people))
    at = np.arange(len(people))
    begin, end = np.maximum(at - _N_AROUND, 0), np.minimum(at + _N_AROUND + 1, len(people))
    around = upto[end] - upto[begin] - people
    return np.asarray(people * (end - begin - 1) >= _HEAP * around)


def build_bins(values: FloatArray, sizes: CountArray, sharing: Sharing) -> Bins:
    """Find the bins of a column, and between which numbers the records of each lie.

    Two bins part halfway between their values. An end beside no other bin lies so that the bin keeps its mean, or, if
    both do, its standard deviation, but not past the next shared value or the extreme of the column. A run of fewer
    than ten people lies between its shared neighbours: its own values would tell of too few.
    """
    begins, is_spread = find_bins(sharing)
    ends = np.append(begins[1:], len(values))
    first, last = values[begins], values[ends - 1]
    n_people = np.add.reduceat(sharing.weights, begins)
    shares = sizes / np.maximum(np.add.reduceat(sizes, begins), 1).repeat(ends - begins)
    # Borders between neighbours: halfway between two bins, else at the shared value.
    halfway = last[:-1] / 2 + first[1:] / 2
    borders = np.where(is_spread[:-1], np.where(is_spread[1:], halfway, first[1:]), last[:-1])
    lows, highs = np.append(first[:1], borders), np.append(borders, last[-1:])
    is_short = n_people < MIN_PEOPLE - _ROUNDING
    knows_low = np.append(False, is_spread[:-1] | is_short[1:])
    knows_high = np.append(is_spread[1:] | is_short[:-1], False)
    # Numbers near the largest float overflow to infinity, and are cut to the bounds.
    with np.errstate(over="ignore"):
        means = np.add.reduceat(values * shares, begins)
        variances = np.add.reduceat((values - means.repeat(ends - begins)) ** 2 * shares, begins)
        half_widths = np.sqrt(3 * variances)
        low_ends = np.where(knows_high, means - (highs - means), means - half_widths)
        high_ends = np.where(knows_low, means + (means - lows), means + half_widths)
    low_ends = np.where(knows_low, lows, np.clip(low_ends, lows, highs))
    high_ends = np.where(knows_high, highs, np.clip(high_ends, lows, highs))
    return Bins(begins, is_spread, np.where(is_spread, low_ends, first), np.where(is_spread, high_ends, first))


def replace_rare_categories(ends: CountArray, sharing: Sharing, positions: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Move positions in the pool of rare categories to the others, as often as these are; tell which cells stay empty.

    Cells stay empty where more than half of the records that have a value would have to be moved.
    """
    sizes = np.diff(ends)
    pool = int(np.argmax(sharing.is_rare))
    in_pool = (positions >= ends[pool]) & (positions < ends[pool + 1]) & sharing.is_rare.any()
    if not in_pool.any():
        return positions, in_pool
    kept = np.where(sharing.is_rare, 0, sizes)
    if 2 * kept.sum() < sizes.sum():
        return positions, in_pool
    shares = (positions[in_pool] - ends[pool]) / sizes[pool]
    kept_ends = np.cumsum(kept)
    turns = shares * kept_ends[-1]
    code = np.searchsorted(kept_ends, turns, side="right")
    moved = positions.copy()
    moved[in_pool] = turns - (kept_ends - kept)[code] + ends[code]
    return moved, np.zeros_like(in_pool)


def replace_rare_ranks(ends: CountArray, sharing: Sharing, positions: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Move positions in rare values of an ordered column to the nearest shared value; without one, cells stay empty."""
    sizes = np.diff(ends)
    shared = np.flatnonzero(~sharing.is_rare & (sizes > 0))
    is_present = positions >= ends[0]
    if not len(shared):
        return positions, is_present
    middles = (ends[:-1] + ends[1:]) / 2
    # Halfway between two shared values the next one begins.
    turn = np.searchsorted((middles[shared][1:] + middles[shared][:-1]) / 2, positions)
    low, high = ends[shared[turn]], np.nextafter(ends[shared[turn] + 1].astype(np.float64), 0)
    code = np.clip(np.searchsorted(ends, positions, side="right") - 1, 0, len(sizes) - 1)
    moves = is_present & sharing.is_rare[code]
    return np.where(moves, np.clip(positions, low, high), positions), np.zeros_like(is_present)
