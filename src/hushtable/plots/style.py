"""What all figures share: their size, colours, how names are written on them, and how they become SVG.

Nothing global is set: our own figures have sizes of their own; given axes keep those of their figure.
"""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import FloatArray

PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours, which people who see no red or green can tell apart."""
INK: Final = "#000000"
FAINT: Final = "#b0b0b0"
"""Of grids and reference lines."""
EDGE_WIDTH: Final = 0.6
"""How wide the edges of bars are, in points."""

_HIDES_FIGURES: Final[ContextVar[bool]] = ContextVar("hides_figures", default=False)
_TRANSLATE: Final[ContextVar[Callable[[str], str]]] = ContextVar("translate", default=str)
_DASHES: Final = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_HATCHES: Final = ("", "////", "....", "xxxx", "\\\\\\\\", "oo", "----", "||||", "++", "**", "//..", "\\\\..")

_FONT_SIZE: Final = 9.0  # points
_MAX_NAME_LENGTH: Final = 24  # characters, as those below
_MAX_LABEL_LENGTH: Final = 48
_MAX_UPRIGHT_LENGTH: Final = 34
_MAX_SERIES_LENGTH: Final = 96
_TITLE_WIDTH: Final = 50
_MAX_TITLE_LINES: Final = 3
# What stands side by side in the width of a figure, in characters.
_LEGEND_WIDTH: Final = 48
_HANDLE_WIDTH: Final = 7
_TICKS_WIDTH: Final = 40
_MAX_TICKS: Final = 24
_MAX_LOG_TICKS: Final = 9
_MAX_SLANTED_TICKS: Final = 12
_MAX_SLANTED_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class SeriesLook:
    """What distinguishes a series from others, with colours and without."""

    color: str
    dashes: Any  # of a line
    marker: str
    hatch: str  # of a bar


def series_look(i: int) -> SeriesLook:
    """Return how the i-th series looks: of 36 no two lines, of 12 no two bars are alike in black and white."""
    n = len(PALETTE)
    return SeriesLook(PALETTE[i % n], _DASHES[i % n], _MARKERS[(i + i // n) % n], _HATCHES[i % len(_HATCHES)])


def axes_of(ax: Any, *, width: float = 4.2, height: float = 3.0) -> Any:
    """Return the axes that were given, or those of a new figure, its size in inches.

    Where somebody looks at figures of pyplot (a notebook, or a program that imported it), the figure is one of them: it
    is shown, and closed once shown, as those of pandas are. Elsewhere, and in `hide_figures`, only its axes know it.
    """
    if ax is not None:
        return ax
    if not _HIDES_FIGURES.get() and _is_looked_at():
        import matplotlib.pyplot as plt

        figure: Any = plt.figure(figsize=(width, height), layout="constrained")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.tick_params(labelsize=_FONT_SIZE - 1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(_FONT_SIZE)
        axis.get_offset_text().set_fontsize(_FONT_SIZE - 1)
    return axes


@contextmanager
def hide_figures(say: Callable[[str], str] = str) -> Iterator[None]:
    """Make figures that are not shown, as for a report or a file; ``say`` translates labels."""
    token, spoken = _HIDES_FIGURES.set(True), _TRANSLATE.set(say)
    try:
        yield
    finally:
        _TRANSLATE.reset(spoken)
        _HIDES_FIGURES.reset(token)


def _is_looked_at() -> bool:
    # What the program imported says how it works, and nothing is imported to find out.
    if "matplotlib.pyplot" in sys.modules:
        return True
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None


def text_size(axes: Any) -> float:
    """Return the size of small texts in points: a little less than that of the axes' labels."""
    return 0.9 * float(axes.xaxis.label.get_size())


def label_axes(
    axes: Any, *, title: str = "", xlabel: str, ylabel: str, grid: Literal["x", "y", "both", ""] = "both"
) -> None:
    """Write the title as it is and the labels in the language asked for, and draw a grid behind the data."""
    axes.xaxis.set_label_text(shorten_text(_TRANSLATE.get()(xlabel), _MAX_LABEL_LENGTH), parse_math=False)
    # A figure is less high than wide.
    upright = textwrap.wrap(to_one_line(_TRANSLATE.get()(ylabel)), _MAX_UPRIGHT_LENGTH, max_lines=2, placeholder="…")
    axes.yaxis.set_label_text("\n".join(upright), parse_math=False)
    axes.set_axisbelow(True)
    axes.grid(False)
    if grid:
        axes.grid(True, axis=grid, color=FAINT, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        _write_title(axes, title)


def _write_title(axes: Any, title: str) -> None:
    from matplotlib.transforms import blended_transform_factory

    wrapped = "\n".join(textwrap.wrap(to_one_line(title), _TITLE_WIDTH, max_lines=_MAX_TITLE_LINES, placeholder="…"))
    # Above a legend, where there is one: it was drawn first, and takes as many lines as it has rows.
    legend = axes.get_legend()
    rows = 0 if legend is None else _n_lines([each.get_text() for each in legend.get_texts()], legend._ncols)
    size = float(axes.xaxis.label.get_size()) * 1.1
    text = axes.set_title(wrapped, fontsize=size, loc="left", pad=8 + 1.45 * text_size(axes) * rows, parse_math=False)
    subplot = axes.get_subplotspec()
    if subplot is not None and subplot.get_geometry()[:2] == (1, 1):
        # Axes alone have the whole width of their figure for the title.
        text.set_transform(
            blended_transform_factory(axes.figure.transSubfigure, axes.transAxes + axes.titleOffsetTrans)
        )
        text.set_x(0.01)


def _n_lines(texts: Sequence[str], n_columns: int) -> int:
    """Return how many lines a legend takes, which fills column by column."""
    n_rows = -(-len(texts) // n_columns)
    lines = [text.count("\n") + 1 for text in texts]
    return max(sum(lines[at : at + n_rows]) for at in range(0, len(lines), n_rows))


def add_legend(axes: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Name series in rows above the axes, where no data are; before the title is written.

    Names are texts of data: none starts mathematics, and none is left out because of its first character.
    """
    if not handles:
        return
    short_names = [shorten_text(name, _MAX_SERIES_LENGTH) for name in names]
    # A longer one has rows of its own.
    lines = ["\n".join(textwrap.wrap(name, _LEGEND_WIDTH)) for name in short_names]
    n_columns = max(1, min(len(lines), _LEGEND_WIDTH // (max(map(len, lines)) + _HANDLE_WIDTH)))
    legend = axes.legend(
        handles,
        [str(i) for i in range(len(lines))],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=n_columns,
        frameon=False,
        fontsize=text_size(axes),
        borderaxespad=0.2,
        borderpad=0.2,
        columnspacing=1.2,
        handlelength=2.6,
        labelspacing=0.4,
    )
    for text, name in zip(legend.get_texts(), lines, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def legend_patch(of: SeriesLook) -> Any:
    """Return a legend's patch for bars of a look."""
    from matplotlib.patches import Patch

    return Patch(facecolor=of.color, edgecolor=INK, hatch=of.hatch, linewidth=EDGE_WIDTH)


def line_look(of: SeriesLook) -> dict[str, Any]:
    """Return the look of a line, as matplotlib's arguments."""
    return {
        "color": of.color,
        "linestyle": of.dashes,
        "marker": of.marker,
        "markersize": 4.0,
        "linewidth": 1.6,
        "markeredgewidth": 0.0,
    }


def to_one_line(text: str) -> str:
    """Return a text on one line, without characters that cannot be drawn or written to a file."""
    return " ".join("".join(each if each.isprintable() else " " for each in str(text)).split())


def shorten_text(text: str, longest: int = _MAX_NAME_LENGTH) -> str:
    """Return a text on one line, its end cut where it is longer."""
    line = to_one_line(text)
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def name_ticks(axes: Any, which: Literal["x", "y"], names: Iterable[str], *, rotation: float | None = None) -> None:
    """Write names at 0, 1, 2, ...: slanted where they do not fit side by side, and not all where they are many."""
    labels = [shorten_text(name) for name in names]
    if which == "y":
        axes.set_yticks(range(len(labels)), labels, parse_math=False)
        return
    step = -(-len(labels) // _MAX_TICKS) or 1
    positions = range(0, len(labels), step)
    if rotation is None:
        fits = sum(len(labels[at]) + 1 for at in positions) <= _TICKS_WIDTH
        rotation = 0.0 if fits else 45.0 if len(positions) <= _MAX_SLANTED_TICKS else 90.0
        # They must leave most of the height to the data.
        labels = labels if fits else [shorten_text(name, _MAX_SLANTED_LENGTH) for name in labels]
    how = {"rotation": rotation, "ha": "right" if rotation == 45 else "center", "rotation_mode": "anchor"}
    if rotation == 90:
        how |= {"ha": "right", "va": "center"}
    elif rotation == 0:
        how = {}
    axes.set_xticks(positions, [labels[at] for at in positions], parse_math=False, **how)


def format_percent_axis(axis: Any) -> None:
    """Write the shares of an axis as per cent."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:.6g} %")


def format_number_axis(axis: Any, *, whole: bool = True) -> None:
    """Write the numbers of an axis in full, their thousands separated; only whole ones, where they are counts."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if whole:
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def name_log_ticks(axis: Any, lowest: float, highest: float) -> None:
    """Name 1, 2, 5, 10, ... on a logarithmic axis or, where those are too many, the powers of ten."""
    from matplotlib.ticker import NullLocator

    ticks = [step * 10**power for power in range(20) for step in (1, 2, 5)]
    ticks = [place for place in ticks if lowest <= place <= highest] or [round(lowest)]
    if len(ticks) > _MAX_LOG_TICKS:
        ticks = [place for place in ticks if str(place).rstrip("0") == "1"]
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(ticks, [f"{place:,}" for place in ticks])


def format_number(value: float) -> str:
    """Write a number as short as it can be read: whole ones in full, others in three digits."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:,.3g}"


def format_correlation(value: float) -> str:
    """Write a correlation in two decimals; none is -0.00."""
    return f"{round(float(value), 2) + 0.0:.2f}"


def to_floats(values: Any) -> FloatArray:
    """Return values as floats; what is None or not finite is NaN: not shown."""
    floats = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.where(np.isfinite(floats), floats, np.nan)


def readable_on(color: Sequence[float]) -> str:
    """Return black or white, whichever has more contrast (WCAG 2.1) to a colour (red, green, blue, in [0, 1])."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else INK


def as_svg(axes: Any) -> str:
    """Return the figure of some axes as SVG, undated, with its texts as texts: who shows it has fonts for them."""
    import matplotlib as mpl

    page = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        axes.figure.savefig(page, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return page.getvalue()
