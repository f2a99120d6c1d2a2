"""A server over the pipes of a process: nothing but messages leaves them, and every message is in the transcript."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import BinaryIO

from hushtable.assistant.memory import make_private_folder
from hushtable.assistant.opening import OpenedTable
from hushtable.assistant.page_door import PageState
from hushtable.assistant.server import TappedInput, TappedOutput, build_server, serve
from hushtable.assistant.transcript import TranscriptWriter
from hushtable.assistant.verdicts import BITS


def claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the standard input and output for messages alone.

    Whatever else writes goes nowhere, errors of libraries too: clients keep them in files, and they may hold a cell.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def new_transcript(opened: OpenedTable, *, has_page: bool) -> TranscriptWriter:
    """Begin the transcript of a session, in the state folder."""
    folder = make_private_folder(opened.state / "transcripts")
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    number, path = 1, folder / f"{name}.jsonl"
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.jsonl"
    return TranscriptWriter(path, opened.header(has_page=has_page))


def run_session(
    opened: OpenedTable,
    transcript: TranscriptWriter,
    pipes: tuple[BinaryIO, BinaryIO],
    *,
    has_page: bool,
    pad_seconds: float = 1.0,
) -> None:
    """Serve one client until its pipe ends; the transcript is whole then."""
    session, door, totals = opened.session, opened.door, [0]

    def note(bits: float) -> None:
        totals[0] += 1
        transcript.append("note", {"bits": bits, "verdicts": totals[0]})

    session.note = note
    if has_page:
        door.transcript_head = lambda: transcript.head
        session.suggest = door.suggest

    def tell_cancelled(request: str, was: str) -> None:
        transcript.append("note", {"cancelled": request, "was": was})

    server = build_server(session, _reader_of_states(opened, transcript), tell_cancelled, pad_seconds=pad_seconds)
    incoming = TappedInput(pipes[0], lambda text: transcript.append("in", text))
    outgoing = TappedOutput(pipes[1], lambda text: transcript.append("out", text))
    try:
        serve(server, incoming, outgoing)
    finally:
        door.close()
        transcript.append("end", {"verdicts": totals[0], "bits": totals[0] * BITS})
        transcript.close()


def _reader_of_states(opened: OpenedTable, transcript: TranscriptWriter) -> Callable[[int], PageState]:
    """Return what reads the decisions of a person before a call, and tells the transcript of new ones."""

    def read_state(call: int) -> PageState:
        before = opened.session.state
        state = opened.door.read_state(before)
        if state != before:
            transcript.append("page", {"call": call, "state": state.to_dict()})
        return state

    return read_state
