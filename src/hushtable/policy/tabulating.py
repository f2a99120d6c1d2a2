"""Tables that a policy asks for: how they are made, and whether a manifest claims them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hushtable import engines
from hushtable.claims import Claim, HiddenCells, RoundedCells
from hushtable.engines import EngineChoice
from hushtable.errors import PolicyError
from hushtable.release import manifest
from hushtable.search import Budget
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy
    from hushtable.policy.sections import PolicyTabulations
    from hushtable.tabulation import RoundedTables, Tabulation


def make_tables(
    policy: Policy,
    data: object,
    folder: Path,
    engine: EngineChoice,
    session: object,
) -> Tabulation | RoundedTables:
    """Make the tables of a policy, whose paths start at a folder; see `Policy.tabulate`."""
    from hushtable.tabulation import ReaderKnowledge, round_tables, tabulate

    asked = policy.tabulations
    if asked is None:
        raise PolicyError("the policy asks for no tables.", hint="add `tabulations: {by: [[region, sex]]}`.")
    policy.check_decided()
    rows = engines.open_rows(data, engine=engine, session=session, dialect=policy.read_as.dialect)
    policy.check_covers(rows.names)
    rows = rows if isinstance(rows, Table) else rows.with_specs(policy.specs)
    trees = {name: folder / tree if isinstance(tree, str) else tree for name, tree in asked.hierarchies.items()}
    budget = None if policy.budget is None else Budget(policy.budget.seconds, policy.budget.nodes)
    if asked.round is not None:
        return round_tables(rows, by=asked.by, base=asked.round, person=policy.person, hierarchies=trees, budget=budget)
    return tabulate(
        rows,
        by=asked.by,
        value=asked.value,
        person=policy.person,
        hierarchies=trees,
        rules=asked.rules,
        reader=None if asked.zeros is None else ReaderKnowledge(zeros=asked.zeros),
        weight=asked.weight,
        earlier=None if asked.earlier is None else folder / asked.earlier,
        budget=budget,
    )


def check_claims_tables(policy: Policy, claimed: Claim, folder: Path) -> None:
    """Raise PolicyError where the tables of a manifest are not those that the policy makes, or hide less."""
    assert isinstance(claimed, HiddenCells), "its kind says so"
    asked = policy.tabulations
    if asked is None or not _are_asked(asked, claimed, folder):
        raise PolicyError(
            "the manifest claims other tables than the policy makes, or a lower threshold.",
            hint="verify with the policy that the tables were made by, or without one.",
        )


def _are_asked(asked: PolicyTabulations, claimed: HiddenCells, folder: Path) -> bool:
    """Whether a claim is of the tables of a policy, those that were published before among them."""
    earlier = None if asked.earlier is None else manifest.claim_of(folder / asked.earlier)
    before = earlier.tables if isinstance(earlier, HiddenCells) else ()
    if {frozenset(by) for by in claimed.tables} != {frozenset(by) for by in (*asked.by, *before)}:
        return False
    if isinstance(claimed, RoundedCells) or asked.round is not None:
        return isinstance(claimed, RoundedCells) and claimed.base == asked.round
    least = asked.threshold if asked.value is None and asked.level == "upper" else 0
    return (claimed.threshold or 0) >= least
