"""The verb that carries out one policy with every k, suppression, recoding and method.

Nothing is decided here: risk and loss are put side by side, so that people can choose.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, Final

import numpy as np

from hushtable._types import Progress
from hushtable.anonymizers import METHODS, STYLES, Mondrian, Prepared, Request, carry_out, prepare, warn_of_doubts
from hushtable.errors import BudgetExceeded, InfeasibleError, InputError, nearest, with_hint
from hushtable.io import Writing, frames
from hushtable.models import KAnonymity, MatchingNotion, PrivacyModel
from hushtable.policy.comparison import ComparedRun, Comparison
from hushtable.policy.policy import Policy
from hushtable.release import Edition
from hushtable.search import Clock, n_threads
from hushtable.tables import Table

__all__ = ["compare"]

_CSV: Final = Path("release.csv")
_A_KEY: Final = bytes(range(32))
_FEW_ROWS: Final = 2**15  # of which Mondrian grows one tree


def compare(
    data: Any,
    policy: Policy | str | os.PathLike[str],
    *,
    k: Iterable[int] = (2, 3, 5, 10, 20),
    suppression: Iterable[float] = (0, 0.01, 0.05),
    recoding: Iterable[str] | None = None,
    method: Iterable[str] | None = None,
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
        Of the policy's k-anonymity, which joins the other models where it asks for none, or of its matching notion.
    suppression : iterable of float
        In [0, 1], instead of ``limits.suppression``; without effect, and so once, where a matching notion is asked for.
    recoding : iterable of str, optional
        The policy's when not given. Once for a method without this option.
    method : iterable of str, optional
        Names in `hushtable.anonymizers.METHODS`; the policy's when not given. That one keeps the policy's options,
        others have their defaults.
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
    rules = _policy(policy)
    runs = _runs(rules, _ks(k), _shares(suppression), _words(recoding, STYLES, "recoding"), _methods(method, rules))
    changed = [_changed(rules, run) for run in runs]
    source = rules.opened(data)
    # No pseudonym leaves this function, and all are of one length: any key measures the same.
    asked = rules.request(data, key=_A_KEY if key is None and rules.pseudonymized else key)
    requests = [
        replace(asked, models=each.models, method=each.method, suppression_limit=each.limits.suppression)
        for each in changed
    ]
    prepared = prepare(source, asked)
    _warn_once(prepared, requests)
    rows = _carried_out(runs, prepared, requests, progress)
    n_records, library = prepared.table.n_records, frames.library(data)
    return Comparison(tuple(rows), rules.quasi_identifiers, n_records, rules.loss.name, rules.person, library)


def _policy(given: Any) -> Policy:
    if isinstance(given, Policy):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Policy.read(given)
    msg = with_hint(f"policy was given as {type(given).__name__}.", "pass a Policy, or the path of one.")
    raise InputError(msg)


def _listed(given: Any, what: str, example: str) -> list[Any]:
    """Return the entries of a list that is not empty; a text or a number alone is a slip."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(with_hint(f"{what} = {given!r}.", f"pass a list, for instance {what}={example}."))
    entries = list(given)
    if not entries:
        raise InputError(with_hint(f"{what} is empty.", f"pass what to compare, for instance {what}={example}."))
    return entries


def _ks(given: Any) -> list[int]:
    return list(dict.fromkeys(KAnonymity(each).k for each in _listed(given, "k", "[2, 5, 10]")))


def _shares(given: Any) -> list[float]:
    shares = _listed(given, "suppression", "[0, 0.01]")
    for each in shares:
        is_number = isinstance(each, (int, float, np.number)) and not isinstance(each, bool)
        if not is_number or not 0 <= each <= 1:
            raise InputError(with_hint(f"suppression holds {each!r}.", "a share of the records, from 0 to 1."))
    return list(dict.fromkeys(map(float, shares)))


def _words(given: Any, known: Iterable[str], what: str) -> list[str] | None:
    if given is None:
        return None
    known = list(known)
    words = _listed(given, what, f"[{known[0]!r}]")
    for each in words:
        if not isinstance(each, str) or each not in known:
            near = nearest(each, known)
            meant = f"did you mean {near!r}? " if near else ""
            raise InputError(with_hint(f"{what} holds {each!r}.", f"{meant}choose among {', '.join(known)}."))
    return list(dict.fromkeys(words))


def _methods(given: Any, rules: Policy) -> list[str]:
    return _words(given, METHODS, "method") or [rules.method.name]


def _runs(
    rules: Policy, ks: Sequence[int], shares: Sequence[float], recodings: Sequence[str] | None, methods: Sequence[str]
) -> list[ComparedRun]:
    """Combine what is varied; an option that does not apply takes part once."""
    recoded = [name for name in methods if hasattr(METHODS[name](), "recoding")]
    if recodings is not None and not recoded:
        msg = f"recoding has no effect: {' and '.join(methods)} have no such option."
        raise InputError(with_hint(msg, "leave it out, or compare method='mondrian' too."))
    suppressed: Sequence[float | None] = [None] if _notion(rules.models) else shares
    styles: dict[str, Sequence[str | None]] = {
        name: (recodings or [_with_method(rules, name).method.recoding]) if name in recoded else [None]
        for name in methods
    }
    return [
        ComparedRun(each_k, share, style, name)
        for name in methods
        for style, share, each_k in product(styles[name], suppressed, ks)
    ]


def _notion(models: Iterable[PrivacyModel]) -> bool:
    return any(isinstance(model, MatchingNotion) for model in models)


def _with_method(rules: Policy, name: str) -> Policy:
    return rules if name == rules.method.name else rules.changed({("method",): name})


def _changed(rules: Policy, run: ComparedRun) -> Policy:
    """Return the policy of one run."""
    places: dict[tuple[str, ...], Any] = {
        ("models",): _with_k(rules.models, run.k),
        ("limits", "suppression"): run.suppression or 0.0,
    }
    if run.recoding is not None:
        places["method", run.method, "recoding"] = run.recoding
    return _with_method(rules, run.method).changed(places)


def _with_k(models: Sequence[PrivacyModel], k: int) -> list[PrivacyModel]:
    if not any(isinstance(model, (KAnonymity, MatchingNotion)) for model in models):
        return [KAnonymity(k), *models]
    return [replace(model, k=k) if isinstance(model, (KAnonymity, MatchingNotion)) else model for model in models]


def _warn_once(prepared: Prepared, requests: Iterable[Request]) -> None:
    """Warn of what several runs would warn of alike."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for asked in requests:
            warn_of_doubts(prepared.source, prepared.table, asked)
    for message in dict.fromkeys(str(each.message) for each in told):
        warnings.warn(message, stacklevel=3)


def _carried_out(
    runs: Sequence[ComparedRun], prepared: Prepared, requests: Sequence[Request], progress: Progress | None
) -> list[ComparedRun]:
    """Carry out all runs, side by side where each would leave cores idle; only the seconds depend on that."""
    lock, shares = Lock(), [0.0] * len(runs)

    def told(place: int, share: float) -> None:
        with lock:
            shares[place] = share
            if progress is not None:
                progress(sum(shares) / len(shares))

    def work(place: int) -> ComparedRun:
        clock = Clock(requests[place].clock.budget, partial(told, place))
        row = _figures(runs[place], prepared, replace(requests[place], clock=clock))
        clock.tell(1.0)
        return row

    if not _stay_on_one_core(prepared, requests):
        return [work(place) for place in range(len(runs))]
    with ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(work, range(len(runs))))


def _stay_on_one_core(prepared: Prepared, requests: Iterable[Request]) -> bool:
    """Tell whether searches are of few rows and end soon: others use all cores, or are for the main thread to stop."""
    end_soon = (isinstance(each.method, Mondrian) and each.clock.budget.seconds is None for each in requests)
    return prepared.table.n_rows <= _FEW_ROWS and all(end_soon)


def _figures(run: ComparedRun, prepared: Prepared, asked: Request) -> ComparedRun:
    """Carry out a run, and say what it costs."""
    began = perf_counter()
    try:
        release = carry_out(prepared, asked)
    except (InfeasibleError, BudgetExceeded, InputError) as error:
        return replace(run, reason=str(error).partition("\n\nHint: ")[0])
    seconds = perf_counter() - began
    # What `Release.verify` does, with the cells written once for all figures.
    published, claim, source = release.edition, release.claim, release.source
    frame, original = published.frame(), None
    if claim.compares(published.columns):
        original = source.frame() if isinstance(source, Table) else source
    verdict = claim.verify(frame, original=original)
    return replace(
        run,
        highest_risk=1 / max(1, verdict.smallest_class),
        average_risk=verdict.average_risk,
        smallest_class=verdict.smallest_class,
        n_classes=verdict.n_classes,
        loss=release.loss,
        loss_by_column=release.quality.by_column,
        longest_cell=_longest_cell(published),
        n_bytes=_size_as_csv(published, release.writing),
        n_suppressed=release.n_suppressed,
        seconds=seconds,
        verified=verdict.passed and verdict.complete,
    )


def _longest_cell(published: Edition) -> int:
    rows: Any = slice(None) if published.rows is None else published.rows
    cells = ((each.texts[code] or "") for each in published.rewritten.values() for code in np.unique(each.codes[rows]))
    return max(map(len, cells))


def _size_as_csv(published: Edition, writing: Writing) -> int | None:
    """Count the bytes of the CSV that `Release.write` would write, without a draft on the disk."""
    try:
        frame, _ = published.for_file(_CSV, writing)
        frames.check_writable(frame, _CSV, writing.encoding)
    except InputError:
        return None
    return frames.csv_size(frame, writing.encoding)
