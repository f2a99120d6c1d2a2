"""--fail-above: figures against limits, for pipelines. A figure that is not known to be at most its limit fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.groups import option
from hushtable.cli.terminal import exit_with_code, print_to_stderr
from hushtable.errors import InputError, quote_names
from hushtable.policy import LimitedFigure, find_failures

if TYPE_CHECKING:
    from typer.models import OptionInfo

    from hushtable.release import Release
    from hushtable.risk import Attacks, Membership

_COUNTS: Final = ("count", "copies", "shared", "alike", "few-values")
_MAX_LIMITS: Final = dict.fromkeys(_COUNTS, math.inf)  # of all others 1
_MIN_LIMITS: Final = {"excess": -1.0}  # of all others 0
_FIGURE_MEANINGS: Final = {
    "dcr": "the upper end of the share of synthetic records that are nearer to the people than to the control",
    "tcap": "the share of right targets where all synthetic records of a key agree",
    "rapid": "the upper end of the share of people whose target is told",
}


def fail_above(names: Sequence[str]) -> OptionInfo:
    """Return the option of a command whose figures have these names."""
    figures = " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return option(f"Exit 1 if {figures} is above its limit, or may be.", "--fail-above", metavar="NAME=LIMIT,...")


def limits_of(given: Sequence[str] | None, names: Sequence[str]) -> dict[str, float]:
    """Read limits of the form NAME=LIMIT, several to an option or the option several times."""
    limits: dict[str, float] = {}
    for entry in ",".join(given).split(",") if given else ():
        name, _, text = (part.strip() for part in entry.partition("="))
        if name not in names or name in limits:
            what = "is given twice" if name in limits else "is no figure of this command with its limit"
            raise InputError(
                f"--fail-above {entry.strip()!r} {what}.",
                hint=f"each of {quote_names(names)} can be limited once, as in {names[0]}=0.05.",
            )
        limits[name] = _parse_limit(name, text)
    if limits:
        from hushtable.tables import refuse_mismatches

        # Without this, a limit would pass if no attack could be made on the columns.
        refuse_mismatches()
    return limits


def _parse_limit(name: str, text: str) -> float:
    low, high = _MIN_LIMITS.get(name, 0.0), _MAX_LIMITS.get(name, 1.0)
    is_count = name in _MAX_LIMITS
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    # Written this way, NaN is outside every range.
    if not low <= limit <= high or (is_count and not limit.is_integer()):
        expected = "a whole number, 0 or more" if is_count else f"a number from {low:g} to {high:g}: 0.05 is 5 %"
        raise InputError(f"--fail-above {name}={text} is no limit.", hint=f"give {expected}.")
    return int(limit) if is_count else limit


@contextmanager
def exit_on_failures(failed: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Exit with 1 after the body has printed, even if the reader of the pipe has gone."""
    with exit_with_code(1 if failed else 0):
        try:
            yield
        finally:
            for each in failed:
                print_to_stderr(f"hushtable: failed: {each['because']}.")


def judge_figures(figures: Mapping[str, LimitedFigure], limits: Mapping[str, float]) -> list[dict[str, Any]] | None:
    """Return the limits that fail, as plain values; None where none was given."""
    return find_failures(figures, limits) if limits else None


def uniques_figures(summary: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return the figures of `hushtable uniques` that can have a limit."""
    doubt = "" if summary["complete"] else "the budget ended before all column sets were looked at"
    what = f"of the records that are unique on at most {summary['max_size']} columns"
    return {
        "rate": LimitedFigure(summary["unique_rate"], f"the share {what}", doubt),
        "count": LimitedFigure(summary["n_records_with_sets"], f"the number {what}", doubt),
    }


def assess_figures(risk: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return the figures of `hushtable assess` that can have a limit; for theta, the upper end of its interval."""
    theta, what = risk["theta"], "the upper end of the chance that a match with a unique is right"
    if risk["population_size"] is None:
        chance = LimitedFigure(math.nan, what, "nothing is known of the population")
    elif theta is not None:
        chance = LimitedFigure(theta["high"], what)
    else:
        # If nobody is unique, no match with a unique record can be right: 0.
        chance = LimitedFigure(0.0 if risk["n_records"] and not risk["n_unique"] else math.nan, what)
    return {
        **_risk_figures(risk, "unique"),
        "marketer": LimitedFigure(risk["marketer_risk"], "the expected share of right guesses over all records"),
        "global": LimitedFigure(risk["global_risk"], "the share of the records that is expected to be found"),
        "theta": chance,
    }


def scan_figures(risk: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return what `hushtable scan` can limit; without quasi-identifiers it measured nothing."""
    doubt = "" if risk["quasi_identifiers"] else "no column looks like a quasi-identifier, which proves nothing"
    return _risk_figures(risk, "unique on the proposed quasi-identifiers", doubt)


def _risk_figures(risk: Mapping[str, Any], unique: str, doubt: str = "") -> dict[str, LimitedFigure]:
    rate = risk["n_unique"] / risk["n_records"] if risk["n_records"] else math.nan
    return {
        "rate": LimitedFigure(rate, f"the share of the records that are {unique}", doubt),
        "highest": LimitedFigure(risk["highest_risk"], "the highest risk of a record", doubt),
        "average": LimitedFigure(risk["average_risk"], "the average risk of a record", doubt),
    }


def attack_figures(rate: float, count: int, what: str, excess: float | None = None) -> dict[str, LimitedFigure]:
    """Return the figures of an attack that can have a limit; for the excess, the upper end of its interval."""
    most = math.nan if excess is None else excess
    return {
        "rate": LimitedFigure(rate, f"the share {what}"),
        "count": LimitedFigure(count, f"the number {what}"),
        "excess": LimitedFigure(most, "the upper end of the 95 % interval of what is beyond the control"),
    }


BATCH_FIGURES: Final = ("suppressed", "exposed", "highest", "shared", "alike", "few-values")


def batch_figures(release: Release, limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return what `hushtable apply` can limit, before anything is written."""
    batch, exposure = release.batch, release.exposure
    assert batch is not None, "apply makes batches"
    n_blank, n_records = release.count_blank_records()
    doubt = "no previous batch was given (--previous)" if batch.n_shared_persons is None else ""
    # Where persons are counted, only a verdict says how many are in a class.
    highest = 1 / release.verify().smallest_class if "highest" in limits else math.nan
    return {
        "suppressed": LimitedFigure(n_blank / n_records, "the share of records with * in every quasi-identifier"),
        "exposed": LimitedFigure(
            math.nan if exposure is None else exposure.rate,
            "the share of the records that are unique on kept columns",
            "nobody measured what the kept columns expose" if exposure is None else "",
        ),
        "highest": LimitedFigure(highest, "the highest risk of a record"),
        "shared": LimitedFigure(
            float(batch.n_shared_persons or 0), "the number of persons who are in previous batches, too", doubt
        ),
        "alike": LimitedFigure(
            float(batch.n_few_alike), "the number of them who share all their cells with fewer than k", doubt
        ),
        "few-values": LimitedFigure(
            float(batch.n_few_values),
            "the number of them with whom all who are alike have too few sensitive values",
            doubt,
        ),
    }


def synthetic_figures(result: Attacks, limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return what `hushtable attack` can limit: of every kind the upper end of the highest risk's interval."""
    assert result.copies is not None, "the command counts them"
    figures = {"copies": LimitedFigure(result.copies.n_copied, "the number of people who stand in the table")}
    figures |= _membership_figures(result.membership, limits)
    for kind in ("singling out", "linkability", "inference"):
        attacks = result.attacks_of_kind(kind)
        unknown = not attacks or any(math.isnan(each.risk.high) for each in attacks)
        highest = math.nan if unknown else max(each.risk.high for each in attacks)
        doubt = "no attack of this kind could be made or compared" if unknown else ""
        ceiling = min((each.most for each in attacks), default=1.0)
        if not ceiling > limits.get(kind.replace(" ", "-"), -1.0):
            doubt = f"beside this control even a copy of the table would show a risk of {round(ceiling, 3):g}"
        what = f"the upper end of the 95 % interval of the {kind} risk"
        figures[kind.replace(" ", "-")] = LimitedFigure(highest, what, doubt)
    for name, what in _FIGURE_MEANINGS.items():
        measured = [each for each in result.figures if each.name == name]
        # A figure without an interval stands for itself.
        ends = [each.value if math.isnan(each.high) else each.high for each in measured]
        unknown = not ends or any(map(math.isnan, ends))
        doubt = "it was not measured (dcr needs a control, the others a --secret)" if unknown else ""
        ceiling = min((each.reach.most for each in measured if each.reach is not None), default=1.0)
        doubt = doubt or _doubt_reach(ceiling, limits.get(name))
        figures[name] = LimitedFigure(math.nan if unknown else max(ends), what, doubt)
    return figures


def _membership_figures(found: Membership | None, limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return the upper ends that bound what attacks on membership may find; unknown where nothing can be said."""
    areas = "the highest upper end of the AUC by which attacks tell members"
    shares = "the highest upper end of the share of people whom attacks recognise at one false alarm in 1,000"
    if found is None:
        doubt = "it was not measured (it needs a --control)"
        return {
            "membership": LimitedFigure(math.nan, areas, doubt),
            "membership-rate": LimitedFigure(math.nan, shares, doubt),
        }
    doubts = {
        "membership": "; ".join(found.doubts) or _doubt_reach(found.most.auc, limits.get("membership")),
        "membership-rate": "; ".join(found.excess_doubts)
        or _doubt_reach(max(found.most.shares), limits.get("membership-rate")),
    }
    return {
        "membership": LimitedFigure(found.auc_high, areas, doubts["membership"]),
        "membership-rate": LimitedFigure(found.excess_high, shares, doubts["membership-rate"]),
    }


def _doubt_reach(most: float, limit: float | None) -> str:
    """Say why a limit shows nothing: because even a copy of the people would keep to it."""
    if limit is None or most > limit:
        return ""
    return f"beside this control even a copy of the table would show {round(most, 3):g}"
