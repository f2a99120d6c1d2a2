"""A figure of privacy by the definition of a paper, with its interval where one is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hushtable.columns import finite

__all__ = ["PrivacyFigure"]


@dataclass(frozen=True, slots=True)
class PrivacyFigure:
    """A figure of a synthetic table.

    Attributes
    ----------
    name : str
    value, low, high : float
        The figure and the ends of its 95 % interval; NaN where they are not known, which is not "no risk".
    n_records : int
        Records that it is a figure of.
    figures : dict
        What belongs to it.
    """

    name: str
    value: float
    low: float
    high: float
    n_records: int
    figures: Mapping[str, float] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        told = {name: getattr(self, name) for name in ("name", "value", "low", "high", "n_records")}
        return dict(finite({**told, "figures": dict(self.figures)}))
