"""From options of the command to a policy: whatever can be typed can be written, and the other way round."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.arguments import Domains, Person, PolicyFile, PopulationOption, RoleToAsk, names_of, numbers_of
from hushtable.cli.groups import field
from hushtable.cli.terminal import join_some, print_to_stderr
from hushtable.errors import InputError, PolicyError, check_columns
from hushtable.wording import current_language, set_language

if TYPE_CHECKING:
    from hushtable.claims import Claim
    from hushtable.io import Frame
    from hushtable.policy import Policy

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


@dataclass(frozen=True)
class RequestOptions:
    """What the release must meet: a policy, or --qi and --k."""

    policy: PolicyFile = None
    qi: str = field("", "Quasi-identifiers, if there is no policy.", metavar="A,B")
    k: int | None = field(None, "k of k-anonymity, if there is no policy.")
    # The model's own letter.
    l: list[str] | None = field(  # noqa: E741
        None, "Distinct l-diversity: at least L values of this column in each class.", metavar="L:COLUMN"
    )
    notion: str | None = field(
        None, "Matching notion instead of classes: k1, 1k, kk, global-k1, global-1k, mg-ga.", metavar="NOTION"
    )
    identifier: str = field("", "Direct identifiers to leave out.", metavar="A,B")
    other: str = field("", "Columns to keep, although they look identifying.", metavar="A,B")


@dataclass(frozen=True)
class Changes:
    """What else the policy shall say, for once."""

    ask: RoleToAsk = None
    person: Person = None
    kind: list[str] | None = field(
        None,
        "Kind of a column, if its cells mislead: integer, decimal, date, datetime, time, ordered or category.",
        metavar="COLUMN=KIND",
    )
    leave_out: str = field("", "Columns to leave out that identify nobody.", metavar="A,B")
    round_: list[str] | None = field(
        None, "Round the numbers of a kept column to multiples: cost=100.", "--round", metavar="COLUMN=STEP"
    )
    domains: Domains = None
    population: PopulationOption = None
    set_: list[str] | None = field(
        None, "Change an entry of the policy for once: method.mondrian.cut=median.", "--set", metavar="PLACE=VALUE"
    )


@dataclass(frozen=True)
class SearchOptions:
    """How cells are coarsened and searched for."""

    recoding: str | None = field(
        None,
        "How cells are written: readable (default), nested, cut, tight, label, set or central.",
        metavar="RECODING",
    )
    method: str | None = field(
        None,
        "How to search: mondrian (default), full_domain, local_recoding, suppress, histories, mingen or genetic.",
        metavar="METHOD",
    )
    loss: str | None = field(
        None,
        "How loss is measured: ncp (default), minimal_distortion, certainty or certainty-mg-ga; with full_domain also "
        "arx_loss, non_uniform_entropy, precision, discernibility, average_class_size.",
        metavar="LOSS",
    )
    weights: str = field("", "How much the loss of each column counts.", metavar="A=20,B=0")
    importance: str = field("", "How important columns are, from 1 (default) to 5: as --weights.", metavar="A=3,B=2")
    seconds: float | None = field(None, "Stop the search after so many seconds, with the best found so far.")
    seed: int | None = field(None, "Seed of methods that draw. Default: the policy's, or 0.")
    n_best: int | None = field(None, "mingen: number of tables of least loss to find. Default: 1.")
    iterations: int | None = field(None, "mingen: number of tables to draw. Default: search them all.")
    generations: int | None = field(None, "genetic: maximum number of generations.")
    individuals: int | None = field(None, "genetic: number of individuals in a generation.")
    mutation_rate: float | None = field(None, "genetic, variant mg-ga: m in the rate m / (m + 100).")


def read_policy(path: Path | None) -> Policy | None:
    """Read a policy if one was given; otherwise the modules that read policies are not loaded."""
    if path is None:
        return None
    from hushtable.policy import Policy

    policy = Policy.read(path)
    # Messages are in the policy's language: its author reads it.
    if current_language() == "en":
        set_language(policy.writing.language)
    return policy


def policy_of_request(
    request: RequestOptions, rules: Policy | None, frame: Frame, left_out: Sequence[str] = ()
) -> Policy:
    """Return the policy, or make one from plain options; refuse a column that looks identifying and has no role."""
    from hushtable.discover import find_identifiers, find_repeating_person
    from hushtable.policy import Policy

    if rules is not None:
        if request != RequestOptions(request.policy):
            raise InputError("both a policy and roles or models were given.", hint="put everything into the policy.")
        return rules
    if not request.qi or request.k is None:
        raise InputError(
            "neither a policy nor quasi-identifiers and k were given.",
            hint="pass -p policy.yaml (`hushtable scan FILE -p policy.yaml` writes one), or --qi age,sex --k 5.",
        )
    models = [{_parse_notion(request.notion): request.k}, *map(_parse_diversity, request.l or ())]
    sensitive = [model["distinct-l-diversity"]["sensitive"] for model in models[1:]]
    roles = dict.fromkeys(names_of(request.other), "other") | dict.fromkeys(sensitive, "sensitive")
    identifiers = names_of(request.identifier)
    roles |= dict.fromkeys(identifiers, "identifier") | dict.fromkeys(names_of(request.qi), "quasi-identifier")
    roles = {**dict.fromkeys(left_out, "leave out"), **roles}
    undeclared = [name for name in frame.columns if name not in roles]
    if undeclared:
        # Naming quasi-identifiers implies that rows are about persons, so identifiers are looked for.
        looks = find_identifiers(frame, undeclared)
        if looks:
            name, reason = looks[0]
            raise InputError(
                f"column {name!r} looks like a direct identifier ({reason}) and was given no role.",
                hint=f"--identifier {name} leaves it out; to keep it, --other {name} --set 'accept.{name}=a reason'.",
            )
        print_to_stderr(f"Kept as they are, taken for unknown to anyone: {join_some(undeclared)}.")
    person = find_repeating_person(frame, identifiers) if len(identifiers) > 1 else None
    if person is not None:
        print_to_stderr(f"Some persons have several records: --person {person} counts persons, not records.")
    return Policy.make({"columns": {**dict.fromkeys(undeclared, "other"), **roles}, "models": models})


def with_options(rules: Policy, options: Mapping[str, Any], kinds: Sequence[str], settings: Sequence[str]) -> Policy:
    """Return the policy changed by typed options; an option that the method does not have is an error.

    Options by their names, None where one was not given; kinds as ``COLUMN=KIND``; settings as ``PLACE=VALUE``, the
    place with dots: ``method.mondrian.cut=median``.
    """
    typed = {name: value for name, value in options.items() if value is not None}
    for name in ("method", "loss"):
        if name in typed:
            rules = rules.with_entries({(name,): _loss_of(typed.pop(name)) if name == "loss" else typed.pop(name)})
    entries: dict[_OptionPlace, Any] = {}
    for name, value in typed.items():
        entries[_place_of(rules, name)] = os.path.abspath(value) if isinstance(value, Path) else value
    for entry in kinds:
        column, _, kind = entry.rpartition("=")
        if not column:
            raise InputError(
                f"--kind {entry!r} is not of the form COLUMN=KIND.", hint="for instance: --kind zip=category."
            )
        entries["columns", column, "kind"] = kind
    for entry in settings:
        path, is_set, text = entry.partition("=")
        if not is_set:
            raise InputError(
                f"--set {entry!r} is not of the form PLACE=VALUE.",
                hint="for instance: --set method.mondrian.cut=median.",
            )
        entries[tuple(path.split("."))] = _parse_value(text, entry)
    return rules.with_entries(entries) if entries else rules


def change_by_options(
    rules: Policy, changes: Changes, search: SearchOptions, writing: Mapping[str, str | bool | None]
) -> Policy:
    """Return the policy changed by the options of `anonymize`."""
    options = {
        **vars(search),
        **writing,
        "weights": numbers_of(search.weights) or None,
        "importance": _parse_importance(search.importance) or None,
        "domains": changes.domains,
        "population": changes.population,
        "person": changes.person,
    }
    rules = with_columns_left_out(with_asked_role(rules, changes.ask), names_of(changes.leave_out))
    rules = with_options(rules, options, changes.kind or [], changes.set_ or [])
    return with_rounding(rules, changes.round_ or [])


def with_columns_left_out(rules: Policy, names: Sequence[str]) -> Policy:
    """Return the policy that leaves some columns out."""
    check_columns(names, tuple(rules.columns), "--leave-out")
    return rules.with_entries({("columns", name): "leave out" for name in names}) if names else rules


def with_rounding(rules: Policy, settings: Sequence[str]) -> Policy:
    """Return the policy that rounds columns, each given as ``COLUMN=STEP``."""
    entries: dict[_OptionPlace, object] = {}
    for entry in settings:
        column, _, step = entry.rpartition("=")
        if not column:
            raise InputError(
                f"--round {entry!r} is not of the form COLUMN=STEP.", hint="for instance: --round cost=100."
            )
        entries["columns", column, "round"] = _parse_value(step, entry)
    check_columns([place[1] for place in entries], tuple(rules.columns), "--round")
    return rules.with_entries(entries) if entries else rules


def with_asked_role(rules: Policy, role: str | None) -> Policy:
    """Return the policy with one role for all columns whose role is `ask`."""
    if role is None:
        return rules
    undecided = rules.with_role("ask")
    if not undecided:
        raise InputError("--ask has no effect: the policy asks for no role.", hint="leave it out.")
    # Columns left out or kept as they are need no kind or hierarchy: the whole entry is replaced.
    is_whole = role in ("identifier", "other", "leave out")
    return rules.with_entries(
        {("columns", name) if is_whole else ("columns", name, "role"): role for name in undecided}
    )


def key_of(path: Path | None, rules: Policy) -> bytes | None:
    """Read the secret key of pseudonyms."""
    if path is None:
        if rules.is_keyed:
            raise PolicyError(
                f"the policy {rules.use_of_key}, but there is no key.",
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


def complete_claim(claimed: Claim | None, rules: Policy | None, columns: Sequence[str] = ()) -> Claim | None:
    """Return the claim to judge: a manifest's claim, completed by a policy if there is one."""
    return claimed if rules is None else rules.complete_claim(claimed, columns)


def _parse_notion(notion: str | None) -> str:
    if notion is None:
        return "k-anonymity"
    if notion not in NOTIONS:
        raise InputError(f"--notion {notion!r}.", hint=f"the matching notions are {', '.join(NOTIONS)}.")
    return NOTIONS[notion]


def _parse_diversity(entry: str) -> dict[str, Any]:
    number, _, column = entry.partition(":")
    if not number.isdigit() or not column:
        raise InputError(f"--l {entry!r} is not of the form L:COLUMN.", hint="for instance: --l 2:salary.")
    return {"distinct-l-diversity": {"l": int(number), "sensitive": column}}


def _loss_of(name: str) -> Any:
    return {"certainty": {"variant": "mg-ga"}} if name == "certainty-mg-ga" else name


def _parse_importance(text: str) -> dict[str, float]:
    numbers = numbers_of(text, example="--importance postcode=3,age=2")
    return {name: int(number) if number.is_integer() else number for name, number in numbers.items()}


def _place_of(rules: Policy, option: str) -> _OptionPlace:
    """Return the place of a short option in a policy."""
    if option in ("domains", "population", "person", "importance"):
        return (option,)
    if option in ("language", "by", "bounds"):
        return "write", option
    if option == "seconds":
        return "budget", "seconds"
    if option == "weights":
        return "loss", rules.loss.name, "weights"
    method = rules.method.name
    known = [each.name for each in dataclasses.fields(rules.method)]
    if option not in known:
        raise InputError(
            f"--{option.replace('_', '-')} has no effect: the method {method!r} has no such option.",
            hint=f"it has: {', '.join(known)}; choose another with --method.",
        )
    return "method", method, option


def _parse_value(text: str, entry: str) -> Any:
    from hushtable.policy import plain_yaml

    if text.startswith("%") or (len(text) == 1 and not text.isalnum() and text != "~"):
        # Date formats and marks need quotes in YAML; on the command line they are taken as they are.
        return text
    return plain_yaml.parse(text, f"--set {entry}")[0]
