"""Suppress as few records as it takes for a table to be able to satisfy its models at all."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.models import ClassStats, Ground, Histogram, PrivacyModel
from hushtable.tables import Table, grounds, totals

__all__ = ["offending_rows"]


_SEED = 0  # of the order in which records that models cannot tell apart are suppressed


def offending_rows(
    table: Table, models: Sequence[PrivacyModel], most: int, source: Frame | Table | None = None
) -> BoolArray:
    """Choose rows without which the whole table, as one class, satisfies the models.

    A value that too many records share is what fails (alpha,k)-anonymity, entropy and
    recursive diversity for every release there could be; so records of the most
    frequent value go, one after the other: first those that hold the most frequent value
    of several sensitive columns, then in an order that looks random and follows from the
    cells alone: the order of rows or columns plays no part.

    Parameters
    ----------
    table : Table
    models : sequence of PrivacyModel
    most : int
        Records that may go.
    source : Frame or Table, optional
        The same rows with more columns, which tell apart records that are equal in the table.

    Returns
    -------
    offending : ndarray of bool, shape (n_rows,)
        As many as it takes, or as many as may go where that is not enough.
    """
    reference = {name: totals(table, name) for model in models for name in model.needs.sensitive}
    ground_of = grounds(table, reference)
    rank = _rank_by_content(table if source is None else source, table)
    offending = np.zeros(table.n_rows, dtype=bool)
    budget = most
    judged = [(model, name) for model in models for name in model.needs.sensitive]
    n_before = -1
    # What one column loses may tip another, so all are looked at until nothing goes any more.
    while budget > 0 and n_before < int(offending.sum()):
        n_before = int(offending.sum())
        for model, name in judged:
            codes = table.codes[table.index(name)]
            rest = np.bincount(codes[~offending] + 1, weights=table.counts[~offending], minlength=len(reference[name]))
            excess = _excess(model, name, rest.astype(np.int64), reference, ground_of, budget)
            for entry in np.flatnonzero(excess):
                rows = np.flatnonzero((codes == entry - 1) & ~offending)
                rows = rows[np.lexsort((rank[rows], -_n_frequent(table, judged, ~offending)[rows]))]
                gone = rows[np.cumsum(table.counts[rows]) <= excess[entry]]
                offending[gone] = True
                budget -= int(table.counts[gone].sum())
    return offending


def _rank_by_content(source: Frame | Table, table: Table) -> CountArray:
    """Rank rows by their cells alone; equal rows share a rank, and lists and the like play no part."""
    codes = dict(zip(table.names, table.codes, strict=True))
    for name in source.names if isinstance(source, Table) else source.columns:
        if name not in codes:
            with contextlib.suppress(ColumnError):
                codes[name] = Table.encode(source.select([name])).codes[0]
    _, row = np.unique(np.array([codes[name] for name in sorted(codes)]), axis=1, return_inverse=True)
    # By rank of the cells, those at one end of the first column would all go.
    return np.random.default_rng(_SEED).permutation(int(row.max()) + 1)[row.ravel()]


def _n_frequent(table: Table, judged: Sequence[tuple[PrivacyModel, str]], kept: BoolArray) -> CountArray:
    """Count for every row in how many sensitive columns it holds the most frequent value of the rows kept."""
    n_frequent = np.zeros(table.n_rows, dtype=np.int64)
    for name in {name for _, name in judged}:
        codes = table.codes[table.index(name)]
        known = kept & (codes >= 0)
        records = np.bincount(codes[known], weights=table.counts[known], minlength=1)
        n_frequent += codes == np.argmax(records)
    return n_frequent


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
        if not known.any():
            # What is missing is no value that too many share.
            break
        left[1 + int(np.argmax(known))] -= 1
    return rest - left
