"""Tests for methods of other packages: the promises that every method of hushtable keeps.

In come a method and small made-up tables; out goes a list of the promises that it breaks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np
import polars as pl

from hushtable.anonymizers import Found, Method, Problem
from hushtable.errors import BudgetExceeded, HushError
from hushtable.models import DistinctLDiversity, KAnonymity
from hushtable.policy import anonymize
from hushtable.search import Budget, Clock

__all__ = ["PROMISES", "check_method"]

_QUASI_IDENTIFIERS: Final = ("age", "sex", "town")
_CHECKED_K: Final = 3
_N_TABLES: Final = 4


def check_method(method: Method, *, seed: int = 0) -> list[str]:
    """Find the promises that a method breaks, on a few small made-up tables.

    Parameters
    ----------
    method : Method
        An object; it need not be registered.
    seed : int, default 0
        Of the tables.

    Returns
    -------
    list of str
        A sentence for every promise that is broken; empty where all are kept. That no table breaks one is no proof.

    Notes
    -----
    The promises are the keys of `PROMISES`. Every one takes some searches of 14 to 40 rows.

    Examples
    --------
    >>> import hushtable as ht
    >>> check_method(ht.Mondrian())
    []
    """
    found = []
    for name, broken in PROMISES.items():
        try:
            told = next((each for each in broken(method, seed) if each), "")
        except Exception as error:
            told = f"it raised {type(error).__name__}: {error}"
        if told:
            found.append(f"{name}: {told}")
    return found


def _draw_tables(seed: int) -> Iterator[pl.DataFrame]:
    """Generate tables with equal rows and missing cells."""
    rng = np.random.default_rng(seed)
    for n_rows in np.linspace(14, 40, _N_TABLES).astype(int).tolist():
        yield pl.DataFrame(
            {
                "age": rng.choice([21, 25, 30, 44, 52, 67], n_rows),
                "sex": [None if x == 2 else "fm"[x] for x in rng.choice(3, n_rows, p=[0.45, 0.45, 0.1])],
                "town": rng.choice(["bonn", "graz", "linz, am"], n_rows),
                "ill": rng.choice(["flu", "gout", "mumps"], n_rows),
            }
        )


def _protect_table(method: Method, table: pl.DataFrame, **more: Any) -> Any:
    models: list[Any] = [KAnonymity(_CHECKED_K), DistinctLDiversity(2, "ill")]
    return anonymize(table, quasi_identifiers=_QUASI_IDENTIFIERS, models=models, method=method, roles="trust", **more)


def _count_rows(release: Any) -> Counter[Any]:
    return Counter(release.frame.rows())


def _order_of_rows(method: Method, seed: int) -> Iterator[str]:
    for table in _draw_tables(seed):
        shuffled = table.sample(fraction=1, shuffle=True, seed=seed + 1)
        if _count_rows(_protect_table(method, table)) != _count_rows(_protect_table(method, shuffled)):
            yield f"{table.height} rows in another order publish other cells. Order rows by content before you search."


def _repeats_itself(method: Method, seed: int) -> Iterator[str]:
    for table in _draw_tables(seed):
        if _count_rows(_protect_table(method, table)) != _count_rows(_protect_table(method, table)):
            yield "two runs publish other cells. Draw from a seed that is an option of the method."


def _classes_pass(method: Method, seed: int) -> Iterator[str]:
    for table in _draw_tables(seed):
        try:
            verdict = _protect_table(method, table).verify()
        except (HushError, AssertionError) as error:
            yield str(error)
        else:
            if not verdict.passed:
                yield f"a release does not hold {', '.join(each.condition for each in verdict.failures)}."


def _looks_at_the_clock(method: Method, seed: int) -> Iterator[str]:
    """Check that a search looks at the clock, on the largest table: smaller ones may end too soon."""
    *_, table = _draw_tables(seed)
    looks = [0]

    class Watched(Clock):
        __slots__ = ()

        def is_over(self, nodes: float = 0) -> bool:
            looks[0] += 1
            return Clock.is_over(self, nodes)

        @property
        def left(self) -> float:
            looks[0] += 1
            return Clock.left.fget(self)  # type: ignore[attr-defined, no-any-return]

        def report_progress(self, share: float) -> None:
            looks[0] += 1
            Clock.report_progress(self, share)

    class Passed:
        name: ClassVar[str] = method.name
        offers = method.offers

        def search(self, problem: Problem) -> Found:
            looks[0] = 0
            clock = problem.clock
            found = method.search(replace(problem, clock=Watched(clock.budget, clock.progress, clock.began)))
            if not looks[0]:
                looks[0] = -1
            return found

    try:
        _protect_table(Passed(), table, budget=Budget(seconds=60))
    except BudgetExceeded:
        return
    if looks[0] < 0:
        yield "it never looked at `problem.clock`, so that no budget ends it. Ask `clock.is_over()` in every loop."


def _tells_the_loss(method: Method, seed: int) -> Iterator[str]:
    for table in _draw_tables(seed):
        release = _protect_table(method, table)
        trace, loss = release.trace, release.loss
        if not math.isfinite(loss):
            yield f"the loss is {loss}."
        if trace.bound is not None and trace.bound > loss + 1e-9:
            yield f"its trace tells a lower bound of {trace.bound:.6g}, and the release loses {loss:.6g}."
        if trace.optimal and (trace.bound is None or trace.bound < loss - 1e-9):
            yield f"its trace says that the release is optimal, and its lower bound is {trace.bound}, not {loss:.6g}."


PROMISES: Final[Mapping[str, Callable[[Method, int], Iterator[str]]]] = MappingProxyType(
    {
        "the order of rows does not matter": _order_of_rows,
        "every run gives the same": _repeats_itself,
        "every class passes the models": _classes_pass,
        "a budget ends the search": _looks_at_the_clock,
        "what the trace says of the loss is true": _tells_the_loss,
    }
)
"""Every promise, and what looks for tables that break it."""
