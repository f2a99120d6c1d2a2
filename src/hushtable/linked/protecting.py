"""The verb that protects tables of the same persons together."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import Any, Final

from hushtable._types import Progress
from hushtable.anonymizers import LinkedRequest, protect_linked_tables
from hushtable.io import Snapshot
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.release import LinkedRelease
from hushtable.linked.tables import LinkedRows, link_rows, list_inputs, open_tables
from hushtable.release import ExposureLimit, Release

_KEY_BYTES: Final = 32


def anonymize_tables(
    data: Any,
    policy: LinkedPolicy | str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> LinkedRelease:
    r"""Protect tables of the same persons together, so that nobody is found by all that is published of them.

    Every table gets fresh keys, drawn by the operating system and equal over the tables. They join as the old ones did.

    Parameters
    ----------
    data : mapping of name to dataframe or path, or a path
        A path is that of a folder with a file for each table, of a workbook with a sheet for each, or of DuckDB.
    policy : LinkedPolicy or path
    progress : callable, optional
        Called now and then with the share of the search that is done.

    Returns
    -------
    LinkedRelease

    Raises
    ------
    PolicyError
        A column has no role.
    InputError
        The table of persons has two rows of a person; records are of nobody; two tables share a column besides the key.
    InfeasibleError
        More records would be left out than the policy allows.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> tables = {"patients": pl.DataFrame({"pid": [1, 2], "sex": ["f", "m"]}),
    ...           "stays": pl.DataFrame({"pid": [1, 2, 2], "ward": ["A", "A", "B"]})}
    >>> release = ht.anonymize_tables(tables, ht.LinkedPolicy.parse('''
    ... unit: {table: patients, key: pid}
    ... tables: {patients: {columns: {sex: quasi-identifier}}, stays: {columns: {ward: quasi-identifier}}}
    ... models: [linked-k-anonymity: 2]
    ... limits: {suppression: 0.5}
    ... '''))
    >>> release.verify().passed, release.n_suppressed
    (True, {'patients': 0, 'stays': 1})
    """
    rules = policy if isinstance(policy, LinkedPolicy) else LinkedPolicy.read(policy)
    inputs = list_inputs(data)
    before = Snapshot.from_paths(path for path in inputs if path.is_file())
    opened, others = open_tables(data, rules.tables, rules.dialect)
    rows = link_rows(opened, rules)
    protect = _protect_jointly if rules.is_joined else _protect_separately
    releases = protect(rows, rules, progress)
    before.check()
    return LinkedRelease(rules, releases, rows, tuple(others), inputs)


def _protect_jointly(rows: LinkedRows, policy: LinkedPolicy, progress: Progress | None) -> dict[str, Release]:
    """Protect all tables by one search; the key of their pseudonyms is forgotten."""
    key = secrets.token_bytes(_KEY_BYTES)
    requests = {
        name: LinkedRequest(
            frame,
            policy.policy_of(name).request(frame, key=key, progress=progress),
            policy.tables[name].time,
            policy.tables[name].weight,
        )
        for name, frame in rows.tables.items()
    }
    releases = protect_linked_tables(requests, policy.unit.table)
    return {name: _with_exposure(release, policy, name) for name, release in releases.items()}


def _with_exposure(release: Release, policy: LinkedPolicy, name: str) -> Release:
    """Measure what kept columns expose. Whom linked records find is asked of all tables together, not of each."""
    asked, key = policy.limits.exposure, policy.unit.key
    limit = ExposureLimit(asked.columns, asked.rate, asked.named, asked.linked)
    unlinked = replace(release, pseudonyms=None, removed=(*release.removed, key))
    measured = unlinked.with_exposure(limit, accepted=policy.tables[name].accept, is_enforced=True)
    return replace(release, exposure=measured.exposure)


def _protect_separately(rows: LinkedRows, policy: LinkedPolicy, progress: Progress | None) -> dict[str, Release]:
    """Protect each table by itself, with keys of its own."""
    releases = {}
    for name, frame in rows.tables.items():
        rules = policy.policy_of(name)
        key = secrets.token_bytes(_KEY_BYTES) if rules.pseudonymized else None
        releases[name] = rules.protect(frame, key=key, progress=progress)
    return releases
