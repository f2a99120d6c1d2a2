"""Drafts of linked tables: a folder of files, a workbook or a database, which get their names once all is judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hushtable.errors import InputError
from hushtable.io import MANIFEST, drafts
from hushtable.linked.tables import DATABASE, WORKBOOK
from hushtable.release import Release, manifest_path, sha256

_ONE_FILE: Final = (WORKBOOK, DATABASE)


def check_target(path: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Raise InputError where linked tables must not be written, before any work is done for it."""
    if path.suffix.lower() in _ONE_FILE:
        drafts.check_outputs((path, manifest_path(path)), inputs, overwrite=overwrite)
        return
    if path.suffix:
        raise InputError(
            f"linked tables were to be written as {path.name!r}.",
            hint="name a folder, without an ending; a workbook (.xlsx); or a database (.duckdb).",
        )
    drafts.check_folder(path, inputs, MANIFEST, "*" if _is_ours(path) else MANIFEST, overwrite=overwrite)


def _is_ours(path: Path) -> bool:
    """Tell whether a folder holds linked tables that were released, and no other file."""
    try:
        entries = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        named = {table["file"] for table in entries["tables"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return {each.name for each in path.iterdir()} <= {*named, MANIFEST}


@dataclass(frozen=True)
class Draft:
    """A folder in which tables are written, and where the manifest goes."""

    folder: Path
    manifest: Path

    def place_of(self, name: str, release: Release) -> Path:
        """Return the file of a table: text stays text."""
        return self.folder / f"{name}{'.csv' if release.source.frame().is_text else '.parquet'}"

    def complete(self, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the tables as they are published: the files themselves."""
        return tables

    def digest(self) -> str:
        """Return the digest of all files."""
        return sha256(self.folder)

    def write_manifest(self, entries: Mapping[str, Any]) -> None:
        """Write the manifest beside the tables."""
        self.manifest.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def open_draft(path: Path, *, external: bool, overwrite: bool) -> Iterator[Draft]:
    """Yield a draft that gets its name at the end."""
    internal = () if external else (MANIFEST,)
    with drafts.replace_folder(path, internal, overwrite=overwrite) as (draft, _):
        yield Draft(draft, draft / MANIFEST)
