"""Suppression as a trade: the records whose removal lowers the loss most go first, and none where it does not fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.method import Found, Problem
from hushtable.recoding import Axis, Sets, by_content, places, relative
from hushtable.search import Trade
from hushtable.tables import Partition

__all__ = ["suppress_for_loss", "worth_suppressing"]

_MOST_SEARCHES: Final = 12
_NEXT: Final = 0.25  # of the records that were tried in vain, those that are tried next


def suppress_for_loss(problem: Problem, search: Callable[[Problem], Found], axes: Sequence[Axis]) -> Found:
    """Search, and search again without the records that cost the others most, as long as the loss falls.

    A suppressed record counts in the loss as one that lost everything, so that the answer is
    never worse than without suppression, which is the first one tried.

    Parameters
    ----------
    problem : Problem
        With as many records as may go.
    search : callable
        Finds classes that pass, none of them suppressed.
    axes : sequence of Axis
        The problem's columns, as they are published.

    Notes
    -----
    Greedy: `worth_suppressing` ranks records by what they cost in the classes found, and the search
    tells what is gained. Where the best ones together gain nothing, a quarter of them is
    tried; 12 searches more at the most.
    """
    best = search(problem)
    before = value = _loss(problem, best)
    nodes, share = best.trace.nodes, 1.0
    for _ in range(_MOST_SEARCHES):
        rows = worth_suppressing(problem, best, axes)
        left = problem.most_suppressed - int(problem.table.counts[best.suppressed].sum())
        rows = rows[np.cumsum(problem.table.counts[rows]) <= left]
        rows = rows[: int(np.ceil(share * len(rows)))]
        if len(rows) == 0 or problem.clock.is_over(nodes):
            break
        tried = _found_without(problem, best.suppressed, rows, search, nodes)
        nodes += tried.trace.nodes if tried else 0
        if tried and _is_allowed(problem, tried) and _loss(problem, tried) < value:
            best, value = tried, _loss(problem, tried)
        elif len(rows) == 1:
            break
        else:
            share *= _NEXT
    trade = Trade(int(problem.table.counts[best.suppressed].sum()), before, value)
    trace = replace(best.trace, nodes=nodes, seconds=problem.clock.spent, trade=trade)
    return replace(best, trace=trace)


def worth_suppressing(problem: Problem, found: Found, axes: Sequence[Axis]) -> CountArray:
    """Rank the rows of classes that would lose less in all without them.

    Parameters
    ----------
    problem : Problem
    found : Found
    axes : sequence of Axis

    Returns
    -------
    rows : ndarray of int64
        By what is gained for every record that goes, the most first.

    Notes
    -----
    A class of n records that loses a share s, and s - d without c equal ones, gains
    (n - c) d - c (1 - s): what the others gain, less what those lose who are gone. That the rest
    may be too few to stay a class, only the next search can tell.
    """
    labels, counts = found.partition.labels, problem.table.counts
    kept = np.flatnonzero(labels >= 0)
    weights = relative([problem.loss.weights.get(axis.column.name, 1.0) for axis in axes])
    if not weights.any():
        return np.empty(0, dtype=np.int64)
    weights = weights / weights.sum()
    rows = places(problem.table, axes)[kept]
    shares, spared = np.zeros(found.partition.n_classes), np.zeros(len(kept))
    by_name = dict(zip((column.name for column in found.recoding.columns), found.recoding.shares(), strict=True))
    for weight, axis, column in zip(weights, axes, rows.T, strict=True):
        shares += weight * by_name[axis.column.name]
        most = by_name[axis.column.name][labels[kept]]
        spared += weight * np.clip(_spared(axis, labels[kept], column), 0.0, most)
    others = found.partition.sizes[labels[kept]] - counts[kept]
    gain = others * spared / np.maximum(1, counts[kept]) - (1 - shares[labels[kept]])
    rank = np.empty(problem.table.n_rows, dtype=np.int64)
    rank[by_content(problem.table)] = np.arange(problem.table.n_rows)
    worth = np.flatnonzero((gain > 0) & (counts[kept] > 0))
    return np.asarray(kept[worth[np.lexsort((rank[kept[worth]], -gain[worth]))]])


def _spared(axis: Axis, labels: CodeArray, place: CodeArray) -> FloatArray:
    """Return what the rest of its class would lose less in one column without each row."""
    order = np.lexsort((place, labels))
    label, place = labels[order], place[order]
    is_first = np.append(True, label[1:] != label[:-1])
    is_last = np.append(is_first[1:], True)
    first = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    last = np.flatnonzero(is_last)[np.cumsum(is_first) - 1]
    spared = np.empty(len(place))
    if axis.is_ordered:
        low, high = place[np.where(is_first & ~is_last, first + 1, first)], place[np.where(is_last, last - 1, last)]
        rest = np.where(is_first & is_last, 0.0, _span(axis, low, np.maximum(low, high)))
        spared[order] = _span(axis, place[first], place[last]) - rest
    else:
        begins = is_first | np.append(True, place[1:] != place[:-1])
        is_alone = begins & np.append(begins[1:], True)
        n_values = np.add.reduceat(begins.astype(np.int64), np.flatnonzero(is_first))[np.cumsum(is_first) - 1]
        spared[order] = _listed(axis, n_values) - _listed(axis, n_values - is_alone)
    return spared


def _span(axis: Axis, low: CodeArray, high: CodeArray) -> FloatArray:
    """Return the share that is published over each run of places; the lowest one is 0 where values are missing."""
    has_missing: BoolArray = np.asarray(low == 0)
    return publish.run(axis, low - np.int32(1), high - np.int32(1), has_missing).shares(axis.column)


def _listed(axis: Axis, n_values: CountArray) -> FloatArray:
    """Return the share that sets of so many values have."""
    return Sets(np.append(0, np.cumsum(n_values)), np.empty(0, dtype=np.int32), axis.domain).shares(axis.column)


def _found_without(
    problem: Problem, suppressed: BoolArray, rows: CountArray, search: Callable[[Problem], Found], nodes: int
) -> Found | None:
    """Search without some more rows; None where what is left fails the models as a whole."""
    gone = suppressed.copy()
    gone[rows] = True
    rest = problem.of(~gone)
    if rest.table.n_records == 0 or not rest.judge.passes_as_one_class():
        return None
    budget = problem.clock.budget
    if budget.nodes is not None:
        rest = replace(rest, clock=replace(problem.clock, budget=replace(budget, nodes=budget.nodes - nodes)))
    found = search(rest)
    labels = np.full(len(gone), -1, dtype=np.int32)
    labels[~gone] = found.partition.labels
    partition = Partition.from_labels(labels, found.partition.n_classes, problem.table.counts)
    return replace(found, partition=partition)


def _is_allowed(problem: Problem, found: Found) -> bool:
    """Tell whether the average risk stays within its limit."""
    most = problem.average_risk
    return most is None or found.partition.n_classes <= most * found.partition.n_records


def _loss(problem: Problem, found: Found) -> float:
    n_gone = problem.n_gone + int(problem.table.counts[found.suppressed].sum())
    return problem.loss.of(found.recoding, found.partition.sizes, n_gone)
