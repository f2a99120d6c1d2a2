"""What the records of a class have in common: sensitive columns by the models against that, measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hushtable.models import ClassStats, DistinctLDiversity, EntropyLDiversity, Ground, TCloseness
from hushtable.risk.counted import Counted
from hushtable.tables import totals

__all__ = ["Homogeneity", "homogeneity"]


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """How much whoever finds a person's class learns of a sensitive column.

    Attributes
    ----------
    distinct_l : int
        The fewest distinct known values in any class. Higher is safer.
    entropy_l : float
        The least, over classes, of the number of equally frequent values that are as hard to guess. Higher is safer.
    t : float
        In [0, 1]; the largest earth mover's distance between a class and the whole. Lower is safer.
    ground : {"equal", "ordered"}
        How far apart values lie for ``t``: all alike, or by their order.
    n_homogeneous : int
        Records in classes with one known value, or none.
    """

    distinct_l: int
    entropy_l: float
    t: float
    ground: str
    n_homogeneous: int


def homogeneity(counted: Counted, column: str) -> Homogeneity:
    """Measure one sensitive column; an empty table protects nothing."""
    sizes, histogram = counted.histogram(column)
    known = counted.table.column(column)
    # Of one value, the order means nothing, and a file does not tell what kind it is of.
    ground = {column: Ground(known.is_ordered and known.n_values > 1)}
    stats = ClassStats(sizes, {column: histogram}, {column: totals(counted.table, column)}, grounds=ground)
    distinct = DistinctLDiversity(1, column).measure(stats)
    is_empty = not len(distinct)
    return Homogeneity(
        int(distinct.min(initial=counted.table.n_records)),
        0.0 if is_empty else float(EntropyLDiversity(1, column).measure(stats).min()),
        1.0 if is_empty else float(np.clip(TCloseness(1, column).measure(stats).max(), 0.0, 1.0)),
        "ordered" if ground[column].is_ordered else "equal",
        int(counted.records[distinct < 2].sum()),
    )
