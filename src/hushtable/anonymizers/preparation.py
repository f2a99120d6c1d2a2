"""A request's table, read and coded once, for however many searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from hushtable.anonymizers.checks import check_cells, check_roles, check_spelling
from hushtable.anonymizers.request import Request
from hushtable.columns import ENGLISH, Column, ColumnSpec
from hushtable.errors import InputError, check_columns, listed, with_hint
from hushtable.hierarchy import Dictionary, Hierarchy
from hushtable.io import Frame, drafts, frames
from hushtable.quality import SetNCP
from hushtable.tables import Table, opened, totals

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What requests of the same columns share.

    Attributes
    ----------
    source : Frame or Table
    table : Table
        The columns that are judged, a row for every row of the source.
    population : Frame or Table, optional
        As it was read.
    people : Table, optional
        The quasi-identifiers of the population.
    ladders : mapping of column to Hierarchy
    specs : mapping of column to ColumnSpec
        How the columns were typed, those of the population included.
    origins : mapping of column to ColumnSpec
        How quasi-identifiers are spelled in the source.
    inputs : tuple of path
        The files that all this was made from.
    """

    source: Frame | Table
    table: Table
    population: Frame | Table | None
    people: Table | None
    ladders: Mapping[str, Hierarchy]
    specs: Mapping[str, ColumnSpec]
    origins: Mapping[str, ColumnSpec] = field(repr=False)
    inputs: tuple[Path, ...]

    def for_request(self, asked: Request) -> Prepared:
        """Return the same with the hierarchies that a request's method asks for: those given, and no other."""
        given = _given(asked)
        if given.keys() == self.ladders.keys():
            return self
        lacking = {name: ladder for name, ladder in given.items() if name not in self.ladders}
        ladders = {**self.ladders, **_ladders(self.everyone, lacking, asked.unknown)}
        return replace(self, ladders={name: ladders[name] for name in given})

    @property
    def everyone(self) -> Table:
        """The table, with the population where one is counted."""
        return self.table if self.people is None else self.table.with_population(self.people)

    def one_by_one(self) -> Prepared:
        """Return the same with a row for every record, so that equal ones may part."""
        return replace(self, source=self.source.one_by_one(), table=self.table.one_by_one())


def prepare(data: Any, asked: Request) -> Prepared:
    """Read and code what a request is about.

    Parameters
    ----------
    data : path, dataframe or Table
    asked : Request

    Raises
    ------
    ColumnError, InputError
        As `hushtable.anonymize` says.
    """
    inputs = (*asked.inputs, *drafts.paths_among(data, asked.population, asked.hierarchies))
    population = asked.population
    if population is not None:
        population = opened(population, asked.specs)
    source, table = _read(data, asked)
    if isinstance(source, Frame) and isinstance(population, Frame):
        population = frames.read_alike((source, population))[1]
    people = _people(population, asked)
    everyone = table if people is None else table.with_population(people)
    _check_columns_named(asked)
    return Prepared(
        source,
        table,
        population,
        people,
        ladders=_ladders(everyone, _given(asked), asked.unknown),
        specs={column.name: _spec_of(column, source, asked) for column in everyone.columns},
        origins={} if isinstance(source, Table) else {n: source.spelling(n).spelling for n in asked.quasi_identifiers},
        inputs=inputs,
    )


def _read(data: Any, asked: Request) -> tuple[Frame | Table, Table]:
    """Return the source, and the columns that are judged as codes."""
    source = opened(data, asked.specs)
    check_roles(source.names, asked)
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
    return source, table


def _spec_of(column: Column, source: Frame | Table, asked: Request) -> ColumnSpec:
    """Say how a column was typed, so that whoever reads its texts types them alike."""
    if isinstance(source, Table) or column.name not in (*asked.judged, asked.person):
        return column.spec
    # A sensitive column is published as it came.
    return column.spec.completed(source.spelling(column.name, is_typed=True))


def _check_columns_named(asked: Request) -> None:
    """Raise ColumnError where hierarchies, weights or scales are of columns that have none."""
    columns = (*asked.quasi_identifiers, *asked.judged)
    check_columns(tuple(asked.hierarchies), columns, "hierarchies of quasi-identifiers and sensitive columns")
    check_columns(tuple(asked.loss.weights), asked.quasi_identifiers, "weights")
    if isinstance(asked.loss, SetNCP) and isinstance(asked.loss.scale, Mapping):
        check_columns(tuple(asked.loss.scale), asked.quasi_identifiers, "scale")


def _given(asked: Request) -> dict[str, Any]:
    """Return what hierarchies are made of: what the user gave, and "auto" where a method needs one besides."""
    given = {name: _spoken(each, asked.writing.language) for name, each in asked.hierarchies.items()}
    return {**dict.fromkeys(asked.quasi_identifiers, "auto"), **given} if asked.method.offers.needs_ladders else given


def _spoken(given: Any, language: str) -> Any:
    """Return a dictionary with its labels in a language, unless it asks for one of its own."""
    rule = Hierarchy.from_dict(given, "") if isinstance(given, Mapping) and Dictionary.name in given else given
    return replace(rule, language=language) if isinstance(rule, Dictionary) and rule.language == ENGLISH else given


def _ladders(table: Table, given: Mapping[str, Any], unknown: Literal["error", "suppress"]) -> dict[str, Hierarchy]:
    """Make the hierarchies of the table's columns."""
    return {
        name: Hierarchy.build(ladder, table.column(name), totals(table, name)[1:], unknown=unknown)
        for name, ladder in given.items()
    }


def _people(population: Frame | Table | None, asked: Request) -> Table | None:
    """Return the quasi-identifiers of the population, where a model counts one."""
    needed = [model.name for model in asked.models if model.needs.population]
    if (population is not None) != bool(needed):
        models = f"{listed(needed)} without a population" if needed else "a population, but no model that counts it"
        msg = with_hint(
            f"anonymize was given {models}.", "k-map and delta-presence go with population=, others do not."
        )
        raise InputError(msg)
    if population is None:
        return None
    if isinstance(population, Frame) and population.is_text:
        check_spelling(population, asked.quasi_identifiers)
    people = Table.encode(population, asked.quasi_identifiers)
    check_cells(people)
    return people
