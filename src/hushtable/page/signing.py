"""The last screen: what speaks against signing, and the form that writes a release and signs it."""

from __future__ import annotations

from collections.abc import Mapping

from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.parts import render_button, render_form, render_label, render_select, render_unknown_outcome
from hushtable.page.words import PageWords


def render_sign(desk: Desk, words: PageWords, _: Mapping[str, str]) -> Html:
    """Render what speaks against signing, the form, and the report."""
    outcome = desk.outcome
    if outcome is None:
        return render_unknown_outcome(desk, words)
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
    write = render_form(
        "write",
        tag(
            "div",
            render_label(
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
        render_button(words("Write and verify"), disabled=desk.is_stale),
    )
    return concatenate_html(
        files,
        _render_conditions(desk, words),
        _render_obstacles(desk, words),
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
    vouch = render_form(
        "accept",
        tag(
            "div",
            render_label(words("Column"), render_select("column", options, "")),
            render_label(words("Why nobody knows it"), tag("input", name="reason", required=True, autocomplete="off")),
            render_button(words("Accept")),
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
