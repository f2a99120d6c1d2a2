"""What may be set of each column, and a policy in which several settings of several columns are changed at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from hushtable.columns import KINDS, ROLES
from hushtable.errors import InputError
from hushtable.hierarchy import PROPOSED
from hushtable.page.desk import DEFAULT_K, REMOVED_ROLES, Desk
from hushtable.page.outcome import column_entries
from hushtable.policy import Policy, plain_yaml
from hushtable.quality import HIGHEST_IMPORTANCE

OWN_CUTS: Final = "cuts"
"""The word for a column without a hierarchy."""

OTHER_RULE: Final = "kept"
"""The word for a hierarchy of another kind, which stays."""

ODD_ANSWERS: Final = ("missing", "text")
CODE_ANSWERS: Final = ("missing", "value")

Settings: TypeAlias = Mapping[str, str]
"""The settings of a column, as its form has them: role, kind, importance, ladder, round, odd, and ``code-0`` and on."""


def read_settings(desk: Desk, name: str) -> Settings:
    """Return the settings that a column has now; only those that go with its role."""
    policy = desk.rules()
    column = policy.columns[name]
    role = column.role if column.action not in ("pseudonym", "fresh") else f"{column.role}:{column.action}"
    settings = {"role": "" if role == "ask" else role}
    if column.role in REMOVED_ROLES:
        return settings
    settings["kind"] = column.kind or ""
    if column.role == "quasi-identifier":
        settings["importance"] = str(policy.importance.get(name, 1))
        entry = column.hierarchy
        settings["ladder"] = OWN_CUTS if entry is None else entry if entry in PROPOSED else OTHER_RULE
    if column.role in ("sensitive", "other") and kind_of(desk, name) in ("integer", "decimal"):
        settings["round"] = "" if column.round is None else str(column.round)
    if name in desk.table().odd_cells:
        settings["odd"] = column.odd_cells if column.odd_cells in ODD_ANSWERS else ""
    declared = column.missing_values or ()
    for place, code in enumerate(find_codes(desk, name)):
        settings[f"code-{place}"] = "missing" if code in declared else "value"
    return settings


def kind_of(desk: Desk, name: str) -> str:
    """Return the kind of a column: as the policy says, else as its cells tell."""
    return desk.rules().columns[name].kind or desk.table().proposal_of(name).kind


def find_codes(desk: Desk, name: str) -> dict[str, int]:
    """Count the records of each likely code of a missing value that enough people share, in the order of the codes."""
    looked, policy = desk.table(), desk.rules()
    text = looked.frame.text(name)
    if text is None:
        return {}
    declared = set(policy.columns[name].missing_values or ()) - set(policy.read_as.missing_values)
    found = {}
    for code in sorted({*looked.missing_codes.get(name, ()), *declared}):
        key = name, code, policy.person
        if key not in desk.code_counts:
            is_code = (text.str.strip_chars() == code).fill_null(False).to_numpy()
            persons = desk.persons_of_rows()
            n_records = int(looked.frame.records[is_code].sum())
            n_people = n_records if persons is None else len(np.unique(persons[is_code & (persons >= 0)]))
            desk.code_counts[key] = n_records, n_people
        n_records, n_people = desk.code_counts[key]
        if n_people >= desk.min_people:
            found[code] = n_records
    return found


def change_columns(desk: Desk, answers: Mapping[str, Settings]) -> Policy:
    """Return the policy with changed settings of columns; what the form says of others is left out.

    Raises
    ------
    InputError
        A setting has a value that it cannot have.
    """
    before = desk.rules()
    try:
        for name, answer in answers.items():
            now = read_settings(desk, name)
            changed = {part: entry for part, entry in answer.items() if part in now and entry != now[part]}
            role = changed.pop("role", "")
            # Codes are numbered by what is said of them now.
            codes = dict(enumerate(find_codes(desk, name)))
            if role:
                desk.policy = change_role(desk, name, role)
            able = read_settings(desk, name)
            changed = {part: entry for part, entry in changed.items() if part in able}
            if "ladder" in changed:
                ladder = _parse_ladder(name, changed["ladder"])
                desk.policy = replace_hierarchy(desk.rules(), name, ladder, kind_of(desk, name))
            if changed:
                desk.policy = desk.rules().with_entries(_change_entries(desk, name, changed, codes))
                desk.ladder(name)
        return desk.rules()
    finally:
        desk.policy = before


def change_role(desk: Desk, name: str, answer: str) -> Policy:
    """Return the policy with another role of a column, as its form says it; InputError if it is no role."""
    role, _, action = answer.partition(":")
    if role not in ROLES or action not in ("", "pseudonym", "fresh"):
        raise InputError(f"{answer!r} is no role.", hint=f"choose among {', '.join(ROLES)}.")
    first = desk.proposal.get(name, {})
    proposed = desk.table().proposal_of(name)
    is_judgeable = proposed.n_distinct > 1 and can_be_judged(proposed.kind)
    return replace_role(desk.rules(), name, role, action, proposal=first, is_judgeable=is_judgeable)


def replace_role(
    policy: Policy, name: str, role: str, action: str = "", *, proposal: Mapping[str, object], is_judgeable: bool
) -> Policy:
    """Return the policy with another role of a column, without what says nothing beside it.

    Parameters
    ----------
    policy : Policy
    name, role : str
    action : {"", "pseudonym", "fresh"}
        Of an identifier that stays.
    proposal : mapping
        The entries of the column that were proposed: they come back if it is judged again.
    is_judgeable : bool
        Whether a model can ask for different values of it.
    """
    entries = column_entries(policy)
    before = entries[name]
    is_first = before["role"] not in _JUDGED_ROLES and proposal.get("role") in _JUDGED_ROLES and role in _JUDGED_ROLES
    # A date stays shifted, which its form does not ask.
    of_role = () if role == before["role"] == "quasi-identifier" else ("action",)
    useless = (*_USELESS_ENTRIES.get(role, ()), *of_role)
    kept = {key: each for key, each in (proposal if is_first else before).items() if key not in useless}
    of_identifier = {"action": action} if role == "identifier" and action else {}
    entries[name] = {**kept, "role": role, **of_identifier}
    models, search_models = (
        [model for model in asked if role == "sensitive" or name not in model.needs.sensitive]
        for asked in (policy.models, policy.search_models)
    )
    if role == "sensitive" and before["role"] != role and is_judgeable:
        models.append({"distinct-l-diversity": {"l": 2, "sensitive": name}})
    claimed = models or [{"k-anonymity": DEFAULT_K}]
    changes = {("columns",): entries, ("models",): claimed, ("search_models",): search_models}
    return policy.with_entries({**changes, **_forget_column(policy, name, role, action)})


def replace_hierarchy(policy: Policy, name: str, entry: object, kind: str) -> Policy:
    """Return the policy with another hierarchy of a column of a kind; without one for None."""
    column = {key: each for key, each in column_entries(policy)[name].items() if key != "hierarchy"}
    if entry is not None:
        column["hierarchy"] = entry
    if isinstance(entry, Mapping) and "prefix" in entry and kind == "integer":
        # Numbers have no prefixes: the column becomes a category.
        column["kind"] = "category"
    return policy.with_entries({("columns", name): column})


_JUDGED_ROLES: Final = ("quasi-identifier", "sensitive", "ask")
_ROUNDING: Final = ("round", "digits", "top", "bottom")
_USELESS_ENTRIES: Final[Mapping[str, tuple[str, ...]]] = {
    "identifier": ("hierarchy", "kind", "order", *_ROUNDING),
    "leave out": ("hierarchy", "kind", "order", "separator", "odd_cells", "label", *_ROUNDING),
    "quasi-identifier": _ROUNDING,
    "other": ("hierarchy", "order"),
}
"""Entries of a column that say nothing beside its role."""


def can_be_judged(kind: str) -> bool:
    """Tell whether a model can ask for different values; of numbers and dates, hardly two records share one."""
    return kind in ("category", "ordered")


def _forget_column(policy: Policy, name: str, role: str, action: str) -> dict[object, object]:
    """Return what no longer holds elsewhere in a policy if a column has a role, by its place there."""
    changes: dict[object, object] = {}
    current = policy.to_dict()
    if role != "quasi-identifier":
        for part, option in (("loss", "weights"), ("method", "grid")):
            changes |= _without_column(current.get(part), part, option, name)
        if name in policy.importance:
            changes["importance",] = {each: n for each, n in policy.importance.items() if each != name}
    is_hidden = role == "leave out" or (role == "identifier" and action != "pseudonym")
    if name in policy.accept and (is_hidden or role not in ("other", "sensitive", "identifier")):
        changes["accept",] = {each: why for each, why in policy.accept.items() if each != name}
    if policy.person == name and role not in ("identifier", "other"):
        changes["person",] = None
    return changes


def _without_column(entry: object, part: str, option: str, name: str) -> dict[object, object]:
    """Return the entry of a loss or method without its option for one column; empty if it has none."""
    if not isinstance(entry, Mapping):
        return {}
    changed = {
        kind: {**options, option: {each: said for each, said in options[option].items() if each != name}}
        for kind, options in entry.items()
        if isinstance(options, Mapping) and name in options.get(option, {})
    }
    return {(part,): changed} if changed else {}


def _change_entries(desk: Desk, name: str, changed: Settings, codes: Mapping[int, str]) -> dict[object, object]:
    """Return what changes in a policy, by its place there."""
    entries: dict[object, object] = {
        place: parse(name, changed[part]) for part, (place, parse) in _parsers(name).items() if part in changed
    }
    if "importance" in changed:
        number = _parse_choice(name, changed["importance"], [str(n) for n in range(1, HIGHEST_IMPORTANCE + 1)])
        entries["importance",] = {each: n for each, n in desk.rules().importance.items() if each != name} | (
            {name: int(number)} if number != "1" else {}
        )
    answers = {codes[int(part[5:])]: entry for part, entry in changed.items() if part.startswith("code-")}
    if answers:
        kept = [each for each in desk.rules().columns[name].missing_values or () if each not in answers]
        declared = [code for code, entry in answers.items() if _parse_choice(name, entry, CODE_ANSWERS) == "missing"]
        entries["columns", name, "missing_values"] = [*kept, *declared]
    return entries


def _parsers(name: str) -> Mapping[str, tuple[tuple[str, ...], Callable[[str, str], object]]]:
    """Return the place of each setting that is one entry of its column, and what reads it."""
    return {
        "kind": (("columns", name, "kind"), lambda name, text: _parse_choice(name, text, ("", *KINDS)) or None),
        "round": (("columns", name, "round"), _parse_step),
        "odd": (("columns", name, "odd_cells"), lambda name, text: _parse_choice(name, text, ODD_ANSWERS)),
    }


def _parse_choice(name: str, text: str, able: tuple[str, ...] | list[str]) -> str:
    if text not in able:
        raise InputError(
            f"{text!r} is no answer for column {name!r}.", hint=f"choose among {', '.join(filter(None, able))}."
        )
    return text


def _parse_ladder(name: str, text: str) -> str | None:
    return None if _parse_choice(name, text, (OWN_CUTS, *PROPOSED)) == OWN_CUTS else text


def _parse_step(name: str, text: str) -> int | float | None:
    if text == "":
        return None
    step = plain_yaml.parse(text, "step", InputError)[0]
    if isinstance(step, bool) or not isinstance(step, (int, float)) or not 0 < step < float("inf"):
        raise InputError(
            f"the step of column {name!r} is no number above 0.",
            hint="type for instance 100, or nothing to keep numbers.",
        )
    return step
