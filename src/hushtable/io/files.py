"""Files of tables: which kinds there are, and how each is read and written."""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import polars as pl

from hushtable.errors import InputError, with_hint
from hushtable.io.csv.dialect import Dialect
from hushtable.io.csv.parsing import header_line, read_csv
from hushtable.io.excel import read_workbook

__all__ = ["FILE_KINDS", "MANIFEST", "Snapshot", "file_kind", "is_many", "read_bytes", "read_file", "write_csv"]

FILE_KINDS: Final = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
"""What is written, by the ending of the name."""

MANIFEST: Final = "_manifest.json"
"""The manifest of a folder; readers of folders pass over names that begin so."""

_MAGIC: Final = ((b"PAR1", "parquet"), (b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "workbook"))

Read = tuple[pl.DataFrame, bool, Dialect]
"""The cells, whether those of text want typing, and how the text was spelled."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What files were when a job first looked at them, so that every later pass can tell whether they changed.

    Attributes
    ----------
    states : mapping of path to tuple of int
        Device, inode, size in bytes, and time of the last change in nanoseconds.

    Examples
    --------
    >>> Snapshot.of([__file__]).check()
    """

    states: Mapping[Path, tuple[int, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, paths: Iterable[str | os.PathLike[str]]) -> Snapshot:
        """Look at files; OSError where one cannot be looked at."""
        return cls({Path(path): _state(path) for path in paths})

    def check(self, *paths: Path) -> None:
        """Compare some files, or all of them, with what they were.

        Raises
        ------
        InputError
            A file changed: which one, and what of it.
        """
        for path in paths or self.states:
            try:
                state = _state(path)
            except OSError:
                raise _changed(path, "it is gone or cannot be read") from None
            differing = [told for told, old, new in zip(_OF_STATE, self.states[path], state, strict=True) if old != new]
            if differing:
                raise _changed(path, differing[0])


_OF_STATE: Final = ("another file has its name", "another file has its name", "its size changed", "it was written to")


def _state(path: str | os.PathLike[str]) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _changed(path: Path, what: str) -> InputError:
    msg = with_hint(f"{str(path)!r} changed while it was read: {what}.", "protect a copy that nobody writes to.")
    return InputError(msg)


def file_kind(path: Path) -> str:
    """Tell from a file's name whether it is written as ``"csv"`` or ``"parquet"``."""
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise _unknown(path, f"use one of {' '.join(FILE_KINDS)}.")
    return kind


def is_many(path: Path) -> bool:
    """Tell whether a path is that of a folder, or a pattern."""
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def read_file(path: Path, dialect: Dialect) -> Read:
    """Read a file by the ending of its name.

    Raises
    ------
    InputError, ColumnError
        As `hushtable.io.frames.read`.
    """
    if is_many(path):
        msg = with_hint(
            f"cannot read {str(path)!r} into memory: it is a folder or a pattern.",
            "anonymize takes both (without engine='memory'), verify takes folders; elsewhere pass one file, or a Table "
            "of their distinct rows: collapse(polars.scan_parquet(...), columns).",
        )
        raise InputError(msg)
    name = path.name.lower()
    kind = FILE_KINDS.get(Path(name.removesuffix(".gz")).suffix)
    if "\0" in name:
        raise InputError(with_hint(f"cannot read {str(path)!r}: no file has such a name.", "check the name."))
    if name.endswith(".gz") and kind == "csv":
        kind = "gzip"
    elif name.endswith(".xlsx"):
        kind = "workbook"
    elif kind is None or name.endswith(".gz"):
        raise _unknown(path, f"use one of {' '.join(FILE_KINDS)} .xlsx, or .csv.gz .tsv.gz .txt.gz.")
    try:
        if kind == "parquet":
            # Opened here: as a name it would be a pattern, or a folder of files.
            with path.open("rb") as file:
                return _parquet(path, file, dialect)
        return _read(path, path.read_bytes(), kind, dialect)
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror or type(error).__name__}."
        raise InputError(with_hint(message, "check the name and that you may read the file.")) from None


def read_bytes(raw: bytes, name: str, dialect: Dialect) -> Read:
    """Read what is in no file of a name, such as a stream: what kind it is, its first bytes say."""
    kind = next((kind for magic, kind in _MAGIC if raw.startswith(magic)), "csv")
    path = Path(name)
    return _parquet(path, io.BytesIO(raw), dialect) if kind == "parquet" else _read(path, raw, kind, dialect)


def write_csv(
    parts: Iterable[pl.DataFrame], names: Sequence[str], file: IO[bytes], delimiter: str, encoding: str
) -> None:
    """Write the parts of a table, one below the other, as a CSV in an encoding that has all its characters."""
    if encoding == "utf-8":
        file.write(header_line(names, delimiter).encode())
        for part in parts:
            part.write_csv(file, separator=delimiter, include_header=False)
        return
    # One encoder for all of it, because an encoding may begin with a mark.
    encoder = codecs.getincrementalencoder(encoding)()
    file.write(encoder.encode(header_line(names, delimiter)))
    for part in parts:
        file.write(encoder.encode(part.write_csv(separator=delimiter, include_header=False)))
    file.write(encoder.encode("", final=True))


def _read(path: Path, raw: bytes, kind: str, dialect: Dialect) -> Read:
    if kind == "workbook":
        return read_workbook(path, raw), True, dialect
    cells, dialect = read_csv(path, _unzipped(path, raw) if kind == "gzip" else raw, dialect)
    return cells, True, dialect


def _parquet(path: Path, file: Any, dialect: Dialect) -> Read:
    try:
        return pl.read_parquet(file), False, dialect.marks
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Polars panics over some damage.
        msg = with_hint(f"{str(path)!r} is not a Parquet file.", "check the ending: a CSV is named .csv.")
        raise InputError(msg) from None


def _unzipped(path: Path, raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        msg = with_hint(f"{str(path)!r} is not gzip, or was cut off or damaged.", "compress it anew, or unpack it.")
        raise InputError(msg) from None


def _unknown(path: Path, hint: str) -> InputError:
    return InputError(with_hint(f"cannot tell the format of {str(path)!r} from its ending {path.suffix!r}.", hint))
