"""Scores of a column set: how it identifies, what it gives away, what it is good for.

Where the source (Simões, Vilela, Santos, Abreu, "QIDLearningLib: a Python library for quasi-identifier recognition and
evaluation", tables 1 and 2) and the definition of a measure differ, the definition is the default and
``variant="paper"`` gives the other; each docstring says why.
"""

from __future__ import annotations

from hushtable.discover.scores import truth
from hushtable.discover.scores.base import Score
from hushtable.discover.scores.causal import CausalGraph, causal_graph, causal_importance
from hushtable.discover.scores.identity import (
    attribute_length_penalty,
    distinction,
    group_entropy,
    k_anonymity,
    separation,
)
from hushtable.discover.scores.privacy import delta_presence, generalization_ratio, l_diversity, t_closeness
from hushtable.discover.scores.treatment import balance, covariate_shift, propensity_overlap
from hushtable.discover.scores.utility import (
    accuracy,
    completeness,
    distinct_values,
    gini,
    information_gain,
    mean_squared_error,
    value_range,
)

__all__ = [
    "CausalGraph",
    "Score",
    "accuracy",
    "attribute_length_penalty",
    "balance",
    "causal_graph",
    "causal_importance",
    "completeness",
    "covariate_shift",
    "delta_presence",
    "distinct_values",
    "distinction",
    "generalization_ratio",
    "gini",
    "group_entropy",
    "information_gain",
    "k_anonymity",
    "l_diversity",
    "mean_squared_error",
    "propensity_overlap",
    "separation",
    "t_closeness",
    "truth",
    "value_range",
]
