"""Files of tables: which kinds there are, and how each is read and written; of a workbook the first sheet, or one."""

from __future__ import annotations

import codecs
import datetime as dt
import glob
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import polars as pl
from polars import selectors as cs

from hushtable.errors import InputError
from hushtable.io.csv import BYTES_PER_LINE, MEMORY_HINT, Dialect, check_header, header_line, read_csv
from hushtable.io.databases import read_database
from hushtable.io.encoding import open_gzip
from hushtable.io.object_stores import read_objects
from hushtable.io.sources import Source, check_secrets
from hushtable.io.statistics_files import READERS, Variable, read_statistics
from hushtable.search import check_memory

_SHEET_OPTIONS: Final[dict[str, Any]] = {
    "engine": "calamine",
    "has_header": False,
    "drop_empty_rows": False,
    "drop_empty_cols": False,
    "raise_if_empty": False,
    "infer_schema_length": None,
}


def list_sheets(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    try:
        names: list[str] = _open_workbook(path, path.read_bytes()).sheet_names
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
        raise InputError(message, hint="check the name and that you may read the file.") from None
    return names


def _open_workbook(path: Path, raw: bytes) -> Any:
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InputError(
            f"{str(path)!r} is a workbook, which needs a reader.", hint="pip install 'hushtable[excel]'."
        ) from None
    try:
        return fastexcel.read_excel(raw)
    except Exception:
        # The reader's own error may quote cells.
        raise _workbook_error(path) from None


def _workbook_error(path: Path) -> InputError:
    return InputError(f"{str(path)!r} is not a workbook that can be read.", hint="save it as .xlsx without a password.")


def read_workbook(path: Path, raw: bytes, sheet: str | None = None) -> pl.DataFrame:
    """Read a sheet of a workbook, the first by default.

    Columns of mixed types are text, and empty rows are left out.
    """
    which: dict[str, Any] = {"sheet_id": 1} if sheet is None else {"sheet_name": sheet}
    book = _open_workbook(path, raw)
    try:
        visibility = book.load_sheet(0 if sheet is None else sheet, header_row=None, n_rows=1).visible
        texts = pl.read_excel(raw, **which, **_SHEET_OPTIONS, read_options={"skip_rows": 0, "dtypes": "string"})
    except Exception:
        raise _workbook_error(path) from None
    if visibility != "visible":
        if sheet is not None:
            raise InputError(f"sheet {sheet!r} of {str(path)!r} is hidden.", hint="show it first.")
        raise InputError(
            f"the first sheet of {str(path)!r} is hidden.", hint="move the sheet with the table to the front."
        )
    is_filled = texts.select(pl.any_horizontal(pl.lit(False), pl.all().is_not_null())).to_series()
    if not is_filled.any():
        if sheet is not None:
            raise InputError(
                f"sheet {sheet!r} of {str(path)!r} is empty.", hint="its first row must hold the column names."
            )
        raise InputError(
            f"the first sheet of {str(path)!r} is empty.", hint="its first row must hold the column names."
        )
    top = is_filled.arg_max()
    assert top is not None
    header = [name or "" for name in texts.row(top)]
    check_header(path, header, hint="name every column in the first row, and merge no cells there.")
    below = is_filled.slice(top + 1)
    data = _read_typed_cells(raw, which, texts.slice(top + 1), top + 1).filter(below)
    data.columns = header
    return data


def _read_typed_cells(raw: bytes, which: Mapping[str, Any], texts: pl.DataFrame, n_above: int) -> pl.DataFrame:
    """Read the cells below the header with their types; a column whose cells would change stays text."""
    if not texts.height:
        return texts
    # Of a column without a cell the reader would complain; these are its names of columns without one.
    empty = [place for place, column in enumerate(texts) if column.null_count() == texts.height]
    dtypes = {f"__UNNAMED__{place}": "string" for place in empty}
    # Whole numbers that no integer holds, which polars would make of them: their texts are typed as a CSV's are.
    are_huge = [(column.cast(pl.Float64, strict=False).abs() >= 2.0**63).any() for column in texts]
    dtypes |= {f"__UNNAMED__{place}": "string" for place, is_huge in enumerate(are_huge) if is_huge}
    data = pl.read_excel(raw, **which, **_SHEET_OPTIONS, read_options={"skip_rows": n_above, "dtypes": dtypes})
    pairs = zip(data, texts, strict=True)
    return pl.DataFrame(
        [_to_times(typed) if typed.null_count() == text.null_count() else text for typed, text in pairs]
    )


def _to_times(column: pl.Series) -> pl.Series:
    """Convert times of day: a sheet holds them as moments of its day zero."""
    if not isinstance(column.dtype, (pl.Date, pl.Datetime)) or not (column.cast(pl.Date) == _DAY_ZERO).all():
        return column
    return column.cast(pl.Datetime("ms")).dt.time()


FILE_KINDS: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "workbook",
    **dict.fromkeys((".sav", ".zsav", ".dta", ".xpt"), "statistics"),
}
"""What is written, by the ending of the name."""

MANIFEST: Final = "_manifest.json"
"""The manifest of a folder; readers of folders pass over names that begin so."""

_TABLE_BYTES_PER_BYTE: Final = 2.8  # least memory for making a table of a text, per byte of the text
_TABLE_BYTES_PER_WIDE_BYTE: Final = 3.5  # where hardly a letter takes one byte, as in UTF-16
_PIECE_BYTES: Final = 2**23  # bytes that are unpacked at once
_DAY_ZERO: Final = dt.date(1899, 12, 31)
_TIME_FORMAT: Final = "%H:%M:%S%.f"  # of times of a day: decimals where there are any
_SAMPLE_ROWS: Final = 1_000  # rows whose size is that of all

_DATABASE_ENDINGS: Final = (".db", ".sqlite", ".sqlite3", ".duckdb")

_KIND_BY_FIRST_BYTES: Final = (
    *((b"PAR1", "parquet"), (b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "workbook")),
    *((b"$FL2", ".sav"), (b"$FL3", ".sav"), (b"<stata_dta>", ".dta"), (b"HEADER RECORD", ".xpt")),
)

ReadFile = tuple[pl.DataFrame, bool, Dialect, Mapping[str, Variable]]
"""The cells, whether those of text want typing, how the text was spelled, and what the file says of its variables."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of files when a job first saw them, so that later passes notice changes."""

    states: Mapping[Path, tuple[int, ...]] = field(default_factory=dict, repr=False)  # device, inode, bytes, time

    @classmethod
    def from_paths(cls, paths: Iterable[str | os.PathLike[str]]) -> Snapshot:
        """Record the state of files; OSError if one cannot be accessed."""
        return cls({Path(path): _file_state(path) for path in paths})

    def check(self, *paths: Path) -> None:
        """Raise InputError if files (all, if none is named) changed since; it names the first, and what changed."""
        for path in paths or self.states:
            try:
                state = _file_state(path)
            except OSError:
                raise _change_error(path, "it is gone or cannot be read") from None
            differing = [
                told for told, old, new in zip(_CHANGES_OF_STATE, self.states[path], state, strict=True) if old != new
            ]
            if differing:
                raise _change_error(path, differing[0])


_CHANGES_OF_STATE: Final = (
    "another file has its name",
    "another file has its name",
    "its size changed",
    "it was written to",
)


def _file_state(path: str | os.PathLike[str]) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _change_error(path: Path, what: str) -> InputError:
    return InputError(f"{str(path)!r} changed while it was read: {what}.", hint="protect a copy that nobody writes to.")


def file_kind(path: Path) -> str:
    """Return the kind of a file by its name: ``"csv"``, ``"parquet"``, ``"workbook"`` or ``"statistics"``."""
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise _ending_error(path, f"use one of {' '.join(FILE_KINDS)}.")
    return kind


def is_many(path: Path | Source) -> bool:
    """Tell whether a path is a folder or a pattern."""
    if isinstance(path, Source):
        return path.is_many
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def read_file(path: Path | Source, dialect: Dialect) -> ReadFile:
    """Read a file by the ending of its name, or a source with a URL."""
    if isinstance(path, Source):
        read = read_objects if path.program is None else read_database
        return read(path, MEMORY_HINT), False, dialect.marks, {}
    if is_many(path):
        raise InputError(
            f"cannot read {str(path)!r} into memory: it is a folder or a pattern.",
            hint="anonymize takes both (without engine='memory'), verify takes folders; elsewhere pass "
            "one file, or a Table of their distinct rows: collapse(polars.scan_parquet(...), columns).",
        )
    name = path.name.lower()
    kind = FILE_KINDS.get(Path(name.removesuffix(".gz")).suffix)
    if "\0" in name:
        raise InputError(f"cannot read {str(path)!r}: no file has such a name.", hint="check the name.")
    if name.endswith(".gz") and kind == "csv":
        kind = "gzip"
    elif path.suffix.lower() in READERS:
        kind = "statistics"
    elif path.suffix.lower() in _DATABASE_ENDINGS:
        hint = "name one of its tables: sqlite:///people.db?table=NAME, duckdb:///people.duckdb?table=NAME."
        raise InputError(f"{str(path)!r} is a database.", hint=hint)
    elif kind is None or name.endswith(".gz"):
        raise _ending_error(path, f"use one of {' '.join(FILE_KINDS)} .sas7bdat, or .csv.gz .tsv.gz .txt.gz.")
    try:
        if kind == "parquet":
            # Opened here: polars would take the name for a pattern, or a folder of files.
            with path.open("rb") as file:
                return _read_parquet(path, file, dialect)
        if path.is_file():
            with path.open("rb") as file:
                least = 1.0 if kind in ("workbook", "statistics") else _growth_in_memory(file.read(4))
            check_memory(least * path.stat().st_size, f"reading {str(path)!r}", MEMORY_HINT)
        return _read_raw(path, path.read_bytes(), kind, dialect)
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
        raise InputError(message, hint="check the name and that you may read the file.") from None


def read_bytes(raw: bytes, name: str, dialect: Dialect) -> ReadFile:
    """Read bytes without a file name, such as a stream; their first bytes tell the kind."""
    kind = next((kind for magic, kind in _KIND_BY_FIRST_BYTES if raw.startswith(magic)), "csv")
    path = Path(name)
    if kind in READERS:
        return _read_raw(path.with_suffix(kind), raw, "statistics", dialect)
    return _read_parquet(path, io.BytesIO(raw), dialect) if kind == "parquet" else _read_raw(path, raw, kind, dialect)


def write_csv(
    parts: Iterable[pl.DataFrame], names: Sequence[str], file: IO[bytes], delimiter: str, encoding: str
) -> None:
    """Write the parts of a table, in order, as one CSV in an encoding that has all its characters."""
    if encoding == "utf-8":
        file.write(header_line(names, delimiter).encode())
        for part in parts:
            part.write_csv(file, separator=delimiter, include_header=False, time_format=_TIME_FORMAT)
        return
    # One encoder for all parts: an encoding may begin with a mark.
    encoder = codecs.getincrementalencoder(encoding)()
    file.write(encoder.encode(header_line(names, delimiter)))
    for part in parts:
        file.write(encoder.encode(part.write_csv(separator=delimiter, include_header=False, time_format=_TIME_FORMAT)))
    file.write(encoder.encode("", final=True))


_MOST_ROWS: Final = 1_048_575  # of a sheet, besides its header
_MOST_COLUMNS: Final = 16_384
_MOST_LETTERS: Final = 32_767  # of a cell
_DAY_FORMAT: Final = "yyyy-mm-dd"


def check_workbook(path: Path, n_records: int, n_columns: int) -> None:
    """Raise InputError if a sheet cannot hold so many rows or columns, or no writer is installed."""
    if n_records > _MOST_ROWS or n_columns > _MOST_COLUMNS:
        raise InputError(
            f"{str(path)!r} cannot hold {n_records:,} rows of {n_columns:,} columns: a sheet has {_MOST_ROWS:,} rows "
            f"and {_MOST_COLUMNS:,} columns.",
            hint="write CSV or Parquet.",
        )
    try:
        import xlsxwriter  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{str(path)!r} is a workbook, which needs a writer.", hint="pip install 'hushtable[excel]'."
        ) from None


class _ExactNumber(float):
    """A number that is written with all its digits, where the writer would keep sixteen."""

    __slots__ = ()

    def __format__(self, spec: str, /) -> str:
        return repr(float(self))


def write_workbook(cells: pl.DataFrame, path: Path) -> None:
    """Write a table as a workbook of one sheet: text is text, whatever it looks like, and nothing is a formula."""
    write_sheets({"Sheet1": cells}, path)


def write_sheets(tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write tables as the sheets of a workbook, as `write_workbook` writes one."""
    import xlsxwriter

    for cells in tables.values():
        for name, column in zip(cells.columns, cells, strict=True):
            if isinstance(column.dtype, pl.String) and (column.str.len_chars() > _MOST_LETTERS).any():
                raise InputError(
                    f"column {name!r} has texts that are longer than a cell of a workbook.", hint="write CSV."
                )
    with xlsxwriter.Workbook(str(path), {"constant_memory": True, "nan_inf_to_errors": True}) as book:
        formats = {
            pl.Date: book.add_format({"num_format": _DAY_FORMAT}),
            pl.Datetime: book.add_format({"num_format": f"{_DAY_FORMAT} hh:mm:ss"}),
            pl.Time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for name, cells in tables.items():
            _write_sheet(book.add_worksheet(name), cells, formats)


def _write_sheet(sheet: Any, cells: pl.DataFrame, formats: Mapping[Any, Any]) -> None:
    # A sheet has no time zones: moments are those of UTC.
    cells = cells.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    of_columns = [formats.get(dtype.base_type()) for dtype in cells.dtypes]
    for position, name in enumerate(cells.columns):
        sheet.write_string(0, position, name)
    for row, values in enumerate(cells.iter_rows(), start=1):
        for position, value in enumerate(values):
            if value is None:
                continue
            if isinstance(value, str):
                sheet.write_string(row, position, value)
            elif isinstance(value, bool):
                sheet.write_boolean(row, position, value)
            elif of_columns[position] is not None:
                sheet.write_datetime(row, position, value, of_columns[position])
            else:
                sheet.write_number(row, position, _ExactNumber(value))


def _read_raw(path: Path, raw: bytes, kind: str, dialect: Dialect) -> ReadFile:
    if kind == "workbook":
        return read_workbook(path, raw), True, dialect, {}
    if kind == "statistics":
        cells, variables = read_statistics(path, raw)
        return cells, False, dialect.marks, variables
    cells, dialect = read_csv(path, _unzip_bytes(path, raw) if kind == "gzip" else raw, dialect)
    return cells, True, dialect, {}


def _read_parquet(path: Path, file: Any, dialect: Dialect) -> ReadFile:
    try:
        _check_parquet(path, file)
        return pl.read_parquet(file), False, dialect.marks, {}
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Polars panics on some damaged files, which is no Exception.
        raise InputError(
            f"{str(path)!r} is not a Parquet file.", hint="check the ending: a CSV is named .csv."
        ) from None


def _check_parquet(path: Path, file: Any) -> None:
    """Raise InputError if a file's cells cannot fit into memory, counting texts only by their views."""
    # Before polars reads the file: it ends the process if memory runs out.
    check_memory(float(file.seek(0, os.SEEK_END)), f"reading {str(path)!r}", MEMORY_HINT)
    file.seek(0)
    n_rows = pl.scan_parquet(file).select(pl.len()).collect().item()
    file.seek(0)
    types = pl.read_parquet_schema(file).values()
    file.seek(0)
    check_memory(
        n_rows * sum(map(_bytes_per_cell, types)), f"reading the {n_rows:,} rows of {str(path)!r}", MEMORY_HINT
    )


def _bytes_per_cell(dtype: pl.DataType) -> float:
    """Return the least bytes that a cell takes."""
    if isinstance(dtype, (pl.String, pl.Binary)):
        return 16.0
    return pl.Series(dtype=dtype).clear(_SAMPLE_ROWS).estimated_size() / _SAMPLE_ROWS


def count_gzip_bytes(path: Path, raw: IO[bytes], max_bytes: float) -> int:
    """Count the bytes that a gzip file unpacks to, at least up to ``max_bytes``."""
    n_bytes = 0
    for piece in _unzip_pieces(path, raw):
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            break
    return n_bytes


def _unzip_bytes(path: Path, raw: bytes) -> bytes:
    # A small file may unpack to more than the memory: count the bytes before any are kept.
    n_bytes, needed = 0, 0.0
    for piece in _unzip_pieces(path, io.BytesIO(raw)):
        n_bytes += len(piece)
        needed += _growth_in_memory(piece) * len(piece) + BYTES_PER_LINE * piece.count(b"\n")
        check_memory(needed, f"reading {str(path)!r}, which unpacks to {n_bytes:,} bytes or more,", MEMORY_HINT)
    return b"".join(_unzip_pieces(path, io.BytesIO(raw)))


def _unzip_pieces(path: Path, raw: IO[bytes]) -> Iterator[bytes]:
    with open_gzip(path, raw) as text:
        while piece := text.read(_PIECE_BYTES):
            yield piece


def _growth_in_memory(head: bytes) -> float:
    return _TABLE_BYTES_PER_WIDE_BYTE if b"\0" in head[:4] else _TABLE_BYTES_PER_BYTE


def _ending_error(path: Path, hint: str) -> InputError:
    check_secrets([str(path)])
    return InputError(f"cannot recognise the format of {str(path)!r} from its ending {path.suffix!r}.", hint=hint)
