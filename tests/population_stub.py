"""Simple estimators in the place of `hushtable.risk.population`, for tests of who calls them."""

import math
import sys
from dataclasses import asdict, dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest


@dataclass(frozen=True)
class Estimate:
    value: float | None
    low: float
    high: float
    reliable: bool
    reason: str

    def to_dict(self):
        return asdict(self)


@dataclass(frozen=True)
class SampleClasses:
    sizes: list[int]
    population_size: float

    @classmethod
    def from_sizes(cls, class_sizes, population_size):
        return cls(sorted(class_sizes.tolist()), population_size)

    @property
    def n_unique(self):
        return self.sizes.count(1)

    @property
    def f(self):
        return sum(self.sizes) / self.population_size


def data_intrusion(classes, *, pair_weights=None):
    n_pairs = classes.sizes.count(2)
    pairs = [2 / classes.f] * n_pairs if pair_weights is None else list(pair_weights)
    assert len(pairs) == n_pairs
    theta = classes.n_unique / (classes.n_unique + sum(pairs) - 2 * n_pairs)
    return Estimate(theta, theta / 2, min(1.0, 2 * theta), True, "")


def estimate_tree_risk(log_shares, unique, classes):
    return SimpleNamespace(nu=np.exp(log_shares[unique]) * classes.population_size, uniqueness=0.25)


def chow_liu(codes, n_values, counts):
    assert len(n_values) == len(codes)
    shares = [
        np.bincount(column + 1, weights=counts, minlength=width + 1)[column + 1] / counts.sum()
        for column, width in zip(codes, n_values, strict=True)
    ]
    return SimpleNamespace(log_shares=np.log(np.prod(shares, axis=0)))


def household_risk(risks, households):
    return np.array([1 - math.prod(1 - risks[households == each]) for each in households])


@pytest.fixture
def estimators(monkeypatch):
    """Put simple estimators in the place of `hushtable.risk.population`."""
    stub = ModuleType("hushtable.risk.population")
    stub.__dict__.update(
        Estimate=Estimate,
        SampleClasses=SampleClasses,
        data_intrusion=data_intrusion,
        population_uniqueness=lambda classes, *, tree: {
            "tree": Estimate(None if tree is None else tree.uniqueness, 0.0, 1.0, False, "a stub")
        },
        benedetti_franconi=lambda f, weight_sums: f / weight_sums,
        chow_liu=chow_liu,
        estimate_tree_risk=estimate_tree_risk,
        household_risk=household_risk,
    )
    monkeypatch.setitem(sys.modules, "hushtable.risk.population", stub)
