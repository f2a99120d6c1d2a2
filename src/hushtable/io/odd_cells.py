"""Cells that are not of the kind of nearly all others of their column: who decides what they mean is told of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from hushtable.columns import OddCells
from hushtable.errors import InputError, quote_names


def warn_of_odd_cells(undecided: Mapping[str, OddCells], stacklevel: int = 3) -> None:
    """Warn of undecided odd cells, by their number and forms."""
    for name, odd in undecided.items():
        warnings.warn(
            f"column {quote_names([name])}: {odd.describe()}. Say what they are: odd_cells: missing or odd_cells: "
            "text.",
            stacklevel=stacklevel,
        )


def refuse_odd_cells(undecided: Mapping[str, OddCells]) -> None:
    """Raise InputError if the meaning of odd cells in a published column is undecided."""
    if not undecided:
        return
    told = "; ".join(f"column {quote_names([name])}: {odd.describe()}" for name, odd in undecided.items())
    first = next(iter(undecided))
    raise InputError(
        f"{told}.",
        hint="say what they are: `missing` (empty in the release) or `text` (then the column is text). Write "
        f"`odd_cells: missing` in a policy, --set columns.{first}.odd_cells=missing, or "
        "ColumnSpec(odd_cells='missing') in Python. Or correct them.",
    )
