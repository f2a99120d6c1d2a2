"""Arguments that several commands take, and what becomes of them.

--fail-above: figures against limits, for pipelines. A figure that is not known to be at most its limit fails.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast

import typer

from hushtable.cli.terminal import leaving, tell
from hushtable.errors import InputError, listed
from hushtable.policy import LimitedFigure

if TYPE_CHECKING:
    from hushtable.io import Dialect, Frame
    from hushtable.risk import Attacks

__all__ = [
    "AsJson",
    "Delimiter",
    "Domains",
    "Encoding",
    "External",
    "Force",
    "InFile",
    "KeepOrder",
    "KeyFile",
    "PolicyFile",
    "PopulationOption",
    "Threads",
    "Verbose",
    "WithCodebook",
    "amounts_of",
    "assess_figures",
    "attack_figures",
    "check_effects",
    "counted_table_of",
    "fail_above",
    "failing",
    "frame_of",
    "limits_of",
    "names_of",
    "numbers_of",
    "outputs_of",
    "place_of",
    "precision_of",
    "scan_figures",
    "synthetic_figures",
    "table_of",
    "table_path",
    "uniques_figures",
    "use_threads",
]


_RANGES: Final = {
    "rate": (0.0, 1.0),
    "excess": (-1.0, 1.0),
    "highest": (0.0, 1.0),
    "average": (0.0, 1.0),
    "marketer": (0.0, 1.0),
    "global": (0.0, 1.0),
    "theta": (0.0, 1.0),
    "singling-out": (0.0, 1.0),
    "linkability": (0.0, 1.0),
    "inference": (0.0, 1.0),
    "dcr": (0.0, 1.0),
    "tcap": (0.0, 1.0),
    "rapid": (0.0, 1.0),
    "count": (0.0, math.inf),
    "copies": (0.0, math.inf),
}


_OF_FIGURES: Final = {
    "dcr": "the upper end of the share of synthetic records that are nearer to the people than to the control",
    "tcap": "the share of right targets where all synthetic records of a key agree",
    "rapid": "the upper end of the share of people whose target is told",
}


def fail_above(names: Sequence[str]) -> Any:
    """Return the option of a command whose figures have these names."""
    return typer.Option(
        "--fail-above",
        metavar="NAME=LIMIT,...",
        help=f"Exit 1 if {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))} is above its limit, or "
        "may be.",
        show_default=False,
    )


def limits_of(given: Sequence[str] | None, names: Sequence[str]) -> dict[str, float]:
    """Read limits of the form NAME=LIMIT, several to an option or the option several times."""
    limits: dict[str, float] = {}
    for entry in ",".join(given).split(",") if given else ():
        name, _, text = (part.strip() for part in entry.partition("="))
        if name not in names or name in limits:
            what = "is given twice" if name in limits else "is no figure of this command with its limit"
            raise InputError(
                f"--fail-above {entry.strip()!r} {what}.",
                hint=f"each of {listed(names)} can be limited once, as in {names[0]}=0.05.",
            )
        limits[name] = _limit(name, text)
    if limits:
        from hushtable.tables import refuse_mismatches

        # A gate would pass on columns that no attack can compare.
        refuse_mismatches()
    return limits


@contextmanager
def failing(failed: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Leave with exit 1 after what is printed meanwhile, also where its reader has gone."""
    with leaving(1 if failed else 0):
        try:
            yield
        finally:
            for each in failed:
                tell(f"hushtable: failed: {each['because']}.")


def uniques_figures(summary: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return what `hushtable uniques` can limit."""
    doubt = "" if summary["complete"] else "the budget ended before all column sets were looked at"
    what = f"of the records that are unique on at most {summary['max_size']} columns"
    return {
        "rate": LimitedFigure(summary["unique_rate"], f"the share {what}", doubt),
        "count": LimitedFigure(summary["n_records_with_sets"], f"the number {what}", doubt),
    }


def assess_figures(risk: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return what `hushtable assess` can limit; of theta the upper end of its interval."""
    theta, what = risk["theta"], "the upper end of the chance that a match with a unique is right"
    if risk["population_size"] is None:
        chance = LimitedFigure(math.nan, what, "nothing is known of the population")
    elif theta is not None:
        chance = LimitedFigure(theta["high"], what)
    else:
        # Where nobody is unique, no match with a unique is right.
        chance = LimitedFigure(0.0 if risk["n_records"] and not risk["n_unique"] else math.nan, what)
    rate = risk["n_unique"] / risk["n_records"] if risk["n_records"] else math.nan
    return {
        "rate": LimitedFigure(rate, "the share of the records that are unique"),
        "highest": LimitedFigure(risk["highest_risk"], "the highest risk of a record"),
        "average": LimitedFigure(risk["average_risk"], "the average risk of a record"),
        "marketer": LimitedFigure(risk["marketer_risk"], "the expected share of right guesses over all records"),
        "global": LimitedFigure(risk["global_risk"], "the share of the records that is expected to be found"),
        "theta": chance,
    }


def attack_figures(rate: float, count: int, what: str, excess: float | None = None) -> dict[str, LimitedFigure]:
    """Return what attacks can limit; of the excess over a control the upper end of its interval."""
    most = math.nan if excess is None else excess
    return {
        "rate": LimitedFigure(rate, f"the share {what}"),
        "count": LimitedFigure(count, f"the number {what}"),
        "excess": LimitedFigure(most, "the upper end of the 95 % interval of what is beyond the control"),
    }


def synthetic_figures(found: Attacks, limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return what `hushtable attack` can limit: of every kind the upper end of the highest risk's interval."""
    assert found.copies is not None, "the command counts them"
    figures = {"copies": LimitedFigure(found.copies.n_copied, "the number of people who stand in the table")}
    for kind in ("singling out", "linkability", "inference"):
        attacks = found.of(kind)
        unknown = not attacks or any(math.isnan(each.risk.high) for each in attacks)
        highest = math.nan if unknown else max(each.risk.high for each in attacks)
        doubt = "no attack of this kind could be made or compared" if unknown else ""
        most = min((each.most for each in attacks), default=1.0)
        if not most > limits.get(kind.replace(" ", "-"), -1.0):
            doubt = f"beside this control even a copy of the table would show a risk of {round(most, 3):g}"
        what = f"the upper end of the 95 % interval of the {kind} risk"
        figures[kind.replace(" ", "-")] = LimitedFigure(highest, what, doubt)
    for name, what in _OF_FIGURES.items():
        measured = [each for each in found.figures if each.name == name]
        # Of what has no interval, the figure itself.
        ends = [each.value if math.isnan(each.high) else each.high for each in measured]
        unknown = not ends or any(map(math.isnan, ends))
        doubt = "it was not measured (dcr needs a control, the others a --secret)" if unknown else ""
        most = min((each.reach.most for each in measured if each.reach is not None), default=1.0)
        if not most > limits.get(name, -1.0):
            doubt = doubt or f"beside this control even a copy of the table would show {round(most, 3):g}"
        figures[name] = LimitedFigure(math.nan if unknown else max(ends), what, doubt)
    return figures


def scan_figures(risk: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return what `hushtable scan` can limit; without quasi-identifiers it measured nothing."""
    doubt = "" if risk["quasi_identifiers"] else "no column looks like a quasi-identifier, which proves nothing"
    rate = risk["n_unique"] / risk["n_records"] if risk["n_records"] else math.nan
    return {
        "rate": LimitedFigure(
            rate, "the share of the records that are unique on the proposed quasi-identifiers", doubt
        ),
        "highest": LimitedFigure(risk["highest_risk"], "the highest risk of a record", doubt),
        "average": LimitedFigure(risk["average_risk"], "the average risk of a record", doubt),
    }


def _limit(name: str, text: str) -> float:
    low, high = _RANGES[name]
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    is_count = name in ("count", "copies")
    # So written, NaN is out of every range.
    if not low <= limit <= high or (is_count and not limit.is_integer()):
        expected = "a whole number, 0 or more" if is_count else f"a number from {low:g} to {high:g}: 0.05 is 5 %"
        raise InputError(f"--fail-above {name}={text} is no limit.", hint=f"give {expected}.")
    return int(limit) if is_count else limit


Given = TypeVar("Given")

_STREAM: Final = Path("-")


def table_path(text: str) -> Path:
    """Return what names a table: a path, or what stands for one where it is a URL, of which a path drops a slash."""
    from hushtable.io import located

    try:
        return cast("Path", located(text))
    except InputError as error:
        # The parser of arguments would tell an error of values with the value.
        raise typer.BadParameter(str(error)) from None


InFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Table to read: CSV (also .gz), Parquet, Excel, or the URL of a database's table; - reads standard input.",
        parser=table_path,
        show_default=False,
    ),
]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print everything, not only twelve lines.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
PopulationOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Table of the population, for k-map and delta-presence.",
        parser=table_path,
        show_default=False,
    ),
]
Domains = Annotated[
    Path | None, typer.Option(help="File of hierarchies, a line `Column/node: value, value` each.", show_default=False)
]
KeepOrder = Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")]
External = Annotated[bool, typer.Option("--external", help="Write a manifest that may be published.")]
WithCodebook = Annotated[
    bool, typer.Option("--codebook/--no-codebook", help="Write a codebook: what the columns and labels mean.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="File that holds the secret key for pseudonyms, 16 bytes or more.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the CSV. Default: found.", show_default=False)]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of the CSV. Default: found.", show_default=False)]


Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Threads to use. Default: the number of cores, at most 8.",
        show_default=False,
    ),
]


def outputs_of(output: Path, *, codebook: bool) -> tuple[Path, ...]:
    """Return the files that a release is written to."""
    from hushtable.io import frames
    from hushtable.release import codebook_paths, manifest

    frames.file_kind(output)
    return (output, manifest.manifest_path(output), *(codebook_paths(output) if codebook else ()))


def use_threads(n_threads: int | None) -> None:
    """Let the searches and polars use so many threads; polars listens only before it is imported."""
    from hushtable.search import THREADS

    if n_threads is not None:
        os.environ[THREADS] = os.environ["POLARS_MAX_THREADS"] = str(n_threads)


def check_effects(
    given: Mapping[str, bool], needs: Mapping[str, Sequence[str]], excludes: Mapping[str, Sequence[str]]
) -> None:
    """Raise InputError for an option that would do nothing.

    Options that are given, of each the others of which it needs one, and of each those that mean nothing beside it.
    """
    for option, others in needs.items():
        if given[option] and not any(given[other] for other in others):
            raise InputError(
                f"{option} has no effect without {' or '.join(others)}.", hint="give that too, or leave it out."
            )
    for option, others in excludes.items():
        for other in others:
            if given[option] and given[other]:
                raise InputError(f"{other} has no effect with {option}.", hint="leave one of the two out.")


def precision_of(
    option: str, text: str, read: Callable[[str], Given], value: str
) -> str | Given | dict[str, Given] | None:
    """Read a precision: "auto", "exact" (None), one for all columns, or A=one,B=another."""
    if text in ("auto", "exact"):
        return None if text == "exact" else "auto"
    try:
        if "=" not in text:
            return read(text)
        entries = [entry.rpartition("=") for entry in names_of(text)]
        if len({name for name, _, _ in entries if name}) < len(entries):
            raise ValueError
        return {name: read(each) for name, _, each in entries}
    except ValueError:
        raise InputError(
            f"{option} {text!r} is not understood.", hint=f"auto, exact, {value}, or COLUMN={value},..."
        ) from None


# An entry up to the next comma; one that begins with a quote holds commas up to the quote that closes it.
_ENTRY: Final = re.compile(r'\s*(?:"((?:[^"]|"")+)"([^,"]*)|([^,]*))(?:,|$)')


def names_of(option: str) -> list[str]:
    """Return the column names of an option like ``A,B``; one with a comma is quoted, as in CSV: ``"A, B",C``."""
    entries = [
        quoted.replace('""', '"') + rest.strip() if quoted else plain.strip()
        for quoted, rest, plain in _ENTRY.findall(option)
    ]
    return [entry for entry in entries if entry]


def numbers_of(option: str, form: str = "COLUMN=NUMBER", example: str = "--weights job=20,age=0") -> dict[str, float]:
    """Read an option of the form A=20,B=0."""
    numbers = {}
    for entry in names_of(option):
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


def amounts_of(option: str, given: str) -> dict[str, str]:
    """Read how far columns may be from the truth: A=14D,B=1."""
    amounts = {}
    for entry in names_of(given):
        name, _, amount = entry.rpartition("=")
        if not name or name in amounts:
            raise InputError(
                f"{option} {entry!r} {'stands beside another of it' if name else 'is not of the form COLUMN=AMOUNT'}.",
                hint=f"for instance: {option} date=14D,stars=1.",
            )
        amounts[name.strip()] = amount.strip()
    return amounts


def frame_of(path: Path | None, encoding: str | None, delimiter: str | None) -> Frame | None:
    """Read a file that may not have been given."""
    from hushtable.io import frames

    return None if path is None else _told(frames.read(path, encoding=encoding, delimiter=delimiter), path)


def dialect_of(encoding: str | None, delimiter: str | None, known: Dialect | None = None) -> Dialect:
    """Return how a table is spelled: as options say, else as is known."""
    from hushtable.io import Dialect

    known = known or Dialect()
    return replace(known, encoding=encoding or known.encoding, delimiter=delimiter or known.delimiter)


def table_of(file: Path, encoding: str | None, delimiter: str | None, known: Dialect | None = None) -> Frame:
    """Read the table that a command is about: a file, or what comes in."""
    from hushtable.io import frames

    dialect = dialect_of(encoding, delimiter, known)
    if file != _STREAM:
        return _told(frames.read(file, dialect=dialect), file)
    return _told(frames.read_stream(sys.stdin.buffer.read(), "stdin", dialect), file)


def counted_table_of(
    file: Path,
    columns: Sequence[str],
    encoding: str | None,
    delimiter: str | None,
    known: Dialect | None = None,
    *,
    details: Path | None = None,
) -> Frame:
    """Read the table that a command is about; of a folder or a pattern the distinct rows, with counts.

    Parameters
    ----------
    file : path
    columns : sequence of str
        Those that are looked at; all where there are none.
    encoding, delimiter : str, optional
    known : Dialect, optional
    details : path, optional
        Where rows are told by their numbers, which those of a folder do not have.
    """
    from hushtable.io import Source, is_many

    if file == _STREAM or isinstance(file, Source) or not is_many(file):
        return table_of(file, encoding, delimiter, known)
    if details is not None:
        raise InputError("--details numbers the rows of one file, and the input is several.", hint="leave it out.")
    try:
        from hushtable.io import collapse, scan
    except ModuleNotFoundError:
        raise InputError("reading a folder needs a reader.", hint="pip install 'hushtable[stream]'.") from None
    return collapse(scan(file, dialect_of(encoding, delimiter, known)), list(columns) or None)


def place_of(file: Path) -> Path:
    """Return the file that a command reads, for whoever must not write over it; a stream may come from one, too."""
    return Path("/dev/stdin") if file == _STREAM else file


def _told(frame: Frame, file: Path) -> Frame:
    if frame.dialect.index:
        tell(f"{file}: its first column has no name; left out, as an index.")
    return frame
