"""Households: who is found when any member is, and how many households share all their members' values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray

__all__ = ["HouseholdRisk", "household_classes", "household_codes", "summarised"]


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """The risk of households.

    Attributes
    ----------
    n_households : int
        A record without one is a household of its own.
    n_unique : int
        Households whose members' values together no other household has.
    smallest_class : int
        The fewest households that share them.
    highest, average : float
        In [0, 1]; over records, of 1 - the product over the members of a household of (1 - a member's individual
        risk): that anyone of them is found, if finding one has no bearing on finding another.
    """

    n_households: int
    n_unique: int
    smallest_class: int
    highest: float
    average: float


def household_codes(codes: CodeArray, counts: CountArray) -> CountArray:
    """Return the household of every record, from 0; records without one are households of their own.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Of the column that says so; -1 is missing.
    counts : ndarray of int64, shape (n_rows,)
        Records of each row.
    """
    of_records = np.repeat(codes.astype(np.int64), counts)
    lone = of_records < 0
    of_records[lone] = int(codes.max(initial=-1)) + 1 + np.arange(int(lone.sum()))
    _, dense = np.unique(of_records, return_inverse=True)
    return np.asarray(dense)


def household_classes(households: CountArray, labels: CodeArray) -> CountArray:
    """Count, for every household, those whose members have the same values, itself included.

    Parameters
    ----------
    households : ndarray of int64, shape (n_records,)
        Dense, as `household_codes` has them.
    labels : ndarray of int32, shape (n_records,)
        The class of every record.

    Notes
    -----
    Households of one size are compared as sorted lists of classes. O(n log n).
    """
    ranked = labels[np.lexsort((labels, households))]
    lengths = np.bincount(households)
    starts = np.cumsum(lengths) - lengths
    sizes = np.empty(len(lengths), dtype=np.int64)
    by_length = np.argsort(lengths, kind="stable")
    distinct, begins = np.unique(lengths[by_length], return_index=True)
    ends = np.append(begins, len(by_length))[1:]
    for length, begin, end in zip(distinct.tolist(), begins.tolist(), ends.tolist(), strict=True):
        members = by_length[begin:end]
        lists = np.ascontiguousarray(ranked[starts[members][:, None] + np.arange(length)], dtype=np.int32)
        # As bytes, which are compared at once.
        whole = lists.view(np.dtype((np.void, 4 * length))).ravel()
        _, inverse, counts = np.unique(whole, return_inverse=True, return_counts=True)
        sizes[members] = counts[inverse]
    return sizes


def summarised(risks: FloatArray, sizes: CountArray) -> HouseholdRisk:
    """Sum up the risks of records, and the classes of households; without a record, the risk is 1."""
    return HouseholdRisk(
        n_households=len(sizes),
        n_unique=int(np.count_nonzero(sizes == 1)),
        smallest_class=int(sizes.min(initial=len(sizes))),
        highest=float(risks.max()) if len(risks) else 1.0,
        average=float(risks.mean()) if len(risks) else 1.0,
    )
