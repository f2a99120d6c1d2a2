"""Judge blocks of rows, which may overlap, by the models that every class of a release satisfies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.errors import InputError, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.models.base import PrivacyModel
from hushtable.models.identity import KAnonymity
from hushtable.partition import Partition, totals
from hushtable.table import Table

__all__ = ["BlockJudge"]


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
