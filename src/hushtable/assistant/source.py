"""The table that an assistant works on, as a person named it: read once, with proposed roles, and under which terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from hushtable.assistant.plain_values import Json
from hushtable.assistant.quoting import NamesShown
from hushtable.columns import ColumnSpec
from hushtable.discover import ProposedRole, Roles, find_quasi_identifiers
from hushtable.errors import InputError
from hushtable.io import Frame, Snapshot, frames
from hushtable.page import with_open_question
from hushtable.policy import Policy, propose_policy
from hushtable.release import sha256

FEWEST_PERSONS: Final = 11
"""Persons of the smallest cell that is shown, as in reports for outsiders."""

MENU: Final = 1
"""The version of the menu and of the bands: another version may answer otherwise."""

_DEFAULT_K: Final = 5


@dataclass(frozen=True, slots=True)
class AssistantTerms:
    """What the person said who started the server; with the table it decides every answer.

    Attributes
    ----------
    person : str or None
        The alias of the column that says whose record a row is, ``""`` where every row is another person's; None where
        nobody said so.
    names : {"known", "all", "none"}
    withheld : tuple of str
        Aliases of columns whose values the policy hides, whatever was proposed.
    least : int
        The fewest persons of a value that is shown.
    """

    person: str | None = None
    names: NamesShown = "known"
    withheld: tuple[str, ...] = ()
    least: int = FEWEST_PERSONS

    def to_dict(self) -> dict[str, Json]:
        """Return the terms as plain values, with the version of the menu."""
        return {**asdict(self), "withheld": list(self.withheld), "menu": MENU}


@dataclass(frozen=True, eq=False)
class AssistantSource:
    """A table as it was read.

    Attributes
    ----------
    path : path
    digest : str
        SHA-256 of the file.
    frame : Frame
        As the command reads it.
    typed_frame : Frame
        The same without odd cells, with the kinds that its texts tell.
    roles : Roles
    odd_columns : tuple of str
        Columns with odd cells of which nobody has decided.
    """

    path: Path
    digest: str
    frame: Frame = field(repr=False)
    typed_frame: Frame = field(repr=False)
    roles: Roles = field(repr=False)
    odd_columns: tuple[str, ...] = field(repr=False)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """The name of the column of every alias: ``c01`` is the first."""
        width = max(2, len(str(len(self.frame.columns))))
        return {f"c{place:0{width}}": name for place, name in enumerate(self.frame.columns, start=1)}

    def alias_of(self, name: str) -> str:
        """Return the alias of a column; InputError if the table has none of that name."""
        found = [alias for alias, column in self.aliases.items() if column == name]
        if not found:
            raise InputError("the table has no column of the name that was given.", hint="look at its header.")
        return found[0]

    def proposal_of(self, name: str) -> ProposedRole:
        """Return what was proposed of a column."""
        return next(each for each in self.roles.columns if each.name == name)

    @cached_property
    def proposal(self) -> Policy:
        """The policy that a scan proposes."""
        return Policy.parse(self.proposed_text)

    @cached_property
    def proposed_text(self) -> str:
        """The file of the policy that a scan proposes."""
        odd = {name: each for name in self.odd_columns if (each := self.frame.odd_cells(name)) is not None}
        roles = _with_two_values(self.roles)
        return propose_policy(self.typed_frame, roles, k=_DEFAULT_K, source=self.path.name, run=None, undecided=odd)


def _with_two_values(roles: Roles) -> Roles:
    """Return roles by which constant sensitive columns get a model, too: one person could make two values of one."""
    is_constant = {each.name for each in roles.columns if each.role == "sensitive" and each.n_distinct == 1}
    columns = [replace(each, n_distinct=2) if each.name in is_constant else each for each in roles.columns]
    return replace(roles, columns=tuple(columns))


def read_source(path: Path, policy: Policy | None) -> AssistantSource:
    """Read a table as a policy says, and propose roles."""
    if not path.is_file():
        raise InputError("the table is no file.", hint="name one CSV, Parquet or Excel file that exists.")
    snapshot = Snapshot.from_paths([path])
    frame = frames.read(path) if policy is None else frames.read(path, dialect=policy.read_as.dialect)
    typed_frame, odd = frame.without_odd_cells()
    typed_frame = typed_frame.with_learned_specs()
    roles = with_open_question(find_quasi_identifiers(typed_frame))
    digest = sha256(path)
    snapshot.check()
    return AssistantSource(path, digest, frame, typed_frame, roles, tuple(odd))


def find_kind(source: AssistantSource, policy: Policy, name: str) -> str:
    """Return the kind of a column: as the policy says, else as its cells tell."""
    spec = policy.columns[name].spec if name in policy.columns else ColumnSpec()
    return spec.kind or source.proposal_of(name).kind
