"""--fail-above: figures against limits, for pipelines. A figure that is not known to be at most its limit fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

from hushtable.cli.terminal import leaving, tell
from hushtable.errors import InputError, listed, with_hint
from hushtable.policy import LimitedFigure

if TYPE_CHECKING:
    from hushtable.risk import Attacks

__all__ = [
    "assess_figures",
    "attack_figures",
    "fail_above",
    "failing",
    "limits_of",
    "scan_figures",
    "synthetic_figures",
    "uniques_figures",
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
    "count": (0.0, math.inf),
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
            msg = f"--fail-above {entry.strip()!r} {what}."
            raise InputError(with_hint(msg, f"each of {listed(names)} can be limited once, as in {names[0]}=0.05."))
        limits[name] = _limit(name, text)
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
    figures = {}
    for kind in ("singling out", "linkability", "inference"):
        attacks = found.of(kind)
        unknown = not attacks or any(math.isnan(each.risk.high) for each in attacks)
        highest = math.nan if unknown else max(each.risk.high for each in attacks)
        doubt = "no attack of this kind could be made or compared" if unknown else ""
        most = min((each.most for each in attacks), default=1.0)
        if most <= limits.get(kind.replace(" ", "-"), 0.0):
            doubt = f"the control is too small; even a copy of the table would show a risk of {most:.4g}"
        what = f"the upper end of the 95 % interval of the {kind} risk"
        figures[kind.replace(" ", "-")] = LimitedFigure(highest, what, doubt)
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
    is_count = name == "count"
    # So written, NaN is out of every range.
    if not low <= limit <= high or (is_count and not limit.is_integer()):
        expected = "a whole number, 0 or more" if is_count else f"a number from {low:g} to {high:g}: 0.05 is 5 %"
        raise InputError(with_hint(f"--fail-above {name}={text} is no limit.", f"give {expected}."))
    return int(limit) if is_count else limit
