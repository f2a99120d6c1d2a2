"""The table of columns: what each is, and how it is treated."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.columns import ROLES
from hushtable.discover import ProposedRole
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    render_button,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_table,
)
from hushtable.page.questions import render_first_question, render_samples
from hushtable.page.words import PageWords
from hushtable.policy import MEANINGS


def render_columns(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
    """Render the screen of columns."""
    looked, policy = desk.table(), desk.rules()
    proposals = {each.name: each for each in looked.roles.columns}
    names = looked.typed_frame.columns
    undecided = [name for name in names if policy.columns[name].role == "ask"]
    min_people = desk.min_people
    rows = []
    for position, name in enumerate(names):
        proposal = proposals[name]
        warning = (tag("br"), words(proposal.warning)) if proposal.warning else ()
        reason = tag("td", words(proposal.reason), *warning, class_="words")
        rows.append(
            tag(
                "tr",
                tag("th", name, scope="row"),
                tag(
                    "td",
                    _render_role_form(desk, position, name, words),
                    _render_rounding_form(desk, position, proposal, words),
                ),
                reason,
                tag("td", words(f"{proposal.n_distinct:,}"), class_="number"),
                tag("td", words(f"{proposal.n_missing:,}"), class_="number"),
                tag("td", render_samples(desk.find_shared_cells(name), words), class_="words"),
            )
        )
    question = render_first_question(desk, undecided, words)
    titles = [words(each) for each in ("column", "role", "what tells", "distinct", "missing", "frequent cells")]
    note = words("Shown are cells that at least {n} people share; identifiers are never shown.", n=min_people)
    return concatenate_html(
        question,
        tag("p", words("Check every role: you know the data.")) if not undecided else None,
        _render_meanings(words),
        render_table(words("Columns and their roles"), titles, rows),
        tag("p", note, class_="note"),
        _render_person_form(desk, words),
        tag("div", looked.risk[words.language]) if looked.risk else None,
        render_next_link("groups", words) if question is None else None,
    )


def _render_meanings(words: PageWords) -> Html:
    items = concatenate_html(
        *(concatenate_html(tag("dt", words(role)), tag("dd", words(MEANINGS[role]))) for role in MEANINGS)
    )
    return tag("details", tag("summary", words("What the roles mean")), tag("dl", items, class_="answers"))


def _render_role_form(desk: Desk, position: int, name: str, words: PageWords) -> Html:
    column = desk.rules().columns[name]
    roles = [(role, words(role)) for role in ROLES]
    after_identifier = [each for each, _ in roles].index("identifier") + 1
    more_roles = [("identifier:fresh", words("identifier, a new pseudonym each"))]
    if desk.key is not None or column.action == "pseudonym":
        more_roles.append(("identifier:pseudonym", words("identifier, a keyed pseudonym")))
    roles[after_identifier:after_identifier] = more_roles
    selected = column.role if column.action in (None, "remove") else f"{column.role}:{column.action}"
    if column.role == "ask":
        roles.insert(0, ("", words("to be decided")))
        selected = ""
    label = f"{words('role of')} {name}"
    field = render_select("role", roles, selected, id=f"role-{position}", aria_label=label)
    button = render_button(words("Change"), class_="script-less", aria_label=f"{words('Change')} {label}")
    return render_form("role", field, button, column=position, auto=True)


def _render_rounding_form(desk: Desk, position: int, proposal: ProposedRole, words: PageWords) -> Html | None:
    """Render the step to which a kept column of numbers is rounded."""
    column = desk.rules().columns[proposal.name]
    if column.role not in ("sensitive", "other") or proposal.kind not in ("integer", "decimal"):
        return None
    label = f"{words('multiples of')} · {proposal.name}"
    value = "" if column.round is None else str(column.round)
    field = tag("input", name="step", value=value, size="7", autocomplete="off", aria_label=label)
    button = render_button(words("Round"), aria_label=f"{words('Round')} {proposal.name}")
    return render_form("round", render_label(words("multiples of"), field), button, column=position)


def _render_person_form(desk: Desk, words: PageWords) -> Html:
    policy, names = desk.rules(), desk.table().typed_frame.columns
    able = [name for name in names if policy.columns[name].role in ("identifier", "other")]
    options = [("", words("every row is another person"))]
    options += [(str(names.index(name)), name) for name in able]
    chosen = str(names.index(policy.person)) if policy.person in names else ""
    field = render_select("column", options, chosen, id="person")
    return render_form(
        "person",
        render_label(words("Whose record is a row?"), field),
        render_button(words("Change"), class_="script-less"),
        auto=True,
    )
