"""A Hive data set: rows in folders that are named by the cells of one column, ``region=N/part-00000.parquet``.

Names are escaped as pyarrow, Spark and DuckDB unescape them. Rows of a folder come in the random order of the whole.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from hushtable._types import CodeArray
from hushtable.columns import without_categories
from hushtable.errors import InputError
from hushtable.io.batches import NO_KEY, scan, to_arrow
from hushtable.io.frames import Frame, read

_ROWS_PER_PIECE: Final = 2**20  # rows
_MOST_FOLDERS: Final = 500  # of which each has an open file
_MAX_NAME_BYTES: Final = 255  # bytes of a file's name


def strip_type(dtype: pa.DataType) -> pa.DataType:
    """Return a type without dictionaries and views, and without metadata of nested fields."""
    if pa.types.is_dictionary(dtype):
        return dtype.value_type
    if pa.types.is_string_view(dtype) or pa.types.is_binary_view(dtype):
        # Arrow does not pick rows of them.
        return pa.large_string() if pa.types.is_string_view(dtype) else pa.large_binary()
    if pa.types.is_struct(dtype):
        return pa.struct([_strip_field(dtype.field(place)) for place in range(dtype.num_fields)])
    if pa.types.is_map(dtype):
        return pa.map_(_strip_field(dtype.key_field), _strip_field(dtype.item_field), dtype.keys_sorted)
    if pa.types.is_fixed_size_list(dtype):
        return pa.list_(_strip_field(dtype.value_field), dtype.list_size)
    for is_kind, kind in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
        if is_kind(dtype):
            return kind(_strip_field(dtype.value_field))
    return dtype


def _strip_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, strip_type(field.type), field.nullable)


def strip_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema without dictionaries and metadata of fields, which may hold more than the cells."""
    return pa.schema(list(map(_strip_field, schema)))


def parquet_writer(file: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer of tables into a Parquet file that holds names and types, but no statistics."""
    schema = schema.remove_metadata()
    writer = pq.ParquetWriter(file, schema, store_schema=False, write_statistics=False)
    # Types as they are without dictionaries, which Arrow would tell otherwise: Parquet itself knows no time zones.
    plain = pa.schema([(field.name, strip_type(field.type)) for field in schema])
    writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(plain.serialize())})
    return writer


def write(tables: Iterable[pa.Table], folder: Path, by: str) -> None:
    """Write tables of one schema into an empty folder, by the cells of a column; each folder keeps their order."""
    if by.startswith(("_", ".")):
        raise InputError(
            f"column {by!r} would name folders that readers pass over, as all that begins with {by[0]!r}.",
            hint="name another column, or rename it.",
        )
    with ExitStack() as open_files:
        writers: dict[str, Any] = {}
        for table in tables:
            for name, rows in _split_by_folder(table, by):
                if name not in writers:
                    if len(writers) == _MOST_FOLDERS:
                        raise InputError(
                            f"column {by!r} has more than {_MOST_FOLDERS} values, each of which would be a folder.",
                            hint="name a column of fewer values, or generalize it.",
                        )
                    (folder / name).mkdir(mode=0o700)
                    opener = partial(os.open, mode=0o600)
                    file = open_files.enter_context(open(folder / name / "part-00000.parquet", "xb", opener=opener))
                    writers[name] = open_files.enter_context(parquet_writer(file, rows.schema))
                writers[name].write_table(rows, max(1, len(rows)))
    if not writers:
        raise InputError("no record is published, so that there is no folder to write.", hint="look at the input.")


def write_frame(frame: Frame, rows: CodeArray, folder: Path, by: str) -> CodeArray:
    """Write a frame's rows in order, as `write` does; return the frame's row of each row that `read_frame` reads."""
    table = pa.table({name: to_arrow(frame.column(name)) for name in frame.columns})
    pieces = (
        table.take(rows[start : start + _ROWS_PER_PIECE]) for start in range(0, max(1, len(rows)), _ROWS_PER_PIECE)
    )
    write(pieces, folder, by)
    # Readers sort folders by their names.
    names = [_folder_name(by, cell) for cell in _texts_of_cells(frame.column(by), by).to_list()]
    place = {name: i for i, name in enumerate(sorted({*names}))}
    of_row = np.array([place[name] for name in names], dtype=np.int64)
    return rows[np.argsort(of_row[rows], kind="stable")]


def read_frame(folder: Path, n_records: int, columns: Sequence[str]) -> Frame:
    """Read back what `write_frame` wrote; if there are more records, one more is read."""
    return read(scan(folder).head(n_records + 1).select(columns))


def _split_by_folder(table: pa.Table, by: str) -> Iterator[tuple[str, pa.Table]]:
    """Yield the folder name of each cell, and the rows with that cell."""
    position = table.column_names.index(by)
    without_key = table.remove_column(position)
    # A dictionary would hold cells of other folders, which other people may receive.
    without_key = without_key.cast(strip_schema(without_key.schema))
    if not without_key.num_columns:
        raise InputError(f"{by!r} is the only column, and its cells would be in no file.", hint="name another column.")
    cells = pl.Series("", pl.from_arrow(table.column(position)))
    for cell, rows in _texts_of_cells(cells, by).to_frame().with_row_index("row").group_by("").agg("row").iter_rows():
        yield _folder_name(by, cell), without_key.take(pa.array(rows))


def _texts_of_cells(cells: pl.Series, by: str) -> pl.Series:
    """Return the cells as texts that a reader types again."""
    dtype = cells.dtype
    if not (dtype.is_integer() or isinstance(dtype, (pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Null))):
        raise InputError(
            f"column {by!r} is of the type {without_categories(dtype)}, whose cells cannot name folders.",
            hint="name a column of text, whole numbers or days.",
        )
    return cells.cast(pl.String)


def _folder_name(by: str, cell: str | None) -> str:
    """Return the name of a cell's folder; InputError if it is too long, or readers would take it for another."""
    if cell in ("", NO_KEY):
        raise InputError(f"column {by!r} has cells that would be read as missing ones.", hint="name another column.")
    name = f"{quote(by, safe='')}={NO_KEY if cell is None else quote(cell, safe='')}"
    if len(name.encode()) > _MAX_NAME_BYTES:
        raise InputError(f"column {by!r} has cells too long for the name of a folder.", hint="name another column.")
    return name
