"""To which steps kept numbers can be rounded so that few records are found by them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hushtable._types import CodeArray
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.tables import Table

if TYPE_CHECKING:
    from hushtable.columns import ProposedStep


def propose_steps(
    source: Frame | Table, classes: CodeArray, names: Iterable[str], rate: float
) -> tuple[ProposedStep, ...]:
    """Propose for each column of numbers the step that leaves at most a share of the records alone.

    Alone in their class, as whoever also knows the column finds them; if no step is enough, alone in the table.
    Rows of class -1 are not published.
    """
    found, rows = [], np.flatnonzero(classes >= 0)
    for name in names:
        try:
            table = Table.encode(source.select([name]), [name])
        except ColumnError:
            continue
        if table.columns[0].kind in ("integer", "decimal"):
            from hushtable.columns import propose_step

            propose = partial(propose_step, table.columns[0], table.codes[0][rows], source.records[rows], rate)
            found.append(propose(classes[rows]) or propose())
    return tuple(step for step in found if step is not None)
