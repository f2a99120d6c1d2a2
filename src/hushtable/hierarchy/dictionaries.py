"""Dictionaries: hierarchies of values that everyone knows, such as countries; data files with their origin on top.

A file has lines of values with commas between them, a tab, and their labels from fine to coarse. Case, accents and
marks of values do not count.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import ClassVar, Final

from hushtable._types import CountArray
from hushtable.columns import Column, fold
from hushtable.errors import HierarchyError, with_hint
from hushtable.hierarchy.ladder import Ladder, by_label

__all__ = ["DICTIONARIES", "OTHER", "Dictionary", "known_rate", "listed"]

DICTIONARIES: Final = MappingProxyType(
    {"countries": ("region", "continent"), "education": ("level", "group of levels")},
)
"""The dictionaries, each with what its levels are."""

OTHER: Final = "other"
"""The label of all values that a dictionary does not know."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The labels that a dictionary of this package gives to values: ``Western Europe``, then ``Europe``.

    Parameters
    ----------
    of : {"countries", "education"}
        Values that it does not know are under the label ``other``.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> column, _ = from_texts("country", ["FRANCE", "Österreich", "PE", "Atlantis"])
    >>> [column.values.tolist(), [level.labels for level in Dictionary("countries").ladder(column).levels]]
    [['Atlantis', 'FRANCE', 'PE', 'Österreich'], [('other', 'Western Europe', 'South America'), \
('other', 'Europe', 'Americas')]]
    """

    of: str
    name: ClassVar[str] = "dictionary"

    def __post_init__(self) -> None:
        if self.of not in DICTIONARIES:
            msg = with_hint(
                f"dictionary: of = {self.of!r}.",
                f"there are {', '.join(DICTIONARIES)}; a list of your own is a file: hierarchy: jobs.csv.",
            )
            raise HierarchyError(msg)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the labels of the canonical texts."""
        del counts
        known, unknown = _paths(self.of), (OTHER,) * len(DICTIONARIES[self.of])
        paths = [known.get(fold(text), unknown) for text in column.texts()]
        return Ladder([by_label([path[level] for path in paths]) for level in range(len(unknown))])

    def titles(self, n_levels: int) -> list[str]:
        """Return what the levels are."""
        del n_levels
        return list(DICTIONARIES[self.of])


def known_rate(of: str, column: Column) -> float:
    """Return the share of a column's values that a dictionary knows; 0 without values."""
    known = _paths(of)
    return sum(fold(text) in known for text in column.texts()) / max(1, column.n_values)


@cache
def listed(of: str) -> Mapping[str, tuple[str, ...]]:
    """Return every label of a dictionary with the values under it, or the finer labels."""
    found: dict[str, dict[str, None]] = {}
    for values, labels in _rows(of):
        found.setdefault(labels[0], {}).update(dict.fromkeys(values))
        for fine, coarse in itertools.pairwise(labels):
            found.setdefault(coarse, {}).update({} if fine == coarse else {fine: None})
    return MappingProxyType({label: tuple(members) for label, members in found.items()})


@cache
def _paths(of: str) -> Mapping[str, tuple[str, ...]]:
    """Return the labels of every folded value, and of every label: where a value is one, it is in its own branch."""
    rows = _rows(of)
    found = {fold(value): labels for values, labels in rows for value in values}
    for _, labels in rows:
        for level, label in enumerate(labels):
            found.setdefault(fold(label), (label,) * level + labels[level:])
    return MappingProxyType(found)


def _rows(of: str) -> list[tuple[list[str], tuple[str, ...]]]:
    text = resources.files(__package__).joinpath("data", f"{of}.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [([value.strip() for value in values.split(",")], tuple(labels)) for values, *labels in lines]
