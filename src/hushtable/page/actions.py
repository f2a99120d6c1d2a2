"""What each form of the page does: its fields in, a changed policy or a job out, and the screen to show next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hushtable.anonymizers import METHODS, STYLES
from hushtable.columns import ROLES
from hushtable.errors import InputError
from hushtable.page.desk import Desk
from hushtable.page.ladders import with_group, with_name, write_ladder
from hushtable.policy import ComparedRun, Policy, plain_yaml, policy_of_run
from hushtable.wording import LANGUAGES

OWN_CUTS: Final = "cuts"
RULES: Final[Mapping[str, str]] = {
    OWN_CUTS: "",
    "auto": "",
    "intervals": "5, 10, 20",
    "prefix": "4, 3, 2",
    "dates": "month, quarter, year, decade",
    "dictionary": "countries",
    "runs": "2",
    "frequency": "4",
    "file": "hierarchies/job.csv",
}
"""What may generalize a column, and what its options look like."""

_LONGEST: Final = 2000  # characters of a field


class FormFields:
    """The fields of a form, each with what was expected where it holds something else."""

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field; InputError where there is none and no default."""
        entries = self._given.get(name)
        if not entries:
            if default is None:
                raise InputError(f"the form has no field {name!r}.", hint="send it from the page.")
            return default
        if len(entries[0]) > _LONGEST:
            raise InputError(f"the field {name!r} is too long.", hint=f"up to {_LONGEST:,} characters.")
        return entries[0].strip()

    def texts(self, name: str) -> list[str]:
        """Return all fields of a name."""
        return [each.strip() for each in self._given.get(name, ())]

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return _whole(self.text(name), name)

    def wholes(self, name: str) -> list[int]:
        """Return the whole numbers of a field, with commas between them."""
        return [_whole(part, name) for part in self.text(name).split(",") if part.strip()]

    def share(self, name: str) -> float:
        """Return a share of a field in per cent."""
        return _share(self.text(name, "0"), name)

    def shares(self, name: str) -> list[float]:
        """Return the shares of a field in per cent, with semicolons or commas between them."""
        return [_share(part, name) for part in self.text(name).replace(";", ",").split(",") if part.strip()]

    def names(self) -> list[str]:
        """Return the names of all fields."""
        return list(self._given)


def _whole(text: str, name: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError(f"{name} is no whole number.", hint="type digits, for instance 5.")
    return int(text)


def _share(text: str, name: str) -> float:
    text = text.strip().removesuffix("%").strip().replace(",", ".")
    try:
        percent = float(text) if len(text) <= 20 else -1.0
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise InputError(f"{name} is no share.", hint="type a number from 0 to 100, in per cent.")
    return percent / 100


def _open(desk: Desk, fields: FormFields) -> str:
    desk.open(fields.text("path"))
    return "/columns"


def _role(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.whole("column"))
    role, _, action = fields.text("role").partition(":")
    if role not in ROLES or action not in ("", "pseudonym", "fresh"):
        raise InputError(f"{role!r} is no role.", hint=f"choose among {', '.join(ROLES)}.")
    desk.change(desk.with_role(name, role, action or None))
    return "/columns"


def _format(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.whole("column"))
    asked, (known, _) = fields.text("format"), desk.table().learned.doubts(name)
    if asked not in known:
        raise InputError(f"{asked!r} is none of the formats that its cells fit.", hint="choose one of those shown.")
    desk.change(desk.rules().changed({("columns", name, "format"): asked}))
    return "/columns"


def _odd_cells(desk: Desk, fields: FormFields) -> str:
    name, answer = desk.column_at(fields.whole("column")), fields.text("answer")
    if answer not in ("missing", "text"):
        raise InputError(f"{answer!r} is no answer.", hint="choose missing or text.")
    desk.change(desk.rules().changed({("columns", name, "odd_cells"): answer}))
    return "/columns"


def _person(desk: Desk, fields: FormFields) -> str:
    place = fields.text("column")
    person = None if place == "" else desk.column_at(_whole(place, "column"))
    desk.change(desk.rules().changed({("person",): person}))
    return "/columns"


def _hierarchy(desk: Desk, fields: FormFields) -> str:
    place = fields.whole("column")
    name, rule = desk.column_at(place), fields.text("rule")
    if rule not in RULES:
        raise InputError(f"{rule!r} is no rule.", hint=f"choose among {', '.join(RULES)}.")
    _put_hierarchy(desk, name, _rule(desk, rule, fields.text("options", "")))
    return f"/groups?column={place}"


def _rule(desk: Desk, rule: str, options: str) -> Any:
    if rule in (OWN_CUTS, "auto"):
        return None if rule == OWN_CUTS else "auto"
    options = options or RULES[rule]
    if rule == "file":
        assert desk.versions is not None
        desk.inside(options, desk.versions.file.parent)
        return options
    said = plain_yaml.read(f"[{options}]", "options", InputError)[0]
    return {rule: said[0] if rule in ("dictionary", "runs", "frequency") and said else said}


def _put_hierarchy(desk: Desk, name: str, entry: Any) -> None:
    """Change what generalizes a column, and look whether it can be built."""
    policy = desk.rules()
    entries = policy.to_dict()["columns"]
    column = entries[name] if isinstance(entries[name], dict) else {"role": entries[name]}
    column = {key: each for key, each in column.items() if key != "hierarchy"}
    coded = desk.coded(name)
    if entry is not None:
        column["hierarchy"] = entry
        if isinstance(entry, dict) and "prefix" in entry and coded is not None and coded.column.kind == "integer":
            # Of numbers no text is the beginning of another.
            column["kind"] = "category"
    changed = policy.changed({("columns",): {**entries, name: column}})
    before = desk.policy
    desk.policy = changed
    try:
        desk.ladder(name)
    finally:
        desk.policy = before
    desk.change(changed)


def _label(desk: Desk, fields: FormFields) -> str:
    place, name, ladder = _ladder(desk, fields)
    rows = with_name(ladder, fields.whole("level"), fields.whole("group"), fields.text("name"))
    return _write_groups(desk, place, name, rows)


def _group(desk: Desk, fields: FormFields) -> str:
    place, name, ladder = _ladder(desk, fields)
    nodes = {_whole(each, "group") for each in fields.texts("group")}
    return _write_groups(desk, place, name, with_group(ladder, fields.whole("level"), nodes, fields.text("name")))


def _ladder(desk: Desk, fields: FormFields) -> tuple[int, str, Any]:
    place = fields.whole("column")
    name = desk.column_at(place)
    ladder = desk.ladder(name)
    if ladder is None:
        raise InputError("the column has no groups.", hint="choose a rule first.")
    return place, name, ladder


def _write_groups(desk: Desk, place: int, name: str, rows: list[list[str]]) -> str:
    assert desk.versions is not None
    folder = desk.versions.file.parent
    entry = write_ladder(rows, name, folder)
    try:
        _put_hierarchy(desk, name, entry)
    finally:
        if entry not in (desk.versions.text or ""):
            (folder / entry).unlink(missing_ok=True)
    return f"/groups?column={place}"


def _move(desk: Desk, fields: FormFields) -> str:
    policy = desk.rules()
    method, style = fields.text("method", policy.method.name), fields.text("recoding", "")
    if method not in METHODS:
        raise InputError(f"{method!r} is no method.", hint=f"choose among {', '.join(METHODS)}.")
    if style not in ("", *STYLES):
        raise InputError(f"{style!r} is no recoding.", hint=f"choose among {', '.join(STYLES)}.")
    style = style if hasattr(METHODS[method](), "recoding") else ""
    run = ComparedRun(fields.whole("k"), fields.share("suppression"), style or None, method)
    changed = _with_values(desk, policy_of_run(policy, run), fields)
    for limit in ("highest_risk", "average_risk"):
        if limit in fields.names():
            changed = changed.changed({("limits", limit): fields.share(limit) or None})
    desk.change(changed)
    return "/choose"


def _with_values(desk: Desk, policy: Policy, fields: FormFields) -> Policy:
    """Return the policy with how many values of each sensitive column a group must hold at least."""
    models: list[Any] = list(policy.models)
    for field in fields.names():
        head, _, place = field.partition("-")
        if head != "values" or not place.isdigit():
            continue
        name, least = desk.column_at(_whole(place, field)), fields.whole(field)
        models = [
            each
            for each in models
            if getattr(each, "name", "") != "distinct-l-diversity" or name not in each.needs.sensitive
        ]
        if least > 1:
            models.append({"distinct-l-diversity": {"l": least, "sensitive": name}})
    return policy.changed({("models",): models})


def _compare(desk: Desk, fields: FormFields) -> str:
    ks, shares = fields.wholes("ks"), fields.shares("suppressions")
    if len(ks) * len(shares) * max(1, len(fields.texts("method"))) > 60:
        raise InputError("more than 60 runs were asked for.", hint="ask for fewer figures.")
    desk.compare(ks, shares, fields.texts("method"))
    return "/choose"


def _choose(desk: Desk, fields: FormFields) -> str:
    place = fields.whole("run")
    if desk.comparison is None or place >= len(desk.comparison.rows):
        raise InputError("there is no such run.", hint="compare again.")
    desk.change(policy_of_run(desk.rules(), desk.comparison.rows[place]))
    return "/choose"


def _accept(desk: Desk, fields: FormFields) -> str:
    name = desk.column_at(fields.whole("column"))
    desk.change(desk.rules().changed({("accept", name): fields.text("reason")}))
    return "/sign"


def _target(desk: Desk, fields: FormFields) -> str:
    desk.predict(desk.column_at(fields.whole("column")))
    return "/look"


def _write(desk: Desk, fields: FormFields) -> str:
    desk.write(fields.text("name"), overwrite=fields.text("overwrite", "") == "yes")
    return "/sign"


def _undo(desk: Desk, fields: FormFields) -> str:
    desk.step(-1)
    return _back(fields)


def _redo(desk: Desk, fields: FormFields) -> str:
    desk.step(1)
    return _back(fields)


def _stop(desk: Desk, fields: FormFields) -> str:
    desk.stop()
    return _back(fields)


def _again(desk: Desk, fields: FormFields) -> str:
    desk.again()
    return _back(fields)


def _language(desk: Desk, fields: FormFields) -> str:
    language = fields.text("language")
    if language not in LANGUAGES:
        raise InputError(f"{language!r} is no language of the page.", hint=f"choose among {', '.join(LANGUAGES)}.")
    desk.language = language
    desk.version += 1
    return _back(fields)


def _back(fields: FormFields) -> str:
    screen = fields.text("screen", "columns")
    return f"/{screen}" if screen in ("columns", "groups", "choose", "look", "sign") else "/columns"


ACTIONS: Final[Mapping[str, Callable[[Desk, FormFields], str]]] = {
    "open": _open,
    "role": _role,
    "format": _format,
    "odd_cells": _odd_cells,
    "person": _person,
    "hierarchy": _hierarchy,
    "label": _label,
    "group": _group,
    "move": _move,
    "compare": _compare,
    "choose": _choose,
    "accept": _accept,
    "target": _target,
    "write": _write,
    "undo": _undo,
    "redo": _redo,
    "stop": _stop,
    "again": _again,
    "language": _language,
}
"""Every form of the page by its name; what each returns is the screen to show."""
