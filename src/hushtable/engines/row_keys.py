"""Which of the distinct rows each record of a batch is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from hushtable._types import CodeArray, CountArray
from hushtable.io import Keys, Values, changed, to_arrow
from hushtable.kernels import lookup

__all__ = ["Rows", "coded", "distinct"]


class Rows:
    """Distinct rows of raw cells, to be found again.

    Parameters
    ----------
    cells : polars.DataFrame
        No two rows of it are equal.
    """

    def __init__(self, cells: pl.DataFrame) -> None:
        self._columns, self._layout, self._keys = _keyed(cells)
        # At most half full, so that few are looked at before the one that is sought.
        self._slots = np.full(1 << max(4, (2 * len(self._keys) - 1).bit_length()), np.int32(-1), dtype=np.int32)
        lookup.fill(self._keys, self._slots)

    def of(self, batch: pa.Table) -> CodeArray:
        """Return the row of each record of a batch, which has the columns in order.

        Raises
        ------
        InputError
            There is a record that is none of the rows.
        """
        codes = [column.code(cells, grow=False) for column, cells in zip(self._columns, batch.columns, strict=True)]
        out = np.empty(batch.num_rows, dtype=np.int32)
        if lookup.find(self._keys, self._slots, self._layout.of(codes, batch.num_rows, grow=False), out):
            raise changed()
        return out


def distinct(cells: pl.DataFrame) -> tuple[pl.DataFrame, CodeArray]:
    """Return the distinct rows of a table, and which of them each row is."""
    if not cells.width:
        return cells, np.zeros(1, dtype=np.int32)
    _, first, numbers = np.unique(_keyed(cells)[2], return_index=True, return_inverse=True)
    return cells[first], numbers.astype(np.int32)


def coded(series: pl.Series) -> tuple[CodeArray, pa.Array]:
    """Return the places of a column's cells among its values, -1 where one is missing, and the values in order."""
    values = Values(series.name, series.dtype)
    codes, places = values.code(pa.chunked_array([to_arrow(series)]), grow=True)
    cells, order = values.sorted()
    return (order[codes[places]] - 1).astype(np.int32), to_arrow(cells.slice(1))


def _keyed(cells: pl.DataFrame) -> tuple[list[Values], Keys, CountArray]:
    columns = [Values(series.name, series.dtype) for series in cells]
    codes = [
        column.code(pa.chunked_array([to_arrow(series)]), grow=True)
        for column, series in zip(columns, cells, strict=True)
    ]
    layout = Keys([column.width for column in columns], has_room=False)
    return columns, layout, layout.of(codes, len(cells), grow=True)
