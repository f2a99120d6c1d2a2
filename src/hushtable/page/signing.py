"""The last screen: what speaks against signing, first, then the form that writes a release and signs it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from hushtable.errors import VerificationError
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, concatenate_html, tag
from hushtable.page.objections import Objections, find_objections, find_steps_left
from hushtable.page.outcome import PolicyOutcome
from hushtable.page.parts import (
    render_button,
    render_fields,
    render_form,
    render_label,
    render_select,
    render_unknown_outcome,
)
from hushtable.page.rows import render_rows
from hushtable.page.words import PageWords
from hushtable.page.writing import mark_of
from hushtable.release import AUDIENCES, NO_SIGNATURE, read_sign_off, sign_off_path


def render_sign(desk: Desk, words: PageWords, query: Mapping[str, str]) -> Html:
    """Render what speaks against signing, the form, and the report."""
    outcome = desk.outcome
    if outcome is None:
        return render_unknown_outcome(desk, words)
    objections = find_objections(desk)
    return concatenate_html(
        _render_written(desk, words),
        _render_objections(desk, objections, words),
        render_rows(desk, words, query, "sign"),
        tag("h3", words("Write and sign")),
        _render_transcript(desk, words),
        _render_form(desk, outcome, objections, words, query),
        _render_conditions(desk, words),
        tag("h3", words("The report for the committee")),
        tag(
            "div",
            *(each[words.language] for each in outcome.sections.values()),
            class_="report" if objections.is_empty else "report contested",
        ),
    )


def _render_written(desk: Desk, words: PageWords) -> Html | None:
    """Render what was written; it is green only if nothing spoke against it and it is of the policy as it stands."""
    result = desk.written
    if result is None:
        return _render_earlier_record(desk, words)
    is_current = result.text == desk.policy_text
    if not result.is_verified:
        said = words("Written, but not all that it claims was verified. Do not publish it.")
    elif result.signed is not None:
        said = words("Written, read back, verified and signed.")
    else:
        said = words("Written, read back and verified: the file holds what it claims. Nobody has signed it.")
    against = words("Points against signing: {n}. They are listed below and in the record.", n=len(result.doubts))
    command = f"hushtable verify {desk.relative_path(result.files[0])}"
    is_good = result.is_verified and is_current and not result.doubts
    return tag(
        "div",
        tag("p", said),
        tag("p", words(result.signed.sentence)) if result.signed is not None else None,
        tag("p", against) if result.doubts else None,
        None if is_current else tag("p", words("The policy has changed since. Write and sign again.")),
        tag("ul", *(tag("li", desk.relative_path(path)) for path in result.files)),
        tag("p", words("Anyone who has these files can check them:"), " ", tag("code", command)),
        class_="good" if is_good else "careful" if not result.is_verified or not is_current else "told",
        role="status",
        id="written",
    )


def _render_earlier_record(desk: Desk, words: PageWords) -> Html | None:
    """Render who signed the release that lies beside the table, if somebody did before the page was opened."""
    path = desk.table().path.with_name(desk.release_name())
    if not sign_off_path(path).is_file():
        return None
    try:
        told = words(read_sign_off(path).sentence)
    except VerificationError as error:
        return tag("p", words(error.message), class_="careful")
    return tag("p", f"{path.name}: {told}", class_="told")


def _render_objections(desk: Desk, objections: Objections, words: PageWords) -> Html:
    if objections.is_empty:
        said = "Nothing that hushtable looks for speaks against signing. What it cannot know is for you to judge."
        return tag("section", tag("h3", words("What speaks against signing")), tag("p", words(said)))
    refusals = [tag("li", words(each)) for each in objections.refusals]
    doubts = [tag("li", words(each)) for each in objections.doubts]
    return tag(
        "section",
        tag("h3", words("What speaks against signing")),
        tag("h4", words("Refused: nothing is written before this is answered")) if refusals else None,
        tag("ul", *refusals) if refusals else None,
        _render_acceptance(desk, words) if refusals else None,
        tag("h4", words("For you to judge: say in the comment why you sign all the same")) if doubts else None,
        tag("ul", *doubts) if doubts else None,
        class_="careful objections",
    )


def _render_acceptance(desk: Desk, words: PageWords) -> Html:
    """Render the ways out of a refusal: another role, or a reason."""
    names, policy = desk.table().typed_frame.columns, desk.rules()
    able = [name for name in names if name not in (*policy.removed, *policy.fresh)]
    options = [(str(names.index(name)), name) for name in able]
    reason = tag("input", name="reason", required=True, autocomplete="off")
    vouch = render_form(
        "accept",
        render_fields(
            render_label(words("Column"), render_select("column", options, "")),
            render_label(words("Why nobody knows it"), reason),
            render_button(words("Accept")),
        ),
    )
    said = words("Give the column another role, or say why nobody knows it:")
    return concatenate_html(
        tag("p", said, " ", tag("a", words("Columns"), href="/columns")), vouch if options else None
    )


def _render_form(
    desk: Desk, outcome: PolicyOutcome, objections: Objections, words: PageWords, query: Mapping[str, str]
) -> Html:
    """Render the form; what was typed in it stays where it was refused."""
    fields = {
        "name": desk.release_name(),
        "person": desk.written.signed.person if desk.written is not None and desk.written.signed is not None else "",
        "date": date.today().isoformat(),
        "comment": "",
        "audience": AUDIENCES[0],
    } | {name: query[name] for name in ("name", "person", "date", "comment", "audience") if name in query}
    audiences = [(each, words(each)) for each in AUDIENCES]
    note = words("needed, because something speaks against signing") if objections.doubts else ""
    comment = tag("textarea", fields["comment"], name="comment", id="comment", rows="3")
    replace_box = tag("input", type="checkbox", name="overwrite", value="yes", id="overwrite")
    return render_form(
        "write",
        render_fields(
            render_label(words("File"), _render_input("name", fields, required=True)),
            tag("label", replace_box, tag("span", words("Replace files of this name")), class_="box"),
        ),
        render_fields(
            render_label(words("Your name"), _render_input("person", fields, autocomplete="name")),
            render_label(words("Date"), _render_input("date", fields, type="date")),
            render_label(words("Who may receive it"), render_select("audience", audiences, fields["audience"])),
        ),
        render_label(words("Comment"), comment, note),
        tag("p", words(NO_SIGNATURE), class_="note"),
        *_render_buttons(desk, find_steps_left(desk, objections), words),
        seen=mark_of(outcome),
    )


def _render_buttons(desk: Desk, left: list[str], words: PageWords) -> tuple[Html | None, Html]:
    """Render the buttons; if something is left to do before signing, one is grey, and above them stands why."""
    reasons = tag("ul", *(tag("li", words(each)) for each in left), id="why-grey")
    why = tag("div", tag("p", words("The button is grey because this is left to do:")), reasons, class_="told")
    sign = render_button(
        words("Write, verify and sign"),
        name="sign",
        value="yes",
        id="sign",
        class_="main",
        disabled=bool(left),
        **({"aria_describedby": "why-grey"} if left else {}),
    )
    write = render_button(words("Write without signing"), disabled=desk.is_stale, class_="quiet")
    # Enter presses the first button: grey, it does nothing.
    return why if left else None, tag("div", sign, write, class_="buttons")


def _render_transcript(desk: Desk, words: PageWords) -> Html | None:
    """Render the hash of all that an assistant was told until now; it is signed with the release."""
    head = desk.transcript_head()
    if not head:
        return None
    said = words("An assistant worked on this policy. What it has seen until now has the hash:")
    return tag("p", said, " ", tag("code", head), class_="note")


def _render_input(name: str, fields: Mapping[str, str], **attributes: str | bool) -> Html:
    shared = {"autocomplete": "off", "spellcheck": "false", **attributes}
    return tag("input", name=name, value=fields[name], id=name, **shared)


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
