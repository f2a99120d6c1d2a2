"""Linked tables judged from their files alone: by the manifest beside them, or by a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from hushtable.claims import Failure, LinkedTables, Verdict, claim_from_dict
from hushtable.errors import InputError, WeakerClaimError, quote_names
from hushtable.io import WRITER, Frame, frames
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.tables import list_files, open_tables
from hushtable.policy import describe_exposure_limit
from hushtable.release import manifest

_IS_DESCRIBED: Final = "the file is the one that the manifest describes"


def verify_tables(data: Any, policy: LinkedPolicy | str | os.PathLike[str] | None = None) -> Verdict:
    r"""Judge linked tables from what is published alone.

    Parameters
    ----------
    data : mapping of name to dataframe or path, or a path
    policy : LinkedPolicy or path, optional
        What is asked. A folder's manifest, where there is one, must claim the same.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        Neither a manifest nor a policy says what to judge.
    PolicyError
        The manifest claims something else than the policy asks.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> tables = {"patients": pl.DataFrame({"pid": ["a", "b"], "sex": ["*", "*"]}),
    ...           "stays": pl.DataFrame({"pid": ["a", "b"], "ward": ["A", "B"]})}
    >>> ht.verify_tables(tables, ht.LinkedPolicy.parse('''
    ... unit: {table: patients, key: pid}
    ... tables: {patients: {columns: {sex: quasi-identifier}}, stays: {columns: {ward: quasi-identifier}}}
    ... models: [linked-k-anonymity: 2]
    ... ''')).passed
    False
    """
    rules = policy if policy is None or isinstance(policy, LinkedPolicy) else LinkedPolicy.read(policy)
    if isinstance(data, (str, os.PathLike)) and manifest.is_of_linked_tables(Path(data)):
        return _verify_written(Path(data), rules)
    if rules is None:
        raise InputError(
            "neither a manifest nor a policy says what the tables claim.",
            hint="pass policy=, or the folder that anonymize_tables wrote.",
        )
    return verify_by_policy(data, rules)


def verify_by_policy(data: Any, rules: LinkedPolicy) -> Verdict:
    """Judge published tables by what a policy asks, whatever a manifest says."""
    claim = rules.claim()
    opened, others = open_tables(data, claim.tables, rules.dialect)
    _check_released(opened, claim, rules)
    return _judge(claim, opened, others, {}, rules)


def _check_released(opened: Mapping[str, Frame], claim: LinkedTables, rules: LinkedPolicy) -> None:
    """Raise PolicyError where a table holds a column that the policy removes or does not know."""
    for name, frame in opened.items():
        rules.policy_of(name).check_release(frame.columns, claim.tables[name])


def _judge(
    claim: LinkedTables,
    opened: Mapping[str, Frame],
    others: list[str],
    described: Mapping[str, Mapping[str, object]],
    rules: LinkedPolicy | None,
) -> Verdict:
    # A table that nobody claims fails by its name; its rows are not needed.
    verdict = claim.verify({**opened, **dict.fromkeys(others)})
    for name, table in opened.items():
        asked = None if rules is None else describe_exposure_limit(rules.policy_of(name))
        entries = described.get(name, {})
        verdict = manifest.judge_exposure(verdict, entries, table, claim.tables[name], asked, f"{name}: ")
    return verdict


def _verify_written(path: Path, rules: LinkedPolicy | None) -> Verdict:
    """Judge what a manifest claims, and whether the files are those that it describes."""
    entries = manifest.read(path)
    claim = claim_from_dict(entries.get("claim"), entries.get(WRITER))
    assert isinstance(claim, LinkedTables), "its kind says so"
    unread = manifest.find_unread(entries, claim)
    if rules is not None:
        _check_agrees(claim, rules)
        claim = claim.with_knowledge_of(rules.claim())
    described = _list_entries_by_table(entries)
    if path.is_dir():
        files, others = list_files(path, claim.tables)
        dialects = {name: manifest.parse_dialect(described.get(name, {}).get("dialect", {})) for name in files}
        opened = {name: frames.read(file, dialect=dialects[name]) for name, file in files.items()}
    else:
        files = {}
        opened, others = open_tables(path, claim.tables)
    if rules is not None:
        _check_released(opened, claim, rules)
    verdict = _judge(claim, opened, others, described, rules)
    is_described = {
        f"{name}: {_IS_DESCRIBED}": manifest.sha256(file) == described.get(name, {}).get("sha256")
        for name, file in files.items()
    }
    if not path.is_dir():
        is_described[_IS_DESCRIBED] = manifest.sha256(path) == entries.get("sha256")
    return replace(
        verdict,
        conditions=tuple(dict.fromkeys((*verdict.conditions, *is_described, *unread))),
        failures=(*verdict.failures, *(Failure(words) for words, holds in is_described.items() if not holds)),
        unchecked={**verdict.unchecked, **unread},
    )


def _list_entries_by_table(entries: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Return what a manifest says of each file; what is no such entry describes none, so that its file fails."""
    tables, of_all = entries.get("tables"), {"verified": entries.get("verified")}
    tables = tables if isinstance(tables, Mapping) else {}
    return {name: {**table, **of_all} for name, table in tables.items() if isinstance(table, Mapping)}


def _check_agrees(claim: LinkedTables, rules: LinkedPolicy) -> None:
    """Raise PolicyError where a manifest claims something else than a policy asks."""
    asked = rules.claim()
    if (set(asked.tables), asked.unit, asked.is_joined) != (set(claim.tables), claim.unit, claim.is_joined):
        raise WeakerClaimError(
            f"the policy asks for {quote_names(asked.conditions)}, which the manifest of the release does not claim.",
            hint="verify with the policy that the release was made by, or without one.",
        )
    for name, table in claim.tables.items():
        rules.policy_of(name).check_agrees(table)
