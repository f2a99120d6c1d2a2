"""Files too large for memory: read batch by batch, with the cells and types that they have read whole."""

from __future__ import annotations

import glob
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from hushtable.errors import ColumnError, InputError, listed, with_hint
from hushtable.io.csv import Dialect, scan_csv
from hushtable.io.files import FILE_KINDS, Snapshot

__all__ = ["Lines", "Parts", "Scan", "ahead", "scan", "to_arrow"]

_BATCH: Final = 2**20  # rows
_END: Final = object()

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parquet files of one schema.

    Attributes
    ----------
    inputs : tuple of path
    schema : mapping of column to polars type
        As polars reads them.
    n_bytes : int
        Of the files.
    dialect : Dialect
        What was said of cells.
    folder : path, optional
        Of which they are all files.
    snapshot : Snapshot
        What the files were when they were opened; every pass compares.
    passed_over : tuple of str
        Names in the folder that begin with ``_`` or ``.``, of which nothing is read.
    """

    inputs: tuple[Path, ...]
    schema: pl.Schema = field(repr=False)
    n_bytes: int
    dialect: Dialect = field(default_factory=Dialect)
    folder: Path | None = None
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    passed_over: tuple[str, ...] = ()

    is_text = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.schema)

    def batches(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the cells of some columns, in the order of the names; texts among the coded ones as dictionaries.

        There is one table at least.

        Raises
        ------
        InputError
            A file is damaged, or changed since it was opened.
        """
        for path in self.inputs:
            self.snapshot.check(path)
            with _open(path, [name for name in coded if _is_text(self.schema[name])]) as file:
                schema = pa.schema([_as_polars(file.schema_arrow.field(name), self.schema[name]) for name in names])
                yield schema.empty_table()
                try:
                    for batch in file.iter_batches(_BATCH, columns=list(names)):
                        # By place: a column `a` is also what `a.b` is nested in.
                        places = [batch.schema.get_field_index(name) for name in names]
                        yield pa.Table.from_batches([batch.select(places)]).cast(schema)
                except (pa.ArrowException, OSError):
                    self.snapshot.check(path)
                    raise _damaged(path) from None
            self.snapshot.check(path)

    def check_unchanged(self) -> None:
        """Raise InputError where a file changed since it was opened, or where the folder has others now."""
        self.snapshot.check()
        if self.folder is not None and _files_of(self.folder) != self.inputs:
            msg = with_hint(
                f"{str(self.folder)!r} changed while it was read: it holds other files.",
                "protect a copy that nobody writes to.",
            )
            raise InputError(msg)

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows."""
        pieces = [pl.DataFrame(schema=self.schema)]
        for path in self.inputs:
            left = n_rows - sum(len(piece) for piece in pieces)
            if left <= 0:
                break
            with path.open("rb") as file:
                piece = pl.read_parquet(file, n_rows=left)
            pieces.append(pl.DataFrame([piece[:, piece.columns.index(name)] for name in self.columns]))
        return pl.concat(pieces) if len(pieces) > 2 else pieces[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A CSV, as text.

    Attributes
    ----------
    inputs : tuple of path
        The one file.
    columns : tuple of str
    n_bytes : int
    dialect : Dialect
        How it spells its table.
    snapshot : Snapshot
        What the file was when it was opened; every pass compares.
    """

    inputs: tuple[Path, ...]
    columns: tuple[str, ...]
    n_bytes: int
    dialect: Dialect
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)

    is_text = True

    @property
    def schema(self) -> pl.Schema:
        """The types of the columns: all are text."""
        return pl.Schema(dict.fromkeys(self.columns, pl.String()))

    def batches(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the cells of some columns, in the order of the names; coded ones are coded by whoever codes them."""
        places = [self.columns.index(name) for name in names]
        for piece in self._pieces():
            yield pa.table([to_arrow(piece[:, place]) for place in places], names=list(names))

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows."""
        piece = next(self._pieces(), pl.DataFrame(schema=self.schema))
        return piece.head(n_rows)

    def check_unchanged(self) -> None:
        """Raise InputError where the file changed since it was opened."""
        self.snapshot.check()

    def _pieces(self) -> Iterator[pl.DataFrame]:
        self.snapshot.check()
        yield from scan_csv(self.inputs[0], self.dialect)[2]
        self.snapshot.check()


Scan = Parts | Lines


def scan(data: Any, dialect: Dialect | None = None) -> Scan:
    """Open a folder, a pattern or a file of Parquet, or a CSV, without reading its rows.

    Parameters
    ----------
    data : path
        Of a folder all files are read but those whose names begin with ``_`` or ``.``.
    dialect : Dialect, optional
        How a CSV spells its table, where that is known.

    Raises
    ------
    InputError
        There is nothing to read, or it cannot be read.
    ColumnError
        The files of a folder have not the same columns, or a name is doubled.
    """
    dialect, path = dialect or Dialect(), Path(data)
    try:
        inputs = _files_of(path)
        kinds = {FILE_KINDS.get(Path(each.name.lower().removesuffix(".gz")).suffix) for each in inputs}
        snapshot = Snapshot.of(inputs)
        n_bytes = sum(each.stat().st_size for each in inputs)
        if kinds == {"csv"} and len(inputs) == 1:
            columns, found, _ = scan_csv(inputs[0], dialect)
            return Lines(inputs, columns, n_bytes, found, snapshot)
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
        raise InputError(with_hint(message, "check the name and that you may read the file.")) from None
    if kinds != {"parquet"}:
        others = [each.name for each in inputs if FILE_KINDS.get(each.suffix.lower()) != "parquet"]
        msg = with_hint(
            f"{str(path)!r} holds files that are not Parquet: {listed(others)}.",
            "pass a folder or a pattern of Parquet files (.parquet, .pq), or one CSV.",
        )
        raise InputError(msg)
    schema = _schema(inputs[0])
    for each in inputs[1:]:
        _check_alike(schema, _schema(each), each, inputs[0])
    folder = path if path.is_dir() else None
    passed_over = (
        () if folder is None else tuple(sorted(each.name for each in folder.iterdir() if _is_passed_over(each)))
    )
    return Parts(inputs, schema, n_bytes, dialect.marks, folder, snapshot, passed_over)


def ahead(items: Iterable[Item], depth: int = 2) -> Generator[Item]:
    """Yield items in order while a thread makes those that come next; once this is closed, it makes nothing more."""
    source = iter(items)
    # One thread, so that one item is made after the other.
    pool = ThreadPoolExecutor(1)
    try:
        made = deque(pool.submit(next, source, _END) for _ in range(depth))
        while (item := made.popleft().result()) is not _END:
            made.append(pool.submit(next, source, _END))
            yield item  # type: ignore[misc]  # not the end
    finally:
        pool.shutdown(cancel_futures=True)


def to_arrow(column: pl.Series) -> pa.Array:
    """Return a column as an array of Arrow, in types that all its functions know."""
    return column.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())


def _files_of(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if not _is_passed_over(each))
    else:
        found = sorted(Path(each) for each in glob.glob(os.fspath(path)))
    folders = [each.name for each in found if each.is_dir()]
    if folders:
        are_hive = any("=" in name for name in folders)
        msg = with_hint(
            f"{str(path)!r} holds folders{' of a Hive data set' if are_hive else ''}: {listed(folders)}.",
            "write the keys into columns of the files first, and the files into one folder."
            if are_hive
            else "pass a pattern of files, such as data/*/*.parquet.",
        )
        raise InputError(msg)
    if not found:
        what = "no files are in the folder" if path.is_dir() else "there is no file"
        raise InputError(with_hint(f"{what} {str(path)!r}.", "check the name, or the pattern."))
    hive = sorted({name for each in found for name in each.relative_to(_fixed(path)).parts[:-1] if "=" in name})
    if hive:
        msg = with_hint(
            f"{str(path)!r} holds folders of a Hive data set, whose names are in no column: {listed(hive[:3])}.",
            "write the keys into columns of the files first.",
        )
        raise InputError(msg)
    return tuple(found)


def _fixed(path: Path) -> Path:
    """Return the part of a pattern that is a folder."""
    return path if path.is_dir() else next(each for each in path.parents if not glob.has_magic(str(each)))


def _is_passed_over(path: Path) -> bool:
    return path.name.startswith(("_", "."))


def _schema(path: Path) -> pl.Schema:
    """Return the types of a file as polars reads them; no value is read."""
    try:
        with path.open("rb") as file:
            names = pq.read_schema(file).names
            if len(set(names)) < len(names):
                msg = with_hint(f"{str(path)!r} has columns of the same name.", "give every column its own name.")
                raise ColumnError(msg)
            file.seek(0)
            return pl.read_parquet(file, n_rows=0).schema
    except (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(path) from None


def _check_alike(first: pl.Schema, other: pl.Schema, path: Path, known: Path) -> None:
    differing = [name for name in {**first, **other} if first.get(name) != other.get(name)]
    if differing:
        msg = with_hint(
            f"{str(path)!r} has other columns, or other types of columns, than {str(known)!r}: {listed(differing)}.",
            "write all files with one schema.",
        )
        raise ColumnError(msg)


def _as_polars(field: pa.Field, dtype: pl.DataType) -> pa.Field:
    """Return a column of days of 64 bits as the moments that polars reads: Arrow reads its files as plain days."""
    if pa.types.is_date(field.type) and isinstance(dtype, pl.Datetime):
        return field.with_type(pa.timestamp(dtype.time_unit))
    return field


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def _open(path: Path, coded: Sequence[str]) -> Any:
    try:
        # What is buffered before would stay in memory until the file is closed.
        return pq.ParquetFile(path, read_dictionary=list(coded), pre_buffer=False)
    except (pa.ArrowException, OSError):
        raise _damaged(path) from None


def _damaged(path: Path) -> InputError:
    msg = with_hint(f"{str(path)!r} is not a Parquet file, or damaged.", "write it anew.")
    return InputError(msg)
