r"""ARX's measures, to the digit, so that releases can be compared with ARX's.

Every function takes plain arrays: classes in columns, quasi-identifiers in rows. The
classes hold all records; ``suppressed`` marks those that publish ``*`` everywhere
(their shares are what they would publish). For full-domain recoding a class publishes
one node per column; local recodings fit as well, for every class has its own shares.

The formulas were recovered from ARX 3.9.2 (`metric/v2`, `aggregates/quality`) by
recomputing its outputs. Notation: N records, m columns, :math:`D_d` leaves of column d,
so that a leaf's share is :math:`1/D_d`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray

__all__ = [
    "arx_average_class_size",
    "arx_discernibility",
    "arx_entropy",
    "arx_entropy_by_column",
    "arx_loss",
    "arx_loss_by_column",
    "granularity",
    "granularity_by_column",
]


def arx_loss(
    shares: FloatArray,
    sizes: CountArray,
    leaf_shares: FloatArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
    weights: FloatArray | None = None,
    aggregate: Literal["geometric", "arithmetic"] = "geometric",
) -> float:
    r"""Return ARX's Loss, 0 (nothing lost) to 1 (everything).

    .. math:: \prod_d (w_d L_d + 1)^{1/m} - 1 \quad\text{or}\quad \frac1m \sum_d w_d L_d

    with the loss :math:`L_d` of `arx_loss_by_column` and weights scaled to a maximum of 1.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_columns, n_classes)
        Share of the domain under the published node.
    sizes : ndarray of int64, shape (n_classes,)
        Records in each class.
    leaf_shares : ndarray of float64, shape (n_columns,)
    suppressed : ndarray of bool, shape (n_classes,), optional
    gs_factor : float
        From 0, which weighs generalization alone, to 1, which weighs suppression alone.
    weights : ndarray of float64, shape (n_columns,), optional
    aggregate : {"geometric", "arithmetic"}
        The geometric mean is ARX's default.

    Examples
    --------
    >>> shares, leaves = np.array([[0.5, 1.0], [0.25, 0.25]]), np.array([0.5, 0.25])
    >>> arx_loss(shares, np.array([5, 5]), leaves, aggregate="arithmetic")
    0.25
    """
    losses = arx_loss_by_column(shares, sizes, leaf_shares, suppressed=suppressed, gs_factor=gs_factor)
    weighted = losses if weights is None else losses * weights / max(float(weights.max()), np.finfo(float).tiny)
    if aggregate == "arithmetic":
        return float(weighted.mean())
    return float(np.prod((weighted + 1) ** (1 / len(weighted))) - 1)


def arx_loss_by_column(
    shares: FloatArray,
    sizes: CountArray,
    leaf_shares: FloatArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
) -> FloatArray:
    r"""Return ARX's Loss of every column.

    .. math:: L_d = \Big\lfloor \max\big(0, \frac{r_d - g N/D_d}{N - g N/D_d}\big) \Big\rfloor_{10},
        \quad r_d = \sum_\text{kept} g\,s_d + \sum_\text{suppressed} (s_d + h (1 - s_d))

    where :math:`s_d` is the share of a record's node, :math:`\lfloor x \rfloor_{10}` keeps ten
    decimals, and the factor :math:`\gamma` gives :math:`g = \min(1, 2 - 2\gamma)`,
    :math:`h = \min(1, 2\gamma)`. Parameters as in `arx_loss`.
    """
    for_generalization, for_suppression = _factors(gs_factor)
    hidden = _hidden(suppressed, sizes)
    cells = np.where(hidden, shares + for_suppression * (1 - shares), for_generalization * shares)
    least = for_generalization * sizes.sum() * leaf_shares
    with np.errstate(invalid="ignore", divide="ignore"):
        losses = ((cells * sizes).sum(axis=1) - least) / (sizes.sum() - least)
    return _floored(np.where(np.isfinite(losses), losses, 0.0))


def arx_entropy(
    codes: CodeArray,
    nodes: CodeArray,
    counts: CountArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
) -> float:
    """Return ARX's non-uniform entropy in bits: the sum of `arx_entropy_by_column`."""
    return float(arx_entropy_by_column(codes, nodes, counts, suppressed=suppressed, gs_factor=gs_factor).sum())


def arx_entropy_by_column(
    codes: CodeArray,
    nodes: CodeArray,
    counts: CountArray,
    *,
    suppressed: BoolArray | None = None,
    gs_factor: float = 0.5,
) -> FloatArray:
    r"""Return ARX's non-uniform entropy of every column, in bits over all records.

    .. math:: E_d = -g \sum_\text{all} \log_2 \frac{n_d(v)}{n_d(\bar v)} - h \sum_{u} c_u \log_2 \frac{c_u}{S}

    where :math:`n_d` counts the records of a value :math:`v` and of its node :math:`\bar v`,
    and :math:`c_u` of the :math:`S` suppressed records would publish node :math:`u`.

    Parameters
    ----------
    codes, nodes : ndarray of int32, shape (n_columns, n_rows)
        Value of each row, and its node by a full-domain recoding; -1 is missing.
    counts : ndarray of int64, shape (n_rows,)
        Records of each row.
    suppressed : ndarray of bool, shape (n_rows,), optional
    gs_factor : float
        As in `arx_loss`.

    Notes
    -----
    See `hushtable.quality.loss.non_uniform_entropy` for the textbook's form, which has
    suppressed cells cover the whole column.
    """
    for_generalization, for_suppression = _factors(gs_factor)
    hidden = _hidden(suppressed, counts)
    losses = np.empty(len(codes))
    for place, (values, published) in enumerate(zip(codes, nodes, strict=True)):
        bits = np.log2(_count(values, counts)[values + 1]) - np.log2(_count(published, counts)[published + 1])
        kept = -for_generalization * float((bits * counts).sum())
        gone = _count(published[hidden], counts[hidden])
        gone = gone[gone > 0]
        losses[place] = kept - for_suppression * float((gone * np.log2(gone / max(1.0, gone.sum()))).sum())
    return _floored(losses)


def granularity(
    shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, *, suppressed: BoolArray | None = None
) -> float:
    r"""Return ARX's granularity over all columns, 1 (as the input) to 0 (everything suppressed).

    .. math:: 1 - \frac{\bar r - \bar \ell}{1 - \bar \ell}

    with the mean published share :math:`\bar r` (1 where suppressed) and the mean leaf share
    :math:`\bar \ell`, both over columns: ARX aggregates *before* it normalizes, so this is
    not the mean of `granularity_by_column`. Parameters as in `arx_loss`.
    """
    return _normalized(float(_mean_shares(shares, sizes, suppressed).mean()), float(leaf_shares.mean()))


def granularity_by_column(
    shares: FloatArray, sizes: CountArray, leaf_shares: FloatArray, *, suppressed: BoolArray | None = None
) -> FloatArray:
    """Return ARX's granularity of every column, 1 (as the input) to 0 (everything suppressed)."""
    means = _mean_shares(shares, sizes, suppressed)
    return np.array([_normalized(*pair) for pair in zip(means.tolist(), leaf_shares.tolist(), strict=True)])


def arx_discernibility(sizes: CountArray, raw_sizes: CountArray, n_suppressed: int = 0) -> float:
    r"""Return ARX's normalized discernibility, 1 (as the input) to 0 (one class, or all suppressed).

    .. math:: 1 - \frac{\sum_i n_i^2 + S N - D_0}{N^2 - D_0}

    Parameters
    ----------
    sizes, raw_sizes : ndarray of int64
        Records in each class of the release (suppressed ones apart) and of the input,
        whose :math:`D_0` is the sum of squares.
    n_suppressed : int

    Examples
    --------
    >>> arx_discernibility(np.array([2, 2]), np.array([1, 1, 2]))
    0.8
    """
    total = int(sizes.sum()) + n_suppressed
    least = int((raw_sizes * raw_sizes).sum())
    lost = int((sizes * sizes).sum()) + n_suppressed * total - least
    return 1 - lost / (total * total - least) if total * total > least else 1.0


def arx_average_class_size(sizes: CountArray, raw_sizes: CountArray) -> float:
    """Return ARX's normalized average class size, 1 (as the input) to 0 (one class).

    1 - (a - a0) / (N - a0) with the mean class sizes a of the release and a0 of the input.
    """
    if not len(sizes):
        return 1.0
    total, raw = int(raw_sizes.sum()), float(raw_sizes.mean())
    return 1 - (float(sizes.mean()) - raw) / (total - raw) if total > raw else 1.0


def _factors(gs_factor: float) -> tuple[float, float]:
    return min(1.0, 2 - 2 * gs_factor), min(1.0, 2 * gs_factor)


def _hidden(suppressed: BoolArray | None, sizes: CountArray) -> BoolArray:
    return np.zeros(len(sizes), dtype=bool) if suppressed is None else suppressed


def _floored(losses: FloatArray) -> FloatArray:
    # ARX cuts every column's loss after ten decimals before it aggregates.
    return np.asarray(np.floor(np.maximum(losses, 0.0) * 1e10) / 1e10)


def _count(codes: CodeArray, counts: CountArray) -> FloatArray:
    """Count the records of every code, the missing one (-1) first."""
    return np.bincount(codes + 1, weights=counts).astype(np.float64)


def _mean_shares(shares: FloatArray, sizes: CountArray, suppressed: BoolArray | None) -> FloatArray:
    return np.asarray(
        (np.where(_hidden(suppressed, sizes), 1.0, shares) * sizes).sum(axis=1) / max(1, int(sizes.sum()))
    )


def _normalized(mean_share: float, leaf_share: float) -> float:
    return 1 - (mean_share - leaf_share) / (1 - leaf_share) if leaf_share < 1 else 1.0
