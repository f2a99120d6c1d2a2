"""Records of several persons aligned into lines that publish the same cells for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.anonymizers.method import Problem
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
    rows: list[CountArray] = field(repr=False)  # the rows of every person
    n_without_person: int

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
    order = np.argsort(persons, kind="stable")
    order = order[persons[order] >= 0]
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    rows = [each.astype(np.int64) for each in np.split(order, starts[1:])]
    alignment_weights = weights * np.array([_TIME_WEIGHT if name == time else 1.0 for name in problem.columns])
    n_without_person = int((persons < 0).sum())
    return Crowd(axes, np.column_stack(columns), np.array(shares), weights, alignment_weights, rows, n_without_person)


def align_records(crowd: Crowd, group: CountArray) -> tuple[CountArray, float, int]:
    """Align the records of a group; return the rows of each line, the cost, and how many records are left out.

    The rows have the shape (n_members, n_lines). The person with the fewest records comes first; records of the others
    are assigned so that cells grow least.
    """
    from scipy.optimize import linear_sum_assignment

    rows_of_members = sorted((crowd.rows[person] for person in group.tolist()), key=len)
    n_members, n_records = len(rows_of_members), sum(map(len, rows_of_members))
    first = rows_of_members[0]
    if len(first) == 0:
        return np.empty((n_members, 0), dtype=np.int64), float(n_records * crowd.weights.sum()), n_records
    is_set = crowd.shares > 0
    lines = first[None, :]
    low = high = crowd.positions[first]
    # A record of each needs no assignment.
    if n_records == n_members:
        lines, rows_of_members = np.stack(rows_of_members), rows_of_members[:1]
    for rows in rows_of_members[1:]:
        candidates = crowd.positions[rows]
        # By how much each record widens each line, shape (n_lines, n_records, n_columns).
        wide, narrow = np.fmax(high[:, None], candidates[None]), np.fmin(low[:, None], candidates[None])
        growth = (wide - narrow) - (high - low)[:, None]
        aligned = crowd.positions[lines]
        has_value = ((aligned[:, :, None] == candidates) | (np.isnan(aligned[:, :, None]) & np.isnan(candidates))).any(
            axis=0
        )
        # A set grows by a value that it lacks. A missing cell among others makes the whole domain the cell: share 1.
        growth = np.where(is_set, np.where(has_value, 0.0, crowd.shares), growth)
        growth = np.where(
            np.isnan(candidates)[None] != np.isnan(aligned[0])[:, None], np.where(has_value, 0.0, 1.0), growth
        )
        growth = np.nan_to_num(growth)
        _, chosen = linear_sum_assignment((growth * crowd.alignment_weights).sum(axis=2))
        lines = np.vstack([lines, rows[chosen]])
        low, high = np.fmin(low, candidates[chosen]), np.fmax(high, candidates[chosen])
    n_left_out = n_records - lines.size
    shares = domain_shares(crowd, crowd.positions[lines], is_set)
    cost = float((shares * crowd.weights).sum() * n_members + n_left_out * crowd.weights.sum())
    return lines, cost, n_left_out


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
