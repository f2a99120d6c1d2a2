"""A risk assessment in words: one sentence that does not take a unique record for a unique person, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hushtable.risk.assessment import RiskAssessment

__all__ = ["headline", "notes", "percent"]


def headline(risk: RiskAssessment) -> str:
    """Say how many records are unique, of how large a share of the population, and how often a match is right."""
    n = f"{risk.n_records:,} {'record' if risk.n_records == 1 else 'records'}"
    if not risk.n_unique:
        return f"None of {n} is unique in the table; the smallest class holds {risk.smallest_class:,}."
    are = "is" if risk.n_unique == 1 else "are"
    if risk.population_size is None:
        return (
            f"{risk.n_unique:,} of {n} {are} unique in the table; how many people outside it share their values, "
            "and so how often a match with one of them would be right, is not known."
        )
    unique = (
        f"{risk.n_unique:,} of {n} {are} unique in the sample (f = {percent(risk.sampling_fraction)} of the population)"
    )
    theta = risk.theta
    if theta is None or theta.value is None:
        why = "nobody alone is counted" if theta is None else theta.reason
        return f"{unique}; how often a match with one of them is right is not estimable: {why}."
    if risk.basis == "population":
        return (
            f"{unique}; a match with one of them is right in {percent(theta.value)} of cases, counted in the "
            f"population, where {risk.n_unique_in_population:,} of them are unique too."
        )
    return (
        f"{unique}; a match with one of them is right in about {percent(theta.value)} of cases "
        f"(interval {percent(theta.low).removesuffix(' %')} to {percent(theta.high)})."
    )


def notes(risk: RiskAssessment) -> Iterator[str]:
    """Say what the figures do not say by themselves."""
    for name, each in risk.homogeneity.items():
        if each.n_homogeneous:
            kept = " although every class is large enough" if risk.within_tolerance else ""
            yield (
                f"{each.n_homogeneous:,} records lie in classes that agree on {name}{kept}: "
                "whoever finds a person's class knows it"
            )
    if risk.basis in ("population_size", "weights"):
        yield f"estimates hold for a random sample of the {risk.population_size:,.0f} people of that population"
        if risk.n_incomplete:
            yield f"{risk.n_incomplete:,} records miss a quasi-identifier, which estimates take for a value of its own"
        if risk.household is not None:
            yield "members of a household come together: estimates take records for drawn one by one"
        if risk.person is not None:
            yield "who has records in several classes counts once in each of them"
    if risk.basis == "weights":
        yield "weights are taken for inverse chances to be in the table; trimmed or calibrated ones are not quite that"
    if risk.safe_harbor is not None:
        yield "the Safe Harbor's rules were checked by names and cells, which is no legal opinion"


def percent(share: float | None) -> str:
    """Write a share as per cent, in two digits or as many as it takes to be whole."""
    if share is None:
        return "an unknown share"
    hundredths = 100 * share
    return f"{hundredths:.0f} %" if hundredths >= 10 else f"{hundredths:.2g} %"
