"""The sidecar of a written release: what it claims, and the hash that ties the claim to the file.

A manifest holds names, parameters and counts, and no value of a person. The
external one, made to go with the file, leaves out what helps an attacker to
undo the release: the objective and its trace, the seed, the numbers of cuts and
classes, and exact counts of suppressed records. Neither holds a hash of the
input, which would confirm guesses about it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hushtable.column import KINDS, Kind
from hushtable.errors import InputError, VerificationError, with_hint

__all__ = ["check_hash", "external", "kinds", "manifest_path", "read", "sha256"]

_INTERNAL: Final = ("loss", "quality", "trace", "n_classes", "smallest_class", "seed", "margin")


def manifest_path(release: Path) -> Path:
    """Return where a release's manifest is: beside it, ``.manifest.json`` added to its name."""
    return release.with_name(f"{release.name}.manifest.json")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def external(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest without what helps to undo the release."""
    kept = {name: entry for name, entry in entries.items() if name not in _INTERNAL}
    if isinstance(kept.get("policy"), Mapping):
        kept["policy"] = {name: entry for name, entry in kept["policy"].items() if name not in _INTERNAL}
    kept["n_suppressed"] = f"about {round(entries['n_suppressed'], -1)}" if entries["n_suppressed"] else 0
    return kept


def read(release: Path) -> dict[str, Any]:
    """Read the manifest beside a release.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    path = manifest_path(release)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        msg = with_hint(f"cannot read the manifest {str(path)!r}.", "it is written beside the release by anonymize.")
        raise InputError(msg) from None
    if not isinstance(entries, dict) or "sha256" not in entries:
        msg = with_hint(f"{str(path)!r} is not a manifest of hushtable.", "it must hold the release's sha256.")
        raise InputError(msg)
    return entries


def kinds(entries: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the kinds that columns had before they were published; nothing of an older manifest.

    Raises
    ------
    InputError
        What the manifest holds are no kinds.
    """
    found = entries.get("kinds", {})
    if not isinstance(found, dict) or not all(kind in KINDS for kind in found.values()):
        msg = with_hint("the manifest holds kinds of columns that are none.", f"a kind is one of {', '.join(KINDS)}.")
        raise InputError(msg)
    return found


def check_hash(release: Path, entries: Mapping[str, Any]) -> None:
    """Raise VerificationError when a release is not the file that its manifest was written for."""
    try:
        digest = sha256(release)
    except OSError:
        msg = with_hint(f"cannot read {str(release)!r}.", "check the name and that you may read the file.")
        raise InputError(msg) from None
    if digest != entries["sha256"]:
        msg = with_hint(
            f"{str(release)!r} is not the file its manifest describes: the SHA-256 differs.",
            "it was changed after it was written; run anonymize again.",
        )
        raise VerificationError(msg)
