"""Original records that stand unchanged in a synthetic table: counted without distances, guesses or a control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec
from hushtable.risk.assessment import format_percent
from hushtable.risk.mpuccs import encode_same_columns
from hushtable.tables import Joint, JointRows, encode_jointly, find_mismatches, warn_of_mismatches
from hushtable.wording import StatesFacts, careful


@dataclass(frozen=True, slots=True)
class Copies(StatesFacts):
    """How many people stand in a synthetic table as they are, on all columns.

    Attributes
    ----------
    n_people : int
    n_copied : int
        Of them, those whose record is equal to a synthetic one.
    n_unique_copied : int
        Of those, the ones whose record nobody else among the people has.
    n_control, n_control_copied : int or None
        The same of people who were never used: what chance copies.
    """

    n_people: int
    n_copied: int
    n_unique_copied: int
    n_control: int | None = None
    n_control_copied: int | None = None

    @property
    def share(self) -> float:
        """The share of the people who are copied, in [0, 1]."""
        return self.n_copied / self.n_people

    @property
    def control_share(self) -> float | None:
        """The same of the control; None without one."""
        return (
            None if self.n_control is None or self.n_control_copied is None else self.n_control_copied / self.n_control
        )

    @property
    def headline(self) -> str:
        """What matters most, in a sentence."""
        beside = "" if self.control_share is None else f"; of the control, {format_percent(self.control_share)}"
        return (
            f"{self.n_copied:,} of {self.n_people:,} people ({format_percent(self.share)}) stand in the synthetic "
            f"table as they are, {self.n_unique_copied:,} of them with a record that nobody else has{beside}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; no record is in it."""
        counts = {name: getattr(self, name) for name in self.__slots__}
        return {**counts, "share": self.share, "control_share": self.control_share}

    @property
    def facts(self) -> tuple[str, ...]:
        """The headline."""
        return (careful(self.headline) if self.n_unique_copied else self.headline,)


def count_copies(
    original: Any, synthetic: Any, *, control: Any = None, specs: Mapping[str, ColumnSpec] | None = None
) -> Copies:
    """Count the people who stand in a synthetic table as they are.

    Parameters
    ----------
    original, synthetic, control, specs
        As for `hushtable.singling_out`.

    Returns
    -------
    Copies

    Raises
    ------
    InputError, ColumnError
        A table is empty, or they have different columns.

    Notes
    -----
    Equal on all columns, where a missing cell equals a missing one. In a table of few columns with few values many
    people are equal to a synthetic record by chance: the control tells how many. O(n) for each column.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52], "job": ["clerk", "cook", "nurse"]})
    >>> count_copies(people, people[1:]).headline
    '2 of 3 people (67 %) stand in the synthetic table as they are, 2 of them with a record that nobody else has.'
    """
    data_by_name = {"original": original, "synthetic": synthetic, "control": control}
    tables = encode_same_columns(
        {name: data for name, data in data_by_name.items() if data is not None or name != "control"}, None, specs
    )
    joint = encode_jointly(tables)
    warn_of_mismatches(find_mismatches(joint, tables), ("original", "synthetic"))
    n_people, n_synthetic, *control_counts = count_equal(joint)
    is_synthetic = n_synthetic > 0
    of_control = tuple(int(n) for counts in control_counts for n in (counts.sum(), counts[is_synthetic].sum()))
    n_unique_copied = int(np.count_nonzero(is_synthetic & (n_people == 1)))
    return Copies(int(n_people.sum()), int(n_people[is_synthetic].sum()), n_unique_copied, *of_control)


def count_equal(joint: Joint) -> list[CountArray]:
    """Count for each table the records that have each distinct row of all tables."""
    tables = joint.tables
    codes = np.hstack([rows.codes for rows in tables])
    counts = np.concatenate([rows.counts for rows in tables])
    first = JointRows(codes, counts, np.arange(len(counts))).first_equal_rows(joint.widths)
    ends = np.cumsum([0, *(len(rows.counts) for rows in tables)])
    return [
        np.bincount(first[begin:end], counts[begin:end], len(counts)).astype(np.int64)
        for begin, end in pairwise(ends.tolist())
    ]
