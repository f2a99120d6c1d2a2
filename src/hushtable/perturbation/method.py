"""What a method of perturbation is: cells and a generator in, other cells out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Protocol, runtime_checkable

import numpy as np

from hushtable._types import CodeArray, FloatArray, freeze_array
from hushtable.claims import Claim
from hushtable.errors import ColumnError, quote_names
from hushtable.models import entries
from hushtable.tables import Table

NUMERIC: Final = ("integer", "decimal")
LARGE: Final = 1e150
"""Numbers beyond it have no square."""

_ROOM: Final = "hushtable.perturbation"


@dataclass(frozen=True, slots=True, eq=False)
class OriginalCells:
    """What a method perturbs.

    Attributes
    ----------
    table : Table
        The columns, a row for every record.
    strata : ndarray of int32, shape (n_rows,)
        Records of different strata have nothing to do with one another.
    beside : Table
        The columns that the method asked for besides; they stay as they are.
    """

    table: Table
    strata: CodeArray = field(repr=False)
    beside: Table

    def __post_init__(self) -> None:
        freeze_array(self.strata)

    def numbers(self) -> FloatArray:
        """Return the cells as numbers, shape (n_rows, n_columns), NaN where one is missing."""
        return numbers_of(self.table)


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    """What a method made of the cells.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_columns, n_rows), optional
        Where every cell is one of the column's own values.
    numbers : ndarray of float, shape (n_rows, n_columns), optional
        Where cells are new numbers; NaN is a missing cell.
    loss, bound : float, optional
        The sum of squares within groups over that of the table, and what no groups can be below, in [0, 1].
    prices : ndarray of float, shape (n_rows,), optional
        What proves the bound: no three records of a stratum cost less than their prices together.
    figures : mapping
        What else is known of it, as plain values. They are internal: matrices and the like.
    notes : tuple of str
        What whoever reads the result must know, in whole sentences.
    """

    codes: CodeArray | None = None
    numbers: FloatArray | None = None
    loss: float | None = None
    bound: float | None = None
    prices: FloatArray | None = None
    figures: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@runtime_checkable
class PerturbationMethod(Protocol):
    """A way to perturb cells; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]
    """As it is written: ``"rank_swap"``."""

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that it looks at besides those that it perturbs."""
        ...

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Perturb the cells; what comes in stays as it is."""
        ...

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Claim:
        """Return what a table perturbed so promises."""
        ...


METHODS: Final[entries.Registry[type[PerturbationMethod]]] = entries.Registry(
    {
        "microaggregation": f"{_ROOM}.microaggregation.Microaggregation",
        "noise": f"{_ROOM}.noise.Noise",
        "pram": f"{_ROOM}.pram.Pram",
        "rank_swap": f"{_ROOM}.rank_swap.RankSwap",
        "record_swap": f"{_ROOM}.record_swap.RecordSwap",
        "shuffle": f"{_ROOM}.shuffle.Shuffle",
    },
    "perturbation",
)
"""Every method of perturbation by the name that it is asked for by."""


def describe_method(method: PerturbationMethod) -> str:
    """Describe a method with the options that are not the default: `noise(amount=0.3)`."""
    ((name, options),) = entries.to_entry(method).items()
    return f"{name}({', '.join(f'{option}={value!r}' for option, value in options.items())})"


def numbers_of(table: Table) -> FloatArray:
    """Return the cells of columns of numbers, shape (n_rows, n_columns), NaN where one is missing."""
    others = [column.name for column in table.columns if column.kind not in NUMERIC]
    if others:
        raise ColumnError(
            f"columns {quote_names(others)} are no numbers.",
            hint="swap their ranks (rank_swap) where they have an order; for categories take pram.",
        )
    too_large = [
        column.name for column in table.columns if np.abs(column.values.astype(np.float64)).max(initial=0) > LARGE
    ]
    if too_large:
        raise ColumnError(
            f"columns {quote_names(too_large)} hold numbers beyond {LARGE:g}, whose squares are none.",
            hint="write them in a larger unit.",
        )
    return np.array(
        [
            np.append(column.values.astype(np.float64), np.nan)[codes]
            for column, codes in zip(table.columns, table.codes, strict=True)
        ]
    ).T.reshape(table.n_rows, len(table.columns))


def standardise(numbers: FloatArray) -> FloatArray:
    """Return numbers less their mean, over their standard deviation (n - 1), of the known cells; NaN stays.

    A constant column becomes 0, and so has no weight.
    """
    known = ~np.isnan(numbers)
    n_known = known.sum(axis=0)
    # The extremes first: the square of a large number may be none.
    scale = np.where(known, np.abs(numbers), 0.0).max(axis=0, initial=0.0)
    scaled = numbers / np.where(scale > 0, scale, 1.0)
    centred = scaled - np.where(known, scaled, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    deviation = np.sqrt((np.where(known, centred, 0.0) ** 2).sum(axis=0) / np.maximum(n_known - 1, 1))
    low = np.where(known, numbers, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, numbers, -np.inf).max(axis=0, initial=-np.inf)
    standardised = centred / np.where(high > low, deviation, 1.0)
    return np.ascontiguousarray(np.where(known & ~(high > low), 0.0, standardised))
