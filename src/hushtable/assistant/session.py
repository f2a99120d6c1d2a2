"""A session: what each tool answers, as a function of the table, the terms, what a person decided, and the question.

It knows no protocol. Every answer is plain values inside one field ``data``, or a code of a fixed list; no text of an
error leaves it, because an error may hold a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from hushtable._types import Progress
from hushtable.assistant.codes import CODES
from hushtable.assistant.memory import AnswerMemory, PolicyShelf
from hushtable.assistant.menu import (
    MenuRefusal,
    PersonRequest,
    PolicyDraft,
    apply_draft,
    list_ladders,
    parse_proposal,
)
from hushtable.assistant.page_door import PageState
from hushtable.assistant.plain_values import Json, digest_of
from hushtable.assistant.recipients import describe_release
from hushtable.assistant.sheet import FEWEST_IN_ALL, Sheet, SheetColumn
from hushtable.assistant.source import AssistantSource, AssistantTerms
from hushtable.assistant.tools import TOOLS, fits_schema
from hushtable.assistant.verdicts import BITS, AssistantVerdict, judge_policy
from hushtable.page import StoppedError, Suggestion, largest_k
from hushtable.policy import Policy

COLUMNS_PER_ANSWER: Final = 50
_LEAST_CANDIDATE: Final = "0 to 10"  # a column of so few values singles nobody out by itself

Suggest = Callable[[Suggestion], None]
"""Puts a suggestion before a person."""


@dataclass(slots=True, eq=False)
class AssistantSession:
    """What one server answers.

    Attributes
    ----------
    source : AssistantSource
    terms : AssistantTerms
    sheet : Sheet
    memory : AnswerMemory
    shelf : PolicyShelf
    state : PageState
        What a person has decided, as the transcript tells it; set before a message is read.
    suggest : callable, optional
        Puts a suggestion on the page; None where there is none.
    note : callable
        Takes the bits of every new verdict.
    """

    source: AssistantSource
    terms: AssistantTerms
    sheet: Sheet
    memory: AnswerMemory
    shelf: PolicyShelf
    state: PageState
    suggest: Suggest | None = None
    note: Callable[[float], None] = field(default=lambda bits: None)
    _drafts: dict[str, PolicyDraft] = field(default_factory=dict, init=False)

    def answer(
        self, tool: str, arguments: object, progress: Progress, read_state: Callable[[], PageState] | None = None
    ) -> dict[str, Json]:
        """Answer a call of a tool, after what a person has decided; whatever goes wrong is a code."""
        try:
            self.state = self.state if read_state is None else read_state()
            if tool not in TOOLS or not fits_schema(TOOLS[tool].schema, arguments):
                raise MenuRefusal("WRONG_ARGUMENTS")
            answers: Mapping[str, Callable[[Json], Mapping[str, Json]]] = {
                "look": self._look,
                "values": self._list_values,
                "ladders": self._list_ladders,
                "propose": self._propose,
                "judge": partial(self._judge, progress=progress),
                "why_not": partial(self._explain, progress=progress),
                "request_signature": self._request_signature,
                "report": self._report,
            }
            return {"data": answers[tool](arguments)}
        except MenuRefusal as refusal:
            return _code(refusal.code)
        except StoppedError:
            return _code("CANCELLED")
        except (KeyboardInterrupt, SystemExit):
            raise
        # Some libraries' panics are no Exception, and the text of any error may hold a cell.
        except BaseException:
            return _code("FAULT")

    @property
    def _policy(self) -> Policy:
        return self.shelf.policy_of(self.state.policy)

    def _look(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        start = arguments.get("start", 1)
        shown = self.sheet.columns[start - 1 : start - 1 + COLUMNS_PER_ANSWER]
        more = start - 1 + COLUMNS_PER_ANSWER < len(self.sheet.columns)
        n = self.sheet.persons
        return {
            "persons": f"under {FEWEST_IN_ALL}" if n is None else f"about {n}",
            "about_persons": self.sheet.about_persons,
            "n_columns": len(self.sheet.columns),
            "columns": [column.to_dict() for column in shown],
            "next": start + COLUMNS_PER_ANSWER if more else None,
        }

    def _column(self, alias: str) -> SheetColumn:
        found = [column for column in self.sheet.columns if column.id == alias]
        if not found:
            raise MenuRefusal("UNKNOWN_COLUMN")
        return found[0]

    def _list_values(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        column = self._column(arguments["id"])
        if self.terms.person is None:
            raise MenuRefusal("WHOSE_ROWS")
        if column.values is None:
            raise MenuRefusal("NO_VALUES")
        values = [[value.text, value.share] for value in column.values]
        return {"id": column.id, "values": values, "more": column.more, "others": "not shown"}

    def _list_ladders(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        column = self._column(arguments["id"])
        return {"id": column.id, "ladders": list_ladders(column.kind)}

    def _propose(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        proposed = parse_proposal(arguments, self.state.policy, self.source, self._policy)
        # Whether the changes go together is seen without the data.
        apply_draft(proposed.draft, self._policy, self.source)
        self._drafts[proposed.draft.id] = proposed.draft
        waiting = [self._ask_person(request) for request in proposed.requests]
        return {"draft": proposed.draft.id, "policy": self.state.policy, "code": "ACCEPTED", "person": waiting}

    def _ask_person(self, request: PersonRequest) -> Mapping[str, Json]:
        """Put a request on the page if it is new, and say what became of it."""
        status = dict(self.state.answers).get(request.key)
        if status is None and self.suggest is not None:
            name = self.source.aliases[request.id]
            suggestion = Suggestion(request.key, request.what, name)  # type: ignore[arg-type]
            if isinstance(request.value, str):
                suggestion = replace(suggestion, text=request.value)
            else:
                suggestion = replace(suggestion, groups=request.value)
            self.suggest(suggestion)
        status = status or ("NO_PAGE" if self.suggest is None else "waiting")
        return {"id": request.id, "what": request.what, "status": status}

    def _find_draft(self, name: str) -> PolicyDraft:
        draft = self._drafts.get(name)
        if name == "policy":
            return PolicyDraft(self.state.policy)
        if draft is None:
            raise MenuRefusal("UNKNOWN_DRAFT")
        if draft.base != self.state.policy:
            raise MenuRefusal("POLICY_CHANGED")
        return draft

    def _judge(self, arguments: Mapping[str, Json], progress: Progress) -> Mapping[str, Json]:
        draft, ks = self._find_draft(arguments["draft"]), list(dict.fromkeys(arguments.get("ks") or [None]))
        told = []
        for k in ks:
            policy = apply_draft(draft, self._policy, self.source, k)
            told.append({**_describe_request(policy), **self._find_verdict(policy, progress).to_dict()})
        return {"draft": arguments["draft"], "verdicts": told}

    def _find_verdict(self, policy: Policy, progress: Progress) -> AssistantVerdict:
        """Return the verdict on a policy: the stored one, or a new one in a free place."""
        question = digest_of(policy.to_yaml())
        place, answer = self.memory.find_answer(question)
        if answer is not None:
            return AssistantVerdict(**answer)
        if place is None:
            place = self.memory.claim_place(question)
            if place is None:
                raise MenuRefusal("NO_MORE_VERDICTS")
            # It is taken even if the work is cancelled, or fails.
            self.note(BITS)
        verdict = judge_policy(self.source, policy, progress)
        self.memory.store_answer(place, question, verdict.to_dict())
        return verdict

    def _explain(self, arguments: Mapping[str, Json], progress: Progress) -> Mapping[str, Json]:
        policy = apply_draft(self._find_draft(arguments["draft"]), self._policy, self.source, arguments.get("k"))
        reason = self._find_verdict(policy, progress).reason
        if reason is None:
            return {"code": None, "means": "A release comes of this draft.", "candidates": []}
        kept = policy.with_role("other") if reason == "KEPT_COLUMNS_SINGLE_OUT" else ()
        kept = policy.with_role("ask") if reason == "UNDECIDED" else kept
        # From the sheet and the draft alone: the data that gave the verdict name no column.
        names = self.source.aliases
        candidates = [
            each.id for each in self.sheet.columns if names[each.id] in kept and each.distinct != _LEAST_CANDIDATE
        ]
        return {"code": reason, "means": CODES[reason], "candidates": candidates}

    def _request_signature(self, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
        if self.suggest is None:
            raise MenuRefusal("NO_PAGE")
        key = f"s{digest_of([arguments['draft'], arguments.get('k')])[:12]}"
        # An accepted draft is the policy in force, and no draft of it.
        status = dict(self.state.answers).get(key)
        if status is None:
            draft = self._find_draft(arguments["draft"])
            policy = apply_draft(draft, self._policy, self.source, arguments.get("k"))
            self.suggest(Suggestion(key, "policy", policy=policy))
        return {"status": status or "waiting", "signed": self.state.signed is not None}

    def _report(self, _: Mapping[str, Json]) -> Mapping[str, Json]:
        if self.state.signed is None:
            raise MenuRefusal("NOT_SIGNED")
        return describe_release(self.source, self.shelf.policy_of(self.state.signed))


def _describe_request(policy: Policy) -> dict[str, Json]:
    """Describe what a policy asks, by words of fixed lists."""
    k = largest_k(policy)
    models = [str(model.name) for model in policy.models]
    return {"k": k, "highest_risk": f"1/{k}", "models": models, "suppression": policy.limits.suppression}


def _code(code: str) -> dict[str, Json]:
    return {"data": {"code": code, "means": CODES[code]}}
