"""Tables too large for memory, as their distinct rows with counts: all that privacy models and claims ask for.

Nothing here comes from the code that makes releases: what is written is verified by the same collapse.
Arrays and sorting only, so that nothing has to be compiled for it, or believed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from hushtable._types import BoolArray, CountArray
from hushtable.columns import without_categories
from hushtable.errors import ColumnError, InputError, TooManyRowsError, check_columns, names_in, with_hint
from hushtable.io import frames
from hushtable.io.batches import Scan, ahead, to_arrow
from hushtable.io.frames import Frame
from hushtable.search import check_memory

__all__ = ["MOST_ROWS", "Collapser", "RowKeys", "Values", "changed", "collapse"]

MOST_ROWS: Final = 20_000_000
"""Distinct rows that are held at most: beyond, no search on one machine ends in reasonable time."""

_PER_ROW: Final = 40  # bytes that sorting a row takes, beside 20 for each of its cells
_PER_CELL: Final = 20
_FEW: Final = 2**22  # keys that are sorted at once, where fewer are known
_WORD: Final = 63  # bits of a key
_NUMBER: Final = 31  # bits of the number of a row so far, in keys of several words


def collapse(
    source: Scan,
    names: Sequence[str] | None = None,
    *,
    most_rows: int = MOST_ROWS,
    as_written: Collection[str] = (),
) -> Frame:
    """Return the distinct rows of some columns of a file or folder, with how many records each stands for.

    Parameters
    ----------
    source : Scan
    names : sequence of str, optional
        Which columns, in which order; all when not given.
    most_rows : int
        How many distinct rows are too many.
    as_written : collection of str
        Columns whose floats become text, because a reader of the file tells 0 from -0, and NaN from a missing cell.

    Returns
    -------
    Frame
        With counts; its rows are in the order of their cells, whatever the order of the records and
        the size of batches.

    Raises
    ------
    ColumnError
        A column does not exist, or its type cannot be grouped.
    InputError
        There are too many distinct rows: the column with the most values is named.

    Notes
    -----
    O(n log b) for n records in batches of b. NaN is missing, and 0 and -0 are one number.
    """
    names = source.columns if names is None else names_in(names, "columns")
    check_columns(names, source.columns, "columns")
    collapser = Collapser({name: source.schema[name] for name in names}, most_rows, as_written)
    for batch in ahead(source.batches(names, coded=names)):
        collapser.add(batch)
    rows, counts = collapser.rows()
    return replace(frames.read(rows), is_text=source.is_text, dialect=source.dialect, counts=counts)


class Values:
    """The distinct cells of a column so far: code 0 is missing, code i the i-th value."""

    def __init__(self, name: str, dtype: pl.DataType, *, as_written: bool = False) -> None:
        if dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Duration, pl.Object)):
            msg = with_hint(
                f"column {name!r} has the type {without_categories(dtype)}, which cannot be grouped.",
                "turn it into text, a number, a date, a time or a datetime, or leave the column out.",
            )
            raise ColumnError(msg)
        self._is_text = as_written and dtype.is_float()
        self.name, self.dtype = name, pl.String() if self._is_text else dtype
        none = _plain(pl.Series(dtype=self.dtype))
        self._plain_dtype, self.known = none.dtype, to_arrow(none)

    @property
    def width(self) -> int:
        """How many codes there are."""
        return len(self.known) + 1

    def code(self, column: pa.ChunkedArray, *, grow: bool) -> tuple[CountArray, CountArray]:
        """Return the codes of cells: those of their dictionary, missing last, and each cell's place in it.

        Raises
        ------
        InputError
            A value is not known, and must not be added.
        """
        if self._is_text:
            column = pa.chunked_array([to_arrow(pl.Series("", pl.from_arrow(column)).cast(pl.String))])
        cells = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        coded = cells if isinstance(cells, pa.DictionaryArray) else cells.dictionary_encode()
        places = coded.indices
        if places.null_count:
            places = places.fill_null(len(coded.dictionary))
        return np.append(self._codes(coded.dictionary, grow), 0), places.to_numpy()

    def _codes(self, dictionary: pa.Array, grow: bool) -> CountArray:
        # As polars reads them, and without a name, which may be a pattern.
        cells = to_arrow(_plain(pl.Series("", pl.from_arrow(dictionary))).cast(self._plain_dtype))
        found = pc.index_in(cells, value_set=self.known)
        is_new = pc.and_(pc.is_null(found), pc.is_valid(cells))
        if pc.any(is_new).as_py():
            if not grow:
                raise changed()
            self.known = pa.concat_arrays([self.known, pc.unique(cells.filter(is_new))])
            found = pc.index_in(cells, value_set=self.known)
        return np.asarray(pc.fill_null(found, -1).to_numpy()).astype(np.int64) + 1

    def sorted(self) -> tuple[pl.Series, CountArray]:
        """Return the cells in order, the missing one first, and the place of every code among them."""
        values = pl.Series("", self.known)
        order = values.arg_sort().to_numpy()
        places = np.empty(self.width, dtype=np.int64)
        places[0], places[order + 1] = 0, np.arange(1, self.width)
        cells = pl.concat([values.clear(1), values.gather(order)])
        return cells.cast(self.dtype), places


class RowKeys:
    """Rows of codes as single numbers: one word of 63 bits, or several, folded one after the other.

    Parameters
    ----------
    widths : sequence of int
        How many codes each column has.
    has_room : bool
        Whether columns will have more.
    """

    def __init__(self, widths: Sequence[int], *, has_room: bool) -> None:
        self.bits = [(2 * width if has_room else width).bit_length() for width in widths]
        if has_room and sum(self.bits) > _WORD:
            self.bits = [width.bit_length() for width in widths]
        self.words: list[list[int]] = [[]]
        left = _WORD
        for j, bits in enumerate(self.bits):
            if bits > left:
                self.words.append([])
                left = _WORD - _NUMBER
            self.words[-1].append(j)
            left -= bits
        self.numbers = [_NumberedKeys() for _ in self.words[1:]]

    def fit(self, widths: Sequence[int]) -> bool:
        """Tell whether columns of so many codes have room."""
        return all(width <= 1 << bits for width, bits in zip(widths, self.bits, strict=True))

    def of(self, codes: Sequence[tuple[CountArray, CountArray]], n_rows: int, *, grow: bool) -> CountArray:
        """Return the key of every row, of what each column's dictionary and places say.

        Raises
        ------
        InputError
            A row cannot be among those that are known, and must not be added.
        """
        keys = np.zeros(n_rows, dtype=np.int64)
        for word, columns in enumerate(self.words):
            if word:
                keys = self.numbers[word - 1].of(keys, grow=grow)
            shift = sum(self.bits[j] for j in columns)
            keys <<= shift
            for j in columns:
                shift -= self.bits[j]
                dictionary, places = codes[j]
                keys |= np.take(dictionary << shift, places)
        return keys

    def codes(self, keys: CountArray) -> list[CountArray]:
        """Return the codes of every column that keys were made of."""
        found: dict[int, CountArray] = {}
        for word in reversed(range(len(self.words))):
            for j in reversed(self.words[word]):
                found[j] = keys & ((1 << self.bits[j]) - 1)
                keys = keys >> self.bits[j]
            if word:
                keys = self.numbers[word - 1].keys(keys)
        return [found[j] for j in range(len(self.bits))]


class _NumberedKeys:
    """Keys numbered in the order in which they came."""

    def __init__(self) -> None:
        self.known = np.empty(0, dtype=np.int64)
        self.number = np.empty(0, dtype=np.int64)

    def of(self, keys: CountArray, *, grow: bool) -> CountArray:
        distinct, inverse = np.unique(keys, return_inverse=True)
        new = distinct[~_is_in(distinct, self.known)]
        if len(new):
            if not grow:
                raise changed()
            numbers = np.concatenate([self.number, np.arange(len(self.known), len(self.known) + len(new))])
            known = np.concatenate([self.known, new])
            order = np.argsort(known, kind="stable")
            self.known, self.number = known[order], numbers[order]
        return np.asarray(self.number[np.searchsorted(self.known, distinct)][inverse])

    def keys(self, numbers: CountArray) -> CountArray:
        keys = np.empty_like(self.known)
        keys[self.number] = self.known
        return keys[numbers]


class Collapser:
    """The distinct rows of batches, counted as they come.

    Parameters
    ----------
    schema : mapping of column to polars type
    most_rows : int
        How many distinct rows are too many.
    as_written : collection of str
        As of `collapse`.
    """

    def __init__(
        self, schema: dict[str, pl.DataType], most_rows: int = MOST_ROWS, as_written: Collection[str] = ()
    ) -> None:
        self._columns = [Values(name, dtype, as_written=name in as_written) for name, dtype in schema.items()]
        self._most_rows = most_rows
        self._layout = RowKeys(self._widths, has_room=True)
        self._keys = np.empty(0, dtype=np.int64)
        self._counts = np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[CountArray, CountArray]] = []

    @property
    def _widths(self) -> list[int]:
        return [column.width for column in self._columns]

    def add(self, batch: pa.Table) -> None:
        """Count the records of a batch, which has the columns in order.

        Raises
        ------
        InputError
            There are too many distinct rows.
        """
        if not batch.num_rows:
            return
        codes = [column.code(cells, grow=True) for column, cells in zip(self._columns, batch.columns, strict=True)]
        if not self._layout.fit(self._widths):
            self._make_room()
        keys = self._layout.of(codes, batch.num_rows, grow=True)
        self._waiting.append(np.unique(keys, return_counts=True))
        if sum(len(each) for each, _ in self._waiting) > max(len(self._keys), _FEW):
            self._merge()

    def rows(self) -> tuple[pl.DataFrame, CountArray]:
        """Return the distinct rows in the order of their cells, and how many records each stands for."""
        self._merge()
        cells, places = zip(*(column.sorted() for column in self._columns), strict=True)
        codes = [place[code] for place, code in zip(places, self._layout.codes(self._keys), strict=True)]
        order = _order(codes, self._widths)
        series = [
            cell.gather(code[order]).alias(column.name)
            for cell, code, column in zip(cells, codes, self._columns, strict=True)
        ]
        return pl.DataFrame(series), self._counts[order]

    def _merge(self) -> None:
        """Add what has come since to the rows that are known."""
        if not self._waiting:
            return
        keys, counts = zip((self._keys, self._counts), *self._waiting, strict=True)
        self._waiting = []
        self._set(np.concatenate(keys), np.concatenate(counts))
        n_rows = len(self._keys)
        if n_rows > self._most_rows:
            msg = with_hint(f"the columns have more than {self._most_rows:,} distinct rows.", self._hint())
            raise TooManyRowsError(msg)
        n_bytes = n_rows * (_PER_ROW + _PER_CELL * len(self._columns))
        check_memory(n_bytes, f"{n_rows:,} distinct rows", self._hint())

    def _set(self, keys: CountArray, counts: CountArray) -> None:
        # Most are sorted in runs, which this sort merges.
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        self._keys, self._counts = keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts

    def _make_room(self) -> None:
        """Lay the keys out anew, because some column has more values than they have room for."""
        self._merge()
        codes = [(each, np.arange(len(each))) for each in self._layout.codes(self._keys)]
        self._layout = RowKeys(self._widths, has_room=True)
        self._set(self._layout.of(codes, len(self._keys), grow=True), self._counts)

    def _hint(self) -> str:
        most = max(self._columns, key=lambda column: column.width)
        return (
            f"column {most.name!r} has the most different values ({most.width - 1:,}): generalize it first, by a "
            "hierarchy or a grid, or leave it out."
        )


def changed() -> InputError:
    """Return the error that a second reading found what the first one did not."""
    msg = with_hint(
        "the input changed while it was read: it holds values or rows that it did not hold before.",
        "protect a copy that nobody writes to.",
    )
    return InputError(msg)


def _plain(column: pl.Series) -> pl.Series:
    """Return cells in types that compare: categories as text, NaN as missing, -0 as 0."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum, pl.Null)):
        return column.cast(pl.String)
    # numpy adds: polars takes a sum with 0 for the number itself.
    return pl.Series(column.to_numpy() + 0.0).fill_nan(None) if column.dtype.is_float() else column


def _is_in(keys: CountArray, known: CountArray) -> BoolArray:
    """Tell which keys are among sorted ones."""
    if not len(known):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[places] == keys)


def _order(codes: Iterable[CountArray], widths: Sequence[int]) -> CountArray:
    """Return the order of rows by their codes, the first column first."""
    words: list[Any] = []
    left = 0
    for code, width in zip(codes, widths, strict=True):
        bits = width.bit_length()
        if bits > left:
            words.append(np.zeros(len(code), dtype=np.int64))
            left = _WORD
        words[-1] = (words[-1] << bits) | code
        left -= bits
    return np.lexsort(words[::-1])
