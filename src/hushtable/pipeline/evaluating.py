"""What every evaluator of a pipeline has: a word for it, limits, and a look at tables."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from hushtable.io import Frame, frames
from hushtable.pipeline.results import Evaluation, NamedFiles, Tables
from hushtable.policy import Record

__all__ = ["Evaluator", "Limit", "read_beside"]

# Above a NaN nothing is; and True is no number.
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
            msg = f"limit names {odd[0]!r}; {allowed}"
            raise ValueError(msg)
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


def read_beside(path: Path, original: Frame) -> Frame:
    """Read a table of other people as the originals are read."""
    return frames.read(path, dialect=original.dialect.marks).told(original.specs)
