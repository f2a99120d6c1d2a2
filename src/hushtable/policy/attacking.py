"""Attack a written release by all that its publisher knows, also by how its policy had it made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hushtable.anonymizers import CutsOrigin, Request, attack_cuts
from hushtable.claims import Classes
from hushtable.io import Frame
from hushtable.policy.policy import Policy
from hushtable.risk import OwnAttacks, attack_written
from hushtable.search import Budget, Clock
from hushtable.wording import join_names


def attack_file(
    frame: Frame,
    claim: Classes,
    facts: Mapping[str, object],
    earlier: Frame | None = None,
    *,
    policy: Policy | None = None,
    original: Frame | None = None,
    earlier_original: Frame | None = None,
    seed: int = 0,
) -> OwnAttacks:
    """Attack a release that was written; parameters as of `hushtable.risk.attack_written`.

    ``facts`` are the entries of its manifest. An internal one has the policy by which the release was made: another
    one says what labels mean, and how a release was made whose manifest does not say it.
    """
    original = None if original is None else claim.round_as_published(original)
    attacks = attack_written(frame, claim, earlier, original=original, earlier_original=earlier_original, seed=seed)
    made = _read_making(facts) or policy
    is_searched = made is not None and bool(made.search_models)
    if not is_searched and not any(model.needs.sensitive for model in claim.models):
        return attacks
    meanings = {} if made is None else _read_meanings(claim, made)
    request = None if made is None else _request_of(made, claim, meanings, frame)
    trace = facts.get("trace")
    origin = CutsOrigin(
        is_complete=trace.get("complete") if isinstance(trace, Mapping) else None,
        is_batch=facts.get("batch") is not None,
        has_other_dates=facts.get("timelines") is not None,
    )
    published, source = frame.with_row_per_record(), None if original is None else original.with_row_per_record()
    return attack_cuts(attacks, published, source, request, meanings, seed=seed, origin=origin)


def describe_other_making(facts: Mapping[str, object], policy: Policy | None) -> str:
    """Say what of a policy is not how the manifest says that a release was made; empty if nothing is."""
    made = _read_making(facts)
    if made is None or policy is None:
        return ""
    recorded, given = made.to_dict(), policy.to_dict()
    other = [name for name in _MAKING if recorded.get(name) != given.get(name)]
    if not other:
        return ""
    return (
        f"the policy differs from the one in the manifest in {join_names(other)}: "
        "the release is attacked as it was made"
    )


_MAKING: Final = ("method", "search_models", "loss", "unknown", "household")
"""Entries of a policy that decide which classes a search leaves, besides columns and what labels mean."""


def _read_making(facts: Mapping[str, object]) -> Policy | None:
    """Return the policy that a manifest records; an external one records none."""
    recorded = facts.get("policy")
    return Policy.make(recorded, "the policy in the manifest") if isinstance(recorded, Mapping) and recorded else None


def _request_of(made: Policy, claim: Classes, meanings: Mapping[str, object], frame: Frame) -> Request:
    """Return what a search by a policy is asked for, of the columns and models of a claim."""
    is_hidden = claim.person is not None and (claim.is_fresh or claim.person not in frame.columns)
    return Request(
        quasi_identifiers=claim.columns,
        models=claim.models,
        sensitive=claim.sensitive,
        method=made.method,
        hierarchies=meanings,
        unknown=made.unknown,
        loss=made.objective,
        identifiers=(claim.person,) if is_hidden and claim.person is not None else (),
        specs=claim.specs,
        population=claim.population,
        person=claim.person,
        household=made.household,
        limits=claim.limits,
        clock=Clock(Budget() if made.budget is None else Budget(made.budget.seconds, made.budget.nodes)),
        writing=made.writing.made,
        search_models=made.search_models,
    )


def _read_meanings(claim: Classes, asked: Policy) -> dict[str, object]:
    """Return what labels stand for: None of a column whose hierarchy the policy declares, and nobody gave."""
    declared = claim.columns if asked.domains is not None else asked.hierarchies()
    # Groups that a release named itself have no meaning in its claim: classes with such a cell stay unjudged.
    return {name: each for name, each in claim.hierarchies.items() if each is not None or name in declared}
