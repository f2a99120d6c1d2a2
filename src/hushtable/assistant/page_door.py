"""The door to a person: the local page, which is opened when something waits there, and what was decided on it."""

from __future__ import annotations

import contextlib
import webbrowser
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Thread
from typing import Final

from hushtable.assistant.memory import PolicyShelf
from hushtable.assistant.plain_values import Json
from hushtable.errors import HushError
from hushtable.page import Desk, PageServer, Suggestion
from hushtable.policy import Policy

_MAX_WAIT_SECONDS: Final = 60.0  # seconds for a table to be read
_POLL_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class PageState:
    """What a person has decided so far.

    Attributes
    ----------
    policy : int
        The number of the policy in force.
    answers : tuple of (key, answer)
        Of suggestions.
    signed : int or None
        The number of the policy of the release that was signed last.
    """

    policy: int
    answers: tuple[tuple[str, str], ...] = ()
    signed: int | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the state as plain values."""
        return {**asdict(self), "answers": [list(each) for each in self.answers]}

    @classmethod
    def from_dict(cls, entries: Json) -> PageState:
        """Return a state of a transcript."""
        answers = tuple((str(key), str(answer)) for key, answer in entries["answers"])
        signed = entries["signed"]
        return cls(int(entries["policy"]), answers, None if signed is None else int(signed))


@dataclass(slots=True, eq=False)
class PageDoor:
    """Opens the page, puts suggestions there, and reads what was decided.

    Attributes
    ----------
    table, policy_file : path
    shelf : PolicyShelf
    open_browser : callable, optional
        Takes an address that works once; None where the person opens the page, as tests do.
    """

    table: Path
    policy_file: Path
    shelf: PolicyShelf
    open_browser: Callable[[str], object] | None = webbrowser.open
    desk: Desk | None = field(default=None, init=False)
    server: PageServer | None = field(default=None, init=False)
    transcript_head: Callable[[], str] = field(default=str, init=False)
    _thread: Thread | None = field(default=None, init=False)

    def suggest(self, suggestion: Suggestion) -> None:
        """Put a suggestion on the page, and open it if it is not open."""
        self._open().suggest(suggestion)

    def read_state(self, before: PageState | None = None) -> PageState:
        """Return what a person has decided; where the policy cannot be read, the one before is in force."""
        try:
            policy = Policy.read(self.policy_file)
            number = self.shelf.number_of(policy, self.policy_file.parent)
        except (HushError, OSError):
            if before is None:
                raise
            number = before.policy
        if self.desk is None:
            return PageState(number)
        with self.desk.lock:
            answers, written = tuple(sorted(self.desk.suggestion_answers.items())), self.desk.written
        signed = None
        if written is not None and written.signed is not None and written.is_verified:
            made = Policy.parse(written.text, "policy", self.policy_file.parent)
            signed = self.shelf.number_of(made, self.policy_file.parent)
        return PageState(number, answers, signed)

    def close(self) -> None:
        """End the page."""
        if self.server is not None and self._thread is not None and self._thread.is_alive():
            self.server.shutdown()
            self._thread.join()
        if self.desk is not None:
            self.desk.jobs.stop()
            self.desk.jobs.wait(_MAX_WAIT_SECONDS)

    def _open(self) -> Desk:
        if self.desk is None:
            self.desk = Desk(self.table.parent, anywhere=True, policy=self.policy_file)
            self.desk.transcript_head = self.transcript_head
            self.desk.open_table(self.table)
        if self._thread is None or not self._thread.is_alive():
            # It ends by itself after half an hour in which nobody asked.
            self.server = PageServer(self.desk)
            self._thread = Thread(target=self._serve, args=(self.server,), daemon=True)
            self._thread.start()
            if self.open_browser is not None:
                with contextlib.suppress(webbrowser.Error, OSError):
                    self.open_browser(self.server.launch_url())
        return self.desk

    def _serve(self, server: PageServer) -> None:
        with server:
            server.serve_forever(_POLL_SECONDS)
