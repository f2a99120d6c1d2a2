"""Rows grouped without a partition: equal rows, and what rows with missing cells match.

Plain NumPy, for the verifier, which shares no code with what it verifies, and for
readings of the missing value that are no partitions.
"""

from __future__ import annotations

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, Missing
from hushtable.models.base import Histogram
from hushtable.search import check_memory

__all__ = ["count_values", "label_rows", "match_classes", "match_sizes"]


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
    _, first, labels = np.unique(keys, return_index=True, return_inverse=True)
    return labels, first


def count_values(labels: CountArray, codes: CodeArray, n_classes: int, counts: CountArray | None = None) -> Histogram:
    """Count the values of every class, by sorting pairs of label and value."""
    width = int(codes.max(initial=-1)) + 2
    pairs, inverse = np.unique(labels * width + (codes + 1), return_inverse=True)
    n_pairs = np.bincount(inverse, weights=counts, minlength=len(pairs)).astype(np.int64)
    offsets = np.searchsorted(pairs, np.arange(n_classes + 1, dtype=np.int64) * width)
    return Histogram(offsets, (pairs % width - 1).astype(np.int32), n_pairs)


def match_classes(
    codes: CodeArray, sizes: CountArray, histograms: dict[str, Histogram], missing: Missing
) -> tuple[CountArray, dict[str, Histogram]]:
    """Replace classes by what each of them matches when missing cells match anything, or nothing."""
    gaps = codes < 0
    if missing == "worst":
        lone = np.asarray(gaps.any(axis=0))
        return np.where(lone, 1, sizes), {name: _alone(each, lone) for name, each in histograms.items()}
    n_classes = codes.shape[1]
    if n_classes == 0:
        return sizes, histograms
    pattern, _ = label_rows(gaps.astype(np.int32))
    members = [np.flatnonzero(pattern == label) for label in range(int(pattern.max(initial=-1)) + 1)]
    matched = np.zeros(n_classes, dtype=np.int64)
    found: dict[str, list[tuple[CountArray, CodeArray, CountArray]]] = {name: [] for name in histograms}
    for ours in members:
        for theirs in members:
            known = ~(gaps[:, ours[0]] | gaps[:, theirs[0]])
            labels, first = label_rows(codes[known][:, np.concatenate((ours, theirs))])
            mine, other = labels[: len(ours)], labels[len(ours) :]
            # Sums of whole numbers below 2^53 are exact in bincount's floats.
            matched[ours] += np.bincount(other, weights=sizes[theirs], minlength=len(first)).astype(np.int64)[mine]
            for name, histogram in histograms.items():
                found[name].append(_merged(histogram, theirs, other, ours, mine, len(first)))
    merged = {}
    for name, parts in found.items():
        labels, values, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        merged[name] = count_values(labels, values, n_classes, counts)
    return matched, merged


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
