"""Facts of a release: the same sentences of one in memory, and of one that is read back from its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hushtable.claims import Classes, Combinations, Matchings, Verdict
from hushtable.columns import bound_names
from hushtable.models import KMAnonymity
from hushtable.release.exposure import Exposure
from hushtable.wording import careful, count_of, join_names

_MANY_FOUND: Final = 0.1  # of the records; if a kept column finds more, everybody who signs must have seen it


def describe_release(
    claim: Classes | Combinations | Matchings, verdict: Verdict, columns: Sequence[str], entries: Mapping[str, Any]
) -> tuple[str, ...]:
    """Describe what is published, whom it protects from whom, what it cost, and what speaks against it.

    Parameters
    ----------
    claim : Classes or Matchings
    verdict : Verdict
        Of the published table.
    columns : sequence of str
        The published columns.
    entries : mapping
        `Release.to_dict`, or what a manifest holds of it.
    """
    exposure = Exposure.from_dict(entries["exposure"]) if entries.get("exposure") else None
    finds = [] if exposure is None else exposure.describe_joint_uniques()
    is_many = exposure is not None and exposure.n_found >= max(1, _MANY_FOUND * exposure.n_records)
    first = [] if exposure is None or not is_many else [_describe_ways_out(exposure, finds.pop(0))]
    columns = [*(name for name in columns if name not in claim.bound_columns), *claim.bound_columns]
    return (
        f"The release publishes {count_of(verdict.n_records, 'record')} with {count_of(len(columns), 'column')}.",
        *first,
        _describe_verdict(claim, verdict, columns),
        _describe_readers(claim),
        *_describe_classes(claim, verdict, columns, entries),
        *_describe_blanks(entries.get("blanks")),
        *_describe_batch(claim, entries),
        *_describe_timelines(entries.get("timelines")),
        *_describe_columns(claim, columns, entries),
        *verdict.cautions,
        *([] if exposure is None else [careful(f"{line}.") for line in exposure.describe_dangers()]),
        *(f"{line}." for line in finds),
        *([] if exposure is None else [f"{step.describe()}." for step in exposure.steps]),
        *([_describe_cells(cells)] if (cells := entries.get("quality", {}).get("cells")) else []),
        *([] if exposure is None else [f"Tested: {line}." for line in exposure.describe_tests()]),
    )


def _describe_ways_out(exposure: Exposure, found: str) -> str:
    """Say what can be done about the column that finds most; only numbers for which there is a step can be rounded."""
    (column,) = exposure.told[0].columns
    if column in exposure.accepted:
        return f"{found}."
    if any(step.column == column for step in exposure.steps):
        return f"{found}: round it, leave it out, or say in the policy why nobody knows it."
    return f"{found}: make it a quasi-identifier, leave it out, or say in the policy why nobody knows it."


def _describe_timelines(timelines: Mapping[str, object] | None) -> Iterator[str]:
    """Describe how the dates of persons were changed, and what they still tell."""
    if timelines:
        # Few releases have any, and a command loads what it runs.
        from hushtable.release.timelines.facts import Timelines

        yield from Timelines.from_dict(timelines).describe()


def _describe_readers(claim: Classes | Combinations | Matchings) -> str:
    """Say what readers know from whom persons are hidden."""
    if isinstance(claim, Combinations):
        return careful(
            "it holds for readers who know the columns of one of these sets of a person. Anyone who knows more of "
            f"{join_names(claim.columns)} may find the record."
        )
    return (
        f"This holds for readers who know {join_names(claim.columns)}{_describe_known_records(claim)}, "
        "and nothing else of a person."
    )


def _describe_blanks(blanks: object) -> Iterator[str]:
    """Describe which cells are blanked, where local suppression made the release."""
    if isinstance(blanks, dict):
        from hushtable.release.blanks import Blanks

        yield from Blanks(**blanks).describe()


def _describe_batch(claim: Classes | Combinations | Matchings, entries: Mapping[str, Any]) -> Iterator[str]:
    """Describe what happened to rows that were published by the cells of an earlier release."""
    if entries.get("replaces_earlier"):
        yield careful("it replaces the earlier release; a reader who has that can subtract it, and see small classes.")
    if batch := entries.get("batch"):
        if not entries["replaces_earlier"]:
            yield from _describe_persons_in_both(claim, batch)
        alone = "" if entries["replaces_earlier"] else " by themselves"
        yield (
            f"Suppressed are {batch['n_unfit']:,} records that fit no cell of the earlier release, and "
            f"{batch['n_failed']:,} in classes that fail{alone}."
        )
        if n_wider := batch.get("n_wider"):
            yield (
                f"Published by wider cells are {n_wider:,} records, because too few new records fit the narrow ones."
            )
        if by_column := batch["unfit_by_column"]:
            yield f"Without a cell, by column: {join_names([f'{name} {n:,}' for name, n in by_column.items()])}."


def _describe_persons_in_both(
    claim: Classes | Combinations | Matchings, batch: Mapping[str, int | None]
) -> Iterator[str]:
    """Say how many persons are in earlier batches, too, and how few share their cells."""
    if not isinstance(claim, Classes) or claim.person is None:
        return
    n_shared, n_few = batch.get("n_shared_persons"), batch.get("n_few_alike")
    if n_left_out := batch.get("n_left_out"):
        yield f"Left out are {n_left_out:,} records of persons who are in previous batches."
    if n_shared is None:
        yield careful(
            "whether its persons are in earlier batches, too, was not looked at: give the rows of those (--previous)."
        )
    elif n_few:
        yield careful(
            f"{n_shared:,} persons are in previous batches, too. {n_few:,} of them share the cells of all their "
            f"records with fewer than {claim.k} such persons. Leave these persons out (--distinct-persons)."
        )
    elif n_shared and batch.get("n_few_values"):
        n_told = batch["n_few_values"]
        yield careful(
            f"{n_shared:,} persons are in previous batches, too. {n_told:,} of them are among too few "
            "values of a sensitive column with all who share their cells. Leave these persons out (--distinct-persons)."
        )
    elif n_shared:
        yield f"{n_shared:,} persons are in previous batches, too; {claim.k} or more of them share the cells of each."


def _describe_verdict(claim: Classes | Combinations | Matchings, verdict: Verdict, columns: Sequence[str]) -> str:
    if not verdict.passed:
        failed = "; ".join(map(str, verdict.failures))
        return careful(f"the table does NOT hold what it claims: {failed}. Do not release it.")
    if not verdict.complete and verdict.complete_for_receiver:
        return (
            f"All that the published table can show holds: {'; '.join(verdict.held)}. Only its publisher could judge "
            f"{join_names(tuple(verdict.vouched))}: {next(iter(verdict.vouched.values()))}."
        )
    if not verdict.complete:
        unchecked = "; ".join(f"{condition}: {needs}" for condition, needs in verdict.unchecked.items())
        return careful(f"not all that the table claims could be judged: {unchecked}. Do not release it yet.")
    people = " and the population" if any(model.needs.population for model in claim.models) else ""
    beside = " and its original" if claim.needs_original(columns) else people
    return f"Verified from the published table{beside}: {'; '.join(verdict.conditions)}."


def _describe_known_records(claim: Classes | Matchings) -> str:
    """Describe how many records of a person an attacker may know, if a model judges histories."""
    linked = [model for model in claim.models if model.needs.histories]
    if not linked:
        return ""
    if claim.counted_unit == "household":
        return " of all members of a household"
    most = [model.m for model in linked if isinstance(model, KMAnonymity)]
    return f" of {count_of(max(most), 'record')} or fewer" if len(most) == len(linked) else " of any number of records"


def _describe_classes(
    claim: Classes | Combinations | Matchings, verdict: Verdict, columns: Sequence[str], entries: Mapping[str, Any]
) -> Iterator[str]:
    """Describe how many records share their published cells, and what that cost."""
    if isinstance(claim, Combinations):
        return
    n_suppressed, person = entries.get("n_suppressed", verdict.n_suppressed), claim.person
    suppression = (
        f"{count_of(n_suppressed, 'record')} {'was' if n_suppressed == 1 else 'were'} suppressed"
        if n_suppressed
        else "none was suppressed"
    )
    is_counted = verdict.complete or (person in columns and not claim.is_fresh)
    if person is None or is_counted or verdict.complete_for_receiver:
        smallest = count_of(verdict.smallest_class, claim.counted_unit if person and is_counted else "record")
        n_records = count_of(entries.get("n_records", verdict.n_records), "record")
        yield f"{n_records} became {count_of(verdict.n_classes, 'class')} of at least {smallest}; {suppression}."
    else:
        yield (
            careful(
                "how many persons share a record's cells is not known: whose record a row is stands in the "
                "original, which was not given."
            )
        )
    if verdict.n_unique and verdict.smallest_class < 2:
        yield (
            careful(
                f"{verdict.n_unique:,} of {count_of(verdict.n_records, 'record')} stand alone: anyone who knows that "
                "the person is in the table finds the record."
            )
        )
    yield from verdict.household_facts
    quality = entries.get("quality", {})
    if (share := quality.get("set_ncp")) is not None:
        n_cells = {name: each["n_cells"] for name, each in (quality.get("cells") or {}).items()}
        yield _describe_loss(share, quality.get("by_column") or {}, n_cells)


def _describe_loss(share: float, lost: Mapping[str, float], n_cells: Mapping[str, int]) -> str:
    """Describe how much was lost, in which column most, and which has most distinct cells."""
    percent = f"{100 * share:.{1 if share < 0.1 else 0}f}"
    if len(lost) < 2 or not any(lost.values()):
        return f"A typical cell spans {percent} % of its column (set-NCP {share:.4f})."
    most = max(lost, key=lambda name: lost[name])
    if not n_cells:
        return (
            f"A typical cell spans {percent} % of its column (set-NCP {share:.4f}); most is lost in {most} "
            f"({lost[most]:.4f})."
        )
    finest = max(n_cells, key=lambda name: n_cells[name])
    return (
        f"A typical cell spans {percent} % of its column (set-NCP {share:.4f}); most is lost in {most} "
        f"({lost[most]:.4f}), and {finest} has most distinct cells ({n_cells[finest]:,})."
    )


def _describe_cells(cells: Mapping[str, Mapping[str, int]]) -> str:
    """Describe how many distinct cells each column has, of how many units, and which do not nest."""
    counted = join_names([f"{name} {each['n_cells']:,} ({each['n_units']:,})" for name, each in cells.items()])
    overlapping = [name for name, each in cells.items() if each["nest"] is False]
    if not overlapping:
        return f"Distinct cells, and their units in brackets: {counted}."
    return (
        f"Distinct cells, and their units in brackets: {counted}; cells overlap without nesting in "
        f"{join_names(overlapping)}."
    )


def _describe_columns(
    claim: Classes | Combinations | Matchings, columns: Sequence[str], entries: Mapping[str, Any]
) -> Iterator[str]:
    """Describe which columns are left out, pseudonymized, or kept."""
    keyed, fresh = entries.get("pseudonymized", ()), entries.get("fresh", ())
    links = any(model.needs.histories for model in claim.models)
    again = " (make the next release with a new key: one key would join the histories of both)" if links else ""
    if again and (entries.get("timelines") or {}).get("within"):
        # The offsets of dates must stay, and so the key.
        again = " (the next release keeps the key and takes another word under `release:`, else both histories join)"
    if removed := entries.get("removed"):
        yield f"Left out: {join_names(removed)}."
    if keyed:
        yield f"Keyed pseudonyms: {join_names(keyed)}{again}."
    if fresh:
        yield f"A new pseudonym for every record: {join_names(fresh)}."
    if claim.bounds:
        first, last = bound_names(claim.bounds[0])
        yield f"Bounds of cells stand beside {join_names(claim.bounds)}: {first}, {last} and so on."
    judged = (*claim.columns, *claim.bound_columns, *claim.sensitive, *keyed, *fresh, *claim.rounded)
    if kept := [name for name in columns if name not in judged]:
        yield f"Kept as they are, taken for unknown to anyone: {join_names(kept)}."
    for name, rounding in claim.rounded.items():
        yield f"Rounded: {name} ({rounding.describe()})."
