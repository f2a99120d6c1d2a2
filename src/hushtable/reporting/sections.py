"""What a report is made of: sections of plain data, which a page, a terminal and a file of JSON show alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

__all__ = [
    "Answers",
    "Audience",
    "Block",
    "CellContent",
    "Chart",
    "Code",
    "Form",
    "KeyFigure",
    "KeyFigures",
    "Paragraph",
    "Points",
    "Quantity",
    "Section",
    "Table",
    "Tone",
    "Unit",
    "blocks_of",
    "row_of",
    "share_shown",
    "shown",
]

Audience = Literal["internal", "external"]
"""Who reads: those who make the release, or whoever receives it."""

Tone = Literal["plain", "good", "careful"]
Unit = Literal["count", "share", "number"]
"""A whole number; a share or a chance, in [0, 1]; anything else."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, and how it is to be read.

    Attributes
    ----------
    value : int or float or None
        None where there is none; never NaN.
    unit : {"count", "share", "number"}

    Examples
    --------
    >>> Quantity(12_345, "count").shown, Quantity(0.004, "share").shown, Quantity(None, "number").shown
    ('12,345', '0.40 %', '')
    """

    value: float | None
    unit: Unit = "number"

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            object.__setattr__(self, "value", None)

    @property
    def shown(self) -> str:
        """The number as people read it."""
        if self.value is None:
            return ""
        if self.unit == "count":
            return f"{self.value:,.0f}"
        if self.unit == "share":
            return share_shown(self.value)
        return f"{self.value:,.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


CellContent = str | Quantity


def share_shown(share: float) -> str:
    """Write a share as per cent: in two digits, or as many as it takes to be whole."""
    if math.isnan(share):
        return "not known"
    percent = 100 * share
    if percent == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if abs(percent) >= 1 else f"{percent:.2f} %" if abs(percent) >= 0.01 else "under 0.01 %"


def row_of(*cells: CellContent) -> tuple[CellContent, ...]:
    """Return a row of a table."""
    return cells


def shown(cell: CellContent) -> str:
    """Return a cell of a table as people read it."""
    return cell if isinstance(cell, str) else cell.shown


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str
    tone: Tone = "plain"

    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Points:
    """A list of short statements."""

    items: tuple[str, ...]

    kind: ClassVar[str] = "points"


@dataclass(frozen=True, slots=True)
class Answers:
    """Questions that everyone has, each with its answer."""

    items: tuple[tuple[str, str], ...]

    kind: ClassVar[str] = "answers"


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One number that matters, and what it says."""

    label: str
    quantity: Quantity
    meaning: str


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """A few numbers that matter."""

    figures: tuple[KeyFigure, ...]

    kind: ClassVar[str] = "key_figures"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts and numbers.

    Attributes
    ----------
    caption : str
    titles : tuple of str
    rows : tuple of tuple of str or Quantity
    note : str
        What to know of it.
    """

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[CellContent, ...], ...]
    note: str = ""

    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, as the data that it draws.

    Attributes
    ----------
    draws : str
        The function of `hushtable.plots.charts` that draws it.
    title : str
        What to see in it.
    data : mapping
        The arguments of that function, as plain values.
    """

    draws: str
    title: str
    data: Mapping[str, Any]

    kind: ClassVar[str] = "chart"


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be read or run as it is: a policy, a command."""

    caption: str
    text: str

    kind: ClassVar[str] = "code"


@dataclass(frozen=True, slots=True)
class Form:
    """Lines for people to fill in by hand."""

    titles: tuple[str, ...]
    labels: tuple[str, ...]

    kind: ClassVar[str] = "form"


Block = Paragraph | Answers | Points | KeyFigures | Table | Chart | Code | Form


def blocks_of(*blocks: Block) -> tuple[Block, ...]:
    """Return the blocks of a section."""
    return blocks


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    name : str
        Unique within a report: ``"risk_after"``.
    title : str
    blocks : tuple of Block
    clause : str
        The clause of ISO/IEC 27559:2022 that it speaks to, by number and name; empty where none does.
    """

    name: str
    title: str
    blocks: tuple[Block, ...] = field(repr=False)
    clause: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the section as plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "clause": self.clause,
            "blocks": [{"kind": block.kind, **_plain(block)} for block in self.blocks],
        }


def _plain(entry: Any) -> Any:
    """Return an entry as what JSON knows."""
    if hasattr(entry, "__dataclass_fields__"):
        return {name: _plain(getattr(entry, name)) for name in entry.__dataclass_fields__ if name != "kind"}
    if isinstance(entry, Mapping):
        return {str(name): _plain(each) for name, each in entry.items()}
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        return [_plain(each) for each in entry]
    return entry
