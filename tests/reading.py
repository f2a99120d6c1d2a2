"""What a published cell says of a person, read slowly from the grammar alone.

Written from the documentation by someone who has not read ``hushtable.columns.cells`` or the verifier, so
that it can find faults in them. Values are plain Python: int, float, str, bool, date, datetime, None.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import string
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Labels = Mapping[str, Collection[str | None]]
MEASURED = ("integer", "decimal", "date", "datetime")


def is_missing(value: Any) -> bool:
    """Tell whether a value is the missing one: nothing, no number, or blank text."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or value != value


def text_of(value: Any) -> str | None:
    """Return the canonical text of a value, None for the missing one."""
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number_text(value)
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return moment.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _number_text(value: float) -> str:
    if math.isinf(value):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def measure(text: str, kind: str) -> Any:
    """Return the number, date or moment that a text stands for; None where it stands for none."""
    try:
        if kind == "integer" and "." not in text:
            return Fraction(int(text))
        if kind in ("integer", "decimal"):
            # As it is written: floats that differ by less than they can tell apart make an interval empty.
            return Fraction(text.strip()) if math.isfinite(float(text)) else None
        moment = dt.datetime.fromisoformat(text.strip()) if kind in ("date", "datetime") else None
    except (ValueError, OverflowError):
        return None
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def holds(cell: Any, value: Any, kind: str, labels: Labels | None = None, order: Sequence[str] = ()) -> bool:
    """Tell whether a published cell is true of a value.

    ``labels`` says which canonical texts (None: the missing value) are under each label of the column's hierarchy;
    ``order`` are the values of an ordered column, from low to high.
    """
    cell, text = text_of(cell), text_of(value)
    if cell is None:
        return text is None
    if cell == "*":
        return True
    if labels and cell in labels:
        return text in labels[cell] or _is_number_among(text, labels[cell], kind)
    members = json_list(cell)
    if members is not None:
        return any(_is_member(member, text, kind, labels, order) for member in members)
    within = _interval(cell, text, kind, order) if kind != "category" else _among_codes(cell, text)
    if within is not None:
        return within
    return not is_another_form(cell) and text is not None and same_value(cell, text, kind)


def same_value(one: str, other: str, kind: str) -> bool:
    """Tell whether two texts are one value of a kind."""
    if kind in MEASURED:
        return measure(one, kind) is not None and measure(one, kind) == measure(other, kind)
    return one == other


def json_list(cell: str) -> list[str | None] | None:
    """Return the members of a cell that is a JSON list of texts and nulls; an empty place is a null too."""
    if not cell.startswith("["):
        return None
    try:
        members = json.loads(cell)
    except ValueError:
        return None
    is_list = isinstance(members, list) and members and all(one is None or isinstance(one, str) for one in members)
    return [one or None for one in members] if is_list else None


def is_another_form(cell: str) -> bool:
    """Tell whether a text reads as something else than itself, whatever the column."""
    is_interval = any(_ends(cell, kind, ()) is not None for kind in MEASURED) or _code_ends(cell) is not None
    return is_interval or json_list(cell) is not None or cell == "*"


def _code_ends(cell: str) -> tuple[str, str] | None:
    """Return the two codes, or begins of codes, of a range: plain letters, digits and marks, a digit or a star."""
    parts = cell[1:-1].split(", ") if cell[:1] + cell[-1:] == "[]" else []
    plain = string.ascii_letters + string.digits
    for part in parts:
        body = part.removesuffix("*")
        is_code = body[:1] in plain and set(body) <= set(f"{plain}./ -") if body else False
        if not is_code or not (part.endswith("*") or any(sign in string.digits for sign in body)):
            return None
    return (parts[0], parts[1]) if len(parts) == 2 else None


def _among_codes(cell: str, text: str | None) -> bool | None:
    """Tell whether a code begins as a cell says, or lies in its range; None where the cell says neither."""
    ends = _code_ends(cell)
    if ends is None and cell.endswith("*") and cell != text:
        ends = cell, cell
    if ends is None:
        return None
    low, high = (end.removesuffix("*") for end in ends)
    return text is not None and low <= text and (text <= high or text.startswith(high))


def _is_number_among(text: str | None, leaves: Collection[str | None], kind: str) -> bool:
    """Tell whether a number of a file, as it stands there, is one of some numbers: 25.0 is 25."""
    number = None if text is None or kind not in ("integer", "decimal") else measure(text, kind)
    return number is not None and any(leaf is not None and measure(leaf, kind) == number for leaf in leaves)


def _is_member(member: str | None, text: str | None, kind: str, labels: Labels | None, order: Sequence[str]) -> bool:
    if member is None or text is None:
        return member is None and text is None
    if labels and member in labels and (text in labels[member] or _is_number_among(text, labels[member], kind)):
        return True
    if kind in MEASURED:
        return same_value(member, text, kind) or bool(_interval(member, text, kind, order))
    return member == text


def _interval(cell: str, text: str | None, kind: str, order: Sequence[str]) -> bool | None:
    """Tell whether a value lies in an interval; None where the cell is no interval of this kind."""
    ends = _ends(cell, kind, order)
    if ends is None:
        return None
    low, high, is_closed = ends
    if text is None:
        return False
    at = _place(text, kind, order)
    if at is None or (low is not None and at < low):
        return False
    return high is None or at < high or (is_closed and at == high)


def _ends(cell: str, kind: str, order: Sequence[str]) -> tuple[Any, Any, bool] | None:
    if cell.startswith(">="):
        low = _place(cell[2:], kind, order)
        return None if low is None else (low, None, False)
    if cell.startswith("<"):
        high = _place(cell[1:], kind, order)
        return None if high is None else (None, high, False)
    if cell[:1] != "[" or cell[-1:] not in (")", "]"):
        return None
    # A declared value may hold a comma, so every comma may be the one between the ends.
    inner = cell[1:-1]
    for i in range(len(inner)):
        if inner.startswith(", ", i):
            low, high = _place(inner[:i], kind, order), _place(inner[i + 2 :], kind, order)
            if low is not None and high is not None:
                return low, high, cell[-1] == "]"
    return None


def _place(text: str, kind: str, order: Sequence[str]) -> Any:
    if kind == "ordered":
        return order.index(text) if text in order else None
    if kind in ("date", "datetime") and len(text) in (len("1958"), len("1958-04")):
        # A year and a month begin with their first day.
        text = (text + "-01-01")[: len("1958-04-01")]
    return measure(text, kind) if kind in MEASURED else None
