"""What a claim knows of its columns, how a manifest tells it, and what it takes where it does not.

A manifest tells kinds, and the rules of hierarchies that follow from no frequencies. It tells no order
of categories and no hierarchy that lists values: they may be those of people.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hushtable.columns import KINDS, ColumnSpec
from hushtable.errors import InputError, listed, with_hint
from hushtable.hierarchy import Hierarchy, to_dict as rule_to_dict

__all__ = [
    "joined",
    "kinds_of",
    "marks_of",
    "orderless",
    "origins_in",
    "rules_in",
    "rules_of",
    "specs_in",
    "spellings_of",
    "untold",
]

_SPELLINGS: Final = ("format", "decimal", "thousands", "missing_values")
_UNTOLD: Final = {"frequency", "runs", "tree"}
"""What follows from the frequencies of the data, or lists its values."""


def kinds_of(columns: Sequence[str], specs: Mapping[str, ColumnSpec]) -> dict[str, str]:
    """Return the kinds of columns, as far as they are known."""
    told = {name: specs[name] for name in columns if name in specs}
    return {name: spec.kind or "ordered" for name, spec in told.items() if spec.kind or spec.order}


def spellings_of(columns: Sequence[str], specs: Mapping[str, ColumnSpec]) -> dict[str, dict[str, Any]]:
    """Return how columns whose kinds are told are spelled, where that was said or found."""
    return marks_of({name: specs[name] for name in kinds_of(columns, specs)})


def origins_in(spellings: Any) -> dict[str, ColumnSpec]:
    """Read how columns of the input are spelled as a claim holds them.

    Raises
    ------
    InputError
        Some are no spellings.
    """
    try:
        return {name: ColumnSpec(**_as_told(marks)) for name, marks in spellings.items()}
    except (AttributeError, TypeError):
        msg = with_hint("the manifest holds spellings of columns that are none.", "it is written by anonymize.")
        raise InputError(msg) from None


def marks_of(specs: Mapping[str, ColumnSpec]) -> dict[str, dict[str, Any]]:
    """Return how columns are spelled, where that was said or found."""
    told = {name: {each: getattr(spec, each) for each in _SPELLINGS} for name, spec in specs.items()}
    spelled = {name: {each: mark for each, mark in marks.items() if mark is not None} for name, marks in told.items()}
    return {name: marks for name, marks in spelled.items() if marks}


def joined(own: Mapping[str, ColumnSpec], asked: Mapping[str, ColumnSpec]) -> dict[str, ColumnSpec]:
    """Complete what a claim knows of its columns by what a policy says: orders, not how its input was spelled."""
    both = [name for name in asked if name in own]
    known = {name: ColumnSpec(asked[name].kind, asked[name].order).completed(own[name]) for name in both}
    return {**asked, **own, **known}


def rules_of(hierarchies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules of hierarchies that follow from no frequencies; None for one that lists values of its own."""
    return {name: _rule_of(each) for name, each in hierarchies.items()}


def _rule_of(given: Any) -> dict[str, Any] | None:
    rule = given.rule if isinstance(given, Hierarchy) else given
    if rule is None or isinstance(rule, (str, os.PathLike)):
        return None
    written = dict(rule) if isinstance(rule, Mapping) else rule_to_dict(rule)
    return None if written.keys() & _UNTOLD else written


def rules_in(rules: Any) -> dict[str, Any]:
    """Read the rules of hierarchies as a claim holds them: no paths, which a manifest has no business to name.

    Raises
    ------
    InputError
        Some are none.
    """
    if not isinstance(rules, dict) or not all(rule is None or isinstance(rule, dict) for rule in rules.values()):
        msg = with_hint("the manifest holds hierarchies that are no rules.", "it is written by anonymize, not by hand.")
        raise InputError(msg)
    return dict(rules)


def untold(columns: Sequence[str], hierarchies: Mapping[str, Any]) -> str | None:
    """Say what it takes to read the labels of columns; None where they can be read."""
    names = [name for name in columns if name in hierarchies and hierarchies[name] is None]
    return f"labels of {listed(names)} mean what a hierarchy says: verify with the policy" if names else None


def orderless(columns: Sequence[str], specs: Mapping[str, ColumnSpec]) -> str | None:
    """Say what it takes to order the values of columns; None where they are ordered, or need not be."""
    names = [name for name in columns if name in specs and specs[name] == ColumnSpec("ordered")]
    return f"it asks for the order of the values of {listed(names)}: verify with the policy" if names else None


def _as_told(marks: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has lists only.
    return {name: tuple(mark) if isinstance(mark, list) else mark for name, mark in marks.items()}


def specs_in(kinds: Any, spellings: Any) -> dict[str, ColumnSpec]:
    """Read the kinds of columns, and how they are spelled, as a claim holds them.

    Raises
    ------
    InputError
        Some are none.
    """
    if not isinstance(kinds, dict) or not all(kind in KINDS for kind in kinds.values()):
        msg = with_hint("the manifest holds kinds of columns that are none.", f"a kind is one of {', '.join(KINDS)}.")
        raise InputError(msg)
    try:
        # A column whose spelling is told has a kind.
        spelled = {name: ColumnSpec(kinds[name], **_as_told(marks)) for name, marks in spellings.items()}
        return {**{name: ColumnSpec(kind) for name, kind in kinds.items()}, **spelled}
    except (AttributeError, KeyError, TypeError):
        msg = with_hint("the manifest holds spellings of columns that are none.", "it is written by anonymize.")
        raise InputError(msg) from None
