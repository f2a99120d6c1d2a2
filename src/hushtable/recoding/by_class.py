"""What classes publish in a column, as a record: some classes of one, and the classes of several in a row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, frozen, remade

__all__ = ["Classwise", "are_alike", "distinct_pairs", "numbered", "runs_of"]

_OFFSETS: Final = "offsets"


@dataclass(frozen=True, slots=True, eq=False)
class Classwise:
    """Base of what classes publish in a column; its arrays are read-only, and again after pickling.

    Attributes
    ----------
    per_class : tuple of str
        The arrays with an entry for every class.
    run : str
        The array of which ``offsets`` gives every class a run; empty where there is none.
        All other attributes are of the column as a whole.
    """

    per_class: ClassVar[tuple[str, ...]] = ()
    run: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for each in fields(self):
            if isinstance(getattr(self, each.name), np.ndarray):
                frozen(getattr(self, each.name))

    __reduce__ = remade

    def take(self, classes: CountArray | BoolArray) -> Self:
        """Return what some classes publish, in the order in which they are named, or all that are marked."""
        taken = {name: getattr(self, name)[classes] for name in self.per_class}
        if self.run:
            offsets = getattr(self, _OFFSETS)
            begins, lengths = offsets[:-1][classes], np.diff(offsets)[classes]
            taken[_OFFSETS] = np.append(0, np.cumsum(lengths))
            shifts = np.repeat(begins - taken[_OFFSETS][:-1], lengths)
            taken[self.run] = getattr(self, self.run)[np.arange(len(shifts)) + shifts]
        return replace(self, **taken)

    def unlike(self, other: object) -> str | None:
        """Return what keeps two records from being parts of one: an attribute, ``"kind"``, or None for nothing."""
        if type(self) is not type(other):
            return "kind"
        own = {*self.per_class, *((_OFFSETS, self.run) if self.run else ())}
        shared = (each.name for each in fields(self) if each.name not in own)
        return next((name for name in shared if not are_alike(getattr(self, name), getattr(other, name))), None)

    def followed_by(self, others: Sequence[Self]) -> Self:
        """Return what the classes of this and of other records publish in a row; none of them is `unlike` it."""
        parts = (self, *others)
        arrays = (*self.per_class, self.run) if self.run else self.per_class
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        if self.run:
            lengths = np.concatenate([np.diff(getattr(part, _OFFSETS)) for part in parts])
            joined[_OFFSETS] = np.append(0, np.cumsum(lengths))
        return replace(self, **joined)


def are_alike(one: Any, other: Any) -> bool:
    """Tell whether records, arrays or plain values have the same content, wherever they were made."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        names = (each.name for each in fields(one) if each.compare)
        return all(are_alike(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return bool(one == other)


def runs_of(offsets: CountArray, codes: CodeArray) -> Iterator[bytes]:
    """Return the codes of every class as bytes, which can be looked up."""
    whole, ends = codes.tobytes(), (offsets * codes.itemsize).tolist()
    return (whole[begin:end] for begin, end in pairwise(ends))


def numbered(keys: Iterable[Hashable]) -> tuple[CodeArray, CountArray]:
    """Number keys by first appearance, equal ones alike; return also where each number appears first."""
    seen: dict[Hashable, int] = {}
    numbers = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int32)
    return numbers, np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))


def distinct_pairs(first: CountArray, second: CountArray) -> tuple[list[tuple[int, int]], CodeArray]:
    """Return the distinct pairs of two arrays in ascending order, and which of them stands at each place."""
    (firsts, place), (seconds, beside) = (np.unique(each, return_inverse=True) for each in (first, second))
    keys, number = np.unique(place * len(seconds) + beside, return_inverse=True)
    pairs = firsts[keys // len(seconds)].tolist(), seconds[keys % len(seconds)].tolist()
    return list(zip(*pairs, strict=True)), number.astype(np.int32)
