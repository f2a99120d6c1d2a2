"""What is kept between runs: results of steps that take long, in one folder that only its owner may read."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from hushtable.errors import InputError, ResourceError
from hushtable.io import is_full as is_full_disk

if sys.platform != "win32":
    import fcntl

FOLDER: Final = ".hushtable"
_MARK_FILE: Final = "README.txt"
_GITIGNORE_FILE: Final = ".gitignore"
_LOCK_FILE: Final = "lock"
_MARK_TEXT: Final = (
    "Results that `hushtable run` keeps between runs. They hold people's data.\n"
    "`hushtable run FILE --clean` removes them.\n"
)
_RESULT_PATTERN: Final = re.compile(r"[0-9a-f]{64}|part-[0-9a-f]{16}")


class Store:
    """A folder of results, each whole or not there; of one run at a time. Without a folder nothing outlasts the run."""

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
            self.is_new = _make_folder(self._place)
            self._held.enter_context(_lock_folder(self._place))
            # Parts that a killed run left behind.
            for part in self._place.glob("part-*"):
                _remove_path(part)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        assert self._place is not None, "a store is entered before it is used"
        return self._place

    def find(self, key: str) -> Path | None:
        """Return the folder of a result of this run or an earlier one; None if there is none to use."""
        if key not in self._made and (self._fresh or not self.lasts):
            return None
        return self.folder / key if (self.folder / key).is_dir() else None

    def drop(self, key: str) -> None:
        """Remove a result."""
        self._made.discard(key)
        _remove_path(self.folder / key)

    @contextlib.contextmanager
    def create_result(self, key: str) -> Iterator[Path]:
        """Yield a folder for a result; it gets its name when it is complete."""
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
            kind = ResourceError if is_full else InputError
            hint = "make room there, or run with --no-cache."
            raise kind(f"cannot keep a result in {str(self.folder)!r}: {why}.", hint=hint) from None
        finally:
            _remove_path(part)


def clean(folder: Path) -> bool:
    """Remove what is kept; say whether there was anything. What the folder holds else is left, and an InputError."""
    if not folder.is_dir():
        return False
    _check_own(folder)
    with _lock_folder(folder):
        for name in os.listdir(folder):
            if _RESULT_PATTERN.fullmatch(name):
                _remove_path(folder / name)
        for name in (_MARK_FILE, _GITIGNORE_FILE, _LOCK_FILE):
            (folder / name).unlink(missing_ok=True)
    strangers = os.listdir(folder)
    if strangers:
        raise InputError(
            f"{str(folder)!r} holds {len(strangers)} files that are none of hushtable's; they were left.",
            hint="look at them, and remove the folder yourself.",
        )
    folder.rmdir()
    return True


def _make_folder(folder: Path) -> bool:
    """Create the folder, and tell whether it is new."""
    try:
        if folder.exists() or folder.is_symlink():
            _check_own(folder)
        is_new = not (folder / _MARK_FILE).is_file()
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        if is_new:
            # Ignored by git, so that nobody commits people's data.
            (folder / _GITIGNORE_FILE).write_text("*\n", encoding="utf-8")
            (folder / _MARK_FILE).write_text(_MARK_TEXT, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot keep results in {str(folder)!r}: {error.strerror or type(error).__name__}.",
            hint="run with --no-cache.",
        ) from None
    return is_new


def _check_own(folder: Path) -> None:
    mark = folder / _MARK_FILE
    is_own = mark.is_file() and mark.read_bytes() == _MARK_TEXT.encode()
    if folder.is_symlink() or not (is_own or (folder.is_dir() and not any(folder.iterdir()))):
        raise InputError(
            f"{str(folder)!r} is no folder of results that hushtable made.",
            hint="move it away, or run with --no-cache.",
        )


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder for one run; another run would remove what this one reads."""
    with open(folder / _LOCK_FILE, "ab", opener=partial(os.open, mode=0o600)) as file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"another run uses the results in {str(folder)!r}.",
                    hint="wait for its end, or run with --no-cache.",
                ) from None
        yield


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
