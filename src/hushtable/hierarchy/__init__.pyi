from .codes import CodeGrid as CodeGrid, are_codes as are_codes
from .grid import (
    UNITS as UNITS,
    Dates as Dates,
    Intervals as Intervals,
    Times as Times,
    format_exact as format_exact,
    to_exact as to_exact,
)
from .hierarchy import (
    PROPOSED as PROPOSED,
    Hierarchy as Hierarchy,
    check_lines as check_lines,
    groups_of as groups_of,
    name_of as name_of,
)
from .ladder import Ladder as Ladder, NamedSets as NamedSets, Rule as Rule, level_of_labels as level_of_labels
from .proposal import (
    Rounding as Rounding,
    code_lengths as code_lengths,
    length_of_codes as length_of_codes,
    prefix_lengths as prefix_lengths,
    prefix_lengths_of as prefix_lengths_of,
    propose_tails as propose_tails,
    propose_units as propose_units,
)
from .rules import (
    MIN_TAIL_RECORDS as MIN_TAIL_RECORDS,
    Codes as Codes,
    Dictionary as Dictionary,
    Frequency as Frequency,
    Prefix as Prefix,
    Runs as Runs,
    Suppression as Suppression,
    Tails as Tails,
    is_allowed_rule as is_allowed_rule,
    register as register,
    share_in_dictionary as share_in_dictionary,
    to_dict as to_dict,
)
