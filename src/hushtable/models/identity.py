"""Models against re-identification: how many records a person hides among."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from hushtable._types import (
    RULE_POPULATION,
    RULE_PRESENCE,
    RULE_SHARE,
    RULE_SIZE,
    TOLERANCE,
    BoolArray,
    CountArray,
    FloatArray,
)
from hushtable.errors import ModelError
from hushtable.models.base import (
    NO_GROUNDS,
    ONE_OR_MORE,
    BoundedModel,
    ClassStats,
    Ground,
    Needs,
    OneSensitive,
    ParameterBounds,
    Rule,
)


@dataclass(frozen=True, slots=True)
class KModel(BoundedModel):
    """What models of one threshold k have in common: of how many a person is one."""

    k: int

    higher_is_safer: ClassVar[bool] = True
    _bounds = MappingProxyType({"k": ONE_OR_MORE})


@dataclass(frozen=True, slots=True)
class CrowdModel(KModel):
    """What models have in common that ask for k records in every class, or k persons where records have persons."""

    needs = Needs()

    @property
    def min_size(self) -> int:
        """Classes of fewer than k records cannot pass."""
        return self.k

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the records in every class, or the persons; higher is safer."""
        return stats.crowd.astype(np.float64)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the size."""
        return Rule(RULE_SIZE, None, float(self.k))


@dataclass(frozen=True, slots=True)
class KAnonymity(CrowdModel):
    """Every class holds at least k records.

    Parameters
    ----------
    k : int
        At least 1. Regulators' thresholds are integers here: a risk of at most 0.09 asks for k = 12, because 1/11 is
        above it.

    Notes
    -----
    Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 10(5), 2002. Merging classes and suppressing others
    keeps it. A missing value is a value of its own. Says nothing of what the records of a class have in common.

    Examples
    --------
    >>> import numpy as np
    >>> KAnonymity(3).passes(ClassStats(np.array([2, 3, 4]))).tolist()
    [False, True, True]
    """

    name: ClassVar[str] = "k-anonymity"


@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(OneSensitive):
    """Every class holds at least k records, and no sensitive value more than a share alpha of them.

    Parameters
    ----------
    alpha : float
        Above 0, at most 1.
    k : int
        At least 1.
    sensitive : str

    Notes
    -----
    Wong, Li, Fu, Wang, "(alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing", KDD 2006, section 2. The paper bounds one value or all of them: here all, but for the missing value,
    which counts in the size and is never too frequent. Merging classes keeps it, because a share of a union lies
    between the shares of its parts; so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> from hushtable.models.base import Histogram
    >>> two = Histogram(np.array([0, 2, 4]), np.array([0, 1, -1, 1], np.int32), np.array([3, 1, 2, 2]))
    >>> stats = ClassStats(np.array([4, 4]), {"salary": two})
    >>> AlphaKAnonymity(0.5, 4, "salary").measure(stats).tolist()
    [0.75, 0.5]
    """

    alpha: float
    k: int
    sensitive: str

    name: ClassVar[str] = "alpha-k-anonymity"
    _bounds = MappingProxyType({"alpha": ParameterBounds(above=0, maximum=1), "k": ONE_OR_MORE})

    @property
    def min_size(self) -> int:
        """Classes of fewer than k records cannot pass."""
        return self.k

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the highest share of a value in every class, infinite below k records; lower is safer."""
        histogram = stats.histograms[self.sensitive].without_missing()
        shares = histogram.max_by_class(histogram.counts) / np.maximum(stats.sizes, 1)
        return np.where(stats.crowd >= self.k, shares, np.inf)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the size and the most frequent value."""
        return Rule(RULE_SHARE, self.sensitive, float(self.alpha), float(self.k))


@dataclass(frozen=True, slots=True)
class KMap(KModel):
    """Every class that holds a record holds at least k records of the population.

    Parameters
    ----------
    k : int
        At least 1.

    Notes
    -----
    Sweeney, "Computational disclosure control", PhD thesis, MIT 2001, section 5.3; El Emam, Dankar,
    "Protecting privacy using k-anonymity", JAMIA 15(5), 2008. The population is counted, not estimated. A class
    without records passes: nobody in it is published. Merging classes and suppressing others keeps it.

    Examples
    --------
    >>> import numpy as np
    >>> KMap(3).passes(ClassStats(np.array([1, 2, 0]), population=np.array([3, 2, 1]))).tolist()
    [True, False, True]
    """

    name: ClassVar[str] = "k-map"
    needs = Needs(population=True, persons=False)

    @property
    def min_size(self) -> int:
        """A class without records passes."""
        return 0

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the population of every class, infinite where it holds no record; higher is safer."""
        return np.where(stats.sizes > 0, population_of(stats), np.inf)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the population."""
        return Rule(RULE_POPULATION, None, float(self.k))


@dataclass(frozen=True, slots=True)
class DeltaPresence(BoundedModel):
    """Of the population of every class, between a share ``low`` and a share ``high`` is in the table.

    Parameters
    ----------
    low, high : float
        In [0, 1], low at most high.

    Notes
    -----
    Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases", SIGMOD 2007, definition 3. A
    class that holds population and no record has the share 0: who is in it is known to be absent. So suppressing a
    class breaks the model where low is above 0; merging classes keeps it. A class with more records than population
    has a share above 1 and fails, as the table is then no part of the population; one that holds neither passes.

    Examples
    --------
    >>> import numpy as np
    >>> stats = ClassStats(np.array([1, 3, 0]), population=np.array([4, 3, 2]))
    >>> DeltaPresence(0.1, 0.5).measure(stats).tolist()
    [0.25, 1.0, 0.0]
    """

    low: float
    high: float

    name: ClassVar[str] = "delta-presence"
    monotone_suppression: ClassVar[bool] = False
    higher_is_safer: ClassVar[bool] = False
    needs = Needs(population=True, persons=False)
    _bounds = MappingProxyType(
        {"low": ParameterBounds(minimum=0, maximum=1), "high": ParameterBounds(minimum=0, maximum=1)}
    )

    def __post_init__(self) -> None:
        BoundedModel.__post_init__(self)
        if self.low > self.high:
            raise ModelError(
                f"delta-presence was given low = {self.low!r} and high = {self.high!r}.", hint="low is at most high."
            )

    @property
    def min_size(self) -> int:
        """A class that holds neither records nor population passes."""
        return 0

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the share of the population that is in the table; lower is safer, but not below ``low``."""
        population = population_of(stats)
        shares = stats.sizes / np.maximum(population, 1)
        return np.where((population == 0) & (stats.sizes > 0), np.inf, shares)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell in which classes the share lies within the bounds."""
        shares = self.measure(stats)
        within = (shares >= self.low - TOLERANCE) & (shares <= self.high + TOLERANCE)
        return np.asarray(within | ((stats.sizes == 0) & (population_of(stats) == 0)))

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by records and population."""
        return Rule(RULE_PRESENCE, None, float(self.low), float(self.high))


def population_of(stats: ClassStats) -> CountArray:
    """Return the population of every class, or raise ModelError where it was not counted."""
    if stats.population is None:
        raise ModelError(
            "a model needs a population, but none was counted.", hint="pass population=, or drop that model."
        )
    return stats.population
