"""The grammar of published cells: what a generalized cell looks like, and how it is read back.

===============  =====================================================
cell             meaning
===============  =====================================================
``34``           one value, in its canonical text
``[17, 25)``     at least 17 and below 25 (the cell of a cut)
``[17, 24]``     from 17 to 24, both of them present (a tight interval)
``<20``          below 20
``>=90``         90 or above
``["a", "b"]``   one of these values, a JSON list; ``null`` is missing
``*``            any value, the missing one included
``High School``  a label of a hierarchy: any other text, or one of the forms above
===============  =====================================================

Cells are read by this grammar only, never by splitting at dashes or commas.
A value that itself looks like one of the other forms is written as a list of one.
A hierarchy's label is written as it is: whether a text is a label or a value, and what a
label holds, only the hierarchy says; one of the forms above holds no other values than it reads as,
and no label is a value of another branch. It is never blank, for a blank cell is a missing value.
A set of labels that are lists is one list of their members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

__all__ = [
    "SUPPRESSED",
    "Ends",
    "at_least",
    "below",
    "between",
    "ends",
    "from_to",
    "is_value",
    "members",
    "one_of",
    "value",
]

SUPPRESSED: Final = "*"

_BOUND: Final = r"-?[0-9][0-9:. \-]*"
_INTERVAL: Final = re.compile(
    rf"\[(?P<low>{_BOUND}), (?P<high>{_BOUND})(?P<end>[\])])|<(?P<below>{_BOUND})|>=(?P<start>{_BOUND})", re.ASCII
)


class Ends(NamedTuple):
    """Where an interval begins and ends; None where it is open."""

    low: str | None
    high: str | None
    is_closed: bool
    """Whether ``high`` belongs to it."""


def ends(text: str) -> Ends | None:
    """Read an interval; None where the text is none.

    Examples
    --------
    >>> ends("[17, 25)"), ends(">=90")
    (Ends(low='17', high='25', is_closed=False), Ends(low='90', high=None, is_closed=False))
    """
    parsed = _INTERVAL.fullmatch(text)
    if parsed is None:
        return None
    return Ends(parsed["low"] or parsed["start"], parsed["high"] or parsed["below"], parsed["end"] == "]")


def members(text: str) -> list[str | None] | None:
    """Read a set of texts; None where the text is none.

    Examples
    --------
    >>> members('["a", null]'), members("[17, 24]")
    (['a', None], None)
    """
    parsed = _list(text)
    return parsed if parsed is not None and all(each is None or isinstance(each, str) for each in parsed) else None


def is_value(text: str) -> bool:
    """Tell whether a text reads as one value, not as an interval, a set or ``*``.

    Examples
    --------
    >>> [is_value(text) for text in ("34", "[17, 25)", '["a", "b"]', "*", "[sic]")]
    [True, False, False, False, True]
    """
    return text != SUPPRESSED and not _INTERVAL.fullmatch(text) and _list(text) is None


def value(text: str) -> str:
    """Write one value; one that looks like another form becomes a list of one."""
    return text if is_value(text) else one_of([text])


def between(low: str, high: str) -> str:
    """Write the values from ``low`` up to but without ``high``."""
    return f"[{low}, {high})"


def from_to(low: str, high: str) -> str:
    """Write the values from ``low`` to ``high``, both included."""
    return f"[{low}, {high}]"


def below(high: str) -> str:
    """Write the values below ``high``."""
    return f"<{high}"


def at_least(low: str) -> str:
    """Write the values from ``low`` on."""
    return f">={low}"


def one_of(texts: Iterable[str | None]) -> str:
    """Write a set of values; None stands for the missing value."""
    return json.dumps(list(texts), ensure_ascii=False)


def _list(text: str) -> list[Any] | None:
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        parsed: list[Any] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed
