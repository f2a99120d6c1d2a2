"""Drafts of linked tables: a folder of files, a workbook or a database, which get their names once all is judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hushtable.errors import InputError, VerificationError
from hushtable.io import MANIFEST, Dialect, Frame, drafts, write_duckdb_tables, write_sheets
from hushtable.linked.tables import DATABASE, WORKBOOK, open_tables
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


@dataclass(frozen=True, slots=True, eq=False)
class WrittenTable:
    """A table in a draft, as it was read back."""

    frame: Frame = field(repr=False)
    file: Path | None = None  # None where several tables are in one file
    dialect: Dialect | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest holds of it."""
        own = {} if self.file is None else {"file": self.file.name, "sha256": sha256(self.file)}
        spelled = {} if self.dialect is None else {"dialect": self.dialect.to_dict()}
        return {**own, "n_records": self.frame.n_records, **spelled}


@dataclass(frozen=True)
class Draft:
    """Where tables are written, each into a file, and where the manifest goes."""

    folder: Path
    manifest: Path
    book: Path | None = None  # the one file that is to hold them all
    ending: str = ""

    def place_of(self, name: str, release: Release) -> Path:
        """Return the file of a table: text stays text."""
        is_text = release.source.frame().is_text
        ending = {WORKBOOK: WORKBOOK, DATABASE: ".parquet"}.get(self.ending, ".csv" if is_text else ".parquet")
        return self.folder / f"{name}{ending}"

    def join(self, tables: Mapping[str, WrittenTable]) -> Mapping[str, WrittenTable]:
        """Return the tables as they are published: the files themselves, or what was read back from the one file."""
        if self.book is None:
            return tables
        joined = self.folder / f"joined{self.ending}"
        cells = {name: table.frame.data.to_polars() for name, table in tables.items()}
        if self.ending == WORKBOOK:
            write_sheets(cells, joined)
        else:
            write_duckdb_tables(cells, joined)
        opened, _ = open_tables(joined, tables)
        changed = [name for name, table in opened.items() if not table.data.to_polars().equals(cells[name])]
        if changed:
            raise VerificationError(
                f"table {changed[0]!r} would hold other cells in {self.book.suffix} than it has; nothing is written.",
                hint="write a folder.",
            )
        shutil.copyfile(joined, self.book)
        return {name: WrittenTable(frame) for name, frame in opened.items()}

    def digest(self) -> str:
        """Return the digest of all files."""
        return sha256(self.folder if self.book is None else self.book)

    def write_manifest(self, entries: Mapping[str, Any]) -> None:
        """Write the manifest beside the tables."""
        self.manifest.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def open_draft(path: Path, *, external: bool, overwrite: bool) -> Iterator[Draft]:
    """Yield a draft that gets its name at the end."""
    ending = path.suffix.lower()
    if ending not in _ONE_FILE:
        internal = () if external else (MANIFEST,)
        with drafts.replace_folder(path, internal, overwrite=overwrite) as (folder, _):
            yield Draft(folder, folder / MANIFEST)
        return
    manifest = manifest_path(path)
    with (
        drafts.replace_files(path, manifest, internal=() if external else (manifest,), overwrite=overwrite) as (
            book,
            sidecar,
        ),
        drafts.temporary_folder(path) as folder,
    ):
        yield Draft(folder, sidecar, book, ending)
