"""Files too large for memory, read batch by batch: cells and types are as if they were read whole."""

from __future__ import annotations

import glob
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from hushtable.columns import (
    ColumnSpec,
    KeptRounding,
    check_rounding,
    round_series,
    separator_error,
    to_canonical_texts,
    without_declared,
)
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io.csv import Dialect, scan_csv
from hushtable.io.databases import Database, connect
from hushtable.io.files import FILE_KINDS, Snapshot
from hushtable.io.sources import Source, parse_location

_ROWS_PER_BATCH: Final = 2**20  # rows
NO_KEY: Final = "__HIVE_DEFAULT_PARTITION__"
"""What stands for a missing cell in the name of a folder."""
_END_OF_ITEMS: Final = object()

Item = TypeVar("Item")


class DeclaredCells(NamedTuple):
    """How batches read the cells of a column."""

    spec: ColumnSpec
    rounding: KeptRounding | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parquet files of one schema."""

    inputs: tuple[Path, ...]
    schema: pl.Schema = field(repr=False)  # as polars reads them
    n_bytes: int
    dialect: Dialect = field(default_factory=Dialect)  # what was said of cells
    folder: Path | None = None  # of which they are all files
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)  # every pass compares
    passed_over: tuple[str, ...] = ()  # what begins with ``_`` or ``.`` in the folders, of which nothing is read
    keys: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)  # of each input, by its folders' names
    declared: Mapping[str, DeclaredCells] = field(default_factory=dict, repr=False)  # how batches read cells

    is_text = False
    has_order = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.schema)

    def batches(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the cells of some columns, at least one table; texts of coded columns as dictionaries."""
        return _read_tables(self._read_files(names, coded), self.declared)

    def _read_files(self, names: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        of_files = [name for name in names if name not in self.keys.columns]
        for file_index, path in enumerate(self.inputs):
            self.snapshot.check(path)
            with _open_parquet(
                path, [name for name in coded if name in of_files and _is_text(self.schema[name])]
            ) as file:
                fields = [_as_polars(file.schema_arrow.field(name), self.schema[name]) for name in of_files]
                schema = pa.schema(fields)
                yield self._with_keys(schema.empty_table(), names, coded, file_index)
                try:
                    for batch in file.iter_batches(_ROWS_PER_BATCH, columns=of_files):
                        # By position: the name `a.b` also selects a field b of a struct `a`.
                        positions = [batch.schema.get_field_index(name) for name in of_files]
                        table = pa.Table.from_batches([batch.select(positions)]).cast(schema)
                        yield self._with_keys(table, names, coded, file_index, batch.num_rows)
                except (pa.ArrowException, OSError):
                    self.snapshot.check(path)
                    raise _damage_error(path) from None
            self.snapshot.check(path)

    def _with_keys(
        self, table: pa.Table, names: Sequence[str], coded: Sequence[str], file_index: int, n_rows: int = 0
    ) -> pa.Table:
        """Return a file's table with the keys of its folders, columns in the order of the names."""
        if self.keys.is_empty():
            return table
        columns = {name: table.column(name) for name in table.column_names}
        for name in set(names) & {*self.keys.columns}:
            cell = to_arrow(self.keys[name].slice(file_index, 1))
            cells = cell.take(pa.array(np.zeros(n_rows, dtype=np.int64)))
            columns[name] = cells.dictionary_encode() if name in coded and _is_text(self.schema[name]) else cells
        return pa.table({name: columns[name] for name in names})

    @property
    def n_records(self) -> int:
        """How many records the files say they hold."""
        n_records = 0
        for path in self.inputs:
            with _open_parquet(path, ()) as file:
                n_records += file.metadata.num_rows
        return n_records

    def check_unchanged(self) -> None:
        """Raise InputError where a file changed since it was opened, or where the folder has others now."""
        self.snapshot.check()
        if self.folder is not None and _files_of(self.folder) != self.inputs:
            raise InputError(
                f"{str(self.folder)!r} changed while it was read: it holds other files.",
                hint="protect a copy that nobody writes to.",
            )

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows."""
        pieces = [pl.DataFrame(schema=self.schema)]
        for path in self.inputs:
            left = n_rows - sum(len(piece) for piece in pieces)
            if left <= 0:
                break
            with path.open("rb") as file:
                piece = pl.read_parquet(file, n_rows=left)
            keys = self.keys.slice(self.inputs.index(path), 1)
            piece = piece.with_columns(pl.lit(each.item(), each.dtype).alias(each.name) for each in keys)
            pieces.append(pl.DataFrame([piece[:, piece.columns.index(name)] for name in self.columns]))
        return _read_head(pl.concat(pieces) if len(pieces) > 2 else pieces[-1], self.declared)


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A CSV, as text."""

    inputs: tuple[Path, ...]  # the one file
    columns: tuple[str, ...]
    n_bytes: int
    dialect: Dialect  # how it spells its table
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)  # every pass compares
    declared: Mapping[str, DeclaredCells] = field(default_factory=dict, repr=False)  # how batches read cells

    is_text = True
    has_order = True

    @property
    def schema(self) -> pl.Schema:
        """The types of the columns: all are text."""
        return pl.Schema(dict.fromkeys(self.columns, pl.String()))

    def batches(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the cells of some columns, in the order of the names; coded ones are coded by whoever codes them."""
        places = [self.columns.index(name) for name in names]
        made = (pa.table([to_arrow(piece[:, j]) for j in places], names=list(names)) for piece in self._read_pieces())
        return _read_tables(made, self.declared)

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows."""
        piece = next(self._read_pieces(), pl.DataFrame(schema=self.schema))
        return _read_head(piece.head(n_rows), self.declared)

    def check_unchanged(self) -> None:
        """Raise InputError where the file changed since it was opened."""
        self.snapshot.check()

    def _read_pieces(self) -> Iterator[pl.DataFrame]:
        self.snapshot.check()
        yield from scan_csv(self.inputs[0], self.dialect)[2]
        self.snapshot.check()


@dataclass(frozen=True, slots=True, eq=False)
class Queried:
    """A table or query of a database; every pass sees it as it was when it was opened."""

    database: Database
    dialect: Dialect = field(default_factory=Dialect)  # what was said of cells
    declared: Mapping[str, DeclaredCells] = field(default_factory=dict, repr=False)  # how batches read cells

    is_text = False
    has_order = False

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The file of the database, if it is one."""
        file = self.database.source.file
        return () if file is None else (file,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.schema)

    @property
    def schema(self) -> pl.Schema:
        """The types of the columns."""
        return self.database.schema

    @property
    def n_bytes(self) -> int:
        """How many bytes the cells take at the least."""
        return int(self.database.n_bytes)

    def batches(self, names: Sequence[str], coded: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the cells of some columns, in the order of the names; coded ones are coded by whoever codes them."""
        pieces = self.database.read_pieces(names)
        made = (pa.table([to_arrow(column) for column in piece], names=list(names)) for piece in pieces)
        return _read_tables(made, self.declared)

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows."""
        return _read_head(pl.concat(list(self.database.read_pieces(self.columns, n_rows))), self.declared)

    def check_unchanged(self) -> None:
        """Do nothing: the database keeps what it was asked for as it was."""


Scan = Parts | Lines | Queried


def scan(data: Any, dialect: Dialect | None = None) -> Scan:
    """Open Parquet (a folder, a pattern or a file), a CSV, or a URL of a database, without reading its rows."""
    dialect, path = dialect or Dialect(), parse_location(data)
    if isinstance(path, Source):
        return Queried(connect(path), dialect.marks)
    try:
        inputs = _files_of(path)
        kinds = {FILE_KINDS.get(Path(each.name.lower().removesuffix(".gz")).suffix) for each in inputs}
        snapshot = Snapshot.from_paths(inputs)
        n_bytes = sum(each.stat().st_size for each in inputs)
        if kinds == {"csv"} and len(inputs) == 1:
            columns, csv_dialect, _ = scan_csv(inputs[0], dialect)
            return Lines(inputs, columns, n_bytes, csv_dialect, snapshot)
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
        raise InputError(message, hint="check the name and that you may read the file.") from None
    if kinds != {"parquet"}:
        others = [each.name for each in inputs if FILE_KINDS.get(each.suffix.lower()) != "parquet"]
        raise InputError(
            f"{str(path)!r} holds files that are not Parquet: {quote_names(others)}.",
            hint="pass a folder or a pattern of Parquet files (.parquet, .pq), or one CSV.",
        )
    schema = _read_schema(inputs[0])
    for file in inputs[1:]:
        _check_alike(schema, _read_schema(file), file, inputs[0])
    keys = _keys_of(path, inputs)
    doubled = [name for name in keys.columns if name in schema]
    if doubled:
        raise ColumnError(
            f"the folders of {str(path)!r} name columns that the files have too: {quote_names(doubled)}.",
            hint="keep each in one of the two places.",
        )
    schema = pl.Schema({**schema, **keys.schema})
    folder = path if path.is_dir() else None
    passed_over = () if folder is None else tuple(map(os.fspath, sorted(_list_hidden(folder))))
    return Parts(inputs, schema, n_bytes, dialect.marks, folder, snapshot, passed_over, keys)


def as_declared(source: Scan, specs: Mapping[str, ColumnSpec]) -> Scan:
    """Return files whose cells are read by specs: declared texts become missing, sets get their one text."""
    declared = {name: specs.get(name, ColumnSpec()).with_defaults_from(source.dialect.spec) for name in source.schema}
    declared = {name: spec for name, spec in declared.items() if spec.separator is not None or spec.missing_values}
    declared = {name: spec for name, spec in declared.items() if not isinstance(source.schema[name], pl.Null)}
    for name, spec in declared.items():
        if spec.separator is not None and not _is_text(source.schema[name]):
            raise separator_error(name, source.schema[name])
    rounded = {name: each.rounding for name, each in source.declared.items()}
    new = {name: DeclaredCells(spec, rounded.get(name)) for name, spec in declared.items()}
    return replace(source, declared={**source.declared, **new}) if new else source


def round_scan(source: Scan, roundings: Mapping[str, KeptRounding], specs: Mapping[str, ColumnSpec]) -> Scan:
    """Return files some of whose columns are rounded as they are read; ``specs`` say how their texts spell numbers."""
    for name, rounding in roundings.items():
        check_rounding(name, rounding, specs[name])
    new = {name: DeclaredCells(specs[name], rounding) for name, rounding in roundings.items()}
    return replace(source, declared={**source.declared, **new})


def _read_tables(tables: Iterable[pa.Table], declared: Mapping[str, DeclaredCells]) -> Iterator[pa.Table]:
    for table in tables:
        for name, reading in declared.items():
            if name in table.column_names:
                place = table.column_names.index(name)
                # Without a name, which may be a pattern.
                cells = _read_cells(name, pl.Series("", pl.from_arrow(table.column(place))), reading)
                table = table.set_column(place, name, to_arrow(cells))
        yield table


def _read_head(rows: pl.DataFrame, declared: Mapping[str, DeclaredCells]) -> pl.DataFrame:
    columns = {each.name: each.alias("") for each in rows}
    columns |= {name: _read_cells(name, columns[name], reading) for name, reading in declared.items()}
    return pl.DataFrame([each.alias(name) for name, each in columns.items()])


def _read_cells(name: str, cells: pl.Series, reading: DeclaredCells) -> pl.Series:
    spec, rounding = reading
    cells = cells.cast(pl.String) if _is_text(cells.dtype) else cells
    if spec.separator is not None:
        return to_canonical_texts(cells, spec)
    cells = without_declared(cells, spec.missing_values or ())
    return cells if rounding is None else round_series(cells, rounding, spec, name)


def prefetch_items(items: Iterable[Item]) -> Generator[Item]:
    """Yield items in order while a thread makes the next two; closing the iterator stops the thread."""
    source = iter(items)
    # A single thread keeps the items in order.
    pool = ThreadPoolExecutor(1)
    try:
        made = deque(pool.submit(next, source, _END_OF_ITEMS) for _ in range(2))
        while (item := made.popleft().result()) is not _END_OF_ITEMS:
            made.append(pool.submit(next, source, _END_OF_ITEMS))
            yield item  # type: ignore[misc]  # not the end
    finally:
        pool.shutdown(cancel_futures=True)


def to_arrow(column: pl.Series) -> pa.Array:
    """Convert a column to an Arrow array, in types that all of Arrow's functions know."""
    return column.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())


def _files_of(path: Path) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    paths = _list_parts(path) if path.is_dir() else sorted(Path(each) for each in glob.glob(os.fspath(path)))
    folders = [each.name for each in paths if each.is_dir()]
    if folders:
        raise InputError(
            f"{str(path)!r} holds folders: {quote_names(folders)}.",
            hint="pass a pattern of files, such as data/*/*.parquet.",
        )
    if not paths:
        what = "no files are in the folder" if path.is_dir() else "there is no file"
        raise InputError(f"{what} {str(path)!r}.", hint="check the name, or the pattern.")
    return tuple(paths)


def _list_parts(folder: Path) -> list[Path]:
    """Return the files of a folder, and of the folders of a Hive data set inside it."""
    parts: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if _is_passed_over(entry):
            continue
        parts += _list_parts(entry) if entry.is_dir() and "=" in entry.name else [entry]
    return parts


def _list_hidden(folder: Path, below: Path = Path()) -> list[Path]:
    """Return what is passed over in a folder, and in folders of a Hive data set inside it; paths relative to it."""
    paths: list[Path] = []
    for entry in (folder / below).iterdir():
        if _is_passed_over(entry):
            paths.append(below / entry.name)
        elif entry.is_dir() and "=" in entry.name:
            paths += _list_hidden(folder, below / entry.name)
    return paths


def _keys_of(path: Path, inputs: Sequence[Path]) -> pl.DataFrame:
    """Read the keys of a Hive data set from its folders' names; a key becomes integers or dates if all values are."""
    # For a pattern, its deepest parent folder without a wildcard.
    folder = path if path.is_dir() else next(each for each in path.parents if not glob.has_magic(str(each)))
    parts = [[name for name in each.relative_to(folder).parts[:-1] if "=" in name] for each in inputs]
    pairs = [[unquote(side) for name in each for side in name.split("=", 1)] for each in parts]
    names = pairs[0][::2]
    if any(each[::2] != names for each in pairs) or len({*names}) < len(names) or "" in names:
        raise ColumnError(
            f"{str(path)!r} is a Hive data set in which files lie under different keys.",
            hint="put each file under folders of the same keys, in one order: year=2024/region=N.",
        )
    texts = {name: [each[2 * place + 1] for each in pairs] for place, name in enumerate(names)}
    return pl.DataFrame({name: _parse_keys(cells) for name, cells in texts.items()})


def _parse_keys(cells: Sequence[str]) -> pl.Series:
    texts = pl.Series([None if cell == NO_KEY else cell for cell in cells], dtype=pl.String)
    known = texts.drop_nulls()
    if len(known) and known.str.contains(r"^(0|-?[1-9][0-9]{0,17})$").all():
        return texts.cast(pl.Int64)
    if len(known) and known.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$").all():
        days = texts.str.to_date("%Y-%m-%d", strict=False)
        return days if days.null_count() == texts.null_count() else texts
    return texts


def _is_passed_over(path: Path) -> bool:
    return path.name.startswith(("_", "."))


def _read_schema(path: Path) -> pl.Schema:
    """Return the types of a file as polars reads them; no value is read."""
    try:
        with path.open("rb") as file:
            names = pq.read_schema(file).names
            if len(set(names)) < len(names):
                raise ColumnError(
                    f"{str(path)!r} has columns of the same name.", hint="give every column its own name."
                )
            file.seek(0)
            return pl.read_parquet(file, n_rows=0).schema
    except (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damage_error(path) from None


def _check_alike(first: pl.Schema, other: pl.Schema, path: Path, known: Path) -> None:
    differing = [name for name in {**first, **other} if first.get(name) != other.get(name)]
    if differing:
        raise ColumnError(
            f"{str(path)!r} has other columns, or other types of columns, than {str(known)!r}: "
            f"{quote_names(differing)}.",
            hint="write all files with one schema.",
        )


def _as_polars(arrow_field: pa.Field, dtype: pl.DataType) -> pa.Field:
    """Return a field of 64-bit days as the moments that polars reads; Arrow reads its own files as days."""
    if pa.types.is_date(arrow_field.type) and isinstance(dtype, pl.Datetime):
        return arrow_field.with_type(pa.timestamp(dtype.time_unit))
    return arrow_field


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))


def _open_parquet(path: Path, coded: Sequence[str]) -> Any:
    try:
        # Without pre-buffering: buffered data would stay in memory until the file is closed.
        return pq.ParquetFile(_to_arrow_source(path), read_dictionary=list(coded), pre_buffer=False)
    except (pa.ArrowException, OSError):
        raise _damage_error(path) from None


def _to_arrow_source(path: Path) -> Path | pa.MemoryMappedFile:
    """Return what Arrow opens: names that are not UTF-8 it takes as bytes, and only to map them."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return pa.memory_map(os.fsencode(path))
    return path


def _damage_error(path: Path) -> InputError:
    return InputError(f"{str(path)!r} is not a Parquet file, or damaged.", hint="write it anew.")
