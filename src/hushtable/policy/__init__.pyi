from . import plain_yaml as plain_yaml
from .advising import Advice as Advice, AdvisedChange as AdvisedChange, check_advisable as check_advisable
from .agreeing import describe_exposure_limit as describe_exposure_limit
from .attacking import attack_file as attack_file, describe_other_making as describe_other_making
from .comparing import (
    ComparedRun as ComparedRun,
    Comparison as Comparison,
    compare as compare,
    policy_of_run as policy_of_run,
)
from .converting import Converted as Converted, convert as convert
from .limits import (
    LimitedFigure as LimitedFigure,
    find_failures as find_failures,
    keys_figures as keys_figures,
    mpuccs_figures as mpuccs_figures,
)
from .policy import Policy as Policy
from .proposal import find_likely_missing_codes as find_likely_missing_codes, propose_policy as propose_policy
from .protecting import anonymize as anonymize
from .schema import (
    DIALECT as DIALECT,
    SCHEMA_FILE as SCHEMA_FILE,
    policy_schema as policy_schema,
    shorten_descriptions as shorten_descriptions,
)
from .sections import (
    DATE_ACTIONS as DATE_ACTIONS,
    MEANINGS as MEANINGS,
    ColumnPolicy as ColumnPolicy,
    Importance as Importance,
    MisplacedError as MisplacedError,
    Place as Place,
    PolicyBudget as PolicyBudget,
    PolicyLimits as PolicyLimits,
    PolicyMethod as PolicyMethod,
    PolicyModels as PolicyModels,
    PolicyReading as PolicyReading,
    PolicyWriting as PolicyWriting,
    Record as Record,
    check_reasons as check_reasons,
    fault_line as fault_line,
    faults_of as faults_of,
    no_such as no_such,
)
