"""CSV as text: every record checked, no cell ever shown.

Polars parses; the standard library's slower reader says where a file is irregular,
which polars passes over: short records, an empty field too many, stray quotes.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from hushtable.errors import ColumnError, InputError, listed, with_hint

__all__ = ["read_csv", "unreadable"]

DELIMITERS: Final = ",;\t|"
_SNIFFED_RECORDS: Final = 50
_HEAD: Final = 1_000_000  # characters looked at for the delimiter and the column names


def read_csv(path: Path, encoding: str, delimiter: str | None) -> tuple[pl.DataFrame, str]:
    """Read a CSV as text, an empty cell as missing; return it and its delimiter.

    Raises
    ------
    InputError, ColumnError
        As `hushtable.frames.read`.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    text = _decode(path, raw, encoding)
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
        msg = with_hint(f"the delimiter {delimiter!r} is not one character.", "use one of , ; | or a tab.")
        raise InputError(msg)
    head = text[:_HEAD]
    delimiter = delimiter or _find_delimiter(head)
    with _records(head, delimiter) as records:
        header = next(records, [])
    _check_header(path, header)
    raw = text.encode()
    data = _parse(raw, delimiter, header)
    if data is None or not _is_regular(raw, delimiter, len(header)):
        blank = _check_records(path, text, delimiter, len(header))
        if data is None:
            raise _unbalanced(path, 1)
        if blank and len(header) > 1:
            data = data[np.setdiff1d(np.arange(len(data)), blank)]
    return data, delimiter


def _parse(raw: bytes, delimiter: str, header: list[str]) -> pl.DataFrame | None:
    """Parse a CSV as text; None where polars cannot, whose own message may quote cells and is kept from sight."""
    try:
        # With our own header, so that odd names never reach polars.
        return pl.read_csv(raw, separator=delimiter, infer_schema=False, new_columns=header)
    except pl.exceptions.PolarsError:
        return None


def unreadable(path: Path, error: OSError) -> InputError:
    """Make the error of a file that cannot be opened."""
    message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
    return InputError(with_hint(message, "check the name and that you may read the file."))


def _decode(path: Path, raw: bytes, encoding: str) -> str:
    bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    try:
        return raw[len(bom) :].decode(encoding)
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            at = len(bom) + error.start
            msg = with_hint(
                f"byte {at} of {str(path)!r} is not {encoding} (line {raw.count(10, 0, at) + 1}).",
                "pass the file's encoding, for instance latin-1, cp1252 or utf-16.",
            )
            raise InputError(msg) from None
        msg = with_hint(f"unknown encoding {encoding!r}.", "use a name such as utf-8, latin-1, cp1252 or utf-16.")
        raise InputError(msg) from None


def _find_delimiter(text: str) -> str:
    """Choose the delimiter that splits the first records into the most fields, evenly."""
    best, most = ",", 1
    for candidate in DELIMITERS:
        with _records(text, candidate) as records:
            widths = {len(record) for record in itertools.islice(records, _SNIFFED_RECORDS) if record}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = candidate, width
    if most == 1:
        # No candidate is even: the header alone decides, and the records are then reported as ragged.
        first = text.partition("\n")[0]
        best = max(DELIMITERS, key=first.count)
    return best


def _check_header(path: Path, header: Sequence[str]) -> None:
    if not header:
        msg = with_hint(f"{str(path)!r} is empty.", "the first line must hold the column names.")
        raise InputError(msg)
    if not all(name.strip() for name in header):
        unnamed = [position for position, name in enumerate(header, 1) if not name.strip()]
        msg = with_hint(f"{str(path)!r} has no name for column {unnamed[0]}.", "name every column in the first line.")
        raise ColumnError(msg)
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        msg = with_hint(f"{str(path)!r} has more than one column {listed(doubled)}.", "give every column its own name.")
        raise ColumnError(msg)


def _is_regular(raw: bytes, delimiter: str, width: int) -> bool:
    """Tell whether every record of a CSV has the right number of fields, and quotes only where they must be.

    Polars does not check: it fills short records, passes over an empty field too many, and drops what follows
    a stray quote. A quote opens and closes in turn, so a byte is quoted where the number before it is odd.
    """
    letters = np.frombuffer(raw, dtype=np.uint8)
    is_quote = letters == ord('"')
    quoted = np.logical_xor.accumulate(is_quote) if is_quote.any() else is_quote
    is_end = (letters == ord("\n")) & ~quoted
    is_delimiter = (letters == ord(delimiter)) & ~quoted
    ends, delimiters = np.flatnonzero(is_end), np.flatnonzero(is_delimiter)
    if not raw.endswith(b"\n"):
        ends = np.append(ends, len(raw))
    if len(delimiters) != len(ends) * (width - 1):
        return False
    if width > 1:
        by_record = delimiters.reshape(-1, width - 1)
        if (by_record[:, -1] > ends).any() or (by_record[1:, 0] < ends[:-1]).any():
            return False
    # Outside quotes, a quote may only stand beside a delimiter, the end of a line, or another quote.
    is_edge = np.concatenate(([True], is_delimiter | is_end | is_quote | (letters == ord("\r")), [True]))
    at = np.flatnonzero(is_quote)
    fits = np.where(quoted[at], is_edge[at], is_edge[at + 2])
    return bool(fits.all()) and not (len(quoted) and quoted[-1])


def _check_records(path: Path, text: str, delimiter: str, width: int) -> list[int]:
    """Raise InputError at the first irregular record; return the positions of blank lines among the records."""
    blank: list[int] = []
    line = 1
    try:
        with _records(text, delimiter, strict=True) as records:
            for position, record in enumerate(records, -1):
                if not record:
                    blank.append(position)
                elif len(record) != width:
                    msg = with_hint(
                        f"line {line} of {str(path)!r} has {len(record)} fields, expected {width}.",
                        "quote fields that hold the delimiter, or pass another delimiter.",
                    )
                    raise InputError(msg)
                line += 1 + sum(cell.count("\n") for cell in record)
    except csv.Error:
        raise _unbalanced(path, line) from None
    return blank


def _unbalanced(path: Path, line: int) -> InputError:
    message = f"{str(path)!r} has unbalanced quotes from line {line} on, or is not a CSV."
    return InputError(with_hint(message, "check the quoting, or pass another delimiter."))


@contextlib.contextmanager
def _records(text: str, delimiter: str, *, strict: bool = False) -> Iterator[Iterator[list[str]]]:
    """Parse a CSV with the standard library, which tells blank lines and short records apart; slow."""
    limit = csv.field_size_limit(len(text) + 1)
    try:
        yield csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    finally:
        csv.field_size_limit(limit)
