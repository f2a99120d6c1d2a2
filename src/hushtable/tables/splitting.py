"""Splitting: a table to train on, and a control of people who were never used."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_columns, check_whole
from hushtable.io import Frame, frames
from hushtable.tables.table import Table


def split(data: Any, ratio: float = 0.8, seed: int = 0, *, person: str | None = None) -> tuple[Any, Any]:
    """Part the records of a table at random: what may be used, and a control that nobody has seen.

    Parameters
    ----------
    data : path, dataframe or Table
    ratio : float, default 0.8
        Between 0 and 1: the share of the records that the first part has, rounded down. With `person`, of the persons.
    seed : int, default 0
        The same data, ratio and seed give the same parts.
    person : str, optional
        A column that tells whose record a row is: all rows of a person fall into one part. A row
        without a person is a person of its own.

    Returns
    -------
    train, control : the same kind of table twice
        Rows in their old order, columns of their old types. Of a path, polars frames.

    Raises
    ------
    InputError
        `ratio` or `seed` is out of range, or a part would be empty.
    ColumnError
        There is no such column.

    Notes
    -----
    Drawn without replacement. The records of a `Table` are drawn one by one, so that a row that
    counts several may come to lie in both parts, with a share of its count in each.

    Examples
    --------
    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": ["a", "b", "a", "c", "b"], "ill": ["flu", "gout", "flu", "flu", "mumps"]})
    >>> train, control = split(visits, ratio=0.7, person="who")
    >>> train["who"].to_list(), control["who"].to_list()
    (['b', 'c', 'b'], ['a', 'a'])
    """
    check_whole("seed", seed, 0)
    _check_ratio(ratio)
    rng = np.random.default_rng(int(seed))
    if isinstance(data, Table):
        row_of_record = np.repeat(np.arange(data.n_rows), data.counts)
        persons = None if person is None else persons_of(data, person)[row_of_record]
        train, control = split_rows(data.n_records, ratio, rng, persons)
        return _select_records(data, row_of_record[train]), _select_records(data, row_of_record[control])
    frame = frames.read(data).with_row_per_record()
    persons = None if person is None else persons_of(frame, person)
    train, control = split_rows(frame.n_rows, ratio, rng, persons)
    frame = frame.with_types_by_looks()
    return frame.take(train).native, frame.take(control).native


def split_rows(
    n_rows: int, ratio: float, rng: np.random.Generator, persons: CodeArray | None = None
) -> tuple[CountArray, CountArray]:
    """Split rows at random, all of a person (-1 is nobody) into one part; return ascending positions of both parts."""
    units = np.arange(n_rows) if persons is None else number_units(persons)
    n_units = int(units.max(initial=-1)) + 1
    # As the number is written: 0.29 * 100 is a little below 29 in floats.
    n_train = int(Decimal(str(float(ratio))) * n_units)
    if not 0 < n_train < n_units:
        of_what = "rows" if persons is None else "persons"
        raise InputError(
            f"ratio = {ratio!r} parts {n_units} {of_what} into {n_train} and {n_units - n_train}.",
            hint="both parts need at least one: pass a ratio nearer to 0.5, or more data.",
        )
    is_train = np.zeros(n_units, dtype=bool)
    is_train[rng.choice(n_units, n_train, replace=False)] = True
    return np.flatnonzero(is_train[units]), np.flatnonzero(~is_train[units])


def persons_of(source: Frame | Table, person: str) -> CodeArray:
    """Return the person of each row as a code, by the cells of a column; -1 where it is missing."""
    check_columns([person], source.names, "person")
    if isinstance(source, Table):
        return np.asarray(source.codes[source.index(person)])
    is_text = source.text(person) is not None
    frame = source.with_specs({person: ColumnSpec("category")}) if is_text else source
    return np.asarray(Table.encode(frame, [person]).codes[0])


def number_units(persons: CodeArray | CountArray) -> CountArray:
    """Number the units that stay together: persons, and single rows without a person."""
    nobody = persons < 0
    unit_codes = np.where(nobody, persons.max(initial=-1) + np.cumsum(nobody), persons)
    return np.asarray(np.unique(unit_codes, return_inverse=True)[1])


def _select_records(table: Table, rows: CountArray) -> Table:
    """Return the table of some records, given by the rows that stand for them; no value is left that they lack."""
    counts = np.bincount(rows, minlength=table.n_rows)
    kept = np.flatnonzero(counts)
    return Table(table.columns, np.ascontiguousarray(table.codes[:, kept]), counts[kept]).without_unused()


def _check_ratio(ratio: object) -> None:
    is_number = isinstance(ratio, numbers.Real) and not isinstance(ratio, bool)
    if not is_number or not 0 < ratio < 1:  # type: ignore[operator]  # a number, as just asked
        raise InputError(f"ratio = {ratio!r}.", hint="a share between 0 and 1, such as 0.8.")
