"""Models against attribute disclosure: what the records of one class have in common, or tell beyond what all know.

Where a class is compared with the whole, the reference is always ``ClassStats.totals``: the input before anything is
suppressed. A missing value counts as a value there, because learning that somebody's is missing is learning something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final, Literal, get_args

import numpy as np

from hushtable._types import (
    RULE_DISTINCT,
    RULE_ENTROPY,
    RULE_GAIN,
    RULE_LEVELS,
    RULE_ORDERED,
    RULE_RATIO,
    RULE_RECURSIVE,
    TOLERANCE,
    BoolArray,
    CodeArray,
    CountArray,
    FloatArray,
)
from hushtable.errors import ModelError
from hushtable.models.base import (
    NO_GROUNDS,
    ONE_OR_MORE,
    ClassStats,
    Ground,
    Histogram,
    OneSensitive,
    ParameterBounds,
    Rule,
)


@dataclass(frozen=True, slots=True)
class DistinctLDiversity(OneSensitive):
    """Every class holds at least l distinct values of the sensitive column.

    Parameters
    ----------
    l : int
        At least 1.
    sensitive : str

    Notes
    -----
    Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", ACM TKDD 1(1), 2007, section 4. A
    missing value never counts towards l. Merging classes keeps it, and so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> two = Histogram(np.array([0, 2, 4]), np.array([0, 1, -1, 1], np.int32), np.array([3, 1, 2, 2]))
    >>> DistinctLDiversity(2, "salary").passes(ClassStats(np.array([4, 4]), {"salary": two})).tolist()
    [True, False]
    """

    l: int  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "distinct-l-diversity"
    _counts_persons: ClassVar[bool] = False
    higher_is_safer: ClassVar[bool] = True
    _bounds = MappingProxyType({"l": ONE_OR_MORE})

    @property
    def min_size(self) -> int:
        """Holding l distinct values takes l records."""
        return self.l

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the distinct sensitive values of every class; higher is safer."""
        return stats.histograms[self.sensitive].n_distinct().astype(np.float64)

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

    Notes
    -----
    Machanavajjhala et al., ACM TKDD 2007 (see `DistinctLDiversity`), definition 4.1: the Shannon entropy of the shares
    is at least log l. The shares are those among the records whose value is known; a class of missing values only fails
    for every l. Merging classes keeps it, because entropy is concave; so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> two = Histogram(np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.array([2, 2, 3, 1]))
    >>> stats = ClassStats(np.array([4, 4]), {"salary": two})
    >>> EntropyLDiversity(2, "salary").measure(stats).round(3).tolist()
    [2.0, 1.755]
    """

    l: float  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "entropy-l-diversity"
    _counts_persons: ClassVar[bool] = False
    higher_is_safer: ClassVar[bool] = True
    _bounds = MappingProxyType({"l": ParameterBounds(minimum=1)})

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
        histogram = stats.histograms[self.sensitive].without_missing()
        return np.where(histogram.n_distinct() > 0, histogram.entropies(np.log), -np.inf)


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

    Notes
    -----
    Machanavajjhala et al., ACM TKDD 2007 (see `DistinctLDiversity`), definition 4.2: with the counts of a class in
    falling order, r_1 < c (r_l + r_(l+1) + ... + r_m). A missing value is none of them, a class of fewer than l values
    fails, and equality fails, as the definition says. Merging classes keeps it, because the highest counts of a union
    are at most the sums of the parts'; so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> one = Histogram(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([90, 5, 5]))
    >>> stats = ClassStats(np.array([100]), {"salary": one})
    >>> [RecursiveCLDiversity(c, 3, "salary").passes(stats).item() for c in (18, 18.5)]
    [False, True]
    """

    c: float
    l: int  # noqa: E741 - the model's own letter
    sensitive: str

    name: ClassVar[str] = "recursive-c-l-diversity"
    _counts_persons: ClassVar[bool] = False
    _equality_fails: ClassVar[bool] = True
    _bounds = MappingProxyType({"c": ParameterBounds(above=0), "l": ONE_OR_MORE})

    @property
    def min_size(self) -> int:
        """Holding l distinct values takes l records."""
        return self.l

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the c that every class stays just above, infinite below l values; lower is safer."""
        histogram = stats.histograms[self.sensitive].without_missing()
        labels = histogram.labels()
        falling = histogram.counts[np.lexsort((-histogram.counts, labels))]
        rank = np.arange(len(labels)) - histogram.offsets[labels]
        tail = histogram.sum_by_class(np.where(rank >= self.l - 1, falling, 0))
        return np.where(tail > 0, histogram.max_by_class(histogram.counts) / np.maximum(tail, 1), np.inf)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the highest counts."""
        return Rule(RULE_RECURSIVE, self.sensitive, float(self.c), float(self.l))


GroundName = Literal["auto", "equal", "ordered", "hierarchical"]
GROUNDS: Final[tuple[str, ...]] = get_args(GroundName)


@dataclass(frozen=True, slots=True)
class TCloseness(OneSensitive):
    """The sensitive values of every class are distributed as in the whole table, within a distance t.

    Parameters
    ----------
    t : float
        In [0, 1].
    sensitive : str
    ground : {"auto", "equal", "ordered", "hierarchical"}
        How far apart two values are: all alike; by their ranks; by the height of their lowest common node in a
        hierarchy. ``"auto"`` is ordered for a column with an order (numbers, dates, declared orders), else equal.

    Notes
    -----
    Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007,
    definition 2; the earth mover's distances of sections 4.2 (equal, ordered) and 4.3 (hierarchical). The ordered
    distance divides by m - 1 for the m values of the input, the missing one first. A class with a value that the input
    lacks, which only a table changed after its release has, is as far away as can be. The hierarchical distance is the
    mean, over the levels below the root, of the equal distance between the nodes of a level: the paper's sum of
    min(positive extra, negative extra) times height, summed by parts. Merging classes keeps the model, because the
    distance is convex; so does suppressing others, as the reference is the whole input.

    Examples
    --------
    Table 3 of the paper: salaries 3k to 11k, and the class {3k, 4k, 5k}.

    >>> import numpy as np
    >>> low = Histogram(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([1, 1, 1]))
    >>> totals = {"salary": np.array([0, 1, 1, 1, 1, 1, 1, 1, 1, 1])}
    >>> stats = ClassStats(np.array([3]), {"salary": low}, totals, grounds={"salary": Ground(is_ordered=True)})
    >>> [TCloseness(0.4, "salary", ground).measure(stats).round(3).item() for ground in ("ordered", "equal")]
    [0.375, 0.667]
    """

    t: float
    sensitive: str
    ground: GroundName = "auto"

    name: ClassVar[str] = "t-closeness"
    _bounds = MappingProxyType({"t": ParameterBounds(minimum=0, maximum=1)})
    _compares_with_whole: ClassVar[bool] = True
    _counts_persons: ClassVar[bool] = False

    def __post_init__(self) -> None:
        OneSensitive.__post_init__(self)
        if self.ground not in GROUNDS:
            raise ModelError(
                f"t-closeness was given ground = {self.ground!r}.", hint=f"choose one of {', '.join(GROUNDS)}."
            )

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the distance between every class and the whole; lower is safer."""
        histogram, totals = stats.histograms[self.sensitive], stats.totals[self.sensitive]
        levels = self._ground_levels(stats.grounds, len(totals))
        if levels is None:
            return _rank_distance(histogram, stats.sizes, totals)
        distances = np.zeros(histogram.n_classes)
        for nodes in levels:
            node_histogram, node_totals = _replace_by_nodes(histogram, totals, nodes)
            distances += _equal_distance(node_histogram, stats.sizes, node_totals)
        return distances / max(len(levels), 1)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the shares of the whole, cumulated or of every node."""
        counts = totals[self.sensitive]
        shares = _shares_of_values(counts)
        levels = self._ground_levels(grounds, len(counts))
        if levels is None:
            n_steps = max(int(np.count_nonzero(counts)) - 1, 1)
            return Rule(RULE_ORDERED, self.sensitive, float(self.t), float(n_steps), shares[None, :])
        table = np.zeros((2 * len(levels), len(counts)))
        for level, nodes in enumerate(levels):
            _, node_of_code = np.unique(nodes, return_inverse=True)
            table[2 * level] = node_of_code
            table[2 * level + 1, : node_of_code.max() + 1] = np.bincount(node_of_code, weights=shares)
        return Rule(RULE_LEVELS, self.sensitive, float(self.t), float(len(levels)), table)

    def _ground_levels(self, grounds: Mapping[str, Ground], n_codes: int) -> CodeArray | None:
        """Return the levels below the root, one for the equal ground; None stands for the ordered ground."""
        ground = grounds.get(self.sensitive, Ground())
        if self.ground == "ordered" or (self.ground == "auto" and ground.is_ordered):
            if not ground.is_ordered:
                raise ModelError(
                    f"t-closeness was given ground = 'ordered', but column {self.sensitive!r} has no order.",
                    hint="declare its order, or choose another ground.",
                )
            return None
        if self.ground != "hierarchical":
            return np.arange(n_codes, dtype=np.int32)[None, :]
        if ground.levels is None or ground.levels.shape[1] != n_codes:
            raise ModelError(
                f"t-closeness was given ground = 'hierarchical', but column {self.sensitive!r} has no hierarchy "
                f"of its {n_codes - 1} values.",
                hint="give the sensitive column one, or choose another ground.",
            )
        below = ground.levels[:-1]
        # Where the root is all that is above the values, every one of them is as far from every other.
        return below if len(below) > 1 else np.arange(n_codes, dtype=np.int32)[None, :]


@dataclass(frozen=True, slots=True)
class BetaLikeness(OneSensitive):
    """No sensitive value is in any class more frequent than in the whole table by more than a factor.

    Parameters
    ----------
    beta : float
        Above 0: how much a value may gain, relative to its share of the whole.
    sensitive : str
    enhanced : bool
        Bound the gain of a value of share p by -ln p too, which keeps frequent values from reaching a share of 1.

    Notes
    -----
    Cao, Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012, definitions 2
    (basic) and 3 (enhanced): (q - p) / p <= beta, or <= min(beta, -ln p), for every value whose share q of a class is
    above its share p of the whole input. Merging classes keeps it, because a share of a union is at most the higher
    one of its parts; so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> one = Histogram(np.array([0, 1]), np.array([0], np.int32), np.array([5]))
    >>> stats = ClassStats(np.array([5]), {"salary": one}, {"salary": np.array([0, 90, 10])})
    >>> BetaLikeness(1, "salary").passes(stats), BetaLikeness(1, "salary", enhanced=True).passes(stats)
    (array([ True]), array([False]))
    """

    beta: float
    sensitive: str
    enhanced: bool = False

    name: ClassVar[str] = "beta-likeness"
    _bounds = MappingProxyType({"beta": ParameterBounds(above=0)})
    _compares_with_whole: ClassVar[bool] = True
    _counts_persons: ClassVar[bool] = False

    def __post_init__(self) -> None:
        OneSensitive.__post_init__(self)
        if not isinstance(self.enhanced, bool):
            raise ModelError(f"beta-likeness was given enhanced = {self.enhanced!r}.", hint="it is true or false.")

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the highest relative gain of a value, infinite where one is above -ln p; lower is safer."""
        histogram = stats.histograms[self.sensitive]
        shares = _shares_of_values(stats.totals[self.sensitive])[histogram.codes + 1]
        held = histogram.counts / stats.sizes[histogram.labels()]
        gains = np.divide(held - shares, shares, out=np.full(len(shares), np.inf), where=shares > 0)
        if self.enhanced:
            gains = np.where(gains > _surprise(shares) + TOLERANCE, np.inf, gains)
        return histogram.max_by_class(gains)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the share of every value in the whole and its own bound."""
        shares = _shares_of_values(totals[self.sensitive])
        bounds = np.minimum(self.beta, _surprise(shares)) if self.enhanced else np.full(len(shares), float(self.beta))
        return Rule(RULE_GAIN, self.sensitive, float(self.beta), table=np.array([shares, bounds]))


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(OneSensitive):
    """Every sensitive value is in every class about as frequent as in the whole table.

    Parameters
    ----------
    delta : float
        Above 0; in natural logarithms.
    sensitive : str

    Notes
    -----
    Brickell, Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data publishing", KDD
    2008, section 4: abs(ln(q / p)) < delta for every value with a share p above 0 of the whole input and its share q
    of a class. A value that a class lacks has q = 0, which no delta allows; equality fails, as the definition says.
    Merging classes keeps it, because a share of a union lies between those of its parts; so does suppressing others.

    Examples
    --------
    >>> import numpy as np
    >>> two = Histogram(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([1, 3, 4]))
    >>> stats = ClassStats(np.array([4, 4]), {"salary": two}, {"salary": np.array([0, 5, 5])})
    >>> DeltaDisclosure(1, "salary").measure(stats).round(3).tolist()
    [0.693, inf]
    """

    delta: float
    sensitive: str

    name: ClassVar[str] = "delta-disclosure"
    _equality_fails: ClassVar[bool] = True
    _bounds = MappingProxyType({"delta": ParameterBounds(above=0)})
    _compares_with_whole: ClassVar[bool] = True
    _counts_persons: ClassVar[bool] = False

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the largest abs(ln(q / p)), infinite where a value is absent; lower is safer."""
        histogram, totals = stats.histograms[self.sensitive], stats.totals[self.sensitive]
        shares = _shares_of_values(totals)[histogram.codes + 1]
        held = histogram.counts / stats.sizes[histogram.labels()]
        ratios = np.abs(np.log(held / np.where(shares > 0, shares, held)))
        n_present = histogram.sum_by_class((shares > 0).astype(np.int64))
        return np.where(n_present == np.count_nonzero(totals), histogram.max_by_class(ratios), np.inf)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the share of every value in the whole."""
        return Rule(
            RULE_RATIO, self.sensitive, float(self.delta), table=_shares_of_values(totals[self.sensitive])[None, :]
        )


def _shares_of_values(totals: CountArray) -> FloatArray:
    return np.asarray(totals / max(int(totals.sum()), 1))


def _surprise(shares: FloatArray) -> FloatArray:
    """Return -ln p; of a value that the whole lacks it is infinite."""
    return -np.log(shares, out=np.full(len(shares), -np.inf), where=shares > 0)


def _replace_by_nodes(histogram: Histogram, totals: CountArray, nodes: CodeArray) -> tuple[Histogram, CountArray]:
    """Replace the values of a histogram and of the whole by the nodes that hold them."""
    _, node_of_code = np.unique(nodes, return_inverse=True)
    n_nodes = int(node_of_code.max()) + 1
    node_totals = np.bincount(node_of_code, weights=totals).astype(np.int64)
    if n_nodes == len(totals):
        # Each node holds one value: a level of leaves.
        codes = (node_of_code[histogram.codes + 1] - 1).astype(np.int32)
        return Histogram(histogram.offsets, codes, histogram.counts), node_totals
    keys = histogram.labels() * n_nodes + node_of_code[histogram.codes + 1]
    distinct, inverse = np.unique(keys, return_inverse=True)
    counts = np.bincount(inverse, weights=histogram.counts, minlength=len(distinct)).astype(np.int64)
    offsets = np.searchsorted(distinct, np.arange(histogram.n_classes + 1) * n_nodes)
    return Histogram(offsets, (distinct % n_nodes - 1).astype(np.int32), counts), node_totals


def _equal_distance(histogram: Histogram, sizes: CountArray, totals: CountArray) -> FloatArray:
    """Return half the sum of abs(p - q) over all values; those that a class lacks add their p as a whole."""
    shares = _shares_of_values(totals)[histogram.codes + 1]
    held = histogram.counts / sizes[histogram.labels()]
    return np.asarray((histogram.sum_by_class(np.abs(held - shares) - shares) + 1.0) / 2)


def _rank_distance(histogram: Histogram, sizes: CountArray, totals: CountArray) -> FloatArray:
    """Return the sum of abs(P - Q) over the values of the whole, over their number minus 1.

    Q, the cumulated share of a class, is constant from one value that the class holds to the next, while P rises:
    where P passes Q is looked up, and the sums of P on either side come from its own cumulated sums.
    """
    ranks = np.cumsum(totals > 0) - 1
    cumulated = np.cumsum(totals[totals > 0]) / max(int(totals.sum()), 1)
    n_ranks = len(cumulated)
    is_foreign = histogram.sum_by_class((totals[histogram.codes + 1] == 0).astype(np.int64)) > 0
    if n_ranks < 2:
        return is_foreign.astype(np.float64)
    sums = np.concatenate(([0.0], np.cumsum(cumulated)))
    labels = histogram.labels()
    records = np.concatenate(([0], np.cumsum(histogram.counts)))
    reached = (records[1:] - records[histogram.offsets[labels]]) / sizes[labels]
    starts = np.maximum(ranks[histogram.codes + 1], 0)
    ends = np.append(starts[1:], n_ranks)
    lasts = histogram.offsets[1:][np.diff(histogram.offsets) > 0] - 1
    ends[lasts] = n_ranks
    splits = np.clip(np.searchsorted(cumulated, reached), starts, ends)
    moved = reached * (2 * splits - starts - ends) + sums[starts] + sums[ends] - 2 * sums[splits]
    # Before the first value that a class holds, its Q is 0.
    first = np.full(histogram.n_classes, n_ranks)
    first[np.diff(histogram.offsets) > 0] = starts[histogram.offsets[:-1][np.diff(histogram.offsets) > 0]]
    return np.where(is_foreign, 1.0, (histogram.sum_by_class(moved) + sums[first]) / (n_ranks - 1))
