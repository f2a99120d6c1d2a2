"""What a case came to, and how it is told."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hushtable.errors import HushError


@dataclass(frozen=True)
class Failure:
    """Something that must not be: what it is (failures of one kind are counted together), and how to see it again."""

    what: str
    detail: str
    reproduction: str = ""


@dataclass
class Outcome:
    """How a case ended: counts of whatever was seen, and failures."""

    seen: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    reproduction: str = ""
    secrets: tuple[str, ...] = ()

    def count(self, what: str) -> None:
        """Count one more of something."""
        self.seen.append(what)

    def fail(self, what: str, detail: object = "") -> None:
        """Note a failure, the first of its kind."""
        if not any(failure.what == what for failure in self.failures):
            self.failures.append(Failure(what, str(detail)[:1500], self.reproduction))

    def expect(self, holds: object, what: str, detail: object = "") -> None:
        """Note a failure unless something holds."""
        if not holds:
            self.fail(what, detail)

    def complain(self, what: str, complaints: Iterable[str]) -> None:
        """Note a failure where there are complaints."""
        complaints = list(complaints)
        if complaints:
            self.fail(what, "\n".join(complaints[:5]))

    @contextlib.contextmanager
    def guarded(self, what: str, refusals: type[Exception] | tuple[type[Exception], ...] = HushError) -> Iterator[None]:
        """Count refusals of our own kind; any other exception is a failure, and so is a person's value in its text."""
        try:
            yield
        except refusals as error:
            self.count(f"{what}: {type(error).__name__}")
            text = str(error)
            leaked = [secret for secret in self.secrets if secret in text]
            if leaked:
                self.fail(f"{what}: an error tells a person's value ({type(error).__name__})", text)
        except Exception as error:
            self.fail(f"{what}: {type(error).__name__} at {_place(error)}", f"{type(error).__name__}: {error}")


def _place(error: Exception) -> str:
    """Return the innermost line of hushtable that an exception passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "hushtable" in Path(frame.filename).parts or "/hushtable/" in frame.filename]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name} {last.name}"
