"""A Hive data set: rows in folders that are named by the cells of one column, ``region=N/part-00000.parquet``.

Names are escaped as pyarrow, Spark and DuckDB unescape them. A folder tells what its column tells, and nothing else:
its rows come in the random order of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from hushtable.columns import without_categories
from hushtable.errors import InputError, with_hint
from hushtable.io import NO_KEY

__all__ = ["write"]

_MOST_FOLDERS: Final = 500  # of which each has an open file
_LONGEST: Final = 255  # bytes of a file's name


def write(
    tables: Iterator[pa.Table],
    folder: Path,
    by: str,
    open_part: Callable[[Path, pa.Schema], AbstractContextManager[Any]],
) -> None:
    """Write tables of one schema into an empty folder, by the cells of a column, which are in no file.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
        One at least.
    folder : path
    by : str
        The column.
    open_part : callable
        From a path and a schema to a writer of a new Parquet file.

    Raises
    ------
    InputError
        The column's type or cells cannot name folders, there are too many of them, or no other column is left.
    """
    with ExitStack() as opened:
        writers: dict[str, Any] = {}
        for table in tables:
            for name, rows in _dealt(table, by):
                if name not in writers:
                    if len(writers) == _MOST_FOLDERS:
                        msg = f"column {by!r} has more than {_MOST_FOLDERS} values, each of which would be a folder."
                        raise InputError(with_hint(msg, "name a column of fewer values, or generalize it."))
                    (folder / name).mkdir(mode=0o700)
                    path = folder / name / "part-00000.parquet"
                    writers[name] = opened.enter_context(open_part(path, rows.schema))
                writers[name].write_table(rows, max(1, len(rows)))
    if not writers:
        raise InputError(
            with_hint("no record is published, so that there is no folder to write.", "look at the input.")
        )


def _dealt(table: pa.Table, by: str) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each cell, and the name of its folder."""
    place = table.column_names.index(by)
    others = table.remove_column(place)
    if not others.num_columns:
        msg = with_hint(f"{by!r} is the only column, and its cells would be in no file.", "name another column.")
        raise InputError(msg)
    cells = pl.Series("", pl.from_arrow(table.column(place)))
    for cell, rows in _texts(cells, by).to_frame().with_row_index("row").group_by("").agg("row").iter_rows():
        yield _named(by, cell), others.take(pa.array(rows))


def _texts(cells: pl.Series, by: str) -> pl.Series:
    """Return the cells as a reader types them again."""
    dtype = cells.dtype
    if not (dtype.is_integer() or isinstance(dtype, (pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Null))):
        msg = with_hint(
            f"column {by!r} is of the type {without_categories(dtype)}, whose cells cannot name folders.",
            "name a column of text, whole numbers or days.",
        )
        raise InputError(msg)
    return cells.cast(pl.String)


def _named(by: str, cell: str | None) -> str:
    """Return the name of a cell's folder.

    Raises
    ------
    InputError
        A reader would take the cell for another one, or its name is too long.
    """
    if cell in ("", NO_KEY):
        msg = with_hint(f"column {by!r} has cells that would be read as missing ones.", "name another column.")
        raise InputError(msg)
    name = f"{quote(by, safe='')}={NO_KEY if cell is None else quote(cell, safe='')}"
    if len(name.encode()) > _LONGEST:
        msg = with_hint(f"column {by!r} has cells too long for the name of a folder.", "name another column.")
        raise InputError(msg)
    return name
