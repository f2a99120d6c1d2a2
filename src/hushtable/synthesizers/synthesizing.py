"""Synthesizing: new records that are alike in the aggregate. Never called protected; its measure is `mpuccs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hushtable.errors import InputError, check_whole, with_hint
from hushtable.io import Frame, without_remnants
from hushtable.models import entries
from hushtable.search import check_memory
from hushtable.synthesizers.methods import METHODS, Installed, Method, installed
from hushtable.synthesizers.writing import frame_at, frame_like, table_at, table_like
from hushtable.tables import Table, opened

__all__ = ["synthesize", "synthesize_frame"]


_MOST_RECORDS = 10**15


def synthesize(
    data: Any, *, method: str | Mapping[str, Any] | Method = "copula", n: int | None = None, seed: int = 0
) -> Any:
    """Draw a table of new records that is like a table in its columns, and in how they go together.

    Parameters
    ----------
    data : path, dataframe or Table
    method : str, mapping or Method, default "copula"
        ``"copula"``, ``"independent"`` or ``"bootstrap"``, with options ``{"copula": {"values": "observed"}}`` or as
        an object, ``Copula(values="observed")``; or the name of a synthesizer of another package: an installed
        entry point of the group ``hushtable.synthesizers``.
    n : int, optional
        How many records; as many as `data` has when not given.
    seed : int, default 0
        The same data, method, n and seed give the same table.

    Returns
    -------
    the same kind of table
        Cells in the spelling and of the types of the original; of a path, a polars frame.

    Raises
    ------
    InputError
        There is no record, no such method, or what a synthesizer of another package returns is not what was asked.
    ColumnError
        A column has a type that cannot be coded.

    Notes
    -----
    A synthetic table is not a protected one, and is never called so here: whoever has a rare value may find it,
    and what a method learned of the columns together it learned from people. Split before (`hushtable.split`),
    draw from the one part, and measure what that gave away: ``mpuccs(train, synthetic, control=control)``.

    With ``values="observed"`` every cell is one of the original's, as it stands there: so is the greatest income, and
    every number that one person has. By default (``"interpolated"``) numbers, dates and moments lie between those
    of two records next to one another, as finely as the column has them: no extreme is kept as it is, but
    values near it are; where values lie close, rounding meets some. Categories are always observed, names too: leave
    identifiers out. So is a column of text whose way of writing numbers or dates is not found (`writing`).

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "job": ["clerk", "cook", "clerk", None]})
    >>> made_up = synthesize(people, n=1000)
    >>> made_up.shape, made_up["age"].is_between(31, 57).all(), made_up["job"].null_count() in range(200, 300)
    ((1000, 2), True, True)
    """
    asked = _asked(method)
    source = opened(data)
    n = source.n_records if n is None else n
    if isinstance(source, Table):
        return _table(source, asked, n, seed)
    return synthesize_frame(source.one_by_one(), asked, n, seed).typed_by_looks().native


def synthesize_frame(frame: Frame, method: str | Mapping[str, Any] | Method | Installed, n: int, seed: int) -> Frame:
    """Draw a frame of new records; it is read and written as the one that it was given.

    Parameters
    ----------
    frame : Frame
    method : str, mapping or Method
        As for `synthesize`.
    n : int
    seed : int
        Whoever has a `numpy.random.SeedSequence` passes a number of it: ``int(sequence.generate_state(1)[0])``.
    """
    asked = method if isinstance(method, Installed) else _asked(method)
    _check(frame, n, seed)
    known = frame.learned()
    table = Table.encode(known)
    if isinstance(asked, Installed):
        new = asked.written(lambda found: frame_like(known, table, found), asked.sample(table.decode(), n, seed))
    else:
        places = asked.places(table, n, np.random.default_rng(seed))
        new = without_remnants(frame_at(known, table, asked.values, places), rows_are_gone=True)
    return replace(frame, data=new.data)


def _asked(method: Any) -> Method | Installed:
    return entries.given(method, {**installed(), **METHODS}, Method, "synthesizer")  # type: ignore[no-any-return]


def _check(source: Frame | Table, n: int, seed: int) -> None:
    check_whole("seed", seed, 0)
    if not source.n_records:
        msg = with_hint("the table has no records.", "a synthesizer needs some to learn from.")
        raise InputError(msg)
    check_whole("n", n, 1, _MOST_RECORDS)
    n_columns = len(source.names)
    if not n_columns:
        raise InputError(with_hint("the table has no columns.", "a synthesizer needs some to learn from."))
    # Of each cell its place, its record, and a text.
    check_memory(40.0 * n * n_columns, f"{n} records of {n_columns} columns", "ask for fewer records, or in parts.")


def _table(table: Table, method: Method | Installed, n: int, seed: int) -> Table:
    """Draw a table of new records, each a row."""
    _check(table, n, seed)
    if isinstance(method, Installed):
        return method.written(lambda found: table_like(table, found), method.sample(table.expand(), n, seed))
    return table_at(table, method.values, method.places(table, n, np.random.default_rng(seed)))
