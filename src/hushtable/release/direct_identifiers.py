"""Direct identifiers among the columns that a release shows, by names and cells, whatever role they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hushtable._types import CountArray
from hushtable.columns import Column, cells
from hushtable.discover import enough_rows, find_identifiers
from hushtable.errors import ColumnError, InputError, check_columns, check_type, quote_names
from hushtable.io import Frame
from hushtable.recoding import Recoding
from hushtable.tables import Table


class ShownIdentifier(NamedTuple):
    """A published column that `hushtable scan` takes for a direct identifier, and why; without any cell."""

    column: str
    reason: str


def find_shown_identifiers(
    source: Frame | Table, kept_columns: Sequence[str], recoding: Recoding | None = None
) -> tuple[ShownIdentifier, ...]:
    """Find direct identifiers among the kept columns, and among quasi-identifiers that publish values of the input.

    Parameters
    ----------
    source : Frame or Table
        The input, or some rows of it.
    kept_columns : sequence of str
        Columns that are published as they are.
    recoding : Recoding, optional
        What is published of the quasi-identifiers, where there are any.

    Notes
    -----
    At any number of rows. Looked at are 20,000 rows evenly from all; a column that looks like an identifier there is
    read as a whole. That hardly any cell occurs twice is no look: `measure_exposure` counts it, and models judge it.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.io import frames
    >>> visits = frames.read(pl.DataFrame({"surname": ["Lang", "Kurz"], "ill": ["flu", "gout"]}))
    >>> find_shown_identifiers(visits, ["surname", "ill"])
    (ShownIdentifier(column='surname', reason="its name says 'surname'"),)
    """
    recoded = {} if recoding is None else {column.name: column for column in recoding.columns}
    names = [*kept_columns, *recoded]
    if not names or not source.n_rows:
        return ()
    selected, rows = source.select(names), enough_rows(source.n_rows)
    looks = find_identifiers(_take_rows(selected, rows), names, by_count=False)
    if looks and len(rows) < source.n_rows:
        looks = find_identifiers(selected, [name for name, _ in looks], by_count=False)
    return tuple(
        ShownIdentifier(name, reason)
        for name, reason in looks
        if recoding is None or name not in recoded or _publishes_values(recoding, recoded[name])
    )


def check_accepted(accept: Mapping[str, str] | None, published: Sequence[str]) -> dict[str, str]:
    """Return the accepted columns with their reasons."""
    check_type(accept, Mapping, "accept", 'a mapping, as {"note": "why it may be published"}')
    accepted = dict(accept or {})
    check_columns(tuple(accepted), published, "accept")
    for name, reason in accepted.items():
        if not isinstance(reason, str) or not any(sign.isalnum() for sign in reason):
            raise InputError(f"accept gives no reason for {name!r}.", hint="say in words why it may be published.")
    return accepted


def refuse_identifiers(
    source: Frame | Table, published: Sequence[str], accepted: Mapping[str, str], *, unnamed: Sequence[str], keep: str
) -> None:
    """Refuse to publish a direct identifier, changed or not; where nobody named a column, also by its counts.

    ``keep`` is the argument that names the other columns to publish.
    """
    named = [name for name in published if name not in unnamed]
    looks = [*find_shown_identifiers(source, named), *find_identifiers(source, list(unnamed))]
    refused = [(name, reason) for name, reason in looks if name not in accepted]
    if refused:
        name, reason = refused[0]
        raise InputError(
            f"column {name!r} looks like a direct identifier ({reason}) and would be published.",
            hint=f"leave {quote_names([name for name, _ in refused])} out: {keep} names the other columns to publish. "
            f"Or say why the cells may be published, as accept={{{name!r}: 'a reason'}} in Python, "
            f"--accept '{name}=a reason' in the command.",
        )


def _take_rows(source: Frame | Table, rows: CountArray) -> Frame | Table:
    """Return some rows, or all if they are all requested, or if pyarrow cannot take rows of a type."""
    if len(rows) == source.n_rows:
        return source
    try:
        return source.take(rows)
    except ColumnError:
        return source


def _publishes_values(recoding: Recoding, column: Column) -> bool:
    """Tell whether a published cell shows a value of the column: alone, in a list, as a prefix or as an end."""
    values = {*column.texts()}
    _, labels = recoding.format_labels(column.name)
    return any(not values.isdisjoint(_texts_in(label)) for label in labels if label is not None)


def _texts_in(label: str) -> Sequence[str | None]:
    """Return the parts of a label that may be values: the text, members, ends, and a group name's beginning."""
    read = cells.parse_cell(label)
    ends = () if read.ends is None else (read.ends.low, read.ends.high)
    beginnings = (label[:place] for place, sign in enumerate(label) if sign == " ")
    return (label, *read.members, *ends, *beginnings)
