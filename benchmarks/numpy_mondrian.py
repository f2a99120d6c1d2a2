"""Strict Mondrian by the median rule in plain numpy, all classes of one level at once: what needs no compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_DENSE = 4  # histogram bins a row for which counting beats sorting


def partition(codes: NDArray[np.int32], values: Sequence[NDArray[Any] | None], k: int) -> Ints:
    """Cut classes in two while some column allows it, breadth first.

    Parameters
    ----------
    codes : ndarray, shape (n_columns, n_rows)
        0 or more each.
    values : sequence of ndarray or None
        What the codes of an ordered column stand for, ascending; None for a category,
        which is cut in the order of its codes.
    k : int

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        The class of every row.

    Notes
    -----
    The widest column is cut nearest its median where both sides hold k records; where
    no cut of it does, the next widest is. Equal rows are collapsed first.
    """
    widths = [int(column.max()) + 1 for column in codes]
    first, inverse, counts = _collapse(codes, widths)
    narrow = [column[first].astype(np.min_scalar_type(width)) for column, width in zip(codes, widths, strict=True)]
    places = [None if known is None else _places(known) for known in values]
    return _cut(narrow, widths, places, counts, k)[inverse]


def _collapse(codes: NDArray[np.int32], widths: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    n_keys = 1
    for column, width in zip(codes, widths, strict=True):
        if n_keys * width >= 2**62:
            distinct, keys = np.unique(keys, return_inverse=True)
            n_keys = len(distinct)
        keys = keys * width + column
        n_keys *= width
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return first, inverse, counts


def _places(known: NDArray[Any]) -> NDArray[np.float64]:
    numbers = known.astype(np.float64)
    return (numbers - numbers[0]) / max(numbers[-1] - numbers[0], np.finfo(float).tiny)


def _cut(
    codes: list[NDArray[Any]],
    widths: Sequence[int],
    places: Sequence[NDArray[np.float64] | None],
    counts: Ints,
    k: int,
) -> Ints:
    labels = np.empty(len(counts), dtype=np.int64)
    n_labels = 0
    rows = np.arange(len(counts))
    starts = np.zeros(1, dtype=np.int64)
    while len(starts):
        lengths = np.diff(starts, append=len(rows))
        group = np.repeat(np.arange(len(starts)), lengths)
        sizes = np.add.reduceat(counts, starts)
        spans = np.array(
            [
                _spans(column, group, starts, width, place)
                for column, width, place in zip(codes, widths, places, strict=True)
            ]
        )
        is_cut, goes_right = _choose(codes, widths, spans, counts, group, sizes, k)

        done = ~is_cut[group]
        label_of_group = n_labels - 1 + np.cumsum(~is_cut)
        labels[rows[done]] = label_of_group[group[done]]
        n_labels += int((~is_cut).sum())

        # A stable partition of the rest: lefts first, then rights, class by class.
        left = ~goes_right & ~done
        n_left = np.add.reduceat(left.astype(np.int64), starts)[is_cut]
        lengths = lengths[is_cut]
        offsets = np.cumsum(lengths) - lengths
        left = left[~done]
        before = np.cumsum(left) - np.repeat(np.cumsum(n_left) - n_left, lengths)
        index = np.arange(len(left))
        begin = np.repeat(offsets, lengths)
        target = np.where(left, begin + before - 1, index - before + np.repeat(n_left, lengths))
        take = np.empty_like(index)
        take[target] = np.flatnonzero(~done)
        rows, counts = rows[take], counts[take]
        codes = [column[take] for column in codes]
        starts = np.column_stack((offsets, offsets + n_left)).ravel()
    return labels


def _spans(
    column: NDArray[Any], group: Ints, starts: Ints, width: int, place: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the normalised width of every class in one column, 0 for a single value."""
    if place is not None:
        return place[np.maximum.reduceat(column, starts)] - place[np.minimum.reduceat(column, starts)]
    keys, _ = _histogram(group, column, np.ones(1), len(starts), width)
    n_values = np.bincount(keys // width, minlength=len(starts))
    return np.where(n_values > 1, n_values / width, 0.0)


def _choose(
    codes: list[NDArray[Any]],
    widths: Sequence[int],
    spans: NDArray[np.float64],
    counts: Ints,
    group: Ints,
    sizes: Ints,
    k: int,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which classes are cut, and which rows of those go right: the widest column first, then the next."""
    is_cut = np.zeros(len(sizes), dtype=bool)
    goes_right = np.zeros(len(group), dtype=bool)
    local = np.empty(len(sizes), dtype=np.int64)
    for picks in np.argsort(-spans, axis=0, kind="stable"):
        open_ = ~is_cut & (sizes >= 2 * k) & (np.take_along_axis(spans, picks[None], axis=0)[0] > 0)
        if not open_.any():
            break
        for j, column in enumerate(codes):
            tried = np.flatnonzero(open_ & (picks == j))
            if not len(tried):
                continue
            local[:] = -1
            local[tried] = np.arange(len(tried))
            place = local[group]
            index = np.flatnonzero(place >= 0)
            place, code = place[index], column[index]
            cuts = _nearest_median(place, code, counts[index], sizes[tried], widths[j], k)
            is_cut[tried] = cuts >= 0
            goes_right[index] = code > cuts[place]
    return is_cut, goes_right


def _nearest_median(group: Ints, column: NDArray[Any], counts: Ints, sizes: Ints, width: int, k: int) -> Ints:
    """Return the last code of the left side of every class, -1 where no cut leaves k on both sides."""
    keys, n_records = _histogram(group, column, counts, len(sizes), width)
    owner = keys // width
    left = np.cumsum(n_records) - (np.cumsum(sizes) - sizes)[owner]
    right = sizes[owner] - left
    never = np.iinfo(np.int64).max
    distance = np.where((left >= k) & (right >= k), np.abs(left - right), never)
    best = np.minimum.reduceat(distance, np.searchsorted(owner, np.arange(len(sizes))))
    nearest = np.flatnonzero((distance == best[owner]) & (distance < never))[::-1]
    cuts = np.full(len(sizes), -1, dtype=np.int64)
    cuts[owner[nearest]] = keys[nearest] % width
    return cuts


def _histogram(group: Ints, column: NDArray[Any], counts: NDArray[Any], n_groups: int, width: int) -> tuple[Ints, Ints]:
    """Return the pairs of class and code that occur, as ascending keys, and the records of each."""
    keys = group * width + column
    weights = np.broadcast_to(counts, keys.shape)
    if n_groups * width > _DENSE * len(keys) + 4096:
        distinct, keys = np.unique(keys, return_inverse=True)
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        return distinct, np.bincount(keys, weights=weights).astype(np.int64)
    n_records = np.bincount(keys, weights=weights, minlength=n_groups * width)
    distinct = np.flatnonzero(n_records)
    return distinct, n_records[distinct].astype(np.int64)
