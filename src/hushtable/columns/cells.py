"""The grammar of published cells: how a generalized cell is written and read back.

==================  =====================================================
cell                meaning
==================  =====================================================
``34``              one value, in its canonical text
``[17, 25)``        at least 17 and below 25 (the cell of a cut)
``[17, 24]``        from 17 to 24, both of them present (a tight interval)
``[1958, 1969)``    of dates: from the first day of 1958 to the last of 1968; of months ``[1958-04, 1959-01)``, of
                    quarters ``[1958-Q2, 1958-Q4]``, both of them present
``[08:00, 12:00)``  of times of a day: from 08:00 to before 12:00
``<20``, ``>=90``   below 20; 90 or above
``[20*, 45*]``      codes in their order: from those that begin with 20 to those that begin with 45
``[I10, I15]``      codes again, up to all that begin with I15: every end stands for what begins with it
``["a", "b"]``      one of these values, a JSON list; ``""``, an empty place, is missing (``null`` too)
``*``               any value, the missing one included
``High School``     a label of a hierarchy: any other text, or one of the forms above
==================  =====================================================

Cells are read by this grammar only (`parse_cell`), never by splitting at dashes or commas. A value that looks like
one of the other forms is written as a list of one. Whether a text is a label or a value, and what a label holds,
only the
hierarchy says: one of the forms above holds no other values than it reads as, no label is a value of another branch,
and none is blank. A set of labels that are lists is one list of their members. Where a file has decimal commas, a comma
between two digits is a point (`with_point`). Words in cells are English unless a policy says otherwise (`ENGLISH`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from hushtable.errors import InputError, quote_names


class CellWords(NamedTuple):
    """Templates of names for groups of values."""

    one_more: str
    more: str
    others: str
    numbered: str
    other: str

    def name_group(self, text: str, n_values: int) -> str:
        """Name a group of at least two values by one of them."""
        return self.one_more.format(text) if n_values == 2 else self.more.format(text, n_values - 1)

    def name_other_group(self, number: int | None, n_values: int) -> str:
        """Name a group whose values must not be named; with a letter if there are several such groups."""
        if number is None:
            return self.others.format(n_values)
        letters = ""
        while number >= 0:
            letters, number = chr(ord("A") + number % 26) + letters, number // 26 - 1
        return self.numbered.format(letters, n_values)


ENGLISH: Final = "en"
_WORDS: Final[Mapping[str, CellWords]] = MappingProxyType(
    {
        "en": CellWords("{} and 1 more", "{} and {} more", "other ({} values)", "other {} ({} values)", "other"),
        "de": CellWords(
            "{} und 1 weiterer", "{} und {} weitere", "andere ({} Werte)", "andere {} ({} Werte)", "andere"
        ),
        "fr": CellWords("{} et 1 autre", "{} et {} autres", "autres ({} valeurs)", "autres {} ({} valeurs)", "autre"),
        "es": CellWords("{} y 1 más", "{} y {} más", "otros ({} valores)", "otros {} ({} valores)", "otro"),
        "it": CellWords("{} e 1 altro", "{} e altri {}", "altri ({} valori)", "altri {} ({} valori)", "altro"),
        "nl": CellWords(
            "{} en 1 andere", "{} en {} andere", "overige ({} waarden)", "overige {} ({} waarden)", "overig"
        ),
    }
)
LANGUAGES: Final = tuple(_WORDS)


def check_language(language: object) -> None:
    """Raise InputError if a language has no words here."""
    if language not in LANGUAGES:
        raise InputError(f"language = {language!r}.", hint=f"cells are written in one of: {quote_names(LANGUAGES)}.")


def words_of(language: str) -> CellWords:
    """Return the words of a language."""
    return _WORDS[language]


SUPPRESSED: Final = "*"

_POINT: Final = re.compile(r"(?<=[0-9])\.(?=[0-9])")
_COMMA: Final = re.compile(r"(?<=[0-9]),(?=[0-9])")
_PART_OF_DATE: Final = re.compile(r"[0-9]{4}(-[0-9]{2})?", re.ASCII)
_QUARTER: Final = re.compile(r"([0-9]{4})-Q([1-4])", re.ASCII)
_BOUND: Final = r"-?[0-9][0-9:. \-]*"
# A code has a digit, or ends with a star: `[red, green]` is a value.
_CODE: Final = r"(?=[^,\]]*[0-9*])[0-9A-Za-z][0-9A-Za-z./ \-]*\*?"
_INTERVAL: Final = re.compile(
    rf"\[(?P<low>{_BOUND}), (?P<high>{_BOUND})[\])]|<(?P<below>{_BOUND})|>=(?P<start>{_BOUND})"
    rf"|\[(?P<first>{_CODE}), (?P<last>{_CODE})\]",
    re.ASCII,
)


class Ends(NamedTuple):
    """The ends of an interval; None on an open side."""

    low: str | None
    high: str | None
    is_closed: bool
    """Whether ``high`` belongs to it."""


class Cell(NamedTuple):
    """The meaning of a published cell by the grammar alone; only a hierarchy knows whether it is a label."""

    # ``"any"`` is ``*``. ``"list"`` is a JSON list of something else than texts and nulls: no cell that is ever
    # written, and no value either.
    form: Literal["value", "interval", "set", "any", "list"]
    ends: Ends | None = None  # of an interval
    members: tuple[str | None, ...] = ()  # of a set; None is the missing value


def parse_cell(text: str) -> Cell:
    """Parse a published cell that is not missing."""
    if not text.startswith(("[", "<", ">")):
        return Cell("any" if text == SUPPRESSED else "value")
    parts = _INTERVAL.fullmatch(text)
    if parts is not None:
        low, high = (parts["low"] or parts["start"], parts["high"] or parts["below"])
        return Cell("interval", Ends(low or parts["first"], high or parts["last"], text[-1] == "]"))
    listed = _parse_list(text)
    if listed is None:
        return Cell("value")
    is_set = all(each is None or isinstance(each, str) for each in listed)
    return Cell("set", members=tuple(each or None for each in listed)) if is_set else Cell("list")


def format_value(text: str) -> str:
    """Format one value; if it looks like another form, as a list of one."""
    return text if parse_cell(text).form == "value" else format_set([text])


def format_half_open(low: str, high: str) -> str:
    """Format the interval from ``low`` up to, but without, ``high``."""
    return f"[{low}, {high})"


def format_interval(low: str, high: str) -> str:
    """Format the interval from ``low`` to ``high``, both included."""
    return f"[{low}, {high}]"


def format_below(high: str) -> str:
    """Format the interval below ``high``."""
    return f"<{high}"


def format_at_least(low: str) -> str:
    """Format the interval from ``low`` on."""
    return f">={low}"


def format_set(texts: Iterable[str | None], *, between: Literal[", ", ","] = ", ") -> str:
    """Format a set of values; None stands for the missing value."""
    return json.dumps([text or "" for text in texts], ensure_ascii=False, separators=(between, ":"))


def bound_names(name: str) -> tuple[str, str]:
    """Return the names of the columns that hold the bounds of a column's cells."""
    return f"{name}_from", f"{name}_to"


def with_comma(text: str) -> str:
    """Return a cell of numbers with decimal commas."""
    return _POINT.sub(",", text)


def with_point(text: str) -> str:
    """Return a cell of numbers with decimal points: undo `with_comma`."""
    return _COMMA.sub(".", text)


def without_first_days(days: Sequence[str]) -> list[str]:
    """Shorten the ends of an interval of dates to years or months, if all are first days of these."""
    for first in ("-01-01", "-01"):
        if all(day.endswith(first) and _PART_OF_DATE.fullmatch(day.removesuffix(first)) for day in days):
            return [day.removesuffix(first) for day in days]
    return list(days)


def with_first_days(bounds: Iterable[str]) -> list[str]:
    """Expand ends of intervals of dates: years, quarters and months become their first day."""
    bounds = (_QUARTER.sub(lambda quarter: f"{quarter[1]}-{3 * int(quarter[2]) - 2:02}", bound) for bound in bounds)
    parts = [(bound, _PART_OF_DATE.fullmatch(bound)) for bound in bounds]
    return [bound if part is None else f"{bound}-01" if part[1] else f"{bound}-01-01" for bound, part in parts]


def _parse_list(text: str) -> list[Any] | None:
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        parsed: list[Any] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed
