"""Column sets evaluated once each: what every search over them stands on.

A column set is a mask: bit j stands for the j-th candidate column.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.discover.objective import ClassFigures, Objective, Term
from hushtable.errors import InputError, check_columns, listed, with_hint
from hushtable.kernels import subsets
from hushtable.search import Budget, check_memory, n_threads
from hushtable.tables import Partition, Table, encoded, opened

__all__ = ["BudgetEnded", "ObjectiveEvaluator", "coded"]

_SMALL_BINS: Final = 4096
_PREFIX_COLUMNS: Final = 5


class BudgetEnded(Exception):  # noqa: N818 - it stops a search, and is no error
    """The budget is used up; what was evaluated before stays."""


def coded(data: Any, columns: Sequence[str] | None, objective: Objective) -> tuple[Table, tuple[str, ...], int]:
    """Return the table of the candidates and of what the terms read, the candidates, and how many columns there are."""
    frame = opened(data)
    available = frame.names
    names = tuple(available if columns is None else columns)
    check_columns(names, available, "columns")
    if not names:
        msg = with_hint("there are no candidate columns.", "name at least one.")
        raise InputError(msg)
    read = available if any(not term.is_by_figures for term in objective.all_terms) else names
    table = encoded(frame, read)
    if table.n_records == 0:
        msg = with_hint("there are no records to score column sets by.", "pass a table with rows.")
        raise InputError(msg)
    return table, names, len(available)


class ObjectiveEvaluator:
    """Evaluates an objective on column sets: each set once, all in the order asked.

    Parameters
    ----------
    table : Table
        With the candidate columns and whatever the objective's terms read.
    columns : sequence of str
        The candidates.
    n_columns : int
        Columns of the data, for the length penalty.
    objective : Objective
    budget : Budget
        Its nodes are column sets evaluated.
    """

    def __init__(
        self, table: Table, columns: Sequence[str], n_columns: int, objective: Objective, budget: Budget
    ) -> None:
        self.table, self.columns, self.objective = table, tuple(columns), objective
        self.n_candidates = len(self.columns)
        self.is_by_figures = all(term.is_by_figures for term in objective.all_terms)
        self.best_value = -np.inf
        self._n_columns = n_columns
        self._ends_at = None if budget.seconds is None else time.perf_counter() + budget.seconds
        self._limit = budget.nodes
        self._cache: dict[int, float] = {}
        self._terms: dict[int, FloatArray] = {}
        self._masks: list[Sequence[int] | CountArray] = []
        self._numbers: list[FloatArray] = []
        self._values: list[FloatArray] = []
        self._steps: list[tuple[int, float, float]] = []
        self.n_evaluated = 0
        self._sizes = _Sizes(table, self.columns)

    def value(self, mask: int) -> float:
        """Return the objective of one column set."""
        return self.values([mask])[0]

    def values(self, masks: Sequence[int]) -> list[float]:
        """Return the objective of column sets, in the order given; raise BudgetEnded where not all may be evaluated."""
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._cache]
        allowed = new[: self._left()]
        if allowed:
            numbers = self.compute(allowed)
            self._cache.update(zip(allowed, self._record(allowed, numbers).tolist(), strict=True))
            self._terms.update(zip(allowed, numbers, strict=True))
        if len(allowed) < len(new):
            raise BudgetEnded
        return [self._cache[mask] for mask in masks]

    def terms(self, mask: int) -> FloatArray:
        """Return all terms of a column set, shape (n_terms,); mask 0, no column, is computed but not recorded."""
        if mask:
            self.value(mask)
        elif mask not in self._terms:
            self._terms[mask] = self.compute([mask])[0]
        return self._terms[mask]

    def compute(self, masks: Sequence[int]) -> FloatArray:
        """Compute all terms of column sets, shape (n_sets, n_terms), without looking them up or recording them."""
        if self.is_by_figures:
            return self._from_figures(self._sizes.figures(masks), masks)
        return np.array([self._of_partition(mask, Partition.of(self.table, self._names(mask))) for mask in masks])

    def length_term(self, term: Term, n_chosen: int) -> float:
        """Compute a term that only the number of columns matters to."""
        none = np.zeros(1, dtype=np.int64)
        figures = ClassFigures(none, none, none, np.array([n_chosen]), self.table.n_records, self._n_columns)
        return float(term.from_figures(figures)[0])

    def everything(self) -> None:
        """Evaluate every column set but the empty one; raise BudgetEnded where not all may be evaluated."""
        n_sets = (1 << self.n_candidates) - 1
        if self._ends_at is None:
            check_memory(
                float(min(n_sets, self._left())) * (64 + self.n_candidates + 16 * len(self.objective.all_terms)),
                f"the figures of the sets of {self.n_candidates} columns",
                "name fewer in columns=, choose another method, or give a budget.",
            )
        if self.is_by_figures and self._left() >= n_sets and self._ends_at is None:
            masks = np.arange(1, n_sets + 1)
            self._record(masks, self._from_figures(self._sizes.all_figures()[1:], masks))
        elif self.is_by_figures:
            for first in range(1, n_sets + 1, 256):
                self.values(range(first, min(first + 256, n_sets + 1)))
        else:
            self._walk(0, Partition.of(self.table, []), 0)

    def step(self, values: Sequence[float]) -> None:
        """Note that one step of a search is over, and the values of the sets it kept."""
        self._steps.append((self.n_evaluated, max(values), float(np.mean(values))))

    def evaluated(self) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Return the sets evaluated so far (n_sets, n_candidates), their terms (n_sets, n_terms) and values."""
        bits = [_bits(masks, self.n_candidates) for masks in self._masks]
        return np.concatenate(bits), np.concatenate(self._numbers), np.concatenate(self._values)

    def steps(self) -> FloatArray:
        """Return, per step of the search, the sets evaluated so far, the highest and the mean value; shape (n, 3)."""
        return np.array(self._steps, dtype=np.float64).reshape(-1, 3)

    def _walk(self, mask: int, partition: Partition, first: int) -> None:
        """Evaluate the supersets of a mask by later columns, refining its partition."""
        for j in range(first, self.n_candidates):
            if self._left() < 1:
                raise BudgetEnded
            more = mask | 1 << j
            refined = partition.refine(self.table, self.columns[j])
            self._record([more], np.array([self._of_partition(more, refined)]))
            self._walk(more, refined, j + 1)

    def _record(self, masks: Sequence[int] | CountArray, numbers: FloatArray) -> FloatArray:
        values = self.objective.combined(numbers)
        if np.isnan(values).any():
            terms = zip(self.objective.all_terms, numbers.T, strict=True)
            names = [term.label for term, found in terms if not np.isfinite(found).all()]
            msg = with_hint(
                f"the objective is not a number for {np.isnan(values).sum()} column sets, because of {listed(names)}.",
                "leave that term out, or give it bounds= where it may be infinite.",
            )
            raise InputError(msg)
        self._masks.append(masks)
        self._numbers.append(numbers)
        self._values.append(values)
        self.n_evaluated += len(values)
        self.best_value = max(self.best_value, float(values.max()))
        return values

    def _left(self) -> int:
        if self._ends_at is not None and time.perf_counter() > self._ends_at:
            return 0
        return 1 << 62 if self._limit is None else max(self._limit - self.n_evaluated, 0)

    def _names(self, mask: int) -> list[str]:
        return [name for j, name in enumerate(self.columns) if mask >> j & 1]

    def _from_figures(self, found: CountArray, masks: Iterable[int]) -> FloatArray:
        n_chosen = np.array([int(mask).bit_count() for mask in masks])
        figures = ClassFigures(found[:, 0], found[:, 1], found[:, 2], n_chosen, self.table.n_records, self._n_columns)
        return np.column_stack([term.from_figures(figures) for term in self.objective.all_terms])

    def _of_partition(self, mask: int, partition: Partition) -> list[float]:
        sizes, names = partition.sizes, self._names(mask)
        figures = ClassFigures(
            np.array([len(sizes)]),
            np.array([(sizes * (sizes - 1) // 2).sum()]),
            np.array([sizes.min()]),
            np.array([len(names)]),
            self.table.n_records,
            self._n_columns,
        )
        return [
            float(term.from_figures(figures)[0])
            if term.is_by_figures
            else term.from_partition(self.table, names, partition)
            for term in self.objective.all_terms
        ]


class _Sizes:
    """Class sizes of column sets by kernel, on distinct rows, the widest column first."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        distinct, _ = table.select(columns).collapse()
        widths = np.array([column.n_values for column in distinct.columns], dtype=np.int64)
        self._order = np.argsort(-widths, kind="stable")
        self._widths = widths[self._order]
        self._codes = np.ascontiguousarray(distinct.codes[self._order])
        self._counts = distinct.counts
        self._own = self._levels()

    def figures(self, masks: Sequence[int]) -> CountArray:
        """Return classes, equal pairs and the smallest class of column sets, shape (n_sets, 3)."""
        n_parts = n_threads()
        if len(masks) < 2 * n_parts:
            return self._measured(masks, self._own)
        parts = [masks[i::n_parts] for i in range(n_parts)]
        out = np.empty((len(masks), subsets.N_FIGURES), dtype=np.int64)
        with ThreadPoolExecutor(n_parts) as pool:
            # Results are taken in the order of the parts, whichever is ready first.
            scratch = [self._levels() for _ in parts]
            for i, part in enumerate(pool.map(self._measured, parts, scratch)):
                out[i::n_parts] = part
        return out

    def all_figures(self) -> CountArray:
        """Return the figures of every column set, entry mask; shape (2^n_columns, 3)."""
        n_columns = len(self._order)
        bits = np.int64(1) << self._order
        out = np.empty((1 << n_columns, subsets.N_FIGURES), dtype=np.int64)
        n_fixed = min(_PREFIX_COLUMNS, n_columns)
        prefixes = [
            np.array([*(j for j in range(n_fixed) if pattern >> j & 1), n_fixed]) for pattern in range(1 << n_fixed)
        ]

        def walk(prefix: CountArray) -> None:
            subsets.walk(self._codes, self._counts, bits, prefix, self._levels(), out)

        with ThreadPoolExecutor(n_threads()) as pool:
            list(pool.map(walk, prefixes))
        return out

    def _measured(self, masks: Sequence[int], levels: subsets.Levels) -> CountArray:
        out = np.empty((len(masks), subsets.N_FIGURES), dtype=np.int64)
        for i, mask in enumerate(masks):
            columns = np.array([place for place, j in enumerate(self._order.tolist()) if mask >> j & 1], dtype=np.int64)
            level = subsets.measure(self._codes, self._widths, self._counts, columns, levels)
            out[i] = levels.tally[level, -subsets.N_FIGURES :]
        return out

    def _levels(self) -> subsets.Levels:
        n_levels, n_rows = len(self._order) + 1, len(self._counts)
        n_bins = max(int(self._widths.max(initial=0)) + 1, _SMALL_BINS)
        return subsets.Levels(
            np.empty((n_levels, n_rows), np.int32),
            np.empty((n_levels, n_rows // 2 + 1), np.int32),
            np.zeros((n_levels, 7), np.int64),
            np.zeros((2, n_bins), np.int64),
            np.empty(n_bins, np.int32),
            np.empty(n_rows, np.int32),
        )


def _bits(masks: Sequence[int] | CountArray, n_columns: int) -> BoolArray:
    if n_columns < 63:
        return np.asarray(np.array(masks, dtype=np.int64)[:, None] >> np.arange(n_columns) & 1, dtype=bool)
    return np.array([[mask >> j & 1 for j in range(n_columns)] for mask in masks], dtype=bool).reshape(-1, n_columns)
