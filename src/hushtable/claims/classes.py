"""The claim that every class of equal published cells satisfies privacy models."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, Missing
from hushtable.claims.column_entries import (
    describe_missing_hierarchies,
    describe_missing_order,
    kinds_of,
    marks_of,
    merge_specs,
    origins_in,
    read_roundings,
    rule_of,
    rules_in,
    rules_of,
    specs_in,
)
from hushtable.claims.coverage import count_fewest_persons, fewest_persons_among, find_filling
from hushtable.claims.grouping import (
    Grouped,
    Held,
    build_ground,
    class_figures,
    count_records,
    count_values,
    find_coverage,
    find_distinct_coverage,
    find_suppressed_rows,
    group_rows,
    match_classes,
    read_sensitive_columns,
    spelling_failures,
)
from hushtable.claims.limits import Limits
from hushtable.claims.verdict import Claim, Failure, SpeaksOfNobody, Verdict
from hushtable.columns import SUPPRESSED, ColumnSpec, bound_names, text_codes, to_canonical_texts
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.hierarchy import Codes, Dictionary
from hushtable.io import frames
from hushtable.models import ClassStats, Histogram, PrivacyModel, describe, model_to_dict, models_from_claim

if TYPE_CHECKING:
    import polars as pl

    from hushtable.claims.item_counts import HeldItems, ItemCounts
    from hushtable.columns import KeptRounding

_EMPTY_SPEC: Final = ColumnSpec()
_RULES_OF_CLAIM: Final = {Codes.name, Dictionary.name}


_Found: TypeAlias = tuple[Failure, Callable[[], CountArray] | None]
"""A failure, and a function that finds its rows, where it has some."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of judging a table."""

    failures: tuple[_Found, ...]
    n_records: int
    unchecked: Mapping[str, str]
    figures: Mapping[str, Any]
    needs_publisher: tuple[str, ...] = ()
    by_records: tuple[str, ...] = ()  # conditions on persons, judged by records where nothing tells whose they are


@dataclass(frozen=True, slots=True)
class CountedPersons:
    """How many persons there are at least, whichever of the rows that published cells cover are the published ones."""

    by_class: CountArray = field(repr=False)
    suppressed: int  # whose records are published with no cell left
    in_all: int


@dataclass(frozen=True, slots=True, eq=False)
class ClaimOnColumns(SpeaksOfNobody):
    """The common part of claims on quasi-identifiers: what they know of the columns, and how a manifest holds it."""

    columns: tuple[str, ...] = field()  # the quasi-identifiers
    models: tuple[PrivacyModel, ...] = field()
    sensitive: tuple[str, ...] = ()  # columns whose diversity is reported, those that a model judges among them
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)  # kinds before publishing
    # How quasi-identifiers are spelled in the input and a population, and which cells nobody judges are missing.
    origins: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)
    # What labels mean, and how far apart sensitive values are; None where a manifest does not tell the hierarchy.
    hierarchies: Mapping[str, Any] = field(default_factory=dict, repr=False)
    bounds: tuple[str, ...] = ()  # the columns beside which stand the bounds of their cells
    rounded: Mapping[str, KeptRounding] = field(default_factory=dict)  # kept columns whose numbers are rounded

    @property
    def parted(self) -> tuple[str, ...]:
        """The sensitive columns whose cells are sets of items."""
        return tuple(name for name in self.sensitive if self.specs.get(name, _EMPTY_SPEC).separator is not None)

    @property
    def _input_specs(self) -> dict[str, ColumnSpec]:
        """How columns are spelled in the input, and in a population; sensitive ones where cells were made missing."""
        separators = {name: self.specs[name].separator for name in self.columns if name in self.specs}
        cleaned = {name: self.specs[name].spelling for name in self.sensitive if name in self.specs}
        cleaned = {name: spec for name, spec in cleaned.items() if spec.odd_cells == "missing"}
        sets = {name: ColumnSpec(separator=each) for name, each in separators.items() if each}
        rounded = {name: self.specs[name].spelling for name in self.rounded if name in self.specs}
        return {**sets, **cleaned, **rounded, **self.origins}

    @property
    def _columns_with_kinds(self) -> tuple[str, ...]:
        """The columns whose kinds a manifest tells."""
        return (*self.columns, *self.sensitive, *self.rounded)

    def _read_original(self, original: object) -> frames.Frame:
        """Read the input as the release read it: without odd cells, rounded."""
        frame = frames.read(original).with_specs(self._input_specs).without_odd_cells()[0]
        return self.round_as_published(frame)

    def round_as_published(self, original: frames.Frame) -> frames.Frame:
        """Round the sensitive columns of the input as the release did; no other rounded column is compared with it."""
        compared = {name: each for name, each in self.rounded.items() if name in self.sensitive}
        if not compared:
            return original
        from hushtable.io import round_frame

        check_columns(tuple(compared), original.columns, "sensitive columns of the original")
        return round_frame(original, compared)

    @property
    def _rounding_conditions(self) -> tuple[str, ...]:
        return tuple(f"column {name} holds {rounding.describe()}" for name, rounding in self.rounded.items())

    def _find_rounding_failures(self, frame: frames.Frame) -> Iterable[_Found]:
        """Find rounded columns with cells that are not rounded."""
        if not self.rounded:
            return ()
        # Few tables have such columns, and a command loads what it runs.
        from hushtable.claims.rounded import find_rounding_failures

        return find_rounding_failures(frame, self.rounded, self._rounding_conditions, self.specs)

    def with_rounded_columns(self, names: Sequence[str]) -> Self:
        """Return the claim on a table that has only some of the rounded columns."""
        return replace(self, rounded={name: each for name, each in self.rounded.items() if name in names})

    def _to_entries(self) -> dict[str, Any]:
        """Return the models, columns and kinds, and the hierarchies as far as they may be told."""
        kinds = kinds_of(self._columns_with_kinds, self.specs)
        return {
            "columns": list(self.columns),
            "models": [model_to_dict(model) for model in self.models],
            "sensitive": list(self.sensitive),
            "kinds": kinds,
            "spellings": marks_of({name: self.specs[name] for name in kinds}),
            "origins": marks_of(self.origins),
            "hierarchies": rules_of(self.hierarchies),
            **({"bounds": list(self.bounds)} if self.bounds else {}),
            **({"rounded": {name: each.to_dict() for name, each in self.rounded.items()}} if self.rounded else {}),
        }

    @staticmethod
    def _from_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
        """Read what `_to_entries` wrote."""
        return {
            "columns": tuple(entries["columns"]),
            "models": models_from_claim(entries["models"]),
            "sensitive": tuple(entries["sensitive"]),
            "specs": specs_in(entries["kinds"], entries["spellings"]),
            "origins": origins_in(entries["origins"]),
            "hierarchies": rules_in(entries["hierarchies"]),
            "bounds": tuple(entries.get("bounds", ())),
            "rounded": read_roundings(entries.get("rounded", {})),
        }

    def with_bounds(self) -> Self:
        """Return the claim that beside every column of numbers, dates or times stand the bounds of its cells.

        Raises
        ------
        InputError
            No column has any.
        """
        from hushtable.claims.bounds import check_any_bounds, columns_with_bounds

        bounded = columns_with_bounds(kinds_of(self.columns, self.specs), self.hierarchies)
        return replace(self, bounds=check_any_bounds(bounded, self.columns))

    @property
    def bound_columns(self) -> tuple[str, ...]:
        """The columns that hold bounds."""
        return tuple(each for name in self.bounds for each in bound_names(name))

    def _judge_bounds(self, frame: frames.Frame, verdict: Verdict) -> Verdict:
        """Return a verdict on the bounds too, where some are claimed: few releases have any, so loaded only then."""
        if not self.bounds:
            return verdict
        from hushtable.claims.bounds import add_bounds_to_verdict

        return add_bounds_to_verdict(self, frame, verdict)

    def _merge_knowledge(self, request: ClaimOnColumns) -> dict[str, Any]:
        """Return the orders, spellings and hierarchies that this claim and another know together."""
        # What a policy does not know: ranges of codes, the language of labels.
        own = {name: each for name, each in self.hierarchies.items() if (rule_of(each) or {}).keys() & _RULES_OF_CLAIM}
        return {
            "specs": merge_specs(self.specs, request.specs),
            "origins": {**request.origins, **self.origins},
            "hierarchies": {**self.hierarchies, **request.hierarchies, **own},
        }


@dataclass(frozen=True, slots=True, eq=False)
class Classes(ClaimOnColumns):
    """Every class of equal published cells satisfies models."""

    population: Any = field(default=None, repr=False)  # what k-map and delta-presence count; it is never in a manifest
    person: str | None = None  # whose record a row is: classes count persons; in the original where it is not published
    is_fresh: bool = False  # whether it is a new pseudonym for every record, so that the original is asked
    limits: Limits = field(default_factory=Limits)
    missing: Missing = "category"
    suppressed: str | None = SUPPRESSED  # the cell of suppressed records; None where there are none
    is_whole: bool = True  # whether no sensitive value of the input lacks, so that models may compare with the table

    kind: ClassVar[str] = "classes"

    def __post_init__(self) -> None:
        judged = (name for model in self.models for name in model.needs.sensitive)
        object.__setattr__(self, "sensitive", tuple(dict.fromkeys((*self.sensitive, *judged))))
        if not self.models:
            raise InputError("no privacy model to verify.", hint="pass models=[KAnonymity(5)], for instance.")
        if not self.columns:
            raise InputError(
                "no quasi-identifier to group by.", hint="name the columns that someone may know of a person."
            )
        if self.missing not in ("category", "wildcard", "worst"):
            raise InputError(f"missing = {self.missing!r}.", hint="choose 'category', 'wildcard' or 'worst'.")
        unit = f"sets of items: {quote_names(self.parted)}" if self.parted else "persons" if self.person else None
        if unit is not None and self.missing != "category":
            raise InputError(
                f"missing = {self.missing!r} was given with {unit}.",
                hint="they are counted in classes: missing='category'.",
            )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The models, limits and rounded columns, in words."""
        suppression = self.limits.suppression_in_words
        return (*self._conditions_of_classes, *([suppression] if suppression else []), *self._rounding_conditions)

    @property
    def _conditions_of_classes(self) -> tuple[str, ...]:
        return (*map(self.describe_model, self.models), *self.limits.describe_by_name().values())

    @property
    def sentence(self) -> str:
        """All of it, and the reader it assumes."""
        columns = ", ".join(self.columns)
        conditions = " and ".join(self._conditions_of_classes)
        return f"{conditions} on {columns}, for a reader who knows no other column of a record"

    def with_knowledge_of(self, asked: Claim) -> Classes:
        """Return the claim with what another of its kind knows besides: orders, hierarchies, the population."""
        if not isinstance(asked, Classes):
            return self
        return replace(
            self,
            **self._merge_knowledge(asked),
            population=asked.population,
            limits=self.limits.with_stricter_suppression(asked.limits),
        )

    def needs_original(self, columns: Sequence[str]) -> bool:
        """Tell whether a table that publishes these columns is judged beside the input."""
        return not self.is_whole or (self.person is not None and (self.is_fresh or self.person not in columns))

    @property
    def k(self) -> int:
        """How many the smallest class has to hold, by models and limits."""
        return max(self.limits.smallest_class, *(model.min_size for model in self.models))

    @property
    def n_persons_needed(self) -> int:
        """How many persons the smallest class has to hold, where persons are counted."""
        counted = (model.min_size for model in self.models if model.needs.persons)
        return max((self.limits.smallest_class, *counted))

    @property
    def comparing(self) -> tuple[str, ...]:
        """The conditions that compare with the input, of which records are missing in the table."""
        if self.is_whole:
            return ()
        compared = tuple(self.describe_model(model) for model in self.models if model.needs.reference)
        return (*compared, self.limits.suppression_in_words) if self._hides_suppression else compared

    @property
    def _hides_suppression(self) -> bool:
        """Whether suppressed records are limited, and were left out, so that the table does not show how many."""
        return self.limits.suppression is not None and self.suppressed is None and not self.is_whole

    @property
    def n_known(self) -> int | None:
        """The most records of a person that a reader is taken to know, where the claim says so."""
        return None

    def describe_model(self, model: PrivacyModel) -> str:
        """Return a model in words."""
        words = self._describe(model)
        return words if self.person is None or not model.needs.persons else f"{words}, by persons"

    def _describe(self, model: PrivacyModel) -> str:
        return describe(model) if self._set_of(model) is None else f"{describe(model)}, item by item"

    def _counting(self) -> dict[str, str]:
        """Return the conditions that count who shares a class, and each without saying what it counts."""
        limits = self.limits.describe_by_name().values()
        counting = {self.describe_model(model): self._describe(model) for model in self.models if model.needs.persons}
        return counting | {words: words for words in limits}

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a table from the table alone; the original tells totals and whose records are whose, where asked."""
        frame = frames.read(data)
        result = self._judge(frame, original)
        failures = tuple(
            each
            if rows is None
            else replace(each, find_rows=partial(self._find_failing_rows, each.condition, original))
            for each, rows in result.failures
        )
        verdict = Verdict(
            (*self.conditions, *result.by_records),
            failures,
            self.columns,
            result.n_records,
            result.unchecked,
            result.figures,
            result.needs_publisher,
        )
        return self._judge_bounds(frame, verdict)

    def _find_failing_rows(self, condition: str, original: Any, data: Any) -> CountArray:
        """Judge a table again, and return the rows that fail a condition."""
        for failure, rows in self._judge(data, original).failures:
            if failure.condition == condition and rows is not None:
                return rows()
        raise InputError(f"no row of this table fails {condition!r}.", hint="pass the table that the verdict is on.")

    def _judge(self, data: Any, original: Any) -> Judgement:
        frame = frames.read(data)
        source = None if original is None else self._read_original(original)
        check_columns(self.columns, frame.columns, "quasi_identifiers")
        check_columns(self.sensitive, frame.columns, "sensitive columns")
        counts_people = any(model.needs.population for model in self.models)
        # Nothing tells a suppressed record from one of a class that publishes "*" everywhere, which covers everyone.
        mark = None if counts_people and not self.sensitive else self.suppressed
        grouped = self._group_rows(frame, mark)
        value_columns = [name for name in self.sensitive if name not in self.parted]
        sensitive = read_sensitive_columns(frame, source, value_columns, self.suppressed, self.specs)
        sets = read_item_columns(frame, source, self.parted, self.suppressed, self.specs)
        counted_persons = self._count_persons(grouped, source)
        persons = None if counted_persons is None else counted_persons.by_class
        unjudged = self._lacks_by_condition(source)
        stats = replace(self._class_stats(grouped, sensitive), persons=persons)
        with_population = stats
        if any(model.needs.population and self.describe_model(model) not in unjudged for model in self.models):
            with_population = self._with_population(stats, grouped)
        items = {each.name: each.count_by_class(grouped, persons) for each in sets}
        by_model = self._model_failures(stats, with_population, items, grouped.records, unjudged)
        by_risk = self._risk_failures(stats.crowd, grouped.records)
        failures: list[_Found] = [
            *([(Failure("no records"), None)] if frame.n_records == 0 else []),
            *((each, None) for each in spelling_failures(frame, self.columns)),
            *self._find_rounding_failures(frame),
            *((each, partial(np.asarray, rows)) for items in sets for each, rows in items.find_misordered_sets()),
            *((each, partial(grouped.row_positions_in, classes)) for each, classes in by_model),
            *(
                (each, partial(np.flatnonzero, grouped.is_suppressed))
                for each in self._suppression_failures(grouped.n_suppressed, counted_persons)
            ),
            *self._share_failures(grouped.n_suppressed, frame, source),
            *((each, partial(grouped.row_positions_in, classes)) for each, classes in by_risk),
        ]
        diversity = {name: each.diversity() for name, each in items.items()}
        figures = {**class_figures(stats, grouped, diversity), "missing": self.missing}
        figures |= {} if counted_persons is None else {"n_persons": counted_persons.in_all}
        judged = Judgement(tuple(failures), frame.n_records, unjudged, figures)
        return self._with_conditions_by_records(judged, source, persons)

    def _with_conditions_by_records(
        self, judged: Judgement, source: frames.Frame | None, persons: CountArray | None
    ) -> Judgement:
        """Return a judgement that says which conditions were judged by records alone, and what its publisher has."""
        failed = {failure.condition for failure, _ in judged.failures}
        # Too few records are too few persons, whosever they are.
        uncounted = {name: lack for name, lack in self._lacks_of_persons(source, persons).items() if name not in failed}
        by_records = uncounted.keys() - judged.unchecked
        return replace(
            judged,
            unchecked={**uncounted, **judged.unchecked},
            needs_publisher=(*uncounted, *(() if source else self.comparing)),
            by_records=tuple(f"{words}, by records" for name, words in self._counting().items() if name in by_records),
        )

    def _group_rows(self, frame: frames.Frame, mark: str | None) -> Grouped:
        """Divide the rows into the classes that models judge."""
        return group_rows(frame, self.columns, self.sensitive, mark)

    def _class_models(self) -> tuple[PrivacyModel, ...]:
        """Return the models that judge these classes."""
        return self.models

    @property
    def _columns_with_kinds(self) -> tuple[str, ...]:
        return (*self.columns, *self.sensitive, *(() if self.person is None else (self.person,)), *self.rounded)

    def to_dict(self) -> dict[str, Any]:
        """Return the conditions, columns and kinds, and the hierarchies as far as they may be told."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            **self._to_entries(),
            "person": self.person,
            "is_fresh": self.is_fresh,
            "limits": asdict(self.limits),
            "suppressed": self.suppressed,
            "is_whole": self.is_whole,
        }

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Classes:
        """Read what `to_dict` wrote."""
        return cls(
            **cls._from_entries(entries),
            person=entries["person"],
            is_fresh=bool(entries.get("is_fresh", False)),
            limits=Limits.from_dict(entries["limits"]),
            suppressed=entries["suppressed"],
            is_whole=bool(entries["is_whole"]),
        )

    def _class_stats(self, grouped: Grouped, sensitive: Mapping[str, Held]) -> ClassStats:
        is_shown, counts = ~grouped.is_suppressed, grouped.counts
        sizes = grouped.records
        histograms = {
            name: count_values(grouped.labels, each.codes[is_shown], grouped.n_classes, counts)
            for name, each in sensitive.items()
        }
        if self.missing != "category":
            sizes, histograms = match_classes(grouped.codes[:, grouped.first], sizes, histograms, self.missing)
        return ClassStats(
            sizes,
            histograms,
            {name: each.count_by_value(grouped) for name, each in sensitive.items()},
            grounds={name: build_ground(each.column, self.hierarchies.get(name)) for name, each in sensitive.items()},
        )

    def _with_population(self, stats: ClassStats, grouped: Grouped) -> ClassStats:
        """Add the population of every class; those whom no class covers are one more class, without a record."""
        people, n_left = self._count_population(grouped)
        if not n_left:
            return replace(stats, population=people)
        return replace(
            stats,
            sizes=np.append(stats.sizes, 0),
            histograms={name: _with_empty_class(each) for name, each in stats.histograms.items()},
            population=np.append(people, n_left),
            persons=None if stats.persons is None else np.append(stats.persons, 0),
        )

    def _count_population(self, grouped: Grouped) -> tuple[CountArray, int]:
        """Count the population of every class, and those whom no class covers."""
        everyone = frames.read(self.population).with_specs(self._input_specs).without_odd_cells()[0]
        check_columns(self.columns, everyone.columns, "quasi_identifiers of the population")
        classes, rows, labels = find_distinct_coverage(grouped, everyone, self.columns, self.specs, self.hierarchies)
        people = count_records(labels, 0, everyone.counts)
        is_left = np.ones(len(people), dtype=bool)
        is_left[rows] = False
        return count_records(classes, grouped.n_classes, people[rows]), int(people[is_left].sum())

    def _count_persons(self, grouped: Grouped, source: frames.Frame | None) -> CountedPersons | None:
        """Count persons; None where none are to be counted, or nothing tells whose record a row is."""
        if self.person is None:
            return None
        if self.person in grouped.frame.columns and not self.is_fresh:
            codes = self.person_codes(grouped.frame)
            suppressed = codes[grouped.is_suppressed]
            persons = count_values(grouped.labels, codes[~grouped.is_suppressed], grouped.n_classes).n_distinct()
            return CountedPersons(
                persons, len(np.unique(suppressed[suppressed >= 0])), len(np.unique(codes[codes >= 0]))
            )
        if source is None or describe_missing_hierarchies(self.columns, self.hierarchies):
            return None
        check_columns((self.person,), source.columns, "the person column of the original")
        codes = self.person_codes(source)
        classes, rows = find_coverage(grouped, source, self.columns, self.specs, self.hierarchies)
        counts = source.records
        persons = count_fewest_persons(classes, codes[rows], grouped.records, counts[rows])
        n_published, n_hidden = grouped.frame.n_records, grouped.n_suppressed
        is_covered = np.zeros(len(codes), dtype=bool)
        is_covered[rows] = True
        # Where no record was left out, those that no class covers are suppressed; else they may be either.
        is_hidden = ~is_covered & (n_published == counts.sum())
        is_shown = find_filling(classes, rows, grouped.records, counts)
        may_be = np.ones(len(codes), dtype=bool) if n_hidden else is_covered
        return CountedPersons(
            persons,
            fewest_persons_among(codes[~is_shown], n_hidden, counts[~is_shown], is_hidden[~is_shown]),
            fewest_persons_among(codes[may_be], n_published, counts[may_be], (is_shown | is_hidden)[may_be]),
        )

    def person_codes(self, frame: frames.Frame) -> CodeArray:
        """Code the person column by its cells; those that mean missing are nobody."""
        return text_codes(self.person_cells(frame), str(self.person))

    def person_cells(self, frame: frames.Frame) -> pl.Series:
        """Return the cells of the person column, without those that mean missing."""
        assert self.person is not None
        spec = frame.with_specs(self.specs).spec(self.person)
        text = frame.text(self.person)
        if text is None:
            return frame.column(self.person)
        return to_canonical_texts(text, ColumnSpec(missing_values=spec.missing_values))

    def _set_of(self, model: PrivacyModel) -> str | None:
        """Return the column of sets that a model judges; None where it judges none."""
        return next((name for name in model.needs.sensitive if name in self.parted), None)

    def _model_failures(
        self,
        stats: ClassStats,
        with_population: ClassStats,
        items: Mapping[str, ItemCounts],
        records: CountArray,
        unjudged: Container[str],
    ) -> Iterator[tuple[Failure, BoolArray]]:
        for model in self._class_models():
            if self.describe_model(model) in unjudged:
                continue
            of_items = self._set_of(model)
            if of_items is not None:
                failed, worst = items[of_items].judge(model)
                if failed.any():
                    yield (
                        Failure(self.describe_model(model), int(failed.sum()), int(records[failed].sum()), worst),
                        failed,
                    )
                continue
            # A class of the population alone is judged by what counts a population only.
            judged_stats = with_population if model.needs.population else stats
            failed = ~model.passes(judged_stats)
            if failed.any():
                # That class comes last and holds no record.
                all_records = np.append(records, np.zeros(len(failed) - len(records), dtype=np.int64))
                worst = float((np.min if model.higher_is_safer else np.max)(model.measure(judged_stats)[failed]))
                failure = Failure(self.describe_model(model), int(failed.sum()), int(all_records[failed].sum()), worst)
                yield failure, failed[: len(records)]

    def _suppression_failures(self, n_suppressed: int, persons: CountedPersons | None) -> Iterator[Failure]:
        needed = self.k
        reached = n_suppressed if persons is None else persons.suppressed
        if n_suppressed and reached < needed:
            yield Failure(f"suppressed records are 0 or at least {needed}", 1, n_suppressed, float(reached))

    def _share_failures(self, n_suppressed: int, frame: frames.Frame, source: frames.Frame | None) -> Iterator[_Found]:
        n_records = frame.n_records
        if self.limits.counts_blank:
            n_suppressed = int(frame.records[find_suppressed_rows(frame, self.columns, SUPPRESSED)].sum())
        if self._hides_suppression and source is not None:
            n_suppressed, n_records = n_suppressed + max(0, source.n_records - n_records), source.n_records
        if not self.limits.allows_suppression(n_suppressed, n_records):
            share = n_suppressed / n_records
            yield Failure(f"{self.limits.suppression_in_words}: {n_suppressed:,} are, {share:.4g} of all"), None

    def _risk_failures(self, crowd: CountArray, records: CountArray) -> Iterator[tuple[Failure, BoolArray]]:
        words = self.limits.describe_by_name()
        if self.limits.highest_risk is not None:
            failed = crowd < self.limits.smallest_class
            if failed.any():
                worst = math.inf if crowd.min() == 0 else 1.0 / int(crowd.min())
                yield Failure(words["highest risk"], int(failed.sum()), int(records[failed].sum()), worst), failed
        if self.limits.average_risk is not None and len(crowd):
            pairs = zip(records.tolist(), np.maximum(crowd, 1).tolist(), strict=True)
            reached = sum(Fraction(n, size) for n, size in pairs) / int(records.sum())
            if reached > Fraction(str(self.limits.average_risk)):
                everyone = np.ones(len(crowd), dtype=bool)
                yield Failure(words["average risk"], len(crowd), int(records.sum()), float(reached)), everyone

    def _lacks_by_condition(self, source: frames.Frame | None) -> dict[str, str]:
        """Return which models cannot be judged from what is known, and what it would take."""
        lacks = {self.describe_model(model): self._describe_lack(model, source) for model in self.models}
        if self._hides_suppression and source is None:
            lacks[self.limits.suppression_in_words] = (
                "suppressed records were left out: give the original table (--original, in Python original=)"
            )
        return {condition: lack for condition, lack in lacks.items() if lack is not None}

    def _describe_lack(self, model: PrivacyModel, source: frames.Frame | None) -> str | None:
        if model.needs.population:
            if self.population is None:
                return "it counts a population: pass population="
            return describe_missing_hierarchies(self.columns, self.hierarchies) or describe_missing_order(
                self.columns, self.specs
            )
        if model.needs.reference:
            if source is None and not self.is_whole:
                return (
                    "it compares with the input, of which records are missing here: give the original table "
                    "(--original, in Python original=)"
                )
            return describe_missing_hierarchies(model.needs.sensitive, self.hierarchies) or describe_missing_order(
                model.needs.sensitive, self.specs
            )
        return None

    def _lacks_of_persons(self, source: frames.Frame | None, persons: CountArray | None) -> dict[str, str]:
        """Say what it would take to count persons, of the conditions that do, where nothing tells whose rows are."""
        if self.person is None or persons is not None:
            return {}
        hidden = (
            "the table has a new pseudonym for every record"
            if self.is_fresh
            else "the table does not say whose record a row is"
        )
        lack = f"{hidden}: give the original table (--original, in Python original=), with column {self.person!r}"
        if source is not None:
            lack = describe_missing_hierarchies(self.columns, self.hierarchies) or lack
        return dict.fromkeys(self._counting(), lack)


def read_item_columns(
    frame: frames.Frame,
    original: frames.Frame | None,
    names: Sequence[str],
    suppressed: str | None,
    specs: Mapping[str, ColumnSpec],
) -> list[HeldItems]:
    """Read the sensitive columns of sets."""
    if not names:
        return []
    # Few tables have such columns, and a command loads what it runs.
    from hushtable.claims.item_counts import read_item_column

    return [read_item_column(frame, original, name, suppressed, specs[name]) for name in names]


def _with_empty_class(histogram: Histogram) -> Histogram:
    return Histogram(np.append(histogram.offsets, histogram.offsets[-1]), histogram.codes, histogram.counts)
