"""A model's rule on one class."""

import math

import numpy as np
import pytest

from hushtable._types import (
    RULE_DISTINCT,
    RULE_ENTROPY,
    RULE_GAIN,
    RULE_LEVELS,
    RULE_ORDERED,
    RULE_POPULATION,
    RULE_PRESENCE,
    RULE_RATIO,
    RULE_RECURSIVE,
    RULE_SHARE,
    RULE_SIZE,
)
from hushtable.kernels.judge import Rules, passes


def rules(*entries):
    kinds, columns, thresholds = zip(*entries, strict=True) if entries else ((), (), ())
    return Rules(np.array(kinds, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(thresholds, dtype=float))


def judged(made, size, *n_distinct):
    n_held = np.array(n_distinct, dtype=np.int64)
    return bool(passes(made, size, 0, np.zeros((len(n_held), 1), dtype=np.int64), n_held, np.empty(0)))


@pytest.mark.parametrize(("size", "expected"), [(0, False), (2, False), (3, True), (4, True)])
def test_size(size, expected):
    assert judged(rules((RULE_SIZE, 0, 3.0)), size) is expected


@pytest.mark.parametrize(("n_distinct", "expected"), [(0, False), (1, False), (2, True), (3, True)])
def test_distinct_values(n_distinct, expected):
    assert judged(rules((RULE_DISTINCT, 0, 2.0)), 9, n_distinct) is expected


@pytest.mark.parametrize(
    ("size", "n_distinct", "expected"),
    [(4, (2, 3), True), (3, (2, 3), False), (4, (1, 3), False), (4, (2, 2), False), (4, (3, 2), False)],
)
def test_every_rule_must_hold_and_each_looks_at_its_own_column(size, n_distinct, expected):
    made = rules((RULE_SIZE, 0, 4.0), (RULE_DISTINCT, 0, 2.0), (RULE_DISTINCT, 1, 3.0))
    assert judged(made, size, *n_distinct) is expected


def test_no_rule_lets_everything_pass():
    assert judged(rules(), 0)


HALVES, EVEN = [0.0, 0.5, 0.5], [[0.0, 0.5, 0.5]]
NODES = [[0, 1, 2, 3], [0, 0.25, 0.25, 0.5], [0, 1, 1, 2], [0, 0.5, 0.5, 0]]
"""Leaves, then their parents: the node of each value, and the share of each node."""


@pytest.mark.parametrize(
    ("kind", "threshold", "second", "table", "held", "population", "expected"),
    [
        (RULE_POPULATION, 3, 0, EVEN, [0, 1, 1], 3, True),
        (RULE_POPULATION, 3, 0, EVEN, [0, 1, 1], 2, False),
        (RULE_PRESENCE, 0.5, 0.5, EVEN, [0, 1, 1], 4, True),
        (RULE_PRESENCE, 0.5, 0.5, EVEN, [0, 1, 0], 4, False),
        (RULE_PRESENCE, 0.5, 0.5, EVEN, [0, 2, 1], 4, False),
        (RULE_PRESENCE, 0, 1, EVEN, [0, 2, 1], 0, False),
        (RULE_SHARE, 0.5, 4, EVEN, [0, 2, 2], 0, True),
        (RULE_SHARE, 0.5, 4, EVEN, [0, 3, 1], 0, False),
        (RULE_SHARE, 0.9, 4, EVEN, [0, 2, 1], 0, False),
        (RULE_SHARE, 0.5, 4, EVEN, [3, 1, 0], 0, True),
        (RULE_ENTROPY, math.log(2), 0, EVEN, [0, 2, 2], 0, True),
        (RULE_ENTROPY, math.log(2), 0, EVEN, [0, 3, 2], 0, False),
        (RULE_ENTROPY, 0, 0, EVEN, [2, 0, 0], 0, False),
        (RULE_RECURSIVE, 2, 2, EVEN, [0, 3, 2], 0, True),
        (RULE_RECURSIVE, 2, 2, EVEN, [0, 4, 2], 0, False),
        (RULE_RECURSIVE, 2, 2, EVEN, [3, 1, 0], 0, False),
        (RULE_ORDERED, 0.25, 1, EVEN, [0, 3, 1], 0, True),
        (RULE_ORDERED, 0.24, 1, EVEN, [0, 3, 1], 0, False),
        (RULE_LEVELS, 0.25, 1, [HALVES, HALVES], [0, 3, 1], 0, True),
        (RULE_LEVELS, 0.24, 1, [HALVES, HALVES], [0, 3, 1], 0, False),
        (RULE_LEVELS, 0.125, 2, NODES, [0, 2, 0, 2], 0, True),
        (RULE_LEVELS, 0.12, 2, NODES, [0, 2, 0, 2], 0, False),
        (RULE_GAIN, 0, 0, [HALVES, [0, 0.5, 0.5]], [0, 3, 1], 0, True),
        (RULE_GAIN, 0, 0, [HALVES, [0, 0.49, 0.49]], [0, 3, 1], 0, False),
        (RULE_GAIN, 0, 0, [[0, 1, 0], [9, 9, 9]], [0, 3, 1], 0, False),
        (RULE_RATIO, math.log(2) + 1e-6, 0, EVEN, [0, 1, 3], 0, True),
        (RULE_RATIO, math.log(2), 0, EVEN, [0, 1, 3], 0, False),
        (RULE_RATIO, 9, 0, EVEN, [0, 4, 0], 0, False),
    ],
)
def test_every_rule_at_its_limit(kind, threshold, second, table, held, population, expected):
    counts = np.array([held], dtype=np.int64)
    made = Rules(
        np.array([kind]),
        np.array([0]),
        np.array([float(threshold)]),
        np.array([float(second)]),
        np.array([len(held)]),
        np.array([table], dtype=float),
    )
    n_held = np.count_nonzero(counts[:, 1:], axis=1)
    assert bool(passes(made, int(counts.sum()), population, counts, n_held, made.allocate_nodes())) is expected
