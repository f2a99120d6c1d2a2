"""Records that people write as YAML: frozen, strict, and every fault of one with its line and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from hushtable.errors import nearest
from hushtable.policy import plain_yaml

__all__ = ["MisplacedError", "Place", "Record", "fault_line", "faults_of", "no_such"]

Place = tuple[Any, ...]
"""Where something stands in a file: names of entries, and positions in lists."""


class Record(BaseModel):
    """A frozen record, in which unknown entries are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class MisplacedError(ValueError):
    """A fault between two entries of a record, and where in it the one to look at is."""

    def __init__(self, message: str, location: Place) -> None:
        super().__init__(message)
        self.location = location


def faults_of(
    error: ValidationError,
    kind: type[Record],
    given: Any,
    name: str,
    tree: plain_yaml.YamlNode | None,
    above: Place = (),
) -> list[str]:
    """Write what is wrong in the entries of a record, a line each.

    Parameters
    ----------
    error : ValidationError
    kind : type of Record
        What was to be made.
    given : plain values
        What it was to be made of.
    name : str
        The file.
    tree : Node, optional
        Of the whole file: with it, faults have lines.
    above : tuple
        Where the record stands in the file.
    """
    found = [(_place(fault, given), fault) for fault in error.errors(include_url=False)]
    # Where an entry may be of several types, what is wrong inside one says more than that it is none of the others.
    outer = {place[:depth] for place, _ in found for depth in range(len(place))}
    return [
        fault_line(name, tree, (*above, *place), _told(fault, kind, place))
        for place, fault in found
        if place not in outer
    ]


def fault_line(name: str, tree: plain_yaml.YamlNode | None, place: Place, told: str) -> str:
    """Write a fault with its place in a file, and with its line where the tree of the file is known."""
    where = name if tree is None else f"{name} line {plain_yaml.line_of(tree, place)}"
    return f"{where}: {'.'.join(map(str, place))}: {told}"


def no_such(what: str, word: Any, known: Iterable[str]) -> str:
    """Say that a word is none of those that are known, and which of them may be meant."""
    known = list(known)
    return f"{what}.{_meant(word, known)} Known: {', '.join(known)}."


def _meant(word: Any, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return "" if near is None else f" Did you mean {near!r}?"


def _place(fault: Mapping[str, Any], given: Any) -> Place:
    """Return where in a record a fault is: without the types that pydantic tried there, which it puts between."""
    place: list[Any] = []
    for step in fault["loc"]:
        if _has(given, step):
            place.append(step)
            given = given[step]
        elif not _is_type(step):
            place.append(step)
            given = None
    cause = fault.get("ctx", {}).get("error")
    return (*place, *cause.location) if isinstance(cause, MisplacedError) else tuple(place)


def _has(given: Any, step: int | str) -> bool:
    if isinstance(given, (list, tuple)):
        return isinstance(step, int) and step < len(given)
    return isinstance(given, Mapping) and step in given


def _is_type(step: int | str) -> bool:
    # Entries of records are written small, without brackets.
    return isinstance(step, str) and (step in ("int", "float", "str", "bool") or step[:1].isupper() or "[" in step)


def _told(fault: Mapping[str, Any], kind: type[BaseModel], place: Place) -> str:
    if fault["type"] == "extra_forbidden":
        return no_such("no such entry", place[-1], _entries(kind, place[:-1]))
    words = re.findall("'([^']*)'", fault["ctx"]["expected"]) if fault["type"] == "literal_error" else ()
    return f"{fault['msg'].removeprefix('Value error, ')}.{_meant(fault['input'], words)}"


def _entries(kind: type[BaseModel], place: Place) -> list[str]:
    """Return the entries that a record may have, or one of its parts."""
    for step in place:
        field = next((each for name, each in kind.model_fields.items() if step in (name, each.alias)), None)
        if field is not None:
            kind = next(_records_in(field.annotation), kind)
    return [field.alias or name for name, field in kind.model_fields.items()]


def _records_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)
