"""What may be asked of a row, as nodes: operands that are compared, and conditions that go together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "Agreement",
    "Cell",
    "Comparison",
    "Condition",
    "Day",
    "Every",
    "Missing",
    "Number",
    "Operand",
    "Some",
    "Sum",
    "Text",
    "Value",
    "columns_of",
]


@dataclass(frozen=True, slots=True)
class Cell:
    """The cell of a column."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text:
    """A text; beside a column of numbers or dates it is read as its cells are."""

    value: str


@dataclass(frozen=True, slots=True)
class Day:
    """A day; beside moments it is its midnight."""

    value: dt.date


@dataclass(frozen=True, slots=True)
class Missing:
    """No cell."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Numbers that are added, less those that are taken away."""

    added: tuple[Operand, ...]
    taken: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and a sign; one of them holds a column."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two conditions that hold together or not at all; where ``is_same`` is False, just one of them."""

    left: Condition
    right: Condition
    is_same: bool


@dataclass(frozen=True, slots=True)
class Every:
    """Conditions that all hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Conditions one of which holds."""

    parts: tuple[Condition, ...]


Value = Number | Text | Day | Missing
Operand = Cell | Value | Sum
Condition = Comparison | Agreement | Every | Some


def columns_of(node: Condition | Operand) -> tuple[str, ...]:
    """Return the columns that a node names, each once."""
    return tuple(dict.fromkeys(_named(node)))


def _named(node: Condition | Operand) -> Iterator[str]:
    parts: tuple[Condition | Operand, ...] = ()
    match node:
        case Cell(name):
            yield name
        case Sum(added, taken):
            parts = (*added, *taken)
        case Comparison(left, _, right):
            parts = (left, right)
        case Agreement(one, other):
            parts = (one, other)
        case Every(parts) | Some(parts):
            pass
    for part in parts:
        yield from _named(part)
