"""The Gaussian copula of coded columns: how their orders depend on one another, as a matrix of correlations.

Every column is a normal variable of which a record tells the range of its cell only. Arrays in, arrays out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from scipy.special import ndtr, ndtri

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.synthesizers.writing import to_positions

_MIN_CATEGORY_RECORDS: Final = 10
"""Records of a category that are told from others by whom they meet; an order of fewer would copy who they are."""

_N_SCALING_PASSES: Final = 2  # the orders of other columns change the scores: see `build_lines`
_MIN_EIGENVALUE: Final = 1e-6
_CORRELATION_DECIMALS: Final = 10  # sums in another order differ only beyond these
_ROWS_PER_BLOCK: Final = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One column's records in a line, in the order of their scores."""

    sizes: CountArray = field(repr=False)  # (n_codes,), records of each code; code 0 is missing
    order: CountArray = field(repr=False)  # (n_codes,), the codes as they follow one another in the line

    @property
    def ends(self) -> CountArray:
        """Where the records of each code in the line end."""
        return np.asarray(np.cumsum(self.sizes[self.order]))

    def code_scores(self) -> FloatArray:
        """Return the score of each code: the mean of a standard normal variable between its quantiles."""
        sizes = self.sizes[self.order]
        quantiles = ndtri(np.append(0, self.ends) / self.sizes.sum())
        heights = np.exp(-(quantiles**2) / 2) / np.sqrt(2 * np.pi)
        scores = np.empty(len(sizes))
        scores[self.order] = (heights[:-1] - heights[1:]) * self.sizes.sum() / np.maximum(sizes, 1)
        return scores

    def to_code_order(self, positions: FloatArray) -> FloatArray:
        """Turn positions in this line into those in the line of ascending codes."""
        ends, plain_ends = self.ends, np.cumsum(self.sizes)
        turn = np.searchsorted(ends, positions, side="right")
        code = self.order[turn]
        moved = positions - (ends - self.sizes[self.order])[turn] + (plain_ends - self.sizes)[code]
        # A sum may be rounded up to where the next code begins.
        return np.asarray(np.minimum(moved, np.nextafter(plain_ends[code].astype(np.float64), 0)))


def build_lines(codes: CodeArray, counts: CountArray, is_nominal: Sequence[bool]) -> tuple[Line, ...]:
    """Put the records of each column in a line, those without an order by whom they meet; code 0 is missing.

    Optimal scaling: each code has the mean scores of all other columns, and codes follow one another along the
    direction in which these means vary most. Codes of fewer than 10 records share one mean, in the order of the codes:
    with unique codes, such as names, an order by the mean would copy whose row it is. Two passes, because the orders
    of other columns change the scores.
    """
    sizes = [np.bincount(each, weights=counts, minlength=1).astype(np.int64) for each in codes]
    lines = [Line(each, np.arange(len(each))) for each in sizes]
    for _ in range(_N_SCALING_PASSES if any(is_nominal) else 0):
        scores = _standardize_scores(_score_rows(codes, lines), counts)
        lines = [
            replace(line, order=_order_by_scores(codes[j], np.delete(scores, j, axis=0), counts)) if nominal else line
            for j, (line, nominal) in enumerate(zip(lines, is_nominal, strict=True))
        ]
    return tuple(lines)


def estimate_correlations(codes: CodeArray, counts: CountArray, lines: Sequence[Line]) -> FloatArray:
    """Estimate the correlations of the normal variables behind columns; the matrix need not be positive definite.

    Scores of classes covary less than the variables do: to the first order in the correlation, by the variances of
    both columns' scores, of which a column that tells more has a higher one. One record more, which says 0, keeps
    near-constant columns from being read as more than they say.
    """
    n = float(counts.sum())
    scores = _score_rows(codes, lines)
    shared = (scores * counts) @ scores.T
    variances = np.diag(shared) / n
    estimate = np.clip(shared / (n * np.outer(variances, variances) + 1), -1, 1)
    np.fill_diagonal(estimate, 1.0)
    return np.asarray(estimate)


def nearest_correlations(estimate: FloatArray) -> FloatArray:
    """Return a positive definite matrix of correlations near an estimate, rounded to 10 decimals."""
    values, vectors = np.linalg.eigh(estimate)
    mended = (vectors * np.maximum(values, _MIN_EIGENVALUE)) @ vectors.T
    widths = np.sqrt(np.diag(mended))
    rounded = np.round(mended / np.outer(widths, widths), _CORRELATION_DECIMALS)
    # From one half, so that both are equal to the last digit.
    half = np.tril(rounded, -1)
    return np.asarray(half + half.T + np.eye(len(rounded)))


def draw_positions(
    correlation: FloatArray, lines: Sequence[Line], n: int, rng: np.random.Generator
) -> Iterator[tuple[slice, FloatArray]]:
    """Draw new rows; yield, block by block, which they are and their positions by code, (n_columns, n_rows)."""
    # Unique, as eigenvectors are not: the same seed gives the same table with every library of linear algebra.
    factor = np.linalg.cholesky(correlation)
    for begin in range(0, n, _ROWS_PER_BLOCK):
        rows = slice(begin, min(begin + _ROWS_PER_BLOCK, n))
        normal = rng.standard_normal((rows.stop - begin, len(lines))) @ factor.T
        cdf = ndtr(normal.T)
        yield (
            rows,
            np.array(
                [line.to_code_order(to_positions(each, line.ends[-1])) for line, each in zip(lines, cdf, strict=True)]
            ),
        )


def _score_rows(codes: CodeArray, lines: Sequence[Line]) -> FloatArray:
    return np.array([line.code_scores()[each] for line, each in zip(lines, codes, strict=True)])


def _standardize_scores(scores: FloatArray, counts: CountArray) -> FloatArray:
    """Give every column's scores a variance of 1, constant ones none."""
    widths = np.sqrt((scores**2 @ counts) / counts.sum())
    return np.asarray(scores / np.where(widths > 0, widths, 1.0)[:, None])


def _order_by_scores(codes: CodeArray, scores: FloatArray, counts: CountArray) -> CountArray:
    """Order the codes of a column along the direction in which the mean scores of the other columns vary most."""
    sizes = np.bincount(codes, weights=counts)
    groups = np.where(sizes >= _MIN_CATEGORY_RECORDS, np.arange(len(sizes)), len(sizes))
    weights = np.bincount(groups, weights=sizes, minlength=len(sizes) + 1)
    sums = [np.bincount(groups[codes], weights=each * counts, minlength=len(weights)) for each in scores]
    means = np.array(sums).reshape(len(scores), len(weights)) / np.maximum(weights, 1)
    # Rounded, because the last digits depend on the library of linear algebra; ties stay as the codes are.
    along = np.round(main_direction((means * weights) @ means.T) @ means, 6)
    return np.asarray(np.argsort(along[groups], kind="stable"))


def main_direction(covariance: FloatArray) -> FloatArray:
    """Return the direction of the largest variance; of its two senses the one in which its largest entry is above 0."""
    if not len(covariance):
        return np.zeros(0)
    direction = np.linalg.eigh(covariance)[1][:, -1]
    return np.asarray(direction * np.sign(direction[np.argmax(np.round(np.abs(direction), 6))]))
