"""Rows grouped without a partition: equal rows, and what rows with missing cells match.

Plain NumPy, for the verifier, which shares no code with what it verifies, and for
readings of the missing value that are no partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, Missing
from hushtable.models import Histogram
from hushtable.search import check_memory

__all__ = ["count_values", "label_rows", "match_classes", "match_sizes", "tallied"]

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, and its powers have bits everywhere
_ROOM: Final = 16  # slots for a row, so that few others share one


def match_sizes(codes: CodeArray, counts: CountArray, missing: Missing) -> CountArray:
    """Count the records that each distinct row matches.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_columns, n_distinct)
        Distinct rows; -1 is missing.
    counts : ndarray of int64, shape (n_distinct,)
        Records of each row.
    missing : {"category", "wildcard", "worst"}
        As in `hushtable.verify`.
    """
    if missing == "category":
        return counts
    sizes, _ = match_classes(codes, counts, {}, missing)
    return sizes


def label_rows(codes: CodeArray) -> tuple[CountArray, CountArray]:
    """Label equal rows alike; return the labels and the first row of each."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    n_keys = 1
    for column in codes:
        width = int(column.max(initial=-1)) + 2
        if n_keys * width >= 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            n_keys = len(keys)
        keys = keys * width + (column + 1)
        n_keys *= width
    if n_keys > 4 * len(keys) + 65_536:
        _, first, labels = np.unique(keys, return_index=True, return_inverse=True)
        return labels, first
    row_of = np.full(n_keys, -1)
    # From the last row to the first, which stays.
    row_of[keys[::-1]] = np.arange(len(keys))[::-1]
    is_used = row_of >= 0
    return (np.cumsum(is_used) - 1)[keys], row_of[is_used]


def tallied(labels: CountArray | CodeArray, n_labels: int, counts: CountArray | None = None) -> CountArray:
    """Count the records of every label: each row is one, or as many as its count says."""
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    return np.bincount(labels, weights=counts, minlength=n_labels).astype(np.int64)


def count_values(labels: CountArray, codes: CodeArray, n_classes: int, counts: CountArray | None = None) -> Histogram:
    """Count the values of every class, by sorting pairs of label and value."""
    width = int(codes.max(initial=-1)) + 2
    pairs, inverse = np.unique(labels * width + (codes + 1), return_inverse=True)
    n_pairs = tallied(inverse, len(pairs), counts)
    offsets = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * width)
    return Histogram(offsets, (pairs % width - 1).astype(np.int32), n_pairs)


def match_classes(
    codes: CodeArray, sizes: CountArray, histograms: dict[str, Histogram], missing: Missing
) -> tuple[CountArray, dict[str, Histogram]]:
    """Replace classes, which are distinct rows, by what each matches when missing cells match anything, or nothing."""
    gaps = codes < 0
    if missing == "worst":
        lone = np.asarray(gaps.any(axis=0))
        return np.where(lone, 1, sizes), {name: _alone(each, lone) for name, each in histograms.items()}
    n_classes = codes.shape[1]
    if n_classes == 0:
        return sizes, histograms
    # Of rows with the same gaps every one matches itself alone, for they are distinct.
    matched = sizes.astype(np.int64)
    found = {name: [(each.labels(), each.codes, each.counts)] for name, each in histograms.items()}
    pattern, _ = label_rows(gaps.astype(np.int32) - 1)
    members = [np.flatnonzero(pattern == label) for label in range(int(pattern.max(initial=-1)) + 1)]
    for rows in _meeting(codes, members):
        known = ~(gaps[:, rows[0][0]] | gaps[:, rows[1][0]])
        labels, first = label_rows(codes[np.ix_(np.flatnonzero(known), np.concatenate(rows))])
        sides = list(zip(rows, np.split(labels, [len(rows[0])]), strict=True))
        for (ours, mine), (theirs, other) in (sides, sides[::-1]):
            # Sums of whole numbers below 2^53 are exact in bincount's floats.
            matched[ours] += np.bincount(other, weights=sizes[theirs], minlength=len(first)).astype(np.int64)[mine]
            for name, histogram in histograms.items():
                found[name].append(_merged(histogram, theirs, other, ours, mine, len(first)))
    merged = {}
    for name, parts in found.items():
        labels, values, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        merged[name] = count_values(labels, values, n_classes, counts)
    return matched, merged


def _meeting(codes: CodeArray, members: Sequence[CountArray]) -> Iterator[tuple[CountArray, CountArray]]:
    """Yield, for every two patterns of gaps, the rows that may match one of the other, if there are any.

    Rows that match have the same hash of what both know; others do seldom.
    """
    factors = np.cumprod(np.full(len(codes), _FACTOR))
    # A missing cell adds nothing to a hash.
    hashes = np.zeros(codes.shape[1], dtype=np.uint64)
    for column, factor in zip(codes, factors, strict=True):
        hashes += (column + 1).astype(np.uint64) * factor
    for ours, theirs in combinations(members, 2):
        shift = np.uint64(64 - (_ROOM * min(len(ours), len(theirs))).bit_length())
        slots = []
        for rows, other in ((ours, theirs), (theirs, ours)):
            hashed = hashes[rows]
            for j in np.flatnonzero(codes[:, other[0]] < 0).tolist():
                hashed -= (codes[j, rows] + 1).astype(np.uint64) * factors[j]
            slots.append((hashed >> shift).astype(np.int64))
        n_slots = 2 ** (64 - int(shift))
        found = ours[_are_in(slots[0], slots[1], n_slots)], theirs[_are_in(slots[1], slots[0], n_slots)]
        if len(found[0]) and len(found[1]):
            yield found


def _are_in(slots: CountArray, others: CountArray, n_slots: int) -> BoolArray:
    """Tell which slots are among others."""
    is_taken = np.zeros(n_slots, dtype=bool)
    is_taken[others] = True
    return np.asarray(is_taken[slots])


def _merged(
    histogram: Histogram, theirs: CountArray, other: CountArray, ours: CountArray, mine: CountArray, n_labels: int
) -> tuple[CountArray, CodeArray, CountArray]:
    """Give each of our classes the values of all their classes that share its label."""
    lengths = histogram.offsets[theirs + 1] - histogram.offsets[theirs]
    entries = _runs(histogram.offsets[theirs], lengths)
    joint = count_values(np.repeat(other, lengths), histogram.codes[entries], n_labels, histogram.counts[entries])
    widths = joint.offsets[mine + 1] - joint.offsets[mine]
    check_memory(
        48.0 * int(widths.sum()),
        f"reading the missing cells of {len(ours)} rows as wildcards, beside {len(theirs)} others",
        "judge with missing='category' or 'worst', or fewer rows at a time.",
    )
    taken = _runs(joint.offsets[mine], widths)
    return np.repeat(ours, widths), joint.codes[taken], joint.counts[taken]


def _runs(starts: CountArray, lengths: CountArray) -> CountArray:
    """Concatenate the ranges that begin at ``starts`` and have these lengths."""
    shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return np.asarray(np.arange(len(shift)) + shift)


def _alone(histogram: Histogram, lone: BoolArray) -> Histogram:
    """Leave one value in the histogram of every class whose records match only themselves."""
    n_classes = histogram.n_classes
    label = np.repeat(np.arange(n_classes), np.diff(histogram.offsets))
    entry = np.arange(len(label))
    kept = ~lone[label] | (entry == histogram.offsets[label])
    counts = np.where(lone[label], 1, histogram.counts)[kept]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(label[kept], minlength=n_classes))))
    return Histogram(offsets, histogram.codes[kept], counts)
