"""The table of columns: what each is, how it is read and treated, what it lost; one form changes several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hushtable.columns import KINDS, ROLES
from hushtable.page.column_settings import OTHER_RULE, OWN_CUTS, find_codes, read_settings
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    describe_seconds,
    render_bar,
    render_button,
    render_fields,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_table,
)
from hushtable.page.questions import render_first_question, render_samples
from hushtable.page.words import PageWords
from hushtable.policy import MEANINGS
from hushtable.quality import HIGHEST_IMPORTANCE
from hushtable.reporting import Quantity

_COLUMNS_PER_PAGE: Final = 25


def render_columns(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    """Render the screen of columns."""
    looked, policy = desk.table(), desk.rules()
    undecided = [name for name in looked.typed_frame.columns if policy.columns[name].role == "ask"]
    question = render_first_question(desk, undecided, words)
    note = words("Shown are cells that at least {n} people share; identifiers are never shown.", n=desk.min_people)
    return concatenate_html(
        question,
        tag("p", words("Check every role: you know the data.")) if not undecided else None,
        _render_meanings(words),
        _render_settings(desk, words, query),
        tag("p", note, class_="note"),
        _render_person_form(desk, words),
        tag("div", looked.risk[words.language]) if looked.risk else None,
        render_next_link("groups", words) if question is None else None,
    )


def _render_settings(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    """Render the form of all columns, a page at a time; what was typed and refused stays typed."""
    names = _find_columns(desk, query)
    n_pages = max(1, -(-len(names) // _COLUMNS_PER_PAGE))
    typed = query.get("page", "")
    page = min(max(1, int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 6 else 1), n_pages)
    first = (page - 1) * _COLUMNS_PER_PAGE
    shown = names[first : first + _COLUMNS_PER_PAGE]
    titles = [words(each) for each in ("column", "role", "how it is read", "how it is treated", "loss")]
    rows = [_render_column(desk, name, words, query) for name in shown]
    return render_form(
        "columns",
        _render_search(desk, words, query, n_shown=len(names)) if _is_long(desk) else None,
        render_table(words("Columns and their roles"), titles, rows),
        _render_steps(page, n_pages, words),
        tag("div", render_button(words("Apply and search"), id="apply"), _render_estimate(desk, words), class_="apply"),
        page=page,
    )


def _is_long(desk: Desk) -> bool:
    return len(desk.table().typed_frame.columns) > _COLUMNS_PER_PAGE // 2


def _find_columns(desk: Desk, query: Mapping[str, str]) -> list[str]:
    """Return the columns that were searched for, by a part of the name and by role."""
    part, role, policy = query.get("find", "").casefold(), query.get("of", ""), desk.rules()
    return [
        name
        for name in desk.table().typed_frame.columns
        if part in name.casefold() and role in ("", policy.columns[name].role)
    ]


def _render_search(desk: Desk, words: PageWords, query: Mapping[str, str], *, n_shown: int) -> Html:
    value = query.get("find", "")
    field = tag("input", name="find", type="search", value=value, id="find", autocomplete="off", spellcheck="false")
    roles = [("", words("every role")), *((role, words(role)) for role in ROLES), ("ask", words("to be decided"))]
    n_columns = len(desk.table().typed_frame.columns)
    return render_fields(
        render_label(words("Find columns by name"), field),
        render_label(words("Only of role"), render_select("of", roles, query.get("of", ""), id="of")),
        render_button(words("Find"), name="go", value="find"),
        tag("p", words("{n} of {m} columns", n=f"{n_shown:,}", m=f"{n_columns:,}"), class_="note"),
    )


def _render_steps(page: int, n_pages: int, words: PageWords) -> Html | None:
    """Render the buttons that turn the page; what is set on this one is applied."""
    if n_pages == 1:
        return None
    place = tag("span", words("page {n} of {m}", n=page, m=n_pages))
    steps = ((words("Previous"), page - 1), (words("Next columns"), page + 1))
    buttons = [
        render_button(title, name="turn", value=str(number)) for title, number in steps if 1 <= number <= n_pages
    ]
    return tag("div", place, *buttons, class_="paging")


def _render_estimate(desk: Desk, words: PageWords) -> Html:
    note = words("Change as many columns as you like: the search begins when you apply.")
    if desk.outcome is not None:
        note += " " + words("The last one took {time}.", time=describe_seconds(desk.outcome.seconds, words))
    return tag("p", note, class_="note")


def _render_column(desk: Desk, name: str, words: PageWords, query: Mapping[str, str]) -> Html:
    position = desk.table().typed_frame.columns.index(name)
    now = read_settings(desk, name)
    values = {part: query.get(_name_field(part, position), now[part]) for part in now}
    form = _ColumnForm(desk, name, position, values, words)
    cells = (
        (words("role"), (_render_role(form),)),
        (words("how it is read"), (_render_kind(form), *_render_codes(form), _render_odd_cells(form))),
        (words("how it is treated"), (_render_importance(form), _render_ladder(form), _render_rounding(form))),
        (words("loss"), (_render_loss(form),)),
    )
    parts = [
        tag("td", tag("div", *each, class_="settings") if any(each) else None, data_title=title if any(each) else None)
        for title, each in cells
    ]
    return tag("tr", tag("th", name, _render_facts(form), scope="row"), *parts)


@dataclass(frozen=True, slots=True)
class _ColumnForm:
    """A column, and what its fields hold."""

    desk: Desk
    name: str
    position: int
    values: Mapping[str, str]
    words: PageWords

    def render_choice(self, part: str, title: str, options: list[tuple[str, str]]) -> Html:
        """Render a choice for one setting."""
        field = _name_field(part, self.position)
        return render_label(
            title,
            render_select(field, options, self.values[part], id=field, aria_label=f"{title} · {self.name}"),
        )

    def render_buttons(self, part: str, title: str, options: list[tuple[str, str]]) -> Html:
        """Render two or three answers as buttons, one of which is pressed."""
        field = _name_field(part, self.position)
        buttons = []
        for value, said in options:
            is_pressed = self.values[part] == value
            radio = tag("input", type="radio", name=field, value=value, checked=is_pressed, id=f"{field}-{value}")
            buttons.append(tag("label", radio, tag("span", said)))
        pressed = tag("div", *buttons, class_="pressed")
        return tag("fieldset", tag("legend", title), pressed, aria_label=f"{title} · {self.name}")


def _name_field(part: str, position: int) -> str:
    """Return the name of a field: ``code-0`` of column 3 is ``code-3-0``."""
    head, _, place = part.partition("-")
    return f"{head}-{position}-{place}" if place else f"{head}-{position}"


def _render_facts(form: _ColumnForm) -> Html:
    """Render what is known of a column."""
    words = form.words
    proposal = form.desk.table().proposal_of(form.name)
    counts = words("{n} distinct, {m} missing", n=f"{proposal.n_distinct:,}", m=f"{proposal.n_missing:,}")
    samples = render_samples(form.desk.find_shared_cells(form.name), words)
    return concatenate_html(
        tag("p", counts, class_="note"),
        tag("p", words(proposal.warning), class_="note warning") if proposal.warning else None,
        tag(
            "details",
            tag("summary", words("more"), aria_label=f"{words('more')} · {form.name}"),
            tag("p", words(proposal.reason), class_="note"),
            tag("p", words("Frequent cells: "), samples, class_="note") if samples else None,
        ),
    )


def _render_role(form: _ColumnForm) -> Html:
    words, column = form.words, form.desk.rules().columns[form.name]
    roles = [(role, words(role)) for role in ROLES]
    after_identifier = [each for each, _ in roles].index("identifier") + 1
    more_roles = [("identifier:fresh", words("identifier, a new pseudonym each"))]
    if form.desk.key is not None or column.action == "pseudonym":
        more_roles.append(("identifier:pseudonym", words("identifier, a keyed pseudonym")))
    roles[after_identifier:after_identifier] = more_roles
    if column.role == "ask":
        roles.insert(0, ("", words("to be decided")))
    field = _name_field("role", form.position)
    label = f"{words('role of')} {form.name}"
    return render_select(field, roles, form.values["role"], id=field, aria_label=label)


def _render_kind(form: _ColumnForm) -> Html | None:
    if "kind" not in form.values:
        return None
    words = form.words
    read = form.desk.table().proposal_of(form.name).kind
    kinds = [kind for kind in KINDS if kind != "ordered" or form.values["kind"] == "ordered"]
    options = [("", words("read: {kind}", kind=words(f"kind {read}")))]
    options += [(kind, words(f"kind {kind}")) for kind in kinds]
    return form.render_choice("kind", words("kind"), options)


def _render_codes(form: _ColumnForm) -> list[Html]:
    words = form.words
    answers = [("missing", words("missing")), ("value", words("a value"))]
    return [
        form.render_buttons(f"code-{place}", words("{code}, {n} times", code=code, n=f"{n:,}"), answers)
        for place, (code, n) in enumerate(find_codes(form.desk, form.name).items())
        if f"code-{place}" in form.values
    ]


def _render_odd_cells(form: _ColumnForm) -> Html | None:
    if "odd" not in form.values:
        return None
    words, odd = form.words, form.desk.table().odd_cells[form.name]
    forms = ", ".join(f"{each} ({words(f'{n:,}')})" for each, n in odd.forms.items())
    answers = [("missing", words("missing")), ("text", words("values of a text"))]
    return form.render_buttons("odd", words("odd cells: {forms}", forms=forms), answers)


def _render_importance(form: _ColumnForm) -> Html | None:
    if "importance" not in form.values:
        return None
    numbers = [(str(number), str(number)) for number in range(1, HIGHEST_IMPORTANCE + 1)]
    return form.render_choice("importance", form.words("importance"), numbers)


def _render_ladder(form: _ColumnForm) -> Html | None:
    if "ladder" not in form.values:
        return None
    words = form.words
    options = [(each, words(f"rule {each}")) for each in (OWN_CUTS, "units", "auto")]
    if form.values["ladder"] == OTHER_RULE:
        options.append((OTHER_RULE, words("a rule of its own")))
    return form.render_choice("ladder", words("coarser by"), options)


def _render_rounding(form: _ColumnForm) -> Html | None:
    if "round" not in form.values:
        return None
    field, title = _name_field("round", form.position), form.words("multiples of")
    value, label = form.values["round"], f"{title} · {form.name}"
    typed = tag("input", name=field, value=value, size="7", autocomplete="off", id=field, aria_label=label)
    return render_label(title, typed)


def _render_loss(form: _ColumnForm) -> Html | None:
    """Render the loss of a column and its distinct cells, as the last answer has them."""
    outcome, words = form.desk.outcome, form.words
    if outcome is None or form.name not in outcome.quality.by_column:
        return None
    loss = outcome.quality.by_column[form.name]
    cells = outcome.quality.cells[form.name]
    return concatenate_html(
        tag("strong", words(Quantity(loss, "share").shown)),
        render_bar(loss),
        tag("p", words("cells: {n}, units: {m}", n=f"{cells.n_cells:,}", m=f"{cells.n_units:,}"), class_="note"),
        tag("p", words("Of an earlier policy."), class_="note") if form.desk.is_stale else None,
    )


def _render_meanings(words: PageWords) -> Html:
    items = concatenate_html(
        *(concatenate_html(tag("dt", words(role)), tag("dd", words(MEANINGS[role]))) for role in MEANINGS)
    )
    return tag("details", tag("summary", words("What the roles mean")), tag("dl", items, class_="answers"))


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
