"""Exchange records between the classes of a partition while that lowers its loss."""

from __future__ import annotations

import numpy as np

from hushtable._types import CodeArray
from hushtable.kernels import exchange, judge, shares
from hushtable.search import Clock, check_memory
from hushtable.tables import Partition, Table

__all__ = ["improve"]

_WINDOW = 32  # neighbours looked at on either side of a class
_SWEEPS = 8
_TOGETHER = 64  # classes between two looks at the clock
_SETTLED = 1e-2  # a sweep that gains less than this share of the first one is the last


def improve(
    table: Table,
    partition: Partition,
    rows: CodeArray,
    points: exchange.Points,
    axes: shares.Axes,
    rules: judge.Rules,
    min_size: int,
    clock: Clock,
) -> Partition:
    """Move and swap distinct rows between neighbouring classes; every class keeps satisfying the rules.

    Parameters
    ----------
    table : Table
        The rows of the partition.
    partition : Partition
        Its classes in an order in which neighbours are alike.
    rows : ndarray of int32, shape (n_rows,)
        The rows class by class; in this order they are tried, and the first of equal gains is taken.
    points, axes, rules
        As the search has them.
    min_size : int
        Records that every class keeps.
    clock : Clock
        What was exchanged when it is over stands.

    Notes
    -----
    Greedy: each row goes where the set-NCP falls most, alone or for another one,
    among the 32 classes before and after its own; up to 8 sweeps. A local optimum of
    these moves, not of the problem.
    """
    n_columns = len(axes.columns)
    n_codes = np.diff(axes.columns["begin"], append=len(axes.places))
    n_words = np.where(axes.columns["is_ordered"], 0, (n_codes + 63) // 64)
    words = np.append(0, np.cumsum(n_words))
    n_classes = partition.n_classes
    check_memory(
        8.0 * n_classes * (int(words[-1]) + n_columns + 1),
        f"exchange=True with {n_classes} classes and columns of up to {int(axes.columns['domain'].max())} values",
        "leave exchange off, or give columns of many values a hierarchy.",
    )
    first, next_ = _linked(partition, rows)
    classes = exchange.Classes(
        first=first,
        next_=next_,
        sizes=partition.sizes.copy(),
        low=np.empty((n_classes, n_columns), dtype=np.int32),
        high=np.empty((n_classes, n_columns), dtype=np.int32),
        bits=np.zeros((n_classes, words[-1]), dtype=np.uint64),
        words=words,
        shares=np.empty(n_classes),
        without=np.zeros(table.n_rows),
    )
    n_sensitive = len(points.sensitive)
    # Models compare with values of the whole that no row of a part may have.
    widest = max(int(points.sensitive.max(initial=0)) + 1, int(rules.n_values.max(initial=0)))
    scratch = exchange.Scratch(
        rows=np.empty(table.n_rows, dtype=np.int32),
        low=np.empty(n_columns, dtype=np.int32),
        high=np.empty(n_columns, dtype=np.int32),
        bits=np.zeros(words[-1], dtype=np.uint64),
        rest_low=np.empty(n_columns, dtype=np.int32),
        rest_high=np.empty(n_columns, dtype=np.int32),
        rest_bits=np.empty(words[-1], dtype=np.uint64),
        growths=np.empty(2 * _WINDOW + 1),
        held=np.zeros((n_sensitive, widest), dtype=np.int64),
        n_held=np.zeros(n_sensitive, dtype=np.int64),
        nodes=np.empty(rules.tables.shape[2]),
    )
    exchange.span_all(points, axes, classes, scratch)
    gains: list[float] = []
    while len(gains) < _SWEEPS and clock.left > 0 and (len(gains) < 2 or gains[-1] > _SETTLED * gains[0]):
        gains.append(0.0)
        for begin in range(0, n_classes, _TOGETHER):
            if clock.left <= 0:
                break
            sources = (begin, begin + _TOGETHER)
            gains[-1] += exchange.sweep(points, axes, rules, classes, scratch, min_size, _WINDOW, sources)
    return Partition.from_labels(_labels(classes, table.n_rows), n_classes, table.counts)


def _linked(partition: Partition, rows: CodeArray) -> tuple[CodeArray, CodeArray]:
    """Return a first row of every class, and after every row the next of its class."""
    next_ = np.full(len(rows), -1, dtype=np.int32)
    next_[rows[:-1]] = np.where(partition.labels[rows[:-1]] == partition.labels[rows[1:]], rows[1:], -1)
    return rows[partition.offsets[:-1]].copy(), next_


def _labels(classes: exchange.Classes, n_rows: int) -> CodeArray:
    labels = np.empty(n_rows, dtype=np.int32)
    rows = classes.first.copy()
    alive = np.arange(len(rows), dtype=np.int32)
    while len(alive):
        labels[rows] = alive
        rows = classes.next_[rows]
        alive, rows = alive[rows >= 0], rows[rows >= 0]
    return labels
