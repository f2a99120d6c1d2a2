"""Arguments that several commands take, and what becomes of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from hushtable.cli.terminal import tell
from hushtable.errors import InputError, with_hint

if TYPE_CHECKING:
    from hushtable.io import Dialect, Frame

__all__ = [
    "AsJson",
    "Delimiter",
    "Domains",
    "Encoding",
    "External",
    "Force",
    "InFile",
    "KeepOrder",
    "KeyFile",
    "PolicyFile",
    "PopulationOption",
    "Threads",
    "Verbose",
    "WithCodebook",
    "amounts_of",
    "check_effects",
    "frame_of",
    "names_of",
    "numbers_of",
    "outputs_of",
    "place_of",
    "precision_of",
    "table_of",
    "use_threads",
]

Given = TypeVar("Given")

_STREAM: Final = Path("-")

InFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Table to read: CSV (also .gz), Parquet or Excel; - reads standard input.",
        show_default=False,
    ),
]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print everything, not only twelve lines.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
PopulationOption = Annotated[
    Path | None,
    typer.Option(help="Table of the population, for k-map and delta-presence.", show_default=False),
]
Domains = Annotated[
    Path | None, typer.Option(help="File of hierarchies, a line `Column/node: value, value` each.", show_default=False)
]
KeepOrder = Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")]
External = Annotated[bool, typer.Option("--external", help="Write a manifest that may be published.")]
WithCodebook = Annotated[
    bool, typer.Option("--codebook/--no-codebook", help="Write a codebook: what the columns and labels mean.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="File that holds the secret key for pseudonyms, 16 bytes or more.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the CSV. Default: found.", show_default=False)]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of the CSV. Default: found.", show_default=False)]


Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Threads to use. Default: the number of cores, at most 8.",
        show_default=False,
    ),
]


def outputs_of(output: Path, *, codebook: bool) -> tuple[Path, ...]:
    """Return the files that a release is written to."""
    from hushtable.io import frames
    from hushtable.release import codebook_paths, manifest

    frames.file_kind(output)
    return (output, manifest.manifest_path(output), *(codebook_paths(output) if codebook else ()))


def use_threads(n_threads: int | None) -> None:
    """Let the searches and polars use so many threads; polars listens only before it is imported."""
    from hushtable.search import THREADS

    if n_threads is not None:
        os.environ[THREADS] = os.environ["POLARS_MAX_THREADS"] = str(n_threads)


def check_effects(
    given: Mapping[str, bool], needs: Mapping[str, Sequence[str]], excludes: Mapping[str, Sequence[str]]
) -> None:
    """Raise InputError for an option that would do nothing.

    Options that are given, of each the others of which it needs one, and of each those that mean nothing beside it.
    """
    for option, others in needs.items():
        if given[option] and not any(given[other] for other in others):
            msg = f"{option} has no effect without {' or '.join(others)}."
            raise InputError(with_hint(msg, "give that too, or leave it out."))
    for option, others in excludes.items():
        for other in others:
            if given[option] and given[other]:
                msg = f"{other} has no effect with {option}."
                raise InputError(with_hint(msg, "leave one of the two out."))


def precision_of(
    option: str, text: str, read: Callable[[str], Given], value: str
) -> str | Given | dict[str, Given] | None:
    """Read a precision: "auto", "exact" (None), one for all columns, or A=one,B=another."""
    if text in ("auto", "exact"):
        return None if text == "exact" else "auto"
    try:
        if "=" not in text:
            return read(text)
        entries = [entry.rpartition("=") for entry in names_of(text)]
        if len({name for name, _, _ in entries if name}) < len(entries):
            raise ValueError
        return {name: read(each) for name, _, each in entries}
    except ValueError:
        msg = with_hint(f"{option} {text!r} is not understood.", f"auto, exact, {value}, or COLUMN={value},...")
        raise InputError(msg) from None


def names_of(option: str) -> list[str]:
    """Return the column names of an option like ``A,B``."""
    return [name.strip() for name in option.split(",") if name.strip()]


def numbers_of(option: str, form: str = "COLUMN=NUMBER", example: str = "--weights job=20,age=0") -> dict[str, float]:
    """Read an option of the form A=20,B=0."""
    numbers = {}
    for entry in names_of(option):
        name, _, number = entry.rpartition("=")
        if name in numbers:
            raise InputError(with_hint(f"{entry!r} stands beside another of {name!r}.", "keep one of them."))
        try:
            numbers[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            msg = with_hint(f"{entry!r} is not of the form {form}.", f"for instance: {example}.")
            raise InputError(msg)
    return numbers


def amounts_of(option: str, given: str) -> dict[str, str]:
    """Read how far columns may be from the truth: A=14D,B=1."""
    amounts = {}
    for entry in names_of(given):
        name, _, amount = entry.rpartition("=")
        if not name or name in amounts:
            msg = f"{option} {entry!r} {'stands beside another of it' if name else 'is not of the form COLUMN=AMOUNT'}."
            raise InputError(with_hint(msg, f"for instance: {option} date=14D,stars=1."))
        amounts[name.strip()] = amount.strip()
    return amounts


def frame_of(path: Path | None, encoding: str | None, delimiter: str | None) -> Frame | None:
    """Read a file that may not have been given."""
    from hushtable.io import frames

    return None if path is None else _told(frames.read(path, encoding=encoding, delimiter=delimiter), path)


def dialect_of(encoding: str | None, delimiter: str | None, known: Dialect | None = None) -> Dialect:
    """Return how a table is spelled: as options say, else as is known."""
    from hushtable.io import Dialect

    known = known or Dialect()
    return replace(known, encoding=encoding or known.encoding, delimiter=delimiter or known.delimiter)


def table_of(file: Path, encoding: str | None, delimiter: str | None, known: Dialect | None = None) -> Frame:
    """Read the table that a command is about: a file, or what comes in."""
    from hushtable.io import frames

    dialect = dialect_of(encoding, delimiter, known)
    if file != _STREAM:
        return _told(frames.read(file, dialect=dialect), file)
    return _told(frames.read_stream(sys.stdin.buffer.read(), "stdin", dialect), file)


def place_of(file: Path) -> Path:
    """Return the file that a command reads, for whoever must not write over it; a stream may come from one, too."""
    return Path("/dev/stdin") if file == _STREAM else file


def _told(frame: Frame, file: Path) -> Frame:
    if frame.dialect.index:
        tell(f"{file}: its first column has no name; left out, as an index.")
    return frame
