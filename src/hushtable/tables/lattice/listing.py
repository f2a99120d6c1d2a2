"""Column sets one by one: how their classes spread, and who is alone on them.

Slower than the walk of `hushtable.tables.lattice`, which skips what cannot matter, but it
has something to say of every set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.kernels import group

__all__ = ["lone_rows", "partitions", "renyi_entropy"]


def partitions(
    codes: CodeArray, widths: Sequence[int], sets: Iterable[Sequence[int]], *, missing_matches: bool = True
) -> Iterator[tuple[CodeArray, int]]:
    """Yield the class of every row, and how many classes there are, for one column set after the other.

    Sets that begin like the set before them cost only what they add. Where missing
    values match nothing, rows with one are in no class (-1).
    """
    done: list[int] = []
    stack = [(np.zeros(codes.shape[1], dtype=np.int32), min(1, codes.shape[1]))]
    for columns in sets:
        shared = 0
        while shared < min(len(done), len(columns)) and done[shared] == columns[shared]:
            shared += 1
        del stack[shared + 1 :]
        for column in columns[shared:]:
            labels, n_classes = stack[-1]
            known = labels if missing_matches else np.where(codes[column] < 0, np.int32(-1), labels)
            refined = np.empty_like(labels)
            stack.append((refined, group.refine(known, n_classes, codes[column], widths[column], refined)))
        done = list(columns)
        yield stack[-1]


def lone_rows(labels: CodeArray, n_classes: int, counts: CountArray) -> tuple[CodeArray, CountArray]:
    """Return the row of every class that is one record, -1 for others; and the sizes of all classes."""
    sizes = group.class_sizes(labels, counts, n_classes)
    lone = np.full(n_classes, -1, dtype=np.int32)
    rows = np.flatnonzero((labels >= 0) & (counts > 0))
    lone[labels[rows]] = rows
    lone[sizes != 1] = -1
    return lone, sizes


def renyi_entropy(sizes: CountArray, alpha: float) -> float:
    """Return the Renyi entropy of class sizes as a share of its maximum, in [0, 1]; 0 for one class.

    Parameters
    ----------
    sizes : ndarray of int64
        All above 0.
    alpha : float
        Order, at least 0: 0 is Hartley's entropy, 1 Shannon's, 2 the collision entropy, inf the min-entropy.

    Notes
    -----
    log2(sum p^alpha) / (1 - alpha), divided by the log2 of the number of classes (Renyi 1961).

    Examples
    --------
    >>> import numpy as np
    >>> [round(renyi_entropy(np.array([1, 1, 2]), alpha), 4) for alpha in (0, 1, 2, math.inf)]
    [1.0, 0.9464, 0.8928, 0.6309]
    """
    if len(sizes) <= 1:
        return 0.0
    shares = sizes / sizes.sum()
    if alpha == 1:
        bits = -float((shares * np.log2(shares)).sum())
    elif math.isinf(alpha):
        bits = -math.log2(shares.max())
    else:
        # Scaled by the largest share, so that a high power does not vanish.
        largest = float(shares.max())
        powers = float(((shares / largest) ** alpha).sum())
        bits = (math.log2(powers) + alpha * math.log2(largest)) / (1 - alpha)
    return min(1.0, max(0.0, bits / math.log2(len(sizes))))
