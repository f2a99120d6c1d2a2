"""Distances: whether synthetic records are nearer to the people than to a control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import check_whole
from hushtable.kernels.neighbours import share_nearest
from hushtable.risk.attacks.attack import (
    Coded,
    PrivacyFigure,
    Rate,
    Reach,
    encode_tables,
    find_nearest,
    random_generator,
    sample_rows,
)
from hushtable.risk.attacks.copies import count_equal
from hushtable.risk.intervals import wilson_interval
from hushtable.tables import JointRows

_LOW_TAIL_QUANTILE = 0.05


def dcr(
    original: Any,
    synthetic: Any,
    *,
    control: Any = None,
    n_records: int = 2000,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PrivacyFigure:
    r"""Measure the share of synthetic records that are nearer to the people than to a control, beyond their numbers.

    Parameters
    ----------
    original, synthetic, control : path, dataframe or Table
        As for `hushtable.singling_out`. The control may be of any size.
    n_records : int
        Synthetic records to look at, drawn at random; all where there are no more.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

    Returns
    -------
    PrivacyFigure
        Near 0.5 where nothing was memorized, 1 where the people were copied; with a 95 % interval. NaN without a
        control. ``figures`` holds the share itself (which the value is), and the median and the 5 % quantile of the
        distances to the closest record, among as many people as control records.

    Notes
    -----
    Distance to closest record; the share as in SDMetrics' DCROverfittingProtection and Platzer and Reutterer (2021),
    https://doi.org/10.3389/fdata.2021.679939. We depart where the tables have N people and M control records, of
    different numbers: they draw the larger one down, so that a control of M hides all but M of the people who were
    copied. Here a synthetic record is nearest to somebody among all; where C of S records are nearest to the control,
    the share is :math:`1 - \frac{C}{S} \frac{N + M}{2 M}`, at least 0. It is the same where N = M, 0.5 by chance, and
    1 of a copy. Equally near records share a synthetic one. Records that are nearest to the same person are not
    independent: the interval is Wilson's for so many records as have the variance of C when labels are exchanged.

    Distances as for `hushtable.linkability`, divided by the number of columns. O(S (N + M)) for each column.

    Examples
    --------
    >>> import polars as pl
    >>> people, others = pl.DataFrame({"age": [31, 34, 52]}), pl.DataFrame({"age": [20, 44, 70]})
    >>> dcr(people, people, control=others).figures["share"]
    1.0
    """
    tables, sample, sides = _draw_samples(original, synthetic, control, n_records, specs, seed)
    distances = {name: _nearest_distances(tables, sample, rows, 1)[:, 0] for name, rows in sides.items()}
    figures = {f"median_to_{name}": float(np.median(each)) for name, each in distances.items()}
    figures |= {f"low_to_{name}": float(np.quantile(each, _LOW_TAIL_QUANTILE)) for name, each in distances.items()}
    n_synthetic = sample.codes.shape[1]
    if tables.control is None:
        return PrivacyFigure("dcr", np.nan, np.nan, np.nan, n_synthetic, figures)
    share, least = _share_of_people(tables, sample)
    figures |= {"share": share.value, "ties": float((distances["original"] == distances["control"]).mean())}
    return PrivacyFigure(
        "dcr", share.value, share.low, share.high, n_synthetic, figures, reach=Reach(_share_of_copy(tables), least)
    )


def _share_of_people(tables: Coded, sample: JointRows) -> tuple[Rate, float]:
    """Return the share of synthetic records that are nearest to people, and the least that is told from chance."""
    assert tables.control is not None
    sides = [tables.merge_equal_rows(tables.original), tables.merge_equal_rows(tables.control)]
    counts = np.concatenate([rows.counts for rows in sides])
    codes = np.hstack([rows.codes for rows in sides])
    (targets, n_numbers), (candidates, _) = (
        tables.to_numbers(each, tables.joint.names) for each in (sample.codes, codes)
    )
    shares = np.zeros(len(counts))
    share_nearest(targets, candidates, n_numbers, counts, np.empty_like(counts), shares)
    n_synthetic, n_people, n_control = len(targets), sides[0].n_records, sides[1].n_records
    to_control = float(shares[len(sides[0].counts) :].sum())
    by_chance = n_control / (n_people + n_control)
    n_independent = n_synthetic / _design_effect(shares, counts, n_synthetic)
    rate, error = wilson_interval(to_control / n_synthetic * n_independent, n_independent)

    def scale(share: float) -> float:
        return min(max(1 - share / (2 * by_chance), 0.0), 1.0)

    value = scale(to_control / n_synthetic)
    least = scale(by_chance - wilson_interval(by_chance * n_independent, n_independent)[1])
    return Rate(value, min(value, scale(rate + error)), max(value, scale(rate - error))), least


def _design_effect(shares: FloatArray, counts: CountArray, n_synthetic: int) -> float:
    """Return how many times the variance is that of independent records, when people and control change places."""
    n = int(counts.sum())
    variance = float((counts * (shares / counts - n_synthetic / n) ** 2).sum()) / max(1, n - 1)
    return max(1.0, n * variance / n_synthetic)


def _share_of_copy(tables: Coded) -> float:
    """Return the share that a copy of the people would show: only equal control records are as near."""
    n_people, _, n_control = count_equal(tables.joint)
    to_control = float((n_people * n_control / np.maximum(n_people + n_control, 1)).sum()) / int(n_people.sum())
    by_chance = int(n_control.sum()) / int(n_people.sum() + n_control.sum())
    return max(0.0, 1 - to_control / (2 * by_chance))


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
        were copied. No interval is known. ``figures`` holds the median, and both of the control and of as many people
        as it has: only these two compare.

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
    tables, sample, sides = _draw_samples(original, synthetic, control, n_records, specs, seed)
    figures: dict[str, float] = {}
    # Some people are drawn, who lack most of those copied: their figures only compare with the control's.
    compared = {"as_many_people": sides["original"]} if tables.control is not None else {}
    for name, rows in {**sides, "original": tables.original, **compared}.items():
        distances = _nearest_distances(tables, sample, tables.merge_equal_rows(rows), 2)
        ratios = distances[:, 0] / distances[:, 1] if distances.shape[1] == 2 else np.full(len(distances), np.nan)
        figures |= {
            f"low_of_{name}": float(np.quantile(ratios, _LOW_TAIL_QUANTILE)),
            f"median_of_{name}": float(np.median(ratios)),
        }
    return PrivacyFigure("nndr", figures["low_of_original"], np.nan, np.nan, sample.codes.shape[1], figures)


def _draw_samples(
    original: Any,
    synthetic: Any,
    control: Any,
    n_records: int,
    specs: Mapping[str, ColumnSpec] | None,
    seed: int,
) -> tuple[Coded, JointRows, dict[str, JointRows]]:
    """Encode the tables; draw some synthetic records, and as many people as control records."""
    check_whole("n_records", n_records, 1)
    tables = encode_tables(original, synthetic, control, None, specs)
    rng = random_generator(seed)
    sample = tables.synthetic.take(sample_rows(rng, tables.synthetic.codes.shape[1], n_records))
    sources = {"original": tables.original}
    if tables.control is not None:
        sources["control"] = tables.control
    n_each = min(each.codes.shape[1] for each in sources.values())
    return (
        tables,
        sample,
        {name: each.take(sample_rows(rng, each.codes.shape[1], n_each)) for name, each in sources.items()},
    )


def _nearest_distances(tables: Coded, sample: JointRows, rows: JointRows, n_near: int) -> FloatArray:
    distances = find_nearest(tables, sample.codes, rows.codes, tables.joint.names, n_near)[1]
    return distances / len(tables.joint.names)
