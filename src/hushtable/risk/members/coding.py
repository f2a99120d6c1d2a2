"""Records as numbers: what a differing cell costs, and the rows of a table that cost a record least."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.kernels.cheapest_rows import find_cheapest, sum_log_kernels
from hushtable.risk.attacks.attack import Coded

_ROWS_PER_LEAF: Final = 12
_SEED_OF_TREE: Final = 0  # a tree only changes how long a search takes


@dataclass(frozen=True, slots=True)
class CodedRecords:
    """Records whose cells are compared: numbers by their square difference, others by whether they are equal."""

    cells: NDArray[np.float32] = field(repr=False)  # float32 (n_records, n_columns), numbers first
    weights: NDArray[np.float32] = field(
        repr=False
    )  # float32 (n_records, n_columns - n_numbers): what a differing cell costs
    n_numbers: int

    def take(self, rows: CountArray) -> CodedRecords:
        """Return some of the records."""
        return replace(self, cells=self.cells[rows], weights=self.weights[rows])

    @property
    def is_number(self) -> list[bool]:
        """Tell for each column whether it is compared as a number."""
        return [j < self.n_numbers for j in range(self.cells.shape[1])]


@dataclass(frozen=True)
class NearestIndex:
    """Records of a table in a tree of boxes, for searches."""

    records: CodedRecords

    @cached_property
    def _tree(self) -> tuple[CountArray, NDArray[np.float32], NDArray[np.float32]]:
        order = _order_by_boxes(self.records)
        rows = np.ascontiguousarray(self.records.cells[order])
        return order, rows, _bound_boxes(rows)

    def find_cheapest(self, targets: CodedRecords, n_near: int) -> tuple[CountArray, FloatArray]:
        """Find the records that cost each target least, the cheapest first, and what they cost."""
        order, rows, boxes = self._tree
        near = np.zeros((len(targets.cells), min(n_near, len(rows))), dtype=np.int64)
        costs = np.zeros(near.shape)
        stack = np.zeros((2 * len(boxes).bit_length() + 2, 2))
        find_cheapest(targets.cells, targets.weights, targets.n_numbers, rows, boxes, stack, near, costs)
        return order[near], costs


def log_densities(targets: CodedRecords, records: CodedRecords, bandwidth: float) -> FloatArray:
    """Return the logarithm of a Gaussian kernel density at each target, up to a constant that bandwidths share."""
    sums = np.empty(len(targets.cells))
    sum_log_kernels(targets.cells, targets.weights, targets.n_numbers, records.cells, 2 * bandwidth * bandwidth, sums)
    return np.asarray(sums - np.log(len(records.cells)))


def encode_by_distance(
    tables: Coded, fitted: CodeArray, tables_codes: list[CodeArray], scaling: Literal["values", "ranks"]
) -> list[CodedRecords]:
    """Encode records for distances, fitted on some of them: numbers or their ranks, standardised; others differ by 1.

    A missing number is the median, and its absence a column of its own.
    """
    numbers, others = [], []
    for j, scale in enumerate(tables.scales):
        if scale is None:
            others.append([codes[j] for codes in tables_codes])
            continue
        levels = _standardise(scale, fitted[j], scaling)
        numbers.append([levels[codes[j]] for codes in tables_codes])
        if any((codes[j] < 0).any() for codes in [fitted, *tables_codes]):
            others.append([codes[j] < 0 for codes in tables_codes])
    columns = [*numbers, *others]
    records = []
    for i, codes in enumerate(tables_codes):
        cells = np.empty((codes.shape[1], len(columns)), dtype=np.float32)
        for j, column in enumerate(columns):
            cells[:, j] = column[i]
        records.append(CodedRecords(cells, np.ones((len(cells), len(others)), dtype=np.float32), len(numbers)))
    return records


def encode_by_surprisal(tables: Coded, fitted: CodeArray, tables_codes: list[CodeArray]) -> list[CodedRecords]:
    """Encode records so that a differing cell costs the surprisal of its value among some records; -1 is a value."""
    n_fitted = fitted.shape[1]
    surprisals = []
    for j, width in enumerate(tables.joint.widths):
        counts = np.bincount(fitted[j] + 1, minlength=width + 1)
        # A value that none of them has differs from all: it costs all of them the same, which may be nothing.
        surprisals.append(np.where(counts > 0, -np.log(np.maximum(counts, 1) / n_fitted), 0.0).astype(np.float32))
    # Columns that tell most come first, so that a search leaves most rows after a few cells.
    order = np.argsort([-surprisals[j][codes + 1].mean() for j, codes in enumerate(fitted)], kind="stable")
    return [
        CodedRecords(
            np.ascontiguousarray(codes[order].T, dtype=np.float32),
            np.ascontiguousarray(np.stack([surprisals[j][codes[j] + 1] for j in order], axis=1)),
            0,
        )
        for codes in tables_codes
    ]


def _standardise(scale: FloatArray, codes: CodeArray, scaling: Literal["values", "ranks"]) -> FloatArray:
    """Return what each code is worth by the records that have it, standardised; last, the median for missing."""
    known = codes[codes >= 0]
    if not len(known):
        return np.zeros(len(scale) + 1)
    worth = scale
    if scaling == "ranks":
        below = np.concatenate([[0], np.cumsum(np.bincount(known, minlength=len(scale)))])
        worth = (below[:-1] + below[1:]) / 2 / len(known)
    centred = worth - np.median(worth[known])
    return np.append(centred / (float(worth[known].std()) or 1.0), 0.0)


def _order_by_boxes(records: CodedRecords) -> CountArray:
    """Order rows so that equal runs of them, halved again and again, lie in small boxes."""
    n_rows, n_columns = records.cells.shape
    rng = np.random.default_rng(_SEED_OF_TREE)
    order = rng.permutation(n_rows)
    ranks = [rankdata(records.cells[:, j], "dense").astype(np.int64) - 1 for j in range(n_columns)]
    for level in range(_n_levels(n_rows)):
        starts = np.arange(1 << level) * n_rows // (1 << level)
        sizes = np.diff(np.append(starts, n_rows))
        node = np.repeat(np.arange(len(starts)), sizes)
        # Each row meets one of its node: the column in which such pairs cost most is cut.
        other = order[np.repeat(starts + np.append(starts[1:], n_rows) - 1, sizes) - np.arange(n_rows)]
        mean_costs = [np.add.reduceat(_pair_costs(records, j, order, other), starts) for j in range(n_columns)]
        cut = np.argmax(mean_costs, axis=0)[node]
        key = np.empty(n_rows, dtype=np.int64)
        for j in range(n_columns):
            key[cut == j] = ranks[j][order[cut == j]]
        halves = np.empty(n_rows, dtype=np.int64)
        ends = np.arange(1, 2 << level) * n_rows // (2 << level)
        halves[np.lexsort((key, node))] = np.searchsorted(ends, np.arange(n_rows), side="right")
        order = order[np.argsort(halves, kind="stable")]
    return order


def _pair_costs(records: CodedRecords, j: int, rows: CountArray, others: CountArray) -> FloatArray:
    cells, n_numbers = records.cells[:, j], records.n_numbers
    if j < n_numbers:
        return np.asarray((cells[rows] - cells[others]) ** 2)
    return np.asarray((cells[rows] != cells[others]) * records.weights[rows, j - n_numbers])


def _n_levels(n_rows: int) -> int:
    return max(0, (n_rows // _ROWS_PER_LEAF).bit_length() - 1)


def _bound_boxes(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the least and greatest cells of all nodes of the tree over rows in order, its leaves last."""
    n_leaves = 1 << _n_levels(len(rows))
    starts = np.arange(n_leaves) * len(rows) // n_leaves
    boxes = np.empty((2 * n_leaves - 1, 2, rows.shape[1]), dtype=rows.dtype)
    for side, extreme in enumerate((np.minimum, np.maximum)):
        boxes[n_leaves - 1 :, side] = extreme.reduceat(rows, starts)
        for first in [n_leaves >> level for level in range(1, n_leaves.bit_length())]:
            children = boxes[2 * first - 1 : 4 * first - 1, side]
            boxes[first - 1 : 2 * first - 1, side] = extreme(children[::2], children[1::2])
    return boxes
