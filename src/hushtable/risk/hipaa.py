"""The rules of HIPAA's Safe Harbor, column by column: what a column looks like against what may stay.

A check of rules by names and cells, no legal opinion: it cannot know what a column means that looks like nothing,
or what somebody knows besides.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hushtable.columns import SUPPRESSED, parse_cell
from hushtable.discover import ColumnCells, build_lexicon, cells_of, find_topic, look_of
from hushtable.errors import ColumnError
from hushtable.io import frames
from hushtable.tables import Table, open_table

_MAX_AGE_YEARS: Final = 89
_YEAR_PATTERN: Final = re.compile(r"[\W_]*(1[89]|20)\d\d([\W_]+(1[89]|20)\d\d)?[\W_]*")
_MAX_POSTCODE_DIGITS: Final = 3
_SPARSE_POSTCODE_PATTERN: Final = re.compile(
    r"036|059|063|102|202|203|204|205|369|556|692|753|772|790|821|823|830|831|878|879|884|890|893"
)
"""Three digits of a ZIP code that hold 20,000 people or fewer: the 17 of the census of 2000 that the guidance of the US
Department of Health and Human Services lists (26 November 2012, section 3.3), and those of the census of 2010."""
_OVER_89_PATTERN: Final = re.compile(
    r"(>=|≥) ?90|> ?89|90 ?\+|\[90, ?(∞|inf)?\)|90 (and|or) (over|older|above|more)", re.I
)

RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("person name", "name"), "A: names"),
        **dict.fromkeys(("street", "place", "coordinate"), "B: places smaller than a state"),
        "postcode": "B: postcodes of more than three digits, or of 20,000 people or fewer",
        **dict.fromkeys(("birth", "date", "time"), "C: dates finer than the year, or of people over 89"),
        "age": "C: ages over 89",
        "contact": "D, E, F: telephone and fax numbers, e-mail addresses",
        "number of a person": "G, H, I, K: social security, record, plan, certificate and licence numbers",
        "account": "J: account numbers",
        "plate": "L: vehicle identifiers and plates",
        "network": "M, O: device identifiers, addresses in a network",
        "web address": "N: web addresses",
        "biometric": "P, Q: biometric identifiers, pictures of faces",
        **dict.fromkeys(("key", "person"), "R: any other unique number, characteristic or code"),
    }
)
"""What may not stay, by the topic of a column: the letters of 45 CFR 164.514(b)(2)(i)."""

_UNREADABLE_RULE: Final = "its cells cannot be read, so that no rule can be checked"


@dataclass(frozen=True, slots=True)
class SafeHarborFinding:
    """A column, and the rule of the Safe Harbor that it looks to break."""

    column: str
    rule: str


def safe_harbor(data: Any, *, today: dt.date | None = None) -> tuple[SafeHarborFinding, ...]:
    """Return which columns look to break which rule (45 CFR 164.514(b)(2)(i)), in their order; never a value of them.

    A postcode may keep three digits, unless they are of 20,000 people or fewer; a date its year, unless the year lies
    so far back that who was born then, or met with anything then, is over 89; an age up to 89 or "90+". A place may be
    a state, which the check cannot tell. What a column is about is found as `hushtable.find_quasi_identifiers` finds
    it.
    """
    source = open_table(data)
    names = source.names
    year = (today or dt.datetime.now().astimezone().date()).year
    rules = ((name, _find_broken_rule(source, name, year)) for name in names)
    return tuple(SafeHarborFinding(name, rule) for name, rule in rules if rule)


def _find_broken_rule(source: Table | frames.Frame, name: str, year: int) -> str:
    """Return the rule that a column looks to break; "" for none."""
    try:
        table = Table.encode(source, [name]).without_unused()
    except ColumnError:
        return _UNREADABLE_RULE
    (column,), (codes,) = table.columns, table.codes
    counts = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1).astype(np.int64)
    if not counts[1:].any():
        return ""
    cells = cells_of(column, counts[1:], int(counts[0]))
    topic, look = find_topic(cells, build_lexicon()).topic, look_of(cells)
    # What cells surely look like counts here, whatever the name says.
    about = [topic.name if topic else "", look.topic if look and look.is_sure else ""]
    broken = [
        name for name in about if name in RULES and not (name in _CHECK_BY_TOPIC and _CHECK_BY_TOPIC[name](cells, year))
    ]
    return RULES[broken[0]] if broken else ""


def _distinct_texts(cells: ColumnCells) -> list[str]:
    """Return the distinct cells, suppressed ones left out."""
    return [text for text in map(str.strip, cells.column.texts()) if text != SUPPRESSED]


def _is_short(cells: ColumnCells, year: int) -> bool:
    ends = [
        each for text in _distinct_texts(cells) for each in (parse_cell(text).ends or (text,)) if isinstance(each, str)
    ]
    kept = ["".join(filter(str.isalnum, text)) for text in ends]
    if cells.column.is_measured:
        # A number has lost its leading zeros.
        kept = [text.zfill(_MAX_POSTCODE_DIGITS) for text in kept]
    return all(len(text) <= _MAX_POSTCODE_DIGITS and not _SPARSE_POSTCODE_PATTERN.fullmatch(text) for text in kept)


def _are_years(cells: ColumnCells) -> bool:
    if len(cells.moments):
        return bool((cells.moments == cells.moments.astype("datetime64[Y]")).all())
    return all(map(_YEAR_PATTERN.fullmatch, _distinct_texts(cells)))


def _are_years_of_living(cells: ColumnCells, year: int) -> bool:
    """Tell whether dates are bare years, and span at most 89 years up to now: none shows an age over 89."""
    years = [int(each) for text in _distinct_texts(cells) for each in re.findall(r"\d{4}", text)]
    years.append(year)
    return _are_years(cells) and max(years) - min(years) <= _MAX_AGE_YEARS


def _are_ages_to_89(cells: ColumnCells, year: int) -> bool:
    return all(
        _OVER_89_PATTERN.fullmatch(text) or _highest_age(text) <= _MAX_AGE_YEARS for text in _distinct_texts(cells)
    )


def _highest_age(text: str) -> float:
    """Return the highest age in a cell; infinite where there is none."""
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    if not numbers:
        return float("inf")
    # The end of a half-open interval is no age in it.
    return max(numbers) - (text.startswith("[") and text.endswith(")"))


_CHECK_BY_TOPIC: Final[Mapping[str, Callable[[ColumnCells, int], bool]]] = {
    "postcode": _is_short,
    "birth": _are_years_of_living,
    "date": _are_years_of_living,
    "time": _are_years_of_living,
    "age": _are_ages_to_89,
}
