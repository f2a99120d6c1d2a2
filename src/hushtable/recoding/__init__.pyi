from . import layout as layout, recoding as recoding
from .layout import (
    Axis as Axis,
    Lists as Lists,
    by_content as by_content,
    check_grid as check_grid,
    frequencies as frequencies,
    lay_out as lay_out,
    pack as pack,
    packed_rows as packed_rows,
    places as places,
    placing as placing,
    relative as relative,
    room_for_rows as room_for_rows,
)
from .readable import CodeRanges as CodeRanges, Listed as Listed, Rounded as Rounded
from .recoding import (
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
