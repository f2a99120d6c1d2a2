"""Preprocessor and Postprocessor: rows that are left out where that is asked by name, and words without effect.

Synthesizers take columns as they are here. What PETsARD does to columns before and after them makes no difference
where a Gaussian copula does the same itself: it encodes categories uniformly, and looks at ranks, which no monotone
scaler changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from hushtable._types import BoolArray, FloatArray
from hushtable.errors import ColumnError, check_columns
from hushtable.io import Frame
from hushtable.policy import MisplacedError, Record
from hushtable.tables import Table

_MAX_INTERQUARTILE_RANGES: Final = 1.5  # interquartile ranges beyond the quartiles
_MAX_STANDARD_DEVIATIONS: Final = 3.0


class _Words(NamedTuple):
    """The words of a step: those that are supported, those without effect, and those that are not built."""

    supported: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()


_WORDS_BY_STEP: Final[Mapping[str, _Words]] = {
    "missing": _Words(supported=("drop",), unsupported=("mean", "median", "mode", "simple")),
    "outlier": _Words(supported=("iqr", "zscore"), unsupported=("isolationforest", "lof")),
    "encoder": _Words(without_effect=("uniform",), unsupported=("label", "onehot", "date", "datediff", "minguodate")),
    "scaler": _Words(without_effect=("standard", "minmax", "zerocenter", "log", "log1p"), unsupported=("timeanchor",)),
    "discretizing": _Words(unsupported=("kbins",)),
}
_STEP_PREFIX: Final = re.compile(r"(missing|outlier|encod(er|ing)|scaler|discretizing)[_-]")
_CleaningStep = Literal["missing", "outlier", "encoder", "scaler", "discretizing"]


class Cleaning(Record):
    """What is asked before or after a synthesis, of all columns or of some.

    ``config`` holds the entries below it, one deeper.
    """

    method: Literal["default"] = "default"  # changes nothing
    sequence: tuple[_CleaningStep, ...] = ()  # steps by their own defaults, which change nothing
    config: dict[_CleaningStep, Any] = Field(default_factory=dict)
    missing: str | dict[str, Any] | None = None
    outlier: str | dict[str, Any] | None = None
    encoder: str | dict[str, Any] | None = None
    scaler: str | dict[str, Any] | None = None
    discretizing: str | dict[str, Any] | None = None

    @model_validator(mode="after")
    def _asks_what_there_is(self) -> Cleaning:
        for step, words in _WORDS_BY_STEP.items():
            if step in self.config and getattr(self, step) is not None:
                msg = f"{step} stands here and under config: keep one of them"
                raise MisplacedError(msg, (step,))
            for column, word in self.parameters_by_column(step).items():
                if word not in (None, *words.supported, *words.without_effect, *words.unsupported):
                    known = ", ".join((*words.supported, *words.without_effect, *words.unsupported))
                    place = ("config", step) if step in self.config else (step,)
                    msg = f"no such word; known, with or without {step}_ before it: {known}"
                    raise MisplacedError(msg, place if column is None else (*place, column))
        return self

    def parameters_by_column(self, step: str) -> dict[str | None, str | None]:
        """Return the parameters of a step by column, without the prefix; under None those for all columns."""
        given = self.config.get(step, getattr(self, step))  # type: ignore[call-overload]  # any step
        if given is None:
            return {}
        by_column = given if isinstance(given, Mapping) else {None: given}
        return {column: _parse_word(each) for column, each in by_column.items()}

    @property
    def obstacle(self) -> str | None:
        """What is asked and not built."""
        for step, words in _WORDS_BY_STEP.items():
            odd = [word for word in self.parameters_by_column(step).values() if word in words.unsupported]
            if odd or (step in self.sequence and not words.supported and not words.without_effect):
                instead = (
                    f", or take {' or '.join((*words.supported, *words.without_effect))}"
                    if words.supported or words.without_effect
                    else ""
                )
                return f"{step} {odd[0] if odd else 'in sequence'} is not built: leave it out{instead}"
        return None

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The steps that are named and change nothing here."""
        named = {step for step in _WORDS_BY_STEP if step in self.sequence or self.parameters_by_column(step)}
        return tuple(
            step
            for step in _WORDS_BY_STEP
            if step in named and not set(self.parameters_by_column(step).values()) & {*_WORDS_BY_STEP[step].supported}
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are named where nothing is done."""
        named = (name for step in self.without_effect for name in self.parameters_by_column(step) if name is not None)
        return tuple(dict.fromkeys(named))


def _parse_word(given: Any) -> str | None:
    word = given.get("method") if isinstance(given, Mapping) else given
    return None if word in (None, "none", "None") else _STEP_PREFIX.sub("", str(word), count=1)


def clean_rows(frame: Frame, asked: Cleaning) -> tuple[Frame, dict[str, int]]:
    """Return the rows that are kept, and how many rows each step removed."""
    counts = {}
    for step, is_left_out in (("missing", is_incomplete), ("outlier", is_outlier)):
        by_column = {name: word for name, word in asked.parameters_by_column(step).items() if word is not None}
        if by_column:
            leaves = is_left_out(frame, by_column)
            counts[f"rows_left_out_{step}"] = int(leaves.sum())
            frame = frame.take(np.flatnonzero(~leaves))
    return frame, counts


def is_incomplete(frame: Frame, by_column: Mapping[str | None, str]) -> BoolArray:
    """Tell which rows lack a cell of one of the columns (of any column if None is named)."""
    table = Table.encode(frame, _columns_to_clean(frame, by_column))
    return np.asarray((table.codes < 0).any(axis=0))


def is_outlier(frame: Frame, by_column: Mapping[str | None, str]) -> BoolArray:
    """Tell which rows have a number that is an outlier.

    ``iqr``: more than 1.5 interquartile ranges beyond a quartile (Tukey's fences); ``zscore``: more than 3 standard
    deviations (of the population, as scikit-learn scales) from the mean. Missing numbers are none.
    """
    names = _columns_to_clean(frame, by_column)
    table = Table.encode(frame, names)
    far = np.zeros(frame.n_rows, dtype=np.bool_)
    for name, codes in zip(names, table.codes, strict=True):
        column = table.column(name)
        if column.kind not in ("integer", "decimal"):
            if name in by_column:
                raise ColumnError(
                    f"outliers are sought in {name!r}, which holds no numbers.", hint="leave that column out."
                )
            continue
        present = codes >= 0
        values = column.values[codes[present]].astype(np.float64)
        if len(values):
            far[present] |= _is_far(values, by_column.get(name, by_column.get(None, "")))
    return far


def _columns_to_clean(frame: Frame, by_column: Mapping[str | None, str]) -> list[str]:
    named = [name for name in by_column if name is not None]
    check_columns(named, frame.columns, "columns of a Preprocessor or Postprocessor")
    return list(frame.columns) if None in by_column else named


def _is_far(values: FloatArray, word: str) -> BoolArray:
    if word == "zscore":
        return np.asarray(np.abs(values - values.mean()) > _MAX_STANDARD_DEVIATIONS * values.std())
    low, high = np.quantile(values, [0.25, 0.75])
    reach = _MAX_INTERQUARTILE_RANGES * (high - low)
    return np.asarray((values < low - reach) | (values > high + reach))
