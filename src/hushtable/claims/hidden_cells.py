"""Judge from a published table of cells alone that it shows no small count, and that no hidden cell can be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hushtable.claims.certificates import witnesses
from hushtable.claims.certificates.witnesses import WitnessEntries
from hushtable.claims.verdict import Claim, Failure, SpeaksOfNobody, Verdict
from hushtable.errors import InputError, check_whole


@dataclass(frozen=True, slots=True)
class HiddenCells(SpeaksOfNobody):
    """No cell that a table hides follows from what it shows.

    The claim brings witnesses: other tables that agree with all that is shown. Whoever has the table can compute such
    tables: they are made from the published file alone, and tell nothing besides it.
    """

    threshold: int | None  # counts below are not shown, and the witnesses reach it; None for sums
    witnesses: WitnessEntries = field(repr=False)  # the entries of a certificate of witnesses

    kind: ClassVar[str] = "hidden cells"

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_whole("threshold", self.threshold, 1)
        if not isinstance(self.witnesses, Mapping) or not self.witnesses.get("tables"):
            raise InputError("no witnesses were given.", hint="they are made by hushtable tables, or check.")
        with witnesses.refuse_unreadable():
            # A manifest may hold anything: what the claim reads itself is read now.
            self._list_asked()
            if not all(isinstance(name, str) for name in self.columns):
                raise TypeError

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of labels, and that of values."""
        tables = self.witnesses["tables"]
        named = [name for table in tables for name in (*table["by"], table["value"])]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is shown, and what cannot be computed."""
        shown = () if self.threshold is None else (self._nothing_small,)
        return (*shown, *witnesses.CONDITIONS)

    @property
    def _nothing_small(self) -> str:
        return f"no count from 1 to {(self.threshold or 1) - 1} is shown"

    @property
    def sentence(self) -> str:
        """What is protected, and against whom."""
        far = "" if self.threshold is None else f", and each may be {self.threshold} or more"
        return (
            f"no hidden cell can be computed from the cells that are shown{far}; "
            "who knows further tables of the same people, or is alone in a cell, may know more"
        )

    def with_knowledge_of(self, asked: Claim) -> HiddenCells:
        """Return the claim: another knows nothing besides."""
        del asked
        return self

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table from the table alone; ``original`` plays no part."""
        del original
        asked = {**self.witnesses, "asks_all": True, "asked": self._list_asked()}
        verdict, shown = witnesses.judge([data] * len(self.witnesses["tables"]), asked)
        if self.threshold is None:
            return verdict
        n_small = sum(0 < value < self.threshold for value in shown)
        small = (Failure(f"{self._nothing_small}: {n_small} are"),) if n_small else ()
        return Verdict(
            self.conditions, (*small, *verdict.failures), verdict.columns, verdict.n_records, figures=verdict.figures
        )

    def _list_asked(self) -> list[WitnessEntries]:
        """Return what the witnesses must reach in each cell: the claim says it, and not they."""
        return [
            {"cell": ask["cell"], "spread": 1, "reach_down": None, "reach_up": self.threshold}
            for ask in self.witnesses["asked"]
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the threshold and the witnesses."""
        return {"kind": self.kind, "threshold": self.threshold, "witnesses": dict(self.witnesses)}

    @classmethod
    def from_dict(cls, entries: WitnessEntries) -> HiddenCells:
        """Read what `to_dict` wrote."""
        return cls(entries["threshold"], entries["witnesses"])
