"""Minimal sample uniques: the fewest columns on which a record is unique, and the SUDA scores made of them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray, FloatArray, freeze_array
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_choice, check_whole
from hushtable.io import frames
from hushtable.plots import charts
from hushtable.risk.assessment import format_percent
from hushtable.risk.mpuccs import describe_end
from hushtable.risk.nearness import count_rough_matches, lone_sets, reaches_of
from hushtable.risk.population import SampleClasses, data_intrusion
from hushtable.search import Budget, Trace, check_budget
from hushtable.tables import Coverage, Table, WalkProgress, lattice
from hushtable.wording import StatesFacts

# Of DIS-SUDA's exponent: neutral at eight columns.
_NEUTRAL_COLUMNS: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class MinimalUniques(StatesFacts):
    """Minimal sample uniques and what follows from them.

    Attributes
    ----------
    table : Table
        The columns looked at, a row for every row of the data.
    max_size : int
        The largest size of a set that was looked for.
    rows : ndarray of int64, shape (n_sets,), read-only
        The row that is unique, once for each of its minimal sets.
    paths : ndarray of int16, shape (n_sets, max_size), read-only
        The set: ascending positions of columns, then -1.
    suda : ndarray of float64, shape (n_rows,), read-only
        Each row's SUDA score: the sum over its sets of k columns of prod_{j=k}^{M} (d - j), of d columns,
        M the lesser of max_size and d - 1. 0 where the row has no set. Higher is riskier.
    suda_ihsn : ndarray of float64, shape (n_rows,), read-only
        The same with the older weight (2^(d-k) - 1) k! (d-k)! / d!.
    dis : float
        In [0, 1]: the chance that a record which is unique here is unique in the population (data
        intrusion simulation).
    dis_suda : ndarray of float64, shape (n_rows,), read-only
        `dis` spread over the rows by their SUDA scores; 0 where the score is.
    disclosure_fraction : float
        In (0, 1): the sampling fraction that `dis` assumes.
    contributions : dict of column to float
        Share of all scores that sets with the column make; the shares sum to more than 1.
    trace : Trace
        Not complete when a budget ended the search: larger sets may be missing.
    coverage : dict of int to Coverage
        By size: how many column sets were walked, left because nothing can come of them, or not reached.
    source : str
        The dataframe library that frames come in.
    """

    table: Table
    max_size: int
    rows: CountArray = field(repr=False)
    paths: NDArray[np.int16] = field(repr=False)
    suda: FloatArray = field(repr=False)
    suda_ihsn: FloatArray = field(repr=False)
    dis: float
    dis_suda: FloatArray = field(repr=False)
    disclosure_fraction: float
    contributions: dict[str, float]
    trace: Trace = field(repr=False)
    coverage: dict[int, Coverage] = field(repr=False)
    source: str = field(default="polars", repr=False)

    def __post_init__(self) -> None:
        for array in (self.rows, self.paths, self.suda, self.suda_ihsn, self.dis_suda):
            freeze_array(array)

    @property
    def sets(self) -> Any:
        """A dataframe with one row per minimal sample unique: ``record`` (position), ``size``, ``columns``."""
        return frames.assemble(self._set_columns(), self.source)

    @property
    def details(self) -> Any:
        """`sets` with the scores of the record, the same in each of its rows: ``suda``, ``dis_suda``.

        Records without a row score 0.
        """
        scores = {"suda": self.suda[self.rows].tolist(), "dis_suda": self.dis_suda[self.rows].tolist()}
        return frames.assemble({**self._set_columns(), **scores}, self.source)

    def _set_columns(self) -> dict[str, list[Any]]:
        names = [tuple(self.table.names[j] for j in path[path >= 0]) for path in self.paths]
        return {"record": self.rows.tolist(), "size": [len(each) for each in names], "columns": names}

    @property
    def n_by_size(self) -> dict[int, int]:
        """How many minimal sample uniques there are of every size."""
        sizes = np.bincount((self.paths >= 0).sum(axis=1), minlength=self.max_size + 1)
        return dict(enumerate(sizes[1:].tolist(), start=1))

    def contributions_by_value(self) -> Any:
        """Return a dataframe ``column``, ``value``, ``contribution`` with the share of all scores by value.

        It shows values of records: keep it to those who may see them.
        """
        weights = _elliot_weights(len(self.table.names), self.max_size)[(self.paths >= 0).sum(axis=1)]
        names: list[str] = []
        values: list[str | None] = []
        shares: list[float] = []
        for j, column in enumerate(self.table.columns):
            holds = (self.paths == j).any(axis=1)
            codes = self.table.codes[j, self.rows[holds]]
            totals = np.bincount(codes + 1, weights=weights[holds], minlength=column.n_values + 1)
            for code in np.flatnonzero(totals).tolist():
                names.append(column.name)
                values.append(column.text(code - 1) if code else None)
                shares.append(float(totals[code] / weights.sum()))
        return frames.assemble({"column": names, "value": values, "contribution": shares}, self.source)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how many minimal sample uniques there are of every size; return the matplotlib axes.

        Sizes that a budget did not get to have no bar.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.
        """
        totals = self.summary()
        counts = [n if size <= totals["complete_to_size"] else None for size, n in self.n_by_size.items()]
        title = f"{format_percent(totals['unique_rate'])} of records are unique on {self.max_size} columns or fewer"
        return charts.by_size(list(self.n_by_size), counts, label="minimal sample uniques", title=title, ax=ax)

    def summary(self) -> dict[str, Any]:
        """Return totals: no record's values, no positions."""
        n_unique = len(np.unique(self.rows))
        return {
            "n_records": self.table.n_records,
            "columns": list(self.table.names),
            "max_size": self.max_size,
            "n_sets": len(self.rows),
            "n_by_size": self.n_by_size,
            "n_records_with_sets": n_unique,
            "unique_rate": n_unique / self.table.n_records,
            "highest_suda": float(self.suda.max()),
            "dis": self.dis,
            "disclosure_fraction": self.disclosure_fraction,
            "contributions": self.contributions,
            "complete": self.trace.complete,
            "complete_to_size": max((size for size, each in self.coverage.items() if not each.not_reached), default=0),
            "combinations_by_size": {size: each._asdict() for size, each in self.coverage.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the summary and the trace as plain values."""
        return {**self.summary(), "trace": self.trace.to_dict()}

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        totals = self.summary()
        return (
            f"{totals['n_records_with_sets']:,} of {totals['n_records']:,} records are unique on at most "
            f"{self.max_size} of {len(totals['columns'])} columns, by {totals['n_sets']:,} minimal sets.",
            *([] if totals["complete"] else [describe_end(totals["complete_to_size"])]),
            f"The chance that a unique record is a unique person is {self.dis:.2%} (DIS, for a sample of "
            f"{100 * self.disclosure_fraction:g} %).",
        )


def minimal_uniques(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    max_size: int | None = None,
    missing: Literal["category", "never"] = "category",
    disclosure_fraction: float = 0.01,
    tolerance: Mapping[str, Any] | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
    budget: Budget | None = None,
    progress: WalkProgress | None = None,
) -> MinimalUniques:
    """Find all minimal sample uniques: sets of columns on which a record is unique, and on no part of them.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str, optional
        The quasi-identifiers; all columns when not given.
    max_size : int, optional
        The most columns a set may have; all of them when not given.
    missing : {"category", "never"}
        Missing is one value, or a record is unique on no set where it has none.
    disclosure_fraction : float
        In (0, 1): the sampling fraction that DIS assumes.
    tolerance : mapping of column to amount, optional
        How far what is known of a value may be from the truth, as in `hushtable.unicity`: a record is unique where no
        other one is as near, in every column of the set. Other columns are known exactly.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    budget : Budget, optional
        When it ends, ``trace.complete`` is False: all minimal sets up to a size are there, and no others.
    progress : callable, optional
        Called with the share of the columns done and the number of combinations looked at.

    Raises
    ------
    InputError
        An empty table, a size that no set can have, or a fraction outside (0, 1).

    Notes
    -----
    Elliot, Manning and Ford (2002), SUDA; Manning, Haglin and Keane (2008), SUDA2. DIS = U f / (U f + P (1 - f)) with U
    the records unique on all columns, P those in exact pairs, f the fraction (Skinner and Elliot 2002). DIS-SUDA as
    sdcMicro has it, except for U, which it undercounts.

    Worst case 2^columns sets; 32,561 records of 8 columns take 0.1 s once coded. With a tolerance every set of columns
    is looked at by itself, and DIS counts the records that a record could be taken for: as many as are near it.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 52], "sex": ["f", "m", "f", "f"], "city": ["A", "A", "A", "B"]})
    >>> found = minimal_uniques(people)
    >>> found.sets.rows()
    [(0, 2, ['age', 'sex']), (1, 1, ['sex']), (2, 2, ['age', 'city']), (3, 1, ['city'])]
    >>> found.suda.tolist(), found.n_by_size
    ([1.0, 2.0, 1.0, 2.0], {1: 2, 2: 2, 3: 0})
    """
    check_budget(budget)
    table = Table.encode(data, columns, specs)
    n_columns = len(table.columns)
    largest = n_columns if max_size is None else max_size
    _check_arguments(table, largest, missing, disclosure_fraction)
    began = time.perf_counter()
    distinct, inverse = table.collapse()
    reaches = reaches_of(table, tolerance)
    is_category = missing == "category"
    if reaches:
        order = np.arange(n_columns)
        sets = lone_sets(distinct.codes, distinct.counts, reaches, largest, missing_matches=is_category, budget=budget)
        sizes_near = count_rough_matches(distinct.codes, distinct.counts, reaches)
    else:
        order = np.argsort([-column.n_values for column in table.columns], kind="stable")
        sets = _minimal_sets(distinct, order, largest, is_category=is_category, budget=budget, progress=progress)
        sizes_near = distinct.counts
    rows, paths = _to_table_order(sets, order, inverse)
    trace = Trace("minimal_uniques", sets.n_sets, time.perf_counter() - began, complete=sets.complete_to == largest)
    sizes = (paths >= 0).sum(axis=1)
    weights = _elliot_weights(n_columns, largest)[sizes]
    suda = _sum_weights_by_row(rows, weights, table.n_rows)
    ihsn = _sum_weights_by_row(rows, _ihsn_weights(n_columns)[sizes], table.n_rows)
    n_unique = int((sizes_near == 1).sum())
    dis = _estimate_dis(_as_classes(sizes_near, distinct.counts) if reaches else distinct.counts, disclosure_fraction)
    return MinimalUniques(
        table,
        largest,
        rows,
        paths,
        suda,
        ihsn,
        dis,
        _dis_suda(suda, n_unique, dis, n_columns),
        disclosure_fraction,
        {
            name: float(weights[(paths == j).any(axis=1)].sum() / weights.sum()) if len(rows) else 0.0
            for j, name in enumerate(table.names)
        },
        trace,
        sets.coverage,
        frames.library_of(data),
    )


def _minimal_sets(
    distinct: Table,
    order: CountArray,
    largest: int,
    *,
    is_category: bool,
    budget: Budget | None,
    progress: WalkProgress | None,
) -> lattice.ColumnSets:
    """Walk the column sets, columns in an order, up to a size."""
    grid = lattice.build_grid(
        np.ascontiguousarray(distinct.codes[order]),
        [distinct.columns[j].n_values for j in order],
        distinct.counts,
        distinct.counts,
        range(1, largest + 1),
        missing_matches=is_category,
    )
    return lattice.find_minimal_sets(grid, budget=budget, progress=progress)


def _check_arguments(table: Table, max_size: int, missing: str, fraction: float) -> None:
    n_columns = len(table.columns)
    if table.n_rows == 0:
        raise InputError("the table is empty.", hint="a score of nothing would say nothing; check the file.")
    check_whole(f"of {n_columns} columns max_size", max_size, 1, n_columns)
    check_choice("missing", missing, ("category", "never"))
    if not 0 < fraction < 1:
        raise InputError(f"disclosure_fraction = {fraction!r}.", hint="give a share of the population between 0 and 1.")


def _to_table_order(
    sets: lattice.ColumnSets, order: NDArray[np.int64], inverse: CodeArray
) -> tuple[CountArray, NDArray[np.int16]]:
    """Turn distinct rows and columns in the order of the walk into the table's own, sorted by row and size."""
    first = np.full(int(inverse.max(initial=-1)) + 1, len(inverse))
    np.minimum.at(first, inverse, np.arange(len(inverse)))
    # Positions past the last column sort the -1 of unused places to the end.
    n_columns = len(order)
    columns = np.append(order, n_columns)[sets.paths].astype(np.int16)
    columns.sort(axis=1)
    columns[columns == n_columns] = -1
    rows = first[sets.rows]
    by_row = np.lexsort((*columns.T[::-1], (columns >= 0).sum(axis=1), rows))
    return rows[by_row], columns[by_row]


def _sum_weights_by_row(rows: CountArray, weights: FloatArray, n_rows: int) -> FloatArray:
    return np.bincount(rows, weights=weights, minlength=n_rows).astype(np.float64)


def _elliot_weights(n_columns: int, max_size: int) -> FloatArray:
    """Return Elliot's weight of a set by its size: prod_{j=k}^{M} (d - j), M the lesser of max_size and d - 1."""
    last = min(max_size, n_columns - 1)
    return np.array(
        [0.0, *(float(math.prod(n_columns - j for j in range(k, last + 1))) for k in range(1, max_size + 1))]
    )


def _ihsn_weights(n_columns: int) -> FloatArray:
    """Return the older weight by size: (2^(d-k) - 1) k! (d-k)! / d!."""
    return np.array([0.0, *((2 ** (n_columns - k) - 1) / math.comb(n_columns, k) for k in range(1, n_columns + 1))])


def _as_classes(sizes: CountArray, counts: CountArray) -> CountArray:
    """Return class sizes that hold as many records of every size: records that are near form no partition."""
    n_records = np.bincount(np.minimum(sizes, 3), weights=counts, minlength=4).astype(np.int64)
    return np.repeat([1, 2, 3], [n_records[1], n_records[2] // 2, -(-n_records[3] // 3)])


def _estimate_dis(counts: CountArray, fraction: float) -> float:
    """Return the chance that a unique record is a unique person; 0 where no record is unique."""
    occupied = counts[counts > 0]
    # None (not estimable) becomes 0: then no row has a score that it could be spread over.
    return data_intrusion(SampleClasses.from_sizes(occupied, max(1, int(occupied.sum())) / fraction)).value or 0.0


def _dis_suda(suda: FloatArray, n_unique: int, dis: float, n_columns: int) -> FloatArray:
    scores = np.zeros_like(suda)
    scored = suda > 0
    if scored.any():
        power = 1 + (_NEUTRAL_COLUMNS - n_columns) / 20
        raised = suda[scored] ** power
        scores[scored] = 1 / (1 + (n_unique / dis - n_unique) / (raised * (suda[scored] ** -power).sum()))
    return scores
