"""Rules and ladders: the levels between a column's values and ``*``."""

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
    """The result of a rule for a column: the levels between the values and ``*``."""

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
        """Name each level between the values and ``*`` in a word or two."""


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
    """The meaning of labels that name any sets of values, which need not nest, as cuts of a search leave them."""

    # The values under each label (None: missing); they come from the data, so the manifest does not list them
    labels: Mapping[str, tuple[str | None, ...]] = field(repr=False)
    name: ClassVar[str] = "named sets"


def level_of_labels(labels: Sequence[str]) -> Level:
    """Return a level whose nodes are the distinct labels, in order of first appearance."""
    seen: dict[str, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in labels), dtype=np.int32, count=len(labels))
    return Level(codes, tuple(seen))


def as_tuple(given: Any) -> tuple[Any, ...]:
    """Return a single option or several as a tuple."""
    return tuple(given) if isinstance(given, (list, tuple, np.ndarray, range)) else (given,)


def empty_level() -> Level:
    """Return the level of a column without values."""
    return Level(np.empty(0, dtype=np.int32), (), np.empty(0))


def unfit_kind_error(name: str, column: Column, wanted: str, hint: str) -> HierarchyError:
    """Build the error for a rule on a column of another kind."""
    message = f"{name} are made for {wanted}, but column {column.name!r} is of the kind {column.kind}."
    return HierarchyError(message, hint=f"{hint}.")
