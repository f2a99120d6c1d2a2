"""The certificate of minimal generalization: what each record has to pay at least, and which blocks could be cheaper.

If no block costs less than its rows' prices, no partition does; of cheaper ones an integer program finds none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims.certificates.lattice import ReadColumns, complete_entries, describe_search, weights_in
from hushtable.claims.certificates.prices import value_positions
from hushtable.claims.certificates.record import Reading
from hushtable.claims.grouping import count_values
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.models import ClassStats, KAnonymity, PrivacyModel
from hushtable.search import milp

KIND: Final = "blocks"

FloorEntries = Mapping[str, Any]

_LOSS_TOLERANCE: Final = 1e-6  # of the loss, or of one cell's cost
_CELLS_PER_STEP: Final = 2_000_000  # cells that are looked at in one step
_MAX_CELLS_SEARCHED: Final = 2_000_000_000  # cells, until the search for blocks is given up
_MOST_BLOCKS: Final = 400_000
_INFEASIBLE: Final = 2  # as SciPy reports it

_IS_INPUT: Final = "the input is as stated"
_IS_RELEASE: Final = "the classes are as stated"
_IS_FLOOR: Final = "no block costs less than its rows' prices"
_IS_BEST: Final = "no partition into blocks costs less"
_CONDITIONS: Final = (_IS_INPUT, _IS_RELEASE, _IS_FLOOR, _IS_BEST)


@dataclass(frozen=True, slots=True, eq=False)
class _CandidateCosts:
    """Costs of cells of one column, each of which covers a range of places; place 0 is the missing value."""

    positions: CountArray = field(repr=False)  # (n_rows,), leaves of a hierarchy in the order of its branches
    star: float
    # (n_places,), positions of the values of an ordered column, times what its whole range costs
    position_costs: FloatArray | None = field(repr=False)
    nodes: CountArray = field(repr=False)  # (n_levels, n_places), the node above each, levels of values apart
    cheapest: FloatArray = field(repr=False)  # (n_levels, n_places), what the cheapest of a node and all above it costs

    def cost(self, low: CountArray, high: CountArray) -> FloatArray:
        """Return what cells cost."""
        if self.position_costs is not None:
            costs = self.position_costs[high] - self.position_costs[low]
        else:
            costs = np.full(low.shape, self.star)
            for node, least in zip(self.nodes[::-1], self.cheapest[::-1], strict=True):
                costs = np.where(node[low] == node[high], least[low], costs)
        return np.asarray(np.where(low == high, 0.0, np.where(low == 0, self.star, costs)))


def _cells_of(
    column: Column, codes: CountArray, hierarchy: Hierarchy | None, loss: str, options: Mapping[str, Any], unit: float
) -> _CandidateCosts:
    """Return what the cells of a column cost by a loss, a changed cell up to ``unit``."""
    nothing = np.empty((0, column.n_values + 1))
    if hierarchy is None:
        at = None
        if column.is_ordered and loss != "minimal_distortion":
            scale = options.get("scale", "value")
            by_rank = (scale.get(column.name) if isinstance(scale, Mapping) else scale) == "rank"
            at = unit * np.append(0.0, value_positions(column, by_rank=by_rank))
        return _CandidateCosts(codes + 1, unit, at, nothing.astype(np.int64), nothing)
    n_values = column.n_values + int((codes < 0).any())
    order = np.lexsort(tuple(hierarchy.level_codes))
    position_of = np.append(0, 0 * order)
    position_of[1 + order] = 1 + np.arange(len(order))
    nodes = hierarchy.level_codes[1:, order].astype(np.int64)
    costs = np.array(
        [_node_costs(hierarchy, level, loss, options, n_values)[each] for level, each in enumerate(nodes, start=1)]
    )
    least = unit * np.minimum.accumulate(costs[::-1], axis=0)[::-1]
    padding = ((0, 0), (1, 0))
    return _CandidateCosts(
        position_of[codes + 1], unit, None, np.pad(nodes, padding, constant_values=-1), np.pad(least, padding)
    )


def _node_costs(hierarchy: Hierarchy, level: int, loss: str, options: Mapping[str, Any], n_values: int) -> FloatArray:
    shares = hierarchy.shares[level]
    if level == hierarchy.n_levels - 1 or loss == "minimal_distortion":
        return np.ones(len(shares))
    if loss == "ncp":
        return shares
    if options.get("variant", "leaves") == "mg-ga":
        costs = hierarchy.siblings[level] / max(1, n_values)
    else:
        leaf = hierarchy.leaf_share
        costs = np.maximum(0.0, shares - leaf) / (1 - leaf) if leaf < 1 else np.zeros(len(shares))
    is_star = np.array([label == hierarchy.labels[-1][0] for label in hierarchy.labels[level]])
    return np.asarray(np.where(is_star, 1.0, costs))


def check(data: Any, entries: FloorEntries, reading: Reading) -> Verdict:
    """Check that the classes cost what is stated, and that no others cost less than the floor.

    Blocks of k-anonymity hold at most 2 k - 1 rows: parts of larger ones cost no more. The search is exponential in k.
    """
    return check_floor(data, entries, reading, _StatedBlocks.from_entries, _CONDITIONS)


@dataclass(frozen=True, slots=True, eq=False)
class StatedFloor:
    """What a certificate says: what a release loses, and what every other one loses at least."""

    prices: FloatArray = field(repr=False)
    stated: int  # records
    value: float
    bound: float
    unit: float  # what the dearest cell costs

    @property
    def slack(self) -> float:
        """By how much rounding may change a loss."""
        return _LOSS_TOLERANCE * max(self.unit, abs(self.value))

    def judge(self) -> tuple[list[Failure], dict[str, str]]:
        """Return the failures, and why some conditions could not be judged."""
        raise NotImplementedError

    def find_wrong_losses(self, cost: float, condition: str) -> Iterator[Failure]:
        """Yield failures of a release that costs so much: it is not what is stated, or below the floor."""
        if abs(cost - self.value) > self.slack:
            yield Failure(f"{condition}: they lose {cost!r}")
        if self.bound > self.value + self.slack:
            yield Failure(f"{condition}: they lose less than the lower bound")


def read_floor(entries: FloorEntries, unit: float) -> tuple[FloatArray, int, float, float, float]:
    """Return the fields of a `StatedFloor`."""
    prices, value, bound = (
        np.array(list(map(float, entries["prices"]))),
        float(entries["value"]),
        float(entries["bound"]),
    )
    if not np.isfinite([*prices, value, bound]).all():
        raise InputError("a certificate with numbers that are none.", hint="make it anew.")
    return prices, int(entries["n_records"]), value, bound, unit


def check_floor(
    data: object,
    entries: FloorEntries,
    reading: Reading,
    read_stated: Callable[[ReadColumns, FloorEntries], StatedFloor],
    conditions: tuple[str, str, str, str],
) -> Verdict:
    """Check a stated release and floor; the last condition says that nothing costs less."""
    with complete_entries():
        read = ReadColumns.from_entries(data, entries, reading)
        if read.failures:
            return reading.verdict_of_failures(read.failures, read.columns, read.frame.n_rows)
        stated = read_stated(read, entries)
        failures, unchecked = stated.judge()
    figures = {
        "value": stated.value,
        "bound": stated.bound,
        "optimal": stated.bound >= stated.value - stated.slack,
        "readings": dict(read.readings),
        "hierarchies_of_certificate": [name for name in entries["hierarchies"] if name not in reading.hierarchies],
        **{name: entries[name] for name in ("models", "loss")},
    }
    *others, is_best = conditions
    best = f"{is_best} than {stated.bound:.6g} {describe_search(figures, 'no record')}"
    open_ = {best if name == is_best else name: why for name, why in unchecked.items()}
    return Verdict((*others, best), tuple(failures), read.columns, read.frame.n_rows, open_, figures)


@dataclass(frozen=True, slots=True, eq=False)
class _StatedBlocks(StatedFloor):
    """What a certificate says, and the rows of the input in the order of their codes."""

    models: tuple[PrivacyModel, ...]
    columns: tuple[_CandidateCosts, ...] = field(repr=False)
    judged_codes: Mapping[str, CodeArray] = field(repr=False)
    reference: ClassStats = field(repr=False)
    labels: CountArray = field(repr=False)

    @classmethod
    def from_entries(cls, read: ReadColumns, entries: FloorEntries) -> _StatedBlocks:
        if entries["person"] is not None or not read.models:
            raise InputError("a certificate of blocks with persons, or without models.", hint="none is made.")
        if read.frame.counts is not None:
            raise InputError("a certificate of blocks for counted rows.", hint="pass a row for every record.")
        ((loss, options),) = entries["loss"].items()
        if loss not in ("ncp", "certainty", "minimal_distortion"):
            raise InputError(f"a certificate of blocks by the loss {loss!r}.", hint="no checker knows it.")
        codes = [read.encoded[name][1] for name in (*read.columns, *read.judged_columns)]
        order = np.lexsort(tuple(codes[::-1])) if read.frame.n_rows else np.empty(0, dtype=np.int64)
        n, weights = len(order), weights_in(options, read.columns)
        factor = 1 / max(1e-300, n * math.fsum(weights)) if loss == "ncp" else 1.0
        columns = []
        for name, weight in zip(read.columns, weights, strict=True):
            column, of_rows = read.encoded[name]
            is_tree = name in entries["hierarchies"]
            hierarchy = read.build_hierarchy(name, of_rows, None, entries) if is_tree else None
            columns.append(
                _cells_of(column, of_rows[order].astype(np.int64), hierarchy, loss, options, weight * factor)
            )
        judged_codes = {name: read.encoded[name][1][order] for name in read.judged_columns}
        reference = read.reference_stats(judged_codes, None, entries["hierarchies"])
        labels = np.array(entries["classes"], dtype=np.int64)
        floor = read_floor(entries, max(weights) * factor)
        return cls(*floor, read.models, tuple(columns), judged_codes, reference, labels)

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].positions)

    @property
    def k(self) -> int:
        """Rows that every class holds."""
        return max([1, *(model.min_size for model in self.models)])

    @property
    def is_by_size(self) -> bool:
        return all(type(model) is KAnonymity for model in self.models)

    def judge(self) -> tuple[list[Failure], dict[str, str]]:
        """Return the failures, and why some conditions could not be judged."""
        n = self.n_rows
        if not (n and self.stated == n == len(self.labels) == len(self.prices)):
            return [Failure(f"{_IS_INPUT}: it has another number of records")], {}
        failures = [*self._release_failures()]
        total = math.fsum(self.prices.tolist())
        unpriced = self.bound - total
        if unpriced <= self.slack and self._are_below_mates():
            return failures, {}
        max_rows = min(n, 2 * self.k - 1) if self.is_by_size else n
        found = _BlockSearch(self.columns, self.prices, self.k, max_rows, max(0.0, unpriced) + self.slack).run()
        if found is None:
            return failures, {_IS_FLOOR: "the search for blocks came to no end; ask for lower prices, or a smaller k"}
        blocks, reduced = found
        if not self.is_by_size and blocks:
            passes = self._passes(blocks)
            blocks = [block for block, is_fit in zip(blocks, passes, strict=True) if is_fit]
            reduced = [each for each, is_fit in zip(reduced, passes, strict=True) if is_fit]
        if min(reduced, default=0.0) < -self.slack:
            return [*failures, Failure(f"{_IS_FLOOR}: a block costs {-min(reduced):g} less")], {}
        if unpriced <= self.slack:
            return failures, {}
        cheapest = _cheapest_cover(n, blocks, reduced)
        if cheapest is None:
            return failures, {_IS_BEST: "the integer program came to no end"}
        if cheapest < unpriced - self.slack:
            failures.append(Failure(f"{_IS_BEST}: a partition costs {total + cheapest:g}"))
        return failures, {}

    def _release_failures(self) -> Iterator[Failure]:
        """Yield failures: classes that do not pass, or do not cost what is stated."""
        names, labels = np.unique(self.labels, return_inverse=True)
        members = [np.flatnonzero(labels == i) for i in range(len(names))]
        if not self._passes([tuple(rows.tolist()) for rows in members]).all():
            yield Failure(f"{_IS_RELEASE}: a class does not satisfy the models")
        cost = math.fsum(
            len(rows) * float(cells.cost(cells.positions[rows].min(), cells.positions[rows].max()))
            for rows in members
            for cells in self.columns
        )
        yield from self.find_wrong_losses(cost, _IS_RELEASE)

    def _passes(self, blocks: Sequence[tuple[int, ...]]) -> BoolArray:
        """Tell which sets of rows satisfy the models."""
        sizes = np.array([len(block) for block in blocks], dtype=np.int64)
        rows = np.array([row for block in blocks for row in block], dtype=np.int64)
        labels = np.repeat(np.arange(len(blocks)), sizes)
        histograms = {name: count_values(labels, codes[rows], len(blocks)) for name, codes in self.judged_codes.items()}
        stats = ClassStats(sizes, histograms, self.reference.totals, grounds=self.reference.grounds)
        return np.asarray(np.all([model.passes(stats) for model in self.models], axis=0))

    def _are_below_mates(self) -> bool:
        """Tell whether no price is above what the row costs beside its k - 1 nearest: then no block is cheaper."""
        if self.k == 1:
            return bool((self.prices <= self.slack).all())
        places = np.column_stack([cells.positions for cells in self.columns])
        step = max(1, _CELLS_PER_STEP // self.n_rows)
        for begin in range(0, self.n_rows, step):
            some = slice(begin, begin + step)
            costs = _costs_with_others(self.columns, places[some], places[some], places)
            # A row is its own nearest.
            nearest = np.partition(costs, self.k - 1, axis=1)[:, self.k - 1]
            if (self.prices[some] > nearest + self.slack / self.n_rows).any():
                return False
        return True


def _costs_with_others(
    columns: Sequence[_CandidateCosts], low: CountArray, high: CountArray, mates: CountArray
) -> FloatArray:
    """Return what a row of every box costs with each other row in it, shape (n_boxes, n_mates)."""
    total = np.zeros((len(low), len(mates)))
    for j, cells in enumerate(columns):
        total += cells.cost(np.minimum(low[:, j, None], mates[:, j]), np.maximum(high[:, j, None], mates[:, j]))
    return total


class _BlockSearch:
    """All blocks of rows that cost at most so much more than their prices, built in the order of falling prices.

    A row pays at least what it costs beside those chosen: the cheapest that may come say how far a beginning can get.
    """

    def __init__(self, columns: Sequence[_CandidateCosts], prices: FloatArray, k: int, most: int, above: float) -> None:
        self.order = np.argsort(-prices, kind="stable")
        self.columns, self.k, self.most, self.above = columns, k, most, above
        self.prices = prices[self.order]
        self.places = np.column_stack([cells.positions for cells in columns])[self.order]
        self.blocks: list[tuple[int, ...]] = []
        self.reduced: list[float] = []

    def run(self) -> tuple[list[tuple[int, ...]], list[float]] | None:
        """Return the blocks, each as its rows, and by what they exceed their prices; None where there are too many."""
        n = len(self.prices)
        alone = np.arange(n)[:, None]
        open_ = [alone[begin : begin + self._step] for begin in range(0, n, self._step)]
        if self.k == 1:
            self._keep_blocks(alone, -self.prices)
        n_looked = 0
        while open_:
            members = open_.pop()
            n_looked += members.shape[0] * n
            if n_looked > _MAX_CELLS_SEARCHED or len(self.blocks) > _MOST_BLOCKS:
                return None
            if members.shape[1] < self.most:
                children = self._add_row(members)
                open_ += [children[begin : begin + self._step] for begin in range(0, len(children), self._step)]
        return self.blocks, self.reduced

    @property
    def _step(self) -> int:
        return max(1, _CELLS_PER_STEP // len(self.prices))

    def _add_row(self, members: CountArray) -> CountArray:
        """Return the beginnings with one row more that may lead to a block; keep those that are blocks."""
        m, n = members.shape[1], len(self.prices)
        places = self.places[members]
        costs = _costs_with_others(self.columns, places.min(axis=1), places.max(axis=1), self.places)
        paid = self.prices[members].sum(axis=1)
        more = np.where(np.arange(n) > members[:, -1:], costs - self.prices, np.inf)
        room = min(self.most - m - 1, n)
        cheapest = np.sort(np.partition(more, room - 1, axis=1)[:, :room], axis=1) if room else more[:, :0]
        needed = max(0, self.k - m - 1)
        # What does not have to come comes where it lowers the sum.
        to_come = cheapest[:, :needed].sum(axis=1) + np.minimum(0.0, cheapest[:, needed:]).sum(axis=1)
        own = m * costs + more - paid[:, None]
        box, row = np.nonzero(own + to_come[:, None] <= self.above)
        children = np.column_stack([members[box], row])
        if m + 1 >= self.k:
            self._keep_blocks(children, (m + 1) * costs[box, row] - paid[box] - self.prices[row])
        return children

    def _keep_blocks(self, blocks: CountArray, reduced: FloatArray) -> None:
        kept_blocks = np.flatnonzero(reduced <= self.above)
        self.blocks += map(tuple, self.order[blocks[kept_blocks]].tolist())
        self.reduced += reduced[kept_blocks].tolist()


def _cheapest_cover(n_rows: int, blocks: Sequence[tuple[int, ...]], costs: Sequence[float]) -> float | None:
    """Return what the cheapest partition into some blocks costs at least; None where no answer was found."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint

    if not blocks:
        return math.inf
    columns = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    rows = np.array([row for block in blocks for row in block])
    cover = sparse.csc_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_rows, len(blocks)))
    solved = milp(
        np.array(costs),
        integrality=np.ones(len(blocks), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(cover, 1, 1),
        options={"mip_rel_gap": 0.0},
    )
    if solved.status == _INFEASIBLE:
        return math.inf
    return None if solved.mip_dual_bound is None else float(solved.mip_dual_bound)
