"""What a table says of the population that it is from: where the estimators of `risk.population` are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.errors import InputError, with_hint
from hushtable.risk.counted import Counted, People, Weighted

if TYPE_CHECKING:
    from hushtable.risk.population import Estimate, SampleClasses, TreeRisk

__all__ = [
    "MOST_PEOPLE",
    "Basis",
    "Population",
    "counted_population",
    "estimated_population",
    "household_risks",
    "no_population",
]

Basis = Literal["table", "population", "population_size", "weights"]
"""What individual risks stand on: the table alone, the population counted, its size, or survey weights."""
MOST_PEOPLE: Final = 1e12
"""Of a population: past it, figures of the estimators are lost to rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """What is known of the population that a table is from.

    Attributes
    ----------
    basis : {"table", "population", "population_size", "weights"}
    size : float, optional
        Its people.
    theta : Estimate, optional
        The chance that a match with a unique is right.
    uniqueness : dict of name to Estimate
        The share of its people who share their values with nobody.
    individual : ndarray of float64, shape (n_classes,)
        The chance of a right guess among those who share the values of a class, expected.
    rank : ndarray of int64, shape (n_classes,), optional
        Of the classes of one, the rarest values first, from 1; 0 for larger classes.
    people : ndarray of int64, shape (n_classes,), optional
        The population of every class, where it is counted.
    """

    basis: Basis
    size: float | None
    theta: Estimate | None
    uniqueness: dict[str, Estimate]
    individual: FloatArray = field(repr=False)
    rank: CountArray | None = field(default=None, repr=False)
    people: CountArray | None = field(default=None, repr=False)


def no_population(counted: Counted) -> Population:
    """Take the table for all that there is: the risk of who is known to be in it."""
    return Population("table", None, None, {}, 1 / np.maximum(counted.sizes, 1))


def counted_population(counted: Counted, people: People) -> Population:
    """Take what was counted in the population for the truth that it is."""
    is_unique = counted.sizes == 1
    theta = None
    if is_unique.any():
        theta = _counted(float(is_unique.sum()) / float(people.by_class[is_unique].sum()))
    uniqueness = {"counted": _counted(people.n_unique / people.n_people)} if people.n_people else {}
    individual = 1 / np.maximum(people.by_class, 1)
    return Population("population", float(people.n_people), theta, uniqueness, individual, people=people.by_class)


def estimated_population(counted: Counted, size: float, weighted: Weighted | None) -> Population:
    """Estimate from the classes, missing values a category of their own.

    Parameters
    ----------
    counted : Counted
    size : float
        The people of the population.
    weighted : Weighted, optional
        Survey weights; without them, all people had the same chance to be in the table.

    Raises
    ------
    InputError
        The population is smaller than the table.
    """
    from hushtable.risk.population import SampleClasses, data_intrusion, population_uniqueness

    held = counted.members > 0
    _check_size(size, int(counted.members.sum()), weighted)
    basis: Basis = "population_size" if weighted is None else "weights"
    individual = _by_weight(counted, size, weighted)
    if not held.any():
        return Population(basis, size, None, {}, individual)
    classes = SampleClasses.of(counted.members[held], size)
    pairs = None if weighted is None else weighted.by_class[counted.members == 2]
    theta = data_intrusion(classes, pair_weights=pairs) if classes.n_unique else None
    tree, rank = _tree(counted, classes) if classes.n_unique and counted.columns else (None, None)
    return Population(basis, size, theta, population_uniqueness(classes, tree=tree), individual, rank)


def household_risks(risks: FloatArray, households: CountArray) -> FloatArray:
    """Return for every record the chance that anyone of its household is found."""
    from hushtable.risk.population import household

    return household(risks, households)


def _by_weight(counted: Counted, size: float, weighted: Weighted | None) -> FloatArray:
    """Return the individual risk of every class by how many people its members stand for."""
    from hushtable.risk.population import benedetti_franconi

    # Records of nobody are as exposed as those of one person.
    members = np.maximum(counted.members, 1)
    if weighted is not None:
        return benedetti_franconi(members, np.maximum(weighted.by_class, members))
    # With equal weights, classes of one size have one risk.
    sizes, places = np.unique(members, return_inverse=True)
    return benedetti_franconi(sizes, sizes * (size / max(1, int(counted.members.sum()))))[places]


def _tree(counted: Counted, classes: SampleClasses) -> tuple[TreeRisk, CountArray]:
    """Return what a tree of the columns expects, and the rank of the classes of one by how rare their values are."""
    from hushtable.risk.population import chow_liu, expected

    held = counted.members > 0
    tree = chow_liu(counted.codes[:, held], counted.widths, counted.members[held])
    found = expected(tree.log_shares, counted.members[held] == 1, classes)
    rank = np.zeros(len(held), dtype=np.int64)
    rank[counted.members == 1] = _ranks(found.nu)
    return found, rank


def _ranks(values: FloatArray) -> CountArray:
    """Rank values from 1, the smallest first; equal ones share the first of their ranks."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.repeat(first + 1, np.diff(np.append(first, len(values))))
    return ranks


def _counted(value: float) -> Estimate:
    from hushtable.risk.population import Estimate

    return Estimate(value, value, value, True, "counted in the population")


def _check_size(size: float, n_members: int, weighted: Weighted | None) -> None:
    if n_members <= size <= MOST_PEOPLE:
        return
    if weighted is None:
        msg = f"population_size = {size:g}, and the table holds {n_members}."
        raise InputError(with_hint(msg, "give the number of people among whom those of the table are."))
    msg = f"the weights sum to {size:g}, and the table holds {n_members}."
    raise InputError(with_hint(msg, "a weight is the number of people that a record stands for, 1 or more on average."))
