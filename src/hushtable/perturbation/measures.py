"""What a perturbation lost, column by column and pair by pair, and what an intruder can still link."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from hushtable._types import CodeArray, FloatArray
from hushtable.columns import Column
from hushtable.perturbation.method import LARGE, NUMERIC, standardise
from hushtable.tables import Table

_MAX_TARGETS: Final = 1_000  # released records that are linked
_MAX_CANDIDATES: Final = 20_000  # original records that they may be linked to
_MAX_VALUES: Final = 100  # of a category that becomes coordinates
_TIE: Final = 1e-9
_SHRINKING: Final = 2.0**-600  # of numbers whose squares are none: no figure here depends on the unit


@dataclass(frozen=True, slots=True)
class ColumnLoss:
    """How the cells of a column differ from the original ones.

    Attributes
    ----------
    column : str
    changed_rate : float
        Share of records whose cell differs, in [0, 1].
    sse_share : float or None
        The sum of squared differences over that of the original about its mean, of numbers known before and after.
    il1s : float or None
        The mean of |difference| / (sqrt(2) sd) (Yancey, Winkler, Creecy 2002); the mean over cells, not their sum.
    """

    column: str
    changed_rate: float
    sse_share: float | None
    il1s: float | None


@dataclass(frozen=True, slots=True)
class PairLoss:
    """What two ordered columns say of one another, before and after: correlations of values and of ranks."""

    columns: tuple[str, str]
    before: float
    after: float
    rank_before: float
    rank_after: float


def read_numbers(table: Table) -> dict[str, FloatArray]:
    """Return the cells of ordered columns as numbers, NaN where one is missing: values of numbers, else positions."""
    return {
        column.name: np.append(_read_values(column), np.nan)[codes]
        for column, codes in zip(table.columns, table.codes, strict=True)
        if column.is_ordered
    }


def _read_values(column: Column) -> FloatArray:
    """Return the values of an ordered column as numbers whose squares are numbers."""
    if column.kind not in NUMERIC:
        return column.positions()
    values = column.values.astype(np.float64)
    return np.asarray(values * _SHRINKING) if np.abs(values).max(initial=0.0) > LARGE else values


def measure_columns(original: dict[str, FloatArray], released: dict[str, FloatArray]) -> list[ColumnLoss]:
    """Measure the loss of columns of numbers."""
    losses = []
    for name, before in original.items():
        after = released[name]
        known = ~np.isnan(before) & ~np.isnan(after)
        both_missing = np.isnan(before) & np.isnan(after)
        differ = ~both_missing & ~(before == after)
        centred = before[known] - before[known].mean() if known.any() else np.zeros(0)
        squares = float((centred**2).sum())
        steps = np.abs(after[known] - before[known])
        spread = np.sqrt(squares / max(1, len(centred) - 1))
        losses.append(
            ColumnLoss(
                name,
                float(differ.mean()) if len(differ) else 0.0,
                float((steps**2).sum()) / squares if squares > 0 else None,
                float(steps.mean() / (np.sqrt(2) * spread)) if spread > 0 else None,
            )
        )
    return losses


def measure_pairs(original: dict[str, FloatArray], released: dict[str, FloatArray]) -> tuple[PairLoss, ...]:
    """Compare the correlations of every two ordered columns, on the records that know both."""
    before, after = _correlate_pairs(original), _correlate_pairs(released)
    return tuple(
        PairLoss(pair, before[pair][0], after[pair][0], before[pair][1], after[pair][1])
        for pair in combinations(original, 2)
    )


def _correlate_pairs(columns: dict[str, FloatArray]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the correlation of the values and of the ranks of every two columns."""
    from scipy.stats import rankdata

    # Columns without missing cells are scaled and ranked once, and not for each pair.
    complete = {name: cells for name, cells in columns.items() if not np.isnan(cells).any()}
    n_degrees = max(1, len(next(iter(columns.values()), ())) - 1)
    values = {name: standardise(cells[:, None])[:, 0] for name, cells in complete.items()}
    ranks = {name: standardise(rankdata(cells)[:, None])[:, 0] for name, cells in complete.items()}
    return {
        (one, other): (float(values[one] @ values[other]) / n_degrees, float(ranks[one] @ ranks[other]) / n_degrees)
        if one in complete and other in complete
        else (_correlate(columns[one], columns[other]), correlate_ranks(columns[one], columns[other]))
        for one, other in combinations(columns, 2)
    }


def _correlate(one: FloatArray, other: FloatArray) -> float:
    known = ~np.isnan(one) & ~np.isnan(other)
    points = standardise(np.column_stack([one[known], other[known]]))
    return float((points[:, 0] * points[:, 1]).sum() / max(1, len(points) - 1))


def correlate_ranks(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's correlation on the records that know both; 0 where a column is constant."""
    from scipy.stats import rankdata

    known = ~np.isnan(one) & ~np.isnan(other)
    return _correlate(rankdata(one[known]), rankdata(other[known]))


def measure_linkage(original: FloatArray, released: FloatArray, seed: int) -> float | None:
    """Return the share of released records whose nearest original is their own, ties shared; None without columns.

    Of up to 1,000 records among up to 20,000, the same ones for the same seed, so that methods can be compared: among
    more records there are more that are near.
    """
    from scipy.spatial.distance import cdist

    if not original.size:
        return None
    drawn = np.random.default_rng([seed, 1]).permutation(len(original))[:_MAX_CANDIDATES]
    candidates, targets = original[drawn], released[drawn[:_MAX_TARGETS]]
    found = 0.0
    for begin in range(0, len(targets), 100):
        distances = cdist(targets[begin : begin + 100], candidates)
        rows = np.arange(len(distances))
        nearest = distances <= distances.min(axis=1, keepdims=True) * (1 + _TIE) + _TIE
        found += float((nearest[rows, begin + rows] / nearest.sum(axis=1)).sum())
    return found / len(targets)


def build_coordinates(original: Table, released: Table) -> tuple[FloatArray, FloatArray]:
    """Return coordinates of records of both tables, in which an intruder looks for the nearest.

    Ordered columns by the mean and standard deviation of the original, which is public enough; a missing cell is its
    mean, and a coordinate by itself. Different categories are 1 apart.
    """
    parts_before, parts_after = [], []
    before, after = read_numbers(original), read_numbers(released)
    for column, codes, codes_after in zip(original.columns, original.codes, released.codes, strict=True):
        if column.is_ordered:
            both = np.concatenate([before[column.name], after[column.name]])
            shape = _scale_by_first(both, len(codes))
            parts_before.append(shape[: len(codes)])
            parts_after.append(shape[len(codes) :])
        elif column.n_values <= _MAX_VALUES:
            places = np.arange(-1, column.n_values)
            texts = column.texts()
            of_text = {text: code for code, text in enumerate(texts)}
            meet = np.array([of_text.get(text, -1) for text in released.column(column.name).texts()] + [-1])
            parts_before.append(np.sqrt(0.5) * (codes[:, None] == places))
            parts_after.append(np.sqrt(0.5) * (meet[codes_after][:, None] == places))
    if not parts_before:
        return np.zeros((original.n_rows, 0)), np.zeros((original.n_rows, 0))
    return np.concatenate(parts_before, axis=1), np.concatenate(parts_after, axis=1)


def _scale_by_first(numbers: FloatArray, n_first: int) -> FloatArray:
    first = numbers[:n_first]
    known = first[~np.isnan(first)]
    mean = known.mean() if len(known) else 0.0
    spread = known.std(ddof=1) if len(known) > 1 else 0.0
    missing = np.isnan(numbers)
    scaled = np.where(missing, 0.0, (numbers - mean) / (spread if spread > 0 else 1.0))
    return np.column_stack([scaled, 1.0 * missing]) if missing.any() else scaled[:, None]


def count_changes(before: CodeArray, after: CodeArray, texts: list[str], texts_after: list[str]) -> float:
    """Return the share of records whose text differs."""
    number = {text: code for code, text in enumerate(texts)}
    meet = np.array([number.get(text, -2) for text in texts_after] + [-1])
    return float((meet[after] != before).mean()) if len(before) else 0.0
