"""How a claim holds what is known of columns: kinds, spellings, hierarchies as rules, roundings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from hushtable.columns import KINDS, ColumnSpec
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Hierarchy, NamedSets, is_allowed_rule, to_dict as rule_to_dict

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding

_SPELLINGS: Final = ("format", "decimal", "thousands", "missing_values", "separator", "latest_year", "odd_cells")
_RULES_FROM_DATA: Final = {"frequency", "runs", "tree"}
"""What follows from the frequencies of the data, or lists its values."""


def kinds_of(columns: Sequence[str], specs: Mapping[str, ColumnSpec]) -> dict[str, str]:
    """Return the kinds of columns, as far as they are known."""
    known_specs = {name: specs[name] for name in columns if name in specs}
    return {name: spec.kind or "ordered" for name, spec in known_specs.items() if spec.kind or spec.order}


def origins_in(spellings: Any) -> dict[str, ColumnSpec]:
    """Read how columns of the input are spelled as a claim holds them."""
    with _check_spellings():
        return {name: ColumnSpec(**_lists_to_tuples(marks)) for name, marks in spellings.items()}


def marks_of(specs: Mapping[str, ColumnSpec]) -> dict[str, dict[str, Any]]:
    """Return how columns are spelled, where that was declared or inferred."""
    told = {name: {each: getattr(spec, each) for each in _SPELLINGS} for name, spec in specs.items()}
    spelled = {name: {each: mark for each, mark in marks.items() if mark is not None} for name, marks in told.items()}
    return {name: marks for name, marks in spelled.items() if marks}


def merge_specs(own: Mapping[str, ColumnSpec], request: Mapping[str, ColumnSpec]) -> dict[str, ColumnSpec]:
    """Complete the specs of a claim by those of a policy: orders, not how its input was spelled."""
    both = [name for name in request if name in own]
    known = {name: ColumnSpec(request[name].kind, request[name].order).with_defaults_from(own[name]) for name in both}
    return {**request, **own, **known}


def rules_of(hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules of hierarchies that follow from no frequencies; None for one that lists values of its own."""
    return {name: rule_of(each) for name, each in hierarchies.items()}


def rule_of(hierarchy: Any) -> dict[str, Any] | None:
    """Return the rule of a hierarchy; None if it lists values of its own, or follows from frequencies."""
    rule = hierarchy.rule if isinstance(hierarchy, Hierarchy) else hierarchy
    if rule is None or isinstance(rule, (str, os.PathLike, NamedSets)):
        return None
    written = dict(rule) if isinstance(rule, Mapping) else rule_to_dict(rule)
    return None if written.keys() & _RULES_FROM_DATA else written


def rules_in(rules: Any) -> dict[str, Any]:
    """Read the rules of hierarchies as a claim holds them: no paths, which a manifest has no business to name."""
    if not isinstance(rules, dict) or not all(rule is None or isinstance(rule, dict) for rule in rules.values()):
        raise InputError(
            "the manifest holds hierarchies that are no rules.", hint="it is written by anonymize, not by hand."
        )
    # A rule of somebody else is not read because a file names it: its labels then need the policy.
    return {name: rule if rule is None or is_allowed_rule(rule) else None for name, rule in rules.items()}


def read_roundings(entries: object) -> Mapping[str, KeptRounding]:
    """Read the roundings of columns as a claim holds them; few tables have any, and a command loads what it runs."""
    if not entries:
        return {}
    from hushtable.claims.rounded import roundings_in

    return roundings_in(entries)


def describe_missing_hierarchies(columns: Sequence[str], hierarchies: Mapping[str, Any]) -> str | None:
    """Describe what it takes to read the labels of columns; None where they can be read."""
    names = [name for name in columns if name in hierarchies and hierarchies[name] is None]
    return f"labels of {quote_names(names)} mean what a hierarchy says: verify with the policy" if names else None


def describe_missing_order(columns: Sequence[str], specs: Mapping[str, ColumnSpec]) -> str | None:
    """Describe what it takes to order the values of columns; None where they are ordered, or need not be."""
    names = [name for name in columns if name in specs and specs[name] == ColumnSpec("ordered")]
    return f"it asks for the order of the values of {quote_names(names)}: verify with the policy" if names else None


def _lists_to_tuples(marks: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has lists only.
    return {name: tuple(mark) if isinstance(mark, list) else mark for name, mark in marks.items()}


def specs_in(kinds: Any, spellings: Any) -> dict[str, ColumnSpec]:
    """Read the kinds of columns, and how they are spelled, as a claim holds them."""
    if not isinstance(kinds, dict) or not all(kind in KINDS for kind in kinds.values()):
        raise InputError(
            "the manifest holds kinds of columns that are none.", hint=f"a kind is one of {', '.join(KINDS)}."
        )
    with _check_spellings():
        # A column whose spelling is told has a kind.
        spelled = {name: ColumnSpec(kinds[name], **_lists_to_tuples(marks)) for name, marks in spellings.items()}
        return {**{name: ColumnSpec(kind) for name, kind in kinds.items()}, **spelled}


@contextmanager
def _check_spellings() -> Iterator[None]:
    try:
        yield
    except (AttributeError, KeyError, TypeError):
        raise InputError(
            "the manifest holds spellings of columns that are none.", hint="it is written by anonymize."
        ) from None
