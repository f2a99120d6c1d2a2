"""PRAM: each category is published as another one with a known chance, so that frequencies stay on average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.claims import Stated
from hushtable.columns import Column
from hushtable.errors import InfeasibleError, check_type
from hushtable.perturbation.method import OriginalCells, Perturbed
from hushtable.perturbation.rank_swap import check_share, describe_strata
from hushtable.search import check_memory


@dataclass(frozen=True, slots=True)
class Pram:
    """Publish each category as one drawn from a row of an invariant matrix: frequencies stay, on average.

    Attributes
    ----------
    change : float, default 0.1
        The expected share of records whose published cell differs, for each column (of all together, where `joint`).
    joint : bool
        Draw all columns together, as one column of their combinations: what they say of one another stays on average.
        Else every column is drawn by itself, and their dependence shrinks.
    exact : bool
        Keep all frequencies exactly: counts of changes are rounded, and who changes is drawn.

    Notes
    -----
    Post-randomisation: Gouweleeuw, Kooiman, Willenborg, De Wolf 1998, whose two steps make the matrix invariant. The
    first step keeps a value with one half, else takes any other. The share of changes is exact in the matrix, which
    is a function of the frequencies and of `change` alone. A missing cell is a value like others. The matrices of all
    columns and strata come with the result (``figures["matrices"]``, internal).
    """

    name: ClassVar[str] = "pram"
    change: float = 0.1
    joint: bool = False
    exact: bool = False

    def __post_init__(self) -> None:
        check_share("change", self.change)
        check_type(self.joint, bool, "joint", "True or False")
        check_type(self.exact, bool, "exact", "True or False")

    @property
    def beside(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Stated:
        """Return the statement of what was done."""
        joint = ", all columns together" if self.joint and len(columns) > 1 else ""
        what = f"invariant, {self.change:.6g} of the cells expected to change{joint}{describe_strata(by)}"
        return Stated(columns, f"post-randomisation ({what})")

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Draw every cell anew, for each stratum by itself."""
        table = cells.table
        codes = table.codes.copy()
        places = np.arange(len(table.columns))
        parts = [places] if self.joint else [places[[j]] for j in places]
        drawings = []
        for stratum in np.unique(cells.strata).tolist():
            rows = np.flatnonzero(cells.strata == stratum)
            for part in parts:
                distinct, of_row = np.unique(table.codes[np.ix_(part, rows)], axis=1, return_inverse=True)
                of_row, counts = of_row.ravel(), np.bincount(of_row.ravel())
                matrix = self._matrix(counts, [table.names[j] for j in part])
                new = draw_exactly(of_row, counts, matrix, rng) if self.exact else _draw(of_row, matrix, rng)
                codes[np.ix_(part, rows)] = distinct[:, new]
                columns = [table.columns[j] for j in part]
                drawings.append(_Drawing(columns, stratum, distinct.T.tolist(), matrix, true_chances(matrix, counts)))
        least = min(float(each.chances.min()) for each in drawings)
        largest = max(float(each.chances.max()) for each in drawings)
        figures = {
            "matrices": [each.to_dict() for each in drawings],
            "least_chance_true": least,
            "largest_chance_true": largest,
        }
        note = (
            f"A published value is the true one with a chance of {least:.2f} to {largest:.2f}, depending on the value."
        )
        return Perturbed(codes, figures=figures, notes=(note,))

    def _matrix(self, counts: CountArray, names: list[str]) -> FloatArray:
        check_memory(
            24.0 * len(counts) ** 2,
            f"a matrix of {len(counts)} values",
            "perturb fewer columns together, or numbers by another method.",
        )
        matrix = invariant_matrix(counts / counts.sum())
        reached = float((counts / counts.sum()) @ (1 - np.diag(matrix)))
        if reached < self.change:
            raise InfeasibleError(
                f"change = {self.change:.6g} is more than invariant post-randomisation of {', '.join(names)} can "
                f"change (in a stratum): {reached:.4f} of the cells.",
                hint="ask for less, or merge columns (joint) or strata.",
            )
        share = self.change / reached
        return np.asarray(share * matrix + (1 - share) * np.eye(len(counts)))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawing:
    """With which chances the values of some columns were drawn in a stratum."""

    columns: Sequence[Column]
    stratum: int
    values: list[list[int]]
    matrix: FloatArray
    chances: FloatArray

    def to_dict(self) -> dict[str, object]:
        """Return the drawing as plain values; a missing cell is None."""
        return {
            "columns": [column.name for column in self.columns],
            "stratum": self.stratum,
            "values": [
                [None if code < 0 else column.text(code) for column, code in zip(self.columns, value, strict=True)]
                for value in self.values
            ],
            "matrix": self.matrix.tolist(),
            "chance_true": self.chances.tolist(),
        }


def invariant_matrix(frequencies: FloatArray) -> FloatArray:
    """Return an invariant transition matrix R, t R = t, by two steps: keep with one half, then back as the data say."""
    n_values = len(frequencies)
    if n_values == 1:
        return np.ones((1, 1))
    first = np.full((n_values, n_values), 0.5 / (n_values - 1))
    np.fill_diagonal(first, 0.5)
    joint = frequencies[:, None] * first
    back = (joint / joint.sum(axis=0)).T
    matrix = first @ back
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def true_chances(matrix: FloatArray, counts: CountArray) -> FloatArray:
    """Return for each published value the chance that it is the true one."""
    return np.asarray(np.diag(matrix) * counts / (counts @ matrix))


def _draw(of_row: CountArray, matrix: FloatArray, rng: np.random.Generator) -> CountArray:
    drawn = np.empty_like(of_row)
    for value, row in enumerate(matrix):
        mine = np.flatnonzero(of_row == value)
        drawn[mine] = rng.choice(len(row), size=len(mine), p=row)
    return drawn


def draw_exactly(of_row: CountArray, counts: CountArray, matrix: FloatArray, rng: np.random.Generator) -> CountArray:
    """Draw new values such that their counts are those of before; each record's chances are those of the matrix."""
    flows = round_keeping_margins(counts[:, None] * matrix, rng)
    drawn = np.empty_like(of_row)
    for value, row in enumerate(flows):
        mine = rng.permutation(np.flatnonzero(of_row == value))
        drawn[mine] = np.repeat(np.arange(len(row)), row)
    return drawn


def round_keeping_margins(flows: FloatArray, rng: np.random.Generator) -> CountArray:
    """Round a matrix whose rows and columns sum to whole numbers to one of whole numbers with the same sums.

    Every entry is rounded up or down, up as often as its fraction says: along cycles of fractions as much is added as
    is taken, in one of the two directions, until an entry of the cycle is whole (Cox 1987).
    """
    whole = np.floor(flows + 1e-9)
    rest = np.clip(flows - whole, 0.0, 1.0)
    rest[rest < 1e-9] = 0.0
    while (cycle := _find_cycle(rest > 0)) is not None:
        rows, columns = np.array(cycle).T
        signs = np.where(np.arange(len(rows)) % 2 == 0, 1.0, -1.0)
        values = rest[rows, columns]
        up = min(np.where(signs > 0, 1 - values, values))
        down = min(np.where(signs > 0, values, 1 - values))
        step = up if rng.random() * (up + down) < down else -down
        moved = values + step * signs
        moved[np.abs(moved) < 1e-9] = 0.0
        is_one = np.abs(moved - 1) < 1e-9
        whole[rows[is_one], columns[is_one]] += 1
        rest[rows, columns] = np.where(is_one, 0.0, moved)
    return np.asarray(np.rint(whole + np.rint(rest)), dtype=np.int64)


def _find_cycle(fractional: BoolArray) -> list[tuple[int, int]] | None:
    """Return entries of a closed way that goes along a row and along a column in turn; None if there is none."""
    starts = np.flatnonzero(fractional.sum(axis=1) > 1)
    if not len(starts):
        return None
    way: list[tuple[bool, int]] = [(True, int(starts[0]))]
    seen: dict[tuple[bool, int], int] = {}
    while way[-1] not in seen:
        is_row, line = way[-1]
        seen[way[-1]] = len(way) - 1
        before = way[-2][1] if len(way) > 1 else -1
        across = np.flatnonzero(fractional[line] if is_row else fractional[:, line]).tolist()
        following = next((each for each in across if each != before), None)
        if following is None:
            return None
        way.append((not is_row, following))
    cycle = way[seen[way[-1]] :]
    return [(line, other) if is_row else (other, line) for (is_row, line), (_, other) in pairwise(cycle)]
