"""Verdict: what a published table holds of what it claims; and what a claim is."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from hushtable.errors import VerificationError, with_hint

__all__ = ["Claim", "Failure", "Verdict"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One condition that the table does not meet.

    Attributes
    ----------
    condition : str
        The condition, in words.
    n_classes, n_records : int
        How many classes fail it, 0 where it is no condition of classes, and the records in them.
    worst : float
        The worst value reached of what the condition bounds.
    """

    condition: str
    n_classes: int = 0
    n_records: int = 0
    worst: float = float("nan")

    def __str__(self) -> str:
        if not self.n_classes:
            return self.condition
        return f"{self.condition}: {self.n_classes} classes with {self.n_records} records fail, worst {self.worst:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a published table holds of what it claims.

    Attributes
    ----------
    conditions : tuple of str
        What was claimed, in words.
    failures : tuple of Failure
    unchecked : tuple of str
        What could not be judged from what was given, and what it would take.
    columns : tuple of str
        The columns that the conditions speak of.
    n_records : int
        Rows of the table, suppressed ones included.
    figures : dict
        What else was counted; which figures there are depends on the claim.
    """

    conditions: tuple[str, ...]
    failures: tuple[Failure, ...]
    columns: tuple[str, ...]
    n_records: int
    unchecked: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Nothing that was judged fails."""
        return not self.failures

    @property
    def complete(self) -> bool:
        """Everything that is claimed was judged."""
        return not self.unchecked

    @property
    def held(self) -> tuple[str, ...]:
        """The conditions that were judged and hold."""
        broken = [failure.condition for failure in self.failures]
        return tuple(
            condition
            for condition in self.conditions
            if condition not in broken and not any(each.startswith(condition) for each in self.unchecked)
        )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns, where classes were judged."""
        return self.columns

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def raise_if_failed(self) -> Verdict:
        """Return the verdict, or raise VerificationError with the counts of what fails."""
        if not self.passed:
            msg = with_hint(
                f"the table does not hold what it claims: {'; '.join(map(str, self.failures))}.",
                "do not publish it.",
            )
            raise VerificationError(msg)
        return self
