from .dates import UNITS as UNITS, Dates as Dates
from .dictionaries import OTHER as OTHER, Dictionary as Dictionary, known_rate as known_rate, listed as listed
from .grid import Intervals as Intervals, plain as plain, to_exact as to_exact
from .groups import groups_of as groups_of
from .hierarchy import Hierarchy as Hierarchy
from .ladder import Rule as Rule
from .propose import (
    code_lengths as code_lengths,
    prefix_lengths as prefix_lengths,
    prefix_lengths_of as prefix_lengths_of,
    propose_tails as propose_tails,
)
from .rounding import Rounding as Rounding
from .rules import (
    Frequency as Frequency,
    Prefix as Prefix,
    Runs as Runs,
    Suppression as Suppression,
    to_dict as to_dict,
)
from .tails import LEAST as LEAST, Tails as Tails
