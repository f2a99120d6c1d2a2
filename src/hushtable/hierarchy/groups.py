"""Groups of the values of a category without a hierarchy: what a class publishes that holds too many to list."""

from __future__ import annotations

from typing import Final

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import SUPPRESSED, Column, value
from hushtable.hierarchy.hierarchy import Hierarchy

__all__ = ["groups_of"]

_SMALLEST: Final = 5  # values of the smallest groups; fewer are mostly listed


def groups_of(column: Column, counts: CountArray) -> Hierarchy:
    """Return groups of 5, 10, 20 ... values of similar frequency, counted from the rarest.

    Parameters
    ----------
    column : Column
        Of a category; the groups of an ordered one are runs of neighbours.
    counts : ndarray of int64, shape (n_values,)
        Records of each value in the whole table.

    Returns
    -------
    Hierarchy
        It follows from the data, so that no manifest tells it. A label is no text of a value.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> column, _ = from_texts("country", [f"country {i:02}" for i in range(21)])
    >>> groups = groups_of(column, np.arange(21)[::-1])
    >>> groups.labels[3], groups.labels[2][1:]
    (('country 00', 'other (20 values)'), ('other (10 values, no. 2-11)', 'other (10 values)'))
    """
    n_values, texts = column.n_values, column.texts()
    # A stable sort: values of one frequency stay in the order of the column.
    order = np.arange(n_values) if column.kind == "ordered" else np.argsort(-counts, kind="stable")
    rank = np.empty(n_values, dtype=np.int32)
    rank[order] = np.arange(n_values)
    levels, labels = [np.arange(n_values, dtype=np.int32)], [tuple(value(text) for text in texts)]
    size = _SMALLEST
    while size < n_values:
        # The first group has what is left over: the most frequent values, or the only one that nearly all have.
        codes = ((rank + size - 1 - (n_values - 1) % size) // size).astype(np.int32)
        levels.append(codes)
        labels.append(_labels(texts, order, np.bincount(codes)))
        size *= 2
    levels.append(np.zeros(n_values, dtype=np.int32))
    labels.append((SUPPRESSED,))
    shares = tuple(np.bincount(codes) / max(1, n_values) for codes in levels[:-1])
    return Hierarchy(column.name, tuple(texts), np.stack(levels), tuple(labels), (*shares, np.ones(1)))


def _labels(texts: list[str], order: CountArray, sizes: CountArray) -> tuple[str, ...]:
    """Name the groups of one level: a single value by itself, else by how many they are and their ranks."""
    lasts = np.cumsum(sizes)
    runs = list(zip((lasts - sizes).tolist(), lasts.tolist(), strict=True))
    named = [value(texts[order[first]]) if last - first == 1 else "" for first, last in runs]
    word = "other"
    while any(text.startswith(word) for text in texts):
        word = f"any {word}"
    return tuple(
        label or f"{word} ({last - first} values{'' if last == len(texts) else f', no. {first + 1}-{last}'})"
        for label, (first, last) in zip(named, runs, strict=True)
    )
