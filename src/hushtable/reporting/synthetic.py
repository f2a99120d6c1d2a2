"""The report of attacks on a synthetic table, under the three headings of WP29's Opinion 05/2014."""

from __future__ import annotations

from typing import Final

from hushtable.columns import finite
from hushtable.reporting.document import Block, Paragraph, Quantity, Section, Table, Tone
from hushtable.risk import Attack, Attacks, PrivacyFigure

_HEADINGS: Final = {
    "singling out": ("singling_out", "Is it possible to single out an individual?"),
    "linkability": ("linkability", "Is it possible to link records relating to an individual?"),
    "inference": ("inference", "Can information be inferred concerning an individual?"),
}
_TESTING: Final = "8.2.3 Adversarial testing"
_FIGURE_TITLES: Final = ("figure", "target", "value", "at least", "at most", "control or chance")
_TITLES: Final = ("attack", "made", "rate on the people", "rate by chance", "rate on the control", "risk", "at least",
                  "at most")  # fmt: skip


def of_attack(found: Attack) -> tuple[Section, ...]:
    """Return the section of one attack."""
    return of_attacks(Attacks((found,)))


def of_attacks(found: Attacks) -> tuple[Section, ...]:
    """Return a section for each kind of attack that was made."""
    sections = []
    if found.copies is not None:
        tone: Tone = "careful" if found.copies.n_unique_copied else "plain"
        blocks: tuple[Block, ...] = (Paragraph(found.copies.headline, tone),)
        sections.append(Section("copies", "Who stands in the table as they are?", blocks, _TESTING))
    for kind, (name, title) in _HEADINGS.items():
        attacks = found.of(kind)  # type: ignore[arg-type]  # one of the kinds
        if attacks:
            table = Table("Attacks and their 95 % intervals", _TITLES, tuple(_row(each) for each in attacks))
            notes = dict.fromkeys(note for each in attacks for note in each.notes)
            blocks = (table, *(Paragraph(f"{note}.", "careful") for note in notes))
            sections.append(Section(name, title, blocks, _TESTING))
    if found.figures:
        table = Table("Distances and attribution", _FIGURE_TITLES, tuple(map(_figure_row, found.figures)))
        meanings = dict.fromkeys(f"{each.name}: {each.meaning}." for each in found.figures)
        blocks = (table, *map(Paragraph, meanings))
        sections.append(
            Section("distances", "Are synthetic records copies, and what do they attribute?", blocks, _TESTING)
        )
    return tuple(sections)


def of_figure(found: PrivacyFigure) -> tuple[Section, ...]:
    """Return the section of one figure."""
    return of_attacks(Attacks((), (found,)))


def _figure_row(found: PrivacyFigure) -> tuple[str | Quantity, ...]:
    shares = (found.value, found.low, found.high, found.beside)
    return found.name, found.target or "", *(Quantity(finite(each), "share") for each in shares)


def _row(found: Attack) -> tuple[str | Quantity, ...]:
    asked, rates, risk = found.settings, found.rates, found.risk
    name = asked.get("secret") or asked.get("mode") or f"{asked['n_neighbors']} nearest"
    shown = [Quantity(rates[each].value if each in rates else None, "share")
             for each in ("attack", "baseline", "control")]  # fmt: skip
    return name, Quantity(found.n_attacks, "count"), *shown, *(Quantity(each, "share") for each in risk[:3])
