"""How a release by a policy is typed, and whether a table, or what its manifest claims, is what the policy asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.claims import Claim, Classes, Combinations, Matchings, holds_cells
from hushtable.columns import ColumnSpec
from hushtable.errors import PolicyError, WeakerClaimError, quote_names
from hushtable.policy.sections import DATE_ACTIONS
from hushtable.release import manifest

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy


def specs_of_release(policy: Policy) -> dict[str, ColumnSpec]:
    """Return how a release is typed: quasi-identifiers as it is written, other judged columns as in the input."""
    specs = policy.specs
    persons = () if policy.person is None else (policy.person,)
    for name in (*policy.with_role("sensitive"), *policy.rounding, *persons):
        specs[name] = specs.get(name, ColumnSpec()).with_defaults_from(policy.read_as.dialect.spec)
    for name in policy.quasi_identifiers:
        kind, order = policy.columns[name].kind, policy.columns[name].order
        holds_numbers = kind in (None, "integer", "decimal") and order is None
        decimal = "," if policy.writing.decimal == "," and holds_numbers else None
        specs[name] = ColumnSpec(None if name in policy.with_action(*DATE_ACTIONS) else kind, order, decimal=decimal)
    return specs


def check_asks_for_records(policy: Policy) -> None:
    """Raise PolicyError where the policy makes tables only."""
    if not policy.models:
        raise PolicyError(
            "the policy has no models: it makes tables, and protects no records.",
            hint="make tables with `hushtable tables`, or add `models: [k-anonymity: 5]`.",
        )


def check_agrees(policy: Policy, claimed: Claim) -> None:
    """Raise WeakerClaimError where the claim in a manifest is not what the policy asks."""
    asked, told = policy.claim(), claimed.conditions
    # A release without suppressed records claims no limit of them; the policy's is judged from the file.
    limits = asked.limits.suppression_in_words if isinstance(asked, Classes) else ""
    lacking = [condition for condition in asked.conditions if condition not in (*told, limits)]
    if lacking or set(claimed.columns) != set(policy.quasi_identifiers):
        what = quote_names(lacking) if lacking else f"quasi-identifiers {quote_names(policy.quasi_identifiers)}"
        raise WeakerClaimError(
            f"the policy asks for {what}, which the manifest of the release does not claim.",
            hint="verify with the policy that the release was made by, or without one.",
        )


def describe_exposure_limit(policy: Policy | None) -> dict[str, object] | None:
    """Return what the manifest of a release by a policy says of the limit of its kept columns; None without one."""
    if policy is None:
        return None
    asked = policy.limits.exposure
    return {
        manifest.EXPOSURE_LIMIT: {"columns": asked.columns, "rate": asked.rate},
        "accepted": [*policy.accept],
        "pseudonymized": [*policy.pseudonymized],
        "fresh": [*policy.fresh],
    }


def check_release(policy: Policy, columns: Sequence[str], claim: Claim | None = None) -> None:
    """Raise PolicyError where a released table holds a column that the policy removes or does not know.

    Columns that a claim judges as bounds of others are known by these; tables have what they claim.
    """
    if holds_cells(claim):
        return
    bounds = claim.bound_columns if isinstance(claim, (Classes, Combinations, Matchings)) else ()
    released = [name for name in columns if name not in bounds]
    stray = [name for name in released if name not in policy.columns or name in policy.removed]
    if stray:
        raise PolicyError(
            f"the table holds columns {quote_names(stray)}, which the policy does not release.",
            hint="verify the file that anonymize wrote with this policy.",
        )
