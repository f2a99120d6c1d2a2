"""Persons of earlier batches who are in a new one, too: how few share the cells of both, and with how few values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims import number_histories
from hushtable.columns import ColumnSpec, spell_names_as, text_series
from hushtable.io import Frame
from hushtable.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    """The rows of a batch: the person and the class of each."""

    persons: CodeArray  # (n_rows,); -1 is nobody
    names: Sequence[str]  # of the persons
    classes: CountArray  # (n_rows,): which class; suppressed rows have one, too
    counts: CountArray  # (n_rows,), records
    values: Mapping[str, CodeArray] = field(default_factory=dict)  # (n_rows,), of sensitive columns; -1 is missing

    @classmethod
    def from_table(cls, table: Table, person: str, labels: CodeArray, sensitive: Sequence[str] = ()) -> Appearance:
        """Find the persons of a table's rows; label -1: suppressed."""
        column, codes = table.column(person), table.codes[table.index(person)]
        # Anyone who knows all others knows who is suppressed, and with how many records: that is a class, too.
        classes = np.where(labels < 0, int(labels.max(initial=-1)) + 1, labels).astype(np.int64)
        values = {name: table.codes[table.index(name)] for name in sensitive}
        return cls(codes, column.texts(), classes, table.counts, values)

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


def name_persons_as_in(new: Table, person: str, earlier: Sequence[EarlierBatch]) -> list[EarlierBatch]:
    """Return the batches with the names that a new one has for their persons: another program writes 12 as 12.0."""
    names = new.column(person).texts()
    return [
        EarlierBatch(tuple(replace(each, names=spell_names_as(names, each.names)) for each in batch.readings))
        for batch in earlier
    ]


def spell_persons_as(rows: Frame, reference: Frame, person: str, specs: Mapping[str, ColumnSpec]) -> Frame:
    """Return rows in which persons have the names that they have in a reference; others keep theirs."""
    known, own = (Table.encode(each, (person,), specs) for each in (reference, rows))
    names = own.column(person).texts()
    spelled = spell_names_as(known.column(person).texts(), names)
    # Else a number would become text as its type is written, with a decimal.
    if spelled == names and rows.column(person).dtype == reference.column(person).dtype:
        return rows
    return rows.with_columns({person: text_series(person, [*spelled, None]).gather(own.codes[0] % (len(names) + 1))})


def find_shared(new: Table, person: str, earlier: Sequence[EarlierBatch]) -> BoolArray:
    """Return for each row of a batch whether its person is in an earlier one, too."""
    known = set().union(*(each.present for each in earlier))
    is_known = np.array([*(name in known for name in new.column(person).texts()), False], dtype=bool)
    return np.asarray(is_known[new.codes[new.index(person)]])


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """For each person in both: those of them, itself included, who have equal cells in all batches."""

    n_persons: CountArray
    n_values: Mapping[str, CountArray]  # by sensitive column: how many values their records in the new batch have

    def count_few_persons(self, k: int) -> int:
        """Count the persons with whom fewer than k share all their cells."""
        return int((self.n_persons < k).sum())

    def count_few_values(self, fewest: Mapping[str, int]) -> int:
        """Count the persons who, with those alike, have fewer values of some column than it must have: 2, if not said.

        Where they have one value, anyone who knows that a person is in both batches learns it.
        """
        is_few = np.zeros(len(self.n_persons), dtype=bool)
        for name, counts in self.n_values.items():
            is_few |= counts < max(2, fewest.get(name, 2))
        return int(is_few.sum())


def find_alike(new: Appearance, earlier: Sequence[EarlierBatch]) -> Alike:
    """Count for each person in both how many of these persons, itself included, have equal cells in all batches.

    A person's cells are the classes of all its records, with how many are in each. Where an earlier batch may have been
    published in several ways, the fewest by any of them. O(n log n) for n records.
    """
    n_readings = max(len(each.readings) for each in earlier)
    ways = [[each.readings[min(i, len(each.readings) - 1)] for each in earlier] for i in range(n_readings)]
    found = [_find_alike(new, way) for way in ways]
    return Alike(
        np.min([each.n_persons for each in found], axis=0),
        {name: np.min([each.n_values[name] for each in found], axis=0) for name in new.values},
    )


def _find_alike(new: Appearance, earlier: Sequence[Appearance]) -> Alike:
    names = sorted(new.present & set().union(*(each.present for each in earlier)))
    if not names:
        nobody: CountArray = np.empty(0, dtype=np.int64)
        return Alike(nobody, dict.fromkeys(new.values, nobody))
    number_of = {name: number for number, name in enumerate(names)}
    persons, classes, counts, n_classes = [], [], [], 0
    for batch in (new, *earlier):
        numbers = np.array([*(number_of.get(name, -1) for name in batch.names), -1], dtype=np.int32)
        persons.append(numbers[batch.persons])
        classes.append(batch.classes + n_classes)
        counts.append(batch.counts)
        n_classes += int(batch.classes.max(initial=-1)) + 1
    history = number_histories(np.concatenate(classes), np.concatenate(persons), np.concatenate(counts))
    n_values = {name: _count_values(history, persons[0], codes)[history] for name, codes in new.values.items()}
    return Alike(np.asarray(np.bincount(history)[history]), n_values)


def _count_values(history: CountArray, persons: CodeArray, codes: CodeArray) -> CountArray:
    """Count the known values of the records of all persons of each history."""
    is_told = (persons >= 0) & (codes >= 0)
    pairs = np.unique(np.stack((history[persons[is_told]], codes[is_told])), axis=1)
    return np.bincount(pairs[0], minlength=int(history.max(initial=-1)) + 1)
