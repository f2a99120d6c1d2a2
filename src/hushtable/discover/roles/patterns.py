"""What the cells of a column look like, whatever its name: patterns of texts, and shapes of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import TOLERANCE, BoolArray, CountArray, FloatArray
from hushtable.columns import Column, fold_text, from_texts
from hushtable.discover.roles.names import parse_entries, parse_lines, read_data_file, topics_by_name

_MAX_TEXTS: Final = 1000
_POINT_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)
_COMMA_NUMBER: Final = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?", re.ASCII)
_LEADING_ZERO: Final = re.compile(r"0\d", re.ASCII)
_GROUPED_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCells:
    """What the looks of a column are judged on."""

    column: Column
    n_records: int  # with a value
    n_missing: int
    counts: CountArray = field(repr=False)  # (n_values,), records of each value
    # Up to 1,000 distinct values as they are written, evenly from all of them in order
    texts: tuple[str, ...] = field(repr=False)
    folded: tuple[str, ...] = field(repr=False)  # the same without case, accents and marks
    weights: CountArray = field(repr=False)  # (n_texts,), records of each text
    # All values as moments, where they are dates or datetimes or texts of them in ISO's order; else empty
    moments: NDArray[np.datetime64] = field(repr=False)
    # All values as numbers with their records, where they are numbers (of texts those shown); else empty
    numbers: FloatArray = field(repr=False)
    number_weights: CountArray = field(repr=False)

    @property
    def n_values(self) -> int:
        """How many distinct values there are."""
        return self.column.n_values

    @property
    def is_whole(self) -> bool:
        """Whether the cells are whole numbers."""
        return len(self.numbers) > 0 and bool((self.numbers % 1 == 0).all())

    def share_of_records(self, fits: BoolArray) -> float:
        """Return the share of records whose numbers fit."""
        return float(self.number_weights[fits].sum() / max(1, self.number_weights.sum()))

    def number_quantile(self, rate: float = 0.5) -> float:
        """Return a quantile of the numbers over records; 0 without numbers."""
        if not len(self.numbers):
            return 0.0
        order = np.argsort(self.numbers, kind="stable")
        reached = np.searchsorted(np.cumsum(self.number_weights[order]), rate * self.number_weights.sum())
        return float(self.numbers[order][min(int(reached), len(order) - 1)])


def cells_of(column: Column, counts: CountArray, n_missing: int) -> ColumnCells:
    """Collect a column's values in the forms that patterns look at, with the records of each."""
    sampled = np.unique(np.linspace(0, max(0, column.n_values - 1), _MAX_TEXTS).astype(np.int64))[: column.n_values]
    texts = tuple(column.text(code).strip() for code in sampled)
    weights = counts[sampled]
    moments = _read_moments(column, texts)
    if column.kind in ("integer", "decimal"):
        numbers, number_weights = column.values.astype(np.float64), counts
    else:
        numbers = np.empty(0) if len(moments) else _as_numbers(texts)
        number_weights = weights[: len(numbers)]
    folded = tuple(map(fold_text, texts))
    return ColumnCells(
        column, int(counts.sum()), n_missing, counts, texts, folded, weights, moments, numbers, number_weights
    )


def _read_moments(column: Column, texts: tuple[str, ...]) -> NDArray[np.datetime64]:
    typed = column
    if column.kind == "category" and from_texts(column.name, texts)[0].kind in ("date", "datetime"):
        typed, _ = from_texts(column.name, column.values.tolist())
    is_moment = typed.kind in ("date", "datetime")
    return typed.values.astype("datetime64[us]") if is_moment else np.empty(0, dtype="datetime64[us]")


def _as_numbers(texts: tuple[str, ...]) -> FloatArray:
    """Read texts as numbers, with a decimal point or a decimal comma; nothing where they are not all numbers.

    Digits with a zero before them are codes.
    """
    if any(_LEADING_ZERO.match(text) for text in texts):
        return np.empty(0)
    if all(_POINT_NUMBER.fullmatch(text) or _GROUPED_NUMBER.fullmatch(text) for text in texts):
        point_texts = [text.replace(",", "") for text in texts]
    elif all(_COMMA_NUMBER.fullmatch(text) for text in texts):
        point_texts = [text.replace(".", "").replace(",", ".") for text in texts]
    else:
        return np.empty(0)
    numbers = np.array([float(text) for text in point_texts], dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else np.empty(0)


_MAX_SHORT_CHARACTERS: Final = 3
_MIN_LISTED_RECORDS_SHARE: Final = 0.7
_MIN_LISTED_VALUES_SHARE: Final = 0.5
_MIN_LISTED_NAMES_SHARE: Final = 0.25  # of the records of a column of names: no list of them is nearly complete
_MAX_PHRASE_WORDS: Final = 3
_NOTHING_TOPIC: Final = "nothing"  # the list of cells that stand for no value


class _Entry(NamedTuple):
    is_weak: bool
    is_word: bool


class _Hits(NamedTuple):
    share_of_values: float
    share_of_records: float
    n_decisive: int
    has_short: bool


@cache
def _load_dictionaries() -> Mapping[str, Mapping[str, _Entry]]:
    """Return for every value which topics list it."""
    topics: dict[str, dict[str, _Entry]] = {}
    for _, entry, topic in parse_entries(read_data_file("values.tsv")):
        topics.setdefault(fold_text(entry), {}).setdefault(topic, _Entry(entry.endswith("?"), entry.endswith("*")))
    return topics


def find_listed_topic(cells: ColumnCells) -> str:
    """Return the topic whose list holds most of the cells; "" where none holds enough.

    Cells that stand for no value do not count. A list has to hold 70 % of the records and half of the distinct values,
    two of them at least without a question mark (one, beside others with one); where an entry that was hit has up to
    three letters, every value. Of persons' names a quarter of the records is enough, if five values are listed, or
    three or four that are all.
    """
    cells_with_records = zip(cells.folded, cells.weights.tolist(), strict=True)
    nothing = {text for text in cells.folded if not text or _NOTHING_TOPIC in _load_dictionaries().get(text, {})}
    valued_cells = [(text, weight) for text, weight in cells_with_records if text not in nothing]
    n_records = sum(weight for _, weight in valued_cells)
    by_topic: dict[str, list[tuple[str, int, _Entry]]] = {}
    for text, weight in valued_cells:
        for topic, entry in _hits_of(text).items():
            by_topic.setdefault(topic, []).append((text, weight, entry))
    fitting = []
    for topic, hits in by_topic.items():
        topic_hits = _Hits(
            len(hits) / len(valued_cells),
            sum(weight for _, weight, _ in hits) / n_records,
            sum(not entry.is_weak for _, _, entry in hits),
            any(len(text) <= _MAX_SHORT_CHARACTERS and text.isascii() for text, _, _ in hits),
        )
        if _is_enough(topic, topic_hits, len(hits), len(valued_cells)):
            fitting.append((-topic_hits.share_of_values, -topic_hits.share_of_records, topic))
    return min(fitting)[2] if fitting else ""


def _is_enough(topic: str, hits: _Hits, n_hits: int, n_values: int) -> bool:
    if n_hits < 2 or not hits.n_decisive:
        return False
    if topic == "person name":
        # Of fewer than five values, each is to be a name.
        return hits.share_of_records >= _MIN_LISTED_NAMES_SHARE and hits.n_decisive >= max(3, min(5, n_values))
    return hits.share_of_records >= _MIN_LISTED_RECORDS_SHARE and hits.share_of_values >= (
        1 if hits.has_short else _MIN_LISTED_VALUES_SHARE
    )


def _hits_of(text: str) -> dict[str, _Entry]:
    """Return the topics that list a cell, or words of it."""
    dictionaries = _load_dictionaries()
    hits = dict(dictionaries.get(text, {}))
    for phrase in _split_phrases(text):
        for topic, entry in dictionaries.get(phrase, {}).items():
            if entry.is_word:
                hits.setdefault(topic, entry)
    return hits


def _split_phrases(text: str) -> Iterator[str]:
    words = text.split()
    for length in range(1, min(_MAX_PHRASE_WORDS, len(words)) + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


_MOST_SHARE: Final = 0.8
_NEARLY_ALL_SHARE: Final = 0.95
_MIN_DISTINCT_SHARE: Final = 0.2
_MICROSECONDS_PER_DAY: Final = 86_400_000_000
_MIN_PACED_MOMENTS: Final = 50
_GENERATION_YEARS: Final = 30  # years: dates that spread further are of birth
_MAX_SEXES: Final = 4


class CellLook(NamedTuple):
    """What cells look like."""

    topic: str  # of `hushtable.discover.roles.names`
    text: str  # for the reason
    is_sure: bool  # whether it goes before what the name says


class _Pattern(NamedTuple):
    look: CellLook
    pattern: re.Pattern[str]

    def is_most(self, texts: Sequence[str]) -> bool:
        """Tell whether most of the texts look so."""
        misses = 0
        for text in texts:
            misses += not self.pattern.fullmatch(text)
            if misses > (1 - _MOST_SHARE) * len(texts) + TOLERANCE:
                return False
        return True


_POSTCODE_PATTERN: Final = re.compile(r"\d{4,6}", re.ASCII)
_CODE_PATTERN: Final = re.compile(r"(?=.*\d.*\d)[A-Z0-9][A-Z0-9 -]{3,9}", re.ASCII)


def look_of(cells: ColumnCells) -> CellLook | None:
    """Return what cells look like, by up to 1,000 distinct texts or all distinct numbers; None if unknown."""
    if not cells.n_values:
        return None
    if len(cells.moments):
        return _look_of_moments(cells)
    if not len(cells.numbers):
        return _look_of_codes(cells) or _look_of_texts(cells)
    return _look_of_codes(cells) or (_look_of_numbers(cells) if cells.is_whole else None)


def fits_topic(topic: str, cells: ColumnCells) -> bool:
    """Tell whether the cells can be what a name says; true where nothing speaks against it."""
    check = _CHECK_BY_TOPIC.get(topic)
    return check is None or check(cells)


def is_paced(cells: ColumnCells) -> bool:
    """Tell whether moments follow one another at one pace of less than a day, as those of a machine do."""
    if len(cells.moments) < _MIN_PACED_MOMENTS:
        return False
    steps, counts = np.unique(np.diff(cells.moments).astype(np.int64), return_counts=True)
    is_even = float(counts.max()) >= _MOST_SHARE * float(counts.sum())
    return is_even and int(steps[counts.argmax()]) < _MICROSECONDS_PER_DAY


def _look_of_texts(cells: ColumnCells) -> CellLook | None:
    for look, *_ in (each for each in _load_patterns() if each.is_most(cells.texts)):
        if look.topic != "age" or _are_ages(cells):
            return look
    topic = find_listed_topic(cells)
    text = f"most of its cells are listed as {topics_by_name()[topic].text}" if topic else ""
    # Of names a list knows a few only.
    return CellLook(topic, text, is_sure=topic != "person name") if topic else None


@cache
def _load_patterns() -> tuple[_Pattern, ...]:
    return tuple(
        _Pattern(CellLook(topic, f"most of its cells look like {what}", sure == "sure"), re.compile(pattern))
        for _, (topic, what, sure, pattern) in parse_lines(read_data_file("patterns.tsv"))
    )


def _are_ages(cells: ColumnCells) -> bool:
    ends = [int(number) for text in cells.texts for number in re.findall(r"\d{1,4}", text)]
    return max(ends) <= 120 and cells.n_values >= 2


def _look_of_moments(cells: ColumnCells) -> CellLook:
    since = cells.moments.astype(np.int64)
    if (since % _MICROSECONDS_PER_DAY).any():
        return CellLook("time", "its cells are moments, which others may know", is_sure=True)
    if (
        cells.n_values >= 5
        and np.quantile(since, 0.95) - np.quantile(since, 0.05) > _GENERATION_YEARS * 365 * _MICROSECONDS_PER_DAY
    ):
        return CellLook("birth", "its cells are dates over more than 30 years, as of birth", is_sure=True)
    return CellLook("date", "a date, which others may know", is_sure=True)


def _look_of_codes(cells: ColumnCells) -> CellLook | None:
    """Look at digits that are no quantity: with leading zeros, or of eight places that are a day."""
    texts = cells.texts
    if min(map(len, texts)) >= 8:
        for look, pattern in _load_patterns():
            if look.topic in ("date", "number of a person") and all(map(pattern.fullmatch, texts)):
                return look
    if (
        len(set(map(len, texts))) == 1
        and all(map(_POSTCODE_PATTERN.fullmatch, texts))
        and any(text[0] == "0" for text in texts)
    ):
        return CellLook("postcode", "its cells look like postcodes", is_sure=False)
    return None


def _look_of_numbers(cells: ColumnCells) -> CellLook | None:
    lowest, highest = float(cells.numbers.min()), float(cells.numbers.max())
    if _is_epoch(lowest, highest) and cells.n_values >= _MIN_DISTINCT_SHARE * cells.n_records:
        return CellLook("time", "its cells look like moments, counted in seconds since 1970", is_sure=False)
    if lowest >= 1880 and highest <= 2100 and cells.n_values >= 3:
        if cells.number_quantile(0.95) - cells.number_quantile(0.05) > _GENERATION_YEARS:
            return CellLook("birth", "its cells look like years of birth", is_sure=False)
        return CellLook("date", "its cells look like years", is_sure=False)
    if lowest >= 0 and 40 <= highest <= 120 and _is_smooth(cells):
        return CellLook("age", "its cells look like ages", is_sure=False)
    return None


def _is_epoch(lowest: float, highest: float) -> bool:
    """Tell whether numbers lie between 1995 and 2036, in seconds or milliseconds since 1970."""
    return any(0.8e9 * unit <= lowest and highest <= 2.1e9 * unit for unit in (1, 1000))


def _is_smooth(cells: ColumnCells) -> bool:
    """Tell whether whole numbers are spread as ages are: many, next to one another, none of them a heap."""
    inner = (cells.numbers >= cells.number_quantile(0.05)) & (cells.numbers <= cells.number_quantile(0.95))
    values, weights = cells.numbers[inner], cells.number_weights[inner]
    if len(values) < 10 or cells.n_records < 30:
        return False
    width = float(values.max() - values.min()) + 1
    expected = width * (1 - np.exp(-weights.sum() / width))  # as many different ones as evenly drawn ones would be
    heap = weights.sum() / width
    # No value stands out: three times the mean is usual, and some standard deviations come by chance.
    is_even = weights.max() <= 3 * heap + 4 * np.sqrt(heap) + 2
    return bool(20 <= width <= 100 and len(values) >= 0.8 * expected and is_even)


def _is_body(cells: ColumnCells) -> bool:
    if not len(cells.numbers):
        return True
    in_metres = 1.2 <= cells.number_quantile() <= 2.3 and float(cells.numbers.max()) <= 2.6
    if in_metres and not cells.is_whole:
        return True
    # Weights of a sample spread further than people do.
    is_narrow = float(cells.numbers.max()) <= 300 and float(cells.numbers.min()) >= 1
    return 15 <= cells.number_quantile() <= 300 and (is_narrow or cells.n_values < max(50, 0.5 * cells.n_records))


def _is_code(cells: ColumnCells) -> bool:
    return sum(bool(_CODE_PATTERN.fullmatch(text)) for text in cells.texts) >= _MOST_SHARE * max(1, len(cells.texts))


def _is_long(cells: ColumnCells) -> bool:
    """Tell whether numbers have the length of a personal number; texts may be anything."""
    return not cells.is_whole or float(cells.numbers.max()) >= 1000


def _build_range_check(low: float, high: float) -> Callable[[ColumnCells], bool]:
    def check(cells: ColumnCells) -> bool:
        numbers = cells.numbers
        return not len(numbers) or cells.share_of_records((numbers >= low) & (numbers <= high)) >= _NEARLY_ALL_SHARE

    return check


_CHECK_BY_TOPIC: Final[Mapping[str, Callable[[ColumnCells], bool]]] = {
    "age": _build_range_check(0, 125),
    "sex": lambda cells: cells.n_values <= _MAX_SEXES or find_listed_topic(cells) == "sex",
    "date": lambda cells: find_listed_topic(cells) == "date" or all(re.search(r"\d", text) for text in cells.texts),
    "coordinate": lambda cells: not len(cells.numbers) or float(np.abs(cells.numbers).max()) <= 180,
    "school class": lambda cells: cells.is_whole and 11 <= float(cells.numbers.max()) <= 13,
    "contact": _is_long,
    "account": _is_long,
    "number of a person": _is_long,
    "postcode": _is_code,
    "body": _is_body,
    "sampling weight": lambda cells: len(cells.numbers) > 0 and not _is_body(cells),
}
