"""The policy's file and its history: every state is a file, and undo is a step back among them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from hushtable.errors import InputError
from hushtable.io import drafts, read_text

_POSITION_FILE: Final = "at"
_MAX_CHARACTERS: Final = 1_000_000  # characters, as of a policy


class PolicyVersions:
    """The history of a policy, in the folder ``NAME.history`` beside its file.

    Parameters
    ----------
    file : path
        The policy.

    Attributes
    ----------
    at : int
        The number of the step that the file holds; 0 where there is none.
    last : int
        The number of the last step.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.folder = file.with_name(f"{file.name}.history")
        if self.folder.is_symlink() or (self.folder.exists() and not self.folder.is_dir()):
            raise InputError(
                f"{self.folder.name!r} is no folder.",
                hint="the page keeps the history of the policy there: move it away.",
            )
        numbers = [int(each.stem) for each in self.folder.glob("*.yaml") if each.stem.isdecimal()]
        self.last = max(numbers, default=0)
        self.at = self.last
        with contextlib.suppress(OSError, ValueError):
            self.at = min(self.last, max(0, int((self.folder / _POSITION_FILE).read_text(encoding="ascii"))))

    @property
    def text(self) -> str | None:
        """The text of the file now; None if there is no readable file."""
        try:
            return read_text(self.file, most_bytes=4 * _MAX_CHARACTERS)
        except (OSError, ValueError):
            return None

    def read_step(self, number: int) -> str | None:
        """Return the policy of a step; None if it cannot be read."""
        try:
            return (self.folder / f"{number:04}.yaml").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def write_state(self, text: str) -> None:
        """Write a new state; undone states are removed."""
        self.record_state(text)
        self._write_file(self.file, text)

    def record_state(self, text: str) -> None:
        """Record a state that the file holds already."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for number in range(self.at + 1, self.last + 1):
            (self.folder / f"{number:04}.yaml").unlink(missing_ok=True)
        self.last = self.at + 1
        self._write_file(self.folder / f"{self.last:04}.yaml", text)
        self._write_position(self.last)

    def go_to_step(self, number: int) -> None:
        """Go to a step of the history, if there is one."""
        text = self.read_step(number)
        if text is not None:
            self._write_file(self.file, text)
            self._write_position(number)

    def _write_position(self, number: int) -> None:
        self._write_file(self.folder / _POSITION_FILE, f"{number}\n")
        self.at = number

    def _write_file(self, path: Path, text: str) -> None:
        drafts.check_outputs((path,), (), overwrite=True)
        with drafts.replace_files(path) as (draft,):
            draft.write_text(text, encoding="utf-8", newline="\n")
