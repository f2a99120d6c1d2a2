"""What a privacy model is: it asks for statistics of classes and judges them; it does not fetch them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray

__all__ = ["ClassStats", "Histogram", "Needs", "PrivacyModel", "Rule", "describe", "model_to_dict"]


@dataclass(frozen=True, slots=True)
class Needs:
    """The statistics that a model asks for besides the sizes of the classes."""

    sensitive: tuple[str, ...] = ()
    population: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Sparse class-by-value counts of one sensitive column.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n_classes + 1,)
        Class c holds the entries ``offsets[c]:offsets[c + 1]``.
    codes : ndarray of int32, shape (n_entries,)
        The values of a class, ascending; -1 is the missing value.
    counts : ndarray of int64, shape (n_entries,)
        How many records of the class hold the value.
    """

    offsets: CountArray = field(repr=False)
    codes: CodeArray = field(repr=False)
    counts: CountArray = field(repr=False)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.offsets) - 1

    def n_distinct(self) -> CountArray:
        """Count the distinct values of every class; the missing value is not one of them."""
        known = np.concatenate(([0], np.cumsum(self.codes >= 0)))
        return np.asarray(known[self.offsets[1:]] - known[self.offsets[:-1]])


@dataclass(frozen=True, slots=True, eq=False)
class ClassStats:
    """All that a model sees of a partition.

    Attributes
    ----------
    sizes : ndarray of int64, shape (n_classes,)
        Records in each class.
    histograms : mapping of sensitive column to Histogram
    totals : mapping of sensitive column to ndarray of int64, shape (n_values + 1,)
        The distribution of the whole input, fixed before anything is suppressed;
        entry ``code + 1`` is a value's count, entry 0 the missing values'.
    population : ndarray of int64, shape (n_classes,), optional
        Records of the population in each class, where a model needs them.
    """

    sizes: CountArray = field(repr=False)
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    totals: Mapping[str, CountArray] = field(default_factory=dict, repr=False)
    population: CountArray | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A model's judgement of one class as numbers and arrays, for a kernel to interpret inside a cut.

    Attributes
    ----------
    kind : int
        One of the RULE constants of ``hushtable._types``.
    sensitive : str or None
        The column whose counts are judged.
    threshold : float
        k, l, t and so on.
    table : ndarray of float64, shape (n_rows, n_values + 1)
        Whatever the kind needs for every value, entry ``code + 1``; often empty.
    """

    kind: int
    sensitive: str | None
    threshold: float
    table: FloatArray = field(default_factory=lambda: np.empty((0, 0)), repr=False)


@runtime_checkable
class PrivacyModel(Protocol):
    """A condition on every equivalence class.

    A model is a frozen dataclass whose fields are its parameters.
    """

    name: ClassVar[str]
    """As written in a policy: ``"k-anonymity"``."""
    monotone_coarsening: ClassVar[bool]
    """Whether merging classes that pass gives a class that passes."""
    monotone_suppression: ClassVar[bool]
    """Whether the classes that pass still pass after other classes were suppressed."""

    @property
    def needs(self) -> Needs:
        """The sensitive columns the model looks at, and whether it looks at a population."""
        ...

    @property
    def min_size(self) -> int:
        """A size that every class which passes reaches: what a search may prune by."""
        ...

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return what the model bounds, per class: its size, its number of distinct values ..."""
        ...

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell for every class whether it satisfies the model."""
        ...

    def rule(self, totals: Mapping[str, CountArray]) -> Rule:
        """Return the same judgement as numbers and arrays, for a kernel."""
        ...


def model_to_dict(model: PrivacyModel) -> dict[str, Any]:
    """Return a model as a policy writes it: ``{"k-anonymity": {"k": 5}}``."""
    return {model.name: {entry.name: getattr(model, entry.name) for entry in fields(model)}}  # type: ignore[arg-type]


def describe(model: PrivacyModel) -> str:
    """Return a model in one line: ``k-anonymity (k = 5)``."""
    parameters = ", ".join(
        f"{name} = {value!r}" for name, value in model_to_dict(model)[model.name].items() if value is not None
    )
    return f"{model.name} ({parameters})"
