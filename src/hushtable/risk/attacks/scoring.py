"""Who fits best what is known of a person, where some of the known records are wrong."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.kernels.candidates import RankedPersons, rank_candidates
from hushtable.risk.attacks.fitting import MAX_FEW, PlaceAxis, count_suspects, index_rows, sort_known_records
from hushtable.risk.nearness import classes_of

_USUAL_ECCENTRICITY: Final = 1.5
"""Narayanan and Shmatikov's limit."""
_MAX_ECCENTRICITY: Final = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class BestMatches:
    """Who has the highest score in each trial.

    ``counts`` (n_trials,): persons who cannot be told from the best, who is one of them; 0 where nobody fits any known
    record. A match is found where there is one. ``first``: the best; -1 where there is none. ``is_alone``: nobody else
    has the highest score.
    """

    counts: CountArray
    first: CodeArray
    is_alone: BoolArray


def find_best_matches(
    axes: Sequence[PlaceAxis],
    cells: CodeArray,
    persons: CodeArray,
    known_codes: CodeArray,
    starts: CountArray,
    *,
    exact: Sequence[int],
    eccentricity: float,
) -> BestMatches:
    """Score every person by the known records that they may have, and find those who cannot be told from the best.

    As for `hushtable.risk.attacks.fitting.count_suspects`; ``exact`` are the columns that are known exactly, whose
    rare values weigh most.

    Notes
    -----
    Narayanan and Shmatikov 2008, Scoreboard-RH: a known record that a person may have counts 1 / log(n) for the n
    persons who may have its exact values. A match needs a score that exceeds the second highest by ``eccentricity``
    standard deviations of the scores of all persons. We depart in that a row of a person stands for one known record
    only, that a record fits or not (theirs fade with the distance), and that n is at least 2.
    """
    weights = _weigh_records(axes, cells, persons, known_codes, exact)
    looked_up, sought = index_rows(axes, cells, persons, known_codes, starts)
    sought, order = sort_known_records(sought, -weights)
    n_trials = len(starts) - 1
    n_near, n_best = np.empty(n_trials, dtype=np.int64), np.empty(n_trials, dtype=np.int64)
    best = np.empty(n_trials, dtype=np.int32)
    rank_candidates(looked_up, sought, weights[order], eccentricity, RankedPersons(n_near, n_best, best))
    return BestMatches(n_near, best, n_best == 1)


def _weigh_records(
    axes: Sequence[PlaceAxis], cells: CodeArray, persons: CodeArray, known_codes: CodeArray, exact: Sequence[int]
) -> FloatArray:
    columns = list(exact)
    if not columns:
        return np.ones(known_codes.shape[1])
    _, records, inverse = np.unique(classes_of(known_codes[columns]), return_index=True, return_inverse=True)
    distinct = known_codes[columns][:, records]
    starts = np.arange(len(records) + 1, dtype=np.int64)
    support = count_suspects([axes[j] for j in columns], cells[columns], persons, distinct, starts, MAX_FEW).counts
    return (1 / np.log(np.maximum(support, 2)))[inverse]


def check_eccentricity(eccentricity: float | None) -> float:
    """Return the limit of a match as a number, None being the usual one; InputError where it is none, or below 0."""
    if eccentricity is None:
        return _USUAL_ECCENTRICITY
    is_number = isinstance(eccentricity, numbers.Real) and not isinstance(eccentricity, bool)
    if not is_number or not 0 <= eccentricity <= _MAX_ECCENTRICITY:
        raise InputError(
            f"eccentricity = {eccentricity!r}.",
            hint="give a number, 0 or more: the standard deviations by which a match must exceed the second best.",
        )
    return float(eccentricity)
