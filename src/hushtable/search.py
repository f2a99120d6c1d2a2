"""What every optimizer is given and gives back beside its result: a budget, a clock and a trace."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hushtable._types import Progress
from hushtable.errors import InputError, with_hint

__all__ = ["THREADS", "Budget", "Clock", "Effort", "Trace", "n_threads"]

THREADS: Final = "HUSHTABLE_THREADS"
_NEGLIGIBLE: Final = 1e-7  # of a loss: what rounding does to a sum

_MOST_THREADS: Final = 8


def n_threads() -> int:
    """Return how many threads a search may use whose answer does not depend on their number.

    What ``HUSHTABLE_THREADS`` says (the command's ``--threads``), else the cores that this process may
    run on, 8 at the most: each thread keeps notes of its own.

    Raises
    ------
    InputError
        The variable is no whole number from 1 on.
    """
    asked = os.environ.get(THREADS, "")
    if not asked:
        return min(_MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if not asked.isdecimal() or int(asked) < 1:
        msg = with_hint(f"{THREADS} = {asked!r}.", "a whole number of threads, 1 or more.")
        raise InputError(msg)
    return int(asked)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a search may go on; whatever ends first.

    Parameters
    ----------
    seconds : float, optional
        Results under a budget in seconds are not reproducible.
    nodes : int, optional
        Search nodes; reproducible.
    """

    seconds: float | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "nodes"):
            given = getattr(self, name)
            if given is not None and not given > 0:
                msg = with_hint(f"budget {name} = {given!r}.", "a budget is a number above 0.")
                raise InputError(msg)


@dataclass(frozen=True, slots=True)
class Effort:
    """What a search looked at, and what it could leave out.

    Attributes
    ----------
    states : int
        Parts of solutions that were settled.
    pruned : int
        Parts of solutions that a bound told away without looking further.
    cache_hits : int
        Costs that were looked up instead of computed again.
    space : float
        Decimal logarithm of the number of tables that trying everything would look at.
    ties : int or None
        How many partitions reach the least loss, where they were counted.
    history : tuple of (float, float or None, float)
        Seconds, proven bound and best loss each time one of the two became better;
        without seconds, the number of the generation.
    """

    states: int
    pruned: int
    cache_hits: int
    space: float
    ties: int | None = None
    history: tuple[tuple[float, float | None, float], ...] = ()

    @property
    def factor(self) -> float:
        """Decimal logarithm of how many tables there are for each state that was settled."""
        return self.space - math.log10(max(1, self.states))


@dataclass(frozen=True, slots=True)
class Trace:
    """How a search went.

    Attributes
    ----------
    method : str
        With its options.
    nodes : int
        Search nodes settled.
    seconds : float
        Wall-clock time of the search, without reading, coding or writing.
    complete : bool
        False when a budget ended the search.
    optimal : bool
        Whether the loss is proven to be the least possible.
    bound : float or None
        A proven lower bound of the loss, in the loss's unit.
    gap : float or None
        (loss - bound) / loss.
    seed : int or None
        None where nothing is random.
    effort : Effort or None
        Of methods that prove what they find, and of those that draw lots.
    """

    method: str
    nodes: int
    seconds: float
    complete: bool = True
    optimal: bool = False
    bound: float | None = None
    gap: float | None = None
    seed: int | None = None
    effort: Effort | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain values; no effort where none was recorded."""
        entries = dataclasses.asdict(self)
        if self.effort is None:
            del entries["effort"]
        return entries


Moment = tuple[float, float | None, float]


@dataclass(slots=True, eq=False)
class Clock:
    """The budget of one search, and those who watch it; its parts share it.

    Attributes
    ----------
    budget : Budget
    progress : callable, optional
        Told the share that is done, which never falls.
    now : callable
        Where the seconds come from.
    history : list of (float, float or None, float)
        What `note` wrote down: when, proven bound, best loss.
    """

    budget: Budget = field(default_factory=Budget)
    progress: Progress | None = None
    now: Callable[[], float] = time.perf_counter
    history: list[Moment] = field(default_factory=list)
    began: float = field(init=False)
    _told: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.began = self.now()

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return self.now() - self.began

    @property
    def left(self) -> float:
        """Seconds of the budget that are left; infinite without one."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds

    def is_over(self, nodes: int = 0) -> bool:
        """Tell whether the budget ended, after so many search nodes."""
        return (self.budget.nodes is not None and nodes >= self.budget.nodes) or self.left <= 0

    def within(self, seconds: float) -> Clock:
        """Return the same clock with a budget that ends in so many seconds, or when this one ends."""
        most = self.seconds + seconds
        return self._as(Budget(most if self.budget.seconds is None else min(most, self.budget.seconds), self.budget.nodes))

    def tell(self, share: float) -> None:
        """Tell whoever watches the share of the search that is done."""
        if self.progress is not None and share > self._told:
            self._told = min(1.0, share)
            self.progress(self._told)

    def note(self, value: float, bound: float | None = None, at: float | None = None) -> None:
        """Write down that the best loss or the bound became better, now or at a step of one's own count."""
        self.history.append((self.seconds if at is None else at, bound, value))

    def trace(
        self,
        method: str,
        nodes: int,
        *,
        value: float = math.nan,
        bound: float | None = None,
        complete: bool = True,
        seed: int | None = None,
        effort: Effort | None = None,
    ) -> Trace:
        """Say how the search went; ``value`` and ``bound`` give the gap, and whether nothing better can be."""
        if bound is None:
            return Trace(method, nodes, self.seconds, complete, seed=seed, effort=effort)
        optimal = bound >= value - _NEGLIGIBLE * max(1.0, value)
        gap = 0.0 if optimal or value == 0 else (value - bound) / value
        return Trace(method, nodes, self.seconds, complete, optimal, value if optimal else bound, gap, seed, effort)

    def _as(self, budget: Budget) -> Clock:
        clock = Clock(budget, self.progress, self.now, self.history)
        clock.began, clock._told = self.began, self._told
        return clock
