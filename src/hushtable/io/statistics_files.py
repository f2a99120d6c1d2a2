"""Files of statistics programs (SPSS, Stata, SAS): cells, and what the file says of its variables.

Declared missing values stay the codes that they are, and are read as missing. A file's own label and notes stay unread.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from hushtable.errors import ColumnError, InputError, quote_names

_MAX_EXACT_INTEGER: Final = 2**53  # whole numbers up to here are exact
_MAX_INT32: Final = 2_147_483_600  # Stata's largest are missing values
_TAG: Final = re.compile(r"[._a-zA-Z]")
_UNITS_PER_DAY: Final = {
    "spss": 86_400,
    "stata": 86_400_000,
    "sas": 86_400,
}  # in the units in which a program counts times
_PLAIN_FORMAT: Final = re.compile(r"|%[-~]?[0-9].*|(F|E|N|Z|BEST|COMMA|DOT|DOLLAR|PCT|PERCENT)[0-9.]*|A[0-9]+|[$].*")
_CLOCK_FORMAT: Final = "%tcHH:MM:SS"

READERS: Final = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""What reads a file, by the ending of its name."""

PROGRAMS: Final = {".sav": "spss", ".zsav": "spss", ".dta": "stata", ".sas7bdat": "sas", ".xpt": "sas"}
"""Whose file it is, by the ending of its name."""

WRITERS: Final = {ending: program for ending, program in PROGRAMS.items() if ending != ".sas7bdat"}
"""Whose rules a file follows that is written."""

_NAME_RULES: Final = {
    "spss": (re.compile(r"[^\W\d_][\w.@#$]*(?<![.])|[@#$][\w.@#$]*"), 64),
    "stata": (re.compile(r"[^\W\d]\w*"), 32),
    "sas": (re.compile(r"[A-Za-z_]\w*", re.ASCII), 32),
}
_NAMES_IN_USE: Final = {
    "spss": re.compile(r"all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with", re.IGNORECASE),
    "stata": re.compile(
        r"aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue|default|delegate|delete|do|"
        r"double|else|eltypedef|end|enum|explicit|export|external|float|for|friend|function|global|goto|if|in|inline|int|"
        r"local|long|NULL|pragma|protected|quad|rowvector|short|strL|str[0-9]+|typedef|typename|using|virtual|with|"
        r"_all|_b|_coef|_cons|_n|_N|_pi|_pred|_rc|_skip|_weight"
    ),
    "sas": re.compile(r"_N_|_ERROR_|_ALL_|_NUMERIC_|_CHARACTER_", re.IGNORECASE),
}
_MAX_LABEL_BYTES: Final = {"spss": 255, "stata": 80, "sas": 255}  # bytes of a variable's label
_MAX_TEXT_BYTES: Final = {"spss": 32_767, "stata": 2_045, "sas": 32_767}  # bytes of a text
_MAX_VALUE_LABEL_BYTES: Final = 120  # bytes

LabelledCode = float | str


@dataclass(frozen=True, slots=True)
class Variable:
    """What a file says of a variable."""

    label: str = ""  # what the variable is, in words; empty where nothing is said
    values: Mapping[LabelledCode, str] = field(default_factory=dict, repr=False)  # what codes mean
    # codes that are declared missing: single ones, and ranges with both ends; ``.a`` to ``.z`` are texts
    missing: tuple[LabelledCode | tuple[LabelledCode, LabelledCode], ...] = field(default=(), repr=False)
    format: str = ""  # how the program shows a number: ``F8.2``, ``%9.0g``
    measure: str = "unknown"  # ``nominal``, ``ordinal``, ``scale``, or ``unknown``
    is_number: bool = False  # whether the program holds numbers
    program: str = ""  # whose file said so: ``spss``, ``stata`` or ``sas``; formats are that program's

    def is_missing(self, code: LabelledCode) -> bool:
        """Tell whether a code is declared missing."""
        for each in self.missing:
            low, high = each if isinstance(each, tuple) else (each, each)
            if isinstance(low, str) == isinstance(code, str) and low <= code <= high:  # type: ignore[operator]
                return True
        return False

    def can_declare(self, program: str) -> bool:
        """Tell whether a program's file (or any, without a program) can declare the same codes missing."""
        are_tags = bool(_missing_tags(self))
        return bool(self.missing) and (program in ("", "stata" if are_tags else "spss"))


def _load_library() -> Any:
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise InputError(
            "files of SPSS, Stata and SAS need a reader.", hint="pip install 'hushtable[stats]'."
        ) from None
    return pyreadstat


def read_statistics(path: Path, raw: bytes) -> tuple[pl.DataFrame, dict[str, Variable]]:
    """Read the cells of a file, and what it says of its variables.

    Whole numbers are whole, however the program holds them; an empty text is missing. A column of numbers with tagged
    missing values (``.a``) is text, in which these are texts. A date or time that is declared missing is missing.
    """
    library = _load_library()
    read, program = getattr(library, READERS[path.suffix.lower()]), PROGRAMS[path.suffix.lower()]
    # The library finds no tagged missing values in transport files.
    tags = {} if read.__name__ == "read_xport" else {"user_missing": True}
    try:
        # First as numbers: the library cannot convert dates in a column with tagged missing values.
        cells, meta = read(io.BytesIO(raw), output_format="polars", disable_datetime_conversion=True, **tags)
        shown = meta.original_variable_types
        others = [name for name in cells.columns if not _PLAIN_FORMAT.fullmatch(str(shown.get(name) or ""))]
        dated = read(io.BytesIO(raw), output_format="polars", usecols=others)[0] if others else pl.DataFrame()
    except Exception:
        # Whatever the reader raises may quote cells.
        raise InputError(
            f"{str(path)!r} is not a file that can be read as {path.suffix!r}.", hint="save it anew."
        ) from None
    variables = {name: _read_variable(meta, name, program) for name in cells.columns}
    columns = []
    for name, variable in variables.items():
        if name in dated and _is_dated(dated[name], cells[name], program):
            columns.append(dated[name])
            variables[name] = replace(variable, values={}, missing=())
        else:
            columns.append(_convert_column(cells[name], variable))
    return pl.DataFrame(columns), variables


def _is_dated(column: pl.Series, held: pl.Series, program: str) -> bool:
    """Tell whether a column holds dates or times of a day; times may be durations, which stay numbers."""
    if not isinstance(column.dtype, pl.Time):
        return column.dtype.is_temporal()
    known = held.filter(column.is_not_null()).cast(pl.Float64)
    return bool(known.is_between(0, _UNITS_PER_DAY[program], closed="left").all())


def _convert_column(column: pl.Series, variable: Variable) -> pl.Series:
    if isinstance(column.dtype, pl.Object) or (variable.is_number and isinstance(column.dtype, pl.String)):
        column = pl.Series(column.name, [_text_of_cell(cell) for cell in column.to_list()], dtype=pl.String)
    if isinstance(column.dtype, pl.String):
        return column.set(column == "", None)
    if column.dtype.is_float():
        known = column.drop_nans().drop_nulls()
        if len(known) and (known.abs() < _MAX_EXACT_INTEGER).all() and (known == known.floor()).all():
            return column.fill_nan(None).cast(pl.Int64)
    return column


def _text_of_cell(cell: Any) -> str | None:
    """Return the text of a cell; tagged missing values of Stata and SAS are one letter each."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        return f".{cell}" if _TAG.fullmatch(cell) else cell
    return str(int(cell)) if float(cell).is_integer() and abs(cell) < _MAX_EXACT_INTEGER else repr(float(cell))


def _read_variable(meta: Any, name: str, program: str) -> Variable:
    storage_type = meta.readstat_variable_types.get(name, "")
    ends = [(each["lo"], each["hi"]) for each in meta.missing_ranges.get(name, [])]
    tags = [f".{each}" for each in meta.missing_user_values.get(name, [])]
    values = meta.variable_value_labels.get(name, {})
    return Variable(
        label=str(meta.column_names_to_labels.get(name) or ""),
        values={_code_of_label(code, storage_type): str(text) for code, text in values.items()},
        missing=(*(low if low == high else (low, high) for low, high in ends), *tags),
        format=str(meta.original_variable_types.get(name) or ""),
        measure=str(meta.variable_measure.get(name) or "unknown"),
        is_number=storage_type != "string",
        program=program,
    )


def _code_of_label(code: LabelledCode, held: str) -> LabelledCode:
    """Return the code of a value label; a letter among numbers is a tagged missing value."""
    if isinstance(code, str):
        return code if held == "string" else f".{code}"
    return int(code) if float(code).is_integer() else code


def missing_texts(column: pl.Series, variable: Variable) -> tuple[str, ...]:
    """Return the texts of the cells of a column that are declared missing."""
    if not variable.missing or not (column.dtype.is_numeric() or isinstance(column.dtype, pl.String)):
        return ()
    return tuple(str(code) for code in column.drop_nulls().unique().sort().to_list() if variable.is_missing(code))


def kind_of(column: pl.Series, variable: Variable) -> Literal["integer", "decimal", "category"] | None:
    """Return the kind of a column whose cells do not tell it: numbers beside tagged missing values, codes with labels.

    Numbers are codes of categories where the file says that they are nominal, or has a label for each and does not say
    that they are ordinal: R's haven says ``scale`` of every number.
    """
    if not variable.is_number or not (column.dtype.is_integer() or isinstance(column.dtype, pl.String)):
        return None
    values = [cell for cell in column.drop_nulls().unique().to_list() if not variable.is_missing(cell)]
    are_labelled = bool(values) and {*map(str, values)} <= {*map(_text_of_code, variable.values)}
    if variable.measure == "nominal" or (variable.measure != "ordinal" and are_labelled):
        return "category"
    if not isinstance(column.dtype, pl.String):
        return None
    return "integer" if all(cell.lstrip("-").isdigit() for cell in values) else "decimal"


_MEANING_BY_FORM: Final = {
    "interval": "[17, 25) is from 17 to below 25",
    "set": "a list is one of its values",
    "prefix": "201* begins with 201",
    "range": "[20*, 45*] is a range of codes",
    "any": "* is any value",
}


def publish_variables(
    variables: Mapping[str, Variable], cells: Callable[[str], pl.Series], forms: Mapping[str, Collection[str]]
) -> dict[str, Variable]:
    """Return the descriptions of a release's variables that may be published; ``cells`` returns a column.

    A label of a value stays where somebody still has it; rewritten columns say what the ``forms`` of their cells mean.
    """
    result = {}
    for name, variable in variables.items():
        codes_present = {*map(_text_of_code, cells(name).drop_nulls().unique().to_list())} if variable.values else set()
        values = {code: text for code, text in variable.values.items() if _text_of_code(code) in codes_present}
        if name in forms:
            meanings = "; ".join(text for form, text in _MEANING_BY_FORM.items() if form in forms[name])
            label = variable.label or name
            result[name] = Variable(f"{label} (coarsened{': ' if meanings else ''}{meanings})", values)
        else:
            result[name] = replace(variable, values=values)
    return result


def program_of(path: Path) -> str | None:
    """Return the statistics program whose file has such a name; None for other files."""
    return WRITERS.get(path.suffix.lower())


def infer_measures(columns: Mapping[str, pl.Series], kinds: Mapping[str, str | None]) -> dict[str, Variable]:
    """Infer the measure levels of columns that no statistics program has described."""
    variables = {}
    for name, column in columns.items():
        is_number = not isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null))
        usual = "scale" if is_number and not isinstance(column.dtype, pl.Boolean) else "nominal"
        measure = {"category": "nominal", "ordered": "ordinal"}.get(kinds.get(name) or "", usual)
        variables[name] = Variable(measure=measure, is_number=is_number)
    return variables


def _text_of_code(code: Any) -> str:
    """Return the text by which a label's code is compared with cells."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def check_statistics(path: Path, columns: Mapping[str, pl.Series]) -> None:
    """Raise ColumnError if a kind of file cannot hold a column's name or type."""
    program = WRITERS[path.suffix.lower()]
    _load_library()
    pattern, max_bytes = _NAME_RULES[program]
    odd = [
        name
        for name in columns
        if not pattern.fullmatch(name) or len(name.encode()) > max_bytes or _NAMES_IN_USE[program].fullmatch(name)
    ]
    folded = [name.lower() for name in columns]
    if program != "stata":
        odd += [name for name in columns if folded.count(name.lower()) > 1]
    if odd:
        raise ColumnError(
            f"{str(path)!r} cannot hold columns of the names {quote_names(dict.fromkeys(odd))}.",
            hint=f"{program} takes names of letters, digits and _ up to {max_bytes} bytes, a letter first, no "
            "words of its own: rename them.",
        )
    without = (pl.Binary, pl.Duration)
    odd = [name for name, each in columns.items() if each.dtype.is_nested() or isinstance(each.dtype, without)]
    if odd:
        raise ColumnError(
            f"{str(path)!r} has no cells for the types of columns {quote_names(odd)}.",
            hint="write Parquet, or leave them out.",
        )
    long = [
        name
        for name, each in columns.items()
        if isinstance(each.dtype, (pl.String, pl.Categorical, pl.Enum))
        and (each.cast(pl.String).str.len_bytes() > _MAX_TEXT_BYTES[program]).any()
    ]
    if long:
        raise ColumnError(
            f"{str(path)!r} has no cells for the texts of columns {quote_names(long)}: the longest may have "
            f"{_MAX_TEXT_BYTES[program]:,} bytes.",
            hint="write Parquet or CSV, or leave them out.",
        )


def write_statistics(cells: pl.DataFrame, path: Path, variables: Mapping[str, Variable]) -> None:
    """Write a table, with the descriptions of variables that still apply to their columns."""
    library, program = _load_library(), WRITERS[path.suffix.lower()]
    columns = [_to_writable(cells[name], variables.get(name), program) for name in cells.columns]
    types = {column.name: column.dtype for column in columns}
    described = {name: variables[name] for name in cells.columns if name in variables}
    labels = {name: _cut_text(each.label, _MAX_LABEL_BYTES[program]) for name, each in described.items() if each.label}
    # A rewritten column holds texts instead of numbers: the variable's format no longer applies.
    intact = {name: each for name, each in described.items() if each.is_number != isinstance(types[name], pl.String)}
    formats = {name: each.format for name, each in intact.items() if each.format and each.program == program}
    options: dict[str, Any] = {"column_labels": labels, "variable_format": formats}
    if program != "sas":
        options["variable_format"] = {name: each for name, each in formats.items() if intact[name].is_number}
        value_labels = {name: _labels_to_write(types[name], each, program) for name, each in described.items()}
        options["variable_value_labels"] = {name: each for name, each in value_labels.items() if each}
    if program == "spss":
        options["variable_measure"] = {name: each.measure for name, each in intact.items() if each.measure != "unknown"}
        options["missing_ranges"] = {
            name: [{"lo": each[0], "hi": each[1]} if isinstance(each, tuple) else each for each in variable.missing]
            for name, variable in intact.items()
            if variable.missing and not any(str(each).startswith(".") for each in variable.missing)
        }
        options |= {"compress": True} if path.suffix.lower() == ".zsav" else {"row_compress": True}
        write = library.write_sav
    elif program == "stata":
        tags = {name: [each[1:] for each in _missing_tags(variable)] for name, variable in intact.items()}
        options["missing_user_values"] = {name: each for name, each in tags.items() if each}
        clocks = {name: _CLOCK_FORMAT for name in cells.columns if isinstance(cells[name].dtype, pl.Time)}
        options["variable_format"] = clocks | options["variable_format"]
        # The library's default is the newest format, which older Stata versions and other programs cannot read.
        options["version"] = 14
        write = library.write_dta
    else:
        write = library.write_xport
    try:
        write(pl.DataFrame(columns), str(path), **options)
    except OSError:
        raise
    except Exception:
        # Whatever the writer raises may quote cells.
        raise InputError(f"the cells cannot be written as {path.suffix!r}.", hint="write Parquet or CSV.") from None


def _missing_tags(variable: Variable) -> list[str]:
    return [each for each in variable.missing if isinstance(each, str) and re.fullmatch(r"\.[a-z]", each)]


def _to_writable(column: pl.Series, variable: Variable | None, program: str) -> pl.Series:
    dtype, is_number = column.dtype, variable is not None and variable.is_number
    if isinstance(dtype, (pl.Boolean, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16)):
        return column.cast(pl.Int32)
    if isinstance(dtype, (pl.UInt32, pl.UInt64, pl.Int64, pl.Int128, pl.Decimal, pl.Float32)):
        fits = dtype.is_integer() and not (column.abs() >= _MAX_INT32).any()
        return column.cast(pl.Int32 if fits else pl.Float64)
    if isinstance(dtype, pl.Null):
        return column.cast(pl.Float64 if is_number else pl.String)
    if isinstance(dtype, pl.Time) and program == "stata":
        return column.cast(pl.Int64) / 1_000_000
    if (
        isinstance(dtype, pl.String)
        and variable is not None
        and is_number
        and program == "stata"
        and _missing_tags(variable)
    ):
        texts = column.to_list()
        cells = [cell if cell is None else cell[1:] if cell.startswith(".") else float(cell) for cell in texts]
        return pl.Series(column.name, cells, dtype=pl.Object)
    return column


def _labels_to_write(dtype: pl.DataType, variable: Variable, program: str) -> dict[LabelledCode, str]:
    """Return the value labels in the form that the program needs for a column's type."""
    is_text = isinstance(dtype, pl.String)
    if is_text and program == "stata":
        return {}
    labels: dict[LabelledCode, str] = {}
    for code, text in variable.values.items():
        known = code.removeprefix(".") if isinstance(code, str) else code
        labels[_text_of_code(code) if is_text else known] = _cut_text(text, _MAX_VALUE_LABEL_BYTES)
    return labels


def _cut_text(text: str, n_bytes: int) -> str:
    return text.encode()[:n_bytes].decode(errors="ignore")
