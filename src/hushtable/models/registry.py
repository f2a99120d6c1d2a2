"""Privacy models: conditions on every equivalence class, judged from its statistics alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hushtable.errors import InputError, ModelError, VerificationError
from hushtable.models import entries, plugins
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

MODELS: Final[entries.Registry[type[Any]]] = entries.Registry(
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
    },
    "privacy model",
    "models",
    [name for name in dir(PrivacyModel) if not name.startswith("_")] + ["name", *PrivacyModel.__annotations__],
    ModelError,
)
"""Every model by the name that a policy writes it by."""

register = MODELS.register


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
    model: PrivacyModel = MODELS.read(entry)
    return model


def models_from_claim(names: Iterable[Any]) -> tuple[PrivacyModel, ...]:
    """Make the models that a manifest names: those of hushtable, and those that somebody has registered or allowed."""
    models = []
    for entry in names:
        name = next(iter(entry), None) if isinstance(entry, Mapping) else entry
        if isinstance(name, str) and not MODELS.find_allowed(name):
            package = plugins.list_plugins().get("models", {}).get(name)
            hint = (
                f"it is installed ({package}), and nothing is imported because a file names it: pass --plugins {name}."
                if package
                else "install the package that has it, and pass --plugins with its name."
            )
            raise VerificationError(
                f"the claim could not be judged: it names the model {name!r}, which is unknown here.", hint=hint
            )
        try:
            models.append(from_dict(entry))
        except ModelError as error:
            raise VerificationError(f"the claim could not be judged: {error.message}", hint=error.hint) from None
    return tuple(models)


def models_in(models: Any) -> tuple[PrivacyModel, ...]:
    """Return the models that a caller passed, each as an object or as a policy writes it."""
    if isinstance(models, (str, Mapping)) or not isinstance(models, Iterable):
        what = type(models).__name__ if not isinstance(models, str) else repr(models)
        raise InputError(f"models = {what} is one model.", hint="pass a list: models=[KAnonymity(5)].")
    return tuple(MODELS.take(model, PrivacyModel) for model in models)
