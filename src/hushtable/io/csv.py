"""CSV as text: how a file spells its table, every record checked, no cell shown; and cells that spreadsheets run."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CountArray
from hushtable.columns import ENGLISH, ColumnSpec, check_language, check_marks
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io.encoding import as_utf8, decode_pieces, encoding_of
from hushtable.search import check_memory

Formulas = Literal["keep", "escape", "refuse"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of text spells a table; None where it is found from the file."""

    encoding: str | None = None  # a byte order mark says it; else UTF-8, and where that does not fit a guess
    delimiter: str | None = None  # one character; found among ``, ; tab |``
    decimal: str | None = None  # the marks of numbers, in every column that says nothing else; see `ColumnSpec`
    thousands: str | None = None
    missing_values: tuple[str, ...] = ()  # texts that mean a missing value in every column, besides blank ones
    index: bool | None = None  # whether the first column, which then has no name, is an index that is left out
    formulas: Literal["escape"] | None = None  # "escape": apostrophes before formulas are no cells' own

    def __post_init__(self) -> None:
        check_marks(self.decimal, self.thousands, self.missing_values)
        one = self.delimiter
        if one is not None and (len(one) != 1 or not one.isascii() or one in '"\r\n'):
            raise InputError(f"the delimiter {one!r} is not one character.", hint="use one of , ; | or a tab.")

    @property
    def spec(self) -> ColumnSpec:
        """What it says of every column."""
        return ColumnSpec(
            decimal=self.decimal, thousands=self.thousands, missing_values=tuple(self.missing_values) or None
        )

    @property
    def marks(self) -> Dialect:
        """What it says of cells, in whatever file or frame they are."""
        return Dialect(decimal=self.decimal, thousands=self.thousands, missing_values=self.missing_values)

    def to_dict(self) -> dict[str, Any]:
        """Return what it says as plain values."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        said["missing_values"] = list(self.missing_values) or None
        return {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file of text is written, besides the delimiter of its input."""

    encoding: str = "utf-8"
    decimal: str = "."  # of numbers that are not written as they came: quasi-identifiers, and floats of a dataframe
    # cells and names that a spreadsheet would run: as they are, with an apostrophe in front, or nothing is written
    formulas: Formulas = "keep"
    language: str = ENGLISH  # of the words that are written into cells: names of groups, and labels of dictionaries
    by: str | None = None  # a published column whose cells name the folders of a Hive data set
    labels: Mapping[str, str] = field(default_factory=dict)  # what columns are in words
    bounds: bool = False  # whether the bounds of cells of numbers and dates stand beside them

    def __post_init__(self) -> None:
        check_language(self.language)
        check_marks(self.decimal, None, None)
        if self.formulas not in get_args(Formulas):
            raise InputError(f"formulas = {self.formulas!r}.", hint=f"choose among {', '.join(get_args(Formulas))}.")
        try:
            name = codecs.lookup(self.encoding).name
            "".encode(name)
        except (LookupError, ValueError, TypeError):
            raise InputError(
                f"unknown encoding {self.encoding!r}.", hint="use a name such as utf-8, latin-1, cp1252 or utf-16."
            ) from None
        if name == "utf-8":
            object.__setattr__(self, "encoding", name)

    @property
    def spells_as_usual(self) -> bool:
        """Whether no encoding, no decimal mark and no way to hide formulas was asked for."""
        return (self.encoding, self.decimal, self.formulas) == ("utf-8", ".", "keep")


_TEXT_TYPES: Final = (pl.String, pl.Categorical, pl.Enum)

# What a spreadsheet may pass over; control characters are no blanks to everyone.
_BLANK: Final = r"[\s\x00-\x1f]"
_SIGNED: Final = rf"^{_BLANK}*[=+\-@＝＋－＠]"
_NUMBER: Final = rf"^{_BLANK}*[+\-＋－]?(?:[0-9](?:[0-9.,']|{_BLANK})*|[.,][0-9]+)(?:[eE][+\-]?[0-9]+)?{_BLANK}*%?$"
_SIGNS: Final = r"^[\s\x00-\x1f\p{S}[\p{P}--_]]*$"
"""Nothing to run: ``-`` and ``--`` often stand for a missing value."""


def are_formulas(texts: pl.Series) -> pl.Series:
    """Tell which texts a spreadsheet would run as formulas; missing cells are none."""
    signed = texts.str.contains(_SIGNED).fill_null(False)
    if not signed.any():
        return signed
    return signed & ~(texts.str.contains(_NUMBER) | texts.str.contains(_SIGNS)).fill_null(True)


def count_formulas(columns: Mapping[str, pl.Series], counts: CountArray | None = None) -> dict[str, int]:
    """Count by column the cells, and the name, that a spreadsheet would run; columns without one are left out."""
    names = are_formulas(pl.Series(list(columns), dtype=pl.String)).to_list()
    found = {
        name: is_one + (_n_formulas(each.cast(pl.String), counts) if isinstance(each.dtype, _TEXT_TYPES) else 0)
        for (name, each), is_one in zip(columns.items(), names, strict=True)
    }
    return {name: n for name, n in found.items() if n}


def _n_formulas(texts: pl.Series, counts: CountArray | None) -> int:
    is_formula = are_formulas(texts)
    return int(is_formula.sum() if counts is None else counts[is_formula.to_numpy()].sum())


def escape_formulas(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before formulas, also before already escaped ones; other types stay as they are."""
    if not isinstance(texts.dtype, _TEXT_TYPES):
        return texts
    texts = texts.cast(pl.String)
    return texts.zip_with(~_stand_behind_apostrophes(texts), "'" + texts)


def unescape_formulas(texts: pl.Series) -> pl.Series:
    """Remove the apostrophes that `escape_formulas` added."""
    is_hidden = texts.str.starts_with("'").fill_null(False) & _stand_behind_apostrophes(texts)
    return texts.zip_with(~is_hidden, texts.str.slice(1))


def _stand_behind_apostrophes(texts: pl.Series) -> pl.Series:
    return are_formulas(texts.str.strip_chars_start("'"))


MEMORY_HINT: Final = (
    "anonymize takes engine='stream' (--engine stream); else give it fewer rows or columns, or more memory."
)
"""What to do where a table does not fit into memory."""

BYTES_PER_LINE: Final = 24.0
"""Bytes that each line of a text takes, until it is a table."""

_BYTES_PER_TEXT_BYTE: Final = 1.5  # bytes of memory that a table takes per byte of its text, and per cell
_BYTES_PER_CELL: Final = 16.0

DELIMITERS: Final = ",;\t|"
_SNIFFED_RECORDS: Final = 50
_HEAD_BYTES: Final = 1_000_000  # bytes looked at for the delimiter
_PIECE_BYTES: Final = 1 << 18  # bytes whose lines are found at a time: the arrays stay in the cache
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_VALUE: Final = re.compile(r"[+-]?[0-9][0-9.,:/ -]*")
"""Numbers and dates, which are seldom names."""
_LONGEST_LINE: Final = 100_000  # characters of a header without a record
_LONGEST_RECORD: Final = 2**27  # bytes, where a file is read piece by piece
_SEPARATOR: Final = re.compile(r'"?sep=([^"\r\n])"?\r?\n')
"""A first line by which Excel says how to split the others."""


def read_csv(path: Path, raw: bytes, dialect: Dialect) -> tuple[pl.DataFrame, Dialect]:
    """Read a CSV as text, an empty cell as missing; return it and its dialect, as far as that was looked for."""
    raw, encoding = as_utf8(path, raw, dialect.encoding)
    raw, dialect, first_line = _read_first_piece(path, raw, replace(dialect, encoding=encoding))
    raw = raw if raw.endswith(b"\n") else raw + b"\n"
    data = _read_records(path, raw, dialect, first_line=first_line)
    return _take_header(path, data, dialect)


def scan_csv(path: Path, dialect: Dialect) -> tuple[tuple[str, ...], Dialect, Iterator[pl.DataFrame]]:
    """Read a CSV as `read_csv` does, piece by piece: its columns, its dialect, and its records as they are asked for.

    Whether the first line is a record is judged by the first piece. What is wrong further on is told when that is read.
    """
    dialect = replace(dialect, encoding=dialect.encoding or encoding_of(path))
    pieces = _read_text_pieces(path, dialect)
    first, dialect, line = _read_first_piece(path, next(pieces, b""), dialect)
    head, dialect = _take_header(path, _read_records(path, first, dialect, first_line=line), dialect)
    # The dialect of the first piece holds for all: escaped names are read alike in every piece.
    return tuple(head.columns), dialect, _read_next_pieces(path, head, pieces, dialect, line + first.count(b"\n"))


def _read_next_pieces(
    path: Path, head: pl.DataFrame, pieces: Iterator[bytes], dialect: Dialect, line: int
) -> Iterator[pl.DataFrame]:
    """Yield the records of the first piece and those of the others."""
    yield head
    names = head.columns
    del head
    width = len(names) + bool(dialect.index)
    for raw in pieces:
        data = _read_records(path, raw, dialect, first_line=line, width=width)
        yield _name_columns(data, names, dialect)
        line += raw.count(b"\n")


def _read_text_pieces(path: Path, dialect: Dialect) -> Iterator[bytes]:
    """Yield the UTF-8 text of a file, cut at line ends outside quotes; the last piece ends with a newline."""
    buffer = b""
    for text in decode_pieces(path, dialect.encoding or "utf-8"):
        buffer += text.encode()
        end = _last_end(buffer)
        if end >= 0:
            yield buffer[: end + 1]
            buffer = buffer[end + 1 :]
        elif len(buffer) > _LONGEST_RECORD:
            raise InputError(
                f"a record of {str(path)!r} has more than {_LONGEST_RECORD:,} bytes: a quote is never closed, or it is "
                "not a CSV.",
                hint="quote cells that hold a quote and double it.",
            )
    if buffer:
        yield buffer + b"\n"


def _last_end(raw: bytes) -> int:
    """Return the position of the last line end outside quotes; -1 if there is none."""
    if b'"' not in raw:
        return raw.rfind(b"\n")
    letters = np.frombuffer(raw, dtype=np.uint8)
    ends = np.flatnonzero((letters == ord("\n")) & ~np.logical_xor.accumulate(letters == ord('"')))
    return int(ends[-1]) if len(ends) else -1


def _read_first_piece(path: Path, raw: bytes, dialect: Dialect) -> tuple[bytes, Dialect, int]:
    """Return a UTF-8 text from its header on, its dialect with the delimiter, and the number of the header's line."""
    # At least its first line; a character may be cut where it ends.
    text = raw[: max(_HEAD_BYTES, raw.find(b"\n") + 1)].decode(errors="ignore")
    separator = _SEPARATOR.match(text)
    if separator:
        text = text[separator.end() :]
        raw = raw[len(separator[0].encode()) :]
        dialect = replace(dialect, delimiter=dialect.delimiter or separator[1])
    _check_first_line(path, text)
    dialect = replace(dialect, delimiter=dialect.delimiter or _find_delimiter(path, text))
    return raw, dialect, 2 if separator else 1


def _read_records(
    path: Path, raw: bytes, dialect: Dialect, *, first_line: int, width: int | None = None
) -> pl.DataFrame:
    """Read and check records; without a width, each must have as many fields as the first one."""
    delimiter = dialect.delimiter or ","
    _check_room(path, raw, delimiter)
    layout = _find_lines(raw, delimiter, width)
    _check_layout(path, raw, layout, delimiter, first_line=first_line, has_header=width is None)
    data = _parse(_without_blank_lines(raw, layout), delimiter, layout.width)
    if data is None or len(data) != layout.n_records:
        n_read = 0 if data is None else len(data)
        raise InputError(
            f"only {n_read} of the {layout.n_records} records of {str(path)!r} can be read.",
            hint="check that it is a CSV, or write it anew.",
        )
    return data


def _take_header(path: Path, data: pl.DataFrame, dialect: Dialect) -> tuple[pl.DataFrame, Dialect]:
    """Take the column names from the first record; return the other records and the dialect."""
    header = [name or "" for name in data.row(0)]
    has_index = _has_index(path, header, dialect.index)
    header = header[1:] if has_index else header
    check_header(path, header)
    dialect = replace(dialect, index=has_index)
    data = _name_columns(data[1:], header, dialect)
    if dialect.formulas == "escape":
        data.columns = unescape_formulas(pl.Series(header, dtype=pl.String)).to_list()
    _check_not_a_record(path, data)
    return data, dialect


def _name_columns(data: pl.DataFrame, names: Sequence[str], dialect: Dialect) -> pl.DataFrame:
    """Return records under the column names, without an index column, and with escaped cells restored."""
    data = data[:, 1:] if dialect.index else data
    data.columns = list(names)
    return data.select(unescape_formulas(column) for column in data) if dialect.formulas == "escape" else data


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Where the lines of a CSV begin and end; a line break in quotes does not end a line."""

    starts: CountArray  # the first byte of each line
    ends: CountArray  # the newline of each line
    n_fields: CountArray
    is_blank: BoolArray  # lines that are no records; of a single column, an empty line is an empty cell
    stray: int | None  # the first byte that stands where it may not: only without one the rest holds
    width: int  # how many fields the first line of the file has

    @property
    def n_records(self) -> int:
        """How many records there are, the header included."""
        return len(self.starts) - int(self.is_blank.sum())


def _find_lines(raw: bytes, delimiter: str, width: int | None) -> _Layout:
    """Find the lines of a CSV, up to the first stray byte; behind an odd number of quotes a byte is quoted."""
    letters = np.frombuffer(raw, dtype=np.uint8)
    arrays: list[tuple[CountArray, ...]] = []
    begin, size, stray = 0, _PIECE_BYTES, None
    while begin < len(letters) and stray is None:
        piece = letters[begin : begin + size]
        is_quote = piece == ord('"')
        quoted = np.logical_xor.accumulate(is_quote) if is_quote.any() else is_quote
        is_end = (piece == ord("\n")) & ~quoted
        # The last newline ends the last line even if a quote is never closed.
        is_end[-1] |= begin + size >= len(letters)
        ends = np.flatnonzero(is_end)
        if not len(ends):
            size *= 2
            continue
        complete = slice(int(ends[-1]) + 1)
        piece, is_quote, quoted, is_end = piece[complete], is_quote[complete], quoted[complete], is_end[complete]
        is_return = piece == ord("\r")
        is_mark = is_end | ((piece == ord(delimiter)) & ~quoted)
        starts = np.append(0, ends[:-1] + 1)
        is_empty = (starts == ends) | ((starts + 1 == ends) & is_return[starts])
        arrays.append((starts + begin, ends + begin, np.diff(np.flatnonzero(is_end[is_mark]), prepend=-1), is_empty))
        stray = _first_stray(is_mark, is_quote, is_return, is_end, quoted)
        stray = None if stray is None else stray + begin
        begin, size = begin + complete.stop, _PIECE_BYTES
    starts, ends, n_fields, is_empty = (np.concatenate(each) for each in zip(*arrays, strict=True))
    width = int(n_fields[0]) if width is None else width
    return _Layout(starts, ends, n_fields, is_empty.astype(bool) & (width > 1), stray, width)


def _first_stray(
    is_mark: BoolArray, is_quote: BoolArray, is_return: BoolArray, is_end: BoolArray, quoted: BoolArray
) -> int | None:
    """Find the first misplaced quote or carriage return; up to there, it is known what is quoted."""
    quotes, returns = np.flatnonzero(is_quote), np.flatnonzero(is_return & ~quoted)
    # Outside quotes, a quote must touch a delimiter, a line end, or another quote.
    is_edge = np.concatenate(([True], is_mark | is_quote | is_return, [True]))
    strays = quotes[~np.where(quoted[quotes], is_edge[quotes], is_edge[quotes + 2])]
    never_closed = quotes[-1:] if quoted[-1] else quotes[:0]
    candidates = np.concatenate([strays[:1], never_closed, returns[~is_end[returns + 1]][:1]])
    return int(candidates.min()) if len(candidates) else None


def _check_layout(
    path: Path, raw: bytes, layout: _Layout, delimiter: str, *, first_line: int, has_header: bool
) -> None:
    """Raise InputError at the first position where polars would lose a record or a cell."""
    if layout.stray is not None:
        line = raw.count(b"\n", 0, layout.stray) + first_line
        if raw[layout.stray] == ord("\r"):
            raise InputError(
                f"line {line} of {str(path)!r} holds a carriage return that ends no line and is not in quotes.",
                hint="end every line with a newline, and quote cells that hold a line end.",
            )
        raise InputError(
            f"{str(path)!r} has unbalanced quotes from line {line} on, or is not a CSV.",
            hint="quote cells that hold a quote and double it, or pass another delimiter.",
        )
    ragged = np.flatnonzero((layout.n_fields != layout.width) & ~layout.is_blank)
    if len(ragged):
        line = raw.count(b"\n", 0, int(layout.starts[ragged[0]])) + first_line
        raise InputError(
            f"line {line} of {str(path)!r} has {layout.n_fields[ragged[0]]} fields, expected {layout.width}.",
            hint=_explain_field_counts(raw, layout, ragged, delimiter, has_header=has_header),
        )


def _explain_field_counts(raw: bytes, layout: _Layout, ragged: CountArray, delimiter: str, *, has_header: bool) -> str:
    """Return a hint about records with more or fewer fields than the header."""
    is_every_record = has_header and len(ragged) == layout.n_records - 1
    if not is_every_record or (layout.n_fields[ragged] != layout.width + 1).any():
        return "quote fields that hold the delimiter, or pass another delimiter."
    letters, ends = np.frombuffer(raw, dtype=np.uint8), layout.ends[ragged]
    # A line may end in a carriage return and a newline.
    last = np.where(letters[ends - 1] == ord("\r"), letters[ends - 2], letters[ends - 1])
    if (last == ord(delimiter)).all():
        return "every record ends with a delimiter, and the header does not: remove it from every record."
    return (
        "the header has one name fewer than every record, as R's write.table leaves it. "
        "Write it anew with row.names=FALSE, or col.names=NA."
    )


def _check_room(path: Path, raw: bytes, delimiter: str) -> None:
    """Raise InputError if a text does not fit into memory as a table: polars would end the process."""
    n_lines = raw.count(b"\n")
    n_cells = n_lines + raw.count(delimiter.encode())
    needed = _BYTES_PER_TEXT_BYTE * len(raw) + _BYTES_PER_CELL * n_cells + BYTES_PER_LINE * n_lines
    check_memory(needed, f"reading the {n_lines:,} lines of {str(path)!r}", MEMORY_HINT)


def _without_blank_lines(raw: bytes, layout: _Layout) -> bytes:
    """Remove blank lines: polars would make a record of each."""
    if not layout.is_blank.any():
        return raw
    kept = np.ones(len(raw), dtype=bool)
    # A blank line consists of its line end: one or two bytes.
    kept[layout.starts[layout.is_blank]] = False
    kept[layout.ends[layout.is_blank]] = False
    return np.frombuffer(raw, dtype=np.uint8)[kept].tobytes()


def _parse(raw: bytes, delimiter: str, width: int) -> pl.DataFrame | None:
    """Parse a CSV as text; None if polars fails: its message is dropped, because it may quote cells."""
    # Names of our own, so that odd ones never reach polars.
    schema = {str(position): pl.String for position in range(width)}
    try:
        return pl.read_csv(raw, separator=delimiter, has_header=False, schema=schema)
    except pl.exceptions.PolarsError:
        return None


def header_line(names: Sequence[str], delimiter: str) -> str:
    """Return the header line of a CSV; names with any delimiter are quoted, so that only the file's own splits it."""
    # A byte order mark at the beginning of the file is not part of a name.
    odd = (*DELIMITERS, '"', "\r", "\n", "\ufeff")
    quoted = ['"' + name.replace('"', '""') + '"' if any(sign in name for sign in odd) else name for name in names]
    return delimiter.join(quoted) + "\n"


def _find_delimiter(path: Path, text: str) -> str:
    """Choose the delimiter that splits the first records evenly into the most fields, with quotes only at edges."""
    if path.name.lower().removesuffix(".gz").endswith(".tsv") and "\t" in text.partition("\n")[0]:
        # The ending .tsv decides, even if another delimiter splits evenly.
        return "\t"
    even: dict[str, int] = {}
    for candidate in DELIMITERS:
        with _parse_records(text, candidate) as records:
            widths = {len(record) for record in itertools.islice(records, _SNIFFED_RECORDS) if record}
        if len(widths) == 1 and (width := widths.pop()) > 1:
            even[candidate] = width
    if not even:
        # The records are uneven: the header decides, and they are reported as ragged.
        first = text.partition("\n")[0]
        return max(DELIMITERS, key=first.count)
    if len(even) == 1:
        return next(iter(even))
    # A wrong delimiter leaves quotes within cells: these are stray.
    raw = f"{text}\n".encode()
    return max(even, key=lambda each: (_find_lines(raw, each, even[each]).stray is None, even[each]))


def _check_first_line(path: Path, text: str) -> None:
    if not text or text.startswith(("\n", "\r\n")):
        raise InputError(f"{str(path)!r} is empty.", hint="the first line must hold the column names.")
    first, newline, _ = text.partition("\n")
    # UTF-16 that is read as UTF-8 has line ends; most that is no text at all has none, or is read in too wide letters.
    if "\0" in first or (not newline and (_CONTROL.search(first) or len(first) > _LONGEST_LINE)):
        raise InputError(
            f"{str(path)!r} is no text, or of another encoding.", hint="pass its encoding, such as utf-16."
        )


def _has_index(path: Path, header: Sequence[str], declared: bool | None) -> bool:
    """Tell whether the first column is an index: the only one without a name, as pandas writes it."""
    looks = not header[0] and len(header) > 1 and all(name.strip() for name in header[1:])
    if declared and not looks:
        raise ColumnError(
            f"{str(path)!r} has no index: its first column has a name, or others have none.", hint="leave index out."
        )
    return looks and declared is not False


def _check_not_a_record(path: Path, data: pl.DataFrame) -> None:
    """Raise InputError if the first line is a person's record: its cells would be published as names."""
    if data.width < 2 or not any(_VALUE.fullmatch(name) for name in data.columns):
        return
    # pandas numbers unnamed columns: such a name is no cell, although small numbers may stand below it.
    n_alike = sum(
        bool((data[:, place] == name).any())
        for place, name in enumerate(data.columns)
        if name not in (str(place), str(place + 1))
    )
    if n_alike > 1 and 2 * n_alike >= data.width:
        raise InputError(
            f"the first line of {str(path)!r} looks like a record: {n_alike} of its {data.width} "
            "cells are found below.",
            hint="put the names of the columns into the first line.",
        )


def check_header(path: Path, header: Sequence[str], *, hint: str = "name every column in the first line.") -> None:
    """Raise ColumnError if a column has no name, or two have the same."""
    if not all(name.strip() for name in header):
        unnamed = [position for position, name in enumerate(header, 1) if not name.strip()]
        raise ColumnError(f"{str(path)!r} has no name for column {unnamed[0]}.", hint=hint)
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise ColumnError(
            f"{str(path)!r} has more than one column {quote_names(doubled)}.", hint="give every column its own name."
        )


@contextlib.contextmanager
def _parse_records(text: str, delimiter: str) -> Iterator[Iterator[list[str]]]:
    """Parse a CSV with the standard library, which is slow and takes any text."""
    limit = csv.field_size_limit(len(text) + 1)
    try:
        yield csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    finally:
        csv.field_size_limit(limit)
