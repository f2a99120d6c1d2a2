"""What a release was made from, where that is not in memory: the distinct rows that its claim speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hushtable.claims import Claim
from hushtable.columns import ColumnSpec
from hushtable.engines.choosing import open_origin
from hushtable.io import Dialect, Frame

if TYPE_CHECKING:
    from hushtable.engines.files import Files
    from hushtable.engines.lazy import Lazy


def collapse_original(
    data: Any, claim: Claim, dialect: Dialect | None = None, specs: Mapping[str, ColumnSpec] | None = None
) -> tuple[Files | Lazy, Frame]:
    """Open the original of a release, and count its distinct rows.

    Parameters
    ----------
    data : path
        Of a folder, a file or a pattern.
    claim : Claim
        Whose columns are counted, as far as the data have them.
    dialect : Dialect, optional
    specs : mapping of column to ColumnSpec, optional
        How columns are read, where the claim does not say.

    Raises
    ------
    InputError
        It cannot be read, or has too many distinct rows to hold.
    """
    rows = open_origin(data, engine="stream", dialect=dialect)
    assert rows is not None
    rows = rows.with_specs({**(specs or {}), **claim.origins})
    judged = (*claim.columns, *claim.sensitive, claim.person)
    return rows, rows.collapse([name for name in dict.fromkeys(judged) if name in rows.names])
