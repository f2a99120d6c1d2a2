"""Rules: ladders that follow from the values of a column, complete whatever the values are.

A rule is a few numbers, so that it can be written in a policy and compared there.
It becomes a hierarchy once it meets a column: see `hushtable.hierarchy.Hierarchy.build`.

Dictionaries: hierarchies of values that everyone knows, such as countries; data files with their origin on top.

A file has lines of values with commas between them, a tab, and their labels from fine to coarse. Case, accents and
marks of values do not count.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import ENGLISH, LANGUAGES, Column, cells, check_language, fold
from hushtable.errors import HierarchyError, with_hint
from hushtable.hierarchy.grid import Dates, Intervals, Times
from hushtable.hierarchy.ladder import Ladder, Level, Rule, as_tuple, by_label
from hushtable.hierarchy.tails import Tails
from hushtable.models import entries

__all__ = [
    "DICTIONARIES",
    "OTHER",
    "RULES",
    "Codes",
    "Dates",
    "Dictionary",
    "Frequency",
    "Intervals",
    "Prefix",
    "Runs",
    "Suppression",
    "Tails",
    "Times",
    "from_dict",
    "known_rate",
    "to_dict",
    "translated",
]

DICTIONARIES: Final = MappingProxyType(
    {"countries": ("region", "continent"), "education": ("level", "group of levels")},
)
"""The dictionaries, each with what its levels are."""

OTHER: Final = "other"
"""The label of all values that a dictionary does not know, in English."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The labels that a dictionary of this package gives to values: ``Western Europe``, then ``Europe``.

    Parameters
    ----------
    of : {"countries", "education"}
        Values that it does not know are under the label ``other``.
    language : {"en", "de", "fr", "es", "it", "nl"}
        Of the labels; values are known in all of its languages.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> column, _ = from_texts("country", ["FRANCE", "Österreich", "PE", "Atlantis"])
    >>> [column.values.tolist(), [level.labels for level in Dictionary("countries").ladder(column).levels]]
    [['Atlantis', 'FRANCE', 'PE', 'Österreich'], [('other', 'Western Europe', 'South America'), \
('other', 'Europe', 'Americas')]]
    """

    of: str
    language: str = ENGLISH
    name: ClassVar[str] = "dictionary"

    def __post_init__(self) -> None:
        check_language(self.language)
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
        levels = ([translated(path[level], self.language) for path in paths] for level in range(len(unknown)))
        return Ladder([by_label(labels) for labels in levels])

    def titles(self, n_levels: int) -> list[str]:
        """Return what the levels are."""
        del n_levels
        return list(DICTIONARIES[self.of])


def known_rate(of: str, column: Column) -> float:
    """Return the share of a column's values that a dictionary knows; 0 without values."""
    known = _paths(of)
    return sum(fold(text) in known for text in column.texts()) / max(1, column.n_values)


def translated(label: str, language: str) -> str:
    """Return a label of a dictionary, such as a region, in a language.

    Examples
    --------
    >>> translated("Western Europe", "de"), translated("Western Europe", "en")
    ('Westeuropa', 'Western Europe')
    """
    return label if language == ENGLISH else _translations()[label][LANGUAGES.index(language)]


@cache
def _translations() -> Mapping[str, tuple[str, ...]]:
    text = resources.files(__package__).joinpath("data", "words.tsv").read_text(encoding="utf-8")
    lines = [tuple(line.split("\t")) for line in text.splitlines() if not line.startswith("#")]
    return MappingProxyType({line[0]: line for line in lines})


@cache
def _paths(of: str) -> Mapping[str, tuple[str, ...]]:
    """Return the labels of every folded value, and of every label: where a value is one, it is in its own branch."""
    rows = _rows(of)
    found = {fold(value): labels for values, labels in rows for value in values}
    for _, labels in rows:
        for level, label in enumerate(labels):
            for language in LANGUAGES:
                found.setdefault(fold(translated(label, language)), (label,) * level + labels[level:])
    return MappingProxyType(found)


def _rows(of: str) -> list[tuple[list[str], tuple[str, ...]]]:
    text = resources.files(__package__).joinpath("data", f"{of}.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [([value.strip() for value in values.split(",")], tuple(labels)) for values, *labels in lines]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first characters of a code: ``0123*``.

    Parameters
    ----------
    lengths : int or sequence of int
        How many characters each level keeps, decreasing. A text that is not longer
        stays as it is; the rest of a longer one becomes one ``*``.
    """

    lengths: tuple[int, ...]
    name: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", as_tuple(self.lengths))
        falling = all(a > b for a, b in itertools.pairwise(self.lengths))
        if not self.lengths or not all(_is_count(length, 1) for length in self.lengths) or not falling:
            msg = with_hint(
                f"{self.name}: lengths = {list(self.lengths)}.",
                "give whole numbers from 1, decreasing, for instance 4, 3.",
            )
            raise HierarchyError(msg)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the prefixes of the canonical texts."""
        del counts
        texts = column.texts()
        return Ladder(
            [
                by_label([cells.value(text) if len(text) <= length else f"{text[:length]}*" for text in texts])
                for length in self.lengths
            ]
        )

    def titles(self, n_levels: int) -> list[str]:
        """Return ``first 4`` and so on."""
        del n_levels
        return [f"first {length}" for length in self.lengths]


@dataclass(frozen=True, slots=True)
class Codes(Prefix):
    """The first characters of codes, and ranges of codes in their order: ``201*``, ``[20*, 45*]``.

    It says what recodings that cut codes in their order publish. A label covers all codes that begin with it,
    a range those from its first end up to all that begin with its last one.
    """

    name: ClassVar[str] = "codes"

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the prefixes of the canonical texts; what is as short as a prefix is under it."""
        del counts
        texts = column.texts()
        return Ladder([by_label(_begins(texts, length)) for length in self.lengths])


def _begins(texts: list[str], length: int) -> list[str]:
    longer = {text[:length] for text in texts if len(text) > length}
    return [f"{text[:length]}*" if text[:length] in longer else cells.value(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Frequency:
    """Groups of values of similar frequency, labelled by the set of them.

    Parameters
    ----------
    fanout : int
        Nodes under a node: values are ranked by their records, and every ``fanout``
        neighbours become one, level by level.
    """

    fanout: int = 4
    name: ClassVar[str] = "frequency"

    def __post_init__(self) -> None:
        _check_fanout(self.name, self.fanout)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the groups by rank of frequency; without counts, by order."""
        # A stable sort: values of one frequency stay in the order of the column.
        order = np.arange(column.n_values) if counts is None else np.argsort(-counts, kind="stable")
        rank = np.empty(column.n_values, dtype=np.int64)
        rank[order] = np.arange(column.n_values)
        return _grouped(column, rank, self.fanout)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``groups of 4`` and so on."""
        return [f"groups of {self.fanout ** (level + 1)}" for level in range(n_levels)]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of neighbouring values of an ordered column, labelled by the set of them.

    Parameters
    ----------
    fanout : int
        Nodes under a node; 2 halves the number of nodes from level to level.
    """

    fanout: int = 2
    name: ClassVar[str] = "runs"

    def __post_init__(self) -> None:
        _check_fanout(self.name, self.fanout)

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the runs."""
        del counts
        return _grouped(column, np.arange(column.n_values), self.fanout)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``runs of 2`` and so on."""
        return [f"runs of {self.fanout ** (level + 1)}" for level in range(n_levels)]


@dataclass(frozen=True, slots=True)
class Suppression:
    """The value or ``*``, nothing between."""

    name: ClassVar[str] = "suppression"

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return no level."""
        del column, counts
        return Ladder([])

    def titles(self, n_levels: int) -> list[str]:
        """Return nothing."""
        del n_levels
        return []


def _grouped(column: Column, rank: CountArray, fanout: int) -> Ladder:
    texts = column.texts()
    levels = []
    size = fanout
    while size < column.n_values:
        codes = (rank // size).astype(np.int32)
        members: list[list[str]] = [[] for _ in range(int(codes.max()) + 1)]
        for text, code in zip(texts, codes.tolist(), strict=True):
            members[code].append(text)
        labels = tuple(cells.value(group[0]) if len(group) == 1 else cells.one_of(group) for group in members)
        levels.append(Level(codes, labels))
        size *= fanout
    return Ladder(levels)


RULES: Final[Mapping[str, Callable[..., Rule]]] = MappingProxyType(
    {
        rule.name: rule
        for rule in (Intervals, Tails, Prefix, Codes, Dates, Times, Dictionary, Frequency, Runs, Suppression)
    }
)


def from_dict(entry: Mapping[str, Any]) -> Rule:
    """Make a rule from the way a policy writes it.

    Examples
    --------
    >>> from_dict({"intervals": {"width": [5, 10, 20], "high": 90}})
    Intervals(width=(5, 10, 20), low=None, high=90)
    >>> from_dict({"prefix": [3, 2]})
    Prefix(lengths=(3, 2))
    """
    made: Rule = entries.read(entry, RULES, "hierarchy rule", error=HierarchyError)
    return made


def to_dict(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values, the way a policy writes it."""
    return entries.write(rule, sparse=False)


def _is_count(given: Any, least: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= least


def _check_fanout(name: str, fanout: Any) -> None:
    if not _is_count(fanout, 2):
        msg = with_hint(f"{name}: fanout = {fanout!r}.", "give a whole number from 2.")
        raise HierarchyError(msg)
