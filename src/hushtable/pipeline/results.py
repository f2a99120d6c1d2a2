"""What the steps of a pipeline hand on: tables, what evaluators find in them, and what every evaluator has."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Protocol

from pydantic import Field, field_validator

from hushtable.errors import InputError, ResourceError, with_hint
from hushtable.io import Frame, frames, is_full as is_full_disk
from hushtable.policy import Record

__all__ = [
    "FOLDER",
    "Columns",
    "Evaluation",
    "Evaluator",
    "Limit",
    "NamedFiles",
    "Store",
    "Tables",
    "clean",
    "read_beside",
]


Columns = Mapping[str, Sequence[Any]]
"""A table of results: columns of one length, of plain values."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class NamedFiles(Protocol):
    """Where the files are that a pipeline names."""

    def find(self, path: str) -> Path:
        """Return where a file is; InputError where it is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of one line of experiments, as they are after a step.

    Attributes
    ----------
    current : Frame
        What the next step works on.
    original : Frame, optional
        The people whom `current` is, or was made from; None where only a made-up table was given.
    control : Frame, optional
        People who were kept out.
    is_made : bool
        Whether `current` was synthesized, or protected.
    protected : Frame, optional
        Of a protected table: what it was made from.
    release : path, optional
        Of a protected table: the verified file, its manifest and its codebook beside it.
    removed : tuple of str
        Columns that a release left out: `current` has none of them, and is compared without them.
    redraw : callable, optional
        Of a synthesized table: draws so many more rows, anew for each number of a trial.
    counts : mapping
        What steps counted, for the global report: rows left out.
    """

    current: Frame
    original: Frame | None = None
    control: Frame | None = None
    is_made: bool = False
    protected: Frame | None = None
    release: Path | None = None
    removed: tuple[str, ...] = ()
    redraw: Callable[[int, int], Frame] | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: _NOTHING)

    def check_made(self) -> None:
        """Raise InputError where `current` are the originals themselves, which are as like them as can be."""
        if not self.is_made:
            msg = with_hint("there is no synthetic or protected table to compare.", "add a Synthesizer or Anonymizer.")
            raise InputError(msg)

    @property
    def people(self) -> Frame:
        """The originals, as far as `current` may be compared with them.

        Raises
        ------
        InputError
            There are none.
        """
        if self.original is None:
            msg = with_hint("there is no table of originals to compare with.", "add a Loader with their filepath.")
            raise InputError(msg)
        return self.original.drop(self.removed)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluator or describer found.

    Attributes
    ----------
    tables : mapping of granularity to columns
        The one of ``"columnwise"`` has a column ``column``, that of ``"pairwise"`` ``column1`` and ``column2``.
    judged : mapping
        What limits are held against, where that is more than the figures of the whole.
    """

    tables: Mapping[str, Columns]
    judged: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @classmethod
    def of(cls, tables: Mapping[str, Columns], judged: Mapping[str, Any] = _NOTHING) -> Evaluation:
        """Make one of any plain values: what is kept and read again is the same as what was found."""
        plain = {
            granularity: {name: [*map(_plain, cells)] for name, cells in columns.items()}
            for granularity, columns in tables.items()
        }
        return cls(plain, judged)

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of the whole."""
        return {name: cells[0] for name, cells in self.tables.get("global", {}).items()}

    def to_json(self) -> str:
        """Write it."""
        return json.dumps([self.tables, dict(self.judged)], ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Evaluation:
        """Read it again."""
        return cls(*json.loads(text))


def _plain(cell: Any) -> Any:
    """Return a cell as a CSV has it: no lists, and nothing where a number is not defined."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else str(cell)
    if isinstance(cell, (list, tuple)):
        return str(tuple(cell))
    if isinstance(cell, Mapping):
        return json.dumps(cell, ensure_ascii=False)
    return cell


# Above a NaN nothing is; and True is no number.
Limit = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Evaluator(Record):
    """Parameters of an evaluator, and how it evaluates.

    Attributes
    ----------
    limit : dict of figure to float
        What figures of its global report may be at most; one that is above, or not known, makes the run fail.
    """

    figures: ClassVar[tuple[str, ...]] = ()
    """Figures that a limit may name."""

    method: str
    limit: dict[str, Limit] = Field(default_factory=dict)

    @field_validator("limit")
    @classmethod
    def _names_figures(cls, limit: dict[str, float]) -> dict[str, float]:
        odd = [name for name in limit if name not in cls.figures]
        if odd:
            allowed = f"it may name {', '.join(cls.figures)}" if cls.figures else "this method has no figure to limit"
            msg = f"limit names {odd[0]!r}; {allowed}"
            raise ValueError(msg)
        return limit

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the files that it reads."""
        return ()

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Look at tables; of what takes long, only the granularities that are wanted are made."""
        raise NotImplementedError

    def failures(self, found: Evaluation) -> list[str]:
        """Say what makes the run fail."""
        return []


def read_beside(path: Path, original: Frame) -> Frame:
    """Read a table of other people as the originals are read."""
    return frames.read(path, dialect=original.dialect.marks).told(original.specs)


if sys.platform != "win32":
    import fcntl


FOLDER: Final = ".hushtable"
_MARK: Final = "README.txt"
_IGNORED: Final = ".gitignore"
_LOCK: Final = "lock"
_MARK_TEXT: Final = (
    "Results that `hushtable run` keeps between runs. They hold people's data.\n"
    "`hushtable run FILE --clean` removes them.\n"
)
_ENTRY: Final = re.compile(r"[0-9a-f]{64}|part-[0-9a-f]{16}")


class Store:
    """A folder of results, each whole or not there; of one run at a time.

    Parameters
    ----------
    folder : path, optional
        Where it is; None keeps nothing beyond this run.
    fresh : bool
        Make all anew.
    """

    def __init__(self, folder: Path | None, *, fresh: bool = False) -> None:
        self.lasts = folder is not None
        self.is_new = False
        self._place = folder
        self._fresh = fresh
        self._made: set[str] = set()
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Store:
        if self._place is None:
            self._place = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="hushtable-")))
        else:
            self.is_new = _make(self._place)
            self._held.enter_context(_locked(self._place))
            # What a kill left.
            for part in self._place.glob("part-*"):
                _remove(part)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def folder(self) -> Path:
        """Where it is."""
        assert self._place is not None, "a store is entered before it is used"
        return self._place

    def find(self, key: str) -> Path | None:
        """Return the folder of a result that may be used: of this run, or of one before."""
        if key not in self._made and (self._fresh or not self.lasts):
            return None
        return self.folder / key if (self.folder / key).is_dir() else None

    def drop(self, key: str) -> None:
        """Remove a result."""
        self._made.discard(key)
        _remove(self.folder / key)

    @contextlib.contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """Yield a folder for a result, which gets its name when it is whole."""
        part = self.folder / f"part-{secrets.token_hex(8)}"
        try:
            part.mkdir(mode=0o700)
            yield part
            self.drop(key)
            part.rename(self.folder / key)
            self._made.add(key)
        except OSError as error:
            is_full = is_full_disk(error)
            why = "no space is left on its disk" if is_full else error.strerror or type(error).__name__
            msg = with_hint(
                f"cannot keep a result in {str(self.folder)!r}: {why}.", "make room there, or run with --no-cache."
            )
            raise (ResourceError if is_full else InputError)(msg) from None
        finally:
            _remove(part)


def clean(folder: Path) -> bool:
    """Remove what is kept; say whether there was anything.

    Raises
    ------
    InputError
        The folder holds something else; nothing of that is removed.
    """
    if not folder.is_dir():
        return False
    _check_own(folder)
    with _locked(folder):
        for name in os.listdir(folder):
            if _ENTRY.fullmatch(name):
                _remove(folder / name)
        for name in (_MARK, _IGNORED, _LOCK):
            (folder / name).unlink(missing_ok=True)
    strangers = os.listdir(folder)
    if strangers:
        msg = f"{str(folder)!r} holds {len(strangers)} files that are none of hushtable's; they were left."
        raise InputError(with_hint(msg, "look at them, and remove the folder yourself."))
    folder.rmdir()
    return True


def _make(folder: Path) -> bool:
    """Make the folder; tell whether it is new."""
    try:
        if folder.exists() or folder.is_symlink():
            _check_own(folder)
        is_new = not (folder / _MARK).is_file()
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        if is_new:
            # So that nobody commits it.
            (folder / _IGNORED).write_text("*\n", encoding="utf-8")
            (folder / _MARK).write_text(_MARK_TEXT, encoding="utf-8")
    except OSError as error:
        msg = f"cannot keep results in {str(folder)!r}: {error.strerror or type(error).__name__}."
        raise InputError(with_hint(msg, "run with --no-cache.")) from None
    return is_new


def _check_own(folder: Path) -> None:
    mark = folder / _MARK
    is_own = mark.is_file() and mark.read_bytes() == _MARK_TEXT.encode()
    if folder.is_symlink() or not (is_own or (folder.is_dir() and not any(folder.iterdir()))):
        msg = f"{str(folder)!r} is no folder of results that hushtable made."
        raise InputError(with_hint(msg, "move it away, or run with --no-cache."))


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder for one run; another would remove what this one reads."""
    with open(folder / _LOCK, "ab", opener=partial(os.open, mode=0o600)) as file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                msg = f"another run uses the results in {str(folder)!r}."
                raise InputError(with_hint(msg, "wait for its end, or run with --no-cache.")) from None
        yield


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
