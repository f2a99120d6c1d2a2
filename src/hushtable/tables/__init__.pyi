from . import lattice as lattice
from .joint import Joint as Joint, JointRows as JointRows, encode_jointly as encode_jointly, to_decimals as to_decimals
from .lattice import (
    Coverage as Coverage,
    WalkProgress as WalkProgress,
    find_unique_rows as find_unique_rows,
    iterate_partitions as iterate_partitions,
    renyi_entropy as renyi_entropy,
)
from .meeting import (
    Mismatch as Mismatch,
    MismatchWarning as MismatchWarning,
    as_gate as as_gate,
    describe_values as describe_values,
    find_mismatches as find_mismatches,
    has_too_few as has_too_few,
    meet_tables as meet_tables,
    refuse_mismatches as refuse_mismatches,
    warn_of_mismatches as warn_of_mismatches,
)
from .missing_codes import (
    count_open_ends as count_open_ends,
    find_missing_codes as find_missing_codes,
    nameable_codes as nameable_codes,
    warn_of_missing_codes as warn_of_missing_codes,
)
from .partition import (
    NO_HIERARCHIES as NO_HIERARCHIES,
    Partition as Partition,
    build_ground_distances as build_ground_distances,
    count_by_value as count_by_value,
)
from .splitting import (
    number_units as number_units,
    persons_of as persons_of,
    split as split,
    split_rows as split_rows,
)
from .table import (
    Table as Table,
    encode_table as encode_table,
    label_rows as label_rows,
    merge_spellings_in as merge_spellings_in,
    open_table as open_table,
)
