"""The sidecar of a written release: what it claims, and the hash that ties the claim to the file.

A manifest holds names, parameters and counts, and no value of a person. The
external one, made to go with the file, holds the claim and nothing that helps to undo
the release: no objective and trace, no seed, no policy with its paths, no count but that of the
file's own rows. It holds no hash of the input, which would confirm guesses about it; the internal one does.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.claims import Claim, Classes, Failure, Verdict, claim_from_dict, find_unread_entries, holds_cells
from hushtable.errors import InputError, VerificationError, quote_names
from hushtable.io import FORM, FORMS, MANIFEST, WRITER, Dialect, describe_other_form, read_json

FOLDER_MANIFEST: Final = MANIFEST
"""The manifest of a folder."""

PART_NAMES: Final = "part-*.parquet"
"""Names of the files of a folder, and of those in the folders of a Hive data set."""

if TYPE_CHECKING:
    from hushtable.io import Frame, Scan

EXPOSURE_LIMIT: Final = "exposure_limit"
"""The entry that says how many records may be unique on columns kept as they are."""

_EXTERNAL_FACTS: Final = (
    "recoding",
    "publish",
    "pseudonymized",
    "fresh",
    "accepted",
    EXPOSURE_LIMIT,
    "replaces_earlier",
)
"""Facts of a release that may go with the file: how its cells came to look as they do, and what was accepted."""


def manifest_path(release: Path) -> Path:
    """Return the path of a release's manifest: a file's name with ``.manifest.json``, or within a folder."""
    # A source with a URL: the file of its database.
    release = Path(release)
    if release.is_dir():
        return release / FOLDER_MANIFEST
    return release.with_name(f"{release.name}.manifest.json")


def sign_off_path(release: Path) -> Path:
    """Return the path of the record of who signed a release; see `hushtable.release.sign_off`."""
    return release.with_name(f"{release.name}.signed.json")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; for a folder, of its files' names and digests.

    All its files count but its manifest, so that none can be added either, in folders within it too.

    Raises
    ------
    InputError
        The name of a file in the folder has a line break: two folders could have one digest.
    """
    if path.is_dir():
        return _hash_folder(path, [each for each in path.iterdir() if each.name != FOLDER_MANIFEST])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_json(entries: Mapping[str, object]) -> str:
    """Return the SHA-256 of plain values, whatever the order of their names."""
    return hashlib.sha256(json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _hash_folder(folder: Path, parts: Iterable[Path]) -> str:
    """Return the digest of a folder's contents; a manifest in a folder inside it is a file like others."""
    lines = []
    for part in sorted(parts):
        if "\n" in part.name:
            raise InputError(
                f"a file in {str(folder)!r} has a line break in its name.", hint="rename it, or remove it."
            )
        digest = _hash_folder(part, part.iterdir()) if part.is_dir() else sha256(part)
        lines.append(f"{digest}  {part.name}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def build(
    release: Path,
    digest: str,
    n_records: int,
    claim: Claim,
    facts: Mapping[str, Any],
    dialect: Dialect | None = None,
    *,
    external: bool,
) -> dict[str, Any]:
    """Return the manifest of a written release.

    Parameters
    ----------
    release : path
        The name that the file will have.
    digest : str
        Its SHA-256.
    n_records : int
        Rows of the file: beside them, those of the input would tell how many were dropped.
    claim : Claim
        What was verified.
    facts : mapping
        What is known of the release besides.
    dialect : Dialect, optional
        How a CSV was written.
    external : bool
        Leave out what helps to undo the release.
    """
    return {
        **(external_facts(facts) if external else facts),
        FORM: FORMS["manifest"],
        WRITER: version("hushtable"),
        "file": release.name,
        "sha256": digest,
        "n_records": n_records,
        "verified": True,
        **({} if dialect is None else {"dialect": dialect.to_dict()}),
        "claim": {FORM: FORMS["claim"], **claim.to_dict()},
    }


def check_comparable(entries: Mapping[str, object]) -> None:
    """Raise InputError if a release, given its manifest, is to be compared with an original of other dates."""
    if entries.get("timelines"):
        raise InputError(
            "its dates were changed person by person, so that the release is not to be compared with its original.",
            hint="leave the original out; in Python, `Release` compares with the changed dates.",
        )


def external_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return, of what is known of a release, what may go with its file."""
    told = {name: fact for name, fact in facts.items() if name in _EXTERNAL_FACTS}
    if facts.get("timelines"):
        # Few releases have any, and a command loads what it runs.
        from hushtable.release.timelines.facts import Timelines

        told["timelines"] = Timelines.public_part(facts["timelines"])
    persons = facts.get("persons")
    # Of those whom the file does not tell, outsiders hear a round number.
    return told if persons is None else {**told, "persons": {"in_all": _round_down(persons["in_all"])}}


def _round_down(n: int) -> int:
    """Keep two digits of a number."""
    step = int(10 ** max(0, len(str(n)) - 2))
    return n // step * step


def build_person_counts(claim: Claim, verdict: Verdict) -> dict[str, object]:
    """Return what a manifest says of persons whom the file itself does not tell: how many were counted, at least."""
    if not verdict.complete or "n_persons" not in verdict.figures or claim.person is None:
        return {}
    return {"persons": {"in_all": verdict.figures["n_persons"], "smallest_class": verdict.smallest_class}}


def claim_of(data: Any) -> Claim | None:
    """Return what the manifest beside a file claims; None where data are no file, or there is no manifest.

    Raises
    ------
    VerificationError
        The file is not the one that its manifest describes.
    InputError
        The manifest cannot be read.
    """
    if not isinstance(data, (str, os.PathLike)) or not manifest_path(Path(data)).is_file():
        return None
    entries = read(Path(data))
    check_hash(Path(data), entries)
    return claim_from_dict(entries.get("claim"), entries.get(WRITER))


def compare_with(verdict: Verdict, data: Any, columns: Collection[str], claim: Claim | None = None) -> Verdict:
    """Return a verdict that also says whether a file is as its manifest and its signed record say.

    The manifest vouches for what takes the original, where something of the claim could be judged from the file.

    Parameters
    ----------
    verdict : Verdict
        On the file.
    data : path or dataframe
        What was judged; without a manifest the verdict stays as it is.
    columns : collection of str
        The columns that the file has.
    claim : Claim, optional
        What was judged. Without it no persons are compared, and the manifest vouches for nothing.
    """
    if not isinstance(data, (str, os.PathLike)) or not manifest_path(Path(data)).is_file():
        return verdict
    entries = read(Path(data))
    as_many = "as many cells as the manifest says" if holds_cells(claim) else "as many records as the manifest says"
    conditions, failures = [as_many], list(verdict.failures)
    unread = find_unread(entries, claim)
    if type(entries.get("n_records")) is not int:
        unread[conditions[0]] = "it gives no number of them"
    elif entries["n_records"] != verdict.n_records:
        failures.append(Failure(f"{conditions[0]}: the file has {verdict.n_records:,}"))
    # An external manifest does not list the removed columns.
    # Of a masked table they are numbers of rows.
    if isinstance(removed := entries.get("removed"), list) and removed:
        conditions.append("no column that the manifest says was removed")
        if back := [name for name in columns if name in removed]:
            failures.append(Failure(f"{conditions[1]}: the file has {quote_names(back)}"))
    vouched: dict[str, str] = {}
    if isinstance(claim, Classes):
        if "persons" in entries:
            conditions.append("as many persons as the file can hold")
            odd = _find_misfit(entries["persons"], claim, verdict)
            failures += [Failure(f"{conditions[-1]}: {odd}")] if odd else []
        vouched = _vouch(entries, claim, verdict)
    verdict = replace(
        verdict,
        conditions=tuple(dict.fromkeys((*verdict.conditions, *conditions, *unread))),
        failures=tuple(failures),
        unchecked={**verdict.unchecked, **unread},
        vouched={**vouched, **verdict.vouched},
    )
    # Any file of this name counts, a broken link too: a record that cannot be read is a failure.
    if not os.path.lexists(sign_off_path(Path(data))):
        return verdict
    # Few releases are signed, and a command loads what it runs.
    from hushtable.release.sign_off import compare_with_sign_off

    return compare_with_sign_off(verdict, Path(data))


def judge_exposure(
    verdict: Verdict,
    entries: Mapping[str, object],
    table: Frame | Scan,
    claim: Claim,
    asked: Mapping[str, object] | None = None,
    prefix: str = "",
    original: Frame | None = None,
) -> Verdict:
    """Return a verdict that also judges how many records may be unique on columns kept as they are.

    The limit is that of the entries of a manifest, and one that is asked for, as a manifest would say it. The original
    says whose record a row is, where the table does not.
    """
    if asked is None and entries.get(EXPOSURE_LIMIT) is None:
        return verdict
    # Loaded where there is a limit.
    from hushtable.release.kept_columns import judge_kept_columns

    return judge_kept_columns(verdict, table, claim, entries, asked or {}, prefix, original)


def find_unread(entries: Mapping[str, object], claim: Claim | None) -> dict[str, str]:
    """Return what a manifest says that could not be judged, and why."""
    writer, unread = entries.get(WRITER), dict[str, str]()
    if newer := describe_other_form("manifest", entries.get(FORM), writer):
        unread["all that the manifest says"] = newer
    if not isinstance(entries.get("removed", []), list):
        unread["no column that the manifest says was removed"] = "it lists none"
    read = claim_from_dict(entries.get("claim"), writer) if claim is not None else None
    return unread if read is None else {**unread, **find_unread_entries(entries["claim"], read, writer)}


def describe_unread(entries: Mapping[str, object], claim: Claim | None) -> str:
    """Describe what a manifest says and this version does not read, as attacks may miss what it means."""
    unread = {} if claim is None else find_unread(entries, claim)
    return "; ".join(f"{what} was not read, for {why}" for what, why in unread.items())


def _find_misfit(told: object, claim: Classes, verdict: Verdict) -> str | None:
    """Say how the persons that a manifest counts do not fit its file; None where they may be right."""
    told = told if isinstance(told, dict) else {}
    in_all, smallest = told.get("in_all"), told.get("smallest_class", min(1, verdict.n_classes))
    if type(in_all) is not int or type(smallest) is not int:
        return "the manifest gives no number of them"
    most = verdict.figures.get("n_persons", verdict.n_records)
    if in_all > most:
        return f"the manifest counts {in_all:,}, the file has room for {most:,}"
    if smallest > min(in_all, verdict.smallest_class):
        return f"the manifest counts {smallest:,} in the smallest class, which has room for {verdict.smallest_class:,}"
    # An external manifest has a round number in all, and none of a class.
    needed = claim.n_persons_needed
    if smallest < (needed if "smallest_class" in told else 0) or in_all < _round_down(needed):
        return f"the manifest promises {needed:,} in every class, and counts fewer"
    return None


def _vouch(entries: Mapping[str, object], claim: Classes, verdict: Verdict) -> dict[str, str]:
    """Return what a manifest says of conditions that take the original."""
    # Where nothing at all was seen of the claim, its word would be all there is.
    if entries.get("verified") is not True or not verdict.held:
        return {}
    found = dict.fromkeys(claim.comparing, "its manifest says that it was judged beside the original")
    persons = entries.get("persons")
    if isinstance(persons, dict) and type(persons.get("in_all")) is int:
        smallest = persons.get("smallest_class", claim.n_persons_needed)
        says = (
            f"its manifest says that at least {persons['in_all']:,} persons were counted beside the original, "
            f"{smallest} or more in every class"
        )
        found = {**dict.fromkeys(verdict.needs_publisher, says), **found}
    return {name: found[name] for name in verdict.needs_publisher if name in found}


def dialect_of(data: Any) -> Dialect:
    """Return the dialect of a file from the manifest beside it; what that does not state is found from the file.

    Raises
    ------
    InputError
        The manifest cannot be read.
    """
    if not isinstance(data, (str, os.PathLike)) or not manifest_path(Path(data)).is_file():
        return Dialect()
    return parse_dialect(read(Path(data)).get("dialect", {}))


def parse_dialect(entries: object) -> Dialect:
    """Return the dialect that a manifest holds of a file; raise InputError if it is none."""
    try:
        if not isinstance(entries, Mapping) or not all(_is_spelling(name, entry) for name, entry in entries.items()):
            raise TypeError
        return Dialect(**entries)
    except TypeError:
        raise InputError("the manifest's dialect is none.", hint="it is written by anonymize.") from None


def _is_spelling(name: str, entry: object) -> bool:
    if name == "index":
        return isinstance(entry, bool)
    marks = entry if isinstance(entry, list) else [entry]
    return isinstance(entry, list) == (name == "missing_values") and all(isinstance(mark, str) for mark in marks)


def read(release: Path) -> dict[str, Any]:
    """Read the manifest beside a release.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    path = manifest_path(release)
    try:
        entries = read_json(path)
    except InputError:
        raise
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"cannot read the manifest {str(path)!r}.", hint="it is written beside the release by anonymize."
        ) from None
    if not isinstance(entries, dict) or "sha256" not in entries:
        raise InputError(f"{str(path)!r} is not a manifest of hushtable.", hint="it must hold the release's sha256.")
    return entries


def is_of_linked_tables(release: Path) -> bool:
    """Tell whether a manifest, where there is one, claims something of linked tables; see `hushtable.linked`."""
    if not manifest_path(release).is_file():
        return False
    claim = read(release).get("claim")
    return isinstance(claim, dict) and claim.get("kind") == "linked tables"


def check_hash(release: Path, entries: Mapping[str, Any]) -> None:
    """Raise VerificationError when a release is not the file that its manifest was written for."""
    try:
        digest = sha256(release)
    except OSError:
        raise InputError(
            f"cannot read {str(release)!r}.", hint="check the name and that you may read the file."
        ) from None
    if digest != entries["sha256"]:
        raise VerificationError(
            f"{str(release)!r} is not the file its manifest describes: the SHA-256 differs.",
            hint="it was changed after it was written; run anonymize again.",
        )
