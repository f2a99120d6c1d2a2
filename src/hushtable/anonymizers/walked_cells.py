"""What is published of records that walk down the cuts of a release: each by its own cells, wherever it is.

A record needs the codes of the values, the cuts, and what each class publishes: no row of the release is looked up, and
none is joined. All of it pickles, for the executors of a cluster.
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
    n_records: int  # that there were when they were coded
    walk: Walk = field(repr=False)
    # By column, where it is published. Of a quasi-identifier: a row of the release for every class, in order. Of a
    # sensitive column: one for its missing value and each of its codes, -1 where no record has it.
    rows: tuple[CountArray, ...] = field(repr=False)
    quasi_identifiers: frozenset[str]
    # Which of some values is published of each of these rows, once that is known; -1 is missing.
    cells: Mapping[str, tuple[CodeArray, pa.Array]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_parts(cls, parts: InParts) -> WalkedCells:
        """Keep of a release what its records need to be published where they are."""
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
        """Return the same with what each row of the release publishes: by its class, or by its own sensitive value."""
        cells = {}
        for series in rows:
            at = self.rows[self.names.index(series.name)]
            codes, values = encode_cells(series.alias("").gather(np.maximum(at, 0)))
            cells[series.name] = np.where(at < 0, np.int32(-1), codes), values
        return replace(self, cells=cells)

    def publish_batch(self, judged_cells: Sequence[pa.Array], names: Sequence[str]) -> dict[str, pa.Array]:
        """Return what records publish in some columns, by their judged cells in the order of `names`.

        InputError if a record has a value that no record had when they were coded.
        """
        cell_numbers = self.coding.cells.encode_batch(pa.table([*judged_cells], names=[*self.names]))
        table = self.coding.table_of_cells([*cell_numbers])
        labels = self.walk.place_rows(table)
        columns = {}
        for name in names:
            cells_of, values = self.cells[name]
            at = cells_of[labels if name in self.quasi_identifiers else table.codes[table.index(name)] + 1]
            columns[name] = values.take(pa.array(at, mask=at < 0))
        return columns


def encode_cells(series: pl.Series) -> tuple[CodeArray, pa.Array]:
    """Return the places of a column's cells among its values, -1 where one is missing, and the values in order."""
    values = Values(series.name, without_categories(series.dtype))
    codes, places = values.encode_cells(pa.chunked_array([to_arrow(series)]), grow=True)
    cells, order = values.sort_cells()
    return (order[codes[places]] - 1).astype(np.int32), to_arrow(cells.slice(1))
