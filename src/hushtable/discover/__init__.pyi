from . import scores as scores
from .compare import DEFAULT_SCORES as DEFAULT_SCORES, SetComparison as SetComparison, compare_sets as compare_sets
from .determined import (
    MAX_ROWS as MAX_ROWS,
    Determined as Determined,
    enough_rows as enough_rows,
    find_determined as find_determined,
)
from .explain import Explanation as Explanation
from .objective import Objective as Objective, Term as Term
from .optimizers import choose_optimizer as choose_optimizer
from .prose import (
    Named as Named,
    has_room_for_names as has_room_for_names,
    is_prose as is_prose,
    look_for_names as look_for_names,
    sum_name_counts as sum_name_counts,
)
from .recognise import (
    find_identifiers as find_identifiers,
    find_quasi_identifiers as find_quasi_identifiers,
    find_repeating_person as find_repeating_person,
)
from .redundancy import find_redundancy as find_redundancy
from .roles.decision import ProposedRole as ProposedRole, Roles as Roles
from .roles.evidence import PROSE as PROSE, find_topic as find_topic
from .roles.names import (
    build_lexicon as build_lexicon,
    is_of_known_words as is_of_known_words,
    names_birth as names_birth,
    topic_of_name as topic_of_name,
)
from .roles.patterns import ColumnCells as ColumnCells, cells_of as cells_of, look_of as look_of
from .select import Selection as Selection, select_columns as select_columns
