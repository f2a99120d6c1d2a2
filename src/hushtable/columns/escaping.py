"""Texts that others wrote, shown so that nothing in them acts: on a terminal, in JSON, on a page."""

from __future__ import annotations

import html
import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text in which every sign can be seen: what steers a terminal or turns the reading order is escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign in keep or _is_seen(sign) else ascii(sign)[1:-1] for sign in text)


def escape_json_controls(text: str) -> str:
    """Return JSON with the same values, in which every sign can be seen."""
    return "".join(sign if sign == "\n" or _is_seen(sign) else json.dumps(sign)[1:-1] for sign in text)


def to_json_values(entry: Any, *, tells_infinity: bool = True) -> Any:
    """Return plain values as JSON has them, which has no word for NaN (None here) nor for infinity ("inf", or None)."""
    if isinstance(entry, Mapping):
        return {name: to_json_values(each, tells_infinity=tells_infinity) for name, each in entry.items()}
    if isinstance(entry, (list, tuple)):
        return [to_json_values(each, tells_infinity=tells_infinity) for each in entry]
    if not isinstance(entry, float) or math.isfinite(entry):
        return entry
    return str(entry) if tells_infinity and not math.isnan(entry) else None


def escape_html(text: str) -> str:
    """Return a text as HTML that is read as it is."""
    return html.escape(escape_controls(text, keep="\n"))


def _is_seen(sign: str) -> bool:
    # Spaces of all widths are harmless.
    return sign.isprintable() or unicodedata.category(sign) == "Zs"
