"""attack, unicity, link, join-risk, attack-release: attack tables with approximate knowledge or with other tables."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from hushtable.cli.arguments import (
    InFile,
    OriginalFile,
    PolicyFile,
    ReadingOptions,
    Results,
    amounts_of,
    check_effects,
    names_of,
    numbers_in,
    place_of,
    table_field,
    table_option,
    table_path,
)
from hushtable.cli.groups import argument, field, option
from hushtable.cli.joblog import record
from hushtable.cli.limits import attack_figures, fail_above, judge_figures, limits_of, synthetic_figures
from hushtable.cli.report import WrittenRelease, check_outputs, check_report, print_result, write_table
from hushtable.cli.summary import attack_tables
from hushtable.cli.terminal import format_table, print_error, show_step
from hushtable.errors import ColumnError, InputError
from hushtable.policy import LimitedFigure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hushtable.claims import Claim
    from hushtable.io import Frame
    from hushtable.risk import Attacks, Membership, OwnAttacks, PrivacyFigure, Unicity


_FIGURES: Final = (
    "copies", "membership", "membership-rate", "singling-out", "linkability", "inference", "dcr", "tcap", "rapid"
)  # fmt: skip
_EXPOSED_WARNING: Final = " It says who is recognised: keep it as safe as the data."
_UNICITY_FIGURES: Final = ("rate", "count")
_LINK_FIGURES: Final = ("rate", "excess", "count")
_JOIN_FIGURES: Final = ("rate", "count")
_RELEASE_FIGURES: Final = ("count",)


@dataclass(frozen=True)
class Attacking:
    """How it is attacked."""

    n_cols: int | None = field(
        None, "Number of columns of a query that singles out. Default: 3, or all of a table of fewer.", min=1
    )
    aux: list[str] | None = field(
        None, "One of two sets of columns to link by; give it twice. Default: every other column.", metavar="A,B"
    )
    neighbors: int = field(1, "Number of nearest records of each half.", min=1)
    secret: list[str] | None = field(None, "Column to infer. Default: each one.", metavar="COLUMN")
    attacks: int = field(500, "Number of attacks of each kind.", min=1)
    person: str | None = field(None, "Column that says whose record a row is, for membership.", metavar="COLUMN")
    reference: Path | None = table_field("Other people who were never used, for membership. Default: half the control.")
    exposed: Path | None = field(
        None,
        "File to write the row numbers of recognised people to. Keep it as safe as the data.",
    )
    seed: int = field(0, "Seed of everything that is drawn.", min=0)


def attack(
    original: OriginalFile,
    synthetic: Annotated[Path, argument("SYNTHETIC", "Synthetic table.", parser=table_path)],
    attacking: Attacking,
    results: Results,
    reading: ReadingOptions,
    control: Annotated[Path | None, table_option("Table of people who were never used for the synthesis.")] = None,
    fail: Annotated[list[str] | None, fail_above(_FIGURES)] = None,
) -> None:
    """Attack a synthetic table: membership, singling out, linkability, inference, beyond what a control shows.

    With --secret also attribution (TCAP), and with scikit-learn RAPID. For a release of your own, use attack-release.
    """
    from hushtable.risk import count_copies

    limits = limits_of(fail, _FIGURES)
    check_outputs((attacking.exposed,), results, place_of(original), synthetic, control, attacking.reference)
    _check_membership(attacking, control)
    with show_step("reading"):
        original_table = reading.table(original)
        synthetic_table, control_table = (reading.optional_table(path) for path in (synthetic, control))
    membership = _measure_membership(original_table, synthetic_table, control_table, attacking, reading)
    if attacking.person is not None:
        original_table = original_table.drop([attacking.person])
        synthetic_table, control_table = (_drop(table, attacking.person) for table in (synthetic_table, control_table))
    attacks = _run_attacks(original_table, synthetic_table, control_table, attacking)
    with show_step("counting copies"):
        copies = count_copies(original_table, synthetic_table, control=control_table)
    figures = _measure_figures(original_table, synthetic_table, control_table, attacking.secret or [], attacking.seed)
    attacks = replace(attacks, copies=copies, figures=figures, membership=membership)
    if attacking.exposed is not None and membership is not None:
        write_table(membership.list_exposed(), attacking.exposed, force=results.force, warning=_EXPOSED_WARNING)
    failed = judge_figures(synthetic_figures(attacks, limits), limits)
    print_result(attacks, {"file": original.name, **attacks.to_dict()}, failed, results, lambda: attack_tables(attacks))


def _check_membership(attacking: Attacking, control: Path | None) -> None:
    """Raise InputError for an option of membership that has no effect without a control."""
    options = (("--person", attacking.person), ("--reference", attacking.reference), ("--exposed", attacking.exposed))
    given = {"--control": control is not None, **{name: value is not None for name, value in options}}
    check_effects(given, {name: ("--control",) for name in given if name != "--control"}, {})


def _measure_membership(
    original: Frame, synthetic: Frame | None, control: Frame | None, attacking: Attacking, reading: ReadingOptions
) -> Membership | None:
    from hushtable.risk import membership

    if control is None:
        return None
    with show_step("attacking membership"):
        return membership(
            original,
            synthetic,
            control=control,
            reference=reading.optional_table(attacking.reference),
            person=attacking.person,
            seed=attacking.seed,
        )


def _drop(table: Frame | None, name: str) -> Frame | None:
    """Return a table without a column that it may not have."""
    return table if table is None or name not in table.names else table.drop([name])


def _run_attacks(original: Frame, synthetic: Frame | None, control: Frame | None, attacking: Attacking) -> Attacks:
    from hushtable.risk import Attacks, inference, linkability, singling_out

    names = list(original.columns)
    halves = _choose_halves(attacking.aux, names)
    options: dict[str, Any] = {"control": control, "n_attacks": attacking.attacks, "seed": attacking.seed}
    with show_step("singling out"):
        n_cols = min(3, len(names)) if attacking.n_cols is None else attacking.n_cols
        attacks = [singling_out(original, synthetic, n_cols=n_cols, **options)]
    if len(names) > 1:
        n_neighbors = attacking.neighbors
        with show_step("linking"):
            attacks.append(linkability(original, synthetic, aux_columns=halves, n_neighbors=n_neighbors, **options))
        with show_step("inferring"):
            secrets = attacking.secret or names
            attacks += [inference(original, synthetic, secret=name, **options) for name in secrets]
    return Attacks(tuple(attacks))


def _measure_figures(
    original: Frame, synthetic: Frame | None, control: Frame | None, secrets: list[str], seed: int
) -> tuple[PrivacyFigure, ...]:
    """Measure distances (DCR, NNDR), and attribution (TCAP, RAPID) of the named secrets."""
    from hushtable.risk import dcr, nndr, rapid, tcap

    with show_step("measuring distances"):
        figures = [measure(original, synthetic, control=control, seed=seed) for measure in (dcr, nndr)]
    with show_step("attributing"):
        for name in secrets if len(original.columns) > 1 else []:
            figures.append(tcap(original, synthetic, target=name, control=control))
            # RAPID refuses a column of numbers (ColumnError), and needs scikit-learn (InputError).
            with suppress(ColumnError, InputError):
                figures.append(rapid(original, synthetic, target=name, control=control, seed=seed))
    return tuple(figures)


def _choose_halves(aux: list[str] | None, columns: list[str]) -> tuple[list[str], list[str]]:
    """Return the two sets of columns to link by: those given, or every other column."""
    if aux is None:
        return columns[::2], columns[1::2]
    if len(aux) != 2:
        raise InputError(f"--aux was given {len(aux)} times.", hint="give it twice: --aux age,sex --aux job.")
    return names_of(aux[0]), names_of(aux[1])


Roughly = Annotated[
    str,
    option(
        "How far an attacker's knowledge of these columns may be off: 14D, 2h, a number; 0 is exact.",
        "--tolerance",
        metavar="A=14D,B=1",
    ),
]
On = Annotated[
    str, option("Columns to compare; B=C if the second table calls column B by the name C.", metavar="A,B=C")
]
TruthOptions = Annotated[
    str | None, option("Column that says whose record a row is, in both tables. Counts right links.", metavar="COLUMN")
]
Eccentricity = Annotated[
    float | None,
    option(
        "Standard deviations by which the score of a match must exceed the second highest: 1.5 where records may be "
        "wrong.",
        "--eccentricity",
        min=0,
    ),
]
Few = Annotated[int, option("Also count the persons whom an attacker narrows down to fewer than N.", min=1)]


@dataclass(frozen=True)
class KnownRecordOptions:
    """What an attacker knows."""

    person: str = field(..., "Column that says whose record a row is.", metavar="COLUMN")
    item: str = field(..., "Columns whose cells are known exactly of a record.", metavar="A,B")
    known: str = field("2,4,8", "Numbers of records of a person that are known.", metavar="2,4,8")
    wrong: int = field(0, "So many of the known records are wrong, and the attacker does not know which.", min=0)
    eccentricity: Eccentricity = None
    tolerance: Roughly = ""
    original: Path | None = table_field("Original table of the release: the records that are known.")


@dataclass(frozen=True)
class DrawsOptions:
    """How many persons are looked for."""

    trials: int = field(1000, "Number of persons to look for, for each number of records.", min=1)
    few: Few = 5
    seed: int = field(0, "Seed of the draws.")


def unicity(
    file: InFile,
    records: KnownRecordOptions,
    draws: DrawsOptions,
    results: Results,
    reading: ReadingOptions,
    fail: Annotated[list[str] | None, fail_above(_UNICITY_FIGURES)] = None,
) -> None:
    """Count the persons that an attacker finds by roughly knowing a few of their records."""
    from hushtable.risk import unicity as unicity_

    limits = limits_of(fail, _UNICITY_FIGURES)
    check_report(results, place_of(file), records.original)
    with show_step("reading"):
        frame, declared = _read_release(file, reading)
        source = reading.optional_table(records.original)
    with show_step("looking for persons"):
        result = unicity_(
            frame,
            person=records.person,
            item=names_of(records.item),
            known=numbers_in("--known", records.known, int, "whole numbers", "2,4,8"),
            tolerance=amounts_of("--tolerance", records.tolerance),
            original=source,
            wrong=records.wrong,
            eccentricity=records.eccentricity,
            n_trials=draws.trials,
            few=draws.few,
            seed=draws.seed,
            **declared,
        )
    what = "of the persons who are found, by the number of known records that finds most"
    # Few persons have many records: the largest share may be a smaller number.
    figures = attack_figures(result.rate, max(each.n_found for each in result.known), what)
    entries = {"file": file.name, **result.to_dict()}
    print_result(result, entries, judge_figures(figures, limits), results, lambda: _unicity_table(result))


@dataclass(frozen=True)
class LinkedOptions:
    """How records are linked."""

    on: On
    tolerance: Roughly = ""
    person: str | None = field(
        None,
        "Column that says which records are one person's, in both tables: look them up together; some may be wrong.",
        metavar="COLUMN",
    )
    eccentricity: Eccentricity = None
    truth: TruthOptions = None
    few: Few = 5


def link(
    release: Annotated[Path, argument("RELEASE", "Released table, with its manifest beside it if there is one.")],
    outside: Annotated[Path, argument("OUTSIDE", "Table that somebody else holds.", parser=table_path)],
    linked: LinkedOptions,
    results: Results,
    reading: ReadingOptions,
    control: Annotated[
        Path | None, table_option("Table like the second one, of people who are not in the release.")
    ] = None,
    fail: Annotated[list[str] | None, fail_above(_LINK_FIGURES)] = None,
) -> None:
    """Count the records, or persons, of an outside table that match exactly one released record or person."""
    from hushtable.risk import link as link_

    limits = limits_of(fail, _LINK_FIGURES)
    if "excess" in limits and control is None:
        raise InputError("--fail-above excess has no effect without --control.", hint="give that too, or leave it out.")
    check_report(results, release, outside, control)
    with show_step("reading"):
        frame, declared = _read_release(release, reading)
        tables = [reading.optional_table(path) for path in (outside, control)]
    with show_step("looking up records"):
        result = link_(
            frame,
            tables[0],
            on=_parse_pairs(linked.on),
            tolerance=amounts_of("--tolerance", linked.tolerance),
            person=linked.person,
            eccentricity=linked.eccentricity,
            truth=linked.truth,
            control=tables[1],
            few=linked.few,
            **declared,
        )
    excess = None if result.excess_interval is None else result.excess_interval[1]
    n_linked, what = result.found.n_one_record, "of the outside records that fit one released record alone"
    if result.persons is not None:
        n_linked, what = result.persons.n_found, "of the outside persons that are linked with one released person"
    figures = attack_figures(result.rate, n_linked, what, excess)
    entries = {"release": release.name, **result.to_dict()}
    print_result(result, entries, judge_figures(figures, limits), results)


def join_risk(
    first: Annotated[Path, argument("FIRST", "Published table.")],
    second: Annotated[Path, argument("SECOND", "Another published table of the same source or people.")],
    on: On,
    results: Results,
    reading: ReadingOptions,
    truth: TruthOptions = None,
    fail: Annotated[list[str] | None, fail_above(_JOIN_FIGURES)] = None,
) -> None:
    """Count the records that somebody rebuilds by joining two published tables."""
    from hushtable.risk import join_risk as join_risk_

    limits = limits_of(fail, _JOIN_FIGURES)
    check_report(results, first, second)
    with show_step("reading"):
        first_table, first_declared = _read_release(first, reading)
        second_table, second_declared = _read_release(second, reading)
    with show_step("joining"):
        declared = {name: {**second_declared[name], **first_declared[name]} for name in first_declared}
        result = join_risk_(first_table, second_table, on=_parse_pairs(on), truth=truth, **declared)
    figures = attack_figures(result.rate, result.n_rebuilt, "of the records that the join rebuilds")
    entries = {"first": first.name, "second": second.name, **result.to_dict()}
    print_result(result, entries, judge_figures(figures, limits), results)


@dataclass(frozen=True)
class OtherTables:
    """What else the publisher has."""

    earlier: Path | None = field(None, "Earlier release that many of the same people are in.")
    original: Path | None = table_field("Original table of the release: attack by intersections, and by cuts not made.")
    earlier_original: Path | None = table_field(
        "Original table of the earlier release: count the persons who are in both."
    )
    policy: PolicyFile = None
    tables: list[Path] | None = field(
        None,
        "Published tables of counts of the same records: which hidden cells the release gives away, and the other way.",
        metavar="PATH",
    )
    threshold: int | None = field(None, "With --tables: counts below this are small.", min=2)


def attack_release(
    release: WrittenRelease,
    besides: OtherTables,
    results: Results,
    reading: ReadingOptions,
    external: Annotated[bool, option("With --json: leave out witnesses and counts below k.", "--external")] = False,
    seed: Annotated[int, option("Seed of the controls.")] = 0,
    fail: Annotated[list[str] | None, fail_above(_RELEASE_FIGURES)] = None,
) -> None:
    """Attack your own release: homogeneity, linked records, the program, and what an earlier release or tables add."""
    from hushtable.claims import Classes, original_columns
    from hushtable.cli.requests import complete_claim, read_policy
    from hushtable.policy import attack_file, describe_other_making
    from hushtable.release import manifest

    limits = limits_of(fail, _RELEASE_FIGURES)
    check_effects({"--external": external, "--json": results.as_json}, {"--external": ("--json",)}, {})
    check_report(results, release, besides.earlier, besides.original, besides.earlier_original, besides.policy)
    facts = manifest.read(release)
    rules = read_policy(besides.policy)
    # What labels mean, a policy with its hierarchies says.
    claimed = manifest.claim_of(release)
    doubts = (_warn_of_unread_claim(facts, claimed), _warn_of_earlier_claim(besides.earlier))
    doubt = "; ".join(filter(None, doubts))
    claim = complete_claim(claimed, rules)
    if not isinstance(claim, Classes):
        raise InputError(f"{str(release)!r} claims nothing of classes.", hint="attack what hushtable anonymize wrote.")
    _check_earlier_original(besides, facts.get("batch"), claim.person)
    if other := describe_other_making(facts, rules):
        _warn("other-making", other)
    with show_step("reading"):
        frame = _read_rows(release, claim, reading)
        earlier = None if besides.earlier is None else _read_rows(besides.earlier, claim, reading)
        columns = original_columns(claim)
        original, before = (
            None if path is None else reading.original(path, rules, columns)
            for path in (besides.original, besides.earlier_original)
        )
    with show_step("attacking"):
        people = {"original": original, "earlier_original": before}
        result = attack_file(frame, claim, facts, earlier, policy=rules, **people, seed=seed)
        if besides.tables:
            from hushtable.tabulation import attack_with_tables, check_tables

            tables = check_tables(besides.tables, threshold=besides.threshold)
            result = replace(result, attacks=(*result.attacks, *attack_with_tables(frame, claim, tables)))
    figures = {"count": _count_fallen(result, doubt)}
    audience: Literal["internal", "external"] = "external" if external else "internal"
    entries = {"release": release.name, **result.to_dict(audience), "facts": result.list_facts(audience)}
    print_result(result, entries, judge_figures(figures, limits), results, lambda: _attack_release_table(result))


def _count_fallen(result: OwnAttacks, doubt: str) -> LimitedFigure:
    """Return to how many attacks a release falls, and to how many it may; what was not read may mean anything."""
    what, most = "the number of attacks to which the release falls", math.inf if doubt else result.max_fell
    return LimitedFigure(len(result.fell), what, doubt or result.doubt, most)


def _warn_of_unread_claim(facts: Mapping[str, object], claimed: Claim | None) -> str:
    """Warn of what a manifest says and this version does not read, and return it."""
    from hushtable.release import manifest

    if doubt := manifest.describe_unread(facts, claimed):
        _warn("unread-claim", doubt)
    return doubt


def _warn(kind: str, what: str) -> None:
    record("warning", kind=kind, message=f"{what}.")
    print_error(f"careful: {what}.")


def _warn_of_earlier_claim(earlier: Path | None) -> str:
    """Warn so of an earlier release that has a manifest; VerificationError if it was changed since it was written."""
    from hushtable.release import manifest

    claimed = manifest.claim_of(earlier)
    return "" if earlier is None or claimed is None else _warn_of_unread_claim(manifest.read(earlier), claimed)


def _check_earlier_original(besides: OtherTables, batch: object, person: str | None) -> None:
    if besides.earlier_original is None:
        return
    if besides.earlier is None or besides.original is None:
        raise InputError(
            "--earlier-original was given without --earlier and --original.",
            hint="who is in both is counted from both releases and both originals.",
        )
    # Of a batch that somebody edited nobody knows whom it leaves out.
    if batch.get("n_left_out") if isinstance(batch, dict) else batch:
        raise InputError(
            "--earlier-original was given, and the release leaves out persons of previous batches.",
            hint="leave the option out: hushtable apply has counted and reported who is left in both.",
        )
    if person is None:
        raise InputError(
            "--earlier-original was given, and the release does not say whose record a row is.",
            hint="leave the option out, or name the column as `person:` in the policy, and make the release again.",
        )


def _read_rows(path: Path, claim: Claim, reading: ReadingOptions) -> Frame:
    """Read a release: a file as it is, of a folder the distinct rows of what the claim speaks of, with counts."""
    from hushtable.claims import open_release, select_for_claim
    from hushtable.release import manifest

    return (
        select_for_claim(claim, open_release(path)) if path.is_dir() else reading.table(path, manifest.dialect_of(path))
    )


def _read_release(path: Path, reading: ReadingOptions) -> tuple[Frame, dict[str, Any]]:
    """Read a released table; return it with the specs and hierarchies that its manifest declares, if it has one."""
    from hushtable.release import manifest

    claim = manifest.claim_of(path)
    frame = reading.table(path, None if claim is None else manifest.dialect_of(path))
    return frame, {name: dict(getattr(claim, name, {})) for name in ("specs", "hierarchies")}


def _parse_pairs(on: str) -> dict[str, str]:
    """Parse `A,B=C`: return for each column of the first table its name in the second one."""
    pairs = [entry.partition("=") for entry in names_of(on)]
    return {name.strip(): (other if mark else name).strip() for name, mark, other in pairs}


def _attack_release_table(result: OwnAttacks) -> list[str]:
    titles = ("attack", "column", "targets", "found", "share", "by chance")
    rows = [
        (each.name, each.column or "", f"{each.n_targets:,}", f"{each.n_found:,}", f"{each.rate:.1%}",
         "" if each.control_rate is None else f"{each.control_rate:.1%}")
        for each in result.attacks
    ]  # fmt: skip
    return [format_table(titles, rows, right=titles[2:], sentences=titles[:1])] if rows else []


def _unicity_table(result: Unicity) -> list[str]:
    titles = ("records known", "persons", "found", "share", "95 % interval", "among few", "right", "highest alone")
    rows = [
        (f"{each.n_known}", f"{each.n_trials:,}", f"{each.n_found:,}", f"{each.rate:.1%}",
         f"{each.interval[0]:.1%} to {each.interval[1]:.1%}", f"{each.n_few:,}",
         "" if each.n_right is None else f"{each.n_right:,}", "" if each.n_best is None else f"{each.n_best:,}")
        for each in result.known
    ]  # fmt: skip
    n_columns = len(titles) if result.eccentricity is not None else len(titles) - 1
    return [format_table(titles[:n_columns], [row[:n_columns] for row in rows], right=titles[:n_columns])]
