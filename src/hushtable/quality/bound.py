"""A proven floor under the set-NCP of every k-anonymous release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hushtable import layout
from hushtable.errors import InputError, with_hint
from hushtable.kernels import bound
from hushtable.table import Table

__all__ = ["ncp_lower_bound"]


def ncp_lower_bound(data: Any, quasi_identifiers: Sequence[str], k: int) -> float:
    """Return a set-NCP that no release of all records with classes of k or more goes below.

    A class of k records holds, for each of its records, one that is no nearer than the
    record's k-th nearest (itself the first), and publishes in every column at least what
    the two differ by. The bound is the mean of that over the records.

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
    O(m^2 d) for m distinct rows and d columns: seconds for 20,000 rows. A relaxation:
    what the k nearest of different records have to do with one another is not used.

    Examples
    --------
    >>> import polars as pl
    >>> ncp_lower_bound(pl.DataFrame({"age": [20, 30, 60]}), ["age"], 2)
    0.4166666666666667
    """
    names = tuple(quasi_identifiers)
    table, _ = Table.encode(data, names).collapse()
    if table.n_records < k:
        msg = with_hint(f"{table.n_records} records have no class of k = {k}.", "ask for a lower k.")
        raise InputError(msg)
    axes = layout.lay_out(table, names, {}, {})
    positions = np.zeros((len(axes), max(axis.n_places for axis in axes)))
    for j, axis in enumerate(axes):
        positions[j, : axis.n_places] = axis.positions
    shares = np.empty(table.n_rows)
    bound.nearest_records(
        layout.places(table, axes),
        table.counts,
        np.array([axis.is_ordered for axis in axes]),
        positions,
        np.array([axis.domain for axis in axes], dtype=np.float64),
        k,
        shares,
    )
    return float(shares @ table.counts / table.n_records / len(axes))
