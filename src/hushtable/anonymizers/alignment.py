"""Records of several persons aligned into lines that publish the same cells for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.anonymizers.method import Problem
from hushtable.kernels.alignment import align_group
from hushtable.recoding import Axis, lay_out, scale_weights

_TIME_WEIGHT: Final = 1e3  # a factor on the weight of the time column in alignments, so that time decides first


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The persons, and the positions of their records in every column."""

    axes: Sequence[Axis] = field(repr=False)
    # (n_rows, n_columns): in [0, 1] for an ordered column, else the code; NaN is missing
    positions: FloatArray = field(repr=False)
    # What each further value of an unordered column costs; 0 for an ordered column
    shares: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    alignment_weights: FloatArray = field(repr=False)  # how much each column decides which records are aligned
    # Person p has the records rows[starts[p]:starts[p + 1]].
    rows: CountArray = field(repr=False)
    starts: CountArray = field(repr=False)
    n_without_person: int  # records that belong to nobody who is grouped
    is_whole: bool = False  # whether no record of those who are grouped may be left out
    n_rare: int = 0  # records of persons who are not grouped because few have as many

    @property
    def n_records(self) -> CountArray:
        """How many records every person has."""
        return np.diff(self.starts)

    def rows_of(self, person: int) -> CountArray:
        """Return the records of a person."""
        return self.rows[self.starts[person] : self.starts[person + 1]]

    @property
    def n_cells(self) -> float:
        """The weighted number of cells: the cost if all are suppressed."""
        # If all weights are 0, every cost is 0; 1 avoids a division by 0.
        return float(len(self.positions) * self.weights.sum()) or 1.0


def build_crowd(problem: Problem, time: str | None) -> Crowd:
    """Collect the persons of a table, and where their records lie in every column."""
    table, judge = problem.table, problem.judge
    axes = lay_out(judge.laid_out, problem.columns, problem.ladders, {})
    weights = scale_weights([problem.loss.weights.get(name, 1.0) for name in problem.columns])
    columns, shares = [], []
    for axis in axes:
        codes = table.codes[table.index(axis.column.name)]
        places = axis.place[codes + 1]
        if axis.is_cut_in_order:
            positions = axis.positions[places]
        else:
            positions = places / max(1, axis.n_places - 1) if axis.is_ordered else codes.astype(np.float64)
        positions = np.where(codes < 0, np.nan, positions)
        columns.append(positions)
        shares.append(0.0 if axis.is_ordered else 1.0 / max(1, axis.domain))
    persons = np.arange(table.n_rows) if judge.person is None else table.codes[table.index(judge.person)]
    order = np.argsort(persons, kind="stable").astype(np.int64)
    order = order[persons[order] >= 0]
    starts = np.append(np.flatnonzero(np.diff(persons[order], prepend=-1)), len(order))
    alignment_weights = weights * np.array([_TIME_WEIGHT if name == time else 1.0 for name in problem.columns])
    n_without_person = int((persons < 0).sum())
    positions = np.ascontiguousarray(np.column_stack(columns))
    return Crowd(axes, positions, np.array(shares), weights, alignment_weights, order, starts, n_without_person)


def align_records(crowd: Crowd, group: CountArray) -> tuple[CountArray, float, int]:
    """Align the records of a group; see `hushtable.kernels.alignment.align_group`."""
    lines, cost, n_left_out = align_group(
        crowd.positions,
        crowd.rows,
        crowd.starts,
        group.astype(np.int64),
        crowd.shares,
        crowd.weights,
        crowd.alignment_weights,
    )
    return lines, float(cost), int(n_left_out)


def domain_shares(crowd: Crowd, positions: FloatArray, is_set: BoolArray) -> FloatArray:
    """Return the share of each column's domain that each line publishes.

    ``positions`` has the shape (n_members, n_lines, n_columns).
    """
    missing = np.isnan(positions)
    # Positions and codes are 0 or more, so -1 makes the missing value a value of its own.
    values = np.sort(np.where(missing, -1.0, positions), axis=0)
    n_distinct = 1 + (np.diff(values, axis=0) > 0).sum(axis=0)
    as_set = np.where(n_distinct > 1, n_distinct * crowd.shares, 0.0)
    spans = np.where(missing.all(axis=0), 0.0, np.where(missing.any(axis=0), 1.0, values[-1] - values[0]))
    return np.minimum(np.where(is_set, as_set, spans), 1.0)
