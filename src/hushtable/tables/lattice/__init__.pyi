from .column_sets import (
    DRAWS_AT_ONCE as DRAWS_AT_ONCE,
    ColumnSets as ColumnSets,
    Coverage as Coverage,
    WalkProgress as WalkProgress,
    first_smallest as first_smallest,
    grid as grid,
    hits_by_draw as hits_by_draw,
    minimal_sets as minimal_sets,
    pack_draws as pack_draws,
)
from .keys import KeyRule as KeyRule, KeySets as KeySets, all_keys as all_keys, sampled_key as sampled_key
