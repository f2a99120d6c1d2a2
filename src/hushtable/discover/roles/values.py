"""Value dictionaries: whether a column's cells belong to a known list, such as countries or marital statuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from hushtable.columns import fold
from hushtable.discover.roles.cells import Cells
from hushtable.discover.roles.topics import entries, packaged

__all__ = ["listed_topic"]

_MOST_VALUES: Final = 1000
_SHORT: Final = 3
_RECORDS: Final = 0.7
_VALUES: Final = 0.5
_NAMES: Final = 0.25  # of the records of a column of names: no list of them is nearly complete
_LONGEST_PHRASE: Final = 3
_NOTHING: Final = "nothing"  # the list of cells that stand for no value


class _Entry(NamedTuple):
    is_weak: bool
    is_word: bool


class _Hits(NamedTuple):
    values: float
    records: float
    n_decisive: int
    has_short: bool


@cache
def _dictionaries() -> Mapping[str, Mapping[str, _Entry]]:
    """Return for every value which topics list it."""
    found: dict[str, dict[str, _Entry]] = {}
    for _, entry, topic in entries(packaged("values.tsv")):
        found.setdefault(fold(entry), {}).setdefault(topic, _Entry(entry.endswith("?"), entry.endswith("*")))
    return found


def listed_topic(cells: Cells) -> str:
    """Return the topic whose list holds most of the cells; "" where none holds enough.

    Notes
    -----
    Cells that stand for no value do not count. A list has to hold 70 % of the records and half of the distinct
    values, two of them at least without a question mark (one, beside others with one); where an entry that was hit
    has up to three letters, every value. Of persons' names a quarter of the records is enough.
    """
    cells_with_records = zip(cells.folded, cells.weights.tolist(), strict=True)
    known = [(text, weight) for text, weight in cells_with_records if not _is_nothing(text)]
    n_records = sum(weight for _, weight in known)
    by_topic: dict[str, list[tuple[str, int, _Entry]]] = {}
    for text, weight in known:
        for topic, entry in _hits_of(text).items():
            by_topic.setdefault(topic, []).append((text, weight, entry))
    fitting = []
    for topic, hits in by_topic.items():
        found = _Hits(
            len(hits) / len(known),
            sum(weight for _, weight, _ in hits) / n_records,
            sum(not entry.is_weak for _, _, entry in hits),
            any(len(text) <= _SHORT and text.isascii() for text, _, _ in hits),
        )
        if _is_enough(topic, found, len(hits)):
            fitting.append((-found.values, -found.records, topic))
    return min(fitting)[2] if fitting else ""


def _is_nothing(text: str) -> bool:
    return not text or _NOTHING in _dictionaries().get(text, {})


def _is_enough(topic: str, found: _Hits, n_hits: int) -> bool:
    if n_hits < 2 or not found.n_decisive:
        return False
    if topic == "person name":
        return found.records >= _NAMES and found.n_decisive >= 5
    return found.records >= _RECORDS and found.values >= (1 if found.has_short else _VALUES)


def _hits_of(text: str) -> dict[str, _Entry]:
    """Return the topics that list a cell, or words of it."""
    dictionaries = _dictionaries()
    hits = dict(dictionaries.get(text, {}))
    for phrase in _phrases(text):
        for topic, entry in dictionaries.get(phrase, {}).items():
            if entry.is_word:
                hits.setdefault(topic, entry)
    return hits


def _phrases(text: str) -> Iterator[str]:
    words = text.split()
    for length in range(1, min(_LONGEST_PHRASE, len(words)) + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])
