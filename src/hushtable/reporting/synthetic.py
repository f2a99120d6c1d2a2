"""The report of attacks on a synthetic table, under the three headings of WP29's Opinion 05/2014."""

from __future__ import annotations

from typing import Final

from hushtable.columns import to_json_values
from hushtable.reporting.document import Quantity, Section, Table
from hushtable.risk import Attack, Attacks, Membership, MembershipAttack, PrivacyFigure

_HEADINGS: Final = {
    "singling out": ("singling_out", "Is it possible to single out an individual?"),
    "linkability": ("linkability", "Is it possible to link records relating to an individual?"),
    "inference": ("inference", "Can information be inferred concerning an individual?"),
}
_TESTING: Final = "8.2.3 Adversarial testing"
_FIGURE_TITLES: Final = ("figure", "target", "value", "at least", "at most", "control or chance")
_TITLES: Final = ("attack", "made", "rate on the people", "rate by chance", "rate on the control", "risk", "at least",
                  "at most")  # fmt: skip
_MEMBERSHIP_TITLES: Final = ("attack", "AUC", "at least", "at most", "at 1 in 100", "at 1 in 1,000", "adjusted p")


def sections_on_attacks(result: Attacks) -> tuple[Section, ...]:
    """Return a section for each kind of attack that was made."""
    sections = [] if result.membership is None else [_section_on_membership(result.membership)]
    for kind, (name, title) in _HEADINGS.items():
        attacks = result.attacks_of_kind(kind)  # type: ignore[arg-type]  # one of the kinds
        if attacks:
            table = Table("Attacks and their 95 % intervals", _TITLES, tuple(_attack_row(each) for each in attacks))
            sections.append(Section(name, title, (table,), _TESTING))
    if result.figures:
        table = Table("Distances and attribution", _FIGURE_TITLES, tuple(map(_figure_row, result.figures)))
        title = "Are synthetic records copies, and what do they attribute?"
        sections.append(Section("distances", title, (table,), _TESTING))
    return tuple(sections)


def _section_on_membership(found: Membership) -> Section:
    """Return what attacks on membership found, the columns that tell most, and F_rel for auditors."""
    attacks = Table("Attacks on membership", _MEMBERSHIP_TITLES, tuple(map(_membership_row, found.attacks)))
    columns = Table(
        "Columns by how well their values alone tell members",
        ("column", "AUC", "at least", "at most"),
        tuple((each.name, *_as_numbers(each.auc.value, each.auc.low, each.auc.high)) for each in found.columns),
    )
    auditors = Table(
        "F_rel of people who equal a synthetic record, which passes copies: no limit is held against it",
        ("rate on the people", "rate on the control", "F_rel"),
        (
            (
                Quantity(found.auditors.true_rate, "share"),
                Quantity(found.auditors.false_rate, "share"),
                Quantity(found.auditors.value),
            ),
        ),
    )
    tables = [attacks, *([columns] if found.columns else []), auditors]
    return Section("membership", "Is it possible to find out who was in the data?", tuple(tables), _TESTING)


def _membership_row(found: MembershipAttack) -> tuple[str | Quantity, ...]:
    rates = [Quantity(each.rate, "share") for each in found.recognitions[:2]]
    return found.name, *_as_numbers(found.auc.value, found.auc.low, found.auc.high), *rates, Quantity(found.p_value)


def _as_numbers(*figures: float) -> list[Quantity]:
    return [Quantity(each) for each in figures]


def _figure_row(found: PrivacyFigure) -> tuple[str | Quantity, ...]:
    shares = (found.value, found.low, found.high, found.beside)
    return found.name, found.target or "", *(Quantity(to_json_values(each), "share") for each in shares)


def _attack_row(found: Attack) -> tuple[str | Quantity, ...]:
    rates, risk = found.rates, found.risk
    shown = [Quantity(rates[each].value if each in rates else None, "share")
             for each in ("attack", "baseline", "control")]  # fmt: skip
    return found.name, Quantity(found.n_attacks, "count"), *shown, *(Quantity(each, "share") for each in risk[:3])
