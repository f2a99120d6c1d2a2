"""Drift: whether the people and those who were never used differ in themselves, without the synthetic table."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray

_N_FOLDS: Final = 5
_N_BINS: Final = 20


def score_membership_without_synthetic(
    codes: CodeArray, is_ordered: list[bool], units: CountArray, is_member: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return for each record how much likelier it is of the people, learned of other records than itself.

    The sum, over columns and pairs of columns, of the logarithm of how much more frequent its values are among the
    people: of five parts of the units, each by the other four. ``is_member`` is 1 of a record of the people.
    """
    folds = rng.integers(_N_FOLDS, size=int(units.max()) + 1)[units]
    binned, widths = zip(*(_bin(column, is_range=is_range) for column, is_range in zip(codes, is_ordered, strict=True)),
                         strict=True)  # fmt: skip
    scores = np.zeros(codes.shape[1])
    columns = range(len(widths))
    for cell in [*((j,) for j in columns), *combinations(columns, 2)]:
        keys, n_keys = binned[cell[0]], widths[cell[0]]
        for j in cell[1:]:
            keys, n_keys = keys * widths[j] + binned[j], n_keys * widths[j]
        counts = [
            np.bincount(folds * n_keys + keys, of_side, _N_FOLDS * n_keys).reshape(_N_FOLDS, n_keys)
            for of_side in (is_member, 1 - is_member)
        ]
        others = [each.sum(axis=0) - each for each in counts]
        sizes = [each.sum(axis=1, keepdims=True) for each in others]
        logs = [np.log((each + 1) / (size + n_keys)) for each, size in zip(others, sizes, strict=True)]
        scores += (logs[0] - logs[1])[folds, keys]
    return scores


def _bin(codes: CodeArray, *, is_range: bool) -> tuple[CountArray, int]:
    """Merge values until few are left: neighbours where they have an order, else the rare ones; missing is a value."""
    counts = np.bincount(codes + 1)
    if is_range:
        middles = np.cumsum(counts) - counts / 2
        bins = (middles * _N_BINS / len(codes)).astype(np.int64) + 1
        bins[0] = 0
        return np.unique(bins, return_inverse=True)[1].reshape(-1)[codes + 1], _N_BINS + 1
    ranks = np.empty(len(counts), dtype=np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(ranks, _N_BINS)[codes + 1], _N_BINS + 1
