"""A loss by which categories are near or far: a cell costs as much as the two farthest values that it may stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InputError, check_columns
from hushtable.quality.loss import check_weights, mean_loss
from hushtable.recoding import Cells, CodeRanges, Listed, Nodes, PublishedIntervals, Recoding, Sets


@dataclass(frozen=True)
class Distances:
    """The distance between the two farthest values that a cell may stand for, 0 (nothing lost) to 1 (everything).

    A distance counts as a share of the largest one of its column. A cell that is ``*``, and one that stands for the
    missing value beside others, costs 1. A quasi-identifier without distances costs its set-NCP.

    Parameters
    ----------
    between : mapping of column to mapping of value to mapping of value to float
        How far apart two values are, 0 or more, without a unit. Each pair once is enough.
    weights : mapping of column to float
        How much the loss of a quasi-identifier counts beside the others; 1 where none is given.

    Raises
    ------
    InputError
        A pair of values has no distance or two, or a distance is no finite number from 0 on; when a release is
        measured, a column has values without distances, or is not a category.

    Notes
    -----
    ``full_domain`` makes it small; ``local_recoding``, ``genetic`` and ``mingen`` search by the set-NCP and then move
    rows as long as it falls; other methods report it. A cell stands for those values of the column that it covers.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"job": ["cook", "baker", "nurse", "doctor"]})
    >>> near = {"cook": {"baker": 1, "nurse": 8, "doctor": 9}, "baker": {"nurse": 8, "doctor": 9},
    ...         "nurse": {"doctor": 2}}
    >>> release = ht.anonymize(people, quasi_identifiers=["job"], models=[ht.KAnonymity(2)], method="local_recoding",
    ...                        hierarchies={"job": {"tree": {"food": ["cook", "baker"], "care": ["nurse", "doctor"]}}},
    ...                        loss=ht.Distances({"job": near}))
    >>> release.frame["job"].to_list(), round(release.loss, 4)
    (['food', 'food', 'care', 'care'], 0.1667)
    """

    between: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    name: ClassVar[str] = "distances"
    least: ClassVar[float] = 0.0
    """No release loses less."""

    def __post_init__(self) -> None:
        check_weights(self.weights)
        if not isinstance(self.between, Mapping) or not self.between:
            hint = 'write {"job": {"cook": {"baker": 1, "nurse": 8}, "baker": {"nurse": 8}}}, for instance.'
            raise InputError("Distances was given no column with distances.", hint=hint)
        _ = self._shares

    @cached_property
    def _shares(self) -> dict[str, tuple[dict[str, int], FloatArray]]:
        """By column the position of every value, and distances as shares of the largest."""
        return {name: _distance_matrix(name, rows) for name, rows in self.between.items()}

    def measure(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the weighted mean over columns of what a release lost."""
        names = [column.name for column in recoding.columns]
        check_columns([*self.between], names, "distances")
        n_records = max(1, int(sizes.sum()) + n_suppressed)
        losses = []
        for column, cells in zip(recoding.columns, recoding.cells, strict=True):
            costs = self._cell_costs(column, cells) if column.name in self.between else cells.shares(column)
            # Rounded once, so that the order of the classes does not matter.
            losses.append((math.fsum((costs * sizes).tolist()) + n_suppressed) / n_records)
        return mean_loss(losses, [float(self.weights.get(name, 1.0)) for name in names])

    def _cell_costs(self, column: Column, cells: Cells) -> FloatArray:
        """Return what a cell of every class costs."""
        position, shares = self._shares[column.name]
        texts = column.texts()
        n_unknown = sum(text not in position for text in texts)
        if n_unknown:
            raise InputError(
                f"column {column.name!r} has {n_unknown} values without distances, of {len(texts)}.",
                hint="give the distances between all values of the column.",
            )
        at = np.array([position[text] for text in texts], dtype=np.int64)
        covered, inverse = np.unique(_values_of_cells(column, cells), axis=0, return_inverse=True)
        return np.array([_diameter(row, at, shares) for row in covered])[inverse.reshape(-1)]


def _distance_matrix(name: str, rows: Mapping[str, Mapping[str, float]]) -> tuple[dict[str, int], FloatArray]:
    """Return the positions of values, and the distances between them as shares of the largest."""
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        raise InputError(
            f"the distances of column {name!r} are no mapping of value to mapping of value to number.",
            hint='write {"cook": {"baker": 1}}, for instance.',
        )
    values = sorted({str(value) for one, row in rows.items() for value in (one, *row)})
    position = {value: i for i, value in enumerate(values)}
    matrix = np.full((len(values), len(values)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for first, row in rows.items():
        for second, distance in row.items():
            is_number = isinstance(distance, (int, float)) and not isinstance(distance, bool)
            if not is_number or not 0 <= distance < math.inf:
                raise InputError(
                    f"column {name!r} was given the distance {distance!r}.", hint="a finite number, 0 or more."
                )
            i, j = position[str(first)], position[str(second)]
            if not np.isnan(matrix[i, j]) and matrix[i, j] != distance:
                raise InputError(
                    f"column {name!r} has two distances for a pair of values, {matrix[i, j]:g} and {distance:g}.",
                    hint="give each pair once; a value is 0 from itself.",
                )
            matrix[i, j] = matrix[j, i] = distance
    n_missing = int(np.isnan(matrix).sum()) // 2
    if n_missing or not matrix.max(initial=0.0) > 0:
        what = f"{n_missing} pairs of values without a distance" if n_missing else "no distance above 0"
        raise InputError(f"column {name!r} has {what}.", hint="give the distance between any two of its values.")
    return position, matrix / matrix.max()


def _diameter(covered: BoolArray, at: CountArray, shares: FloatArray) -> float:
    """Return the largest share between values that a cell may stand for; the first entry is the missing value."""
    values = at[covered[1:]]
    if not len(values):
        return 0.0
    is_everything = bool(covered[0]) or (bool(covered[1:].all()) and len(values) > 1)
    return 1.0 if is_everything else float(shares[np.ix_(values, values)].max())


def _values_of_cells(column: Column, cells: Cells) -> BoolArray:
    """Tell which values the cells of classes may stand for, shape (n_classes, 1 + n_values); missing is first."""
    if isinstance(cells, Sets):
        return _values_of_runs(cells.offsets, cells.codes + 1, np.eye(column.n_values + 1, dtype=bool))
    if isinstance(cells, Nodes):
        covered = np.zeros((len(cells.level), column.n_values + 1), dtype=bool)
        for level in range(cells.hierarchy.n_levels):
            at = cells.level == level
            covered[at, 1:] = cells.hierarchy.level_codes[level] == cells.node[at, None]
        covered[:, 0] = cells.has_missing | (cells.level < 0)
        return covered
    if isinstance(cells, (CodeRanges, PublishedIntervals)):
        ends = (cells.low, cells.high + 1)
        begin, end = cells.codes.round_outwards(cells.low, cells.high) if isinstance(cells, CodeRanges) else ends
        place = np.arange(column.n_values)
        known = (place >= begin[:, None]) & (place < end[:, None]) & (cells.high >= 0)[:, None]
        return np.column_stack((cells.has_missing | (cells.high < 0), known))
    if isinstance(cells, Listed):
        tree = cells.tree
        covered = _values_of_runs(cells.offsets, cells.members, _values_of_entries(column, cells))
        for level in range(tree.n_levels):
            at = cells.level == level
            covered[at, 1:] = tree.level_codes[level] == cells.node[at, None]
        return covered
    raise InputError(
        f"distances are of categories, and column {column.name!r} publishes something else ({type(cells).__name__}).",
        hint="give distances for categories only; numbers cost the width of their interval.",
    )


def _values_of_entries(column: Column, cells: Listed) -> BoolArray:
    """Tell which values every entry of a list stands for: a value, or a label below the top of the hierarchy."""
    if cells.texts[1:] == tuple(column.texts()):
        return np.eye(column.n_values + 1, dtype=bool)
    level = cells.tree.n_levels - 2
    units = np.zeros((len(cells.texts), column.n_values + 1), dtype=bool)
    units[0, 0] = True
    units[1:, 1:] = cells.tree.level_codes[level] == np.arange(len(units) - 1)[:, None]
    return units


def _values_of_runs(offsets: CountArray, members: CodeArray | CountArray, units: BoolArray) -> BoolArray:
    """Tell which values every class covers, from the units that it has."""
    covered = np.zeros((len(offsets) - 1, units.shape[1]), dtype=bool)
    labels = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    np.logical_or.at(covered, labels, units[members])
    return covered
