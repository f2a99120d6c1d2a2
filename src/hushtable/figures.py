"""Arrays to matplotlib axes: what every ``.plot()`` calls.

Nothing here chooses a back end, opens a window or touches pyplot: without ``ax`` a
figure is made that only its axes know, which ``ax.figure.savefig(path)`` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushtable._types import CountArray, FloatArray

__all__ = ["convergence", "ecdf", "evolution", "heat_map", "histogram", "qq", "risk_against_loss", "tradeoff"]


def histogram(values: FloatArray, *, label: str, ax: Any = None) -> Any:
    """Draw how often values occur; return the axes."""
    axes = _axes(ax)
    # Bins as wide as numpy's rule wants them would be millions where one value is far out.
    n_bins = min(len(np.histogram_bin_edges(values, bins="sturges")) - 1, 100)
    axes.hist(values, bins=n_bins)
    axes.set(xlabel=label, ylabel="parts")
    return axes


def ecdf(values: FloatArray, *, label: str, ax: Any = None) -> Any:
    """Draw the empirical distribution function over the normal one of the same mean and sd; return the axes."""
    from scipy.special import ndtr

    axes = _axes(ax)
    ordered = np.sort(values)
    axes.step(ordered, np.arange(1, len(ordered) + 1) / len(ordered), where="post", label="empirical")
    if np.ptp(ordered) > 0:
        grid = np.linspace(ordered[0], ordered[-1], 200)
        axes.plot(grid, ndtr((grid - ordered.mean()) / ordered.std()), linestyle="--", label="normal")
    axes.set(xlabel=label, ylabel="share of parts")
    axes.legend()
    return axes


def qq(values: FloatArray, *, label: str, ax: Any = None) -> Any:
    """Draw the quantiles of values against those of a normal distribution; return the axes.

    The plotting positions are (i - 1/2) / n; the line has the values' mean and sd.
    """
    from scipy.special import ndtri

    axes = _axes(ax)
    normal = ndtri((np.arange(1, len(values) + 1) - 0.5) / len(values))
    axes.scatter(normal, np.sort(values), s=12)
    axes.axline((0.0, float(values.mean())), slope=float(values.std()), linestyle="--")
    axes.set(xlabel="normal quantile", ylabel=label)
    return axes


def evolution(
    steps: CountArray, best: FloatArray, current: FloatArray, mean: FloatArray, *, label: str, ax: Any = None
) -> Any:
    """Draw how a search went: the best value so far, that of each step, and its mean; return the axes."""
    axes = _axes(ax)
    axes.plot(steps, best, label="best so far", drawstyle="steps-post")
    axes.plot(steps, current, label="step", marker=".", linestyle="none")
    axes.plot(steps, mean, label="mean of step", linestyle="--")
    axes.set(xlabel="column sets evaluated", ylabel=label)
    axes.legend()
    return axes


def heat_map(matrix: FloatArray, names: Sequence[str], *, label: str, ax: Any = None) -> Any:
    """Draw a correlation matrix in [-1, 1] with its numbers; return the axes."""
    axes = _axes(ax)
    places = range(len(names))
    image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    axes.set_xticks(places, names, rotation=90)
    axes.set_yticks(places, names)
    for i in places:
        for j in places:
            if np.isfinite(matrix[i, j]):
                axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", fontsize="x-small")
    axes.figure.colorbar(image, ax=axes, label=label)
    return axes


def convergence(steps: FloatArray, bounds: FloatArray, losses: FloatArray, *, label: str, ax: Any = None) -> Any:
    """Draw how the best loss fell, and a proven bound rose where there is one (NaN where not); return the axes."""
    axes = _axes(ax)
    axes.plot(steps, losses, label="best loss", drawstyle="steps-post")
    if np.isfinite(bounds).any():
        axes.plot(steps, bounds, label="proven bound", drawstyle="steps-post", linestyle="--")
    axes.set(xlabel=label, ylabel="loss")
    axes.legend()
    return axes


def tradeoff(clusters: CountArray, stars: CountArray, kept: FloatArray, *, label: str, ax: Any = None) -> Any:
    """Draw what the number of clusters costs (left) and keeps (right); return the axes of the left."""
    axes = _axes(ax)
    axes.plot(clusters, stars, marker="o", label="stars")
    axes.set(xlabel="clusters", ylabel="stars")
    right = axes.twinx()
    right.plot(clusters, kept, marker="s", linestyle="--", color="tab:orange", label=label)
    right.set(ylabel=label)
    axes.figure.legend(loc="outside upper center", ncols=2)
    return axes


def risk_against_loss(
    lines: Mapping[str, FloatArray], knee: FloatArray | None, *, label: str, mark: str, ax: Any = None
) -> Any:
    """Draw lines of points (loss, risk), and where they bend most, where there is such a point; return the axes."""
    axes = _axes(ax)
    for name, points in lines.items():
        axes.plot(*points.T, marker="o", label=name)
    if knee is not None:
        axes.plot(*knee, marker="o", markersize=14, fillstyle="none", linestyle="none", color="black", label=mark)
    axes.set(xlabel=label, ylabel="highest risk of a record")
    axes.legend(fontsize="small")
    return axes


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(layout="constrained").add_subplot()
