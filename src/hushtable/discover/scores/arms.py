"""Which records are treated and which are control."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.discover.scores.base import View
from hushtable.errors import InputError, with_hint

__all__ = ["arms_of", "counted", "distributions"]


def arms_of(seen: View, treatment: str, treated: Any) -> CountArray:
    """Return the records of every row that are treated and that are control, shape (2, n_rows)."""
    column = seen.column(treatment, "treatment")
    codes, counts = seen.table.codes[seen.table.index(treatment)], seen.table.counts
    held = np.bincount(codes[codes >= 0], weights=counts[codes >= 0], minlength=column.n_values) > 0
    if treated is None:
        if held.sum() != 2:
            msg = with_hint(
                f"column {treatment!r} has {held.sum()} values, so which one is treated is not clear.",
                "pass treated=, one of its values.",
            )
            raise InputError(msg)
        code = int(np.flatnonzero(held)[-1])
    else:
        code = _code_of(column, treated)
    arms = np.stack([np.where(codes == code, counts, 0), np.where((codes >= 0) & (codes != code), counts, 0)])
    if not arms.sum(axis=1).all():
        msg = with_hint(
            f"of the records, {arms[0].sum()} are treated and {arms[1].sum()} are control.",
            "both arms need records; check treatment= and treated=.",
        )
        raise InputError(msg)
    return arms


def _code_of(column: Column, treated: Any) -> int:
    """Find a value as its dataframe library has it, or by its canonical text."""
    texts = column.texts()
    # A flag's texts are those of polars, not of Python.
    wanted = str(treated).lower() if isinstance(treated, (bool, np.bool_)) else str(treated)
    if wanted in texts:
        return texts.index(wanted)
    values, given = column.values, treated
    if column.kind in ("date", "datetime"):
        values, given = values.astype("datetime64[us]"), _moment(treated)
    # `is`: comparing with pandas' NA, or with an array, gives no truth value.
    equal = [code for code, value in enumerate(values.tolist()) if _plain(value == _plain(given)) is True]
    if not equal or not column.is_measured:
        msg = with_hint(f"the given treated value is not in column {column.name!r}.", "pass one of its values.")
        raise InputError(msg)
    return equal[0]


def _plain(value: Any) -> Any:
    """Return a numpy scalar as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def _moment(value: Any) -> Any:
    """Return a date or time as numpy has it, in UTC as the table's are; anything else as it is."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, (dt.date, np.datetime64)):
        return np.array([value], dtype="datetime64[us]")[0]
    return value


def counted(labels: CodeArray, n_labels: int, arms: CountArray) -> CountArray:
    """Return each arm's records of every label, shape (2, n_labels)."""
    return np.stack([np.bincount(labels, weights=arm, minlength=n_labels) for arm in arms]).astype(np.int64)


def distributions(labels: CodeArray, n_labels: int, arms: CountArray) -> FloatArray:
    """Return each arm's distribution over labels, shape (2, n_labels)."""
    held = counted(labels, n_labels, arms)
    return np.asarray(held / held.sum(axis=1, keepdims=True))
