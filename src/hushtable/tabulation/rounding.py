"""Controlled rounding: every count becomes a multiple of a base, and all totals stay the sums of their parts.

Which of its two neighbours a count becomes is drawn first, the nearer one more often, so that no rule tells the way
back; of the tables that add up, one near to the draw is published (Cox, 1987).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import CountArray
from hushtable.claims import RoundedCells, show_limits
from hushtable.errors import InfeasibleError, InputError, check_columns, check_type, check_whole
from hushtable.io import frames
from hushtable.search import Budget, Clock, solver
from hushtable.tabulation.cells import CellSystem, ReaderKnowledge, build_system
from hushtable.tabulation.published import PublishedTables, list_tables, name_count
from hushtable.tabulation.reading import read_hierarchies
from hushtable.tabulation.tabulating import check_dimensions, read_records
from hushtable.wording import careful, join_names

_MAX_STEPS: Final = 2  # multiples beyond the two neighbours of a count
_GAP: Final = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class RoundedTables(PublishedTables):
    """Tables of rounded counts that add up.

    Attributes
    ----------
    by : tuple of tuples of str
        The dimensions of each table.
    value : str
        The column of counts.
    system : CellSystem
        All cells with their true values.
    hierarchies : mapping of dimension to {parent: children}
    base : int
    steps : int
        0: every count is one of its two neighbouring multiples, and multiples stay.
    rounded : array
        What is published, by cell of the system.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    base: int
    steps: int
    rounded: CountArray = field(repr=False)

    @property
    def reach(self) -> int:
        """How far a published count may be from the true one."""
        return (self.steps + 1) * self.base - 1

    def _format_cell(self, cell: int) -> str:
        return str(self.rounded[cell])

    @property
    def claim(self) -> RoundedCells:
        """What the file promises, with witnesses that anybody could compute from it.

        Raises
        ------
        InfeasibleError
            A reader who knows the base can compute a count.
        """
        # Of each cell a reader knows the limits of its true count.
        judged = self._audit_published(show_limits(frames.read(self.frame), self.value, self.reach), _READER, None)
        if not judged.passed:
            raise InfeasibleError(
                f"a reader who knows the base can compute {len(judged.failing):,} of {self.system.n_cells:,} counts.",
                hint="round to a larger base, or take coarser categories.",
            )
        # Of the witnesses that the claim holds: the search may have seen others.
        spread = int(np.ptp([witness.values for witness in judged.audit.witnesses], axis=0).min())
        return RoundedCells(None, judged.certificate.to_dict(), self.base, self.reach, spread)

    @property
    def moved(self) -> CountArray:
        """How far each published count is from the true one."""
        moved: CountArray = np.abs(self.rounded - self.system.values)
        return moved

    def to_dict(self) -> dict[str, object]:
        """Return what is known of the tables as plain values, no cell among them."""
        return {
            "by": [list(names) for names in self.by],
            "value": self.value,
            "content": "counts",
            "base": self.base,
            "steps": self.steps,
            "n_cells": self.system.n_cells,
            "mean_moved": round(float(self.moved.mean()), 3),
            "most_moved": int(self.moved.max()),
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """How counts were rounded, in whole sentences."""
        tables = join_names([" x ".join(names) for names in self.by])
        told = (
            f"{self.system.n_cells:,} counts of {tables} are multiples of {self.base} that add up; each is less than "
            f"{self.reach + 1} from the true one, {self.moved.mean():.1f} on average."
        )
        once = "Round these tables once: the mean of several roundings reveals the true counts."
        if not self.steps:
            return told, once, *self.system.facts
        beyond = f"No neighbouring multiples of {self.base} add up: counts may be {self.steps} multiples further off."
        return careful(beyond), told, once, *self.system.facts


_READER: Final = ReaderKnowledge("counts", "hidden", public=())


def round_tables(
    data: Any,
    *,
    by: Sequence[str] | Sequence[Sequence[str]],
    base: int = 5,
    person: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    seed: int | None = None,
    budget: Budget | None = None,
) -> RoundedTables:
    """Make tables of counts from records, and round all of them to multiples of a base that add up.

    Parameters
    ----------
    data : path or dataframe
        A row a record.
    by : sequence of str, or several of them
        The dimensions of a table, or of each of several.
    base : int
    person : str, optional
        Whose record a row is: each counts once, and must be in one cell only.
    hierarchies : mapping of column to {parent: [children]}, or a table with a column a level
    seed : int, optional
        A secret that decides how cells are rounded; anyone who knows it can compute counts. Default: a new one.
    budget : Budget, optional
        How long the nearest table is looked for. Default: 60 seconds.

    Returns
    -------
    RoundedTables

    Raises
    ------
    InfeasibleError
        No multiples near the counts add up.
    InputError
        The records cannot be counted, or a person is in several cells.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = ht.datasets.people(n=400, seed=1)
    >>> rounded = ht.round_tables(people, by=["sex", "education"], base=5, seed=1)
    >>> rounded.verify().passed, rounded.reach
    (True, 4)
    """
    check_whole("base", base, 2, 10**6)
    check_type(person, str, "person", "the name of a column: person='id'")
    check_type(budget, Budget, "budget", "ht.Budget(seconds=10)")
    several, trees = list_tables(by), read_hierarchies(hierarchies)
    names = check_dimensions(several)
    check_columns([*trees], names, "hierarchies")
    records = read_records(data, names, person=person, hierarchies=trees)
    if person is not None and not records.counts_persons:
        raise InputError(
            f"persons of {person!r} are in several cells: these would count records, and rounding hides no person.",
            hint="give each one cell, or hide cells instead of rounding: a threshold counts persons.",
        )
    tables = [records.count(each, 1).table for each in several]
    system = build_system(tables, _READER)
    drawn = _draw_multiples(system, base, secrets.randbits(64) if seed is None else seed)
    clock = Clock(budget or Budget(seconds=60))
    for steps in range(_MAX_STEPS + 1):
        found = _find_nearest(system, base, steps, drawn, clock)
        if found is not None:
            inputs = (Path(data),) if isinstance(data, (str, Path)) else ()
            return RoundedTables(several, name_count(names), system, trees, base, steps, found, inputs=inputs)
    raise InfeasibleError(
        f"no multiples of {base} near the counts add up.", hint="take another base, more seconds, or fewer tables."
    )


def _draw_multiples(system: CellSystem, base: int, seed: int) -> CountArray:
    """Draw for each cell one of its two neighbours: a cell of the same value gets the same one under the same seed."""
    drawn = np.zeros(system.n_cells, dtype=np.int64)
    for cell, value in enumerate(system.values.tolist()):
        told = repr((seed, system.keys[cell], value)).encode()
        share = int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "big") / 2**64
        drawn[cell] = value // base + (share < value % base / base)
    return drawn


def _find_nearest(system: CellSystem, base: int, steps: int, drawn: CountArray, clock: Clock) -> CountArray | None:
    """Return the multiples that add up and are nearest to what was drawn; None if none were found."""
    from scipy.optimize import Bounds, LinearConstraint
    from scipy.sparse import csr_array, eye_array, hstack

    n, values = system.n_cells, system.values
    low = np.maximum(0, values // base - steps)
    high = -(-values // base) + steps
    matrix = system.equations.matrix(n)
    # By how many multiples each is off counts from both sides.
    eye = eye_array(n, format="csr")
    rows = [hstack([eye, -eye]), hstack([eye, eye])]
    off = [LinearConstraint(rows[0], -np.inf, drawn), LinearConstraint(rows[1], drawn, np.inf)]
    sums = hstack([matrix, csr_array(matrix.shape)], format="csr")
    bounds = Bounds(np.concatenate([low, np.zeros(n)]), np.concatenate([high, np.full(n, np.inf)]))
    answer = solver.milp(
        np.concatenate([np.zeros(n), np.ones(n)]),
        constraints=[*off, *([LinearConstraint(sums, 0, 0)] if len(system.equations) else [])],
        bounds=bounds,
        integrality=np.concatenate([np.ones(n), np.zeros(n)]),
        options={"mip_rel_gap": _GAP, **({} if clock.left == np.inf else {"time_limit": max(0.1, clock.left)})},
    )
    if answer.x is None:
        return None
    found: CountArray = np.rint(answer.x[:n]).astype(np.int64) * base
    return None if (matrix @ found.astype(float)).any() else found
