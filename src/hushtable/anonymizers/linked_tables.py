"""Carry out the requests of tables that share persons: one search for all of them, and a release for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hushtable.anonymizers.alignment import Crowd, build_crowd
from hushtable.anonymizers.bundles import BundleTable, search_bundles
from hushtable.anonymizers.finishing import release_of
from hushtable.anonymizers.histories import Histories
from hushtable.anonymizers.preparation import Request, prepare, warn_of_doubts
from hushtable.anonymizers.protecting import Posed, pose_problem
from hushtable.io import Frame
from hushtable.release import Release


@dataclass(frozen=True, slots=True, eq=False)
class LinkedRequest:
    """A table whose column ``request.person`` says whose record a row is, and what is asked of it."""

    rows: Frame = field(repr=False)
    request: Request
    time: str | None = None  # the quasi-identifier by which records are aligned first
    weight: float = 1.0  # how much a cell of the table counts beside one of another


def protect_linked_tables(tables: Mapping[str, LinkedRequest], unit: str | None) -> dict[str, Release]:
    """Make the bundles of at least k persons equal, and return the release of every table.

    Parameters
    ----------
    tables : mapping of name to LinkedRequest
        Their methods are `Histories`.
    unit : str, optional
        The table with a row for every person. Records of others are left out. Without one the persons of all tables
        are the persons.
    """
    posed = {name: _pose(table) for name, table in tables.items()}
    persons = _list_persons([posed[unit]] if unit is not None else [*posed.values()])
    method = next(iter(tables.values())).request.method
    assert isinstance(method, Histories), "the policy says so"
    sides = [BundleTable(each.problem, _build_crowd(tables[name], each, persons), name) for name, each in posed.items()]
    releases = {}
    for (name, each), found in zip(posed.items(), search_bundles(sides, repr(method), method.seed), strict=True):
        each.problem.judge.check_classes(found.partition, method)
        request = tables[name].request
        releases[name] = release_of(each.prepared, each.judge, request, found, each.expand(found.partition))
    return releases


def _pose(table: LinkedRequest) -> Posed:
    prepared = prepare(table.rows, table.request)
    warn_of_doubts(prepared.source, prepared.table, table.request)
    return pose_problem(prepared, table.request)


def _person_texts(posed: Posed) -> list[str]:
    """Return the person of every code."""
    table, person = posed.problem.table, posed.problem.judge.person
    assert person is not None
    return table.column(person).texts()


def _list_persons(tables: Sequence[Posed]) -> dict[str, int]:
    """Number the persons of some tables, in the order of their texts."""
    persons: set[str] = set()
    for posed in tables:
        texts, person = _person_texts(posed), posed.problem.judge.person
        codes = np.unique(posed.problem.table.codes[posed.problem.table.index(str(person))])
        persons.update(texts[code] for code in codes.tolist() if code >= 0)
    return {text: number for number, text in enumerate(sorted(persons))}


def _build_crowd(table: LinkedRequest, posed: Posed, persons: Mapping[str, int]) -> Crowd:
    """Collect the records of all persons, none for those who have no record in the table."""
    crowd = build_crowd(posed.problem, table.time)
    codes = posed.problem.table.codes[posed.problem.table.index(str(posed.problem.judge.person))]
    texts = _person_texts(posed)
    numbers = np.array([persons.get(texts[code], -1) for code in np.unique(codes[codes >= 0]).tolist()], dtype=np.int64)
    owners = np.repeat(numbers, crowd.n_records)
    order = np.argsort(owners, kind="stable")
    order = order[owners[order] >= 0]
    n_records = np.bincount(owners[order], minlength=len(persons))
    return replace(
        crowd,
        rows=crowd.rows[order],
        starts=np.append(0, np.cumsum(n_records)),
        n_without_person=crowd.n_without_person + len(owners) - len(order),
        weights=crowd.weights * table.weight,
        alignment_weights=crowd.alignment_weights * table.weight,
    )
