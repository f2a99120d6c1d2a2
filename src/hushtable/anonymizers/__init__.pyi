from .checks import check_roles as check_roles, doubt_of_persons as doubt_of_persons, warn_of_doubts as warn_of_doubts
from .fitted import LearnedRecoding as LearnedRecoding, Recoding as Recoding
from .fitting import check_learnable as check_learnable, doubts_of_saving as doubts_of_saving
from .method import Found as Found, Method as Method, Offers as Offers, Problem as Problem
from .preparation import Prepared as Prepared, prepare as prepare
from .protecting import carry_out as carry_out, protect as protect
from .publish import STYLES as STYLES
from .registry import (
    METHODS as METHODS,
    FullDomain as FullDomain,
    Genetic as Genetic,
    LocalRecoding as LocalRecoding,
    MinGen as MinGen,
    Mondrian as Mondrian,
    register as register,
)
from .request import Request as Request
