"""What a recogniser answers: a proposed role for every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from hushtable.columns import Role, escaped
from hushtable.errors import InputError, with_hint
from hushtable.io import frames
from hushtable.plots import charts

__all__ = ["Proposal", "ProposedRole", "Roles"]

Proposal = Role | Literal["ask"]
"""A role, or "ask": someone who knows the data has to say."""


@dataclass(frozen=True, slots=True)
class ProposedRole:
    """One column's proposed role.

    Attributes
    ----------
    name : str
    role : {"identifier", "quasi-identifier", "sensitive", "other", "ask"}
    reason : str
        Without any cell of the column.
    kind : Kind
    n_distinct, n_missing : int
    warning : str
        Empty, or what to look at before releasing: spellings of one value, say.
    score : float
        How probably it is a quasi-identifier, in [0, 1]; 0 for an identifier, which is more than that.
    knowable_by : {"anyone", "acquaintances", "insiders", "nobody", "unclear"}
        Who could know its value of a person: anyone who meets or looks up the person; family, friends, colleagues and
        neighbours; those who work with the data or with the person's papers; nobody; or nothing tells.
    power : float
        Its share, in [0, 1], of what the columns that others can know tell about who is who; 0 for other columns.
        Columns that say the same one to one have one share between them, which each of them shows.
    topic : str
        What it is about, as ``discover/roles/data/topics.tsv`` names it; empty where nothing tells.
    """

    name: str
    role: Proposal
    reason: str
    kind: str
    n_distinct: int
    n_missing: int
    warning: str = ""
    score: float = 0.0
    knowable_by: str = "unclear"
    power: float = 0.0
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Roles:
    """A proposed role for every column.

    Attributes
    ----------
    columns : tuple of ProposedRole
        In column order.
    of_persons : bool
        Whether the rows are taken to be about persons. Where they are not, nothing is proposed or asked.
    persons_reason : str
        Why.
    source : str
        The dataframe library that `to_frame` answers in.
    person : str, optional
        The column that says whose record a row may be, where every identifier repeats.
    """

    columns: tuple[ProposedRole, ...]
    of_persons: bool = True
    persons_reason: str = ""
    source: str = field(default="polars", compare=False, repr=False)
    person: str | None = None

    @property
    def roles(self) -> Mapping[str, Proposal]:
        """The role of every column."""
        return {column.name: column.role for column in self.columns}

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that someone may know of a person."""
        return self._with_role("quasi-identifier")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that name a person."""
        return self._with_role("identifier")

    @property
    def prose(self) -> tuple[str, ...]:
        """The columns of free text among those that are asked about: better left out."""
        return tuple(column.name for column in self.columns if column.role == "ask" and column.topic == "prose")

    @property
    def ask(self) -> tuple[str, ...]:
        """The columns of which someone who knows the data has to say who could know them."""
        return self._with_role("ask")

    def _with_role(self, role: Proposal) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == role)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the identifying power of every column that has any, the largest first; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            No column has any.
        """
        shown = sorted((column for column in self.columns if column.power > 0), key=lambda column: -column.power)
        if not shown:
            msg = with_hint(
                "no column that others can know tells people apart, so there is nothing to draw.",
                "the roles and their reasons are in `to_frame()`.",
            )
            raise InputError(msg)
        return charts.bars(
            [column.name for column in shown],
            [100 * column.power for column in shown],
            label="identifying power (%)",
            title=f"{shown[0].name} tells most apart: {100 * shown[0].power:.0f} %",
            ax=ax,
        )

    def to_frame(self) -> Any:
        """Return a row for every column, in a frame of the library that the data came in."""
        titles = [each.name for each in fields(ProposedRole)]
        cells = {title: [getattr(column, title) for column in self.columns] for title in titles}
        return frames.assemble(cells, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the proposals as plain values."""
        plain = asdict(self)
        del plain["source"]
        return plain

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escaped(column.name)}</td><td>{column.role}</td><td>{column.score:.2f}</td>"
            f"<td>{column.knowable_by}</td><td>{column.power:.1%}</td><td>{escaped(column.reason)}</td></tr>"
            for column in self.columns
        )
        titles = "<th>column</th><th>proposed role</th><th>score</th><th>known by</th><th>power</th><th>because</th>"
        return f"<p>{escaped(self.persons_reason)}</p><table><tr>{titles}</tr>{rows}</table>"
