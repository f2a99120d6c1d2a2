"""How much a release lost, always measured on what it publishes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hushtable._types import CountArray
from hushtable.recoding import Recoding

__all__ = ["Quality", "average_class_size", "discernibility", "measure", "set_ncp"]


@dataclass(frozen=True, slots=True)
class Quality:
    """How much a release lost.

    Attributes
    ----------
    set_ncp : float
        Mean published share, 0 (nothing lost) to 1 (everything).
    by_column : dict of column to float
        The same for every quasi-identifier.
    discernibility : int
        Sum over records of the size of their class, in records.
    average_class_size : float
        Records in a class.
    n_classes : int
    """

    set_ncp: float
    by_column: dict[str, float]
    discernibility: int
    average_class_size: float
    n_classes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


def measure(recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> Quality:
    """Measure a release from what its classes publish.

    Parameters
    ----------
    recoding : Recoding
    sizes : ndarray of int64, shape (n_classes,)
        Records in each class.
    n_suppressed : int
        Records that publish ``*`` everywhere; they lose everything.
    """
    names = [column.name for column in recoding.columns]
    by_column = _ncp_by_column(recoding, sizes, n_suppressed)
    return Quality(
        set_ncp(recoding, sizes, n_suppressed),
        dict(zip(names, by_column, strict=True)),
        discernibility(sizes, n_suppressed),
        average_class_size(sizes),
        len(sizes),
    )


def set_ncp(recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
    """Return the normalised certainty penalty, 0 to 1.

    For an ordered column the published width over the width of the whole column,
    for a categorical one the number of published values over the number of all, 0
    for a single value; the mean over records and columns. A missing value counts as
    a category; beside known values of an ordered column it publishes everything.

    Notes
    -----
    Xu et al., "Utility-based anonymization using local recoding", KDD 2006,
    section 3, on sets rather than hierarchy nodes.
    """
    return float(np.mean(_ncp_by_column(recoding, sizes, n_suppressed)))


def _ncp_by_column(recoding: Recoding, sizes: CountArray, n_suppressed: int) -> list[float]:
    n_records = int(sizes.sum()) + n_suppressed
    # Not a matrix product: that may add in another order when memory is aligned otherwise.
    lost: list[float] = (((recoding.shares() * sizes).sum(axis=1) + n_suppressed) / max(1, n_records)).tolist()
    return lost


def discernibility(sizes: CountArray, n_suppressed: int = 0) -> int:
    """Return the discernibility metric: every record costs the size of its class, a suppressed one the whole table.

    Notes
    -----
    Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, section 2.
    """
    total = int(sizes.sum()) + n_suppressed
    # Python's integers: the square of a large class does not fit 64 bits.
    squares: int = sum(size * size for size in sizes.tolist())
    return squares + n_suppressed * total


def average_class_size(sizes: CountArray) -> float:
    """Return the mean number of records in a class; 0 without classes."""
    return float(sizes.mean()) if len(sizes) else 0.0
