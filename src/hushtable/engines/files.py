"""Files as an origin of releases: collapsed to distinct rows, and published batch by batch.

To publish a batch, each of its records is looked up among the distinct rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from hushtable._types import CodeArray, CountArray
from hushtable.columns import Column, ColumnSpec, KeptRounding, to_enumeration, without_categories
from hushtable.engines import lazy
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.io import (
    Dialect,
    Frame,
    Parts,
    RowCodes,
    RowKeys,
    Scan,
    Values,
    as_declared,
    change_error,
    distinct_rows,
    frames,
    round_scan,
    scan,
    to_arrow,
)
from hushtable.kernels import group
from hushtable.release import Batches, PublishedCells, declare_odd_cells_missing, decode_dictionaries, pseudonymize
from hushtable.tables import encode_table

_RECORDS_PER_COUNT: Final = 2**20  # records that are counted together


class RawRows:
    """Distinct rows of raw cells, which records are looked up in.

    Parameters
    ----------
    cells : polars.DataFrame
        No two rows of it are equal.
    """

    def __init__(self, cells: pl.DataFrame) -> None:
        self._columns, self._layout, self._keys = _key_rows(cells)
        # At most half full, so that a lookup takes few steps.
        self._slots = np.full(1 << max(4, (2 * len(self._keys) - 1).bit_length()), np.int32(-1), dtype=np.int32)
        group.fill_slots(self._keys, self._slots)

    def rows_of_batch(self, batch: pa.Table) -> CodeArray:
        """Return the row of each record of a batch, which has the columns in order.

        Raises
        ------
        InputError
            A record equals none of the rows.
        """
        codes = [
            column.encode_cells(cells, grow=False) for column, cells in zip(self._columns, batch.columns, strict=True)
        ]
        out = np.empty(batch.num_rows, dtype=np.int32)
        if group.find_keys(self._keys, self._slots, self._layout.keys_of_rows(codes, batch.num_rows, grow=False), out):
            raise change_error()
        return out


def number_distinct_rows(cells: pl.DataFrame) -> tuple[pl.DataFrame, CodeArray]:
    """Return the distinct rows of a table, and for each row its number among them."""
    # Rows without columns are all equal. One number stands for all of them.
    if not cells.width:
        return cells, np.zeros(1, dtype=np.int32)
    _, first, numbers = np.unique(_key_rows(cells)[2], return_index=True, return_inverse=True)
    return cells[first], numbers.astype(np.int32)


def _key_rows(cells: pl.DataFrame) -> tuple[list[Values], RowKeys, CountArray]:
    """Return the cells of each column, the layout of the keys, and the key of every row."""
    columns = [Values(series.name, series.dtype) for series in cells]
    codes = [
        column.encode_cells(pa.chunked_array([to_arrow(series)]), grow=True)
        for column, series in zip(columns, cells, strict=True)
    ]
    layout = RowKeys([column.width for column in columns])
    return columns, layout, layout.keys_of_rows(codes, len(cells), grow=True)


class NumberedRecords(NamedTuple):
    """The release row of every record, by the record's position in the files.

    The records are kept, too: a later pass raises an error if it reads others.

    records : RowCodes, of the judged columns
    rows : int32 (n_records,)
    """

    records: RowCodes
    rows: CodeArray

    def rows_of_batch(self, batch: pa.Table, begin: int) -> CodeArray:
        """Return the release row of each record of a batch, whose first record has the position ``begin``.

        The batch has the judged columns in order.
        """
        self.records.check_batch(batch, begin)
        return self.rows[begin : begin + batch.num_rows]


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """A folder, a pattern or a file of Parquet, a CSV, or a table of a database: never all in memory.

    Attributes
    ----------
    source : Scan
    specs : mapping of column to ColumnSpec
        How columns are read, as far as it was declared.
    numbered_records : NumberedRecords, optional
        The release row of every record, if it follows from the record's position and not from its cells.
    roundings : mapping of column to KeptRounding
        Columns that are rounded as they are read.
    """

    source: Scan
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)
    numbered_records: NumberedRecords | None = field(default=None, repr=False)
    roundings: Mapping[str, KeptRounding] = field(default_factory=dict, repr=False)

    # Every record passes through here.
    engine_name: ClassVar[str] = "stream"
    groups_by_itself: ClassVar[bool] = False
    writes_by_itself: ClassVar[bool] = False
    draws_pseudonyms: ClassVar[bool] = True

    @classmethod
    def open(cls, data: Any, dialect: Dialect | None = None) -> Files:
        """Open files without reading their rows; see `hushtable.io.batches.scan`."""
        return cls(scan(data, dialect))

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return self.source.columns

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files, which no output may replace, and their folder, in which no output may lie."""
        folder = self.source.folder if isinstance(self.source, Parts) else None
        return (*self.source.inputs, *([] if folder is None else [folder]))

    @property
    def n_bytes(self) -> int:
        """How many bytes the files have."""
        return self.source.n_bytes

    @property
    def is_row_by_row(self) -> bool:
        """Whether the release row of a record follows from its position, not from its cells."""
        return self.numbered_records is not None

    @property
    def margins(self) -> Frame | None:
        """The cells of the judged columns with their counts; None unless records are numbered."""
        return None if self.numbered_records is None else self.numbered_records.records.margins().frame

    @property
    def n_records(self) -> int:
        """The number of records that the files declare; 0 if they declare none."""
        return self.source.n_records if isinstance(self.source, Parts) else 0

    def head(self, n_rows: int = lazy.LOOKED_AT) -> Frame:
        """Return the first rows as a frame."""
        return self._to_frame(self.source.head(n_rows))

    def collapse(
        self,
        names: Sequence[str],
        cells: PublishedCells | None = None,
        *,
        most_rows: int = distinct_rows.MOST_ROWS,
        as_written: Collection[str] = (),
    ) -> Frame:
        """Return the distinct rows of some columns with their counts; see `hushtable.io.distinct_rows.collapse`.

        With ``cells``, the distinct rows are those of the published cells, without records that are left out.
        """
        if cells is None:
            counted = distinct_rows.collapse(self.source, names, most_rows=most_rows, as_written=as_written)
            return counted.with_specs(self.specs)
        published_types = {name: without_categories(dtype) for name, dtype in cells.published.schema.items()}
        schema = {**self.source.schema, **published_types}
        collapser = distinct_rows.Collapser({name: schema[name] for name in names}, most_rows, as_written=as_written)
        for batch in self.publish_batches(replace(cells, columns=tuple(names))):
            collapser.add_batch(batch)
        rows, counts = collapser.sort_rows()
        return replace(self._to_frame(rows), counts=counts)

    def check_unchanged(self) -> None:
        """Raise InputError where a file changed since it was opened, or the folder holds others."""
        self.source.check_unchanged()

    def with_specs(self, specs: Mapping[str, ColumnSpec]) -> Files:
        """Return the files with further declarations of how columns are read."""
        source = as_declared(self.source, declare_odd_cells_missing(self, specs))
        return replace(self, source=source, specs={**self.specs, **specs})

    def with_rounding(self, roundings: Mapping[str, KeptRounding]) -> Files:
        """Return the files with columns that are rounded as they are read."""
        if not roundings:
            return self
        first = self.head()
        # The first rows tell how the numbers of all are spelled: others are refused.
        spelled = {name: first.spelling(name, is_typed=True) for name in roundings}
        source = round_scan(self.source, roundings, spelled)
        return replace(self, source=source, specs={**self.specs, **spelled}, roundings=roundings)

    def with_row_of_record(self, records: RowCodes, row_of_record: CodeArray) -> Files:
        """Return the files with the release row of each record, by the record's position."""
        return replace(self, numbered_records=NumberedRecords(records, row_of_record))

    def publish_lazily(self, cells: PublishedCells) -> Any:
        """Return what is published as a LazyFrame of polars.

        Raises
        ------
        InputError
            The source is a CSV or a database, a column holds sets of items, or records are found by their positions.
        """
        if self.numbered_records is not None:
            raise InputError(
                "there is no lazy frame of a release whose rows hardly repeat: its records are known by their places.",
                hint="write the release, and scan it.",
            )
        parted = [name for name, each in self.source.declared.items() if each.spec.separator is not None]
        if parted:
            raise InputError(
                f"there is no lazy frame of a release with sets of items: {quote_names(parted)}.",
                hint="write the release, and scan it.",
            )
        if not isinstance(self.source, Parts):
            what = "CSV" if self.source.is_text else "database"
            raise InputError(
                f"there is no lazy frame of a {what} that is read in pieces.", hint="write the release, and scan it."
            )
        keys = self.source.keys
        if keys.is_empty():
            frame = pl.scan_parquet([*self.source.inputs], glob=False)
        else:
            files_with_keys = zip(self.source.inputs, keys.iter_rows(), strict=True)
            frame = pl.concat(
                pl.scan_parquet(path, glob=False).with_columns(
                    pl.lit(cell, keys.schema[name]).alias(name)
                    for name, cell in zip(keys.columns, key_cells, strict=True)
                )
                for path, key_cells in files_with_keys
            )
        opened = lazy.open_lazy(frame, dialect=self.source.dialect).with_specs(self.specs)
        return opened.with_rounding(self.roundings).publish_lazily(cells)

    def raw_batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Return some columns of all records, batch by batch."""
        return self.source.batches(names)

    def write(self, cells: PublishedCells, folder: Path) -> int:
        """Raise an error: files are written batch by batch by this process."""
        raise InputError("files do not write by themselves.", hint="take their batches.")

    def open_draft(self, path: Path, dialect: Dialect | None) -> Files:
        """Open a release that was written from the files."""
        return Files.open(path, dialect)

    def count_by_record(
        self, column: Column, group_of_row: CodeArray, n_groups: int, *, specs: Mapping[str, ColumnSpec]
    ) -> CountArray:
        """Count the records of each value of a column, by groups of the rows that they were collapsed to.

        The records themselves are counted: a row of a class only has the cells of one of its records.
        """
        assert self.numbered_records is not None
        records, row_of_record = self.numbered_records
        margins, position = records.margins(), records.cells.names.index(column.name)
        table = encode_table(margins.frame.with_specs(specs), [column.name], specs)
        # Missing cells count as one more value, which is dropped at the end.
        value_of_cell = np.full(records.cells.widths[position], column.n_values, dtype=np.int64)
        codes = table.codes[table.index(column.name)]
        value_of_cell[margins.positions[position]] = np.where(codes < 0, column.n_values, codes)
        width = column.n_values + 1
        counts = np.zeros(n_groups * width, dtype=np.int64)
        for begin in range(0, records.n_records, _RECORDS_PER_COUNT):
            batch = slice(begin, begin + _RECORDS_PER_COUNT)
            group_and_value = (
                group_of_row[row_of_record[batch]].astype(np.int64) * width
                + value_of_cell[records.codes[position][batch]]
            )
            counts += np.bincount(group_and_value, minlength=len(counts))
        return np.asarray(counts.reshape(-1, width)[:, :-1])

    def publish_batches(self, cells: PublishedCells) -> Batches:
        """Return what is published of every record, batch by batch, in the order of the files.

        Raises
        ------
        ColumnError
            A column does not exist.
        InputError
            While batches are read: a record equals none of the rows of the cells. At the end: a row has more or fewer
            records than the cells say.
        """
        check_columns(tuple(dict.fromkeys((*cells.keys.columns, *cells.kept))), self.names, "columns")
        n_rows = len(cells.is_published)
        if self.numbered_records is not None and cells.is_published.all():
            # Few classes publish equal rows: to find them takes more memory than it saves.
            rows, number_of_row = cells.published, np.arange(n_rows, dtype=np.int32)
        else:
            published_rows = np.flatnonzero(cells.is_published)
            rows, numbers = number_distinct_rows(_take_rows(cells.published, published_rows))
            number_of_row = np.full(n_rows, np.int32(-1), dtype=np.int32)
            number_of_row[published_rows] = numbers
        # Published rows are held only once: as codes, no longer as cells.
        cells_to_find = replace(cells, published=cells.published.clear())
        return Batches(partial(self._number_records, cells_to_find, number_of_row), _CellDecoder(rows, cells.columns))

    def _number_records(self, cells: PublishedCells, number_of_row: CodeArray) -> Iterator[pa.Table]:
        """Yield batches: the number of each record's published row, then its kept columns."""
        key_columns, kept_columns = cells.keys.columns, cells.kept
        names = list(dict.fromkeys((*key_columns, *kept_columns)))
        raw_rows = RawRows(cells.keys) if self.numbered_records is None else None
        counts, n_before = np.zeros(len(number_of_row), dtype=np.int64), 0
        # Kept columns are not read as dictionaries: these may hold cells of records that are left out.
        coded = [name for name in key_columns if name not in kept_columns]
        for batch in self.source.batches(names, coded=coded):
            key_batch = batch.select(range(len(key_columns)))
            if raw_rows is not None:
                row_numbers = raw_rows.rows_of_batch(key_batch)
            else:
                assert self.numbered_records is not None
                row_numbers = self.numbered_records.rows_of_batch(key_batch, n_before)
            n_before += batch.num_rows
            np.add.at(counts, row_numbers, 1)
            numbers = number_of_row[row_numbers]
            columns = [batch.column(names.index(name)) for name in kept_columns]
            # Columns are called by numbers here; `_CellDecoder` gives them their names.
            table = decode_dictionaries(
                pa.table([pa.array(numbers), *columns], names=list(map(str, range(-1, len(kept_columns)))))
            )
            if (numbers < 0).any():
                table = table.take(np.flatnonzero(numbers >= 0))
            if cells.pseudonyms is not None:
                # Before anything is written: no direct identifier goes to the disk.
                table = self._pseudonymize_kept(table, cells)
            yield table
        if cells.counts is not None and not np.array_equal(counts, cells.counts):
            raise change_error()

    def _pseudonymize_kept(self, table: pa.Table, cells: PublishedCells) -> pa.Table:
        """Replace the cells of kept direct identifiers by pseudonyms."""
        assert cells.pseudonyms is not None
        for name in cells.pseudonyms.columns:
            if name in cells.kept:
                position = 1 + cells.kept.index(name)
                frame = self._to_frame(pl.Series("", pl.from_arrow(table.column(position))).alias(name).to_frame())
                pseudonyms_of_column = cells.pseudonyms.select([name])
                assert pseudonyms_of_column is not None
                pseudonyms = pseudonymize(frame, pseudonyms_of_column).column(name)
                table = table.set_column(position, table.column_names[position], to_arrow(pseudonyms))
        return table

    def _to_frame(self, cells: pl.DataFrame) -> Frame:
        frame = replace(frames.read(cells), is_text=self.source.is_text, dialect=self.source.dialect)
        return frame.with_specs(self.specs)


class _CellDecoder:
    """Decodes the numbers of distinct published rows to their cells."""

    def __init__(self, rows: pl.DataFrame, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._cells = {series.name: to_enumeration(series.alias("")) for series in rows}

    def __call__(self, table: pa.Table) -> pa.Table:
        numbers = table.column(0).to_numpy()
        kept = iter(table.columns[1:])
        columns = [self._spell_cells(name, numbers) if name in self._cells else next(kept) for name in self._columns]
        return pa.table(columns, names=list(self._columns))

    def _spell_cells(self, name: str, numbers: CodeArray) -> pa.Array:
        """Return a column's cells of the rows with these numbers."""
        cells = self._cells[name].gather(numbers)
        if not isinstance(cells.dtype, pl.Enum):
            return to_arrow(cells)
        # One index type for all batches, whatever the size of the enumeration.
        indices = to_arrow(cells.to_physical().cast(pl.Int32))
        return pa.DictionaryArray.from_arrays(indices, to_arrow(cells.dtype.categories))


def _take_rows(cells: pl.DataFrame, rows: CountArray) -> pl.DataFrame:
    """Return some rows of a table; no column name is read as a pattern."""
    return pl.DataFrame([series.alias("").gather(rows).alias(series.name) for series in cells])
