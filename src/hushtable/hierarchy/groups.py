"""Groups of the values of a category without a hierarchy: what a class publishes that holds too many to list."""

from __future__ import annotations

import os

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.cells import SUPPRESSED, value
from hushtable.column import Column
from hushtable.hierarchy import Hierarchy

__all__ = ["groups_of"]

_SMALLEST = 6


def groups_of(column: Column, counts: CountArray) -> Hierarchy:
    n = column.n_values
    rank = np.empty(n, dtype=np.int32)
    rank[np.arange(n) if column.kind == "ordered" else np.argsort(-counts, kind="stable")] = np.arange(n)
    texts = column.texts()
    taken = set(texts)
    levels = [np.arange(n, dtype=np.int32)]
    labels = [tuple(value(text) for text in texts)]
    shares = [np.full(n, 1 / max(1, n))]
    mode = os.environ.get("GM", "T")
    fan = float(os.environ.get("GF", 2))
    size = int(os.environ.get("GS", _SMALLEST))
    at = np.argsort(rank)
    while size < n:
        if column.kind == "ordered" or mode == "B":
            codes = (rank // size).astype(np.int32)
        else:
            codes = np.minimum(rank, n - size).astype(np.int32)
        held = np.bincount(codes)
        codes_labels = []
        for node, h in enumerate(held.tolist()):
            if h == 1:
                codes_labels.append(value(texts[int(np.flatnonzero(codes == node)[0])]))
            else:
                codes_labels.append(f"other ({h} values)" if mode == "T" else f"group {node+1} of {len(held)} ({h} values)")
        levels.append(codes)
        labels.append(tuple(codes_labels))
        shares.append(held / n)
        size = int(np.ceil(size * fan))
    levels.append(np.zeros(n, dtype=np.int32))
    labels.append((SUPPRESSED,))
    shares.append(np.ones(1))
    return Hierarchy(column.name, tuple(texts), np.stack(levels), tuple(labels), tuple(shares))
