"""A proven floor under the set-NCP of every k-anonymous release: prices of rows that no class of k undercuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, frozen
from hushtable.claims import Certificate, Classes, Matchings, certify
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
    "in_turn",
    "lay_out",
    "matched",
    "ncp_bound",
    "ncp_lower_bound",
    "nearest_shares",
    "proven",
    "raised",
    "release_bound",
]

_TOGETHER: Final = 128  # rows between two looks at the clock
_GROUPS: Final = 4  # runs of rows for each square root of rows: a few rows in each
_FIRST: Final = 1.8  # how far above what the nearest cost prices begin
_QUICK, _THOROUGH = 64, 1000  # nodes of a row: of the first proof, and of the last one
_SWEEPING, _CLOSING = 14, 100  # nodes of a row in a sweep: many sweeps raise prices, the last ones see what they miss
_MOST_SWEEPS: Final = 300  # of a small table, which more of them would not help
_ROUGH: Final = 0.6  # the share of the time for sweeps that the rough ones take
_STEPS: Final = (0.25, 0.01)  # what a record's price rises by in the first and last sweep, in mean prices
_RESERVE: Final = 25.0  # how much longer than the first proof the last ones may take
_MOST_RESERVED: Final = 0.5
_UNASKED: Final = 4  # how many times the nodes of the first proof are spent where no budget was given
# The last proofs: how much of the way from prices that are proven to those that are hoped for, with how many nodes
# a row, and until which share of the time that is left for them.
_PROOFS: Final = ((0.7, 300, 0.5), (1.0, _THOROUGH, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """Prices that are proven."""

    prices: FloatArray  # (n_rows,), of one record of each row
    nodes: int  # search nodes settled
    complete: bool  # whether nothing was left out because a budget ended


def lay_out(table: Table, names: Sequence[str]) -> tuple[spacing.SpacedRows, CountArray]:
    """Lay out distinct rows for the kernels; return with them which of the table's rows each is."""
    axes = layout.lay_out(table, names, {}, {})
    places, n_rows = layout.places(table, axes), table.n_rows
    positions = np.zeros((len(axes), max(axis.n_places for axis in axes)))
    for j, axis in enumerate(axes):
        positions[j, : axis.n_places] = axis.positions
    apart = []
    for j, axis in enumerate(axes):
        shares = np.bincount(places[:, j], minlength=axis.n_places) / n_rows
        is_same = float(shares @ shares)
        spread = float(np.sqrt(np.cov(positions[j, : axis.n_places], aweights=shares, ddof=0)))
        apart.append(spread if axis.is_ordered else 2 * (1 - is_same) / axis.domain)
    first = np.argsort(apart, kind="stable")[::-1]
    order = np.lexsort(places[:, first[::-1]].T)
    places = np.ascontiguousarray(places[order][:, first])
    is_new = np.arange(n_rows) == 0
    starts, n_leading = np.array([0, n_rows]), 0
    for j in range(len(axes)):
        is_new[1:] |= places[1:, j] != places[:-1, j]
        if is_new.sum() > _GROUPS * np.sqrt(n_rows):
            break
        starts, n_leading = np.append(np.flatnonzero(is_new), n_rows), j + 1
    laid_out = [axes[j] for j in first.tolist()]
    rows = spacing.SpacedRows(
        places,
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
    in_turn(lambda run: spacing.nearest(rows, k, kept, distances, run, shares), len(shares), lambda: clock.left <= 0)
    return shares


def raised(rows: spacing.SpacedRows, k: int, clock: Clock) -> Priced:
    """Return the best prices that are found within a budget; without one, within some times the nodes of one proof.

    Prices begin above what the k nearest cost and are lowered until they are proven. What is left of the budget goes
    to sweeps that raise every price by a step, and lower the prices of the members of each class that is found to
    exceed its cost; the steps fall, and the last part of the budget goes to proofs. The farther prices lie above the
    proven ones, the longer a proof takes: so prices on the way are proven first, and the best of all proofs is kept.
    """
    say_if_first_run(separation.certify, 15)
    search = _PriceSearch(rows, k, clock)
    near = nearest_shares(rows, k, clock)
    if search.done >= 1:
        return Priced(near, 0, complete=False)
    best = max(near, search.proven(_FIRST * near, _QUICK), key=search.sum)
    if clock.budget == Budget():
        search.most_nodes = _UNASKED * max(1, search.nodes)
    first = search.done
    prices, until = best.copy(), 1 - min(_MOST_RESERVED, _RESERVE * first)
    mean, began = search.sum(best) / float(rows.counts.sum()), search.done
    for n_done in range(_MOST_SWEEPS):
        if search.done >= until:
            break
        share = max((search.done - began) / (until - began), n_done / _MOST_SWEEPS)
        step = mean * _STEPS[0] * (_STEPS[1] / _STEPS[0]) ** share
        search.sweep(prices, step, _SWEEPING if share < _ROUGH else _CLOSING, until)
    began = search.done
    for share, n_nodes, end in _PROOFS:
        if search.done >= 1:
            break
        found = search.proven(best + share * (prices - best), n_nodes, began + end * (1 - began))
        best = max(best, found, key=search.sum)
    return Priced(best, search.nodes, complete=clock.budget == Budget())


def proven(rows: spacing.SpacedRows, k: int, prices: FloatArray, clock: Clock) -> Priced:
    """Lower prices until no class exceeds its cost by them."""
    search = _PriceSearch(rows, k, clock)
    found = search.proven(prices, _THOROUGH)
    return Priced(found, search.nodes, complete=search.done < 1)


class _PriceSearch:
    """What the passes of one search share."""

    def __init__(self, rows: spacing.SpacedRows, k: int, clock: Clock) -> None:
        self.rows, self.k, self.clock = rows, k, clock
        self.most_nodes = clock.budget.nodes
        self.scratch = _scratch(rows)

    @property
    def nodes(self) -> int:
        return int(self.scratch.sizes[2])

    @property
    def done(self) -> float:
        """The share of the budget that is used up."""
        budget = self.clock.budget
        by_time = 0.0 if budget.seconds is None else self.clock.spent / budget.seconds
        return max(by_time, 0.0 if self.most_nodes is None else self.nodes / self.most_nodes)

    def sum(self, prices: FloatArray) -> float:
        return float(prices @ self.rows.counts)

    def proven(self, prices: FloatArray, n_nodes: int, until: float = 1.0) -> FloatArray:
        """Return feasible prices that are no higher than those given.

        The highest prices come last and are dearest to prove: where time runs ahead of the rows, a row is given few
        nodes, so that something is left for all; once the budget is over, one.
        """
        # A class of equal rows costs nothing.
        lowered = np.where(self.rows.counts >= self.k, np.minimum(prices, 0.0), prices)
        order = np.argsort(lowered, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        began = self.done

        def certify(run: tuple[int, int]) -> None:
            is_late = self.done - began > (until - began) * run[1] / len(order)
            most = 1 if self.done >= 1 else _QUICK if is_late else n_nodes
            limits = separation.SearchLimits(self.k, min(n_nodes, most))
            separation.certify(self.rows, self.scratch, limits, order, rank, run, lowered)

        in_turn(certify, len(order), lambda: False)
        return lowered

    def sweep(self, prices: FloatArray, step: float, n_nodes: int, until: float) -> None:
        """Raise every price once and lower those of dear classes, the highest prices first."""
        order = np.argsort(-prices, kind="stable")
        limits = separation.SearchLimits(self.k, n_nodes)
        in_turn(
            lambda run: separation.raise_prices(self.rows, self.scratch, limits, order, run, step, prices),
            len(order),
            lambda: self.done >= until,
        )
        # What is known of a row of k records is that it costs nothing.
        prices[self.rows.counts >= self.k] = 0.0


def in_turn(work: Callable[[tuple[int, int]], None], n_rows: int, is_over: Callable[[], bool]) -> None:
    """Work on runs of rows, one after the other, until there are none left or the clock is over."""
    for begin in range(0, n_rows, _TOGETHER):
        if is_over():
            break
        work((begin, min(n_rows, begin + _TOGETHER)))


def _scratch(rows: spacing.SpacedRows) -> separation.SeparationScratch:
    n_rows, n_columns = rows.places.shape
    n_places = int(rows.begins[-1])

    def codes(n: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.zeros(n, dtype=np.int32)

    return separation.SeparationScratch(
        rows=codes(n_rows),
        copies=np.zeros(n_rows, dtype=np.int64),
        shares=np.zeros(n_rows),
        order=codes(n_rows),
        bucket_of=codes(n_rows),
        buckets=codes(separation.N_BUCKETS + 2),
        heap_prices=np.zeros(n_rows),
        heap=codes(n_rows),
        heap_copies=np.zeros(n_rows, dtype=np.int64),
        low=codes(n_columns),
        high=codes(n_columns),
        first=codes(n_columns),
        last=codes(n_columns),
        n_held=codes(n_columns),
        held=np.zeros(n_places, dtype=bool),
        barred=np.zeros(n_places, dtype=bool),
        seen=codes(n_places),
        chosen=codes(n_rows),
        taken=np.zeros(n_rows, dtype=np.int64),
        best=codes(n_rows),
        best_taken=np.zeros(n_rows, dtype=np.int64),
        nodes=np.zeros(_THOROUGH + 2, dtype=separation.NODE),
        sizes=np.zeros(3, dtype=np.int64),
    )


_NEAREST: Final = 24  # rows that a row may be matched with, at first
_FREE: Final = 4  # records of a row that serve as many others as want them: what is left of them still forms classes
_MOST_PAIRS: Final = 200_000
_ROUNDS: Final = 6
_LONGER: Final = 1.5  # how much longer than the step before it an assignment may take
_MARGIN: Final = 1e-6
_WHOLE: Final = 2.0**24  # what costs are counted in


def matched(rows: spacing.SpacedRows, clock: Clock) -> Priced:
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
    nearest, distances = np.full((n_rows, _NEAREST), -1, dtype=np.int32), np.empty((n_rows, _NEAREST))
    in_turn(lambda run: spacing.neighbours(rows, nearest, distances, run), n_rows, lambda: clock.left <= 0)
    if clock.left < _LONGER * (clock.spent - began):
        return Priced(near, 0, complete=False)
    is_known = nearest >= 0
    pairs = np.column_stack([np.repeat(np.arange(n_rows), is_known.sum(axis=1)), nearest[is_known]])
    apart = distances[is_known]
    dear, between = np.empty((_MOST_PAIRS, 2), dtype=np.int32), np.empty(_MOST_PAIRS)
    for _ in range(_ROUNDS):
        began = clock.spent
        prices = _prices(rows, pairs, apart)
        n_dear = spacing.dear_pairs(rows, prices, _MARGIN, (0, n_rows), dear, between)
        if n_dear == 0 or clock.left < _LONGER * (clock.spent - began):
            break
        n_dear = min(n_dear, _MOST_PAIRS)
        pairs, apart = np.concatenate([pairs, dear[:n_dear]]), np.append(apart, between[:n_dear])
    found = proven(rows, 2, prices, clock)
    return max(Priced(near, 0, complete=False), found, key=lambda each: float(each.prices @ rows.counts))


def _prices(rows: spacing.SpacedRows, pairs: CodeArray | CountArray, apart: FloatArray) -> FloatArray:
    """Return the prices of an optimal fractional matching over some pairs of rows."""
    n_rows, counts = len(rows.counts), rows.counts
    is_free = counts >= _FREE
    # A record alone never costs more than everything, twice: with that each has something to be assigned to.
    alone = np.full(n_rows, 2.0 * len(rows.unit))
    for one, other in ((0, 1), (1, 0)):
        to_free = is_free[pairs[:, other]]
        np.minimum.at(alone, pairs[to_free, one], 2 * apart[to_free])
    copies = np.where(is_free, 0, counts)
    begin = np.cumsum(copies) - copies
    row_of = np.repeat(np.arange(n_rows), copies)
    keys = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    kept = keys[1][~is_free[keys[0]].any(axis=1)]
    one, other, cost = pairs[kept, 0], pairs[kept, 1], 2 * apart[kept]
    edges = [(np.arange(len(row_of)), np.arange(len(row_of)), 2 * alone[row_of])]
    for i in range(_FREE - 1):
        for j in range(_FREE - 1):
            both = (copies[one] > i) & (copies[other] > j)
            a, b = begin[one[both]] + i, begin[other[both]] + j
            edges += [(a, b, cost[both]), (b, a, cost[both])]
            own = np.flatnonzero(copies > max(i, j)) if i != j else np.empty(0, dtype=np.int64)
            edges.append((begin[own] + i, begin[own] + j, np.zeros(len(own))))
    by_copy = _duals(len(row_of), *(np.concatenate(each) for each in zip(*edges, strict=True)))
    sums = np.bincount(row_of, weights=by_copy, minlength=n_rows)
    return np.asarray(sums / np.maximum(1, copies))


def _duals(n: int, left: CountArray, right: CountArray, costs: FloatArray) -> FloatArray:
    """Return half the sum of the two prices of each, where each left one is assigned a right one at the least cost."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if n == 0:
        return np.empty(0)
    # Whole numbers: where sums are rounded, the algorithm goes round in circles. A cost of 0 would be no edge.
    costs = np.floor(costs * _WHOLE)
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
    return np.asarray((paid - prices[assigned] + prices) / 2 / _WHOLE)


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
        frozen(self.prices)

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
    clock, names, table, inverse = _begin(data, quasi_identifiers, k, budget)
    rows, order = lay_out(table, names)
    if k == 1:
        found = Priced(np.zeros(table.n_rows), 0, complete=True)
    else:
        found = matched(rows, clock) if k == 2 else raised(rows, k, clock)
    of_rows = np.empty(table.n_rows)
    of_rows[order] = np.minimum(found.prices, len(names)) if suppresses else found.prices
    certificate = certify([table.column(name) for name in names], k, table.counts.tolist(), of_rows.tolist())
    value = float(certificate.entries["sum"]) / table.n_records / len(names)
    return Bound(value, of_rows[inverse], k, names, table.n_records, found.nodes, clock.spent, certificate)


def release_bound(
    source: Frame | Table, claim: Classes | Matchings, recoding: Recoding, *, is_set_ncp: bool, budget: Budget | None
) -> Bound:
    """Return the floor under the loss of a release; InputError where none is known, as `Release.with_bound` says."""
    sizes = [model.min_size for model in claim.models if not model.needs.population]
    covers = all(_costs_no_less(*pair) for pair in zip(recoding.columns, recoding.cells, strict=True))
    if not is_set_ncp or not covers or not sizes or isinstance(claim, Matchings):
        raise InputError(
            "no floor is known under the loss of this release.",
            hint="there is one under loss='ncp' without weights, of intervals and lists of values "
            "(recoding='tight', or 'readable' where no grid is coarser than the values) and models that ask for k.",
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
    clock, names, table, _ = _begin(data, quasi_identifiers, k, None)
    rows, _ = lay_out(table, names)
    return float(nearest_shares(rows, k, clock) @ rows.counts / table.n_records / len(names))


def _begin(data: Any, quasi_identifiers: Sequence[str], k: int, budget: Budget | None) -> Any:
    check_whole("k", k, 1)
    if budget is not None:
        check_budget(budget)
    clock, names = Clock(budget or Budget()), tuple(quasi_identifiers)
    table, inverse = Table.encode(data, names).collapse()
    if table.n_records < k:
        raise InputError(f"{table.n_records} records have no class of k = {k}.", hint="ask for a lower k.")
    return clock, names, table, inverse
