"""Lower losses of whole releases by moving rows between classes; every step publishes all classes anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from hushtable._types import CodeArray
from hushtable.anonymizers.method import Found, Problem
from hushtable.anonymizers.publish import merge_equal_classes, publish_classes
from hushtable.quality import Loss
from hushtable.tables import Partition

_STEPS_A_ROW: Final = 30
_MOST_STEPS: Final = 3_000


def move_rows(problem: Problem, result: Found, loss: Loss) -> Found:
    """Improve classes by a loss of whole releases, by random moves; at most 3,000 steps, which count as nodes.

    A row moves to another class, or changes places with a row of it, where all classes still pass and the loss does not
    rise. The random draws have a fixed seed. Classes that publish the same cells are one class of the release,
    as readers count them, but stay separate in the search.
    """
    labels = result.partition.labels.copy()
    kept_rows = np.flatnonzero(labels >= 0)
    n_suppressed = problem.n_suppressed_before + int(problem.table.counts[labels < 0].sum())
    best = loss.measure(result.recoding, result.partition.sizes, n_suppressed)
    rng = np.random.default_rng(0)
    n_steps = min(_MOST_STEPS, _STEPS_A_ROW * len(kept_rows)) if result.partition.n_classes > 1 else 0
    n_tried = 0
    for _ in range(n_steps):
        if problem.clock.is_over(n_tried):
            break
        n_tried += 1
        row, partner = rng.choice(kept_rows, 2, replace=False)
        if labels[row] == labels[partner]:
            continue
        tried = labels.copy()
        tried[row] = labels[partner]
        if rng.random() < 0.5:
            tried[partner] = labels[row]
        changed = _partition_of_labels(problem, tried)
        if problem.judge.list_failing_models(changed):
            continue
        recoding = publish_classes(problem, changed)
        partition, recoding = merge_equal_classes(recoding, changed.labels, problem.table.counts)
        value = loss.measure(recoding, partition.sizes, n_suppressed)
        if value <= best:
            labels, best = tried, value
            result = replace(result, partition=partition, recoding=recoding, placing=None)
    return replace(result, trace=replace(result.trace, nodes=result.trace.nodes + n_tried))


def _partition_of_labels(problem: Problem, labels: CodeArray) -> Partition:
    """Build a partition from labels, some of which may have lost all their rows."""
    used, dense = np.unique(labels[labels >= 0], return_inverse=True)
    dense_labels = np.full(len(labels), -1, dtype=np.int32)
    dense_labels[labels >= 0] = dense
    return Partition.from_labels(dense_labels, len(used), problem.table.counts)
