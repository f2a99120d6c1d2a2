"""Escape texts of others, so that no part of them acts on a terminal, in JSON or on a page."""

from __future__ import annotations

import html
import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any


def escape_controls(text: str, keep: str = "") -> str:
    r"""Escape control characters, and those that change the reading order, so that every character is visible."""
    if text.isprintable():
        return text
    return "".join(sign if sign in keep or _is_seen(sign) else ascii(sign)[1:-1] for sign in text)


def escape_json_controls(text: str) -> str:
    """Escape invisible characters in JSON; the values stay the same."""
    return "".join(sign if sign == "\n" or _is_seen(sign) else json.dumps(sign)[1:-1] for sign in text)


def to_json_values(entry: Any, *, tells_infinity: bool = True) -> Any:
    """Convert plain values for JSON, which has no NaN (None here) and no infinity ("inf", or None)."""
    if isinstance(entry, Mapping):
        return {name: to_json_values(each, tells_infinity=tells_infinity) for name, each in entry.items()}
    if isinstance(entry, (list, tuple)):
        return [to_json_values(each, tells_infinity=tells_infinity) for each in entry]
    if not isinstance(entry, float) or math.isfinite(entry):
        return entry
    return str(entry) if tells_infinity and not math.isnan(entry) else None


def escape_html(text: str) -> str:
    """Escape a text for HTML."""
    return html.escape(escape_controls(text, keep="\n"))


def _is_seen(sign: str) -> bool:
    # Spaces of all widths are harmless.
    return sign.isprintable() or unicodedata.category(sign) == "Zs"
