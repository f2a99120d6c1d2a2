"""Tables that a policy asks for: how they are made, and whether a manifest claims them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hushtable import engines
from hushtable.claims import Claim, HiddenCells
from hushtable.engines import EngineChoice
from hushtable.errors import PolicyError
from hushtable.search import Budget
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy
    from hushtable.tabulation import Tabulation


def make_tables(
    policy: Policy,
    data: object,
    folder: Path,
    engine: EngineChoice,
    session: object,
) -> Tabulation:
    """Make the tables of a policy, whose paths start at a folder; see `Policy.tabulate`."""
    from hushtable.tabulation import ReaderKnowledge, tabulate

    asked = policy.tabulations
    if asked is None:
        raise PolicyError("the policy asks for no tables.", hint="add `tabulations: {by: [[region, sex]]}`.")
    policy.check_decided()
    rows = engines.open_rows(data, engine=engine, session=session, dialect=policy.read_as.dialect)
    policy.check_covers(rows.names)
    return tabulate(
        rows if isinstance(rows, Table) else rows.with_specs(policy.specs),
        by=asked.by,
        value=asked.value,
        person=policy.person,
        hierarchies={
            name: folder / tree if isinstance(tree, str) else tree for name, tree in asked.hierarchies.items()
        },
        rules=asked.rules,
        reader=None if asked.zeros is None else ReaderKnowledge(zeros=asked.zeros),
        weight=asked.weight,
        budget=None if policy.budget is None else Budget(policy.budget.seconds, policy.budget.nodes),
    )


def check_claims_tables(policy: Policy, claimed: Claim) -> None:
    """Raise PolicyError where the tables of a manifest are not those that the policy makes, or hide less."""
    assert isinstance(claimed, HiddenCells), "its kind says so"
    asked = policy.tabulations
    is_asked = asked is not None and {*claimed.tables} == {*asked.by}
    least = asked.threshold if asked is not None and asked.value is None and asked.level == "upper" else 0
    if not is_asked or (claimed.threshold or 0) < least:
        raise PolicyError(
            "the manifest claims other tables than the policy makes, or a lower threshold.",
            hint="verify with the policy that the tables were made by, or without one.",
        )
