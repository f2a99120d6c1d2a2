"""Groups of at least k near points: MDAV, an optimum in one dimension, annealing, and the prices that bound them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit, jit_bare, jit_inner
from hushtable.kernels.park_miller import MODULUS, draw_number

_SHARE_BIG = 0.04  # of the changes that are tried, those that dissolve or create a group
_N_PARTNERS = 8  # how many members of a group are tried in an exchange, at most


class PointGroups(NamedTuple):
    """Groups of points that change."""

    points: FloatArray  # (n_rows, n_columns), standardised
    labels: CodeArray  # (n_rows,), the group of every row
    positions: CodeArray  # (n_rows,), its position in `members`
    members: CodeArray  # (n_rows // k, 2 k - 1)
    sizes: CodeArray  # (n_rows // k,), 0: there is no such group
    means: FloatArray  # (n_rows // k, n_columns)
    state: CountArray  # (2,), the random state, and how many groups there are


@jit_inner
def _distance_between(first: FloatArray, second: FloatArray) -> float:
    """Return the squared distance of two points."""
    total = 0.0
    for j in range(first.size):
        total += (first[j] - second[j]) * (first[j] - second[j])
    return total


@jit
def label_by_mdav(points: FloatArray, k: int, labels: CodeArray) -> int:
    """Label every row with its group by MDAV, and return how many groups there are; ties go to the first row."""
    n_rows, n_columns = points.shape
    rows = np.arange(n_rows)
    distances = np.empty(n_rows)
    centre = np.empty(n_columns)
    labels[:] = -1
    n_left, n_groups = n_rows, 0
    while n_left >= 2 * k:
        centre[:] = 0.0
        for place in range(n_left):
            for j in range(n_columns):
                centre[j] += points[rows[place], j]
        for j in range(n_columns):
            centre[j] /= n_left
        far = _find_farthest(points, rows[:n_left], centre)
        has_room_for_two = n_left >= 3 * k
        n_left = _take_nearest(points, rows, n_left, far, k, distances, labels, n_groups)
        n_groups += 1
        if has_room_for_two:
            opposite = _find_farthest(points, rows[:n_left], points[far])
            n_left = _take_nearest(points, rows, n_left, opposite, k, distances, labels, n_groups)
            n_groups += 1
    for place in range(n_left):
        labels[rows[place]] = n_groups
    return n_groups + int(n_left > 0)


@jit_inner
def _find_farthest(points: FloatArray, rows: CountArray, centre: FloatArray) -> int:
    best, farthest = -1.0, int(rows[0])
    for row in rows:
        distance = _distance_between(points[row], centre)
        if distance > best:
            best, farthest = distance, int(row)
    return farthest


@jit
def _take_nearest(
    points: FloatArray,
    rows: CountArray,
    n_left: int,
    row: int,
    k: int,
    distances: FloatArray,
    labels: CodeArray,
    label: int,
) -> int:
    """Label a row and its k - 1 nearest, take them out of the rows that are left, and return how many these are."""
    nearest = np.full(k, -1)
    n_found = 0
    for place in range(n_left):
        other = rows[place]
        # The row itself comes before its doubles.
        distance = -1.0 if other == row else _distance_between(points[other], points[row])
        if n_found == k and distance >= distances[k - 1]:
            continue
        at = n_found if n_found < k else k - 1
        while at > 0 and distances[at - 1] > distance:
            distances[at], nearest[at] = distances[at - 1], nearest[at - 1]
            at -= 1
        distances[at], nearest[at] = distance, other
        n_found = min(k, n_found + 1)
    for other in nearest:
        labels[other] = label
    n_kept = 0
    for place in range(n_left):
        if labels[rows[place]] != label:
            rows[n_kept] = rows[place]
            n_kept += 1
    return n_kept


@jit
def label_sorted(values: FloatArray, k: int, labels: CodeArray) -> int:
    """Label sorted values with runs of k to 2k - 1 of the least sum of squares, and return how many runs there are.

    Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", 2003: the least cost of the
    first i values is that of the first j and of a run from j to i.
    """
    n_values = values.size
    sums, squares = np.zeros(n_values + 1), np.zeros(n_values + 1)
    middle = values[n_values // 2]
    for i in range(n_values):
        value = values[i] - middle
        sums[i + 1] = sums[i] + value
        squares[i + 1] = squares[i] + value * value
    least = np.full(n_values + 1, np.inf)
    begins = np.zeros(n_values + 1, dtype=np.int64)
    least[0] = 0.0
    for end in range(k, n_values + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            total = sums[end] - sums[begin]
            cost = least[begin] + squares[end] - squares[begin] - total * total / (end - begin)
            if cost < least[end]:
                least[end], begins[end] = cost, begin
    n_runs, end = 0, n_values
    while end > 0:
        labels[begins[end] : end] = n_runs
        n_runs, end = n_runs + 1, begins[end]
    return n_runs


@jit_inner
def _add(groups: PointGroups, row: int, label: int) -> float:
    """Put a row into a group, and return by how much the sum of squares grows."""
    size = int(groups.sizes[label])
    growth = _distance_between(groups.points[row], groups.means[label]) * size / (size + 1) if size else 0.0
    for j in range(groups.points.shape[1]):
        step = groups.points[row, j] - groups.means[label, j]
        groups.means[label, j] = groups.means[label, j] + step / (size + 1) if size else groups.points[row, j]
    groups.labels[row], groups.positions[row] = label, size
    groups.members[label, size] = row
    groups.sizes[label] = size + 1
    return growth


@jit_inner
def _remove(groups: PointGroups, row: int) -> float:
    """Take a row out of its group, and return by how much the sum of squares changes: 0 or less."""
    label, place = int(groups.labels[row]), int(groups.positions[row])
    size = int(groups.sizes[label])
    change = -_distance_between(groups.points[row], groups.means[label]) * size / (size - 1) if size > 1 else 0.0
    if size > 1:
        for j in range(groups.points.shape[1]):
            groups.means[label, j] -= (groups.points[row, j] - groups.means[label, j]) / (size - 1)
    last = int(groups.members[label, size - 1])
    groups.members[label, place], groups.positions[last] = last, place
    groups.sizes[label] = size - 1
    return change


@jit_inner
def _is_accepted(change: float, temperature: float, state: CountArray) -> bool:
    return change <= 0.0 or draw_number(state) < MODULUS * math.exp(-change / temperature)


@jit_inner
def _try_move(groups: PointGroups, k: int, row: int, label: int, temperature: float) -> float:
    """Move a row to another group, or exchange it with the member whose exchange costs least."""
    points, means = groups.points, groups.means
    own = int(groups.labels[row])
    n_own, n_other = int(groups.sizes[own]), int(groups.sizes[label])
    to_own = _distance_between(points[row], means[own])
    to_other = _distance_between(points[row], means[label])
    best, partner = np.inf, -1
    if n_own > k and n_other < 2 * k - 1:
        best = to_other * n_other / (n_other + 1) - to_own * n_own / (n_own - 1)
    first = draw_number(groups.state) % n_other
    for turn in range(min(n_other, _N_PARTNERS)):
        member = int(groups.members[label, (first + turn) % n_other])
        between = _distance_between(points[row], points[member]) * (1.0 / n_own + 1.0 / n_other)
        change = to_other - to_own - between
        change += _distance_between(points[member], means[own]) - _distance_between(points[member], means[label])
        if change < best:
            best, partner = change, member
    if best == np.inf or not _is_accepted(best, temperature, groups.state):
        return 0.0
    if partner >= 0:
        change = _remove(groups, partner)
        change += _remove(groups, row)
        change += _add(groups, partner, own)
        return change + _add(groups, row, label)
    change = _remove(groups, row)
    return change + _add(groups, row, label)


@jit_inner
def _try_dissolving(
    groups: PointGroups, near: CodeArray, k: int, label: int, temperature: float, moved: CodeArray
) -> float:
    """Give all members of a group to the groups of near rows."""
    size = int(groups.sizes[label])
    change, n_moved = 0.0, 0
    for place in range(size):
        moved[place] = groups.members[label, place]
    for place in range(size):
        row = int(moved[place])
        best, target = np.inf, -1
        for turn in range(near.shape[1]):
            home = int(groups.labels[near[row, turn]])
            n_home = int(groups.sizes[home])
            if home == label or n_home >= 2 * k - 1:
                continue
            cost = _distance_between(groups.points[row], groups.means[home]) * n_home / (n_home + 1)
            if cost < best:
                best, target = cost, home
        if target < 0:
            break
        change += _remove(groups, row)
        change += _add(groups, row, target)
        n_moved += 1
    if n_moved == size and _is_accepted(change, temperature, groups.state):
        last = int(groups.state[1]) - 1
        groups.state[1] = last
        for place in range(int(groups.sizes[last]) if last != label else 0):
            row = int(groups.members[last, place])
            groups.members[label, place], groups.labels[row] = row, label
        groups.sizes[label] = groups.sizes[last]
        for j in range(groups.points.shape[1]):
            groups.means[label, j] = groups.means[last, j]
        groups.sizes[last] = 0
        return change
    for place in range(n_moved):
        _remove(groups, int(moved[place]))
        _add(groups, int(moved[place]), label)
    return 0.0


@jit_inner
def _try_creating(
    groups: PointGroups, near: CodeArray, k: int, row: int, temperature: float, moved: CodeArray
) -> float:
    """Make a group of a row and near rows that their groups can spare; ``moved`` holds rows, then their groups."""
    new = int(groups.state[1])
    change, n_moved = 0.0, 0
    for place in range(-1, near.shape[1]):
        candidate = row if place < 0 else int(near[row, place])
        home = int(groups.labels[candidate])
        if home == new or groups.sizes[home] <= k:
            continue
        moved[n_moved], moved[k + n_moved] = candidate, home
        n_moved += 1
        change += _remove(groups, candidate)
        change += _add(groups, candidate, new)
        if n_moved == k:
            break
    if n_moved == k and _is_accepted(change, temperature, groups.state):
        groups.state[1] = new + 1
        return change
    for place in range(n_moved):
        _remove(groups, int(moved[place]))
        _add(groups, int(moved[place]), int(moved[k + place]))
    return 0.0


@jit_bare
def anneal(
    groups: PointGroups, near: CodeArray, k: int, steps: tuple[int, int, int], hot: float, cold: float, moved: CodeArray
) -> float:
    """Try changes of groups by Metropolis' rule, and return how the sum of squares changed.

    ``steps`` are the first, the end, and how many of the whole schedule: it cools from ``hot`` to ``cold``. ``near``
    (n_rows, n_near) holds rows near one another; ``moved`` (2 k) is room.
    """
    n_rows = groups.points.shape[0]
    total, temperature = 0.0, hot
    for step in range(steps[0], steps[1]):
        if step % 256 == 0 or step == steps[0]:
            temperature = hot * (cold / hot) ** (step / steps[2])
        row = draw_number(groups.state) % n_rows
        kind = draw_number(groups.state) / MODULUS
        label = int(groups.labels[row])
        if kind >= _SHARE_BIG:
            other = int(near[row, draw_number(groups.state) % near.shape[1]])
            if groups.labels[other] != label:
                total += _try_move(groups, k, row, int(groups.labels[other]), temperature)
        elif kind < 0.5 * _SHARE_BIG:
            if groups.state[1] > 1:
                total += _try_dissolving(groups, near, k, label, temperature, moved)
        elif groups.sizes[label] > k and groups.state[1] < groups.sizes.size:
            total += _try_creating(groups, near, k, row, temperature, moved)
    return total


@jit_bare
def fill_groups(groups: PointGroups) -> None:
    """Fill the members, sizes and means from the labels."""
    groups.sizes[:] = 0
    for row in range(groups.points.shape[0]):
        _add(groups, row, int(groups.labels[row]))


@jit_bare
def price_triples(points: FloatArray, prices: FloatArray, least: FloatArray, partners: CodeArray) -> None:
    """Find for every row the least reduced cost of a triple with it, and the other two rows (n_rows, 2).

    A triple costs its sum of squares about its mean, less the prices of its rows.
    """
    n_rows = points.shape[0]
    least[:] = np.inf
    for i in range(n_rows):
        for j in range(i + 1, n_rows):
            first = _distance_between(points[i], points[j]) / 3.0 - prices[i] - prices[j]
            for other in range(j + 1, n_rows):
                cost = first - prices[other]
                # The row that is hardest to improve decides.
                bar = max(least[i], least[j], least[other])
                if cost >= bar:
                    continue
                cost += _distance_between(points[i], points[other]) / 3.0
                if cost >= bar:
                    continue
                cost += _distance_between(points[j], points[other]) / 3.0
                if cost < least[i]:
                    least[i], partners[i, 0], partners[i, 1] = cost, j, other
                if cost < least[j]:
                    least[j], partners[j, 0], partners[j, 1] = cost, i, other
                if cost < least[other]:
                    least[other], partners[other, 0], partners[other, 1] = cost, i, j
