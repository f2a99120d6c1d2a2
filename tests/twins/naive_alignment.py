"""A slow alignment of records, as arrays say it: SciPy assigns the records of one person after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


def align(
    positions: Any, rows: list[Any], group: list[int], shares: Any, weights: Any, alignment_weights: Any
) -> tuple[Any, float, int]:
    """Align the records of a group; return the rows of each line, the cost, and how many records are left out.

    The rows have the shape (n_members, n_lines). The person with the fewest records comes first; records of the others
    are assigned so that cells grow least.
    """
    rows_of_members = sorted((rows[person] for person in group), key=len)
    n_members, n_records = len(rows_of_members), sum(map(len, rows_of_members))
    first = rows_of_members[0]
    if len(first) == 0:
        return np.empty((n_members, 0), dtype=np.int64), float(n_records * weights.sum()), n_records
    is_set = shares > 0
    lines = first[None, :]
    low = high = positions[first]
    # A record of each needs no assignment.
    if n_records == n_members:
        lines, rows_of_members = np.stack(rows_of_members), rows_of_members[:1]
    for own in rows_of_members[1:]:
        candidates = positions[own]
        # By how much each record widens each line, shape (n_lines, n_records, n_columns).
        wide, narrow = np.fmax(high[:, None], candidates[None]), np.fmin(low[:, None], candidates[None])
        growth = (wide - narrow) - (high - low)[:, None]
        aligned = positions[lines]
        has_value = ((aligned[:, :, None] == candidates) | (np.isnan(aligned[:, :, None]) & np.isnan(candidates))).any(
            axis=0
        )
        # A set grows by a value that it lacks. A missing cell among others makes the whole domain the cell: share 1.
        growth = np.where(is_set, np.where(has_value, 0.0, shares), growth)
        growth = np.where(
            np.isnan(candidates)[None] != np.isnan(aligned[0])[:, None], np.where(has_value, 0.0, 1.0), growth
        )
        growth = np.nan_to_num(growth)
        _, chosen = linear_sum_assignment((growth * alignment_weights).sum(axis=2))
        lines = np.vstack([lines, own[chosen]])
        low, high = np.fmin(low, candidates[chosen]), np.fmax(high, candidates[chosen])
    n_left_out = n_records - lines.size
    shares = domain_shares(positions[lines], shares)
    cost = float((shares * weights).sum() * n_members + n_left_out * weights.sum())
    return lines, cost, n_left_out


def domain_shares(positions: Any, set_shares: Any) -> Any:
    """The share of each column's domain that each line publishes."""
    missing = np.isnan(positions)
    # Positions and codes are 0 or more, so -1 makes the missing value a value of its own.
    values = np.sort(np.where(missing, -1.0, positions), axis=0)
    n_distinct = 1 + (np.diff(values, axis=0) > 0).sum(axis=0)
    as_set = np.where(n_distinct > 1, n_distinct * set_shares, 0.0)
    spans = np.where(missing.all(axis=0), 0.0, np.where(missing.any(axis=0), 1.0, values[-1] - values[0]))
    return np.minimum(np.where(set_shares > 0, as_set, spans), 1.0)
