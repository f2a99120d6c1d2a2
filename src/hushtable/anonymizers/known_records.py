"""(k,m)-anonymity with any method that forms classes: an attacker who knows m records of a person finds k persons.

For every set of m records that fewer than k persons hold, one record is suppressed. If that suppresses more than
allowed, the method searches again, for classes of more persons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.finishing import Searched, release_of
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.preparation import Prepared, Request
from hushtable.claims import RareSets, count_sets, find_rare_sets
from hushtable.errors import BudgetExceeded, InfeasibleError, InputError
from hushtable.models import KAnonymity, KMAnonymity
from hushtable.release import Release
from hushtable.search import Budget, Clock
from hushtable.tables import Partition

_MOST_SETS: Final = 3 * 10**7  # all are searched again whenever records are suppressed
_GROWTH_FACTOR: Final = 4  # of the class size, until a release holds and the next one loses more
_N_REFINING_SEARCHES: Final = 5  # searches around the best class size
_SHARE_OF_SUPPRESSION: Final = 0.5  # of the limit, for the method itself; the rest is for rare sets
_SHARE_OF_TIME: Final = 0.3  # of what is left, for each search


def is_hiding_known(request: Request) -> bool:
    """Tell whether (k,m)-anonymity alone is asked of histories, with a method that does not know histories."""
    linked = [model for model in request.models if model.needs.histories]
    return (
        bool(linked)
        and all(isinstance(model, KMAnonymity) for model in linked)
        and not request.method.offers.finds_histories
    )


class _Attempt(NamedTuple):
    """A release, and the class size of its search."""

    release: Release
    class_size: int


def hide_known(prepared: Prepared, request: Request, search: Callable[[Prepared, Request], Searched]) -> Release:
    """Carry out a request for (k,m)-anonymity with a method that divides records.

    The class size grows fourfold until a release holds and the next one loses more. Then up to five sizes around the
    best one are tried, and the release of least loss is taken. Records count as equal by their cells, without those
    whose cells are ``*``: so a release is never taken for safer than it is.
    """
    clock, persons = request.clock.with_new_start(), prepared.table.codes[prepared.table.index(str(request.person))]
    _check_sets(prepared, request, persons)
    attempts = _Search(prepared, request, search, clock, persons)
    n_persons = len(np.unique(persons[persons >= 0]))
    class_size, losses = attempts.min_class_size, dict[int, float]()
    while True:
        losses[class_size] = attempts.try_class_size(class_size)
        clock.report_progress(len(losses) / (len(losses) + 2 * _N_REFINING_SEARCHES))
        # Larger classes lose more, but fewer records have to be suppressed.
        if losses[class_size] > min(losses.values()) or class_size >= n_persons or attempts.is_done:
            break
        class_size = min(_GROWTH_FACTOR * class_size, n_persons)
    for _ in range(_N_REFINING_SEARCHES if len(losses) > 1 else 0):
        next_size = _choose_next_size(losses)
        if attempts.best is None or clock.left <= 0 or next_size is None:
            break
        losses[next_size] = attempts.try_class_size(next_size)
    if attempts.best is None:
        raise InfeasibleError(
            f"{request.method.name} finds no classes that hide everybody from an attacker who knows so many "
            f"records. It tried classes of up to all {n_persons:,} persons, with at most {attempts.max_suppressed:,} "
            "suppressed records.",
            hint="allow more (`limits: {suppression: ...}`), ask for a smaller m or k, or take `method: histories`.",
        )
    return _with_trace_of(attempts.best, attempts)


def _choose_next_size(losses: Mapping[int, float]) -> int | None:
    """Choose a class size next to the best one, in the middle of the wider gap; None if no size is left."""
    tried, best = sorted(losses), min(losses, key=lambda size: losses[size])
    gaps = [(high / low, low, high) for low, high in pairwise(tried) if best in (low, high) and high > low + 1]
    if not gaps:
        return None
    _, low, high = max(gaps)
    return min(max(low + 1, math.isqrt(low * high)), high - 1)


def _check_sets(prepared: Prepared, request: Request, persons: CodeArray) -> None:
    """Raise InputError if persons have too many sets of m records to check them all."""
    m = max(model.m for model in request.models if isinstance(model, KMAnonymity))
    # The most sets there can be: as if all records were different.
    n_sets = count_sets(np.arange(len(persons)), persons, prepared.table.counts, m)
    if n_sets > _MOST_SETS:
        raise InputError(
            f"persons have {n_sets:,.0f} sets of {m} records together, and {request.method.name} looks at no more than "
            f"{_MOST_SETS:,}.",
            hint="take `method: histories`, which holds for every m; or ask for a smaller m.",
        )


@dataclass(slots=True, eq=False)
class _Search:
    """The state of all attempts: nodes, the best release, and the floor that the first attempt proved."""

    prepared: Prepared
    request: Request
    search: Callable[[Prepared, Request], Searched]
    clock: Clock
    persons: CodeArray
    nodes: int = 0
    complete: bool = True
    bound: float | None = None
    best: _Attempt | None = None

    @property
    def max_suppressed(self) -> int:
        """Records that may be suppressed."""
        return int(self.request.suppression_limit * self.prepared.table.n_records)

    @property
    def min_class_size(self) -> int:
        """How many persons every class holds at least."""
        return max(model.min_size for model in self.request.models)

    @property
    def is_done(self) -> bool:
        """Whether no other class size can do better, or the time is over."""
        if self.best is None:
            return False
        # The smallest classes, and nothing suppressed: larger ones only lose more.
        is_unbeatable = self.best.class_size == self.min_class_size and not self.best.release.n_suppressed
        return is_unbeatable or self.clock.left <= 0

    def try_class_size(self, class_size: int) -> float:
        """Search with classes of so many persons; return the loss, inf if too many records would be suppressed."""
        request = self.request
        class_models = tuple(model for model in request.models if not isinstance(model, KMAnonymity))
        class_request = replace(
            request,
            models=(*class_models, KAnonymity(class_size)),
            suppression_limit=_SHARE_OF_SUPPRESSION * request.suppression_limit,
            clock=_limit_clock(self.clock),
        )
        try:
            searched = self.search(self.prepared, class_request)
        except (InfeasibleError, BudgetExceeded):
            # If even the smallest class size is infeasible, its own error says best why.
            if class_size == self.min_class_size:
                raise
            return math.inf
        self.nodes += searched.found.trace.nodes
        self.complete &= searched.found.trace.complete
        # This floor holds for all attempts only without suppression, which changes the loss.
        if class_size == self.min_class_size and not self.max_suppressed:
            self.bound = searched.found.trace.bound
        release = self._build_release(searched)
        if release is None:
            return math.inf
        if self.best is None or release.loss < self.best.release.loss:
            self.best = _Attempt(release, class_size)
        return release.loss

    def _build_release(self, searched: Searched) -> Release | None:
        request, prepared = self.request, searched.prepared
        judge = replace(searched.judge, models=request.asked_of_search)
        persons = prepared.table.codes[prepared.table.index(str(request.person))]
        labels_before = searched.partition.labels
        # To readers, classes with equal cells are one class. Records without a person are suppressed.
        cell_numbers = searched.found.recoding.number_combinations()[labels_before]
        cell_numbers = np.where((labels_before < 0) | (persons < 0), np.int32(-1), cell_numbers)
        labels = _suppress_rare_sets(cell_numbers, persons, judge, self.max_suppressed)
        if labels is None:
            return None
        kept_rows = np.flatnonzero(labels >= 0)
        used, first, dense_labels = np.unique(labels[kept_rows], return_index=True, return_inverse=True)
        if not len(used):
            return None
        labels[kept_rows] = dense_labels
        partition = Partition.from_labels(labels.astype(np.int32), len(used), prepared.table.counts)
        recoding = searched.found.recoding.take(labels_before[kept_rows[first]].astype(np.int64))
        result = replace(searched.found, recoding=recoding, placing=None, evidence=None, others=())
        try:
            return release_of(prepared, judge, request, result, partition)
        except InfeasibleError:
            # The average risk is above its limit; larger classes may meet it.
            return None


def _limit_clock(clock: Clock) -> Clock:
    """Return the clock of one attempt, without progress reports."""
    if clock.budget.seconds is None:
        return Clock(clock.budget)
    return Clock(Budget(max(1e-3, _SHARE_OF_TIME * clock.left), clock.budget.nodes))


def _suppress_rare_sets(classes: CodeArray, persons: CodeArray, judge: Judge, max_suppressed: int) -> CountArray | None:
    """Suppress records until k persons hold every set; return labels, -1 if suppressed; None above the limit."""
    table, labels = judge.table, classes.astype(np.int64)
    km_models = [model for model in judge.models if isinstance(model, KMAnonymity)]
    while True:
        n_left = max_suppressed - int(table.counts[labels < 0].sum())
        kept_rows = np.flatnonzero(labels >= 0)
        if n_left < 0:
            return None
        suppressed = np.concatenate(
            [
                _rows_in_failing_classes(labels, kept_rows, judge),
                *(_rows_in_rare_sets(labels, persons, kept_rows, table.counts, model, n_left) for model in km_models),
            ]
        )
        if not len(suppressed):
            return labels
        labels[suppressed] = -1


def _rows_in_failing_classes(labels: CountArray, kept_rows: CountArray, judge: Judge) -> CountArray:
    """Return the rows of classes that fail a model."""
    part = judge.take_rows(kept_rows)
    used, dense_labels = np.unique(labels[kept_rows], return_inverse=True)
    partition = Partition.from_labels(dense_labels.astype(np.int32), len(used), part.table.counts)
    stats = part.class_stats(partition)
    fails = ~np.all([model.passes(stats) for model in part.models], axis=0)
    return np.asarray(kept_rows[fails[dense_labels]])


def _rows_in_rare_sets(
    labels: CountArray, persons: CodeArray, kept_rows: CountArray, counts: CountArray, model: KMAnonymity, n_left: int
) -> CountArray:
    """Choose rows whose suppression breaks every set that is rare now; all rows if that exceeds the limit."""
    width = int(labels.max(initial=0)) + 1
    parts: list[RareSets] = []
    chosen_keys = np.empty(0, dtype=np.int64)
    for part in find_rare_sets(labels[kept_rows], persons[kept_rows], counts[kept_rows], model.k, model.m):
        parts.append(part)
        hitting_set = _choose_hitting_set(RareSets.from_parts(parts), width, n_left)
        if hitting_set is None:
            return kept_rows
        chosen_keys = hitting_set
    return kept_rows[np.isin(persons[kept_rows].astype(np.int64) * width + labels[kept_rows], chosen_keys)]


def _choose_hitting_set(rare: RareSets, width: int, max_chosen: int) -> CountArray | None:
    """Choose greedily, per person, the class in most rare sets left; None above `max_chosen`.

    Returns keys, person * width + class.
    """
    is_record = rare.classes >= 0
    # Sets are sorted: a class that occurs twice in one stands next to itself, and counts once.
    is_record[:, 1:] &= rare.classes[:, 1:] != rare.classes[:, :-1]
    pairs = rare.persons[:, None] * width + rare.classes
    pair_keys, numbers = np.unique(pairs[is_record], return_inverse=True)
    n_pairs = len(pair_keys)
    pair_ids = np.full(pairs.shape, n_pairs)
    pair_ids[is_record] = numbers
    starts = np.flatnonzero(np.diff(pair_keys // width, prepend=-1))
    # Count and tie rank in one number: the maximum is the class in most sets, the first among equals.
    tie_rank = n_pairs - 1 - np.arange(n_pairs)
    is_chosen = np.zeros(n_pairs + 1, dtype=bool)
    while len(pair_ids):
        n_sets = np.bincount(pair_ids.ravel(), minlength=n_pairs + 1)[:n_pairs]
        best = np.maximum.reduceat(n_sets * n_pairs + tie_rank, starts)
        is_chosen[tie_rank[best[best >= n_pairs] % n_pairs]] = True
        if is_chosen.sum() > max_chosen:
            return None
        pair_ids = pair_ids[~is_chosen[pair_ids].any(axis=1)]
    return np.asarray(pair_keys[is_chosen[:-1]])


def _with_trace_of(best: _Attempt, attempts: _Search) -> Release:
    """Return the release with a trace of all attempts; of the method's proofs only the floor holds for it."""
    release = best.release
    trace = attempts.clock.build_trace(
        f"{release.trace.method}, in classes of {best.class_size:,} persons",
        attempts.nodes,
        value=release.loss,
        bound=None if attempts.bound is None else min(attempts.bound, release.loss),
        complete=attempts.complete,
        seed=release.trace.seed,
    )
    return replace(release, trace=trace)
