"""Recognise codes such as postcodes, and write ranges of them in their order."""

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

_MIN_UNITS_PER_RANGE: Final = 5  # a range is rounded to prefixes only if it spans about so many of them

_CODE: Final = re.compile(r"[0-9A-Za-z](?:[./ -]?[0-9A-Za-z])*", re.ASCII)
# Postcodes of the United Kingdom: their first half has two to four characters, so patterns differ.
_BRITISH: Final = re.compile(r"[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}", re.ASCII)
_KINDS: Final = (("[0-9]", "9"), ("[A-Z]", "A"), ("[a-z]", "a"))


def are_codes(texts: Sequence[str]) -> bool:
    """Tell whether all texts are codes of one pattern, so that readers understand ranges of them.

    Letters and digits are at the same positions in all. A text may be shorter if it ends before a mark or after a
    point: ``I10``, ``I10.9``, ``I10.90``. Postcodes of the United Kingdom are codes of several patterns.
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
    """Codes in their order, and the prefixes to which the ends of ranges are rounded.

    A range is rounded outwards to the shortest prefixes of which it spans about five: codes from 20345 to 45812
    become ``[20*, 45*]``, those from 20345 to 20349 stay so.
    """

    texts: tuple[str, ...] = field(repr=False)  # ascending
    lengths: CountArray = field(repr=False)  # by level, the characters of its prefixes; level 0 is the values
    starts: CountArray = field(repr=False)  # (n_levels, n_values): the first value that shares the prefix of each value
    ends: CountArray = field(repr=False)  # (n_levels, n_values): one after the last that shares it
    min_sizes: CountArray = field(repr=False)  # by level, the fewest values of a range that is rounded to it
    # The lengths of the user's rule, or all below the longest code's: they do not tell which codes occur
    prefixes: tuple[int, ...] = ()
    # Whether a class under one prefix publishes it, even if a range of longer prefixes is narrower
    keeps_labels: bool = False

    @classmethod
    def from_texts(cls, texts: Sequence[str], lengths: Sequence[int] | None = None) -> CodeGrid:
        """Lay out ascending codes, with the prefix lengths of a hierarchy (descending), or with all lengths."""
        width = max(map(len, texts))
        tried = lengths or [width, *list_prefix_lengths(texts)]
        values = np.arange(len(texts))
        # A01 as an end of a range stands for A01.0 too.
        reach = [bisect_right(texts, f"{text}\U0010ffff") for text in texts]
        kept_lengths, starts, ends, min_sizes = [width], [values], [values + 1], [1]
        for length in tried:
            first = np.unique([text[:length] for text in texts], return_index=True)[1]
            unit = np.searchsorted(first, values, side="right") - 1
            if len(first) == 1:
                # All codes share this prefix, and all shorter ones.
                break
            if len(kept_lengths) > 1 and np.array_equal(first[unit], starts[-1]):
                # The same groups as the longer prefix: keep the shorter one instead.
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
        """Round each run of values outwards; return the first value of the range, and one after its last."""
        level = np.searchsorted(self.min_sizes, high - low + 1, side="right") - 1
        if self.keeps_labels:
            shared = self.starts[:, low] == self.starts[:, high]
            level = np.where(shared.any(axis=0), shared.argmax(axis=0), level)
        return self.starts[level, low], self.ends[level, high]

    def format_range(self, begin: int, end: int) -> str:
        """Format a range of values: as one prefix, or by the prefixes at its ends."""
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
        """Return the shortest prefix of the later of two values that sorts after the earlier one."""
        before, after = self.texts[low], self.texts[high]
        return next(after[:length] for length in range(1, len(after) + 1) if after[:length] > before)


def list_prefix_lengths(texts: Sequence[str]) -> tuple[int, ...]:
    """List all lengths below that of the longest code, descending, at which no prefix of a code ends with a mark."""
    return tuple(length for length in range(max(map(len, texts)) - 1, 0, -1) if _ends_well(texts, length))


def _ends_well(texts: Sequence[str], length: int) -> bool:
    # British: the blank after the first half makes prefixes unambiguous, `E1 *` does not include E10.
    return all(map(_BRITISH.fullmatch, texts)) or all(
        text[length - 1].isalnum() for text in texts if len(text) >= length
    )


def _format_end(text: str, length: int) -> str:
    """Format one end of a range; no star if the prefix ends at a mark or at the end of the code."""
    # British: without a star, E1 would hide that E10 begins with it too.
    is_whole = len(text) <= length or not (text[length].isalnum() or _BRITISH.fullmatch(text))
    return text[:length] if is_whole and any(map(str.isdigit, text[:length])) else f"{text[:length]}*"
