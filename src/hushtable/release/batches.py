"""Batches of rows written in random order: distributed to random buckets on the disk, each of which is then shuffled.

An order can identify people, and rows that do not fit memory cannot be shuffled there. A bucket that is too large
is dealt once more. Randomness is the operating system's.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from hushtable.io import file_kind, header_line, hive, parquet_writer, prefetch_items, strip_schema

ROWS_PER_PART: Final = 5_000_000

_ROWS_PER_GROUP: Final = 2**20  # rows that are written together
_N_BUCKETS: Final = 64
_MAX_ROWS_IN_MEMORY: Final = 2**22  # of what is shuffled in memory
_MAX_BYTES_IN_MEMORY: Final = 2**28


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Tables of one schema, in two steps.

    Attributes
    ----------
    narrow : callable
        Yields rows with all that tells what is published of them, in few bytes: they go to the disk and back.
    finish : callable
        From narrow rows to those that are published.
    """

    narrow: Callable[[], Iterator[pa.Table]]
    finish: Callable[[pa.Table], pa.Table]

    def __iter__(self) -> Iterator[pa.Table]:
        return map(self.finish, self.narrow())


def write_parts(
    batches: Iterable[pa.Table],
    folder: Path,
    spill: Path,
    *,
    rows_per_part: int = ROWS_PER_PART,
    by: str | None = None,
) -> int:
    """Write tables as Parquet files of equal size, ``part-00000.parquet`` and so on; return how many rows there are.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        One at least, all of one schema. `Batches` are spilled in their narrow form.
    folder : path
        It exists, and is empty.
    spill : path
        A folder for what is in between. It is made where there are too many rows for memory, and gone in the end.
    rows_per_part : int
        How many rows a part has at most.
    by : str, optional
        A column whose cells name folders, ``region=N/part-00000.parquet``, and are in no file.

    Raises
    ------
    InputError
        The cells of that column cannot name folders.

    Notes
    -----
    The files remember no order and nothing of the input: no statistics, no schema but names and types. Every
    value in a dictionary page is published somewhere.
    """
    n_rows, rows = _shuffle_batches(batches, spill)
    if by is not None:
        with closing(_finish_row_groups(batches, rows, [_plan_row_groups(n_rows)])) as tables:
            hive.write(tables, folder, by)
        return n_rows
    n_parts = max(1, -(-n_rows // rows_per_part))
    plan = [_plan_row_groups(size) for size in _split_evenly(n_rows, n_parts)]
    with closing(_finish_row_groups(batches, rows, plan)) as tables:
        for part, groups in enumerate(plan):
            with _create_private_file(folder / f"part-{part:05d}.parquet") as file:
                _write_parquet(islice(tables, len(groups)), file)
        assert next(tables, None) is None
    return n_rows


def write_file(
    batches: Iterable[pa.Table], path: Path, spill: Path, *, delimiter: str = ",", encoding: str = "utf-8"
) -> int:
    """Write tables as one file, Parquet or CSV by the ending of its name; return how many rows there are.

    Parameters
    ----------
    batches, spill
        As in `write_parts`.
    path : path
        An empty file, or none.
    delimiter, encoding : str
        Of a CSV.
    """
    n_rows, rows = _shuffle_batches(batches, spill)
    with (
        closing(_finish_row_groups(batches, rows, [_plan_row_groups(n_rows)])) as tables,
        _create_private_file(path, "wb") as file,
    ):
        if file_kind(path) == "parquet":
            _write_parquet(tables, file)
        else:
            _write_csv(tables, file, delimiter, encoding)
    return n_rows


def _shuffle_batches(batches: Iterable[pa.Table], spill: Path) -> tuple[int, Iterator[pa.Table]]:
    """Return the number of rows, and the narrow rows in random order."""
    narrow = batches.narrow() if isinstance(batches, Batches) else map(decode_dictionaries, batches)
    # Closed in any case, like everything with a thread: nothing may write to a spill that is being removed.
    with closing(prefetch_items(narrow)) as tables:
        return _shuffle_rows(tables, spill)


def decode_dictionaries(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries and metadata of fields, which may hold more than its cells."""
    return table.cast(strip_schema(table.schema))


def _split_evenly(n_rows: int, n_parts: int) -> list[int]:
    """Return the sizes of parts, which differ by one row at most."""
    ends = [n_rows * part // n_parts for part in range(n_parts + 1)]
    return [end - start for start, end in pairwise(ends)]


def _plan_row_groups(n_rows: int) -> list[int]:
    """Return the sizes of a file's row groups."""
    return _split_evenly(n_rows, max(1, -(-n_rows // _ROWS_PER_GROUP)))


def _finish_row_groups(
    batches: Iterable[pa.Table], rows: Iterator[pa.Table], plan: Sequence[Sequence[int]]
) -> Generator[pa.Table]:
    tables = _split_tables(rows, chain.from_iterable(plan))
    return prefetch_items(map(batches.finish, tables) if isinstance(batches, Batches) else tables)


def _split_tables(tables: Iterator[pa.Table], sizes: Iterable[int]) -> Iterator[pa.Table]:
    """Yield tables of given sizes, which add up to the rows there are."""
    remaining = next(tables)
    for size in sizes:
        while len(remaining) < size:
            remaining = pa.concat_tables([remaining, next(tables)])
        yield remaining.slice(0, size).combine_chunks()
        remaining = remaining.slice(size)
    # Exhausted, because the spill is removed at the end of the tables.
    assert not sum(map(len, tables)), "rows are left"


def _shuffle_rows(tables: Iterator[pa.Table], spill: Path) -> tuple[int, Iterator[pa.Table]]:
    """Return the number of rows, and the rows in random order; many rows are shuffled on the disk."""
    buffered: list[pa.Table] = []
    n_rows = n_bytes = 0
    for table in tables:
        buffered.append(table)
        n_rows, n_bytes = n_rows + len(table), n_bytes + table.nbytes
        if (n_rows > _MAX_ROWS_IN_MEMORY or n_bytes > _MAX_BYTES_IN_MEMORY) and n_rows > _N_BUCKETS:
            return _shuffle_into_buckets(chain(_pop_tables(buffered), tables), spill)
    return n_rows, _shuffle_in_memory(buffered)


def _pop_tables(tables: list[pa.Table]) -> Iterator[pa.Table]:
    """Yield tables, and drop each one from the list to free its memory."""
    while tables:
        yield tables.pop(0)


def _shuffle_in_memory(tables: list[pa.Table]) -> Iterator[pa.Table]:
    table = pa.concat_tables(tables).combine_chunks()
    tables.clear()
    order = np.random.default_rng().permutation(len(table))
    yield table.slice(0, 0)
    for start in range(0, len(table), _ROWS_PER_GROUP):
        yield table.take(order[start : start + _ROWS_PER_GROUP])


def _shuffle_into_buckets(tables: Iterator[pa.Table], spill: Path) -> tuple[int, Iterator[pa.Table]]:
    """Distribute rows to random buckets on the disk."""
    rng = np.random.default_rng()
    spill.mkdir(mode=0o700)
    paths = [spill / str(bucket) for bucket in range(_N_BUCKETS)]
    n_rows = 0
    with ExitStack() as open_files:
        writers: list[Any] = []
        for table in _concatenate_small_tables(tables):
            if not writers:
                files = [open_files.enter_context(_create_private_file(path)) for path in paths]
                writers = [open_files.enter_context(pa.ipc.new_stream(file, table.schema)) for file in files]
            n_rows += len(table)
            mixed = table.take(rng.permutation(len(table)))
            # The counts are drawn as if every row drew its bucket.
            ends = accumulate(rng.multinomial(len(table), [1 / _N_BUCKETS] * _N_BUCKETS).tolist(), initial=0)
            for writer, (start, end) in zip(writers, pairwise(ends), strict=True):
                writer.write_table(mixed.slice(start, end - start))
    return n_rows, _drain_buckets(paths, spill)


def _concatenate_small_tables(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Concatenate small tables, so that each bucket gets more than a few rows of a table."""
    buffered: list[pa.Table] = []
    for table in tables:
        buffered.append(table)
        if (
            sum(map(len, buffered)) >= _ROWS_PER_GROUP
            or sum(each.nbytes for each in buffered) >= _MAX_BYTES_IN_MEMORY // 4
        ):
            yield pa.concat_tables(buffered).combine_chunks()
            buffered = []
    if buffered:
        yield pa.concat_tables(buffered).combine_chunks()


def _drain_buckets(paths: Sequence[Path], spill: Path) -> Iterator[pa.Table]:
    """Yield the rows of each bucket in random order, and remove it."""
    for path in paths:
        yield from _shuffle_rows(_read_bucket(path), path.with_suffix(".dealt"))[1]
        path.unlink()
    spill.rmdir()


def _read_bucket(path: Path) -> Iterator[pa.Table]:
    with path.open("rb") as file, pa.ipc.open_stream(file) as reader:
        # A bucket may be empty.
        yield reader.schema.empty_table()
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _write_parquet(tables: Iterator[pa.Table], file: IO[bytes]) -> None:
    first = next(tables)
    with parquet_writer(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table, max(1, len(table)))


def _write_csv(tables: Iterator[pa.Table], file: IO[bytes], delimiter: str, encoding: str) -> None:
    # Kept from piece to piece: an encoding may begin with a mark, or shift.
    encoder = codecs.getincrementalencoder(encoding)()
    for place, table in enumerate(tables):
        columns = [pl.Series("", pl.from_arrow(column)) for column in table.columns]
        columns = [each.cast(pl.Float64) if isinstance(each.dtype, pl.Float32) else each for each in columns]
        cells = pl.DataFrame([each.alias(str(j)) for j, each in enumerate(columns)])
        text = header_line(table.column_names, delimiter) if place == 0 else ""
        file.write(encoder.encode(text + cells.write_csv(separator=delimiter, include_header=False)))
    file.write(encoder.encode("", final=True))


def _create_private_file(path: Path, mode: str = "xb") -> IO[bytes]:
    """Open a file for writing; a new file is readable by its owner only."""
    return open(path, mode, opener=partial(os.open, mode=0o600))
