"""Persons of earlier batches who are in a new one, too: how many, and how few of them share the cells of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims import count_equal_histories
from hushtable.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    """The rows of a batch: the person and the class of each."""

    persons: CodeArray  # (n_rows,); -1 is nobody
    names: Sequence[str]  # of the persons
    classes: CountArray  # (n_rows,): which class; suppressed rows have one, too
    counts: CountArray  # (n_rows,), records

    @classmethod
    def from_table(cls, table: Table, person: str, labels: CodeArray) -> Appearance:
        """Find the persons of a table's rows; label -1: suppressed."""
        column, codes = table.column(person), table.codes[table.index(person)]
        # Whoever knows all others knows who is suppressed, and with how many records: that is a class, too.
        classes = np.where(labels < 0, int(labels.max(initial=-1)) + 1, labels).astype(np.int64)
        return cls(codes, column.texts(), classes, table.counts)

    @property
    def present(self) -> set[str]:
        """The persons who have a row."""
        return {self.names[code] for code in np.unique(self.persons).tolist() if code >= 0}


@dataclass(frozen=True, slots=True, eq=False)
class EarlierBatch:
    """An earlier batch: how it may have been published; in one way, where that is known."""

    readings: tuple[Appearance, ...]

    @property
    def present(self) -> set[str]:
        """The persons who have a row."""
        return self.readings[0].present


def find_shared(new: Table, person: str, earlier: Sequence[EarlierBatch]) -> BoolArray:
    """Return for each row of a batch whether its person is in an earlier one, too."""
    known = set().union(*(each.present for each in earlier))
    is_known = np.array([*(name in known for name in new.column(person).texts()), False], dtype=bool)
    return np.asarray(is_known[new.codes[new.index(person)]])


def count_alike(new: Appearance, earlier: Sequence[EarlierBatch]) -> CountArray:
    """Count for each person in both how many of these persons, itself included, have equal cells in all batches.

    A person's cells are the classes of all its records, with how many are in each. Where an earlier batch may have been
    published in several ways, the fewest by any of them. O(n log n) for n records.
    """
    n_readings = max(len(each.readings) for each in earlier)
    ways = [[each.readings[min(i, len(each.readings) - 1)] for each in earlier] for i in range(n_readings)]
    return np.asarray(np.min([_count_alike(new, way) for way in ways], axis=0))


def _count_alike(new: Appearance, earlier: Sequence[Appearance]) -> CountArray:
    names = sorted(new.present & set().union(*(each.present for each in earlier)))
    if not names:
        return np.empty(0, dtype=np.int64)
    number_of = {name: number for number, name in enumerate(names)}
    persons, classes, counts, n_classes = [], [], [], 0
    for batch in (new, *earlier):
        numbers = np.array([*(number_of.get(name, -1) for name in batch.names), -1], dtype=np.int32)
        persons.append(numbers[batch.persons])
        classes.append(batch.classes + n_classes)
        counts.append(batch.counts)
        n_classes += int(batch.classes.max(initial=-1)) + 1
    return count_equal_histories(np.concatenate(classes), np.concatenate(persons), np.concatenate(counts))
