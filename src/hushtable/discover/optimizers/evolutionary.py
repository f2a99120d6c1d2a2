"""A search by a population of column sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import BoolArray, FloatArray
from hushtable.discover.evaluation import ObjectiveEvaluator
from hushtable.discover.optimizers.base import check_counts, check_rates, random_mask
from hushtable.errors import InputError, with_hint

__all__ = ["Evolutionary"]


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
        After a generation that is better than the one before, mutate a hundredth less
        and cross a hundredth more, else the reverse; both stay within [0.01, 1].

    Notes
    -----
    Operators and options of Simões et al., section 5.2 and their listing 1. The gains
    of a term over the previous best set, which their fitness also holds, are left out:
    a set's value would depend on when it was found. A set without columns is replaced
    by a random one.
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
        check_counts(
            self.name,
            {"generations": self.generations, "population": self.population, "tournament": self.tournament},
        )
        check_rates(self.name, {"mutation_rate": self.mutation_rate, "crossover_rate": self.crossover_rate})
        if not 0 <= self.elite < self.population:
            msg = with_hint(
                f"evolutionary was given elite = {self.elite!r} of a population of {self.population}.",
                "keep fewer than there are.",
            )
            raise InputError(msg)

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Breed generation by generation."""
        n = evaluator.n_candidates
        mutation, crossover = self.mutation_rate, self.crossover_rate
        people = np.array([_unpacked(random_mask(n, rng), n) for _ in range(self.population)])
        values = self._judged(evaluator, people)
        for _ in range(self.generations):
            best_before = values.max()
            children = self._bred(people, values, mutation, crossover, rng)
            elite = np.argsort(-values, kind="stable")[: self.elite]
            people = np.concatenate([people[elite], children[: self.population - self.elite]])
            values = self._judged(evaluator, people)
            if self.adaptive:
                shift = 0.99 if values.max() > best_before else 1.01
                mutation = float(np.clip(mutation * shift, 0.01, 1))
                crossover = float(np.clip(crossover / shift, 0.01, 1))
        return None

    def _judged(self, evaluator: ObjectiveEvaluator, people: BoolArray) -> FloatArray:
        """Return the objective of every member, in the members' order."""
        values = evaluator.values([_packed(member) for member in people])
        evaluator.step(values)
        return np.array(values)

    def _bred(
        self, people: BoolArray, values: FloatArray, mutation: float, crossover: float, rng: np.random.Generator
    ) -> BoolArray:
        size, n = people.shape
        drawn = rng.integers(0, size, (size + size % 2, self.tournament))
        parents = people[drawn[np.arange(len(drawn)), values[drawn].argmax(axis=1)]]
        children = parents.copy()
        for i in range(0, len(children), 2):
            if n > 1 and rng.random() < crossover:
                point = int(rng.integers(1, n))
                children[i, point:], children[i + 1, point:] = parents[i + 1, point:], parents[i, point:]
        children ^= rng.random(children.shape) < mutation
        for child in children:
            if not child.any():
                child[:] = _unpacked(random_mask(n, rng), n)
        return np.asarray(children)


def _packed(member: BoolArray) -> int:
    return sum(1 << j for j in np.flatnonzero(member).tolist())


def _unpacked(mask: int, n_columns: int) -> BoolArray:
    return np.array([mask >> j & 1 for j in range(n_columns)], dtype=bool)
