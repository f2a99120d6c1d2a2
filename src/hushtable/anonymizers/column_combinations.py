"""Local suppression for sets of columns, on each of which records shall be k-anonymous by themselves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hushtable._types import BoolArray, FloatArray
from hushtable.anonymizers.closing_classes import close_classes
from hushtable.anonymizers.kept_sets import KeptSets, find_own_optimum, publish_kept
from hushtable.anonymizers.method import Found, Problem
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.models import KAnonymity
from hushtable.quality import CellLoss

ChosenSets = tuple[tuple[str, ...], ...]

_MAX_SETS = 5_000


def check_combinations(given: object) -> int | ChosenSets | None:
    """Return a size, or sets of columns, as they are asked for; InputError where they are neither."""
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 1):
        return given
    sets = tuple(map(tuple, given)) if isinstance(given, Sequence) and not any(map(_is_no_set, given)) else ()
    if not sets:
        raise InputError(
            f"per_combination = {given!r}.",
            hint="a number of columns, 1 or more, or sets of columns: [['age', 'sex'], ['age', 'job']].",
        )
    for columns in sets:
        if len(set(columns)) < len(columns):
            raise InputError(f"per_combination names a column twice: {quote_names(columns)}.", hint="name each once.")
    return sets


def _is_no_set(given: object) -> bool:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return True
    return not given or not all(isinstance(name, str) for name in given)


def list_combinations(asked: int | Sequence[Sequence[str]] | None, columns: Sequence[str]) -> ChosenSets:
    """Return the sets, in the order of the columns' names; none where one holds all columns.

    Sets within others are left out: what holds on more columns holds on these.
    """
    if asked is None:
        return ()
    if isinstance(asked, int):
        sets = list(itertools.combinations(sorted(columns), min(asked, len(columns))))
    else:
        for each in asked:
            check_columns(tuple(each), columns, "per_combination of LocalSuppression")
        sets = sorted({tuple(sorted(each)) for each in asked})
        sets = [each for each in sets if not any(set(each) < set(other) for other in sets)]
    if len(sets) > _MAX_SETS:
        raise InputError(f"per_combination asks for {len(sets):,} sets of columns.", hint="ask for smaller sets.")
    return () if len(sets[0]) == len(columns) else tuple(sets)


class Whole(NamedTuple):
    """A release whose classes hold on all columns together."""

    kept: BoolArray  # (n_rows, n_columns)
    n_nodes: int
    complete: bool


def search_combinations(
    method: str, problem: Problem, sets: KeptSets, loss_weights: FloatArray, combinations: ChosenSets, whole: Whole
) -> Found:
    """Blank until on every set of columns each record shares what it publishes with k records.

    The floor is the least that each record blanks by itself: whoever shares cells agrees in the input, too. From three
    releases that hold on every set, cells are published again while they still hold, and the cheapest is taken: the
    one whose classes hold on all columns, all cells blank, and one made set by set from what records blank by
    themselves.
    """
    names, k, counts = list(problem.columns), problem.judge.min_size, sets.table.counts
    masks = [np.isin(names, columns) for columns in combinations]
    own = find_own_optimum(sets, k, problem.clock.is_over, masks)
    starts = [whole.kept, np.zeros_like(whole.kept)]
    if not problem.clock.is_over(whole.n_nodes):
        starts.append(_close_every_set(sets, problem, own.kept, masks))
    is_judged = np.any(masks, axis=0)
    kept = min(
        (restore_cells(sets, start | ~is_judged, masks, k) for start in starts),
        key=lambda kept: float(sets.costs(kept) @ counts),
    )
    partition, recoding = publish_kept(sets.table, kept)
    priced = sets.with_weights(loss_weights)
    if not np.array_equal(sets.weights, loss_weights):
        own = find_own_optimum(priced, k, problem.clock.is_over, masks)
    assert isinstance(problem.loss, CellLoss)
    scale = problem.loss.factor(problem.columns, sets.table.n_records)
    value, floor = (scale * float(each @ counts) for each in (priced.costs(kept), own.costs))
    trace = problem.clock.build_trace(
        method, own.n_sets + whole.n_nodes, value=value, bound=floor, complete=own.complete and whole.complete
    )
    return Found(partition, recoding, trace, combinations=combinations)


def _close_every_set(sets: KeptSets, problem: Problem, kept: BoolArray, masks: Sequence[BoolArray]) -> BoolArray:
    """Blank, set by set, what records need to share their cells on it, until they do on all; blanks only grow."""
    before = -1
    while before != (before := int(kept.sum())):
        for mask in masks:
            of_set = replace(sets, published=kept, among=mask)
            kept_of_set, _, _ = close_classes(of_set, problem.judge, problem.clock.start_part(1.0))
            kept = kept & (kept_of_set | ~mask)
    return kept


def restore_cells(sets: KeptSets, kept: BoolArray, masks: Sequence[BoolArray], k: int) -> BoolArray:
    """Publish blanked cells again while all classes on every set keep k records; the dearest columns first."""
    order = sorted(range(kept.shape[1]), key=lambda j: (-sets.weights[j], -sets.ranks[j]))
    before = -1
    while before != (before := int(kept.sum())):
        for j in order:
            kept = _restore_column(sets, kept, j, [mask for mask in masks if mask[j]], k)
    return kept


def _restore_column(sets: KeptSets, kept: BoolArray, j: int, masks: Sequence[BoolArray], k: int) -> BoolArray:
    """Publish cells of a column again: first all, then without those that would leave a class too small."""
    chosen, counts = ~kept[:, j], sets.table.counts
    all_columns = np.ones(kept.shape[1], dtype=np.bool_)
    while chosen.any():
        n_before, trial = int(chosen.sum()), kept.copy()
        trial[chosen, j] = True
        for mask in masks:
            labels, n_classes = replace(sets, published=trial, among=mask).label(all_columns)
            sizes = np.bincount(labels, counts, n_classes)
            is_few = sizes[labels] < k
            chosen &= ~is_few
            short = is_few & ~trial[:, j]
            if short.any():  # some that publish their cell again have to stay with those that do not
                labels_before, n_before_them = replace(sets, published=kept, among=mask).label(all_columns)
                lacking = np.zeros(n_before_them, dtype=np.int64)
                lacking[labels_before[short]] = k - sizes[labels[short]]
                leaving = np.flatnonzero(chosen)
                leaving = leaving[np.argsort(labels_before[leaving], kind="stable")]
                of_class = labels_before[leaving]
                rank = np.arange(len(of_class)) - np.searchsorted(of_class, of_class)
                chosen[leaving[rank < lacking[of_class]]] = False
        if int(chosen.sum()) == n_before:
            return trial
    return kept


def check_request(problem: Problem) -> None:
    """Raise InputError if anything but k-anonymity of records is asked."""
    judge = problem.judge
    others = [model.name for model in judge.models if not isinstance(model, KAnonymity)]
    if problem.notion is not None or others or not judge.is_by_size or judge.person is not None:
        raise InputError(
            "per_combination was given with models of more than the number of records, or with persons.",
            hint="ask for k-anonymity alone, where a row is a person.",
        )
    if problem.average_risk is not None or problem.n_suppressed_before:
        raise InputError(
            "per_combination was given with a limit of average risk, or suppression of records.",
            hint="leave these out: every record shares the cells of each set with k records.",
        )
