"""The screen of groups: how the cells of a column become coarser."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.errors import HushError
from hushtable.hierarchy import PROPOSED, Hierarchy
from hushtable.page.actions import OWN_CUTS, RULES
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    MAX_BARS,
    render_bars,
    render_button,
    render_form,
    render_label,
    render_next_link,
    render_select,
)
from hushtable.page.words import PageWords


def render_groups(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    """Render the rule of a column, and its groups level by level."""
    policy, names = desk.rules(), desk.table().typed_frame.columns
    # A column with an undecided role may become one.
    judged_names = [name for name in names if policy.columns[name].role in ("quasi-identifier", "ask")]
    if not judged_names:
        return tag("p", words("No column is a quasi-identifier yet."))
    typed = query.get("column", "")
    name = names[int(typed)] if typed.isdecimal() and len(typed) < 6 and int(typed) < len(names) else judged_names[0]
    name = name if name in judged_names else judged_names[0]
    position = names.index(name)
    tabs = [
        tag(
            "li",
            tag("a", each, href=f"/groups?column={names.index(each)}", aria_current="true" if each == name else None),
        )
        for each in judged_names
    ]
    return concatenate_html(
        tag(
            "p",
            words(
                "How may the cells of a column become coarser? Its own cuts lose least; groups of your own read best."
            ),
        ),
        tag("nav", tag("ul", *tabs, class_="tabs"), aria_label=words("Quasi-identifiers")),
        tag("h3", name),
        _render_rule_form(desk, position, name, words),
        _render_ladder(desk, position, name, words),
        render_next_link("choose", words),
    )


def _render_rule_form(desk: Desk, position: int, name: str, words: PageWords) -> Html:
    entry = desk.rules().columns[name].hierarchy
    rule, options = OWN_CUTS, ""
    if isinstance(entry, str):
        rule, options = (entry, "") if entry in PROPOSED else ("file", entry)
    elif isinstance(entry, Mapping):
        rule = next(iter(entry))
        value = entry[rule]
        value = next(iter(value.values()), "") if isinstance(value, Mapping) else value
        options = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    choices = [(each, words(f"rule {each}")) for each in RULES]
    if rule not in RULES:
        choices.append((rule, rule))
        options = ""
    field = tag("input", name="options", value=options, id="options", autocomplete="off", spellcheck="false")
    examples = "; ".join(f"{words(f'rule {each}')}: {example}" for each, example in RULES.items() if example)
    return render_form(
        "hierarchy",
        tag(
            "div",
            render_label(words("Rule"), render_select("rule", choices, rule, id="rule")),
            render_label(words("Its options"), field),
            render_button(words("Use it")),
            class_="fields",
        ),
        tag("details", tag("summary", words("Examples of options")), tag("p", examples, class_="note")),
        column=position,
    )


def _render_ladder(desk: Desk, position: int, name: str, words: PageWords) -> Html:
    if desk.column_values(name) is None:
        return tag("p", words("The column has too many distinct cells to be shown."), class_="note")
    try:
        ladder = desk.ladder(name)
    except HushError as error:
        return tag("p", words(error.message), class_="careful")
    if ladder is None:
        shared = desk.find_shared_cells(name)
        assert shared is not None
        published = desk.find_published_cells(name)
        return concatenate_html(
            tag("p", words("It is cut wherever a cut serves best.")),
            None if published is None else render_bars(published, words("published now"), words),
            render_bars(shared, words("cells"), words),
        )
    parts = [
        tag(
            "section",
            tag("h4", words("Level {n}", n=level)),
            _render_level(desk, position, name, ladder, level, words),
        )
        for level in range(ladder.n_levels - 1)
    ]
    return concatenate_html(*parts)


def _render_level(desk: Desk, position: int, name: str, ladder: Hierarchy, level: int, words: PageWords) -> Html:
    groups, n_others = desk.find_shared_groups(name, ladder, level)
    if level == 0 and ladder.n_values > MAX_BARS:
        groups = groups[:10]
    titled = f"{words('groups') if level else words('cells')}, {words('Level {n}', n=level)}"
    bars = render_bars((groups, n_others), titled, words)
    if ladder.lowest is not None:
        return bars
    visible = groups[:MAX_BARS]
    rename = None
    if level and visible:
        options = [(str(each.code), each.text) for each in visible]
        rename = render_form(
            "label",
            tag(
                "div",
                render_label(words("Group"), render_select("group", options, options[0][0])),
                render_label(words("New name"), tag("input", name="name", required=True, autocomplete="off")),
                render_button(words("Rename")),
                class_="fields",
            ),
            column=position,
            level=level,
        )
    join = None
    if len(visible) > 1:
        boxes = [
            tag(
                "label",
                tag("input", type="checkbox", name="group", value=str(each.code)),
                tag("span", each.text),
                class_="box",
            )
            for each in visible
        ]
        fields = tag(
            "fieldset",
            tag("legend", words("Put these together, as a level above")),
            tag("div", *boxes, class_="boxes"),
            render_label(words("Name of the new group"), tag("input", name="name", required=True, autocomplete="off")),
            render_button(words("Add the level")),
        )
        join = tag(
            "details", tag("summary", words("Add a level")), render_form("group", fields, column=position, level=level)
        )
    return concatenate_html(bars, rename, join)
