from .bounds import (
    check_any_bounds as check_any_bounds,
    check_bound_names as check_bound_names,
    columns_with_bounds as columns_with_bounds,
)
from .bundles import LinkedTables as LinkedTables, measure_joint_linkage as measure_joint_linkage
from .certificates import Certificate as Certificate, check_certificate as check_certificate
from .certificates.prices import build_certificate as build_certificate
from .certificates.triples import build_triple_certificate as build_triple_certificate
from .classes import (
    ClaimOnColumns as ClaimOnColumns,
    Classes as Classes,
)
from .column_entries import (
    describe_missing_hierarchies as describe_missing_hierarchies,
    read_roundings as read_roundings,
    rules_of as rules_of,
)
from .combinations import Combinations as Combinations
from .coverage import (
    count_coverage as count_coverage,
    count_fewest_persons as count_fewest_persons,
    count_values_below as count_values_below,
    coverage_matrix as coverage_matrix,
    covers_row_value as covers_row_value,
    pair_rows as pair_rows,
)
from .grouping import (
    Grouped as Grouped,
    count_values as count_values,
    find_coverage as find_coverage,
    group_rows as group_rows,
    label_rows as label_rows,
    list_cells_with_missing as list_cells_with_missing,
    list_cells_with_points as list_cells_with_points,
    match_classes as match_classes,
    match_sizes as match_sizes,
    read_sensitive_columns as read_sensitive_columns,
)
from .hidden_cells import HiddenCells as HiddenCells, are_decomposable as are_decomposable
from .histories import (
    HistoryClaim as HistoryClaim,
    Known as Known,
    Linkage as Linkage,
    RareSets as RareSets,
    count_equal_histories as count_equal_histories,
    count_sets as count_sets,
    find_rare_sets as find_rare_sets,
    measure_claim_linkage as measure_claim_linkage,
    measure_linkage as measure_linkage,
    number_histories as number_histories,
)
from .independence import Independence as Independence
from .limits import Limits as Limits
from .matchings import Matchings as Matchings
from .rounded_cells import RoundedCells as RoundedCells, show_limits as show_limits
from .unread import find_unread_entries as find_unread_entries
from .verdict import (
    Claim as Claim,
    Failure as Failure,
    Stated as Stated,
    Verdict as Verdict,
    with_reading_of as with_reading_of,
)
from .verifying import (
    KINDS as KINDS,
    claim_from_dict as claim_from_dict,
    claim_from_models as claim_from_models,
    holds_cells as holds_cells,
    open_release as open_release,
    original_columns as original_columns,
    select_for_claim as select_for_claim,
    verify as verify,
    with_commas as with_commas,
)
