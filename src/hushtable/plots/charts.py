"""Arrays to matplotlib axes: what every ``.plot()`` calls.

Nothing here chooses a back end, opens a window, imports pyplot where nobody uses it, or changes global settings:
without ``ax`` a figure is made. Plain lists do as well as arrays; None is not shown. Series differ by hatch, dashes or
marker, never by colour alone. Names come from data, and are drawn as they are: none is read as mathematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.plots import style
from hushtable.plots.style import EDGE_WIDTH, FAINT, INK, PALETTE

__all__ = [
    "PALETTE",
    "bars",
    "by_size",
    "class_sizes",
    "convergence",
    "distributions",
    "ecdf",
    "evolution",
    "heat_map",
    "histogram",
    "pareto",
    "qq",
    "risk_against_loss",
    "risk_by_k",
    "terms",
    "tradeoff",
]

_MAX_MARKERS: Final = 25  # of a line; more would hide one another
_MAX_VECTOR_DOTS: Final = 2000  # more are drawn as a picture: a vector file would have many megabytes
_MAX_EDGED_BARS: Final = 60
_INCHES_HIGH: Final = 3.0
_INCHES_A_SERIES: Final = 0.16
_INCHES_A_BAR: Final = 0.24
_INCHES_A_CELL: Final = 0.36
_INCHES_A_LETTER: Final = 0.075
# The share of a search in which most of it happened.
_SUDDEN_SHARE: Final = 0.05
# Scales that differ more than this cannot share a linear axis.
_MAX_SCALE_RATIO: Final = 20.0


def class_sizes(
    bands: Sequence[str],
    shares: Mapping[str, Sequence[float | None]],
    *,
    people: str = "records",
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw the share of the records in classes of every size, beside one another for every series; return the axes.

    ``people`` is what the sizes count: "records", or "persons".
    """
    return distributions(bands, shares, label=f"{people} in the class", title=title, ax=ax)


def risk_by_k(
    k: Sequence[int],
    shares: Mapping[str, Sequence[float | None]],
    *,
    people: str = "records",
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw the share of the records in classes smaller than k, a stair for every series; return the axes.

    ``k`` ascends from 1; a stair keeps its height up to the next k. ``people`` is what k counts: "records", or
    "persons".
    """
    axes = style.axes_of(ax, height=_figure_height(len(shares)))
    _plot_lines(axes, k, shares, drawstyle="steps-post")
    axes.set_xscale("log")
    if len(k):
        style.name_log_ticks(axes.xaxis, min(k), max(k))
    axes.set_ylim(bottom=0)
    style.format_percent_axis(axes.yaxis)
    smaller = (
        "records in classes smaller than k" if people == "records" else f"records in classes of fewer than k {people}"
    )
    style.label_axes(axes, title=title, xlabel=f"k ({people})", ylabel=smaller)
    return axes


def bars(names: Sequence[str], values: Sequence[float | None], *, label: str, title: str = "", ax: Any = None) -> Any:
    """Draw a bar with its number for every name, the first at the top; return the axes."""
    axes = style.axes_of(ax, height=max(_INCHES_HIGH, 1.0 + _INCHES_A_BAR * len(names)))
    lengths = style.to_floats(values)
    positions = np.flatnonzero(np.isfinite(lengths))
    axes.barh(positions, lengths[positions], height=0.7, color=PALETTE[0], edgecolor=INK, linewidth=EDGE_WIDTH)
    small = {"textcoords": "offset points", "fontsize": style.text_size(axes)}
    for position, length in zip(positions.tolist(), lengths[positions].tolist(), strict=True):
        side, ha = (3, "left") if length >= 0 else (-3, "right")
        axes.annotate(style.format_number(length), (length, position), (side, 0), ha=ha, va="center", **small)
    style.name_ticks(axes, "y", names)
    axes.set_ylim(len(names) - 0.5, -0.5 if len(names) else 0.5)
    # Room for the number at the longest bar.
    axes.margins(x=0.18)
    style.label_axes(axes, title=title, xlabel=label, ylabel="", grid="x")
    return axes


def by_size(
    sizes: Sequence[int], counts: Sequence[float | None], *, label: str, title: str = "", ax: Any = None
) -> Any:
    """Draw a bar with its number for every size of a column set; return the axes."""
    axes = style.axes_of(ax)
    heights = style.to_floats(counts)
    positions = np.flatnonzero(np.isfinite(heights))
    axes.bar(positions, heights[positions], width=0.8, color=PALETTE[0], edgecolor=INK, linewidth=EDGE_WIDTH)
    texts = [style.format_number(height) for height in heights[positions].tolist()]
    upright = len(sizes) * max(map(len, texts), default=0) > 42
    how = {"textcoords": "offset points", "fontsize": style.text_size(axes), "rotation": 90 if upright else 0}
    for position, height, text in zip(positions.tolist(), heights[positions].tolist(), texts, strict=True):
        axes.annotate(text, (position, height), (0, 2), ha="center", va="bottom", **how)
    style.name_ticks(axes, "x", [str(size) for size in sizes], rotation=0)
    axes.margins(y=0.3 if upright else 0.12)
    if len(sizes):
        axes.set_xlim(-0.6, len(sizes) - 0.4)
    axes.set_ylim(bottom=0)
    style.format_number_axis(axes.yaxis)
    style.label_axes(axes, title=title, xlabel="columns in the set", ylabel=label, grid="y")
    return axes


def distributions(
    places: Sequence[str],
    shares: Mapping[str, Sequence[float | None]],
    *,
    label: str,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw how often values or bins of a column occur, beside one another for every series; return the axes."""
    axes = style.axes_of(ax, height=_figure_height(len(shares)))
    _plot_bar_groups(axes, places, shares)
    style.format_percent_axis(axes.yaxis)
    style.label_axes(axes, title=title, xlabel=label, ylabel="share of records", grid="y")
    return axes


def terms(
    steps: Sequence[int] | CountArray,
    values: Mapping[str, Sequence[float | None]],
    *,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw what each term of an objective was at the steps of a search; return the axes.

    Terms on scales far from one another share an axis that is linear up to the power of ten over the smallest of
    them, and logarithmic above.
    """
    axes = style.axes_of(ax, height=_figure_height(len(values)))
    lines = _plot_lines(axes, steps, values, drawstyle="steps-post")
    highest = [float(np.nanmax(np.abs(each))) for each in lines if np.isfinite(each).any()]
    highest = [each for each in highest if each > 0]
    if highest and max(highest) > _MAX_SCALE_RATIO * min(highest):
        axes.set_yscale("symlog", linthresh=10.0 ** np.ceil(np.log10(min(highest))))
        if all((each[np.isfinite(each)] >= 0).all() for each in lines):
            axes.set_ylim(bottom=0)
        style.format_number_axis(axes.yaxis, whole=False)
    _count_sets(axes, steps)
    style.label_axes(axes, title=title, xlabel="column sets evaluated", ylabel="term")
    return axes


def pareto(
    points: Sequence[Sequence[float]] | FloatArray,
    front: Sequence[int] | CountArray,
    *,
    labels: tuple[str, str],
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw points (n_points, 2), and on them the front, which no other betters in both coordinates; return the axes."""
    axes = style.axes_of(ax)
    at = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    front_points = at[np.asarray(front, dtype=np.int64)]
    front_points = front_points[np.lexsort(front_points.T[::-1])]
    (dots,) = axes.plot(
        *at.T, color=FAINT, marker=".", markersize=4, linestyle="none", rasterized=len(at) > _MAX_VECTOR_DOTS
    )
    (best,) = axes.plot(*front_points.T, **style.line_look(style.series_look(1)), zorder=3)
    style.add_legend(axes, [dots, best], ["column sets", "no other betters these in both"])
    style.label_axes(axes, title=title, xlabel=labels[0], ylabel=labels[1])
    return axes


def histogram(values: FloatArray, *, label: str, title: str = "", ax: Any = None) -> Any:
    """Draw how often values occur; return the axes."""
    axes = style.axes_of(ax)
    # With one outlier, numpy's other rules would make millions of bins.
    n_bins = min(len(np.histogram_bin_edges(values, bins="sturges")) - 1, 100)
    axes.hist(values, bins=n_bins, color=PALETTE[0], edgecolor=INK, linewidth=EDGE_WIDTH)
    style.format_number_axis(axes.yaxis)
    style.label_axes(axes, title=title, xlabel=label, ylabel="parts", grid="y")
    return axes


def ecdf(values: FloatArray, *, label: str, normal: bool = True, title: str = "", ax: Any = None) -> Any:
    """Draw the empirical distribution function, beside the normal one of the same mean and sd; return the axes."""
    from scipy.special import ndtr

    axes = style.axes_of(ax)
    ordered = np.sort(values)
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    lines = axes.step(ordered, shares, where="post", label="empirical", color=PALETTE[0], linewidth=1.6)
    if normal and np.ptp(ordered) > 0:
        grid = np.linspace(ordered[0], ordered[-1], 200)
        curve = ndtr((grid - ordered.mean()) / ordered.std())
        lines += axes.plot(grid, curve, linestyle="--", label="normal", color=PALETTE[1], linewidth=1.6)
        style.add_legend(axes, lines, ["empirical", "normal of the same mean and sd"])
    axes.set_ylim(bottom=0)
    style.format_percent_axis(axes.yaxis)
    style.label_axes(axes, title=title, xlabel=label, ylabel="share of parts")
    return axes


def qq(values: FloatArray, *, label: str, title: str = "", ax: Any = None) -> Any:
    """Draw the quantiles of values against those of a normal distribution; return the axes.

    The plotting positions are (i - 1/2) / n; the line has the values' mean and sd.
    """
    from scipy.special import ndtri

    axes = style.axes_of(ax)
    normal = ndtri((np.arange(1, len(values) + 1) - 0.5) / len(values))
    axes.scatter(normal, np.sort(values), s=12, color=PALETTE[0], zorder=2, rasterized=len(values) > _MAX_VECTOR_DOTS)
    axes.axline((0.0, float(values.mean())), slope=float(values.std()), linestyle="--", color=PALETTE[1])
    style.label_axes(axes, title=title, xlabel="normal quantile", ylabel=label)
    return axes


def evolution(
    steps: CountArray,
    best: FloatArray,
    current: FloatArray | None = None,
    mean: FloatArray | None = None,
    *,
    label: str,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw the best value until each number of column sets, and what steps kept (``current``, NaN where none ended).

    A mean of the steps' values that is the same everywhere is not drawn twice.
    """
    axes = style.axes_of(ax)
    # Wide, and below the steps: where a step keeps the best, both are seen.
    first = {**style.line_look(style.series_look(0)), "marker": "", "linewidth": 2.4}
    lines = axes.plot(steps, style.to_floats(best), label="best so far", drawstyle="steps-post", **first)
    if mean is not None and current is not None and np.array_equal(current, mean, equal_nan=True):
        mean = None
    for values, name, how in ((current, "step", style.series_look(1)), (mean, "mean of step", style.series_look(2))):
        if values is None:
            continue
        heights = style.to_floats(values)
        ended = np.isfinite(heights)
        look = style.line_look(how)
        # A long search is a line: dots would hide one another.
        if name == "step" and ended.sum() <= _MAX_MARKERS:
            look["linestyle"] = "none"
        else:
            look |= {"marker": "", "linewidth": 1.2}
        lines += axes.plot(np.asarray(steps)[ended], heights[ended], label=name, **look)
    if len(lines) > 1:
        style.add_legend(axes, lines, [each.get_label() for each in lines])
    _count_sets(axes, steps)
    style.label_axes(axes, title=title, xlabel="column sets evaluated", ylabel=label)
    return axes


def heat_map(matrix: FloatArray, names: Sequence[str], *, label: str, title: str = "", ax: Any = None) -> Any:
    """Draw a correlation matrix in [-1, 1] with its numbers; return the axes.

    Numbers are black or white, whichever stands out from their cell. A figure of its own grows with the number of
    names, so that they stay legible; on given axes their size shrinks with it. Undefined cells stay blank.
    """
    n, room = len(names), _INCHES_A_LETTER * max((len(style.shorten_text(name)) for name in names), default=0)
    side = _INCHES_A_CELL * n + room
    axes = style.axes_of(ax, width=max(4.2, side + 1.1), height=max(_INCHES_HIGH, side + 0.4))
    positions = range(n)
    image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    style.label_axes(axes, title=title, xlabel="", ylabel="", grid="")
    axes.spines[:].set_visible(False)
    axes.set_xticks(positions, [style.shorten_text(name) for name in names], rotation=90, parse_math=False)
    style.name_ticks(axes, "y", names)
    # Five characters in a cell; how large the cells of given axes are, the axes say before the map makes them square.
    box = axes.get_window_extent()
    cell = min(box.width, box.height) * 72 / axes.figure.dpi / max(n, 1)
    size = 7.5 if ax is None else max(3.0, min(style.text_size(axes), 0.24 * cell))
    for i in positions:
        for j in positions:
            if np.isfinite(matrix[i, j]):
                ink = style.readable_on(image.cmap(image.norm(matrix[i, j])))
                axes.text(
                    j, i, style.format_correlation(matrix[i, j]), ha="center", va="center", fontsize=size, color=ink
                )
    bar = axes.figure.colorbar(image, ax=axes)
    bar.ax.tick_params(labelsize=style.text_size(axes))
    bar.outline.set_visible(False)
    bar.set_label(style.to_one_line(label), size=axes.xaxis.label.get_size(), parse_math=False)
    return axes


def convergence(
    steps: FloatArray, bounds: FloatArray, losses: FloatArray, *, label: str, title: str = "", ax: Any = None
) -> Any:
    """Draw how the best loss fell, and a proven bound rose where there is one (NaN where not); return the axes."""
    axes = style.axes_of(ax)
    names = ["best loss"]
    lines = axes.plot(steps, losses, label=names[0], drawstyle="steps-post", **_stair_look(0))
    if np.isfinite(bounds).any():
        names.append("proven bound")
        lines += axes.plot(steps, bounds, label=names[1], drawstyle="steps-post", **_stair_look(1))
        style.add_legend(axes, lines, names)
    style.label_axes(axes, title=title, xlabel=label, ylabel="loss")
    return axes


def tradeoff(
    clusters: CountArray, stars: CountArray, kept: FloatArray, *, label: str, title: str = "", ax: Any = None
) -> Any:
    """Draw what the number of clusters costs (left) and keeps (right); return the axes of the left."""
    axes = style.axes_of(ax)
    right = axes.twinx()
    lines = axes.plot(clusters, stars, label="stars", **style.line_look(style.series_look(0)))
    lines += right.plot(clusters, kept, label=label, **style.line_look(style.series_look(1)))
    style.add_legend(axes, lines, ["suppressed cells (left)", f"{label} (right)"])
    style.format_number_axis(axes.xaxis)
    style.format_number_axis(axes.yaxis)
    style.label_axes(right, xlabel="clusters", ylabel=label, grid="")
    right.spines["right"].set_visible(True)
    right.tick_params(labelsize=axes.yaxis.get_tick_params()["labelsize"] if ax is None else None)
    right.yaxis.label.set_size(axes.yaxis.label.get_size())
    style.label_axes(axes, title=title, xlabel="clusters", ylabel="stars")
    return axes


def risk_against_loss(
    lines: Mapping[str, FloatArray],
    knee: FloatArray | None,
    *,
    label: str,
    mark: str,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw lines of points (loss, risk), and where they bend most, where there is such a point; return the axes."""
    axes = style.axes_of(ax, height=_figure_height(len(lines)))
    handles, names = [], list(lines)
    for i, (name, points) in enumerate(lines.items()):
        handles += axes.plot(*np.asarray(points).T, label=name, **style.line_look(style.series_look(i)))
    if knee is not None:
        ring = {"marker": "o", "markersize": 14, "fillstyle": "none", "linestyle": "none", "color": INK}
        handles += axes.plot(*knee, label=mark, **ring)
        names.append(mark)
    style.add_legend(axes, handles, names)
    style.label_axes(axes, title=title, xlabel=label, ylabel="highest risk of a record")
    return axes


def _figure_height(n_series: int) -> float:
    """Return the inches of a figure whose legend does not take the room of the data."""
    return _INCHES_HIGH + _INCHES_A_SERIES * max(0, n_series - 3)


def _count_sets(axes: Any, steps: Any) -> None:
    """Write how many sets were evaluated: on a logarithmic axis where most of what happened, happened at once."""
    if len(steps) > 2 and np.min(steps) > 0 and np.median(steps) < _SUDDEN_SHARE * np.max(steps):
        axes.set_xscale("log")
        style.name_log_ticks(axes.xaxis, float(np.min(steps)), float(np.max(steps)))
    else:
        style.format_number_axis(axes.xaxis)


def _plot_bar_groups(axes: Any, labels: Sequence[str], shares: Mapping[str, Sequence[float | None]]) -> None:
    """Draw a group of bars at every place, one for each series that has a value there."""
    width = 0.8 / max(len(shares), 1)
    # Of thin bars the edges would be all there is to see.
    edge = EDGE_WIDTH if len(shares) * len(labels) <= _MAX_EDGED_BARS else EDGE_WIDTH / 4
    for i, (name, values) in enumerate(shares.items()):
        heights, how = style.to_floats(values), style.series_look(i)
        at = np.flatnonzero(np.isfinite(heights))
        axes.bar(
            at + (i - (len(shares) - 1) / 2) * width,
            heights[at],
            width=width,
            label=name,
            color=how.color,
            hatch=how.hatch,
            edgecolor=INK,
            linewidth=edge,
        )
    style.name_ticks(axes, "x", labels)
    if len(labels):
        axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.set_ylim(bottom=0)
    if len(shares) > 1:
        style.add_legend(axes, [style.legend_patch(style.series_look(i)) for i in range(len(shares))], list(shares))


def _plot_lines(
    axes: Any, steps: Any, values: Mapping[str, Sequence[float | None]], *, drawstyle: str
) -> list[FloatArray]:
    """Draw a line for every series, with markers where points are few, and return its heights."""
    handles, all_heights = [], []
    for i, (name, series_values) in enumerate(values.items()):
        heights, how = style.to_floats(series_values), style.line_look(style.series_look(i))
        # Of many points some carry the marker, each series another: lines must differ without colour.
        every: Any = 1 if len(heights) <= _MAX_MARKERS else (i * len(heights) // 40, len(heights) // 8)
        every = every if every == 1 or len(values) > 1 else []
        handles += axes.plot(steps, heights, label=name, drawstyle=drawstyle, markevery=every, **how)
        all_heights.append(heights)
    if len(handles) > 1:
        style.add_legend(axes, handles, list(values))
    return all_heights


def _stair_look(i: int) -> dict[str, Any]:
    return {**style.line_look(style.series_look(i)), "marker": ""}
