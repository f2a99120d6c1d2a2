"""What a server remembers outside the table's folder: answers, the sheet, and the policies that a person left.

The same question has the same answer for ever, in this session and in every later one, whatever version answered it.
Tables of the same columns share their verdicts: those of yesterday's and today's table tell more together.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hushtable.assistant.plain_values import Json, digest_of
from hushtable.assistant.sheet import Sheet, make_sheet
from hushtable.assistant.source import AssistantSource, AssistantTerms
from hushtable.errors import InputError
from hushtable.policy import Policy

MOST_VERDICTS: Final = 50
"""Verdicts on tables of the same columns; then only a person goes on, on the page."""

_NUMBER: Final = re.compile(r"[0-9]{2,4}\.json")


def default_state_folder() -> Path:
    """Return where the state of servers is kept: with the user, and not beside the table."""
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return home / "hushtable" / "assistant"


def make_private_folder(folder: Path) -> Path:
    """Make a folder that only the user reads, and those above it that are missing."""
    try:
        # Not by `parents=True`: folders above would be open to others.
        for each in (*reversed(folder.parents), folder):
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the state folder cannot be made: {error.strerror}.", hint="pass another one with --state."
        ) from None
    return folder


def write_new_file(path: Path, text: str) -> bool:
    """Write a file that only the user reads; False if it exists."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return True


@dataclass(frozen=True, slots=True)
class AnswerMemory:
    """The verdicts on tables of the same columns, each in a numbered file.

    Attributes
    ----------
    folder : path
    source : str
        The hash of the table and of the terms, of which this server asks.
    """

    folder: Path
    source: str

    def find_answer(self, question: str) -> tuple[Path | None, dict[str, Json] | None]:
        """Return the place of a question, and its answer; None where it was not asked, or not answered."""
        for path in self._list_places():
            entry = _read_json(path)
            if entry.get("source") == self.source and entry.get("question") == question:
                return path, entry.get("answer")
        return None, None

    def claim_place(self, question: str) -> Path | None:
        """Return a place for a new question; None if all are taken. Two servers never take the same one."""
        text = json.dumps({"source": self.source, "question": question})
        places = (self.folder / f"{number:02}.json" for number in range(1, MOST_VERDICTS + 1))
        return next((place for place in places if write_new_file(place, text)), None)

    def store_answer(self, place: Path, question: str, answer: Mapping[str, Json]) -> None:
        """Store an answer at its place."""
        draft = place.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        write_new_file(draft, json.dumps({"source": self.source, "question": question, "answer": answer}))
        draft.replace(place)

    def list_questions(self) -> tuple[int, tuple[str, ...]]:
        """Return how many places are taken, and the questions of this table among them."""
        entries = [_read_json(path) for path in self._list_places()]
        own = tuple(entry["question"] for entry in entries if entry.get("source") == self.source)
        return len(entries), own

    def has_other_sources(self) -> bool:
        """Tell whether another table of the same columns was asked about."""
        return any(_read_json(path).get("source") != self.source for path in self._list_places())

    def _list_places(self) -> list[Path]:
        return sorted(each for each in self.folder.glob("*.json") if _NUMBER.fullmatch(each.name))


def open_memory(state: Path, source: AssistantSource, terms: AssistantTerms) -> AnswerMemory:
    """Open the memory of tables of the same columns."""
    schema = digest_of(sorted(source.frame.columns))[:16]
    folder = make_private_folder(state / "verdicts" / schema)
    return AnswerMemory(folder, digest_of([source.digest, terms.to_dict()]))


def find_sheet(state: Path, source: AssistantSource, terms: AssistantTerms) -> Sheet:
    """Return the sheet that was stored for a table and its terms, or make and store it."""
    folder = make_private_folder(state / "sheets")
    path = folder / f"{digest_of([source.digest, terms.to_dict()])[:32]}.json"
    if not path.exists():
        write_new_file(path, json.dumps(make_sheet(source, terms).to_dict()))
    return Sheet.from_dict(_read_json(path))


@dataclass(frozen=True, slots=True)
class PolicyShelf:
    """Every policy that was in force for a table or was asked to be signed, under a number.

    A message holds the number alone: the text names columns, and its hash would confirm guesses of it.
    """

    folder: Path

    def number_of(self, policy: Policy, folder: Path) -> int:
        """Return the number of a policy, which is kept if it is new."""
        text = json.dumps({"text": policy.to_yaml(), "folder": str(folder)})
        number = 1
        while not write_new_file(path := self.folder / f"{number:04}.json", text):
            if path.read_text(encoding="utf-8") == text:
                return number
            number += 1
        return number

    def policy_of(self, number: int) -> Policy:
        """Return a policy by its number; InputError if there is none."""
        entry = _read_json(self.folder / f"{number:04}.json")
        if not entry:
            raise InputError(
                f"policy {number} is not in the state folder.",
                hint="replay a transcript where it was written, in its state folder.",
            )
        return Policy.parse(entry["text"], f"policy {number}", Path(entry["folder"]))


def open_shelf(state: Path, source: AssistantSource) -> PolicyShelf:
    """Open the policies of a table."""
    return PolicyShelf(make_private_folder(state / "tables" / source.digest[:32] / "policies"))


def _read_json(path: Path) -> dict[str, Json]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
