"""Microaggregation: groups of at least k near records publish their mean; on these columns that is k-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims import Claim, Classes, Stated
from hushtable.errors import InfeasibleError, InputError, check_choice, check_columns, check_type, check_whole
from hushtable.kernels import microaggregation as kernel
from hushtable.models import KAnonymity
from hushtable.perturbation import floors
from hushtable.perturbation.method import OriginalCells, Perturbed, standardise
from hushtable.perturbation.rank_swap import describe_strata, draw_state

_MAX_ROWS_OF_BLOCK: Final = 1_000  # MDAV takes time with the square of the records
_MAX_ROWS_WHOLE: Final = 20_000
_MAX_ROWS_TO_ANNEAL: Final = 200_000  # unless somebody says how long
_N_NEAR: Final = 40
_STEPS_PER_ROW: Final = 300
_MIN_STEPS: Final = 1_000_000
_MAX_STEPS: Final = 30_000_000
_STEPS_AT_ONCE: Final = 2_000_000  # some tenths of a second: between them Ctrl-C is heard
_COOLING: Final = 1_000.0


@dataclass(frozen=True, slots=True)
class Microaggregation:
    """Publish the mean of groups of at least k near records in place of their numbers.

    Attributes
    ----------
    k : int, default 3
        The least number of records of a group.
    search : {"anneal", "mdav"}
        ``"mdav"`` is the heuristic of other programs; ``"anneal"`` goes on from there and loses 9 to 50 % less. One
        column by itself is grouped at the least loss possible, whichever is asked.
    steps : int, optional
        How many changes of groups annealing tries. When not given, 300 a record, from a million to 30 million; none
        above 200,000 records.
    centre : {"mean", "median"}
        What a group publishes of every column. The median of an odd number of whole numbers is one of them.
    weights : mapping of column to float, optional
        How much a column counts in distances: 1 where none is given. Not survey weights.
    each_column : bool
        Group every column by itself (individual ranking). That loses least, and is **no** k-anonymity: the numbers of
        a record together can be its own.
    prove : bool
        Solve a linear programme for a higher floor of the loss; for at most 1,500 records.

    Notes
    -----
    MDAV: Domingo-Ferrer, Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", 2005.
    Distances are of standardised cells. When 2k to 3k - 1 records are left, one group is made around the farthest, and
    the rest is a group; fewer than 2k are one group; ties go to the first record. Above 20,000 records MDAV works in
    blocks of at most 1,000, halved along the widest column. One column: Hansen, Mukherjee 2003.

    Missing cells: records that lack the same columns are grouped among themselves, and these cells stay missing.
    Patterns that fewer than k records have publish no number at all; if these together are fewer than k, so do the
    next rarest patterns.
    """

    name: ClassVar[str] = "microaggregation"
    k: int = 3
    search: str = "anneal"
    steps: int | None = None
    centre: str = "mean"
    weights: Mapping[str, float] = field(default_factory=dict)
    each_column: bool = False
    prove: bool = False

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)
        check_choice("search", self.search, ("anneal", "mdav"))
        check_choice("centre", self.centre, ("mean", "median"))
        if self.steps is not None:
            check_whole("steps", self.steps, 1)
        check_type(self.each_column, bool, "each_column", "True or False")
        check_type(self.prove, bool, "prove", "True or False")
        check_type(self.weights, Mapping, "weights", "a number for each column, as {'income': 2}")
        if not all(isinstance(each, (int, float)) and 0 <= each < np.inf for each in self.weights.values()):
            raise InputError("a weight is not a number of 0 or more.", hint="a column with weight 2 counts twice.")

    @property
    def beside(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Claim:
        """Return k-anonymity on the columns and the strata; each column by itself is only stated."""
        if self.each_column and len(columns) > 1:
            how = f"groups of {self.k} or more, each column by itself{describe_strata(by)}"
            return Stated(columns, f"microaggregation ({how})")
        return Classes((*by, *columns), (KAnonymity(self.k),))

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Group the records, and publish a centre for each group."""
        numbers = cells.numbers()
        names = cells.table.names
        check_columns(list(self.weights), names, "weights")
        weights = np.sqrt(np.array([float(self.weights.get(name, 1.0)) for name in names]))
        points = standardise(numbers) * weights
        parts = [[j] for j in range(len(names))] if self.each_column else [list(range(len(names)))]
        published = np.full_like(numbers, np.nan)
        loss, bound, n_blanked, largest, n_groups = 0.0, 0.0, 0, 0, 0
        prices = np.full(len(numbers), np.nan)
        for part in parts:
            columns_of_part = np.array(part)
            for rows, known in _group_patterns(numbers[:, columns_of_part], cells.strata, self.k):
                if not known.any():
                    n_blanked += int((~np.isnan(numbers[np.ix_(rows, columns_of_part)])).sum())
                    continue
                columns = columns_of_part[known]
                own = np.ascontiguousarray(points[np.ix_(rows, columns)])
                labels = self._group(own, len(points), draw_state(rng))
                published[np.ix_(rows, columns)] = _centres(numbers[np.ix_(rows, columns)], labels, self.centre)
                sizes = np.bincount(labels)
                largest, n_groups = max(largest, int(sizes.max())), n_groups + len(sizes)
                within = sum_of_squares(own, labels)
                floor, own_prices = (within, None) if len(columns) == 1 else self._floor(own, labels)
                loss, bound = loss + within, bound + floor
                if own_prices is not None:
                    prices[rows] = own_prices
        total = float(np.nansum(points**2))
        share = (loss / total, min(loss, bound) / total) if total > 0 else (0.0, 0.0)
        figures: dict[str, object] = {"n_groups": n_groups, "largest_group": largest, "cells_blanked": n_blanked}
        is_priced = not (np.isnan(prices).any() or np.isnan(numbers).any())
        return Perturbed(
            numbers=published,
            loss=share[0],
            bound=share[1],
            prices=prices if is_priced else None,
            figures=figures,
            notes=self._notes(n_blanked),
        )

    def _group(self, points: FloatArray, n_all: int, state: CountArray) -> CodeArray:
        """Label records of one pattern with their groups."""
        if points.shape[1] == 1:
            order = np.argsort(points[:, 0], kind="stable")
            of_sorted = np.empty(len(points), dtype=np.int32)
            kernel.label_sorted(points[order, 0], self.k, of_sorted)
            labels = np.empty_like(of_sorted)
            labels[order] = of_sorted
            return labels
        labels = label_in_blocks(points, self.k)
        steps = self._n_steps(len(points), n_all)
        return labels if not steps else anneal(points, labels, self.k, steps, state)

    def _n_steps(self, n_rows: int, n_all: int) -> int:
        if self.search == "mdav":
            return 0
        if self.steps is not None:
            return max(1, self.steps * n_rows // n_all)
        if n_all > _MAX_ROWS_TO_ANNEAL:
            return 0
        # Small strata share what a small table would get.
        return min(_MAX_STEPS, max(_MIN_STEPS * n_rows // n_all, _STEPS_PER_ROW * n_rows))

    def _floor(self, points: FloatArray, labels: CodeArray) -> tuple[float, FloatArray | None]:
        near = floors.floor_by_nearest(points, self.k)
        if not self.prove:
            return near, None
        prices = floors.price_records(points, labels, self.k)
        return max(near, floors.floor_by_prices(points, prices, self.k)), prices

    def _notes(self, n_blanked: int) -> tuple[str, ...]:
        notes = (f"{n_blanked:,} known cells became missing, in records that lack cells as fewer than k others do.",)
        no_k = ("Each column was grouped by itself: this is no k-anonymity, records can still be unique.",)
        return (*(notes if n_blanked else ()), *(no_k if self.each_column else ()))


def label_in_blocks(points: FloatArray, k: int, most: int | None = None) -> CodeArray:
    """Label records with groups by MDAV; many records in blocks of ``most``, halved along their widest column."""
    labels = np.empty(len(points), dtype=np.int32)
    if most is None:
        most = len(points) if len(points) <= _MAX_ROWS_WHOLE else max(_MAX_ROWS_OF_BLOCK, 4 * k)
    todo, n_groups = [np.arange(len(points))], 0
    while todo:
        rows = todo.pop()
        if len(rows) <= most:
            of_block = np.empty(len(rows), dtype=np.int32)
            n_new = kernel.label_by_mdav(np.ascontiguousarray(points[rows]), k, of_block)
            labels[rows] = of_block + np.int32(n_groups)
            n_groups += n_new
            continue
        column = points[rows, int(np.argmax(np.ptp(points[rows], axis=0)))]
        order = np.argsort(column, kind="stable")
        half = len(rows) // 2
        # In the order of the table, so that ties go to the first record.
        todo += [np.sort(rows[order[half:]]), np.sort(rows[order[:half]])]
    return labels


def anneal(points: FloatArray, labels: CodeArray, k: int, steps: int, state: CountArray) -> CodeArray:
    """Make the sum of squares of groups smaller by annealing; what comes out is never worse than what came in."""
    from scipy.spatial import cKDTree

    before = sum_of_squares(points, labels)
    n_rows, n_columns = points.shape
    if before <= 0 or n_rows < 2 * k:
        return labels
    n_near = min(_N_NEAR, n_rows - 1)
    tree, near = cKDTree(points), np.empty((n_rows, n_near), dtype=np.int32)
    near[tree.indices] = tree.query(points[tree.indices], n_near + 1)[1][:, 1:]
    n_groups = n_rows // k
    groups = kernel.PointGroups(
        points,
        labels.copy(),
        np.zeros(n_rows, dtype=np.int32),
        np.zeros((n_groups, 2 * k - 1), dtype=np.int32),
        np.zeros(n_groups, dtype=np.int32),
        np.zeros((n_groups, n_columns)),
        np.array([state[0], labels.max() + 1], dtype=np.int64),
    )
    hot, moved = before / n_rows, np.empty(2 * k, dtype=np.int32)
    for begin in range(0, steps, _STEPS_AT_ONCE):
        # Anew for each piece, so that rounding errors of the means do not add up.
        kernel.fill_groups(groups)
        end = min(steps, begin + _STEPS_AT_ONCE)
        kernel.anneal(groups, near, k, (begin, end, steps), hot, hot / _COOLING, moved)
    return groups.labels if sum_of_squares(points, groups.labels) < before else labels


def sum_of_squares(points: FloatArray, labels: CodeArray) -> float:
    """Return the sum of squared distances of records from the mean of their group."""
    return float(((points - _centres(points, labels, "mean")) ** 2).sum())


def _centres(numbers: FloatArray, labels: CodeArray, centre: str) -> FloatArray:
    """Return for every record the centre of its group, column by column."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    begins = np.cumsum(sizes) - sizes
    if centre == "median":
        middles = []
        for column in numbers.T:
            of_group = np.lexsort((column, labels))
            low, high = column[of_group[begins + (sizes - 1) // 2]], column[of_group[begins + sizes // 2]]
            middles.append(low + (high - low) / 2)
        return np.asarray(np.array(middles).T[labels])
    # About one member: the mean of equal cells is that cell, to the last digit.
    first = numbers[order[begins]]
    sums = np.add.reduceat((numbers - first[labels])[order], begins, axis=0)
    return np.asarray((first + sums / sizes[:, None])[labels])


def _group_patterns(numbers: FloatArray, strata: CodeArray, k: int) -> Iterator[tuple[CountArray, BoolArray]]:
    """Yield the records of every stratum that lack the same columns, and which columns they know.

    Those of rare patterns come together, and know none.
    """
    known = ~np.isnan(numbers)
    order = np.argsort(strata, kind="stable")
    borders = np.flatnonzero(np.diff(strata[order])) + 1
    strata_rows = np.split(order, borders)
    small = sum(len(rows) < k for rows in strata_rows)
    if small:
        raise InfeasibleError(
            f"{small} of {len(strata_rows)} strata hold fewer than {k} records."
            if len(strata_rows) > 1
            else f"the table holds {len(numbers)} records, fewer than {k}.",
            hint="name coarser columns in by, or leave them out." if len(strata_rows) > 1 else "choose a smaller k.",
        )
    for rows in strata_rows:
        patterns, of_row = np.unique(known[rows], axis=0, return_inverse=True)
        sizes = np.bincount(of_row.ravel())
        by_size = np.argsort(sizes, kind="stable")
        n_rare = int((sizes < k).sum())
        if not n_rare and patterns.any(axis=1).all():
            n_pooled = 0
        else:
            # Records without any known cell are hidden among those that are blanked.
            empty = [pattern for pattern in by_size.tolist() if not patterns[pattern].any()]
            rare = [pattern for pattern in by_size.tolist() if sizes[pattern] < k and pattern not in empty]
            others = [pattern for pattern in by_size.tolist() if pattern not in (*empty, *rare)]
            by_size = np.array([*empty, *rare, *others])
            n_pooled = len(empty) + len(rare)
            while sizes[by_size[:n_pooled]].sum() < k:
                n_pooled += 1
        pooled = np.isin(of_row.ravel(), by_size[:n_pooled])
        if n_pooled:
            yield rows[pooled], np.zeros(numbers.shape[1], dtype=bool)
        for pattern in by_size[n_pooled:].tolist():
            yield rows[of_row.ravel() == pattern], patterns[pattern]
