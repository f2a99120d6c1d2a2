"""Build a release from the result of a search: suppression, claim, loss, certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import Found
from hushtable.anonymizers.preparation import Prepared, Request
from hushtable.claims import Certificate, Classes, Combinations, Failure, Matchings, claim_from_models
from hushtable.columns import SUPPRESSED, ColumnSpec
from hushtable.errors import InfeasibleError, InputError
from hushtable.models import entries, model_to_dict
from hushtable.quality import RowLoss
from hushtable.recoding import Recoding
from hushtable.release import Release
from hushtable.tables import Partition


class Searched(NamedTuple):
    """The result of a search, for all rows."""

    prepared: Prepared
    judge: Judge  # of all its rows
    found: Found  # of the rows that the search saw
    # Turns classes of the rows that the search saw into classes of all rows; label -1: suppressed
    expand: Callable[[Partition], Partition]

    @property
    def partition(self) -> Partition:
        """The classes of all rows."""
        return self.expand(self.found.partition)


def release_of(
    prepared: Prepared, judge: Judge, request: Request, result: Found, partition: Partition, *, leaves_out: bool = False
) -> Release:
    """Build the release from the result of a search and the classes of all rows; label -1: suppressed.

    With ``leaves_out`` suppressed rows are left out, even if they could be published as ``*``.
    """
    recoding = result.recoding.select(request.quasi_identifiers)
    suppressed = np.asarray(partition.labels < 0)
    n_suppressed = int(judge.table.counts[suppressed].sum())
    # A suppressed row that stays in the table would still tell how many records a person has.
    has_histories = any(model.needs.histories for model in request.models)
    drops = n_suppressed > 0 and (leaves_out or has_histories or not judge.take_rows(suppressed).passes_as_one_class())
    claim_of = partial(_build_claim, prepared, request, recoding, n_suppressed, leaves_out=leaves_out)
    release = Release(
        source=prepared.source,
        claim=claim_of(drops=drops, combinations=result.combinations),
        partition=partition,
        recoding=recoding,
        loss=request.loss.measure_rows(recoding, partition.labels, judge.table)
        if isinstance(request.loss, RowLoss)
        else request.loss.measure(recoding, partition.sizes, n_suppressed),
        trace=result.trace,
        removed=request.removed,
        left_out=request.left_out,
        pseudonyms=request.pseudonyms,
        drops_suppressed=drops,
        placing=result.placing,
        inputs=prepared.inputs,
        writing=request.writing,
        certificate=_build_certificate(prepared, request, result.evidence),
        timelines=prepared.timelines,
    )
    _check_average(release, judge, request.limits.average_risk)
    failures = _judge_persons(release) if request.hides_person else ()
    if failures and n_suppressed and not drops:
        # Stars do not show that the suppressed rows belong to enough persons.
        release = replace(release, claim=claim_of(drops=True), drops_suppressed=True)
        failures = _judge_persons(release)
    if failures:
        raise InputError(
            f"the cells of the classes overlap, so that without {request.person!r} nobody could check whose records "
            "they hold.",
            hint=f"publish {request.person!r} as a pseudonym (pseudonyms=, `action: pseudonym`), or take "
            "mondrian as it is.",
        )
    return release


def _judge_persons(release: Release) -> tuple[Failure, ...]:
    """Return what fails where the file does not show persons; that too many are suppressed is told later."""
    assert isinstance(release.claim, Classes), "matching notions count no persons"
    limits = replace(release.claim.limits, suppression=None)
    return replace(release, claim=replace(release.claim, limits=limits)).verify().failures


def _build_claim(
    prepared: Prepared,
    request: Request,
    recoding: Recoding,
    n_suppressed: int,
    *,
    drops: bool,
    leaves_out: bool,
    combinations: Sequence[tuple[str, ...]] = (),
) -> Combinations | Classes | Matchings:
    class_options: dict[str, Any] = {}
    if combinations and request.limits.any:
        raise InputError(
            "limits of the risk were given with per_combination.", hint="leave them out, or ask for a larger k."
        )
    if combinations:
        class_options = {"combinations": tuple(combinations)}
    elif not any(model.needs.original for model in request.models):
        people = prepared.population
        # Where nothing was suppressed, or people are left out on purpose, the limit says nothing. Among cells that
        # cover a population, nothing tells a suppressed record from one of the widest class.
        none = not n_suppressed and not request.limits.counts_blank
        says_nothing = leaves_out or none or people is not None
        limits = replace(request.limits, suppression=None) if says_nothing else request.limits
        class_options = {
            "population": None if people is None else people.frame(),
            "person": request.person,
            "is_household": request.household is not None,
            "is_fresh": request.pseudonyms is not None and request.person in request.pseudonyms.fresh,
            "limits": limits,
            "suppressed": SUPPRESSED if n_suppressed and not drops else None,
            "is_whole": n_suppressed == 0,
        }
    claim = claim_from_models(
        request.quasi_identifiers,
        request.models,
        sensitive=request.judged,
        specs={**request.specs, **prepared.specs},
        origins=prepared.origins,
        hierarchies={**prepared.ladders, **recoding.meanings()},
        rounded=request.rounding,
        **class_options,
    )
    return claim.with_bounds() if request.writing.bounds else claim


def _build_certificate(prepared: Prepared, request: Request, evidence: Mapping[str, Any] | None) -> Certificate | None:
    """Add the request to the evidence of a search, so that the proof can be checked from the input alone."""
    if evidence is None or prepared.timelines is not None:
        # The input has other dates than those that were searched.
        return None
    specs = {
        name: prepared.specs[name].with_defaults_from(request.specs.get(name, ColumnSpec())) for name in prepared.specs
    }
    return Certificate.from_entries(
        {
            **evidence,
            "models": [model_to_dict(model) for model in request.asked_of_search],
            "person": request.person,
            "loss": entries.to_entry(request.loss, sparse=False),
            "suppression_limit": request.suppression_limit,
            "hierarchies": {name: (each.whole or each).to_dict() for name, each in prepared.ladders.items()},
            "unknown": request.unknown,
            "specs": {
                name: {each: entry for each, entry in asdict(spec).items() if entry is not None}
                for name, spec in specs.items()
            },
        }
    )


def _check_average(release: Release, judge: Judge, average: float | None) -> None:
    """Raise InfeasibleError if the average risk, the mean of 1 / persons in the record's class, is above the limit."""
    if average is None:
        return
    partition = release.partition
    crowd = np.maximum(judge.count_persons(partition), 1)
    # Whole numbers below 2^53 add up exactly.
    n_hidden = np.bincount(crowd, weights=partition.sizes)
    reached = sum(Fraction(int(n_hidden[size]), int(size)) for size in np.flatnonzero(n_hidden))
    if reached > Fraction(str(average)) * partition.n_records:
        raise InfeasibleError(
            f"the release found has {partition.n_classes} classes of {partition.n_records} records, an average risk "
            f"above {average:g}.",
            hint="ask for a larger k, or allow more.",
        )
