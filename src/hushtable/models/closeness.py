"""Models against attribute disclosure that compare a class with the whole: how much it tells beyond what all know.

The reference distribution is always ``ClassStats.totals``: the whole input, fixed
before anything is suppressed. A missing value counts as a value here, because
learning that someone's value is missing is learning something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, get_args

import numpy as np

from hushtable._types import (
    RULE_GAIN,
    RULE_LEVELS,
    RULE_ORDERED,
    RULE_RATIO,
    TOLERANCE,
    BoolArray,
    CodeArray,
    CountArray,
    FloatArray,
)
from hushtable.errors import ModelError, with_hint
from hushtable.models.base import NO_GROUNDS, ClassStats, Ground, Histogram, OneSensitive, Rule
from hushtable.models.identity import check_number, check_sensitive

__all__ = ["BetaLikeness", "DeltaDisclosure", "TCloseness"]

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
        The sensitive column.
    ground : {"auto", "equal", "ordered", "hierarchical"}
        How far apart two values are: all alike; by their ranks; by the height of
        their lowest common node in a hierarchy. ``"auto"`` is ordered for a column
        with an order (numbers, dates, declared orders), else equal.

    Notes
    -----
    Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and
    l-diversity", ICDE 2007, definition 2; the earth mover's distances of sections
    4.2 (equal, ordered) and 4.3 (hierarchical). The reference is the whole input.
    The ordered distance divides by m - 1 for the m values that the input holds,
    the missing one first. A class with a value that the input lacks, which only a table that
    was changed after its release has, is as far away as can be: the order has no place for
    the value. The hierarchical distance is computed as the mean, over
    the levels below the root, of the equal distance between the nodes of a level;
    that is the paper's sum of min(positive extra, negative extra) times height,
    summed by parts. Merging classes keeps the model, because the distance is
    convex; suppressing other classes does too, as the reference stays.

    Examples
    --------
    Table 3 of the paper: salaries 3k to 11k, and the class {3k, 4k, 5k}.

    >>> import numpy as np
    >>> low = Histogram(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([1, 1, 1]))
    >>> totals = {"salary": np.array([0, 1, 1, 1, 1, 1, 1, 1, 1, 1])}
    >>> stats = ClassStats(np.array([3]), {"salary": low}, totals, grounds={"salary": Ground(is_ordered=True)})
    >>> TCloseness(0.4, "salary").measure(stats).round(3).tolist()
    [0.375]
    >>> TCloseness(0.4, "salary", "equal").measure(stats).round(3).tolist()
    [0.667]
    """

    t: float
    sensitive: str
    ground: GroundName = "auto"

    name: ClassVar[str] = "t-closeness"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    _compares_with_whole: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", check_number("t-closeness", "t", self.t, least=0.0, most=1.0))
        check_sensitive("t-closeness", self.sensitive)
        if self.ground not in GROUNDS:
            msg = with_hint(f"t-closeness was given ground = {self.ground!r}.", f"choose one of {', '.join(GROUNDS)}.")
            raise ModelError(msg)

    @property
    def min_size(self) -> int:
        """A class of one record is close where nearly all records are alike."""
        return 1

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the distance between every class and the whole; lower is safer."""
        histogram, totals = stats.histograms[self.sensitive], stats.totals[self.sensitive]
        levels = self._levels(stats.grounds, len(totals))
        if levels is None:
            return _ordered_distance(histogram, stats.sizes, totals)
        distances = np.zeros(histogram.n_classes)
        for nodes in levels:
            held, whole = _merged(histogram, totals, nodes)
            distances += _equal_distance(held, stats.sizes, whole)
        return distances / max(len(levels), 1)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell which classes are at most t away from the whole."""
        return np.asarray(self.measure(stats) <= self.t + TOLERANCE)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the shares of the whole, cumulated or of every node."""
        counts = totals[self.sensitive]
        shares = _shares(counts)
        levels = self._levels(grounds, len(counts))
        if levels is None:
            n_steps = max(int(np.count_nonzero(counts)) - 1, 1)
            return Rule(RULE_ORDERED, self.sensitive, float(self.t), float(n_steps), shares[None, :])
        table = np.zeros((2 * len(levels), len(counts)))
        for level, nodes in enumerate(levels):
            _, places = np.unique(nodes, return_inverse=True)
            table[2 * level] = places
            table[2 * level + 1, : places.max() + 1] = np.bincount(places, weights=shares)
        return Rule(RULE_LEVELS, self.sensitive, float(self.t), float(len(levels)), table)

    def _levels(self, grounds: Mapping[str, Ground], n_codes: int) -> CodeArray | None:
        """Return the levels below the root, one for the equal ground; None stands for the ordered ground."""
        ground = grounds.get(self.sensitive, Ground())
        if self.ground == "ordered" or (self.ground == "auto" and ground.is_ordered):
            if not ground.is_ordered:
                msg = with_hint(
                    f"t-closeness was given ground = 'ordered', but column {self.sensitive!r} has no order.",
                    "declare its order, or choose another ground.",
                )
                raise ModelError(msg)
            return None
        if self.ground != "hierarchical":
            return np.arange(n_codes, dtype=np.int32)[None, :]
        if ground.levels is None or ground.levels.shape[1] != n_codes:
            msg = with_hint(
                f"t-closeness was given ground = 'hierarchical', but column {self.sensitive!r} has no hierarchy "
                f"of its {n_codes - 1} values.",
                "give the sensitive column one, or choose another ground.",
            )
            raise ModelError(msg)
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
        The sensitive column.
    enhanced : bool
        Bound the gain of a value of share p by -ln p too, which keeps frequent
        values from reaching a share of 1.

    Notes
    -----
    Cao, Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11),
    2012, definitions 2 (basic) and 3 (enhanced): (q - p) / p <= beta, or <= min(beta,
    -ln p), for every value whose share q of a class is above its share p of the
    whole input. Merging classes keeps it, because a share of a union is at most the
    higher one of its parts; suppressing other classes does too.

    Examples
    --------
    >>> import numpy as np
    >>> one = Histogram(np.array([0, 1]), np.array([0], np.int32), np.array([5]))
    >>> stats = ClassStats(np.array([5]), {"salary": one}, {"salary": np.array([0, 90, 10])})
    >>> BetaLikeness(1, "salary").measure(stats).round(3).tolist()
    [0.111]
    >>> BetaLikeness(1, "salary").passes(stats), BetaLikeness(1, "salary", enhanced=True).passes(stats)
    (array([ True]), array([False]))
    """

    beta: float
    sensitive: str
    enhanced: bool = False

    name: ClassVar[str] = "beta-likeness"
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    _compares_with_whole: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", check_number("beta-likeness", "beta", self.beta, above=0.0))
        check_sensitive("beta-likeness", self.sensitive)
        if not isinstance(self.enhanced, bool):
            msg = with_hint(f"beta-likeness was given enhanced = {self.enhanced!r}.", "it is true or false.")
            raise ModelError(msg)

    @property
    def min_size(self) -> int:
        """A class of one record may gain little enough."""
        return 1

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the highest relative gain of a value, infinite where one is above -ln p; lower is safer."""
        histogram = stats.histograms[self.sensitive]
        shares = _shares(stats.totals[self.sensitive])[histogram.codes + 1]
        held = histogram.counts / stats.sizes[histogram.labels()]
        gains = np.divide(held - shares, shares, out=np.full(len(shares), np.inf), where=shares > 0)
        if self.enhanced:
            gains = np.where(gains > _surprise(shares) + TOLERANCE, np.inf, gains)
        return histogram.highest(gains)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell in which classes no value gains too much."""
        return np.asarray(self.measure(stats) <= self.beta + TOLERANCE)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the share of every value in the whole and its own bound."""
        shares = _shares(totals[self.sensitive])
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
        The sensitive column.

    Notes
    -----
    Brickell, Shmatikov, "The cost of privacy: destruction of data-mining utility in
    anonymized data publishing", KDD 2008, section 4: abs(ln(q / p)) < delta for every
    value with a share p above 0 of the whole input and its share q of a class. A
    value that a class lacks has q = 0, which no delta allows. Equality fails, as the
    definition says. Merging classes keeps it, because a share of a union lies between
    those of its parts; suppressing other classes does too.

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
    monotone_coarsening: ClassVar[bool] = True
    monotone_suppression: ClassVar[bool] = True
    _compares_with_whole: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_number("delta-disclosure privacy", "delta", self.delta, above=0.0))
        check_sensitive("delta-disclosure privacy", self.sensitive)

    @property
    def min_size(self) -> int:
        """A class needs all values, but how many there are is not known here."""
        return 1

    def measure(self, stats: ClassStats) -> FloatArray:
        """Return the largest abs(ln(q / p)), infinite where a value is absent; lower is safer."""
        histogram, totals = stats.histograms[self.sensitive], stats.totals[self.sensitive]
        shares = _shares(totals)[histogram.codes + 1]
        held = histogram.counts / stats.sizes[histogram.labels()]
        ratios = np.abs(np.log(held / np.where(shares > 0, shares, held)))
        n_present = histogram.summed((shares > 0).astype(np.int64))
        return np.where(n_present == np.count_nonzero(totals), histogram.highest(ratios), np.inf)

    def passes(self, stats: ClassStats) -> BoolArray:
        """Tell in which classes every value is about as frequent as in the whole."""
        return np.asarray(self.measure(stats) < self.delta - TOLERANCE)

    def rule(self, totals: Mapping[str, CountArray], grounds: Mapping[str, Ground] = NO_GROUNDS) -> Rule:
        """Judge by the share of every value in the whole."""
        return Rule(RULE_RATIO, self.sensitive, float(self.delta), table=_shares(totals[self.sensitive])[None, :])


def _shares(totals: CountArray) -> FloatArray:
    return np.asarray(totals / max(int(totals.sum()), 1))


def _surprise(shares: FloatArray) -> FloatArray:
    """Return -ln p; of a value that the whole lacks it is infinite."""
    return -np.log(shares, out=np.full(len(shares), -np.inf), where=shares > 0)


def _merged(histogram: Histogram, totals: CountArray, nodes: CodeArray) -> tuple[Histogram, CountArray]:
    """Replace the values of a histogram and of the whole by the nodes that hold them."""
    _, places = np.unique(nodes, return_inverse=True)
    n_nodes = int(places.max()) + 1
    whole = np.bincount(places, weights=totals).astype(np.int64)
    if n_nodes == len(totals):
        # Each node holds one value: a level of leaves.
        return Histogram(histogram.offsets, (places[histogram.codes + 1] - 1).astype(np.int32), histogram.counts), whole
    keys = histogram.labels() * n_nodes + places[histogram.codes + 1]
    distinct, inverse = np.unique(keys, return_inverse=True)
    counts = np.bincount(inverse, weights=histogram.counts, minlength=len(distinct)).astype(np.int64)
    offsets = np.searchsorted(distinct, np.arange(histogram.n_classes + 1) * n_nodes)
    return Histogram(offsets, (distinct % n_nodes - 1).astype(np.int32), counts), whole


def _equal_distance(histogram: Histogram, sizes: CountArray, totals: CountArray) -> FloatArray:
    """Return half the sum of abs(p - q) over all values; those that a class lacks add their p as a whole."""
    shares = _shares(totals)[histogram.codes + 1]
    held = histogram.counts / sizes[histogram.labels()]
    return np.asarray((histogram.summed(np.abs(held - shares) - shares) + 1.0) / 2)


def _ordered_distance(histogram: Histogram, sizes: CountArray, totals: CountArray) -> FloatArray:
    """Return the sum of abs(P - Q) over the values of the whole, over their number minus 1.

    Q, the cumulated share of a class, is constant from one value that the class holds
    to the next, while P rises: where P passes Q is looked up, and the sums of P on
    either side come from its own cumulated sums.
    """
    ranks = np.cumsum(totals > 0) - 1
    cumulated = np.cumsum(totals[totals > 0]) / max(int(totals.sum()), 1)
    n_ranks = len(cumulated)
    is_foreign = histogram.summed((totals[histogram.codes + 1] == 0).astype(np.int64)) > 0
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
    return np.where(is_foreign, 1.0, (histogram.summed(moved) + sums[first]) / (n_ranks - 1))
