"""Protecting methods: a table and a request in, a release out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from hushtable import drafts, frames
from hushtable._types import BoolArray, CodeArray
from hushtable.anonymizers.checks import check_cells, check_roles, check_spelling, warn_of_doubts
from hushtable.anonymizers.judging import Judge
from hushtable.anonymizers.method import METHODS, Found, Method, Offers, Problem, check_asked, register
from hushtable.anonymizers.minimal.genetic import Genetic
from hushtable.anonymizers.minimal.mingen import MinGen
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.anonymizers.suppress import offending_rows
from hushtable.cells import SUPPRESSED
from hushtable.claims import Limits, of_models
from hushtable.column import Column, ColumnSpec
from hushtable.dialect import Writing
from hushtable.errors import InfeasibleError, InputError, check_columns, listed, with_hint
from hushtable.frames import Frame
from hushtable.hierarchy import Hierarchy
from hushtable.layout import by_content
from hushtable.models.base import PrivacyModel
from hushtable.models.identity import DeltaPresence, KAnonymity
from hushtable.models.matching import MatchingNotion
from hushtable.partition import Partition, totals
from hushtable.pseudonyms import Pseudonyms
from hushtable.quality.loss import Loss, SetNCP
from hushtable.release import Release
from hushtable.search import Clock, check_memory
from hushtable.table import Table

__all__ = [
    "METHODS",
    "Found",
    "Genetic",
    "Method",
    "MinGen",
    "Mondrian",
    "Offers",
    "Problem",
    "Request",
    "check_roles",
    "protect",
    "register",
]

_SAMPLE: Final = 2**14  # rows from which to guess how many are equal
_FEW_EQUAL: Final = 0.2  # share of rows that have an equal one
_COMPILER: Final = 3e8  # bytes; where it has fewer, LLVM ends the process


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked of a release; the parameters of `hushtable.anonymize` of the same names.

    Attributes
    ----------
    quasi_identifiers : tuple of str
    models : tuple of PrivacyModel
    sensitive : tuple of str
        Besides those that a model judges.
    method : Method
    hierarchies : mapping of column to Hierarchy, rule, path or "auto"
    unknown : {"error", "suppress"}
    loss : Loss
    suppression_limit : float
    identifiers : tuple of str
    pseudonyms : Pseudonyms, optional
    specs : mapping of column to ColumnSpec
    population : path, dataframe or Table, optional
    person : str, optional
    limits : Limits
    clock : Clock
    inputs : tuple of path
        Files that were read for it, besides those that the other attributes name.
    writing : Writing
    """

    quasi_identifiers: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[str, ...] = ()
    method: Method = field(default_factory=Mondrian)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    unknown: Literal["error", "suppress"] = "error"
    loss: Loss = field(default_factory=SetNCP)
    suppression_limit: float = 0.0
    identifiers: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict)
    population: Any = field(default=None, repr=False)
    person: str | None = None
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, repr=False)
    inputs: tuple[Path, ...] = ()
    writing: Writing = field(default_factory=Writing)

    def __post_init__(self) -> None:
        if not self.models:
            msg = with_hint("no privacy model was given.", "pass models=[KAnonymity(5)], for instance.")
            raise InputError(msg)
        if not self.quasi_identifiers:
            msg = with_hint("no quasi-identifier was given.", "name the columns that someone may know of a person.")
            raise InputError(msg)
        if not 0 <= self.suppression_limit <= 1:
            msg = with_hint(f"suppression_limit = {self.suppression_limit!r}.", "a share of the records, from 0 to 1.")
            raise InputError(msg)
        if self.unknown not in ("error", "suppress"):
            msg = with_hint(f"unknown = {self.unknown!r}.", "choose 'error' or 'suppress'.")
            raise InputError(msg)
        shares = [model.name for model in self.models if isinstance(model, DeltaPresence)]
        if shares and self.person is not None:
            msg = with_hint(
                f"{listed(shares)} was given with person={self.person!r}.",
                "a share of a population is of records: give one row a person, or leave the model out.",
            )
            raise InputError(msg)
        notions = [model.name for model in self.models if isinstance(model, MatchingNotion)]
        if notions and (len(self.models) > 1 or self.suppression_limit > 0 or self.limits.any or self.person):
            msg = with_hint(
                f"{listed(notions)} was given with other models, limits, persons or a suppression limit.",
                "a matching notion goes alone: it compares all published rows with all original ones.",
            )
            raise InputError(msg)

    @property
    def judged(self) -> tuple[str, ...]:
        """All sensitive columns, each once."""
        judged = (name for model in self.models for name in model.needs.sensitive)
        return tuple(dict.fromkeys((*self.sensitive, *judged)))

    @property
    def asked_of_classes(self) -> tuple[PrivacyModel, ...]:
        """What every class must satisfy: the models, and as large a class as the limits of risk ask for."""
        models = tuple(model for model in self.models if not isinstance(model, MatchingNotion))
        k = self.limits.smallest_class
        return models if k <= 1 else (*models, KAnonymity(k))


def protect(data: Any, asked: Request) -> Release:
    """Carry out a request.

    Parameters
    ----------
    data : path, dataframe or Table
    asked : Request

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.
    """
    if asked.population is not None and not isinstance(asked.population, Table):
        inputs = (*asked.inputs, *drafts.paths_among(asked.population))
        asked = replace(asked, population=frames.read(asked.population).told(asked.specs), inputs=inputs)
    check_memory(_COMPILER, "compiling the kernels", "end other programs, or use a machine with more memory.")
    source, table = _read(data, asked)
    if isinstance(source, Frame) and isinstance(asked.population, Frame):
        asked = replace(asked, population=frames.read_alike((source, asked.population))[1])
    warn_of_doubts(source, table, asked)
    people = _population(asked)
    everyone = table if people is None else table.with_population(people)
    ladders = _ladders(everyone, asked)
    notion = next((model for model in asked.models if isinstance(model, MatchingNotion)), None)
    whole = Judge(table, asked.asked_of_classes, ladders, person=asked.person)
    most = int(asked.suppression_limit * table.n_records)
    suppressed = np.zeros(table.n_rows, dtype=bool)
    if most and people is None and not whole.passes_as_one_class():
        suppressed = offending_rows(table, asked.models, most, source)
    kept = table.take(np.flatnonzero(~suppressed)) if suppressed.any() else table
    n_gone = int(table.counts[suppressed].sum())
    left = most - n_gone if asked.method.offers.suppresses else 0
    if left == 0 and people is None and asked.method.offers.takes_equal_rows and _is_mostly_distinct(kept):
        judge, inverse = replace(whole, table=kept, reference=whole.whole), None
    else:
        judge, inverse = _judge(kept, people, whole, apart=asked.method.offers.parts_equal_records)
    # Columns by name and rows by content, so that ties and draws do not depend on how they were given.
    names = tuple(sorted(asked.quasi_identifiers))
    average = asked.limits.average_risk
    hides = asked.person in asked.identifiers
    problem = Problem(names, judge, ladders, asked.loss, asked.clock, left, notion, n_gone, average, hides)
    check_asked(asked.method, problem)
    if notion is None:
        judge.check_feasible()
    found = asked.method.search(problem)
    asked.clock.tell(1.0)
    judge.check_classes(found.partition)

    inputs = (*asked.inputs, *drafts.paths_among(data, asked.population, asked.hierarchies))
    origins = {} if isinstance(source, Table) else {n: source.spelling(n).spelling for n in asked.quasi_identifiers}
    typed = {column.name: _spec_of(column, source, asked) for column in everyone.columns}

    def released(found: Found) -> Release:
        partition = found.partition
        if inverse is not None or n_gone:
            labels = _spread(partition.labels, inverse, suppressed)
            partition = Partition.from_labels(labels, partition.n_classes, table.counts)
        release = _release(source, whole, asked, found, partition)
        claim = replace(release.claim, specs={**asked.specs, **typed}, origins=origins)
        return replace(release, claim=claim, inputs=inputs)

    release = released(found)
    if hides and release.verify().failures:
        msg = with_hint(
            f"the cells of the classes overlap, so that without {asked.person!r} nobody could check whose records they "
            "hold.",
            f"publish {asked.person!r} as a pseudonym (pseudonyms=, `action: pseudonym`), or take mondrian as it is.",
        )
        raise InputError(msg)
    return replace(release, alternatives=tuple(released(other) for other in found.others))


def _read(data: Any, asked: Request) -> tuple[Frame | Table, Table]:
    """Return the source, and the columns that are judged as codes; a row for every record where equal ones may part."""
    source = data if isinstance(data, Table) else frames.read(data).told(asked.specs)
    check_roles(source.names if isinstance(source, Table) else source.columns, asked)
    judged = asked.judged
    persons = () if asked.person is None else (asked.person,)
    if not isinstance(source, Table):
        # Whoever reads the file tells persons apart by their cells.
        source = source.told({name: ColumnSpec("category") for name in persons if source.text(name) is not None})
        check_spelling(source, asked.quasi_identifiers if source.is_text else (), judged)
    table = Table.encode(source, (*asked.quasi_identifiers, *judged, *persons), asked.specs, typed=judged)
    check_cells(table)
    if isinstance(asked.loss, SetNCP):
        columns = (replace(each, by_rank=asked.loss.is_by_rank(each.name)) for each in table.columns)
        table = replace(table, columns=tuple(columns))
    if not asked.method.offers.parts_equal_records:
        return source, table
    return source.one_by_one() if isinstance(source, Table) else source, table.one_by_one()


def _judge(kept: Table, people: Table | None, whole: Judge, *, apart: bool) -> tuple[Judge, CodeArray]:
    """Return the judge of the rows that a search sees, and which of them each row that is kept became."""
    everyone = kept if people is None else kept.with_population(people)
    if apart:
        order = by_content(everyone)
        distinct, inverse = everyone.take(order), np.argsort(order).astype(np.int32)
    else:
        distinct, inverse = everyone.collapse()
    population = None
    if people is not None:
        counts = np.append(np.zeros_like(kept.counts), people.counts)
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        population = np.bincount(inverse, weights=counts, minlength=distinct.n_rows).astype(np.int64)
    judge = replace(whole, table=distinct, reference=whole.whole, population=population)
    return judge, inverse[: kept.n_rows]


def _is_mostly_distinct(table: Table) -> bool:
    """Guess from a sample of a large table that finding its equal rows takes longer than not knowing them."""
    if table.n_rows < 8 * _SAMPLE:
        return False
    sample = table.take(np.sort(np.random.default_rng(0).choice(table.n_rows, _SAMPLE, replace=False)))
    n_equal = _SAMPLE - sample.collapse()[0].n_rows
    # A row meets its like in the whole as often as in the sample, times how much larger that is.
    return n_equal / _SAMPLE * (table.n_rows / _SAMPLE) < _FEW_EQUAL


def _spread(labels: CodeArray, inverse: CodeArray | None, suppressed: BoolArray) -> CodeArray:
    """Return the class of every row of the source, -1 where it is suppressed."""
    if inverse is not None:
        labels = np.take(labels, inverse)
    if not suppressed.any():
        return labels
    spread = np.full(len(suppressed), -1, dtype=np.int32)
    spread[~suppressed] = labels
    return spread


def _release(source: Frame | Table, whole: Judge, asked: Request, found: Found, partition: Partition) -> Release:
    table, sizes, recoding = whole.table, found.partition.sizes, found.recoding.select(asked.quasi_identifiers)
    suppressed = np.asarray(partition.labels < 0)
    n_suppressed = int(table.counts[suppressed].sum())
    drops = n_suppressed > 0 and not whole.of(suppressed).passes_as_one_class()
    of_classes: dict[str, Any] = {}
    if not any(model.needs.original for model in asked.models):
        people = asked.population
        of_classes = {
            "population": people.expand() if isinstance(people, Table) else people,
            "person": asked.person,
            "limits": asked.limits,
            "suppressed": SUPPRESSED if n_suppressed and not drops else None,
            "is_whole": n_suppressed == 0,
        }
    claim = of_models(
        asked.quasi_identifiers,
        asked.models,
        sensitive=asked.judged,
        hierarchies={**whole.ladders, **recoding.meanings()},
        **of_classes,
    )
    release = Release(
        source=source,
        claim=claim,
        partition=partition,
        recoding=recoding,
        loss=asked.loss.of(recoding, sizes, n_suppressed),
        trace=found.trace,
        removed=asked.identifiers,
        pseudonyms=asked.pseudonyms,
        drops_suppressed=drops,
        placing=found.placing,
        writing=asked.writing,
    )
    average = asked.limits.average_risk
    if average is not None and release.partition.n_classes > average * release.partition.n_records:
        msg = with_hint(
            f"the release found has {release.partition.n_classes} classes of {release.partition.n_records} records, "
            f"an average risk above {average:g}.",
            "ask for a larger k, or allow more.",
        )
        raise InfeasibleError(msg)
    return release


def _spec_of(column: Column, source: Frame | Table, asked: Request) -> ColumnSpec:
    """Say how a column was typed, so that whoever reads its texts types them alike."""
    spec = ColumnSpec(column.kind, (tuple(column.texts()) or None) if column.kind == "ordered" else None)
    if isinstance(source, Table) or column.name not in (*asked.judged, asked.person):
        return spec
    # A sensitive column is published as it came.
    return spec.completed(source.spelling(column.name, is_typed=True))


def _ladders(table: Table, asked: Request) -> dict[str, Hierarchy]:
    """Make the hierarchies of the table's columns from what the user gave."""
    columns = (*asked.quasi_identifiers, *asked.judged)
    check_columns(tuple(asked.hierarchies), columns, "hierarchies of quasi-identifiers and sensitive columns")
    check_columns(tuple(asked.loss.weights), asked.quasi_identifiers, "weights")
    if isinstance(asked.loss, SetNCP) and isinstance(asked.loss.scale, Mapping):
        check_columns(tuple(asked.loss.scale), asked.quasi_identifiers, "scale")
    return {
        name: Hierarchy.build(ladder, table.column(name), totals(table, name)[1:], unknown=asked.unknown)
        for name, ladder in asked.hierarchies.items()
    }


def _population(asked: Request) -> Table | None:
    """Return the quasi-identifiers of the population, where a model counts one."""
    needed = [model.name for model in asked.models if model.needs.population]
    if (asked.population is not None) != bool(needed):
        models = f"{listed(needed)} without a population" if needed else "a population, but no model that counts it"
        msg = with_hint(
            f"anonymize was given {models}.", "k-map and delta-presence go with population=, others do not."
        )
        raise InputError(msg)
    if asked.population is None:
        return None
    if isinstance(asked.population, Frame) and asked.population.is_text:
        check_spelling(asked.population, asked.quasi_identifiers)
    people = Table.encode(asked.population, asked.quasi_identifiers)
    check_cells(people)
    return people
