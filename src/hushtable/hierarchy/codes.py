"""Codes in their order: which texts are codes, and the ranges that classes of them publish."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import cells

_MIN_UNITS_PER_RANGE: Final = 5  # units that a range has at least whose ends are rounded to them

_CODE: Final = re.compile(r"[0-9A-Za-z](?:[./ -]?[0-9A-Za-z])*", re.ASCII)
# Postcodes of the United Kingdom, whose first half has two to four characters.
_BRITISH: Final = re.compile(r"[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}", re.ASCII)
_KINDS: Final = (("[0-9]", "9"), ("[A-Z]", "A"), ("[a-z]", "a"))


def are_codes(texts: Sequence[str]) -> bool:
    """Tell whether all texts are codes of one pattern, so that their order is what a reader expects.

    Letters and digits stand at the same places in all. A text may be shorter than others where it ends before a mark,
    or behind a point: ``I10``, ``I10.9``, ``I10.90``. Postcodes of the United Kingdom are codes of several patterns.
    """
    if not texts or not all(map(_CODE.fullmatch, texts)):
        return False
    if all(map(_BRITISH.fullmatch, texts)):
        return True
    patterns = set(map(_code_pattern, texts))
    longest = max(patterns, key=len)
    return all("9" in each and longest.startswith(each) and _may_end(longest, len(each)) for each in patterns)


def _code_pattern(text: str) -> str:
    for signs, kind in _KINDS:
        text = re.sub(signs, kind, text)
    return text


def _may_end(pattern: str, length: int) -> bool:
    return length == len(pattern) or not pattern[length].isalnum() or "." in pattern[:length]


@dataclass(frozen=True, slots=True, eq=False)
class CodeGrid:
    """Codes in their order, and the prefixes that ranges of them begin and end with.

    A range is rounded outwards to the shortest prefix of which it spans about five: codes from 20345 to 45812
    become ``[20*, 45*]``, those from 20345 to 20349 stay so.
    """

    texts: tuple[str, ...] = field(repr=False)  # ascending
    lengths: CountArray = field(repr=False)  # characters of the prefixes of each level, the values themselves first
    starts: CountArray = field(repr=False)  # (n_levels, n_values): the first value that shares the prefix of each value
    ends: CountArray = field(repr=False)  # one after the last
    least: CountArray = field(repr=False)  # how many values a range holds at least that is rounded to each level
    # Lengths that were asked for, or all below that of codes: they tell nothing of who has which
    prefixes: tuple[int, ...] = ()
    # A class under one prefix publishes that, though a range of longer ones would be narrower
    keeps_labels: bool = False

    @classmethod
    def from_texts(cls, texts: Sequence[str], lengths: Sequence[int] | None = None) -> CodeGrid:
        """Lay out ascending codes; with the prefixes of a hierarchy, falling, or with all that there are."""
        width = max(map(len, texts))
        tried = lengths or [width, *(length for length in range(width - 1, 0, -1) if _ends_well(texts, length))]
        values = np.arange(len(texts))
        # A01 as an end of a range stands for A01.0 too.
        reach = [bisect_right(texts, f"{text}\U0010ffff") for text in texts]
        kept_lengths, starts, ends, min_sizes = [width], [values], [values + 1], [1]
        for length in tried:
            first = np.unique([text[:length] for text in texts], return_index=True)[1]
            unit = np.searchsorted(first, values, side="right") - 1
            if len(first) == 1:
                # A prefix that all share says nothing.
                break
            if len(kept_lengths) > 1 and np.array_equal(first[unit], starts[-1]):
                # It tells apart what the longer one does.
                kept_lengths[-1] = length
                continue
            kept_lengths.append(length)
            starts.append(first[unit])
            ends.append(np.maximum(np.append(first[1:], len(texts))[unit], reach))
            fits = 2 if len(kept_lengths) == 2 else ceil(_MIN_UNITS_PER_RANGE * len(texts) / len(first))
            min_sizes.append(max(fits, min_sizes[-1] + 1))
        prefixes = tuple(lengths or range(max(1, width - 1), 0, -1))
        arrays = np.array(kept_lengths), np.array(starts), np.array(ends), np.array(min_sizes)
        return cls(tuple(texts), *arrays, prefixes, lengths is not None)

    def round_outwards(self, low: CodeArray, high: CodeArray) -> tuple[CountArray, CountArray]:
        """Return the first value of the range over each run of values, and one after its last."""
        level = np.searchsorted(self.least, high - low + 1, side="right") - 1
        if self.keeps_labels:
            shared = self.starts[:, low] == self.starts[:, high]
            level = np.where(shared.any(axis=0), shared.argmax(axis=0), level)
        return self.starts[level, low], self.ends[level, high]

    def format_range(self, begin: int, end: int) -> str:
        """Write a range of values: one prefix, or the two that it begins and ends with."""
        if end - begin == 1:
            return cells.format_value(self.texts[begin])
        if end - begin == len(self.texts):
            return cells.SUPPRESSED
        fits = (self.starts[:, begin] == begin) & (self.ends[:, end - 1] == end)
        level = int(np.flatnonzero(fits)[-1])
        length = int(self.lengths[level])
        if self.starts[level, end - 1] == begin:
            return f"{self.texts[begin][:length]}*"
        return cells.format_interval(*(_format_end(self.texts[code], length) for code in (begin, end - 1)))

    def format_edge(self, low: int, high: int) -> str:
        """Write the shortest begin of a code that lies behind one value and not behind a later one."""
        before, after = self.texts[low], self.texts[high]
        return next(after[:length] for length in range(1, len(after) + 1) if after[:length] > before)


def _ends_well(texts: Sequence[str], length: int) -> bool:
    # Behind the halves of different lengths a blank tells where one ends: `E1 *` are those that begin with E1, not E10.
    return all(map(_BRITISH.fullmatch, texts)) or all(
        text[length - 1].isalnum() for text in texts if len(text) >= length
    )


def _format_end(text: str, length: int) -> str:
    """Write one end of a range: a mark, or nothing, behind it needs no star."""
    # E1 would hide that those of E10 begin with it too.
    is_whole = len(text) <= length or not (text[length].isalnum() or _BRITISH.fullmatch(text))
    return text[:length] if is_whole and any(map(str.isdigit, text[:length])) else f"{text[:length]}*"
