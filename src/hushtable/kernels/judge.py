"""Rules of privacy models, applied to one class inside a cut; a test compares the formulas with each ``passes``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hushtable._types import (
    RULE_DISTINCT,
    RULE_ENTROPY,
    RULE_GAIN,
    RULE_LEVELS,
    RULE_ORDERED,
    RULE_OWN,
    RULE_POPULATION,
    RULE_PRESENCE,
    RULE_RATIO,
    RULE_RECURSIVE,
    RULE_SHARE,
    RULE_SIZE,
    TOLERANCE,
    CountArray,
    FloatArray,
)
from hushtable.kernels._jit import call_own_model, jit_bare, jit_inline, jit_inner


class Rules(NamedTuple):
    """The rules of all models, one entry each; what follows ``thresholds`` may be left out where no rule reads it.

    What is left out is empty, not None: kernels are compiled once for all rules.
    """

    kinds: CountArray  # the RULE constants
    columns: CountArray  # the row of the sensitive counts; 0 where a rule needs none
    thresholds: FloatArray
    seconds: FloatArray = np.empty(0)  # the other parameter
    n_values: CountArray = np.empty(0, dtype=np.int64)  # no value from this entry on occurs in the whole
    tables: FloatArray = np.empty((0, 0, 0))  # (n_rules, n_table_rows, widest)
    own: CountArray = np.empty(0, dtype=np.int64)  # (1,), the address of a function for models without a rule

    def allocate_nodes(self) -> FloatArray:
        """Return scratch for the nodes of a level."""
        return np.empty(self.tables.shape[2])


@jit_bare
def passes(
    rules: Rules, size: int, population: int, counts: CountArray, n_distinct: CountArray, nodes: FloatArray
) -> bool:
    """Tell whether a class of ``size`` records, at least 1, satisfies every rule; ``counts`` are by code + 1."""
    return passes_inline(rules, size, population, counts, n_distinct, nodes)


@jit_inline
def passes_inline(
    rules: Rules, size: int, population: int, counts: CountArray, n_distinct: CountArray, nodes: FloatArray
) -> bool:
    """Judge as `passes` does, without a call: handing over the arrays of the rules may take longer than the rules."""
    for i in range(rules.kinds.size):
        kind, threshold = rules.kinds[i], rules.thresholds[i]
        if kind == RULE_SIZE:
            if size < threshold:
                return False
        elif kind == RULE_DISTINCT:
            if n_distinct[rules.columns[i]] < threshold:
                return False
        elif kind == RULE_POPULATION:
            if population < threshold:
                return False
        elif kind == RULE_PRESENCE:
            if population == 0:
                return False
            share = size / population
            if share < threshold - TOLERANCE or share > rules.seconds[i] + TOLERANCE:
                return False
        elif kind == RULE_OWN:
            if not call_own_model(rules.own[0], int(threshold), size, population, counts):
                return False
        elif not _passes_by_counts(rules, i, size, counts[rules.columns[i]], n_distinct[rules.columns[i]], nodes):
            return False
    return True


@jit_inner
def _passes_by_counts(rules: Rules, i: int, size: int, counts: CountArray, n_distinct: int, nodes: FloatArray) -> bool:
    """Judge by the counts of one sensitive column."""
    kind, threshold, second = rules.kinds[i], rules.thresholds[i], rules.seconds[i]
    counts = counts[: rules.n_values[i]]
    if kind == RULE_SHARE:
        return bool(size >= second and _highest_count(counts) / size <= threshold + TOLERANCE)
    if kind == RULE_ENTROPY:
        return bool(_entropy(counts) >= threshold - TOLERANCE)
    if kind == RULE_RECURSIVE:
        return bool(n_distinct >= second and _recursive_ratio(counts, int(second)) < threshold - TOLERANCE)
    table = rules.tables[i]
    if kind == RULE_ORDERED:
        return bool(_cumulative_distance(table[0], size, counts) / second <= threshold + TOLERANCE)
    if kind == RULE_LEVELS:
        return bool(_levels_distance(table, size, counts, int(second), nodes) <= threshold + TOLERANCE)
    if kind == RULE_GAIN:
        return _gains_little(table[0], table[1], size, counts)
    if kind == RULE_RATIO:
        return _is_about_as_frequent(table[0], size, counts, threshold)
    return False


@jit_inner
def _highest_count(counts: CountArray) -> int:
    highest = 0
    for count in counts[1:]:
        highest = max(highest, count)
    return highest


@jit_inner
def _entropy(counts: CountArray) -> float:
    n_known = 0
    log_sum = 0.0
    for count in counts[1:]:
        if count > 0:
            n_known += count
            log_sum += count * math.log(count)
    return math.log(n_known) - log_sum / n_known if n_known > 0 else -math.inf


@jit_inner
def _recursive_ratio(counts: CountArray, n_first: int) -> float:
    """Return r_1 / (r_l + ... + r_m) of a class that holds at least l = ``n_first`` values."""
    # The l - 1 largest counts are taken off the tail, equal ones at once: nothing is sorted or allocated.
    highest, tail, n_taken, below = _highest_count(counts), 0, 0, -1
    for count in counts[1:]:
        tail += count
    while n_taken < n_first - 1:
        largest, n_equal = 0, 0
        for count in counts[1:]:
            if below < 0 or count < below:
                if count > largest:
                    largest, n_equal = count, 0
                n_equal += int(count == largest)
        n_equal = min(n_equal, n_first - 1 - n_taken)
        tail -= n_equal * largest
        n_taken, below = n_taken + n_equal, largest
    return float(highest / tail)


@jit_inner
def _cumulative_distance(shares: FloatArray, size: int, counts: CountArray) -> float:
    """Return the sum of the absolute cumulated differences over the values that the whole holds."""
    carried = moved = 0.0
    for value in range(counts.size):
        if shares[value] > 0:
            carried += shares[value] - counts[value] / size
            moved += abs(carried)
    return moved


@jit_inner
def _levels_distance(table: FloatArray, size: int, counts: CountArray, n_levels: int, nodes: FloatArray) -> float:
    """Return the mean over the levels of half the summed differences between their nodes."""
    distance = 0.0
    if n_levels == 1:
        # The leaves themselves, which are their own nodes.
        for value in range(counts.size):
            distance += abs(table[1, value] - counts[value] / size)
        return distance / 2
    for level in range(n_levels):
        for node in range(nodes.size):
            nodes[node] = table[2 * level + 1, node]
        for value in range(counts.size):
            nodes[int(table[2 * level, value])] -= counts[value] / size
        level_distance = 0.0
        for node in range(nodes.size):
            level_distance += abs(nodes[node])
        distance += level_distance
    return distance / (2 * n_levels) if n_levels > 0 else 0.0


@jit_inner
def _gains_little(shares: FloatArray, bounds: FloatArray, size: int, counts: CountArray) -> bool:
    for value in range(counts.size):
        share = counts[value] / size
        if share > shares[value] and (
            shares[value] == 0 or (share - shares[value]) / shares[value] > bounds[value] + TOLERANCE
        ):
            return False
    return True


@jit_inner
def _is_about_as_frequent(shares: FloatArray, size: int, counts: CountArray, delta: float) -> bool:
    for value in range(counts.size):
        if shares[value] > 0 and counts[value] == 0:
            return False
    for value in range(counts.size):
        if shares[value] > 0 and abs(math.log(counts[value] / size / shares[value])) >= delta - TOLERANCE:
            return False
    return True
