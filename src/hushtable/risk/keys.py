"""Keys: the minimal sets of columns on which no two rows of a table agree, or almost none (minimal UCCs)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hushtable._types import BoolArray, CountArray, FloatArray, freeze_array
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_choice, check_whole
from hushtable.io import frames
from hushtable.search import Budget, Trace, check_budget
from hushtable.tables import Table, WalkProgress, lattice
from hushtable.wording import StatesFacts, careful


@dataclass(frozen=True, slots=True, eq=False)
class Keys(StatesFacts):
    """Minimal keys of a table: those of few columns first, then in the order of the columns.

    Attributes
    ----------
    columns : tuple of str
        The columns looked at.
    members : ndarray of bool, shape (n_keys, n_columns), read-only
        Which columns each key has.
    errors : ndarray of float64, shape (n_keys,), read-only
        g1 of each key, unrounded, in [0, 1]: the share of the pairs of rows that agree on it. 0 if no two rows agree.
    unique_rates : ndarray of float64, shape (n_keys,), read-only
        Share of the rows that are alone on the key, in [0, 1].
    measure : str
        Which of the two `error` limits: ``"g1"``, or ``"unique_rate"`` (the share of rows that are not alone).
    error : float
        What a key may leave, in [0, 1); 0 is an exact key.
    rows : str
        ``"distinct"``: equal rows count once. ``"all"``: every record is a row.
    n_rows : int
        Rows that were compared.
    n_records : int
        Records of the table.
    max_size : int
        The most columns of a key that was looked for.
    complete : bool
        Whether all minimal keys of at most `max_size` columns are here.
    complete_to_size : int
        Up to so many columns no minimal key is missing.
    n_values : tuple of int
        Different values of each column.
    trace : Trace
    source : str
        The dataframe library that frames come in.
    """

    columns: tuple[str, ...]
    members: BoolArray = field(repr=False)
    errors: FloatArray = field(repr=False)
    unique_rates: FloatArray = field(repr=False)
    measure: str
    error: float
    rows: str
    n_rows: int
    n_records: int
    max_size: int
    complete: bool
    complete_to_size: int
    n_values: tuple[int, ...] = field(repr=False)
    trace: Trace = field(repr=False)
    source: str = field(default="polars", repr=False)

    def __post_init__(self) -> None:
        for array in (self.members, self.errors, self.unique_rates):
            freeze_array(array)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The column names of each key."""
        return tuple(self._names_of(range(len(self))))

    @property
    def n_by_size(self) -> dict[int, int]:
        """How many keys there are of every size that has one."""
        sizes = np.bincount(self.members.sum(axis=1)) if len(self) else np.zeros(0, dtype=np.int64)
        return {size: int(n) for size, n in enumerate(sizes) if n}

    def to_frame(self) -> Any:
        """Return a dataframe with one row per key: ``columns``, ``size``, ``g1``, ``unique_rate``."""
        return self._assemble_frame(np.arange(len(self)))

    def easiest_keys(self, n: int = 20) -> Any:
        """Return the n keys that are most easily known, as `to_frame` has them.

        Keys of few columns come first; of one size, those whose columns have few values between them.
        """
        return self._assemble_frame(self._easiest_positions(n))

    def easiest_key_rows(self, n: int = 20) -> list[dict[str, Any]]:
        """Return the rows of `easiest_keys` as plain values."""
        rows = self._frame_columns(self._easiest_positions(n))
        return [dict(zip(rows, each, strict=True)) for each in zip(*rows.values(), strict=True)]

    def summary(self) -> dict[str, Any]:
        """Return what was asked, and how many keys there are: no cell of the table."""
        return {
            "columns": list(self.columns),
            "n_records": self.n_records,
            "rows": self.rows,
            "n_rows": self.n_rows,
            "measure": self.measure,
            "error": self.error,
            "max_size": self.max_size,
            "n_keys": len(self),
            "n_by_size": self.n_by_size,
            "complete": self.complete,
            "complete_to_size": self.complete_to_size,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the summary and the trace as plain values; the keys are in `keys`, which may be many."""
        return {**self.summary(), "trace": self.trace.to_dict()}

    def _names_of(self, positions: Any) -> list[tuple[str, ...]]:
        return [tuple(self.columns[j] for j in np.flatnonzero(self.members[i])) for i in positions]

    def _easiest_positions(self, n: int) -> CountArray:
        check_whole("n", n, 1)
        n_combinations = self.members @ np.log(np.maximum(self.n_values, 1))
        return np.lexsort((n_combinations, self.members.sum(axis=1)))[:n]

    def _frame_columns(self, positions: CountArray) -> dict[str, list[Any]]:
        return {
            "columns": self._names_of(positions),
            "size": self.members[positions].sum(axis=1).tolist(),
            "g1": self.errors[positions].tolist(),
            "unique_rate": self.unique_rates[positions].tolist(),
        }

    def _assemble_frame(self, positions: CountArray) -> Any:
        return frames.assemble(self._frame_columns(positions), self.source)

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        error, unit = self.error, "distinct rows" if self.rows == "distinct" else "rows, equal ones included"
        difference = "rows differ" if not error else f"rows differ but for an error of {error:g} ({self.measure})"
        noun = "key" if len(self) == 1 else "keys"
        facts = [
            f"{len(self):,} minimal {noun}: sets of at most {self.max_size} of {len(self.columns)} columns on which "
            f"{difference}, and no column can go.",
        ]
        if not self.complete:
            facts.append(
                careful(
                    f"the search is NOT complete: keys of more than {self.complete_to_size} columns may be missing."
                )
            )
        elif not len(self) and self.rows == "all" and not error:
            facts.append("Two equal records have no key. Leave out --rows all to count equal records once.")
        return *facts, f"They were counted on {self.n_rows:,} {unit}, of {self.n_records:,} records."


def minimal_keys(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    max_size: int | None = None,
    measure: Literal["g1", "unique_rate"] = "g1",
    error: float = 0.0,
    rows: Literal["distinct", "all"] = "distinct",
    missing: Literal["category", "never"] = "category",
    sample: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    specs: Mapping[str, ColumnSpec] | None = None,
    progress: WalkProgress | None = None,
) -> Keys:
    """Find all minimal keys: sets of columns on which no two rows agree, and no column of which can be left out.

    Parameters
    ----------
    data : path, dataframe or Table
    columns : sequence of str, optional
        Columns to look at; all columns when not given.
    max_size : int, optional
        The most columns of a key; all of them when not given.
    measure : {"g1", "unique_rate"}
        What `error` limits: the share of pairs of rows that agree (g1), or the share of rows that are not alone.
    error : float
        In [0, 1). 0 finds exact keys; above it, a key may leave this share.
    rows : {"distinct", "all"}
        Whether equal rows count once, or every record is a row. With ``"all"``, a table with two equal records has no
        exact key.
    missing : {"category", "never"}
        A missing cell is a value of its own; or it tells no row apart, so that no key has a column with a missing cell,
        as in a database. ``"never"`` takes no `error`.
    sample : int, optional
        Find one key only, among so many random rows; it is then counted and pruned on all rows. For huge tables.
        ``complete`` is False.
    budget : Budget, optional
        When it ends, ``complete`` is False: all keys up to ``complete_to_size`` columns are there. Larger keys that
        were found until then are there too. Not with `sample`.
    seed : int
        Of the sample. Without a sample or budget it does not change the keys.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    progress : callable, optional
        Called with the share of the columns done and the number of column sets looked at.

    Raises
    ------
    InputError
        An empty table, or an option that is none of the above.

    Notes
    -----
    Every key was counted on all rows. A pair of rows (or a set that is too coarse) shows for each of its columns that
    it cannot be left out. The number of keys may be exponential in the number of columns.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 52], "sex": ["f", "m", "f", "f"], "city": ["A", "A", "A", "B"]})
    >>> found = minimal_keys(people)
    >>> found.keys, found.complete
    ((('age', 'sex', 'city'),), True)
    >>> minimal_keys(people, max_size=2, error=0.2).easiest_keys(1).rows()
    [(['age', 'sex'], 2, 0.16666666666666666, 0.5)]
    """
    check_budget(budget)
    table = Table.encode(data, columns, specs)
    largest = len(table.columns) if max_size is None else max_size
    _check_arguments(table, largest, measure, error, rows, sample, budget)
    check_choice("missing", missing, ("category", "never"))
    if missing == "never" and error:
        raise InputError("missing and error were both given.", hint="leave one out: only exact keys know never.")
    check_whole("seed", seed, 0, 2**31 - 1)
    began = time.perf_counter()
    distinct, _ = table.collapse()
    looked_at = distinct if rows == "distinct" else table.with_row_per_record()
    n_rows = looked_at.n_rows
    n_pairs = n_rows * (n_rows - 1) // 2
    by_pairs = measure == "g1"
    max_repeated = math.floor(Fraction(str(error)) * (n_pairs if by_pairs else n_rows))
    eligible: BoolArray = np.ones(len(table.columns), dtype=np.bool_)
    if missing == "never":
        eligible = np.asarray((distinct.codes >= 0).all(axis=1))
    rules = lattice.KeyRules(by_pairs, max_repeated, min(largest, int(eligible.sum())), seed)
    widths = np.array([column.n_values + 1 for column in table.columns], dtype=np.int64)[eligible]
    codes = looked_at.codes[eligible]
    # Rows that are equal on all eligible columns leave no exact key.
    if max_repeated == 0 and _count_distinct(distinct, eligible) < n_rows:
        nothing = np.zeros(0, dtype=np.int64)
        sets = lattice.KeySets(np.zeros((0, len(widths)), dtype=np.bool_), nothing, nothing, 0, rules.max_size)
    elif sample is not None:
        sets = lattice.find_key_in_sample(codes, widths, rules, sample)
    else:
        sets = lattice.find_all_keys(codes, widths, rules, budget=budget, progress=progress)
    complete = sets.complete_to == rules.max_size
    members = np.zeros((len(sets.members), len(eligible)), dtype=np.bool_)
    members[:, eligible] = sets.members
    return Keys(
        table.names,
        members,
        sets.pairs / max(1, n_pairs),
        1 - sets.repeated / n_rows,
        measure,
        error,
        rows,
        n_rows,
        table.n_records,
        largest,
        complete,
        largest if complete else sets.complete_to,
        tuple(column.n_values for column in table.columns),
        Trace("minimal_keys", sets.n_sets, time.perf_counter() - began, complete=complete),
        frames.library_of(data),
    )


def _count_distinct(table: Table, is_chosen: BoolArray) -> int:
    """Count the distinct rows on some columns; on no column all rows are equal."""
    if is_chosen.all():
        return table.n_rows
    names = [name for name, chosen in zip(table.names, is_chosen, strict=True) if chosen]
    return table.select(names).collapse()[0].n_rows if names else min(1, table.n_rows)


def _check_arguments(
    table: Table, max_size: int, measure: str, error: float, rows: str, sample: int | None, budget: Budget | None
) -> None:
    if table.n_records == 0:
        raise InputError("the table is empty.", hint="a table without records has no keys; check the file.")
    check_whole(f"of {len(table.columns)} columns max_size", max_size, 1, len(table.columns))
    check_choice("measure", measure, ("g1", "unique_rate"))
    check_choice("rows", rows, ("distinct", "all"))
    if isinstance(error, bool) or not isinstance(error, (int, float)) or not 0 <= error < 1:
        raise InputError(f"error = {error!r}.", hint="give a share from 0 to below 1.")
    if sample is not None:
        check_whole("sample", sample, 2)
        if budget is not None:
            raise InputError(
                "sample and budget were both given.", hint="leave one out: a sample finds one key, without a search."
            )
