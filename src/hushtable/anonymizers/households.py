"""Whole households: what a request for them may hold, and which columns tell their size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hushtable.anonymizers.histories import Histories
from hushtable.discover import topic_of_name
from hushtable.errors import ColumnError, InputError, check_columns, quote_names
from hushtable.io import Frame
from hushtable.models import LinkedKAnonymity
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.anonymizers.preparation import Request

_TOPICS_OF_COUNTS = ("household", "family")  # what names such as hh_size and n_children speak of


def method_of_households(request: Request) -> Histories:
    """Return the method of a request for whole households; raise InputError if it asks for anything else."""
    household = request.household
    odd = [model.name for model in request.models if model.needs.histories and not isinstance(model, LinkedKAnonymity)]
    if odd or not any(isinstance(model, LinkedKAnonymity) for model in request.models):
        raise InputError(
            f"household = {household!r} takes linked-k-anonymity, and no other model of linked records.",
            hint="members are known together: ask for linked-k-anonymity (k = 5 for instance), and for diversity "
            "besides where classes may agree.",
        )
    if not isinstance(request.method, Histories):
        raise InputError(
            f"household = {household!r} was given with method {request.method.name!r}.",
            hint="take 'histories' (`method: histories`): it keeps households whole.",
        )
    if request.dates is not None:
        raise InputError(
            f"household = {household!r} was given with dates that are changed person by person.",
            hint="one of the two: a household has no first event, and one offset would have to be that of all members.",
        )
    return replace(request.method, whole=True)


def check_households(source: Frame | Table, table: Table, request: Request) -> None:
    """Raise an error if a person has several records, or if a kept column tells how many members there are."""
    household = str(request.household)
    if request.member is not None:
        _check_members(source, request.member, household)
    hidden = (*request.unpublished, *request.quasi_identifiers, household, request.member)
    kept = [name for name in source.names if name not in hidden]
    codes = table.codes[table.index(household)]
    known = codes >= 0
    sizes = np.bincount(codes[known], weights=table.counts[known])[codes[known]]
    telling = [
        name for name in kept if topic_of_name(name) in _TOPICS_OF_COUNTS or _holds_sizes(source, name, known, sizes)
    ]
    if telling:
        raise ColumnError(
            f"columns {quote_names(telling)} would be kept as they are, and reveal the size of a household or who is "
            "in it.",
            hint="make them quasi-identifiers, or leave them out: size and composition find a household.",
        )


def _check_members(source: Frame | Table, member: str, household: str) -> None:
    check_columns((member,), source.names, "person")
    persons = Table.encode(source, (member,)).codes[0]
    n_records = np.bincount(persons[persons >= 0], weights=source.records[persons >= 0])
    if n_several := int((n_records > 1).sum()):
        raise InputError(
            f"{n_several:,} persons of {member!r} have several records, and household = {household!r} takes one row a "
            "person.",
            hint="records of persons of households are two levels: publish the persons' table by household, and the "
            "records by person without the household.",
        )


def _holds_sizes(source: Frame | Table, name: str, known: np.ndarray, sizes: np.ndarray) -> bool:
    """Tell whether the cells of a column are the numbers of members."""
    column = Table.encode(source, (name,), typed=(name,))
    if column.columns[0].kind not in ("integer", "decimal") or not len(sizes):
        return False
    values, codes = column.columns[0].values, column.codes[0][known]
    is_cell = codes >= 0
    return bool(is_cell.any() and (values[codes[is_cell]] == sizes[is_cell]).all() and len(np.unique(sizes)) > 1)
