"""Which columns records keep: sets by rising cost of what they blank, and the classes of rows on each.

Rows here may be distinct ones with counts. Columns in which all rows agree are kept by every set: to blank one hides
nobody.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import group
from hushtable.recoding import SUPPRESSION_STYLE, Nodes, Recoding
from hushtable.tables import Partition, Table, label_rows

_WEIGHT_STEPS = 2**40  # of the largest weight: sums of whole numbers compare the same in every order


@dataclass(frozen=True, slots=True, eq=False)
class KeptSets:
    """The rows of a table on quasi-identifiers, and what blanks of these cost."""

    table: Table  # of the quasi-identifiers alone
    weights: FloatArray  # (n_columns,), of a blank
    ranks: CountArray  # (n_columns,), importance: of equal costs, sets that blank lower ranks come first
    published: BoolArray | None = field(default=None, repr=False)  # (n_rows, n_columns), cells that are not yet blank
    among: BoolArray | None = None  # (n_columns,), columns that are looked at; None: all
    varied: tuple[int, ...] = field(init=False)  # columns that may be blanked

    def __post_init__(self) -> None:
        looked_at = range(len(self.table.columns)) if self.among is None else np.flatnonzero(self.among).tolist()
        cells = ((j, self.cells(j)) for j in looked_at if self.table.n_rows)
        object.__setattr__(self, "varied", tuple(j for j, codes in cells if (codes != codes[0]).any()))

    def cells(self, j: int) -> CodeArray:
        """Return what is published of a column: codes, and one more for a blank."""
        codes, column = self.table.codes[j], self.table.columns[j]
        if self.published is None:
            return np.asarray(codes)
        return np.where(self.published[:, j], codes, np.int32(column.n_values)).astype(np.int32)

    def with_weights(self, weights: FloatArray) -> KeptSets:
        """Return the same rows with other costs."""
        return replace(self, weights=weights)

    @property
    def n_sets(self) -> int:
        """How many sets there are."""
        return 1 << len(self.varied)

    def iterate(self) -> Iterator[BoolArray]:
        """Yield every set of kept columns, as (n_columns,) of bool; the cheapest first, then by importance."""
        unit = max(1e-300, float(self.weights.max(initial=0.0))) / _WEIGHT_STEPS
        keys = sorted((round(self.weights[j] / unit), 1 << int(self.ranks[j]), j) for j in self.varied)
        kept = np.ones(len(self.weights), dtype=np.bool_)
        yield kept
        # A subset of the sorted columns by its last one: its successors exchange that for the next, or add the next.
        heap: list[tuple[int, int, tuple[int, ...]]] = [(*keys[0][:2], (0,))] if keys else []
        while heap:
            cost, tie, blanked = heapq.heappop(heap)
            kept = np.ones(len(self.weights), dtype=np.bool_)
            kept[[keys[i][2] for i in blanked]] = False
            yield kept
            last = blanked[-1]
            if last + 1 < len(keys):
                more, less = keys[last + 1], keys[last]
                heapq.heappush(heap, (cost + more[0], tie + more[1], (*blanked, last + 1)))
                heapq.heappush(heap, (cost + more[0] - less[0], tie + more[1] - less[1], (*blanked[:-1], last + 1)))

    def cost(self, kept: BoolArray) -> float:
        """Return what a record pays that keeps these columns."""
        return float(self.weights[~kept].sum())

    def costs(self, kept: BoolArray) -> FloatArray:
        """Return what each record pays, by the columns that it keeps, (n_rows, n_columns)."""
        return np.asarray(~kept @ self.weights)

    def label(self, kept: BoolArray, rows: CountArray | None = None) -> tuple[CodeArray, int]:
        """Return the classes of some rows, or of all, that agree on the kept columns; and how many there are."""
        columns = [j for j in self.varied if kept[j]]
        of_rows = (self.cells(j) if rows is None else self.cells(j)[rows] for j in columns)
        widths = [self.table.columns[j].n_values + 1 for j in columns]
        return label_rows(of_rows, widths, self.table.n_rows if rows is None else len(rows))


@dataclass(frozen=True, slots=True, eq=False)
class OwnOptimum:
    """The cheapest columns that each row can keep so that enough rows agree with it on them."""

    kept: BoolArray = field(repr=False)  # (n_rows, n_columns)
    costs: FloatArray = field(repr=False)  # (n_rows,): what a record pays at least
    n_sets: int  # that were walked
    complete: bool  # else the last rows blank everything, and pay more than `costs`


def find_own_optimum(
    sets: KeptSets, k: int, is_over: Callable[[int], bool], combinations: Sequence[BoolArray] = ()
) -> OwnOptimum:
    """Find for every row the first set on which at least k records agree with it: no row depends on another.

    Of combinations, (n_columns,) of bool each, k records have to agree on what the set keeps of each.

    This is (k,1)-anonymity by suppression alone, and what every class of k records costs at least, because the records
    of a class agree on what they keep. One group by for a set; Gionis, Mazza, Tassa, ICDE 2008, have the notion.
    """
    n_rows, n_columns = sets.table.n_rows, len(sets.weights)
    kept = np.zeros((n_rows, n_columns), dtype=np.bool_)
    kept[:, [j for j in range(n_columns) if j not in sets.varied]] = True
    costs, is_open = np.zeros(n_rows), np.ones(n_rows, dtype=np.bool_)
    n_walked = 0
    shared: dict[bytes, BoolArray] = {}

    def has_companions(columns: BoolArray) -> BoolArray:
        labels, n_classes = sets.label(columns)
        return np.asarray(group.class_sizes(labels, sets.table.counts, n_classes)[labels] >= k)

    for columns in sets.iterate():
        if n_walked and is_over(n_walked):
            return OwnOptimum(kept, costs, n_walked, complete=False)
        n_walked += 1
        costs[is_open] = sets.cost(columns)
        done = is_open if combinations else is_open & has_companions(columns)
        for each in combinations:
            part = columns & each
            if part.tobytes() not in shared:
                shared[part.tobytes()] = has_companions(part)
            done = done & shared[part.tobytes()]
        kept[done], is_open = columns, is_open & ~done
        if not is_open.any():
            break
    return OwnOptimum(kept, costs, n_walked, complete=True)


def publish_kept(table: Table, kept: BoolArray) -> tuple[Partition, Recoding]:
    """Publish what each row keeps, (n_rows, n_columns), and `*` for the rest; rows of equal cells are one class."""
    stars = [np.int32(column.n_values) for column in table.columns]
    codes = [np.where(kept[:, j], table.codes[j], star).astype(np.int32) for j, star in enumerate(stars)]
    labels, n_classes = label_rows(codes, [int(star) + 1 for star in stars], table.n_rows)
    partition = Partition.from_labels(labels, n_classes, table.counts)
    first = group.first_rows(labels, n_classes)
    cells = []
    for j, column in enumerate(table.columns):
        is_star, code = ~kept[first, j], table.codes[j, first]
        level = np.where(is_star, 1, np.where(code < 0, -1, 0)).astype(np.int32)
        node = np.where(is_star, 0, code).astype(np.int32)
        cells.append(Nodes(level, node, is_star, Hierarchy.build(Hierarchy.suppression(), column)))
    return partition, Recoding(table.columns, tuple(cells), SUPPRESSION_STYLE)


def rank_columns(table: Table, importance: Sequence[str]) -> CountArray:
    """Rank columns: the named ones highest, the first the most; others the higher, the fewer values they have."""
    by_values = sorted(table.names, key=lambda name: (table.column(name).n_values, name))
    order = [*importance, *(name for name in by_values if name not in importance)]
    return np.array([len(order) - 1 - order.index(name) for name in table.names], dtype=np.int64)
