"""What every optimizer is given and gives back beside its result: a budget and a trace."""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from typing import Any, Final

from hushtable.errors import InputError, with_hint

__all__ = ["N_THREADS", "Budget", "Effort", "Trace"]

N_THREADS: Final = min(8, os.cpu_count() or 1)
"""Threads of searches whose answer does not depend on their number; each keeps notes of its own, so not all cores."""


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
