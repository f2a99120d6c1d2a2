"""The section of a report on who signed a release."""

from __future__ import annotations

from hushtable.release import NO_SIGNATURE, SignOff
from hushtable.reporting.document import Block, Data, Paragraph, Points, Section, Table


def section_on_sign_off(signed: SignOff) -> Section:
    """Return who signed, when and for whom, what spoke against it, and the hashes of what was signed."""
    hashes = (
        (Data(signed.file), Data(signed.sha256)),
        ("claim in the manifest", Data(signed.claim_sha256)),
        (Data(signed.policy), Data(signed.policy_sha256)),
        *([("transcript of the assistant", Data(signed.transcript))] if signed.transcript else []),
        ("signed record", Data(str(signed.to_dict()["record_sha256"]))),
    )
    blocks: list[Block] = [Paragraph(f"{signed.sentence}.")]
    if signed.comment:
        blocks.append(Paragraph(f"Comment: {signed.comment}"))
    if signed.objections:
        blocks += [Paragraph("This spoke against signing:", "careful"), Points(signed.objections)]
    blocks += [Table("What was signed", ("what", "SHA-256"), hashes), Paragraph(NO_SIGNATURE)]
    return Section("signed", "Who signed", tuple(blocks))
