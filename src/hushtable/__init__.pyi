__version__: str
from . import datasets as datasets, discover as discover, models as models, quality as quality, risk as risk
from .anonymizers import (
    FullDomain as FullDomain,
    Genetic as Genetic,
    Histories as Histories,
    LocalRecoding as LocalRecoding,
    LocalSuppression as LocalSuppression,
    MinGen as MinGen,
    Mondrian as Mondrian,
    Recoding as Recoding,
)
from .claims import (
    Certificate as Certificate,
    Verdict as Verdict,
    check_certificate as check_certificate,
    verify as verify,
)
from .columns import Column as Column, ColumnSpec as ColumnSpec
from .discover import (
    Objective as Objective,
    Roles as Roles,
    Selection as Selection,
    Term as Term,
    find_quasi_identifiers as find_quasi_identifiers,
    select_columns as select_columns,
)
from .engines import collapse as collapse
from .errors import (
    BudgetExceeded as BudgetExceeded,
    ColumnError as ColumnError,
    ExposureError as ExposureError,
    ExposureWarning as ExposureWarning,
    HierarchyError as HierarchyError,
    HushError as HushError,
    InfeasibleError as InfeasibleError,
    InputError as InputError,
    LimitError as LimitError,
    ModelError as ModelError,
    PipelineError as PipelineError,
    PolicyError as PolicyError,
    ResourceError as ResourceError,
    VerificationError as VerificationError,
)
from .hierarchy import Hierarchy as Hierarchy
from .linked import (
    LinkedPolicy as LinkedPolicy,
    LinkedRelease as LinkedRelease,
    anonymize_tables as anonymize_tables,
    verify_tables as verify_tables,
)
from .masking import (
    MaskedRelease as MaskedRelease,
    MaskingTradeoff as MaskingTradeoff,
    mask_dependence as mask_dependence,
    masking_tradeoff as masking_tradeoff,
)
from .models import (
    AlphaKAnonymity as AlphaKAnonymity,
    BetaLikeness as BetaLikeness,
    DeltaDisclosure as DeltaDisclosure,
    DeltaPresence as DeltaPresence,
    DistinctLDiversity as DistinctLDiversity,
    EntropyLDiversity as EntropyLDiversity,
    Global1K as Global1K,
    GlobalK1 as GlobalK1,
    KAnonymity as KAnonymity,
    KMAnonymity as KMAnonymity,
    KMap as KMap,
    LinkedKAnonymity as LinkedKAnonymity,
    Match1K as Match1K,
    MatchK1 as MatchK1,
    MatchKK as MatchKK,
    PrivacyModel as PrivacyModel,
    RecursiveCLDiversity as RecursiveCLDiversity,
    TCloseness as TCloseness,
)
from .perturbation import (
    Microaggregation as Microaggregation,
    Noise as Noise,
    PerturbationTradeoff as PerturbationTradeoff,
    PerturbedRelease as PerturbedRelease,
    Pram as Pram,
    RankSwap as RankSwap,
    RecordSwap as RecordSwap,
    Shuffle as Shuffle,
    perturb as perturb,
    perturbation_tradeoff as perturbation_tradeoff,
)
from .pipeline import Pipeline as Pipeline, PipelineRun as PipelineRun
from .policy import (
    Advice as Advice,
    Comparison as Comparison,
    Policy as Policy,
    anonymize as anonymize,
    compare as compare,
)
from .quality import (
    ArxLoss as ArxLoss,
    Certainty as Certainty,
    Distances as Distances,
    MinimalDistortion as MinimalDistortion,
    NonUniformEntropy as NonUniformEntropy,
    Precision as Precision,
    SetNCP as SetNCP,
    Utility as Utility,
)
from .release import (
    DateShift as DateShift,
    Pseudonyms as Pseudonyms,
    Release as Release,
    RemoteRelease as RemoteRelease,
    SinceFirst as SinceFirst,
)
from .reporting import Report as Report, references as references, report as report
from .risk import (
    Attack as Attack,
    Copies as Copies,
    JoinRisk as JoinRisk,
    Keys as Keys,
    Linking as Linking,
    Membership as Membership,
    MinimalUniques as MinimalUniques,
    Mpuccs as Mpuccs,
    PetsardMpuccs as PetsardMpuccs,
    PrivacyFigure as PrivacyFigure,
    RiskAssessment as RiskAssessment,
    Unicity as Unicity,
    count_copies as count_copies,
    dcr as dcr,
    inference as inference,
    join_risk as join_risk,
    link as link,
    linkability as linkability,
    membership as membership,
    minimal_keys as minimal_keys,
    minimal_uniques as minimal_uniques,
    nndr as nndr,
    petsard_mpuccs as petsard_mpuccs,
    rapid as rapid,
    singling_out as singling_out,
    tcap as tcap,
    unicity as unicity,
)
from .risk.assess import assess as assess
from .risk.mpuccs import mpuccs as mpuccs
from .search import Budget as Budget, Effort as Effort, Trace as Trace
from .synthesizers import (
    Bootstrap as Bootstrap,
    Copula as Copula,
    Independent as Independent,
    Trees as Trees,
    synthesize as synthesize,
)
from .tables import Partition as Partition, Table as Table, split as split
from .tabulation import (
    CellRules as CellRules,
    ReaderKnowledge as ReaderKnowledge,
    RoundedTables as RoundedTables,
    TableAudit as TableAudit,
    Tabulation as Tabulation,
    check_tables as check_tables,
    round_tables as round_tables,
    tabulate as tabulate,
)

_LOADED_AT: float
