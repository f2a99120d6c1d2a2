from .centuries import describe_impossible_dates as describe_impossible_dates
from .fitted import LearnedRecoding as LearnedRecoding, Recoding as Recoding
from .fitting import check_saveable as check_saveable, doubts_of_saving as doubts_of_saving
from .full_domain import FullDomain as FullDomain
from .genetic import Genetic as Genetic
from .histories import Histories as Histories
from .judging import Judge as Judge
from .linked_tables import LinkedRequest as LinkedRequest, protect_linked_tables as protect_linked_tables
from .local_recoding import LocalRecoding as LocalRecoding
from .local_suppression import LocalSuppression as LocalSuppression
from .method import (
    METHODS as METHODS,
    Found as Found,
    Method as Method,
    Offers as Offers,
    Problem as Problem,
    list_judged_combinations as list_judged_combinations,
    register as register,
)
from .mingen import MinGen as MinGen
from .mondrian import Mondrian as Mondrian
from .preparation import (
    Prepared as Prepared,
    Request as Request,
    check_roles as check_roles,
    doubt_of_persons as doubt_of_persons,
    prepare as prepare,
    warn_of_doubts as warn_of_doubts,
)
from .protecting import carry_out as carry_out, protect as protect
from .publish import STYLES as STYLES, publish_classes as publish_classes
from .untaken_cuts import CutsOrigin as CutsOrigin, attack_cuts as attack_cuts
