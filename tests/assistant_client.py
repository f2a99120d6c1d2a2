"""A scripted client of the server for assistants, over pipes, in both eras of the protocol; it keeps every byte."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from hushtable.assistant import AssistantOptions, new_transcript, open_session, run_session
from hushtable.assistant.opening import OpenedTable
from served_page import Visitor

MODES = ("2025-11-25", "2026-07-28")
_INFO = {"name": "script", "version": "1"}


class Client:
    """Sends one message after the other, and waits for each answer."""

    def __init__(self, outgoing: Any, incoming: Any, mode: str) -> None:
        self.sent: list[bytes] = []
        self.got: list[bytes] = []
        self._outgoing, self._incoming, self._mode, self._number = outgoing, incoming, mode, 0
        if mode == MODES[0]:
            self.ask("initialize", {"protocolVersion": mode, "capabilities": {}, "clientInfo": _INFO})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self.ask("server/discover", {})

    def send_bytes(self, raw: bytes) -> None:
        """Send a line as it is."""
        self.sent.append(raw)
        self._outgoing.write(raw + b"\n")
        self._outgoing.flush()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self.send_bytes(json.dumps(message).encode())

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and return its answer."""
        self._number += 1
        if self._mode == MODES[1]:
            about = {"protocolVersion": self._mode, "clientInfo": _INFO, "clientCapabilities": {}}
            params = {**params, "_meta": {f"io.modelcontextprotocol/{name}": each for name, each in about.items()}}
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            line = self._incoming.readline()
            assert line, "the server ended"
            self.got.append(line.rstrip(b"\n"))
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer

    def call_raw(self, tool: str, arguments: object) -> str:
        """Call a tool, and return the text of its answer."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        (content,) = answer["result"]["content"]
        return content["text"]

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool, and return the data of its answer."""
        text = self.call_raw(tool, arguments)
        assert len(text.encode()) <= 20_000
        told = json.loads(text)
        assert set(told) == {"data"}
        return told["data"]


class Served:
    """A server with its client; a person may be at the page."""

    def __init__(self, opened: OpenedTable, client: Client, transcript: Path) -> None:
        self.opened = opened
        self.client = client
        self.transcript = transcript

    def person(self) -> Visitor:
        """Return somebody at the page, who is let in."""
        server = self.opened.door.server
        assert server is not None, "nothing waits for a person"
        visitor = Visitor(server)
        visitor.enter()
        visitor.settle()
        return visitor


@contextlib.contextmanager
def served(options: AssistantOptions, mode: str = MODES[1], *, has_page: bool = True) -> Iterator[Served]:
    """Serve a table to a client, in this process; the transcript is whole after it."""
    opened = open_session(options)
    opened.door.open_browser = None
    transcript = new_transcript(opened, has_page=has_page)
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    pipes = os.fdopen(to_server, "rb"), os.fdopen(from_server, "wb")
    faults: list[BaseException] = []

    def run() -> None:
        try:
            run_session(opened, transcript, pipes, has_page=has_page, pad_seconds=0)
        except BaseException as error:
            faults.append(error)
            raise
        finally:
            pipes[1].close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    with os.fdopen(from_client, "wb") as outgoing, os.fdopen(to_client, "rb") as incoming:
        try:
            yield Served(opened, Client(outgoing, incoming, mode), transcript.path)
        finally:
            outgoing.close()
            thread.join(60)
            pipes[0].close()
    assert not thread.is_alive()
    assert not faults


def release_hash(path: Path) -> str:
    """Return a hash of a release in which the order of its rows, which is drawn, does not count."""
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    return hashlib.sha256("\n".join([head, *sorted(rows)]).encode()).hexdigest()


def small_people(n: int = 240) -> pl.DataFrame:
    """Return a small table of people, the same always: few rows cost little."""
    return pl.DataFrame(
        {
            "name": [f"Person {i}" for i in range(n)],
            "age": [20 + (i * 7) % 43 for i in range(n)],
            "sex": ["f" if i % 2 else "m" for i in range(n)],
            "postcode": [f"{80331 + 11 * (i % 7)}" for i in range(n)],
            "education": [("low", "middle", "high")[(i * i) % 7 % 3] for i in range(n)],
            "diagnosis": [("J18", "I10", "E11", "K80")[(i // 3) % 4] for i in range(n)],
        }
    )
