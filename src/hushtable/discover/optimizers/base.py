"""What a search over column sets is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from hushtable.discover.evaluation import ObjectiveEvaluator
from hushtable.errors import InputError, with_hint

__all__ = ["Optimizer", "check_counts", "check_rates", "flips", "random_mask"]


@runtime_checkable
class Optimizer(Protocol):
    """A search and its options."""

    name: ClassVar[str]

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Evaluate column sets; return a proven upper bound of the objective, None where nothing is proven."""
        ...  # pragma: no cover - a protocol's body


def random_mask(n_columns: int, rng: np.random.Generator) -> int:
    """Draw each column with a chance of a half; again where none was drawn."""
    while True:
        mask = sum(1 << j for j in np.flatnonzero(rng.integers(0, 2, n_columns)).tolist())
        if mask:
            return mask


def flips(mask: int, n_columns: int) -> list[int]:
    """Return the sets of one column more or less, the empty one left out."""
    return [mask ^ 1 << j for j in range(n_columns) if mask ^ 1 << j]


def check_counts(method: str, counts: Mapping[str, int]) -> None:
    """Raise InputError where an option is not a whole number of at least 1."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            msg = with_hint(f"{method} was given {name} = {count!r}.", "it is a whole number of at least 1.")
            raise InputError(msg)


def check_rates(method: str, rates: Mapping[str, float]) -> None:
    """Raise InputError where an option is not within [0, 1]."""
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            msg = with_hint(f"{method} was given {name} = {rate!r}.", "it lies between 0 and 1.")
            raise InputError(msg)
