"""scan: what a table holds, and a policy to start from."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from hushtable.cli.arguments import AsJson, InFile, ReadingOptions, place_of
from hushtable.cli.groups import option
from hushtable.cli.limits import exit_on_failures, fail_above, judge_figures, limits_of, scan_figures
from hushtable.cli.protect import origin_of
from hushtable.cli.summary import describe_joint_keys, describe_risk, format_roles
from hushtable.cli.terminal import print_json, print_lines, print_to_stderr, show_step
from hushtable.errors import InputError, quote_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hushtable.columns import OddCells
    from hushtable.discover import Roles
    from hushtable.io import Frame
    from hushtable.risk import Keys

_KEY_SIZE: Final = 3  # columns of a joint key: few people know more than these
_KEY_CELLS: Final = 100_000_000  # rows times column sets that the search for joint keys may look at
_SCAN_FIGURES: Final = ("rate", "highest", "average")


def scan(
    file: InFile,
    reading: ReadingOptions,
    policy: Annotated[Path | None, option("Write a policy to start from.", "--write-policy", "-p")] = None,
    k: Annotated[int, option("k of the written policy.", min=1)] = 5,
    words: Annotated[Path | None, option("File of further column names, a line `word<TAB>topic` each.")] = None,
    persons: Annotated[
        bool | None, option("Say whether each row is about a person. Default: detected.", "--persons/--no-persons")
    ] = None,
    fail: Annotated[list[str] | None, fail_above(_SCAN_FIGURES)] = None,
    as_json: AsJson = False,
) -> None:
    """Propose a role for every column, measure the risk, and write a policy to start from."""
    from hushtable.discover import find_quasi_identifiers
    from hushtable.risk.assess import assess

    limits = limits_of(fail, _SCAN_FIGURES)
    if policy is not None:
        _check_policy(policy, file)
    with show_step("reading"):
        origin = origin_of(file, "auto", reading.dialect())
        frame = reading.table(file) if origin is None else origin.head()
        frame, odd = frame.without_odd_cells()
        frame = frame.with_learned_specs()
    if origin is not None:
        print_to_stderr(f"Not read into memory: what follows is of its first {frame.n_rows:,} rows.")
    with show_step("looking at columns and classes"):
        roles = find_quasi_identifiers(frame, words=words, of_persons=persons)
        sensitive = [name for name, role in roles.roles.items() if role == "sensitive"]
        # A column whose role is still to be decided counts as a quasi-identifier: the careful answer.
        knowable = [name for name, role in roles.roles.items() if role in ("quasi-identifier", "ask")]
        # Free text makes every record unique; it is better left out. If there is nothing else, it stays.
        knowable = [name for name in knowable if name not in roles.prose] or knowable
        odd = {name: each for name, each in odd.items() if roles.roles[name] != "identifier"}
        if odd:
            from hushtable.io import warn_of_odd_cells

            warn_of_odd_cells(odd)
        assessed = assess(frame, quasi_identifiers=knowable, sensitive=sensitive, person=roles.person)
        risk = assessed.to_dict()
        joint = _joint_keys(frame, knowable)
    failed = judge_figures(scan_figures(risk), limits)
    with exit_on_failures(failed or ()):
        if as_json:
            judged = {} if failed is None else {"failed_above": failed}
            read = {"read": frame.dialect.to_dict()} if frame.is_text else {}
            key_entries = {} if joint is None else {"keys": {**joint.summary(), "top": joint.easiest_key_rows()}}
            print_json({"file": file.name, **read, **roles.to_dict(), "risk": risk, **key_entries, **judged})
        else:
            lines = [] if joint is None or not roles.of_persons else describe_joint_keys(joint)
            print_lines(*format_roles(roles), *describe_risk(assessed, roles), *lines)
        if policy is not None:
            _propose_policy(policy, file, frame, roles, knowable, odd, k)


def _joint_keys(frame: Frame, knowable: list[str]) -> Keys | None:
    """Search for a key of few columns, within a budget that keeps it about as fast as the rest of the scan."""
    from hushtable.risk import minimal_keys
    from hushtable.search import Budget

    if not knowable or not frame.n_rows:
        return None
    budget = Budget(nodes=max(1, _KEY_CELLS // frame.n_rows))
    return minimal_keys(frame, knowable, max_size=min(_KEY_SIZE, len(knowable)), budget=budget)


def _propose_policy(
    policy: Path, file: Path, frame: Frame, roles: Roles, knowable: list[str], odd: Mapping[str, OddCells], k: int
) -> None:
    """Write a policy to start from; print what to decide in it, or the next command."""
    from hushtable.policy import Policy, propose_policy

    doubts = {name: frame.doubts(name) for name in knowable}
    # If one format fits, nobody has to choose: the policy proposes the century of two-digit years.
    undated = [name for name, (formats, marks) in doubts.items() if len(formats) > 1 or marks]
    run = None if undated or not knowable or roles.prose else _next_command(file, str(file), policy, roles)
    propose = partial(propose_policy, frame, roles, k=k, source=file.name, undecided=odd)
    text = propose(run=run)
    columns = Policy.parse(text).columns if knowable and odd else {}
    to_decide = [name for name, column in columns.items() if column.odd_cells == "refuse"]
    if to_decide and run is not None:
        run, text = None, propose(run=None)
    _write_policy(policy, text)
    then = ", then:" if run else "."
    if roles.prose:
        then = f". First decide about the free text in {quote_names(roles.prose)}: leave it out (role identifier)."
    if undated:
        then = f". First say what the dates or numbers of {quote_names(undated)} mean: the policy names the candidates."
    elif to_decide:
        then = f". First say what the odd cells of {quote_names(to_decide)} are (odd_cells): missing, or text."
    # The policy is passed on, so its command has no database user and no query; this one repeats what was typed.
    typed = _next_command(file, getattr(file, "url", str(file)), policy, roles)
    print_to_stderr("", f"Wrote {policy}. Check every role in it{then}", *([f"  {typed}"] if run else []))


def _next_command(file: Path, file_name: str, policy: Path, roles: Roles) -> str:
    """Return the next command after a scan; its output goes to this folder, as the input's may be read-only."""
    from hushtable.io import FILE_KINDS

    suffix = file.suffix.lower()
    ending = ".parquet" if suffix == ".pq" else suffix if FILE_KINDS.get(suffix, "csv") != "csv" else ".csv"
    stem = file.name.partition(".")[0] if file.name != "-" else "table"
    table = f"./{file_name}" if file_name.startswith("-") and file_name != "-" else file_name
    # A folder is released as a folder: its name has no ending.
    output = f"{stem.lstrip('-') or 'table'}{'_release' if file.is_dir() else f'.release{ending}'}"
    run = ["hushtable", "anonymize", table, "-p", str(policy), "-o", output]
    return shlex.join([*run, *(["--ask", "quasi-identifier"] if roles.ask else [])])


def _check_policy(path: Path, file: Path) -> None:
    from hushtable.io import drafts

    drafts.check_outputs((path,), (place_of(file),), overwrite=True)
    if path.exists():
        raise InputError(
            f"{str(path)!r} exists.", hint="name another file, or remove it: a policy is never overwritten."
        )


def _write_policy(path: Path, text: str) -> None:
    from hushtable.io import drafts
    from hushtable.policy import SCHEMA_FILE

    # No URL of a published schema is known, so an editor is pointed to a schema beside the policy.
    known = f"# yaml-language-server: $schema={SCHEMA_FILE}\n" if (path.parent / SCHEMA_FILE).is_file() else ""
    with drafts.replace_files(path) as (draft,):
        draft.write_text(known + text, encoding="utf-8")
