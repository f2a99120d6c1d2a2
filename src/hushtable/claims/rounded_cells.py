"""Judge from a published table of rounded counts alone that it adds up, and what its readers cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from hushtable.claims.certificates import witnesses
from hushtable.claims.certificates.witnesses import WitnessEntries, format_cells, parse_number
from hushtable.claims.hidden_cells import HiddenCells
from hushtable.claims.verdict import Failure, Verdict
from hushtable.errors import check_whole
from hushtable.io import Frame, frames


@dataclass(frozen=True, slots=True)
class RoundedCells(HiddenCells):
    """Every count is a multiple of a base, all totals are sums, and each true count may have several values.

    A reader knows by how much a count may be off. The witnesses are tables of whole numbers within these limits that
    add up as the published one does; they are made from the published file alone.
    """

    base: int = 5
    reach: int = 4  # how far a true count may be from the published one
    spread: int = 1  # how far apart two witnesses are in every cell

    kind: ClassVar[str] = "rounded cells"

    def __post_init__(self) -> None:
        HiddenCells.__post_init__(self)
        check_whole("base", self.base, 2)
        check_whole("reach", self.reach, self.base - 1)
        check_whole("spread", self.spread, 1)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is shown, and what a reader cannot know."""
        return (self._shows_tables, self._are_multiples, *witnesses.CONDITIONS)

    @property
    def _hides_zeros(self) -> bool:
        return False  # they are shown as other counts are

    @property
    def _are_multiples(self) -> str:
        return f"every count is a multiple of {self.base}, and every total is the sum of its parts"

    @property
    def sentence(self) -> str:
        """What is protected, and against whom."""
        return (
            f"each true count is less than {self.reach + 1} from the published one, and may have values that are "
            f"{self.spread} apart or more. "
            "A reader who knows a true total or further tables of the same people, also other roundings, may know more"
            f"{self._ring}"
        )

    def _judge_witnesses(self, frame: Frame, entries: WitnessEntries) -> Verdict:
        n_tables = len(self.tables)
        nothing = {"cells": [], "asked": [], "base": {"denominator": 1, "values": []}, "changes": []}
        shown, _ = witnesses.judge([frame] * n_tables, {**entries, **nothing})
        verdict, _ = witnesses.judge([show_limits(frame, self._value, self.reach)] * n_tables, entries)
        open_sums = (Failure(f"{self._are_multiples}: a total is not"),) if shown.failures else ()
        return replace(verdict, failures=(*open_sums, *verdict.failures))

    def _find_strange_values(self, texts: Sequence[str]) -> Iterator[Failure]:
        values = [parse_number(text) for text in texts]
        n_other = sum(value is None or value < 0 or value % self.base != 0 for value in values)
        if n_other:
            yield Failure(f"{self._are_multiples}: {n_other} cells are not")

    def _list_demands(self, step: Fraction | int) -> list[WitnessEntries]:
        del step
        return [
            {"cell": ask["cell"], "spread": self.spread, "reach_down": None, "reach_up": None}
            for ask in self.witnesses["asked"]
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the base, what a reader knows, and the witnesses."""
        return {
            "kind": self.kind,
            "base": self.base,
            "reach": self.reach,
            "spread": self.spread,
            "witnesses": dict(self.witnesses),
        }

    @classmethod
    def from_dict(cls, entries: WitnessEntries) -> RoundedCells:
        """Read what `to_dict` wrote."""
        return cls(None, entries["witnesses"], entries["base"], entries["reach"], entries["spread"])


def show_limits(frame: Frame, value: str, reach: int) -> Frame:
    """Return published tables with what a reader knows of the true counts, as marks of hidden cells."""
    cells = format_cells(frame)
    cells[value] = [f"{max(0, int(text) - reach)}-{int(text) + reach}" for text in cells[value]]
    return frames.read(frames.assemble(cells))
