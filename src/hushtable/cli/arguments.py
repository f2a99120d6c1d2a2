"""Arguments that several commands take, alone or in groups, and what becomes of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar, cast

import typer

from hushtable.cli.groups import argument, field, option
from hushtable.cli.joblog import record
from hushtable.cli.terminal import print_to_stderr
from hushtable.errors import InputError, check_choice

if TYPE_CHECKING:
    from typer.models import OptionInfo

    from hushtable.io import Dialect, Frame
    from hushtable.policy import Policy
    from hushtable.search import Budget

Given = TypeVar("Given")

_STREAM: Final = Path("-")


def table_path(text: str) -> Path:
    """Return a table's path, or its source if it is a URL: as a path, a URL would lose a slash."""
    from hushtable.io import parse_location

    try:
        return cast("Path", parse_location(text))
    except InputError as error:
        # Typer would print a ValueError with the value, which may hold a password.
        raise typer.BadParameter(str(error)) from None


def table_option(text: str) -> OptionInfo:
    """Return an option that takes the path of another table."""
    return option(text, metavar="PATH", parser=table_path)


def table_field(text: str) -> Path | None:
    """Return the option of a group that names another table."""
    return field(None, text, metavar="PATH", parser=table_path)


def _use_threads(n_threads: int | None) -> int | None:
    """Set the number of threads of searches and of polars, which reads it only when it is imported."""
    if n_threads is not None:
        from hushtable.search import THREADS

        os.environ[THREADS] = os.environ["POLARS_MAX_THREADS"] = str(n_threads)
    return n_threads


InFile = Annotated[
    Path,
    argument(
        "FILE",
        "Table to read: CSV (also .gz), Parquet, Excel, or the URL of a database's table; - reads standard input.",
        parser=table_path,
    ),
]
OriginalFile = Annotated[
    Path,
    argument(
        "ORIGINAL",
        "Original table: CSV (also .gz), Parquet, Excel, or the URL of a database's table; - reads standard input.",
        parser=table_path,
    ),
]
NewFile = Annotated[Path, option("File to write: CSV or Parquet.", "--output", "-o")]
PolicyFile = Annotated[Path | None, option("Policy file (YAML).", "--policy", "-p")]
RoleToAsk = Annotated[
    str | None, option("Role for all columns whose role in the policy is ask.", "--ask", metavar="ROLE")
]
Person = Annotated[
    str | None, option("Column that says whose record a row is. Counts persons instead of records.", metavar="COLUMN")
]
PopulationOption = Annotated[Path | None, table_option("Table of the population, for k-map and delta-presence.")]
Domains = Annotated[Path | None, option("File of hierarchies, a line `Column/node: value, value` each.")]
KeyFile = Annotated[Path | None, option("File that holds the secret key for pseudonyms, 16 bytes or more.")]
ColumnsOptions = Annotated[str, option("Columns to look at. Default: all.", metavar="A,B")]
Tolerance = Annotated[
    str,
    option(
        "How far an attacker's knowledge of these columns may be off. Other columns are known exactly.",
        metavar="A=14D,B=1",
    ),
]
Seconds = Annotated[float | None, option("Stop after so many seconds, with what was found.", min=0)]
Threads = Annotated[
    int | None,
    option("Threads to use. Default: the number of cores, at most 8.", metavar="N", min=1, callback=_use_threads),
]
ReportFile = Annotated[Path | None, option("Write a report page (HTML), and the same as JSON.", metavar="FILE.html")]
AcceptedColumns = Annotated[
    list[str] | None,
    option(
        "Column to publish though it looks like a direct identifier, and why; repeat it for each column.",
        metavar="COLUMN=REASON",
    ),
]
External = Annotated[bool, option("Write a manifest that may be published.", "--external")]
KeepOrder = Annotated[bool, option("Do not shuffle the rows.", "--keep-order")]
Force = Annotated[bool, option("Overwrite files that exist.", "--force")]
AsJson = Annotated[bool, option("Print the result as JSON.", "--json")]


@dataclass(frozen=True)
class ReadingOptions:
    """How tables are read."""

    encoding: str | None = field(
        None, "Encoding of the CSV, such as utf-8 or cp1252. Default: detected.", metavar="NAME"
    )
    delimiter: str | None = field(
        None, "Character between the cells of the CSV, such as ';'. Default: detected.", metavar="CHAR"
    )

    def dialect(self, declared: Dialect | None = None) -> Dialect:
        """Return the spelling of a table: from these options, else as declared."""
        from hushtable.io import Dialect

        declared = declared or Dialect()
        return replace(
            declared, encoding=self.encoding or declared.encoding, delimiter=self.delimiter or declared.delimiter
        )

    def table(self, file: Path, declared: Dialect | None = None) -> Frame:
        """Read the table that a command is about: a file, or the standard input."""
        from hushtable.io import frames

        if file == _STREAM:
            return _tell_index(frames.read_stream(sys.stdin.buffer.read(), "stdin", self.dialect(declared)), file)
        return _tell_index(frames.read(file, dialect=self.dialect(declared)), file)

    def optional_table(self, path: Path | None) -> Frame | None:
        """Read another table if one was given; it never comes from the standard input."""
        from hushtable.io import frames

        return None if path is None else _tell_index(frames.read(path, dialect=self.dialect()), path)

    def original(self, path: Path, rules: Policy | None, columns: Sequence[str] = ()) -> Frame:
        """Read what a release was made from, spelled as its policy says if there is one.

        Of a folder or a pattern: the distinct rows of some columns, or of all if none are named.
        """
        if rules is None:
            return self.table_with_counts(path, columns)
        return self.table_with_counts(path, columns, rules.read_as.dialect).with_specs(rules.specs)

    def table_with_counts(
        self, file: Path, columns: Sequence[str], declared: Dialect | None = None, *, details: Path | None = None
    ) -> Frame:
        """Read the table that a command is about; for a folder or a pattern, its distinct rows with counts.

        Only the columns that are looked at, or all if none are named. Details number the rows, which a folder cannot.
        """
        from hushtable.io import Source, is_many

        if file == _STREAM or isinstance(file, Source) or not is_many(file):
            return self.table(file, declared)
        if details is not None:
            raise InputError("--details numbers the rows of one file, and the input is several.", hint="leave it out.")
        try:
            from hushtable.io import collapse, scan
        except ModuleNotFoundError:
            raise InputError("reading a folder needs a reader.", hint="pip install 'hushtable[stream]'.") from None
        return collapse(scan(file, self.dialect(declared)), list(columns) or None)


def _tell_index(frame: Frame, file: Path) -> Frame:
    record("read", file=file.name, rows=frame.n_records)
    if frame.dialect.index:
        print_to_stderr(f"{file}: its first column has no name; left out, as an index.")
    return frame


@dataclass(frozen=True)
class Machine(ReadingOptions):
    """How tables are read, and how many threads compute."""

    # Takes effect as soon as it is read.
    threads: Threads = None


@dataclass(frozen=True)
class Results:
    """What is written and printed."""

    report: ReportFile = None
    force: Force = False
    as_json: AsJson = False


@dataclass(frozen=True)
class DetailedResults(Results):
    """What is written and printed."""

    details: Path | None = field(None, "File to write the result to, record by record: CSV or Parquet.")
    show_values: bool = field(False, "Also show values of records. The output is then internal.", "--show-values")


@dataclass(frozen=True)
class WrittenOptions:
    """How the release is written."""

    keep_order: KeepOrder = False
    external: External = False
    codebook: bool = field(True, "Write a codebook: what the columns and labels mean.", "--codebook/--no-codebook")
    force: Force = False
    if_exists: str | None = field(
        None,
        "What to do if the release exists: fail (default), skip if it is as its manifest says, or replace.",
        metavar="fail|skip|replace",
    )

    @property
    def overwrite(self) -> bool:
        """Whether files that exist are replaced."""
        if self.if_exists is None:
            return self.force
        if self.force:
            raise InputError("--force was given with --if-exists.", hint="--force is --if-exists replace.")
        check_choice("--if-exists", self.if_exists, ("fail", "skip", "replace"))
        return self.if_exists == "replace"


@dataclass(frozen=True)
class Shown:
    """What is printed."""

    verbose: bool = field(False, "Print everything, not only twelve lines.", "--verbose", "-v")
    as_json: AsJson = False


@dataclass(frozen=True)
class RegressionOptions:
    """A regression on release and original."""

    model: str | None = field(
        None,
        "Regression to fit on every release and on the original, for instance 'log(income) ~ age + sex'.",
        metavar="FORMULA",
    )
    weights: str | None = field(None, "Survey weights of the regression.", metavar="COLUMN")


def budget_of(seconds: float | None) -> Budget | None:
    """Return the budget of a search; None if it has no limit of time."""
    from hushtable.search import Budget

    return None if seconds is None else Budget(seconds=seconds)


def check_effects(
    is_given: Mapping[str, bool], needs: Mapping[str, Sequence[str]], excludes: Mapping[str, Sequence[str]]
) -> None:
    """Raise InputError for an option that would do nothing.

    Options that are given, of each the others of which it needs one, and of each those that mean nothing beside it.
    """
    for name, partners in needs.items():
        if is_given[name] and not any(is_given[other] for other in partners):
            raise InputError(
                f"{name} has no effect without {' or '.join(partners)}.", hint="give that too, or leave it out."
            )
    for name, partners in excludes.items():
        for partner in partners:
            if is_given[name] and is_given[partner]:
                raise InputError(f"{partner} has no effect with {name}.", hint="leave one of the two out.")


def precision_of(
    name: str, text: str, read: Callable[[str], Given], value: str
) -> str | Given | dict[str, Given] | None:
    """Read a precision: "auto", "exact" (None), one for all columns, or A=one,B=another."""
    if text in ("auto", "exact"):
        return None if text == "exact" else "auto"
    try:
        if "=" not in text:
            return read(text)
        entries = [entry.rpartition("=") for entry in names_of(text)]
        if len({column for column, _, _ in entries if column}) < len(entries):
            raise ValueError
        return {column: read(each) for column, _, each in entries}
    except ValueError:
        raise InputError(
            f"{name} {text!r} is not understood.", hint=f"auto, exact, {value}, or COLUMN={value},..."
        ) from None


# An entry ends at the next comma; a quoted entry may hold commas.
_ENTRY: Final = re.compile(r'\s*(?:"((?:[^"]|"")+)"([^,"]*)|([^,]*))(?:,|$)')


def names_of(text: str | None) -> list[str]:
    """Return the column names of an option like ``A,B``; one with a comma is quoted, as in CSV: ``"A, B",C``."""
    entries = [
        quoted.replace('""', '"') + rest.strip() if quoted else plain.strip()
        for quoted, rest, plain in _ENTRY.findall(text or "")
    ]
    return [entry for entry in entries if entry]


def numbers_in(name: str, text: str, read: Callable[[str], Given], what: str, example: str) -> list[Given]:
    """Read an option like ``2,3,5``."""
    try:
        return [read(each) for each in names_of(text)]
    except ValueError:
        raise InputError(f"{name} {text!r} is no list of {what}.", hint=f"for instance: {name} {example}.") from None


def numbers_of(text: str, form: str = "COLUMN=NUMBER", example: str = "--weights job=20,age=0") -> dict[str, float]:
    """Read an option of the form A=20,B=0."""
    numbers = {}
    for entry in names_of(text):
        name, _, number = entry.rpartition("=")
        if name in numbers:
            raise InputError(f"{entry!r} stands beside another of {name!r}.", hint="keep one of them.")
        try:
            numbers[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise InputError(f"{entry!r} is not of the form {form}.", hint=f"for instance: {example}.")
    return numbers


def amounts_of(name: str, text: str) -> dict[str, str]:
    """Read how far columns may be from the truth: A=14D,B=1."""
    amounts = {}
    for entry in names_of(text):
        column, _, amount = entry.rpartition("=")
        if not column or column in amounts:
            raise InputError(
                f"{name} {entry!r} {'stands beside another of it' if column else 'is not of the form COLUMN=AMOUNT'}.",
                hint=f"for instance: {name} date=14D,stars=1.",
            )
        amounts[column.strip()] = amount.strip()
    return amounts


def place_of(file: Path) -> Path:
    """Return the file that a command reads and must not overwrite; the standard input may come from a file, too."""
    return Path("/dev/stdin") if file == _STREAM else file


def pairs_of(option: str, entries: Sequence[str], hint: str) -> dict[str, str]:
    """Read an option like ``NAME=VALUE``, which is given once for each name."""
    pairs: dict[str, str] = {}
    for entry in entries:
        name, sign, value = entry.partition("=")
        if not sign or not name or name in pairs:
            raise InputError(f"{option} {entry!r}.", hint=hint)
        pairs[name] = value
    return pairs


def reasons_of(entries: Sequence[str] | None) -> dict[str, str]:
    """Read which columns are accepted, and why."""
    return pairs_of("--accept", entries or (), "write COLUMN=REASON, once for each column.")
