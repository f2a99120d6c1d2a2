"""What may be set of each column, and a policy in which several settings of several columns are changed at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from hushtable.columns import KINDS, ROLES
from hushtable.errors import InputError
from hushtable.hierarchy import PROPOSED
from hushtable.page.desk import Desk
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
    role = column.role if column.action in (None, "remove") else f"{column.role}:{column.action}"
    settings = {"role": "" if role == "ask" else role}
    if column.role in ("identifier", "leave out"):
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
    return desk.rules().columns[name].kind or next(
        each.kind for each in desk.table().roles.columns if each.name == name
    )


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
                desk.policy = _with_role(desk, name, role)
            able = read_settings(desk, name)
            changed = {part: entry for part, entry in changed.items() if part in able}
            entries = _change_entries(desk, name, changed, codes)
            if entries:
                desk.policy = desk.rules().with_entries(entries)
                desk.ladder(name)
        return desk.rules()
    finally:
        desk.policy = before


def _with_role(desk: Desk, name: str, answer: str) -> Policy:
    role, _, action = answer.partition(":")
    if role not in ROLES or action not in ("", "pseudonym", "fresh"):
        raise InputError(f"{answer!r} is no role.", hint=f"choose among {', '.join(ROLES)}.")
    return desk.with_role(name, role, action or None)


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
        "ladder": (("columns", name, "hierarchy"), _parse_ladder),
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
