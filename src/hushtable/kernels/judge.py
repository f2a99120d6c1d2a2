"""A privacy model's rule, applied to one class inside a cut."""

from __future__ import annotations

from typing import NamedTuple

from hushtable._types import RULE_DISTINCT, RULE_SIZE, CountArray, FloatArray
from hushtable.kernels._jit import jit

__all__ = ["Rules", "passes"]


class Rules(NamedTuple):
    """The rules of all models, one entry each.

    kinds : int64 (n_rules,), the RULE constants
    columns : int64 (n_rules,), the row of the sensitive counts; 0 where a rule needs none
    thresholds : float64 (n_rules,)
    """

    kinds: CountArray
    columns: CountArray
    thresholds: FloatArray


@jit
def passes(rules: Rules, size: int, n_distinct: CountArray) -> bool:
    """Tell whether a class of ``size`` records satisfies every rule.

    n_distinct : int64 (n_sensitive,), distinct known values of each sensitive column in the class
    """
    for i in range(rules.kinds.size):
        kind = rules.kinds[i]
        if kind == RULE_SIZE:
            if size < rules.thresholds[i]:
                return False
        elif kind == RULE_DISTINCT and n_distinct[rules.columns[i]] < rules.thresholds[i]:
            return False
    return True
