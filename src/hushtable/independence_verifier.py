"""Judge from a published table alone whether A is independent of a cluster label.

Nothing here comes from the code that masked it: cells are grouped by their bytes,
and counts are compared as whole numbers, without a tolerance.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hushtable import frames
from hushtable._types import CodeArray, CountArray
from hushtable.errors import InputError, VerificationError, check_columns, listed, with_hint
from hushtable.readings import label_rows

__all__ = ["IndependenceVerdict", "verify_independence"]

_MOST = 12  # columns of which every subset is looked at; independence of all implies theirs


@dataclass(frozen=True, slots=True)
class IndependenceVerdict:
    """Whether what A publishes says nothing about the label.

    Attributes
    ----------
    passed : bool
        The clusters are equally large, and every set of columns is independent of the label.
    failures : tuple of str
        Sets of columns, and how many of their vectors are not equally frequent under every label.
    columns : tuple of str
    label : str
    n_records, n_clusters : int
    n_vectors : int
        Distinct vectors of all columns together.
    n_subsets : int
        Sets of columns that were looked at.
    """

    passed: bool
    failures: tuple[str, ...]
    columns: tuple[str, ...]
    label: str
    n_records: int
    n_clusters: int
    n_vectors: int
    n_subsets: int

    def raise_if_failed(self) -> IndependenceVerdict:
        """Raise VerificationError where the table is not independent; return the verdict where it is."""
        if not self.passed:
            msg = with_hint(
                f"the table does not hold what it claims: {'; '.join(self.failures)}.", "do not publish it."
            )
            raise VerificationError(msg)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        head = "independent" if self.passed else "NOT independent"
        items = "".join(f"<li>{html.escape(failure)}</li>" for failure in self.failures)
        return (
            f"<b>{html.escape(', '.join(self.columns))}: {head}</b> of {html.escape(self.label)}; "
            f"{self.n_records} records, {self.n_vectors} vectors, {self.n_clusters} clusters<ul>{items}</ul>"
        )


def verify_independence(
    data: Any, *, columns: Sequence[str], label: str = "cluster", n_clusters: int | None = None
) -> IndependenceVerdict:
    """Judge from a published table alone whether columns are independent of a label.

    Parameters
    ----------
    data : path or dataframe
        The published table.
    columns : sequence of str
        A: together, and every subset of them.
    label : str
    n_clusters : int, optional
        How many labels there should be; as many as there are, when not given.

    Raises
    ------
    ColumnError
        A column is not in the table.
    InputError
        No column was given.

    Notes
    -----
    Every label must be equally frequent, and n times the records of a vector and label must be
    the product of their own records, for all pairs. O(n log n), and 2^d passes over the
    distinct vectors; past 12 columns only all of them together and each by itself, for
    the former implies the rest.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"job": ["*", "*", "clerk", "clerk"], "cluster": [1, 2, 1, 2]})
    >>> verify_independence(table, columns=["job"]).passed
    True
    """
    columns = tuple(columns)
    if not columns:
        msg = with_hint("no column to judge.", "name the columns that should say nothing about the label.")
        raise InputError(msg)
    frame = frames.read(data)
    check_columns((*columns, label), frame.columns, "columns of a masked table")
    codes: CodeArray = np.array([frames.text_codes(frame.column(name), name) for name in columns])
    labels, _ = label_rows(frames.text_codes(frame.column(label), label)[None, :])
    vectors, first = label_rows(codes)
    n_labels = int(labels.max(initial=-1)) + 1
    counts = np.bincount(vectors * n_labels + labels, minlength=len(first) * n_labels).reshape(len(first), n_labels)
    failures = []
    if n_clusters is not None and n_labels != n_clusters:
        failures.append(f"{n_labels} clusters instead of {n_clusters}")
    sizes = counts.sum(axis=0)
    if n_labels and sizes.max() != sizes.min():
        failures.append(f"clusters of {sizes.min()} to {sizes.max()} records")
    sets = _subsets(len(columns))
    for chosen in sets:
        n_wrong = _n_dependent(codes[list(chosen)][:, first], counts)
        if n_wrong:
            names = listed(columns[place] for place in chosen)
            failures.append(f"{n_wrong} vectors of {names} depend on {label!r}")
    return IndependenceVerdict(
        not failures, tuple(failures), columns, label, frame.n_rows, n_labels, len(first), len(sets)
    )


def _subsets(n_columns: int) -> list[tuple[int, ...]]:
    sizes = range(1, n_columns + 1) if n_columns <= _MOST else (1, n_columns)
    return [chosen for size in sizes for chosen in combinations(range(n_columns), size)]


def _n_dependent(codes: CodeArray, counts: CountArray) -> int:
    """Count the vectors of some columns that are not as frequent under every label as independence asks."""
    of_vector, first = label_rows(codes)
    held = np.zeros((len(first), counts.shape[1]), dtype=np.int64)
    np.add.at(held, of_vector, counts)
    n_records = int(counts.sum())
    expected = held.sum(axis=1)[:, None] * counts.sum(axis=0)[None, :]
    return int((held * n_records != expected).any(axis=1).sum())
