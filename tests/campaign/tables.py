"""Random tables: columns of all types in frames of all libraries, or files."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import hushtable as ht
from reading import is_missing, text_of

FORMS = ("polars", "pandas", "pyarrow", "csv", "parquet", "Table")
COUNTED = "counted Table"
"""A Table of distinct rows, each of which counts its records; what is asked of it is told by records."""

NAMES = (
    "age",
    "zip code",
    "größe",
    "x,y",
    'q"uote',
    "🙂",
    "1",
    "a;b",
    "Sex",
    "under_score",
    "pay",
    "*",
    "tab\there",
    "^a.*$",
)

_WORDS = ("bonn", "graz", "linz", "Wien", "f", "m", "straße", "O'Brien", "NA", "null", "None", "nan", "true", "x y")
_NASTY = (
    "[1, 2]", "<5", ">=90", '["a", "b"]', "[17, 25)", "a;b", "a,b", 'say "hi"', "line\nbreak", "🙂🙃", " a", "a ",
    "١٢", "½", "-", "'", '"', "\\", "0x1F", "=1+1", "a*", "é", "e\u0301", "null", "[", "]", "[]", "[null]", "{}",
)  # fmt: skip
_NUMBERS = ("1", "2", "10", "34", "7", "100", "55")
_CODES = ("01", "007", "1", "10", "0123", "0124", "0199", "0200")
_LOOKALIKES = ("1", "1.0", "01", "+1", "1 ", "1_000")


@dataclass(frozen=True)
class Made:
    """A random column: Python values, the type that carries them, and the kind that follows from it."""

    values: list[Any]
    dtype: str
    kind: str
    order: tuple[str, ...] = ()


def column(random: Random, n: int, secret: str = "") -> Made:
    """Draw a column; ``secret`` is part of some of its texts."""
    make = random.choices(
        (_integers, _decimals, _flags, _dates, _moments, _times, _texts, _codes, _ordered, _nothing),
        (5, 4, 1, 2, 2, 1.5, 8, 2, 2, 0.2),
    )[0]
    made = make(random, n, secret)
    if random.random() < 0.3:
        share = random.choice((0.05, 0.3, 0.9))
        values = [None if random.random() < share else value for value in made.values]
        made = Made(values, made.dtype, made.kind, made.order)
    return made


def _draw(random: Random, n: int, palette: list[Any]) -> list[Any]:
    # Few values, unevenly frequent, so that rows meet.
    few = random.sample(palette, random.randint(1, min(len(palette), random.choice((1, 2, 4, 12)))))
    weights = [random.choice((1, 1, 2, 5)) for _ in few]
    return random.choices(few, weights, k=n)


def _integers(random: Random, n: int, _: str) -> Made:
    dtype, palettes = random.choice(
        (
            ("int64", (range(100), range(-3, 4), [2**53, 2**53 + 1, 2**62, 0], [10**6 * i for i in range(9)])),
            ("int8", (range(-128, 128), range(5))),
            ("uint64", (range(50), [2**63 - 1, 0, 5])),
            ("int64", (range(18, 90), range(18, 90))),
        )
    )
    return Made(_draw(random, n, list(random.choice(palettes))), dtype, "integer")


def _decimals(random: Random, n: int, _: str) -> Made:
    palette = random.choice(
        (
            [i / 4 for i in range(-20, 40)],
            [0.0, -0.0, 1.0, 1e16, 12345678901234567.0, 0.1, 0.1 + 0.2, 0.3],
            [1e-320, 1e300, -1e300, 1e308, -1e308, 1.0, 2.0],
            [round(i * 0.1, 1) for i in range(40)],
            [float(i) for i in range(30)],
        )
    )
    dtype = random.choice(("float64", "float64", "float32"))
    if dtype == "float32":
        palette = [pl.Series([x], dtype=pl.Float32)[0] for x in palette if abs(x) < 1e30]
    values = _draw(random, n, palette)
    if random.random() < 0.04:
        values[random.randrange(n)] = random.choice((float("inf"), float("-inf"), float("nan")))
    return Made(values, dtype, "decimal")


def _flags(random: Random, n: int, _: str) -> Made:
    return Made(_draw(random, n, [True, False]), "bool", "category")


def _dates(random: Random, n: int, _: str) -> Made:
    palettes = (
        [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(60)],
        [dt.date(y, m, 1) for y in range(1950, 2010, 7) for m in (1, 2, 12)],
        [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29)],
    )
    return Made(_draw(random, n, random.choice(palettes)), "date", "date")


def _moments(random: Random, n: int, _: str) -> Made:
    start = dt.datetime(2024, 3, 31, 0, 30, 15, 123456)
    palettes = (
        [start + dt.timedelta(hours=7 * i) for i in range(40)],
        [start + dt.timedelta(seconds=i) for i in range(40)],
        [start + dt.timedelta(microseconds=37 * i) for i in range(40)],
        [dt.datetime(1900 + 10 * i, 1, 1) for i in range(15)],
    )
    dtype = random.choice(("datetime_us", "datetime_ms", "datetime_ns", "datetime_tz"))
    values = _draw(random, n, random.choice(palettes))
    if dtype == "datetime_ms":
        values = [value.replace(microsecond=value.microsecond // 1000 * 1000) for value in values]
    if dtype == "datetime_tz":
        values = [value.replace(tzinfo=dt.UTC) for value in values]
    return Made(values, dtype, "datetime")


def _times(random: Random, n: int, _: str) -> Made:
    palettes = (
        [dt.time(hour, minute) for hour in range(24) for minute in (0, 5, 15, 30, 59)],
        [dt.time(8, minute, second) for minute in (0, 1, 59) for second in (0, 1, 30)],
        [dt.time(0), dt.time(23, 59, 59, 999_999), dt.time(12, 0, 0, 1), dt.time(12)],
    )
    return Made(_draw(random, n, random.choice(palettes)), "time", "time")


def _texts(random: Random, n: int, secret: str) -> Made:
    palette = random.choice((_WORDS, _WORDS, _NASTY, _NUMBERS, _CODES, _LOOKALIKES, (*_WORDS, *_NASTY)))
    values = _draw(random, n, list(palette))
    if secret and random.random() < 0.4:
        marked = {value: f"{value}{secret}" for value in random.sample(sorted(set(values)), 1)}
        values = [marked.get(value, value) for value in values]
    if random.random() < 0.03:
        values[random.randrange(n)] = random.choice(("*", "", " ", "\u00a0", "\t"))
    return Made(values, random.choice(("text", "text", "text", "factor")), "category")


def _codes(random: Random, n: int, _: str) -> Made:
    """Draw codes of one pattern, so many that they are cut in their order."""
    palette = random.choice(
        (
            [f"{i:05}" for i in range(1067, 99_999, 1_733)],
            [f"{letter}{i:02}" for letter in "AEIM" for i in range(10, 50, 3)],
            [f"{letter}{i:02}{end}" for letter in "EI" for i in range(10, 20) for end in ("", ".0", ".90")],
            [f"{i:02}-{letter}" for i in range(40) for letter in "ab"],
        )
    )
    return Made(random.choices(palette, k=n), "text", "category")


def _ordered(random: Random, n: int, _: str) -> Made:
    order = random.choice((("low", "mid", "high"), ("c", "b", "a"), ("3", "10", "2"), ("a, b", "[x", "<5", "z")))
    return Made(_draw(random, n, list(order)), "ordered", "ordered", order)


def _nothing(random: Random, n: int, _: str) -> Made:
    return Made([None] * n, "text", "category")


_POLARS: dict[str, Any] = {
    "int64": pl.Int64, "int8": pl.Int8, "uint64": pl.UInt64, "float64": pl.Float64, "float32": pl.Float32,
    "bool": pl.Boolean, "date": pl.Date, "text": pl.String, "factor": pl.Categorical,
    "datetime_us": pl.Datetime("us"), "datetime_ms": pl.Datetime("ms"), "datetime_ns": pl.Datetime("ns"),
    "datetime_tz": pl.Datetime("us", "UTC"), "time": pl.Time,
}  # fmt: skip
_PANDAS: dict[str, str] = {
    "int64": "Int64", "int8": "Int8", "uint64": "UInt64", "float64": "float64", "float32": "float32",
    "bool": "boolean", "factor": "category", "datetime_us": "datetime64[us]", "datetime_ms": "datetime64[ms]",
    "datetime_ns": "datetime64[ns]", "datetime_tz": "datetime64[us, UTC]", "time": "time64[us][pyarrow]",
}  # fmt: skip


def build(columns: dict[str, Made], form: str, random: Random, folder: Path, name: str = "input") -> Any:
    """Put columns into a frame or a file."""
    if form == "csv":
        return write_csv(columns, folder / f"{name}.csv", random)
    if form == "pandas":
        index = pd.Index(range(7, 7 + len(next(iter(columns.values())).values)))
        return pd.DataFrame({key: pandas_column(made, index, random) for key, made in columns.items()}, index=index)
    frame = pl.DataFrame([polars_column(key, made) for key, made in columns.items()])
    # What a Table refuses is left to `anonymize` to refuse.
    is_tame = not any(_is_infinite(made) for made in columns.values())
    if form in ("Table", COUNTED) and is_tame:
        table = ht.Table.encode(frame)
        return table.collapse()[0] if form == COUNTED else table
    if form in ("polars", "Table", COUNTED):
        return frame
    table = frame.to_arrow()
    if form == "pyarrow":
        return table
    pq.write_table(table, folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


def _is_infinite(made: Made) -> bool:
    return made.kind == "decimal" and any(value is not None and math.isinf(value) for value in made.values)


def polars_column(name: str, made: Made) -> pl.Series:
    """Make a polars column."""
    dtype = pl.Enum(made.order) if made.dtype == "ordered" else _POLARS[made.dtype]
    # The constructor of polars takes a name such as `^a$` for a pattern.
    return pl.Series(made.values, dtype=dtype).alias(name)


def pandas_column(made: Made, index: pd.Index[Any], random: Random) -> pd.Series[Any]:
    """Make a pandas column; texts and dates may be objects or have a type of their own."""
    if made.dtype == "ordered":
        return pd.Series(pd.Categorical(made.values, categories=made.order, ordered=True), index=index)
    if made.dtype == "date":
        return pd.Series(made.values, index=index, dtype=random.choice((object, "date32[pyarrow]")))
    if made.dtype == "text":
        return pd.Series(made.values, index=index, dtype=random.choice((object, "str", "string")))
    if made.dtype == "int64" and None not in made.values and random.random() < 0.5:
        return pd.Series(made.values, index=index, dtype="int64")
    return pd.Series(made.values, index=index, dtype=_PANDAS[made.dtype])


def write_csv(columns: dict[str, Made], path: Path, random: Random) -> Path:
    """Write columns as CSV; missing cells are empty, numbers positional or as Python spells them."""
    spelled = [_spelled(made, random.random() < 0.3) for made in columns.values()]
    # A bare `a;b,pay` has two delimiters to choose from.
    delimiter = random.choice(",,;\t|")
    is_plain = not any(sign in name for name in columns for sign in ",;\t|")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file,
            # The header of one column tells no delimiter.
            delimiter=delimiter if len(columns) > 1 else ",",
            quoting=random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)) if is_plain else csv.QUOTE_ALL,
            lineterminator=random.choice(("\n", "\r\n")),
        )
        writer.writerow(columns)
        writer.writerows(zip(*spelled, strict=True))
    return path


def _spelled(made: Made, with_exponents: bool) -> list[str]:
    """Return a column's cells as a CSV has them."""
    # Beside infinite ones numbers are texts, which are as they are spelled.
    if with_exponents and made.kind == "decimal" and not _is_infinite(made):
        return ["" if is_missing(value) else repr(value) for value in made.values]
    return [text_of(value) or "" for value in made.values]


def records(data: Any, delimiter: str | None = None) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names and rows of a frame or file as plain Python values; a CSV holds texts."""
    if isinstance(data, Path) and data.suffix == ".csv":
        return _csv_records(data, delimiter)
    if isinstance(data, ht.Table):
        names, rows = records(data.decode())
        return names, [row for row, count in zip(rows, data.counts.tolist(), strict=True) for _ in range(count)]
    if isinstance(data, Path):
        data = pq.read_table(data)
    if isinstance(data, pd.DataFrame):
        values = {str(name): [_plain(value) for value in data[name].tolist()] for name in data.columns}
    elif isinstance(data, pa.Table):
        values = {name: [_plain(v) for v in pl.Series(data.column(name)).to_list()] for name in data.column_names}
    else:
        values = {name: [_plain(value) for value in data[name].to_list()] for name in data.columns}
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return list(values), rows


def _csv_records(path: Path, delimiter: str | None) -> tuple[list[str], list[dict[str, Any]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        delimiter = delimiter or delimiter_of(file.readline())
        file.seek(0)
        names, *rows = csv.reader(file, delimiter=delimiter)
    # The csv module reads an empty line, which is a record of one empty cell, as no cell.
    rows = [row or [""] for row in rows] if len(names) == 1 else [row for row in rows if row]
    return names, [{name: cell or None for name, cell in zip(names, row, strict=True)} for row in rows]


def delimiter_of(line: str) -> str:
    """Return the delimiter that occurs most in a header line, outside quotes."""
    bare = re.sub(r'"[^"]*"?', "", line)
    return max(",;\t|", key=bare.count)


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime(warn=False)
    value = value.item() if hasattr(value, "item") else value
    return None if is_missing(value) else value


def kind_of_texts(texts: list[str | None]) -> str:
    """Return the kind of a CSV's column: the first that every text fits; a number with a leading zero is a code."""
    known = [text.strip() for text in texts if text is not None and text.strip()]
    if not known:
        return "category"
    if all(re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", text) and abs(int(text)) < 2**63 for text in known):
        return "integer"
    if all(
        re.fullmatch(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-][0-9]+)?", text) and any(map(str.isdigit, text))
        for text in known
    ):
        return "decimal"
    if all(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) for text in known):
        return "date"
    if all(re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?", text, re.ASCII) for text in known):
        return "datetime"
    if all(re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?", text, re.ASCII) for text in known):
        return "time"
    return "category"
