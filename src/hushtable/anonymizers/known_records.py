"""Hide persons from whoever knows m of their records, by any method that divides records into classes of k persons.

Sets of m records that too few persons hold then lose a record each; where more would go than may be suppressed, the
method divides again, into classes of more persons.
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

_MOST_SETS: Final = 3 * 10**7  # that are looked at anew whenever records are suppressed
_GROWTH_FACTOR: Final = 4  # times as many persons, until a release holds and the next one loses more
_N_REFINING_SEARCHES: Final = 5  # searches around the best number of persons
_SHARE_OF_SUPPRESSION: Final = 0.5  # what the method itself may suppress
_SHARE_OF_TIME: Final = 0.3  # of what is left, for each search


def is_hiding_known(asked: Request) -> bool:
    """Tell whether m known records are to find k persons, and a method is asked that divides records."""
    linked = [model for model in asked.models if model.needs.histories]
    return (
        bool(linked)
        and all(isinstance(model, KMAnonymity) for model in linked)
        and not asked.method.offers.finds_histories
    )


class _Attempt(NamedTuple):
    """A release that hides persons, and the search that it came of."""

    release: Release
    class_size: int


def hide_known(prepared: Prepared, asked: Request, search: Callable[[Prepared, Request], Searched]) -> Release:
    """Carry out a request for (k,m)-anonymity with a method that divides records.

    Each search asks for four times as many persons a class, until the release holds and the next one loses more; then
    up to five numbers around the best one are tried, and the release of least loss is taken. Records count as equal by
    their cells, without those whose cells are ``*``: so a release is never taken for safer than it is.
    """
    clock, persons = asked.clock.with_new_start(), prepared.table.codes[prepared.table.index(str(asked.person))]
    _check_sets(prepared, asked, persons)
    found = _Search(prepared, asked, search, clock, persons)
    n_persons = len(np.unique(persons[persons >= 0]))
    raised, losses = found.least, dict[int, float]()
    while True:
        losses[raised] = found.try_class_size(raised)
        clock.report_progress(len(losses) / (len(losses) + 2 * _N_REFINING_SEARCHES))
        # Larger classes lose more, and leave out fewer records.
        if losses[raised] > min(losses.values()) or raised >= n_persons or found.is_done:
            break
        raised = min(_GROWTH_FACTOR * raised, n_persons)
    for _ in range(_N_REFINING_SEARCHES if len(losses) > 1 else 0):
        middle = _choose_next_size(losses)
        if found.best is None or clock.left <= 0 or middle is None:
            break
        losses[middle] = found.try_class_size(middle)
    if found.best is None:
        raise InfeasibleError(
            f"{asked.method.name} finds no classes that hide everybody from whoever knows so many records, even "
            f"where each holds all of {n_persons:,} persons, and at most {found.most:,} records are suppressed.",
            hint="allow more (`limits: {suppression: ...}`), ask for a smaller m or k, or take `method: histories`.",
        )
    return _with_trace_of(found.best, found)


def _choose_next_size(losses: Mapping[int, float]) -> int | None:
    """Return a number of persons beside the best one, in the middle of the wider gap; None where nothing is left."""
    tried, best = sorted(losses), min(losses, key=lambda raised: losses[raised])
    gaps = [(high / low, low, high) for low, high in pairwise(tried) if best in (low, high) and high > low + 1]
    if not gaps:
        return None
    _, low, high = max(gaps)
    return min(max(low + 1, math.isqrt(low * high)), high - 1)


def _check_sets(prepared: Prepared, asked: Request, persons: CodeArray) -> None:
    """Raise InputError where there are too many sets of records to look at them all."""
    m = max(model.m for model in asked.models if isinstance(model, KMAnonymity))
    # Were no two records alike, there would be as many sets as there can be.
    n_sets = count_sets(np.arange(len(persons)), persons, prepared.table.counts, m)
    if n_sets > _MOST_SETS:
        raise InputError(
            f"persons have {n_sets:,.0f} sets of {m} records together, and {asked.method.name} looks at no more than "
            f"{_MOST_SETS:,}.",
            hint="take `method: histories`, which holds for every m; or ask for a smaller m.",
        )


@dataclass(slots=True, eq=False)
class _Search:
    """What attempts share; it counts their nodes, and keeps the floor that the first one proved."""

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
    def most(self) -> int:
        """Records that may be suppressed."""
        return int(self.request.suppression_limit * self.prepared.table.n_records)

    @property
    def least(self) -> int:
        """How many persons every class holds at least."""
        return max(model.min_size for model in self.request.models)

    @property
    def is_done(self) -> bool:
        """Whether no other search can do better, or none has the time to."""
        is_spared = self.best is not None and self.best.class_size == self.least and not self.best.release.n_suppressed
        return is_spared or (self.best is not None and self.clock.left <= 0)

    def try_class_size(self, raised: int) -> float:
        """Divide the records into classes of so many persons, and return the loss; inf where too many records go."""
        asked = self.request
        others = tuple(model for model in asked.models if not isinstance(model, KMAnonymity))
        within = replace(
            asked,
            models=(*others, KAnonymity(raised)),
            suppression_limit=_SHARE_OF_SUPPRESSION * asked.suppression_limit,
            clock=_limit_clock(self.clock),
        )
        try:
            searched = self.search(self.prepared, within)
        except (InfeasibleError, BudgetExceeded):
            # What the models of classes alone cannot be met with is told as it is.
            if raised == self.least:
                raise
            return math.inf
        self.nodes += searched.found.trace.nodes
        self.complete &= searched.found.trace.complete
        if raised == self.least and not self.most:
            self.bound = searched.found.trace.bound
        release = self._build_release(searched)
        if release is None:
            return math.inf
        if self.best is None or release.loss < self.best.release.loss:
            self.best = _Attempt(release, raised)
        return release.loss

    def _build_release(self, searched: Searched) -> Release | None:
        asked, prepared = self.request, searched.prepared
        judge = replace(searched.judge, models=asked.asked_of_classes)
        persons = prepared.table.codes[prepared.table.index(str(asked.person))]
        labels_before = searched.partition.labels
        # What is published of two classes alike is one class to readers; records of nobody are left out.
        published = searched.found.recoding.number_combinations()[labels_before]
        published = np.where((labels_before < 0) | (persons < 0), np.int32(-1), published)
        hidden = _suppress_rare_sets(published, persons, judge, self.most)
        if hidden is None:
            return None
        kept = np.flatnonzero(hidden >= 0)
        used, first, labels = np.unique(hidden[kept], return_index=True, return_inverse=True)
        if not len(used):
            return None
        hidden[kept] = labels
        partition = Partition.from_labels(hidden.astype(np.int32), len(used), prepared.table.counts)
        recoding = searched.found.recoding.take(labels_before[kept[first]].astype(np.int64))
        found = replace(searched.found, recoding=recoding, placing=None, evidence=None, others=())
        try:
            return release_of(prepared, judge, asked, found, partition)
        except InfeasibleError:
            # The average risk; larger classes have a smaller one.
            return None


def _limit_clock(clock: Clock) -> Clock:
    """Return the clock of one search, which tells nobody."""
    if clock.budget.seconds is None:
        return Clock(clock.budget)
    return Clock(Budget(max(1e-3, _SHARE_OF_TIME * clock.left), clock.budget.nodes))


def _suppress_rare_sets(classes: CodeArray, persons: CodeArray, judge: Judge, most: int) -> CountArray | None:
    """Return classes, -1 where suppressed, such that k persons hold every known set; None where too many go."""
    table, hidden = judge.table, classes.astype(np.int64)
    known = [model for model in judge.models if isinstance(model, KMAnonymity)]
    while True:
        left = most - int(table.counts[hidden < 0].sum())
        kept = np.flatnonzero(hidden >= 0)
        if left < 0:
            return None
        gone = np.concatenate(
            [
                _rows_in_failing_classes(hidden, kept, judge),
                *(_rows_in_rare_sets(hidden, persons, kept, table.counts, model, left) for model in known),
            ]
        )
        if not len(gone):
            return hidden
        hidden[gone] = -1


def _rows_in_failing_classes(hidden: CountArray, kept: CountArray, judge: Judge) -> CountArray:
    """Return the rows of classes that fail a model."""
    part = judge.take_rows(kept)
    used, labels = np.unique(hidden[kept], return_inverse=True)
    partition = Partition.from_labels(labels.astype(np.int32), len(used), part.table.counts)
    stats = part.class_stats(partition)
    fails = ~np.all([model.passes(stats) for model in part.models], axis=0)
    return np.asarray(kept[fails[labels]])


def _rows_in_rare_sets(
    hidden: CountArray, persons: CodeArray, kept: CountArray, counts: CountArray, model: KMAnonymity, left: int
) -> CountArray:
    """Return rows without which no set of records that is rare now is left; all, where more would go than may."""
    width = int(hidden.max(initial=0)) + 1
    parts: list[RareSets] = []
    gone = np.empty(0, dtype=np.int64)
    for part in find_rare_sets(hidden[kept], persons[kept], counts[kept], model.k, model.m):
        parts.append(part)
        found = _choose_hitting_set(RareSets.from_parts(parts), width, left)
        if found is None:
            return kept
        gone = found
    return kept[np.isin(persons[kept].astype(np.int64) * width + hidden[kept], gone)]


def _choose_hitting_set(rare: RareSets, width: int, most: int) -> CountArray | None:
    """Choose of each person the class in most rare sets, as person * width + class; None where more than `most` are."""
    is_record = rare.classes >= 0
    # Sets are in order, so that a class that is in one twice stands beside itself.
    is_record[:, 1:] &= rare.classes[:, 1:] != rare.classes[:, :-1]
    pairs = rare.persons[:, None] * width + rare.classes
    found, numbers = np.unique(pairs[is_record], return_inverse=True)
    n_found = len(found)
    held = np.full(pairs.shape, n_found)
    held[is_record] = numbers
    starts = np.flatnonzero(np.diff(found // width, prepend=-1))
    # Of classes in as many sets the first.
    backwards = n_found - 1 - np.arange(n_found)
    is_chosen = np.zeros(n_found + 1, dtype=bool)
    while len(held):
        n_sets = np.bincount(held.ravel(), minlength=n_found + 1)[:n_found]
        best = np.maximum.reduceat(n_sets * n_found + backwards, starts)
        is_chosen[backwards[best[best >= n_found] % n_found]] = True
        if is_chosen.sum() > most:
            return None
        held = held[~is_chosen[held].any(axis=1)]
    return np.asarray(found[is_chosen[:-1]])


def _with_trace_of(best: _Attempt, found: _Search) -> Release:
    """Return the release with a trace of all searches: of the method's proofs, none but the floor is one of it."""
    release = best.release
    trace = found.clock.build_trace(
        f"{release.trace.method}, in classes of {best.class_size:,} persons",
        found.nodes,
        value=release.loss,
        bound=None if found.bound is None else min(found.bound, release.loss),
        complete=found.complete,
        seed=release.trace.seed,
    )
    return replace(release, trace=trace)
