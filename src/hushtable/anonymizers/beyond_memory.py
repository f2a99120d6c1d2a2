"""Requests for rows that are not in memory: carried out for the distinct rows, which say what all records publish.

A method searches among distinct rows with counts and does not know that they stand for records elsewhere. Where they
are too many, the records are cut one by one, here (`row_by_row`) or where they are (`in_parts`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hushtable.anonymizers.in_parts import protect_in_parts, why_not_in_parts
from hushtable.anonymizers.preparation import Request, check_roles, doubt_of_persons
from hushtable.anonymizers.row_by_row import protect_row_by_row, why_not_row_by_row
from hushtable.claims import Classes
from hushtable.columns import ColumnSpec
from hushtable.engines import LOOKED_AT, Lazy
from hushtable.errors import InputError, TooManyRowsError, listed
from hushtable.io import Frame
from hushtable.release import Pseudonyms, Release

if TYPE_CHECKING:
    from hushtable.anonymizers.fitted import LearnedRecoding
    from hushtable.engines import Files

__all__ = ["protect_distinct", "publish_distinct"]

MOST_COUNTED: Final = 5_000_000
"""Distinct rows past which the records of files are cut one by one, where what is asked allows it."""

_MOST_CODED: Final = 250_000_000  # records that are cut one by one


def protect_distinct(origin: Files | Lazy, asked: Request, protect: Callable[[Frame, Request], Release]) -> Release:
    """Carry out a request for rows that are not in memory.

    Parameters
    ----------
    origin : Files or Lazy
    asked : Request
    protect : callable
        Carries out a request for the distinct rows.

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.
    """
    check_roles(origin.names, asked)
    if asked.parted and origin.groups_by_itself:
        raise InputError(
            f"columns {listed(asked.parted)} have a separator, and a lazy frame has its own cells.",
            hint="pass the path of its files, or collect it.",
        )
    asked = _add_orders(asked, origin.specs)
    origin = origin.told(asked.specs)
    _check_offered(asked)
    names = _judged_columns(asked, asked.quasi_identifiers)
    first = origin.head(LOOKED_AT)
    _refuse_odd_cells(first, asked.identifiers, asked.pseudonyms)
    counted = _count(origin, asked, names)
    # Records that are not told apart among the first are not told apart among all.
    doubt = doubt_of_persons(first, asked)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=4)
    fresh = asked.pseudonyms.fresh if asked.pseudonyms else ()
    _check_pseudonyms(origin, fresh)
    of_distinct = _of_distinct(asked, origin, names, fresh)
    if counted is None:
        made, origin = _protect_records(origin, of_distinct, names)
    else:
        made = protect(counted, of_distinct)
    if isinstance(made.claim, Classes):
        made = replace(made, claim=replace(made.claim, is_fresh=asked.person in fresh))
    return _extend_to_all_rows(made, origin, asked.identifiers, asked.pseudonyms)


def publish_distinct(learned: LearnedRecoding, origin: Files | Lazy, key: bytes | None) -> Release:
    """Publish rows that are not in memory by the cells of an earlier release.

    The distinct rows are placed, with their counts, and judged by themselves; all records are published by them.
    """
    asked = learned.asked
    learned.check_columns(origin.names)
    pseudonyms = learned.pseudonyms(key)
    _check_pseudonyms(origin, learned.fresh)
    origin = origin.told(asked.specs)
    _refuse_odd_cells(origin.head(LOOKED_AT), asked.identifiers, pseudonyms)
    names = _judged_columns(asked, tuple(learned.cells))
    of_distinct = _of_distinct(asked, origin, names, learned.fresh)
    narrow = replace(learned, asked=of_distinct, columns=names, hidden=(), fresh=(), limit=None)
    return _extend_to_all_rows(narrow.apply(origin.collapse(names)), origin, asked.identifiers, pseudonyms)


def _check_offered(asked: Request) -> None:
    """Raise InputError where a request takes the records themselves."""
    linked = [model.name for model in asked.models if model.needs.histories]
    if linked:
        raise InputError(
            f"{listed(linked)} judges all records of a person together, which takes the rows in memory.",
            hint="take engine='memory' and one file or a frame; or unlink the records (`action: fresh`) and ask for "
            "k-anonymity.",
        )
    if asked.method.offers.parts_equal_records:
        raise InputError(
            f"method {asked.method.name!r} parts equal records, which takes a row for each of them.",
            hint="take another one, such as 'mondrian', or engine='memory'.",
        )
    if not asked.writing.spells_as_usual:
        raise InputError(
            "rows that are not in memory are published as they are: an encoding, a decimal mark or a way to hide "
            "formulas has no effect.",
            hint="leave it out of the policy's `write:`, or take engine='memory'.",
        )


def _check_pseudonyms(origin: Files | Lazy, fresh: Sequence[str]) -> None:
    if fresh and not origin.draws_pseudonyms:
        raise InputError(
            f"columns {listed(fresh)} get a new pseudonym for every record, which a lazy frame cannot draw.",
            hint="leave them out, or write the lazy frame as files and pass their path.",
        )


def _add_orders(asked: Request, orders: Mapping[str, ColumnSpec]) -> Request:
    """Return the request with the orders that files have, unless it declares another kind or order itself."""
    specs = dict(asked.specs)
    for name in {*asked.quasi_identifiers, *asked.judged} & set(orders):
        spec = specs.get(name, ColumnSpec())
        if spec.order is None and spec.kind in (None, "ordered"):
            specs[name] = spec.completed(orders[name])
    return replace(asked, specs=specs)


def _judged_columns(asked: Request, quasi_identifiers: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose distinct rows are judged, each once."""
    persons = () if asked.person is None else (asked.person,)
    return tuple(dict.fromkeys((*quasi_identifiers, *asked.judged, *persons)))


def _of_distinct(asked: Request, origin: Files | Lazy, names: Sequence[str], fresh: Sequence[str]) -> Request:
    """Return what is asked of the distinct rows."""
    # A pseudonym that is no one's says as little as a column that is left out.
    hidden = tuple(name for name in (*asked.identifiers, *fresh) if name in names)
    return replace(asked, identifiers=hidden, pseudonyms=None, inputs=(*asked.inputs, *origin.inputs))


def _refuse_odd_cells(first: Frame, identifiers: Sequence[str], pseudonyms: Pseudonyms | None) -> None:
    """Refuse undecided odd cells of the first rows: columns that are kept as they are nobody counts."""
    hidden = (*identifiers, *(pseudonyms.columns if pseudonyms else ()))
    _, undecided = first.without_odd_cells([name for name in first.names if name not in hidden])
    if undecided:
        from hushtable.io import refuse_odd_cells

        refuse_odd_cells(undecided)


def _count(origin: Files | Lazy, asked: Request, names: tuple[str, ...]) -> Frame | None:
    """Return the distinct rows with counts; None where they are too many, and the records are cut one by one."""
    if isinstance(origin, Lazy):
        can_be_cut = origin.writes_by_itself and asked.pseudonyms is None and why_not_in_parts(asked) is None
    else:
        # Where a database gives rows in another order each time, no record is told by its place.
        can_be_cut = origin.source.has_order and why_not_row_by_row(asked) is None
    if not can_be_cut:
        return origin.collapse(names)
    try:
        return origin.collapse(names, most_rows=MOST_COUNTED)
    except TooManyRowsError:
        # Of far more records than there are distinct rows, the rows take less memory here.
        is_cut_here = not isinstance(origin, Lazy)
        return origin.collapse(names) if is_cut_here and origin.n_records > _MOST_CODED else None


def _protect_records(origin: Files | Lazy, asked: Request, names: tuple[str, ...]) -> tuple[Release, Files | Lazy]:
    """Protect every record by itself; return the release of the classes, and where the records are."""
    if isinstance(origin, Lazy):
        from hushtable.anonymizers.walked_cells import WalkedCells

        with origin.spilled(names) as (parts, workers):
            made = protect_in_parts(parts, names, asked, workers, dialect=origin.dialect)
        return made.release, origin.walked_by(WalkedCells.of(made))
    from hushtable.io import RowCodes

    records = RowCodes.of(origin.source, names)
    by_row = protect_row_by_row(records, asked)
    return by_row.release, origin.numbered_by(records, by_row.row_of_record)


def _extend_to_all_rows(
    of_distinct: Release, origin: Files | Lazy, removed: tuple[str, ...], pseudonyms: Pseudonyms | None
) -> Release:
    """Return the release of all rows that are somewhere, from that of the distinct ones."""
    others = tuple(_extend_to_all_rows(each, origin, removed, pseudonyms) for each in of_distinct.alternatives)
    return replace(of_distinct, origin=origin, removed=removed, pseudonyms=pseudonyms, alternatives=others)
