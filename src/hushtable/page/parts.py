"""Parts of HTML that several screens are built from: forms, fields, tables, bars, and the way on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hushtable.page.desk import Desk
from hushtable.page.jobs import PageJob
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.words import PageWords
from hushtable.reporting import SharedText

SCREENS: Final[Mapping[str, str]] = {
    "columns": "Columns",
    "groups": "Groups",
    "choose": "Choose",
    "look": "Look",
    "sign": "Sign",
}
"""The screens in their order."""

JOBS: Final[Mapping[str, str]] = {
    "reading": "Reading the table and looking at its columns",
    "protecting": "Finding out what this policy leads to",
    "comparing": "Comparing",
    "advising": "Trying changes of the policy",
    "predicting": "Training models",
    "writing": "Writing and verifying",
}
"""What a job is called while it goes on."""

MAX_BARS: Final = 40
_LONGEST_CELL: Final = 40  # characters


def render_form(
    action: str,
    *children: Html | None,
    screen: str = "",
    auto: bool = False,
    id_: str | None = None,
    **hidden: str | int,
) -> Html:
    """Render a form; with ``auto``, it is sent when a field changes."""
    if screen:
        hidden["screen"] = screen
    fields = [tag("input", type="hidden", name=name, value=str(each)) for name, each in hidden.items()]
    return tag("form", *fields, *children, method="post", action=f"/do/{action}", data_auto=auto, id_=id_)


def render_label(title: str, field: Html, note: str = "") -> Html:
    """Render a field below its title."""
    return tag("label", tag("span", title), field, tag("small", note) if note else None)


def render_fields(*parts: Html) -> Html:
    """Render fields and their button in a row."""
    return tag("div", *parts, class_="fields")


def render_select(name: str, options: Iterable[tuple[str, str]], chosen: str, **attributes: str) -> Html:
    """Render a choice among values and their titles."""
    made = [tag("option", title, value=value, selected=value == chosen) for value, title in options]
    return tag("select", *made, name=name, **attributes)


def render_button(title: str, **attributes: str | bool) -> Html:
    """Render a button that sends its form."""
    return tag("button", title, type="submit", **attributes)


def render_table(caption: str, titles: Iterable[str], rows: Iterable[Html]) -> Html:
    """Render a table that scrolls in a box of its own."""
    head = tag("tr", *(tag("th", title, scope="col") if title else tag("td") for title in titles))
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows))
    return tag("div", table, class_="table", tabindex="0", role="region", aria_label=caption)


def render_bar(share: float) -> Html:
    """Render a share as a bar."""
    rect = tag("rect", width=f"{max(0.5, 100 * share):.2f}", height="10")
    return tag("svg", rect, class_="bar", viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")


def render_bars(shared: tuple[list[SharedText], int], title: str, words: PageWords) -> Html:
    """Render texts that enough people share as bars, and count all others."""
    texts, n_others = shared
    n_max = max([each.n_records for each in texts[:1]] or [1])
    rows = [
        tag(
            "tr",
            tag("th", each.text, scope="row"),
            tag("td", words(f"{each.n_records:,}"), class_="number"),
            tag("td", render_bar(each.n_records / n_max)),
        )
        for each in texts[:MAX_BARS]
    ]
    n_hidden = n_others + sum(each.n_records for each in texts[MAX_BARS:])
    note = words(
        "{n} records hold other cells, or none: too few people share them, or the list would be too long.",
        n=f"{n_hidden:,}",
    )
    return concatenate_html(
        render_table(title, (title, words("records"), ""), rows) if rows else None,
        tag("p", note, class_="note") if n_hidden else None,
    )


def shorten_cell(text: str) -> str:
    """Return a cell, cut off if it is long."""
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def render_next_link(screen: str, words: PageWords) -> Html:
    """Render the way to the next screen."""
    return tag("p", tag("a", f"{words('Next')}: {words(SCREENS[screen])}", href=f"/{screen}", class_="next"))


def render_unknown_outcome(desk: Desk, words: PageWords) -> Html:
    """Render what to do where the policy's outcome is unknown."""
    if not desk.is_decided:
        return tag("p", words("Answer what is asked first."), " ", tag("a", words("Columns"), href="/columns"))
    if desk.halt is None:
        return tag("p", words("It is not known yet what the policy leads to: the search is going on."))
    # That a search was stopped stands above every screen, with a button to go on.
    error = desk.halt.partition("\n\nHint: ")[0]
    return concatenate_html(
        tag("p", words(error)) if error else None, tag("p", tag("a", words("Choose other conditions"), href="/choose"))
    )


def describe_seconds(seconds: float, words: PageWords) -> str:
    """Return a span of time, roughly."""
    if seconds < 90:
        return words("{n} s", n=f"{max(1, round(seconds)):,}")
    return words("{n} min", n=f"{round(seconds / 60):,}")


def describe_time_left(job: PageJob | None, words: PageWords) -> str:
    """Return how long a job still takes; empty where that is not known."""
    left = None if job is None else job.seconds_left
    return "" if left is None else words("about {time} left", time=describe_seconds(left, words))
