"""Which of several records with the same B cells goes to which cluster, where a border of clusters parts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError, with_hint
from hushtable.masking.dealing import Types
from hushtable.masking.programme import Programme
from hushtable.search import solver

__all__ = ["settle_ties"]

_MOST = 60_000  # edges of the programme


def settle_ties(
    tie_of: CodeArray, labels: CodeArray, type_of: CodeArray, types: Types, rng: np.random.Generator
) -> CodeArray:
    """Deal the records of every parted tie anew, so that few stars are needed.

    Parameters
    ----------
    tie_of : ndarray of int32, shape (n_records,)
        Records with equal B cells are of one tie.
    labels : ndarray of int32, shape (n_records,)
        Clusters in the order of B.
    type_of : ndarray of int32, shape (n_records,)
    types : Types
        With the supply of these clusters.
    rng : Generator

    Raises
    ------
    InputError
        There are too many types for the programme.

    Notes
    -----
    The programme of masking, relaxed, with one more choice: how many records of a type and a
    tie each cluster takes. What it takes in fractions is rounded down, and whoever has room takes
    the rest: near the least number of stars over all ways to settle the ties, not proven.
    """
    n_clusters = types.n_clusters
    pairs = np.unique(tie_of.astype(np.int64) * n_clusters + labels)
    parted = np.bincount(pairs // n_clusters) > 1
    loose = parted[tie_of]
    if not loose.any():
        return labels
    cells = np.unique(np.column_stack((tie_of[loose], labels[loose])), axis=0)
    taken = _shares(cells, tie_of[loose], labels[loose], type_of[loose], types)
    settled = labels.copy()
    for tie in np.unique(cells[:, 0]):
        rows = rng.permutation(np.flatnonzero(tie_of == tie))
        ours = cells[:, 0] == tie
        settled[rows] = _dealt(
            type_of[rows], cells[ours, 1], np.bincount(labels[rows], minlength=n_clusters), taken[ours]
        )
    return settled


def _shares(cells: CodeArray, tie_of: CodeArray, labels: CodeArray, type_of: CodeArray, types: Types) -> CountArray:
    """Return how many records of every type a cluster takes of a tie, for all pairs of both; whole, rounded down."""
    from scipy import sparse

    n_types = types.supply.shape[1]
    ties, tie = np.unique(tie_of, return_inverse=True)
    held = np.zeros((len(ties), n_types), dtype=np.int64)
    np.add.at(held, (tie, type_of), 1)
    place = np.searchsorted(ties, cells[:, 0])
    fixed = types.supply.copy()
    np.subtract.at(fixed, (labels, type_of), 1)
    programme = _loosened(fixed, cells, held[place], types)
    matrix, _ = programme.limits()
    pair, member = np.nonzero(held[place])
    n_choices, n_before = len(pair), matrix.shape[1]
    sources, row, bound = _sources(programme, cells[pair, 1].astype(np.int64) * n_types + member)
    right: FloatArray = np.zeros(matrix.shape[0])
    right[: len(sources)] = fixed.ravel()[sources]
    entries = (-np.ones(int(bound.sum())), (row[bound], np.flatnonzero(bound)))
    choices: Any = sparse.csr_array(entries, shape=(matrix.shape[0], n_choices))
    # Every record of a tie goes somewhere, and every cluster takes as many as before.
    kinds, kind = np.unique(place[pair] * n_types + member, return_inverse=True)
    room = np.zeros(len(cells))
    np.add.at(room, _place(cells, tie_of, labels), 1)
    where = (np.concatenate((kind, len(kinds) + pair)), n_before + np.tile(np.arange(n_choices), 2))
    shape = (len(kinds) + len(cells), n_before + n_choices)
    all_of: Any = sparse.csr_array((np.ones(2 * n_choices), where), shape=shape)
    both: Any = sparse.hstack((matrix, choices))
    solution = solver.linprog(
        np.concatenate((programme.objective(), np.zeros(n_choices))),
        A_ub=both,
        b_ub=right,
        A_eq=all_of,
        b_eq=np.concatenate((held.ravel()[kinds], room)),
        method="highs-ds",
    )
    if solution.x is None:
        msg = with_hint("the programme that settles ties of B was not solved.", "leave optimise_ties off.")
        raise InputError(msg)
    taken = np.zeros((len(cells), n_types), dtype=np.int64)
    taken[pair, member] = np.floor(solution.x[n_before:] + 1e-6)
    return taken


def _loosened(fixed: CountArray, cells: CodeArray, held: CountArray, types: Types) -> Programme:
    """Return the programme of clusters that could take all the records of their ties."""
    most = fixed.copy()
    np.add.at(most, cells[:, 1], held)
    programme = Programme.of(Types(types.values, most, types.weights))
    if programme.n_edges > _MOST:
        msg = with_hint(
            f"the ties of {len(types.values)} distinct vectors of A are too many to settle.", "leave optimise_ties off."
        )
        raise InputError(msg)
    return programme


def _sources(programme: Programme, wanted: CountArray) -> tuple[CountArray, CountArray, BoolArray]:
    """Return the programme's pairs of cluster and type, and where among them some are, if they are."""
    sources = np.unique(programme.cluster * len(programme.types.values) + programme.member)
    row = np.searchsorted(sources, wanted)
    is_wanted = np.append(sources, -1)[row] == wanted
    return sources, row, np.asarray(is_wanted)


def _place(cells: CodeArray, tie_of: CodeArray, labels: CodeArray) -> CountArray:
    width = int(cells[:, 1].max()) + 1
    keys = cells[:, 0].astype(np.int64) * width + cells[:, 1]
    return np.searchsorted(keys, tie_of.astype(np.int64) * width + labels)


def _dealt(types: CodeArray, clusters: CodeArray, room: CountArray, taken: CountArray) -> CodeArray:
    """Give records to clusters: as many of each type as they take, then to whoever has room."""
    labels = np.full(len(types), -1, dtype=np.int32)
    for member in np.unique(types):
        ours = np.flatnonzero(types == member)
        labels[ours[: taken[:, member].sum()]] = np.repeat(clusters, taken[:, member])
    labels[labels < 0] = np.repeat(clusters, room[clusters] - taken.sum(axis=1))
    return labels
