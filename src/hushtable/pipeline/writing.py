"""The files of a run, written together at its end, or not at all; inside its output folder, or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hushtable.errors import InputError, listed, with_hint
from hushtable.io import Frame, drafts, frames
from hushtable.pipeline.results import Columns
from hushtable.release import codebook_paths, manifest, renamed

__all__ = ["RECORD", "File", "WrittenFiles", "check", "of_columns", "of_frame", "of_release", "of_text", "write"]

RECORD: Final = ".hushtable_files.json"
"""In an output folder: what runs wrote there, by name, with its SHA-256."""


@dataclass(frozen=True, slots=True)
class File:
    """What fills the draft of a file, and whether the file is internal: for those who hold the data."""

    fill: Callable[[Path], object]
    is_internal: bool


WrittenFiles = Mapping[Path, File]


def of_columns(path: Path, columns: Columns, *, is_internal: bool) -> WrittenFiles:
    """Write a table of results."""
    return {path: File(lambda draft: frames.write(frames.read(frames.assemble(columns)), draft), is_internal)}


def of_frame(path: Path, frame: Frame, *, is_internal: bool) -> WrittenFiles:
    """Write a table."""
    return {path: File(lambda draft: frames.write(frame, draft), is_internal)}


def of_text(path: Path, text: str, *, is_internal: bool = False) -> WrittenFiles:
    """Write text."""
    return {path: File(lambda draft: draft.write_text(text, encoding="utf-8", newline="\n"), is_internal)}


def of_release(path: Path, release: Path, *, is_external: bool) -> WrittenFiles:
    """Write a verified release as it is kept, with its manifest and codebook, under another name.

    Raises
    ------
    VerificationError
        It is not the file any more that was verified.
    """
    entries = manifest.read(release)
    manifest.check_hash(release, entries)
    told = json.dumps({**entries, "file": path.name}, indent=2, ensure_ascii=False) + "\n"
    files = {path: File(lambda draft: shutil.copyfile(release, draft), is_internal=False)}
    files |= of_text(manifest.manifest_path(path), told, is_internal=not is_external)
    for each, text in renamed(codebook_paths(release)[1], path).items():
        files |= of_text(each, text)
    return files


def check(paths: Sequence[Path], inputs: Sequence[Path], out: Path, *, overwrite: bool) -> None:
    """Raise InputError where a file of a run must not be written.

    It is an input, a link or a folder, lies outside the output folder, or is there and no run wrote it.
    """
    for path in paths:
        drafts.check_inside(path, out, "the file")
    drafts.check_outputs((*paths, out / RECORD), inputs, overwrite=True)
    if overwrite:
        return
    known = _recorded(out)
    strange = [path for path in paths if path.exists() and known.get(_name(path, out)) != manifest.sha256(path)]
    if not known and (out / RECORD).exists():
        strange.append(out / RECORD)
    if strange:
        msg = f"{listed(map(str, strange))} exists, and is not what an earlier run wrote there."
        raise InputError(
            with_hint(
                msg, "name another folder, or overwrite it: --force on the command line, overwrite=True in Python."
            )
        )


def write(files: WrittenFiles, inputs: Sequence[Path], out: Path, *, overwrite: bool) -> tuple[Path, ...]:
    """Write all of them, with a record of them for the next run.

    Raises
    ------
    InputError
        One of them cannot be written, or must not be.
    """
    paths = tuple(files)
    if not paths:
        return ()
    check(paths, inputs, out, overwrite=overwrite)
    record = out / RECORD
    internal = [path for path, file in files.items() if file.is_internal]
    with drafts.replacing(*paths, record, internal=(*internal, record)) as (*made, sidecar):
        for draft, file in zip(made, files.values(), strict=True):
            file.fill(draft)
        wrote = {_name(path, out): manifest.sha256(draft) for path, draft in zip(paths, made, strict=True)}
        sidecar.write_text(json.dumps({**_recorded(out), **wrote}, indent=2) + "\n", encoding="utf-8")
    return paths


def _name(path: Path, out: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(out))


def _recorded(out: Path) -> dict[str, str]:
    """Read what runs wrote into a folder; nothing where there is no record, or somebody else's file in its place."""
    try:
        found = json.loads((out / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
