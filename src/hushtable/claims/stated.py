"""Claims that no file can show: what a mechanism did is known to whoever ran it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.claims.verdict import Claim, Verdict
from hushtable.errors import check_columns
from hushtable.io import frames

__all__ = ["Stated"]


@dataclass(frozen=True, slots=True)
class Stated:
    """A property of the mechanism that made a table, such as differential privacy or a perturbation.

    Attributes
    ----------
    columns : tuple of str
        What it was applied to.
    statement : str
        ``"differential privacy (epsilon = 1.0)"``, for instance.

    Examples
    --------
    >>> import polars as pl
    >>> verdict = Stated(("pay",), "PRAM (alpha = 0.8)").verify(pl.DataFrame({"pay": [1, 2]}))
    >>> verdict.passed, verdict.complete
    (True, False)
    """

    columns: tuple[str, ...]
    statement: str

    kind: ClassVar[str] = "stated"

    @property
    def conditions(self) -> tuple[str, ...]:
        """The statement."""
        return (self.statement,)

    @property
    def sentence(self) -> str:
        """Who says it."""
        return f"{self.statement} on {', '.join(self.columns)}, as whoever made the table states"

    def completed(self, asked: Claim) -> Stated:
        """Return the claim: another knows nothing besides."""
        del asked
        return self

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Look for the columns; the rest cannot be seen, and the verdict says so."""
        frame = frames.read(data)
        check_columns(self.columns, frame.columns, "columns of the statement")
        unseen = {self.statement: "no file shows what its mechanism did: trust whoever states it, or not"}
        return Verdict(self.conditions, (), self.columns, frame.n_records, unchecked=unseen)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns and the statement."""
        return {"kind": self.kind, "columns": list(self.columns), "statement": self.statement}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Stated:
        """Read what `to_dict` wrote."""
        return cls(tuple(entries["columns"]), str(entries["statement"]))
