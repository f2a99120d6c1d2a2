"""What is no error of the package: which it is, and what to do, in one line."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path
from typing import Final

from hushtable.io import is_full

__all__ = ["FAULT", "fault_line"]

FAULT: Final = 70
"""The exit code of a fault of ours, and of the end of memory or disk: `EX_SOFTWARE` of sysexits."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_FULL: Final = ("(os error 28)", "(os error 122)", "No space left on device")
_NO_MEMORY: Final = ("(os error 12)", "Cannot allocate memory", "memory allocation", "Out of Memory", "out of memory")


def fault_line(error: BaseException) -> str:
    """Say in one line what ended the command, and what to do.

    An error's own text may hold a cell of the data: only its type and its place are told.
    """
    whole = [error]
    while (before := whole[-1].__cause__ or whole[-1].__context__) is not None and before not in whole:
        whole.append(before)
    if any(_is_memory(each) for each in whole):
        return (
            "memory came to its end; give it fewer rows or columns, a folder or --engine stream (anonymize), "
            "or a machine with more."
        )
    if any(_is_disk(each) for each in whole):
        return "the disk came to its end; make room where files are written and in the folder of temporary files."
    return (
        f"a fault of hushtable: {type(error).__name__} at {_place(error)}; run it again with --traceback, and report "
        "what that shows, without values of your data."
    )


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return any(sign in str(error) for sign in _NO_MEMORY)


def _is_disk(error: BaseException) -> bool:
    return (isinstance(error, OSError) and is_full(error)) or any(sign in str(error) for sign in _FULL)


def _place(error: BaseException) -> str:
    """Return the last line of the package that an error came through."""
    places = [
        f"{path.relative_to(_PACKAGE)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(_PACKAGE)
    ]
    return places[-1] if places else "an unknown place"
