"""Judge the classes of a table by models: for searches, for kernels, and for releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from hushtable._types import (
    RULE_DISTINCT,
    RULE_OWN,
    RULE_SHARE,
    RULE_SIZE,
    BoolArray,
    CodeArray,
    CountArray,
    FloatArray,
)
from hushtable.anonymizers.own_models import OwnModels, has_rule
from hushtable.errors import InfeasibleError, InputError
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import judge, regroup
from hushtable.models import ClassStats, KAnonymity, PrivacyModel, Rule, describe
from hushtable.tables import Partition, Table, build_ground_distances, count_by_value

NO_LADDERS: Final[Mapping[str, Hierarchy]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Judges which classes of a table's rows may be published."""

    table: Table
    models: tuple[PrivacyModel, ...]
    ladders: Mapping[str, Hierarchy] = field(default_factory=lambda: NO_LADDERS)  # of sensitive columns
    reference: Table | None = None  # the whole input, with whose sensitive values models compare
    population: CountArray | None = None  # its records in every row
    person: str | None = None  # the column that says whose record a row is: classes then count distinct persons
    # Its values lay out the quasi-identifiers, so that a part is cut on the scale of the whole. Default: the
    # reference; with a population, whose rows are coded with the table's, the table itself.
    outline: Table | None = None
    own: OwnModels = field(default_factory=OwnModels, repr=False)  # calls models without a rule for kernels

    @property
    def reference_table(self) -> Table:
        """The table whose distribution models compare with."""
        return self.table if self.reference is None else self.reference

    @property
    def laid_out(self) -> Table:
        """The table by whose values quasi-identifiers are laid out."""
        if self.outline is not None:
            return self.outline
        return self.reference_table if self.population is None else self.table

    @property
    def min_size(self) -> int:
        """The least number of records of a class."""
        return max([1, *(model.min_size for model in self.models)])

    @property
    def is_by_size(self) -> bool:
        """Whether the size alone decides, so that classes of 2 k records or more are never needed."""
        return self.person is None and all(type(model) is KAnonymity for model in self.models)

    @property
    def without_rule(self) -> list[PrivacyModel]:
        """The models that kernels have to call, class by class."""
        return [model for model in self.models if not has_rule(model)]

    @property
    def counted(self) -> list[str]:
        """The columns whose values are counted in every class, each once."""
        names = dict.fromkeys(name for model in self.models for name in model.needs.sensitive)
        return [*names] if self.person is None else [*names, self.person]

    def take_rows(self, rows: BoolArray | CountArray) -> Judge:
        """Return the judge of some rows; models still compare with the same whole."""
        picked: CountArray = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64)
        population = None if self.population is None else self.population[picked]
        part = self.table.take(picked)
        return replace(self, table=part, reference=self.reference_table, population=population, outline=self.laid_out)

    def class_stats(self, partition: Partition) -> ClassStats:
        """Collect what the models ask for."""
        return self._collect_stats(partition, self.table, self.population)

    def count_persons(self, partition: Partition) -> CountArray:
        """Return how many persons, or records where no column tells persons, every class holds."""
        return partition.sizes if self.person is None else partition.histogram(self.table, self.person).n_distinct()

    def list_failing_models(self, partition: Partition) -> list[PrivacyModel]:
        """Return the models that some class fails."""
        stats = self.class_stats(partition)
        return [model for model in self.models if not model.passes(stats).all()]

    def passes(self, offsets: CountArray, rows: CodeArray) -> BoolArray:
        """Judge blocks ``rows[offsets[b]:offsets[b + 1]]``, which may overlap: whether each may be a class."""
        sizes = np.diff(offsets)
        part = self.table.take(rows.astype(np.int64))
        if self.is_by_size and (part.counts == 1).all():
            return np.asarray(sizes >= self.min_size)
        labels = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        population = None if self.population is None else self.population[rows]
        stats = self._collect_stats(Partition.from_labels(labels, len(sizes), part.counts), part, population)
        return np.asarray(np.all([model.passes(stats) for model in self.models], axis=0))

    def passes_labels(self, labels: CodeArray) -> bool:
        """Tell whether all classes pass, given the class of every row, numbered from 0."""
        return not self.list_failing_models(Partition.from_labels(labels, int(labels.max()) + 1, self.table.counts))

    def passes_as_one_class(self) -> bool:
        """Tell whether all rows may be one class; where persons are counted, it needs enough of them."""
        one_class = Partition.from_table(self.table, ())
        if self.list_failing_models(one_class):
            return False
        persons = None if self.person is None else self.class_stats(one_class).persons
        return persons is None or bool((persons >= self.min_size).all())

    def check_feasible(self) -> None:
        """Raise InfeasibleError if all rows as one class fail a monotone model: then every release fails it."""
        if self.table.n_records == 0:
            raise InfeasibleError("the models fail as long as any record is published.", hint="ask for less.")
        one_class = Partition.from_table(self.table, ())
        failed = [model for model in self.list_failing_models(one_class) if model.monotone_coarsening]
        if failed:
            stats = self.class_stats(one_class)
            reached = "; ".join(
                f"{describe(model)} reaches {model.measure(stats)[0]:g} "
                f"({'higher' if model.higher_is_safer else 'lower'} is safer)"
                for model in failed
            )
            raise InfeasibleError(
                f"no release of these {self.table.n_records} records can satisfy the models. As one class: {reached}.",
                hint="ask for less, or add records.",
            )

    def check_classes(self, partition: Partition, method: Any) -> None:
        """Raise if a class that a search found fails a model, or if a model raised an error."""
        self.own.raise_faults()
        for model in self.list_failing_models(partition):
            if not model.monotone_coarsening:
                raise InfeasibleError(
                    f"the search found no classes that satisfy {describe(model)}, which merging classes can break.",
                    hint="use method='full_domain', ask for less, or add records.",
                )
            home = type(method).__module__
            msg = f"the search left classes that fail {describe(model)}; this is a fault of the method"
            if not home.startswith("hushtable."):
                hint = "ask its authors; `hushtable.testing.check_method` finds such faults."
                raise InputError(f"{msg} {method.name!r} ({home}), not of hushtable.", hint=hint)
            raise AssertionError(msg)

    def codes_for_kernels(self) -> CodeArray:
        """Return the counted columns as kernels see them, shape (n_counted, n_rows); 0 is missing."""
        return self.table.codes[[self.table.index(name) for name in self.counted]] + np.int32(1)

    def reference_stats(self) -> ClassStats:
        """Return the reference for all classes: totals and grounds, without a class."""
        names, reference = self.counted, self.reference_table
        distributions = {name: count_by_value(reference, name) for name in names}
        return ClassStats(
            np.empty(0, dtype=np.int64),
            totals=distributions,
            grounds=build_ground_distances(reference, names, self._levels_of_ladders()),
        )

    def rules_for_kernels(self) -> judge.Rules:
        """Translate the models into rules for the kernels."""
        names, reference, stats = self.counted, self.reference_table, self.reference_stats()
        ready, slow = [model for model in self.models if has_rule(model)], self.without_rule
        rules = [rule for model in ready for rule in self._rules_by_person(model.rule(stats.totals, stats.grounds))]
        rules += [Rule(RULE_OWN, None, i) for i in range(len(slow))]
        own = {"own": self.own.kernel_address(slow, names, stats, self.person)} if slow else {}
        return judge.Rules(
            kinds=np.array([rule.kind for rule in rules], dtype=np.int64),
            columns=np.array([names.index(rule.sensitive) if rule.sensitive else 0 for rule in rules], dtype=np.int64),
            thresholds=np.array([rule.threshold for rule in rules], dtype=np.float64),
            seconds=np.array([rule.second for rule in rules], dtype=np.float64),
            n_values=np.array([_n_occurring(reference, rule.sensitive) for rule in rules], dtype=np.int64),
            tables=_stack_tables([rule.table for rule in rules]),
            **own,
        )

    def check_for_kernels(self, room: int) -> regroup.Check:
        """Build the check of blocks, of at most ``room`` rows, for the kernels that regroup rows."""
        room = max(room, self.min_size)
        if self.is_by_size or not (self.counted or self.without_rule):
            return regroup.Check(self.min_size, room, regroup.judge_nothing())
        codes, rules = self.codes_for_kernels(), self.rules_for_kernels()
        widest = max((self.table.column(name).n_values + 1 for name in self.counted), default=0)
        value_counts, n_held = np.zeros((len(codes), widest), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
        block = regroup.JudgedBlock(True, codes, rules, value_counts, n_held, rules.allocate_nodes())
        return regroup.Check(self.min_size, room, block)

    def _rules_by_person(self, rule: Rule) -> list[Rule]:
        """Rewrite a rule to count persons: a size of k becomes k distinct values of the person column."""
        if self.person is None or rule.kind not in (RULE_SIZE, RULE_SHARE):
            return [rule]
        k = rule.threshold if rule.kind == RULE_SIZE else rule.second
        persons = Rule(RULE_DISTINCT, self.person, k)
        return [persons] if rule.kind == RULE_SIZE else [rule, persons]

    def _levels_of_ladders(self) -> dict[str, CodeArray]:
        names = set(self.counted) & self.ladders.keys()
        return {name: self.ladders[name].levels_with_missing() for name in names}

    def _collect_stats(self, partition: Partition, table: Table, population: CountArray | None) -> ClassStats:
        stats = partition.stats(table, self.models, population=population, hierarchies=self._levels_of_ladders())
        return replace(
            stats,
            totals={name: count_by_value(self.reference_table, name) for name in stats.totals},
            persons=None if self.person is None else partition.histogram(table, self.person).n_distinct(),
        )


def split_large_classes(codes: CodeArray, labels: CodeArray, min_size: int) -> CodeArray:
    """Split classes of twice the least size or more, rows sorted by codes. If sizes decide, parts never cost more."""
    order = np.lexsort((*codes.T, labels))
    sizes = np.bincount(labels)
    n_parts = np.maximum(1, sizes // min_size)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((np.cumsum(n_parts) - n_parts)[labels] + rank * n_parts[labels] // sizes[labels], dtype=np.int32)


def _n_occurring(table: Table, sensitive: str | None) -> int:
    """Return one more than the last entry of a column's totals that is not 0."""
    return 0 if sensitive is None else int(table.codes[table.index(sensitive)].max(initial=-1)) + 2


def _stack_tables(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack tables of different shapes, with zeros where one is smaller."""
    shape = np.max([(0, 0), *(table.shape for table in tables)], axis=0)
    stacked = np.zeros((len(tables), *shape))
    for out, table in zip(stacked, tables, strict=True):
        out[: table.shape[0], : table.shape[1]] = table
    return stacked
