"""Partition: the equivalence classes of a table's rows, and the statistics that models judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, freeze_array
from hushtable.errors import InputError
from hushtable.kernels import group
from hushtable.kernels.class_profile import class_values
from hushtable.models import ClassStats, Ground, Histogram, PrivacyModel
from hushtable.tables.table import Table, label_rows

NO_HIERARCHIES: Final[Mapping[str, CodeArray]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Equivalence classes.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,), read-only
        The class of every row; -1 is none (a suppressed row).
    sizes : ndarray of int64, shape (n_classes,), read-only
        Records in each class.
    offsets : ndarray of int64, shape (n_classes + 1,), read-only
    rows : ndarray of int32, read-only
        The rows of class c are ``rows[offsets[c]:offsets[c + 1]]``, ascending.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.encode(pl.DataFrame({"age": [34, 34, 7], "sex": ["f", "m", "f"]}))
    >>> Partition.from_table(table, ["age"]).sizes.tolist()
    [2, 1]
    >>> Partition.from_table(table, ["age"]).refine(table, "sex").sizes.tolist()
    [1, 1, 1]
    """

    labels: CodeArray = field(repr=False)
    sizes: CountArray = field(repr=False)
    offsets: CountArray = field(repr=False)
    rows: CodeArray = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.labels, self.sizes, self.offsets, self.rows):
            freeze_array(array)

    def __repr__(self) -> str:
        return f"Partition({self.n_records} records in {self.n_classes} classes)"

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """How many records are in a class."""
        return int(self.sizes.sum())

    @classmethod
    def from_table(cls, table: Table, columns: Sequence[str] | None = None) -> Partition:
        """Put rows with equal codes in one class.

        Parameters
        ----------
        table : Table
        columns : sequence of str, optional
            All columns when not given. No column gives one class.

        Notes
        -----
        A missing value is a value of its own. O(n_rows) per column.
        """
        picks = [table.index(name) for name in (table.names if columns is None else columns)]
        widths = [table.columns[j].n_values for j in picks]
        labels, n_classes = label_rows((table.codes[j] for j in picks), widths, table.n_rows)
        return cls.from_labels(labels, n_classes, table.counts)

    @classmethod
    def from_labels(cls, labels: CodeArray, n_classes: int, counts: CountArray) -> Partition:
        """Make a partition from dense labels, -1 for rows in no class."""
        offsets, rows = group.rows_by_class(labels, n_classes)
        sizes = group.class_sizes(labels, counts, n_classes)
        if int(sizes.sum()) + int(counts[labels < 0].sum()) != int(counts.sum()):
            raise AssertionError(
                "class sizes do not sum to the number of records; this is a fault of hushtable, please report it"
            )
        return cls(labels, sizes, offsets, rows)

    @classmethod
    def from_runs(
        cls, rows: CodeArray, offsets: CodeArray | CountArray, counts: CountArray, *, is_ascending: bool = True
    ) -> Partition:
        """Make a partition from all rows class by class; ``is_ascending``: so are the rows of every class."""
        labels = np.empty(len(rows), dtype=np.int32)
        labels[rows] = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
        if not is_ascending:
            return cls.from_labels(labels, len(offsets) - 1, counts)
        return cls(labels, group.class_sizes(labels, counts, len(offsets) - 1), offsets.astype(np.int64), rows)

    def refine(self, table: Table, column: str) -> Partition:
        """Split every class by one more column."""
        labels, n_classes = _refine_labels(self.labels, self.n_classes, table, column)
        return self.from_labels(labels, n_classes, table.counts)

    def stats(
        self,
        table: Table,
        models: Iterable[PrivacyModel] = (),
        *,
        population: CountArray | None = None,
        hierarchies: Mapping[str, CodeArray] = NO_HIERARCHIES,
    ) -> ClassStats:
        """Collect what some models ask for.

        Parameters
        ----------
        table : Table
            The rows of the partition, with the sensitive columns; its totals
            are those of all rows, also of rows in no class.
        models : iterable of PrivacyModel
        population : ndarray of int64, shape (n_rows,), optional
            Records of the population in every row. Rows that only the population
            has are rows of the table that count 0.
        hierarchies : mapping of sensitive column to ndarray of int32
            As `Ground` has them, shape (n_levels, n_values + 1).

        Raises
        ------
        InputError
            A model needs a population, and there is none.
        """
        models = list(models)
        if population is None and any(model.needs.population for model in models):
            raise InputError(
                "a model needs population counts, which a partition of the table alone does not have.",
                hint="pass population=, or drop that model.",
            )
        sensitive = dict.fromkeys(name for model in models for name in model.needs.sensitive)
        return ClassStats(
            self.sizes,
            {name: self.histogram(table, name) for name in sensitive},
            {name: count_by_value(table, name) for name in sensitive},
            None if population is None else group.class_sizes(self.labels, population, self.n_classes),
            build_ground_distances(table, sensitive, hierarchies),
        )

    def histogram(self, table: Table, column: str) -> Histogram:
        """Count the values of a column in every class."""
        codes = table.codes[table.index(column)]
        n_codes = table.column(column).n_values
        return Histogram(*class_values(self.offsets, self.rows, codes, table.counts, n_codes))


def count_by_value(table: Table, column: str) -> CountArray:
    """Return the records of every value of a column, the missing value's first; shape (n_values + 1,)."""
    codes = table.codes[table.index(column)]
    n_codes = table.column(column).n_values + 1
    # Counts are whole numbers far below 2^53, so that bincount's floats are exact.
    return np.bincount(codes + 1, weights=table.counts, minlength=n_codes).astype(np.int64)


def build_ground_distances(
    table: Table, columns: Iterable[str], hierarchies: Mapping[str, CodeArray] = NO_HIERARCHIES
) -> dict[str, Ground]:
    """Return for sensitive columns how far apart their values lie."""
    return {name: Ground(table.column(name).is_ordered, hierarchies.get(name)) for name in columns}


def _refine_labels(labels: CodeArray, n_classes: int, table: Table, column: str) -> tuple[CodeArray, int]:
    out = np.empty_like(labels)
    codes = table.codes[table.index(column)]
    return out, group.refine_classes(labels, n_classes, codes, table.column(column).n_values, out)
