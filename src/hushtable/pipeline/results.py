"""What the steps of a pipeline hand on: tables, what evaluators find in them, and what every evaluator has."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Protocol

from pydantic import Field, field_validator

from hushtable.columns import to_json_values
from hushtable.errors import InputError
from hushtable.io import Frame, frames
from hushtable.policy import LimitedFigure, Record, find_failures

Columns = Mapping[str, Sequence[Any]]
"""A table of results: columns of one length, of plain values."""

_EMPTY_MAPPING: Final[Mapping[str, Any]] = MappingProxyType({})


class NamedFiles(Protocol):
    """Where the files are that a pipeline names."""

    def find(self, path: str) -> Path:
        """Return where a file is; InputError where it is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of one line of experiments, as they are after a step.

    Attributes
    ----------
    current : Frame
        What the next step works on.
    original : Frame, optional
        The people whom `current` is, or was made from; None where only a made-up table was given.
    control : Frame, optional
        People who were kept out.
    is_derived : bool
        Whether `current` was synthesized, or protected.
    protected : Frame, optional
        Of a protected table: what it was made from.
    release : path, optional
        Of a protected table: the verified file, its manifest and its codebook beside it.
    removed : tuple of str
        Columns that a release left out: `current` has none of them, and is compared without them.
    redraw : callable, optional
        Of a synthesized table: draws so many more rows, anew for each number of a trial.
    counts : mapping
        What steps counted, for the global report: rows left out.
    """

    current: Frame
    original: Frame | None = None
    control: Frame | None = None
    is_derived: bool = False
    protected: Frame | None = None
    release: Path | None = None
    removed: tuple[str, ...] = ()
    redraw: Callable[[int, int], Frame] | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: _EMPTY_MAPPING)

    def check_made(self) -> None:
        """Raise InputError where `current` are the originals themselves, which are as like them as can be."""
        if not self.is_derived:
            raise InputError(
                "there is no synthetic or protected table to compare.", hint="add a Synthesizer or Anonymizer."
            )

    @property
    def people(self) -> Frame:
        """The originals, as far as `current` may be compared with them; InputError if there are none."""
        if self.original is None:
            raise InputError(
                "there is no table of originals to compare with.", hint="add a Loader with their filepath."
            )
        return self.original.drop(self.removed)


def measures_path(release: Path) -> Path:
    """Return where it is kept what a Perturber measured of its release."""
    return release.with_name(f"{release.name}.measures.json")


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluator or describer found.

    Attributes
    ----------
    tables : mapping of granularity to columns
        The one of ``"columnwise"`` has a column ``column``, that of ``"pairwise"`` ``column1`` and ``column2``.
    judged : mapping
        What limits are held against, where that is more than the figures of the whole.
    """

    tables: Mapping[str, Columns]
    judged: Mapping[str, Any] = field(default_factory=lambda: _EMPTY_MAPPING)

    @classmethod
    def from_tables(cls, tables: Mapping[str, Columns], judged: Mapping[str, Any] = _EMPTY_MAPPING) -> Evaluation:
        """Build an evaluation from plain values, normalized so that a saved one reads back equal."""
        plain = {
            granularity: {name: [*map(_to_csv_cell, cells)] for name, cells in columns.items()}
            for granularity, columns in tables.items()
        }
        return cls(plain, to_json_values(judged))

    @classmethod
    def from_figures(
        cls,
        figures: Mapping[str, Any],
        tables: Mapping[str, Columns] = _EMPTY_MAPPING,
        judged: Mapping[str, Any] = _EMPTY_MAPPING,
    ) -> Evaluation:
        """Build an evaluation from the figures of the whole table, and further tables."""
        return cls.from_tables({"global": {name: [cell] for name, cell in figures.items()}, **tables}, judged)

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the whole."""
        return {name: cells[0] for name, cells in self.tables.get("global", {}).items()}

    def to_json(self) -> str:
        """Write it."""
        return json.dumps([self.tables, dict(self.judged)], ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Evaluation:
        """Read it again."""
        return cls(*json.loads(text))


def _to_csv_cell(cell: Any) -> Any:
    """Return a cell as a CSV has it: no lists, and nothing where a number is not defined."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else str(cell)
    if isinstance(cell, (list, tuple)):
        return str(tuple(cell))
    if isinstance(cell, Mapping):
        return json.dumps(cell, ensure_ascii=False)
    return cell


# NaN compares with nothing, and True is not a number.
Limit = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Evaluator(Record):
    """Parameters of an evaluator, and how it evaluates.

    Attributes
    ----------
    limit : dict of figure to float
        What figures of its global report may be at most; one that is above, or not known, makes the run fail.
    """

    figures: ClassVar[tuple[str, ...]] = ()
    """Figures that a limit may name."""

    method: str
    limit: dict[str, Limit] = Field(default_factory=dict)

    @field_validator("limit")
    @classmethod
    def _names_figures(cls, limit: dict[str, float]) -> dict[str, float]:
        odd = [name for name in limit if name not in cls.figures]
        if odd:
            allowed = f"it may name {', '.join(cls.figures)}" if cls.figures else "this method has no figure to limit"
            raise ValueError(f"limit names {odd[0]!r}; {allowed}")
        return limit

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the files that it reads."""
        return ()

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Look at tables; of what takes long, only the granularities that are wanted are made."""
        raise NotImplementedError

    def failures(self, found: Evaluation) -> list[str]:
        """Say what makes the run fail."""
        return []


class ComparingEvaluator(Evaluator):
    """Parameters of an evaluator that compares with people who were kept out: by a Splitter, or in a file."""

    control: str | None = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the control's file."""
        return () if self.control is None else (files.find(self.control),)

    def find_control(self, tables: Tables, files: NamedFiles) -> Frame | None:
        """Return the people who were kept out, as far as they may be compared with `Tables.current`."""
        control = tables.control if self.control is None else read_beside(files.find(self.control), tables.people)
        return None if control is None else control.drop(tables.removed)


def entries_of(parameters: Record, *names: str) -> dict[str, Any]:
    """Return some fields of a record as keyword options of a function."""
    return {name: getattr(parameters, name) for name in names}


def broken_limits(
    limits: Mapping[str, float], figures: Mapping[str, Any], what: str, doubts: Mapping[str, str] = _EMPTY_MAPPING
) -> list[str]:
    """Describe the limits that figures exceed; an unknown figure counts as above its limit."""
    known = {name: figures.get(name) for name in limits}
    limited = {
        name: LimitedFigure(math.nan if value is None else value, what, doubts.get(name, ""))
        for name, value in known.items()
    }
    return [each["because"] for each in find_failures(limited, limits)]


def read_beside(path: Path, original: Frame) -> Frame:
    """Read a table of other people, the way the originals are read."""
    return frames.read(path, dialect=original.dialect.marks).with_specs(original.specs)
