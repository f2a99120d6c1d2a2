"""How many rows satisfy each of many queries: conjunctions of ranges of codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray, CountArray
from hushtable.kernels._jit import bare

__all__ = ["count_matches"]


@bare
def count_matches(
    codes: CodeArray,
    columns: CodeArray,
    lows: CodeArray,
    highs: CodeArray,
    negated: NDArray[np.bool_],
    limit: int,
    counts: CountArray,
    last: CountArray,
) -> None:
    """Count the rows that each query selects, up to one more than a limit.

    codes : int32 (n_columns, n_rows), -1 is missing
    columns, lows, highs : int32 (n_queries, n_conditions), a column, and the first and last code that it may have
    negated : bool (n_queries, n_conditions), the column must have another code
    counts : int64 (n_queries,), out
    last : int64 (n_queries,), out, the last row that was counted; -1 where there is none
    """
    n_queries, n_conditions = columns.shape
    for query in range(n_queries):
        n_found = 0
        place = -1
        for row in range(codes.shape[1]):
            holds = True
            for c in range(n_conditions):
                code = codes[columns[query, c], row]
                inside = lows[query, c] <= code <= highs[query, c]
                if inside == negated[query, c]:
                    holds = False
                    break
            if holds:
                n_found += 1
                place = row
                if n_found > limit:
                    break
        counts[query] = n_found
        last[query] = place
