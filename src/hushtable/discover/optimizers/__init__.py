"""Searches for the column set of the highest objective: exact ones, walks from set to set, and populations.

Every one is a small record of options with one method, ``search``, that asks an
`Evaluator` for values in an order of its own. The evaluator remembers the best set
and everything else: a search cannot return the wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hushtable.discover.optimizers.base import Optimizer
from hushtable.discover.optimizers.evolutionary import Evolutionary
from hushtable.discover.optimizers.exact import BranchAndBound, Exhaustive, Pareto
from hushtable.discover.optimizers.local import Annealing, Greedy, Tabu
from hushtable.errors import InputError, listed, with_hint

__all__ = [
    "METHODS",
    "Annealing",
    "BranchAndBound",
    "Evolutionary",
    "Exhaustive",
    "Greedy",
    "Optimizer",
    "Pareto",
    "Tabu",
    "of",
]

METHODS: Final[Mapping[str, type[Optimizer]]] = MappingProxyType(
    {
        "exhaustive": Exhaustive,
        "branch_and_bound": BranchAndBound,
        "pareto": Pareto,
        "greedy": Greedy,
        "tabu": Tabu,
        "annealing": Annealing,
        "evolutionary": Evolutionary,
    }
)


def of(method: str | Optimizer) -> Optimizer:
    """Return a search by its name, with its default options, or the one given."""
    if isinstance(method, str):
        if method not in METHODS:
            msg = with_hint(f"unknown method {method!r}.", f"the methods are {listed(METHODS)}.")
            raise InputError(msg)
        return METHODS[method]()
    if not isinstance(method, Optimizer):
        msg = with_hint(f"a method of type {type(method).__name__}.", f"pass one of {listed(METHODS)}, or its options.")
        raise InputError(msg)
    return method
