"""Attack a written release by all that its publisher knows, also by how its policy had it made."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.anonymizers import Request, attack_cuts, without_cuts
from hushtable.claims import Classes, describe_missing_hierarchies
from hushtable.io import Frame
from hushtable.policy.policy import Policy
from hushtable.risk import OwnAttacks, attack_written
from hushtable.search import Budget, Clock


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

    ``facts`` are the entries of its manifest: an internal one has the policy, where none is given.
    """
    original = None if original is None else claim.round_as_published(original)
    attacks = attack_written(frame, claim, earlier, original=original, earlier_original=earlier_original, seed=seed)
    entries, trace = facts.get("policy"), facts.get("trace")
    recorded = entries if isinstance(entries, Mapping) else {}
    is_searched = bool(recorded.get("search_models") if policy is None else policy.search_models)
    if not is_searched and not any(model.needs.sensitive for model in claim.models):
        return attacks
    asked = Policy.make(recorded) if policy is None and recorded else policy
    reason = _explain_untried(facts, original)
    if asked is None or original is None or reason is not None:
        return without_cuts(attacks, reason or "how the release was made is not known: give its policy")
    meanings = _read_meanings(claim, asked)
    lack = describe_missing_hierarchies(claim.columns, meanings)
    if lack is not None:
        return without_cuts(attacks, lack)
    is_hidden = claim.person is not None and (claim.is_fresh or claim.person not in frame.columns)
    request = Request(
        quasi_identifiers=claim.columns,
        models=claim.models,
        sensitive=claim.sensitive,
        method=asked.method,
        hierarchies=meanings,
        unknown=asked.unknown,
        loss=asked.objective,
        identifiers=(claim.person,) if is_hidden and claim.person is not None else (),
        specs=claim.specs,
        population=claim.population,
        person=claim.person,
        household=asked.household,
        limits=claim.limits,
        clock=Clock(Budget() if asked.budget is None else Budget(asked.budget.seconds, asked.budget.nodes)),
        writing=asked.writing.made,
        search_models=asked.search_models,
    )
    is_complete = trace.get("complete") if isinstance(trace, Mapping) else None
    published, source = frame.with_row_per_record(), original.with_row_per_record()
    return attack_cuts(attacks, published, source, request, meanings, seed=seed, is_complete=is_complete)


def _explain_untried(facts: Mapping[str, object], original: Frame | None) -> str | None:
    """Say why a search cannot be judged by its policy; None if it can."""
    if original is None:
        return "the people of the release are not known"
    if facts.get("batch") is not None:
        return "the cells come from an earlier release"
    return None if facts.get("timelines") is None else "the dates of the original were changed person by person"


def _read_meanings(claim: Classes, asked: Policy) -> dict[str, object]:
    """Return what labels stand for: None of a column whose hierarchy the policy declares, and nobody gave."""
    declared = claim.columns if asked.domains is not None else asked.hierarchies()
    # Groups that a release named itself have no meaning in its claim: classes with such a cell stay unjudged.
    return {name: each for name, each in claim.hierarchies.items() if each is not None or name in declared}
