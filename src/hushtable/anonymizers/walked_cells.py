"""Publish records where they are: each walks down the cuts of a release and gets the cells of its class.

That takes the codes of values, the cuts, and what each class publishes. No row of the release is looked up or joined.
Everything pickles, for the executors of a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pyarrow as pa

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.in_parts import InParts
from hushtable.anonymizers.placement import Walk
from hushtable.anonymizers.row_by_row import Coding
from hushtable.columns import without_categories
from hushtable.io import Frame, Values, to_arrow


@dataclass(frozen=True, slots=True, eq=False)
class WalkedCells:
    """The cuts of a release, and what its classes publish."""

    coding: Coding = field(repr=False)  # of the judged columns
    margins: Frame = field(repr=False)  # rows with counts whose columns hold each cell as often as all records do
    n_records: int  # when the records were coded
    walk: Walk = field(repr=False)
    # By column, rows of the release to take published cells from. Quasi-identifier: one row for every class, in order.
    # Sensitive column: one row for the missing value and for each code, -1 if no record has it.
    rows: tuple[CountArray, ...] = field(repr=False)
    quasi_identifiers: frozenset[str]
    # By column, for each of these rows the index of its published value, -1 if missing; and the values.
    cells: Mapping[str, tuple[CodeArray, pa.Array]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_parts(cls, parts: InParts) -> WalkedCells:
        """Extract from a release what is needed to publish its records where they are."""
        quasi_identifiers = frozenset(parts.release.quasi_identifiers)
        row_of_class = np.unique(parts.release.partition.labels, return_index=True)[1]
        rows = []
        for column, shifted in zip(parts.coding.columns, parts.shifted_codes, strict=True):
            row_of_code = np.full(column.n_values + 1, -1, dtype=np.int64)
            row_of_code[shifted] = np.arange(len(shifted))
            rows.append(row_of_class if column.name in quasi_identifiers else row_of_code)
        return cls(parts.coding, parts.margins, parts.n_records, parts.walk, tuple(rows), quasi_identifiers)

    @property
    def names(self) -> tuple[str, ...]:
        """The judged columns."""
        return self.coding.cells.names

    def with_cells_of(self, rows: pl.DataFrame) -> WalkedCells:
        """Return the same with the published cells of the release's rows."""
        cells = {}
        # Bounds of cells are no judged columns: a class has one row of them, as of quasi-identifiers.
        of_classes = self.rows[self.names.index(min(self.quasi_identifiers))]
        for series in rows:
            at = self.rows[self.names.index(series.name)] if series.name in self.names else of_classes
            codes, values = encode_cells(series.alias("").gather(np.maximum(at, 0)))
            cells[series.name] = np.where(at < 0, np.int32(-1), codes), values
        return replace(self, cells=cells)

    def publish_batch(self, judged_cells: Sequence[pa.Array], names: Sequence[str]) -> dict[str, pa.Array]:
        """Return what records publish in the columns `names`, from their judged cells in the order of `self.names`.

        InputError if a record has a value that no record had when they were coded.
        """
        cell_numbers = self.coding.cells.encode_batch(pa.table([*judged_cells], names=[*self.names]))
        table = self.coding.table_of_cells([*cell_numbers])
        labels = self.walk.place_rows(table)
        columns = {}
        for name in names:
            cells_of, values = self.cells[name]
            is_of_class = name in self.quasi_identifiers or name not in self.names
            at = cells_of[labels if is_of_class else table.codes[table.index(name)] + 1]
            columns[name] = values.take(pa.array(at, mask=at < 0))
        return columns


def encode_cells(series: pl.Series) -> tuple[CodeArray, pa.Array]:
    """Encode a column: the index of each cell among the sorted values, -1 if missing, and these values."""
    values = Values(series.name, without_categories(series.dtype))
    codes, places = values.encode_cells(pa.chunked_array([to_arrow(series)]), grow=True)
    cells, order = values.sort_cells()
    return (order[codes[places]] - 1).astype(np.int32), to_arrow(cells.slice(1))
