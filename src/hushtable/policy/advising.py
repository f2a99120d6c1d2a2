"""Which changes of a policy would bring most detail back, each measured by its own search of all rows: internal."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING, Final, Literal

from hushtable._types import Progress
from hushtable.anonymizers import Mondrian, Prepared, carry_out, prepare, protect
from hushtable.columns import Column
from hushtable.engines import EngineChoice, is_origin, open_rows
from hushtable.errors import HushError, InputError, PolicyError
from hushtable.hierarchy import UNITS, Rounding, to_exact
from hushtable.models import MatchingNotion, model_to_dict
from hushtable.policy.comparing import INTERNAL, MODELS_WITH_K
from hushtable.policy.sections import ANY_KEY
from hushtable.quality import Quality, weighs_columns
from hushtable.release import Release
from hushtable.wording import StatesFacts, careful, join_names

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from hushtable.engines import Rows
    from hushtable.policy.policy import Policy, ProtectOptions

PolicyEntries = Mapping[tuple[str, ...], object]
ChangeKind = Literal["leave out", "coarsen", "importance", "suppression", "k"]

LEFT_OUT: Final = "leave out"
"""The role of a column that a release leaves out."""

_MIN_GAIN: Final = 0.001  # of the set-NCP: less does not show in per cent with one decimal
_N_BEST: Final = 3
_MAX_UNTRIED_NAMED: Final = 4
_MAX_WEIGHTED: Final = 2  # columns that are tried with more importance
_SUPPRESSION: Final = 0.01  # share of the records
_KS: Final = (2, 3, 5, 10, 20, 50, 100)
_SEARCHES_WITH_SUPPRESSION: Final = 3  # so many times as long does Mondrian take, at a guess


@dataclass(frozen=True, slots=True)
class AdvisedChange:
    """A change of a policy, and what a release loses after it; every figure is None where no release came of it.

    Attributes
    ----------
    kind : {"leave out", "coarsen", "importance", "suppression", "k"}
    column : str or None
        The column that is left out, coarsened or more important.
    what : str
        The change in words.
    entries : mapping
        What `Policy.with_entries` takes to follow it.
    before : float
        The set-NCP now, of the columns that stay.
    after : float or None
        The set-NCP of a release by the changed policy (``quality.set_ncp``), in [0, 1].
    loss : float or None
        The loss of that release, by the policy's own objective.
    by_column : dict of str to float, or None
        Its set-NCP of every quasi-identifier.
    n_suppressed : int or None
        Its suppressed records.
    reason : str or None
        Why there is no release, or no figure that holds again.
    """

    kind: ChangeKind
    column: str | None
    what: str
    entries: PolicyEntries = field(repr=False)
    before: float
    after: float | None = None
    loss: float | None = None
    by_column: dict[str, float] | None = None
    n_suppressed: int | None = None
    reason: str | None = None

    @property
    def gain(self) -> float:
        """By how much the set-NCP of the columns that stay falls; below 0 where it rises."""
        return float("-inf") if self.after is None else self.before - self.after

    @property
    def protects_less(self) -> bool:
        """Whether people are protected less after the change."""
        return self.kind == "k"

    def to_dict(self) -> dict[str, object]:
        """Return the change as plain values; its entries as pairs of a place in the policy and what stands there."""
        names = ("kind", "column", "what", "before", "after", "loss", "by_column", "n_suppressed", "reason")
        entries = [[list(place), entry] for place, entry in self.entries.items()]
        return {**{name: getattr(self, name) for name in names}, "entries": entries}


@dataclass(frozen=True, slots=True)
class Advice(StatesFacts):
    """What a release by a policy loses, and what it would lose after some changes; internal.

    Attributes
    ----------
    changes : tuple of AdvisedChange
        Those that protect as much first, and of these the ones that bring most back.
    set_ncp : float
        Now, the mean over the quasi-identifiers, in [0, 1].
    by_column : dict of str to float
        The set-NCP of every quasi-identifier, now.
    loss : float
        Now, by the policy's own objective.
    n_records : int
    untried : tuple of str
        Changes that were not tried, because the time was over.
    """

    changes: tuple[AdvisedChange, ...] = field(repr=False)
    set_ncp: float
    by_column: dict[str, float]
    loss: float
    n_records: int
    untried: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[AdvisedChange, ...]:
        """The changes that bring most back, at most three."""
        return tuple(change for change in self.changes if change.gain >= _MIN_GAIN)[:_N_BEST]

    @property
    def facts(self) -> tuple[str, ...]:
        """Where most is lost, and what would bring most back, in whole sentences."""
        most = max(self.by_column, key=lambda name: self.by_column[name])
        return (
            careful(f"{INTERNAL}."),
            f"The set-NCP is {_format_percent(self.set_ncp)} %; most is lost in {most}, "
            f"{_format_percent(self.by_column[most])} %.",
            *self.describe_best(),
            *(
                f"Not feasible: {change.what}: {change.reason.rstrip('.')}."
                for change in self.changes
                if change.reason is not None
            ),
        )

    def describe_best(self) -> tuple[str, ...]:
        """Describe the changes that bring most back, and what was not tried, in whole sentences."""
        named = self.untried[:_MAX_UNTRIED_NAMED]
        more = [f"{len(self.untried) - len(named):,} more"] if len(self.untried) > len(named) else []
        untried = f"Not tried, for lack of time: {join_names([*named, *more])}." if named else ""
        told = [self._describe_change(change) for change in self.best]
        tried = ["No change that was tried brings anything back."] if self.changes and not told else []
        return (*told, *tried, *filter(None, [untried]))

    def _describe_change(self, change: AdvisedChange) -> str:
        before, after = _format_percent(self.set_ncp), _format_percent(change.after)
        if change.kind == "leave out":
            stay = _format_percent(change.before)
            return f"{change.what}: {before} % to {after} %; without it, the others lose {stay} % now."
        if change.kind == "importance" and change.by_column is not None and change.column is not None:
            own = self.by_column[change.column], change.by_column[change.column]
            own_before, own_after = map(_format_percent, own)
            return f"{change.what}: {own_before} % to {own_after} % there, {before} % to {after} % in all."
        return f"{change.what}: {before} % to {after} %."

    def to_dict(self) -> dict[str, object]:
        """Return the advice as plain values, and that it is internal."""
        return {
            "internal": INTERNAL,
            "set_ncp": self.set_ncp,
            "by_column": dict(self.by_column),
            "loss": self.loss,
            "n_records": self.n_records,
            "changes": [change.to_dict() for change in self.changes],
            "best": [self.changes.index(change) for change in self.best],
            "untried": list(self.untried),
        }

    def _table(self) -> list[tuple[object, ...]]:
        rows = [
            (change.what, f"{change.before:.4f}", f"{change.after:.4f}", f"{change.n_suppressed:,}")
            for change in self.changes
            if change.after is not None
        ]
        return [("change", "before", "after", "suppressed"), *rows]


def _format_percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.1f}"


class _TimeIsOverError(Exception):
    """The CPU seconds of a search are used up."""


def advise(
    rules: Policy,
    data: object,
    *,
    release: Release | None = None,
    cpu_seconds: float | None = None,
    engine: EngineChoice = "auto",
    **options: Unpack[ProtectOptions],
) -> Advice:
    """Measure what changes of a policy would bring back: see `Policy.advise`; ``release`` is the one by the policy."""
    progress = options.get("progress")
    check_advisable(rules)
    rules.check_decided()
    end = None if cpu_seconds is None else time.process_time() + cpu_seconds
    with warnings.catch_warnings():
        # The release itself warns.
        warnings.simplefilter("ignore")
        protector = _Protector.from_data(rules, data, engine, options)
        now = protector.protect() if release is None else release
        # What the last search took. That of the policy is told by the clock: where others use the machine, more.
        seconds = now.trace.seconds
        changes = list(_list_changes(rules, now))
        tried: list[AdvisedChange] = []
        untried: list[str] = []
        for done, change in enumerate(changes):
            n_searches = _SEARCHES_WITH_SUPPRESSION if change.kind == "suppression" else 1
            if end is not None and time.process_time() + n_searches * seconds > end:
                untried.append(change.what)
                continue
            began = time.process_time()
            watch = _watch_time(end, progress, done, len(changes))
            try:
                measured = _measure_change(change, protector, watch)
            except _TimeIsOverError:
                untried.append(change.what)
                continue
            tried += [] if measured is None else [measured]
            seconds = (time.process_time() - began) / n_searches
    if progress is not None:
        progress(1.0)
    # Sorting keeps the order of equal ones.
    tried.sort(key=lambda change: (change.protects_less, -change.gain))
    quality = now.quality
    n_records = now.partition.n_records + now.n_suppressed
    return Advice(tuple(tried), quality.set_ncp, quality.by_column, now.loss, n_records, tuple(untried))


def check_advisable(rules: Policy) -> None:
    """Raise InputError if a second search could find something else than the first."""
    if rules.budget is not None and rules.budget.seconds is not None:
        raise InputError(
            "the policy's budget is in seconds: after a change the search could find something else than was advised.",
            hint="give the budget in nodes, or leave it out.",
        )


def _watch_time(end: float | None, progress: Progress | None, done: int, n: int) -> Callable[[float], None]:
    def report_share(share: float) -> None:
        # A search that has just ended is not thrown away.
        if end is not None and share < 1 and time.process_time() > end:
            raise _TimeIsOverError
        if progress is not None:
            progress((done + share) / n)

    return report_share


@dataclass(frozen=True, slots=True, eq=False)
class _Protector:
    """Makes releases of the same rows by a policy and by changes of it, as `Policy.protect` would.

    Without its warnings, and without what kept columns expose. Rows in memory are coded only once.
    """

    rules: Policy
    data: object
    rows: Rows
    key: bytes | None
    prepared: Prepared | None  # by the policy; None where rows are not in memory

    @classmethod
    def from_data(cls, rules: Policy, data: object, engine: EngineChoice, options: ProtectOptions) -> _Protector:
        rows = open_rows(data, engine=engine, session=options.get("session"), dialect=rules.read_as.dialect)
        rules.check_covers(rows.names)
        # No pseudonym leaves this file, and all have the same length: any key gives the same measures.
        some_key = (options.get("key") or ANY_KEY) if rules.is_keyed else None
        prepared = None if is_origin(rows) else prepare(rows, rules.request(data, key=some_key))
        return cls(rules, data, rows, some_key, prepared)

    def protect(self, change: AdvisedChange | None = None, progress: Progress | None = None) -> Release:
        """Carry out the policy, or a change of it."""
        rules = self.rules if change is None else self.rules.with_entries(change.entries)
        rules.check_covers(self.rows.names)
        request = rules.request(self.data, key=self.key, progress=progress)
        made: Release
        if self.prepared is None:
            made = protect(self.rows, request)
        elif change is None or not self._changes_codes(change, rules):
            made = carry_out(self.prepared, request)
        elif self._is_selection(change):
            made = carry_out(self.prepared.without_quasi_identifier(str(change.column)), request)
        else:
            made = carry_out(prepare(self.rows, request), request)
        return made

    def _changes_codes(self, change: AdvisedChange, changed: Policy) -> bool:
        """Tell whether columns are coded or generalized in another way than by the policy."""
        return change.kind == "leave out" or changed.hierarchies() != self.rules.hierarchies()

    def _is_selection(self, change: AdvisedChange) -> bool:
        """Tell whether a change only takes a column away.

        Where records may be suppressed, ties among them are broken by all cells of the source, which are then read in
        another way; and a population is coded anew.
        """
        suppresses = self.rules.limits.suppression > 0
        return change.kind == "leave out" and not suppresses and self.rules.population is None


def _measure_change(change: AdvisedChange, protector: _Protector, progress: Progress) -> AdvisedChange | None:
    """Carry out the changed policy, and measure what is lost; None if the change makes no policy."""
    try:
        release = protector.protect(change, progress)
    except PolicyError:
        return None
    except HushError as error:
        return replace(change, reason=error.message)
    if not release.trace.complete and protector.rules.budget is None:
        return replace(change, reason="its search ended by time, and could find something else when it is repeated")
    quality: Quality = release.quality
    return replace(
        change,
        after=quality.set_ncp,
        loss=release.loss,
        by_column=quality.by_column,
        n_suppressed=release.n_suppressed,
    )


def _list_changes(rules: Policy, release: Release) -> Iterator[AdvisedChange]:
    """List the changes to try, the most promising first."""
    lost = release.quality.by_column
    by_loss = sorted(lost, key=lambda name: -lost[name])
    yield from _leave_out(rules, by_loss, lost)
    now = release.quality.set_ncp
    yield from _allow_suppression(rules, now)
    yield from _raise_importance(rules, by_loss[:_MAX_WEIGHTED], now)
    yield from _lower_k(rules, now)
    columns = {column.name: column for column in release.recoding.columns}
    for name in by_loss:
        yield from _coarsen(rules, columns[name], now)


def _leave_out(rules: Policy, names: Sequence[str], lost: Mapping[str, float]) -> Iterator[AdvisedChange]:
    if len(names) < 2:
        return
    for name in names:
        entries: dict[tuple[str, ...], object] = {("columns", name): LEFT_OUT}
        loss, method = rules.loss, rules.method
        for place, given in (
            (("accept",), rules.accept),
            (("importance",), rules.importance),
            (("loss", loss.name, "weights"), loss.weights),
            (("method", method.name, "grid"), method.grid if isinstance(method, Mondrian) else {}),
        ):
            if name in given:
                entries[place] = {each: value for each, value in given.items() if each != name}
        before = fsum(lost[each] for each in lost if each != name) / (len(lost) - 1)
        yield AdvisedChange("leave out", name, f"without {name}", entries, before)


def _allow_suppression(rules: Policy, now: float) -> Iterator[AdvisedChange]:
    has_notion = any(isinstance(model, MatchingNotion) for model in rules.models)
    if rules.limits.suppression < _SUPPRESSION and rules.method.offers.suppresses and not has_notion:
        entries: PolicyEntries = {("limits", "suppression"): _SUPPRESSION}
        yield AdvisedChange("suppression", None, f"{100 * _SUPPRESSION:g} % of suppression", entries, now)


def _raise_importance(rules: Policy, names: Sequence[str], now: float) -> Iterator[AdvisedChange]:
    if (rules.loss.weights and not rules.importance) or not weighs_columns(rules.loss):
        return
    for name in names:
        given = rules.importance.get(name, 1)
        number = next((each for each in (3, 5) if each > given), None)
        if number is not None:
            entries: PolicyEntries = {("importance", name): number}
            yield AdvisedChange("importance", name, f"importance {number} of {name}", entries, now)


def _lower_k(rules: Policy, now: float) -> Iterator[AdvisedChange]:
    ks = [model.k for model in rules.models if isinstance(model, MODELS_WITH_K)]
    k = max((each for each in _KS if ks and each < max(ks)), default=None)
    if k is None:
        return
    models = [
        replace(model, k=min(k, model.k)) if isinstance(model, MODELS_WITH_K) else model for model in rules.models
    ]
    entries: PolicyEntries = {("models",): [model_to_dict(model) for model in models]}
    yield AdvisedChange("k", None, f"k = {k} instead of {max(ks)}, which protects less", entries, now)


def _coarsen(rules: Policy, column: Column, now: float) -> Iterator[AdvisedChange]:
    """Yield the change to the next coarser unit of a column: of its rule, or else of the calendar or of round numbers.

    Units that a column does not have, as those of a tree or a file, are not known.
    """
    name, rule = column.name, rules.columns[column.name].hierarchy
    place: tuple[str, ...] = ("columns", name, "hierarchy")
    entries: PolicyEntries
    if isinstance(rule, Mapping):
        for kind, option in (("dates", "levels"), ("prefix", "lengths"), ("intervals", "width"), ("times", "minutes")):
            levels = list(rule.get(kind, {}).get(option) or ())[1:]
            if levels:
                entries = {place: {kind: {**rule[kind], option: levels}}}
                yield AdvisedChange("coarsen", name, _describe_unit(name, kind, levels[0]), entries, now)
    elif rule is None and column.n_values > 1 and not column.by_rank:
        if column.kind in ("date", "datetime"):
            units = list(UNITS)[list(UNITS).index(column.precision) + 1 :]
            if units:
                entries = {place: {"dates": units}}
                yield AdvisedChange("coarsen", name, _describe_unit(name, "dates", units[0]), entries, now)
        elif column.kind in ("integer", "decimal") and isinstance(rules.method, Mondrian):
            width = _find_coarser_step(column, rules.method.grid.get(name))
            entries = {("method", rules.method.name, "grid", name): width}
            yield AdvisedChange("coarsen", name, _describe_unit(name, "intervals", width), entries, now)


def _find_coarser_step(column: Column, step: float | None) -> float:
    """Return the next step in which people count: 5 after 1, 10 after 2 and 5."""
    grid = Fraction(Rounding.from_column(column).grid if step is None else to_exact(str(step)))
    width = float(grid * (2 if f"{float(grid):e}"[0] == "5" else 5))
    return int(width) if width.is_integer() else width


def _describe_unit(name: str, kind: str, unit: object) -> str:
    by_unit = {
        "day": f"{name} by day",
        "month": f"{name} by month",
        "quarter": f"{name} by quarter",
        "half-year": f"{name} by half-year",
        "year": f"{name} by year",
        "5 years": f"{name} in steps of 5 years",
        "decade": f"{name} by decade",
        "20 years": f"{name} in steps of 20 years",
        "40 years": f"{name} in steps of 40 years",
    }
    by_kind = {
        "dates": by_unit.get(str(unit), ""),
        "prefix": f"{name} by {unit} characters",
        "intervals": f"{name} in steps of {unit}",
        "times": f"{name} in steps of {unit} minutes",
    }
    return by_kind[kind]
