"""The synthesizers that are here, by name, and what one has to be.

Synthesizers of other packages: the installed entry points of the group ``hushtable.synthesizers``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, Protocol, TypeVar, get_args, runtime_checkable

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.errors import InputError, listed, with_hint
from hushtable.io import Frame, frames
from hushtable.models import entries
from hushtable.synthesizers import copula
from hushtable.synthesizers.writing import ValueSource, within
from hushtable.tables import Table

__all__ = ["GROUP", "METHODS", "Bootstrap", "Copula", "Independent", "Installed", "Method", "installed", "register"]


@runtime_checkable
class Method(Protocol):
    """A way to draw new records; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]
    """As it is written: ``"copula"``."""

    @property
    def values(self) -> ValueSource:
        """Whether numbers and times may lie between those of two records."""
        ...

    def places(self, table: Table, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw new records: for each a place in the line of every column, shape (n_columns, n)."""
        ...


METHODS: Final[dict[str, type[Method]]] = {}
"""Every synthesizer by the name that it is asked for by."""

SynthesizerT = TypeVar("SynthesizerT", bound=Method)


def register(method: type[SynthesizerT]) -> type[SynthesizerT]:
    """Make a synthesizer known by its name; usable as a decorator.

    Raises
    ------
    InputError
        Another synthesizer has that name.
    """
    entries.register(method, METHODS, "synthesizer")
    return method


@register
@dataclass(frozen=True, slots=True)
class Copula:
    """Columns as they are, and of each pair of them how their orders go together: a Gaussian copula.

    Attributes
    ----------
    values : {"interpolated", "observed"}
        Whether numbers, dates and moments may lie between those of two records next to one another, rounded
        and written as the column's own. ``"observed"`` publishes values that people have: the greatest income too.

    Notes
    -----
    A normal variable behind each column, of which a cell tells the range. The correlations are estimated
    from the means of the variables within cells (a first-order correction for what cells do not tell); see
    `hushtable.synthesizers.copula`. Categories get an order by optimal scaling. What three columns do together, and
    what is not monotone in two, is lost.
    """

    name: ClassVar[str] = "copula"
    values: ValueSource = "interpolated"

    def __post_init__(self) -> None:
        _check_values(self.values)

    def places(self, table: Table, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw places that go together as the columns do."""
        codes = table.codes + np.int32(1)
        lines = copula.lines(codes, table.counts, [column.kind == "category" for column in table.columns])
        correlation = copula.nearest_correlations(copula.correlations(codes, table.counts, lines))
        drawn = np.empty((len(lines), n))
        for rows, places in copula.places(correlation, lines, n, rng):
            drawn[:, rows] = places
        return drawn


@register
@dataclass(frozen=True, slots=True)
class Independent:
    """Columns as they are, and nothing of what they say of one another.

    Attributes
    ----------
    values : {"interpolated", "observed"}
        As for `Copula`.
    """

    name: ClassVar[str] = "independent"
    values: ValueSource = "interpolated"

    def __post_init__(self) -> None:
        _check_values(self.values)

    def places(self, table: Table, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw every cell for itself."""
        return np.array([within(rng.random(n), table.n_records) for _ in table.columns])


@register
@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Whole records, drawn with replacement: it gives everything away, so that others can be compared to it.

    Attributes
    ----------
    values : {"observed"}
        No option: records are copied.
    """

    name: ClassVar[str] = "bootstrap"
    values: ClassVar[ValueSource] = "observed"

    def places(self, table: Table, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw records, and return where each stands in the line of every column."""
        records = rng.integers(table.n_records, size=n)
        return np.array([_stands(table, j)[records] + 0.5 for j in range(len(table.columns))])


def _stands(table: Table, j: int) -> CountArray:
    """Return where each record stands in the line of a column; equal ones as they follow one another."""
    codes = np.repeat(table.codes[j], table.counts)
    stands = np.empty(len(codes), dtype=np.int64)
    stands[np.argsort(codes, kind="stable")] = np.arange(len(codes))
    return stands


def _check_values(values: str) -> None:
    if values not in get_args(ValueSource):
        msg = with_hint(f"values = {values!r}.", "choose 'interpolated' or 'observed'.")
        raise InputError(msg)


GROUP: Final = "hushtable.synthesizers"

WrittenT = TypeVar("WrittenT")


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

    def written(self, write: Callable[[Any], WrittenT], found: Any) -> WrittenT:
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
