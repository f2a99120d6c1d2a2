"""What an estimate says: its value, what the truth may be, and whether simulation lets us rely on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Estimate", "Point"]


@dataclass(frozen=True, slots=True)
class Point:
    """The answer of one estimator by itself.

    Attributes
    ----------
    value : float or None
        In [0, 1]; None where the sample does not let this estimator answer.
    reason : str
        Why there is none; empty where there is one.
    """

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate and how far it goes.

    Attributes
    ----------
    value : float or None
        In [0, 1], lower is safer; None is "not estimable", which is no low risk.
    low, high : float
        In [0, 1]; what the truth may be, whether there is a value or not.
    reliable : bool
        False where ``value`` is known to be wrong in samples of this kind.
    reason : str
        Why it is not reliable or not estimable; empty where it is reliable.
    """

    value: float | None
    low: float
    high: float
    reliable: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values."""
        return asdict(self)
