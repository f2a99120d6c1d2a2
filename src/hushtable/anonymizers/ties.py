"""Which of several records with the same B cells goes to which cluster, where a border of clusters parts them."""

from __future__ import annotations

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.table import Table

__all__ = ["settle_ties"]


def settle_ties(
    b: Table, labels: CodeArray, of_record: CodeArray, n_clusters: int, rng: np.random.Generator
) -> CodeArray:
    """Deal the records of every tie anew, so that clusters come to hold the same of every type.

    Parameters
    ----------
    b : Table
        The B columns; a row is one record.
    labels : ndarray of int32, shape (n_records,)
        Clusters in the order of B.
    of_record : ndarray of int32, shape (n_records,)
        The type of every record: its A vector.
    n_clusters : int
    rng : Generator

    Notes
    -----
    A heuristic: tie by tie, the most records first, a maximum flow gives every cluster as many
    records of a type as it still lacks of the mean; what is left fills up.
    """
    labels = labels.copy()
    n_types = int(of_record.max()) + 1
    distinct, tie_of = b.collapse()
    del distinct
    pairs = np.unique(tie_of.astype(np.int64) * n_clusters + labels)
    parted = np.flatnonzero(np.bincount(pairs // n_clusters) > 1)
    held = np.bincount(labels.astype(np.int64) * n_types + of_record, minlength=n_clusters * n_types)
    held = held.reshape(n_clusters, n_types)
    mean = held.sum(axis=0) // n_clusters
    sizes = np.bincount(tie_of)
    open_ = np.isin(tie_of, parted)
    np.subtract.at(held, (labels[open_], of_record[open_]), 1)
    for tie in parted[np.argsort(-sizes[parted], kind="stable")]:
        rows = rng.permutation(np.flatnonzero(tie_of == tie))
        room = np.bincount(labels[rows], minlength=n_clusters)
        labels[rows] = _dealt(of_record[rows], room, np.maximum(mean - held, 0))
        np.add.at(held, (labels[rows], of_record[rows]), 1)
    return labels


def _dealt(types: CodeArray, room: CountArray, lacking: CountArray) -> CodeArray:
    """Give records to clusters with room: as many as lack their type, then whoever has room."""
    from scipy import sparse
    from scipy.sparse.csgraph import maximum_flow

    present, place = np.unique(types, return_inverse=True)
    clusters = np.flatnonzero(room)
    n_ours, n_theirs = len(present), len(clusters)
    flow = np.zeros((n_ours + n_theirs + 2, n_ours + n_theirs + 2), dtype=np.int32)
    flow[0, 1 : n_ours + 1] = np.bincount(place)
    flow[1 : n_ours + 1, n_ours + 1 : -1] = lacking[np.ix_(clusters, present)].T
    flow[n_ours + 1 : -1, -1] = room[clusters]
    found = maximum_flow(sparse.csr_array(flow), 0, n_ours + n_theirs + 1).flow.toarray()
    given = found[1 : n_ours + 1, n_ours + 1 : -1]
    labels = np.full(len(types), -1, dtype=np.int32)
    for one in range(n_ours):
        ours = np.flatnonzero(place == one)
        labels[ours[: given[one].sum()]] = np.repeat(clusters, given[one])
    labels[labels < 0] = np.repeat(clusters, room[clusters] - given.sum(axis=0))
    return labels
