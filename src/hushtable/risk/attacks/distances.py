"""Distances: whether synthetic records are nearer to the people than to a control of the same size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable._types import FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import check_whole
from hushtable.risk.attacks.attack import Coded, PrivacyFigure, Tries, coded, generator, nearest, rate_of, sampled
from hushtable.tables import JointRows

__all__ = ["dcr", "nndr"]

_LOW_TAIL = 0.05


def dcr(
    original: Any,
    synthetic: Any,
    *,
    control: Any = None,
    n_records: int = 2000,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PrivacyFigure:
    """Measure the share of synthetic records that are nearer to the people than to a control of the same size.

    Parameters
    ----------
    original, synthetic, control : path, dataframe or Table
        As for `hushtable.singling_out`.
    n_records : int
        Synthetic records to look at, drawn at random; all where there are no more.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

    Returns
    -------
    PrivacyFigure
        Near 0.5 where nothing was memorized, near 1 where the people were copied; with Wilson's interval. NaN without
        a control. ``figures`` holds the median and the 5 % quantile of the distances to the closest record.

    Notes
    -----
    Distance to closest record; the share as in SDMetrics' DCROverfittingProtection and Platzer and Reutterer (2021),
    https://doi.org/10.3389/fdata.2021.679939. A record that is equally near to both counts half. The larger of the two
    tables is drawn down to the smaller. Distances as for `hushtable.linkability`, divided by the number of columns.

    Examples
    --------
    >>> import polars as pl
    >>> people, others = pl.DataFrame({"age": [31, 34, 52]}), pl.DataFrame({"age": [20, 44, 70]})
    >>> dcr(people, people, control=others).figures["share"]
    1.0
    """
    known, made, tables = _drawn(original, synthetic, control, n_records, specs, seed)
    far = {name: _distances(known, made, rows, 1)[:, 0] for name, rows in tables.items()}
    figures = {f"median_to_{name}": float(np.median(each)) for name, each in far.items()}
    figures |= {f"low_to_{name}": float(np.quantile(each, _LOW_TAIL)) for name, each in far.items()}
    nearer = Tries(0, 0)
    if "control" in far:
        is_tied = far["original"] == far["control"]
        nearer = Tries(float((far["original"] < far["control"]).sum() + is_tied.sum() / 2), len(is_tied))
        figures["share"] = nearer.n_success / nearer.n_attacks
        figures["ties"] = float(is_tied.mean())
    return PrivacyFigure("dcr", *rate_of(nearer), nearer.n_attacks, figures)


def nndr(
    original: Any,
    synthetic: Any,
    *,
    control: Any = None,
    n_records: int = 2000,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PrivacyFigure:
    """Measure how much nearer synthetic records are to one person than to the next: a low ratio points at one.

    Parameters
    ----------
    original, synthetic, control, n_records, specs, seed
        As for `dcr`.

    Returns
    -------
    PrivacyFigure
        The 5 % quantile of the ratio of the distances to the nearest and the second nearest person: 0 where records
        were copied. No interval is known. ``figures`` holds the median, and both of the control.

    Notes
    -----
    Nearest neighbour distance ratio, as Zhao et al., "CTAB-GAN" (ACML 2021), section 4.3. Equal people count as one.
    NaN where there are fewer than two different people.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52]})
    >>> nndr(people, people).value
    0.0
    """
    known, made, tables = _drawn(original, synthetic, control, n_records, specs, seed)
    figures: dict[str, float] = {}
    for name, rows in tables.items():
        far = _distances(known, made, known.distinct(rows), 2)
        ratios = far[:, 0] / far[:, 1] if far.shape[1] == 2 else np.full(len(far), np.nan)
        figures |= {
            f"low_of_{name}": float(np.quantile(ratios, _LOW_TAIL)),
            f"median_of_{name}": float(np.median(ratios)),
        }
    return PrivacyFigure("nndr", figures["low_of_original"], np.nan, np.nan, made.codes.shape[1], figures)


def _drawn(
    original: Any,
    synthetic: Any,
    control: Any,
    n_records: int,
    specs: Mapping[str, ColumnSpec] | None,
    seed: int,
) -> tuple[Coded, JointRows, dict[str, JointRows]]:
    """Return some synthetic records, and as many people as control records."""
    check_whole("n_records", n_records, 1)
    known = coded(original, synthetic, control, None, specs)
    rng = generator(seed)
    made = known.synthetic.take(sampled(rng, known.synthetic.codes.shape[1], n_records))
    tables = {"original": known.original}
    if known.control is not None:
        tables["control"] = known.control
    n_each = min(each.codes.shape[1] for each in tables.values())
    return known, made, {name: each.take(sampled(rng, each.codes.shape[1], n_each)) for name, each in tables.items()}


def _distances(known: Coded, made: JointRows, rows: JointRows, n_near: int) -> FloatArray:
    distances = nearest(known, made.codes, rows.codes, known.joint.names, n_near)[1]
    return distances / len(known.joint.names)
