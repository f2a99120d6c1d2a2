"""assess: how easily people can be found in a table as it stands, against what is tolerated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from hushtable.cli.arguments import (
    InFile,
    Machine,
    Person,
    PolicyFile,
    Results,
    Tolerance,
    amounts_of,
    names_of,
    numbers_in,
    place_of,
    table_field,
)
from hushtable.cli.groups import field
from hushtable.cli.limits import assess_figures, fail_above, limits_of
from hushtable.cli.report import check_report, conclude
from hushtable.cli.terminal import aligned, step
from hushtable.errors import InputError
from hushtable.policy import failures

if TYPE_CHECKING:
    from hushtable.cli.arguments import ReadingOptions
    from hushtable.io import Frame
    from hushtable.risk import RiskAssessment

_FIGURES: Final = ("rate", "highest", "average", "marketer", "global", "theta")
_GROUNDS: Final = {"equal": "all alike", "ordered": "by their order"}


@dataclass(frozen=True)
class KnownOptions:
    """What is known of people: quasi-identifiers, or a policy that names them."""

    qi: str = field("", "Quasi-identifiers, if there is no policy.", metavar="A,B")
    policy: PolicyFile = None
    sensitive: str = field("", "Sensitive columns.", metavar="A,B")
    person: Person = None


@dataclass(frozen=True)
class PopulationOptions:
    """Among whom people are looked for."""

    population: Path | None = table_field("Table of the population that the people were sampled from.")
    population_size: float | None = field(None, "Size of that population, if you have no table of it.", metavar="N")
    weights: str | None = field(
        None, "Column of survey weights: how many people a record stands for.", metavar="COLUMN"
    )
    household: str | None = field(None, "Column that says who lives together.", metavar="COLUMN")


@dataclass(frozen=True)
class Yardstick:
    """What is counted, and how much is tolerated."""

    tolerance: str | None = field(
        None,
        "The smallest class that is tolerated; survey-internal, internal, cms, ema-0070, public-use, or the "
        "rules of hipaa-safe-harbor. Exit 1 when it is not met.",
        metavar="11|PRESET",
    )
    thresholds: str = field("2,5,11,20", "Class sizes: count the records in smaller classes.", metavar="2,5")
    missing: str = field("category", "How missing values count: category, wildcard or worst.")
    known_within: Tolerance = ""
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None


def assess(
    file: InFile,
    known: KnownOptions,
    population: PopulationOptions,
    yardstick: Yardstick,
    results: Results,
    machine: Machine,
) -> None:
    """Measure re-identification risk: within the table, and in the population that it was sampled from.

    Exits with 1 if a class is smaller than --tolerance allows.
    """
    from hushtable.risk.assess import assess as assess_

    limits = limits_of(yardstick.fail, _FIGURES)
    check_report(results, place_of(file), known.policy, population.population)
    options: dict[str, Any] = {
        "population_size": population.population_size,
        "weights": population.weights,
        "household": population.household,
        "tolerance": _number(yardstick.tolerance),
        "thresholds": numbers_in("--thresholds", yardstick.thresholds, int, "class sizes", "2,5,11,20"),
        "missing": yardstick.missing,
        "known_within": amounts_of("--known-within", yardstick.known_within) or None,
    }
    with step("reading"):
        frame, asked = _read(file, known, machine)
        everyone = machine.optional_table(population.population)
    with step("looking at classes"):
        risk = assess_(frame, population=everyone, **asked, **options)
    found = risk.to_dict()
    failed = [*_above(risk), *failures(assess_figures(found), limits)]
    is_judged = limits or yardstick.tolerance is not None
    conclude(risk, {"file": file.name, **found}, lambda: _lines(found), failed if is_judged else None, results)


def _read(file: Path, known: KnownOptions, reading: ReadingOptions) -> tuple[Frame, dict[str, Any]]:
    """Read the table, and what is asked of it: by options, or by a policy."""
    if known.policy is None:
        qi, sensitive = names_of(known.qi), names_of(known.sensitive)
        if not qi:
            msg = "neither a policy nor quasi-identifiers were given."
            hint = "pass --qi age,sex, or -p policy.yaml (`hushtable scan FILE -p policy.yaml` writes one)."
            raise InputError(msg, hint=hint)
        judged = [*qi, *sensitive, *([known.person] if known.person else [])]
        frame = reading.table_with_counts(file, judged).learned()
        return frame, {"quasi_identifiers": qi, "sensitive": sensitive, "person": known.person}
    if known != KnownOptions(policy=known.policy):
        raise InputError(
            "both a policy and --qi, --sensitive or --person were given.",
            hint="put them into the policy, or leave it out.",
        )
    from hushtable.policy import Policy

    rules = Policy.read(known.policy)
    rules.check_decided()
    judged = [*rules.quasi_identifiers, *rules.with_role("sensitive"), *([rules.person] if rules.person else [])]
    frame = reading.table_with_counts(file, judged, rules.read_as.dialect)
    if frame.counts is None:
        # Of a folder only what is judged was read.
        rules.check_covers(frame.columns)
    roles = {"quasi_identifiers": rules.quasi_identifiers, "sensitive": rules.with_role("sensitive")}
    return frame, {**roles, "person": rules.person, "specs": rules.specs}


def _above(risk: RiskAssessment) -> list[dict[str, Any]]:
    """Return, as a failed limit is told, that the table is above what is tolerated."""
    if risk.within_tolerance is not False:
        return []
    if risk.tolerance is None:
        because = f"{len(risk.safe_harbor or ())} columns look to break a rule of the Safe Harbor"
        return [{"figure": "tolerance", "value": len(risk.safe_harbor or ()), "limit": 0, "because": because}]
    what = f"{risk.n_above_tolerance:,} records are in classes smaller than {risk.tolerance}"
    because = what if risk.n_records else "a table without records is within no tolerance"
    return [{"figure": "tolerance", "value": risk.smallest_class, "limit": risk.tolerance, "because": because}]


def _number(tolerance: str | None) -> float | str | None:
    """Read a tolerance: a whole number, a share, or a name."""
    if tolerance is None:
        return None
    try:
        return int(tolerance) if tolerance.strip().isdecimal() else float(tolerance)
    except ValueError:
        return tolerance


def _lines(risk: Mapping[str, Any]) -> list[str]:
    """Say what an assessment found: the one sentence first, then figure by figure."""
    readings, journalist = risk["smallest_by_missing"], risk["journalist_risk"]
    whom = "persons" if risk["person"] else "records"
    lines = [
        risk["headline"],
        f"By {', '.join(risk['quasi_identifiers'])}, missing as {risk['missing']}:",
        f"  {risk['n_records']:,} records in {risk['n_classes']:,} classes, smallest {risk['smallest_class']:,} "
        f"{whom}; {_below(risk['records_below'])}",
        f"  smallest class {readings['category']:,} with missing as a category, {readings['wildcard']:,} "
        f"as a wildcard, {readings['worst']:,} at worst",
        f"  {_attack_line('prosecutor, who knows that a person is in the table', risk['prosecutor_risk'])}",
    ]
    if journalist is not None:
        lines.append(f"  {_attack_line('journalist, who knows that one is in the population', journalist)}")
    of_whom = "people of the population counted" if journalist is not None else "as if the table were all people"
    lines.append(f"  marketer, who guesses at every record: {risk['marketer_risk']:.3g} right, {of_whom}")
    if risk["basis"] in ("population_size", "weights"):
        lines.append(f"  global risk {risk['global_risk']:.3g}, by {risk['individual_basis']}")
    lines += _uniqueness_lines(risk["population_uniqueness"])
    lines += [_homogeneity_line(name, each) for name, each in risk["homogeneity"].items()]
    if household := risk["household"]:
        lines.append(
            f"  {household['n_households']:,} households, {household['n_unique']:,} unique by all their members; "
            f"highest risk {household['highest']:.3g}, average {household['average']:.3g}"
        )
    lines += [
        f"  {each['column']} looks to break the Safe Harbor, {each['rule']}" for each in risk["safe_harbor"] or ()
    ]
    lines += [f"  careful: {note}" for note in risk["notes"]]
    return [*lines, *_tolerance_lines(risk)]


def _homogeneity_line(name: str, found: Mapping[str, Any]) -> str:
    if found["ground"] == "items":
        shared = "some class shares an item, or has none" if found["distinct_l"] < 2 else "no class shares an item"
        return f"  {name}: {shared}; t {found['t']:.3g}, item by item"
    return (
        f"  {name}: at least {found['distinct_l']} values in a class (entropy l {found['entropy_l']:.3g}); "
        f"t {found['t']:.3g}, values {_GROUNDS[found['ground']]}"
    )


def _below(records_below: Mapping[int, int]) -> str:
    told = [f"{n:,} below {size}" for size, n in records_below.items()]
    return f"records in smaller classes: {', '.join(told)}" if told else "no threshold"


def _attack_line(who: str, attack: Mapping[str, Any]) -> str:
    return f"{who}: highest risk {attack['highest']:.3g}, average {attack['average']:.3g}"


def _uniqueness_lines(estimates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Lay out the estimates of population uniqueness, those that are not to be relied on with the reason."""
    if not estimates:
        return []
    rows = [
        (
            name,
            "" if each["value"] is None else f"{each['value']:.4g}",
            f"{each['low']:.3g} to {each['high']:.3g}",
            each["reason"] if each["reliable"] or each["value"] is None else f"not reliable: {each['reason']}",
        )
        for name, each in estimates.items()
    ]
    titles = ("unique in the population", "share", "bounds", "because")
    return [aligned(titles, rows, right=("share",), sentences=titles[2:]).rstrip()]


def _tolerance_lines(risk: Mapping[str, Any]) -> list[str]:
    if risk["within_tolerance"] is None:
        return []
    if risk["tolerance"] is None:
        return ["No column looks to break a rule of the Safe Harbor."] if risk["within_tolerance"] else []
    if risk["within_tolerance"]:
        return [f"Every class holds {risk['tolerance']} or more."]
    return [f"{risk['n_above_tolerance']:,} records are in classes smaller than {risk['tolerance']}."]
