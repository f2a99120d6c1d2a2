"""What went wrong, what goes on and what was stopped, each beside the form that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Final

from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import JOBS, describe_time_left, render_form
from hushtable.page.words import PageWords

_FORM: Final = re.compile(r'<form method="post" action="/do/(\w+)"[^>]*>((?:<input type="hidden"[^>]*>)*)')
_HIDDEN: Final = re.compile(r'name="(\w+)" value="([^"]*)"')
_FORM_OF_JOB: Final[Mapping[str, str]] = {
    "reading": "open",
    "protecting": "move",
    "comparing": "compare",
    "advising": "advise",
    "predicting": "target",
    "writing": "write",
}


def render_notices(
    desk: Desk, words: PageWords, screen: str, main: Html, *, fault: str, action: str, sent: Mapping[str, str]
) -> tuple[list[Html], Html]:
    """Render the notices; return those that stand above a screen, and the screen with the others in it.

    Parameters
    ----------
    desk : Desk
    words : PageWords
    screen : str
    main : Html
        The screen.
    fault : str
        Why what was just asked for was not done.
    action : str
        The form that asked for it.
    sent : mapping
        Its fields.
    """
    notices = []
    faults: dict[str, tuple[str, Mapping[str, str]]] = {
        desk.policy_fault: ("", {}),
        desk.halt or "": ("move", {}),
        desk.fault: (_FORM_OF_JOB.get(desk.fault_of, ""), {}),
        fault: (action, sent),
    }
    for notice, (form, fields) in faults.items():
        if not notice:
            continue
        message, _, hint = notice.partition("\n\nHint: ")
        lines = [tag("p", words(message)), tag("p", words(hint)) if hint else None]
        alert = tag("div", *lines, role="alert", class_="careful")
        placed = _place_before_form(main, alert, form, fields)
        if placed is None:
            notices.append(alert)
        else:
            main = placed
    return [*notices, *_render_job(desk, words, screen)], main


def _place_before_form(main: Html, alert: Html, action: str, sent: Mapping[str, str]) -> Html | None:
    """Put an alert before the form that it is about; None if the screen has no form of that action.

    Of several, it is the one whose hidden fields were sent. Texts of a screen are escaped: no cell looks like a form.
    """
    forms = [form for form in _FORM.finditer(main) if form[1] == action]
    sender = next((form for form in forms if _is_sender(form[2], sent)), forms[0] if len(forms) == 1 else None)
    if sender is None:
        return None
    before, after = main[: sender.start()], main[sender.start() :]
    if before.count("<details") > before.count("</details>"):
        # Nobody sees what stands in closed details.
        head, _, rest = before.rpartition("<details>")
        before = f"{head}<details open>{rest}" if head else before
    return concatenate_html(Html(before), alert, Html(after))


def _is_sender(hidden_fields: str, sent: Mapping[str, str]) -> bool:
    """Tell whether a form's hidden fields are those that were sent."""
    return all(sent.get(name, unescape(value)) == unescape(value) for name, value in _HIDDEN.findall(hidden_fields))


def _render_job(desk: Desk, words: PageWords, screen: str) -> list[Html]:
    job, notices = desk.jobs.job, []
    if job is not None and not job.is_over:
        title = words(JOBS[job.name])
        bar = tag("progress", f"{job.share:.0%}", max="1", value=f"{job.share:.3f}", id="progress", aria_label=title)
        left = tag("span", describe_time_left(job, words), id="left")
        stop = render_form("stop", tag("button", words("Stop"), type="submit"), screen=screen)
        notices.append(tag("div", tag("p", f"{title} …"), bar, left, stop, class_="job", role="status"))
    elif desk.halt == "":
        text = words("It was stopped. It is not known what this policy leads to.")
        again = render_form("again", tag("button", words("Go on"), type="submit"), screen=screen)
        notices.append(tag("div", tag("p", text), again, role="status", class_="job"))
    elif job is not None and job.is_stopped:
        text = words("It was stopped. Its button begins it again; nothing was changed.")
        notices.append(tag("div", tag("p", text), role="status", class_="job"))
    if job is not None and job.cautions:
        items = [tag("li", words(each.partition("\n\nHint: ")[0])) for each in job.cautions]
        notices.append(tag("ul", *items, class_="careful"))
    return notices
