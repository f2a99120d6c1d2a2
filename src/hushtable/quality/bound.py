"""A proven floor under the set-NCP of every k-anonymous release, and the prices that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable._types import FloatArray, frozen
from hushtable.claims import Certificate, Classes, Matchings, certify
from hushtable.columns import Column
from hushtable.errors import InputError, check_whole, with_hint
from hushtable.hierarchy import Suppression
from hushtable.io import Frame
from hushtable.quality import dual_prices, matching
from hushtable.recoding import Intervals, Listed, Recoding, Rounded, Sets
from hushtable.search import Budget, Clock, check_budget
from hushtable.tables import Table

__all__ = ["Bound", "ncp_bound", "ncp_lower_bound", "release_bound"]


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A set-NCP that no release of all records in classes of k or more goes below.

    Attributes
    ----------
    value : float
        In [0, 1].
    prices : ndarray of float64, shape (n_rows,)
        What each record of a row has to pay at least, in shares of columns: no class of k records or more costs
        less than its members' prices. They say who is unlike all others, and are in no repr.
    k : int
    columns : tuple of str
        The quasi-identifiers.
    n_records : int
    nodes : int
        Search nodes settled.
    seconds : float
        Wall-clock time.
    certificate : Certificate
        The prices as others can check them: see `hushtable.check_certificate`. It is its owner's alone.
    """

    value: float
    prices: FloatArray = field(repr=False)
    k: int
    columns: tuple[str, ...]
    n_records: int
    nodes: int
    seconds: float
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

    Returns
    -------
    Bound

    Raises
    ------
    InputError
        There are fewer than k records.

    Notes
    -----
    For k = 2 the best prices are those of a fractional perfect matching. For larger k they are
    found by ascent and proven by branch and bound over what a class's cells span; see ``docs/how_far.md``.
    Prices of a class's members alone bound the linear relaxation of set partitioning: the floor may
    stay below the best release.

    Examples
    --------
    >>> import polars as pl
    >>> bound = ncp_bound(pl.DataFrame({"age": [20, 30, 60, 62]}), ["age"], 2)
    >>> round(bound.value, 6), bound.prices.round(6).tolist()
    (0.142857, [0.238095, 0.238095, 0.047619, 0.047619])
    """
    clock, names, table, inverse = _begin(data, quasi_identifiers, k, budget)
    rows, order = dual_prices.lay_out(table, names)
    if k == 1:
        found = dual_prices.Priced(np.zeros(table.n_rows), 0, complete=True)
    else:
        found = matching.matched(rows, clock) if k == 2 else dual_prices.raised(rows, k, clock)
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
        msg = with_hint(
            "no floor is known under the loss of this release.",
            "there is one under loss='ncp' without weights, of intervals and lists of values (recoding='tight', or "
            "'readable' where no grid is coarser than the values) and models that ask for k.",
        )
        raise InputError(msg)
    table = Table.encode(source, claim.columns, claim.specs)
    return ncp_bound(table, claim.columns, max(sizes), budget, suppresses=True)


def _costs_no_less(column: Column, cell: Any) -> bool:
    """Tell whether what classes publish in a column costs no less than the interval or set of what they hold."""
    if column.by_rank:
        return False
    if not column.is_ordered:
        # A group by frequency has the share of its values, as a list has; what came with a hierarchy may have another.
        is_own = isinstance(cell, Listed) and (cell.tree.rule is None or isinstance(cell.tree.rule, Suppression))
        return is_own or isinstance(cell, Sets)
    if isinstance(cell, Rounded):
        # Where several values share a cell of the grid, telling one from another may cost nothing.
        rounding = cell.rounding
        is_fine = rounding.value_width == 1.0 and len(rounding.cells) == column.n_values
        return is_fine and np.allclose(rounding.cells / rounding.width, column.positions(), rtol=0, atol=1e-12)
    return isinstance(cell, Intervals)


def ncp_lower_bound(data: Any, quasi_identifiers: Sequence[str], k: int) -> float:
    """Return a set-NCP that no release of all records with classes of k or more goes below, at once.

    A class of k records holds, for each of its records, one that is no nearer than the
    record's k-th nearest (itself the first), and publishes in every column at least what
    the two differ by. The bound is the mean of that over the records; `ncp_bound` proves higher ones.

    Parameters
    ----------
    data : path, dataframe or Table
    quasi_identifiers : sequence of str
        Without hierarchies or grids, which only publish more.
    k : int

    Returns
    -------
    bound : float
        In [0, 1].

    Raises
    ------
    InputError
        There are fewer than k records.

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
    rows, _ = dual_prices.lay_out(table, names)
    return float(dual_prices.nearest_shares(rows, k, clock) @ rows.counts / table.n_records / len(names))


def _begin(data: Any, quasi_identifiers: Sequence[str], k: int, budget: Budget | None) -> Any:
    check_whole("k", k, 1)
    if budget is not None:
        check_budget(budget)
    clock, names = Clock(budget or Budget()), tuple(quasi_identifiers)
    table, inverse = Table.encode(data, names).collapse()
    if table.n_records < k:
        msg = with_hint(f"{table.n_records} records have no class of k = {k}.", "ask for a lower k.")
        raise InputError(msg)
    return clock, names, table, inverse
