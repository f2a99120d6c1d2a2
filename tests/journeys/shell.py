"""A shell as far as a person needs one on a journey: lines of ``hushtable``, and an editor for its files."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from command import Outcome, run


@dataclass(frozen=True)
class Shell:
    """Types lines in one folder, and insists on the code with which each should end."""

    folder: Path
    language: str = "en"

    def type(self, line: str, code: int = 0) -> Outcome:
        """Run a line and return what it printed; AssertionError unless it ends with `code`."""
        program, *arguments = shlex.split(line)
        assert program == "hushtable", f"a journey needs no {program}"
        language = mock.patch.dict(os.environ, {"HUSHTABLE_LANGUAGE": self.language})
        with contextlib.chdir(self.folder), language:
            outcome = run(*arguments)
        printed = f"{outcome.out}\n{outcome.err}"
        assert outcome.code == code, f"$ {line}\nended with {outcome.code} instead of {code}:\n{printed}"
        assert "Traceback" not in printed, printed
        return outcome

    def edit(self, name: str, **lines: str) -> None:
        """Give entries of a policy another value, as a person does in an editor: each stands there once."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        for entry, value in lines.items():
            found = [line for line in text.splitlines() if line.strip().startswith(f"{entry}:")]
            assert len(found) == 1, f"{name} has {len(found)} lines of {entry}"
            before = found[0].partition(f"{entry}:")[0]
            text = text.replace(found[0], f"{before}{entry}: {value}")
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, before: str, after: str) -> None:
        """Replace a text in a file wherever it stands; AssertionError unless it stands there."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert before in text, f"{name} does not hold {before!r}"
        path.write_text(text.replace(before, after), encoding="utf-8")

    def read(self, name: str, encoding: str = "utf-8") -> str:
        """Return the text of a file."""
        return (self.folder / name).read_text(encoding=encoding)

    def text_of_page(self, name: str) -> str:
        """Return what a reader of an HTML page sees."""
        return " ".join(re.sub(r"<[^>]+>", " ", self.read(name)).split())
