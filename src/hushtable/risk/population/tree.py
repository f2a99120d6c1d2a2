"""How rare the values of sample uniques are, by a tree of pairs of columns (Chow and Liu)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, frozen
from hushtable.risk.population.classes import SampleClasses

__all__ = ["Tree", "TreeRisk", "chow_liu", "expected", "log_shares"]

_DENSE = 1 << 22  # cells; larger tables of pairs are counted by sorting


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A distribution over rows that knows pairs of columns along a tree, and nothing more.

    Attributes
    ----------
    edges : tuple of (int, int)
        At most n_columns - 1 pairs of columns; columns without a tie stand alone.
    log_shares : ndarray of float64, shape (n_rows,), read-only
        Log of the share of the population that has the values of each row.
    """

    edges: tuple[tuple[int, int], ...]
    log_shares: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        frozen(self.log_shares)


@dataclass(frozen=True, slots=True, eq=False)
class TreeRisk:
    """What the tree expects of the population.

    Attributes
    ----------
    nu : ndarray of float64, shape (n_unique,), read-only
        The expected number of other people who share the values of each sample unique: the smaller, the rarer.
    tau1 : float
        Expected number of sample uniques who are alone in the population.
    tau2 : float
        Expected sum of 1 / F over the sample's uniques.
    uniqueness : float
        Share of the population's people who are alone, in [0, 1].
    """

    nu: FloatArray = field(repr=False)
    tau1: float
    tau2: float
    uniqueness: float

    def __post_init__(self) -> None:
        frozen(self.nu)


def chow_liu(codes: CodeArray, n_values: Sequence[int], counts: CountArray) -> Tree:
    """Fit the tree of pairs of columns that has the greatest likelihood.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_columns, n_rows)
        Column by column; -1 is missing and counts as a value. Pass one row for each class.
    n_values : sequence of int
        Values of each column.
    counts : ndarray of int64, shape (n_rows,)
        Records that each row stands for, at least one in all.

    Notes
    -----
    Chow and Liu (1968): a maximum spanning tree by mutual information, here with the correction of Miller and
    Madow (1955), without which columns of many values look tied. Pairs whose corrected information is not
    above 0 are left apart, so that the tree may be a forest. O(n_columns^2 n_rows).

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.int32)
    >>> tree = chow_liu(codes, [2, 2, 2], np.full(4, 100))
    >>> tree.edges, np.exp(tree.log_shares).round(6).tolist()
    (((0, 1),), [0.25, 0.25, 0.25, 0.25])
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    n_columns = len(codes)
    singles = [_entropy(_counted(codes[a], n_values[a], counts)) for a in range(n_columns)]
    ties = np.zeros((n_columns, n_columns))
    for a in range(n_columns):
        for b in range(a + 1, n_columns):
            pairs = _counted(*_joined(codes, n_values, a, b), counts)
            # An edge of 0 is no edge to scipy.
            ties[a, b] = -max(singles[a] + singles[b] - _entropy(pairs), 0.0)
    found = minimum_spanning_tree(ties).tocoo()
    edges = sorted((int(a), int(b)) for a, b in zip(found.row, found.col, strict=True))
    return Tree(tuple(edges), log_shares(codes, n_values, counts, edges))


def log_shares(
    codes: CodeArray, n_values: Sequence[int], counts: CountArray, edges: Sequence[tuple[int, int]]
) -> FloatArray:
    """Return the log of the share of each row: shares of single columns, times shares of pairs over those of their ends.

    Without edges, columns are independent.
    """
    n = float(counts.sum())

    def share(column: CodeArray, n_codes: int) -> FloatArray:
        return np.log(_counted(column, n_codes, counts)[1] / n)

    singles = [share(column, size) for column, size in zip(codes, n_values, strict=True)]
    total = np.sum(singles, axis=0, initial=0.0) if singles else np.zeros(codes.shape[1])
    for a, b in edges:
        total += share(*_joined(codes, n_values, a, b)) - singles[a] - singles[b]
    return np.asarray(total, dtype=np.float64)


def expected(log_shares: FloatArray, unique: BoolArray, classes: SampleClasses) -> TreeRisk:
    """Return what shares of rows make of the sample's uniques.

    Parameters
    ----------
    log_shares : ndarray of float64, shape (n_rows,)
        Of a `Tree`, or by `log_shares`.
    unique : ndarray of bool, shape (n_rows,)
        Which rows are alone in the sample.
    classes : SampleClasses

    Notes
    -----
    Skinner and Holmes (1998), Skinner and Shlomo (2008): a cell holds Poisson(N p) people, so that a sample unique
    shares it with Poisson(nu) others, nu = (1 - f) N p. tau1 is the sum of exp(-nu), tau2 of (1 - exp(-nu)) / nu. p is
    a share of the *population*: sdcMicro's ``modRisk`` takes the sample's mean for it. Judged on the rows that
    it was fitted on, the tree is too sure below some 10 records for each cell of its largest pair.
    """
    nu = (1 - classes.f) * classes.population_size * np.exp(log_shares[unique])
    tau1 = float(np.exp(-nu).sum())
    tau2 = float(np.where(nu > 0, -np.expm1(-nu) / np.where(nu > 0, nu, 1.0), 1.0).sum())
    return TreeRisk(nu, tau1, tau2, tau1 / classes.n_records if classes.n_records else 0.0)


def _joined(codes: CodeArray, n_values: Sequence[int], a: int, b: int) -> tuple[CountArray, int]:
    """Return two columns in one code, and how many codes there may be."""
    width = n_values[b] + 1
    return (codes[a].astype(np.int64) + 1) * width + codes[b], (n_values[a] + 1) * width


def _counted(column: ArrayLike, n_codes: int, counts: CountArray) -> tuple[CountArray, CountArray]:
    """Return the records of every code that occurs, and of every row's code; codes begin at -1."""
    keys = np.asarray(column, dtype=np.int64) + 1
    if n_codes > _DENSE:
        _, keys = np.unique(keys, return_inverse=True)
    totals = np.bincount(keys, weights=counts).astype(np.int64)
    return totals[totals > 0], totals[keys]


def _entropy(counted: tuple[CountArray, CountArray]) -> float:
    """Return the entropy of a column in nats, by Miller and Madow."""
    totals = counted[0]
    n = totals.sum()
    shares = totals / n
    return float(-(shares @ np.log(shares)) + (len(totals) - 1) / (2 * n))
