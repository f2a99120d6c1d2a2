"""The state that one person works on: a table, its policy with a history, and the outcome."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable import engines
from hushtable._types import CodeArray
from hushtable.columns import ColumnSpec, OddCells
from hushtable.discover import ProposedRole, Roles, find_quasi_identifiers
from hushtable.errors import ColumnError, HushError, InputError, PolicyError
from hushtable.hierarchy import Hierarchy
from hushtable.io import Frame, Snapshot, frames
from hushtable.page.jobs import Jobs, PageJob
from hushtable.page.outcome import (
    CodedCells,
    PolicyOutcome,
    SaidSection,
    column_entries,
    encode_column,
    fewest_people,
    find_outcome,
    largest_k,
    render_in_languages,
)
from hushtable.page.row_guard import has_ends_of_data, shows_ends_of_data, values_named_in
from hushtable.page.versions import PolicyVersions
from hushtable.policy import (
    Advice,
    AdvisedChange,
    Comparison,
    Policy,
    compare,
    find_likely_missing_codes,
    propose_policy,
)
from hushtable.release import SignOff
from hushtable.reporting import (
    SharedText,
    find_shared_texts,
    persons_of_rows,
    report,
)
from hushtable.risk.assess import assess

if TYPE_CHECKING:
    from hushtable.page.suggestions import Suggestion

REMOVED_ROLES: Final = ("identifier", "leave out")
"""Roles whose cells are not published as they are."""

DEFAULT_K: Final = 5
"""What k is proposed."""

_MAX_VALUES: Final = 20_000  # values of a column that is shown: of more, hardly one is shared by enough people
_POLICY_NAME: Final = "policy.yaml"


@dataclass(frozen=True, slots=True, eq=False)
class FirstLook:
    """A table as it was read, with proposed roles and its risk.

    Attributes
    ----------
    path : path
    frame : Frame
        As the command reads it.
    typed_frame : Frame
        The same with the kinds that its texts tell.
    roles : Roles
        What was proposed.
    risk : str
        The first section of the risk's report, as HTML.
    snapshot : Snapshot
        Of the file, when it was read.
    odd_cells : mapping of column to OddCells
        Cells that are not of the kind of nearly all others, of which nobody had decided.
    missing_codes : mapping of column to (mapping of str to int)
        Likely codes of missing values, and their records.
    """

    path: Path
    frame: Frame = field(repr=False)
    typed_frame: Frame = field(repr=False)
    roles: Roles = field(repr=False)
    risk: SaidSection = field(repr=False)
    snapshot: Snapshot = field(repr=False)
    odd_cells: Mapping[str, OddCells] = field(repr=False)
    missing_codes: Mapping[str, Mapping[str, int]] = field(repr=False)

    def proposal_of(self, name: str) -> ProposedRole:
        """Return what was proposed of a column."""
        return next(each for each in self.roles.columns if each.name == name)


@dataclass(frozen=True, slots=True)
class ReleaseOnDisk:
    """What was written, whether it was verified from the file alone, who signed it, and what spoke against that."""

    text: str
    files: tuple[Path, ...]
    is_verified: bool
    signed: SignOff | None = None
    doubts: tuple[str, ...] = ()


class Desk:
    """The state of the page: whoever opens it, in however many tabs, sees the same.

    Parameters
    ----------
    folder : path
        Nothing outside is opened or written.
    anywhere : bool
        Other folders may be typed.
    policy : path, optional
        The file of the policy; else ``policy.yaml`` beside the table.
    key : bytes, optional
        The secret of keyed pseudonyms.
    key_file : path, optional
        Where it stands, for the command that is shown.
    of_fault : callable, optional
        Says in words what an error is that is none of ours.
    """

    def __init__(
        self,
        folder: Path,
        *,
        anywhere: bool = False,
        policy: Path | None = None,
        key: bytes | None = None,
        key_file: Path | None = None,
        of_fault: Callable[[BaseException], str] = lambda error: f"a fault of hushtable: {type(error).__name__}",
    ) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.anywhere = anywhere
        self.key = key
        self.key_file = key_file
        self.lock = RLock()
        self.jobs = Jobs(of_fault)
        self.looked: FirstLook | None = None
        self.versions: PolicyVersions | None = None
        self.policy: Policy | None = None
        self.policy_text = ""
        self.policy_fault = ""
        self.outcome: PolicyOutcome | None = None
        self.comparison: Comparison | None = None
        self.curve: SaidSection = {}
        self.advice: tuple[str, Advice] | None = None  # the policy that it is on, and the advice
        self.target = ""
        self.written: ReleaseOnDisk | None = None
        self.fault = ""
        self.fault_of = ""  # the job that it is of
        self.suggestions: dict[str, Suggestion] = {}  # of those who may not decide
        self.suggestion_answers: dict[str, str] = {}
        self.transcript_head: Callable[[], str] = str  # of a session with an assistant; empty without one
        self.visited: dict[str, str] = {}  # the policy with which each screen was last seen
        self.version = 0
        self.language = ""
        self._policy_file = policy
        self.proposal: Mapping[str, Any] = {}  # the entries of columns that were proposed
        self._halted: dict[str, str] = {}  # policies whose search was stopped, or their errors
        self._sought = ""
        self._coded: dict[tuple[str, str], CodedCells] = {}
        self._ladders: dict[tuple[str, str], Hierarchy] = {}
        self._shared: dict[tuple[Any, ...], tuple[list[SharedText], int]] = {}
        self.code_counts: dict[tuple[str, str, str | None], tuple[int, int]] = {}  # records and people of a code
        # What is published of a column, with the outcome and the policy that it was asked of.
        self._published: dict[str, tuple[tuple[str, str, str], tuple[list[SharedText], int]]] = {}
        self._persons: tuple[str | None, CodeArray | None] | None = None

    @property
    def k(self) -> int:
        """The largest k that the policy asks for."""
        return 1 if self.policy is None else largest_k(self.policy)

    @property
    def min_people(self) -> int:
        """How many people must share a cell that is shown."""
        return fewest_people(self.rules())

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to decide."""
        if self.policy is None:
            return False
        try:
            self.policy.check_decided()
        except PolicyError:
            return False
        return not self.undecided_odd_cells

    @property
    def undecided_odd_cells(self) -> list[str]:
        """The columns whose odd cells are undecided, without columns that are left out."""
        if self.looked is None or self.policy is None:
            return []
        columns = self.policy.columns
        of_policy = [
            name for name in self.looked.odd_cells if name in columns and columns[name].role not in REMOVED_ROLES
        ]
        return [name for name in of_policy if columns[name].odd_cells in (None, "refuse")]

    @property
    def is_stale(self) -> bool:
        """Whether the last outcome is of an earlier policy."""
        return self.outcome is None or self.outcome.text != self.policy_text

    @property
    def halt(self) -> str | None:
        """Why the search for this policy does not go on: its error, nothing if it was stopped; None if it goes on."""
        return self._halted.get(self.policy_text) if self.is_stale and not self.jobs.is_busy else None

    def table(self) -> FirstLook:
        """Return the table; InputError where none is open."""
        if self.looked is None:
            raise InputError("no table is open.", hint="open one first.")
        return self.looked

    def rules(self) -> Policy:
        """Return the policy; InputError where there is none."""
        self.table()
        if self.policy is None:
            raise InputError("there is no policy.", hint="open a table first.")
        return self.policy

    def column_at(self, position: int) -> str:
        """Return the name of a column by its position; forms hold no names, which may hold any characters."""
        names = self.table().typed_frame.columns
        if not 0 <= position < len(names):
            raise InputError(f"no column {position}.", hint=f"the table has {len(names)}.")
        return names[position]

    def resolve_path(self, typed: str | Path, base: Path | None = None) -> Path:
        """Return the path that was typed; InputError if it is outside the folder.

        Raises
        ------
        InputError
            The path is empty or outside, links followed.
        """
        if not str(typed).strip() or "\0" in str(typed):
            raise InputError("no file was named.", hint="type its name.")
        path = Path(os.path.normpath((base or self.folder) / typed))
        if not self.anywhere:
            home = self.folder
            place = Path(os.path.realpath(path))
            if home not in (place, *place.parents):
                raise InputError(
                    f"{str(typed)!r} is outside the folder that hushtable was started in.",
                    hint="start it there, or with --anywhere.",
                )
        return path

    def open_table(self, typed: str | Path) -> None:
        """Read a table, as a job."""
        path = self.resolve_path(typed)
        try:
            is_there = path.is_file()
        except (OSError, ValueError):
            is_there = False
        if not is_there:
            raise InputError(f"there is no file {str(typed)!r}.", hint="look at the name.")
        self.fault = ""
        self.jobs.start("reading", lambda job: self._read_table(job, path), self._store_table)

    def change_policy(self, policy: Policy) -> None:
        """Write a changed policy, and start the search for its outcome."""
        self._check_inputs(policy)
        assert self.versions is not None
        self.fault, text = "", policy.to_yaml()
        if text != self.versions.text:
            self.versions.write_state(text)
        self.reread_policy()
        self.start_search()

    def step_in_history(self, by: int) -> None:
        """Go back or forward in the policy's history."""
        self.table()
        assert self.versions is not None
        self.fault = ""
        self.versions.go_to_step(self.versions.at + by)
        self.reread_policy()
        self.start_search()

    def reread_policy(self) -> None:
        """Read the policy's file again, if it was changed by hand."""
        if self.versions is None or (text := self.versions.text) is None or text == self.policy_text:
            return
        self.policy_text, self.policy_fault = text, ""
        self.version += 1
        self._persons = None
        try:
            self.policy = self._parse_policy(text)
        except HushError as error:
            self.policy_fault = str(error)
            return
        if self.versions.read_step(self.versions.at) != text:
            try:
                self.versions.record_state(text)
            except OSError as error:
                self.policy_fault = f"the history of the policy cannot be written: {error.strerror}."

    def start_search(self) -> None:
        """Start the search for the policy's outcome, unless it is known."""
        if self.looked is None or not self.is_decided or self.policy_fault or not self.is_stale:
            return
        if self.policy_text in self._halted:
            return
        policy, text, job = self.rules(), self.policy_text, self.jobs.job
        # A search for an earlier policy is useless now and is stopped; other jobs end first.
        if self.jobs.is_busy and job is not None and (job.name != "protecting" or self._sought == text):
            return
        self._sought = text

        def work(job: PageJob) -> PolicyOutcome:
            frame, typed = self._read_frame(policy), self.table().typed_frame
            return find_outcome(job, policy, text, frame, typed_frame=typed, coded=self._coded, key=self.key)

        self.jobs.start("protecting", work, self._outcome_callback(text))

    def suggest(self, suggestion: Suggestion) -> None:
        """Put a suggestion before the person at the page."""
        with self.lock:
            self.suggestions.setdefault(suggestion.key, suggestion)
            self.version += 1

    def start_comparison(self, ks: Sequence[int], shares: Sequence[float], methods: Sequence[str]) -> None:
        """Compare the policy with other settings, as a job."""
        policy = self.rules()
        policy.check_decided()
        self.fault = ""

        def work(job: PageJob) -> tuple[Comparison, SaidSection]:
            frame = self._read_frame(policy)
            key = self.key if policy.is_keyed else None
            progress = job.progress_of_part(0.0, 0.95)
            found = compare(frame, policy, k=ks, suppression=shares, method=methods or None, key=key, progress=progress)
            told = report(found)
            first, runs = told.sections[0], told.section("runs")
            return found, render_in_languages(replace(runs, blocks=(*first.blocks, *runs.blocks)))

        def done(job: PageJob, made: tuple[Comparison, SaidSection] | None) -> None:
            with self.lock:
                if made is not None:
                    self.comparison, self.curve = made
                self.finish_job(job)

        self.jobs.start("comparing", work, done)

    def start_advice(self) -> None:
        """Search for the changes of the policy that would bring most back, as a job."""
        policy, text = self.rules(), self.policy_text
        policy.check_decided()
        self.fault = ""

        def work(job: PageJob) -> tuple[str, Advice]:
            return text, policy.advise(self._read_frame(policy), progress=job.progress_of_part(0.0, 1.0))

        def done(job: PageJob, made: tuple[str, Advice] | None) -> None:
            with self.lock:
                self.advice = made or self.advice
                self.finish_job(job)

        self.jobs.start("advising", work, done)

    def find_advised_changes(self) -> tuple[AdvisedChange, ...]:
        """Return the changes that were tried of the policy as it stands, those without a figure left out."""
        if self.advice is None or self.advice[0] != self.policy_text:
            return ()
        return tuple(change for change in self.advice[1].changes if change.after is not None)

    def train_models(self, name: str) -> None:
        """Train models of a target on the release and on the original, as a job."""
        outcome = self.current_outcome()

        def done(job: PageJob, made: str | None) -> None:
            with self.lock:
                self.target = made or self.target
                self.finish_job(job)

        def work(_: PageJob) -> str:
            found = outcome.release.utility(name).target
            return "" if found is None else f"{found.sentence}."

        self.jobs.start("predicting", work, done)

    def current_outcome(self) -> PolicyOutcome:
        """Return the policy's outcome; InputError if it is unknown."""
        if self.outcome is None or self.is_stale:
            raise InputError(
                "it is not known yet what the policy leads to.",
                hint="wait for the end of the search, or change the policy.",
            )
        return self.outcome

    def stop_job(self) -> None:
        """Stop the current job; a stopped search starts again only when the policy changes."""
        if self.jobs.job is not None and self.jobs.job.name == "protecting":
            self._halted[self.policy_text] = ""
        self.jobs.stop()

    def restart_search(self) -> None:
        """Start again a search that was stopped or failed."""
        self._halted.pop(self.policy_text, None)
        self.start_search()

    def release_name(self) -> str:
        """Return the default name of the release."""
        path = self.table().path
        ending = ".parquet" if path.suffix.lower() in (".parquet", ".pq") else ".csv"
        return f"{path.name.partition('.')[0] or 'table'}.release{ending}"

    def command(self, output: Path | None = None) -> str:
        """Return the command that repeats what was clicked, for the folder that hushtable was started in."""
        assert self.versions is not None
        path = self.table().path
        output = output or path.with_name(self.release_name())
        parts = [
            "anonymize",
            self.relative_path(path),
            "-p",
            self.relative_path(self.versions.file),
            "-o",
            self.relative_path(output),
        ]
        key = ["--key-file", self.relative_path(self.key_file)] if self.key_file and self.rules().is_keyed else []
        return shlex.join(["hushtable", *parts, *key])

    def relative_path(self, path: Path) -> str:
        """Return a path as seen from the folder that hushtable was started in."""
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else str(path)

    def column_values(self, name: str) -> CodedCells | None:
        """Return the values of a column, read by the policy; None if there are too many to show."""
        looked = self.table()
        spec = self.rules().columns[name].spec
        key = (name, repr(spec))
        if key not in self._coded:
            proposal = looked.proposal_of(name)
            found = _encode_shown_column(looked.typed_frame, proposal, spec)
            if found is None:
                return None
            self._coded[key] = found
        return self._coded[key]

    def find_shared_cells(self, name: str) -> tuple[list[SharedText], int] | None:
        """Return the cells of a column that enough people share; None if no cells may be shown."""
        coded = self.column_values(name)
        if coded is None or self.rules().columns[name].role in REMOVED_ROLES:
            return None
        return self._find_shared_texts(name, coded)

    def _find_shared_texts(self, name: str, coded: CodedCells) -> tuple[list[SharedText], int]:
        """Return the cells of a column that enough people share, counted once."""
        policy = self.rules()
        key = (name, repr(policy.columns[name].spec), policy.person, self.min_people)
        if key not in self._shared:
            texts, records = coded.column.texts(), self.table().typed_frame.records
            self._shared[key] = find_shared_texts(
                coded.codes, texts, records, self.persons_of_rows(), min_people=self.min_people
            )
        return self._shared[key]

    def ladder(self, name: str) -> Hierarchy | None:
        """Return the hierarchy of a column; None if none was chosen, or there are too many values to show."""
        entry, coded = self.rules().hierarchies().get(name), self.column_values(name)
        if entry is None or coded is None:
            return None
        state = str(os.stat(entry).st_mtime_ns) if isinstance(entry, Path) and entry.is_file() else ""
        key = (name, f"{entry!r} {state} {coded.column.kind}")
        if key not in self._ladders:
            counts = np.bincount(coded.codes[coded.codes >= 0], minlength=coded.column.n_values)
            unknown = self.rules().unknown
            self._ladders[key] = Hierarchy.build(entry, coded.column, counts.astype(np.int64), unknown=unknown)
        return self._ladders[key]

    def find_shared_groups(self, name: str, ladder: Hierarchy, level: int) -> tuple[list[SharedText], int]:
        """Return the groups of a level that enough people share, and the records of all others."""
        coded, records = self.column_values(name), self.table().typed_frame.records
        assert coded is not None
        codes = np.append(ladder.level_codes[level], np.int32(-1))[coded.codes].astype(np.int32)
        shared, n_others = find_shared_texts(
            codes, ladder.labels[level], records, self.persons_of_rows(), min_people=self.min_people
        )
        if level == 0:
            return shared, n_others
        sizes, with_ends = np.bincount(ladder.level_codes[level]), has_ends_of_data(ladder)
        few = self._find_rare_values(name)

        # A label that lists values, or ends at some that the data chose, would show what few people share; a group may
        # have the name of a value that is in it.
        def is_rare(text: str) -> bool:
            return not few.isdisjoint(values_named_in(text, with_ends=with_ends) - {text})

        return [
            each._replace(text=f"… ({sizes[each.code]})") if is_rare(each.text) else each for each in shared
        ], n_others

    def _find_rare_values(self, name: str) -> set[str]:
        """Return the values of a column that too few people share."""
        coded = self.column_values(name) or encode_column(
            self.table().typed_frame, name, self.rules().columns[name].spec
        )
        found, _ = self._find_shared_texts(name, coded)
        return set(coded.column.texts()) - {each.text for each in found}

    def find_published_cells(self, name: str) -> tuple[list[SharedText], int] | None:
        """Return what the last outcome publishes of a column, without labels that name what few people share."""
        known = None if self.outcome is None else self.outcome.labels.get(name)
        if self.outcome is None or known is None:
            return None
        key = name, self.outcome.text, self.policy_text
        if name not in self._published or self._published[name][0] != key:
            try:
                few = self._find_rare_values(name)
            except ColumnError:
                # It cannot be read as the policy says now.
                return None
            with_ends = shows_ends_of_data(self.outcome.release, name)
            labels = [(each, values_named_in(each.text, with_ends=with_ends)) for each in known[0]]
            shown = [each if few.isdisjoint(named) else each._replace(text="…") for each, named in labels]
            self._published[name] = key, (shown, known[1])
        return self._published[name][1]

    def persons_of_rows(self) -> CodeArray | None:
        """Return whose record each row is."""
        person = self.rules().person
        if self._persons is None or self._persons[0] != person:
            self._persons = person, persons_of_rows(self.table().typed_frame, person)
        return self._persons[1]

    def _read_frame(self, policy: Policy) -> Frame:
        """Return the table as the command reads it with a policy."""
        looked = self.table()
        dialect = policy.read_as.dialect
        return looked.frame if dialect == looked.frame.dialect else frames.read(looked.path, dialect=dialect)

    def finish_job(self, job: PageJob) -> None:
        """Note that a job is over, and begin what waited for its end."""
        job.is_over = True
        self.fault, self.fault_of = job.error, job.name
        self.version += 1
        if self.jobs.job is job:
            self.start_search()

    def _parse_policy(self, text: str) -> Policy:
        """Read a policy that fits the table and names no file outside."""
        assert self.versions is not None
        policy = Policy.parse(text, self.versions.file.name, self.versions.file.parent)
        self._check_inputs(policy)
        if self.looked is not None:
            policy.check_covers(self.looked.typed_frame.columns)
        return policy

    def _check_inputs(self, policy: Policy) -> None:
        for path in policy.inputs:
            self.resolve_path(path)

    def _read_table(
        self, job: PageJob, path: Path
    ) -> tuple[FirstLook, Path, str | None, Mapping[str, Any], dict[Any, Any]]:
        if engines.open_origin(path) is not None:
            raise InputError(
                f"{path.name!r} is too large for the memory of this page.",
                hint="the command reads it batch by batch: hushtable anonymize.",
            )
        file, existing = self._find_policy(path)
        snapshot = Snapshot.from_paths([path])
        frame = self._read_by_policy(path, existing)
        if existing is not None and self._policy_file is None and set(existing.columns) != set(frame.columns):
            # The policy is of another table: its file stays, and this table gets a policy of its own.
            file, existing = path.with_name(f"{path.stem}.{_POLICY_NAME}"), None
            existing = self._read_policy(file)
            frame = self._read_by_policy(path, existing)
        typed_frame, odd = frame.without_odd_cells()
        typed_frame = typed_frame.with_learned_specs()
        job.tell(0.3)
        roles = find_quasi_identifiers(typed_frame)
        job.tell(0.6)
        risk = self._render_risk(typed_frame, roles)
        job.tell(0.8)
        roles = with_open_question(roles)
        text = propose_policy(typed_frame, roles, k=DEFAULT_K, source=path.name, run=None, undecided=odd)
        proposed = Policy.parse(text)
        policy, cells_by_column = existing or proposed, {}
        for column in roles.columns:
            if column.name not in policy.columns or column.role == "identifier":
                continue
            spec = policy.columns[column.name].spec
            coded = _encode_shown_column(typed_frame, column, spec)
            if coded is not None:
                cells_by_column[column.name, repr(spec)] = coded
        codes = {column.name: find_likely_missing_codes(typed_frame, column) for column in roles.columns}
        looked = FirstLook(path, frame, typed_frame, roles, risk, snapshot, odd, codes)
        return looked, file, None if existing is not None else text, column_entries(proposed), cells_by_column

    def _read_by_policy(self, path: Path, policy: Policy | None) -> Frame:
        """Read a table as a policy says; as it is where the policy is of another table, spelled in another way."""
        if policy is None:
            return frames.read(path)
        try:
            return frames.read(path, dialect=policy.read_as.dialect)
        except HushError:
            frame = frames.read(path)
            if self._policy_file is not None or set(policy.columns) == set(frame.columns):
                raise
            return frame

    def _find_policy(self, path: Path) -> tuple[Path, Policy | None]:
        file = path.with_name(_POLICY_NAME) if self._policy_file is None else self.resolve_path(self._policy_file)
        return file, self._read_policy(file)

    def _read_policy(self, file: Path) -> Policy | None:
        if not file.is_file():
            return None
        policy = Policy.read(file)
        self._check_inputs(policy)
        return policy

    def _render_risk(self, frame: Frame, roles: Roles) -> SaidSection:
        """Render the risk that the command ``scan`` reports."""
        knowable = [name for name, role in roles.roles.items() if role in ("quasi-identifier", "ask")]
        knowable = [name for name in knowable if name not in roles.prose] or knowable
        if not knowable or not frame.n_rows:
            return {}
        sensitive = [name for name, role in roles.roles.items() if role == "sensitive"]
        risk = assess(frame, quasi_identifiers=knowable, sensitive=sensitive, person=roles.person)
        return render_in_languages(report(risk).sections[0])

    def _store_table(self, job: PageJob, made: Any) -> None:
        with self.lock:
            if made is not None:
                self.looked, file, text, self.proposal, self._coded = made
                self._ladders, self._shared, self._persons, self._halted, self.visited = {}, {}, None, {}, {}
                self.code_counts, self._published = {}, {}
                self.outcome = self.comparison = self.advice = self.written = self.policy = None
                self.policy_text = self.policy_fault = self.target = ""
                self.curve = {}
                try:
                    self.versions = PolicyVersions(file)
                    if text is not None:
                        self.versions.write_state(text)
                except (HushError, OSError) as error:
                    self.looked = self.versions = None
                    job.error = str(error)
                self.reread_policy()
                if self.policy is None and self.looked is not None:
                    job.error, self.looked, self.versions = self.policy_fault, None, None
                if self.looked is not None:
                    # Still within the job: the first screen shows these cells.
                    for name in self.looked.typed_frame.columns:
                        self.find_shared_cells(name)
            self.finish_job(job)

    def _outcome_callback(self, text: str) -> Callable[[PageJob, PolicyOutcome | None], None]:
        def done(job: PageJob, made: PolicyOutcome | None) -> None:
            with self.lock:
                if made is not None:
                    self.outcome, self.target = made, ""
                elif job.error:
                    self._halted[text] = job.error
                self.finish_job(job)

        return done


def with_open_question(roles: Roles) -> Roles:
    """Return roles of which a policy can be made: it needs a quasi-identifier, and without any, the user decides."""
    if any(each.role in ("quasi-identifier", "ask") for each in roles.columns):
        return roles
    asked = (replace(each, role="ask") if each.role == "other" else each for each in roles.columns)
    return replace(roles, columns=tuple(asked))


def _encode_shown_column(frame: Frame, proposal: ProposedRole, spec: ColumnSpec) -> CodedCells | None:
    """Encode a column; None if it has too many values to show, or the spec does not fit."""
    if not 0 < proposal.n_distinct <= _MAX_VALUES:
        return None
    try:
        return encode_column(frame, proposal.name, spec)
    except ColumnError:
        return None
