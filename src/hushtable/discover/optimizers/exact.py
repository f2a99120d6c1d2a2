"""Searches that prove what they find: every column set, or bounds in place of most of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import FloatArray
from hushtable.discover.evaluation import BudgetEnded, ObjectiveEvaluator
from hushtable.discover.objective import Term
from hushtable.discover.optimizers.base import check_counts
from hushtable.errors import InputError, with_hint

__all__ = ["BranchAndBound", "Exhaustive", "Pareto", "undominated"]


@dataclass(frozen=True, slots=True)
class _EveryColumnSet:
    """A search that evaluates every column set, so that its best value is its own bound."""

    max_columns: int = 20

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_counts(self.name, {"max_columns": self.max_columns})

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Evaluate everything; the best value is its own bound."""
        _check_size(self.name, evaluator.n_candidates, self.max_columns)
        evaluator.everything()
        return evaluator.best_value


@dataclass(frozen=True, slots=True)
class Exhaustive(_EveryColumnSet):
    """Evaluate every column set.

    Parameters
    ----------
    max_columns : int
        The most candidates: there are 2^n - 1 sets of n columns.

    Notes
    -----
    Objectives made of class sizes are computed in one walk through the lattice of
    subsets, on all cores; others partition by partition, each refined from its parent's.
    """

    name: ClassVar[str] = "exhaustive"


@dataclass(frozen=True, slots=True)
class Pareto(_EveryColumnSet):
    """Evaluate every column set, and return those that no other betters in every term.

    Parameters
    ----------
    max_columns : int
        The most candidates: there are 2^n - 1 sets of n columns.

    Notes
    -----
    The criteria are the terms of the objective, each in the direction of its weight,
    and the number of columns, fewer being better; see ``Selection.front``. For weighted
    sums of terms the best set of the objective is on the front.
    """

    name: ClassVar[str] = "pareto"


@dataclass(frozen=True, slots=True)
class BranchAndBound:
    """Decide column by column, and drop the branches that cannot hold the best set.

    Notes
    -----
    For terms that adding a column never lowers, or never raises (`Term.trend`), and
    the length penalty. Between the columns decided to be in and those not decided to
    be out, such a term lies between its values for those two sets; the length penalty
    is known for each number of columns. The widest columns are decided first, in
    before out, after a greedy walk to have something to beat.
    """

    name: ClassVar[str] = "branch_and_bound"

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Search depth first; return the best value when done, else the bound of what is left."""
        _check_bounded(evaluator)
        everything = (1 << evaluator.n_candidates) - 1
        widths = [evaluator.table.column(name).n_values for name in evaluator.columns]
        order = sorted(range(len(widths)), key=lambda j: -widths[j])
        stack = [(0, everything, 0, np.inf)]
        try:
            _climb(evaluator)
            while stack:
                chosen, allowed, depth, bound = stack[-1]
                branches = []
                if bound > evaluator.best_value and depth < len(order):
                    bit = 1 << order[depth]
                    halves = ((chosen, allowed & ~bit), (chosen | bit, allowed))
                    branches = [(low, high, depth + 1, _bound(evaluator, low, high)) for low, high in halves if high]
                # Only now: a budget that ends while the halves are bounded leaves the whole open.
                stack[-1:] = branches
        except BudgetEnded:
            return max([evaluator.best_value, *(bound for *_, bound in stack)])
        return evaluator.best_value


def undominated(points: FloatArray) -> list[int]:
    """Return the rows that no other row equals or exceeds everywhere and exceeds somewhere; of equal rows the first.

    Parameters
    ----------
    points : ndarray of float64, shape (n_points, n_criteria)
        Higher is better.

    Notes
    -----
    The lexicographically highest row is never dominated; it removes what it dominates,
    and so on: O(n_points x n_front).
    """
    order = np.lexsort((np.arange(len(points)), *(-column for column in points.T[::-1])))
    left = points[order]
    front = []
    while len(left):
        front.append(int(order[0]))
        kept = (left > left[0]).any(axis=1)
        order, left = order[kept], left[kept]
    return front


def _climb(evaluator: ObjectiveEvaluator) -> None:
    """Add the column that helps most, until none is left: something to beat."""
    mask = 0
    for _ in range(evaluator.n_candidates):
        more = [mask | 1 << j for j in range(evaluator.n_candidates) if not mask >> j & 1]
        values = evaluator.values(more)
        mask = more[int(np.argmax(values))]
        evaluator.step([max(values)])


def _bound(evaluator: ObjectiveEvaluator, chosen: int, allowed: int) -> float:
    """Return an upper bound of the objective over the sets that hold ``chosen`` and lie within ``allowed``.

    Both sets are evaluated on the way, which may raise BudgetEnded.
    """
    objective = evaluator.objective
    few, many = evaluator.terms(chosen), evaluator.terms(allowed)
    terms = objective.all_terms
    highest = -np.inf
    for n_chosen in range(max(chosen.bit_count(), 1), allowed.bit_count() + 1):
        ends = [_ends(term, few[j], many[j], evaluator, n_chosen) for j, term in enumerate(terms)]
        total = sum(term.weight * ends[j][1 if term.weight > 0 else 0] for j, term in enumerate(objective.terms))
        if objective.divisor is not None:
            low, high = (objective.divisor.weight * end for end in ends[-1])
            total = total / (low if total > 0 else high)
        highest = max(highest, total)
    return float(highest)


def _ends(term: Term, few: float, many: float, evaluator: ObjectiveEvaluator, n_chosen: int) -> tuple[float, float]:
    if term.is_by_length:
        value = float(evaluator.length_term(term, n_chosen))
        return value, value
    return min(few, many), max(few, many)


def _check_bounded(evaluator: ObjectiveEvaluator) -> None:
    loose = [term.label for term in evaluator.objective.all_terms if not (term.trend or term.is_by_length)]
    divisor = evaluator.objective.divisor
    if loose or (divisor is not None and divisor.weight < 0):
        msg = with_hint(
            f"branch and bound has no bound for {', '.join(loose) or 'a divisor below 0'}.",
            "choose method='exhaustive', or terms that adding a column never lowers or never raises.",
        )
        raise InputError(msg)


def _check_size(method: str, n_columns: int, most: int) -> None:
    if n_columns > most:
        msg = with_hint(
            f"{method} over {n_columns} columns would evaluate 2^{n_columns} - 1 sets; max_columns is {most}.",
            "name fewer in columns=, or choose method='branch_and_bound' or 'evolutionary'.",
        )
        raise InputError(msg)
