"""Sensitive columns of sets: a search gets one column per item, as kernels know no sets.

Under (alpha, k)-anonymity, items that no record holds together share a column: it judges every value alone.
An item that is too rare to fail in any class that the other models allow needs no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.columns import Column, list_items, merge_items
from hushtable.errors import InputError
from hushtable.models import AlphaKAnonymity, ClassStats, Histogram, KAnonymity, PrivacyModel, question_of_items
from hushtable.search import check_memory
from hushtable.tables import Table

MOST_ITEM_COLUMNS: Final = 1_000  # in a search, for all sensitive columns together


class _ItemColumn(NamedTuple):
    """A model of one column, and the code of every row in that column; -1 is none."""

    model: PrivacyModel
    codes: CodeArray

    @property
    def column(self) -> Column:
        """The column; its values are item numbers, because an item's text is part of a person's cell."""
        (name,) = self.model.needs.sensitive
        values = [f"item {code}" for code in range(int(self.codes.max(initial=-1)) + 1)]
        return Column(name, "category", np.array(values, dtype=object))


def with_item_columns(table: Table, models: Sequence[PrivacyModel]) -> tuple[Table, tuple[PrivacyModel, ...]]:
    """Replace models of sets by models of item columns; return the table with these columns, and all models."""
    of_sets = [model for model in models if any(table.column(name).separator for name in model.needs.sensitive)]
    if not of_sets:
        return table, tuple(models)
    class_models = [model for model in models if model not in of_sets]
    # The k of (alpha, k)-anonymity is required once, not by every item column.
    class_models += [KAnonymity(model.k) for model in of_sets if isinstance(model, AlphaKAnonymity)]
    min_size = max([1, *(model.k for model in class_models if isinstance(model, KAnonymity))])
    columns = [each for model in of_sets for each in _columns_of(table, model, min_size)]
    if len(columns) > MOST_ITEM_COLUMNS:
        raise InputError(
            f"{len(columns):,} items of columns of sets can fail the models: more than {MOST_ITEM_COLUMNS:,}.",
            hint="shorten the items to coarser codes, ask for larger classes, in which rare items cannot fail, or take "
            "alpha-k-anonymity, which has no such limit.",
        )
    check_memory(
        4.0 * table.n_rows * len(columns),
        f"{len(columns)} items of {table.n_rows} rows",
        "shorten the items to coarser codes, or take alpha-k-anonymity, whose items share columns.",
    )
    codes = np.array([each.codes for each in columns], dtype=np.int32).reshape(-1, table.n_rows)
    added = tuple(each.column for each in columns)
    wide = Table((*table.columns, *added), np.concatenate([table.codes, codes]), table.counts)
    return wide, (*class_models, *(each.model for each in columns))


def _columns_of(table: Table, model: PrivacyModel, min_size: int) -> Iterator[_ItemColumn]:
    """Yield the item columns of a model, without items by which no class can fail."""
    (name,) = model.needs.sensitive
    codes: CodeArray = table.codes[table.index(name)]
    items, holds = merge_items(*list_items(table.column(name)))
    # The last entry serves the missing cells, which index it as -1.
    by_value = np.column_stack([holds, np.zeros(len(items), dtype=bool)])
    if isinstance(model, AlphaKAnonymity):
        question = question_of_items(model, name).model
        can_fail = [has_item for has_item in by_value if _can_fail(question, has_item[codes], table, min_size)]
        for number, shared in enumerate(_share_columns(can_fail), start=1):
            of_column = question_of_items(model, _find_free_name(table, f"{name} (items, part {number})"))
            yield _ItemColumn(of_column.model, shared[codes])
        return
    for i, has_item in enumerate(by_value, start=1):
        question_ = question_of_items(model, _find_free_name(table, f"{name} (item {i} of {len(items)})"))
        rows = has_item[codes] if question_.of_holders else ~has_item[codes] & (codes >= 0)
        if _can_fail(question_.model, rows, table, min_size):
            yield _ItemColumn(question_.model, np.where(rows, 0, -1).astype(np.int32))
    none = question_of_items(model, _find_free_name(table, f"{name} (no item)"))
    rows = codes < 0 if none.of_holders else codes >= 0
    if none.asks_of_none and _can_fail(none.model, rows, table, min_size):
        yield _ItemColumn(none.model, np.where(rows, 0, -1).astype(np.int32))


def _share_columns(values_by_item: Sequence[BoolArray]) -> list[CodeArray]:
    """Pack items that no value holds together into shared columns; a column has each value's item, -1 for none."""
    columns: list[CodeArray] = []
    n_items: list[int] = []
    for holders in sorted((np.flatnonzero(each) for each in values_by_item), key=len, reverse=True):
        target = next((j for j, column in enumerate(columns) if (column[holders] < 0).all()), len(columns))
        if target == len(columns):
            columns.append(np.full(len(values_by_item[0]), -1, dtype=np.int32))
            n_items.append(0)
        columns[target][holders] = n_items[target]
        n_items[target] += 1
    return columns


def _find_free_name(table: Table, name: str) -> str:
    """Add apostrophes to a name until no column has it."""
    while name in table.names:
        name += "'"
    return name


def _can_fail(model: PrivacyModel, holds: BoolArray, table: Table, min_size: int) -> bool:
    """Tell whether a class of at least `min_size` records can fail by an item, given the rows that hold it.

    Testing two classes is enough: the smallest one, with as many holders of the item as possible, and with as few.
    Models measure something quasi-convex in the share of holders, so the extremes are worst.
    """
    (name,) = model.needs.sensitive
    n_records, n_held = table.n_records, int(table.counts[holds].sum())
    size = min(min_size, n_records)
    max_held, min_held = min(size, n_held), max(0, size - (n_records - n_held))
    sizes = np.array([size, size])
    pairs = np.array([[size - max_held, max_held], [size - min_held, min_held]])
    is_present = pairs.ravel() > 0
    offsets = np.concatenate([[0], np.cumsum((pairs > 0).sum(axis=1))])
    histogram = Histogram(offsets, np.array([-1, 0, -1, 0], dtype=np.int32)[is_present], pairs.ravel()[is_present])
    totals = np.array([n_records - n_held, n_held])
    return not bool(model.passes(ClassStats(sizes, {name: histogram}, {name: totals})).all())
