"""Clusters of exactly equal size over the columns of B."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InputError, with_hint
from hushtable.search import check_memory
from hushtable.tables import Table

__all__ = ["CLUSTERINGS", "Clustering", "RowDistance", "equal_clusters", "given_clusters"]

RowDistance = Callable[[tuple[Any, ...], tuple[Any, ...]], float]
Clustering = Literal["auto", "runs", "median", "kmeans"] | RowDistance | Sequence[Any]
CLUSTERINGS: Final = ("auto", "runs", "median", "kmeans")

_ROUNDS = 50
_ASSIGNED = 2_000  # records that an assignment still places in about a second


def equal_clusters(table: Table, n_clusters: int, clustering: str | RowDistance, rng: np.random.Generator) -> CodeArray:
    """Label every row of a table with one of equally large clusters.

    Parameters
    ----------
    table : Table
        The B columns; as many rows as a multiple of the clusters.
    n_clusters : int
    clustering : {"auto", "runs", "median", "kmeans"} or callable
        As in `hushtable.mask_dependence`.
    rng : Generator
        Breaks ties, so that the order of the rows does not.

    Returns
    -------
    labels : ndarray of int32, shape (n_rows,)
        From 0; of one ordered column in its order.
    """
    # Rows are shuffled once: every stable sort below then breaks ties at random.
    shuffled = rng.permutation(table.n_rows)
    if callable(clustering):
        keys = _by_distance(table.take(shuffled), clustering)
        clusters = _cut(np.arange(table.n_rows), n_clusters, keys)
    else:
        if clustering == "runs" and len(table.columns) > 1:
            msg = with_hint(
                f"clustering 'runs' was given {len(table.columns)} columns of B.", "choose 'median' or 'kmeans'."
            )
            raise InputError(msg)
        points = np.array(
            [_positions(column, codes[shuffled]) for column, codes in zip(table.columns, table.codes, strict=True)]
        )
        clusters = _cut(np.arange(table.n_rows), n_clusters, lambda rows: points[_widest(points, rows), rows])
        if clustering == "kmeans":
            clusters = _around_means(_coordinates(table.take(shuffled), points), clusters, n_clusters)
    labels = np.empty(table.n_rows, dtype=np.int32)
    labels[shuffled] = clusters
    return labels


def given_clusters(given: Sequence[Any], n_records: int, n_clusters: int) -> CodeArray:
    """Check the clusters that someone brings along and number them in their order."""
    if not hasattr(given, "__len__"):
        msg = with_hint(f"clustering was given as {type(given).__name__}.", "a name, a distance, or a label by record.")
        raise InputError(msg)
    if len(given) != n_records:
        msg = with_hint(
            f"clustering holds {len(given)} labels for {n_records} records.",
            "give every record the label of its cluster.",
        )
        raise InputError(msg)
    distinct, labels = np.unique(np.asarray(given), return_inverse=True)
    sizes = np.bincount(labels.ravel())
    if len(distinct) != n_clusters or sizes.max() - sizes.min() > 1:
        msg = with_hint(
            f"clustering holds {len(distinct)} clusters of {sizes.min()} to {sizes.max()} records.",
            f"{n_clusters} clusters are needed whose sizes differ by 1 at most.",
        )
        raise InputError(msg)
    return labels.ravel().astype(np.int32)


def _positions(column: Column, codes: CodeArray) -> FloatArray:
    """Place cells on [0, 1]: by value, or by how frequent a category is; missing ones behind the last."""
    if column.is_ordered:
        places = np.append(column.positions(), 1.0 + 1.0 / max(1, column.n_values))
        return np.asarray(places[codes])
    counts = np.bincount(codes + 1, minlength=column.n_values + 1)
    rank = np.empty(len(counts))
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.asarray(rank[codes + 1] / max(1, len(counts) - 1))


def _widest(points: FloatArray, rows: CountArray) -> int:
    return int(np.argmax([np.ptp(column[rows]) for column in points]))


def _cut(rows: CountArray, n_clusters: int, keys: Callable[[CountArray], FloatArray]) -> CountArray:
    """Halve the clusters and cut the rows in the same proportion, in the order of their keys, until one is left."""
    labels = np.zeros(len(rows), dtype=np.int64)
    todo = [(rows, 0, n_clusters)]
    while todo:
        ours, first, n_ours = todo.pop()
        if n_ours == 1:
            labels[ours] = first
            continue
        low = n_ours // 2
        ordered = ours[np.argsort(keys(ours), kind="stable")]
        at = len(ours) // n_ours * low
        todo += [(ordered[:at], first, low), (ordered[at:], first + low, n_ours - low)]
    return labels


def _by_distance(table: Table, distance: RowDistance) -> Callable[[CountArray], FloatArray]:
    """Order rows by how much nearer they are to one of two far ends than to the other."""
    distinct, of_row = table.collapse()
    cells = [
        tuple(None if code < 0 else column.values[code] for column, code in zip(table.columns, row, strict=True))
        for row in distinct.codes.T.tolist()
    ]

    def far(place: int, places: CodeArray) -> FloatArray:
        try:
            distances: FloatArray = np.array([float(distance(cells[place], cells[other])) for other in places.tolist()])
        except Exception as error:
            # What somebody else's function says may hold a cell.
            msg = f"the distance function failed with {type(error).__name__}."
            hint = "it is called with the cells of two records, a tuple each, and returns a number: lambda x, y: ..."
            raise InputError(with_hint(msg, hint)) from error
        if not np.isfinite(distances).all() or (distances < 0).any():
            msg = with_hint("the distance function gave a number that is no distance.", "0 or more, and finite.")
            raise InputError(msg)
        return distances

    def keys(rows: CountArray) -> FloatArray:
        places, place = np.unique(of_row[rows], return_inverse=True)
        one = int(places[np.argmax(far(int(places[0]), places))])
        from_one = far(one, places)
        other = int(places[np.argmax(from_one)])
        return np.asarray((from_one - far(other, places))[place.ravel()])

    return keys


def _coordinates(table: Table, points: FloatArray) -> FloatArray:
    """Return points whose squared distances count 1 for different categories, and positions as they are."""
    width = sum(1 if column.is_ordered else column.n_values + 1 for column in table.columns)
    check_memory(
        16.0 * table.n_rows * width,
        f"clustering {table.n_rows} records by {width} values",
        "choose clustering='median', or leave columns with many categories out of b.",
    )
    parts = []
    for column, codes, places in zip(table.columns, table.codes, points, strict=True):
        if column.is_ordered:
            parts.append(places[:, None])
        else:
            parts.append(np.sqrt(0.5) * (codes[:, None] == np.arange(-1, column.n_values)))
    return np.concatenate(parts, axis=1)


def _around_means(points: FloatArray, labels: CountArray, n_clusters: int) -> CountArray:
    """Move records to the nearest means that have room, while that helps."""
    size = len(labels) // n_clusters
    best, least = labels, np.inf
    for _ in range(_ROUNDS):
        means = np.array([points[labels == label].mean(axis=0) for label in range(n_clusters)])
        spread = float(((points - means[labels]) ** 2).sum())
        if spread >= least * (1 - 1e-9):
            break
        best, least = labels, spread
        far = ((points**2).sum(axis=1)[:, None] - 2 * points @ means.T) + (means**2).sum(axis=1)
        labels = _filled(far, size)
    return best


def _filled(far: FloatArray, size: int) -> CountArray:
    """Give every record a cluster: at least distance together, or, of many records, the nearest with room."""
    n_rows, n_clusters = far.shape
    if n_rows <= _ASSIGNED:
        from scipy.optimize import linear_sum_assignment

        return np.asarray(linear_sum_assignment(np.repeat(far, size, axis=1))[1] // size, dtype=np.int64)
    labels = np.full(n_rows, -1, dtype=np.int64)
    room = np.full(n_clusters, size)
    waiting = np.arange(n_rows)
    while len(waiting):
        open_ = np.flatnonzero(room)
        distances = np.sort(far[np.ix_(waiting, open_)], axis=1)
        loss = distances[:, min(1, len(open_) - 1)] - distances[:, 0]
        wanted = open_[np.argmin(far[np.ix_(waiting, open_)], axis=1)]
        for cluster in open_:
            asking = np.flatnonzero(wanted == cluster)
            asking = asking[np.argsort(-loss[asking], kind="stable")][: room[cluster]]
            labels[waiting[asking]] = cluster
            room[cluster] -= len(asking)
        waiting = waiting[labels[waiting] < 0]
    return labels
