"""Searches that walk from one column set to another that has one column more or less."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hushtable.discover.evaluation import ObjectiveEvaluator
from hushtable.discover.optimizers.base import check_counts, check_rates, flips, random_mask
from hushtable.errors import InputError, with_hint

__all__ = ["Annealing", "Greedy", "Tabu"]


@dataclass(frozen=True, slots=True)
class Greedy:
    """Go to the best set of one column more or less, as long as that is better.

    Parameters
    ----------
    start : {"empty", "random"}
        No column, or the source's random half of them.
    max_steps : int

    Notes
    -----
    For separation alone, from the empty set, (1 - 1/e) of the best set of each size is
    guaranteed (it is submodular: Nemhauser, Wolsey, Fisher, 1978); in general nothing is.
    """

    start: Literal["empty", "random"] = "empty"
    max_steps: int = 1000

    name: ClassVar[str] = "greedy"

    def __post_init__(self) -> None:
        check_counts(self.name, {"max_steps": self.max_steps})
        if self.start not in ("empty", "random"):
            msg = with_hint(f"greedy was given start = {self.start!r}.", "choose 'empty' or 'random'.")
            raise InputError(msg)

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Climb to a set that no flip of one column betters."""
        n = evaluator.n_candidates
        mask = random_mask(n, rng) if self.start == "random" else 0
        value = evaluator.value(mask) if mask else -math.inf
        for _ in range(self.max_steps):
            around = flips(mask, n)
            values = evaluator.values(around) or [-math.inf]
            best = int(np.argmax(values))
            if not values[best] > value:
                break
            mask, value = around[best], values[best]
            evaluator.step([value])
        return None


@dataclass(frozen=True, slots=True)
class Tabu:
    """Go to the best set of one column more or less that was not visited lately, better or not.

    Parameters
    ----------
    max_steps : int
    tenure : int
        How many of the last sets may not be visited again.

    Notes
    -----
    Glover, 1986; the source's options, from a random start.
    """

    max_steps: int = 100
    tenure: int = 10

    name: ClassVar[str] = "tabu"

    def __post_init__(self) -> None:
        check_counts(self.name, {"max_steps": self.max_steps, "tenure": self.tenure})

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Walk until the steps are used up, or every set around was visited lately."""
        mask = random_mask(evaluator.n_candidates, rng)
        evaluator.step([evaluator.value(mask)])
        visited = deque([mask], maxlen=self.tenure)
        for _ in range(self.max_steps):
            around = [each for each in flips(mask, evaluator.n_candidates) if each not in visited]
            if not around:
                break
            values = evaluator.values(around)
            best = int(np.argmax(values))
            mask = around[best]
            visited.append(mask)
            evaluator.step([values[best]])
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
    Kirkpatrick, Gelatt, Vecchi, 1983. The source starts at 10 and takes 100 steps,
    which for objectives that differ by about 1 is a random walk; here the walk is long
    enough to cool down. The temperature belongs to a run, not to the options: a
    second run is the same as the first.
    """

    max_steps: int = 2000
    temperature: float = 1.0
    cooling: float = 0.995

    name: ClassVar[str] = "annealing"

    def __post_init__(self) -> None:
        check_counts(self.name, {"max_steps": self.max_steps})
        check_rates(self.name, {"cooling": self.cooling})
        if not self.temperature > 0:
            msg = with_hint(f"annealing was given temperature = {self.temperature!r}.", "it is a number above 0.")
            raise InputError(msg)

    def search(self, evaluator: ObjectiveEvaluator, rng: np.random.Generator) -> float | None:
        """Walk until the steps are used up."""
        mask = random_mask(evaluator.n_candidates, rng)
        value = evaluator.value(mask)
        temperature = self.temperature
        for _ in range(self.max_steps):
            evaluator.step([value])
            other = mask ^ 1 << int(rng.integers(evaluator.n_candidates))
            if other:
                theirs = evaluator.value(other)
                # A temperature that cooled down to 0 accepts nothing worse.
                if theirs > value or rng.random() < math.exp((theirs - value) / max(temperature, 1e-300)):
                    mask, value = other, theirs
            temperature *= self.cooling
        return None
