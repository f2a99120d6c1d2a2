"""Privacy models: conditions on every equivalence class, judged from its statistics alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hushtable.errors import ModelError, listed, with_hint
from hushtable.models.attribute import DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity
from hushtable.models.base import ClassStats, Ground, Histogram, Needs, PrivacyModel, Rule, describe, model_to_dict
from hushtable.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from hushtable.models.identity import AlphaKAnonymity, DeltaPresence, KAnonymity, KMap
from hushtable.models.matching import Global1K, GlobalK1, Match1K, MatchK1, MatchKK

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "BetaLikeness",
    "ClassStats",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "Global1K",
    "GlobalK1",
    "Ground",
    "Histogram",
    "KAnonymity",
    "KMap",
    "Match1K",
    "MatchK1",
    "MatchKK",
    "Needs",
    "PrivacyModel",
    "RecursiveCLDiversity",
    "Rule",
    "TCloseness",
    "describe",
    "from_dict",
    "model_to_dict",
]

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
        )
    }
)


def from_dict(entry: Mapping[str, Any]) -> PrivacyModel:
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
    if len(entry) != 1:
        msg = with_hint(f"a model entry names {len(entry)} models.", "write one model an entry: `- k-anonymity: 5`.")
        raise ModelError(msg)
    ((name, given),) = entry.items()
    if name not in MODELS:
        msg = with_hint(f"unknown privacy model {name!r}.", f"the models are {listed(MODELS, limit=20)}.")
        raise ModelError(msg)
    model = MODELS[name]
    try:
        made: PrivacyModel = model(**given) if isinstance(given, Mapping) else model(given)
    except TypeError:
        parameters = ", ".join(model.__dataclass_fields__)
        msg = with_hint(f"{name} cannot be made from what was given.", f"its parameters are: {parameters}.")
        raise ModelError(msg) from None
    return made
