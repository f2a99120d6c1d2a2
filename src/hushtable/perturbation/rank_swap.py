"""Rank swapping: each cell changes places with one whose rank is near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims import Stated
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.kernels import rank_swap
from hushtable.kernels.park_miller import MODULUS
from hushtable.perturbation.method import OriginalCells, Perturbed


@dataclass(frozen=True, slots=True)
class RankSwap:
    """Swap each cell of a column with one at most ``distance`` of all ranks away, column by column.

    Every column keeps exactly its values, and so all figures of it alone. Correlations shrink: by how much, the result
    measures. No top or bottom coding is done besides. Missing cells stay where they are.

    Attributes
    ----------
    distance : float, default 0.05
        The greatest move, as a share of the known cells of the column (in the stratum): above 0, at most 1.

    Notes
    -----
    Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996. Going up the ranks, a
    record that is not yet swapped takes a partner at random among the next ``distance * n`` ranks that are not either;
    where none is left, it stays. Equal cells are in random order. If an intruder knows the distance, linkage by rank
    finds more than the linkage reported: Nin, Herranz, Torra 2008.
    """

    name: ClassVar[str] = "rank_swap"
    distance: float = 0.05

    def __post_init__(self) -> None:
        check_share("distance", self.distance)

    @property
    def beside(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Stated:
        """Return the statement of what was done."""
        return Stated(columns, f"rank swapping (at most {self.distance:.6g} of all ranks away{describe_strata(by)})")

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Swap the cells of every column, for each stratum by itself."""
        unordered = [column.name for column in cells.table.columns if not column.is_ordered]
        if unordered:
            raise ColumnError(
                f"columns {quote_names(unordered)} have no order, and so no ranks.",
                hint="declare their order (specs), or take pram.",
            )
        codes = np.array([self._swap(column, cells.strata, rng) for column in cells.table.codes], dtype=np.int32)
        return Perturbed(codes.reshape(cells.table.codes.shape))

    def _swap(self, codes: CodeArray, strata: CodeArray, rng: np.random.Generator) -> CodeArray:
        swapped = codes.copy()
        known = np.flatnonzero(codes >= 0)
        if not len(known):
            return swapped
        order = known[np.lexsort((rng.random(len(known)), codes[known], strata[known]))]
        ends = np.flatnonzero(np.diff(strata[order], append=-1)) + 1
        state = draw_state(rng)
        for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            partners = np.empty(end - begin, dtype=np.int64)
            rank_swap.pair_places(int(self.distance * (end - begin)), partners, state)
            rows = order[begin:end]
            swapped[rows] = codes[rows[partners]]
        return swapped


def draw_state(rng: np.random.Generator) -> CountArray:
    """Draw the random state of a kernel."""
    return rng.integers(1, MODULUS, size=1, dtype=np.int64)


def check_share(what: str, given: object) -> None:
    """Raise InputError if an option is not a share above 0."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= 1:
        raise InputError(f"{what} = {given!r}.", hint="a share above 0 and at most 1: 0.05 is 5 %.")


def describe_strata(by: tuple[str, ...]) -> str:
    """Say within which strata something was done, as the end of a statement."""
    return f", within {', '.join(by)}" if by else ""
