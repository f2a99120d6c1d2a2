"""From what columns are about and what they tell apart to roles.

The score of a column is how probably it is a quasi-identifier: its knowability, in [0, 1], times r / (r + 0.02), where
r is its mean gain over that of an average column that others can know. From 0.45 on it is proposed; from 0.15 on it is
asked about.

An attacker who knows some columns of a person is left with a class of s records; the logarithm of s, averaged over
records, is what they do not know yet, in bits. A column's power is how much it lowers that, averaged over the orders
in which the columns may come to be known: its Shapley value, whose sum is what all columns tell together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import Role, escape_html
from hushtable.discover.roles.evidence import Finding
from hushtable.errors import InputError
from hushtable.io import frames
from hushtable.kernels import group
from hushtable.plots import charts
from hushtable.tables import Table
from hushtable.wording import table_html

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
    label : str
        What a file of a statistics program says of the column in words; empty for others.
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
    label: str = field(default="", repr=False)


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
        ranked = sorted((column for column in self.columns if column.power > 0), key=lambda column: -column.power)
        if not ranked:
            raise InputError(
                "no column that others can know distinguishes people, so there is nothing to draw.",
                hint="the roles and their reasons are in `to_frame()`.",
            )
        return charts.bars(
            [column.name for column in ranked],
            [100 * column.power for column in ranked],
            label="identifying power (%)",
            title=f"{ranked[0].name} distinguishes most: {100 * ranked[0].power:.0f} %",
            ax=ax,
        )

    def to_frame(self) -> Any:
        """Return a row for every column, in a frame of the library that the data came in."""
        titles = [each.name for each in fields(ProposedRole)]
        cells = {title: [getattr(column, title) for column in self.columns] for title in titles}
        return frames.assemble(cells, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the proposals as plain values."""
        entries = asdict(self)
        del entries["source"]
        return entries

    def _repr_html_(self) -> str:
        titles = ("column", "proposed role", "score", "known by", "power", "because")
        rows = (
            (each.name, each.role, f"{each.score:.2f}", each.knowable_by, f"{each.power:.1%}", each.reason)
            for each in self.columns
        )
        return f"<p>{escape_html(self.persons_reason)}</p>{table_html([titles, *rows])}"


_MAX_COLUMNS_FOR_ALL_ORDERS: Final = 4  # columns of which every order is looked at
_N_DRAWN_ORDERS: Final = 24
_MIN_RECORDS_PER_VALUE: Final = 5
_MIN_RECORDS: Final = 30


def mean_gains(table: Table) -> FloatArray:
    """Return the mean marginal gain of every column, in bits of log class size; a missing cell is a value of its own.

    Over all orders of up to four columns. Of more, over drawn orders, always the same ones: each with its reverse and
    all its rotations, so that every column stands at every place as often. Columns are taken by their names, so that
    their order in the table does not count. O(n_rows) for a column of an order, until every record is alone.
    """
    n_columns = len(table.names)
    by_name = sorted(range(n_columns), key=lambda place: table.names[place])
    gains = np.zeros(n_columns)
    orders = column_orders(n_columns)
    for order in orders:
        labels, n_classes = np.zeros(table.n_rows, dtype=np.int32), min(1, table.n_rows)
        bits_before = 0.0
        for rank in order:
            column = by_name[rank]
            labels, n_classes = _refine_labels(labels, n_classes, table, column)
            bits = entropy(group.class_sizes(labels, table.counts, n_classes))
            gains[column] += bits - bits_before
            bits_before = bits
            if n_classes == table.n_rows:
                break
    return gains / max(1, len(orders))


def column_orders(n_columns: int) -> Sequence[tuple[int, ...]]:
    """Return the orders of columns that `mean_gains` looks at."""
    if n_columns <= _MAX_COLUMNS_FOR_ALL_ORDERS:
        return list(itertools.permutations(range(n_columns)))
    draw = np.random.default_rng(0)
    orders = []
    for _ in range(max(1, _N_DRAWN_ORDERS // n_columns)):
        drawn = draw.permutation(n_columns).tolist()
        for line in (drawn, drawn[::-1]):
            orders += [(*line[start:], *line[:start]) for start in range(n_columns)]
    return orders


def entropy(sizes: CountArray) -> float:
    """Return how many bits the classes tell about a record: log2 of all records less the mean log2 of its class."""
    n_records = int(sizes.sum())
    if not n_records:
        return 0.0
    # By size, so that the sum does not depend on the order of the classes.
    different, counts = np.unique(sizes[sizes > 0], return_counts=True)
    return float(np.log2(n_records) - (counts * different * np.log2(different)).sum() / n_records)


def find_twins(table: Table, ranks: Iterable[tuple[float, str]]) -> Mapping[str, str]:
    """Map every column that is one-to-one with others to the one of them with the lowest rank.

    Only where values repeat (five records a value or more, 30 records at least): among nearly unique columns everything
    says the same. O(n_rows) per column.
    """
    first: dict[bytes, str] = {}
    twins: dict[str, str] = {}
    start = np.zeros(table.n_rows, dtype=np.int32)
    for _, name in sorted(ranks):
        labels, n_classes = _refine_labels(start, min(1, table.n_rows), table, table.index(name))
        if n_classes < 2 or table.n_records < max(_MIN_RECORDS, _MIN_RECORDS_PER_VALUE * n_classes):
            continue
        # Labels are numbered by first appearance: one-to-one columns have the same ones.
        twin = first.setdefault(labels.tobytes(), name)
        if twin != name:
            twins[name] = twin
    return twins


def _refine_labels(labels: CodeArray, n_classes: int, table: Table, column: int) -> tuple[CodeArray, int]:
    refined = np.empty_like(labels)
    n_values = table.columns[column].n_values
    return refined, group.refine_classes(labels, n_classes, table.codes[column], n_values, refined)


_MIN_KNOWABILITY: Final = 0.5
_MIN_DECIDED_SCORE: Final = 0.45
_MIN_ASKED_SCORE: Final = 0.15
_MIN_POWER_SHARE: Final = 0.02
_COLUMNS_PER_QUESTION: Final = 3  # one column in so many


@dataclass(frozen=True, slots=True)
class Decision:
    """What is proposed of one column; see `hushtable.discover.roles.decision.ProposedRole`."""

    role: Proposal
    reason: str
    score: float
    knowable_by: str
    power: float


def decide_roles(findings: Mapping[str, Finding], table: Table, n_columns: int) -> Mapping[str, Decision]:
    """Propose a role for every column of a table of persons that holds a value.

    At most a third of the `n_columns` of the table is asked about, those of the highest scores, but one in any case;
    free text always.
    """
    twins = find_twins(table, [(_twin_rank(each), name) for name, each in findings.items()])
    shares, relative = _measure_powers(table, findings, twins)
    first = {name: _decide_role(each, shares[name], relative[name]) for name, each in findings.items()}
    decisions = {
        name: _with_twin(each, findings[name], first[twins[name]], twins[name]) if name in twins else each
        for name, each in first.items()
    }
    open_ones = [name for name, each in decisions.items() if each.role == "ask" and not findings[name].is_prose]
    ranked = sorted(open_ones, key=lambda name: (-decisions[name].score, name))
    for name in ranked[max(1, n_columns // _COLUMNS_PER_QUESTION) :]:
        reason = f"{decisions[name].reason}; not asked, as others come first"
        decisions[name] = replace(decisions[name], role="other", reason=reason)
    return decisions


def _twin_rank(finding: Finding) -> float:
    """Rank one-to-one columns: those whose topic is known best come first."""
    role = "other" if finding.topic is None else finding.topic.role
    return {"identifier": 0.0, "quasi-identifier": 1.0, "sensitive": 2.0, "other": 3.0}[role] - finding.knowability / 2


def _measure_powers(
    table: Table, findings: Mapping[str, Finding], twins: Mapping[str, str]
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Return every column's share of what the knowable ones tell, and its mean gain over that of an average one.

    What nobody may know has no share; it is compared by what it tells alone.
    """
    knowable = sorted(
        name
        for name, each in findings.items()
        if name not in twins
        and (not each.is_settled and each.knowability >= _MIN_KNOWABILITY and each.cells.n_values > 1)
    )
    gains = mean_gains(table.select(knowable))
    total = float(gains.sum()) or 1.0
    shares = dict.fromkeys(findings, 0.0) | dict(zip(knowable, (gains / total).tolist(), strict=True))
    max_bits = max(1.0, float(np.log2(max(1, table.n_records))))
    relative = {
        name: entropy(np.append(each.cells.counts, each.cells.n_missing)) / max_bits for name, each in findings.items()
    }
    relative |= {name: shares[name] * len(knowable) for name in knowable}
    for name, twin in twins.items():
        shares[name], relative[name] = shares[twin], relative[twin]
    return shares, relative


def _decide_role(finding: Finding, share: float, relative: float) -> Decision:
    known_by = "unclear" if finding.topic is None else finding.topic.known_by
    score = finding.knowability * relative / (relative + _MIN_POWER_SHARE)
    if finding.is_prose:
        return Decision("ask", finding.reason, score, known_by, 0.0)
    if finding.topic is not None and finding.is_settled:
        return Decision(finding.topic.role, finding.reason, score, known_by, 0.0)
    # What others can know is never left out unasked: a column that tells few apart may single out one person.
    is_in_doubt = score >= _MIN_ASKED_SCORE or finding.knowability >= _MIN_KNOWABILITY
    role: Proposal = "quasi-identifier" if score >= _MIN_DECIDED_SCORE else "ask" if is_in_doubt else "other"
    if finding.cells.n_values == 1 and not finding.cells.n_missing:
        return Decision("other", "it holds a single value", 0.0, known_by, 0.0)
    reason = f"{finding.reason}, but distinguishes hardly anyone" if relative < _MIN_POWER_SHARE else finding.reason
    return Decision(role, reason, score, known_by, share)


def _with_twin(own: Decision, finding: Finding, twin: Decision, name: str) -> Decision:
    """Add the twin to the reason; a column without a topic of its own takes the decision of its twin."""
    says_same = f"says the same as {name!r}, one to one"
    if finding.is_prose:
        return own
    if finding.topic is None or finding.topic.name == "number":
        return replace(twin, reason=says_same)
    return replace(own, reason=f"{own.reason}; {says_same}")
