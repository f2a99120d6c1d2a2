"""The report of a release for those who make it: what was asked, done, reached, paid, and left open.

Some parts are measured on both tables: risk before and after, and what the data still tell.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from hushtable.claims import Classes, Combinations, Matchings
from hushtable.discover import Roles, find_quasi_identifiers
from hushtable.io import Frame
from hushtable.policy import plain_yaml
from hushtable.quality import Utility, measure_utility, with_all_columns
from hushtable.release import Exposure, manifest
from hushtable.reporting.document import (
    Block,
    CellContent,
    Chart,
    Code,
    Data,
    Paragraph,
    Points,
    Quantity,
    Section,
    Table,
    facts_section,
    format_share,
    row_of,
)
from hushtable.reporting.released import CLAUSES, MOST_LOOKED_AT, Released, closing_sections, section_on_tests
from hushtable.reporting.risk import fewer_than, people_of, share_below
from hushtable.risk import RiskAssessment, cumulative_shares, record_bands
from hushtable.risk.assess import assess
from hushtable.search import n_threads
from hushtable.wording import join_names

NO_ORIGINAL: Final = (
    "This section needs the original table (--original FILE). A release whose records were cut one by one has none."
)
_SHOWN_PAIRS: Final = 5
_SHOWN_DISTRIBUTIONS: Final = 4


def assess_table(released: Released, table: Frame | None) -> RiskAssessment | None:
    """Assess the risk of a table, if there is one; None where it does not say whose record a row is."""
    person = released.person
    if table is None or (person is not None and person not in table.columns):
        # Classes counted in records instead of persons would look larger than they are.
        return None
    return assess(table, quasi_identifiers=released.quasi_identifiers, sensitive=released.sensitive, person=person)


def section_on_risk_before(before: RiskAssessment | None) -> Section:
    """Report how easily people could be found in the original."""
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


def section_on_risk_after(released: Released, before: RiskAssessment | None, after: RiskAssessment | None) -> Section:
    """Report what the published table holds, and the remaining risk."""
    blocks: list[Block] = [Points(released.verdict.facts[1:])]
    if after is not None:
        risks = {"before": before, "after": after} if before is not None else {"after": after}
        sizes = sorted({*after.records_below, *(before.records_below if before else ())})
        below = tuple(
            row_of(
                f"records in classes smaller than {size}",
                *(Quantity(each.records_below[size], "count") for each in risks.values()),
            )
            for size in sizes
        )
        figures = (
            row_of("classes", *(Quantity(each.n_classes, "count") for each in risks.values())),
            row_of("smallest class", *(Quantity(each.smallest_class, "count") for each in risks.values())),
            row_of("records alone", *(Quantity(each.n_unique, "count") for each in risks.values())),
            *_rows_on_further_knowledge(released, len(risks)),
            row_of("highest risk", *(Quantity(each.highest_risk, "share") for each in risks.values())),
            row_of("average risk", *(Quantity(each.average_risk, "share") for each in risks.values())),
        )
        blocks.append(Table("Risk", ("", *risks), (*figures, *below), "Suppressed records are in no class."))
        blocks += [*_charts_on_risk(risks), *_tables_on_homogeneity(risks)]
    elif released.is_counted and released.grouped.n_classes:
        blocks.append(_table_on_verdict(released))
    return Section("risk_after", "Who can still be found", tuple(blocks), CLAUSES["risk_after"])


def _rows_on_further_knowledge(released: Released, n_tables: int) -> Iterator[tuple[CellContent, ...]]:
    """Return whom the reader finds who knows one column more: "0 alone" must not stand without it."""
    if exposure := released.facts.get("exposure"):
        for each in Exposure.from_dict(exposure).told[:1]:
            unknown = [Quantity(None)] * (n_tables - 1)
            n_alone = Quantity(each.n_records, "count")
            yield row_of(f"records alone if a reader also knows {join_names(each.columns)}", *unknown, n_alone)


def _table_on_verdict(released: Released) -> Table:
    """Return the verdict's counts, for a table that does not say whose record a row is."""
    verdict, n = released.verdict, released.verdict.smallest_class
    rows = (
        row_of("classes", Quantity(verdict.n_classes, "count")),
        row_of("smallest class", Quantity(n, "count")),
        row_of("records alone", Quantity(verdict.n_unique, "count")),
        row_of("highest risk", Quantity(1 / n if n else None, "share")),
        row_of("average risk", Quantity(verdict.average_risk, "share")),
    )
    note = "Counted in persons, as far as the original has them; the table does not say whose record a row is."
    return Table("Risk", ("", "after"), rows, note)


def _charts_on_risk(risks: Mapping[str, RiskAssessment]) -> Iterator[Block]:
    n_by_size = [each.records.count_by_class_size() for each in risks.values()]
    labels, records = record_bands(*n_by_size)
    totals = [max(1, sum(each)) for each in records]
    shares = {name: [n / total for n in each] for name, each, total in zip(risks, records, totals, strict=True)}
    after = risks["after"]
    alone = (
        f"; before, {format_share(risks['before'].n_unique / max(1, risks['before'].n_records))} stood alone"
        if "before" in risks
        else ""
    )
    now = (
        f"every record shares its quasi-identifiers with at least {after.smallest_class - 1:,} others"
        if after.smallest_class > 1
        else f"{format_share(after.n_unique / max(1, after.n_records))} of the records stand alone"
    )
    title = f"Now {now}{alone}"
    yield Chart("class_sizes", title, {"bands": list(labels), "shares": shares, "people": people_of(after)})
    steps, below = cumulative_shares(*n_by_size)
    title = f"{format_share(share_below(after, 5))} of the records are in {fewer_than(5, after)} now"
    stairs = dict(zip(risks, map(list, below), strict=True))
    yield Chart("risk_by_k", title, {"k": list(steps), "shares": stairs, "people": people_of(after)})


def _tables_on_homogeneity(risks: Mapping[str, RiskAssessment]) -> Iterator[Block]:
    rows = [
        (
            name,
            when,
            Quantity(each.distinct_l, "count"),
            Quantity(each.entropy_l),
            Quantity(each.t),
            Quantity(each.n_homogeneous, "count"),
        )
        for when, risk in risks.items()
        for name, each in risk.homogeneity.items()
    ]
    if rows:
        titles = ("column", "", "fewest values in a class", "entropy l", "t", "records of classes that agree")
        note = "l and t are measured whether or not they were asked for. Larger l and smaller t are safer."
        yield Table("What a class tells of sensitive columns", titles, tuple(sorted(rows)), note)


def section_on_utility(released: Released) -> Section:
    """Report what can still be learned from the published table."""
    title = "What the data still show"
    claim, original = released.claim, released.original
    if original is None or not isinstance(claim, (Classes, Combinations, Matchings)):
        return Section("utility", title, (Paragraph(NO_ORIGINAL),), CLAUSES["utility"])
    hidden = (*released.facts.get("pseudonymized", ()), *released.facts.get("fresh", ()))
    names = [name for name in released.names if name not in claim.bound_columns]
    found = with_all_columns(measure_utility(original, released.published, claim, pseudonyms=hidden), names)
    return Section(
        "utility", title, (*_tables_on_utility(found), *_charts_on_distributions(found, released)), CLAUSES["utility"]
    )


def _tables_on_utility(utility: Utility) -> Iterator[Block]:
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
            for each in utility.columns
        ),
    )
    changed = sorted(utility.pairs, key=lambda each: -abs(each.difference or 0.0))[:_SHOWN_PAIRS]
    if changed:
        rows = tuple(
            (f"{each.first}, {each.second}", each.measure, Quantity(each.original), Quantity(each.release))
            for each in changed
        )
        note = f"Of {len(utility.pairs):,} pairs."
        yield Table("Pairs of columns that changed most", ("columns", "measure", "before", "after"), rows, note)


def _charts_on_distributions(utility: Utility, released: Released) -> Iterator[Block]:
    if released.person is not None:
        # Eleven records may belong to one person: their common value would be that person's.
        return
    drawable = [
        each for each in utility.columns if each.distribution is not None and each.name in released.quasi_identifiers
    ]
    for column in sorted(drawable, key=lambda one: -(one.distance or 0.0))[:_SHOWN_DISTRIBUTIONS]:
        shares = column.distribution
        assert shares is not None
        moved = format_share(column.distance or 0.0)
        title = f"{column.name}: before and after differ by {moved}" if column.distance else f"{column.name}: as it was"
        data = {
            "places": list(shares.places),
            "shares": {"before": list(shares.original), "after": list(shares.release)},
            "label": column.name,
        }
        yield Chart("distributions", title, data)


_MAX_CELL_LENGTH: Final = 60
_LIBRARIES: Final = ("hushtable", "numpy", "scipy", "numba", "polars")


def sections(released: Released) -> tuple[Section, ...]:
    """Return the sections of a release that is judged by classes or by rows."""
    table, original = released.unsuppressed_rows, released.original
    # The slow parts run in parallel.
    with ThreadPoolExecutor(n_threads()) as pool:
        roles_task = pool.submit(_find_roles, released)
        utility_task = pool.submit(section_on_utility, released)
        before_task = pool.submit(assess_table, released, original)
        after_task = pool.submit(assess_table, released, table if table.n_records else None)
    before, after = before_task.result(), after_task.result()
    return (
        facts_section(released.sentences),
        _section_on_request(released),
        _section_on_data(released, roles_task.result()),
        section_on_risk_before(before),
        _section_on_changes(released),
        section_on_risk_after(released, before, after),
        utility_task.result(),
        _section_on_kept_columns(released),
        *closing_sections(released, section_on_tests(released), section_on_reproduction(released)),
    )


def _section_on_request(released: Released) -> Section:
    policy = released.policy
    blocks: list[Block] = [Points(released.claim.conditions)]
    if accepted := policy.get("accept"):
        rows = tuple((name, reason) for name, reason in accepted.items())
        blocks.append(Table("Columns accepted as they are, and why nobody knows them", ("column", "reason"), rows))
    if options := tuple(_describe_options(released)):
        blocks.append(Table("How", ("entry", "as asked"), options))
    return Section("asked", "What was asked", tuple(blocks), CLAUSES["asked"])


def _describe_options(released: Released) -> Iterator[tuple[str, str]]:
    """Describe a policy's entries besides roles and models, one line each; the report ends with the whole policy."""
    policy = released.policy
    for name in ("method", "loss", "person", "population", "domains", "limits", "budget"):
        if policy.get(name):
            yield name, _format_entry(policy[name])
    if released.facts.get("recoding"):
        yield "recoding", str(released.facts["recoding"])


def _format_entry(entry: Any) -> str:
    """Format an entry of a policy on one line."""
    if isinstance(entry, Mapping):
        return ", ".join(f"{name}: {_format_entry(each)}" if each != {} else str(name) for name, each in entry.items())
    return str(entry)


def _section_on_data(released: Released, proposed_roles: Roles | None) -> Section:
    """Report what the columns are, with the reason for each role, and no values."""
    roles = {each["name"]: str(each.get("role", "")) for each in released.columns}
    roles |= dict.fromkeys(released.facts.get("removed", ()), "identifier, left out")
    roles |= dict.fromkeys(released.facts.get("left_out", ()), "left out")
    blocks: list[Block] = []
    if proposed_roles is None:
        rows = tuple((name, role) for name, role in roles.items())
        blocks.append(Table("Columns", ("column", "role"), rows, NO_ORIGINAL))
        return Section("data", "What the data are", tuple(blocks), CLAUSES["data"])
    proposed = {each.name: each for each in proposed_roles.columns}
    looked_at = released.original if released.sample is None else released.sample
    assert looked_at is not None
    names = looked_at.columns
    n_records = released.facts["n_records"] if released.original is None else released.original.n_records
    n_looked_at, which = min(n_records, MOST_LOOKED_AT), "evenly chosen"
    if released.sample is not None:
        n_looked_at, which = released.sample.n_rows, "the first ones"
    described = [(name, roles.get(name, "not released"), proposed[name]) for name in names]
    blocks.append(Paragraph(f"{n_records:,} records of {len(names)} columns."))
    blocks.append(
        Table(
            "Columns, their roles, and what a look at them says",
            ("column", "role", "kind", "distinct", "missing", "what tells"),
            tuple(
                (
                    name,
                    role,
                    each.kind,
                    Quantity(each.n_distinct, "count"),
                    Quantity(each.n_missing, "count"),
                    each.reason,
                )
                for name, role, each in described
            ),
            "" if n_looked_at == n_records else f"Counted on {n_looked_at:,} of the records, {which}.",
        )
    )
    strong = sorted((each for each in proposed_roles.columns if each.power > 0), key=lambda each: -each.power)[:12]
    if strong:
        data = {
            "names": [each.name for each in strong],
            "values": [each.power for each in strong],
            "label": "share of what tells people apart",
        }
        title = f"{strong[0].name} distinguishes people most: {format_share(strong[0].power)} of it"
        blocks.append(Chart("bars", title, data))
    return Section("data", "What the data are", tuple(blocks), CLAUSES["data"])


def _find_roles(released: Released) -> Roles | None:
    """Propose roles from evenly chosen rows: fewer than all are enough."""
    original = released.original if released.sample is None else released.sample
    if original is None:
        return None
    n = original.n_rows
    if n <= MOST_LOOKED_AT:
        return find_quasi_identifiers(original)
    return find_quasi_identifiers(original.take(np.linspace(0, n - 1, MOST_LOOKED_AT).astype(np.int64)))


def _section_on_changes(released: Released) -> Section:
    """Report how each column was changed, what that cost, and how two published records look."""
    loss_by_column: Mapping[str, float] = released.facts.get("quality", {}).get("by_column", {})
    cells_by_column: Mapping[str, Mapping[str, int]] = released.facts.get("quality", {}).get("cells", {})
    rows = []
    for column in released.columns:
        forms: Mapping[str, int] = column.get("cells", {})
        starred = forms.get("any", 0) / sum(forms.values()) if forms else None
        rows.append(
            (
                column["name"],
                str(column.get("role", "")),
                str(column.get("how", "")),
                Quantity(starred, "share"),
                Quantity(loss_by_column.get(column["name"]), "share"),
                *_figures_of_cells(cells_by_column.get(column["name"], {})),
            )
        )
    blocks: list[Block] = [
        Table("Columns", ("column", "role", "what was done", "cells *", "loss", "distinct cells", "units", "nest"),
              tuple(rows), "Loss: the mean share of the column that a published cell spans (set-NCP). Cells nest if of "
              "any two one holds all of the other, or none of it."),
    ]  # fmt: skip
    if loss_by_column:
        by_loss = sorted(loss_by_column, key=lambda name: -loss_by_column[name])
        data = {
            "names": by_loss,
            "values": [loss_by_column[name] for name in by_loss],
            "label": "share of the column that a cell spans",
        }
        blocks.append(
            Chart("bars", f"{by_loss[0]} paid most: {format_share(loss_by_column[by_loss[0]])} of its detail", data)
        )
    blocks += _tables_on_two_rows(released)
    return Section("done", "What was done", tuple(blocks), CLAUSES["done"])


def _figures_of_cells(cells: Mapping[str, int]) -> tuple[Quantity, Quantity, str]:
    """Return how many distinct cells a column has, of how many units, and whether they nest."""
    nest = cells.get("nest")
    n_cells, n_units = Quantity(cells.get("n_cells"), "count"), Quantity(cells.get("n_units"), "count")
    return n_cells, n_units, "" if nest is None else "yes" if nest else "NO"


def _tables_on_two_rows(released: Released) -> Iterator[Block]:
    """Return the quasi-identifiers of the two largest classes, which many records share."""
    grouped = released.grouped
    if not grouped.n_classes:
        return
    # Conditions other than k-anonymity allow a class of one record or person, which must not be shown.
    is_shared = released.person is None or (released.is_counted and released.verdict.smallest_class >= 2)
    min_records = 2 if is_shared else np.inf
    largest = [
        place for place in np.argsort(-grouped.records, kind="stable")[:2] if grouped.records[place] >= min_records
    ]
    if not largest:
        return
    rows = []
    for class_id in largest:
        first = int(grouped.first_rows[class_id])
        cells = [released.published.column(name)[first] for name in released.quasi_identifiers]
        shown = ("" if cell is None else str(cell) for cell in cells)
        rows.append(row_of(Quantity(int(grouped.records[class_id]), "count"), *map(_shorten_cell, shown)))
    yield Table(
        "Two published records, of the largest classes",
        ("records", *map(Data, released.quasi_identifiers)),
        tuple(rows),
    )


def _shorten_cell(cell: str) -> str:
    return cell if len(cell) <= _MAX_CELL_LENGTH else f"{cell[:_MAX_CELL_LENGTH]}…"


def _section_on_kept_columns(released: Released) -> Section:
    """Report what was measured of the columns that are kept as they are, before the release was written."""
    exposure: Mapping[str, Any] = released.facts.get("exposure") or {}
    title = "What was found of columns kept as they are"
    if not exposure:
        return Section(
            "told", title, (Paragraph("Columns that are kept as they are were not measured."),), CLAUSES["told"]
        )
    measured = Exposure.from_dict(exposure)
    blocks: list[Block] = [Points(tuple(measured.lines()))]
    rows = tuple(
        (
            " + ".join(each.columns),
            Quantity(each.n_records, "count"),
            Quantity(each.n_records / measured.n_records, "share"),
        )
        for each in measured.told
        if each.n_records
    )
    if rows:
        note = "Of someone who knows a record's published quasi-identifiers, and this besides."
        blocks.append(Table("Who also knows …", ("… this", "finds so many records", "share"), rows, note))
    return Section("told", title, tuple(blocks), CLAUSES["told"])


def section_on_reproduction(released: Released) -> Section:
    """Report which program made the release, and how to verify it again."""
    facts = released.facts
    trace: Mapping[str, Any] = facts.get("trace") or {}
    rows: list[tuple[str, str]] = [(name, version(name)) for name in _LIBRARIES]
    rows.append(("Python", platform.python_version()))
    if facts.get("hushtable"):
        rows.append(("written by hushtable", str(facts["hushtable"])))
    if trace:
        rows.append(("method", str(trace["method"])))
        rows.append(("seed", "none: nothing is drawn" if trace.get("seed") is None else str(trace["seed"])))
    if released.digest:
        rows.append((f"SHA-256 of {released.file}", released.digest))
    rows += [(f"SHA-256 of the input {path.name}", manifest.sha256(path)) for path in released.inputs]
    blocks: list[Block] = [Table("Made by", ("what", "which"), tuple(rows))]
    if released.policy:
        blocks.append(Code("The policy", plain_yaml.dump(released.policy)))
    if released.file:
        blocks.append(Code("Judge the file again", f"hushtable verify {shlex.quote(released.file)}"))
    return Section("reproduce", "How to check it", tuple(blocks), CLAUSES["reproduce"])
