"""Linkability: whether two halves of what is known of a person lead to the same synthetic record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_whole
from hushtable.risk.attacks.attack import (
    Attack,
    Coded,
    Tries,
    check_column_names,
    encode_tables,
    excess_over_control,
    find_nearest,
    random_generator,
    sample_rows,
)
from hushtable.tables import JointRows


def linkability(
    original: Any,
    synthetic: Any,
    *,
    aux_columns: tuple[Sequence[str], Sequence[str]],
    control: Any = None,
    n_neighbors: int = 1,
    n_attacks: int = 500,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> Attack:
    """Count people whose two halves have a nearest synthetic record in common.

    Parameters
    ----------
    original, synthetic, control, specs, seed
        As for `hushtable.singling_out`.
    aux_columns : two sequences of str
        What is known of a person in one place, and in another.
    n_neighbors : int
        Nearest records that are looked at for each half.
    n_attacks : int
        People to attack; all where there are no more.

    Returns
    -------
    Attack

    Raises
    ------
    InputError, ColumnError
        An option outside its range, an unknown column, or one that is named twice.

    Notes
    -----
    Giomi et al., PETS 2023, section 5.2. Numbers and dates differ by their distance over the range of all tables, other
    values by 1; a cell that only one of two records has is not compared, and the others stand for it. Of equally near
    records the first counts, in an order that is drawn for each half.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52], "job": ["clerk", "cook", "nurse"]})
    >>> linkability(people, people, aux_columns=(["age"], ["job"])).n_success
    3
    """
    check_whole("n_attacks", n_attacks, 1)
    if isinstance(aux_columns, str) or len(aux_columns) != 2:
        raise InputError("aux_columns are not two lists of columns.", hint='for instance: (["age", "sex"], ["job"]).')
    tables = encode_tables(original, synthetic, control, _distinct_columns(aux_columns), specs)
    first = check_column_names(aux_columns[0], "aux_columns", tables)
    halves = first, check_column_names(aux_columns[1], "aux_columns", tables, first)
    n_synthetic = tables.synthetic.codes.shape[1]
    check_whole("n_neighbors", n_neighbors, 1, n_synthetic)
    rng = random_generator(seed)
    rows = sample_rows(rng, tables.original.codes.shape[1], n_attacks)
    # Else records that come first would be near by both halves wherever many are equally near.
    orders = [rng.permutation(n_synthetic) for _ in halves]
    links = _find_links(tables, tables.original.take(rows), halves, orders, n_neighbors)
    guesses = [(sample_rows(rng, n_synthetic, n_neighbors), sample_rows(rng, n_synthetic, n_neighbors)) for _ in rows]
    n_baseline = sum(bool(np.isin(one, other).any()) for one, other in guesses)
    control_tries, copy_risk = None, 1.0
    if tables.control is not None:
        unused = tables.control.take(sample_rows(rng, tables.control.codes.shape[1], n_attacks))
        n_linked = int((_find_links(tables, unused, halves, orders, n_neighbors) >= 0).sum())
        control_tries = Tries(n_linked, unused.codes.shape[1])
        n_people = tables.original.codes.shape[1]
        # A copy in the place of a copy shows the same.
        of_copy = orders if n_people == n_synthetic else [rng.permutation(n_people) for _ in halves]
        n_near = min(n_neighbors, n_people)
        copied = _find_links(tables.as_copy(), tables.original.take(rows), halves, of_copy, n_near)
        copy_risk = excess_over_control(Tries(int((copied >= 0).sum()), len(rows)), control_tries).value
    hits = links >= 0
    return Attack(
        "linkability",
        Tries(int(hits.sum()), len(rows)),
        Tries(n_baseline, len(rows)),
        control_tries,
        None,
        {"n_attacks": n_attacks, "aux_columns": [*map(list, halves)], "n_neighbors": n_neighbors, "seed": seed},
        partial(_describe_links, rows[hits], links[hits]),
        copy_risk,
    )


def _distinct_columns(halves: Sequence[Sequence[str]]) -> list[str] | None:
    """Return the columns of both halves, where they are lists of names; what is wrong with them is told later."""
    names = [name for half in halves if not isinstance(half, str) for name in half]
    return list(dict.fromkeys(names)) or None


def _find_links(
    tables: Coded,
    targets: JointRows,
    halves: tuple[Sequence[str], Sequence[str]],
    orders: Sequence[CountArray],
    n_near: int,
) -> NDArray[np.int64]:
    """Return for every target a record that is among the nearest by both halves; -1 where none is."""
    near_first, near_second = (
        order[find_nearest(tables, targets.codes, tables.synthetic.codes[:, order], half, n_near)[0]]
        for half, order in zip(halves, orders, strict=True)
    )
    links = np.full(len(near_first), -1, dtype=np.int64)
    for rank in range(near_first.shape[1]):
        is_shared = (near_first[:, rank : rank + 1] == near_second).any(axis=1) & (links < 0)
        links[is_shared] = near_first[is_shared, rank]
    return links


def _describe_links(rows: CountArray, links: CountArray, values: bool) -> list[str]:
    """Write the people who were linked; no value is needed for that."""
    return [
        f"both halves of original record {row} lead to synthetic record {link}"
        for row, link in zip(rows, links, strict=True)
    ]
