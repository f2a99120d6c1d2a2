"""A model's rule on one class."""

import numpy as np
import pytest

from hushtable._types import RULE_DISTINCT, RULE_SIZE
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
