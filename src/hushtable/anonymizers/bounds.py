"""Whether columns of bounds can stand beside the generalized ones, asked before anything is searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hushtable.anonymizers.mondrian import Mondrian
from hushtable.anonymizers.preparation import Request
from hushtable.claims import check_any_bounds, check_bound_names, columns_with_bounds
from hushtable.columns import Column, bound_names
from hushtable.io import Frame
from hushtable.release import refuse_central
from hushtable.tables import Table


def check_bounds(
    names: Sequence[str], columns: Iterable[Column], hierarchies: Mapping[str, object], request: Request
) -> None:
    """Raise an error if a request asks for bounds that there are not, or whose columns have the names of others."""
    refuse_central(request.method.recoding if isinstance(request.method, Mondrian) else None)
    kinds = {column.name: column.kind for column in columns if column.name in request.quasi_identifiers}
    bounded = check_any_bounds(columns_with_bounds(kinds, hierarchies), request.quasi_identifiers)
    check_bound_names(bounded, names)


def check_names_in_head(names: Sequence[str], head: Frame, request: Request) -> None:
    """Raise ColumnError if columns of bounds would have names of others; the first rows tell which columns have any."""
    doubtful = [name for name in request.quasi_identifiers if {*bound_names(name)} & {*names}]
    if doubtful:
        columns = Table.encode(head, doubtful, request.specs).columns
        check_bound_names([column.name for column in columns if column.is_measured], names)
