"""From batches to a release on the disk: whole and verified, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hushtable.claims import Claim, Verdict, opened, seen
from hushtable.engines.output_parts import PART_NAMES, ROWS_PER_PART, write_file, write_parts
from hushtable.io import Dialect, drafts, frames
from hushtable.release import manifest

if TYPE_CHECKING:
    import pyarrow as pa

Look = Callable[[Path, Dialect | None], Mapping[str, Any]]

__all__ = ["check_output", "is_folder", "write", "write_folder"]


def is_folder(path: Path) -> bool:
    """Tell whether a release of this name is a folder of Parquet files: its name has no ending, or it is one."""
    return not path.suffix or path.is_dir()


def check_output(path: Path, inputs: Sequence[Path], *, overwrite: bool) -> None:
    """Raise InputError where a release of this name must not be written, before any work is done for it."""
    if is_folder(path):
        drafts.check_folder(path, inputs, manifest.IN_FOLDER, PART_NAMES, overwrite=overwrite)
    else:
        frames.file_kind(path)
        drafts.check_outputs((path, manifest.manifest_path(path)), inputs, overwrite=overwrite)


def write(
    batches: Iterable[pa.Table],
    path: Path,
    claim: Claim,
    facts: Mapping[str, Any],
    *,
    inputs: Sequence[Path] = (),
    original: Any = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    audience: Literal["internal", "external"] = "internal",
    overwrite: bool = False,
    look: Look | None = None,
    rows_per_part: int = ROWS_PER_PART,
) -> Verdict:
    """Write what is published, shuffled, with its manifest, whole and verified or not at all.

    Parameters
    ----------
    batches : iterable of pyarrow.Table
        One at least, of one schema; see `hushtable.engines.output_parts.Batches`.
    path : path
        ``.parquet``, ``.csv`` or ``.tsv``, with the manifest beside it; without an ending a folder of Parquet files,
        with the manifest in it.
    claim : Claim
        What must hold of what was written: it is read back and judged before it gets its name.
    facts : mapping
        What the manifest says besides the claim.
    inputs : sequence of path
        The files it was made from, none of which is overwritten.
    original : path or dataframe, optional
        What the claim compares with.
    delimiter, encoding : str
        Of a CSV.
    audience : {"internal", "external"}
        Of the manifest.
    overwrite : bool
        Replace a release of this name.
    look : callable, optional
        Looks at the draft, or the folder of drafts, and how a CSV spells it, once all is verified: returns what the
        manifest says of it, in place of facts of the same name, or raises what keeps it from getting its name.
    rows_per_part : int
        How many rows a file of a folder has at most.

    Raises
    ------
    VerificationError
        The written table does not hold the claim; nothing is left behind.
    InputError
        Something cannot be written, or must not be.
    """
    if is_folder(path):

        def fill(draft: Path, spill: Path) -> int:
            return write_parts(batches, draft, spill, rows_per_part=rows_per_part)

        given: dict[str, Any] = {"inputs": inputs, "original": original, "audience": audience, "overwrite": overwrite}
        given["look"] = look
        return write_folder(fill, path, claim, facts, **given)
    check_output(path, inputs, overwrite=overwrite)
    is_text = frames.file_kind(path) == "csv"
    dialect = Dialect(encoding, "\t" if path.suffix.lower() == ".tsv" else delimiter, index=False) if is_text else None
    outputs = (path, manifest.manifest_path(path))
    internal = outputs[1:] if audience == "internal" else ()
    with drafts.workplace(path) as place, drafts.replacing(*outputs, internal=internal) as (draft, sidecar):
        spelled = dialect or Dialect(delimiter=delimiter)
        n_rows = write_file(batches, draft, place / "spill", delimiter=spelled.delimiter or ",", encoding=encoding)
        verdict = claim.verify(seen(claim, opened(draft, dialect, is_large=True)), original=original).raise_if_failed()
        facts = {**facts, **(look(draft, dialect) if look else {})}
        digest = manifest.sha256(draft)
        _say(sidecar, manifest.of(path, digest, n_rows, claim, facts, dialect, external=audience == "external"))
    return verdict


def write_folder(
    fill: Callable[[Path, Path], int],
    path: Path,
    claim: Claim,
    facts: Mapping[str, Any],
    *,
    inputs: Sequence[Path] = (),
    original: Any = None,
    audience: Literal["internal", "external"] = "internal",
    overwrite: bool = False,
    look: Look | None = None,
) -> Verdict:
    """Write a folder of Parquet files with its manifest, whole and verified or not at all; else as `write`.

    Parameters
    ----------
    fill : callable
        Writes the files into an empty folder, with room for a spill in another, and returns how many rows there are.
    """
    check_output(path, inputs, overwrite=overwrite)
    is_external = audience == "external"
    with drafts.replacing_folder(path, () if is_external else (manifest.IN_FOLDER,)) as (draft, spill):
        n_rows = fill(draft, spill)
        verdict = claim.verify(seen(claim, opened(draft)), original=original).raise_if_failed()
        facts = {**facts, **(look(draft, None) if look else {})}
        entries = manifest.of(path, manifest.sha256(draft), n_rows, claim, facts, external=is_external)
        _say(manifest.manifest_path(draft), entries)
    return verdict


def _say(path: Path, entries: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
