"""A transcript is judged: its chain, then every message again, from the table and the messages of the client alone."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Condition
from typing import Final

from hushtable.assistant.memory import MOST_VERDICTS, AnswerMemory, PolicyShelf, make_private_folder
from hushtable.assistant.opening import FORMAT
from hushtable.assistant.page_door import PageState
from hushtable.assistant.plain_values import Json, digest_of
from hushtable.assistant.server import PROGRESS_TEXT, build_server, serve
from hushtable.assistant.session import AssistantSession
from hushtable.assistant.sheet import make_sheet
from hushtable.assistant.source import FEWEST_PERSONS, MENU, AssistantTerms, read_source
from hushtable.assistant.transcript import TranscriptLine, read_transcript
from hushtable.assistant.verdicts import BITS
from hushtable.errors import VerificationError
from hushtable.wording import StatesFacts, careful

_CANCELLED: Final = "notifications/cancelled"
_MAX_WAIT_SECONDS: Final = 600.0  # seconds for one answer


@dataclass(frozen=True, slots=True)
class TranscriptVerdict(StatesFacts):
    """What came of replaying a transcript.

    Attributes
    ----------
    n_messages : int
        Messages of the server that were compared.
    n_verdicts : int
        New verdicts of the session.
    bits : float
        The most that these verdicts can have told.
    differences : tuple of str
        Where the transcript is not what the table and the questions give; empty if it holds.
    head : str
        The hash of its last line.
    """

    n_messages: int
    n_verdicts: int
    bits: float
    differences: tuple[str, ...]
    head: str

    @property
    def passed(self) -> bool:
        """Whether every byte is what it must be."""
        return not self.differences

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        if self.differences:
            return tuple(careful(each) for each in self.differences)
        return (
            f"All {self.n_messages:,} messages of the server follow from the table, the terms and the questions.",
            f"{self.n_verdicts:,} new verdicts gave at most {self.bits:.1f} bits.",
            f"The transcript ends with the hash {self.head}.",
        )

    def to_dict(self) -> dict[str, Json]:
        """Return the verdict as plain values."""
        return {
            "passed": self.passed,
            "n_messages": self.n_messages,
            "n_verdicts": self.n_verdicts,
            "bits": self.bits,
            "differences": list(self.differences),
            "head": self.head,
        }


def verify_transcript(path: Path, original: Path, state: Path | None = None) -> TranscriptVerdict:
    """Replay a transcript against the table that it is about.

    Parameters
    ----------
    path : path
        The transcript.
    original : path
        The table.
    state : path, optional
        The state folder, which holds the policies; the one that the transcript lies in when not given.

    Raises
    ------
    VerificationError
        The chain is broken, or another version or another table made it.
    """
    lines = read_transcript(path)
    header = lines[0].content
    _check_version(header)
    try:
        _check_terms(header)
        return _replay(lines, original, (state or path.absolute().parent.parent))
    except (KeyError, TypeError, AttributeError, IndexError):
        raise VerificationError(
            "the transcript has a line of another form.", hint="it was not written by this version."
        ) from None


def _check_version(header: Mapping[str, Json]) -> None:
    made_by = [header.get(name) for name in ("format", "hushtable", "mcp")]
    if made_by != [FORMAT, version("hushtable"), version("mcp")] or header.get("terms", {}).get("menu") != MENU:
        raise VerificationError(
            f"the transcript was written by hushtable {made_by[1]} with mcp {made_by[2]}.",
            hint="install these versions to replay it: others may answer otherwise.",
        )


def _check_terms(header: Mapping[str, Json]) -> None:
    verdicts, least = header["verdicts"], header["terms"]["least"]
    if (verdicts["most"], verdicts["bits"], least) != (MOST_VERDICTS, BITS, FEWEST_PERSONS):
        raise VerificationError(
            "the transcript has other limits than the server.",
            hint=f"it shows values of {FEWEST_PERSONS} persons and more, and gives {MOST_VERDICTS} verdicts.",
        )


def _replay(lines: Sequence[TranscriptLine], original: Path, state: Path) -> TranscriptVerdict:
    header, head = lines[0].content, lines[-1].chain
    # The folder of a table has a part of its hash for a name.
    shelf = PolicyShelf(state / "tables" / header["source"][:32] / "policies")
    first = PageState.from_dict(header["state"])
    source = read_source(original, shelf.policy_of(first.policy) if header["has_given_policy"] else None)
    if source.digest != header["source"]:
        raise VerificationError(
            "the table is not the one that the transcript is about: its SHA-256 differs.",
            hint="pass the table as it was when the server was started.",
        )
    entries = {name: each for name, each in header["terms"].items() if name != "menu"}
    terms = AssistantTerms(**{**entries, "withheld": tuple(entries["withheld"])})
    sheet = make_sheet(source, terms)
    is_same = digest_of(sheet.to_dict()) == digest_of(header["sheet"])
    differences = [] if is_same else ["The sheet does not follow from the table."]
    script = _make_script(lines)
    differences += script.find_unanswered()
    with tempfile.TemporaryDirectory() as folder:
        memory = _fill_memory(Path(folder), digest_of([source.digest, terms.to_dict()]), header["verdicts"])
        session = AssistantSession(source, terms, sheet, memory, shelf, first)
        new: list[float] = []
        session.note = new.append
        session.suggest = (lambda _: None) if header["has_page"] else None
        if not differences:
            states = [(line.content["call"], line.content["state"]) for line in lines if line.kind == "page"]
            server = build_server(session, _StateReader(first, states), pad_seconds=0)
            serve(server, script, script)
    differences += script.compare()
    if not differences and lines[-1].content != {"verdicts": len(new), "bits": len(new) * BITS}:
        differences.append("The sum of bits at the end is not that of the verdicts.")
    return TranscriptVerdict(script.n_compared, len(new), len(new) * BITS, tuple(differences), head)


def _make_script(lines: Sequence[TranscriptLine]) -> _Script:
    """Return the messages; calls that were cancelled are made again if their work had begun, but have no answer."""
    notes = [line.content for line in lines if line.kind == "note"]
    begun = {note["cancelled"]: note["was"] == "begun" for note in notes if "cancelled" in note}
    messages = [line for line in lines if line.kind in ("in", "out")]
    kept = [
        line
        for line in messages
        if line.kind == "out"
        or (begun.get(_request_id(line.content), True) and _parse(line.content).get("method") != _CANCELLED)
    ]
    return _Script(kept, frozenset(begun))


def _fill_memory(folder: Path, source: str, verdicts: Mapping[str, Json]) -> AnswerMemory:
    """Return a memory in which the places are taken that were taken before the session."""
    memory = AnswerMemory(make_private_folder(folder), source)
    for question in verdicts["asked"]:
        memory.claim_place(question)
    others = AnswerMemory(folder, "other tables")
    for number in range(verdicts["taken"] - len(verdicts["asked"])):
        others.claim_place(str(number))
    return memory


@dataclass(slots=True, eq=False)
class _StateReader:
    """What a person had decided before each call, as the transcript tells it."""

    now: PageState
    states: Sequence[tuple[int, Mapping[str, Json]]]

    def __call__(self, call: int) -> PageState:
        for first_call, entries in self.states:
            if first_call <= call:
                self.now = PageState.from_dict(entries)
        return self.now


@dataclass(slots=True, eq=False)
class _Script:
    """The client of a transcript: sends its messages again, each when those that came before it were answered."""

    messages: Sequence[TranscriptLine]
    cancelled: frozenset[str]
    answered: list[str] = field(default_factory=list)
    _place: int = 0
    _changed: Condition = field(default_factory=Condition)

    @property
    def n_compared(self) -> int:
        """The messages of the server that are compared."""
        return len(self._list_expected_messages(len(self.messages)))

    def readline(self) -> str:
        """Return the next message of the client; empty at the end."""
        while self._place < len(self.messages) and self.messages[self._place].kind == "out":
            self._place += 1
        n_before = len(self._list_expected_messages(self._place))
        with self._changed:
            self._changed.wait_for(lambda: len(self.answered) >= n_before, _MAX_WAIT_SECONDS)
            if len(self.answered) < n_before or self._place >= len(self.messages):
                return ""
        self._place += 1
        return f"{self.messages[self._place - 1].content}\n"

    def write(self, text: str) -> int:
        """Take a message of the server."""
        if not _is_progress(text) and _answer_id(text) not in self.cancelled:
            with self._changed:
                self.answered.append(text.removesuffix("\n"))
                self._changed.notify_all()
        return len(text)

    def flush(self) -> None:
        """Do nothing: nothing is held back."""

    def find_unanswered(self) -> list[str]:
        """Find messages of the server that answer nothing, and requests of the client without an answer."""
        asked = [key for each in self.messages if each.kind == "in" and (key := _request_id(each.content))]
        asked = [key for key in asked if key not in self.cancelled]
        told = [key for each in self._list_expected_messages(len(self.messages)) if (key := _answer_id(each))]
        if len(told) != len(self._list_expected_messages(len(self.messages))):
            return ["The server sent a message that is no answer."]
        if self.cancelled & set(told):
            return ["The server answered a call that was cancelled."]
        return [] if sorted(asked) == sorted(told) else ["Requests and answers are not the same number."]

    def compare(self) -> list[str]:
        """Compare what the server sent with what it sends now."""
        expected = self._list_expected_messages(len(self.messages))
        if sorted(expected) == sorted(self.answered):
            return []
        place = next((n for n, each in enumerate(expected) if each not in self.answered), len(expected))
        return [f"Message {place + 1:,} of the server does not follow from the table and the questions."]

    def _list_expected_messages(self, end: int) -> list[str]:
        return [each.content for each in self.messages[:end] if each.kind == "out" and not _is_progress(each.content)]


def _parse(text: object) -> dict[str, Json]:
    try:
        entries = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _request_id(text: object) -> str | None:
    entries = _parse(text)
    return json.dumps(entries["id"]) if "method" in entries and entries.get("id") is not None else None


def _answer_id(text: object) -> str | None:
    entries = _parse(text)
    return json.dumps(entries["id"]) if "method" not in entries and entries.get("id") is not None else None


def _is_progress(text: object) -> bool:
    """Tell whether a message only says that a tool works."""
    entries = _parse(text)
    params = entries.get("params")
    return (
        set(entries) == {"jsonrpc", "method", "params"}
        and entries["method"] == "notifications/progress"
        and isinstance(params, dict)
        and set(params) == {"progressToken", "progress", "message"}
        and params["message"] == PROGRESS_TEXT
        and isinstance(params["progress"], (int, float))
    )
