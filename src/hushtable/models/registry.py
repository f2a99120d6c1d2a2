"""Privacy models: conditions on every equivalence class, judged from its statistics alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from hushtable.errors import InputError, ModelError, with_hint
from hushtable.models import entries
from hushtable.models.attribute import (
    BetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    TCloseness,
)
from hushtable.models.base import PrivacyModel
from hushtable.models.histories import KMAnonymity, LinkedKAnonymity
from hushtable.models.identity import AlphaKAnonymity, DeltaPresence, KAnonymity, KMap
from hushtable.models.matching import Global1K, GlobalK1, Match1K, MatchK1, MatchKK

__all__ = ["MODELS", "from_dict", "models_in"]

MODELS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        model.name: model
        for model in (
            KAnonymity,
            AlphaKAnonymity,
            KMap,
            DeltaPresence,
            DistinctLDiversity,
            EntropyLDiversity,
            RecursiveCLDiversity,
            TCloseness,
            BetaLikeness,
            DeltaDisclosure,
            Match1K,
            MatchK1,
            MatchKK,
            Global1K,
            GlobalK1,
            LinkedKAnonymity,
            KMAnonymity,
        )
    }
)


def from_dict(entry: str | Mapping[str, Any]) -> PrivacyModel:
    """Make a model from the way a policy writes it.

    Examples
    --------
    >>> from_dict({"k-anonymity": 5})
    KAnonymity(k=5)
    >>> from_dict({"distinct-l-diversity": {"l": 2, "sensitive": "salary"}})
    DistinctLDiversity(l=2, sensitive='salary')
    >>> from_dict({"t-closeness": {"t": 0.2, "sensitive": "salary"}})
    TCloseness(t=0.2, sensitive='salary', ground='auto')
    """
    made: PrivacyModel = entries.read(entry, MODELS, "privacy model", error=ModelError)
    return made


def models_in(given: Any) -> tuple[PrivacyModel, ...]:
    """Return the models that a caller passed, each as an object or as a policy writes it.

    Raises
    ------
    InputError
        One model alone, a class instead of an object of it, or something else.
    """
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        shown = type(given).__name__ if not isinstance(given, str) else repr(given)
        msg = with_hint(f"models = {shown} is one model.", "pass a list: models=[KAnonymity(5)].")
        raise InputError(msg)
    return tuple(entries.given(model, MODELS, PrivacyModel, "privacy model") for model in given)
