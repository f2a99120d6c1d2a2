"""Models against attribute disclosure: what the records of one class have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import RULE_DISTINCT, BoolArray, CountArray, FloatArray
from hushtable.models.base import ClassStats, Needs, Rule
from hushtable.models.identity import check_sensitive, check_whole

__all__ = ["DistinctLDiversity"]


@dataclass(frozen=True, slots=True)
class DistinctLDiversity:
    """Every class holds at least l distinct values of the sensitive column.

    Parameters
    ----------
    l : int
        At least 1.
    sensitive : str
        The sensitive column.

    Notes
    -----
    Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", ACM TKDD
    1(1), 2007, section 4. A missing value never counts towards l. Merging classes
    keeps it; suppressing other classes does too.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.models.base import Histogram
    >>> two = Histogram(np.array([0, 2, 4]), np.array([0, 1, -1, 1], np.int32), np.array([3, 1, 2, 2]))
    >>> DistinctLDiversity(2, "salary").passes(ClassStats(np.array([4, 4]), {"salary": two})).tolist()
    [True, False]
    """

    l: int  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "distinct-l-diversity"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_whole("distinct l-diversity", "l", self.l))
        check_sensitive("distinct l-diversity", self.sensitive)

    @property
    def needs(self) -> Needs:
        """The histogram of the one sensitive column."""
        return Needs(sensitive=(self.sensitive,))

    @property
    def min_size(self) -> int:
        """Holding l distinct values takes l records."""
        return self.l

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the distinct sensitive values of every class."""
        return stats.histograms[self.sensitive].n_distinct().astype(np.float64)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell which classes hold at least l distinct values."""
        return np.asarray(stats.histograms[self.sensitive].n_distinct() >= self.l)

    def rule(self, totals: Mapping[str, CountArray]) -> Rule:
        """Judge by the number of distinct values."""
        return Rule(RULE_DISTINCT, self.sensitive, float(self.l))
