"""Models against attribute disclosure: what the records of one class have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable._types import (
    RULE_DISTINCT,
    RULE_ENTROPY,
    RULE_RECURSIVE,
    TOLERANCE,
    BoolArray,
    CountArray,
    FloatArray,
)
from hushtable.models.base import NO_GROUNDS, ClassStats, Ground, OneSensitive, Rule
from hushtable.models.identity import check_number, check_sensitive, check_whole

__all__ = ["DistinctLDiversity", "EntropyLDiversity", "RecursiveCLDiversity"]


@dataclass(frozen=True, slots=True)
class DistinctLDiversity(OneSensitive):
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
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_whole("distinct l-diversity", "l", self.l))
        check_sensitive("distinct l-diversity", self.sensitive)

    @property
    def min_size(self) -> int:
        """Holding l distinct values takes l records."""
        return self.l

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the distinct sensitive values of every class; higher is safer."""
        return stats.histograms[self.sensitive].n_distinct().astype(np.float64)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell which classes hold at least l distinct values."""
        return np.asarray(stats.histograms[self.sensitive].n_distinct() >= self.l)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the number of distinct values."""
        return Rule(RULE_DISTINCT, self.sensitive, float(self.l))


@dataclass(frozen=True, slots=True)
class EntropyLDiversity(OneSensitive):
    """The sensitive values of every class are as hard to guess as l equally frequent ones.

    Parameters
    ----------
    l : float
        At least 1; need not be whole.
    sensitive : str
        The sensitive column.

    Notes
    -----
    Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", ACM TKDD
    1(1), 2007, definition 4.1: the Shannon entropy of the shares is at least log l.
    No reference distribution. The shares are those among the records whose value is
    known; a class of missing values only fails for every l. Merging classes keeps
    it, because entropy is concave; suppressing other classes does too.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.models.base import Histogram
    >>> two = Histogram(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.array([2, 2, 3, 1]))
    >>> stats = ClassStats(np.array([4, 4]), {"salary": two})
    >>> EntropyLDiversity(2, "salary").measure(stats).round(3).tolist()
    [2.0, 1.755]
    >>> EntropyLDiversity(2, "salary").passes(stats).tolist()
    [True, False]
    """

    l: float  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "entropy-l-diversity"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", check_number("entropy l-diversity", "l", self.l, least=1.0))
        check_sensitive("entropy l-diversity", self.sensitive)

    @property
    def min_size(self) -> int:
        """An entropy of log l takes l distinct values."""
        return math.ceil(self.l * (1 - 2 * TOLERANCE))

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the number of equally frequent values that have the entropy of every class; higher is safer."""
        return np.exp(self._entropies(stats))

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell which classes have an entropy of at least log l."""
        return np.asarray(self._entropies(stats) >= math.log(self.l) - TOLERANCE)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the entropy."""
        return Rule(RULE_ENTROPY, self.sensitive, math.log(self.l))

    def _entropies(self, stats: ClassStats) -> FloatArray:
        """Return the entropies, minus infinity where no value is known."""
        known = stats.histograms[self.sensitive].known()
        n_known = known.summed(known.counts)
        spread = known.summed(known.counts * np.log(known.counts))
        some = np.maximum(n_known, 1)
        return np.where(n_known > 0, np.log(some) - spread / some, -np.inf)


@dataclass(frozen=True, slots=True)
class RecursiveCLDiversity(OneSensitive):
    """The most frequent sensitive value of every class is rarer than c times the values from the l-th on.

    Parameters
    ----------
    c : float
        Above 0.
    l : int
        At least 1.
    sensitive : str
        The sensitive column.

    Notes
    -----
    Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", ACM TKDD
    1(1), 2007, definition 4.2: with the counts of a class in falling order,
    r_1 < c (r_l + r_(l+1) + ... + r_m). No reference distribution. A missing value
    is none of them, and a class of fewer than l values fails. Equality fails, as
    the definition says. Merging classes keeps it, because the highest counts of a
    union are at most the sums of the parts'; suppressing other classes does too.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.models.base import Histogram
    >>> one = Histogram(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([90, 5, 5]))
    >>> stats = ClassStats(np.array([100]), {"salary": one})
    >>> RecursiveCLDiversity(18, 3, "salary").measure(stats).tolist()
    [18.0]
    >>> [RecursiveCLDiversity(c, 3, "salary").passes(stats).item() for c in (18, 18.5)]
    [False, True]
    """

    c: float
    l: int  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "recursive-c-l-diversity"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", check_number("recursive (c, l)-diversity", "c", self.c, above=0.0))
        object.__setattr__(self, "l", check_whole("recursive (c, l)-diversity", "l", self.l))
        check_sensitive("recursive (c, l)-diversity", self.sensitive)

    @property
    def min_size(self) -> int:
        """Holding l distinct values takes l records."""
        return self.l

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the c that every class stays just above, infinite below l values; lower is safer."""
        known = stats.histograms[self.sensitive].known()
        labels = known.labels()
        falling = known.counts[np.lexsort((-known.counts, labels))]
        rank = np.arange(len(labels)) - known.offsets[labels]
        tail = known.summed(np.where(rank >= self.l - 1, falling, 0))
        return np.where(tail > 0, known.highest(known.counts) / np.maximum(tail, 1), np.inf)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell in which classes the most frequent value is rare enough."""
        return np.asarray(self.measure(stats) < self.c - TOLERANCE)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the highest counts."""
        return Rule(RULE_RECURSIVE, self.sensitive, float(self.c), float(self.l))
