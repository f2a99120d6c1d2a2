"""Linked k-anonymity: group persons with similar histories, and align their records."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.anonymizers.alignment import Crowd, build_crowd, domain_shares
from hushtable.anonymizers.bundles import Bundles, BundleTable, without_rare_lengths
from hushtable.anonymizers.method import Found, Offers, Problem
from hushtable.errors import InputError, check_whole, quote_names
from hushtable.models import LinkedKAnonymity

_MOST_PAIRS: Final = 10**7  # the most pairs of records that are compared for a lower bound


@dataclass(frozen=True, slots=True)
class Histories:
    """Make the histories of at least k persons equal, so that a pseudonym links records and finds nobody.

    Persons are grouped. Within a group, records are aligned into lines: a line has one record of each person, and
    publishes the same cells for all of them. A record without a line is suppressed.

    Parameters
    ----------
    time : str, optional
        A quasi-identifier by which records are aligned first; the other columns come second.
    whole : bool
        Publish all records of a person, or none: a group has persons with equally many. Who has a number of records
        that fewer than k persons have is left out. So households are published, see `hushtable.anonymize`.
    seed : int

    Notes
    -----
    Two first groupings are tried. One cuts persons at medians, as Mondrian cuts records: of their number of records,
    and of where these lie in each column. The other suppresses the fewest records; it takes O(k persons). The cheaper
    one that suppresses no more than is allowed is improved by simulated annealing, which exchanges and moves persons
    between similar groups. It takes 30 steps a person, from 600 to 15,000, which ``Budget(nodes=)`` counts. The
    alignment of a group begins with the person who has the fewest records. The records of every other person are
    assigned so that the published cells grow least.

    For linked k-anonymity without hierarchies, of up to 3,000 records, the trace has a lower bound (floor) of the loss
    of every release. The records of a person share their cells with those of k - 1 others. So each person costs at
    least what the (k-1)-th nearest history costs, and each record at least what the (k-1)-th nearest person's costs.

    Without a column of the person, every record is a person. Labels of hierarchies are published; the search treats
    them as intervals of the hierarchy's order. The idea to group equal records of several persons is from Gong et al.,
    "Anonymizing 1:M microdata with high utility", Knowledge-Based Systems 115, 2017.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> visits = pl.DataFrame({"who": ["P", "P", "Q", "Q"], "age": [31, 50, 52, 33]})
    >>> release = ht.anonymize(visits, quasi_identifiers=["age"], models=[ht.LinkedKAnonymity(2)], person="who",
    ...                        method=ht.Histories(), roles="trust")
    >>> release.frame.rows()
    [('P', '[31, 33]'), ('P', '[50, 52]'), ('Q', '[50, 52]'), ('Q', '[31, 33]')]
    """

    time: str | None = None
    seed: int = 0
    whole: bool = False

    name: ClassVar[str] = "histories"
    offers = Offers(
        parts_equal_records=True, suppresses=True, keeps_apart=False, merges_classes=True, finds_histories=True
    )

    def __post_init__(self) -> None:
        check_whole("Histories was given seed", self.seed, 0)

    def search(self, problem: Problem) -> Found:
        """Group persons, exchange them, and align their records; a budget's nodes are steps."""
        if self.time is not None and self.time not in problem.columns:
            raise InputError(
                f"Histories was given time={self.time!r}.",
                hint=f"choose a quasi-identifier: {quote_names(problem.columns)}.",
            )
        clock = problem.clock.with_new_start()
        crowd = build_crowd(problem, self.time)
        if self.whole:
            crowd = without_rare_lengths(problem, crowd)
        bundles = Bundles.from_tables([BundleTable(problem, crowd)])
        best, n_steps, is_ended = bundles.find_groups(clock, self.seed)
        trace = clock.build_trace(
            repr(self),
            n_steps,
            value=bundles.share(best.cost),
            bound=None if is_ended else _find_floor(crowd, problem),
            complete=not is_ended,
            seed=self.seed,
        )
        return bundles.publish(best, trace)[0]


def _find_floor(crowd: Crowd, problem: Problem) -> float | None:
    """Return a lower bound of the loss of every release in which k persons have equal histories; None if not known."""
    k = max((model.k for model in problem.judge.models if isinstance(model, LinkedKAnonymity)), default=0)
    n_records = crowd.n_records
    is_own_cost = (
        not problem.n_suppressed_before
        and not crowd.n_without_person
        and not problem.ladders.keys() & set(problem.columns)
    )
    if k < 2 or not is_own_cost or int(n_records.sum()) ** 2 > _MOST_PAIRS:
        return None
    positions, starts = crowd.positions[crowd.rows], crowd.starts[:-1]
    return (
        sum(_person_floor(crowd, person, positions, starts, n_records, k) for person in range(len(starts)))
        / crowd.n_cells
    )


def _person_floor(
    crowd: Crowd, person: int, positions: FloatArray, starts: CountArray, n_records: CountArray, k: int
) -> float:
    """Return a lower bound of the cost of a person's records; no record costs more than a suppressed one.

    It is the higher one of two bounds: from the nearest persons of each record, and from the nearest histories.
    """
    from scipy.optimize import linear_sum_assignment

    own = crowd.positions[crowd.rows_of(person)]
    pairs = np.stack(np.broadcast_arrays(own[:, None], positions[None]))
    costs = (domain_shares(crowd, pairs, crowd.shares > 0) * crowd.weights).sum(axis=2)
    nearest = np.minimum.reduceat(costs, starts, axis=1)
    nearest[:, person] = np.inf
    by_record = float(np.partition(nearest, k - 2, axis=1)[:, k - 2].sum())
    n_aligned = np.minimum(len(own), n_records)
    left_out = (len(own) - n_aligned) * crowd.weights.sum()
    floors = np.cumsum(np.sort(nearest, axis=0), axis=0)[n_aligned - 1, np.arange(len(starts))] + left_out
    # Histories by their own lower bounds: the exact cost is needed only until no bound is below the (k-1)-th.
    nearest_costs: list[float] = []
    for candidate in np.argsort(floors, kind="stable").tolist():
        if len(nearest_costs) >= k - 1 and floors[candidate] >= nearest_costs[k - 2]:
            break
        costs_of_pairs = costs[:, starts[candidate] : starts[candidate] + n_records[candidate]]
        chosen = linear_sum_assignment(costs_of_pairs)
        insort(nearest_costs, float(costs_of_pairs[chosen].sum() + left_out[candidate]))
    return max(by_record, nearest_costs[k - 2])
