"""Records that are unique on few columns, counted by hashes on the disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import combinations, pairwise
from typing import IO, Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from hushtable._types import BoolArray
from hushtable.columns import without_categories
from hushtable.release.exposing import choose_joint_uniques, max_joint_columns
from hushtable.release.exposure import Uniques

_HASHES_PER_SORT: Final = 2**22  # hashes that are sorted together (but at most 8 sorts for all)
_MAX_PARTS: Final = 8
_MAX_SETS_SHOWN: Final = 5


def count_unique_records(
    batches: Iterable[pa.Table], names: Sequence[str], max_size: int, max_share: float
) -> tuple[int, int, tuple[Uniques, ...], int]:
    """Count the records of batches that are unique on at most some columns.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        With these columns, in order.
    names : sequence of str
    max_size : int
        How many columns a set has at most.
    max_share : float
        The share of the records, in [0, 1], above which no larger sets are looked at.

    Returns
    -------
    tuple
        How many records there are; how many are unique; on which sets; and up to which size no set is missing.

    Notes
    -----
    A cell is a hash of 64 bits with a random key, 8 bytes on the disk. Two of 20,000,000 different cells have one
    hash in 1 of 100,000 runs. Memory is taken for the records of one set at a time: about 16 bytes for each, 40 where
    hardly any cells differ.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in names]
        n_records = _write_hashes(batches, files)
        if not n_records:
            return 0, 0, (), min(max_size, len(names))
        hit, smaller = np.zeros(n_records, dtype=bool), []
        uniques: list[tuple[int, Uniques]] = []
        for size in range(1, min(max_size, len(names)) + 1):
            for path in combinations(range(len(names)), size):
                is_unique = _find_unique_records([files[j] for j in path], n_records)
                n_first = int(np.count_nonzero(is_unique & ~hit))
                hit |= is_unique
                if n_first:
                    uniques.append((-n_first, Uniques(tuple(names[j] for j in path), int(np.count_nonzero(is_unique)))))
            smaller.append(size)
            if np.count_nonzero(hit) > max_share * n_records:
                break
        largest = [each for _, each in sorted(uniques)[:_MAX_SETS_SHOWN]]
        sets = tuple(sorted(largest, key=lambda each: (len(each.columns), -each.n_records, each.columns)))
        return n_records, int(np.count_nonzero(hit)), sets, smaller[-1] if smaller else 0


def count_unique_in_classes(
    batches: Iterable[pa.Table], classes: Sequence[str], names: Sequence[str]
) -> tuple[tuple[Uniques, ...], int]:
    """Count the records of batches that are unique on a column, and on two, among those of equal other columns.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        With the columns of ``classes`` and then of ``names``, in order.
    classes : sequence of str
        Records that are equal in these are a class.
    names : sequence of str

    Returns
    -------
    tuple
        As `Exposure.told` and `Exposure.told_to`.

    Notes
    -----
    Cells are hashes on the disk, as of `count_unique_records`.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in (*classes, *names)]
        n_records = _write_hashes(batches, files)
        of_class, of_name = files[: len(classes)], dict(zip(names, files[len(classes) :], strict=True))
        told_to = max_joint_columns(len(names), n_records)
        sets = [path for size in range(1, told_to + 1) for path in combinations(sorted(names), size)]
        uniques = [
            Uniques(
                path,
                int(np.count_nonzero(_find_unique_records([*of_class, *(of_name[name] for name in path)], n_records))),
            )
            for path in sets
        ]
    return choose_joint_uniques(uniques, len(names)), told_to


def _write_hashes(batches: Iterable[pa.Table], files: Sequence[IO[bytes]]) -> int:
    """Write a hash of every cell to one file for each column; return the number of records."""
    seed, n_records = int(np.random.default_rng().integers(2**63)), 0
    for batch in batches:
        for file, column in zip(files, batch.columns, strict=True):
            file.write(_hash_cells(column, seed, n_records).tobytes())
        n_records += batch.num_rows
    return n_records


def _hash_cells(column: pa.ChunkedArray, seed: int, n_before: int) -> Any:
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    cells = pl.Series("", pl.from_arrow(column))
    # 0 and -0 are one number and two cells.
    cells = cells.cast(pl.String if cells.dtype.is_float() else without_categories(cells.dtype))
    try:
        return cells.hash(seed).to_numpy()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Cells that cannot be compared are all different.
        return pl.Series(range(n_before, n_before + len(cells)), dtype=pl.UInt64).hash(seed).to_numpy()


def _find_unique_records(files: Sequence[IO[bytes]], n_records: int) -> BoolArray:
    """Tell which records have a unique combination of hashes in some files."""
    keys = np.zeros(n_records, dtype=np.uint64)
    for file in files:
        file.seek(0)
        for start in range(0, n_records, _HASHES_PER_SORT):
            part = keys[start : start + _HASHES_PER_SORT]
            # An odd factor loses no bit; without it equal cells of two columns would cancel out.
            part *= np.uint64(0x9E3779B97F4A7C15)
            part ^= part >> np.uint64(32)
            part += np.fromfile(file, dtype=np.uint64, count=len(part))
    is_unique = np.zeros(n_records, dtype=bool)
    n_parts = min(_MAX_PARTS, -(-n_records // _HASHES_PER_SORT))
    ends = [2**64 * part // n_parts for part in range(n_parts + 1)]
    for first, end in pairwise(ends):
        rows = np.flatnonzero((keys >= np.uint64(first)) & (keys <= np.uint64(end - 1)))
        order = rows[np.argsort(keys[rows])]
        is_new = np.append(True, keys[order[1:]] != keys[order[:-1]])[: len(order)]
        is_unique[order[is_new & np.append(is_new[1:], True)[: len(order)]]] = True
    return is_unique
