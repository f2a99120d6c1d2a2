"""Targeted record swapping: households that stand out where they live change places with similar ones elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims import Stated
from hushtable.errors import ColumnError, check_columns, check_whole, names_in, quote_names
from hushtable.perturbation.method import OriginalCells, Perturbed
from hushtable.perturbation.rank_swap import check_share, describe_strata
from hushtable.tables import Table


@dataclass(frozen=True, slots=True)
class RecordSwap:
    """Exchange where households live, first of those that are rare there.

    The perturbed columns move together: the levels of geography, and what goes with these. A household changes places
    with one of the same size, and with equal ``similar`` cells, in another area: tables of areas by these stay exact.

    Attributes
    ----------
    household : str, optional
        Whose record a row is; each record is a household when not given.
    geography : sequence of str
        The levels among the perturbed columns, from coarse to fine; all of them when not given.
    similar : sequence of str
        Columns in which households that are swapped agree, each the same for all of a household.
    risk : sequence of str
        A household is at risk in an area if fewer than ``k`` records there have the cells of one of its members.
    rate : float, default 0.05
        The share of households of every area of the finest level that are swapped at least.
    k : int, default 3

    Notes
    -----
    After the recommendation for the census of the European Union (Eurostat, targeted record swapping). Households at
    risk at a level swap across areas of that level, from coarse to fine; a donor is drawn with chances of 1 over the
    least count of its members' cells, and then further households are drawn likewise until the rate is met. Who finds
    no donor is counted (``figures["without_donor"]``) and stays.
    """

    name: ClassVar[str] = "record_swap"
    household: str | None = None
    geography: Sequence[str] = ()
    similar: Sequence[str] = ()
    risk: Sequence[str] = ()
    rate: float = 0.05
    k: int = 3

    def __post_init__(self) -> None:
        for option in ("geography", "similar", "risk"):
            object.__setattr__(self, option, names_in(getattr(self, option), option))
        check_share("rate", self.rate)
        check_whole("k", self.k, 1)

    @property
    def beside(self) -> tuple[str, ...]:
        """The household, what it must agree in, and what makes it rare."""
        own = () if self.household is None else (self.household,)
        return tuple(dict.fromkeys((*own, *self.similar, *self.risk)))

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Stated:
        """Return the statement of what was done."""
        similar = f", among equal {', '.join(self.similar)}" if self.similar else ""
        risk = f", first where {', '.join(self.risk)} has fewer than {self.k} records" if self.risk else ""
        return Stated(
            columns, f"record swapping ({self.rate:.6g} of the households{risk}{similar}{describe_strata(by)})"
        )

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Exchange the cells of all columns between households."""
        levels = self.geography or cells.table.names
        check_columns(levels, cells.table.names, "geography")
        of_record, first = self._households(cells)
        areas = _label_levels(cells.table, levels)
        least = self._least_counts(cells.beside, areas, of_record, len(first))
        swap = _Swapping(areas[:, first], self._label_similar(cells, of_record, first), least, rng)
        without_donor = swap.swap_those_at_risk(self.k)
        without_donor += swap.swap_up_to(self.rate)
        codes = cells.table.codes[:, first[swap.partners]][:, of_record]
        n_swapped = int((swap.partners != np.arange(len(first))).sum())
        figures = {"households": len(first), "swapped": n_swapped, "without_donor": without_donor}
        lacking = f"{without_donor:,} households that were to be swapped found no similar one elsewhere, and stay."
        return Perturbed(codes.astype(np.int32), figures=figures, notes=(lacking,) if without_donor else ())

    def _households(self, cells: OriginalCells) -> tuple[CountArray, CountArray]:
        """Return the household of every record, and a record of every household."""
        n_rows = cells.table.n_rows
        if self.household is None:
            return np.arange(n_rows), np.arange(n_rows)
        codes = cells.beside.codes[cells.beside.index(self.household)].astype(np.int64)
        # A record without a household is one by itself.
        codes = np.where(codes < 0, codes.max(initial=0) + 1 + np.arange(n_rows), codes)
        _, first, of_record = np.unique(codes, return_index=True, return_inverse=True)
        of_record = of_record.ravel()
        _check_constant(cells.table, of_record, first, cells.table.names)
        _check_constant(cells.beside, of_record, first, self.similar)
        return of_record, first

    def _label_similar(self, cells: OriginalCells, of_record: CountArray, first: CountArray) -> CountArray:
        """Label households such that those may be swapped that have one label."""
        keys = [np.bincount(of_record, minlength=len(first)), cells.strata[first]]
        keys += [cells.beside.codes[cells.beside.index(name)][first] for name in self.similar]
        return np.unique(np.array(keys), axis=1, return_inverse=True)[1].ravel()

    def _least_counts(self, beside: Table, areas: CodeArray, of_record: CountArray, n_households: int) -> CountArray:
        """Return for every level and household the least count of records with the cells of a member in its area."""
        risk = [beside.codes[beside.index(name)] for name in self.risk]
        least = np.full((len(areas), n_households), np.iinfo(np.int64).max)
        for level, of_area in enumerate(areas):
            cells = np.unique(np.array([of_area, *risk]), axis=1, return_inverse=True)[1].ravel()
            np.minimum.at(least[level], of_record, np.bincount(cells)[cells])
        return least


def _check_constant(table: Table, of_record: CountArray, first: CountArray, names: Sequence[str]) -> None:
    for name in names:
        codes = table.codes[table.index(name)]
        n_mixed = len(np.unique(of_record[codes != codes[first][of_record]]))
        if n_mixed:
            raise ColumnError(
                f"{n_mixed} households have different cells in columns {quote_names([name])}.",
                hint="where a household lives, and what it shall agree in, is the same for all of its records.",
            )


def _label_levels(table: Table, levels: Sequence[str]) -> CodeArray:
    """Return the area of every record at every level; areas of a finer level lie within those of coarser ones."""
    codes = np.array([table.codes[table.index(name)] for name in levels])
    return np.array(
        [np.unique(codes[: n + 1], axis=1, return_inverse=True)[1].ravel() for n in range(len(levels))], dtype=np.int32
    )


class _Swapping:
    """Who lives where while households are swapped."""

    def __init__(self, areas: CodeArray, similar: CountArray, least: CountArray, rng: np.random.Generator) -> None:
        self._areas, self._similar, self._least, self._rng = areas, similar, least, rng
        self.partners = np.arange(len(similar))
        self._free: BoolArray = np.ones(len(similar), dtype=bool)
        order = np.argsort(similar, kind="stable")
        self._alike = np.split(order, np.cumsum(np.bincount(similar))[:-1])

    def swap_those_at_risk(self, k: int) -> int:
        """Swap households at risk, level by level, and return how many found no donor at the level of their risk."""
        failed = 0
        for level in range(len(self._areas)):
            for household in self._rng.permutation(np.flatnonzero(self._least[level] < k)).tolist():
                failed += int(self._free[household] and not self._swap(household, level))
        return failed

    def swap_up_to(self, rate: float) -> int:
        """Swap further households of every finest area, and return how many found no donor."""
        failed, finest = 0, len(self._areas) - 1
        order = np.argsort(self._areas[finest], kind="stable")
        for households in np.split(order, np.cumsum(np.bincount(self._areas[finest]))[:-1]):
            n_wanted = int(np.ceil(rate * len(households)))
            for household in self._draw_in_order(households).tolist():
                if (~self._free[households]).sum() >= n_wanted:
                    break
                failed += int(self._free[household] and not self._swap(household, finest))
        return failed

    def _draw_in_order(self, households: CountArray) -> CountArray:
        """Return households in random order, the rare ones rather first (Efraimidis, Spirakis 2006)."""
        return households[np.argsort(self._rng.exponential(size=len(households)) * self._weights(households, -1) ** -1)]

    def _weights(self, households: CountArray, level: int) -> FloatArray:
        return np.asarray(1.0 / self._least[level][households])

    def _swap(self, household: int, level: int) -> bool:
        alike = self._alike[self._similar[household]]
        donors = alike[self._free[alike] & (self._areas[level][alike] != self._areas[level][household])]
        if not len(donors):
            return False
        sums = np.cumsum(self._weights(donors, level))
        donor = int(
            donors[np.searchsorted(sums, self._rng.random() * sums[-1], side="right").clip(max=len(donors) - 1)]
        )
        self.partners[household], self.partners[donor] = donor, household
        self._free[[household, donor]] = False
        return True
