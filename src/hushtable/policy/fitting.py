"""Whether the entries of a policy fit one another: columns and models, and what would have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.errors import quote_names
from hushtable.policy.sections import ASK, DATE_ACTIONS, MisplacedError, PolicyTabulations

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy


def check_entries(policy: Policy) -> None:
    """Raise MisplacedError where an entry contradicts another, or has no effect beside it."""
    if not policy.models and policy.tabulations is None:
        msg = "Field required"
        raise MisplacedError(msg, ("models",))
    _check_columns_of_models(policy)
    _check_named_columns(policy)
    if policy.tabulations is not None:
        _check_columns_of_tables(policy, policy.tabulations)


def _check_columns_of_models(policy: Policy) -> None:
    for entry, models in (("models", policy.models), ("search_models", policy.search_models)):
        for i, model in enumerate(models):
            for name in model.needs.sensitive:
                if name not in policy.columns or policy.columns[name].role != "sensitive":
                    msg = f"{model.name} needs {name!r}, which columns does not declare as sensitive"
                    raise MisplacedError(msg, (entry, i))
    if policy.models and not policy.quasi_identifiers and not policy.with_role(ASK):
        msg = "columns declares no quasi-identifier"
        raise MisplacedError(msg, ("columns",))
    grid = getattr(policy.method, "grid", {})
    weighed, gridded = ("loss", policy.loss.name, "weights"), ("method", policy.method.name, "grid")
    for place, names in ((weighed, policy.loss.weights), (gridded, grid), (("importance",), policy.importance)):
        strangers = [name for name in names if name not in policy.quasi_identifiers]
        if strangers:
            msg = f"names {quote_names(strangers)}, which columns does not declare as quasi-identifier"
            raise MisplacedError(msg, (*place, strangers[0]))
    for name in grid:
        column = policy.columns[name]
        if column.hierarchy is not None or column.order or column.kind not in (None, "integer", "decimal"):
            msg = f"has no effect: {name!r} has a hierarchy, or is no column of numbers"
            raise MisplacedError(msg, (*gridded, name))


def _check_named_columns(policy: Policy) -> None:
    if policy.population is not None and not any(model.needs.population for model in policy.models):
        msg = "has no effect: no model counts a population (k-map and delta-presence do)"
        raise MisplacedError(msg, ("population",))
    if policy.unknown != "error" and policy.domains is None and not policy.hierarchies():
        msg = "has no effect: no column has a hierarchy"
        raise MisplacedError(msg, ("unknown",))
    kept = (*policy.with_role("other"), *policy.with_role("sensitive"), *policy.quasi_identifiers)
    judged = (*kept, *policy.pseudonymized)
    strangers = [name for name in policy.accept if name not in judged]
    if strangers:
        msg = f"names {quote_names(strangers)}, which columns does not declare as other, sensitive or quasi-identifier"
        raise MisplacedError(msg, ("accept", strangers[0]))
    if any((policy.person, policy.household, policy.release, policy.dates, policy.with_action(*DATE_ACTIONS))):
        # Loads what knows dates, which few policies change.
        from hushtable.policy.persons import check_persons

        check_persons(policy)


def _check_columns_of_tables(policy: Policy, asked: PolicyTabulations) -> None:
    """Raise where a table would show labels or sums of a column that nobody may see."""
    hidden = (*policy.with_role("identifier"), *policy.left_out)
    for name in asked.columns:
        place = ("tabulations", "value" if name == asked.value else "by")
        if name not in policy.columns or name in hidden:
            what = "is an identifier or left out" if name in hidden else "columns does not declare"
            msg = f"names {name!r}, which {what}"
            raise MisplacedError(msg, place)
    for name in policy.with_role("sensitive"):
        if name in asked.columns and name not in (asked.value, asked.sensitive, *policy.accept):
            msg = (
                f"names {name!r}, which is sensitive: a line may tell it of all its persons. "
                f"Say sensitive: {name}, or accept it with a reason"
            )
            raise MisplacedError(msg, ("tabulations", "by"))
