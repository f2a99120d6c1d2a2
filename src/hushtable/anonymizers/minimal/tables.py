"""Tables of published cells, many at once: a candidate for every cell.

A *pool* of tables is an array of candidates, shape (n_tables, n_rows, n_columns).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.anonymizers.minimal.candidates import Candidates, CandidateSpace
from hushtable.models import MatchingNotion
from hushtable.search import check_memory

__all__ = ["Choices", "matches", "wanted"]


@dataclass(frozen=True, eq=False)
class Choices:
    """What every cell of a table may publish.

    Attributes
    ----------
    space : CandidateSpace
    listed : tuple of Candidates, by column
        The last is ``*``.
    fitting : tuple by column of (ndarray, ndarray) of int64
        The candidates of every row, as offsets and members.
    """

    space: CandidateSpace
    listed: tuple[Candidates, ...] = field(repr=False)
    fitting: tuple[tuple[CountArray, CountArray], ...] = field(repr=False)

    @classmethod
    def of(cls, space: CandidateSpace) -> Choices:
        """List the candidates of a space."""
        _check_size(space)
        listed = tuple(space.candidates(j) for j in range(len(space.columns)))
        return cls(space, listed, tuple(_fitting(space.places[:, j], each) for j, each in enumerate(listed)))

    @property
    def stars(self) -> CountArray:
        """The table of ``*``, which satisfies every k there is."""
        last = np.array([len(each.costs) - 1 for each in self.listed], dtype=np.int64)
        return np.broadcast_to(last, self.space.places.shape)

    @cached_property
    def cheapest(self) -> tuple[CountArray, ...]:
        """The cheapest candidate of every column over every run of places, shape (n_places, n_places)."""
        return tuple(map(_cheapest, self.listed))

    def draw(self, n_tables: int, rng: np.random.Generator) -> CountArray:
        """Draw a candidate for every cell, each as likely as any other."""
        pool = np.empty((n_tables, *self.space.places.shape), dtype=np.int64)
        for j, (offsets, members) in enumerate(self.fitting):
            lengths = np.diff(offsets)
            drawn = (rng.random((n_tables, len(lengths))) * lengths).astype(np.int64)
            pool[:, :, j] = members[offsets[:-1] + drawn]
        return pool

    def costs(self, pool: CountArray) -> FloatArray:
        """Return what each table costs, as a sum of weighted cells."""
        costs = np.zeros(len(pool))
        for j, listed in enumerate(self.listed):
            costs += listed.costs[pool[:, :, j]].sum(axis=1)
        return costs

    def of_labels(self, labels: CodeArray) -> CountArray:
        """Return the table in which every block publishes its cheapest common candidates, shape (n_rows, n_columns)."""
        low, high = self.space.runs(labels, int(labels.max()) + 1)
        return self.covering(low, high)[labels]

    def covering(self, low: CodeArray, high: CodeArray) -> CountArray:
        """Return the cheapest candidates over runs of places, each of shape (n_runs, n_columns)."""
        return np.stack([best[low[:, j], high[:, j]] for j, best in enumerate(self.cheapest)], axis=1)

    def runs(self, pool: CountArray) -> tuple[CodeArray, CodeArray]:
        """Return the first and the last place that each cell covers."""
        low, high = np.empty(pool.shape, dtype=np.int32), np.empty(pool.shape, dtype=np.int32)
        for j, listed in enumerate(self.listed):
            low[:, :, j], high[:, :, j] = listed.first[pool[:, :, j]], listed.last[pool[:, :, j]]
        return low, high

    def covers(self, pool: CountArray) -> BoolArray:
        """Tell which row of each table covers which original row, shape (n_tables, n_rows, n_rows)."""
        low, high = self.runs(pool)
        covers = np.ones((*pool.shape[:2], pool.shape[1]), dtype=bool)
        for j in range(pool.shape[2]):
            at = self.space.places[:, j]
            covers &= (low[:, :, j, None] <= at) & (at <= high[:, :, j, None])
        return covers


def matches(covers: BoolArray, *, is_global: bool) -> BoolArray:
    """Tell which covered original row is a match of a row, both of shape (n_tables, n_rows, n_rows).

    Every row covers its own original, so that one way of giving each an original of its own is known. A
    pair is then part of another such way if and only if its ends lie in one strong component.
    """
    if not is_global:
        return covers
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    n_tables, n_rows, _ = covers.shape
    table, row, other = np.nonzero(covers)
    edges = (np.ones(len(row), dtype=np.int8), (table * n_rows + row, table * n_rows + other))
    graph = csr_matrix(edges, shape=(n_tables * n_rows, n_tables * n_rows))
    _, component = connected_components(graph, directed=True, connection="strong")
    component = component.reshape(n_tables, n_rows)
    return np.asarray(covers & (component[:, :, None] == component[:, None, :]))


def wanted(notion: MatchingNotion, matched: BoolArray) -> BoolArray:
    """Tell which pairs of rows of each table would give the first of them a match that it lacks.

    A table satisfies the notion where there is none. There is always one for a row that lacks matches,
    as long as there are k rows.
    """
    lacking = np.zeros(matched.shape, dtype=bool)
    if "published" in notion.sides:
        lacking |= (matched.sum(axis=2) < notion.k)[:, :, None] & ~matched
    if "original" in notion.sides:
        lacking |= (matched.sum(axis=1) < notion.k)[:, :, None] & ~matched.transpose(0, 2, 1)
    return lacking


def _cheapest(listed: Candidates) -> CountArray:
    """Return the cheapest candidate over every run of places, shape (n_places, n_places)."""
    n_places = int(listed.last.max()) + 1
    best = np.zeros((n_places, n_places), dtype=np.int64)
    # Dearest first, so that the cheapest is the last to be written.
    for i in np.lexsort((-listed.level, -listed.costs)).tolist():
        first, last = int(listed.first[i]), int(listed.last[i])
        best[first : last + 1, first : last + 1] = i
    return best


def _fitting(places: CodeArray, listed: Candidates) -> tuple[CountArray, CountArray]:
    """List the candidates of every row, as offsets and members."""
    rows, choices = np.nonzero((listed.first <= places[:, None]) & (places[:, None] <= listed.last))
    return np.asarray(np.searchsorted(rows, np.arange(len(places) + 1))), choices


def _check_size(space: CandidateSpace) -> None:
    """Raise InputError where what cells may publish is too much to list: of n values n^2 / 2 intervals."""
    n_values = np.array([column.n_values + 1.0 for column in space.columns])
    is_interval = np.array([ladder is None for ladder in space.hierarchies])
    n_listed = np.where(is_interval, n_values * n_values / 2, 2 * n_values)
    # Each is a tuple first, then beside every row, and once for every run of places.
    needed = (n_listed * (200 + 2 * space.n_rows) + 8 * n_values * n_values).sum()
    check_memory(
        float(needed),
        f"listing what the cells of {space.n_rows} rows may publish",
        "search blocks of equal rows (the default of Genetic and MinGen), or give columns of many values a hierarchy.",
    )
