"""Numbers that look like the code of a missing value."""

from __future__ import annotations

import warnings
from typing import Final

import numpy as np

from hushtable.columns import count_missing_numbers
from hushtable.tables.table import Table

__all__ = ["warn_of_missing_numbers"]

_FEWEST_RECORDS: Final = 50
"""Below so many a code says too little."""


def warn_of_missing_numbers(table: Table, stacklevel: int = 3) -> None:
    """Warn of numbers that look like the code of a missing value, and would be taken for what they are."""
    if table.n_records < _FEWEST_RECORDS:
        return
    for column, codes in zip(table.columns, table.codes, strict=True):
        counts = np.bincount(codes[codes >= 0], weights=table.counts[codes >= 0], minlength=column.n_values)
        for code, n in count_missing_numbers(column, counts.astype(np.int64)).items():
            warnings.warn(
                f"column {column.name!r} holds {code} in {n:,} records, far from its other numbers: a code of "
                f"a missing value? If so, make these cells missing first, or say missing_values=({code!r},).",
                stacklevel=stacklevel,
            )
