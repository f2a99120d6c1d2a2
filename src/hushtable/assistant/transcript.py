"""A transcript: every line that went over the pipe, both ways, each bound to all before it by a hash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from hushtable.assistant.plain_values import Json, digest_of
from hushtable.errors import InputError, VerificationError

KINDS_OF_LINES: Final = ("header", "in", "out", "page", "note", "end")
"""What a line is: what the server started with, a message to it or from it, what a person did, bits, and the end."""

_START: Final = "0" * 64
_MAX_BYTES: Final = 1_000_000_000  # bytes of a transcript


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line of a transcript.

    Attributes
    ----------
    kind : str
        One of `KINDS_OF_LINES`.
    content : Json
        The text of a message without its line end; plain values of other lines.
    chain : str
        The hash of this line and of the hash before it.
    """

    kind: str
    content: Json
    chain: str


def chain_hash(before: str, kind: str, content: object) -> str:
    """Return the hash of a line, after the hash before it."""
    return digest_of([before, kind, content])


def _format_line(kind: str, content: object, chain: str) -> str:
    return json.dumps({"kind": kind, "content": content, "chain": chain})


class TranscriptWriter:
    """Writes a transcript to a new file that only its user may read, line by line.

    Parameters
    ----------
    path : path
    header : mapping
        What the server started with.
    """

    def __init__(self, path: Path, header: Mapping[str, Json]) -> None:
        self.path = path
        self.head = _START
        self._lock = Lock()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise InputError(
                f"the transcript cannot be written: {error.strerror}.", hint="pass another folder with --state."
            ) from None
        self._file = os.fdopen(descriptor, "w", encoding="ascii", newline="\n")
        self.append("header", dict(header))

    def append(self, kind: str, content: object) -> None:
        """Append a line; it is on the disk before the message is sent."""
        with self._lock:
            self.head = chain_hash(self.head, kind, content)
            self._file.write(_format_line(kind, content, self.head) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_transcript(path: Path) -> tuple[TranscriptLine, ...]:
    """Read a transcript and check its chain.

    Raises
    ------
    InputError
        The file cannot be read.
    VerificationError
        A line was changed, removed, added or moved.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path.name!r} is too large for a transcript.", hint="pass the file of one session.")
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the transcript {path.name!r} cannot be read: {error.strerror}.", hint="look at its path."
        ) from None
    lines = tuple(_parse_lines(raw, path.name))
    if not lines or lines[0].kind != "header" or not isinstance(lines[0].content, dict):
        raise VerificationError(f"{path.name!r} is no transcript.", hint="`hushtable assist` writes one.")
    if [line.kind for line in lines].index("end") != len(lines) - 1 if lines[-1].kind == "end" else True:
        raise VerificationError(
            f"the transcript {path.name!r} has no end: lines may be missing there.",
            hint="the server was killed, or the file was cut: do not trust what is not in it.",
        )
    return lines


def _parse_lines(raw: bytes, name: str) -> Iterator[TranscriptLine]:
    before = _START
    for number, text in enumerate(raw.split(b"\n")[:-1] if raw.endswith(b"\n") else [b""], start=1):
        try:
            entry = json.loads(text.decode("ascii"))
            line = TranscriptLine(entry["kind"], entry["content"], entry["chain"])
            is_whole = text.decode("ascii") == _format_line(line.kind, line.content, line.chain)
        except (ValueError, KeyError, TypeError, RecursionError):
            is_whole, line = False, TranscriptLine("", None, "")
        if not is_whole or line.kind not in KINDS_OF_LINES or line.chain != chain_hash(before, line.kind, line.content):
            raise VerificationError(
                f"line {number} of the transcript {name!r} is not as it was written.",
                hint="a line was changed, removed or moved: do not trust the transcript.",
            )
        before = line.chain
        yield line
