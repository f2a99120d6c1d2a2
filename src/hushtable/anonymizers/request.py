"""What is asked of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hushtable.anonymizers.method import Method
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.claims import Limits
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, listed, with_hint
from hushtable.io import Writing
from hushtable.models import DeltaPresence, KAnonymity, MatchingNotion, PrivacyModel
from hushtable.quality import Loss, SetNCP
from hushtable.release import Pseudonyms
from hushtable.search import Clock

__all__ = ["Request"]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is asked of a release; the parameters of `hushtable.anonymize` of the same names.

    Attributes
    ----------
    quasi_identifiers : tuple of str
    models : tuple of PrivacyModel
    sensitive : tuple of str
        Besides those that a model judges.
    method : Method
    hierarchies : mapping of column to Hierarchy, rule, path or "auto"
    unknown : {"error", "suppress"}
    loss : Loss
    suppression_limit : float
    identifiers : tuple of str
    pseudonyms : Pseudonyms, optional
    specs : mapping of column to ColumnSpec
    population : path, dataframe or Table, optional
    person : str, optional
    limits : Limits
    clock : Clock
    inputs : tuple of path
        Files that were read for it, besides those that the other attributes name.
    writing : Writing
    """

    quasi_identifiers: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[str, ...] = ()
    method: Method = field(default_factory=Mondrian)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    unknown: Literal["error", "suppress"] = "error"
    loss: Loss = field(default_factory=SetNCP)
    suppression_limit: float = 0.0
    identifiers: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict)
    population: Any = field(default=None, repr=False)
    person: str | None = None
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, repr=False)
    inputs: tuple[Path, ...] = ()
    writing: Writing = field(default_factory=Writing)

    def __post_init__(self) -> None:
        if not self.models:
            msg = with_hint("no privacy model was given.", "pass models=[KAnonymity(5)], for instance.")
            raise InputError(msg)
        if not self.quasi_identifiers:
            msg = with_hint("no quasi-identifier was given.", "name the columns that someone may know of a person.")
            raise InputError(msg)
        if not 0 <= self.suppression_limit <= 1:
            msg = with_hint(f"suppression_limit = {self.suppression_limit!r}.", "a share of the records, from 0 to 1.")
            raise InputError(msg)
        if self.unknown not in ("error", "suppress"):
            msg = with_hint(f"unknown = {self.unknown!r}.", "choose 'error' or 'suppress'.")
            raise InputError(msg)
        shares = [model.name for model in self.models if isinstance(model, DeltaPresence)]
        if shares and self.person is not None:
            msg = with_hint(
                f"{listed(shares)} was given with person={self.person!r}.",
                "a share of a population is of records: give one row a person, or leave the model out.",
            )
            raise InputError(msg)
        linked = [model.name for model in self.models if model.needs.histories]
        if linked and (self.person is None or self.hides_person):
            what = "nobody said" if self.person is None else "the release does not tell"
            msg = with_hint(
                f"{listed(linked)} was asked, and {what} whose record a row is.",
                "pass person=, a column that is published as a pseudonym; or ask for k-anonymity, which counts "
                "persons where nothing links their records.",
            )
            raise InputError(msg)
        notions = [model.name for model in self.models if isinstance(model, MatchingNotion)]
        if notions and (len(self.models) > 1 or self.suppression_limit > 0 or self.limits.any or self.person):
            msg = with_hint(
                f"{listed(notions)} was given with other models, limits, persons or a suppression limit.",
                "a matching notion goes alone: it compares all published rows with all original ones.",
            )
            raise InputError(msg)

    @property
    def judged(self) -> tuple[str, ...]:
        """All sensitive columns, each once."""
        judged = (name for model in self.models for name in model.needs.sensitive)
        return tuple(dict.fromkeys((*self.sensitive, *judged)))

    @property
    def hides_person(self) -> bool:
        """Whether the release does not say which records are one person's."""
        return self.person in self.identifiers or (self.pseudonyms is not None and self.person in self.pseudonyms.fresh)

    @property
    def asked_of_classes(self) -> tuple[PrivacyModel, ...]:
        """What every class must satisfy: the models, and as large a class as the limits of risk ask for."""
        models = tuple(model for model in self.models if not isinstance(model, MatchingNotion))
        k = self.limits.smallest_class
        return models if k <= 1 else (*models, KAnonymity(k))
