"""What a class that was not cut tells, from the definition: all ways to deal its values, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations


def sides_of(values: Sequence[object], *, is_ordered: bool) -> Iterator[set[object]]:
    """Return the values that the cuts of a column send left: the lowest, or the most frequent ones."""
    counts = Counter(values)
    order = sorted(counts) if is_ordered else sorted(counts, key=lambda value: (-counts[value], str(value)))
    for length in range(1, len(order)):
        yield {*order[:length]}


def cuts_of(rows: Sequence[Sequence[object]], ordered: Sequence[bool], min_size: int) -> list[list[bool]]:
    """Return which rows go left by each cut that leaves enough on both sides."""
    found = []
    for j, is_ordered in enumerate(ordered):
        for left in sides_of([row[j] for row in rows], is_ordered=is_ordered):
            side = [row[j] in left for row in rows]
            if min(sum(side), len(side) - sum(side)) >= min_size:
                found.append(side)
    return found


def values_left(
    values: Sequence[object], cuts: Sequence[Sequence[bool]], passes: Callable[[list[object]], bool]
) -> list[set[object]]:
    """Return what may be each row's value: those of the arrangements under which every cut fails on a side."""
    left: list[set[object]] = [set() for _ in values]
    for arranged in {*permutations(values)}:
        pairs = [[*zip(arranged, side, strict=True)] for side in cuts]
        halves = [[[value for value, is_left in pair if is_left is half] for half in (True, False)] for pair in pairs]
        if not any(all(passes(half) for half in both) for both in halves):
            for place, value in zip(left, arranged, strict=True):
                place.add(value)
    return left
