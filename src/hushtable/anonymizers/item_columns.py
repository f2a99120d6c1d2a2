"""Sensitive columns of sets in a search: a column for every item, so that methods and kernels know nothing of sets.

What a model asks of a set it asks of every item, see `hushtable.models.items`. An item that is too rare to fail in any
class that the other models allow has no column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.columns import Column, held_items
from hushtable.errors import InputError, with_hint
from hushtable.models import AlphaKAnonymity, ClassStats, Histogram, KAnonymity, PrivacyModel, question_of_items
from hushtable.search import check_memory
from hushtable.tables import Table

__all__ = ["MOST_ITEM_COLUMNS", "with_item_columns"]

MOST_ITEM_COLUMNS: Final = 1_000
"""Items that a search looks at, of all sensitive columns together."""


class _ItemColumn(NamedTuple):
    """A question about an item, and the rows that count as holding it."""

    model: PrivacyModel
    holds: BoolArray


def with_item_columns(table: Table, models: Sequence[PrivacyModel]) -> tuple[Table, tuple[PrivacyModel, ...]]:
    """Return a table with a column for every item that a model looks at, and the models that are asked of them.

    Parameters
    ----------
    table : Table
        The rows that are judged.
    models : sequence of PrivacyModel
        Those of columns of sets are asked item by item; others stay as they are.

    Raises
    ------
    InputError
        There are too many items.
    """
    of_sets = [model for model in models if any(_is_of_sets(table, name) for name in model.needs.sensitive)]
    asked = [model for model in models if model not in of_sets]
    # The size that a model asks for besides is asked once.
    asked += [KAnonymity(model.k) for model in of_sets if isinstance(model, AlphaKAnonymity)]
    least = max([1, *(model.k for model in asked if isinstance(model, KAnonymity))])
    columns = [each for model in of_sets for each in _columns_of(table, model, least)]
    if len(columns) > MOST_ITEM_COLUMNS:
        msg = with_hint(
            f"{len(columns):,} items of columns of sets can fail the models: more than {MOST_ITEM_COLUMNS:,}.",
            "shorten the items to coarser codes, or ask for larger classes, in which rare items cannot fail.",
        )
        raise InputError(msg)
    check_memory(
        4.0 * table.n_rows * len(columns),
        f"{len(columns)} items of {table.n_rows} rows",
        "shorten the items to coarser codes, or anonymize parts of the table.",
    )
    if not of_sets:
        return table, tuple(models)
    held = np.array(["held"], dtype=object)
    added = tuple(Column(each.model.needs.sensitive[0], "category", held) for each in columns)
    codes = np.array([np.where(each.holds, 0, -1) for each in columns], dtype=np.int32).reshape(-1, table.n_rows)
    wide = Table((*table.columns, *added), np.concatenate([table.codes, codes]), table.counts)
    return wide, (*asked, *(each.model for each in columns))


def _is_of_sets(table: Table, name: str) -> bool:
    return table.column(name).separator is not None


def _columns_of(table: Table, model: PrivacyModel, least: int) -> list[_ItemColumn]:
    """Return what a model asks of the items of its column, those left out that no class can fail."""
    (name,) = model.needs.sensitive
    codes: CodeArray = table.codes[table.index(name)]
    items, holds = held_items(table.column(name))
    # The last entry serves the missing cells, which index it as -1.
    by_value = np.column_stack([holds, np.zeros(len(items), dtype=bool)])
    found = []
    for i, held in enumerate(by_value, start=1):
        # By number: an item is a part of somebody's cell.
        question = question_of_items(model, _unused(table, f"{name} (item {i} of {len(items)})"))
        rows = held[codes] if question.of_holders else ~held[codes] & (codes >= 0)
        found.append(_ItemColumn(question.model, rows))
    none = question_of_items(model, _unused(table, f"{name} (no item)"))
    if none.asks_of_none:
        found.append(_ItemColumn(none.model, codes < 0 if none.of_holders else codes >= 0))
    return [each for each in found if _can_fail(each, table, least)]


def _unused(table: Table, name: str) -> str:
    """Return a name that no column has."""
    while name in table.names:
        name += "'"
    return name


def _can_fail(column: _ItemColumn, table: Table, least: int) -> bool:
    """Tell whether a class of at least so many records may fail by an item.

    A share of a class is furthest from that of the whole in the smallest class, with as many or as few of the records
    that hold the item as it can have; what models measure is quasi-convex in that share.
    """
    (name,) = column.model.needs.sensitive
    n_records, n_held = table.n_records, int(table.counts[column.holds].sum())
    size = min(least, n_records)
    most, fewest = min(size, n_held), max(0, size - (n_records - n_held))
    sizes = np.array([size, size])
    pairs = np.array([[size - most, most], [size - fewest, fewest]])
    kept = pairs.ravel() > 0
    offsets = np.concatenate([[0], np.cumsum((pairs > 0).sum(axis=1))])
    histogram = Histogram(offsets, np.array([-1, 0, -1, 0], dtype=np.int32)[kept], pairs.ravel()[kept])
    whole = np.array([n_records - n_held, n_held])
    return not bool(column.model.passes(ClassStats(sizes, {name: histogram}, {name: whole})).all())
