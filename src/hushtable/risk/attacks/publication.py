"""A release as its attackers see it: its rows grouped by what they publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hushtable._types import CountArray
from hushtable.claims import Grouped, find_coverage, group_rows
from hushtable.columns import SUPPRESSED
from hushtable.errors import InputError, check_columns
from hushtable.io import Frame
from hushtable.risk.attacks.fitting import PublishedTable


class FittingClasses(NamedTuple):
    """The classes that fit each row of a source."""

    classes: CountArray
    offsets: CountArray

    def classes_of(self, row: int) -> tuple[int, ...]:
        """Return the classes of a row."""
        return tuple(self.classes[self.offsets[row] : self.offsets[row + 1]].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Publication:
    """A release, its rows grouped by what they publish; suppressed ones are in no class."""

    table: PublishedTable
    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    groups: Grouped

    @classmethod
    def from_table(cls, table: PublishedTable, columns: Sequence[str], sensitive: Sequence[str]) -> Publication:
        """Group the rows of a table."""
        check_columns(columns, table.frame.columns, "quasi-identifiers of a release, or of the earlier release")
        published_names = [name for name in sensitive if name in table.frame.columns]
        grouped = group_rows(table.frame, columns, published_names, SUPPRESSED)
        if not grouped.n_classes:
            raise InputError("a release has no class.", hint="all of its records are suppressed.")
        return cls(table, tuple(columns), tuple(sensitive), grouped)

    @property
    def rows(self) -> CountArray:
        """Rows of the published table that are in classes."""
        return np.flatnonzero(~self.groups.is_suppressed)

    @property
    def labels(self) -> CountArray:
        """The class of each of them."""
        return self.groups.labels

    @property
    def classes(self) -> CountArray:
        """The class of every row of the published table; suppressed rows are one more."""
        classes = np.full(len(self.groups.is_suppressed), self.groups.n_classes, dtype=np.int64)
        classes[self.rows] = self.labels
        return classes

    @property
    def source_rows(self) -> CountArray | None:
        """Which row of the source each of them is."""
        return None if self.table.rows is None else self.table.rows[self.rows]

    def find_fitting_classes(self, source: Frame) -> FittingClasses:
        """Find the classes whose cells fit each row of a source."""
        classes, rows = find_coverage(self.groups, source, self.columns, self.table.specs, self.table.hierarchies)
        order = np.lexsort((classes, rows))
        return FittingClasses(classes[order], np.searchsorted(rows[order], np.arange(source.n_rows + 1)))
