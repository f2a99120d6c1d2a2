"""How many persons stand behind what is published: counted slowly from files alone, and from the grammar of cells.

It imports nothing of hushtable. What a cell says of a value is `reading.holds`; calendar units are read here.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reading import holds

Cells = tuple[str, ...]


@dataclass(frozen=True)
class Spelling:
    """How an original spells its quasi-identifiers, and what the labels of a release mean."""

    kinds: Mapping[str, str]
    person: str
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, list[str | None]]] = field(default_factory=dict)
    orders: Mapping[str, list[str]] = field(default_factory=dict)

    def value(self, name: str, cell: str) -> Any:
        """Return the value that a cell of the original stands for, None for a missing one."""
        if cell in ("", self.missing.get(name)):
            return None
        if name in self.formats:
            return dt.datetime.strptime(cell, self.formats[name]).date()
        return cell

    def cover(self, name: str, cell: str, values: list[Any]) -> list[bool]:
        """Tell of each value of a column whether a published cell is true of it."""
        members = _members(cell)
        if members is not None:
            return [any(found) for found in zip(*(self.cover(name, each, values) for each in members), strict=True)]
        days = _days(cell) if self.kinds[name] == "date" else None
        if days is not None:
            return [value is not None and days[0] <= value < days[1] for value in values]
        meaning = (self.kinds[name], self.labels.get(name), self.orders.get(name, ()))
        return [holds(cell, value, *meaning) for value in values]


def read(path: Path, encoding: str = "utf-8", delimiter: str = ";") -> list[dict[str, str]]:
    """Return the rows of a CSV as texts."""
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _members(cell: str) -> list[str] | None:
    try:
        members = json.loads(cell) if cell.startswith("[") else None
    except ValueError:
        return None
    return members if isinstance(members, list) and all(isinstance(member, str) for member in members) else None


def _days(cell: str) -> tuple[dt.date, dt.date] | None:
    """Return the first day of an interval or of a unit of the calendar, and the first day after it."""
    if found := re.fullmatch(r"\[(\S+), (\S+)\)", cell):
        low, high = _unit(found[1]), _unit(found[2])
        return (low[0], high[0]) if low and high else None
    if found := re.fullmatch(r"(<|>=)(\S+)", cell):
        end = _unit(found[2])
        return end and ((dt.date.min, end[0]) if found[1] == "<" else (end[0], dt.date.max))
    return _unit(cell)


def _unit(cell: str) -> tuple[dt.date, dt.date] | None:
    """Return the first day of a day, month, quarter, year or decade, and the first day after it."""
    found = re.fullmatch(r"(\d{4})(s|-Q([1-4])|-(\d\d)(-(\d\d))?)?", cell)
    if found is None:
        return None
    year = int(found[1])
    if found[6]:
        day = dt.date.fromisoformat(cell)
        return day, day + dt.timedelta(1)
    if found[2] is None or found[2] == "s":
        return dt.date(year, 1, 1), dt.date(year + (10 if found[2] else 1), 1, 1)
    first = 3 * int(found[3]) - 2 if found[3] else int(found[4])
    after = first + (3 if found[3] else 1)
    return dt.date(year, first, 1), dt.date(year + (after > 12), (after - 1) % 12 + 1, 1)


@dataclass(frozen=True)
class Covered:
    """The classes of a release, and which records of its original the cells of each cover (classes x records)."""

    classes: tuple[Cells, ...]
    counts: tuple[int, ...]
    persons: tuple[str, ...]
    records: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def from_files(cls, released: list[dict[str, str]], original: list[dict[str, str]], spelling: Spelling) -> Covered:
        """Look up every cell of every class in every record."""
        names = list(spelling.kinds)
        classes = Counter(tuple(row[name] for name in names) for row in released)
        is_covered = np.ones((len(classes), len(original)), dtype=bool)
        for place, name in enumerate(names):
            values, of_record = _number_texts(row[name] for row in original)
            cells, of_class = _number_texts(cell[place] for cell in classes)
            read_values = [spelling.value(name, value) for value in values]
            table = np.array([spelling.cover(name, cell, read_values) for cell in cells])
            is_covered &= table[np.ix_(of_class, of_record)]
        return cls(tuple(classes), tuple(classes.values()), tuple(row[spelling.person] for row in original), is_covered)

    def persons_in(self, place: int) -> set[str]:
        """Return whose records the cells of a class cover."""
        return {self.persons[record] for record in np.flatnonzero(self.records[place])}

    def check(self, k: int) -> None:
        """AssertionError unless every class covers as many records as it publishes, of at least k persons."""
        for place, (cells, count) in enumerate(zip(self.classes, self.counts, strict=True)):
            n_records, n_persons = int(self.records[place].sum()), len(self.persons_in(place))
            assert n_records >= count, f"{cells}: {count} records are published, {n_records} are covered"
            assert n_persons >= k, f"{cells}: {n_persons} persons"


def count_persons_in_both(earlier: Covered, later: Covered, k: int) -> tuple[int, int]:
    """Count the persons of both releases, and those who share the cells of all their records with fewer than k of them.

    The cells of a record are the classes that cover it.
    """
    histories: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    both = set(earlier.persons) & set(later.persons)
    for number, covered in enumerate((earlier, later)):
        for record, person in enumerate(covered.persons):
            if person in both:
                fitting = tuple(np.flatnonzero(covered.records[:, record]).tolist())
                histories.setdefault(person, []).append((number, fitting))
    alike = Counter(tuple(sorted(history)) for history in histories.values())
    return len(both), sum(count for count in alike.values() if count < k)


def _number_texts(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """Return the distinct texts, and which of them each is."""
    codes: dict[str, int] = {}
    places = [codes.setdefault(text, len(codes)) for text in texts]
    return list(codes), places
