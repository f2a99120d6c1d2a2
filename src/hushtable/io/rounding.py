"""Rounded columns of frames; see `hushtable.columns.rounding`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hushtable.columns import KeptRounding, check_rounding, round_series, without_declared
from hushtable.io.frames import Frame


def round_frame(frame: Frame, roundings: Mapping[str, KeptRounding]) -> Frame:
    """Return a frame with rounded columns, whose value labels and missing codes are gone.

    Raises
    ------
    ColumnError
        A column holds other cells than numbers, or rounded numbers could mean a missing value.
    """
    columns, variables = {}, dict(frame.variables)
    for name, rounding in roundings.items():
        spec = frame.spelling(name, is_typed=True)
        check_rounding(name, rounding, spec)
        text = frame.text(name)
        cells = without_declared(frame.column(name) if text is None else text, spec.missing_values or ())
        columns[name] = round_series(cells, rounding, spec, name)
        if name in variables:
            # Labels would tell exact numbers.
            variables[name] = replace(variables[name], values={}, missing=())
    return replace(frame.with_columns(columns), variables=variables) if columns else frame
