"""The interface of every search: a `Problem` in, a `Found` out. `register` adds a method."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import numpy as np

from hushtable._types import BoolArray, CodeArray
from hushtable.anonymizers.judging import Judge
from hushtable.errors import InputError, quote_names, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.models import DeltaPresence, MatchingNotion, PrivacyModel, entries
from hushtable.quality import Distances, Loss, SetNCP
from hushtable.recoding import Recoding
from hushtable.search import Budget, Clock, Trace
from hushtable.tables import Partition, Table


@dataclass(frozen=True, slots=True)
class Offers:
    """What a method supports.

    Attributes
    ----------
    losses : tuple of str
        The objectives it searches by.
    parts_equal_records : bool
        Whether equal records may go to different classes, so that each is a row of its own.
    counts_population : bool
        Whether models may count a population.
    suppresses : bool
        Whether it decides itself which records are suppressed.
    finds_matchings : bool
        Whether it takes a matching notion, which judges rows instead of classes.
    keeps_apart : bool
        Whether the cells of its classes can be kept from covering one another's people.
    takes_equal_rows : bool
        Whether it accepts equal rows: its classes are the same as for distinct rows.
    merges_classes : bool
        Whether classes that publish the same cells become one. That is right only for models that a
        union of passing classes passes.
    needs_ladders : bool
        Whether every column needs a hierarchy; a column without one gets a proposed one.
    finds_failing : bool
        Whether it finds by itself the records with which the models cannot be met.
    finds_histories : bool
        Whether it takes models of all the records of a person.
    takes_any_loss : bool
        Whether it compares whole releases, by any loss.
    """

    losses: tuple[str, ...] = ("ncp",)
    parts_equal_records: bool = False
    counts_population: bool = False
    suppresses: bool = False
    finds_matchings: bool = False
    keeps_apart: bool = True
    takes_equal_rows: bool = False
    merges_classes: bool = False
    needs_ladders: bool = False
    finds_failing: bool = False
    finds_histories: bool = False
    takes_any_loss: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The input of a search.

    Attributes
    ----------
    columns : tuple of str
        The quasi-identifiers, in the order that `Found.recoding` has them.
    judge : Judge
        Knows the rows, and which classes of them pass.
    ladders : mapping of column to Hierarchy
        Aligned to the columns of the table.
    loss : Loss
        What is made small.
    clock : Clock
        Every loop that can take a second looks at it.
    most_suppressed : int
        Records that the search may suppress.
    notion : MatchingNotion, optional
        Asked of the rows instead of models.
    n_suppressed_before : int
        Records that were suppressed before the search, because the models cannot be met with them.
    average_risk : float, optional
        How many classes there may be for each record that is published.
    hides_persons : bool
        Whether persons are counted, but the release does not say whose record a row is.
    language : {"en", "de", "fr", "es", "it", "nl"}
        Of the words that are written into cells.
    everyone : Table, optional
        All records, if persons are hidden and records may be suppressed: a reader may take any record that the cells
        of a class cover for one of its records.
    """

    columns: tuple[str, ...]
    judge: Judge
    ladders: Mapping[str, Hierarchy]
    loss: Loss
    clock: Clock = field(default_factory=Clock)
    most_suppressed: int = 0
    notion: MatchingNotion | None = None
    n_suppressed_before: int = 0
    average_risk: float | None = None
    hides_persons: bool = False
    language: str = "en"
    everyone: Table | None = field(default=None, repr=False)

    @property
    def table(self) -> Table:
        """The rows: quasi-identifiers, sensitive columns, and persons where they are counted."""
        return self.judge.table

    def take_rows(self, rows: BoolArray) -> Problem:
        """Return the problem of some rows; models still compare with the same whole."""
        return replace(self, judge=self.judge.take_rows(rows))


class Placing(Protocol):
    """Places rows that the search has not seen: a cut tree, a vector of levels."""

    def place_rows(self, table: Table) -> CodeArray:
        """Return the class of every row of a table with the search's columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The result of a search.

    Attributes
    ----------
    partition : Partition
        Of the problem's rows; label -1: suppressed.
    recoding : Recoding
        What the classes publish.
    trace : Trace
    placing : Placing, optional
    others : tuple of Found
        Other tables of the same loss.
    evidence : mapping, optional
        Why nothing better exists: the entries of a certificate that do not follow from the request, its kind among
        them.
    combinations : tuple of tuple of str
        Sets of columns on each of which the models hold, where they need not hold on all columns together.
    floor_budget : Budget, optional
        The part of the budget that is left for a floor under the loss; without it no floor is computed.
    """

    partition: Partition
    recoding: Recoding
    trace: Trace
    placing: Placing | None = field(default=None, repr=False)
    others: tuple[Found, ...] = field(default=(), repr=False)
    evidence: Mapping[str, Any] | None = field(default=None, repr=False)
    combinations: tuple[tuple[str, ...], ...] = ()
    floor_budget: Budget | None = None

    @property
    def suppressed(self) -> BoolArray:
        """The rows in no class."""
        return np.asarray(self.partition.labels < 0)


@runtime_checkable
class Method(Protocol):
    """A search for the classes of a release; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]
    """As written in a policy: ``"mondrian"``."""

    @property
    def offers(self) -> Offers:
        """What it supports."""

    def search(self, problem: Problem) -> Found:
        """Find classes that pass, and what they publish."""


METHODS: Final[entries.Registry[type[Method]]] = entries.Registry(
    {
        "full_domain": "hushtable.anonymizers.full_domain.FullDomain",
        "local_recoding": "hushtable.anonymizers.local_recoding.LocalRecoding",
        "genetic": "hushtable.anonymizers.genetic.Genetic",
        "mingen": "hushtable.anonymizers.mingen.MinGen",
        "mondrian": "hushtable.anonymizers.mondrian.Mondrian",
        "histories": "hushtable.anonymizers.histories.Histories",
        "suppress": "hushtable.anonymizers.local_suppression.LocalSuppression",
    },
    "method",
    "methods",
    ("name", "offers", "search"),
    elsewhere=dict.fromkeys(
        ("microaggregation", "noise", "pram", "rank_swap", "record_swap", "shuffle"),
        "it perturbs cells: run `hushtable perturb` or ht.perturb, and protect what comes of it; "
        "ht.perturbation_tradeoff compares such methods.",
    ),
)
"""Every method by its name in policies; imported when it is first used."""

register = METHODS.register


def check_offers(method: Method, problem: Problem) -> None:
    """Raise InputError if a problem needs something that the method does not offer."""
    offers, name = method.offers, type(method).__name__
    if problem.loss.name not in offers.losses and not (offers.takes_any_loss and compares_releases(problem.loss)):
        able = _methods_with(lambda offers: problem.loss.name in offers.losses)
        hint = f"methods that do: {able}." if able else f"no method does; {name} takes {quote_names(offers.losses)}."
        raise InputError(f"{name} does not search by loss={problem.loss.name!r}.", hint=hint)
    if problem.notion is not None and not offers.finds_matchings:
        able = _methods_with(lambda offers: offers.finds_matchings)
        raise InputError(
            f"{name} with these options makes classes, and {problem.notion.name} judges none.",
            hint=f"methods that match rows: {able}.",
        )
    _check_models(name, offers, problem.judge.models)


def list_judged_combinations(method: Method, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the sets of columns that a method of releases judges one by one; none where it judges all together."""
    if method.name != "suppress":
        return ()
    from hushtable.anonymizers.local_suppression import LocalSuppression

    return method.list_combinations(columns) if isinstance(method, LocalSuppression) else ()


def is_own(given: object) -> bool:
    """Tell whether a model, a loss or a method comes from another package."""
    return not type(given).__module__.startswith("hushtable.")


def compares_releases(loss: Loss) -> bool:
    """Tell whether a loss can only be measured on whole releases, as those of other packages."""
    return is_own(loss) or isinstance(loss, Distances)


def moves_rows(method: Method) -> bool:
    """Tell whether single records may be moved between the classes that a method found."""
    return _moves_rows(method.offers)


def _moves_rows(offers: Offers) -> bool:
    return offers.parts_equal_records and offers.merges_classes and not offers.finds_histories


def _methods_with(is_able: Callable[[Offers], bool]) -> str:
    """List the methods that offer something, as text; empty if none does."""
    return quote_names(name for name, method in METHODS.items() if is_able(method().offers))


def choose_loss(method: Method, loss: Loss) -> Loss:
    """Choose the loss that a method minimises: the requested one, or the set-NCP if it cannot compare by that.

    A loss of whole releases is reported by every method. It is minimised only by methods that compare releases, and by
    methods that part equal records, whose rows `own_losses` moves afterwards.
    """
    offers = method.offers
    if not compares_releases(loss) or loss.name in offers.losses or offers.takes_any_loss or "ncp" not in offers.losses:
        return loss
    if moves_rows(method):
        return SetNCP(weights=loss.weights)
    able = _methods_with(lambda offers: offers.takes_any_loss or _moves_rows(offers))
    msg = with_hint(
        f"{type(method).__name__} makes the set-NCP small; the loss {loss.name!r} is reported only.",
        f"methods that make it small: {able}.",
    )
    warnings.warn(msg, stacklevel=2)
    return SetNCP(weights=loss.weights)


def is_bounded_below(model: PrivacyModel) -> bool:
    """Tell whether a class can fail a model because its cells cover more people than it holds."""
    return isinstance(model, DeltaPresence) and model.low > 0


def _check_models(name: str, offers: Offers, models: Sequence[PrivacyModel]) -> None:
    linked = [model.name for model in models if model.needs.histories]
    if linked and not offers.finds_histories:
        able = _methods_with(lambda offers: offers.finds_histories)
        ways = f"methods that align histories: {able}; or" if able else "No method does yet:"
        raise InputError(
            f"{name} divides records, and {quote_names(linked)} judges all the records of a person together.",
            hint=f"{ways} ask for km-anonymity alone, which every method takes; or unlink the records "
            "(`action: fresh`) and ask for k-anonymity.",
        )
    counting = [model.name for model in models if model.needs.population]
    if counting and not offers.counts_population:
        able = _methods_with(lambda offers: offers.counts_population)
        raise InputError(
            f"{name} with these options cannot look for {quote_names(counting)}: what it publishes covers other people "
            "than those it counts.",
            hint=f"methods that count a population: {able}, but not with recoding='central'.",
        )
    low = [model.name for model in models if is_bounded_below(model)]
    if low and not offers.keeps_apart:
        raise InputError(
            f"{name} with these options was given {quote_names(low)} and a lower bound above 0.",
            hint="its classes overlap, so that people count in several of them and their share falls: "
            "leave out exchange=True and strict=False.",
        )
    refused = [model.name for model in models if offers.merges_classes and not model.monotone_coarsening]
    if refused:
        raise InputError(
            f"{name} cannot look for {quote_names(refused)}.",
            hint="classes that happen to publish the same cells are one class, which must satisfy the models too; "
            "use method='mondrian'.",
        )
