"""Files that appear whole or not at all, and what no output may be."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hushtable.errors import ExistsError, InputError, ResourceError, quote_names
from hushtable.io.sources import check_secrets

if sys.platform != "win32":
    import fcntl

_RENAME_EXCHANGE = 2  # of renameat2: two names change places, at no time is there only one of them
_WORKING_FOLDER = -100
# The last: above what the process may write (`ulimit -f`).
_FULL_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def paths_among(*given: Any) -> tuple[Path, ...]:
    """Return the files among arguments that may be paths, tables, or mappings of either."""
    flat = [one for each in given for one in (each.values() if isinstance(each, Mapping) else [each])]
    # Whoever changes folders in between still means the same file.
    return tuple(
        Path(os.path.realpath(each)) for each in flat if isinstance(each, (str, os.PathLike)) and os.path.isfile(each)
    )


def check_outputs(outputs: Sequence[Path], inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Raise InputError where an output is an input or in one, another output, a link or a folder, or exists."""
    check_secrets(map(os.fspath, outputs))
    for index, output in enumerate(outputs):
        if not output.parent.is_dir():
            raise InputError(f"there is no folder {str(output.parent)!r}.", hint="make it first; nothing was written.")
        for source in inputs:
            if _is_same(output, source):
                raise InputError(
                    f"the output is the input {str(source)!r}.", hint="name another file; no input is ever overwritten."
                )
            if os.path.isdir(source) and Path(os.path.realpath(source)) in Path(os.path.realpath(output)).parents:
                raise InputError(
                    f"the output is in the input folder {str(source)!r}.",
                    hint="write it elsewhere: it would be read as an input.",
                )
        if any(_is_same(output, other) for other in outputs[:index]):
            raise InputError(f"two outputs go to {str(output)!r}.", hint="name two files.")
        if os.path.islink(output):
            raise InputError(
                f"{str(output)!r} is a symbolic link.", hint="name the file itself; no link is written through."
            )
        if os.path.isdir(output):
            raise ExistsError(f"{str(output)!r} is a directory.", hint="name a file.")
        if os.path.lexists(output) and not overwrite:
            raise _exists_error(output)
        if not os.access(output.parent, os.W_OK | os.X_OK):
            raise InputError(
                f"cannot write {str(output)!r}: its folder may not be written to.",
                hint="ask for the right to, or name another folder; nothing was done.",
            )


def _exists_error(output: Path) -> ExistsError:
    return ExistsError(
        f"{str(output)!r} exists.",
        hint="name another file, or overwrite it: --force on the command line, overwrite=True in Python.",
    )


def check_folder(folder: Path, inputs: Sequence[Path], mark: str, parts: str, *, overwrite: bool) -> None:
    """Raise InputError where a folder must not be written: it holds an input, or something that is no release.

    A folder is replaced only if it holds a file named ``mark``, and otherwise files of the pattern ``parts`` alone.
    """
    place = Path(os.path.realpath(folder))
    for source in inputs:
        if place in (found := Path(os.path.realpath(source)), *found.parents):
            raise InputError(
                f"the output {str(folder)!r} holds the input {str(source)!r}.",
                hint="name another folder; no input is ever overwritten.",
            )
    if os.path.isdir(folder) and not os.path.islink(folder):
        is_release = (folder / mark).is_file()
        others = [os.fspath(each) for each in _list_non_parts(folder, Path(), parts) if os.fspath(each) != mark]
        if overwrite and is_release and not others:
            return
        more = f", and holds {quote_names(sorted(others))} besides a release." if others else "."
        raise ExistsError(
            f"{str(folder)!r} exists" + (more if is_release else f" and has no {mark}: it is not a release."),
            hint="name another folder; a release is overwritten by --force on the command line, "
            "overwrite=True in Python.",
        )
    check_outputs((folder,), inputs, overwrite=False)


def _list_non_parts(folder: Path, below: Path, parts: str) -> Iterator[Path]:
    """Yield all but parts in a folder, and in folders of a Hive data set inside it; paths relative to it."""
    for each in (folder / below).iterdir():
        if each.is_dir() and "=" in each.name:
            yield from _list_non_parts(folder, below / each.name, parts)
        elif each.is_dir() or not each.match(parts):
            yield below / each.name


def _is_same(one: Path, other: Path) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_inside(path: Path, folder: Path, what: str) -> None:
    """Raise InputError where a file or folder is not inside a folder, links and ``..`` followed."""
    try:
        home, place = Path(os.path.realpath(folder)), Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{what} {str(path)!r}: {error}.", hint="no file has such a name.") from None
    if home not in (place, *place.parents):
        raise InputError(
            f"{what} {str(path)!r} is outside the output folder {str(folder)!r}.",
            hint="name a place inside it; nothing was written.",
        )


@contextlib.contextmanager
def replace_files(*paths: Path, internal: Collection[Path] = (), overwrite: bool = True) -> Iterator[tuple[Path, ...]]:
    """Write files whole and together, or not at all: yields drafts, which get their names at the end.

    A crash, a full disk or an exception leaves the old files, or none. A draft is its owner's alone until it has its
    name, and for good where it is internal; an abandoned one goes with the next write. Without `overwrite`, a file that
    another run wrote in the meantime is an error, and stays.
    """
    drafts = tuple(_temporary_path(path, "part") for path in paths)
    try:
        with contextlib.ExitStack() as open_drafts:
            for path, draft in zip(paths, drafts, strict=True):
                _remove_stale_drafts(path)
                open_drafts.enter_context(_make_draft(draft))
            yield drafts
            for path, draft in zip(paths, drafts, strict=True):
                _sync_draft(draft, path)
            if sys.platform == "win32":
                # Windows cannot rename an open file. Elsewhere, a closed draft would look abandoned to other writers.
                open_drafts.close()
            # Waiting for others can be ended; renaming waits for nobody.
            with _hold_folders({path.parent for path in paths}), _delay_signals():
                _rename_all(drafts, paths, internal, overwrite=overwrite)
    except OSError as error:
        raise _write_error(paths[0], error) from None
    finally:
        for draft in drafts:
            # Where it could not be made (no such folder, name too long) it cannot be removed either.
            with contextlib.suppress(OSError):
                draft.unlink()


@contextlib.contextmanager
def replace_folder(
    path: Path, internal: Collection[str] = (), *, overwrite: bool = True
) -> Iterator[tuple[Path, Path]]:
    """Write a folder whole or not at all, see `replace_files`: yields an empty draft, and room for a spill."""
    try:
        with temporary_folder(path) as folder:
            draft = folder / "draft"
            draft.mkdir(mode=0o700)
            yield draft, folder / "spill"
            entries = sorted(draft.rglob("*"))
            files = [each for each in entries if not each.is_dir()]
            for entry in files:
                with entry.open("rb+") as file:
                    os.fsync(file.fileno())
            # Until it gets its name, the enclosing folder keeps others out.
            _open_to_others(files, [each for each in files if each.name in internal])
            for entry in entries:
                if entry.is_dir():
                    entry.chmod(mode_of(usual=0o777))
            with _hold_folders({path.parent}):
                if not overwrite and os.path.lexists(path):
                    raise _exists_error(path)
                _take_place(draft, path)
            path.chmod(mode_of(usual=0o777))
    except OSError as error:
        raise _write_error(path, error) from None


@contextlib.contextmanager
def _hold_folders(folders: Collection[Path]) -> Iterator[None]:
    """Let one process at a time give names in some folders: a release and its manifest get theirs together."""
    if sys.platform == "win32":
        yield
        return
    numbers: list[int] = []
    try:
        # All processes in one order, so that none waits for another that waits for it.
        for folder in sorted(set(map(os.path.realpath, folders))):
            # A file system without locks: each name is then given in one step all the same.
            with contextlib.suppress(OSError):
                numbers.append(os.open(folder, os.O_RDONLY))
                fcntl.flock(numbers[-1], fcntl.LOCK_EX)
        yield
    finally:
        for number in numbers:
            os.close(number)


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield a folder beside a file or folder that is to be written; it is its owner's alone, and gone at the end."""
    folder = _temporary_path(path, "part")
    try:
        _remove_stale_drafts(path)
        is_there = False
        while not is_there:
            folder.mkdir(mode=0o700)
            with _lock_folder(folder) as is_there:
                if is_there:
                    yield folder
    except OSError as error:
        raise _write_error(path, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[bool]:
    """Hold a folder open and locked; yields False if it was removed as abandoned before that."""
    if sys.platform == "win32":
        yield True
        return
    try:
        number = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _is_locked(number, folder)
    finally:
        os.close(number)


def _is_locked(number: int, draft: Path) -> bool:
    """Lock an open draft; False if another writer has removed it before that."""
    # Unlike a process's number, a lock says across containers, and after a crash, whether someone holds it. Whoever
    # else holds this one is about to remove the draft, so that waiting is short.
    with contextlib.suppress(OSError):
        fcntl.flock(number, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(draft), os.fstat(number))
    except FileNotFoundError:
        return False


def _take_place(draft: Path, path: Path) -> None:
    """Give a folder the name of another in one step; the other one gets the draft's name."""
    if not path.exists():
        draft.rename(path)
    elif not _exchange_names(draft, path):
        # Two steps: after a kill in between, the next write restores the old folder from inside the draft's.
        old = draft.with_name("old")
        path.rename(old)
        try:
            draft.rename(path)
        except BaseException:
            old.rename(path)
            raise


def _exchange_names(first: Path, second: Path) -> bool:
    """Exchange the names of two folders; False if the system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return not rename(_WORKING_FOLDER, os.fsencode(first), _WORKING_FOLDER, os.fsencode(second), _RENAME_EXCHANGE)


def is_full(error: OSError) -> bool:
    """Tell whether an error means that the disk, or a quota, is full."""
    # Other libraries' errors hold their number in the text alone.
    told = re.search(r"\(os error (\d+)\)", str(error))
    return (int(told[1]) if error.errno is None and told else error.errno) in _FULL_DISK_ERRNOS


def _write_error(path: Path, error: OSError) -> InputError:
    what = f"cannot write {str(path)!r}: "
    if is_full(error):
        return ResourceError(
            f"{what}no space is left on its disk.",
            hint="make room, or let the process write as much (ulimit -f); nothing was changed.",
        )
    return InputError(
        f"{what}{error.strerror or type(error).__name__}.",
        hint="check that the folder exists, is writable and has room; nothing was changed.",
    )


def _temporary_path(path: Path, word: str) -> Path:
    return path.with_name(f".{path.stem}.{secrets.token_hex(4)}.{word}{path.suffix}")


@contextlib.contextmanager
def _make_draft(draft: Path) -> Iterator[None]:
    """Create an empty draft that only its owner may read, and hold it open and locked."""
    is_there = False
    while not is_there:
        with open(draft, "xb+", opener=partial(os.open, mode=0o600)) as file:
            is_there = sys.platform == "win32" or _is_locked(file.fileno(), draft)
            if is_there:
                yield


def _remove_stale_drafts(path: Path) -> None:
    """Remove the drafts of a file that no process holds."""
    pattern = re.compile(rf"\.{re.escape(path.stem)}\.[0-9a-f]{{8}}\.(part|old){re.escape(path.suffix)}")
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(path.parent)
    for name in filter(pattern.fullmatch, names):
        # It may be another's, or just have gone.
        with contextlib.suppress(OSError), _lock_stale_draft(path.with_name(name)) as draft:
            if not draft.is_dir():
                draft.unlink()
                continue
            if (draft / "old").is_dir() and not path.exists():
                (draft / "old").rename(path)
            shutil.rmtree(draft)


@contextlib.contextmanager
def _lock_stale_draft(draft: Path) -> Iterator[Path]:
    """Lock an abandoned draft, so that a writer that just created it notices its removal; OSError if it is held."""
    if sys.platform == "win32":
        # An open file cannot be removed there.
        yield draft
        return
    number = os.open(draft, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield draft
    finally:
        os.close(number)


def _sync_draft(draft: Path, path: Path) -> None:
    """Flush a draft to the disk."""
    with draft.open("rb+") as file:
        if not os.fstat(file.fileno()).st_size:
            raise InputError(
                f"cannot write {str(path)!r}: nothing was written to its draft.", hint="write to every draft."
            )
        os.fsync(file.fileno())


def _rename_all(drafts: Sequence[Path], paths: Sequence[Path], internal: Collection[Path], *, overwrite: bool) -> None:
    """Rename all drafts; if one rename fails, restore the old files."""
    backups = {path: _temporary_path(path, "old") for path in paths if overwrite and path.is_file()}
    rename = Path.replace if overwrite else _rename_to_free_name
    try:
        for path, old in backups.items():
            old.hardlink_to(path)
        for draft, path in zip(drafts, paths, strict=True):
            rename(draft, path)
        # After the renames: a kill before leaves no draft that others may read.
        _open_to_others(paths, internal)
    except BaseException:
        for path in [path for draft, path in zip(drafts, paths, strict=True) if not draft.exists()]:
            if path in backups:
                backups[path].replace(path)
            else:
                path.unlink()
        raise
    finally:
        for old in backups.values():
            old.unlink(missing_ok=True)


def _rename_to_free_name(draft: Path, path: Path) -> None:
    """Rename a draft without replacing a file; InputError if one of the name has appeared."""
    try:
        try:
            path.hardlink_to(draft)
            draft.unlink()
        except FileExistsError:
            raise
        except OSError:
            # A file system without hard links, such as that of a memory stick.
            path.touch(exist_ok=False)
            draft.replace(path)
    except FileExistsError:
        raise _exists_error(path) from None


@contextlib.contextmanager
def _delay_signals() -> Iterator[None]:
    """Delay signals that end the process, while old files have other names."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread receives signals.
        yield
        return
    asking = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    # Also signals without a handler, which end the process at once; not ignored ones.
    handlers = {each: handler for each in asking if (handler := signal.getsignal(each)) not in (signal.SIG_IGN, None)}
    came: list[int] = []
    for signal_number in handlers:
        signal.signal(signal_number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)
        for number in came:
            signal.raise_signal(number)


def _open_to_others(paths: Sequence[Path], internal: Collection[Path]) -> None:
    """Set the usual mode of new files; internal files stay their owner's alone."""
    for path in paths:
        path.chmod(mode_of(is_internal=path in internal))


def mode_of(*, is_internal: bool = False, usual: int = 0o666) -> int:
    """Return the usual mode of a new file; for internal files, that of the owner alone."""
    if is_internal:
        return 0o600
    # The mask can only be read by setting it: meanwhile, files of other threads get no wider mode.
    mask = os.umask(0o077)
    os.umask(mask)
    return usual & ~mask
