"""What each form of the page does: its fields in, a changed policy or a job out, and the screen to show next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from hushtable.anonymizers import METHODS, STYLES
from hushtable.errors import InputError
from hushtable.hierarchy import PROPOSED, Hierarchy
from hushtable.page.column_settings import OWN_CUTS, change_columns, change_role, replace_hierarchy
from hushtable.page.desk import Desk
from hushtable.page.ladders import (
    rows_of_groups,
    with_group,
    with_joined,
    with_moved,
    with_name,
    without_level,
    write_ladder,
)
from hushtable.page.parts import SCREENS
from hushtable.page.suggestions import clean_text
from hushtable.page.writing import Signature, write_release
from hushtable.policy import ComparedRun, Policy, plain_yaml, policy_of_run
from hushtable.wording import LANGUAGES

RULES: Final[Mapping[str, str]] = {
    OWN_CUTS: "",
    "auto": "",
    "units": "",
    "intervals": "5, 10, 20",
    "prefix": "4, 3, 2",
    "dates": "month, quarter, year, decade",
    "dictionary": "countries",
    "runs": "2",
    "frequency": "4",
    "file": "hierarchies/job.csv",
}
"""What may generalize a column, and what its options look like."""

_MAX_FIELD_LENGTH: Final = 2000  # characters of a field


class FormFields:
    """The fields of a form; errors say what was expected of a field."""

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field; InputError where there is none and no default."""
        entries = self._given.get(name)
        if not entries:
            if default is None:
                raise InputError(f"the form has no field {name!r}.", hint="send it from the page.")
            return default
        if len(entries[0]) > _MAX_FIELD_LENGTH:
            raise InputError(f"the field {name!r} is too long.", hint=f"up to {_MAX_FIELD_LENGTH:,} characters.")
        return entries[0].strip()

    def texts(self, name: str) -> list[str]:
        """Return all fields of a name."""
        return [each.strip() for each in self._given.get(name, ())]

    def integer(self, name: str) -> int:
        """Return a whole number."""
        return _parse_integer(self.text(name), name)

    def integers(self, name: str) -> list[int]:
        """Return the whole numbers of a field, with commas between them."""
        return [_parse_integer(part, name) for part in self.text(name).split(",") if part.strip()]

    def share(self, name: str) -> float:
        """Return a share of a field in per cent."""
        return _parse_share(self.text(name, "0"), name)

    def shares(self, name: str) -> list[float]:
        """Return the shares of a field in per cent, with semicolons or commas between them."""
        return [_parse_share(part, name) for part in self.text(name).replace(";", ",").split(",") if part.strip()]

    def first_texts(self) -> dict[str, str]:
        """Return the first entry of every field, for the form that is shown again."""
        return {name: entries[0] for name, entries in self._given.items()}

    def names(self) -> list[str]:
        """Return the names of all fields."""
        return list(self._given)


Action: TypeAlias = Callable[[Desk, FormFields], str]
"""What a form does; it returns the screen to show."""


def _parse_integer(text: str, name: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError(f"{name} is no whole number.", hint="type digits, for instance 5.")
    return int(text)


def _parse_share(text: str, name: str) -> float:
    text = text.strip().removesuffix("%").strip().replace(",", ".")
    try:
        percent = float(text) if len(text) <= 20 else -1.0
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise InputError(f"{name} is no share.", hint="type a number from 0 to 100, in per cent.")
    return percent / 100


def _open_table(desk: Desk, fields: FormFields) -> str:
    desk.open_table(fields.text("path"))
    return "/columns"


def _set_role(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.integer("column"))
    desk.change_policy(change_role(desk, name, fields.text("role")))
    return "/columns"


def _set_columns(desk: Desk, fields: FormFields) -> str:
    answers: dict[str, dict[str, str]] = {}
    for field in fields.names():
        part, position, place = [*field.split("-"), "", ""][:3]
        if part in ("role", "kind", "importance", "ladder", "round", "odd", "code") and position:
            name = desk.column_at(_parse_integer(position, "column"))
            answers.setdefault(name, {})[f"{part}-{place}" if place else part] = fields.text(field)
    changed = change_columns(desk, answers)
    if changed != desk.rules():
        desk.change_policy(changed)
    page = "1" if fields.text("go", "") == "find" else fields.text("turn", "") or fields.text("page", "1")
    asked = {"find": fields.text("find", ""), "of": fields.text("of", ""), "page": page}
    return f"/columns?{urlencode({name: text for name, text in asked.items() if text})}"


def _set_format(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.integer("column"))
    asked, (known, _) = fields.text("format"), desk.table().typed_frame.doubts(name)
    if asked not in known:
        raise InputError(f"{asked!r} is none of the formats that its cells fit.", hint="choose one of those shown.")
    desk.change_policy(desk.rules().with_entries({("columns", name, "format"): asked}))
    return "/columns"


def _set_odd_cells(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.integer("column"))
    desk.change_policy(change_columns(desk, {name: {"odd": fields.text("answer")}}))
    return "/columns"


def _set_person(desk: Desk, fields: FormFields) -> str:
    place = fields.text("column")
    person = None if place == "" else desk.column_at(_parse_integer(place, "column"))
    desk.change_policy(desk.rules().with_entries({("person",): person}))
    return "/columns"


def _set_rule(desk: Desk, fields: FormFields) -> str:
    position = fields.integer("column")
    name, rule = desk.column_at(position), fields.text("rule")
    if rule not in RULES:
        raise InputError(f"{rule!r} is no rule.", hint=f"choose among {', '.join(RULES)}.")
    _change_hierarchy(desk, name, _parse_rule(desk, rule, fields.text("options", "")))
    return f"/groups?column={position}"


def _parse_rule(desk: Desk, rule: str, options: str) -> Any:
    if rule == OWN_CUTS or rule in PROPOSED:
        return None if rule == OWN_CUTS else rule
    options = options or RULES[rule]
    if rule == "file":
        assert desk.versions is not None
        desk.resolve_path(options, desk.versions.file.parent)
        return options
    said = plain_yaml.parse(f"[{options}]", "options", InputError)[0]
    return {rule: said[0] if rule in ("dictionary", "runs", "frequency") and said else said}


def _change_hierarchy(desk: Desk, name: str, entry: Any) -> None:
    """Change the hierarchy of a column, and check that it can be built."""
    coded = desk.column_values(name)
    changed = replace_hierarchy(desk.rules(), name, entry, "" if coded is None else coded.column.kind)
    before = desk.policy
    desk.policy = changed
    try:
        desk.ladder(name)
    finally:
        desk.policy = before
    desk.change_policy(changed)


def _change_groups(make_rows: Callable[[Hierarchy, int, FormFields], list[list[str]]]) -> Action:
    """Return what changes a level of a column's groups, and writes the lines of all of them to a new file."""

    def change(desk: Desk, fields: FormFields) -> str:
        position = fields.integer("column")
        name = desk.column_at(position)
        ladder = desk.ladder(name)
        if ladder is None:
            raise InputError("the column has no groups.", hint="choose a rule first.")
        _write_groups(desk, name, make_rows(ladder, fields.integer("level"), fields))
        return f"/groups?column={position}"

    return change


def _rename_group(ladder: Hierarchy, level: int, fields: FormFields) -> list[list[str]]:
    return with_name(ladder, level, fields.integer("group"), fields.text("name"))


def _merge_groups(ladder: Hierarchy, level: int, fields: FormFields) -> list[list[str]]:
    return with_group(ladder, level, _read_nodes(fields), fields.text("name"))


def _move_groups(ladder: Hierarchy, level: int, fields: FormFields) -> list[list[str]]:
    into = None if (chosen := fields.text("into")) == "new" else _parse_integer(chosen, "into")
    return with_moved(ladder, level, _read_nodes(fields), into, fields.text("name", ""))


def _join_groups(ladder: Hierarchy, level: int, fields: FormFields) -> list[list[str]]:
    return with_joined(ladder, level, _read_nodes(fields), fields.text("name"))


def _drop_level(ladder: Hierarchy, level: int, _: FormFields) -> list[list[str]]:
    return without_level(ladder, level)


def _read_nodes(fields: FormFields) -> set[int]:
    return {_parse_integer(each, "group") for each in fields.texts("group")}


def _write_groups(desk: Desk, name: str, rows: list[list[str]]) -> None:
    assert desk.versions is not None
    folder = desk.versions.file.parent
    entry = write_ladder(rows, name, folder)
    try:
        _change_hierarchy(desk, name, entry)
    finally:
        if entry not in (desk.versions.text or ""):
            (folder / entry).unlink(missing_ok=True)


def _set_requirements(desk: Desk, fields: FormFields) -> str:
    policy = desk.rules()
    method, style = fields.text("method", policy.method.name), fields.text("recoding", "")
    if method not in METHODS:
        raise InputError(f"{method!r} is no method.", hint=f"choose among {', '.join(METHODS)}.")
    if style not in ("", *STYLES):
        raise InputError(f"{style!r} is no recoding.", hint=f"choose among {', '.join(STYLES)}.")
    style = style if hasattr(METHODS[method](), "recoding") else ""
    run = ComparedRun(fields.integer("k"), fields.share("suppression"), style or None, method)
    changed = _with_values(desk, policy_of_run(policy, run), fields)
    for limit in ("highest_risk", "average_risk"):
        if limit in fields.names():
            changed = changed.with_entries({("limits", limit): fields.share(limit) or None})
    if (fields.text("bounds", "") == "yes") != changed.writing.bounds:
        changed = changed.with_entries({("write", "bounds"): not changed.writing.bounds})
    desk.change_policy(changed)
    return "/choose"


def _with_values(desk: Desk, policy: Policy, fields: FormFields) -> Policy:
    """Return the policy with the least number of values of each sensitive column in a group."""
    models: list[Any] = list(policy.models)
    for field in fields.names():
        head, _, position_text = field.partition("-")
        if head != "values" or not position_text.isdigit():
            continue
        name, min_values = desk.column_at(_parse_integer(position_text, field)), fields.integer(field)
        models = [
            each
            for each in models
            if getattr(each, "name", "") != "distinct-l-diversity" or name not in each.needs.sensitive
        ]
        if min_values > 1:
            models.append({"distinct-l-diversity": {"l": min_values, "sensitive": name}})
    return policy.with_entries({("models",): models})


def _start_comparison(desk: Desk, fields: FormFields) -> str:
    ks, shares = fields.integers("ks"), fields.shares("suppressions")
    if len(ks) * len(shares) * max(1, len(fields.texts("method"))) > 60:
        raise InputError("more than 60 runs were asked for.", hint="ask for fewer figures.")
    desk.start_comparison(ks, shares, fields.texts("method"))
    return "/choose"


def _choose_run(desk: Desk, fields: FormFields) -> str:
    place = fields.integer("run")
    if desk.comparison is None or place >= len(desk.comparison.rows):
        raise InputError("there is no such run.", hint="compare again.")
    desk.change_policy(policy_of_run(desk.rules(), desk.comparison.rows[place]))
    return "/choose"


def _start_advice(desk: Desk, _: FormFields) -> str:
    desk.start_advice()
    return "/choose"


def _follow_advice(desk: Desk, fields: FormFields) -> str:
    changes, position = desk.find_advised_changes(), fields.integer("change")
    if position >= len(changes):
        raise InputError("there is no such change.", hint="ask for advice again.")
    desk.change_policy(desk.rules().with_entries(changes[position].entries))
    return "/choose"


def _accept_column(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.integer("column"))
    desk.change_policy(desk.rules().with_entries({("accept", name): fields.text("reason")}))
    return "/sign"


def _answer_suggestion(desk: Desk, fields: FormFields) -> str:
    """Do what was suggested if the person accepts it; what is refused stays refused."""
    key, answer = fields.text("key"), fields.text("answer")
    if key not in desk.suggestions or answer not in ("accepted", "refused"):
        raise InputError("there is no such suggestion.", hint="answer one of those shown.")
    suggestion = desk.suggestions[key]
    if answer == "accepted" and key not in desk.suggestion_answers:
        if suggestion.policy is not None:
            desk.change_policy(suggestion.policy)
        elif suggestion.what == "role":
            desk.change_policy(change_role(desk, suggestion.column, suggestion.text))
        elif suggestion.what == "accept":
            text = clean_text(suggestion.text)
            desk.change_policy(desk.rules().with_entries({("accept", suggestion.column): text}))
        else:
            coded = desk.column_values(suggestion.column)
            if coded is None:
                raise InputError("the column has too many values for groups.", hint="refuse the suggestion.")
            texts = [text for text in coded.column.texts() if text is not None]
            groups = [(clean_text(label), values) for label, values in suggestion.groups]
            _write_groups(desk, suggestion.column, rows_of_groups(texts, groups))
    desk.suggestion_answers.setdefault(key, answer)
    desk.version += 1
    return _path_of_screen(fields)


def _train_models(desk: Desk, fields: FormFields) -> str:
    desk.train_models(desk.column_at(fields.integer("column")))
    return "/look"


def _write_release(desk: Desk, fields: FormFields) -> str:
    signature = None
    if fields.text("sign", "") == "yes":
        names = ("person", "date", "audience", "comment", "seen")
        signature = Signature(**{name: fields.text(name, "") for name in names})
    write_release(desk, fields.text("name"), overwrite=fields.text("overwrite", "") == "yes", signature=signature)
    return "/sign"


def _undo_change(desk: Desk, fields: FormFields) -> str:
    desk.step_in_history(-1)
    return _path_of_screen(fields)


def _redo_change(desk: Desk, fields: FormFields) -> str:
    desk.step_in_history(1)
    return _path_of_screen(fields)


def _stop_job(desk: Desk, fields: FormFields) -> str:
    desk.stop_job()
    return _path_of_screen(fields)


def _restart_search(desk: Desk, fields: FormFields) -> str:
    desk.restart_search()
    return _path_of_screen(fields)


def _set_language(desk: Desk, fields: FormFields) -> str:
    language = fields.text("language")
    if language not in LANGUAGES:
        raise InputError(f"{language!r} is no language of the page.", hint=f"choose among {', '.join(LANGUAGES)}.")
    desk.language = language
    desk.version += 1
    return _path_of_screen(fields)


def _path_of_screen(fields: FormFields) -> str:
    screen = fields.text("screen", "columns")
    return f"/{screen}" if screen in (*SCREENS, "open") else "/columns"


ACTIONS: Final[Mapping[str, Action]] = {
    "open": _open_table,
    "role": _set_role,
    "format": _set_format,
    "odd_cells": _set_odd_cells,
    "columns": _set_columns,
    "person": _set_person,
    "hierarchy": _set_rule,
    "label": _change_groups(_rename_group),
    "group": _change_groups(_merge_groups),
    "regroup": _change_groups(_move_groups),
    "join": _change_groups(_join_groups),
    "drop_level": _change_groups(_drop_level),
    "move": _set_requirements,
    "compare": _start_comparison,
    "choose": _choose_run,
    "advise": _start_advice,
    "follow": _follow_advice,
    "accept": _accept_column,
    "suggestion": _answer_suggestion,
    "target": _train_models,
    "write": _write_release,
    "undo": _undo_change,
    "redo": _redo_change,
    "stop": _stop_job,
    "again": _restart_search,
    "language": _set_language,
}
"""Every form of the page by its name."""
