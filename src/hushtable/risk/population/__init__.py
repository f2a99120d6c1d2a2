"""What a sample says of its population: estimators of how many people are unique in it.

In come class sizes, codes and sampling weights, never dataframes; out go estimates.
"""

from hushtable.risk.population.classes import Estimate, Point, SampleClasses
from hushtable.risk.population.individual import benedetti_franconi, data_intrusion, household_risk
from hushtable.risk.population.tree import Tree, TreeRisk, chow_liu, estimate_tree_risk
from hushtable.risk.population.uniqueness import (
    Bounds,
    Mixture,
    bounds,
    dankar,
    npmle,
    pitman,
    population_uniqueness,
    snb,
    zayatz,
)

__all__ = [
    "Bounds",
    "Estimate",
    "Mixture",
    "Point",
    "SampleClasses",
    "Tree",
    "TreeRisk",
    "benedetti_franconi",
    "bounds",
    "chow_liu",
    "dankar",
    "data_intrusion",
    "estimate_tree_risk",
    "household_risk",
    "npmle",
    "pitman",
    "population_uniqueness",
    "snb",
    "zayatz",
]
