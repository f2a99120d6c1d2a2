"""assess: how easily people can be found in a table as it stands, against what is tolerated."""

from __future__ import annotations

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
from hushtable.cli.report import check_report, print_result
from hushtable.cli.terminal import format_table, show_step
from hushtable.errors import InputError
from hushtable.policy import find_failures

if TYPE_CHECKING:
    from hushtable.cli.arguments import ReadingOptions
    from hushtable.io import Frame
    from hushtable.risk import RiskAssessment

_FIGURES: Final = ("rate", "highest", "average", "marketer", "global", "theta")


@dataclass(frozen=True)
class KnownOptions:
    """What attackers know: quasi-identifiers, or a policy."""

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
    missing: str = field("category", "How missing values count: category, wildcard or worst.", metavar="MODE")
    known_within: Tolerance = ""
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None


def assess(
    file: InFile,
    role_options: KnownOptions,
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
    check_report(results, place_of(file), role_options.policy, population.population)
    options: dict[str, Any] = {
        "population_size": population.population_size,
        "weights": population.weights,
        "household": population.household,
        "tolerance": _parse_tolerance(yardstick.tolerance),
        "thresholds": numbers_in("--thresholds", yardstick.thresholds, int, "class sizes", "2,5,11,20"),
        "missing": yardstick.missing,
        "known_within": amounts_of("--known-within", yardstick.known_within) or None,
    }
    with show_step("reading"):
        frame, request = _read_table(file, role_options, machine)
        everyone = machine.optional_table(population.population)
    with show_step("looking at classes"):
        risk = assess_(frame, population=everyone, **request, **options)
    entries = risk.to_dict()
    failed = [*_find_tolerance_failure(risk), *find_failures(assess_figures(entries), limits)]
    judged = failed if limits or yardstick.tolerance is not None else None
    print_result(risk, {"file": file.name, **entries}, judged, results, lambda: _table_of_estimates(risk))


def _read_table(file: Path, role_options: KnownOptions, reading: ReadingOptions) -> tuple[Frame, dict[str, Any]]:
    """Read the table, and which columns have which role: from options, or from a policy."""
    if role_options.policy is None:
        qi, sensitive = names_of(role_options.qi), names_of(role_options.sensitive)
        if not qi:
            msg = "neither a policy nor quasi-identifiers were given."
            hint = "pass --qi age,sex, or -p policy.yaml (`hushtable scan FILE -p policy.yaml` writes one)."
            raise InputError(msg, hint=hint)
        columns = [*qi, *sensitive, *([role_options.person] if role_options.person else [])]
        frame = reading.table_with_counts(file, columns).with_learned_specs()
        return frame, {"quasi_identifiers": qi, "sensitive": sensitive, "person": role_options.person}
    if role_options != KnownOptions(policy=role_options.policy):
        raise InputError(
            "both a policy and --qi, --sensitive or --person were given.",
            hint="put them into the policy, or leave it out.",
        )
    from hushtable.policy import Policy

    rules = Policy.read(role_options.policy)
    rules.check_decided()
    columns = [*rules.quasi_identifiers, *rules.with_role("sensitive"), *([rules.person] if rules.person else [])]
    frame = reading.table_with_counts(file, columns, rules.read_as.dialect)
    if frame.counts is None:
        # Of a folder, only the judged columns were read: the others cannot be checked.
        rules.check_covers(frame.columns)
    roles = {"quasi_identifiers": rules.quasi_identifiers, "sensitive": rules.with_role("sensitive")}
    return frame, {**roles, "person": rules.person, "specs": rules.specs}


def _find_tolerance_failure(risk: RiskAssessment) -> list[dict[str, Any]]:
    """Return a failed limit if the table's risk is above the tolerance."""
    if risk.within_tolerance is not False:
        return []
    if risk.tolerance is None:
        because = f"{len(risk.safe_harbor or ())} columns look to break a rule of the Safe Harbor"
        return [{"figure": "tolerance", "value": len(risk.safe_harbor or ()), "limit": 0, "because": because}]
    what = f"{risk.n_above_tolerance:,} records are in classes smaller than {risk.tolerance}"
    because = what if risk.n_records else "a table without records is within no tolerance"
    return [{"figure": "tolerance", "value": risk.smallest_class, "limit": risk.tolerance, "because": because}]


def _parse_tolerance(tolerance: str | None) -> float | str | None:
    """Read a tolerance: a whole number, a share, or a name."""
    if tolerance is None:
        return None
    try:
        return int(tolerance) if tolerance.strip().isdecimal() else float(tolerance)
    except ValueError:
        return tolerance


def _table_of_estimates(risk: RiskAssessment) -> list[str]:
    """Format the estimates of population uniqueness; unreliable ones have a reason."""
    rows = [
        (
            name,
            "" if each.value is None else f"{each.value:.4g}",
            f"{each.low:.3g} to {each.high:.3g}",
            each.reason if each.reliable or each.value is None else f"not reliable: {each.reason}",
        )
        for name, each in risk.population_uniqueness.items()
    ]
    titles = ("unique in the population", "share", "bounds", "because")
    return [format_table(titles, rows, right=("share",), sentences=titles[2:]).rstrip()] if rows else []
