"""What every column is about, from its cells and its name; and whether the rows are about persons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushtable.columns import fold_text
from hushtable.discover.prose import is_prose
from hushtable.discover.roles.names import Lexicon, Said, Topic, interpret_name, topics_by_name
from hushtable.discover.roles.patterns import CellLook, ColumnCells, fits_topic, is_paced, look_of
from hushtable.errors import quote_names

PROSE: Final = "prose"
"""The topic of free text."""

_MIN_UNIQUE_SHARE: Final = 0.9
_MIN_ALONE_SHARE: Final = 0.5
_MAX_CODE_VALUES: Final = 20
_UNSURE_TRUST: Final = 0.8
_CONTRARY_NAME_TRUST: Final = 0.45
_CONTRADICTED_KNOWABILITY: Final = 0.4
# Looks that a column may have whose values are nearly all different.
_TOPICS_OF_UNIQUE_CELLS: Final = ("age", "birth", "date", "time", "person name", "plate")
_MIN_ANSWER_COLUMNS: Final = 5  # columns on one scale
_MAX_SCALE_STEP: Final = 10
_ANSWERS_REASON: Final = "one of {} columns on one scale up to {}: answers, which others rarely know"
# What a question about a service may seem to be about.
_OPINION_TOPICS: Final = ("unit", "place", "time", "date", "duration", "item", "rating", "visit", "device", "vehicle",
                       "membership", "technical", "thing", "number")  # fmt: skip
# Meanings of names that cells can contradict.
_CHECKED_TOPICS: Final = ("age", "date", "sex", "coordinate", "contact", "account", "number of a person")


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a column is about."""

    cells: ColumnCells
    topic: Topic | None
    knowability: float  # in [0, 1]
    persons: float  # how far it says that rows are persons; negative for things
    reason: str
    # The last step of a scale that begins at 0 or 1, where its cells are all such steps and its name says nothing that
    # speaks against an opinion; else 0
    scale: int = 0
    is_counted: bool = False  # whether nothing says so but that hardly any cell occurs twice

    @property
    def name(self) -> str:
        """The column's name."""
        return self.cells.column.name

    @property
    def is_prose(self) -> bool:
        """Whether it is free text, which may name people whatever its name says."""
        return self.topic is not None and self.topic.name == PROSE

    @property
    def is_settled(self) -> bool:
        """Whether it names a person, or tells what others would like to know, whatever it tells apart."""
        return self.is_prose or (self.topic is not None and self.topic.role in ("identifier", "sensitive"))


def find_topic(cells: ColumnCells, words: Lexicon, label: str = "") -> Finding:
    """Find what a column is about, from its cells, its name, and its label in the file."""
    meaning = interpret_name(label or cells.column.name, words, lambda topic: fits_topic(topic, cells))
    is_label = bool(label) and meaning.topic is not None
    if label and not is_label:
        meaning = interpret_name(cells.column.name, words, lambda topic: fits_topic(topic, cells))
    finding = _weigh_evidence(cells, meaning)
    if is_label:
        finding = replace(finding, reason=finding.reason.replace("its name says", "its label says"))
    # A name that is one known word, "region" or "service", means what it says.
    is_literal = meaning.is_own or meaning.is_generic or meaning.word == fold_text(cells.column.name)
    if not is_literal and (finding.topic is None or finding.topic.name in _OPINION_TOPICS):
        finding = replace(finding, scale=_find_scale(cells))
    # A key is what is taken for one only because hardly any cell occurs twice.
    is_named = finding.topic is not None and finding.topic.role == "identifier" and finding.topic.name != "key"
    if meaning.is_own or is_named or not is_prose(cells.texts, cells.counts):
        return finding
    return replace(finding, topic=topics_by_name()[PROSE], reason="free text: may name people; leave it out")


def _weigh_evidence(cells: ColumnCells, meaning: Said) -> Finding:
    look = look_of(cells)
    holds_alone = look is not None and (look.is_sure or look.topic in _TOPICS_OF_UNIQUE_CELLS or not _is_unique(cells))
    if look is not None and holds_alone and _goes_first(look, meaning):
        return _finding_of_look(look, meaning, cells)
    # An id alone says whose record a row is, also where it repeats.
    topic = topics_by_name()["key"] if meaning.word == "id" else meaning.topic
    if topic is None or not _can_be(topic, cells):
        return _finding_without_topic(cells, meaning)
    if topic.name in _CHECKED_TOPICS and not (meaning.is_own or fits_topic(topic.name, cells)):
        reason = f"its name says {meaning.word!r}, its cells do not look it"
        return Finding(cells, topics_by_name()["number"], _CONTRADICTED_KNOWABILITY, 0.0, reason)
    how = "a word of yours" if meaning.is_own else "its name"
    # What is asked about has to be explained.
    what = f": {topic.text}" if topic.role == "other" and not meaning.is_own else ""
    return _finding_of_topic(cells, topic, f"{how} says {meaning.word!r}{what}")


def _finding_of_look(look: CellLook, meaning: Said, cells: ColumnCells) -> Finding:
    topic = topics_by_name()[look.topic]
    if look.is_sure:
        return _finding_of_topic(cells, topic, look.text)
    trust = _UNSURE_TRUST if meaning.is_generic or meaning.topic is not None else _CONTRARY_NAME_TRUST
    return Finding(cells, topic, topic.knowability * trust, topic.persons * trust * _UNSURE_TRUST, look.text)


def _finding_of_topic(cells: ColumnCells, topic: Topic, reason: str) -> Finding:
    return Finding(cells, topic, topic.knowability, -1.0 if is_paced(cells) else topic.persons, reason)


def _goes_first(look: CellLook, meaning: Said) -> bool:
    """Tell whether what cells look like goes before what the name says."""
    topic, named_topic = topics_by_name()[look.topic], meaning.topic
    if named_topic is None:
        return True
    if meaning.is_own:
        return False
    if named_topic.role == "identifier" and named_topic.name not in ("name", "web address"):
        return topic.role == "identifier" and look.is_sure
    if named_topic.role == "quasi-identifier" and (topic.role == "quasi-identifier" or topic.name == "web address"):
        return False
    return look.is_sure or named_topic.name in ("outcome", "number", "name")


def _can_be(topic: Topic, cells: ColumnCells) -> bool:
    """Tell whether a topic is possible: persons and keys need many distinct values for their records."""
    if topic.name in ("person", "key"):
        return cells.n_values**2 > cells.n_records
    return topic.name != "number" or not _is_unique(cells)


def _is_unique(cells: ColumnCells) -> bool:
    return cells.n_records > 1 and cells.n_values >= _MIN_UNIQUE_SHARE * cells.n_records


def _finding_without_topic(cells: ColumnCells, meaning: Said) -> Finding:
    """Describe a column whose name and cells match no known topic."""
    is_number, key = len(cells.numbers) > 0, topics_by_name()["key"]
    if _is_unique(cells):
        if meaning.topic is not None:
            finding = _finding_of_topic(cells, key, "its name says id, and nearly every value occurs once")
            return replace(finding, is_counted=True)
        if cells.is_whole and meaning.is_generic and _numbers_rows(cells):
            return replace(_finding_of_topic(cells, key, "it numbers the records"), is_counted=True)
        if not is_number:
            reason = "text, and nearly every value occurs once"
            return Finding(cells, key, key.knowability, 0.0, reason, is_counted=True)
    if cells.is_whole and cells.n_values >= max(_MAX_CODE_VALUES, _MIN_ALONE_SHARE * cells.n_records):
        return Finding(cells, None, 0.4, 0.0, "a number that many records have for themselves")
    if not is_number:
        return Finding(cells, None, 0.35, 0.0, "categories that nothing is known of")
    if cells.n_values <= _MAX_CODE_VALUES:
        return Finding(cells, None, 0.3, 0.0, "codes that nothing is known of")
    if cells.is_whole:
        return Finding(cells, None, 0.2, 0.0, "numbers that nothing is known of")
    return Finding(cells, None, 0.1, 0.0, "a measured number, which others rarely know")


def _numbers_rows(cells: ColumnCells) -> bool:
    """Tell whether the numbers count the records, from 0 or 1 on."""
    return cells.numbers.min() in (0, 1) and float(np.ptp(cells.numbers)) == cells.n_records - 1


def with_answers(findings: Sequence[Finding]) -> list[Finding]:
    """Take five or more columns on one scale for answers to one list of questions.

    Whoever rates seats, gates and times from 0 to 5 names no place or moment that others know.
    """
    n_columns = Counter(each.scale for each in findings if each.scale)
    return [
        replace(
            each,
            topic=topics_by_name()["answer"],
            knowability=topics_by_name()["answer"].knowability,
            persons=0.0,
            reason=_ANSWERS_REASON.format(n_columns[each.scale], each.scale),
        )
        if each.scale and n_columns[each.scale] >= _MIN_ANSWER_COLUMNS
        else each
        for each in findings
    ]


def _find_scale(cells: ColumnCells) -> int:
    if not cells.is_whole or not 4 <= cells.n_values <= _MAX_SCALE_STEP + 1:
        return 0
    low, high = int(cells.numbers.min()), int(cells.numbers.max())
    # Every step is taken by somebody.
    return high if low in (0, 1) and high <= _MAX_SCALE_STEP and cells.n_values == high - low + 1 else 0


def are_about_persons(findings: Iterable[Finding]) -> tuple[bool, str]:
    """Tell whether the rows of a table are about persons, and why."""
    all_findings = list(findings)
    decisive = sorted(each.name for each in all_findings if each.persons >= 1)
    if decisive:
        return True, f"the rows are about persons: {quote_names(decisive)} say so"
    things = sorted(each.name for each in all_findings if each.persons < 0)
    for_things = -math.fsum(each.persons for each in all_findings if each.persons < 0)
    weak = sorted(each.name for each in all_findings if each.persons > 0)
    for_persons = math.fsum(each.persons for each in all_findings if each.persons > 0)
    if weak and for_persons > for_things:
        return True, f"the rows may be about persons: {quote_names(weak)} can be of a person"
    if things:
        return False, f"the rows are about things: {quote_names(things)} say so, and no column looks like persons"
    return False, "no column looks as if the rows were persons; if they are, say of_persons=True"
