"""Persons of an outside table looked up by all their records together, of which some may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.errors import InputError
from hushtable.risk.attacks.fitting import PlaceAxis
from hushtable.risk.attacks.scoring import find_best_matches
from hushtable.risk.intervals import HitRates


@dataclass(frozen=True, slots=True)
class LinkedPersons(HitRates):
    """What all records of each outside person find together, some of which may be wrong.

    Attributes
    ----------
    n_persons : int
        Of the outside table.
    n_lost : int
        Of those, so many have no record that fits a released one.
    n_found : int
        One released person scores higher than all others, by the limit at least.
    n_best : int
        One released person scores higher than all others, by whatever margin.
    n_few : int
        Fewer than ``few`` released persons are within the limit of the best.
    n_right : int or None
        Of those found, so many are the same person; None where the truth is not known.
    few : int
    """

    n_persons: int
    n_lost: int
    n_found: int
    n_best: int
    n_few: int
    n_right: int | None
    few: int

    @property
    def hits(self) -> tuple[int, int]:
        """How many persons are linked, and of how many."""
        return self.n_found, self.n_persons


def link_persons(
    axes: Sequence[PlaceAxis],
    cells: CodeArray,
    known_codes: CodeArray,
    persons: tuple[CodeArray, CodeArray],
    *,
    exact: Sequence[int],
    eccentricity: float,
    few: int,
) -> tuple[LinkedPersons, CountArray, CodeArray]:
    """Look up the outside persons by their records; return what they find, a record of each found, and whom they find.

    ``axes``, ``cells``, ``known_codes`` and ``exact`` are those of `find_best_matches`; ``persons`` are whose each
    released and each outside record is, -1 for nobody's.
    """
    released_persons, outside_persons = persons
    owned_rows = np.flatnonzero(outside_persons >= 0)
    for what, owners in (("released", released_persons), ("outside or control", outside_persons)):
        if not (owners >= 0).any():
            raise InputError(f"the {what} table says of no record whose it is.", hint="check the column of the person.")
    rows = owned_rows[np.argsort(outside_persons[owned_rows], kind="stable")]
    whose = outside_persons[rows]
    starts = np.append(np.flatnonzero(np.diff(whose, prepend=-1)), len(rows))
    matches = find_best_matches(
        axes, cells, released_persons, known_codes[:, rows], starts, exact=exact, eccentricity=eccentricity
    )
    is_found = matches.counts == 1
    n_few = int(((matches.counts > 0) & (matches.counts < max(few, 2))).sum())
    n_lost, n_best = int((matches.counts == 0).sum()), int(matches.is_alone.sum())
    links = LinkedPersons(len(starts) - 1, n_lost, int(is_found.sum()), n_best, n_few, None, few)
    return links, rows[starts[:-1][is_found]], matches.first[is_found]
