"""Variants of what was drawn: on a dark ground, and in greys for print."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

_DARK_LIGHTNESS: Final = 0.11  # lightness of a dark page
_MAX_LIGHTNESS: Final = 0.93  # of what is written on it
_COLOUR_PROPERTIES: Final = ("facecolor", "edgecolor", "color", "markerfacecolor", "markeredgecolor")

Rgba = tuple[float, float, float, float]


def to_dark(axes: Any) -> Any:
    """Turn what was drawn into a picture for a dark page; return the axes.

    Light becomes dark and dark light, hues stay: series are told apart as before, by hatch, dashes or marker too.
    """
    return _recolour(axes, _invert_lightness)


def to_greys(axes: Any) -> Any:
    """Turn what was drawn into greys, as a printer without colours would; return the axes."""
    return _recolour(axes, _to_grey)


def _recolour(axes: Any, change: Callable[[Rgba], Rgba]) -> Any:
    from matplotlib.collections import Collection
    from matplotlib.colors import to_rgba_array
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    # Figures and axes are drawn by patches of theirs, which are among the artists.
    kinds = (Patch, Line2D, Text, Collection)
    for artist in axes.figure.findobj(lambda each: isinstance(each, kinds)):
        colours_by_property = {}
        for name in _COLOUR_PROPERTIES:
            if not (hasattr(artist, f"get_{name}") and hasattr(artist, f"set_{name}")):
                continue
            # "none" and "auto" are no colours.
            with suppress(TypeError, ValueError):
                colours_by_property[name] = to_rgba_array(getattr(artist, f"get_{name}")())
        # Setting one property may change others that follow it: all are read before any is set.
        for name, colours in colours_by_property.items():
            if len(colours):
                changed = [change(tuple(each)) for each in colours.tolist()]
                getattr(artist, f"set_{name}")(changed if len(changed) > 1 else changed[0])
    # Ticks that are drawn later look like those that are there.
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_tick_params(colors=tuple(to_rgba_array(axis.label.get_color())[0]))
    return axes


def _invert_lightness(colour: Rgba) -> Rgba:
    hue, lightness, saturation = colorsys.rgb_to_hls(*colour[:3])
    turned = _DARK_LIGHTNESS + (_MAX_LIGHTNESS - _DARK_LIGHTNESS) * (1 - lightness)
    return (*colorsys.hls_to_rgb(hue, turned, saturation), colour[3])


def _to_grey(colour: Rgba) -> Rgba:
    red, green, blue, alpha = colour
    # As eyes weigh colours (ITU-R BT.601).
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    return (grey, grey, grey, alpha)
