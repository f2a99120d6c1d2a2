"""What an assistant may tell of a signed release: the report for its recipients, with aliases for the columns.

The release is made again from the table with aliases for names, so that no sentence of its report can hold a name.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Final

from hushtable.assistant.plain_values import Json
from hushtable.assistant.source import AssistantSource
from hushtable.assistant.verdicts import ANY_KEY
from hushtable.policy import Policy
from hushtable.reporting import report
from hushtable.wording import use_language

_SECTIONS: Final = ("summary", "asked", "data", "risk_after", "tests", "unprotected")


def describe_release(source: AssistantSource, policy: Policy) -> Mapping[str, Json]:
    """Return the sections of the report for recipients as plain values."""
    policy = _with_aliases(policy, source)
    columns = [source.frame.column(name).alias(alias) for alias, name in source.aliases.items()]
    with warnings.catch_warnings(), use_language("en"):
        warnings.simplefilter("ignore")
        frame = source.frame.build_alike(columns)
        release = policy.protect(frame, key=ANY_KEY if policy.pseudonymized else None, engine="memory")
        told = report(release, audience="external", policy=policy)
    entries = told.to_dict()
    return {"signed": True, "sections": [each for each in entries["sections"] if each["name"] in _SECTIONS]}


def _with_aliases(policy: Policy, source: AssistantSource) -> Policy:
    """Return the policy with the aliases of columns for their names; reasons and labels are prose and left out."""
    alias_of = {name: alias for alias, name in source.aliases.items()}
    entries = policy.to_dict()
    columns = {
        alias_of[name]: entry
        if isinstance(entry, str)
        else {key: each for key, each in entry.items() if key != "label"}
        for name, entry in entries["columns"].items()
    }
    changes: dict[tuple[str, ...], Json] = {
        ("columns",): columns,
        ("accept",): {alias_of[name]: "a person gave a reason" for name in policy.accept},
        ("importance",): {alias_of[name]: each for name, each in policy.importance.items()},
        ("models",): [_rename_options(model, "sensitive", alias_of) for model in entries["models"]],
    }
    for part, option in (("loss", "weights"), ("method", "grid"), ("write", "by")):
        if part in entries:
            whole = _rename_options({part: entries[part]}, option, alias_of) if part == "write" else None
            changes[part,] = whole[part] if whole else _rename_options(entries[part], option, alias_of)
    if policy.person is not None:
        changes["person",] = alias_of[policy.person]
    return policy.with_entries(changes)


def _rename_options(entry: Json, option: str, alias_of: Mapping[str, str]) -> Json:
    """Return the entry of a model, method or loss with aliases in the option that names columns."""
    if not isinstance(entry, Mapping):
        return entry
    return {
        name: {key: _rename(each, alias_of) if key == option else each for key, each in options.items()}
        if isinstance(options, Mapping)
        else options
        for name, options in entry.items()
    }


def _rename(entry: Json, alias_of: Mapping[str, str]) -> Json:
    if isinstance(entry, Mapping):
        return {alias_of[name]: each for name, each in entry.items()}
    return [alias_of[each] for each in entry] if isinstance(entry, list) else alias_of[entry]
