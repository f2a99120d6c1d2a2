"""The screen on which k and the other conditions are set, and settings compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hushtable.anonymizers import METHODS, STYLES
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    render_button,
    render_fields,
    render_form,
    render_label,
    render_next_link,
    render_select,
    render_table,
)
from hushtable.page.words import PageWords
from hushtable.policy import AdvisedChange, ComparedRun
from hushtable.reporting import Quantity

_METHODS: Final = ("mondrian", "full_domain", "local_recoding")


def render_choose(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
    """Render what can be set, advised and compared."""
    if not desk.is_decided:
        return tag("p", words("Answer what is asked first."), " ", tag("a", words("Columns"), href="/columns"))
    return concatenate_html(
        tag("h3", words("Set k and what else is asked")),
        _render_requirements(desk, words),
        tag("h3", words("What to give up")),
        _render_advice(desk, words),
        tag("h3", words("Compare risk and loss")),
        _render_comparison_form(desk, words),
        _render_runs(desk, words),
        render_next_link("look", words),
    )


def _render_requirements(desk: Desk, words: PageWords) -> Html:
    """Render the form of what is asked of every group, and of how cells are written."""
    policy, style = desk.rules(), getattr(desk.rules().method, "recoding", "")
    limits = policy.limits
    k = tag("input", type="number", name="k", min="1", max="1000000", value=str(desk.k), id="k", required=True)
    methods = [(each, _name_method(each, words)) for each in _list_methods(desk)]
    styles = [(style, style)] if style not in STYLES else []
    styles += [(each, words(f"cells {each}")) for each in STYLES]
    highest_risk = _render_percent("highest_risk", limits.highest_risk or 0)
    return render_form(
        "move",
        render_fields(
            render_label(words("k: people who look alike"), k),
            render_label(
                words("may be left out, in % of the records"), _render_percent("suppression", limits.suppression)
            ),
            render_label(words("method"), render_select("method", methods, policy.method.name, id="method")),
            render_label(words("how cells are written"), render_select("recoding", styles, style, id="recoding")),
            render_label(words("highest risk allowed, in %"), highest_risk, words("0: no limit")),
            *(_render_least_values(desk, name, words) for name in policy.with_role("sensitive")),
            tag(
                "label",
                tag("input", type="checkbox", name="bounds", value="yes", checked=policy.writing.bounds),
                tag("span", words("Add the smallest and the largest value of each cell as columns")),
                class_="box",
            ),
        ),
        render_button(words("Set")),
    )


def _render_percent(name: str, share: float) -> Html:
    id_ = name.replace("_", "-")
    return tag("input", name=name, value=f"{100 * share:g}", inputmode="decimal", id=id_)


def _render_least_values(desk: Desk, name: str, words: PageWords) -> Html:
    """Render how many values of a sensitive column each group must have."""
    field, value = f"values-{desk.table().typed_frame.columns.index(name)}", str(_least_values(desk, name))
    return render_label(
        words("different values of {name} in each group, at least", name=name),
        tag("input", type="number", name=field, min="1", max="1000", value=value, id=field),
        words("1: nothing is asked"),
    )


def _render_comparison_form(desk: Desk, words: PageWords) -> Html:
    """Render the form of the settings to compare, as they were compared last."""
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="method", value=each, checked=each == desk.rules().method.name),
            tag("span", _name_method(each, words)),
            class_="box",
        )
        for each in _list_methods(desk)
        if each in METHODS
    ]
    rows = () if desk.comparison is None else desk.comparison.rows
    ks = ", ".join(dict.fromkeys(str(row.k) for row in rows)) or "2, 3, 5, 10, 20"
    shares = ", ".join(dict.fromkeys(f"{100 * (row.suppression or 0):g}" for row in rows)) or "0, 1, 5"
    return render_form(
        "compare",
        render_fields(
            render_label(words("values of k"), tag("input", name="ks", value=ks, id="ks")),
            render_label(words("left out, in %"), tag("input", name="suppressions", value=shares, id="suppressions")),
            tag("fieldset", tag("legend", words("methods")), tag("div", *boxes, class_="boxes")),
        ),
        render_button(words("Compare")),
    )


def _list_methods(desk: Desk) -> list[str]:
    """List the methods that can be chosen, that of the policy among them."""
    return list(dict.fromkeys((*_METHODS, desk.rules().method.name)))


def _render_advice(desk: Desk, words: PageWords) -> Html:
    changes = desk.find_advised_changes()
    ask = render_form("advise", render_button(words("Find what would bring most back")))
    if not changes:
        return ask
    titles = [words(each) for each in ("change", "before", "after", "left out", "")]
    rows = [_render_change(position, change, words) for position, change in enumerate(changes)]
    caption = words("What is lost before and after (set-NCP), of the columns that stay")
    return concatenate_html(ask, render_table(caption, titles, rows))


def _render_change(position: int, change: AdvisedChange, words: PageWords) -> Html:
    what = words(change.what)
    button = render_button(words("Choose"), aria_label=f"{words('Choose')} {what}")
    return tag(
        "tr",
        tag("th", what, scope="row"),
        tag("td", words(Quantity(change.before, "share").shown), class_="number"),
        tag("td", words(Quantity(change.after, "share").shown), class_="number"),
        tag("td", words(f"{change.n_suppressed or 0:,}"), class_="number"),
        tag("td", render_form("follow", button, change=position)),
    )


def _name_method(name: str, words: PageWords) -> str:
    return words(f"method {name}") if name in _METHODS else name


def _least_values(desk: Desk, name: str) -> int:
    models = [each for each in desk.rules().models if name in each.needs.sensitive]
    found = [int(each.l) for each in models if each.name == "distinct-l-diversity"]
    return max(found, default=1)


def _render_runs(desk: Desk, words: PageWords) -> Html:
    compared = desk.comparison
    if compared is None:
        return tag("p", words("Nothing was compared yet."), class_="note")
    knee = compared.knee
    rows = [_render_run(place, row, words, is_knee=row is knee) for place, row in enumerate(compared.rows)]
    titles = [words(each) for each in ("k", "run", "highest risk", "loss", "left out", "", "")]
    return concatenate_html(
        tag("p", words("Marked is where risk against loss bends most; the choice is yours.")),
        render_table(words("What each choice costs"), titles, rows),
        tag("div", desk.curve[words.language]) if desk.curve else None,
    )


def _render_run(index: int, row: ComparedRun, words: PageWords, *, is_knee: bool) -> Html:
    if row.reason is not None:
        return tag(
            "tr",
            tag("th", words(f"{row.k:,}"), scope="row", class_="number"),
            tag("td", row.line),
            tag("td", words(row.reason), colspan=5),
        )
    button = render_button(words("Choose"), aria_label=f"{words('Choose')} k = {row.k}, {row.line}")
    return tag(
        "tr",
        tag("th", words(f"{row.k:,}"), scope="row", class_="number"),
        tag("td", row.line),
        tag("td", words(Quantity(row.highest_risk, "share").shown), class_="number"),
        tag("td", words(Quantity(row.loss).shown), class_="number"),
        tag("td", words(f"{row.n_suppressed or 0:,}"), class_="number"),
        tag("td", tag("strong", words("the bend")) if is_knee else None),
        tag("td", render_form("choose", button, run=index)),
        class_="marked" if is_knee else None,
    )
