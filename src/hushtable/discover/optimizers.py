"""Searches for the column set of the highest objective: exact ones, walks from set to set, and populations.

Each search is a record of its options. Its method ``search`` asks an `ObjectiveEvaluator` for the values of sets. The
evaluator remembers the best set, so a search cannot return the wrong one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, FloatArray
from hushtable.discover.objective import BudgetEnded, ObjectiveEvaluator, Term, mask_of
from hushtable.errors import InputError, check_whole
from hushtable.models import entries

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
    "choose_optimizer",
]


@runtime_checkable
class Optimizer(Protocol):
    """A search and its options."""

    name: ClassVar[str]

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Evaluate column sets; return a proven upper bound of the objective, or None if none is proven."""
        ...  # pragma: no cover - a protocol's body


def _random_mask(n_columns: int, rng: np.random.Generator) -> int:
    """Draw each column with probability 1/2; repeat if none was drawn."""
    while True:
        mask = mask_of(rng.integers(0, 2, n_columns) > 0)
        if mask:
            return mask


def _flip_each_column(mask: int, n_columns: int) -> list[int]:
    """Return the sets that have one column more or less, except the empty set."""
    return [mask ^ 1 << j for j in range(n_columns) if mask ^ 1 << j]


def _check_options(search: Optimizer, counts: Sequence[str], rates: Sequence[str] = ()) -> None:
    """Raise InputError where a count is not a whole number of at least 1, or a rate not within [0, 1]."""
    for name in counts:
        check_whole(f"{search.name} was given {name}", getattr(search, name), 1)
    for name in rates:
        if not 0 <= getattr(search, name) <= 1:
            problem = f"{search.name} was given {name} = {getattr(search, name)!r}."
            raise InputError(problem, hint="it lies between 0 and 1.")


@dataclass(frozen=True, slots=True)
class _EveryColumnSet:
    """A search that evaluates every column set, so that its best value is its own bound."""

    max_columns: int = 20

    name: ClassVar[str]

    def __post_init__(self) -> None:
        _check_options(self, ["max_columns"])

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Evaluate everything; the best value is its own bound."""
        _check_size(self.name, evaluator.n_candidates, self.max_columns)
        evaluator.evaluate_all()
        return evaluator.best_value


@dataclass(frozen=True, slots=True)
class Exhaustive(_EveryColumnSet):
    """Evaluate every column set.

    Objectives that depend on class sizes alone are computed in one walk through the lattice of subsets, on all cores.
    Others are computed set by set; the partition of a set is refined from that of a smaller set.

    Parameters
    ----------
    max_columns : int
        The most candidates: there are 2^n - 1 sets of n columns.
    """

    name: ClassVar[str] = "exhaustive"


@dataclass(frozen=True, slots=True)
class Pareto(_EveryColumnSet):
    """Evaluate every column set, and return those that no other betters in every term.

    The criteria are the terms of the objective, each in the direction of its weight, and the number of columns: fewer
    are better. See ``Selection.front``. If the objective is a weighted sum of terms, its best set is on the front.

    Parameters
    ----------
    max_columns : int
        The most candidates.
    """

    name: ClassVar[str] = "pareto"


@dataclass(frozen=True, slots=True)
class BranchAndBound:
    """Decide column by column, and drop the branches that cannot hold the best set.

    Every term must be the length penalty, or one that an added column never lowers or never raises (`Term.trend`). The
    sets of a branch hold all columns that were decided to be in, and none that was decided to be out. The value of a
    term for them lies between its values for the smallest and the largest of these sets. The length penalty is known
    for each number of columns. A greedy walk first finds a value to beat. Columns with the most values are decided
    first, and the branch with the column is searched before the one without it.
    """

    name: ClassVar[str] = "branch_and_bound"

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Search depth first; return the best value, or the bound of the open branches if the budget ends."""
        _check_bounded(evaluator)
        everything = (1 << evaluator.n_candidates) - 1
        widths = [evaluator.table.column(name).n_values for name in evaluator.columns]
        order = sorted(range(len(widths)), key=lambda j: -widths[j])
        stack = [(0, everything, 0, np.inf)]
        try:
            _climb_greedily(evaluator)
            while stack:
                included, allowed, depth, bound = stack[-1]
                branches = []
                if bound > evaluator.best_value and depth < len(order):
                    bit = 1 << order[depth]
                    sets_of_halves = ((included, allowed & ~bit), (included | bit, allowed))
                    branches = [
                        (smallest, largest, depth + 1, _upper_bound(evaluator, smallest, largest))
                        for smallest, largest in sets_of_halves
                        if largest
                    ]
                # The stack changes only now: if the budget ends while the halves are bounded, their parent stays open.
                stack[-1:] = branches
        except BudgetEnded:
            return max([evaluator.best_value, *(bound for *_, bound in stack)])
        return evaluator.best_value


def pareto_front(points: FloatArray) -> list[int]:
    """Return the rows of ``points`` that no other row dominates; of equal rows, the first one.

    ``points`` has the shape (n_points, n_criteria); higher is better. The lexicographically highest row is never
    dominated. It and all rows that it dominates are removed, and the next one is taken: O(n_points x n_front).
    """
    order = np.lexsort((np.arange(len(points)), *(-column for column in points.T[::-1])))
    remaining = points[order]
    front = []
    while len(remaining):
        front.append(int(order[0]))
        is_undominated = (remaining > remaining[0]).any(axis=1)
        order, remaining = order[is_undominated], remaining[is_undominated]
    return front


def _climb_greedily(evaluator: ObjectiveEvaluator) -> None:
    """Add the best column until none is left; the evaluator remembers the best set on the way."""
    mask = 0
    for _ in range(evaluator.n_candidates):
        larger_sets = [mask | 1 << j for j in range(evaluator.n_candidates) if not mask >> j & 1]
        values = evaluator.values_of(larger_sets)
        mask = larger_sets[int(np.argmax(values))]
        evaluator.note_step([max(values)])


def _upper_bound(evaluator: ObjectiveEvaluator, included: int, allowed: int) -> float:
    """Return an upper bound of the objective over the sets between ``included`` and ``allowed``.

    Both sets are evaluated, which may raise BudgetEnded.
    """
    objective = evaluator.objective
    terms_of_included, terms_of_allowed = evaluator.terms_of(included), evaluator.terms_of(allowed)
    terms = objective.all_terms
    highest = -np.inf
    for n_chosen in range(max(included.bit_count(), 1), allowed.bit_count() + 1):
        bounds = [
            _term_bounds(term, terms_of_included[j], terms_of_allowed[j], evaluator, n_chosen)
            for j, term in enumerate(terms)
        ]
        total = sum(term.weight * bounds[j][1 if term.weight > 0 else 0] for j, term in enumerate(objective.terms))
        if objective.divisor is not None:
            low, high = (objective.divisor.weight * end for end in bounds[-1])
            total = total / (low if total > 0 else high)
        highest = max(highest, total)
    return float(highest)


def _term_bounds(
    term: Term, of_included: float, of_allowed: float, evaluator: ObjectiveEvaluator, n_chosen: int
) -> tuple[float, float]:
    """Return the lowest and highest value of a term over the sets of ``n_chosen`` columns in a branch."""
    if term.is_by_length:
        value = float(evaluator.length_term(term, n_chosen))
        return value, value
    return min(of_included, of_allowed), max(of_included, of_allowed)


def _check_bounded(evaluator: ObjectiveEvaluator) -> None:
    """Raise InputError if branch and bound has no bound for a term or the divisor."""
    loose = [term.label for term in evaluator.objective.all_terms if not (term.trend or term.is_by_length)]
    divisor = evaluator.objective.divisor
    if loose or (divisor is not None and divisor.weight < 0):
        raise InputError(
            f"branch and bound has no bound for {', '.join(loose) or 'a divisor below 0'}.",
            hint="choose method='exhaustive', or terms that adding a column never lowers or never raises.",
        )


def _check_size(method: str, n_columns: int, max_columns: int) -> None:
    if n_columns > max_columns:
        raise InputError(
            f"{method} over {n_columns} columns would evaluate 2^{n_columns} - 1 sets; max_columns is {max_columns}.",
            hint="name fewer in columns=, or choose method='branch_and_bound' or 'evolutionary'.",
        )


@dataclass(frozen=True, slots=True)
class Greedy:
    """Go to the best set of one column more or less, as long as that is better.

    Parameters
    ----------
    start : {"empty", "random"}
        The empty set, or a random set with about half of the columns, as in QIDLearningLib.
    max_steps : int

    Notes
    -----
    Separation is submodular. For it alone, a start from the empty set guarantees (1 - 1/e) of the value of the best set
    of each size (Nemhauser, Wolsey, Fisher, 1978). Other objectives have no guarantee.
    """

    start: Literal["empty", "random"] = "empty"
    max_steps: int = 1000

    name: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        _check_options(self, ["max_steps"])
        if self.start not in ("empty", "random"):
            raise InputError(f"greedy was given start = {self.start!r}.", hint="choose 'empty' or 'random'.")

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Climb to a set that no column more or less improves."""
        n = evaluator.n_candidates
        mask = _random_mask(n, rng) if self.start == "random" else 0
        value = evaluator.value_of(mask) if mask else -math.inf
        for _ in range(self.max_steps):
            neighbours = _flip_each_column(mask, n)
            values = evaluator.values_of(neighbours) or [-math.inf]
            best = int(np.argmax(values))
            if not values[best] > value:
                break
            mask, value = neighbours[best], values[best]
            evaluator.note_step([value])
        return None


@dataclass(frozen=True, slots=True)
class Tabu:
    """Go to the best set of one column more or less that was not visited lately, better or not.

    Glover, 1986. The options are those of QIDLearningLib. The walk begins at a random set.

    Parameters
    ----------
    max_steps : int
    tenure : int
        How many of the last sets may not be visited again.
    """

    max_steps: int = 100
    tenure: int = 10

    name: ClassVar[str] = "tabu"

    def __post_init__(self) -> None:
        _check_options(self, ["max_steps", "tenure"])

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Walk until the steps are used up, or every neighbour was visited lately."""
        mask = _random_mask(evaluator.n_candidates, rng)
        evaluator.note_step([evaluator.value_of(mask)])
        visited = deque([mask], maxlen=self.tenure)
        for _ in range(self.max_steps):
            neighbours = [each for each in _flip_each_column(mask, evaluator.n_candidates) if each not in visited]
            if not neighbours:
                break
            values = evaluator.values_of(neighbours)
            best = int(np.argmax(values))
            mask = neighbours[best]
            visited.append(mask)
            evaluator.note_step([values[best]])
        return None


@dataclass(frozen=True, slots=True)
class Annealing:
    """Flip one column at random; accept what is worse by a chance that falls with the temperature.

    Parameters
    ----------
    max_steps : int
    temperature : float
        Above 0, at the start, in the units of the objective.
    cooling : float
        In [0, 1]: the factor by which the temperature falls every step.

    Notes
    -----
    Kirkpatrick, Gelatt, Vecchi, 1983. QIDLearningLib starts at 10 and takes 100 steps. If the values of sets differ by
    about 1, that is a random walk; here the walk is long enough to cool down. Every run starts at ``temperature``.
    """

    max_steps: int = 2000
    temperature: float = 1.0
    cooling: float = 0.995

    name: ClassVar[str] = "annealing"

    def __post_init__(self) -> None:
        _check_options(self, ["max_steps"], ["cooling"])
        if not self.temperature > 0:
            raise InputError(f"annealing was given temperature = {self.temperature!r}.", hint="it is a number above 0.")

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Walk until the steps are used up."""
        mask = _random_mask(evaluator.n_candidates, rng)
        value = evaluator.value_of(mask)
        temperature = self.temperature
        for _ in range(self.max_steps):
            evaluator.note_step([value])
            trial = mask ^ 1 << int(rng.integers(evaluator.n_candidates))
            if trial:
                trial_value = evaluator.value_of(trial)
                # At a temperature of 0, no worse set is accepted; the floor avoids a division by 0.
                if trial_value > value or rng.random() < math.exp((trial_value - value) / max(temperature, 1e-300)):
                    mask, value = trial, trial_value
            temperature *= self.cooling
        return None


@dataclass(frozen=True, slots=True)
class Evolutionary:
    """Select by tournament, cross at one point, flip bits, keep the elite.

    Parameters
    ----------
    population : int
        Column sets of a generation, at least 2.
    generations : int
    mutation_rate : float
        The chance of each column to be flipped.
    crossover_rate : float
        The chance of a pair to be crossed.
    elite : int
        How many of the best go into the next generation unchanged.
    tournament : int
        How many are drawn to find one parent.
    adaptive : bool
        Adapt both rates after every generation, within [0.01, 1]. If its best set is better than that of the generation
        before, mutate a hundredth less and cross a hundredth more; else the reverse.

    Notes
    -----
    Operators and options of Simões et al., section 5.2 and their listing 1. Their fitness also adds the gains of a
    term over the previous best set. It is left out here, because the value of a set would depend on when it was found.
    A set without columns is replaced by a random one.
    """

    population: int = 50
    generations: int = 30
    mutation_rate: float = 0.2
    crossover_rate: float = 0.3
    elite: int = 1
    tournament: int = 5
    adaptive: bool = True

    name: ClassVar[str] = "evolutionary"

    def __post_init__(self) -> None:
        _check_options(self, ["generations", "population", "tournament"], ["mutation_rate", "crossover_rate"])
        if not 0 <= self.elite < self.population:
            raise InputError(
                f"evolutionary was given elite = {self.elite!r} of a population of {self.population}.",
                hint="keep fewer than there are.",
            )

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Breed generation by generation."""
        n = evaluator.n_candidates
        mutation, crossover = self.mutation_rate, self.crossover_rate
        members = np.array([_unpack_mask(_random_mask(n, rng), n) for _ in range(self.population)])
        values = self._evaluate_members(evaluator, members)
        for _ in range(self.generations):
            best_before = values.max()
            children = self._draw_children(members, values, mutation, crossover, rng)
            elite = np.argsort(-values, kind="stable")[: self.elite]
            members = np.concatenate([members[elite], children[: self.population - self.elite]])
            values = self._evaluate_members(evaluator, members)
            if self.adaptive:
                shift = 0.99 if values.max() > best_before else 1.01
                mutation = float(np.clip(mutation * shift, 0.01, 1))
                crossover = float(np.clip(crossover / shift, 0.01, 1))
        return None

    def _evaluate_members(self, evaluator: ObjectiveEvaluator, members: BoolArray) -> FloatArray:
        """Return the objective of every member, in the members' order."""
        values = evaluator.values_of([mask_of(member) for member in members])
        evaluator.note_step(values)
        return np.array(values)

    def _draw_children(
        self, members: BoolArray, values: FloatArray, mutation: float, crossover: float, rng: np.random.Generator
    ) -> BoolArray:
        """Select parents by tournament, cross pairs of them, and mutate the children."""
        size, n = members.shape
        contestants = rng.integers(0, size, (size + size % 2, self.tournament))
        parents = members[contestants[np.arange(len(contestants)), values[contestants].argmax(axis=1)]]
        children = parents.copy()
        for i in range(0, len(children), 2):
            if n > 1 and rng.random() < crossover:
                point = int(rng.integers(1, n))
                children[i, point:], children[i + 1, point:] = parents[i + 1, point:], parents[i, point:]
        children ^= rng.random(children.shape) < mutation
        for child in children:
            if not child.any():
                child[:] = _unpack_mask(_random_mask(n, rng), n)
        return np.asarray(children)


def _unpack_mask(mask: int, n_columns: int) -> BoolArray:
    return np.array([mask >> j & 1 for j in range(n_columns)], dtype=bool)


METHODS: Final[entries.Registry[type[Optimizer]]] = entries.Registry(
    {kind.name: kind for kind in (Exhaustive, BranchAndBound, Pareto, Greedy, Tabu, Annealing, Evolutionary)}, "method"
)


def choose_optimizer(method: str | Optimizer) -> Optimizer:
    """Return the search of a name, with its default options; a search is returned as it is."""
    return METHODS.take(method, Optimizer)  # type: ignore[no-any-return]
