from .certificates import Certificate as Certificate, check_certificate as check_certificate
from .certificates.prices import certify as certify
from .classes import Classes as Classes, Limits as Limits, rules_of as rules_of, untold as untold
from .coverage import (
    count_covered as count_covered,
    covered_by as covered_by,
    covers_beside as covers_beside,
    fewest_persons as fewest_persons,
    n_below as n_below,
    pair_rows as pair_rows,
)
from .grouping import (
    Grouped as Grouped,
    count_values as count_values,
    cover as cover,
    group as group,
    listed_cells as listed_cells,
    match_classes as match_classes,
    match_sizes as match_sizes,
    published_cells as published_cells,
)
from .histories import (
    HistoryClaim as HistoryClaim,
    Known as Known,
    Linkage as Linkage,
    RareSets as RareSets,
    count_linked as count_linked,
    count_sets as count_sets,
    each_rare as each_rare,
    linked_in as linked_in,
    number_histories as number_histories,
)
from .independence import Independence as Independence
from .matchings import Matchings as Matchings
from .verdict import Claim as Claim, Failure as Failure, Stated as Stated, Verdict as Verdict, told as told
from .verifying import (
    KINDS as KINDS,
    claim_from_dict as claim_from_dict,
    of_models as of_models,
    opened as opened,
    seen as seen,
    verify as verify,
    with_commas as with_commas,
)
