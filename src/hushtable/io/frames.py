"""Tables at the boundary: files and dataframes in, the same kind out; text is typed for computing only."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

import narwhals as nw
import numpy as np
import polars as pl

from hushtable._types import CodeArray, CountArray, freeze_array
from hushtable.columns import (
    ColumnSpec,
    OddCells,
    convert_texts,
    dates_as_text,
    find_ambiguities,
    find_odd_cells,
    infer_spec,
    is_text_by_type,
    separator_error,
    to_canonical_texts,
    to_polars,
    without_categories,
    without_declared,
)
from hushtable.errors import ColumnError, InputError, check_columns, quote_names
from hushtable.io.csv import Dialect
from hushtable.io.files import (
    check_workbook,
    file_kind as file_kind,
    read_bytes,
    read_file,
    read_workbook,
    write_csv,
    write_workbook,
)
from hushtable.io.sources import parse_location
from hushtable.io.statistics_files import Variable, check_statistics, kind_of, missing_texts, write_statistics

_ROWS_PER_PART: Final = 2**20  # records that are written together
_CSV_ROWS_PER_PART: Final = 2**17  # the same of a CSV; sinks of Parquet hold more the more parts there are
_MOST_RECORDS: Final = 2**53  # whole numbers that floats add up exactly


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An eager dataframe of any library, and whether its cells are text that wants typing."""

    data: nw.DataFrame[Any] = field(repr=False)  # a narwhals dataframe
    is_text: bool = False  # whether text wants typing by its looks: of a CSV, where all is, or of a workbook
    dialect: Dialect = field(default_factory=Dialect)  # how a CSV was read, and is written again
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)  # what was said besides
    counts: CountArray | None = field(default=None, repr=False)  # (n_rows,), read-only: records of each
    variables: Mapping[str, Variable] = field(default_factory=dict, repr=False)  # of a statistics file
    odd_cells_checked: frozenset[str] = field(
        default=frozenset(), repr=False
    )  # whose odd cells were looked for: not again

    def __post_init__(self) -> None:
        if self.counts is not None:
            # Changed rows with the old counts would be miscounted silently.
            assert len(self.counts) == self.n_rows
            freeze_array(self.counts)

    @property
    def has_decimal_commas(self) -> bool:
        """Whether numbers in text have decimal commas: as declared, else as usual where semicolons part the cells."""
        decimal = self.dialect.decimal
        return decimal == "," or (decimal is None and self.is_text and self.delimiter == ";")

    @property
    def delimiter(self) -> str:
        """The delimiter a CSV was read with, a comma for other frames."""
        return self.dialect.delimiter or ","

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.data.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, as a `Table` has them."""
        return self.columns

    @property
    def n_rows(self) -> int:
        """How many rows there are; a row may stand for several records."""
        return len(self.data)

    @property
    def n_records(self) -> int:
        """How many records the rows stand for."""
        return self.n_rows if self.counts is None else int(self.counts.sum())

    @property
    def records(self) -> CountArray:
        """How many records each row stands for, also where that is one each."""
        return np.ones(self.n_rows, dtype=np.int64) if self.counts is None else self.counts

    def frame(self) -> Frame:
        """Return the frame itself, as a `Table` returns what it was coded from."""
        return self

    @property
    def native(self) -> Any:
        """The dataframe as its own library knows it."""
        return self.data.to_native()

    def label(self, name: str) -> str:
        """Return a column's label in a file of a statistics program; empty if it has none."""
        return self.variables[name].label if name in self.variables else ""

    def column(self, name: str) -> pl.Series:
        """Return one column as a polars series without a name; NaN is missing, whatever the library."""
        return to_polars(self.data.get_column(name))

    def spec(self, name: str) -> ColumnSpec:
        """Return the declared spec of a column."""
        return self.specs.get(name, ColumnSpec()).with_defaults_from(self.dialect.spec)

    def spelling(self, name: str, *, is_typed: bool | None = None) -> ColumnSpec:
        """Return the spelling of a column of text: as declared, and, if typed by its looks, inferred from cells."""
        column, looks = self._text_of_one_kind(name), self.is_text if is_typed is None else is_typed
        return self.spec(name) if column is None else infer_spec(column, self.spec(name), is_typed=looks)

    def values(self, name: str) -> pl.Series:
        """Return one column with its text rewritten as values are written here; see `hushtable.columns.spellings`."""
        column = self._text_of_one_kind(name)
        return self.column(name) if column is None else to_canonical_texts(column, self.spelling(name))

    def doubts(self, name: str) -> tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]]:
        """Return the possible meanings of a column's ambiguous cells; see `columns.spellings.find_ambiguities`."""
        column, spec = self._text_of_one_kind(name), self.spec(name)
        if column is None:
            return (), ()
        # Where semicolons part cells, a comma may be the decimal mark, and a point what groups digits.
        is_continental = self.is_text and self.dialect.delimiter == ";" and spec.decimal is None
        return find_ambiguities(column, spec, points_may_group=is_continental)

    def text(self, name: str) -> pl.Series | None:
        """Return one column as text; None where it holds no texts, and no digits of dates whose format is declared."""
        column = self.column(name)
        column = column if self.spec(name).format is None else dates_as_text(column)
        is_text = isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum))
        return column.cast(pl.String) if is_text else None

    def odd_cells(self, name: str) -> OddCells | None:
        """Find the few cells of a text column that are not of the kind of the others, see `columns.odd_cells`."""
        try:
            text = None if name in self.odd_cells_checked else self.text(name)
        except ColumnError:
            # Cells of several types have no declared meaning: encoding the column will refuse them.
            return None
        return None if text is None else find_odd_cells(text, self.spec(name), self.counts)

    def without_odd_cells(self, names: Sequence[str] | None = None) -> tuple[Frame, dict[str, OddCells]]:
        """Return the frame without the odd cells of some columns, and the odd cells of undecided columns.

        Undecided ones are missing where text is typed by its looks; text of a dataframe and codes stay as they are.
        """
        names = [name for name in (self.columns if names is None else names) if name not in self.odd_cells_checked]
        found = {name: odd for name in names if (odd := self.odd_cells(name)) is not None}
        changed = {name: text for name, odd in found.items() if (text := self._drop_odd_cells(name, odd)) is not None}
        frame = self.with_columns(changed) if changed else self
        undecided = {name: odd for name, odd in found.items() if self.spec(name).odd_cells != "missing"}
        return replace(frame, odd_cells_checked=self.odd_cells_checked.union(names)), undecided

    def _drop_odd_cells(self, name: str, odd: OddCells) -> pl.Series | None:
        """Return a column of text without its odd cells; None if they stay."""
        spec, text = self.spec(name), self.text(name)
        is_typed = (self.is_text or not is_text_by_type(spec)) and not odd.are_among_codes
        return odd.drop_from(text) if text is not None and (is_typed or spec.odd_cells == "missing") else None

    def _text_of_one_kind(self, name: str) -> pl.Series | None:
        """Return a column as text, without odd cells (unless they stay); None if it holds no texts."""
        odd = self.odd_cells(name)
        text = None if odd is None else self._drop_odd_cells(name, odd)
        return self.text(name) if text is None else text

    def with_learned_specs(self) -> Frame:
        """Return a file's frame with all specs that its cells leave no doubt about.

        A comma as decimal mark holds for the whole file: doubtful columns are read as their neighbours are.
        """
        if not self.is_text:
            return self
        learned = self.without_odd_cells()[0]._learn_spelling()
        # Odd cells stay: what they mean may be said later.
        return replace(self, dialect=learned.dialect, specs=learned.specs)

    def _learn_spelling(self) -> Frame:
        spelled = {name: self.spelling(name) for name in self.columns}
        marks = {(spec.decimal, spec.thousands) for spec in spelled.values() if spec.decimal is not None}
        of_all = [each for each in marks if each[0] == ","] or list(marks)
        own = {name: ColumnSpec(format=spec.format) for name, spec in spelled.items() if spec.format is not None}
        frame = self.with_specs(own)
        if not of_all:
            return frame
        thousands = {each for _, each in of_all if each is not None}
        digits = thousands.pop() if len(thousands) == 1 else None
        frame = replace(frame, dialect=replace(self.dialect, decimal=of_all[0][0], thousands=digits))
        for name, spec in spelled.items():
            is_settled = spec.format is None and self.doubts(name) == ((), ())
            if is_settled and not frame.values(name).equals(self.values(name)):
                plain = ColumnSpec(decimal=spec.decimal or ".", thousands=spec.thousands)
                frame = frame.with_specs({name: plain})
        return frame

    def with_specs(self, specs: Mapping[str, ColumnSpec]) -> Frame:
        """Return the frame with further specs of its columns."""
        said = {name: spec.with_defaults_from(self.specs.get(name, ColumnSpec())) for name, spec in specs.items()}
        return replace(self, specs={**self.specs, **said})

    def with_sets(self) -> Frame:
        """Return the frame with canonical texts in its columns of sets."""
        parted = [name for name in self.columns if self.spec(name).separator is not None]
        texts = {name: self.text(name) for name in parted}
        for name, text in texts.items():
            dtype = self.column(name).dtype
            if text is None and not isinstance(dtype, pl.Null):
                raise separator_error(name, dtype)
        sets = {name: to_canonical_texts(text, self.spec(name)) for name, text in texts.items() if text is not None}
        return self.with_columns(sets) if sets else self

    def without_declared(self, program: str | None = "") -> Frame:
        """Return the frame with its declared missing values as missing cells.

        Codes that a file of the statistics program can declare missing by itself stay; "" is any program, None is none.
        """
        columns = {}
        for name in self.columns:
            texts = self.spec(name).missing_values
            if not texts:
                # Nothing is declared of it, be it of a type that cannot be read.
                continue
            column, variable = self.column(name), self.variables.get(name)
            if variable is not None and program is not None and variable.can_declare(program):
                texts = tuple({*texts} - {*missing_texts(column, variable)})
            known = without_declared(column, texts)
            if known is not column:
                columns[name] = known
        return self.with_columns(columns) if columns else self

    def drop(self, names: Sequence[str]) -> Frame:
        """Return the frame without some columns."""
        return self.select([name for name in self.columns if name not in names])

    def select(self, names: Sequence[str]) -> Frame:
        """Return some columns as a frame."""
        if "" in names:
            # Selected by position, polars gives a column without a name another one.
            return replace(self, data=self.data.select(*(self.data.get_column(name) for name in names)))
        # By position: polars would read a name such as `*` as a pattern.
        return replace(self, data=self.data[:, [self.columns.index(name) for name in names]])

    def take(self, rows: CountArray | CodeArray) -> Frame:
        """Return some rows, in the given order."""
        try:
            return replace(self, data=self.data[rows], counts=None if self.counts is None else self.counts[rows])
        except NotImplementedError:
            # pyarrow cannot take rows of every type.
            odd = [name for name in self.columns if not _has_rows_to_take(self.data.get_column(name))]
            raise ColumnError(
                f"{library_of(self)} cannot pick rows of columns {quote_names(odd)}.", hint="cast them to another type."
            ) from None

    def rows_of_records(self) -> CodeArray:
        """Return the row of every record."""
        rows = np.arange(self.n_rows, dtype=np.int32)
        return rows if self.counts is None else np.repeat(rows, self.counts)

    def with_row_per_record(self) -> Frame:
        """Return the frame with a row for every record."""
        return self if self.counts is None else replace(self, counts=None).take(self.rows_of_records())

    def with_rows(self, others: Sequence[Frame]) -> Frame:
        """Return the frame with the rows of others, which have its columns, below its own."""
        rows = [self.data, *(other.select(self.columns).data for other in others)]
        are_counted = any(each.counts is not None for each in (self, *others))
        counts = np.concatenate([each.records for each in (self, *others)]) if are_counted else None
        return replace(self, data=nw.maybe_reset_index(nw.concat(rows, how="vertical")), counts=counts)

    def take_by_column(self, rows: Mapping[str, CountArray]) -> Frame:
        """Return a frame whose columns take cells from different rows, equally many; each row is one record."""
        columns = [nw.maybe_reset_index(self.select([name]).take(rows[name]).data) for name in self.columns]
        return replace(self, data=nw.concat(columns, how="horizontal"), counts=None)

    def with_cells(self, name: str, rows: CountArray, cells: pl.Series) -> Frame:
        """Return the frame with some cells of a column replaced; it keeps its type."""
        column = self.data.get_column(name)
        changed = column.scatter(rows, _series_of(self.data.implementation, cells))
        return replace(self, data=self.data.with_columns(changed))

    def with_empty_cells(self, name: str, rows: CountArray) -> Frame:
        """Return the frame with some cells of a column missing; numpy's whole numbers get a type that allows it."""
        cells = self.column(name)
        empty = pl.Series([None] * len(rows), dtype=cells.dtype)
        native = self.data.get_column(name).to_native()
        is_numpy = self.data.implementation.is_pandas_like() and isinstance(native.dtype, np.dtype)
        if is_numpy and native.dtype.kind in "iub":
            return self.with_columns({name: cells.scatter(rows, empty)})
        return self.with_cells(name, rows, empty)

    def with_columns(self, columns: Mapping[str, pl.Series]) -> Frame:
        """Return the frame with whole columns replaced in place, or appended, in the order of rows."""
        backend = self.data.implementation
        new = []
        for name, series in columns.items():
            column = _series_of(backend, series.alias(name))
            if backend.is_pandas_like():
                # Rows are matched by position: the index may hold anything.
                pandas_series: Any = column.to_native()
                pandas_series.index = self.native.index
                column = nw.from_native(pandas_series, series_only=True)
            new.append(column)
        return replace(self, data=self.data.with_columns(*new))

    def with_types(self, specs: Mapping[str, ColumnSpec | None], *, as_written: bool = False) -> Frame:
        """Return the frame with text columns converted by `columns.convert_texts`; None takes the declared spec."""
        texts = {name: self.column(name) for name in specs}
        texts = {name: each for name, each in texts.items() if isinstance(each.dtype, pl.String)}
        said = {name: specs[name] or self.spec(name) for name in texts}
        return self.with_columns(
            {name: convert_texts(each, said[name], as_written=as_written) for name, each in texts.items()}
        )

    def with_types_by_looks(self) -> Frame:
        """Return the frame of a text file with its columns typed if no cell would change."""
        return self.with_types(dict.fromkeys(self.columns), as_written=True) if self.is_text else self

    def build_alike(self, columns: Sequence[pl.Series]) -> Frame:
        """Return a new frame of the same library, without this one's rows, counts, index, types or labels."""
        backend = self.data.implementation
        if backend.is_polars():
            return replace(self, data=nw.from_native(pl.DataFrame(columns), eager_only=True), counts=None, variables={})
        data = {each.name: _series_of(backend, each) for each in columns}
        return replace(self, data=nw.from_dict(data), counts=None, variables={})


def read(
    data: Any, *, dialect: Dialect | None = None, encoding: str | None = None, delimiter: str | None = None
) -> Frame:
    """Open a file or wrap a dataframe: a path, a URL, a Frame, or any eager dataframe; errors quote no cell."""
    if isinstance(data, Frame):
        return data
    dialect = dialect or Dialect(encoding, delimiter)
    if isinstance(data, (str, os.PathLike)):
        return _frame_of(*read_file(parse_location(data), dialect))
    try:
        frame = Frame(nw.from_native(data, eager_only=True), dialect=dialect.marks)
        names = frame.columns
    except nw.exceptions.DuplicateError:
        raise ColumnError(
            "the dataframe has columns of the same name.", hint="give every column its own name."
        ) from None
    except TypeError:
        raise InputError(
            f"cannot read a table from an object of type {type(data).__name__}.",
            hint="pass a path or an eager dataframe: pandas, polars, pyarrow. Lazy frames are taken by anonymize, "
            "Policy.protect and tabulate; collapse makes a Table of their distinct rows, which most others take.",
        ) from None
    if not all(isinstance(name, str) and _is_unicode(name) for name in names):
        raise ColumnError("the dataframe has column names that are not text.", hint="rename them to text first.")
    return frame


def read_sheet(path: Path, name: str) -> Frame:
    """Read a sheet of a workbook by its name."""
    return _frame_of(read_workbook(path, path.read_bytes(), name), True, Dialect(), {})


def with_counts(frame: Frame, name: str | None) -> Frame:
    """Return the frame without a column of whole numbers, 1 or more each: how many records each row stands for."""
    if name is None:
        return frame
    if frame.counts is not None:
        raise InputError(f"counts = {name!r} was given for rows that have counts.", hint="leave counts out.")
    check_columns([name], frame.columns, "counts")
    cells = frame.values(name)
    if not (cells.dtype.is_numeric() or isinstance(cells.dtype, pl.String)):
        raise ColumnError(f"counts = {name!r} holds no numbers.", hint="a row stands for a whole number of records.")
    numbers = cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    is_count = (numbers >= 1) & (numbers < _MOST_RECORDS) & (numbers == np.floor(numbers))
    if not is_count.all():
        raise ColumnError(
            f"counts = {name!r}: {int((~is_count).sum())} cells are no count, the first in row "
            f"{int(np.argmin(is_count)) + 1}.",
            hint="a row stands for a whole number of records, 1 or more: leave out rows that stand for none.",
        )
    if numbers.sum() >= _MOST_RECORDS:
        raise ColumnError(f"counts = {name!r} add up to 2^53 records or more.", hint="look whether they are counts.")
    return replace(frame.drop([name]), counts=numbers.astype(np.int64))


def read_stream(raw: bytes, name: str, dialect: Dialect) -> Frame:
    """Read the bytes of a file whose name does not tell its kind: Parquet, gzip, Excel, else CSV."""
    return _frame_of(*read_bytes(raw, name, dialect))


def _frame_of(cells: pl.DataFrame, is_text: bool, dialect: Dialect, variables: Mapping[str, Variable]) -> Frame:
    specs = {}
    for name, variable in variables.items():
        missing, kind = missing_texts(cells[name], variable), kind_of(cells[name], variable)
        if missing or kind:
            specs[name] = ColumnSpec(kind, missing_values=missing or None)
    data = nw.from_native(cells, eager_only=True)
    return Frame(data, is_text=is_text, dialect=dialect, specs=specs, variables=variables)


def _series_of(backend: Any, column: pl.Series) -> nw.Series[Any]:
    """Convert a column to a series of another library, with every cell as it is."""
    if isinstance(column.dtype, pl.Null):
        # Only polars has this type.
        column = column.cast(pl.String)
    series = nw.from_native(column, series_only=True)
    if backend.is_polars():
        return series
    if backend.is_pyarrow() and isinstance(column.dtype, pl.Enum):
        # narwhals cannot build a dictionary of pyarrow.
        series = series.cast(nw.String)
    dtype, library = series.dtype, backend.to_native_namespace()
    native: Any = None
    if backend.is_pandas_like() and column.null_count() and (dtype.is_integer() or dtype == nw.Boolean):
        # The types of numpy, which narwhals would take, have no missing cell: False would stand for it.
        native = library.Series(column.to_list(), dtype=str(dtype).lower() if dtype == nw.Boolean else str(dtype))
    elif isinstance(column.dtype, (pl.Datetime, pl.Duration)):
        # As arrays: Python's objects have no nanoseconds.
        native = library.Series(column.to_numpy()) if backend.is_pandas_like() else None
        if native is None and backend.is_pyarrow():
            native = library.chunked_array([column.rechunk().to_arrow()])
        zone = getattr(column.dtype, "time_zone", None)
        if zone is not None and backend.is_pandas_like():
            native = native.dt.tz_localize("UTC").dt.tz_convert(zone)
    if native is None:
        return nw.new_series(column.name, column.to_list(), dtype, backend=backend)
    result: nw.Series[Any] = nw.from_native(native, series_only=True).alias(column.name)
    return result


def _has_rows_to_take(series: nw.Series[Any]) -> bool:
    try:
        series[np.arange(len(series))]
    except NotImplementedError:
        return False
    return True


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be encoded: half of a surrogate pair cannot."""
    return text.encode(errors="ignore").decode() == text


def library_of(data: Any) -> str:
    """Return the name of the dataframe library that data come in: "pandas", "pyarrow"; "polars" for a file or Table."""
    known = nw.from_native(data.native if isinstance(data, Frame) else data, eager_only=True, pass_through=True)
    return str(known.implementation.value) if isinstance(known, nw.DataFrame) else "polars"


def assemble(columns: Mapping[str, Sequence[Any]], source: str = "polars") -> Any:
    """Build a dataframe of plain columns, of a library as `library_of` names it."""
    backend: Any = nw.Implementation.from_backend(source)  # type: ignore[arg-type]  # any name it knows
    return nw.from_dict(dict(columns), backend=backend).to_native()


def with_json_lists(frame: Frame) -> Frame:
    """Return a frame with lists as JSON texts, because a CSV has no lists."""
    lists = [name for name in frame.columns if isinstance(frame.column(name).dtype, pl.List)]
    return frame.with_columns(
        {
            name: pl.Series([json.dumps(each, ensure_ascii=False) for each in frame.column(name).to_list()])
            for name in lists
        }
    )


def write(frame: Frame, path: Path, encoding: str = "utf-8", rows: CodeArray | None = None) -> None:
    """Write a frame, or some rows of it, as CSV or Parquet, by the ending of the name; text stays as it was read."""
    rows = frame.rows_of_records() if rows is None else rows
    kind = file_kind(path)
    if kind in ("workbook", "statistics"):
        cells = _cells_without_categories(frame)[pl.Series(rows)]
        if kind == "workbook":
            write_workbook(cells, path)
        else:
            write_statistics(cells, path, frame.variables)
        return
    if kind == "parquet":
        lazy = _cells_without_categories(frame).lazy()
        # Lazily, part by part: the writer takes only as many as it needs.
        try:
            pl.concat(
                [lazy.select(pl.all().gather(taken)) for taken in _split_rows(rows, _ROWS_PER_PART)]
            ).sink_parquet(path)
        except pl.exceptions.ComputeError as error:
            # An error of the system is reported as for any other file.
            if "(os error " not in str(error):
                raise
            raise OSError(str(error)) from None
        return
    with path.open("wb") as file:
        _write_csv(frame, file, output_delimiter(frame, path), encoding, rows)


def csv_size(frame: Frame, encoding: str = "utf-8") -> int:
    """Return how many bytes the CSV has that `write` would write, with the delimiter that the frame was read with."""
    file = io.BytesIO()
    _write_csv(frame, file, frame.delimiter, encoding, frame.rows_of_records())
    return file.tell()


def _write_csv(frame: Frame, file: IO[bytes], delimiter: str, encoding: str, rows: CodeArray) -> None:
    # The few digits that single out a float32 read back as another number.
    in_full = [
        each.cast(pl.Float64) if isinstance(each.dtype, pl.Float32) else each
        for each in _cells_without_categories(frame)
    ]
    cells = pl.DataFrame(in_full)
    write_csv(
        (cells[taken] for taken in _split_rows(rows, _CSV_ROWS_PER_PART)), frame.columns, file, delimiter, encoding
    )


def _split_rows(rows: CodeArray, n_rows: int) -> Iterator[pl.Series]:
    """Split row numbers into the parts that are written together."""
    for begin in range(0, max(1, len(rows)), n_rows):
        yield pl.Series(rows[begin : begin + n_rows])


def _cells_without_categories(frame: Frame) -> pl.DataFrame:
    # A categorical type would carry its categories into the file, those of removed cells too.
    columns = [(name, frame.column(name)) for name in frame.columns]
    return pl.DataFrame([each.cast(without_categories(each.dtype)).alias(name) for name, each in columns])


def output_delimiter(frame: Frame, path: Path) -> str:
    """Return the delimiter of a CSV to be written: the one it was read with, a tab for .tsv."""
    return "\t" if path.suffix.lower() == ".tsv" else frame.delimiter


def check_writable(frame: Frame, path: Path, encoding: str = "utf-8") -> None:
    """Raise InputError where a file of this kind has no cells for a column's type, or no such characters."""
    kind = file_kind(path)
    if kind == "parquet":
        return
    columns = {name: frame.column(name) for name in frame.columns}
    if kind == "statistics":
        check_statistics(path, columns)
        return
    if kind == "workbook":
        check_workbook(path, frame.n_records, len(columns))
        encoding = "utf-8"
    types = {name: column.dtype for name, column in columns.items()}
    odd = [name for name, dtype in types.items() if dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Duration))]
    if odd:
        raise ColumnError(
            f"{str(path)!r} has no cells for the types of columns {quote_names(odd)}, such as lists or structs.",
            hint="write Parquet, or leave those columns out.",
        )
    lacking = [name for name, column in columns.items() if not _has_characters(name, column, encoding)]
    if lacking:
        raise InputError(
            f"the encoding {encoding} has no characters for some of columns {quote_names(lacking)}.",
            hint="write utf-8.",
        )


def _has_characters(name: str, column: pl.Series, encoding: str) -> bool:
    if encoding == "utf-8":
        return True
    try:
        "".join([name, *column.cast(pl.String).drop_nulls().unique().to_list()]).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
