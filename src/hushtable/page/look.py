"""The screen on which one looks at what a policy leads to."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    render_bars,
    render_button,
    render_fields,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_unknown_outcome,
)
from hushtable.page.rows import render_rows
from hushtable.page.words import PageWords


def render_look(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    """Render the screen of what a policy leads to."""
    outcome = desk.outcome
    if outcome is None:
        return render_unknown_outcome(desk, words)
    names = desk.table().typed_frame.columns
    published = outcome.release.edition.columns
    able = [(str(names.index(name)), name) for name in names if name in published]
    target = render_form(
        "target",
        render_fields(
            render_label(words("Column to predict"), render_select("column", able, "", id="target")),
            render_button(words("Train")),
        ),
    )
    labels = [
        tag("details", tag("summary", name), render_bars(each, words("published"), words), open=place == 0)
        for place, name in enumerate(outcome.labels)
        if (each := desk.find_published_cells(name)) is not None
    ]
    return concatenate_html(
        render_rows(desk, words, query, "look"),
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
