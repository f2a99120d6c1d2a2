"""Shuffling: a column's own values in another order, which depends on the true one only through other columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.claims import Stated
from hushtable.errors import ColumnError, names_in, quote_names
from hushtable.perturbation.measures import correlate_ranks, read_numbers
from hushtable.perturbation.method import OriginalCells, Perturbed
from hushtable.perturbation.rank_swap import describe_strata
from hushtable.tables import Table


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Shuffle columns such that rank correlations among them, and with other columns, stay on average.

    Attributes
    ----------
    given : sequence of str
        Ordered columns that stay as they are, with which the correlations stay. Of categories the order of cells says
        nothing: name them in ``by``.

    Notes
    -----
    Muralidhar, Sarathy, "Data shuffling: a new masking approach for numerical data", 2006. Ranks become normal scores;
    correlations are 2 sin(pi rho / 6) of the rank correlations; new scores of the columns are drawn given those of
    ``given``; each column's values are put in their order. A cell and what is published depend on one another through
    ``given`` alone. Ties have their mean rank, which makes correlations of columns with few values too small. Missing
    cells stay where they are, and count as a middle rank where they are given.
    """

    name: ClassVar[str] = "shuffle"
    given: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", names_in(self.given, "given"))

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns whose correlations stay."""
        return tuple(self.given)

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Stated:
        """Return the statement of what was done."""
        given = f" given {', '.join(self.given)}" if self.given else ""
        how = f"{given}{describe_strata(by)}".strip(" ,")
        return Stated(columns, f"data shuffling ({how})" if how else "data shuffling")

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Shuffle the cells of every column, for each stratum by itself."""
        tables = (cells.table, cells.beside)
        unordered = [column.name for table in tables for column in table.columns if not column.is_ordered]
        if unordered:
            raise ColumnError(
                f"columns {quote_names(unordered)} have no order, and so no rank correlations.",
                hint="shuffle within them (by), declare their order (specs), or take pram.",
            )
        codes = cells.table.codes.copy()
        for stratum in np.unique(cells.strata).tolist():
            rows = np.flatnonzero(cells.strata == stratum)
            scores = _draw_scores(cells.table.take(rows), cells.beside.take(rows), rng)
            for j, column in enumerate(cells.table.codes):
                known = rows[column[rows] >= 0]
                order = known[np.argsort(scores[column[rows] >= 0, j], kind="stable")]
                codes[j, order] = np.sort(column[known])
        return Perturbed(codes)


def _draw_scores(table: Table, given: Table, rng: np.random.Generator) -> FloatArray:
    """Draw normal scores of the columns of a table given those of other columns, shape (n_rows, n_columns)."""
    columns = [*read_numbers(table).values(), *read_numbers(given).values()]
    n_drawn, n_all = len(table.columns), len(columns)
    correlation = np.eye(n_all)
    for i in range(n_all):
        for j in range(i):
            rho = correlate_ranks(columns[i], columns[j])
            correlation[i, j] = correlation[j, i] = 2 * np.sin(np.pi * rho / 6)
    drawn, fixed = slice(0, n_drawn), slice(n_drawn, n_all)
    # Columns that determine one another have no inverse.
    slope = np.linalg.pinv(correlation[fixed, fixed], rcond=1e-9, hermitian=True) @ correlation[fixed, drawn]
    rest = correlation[drawn, drawn] - correlation[drawn, fixed] @ slope
    values, vectors = np.linalg.eigh(rest)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scores = np.column_stack([_normal_scores(each) for each in columns[fixed]] or [np.zeros((table.n_rows, 0))])
    return np.asarray(scores @ slope + rng.standard_normal((table.n_rows, n_drawn)) @ root.T)


def _normal_scores(numbers: FloatArray) -> FloatArray:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    known: CodeArray = np.flatnonzero(~np.isnan(numbers)).astype(np.int32)
    scores = np.zeros(len(numbers))
    scores[known] = ndtri((rankdata(numbers[known]) - 0.5) / max(1, len(known)))
    return scores
