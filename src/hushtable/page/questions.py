"""One question at a time: what a column is, how its dates are written, and what its odd cells mean."""

from __future__ import annotations

from typing import Final

from hushtable.columns import ROLES
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, tag
from hushtable.page.parts import render_form, shorten_cell
from hushtable.page.words import PageWords
from hushtable.policy import MEANINGS
from hushtable.reporting import SharedText

_MAX_CELLS_SHOWN: Final = 3  # cells of a column


def render_first_question(desk: Desk, undecided: list[str], words: PageWords) -> Html | None:
    """Render the first open question: a role, the format of dates, or the meaning of odd cells."""
    columns = desk.rules().columns
    unformatted = [name for name in desk.table().typed_frame.columns if columns[name].format == "ask"]
    if undecided:
        return _render_role_question(desk, undecided, words)
    if unformatted:
        return _render_format_question(desk, unformatted[0], words)
    return _render_odd_question(desk, desk.undecided_odd_cells[0], words) if desk.undecided_odd_cells else None


def _render_role_question(desk: Desk, undecided: list[str], words: PageWords) -> Html:
    looked = desk.table()
    name = undecided[0]
    proposal = looked.proposal_of(name)
    position = looked.typed_frame.columns.index(name)
    choices = [
        tag(
            "button",
            tag("strong", words(role)),
            tag("span", words(MEANINGS[role])),
            type="submit",
            name="role",
            value=role,
            class_="choice",
        )
        for role in ROLES
    ]
    left = words("question 1 of {n}", n=len(undecided))
    return tag(
        "section",
        tag("h3", words("What is column {name}?", name=name), id="question"),
        tag("p", left, class_="note"),
        tag("p", words(proposal.reason)),
        tag("p", words("Frequent cells: "), render_samples(desk.find_shared_cells(name), words))
        if desk.find_shared_cells(name)
        else None,
        render_form("role", tag("div", *choices, class_="choices"), column=position),
        class_="question",
        aria_labelledby="question",
    )


def _render_format_question(desk: Desk, name: str, words: PageWords) -> Html:
    looked = desk.table()
    formats, _ = looked.typed_frame.doubts(name)
    position = looked.typed_frame.columns.index(name)
    choices = [
        tag("button", tag("strong", each), type="submit", name="format", value=each, class_="choice")
        for each in formats
    ]
    return tag(
        "section",
        tag("h3", words("How are the dates of {name} written?", name=name), id="question"),
        tag("p", words("Their cells fit several formats: %d is the day, %m the month, %Y the year.")),
        render_form("format", tag("div", *choices, class_="choices"), column=position),
        class_="question",
        aria_labelledby="question",
    )


_ODD_ANSWERS: Final = {
    "missing": ("They mean nothing", "They are empty in the release."),
    "text": ("They are values", "The column is then text, and they are among its values."),
}


def _render_odd_question(desk: Desk, name: str, words: PageWords) -> Html:
    looked = desk.table()
    odd_cells = looked.odd_cells[name]
    forms = ", ".join(f"{form} ({words(f'{n:,}')})" for form, n in odd_cells.forms.items())
    choices = [
        tag(
            "button",
            tag("strong", words(title)),
            tag("span", words(what)),
            type="submit",
            name="answer",
            value=answer,
            class_="choice",
        )
        for answer, (title, what) in _ODD_ANSWERS.items()
    ]
    what = words("{n} of its cells are not like the others. Their form: {forms}.", n=odd_cells.n_cells, forms=forms)
    return tag(
        "section",
        tag("h3", words("What are the odd cells of {name}?", name=name), id="question"),
        tag("p", what),
        tag("p", words("9 stands for a digit, A and a for letters."), class_="note"),
        render_form("odd_cells", tag("div", *choices, class_="choices"), column=looked.typed_frame.columns.index(name)),
        class_="question",
        aria_labelledby="question",
    )


def render_samples(shared: tuple[list[SharedText], int] | None, words: PageWords) -> Html | str:
    """Render the most frequent cells that enough people share."""
    if shared is None:
        return ""
    found, _ = shared
    if not found:
        return tag("span", words("none is shared by enough"), class_="note")
    return ", ".join(f"{shorten_cell(each.text)} ({words(f'{each.n_records:,}')})" for each in found[:_MAX_CELLS_SHOWN])
