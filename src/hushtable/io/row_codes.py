"""Every record of a table too large for memory, as small codes in the order of the records.

Where hardly any two records are equal, counting distinct rows saves nothing; 8 columns of 50,000,000 take 0.4 GB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.errors import check_columns
from hushtable.io import frames
from hushtable.io.batches import Scan, prefetch_items
from hushtable.io.csv import Dialect
from hushtable.io.distinct_rows import Values, change_error
from hushtable.io.frames import Frame

SeenCells: TypeAlias = list[tuple[pa.Array, CountArray]]
"""Of each column its values, and how many records have the missing cell and each of them."""


class Margins(NamedTuple):
    """How frequent the cells of each column are."""

    frame: Frame  # rows with counts; which cells stand beside each other says nothing
    positions: tuple[CountArray, ...]  # by column (n_rows,), which of the column's cells each row has


@dataclass(frozen=True, slots=True, eq=False)
class CellCodes:
    """The distinct cells of some columns, which encode further batches; can be pickled."""

    names: tuple[str, ...]
    cells: tuple[pl.Series, ...] = field(repr=False)  # of each column, the missing one, then others in order
    # by column, what codes further cells, and which of the column's cells each code is
    coders: tuple[tuple[Values, CountArray], ...] = field(repr=False)
    is_text: bool
    dialect: Dialect = field(repr=False)

    @classmethod
    def from_values(cls, source: Scan, columns: Sequence[Values]) -> CellCodes:
        """Build from the values seen in some columns, in sorted order."""
        known = [column.sort_cells() for column in columns]
        return cls(
            tuple(column.name for column in columns),
            tuple(cells for cells, _ in known),
            tuple((column, places) for column, (_, places) in zip(columns, known, strict=True)),
            source.is_text,
            source.dialect,
        )

    @property
    def widths(self) -> list[int]:
        """How many cells each column has, the missing one included."""
        return list(map(len, self.cells))

    def encode_batch(self, batch: pa.Table) -> Iterator[CountArray]:
        """Yield the codes of each column of a batch, in order; InputError if a cell was not seen before."""
        for (column, known), cells in zip(self.coders, batch.columns, strict=True):
            codes, places = column.encode_cells(cells, grow=False)
            yield known[codes][places]

    def margins(self, counts: Sequence[CountArray]) -> Margins:
        """Return a few rows with counts in which every cell of every column is as frequent as it was counted."""
        places, n_records = sort_columns_separately(counts)
        return Margins(self.build_frame(places, n_records), places)

    def build_frame(self, places: Iterable[NDArray[Any]], counts: CountArray) -> Frame:
        """Build rows with counts from each column's codes."""
        # Named afterwards: polars may take a name for a pattern.
        of_columns = zip(self.names, self.cells, places, strict=True)
        frame = frames.read(pl.DataFrame([cells.gather(rows).alias(name) for name, cells, rows in of_columns]))
        return replace(frame, is_text=self.is_text, dialect=self.dialect, counts=counts)


@dataclass(frozen=True, slots=True, eq=False)
class RowCodes:
    """Some columns of every record."""

    source: Scan = field(repr=False)
    cells: CellCodes = field(repr=False)
    codes: tuple[NDArray[Any], ...] = field(repr=False)  # (n_records,) each: which of its cells

    @classmethod
    def from_scan(cls, source: Scan, names: Sequence[str]) -> RowCodes:
        """Encode some columns of a file or a folder, in one pass."""
        check_columns(names, source.columns, "columns")
        columns = [Values(name, source.schema[name]) for name in names]
        code_parts: list[list[NDArray[Any]]] = [[] for _ in names]
        for batch in prefetch_items(source.batches(names, coded=names)):
            for column, cells, of_column in zip(columns, batch.columns, code_parts, strict=True):
                code, places = column.encode_cells(cells, grow=True)
                of_column.append(code.astype(smallest_code_type(column.width))[places])
        cells_of = CellCodes.from_values(source, columns)
        codes = tuple(
            _join_codes(of_column, places) for of_column, (_, places) in zip(code_parts, cells_of.coders, strict=True)
        )
        return cls(source, cells_of, codes)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(self.codes[0])

    def margins(self) -> Margins:
        """Return a few rows with counts in which every cell of every column is as frequent as among all records."""
        widths = self.cells.widths
        counted = [np.bincount(codes, minlength=width) for codes, width in zip(self.codes, widths, strict=True)]
        return self.cells.margins(counted)

    def check_batch(self, batch: pa.Table, begin: int) -> None:
        """Raise InputError if a batch, with the columns in order, differs from the records that begin at a position."""
        end = begin + batch.num_rows
        if end > self.n_records:
            raise change_error()
        for places, ours in zip(self.cells.encode_batch(batch), self.codes, strict=True):
            if not np.array_equal(places, ours[begin:end]):
                raise change_error()


def sort_columns_separately(counts: Sequence[CountArray]) -> tuple[tuple[CountArray, ...], CountArray]:
    """Return rows of positions, and counts: each position is as frequent as counted, each column sorted by itself."""
    ends = [np.cumsum(of_column) for of_column in counts]
    until = np.unique(np.concatenate(ends))
    until = until[until > 0]
    places = tuple(np.searchsorted(of_column, until - 1, side="right") for of_column in ends)
    return places, np.diff(until, prepend=0)


def count_cells(source: Scan, names: Sequence[str]) -> SeenCells:
    """Return the values of some columns of a file, and the counts of the missing cell and of each value."""
    columns = [Values(name, source.schema[name]) for name in names]
    counts = [np.zeros(1, dtype=np.int64) for _ in names]
    for batch in source.batches(names, coded=names):
        for j, (column, cells) in enumerate(zip(columns, batch.columns, strict=True)):
            codes, places = column.encode_cells(cells, grow=True)
            counts[j] = _widen_counts(counts[j], column.width)
            np.add.at(counts[j], codes, np.bincount(places, minlength=len(codes)))
    return [(column.known, of_column) for column, of_column in zip(columns, counts, strict=True)]


def add_up_cells(columns: Sequence[Values], seen: Iterable[SeenCells]) -> list[CountArray]:
    """Add up how often cells occur in several parts, as `CellCodes.from_values` orders them; new values are added."""
    counts = [np.zeros(column.width, dtype=np.int64) for column in columns]
    for part in seen:
        for j, (column, (values, n_records)) in enumerate(zip(columns, part, strict=True)):
            codes, _ = column.encode_cells(pa.chunked_array([values]), grow=True)
            counts[j] = _widen_counts(counts[j], column.width)
            np.add.at(counts[j], np.append(0, codes[:-1]), n_records)
    ordered = []
    for column, of_column in zip(columns, counts, strict=True):
        in_order = np.empty_like(of_column)
        in_order[column.sort_cells()[1]] = of_column
        ordered.append(in_order)
    return ordered


def _widen_counts(counts: CountArray, width: int) -> CountArray:
    return np.append(counts, np.zeros(width - len(counts), dtype=np.int64))


def smallest_code_type(width: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest integer type that holds so many codes."""
    if width <= 2**8:
        return np.uint8
    return np.uint16 if width <= 2**16 else np.uint32


def _join_codes(parts: list[NDArray[Any]], places: CountArray) -> NDArray[Any]:
    """Concatenate the codes of batches as ranks; empties the list on the way to save memory."""
    order = places.astype(smallest_code_type(len(places)))
    codes, begin = np.empty(sum(map(len, parts)), dtype=order.dtype), 0
    parts.reverse()
    while parts:
        part = parts.pop()
        codes[begin : begin + len(part)] = order[part]
        begin += len(part)
    return codes
