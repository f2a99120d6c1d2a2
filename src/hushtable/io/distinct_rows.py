"""Tables too large for memory, as their distinct rows with counts: all that privacy models and claims ask for.

Files that were written are verified by the same functions, which sort and compare arrays and trust no hash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from hushtable._types import BoolArray, CountArray
from hushtable.columns import to_enumeration, without_categories
from hushtable.errors import ColumnError, InputError, TooManyRowsError, check_columns, names_in
from hushtable.io import frames
from hushtable.io.batches import Scan, prefetch_items, to_arrow
from hushtable.io.frames import Frame
from hushtable.search import check_memory

MOST_ROWS: Final = 20_000_000
"""The most distinct rows: with more, no search on one machine ends in reasonable time."""

_SORT_BYTES_PER_ROW: Final = 40  # bytes that sorting takes per row, besides its cells
_BYTES_PER_CELL: Final = 20
_BYTES_PER_CODE: Final = 8  # of a cell of an enumeration
_MIN_ROWS_PER_MERGE: Final = 2**22  # new rows that start a merge, if fewer rows are known
_BITS_PER_WORD: Final = 63  # bits of a key
_BITS_PER_NUMBER: Final = 31  # bits for the number of the row's earlier words, in keys of several words
_HASH_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits spread over the whole word
_HASH_SHIFT: Final = np.uint64(32)
_BUCKET_EDGES: Final = np.arange(-7, 8) << 60  # the first sorting key of each bucket but the first


def collapse(
    source: Scan,
    names: Sequence[str] | None = None,
    *,
    most_rows: int = MOST_ROWS,
    coded: Collection[str] = (),
    as_written: Collection[str] = (),
) -> Frame:
    """Return the distinct rows of some columns of a file or folder, with how many records each stands for.

    Rows are in the order of their cells, whatever the order of the records and the size of batches: O(n log b) for n
    records in batches of b. NaN is missing, and 0 and -0 are one number. Texts of ``coded`` columns become an
    enumeration, which takes a byte or two a cell. Floats of ``as_written`` columns become text, because a recipient of
    the file can tell 0 from -0. If there are too many distinct rows, TooManyRowsError names the column with the most
    values.
    """
    names = source.columns if names is None else names_in(names, "columns")
    check_columns(names, source.columns, "columns")
    schema = {name: source.schema[name] for name in names}
    collapser = Collapser(schema, most_rows, coded=coded, as_written=as_written)
    for batch in prefetch_items(source.batches(names, coded=names)):
        collapser.add_batch(batch)
    rows, counts = collapser.sort_rows()
    return replace(frames.read(rows), is_text=source.is_text, dialect=source.dialect, counts=counts)


class Values:
    """The distinct cells of a column so far: code 0 is missing, code i the i-th value."""

    def __init__(self, name: str, dtype: pl.DataType, *, as_written: bool = False) -> None:
        if dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Duration, pl.Object)):
            raise ColumnError(
                f"column {name!r} has the type {without_categories(dtype)}, which cannot be grouped.",
                hint="turn it into text, a number, a date, a time or a datetime, or leave the column out.",
            )
        self._is_text = as_written and dtype.is_float()
        self.name, self.dtype = name, pl.String() if self._is_text else dtype
        empty = _to_comparable(pl.Series(dtype=self.dtype))
        self._plain_dtype, self.known = empty.dtype, to_arrow(empty)

    @property
    def width(self) -> int:
        """How many codes there are."""
        return len(self.known) + 1

    def encode_cells(self, column: pa.ChunkedArray, *, grow: bool) -> tuple[CountArray, CountArray]:
        """Return the code of each entry of a dictionary of the cells, and each cell's position in it.

        The last entry is the missing cell. Without ``grow``, a new cell raises InputError.
        """
        if self._is_text:
            column = pa.chunked_array([to_arrow(pl.Series("", pl.from_arrow(column)).cast(pl.String))])
        cells = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        coded = cells if isinstance(cells, pa.DictionaryArray) else cells.dictionary_encode()
        positions = coded.indices
        if positions.null_count:
            positions = positions.fill_null(len(coded.dictionary))
        return np.append(self._encode_dictionary(coded.dictionary, grow), 0), positions.to_numpy()

    def _encode_dictionary(self, dictionary: pa.Array, grow: bool) -> CountArray:
        """Return the code of each cell of a dictionary."""
        # As polars reads them, without a name: polars may take a name for a pattern.
        cells = to_arrow(_to_comparable(pl.Series("", pl.from_arrow(dictionary))).cast(self._plain_dtype))
        codes = pc.index_in(cells, value_set=self.known)
        is_new = pc.and_(pc.is_null(codes), pc.is_valid(cells))
        if pc.any(is_new).as_py():
            if not grow:
                raise change_error()
            self.known = pa.concat_arrays([self.known, pc.unique(cells.filter(is_new))])
            codes = pc.index_in(cells, value_set=self.known)
        return np.asarray(pc.fill_null(codes, -1).to_numpy()).astype(np.int64) + 1

    def sort_cells(self) -> tuple[pl.Series, CountArray]:
        """Return the cells in order, the missing one first, and the rank of every code among them."""
        values = pl.Series("", self.known)
        order = values.arg_sort().to_numpy()
        rank_of_code = np.empty(self.width, dtype=np.int64)
        rank_of_code[0], rank_of_code[order + 1] = 0, np.arange(1, self.width)
        cells = pl.concat([values.clear(1), values.gather(order)])
        return cells.cast(self.dtype), rank_of_code


class RowWords:
    """A layout that packs rows of codes into words of 63 bits. Each word holds the codes of some columns.

    Every word but the first leaves ``n_reserved`` bits free. With ``has_room``, columns get room for twice as many
    codes, if that takes no further word.
    """

    def __init__(self, widths: Sequence[int], *, has_room: bool, n_reserved: int = 0) -> None:
        exact = [width.bit_length() for width in widths]
        self.bits, self.words = exact, _split_words(exact, n_reserved)
        if has_room:
            roomy = [(2 * width).bit_length() for width in widths]
            words = _split_words(roomy, n_reserved)
            if len(words) == len(self.words):
                self.bits, self.words = roomy, words

    def has_room_for(self, widths: Sequence[int]) -> bool:
        """Tell whether the words have room for columns of these widths."""
        return all(width <= 1 << bits for width, bits in zip(widths, self.bits, strict=True))

    def pack_rows(self, codes: Iterable[tuple[CountArray, CountArray]], n_rows: int) -> list[CountArray]:
        """Return the words of rows, from each column's dictionary of codes and positions in it."""
        codes_by_column, words = iter(codes), []
        for columns in self.words:
            word = np.zeros(n_rows, dtype=np.int64)
            # The word's columns come first in zip: at their end it takes no further column from the iterator.
            for j, (dictionary, positions) in zip(columns, codes_by_column, strict=False):
                word |= np.take(dictionary << self._shift_of(j), positions)
            words.append(word)
        return words

    def codes_of_column(self, words: Sequence[CountArray], column: int) -> CountArray:
        """Return the codes of a column from packed words."""
        word = next(i for i, columns in enumerate(self.words) if column in columns)
        return (words[word] >> self._shift_of(column)) & ((1 << self.bits[column]) - 1)

    def _shift_of(self, column: int) -> int:
        columns = next(each for each in self.words if column in each)
        return sum(self.bits[j] for j in columns if j > column)


def _split_words(bits: Sequence[int], n_reserved: int) -> list[range]:
    """Return the columns of each word: as many, in order, as its free bits hold."""
    ends, free_bits = [], _BITS_PER_WORD
    for j, n_bits in enumerate(bits):
        if n_bits > free_bits:
            ends.append(j)
            free_bits = _BITS_PER_WORD - n_reserved
        free_bits -= n_bits
    return [range(begin, end) for begin, end in pairwise([0, *ends, len(bits)])]


class RowKeys(RowWords):
    """Rows of codes as single numbers: each later word begins with the number of the row's earlier words."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__(widths, has_room=False, n_reserved=_BITS_PER_NUMBER)
        self.numbers = [_NumberedKeys() for _ in self.words[1:]]

    def keys_of_rows(self, codes: Iterable[tuple[CountArray, CountArray]], n_rows: int, *, grow: bool) -> CountArray:
        """Return the key of every row; InputError if a row is new and must not be added."""
        keys, *others = self.pack_rows(codes, n_rows)
        for word, numbers in zip(others, self.numbers, strict=True):
            keys = (numbers.number_keys(keys, grow=grow) << (_BITS_PER_WORD - _BITS_PER_NUMBER)) | word
        return keys


class _NumberedKeys:
    """Keys, numbered in the order of their first appearance."""

    def __init__(self) -> None:
        self.known = np.empty(0, dtype=np.int64)
        self.number = np.empty(0, dtype=np.int64)

    def number_keys(self, keys: CountArray, *, grow: bool) -> CountArray:
        distinct, inverse = np.unique(keys, return_inverse=True)
        new = distinct[~_is_in(distinct, self.known)]
        if len(new):
            if not grow:
                raise change_error()
            numbers = np.concatenate([self.number, np.arange(len(self.known), len(self.known) + len(new))])
            known = np.concatenate([self.known, new])
            order = np.argsort(known, kind="stable")
            self.known, self.number = known[order], numbers[order]
        return np.asarray(self.number[np.searchsorted(self.known, distinct)][inverse])


class Collapser:
    """Collects the distinct rows of batches with their counts; takes the options of `collapse`."""

    def __init__(
        self,
        schema: dict[str, pl.DataType],
        most_rows: int = MOST_ROWS,
        *,
        coded: Collection[str] = (),
        as_written: Collection[str] = (),
    ) -> None:
        self._columns = [Values(name, dtype, as_written=name in as_written) for name, dtype in schema.items()]
        self._most_rows, self._coded = most_rows, frozenset(coded)
        self._layout = RowWords(self._widths, has_room=True)
        # A bucket is a list: its distinct rows, then the rows that came since. Sorting one bucket takes little memory.
        empty = np.empty(0, dtype=np.int64)
        self._buckets = [
            [bucket] for bucket in _CountedRows([empty for _ in self._layout.words], empty).cut_into_buckets()
        ]

    @property
    def _widths(self) -> list[int]:
        return [column.width for column in self._columns]

    def add_batch(self, batch: pa.Table) -> None:
        """Count the records of a batch, which has the columns in order."""
        if not batch.num_rows:
            return
        codes = [
            column.encode_cells(cells, grow=True) for column, cells in zip(self._columns, batch.columns, strict=True)
        ]
        if not self._layout.has_room_for(self._widths):
            self._make_room()
        new = _CountedRows.from_records(self._layout.pack_rows(codes, batch.num_rows))
        for bucket, part in zip(self._buckets, new.cut_into_buckets(), strict=True):
            bucket.append(part)
        n_known = sum(len(bucket[0].counts) for bucket in self._buckets)
        n_new = sum(len(part.counts) for bucket in self._buckets for part in bucket[1:])
        if n_new > max(n_known // 2, _MIN_ROWS_PER_MERGE):
            self._merge_buckets()

    def sort_rows(self) -> tuple[pl.DataFrame, CountArray]:
        """Return the distinct rows in the order of their cells, and how many records each stands for."""
        distinct = self._collect_rows()
        cells, ranks = zip(*(column.sort_cells() for column in self._columns), strict=True)
        sorted_layout = RowWords(self._widths, has_room=False)
        words = sorted_layout.pack_rows(self._codes_by_column(distinct, ranks), len(distinct.counts))
        order = np.lexsort(words[::-1])
        series = []
        for j, column in enumerate(self._columns):
            column_cells = to_enumeration(cells[j]) if column.name in self._coded else cells[j]
            series.append(column_cells.gather(sorted_layout.codes_of_column(words, j)[order]).alias(column.name))
        return pl.DataFrame(series), distinct.counts[order]

    def _codes_by_column(
        self, rows: _CountedRows, new_codes_by_column: Iterable[CountArray]
    ) -> Iterator[tuple[CountArray, CountArray]]:
        """Yield for each column the new code of every old code, and the old codes of some rows.

        One column at a time takes less memory.
        """
        for j, new_codes in enumerate(new_codes_by_column):
            yield new_codes, self._layout.codes_of_column(rows.words, j)

    def _collect_rows(self) -> _CountedRows:
        """Return all distinct rows so far."""
        self._merge_buckets()
        known = _CountedRows.concatenate([part for bucket in self._buckets for part in bucket])
        # As views of the concatenation, so that rows are held once.
        self._buckets = [[part] for part in known.cut_into_buckets()]
        return known

    def _merge_buckets(self) -> None:
        """Merge new rows into the distinct rows of each bucket."""
        for i, bucket in enumerate(self._buckets):
            if len(bucket) > 1:
                self._buckets[i] = [_CountedRows.concatenate(bucket).merge_equal_rows()]
        n_rows = sum(len(bucket[0].counts) for bucket in self._buckets)
        if n_rows > self._most_rows:
            raise TooManyRowsError(
                f"the columns have more than {self._most_rows:,} distinct rows.", hint=self._hint_at_column()
            )
        bytes_of_cells = sum(
            _BYTES_PER_CODE if column.name in self._coded else _BYTES_PER_CELL for column in self._columns
        )
        check_memory(
            n_rows * (_SORT_BYTES_PER_ROW + bytes_of_cells), f"{n_rows:,} distinct rows", self._hint_at_column()
        )

    def _make_room(self) -> None:
        """Repack the words, because a column has more values than they have room for."""
        known, layout = self._collect_rows(), RowWords(self._widths, has_room=True)
        codes = self._codes_by_column(known, [np.arange(1 << bits) for bits in self._layout.bits])
        repacked = _CountedRows(layout.pack_rows(codes, len(known.counts)), known.counts).merge_equal_rows()
        self._layout, self._buckets = layout, [[part] for part in repacked.cut_into_buckets()]

    def _hint_at_column(self) -> str:
        """Return a hint that names the column with the most values."""
        most = max(self._columns, key=lambda column: column.width)
        return (
            f"column {most.name!r} has the most different values ({most.width - 1:,}): generalize it first, by a "
            "hierarchy or a grid, or leave it out."
        )


class _CountedRows(NamedTuple):
    """Packed rows, and how many records each stands for.

    Until `merge_equal_rows` is called, rows may repeat and have any order; after it, they are distinct and in the order
    of their sorting keys.
    """

    words: list[CountArray]
    counts: CountArray

    @classmethod
    def from_records(cls, words: list[CountArray]) -> _CountedRows:
        """Merge equal records, and count them."""
        if len(words) == 1:
            # To sort numbers is faster than to sort their positions.
            keys, counts = np.unique(words[0], return_counts=True)
            return cls([keys], counts)
        return cls(words, np.ones(len(words[0]), dtype=np.int64)).merge_equal_rows()

    @classmethod
    def concatenate(cls, parts: Sequence[_CountedRows]) -> _CountedRows:
        """Concatenate rows; equal rows are not merged."""
        words = [np.concatenate(each) for each in zip(*(part.words for part in parts), strict=True)]
        return cls(words, np.concatenate([part.counts for part in parts]))

    def cut_into_buckets(self) -> list[_CountedRows]:
        """Cut rows, in the order of their sorting keys, into buckets."""
        ends = np.searchsorted(_sorting_keys(self.words), _BUCKET_EDGES)
        runs = [slice(*each) for each in pairwise([0, *ends.tolist(), len(self.counts)])]
        return [_CountedRows([word[run] for word in self.words], self.counts[run]) for run in runs]

    def merge_equal_rows(self) -> _CountedRows:
        """Merge equal rows, and add their counts; the rows may have any order."""
        words, counts = self
        keys = _sorting_keys(words)
        # Most rows come in sorted runs, which a stable sort merges fast.
        order = np.argsort(keys, kind="stable")
        starts = _find_row_starts(words, order)
        keys = keys[order[starts]]
        if (keys[1:] == keys[:-1]).any():
            # Different rows share a hash, and may separate equal rows: sort by all words, too.
            order = np.lexsort((*words, _sorting_keys(words)))
            starts = _find_row_starts(words, order)
        first = order[starts]
        sums = np.add.reduceat(counts[order], starts) if len(starts) else counts
        return _CountedRows([word[first] for word in words], sums)


def _sorting_keys(words: Sequence[CountArray]) -> CountArray:
    """Return a number for every row: its word, or a hash of several."""
    if len(words) == 1:
        return words[0]
    keys = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        keys ^= keys >> _HASH_SHIFT
        keys *= _HASH_FACTOR
        keys += word.view(np.uint64)
    return keys.view(np.int64)


def _find_row_starts(words: Sequence[CountArray], order: CountArray) -> CountArray:
    """Return the positions in ``order`` where another row begins; the order puts equal rows together."""
    is_start = np.ones(len(order), dtype=bool)
    is_start[1:] = False
    for word in words:
        sorted_word = word[order]
        is_start[1:] |= sorted_word[1:] != sorted_word[:-1]
    return np.flatnonzero(is_start)


def change_error() -> InputError:
    """Return the error for an input that changed between two passes."""
    return InputError(
        "the input changed while it was read: it holds values or rows that it did not hold before.",
        hint="protect a copy that nobody writes to.",
    )


def _to_comparable(column: pl.Series) -> pl.Series:
    """Return cells in types that compare: categories as text, NaN as missing, -0 as 0."""
    if isinstance(column.dtype, (pl.Categorical, pl.Enum, pl.Null)):
        return column.cast(pl.String)
    # Adding 0 makes -0 a 0; by numpy, because polars optimizes the addition away.
    return pl.Series(column.to_numpy() + 0.0).fill_nan(None) if column.dtype.is_float() else column


def _is_in(keys: CountArray, sorted_keys: CountArray) -> BoolArray:
    """Tell which keys are among sorted ones."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    positions = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[positions] == keys)
