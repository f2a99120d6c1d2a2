"""Where a release comes from: for an auditor, in the internal manifest alone."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hushtable.release.manifest import sha256
from hushtable.search import measure_usage

if TYPE_CHECKING:
    from hushtable.release.release import Release

_LIBRARIES: Final = ("hushtable", "numpy", "numba", "polars", "pandas", "pyarrow", "duckdb", "narwhals")


def describe_provenance(release: Release) -> dict[str, object]:
    """Return the inputs with digests, the time, versions, digests of policy and recoding, and what the process used.

    A digest of an input confirms guesses about it, so that nothing of this goes with a published file.
    """
    # One file may have been named in several ways.
    inputs = (*release.inputs, *(() if release.origin is None else release.origin.inputs))
    paths = dict.fromkeys(map(os.path.realpath, inputs))
    batch, pseudonyms = release.batch, release.pseudonyms
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_library_versions()},
        "inputs": [_describe_input(Path(path)) for path in paths],
        "policy_sha256": release.policy_sha256,
        "recoding_sha256": batch.recoding_sha256 if batch else None,
        "key_fingerprint": None if pseudonyms is None else pseudonyms.key_fingerprint,
        "process": asdict(measure_usage()),
    }


def _library_versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _describe_input(path: Path) -> dict[str, object]:
    # A database has no file, and a file may be gone.
    if not path.is_file():
        return {"name": path.name}
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)}
