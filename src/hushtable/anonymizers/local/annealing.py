"""Annealing of a partition, within seconds or steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.local.neighbours import Neighbours
from hushtable.anonymizers.local.pricing import Pricing
from hushtable.kernels import annealing, class_costs
from hushtable.kernels.class_costs import CostedClasses
from hushtable.kernels.regroup import Check
from hushtable.search import Clock, check_memory

__all__ = ["Course", "adopted", "anneal", "parted"]

_SHARE_BIG: Final = 0.01  # of the steps that split or dissolve
_SLICE: Final = 100_000  # steps between two looks at the clock
_N_STAGES: Final = 20  # after each of which columns are weighted anew
_STEPS_TO_HEAL: Final = 90  # of a row; with fewer, what the first heat spoils is not made good again
_SHARE_COLD: Final = 0.05  # of the steps, the last ones, that only go down
_SPARE: Final = 64  # classes more than sizes allow, for splits of those that are then dissolved


@dataclass(frozen=True, slots=True)
class Course:
    """How long an annealing goes on, and how hot.

    Attributes
    ----------
    n_steps : int
        At most.
    hot, cold : float
        The first and the last temperature, in cells, of an annealing that is long enough for them.
    """

    n_steps: int
    hot: float
    cold: float


def anneal(
    pricing: Pricing, labels: CodeArray, found: Neighbours, check: Check, course: Course, seed: int, clock: Clock
) -> tuple[CodeArray, int]:
    """Anneal classes that pass; return them as they are in the end, and the steps taken.

    Parameters
    ----------
    labels : ndarray of int32, shape (n_rows,)
        A class for every row.
    check : Check
        What every class keeps satisfying, of the rows in the order of the neighbours.
    clock : Clock
        Where it has an end, the temperature falls with the time that is left, so that it ends cold.
    """
    order = found.order
    space = pricing.space._replace(codes=np.ascontiguousarray(pricing.space.codes[order]))
    classes = _classes(pricing, labels[order], check.min_size)
    state = np.array([1 + (seed * 48_271 + 11) % 2_147_483_646], dtype=np.int64)
    begun, whole = clock.spent, clock.left
    class_costs.settle_all(space, classes)
    n_done, stage, done = 0, 0, 0.0 if whole > 0 else 1.0
    # How many steps there will be; with an end in time, the first of them tell.
    n_all = course.n_steps if math.isinf(whole) else 0.0
    while done < 1 and n_done < course.n_steps:
        if int(done * _N_STAGES) > stage:
            stage = int(done * _N_STAGES)
            space = pricing.near(_unordered(classes, order)).space._replace(codes=space.codes)
            class_costs.settle_all(space, classes)
        n_steps = min(_SLICE, -(-course.n_steps // _N_STAGES), course.n_steps - n_done)
        share = min(1.0, done / (1 - _SHARE_COLD))
        hot = max(course.cold / 100, course.hot * min(1.0, n_all / (_STEPS_TO_HEAL * len(order))))
        heat = hot * (min(hot, course.cold) / hot) ** share if share < 1 else course.cold / 100
        annealing.anneal(space, classes, found.near, check, annealing.Schedule(state, n_steps, heat, heat, _SHARE_BIG))
        n_done += n_steps
        done = max(n_done / course.n_steps, (clock.spent - begun) / whole)
        n_all = n_done / done
        clock.tell(min(0.99, done))
    return _unordered(classes, order), n_done


def _unordered(classes: CostedClasses, order: CountArray) -> CodeArray:
    """Return the class of every row, numbered from 0, rows in their first order."""
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = np.unique(classes.rows["label"], return_inverse=True)[1]
    return labels


def _classes(pricing: Pricing, labels: CodeArray, min_size: int) -> CostedClasses:
    """Put labelled rows into rings; those labelled -1 are in no class."""
    n_rows, n_columns = pricing.space.codes.shape
    n_slots = max(n_rows // min_size, int(labels.max()) + 1) + _SPARE
    check_memory(
        n_slots * (16.0 * n_columns + 16.0 * pricing.n_words + 24) + 20.0 * n_rows,
        f"annealing classes of {n_rows} records",
        'take method="mondrian", or give columns of many values a hierarchy.',
    )
    of, rows = np.zeros(n_slots, dtype=class_costs.CLASS), np.empty(n_rows, dtype=class_costs.ROW)
    members = np.argsort(labels, kind="stable")[int((labels < 0).sum()) :]
    sizes = np.bincount(labels[members], minlength=n_slots)
    begins = np.cumsum(sizes) - sizes
    of["n_rows"] = sizes
    used = sizes > 0
    of["first"][used] = members[begins[used]]
    place = np.arange(len(members)) - begins[labels[members]]
    following = begins[labels[members]] + (place + 1) % sizes[labels[members]]
    rows["label"] = labels
    rows["after"][members] = members[following]
    rows["before"][members[following]] = members
    spare = np.flatnonzero(~used)[::-1]
    free = np.zeros(n_slots + 1, dtype=np.int64)
    free[0], free[1 : len(spare) + 1] = len(spare), spare
    return CostedClasses(
        of,
        rows,
        np.zeros((n_slots, n_columns, 4), dtype=np.int32),
        np.zeros((n_slots, pricing.n_words, 2), dtype=np.uint64),
        free,
        np.empty((1, n_rows), dtype=np.int32),
    )


def adopted(pricing: Pricing, labels: CodeArray, check: Check) -> CodeArray | None:
    """Give every row labelled -1 to the class that grows least; None where no class may have one."""
    rows = np.flatnonzero(labels < 0)
    if not len(rows):
        return labels
    classes = _classes(pricing, labels, check.min_size)
    class_costs.settle_all(pricing.space, classes)
    if annealing.adopt(pricing.space, classes, check, rows) < len(rows):
        return None
    return np.ascontiguousarray(classes.rows["label"])


def parted(pricing: Pricing, labels: CodeArray, min_size: int) -> CodeArray:
    """Part classes of twice the least size or more, equal rows together; that costs no more."""
    order = np.lexsort((*pricing.space.codes.T, labels))
    sizes = np.bincount(labels)
    n_parts = np.maximum(1, sizes // min_size)
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((np.cumsum(n_parts) - n_parts)[labels] + place * n_parts[labels] // sizes[labels], dtype=np.int32)
