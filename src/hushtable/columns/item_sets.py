"""Cells that hold several items, such as ``I10;E11``: sets, in which neither order nor repetition means anything.

A cell is split at the separator of its column. Items are stripped; empty and repeated ones, and texts that mean a
missing value, are dropped. A cell without any item is missing. Equal sets have one text: their items in the order of
their characters, one separator between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable._types import BoolArray
from hushtable.columns.column import Column


def canonical_set_text(text: str, separator: str, missing: Sequence[str] = ()) -> str | None:
    """Return the canonical text of a cell's set; None if it holds no item."""
    items = {item.strip() for item in text.split(separator)} - {"", *missing}
    return separator.join(sorted(items)) or None


def list_items(column: Column) -> tuple[list[str], BoolArray]:
    """Return the items of a column of sets, and which value holds which item; shape (n_items, n_values)."""
    sets = [text.split(column.separator) for text in column.texts()]
    items = sorted({item for each in sets for item in each})
    place = {item: i for i, item in enumerate(items)}
    holds = np.zeros((len(items), len(sets)), dtype=bool)
    for code, each in enumerate(sets):
        holds[[place[item] for item in each], code] = True
    return items, holds


def describe_separator(name: str, separator: str) -> str:
    """Describe how a policy, a command and Python declare sets."""
    return (
        f"`separator: {separator!r}` in a policy, --set columns.{name}.separator={separator!r}, "
        f"ColumnSpec(separator={separator!r}) in Python"
    )
