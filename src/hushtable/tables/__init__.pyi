from . import lattice as lattice
from .joint import Joint as Joint, JointRows as JointRows, code_together as code_together, to_decimals as to_decimals
from .lattice import (
    Coverage as Coverage,
    WalkProgress as WalkProgress,
    lone_rows as lone_rows,
    partitions as partitions,
    renyi_entropy as renyi_entropy,
)
from .meeting import (
    Mismatch as Mismatch,
    MismatchWarning as MismatchWarning,
    as_gate as as_gate,
    describe_values as describe_values,
    find_mismatches as find_mismatches,
    has_too_few as has_too_few,
    meet as meet,
    refuse_mismatches as refuse_mismatches,
    warn_of_mismatches as warn_of_mismatches,
)
from .missing_codes import (
    FEWEST_RECORDS as FEWEST_RECORDS,
    count_open_ends as count_open_ends,
    find_missing_codes as find_missing_codes,
    nameable_codes as nameable_codes,
    warn_of_missing_codes as warn_of_missing_codes,
)
from .partition import NO_HIERARCHIES as NO_HIERARCHIES, Partition as Partition, grounds as grounds, totals as totals
from .splitting import persons_of as persons_of, split as split, split_rows as split_rows
from .table import (
    Table as Table,
    encoded as encoded,
    merge_spellings_in as merge_spellings_in,
    opened as opened,
)
