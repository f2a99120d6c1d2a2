from . import entries as entries, plugins as plugins
from .attribute import (
    BetaLikeness as BetaLikeness,
    DeltaDisclosure as DeltaDisclosure,
    DistinctLDiversity as DistinctLDiversity,
    EntropyLDiversity as EntropyLDiversity,
    GroundName as GroundName,
    RecursiveCLDiversity as RecursiveCLDiversity,
    TCloseness as TCloseness,
)
from .base import (
    ClassStats as ClassStats,
    Ground as Ground,
    Histogram as Histogram,
    Matching as Matching,
    Needs as Needs,
    PrivacyModel as PrivacyModel,
    Rule as Rule,
    RuledModel as RuledModel,
    describe as describe,
    model_to_dict as model_to_dict,
)
from .histories import HistoryModel as HistoryModel, KMAnonymity as KMAnonymity, LinkedKAnonymity as LinkedKAnonymity
from .identity import (
    AlphaKAnonymity as AlphaKAnonymity,
    DeltaPresence as DeltaPresence,
    KAnonymity as KAnonymity,
    KMap as KMap,
)
from .items import ItemQuestion as ItemQuestion, question_of_items as question_of_items
from .matching import (
    Global1K as Global1K,
    GlobalK1 as GlobalK1,
    Match1K as Match1K,
    MatchingNotion as MatchingNotion,
    MatchK1 as MatchK1,
    MatchKK as MatchKK,
)
from .registry import (
    MODELS as MODELS,
    from_dict as from_dict,
    models_from_claim as models_from_claim,
    models_in as models_in,
    register as register,
)
