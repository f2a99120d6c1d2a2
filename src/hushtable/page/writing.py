"""A release is written, verified from its file, and signed, as a job of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256 as sha256_of
from pathlib import Path

from hushtable.errors import InputError
from hushtable.io import drafts, frames
from hushtable.page.desk import Desk, ReleaseOnDisk
from hushtable.page.jobs import PageJob
from hushtable.page.objections import Objections, find_objections, find_steps_left
from hushtable.page.outcome import PolicyOutcome
from hushtable.release import SignOff, codebook_paths, hash_claim, manifest, sha256, sign_off_path, write_sign_off
from hushtable.reporting import report, report_paths, section_on_sign_off


@dataclass(frozen=True, slots=True)
class Signature:
    """What a person types who signs.

    Attributes
    ----------
    person, date, audience, comment : str
    seen : str
        The mark of the outcome that was on the screen; see `mark_of`.
    """

    person: str
    date: str
    audience: str
    comment: str
    seen: str


def mark_of(outcome: PolicyOutcome) -> str:
    """Return a mark of what a screen showed: a person signs what was seen."""
    return sha256_of(outcome.text.encode()).hexdigest()[:32]


def write_release(desk: Desk, typed: str, *, overwrite: bool, signature: Signature | None = None) -> None:
    """Write the release with all that lies beside it, verify the file, and sign it if somebody does, as a job."""
    looked = desk.table()
    path = desk.resolve_path(typed, looked.path.parent)
    outcome, objections = desk.current_outcome(), find_objections(desk)
    if signature is not None:
        _check_signature(desk, outcome, objections, signature)
    assert desk.versions is not None
    page, policy_file = path.with_name(f"{path.name}.report.html"), desk.versions.file
    inputs = (looked.path, policy_file, *outcome.policy.inputs)
    outputs = _check_outputs(path, page, inputs, overwrite=overwrite)
    desk.fault = ""

    def work(job: PageJob) -> ReleaseOnDisk:
        looked.snapshot.check()
        # The record of an earlier file of this name speaks of that file.
        sign_off_path(path).unlink(missing_ok=True)
        policy, release = outcome.policy, outcome.release
        verdict = release.write(path, policy=policy.to_dict(), overwrite=overwrite)
        job.tell(0.5)
        # `verify` needs the original if the claim compares with it, or counts persons.
        compares = release.claim.needs_original(release.edition.columns)
        again = policy.verify(path, original=looked.path if compares else None)
        is_verified = again.passed and again.complete_for_receiver
        signed = None
        if signature is not None and is_verified:
            signed = _build_sign_off(path, policy_file, outcome, objections, signature)
            signed = replace(signed, transcript=desk.transcript_head())
            write_sign_off(path, signed, overwrite=overwrite)
        told = report(release, file=path, policy=policy, verdict=verdict, inputs=inputs)
        own = () if signed is None else (section_on_sign_off(signed),)
        replace(told, sections=(*told.sections, *own)).write(page, overwrite=overwrite)
        files = outputs if signed is not None else outputs[:-1]
        return ReleaseOnDisk(outcome.text, files, is_verified, signed, objections.doubts)

    def done(job: PageJob, made: ReleaseOnDisk | None) -> None:
        with desk.lock:
            # Older good news goes: a write that fails leaves none beside its error.
            desk.written = made
            desk.finish_job(job)

    desk.jobs.start("writing", work, done)


def _check_outputs(path: Path, page: Path, inputs: Sequence[Path], *, overwrite: bool) -> tuple[Path, ...]:
    """Return the files of a release, the signed record last; InputError where one must not be written."""
    frames.file_kind(path)
    outputs = (path, manifest.manifest_path(path), *codebook_paths(path), *report_paths(page), sign_off_path(path))
    drafts.check_outputs(outputs, inputs, overwrite=overwrite)
    return outputs


def _check_signature(desk: Desk, outcome: PolicyOutcome, objections: Objections, signature: Signature) -> None:
    """Raise InputError where a careful person would not sign, or signs something else than was seen."""
    if signature.seen != mark_of(outcome):
        raise InputError(
            "the policy was changed since this screen was shown, in another tab or by hand.",
            hint="look at what it leads to now, then sign.",
        )
    left = find_steps_left(desk, objections)
    if left:
        raise InputError("this release cannot be signed yet.", hint=" ".join(left))
    if objections.doubts and not signature.comment:
        raise InputError(
            "something speaks against signing, and the comment is empty.",
            hint="say in the comment why you sign all the same.",
        )
    # What was typed is checked before anything is written.
    _build(signature, objections)
    if date.fromisoformat(signature.date) > date.today():
        raise InputError("the date is in the future.", hint="type the day on which you sign.")


def _build_sign_off(
    path: Path, policy_file: Path, outcome: PolicyOutcome, objections: Objections, signature: Signature
) -> SignOff:
    """Build the record from the files as they are on the disk."""
    if policy_file.read_text(encoding="utf-8") != outcome.text:
        raise InputError(
            "the policy's file was changed while the release was written: nobody signed it.",
            hint="look at what it leads to now, then sign.",
        )
    return replace(
        _build(signature, objections),
        file=path.name,
        sha256=sha256(path),
        claim_sha256=hash_claim(manifest.read(path).get("claim")),
        policy=policy_file.name,
        policy_sha256=sha256(policy_file),
    )


def _build(signature: Signature, objections: Objections) -> SignOff:
    """Build a record without its hashes, each text on one line."""
    person, day, audience, comment = (
        " ".join(text.split()) for text in (signature.person, signature.date, signature.audience, signature.comment)
    )
    return SignOff(person, day, audience, comment, objections.doubts, "", "", "", "", "")
