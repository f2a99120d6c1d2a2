"""What follows for all nodes below one from the classes that fail there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, FloatArray
from hushtable.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ClassStats,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    Histogram,
    KAnonymity,
    KMap,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
)

__all__ = ["Judged", "Tags"]

_SLACK: Final = 1e-9
_CLOSED: Final = (KAnonymity, DistinctLDiversity, KMap)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """How the classes of a node are judged.

    Attributes
    ----------
    failing : ndarray of bool, shape (n_classes,)
        The classes that fail a model, and are suppressed.
    tagged : ndarray of bool, shape (n_classes,)
        Those whose records fail at every node below too.
    n_failing, n_tagged : int
        Records in them.
    is_hopeless : bool
        Whether no node from here down has a release within the limit.
    is_feasible : bool
        Whether this node has one.
    """

    failing: BoolArray = field(repr=False)
    tagged: BoolArray = field(repr=False)
    n_failing: int
    n_tagged: int
    is_hopeless: bool
    is_feasible: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tags:
    """Models, and what of them is inherited.

    A record whose class fails a *closed* model fails it in every smaller class too: passing is inherited by all larger
    classes. Of a model that is not closed, the closed part is what every class that passes has in common.

    Attributes
    ----------
    models, closed : tuple of PrivacyModel
    excesses : tuple of Excess
        Sums over classes that never fall from a node to those below it.
    most : int
        Records that may be suppressed.
    """

    models: tuple[PrivacyModel, ...]
    closed: tuple[PrivacyModel, ...]
    excesses: tuple[Excess, ...]
    most: int

    @classmethod
    def of(cls, models: Sequence[PrivacyModel], reference: ClassStats, most: int, *, by_person: bool) -> Tags:
        """Find what of the models is inherited.

        Parameters
        ----------
        models : sequence of PrivacyModel
        reference : ClassStats
            With the totals and grounds.
        most : int
            Records that may be suppressed.
        by_person : bool
            Whether persons are counted: what is convex in records need not be in persons.
        """
        closed = tuple(
            dict.fromkeys(part for model in models for part in _closed_part(model, reference, by_person=by_person))
        )
        convex = () if by_person or most == 0 else tuple(filter(None, (_convex(model) for model in models)))
        excesses = tuple(Excess.of(model, excess, reference) for model, excess in convex)
        return cls(tuple(models), closed, excesses, most)

    def judge(self, stats: ClassStats) -> Judged:
        """Judge the classes of a node."""
        tagged = _failing(self.closed, stats)
        others = [model for model in self.models if model not in self.closed]
        failing = tagged | _failing(others, stats) if others else tagged
        n_tagged, n_failing = (int(stats.sizes[classes].sum()) for classes in (tagged, failing))
        is_feasible = n_failing <= self.most and not failing.all()
        if self.most == 0:
            # A class without a record fails nothing that could be suppressed.
            is_feasible = not failing.any()
            # A union of classes that pass passes, so that one of the parts of a class that fails does too.
            is_inherited = all(model.monotone_coarsening for model in others)
            is_hopeless = bool(tagged.any() or (failing.any() and is_inherited))
        else:
            is_hopeless = n_tagged > self.most or any(each.is_above(stats, self.most) for each in self.excesses)
        return Judged(failing, tagged, n_failing, n_tagged, is_hopeless, is_feasible)


@dataclass(frozen=True, slots=True, eq=False)
class Excess:
    """By how much classes exceed the bound of a model, summed over records.

    The excess of a class is convex in its shares, so that the sum never rises when classes are merged; a suppressed
    record accounts for the highest one there is at the most.

    Attributes
    ----------
    model : PrivacyModel
    by_class : callable
        The excess of every class in all its records.
    highest : float
        Of any record.
    """

    model: PrivacyModel
    by_class: Callable[[ClassStats], FloatArray] = field(repr=False)
    highest: float

    @classmethod
    def of(cls, model: PrivacyModel, by_class: Callable[[ClassStats], FloatArray], reference: ClassStats) -> Excess:
        """Find the highest excess: that of a class of one value."""
        (name,) = model.needs.sensitive
        present = np.flatnonzero(reference.totals[name])
        ones = np.ones(len(present), dtype=np.int64)
        alone = Histogram(np.arange(len(present) + 1), (present - 1).astype(np.int32), ones)
        stats = ClassStats(ones, {name: alone}, reference.totals, grounds=reference.grounds)
        return cls(model, by_class, float(by_class(stats).max(initial=0.0)))

    def is_above(self, stats: ClassStats, n_suppressed: int) -> bool:
        """Tell whether suppressing so many records cannot be enough, here and at all nodes below."""
        most = self.highest * n_suppressed
        return bool(self.by_class(stats).sum() > most * (1 + _SLACK) + _SLACK * max(1.0, float(stats.sizes.sum())))


def _failing(models: Sequence[PrivacyModel], stats: ClassStats) -> BoolArray:
    failing = np.zeros(len(stats.sizes), dtype=bool)
    for model in models:
        failing |= ~model.passes(stats)
    return failing


def _closed_part(model: PrivacyModel, reference: ClassStats, *, by_person: bool) -> list[PrivacyModel]:
    """Return models that every class which passes satisfies, and every class that holds such a one."""
    if isinstance(model, _CLOSED):
        return [model]
    if isinstance(model, AlphaKAnonymity):
        return [KAnonymity(model.k)]
    if isinstance(model, EntropyLDiversity):
        return [DistinctLDiversity(max(1, model.min_size), model.sensitive)]
    if isinstance(model, RecursiveCLDiversity):
        return [DistinctLDiversity(model.l, model.sensitive)]
    if isinstance(model, DeltaDisclosure):
        n_known = int(np.count_nonzero(reference.totals[model.sensitive][1:]))
        return [DistinctLDiversity(n_known, model.sensitive)] if n_known else []
    # Sizes are in records, and k-anonymity may count persons.
    return [KAnonymity(model.min_size)] if model.min_size > 1 and not by_person else []


def _convex(model: PrivacyModel) -> tuple[PrivacyModel, Callable[[ClassStats], FloatArray]] | None:
    """Return a model whose excess is convex and that every class satisfies which passes, and the excess."""
    if isinstance(model, EntropyLDiversity):
        return model, _lacking_entropy(model)
    if isinstance(model, TCloseness):
        return model, _beyond(model, model.t)
    if isinstance(model, BetaLikeness):
        return (basic := BetaLikeness(model.beta, model.sensitive)), _beyond(basic, model.beta)
    if isinstance(model, DeltaDisclosure):
        gain = math.expm1(min(model.delta, 700.0))
        return (basic := BetaLikeness(gain, model.sensitive)), _beyond(basic, gain)
    if isinstance(model, AlphaKAnonymity):
        return (share := AlphaKAnonymity(model.alpha, 1, model.sensitive)), _beyond(share, model.alpha)
    return None


def _beyond(model: PrivacyModel, bound: float) -> Callable[[ClassStats], FloatArray]:
    def excess(stats: ClassStats) -> FloatArray:
        return np.asarray(stats.sizes * np.maximum(0.0, model.measure(stats) - bound - TOLERANCE))

    return excess


def _lacking_entropy(model: EntropyLDiversity) -> Callable[[ClassStats], FloatArray]:
    def excess(stats: ClassStats) -> FloatArray:
        known = stats.histograms[model.sensitive].known()
        n_known = known.summed(known.counts)
        # The entropy of a class of which no value is known is not, and does not count.
        reached = np.log(np.maximum(1.0, model.measure(stats)))
        return np.asarray(n_known * np.maximum(0.0, math.log(model.l) - reached - TOLERANCE))

    return excess
