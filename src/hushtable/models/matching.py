"""Matching notions: how many rows of one table a row of the other may belong to.

They compare published rows with the *original* rows, so that a published file alone cannot show them. **They are not
k-anonymity**: every published row may be unique, and someone who knows of a person more than the quasi-identifiers, or
whose cells were kept, links as well as before. Every k-anonymous release satisfies all of them.

A published row *covers* an original one where each of its cells does: the same value, a label above it, an interval
that holds it, or ``*``. A *match* is such a pair that is part of some way to give every published row one original
row of its own. Unless another source is named, the notions are those of Gionis, Mazza, Tassa, "k-anonymization
revisited", ICDE 2008, section 4, with anonymity in the place of matching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.errors import InputError, ModelError
from hushtable.models.base import NO_GROUNDS, ClassStats, Ground, Matching, Needs, Rule
from hushtable.models.identity import KModel


@dataclass(frozen=True, slots=True)
class MatchingNotion(KModel):
    """What the matching notions have in common."""

    monotone_suppression: ClassVar[bool] = False
    needs = Needs(original=True)
    is_global: ClassVar[bool] = False
    sides: ClassVar[tuple[str, ...]] = ()

    @property
    def min_size(self) -> int:
        """Nothing is asked of the size of a class."""
        return 1

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return how many rows of the other table each row may belong to; higher is safer."""
        if stats.matching is None:
            raise InputError(
                f"{self.name} compares published rows with the original ones, which were not given.",
                hint="pass original=, the table before it was protected.",
            )
        pairs = matching_pairs(stats.matching) if self.is_global else stats.matching
        counted = {
            "published": np.bincount(pairs.published, minlength=pairs.n_published),
            "original": np.bincount(pairs.original, minlength=pairs.n_original),
        }
        return np.concatenate([counted[side] for side in self.sides]).astype(np.float64)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Raise ModelError: no class is judged."""
        raise ModelError(f"{self.name} judges no class of a partition.", hint="use method='mingen'.")


@dataclass(frozen=True, slots=True)
class Match1K(MatchingNotion):
    """Every original row is covered by at least k published rows; not k-anonymity.

    (1,k)-anonymity of Gionis, Mazza, Tassa, ICDE 2008, section 4.

    Parameters
    ----------
    k : int
        At least 1.
    """

    name: ClassVar[str] = "(1,k)-matching"
    sides: ClassVar[tuple[str, ...]] = ("original",)


@dataclass(frozen=True, slots=True)
class MatchK1(MatchingNotion):
    """Every published row covers at least k original rows; not k-anonymity.

    (k,1)-anonymity of Gionis, Mazza, Tassa, ICDE 2008, section 4.

    Parameters
    ----------
    k : int
        At least 1.
    """

    name: ClassVar[str] = "(k,1)-matching"
    sides: ClassVar[tuple[str, ...]] = ("published",)


@dataclass(frozen=True, slots=True)
class MatchKK(MatchingNotion):
    """Every published row covers at least k original rows and the other way round; not k-anonymity.

    (k,k)-anonymity of Gionis, Mazza, Tassa, ICDE 2008, section 4.

    Parameters
    ----------
    k : int
        At least 1.
    """

    name: ClassVar[str] = "(k,k)-matching"
    sides: ClassVar[tuple[str, ...]] = ("published", "original")


@dataclass(frozen=True, slots=True)
class Global1K(MatchingNotion):
    """Every original row has at least k matches among the published rows; not k-anonymity.

    It protects a person whose whole table an attacker knows. (Gionis et al., ICDE 2008, section 4.)

    Parameters
    ----------
    k : int
        At least 1.
    """

    name: ClassVar[str] = "global-(1,k)-matching"
    is_global: ClassVar[bool] = True
    sides: ClassVar[tuple[str, ...]] = ("original",)


@dataclass(frozen=True, slots=True)
class GlobalK1(MatchingNotion):
    """Every published row has at least k matches among the original rows; not k-anonymity.

    MG-GA enforces it as k-anonymity. From k = 3 on, a person may have fewer than k published rows to hide in.

    Parameters
    ----------
    k : int
        At least 1.
    """

    name: ClassVar[str] = "global-(k,1)-matching"
    is_global: ClassVar[bool] = True
    sides: ClassVar[tuple[str, ...]] = ("published",)


def matching_pairs(pairs: Matching) -> Matching:
    """Return the pairs that are part of some perfect matching; none where there is no perfect matching.

    One perfect matching (Hopcroft and Karp), then strong components: a pair is part of some perfect matching if and
    only if its published row and the one matched to its original row lie in one component of the graph "may take the
    original row of". O(edges * sqrt(rows)), where trying all matchings takes up to n! steps.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    n_rows = pairs.n_published
    nothing = np.empty(0, dtype=np.int64)
    if n_rows != pairs.n_original:
        return Matching(n_rows, pairs.n_original, nothing, nothing)
    ones = np.ones(len(pairs.published), dtype=np.int8)
    graph = csr_matrix((ones, (pairs.published, pairs.original)), shape=(n_rows, n_rows))
    holder = maximum_bipartite_matching(graph, perm_type="row")
    if (holder < 0).any():
        return Matching(n_rows, n_rows, nothing, nothing)
    follows = csr_matrix((ones, (pairs.published, holder[pairs.original])), shape=(n_rows, n_rows))
    _, component = connected_components(follows, directed=True, connection="strong")
    kept = component[pairs.published] == component[holder[pairs.original]]
    return Matching(n_rows, n_rows, pairs.published[kept], pairs.original[kept])
