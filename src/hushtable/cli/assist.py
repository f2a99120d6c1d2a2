"""assist: a server by which an AI assistant works on a table and sees nobody; and its transcripts, judged."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hushtable.cli.groups import argument, field, option
from hushtable.cli.terminal import exit_with_code, print_json, print_lines, print_to_stderr, show_step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.assistant import AssistantOptions


@dataclass(frozen=True)
class AssistantServing:
    """What the assistant learns, and where that is kept."""

    person: str | None = field(None, "Column that says whose record a row is.", metavar="COLUMN")
    one_record: bool = field(False, "Declare that every row is another person's.", "--one-record")
    names: str = field(
        "known",
        "Which column names the assistant reads: known (of known words), all or none.",
        metavar="known|all|none",
    )
    state: Path | None = field(
        None, "Folder for transcripts and answers. Keep it away from the assistant.", metavar="FOLDER"
    )
    no_page: bool = field(False, "Offer no page: nobody can sign, as in CI.", "--no-page")

    def options(self, table: Path, policy: Path | None) -> AssistantOptions:
        """Return the options of the server."""
        from hushtable.assistant import AssistantOptions

        if self.names not in ("known", "all", "none"):
            raise InputError(f"--names {self.names!r}.", hint="choose among known, all, none.")
        if self.person is not None and self.one_record:
            raise InputError("--person and --one-record say two things.", hint="pass one of them.")
        person = "" if self.one_record else self.person
        return AssistantOptions(table, policy, person, self.names, self.state)  # type: ignore[arg-type]  # just checked


def assist(
    serving: AssistantServing,
    file: Annotated[Path | None, argument("FILE", "Table to work on: CSV (also .gz), Parquet or Excel.")] = None,
    policy: Annotated[
        Path | None, option("Policy file to work on. Default: one in the state folder.", "--policy", "-p")
    ] = None,
    skill: Annotated[
        Path | None, option("Write the skill text into this folder of skills, and serve nothing.", metavar="FOLDER")
    ] = None,
) -> None:
    """Serve an AI assistant (MCP, on standard input and output) that works on the policy of a table and sees nobody.

    An assistant that has a shell can read the file itself: give it none. Needs the package mcp.
    """
    _check_extra()
    from hushtable.assistant import (
        claim_pipes,
        new_transcript,
        open_session,
        run_session,
        write_skill,
    )

    if skill is not None:
        print_lines(f"Wrote {write_skill(skill)}.")
        return
    if file is None:
        raise InputError("no table was named.", hint="write hushtable assist people.csv.")
    opened, has_page = open_session(serving.options(file, policy)), not serving.no_page
    transcript = new_transcript(opened, has_page=has_page)
    taken, _ = opened.session.memory.list_questions()
    print_to_stderr(f"Serving. The transcript is {transcript.path}. Verdicts used before: {taken} of 50.")
    if opened.session.memory.has_other_sources():
        print_to_stderr(
            "careful: another table of the same columns was asked about. If the same people are in both, answers about "
            "the two tell more together."
        )
    run_session(opened, transcript, claim_pipes(), has_page=has_page)


def _check_extra() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise InputError("the server needs the package mcp.", hint='pip install "hushtable[assistant]".')


def judge_transcript(transcript: Path, original: Path | None, *, as_json: bool) -> None:
    """Replay a transcript against its table, and exit with 1 if a byte of it does not follow."""
    _check_extra()
    from hushtable.assistant import verify_transcript

    if original is None:
        raise InputError("the table of the transcript was not given.", hint="pass it with --original.")
    with show_step("replaying"):
        verdict = verify_transcript(transcript, original)
    with exit_with_code(0 if verdict.passed else 1):
        if as_json:
            print_json(verdict.to_dict())
        else:
            print_lines(*verdict.facts)
