"""The closed menu: what an assistant may draft of a policy, as numbers and words of fixed lists.

Nothing else that an assistant writes takes part in a computation. Own groups, reasons and roles that publish more are
no drafts: they wait on the local page until a person accepts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hushtable.assistant.plain_values import Json, digest_of
from hushtable.assistant.source import AssistantSource, find_kind
from hushtable.errors import HushError
from hushtable.page import can_be_judged, column_entries, largest_k, replace_hierarchy, replace_role
from hushtable.policy import ComparedRun, Policy, policy_of_run

KS: Final = (5, 10, 15, 20, 50)
SUPPRESSIONS: Final = (0.0, 0.01, 0.05)
METHODS_OF_MENU: Final = ("mondrian", "local_recoding")
"""Methods that decide group by group: one person changes little of the loss. A global one may change all of it."""
IMPORTANCES: Final = (1, 2, 3, 4, 5)
ROLES_OF_MENU: Final = ("identifier", "quasi-identifier", "sensitive", "other", "leave out")

_NUMBERS: Final = ("integer", "decimal")
_TEXTS: Final = ("category", "ordered")
_DATES: Final = ("date", "datetime")


@dataclass(frozen=True, slots=True)
class MenuLadder:
    """How a column may generalize.

    Attributes
    ----------
    entry : Json
        What the policy says; None where a column is cut between its own values.
    kinds : tuple of str
        Kinds of columns that it fits; empty for all.
    """

    entry: Json
    kinds: tuple[str, ...] = ()


LADDERS: Final[Mapping[str, MenuLadder]] = {
    "own cuts": MenuLadder(None),
    "auto": MenuLadder("auto"),
    **{f"prefix {n}": MenuLadder({"prefix": [n]}, ("category", "integer")) for n in (1, 2, 3, 4, 5)},
    **{f"intervals {n}": MenuLadder({"intervals": [n, 2 * n, 4 * n]}, _NUMBERS) for n in (5, 10, 50, 100, 1000, 10000)},
    "months": MenuLadder({"dates": ["month", "quarter", "year", "decade"]}, _DATES),
    "years": MenuLadder({"dates": ["year", "decade"]}, _DATES),
    "decades": MenuLadder({"dates": ["decade"]}, _DATES),
    "countries": MenuLadder({"dictionary": "countries"}, _TEXTS),
    "education": MenuLadder({"dictionary": "education"}, _TEXTS),
}
"""What may generalize a column: rules of fixed parameters."""

# How much of a column is published: a role of a higher rank needs a person.
_RANKS: Final = {"identifier": 0, "leave out": 0, "quasi-identifier": 1, "ask": 1, "sensitive": 2, "other": 3}


class MenuRefusal(Exception):  # noqa: N818 - an answer, and no fault
    """What was asked is not on the menu; only a code of the closed list is told."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class ColumnDraft:
    """What a draft changes of a column; None stays."""

    id: str
    role: str | None = None
    ladder: str | None = None
    importance: int | None = None


@dataclass(frozen=True, slots=True)
class PolicyDraft:
    """Changes of a policy, from the menu.

    Attributes
    ----------
    base : int
        The number of the policy that it changes.
    columns : tuple of ColumnDraft
        By alias.
    k, suppression, method : optional
        None stays.
    """

    base: int
    columns: tuple[ColumnDraft, ...] = ()
    k: int | None = None
    suppression: float | None = None
    method: str | None = None

    @property
    def id(self) -> str:
        """Its name, the same for the same changes: it says nothing of the table."""
        columns = [[each.id, each.role, each.ladder, each.importance] for each in self.columns]
        return f"d{digest_of([self.base, columns, self.k, self.suppression, self.method])[:12]}"


@dataclass(frozen=True, slots=True)
class PersonRequest:
    """What only a person may decide of a column, as an assistant proposes it.

    Attributes
    ----------
    id : str
        The column's alias.
    what : {"role", "accept", "groups"}
    value : str or tuple of (label, values)
        The role, the reason why the column may stay as it is, or own groups.
    """

    id: str
    what: str
    value: str | tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def key(self) -> str:
        """Its name, the same for the same request."""
        return f"p{digest_of([self.id, self.what, self.value])[:12]}"


@dataclass(frozen=True, slots=True)
class Proposed:
    """What an assistant proposed: a draft, and what waits for a person."""

    draft: PolicyDraft
    requests: tuple[PersonRequest, ...] = field(default=())


def parse_proposal(arguments: Mapping[str, Json], base: int, source: AssistantSource, policy: Policy) -> Proposed:
    """Read what an assistant proposes; MenuRefusal where it is not on the menu. No cell is looked at."""
    drafts, requests = {}, []
    for entry in arguments.get("columns", ()):
        alias = entry["id"]
        name = source.aliases.get(alias)
        if name is None or name not in policy.columns:
            raise MenuRefusal("UNKNOWN_COLUMN")
        if alias in drafts:
            raise MenuRefusal("COLUMN_TWICE")
        role, ladder = entry.get("role"), entry.get("ladder")
        now = policy.columns[name].role
        if role is not None and _RANKS[role] > _RANKS[now]:
            requests.append(PersonRequest(alias, "role", role))
            role = None
        effective = role or now
        if (ladder is not None or entry.get("importance") is not None) and effective != "quasi-identifier":
            raise MenuRefusal("NO_QUASI_IDENTIFIER")
        if ladder is not None and ladder not in list_ladders(find_kind(source, policy, name)):
            raise MenuRefusal("LADDER_DOES_NOT_FIT")
        if entry.get("reason"):
            requests.append(PersonRequest(alias, "accept", entry["reason"]))
        if entry.get("groups"):
            groups = tuple((each["label"], tuple(each["values"])) for each in entry["groups"])
            requests.append(PersonRequest(alias, "groups", groups))
        drafts[alias] = ColumnDraft(alias, None if role == now else role, ladder, entry.get("importance"))
    changed = sorted((each for each in drafts.values() if each != ColumnDraft(each.id)), key=lambda each: each.id)
    whole = {name: arguments.get(name) for name in ("k", "suppression", "method")}
    return Proposed(PolicyDraft(base, tuple(changed), **whole), tuple(requests))


def apply_draft(draft: PolicyDraft, policy: Policy, source: AssistantSource, k: int | None = None) -> Policy:
    """Return the policy with the changes of a draft, and with another k; MenuRefusal where they do not go together."""
    try:
        for change in draft.columns:
            policy = _change_column(policy, source, change)
        suppression = policy.limits.suppression if draft.suppression is None else draft.suppression
        k = k or draft.k or largest_k(policy)
        return policy_of_run(policy, ComparedRun(k, suppression, None, draft.method or policy.method.name))
    except HushError:
        raise MenuRefusal("DOES_NOT_GO_TOGETHER") from None


def _change_column(policy: Policy, source: AssistantSource, change: ColumnDraft) -> Policy:
    """Return the policy with one column changed, without what says nothing beside its new role."""
    name = source.aliases[change.id]
    kind = find_kind(source, policy, name)
    if change.role is not None:
        first = column_entries(source.proposal).get(name, {})
        # Not by the number of values: a single person could make two of one.
        policy = replace_role(
            policy, name, change.role, proposal=first, is_judgeable=can_be_judged(source.proposal_of(name).kind)
        )
    if change.ladder is not None:
        policy = replace_hierarchy(policy, name, LADDERS[change.ladder].entry, kind)
    if change.importance is not None:
        policy = policy.with_entries({("importance",): {**policy.importance, name: change.importance}})
    return policy


def list_ladders(kind: str) -> Sequence[str]:
    """Return the words of the menu's hierarchies that fit a kind of column."""
    return [name for name, each in LADDERS.items() if not each.kinds or kind in each.kinds]
