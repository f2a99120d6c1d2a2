"""From options of the command to a policy: whatever can be typed can be written, and the other way round."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.arguments import names_of
from hushtable.cli.terminal import join_some, tell
from hushtable.errors import InputError, PolicyError, listed

if TYPE_CHECKING:
    from hushtable.io import Frame
    from hushtable.policy import Policy

__all__ = ["changed", "decided", "key_in", "key_of", "policy_of_options"]

NOTIONS: Final = {
    "k1": "(k,1)-matching",
    "1k": "(1,k)-matching",
    "kk": "(k,k)-matching",
    "global-k1": "global-(k,1)-matching",
    "global-1k": "global-(1,k)-matching",
    "mg-ga": "global-(k,1)-matching",
}
"""What ``--notion`` takes, and the names of the matching notions."""

_OptionPlace = tuple[str, ...]


def policy_of_options(
    frame: Frame, roles: Mapping[str, str], k: int | None, notion: str | None, diversity: Sequence[str]
) -> Policy:
    """Make a policy of plain options; a column that looks identifying and was given no role is refused.

    Parameters
    ----------
    frame : Frame
    roles : mapping of role to names as they were typed
    k : int, optional
    notion : str, optional
        A matching notion, which k is then of.
    diversity : sequence of str
        Each ``L:COLUMN``.
    """
    from hushtable.discover import looks_identifying, repeating_person
    from hushtable.policy import Policy

    if not roles["quasi-identifier"] or k is None:
        raise InputError(
            "neither a policy nor quasi-identifiers and k were given.",
            hint="pass -p policy.yaml (`hushtable scan FILE -p policy.yaml` writes one), or --qi age,sex --k 5.",
        )
    models = [{_notion(notion): k}, *map(_diversity, diversity)]
    judged = [model["distinct-l-diversity"]["sensitive"] for model in models[1:]]
    given = dict.fromkeys(names_of(roles["other"]), "other") | dict.fromkeys(judged, "sensitive")
    for role in ("identifier", "quasi-identifier"):
        given |= dict.fromkeys(names_of(roles[role]), role)
    undeclared = [name for name in frame.columns if name not in given]
    if undeclared:
        # Who names quasi-identifiers says that the rows are persons.
        looks = looks_identifying(frame, undeclared)
        if looks:
            name, reason = looks[0]
            raise InputError(
                f"column {name!r} looks like a direct identifier ({reason}) and was given no role.",
                hint=f"--identifier {name} leaves it out; to keep it, --other {name} --set 'accept.{name}=a reason'.",
            )
        tell(f"Kept as they are, taken for unknown to anyone: {join_some(undeclared)}.")
    hidden = names_of(roles["identifier"])
    person = repeating_person(frame, hidden) if len(hidden) > 1 else None
    if person is not None:
        tell(f"Some persons have several records: --person {person} counts persons, not records.")
    return Policy.make({"columns": {**dict.fromkeys(undeclared, "other"), **given}, "models": models})


def changed(rules: Policy, options: Mapping[str, Any], kinds: Sequence[str], settings: Sequence[str]) -> Policy:
    """Return the policy with what was typed beside it; an option that the method does not have is an error.

    Parameters
    ----------
    rules : Policy
    options : mapping
        Short options by their names; None where one was not given.
    kinds : sequence of str
        Each ``COLUMN=KIND``.
    settings : sequence of str
        Each ``PLACE=VALUE``, the place with dots: ``method.mondrian.cut=median``.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in ("method", "loss"):
        if name in given:
            rules = rules.changed({(name,): _loss_of(given.pop(name)) if name == "loss" else given.pop(name)})
    places: dict[_OptionPlace, Any] = {}
    for name, value in given.items():
        places[_place_of(rules, name)] = os.path.abspath(value) if isinstance(value, Path) else value
    for entry in kinds:
        column, _, kind = entry.rpartition("=")
        if not column:
            raise InputError(
                f"--kind {entry!r} is not of the form COLUMN=KIND.", hint="for instance: --kind zip=category."
            )
        places["columns", column, "kind"] = kind
    for entry in settings:
        place, is_set, text = entry.partition("=")
        if not is_set:
            raise InputError(
                f"--set {entry!r} is not of the form PLACE=VALUE.",
                hint="for instance: --set method.mondrian.cut=median.",
            )
        places[tuple(place.split("."))] = _value(text, entry)
    return rules.changed(places) if places else rules


def decided(rules: Policy, role: str | None) -> Policy:
    """Return the policy with one role for all columns that it asks for."""
    if role is None:
        return rules
    asked = rules.with_role("ask")
    if not asked:
        raise InputError("--ask has no effect: the policy asks for no role.", hint="leave it out.")
    # How values are read and generalized has no effect on columns that are left out or kept as they are.
    is_whole = role in ("identifier", "other")
    return rules.changed({("columns", name) if is_whole else ("columns", name, "role"): role for name in asked})


def key_of(path: Path | None, rules: Policy) -> bytes | None:
    """Read the secret key of pseudonyms."""
    if path is None:
        if rules.pseudonymized:
            raise PolicyError(
                f"the policy gives pseudonyms to {listed(rules.pseudonymized)}, but there is no key.",
                hint="pass --key-file; make one with: openssl rand -out key.bin 32.",
            )
        return None
    return key_in(path)


def key_in(path: Path) -> bytes:
    """Read the file of a secret key."""
    try:
        return path.read_bytes()
    except OSError:
        raise InputError(
            f"cannot read the key file {str(path)!r}.", hint="check the name and that you may read it."
        ) from None


def _notion(notion: str | None) -> str:
    if notion is None:
        return "k-anonymity"
    if notion not in NOTIONS:
        raise InputError(f"--notion {notion!r}.", hint=f"the matching notions are {', '.join(NOTIONS)}.")
    return NOTIONS[notion]


def _diversity(entry: str) -> dict[str, Any]:
    number, _, column = entry.partition(":")
    if not number.isdigit() or not column:
        raise InputError(f"--l {entry!r} is not of the form L:COLUMN.", hint="for instance: --l 2:salary.")
    return {"distinct-l-diversity": {"l": int(number), "sensitive": column}}


def _loss_of(name: str) -> Any:
    return {"certainty": {"variant": "mg-ga"}} if name == "certainty-mg-ga" else name


def _place_of(rules: Policy, option: str) -> _OptionPlace:
    """Return where a short option stands in a policy."""
    if option in ("domains", "population", "person"):
        return (option,)
    if option in ("language", "by"):
        return "write", option
    if option == "seconds":
        return "budget", "seconds"
    if option == "weights":
        return "loss", rules.loss.name, "weights"
    method = rules.method.name
    known = [field.name for field in dataclasses.fields(rules.method)]
    if option not in known:
        raise InputError(
            f"--{option.replace('_', '-')} has no effect: the method {method!r} has no such option.",
            hint=f"it has: {', '.join(known)}; choose another with --method.",
        )
    return "method", method, option


def _value(text: str, entry: str) -> Any:
    from hushtable.policy import plain_yaml

    if text.startswith("%") or (len(text) == 1 and not text.isalnum() and text != "~"):
        # A format of dates, or a mark of numbers or between cells, which YAML would have in quotes.
        return text
    return plain_yaml.read(text, f"--set {entry}")[0]
