"""Parts of a release's report that are measured on both tables: risk before and after, and what the data still tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hushtable.claims import Classes, Matchings
from hushtable.io import Frame
from hushtable.quality import Utility, measure_utility
from hushtable.reporting.released import Released
from hushtable.reporting.risk import fewer_than, people_of, share_below
from hushtable.reporting.sections import Block, Chart, Paragraph, Quantity, Section, Table, row_of, share_shown
from hushtable.reporting.statements import CLAUSES, conditions_of
from hushtable.risk import RiskAssessment, record_bands, stair
from hushtable.risk.assess import assess

__all__ = ["NO_ORIGINAL", "assessed", "risk_after", "risk_before", "utility"]

NO_ORIGINAL: Final = "The original was not given: what it was like is not told."
_SHOWN_PAIRS: Final = 5
_SHOWN_DISTRIBUTIONS: Final = 4


def assessed(released: Released, table: Frame | None) -> RiskAssessment | None:
    """Assess the risk of a table, if there is one; None where it does not say whose record a row is."""
    person = released.person
    if table is None or (person is not None and person not in table.columns):
        # Counted in records, classes would look larger than they are.
        return None
    return assess(table, quasi_identifiers=released.quasi_identifiers, sensitive=released.sensitive, person=person)


def risk_before(before: RiskAssessment | None) -> Section:
    """Say how easily people could be found in the original."""
    title = "Who could be found before"
    if before is None:
        return Section("risk_before", title, (Paragraph(NO_ORIGINAL),), CLAUSES["risk_before"])
    rows = (
        (
            "prosecutor: knows that the person is in the table",
            Quantity(before.prosecutor_risk.highest, "share"),
            Quantity(before.prosecutor_risk.average, "share"),
        ),
        ("marketer: guesses at every record", Quantity(None), Quantity(before.marketer_risk, "share")),
    )
    blocks = (
        Paragraph(before.headline),
        Table("Chance of a right guess", ("who attacks", "highest", "average"), rows),
    )
    return Section("risk_before", title, blocks, CLAUSES["risk_before"])


def risk_after(released: Released, before: RiskAssessment | None, after: RiskAssessment | None) -> Section:
    """Say what holds of the published table, and what risk is left."""
    blocks: list[Block] = [conditions_of(released)]
    if after is not None:
        both = {"before": before, "after": after} if before is not None else {"after": after}
        sizes = sorted({*after.records_below, *(before.records_below if before else ())})
        below = tuple(
            row_of(
                f"records in classes smaller than {size}",
                *(Quantity(each.records_below[size], "count") for each in both.values()),
            )
            for size in sizes
        )
        figures = (
            row_of("classes", *(Quantity(each.n_classes, "count") for each in both.values())),
            row_of("smallest class", *(Quantity(each.smallest_class, "count") for each in both.values())),
            row_of("records alone", *(Quantity(each.n_unique, "count") for each in both.values())),
            row_of("highest risk", *(Quantity(each.highest_risk, "share") for each in both.values())),
            row_of("average risk", *(Quantity(each.average_risk, "share") for each in both.values())),
        )
        blocks.append(Table("Risk", ("", *both), (*figures, *below), "Suppressed records are in no class."))
        blocks += [*_risk_charts(both), *_homogeneity(both)]
    elif released.is_counted and released.grouped.n_classes:
        blocks.append(_judged(released))
    return Section("risk_after", "Who can still be found", tuple(blocks), CLAUSES["risk_after"])


def _judged(released: Released) -> Table:
    """Show what the verdict counted, where the table does not say whose record a row is."""
    verdict, n = released.verdict, released.verdict.smallest_class
    rows = (
        row_of("classes", Quantity(verdict.n_classes, "count")),
        row_of("smallest class", Quantity(n, "count")),
        row_of("records alone", Quantity(verdict.n_unique, "count")),
        row_of("highest risk", Quantity(1 / n if n else None, "share")),
        row_of("average risk", Quantity(verdict.average_risk, "share")),
    )
    note = "Counted in persons, as far as the original tells them; the table does not say whose record a row is."
    return Table("Risk", ("", "after"), rows, note)


def _risk_charts(both: Mapping[str, RiskAssessment]) -> Iterator[Block]:
    held = [each.records.by_size() for each in both.values()]
    labels, records = record_bands(*held)
    totals = [max(1, sum(each)) for each in records]
    shares = {name: [n / total for n in each] for name, each, total in zip(both, records, totals, strict=True)}
    after = both["after"]
    alone = (
        f"; before, {share_shown(both['before'].n_unique / max(1, both['before'].n_records))} stood alone"
        if "before" in both
        else ""
    )
    now = (
        f"every record shares its cells with at least {after.smallest_class - 1:,} others"
        if after.smallest_class > 1
        else f"{share_shown(after.n_unique / max(1, after.n_records))} of the records stand alone"
    )
    title = f"Now {now}{alone}"
    yield Chart("class_sizes", title, {"bands": list(labels), "shares": shares, "people": people_of(after)})
    steps, below = stair(*held)
    title = f"{share_shown(share_below(after, 5))} of the records are in {fewer_than(5, after)} now"
    stairs = dict(zip(both, map(list, below), strict=True))
    yield Chart("risk_by_k", title, {"k": list(steps), "shares": stairs, "people": people_of(after)})


def _homogeneity(both: Mapping[str, RiskAssessment]) -> Iterator[Block]:
    rows = [
        (
            name,
            when,
            Quantity(each.distinct_l, "count"),
            Quantity(each.entropy_l),
            Quantity(each.t),
            Quantity(each.n_homogeneous, "count"),
        )
        for when, risk in both.items()
        for name, each in risk.homogeneity.items()
    ]
    if rows:
        titles = ("column", "", "fewest values in a class", "entropy l", "t", "records of classes that agree")
        note = "l and t are measured whether or not they were asked for. Larger l and smaller t are safer."
        yield Table("What a class tells of sensitive columns", titles, tuple(sorted(rows)), note)


def utility(released: Released) -> Section:
    """Say what can still be learned from the published table."""
    title = "What the data still tell"
    claim, original = released.claim, released.original
    if original is None or not isinstance(claim, (Classes, Matchings)):
        return Section("utility", title, (Paragraph(NO_ORIGINAL),), CLAUSES["utility"])
    hidden = (*released.facts.get("pseudonymized", ()), *released.facts.get("fresh", ()))
    found = measure_utility(original, released.published, claim, pseudonyms=hidden)
    return Section("utility", title, (*_utility_tables(found), *_distributions(found, released)), CLAUSES["utility"])


def _utility_tables(found: Utility) -> Iterator[Block]:
    yield Paragraph(
        "Every published cell is taken to stand for its values equally. Distance: 0 % as it was, 100 % as far as "
        "can be."
    )
    yield Table(
        "Columns",
        ("column", "distance", "by", "cells *", "mean shift (sd)", "variance ratio"),
        tuple(
            (
                each.name,
                Quantity(each.distance, "share"),
                each.measure or each.reason,
                Quantity(each.untold_rate, "share"),
                Quantity(each.mean_shift),
                Quantity(each.variance_ratio),
            )
            for each in found.columns
        ),
    )
    changed = sorted(found.pairs, key=lambda each: -abs(each.difference or 0.0))[:_SHOWN_PAIRS]
    if changed:
        rows = tuple(
            (f"{each.first}, {each.second}", each.measure, Quantity(each.original), Quantity(each.release))
            for each in changed
        )
        note = f"Of {len(found.pairs):,} pairs."
        yield Table("Pairs of columns that changed most", ("columns", "measure", "before", "after"), rows, note)


def _distributions(found: Utility, released: Released) -> Iterator[Block]:
    if released.person is not None:
        # Eleven records may be one person's, and what they share is then nobody else's.
        return
    known = [
        each for each in found.columns if each.distribution is not None and each.name in released.quasi_identifiers
    ]
    for each in sorted(known, key=lambda one: -(one.distance or 0.0))[:_SHOWN_DISTRIBUTIONS]:
        shares = each.distribution
        assert shares is not None
        moved = share_shown(each.distance or 0.0)
        title = f"{each.name}: before and after differ by {moved}" if each.distance else f"{each.name}: as it was"
        data = {
            "places": list(shares.places),
            "shares": {"before": list(shares.original), "after": list(shares.release)},
            "label": each.name,
        }
        yield Chart("distributions", title, data)
