"""Close classes of local suppression: set by set of kept columns, whatever passes, the cheapest sets first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.kept_sets import KeptSets
from hushtable.search import Clock


def close_classes(sets: KeptSets, judge: Judge, clock: Clock) -> tuple[BoolArray, int, bool]:
    """Close whatever passes, set by set; return what each row keeps, how many sets were walked, and whether all.

    Where the budget ends, one column after the other is blanked for all rows that are left, so that the walk is short.
    """
    n_rows, n_columns = sets.table.n_rows, len(sets.weights)
    kept, open_rows = np.ones((n_rows, n_columns), dtype=np.bool_), np.arange(n_rows)
    n_walked = 0
    for columns in sets.iterate():
        if n_walked and clock.is_over(n_walked):
            break
        n_walked += 1
        open_rows = _close(sets, judge, columns, open_rows, kept)
        clock.report_progress(1 - len(open_rows) / n_rows)
        if not len(open_rows):
            return kept, n_walked, True
    else:
        return _with_leftover(sets, judge, kept, open_rows), n_walked, True
    columns = np.ones(n_columns, dtype=np.bool_)
    for j in sorted(sets.varied, key=lambda j: (sets.weights[j], sets.ranks[j])):
        columns = columns & (np.arange(n_columns) != j)
        open_rows = _close(sets, judge, columns, open_rows, kept)
    return _with_leftover(sets, judge, kept, open_rows), n_walked, False


def _close(sets: KeptSets, judge: Judge, columns: BoolArray, open_rows: CountArray, kept: BoolArray) -> CountArray:
    """Close the classes of open rows on some columns that pass; return the rows that are still open."""
    labels, n_classes = sets.label(columns, open_rows)
    passes = _judge_classes(judge, open_rows, labels, n_classes)[labels]
    kept[open_rows[passes]] = columns
    return open_rows[~passes]


def _judge_classes(judge: Judge, rows: CountArray, labels: CodeArray, n_classes: int) -> BoolArray:
    """Tell which classes of some rows pass."""
    if judge.is_by_size:
        return np.asarray(np.bincount(labels, minlength=n_classes) >= judge.min_size)
    order = np.argsort(labels, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(labels, minlength=n_classes)))
    return judge.passes(offsets, rows[order].astype(np.int32))


def _with_leftover(sets: KeptSets, judge: Judge, kept: BoolArray, open_rows: CountArray) -> BoolArray:
    """Blank the rows that no class holds, and so many more that they are a class together.

    Records are lent by classes that can spare them, the cheapest first; else the cheapest classes join as a whole.
    """
    if not len(open_rows):
        return kept
    kept = kept.copy()
    blank = ~np.isin(np.arange(kept.shape[1]), sets.varied)
    labels, n_classes = _number_classes(sets, kept, open_rows)
    extra = sets.cost(blank) - sets.costs(kept)
    if judge.is_by_size:
        lenders = _spare_rows(labels, n_classes, judge.min_size, extra)[: judge.min_size - len(open_rows)]
        if len(lenders) == judge.min_size - len(open_rows):
            kept[np.append(open_rows, lenders)] = blank
            return kept
    closed = labels >= 0
    joined = np.zeros(len(labels), dtype=np.bool_)
    joined[open_rows] = True
    for number in np.argsort(np.bincount(labels[closed], extra[closed], n_classes), kind="stable").tolist():
        joined |= labels == number
        rows = np.flatnonzero(joined)
        if _judge_classes(judge, rows, np.zeros(len(rows), dtype=np.int32), 1)[0]:
            break
    kept[joined] = blank
    return kept


def _number_classes(sets: KeptSets, kept: BoolArray, open_rows: CountArray) -> tuple[CodeArray, int]:
    """Return the classes of the rows that are in one, -1 for open rows."""
    labels, n_classes = replace(sets, published=kept if sets.published is None else kept & sets.published).label(
        np.ones(kept.shape[1], dtype=np.bool_)
    )
    labels = labels.copy()
    labels[open_rows] = -1
    return labels, n_classes


def _spare_rows(labels: CodeArray, n_classes: int, k: int, extra: FloatArray) -> CountArray:
    """Return rows that classes of more than k can lend, those of least extra cost first."""
    order = np.lexsort((extra, labels))
    order = order[labels[order] >= 0]
    sizes = np.bincount(labels[order], minlength=n_classes)
    rank = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[labels[order]]
    spare = order[rank < sizes[labels[order]] - k]
    return spare[np.argsort(extra[spare], kind="stable")]
