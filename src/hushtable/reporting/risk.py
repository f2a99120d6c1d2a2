"""The reports of who can be found in a table as it stands: an assessment, singling out, minimal sample uniques."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hushtable.reporting.document import (
    Block,
    Chart,
    Paragraph,
    Quantity,
    Section,
    Table,
    blocks_of,
    format_share,
    row_of,
)
from hushtable.risk import Keys, MinimalUniques, Mpuccs, RiskAssessment, cumulative_shares, record_bands

_SHOWN_KEYS: Final = 20


def sections_on_assessment(risk: RiskAssessment) -> tuple[Section, ...]:
    """Return the sections of an assessment."""
    return (
        _section_on_attacks(risk),
        _section_on_classes(risk),
        *_sections_on_population(risk),
        *_sections_on_sensitive_columns(risk),
    )


def share_below(risk: RiskAssessment, k: int) -> float:
    """Return the share of the records in classes smaller than k."""
    held = risk.records.count_by_class_size()
    return sum(n for size, n in held.items() if size < k) / max(1, sum(held.values()))


def people_of(risk: RiskAssessment) -> str:
    """Return the noun for what sizes of classes count: persons or records."""
    return "records" if risk.person is None else "persons"


def fewer_than(k: int, risk: RiskAssessment) -> str:
    """Name the classes whose size is below k."""
    return f"classes smaller than {k}" if risk.person is None else f"classes of fewer than {k} persons"


def _section_on_attacks(risk: RiskAssessment) -> Section:
    attacks = [("prosecutor: knows that the person is in the table", risk.prosecutor_risk)]
    if risk.journalist_risk is not None:
        attacks.append(("journalist: knows that the person is in the population", risk.journalist_risk))
    rows = [(who, Quantity(each.highest, "share"), Quantity(each.average, "share")) for who, each in attacks]
    rows.append(("marketer: guesses at every record", Quantity(None), Quantity(risk.marketer_risk, "share")))
    below = tuple(
        (f"smaller than {size}", Quantity(n, "count"), Quantity(n / max(1, risk.n_records), "share"))
        for size, n in risk.records_below.items()
    )
    readings = tuple((reading, Quantity(n, "count")) for reading, n in risk.smallest_by_missing.items())
    blocks = (
        Table("Chance of a right guess", ("who attacks", "highest", "average"), tuple(rows)),
        Table("Records in small classes", ("class", "records", "share"), below),
        Table("Smallest class by what a missing value matches", ("missing as", "records"), readings),
    )
    return Section("attacks", "Who attacks, and how often that succeeds", blocks, "7.3 Attack modelling")


def _section_on_classes(risk: RiskAssessment) -> Section:
    n_by_size = risk.records.count_by_class_size()
    labels, (records,) = record_bands(n_by_size)
    total, people = max(1, sum(records)), people_of(risk)
    alone = format_share(risk.n_unique / max(1, risk.n_records))
    sizes = {"bands": list(labels), "shares": {"records": [n / total for n in records]}, "people": people}
    steps, (shares,) = cumulative_shares(n_by_size)
    below = {"k": list(steps), "shares": {"records": list(shares)}, "people": people}
    blocks = (
        Chart("class_sizes", f"{alone} of the records stand alone", sizes),
        Chart("risk_by_k", f"{format_share(share_below(risk, 5))} are in {fewer_than(5, risk)}", below),
    )
    return Section("classes", "How many share what is known", blocks, "8.2.2 Quantifying identifiability")


def _sections_on_population(risk: RiskAssessment) -> Iterator[Section]:
    rows = [
        (name, Quantity(each.value, "share"), Quantity(each.low, "share"), Quantity(each.high, "share"),
         "counted" if name == "counted" else "yes" if each.reliable else f"no: {each.reason}")
        for name, each in risk.population_uniqueness.items()
    ]  # fmt: skip
    if not rows:
        return
    titles = ("by", "unique in the population", "at least", "at most", "to be relied on")
    figures = [("share of the population in the table", Quantity(risk.sampling_fraction, "share"))]
    if risk.theta is not None:
        figures.append(("a match with a unique is right in", Quantity(risk.theta.value, "share")))
    figures.append(("expected share of records found", Quantity(risk.global_risk, "share")))
    blocks = (
        Table("The population behind the table", ("", "share"), tuple(figures), risk.individual_basis),
        Table("How many are unique in the population", titles, tuple(rows)),
    )
    yield Section("population", "Who is unique among all people", blocks, "7.3.3 Population-based attack")


def _sections_on_sensitive_columns(risk: RiskAssessment) -> Iterator[Section]:
    rows = tuple(
        (name, Quantity(each.distinct_l, "count"), Quantity(each.entropy_l), Quantity(each.t),
         Quantity(each.n_homogeneous, "count"))
        for name, each in risk.homogeneity.items()
    )  # fmt: skip
    if rows:
        titles = ("column", "fewest values in a class", "entropy l", "t", "records of classes that agree")
        blocks = (Table("What a class tells", titles, rows, "Larger l and smaller t are safer."),)
        yield Section(
            "sensitive", "What a class tells of sensitive columns", blocks, "8.2.2 Quantifying identifiability"
        )


def sections_on_mpuccs(found: Mpuccs) -> tuple[Section, ...]:
    """Return the sections of who is singled out on which columns."""
    summary = found.summary
    noun = found.counted
    sections = []
    by_size: Mapping[int, int] = summary.get("identified_by_size", {})
    by_column: Mapping[str, float] = summary.get("identified_by_column", {})
    parts: list[Block] = []
    if by_size:
        parts.append(
            Chart(
                "by_size",
                _describe_commonest_size(by_size, f"{noun} are singled out first"),
                _size_chart_data(by_size, noun),
            )
        )
        rows = tuple((str(size), Quantity(count, "count")) for size, count in by_size.items())
        parts.append(Table(f"{noun.capitalize()} by the columns it takes", ("columns", noun), rows))
    if by_column:
        ranked = sorted(by_column.items(), key=lambda each: -each[1])[:12]
        data = {
            "names": [name for name, _ in ranked],
            "values": [share for _, share in ranked],
            "label": "share of the sets",
        }
        parts.append(Chart("bars", f"{ranked[0][0]} is in {format_share(ranked[0][1])} of the sets", data))
    if parts:
        sections.append(Section("sizes", "On how few columns", tuple(parts), "8.2.2 Quantifying identifiability"))
    if "control" in summary:
        sections.append(_section_on_control(summary["control"]))
    return tuple(sections)


def _section_on_control(control: Mapping[str, Any]) -> Section:
    rows = tuple(
        (
            name.replace("_", " "),
            Quantity(value) if isinstance(value, (int, float)) else ", ".join(f"{each:.4g}" for each in value),
        )
        for name, value in control.items()
        if isinstance(value, (int, float))
        or (isinstance(value, (list, tuple)) and all(isinstance(x, (int, float)) for x in value))
    )
    blocks = (
        Paragraph("People who were never used for the synthesis are singled out by chance alone: that is the measure."),
        Table("Against people who were never used", ("figure", "value"), rows),
    )
    return Section("control", "What the synthesis added", blocks, "8.2.3 Adversarial testing")


def sections_on_uniques(found: MinimalUniques) -> tuple[Section, ...]:
    """Return the sections of the fewest columns on which records are unique."""
    summary = found.summary()
    by_size: Mapping[int, int] = summary["n_by_size"]
    ranked = sorted(summary["contributions"].items(), key=lambda each: -each[1])
    rows = tuple((str(size), Quantity(count, "count")) for size, count in by_size.items())
    shares = {
        "names": [name for name, _ in ranked],
        "values": [share for _, share in ranked],
        "label": "share of all SUDA scores",
    }
    blocks: list[Block] = [
        Chart(
            "by_size", _describe_commonest_size(by_size, "minimal sample uniques"), _size_chart_data(by_size, "sets")
        ),
        Table("Sets by size", ("columns", "sets"), rows),
    ]
    if ranked:
        blocks.append(Chart("bars", f"{ranked[0][0]} contributes most: {format_share(ranked[0][1])}", shares))
    return (Section("sizes", "On how few columns", tuple(blocks), "8.2.2 Quantifying identifiability"),)


def sections_on_keys(result: Keys) -> tuple[Section, ...]:
    """Return the sections of the column sets that tell all rows apart."""
    by_size = result.n_by_size
    if not by_size:
        return ()
    ranked = result.easiest_key_rows(_SHOWN_KEYS)
    keys = tuple(
        row_of(" + ".join(key["columns"]), Quantity(key["unique_rate"], "share"), Quantity(key["g1"])) for key in ranked
    )
    rows = tuple((str(size), Quantity(count, "count")) for size, count in by_size.items())
    more = "" if len(ranked) == len(result) else f"And {len(result) - len(ranked):,} more."
    return (
        Section(
            "keys",
            "Which columns tell all rows apart",
            blocks_of(
                Chart("by_size", _describe_commonest_size(by_size, "keys"), _size_chart_data(by_size, "keys")),
                Table("Keys by size", ("columns", "keys"), rows),
                Table("The most easily known keys", ("key", "unique rows", "g1"), keys, more),
            ),
            "8.2.2 Quantifying identifiability",
        ),
    )


def _describe_commonest_size(by_size: Mapping[int, int], what: str) -> str:
    size = max(by_size, key=lambda each: by_size[each])
    return f"Most {what} on {size} {'column' if size == 1 else 'columns'}"


def _size_chart_data(by_size: Mapping[int, int], label: str) -> dict[str, Any]:
    return {"sizes": list(by_size), "counts": list(by_size.values()), "label": label}
