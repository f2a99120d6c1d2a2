"""Distinguishing power: what each column adds to what the columns beside it tell about who is who.

Who knows some columns of a person is left with a class of s records; the logarithm of s, averaged over records, is
what they do not know yet, in bits. A column's power is how much it lowers that, averaged over the orders in which
the columns may come to be known: its Shapley value, whose sum over columns is what all of them tell together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels import group
from hushtable.tables import Table

__all__ = ["entropy", "mean_gains", "orders", "twins"]

_ALL_ORDERS: Final = 4  # columns of which every order is looked at
_DRAWN: Final = 24
_RECORDS_A_VALUE: Final = 5
_FEWEST_RECORDS: Final = 30


def mean_gains(table: Table) -> FloatArray:
    """Return the mean marginal gain of every column, in bits of log class size; shape (n_columns,).

    Notes
    -----
    Over all orders of up to four columns. Of more, over drawn orders, always the same ones: each with its reverse and
    with all its rotations, so that every column stands at every place as often. The columns are taken by their names,
    so that their order in the table does not count. A missing cell is a value of its own.
    O(n_rows) for a column of an order, until every record is alone.
    """
    n_columns = len(table.names)
    by_name = sorted(range(n_columns), key=lambda place: table.names[place])
    gains = np.zeros(n_columns)
    tried = orders(n_columns)
    for order in tried:
        labels, n_classes = np.zeros(table.n_rows, dtype=np.int32), min(1, table.n_rows)
        known = 0.0
        for place in order:
            column = by_name[place]
            labels, n_classes = _refined(labels, n_classes, table, column)
            told = entropy(group.class_sizes(labels, table.counts, n_classes))
            gains[column] += told - known
            known = told
            if n_classes == table.n_rows:
                break
    return gains / max(1, len(tried))


def orders(n_columns: int) -> Sequence[tuple[int, ...]]:
    """Return the orders of columns that `mean_gains` looks at."""
    if n_columns <= _ALL_ORDERS:
        return list(itertools.permutations(range(n_columns)))
    draw = np.random.default_rng(0)
    found = []
    for _ in range(max(1, _DRAWN // n_columns)):
        drawn = draw.permutation(n_columns).tolist()
        for line in (drawn, drawn[::-1]):
            found += [(*line[start:], *line[:start]) for start in range(n_columns)]
    return found


def entropy(sizes: CountArray) -> float:
    """Return how many bits the classes tell about a record: log2 of all records less the mean log2 of its class."""
    n_records = int(sizes.sum())
    if not n_records:
        return 0.0
    # By size, so that the sum does not depend on the order of the classes.
    different, counts = np.unique(sizes[sizes > 0], return_counts=True)
    return float(np.log2(n_records) - (counts * different * np.log2(different)).sum() / n_records)


def twins(table: Table, ranks: Iterable[tuple[float, str]]) -> Mapping[str, str]:
    """Return for every column that says the same as an earlier one, value for value, which one that is.

    Parameters
    ----------
    table : Table
    ranks : iterable of (float, str)
        A rank for each column, with its name: the lowest of those that say the same stands for all of them.

    Notes
    -----
    Only where values repeat (five records a value or more, 30 records at least): among nearly unique
    columns everything says the same. O(n_rows) per column.
    """
    first: dict[bytes, str] = {}
    same: dict[str, str] = {}
    start = np.zeros(table.n_rows, dtype=np.int32)
    for _, name in sorted(ranks):
        labels, n_classes = _refined(start, min(1, table.n_rows), table, table.index(name))
        if n_classes < 2 or table.n_records < max(_FEWEST_RECORDS, _RECORDS_A_VALUE * n_classes):
            continue
        # Labels are numbered by first appearance: one-to-one columns have the same ones.
        other = first.setdefault(labels.tobytes(), name)
        if other != name:
            same[name] = other
    return same


def _refined(labels: CodeArray, n_classes: int, table: Table, column: int) -> tuple[CodeArray, int]:
    out = np.empty_like(labels)
    n_values = table.columns[column].n_values
    return out, group.refine(labels, n_classes, table.codes[column], n_values, out)
