"""Judge the rounded columns of a published table by the texts of their cells, in decimals, by no code that rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl

from hushtable._types import CountArray
from hushtable.claims.verdict import Failure
from hushtable.columns import SUPPRESSED, ColumnSpec, KeptRounding, to_numbers_with_point
from hushtable.errors import InputError
from hushtable.io import Frame


def roundings_in(entries: object) -> dict[str, KeptRounding]:
    """Read the roundings of columns as a claim holds them."""
    if not isinstance(entries, dict) or not all(isinstance(each, dict) for each in entries.values()):
        raise InputError("the manifest holds roundings that are none.", hint="it is written by anonymize.")
    return {name: KeptRounding.from_entry(each) for name, each in entries.items()}


def find_rounding_failures(
    frame: Frame, rounded: Mapping[str, KeptRounding], conditions: Sequence[str], specs: Mapping[str, ColumnSpec]
) -> Iterator[tuple[Failure, Callable[[], CountArray] | None]]:
    """Yield a failure for each rounded column with cells that are not rounded, and a function that finds their rows.

    Conditions say in words what is claimed of each. Empty cells and ``*`` tell no number. A cell that spells no number
    is a failure, too.
    """
    for condition, (name, rounding) in zip(conditions, rounded.items(), strict=True):
        if name not in frame.columns:
            yield Failure(f"{condition}: the table has no such column"), None
            continue
        cells = frame.column(name)
        spec = specs.get(name, ColumnSpec())
        # Marks are of texts: numbers have a point.
        spec = replace(spec, decimal=None, thousands=None) if cells.dtype.is_numeric() else spec
        is_odd = _find_odd_texts(cells.cast(pl.String), rounding, spec)
        if is_odd.any():
            n_records = int(frame.records[is_odd.to_numpy()].sum())
            failure = Failure(f"{condition}: {n_records:,} records have other cells")
            yield failure, partial(np.flatnonzero, is_odd.to_numpy())


def _find_odd_texts(texts: pl.Series, rounding: KeptRounding, spec: ColumnSpec) -> pl.Series:
    missing = {"", SUPPRESSED, *(text.strip() for text in spec.missing_values or ())}
    distinct = texts.drop_nulls().unique()
    distinct = distinct.filter(~distinct.str.strip_chars().is_in(list(missing)))
    numbers = to_numbers_with_point(distinct, spec)
    is_odd = [number is None or not rounding.allows(Decimal(number)) for number in numbers.to_list()]
    return texts.is_in(distinct.filter(pl.Series(is_odd, dtype=pl.Boolean)).to_list()).fill_null(False)
