"""What speaks against signing a release: what is refused, what a person may answer for, and what is still to do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hushtable.page.desk import REMOVED_ROLES, Desk
from hushtable.page.outcome import PolicyOutcome
from hushtable.release import Exposure
from hushtable.wording import CAREFUL

_MAX_EARLIER: Final = 20  # releases
_MAX_MANIFEST_BYTES: Final = 5_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Objections:
    """What speaks against signing.

    Attributes
    ----------
    refusals : tuple of str
        Nothing is written before they are answered.
    doubts : tuple of str
        A person may sign all the same, and says why.
    """

    refusals: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing speaks against signing."""
        return not self.refusals and not self.doubts


def find_objections(desk: Desk) -> Objections:
    """Find what speaks against signing the last outcome."""
    outcome = desk.outcome
    if outcome is None:
        return Objections((), ())
    verdict, exposure = outcome.verdict, outcome.release.exposure
    refusals = [str(each) for each in verdict.failures]
    doubts = [f"{condition}: not judged ({needs})" for condition, needs in verdict.unchecked.items()]
    if exposure is not None:
        refusals += [each.fault for each in exposure.refusals.values()]
        doubts += _list_doubts(exposure)
    doubts += [*_list_other_roles(desk, outcome), *_list_earlier_releases(desk, outcome), *verdict.cautions]
    return Objections(tuple(refusals), tuple(dict.fromkeys(each.removeprefix(CAREFUL) for each in doubts)))


def find_steps_left(desk: Desk, objections: Objections) -> list[str]:
    """Say what is to be done before a release can be signed."""
    if desk.policy_fault:
        return ["The policy's file cannot be read. Mend it, or press Undo."]
    if not desk.is_decided:
        return ["Answer what is asked on the screen Columns first."]
    if desk.halt is not None:
        return ["The search for this policy has not ended with a release. Go on with it, or change the policy."]
    if desk.outcome is None or desk.is_stale:
        return ["Wait until it is known what this policy leads to."]
    left = []
    if objections.refusals:
        left.append("Answer what is refused above: give the column another role, or say why it may stay.")
    if desk.visited.get("look") != desk.policy_text:
        left.append("Look at what is published first: open the screen Look.")
    return left


def _list_doubts(exposure: Exposure) -> list[str]:
    """List whom kept columns find, and what was accepted; what finds nobody is left out."""
    linkage = exposure.linkage
    harmless = () if linkage is None or linkage.rate > 0 else linkage.lines()
    dangers = [each for each in exposure.describe_dangers() if each not in harmless]
    return [*dangers, *exposure.describe_joint_uniques(), *exposure.describe_acceptances()]


def _list_other_roles(desk: Desk, outcome: PolicyOutcome) -> list[str]:
    """List the columns that look like identifiers and are published by another role."""
    roles = {name: column.role for name, column in outcome.policy.columns.items()}
    return [
        f"{each.name} looks like an identifier, and has the role {roles[each.name]} ({each.reason})"
        for each in desk.table().roles.columns
        if each.role == "identifier" and roles.get(each.name, "leave out") not in REMOVED_ROLES
    ]


def _list_earlier_releases(desk: Desk, outcome: PolicyOutcome) -> list[str]:
    """List the releases beside the table that share a quasi-identifier: persons may be in both."""
    asked, keyed = set(outcome.policy.quasi_identifiers), set(outcome.policy.pseudonymized)
    doubts = []
    own = {desk.release_name()} | ({desk.written.files[0].name} if desk.written is not None else set())
    for path in sorted(desk.table().path.parent.glob("*.manifest.json"))[:_MAX_EARLIER]:
        name = path.name.removesuffix(".manifest.json")
        if name in own or not path.with_name(name).is_file():
            continue
        shared, pseudonyms = _read_columns(path)
        if keyed & pseudonyms:
            doubts.append(f"{name} was released before with pseudonyms of the same column: equal ones are one person")
        elif asked & shared:
            doubts.append(
                f"{name} was released before: persons who are in both may be found by comparing them; measure it with "
                "hushtable attack-release --earlier"
            )
    return doubts


def _read_columns(path: Path) -> tuple[set[str], set[str]]:
    """Read the quasi-identifiers and the pseudonyms of a manifest; empty where it cannot be read."""
    try:
        if path.stat().st_size > _MAX_MANIFEST_BYTES:
            return set(), set()
        entries = json.loads(path.read_text(encoding="utf-8"))
        return set(map(str, entries["claim"]["columns"])), set(map(str, entries.get("pseudonymized") or ()))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set(), set()
