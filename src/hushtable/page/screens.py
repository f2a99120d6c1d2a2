"""The five screens, and what stands at the side of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hushtable.io import FILE_KINDS
from hushtable.page.choosing import render_choose
from hushtable.page.column_table import render_columns
from hushtable.page.desk import Desk
from hushtable.page.groups import render_groups
from hushtable.page.look import render_look
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.notices import render_notices
from hushtable.page.objections import find_objections
from hushtable.page.parts import SCREENS, render_button, render_fields, render_form, render_label
from hushtable.page.signing import render_sign
from hushtable.page.suggestions import render_suggestions
from hushtable.page.words import PageWords
from hushtable.reporting import Quantity
from hushtable.wording import LANGUAGES

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
        render_suggestions(desk, words, screen),
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
            render_fields(render_label(words("Or type a path"), field), render_button(words("Open"))),
        ),
    )


_SCREENS: Final = {
    "columns": render_columns,
    "groups": render_groups,
    "choose": render_choose,
    "look": render_look,
    "sign": render_sign,
}
