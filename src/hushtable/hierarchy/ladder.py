"""What a rule makes of a column: the levels between its values and ``*``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import HierarchyError


class Level(NamedTuple):
    """One level of a ladder: the node of every value, and each node's label and share."""

    codes: CodeArray
    labels: tuple[str, ...]
    shares: FloatArray | None = None  # None: of the listed leaves
    siblings: CountArray | None = None  # how many nodes each node's parent has under it; None: as many as there are


class Ladder(NamedTuple):
    """What a rule makes of a column: the levels between the values and ``*``."""

    levels: list[Level]
    leaf_share: float | None = None  # of one value; None: one of the listed leaves
    lowest: CodeArray | None = None  # the lowest level that each value may be published at; None: itself


@runtime_checkable
class Rule(Protocol):
    """A rule that turns a column's values into a ladder."""

    name: ClassVar[str]

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the levels of a column; ``counts`` are the records of each value."""

    def titles(self, n_levels: int) -> list[str]:
        """Say in a word or two what each level between the values and ``*`` is."""


class NoLevels:
    """Base of rules with nothing between the values and ``*``."""

    __slots__ = ()

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return no level."""
        return Ladder([])

    def titles(self, n_levels: int) -> list[str]:
        """Return nothing."""
        return []


@dataclass(frozen=True, slots=True, eq=False)
class NamedSets(NoLevels):
    """What labels hold that name any sets of values, which need not nest: those that the cuts of a search leave."""

    # Values of the data under each (None: missing), so that no manifest tells them
    labels: Mapping[str, tuple[str | None, ...]] = field(repr=False)
    name: ClassVar[str] = "named sets"


def level_of_labels(labels: Sequence[str]) -> Level:
    """Return a level whose nodes are the distinct labels, in order of first appearance."""
    seen: dict[str, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), dtype=np.int32, count=len(labels))
    return Level(codes, tuple(seen))


def as_tuple(given: Any) -> tuple[Any, ...]:
    """Return one or several options as a tuple."""
    return tuple(given) if isinstance(given, (list, tuple, np.ndarray, range)) else (given,)


def empty_level() -> Level:
    """Return the level of a column without values."""
    return Level(np.empty(0, dtype=np.int32), (), np.empty(0))


def unfit_kind_error(name: str, column: Column, wanted: str, hint: str) -> HierarchyError:
    """Return the error of a rule that meets a column of another kind."""
    message = f"{name} are made for {wanted}, but column {column.name!r} is of the kind {column.kind}."
    return HierarchyError(message, hint=f"{hint}.")
