"""Protecting methods: a table in, a release out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from hushtable import frames
from hushtable._types import CountArray, Missing, Progress
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.cells import SUPPRESSED
from hushtable.column import ColumnSpec
from hushtable.errors import ColumnError, InfeasibleError, InputError, check_columns, listed, with_hint
from hushtable.models.base import PrivacyModel, describe
from hushtable.partition import Partition
from hushtable.pseudonyms import Pseudonyms
from hushtable.quality import loss as losses
from hushtable.release import Release
from hushtable.search import Budget
from hushtable.table import Table

__all__ = ["METHODS", "Mondrian", "anonymize"]

METHODS: Final[Mapping[str, type[Mondrian]]] = {"mondrian": Mondrian}


def anonymize(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    models: Iterable[PrivacyModel],
    sensitive: Sequence[str] = (),
    method: str | Mondrian = "mondrian",
    loss: str = "ncp",
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
        All of them hold for every class of the release.
    sensitive : sequence of str
        Sensitive columns besides those that a model judges: how diverse the classes
        are in them is reported.
    method : "mondrian" or Mondrian
    loss : {"ncp"}
        The objective; see `hushtable.quality.loss.set_ncp`.
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
        `Release.verify` and `Release.write` cannot judge these models yet.
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
    searcher = _method(method)
    _check_options(models, quasi_identifiers, loss, missing)
    source = data if isinstance(data, Table) else frames.read(data)
    available = source.names if isinstance(source, Table) else source.columns
    judged = (name for model in models for name in model.needs.sensitive)
    sensitive = tuple(dict.fromkeys((*sensitive, *judged)))
    pseudonymized = pseudonyms.columns if pseudonyms else ()
    _check_roles(available, quasi_identifiers, sensitive, (*identifiers, *pseudonymized))

    table = Table.encode(source, (*quasi_identifiers, *sensitive), specs, typed=sensitive)
    _check_cells(table)
    everyone, people = _with_population(table, population, quasi_identifiers, models, specs)
    distinct, inverse = everyone.collapse()
    if people is not None:
        # Sums of whole numbers below 2^53 are exact in bincount's floats.
        people = np.bincount(inverse, weights=people, minlength=distinct.n_rows).astype(np.int64)
    _check_feasible(distinct, models, people)
    found, cuts, trace = searcher.search(distinct, quasi_identifiers, models, budget, progress, population=people)
    _check_classes(found, distinct, models, people)
    recoding = searcher.recode(distinct, found, cuts, quasi_identifiers)
    quality = losses.measure(recoding, found.sizes)
    return Release(
        source=source,
        partition=Partition.from_labels(found.labels[inverse[: table.n_rows]], found.n_classes, table.counts),
        recoding=recoding,
        suppressed=np.zeros(table.n_rows, dtype=bool),
        models=models,
        loss=quality.set_ncp,
        quality=quality,
        trace=trace,
        sensitive=sensitive,
        specs=dict(specs or {}),
        removed=tuple(identifiers),
        pseudonyms=pseudonyms,
    )


def _method(method: str | Mondrian) -> Mondrian:
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        msg = with_hint(f"unknown method {method!r}.", f"the methods are {listed(METHODS)}.")
        raise InputError(msg)
    return METHODS[method]()


def _check_options(
    models: Sequence[PrivacyModel], quasi_identifiers: Sequence[str], loss: str, missing: Missing
) -> None:
    if not models:
        msg = with_hint("no privacy model was given.", "pass models=[KAnonymity(5)], for instance.")
        raise InputError(msg)
    if not quasi_identifiers:
        msg = with_hint("no quasi-identifier was given.", "name the columns that someone may know of a person.")
        raise InputError(msg)
    if loss != "ncp":
        msg = with_hint(f"unknown loss {loss!r}.", "the loss is 'ncp'.")
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
    return table.with_population(people), np.append(np.zeros_like(table.counts), people.counts)


def _check_feasible(table: Table, models: Sequence[PrivacyModel], population: CountArray | None) -> None:
    """Judge the coarsest release there is: one class."""
    whole = Partition.of(table, ())
    stats = whole.stats(table, models, population=population)
    failed = [model for model in models if not model.passes(stats).all()]
    if failed:
        reached = "; ".join(
            f"{describe(model)} reaches {model.measure(stats)[0]:g} "
            f"({'higher' if model.higher_is_safer else 'lower'} is safer)"
            for model in failed
        )
        msg = with_hint(
            f"no release of these {table.n_records} records can satisfy the models. As one class: {reached}.",
            "ask for less, or add records.",
        )
        raise InfeasibleError(msg)


def _check_classes(
    partition: Partition, table: Table, models: Sequence[PrivacyModel], population: CountArray | None
) -> None:
    stats = partition.stats(table, models, population=population)
    for model in models:
        if not model.passes(stats).all():
            msg = f"the search left classes that fail {describe(model)}; this is a fault of hushtable, please report it"
            raise AssertionError(msg)
