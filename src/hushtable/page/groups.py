"""The screen of groups: how the cells of a column become coarser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from hushtable.errors import HushError
from hushtable.hierarchy import PROPOSED, Hierarchy
from hushtable.page.actions import RULES
from hushtable.page.column_settings import OWN_CUTS
from hushtable.page.desk import Desk
from hushtable.page.ladders import measure_levels
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    MAX_BARS,
    render_bars,
    render_button,
    render_fields,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_table,
)
from hushtable.page.words import PageWords
from hushtable.reporting import Quantity, SharedText

_MAX_CELLS: Final = 10  # cells that are listed of a column with many


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
        render_fields(
            render_label(words("Rule"), render_select("rule", choices, rule, id="rule")),
            render_label(words("Its options"), field),
            render_button(words("Use it")),
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
    by_level = [desk.find_shared_groups(name, ladder, level) for level in range(ladder.n_levels - 1)]
    levels = [
        _render_level(position, ladder, level, by_level, words)
        for level in range(1 if ladder.n_levels > 2 and ladder.lowest is None else 0, ladder.n_levels - 1)
    ]
    return concatenate_html(_render_comparison(desk, name, ladder, words), *levels)


def _render_comparison(desk: Desk, name: str, ladder: Hierarchy, words: PageWords) -> Html:
    """Render what each level would cost, and how many records the release publishes at it."""
    coded = desk.column_values(name)
    assert coded is not None
    figures = measure_levels(ladder, coded.codes, desk.table().typed_frame.records, desk.k)
    published = _count_records_by_level(desk, name, ladder)
    rows = [
        tag(
            "tr",
            tag("th", words("Level {n}", n=level) if level else words("cells"), scope="row"),
            tag("td", words(f"{each.n_groups:,}"), class_="number"),
            tag("td", words(f"{each.n_smallest:,}"), class_="number"),
            tag("td", words(f"{each.n_below:,}"), class_="number"),
            tag("td", words(Quantity(each.loss, "share").shown), class_="number"),
            tag("td", "" if published is None else words(f"{published[level]:,}"), class_="number"),
        )
        for level, each in enumerate(figures)
    ]
    below = words("records in groups of fewer than {k}", k=desk.k)
    titles = ("", words("groups"), words("smallest group"), below, words("detail lost"), words("published now"))
    caption = words("The levels compared: what each costs if every record is published at it")
    n_others = 0 if published is None else published[-1]
    note = words("{n} records publish other cells now: several groups together.", n=f"{n_others:,}")
    return concatenate_html(render_table(caption, titles, rows), tag("p", note, class_="note") if n_others else None)


def _count_records_by_level(desk: Desk, name: str, ladder: Hierarchy) -> list[int] | None:
    """Count the records that the outcome publishes at each level, last those at none; None if it is not known."""
    outcome = desk.outcome
    if outcome is None or desk.is_stale or name not in outcome.release.edition.rewritten:
        return None
    level_of = {label: level for level in reversed(range(ladder.n_levels)) for label in map(str, ladder.labels[level])}
    edition, records = outcome.release.edition, outcome.release.source.records
    rows = np.arange(len(records)) if edition.rows is None else edition.rows
    cells = edition.rewritten[name]
    levels = np.array([level_of.get(str(text), -1) for text in cells.texts] + [-1])[cells.codes[rows]]
    counted = np.bincount(levels + 1, weights=records[rows], minlength=ladder.n_levels + 1)
    return [int(n) for n in (*counted[1:], counted[0])]


def _render_level(
    position: int, ladder: Hierarchy, level: int, shared: list[tuple[list[SharedText], int]], words: PageWords
) -> Html:
    title = words("Level {n}", n=level)
    groups, n_others = shared[level]
    if ladder.lowest is not None or level == 0:
        groups = groups[:_MAX_CELLS] if level == 0 and ladder.n_values > MAX_BARS else groups
        titled = f"{words('groups') if level else words('cells')}, {title}"
        parts: list[Html | None] = [render_bars((groups, n_others), titled, words)]
    else:
        parts = [
            _render_cards(ladder, level, groups[:MAX_BARS], shared[level - 1][0], words),
            _render_remainder(n_others + sum(each.n_records for each in groups[MAX_BARS:]), words),
            _render_move_form(position, level, groups[:MAX_BARS], words),
            _render_level_forms(position, level, groups[:MAX_BARS], words),
        ]
    if ladder.lowest is None and len(groups) > 1:
        parts.append(_render_merging_form(position, level, groups[:MAX_BARS], words))
    return tag("section", tag("h4", title if level else words("cells")), *parts)


def _render_remainder(n_records: int, words: PageWords) -> Html | None:
    if not n_records:
        return None
    note = "{n} records are in other groups, or in none: too few people share them, or the list would be too long."
    return tag("p", words(note, n=f"{n_records:,}"), class_="note")


def _render_cards(
    ladder: Hierarchy, level: int, groups: list[SharedText], below: list[SharedText], words: PageWords
) -> Html:
    """Render every group as a card that holds what is in it; what is in it can be ticked, and dragged to another."""
    parents = ladder.parent(level - 1).tolist()
    n_in_all = np.bincount(parents, minlength=ladder.n_nodes(level)).tolist()
    cards = []
    for group in groups:
        members = [each for each in below if parents[each.code] == group.code]
        items = [
            tag(
                "li",
                tag(
                    "label",
                    tag("input", type="checkbox", name="group", value=str(each.code), form=f"move-{level}"),
                    tag("span", f"{each.text} ({words(f'{each.n_records:,}')})"),
                    class_="box",
                ),
                draggable="true",
                data_node=str(each.code),
            )
            for each in members[:MAX_BARS]
        ]
        n_hidden = n_in_all[group.code] - len(items)
        head = tag(
            "label",
            tag("input", type="checkbox", name="group", value=str(group.code), form=f"join-{level}"),
            tag("strong", group.text),
            tag("small", words(f"{group.n_records:,}")),
            class_="box",
        )
        rest = tag("p", words("{n} more, which too few people share", n=f"{n_hidden:,}"), class_="note")
        card = (head, tag("ul", *items) if items else None, rest if n_hidden else None)
        cards.append(tag("li", *card, class_="card", data_into=str(group.code), data_level=str(level)))
    return tag("ul", *cards, class_="cards")


def _render_move_form(position: int, level: int, groups: list[SharedText], words: PageWords) -> Html:
    options = [("new", words("a new group")), *((str(each.code), each.text) for each in groups)]
    name = tag("input", name="name", autocomplete="off", id=f"move-name-{level}")
    form = render_form(
        "regroup",
        render_fields(
            render_label(words("Move what is ticked to"), render_select("into", options, "new", id=f"into-{level}")),
            render_label(words("Name of the new group"), name),
            render_button(words("Move")),
        ),
        id_=f"move-{level}",
        column=position,
        level=level - 1,
    )
    hint = words("Tick cells and choose where they belong, or drag them to another group.")
    return concatenate_html(tag("p", hint, class_="note"), form)


def _render_level_forms(position: int, level: int, groups: list[SharedText], words: PageWords) -> Html:
    """Render what can be done with whole groups: rename one, join several, remove the level."""
    options = [(str(each.code), each.text) for each in groups]
    new_name = tag("input", name="name", required=True, autocomplete="off")
    rename = render_form(
        "label",
        render_fields(
            render_label(words("Group"), render_select("group", options, "")),
            render_label(words("New name"), new_name),
            render_button(words("Rename")),
        ),
        column=position,
        level=level,
    )
    join = render_form(
        "join",
        render_fields(
            render_label(words("Name of the joined group"), new_name),
            render_button(words("Join the ticked groups")),
        ),
        id_=f"join-{level}",
        column=position,
        level=level,
    )
    button = tag("div", render_button(words("Remove this level")), class_="buttons")
    remove = render_form("drop_level", button, column=position, level=level)
    forms = ([rename] if options else []) + ([join] if len(options) > 1 else [])
    return tag("details", tag("summary", words("Rename or join groups, or remove the level")), *forms, remove)


def _render_merging_form(position: int, level: int, groups: list[SharedText], words: PageWords) -> Html:
    """Render a form that adds a level above, in which some groups are one."""
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="group", value=str(each.code)),
            tag("span", each.text),
            class_="box",
        )
        for each in groups
    ]
    fields = tag(
        "fieldset",
        tag("legend", words("Put these together, as a level above")),
        tag("div", *boxes, class_="boxes"),
        render_label(words("Name of the new group"), tag("input", name="name", required=True, autocomplete="off")),
        render_button(words("Add the level")),
    )
    form = render_form("group", fields, column=position, level=level)
    return tag("details", tag("summary", words("Add a level")), form)
