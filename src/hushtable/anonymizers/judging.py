"""Judge blocks of rows, which may overlap, by the models that every class of a release satisfies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import judge, regroup
from hushtable.models.base import PrivacyModel
from hushtable.models.identity import KAnonymity
from hushtable.partition import Partition, grounds, totals
from hushtable.table import Table

__all__ = ["BlockJudge", "rules_of", "sensitive_of"]


@dataclass(frozen=True, slots=True, eq=False)
class BlockJudge:
    """Tells which blocks of a table's rows may be classes of a release.

    Attributes
    ----------
    table : Table
        A row for every record.
    models : sequence of PrivacyModel
    hierarchies : mapping of column to Hierarchy
    reference : Table
        Whose sensitive values are the distribution that models compare with.
    """

    table: Table
    models: Sequence[PrivacyModel]
    hierarchies: Mapping[str, Hierarchy]
    reference: Table

    def __post_init__(self) -> None:
        refused = [model.name for model in self.models if model.needs.population or not model.monotone_coarsening]
        if refused:
            msg = with_hint(
                f"minimal generalization cannot look for {listed(refused)}.",
                "classes that happen to publish the same cells are one class, which must satisfy the models too, "
                "and no population is counted; use method='mondrian'.",
            )
            raise InputError(msg)

    @property
    def min_size(self) -> int:
        """Records that every class holds."""
        return max(1, *(model.min_size for model in self.models))

    @property
    def is_by_size(self) -> bool:
        """Whether the size of a block decides, so that classes of 2 k records are never needed."""
        return all(isinstance(model, KAnonymity) for model in self.models)

    def of(self, rows: CountArray) -> BlockJudge:
        """Return the judge of some of the rows, who compares with the same whole."""
        return replace(self, table=self.table.take(rows))

    def check(self, room: int) -> regroup.Check:
        """Return the same judgement for the kernels; blocks hold at most ``room`` rows."""
        names = [] if self.is_by_size else sensitive_of(self.models)
        codes = self.table.codes[[self.table.index(name) for name in names]] + np.int32(1)
        return regroup.Check(
            self.min_size,
            max(room, self.min_size),
            codes,
            rules_of(self.reference, self.models, self.hierarchies),
            np.zeros((len(names), max((self.table.column(name).n_values + 1 for name in names), default=0)), np.int64),
            np.zeros(len(names), dtype=np.int64),
        )

    def passes(self, offsets: CountArray, rows: CodeArray) -> BoolArray:
        """Tell of each block ``rows[offsets[b]:offsets[b + 1]]`` whether it satisfies every model."""
        sizes = np.diff(offsets)
        if self.is_by_size:
            return np.asarray(sizes >= self.min_size)
        taken = self.table.take(rows.astype(np.int64))
        labels = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        names = {name for model in self.models for name in model.needs.sensitive}
        levels = {name: self.hierarchies[name].levels_with_missing() for name in names & self.hierarchies.keys()}
        stats = Partition.from_labels(labels, len(sizes), taken.counts).stats(taken, self.models, hierarchies=levels)
        stats = replace(stats, totals={name: totals(self.reference, name) for name in names})
        return np.asarray(np.all([model.passes(stats) for model in self.models], axis=0))


def sensitive_of(models: Sequence[PrivacyModel]) -> list[str]:
    """Return the columns that models judge, each once."""
    return list(dict.fromkeys(name for model in models for name in model.needs.sensitive))


def rules_of(table: Table, models: Sequence[PrivacyModel], hierarchies: Mapping[str, Hierarchy]) -> judge.Rules:
    """Return the rules of models for the kernels; the table's sensitive values are what they compare with."""
    sensitive = sensitive_of(models)
    levels = {name: hierarchies[name].levels_with_missing() for name in sensitive if name in hierarchies}
    distributions = {name: totals(table, name) for name in sensitive}
    rules = [model.rule(distributions, grounds(table, sensitive, levels)) for model in models]
    return judge.Rules(
        kinds=np.array([rule.kind for rule in rules], dtype=np.int64),
        columns=np.array([sensitive.index(rule.sensitive) if rule.sensitive else 0 for rule in rules], dtype=np.int64),
        thresholds=np.array([rule.threshold for rule in rules]),
        seconds=np.array([rule.second for rule in rules]),
        n_values=np.array([_n_occurring(table, rule.sensitive) for rule in rules], dtype=np.int64),
        tables=_stacked([rule.table for rule in rules]),
    )


def _n_occurring(table: Table, sensitive: str | None) -> int:
    """Return one more than the last entry of a column's totals that is not 0."""
    return 0 if sensitive is None else int(table.codes[table.index(sensitive)].max(initial=-1)) + 2


def _stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack tables of different shapes, with zeros where one is smaller."""
    shape = np.max([table.shape for table in tables], axis=0)
    stacked = np.zeros((len(tables), *shape))
    for out, table in zip(stacked, tables, strict=True):
        out[: table.shape[0], : table.shape[1]] = table
    return stacked
