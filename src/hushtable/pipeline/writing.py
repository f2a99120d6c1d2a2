"""The files of a run, written together at its end, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hushtable import drafts, frames, manifest
from hushtable.codebook import codebook_paths, renamed
from hushtable.frames import Frame
from hushtable.pipeline.results import Columns

__all__ = ["Writing", "of_columns", "of_frame", "of_release", "of_text", "write"]

Writing = Mapping[Path, Callable[[Path], object]]
"""What fills the draft of each file."""


def of_columns(path: Path, columns: Columns) -> Writing:
    """Write a table of results."""
    return {path: lambda draft: frames.write(frames.read(frames.assemble(columns)), draft)}


def of_frame(path: Path, frame: Frame) -> Writing:
    """Write a table."""
    return {path: lambda draft: frames.write(frame, draft)}


def of_text(path: Path, text: str) -> Writing:
    """Write text."""
    return {path: lambda draft: draft.write_text(text, encoding="utf-8", newline="\n")}


def of_release(path: Path, release: Path) -> Writing:
    """Write a verified release as it is kept, with its manifest and codebook, under another name.

    Raises
    ------
    VerificationError
        It is not the file any more that was verified.
    """
    entries = manifest.read(release)
    manifest.check_hash(release, entries)
    told = json.dumps({**entries, "file": path.name}, indent=2, ensure_ascii=False) + "\n"
    texts = {manifest.manifest_path(path): told, **renamed(codebook_paths(release)[1], path)}

    def writes(text: str) -> Callable[[Path], object]:
        return lambda draft: draft.write_text(text, encoding="utf-8", newline="\n")

    return {path: lambda draft: shutil.copyfile(release, draft), **{each: writes(text) for each, text in texts.items()}}


def write(files: Writing, inputs: Sequence[Path]) -> tuple[Path, ...]:
    """Write all of them; what has these names is replaced, but for inputs, links and folders.

    Raises
    ------
    InputError
        One of them cannot be written, or must not be.
    """
    paths = tuple(files)
    if not paths:
        return ()
    drafts.check_outputs(paths, inputs, overwrite=True)
    with drafts.replacing(*paths) as made:
        for draft, fill in zip(made, files.values(), strict=True):
            fill(draft)
    return paths
