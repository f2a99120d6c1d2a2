"""Odd cells: the few of a text column that are not of the kind of nearly all others: ``31.02.1950`` among dates.

A column is what nearly all of its cells are: at least 95 % are numbers with the same marks, dates of one format,
moments, times of a day or codes of one form, and the others have a few forms. Blank cells, marks of missing values and
open ends such as ``90+`` are neither: other questions are asked about them. Nothing here decides what odd cells mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from hushtable._types import CountArray
from hushtable.columns.cells import SUPPRESSED, parse_cell
from hushtable.columns.column import ColumnSpec
from hushtable.columns.date_formats import has_time, read_moments
from hushtable.columns.missing_codes import is_missing_mark, is_open_end
from hushtable.columns.spellings import formats_of_some, number_patterns

_MIN_SHARE_OF_KIND: Final = 0.95  # of the cells
_MIN_SHARE_IN_SAMPLE: Final = 0.8
_CELLS_IN_SAMPLE: Final = 1_000  # cells
_MOST_FORMS: Final = 5
_FEWEST_VALUES: Final = 3  # distinct numbers or dates
_FEWEST_CODES: Final = 20  # distinct ones
_FEWEST_DIGITS: Final = 2  # of a code
_MOST_LETTERS: Final = 4  # of a code
_LONGEST_NUMBER: Final = 18  # characters: a longer one is a key
_LONGEST_FORM: Final = 24

_NUMBER: Final = "number"
_ISO_DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ISO_MOMENT: Final = rf"^{_ISO_DATE}[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,6}})?)?$"
_TIME: Final = r"^(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?$"


@dataclass(frozen=True, slots=True)
class OddCells:
    """The cells of a column that are not of the kind of nearly all others."""

    kind: str  # what nearly all are, in words: "number", "date", "moment", "time of a day" or "code of the form 99999"
    forms: Mapping[str, int]  # how many cells each form has, most first: a digit is ``9``, a letter ``A`` or ``a``
    texts: frozenset[str] = field(repr=False)  # the cells themselves, without blanks at their ends

    @property
    def n_cells(self) -> int:
        """How many cells are odd."""
        return sum(self.forms.values())

    @property
    def are_among_codes(self) -> bool:
        """Whether nearly all cells are codes: the column is text with or without the odd ones."""
        return self.kind.startswith("code")

    def describe(self) -> str:
        """Describe the number and forms of the odd cells, and what they are not; no cell is quoted."""
        if len(self.forms) > 1:
            forms = "; ".join(f"{n:,} of the form {form}" for form, n in self.forms.items())
            return f"{self.n_cells:,} cells are no {self.kind} ({forms})"
        (form,) = self.forms
        if self.n_cells == 1:
            return f"1 cell of the form {form} is no {self.kind}"
        return f"{self.n_cells:,} cells of the form {form} are no {self.kind}"

    def drop_from(self, series: pl.Series) -> pl.Series:
        """Return a column of text in which the odd cells are missing."""
        return series.set(series.str.strip_chars().is_in([*self.texts]).fill_null(False), None)


def find_odd_cells(series: pl.Series, spec: ColumnSpec, counts: CountArray | None = None) -> OddCells | None:
    """Find the cells of a text column that are not of the kind of nearly all others, by readings that the spec allows.

    None where all cells are of one kind, or fewer than 95 % are, or the others have more than five forms; and where
    the column was declared text. A sample of a thousand cells says which kinds are possible; these are judged on the
    distinct texts, which `counts` weighs.
    """
    if spec.odd_cells == "text" or spec.separator is not None or spec.order is not None or spec.kind == "ordered":
        return None
    if spec.kind == "category" and spec.odd_cells is None:
        return None
    sample = _without_blanks(series.gather_every(max(1, len(series) // _CELLS_IN_SAMPLE)), spec)
    distinct, readings = None, []
    for reading in _readings_of_most(sample, spec):
        if reading.kind == _NUMBER:
            # Numbers rarely repeat: finding the distinct ones takes longer than parsing all.
            texts = _without_blanks(series, spec)
        else:
            texts = distinct = _without_blanks(series.unique(), spec) if distinct is None else distinct
        if reading.fits(texts).all():
            return None
        readings.append(reading)
    if not readings:
        return None
    counted = _count_records(series, spec, counts)
    reading, fits = _choose_reading(readings, counted)
    if fits.all() or fits.sum() < reading.fewest_values:
        return None
    return _select_odd_cells(reading.kind, counted.filter(~fits), int(counted["n"].filter(fits).sum()))


class _KindReading(NamedTuple):
    """A way to read texts, and the texts that it fits."""

    kind: str
    fits: Callable[[pl.Series], pl.Series]
    fewest_values: int = _FEWEST_VALUES
    has_letters: bool = False


def _without_blanks(texts: pl.Series, spec: ColumnSpec) -> pl.Series:
    texts = texts.drop_nulls().str.strip_chars()
    return texts.filter(~texts.is_in(["", SUPPRESSED, *(spec.missing_values or ())]))


def _count_records(series: pl.Series, spec: ColumnSpec, counts: CountArray | None) -> pl.DataFrame:
    """Count the records of each text that is not blank."""
    records = np.ones(len(series), dtype=np.int64) if counts is None else counts
    cells = pl.DataFrame({"text": series.str.strip_chars(), "n": records})
    counted = cells.group_by("text").agg(pl.col("n").sum()).sort("text")
    return counted.filter(counted["text"].is_in(_without_blanks(counted["text"], spec).implode()))


def _choose_reading(readings: Sequence[_KindReading], counted: pl.DataFrame) -> tuple[_KindReading, pl.Series]:
    """Return the reading that fits most records (the first in a tie), and the texts that it fits."""
    fitting = [(reading, reading.fits(counted["text"])) for reading in readings]
    return max(fitting, key=lambda each: int(counted["n"].filter(each[1]).sum()))


def _readings_of_most(sample: pl.Series, spec: ColumnSpec) -> Iterator[_KindReading]:
    """Yield the readings that fit most cells of a sample but marks of missing values; codes last."""
    has_digit = sample.str.contains("[0-9]")
    if not has_digit.any():
        return
    words = sample.filter(~has_digit).unique()
    marks = words.filter(pl.Series([is_missing_mark(word) for word in words.to_list()], dtype=pl.Boolean))
    sample = sample.filter(~sample.is_in(marks.implode()))
    has_other = False
    for reading in chain(_list_measures(sample, spec), _list_codes(sample, spec)):
        # Codes with letters come last, because names of months are letters, too.
        is_other = has_other and reading.has_letters
        if not is_other and reading.fits(sample).sum() >= _MIN_SHARE_IN_SAMPLE * len(sample):
            has_other = True
            yield reading


def _list_measures(sample: pl.Series, spec: ColumnSpec) -> Iterator[_KindReading]:
    """Yield the readings as numbers, dates, moments and times that a spec allows."""
    if spec.kind in (None, "integer", "decimal") and spec.format is None:
        for pattern in number_patterns(spec):
            yield _KindReading(_NUMBER, partial(_are_numbers, pattern=pattern))
    if spec.kind in (None, "date", "datetime"):
        if spec.format is None:
            yield _KindReading("moment", _are_iso_moments)
        for format_ in (spec.format,) if spec.format is not None else formats_of_some(sample):
            yield _KindReading("moment" if has_time(format_) else "date", partial(_are_of_format, format_=format_))
    if spec.kind in (None, "time") and spec.format is None:
        yield _KindReading("time of a day", partial(_match_pattern, pattern=_TIME))


def _are_numbers(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.contains(pattern) & (texts.str.len_chars() <= _LONGEST_NUMBER)


def _are_iso_moments(texts: pl.Series) -> pl.Series:
    moments = texts.set(~texts.str.contains(_ISO_MOMENT), None).str.replace("T", " ", literal=True)
    in_full = moments.str.replace("^(.{16})$", "${1}:00")
    return in_full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False).is_not_null()


def _are_of_format(texts: pl.Series, format_: str) -> pl.Series:
    return read_moments(texts, format_).is_not_null()


def _match_pattern(texts: pl.Series, pattern: str) -> pl.Series:
    return texts.str.contains(pattern)


def _list_codes(sample: pl.Series, spec: ColumnSpec) -> Iterator[_KindReading]:
    """Yield the reading as codes of the form that most cells of a sample have."""
    if spec.kind not in (None, "category") or spec.format is not None:
        return
    forms = _code_forms(sample)
    if forms.null_count() < len(forms):
        usual = forms.drop_nulls().mode().sort()[0]
        shown = _text_forms(sample.filter((forms == usual).fill_null(False))).mode().sort()[0]
        fits = partial(_match_pattern, pattern=_code_pattern(usual))
        yield _KindReading(f"code of the form {shown}", fits, _FEWEST_CODES, has_letters="A" in usual)


def _code_pattern(form: str) -> str:
    """Return the pattern of codes of a form; of those with letters, also of what they begin with, and of finer ones.

    I10 stands above I10.0; of digits alone, fewer are a code that lost some.
    """
    if set(form) == {"9"}:
        return rf"^\p{{Nd}}{{{len(form)}}}$"
    signs = {"9": r"\p{Nd}+", "A": r"\p{Lu}+"}
    parts = [signs.get(sign, re.escape(sign)) for sign in form]
    n_needed = form.index("9") + 1
    n_optional = len(parts) - n_needed
    optional = "".join(f"(?:{part}" for part in parts[n_needed:]) + r"(?:[^\p{L}\p{Nd}\s]\S*)?" + ")?" * n_optional
    return f"^{''.join(parts[:n_needed])}{optional}$"


def _code_forms(texts: pl.Series) -> pl.Series:
    """Return the forms of texts that may be codes, null elsewhere: with letters, equal signs in a row are one.

    Codes are digits alone, or have a few capitals among them, and no blank.
    """
    forms = _text_forms(texts)
    n_letters = forms.str.count_matches("A")
    is_code = (forms.str.count_matches("9") >= _FEWEST_DIGITS) & ~forms.str.contains(r"[a\s]")
    is_code &= ((n_letters > 0) & (n_letters <= _MOST_LETTERS)) | forms.str.contains("^9+$")
    collapsed = forms.str.replace_all("A+", "A").str.replace_all("9+", "9")
    return forms.zip_with(n_letters == 0, collapsed).set(~is_code, None)


def _text_forms(texts: pl.Series) -> pl.Series:
    """Return the forms of texts, without their content."""
    digits = texts.str.replace_all(r"\p{Nd}", "9")
    letters = digits.str.replace_all(r"\p{Lu}", "A").str.replace_all(r"[\p{L}--\p{Lu}]", "a")
    plain = letters.str.replace_all(r"[^ -~]", "?")
    return plain.str.replace(rf"^(.{{{_LONGEST_FORM}}}).+$", "${1}...")


def _select_odd_cells(kind: str, odd: pl.DataFrame, n_fitting: int) -> OddCells | None:
    """Return the odd cells among texts that are not of a kind, if they are few and have few forms."""
    if len(odd) > _CELLS_IN_SAMPLE + n_fitting:
        # Marks of missing values are no odd cells; there are only a few such texts.
        return None
    is_odd = [not (is_missing_mark(text) or is_open_end(text)) for text in odd["text"].to_list()]
    odd = odd.filter(pl.Series(is_odd, dtype=pl.Boolean))
    n_odd = int(odd["n"].sum())
    if not n_odd or n_fitting < _MIN_SHARE_OF_KIND * (n_fitting + n_odd):
        return None
    texts = odd["text"].to_list()
    counted = odd.group_by(_text_forms(odd["text"]).alias("form")).agg(pl.col("n").sum())
    # Intervals and sets are no odd cells: the table is a published one.
    if len(counted) > _MOST_FORMS or any(parse_cell(text).form != "value" for text in texts):
        return None
    forms = counted.sort(["n", "form"], descending=[True, False]).select("form", "n").iter_rows()
    return OddCells(kind, dict(forms), frozenset(texts))
