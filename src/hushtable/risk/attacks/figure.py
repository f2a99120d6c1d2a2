"""A figure of privacy by the definition of a paper, with its interval where one is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hushtable.columns import finite

__all__ = ["PrivacyFigure"]

_MEANINGS: Final = {
    "dcr": "the share of synthetic records that are nearer to the people than to the control; 0.5 is chance, 1 a copy",
    "nndr": "the low tail (5 %) of the ratio of distances to the nearest and the next person; 0 is a copy",
    "tcap": "how often the target is right where all synthetic records of a key agree on it",
    "rapid": "the share of people whose target a model of the synthetic records tells much better than its frequency",
}
_BESIDE: Final = {"dcr": (), "nndr": ("low_of_control",), "tcap": ("control", "chance"), "rapid": ("control",)}


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
    target : str, optional
        The column that is attributed.
    """

    name: str
    value: float
    low: float
    high: float
    n_records: int
    figures: Mapping[str, float] = field(repr=False)
    target: str | None = None

    @property
    def meaning(self) -> str:
        """What the figure is, in a sentence."""
        return _MEANINGS[self.name]

    @property
    def beside(self) -> float | None:
        """The same on people who were never used, or what chance gives; None where neither is known."""
        return next((self.figures[name] for name in _BESIDE[self.name] if name in self.figures), None)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        told = {name: getattr(self, name) for name in ("name", "value", "low", "high", "n_records")}
        told |= {} if self.target is None else {"target": self.target}
        return dict(finite({**told, "figures": dict(self.figures)}))
