"""Models without a rule for kernels: kernels call their `passes`, class by class, at some microseconds each.

If a model raises, the class fails, and the search later ends with an error that names the model.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any, Final, TypeGuard

import numpy as np

from hushtable._types import CountArray
from hushtable.errors import ModelError
from hushtable.kernels._jit import QUESTION
from hushtable.models import ClassStats, Histogram, PrivacyModel, RuledModel

_ALIVE: Final[dict[int, Any]] = {}  # callbacks by id: kernels hold addresses, which keep nothing alive


def has_rule(model: PrivacyModel) -> TypeGuard[RuledModel]:
    """Tell whether a model has a rule by which kernels judge without calling it."""
    return callable(getattr(model, "rule", None))


class OwnModels:
    """Models that are called class by class, and the errors that they raised."""

    def __init__(self) -> None:
        self._faults: list[tuple[PrivacyModel, Exception]] = []

    def raise_faults(self) -> None:
        """Raise ModelError if a model raised an error during the search."""
        if self._faults:
            model, fault = self._faults[0]
            who = f"the model {model.name!r} ({type(model).__module__})"
            raise ModelError(
                f"{who} raised {type(fault).__name__} when it judged a class.",
                hint="`passes` has to judge every class of one record or more; mend it, or ask its authors.",
            ) from fault

    def kernel_address(
        self, models: Sequence[PrivacyModel], columns: Sequence[str], reference: ClassStats, person: str | None
    ) -> CountArray:
        """Return the address of a callback for kernels, shape (1,); it is valid while the array lives."""
        names = [name for name in columns if name in {each for model in models for each in model.needs.sensitive}]

        def passes(model: int, size: int, population: int, width: int, held: Any) -> bool:
            by_name = dict(
                zip(columns, np.ctypeslib.as_array(held, (len(columns), width)) if columns else (), strict=True)
            )
            stats = ClassStats(
                np.array([size]),
                {name: _histogram_of_class(by_name[name]) for name in names},
                reference.totals,
                population=np.array([population]),
                grounds=reference.grounds,
                persons=None if person is None else np.array([np.count_nonzero(by_name[person][1:])]),
            )
            try:
                return bool(models[model].passes(stats)[0])
            except Exception as fault:
                self._faults.append((models[model], fault))
                return False

        return _keep_alive(QUESTION(passes))


def _keep_alive(question: Any) -> CountArray:
    where = np.array([ctypes.cast(question, ctypes.c_void_p).value], dtype=np.int64)
    _ALIVE[id(question)] = question
    weakref.finalize(where, _ALIVE.pop, id(question))
    return where


def _histogram_of_class(values: CountArray) -> Histogram:
    """Return the counts of one class, entry code + 1, as models see them."""
    present = np.flatnonzero(values)
    return Histogram(np.array([0, len(present)]), (present - 1).astype(np.int32), values[present].astype(np.int64))
