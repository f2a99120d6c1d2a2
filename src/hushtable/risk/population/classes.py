"""The class sizes of a sample, which are all that estimators see of a table, except for the tree; and estimates."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hushtable._types import TOLERANCE, CountArray, freeze_array
from hushtable.errors import InputError


@dataclass(frozen=True, slots=True)
class Point:
    """The answer of one estimator by itself.

    Attributes
    ----------
    value : float or None
        In [0, 1]; None where the sample does not let this estimator answer.
    reason : str
        Why there is none; empty where there is one.
    """

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate and how far it goes.

    Attributes
    ----------
    value : float or None
        In [0, 1], lower is safer; None is "not estimable", which is no low risk.
    low, high : float
        In [0, 1]; what the truth may be, whether there is a value or not.
    reliable : bool
        False where ``value`` is known to be wrong in samples of this kind.
    reason : str
        Why it is not reliable or not estimable; empty where it is reliable.
    """

    value: float | None
    low: float
    high: float
    reliable: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class SampleClasses:
    """How many classes of each size a sample has, and of how many people it is a sample.

    Attributes
    ----------
    sizes : ndarray of int64, shape (n_sizes,), read-only
        The sizes that occur, ascending, in records (or persons, where a person has several).
    counts : ndarray of int64, shape (n_sizes,), read-only
        How many classes have each size.
    n_records : int
    population_size : float
        At least n_records; people of the scenario, of which the sample was drawn at random.

    Examples
    --------
    >>> sample = SampleClasses.from_sizes([1, 1, 2, 5], 90)
    >>> sample.n_records, sample.n_classes, sample.n_unique, sample.n_pairs, sample.f
    (9, 4, 2, 1, 0.1)
    """

    sizes: CountArray = field(repr=False)
    counts: CountArray = field(repr=False)
    n_records: int
    population_size: float

    def __post_init__(self) -> None:
        for array in (self.sizes, self.counts):
            freeze_array(array)

    @classmethod
    def from_sizes(cls, class_sizes: ArrayLike, population_size: float) -> SampleClasses:
        """Count the classes of a sample by their size.

        Parameters
        ----------
        class_sizes : array of int, shape (n_classes,)
            At least 1 each, in any order.
        population_size : float
            People, the sample's own included; a sum of weights need not be whole.

        Raises
        ------
        InputError
            For a class without records, and for a population smaller than its sample.
        """
        array = np.asarray(class_sizes)
        if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or int(array.min()) < 1)):
            raise InputError(
                f"class_sizes holds {array.dtype} of shape {array.shape}, or a size below 1.",
                hint="whole numbers of at least 1, one for each class.",
            )
        sizes, counts = np.unique(array.astype(np.int64), return_counts=True)
        n_records = int(sizes @ counts)
        # Weights of 1 may sum to a little less than their number.
        if math.isclose(population_size, n_records, rel_tol=TOLERANCE):
            population_size = n_records
        if not (math.isfinite(population_size) and population_size > 0 and population_size >= n_records):
            raise InputError(
                f"population_size = {population_size!r}, but the sample has {n_records} records.",
                hint="the people that the sample was drawn from, the sample's own included; with weights, their sum.",
            )
        return cls(sizes, counts.astype(np.int64), n_records, float(population_size))

    @property
    def f(self) -> float:
        """Return the sampling fraction, in [0, 1]."""
        return self.n_records / self.population_size

    @property
    def n_classes(self) -> int:
        """Return how many classes there are."""
        return int(self.counts.sum())

    @property
    def n_unique(self) -> int:
        """Return how many classes hold one record."""
        return self.n_of(1)

    @property
    def n_pairs(self) -> int:
        """Return how many classes hold two records."""
        return self.n_of(2)

    def n_of(self, size: int) -> int:
        """Return how many classes have a size."""
        return int(self.counts[self.sizes == size].sum())

    @property
    def settled(self) -> Point | None:
        """Return the answer that needs no estimator, or why there is none; None where estimators are needed."""
        if self.n_records == 0:
            return Point(None, "not estimable: the sample is empty")
        if self.f == 1:
            return Point(self.n_unique / self.n_records)
        if self.n_unique == 0:
            return Point(None, "not estimable: no record of the sample is unique")
        return None
