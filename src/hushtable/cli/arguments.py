"""Arguments that several commands take, and what becomes of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushtable.errors import InputError, with_hint

if TYPE_CHECKING:
    from hushtable.frames import Frame

__all__ = [
    "AsJson",
    "Delimiter",
    "Domains",
    "Encoding",
    "Force",
    "InFile",
    "PolicyFile",
    "Population",
    "Threads",
    "frame_of",
    "names_of",
    "numbers_of",
    "set_threads",
]

InFile = Annotated[Path, typer.Argument(metavar="FILE", help="CSV or Parquet.", show_default=False)]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Population = Annotated[
    Path | None,
    typer.Option(help="The people among whom the records are, for k-map and delta-presence.", show_default=False),
]
Domains = Annotated[
    Path | None, typer.Option(help="Hierarchies, a line `Column/node: value, value` each.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Encoding = Annotated[str, typer.Option(help="Encoding of a CSV.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a CSV; found when not given.", show_default=False)]


Threads = Annotated[int | None, typer.Option(min=1, help="Cores to use; those of the process.", show_default=False)]


def set_threads(threads: int | None) -> None:
    """Say how many threads may be used; before any library is loaded that asks."""
    if threads is not None:
        os.environ["HUSHTABLE_THREADS"] = os.environ["POLARS_MAX_THREADS"] = str(threads)


def names_of(option: str) -> list[str]:
    """Return the column names of an option like ``A,B``."""
    return [name.strip() for name in option.split(",") if name.strip()]


def numbers_of(option: str) -> dict[str, float]:
    """Read an option of the form A=20,B=0."""
    found = {}
    for entry in names_of(option):
        name, _, number = entry.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            msg = with_hint(f"{entry!r} is not of the form COLUMN=NUMBER.", "for instance: --weights job=20,age=0.")
            raise InputError(msg)
    return found


def frame_of(path: Path | None, encoding: str, delimiter: str | None) -> Frame | None:
    """Read a file that may not have been given."""
    from hushtable import frames

    return None if path is None else frames.read(path, encoding=encoding, delimiter=delimiter)
