"""What somebody who may not decide suggests to the person at the page, such as an AI assistant."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import ndiff
from typing import Final, Literal

from hushtable.page.desk import Desk
from hushtable.page.markup import Html, tag
from hushtable.page.parts import render_button, render_form
from hushtable.page.words import PageWords
from hushtable.policy import Policy

_MAX_TEXT: Final = 200  # characters of a text of others


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change of the policy that waits for a person.

    Attributes
    ----------
    key : str
        Its name among all.
    what : {"policy", "role", "accept", "groups"}
    column : str
        Empty of a whole policy.
    text : str
        The role, or the reason why a column may stay as it is.
    policy : Policy, optional
        The whole policy.
    groups : tuple of (label, values)
    """

    key: str
    what: Literal["policy", "role", "accept", "groups"]
    column: str = ""
    text: str = ""
    policy: Policy | None = field(default=None, repr=False)
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()


def render_suggestions(desk: Desk, words: PageWords, screen: str) -> Html | None:
    """Render what waits for an answer, the texts of others as quoted claims."""
    waiting = [each for each in desk.suggestions.values() if each.key not in desk.suggestion_answers]
    if not waiting or desk.looked is None:
        return None
    items = [
        tag(
            "li",
            *_describe(each, desk.policy, words),
            render_form(
                "suggestion",
                render_button(words("Accept"), name="answer", value="accepted"),
                render_button(words("Refuse"), name="answer", value="refused", class_="quiet"),
                key=each.key,
                screen=screen,
            ),
        )
        for each in waiting
    ]
    title = tag("h2", words("An assistant suggests"), id="suggestions")
    note = words("It has seen no record. Nothing of this is done before you accept it.")
    return tag("section", title, tag("p", note), tag("ul", *items), class_="told", aria_labelledby="suggestions")


def _describe(suggestion: Suggestion, in_force: Policy | None, words: PageWords) -> list[Html | None]:
    name, text = suggestion.column, clean_text(suggestion.text)
    if suggestion.what == "policy" and suggestion.policy is not None:
        said = words("Work on with this policy, and sign what it leads to.")
        marks = words("Lines with + are new, and lines with - are taken out of the policy as it stands.")
        return [tag("p", said, " ", marks), _render_changes(in_force, suggestion.policy)]
    if suggestion.what == "role":
        return [tag("p", words("Give column {name} the role {role}: more of it is published.", name=name, role=text))]
    if suggestion.what == "accept":
        said = words("Keep column {name} as it is. The assistant claims, without having seen it:", name=name)
        return [tag("p", said), tag("blockquote", text)]
    lines = [
        tag("li", f"{clean_text(label)}: {', '.join(map(clean_text, values))}") for label, values in suggestion.groups
    ]
    return [tag("p", words("Put values of column {name} into these groups.", name=name)), tag("ul", *lines)]


def _render_changes(in_force: Policy | None, policy: Policy) -> Html:
    """Render a policy with marks at what it changes: a person may have changed more since it was suggested."""
    before = "" if in_force is None else in_force.to_yaml()
    lines = [line for line in ndiff(before.splitlines(), policy.to_yaml().splitlines()) if not line.startswith("?")]
    return tag("pre", tag("code", "\n".join(lines)), tabindex="0")


def clean_text(text: str) -> str:
    """Return a text of others on one line, printable and short."""
    return "".join(each if each.isprintable() else " " for each in text)[:_MAX_TEXT]
