"""hushtable: find what identifies people in a table, hide it with the least loss, prove it."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from hushtable import datasets, discover, models, quality, risk
    from hushtable.anonymizers.fitted import Recoding
    from hushtable.anonymizers.fulldomain import FullDomain
    from hushtable.anonymizers.local.recode import LocalRecoding
    from hushtable.anonymizers.minimal.genetic import Genetic
    from hushtable.anonymizers.minimal.mingen import MinGen
    from hushtable.anonymizers.mondrian import Mondrian
    from hushtable.claims import Verdict, verify
    from hushtable.claims.certificates import Certificate, check_certificate
    from hushtable.columns.column import Column, ColumnSpec
    from hushtable.discover.objective import Objective, Term
    from hushtable.discover.recognise import Roles, find_quasi_identifiers
    from hushtable.discover.select import Selection, select_columns
    from hushtable.engines.lazy import collapse
    from hushtable.engines.release import RemoteRelease
    from hushtable.errors import (
        BudgetExceeded,
        ColumnError,
        ExposureError,
        ExposureWarning,
        HierarchyError,
        HushError,
        InfeasibleError,
        InputError,
        ModelError,
        PipelineError,
        PolicyError,
        ResourceError,
        VerificationError,
    )
    from hushtable.hierarchy import Hierarchy
    from hushtable.masking import mask_dependence, masking_tradeoff
    from hushtable.masking.release import MaskedRelease, MaskingTradeoff
    from hushtable.models import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        DistinctLDiversity,
        EntropyLDiversity,
        Global1K,
        GlobalK1,
        KAnonymity,
        KMap,
        Match1K,
        MatchK1,
        MatchKK,
        PrivacyModel,
        RecursiveCLDiversity,
        TCloseness,
    )
    from hushtable.pipeline import Pipeline, PipelineRun
    from hushtable.policy import Policy
    from hushtable.policy.comparing import compare
    from hushtable.policy.comparison import Comparison
    from hushtable.policy.protecting import anonymize
    from hushtable.quality.certainty import Certainty, MinimalDistortion
    from hushtable.quality.loss import SetNCP
    from hushtable.quality.objectives import (
        ArxLoss,
        NonUniformEntropy,
        Precision,
    )
    from hushtable.quality.utility import Utility
    from hushtable.release.pseudonyms import Pseudonyms
    from hushtable.release.release import Release
    from hushtable.reporting import Report, report
    from hushtable.risk.assess import RiskAssessment, assess
    from hushtable.risk.mpuccs import Mpuccs, mpuccs
    from hushtable.risk.petsard import PetsardMpuccs, petsard_mpuccs
    from hushtable.risk.uniques import MinimalUniques, minimal_uniques
    from hushtable.search.budget import Budget, Effort, Trace
    from hushtable.synthesizers import Bootstrap, Copula, Independent, synthesize
    from hushtable.tables.partition import Partition
    from hushtable.tables.splitting import split
    from hushtable.tables.table import Table

__all__ = [
    "AlphaKAnonymity",
    "ArxLoss",
    "BetaLikeness",
    "Bootstrap",
    "Budget",
    "BudgetExceeded",
    "Certainty",
    "Certificate",
    "Column",
    "ColumnError",
    "ColumnSpec",
    "Comparison",
    "Copula",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "Effort",
    "EntropyLDiversity",
    "ExposureError",
    "ExposureWarning",
    "FullDomain",
    "Genetic",
    "Global1K",
    "GlobalK1",
    "Hierarchy",
    "HierarchyError",
    "HushError",
    "Independent",
    "InfeasibleError",
    "InputError",
    "KAnonymity",
    "KMap",
    "LocalRecoding",
    "MaskedRelease",
    "MaskingTradeoff",
    "Match1K",
    "MatchK1",
    "MatchKK",
    "MinGen",
    "MinimalDistortion",
    "MinimalUniques",
    "ModelError",
    "Mondrian",
    "Mpuccs",
    "NonUniformEntropy",
    "Objective",
    "Partition",
    "PetsardMpuccs",
    "Pipeline",
    "PipelineError",
    "PipelineRun",
    "Policy",
    "PolicyError",
    "Precision",
    "PrivacyModel",
    "Pseudonyms",
    "Recoding",
    "RecursiveCLDiversity",
    "Release",
    "RemoteRelease",
    "Report",
    "ResourceError",
    "RiskAssessment",
    "Roles",
    "Selection",
    "SetNCP",
    "TCloseness",
    "Table",
    "Term",
    "Trace",
    "Utility",
    "Verdict",
    "VerificationError",
    "anonymize",
    "assess",
    "check_certificate",
    "collapse",
    "compare",
    "datasets",
    "discover",
    "find_quasi_identifiers",
    "mask_dependence",
    "masking_tradeoff",
    "minimal_uniques",
    "models",
    "mpuccs",
    "petsard_mpuccs",
    "quality",
    "report",
    "risk",
    "select_columns",
    "split",
    "synthesize",
    "verify",
]

_HOMES = {
    "AlphaKAnonymity": "models",
    "ArxLoss": "quality.objectives",
    "BetaLikeness": "models",
    "Bootstrap": "synthesizers",
    "Budget": "search.budget",
    "BudgetExceeded": "errors",
    "Certainty": "quality.certainty",
    "Certificate": "claims.certificates",
    "Column": "columns.column",
    "ColumnError": "errors",
    "ColumnSpec": "columns.column",
    "Comparison": "policy.comparison",
    "Copula": "synthesizers",
    "DeltaDisclosure": "models",
    "DeltaPresence": "models",
    "DistinctLDiversity": "models",
    "Effort": "search.budget",
    "EntropyLDiversity": "models",
    "ExposureError": "errors",
    "ExposureWarning": "errors",
    "FullDomain": "anonymizers.fulldomain",
    "Genetic": "anonymizers.minimal.genetic",
    "Global1K": "models",
    "GlobalK1": "models",
    "Hierarchy": "hierarchy",
    "HierarchyError": "errors",
    "HushError": "errors",
    "Independent": "synthesizers",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "KAnonymity": "models",
    "KMap": "models",
    "LocalRecoding": "anonymizers.local.recode",
    "MaskedRelease": "masking.release",
    "MaskingTradeoff": "masking.release",
    "Match1K": "models",
    "MatchK1": "models",
    "MatchKK": "models",
    "MinGen": "anonymizers.minimal.mingen",
    "MinimalDistortion": "quality.certainty",
    "MinimalUniques": "risk.uniques",
    "ModelError": "errors",
    "Mondrian": "anonymizers.mondrian",
    "Mpuccs": "risk.mpuccs",
    "NonUniformEntropy": "quality.objectives",
    "Objective": "discover.objective",
    "Partition": "tables.partition",
    "PetsardMpuccs": "risk.petsard",
    "Pipeline": "pipeline",
    "PipelineError": "errors",
    "PipelineRun": "pipeline",
    "Policy": "policy",
    "PolicyError": "errors",
    "Precision": "quality.objectives",
    "PrivacyModel": "models",
    "Pseudonyms": "release.pseudonyms",
    "Recoding": "anonymizers.fitted",
    "RecursiveCLDiversity": "models",
    "Release": "release.release",
    "Report": "reporting",
    "ResourceError": "errors",
    "RiskAssessment": "risk.assess",
    "Roles": "discover.recognise",
    "Selection": "discover.select",
    "SetNCP": "quality.loss",
    "TCloseness": "models",
    "Table": "tables.table",
    "Term": "discover.objective",
    "Trace": "search.budget",
    "Utility": "quality.utility",
    "Verdict": "claims",
    "VerificationError": "errors",
    "anonymize": "policy.protecting",
    "assess": "risk.assess",
    "check_certificate": "claims.certificates",
    "collapse": "engines.lazy",
    "RemoteRelease": "engines.release",
    "compare": "policy.comparing",
    "datasets": "",
    "discover": "",
    "find_quasi_identifiers": "discover.recognise",
    "mask_dependence": "masking",
    "masking_tradeoff": "masking",
    "minimal_uniques": "risk.uniques",
    "models": "",
    "mpuccs": "risk.mpuccs",
    "petsard_mpuccs": "risk.petsard",
    "quality": "",
    "report": "reporting",
    "risk": "",
    "select_columns": "discover.select",
    "split": "tables.splitting",
    "synthesize": "synthesizers",
    "verify": "claims",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("hushtable")
    if name not in _HOMES:
        near = get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        msg = f"module 'hushtable' has no attribute {name!r}{hint}"
        raise AttributeError(msg)
    home = _HOMES[name]
    if not home:
        return import_module(f"hushtable.{name}")
    return getattr(import_module(f"hushtable.{home}"), name)


def __dir__() -> list[str]:
    return __all__
