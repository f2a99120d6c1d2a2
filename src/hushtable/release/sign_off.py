"""A sign-off: who answers for a written release, when, for whom, and for which file, claim and policy.

It is a record and no cryptographic signature: anyone who may write the folder can write another record. What it shows
is that the file, the claim in its manifest, or the policy is no longer what the person signed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Final

from hushtable.claims import Failure, Verdict
from hushtable.errors import InputError, VerificationError
from hushtable.io import drafts, read_json
from hushtable.release.manifest import read as read_manifest, sha256, sign_off_path

AUDIENCES: Final = ("own organisation", "recipients under a contract", "everybody")
"""For whom a release may be signed."""

NO_SIGNATURE: Final = (
    "This record is no cryptographic signature: anyone who may write the folder can write another record."
)

_MAX_CHARACTERS: Final = 2000  # characters of a field
_MAX_BYTES: Final = 1_000_000  # bytes of a record
_DIGEST: Final = "record_sha256"
_CONDITIONS: Final = (
    "the file is the one that was signed",
    "the claim is the one that was signed",
    "the policy is the one that was signed",
)
_READABLE: Final = "the signed record is as it was written"


@dataclass(frozen=True, slots=True)
class SignOff:
    """A person's answer for a release.

    Attributes
    ----------
    person, comment : str
    date : str
        ISO 8601.
    audience : str
        One of `AUDIENCES`.
    objections : tuple of str
        What spoke against signing when the person signed.
    file, policy : str
        Names of the release and of its policy, both without a folder.
    sha256, claim_sha256, policy_sha256 : str
        Of the release, of the claim in its manifest, and of the policy's file.
    transcript : str
        The hash at the end of the transcript of an AI assistant when the person signed; empty where none took part.

    Raises
    ------
    InputError
        An entry is empty, too long, not printable, or no date or audience.
    """

    person: str
    date: str
    audience: str
    comment: str
    objections: tuple[str, ...]
    file: str
    sha256: str
    claim_sha256: str
    policy: str
    policy_sha256: str
    transcript: str = ""

    def __post_init__(self) -> None:
        texts = {name: entry for name, entry in asdict(self).items() if name != "objections"}
        for name, entry in (*texts.items(), *(("objections", each) for each in self.objections)):
            if not isinstance(entry, str) or len(entry) > _MAX_CHARACTERS or not entry.isprintable():
                raise InputError(f"{name} is no text of one line.", hint=f"up to {_MAX_CHARACTERS:,} characters.")
        if not self.person.strip():
            raise InputError("nobody signs.", hint="type the name of the person who answers for the release.")
        if self.audience not in AUDIENCES:
            raise InputError(f"{self.audience!r} is no audience.", hint=f"choose among {', '.join(AUDIENCES)}.")
        try:
            date.fromisoformat(self.date)
        except ValueError:
            raise InputError(f"{self.date!r} is no date.", hint="type it as 2026-12-31.") from None
        if "/" in self.policy or "\\" in self.policy:
            raise InputError("the policy's name has a folder.", hint="it lies beside the release.")

    def to_dict(self) -> dict[str, object]:
        """Return the record as plain values, with its own hash."""
        entries: dict[str, object] = {**asdict(self), "objections": list(self.objections)}
        if not self.transcript:
            del entries["transcript"]
        return {**entries, _DIGEST: _hash_entries(entries)}

    @property
    def sentence(self) -> str:
        """Who signed, when, and for whom."""
        return f"Signed by {self.person} on {self.date} for {self.audience}"


def write_sign_off(release: Path, signed: SignOff, *, overwrite: bool) -> None:
    """Write a record beside its release."""
    path = sign_off_path(release)
    entries = {"hushtable": version("hushtable"), **signed.to_dict()}
    with drafts.replace_files(path, internal=(path,), overwrite=overwrite) as (draft,):
        draft.write_text(f"{json.dumps(entries, indent=2, ensure_ascii=False)}\n", encoding="utf-8", newline="\n")


def read_sign_off(release: Path) -> SignOff:
    """Read the record beside a release.

    Raises
    ------
    VerificationError
        It is no record, or was altered after it was written.
    """
    path = sign_off_path(release)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ValueError
        entries = read_json(path)
        if not isinstance(entries, dict):
            raise TypeError
        entries.pop("hushtable", None)
        digest = entries.pop(_DIGEST)
        signed = SignOff(**{**entries, "objections": tuple(entries["objections"])})
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, InputError):
        raise VerificationError(
            f"{str(path)!r} is no signed record.", hint="it was altered, or is of another program; sign again."
        ) from None
    if digest != signed.to_dict()[_DIGEST]:
        raise VerificationError(
            f"{str(path)!r} was altered after it was signed: its own SHA-256 differs.", hint="sign again."
        )
    return signed


def compare_with_sign_off(verdict: Verdict, release: Path) -> Verdict:
    """Return a verdict that also says whether file, claim and policy are those that were signed.

    Whoever has no policy beside the file cannot judge it: the record's word stands for it, as a manifest's does.
    """
    try:
        signed = read_sign_off(release)
    except VerificationError as error:
        failure = Failure(f"{_READABLE}: {error.message}")
        return replace(verdict, conditions=(*verdict.conditions, _READABLE), failures=(*verdict.failures, failure))
    policy = release.with_name(signed.policy)
    found = {
        _CONDITIONS[0]: signed.file == release.name and sha256(release) == signed.sha256,
        _CONDITIONS[1]: hash_claim(read_manifest(release).get("claim")) == signed.claim_sha256,
        _CONDITIONS[2]: not policy.is_file() or sha256(policy) == signed.policy_sha256,
    }
    failures = [
        Failure(f"{condition}: the SHA-256 differs from the one that was signed on {signed.date}")
        for condition, holds in found.items()
        if not holds
    ]
    unchecked, vouched = dict(verdict.unchecked), dict(verdict.vouched)
    if not policy.is_file():
        unchecked[_CONDITIONS[2]] = "the policy's file beside the release"
        vouched[_CONDITIONS[2]] = "its signed record holds the policy's SHA-256"
    return replace(
        verdict,
        conditions=(*verdict.conditions, *found),
        failures=(*verdict.failures, *failures),
        unchecked=unchecked,
        vouched=vouched,
        needs_publisher=(*verdict.needs_publisher, *(name for name in vouched if name == _CONDITIONS[2])),
    )


def hash_claim(claim: object) -> str:
    """Return the SHA-256 of a claim as a manifest holds it."""
    return _hash_entries({"claim": claim})


def _hash_entries(entries: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
