"""Suppress as few records as it takes for a table to be able to satisfy its models at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.models.base import ClassStats, Ground, Histogram, PrivacyModel
from hushtable.partition import grounds, totals
from hushtable.table import Table

__all__ = ["offending_rows"]


def offending_rows(table: Table, models: Sequence[PrivacyModel], most: int) -> BoolArray:
    """Choose rows without which the whole table, as one class, satisfies the models.

    A value that too many records share is what fails (alpha,k)-anonymity, entropy and
    recursive diversity for every release there could be; so records of the most
    frequent value go, one after the other, the last ones of the table first.

    Parameters
    ----------
    table : Table
    models : sequence of PrivacyModel
    most : int
        Records that may go.

    Returns
    -------
    offending : ndarray of bool, shape (n_rows,)
        As many as it takes, or as many as may go where that is not enough.
    """
    reference = {name: totals(table, name) for model in models for name in model.needs.sensitive}
    found = grounds(table, reference)
    offending = np.zeros(table.n_rows, dtype=bool)
    budget = most
    for model in models:
        for name in model.needs.sensitive:
            codes = table.codes[table.index(name)]
            rest = np.bincount(codes[~offending] + 1, weights=table.counts[~offending], minlength=len(reference[name]))
            excess = _excess(model, name, rest.astype(np.int64), reference, found, budget)
            for entry in np.flatnonzero(excess):
                rows = np.flatnonzero((codes == entry - 1) & ~offending)[::-1]
                gone = rows[np.cumsum(table.counts[rows]) <= excess[entry]]
                offending[gone] = True
                budget -= int(table.counts[gone].sum())
    return offending


def _excess(
    model: PrivacyModel,
    name: str,
    rest: CountArray,
    reference: dict[str, CountArray],
    found: dict[str, Ground],
    most: int,
) -> CountArray:
    """Count, by entry of the totals, how many records have to go until one class of the rest passes."""
    left = rest.copy()
    while rest.sum() - left.sum() < most and left.sum() > 0:
        present = np.flatnonzero(left)
        histogram = Histogram(np.array([0, len(present)]), (present - 1).astype(np.int32), left[present])
        stats = ClassStats(np.array([left.sum()]), {name: histogram}, reference, grounds=found)
        if model.passes(stats).all():
            break
        known = left[1:]
        left[1 + int(np.argmax(known))] -= 1
    return rest - left
