"""Rules: ladders that follow from the values of a column, complete whatever the values are.

A rule is a few numbers, so that policies can hold and compare it. Applied to a column, it gives a hierarchy.
A line of a dictionary's file: values with commas between them, a tab, and their labels from fine to coarse.
"""

from __future__ import annotations

import datetime as dt
import itertools
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from hushtable._types import CountArray, ValueArray
from hushtable.columns import ENGLISH, LANGUAGES, Column, cells, check_language, fold_text
from hushtable.errors import HierarchyError
from hushtable.hierarchy.grid import (
    UNITS,
    Dates as Dates,
    Exact,
    Intervals,
    Number,
    Times as Times,
    exact_numbers,
    first_day,
    format_exact,
    to_exact,
    unit_label,
    unit_of,
)
from hushtable.hierarchy.ladder import (
    Ladder,
    Level,
    NoLevels,
    Rule,
    as_tuple,
    empty_level,
    level_of_labels,
    unfit_kind_error,
)
from hushtable.models import entries

MIN_TAIL_RECORDS: Final = 5  # the default of `Tails.least`
_MAX_CELLS_BETWEEN_ENDS: Final = 100  # at most about so many intervals lie between the ends
_DAYS_PER_DECADE: Final = 3_652


@dataclass(frozen=True, slots=True)
class Tails:
    """Top and bottom coding, ``<low`` and ``>=high``; between them values, then round intervals of growing width.

    Parameters
    ----------
    low, high : number or ISO date, optional
        Values below ``low`` share one cell, and so do values from ``high`` on; at least one is given.
    least : int
        Records that each tail holds, if any: at least the k of the models. Fewer are an error, for ends
        that few lie beyond tell of those few. A rule knows no models, so that this is said here.

    Notes
    -----
    Level 1 codes the tails and keeps all other values. Above it, numbers are in intervals of 5, 10, 50 ... times
    a power of ten, from a 100th to a half of the distance between the ends, dates in months, quarters, years and
    decades (datetimes in days before); a cell across an end stops there. The last level before ``*`` has one cell
    between the ends.

    Shares are widths over the width of the domain, which is that between the ends (without an end as far as values
    reach), and for each end that is given one more of the widest intervals. How far out the values of a tail lie plays
    no part, in contrast to `Intervals`: one of them cannot make the loss of all others small.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> income, _ = from_texts("income", ["900", "1510", "1520", "2750", "84000"])
    >>> for level in Tails(high=3000).ladder(income).levels:
    ...     print(level.labels)
    ('900', '1510', '1520', '2750', '>=3000')
    ('[900, 950)', '[1500, 1550)', '[2750, 2800)', '>=3000')
    ('[900, 1000)', '[1500, 1600)', '[2700, 2800)', '>=3000')
    ('[500, 1000)', '[1500, 2000)', '[2500, 3000)', '>=3000')
    ('[0, 1000)', '[1000, 2000)', '[2000, 3000)', '>=3000')
    ('<3000', '>=3000')
    """

    low: Number | dt.date | None = None
    high: Number | dt.date | None = None
    least: int = MIN_TAIL_RECORDS
    name: ClassVar[str] = "tails"

    def __post_init__(self) -> None:
        for end in ("low", "high"):
            if isinstance(getattr(self, end), dt.date):
                # YAML reads a date without quotes as a date; a manifest has texts only.
                object.__setattr__(self, end, getattr(self, end).isoformat())
        ends = [_parse_end(end, given) for end, given in (("low", self.low), ("high", self.high)) if given is not None]
        if not ends:
            raise HierarchyError(
                "tails: neither low nor high is given.", hint="give the end that values lie beyond, or both."
            )
        if len({is_date for _, is_date in ends}) > 1:
            raise HierarchyError(
                f"tails: of low = {self.low!r} and high = {self.high!r} one is a number and one a date.",
                hint="give two numbers, or two dates as '2024-05-31'.",
            )
        if len(ends) == 2 and ends[0] >= ends[1]:
            raise HierarchyError(f"tails: low = {self.low} is not below high = {self.high}.", hint="swap them.")
        if not _is_count(self.least, 1):
            raise HierarchyError(
                f"tails: least = {self.least!r}.", hint="give a whole number from 1, at least the models' k."
            )

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the tails, with values and intervals between them; raise if a tail holds too few records."""
        low, high = self._parse_ends(column)
        if not column.n_values:
            return Ladder([empty_level(), empty_level()])
        positions = places_of(column)
        first = 0 if low is None else bisect_left(positions, low)
        after = column.n_values if high is None else bisect_left(positions, high)
        if counts is not None:
            self._check_tail(column.name, "low", int(counts[:first].sum()))
            self._check_tail(column.name, "high", int(counts[after:].sum()))
        centre = _Centre(column, positions, (low, high), (first, after))
        lowest = np.ones(column.n_values, dtype=np.int32)
        lowest[first:after] = 0
        return Ladder(
            [centre.value_level(), *centre.step_levels(), centre.single_cell_level()], centre.leaf_share, lowest
        )

    def titles(self, n_levels: int) -> list[str]:
        """Return ``ends coded``, ``steps`` and ``ends``."""
        return ["ends coded", *["steps"] * (n_levels - 2), "ends"]

    def _parse_ends(self, column: Column) -> tuple[Exact | None, Exact | None]:
        """Return both ends as numbers, or as days from 1970 on."""
        if not column.is_measured or column.kind == "time":
            hint = "`runs` makes levels of ordered categories, `frequency` of others"
            raise unfit_kind_error(self.name, column, "numbers and dates", hint)
        ends: list[Exact | None] = []
        for name, declared in (("low", self.low), ("high", self.high)):
            end, is_date = (None, is_calendar(column)) if declared is None else _parse_end(name, declared)
            if is_date != is_calendar(column):
                what, wanted = ("a date", "a number") if is_date else ("a number", "a date as '2024-05-31'")
                raise HierarchyError(
                    f"tails: {name} = {declared!r} is {what}, but column {column.name!r} is of the kind {column.kind}.",
                    hint=f"give {wanted}, or declare the kind of the column.",
                )
            ends.append(end)
        return ends[0], ends[1]

    def _check_tail(self, name: str, end: str, n_records: int) -> None:
        if 0 < n_records < self.least:
            where = f"below low = {self.low}" if end == "low" else f"at high = {self.high} or above"
            msg = f"tails: fewer than least = {self.least} records of column {name!r} lie {where}."
            way = "higher" if end == "low" else "lower"
            raise HierarchyError(msg, hint=f"give a {way} {end}, beyond which more of them lie.")


class _Centre:
    """Builds the levels between the ends, and adds the tails. Values are in order: every node is a run of them."""

    def __init__(
        self, column: Column, positions: ValueArray, ends: tuple[Exact | None, Exact | None], run: tuple[int, int]
    ) -> None:
        self.column, self.positions, self.ends = column, positions[slice(*run)], ends
        self.n_below, self.n_above = run[0], column.n_values - run[1]
        resolution = int(column.kind in ("integer", "date"))
        self.span = _distance_between_ends(positions, ends, resolution)
        self.widths = [] if is_calendar(column) else list_round_widths(self.span, resolution)
        widest = _DAYS_PER_DECADE if is_calendar(column) else self.widths[-1] if self.widths else self.span
        self.tail = min(self.span, widest)
        self.domain = self.span + self.tail * sum(end is not None for end in ends)
        self.leaf_share = self._share_of_width(resolution)

    def value_level(self) -> Level:
        """Return the level of the values."""
        n_values = len(self.positions)
        labels = [cells.format_value(self.column.text(self.n_below + i)) for i in range(n_values)]
        return self._add_tails(np.arange(n_values), labels, [self.leaf_share] * n_values)

    def step_levels(self) -> list[Level]:
        """Return the levels of round intervals or calendar units."""
        if is_calendar(self.column):
            days = self.positions.astype("datetime64[D]")
            # A day is a value already in a column of dates, and so is a month in one of months.
            units = list(UNITS)[list(UNITS).index(self.column.precision) + (self.column.kind == "date") :]
            return [
                self._cell_level(unit_of(days, unit), partial(first_day, unit=unit), partial(unit_label, unit=unit))
                for unit in units
            ]
        return [self._cell_level(self.positions // width, partial(np.multiply, width)) for width in self.widths]

    def single_cell_level(self) -> Level:
        """Return the level of one cell between the ends."""
        n_cells = min(1, len(self.positions))
        codes = np.zeros(len(self.positions), dtype=np.int64)
        return self._add_tails(
            codes, [self._format_cell(*self.ends)] * n_cells, [self._share_of_width(self.span)] * n_cells
        )

    def _cell_level(
        self, keys: ValueArray, begin_of: Callable[[Any], Any], name_of: Callable[[int], str] | None = None
    ) -> Level:
        """Return the level of the cells numbered by `keys`; a cell across an end stops there."""
        low, high = self.ends
        distinct, codes = np.unique(keys, return_inverse=True)
        labels, shares = [], []
        for key, begin, end in zip(distinct.tolist(), begin_of(distinct), begin_of(distinct + 1), strict=True):
            is_cut = (low is not None and begin < low) or (high is not None and end > high)
            begin, end = begin if low is None else max(begin, low), end if high is None else min(end, high)
            labels.append(self._format_cell(begin, end) if name_of is None or is_cut else name_of(key))
            # A cell cut by an end may be narrower than the one integer in it.
            shares.append(max(self.leaf_share, self._share_of_width(end - begin)))
        return self._add_tails(codes, labels, shares)

    def _add_tails(self, codes: ValueArray, labels: list[str], shares: list[float]) -> Level:
        low, high = self.ends
        below = [self._format_cell(None, low)] if self.n_below else []
        above = [self._format_cell(high, None)] if self.n_above else []
        first, last = np.zeros(self.n_below), np.full(self.n_above, len(below) + len(labels))
        tail = [self._share_of_width(self.tail)]
        return Level(
            np.concatenate([first, codes + len(below), last]).astype(np.int32),
            (*below, *labels, *above),
            np.array([*tail * len(below), *shares, *tail * len(above)]),
        )

    def _share_of_width(self, width: Exact) -> float:
        return float(Fraction(min(width, self.span)) / self.domain)

    def _format_cell(self, begin: Exact | None, end: Exact | None) -> str:
        """Format a cell; it is open on the side without an end."""
        if begin is not None and end is not None:
            return cells.format_half_open(self._format_end(begin), self._format_end(end))
        return (
            cells.format_at_least(self._format_end(begin))
            if begin is not None
            else cells.format_below(self._format_end(end))
        )

    def _format_end(self, place: Exact | None) -> str:
        assert place is not None
        return str(np.datetime64(int(place), "D")) if is_calendar(self.column) else format_exact(place)


def is_calendar(column: Column) -> bool:
    """Tell whether a column holds dates."""
    return column.kind in ("date", "datetime")


def places_of(column: Column) -> ValueArray:
    """Return the positions of a measured column's values: exact numbers, or whole days from 1970 on."""
    return column.values.astype("datetime64[D]").astype(np.int64) if is_calendar(column) else exact_numbers(column)


def _parse_end(name: str, end: Any) -> tuple[Exact, bool]:
    """Parse an end: a number, or a date in days from 1970 on; return also whether it is a date."""
    try:
        return to_exact(end), False
    except (ValueError, ArithmeticError):
        pass
    try:
        day = dt.date.fromisoformat(end)
    except (ValueError, TypeError):
        raise HierarchyError(f"tails: {name} = {end!r}.", hint="give a number, or a date as '2024-05-31'.") from None
    return int(np.datetime64(day, "D").astype(np.int64)), True


def _distance_between_ends(positions: ValueArray, ends: tuple[Exact | None, Exact | None], resolution: int) -> Exact:
    """Return the distance between the ends; a missing end is replaced by the outermost value."""
    low, high = ends
    begin = positions[0] if low is None else low
    end = positions[-1] + resolution if high is None else high
    # 1 if all values lie beyond the only end: nothing is between.
    return end - begin if end > begin else 1


def list_round_widths(span: Exact, resolution: int) -> list[Exact]:
    """Return the round widths from a 100th to a half of a span: 1, 5, 10, 50 ... times a power of ten."""
    share = Fraction(span)
    power = len(str(share.numerator)) - len(str(share.denominator)) - 3
    rounds = [digit * Fraction(10) ** (power + shift) for shift in range(4) for digit in (1, 5)]
    return [width for width in rounds if width > resolution and share / _MAX_CELLS_BETWEEN_ENDS <= width <= share / 2]


DICTIONARIES: Final = MappingProxyType(
    {"countries": ("region", "continent"), "education": ("level", "group of levels")},
)
"""The dictionaries, with the titles of their levels."""

OTHER: Final = "other"  # the English label of all values that a dictionary does not know


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The labels that a dictionary of this package gives to values: ``Western Europe``, then ``Europe``.

    Parameters
    ----------
    of : {"countries", "education"}
        Values that it does not know are under the label ``other``.
    language : {"en", "de", "fr", "es", "it", "nl"}
        Of the labels; values are known in all of its languages.

    Examples
    --------
    >>> from hushtable.columns import from_texts
    >>> column, _ = from_texts("country", ["FRANCE", "Österreich", "PE", "Atlantis"])
    >>> [column.values.tolist(), [level.labels for level in Dictionary("countries").ladder(column).levels]]
    [['Atlantis', 'FRANCE', 'PE', 'Österreich'], [('other', 'Western Europe', 'South America'), \
('other', 'Europe', 'Americas')]]
    """

    of: str
    language: str = ENGLISH
    name: ClassVar[str] = "dictionary"

    def __post_init__(self) -> None:
        check_language(self.language)
        if self.of not in DICTIONARIES:
            raise HierarchyError(
                f"dictionary: of = {self.of!r}.",
                hint=f"there are {', '.join(DICTIONARIES)}; a list of your own is a file: hierarchy: jobs.csv.",
            )

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the labels of the canonical texts."""
        paths_by_value, unknown = _read_paths(self.of), (OTHER,) * len(DICTIONARIES[self.of])
        paths = [paths_by_value.get(fold_text(text), unknown) for text in column.texts()]
        levels = ([translate_label(path[level], self.language) for path in paths] for level in range(len(unknown)))
        return Ladder([level_of_labels(labels) for labels in levels])

    def titles(self, n_levels: int) -> list[str]:
        """Return what the levels are."""
        return list(DICTIONARIES[self.of])


def share_in_dictionary(of: str, column: Column) -> float:
    """Return the share of a column's values that a dictionary knows; 0 without values."""
    known = _read_paths(of)
    return sum(fold_text(text) in known for text in column.texts()) / max(1, column.n_values)


def translate_label(label: str, language: str) -> str:
    """Return a label of a dictionary, such as a region, in a language."""
    return label if language == ENGLISH else _read_translations()[label][LANGUAGES.index(language)]


@cache
def _read_translations() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({line[0]: tuple(line) for line in _read_lines("words")})


@cache
def _read_paths(of: str) -> Mapping[str, tuple[str, ...]]:
    """Map every folded value to its labels. A label is a value too, in its own branch."""
    rows = _read_rows(of)
    paths = {fold_text(value): labels for values, labels in rows for value in values}
    for _, labels in rows:
        for level, label in enumerate(labels):
            for language in LANGUAGES:
                paths.setdefault(fold_text(translate_label(label, language)), (label,) * level + labels[level:])
    return MappingProxyType(paths)


def _read_rows(of: str) -> list[tuple[list[str], tuple[str, ...]]]:
    return [([value.strip() for value in values.split(",")], tuple(labels)) for values, *labels in _read_lines(of)]


def _read_lines(name: str) -> list[list[str]]:
    text = resources.files(__package__).joinpath("data", f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first characters of a code: ``0123*``.

    Parameters
    ----------
    lengths : int or sequence of int
        How many characters each level keeps, decreasing. A text of that length or longer is under the ``*`` of its
        first characters if a longer one is: ``01*`` holds ``01`` and ``011``. Other texts stay as they are.
    """

    lengths: tuple[int, ...]
    name: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", as_tuple(self.lengths))
        falling = all(a > b for a, b in itertools.pairwise(self.lengths))
        if not self.lengths or not all(_is_count(length, 1) for length in self.lengths) or not falling:
            raise HierarchyError(
                f"{self.name}: lengths = {list(self.lengths)}.",
                hint="give whole numbers from 1, decreasing, for instance 4, 3.",
            )

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the prefixes of the canonical texts; a code that longer ones begin with is under its own prefix."""
        texts = column.texts()
        return Ladder([level_of_labels(_prefix_labels(texts, length)) for length in self.lengths])

    def titles(self, n_levels: int) -> list[str]:
        """Return ``first 4`` and so on."""
        return [f"first {length}" for length in self.lengths]


@dataclass(frozen=True, slots=True)
class Codes(Prefix):
    """The first characters of codes, and ranges of codes in their order: ``201*``, ``[20*, 45*]``.

    Recodings that cut codes in their order publish these cells. A label covers all codes that begin with it. A range
    covers the codes from its first end up to all that begin with its last one.
    """

    name: ClassVar[str] = "codes"


def _prefix_labels(texts: list[str], length: int) -> list[str]:
    longer = {text[:length] for text in texts if len(text) > length}
    return [f"{text[:length]}*" if text[:length] in longer else cells.format_value(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of neighbouring values of an ordered column, labelled by the set of them.

    Parameters
    ----------
    fanout : int
        Nodes under a node; 2 halves the number of nodes from level to level.
    """

    fanout: int = 2
    name: ClassVar[str] = "runs"

    def __post_init__(self) -> None:
        if not _is_count(self.fanout, 2):
            raise HierarchyError(f"{self.name}: fanout = {self.fanout!r}.", hint="give a whole number from 2.")

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the runs."""
        return _group_by_rank(column, np.arange(column.n_values), self.fanout)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``runs of 2`` and so on."""
        return [f"runs of {self.fanout ** (level + 1)}" for level in range(n_levels)]


@dataclass(frozen=True, slots=True)
class Frequency(Runs):
    """Groups of values of similar frequency, labelled by the set of them.

    Parameters
    ----------
    fanout : int
        Nodes under a node: values are ranked by their records, and every ``fanout``
        neighbours become one, level by level.
    """

    fanout: int = 4
    name: ClassVar[str] = "frequency"

    def ladder(self, column: Column, counts: CountArray | None = None) -> Ladder:
        """Return the groups by rank of frequency; without counts, by order."""
        # A stable sort: values of one frequency stay in the order of the column.
        order = np.arange(column.n_values) if counts is None else np.argsort(-counts, kind="stable")
        rank = np.empty(column.n_values, dtype=np.int64)
        rank[order] = np.arange(column.n_values)
        return _group_by_rank(column, rank, self.fanout)

    def titles(self, n_levels: int) -> list[str]:
        """Return ``groups of 4`` and so on."""
        return [f"groups of {self.fanout ** (level + 1)}" for level in range(n_levels)]


@dataclass(frozen=True, slots=True)
class Suppression(NoLevels):
    """The value or ``*``, nothing between."""

    name: ClassVar[str] = "suppression"


def _group_by_rank(column: Column, rank: CountArray, fanout: int) -> Ladder:
    texts = column.texts()
    levels = []
    size = fanout
    while size < column.n_values:
        codes = (rank // size).astype(np.int32)
        members: list[list[str]] = [[] for _ in range(int(codes.max()) + 1)]
        for text, code in zip(texts, codes.tolist(), strict=True):
            members[code].append(text)
        labels = tuple(
            cells.format_value(group[0]) if len(group) == 1 else cells.format_set(group) for group in members
        )
        levels.append(Level(codes, labels))
        size *= fanout
    return Ladder(levels)


RULES: Final[entries.Registry[Callable[..., Rule]]] = entries.Registry(
    {
        rule.name: rule
        for rule in (Intervals, Tails, Prefix, Codes, Dates, Times, Dictionary, Frequency, Runs, Suppression)
    },
    "hierarchy rule",
    "hierarchies",
    ("name", "ladder", "titles"),
    HierarchyError,
)
"""Every rule by its name in policies."""

register = RULES.register


def is_allowed_rule(written: Mapping[str, Any]) -> bool:
    """Tell whether a rule from a manifest may be used: one of hushtable, or one that the user allowed."""
    return RULES.find_allowed(str(next(iter(written), "")))


def from_dict(entry: Mapping[str, Any]) -> Rule:
    """Build a rule from its form in a policy: ``{"prefix": [3, 2]}``."""
    made: Rule = RULES.read(entry)
    return made


def to_dict(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values, in its form in a policy."""
    return entries.to_entry(rule, sparse=False)


def _is_count(given: Any, least: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= least
