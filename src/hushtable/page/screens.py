"""The five screens, and what stands at the side of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hushtable.columns import ROLES
from hushtable.discover import ProposedRole
from hushtable.io import FILE_KINDS
from hushtable.page.choosing import render_choose
from hushtable.page.desk import Desk
from hushtable.page.groups import render_groups
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.notices import render_notices
from hushtable.page.objections import find_objections
from hushtable.page.parts import (
    SCREENS,
    render_bars,
    render_button,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_table,
    render_unknown_outcome,
)
from hushtable.page.signing import render_sign
from hushtable.page.words import PageWords
from hushtable.policy import MEANINGS
from hushtable.reporting import Quantity, SharedText
from hushtable.wording import LANGUAGES

_MAX_CELLS_SHOWN: Final = 3  # cells of a column
_TABLE_ENDINGS: Final = (*FILE_KINDS, ".gz", ".xlsx", ".pq")
_MAX_FILES: Final = 200


def render_page(
    desk: Desk,
    screen: str,
    query: Mapping[str, str],
    words: PageWords,
    *,
    style: str,
    script: str,
    fault: str = "",
    action: str = "",
) -> Html:
    """Return a whole page.

    Parameters
    ----------
    desk : Desk
    screen : str
        A name in `SCREENS`.
    query : mapping
        What the address says besides, or the fields of the form that was refused.
    words : PageWords
    style, script : str
        What the page looks like and does.
    fault : str
        Why what was just asked for was not done.
    action : str
        The form that asked for it.
    """
    is_open = desk.looked is not None and screen in SCREENS
    if is_open:
        desk.visited[screen] = "" if desk.is_stale else desk.policy_text
    main = _SCREENS[screen](desk, words, query) if is_open else _render_opening(desk, words)
    notices, main = render_notices(desk, words, screen, main, fault=fault, action=action, sent=query)
    titles = words(SCREENS[screen]) if is_open else words("Open a table")
    name = desk.looked.path.name if desk.looked is not None else "hushtable"
    job = desk.jobs.job
    is_busy = desk.jobs.is_busy
    body = concatenate_html(
        tag("a", words("Skip to the content"), href="#main", class_="skip"),
        _render_header(desk, screen, words, name),
        tag("div", *notices, id="notices"),
        tag(
            "div",
            tag("main", tag("h2", titles, id="main-title", tabindex="-1"), main, id="main"),
            _render_side(desk, words, screen) if is_open else None,
            class_="columns" if is_open else None,
        ),
        _render_footer(words, screen),
        tag("script", Html(script)),
    )
    state = json.dumps({"version": desk.version, "busy": is_busy, "job": "" if job is None else job.name})
    return Html(
        "<!DOCTYPE html>\n"
        + tag(
            "html",
            tag("head", _render_head(f"{titles} · {name} · hushtable", style, is_busy=is_busy)),
            "\n",
            tag("body", body, data_state=state, data_ended=words(_END_NOTE)),
            lang=words.language,
        )
    )


def _render_head(title: str, style: str, *, is_busy: bool) -> Html:
    return concatenate_html(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # Without a script, the page reloads to show a job's progress.
        tag("noscript", tag("meta", http_equiv="refresh", content="3")) if is_busy else None,
        tag("title", title),
        tag("style", Html(style)),
    )


_END_NOTE: Final = "hushtable has ended. Nothing is lost: the policy and its history are files. Start it again."


def _render_header(desk: Desk, screen: str, words: PageWords, name: str) -> Html:
    if desk.looked is None:
        return tag("header", tag("h1", name))
    done = _find_done_screens(desk)
    links = [
        tag(
            "li",
            tag(
                "a",
                f"{place} {words(title)}",
                tag("span", " ✓", aria_hidden="true") if each in done else None,
                tag("span", f", {words('done') if each in done else words('open')}", class_="unseen"),
                href=f"/{each}",
                aria_current="page" if each == screen else None,
                class_="done" if each in done else None,
            ),
        )
        for place, (each, title) in enumerate(SCREENS.items(), start=1)
    ]
    n_rows, n_columns = desk.looked.typed_frame.n_rows, len(desk.looked.typed_frame.columns)
    size = words("{n} records, {m} columns", n=f"{n_rows:,}", m=f"{n_columns:,}")
    other = tag("a", words("Open another table"), href="/open")
    return tag(
        "header",
        tag("h1", name),
        tag("p", size, " · ", other, class_="note"),
        tag("nav", tag("ol", *links), aria_label=words("Steps")),
    )


def _find_done_screens(desk: Desk) -> set[str]:
    """Find the steps that are done for the policy as it stands."""
    written, outcome, text = desk.written, desk.outcome, desk.policy_text
    is_known = outcome is not None and not desk.is_stale
    done = {
        "columns": desk.is_decided,
        "groups": desk.is_decided and "groups" in desk.visited,
        "choose": is_known and outcome is not None and outcome.verdict.passed,
        "look": is_known and desk.visited.get("look") == text,
        "sign": written is not None and written.signed is not None and written.text == text,
    }
    return {screen for screen, is_done in done.items() if is_done}


def _render_footer(words: PageWords, screen: str) -> Html:
    buttons = [
        tag("button", title, type="submit", name="language", value=code, lang=code, class_="quiet")
        for code, title in LANGUAGES.items()
        if code != words.language
    ]
    said = words("Nothing leaves this computer: the page is served by hushtable on this machine, to this browser only.")
    return tag("footer", tag("p", said), render_form("language", *buttons, screen=screen))


def _render_side(desk: Desk, words: PageWords, screen: str) -> Html:
    """Render the part that is always visible: the policy's outcome, and the policy itself."""
    assert desk.versions is not None
    versions = desk.versions
    steps = tag(
        "div",
        render_form(
            "undo", tag("button", words("Undo"), type="submit", disabled=versions.at <= 1, id="undo"), screen=screen
        ),
        render_form(
            "redo",
            tag("button", words("Redo"), type="submit", disabled=versions.at >= versions.last, id="redo"),
            screen=screen,
        ),
        class_="buttons",
    )
    state = words("step {at} of {last}", at=versions.at, last=versions.last)
    label = f"{versions.file.name} · {state}"
    yaml = tag("pre", tag("code", desk.policy_text), tabindex="0", role="region", aria_label=versions.file.name)
    return tag(
        "aside",
        tag("h2", words("What it leads to")),
        _render_figures(desk, words),
        tag("h2", words("The policy")),
        tag("p", label, class_="note"),
        steps,
        yaml,
        tag("p", words("The same by the command:"), class_="note"),
        tag("pre", tag("code", desk.command()), tabindex="0", role="region", aria_label=words("Command")),
        aria_label=words("What it leads to"),
    )


def _render_figures(desk: Desk, words: PageWords) -> Html:
    outcome = desk.outcome
    if outcome is None:
        return tag("p", words("Not known yet." if desk.is_decided else "Answer what is asked first."), class_="note")
    verdict = outcome.verdict
    n = verdict.smallest_class
    holds = verdict.passed and verdict.complete
    figures = (
        (words("k reached"), words(f"{n:,}")),
        (words("highest risk"), words(Quantity(1 / n if n else None, "share").shown)),
        (words("detail lost"), words(Quantity(outcome.set_ncp, "share").shown)),
        (words("distinct cells of a column"), words(f"{outcome.max_cells:,}")),
        (words("records left out"), words(f"{outcome.n_suppressed:,}")),
    )
    earlier = words("Of an earlier policy; the new figures come." if desk.jobs.is_busy else "Of an earlier policy.")
    objections = find_objections(desk)
    n_against = len(objections.refusals) + len(objections.doubts)
    tone = words("Every condition holds.") if holds else words("Not every condition holds.")
    against = words("Points against signing: {n}.", n=n_against)
    return concatenate_html(
        tag("p", earlier, class_="careful") if desk.is_stale else None,
        tag(
            "dl",
            *(tag("div", tag("dt", each), tag("dd", tag("strong", said))) for each, said in figures),
            class_="figures",
        ),
        tag("p", tone, class_="careful" if not holds else "good" if not n_against and not desk.is_stale else "told"),
        tag("p", tag("a", against, href="/sign")) if n_against else None,
    )


# Before a table is open.


def _render_opening(desk: Desk, words: PageWords) -> Html:
    tables = [
        each
        for each in sorted(desk.folder.iterdir())
        if each.suffix.lower() in _TABLE_ENDINGS and not each.name.startswith(".") and each.is_file()
    ]
    rows = [
        tag("li", render_form("open", tag("button", each.name, type="submit", class_="link"), path=each.name))
        for each in tables[:_MAX_FILES]
    ]
    field = tag("input", name="path", required=True, autocomplete="off", spellcheck="false")
    return concatenate_html(
        tag("p", words("Nothing is uploaded: a file is read where it lies.")),
        tag("h3", words("Tables in this folder")) if rows else None,
        tag("ul", *rows, class_="files") if rows else tag("p", words("There is no table in this folder.")),
        render_form(
            "open",
            tag("div", render_label(words("Or type a path"), field), render_button(words("Open")), class_="fields"),
        ),
    )


def _render_columns(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
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
                tag("td", _render_samples(desk.find_shared_cells(name), words), class_="words"),
            )
        )
    question = _render_first_question(desk, undecided, words)
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


def _render_first_question(desk: Desk, undecided: list[str], words: PageWords) -> Html | None:
    """Render the first open question: a role, the format of dates, or the meaning of odd cells."""
    columns = desk.rules().columns
    unformatted = [name for name in desk.table().typed_frame.columns if columns[name].format == "ask"]
    if undecided:
        return _render_role_question(desk, undecided, words)
    if unformatted:
        return _render_format_question(desk, unformatted[0], words)
    return _render_odd_question(desk, desk.undecided_odd_cells[0], words) if desk.undecided_odd_cells else None


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


def _render_samples(shared: tuple[list[SharedText], int] | None, words: PageWords) -> Html | str:
    if shared is None:
        return ""
    found, _ = shared
    if not found:
        return tag("span", words("none is shared by enough"), class_="note")
    return ", ".join(
        f"{_shorten_cell(each.text)} ({words(f'{each.n_records:,}')})" for each in found[:_MAX_CELLS_SHOWN]
    )


def _shorten_cell(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def _render_role_question(desk: Desk, undecided: list[str], words: PageWords) -> Html:
    looked = desk.table()
    name = undecided[0]
    proposal = next(each for each in looked.roles.columns if each.name == name)
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
        tag("p", words("Frequent cells: "), _render_samples(desk.find_shared_cells(name), words))
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


def _render_look(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
    outcome = desk.outcome
    if outcome is None:
        return render_unknown_outcome(desk, words)
    names = desk.table().typed_frame.columns
    published = outcome.release.edition.columns
    able = [(str(names.index(name)), name) for name in names if name in published]
    target = render_form(
        "target",
        tag(
            "div",
            render_label(words("Column to predict"), render_select("column", able, "", id="target")),
            render_button(words("Train")),
            class_="fields",
        ),
    )
    labels = [
        tag("details", tag("summary", name), render_bars(each, words("published"), words), open=place == 0)
        for place, name in enumerate(outcome.labels)
        if (each := desk.find_published_cells(name)) is not None
    ]
    return concatenate_html(
        tag(
            "div", *(outcome.sections[each][words.language] for each in ("done", "utility") if each in outcome.sections)
        ),
        tag("h3", words("What is published, by frequency")),
        *labels,
        tag("h3", words("What a model still learns")),
        tag("p", words("Models of one column are trained on the release and on the original, and compared.")),
        target,
        tag("p", words(desk.target), class_="good") if desk.target else None,
        render_next_link("sign", words),
    )


_SCREENS: Final = {
    "columns": _render_columns,
    "groups": render_groups,
    "choose": render_choose,
    "look": _render_look,
    "sign": render_sign,
}
