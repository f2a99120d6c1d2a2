from . import layout as layout, recoding as recoding
from .layout import (
    Axis as Axis,
    Lists as Lists,
    check_grid as check_grid,
    count_frequencies as count_frequencies,
    lay_out as lay_out,
    pack_axes as pack_axes,
    pack_rows as pack_rows,
    places_for_kernels as places_for_kernels,
    places_of_rows as places_of_rows,
    room_for_rows as room_for_rows,
    scale_weights as scale_weights,
    sort_by_content as sort_by_content,
)
from .readable import (
    CodeRanges as CodeRanges,
    Listed as Listed,
    Rounded as Rounded,
    Spans as Spans,
    number_keys as number_keys,
)
from .recoding import (
    SUPPRESSION_STYLE as SUPPRESSION_STYLE,
    Cells as Cells,
    Centres as Centres,
    GridCells as GridCells,
    Nodes as Nodes,
    NodeSets as NodeSets,
    PublishedIntervals as PublishedIntervals,
    Recoding as Recoding,
    SetNames as SetNames,
    Sets as Sets,
    Written as Written,
    cut_point as cut_point,
    grid_point as grid_point,
)
