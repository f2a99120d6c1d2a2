"""Synthesizers of other packages: the installed entry points of the group ``hushtable.synthesizers``."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from hushtable.errors import InputError, listed, with_hint
from hushtable.io import Frame, frames

__all__ = ["GROUP", "Installed", "installed"]

GROUP: Final = "hushtable.synthesizers"

Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class Installed:
    """A synthesizer of another package; a subclass for each knows its entry point.

    What the entry point loads is a class, made without arguments, with ``fit(table, seed)``, which gets a polars
    frame of typed values, and ``sample(n, seed)``, which returns an eager dataframe of the same columns.
    """

    name: ClassVar[str] = ""
    entry: ClassVar[importlib.metadata.EntryPoint]

    def sample(self, table: Any, n: int, seed: int) -> Frame:
        """Return n new records, the columns in the order of the table's.

        Raises
        ------
        InputError
            It is no such class, or what it returns has other columns or another number of rows.
        """
        synthesizer = self._made()
        try:
            synthesizer.fit(table, seed)
            drawn = synthesizer.sample(n, seed)
        except Exception as error:
            # Its message may hold what it was given.
            self._refuse(f"failed: {type(error).__name__}.")
        found = self.written(frames.read, drawn)
        lacking, more = {*table.columns} - {*found.columns}, {*found.columns} - {*table.columns}
        if lacking or more:
            self._refuse(f"lacks {len(lacking)} columns ({listed(sorted(lacking))}) and adds {len(more)}.")
        if found.n_rows != n:
            self._refuse(f"returned {found.n_rows} rows instead of {n}.")
        return found.select(table.columns)

    @classmethod
    def fingerprint(cls) -> str:
        """Tell its code from that of another version: the package's version, and a hash of the module's file."""
        package = "" if cls.entry.dist is None else f"{cls.entry.dist.name} {cls.entry.dist.version}"
        found = importlib.util.find_spec(cls.entry.module)
        place = None if found is None or found.origin is None else Path(found.origin)
        code = hashlib.sha256(place.read_bytes()).hexdigest() if place is not None and place.is_file() else ""
        return f"{package} {code}"

    def written(self, write: Callable[[Any], Written], found: Any) -> Written:
        """Return what is made of a table that it returned, and say whose table it was where that cannot be."""
        try:
            return write(found)
        except InputError as error:
            self._refuse(f"returned a table that cannot be used: {str(error).splitlines()[0]}")

    def _made(self) -> Any:
        try:
            made = self.entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            self._refuse(f"cannot be made: {error}.")
        if not all(callable(getattr(made, verb, None)) for verb in ("fit", "sample")):
            self._refuse("cannot fit and sample.")
        return made

    def _refuse(self, problem: str) -> NoReturn:
        message = f"the synthesizer {self.name!r} of the entry point {self.entry.value!r} {problem}"
        hint = "it is a class made without arguments, with fit(table, seed) and sample(n, seed), which returns n rows."
        raise InputError(with_hint(message, hint)) from None


def installed() -> dict[str, type[Installed]]:
    """Return the synthesizers of other packages by their names."""
    return {
        entry.name: type("Installed", (Installed,), {"name": entry.name, "entry": entry})
        for entry in importlib.metadata.entry_points(group=GROUP)
    }
