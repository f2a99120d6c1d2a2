"""Words, numbers, codes and dates that often stand for a missing value.

They remain values until the user declares them missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import numpy as np
import polars as pl

from hushtable._types import CountArray
from hushtable.columns.column import Column

_WORDS: Final = frozenset(
    "".join(word.split())
    for words in (
        "na, n/a, #n/a, n.a., nan, null, missing, ?, ??, -, --, ---, ., .., ..., <na>",
        "unknown, not known, not available, not stated, unspecified, not recorded, no data, no answer",
        "k.a., ka., keine angabe, keine angaben, ohne angabe, o.a., unbekannt, nicht bekannt, fehlt, k.a",
        "inconnu, inconnue, non renseigné, non renseignée, non renseigne, n.r., nd, n.d., sans réponse, manquant",
        "desconocido, desconocida, no consta, sin datos, n/d, sin especificar, no sabe, se desconoce",
        "sconosciuto, sconosciuta, non noto, non nota, non disponibile, ignoto, ignota, non indicato",
        "onbekend, niet bekend, geen gegevens, ontbreekt, n.b., niet ingevuld",
    )
    for word in words.split(", ")
)
"""Words for a missing value in six languages, in small letters and without spaces."""

_AMBIGUOUS_WORDS: Final = frozenset(["none", "nil"])
"""Words that may mean "not known" or "there is none"."""

_PROGRAM_MARKS: Final = _AMBIGUOUS_WORDS | {"nat", r"\n", "(null)", "<null>", "[null]"}
"""What programs write for a missing cell, besides `_WORDS`."""

_DATES: Final = (
    *("0001-01-01", "1111-11-11", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01"),
    *("2099-12-31", "2100-12-31", "2999-12-31", "4712-12-31", "9999-01-01", "9999-12-31"),
)
_FEWEST_NUMBERS: Final = 3  # different numbers besides the codes: with fewer, nothing is called a code
_NUMBER: Final = re.compile(r"-?(?:7+|8+|9+[678]?)")  # 7, 88, 999, 96, 998
_SHORTEST_CODE: Final = 3  # digits; a shorter code, 99 or 00, is as often a value
_MIN_SHARE_OF_CODES: Final = 0.9  # the share of cells that are digits of one length, in a column of codes
_MIN_SHARE_IN_SAMPLE: Final = 0.8  # the same in a sample
_CELLS_IN_SAMPLE: Final = 1_000
_OPEN_END: Final = re.compile(
    r"[<>≤≥]\s*=?\s*[0-9]+|[0-9]+\s*(?:\+|plus|(?:and|or|und|oder|et|ou|y|o|e|en|of)\s+"
    r"(?:more|over|older|above|mehr|älter|darüber|plus|más|oltre|più|meer|ouder))",
    re.IGNORECASE,
)


def is_missing_word(text: str) -> bool:
    """Tell whether a text is a word for a missing value, whatever its case and spaces."""
    return "".join(text.lower().split()) in _WORDS


def is_missing_mark(text: str) -> bool:
    r"""Tell whether a text is a word for a missing value, or a program's mark of a missing cell."""
    return is_missing_word(text) or text.strip().lower() in _PROGRAM_MARKS


def is_missing_number(value: float) -> bool:
    """Tell whether a number is a usual code of a missing value.

    Codes are sevens, eights or nines of any length, nines before a last 6, 7 or 8 (96, 998), and their negatives.
    """
    return float(value).is_integer() and _NUMBER.fullmatch(f"{value:.0f}") is not None


def is_open_end(text: str) -> bool:
    """Tell whether a text is an open end such as 90+, which is a value and not missing."""
    return _OPEN_END.fullmatch(text.strip()) is not None


def count_missing_codes(series: pl.Series) -> dict[str, int]:
    """Count the cells of a text column that are a usual code of a missing value, code by code."""
    if not isinstance(series.dtype, pl.String):
        return {}
    texts = series.drop_nulls().unique()
    words = texts.str.to_lowercase().str.replace_all(r"\s+", "")
    is_code = words.is_in([*_WORDS, *_AMBIGUOUS_WORDS]) | words.str.contains("^-9+$")
    return _count_texts(series.filter(series.is_in(texts.filter(is_code).implode()).fill_null(False)))


def count_missing_numbers(column: Column, counts: CountArray) -> dict[str, int]:
    """Count the cells of a column of numbers that hold usual codes of a missing value, far from its other numbers.

    Codes such as 98 and 99, or -9, are the largest or the smallest numbers. The gap to the other numbers must be wider
    than the range of these: an age of 99 is no code if another age is 97. If all other numbers are 0 or more, a
    negative code needs no gap.
    """
    if column.kind not in ("integer", "decimal"):
        return {}
    values = column.values.astype(float)
    # Codes lie beyond all other numbers, so only both ends are examined: values[low:high] are the other numbers.
    low = next((i for i, value in enumerate(values) if value >= 0 or not is_missing_number(value)), len(values))
    high = next((i for i in range(len(values), 0, -1) if values[i - 1] < 0 or not is_missing_number(values[i - 1])), 0)
    if high - low < _FEWEST_NUMBERS:
        return {}
    span = values[high - 1] - values[low]
    below = next((i for i in range(low, 0, -1) if values[low] >= 0 or values[i] - values[i - 1] > span), 0)
    above = next((i for i in range(high, len(values)) if values[i] - values[i - 1] > span), len(values))
    return {f"{values[i]:.0f}": int(counts[i]) for i in (*range(below), *range(above, len(values)))}


def count_sentinel_codes(series: pl.Series) -> dict[str, int]:
    """Count the cells of only nines or only zeros, in a column of digit codes of one length.

    A code is not counted if another cell begins with the same digits except the last: beside 9998, 9999 is a value.
    """
    if not isinstance(series.dtype, pl.String):
        return {}
    # A sample first: it shows that most columns hold no codes.
    sample = series.gather_every(max(1, len(series) // _CELLS_IN_SAMPLE))
    if not _length_of_most(sample.drop_nulls().str.strip_chars(), _MIN_SHARE_IN_SAMPLE):
        return {}
    filled = series.drop_nulls().str.strip_chars()
    length = _length_of_most(filled, _MIN_SHARE_OF_CODES)
    if not length:
        return {}
    cell_counts = {}
    for code in ("9" * length, "0" * length):
        n = int((filled == code).sum())
        if n and not (filled.str.starts_with(code[:-1]) & (filled != code)).any():
            cell_counts[code] = n
    return cell_counts


def _length_of_most(texts: pl.Series, share: float) -> int:
    """Return the length that at least a share of the texts have, as digits only; 0 if none, or if it is too short."""
    lengths = texts.filter(texts.str.contains("^[0-9]+$")).str.len_chars()
    length = int(lengths.mode()[0]) if len(lengths) else 0
    is_usual = length >= _SHORTEST_CODE and (lengths == length).sum() >= share * len(texts)
    return length if is_usual else 0


def count_sentinel_dates(texts: pl.Series, values: pl.Series) -> dict[str, int]:
    """Count the cells that hold a day that programs write for an unknown date, by their spelling.

    ``texts`` are the cells as spelled, ``values`` the same in ISO's form.
    """
    return _count_texts(texts.filter(values.str.slice(0, 10).is_in(_DATES).fill_null(False)))


def ends_with_codes(series: pl.Series) -> bool:
    """Tell whether the smallest or the largest number of a column is a usual code of a missing value."""
    if not (series.dtype.is_numeric() or isinstance(series.dtype, pl.String)):
        return False
    numbers = series.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    extremes = np.array([numbers.min(), numbers.max()], dtype=float) if len(numbers) else np.array([])
    return any(np.isfinite(extreme) and is_missing_number(extreme) for extreme in extremes)


def count_spellings(texts: pl.Series, values: pl.Series, numbers: Iterable[str]) -> dict[str, int]:
    """Count the cells that hold one of some numbers, by their spelling."""
    is_code = values.cast(pl.Float64, strict=False).is_in([*map(float, numbers)]).fill_null(False)
    return dict(sorted(_count_texts(texts.filter(is_code)).items()))


def count_texts(texts: pl.Series, codes: Iterable[str]) -> dict[str, int]:
    """Count the cells that equal each of some texts."""
    stripped = texts.str.strip_chars()
    return {code: int((stripped == code).sum()) for code in sorted(codes)}


def _count_texts(series: pl.Series) -> dict[str, int]:
    """Count the cells of each text, the most frequent first."""
    counted = series.drop_nulls().str.strip_chars().rename("text").value_counts(sort=True, name="n")
    return dict(counted.iter_rows())
