"""How a reader computes a hidden cell: a short sum of totals, checked in integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.search import solver
from hushtable.tabulation.cells import CellSystem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_STEPS: Final = (1, 2, 4)  # how far from the cell the sums are looked for, before all of them are
_MAX_ENTRIES: Final = 400_000  # of the programme that looks for the shortest sum
_DENOMINATORS: Final = (1, 2, 3, 4, 6, 12)
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Derivation:
    """Why a cell is at most, or at least, a value.

    Attributes
    ----------
    terms : tuple of (int, Fraction)
        Sums of the system, and how often each is taken.
    least : tuple of (int, Fraction)
        Hidden cells besides, with their least values, and how often each is taken.
    """

    cell: int
    bound: Fraction  # in units
    is_upper: bool
    terms: tuple[tuple[int, Fraction], ...]
    least: tuple[tuple[int, Fraction], ...]

    def describe(self, system: CellSystem) -> str:
        """Say it in words."""
        # A sum tells its hidden parts: with its total on the right, its factor is the other way round.
        parts = [
            f"{_format_factor(-factor, position)}{system.describe_equation(equation)}"
            for position, (equation, factor) in enumerate(sorted(self.terms, key=lambda term: term[1]))
        ]
        told = " ".join(parts) or "the least value of a hidden cell"
        if not self.least:
            return told
        names = [system.describe(cell) for cell, _ in self.least[:3]]
        more = f" and {len(self.least) - 3:,} more" if len(self.least) > 3 else ""
        least = {system.format_value(system.lower[cell]) for cell, _ in self.least}
        return f"{told}, where {'; '.join(names)}{more} is at least {'/'.join(sorted(least))}"


def _format_factor(factor: Fraction, position: int) -> str:
    sign = "- " if factor < 0 else "+ " if position else ""
    return sign if abs(factor) == 1 else f"{sign}{abs(factor)} x "


def derive(system: CellSystem, cell: int, value: float, *, is_upper: bool) -> Derivation | None:
    """Find the shortest sum of totals that shows that a cell is at most (at least) a value; None if none is found."""
    if not is_upper and system.lower[cell] >= value:
        return Derivation(cell, Fraction(int(value)), is_upper, (), ())
    for equations in _grow_neighbourhood(system, cell):
        found = _find_terms(system, cell, value, equations, is_upper=is_upper)
        if found is not None:
            return found
    return None


def _grow_neighbourhood(system: CellSystem, cell: int) -> Iterator[CountArray]:
    """Yield the sums near a cell, further away each time, and all at last."""
    matrix = abs(system.equations.matrix(system.n_cells))[:, np.flatnonzero(~system.is_known)]
    unknown = np.flatnonzero(~system.is_known)
    reached = (unknown == cell).astype(np.float64)
    n_before = 0
    for step in range(1, len(unknown) + 2):
        rows = matrix @ reached > 0
        reached = ((matrix.T @ rows) + reached > 0).astype(np.float64)
        n_rows = int(rows.sum())
        if n_rows == n_before:
            yield np.flatnonzero(rows)
            return
        if step in _STEPS:
            yield np.flatnonzero(rows)
        n_before = n_rows


def _find_terms(
    system: CellSystem, cell: int, value: float, chosen: CountArray, *, is_upper: bool
) -> Derivation | None:
    """Look for factors of some sums whose total bounds the cell, with the fewest and smallest factors."""
    from scipy.optimize import Bounds, LinearConstraint
    from scipy.sparse import csr_array, hstack, vstack

    whole = system.equations.matrix(system.n_cells)[chosen]
    needed = -(whole @ np.where(system.is_known, system.values, 0).astype(np.float64))
    touched = np.flatnonzero((abs(whole).sum(axis=0) > 0) & ~system.is_known)
    matrix = whole[:, touched]
    if matrix.nnz > _MAX_ENTRIES:
        return None
    lower = system.lower[touched]
    is_bounded = np.isfinite(lower)
    base = np.where(is_bounded, lower, 0.0)
    target = (touched == cell).astype(np.float64)
    # x = sum of totals -+ distances of other cells from their least values, none of which is negative.
    sign = 1.0 if is_upper else -1.0
    slack = sign * (needed - matrix @ base)
    size = max(1.0, float(np.abs(slack).max(initial=0.0)))
    limit = sign * (value - (base[target > 0][0] if target.any() else 0.0))
    both = hstack([matrix.T, -matrix.T], format="csr")
    rows = vstack([both, csr_array(np.concatenate([slack, -slack])[None, :] / size)], format="csr")
    low = np.concatenate([np.where(is_bounded & (not is_upper), -np.inf, target), [-np.inf]])
    high = np.concatenate([np.where(is_bounded & is_upper, np.inf, target), [limit / size]])
    answer = solver.milp(
        np.ones(both.shape[1]),
        constraints=LinearConstraint(rows, low, high),
        bounds=Bounds(0, np.inf),
    )
    if answer.x is None:
        return None
    factors = answer.x[: len(chosen)] - answer.x[len(chosen) :]
    found = _confirm(
        system, cell, chosen, factors, (matrix, needed, touched, is_bounded, base, target), is_upper=is_upper
    )
    if found is None or (found.bound >= value + 1 if is_upper else found.bound <= value - 1):
        return None
    return found


def _confirm(
    system: CellSystem,
    cell: int,
    chosen: CountArray,
    factors: FloatArray,
    parts: tuple[csr_array, FloatArray, CountArray, BoolArray, FloatArray, FloatArray],
    *,
    is_upper: bool,
) -> Derivation | None:
    """Return the derivation if its factors hold as small fractions, exactly."""
    matrix, needed, touched, is_bounded, base, target = parts
    for denominator in _DENOMINATORS:
        exact = np.rint(factors * denominator)
        rest = (matrix.T @ exact) - denominator * target
        rest = rest if is_upper else -rest
        if (
            np.abs(exact / denominator - factors).max(initial=0.0) > _TOLERANCE
            or (rest < 0).any()
            or rest[~is_bounded].any()
        ):
            continue
        bound = exact @ needed + (-rest @ base if is_upper else rest @ base)
        terms = tuple((int(chosen[place]), Fraction(int(exact[place]), denominator)) for place in np.flatnonzero(exact))
        least = tuple((int(touched[place]), Fraction(int(rest[place]), denominator)) for place in np.flatnonzero(rest))
        return Derivation(cell, Fraction(int(bound), denominator), is_upper, terms, least)
    return None
