"""A column's kind, values and canonical texts, and the words for a column's role.

=========  ================================================  ============================================
kind       values                                            order
=========  ================================================  ============================================
integer    int64                                             numeric
decimal    float64, finite                                   numeric
date       datetime64[D], or as precise as the dates are:    calendar
           [M], [3M], [Y]
datetime   datetime64[us]                                    calendar
time       datetime64[us], all of 1970-01-01                 the clock
ordered    text                                              as declared, else alphabetical
category   text                                              none (kept alphabetical, so that codes do
                                                             not depend on the order of the rows)
=========  ================================================  ============================================
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, Literal, get_args

import numpy as np

from hushtable._types import CodeArray, FloatArray, ValueArray, freeze_array, reduce_to_fields
from hushtable.columns.date_formats import CalendarUnit, precision_of
from hushtable.errors import ColumnError, InputError, check_type

Kind = Literal["integer", "decimal", "date", "datetime", "time", "ordered", "category"]
Role = Literal["identifier", "quasi-identifier", "sensitive", "other", "leave out"]
OddCellsAnswer = Literal["missing", "text", "refuse"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)
ROLES: Final[tuple[str, ...]] = get_args(Role)
ODD_CELLS: Final[tuple[str, ...]] = get_args(OddCellsAnswer)

_TEMPORAL: Final = ("date", "datetime", "time")
_MEASURED: Final = ("integer", "decimal", *_TEMPORAL)

# A number with a leading zero is a code (a ZIP, a key). So is 1E10 among its like, in a
# column of nothing else; beside ordinary numbers it is ten thousand million, however spelled.
_INTEGER: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_CODES: Final = (re.compile(r"[0-9]+E[0-9]+", re.ASCII), re.compile(r"[0-9]+e[0-9]+", re.ASCII))
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DATETIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?", re.ASCII)
_QUARTERS: Final = np.dtype("datetime64[3M]")
_CALENDAR_UNITS: Final = (
    (re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])", re.ASCII), np.dtype("datetime64[M]")),
    (re.compile(r"[0-9]{4}-Q[1-4]", re.ASCII), _QUARTERS),
    (re.compile(r"[0-9]{4}", re.ASCII), np.dtype("datetime64[Y]")),
)
"""Texts of dates that are no days, and what holds them."""
_PRECISIONS: Final[dict[Any, CalendarUnit]] = {
    ("D", 1): "day",
    ("M", 1): "month",
    ("M", 3): "quarter",
    ("Y", 1): "year",
}
_LENGTH_OF_DAY: Final = len("2024-05-31")
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """How to type a column when the data do not say.

    Attributes
    ----------
    kind : Kind, optional
    order : tuple of str, optional
        The values of an ordered category, from low to high.
    format : str, optional
        How dates are written in text, as strptime has it: ``"%d.%m.%Y"``. Found where only one of
        the common ones fits all cells, when not given. Moments with an offset (``%z``) are read in UTC.
        Names of months, quarters and days of Excel: see `hushtable.columns.date_patterns`.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text; found where the cells leave no doubt, when not given.
    thousands : {".", ",", " ", "'"}, optional
        What groups their digits.
    missing_values : tuple of str, optional
        Texts that mean a missing value, besides blank ones. An empty sequence says that there are none.
    separator : str, optional
        What stands between the items of a cell such as ``I10;E11``: such a column is a category whose values are
        sets, see `hushtable.columns.item_sets`.
    latest_year : int, optional
        The latest year that two digits (``%y``) stand for: with 2026, 26 is 2026 and 27 is 1927.
    odd_cells : {"missing", "text", "refuse"}, optional
        What the few cells mean that are not of the kind of nearly all others, see `hushtable.columns.odd_cells`:
        missing values, or values of a column that is text. ``"refuse"`` releases nothing until that is decided, as if
        nothing was said.
    """

    kind: Kind | None = None
    order: tuple[str, ...] | None = None
    format: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing_values: tuple[str, ...] | None = None
    separator: str | None = None
    latest_year: int | None = None
    odd_cells: OddCellsAnswer | None = None

    def __post_init__(self) -> None:
        if self.odd_cells is not None and self.odd_cells not in ODD_CELLS:
            raise InputError(f"odd_cells = {self.odd_cells!r}.", hint=f"say one of {', '.join(ODD_CELLS)}.")
        if self.kind is not None and self.kind not in KINDS:
            raise InputError(f"kind = {self.kind!r}.", hint=f"a kind is one of {', '.join(KINDS)}.")
        self._check_reading()
        if self.separator is not None:
            self._check_separator()
            object.__setattr__(self, "kind", "category")
        if self.order is None:
            return
        if self.kind not in (None, "ordered"):
            raise InputError(
                f"an order was given to a column of kind {self.kind}.", hint="an order goes with kind ordered."
            )
        is_text = isinstance(self.order, (tuple, list)) and all(isinstance(value, str) for value in self.order)
        if not is_text or not self.order or len(set(self.order)) < len(self.order):
            raise InputError(
                "order is not a sequence of different texts.",
                hint="name every value of the column once, from low to high, numbers in quotes.",
            )

    @property
    def spelling(self) -> ColumnSpec:
        """Only the settings of how cells are spelled, not of what their values are."""
        return replace(self, kind=None, order=None)

    @property
    def missing_cells(self) -> ColumnSpec:
        """Only the settings of which cells are missing; an empty list counts as none."""
        odd_cells = self.odd_cells if self.odd_cells == "missing" else None
        return ColumnSpec(missing_values=self.missing_values or None, odd_cells=odd_cells)

    def with_defaults_from(self, other: ColumnSpec) -> ColumnSpec:
        """Return this spec completed by another one; missing values are those of both."""
        fields = {name: getattr(other if getattr(self, name) is None else self, name) for name in self.__slots__}
        if self.decimal is not None or self.thousands is not None:
            # The two marks belong together: one spec sets both.
            fields |= {"decimal": self.decimal, "thousands": self.thousands}
        is_date = fields["order"] is None and fields["kind"] in (None, "date", "datetime")
        missing = tuple(dict.fromkeys((*(self.missing_values or ()), *(other.missing_values or ()))))
        # An empty list is a declaration, too: only None means undeclared.
        fields["missing_values"] = None if self.missing_values is other.missing_values is None else missing
        fields |= {} if is_date else {"format": None, "latest_year": None}
        if self.order is not None or self.kind not in (None, "category"):
            fields["separator"] = self.separator
        if fields["separator"] is not None:
            # A column of sets is a category: settings for numbers and dates do not apply.
            fields |= dict.fromkeys(("kind", "order", "format", "decimal", "thousands", "latest_year", "odd_cells"))
        return ColumnSpec(**fields)

    def _check_separator(self) -> None:
        sign = self.separator
        if not isinstance(sign, str) or len(sign) != 1 or sign.isalnum() or sign == "*":
            raise InputError(
                f"separator = {sign!r}.", hint="it is one sign that no item holds, and no letter, digit or '*': ';'."
            )
        names = ("order", "format", "decimal", "thousands", "latest_year", "odd_cells")
        others = {name: getattr(self, name) for name in names}
        others |= {"kind": None if self.kind == "category" else self.kind}
        said = [f"{name} = {value!r}" for name, value in others.items() if value is not None]
        if said:
            raise InputError(
                f"separator = {sign!r} was given with {said[0]}.",
                hint="a cell of several items is no number or date and has no place in an order: leave "
                "one of the two out.",
            )

    def _check_reading(self) -> None:
        check_marks(self.decimal, self.thousands, self.missing_values)
        is_date = self.kind in (None, "date", "datetime") and self.order is None
        for entry in ("format", "latest_year"):
            if getattr(self, entry) is not None and not is_date:
                what = f"a {entry} was given to a column of kind {self.kind or 'ordered'}."
                raise InputError(what, hint="it is for dates.")
        if self.format is not None and (not isinstance(self.format, str) or precision_of(self.format) is None):
            raise InputError(
                f"format = {self.format!r} does not name a day, month and year, nor a month, quarter or year.",
                hint="as strptime has it: '%d.%m.%Y', '%m/%Y', 'Q%q %Y', '%Y'.",
            )
        if self.latest_year is not None:
            self._check_latest_year()

    def _check_latest_year(self) -> None:
        year = self.latest_year
        if type(year) is not int or not _FIRST_CENTURY <= year <= dt.MAXYEAR:
            hint = "it is a year of four digits, the latest that dates may be of: 2026."
            raise InputError(f"latest_year = {year!r}.", hint=hint)
        if self.format is not None and "%y" not in self.format:
            raise InputError(
                f"latest_year = {year} was given with format = {self.format!r}, whose years are not of two digits.",
                hint="it says of which century years of two digits (%y) are: leave it out.",
            )


_FIRST_CENTURY: Final = 1000


def check_marks(decimal: Any, thousands: Any, missing_values: Any) -> None:
    """Raise InputError if marks of numbers, or missing values, are invalid."""
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal = {decimal!r}.", hint="a decimal mark is '.' or ','.")
    if thousands not in (None, ".", ",", " ", "'") or (thousands is not None and thousands == (decimal or ".")):
        hint = "what groups digits is '.', ',', ' ' or \"'\", and not the decimal mark."
        raise InputError(f"thousands = {thousands!r} with decimal = {decimal!r}.", hint=hint)
    is_texts = isinstance(missing_values, (tuple, list)) and all(isinstance(each, str) for each in missing_values)
    if missing_values is not None and not is_texts:
        raise InputError(
            "missing_values is not a sequence of texts.", hint="for instance ['NA', '-9'], numbers in quotes."
        )


def check_specs(specs: Any) -> None:
    """Raise InputError if specs are not a mapping of columns to `ColumnSpec`."""
    check_type(specs, Mapping, "specs", 'a mapping, as {"zip": ColumnSpec("category")}')
    for name, spec in (specs or {}).items():
        check_type(spec, ColumnSpec, f"the spec of column {name!r}", f"ColumnSpec({spec!r})")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """What the codes of one column mean.

    Attributes
    ----------
    name : str
    kind : {"integer", "decimal", "date", "datetime", "time", "ordered", "category"}
    values : ndarray, shape (n_values,), read-only
        Code ``i`` means ``values[i]``; code -1 is a missing value. Distinct, and
        in the order of the kind, so that codes keep the order of the values.
    by_rank : bool
        Whether values lie as far apart as their ranks, and not their differences, say.
    separator : str, optional
        Where values are sets, what stands between the items in their texts.

    Examples
    --------
    >>> column, codes = from_texts("age", ["34", "7", "34"])
    >>> column
    Column(name='age', kind='integer', n_values=2)
    >>> codes.tolist()
    [1, 0, 1]
    """

    name: str
    kind: Kind
    values: ValueArray = field(repr=False)
    by_rank: bool = False
    separator: str | None = None

    def __post_init__(self) -> None:
        freeze_array(self.values)

    __reduce__ = reduce_to_fields

    def __repr__(self) -> str:
        return f"Column(name={self.name!r}, kind={self.kind!r}, n_values={self.n_values})"

    @property
    def n_values(self) -> int:
        """How many distinct values there are, the missing value not counted."""
        return len(self.values)

    @property
    def is_ordered(self) -> bool:
        """Whether intervals of the column make sense."""
        return self.kind != "category"

    @property
    def is_measured(self) -> bool:
        """Whether differences of values make sense, not only their order."""
        return self.kind in _MEASURED

    @property
    def is_temporal(self) -> bool:
        """Whether values are days, moments or times of a day."""
        return self.kind in _TEMPORAL

    @property
    def precision(self) -> CalendarUnit:
        """The calendar unit of dates: a day, except for months, quarters and years.

        Examples
        --------
        >>> from_texts("seen", ["2024-Q1", "2024-Q3"], "date")[0].precision
        'quarter'
        """
        return _PRECISIONS[np.datetime_data(self.values.dtype)] if self.kind == "date" else "day"

    @property
    def spec(self) -> ColumnSpec:
        """The spec that types the same texts again."""
        order = tuple(self.texts()) or None if self.kind == "ordered" else None
        return ColumnSpec(self.kind, order, separator=self.separator)

    def positions(self) -> FloatArray:
        """Place every value of an ordered kind on [0, 1]: by value where measured, else or where asked by rank."""
        if self.n_values <= 1:
            return np.zeros(self.n_values)
        if not self.is_measured or self.by_rank:
            return np.arange(self.n_values) / (self.n_values - 1)
        if self.kind == "decimal" and (np.abs(self.values).max() > 2**53 or (self.values % 1 != 0).any()):
            # Scaling first keeps a range near the largest float from overflowing.
            scaled = self.values / np.abs(self.values[[0, -1]]).max()
            return np.asarray((scaled - scaled[0]) / (scaled[-1] - scaled[0]))
        # Integers are subtracted before they become floats, because large neighbours would become one float;
        # modulo 2^64, differences are exact even if they do not fit an int64.
        whole = self.values.astype(np.int64).astype(np.uint64)
        distances = (whole - whole[0]).astype(np.float64)
        return np.asarray(distances / distances[-1])

    def text(self, code: int) -> str:
        """Return the one canonical text of a value: equal values have equal texts."""
        return value_text(self.kind, self.values[code])

    def texts(self) -> list[str]:
        """Return the canonical texts of all values, in code order."""
        return [value_text(self.kind, value) for value in self.values]


def value_text(kind: Kind, value: Any) -> str:
    """Format a value of a kind: no exponent, no trailing zeros, ISO dates, times of whole minutes as ``08:15``.

    Months, quarters and years are ``2024-03``, ``2024-Q1`` and ``2024``.
    """
    if kind == "integer":
        return str(int(value))
    if kind == "decimal":
        text = np.format_float_positional(value, trim="-")
        return "0" if text == "-0" else text
    if kind == "date":
        text = str(value)
        return f"{text[:-2]}Q{int(text[-2:]) // 3 + 1}" if value.dtype == _QUARTERS else text
    if kind == "datetime":
        moment = value.astype("datetime64[us]").item()
        # Outside the years 1 to 9999 numpy has no datetime to give, but writes one.
        return moment.isoformat(sep=" ") if isinstance(moment, dt.datetime) else str(value).replace("T", " ")
    if kind == "time":
        clock = value.astype("datetime64[us]").item().time()
        return str(clock.isoformat("minutes" if not clock.second and not clock.microsecond else "auto"))
    return str(value)


def from_texts(
    name: str, texts: Sequence[str], kind: Kind | None = None, order: Sequence[str] | None = None
) -> tuple[Column, CodeArray]:
    """Parse distinct texts and return a code for each; blank ones are missing, "1" and "1.0" are one value.

    Without a kind it is the first of integer, decimal, date, datetime, time that *every* text fits, else category.
    Texts that are all like 1E10 are codes. ColumnError where a text does not fit the given kind or order.
    """
    blank = np.array([not text.strip() for text in texts], dtype=bool)
    filled = [text for text, empty in zip(texts, blank, strict=True) if not empty]
    if order is not None:
        column_kind: Kind = kind or "ordered"
        values, filled_codes = _encode_by_order(name, filled, order)
    else:
        column_kind, read = _detect_kind(filled) if kind is None else (kind, _parse_texts(name, kind, filled))
        values, inverse = np.unique(read, return_inverse=True)
        filled_codes = inverse.astype(np.int32)
    codes = np.full(len(blank), -1, dtype=np.int32)
    codes[~blank] = filled_codes
    return Column(name, column_kind, values), codes


def _detect_kind(texts: Sequence[str]) -> tuple[Kind, ValueArray]:
    """Return the first kind that every text fits, and the values."""
    candidates: list[tuple[Kind, re.Pattern[str]]] = [
        ("integer", _INTEGER),
        ("decimal", _DECIMAL),
        ("date", _DATE),
        ("datetime", _DATETIME),
        ("time", _TIME),
    ]
    for kind, pattern in candidates if texts else ():
        if not all(pattern.fullmatch(text.strip()) for text in texts):
            continue
        values = _try_to_parse(kind, texts)
        if values is not None:
            if kind == "decimal" and (_are_codes(texts) or _are_keys(texts)):
                break
            return kind, values
    return "category", np.array(texts, dtype=object)


def _are_codes(texts: Sequence[str]) -> bool:
    return any(all(code.fullmatch(text.strip()) for text in texts) for code in _CODES)


def _are_keys(texts: Sequence[str]) -> bool:
    """Tell whether numbers cannot be floats: different ones become equal, or an integer changes."""
    numbers = {text: Decimal(text.strip()) for text in texts}
    # A number with an exponent is a measurement: its last digits are noise.
    if any(_is_changed(number) for text, number in numbers.items() if "e" not in text.lower()):
        return True
    distinct = {*numbers.values(), Decimal(0)}
    return len(distinct) > len({float(number) for number in distinct})


def _is_changed(number: Decimal) -> bool:
    """Tell whether an integer changes when it is written as a float."""
    is_large = abs(number) > 2**53
    return is_large and number == number.to_integral_value() and number != Decimal(value_text("decimal", float(number)))


def _parse_texts(name: str, kind: Kind, texts: Sequence[str]) -> ValueArray:
    """Parse texts as values of one kind, in an array that sorts as the kind does."""
    if kind in ("ordered", "category"):
        return np.array(texts, dtype=object)
    values = _try_to_parse(kind, texts)
    if values is None:
        # Days, months, quarters and years form a column only if all have the same unit.
        alone = [_try_to_parse(kind, [text]) for text in texts]
        units = Counter(each.dtype for each in alone if each is not None)
        misfits = len(texts) - max(units.values(), default=0)
        raise ColumnError(
            f"column {name!r} is declared {kind}, but {misfits} of its {len(texts)} distinct values are not.",
            hint="correct those cells, make them missing (odd_cells: missing; for at most 5 % of the cells), or "
            "declare the column as category.",
        )
    return values


def _try_to_parse(kind: Kind, texts: Sequence[str]) -> ValueArray | None:
    """Parse texts as numbers or moments; None if one cannot be parsed, or is not finite."""
    if kind == "date" and texts and len(texts[0].strip()) < _LENGTH_OF_DAY:
        return _read_units([text.strip() for text in texts])
    read, dtype = _READERS[kind]
    try:
        values = np.array([read(text.strip()) for text in texts], dtype=dtype)
    except (ValueError, OverflowError):
        return None
    return values if np.isfinite(values).all() else None


def _read_units(texts: Sequence[str]) -> ValueArray | None:
    """Parse texts as months, quarters or years."""
    for pattern, dtype in _CALENDAR_UNITS:
        if all(pattern.fullmatch(text) and not text.startswith("0000") for text in texts):
            months = [f"{text[:5]}{3 * int(text[-1]) - 2:02}" for text in texts] if dtype == _QUARTERS else texts
            return np.array(months, dtype=dtype)
    return None


def _without_underscores(text: str) -> str:
    # Python parses 1_000 as a thousand; in data it is a code.
    if "_" in text:
        raise ValueError("an underscore")
    return text


def _read_datetime(text: str) -> str:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError("a time zone")
    return moment.isoformat()


def _read_time(text: str) -> str:
    if not _TIME.fullmatch(text):
        raise ValueError("no time of a day")
    hour, _, rest = text.partition(":")
    return f"1970-01-01T{dt.time.fromisoformat(f'{hour.zfill(2)}:{rest}').isoformat()}"


# Moments as ISO texts: numpy parses these ten times as fast as it converts the standard library's objects.
_READERS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "integer": (lambda text: int(_without_underscores(text)), "int64"),
    "decimal": (lambda text: float(_without_underscores(text)), "float64"),
    "date": (lambda text: dt.date.fromisoformat(text).isoformat(), "datetime64[D]"),
    "datetime": (_read_datetime, "datetime64[us]"),
    "time": (_read_time, "datetime64[us]"),
}


def _encode_by_order(name: str, texts: Sequence[str], order: Sequence[str]) -> tuple[ValueArray, CodeArray]:
    ranks = {text: rank for rank, text in enumerate(order)}
    unknown = sum(text not in ranks for text in texts)
    if unknown:
        raise ColumnError(
            f"column {name!r} holds {unknown} distinct values that its declared order of {len(ranks)} does not name.",
            hint="name every value of the column in `order`, from low to high.",
        )
    present = np.unique([ranks[text] for text in texts])
    codes = np.searchsorted(present, [ranks[text] for text in texts]).astype(np.int32)
    return np.array([order[rank] for rank in present], dtype=object), codes
