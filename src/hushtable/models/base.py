"""What a privacy model is: it asks for statistics of classes and judges them; it does not fetch them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import ModelError
from hushtable.models import entries


@dataclass(frozen=True, slots=True)
class Needs:
    """The statistics that a model asks for besides the sizes of the classes."""

    sensitive: tuple[str, ...] = ()
    population: bool = False
    original: bool = False
    """Whether the model compares published rows with the rows they came from, and judges no classes."""
    reference: bool = False
    """Whether the model compares a class with the distribution of the whole input."""
    histories: bool = False
    """Whether the model judges all records of a person together."""
    persons: bool = True
    """Whether the model asks how many share a class: persons, where a person may have several records."""


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

    def labels(self) -> CountArray:
        """Return the class of every entry."""
        return np.repeat(np.arange(self.n_classes), np.diff(self.offsets))

    def without_missing(self) -> Histogram:
        """Return the histogram without the missing values."""
        is_known = self.codes >= 0
        offsets = np.concatenate(([0], np.cumsum(self.n_distinct())))
        return Histogram(offsets, self.codes[is_known], self.counts[is_known])

    def sum_by_class(self, numbers: FloatArray | CountArray) -> FloatArray:
        """Add up one number an entry over every class; a class without entries has 0."""
        return np.bincount(self.labels(), weights=numbers, minlength=self.n_classes).astype(np.float64)

    def max_by_class(self, numbers: FloatArray | CountArray, otherwise: float = 0.0) -> FloatArray:
        """Return the highest of one number an entry in every class; ``otherwise`` where a class has no entry."""
        highest = np.full(self.n_classes, otherwise)
        filled = self.offsets[1:] > self.offsets[:-1]
        if filled.any():
            highest[filled] = np.maximum.reduceat(numbers, self.offsets[:-1][filled])
        return highest

    def entropies(self, log: Callable[[Any], Any]) -> FloatArray:
        """Return the Shannon entropy of every class, by a logarithm of numpy; 0 where a class has no entry."""
        records = np.maximum(self.sum_by_class(self.counts), 1)
        return np.asarray(log(records) - self.sum_by_class(self.counts * log(self.counts)) / records)


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """How far apart the values of a sensitive column lie, for the earth mover's distance.

    Attributes
    ----------
    is_ordered : bool
        Whether the order of the codes means something.
    levels : ndarray of int32, shape (n_levels, n_values + 1), optional
        A hierarchy: the node that holds a value, entry ``code + 1``, at every level; level 0 holds the leaves, the
        last level one node. Levels are nested.

    Raises
    ------
    ModelError
        The last level has more than one node.
    """

    is_ordered: bool = False
    levels: CodeArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.levels is not None and (self.levels.ndim != 2 or len(np.unique(self.levels[-1:])) != 1):
            raise ModelError(
                f"a hierarchy of shape {self.levels.shape} does not end in one node.",
                hint="its last level holds all values, the missing one too.",
            )


NO_GROUNDS: Final[Mapping[str, Ground]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which published rows may have come from which original rows.

    Attributes
    ----------
    n_published, n_original : int
        Rows of either table.
    published, original : ndarray of int64, shape (n_edges,)
        Pairs of rows whose cells agree in every quasi-identifier: the published ones cover the original ones.
    """

    n_published: int
    n_original: int
    published: CountArray = field(repr=False)
    original: CountArray = field(repr=False)


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
        Records of the population in each class, where a model needs them; classes
        that hold population but no record included.
    grounds : mapping of sensitive column to Ground
        A column that is not in it has neither an order nor a hierarchy.
    matching : Matching, optional
        Where a model compares with the original table.
    persons : ndarray of int64, shape (n_classes,), optional
        Distinct persons in each class, where a person may have several records.
    """

    sizes: CountArray = field(repr=False)
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    totals: Mapping[str, CountArray] = field(default_factory=dict, repr=False)
    population: CountArray | None = field(default=None, repr=False)
    grounds: Mapping[str, Ground] = field(default_factory=dict, repr=False)
    matching: Matching | None = field(default=None, repr=False)
    persons: CountArray | None = field(default=None, repr=False)

    @property
    def crowd(self) -> CountArray:
        """How many a person hides among in each class: persons where they are counted, else records."""
        return self.sizes if self.persons is None else self.persons


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
    second : float
        The other parameter of a model that has two.
    table : ndarray of float64, shape (n_rows, n_values + 1)
        Whatever the kind needs for every value, entry ``code + 1``; often empty.
    """

    kind: int
    sensitive: str | None
    threshold: float
    second: float = 0.0
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
    higher_is_safer: ClassVar[bool]
    """Whether a class is the better protected the higher its measure is."""

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


@runtime_checkable
class RuledModel(PrivacyModel, Protocol):
    """A model that kernels judge by themselves; others are asked class by class, which takes longer."""

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Return the same judgement as numbers and arrays, for a kernel; the arguments as in ClassStats."""
        ...


@dataclass(frozen=True, slots=True)
class ParameterBounds:
    """Which finite numbers a parameter may be."""

    minimum: float = -math.inf
    above: float = -math.inf
    maximum: float = math.inf
    is_whole: bool = False

    def check(self, model: str, parameter: str, number: Any) -> Any:
        """Return a number within the bounds as a plain one; raise ModelError for anything else."""
        kinds = (int, np.integer) if self.is_whole else (int, float, np.integer, np.floating)
        is_number = (
            isinstance(number, kinds) and not isinstance(number, bool) and (self.is_whole or math.isfinite(number))
        )
        if not is_number or not (self.above < number and self.minimum <= number <= self.maximum):
            raise ModelError(
                f"{model} was given {parameter} = {number!r}.", hint=f"{parameter} is {self._describe_bounds()}."
            )
        return number.item() if isinstance(number, np.generic) else number

    def _describe_bounds(self) -> str:
        if self.is_whole:
            return f"a whole number, {self.minimum:g} or more (2 or more protects)"
        bounds = (("above", self.above), ("at least", self.minimum), ("at most", self.maximum))
        return "a finite number, " + " and ".join(f"{word} {bound:g}" for word, bound in bounds if math.isfinite(bound))


ONE_OR_MORE: Final = ParameterBounds(minimum=1, is_whole=True)


class BoundedModel:
    """Base of the models: checks of parameters, and what holds for most models."""

    __slots__ = ()

    name: ClassVar[str]
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool]
    _bounds: ClassVar[Mapping[str, ParameterBounds]] = MappingProxyType({})
    _equality_fails: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for parameter, bounds in self._bounds.items():
            object.__setattr__(self, parameter, bounds.check(self.name, parameter, getattr(self, parameter)))

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell for every class whether what is measured keeps to the model's first parameter."""
        measured, bound = self.measure(stats), getattr(self, next(iter(self._bounds)))
        if self.higher_is_safer:
            return np.asarray(measured >= bound - TOLERANCE)
        return np.asarray(measured < bound - TOLERANCE if self._equality_fails else measured <= bound + TOLERANCE)

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return what the model bounds, per class."""
        raise NotImplementedError


class OneSensitive(BoundedModel):
    """What models of one sensitive column share."""

    __slots__ = ()

    sensitive: str

    higher_is_safer: ClassVar[bool] = False
    _compares_with_whole: ClassVar[bool] = False
    _counts_persons: ClassVar[bool] = True  # a model of another package may count them

    def __post_init__(self) -> None:
        BoundedModel.__post_init__(self)
        if not isinstance(self.sensitive, str) or not self.sensitive:
            problem = f"{self.name} was given sensitive = {self.sensitive!r}."
            raise ModelError(problem, hint="name the one column it looks at.")

    @property
    def needs(self) -> Needs:
        """The histogram of the one sensitive column."""
        return Needs(sensitive=(self.sensitive,), reference=self._compares_with_whole, persons=self._counts_persons)

    @property
    def min_size(self) -> int:
        """1 where a class of one record may pass, or what it takes is not known here."""
        return 1


def model_to_dict(model: PrivacyModel) -> dict[str, Any]:
    """Return a model as a policy writes it: ``{"k-anonymity": {"k": 5}}``."""
    return entries.to_entry(model, sparse=False)


def describe(model: PrivacyModel) -> str:
    """Return a model in one line: ``k-anonymity (k = 5)``."""
    parameters = ", ".join(
        f"{name} = {value!r}" for name, value in model_to_dict(model)[model.name].items() if value is not None
    )
    return f"{model.name} ({parameters})"
