"""A proven floor under the set-NCP of every k-anonymous release: prices of rows that no class of k undercuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, freeze_array
from hushtable.claims import Certificate, ClaimOnColumns, Combinations, Matchings, build_certificate
from hushtable.columns import Column
from hushtable.errors import InputError, check_whole
from hushtable.hierarchy import Suppression
from hushtable.io import Frame
from hushtable.kernels import separation, spacing
from hushtable.recoding import CodeRanges, Listed, PublishedIntervals, Recoding, Rounded, Sets, layout
from hushtable.search import Budget, Clock, check_budget, say_if_first_run
from hushtable.tables import Table

__all__ = [
    "Bound",
    "Priced",
    "lay_out_rows",
    "match_prices",
    "ncp_bound",
    "ncp_lower_bound",
    "nearest_shares",
    "prove_prices",
    "raise_prices",
    "release_bound",
    "run_in_batches",
]

_ROWS_PER_BATCH: Final = 128  # rows between two looks at the clock
_RUNS_PER_SQRT_ROWS: Final = 4  # runs of rows for each square root of rows: a few rows in each
_START_FACTOR: Final = 1.8  # how far above what the nearest cost prices begin
_NODES_OF_FIRST_PROOF, _NODES_OF_LAST_PROOF = 64, 1000  # nodes of a row: of the first proof, and of the last one
# Nodes of a row in a sweep: many sweeps raise prices, the last ones see what they miss.
_NODES_OF_EARLY_SWEEP, _NODES_OF_LATE_SWEEP = 14, 40
_MAX_SWEEPS: Final = 300  # of a small table, which more of them would not help
_SHARE_OF_EARLY_SWEEPS: Final = 0.6  # the share of the time for sweeps that the early ones take
# What a record's price rises by in the first and last sweep, in mean prices.
_STEPS_IN_MEAN_PRICES: Final = (0.25, 0.01)
# After a sweep, prices settle among the classes that are known: in such parts of its step, the last ones only lower.
_PARTS_OF_STEP: Final = np.append(np.geomspace(1.0, 0.1, 30), np.zeros(3))
_RESERVE_PER_FIRST_PROOF: Final = 25.0  # how much longer than the first proof the last ones may take
_MAX_RESERVED_SHARE: Final = 0.5  # of the budget, for the last proofs
_PROOFS_WITHOUT_BUDGET: Final = 4  # how many times the nodes of the first proof are spent where no budget was given
# The last proofs: how much of the way from prices that are proven to those that are hoped for, with how many nodes
# a row, and until which share of the time that is left for them.
_PROOFS: Final = ((0.7, 300, 0.5), (1.0, _NODES_OF_LAST_PROOF, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Prices that are proven."""

    prices: FloatArray  # (n_rows,), of one record of each row
    nodes: int  # search nodes settled
    complete: bool  # whether nothing was left out because a budget ended


def lay_out_rows(table: Table, names: Sequence[str]) -> tuple[spacing.SpacedRows, CountArray]:
    """Lay out distinct rows for the kernels; return them, and which of the table's rows each is."""
    axes = layout.lay_out(table, names, {}, {})
    codes, n_rows = layout.places_of_rows(table, axes), table.n_rows
    positions = np.zeros((len(axes), max(axis.n_places for axis in axes)))
    for j, axis in enumerate(axes):
        positions[j, : axis.n_places] = axis.positions
    mean_distances = []
    for j, axis in enumerate(axes):
        shares = np.bincount(codes[:, j], minlength=axis.n_places) / n_rows
        is_same = float(shares @ shares)
        spread = float(np.sqrt(np.cov(positions[j, : axis.n_places], aweights=shares, ddof=0)))
        mean_distances.append(spread if axis.is_ordered else 2 * (1 - is_same) / axis.domain)
    # The most distinctive columns first: runs of rows that are equal in them are skipped at once.
    first = np.argsort(mean_distances, kind="stable")[::-1]
    order = np.lexsort(codes[:, first[::-1]].T)
    codes = np.ascontiguousarray(codes[order][:, first])
    is_new = np.arange(n_rows) == 0
    starts, n_leading = np.array([0, n_rows]), 0
    for j in range(len(axes)):
        is_new[1:] |= codes[1:, j] != codes[:-1, j]
        if is_new.sum() > _RUNS_PER_SQRT_ROWS * np.sqrt(n_rows):
            break
        starts, n_leading = np.append(np.flatnonzero(is_new), n_rows), j + 1
    laid_out = [axes[j] for j in first.tolist()]
    rows = spacing.SpacedRows(
        codes,
        table.counts[order],
        np.array([axis.is_ordered for axis in laid_out]),
        positions[first],
        1.0 / np.array([axis.domain for axis in laid_out]),
        np.cumsum([0, *(axis.n_places for axis in laid_out)]),
        starts,
        n_leading,
    )
    return rows, order


def nearest_shares(rows: spacing.SpacedRows, k: int, clock: Clock) -> FloatArray:
    """Return each row's summed share with the farthest of its k nearest records; 0 where the clock was over."""
    shares = np.zeros(len(rows.counts))
    kept, distances = np.empty(k, dtype=np.int32), np.empty(k)
    run_in_batches(
        lambda run: spacing.measure_kth_distances(rows, k, kept, distances, run, shares),
        len(shares),
        lambda: clock.left <= 0,
    )
    return shares


def raise_prices(rows: spacing.SpacedRows, k: int, clock: Clock) -> Priced:
    """Return the best prices that are found within a budget; without one, within some times the nodes of one proof.

    Prices begin above what the k nearest cost and are lowered until they are proven. What is left of the budget goes
    to sweeps that raise every price by a step, and lower the prices of the members of each class that is found to
    exceed its cost; the steps fall, and the last part of the budget goes to proofs. The farther prices lie above the
    proven ones, the longer a proof takes: so prices on the way are proven first, and the best of all proofs is kept.
    """
    say_if_first_run(separation.lower_prices, 15)
    search = _PriceSearch(rows, k, clock)
    near = nearest_shares(rows, k, clock)
    if search.done >= 1:
        return Priced(near, 0, complete=False)
    best = max(near, search.prove_prices(_START_FACTOR * near, _NODES_OF_FIRST_PROOF), key=search.sum_prices)
    if clock.budget == Budget():
        search.most_nodes = _PROOFS_WITHOUT_BUDGET * max(1, search.nodes)
    first = search.done
    prices, until = best.copy(), 1 - min(_MAX_RESERVED_SHARE, _RESERVE_PER_FIRST_PROOF * first)
    mean, began = search.sum_prices(best) / float(rows.counts.sum()), search.done
    for n_done in range(_MAX_SWEEPS):
        if search.done >= until:
            break
        share = max((search.done - began) / (until - began), n_done / _MAX_SWEEPS)
        step = mean * _STEPS_IN_MEAN_PRICES[0] * (_STEPS_IN_MEAN_PRICES[1] / _STEPS_IN_MEAN_PRICES[0]) ** share
        search.sweep_prices(
            prices, step, _NODES_OF_EARLY_SWEEP if share < _SHARE_OF_EARLY_SWEEPS else _NODES_OF_LATE_SWEEP, until
        )
        search.settle_prices(prices, step)
    began = search.done
    for share, n_nodes, end in _PROOFS:
        if search.done >= 1:
            break
        proven = search.prove_prices(best + share * (prices - best), n_nodes, began + end * (1 - began))
        best = max(best, proven, key=search.sum_prices)
    return Priced(best, search.nodes, complete=clock.budget == Budget())


def prove_prices(rows: spacing.SpacedRows, k: int, prices: FloatArray, clock: Clock) -> Priced:
    """Lower prices until no class exceeds its cost by them."""
    search = _PriceSearch(rows, k, clock)
    proven = search.prove_prices(prices, _NODES_OF_LAST_PROOF)
    return Priced(proven, search.nodes, complete=search.done < 1)


class _PriceSearch:
    """The state of a search, which its passes share."""

    def __init__(self, rows: spacing.SpacedRows, k: int, clock: Clock) -> None:
        self.rows, self.k, self.clock = rows, k, clock
        self.most_nodes = clock.budget.nodes
        self.scratch = _build_scratch(rows)
        self.known = separation.allocate_classes(len(rows.counts))

    @property
    def nodes(self) -> int:
        return int(self.scratch.sizes[2])

    @property
    def done(self) -> float:
        """The share of the budget that is used up."""
        budget = self.clock.budget
        by_time = 0.0 if budget.seconds is None else self.clock.spent / budget.seconds
        return max(by_time, 0.0 if self.most_nodes is None else self.nodes / self.most_nodes)

    def sum_prices(self, prices: FloatArray) -> float:
        return float(prices @ self.rows.counts)

    def prove_prices(self, prices: FloatArray, n_nodes: int, until: float = 1.0) -> FloatArray:
        """Return feasible prices that are no higher than those given.

        The highest prices come last and are hardest to prove: where time runs ahead of the rows, a row is given few
        nodes, so that some are left for all; once the budget is over, one.
        """
        # A class of equal rows costs nothing.
        lowered = np.where(self.rows.counts >= self.k, np.minimum(prices, 0.0), prices)
        order = np.argsort(lowered, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        began = self.done

        def certify_run(run: tuple[int, int]) -> None:
            is_late = self.done - began > (until - began) * run[1] / len(order)
            most = 1 if self.done >= 1 else _NODES_OF_FIRST_PROOF if is_late else n_nodes
            limits = separation.SearchLimits(self.k, min(n_nodes, most))
            separation.lower_prices(self.rows, self.scratch, limits, order, rank, run, lowered)

        run_in_batches(certify_run, len(order), lambda: False)
        return lowered

    def sweep_prices(self, prices: FloatArray, step: float, n_nodes: int, until: float) -> None:
        """Raise every price once and lower those of dear classes, the highest prices first."""
        order = np.argsort(-prices, kind="stable")
        limits = separation.SearchLimits(self.k, n_nodes)
        run_in_batches(
            lambda run: separation.raise_prices(self.rows, self.scratch, limits, order, run, step, prices, self.known),
            len(order),
            lambda: self.done >= until,
        )
        # A row of k records is a class that costs nothing.
        prices[self.rows.counts >= self.k] = 0.0

    def settle_prices(self, prices: FloatArray, step: float) -> None:
        """Raise every price by a step at most, as far as the classes that are known allow."""
        ceilings = prices + step * self.rows.counts
        separation.settle_prices(self.known, self.rows.counts, self.k, step * _PARTS_OF_STEP, ceilings, prices)


def run_in_batches(work: Callable[[tuple[int, int]], None], n_rows: int, is_over: Callable[[], bool]) -> None:
    """Work on runs of rows, one after the other, until there are none left or the clock is over."""
    for begin in range(0, n_rows, _ROWS_PER_BATCH):
        if is_over():
            break
        work((begin, min(n_rows, begin + _ROWS_PER_BATCH)))


def _build_scratch(rows: spacing.SpacedRows) -> separation.SeparationScratch:
    n_rows, n_columns = rows.codes.shape
    n_places = int(rows.begins[-1])

    def zero_codes(n: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.zeros(n, dtype=np.int32)

    return separation.SeparationScratch(
        rows=zero_codes(n_rows),
        copies=np.zeros(n_rows, dtype=np.int64),
        shares=np.zeros(n_rows),
        order=zero_codes(n_rows),
        bucket_of=zero_codes(n_rows),
        buckets=zero_codes(separation.N_BUCKETS + 2),
        heap_prices=np.zeros(n_rows),
        heap=zero_codes(n_rows),
        heap_copies=np.zeros(n_rows, dtype=np.int64),
        low=zero_codes(n_columns),
        high=zero_codes(n_columns),
        first=zero_codes(n_columns),
        last=zero_codes(n_columns),
        n_in_box=zero_codes(n_columns),
        in_box=np.zeros(n_places, dtype=bool),
        barred=np.zeros(n_places, dtype=bool),
        n_seen=zero_codes(n_places),
        chosen=zero_codes(n_rows),
        n_taken=np.zeros(n_rows, dtype=np.int64),
        best=zero_codes(n_rows),
        n_best_taken=np.zeros(n_rows, dtype=np.int64),
        nodes=np.zeros(_NODES_OF_LAST_PROOF + 2, dtype=separation.NODE),
        sizes=np.zeros(3, dtype=np.int64),
    )


_NEIGHBOURS_PER_ROW: Final = 24  # rows that a row may be matched with, at first
# Records of a row that may be partners of any number of others: those that are left still form classes.
_MIN_RECORDS_OF_FREE_ROW: Final = 4
_MAX_PAIRS: Final = 200_000  # dear pairs that are added in a round
_MAX_ROUNDS: Final = 6
_MAX_TIME_PER_STEP_BEFORE: Final = 1.5  # how much longer than the step before it an assignment may take
_PRICE_MARGIN: Final = 1e-6  # by which prices may exceed a cost before a pair is dear
_COST_UNITS: Final = 2.0**24  # what costs are counted in


def match_prices(rows: spacing.SpacedRows, clock: Clock) -> Priced:
    """Return prices that no class of two records or more exceeds its cost by.

    Three records publish at least half of what their three pairs do together, so pairs suffice. The highest sum of
    such prices is the cost of the cheapest fractional perfect matching: half that of an assignment of records to other
    records, which SciPy's Jonker-Volgenant finds among the nearest; its prices are shortest distances in the residual
    graph. Pairs that they leave too dear are added, and it is solved again. A row of four records or more is given the
    price 0.

    An assignment runs to its end: none is begun that may take longer than what is left of the budget, by how long the
    one before took. Without one, a record pays what its nearest costs.
    """
    n_rows = len(rows.counts)
    near = nearest_shares(rows, 2, clock)
    began = clock.spent
    nearest, distances = (
        np.full((n_rows, _NEIGHBOURS_PER_ROW), -1, dtype=np.int32),
        np.empty((n_rows, _NEIGHBOURS_PER_ROW)),
    )
    run_in_batches(lambda run: spacing.find_nearest(rows, nearest, distances, run), n_rows, lambda: clock.left <= 0)
    if clock.left < _MAX_TIME_PER_STEP_BEFORE * (clock.spent - began):
        return Priced(near, 0, complete=False)
    is_known = nearest >= 0
    pairs = np.column_stack([np.repeat(np.arange(n_rows), is_known.sum(axis=1)), nearest[is_known]])
    pair_distances = distances[is_known]
    dear, between = np.empty((_MAX_PAIRS, 2), dtype=np.int32), np.empty(_MAX_PAIRS)
    for _ in range(_MAX_ROUNDS):
        began = clock.spent
        prices = _matching_prices(rows, pairs, pair_distances)
        n_dear = spacing.find_overpriced_pairs(rows, prices, _PRICE_MARGIN, (0, n_rows), dear, between)
        if n_dear == 0 or clock.left < _MAX_TIME_PER_STEP_BEFORE * (clock.spent - began):
            break
        n_dear = min(n_dear, _MAX_PAIRS)
        pairs, pair_distances = np.concatenate([pairs, dear[:n_dear]]), np.append(pair_distances, between[:n_dear])
    proven = prove_prices(rows, 2, prices, clock)
    return max(Priced(near, 0, complete=False), proven, key=lambda each: float(each.prices @ rows.counts))


def _matching_prices(rows: spacing.SpacedRows, pairs: CodeArray | CountArray, pair_distances: FloatArray) -> FloatArray:
    """Return the prices of an optimal fractional matching over some pairs of rows."""
    n_rows, counts = len(rows.counts), rows.counts
    is_free = counts >= _MIN_RECORDS_OF_FREE_ROW
    # An edge to itself, at the cost of everything, twice, or of a free row: so each has something to be assigned to.
    alone = np.full(n_rows, 2.0 * len(rows.unit))
    for side, opposite in ((0, 1), (1, 0)):
        to_free = is_free[pairs[:, opposite]]
        np.minimum.at(alone, pairs[to_free, side], 2 * pair_distances[to_free])
    copies = np.where(is_free, 0, counts)
    begin = np.cumsum(copies) - copies
    row_of = np.repeat(np.arange(n_rows), copies)
    keys = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    kept = keys[1][~is_free[keys[0]].any(axis=1)]
    first, second, cost = pairs[kept, 0], pairs[kept, 1], 2 * pair_distances[kept]
    edges = [(np.arange(len(row_of)), np.arange(len(row_of)), 2 * alone[row_of])]
    for i in range(_MIN_RECORDS_OF_FREE_ROW - 1):
        for j in range(_MIN_RECORDS_OF_FREE_ROW - 1):
            is_copied = (copies[first] > i) & (copies[second] > j)
            a, b = begin[first[is_copied]] + i, begin[second[is_copied]] + j
            edges += [(a, b, cost[is_copied]), (b, a, cost[is_copied])]
            own = np.flatnonzero(copies > max(i, j)) if i != j else np.empty(0, dtype=np.int64)
            edges.append((begin[own] + i, begin[own] + j, np.zeros(len(own))))
    by_copy = _assignment_prices(len(row_of), *(np.concatenate(each) for each in zip(*edges, strict=True)))
    sums = np.bincount(row_of, weights=by_copy, minlength=n_rows)
    return np.asarray(sums / np.maximum(1, copies))


def _assignment_prices(n: int, left: CountArray, right: CountArray, costs: FloatArray) -> FloatArray:
    """Return half the sum of each record's two prices in the cheapest assignment of right records to left ones."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if n == 0:
        return np.empty(0)
    # Whole numbers: with rounded sums the algorithm goes round in circles. A cost of 0 would be no edge, hence + 1.
    costs = np.floor(costs * _COST_UNITS)
    graph: Any = csr_matrix((costs + 1.0, (left, right)), shape=(n, n))
    assigned = np.empty(n, dtype=np.int64)
    ones, others = min_weight_full_bipartite_matching(graph)
    assigned[ones] = others
    order = np.argsort(right, kind="stable")
    left, right, costs = left[order], right[order], costs[order]
    paid = np.empty(n)
    is_assigned = assigned[left] == right
    paid[left[is_assigned]] = costs[is_assigned]
    starts = np.searchsorted(right, np.arange(n))
    slack, source = costs - paid[left], assigned[left]
    prices = np.zeros(n)
    for _ in range(n):
        lower = np.minimum.reduceat(prices[source] + slack, starts)
        if not (lower < prices).any():
            break
        prices = np.minimum(prices, lower)
    return np.asarray((paid - prices[assigned] + prices) / 2 / _COST_UNITS)


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A set-NCP that no release of all records in classes of k or more goes below."""

    value: float  # in [0, 1]
    # (n_rows,), what each record of a row has to pay at least, in shares of columns: no class of k records or more
    # costs less than its members' prices. They say who is unlike all others, and are in no repr.
    prices: FloatArray = field(repr=False)
    k: int
    columns: tuple[str, ...]  # the quasi-identifiers
    n_records: int
    nodes: int  # search nodes settled
    seconds: float  # Wall-clock time
    # The prices as others can check them: see `hushtable.check_certificate`. It is its owner's alone.
    certificate: Certificate = field(repr=False)

    def __post_init__(self) -> None:
        freeze_array(self.prices)

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as plain values, without a price."""
        names = ("value", "k", "n_records", "nodes", "seconds")
        return {**{name: getattr(self, name) for name in names}, "columns": list(self.columns)}


def ncp_bound(
    data: Any, quasi_identifiers: Sequence[str], k: int, budget: Budget | None = None, *, suppresses: bool = False
) -> Bound:
    """Return a proven floor under the set-NCP of every release, with the prices that prove it.

    Every record is given a price, so that no class of k records or more costs less than the prices of its members;
    then no release costs less than all prices together.

    Parameters
    ----------
    data : path, dataframe or Table
    quasi_identifiers : sequence of str
        Without hierarchies or grids, which only publish more.
    k : int
    budget : Budget, optional
        Without one four times the nodes of the first proof, reproducible, seconds for 20,000 rows (k = 50: half a
        minute). The floor rises with the budget; one in nodes is reproducible. For k = 2 there is nothing to raise: a
        budget in seconds that is too short for a matching gives the floor of `ncp_lower_bound`.
    suppresses : bool
        Records may be left out instead, each at the cost of 1 in every column: no price is above that.

    Raises
    ------
    InputError
        There are fewer than k records.

    Notes
    -----
    For k = 2 the best prices are those of a fractional perfect matching. For larger k they are found by ascent and
    proven by branch and bound over what a class's cells span; see ``docs/how_far.md``. Prices of a class's members
    alone bound the linear relaxation of set partitioning: the floor may stay below the best release.

    Examples
    --------
    >>> import polars as pl
    >>> bound = ncp_bound(pl.DataFrame({"age": [20, 30, 60, 62]}), ["age"], 2)
    >>> round(bound.value, 6), bound.prices.round(6).tolist()
    (0.142857, [0.238095, 0.238095, 0.047619, 0.047619])
    """
    clock, names, table, inverse = _prepare_rows(data, quasi_identifiers, k, budget)
    rows, order = lay_out_rows(table, names)
    if k == 1:
        priced = Priced(np.zeros(table.n_rows), 0, complete=True)
    else:
        priced = match_prices(rows, clock) if k == 2 else raise_prices(rows, k, clock)
    of_rows = np.empty(table.n_rows)
    of_rows[order] = np.minimum(priced.prices, len(names)) if suppresses else priced.prices
    certificate = build_certificate([table.column(name) for name in names], k, table.counts.tolist(), of_rows.tolist())
    value = float(certificate.entries["sum"]) / table.n_records / len(names)
    return Bound(value, of_rows[inverse], k, names, table.n_records, priced.nodes, clock.spent, certificate)


def release_bound(
    source: Frame | Table, claim: ClaimOnColumns, recoding: Recoding, *, is_set_ncp: bool, budget: Budget | None
) -> Bound:
    """Return the floor under the loss of a release; InputError where none is known, as `Release.with_bound` says."""
    sizes = [model.min_size for model in claim.models if not model.needs.population]
    covers = all(_costs_no_less(*pair) for pair in zip(recoding.columns, recoding.cells, strict=True))
    if not is_set_ncp or not covers or not sizes or isinstance(claim, (Combinations, Matchings)):
        raise InputError(
            "no lower bound of the loss of this release is known.",
            hint="there is one under loss='ncp' without weights and models that ask for k. Cells must be intervals and "
            "lists of values (recoding='tight', or 'readable' if no grid is coarser than the values).",
        )
    table = Table.encode(source, claim.columns, claim.specs)
    return ncp_bound(table, claim.columns, max(sizes), budget, suppresses=True)


def _costs_no_less(column: Column, cell: Any) -> bool:
    """Tell whether what classes publish in a column costs no less than the interval or set of what they hold."""
    if column.by_rank:
        return False
    if not column.is_ordered:
        # A group by frequency has the share of its values, as a list has; what came with a hierarchy may have another.
        is_own = isinstance(cell, Listed) and (cell.tree.rule is None or isinstance(cell.tree.rule, Suppression))
        return is_own or isinstance(cell, (Sets, CodeRanges))
    if isinstance(cell, Rounded):
        # Where several values share a cell of the grid, telling one from another may cost nothing.
        rounding = cell.rounding
        is_fine = rounding.value_width == 1.0 and len(rounding.cells) == column.n_values
        return is_fine and np.allclose(rounding.cells / rounding.width, column.positions(), rtol=0, atol=1e-12)
    return isinstance(cell, PublishedIntervals)


def ncp_lower_bound(data: Any, quasi_identifiers: Sequence[str], k: int) -> float:
    """Return a set-NCP that no release of all records with classes of k or more goes below, at once.

    A class of k records holds, for each of its records, one that is no nearer than the
    record's k-th nearest (itself the first), and publishes in every column at least what
    the two differ by. The bound is the mean of that over the records; `ncp_bound` proves higher ones.

    Parameters
    ----------
    data, quasi_identifiers, k
        As in `ncp_bound`.

    Notes
    -----
    O(m^2 d) at worst for m distinct rows and d columns: a second for 20,000 rows.

    Examples
    --------
    >>> import polars as pl
    >>> ncp_lower_bound(pl.DataFrame({"age": [20, 30, 60]}), ["age"], 2)
    0.4166666666666667
    """
    clock, names, table, _ = _prepare_rows(data, quasi_identifiers, k, None)
    rows, _ = lay_out_rows(table, names)
    return float(nearest_shares(rows, k, clock) @ rows.counts / table.n_records / len(names))


def _prepare_rows(data: Any, quasi_identifiers: Sequence[str], k: int, budget: Budget | None) -> Any:
    check_whole("k", k, 1)
    if budget is not None:
        check_budget(budget)
    clock, names = Clock(budget or Budget()), tuple(quasi_identifiers)
    table, inverse = Table.encode(data, names).collapse()
    if table.n_records < k:
        raise InputError(f"{table.n_records} records have no class of k = {k}.", hint="ask for a lower k.")
    return clock, names, table, inverse
