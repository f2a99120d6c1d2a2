"""Every record of a table too large for memory, as small codes in the order of the records.

Where hardly any two records are equal, counting distinct rows saves nothing. A code takes a byte where a column has
fewer than 256 values: eight columns of 50,000,000 records take 0.4 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.errors import check_columns
from hushtable.io import frames
from hushtable.io.batches import Scan, ahead
from hushtable.io.distinct_rows import Values, changed
from hushtable.io.frames import Frame

__all__ = ["Margins", "RowCodes"]


class Margins(NamedTuple):
    """How frequent the cells of each column are.

    frame : Frame, rows with counts; which cells stand beside each other says nothing
    places : tuple by column of int64 (n_rows,), which of the column's cells each row has
    """

    frame: Frame
    places: tuple[CountArray, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowCodes:
    """Some columns of every record.

    Attributes
    ----------
    source : Scan
    names : tuple of str
        Of the columns.
    cells : tuple of polars.Series
        Of each column its distinct cells, without a name: the missing one, then the others in order.
    codes : tuple of ndarray of uint8, uint16 or uint32, shape (n_records,)
        Of each column, which of its cells a record has.
    known : tuple by column of (Values, ndarray of int64)
        By which further cells are coded, and which of the column's cells each of their codes is.
    """

    source: Scan = field(repr=False)
    names: tuple[str, ...]
    cells: tuple[pl.Series, ...] = field(repr=False)
    codes: tuple[NDArray[Any], ...] = field(repr=False)
    known: tuple[tuple[Values, CountArray], ...] = field(repr=False)

    @classmethod
    def of(cls, source: Scan, names: Sequence[str]) -> RowCodes:
        """Code some columns of a file or a folder, in one pass.

        Raises
        ------
        ColumnError
            A column does not exist, or its type cannot be grouped.
        """
        check_columns(names, source.columns, "columns")
        columns = [Values(name, source.schema[name]) for name in names]
        found: list[list[NDArray[Any]]] = [[] for _ in names]
        for batch in ahead(source.batches(names, coded=names)):
            for column, cells, of_column in zip(columns, batch.columns, found, strict=True):
                code, places = column.code(cells, grow=True)
                of_column.append(code.astype(_smallest(column.width))[places])
        known = [column.sorted() for column in columns]
        codes = tuple(_joined(of_column, places) for of_column, (_, places) in zip(found, known, strict=True))
        order = tuple((column, places) for column, (_, places) in zip(columns, known, strict=True))
        return cls(source, tuple(names), tuple(cells for cells, _ in known), codes, order)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(self.codes[0])

    def margins(self) -> Margins:
        """Return a few rows with counts in which every cell of every column is as frequent as among all records."""
        # As if each column were sorted by itself: a row for every run in which none of them changes.
        of_columns = zip(self.cells, self.codes, strict=True)
        ends = [np.cumsum(np.bincount(codes, minlength=len(cells))) for cells, codes in of_columns]
        until = np.unique(np.concatenate(ends))
        until = until[until > 0]
        places = tuple(np.searchsorted(of_column, until - 1, side="right") for of_column in ends)
        return Margins(self._frame(places, np.diff(until, prepend=0)), places)

    def frame(self, records: CodeArray, counts: CountArray) -> Frame:
        """Return some records as rows with counts."""
        return self._frame([codes[records] for codes in self.codes], counts)

    def check(self, batch: pa.Table, begin: int) -> None:
        """Raise InputError where a batch, which has the columns in order, is not the records from one on."""
        end = begin + batch.num_rows
        if end > self.n_records:
            raise changed()
        for (column, known), cells, ours in zip(self.known, batch.columns, self.codes, strict=True):
            codes, places = column.code(cells, grow=False)
            if not np.array_equal(known[codes][places], ours[begin:end]):
                raise changed()

    def _frame(self, places: Sequence[NDArray[Any]], counts: CountArray) -> Frame:
        # Named behind: a name may be a pattern.
        of_columns = zip(self.names, self.cells, places, strict=True)
        frame = frames.read(pl.DataFrame([cells.gather(rows).alias(name) for name, cells, rows in of_columns]))
        return replace(frame, is_text=self.source.is_text, dialect=self.source.dialect, counts=counts)


def _smallest(width: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that holds so many codes."""
    if width <= 2**8:
        return np.uint8
    return np.uint16 if width <= 2**16 else np.uint32


def _joined(parts: list[NDArray[Any]], places: CountArray) -> NDArray[Any]:
    """Join the codes of batches, each as its place in order, and empty the list on the way: memory is short."""
    order = places.astype(_smallest(len(places)))
    joined, begin = np.empty(sum(map(len, parts)), dtype=order.dtype), 0
    parts.reverse()
    while parts:
        part = parts.pop()
        joined[begin : begin + len(part)] = order[part]
        begin += len(part)
    return joined
