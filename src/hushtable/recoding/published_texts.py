"""What classes publish in a column, written out: nothing is known of it but the texts and what they lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from hushtable._types import CodeArray, FloatArray
from hushtable.columns import Column
from hushtable.hierarchy import Hierarchy, Rule
from hushtable.recoding.by_class import Classwise
from hushtable.recoding.readable import Labels

__all__ = ["Written"]


@dataclass(frozen=True, slots=True, eq=False)
class Written(Classwise):
    """What classes publish, as texts.

    Attributes
    ----------
    label : ndarray of int32, shape (n_classes,)
        Which of the texts a class publishes.
    lost, lost_by_rank : ndarray of float64, shape (n_classes,)
        The share of the column that it publishes, by values and by ranks.
    texts : tuple of str or None
        Each once; None is a missing cell.
    means : Hierarchy or Rule, optional
        What labels among the texts mean that no hierarchy of the column tells.
    """

    label: CodeArray = field(repr=False)
    lost: FloatArray = field(repr=False)
    lost_by_rank: FloatArray = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)
    means: Hierarchy | Rule | None = field(default=None, repr=False)

    per_class: ClassVar[tuple[str, ...]] = ("label", "lost", "lost_by_rank")

    def shares(self, column: Column) -> FloatArray:
        """Return the share of the column that every class publishes."""
        return self.lost_by_rank if column.by_rank else self.lost

    def labels(self, column: Column) -> Labels:
        """Return the texts."""
        del column
        return self.label, list(self.texts)

    def meaning(self) -> Hierarchy | Rule | None:
        """Return what the labels among the cells mean; None where there are none."""
        return self.means
