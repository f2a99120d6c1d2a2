"""Models against re-identification: how many records a person hides among."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import RULE_SIZE, BoolArray, CountArray, FloatArray
from hushtable.errors import ModelError, with_hint
from hushtable.models.base import ClassStats, Needs, Rule

__all__ = ["KAnonymity"]


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """Every class holds at least k records.

    Parameters
    ----------
    k : int
        At least 1. Regulators' thresholds are integers here: a risk of at most
        0.09 asks for k = 12, because 1/11 is above it.

    Notes
    -----
    Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 10(5), 2002.
    Merging classes and suppressing others keeps it. A missing value is a value
    of its own. Says nothing of what the records of a class have in common.

    Examples
    --------
    >>> import numpy as np
    >>> KAnonymity(3).passes(ClassStats(np.array([2, 3, 4]))).tolist()
    [False, True, True]
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    needs: ClassVar[Needs] = Needs()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_whole("k-anonymity", "k", self.k))

    @property
    def min_size(self) -> int:
        """Classes of fewer than k records cannot pass."""
        return self.k

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the records in every class."""
        return stats.sizes.astype(np.float64)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell which classes hold at least k records."""
        return np.asarray(stats.sizes >= self.k)

    def rule(self, totals: Mapping[str, CountArray]) -> Rule:
        """Judge by the size."""
        return Rule(RULE_SIZE, None, float(self.k))


def check_sensitive(model: str, column: object) -> None:
    """Raise ModelError unless a sensitive column was named."""
    if not isinstance(column, str) or not column:
        msg = with_hint(f"{model} was given sensitive = {column!r}.", "name the one column it looks at.")
        raise ModelError(msg)


def check_whole(model: str, parameter: str, number: object) -> int:
    """Return a parameter that is a whole number of at least 1 as a plain int; raise ModelError for any other."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        msg = with_hint(
            f"{model} was given {parameter} = {number!r}.",
            f"{parameter} is a whole number, 1 or more (2 or more protects).",
        )
        raise ModelError(msg)
    return int(number)
