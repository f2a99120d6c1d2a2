"""The five screens, and what stands at the side of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hushtable.anonymizers import METHODS, STYLES
from hushtable.errors import HushError
from hushtable.hierarchy import PROPOSED, Hierarchy
from hushtable.io import FILE_KINDS
from hushtable.page.actions import RULES
from hushtable.page.column_settings import OWN_CUTS
from hushtable.page.column_table import render_columns
from hushtable.page.desk import Desk
from hushtable.page.look import render_look
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import (
    MAX_BARS as _MAX_BARS,
    SCREENS as SCREENS,
    describe_time_left,
    render_bars as _render_bars,
    render_button as _render_button,
    render_form as _render_form,
    render_label as _render_label,
    render_next_link as _render_next_link,
    render_select as _render_select,
    render_table as _render_table,
    render_unknown_outcome as _render_unknown_outcome,
)
from hushtable.page.rows import render_rows
from hushtable.page.words import PageWords
from hushtable.policy import AdvisedChange, ComparedRun
from hushtable.reporting import Quantity
from hushtable.wording import LANGUAGES

_METHODS: Final = ("mondrian", "full_domain", "local_recoding")
_TABLE_ENDINGS: Final = (*FILE_KINDS, ".gz", ".xlsx", ".pq")
_MAX_FILES: Final = 200


def render_page(
    desk: Desk, screen: str, query: Mapping[str, str], words: PageWords, *, style: str, script: str, fault: str = ""
) -> Html:
    """Return a whole page.

    Parameters
    ----------
    desk : Desk
    screen : str
        A name in `SCREENS`.
    query : mapping
        What the address says besides.
    words : PageWords
    style, script : str
        What the page looks like and does.
    fault : str
        Why what was just asked for was not done.
    """
    is_open = desk.looked is not None
    main = _SCREENS[screen](desk, words, query) if is_open else _render_opening(desk, words)
    titles = words(SCREENS[screen]) if is_open else words("Open a table")
    name = desk.looked.path.name if desk.looked is not None else "hushtable"
    job = desk.jobs.job
    is_busy = desk.jobs.is_busy
    head = concatenate_html(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # Without a script, the page reloads to show a job's progress.
        tag("noscript", tag("meta", http_equiv="refresh", content="3")) if is_busy else None,
        tag("title", f"{titles} · {name} · hushtable"),
        tag("style", Html(style)),
    )
    body = concatenate_html(
        tag("a", words("Skip to the content"), href="#main", class_="skip"),
        _render_header(desk, screen, words, name, is_open=is_open),
        tag("div", *_render_notices(desk, words, screen, fault), id="notices"),
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
            tag("head", head),
            "\n",
            tag("body", body, data_state=state, data_ended=words(_END_NOTE)),
            lang=words.language,
        )
    )


_END_NOTE: Final = "hushtable has ended. Nothing is lost: the policy and its history are files. Start it again."
_JOBS: Final[Mapping[str, str]] = {
    "reading": "Reading the table and looking at its columns",
    "protecting": "Finding out what this policy leads to",
    "comparing": "Comparing",
    "advising": "Trying changes of the policy",
    "predicting": "Training models",
    "writing": "Writing and verifying",
}


def _render_header(desk: Desk, screen: str, words: PageWords, name: str, *, is_open: bool) -> Html:
    links = [
        tag("li", tag("a", f"{place} {words(title)}", href=f"/{each}", aria_current="page" if each == screen else None))
        for place, (each, title) in enumerate(SCREENS.items(), start=1)
    ]
    nav = tag("nav", tag("ol", *links), aria_label=words("Steps")) if is_open else None
    size = None
    if desk.looked is not None:
        n_rows, n_columns = desk.looked.typed_frame.n_rows, len(desk.looked.typed_frame.columns)
        size = tag("p", words("{n} records, {m} columns", n=f"{n_rows:,}", m=f"{n_columns:,}"), class_="note")
    return tag("header", tag("h1", name), size, nav)


def _render_footer(words: PageWords, screen: str) -> Html:
    buttons = [
        tag("button", title, type="submit", name="language", value=code, lang=code, class_="quiet")
        for code, title in LANGUAGES.items()
        if code != words.language
    ]
    said = words("Nothing leaves this computer: the page is served by hushtable on this machine, to this browser only.")
    return tag("footer", tag("p", said), _render_form("language", *buttons, screen=screen))


def _render_notices(desk: Desk, words: PageWords, screen: str, fault: str) -> list[Html]:
    job = desk.jobs.job
    notices = []
    for notice in dict.fromkeys((fault, desk.fault, desk.policy_fault)):
        if notice:
            message, _, hint = notice.partition("\n\nHint: ")
            lines = [tag("p", words(message)), tag("p", words(hint)) if hint else None]
            notices.append(tag("div", *lines, role="alert", class_="careful"))
    if job is not None and not job.is_over:
        title = words(_JOBS[job.name])
        bar = tag("progress", f"{job.share:.0%}", max="1", value=f"{job.share:.3f}", id="progress", aria_label=title)
        left = tag("span", describe_time_left(job, words), id="left")
        stop = _render_form("stop", tag("button", words("Stop"), type="submit"), screen=screen)
        notices.append(tag("div", tag("p", f"{title} …"), bar, left, stop, class_="job", role="status"))
    elif job is not None and job.is_stopped:
        text = tag("p", words("It was stopped."))
        again = _render_form("again", tag("button", words("Go on"), type="submit"), screen=screen)
        notices.append(tag("div", text, again, role="status", class_="job"))
    if job is not None and job.cautions:
        items = [tag("li", words(each.partition("\n\nHint: ")[0])) for each in job.cautions]
        notices.append(tag("ul", *items, class_="careful"))
    return notices


def _render_side(desk: Desk, words: PageWords, screen: str) -> Html:
    """Render the part that is always visible: the policy's outcome, and the policy itself."""
    assert desk.versions is not None
    versions = desk.versions
    steps = tag(
        "div",
        _render_form(
            "undo", tag("button", words("Undo"), type="submit", disabled=versions.at <= 1, id="undo"), screen=screen
        ),
        _render_form(
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
    tone = words("Every condition holds.") if holds else words("Not every condition holds.")
    return concatenate_html(
        tag("p", earlier, class_="careful") if desk.is_stale else None,
        tag(
            "dl",
            *(tag("div", tag("dt", each), tag("dd", tag("strong", said))) for each, said in figures),
            class_="figures",
        ),
        tag("p", tone, class_="good" if holds else "careful"),
    )


# Before a table is open.


def _render_opening(desk: Desk, words: PageWords) -> Html:
    tables = [
        each
        for each in sorted(desk.folder.iterdir())
        if each.suffix.lower() in _TABLE_ENDINGS and not each.name.startswith(".") and each.is_file()
    ]
    rows = [
        tag("li", _render_form("open", tag("button", each.name, type="submit", class_="link"), path=each.name))
        for each in tables[:_MAX_FILES]
    ]
    field = tag("input", name="path", required=True, autocomplete="off", spellcheck="false")
    return concatenate_html(
        tag("p", words("Nothing is uploaded: a file is read where it lies.")),
        tag("h3", words("Tables in this folder")) if rows else None,
        tag("ul", *rows, class_="files") if rows else tag("p", words("There is no table in this folder.")),
        _render_form(
            "open",
            tag("div", _render_label(words("Or type a path"), field), _render_button(words("Open")), class_="fields"),
        ),
    )


# 2. Groups.


def _render_groups(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
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
        _render_next_link("choose", words),
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
    return _render_form(
        "hierarchy",
        tag(
            "div",
            _render_label(words("Rule"), _render_select("rule", choices, rule, id="rule")),
            _render_label(words("Its options"), field),
            _render_button(words("Use it")),
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
            None if published is None else _render_bars(published, words("published now"), words),
            _render_bars(shared, words("cells"), words),
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
    if level == 0 and ladder.n_values > _MAX_BARS:
        groups = groups[:10]
    titled = f"{words('groups') if level else words('cells')}, {words('Level {n}', n=level)}"
    bars = _render_bars((groups, n_others), titled, words)
    if ladder.lowest is not None:
        return bars
    visible = groups[:_MAX_BARS]
    rename = None
    if level and visible:
        options = [(str(each.code), each.text) for each in visible]
        rename = _render_form(
            "label",
            tag(
                "div",
                _render_label(words("Group"), _render_select("group", options, options[0][0])),
                _render_label(words("New name"), tag("input", name="name", required=True, autocomplete="off")),
                _render_button(words("Rename")),
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
            _render_label(words("Name of the new group"), tag("input", name="name", required=True, autocomplete="off")),
            _render_button(words("Add the level")),
        )
        join = tag(
            "details", tag("summary", words("Add a level")), _render_form("group", fields, column=position, level=level)
        )
    return concatenate_html(bars, rename, join)


# 3. Choose.


def _render_choose(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
    if not desk.is_decided:
        return tag("p", words("Answer what is asked first."), " ", tag("a", words("Columns"), href="/columns"))
    policy = desk.rules()
    names = desk.table().typed_frame.columns
    style = getattr(policy.method, "recoding", "")
    limits = policy.limits
    values = [
        _render_label(
            words("different values of {name} in each group, at least", name=name),
            tag(
                "input",
                type="number",
                name=f"values-{names.index(name)}",
                min="1",
                max="1000",
                value=str(_least_values(desk, name)),
                id=f"values-{names.index(name)}",
            ),
            words("1: nothing is asked"),
        )
        for name in policy.with_role("sensitive")
    ]
    styles = [(style, style)] if style not in STYLES else []
    styles += [(each, words(f"cells {each}")) for each in STYLES]
    methods = dict.fromkeys((*_METHODS, policy.method.name))
    move = _render_form(
        "move",
        tag(
            "div",
            _render_label(
                words("k: people who look alike"),
                tag("input", type="number", name="k", min="1", max="1000000", value=str(desk.k), id="k", required=True),
            ),
            _render_label(
                words("may be left out, in % of the records"),
                tag(
                    "input",
                    name="suppression",
                    value=f"{100 * limits.suppression:g}",
                    inputmode="decimal",
                    id="suppression",
                ),
            ),
            _render_label(
                words("method"),
                _render_select(
                    "method", [(each, _name_method(each, words)) for each in methods], policy.method.name, id="method"
                ),
            ),
            _render_label(words("how cells are written"), _render_select("recoding", styles, style, id="recoding")),
            _render_label(
                words("highest risk allowed, in %"),
                tag(
                    "input",
                    name="highest_risk",
                    value=f"{100 * (limits.highest_risk or 0):g}",
                    inputmode="decimal",
                    id="highest-risk",
                ),
                words("0: no limit"),
            ),
            *values,
            tag(
                "label",
                tag("input", type="checkbox", name="bounds", value="yes", checked=policy.writing.bounds),
                tag("span", words("Add the smallest and the largest value of each cell as columns")),
                class_="box",
            ),
            class_="fields",
        ),
        _render_button(words("Set")),
    )
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="method", value=each, checked=each == policy.method.name),
            tag("span", _name_method(each, words)),
            class_="box",
        )
        for each in methods
        if each in METHODS
    ]
    rows = () if desk.comparison is None else desk.comparison.rows
    ks = ", ".join(dict.fromkeys(str(row.k) for row in rows)) or "2, 3, 5, 10, 20"
    shares = ", ".join(dict.fromkeys(f"{100 * (row.suppression or 0):g}" for row in rows)) or "0, 1, 5"
    ask = _render_form(
        "compare",
        tag(
            "div",
            _render_label(words("values of k"), tag("input", name="ks", value=ks, id="ks")),
            _render_label(words("left out, in %"), tag("input", name="suppressions", value=shares, id="suppressions")),
            tag("fieldset", tag("legend", words("methods")), tag("div", *boxes, class_="boxes")),
            class_="fields",
        ),
        _render_button(words("Compare")),
    )
    return concatenate_html(
        tag("h3", words("Set k and what else is asked")),
        move,
        tag("h3", words("What to give up")),
        _render_advice(desk, words),
        tag("h3", words("Compare risk and loss")),
        ask,
        _render_runs(desk, words),
        _render_next_link("look", words),
    )


def _render_advice(desk: Desk, words: PageWords) -> Html:
    changes = desk.find_advised_changes()
    ask = _render_form("advise", _render_button(words("Find what would bring most back")))
    if not changes:
        return ask
    titles = [words(each) for each in ("change", "before", "after", "left out", "")]
    rows = [_render_change(position, change, words) for position, change in enumerate(changes)]
    caption = words("What is lost before and after (set-NCP), of the columns that stay")
    return concatenate_html(ask, _render_table(caption, titles, rows))


def _render_change(position: int, change: AdvisedChange, words: PageWords) -> Html:
    what = words(change.what)
    button = _render_button(words("Choose"), aria_label=f"{words('Choose')} {what}")
    return tag(
        "tr",
        tag("th", what, scope="row"),
        tag("td", words(Quantity(change.before, "share").shown), class_="number"),
        tag("td", words(Quantity(change.after, "share").shown), class_="number"),
        tag("td", words(f"{change.n_suppressed or 0:,}"), class_="number"),
        tag("td", _render_form("follow", button, change=position)),
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
        _render_table(words("What each choice costs"), titles, rows),
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
    button = _render_button(words("Choose"), aria_label=f"{words('Choose')} k = {row.k}, {row.line}")
    return tag(
        "tr",
        tag("th", words(f"{row.k:,}"), scope="row", class_="number"),
        tag("td", row.line),
        tag("td", words(Quantity(row.highest_risk, "share").shown), class_="number"),
        tag("td", words(Quantity(row.loss).shown), class_="number"),
        tag("td", words(f"{row.n_suppressed or 0:,}"), class_="number"),
        tag("td", tag("strong", words("the bend")) if is_knee else None),
        tag("td", _render_form("choose", button, run=index)),
        class_="marked" if is_knee else None,
    )


# 5. Sign.


def _render_sign(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    outcome = desk.outcome
    if outcome is None:
        return _render_unknown_outcome(desk, words)
    result = desk.written
    files = None
    if result is not None:
        items = [tag("li", desk.relative_path(path)) for path in result.files]
        tone = words("Written, read back and verified: the file holds what it claims.")
        tone = tone if result.is_verified else words("Written, but not all that it claims was verified.")
        old = None if result.text == desk.policy_text else tag("p", words("The policy has changed since."))
        files = tag(
            "div",
            tag("p", tone),
            old,
            tag("ul", *items),
            class_="good" if result.is_verified else "careful",
            role="status",
            id="written",
        )
    write = _render_form(
        "write",
        tag(
            "div",
            _render_label(
                words("File"),
                tag(
                    "input",
                    name="name",
                    value=desk.release_name(),
                    id="name",
                    required=True,
                    autocomplete="off",
                    spellcheck="false",
                ),
            ),
            tag(
                "label",
                tag("input", type="checkbox", name="overwrite", value="yes"),
                tag("span", words("Replace files of this name")),
                class_="box",
            ),
            class_="fields",
        ),
        _render_button(words("Write and verify"), disabled=desk.is_stale),
    )
    return concatenate_html(
        files,
        _render_conditions(desk, words),
        _render_obstacles(desk, words),
        render_rows(desk, words, query, "sign"),
        tag("h3", words("Write")),
        tag("p", words("The release is written with its manifest, codebook and report, and verified.")),
        write,
        tag("h3", words("The report for the committee")),
        tag("div", *(each[words.language] for each in outcome.sections.values()), class_="report"),
    )


def _render_conditions(desk: Desk, words: PageWords) -> Html:
    """Render for every condition whether it is met."""
    assert desk.outcome is not None
    verdict = desk.outcome.verdict
    failed = {each.condition for each in verdict.failures}
    lines = [f"{words('not met')}: {words(str(each))}" for each in verdict.failures]
    lines += [
        f"{words('not judged')}: {words(condition)} ({words(needs)})" for condition, needs in verdict.unchecked.items()
    ]
    lines += [f"{words('met')}: {words(each)}" for each in verdict.held if each not in failed]
    return concatenate_html(tag("h3", words("What was asked")), tag("ul", *(tag("li", each) for each in lines)))


def _render_obstacles(desk: Desk, words: PageWords) -> Html | None:
    """Render what speaks against writing, with a form to accept a column."""
    assert desk.outcome is not None
    exposure = desk.outcome.release.exposure
    if exposure is None:
        return None
    faults = []
    if exposure.refused_identifiers:
        faults.append(exposure.identifiers_fault)
    if exposure.refused_names:
        faults.append(exposure.names_fault)
    if exposure.refused_dependences:
        faults.append(exposure.dependences_fault)
    if exposure.is_above:
        faults.append(exposure.fault)
    if exposure.is_linked:
        faults.append(exposure.linked_fault)
    if not faults:
        return None
    names, policy = desk.table().typed_frame.columns, desk.rules()
    able = [name for name in names if name not in (*policy.removed, *policy.fresh)]
    options = [(str(names.index(name)), name) for name in able]
    vouch = _render_form(
        "accept",
        tag(
            "div",
            _render_label(words("Column"), _render_select("column", options, "")),
            _render_label(words("Why nobody knows it"), tag("input", name="reason", required=True, autocomplete="off")),
            _render_button(words("Accept")),
            class_="fields",
        ),
    )
    return tag(
        "section",
        tag("h3", words("What speaks against writing")),
        tag("ul", *(tag("li", words(each)) for each in faults)),
        tag(
            "p",
            words("Give the column another role, or say why nobody knows it:"),
            " ",
            tag("a", words("Columns"), href="/columns"),
        ),
        vouch if options else None,
        class_="careful",
    )


_SCREENS: Final = {
    "columns": render_columns,
    "groups": _render_groups,
    "choose": _render_choose,
    "look": render_look,
    "sign": _render_sign,
}
