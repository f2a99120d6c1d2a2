"""Tables with hidden cells: no cell is called protected whose witnesses an independent program refuses."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import polars as pl

import hushtable as ht
from campaign.outcome import Outcome


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, hidden cells, what is found, and the true values beside it."""
    del folder
    outcome = Outcome()
    shape = [random.randint(2, 5) for _ in range(random.randint(1, 3))]
    draw = np.random.default_rng(random.randint(0, 2**31))
    table = draw.poisson(random.choice([0.4, 2.0, 9.0]), shape)
    for axis in range(len(shape)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    threshold, share = random.randint(2, 6), random.choice([0.0, 0.1, 0.4])
    is_hidden = ((table > 0) & (table < threshold)) | ((draw.random(table.shape) < share) & (table > 0))
    rows, true = [], {}
    for place in np.ndindex(*table.shape):
        labels = [f"{label}" if label < size else "Total" for label, size in zip(place, shape, strict=True)]
        names = [f"d{position}" for position in range(len(shape))]
        true[tuple(each for each in zip(names, labels, strict=True) if each[1] != "Total")] = int(table[place])
        rows.append([*labels, "x" if is_hidden[place] else str(table[place])])
    frame = pl.DataFrame(rows, schema=[*(f"d{position}" for position in range(len(shape))), "n"], orient="row")
    asked = random.choice([None, threshold])
    outcome.reproduction = (
        f"table = pl.DataFrame({frame.to_dict(as_series=False)!r})\n"
        f"ht.check_tables(table, by={frame.columns[:-1]!r}, value='n', threshold={asked!r})"
    )
    with outcome.guarded("check_tables", ()):
        found = ht.check_tables(frame, by=frame.columns[:-1], value="n", threshold=asked)
        outcome.count("nothing exposed" if found.passed else "something exposed")
        for cell in found.audit.cells:
            value = true[found.system.keys[cell.cell] or ()]
            if cell.outcome != "protected":
                outcome.expect(cell.low <= value <= cell.high, "the true value is beyond what a reader knows", cell)
        verdict = ht.check_certificate(frame, found.certificate)
        n_protected = found.outcomes.get("protected", 0)
        outcome.expect(verdict.figures["n_asked"] == n_protected, "a protected cell has no witness", verdict)
        is_all = n_protected == len(found.audit.cells)
        outcome.expect(verdict.passed == is_all, "the checker says otherwise", verdict.failures)
    return outcome
