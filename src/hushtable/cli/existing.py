"""--if-exists skip: a release that is there already is left as it is, if it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hushtable.cli.arguments import Shown, WrittenOptions
from hushtable.cli.joblog import record
from hushtable.cli.terminal import leave, print_json, print_lines
from hushtable.errors import ExistsError


@contextmanager
def skip_existing(output: Path, writing: WrittenOptions, display: Shown) -> Iterator[None]:
    """Leave with 0 if the release is there before the body, or another job has written it meanwhile.

    VerificationError if it is not as its manifest says.
    """
    # Raises an error where the options contradict each other.
    if writing.overwrite or writing.if_exists != "skip":
        yield
        return
    _leave_if_written(output, display)
    try:
        yield
    except ExistsError:
        _leave_if_written(output, display)
        raise


def _leave_if_written(output: Path, display: Shown) -> None:
    from hushtable.release import manifest

    if not output.exists() or not manifest.manifest_path(output).is_file():
        return
    manifest.check_hash(output, manifest.read(output))
    record("skipped", file=output.name)
    if display.as_json:
        print_json({"file": str(output), "skipped": True})
    else:
        print_lines(f"{output} exists, and is as its manifest says: nothing was done.")
    leave()
