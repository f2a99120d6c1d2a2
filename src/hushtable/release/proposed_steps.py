"""To which steps kept numbers can be rounded so that few records are found by them."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hushtable._types import CodeArray
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.tables import Table
from hushtable.wording import join_names

if TYPE_CHECKING:
    from hushtable.columns import ProposedStep
    from hushtable.release.exposure import Exposure


def with_steps(
    exposure: Exposure,
    source: Frame | Table,
    classes: CodeArray,
    codes: Mapping[str, CodeArray],
    count: Callable[[Mapping[str, CodeArray]], tuple[int, int]],
) -> Exposure:
    """Add to which steps the numbers of columns that find many can be rounded.

    Where the release is refused, the steps of the columns that are counted for that are taken so coarse that they
    suffice together, if any do: ``count`` returns how many records are unique on ``codes``, and up to which size of
    sets all are known.
    """
    limit = exposure.limit
    steps = propose_steps(source, classes, exposure.columns_with_many_uniques, limit.rate)
    counted = [step for step in steps if step.column in exposure.columns]
    if not (counted and exposure.is_above and exposure.is_enforced):
        return replace(exposure, steps=steps)

    def is_enough(rounded: Mapping[str, CodeArray]) -> bool:
        n_unique, complete_to = count(rounded)
        is_complete = complete_to >= min(limit.columns, len(rounded))
        return is_complete and n_unique <= limit.rate * exposure.n_records

    enough = coarsen_steps(counted, source, classes, codes, is_enough)
    coarse = {step.column: step for step in enough}
    return replace(exposure, steps=tuple(coarse.get(step.column, step) for step in steps), steps_suffice=bool(enough))


def describe_rounding(exposure: Exposure) -> str:
    """Say which steps together bring a release below its limit."""
    steps = [each for each in exposure.steps if each.column in exposure.columns]
    if len(steps) == 1:
        return f"; or round its numbers: {steps[0].describe()}"
    return f"; or round all of these numbers: {join_names([each.entry for each in steps])}"


def propose_steps(
    source: Frame | Table, classes: CodeArray, names: Iterable[str], rate: float
) -> tuple[ProposedStep, ...]:
    """Propose for each column of numbers the step that leaves at most a share of the records alone.

    Alone in their class, as whoever also knows the column finds them; if no step is enough, alone in the table.
    Rows of class -1 are not published.
    """
    from hushtable.columns import propose_step

    found, rows = [], np.flatnonzero(classes >= 0)
    for name in names:
        try:
            table = Table.encode(source.select([name]), [name])
        except ColumnError:
            continue
        column, codes, counts = table.columns[0], table.codes[0][rows], source.records[rows]
        if column.kind in ("integer", "decimal"):
            step = propose_step(column, codes, counts, rate, classes[rows])
            found.append(step or propose_step(column, codes, counts, rate))
    return tuple(step for step in found if step is not None)


def coarsen_steps(
    steps: Sequence[ProposedStep],
    source: Frame | Table,
    classes: CodeArray,
    codes: Mapping[str, CodeArray],
    is_enough: Callable[[Mapping[str, CodeArray]], bool],
) -> tuple[ProposedStep, ...]:
    """Take coarser steps of all columns until they are enough together; none if no steps are.

    ``codes`` are those of all columns that are counted, of the published rows.
    """
    from hushtable.columns import list_steps, measure_step, round_codes

    rows = np.flatnonzero(classes >= 0)
    tables = {step.column: Table.encode(source.select([step.column]), [step.column]) for step in steps}
    columns = {name: (table.columns[0], table.codes[0][rows]) for name, table in tables.items()}
    ladders = [[each for each in list_steps(columns[step.column][0]) if each >= step.round] for step in steps]

    def choose_steps(level: int) -> dict[str, float]:
        return {step.column: ladder[min(level, len(ladder) - 1)] for step, ladder in zip(steps, ladders, strict=True)}

    @cache
    def holds(level: int) -> bool:
        rounded = {name: round_codes(*columns[name], size) for name, size in choose_steps(level).items()}
        return is_enough({**codes, **rounded})

    levels = range(max(map(len, ladders), default=0))
    level = bisect.bisect_left(levels, True, key=holds)
    if level == len(levels):
        return ()
    chosen = choose_steps(level)
    return tuple(
        measure_step(
            *columns[step.column], source.records[rows], chosen[step.column], classes[rows] if step.in_class else None
        )
        for step in steps
    )
