"""What sensitive columns of sets hold in a published table, item by item; cells are split by code of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hushtable._types import BoolArray, CountArray
from hushtable.claims.grouping import Grouped, concatenate_runs, count_records, list_cells_with_missing
from hushtable.claims.verdict import Failure
from hushtable.columns import ColumnSpec, fold_spelling
from hushtable.errors import check_columns
from hushtable.io import frames
from hushtable.models import ClassStats, DistinctLDiversity, Histogram, PrivacyModel, question_of_items


@dataclass(frozen=True, slots=True, eq=False)
class _ItemRows:
    """Which rows hold which items, an entry each; item 0 is having none."""

    rows: CountArray
    items: CountArray
    counts: CountArray

    def count_by_item(self, n_items: int) -> CountArray:
        """Count the records that hold each item."""
        return count_records(self.items, n_items, self.counts[self.rows])


@dataclass(frozen=True, slots=True, eq=False)
class HeldItems:
    """What a sensitive column of sets holds; item 0 is having none."""

    name: str
    n_items: int
    published_rows: _ItemRows = field(repr=False)
    reference: _ItemRows | None = field(repr=False)  # of the rows of the original, where there is one
    is_odd: BoolArray = field(repr=False)  # (n_rows,), cells that write their set otherwise: they tell records apart

    def count_by_class(self, grouped: Grouped, persons: CountArray | None) -> ItemCounts:
        """Count, for every item, the records of each class that hold it."""
        n_classes = grouped.n_classes
        label_of = np.full(grouped.frame.n_rows, -1, dtype=np.int64)
        label_of[~grouped.is_suppressed] = grouped.labels
        labels = label_of[self.published_rows.rows]
        shown = labels >= 0
        keys, inverse = np.unique(
            self.published_rows.items[shown] * max(n_classes, 1) + labels[shown], return_inverse=True
        )
        counts = count_records(inverse, len(keys), self.published_rows.counts[self.published_rows.rows[shown]])
        if self.reference is None:
            totals = np.bincount(keys // max(n_classes, 1), weights=counts, minlength=self.n_items).astype(np.int64)
            n_records = int(grouped.records.sum())
        else:
            totals, n_records = self.reference.count_by_item(self.n_items), int(self.reference.counts.sum())
        offsets = np.searchsorted(keys, np.arange(self.n_items + 1) * max(n_classes, 1))
        return ItemCounts(
            self.name, grouped.records, persons, offsets, keys % max(n_classes, 1), counts, totals, n_records
        )

    def find_misordered_sets(self) -> Iterator[tuple[Failure, CountArray]]:
        """Yield a failure, and its rows, where equal sets can be told apart by how they are written."""
        if self.is_odd.any():
            n_cells = int(self.published_rows.counts[self.is_odd].sum())
            condition = f"column {self.name!r} writes its sets in another way than in the order of their items"
            yield Failure(f"{condition}: {n_cells} cells", 0, n_cells, float(n_cells)), np.flatnonzero(self.is_odd)


@dataclass(frozen=True, slots=True, eq=False)
class ItemCounts:
    """How many records of each class hold each item of a column of sets."""

    name: str
    sizes: CountArray = field(repr=False)
    persons: CountArray | None = field(repr=False)
    offsets: CountArray = field(repr=False)  # item i is held in the classes ``classes[offsets[i]:offsets[i + 1]]``
    classes: CountArray = field(repr=False)
    counts: CountArray = field(repr=False)
    totals: CountArray = field(repr=False)  # (n_items,), records of each in the table that is compared with
    n_records: int  # all records of that table

    def judge(self, model: PrivacyModel) -> tuple[BoolArray, float]:
        """Judge every item by a model; return the classes that fail for one of them, and the worst value measured."""
        question = question_of_items(model, self.name)
        if isinstance(model, DistinctLDiversity):
            reached = self.diversity()
            return reached < model.l, float(reached.min(initial=model.l))
        failed, worst = np.zeros(len(self.sizes), dtype=bool), 0.0
        for item in range(0 if question.asks_of_none else 1, len(self.totals)):
            stats = self._item_stats(item)
            fails = ~question.model.passes(stats)
            failed |= fails
            worst = max(worst, float(question.model.measure(stats)[fails].max(initial=0.0)))
        return failed, worst

    def diversity(self) -> CountArray:
        """Return for every class 2 where no item is held by all who have items, 1 where one is, 0 where none has."""
        known = self.sizes - self._count_holders(0)
        is_shared = np.zeros(len(self.sizes), dtype=bool)
        for item in range(1, len(self.totals)):
            is_shared |= self._count_holders(item) == known
        return np.where(known == 0, 0, np.where(is_shared, 1, 2))

    def _count_holders(self, item: int) -> CountArray:
        """Return how many records of every class hold an item."""
        n_holders = np.zeros(len(self.sizes), dtype=np.int64)
        entries = slice(self.offsets[item], self.offsets[item + 1])
        n_holders[self.classes[entries]] = self.counts[entries]
        return n_holders

    def _item_stats(self, item: int) -> ClassStats:
        """Return the class statistics of an item: the records with it, and those without."""
        n_holders, n_total = self._count_holders(item), int(self.totals[item])
        pairs = np.column_stack([self.sizes - n_holders, n_holders])
        is_there = pairs > 0
        codes = np.tile(np.array([-1, 0], dtype=np.int32), len(pairs))
        offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
        histogram = Histogram(offsets, codes[is_there.ravel()], pairs[is_there])
        totals = np.array([self.n_records - n_total, n_total])
        return ClassStats(self.sizes, {self.name: histogram}, {self.name: totals}, persons=self.persons)


def read_item_column(
    frame: frames.Frame, original: frames.Frame | None, name: str, suppressed: str | None, spec: ColumnSpec
) -> HeldItems:
    """Read a sensitive column of sets of a published table, and of the original where there is one."""
    number_of: dict[str, int] = {}
    published_rows, odd = _list_item_rows(frame, name, suppressed, spec, number_of)
    reference = None
    if original is not None:
        check_columns([name], original.columns, "sensitive columns of the original")
        reference, _ = _list_item_rows(original, name, None, spec.with_defaults_from(original.spec(name)), number_of)
    return HeldItems(name, 1 + len(number_of), published_rows, reference, odd)


def _list_item_rows(
    frame: frames.Frame, name: str, suppressed: str | None, spec: ColumnSpec, number_of: dict[str, int]
) -> tuple[_ItemRows, BoolArray]:
    """Return which rows hold which items, numbered on as they come, and the rows that write a set in another way."""
    cells, rows = list_cells_with_missing(frame.column(name), name)
    sets: list[list[str]] = [[]]
    for cell in cells[1:]:
        # A suppressed cell says nothing, as a missing one does.
        is_none = cell is None or cell == suppressed or cell.strip() in (spec.missing_values or ())
        parts = [] if is_none else [part.strip() for part in str(cell).split(str(spec.separator))]
        sets.append(sorted({part for part in parts if part and part not in (spec.missing_values or ())}))
    canonical_texts = [str(spec.separator).join(each) for each in sets]
    is_odd = [cell not in (None, suppressed, text) for cell, text in zip(cells, canonical_texts, strict=True)]
    folded = [dict.fromkeys(map(fold_spelling, each)) for each in sets]
    item_numbers = [[number_of.setdefault(item, 1 + len(number_of)) for item in each] or [0] for each in folded]
    lengths = np.array([len(each) for each in item_numbers])
    starts = np.cumsum(lengths) - lengths
    flat = np.array([place for each in item_numbers for place in each], dtype=np.int64)
    items = flat[concatenate_runs(starts[rows], lengths[rows])]
    entries = _ItemRows(np.repeat(np.arange(len(rows)), lengths[rows]), items, frame.records)
    return entries, np.array(is_odd, dtype=bool)[rows]
