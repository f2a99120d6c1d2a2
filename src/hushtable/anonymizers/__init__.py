"""Protecting methods: a table in, a release out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from hushtable import drafts, frames
from hushtable._types import BoolArray, CountArray, Missing, Progress
from hushtable.anonymizers.minimal.answer import Answer
from hushtable.anonymizers.minimal.genetic import Genetic
from hushtable.anonymizers.minimal.mingen import MinGen
from hushtable.anonymizers.mondrian import CutTree, Mondrian
from hushtable.anonymizers.overlap import undo_overlaps
from hushtable.anonymizers.suppress import offending_rows
from hushtable.cells import SUPPRESSED
from hushtable.column import Column, ColumnSpec
from hushtable.errors import ColumnError, InfeasibleError, InputError, check_columns, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.models.base import ClassStats, PrivacyModel, describe
from hushtable.models.identity import DeltaPresence
from hushtable.partition import Partition, totals
from hushtable.pseudonyms import Pseudonyms
from hushtable.quality import loss as losses
from hushtable.quality.certainty import Certainty, MinimalDistortion
from hushtable.quality.loss import Loss, SetNCP
from hushtable.recoding import Recoding
from hushtable.release import Release
from hushtable.search import Budget, check_memory
from hushtable.table import Table

__all__ = ["METHODS", "Genetic", "MinGen", "Mondrian", "anonymize"]

Method = Mondrian | MinGen | Genetic

METHODS: Final[Mapping[str, type[Method]]] = {"genetic": Genetic, "mingen": MinGen, "mondrian": Mondrian}
_COMPILER: Final = 3e8  # bytes; where it has fewer, LLVM ends the process
LOSSES: Final[Mapping[str, type[Loss]]] = {each.name: each for each in (SetNCP, MinimalDistortion, Certainty)}


def anonymize(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    models: Iterable[PrivacyModel],
    sensitive: Sequence[str] = (),
    method: str | Method = "mondrian",
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    unknown: Literal["error", "suppress"] = "error",
    loss: str | Loss = "ncp",
    suppression_limit: float = 0.0,
    missing: Missing = "category",
    identifiers: Sequence[str] = (),
    pseudonyms: Pseudonyms | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
    population: Any = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Release:
    """Generalize quasi-identifiers until every class satisfies the models, at little loss.

    Parameters
    ----------
    data : path, dataframe or Table
        A Table gives a Table.
    quasi_identifiers : sequence of str
        Columns that someone may know of a person. All others but ``identifiers`` stay as they are.
    models : iterable of PrivacyModel
        All of them hold for every class of the release. A matching notion (`GlobalK1` and
        its siblings), which is not k-anonymity, goes alone and with method "mingen".
    sensitive : sequence of str
        Sensitive columns besides those that a model judges: how diverse the classes
        are in them is reported.
    method : {"mondrian", "mingen", "genetic"}, Mondrian, MinGen or Genetic
    hierarchies : mapping of column to Hierarchy, rule, path or "auto", or a path, optional
        See `Hierarchy.build`; a path alone is that of a file of domains for several columns.
        Columns without one are cut where their values lie.
    unknown : {"error", "suppress"}
        What becomes of values that a hierarchy does not list: an error, or ``*`` as
        soon as they are generalized at all.
    loss : {"ncp", "minimal_distortion", "certainty"}, SetNCP, MinimalDistortion or Certainty
        The objective; the objects take weights. Mondrian cuts by the set-NCP only, see
        `hushtable.quality.loss.set_ncp`.
    suppression_limit : float
        Share of the records that may be suppressed, in [0, 1). None are where a release
        of all records can satisfy the models; else as few as it takes. Suppressed records
        publish ``*`` in every quasi-identifier and sensitive column where they are enough
        to satisfy the models as a class of their own, and are dropped where they are not.
    missing : {"category"}
        A missing value is a value of its own.
    identifiers : sequence of str
        Direct identifiers; the release leaves them out.
    pseudonyms : Pseudonyms, optional
        Direct identifiers that become keyed pseudonyms instead.
    specs : mapping of column to ColumnSpec, optional
        Kinds and orders of columns where the data do not say.
    population : path, dataframe or Table, optional
        The people among whom the records are, with the quasi-identifiers: what k-map
        and delta-presence count. The cells of a class then cover its population too.
    budget : Budget, optional
        The best release so far when it ends.
    progress : callable, optional
        Called now and then with the share of the search that is done.

    Returns
    -------
    Release
        Its classes were judged anew after the search. `Release.verify` judges the
        published cells, `Release.write` the written file.

    Raises
    ------
    ColumnError
        A column does not exist, has two roles, or holds a literal ``*``.
    InputError
        No model, no quasi-identifier, an empty table, an unknown option, or a
        population and no model that looks at it, or the other way round.
    InfeasibleError
        Even the whole table as one class fails a model: which, and what it reaches.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "sex": ["f", "f", "m", "f"], "pay": [1, 2, 3, 4]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    >>> release.frame.rows()
    [('[31, 34]', 'f', 1), ('[31, 34]', 'f', 2), ('[52, 57]', '*', 3), ('[52, 57]', '*', 4)]
    >>> release.verify().passed
    True
    """
    models, quasi_identifiers = tuple(models), tuple(quasi_identifiers)
    searcher, objective = _method(method), _objective(loss)
    _check_options(models, quasi_identifiers, suppression_limit, missing)
    _check_method(searcher, objective, models, suppression_limit)
    _check_counting(searcher, models)
    check_memory(_COMPILER, "compiling the kernels", "end other programs, or use a machine with more memory.")
    source = data if isinstance(data, Table) else frames.read(data)
    available = source.names if isinstance(source, Table) else source.columns
    judged = (name for model in models for name in model.needs.sensitive)
    sensitive = tuple(dict.fromkeys((*sensitive, *judged)))
    pseudonymized = pseudonyms.columns if pseudonyms else ()
    _check_roles(available, quasi_identifiers, sensitive, (*identifiers, *pseudonymized))

    check_columns(tuple(objective.weights), quasi_identifiers, "weights")
    table = Table.encode(source, (*quasi_identifiers, *sensitive), specs, typed=sensitive)
    _check_cells(table)
    if not searcher.strict:
        # Equal records may part, so each is a row of its own.
        table = table.one_by_one()
        source = source.one_by_one() if isinstance(source, Table) else source
    everyone, people = _with_population(table, population, quasi_identifiers, models, specs)
    ladders = _ladders(everyone, hierarchies, unknown, (*quasi_identifiers, *sensitive))
    judged_models = tuple(model for model in models if not model.needs.original)
    whole = _Judge(table, judged_models, None, ladders, table)
    suppressed = np.zeros(table.n_rows, dtype=bool)
    if suppression_limit > 0 and population is None and not whole.passes_as_one_class():
        suppressed = offending_rows(table, models, int(suppression_limit * table.n_records), source)
    drops = bool(suppressed.any()) and not whole.of(suppressed).passes_as_one_class()
    reference, table = table, table.take(np.flatnonzero(~suppressed))
    everyone = table if people is None else everyone
    distinct, inverse = everyone.collapse() if searcher.strict else (everyone, np.arange(everyone.n_rows))
    if people is not None:
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        people = np.bincount(inverse, weights=people, minlength=distinct.n_rows).astype(np.int64)
    judge = _Judge(distinct, judged_models, people, ladders, reference)
    judge.check_feasible()
    found, cuts, trace = searcher.search(
        distinct,
        quasi_identifiers,
        models,
        budget,
        progress,
        hierarchies=ladders,
        loss=objective,
        population=people,
        reference=reference,
    )

    def recode(found: Partition, cuts: CutTree | Answer) -> Recoding:
        return searcher.recode(distinct, found, cuts, quasi_identifiers, ladders)  # type: ignore[arg-type]

    if people is not None and isinstance(cuts, CutTree) and _bounded_below(models):
        counting = [model for model in models if model.needs.population]
        found, cuts = undo_overlaps(distinct, found, cuts, recode, counting, people, ladders)
    if progress is not None:
        progress(1.0)
    judge.check_classes(found)
    recoding = recode(found, cuts)
    n_suppressed = int(reference.counts[suppressed].sum())

    inputs = drafts.paths_among(data, population, hierarchies)

    def released(found: Partition, recoding: Recoding) -> Release:
        labels = np.full(reference.n_rows, -1, dtype=np.int32)
        labels[~suppressed] = found.labels[inverse[: table.n_rows]]
        return Release(
            source=source,
            partition=Partition.from_labels(labels, found.n_classes, reference.counts),
            recoding=recoding,
            suppressed=suppressed,
            drops_suppressed=drops,
            models=models,
            loss=objective.of(recoding, found.sizes, n_suppressed),
            quality=losses.measure(recoding, found.sizes, n_suppressed),
            trace=trace,
            sensitive=sensitive,
            specs={**(specs or {}), **{column.name: _spec_of(column) for column in everyone.columns}},
            hierarchies=ladders,
            population=population,
            removed=tuple(identifiers),
            pseudonyms=pseudonyms,
            inputs=inputs,
        )

    others = cuts.others if isinstance(cuts, Answer) else ()
    return replace(released(found, recoding), alternatives=tuple(released(*other) for other in others))


def _spec_of(column: Column) -> ColumnSpec:
    """Say how a column was typed, so that whoever reads its texts types them alike."""
    return ColumnSpec(column.kind, (tuple(column.texts()) or None) if column.kind == "ordered" else None)


def _objective(loss: str | Loss) -> Loss:
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        msg = with_hint(f"unknown loss {loss!r}.", f"the losses are {listed(LOSSES)}, or their objects with weights.")
        raise InputError(msg)
    return LOSSES[loss]()


def _check_method(searcher: Method, objective: Loss, models: Sequence[PrivacyModel], suppression_limit: float) -> None:
    """Raise InputError where a method cannot look for what is asked."""
    name = type(searcher).__name__
    if objective.name not in searcher.losses:
        msg = with_hint(f"{name} does not search by loss={objective.name!r}.", "use method='mingen' or 'genetic'.")
        raise InputError(msg)
    notions = [model.name for model in models if model.needs.original]
    if notions and not searcher.finds_matchings:
        msg = with_hint(f"{name} makes classes, and {listed(notions)} judges none.", "use method='mingen'.")
        raise InputError(msg)
    if notions and (len(models) > 1 or suppression_limit > 0):
        msg = with_hint(
            f"{listed(notions)} was given with other models or a suppression limit.",
            "a matching notion goes alone: it compares all published rows with all original ones.",
        )
        raise InputError(msg)


def _check_counting(searcher: Method, models: Sequence[PrivacyModel]) -> None:
    """Raise InputError where published cells would not cover the people whom a search counts."""
    counting = [model for model in models if model.needs.population]
    if not counting or not isinstance(searcher, Mondrian):
        return
    if searcher.recoding == "central":
        msg = with_hint(
            f"recoding='central' was given with {listed(model.name for model in counting)}.",
            "a central value covers only the people of a population who have it; choose another recoding.",
        )
        raise InputError(msg)
    low = _bounded_below(models)
    if low and (searcher.exchange or not searcher.strict):
        what = "exchange=True" if searcher.exchange else "strict=False"
        msg = with_hint(
            f"{what} was given with {listed(low)} and a lower bound above 0.",
            "its classes overlap, so that people count in several of them and their share falls; leave it out.",
        )
        raise InputError(msg)


def _bounded_below(models: Sequence[PrivacyModel]) -> list[str]:
    """Return the names of models that a class may fail because its cells cover more people than it has."""
    return [model.name for model in models if isinstance(model, DeltaPresence) and model.low > 0]


def _ladders(
    table: Table, hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None, unknown: Any, columns: Sequence[str]
) -> dict[str, Hierarchy]:
    """Make the hierarchies of the table's columns from what the user gave."""
    if hierarchies is None:
        return {}
    if isinstance(hierarchies, (str, os.PathLike)):
        listed_ = Hierarchy.from_domains(hierarchies)
        given: Mapping[str, Any] = {name: ladder for name, ladder in listed_.items() if name in columns}
    else:
        check_columns(tuple(hierarchies), columns, "hierarchies of quasi-identifiers and sensitive columns")
        given = hierarchies
    return {
        name: Hierarchy.build(ladder, table.column(name), totals(table, name)[1:], unknown=unknown)
        for name, ladder in given.items()
    }


def _method(method: str | Method) -> Method:
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        msg = with_hint(f"unknown method {method!r}.", f"the methods are {listed(METHODS)}.")
        raise InputError(msg)
    return METHODS[method]()


def _check_options(
    models: Sequence[PrivacyModel], quasi_identifiers: Sequence[str], suppression_limit: float, missing: Missing
) -> None:
    if not models:
        msg = with_hint("no privacy model was given.", "pass models=[KAnonymity(5)], for instance.")
        raise InputError(msg)
    if not quasi_identifiers:
        msg = with_hint("no quasi-identifier was given.", "name the columns that someone may know of a person.")
        raise InputError(msg)
    if not 0 <= suppression_limit < 1:
        msg = with_hint(f"suppression_limit = {suppression_limit!r}.", "a share of the records, from 0 to below 1.")
        raise InputError(msg)
    if missing != "category":
        msg = with_hint(
            f"missing = {missing!r} makes no partition, so nothing can be generalized by it.",
            "anonymize with missing='category', and verify with the other readings.",
        )
        raise InputError(msg)


def _check_roles(
    available: Sequence[str], quasi_identifiers: Sequence[str], sensitive: Sequence[str], identifiers: Sequence[str]
) -> None:
    check_columns(quasi_identifiers, available, "quasi_identifiers")
    check_columns(sensitive, available, "sensitive columns")
    check_columns(identifiers, available, "identifiers")
    roles = (*quasi_identifiers, *sensitive, *identifiers)
    doubled = sorted({name for name in roles if roles.count(name) > 1})
    if doubled:
        msg = with_hint(
            f"columns {listed(doubled)} have more than one role.",
            "a column is an identifier, a quasi-identifier or sensitive; copy it where it must be two of them.",
        )
        raise ColumnError(msg)


def _check_cells(table: Table) -> None:
    if table.n_rows == 0 or table.n_records == 0:
        msg = with_hint("the table is empty.", "there is nothing to protect; check the file and its first line.")
        raise InputError(msg)
    for column in table.columns:
        if not column.is_measured and SUPPRESSED in column.values:
            msg = with_hint(
                f"column {column.name!r} holds a literal '*', which in a release means any value.",
                "replace it by a missing value or another text first; was this table anonymized before?",
            )
            raise ColumnError(msg)


def _with_population(
    table: Table,
    population: Any,
    quasi_identifiers: Sequence[str],
    models: Sequence[PrivacyModel],
    specs: Mapping[str, ColumnSpec] | None,
) -> tuple[Table, CountArray | None]:
    """Return the table with its population below it, and the population's records in every row."""
    needed = [model.name for model in models if model.needs.population]
    if (population is not None) != bool(needed):
        models_ = f"{listed(needed)} without a population" if needed else "a population, but no model that counts it"
        msg = with_hint(
            f"anonymize was given {models_}.", "k-map and delta-presence go with population=, others do not."
        )
        raise InputError(msg)
    if population is None:
        return table, None
    people = Table.encode(population, tuple(quasi_identifiers), specs)
    _check_cells(people)
    return table.with_population(people), np.append(np.zeros_like(table.counts), people.counts)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges partitions of one table by its models."""

    table: Table
    models: Sequence[PrivacyModel]
    population: CountArray | None
    hierarchies: Mapping[str, Hierarchy]
    reference: Table

    def stats(self, partition: Partition) -> ClassStats:
        """Collect what the models ask for; they compare with the whole input."""
        names = {name for model in self.models for name in model.needs.sensitive}
        levels = {name: self.hierarchies[name].levels_with_missing() for name in names & self.hierarchies.keys()}
        stats = partition.stats(self.table, self.models, population=self.population, hierarchies=levels)
        return replace(stats, totals={name: totals(self.reference, name) for name in names})

    def of(self, rows: BoolArray) -> _Judge:
        """Return the judge of some of the rows, who compares with the same whole."""
        return replace(self, table=self.table.take(np.flatnonzero(rows)))

    def passes_as_one_class(self) -> bool:
        """Tell whether all records together satisfy the models."""
        stats = self.stats(Partition.of(self.table, ()))
        return all(model.passes(stats).all() for model in self.models)

    def check_feasible(self) -> None:
        """Raise InfeasibleError where even the coarsest release there is, one class, fails a model."""
        stats = self.stats(Partition.of(self.table, ()))
        failed = [model for model in self.models if not model.passes(stats).all()]
        if failed:
            reached = "; ".join(
                f"{describe(model)} reaches {model.measure(stats)[0]:g} "
                f"({'higher' if model.higher_is_safer else 'lower'} is safer)"
                for model in failed
            )
            n_records = self.table.n_records
            msg = with_hint(
                f"no release of these {n_records} records can satisfy the models. As one class: {reached}.",
                "ask for less, or add records.",
            )
            raise InfeasibleError(msg)

    def check_classes(self, partition: Partition) -> None:
        """Judge the classes that a search found."""
        stats = self.stats(partition)
        for model in self.models:
            if not model.passes(stats).all():
                msg = f"the search left classes that fail {describe(model)}; this is a fault of hushtable"
                raise AssertionError(msg)
