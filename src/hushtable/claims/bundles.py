"""The claim on tables that share persons: who hides with all that is published of a person, in all tables together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims.classes import Classes
from hushtable.claims.grouping import label_rows
from hushtable.claims.histories import (
    HistoryClaim,
    Linkage,
    find_covering_classes,
    group_cells,
    measure_linkage,
    number_histories,
    search_sets,
)
from hushtable.claims.verdict import Failure, SpeaksOfNobody, Verdict
from hushtable.claims.verifying import claim_from_dict
from hushtable.columns import text_codes
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.io import frames
from hushtable.models import KAnonymity, KMAnonymity, LinkedKAnonymity, PrivacyModel, describe
from hushtable.wording import join_names

_BUNDLE = "the bundle of a person"  # the name of the column that models of classes see beside a table's own


class Published(NamedTuple):
    """A published table: the class of every row by its cells, and whose it is; -1 is nobody."""

    name: str
    frame: frames.Frame
    persons: CodeArray
    classes: CountArray
    cells: CodeArray  # (n_columns, n_classes)
    is_star: BoolArray  # of each of them


class KnownRecords(NamedTuple):
    """Records of all tables, each with what its person's row shows: who knows one of them knows that row, too."""

    classes: CountArray
    persons: CodeArray
    counts: CountArray
    covering: list[frozenset[int]]  # of every class, the classes whose cells could hold it


@dataclass(frozen=True, slots=True, eq=False)
class LinkedTables(SpeaksOfNobody):
    """What several tables publish of a person is published of k persons, or no table shares a person with another.

    A bundle is a person's row in the table of the persons, and the multiset of the person's rows in every other table;
    that there are none is part of it. Models of sensitive columns judge the rows of a table that are equal, and of
    equal bundles.

    Attributes
    ----------
    tables : mapping of name to Classes
        What each table claims by itself; its person is its key.
    unit : str, optional
        The table with one row for every person.
    is_joined : bool
        Whether the tables share their keys.
    """

    tables: Mapping[str, Classes] = field()
    unit: str | None = None
    is_joined: bool = True

    kind: ClassVar[str] = "linked tables"

    def __post_init__(self) -> None:
        if not self.tables:
            raise InputError("no table was named.", hint="name the tables of the folder: tables=.")
        if self.unit is not None and self.unit not in self.tables:
            raise InputError(
                f"table {self.unit!r} is none of the tables.", hint=f"name one: {quote_names(self.tables)}."
            )
        if self.is_joined:
            unlinked = [name for name, claim in self.tables.items() if not isinstance(claim, HistoryClaim)]
            if unlinked:
                raise InputError(
                    f"tables {quote_names(unlinked)} share their key with others, and each is judged by itself.",
                    hint="ask for linked-k-anonymity, which judges all tables of a person together; or for no link "
                    "between the tables.",
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers, each with its table."""
        return tuple(f"{name}.{column}" for name, claim in self.tables.items() for column in claim.columns)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:  # type: ignore[override]
        """The models, each once."""
        return tuple(dict.fromkeys(model for claim in self.tables.values() for model in claim.models))

    @property
    def person(self) -> str | None:  # type: ignore[override]
        """The key by which tables are joined."""
        return next((claim.person for claim in self.tables.values() if self.is_joined), None)

    @property
    def k(self) -> int:
        """How many persons are to have each bundle."""
        return max(claim.k for claim in self.tables.values())

    @property
    def conditions(self) -> tuple[str, ...]:
        """What holds over all tables, what of the keys, and what of each table."""
        return (*self._joint_conditions(), *self._key_conditions(), *self._table_conditions())

    @property
    def sentence(self) -> str:
        """All of it, and the reader it assumes."""
        columns, conditions = (
            ", ".join(self.columns),
            " and ".join((*self._joint_conditions(), *self._table_conditions())),
        )
        if not self.is_joined:
            return f"{conditions} on {columns}; no key links two tables, and no reader knows other columns of a record"
        most = [model.m for model in self.models if isinstance(model, KMAnonymity)]
        known = (
            "all records of a person in all tables"
            if self._is_linked
            else (f"the person's row and any {max(most)} further records of all tables")
        )
        return f"{conditions} on {columns}, for a reader who knows {known}, and no other column of them"

    @property
    def history_models(self) -> tuple[PrivacyModel, ...]:
        """The models that judge bundles."""
        return tuple(model for model in self.models if model.needs.histories)

    @property
    def _is_linked(self) -> bool:
        return any(isinstance(model, LinkedKAnonymity) for model in self.models)

    def _joint_conditions(self) -> tuple[str, ...]:
        if not self.is_joined:
            return ()
        return tuple(self.describe_joint(model) for model in self.history_models)

    def describe_joint(self, model: PrivacyModel) -> str:
        """Return a model of bundles in words."""
        names = join_names([*self.tables])
        if isinstance(model, KMAnonymity) and self.unit is not None:
            return f"{describe(model)} besides the person's row, over {names}"
        return f"{describe(model)}, over {names}"

    def _key_conditions(self) -> tuple[str, ...]:
        if not self.is_joined:
            return ("no key is in two tables",)
        return tuple(self._key_condition(name) for name in sorted(self.tables, key=lambda name: name != self.unit))

    def _key_condition(self, name: str) -> str:
        if self.unit is None:
            return f"{name}: every record says whose it is"
        return (
            f"{name}: one row for every person"
            if name == self.unit
            else f"{name}: every record is of a person of {self.unit}"
        )

    def _table_conditions(self) -> tuple[str, ...]:
        return tuple(
            f"{name}: {condition}"
            for name, claim in self.tables.items()
            for condition in self._claim_alone(claim).conditions
            if not (self.is_joined and condition == _describe_stand_in(claim))
        )

    def with_knowledge_of(self, asked: Any) -> LinkedTables:
        """Return the claim with what another of its kind knows besides of each table."""
        if not isinstance(asked, LinkedTables):
            return self
        tables = {
            name: claim.with_knowledge_of(asked.tables[name]) if name in asked.tables else claim
            for name, claim in self.tables.items()
        }
        return replace(self, tables=tables)

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge published tables, given by name. Tables that lack are not judged; tables that nobody claims fail."""
        if original is not None:
            raise InputError(
                "linked tables were given with an original.", hint="they are judged by themselves: leave it out."
            )
        read = {name: frames.read(table) for name, table in data.items() if name in self.tables}
        strangers = [name for name in data if name not in self.tables]
        failures = [Failure(f"no other table: {name!r} is none that the claim names") for name in strangers]
        lacking = [name for name in self.tables if name not in read]
        parts = [self._verify_jointly(read, lacking)] if self.is_joined else [*self._verify_separately(read)]
        unchecked = {words: needs for part in parts for words, needs in part.unchecked.items()}
        unchecked |= {
            words: f"table {name!r} is not there"
            for name in lacking
            for words in self.conditions
            if words.startswith(f"{name}: ")
        }
        return Verdict(
            ("no other table", *self.conditions),
            (*failures, *(failure for part in parts for failure in part.failures)),
            self.columns,
            sum(frame.n_records for frame in read.values()),
            unchecked,
            {name: figure for part in parts for name, figure in part.figures.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest holds: what each table claims, and how they hang together."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "unit": self.unit,
            "is_joined": self.is_joined,
            "tables": {name: claim.to_dict() for name, claim in self.tables.items()},
        }

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> LinkedTables:
        """Read what `to_dict` wrote."""
        claims = {str(name): claim_from_dict(claim) for name, claim in entries["tables"].items()}
        tables = {name: claim for name, claim in claims.items() if isinstance(claim, Classes)}
        if len(tables) < len(claims):
            raise TypeError
        return cls(tables=tables, unit=entries["unit"], is_joined=bool(entries["is_joined"]))

    def _verify_separately(self, read: Mapping[str, frames.Frame]) -> Iterator[Verdict]:
        """Judge each table by itself, and that no key joins two of them."""
        seen: dict[str, set[str]] = {}
        figures: dict[str, Any] = {"distinct_sensitive": {}, "tables": {}}
        for name, frame in read.items():
            claim = self.tables[name]
            verdict = self._claim_alone(claim).verify(frame)
            figures["tables"][name] = dict(verdict.figures)
            figures["distinct_sensitive"] |= _with_table(name, verdict.distinct_sensitive)
            if claim.person is not None:
                seen[name] = set(claim.person_cells(frame).drop_nulls().cast(pl.String).to_list())
            yield _with_prefix(name, verdict)
        joined = sorted(
            {value for name, own in seen.items() for other in seen if other != name for value in own & seen[other]}
        )
        condition = self._key_conditions()[0]
        failures = (Failure(f"{condition}: {len(joined):,} are"),) if joined else ()
        yield Verdict((condition,), failures, (), 0, figures=figures)

    def _verify_jointly(self, read: Mapping[str, frames.Frame], lacking: Sequence[str]) -> Verdict:
        published = self.group_tables(read)
        n_persons = _count_persons(published)
        failures, unchecked = [*self._find_key_failures(published)], dict[str, str]()
        if not n_persons:
            failures.append(Failure("no records"))
        bundles = _number_bundles(published)
        n_alike = np.bincount(bundles)[bundles] if n_persons else np.zeros(0, dtype=np.int64)
        for model in self.history_models:
            words = self.describe_joint(model)
            failure = self._judge_bundles(model, published, n_alike, unchecked)
            if failure is not None:
                failures.append(failure)
            elif lacking:
                unchecked[words] = f"tables {quote_names(lacking)} are not there"
        figures: dict[str, Any] = {
            "n_persons": n_persons,
            "n_bundles": int(bundles.max(initial=-1)) + 1,
            "smallest_bundle": int(n_alike.min(initial=n_persons)),
            "distinct_sensitive": {},
            "tables": {},
        }
        for table in published:
            claim = self.tables[table.name]
            verdict = self._claim_alone(claim).verify(self._with_bundles(table, bundles))
            own, stand_in = _with_prefix(table.name, verdict), f"{table.name}: {_describe_stand_in(claim)}"
            failures += [failure for failure in own.failures if failure.condition != stand_in]
            unchecked |= own.unchecked
            figures["distinct_sensitive"] |= _with_table(table.name, verdict.distinct_sensitive)
            figures["tables"][table.name] = {"n_records": table.frame.n_records, "n_classes": len(table.cells[0])}
        return Verdict((), tuple(failures), (), 0, unchecked, figures)

    def group_tables(self, read: Mapping[str, frames.Frame]) -> list[Published]:
        """Group the rows of every table by their cells, and code the persons of all tables together."""
        named, cells = [name for name in self.tables if name in read], []
        for name in named:
            claim = self.tables[name]
            check_columns((str(claim.person), *claim.columns), read[name].columns, f"table {name!r}")
            cells.append(claim.person_cells(read[name]).cast(pl.String))
        codes = text_codes(pl.concat(cells), "key") if cells else np.empty(0, dtype=np.int32)
        persons = np.split(codes, np.cumsum([len(each) for each in cells])[:-1]) if cells else []
        return [
            Published(name, read[name], own, *group_cells(read[name], self.tables[name].columns))
            for name, own in zip(named, persons, strict=True)
        ]

    def _find_key_failures(self, published: Sequence[Published]) -> Iterator[Failure]:
        """Find persons with two rows or none in the table of persons, and records of nobody."""
        unit = next((table for table in published if table.name == self.unit), None)
        for table in published:
            nobody = table.persons < 0
            if table is unit:
                n_odd = int(
                    nobody.sum() + (np.bincount(table.persons[~nobody], weights=table.frame.records[~nobody]) > 1).sum()
                )
            elif self.unit is None:
                n_odd = int(nobody.sum())
            elif unit is None:
                # The table of persons is not there, which the verdict says.
                continue
            else:
                n_odd = int((nobody | ~np.isin(table.persons, unit.persons)).sum())
            if n_odd:
                yield Failure(f"{self._key_condition(table.name)}: {n_odd:,} are not", 0, n_odd, float(n_odd))

    def _judge_bundles(
        self, model: PrivacyModel, published: Sequence[Published], n_alike: CountArray, unchecked: dict[str, str]
    ) -> Failure | None:
        """Judge what is known of a person in all tables together."""
        words, k = self.describe_joint(model), model.min_size
        # What one of k equal bundles holds, all of them hold.
        is_few, fewest = n_alike < k, int(n_alike.min(initial=k))
        if isinstance(model, KMAnonymity) and is_few.any():
            known = self.list_known_records(published)
            search = search_sets(known.classes, known.persons, known.counts, known.covering, model)
            is_few, fewest = search.is_few, search.fewest
            if search.n_left_out and not is_few.any():
                unchecked[words] = (
                    f"a sample of {search.n_sets:,} sets of records was looked at, and none finds fewer than {k} "
                    f"persons; {search.n_left_out:,} persons have more sets"
                )
        if not is_few.any():
            return None
        found = f"{words}: {int(is_few.sum()):,} of {len(n_alike):,} persons are among fewer, at worst among {fewest:,}"
        alone = [table.name for table in published if _is_safe_alone(table, k)]
        if alone and len(published) > 1:
            found = f"{found}; alone, these tables hold: {join_names(alone)}"
        return Failure(found, 0, int(is_few.sum()), float(fewest))

    def list_known_records(self, published: Sequence[Published]) -> KnownRecords:
        """Return the records of all tables, each beside its person's row, and which could be taken for which."""
        unit = next((table for table in published if table.name == self.unit), None)
        starts, classes, persons, counts = _concatenate(published)
        row_of_person = np.full(_count_persons(published) + 1, -1)
        if unit is not None:
            row_of_person[unit.persons] = unit.classes
            row_of_person[-1] = -1
        labels, first = label_rows(np.array([classes, row_of_person[persons]]))
        # The cells of all tables side by side, and those of the person's row; where a record has none, they are equal.
        own, rows = classes[first], row_of_person[persons[first]]
        cells, stars = [np.searchsorted(starts, own, side="right")], [np.zeros(len(own), dtype=bool)]
        for table, start in zip(published, starts[:-1], strict=True):
            is_here = (own >= start) & (own < start + len(table.cells[0]))
            places = [(np.where(is_here, own - start, 0), is_here)]
            places += [(np.maximum(rows, 0), rows >= 0)] if table is unit else []
            for at, is_there in places:
                cells += [np.where(is_there, column[at], -2) for column in table.cells]
                stars += [is_there & column[at] for column in table.is_star]
        return KnownRecords(labels, persons, counts, find_covering_classes(np.array(cells), np.array(stars)))

    def _claim_alone(self, claim: Classes) -> Classes:
        """Return what a table is to hold besides what all hold together, as far as its file can show it.

        How many records were left out no file shows.
        """
        if not claim.is_whole:
            claim = replace(claim, limits=replace(claim.limits, suppression=None))
        return self._build_class_claim(claim) if self.is_joined else claim

    def _build_class_claim(self, claim: Classes) -> Classes:
        """Return what is claimed of the rows of a table in the classes of equal cells and equal bundles."""
        beside = (_BUNDLE,) if self._is_linked else ()
        return Classes(
            (*claim.columns, *beside),
            (_stand_in(claim), *(model for model in claim.models if not model.needs.histories)),
            claim.sensitive,
            claim.specs,
            claim.origins,
            claim.hierarchies,
            claim.bounds,
            claim.rounded,
            person=claim.person,
            limits=claim.limits,
            suppressed=claim.suppressed,
        )

    def _with_bundles(self, table: Published, bundles: CountArray) -> frames.Frame:
        if not self._is_linked:
            return table.frame
        numbers = pl.Series(np.append(bundles, -1)[table.persons].astype(np.int32)).cast(pl.String)
        return table.frame.with_columns({_BUNDLE: numbers})


def _stand_in(claim: Classes) -> PrivacyModel:
    """Return the model of classes that asks what bundles promise anyway: a claim on classes has one at least."""
    return KAnonymity(1 if claim.n_known is not None else claim.k)


def _describe_stand_in(claim: Classes) -> str:
    return f"{describe(_stand_in(claim))}, by persons"


def _with_table(name: str, figures: Mapping[str, int]) -> dict[str, int]:
    return {f"{name}.{column}": figure for column, figure in figures.items()}


def _with_prefix(name: str, verdict: Verdict) -> Verdict:
    """Return a verdict whose conditions say of which table they speak."""
    return replace(
        verdict,
        failures=tuple(replace(each, condition=f"{name}: {each.condition}") for each in verdict.failures),
        unchecked={f"{name}: {words}": needs for words, needs in verdict.unchecked.items()},
        figures={},
    )


def _concatenate(published: Sequence[Published]) -> tuple[CountArray, CountArray, CodeArray, CountArray]:
    """Return where the classes of each table begin; and of all rows the class over all tables, person and count."""
    starts = np.cumsum([0, *(len(table.cells[0]) for table in published)])
    classes = np.concatenate([table.classes + start for table, start in zip(published, starts[:-1], strict=True)])
    persons = np.concatenate([table.persons for table in published])
    return starts, classes, persons, np.concatenate([table.frame.records for table in published])


def _count_persons(published: Sequence[Published]) -> int:
    return 1 + max((int(table.persons.max(initial=-1)) for table in published), default=-1)


def _number_bundles(published: Sequence[Published]) -> CountArray:
    """Number the bundles of all persons; equal ones have one number."""
    if not _count_persons(published):
        return np.empty(0, dtype=np.int64)
    _, classes, persons, counts = _concatenate(published)
    return number_histories(classes, persons, counts)


def _is_safe_alone(table: Published, k: int) -> bool:
    """Tell whether the records of a table, without the others, are those of k persons each."""
    present, persons = np.unique(table.persons, return_inverse=True)
    # Codes of the persons who are here: others have no history that could be alone.
    numbers = (persons - (present[:1] < 0).sum()).astype(np.int32)
    history = number_histories(table.classes, numbers, table.frame.records)
    return bool((np.bincount(history) >= k).all())


def measure_joint_linkage(claim: LinkedTables, data: Mapping[str, Any]) -> Linkage | None:
    """Count whom the person's row and 1, 2 or 3 records of all tables find; None where no key joins tables."""
    if not claim.is_joined:
        return None
    published = claim.group_tables({name: frames.read(table) for name, table in data.items() if name in claim.tables})
    known = claim.list_known_records(published)

    def find_others(rows: CountArray) -> tuple[CountArray, CountArray]:
        pairs = [(each, row) for row in rows.tolist() for each in known.covering[known.classes[row]]]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    return measure_linkage(known.classes, known.persons, known.counts, claim.k, str(claim.person), others=find_others)
