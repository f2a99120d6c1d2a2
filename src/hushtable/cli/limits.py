"""--fail-above: figures against limits, for pipelines. A figure that is not known to be at most its limit fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import typer

from hushtable.cli.terminal import leaving
from hushtable.errors import InputError, listed, with_hint

__all__ = [
    "Figure",
    "fail_above",
    "failing",
    "failures",
    "limits_of",
    "mpuccs_figures",
    "scan_figures",
    "uniques_figures",
]

_RANGES: Final = {
    "rate": (0.0, 1.0),
    "excess": (-1.0, 1.0),
    "highest": (0.0, 1.0),
    "average": (0.0, 1.0),
    "count": (0.0, math.inf),
}


class Figure(NamedTuple):
    """A figure that has limits: its value, what it is, and why it may be higher in truth, where it may."""

    value: float
    what: str
    doubt: str = ""


def fail_above(names: Sequence[str]) -> Any:
    """Return the option of a command whose figures have these names."""
    return typer.Option(
        "--fail-above",
        metavar="NAME=LIMIT,...",
        help=f"Exit 1 where {', '.join(names[:-1])} or {names[-1]} is above a limit, or might be.",
        show_default=False,
    )


def limits_of(given: Sequence[str] | None, names: Sequence[str]) -> dict[str, float]:
    """Read limits of the form NAME=LIMIT, several to an option or the option several times."""
    limits: dict[str, float] = {}
    for entry in ",".join(given).split(",") if given else ():
        name, _, text = (part.strip() for part in entry.partition("="))
        if name not in names or name in limits:
            what = "is given twice" if name in limits else "is no figure of this command with its limit"
            msg = f"--fail-above {entry.strip()!r} {what}."
            raise InputError(with_hint(msg, f"each of {listed(names)} can be limited once, as in {names[0]}=0.05."))
        limits[name] = _limit(name, text)
    return limits


def failures(figures: Mapping[str, Figure], limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return, as plain values, the limits that figures are above, or are not known to be at most."""
    failed = []
    for name, limit in limits.items():
        value, what, doubt = figures[name]
        if value > limit:
            because = f"{name} is {value}, above the limit of {limit}: {what}"
        elif doubt or math.isnan(value):
            because = f"{name} cannot be said to be at most {limit}: {doubt or 'it could not be computed'}"
        else:
            continue
        failed.append(
            {"figure": name, "value": None if math.isnan(value) else value, "limit": limit, "because": because}
        )
    return failed


@contextmanager
def failing(failed: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Leave with exit 1 after what is printed meanwhile, also where its reader has gone."""
    with leaving(1 if failed else 0):
        try:
            yield
        finally:
            for each in failed:
                typer.echo(f"hushtable: failed: {each['because']}.", err=True)


def mpuccs_figures(summary: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Figure]:
    """Return what `hushtable mpuccs` can limit.

    Of the excess, the upper end of its interval: an estimate from few records must not pass for being uncertain.
    """
    # PETsARD's own figures, which say nothing of being complete, are judged as that program has them.
    doubt = "" if summary.get("complete", True) else "the budget ended before all column sets were looked at"
    if "complete" in summary and summary["total_combinations_pruned"]:
        doubt = "column sets were skipped for their entropy, and records with them"
    figures = {
        "rate": Figure(summary["identification_rate"], "the share of the records that are identified", doubt),
        "count": Figure(summary["total_identified"], "the number of records that are identified", doubt),
    }
    if "excess" not in limits:
        return figures
    if "control" not in summary:
        return {**figures, "excess": Figure(math.nan, "", "the budget ended before the control was compared")}
    control, n_attacks = summary["control"], summary["total_syn_records"]
    most = control["n_compared"] / n_attacks
    if most <= limits["excess"]:
        doubt = (
            f"the control is too small; {n_attacks:,} records that copy each of the {control['n_compared']:,} "
            f"originals compared once would show an excess of {most:.4g}"
        )
    what = f"the upper end of the 95 % interval of the excess risk, which is {control['excess_risk']:.4g}"
    return {**figures, "excess": Figure(control["interval"][1], what, doubt)}


def uniques_figures(summary: Mapping[str, Any]) -> dict[str, Figure]:
    """Return what `hushtable uniques` can limit."""
    doubt = "" if summary["complete"] else "the budget ended before all column sets were looked at"
    what = f"of the records that are unique on at most {summary['max_size']} columns"
    return {
        "rate": Figure(summary["unique_rate"], f"the share {what}", doubt),
        "count": Figure(summary["n_records_with_sets"], f"the number {what}", doubt),
    }


def scan_figures(risk: Mapping[str, Any]) -> dict[str, Figure]:
    """Return what `hushtable scan` can limit; without quasi-identifiers it measured nothing."""
    doubt = "" if risk["quasi_identifiers"] else "no column looks like a quasi-identifier, which proves nothing"
    rate = risk["n_unique"] / risk["n_records"] if risk["n_records"] else math.nan
    return {
        "rate": Figure(rate, "the share of the records that are unique on the proposed quasi-identifiers", doubt),
        "highest": Figure(risk["highest_risk"], "the highest risk of a record", doubt),
        "average": Figure(risk["average_risk"], "the average risk of a record", doubt),
    }


def _limit(name: str, text: str) -> float:
    low, high = _RANGES[name]
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    is_count = name == "count"
    # So written, NaN is out of every range.
    if not low <= limit <= high or (is_count and not limit.is_integer()):
        expected = "a whole number, 0 or more" if is_count else f"a number from {low:g} to {high:g}: 0.05 is 5 %"
        raise InputError(with_hint(f"--fail-above {name}={text} is no limit.", f"give {expected}."))
    return int(limit) if is_count else limit
