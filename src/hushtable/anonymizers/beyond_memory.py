"""Protect rows that are not in memory: search among the distinct rows, then publish every record by its distinct row.

A method sees distinct rows with counts and does not know that the records lie elsewhere. If there are too many distinct
rows, the records are cut one by one, here (`row_by_row`) or where they are (`in_parts`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hushtable.anonymizers.preparation import Request, check_roles, check_spelling, doubt_of_persons
from hushtable.claims import Classes
from hushtable.columns import ColumnSpec
from hushtable.engines import Lazy
from hushtable.errors import InputError, TooManyRowsError, quote_names
from hushtable.io import Frame
from hushtable.release import Pseudonyms, Release

if TYPE_CHECKING:
    from hushtable.engines import Files

MOST_COUNTED: Final = 5_000_000
"""More distinct rows than this: the records of files are cut one by one, if the request allows it."""

_MOST_CODED: Final = 250_000_000  # records that are cut one by one


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The request for the distinct rows of an origin, and what the release of all rows needs besides.

    Attributes
    ----------
    origin : Files or Lazy
    names : tuple of str
        The columns that are judged.
    request : Request
        For the distinct rows.
    whole : Request
        For all rows.
    pseudonyms : Pseudonyms, optional
        Of all rows.
    """

    origin: Files | Lazy
    names: tuple[str, ...]
    request: Request
    whole: Request
    pseudonyms: Pseudonyms | None

    @classmethod
    def from_request(cls, origin: Files | Lazy, request: Request, first: Frame) -> DistinctRows:
        """Derive the request for the distinct rows; raise if cells of the first rows need a decision of the user."""
        pseudonyms = request.pseudonyms
        fresh = pseudonyms.fresh if pseudonyms else ()
        if fresh and not origin.draws_pseudonyms:
            raise InputError(
                f"columns {quote_names(fresh)} get a new pseudonym for every record, which a lazy frame cannot draw.",
                hint="leave them out, or write the lazy frame as files and pass their path.",
            )
        _refuse_odd_cells(first, request.unpublished)
        persons = () if request.person is None else (request.person,)
        names = tuple(dict.fromkeys((*request.quasi_identifiers, *request.judged, *persons)))
        # A fresh pseudonym for every record says as little as a column that is left out.
        hidden = tuple(name for name in (*request.identifiers, *fresh) if name in names)
        inputs = (*request.inputs, *origin.inputs)
        rounding = {name: each for name, each in request.rounding.items() if name in names}
        distinct_request = replace(
            request, identifiers=hidden, left_out=(), pseudonyms=None, inputs=inputs, rounding=rounding
        )
        return cls(origin, names, distinct_request, request, pseudonyms)

    def release_all(self, release: Release, origin: Files | Lazy | None = None) -> Release:
        """Turn the release of the distinct rows into the release of all rows."""
        origin = self.origin if origin is None else origin
        others = tuple(self.release_all(each, origin) for each in release.alternatives)
        claim, whole = release.claim, self.whole
        if whole.rounding:
            spelled = {name: each.spec(origin.specs.get(name, ColumnSpec())) for name, each in whole.rounding.items()}
            claim = replace(claim, rounded=whole.rounding, specs={**spelled, **claim.specs})
        return replace(
            release,
            claim=claim,
            origin=origin,
            removed=whole.removed,
            left_out=whole.left_out,
            pseudonyms=self.pseudonyms,
            alternatives=others,
        )


def protect_distinct(origin: Files | Lazy, request: Request, protect: Callable[[Frame, Request], Release]) -> Release:
    """Carry out a request for rows that are not in memory: `protect` gets the distinct rows, with counts.

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.
    """
    check_roles(origin.names, request)
    if request.parted and origin.groups_by_itself:
        raise InputError(
            f"columns {quote_names(request.parted)} have a separator, and a lazy frame has its own cells.",
            hint="pass the path of its files, or collect it.",
        )
    request = _add_orders(request, origin.specs)
    origin = read_as_requested(origin, request)
    _check_offered(request)
    first = origin.head()
    rows = DistinctRows.from_request(origin, request, first)
    if request.writing.bounds:
        from hushtable.anonymizers.bounds import check_names_in_head

        check_names_in_head(origin.names, first, request)
    # If no identifier is unique in the first rows, none is unique in all rows.
    doubt = doubt_of_persons(first, request)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=4)
    distinct_rows = _count_distinct_rows(origin, request, rows.names)
    if distinct_rows is None:
        release, origin = _protect_records(rows)
    else:
        release = protect(distinct_rows, rows.request)
    if isinstance(release.claim, Classes):
        fresh = request.pseudonyms.fresh if request.pseudonyms else ()
        release = replace(release, claim=replace(release.claim, is_fresh=request.person in fresh))
    return rows.release_all(release, origin)


def read_as_requested(origin: Files | Lazy, request: Request) -> Files | Lazy:
    """Return the origin with the cells that a request declares: missing ones, and rounded ones."""
    origin = origin.with_specs(request.specs)
    if request.rounding:
        check_spelling(origin.head(), (), tuple(request.rounding))
    return origin.with_rounding(request.rounding)


def _check_offered(request: Request) -> None:
    """Raise InputError if a request needs the single records in memory."""
    linked = [model.name for model in request.models if model.needs.histories]
    if linked:
        raise InputError(
            f"{quote_names(linked)} judges all records of a person together, which takes the rows in memory.",
            hint="take engine='memory' and one file or a frame; or unlink the records (`action: fresh`) and ask for "
            "k-anonymity.",
        )
    if request.method.offers.parts_equal_records:
        raise InputError(
            f"method {request.method.name!r} parts equal records, which takes a row for each of them.",
            hint="take another one, such as 'mondrian', or engine='memory'.",
        )
    if not request.writing.spells_as_usual:
        raise InputError(
            "rows that are not in memory are published as they are: an encoding, a decimal mark or a way to hide "
            "formulas has no effect.",
            hint="leave it out of the policy's `write:`, or take engine='memory'.",
        )


def _add_orders(request: Request, orders: Mapping[str, ColumnSpec]) -> Request:
    """Return the request with the orders of values that files declare; what the request declares itself goes first."""
    specs = dict(request.specs)
    for name in {*request.quasi_identifiers, *request.judged} & set(orders):
        spec = specs.get(name, ColumnSpec())
        if spec.order is None and spec.kind in (None, "ordered"):
            specs[name] = spec.with_defaults_from(orders[name])
    return replace(request, specs=specs)


def _refuse_odd_cells(first: Frame, hidden: Sequence[str]) -> None:
    """Raise if the first rows have undecided odd cells: columns that are kept as they are will not be counted."""
    _, undecided = first.without_odd_cells([name for name in first.names if name not in hidden])
    if undecided:
        from hushtable.io import refuse_odd_cells

        refuse_odd_cells(undecided)


def _count_distinct_rows(origin: Files | Lazy, request: Request, names: tuple[str, ...]) -> Frame | None:
    """Return the distinct rows with counts; None if there are too many, so that the records are cut one by one."""
    if not _can_be_cut(origin, request):
        return origin.collapse(names)
    try:
        return origin.collapse(names, most_rows=MOST_COUNTED)
    except TooManyRowsError:
        # With very many records, distinct rows take less memory here than coded records would.
        is_cut_here = not isinstance(origin, Lazy)
        return origin.collapse(names) if is_cut_here and origin.n_records > _MOST_CODED else None


def _can_be_cut(origin: Files | Lazy, request: Request) -> bool:
    """Tell whether each record can be protected by itself; imports only the module that knows."""
    if isinstance(origin, Lazy):
        if not origin.writes_by_itself or request.pseudonyms is not None:
            return False
        from hushtable.anonymizers.in_parts import why_not_in_parts

        return why_not_in_parts(request) is None
    from hushtable.anonymizers.row_by_row import why_not_row_by_row

    # A database may give rows in another order each time: a record cannot be found again by its position.
    return origin.source.has_order and why_not_row_by_row(request) is None


def _protect_records(rows: DistinctRows) -> tuple[Release, Files | Lazy]:
    """Protect every record by itself; return the release of the classes, and the origin that publishes its records."""
    origin, names, request = rows.origin, rows.names, rows.request
    if isinstance(origin, Lazy):
        from hushtable.anonymizers.in_parts import protect_in_parts
        from hushtable.anonymizers.walked_cells import WalkedCells

        with origin.spill(names) as (parts, workers):
            in_parts = protect_in_parts(parts, names, request, workers, dialect=origin.dialect)
        return in_parts.release, origin.with_record_cells(WalkedCells.from_parts(in_parts))
    from hushtable.anonymizers.row_by_row import protect_row_by_row
    from hushtable.io import RowCodes

    records = RowCodes.from_scan(origin.source, names)
    by_row = protect_row_by_row(records, request)
    return by_row.release, origin.with_row_of_record(records, by_row.row_of_record)
