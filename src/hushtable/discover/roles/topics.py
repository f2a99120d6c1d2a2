"""What a column can be about, and lists of words and values that say so: data files with their origin written on top.

A list has a line for each topic and language: words or values with commas between them, a tab, the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import cast

from hushtable.columns import Role

__all__ = ["Topic", "entries", "packaged", "rows", "topics"]


@dataclass(frozen=True, slots=True)
class Topic:
    """What a column is about.

    Attributes
    ----------
    name : str
    role : Role
        What it is in a table of persons. "quasi-identifier" and "other" are settled by the score.
    knowability : float
        How probably somebody outside knows its value of a person, in [0, 1].
    known_by : str
    persons : float
        How far such a column says that rows are persons: 1 suffices, less counts together, below 0 speaks of things.
    text : str
        What it is, for reasons.
    rank : int
        Its place in the file: the most careful first.
    """

    name: str
    role: Role
    knowability: float
    known_by: str
    persons: float
    text: str
    rank: int


def packaged(name: str) -> str:
    """Return the text of a data file of this package."""
    return resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")


@cache
def topics() -> Mapping[str, Topic]:
    """Return every topic by its name."""
    found: dict[str, Topic] = {}
    for _, (name, role, knowability, known_by, persons, text) in rows(packaged("topics.tsv")):
        found[name] = Topic(name, cast(Role, role), float(knowability), known_by, float(persons), text, len(found))
    return MappingProxyType(found)


def entries(text: str) -> Iterator[tuple[int, str, str]]:
    """Return every word or value of a list with its line and its topic; a line without a topic has "" for it."""
    for line, (words, *topic) in rows(text):
        for word in words.split(","):
            yield line, word.strip(), topic[0].strip() if len(topic) == 1 else ""


def rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return every line of a list that is no comment with its number and its fields."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.split("\t")
