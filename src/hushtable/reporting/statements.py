"""What every report of a release says alike: the three tests, what is not protected, and who signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hushtable.claims import Claim, Classes, HistoryClaim, Matchings
from hushtable.reporting.released import Released
from hushtable.reporting.sections import Form, Paragraph, Points, Section, Table

__all__ = ["CLAUSES", "and_", "beside", "conditions_of", "decision", "three_tests", "unprotected"]

CLAUSES: Final = {
    "asked": "6 Context assessment",
    "data": "7.2 Data features",
    "risk_before": "7.3 Attack modelling; 8.2.2 Quantifying identifiability",
    "done": "8.3 Mitigation",
    "risk_after": "8.3 Mitigation, measured again as in 8.2.2",
    "utility": "8.3 Mitigation",
    "told": "8.3 Mitigation",
    "tests": "8.2.3 Adversarial testing",
    "unprotected": "8.2.3 Adversarial testing",
    "reproduce": "9 Governance",
    "decision": "9 Governance",
}
"""The clauses of ISO/IEC 27559:2022 that sections speak to; following their order is no claim of conformity."""


def and_(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    *first, last = names or ("nothing",)
    return f"{', '.join(first)} and {last}" if first else last


def beside(claim: Claim) -> str:
    """Say what a claim is judged beside, if not from the published table alone."""
    if isinstance(claim, Matchings):
        return " beside the original one"
    if isinstance(claim, Classes) and any(model.needs.population for model in claim.models):
        return " and the population"
    return ""


def conditions_of(released: Released) -> Points:
    """Say condition by condition what was judged of the published table."""
    verdict = released.verdict
    failed = {failure.condition for failure in verdict.failures}
    lines = [f"fails: {failure}" for failure in verdict.failures]
    lines += [f"not judged: {condition} ({needs})" for condition, needs in verdict.unchecked.items()]
    return Points((*lines, *(f"holds: {each}" for each in verdict.held if each not in failed)))


def three_tests(released: Released, *, is_external: bool = False) -> Section:
    """Say by the three tests of WP29's Opinion 05/2014 what was measured, and what was not."""
    claim, columns = released.claim, and_(released.quasi_identifiers)
    measured = " and ".join(claim.conditions)
    if isinstance(claim, (Classes, Matchings)):
        rows = (
            (
                "Singling out: can a person's records be isolated?",
                f"Judged from the published cells of {columns}{beside(claim)}: {measured}.",
                "Singling out by columns that are kept as they are, for someone who knows them after all; by several "
                "releases of the same people together.",
            ),
            (
                "Linkability: can records of one person be linked?",
                _linked(released, is_external=is_external),
                "Links by any other column, and to other tables: no linkage attack was run.",
            ),
            (
                "Inference: can a value be deduced?",
                _inferred(released),
                "What a model trained on the release guesses of people, in it or not; no inference attack was run.",
            ),
        )  # fmt: skip
    else:
        nothing = "Not measured: the method hides a correlation, not people."
        rows = (
            ("Singling out: can a person's records be isolated?", nothing, "Singling out by any column."),
            ("Linkability: can records of one person be linked?", nothing, "Links by any column."),
            ("Inference: can a value be deduced?", f"Judged from the published cells: {measured}.",
             "What other columns, or other data, say of what is hidden."),
        )  # fmt: skip
    blocks = (
        Paragraph(
            "The Article 29 Working Party's Opinion 05/2014 asks three questions of a technique. A table that leaves "
            "one of them open needs a full analysis of its risks by people."
        ),
        Table("Three tests", ("test", "measured", "not measured"), rows),
    )
    return Section("tests", "Singling out, linkability, inference", blocks, CLAUSES["tests"])


def _linked(released: Released, *, is_external: bool) -> str:
    """Say how many records a link meets, where one is sure to meet several."""
    columns, n = and_(released.quasi_identifiers), released.verdict.smallest_class
    if not released.is_counted:
        return "Not known: whose record a row is stands in the original, which was not given."
    if isinstance(released.claim, Matchings) or n < 2:
        return f"A link by {columns} may meet one record: the condition above does not ask for several."
    if released.person is None:
        return (
            f"A link by {columns} meets the records of a whole class. A person may have several of them: nobody said "
            "whose record a row is."
        )
    one = f"A link by {columns} of one record meets the persons of a whole class, never one."
    linkage = released.linkage
    if not released.links:
        return f"{one} No published column says which records are one person's."
    if linkage is None:
        return f"{one} Column {released.person} links the records of a person; nobody has several."
    if isinstance(released.claim, HistoryClaim):
        asked = [model.name for model in released.claim.models if model.needs.histories]
        return (
            f"{one} Column {released.person} links the records of a person; {and_(asked)} was judged from the "
            f"published cells: {released.claim.sentence}. {released.claim.of_left_out}"
        )
    if is_external:
        return (
            f"{one} Column {released.person} links the records of a person: whoever knows several of them may find "
            "the person."
        )
    return f"{one} Column {released.person} links the records of a person: {'; '.join(linkage.lines()[1:])}."


def _inferred(released: Released) -> str:
    """Say of each sensitive column what was asked."""
    if not released.sensitive:
        return "No column was declared sensitive: nothing was measured."
    claim = released.claim
    assert isinstance(claim, (Classes, Matchings))
    judged = {name for model in claim.models for name in model.needs.sensitive}
    asked = [each for each, model in zip(claim.conditions, claim.models, strict=False) if model.needs.sensitive]
    free = [name for name in released.sensitive if name not in judged]
    parts = [f"Judged from the published cells: {and_(asked)}."] if asked else []
    parts += [f"Of {and_(free)}, no condition was asked."] if free else []
    return " ".join(parts)


def unprotected(released: Released) -> Section:
    """Say what nobody should take the release for."""
    claim = released.claim
    if not isinstance(claim, (Classes, Matchings)):
        points = [
            f"People: whoever knows some columns of a person may find the record. {claim.sentence}.",
            "What is hidden may follow from other columns that are published as they are.",
        ]
        return Section("unprotected", "What is not protected", (Points(tuple(points)),), CLAUSES["unprotected"])
    named = {*claim.columns, *claim.sensitive}
    kept = [name for name in released.published.columns if name not in named]
    points = [
        f"Someone who knows more than {and_(claim.columns)} of a person: every other column is taken for unknown"
        + (f", {and_(kept)} among them." if kept else "."),
        "Several releases together: what each of two tables of the same people hides, both side by side may show. "
        "Compare with what was released before.",
        "How the classes came about: a method that goes as far as its conditions allow shows a little of what stopped "
        "it. A margin, or fixed bands for all releases, blunts that.",
        "What everyone in a class has in common: who is known to be in a class is known to have what all of it have."
        if claim.sensitive
        else "Sensitive values: no column was declared sensitive, so nothing hides what a class has in common.",
        "Parts of the table: conditions hold for the whole of it, not for rows or columns taken out, or joined to "
        "others.",
    ]
    if released.person is None:
        points.append("Persons with several records: every row was taken for a person of its own.")
    points.append(
        "The law: whether the table is anonymous in its recipient's hands depends on what else is there, and is for "
        "people to decide."
    )
    return Section("unprotected", "What is not protected", (Points(tuple(points)),), CLAUSES["unprotected"])


def decision() -> Section:
    """Leave room for those who decide."""
    form = Form(
        ("role", "name", "decision and conditions", "date, signature"), ("Prepared by", "Checked by", "Approved by")
    )
    return Section("decision", "Decision", (form,), CLAUSES["decision"])
