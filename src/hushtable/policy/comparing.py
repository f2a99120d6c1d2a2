"""One policy with every k, suppression, recoding, method and link of records, side by side: internal, for choosing."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, Final

import numpy as np

from hushtable._types import TOLERANCE, Progress
from hushtable.anonymizers import (
    METHODS,
    STYLES,
    Histories,
    Mondrian,
    Prepared,
    Request,
    carry_out,
    prepare,
    warn_of_doubts,
)
from hushtable.errors import BudgetExceeded, InfeasibleError, InputError, find_nearest
from hushtable.io import Frame, Writing, frames, latex_of
from hushtable.models import (
    HistoryModel,
    KAnonymity,
    KMAnonymity,
    LinkedKAnonymity,
    MatchingNotion,
    PrivacyModel,
    entries,
)
from hushtable.plots import charts
from hushtable.policy.policy import Policy
from hushtable.policy.sections import ANY_KEY
from hushtable.quality import CellKinds, Regression, RegressionModel, regress
from hushtable.release import Edition, Release
from hushtable.search import Clock, n_threads
from hushtable.wording import StatesFacts, careful, join_names

INTERNAL: Final = "internal: do not pass this on, readers of a release can use it to undo parts of the release"
KNEE: Final = "where highest risk against loss bends most; the choice is yours"


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """What was asked of one run, and what it costs; every figure is None where no release came of it."""

    k: int
    suppression: float | None  # the share of the records that might go; None where the policy's notion lets none go
    recoding: str | None  # None where the method has no such option
    method: str
    highest_risk: float | None = None  # in (0, 1], of published classes: 1 / the smallest
    average_risk: float | None = None  # the mean over their records of 1 / the size of their class
    smallest_class: int | None = None  # of equal published cells, in persons where the policy counts them
    n_classes: int | None = None
    loss: float | None = None  # the policy's loss; suppressed records count as wholly lost
    loss_by_column: dict[str, float] | None = None  # the set-NCP of every quasi-identifier, whatever the loss is
    longest_cell: int | None = None  # characters of the longest published quasi-identifier
    n_bytes: int | None = None  # of a CSV of the release; None also where no CSV has cells for it
    n_suppressed: int | None = None  # records, starred or dropped
    seconds: float | None = None  # of the search, on the clock, without reading, verifying and counting
    verified: bool | None = None  # whether all that the release claims was judged from its published cells and holds
    reason: str | None = None  # why no release came of it
    links: str | None = None  # what becomes of the link between a person's records, where that is compared
    persons_found: float | None = None  # in [0, 1]: the largest share found by 1, 2 or 3 known records that are linked
    overlap: float | None = None  # in [0, 1]: of 95 % intervals of coefficients with the original's, on average
    guessed: str | None = None  # the model's columns of numbers with open cells, as `<20`, whose ends are guessed
    cells_by_column: dict[str, CellKinds] | None = None  # how many distinct cells, and of how many units

    @property
    def is_feasible(self) -> bool:
        """Whether a release came of it."""
        return self.reason is None

    @property
    def line(self) -> str:
        """What the run shares with others that differ in k alone, in words."""
        suppression = None if self.suppression is None else f"suppression {self.suppression:g}"
        return ", ".join(part for part in (self.links, self.method, self.recoding, suppression) if part is not None)


@dataclass(frozen=True, slots=True)
class Comparison(StatesFacts):
    """Runs of one policy side by side; internal, because what every k costs helps to undo a release.

    Attributes
    ----------
    rows : tuple of ComparedRun
        By method, recoding and suppression, then k, each in the order asked for.
    quasi_identifiers : tuple of str
    n_records : int
        Of the input.
    loss : str
        The name of the loss.
    person : str or None
        The column by which persons are counted.
    source : str
        The dataframe library that ``to_frame`` answers in.
    """

    rows: tuple[ComparedRun, ...] = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    n_records: int
    loss: str
    person: str | None = None
    source: str = "polars"

    @property
    def knee(self) -> ComparedRun | None:
        """The run where highest risk against loss bends most; a mark, not a choice.

        Of the verified runs, those remain than which no other has as little of both (the frontier). Risk and loss are
        scaled to [0, 1] over it. The bend is the run farthest below the line from the safest run to the one of least
        loss, of equal ones the safer. None where it has fewer than three runs, or none lies below.
        """
        frontier = _find_frontier(self.rows)
        if len(frontier) < 3:
            return None
        risks, losses = np.array([(row.highest_risk, row.loss) for row in frontier]).T
        # The line goes from (0, 1) to (1, 0) once both are scaled.
        below = 1 - (risks - risks[0]) / (risks[-1] - risks[0]) - (losses - losses[-1]) / (losses[0] - losses[-1])
        place = int(np.argmax(below))
        return frontier[place] if below[place] > TOLERANCE else None

    def plot(self, *, ax: Any = None) -> Any:
        """Draw highest risk against loss, a line for the runs that differ in k alone; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            No run is feasible.
        """
        feasible = [row for row in self.rows if row.is_feasible]
        if not feasible:
            raise InputError("no run is feasible, so there is nothing to draw.", hint="ask for a smaller k.")
        lines = {name: np.array(points) for name, points in self.lines().items()}
        knee = self.knee
        marked = None if knee is None else np.array([knee.loss, knee.highest_risk])
        return charts.risk_against_loss(lines, marked, label=f"loss ({self.loss})", mark="bend", ax=ax)

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """Return (loss, highest risk) of feasible runs that differ in k alone; those that are alike are one line."""
        points: dict[str, list[tuple[float, float]]] = {}
        runs: dict[str, ComparedRun] = {}
        for row in self.rows:
            if row.loss is not None and row.highest_risk is not None:
                points.setdefault(row.line, []).append((row.loss, row.highest_risk))
                runs.setdefault(row.line, row)
        alike: dict[tuple[tuple[float, float], ...], list[ComparedRun]] = {}
        for name, curve in points.items():
            alike.setdefault(tuple(curve), []).append(runs[name])
        names = ("links", "method", "recoding", "suppression")
        # What all lines share would fill a legend.
        differs = [name for name in names if len({getattr(run, name) for run in runs.values()}) > 1] or list(names)
        return {_name_line(each, differs): list(line) for line, each in alike.items()}

    def to_frame(self) -> Any:
        """Return a row for every run as a dataframe of the kind that went in (polars for a path or a Table)."""
        return frames.assemble(self._build_columns(), self.source)

    def to_latex(self) -> str:
        """Return the rows of `to_frame` as a LaTeX table (booktabs), without those columns that say the same of all."""
        columns = self._build_columns()
        return latex_of({name: cells for name, cells in columns.items() if name == "k" or len({*map(str, cells)}) > 1})

    def _build_columns(self) -> dict[str, list[Any]]:
        plain = [each.name for each in fields(ComparedRun) if not each.name.endswith("_by_column")]
        columns = {name: [getattr(row, name) for row in self.rows] for name in plain}
        lost = {
            f"loss of {name}": [None if row.loss_by_column is None else row.loss_by_column[name] for row in self.rows]
            for name in self.quasi_identifiers
        }
        counts = [{} if row.cells_by_column is None else row.cells_by_column for row in self.rows]
        counted = {
            f"cells of {name}": [each[name].n_cells if name in each else None for each in counts]
            for name in self.quasi_identifiers
        }
        return {**columns, **lost, **counted}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, and that it is internal."""
        knee = self.knee
        return {
            "internal": INTERNAL,
            "quasi_identifiers": list(self.quasi_identifiers),
            "n_records": self.n_records,
            "loss": self.loss,
            "person": self.person,
            "rows": [asdict(row) for row in self.rows],
            "knee": None if knee is None else {"row": self.rows.index(knee), "what": KNEE},
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was compared, and what came of it, in whole sentences, the most dangerous first."""
        knee, crowd = self.knee, "records" if self.person is None else f"persons ({self.person})"
        return (
            careful(f"{INTERNAL}."),
            *(careful(f"NOT verified: k = {row.k}, {row.line}.") for row in self.rows if row.verified is False),
            f"{self.n_records:,} records are compared on {join_names(self.quasi_identifiers)}; classes count {crowd}.",
            *(
                f"Not feasible: k = {row.k}, {row.line}: {row.reason.rstrip('.')}."
                for row in self.rows
                if row.reason is not None
            ),
            *(
                f"Overlap may be too favourable for k = {row.k}, {row.line}: most records have open cells, such as "
                f"<20, in {row.guessed}."
                for row in self.rows
                if row.guessed
            ),
            *([] if knee is None else [f"Bend of the curve: k = {knee.k}, {knee.line}: {KNEE}."]),
        )

    def _table(self) -> list[tuple[object, ...]]:
        titles = ("k", "", "highest risk", "average risk", "loss", "suppressed", "longest cell", "bytes", "")
        knee = self.knee
        rows = [
            (
                row.k,
                row.line,
                f"{row.highest_risk:.3g}",
                f"{row.average_risk:.3g}",
                f"{row.loss:.4f}",
                f"{row.n_suppressed:,}",
                row.longest_cell,
                "" if row.n_bytes is None else f"{row.n_bytes:,}",
                "bend" if row is knee else "",
            )
            for row in self.rows
            if row.is_feasible
        ]
        return [titles, *rows] if rows else []


def _name_line(runs: Sequence[ComparedRun], names: Sequence[str]) -> str:
    """Name a line of equal runs: shared settings once, then each of the differing ones."""
    parts = []
    for told in names:
        values = [getattr(run, told) for run in runs]
        texts = dict.fromkeys(f"{each:g}" if told == "suppression" else each for each in values if each is not None)
        if texts:
            parts.append(f"{'suppression ' if told == 'suppression' else ''}{' = '.join(texts)}")
    return ", ".join(parts)


def _find_frontier(rows: Iterable[ComparedRun]) -> list[ComparedRun]:
    """Return the verified runs on the Pareto front of risk and loss, the safest first."""
    frontier: list[ComparedRun] = []
    for row in sorted((row for row in rows if row.verified), key=lambda row: (row.highest_risk, row.loss)):
        if not frontier or row.loss < frontier[-1].loss:  # type: ignore[operator]  # a verified run has a loss
            frontier.append(row)
    return frontier


LINKS: Final = ("remove", "fresh", LinkedKAnonymity.name, KMAnonymity.name)
_DEFAULT_M: Final = 2  # known records in km-anonymity, if the policy does not say
_CSV_PATH: Final = Path("release.csv")
_MAX_ROWS_PER_CORE: Final = 2**15  # of which Mondrian grows one tree


def compare(
    data: Any,
    policy: Policy | str | os.PathLike[str],
    *,
    k: Iterable[int] = (2, 3, 5, 10, 20),
    suppression: Iterable[float] = (0, 0.01, 0.05),
    recoding: Iterable[str] | None = None,
    method: Iterable[str] | None = None,
    links: Iterable[str] | None = None,
    model: str | None = None,
    weights: str | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> Comparison:
    r"""Carry out a policy with every k, suppression, recoding and method, and put risk and loss side by side.

    The table is read and coded once. Every run is what `Policy.protect` would return with these entries
    changed, verified from its published cells; no file is written.

    Parameters
    ----------
    data : path, dataframe or Table
    policy : Policy or path
        Every column has a role. What is not varied stays as it says; its budget is that of each run.
    k : iterable of int
        Of the policy's k-anonymity and its models of histories, or of its matching notion; k-anonymity joins the other
        models where it asks for none of these.
    suppression : iterable of float
        In [0, 1], instead of ``limits.suppression``; without effect, and so once, where a matching notion is asked for.
    recoding : iterable of str, optional
        The policy's when not given. Once for a method without this option.
    method : iterable of str, optional
        Names in `hushtable.anonymizers.METHODS`; the policy's when not given. That one keeps the policy's options,
        others have their defaults.
    links : iterable of str, optional
        What becomes of the link between the records of a person, who is the policy's ``person``: the column is left out
        (``"remove"``) or has a new pseudonym for every record (``"fresh"``), both with k-anonymity by persons; or one
        pseudonym a person with ``"linked-k-anonymity"``, by the method `Histories`, or ``"km-anonymity"``, with the
        policy's m, or else 2. As the policy says when not given.
    model : str, optional
        A regression, ``"log(income) ~ education + age"``, fitted on every release and on the original: how far the
        intervals of its coefficients overlap. Needs the extra ``regression``.
    weights : str, optional
        Its column of survey weights.
    key : bytes, optional
        The secret of the policy's pseudonyms; not needed, because nothing is written.
    progress : callable, optional
        Called now and then with the share of all runs that is done.

    Returns
    -------
    Comparison
        Where no release can be had, the row says why. What columns kept as they are expose (`Release.exposure`), which
        may refuse a file whatever k is, is not measured.

    Raises
    ------
    InputError
        A list is empty or holds what is no such option, an option has no effect, or as `Policy.protect` says.

    Notes
    -----
    As many searches as there are combinations; where records may be suppressed, Mondrian searches up to 13
    times in each.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "m", "m", "f", "m"]})
    >>> policy = Policy.parse("columns: {age: quasi-identifier, sex: quasi-identifier}\nmodels: [k-anonymity: 2]")
    >>> compared = compare(people, policy, k=[2, 3, 7], suppression=[0])
    >>> [(row.k, row.smallest_class, row.verified) for row in compared.rows]
    [(2, 3, True), (3, 3, True), (7, None, None)]
    """
    rules = _read_policy(policy)
    methods = _check_words(method, METHODS, "method") or [rules.method.name]
    ks = list(dict.fromkeys(KAnonymity(each).k for each in _check_list(k, "k", "[2, 5, 10]")))
    runs = _combine_runs(rules, ks, _check_shares(suppression), _check_words(recoding, STYLES, "recoding"), methods)
    ways = _check_words(links, LINKS, "links")
    fitted = RegressionModel.from_options(model, weights)
    if ways is not None:
        runs = _combine_with_links(rules, runs, ways)
    changed = [policy_of_run(rules, run) for run in runs]
    source = rules.open_table(data)
    # No pseudonym leaves this function, and all have the same length: any key gives the same measures.
    base_request = rules.request(data, key=ANY_KEY if key is None and rules.is_keyed else key)
    requests = [
        replace(
            base_request,
            models=each.models,
            method=each.method,
            suppression_limit=each.limits.suppression,
            identifiers=each.removed_identifiers,
            pseudonyms=each.pseudonyms(key or ANY_KEY) if each.pseudonymized or each.fresh else None,
        )
        for each in changed
    ]
    prepared = prepare(source, base_request)
    _warn_once(prepared, requests)
    rows = _carry_out_runs(runs, prepared, requests, progress, fitted)
    n_records, library = prepared.table.n_records, frames.library_of(data)
    return Comparison(tuple(rows), rules.quasi_identifiers, n_records, rules.loss.name, rules.person, library)


def _read_policy(policy: Any) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, (str, os.PathLike)):
        return Policy.read(policy)
    raise InputError(f"policy was given as {type(policy).__name__}.", hint="pass a Policy, or the path of one.")


def _check_list(given: Any, what: str, example: str) -> list[Any]:
    """Return the entries of a nonempty list; refuse a single text or number."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{what} = {given!r}.", hint=f"pass a list, for instance {what}={example}.")
    entries = list(given)
    if not entries:
        raise InputError(f"{what} is empty.", hint=f"pass what to compare, for instance {what}={example}.")
    return entries


def _check_shares(given: Any) -> list[float]:
    shares = _check_list(given, "suppression", "[0, 0.01]")
    for each in shares:
        is_number = isinstance(each, (int, float, np.number)) and not isinstance(each, bool)
        if not is_number or not 0 <= each <= 1:
            raise InputError(f"suppression holds {each!r}.", hint="a share of the records, from 0 to 1.")
    return list(dict.fromkeys(map(float, shares)))


def _check_words(given: Any, allowed: Iterable[str], what: str) -> list[str] | None:
    if given is None:
        return None
    registry, allowed = allowed, list(allowed)
    words = _check_list(given, what, f"[{allowed[0]!r}]")
    for each in words:
        if not isinstance(each, str) or each not in allowed:
            if isinstance(registry, entries.Registry):
                registry.raise_if_elsewhere(str(each))
            near = find_nearest(each, allowed)
            meant = f"did you mean {near!r}? " if near else ""
            raise InputError(f"{what} holds {each!r}.", hint=f"{meant}choose among {', '.join(allowed)}.")
    return list(dict.fromkeys(words))


def _combine_runs(
    rules: Policy, ks: Sequence[int], shares: Sequence[float], recodings: Sequence[str] | None, methods: Sequence[str]
) -> list[ComparedRun]:
    """Combine the varied settings; an option without effect takes part only once."""
    recoded = [name for name in methods if hasattr(METHODS[name](), "recoding")]
    if recodings is not None and not recoded:
        raise InputError(
            f"recoding has no effect: {' and '.join(methods)} have no such option.",
            hint="leave it out, or compare method='mondrian' too.",
        )
    judges_rows = any(isinstance(model, MatchingNotion) for model in rules.models)
    suppressed: Sequence[float | None] = [None] if judges_rows else shares
    styles: dict[str, Sequence[str | None]] = {
        name: (recodings or [_with_method(rules, name).method.recoding]) if name in recoded else [None]
        for name in methods
    }
    return [
        ComparedRun(each_k, share, style, name)
        for name in methods
        for style, share, each_k in product(styles[name], suppressed, ks)
    ]


def _combine_with_links(rules: Policy, runs: Iterable[ComparedRun], ways: Iterable[str]) -> list[ComparedRun]:
    """Combine runs with every way to link records; only linked k-anonymity uses methods that align histories."""
    if rules.person is None:
        raise InputError(
            "links were given, and the policy does not say whose record a row is.",
            hint="write `person: COLUMN` into the policy.",
        )
    combined = []
    for links in ways:
        for run in runs:
            aligns = METHODS[run.method]().offers.finds_histories
            method = run.method
            if aligns != (links == LinkedKAnonymity.name):
                method = Histories.name if links == LinkedKAnonymity.name else Mondrian.name
            made = _with_method(rules, method).method
            default = made.recoding if hasattr(made, "recoding") else None
            style = run.recoding if method == run.method else default
            combined.append(replace(run, links=links, method=method, recoding=style))
    return list(dict.fromkeys(combined))


def _with_method(rules: Policy, name: str) -> Policy:
    return rules if name == rules.method.name else rules.with_entries({("method",): name})


def policy_of_run(rules: Policy, run: ComparedRun) -> Policy:
    """Return the policy with the settings of one run."""
    entries: dict[tuple[str, ...], Any] = {
        ("models",): _with_k(rules.models, run.k),
        ("limits", "suppression"): run.suppression or 0.0,
    }
    if run.recoding is not None:
        entries["method", run.method, "recoding"] = run.recoding
    if run.links is not None:
        person, action = str(rules.person), run.links if run.links in ("remove", "fresh") else "pseudonym"
        entries["models",] = _with_links(rules.models, run)
        entries["columns", person, "role"], entries["columns", person, "action"] = "identifier", action
        entries["accept",] = {name: reason for name, reason in rules.accept.items() if name != person}
    return _with_method(rules, run.method).with_entries(entries)


MODELS_WITH_K: Final = (KAnonymity, HistoryModel, MatchingNotion)


def _with_k(models: Sequence[PrivacyModel], k: int) -> list[PrivacyModel]:
    if not any(isinstance(model, MODELS_WITH_K) for model in models):
        return [KAnonymity(k), *models]
    return [replace(model, k=k) if isinstance(model, MODELS_WITH_K) else model for model in models]


def _with_links(models: Sequence[PrivacyModel], run: ComparedRun) -> list[PrivacyModel]:
    """Return the models for one way to link records: k-anonymity, or the history model of that name."""
    other_models = [model for model in models if not isinstance(model, (KAnonymity, HistoryModel))]
    if run.links == LinkedKAnonymity.name:
        return [LinkedKAnonymity(run.k), *other_models]
    if run.links == KMAnonymity.name:
        m = max((model.m for model in models if isinstance(model, KMAnonymity)), default=_DEFAULT_M)
        return [KMAnonymity(run.k, m), *other_models]
    return [KAnonymity(run.k), *other_models]


def _warn_once(prepared: Prepared, requests: Iterable[Request]) -> None:
    """Warn once of what several runs would warn of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for asked in requests:
            warn_of_doubts(prepared.source, prepared.table, asked)
    for message in dict.fromkeys(str(each.message) for each in told):
        warnings.warn(message, stacklevel=3)


def _carry_out_runs(
    runs: Sequence[ComparedRun],
    prepared: Prepared,
    requests: Sequence[Request],
    progress: Progress | None,
    model: RegressionModel | None,
) -> list[ComparedRun]:
    """Carry out all runs, in parallel if each would leave cores idle; this changes only the seconds."""
    lock, shares = Lock(), [0.0] * len(runs)

    def report_share(place: int, share: float) -> None:
        with lock:
            shares[place] = share
            if progress is not None:
                progress(sum(shares) / len(shares))

    def work(place: int) -> ComparedRun:
        clock = Clock(requests[place].clock.budget, partial(report_share, place))
        row = _measure_run(runs[place], prepared, replace(requests[place], clock=clock), model)
        clock.report_progress(1.0)
        return row

    if not _stay_on_one_core(prepared, requests):
        return [work(place) for place in range(len(runs))]
    with ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(work, range(len(runs))))


def _stay_on_one_core(prepared: Prepared, requests: Iterable[Request]) -> bool:
    """Tell whether searches are small: large ones use all cores, or must be stoppable in the main thread."""
    end_soon = (isinstance(each.method, Mondrian) and each.clock.budget.seconds is None for each in requests)
    return prepared.table.n_rows <= _MAX_ROWS_PER_CORE and all(end_soon)


def _fit_regression(release: Release[Any], frame: Frame, model: RegressionModel | None) -> Regression | None:
    """Fit a regression; None if the release holds too little for it."""
    if model is None:
        return None
    try:
        original, style = release.source.frame().with_row_per_record(), release.recoding.style
        return regress(original, frame.with_row_per_record(), release.claim, model, recoding=style)
    except InfeasibleError:
        return None


def _measure_run(run: ComparedRun, prepared: Prepared, request: Request, model: RegressionModel | None) -> ComparedRun:
    """Carry out a run, and measure its risk and cost."""
    began = perf_counter()
    try:
        release = carry_out(prepared, request)
    except (InfeasibleError, BudgetExceeded, InputError) as error:
        return replace(run, reason=error.message)
    seconds = perf_counter() - began
    # As `Release.verify`, but the published cells are built only once, for all figures.
    edition, claim, source = release.edition, release.claim, release.source
    frame = edition.frame()
    verdict = claim.verify(frame, original=source.frame() if claim.needs_original(edition.columns) else None)
    linkage = release.linkage()
    fitted, quality = _fit_regression(release, frame, model), release.quality
    return replace(
        run,
        persons_found=None if linkage is None else replace(linkage, most_known=max(linkage.known).n_records).rate,
        highest_risk=1 / max(1, verdict.smallest_class),
        average_risk=verdict.average_risk,
        smallest_class=verdict.smallest_class,
        n_classes=verdict.n_classes,
        loss=release.loss,
        loss_by_column=quality.by_column,
        cells_by_column=quality.cells,
        longest_cell=_longest_cell(edition),
        n_bytes=_size_as_csv(edition, release.writing),
        n_suppressed=release.n_suppressed,
        seconds=seconds,
        verified=verdict.passed and verdict.complete,
        overlap=None if fitted is None else fitted.overlap,
        guessed=None if fitted is None else ", ".join(fitted.doubtful) or None,
    )


def _longest_cell(published: Edition) -> int:
    rows: Any = slice(None) if published.rows is None else published.rows
    cells = ((each.texts[code] or "") for each in published.rewritten.values() for code in np.unique(each.codes[rows]))
    return max(map(len, cells))


def _size_as_csv(published: Edition, writing: Writing) -> int | None:
    """Count the bytes of the CSV that `Release.write` would write, without a draft on the disk."""
    try:
        frame, _ = published.build_file_frame(_CSV_PATH, writing)
        frames.check_writable(frame, _CSV_PATH, writing.encoding)
    except InputError:
        return None
    return frames.csv_size(frame, writing.encoding)
