"""How rare the values of sample uniques are, by a tree of pairs of columns (Chow and Liu)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, freeze_array
from hushtable.kernels import group
from hushtable.risk.population.classes import SampleClasses


class _RowGroups(NamedTuple):
    """Rows by what they have in common: the group of every row, and the records of each group."""

    labels: CodeArray
    records: CountArray


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
        freeze_array(self.log_shares)


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
        Share of the population's people who are alone, in [0, 1]: tau1 / n_records.
    """

    nu: FloatArray = field(repr=False)
    tau1: float
    tau2: float
    uniqueness: float

    def __post_init__(self) -> None:
        freeze_array(self.nu)


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

    n_columns, singles = len(codes), _group_by_column(codes, n_values, counts)
    ties = np.zeros((n_columns, n_columns))
    for a in range(n_columns):
        for b in range(a + 1, n_columns):
            entropy_if_independent = _entropy(singles[a]) + _entropy(singles[b])
            # An edge of 0 is no edge to scipy.
            ties[a, b] = -max(entropy_if_independent - _entropy(_intersect_groups(singles[a], singles[b], counts)), 0.0)
    spanning_tree = minimum_spanning_tree(ties).tocoo()
    edges = sorted((int(a), int(b)) for a, b in zip(spanning_tree.row, spanning_tree.col, strict=True))
    return Tree(tuple(edges), log_shares(codes, n_values, counts, edges))


def log_shares(
    codes: CodeArray, n_values: Sequence[int], counts: CountArray, edges: Sequence[tuple[int, int]]
) -> FloatArray:
    """Return the log of the share of each row, shape (n_rows,).

    Shares of single columns, times shares of pairs over those of their ends; without edges, columns are independent.
    """
    singles = _group_by_column(codes, n_values, counts)
    shares = [_row_log_shares(single) for single in singles]
    total = np.sum(shares, axis=0)
    for a, b in edges:
        total += _row_log_shares(_intersect_groups(singles[a], singles[b], counts)) - shares[a] - shares[b]
    return np.asarray(total, dtype=np.float64)


def estimate_tree_risk(log_shares: FloatArray, unique: BoolArray, classes: SampleClasses) -> TreeRisk:
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

    Uniqueness follows from the sample's uniques alone, as tau1 = f #(population uniques) on average. The mean of
    exp(-N p) over all records is the model's own answer; it ignores which of them are unique, and was further off.
    """
    nu = (1 - classes.f) * classes.population_size * np.exp(log_shares[unique])
    tau1 = float(np.exp(-nu).sum())
    tau2 = float(np.where(nu > 0, -np.expm1(-nu) / np.where(nu > 0, nu, 1.0), 1.0).sum())
    return TreeRisk(nu, tau1, tau2, tau1 / classes.n_records if classes.n_records else 0.0)


def _group_by_column(codes: CodeArray, n_values: Sequence[int], counts: CountArray) -> list[_RowGroups]:
    """Return the groups of equal values of each column."""
    everyone = _RowGroups(np.zeros(codes.shape[1], dtype=np.int32), counts.sum(keepdims=True))
    return [_refine_groups(everyone, column, size, counts) for column, size in zip(codes, n_values, strict=True)]


def _intersect_groups(first: _RowGroups, second: _RowGroups, counts: CountArray) -> _RowGroups:
    """Return the groups of rows that are equal in two columns."""
    return _refine_groups(first, second.labels, len(second.records), counts)


def _refine_groups(groups: _RowGroups, codes: CodeArray, n_codes: int, counts: CountArray) -> _RowGroups:
    labels = np.empty_like(groups.labels)
    n_groups = group.refine_classes(groups.labels, len(groups.records), codes, n_codes, labels)
    return _RowGroups(labels, group.class_sizes(labels, counts, n_groups))


def _row_log_shares(groups: _RowGroups) -> FloatArray:
    """Return the log of the share of every row's group."""
    logs: FloatArray = np.log(groups.records / groups.records.sum())
    return logs[groups.labels]


def _entropy(groups: _RowGroups) -> float:
    """Return the entropy of groups in nats, by Miller and Madow."""
    n = groups.records.sum()
    shares = groups.records / n
    return float(-(shares @ np.log(shares)) + (len(shares) - 1) / (2 * n))
