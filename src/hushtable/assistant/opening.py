"""From a command line to a session: the table, the terms, the state folder and the policy in force."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from hushtable.assistant.memory import (
    MOST_VERDICTS,
    default_state_folder,
    find_sheet,
    make_private_folder,
    open_memory,
    open_shelf,
)
from hushtable.assistant.page_door import PageDoor
from hushtable.assistant.plain_values import Json
from hushtable.assistant.quoting import NamesShown
from hushtable.assistant.session import AssistantSession
from hushtable.assistant.source import AssistantSource, AssistantTerms, read_source
from hushtable.assistant.verdicts import BITS
from hushtable.errors import InputError
from hushtable.io import drafts
from hushtable.policy import Policy

FORMAT: Final = 1
"""The version of transcripts."""

_POLICY_NAME: Final = "assistant.policy.yaml"
_WITHHELD_ROLES: Final = ("identifier", "sensitive")


@dataclass(frozen=True, slots=True)
class AssistantOptions:
    """What a person types who starts a server.

    Attributes
    ----------
    table : path
    policy : path, optional
        The file to work on; else one in the state folder, as a scan proposes it.
    person : str, optional
        The column that says whose record a row is; ``""`` if every row is another person's, None if nobody says so.
    names : {"known", "all", "none"}
        Which names of columns are shown.
    state : path, optional
    """

    table: Path
    policy: Path | None = None
    person: str | None = None
    names: NamesShown = "known"
    state: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTable:
    """A session with what stands behind it."""

    session: AssistantSession
    door: PageDoor
    state: Path
    has_given_policy: bool

    def header(self, *, has_page: bool) -> Mapping[str, Json]:
        """Return the first line of a transcript: all that decides the answers, and a number that nobody guesses."""
        session = self.session
        taken, asked = session.memory.list_questions()
        return {
            "format": FORMAT,
            "hushtable": version("hushtable"),
            "mcp": version("mcp"),
            "nonce": secrets.token_hex(16),
            "source": session.source.digest,
            "has_given_policy": self.has_given_policy,
            "has_page": has_page,
            "terms": session.terms.to_dict(),
            "sheet": session.sheet.to_dict(),
            "verdicts": {"most": MOST_VERDICTS, "bits": BITS, "taken": taken, "asked": list(asked)},
            "state": session.state.to_dict(),
        }


def open_session(options: AssistantOptions) -> OpenedTable:
    """Read the table, and find what was remembered of it; InputError where the options do not go together."""
    given = None if options.policy is None else Policy.read(options.policy)
    table = Path(options.table).absolute()
    source = read_source(table, given)
    if given is not None:
        given.check_covers(source.frame.columns)
    state = make_private_folder((options.state or default_state_folder()).absolute())
    shelf = open_shelf(state, source)
    terms = _find_terms(options, source, given)
    policy_file = options.policy.absolute() if options.policy else _write_policy(shelf.folder.parent, source, options)
    door = PageDoor(table, policy_file, shelf)
    sheet, memory = find_sheet(state, source, terms), open_memory(state, source, terms)
    session = AssistantSession(source, terms, sheet, memory, shelf, door.read_state())
    return OpenedTable(session, door, state, given is not None)


def _find_terms(options: AssistantOptions, source: AssistantSource, given: Policy | None) -> AssistantTerms:
    if given is None:
        person = source.alias_of(options.person) if options.person else options.person
        return AssistantTerms(person, options.names)
    if options.person is not None and (options.person or None) != given.person:
        raise InputError(
            "the policy says of other persons whose record a row is.", hint="write `person: COLUMN` into the policy."
        )
    person = source.alias_of(given.person) if given.person else options.person
    withheld = [alias for alias, name in source.aliases.items() if given.columns[name].role in _WITHHELD_ROLES]
    return AssistantTerms(person, options.names, tuple(withheld))


def _write_policy(folder: Path, source: AssistantSource, options: AssistantOptions) -> Path:
    """Write the policy that a scan proposes, unless it is there; it counts the persons who were declared."""
    path = folder / _POLICY_NAME
    policy, text = (Policy.read(path), None) if path.exists() else (source.proposal, source.proposed_text)
    if options.person is not None and (options.person or None) != policy.person:
        text = policy.with_entries({("person",): options.person or None}).to_yaml()
    if text is not None:
        with drafts.replace_files(path, internal=(path,), overwrite=True) as (draft,):
            draft.write_text(text, encoding="utf-8", newline="\n")
    return path
