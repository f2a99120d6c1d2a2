"""Search the class whose cost its members' prices exceed most, by branch and bound; find prices that exceed none's.

A class is bounded by its box: the lowest and highest code of every ordered column (0, the missing value, takes the
whole column with it), the set of codes of every other one. A node says what the box holds at least and at most. Prices
exceed the cost of a class of share s by the sum of price - s. A member outside the least box makes the share grow, so
for every threshold the best members below it, each paying the threshold, bound the excess of a class.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.kernels._jit import jit_bare, jit_inner, record_dtype
from hushtable.kernels.spacing import SpacedRows, column_share, pair_share

NODE: Final = record_dtype(
    ("parent", np.int32),
    ("column", np.int32),  # what it decides after its parent
    ("code", np.int32),
    ("side", np.int32),  # the box holds the code, ends below it, begins above it, lacks it (of an unordered column)
    ("bound", np.float64),  # what no class of it exceeds
    ("end", np.float64),  # the share from which on no class of it exceeds the goal
    ("next_column", np.int32),  # what its children decide
    ("next_code", np.int32),
    ("next_side", np.int32),
    ("is_open", np.bool_),
)
MIN_EXCESS = 1e-10  # a lower excess may be rounding
N_BUCKETS = 128  # of candidates by share, before they are sorted


class SearchLimits(NamedTuple):
    """How large classes are, and how far a search goes."""

    k: int  # records of a class, at least
    n_nodes: int  # nodes of the search for one row, at most


class SeparationScratch(NamedTuple):
    """Scratch of a search."""

    rows: CodeArray  # (n_rows,) the candidates
    copies: CountArray  # (n_rows,) of each, the records that may join
    shares: FloatArray  # (n_rows,) the least share with each; inf: left out
    order: CodeArray  # (n_rows,) candidates by rising share
    bucket_of: CodeArray  # (n_rows,)
    buckets: CodeArray  # (N_BUCKETS + 2,)
    heap_prices: FloatArray  # (n_rows,) lowest price first
    heap: CodeArray  # (n_rows,)
    heap_copies: CountArray  # (n_rows,)
    low: CodeArray  # (n_columns,) the least box
    high: CodeArray
    first: CodeArray  # (n_columns,) the largest one
    last: CodeArray
    n_in_box: CodeArray  # (n_columns,) values of an unordered column in the least box
    in_box: BoolArray  # (n_places,)
    barred: BoolArray  # (n_places,)
    n_seen: CodeArray  # (n_places,) chosen records with a code
    chosen: CodeArray  # (n_rows,)
    n_taken: CountArray  # (n_rows,)
    best: CodeArray  # (n_rows,) members of the class found
    n_best_taken: CountArray
    nodes: NDArray[Any]  # NODE (most nodes,)
    sizes: CountArray  # (3,) candidates, members of the best class, nodes of all searches


@jit_inner
def gather_candidates(
    rows: SpacedRows, scratch: SeparationScratch, prices: FloatArray, rank: CountArray, a: int, limit: float
) -> None:
    """List the candidates of a row: its other copies, and the rows nearer than a limit that come before it."""
    n = 0
    if rows.counts[a] > 1:
        scratch.rows[0], scratch.copies[0] = a, rows.counts[a] - 1
        n = 1
    lead, n_columns = rows.n_leading, rows.unit.size
    for group in range(rows.starts.size - 1):
        start = pair_share(rows, a, rows.starts[group], (0, lead), 0.0, limit)
        if start >= limit:
            continue
        for q in range(rows.starts[group], rows.starts[group + 1]):
            if rank.size > 0:
                if rank[q] >= rank[a]:
                    continue
            elif prices[q] > prices[a] or (prices[q] == prices[a] and q >= a):
                continue
            if q != a and pair_share(rows, a, q, (lead, n_columns), start, limit) < limit:
                scratch.rows[n], scratch.copies[n] = q, rows.counts[q]
                n += 1
    scratch.sizes[0] = n


@jit_inner
def _start_box(rows: SpacedRows, scratch: SeparationScratch, a: int) -> None:
    """Make the least box that of one row, and the largest one everything."""
    for j in range(rows.unit.size):
        code = rows.codes[a, j]
        scratch.low[j] = scratch.high[j] = code
        scratch.first[j], scratch.last[j] = 0, 2**31 - 1
        scratch.n_in_box[j] = 1
        if not rows.is_ordered[j]:
            scratch.in_box[rows.begins[j] + code] = True


@jit_inner
def _apply_decisions(rows: SpacedRows, scratch: SeparationScratch, node: int, undo: bool) -> None:
    """Apply the decisions on the way to a node, or undo those of unordered columns."""
    nodes = scratch.nodes
    while node > 0:
        j, code, side = nodes[node].column, nodes[node].code, nodes[node].side
        if not rows.is_ordered[j]:
            flag = rows.begins[j] + code
            if side == 0:
                if not undo and not scratch.in_box[flag]:
                    scratch.n_in_box[j] += 1
                scratch.in_box[flag] = not undo
            else:
                scratch.barred[flag] = not undo
        elif side == 0:
            scratch.low[j], scratch.high[j] = min(scratch.low[j], code), max(scratch.high[j], code)
        elif side == 1:
            scratch.last[j] = min(scratch.last[j], code - 1)
        else:
            scratch.first[j] = max(scratch.first[j], code + 1)
        node = nodes[node].parent


@jit_inner
def _clear_box(rows: SpacedRows, scratch: SeparationScratch, a: int) -> None:
    """Clear the box of one row."""
    for j in range(rows.unit.size):
        if not rows.is_ordered[j]:
            scratch.in_box[rows.begins[j] + rows.codes[a, j]] = False


@jit_inner
def _least_share(rows: SpacedRows, scratch: SeparationScratch) -> float:
    """Return the share of the least box."""
    total = 0.0
    for j in range(rows.unit.size):
        if rows.is_ordered[j]:
            total += column_share(rows, j, scratch.low[j], scratch.high[j])
        elif scratch.n_in_box[j] > 1:
            total += scratch.n_in_box[j] * rows.unit[j]
    return total


@jit_inner
def _share_with_row(rows: SpacedRows, scratch: SeparationScratch, q: int, limit: float) -> float:
    """Return the share of the least box with a row; inf where the largest box lacks it, or from a limit on."""
    total = 0.0
    for j in range(rows.unit.size):
        code = rows.codes[q, j]
        if rows.is_ordered[j]:
            if code < scratch.first[j] or code > scratch.last[j]:
                return np.inf
            total += column_share(rows, j, min(scratch.low[j], code), max(scratch.high[j], code))
        else:
            flag = rows.begins[j] + code
            if scratch.barred[flag]:
                return np.inf
            n_held = scratch.n_in_box[j] + int(not scratch.in_box[flag])
            if n_held > 1:
                total += n_held * rows.unit[j]
        if total >= limit:
            return np.inf
    return total


@jit_inner
def _sort_candidates(scratch: SeparationScratch, min_share: float, limit: float) -> int:
    """Sort the candidates that are left by share, first into buckets; return how many there are."""
    buckets, shares = scratch.buckets, scratch.shares
    scale = N_BUCKETS / max(1e-300, limit - min_share)
    for i in range(N_BUCKETS + 2):
        buckets[i] = 0
    n = 0
    for i in range(scratch.sizes[0]):
        if shares[i] < np.inf:
            bucket = min(N_BUCKETS - 1, int(max(0.0, shares[i] - min_share) * scale))
            scratch.bucket_of[i] = bucket
            buckets[bucket + 1] += 1
            n += 1
    for i in range(N_BUCKETS):
        buckets[i + 1] += buckets[i]
    for i in range(scratch.sizes[0]):
        if shares[i] < np.inf:
            bucket = scratch.bucket_of[i]
            scratch.order[buckets[bucket]] = i
            buckets[bucket] += 1
    order = scratch.order
    for i in range(1, n):
        candidate = order[i]
        at = i
        while at > 0 and shares[order[at - 1]] > shares[candidate]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = candidate
    return n


@jit_inner
def _push_to_heap(scratch: SeparationScratch, size: int, price: float, candidate: int, copies: int) -> None:
    prices, heap, n_copies = scratch.heap_prices, scratch.heap, scratch.heap_copies
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if prices[up] <= price:
            break
        prices[at], heap[at], n_copies[at] = prices[up], heap[up], n_copies[up]
        at = up
    prices[at], heap[at], n_copies[at] = price, candidate, copies


@jit_inner
def _pop_from_heap(scratch: SeparationScratch, size: int) -> None:
    """Remove the lowest price of a heap of ``size`` entries."""
    prices, heap, n_copies = scratch.heap_prices, scratch.heap, scratch.heap_copies
    size -= 1
    price, candidate, copies = prices[size], heap[size], n_copies[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and prices[down + 1] < prices[down]:
            down += 1
        if prices[down] >= price:
            break
        prices[at], heap[at], n_copies[at] = prices[down], heap[down], n_copies[down]
        at = down
    prices[at], heap[at], n_copies[at] = price, candidate, copies


@jit_inner
def _bound_by_thresholds(
    scratch: SeparationScratch,
    prices: FloatArray,
    own: float,
    limits: SearchLimits,
    start: tuple[float, int],
    until: float,
    goal: float,
) -> tuple[float, float, float, int]:
    """Return the best bound, its threshold, the threshold from which on none is above a goal, and the heap's size."""
    min_share, n = start
    k, size, records, total = limits.k, 0, 1, own
    best, best_at, end = -np.inf, -1.0, -1.0
    i = 0
    while i < n:
        tau = max(min_share, scratch.shares[scratch.order[i]])
        if tau > until:
            break
        while i < n and scratch.shares[scratch.order[i]] <= tau:
            candidate = scratch.order[i]
            i += 1
            copies, price = scratch.copies[candidate], prices[scratch.rows[candidate]]
            _push_to_heap(scratch, size, price, candidate, copies)
            size += 1
            records += copies
            total += copies * price
        while records > k and size > 0 and scratch.heap_prices[0] <= tau:
            n_removed = min(scratch.heap_copies[0], records - k)
            records -= n_removed
            total -= n_removed * scratch.heap_prices[0]
            scratch.heap_copies[0] -= n_removed
            if scratch.heap_copies[0] == 0:
                _pop_from_heap(scratch, size)
                size -= 1
        value = total - records * tau if records >= k else -np.inf
        if value > best:
            best, best_at = value, tau
        if value > goal:
            end = np.inf
        elif end == np.inf:
            end = tau
    return best, best_at, end, size


@jit_inner
def _choose_branch(rows: SpacedRows, scratch: SeparationScratch, a: int, n: int) -> tuple[float, int, int, int]:
    """Return the share of the chosen class, and the code outside the least box that makes it grow most."""
    share, widest = 0.0, 0.0
    column, branch_code, side = -1, 0, 0
    for j in range(rows.unit.size):
        own_code = rows.codes[a, j]
        if rows.is_ordered[j]:
            low = high = own_code
            for i in range(n):
                code = rows.codes[scratch.chosen[i], j]
                low, high = min(low, code), max(high, code)
            share += column_share(rows, j, low, high)
            width = column_share(rows, j, scratch.low[j], scratch.high[j])
            if high > scratch.high[j]:
                grown = column_share(rows, j, scratch.low[j], high) - width
                if grown > widest:
                    widest, column, branch_code, side = grown, j, high, 1
            if low < scratch.low[j]:
                grown = column_share(rows, j, low, scratch.high[j]) - width
                if grown > widest:
                    widest, column, branch_code, side = grown, j, low, 2
        else:
            n_values = 1
            begin = rows.begins[j]
            scratch.n_seen[begin + own_code] = 1
            for i in range(n):
                flag = begin + rows.codes[scratch.chosen[i], j]
                n_values += int(scratch.n_seen[flag] == 0)
                scratch.n_seen[flag] += scratch.n_taken[i]
            if n_values > 1:
                share += n_values * rows.unit[j]
            grown = rows.unit[j] * (2.0 if scratch.n_in_box[j] == 1 else 1.0)
            max_seen = 0
            for i in range(n):
                code = rows.codes[scratch.chosen[i], j]
                if not scratch.in_box[begin + code] and scratch.n_seen[begin + code] > max_seen and grown >= widest:
                    widest, column, branch_code, side = grown, j, code, 3
                    max_seen = scratch.n_seen[begin + code]
            for i in range(n):
                scratch.n_seen[begin + rows.codes[scratch.chosen[i], j]] = 0
            scratch.n_seen[begin + own_code] = 0
    return share, column, branch_code, side


@jit_inner
def _drop_candidates_from(scratch: SeparationScratch, end: float) -> None:
    """Drop candidates with a share from which on no class is better than the goal."""
    n = 0
    for i in range(scratch.sizes[0]):
        if scratch.shares[i] < end:
            scratch.rows[n], scratch.copies[n] = scratch.rows[i], scratch.copies[i]
            scratch.shares[n] = scratch.shares[i]
            n += 1
    scratch.sizes[0] = n


@jit_inner
def _bound_node(
    rows: SpacedRows,
    scratch: SeparationScratch,
    prices: FloatArray,
    a: int,
    limits: SearchLimits,
    node: int,
    goal_and_limit: tuple[float, float],
) -> float:
    """Bound a node, and choose what its children decide; return the best value known."""
    goal, limit = goal_and_limit
    own = prices[a]
    _start_box(rows, scratch, a)
    _apply_decisions(rows, scratch, node, False)
    min_share = _least_share(rows, scratch)
    current = scratch.nodes[node]
    current.bound, current.is_open = -np.inf, False
    # A child's class is one of its parent's.
    limit = min(limit, scratch.nodes[current.parent].end) if node > 0 else limit
    for i in range(scratch.sizes[0]):
        scratch.shares[i] = _share_with_row(rows, scratch, scratch.rows[i], limit)
    n = _sort_candidates(scratch, min_share, limit)
    bound, best_at, end, _ = _bound_by_thresholds(scratch, prices, own, limits, (min_share, n), np.inf, goal)
    current.bound, current.end = bound, min(end, limit)
    if node == 0:
        _drop_candidates_from(scratch, current.end)
        n = _sort_candidates(scratch, min_share, limit)
    if bound > goal:
        _, _, _, size = _bound_by_thresholds(scratch, prices, own, limits, (min_share, n), best_at, goal)
        records, total = 1, own
        for i in range(size):
            scratch.chosen[i] = scratch.rows[scratch.heap[i]]
            scratch.n_taken[i] = scratch.heap_copies[i]
            records += scratch.n_taken[i]
            total += scratch.n_taken[i] * scratch.heap_prices[i]
        share, current.next_column, current.next_code, current.next_side = _choose_branch(rows, scratch, a, size)
        value = total - records * share
        if value > goal:
            goal = value
            scratch.sizes[1] = size
            for i in range(size):
                scratch.best[i], scratch.n_best_taken[i] = scratch.chosen[i], scratch.n_taken[i]
        current.is_open = current.next_column >= 0 and share > best_at and bound > goal
    _apply_decisions(rows, scratch, node, True)
    _clear_box(rows, scratch, a)
    return goal


@jit_inner
def search_class(
    rows: SpacedRows,
    scratch: SeparationScratch,
    prices: FloatArray,
    a: int,
    limits: SearchLimits,
    goal_and_limit: tuple[float, float],
) -> tuple[float, float]:
    """Return a bound that no class of a row and candidates exceeds, and the best value; its members are in ``best``.

    Nothing below the goal is looked for, and no share from the limit on. ``best`` lacks one copy of the row.
    """
    nodes = scratch.nodes
    goal, limit = goal_and_limit
    scratch.sizes[1] = 0
    nodes[0].parent = -1
    goal = _bound_node(rows, scratch, prices, a, limits, 0, (goal, limit))
    n = 1
    while n + 1 < limits.n_nodes and n + 1 < nodes.size:
        top, at = goal, -1
        for i in range(n):
            if nodes[i].is_open and nodes[i].bound > top:
                top, at = nodes[i].bound, i
        if at < 0:
            break
        nodes[at].is_open = False
        for child in range(2):
            new = nodes[n]
            new.parent, new.column, new.code = at, nodes[at].next_column, nodes[at].next_code
            new.side = 0 if child == 0 else nodes[at].next_side
            goal = _bound_node(rows, scratch, prices, a, limits, n, (goal, limit))
            n += 1
    scratch.sizes[2] += n
    bound = goal
    for i in range(n):
        if nodes[i].is_open:
            bound = max(bound, nodes[i].bound)
    return bound, goal


_MAX_KNOWN_MEMBERS = 5_000_000


class KnownClasses(NamedTuple):
    """Classes that once cost less than their members' prices, without rows of k records or more, whose price is 0."""

    starts: CountArray  # (most classes + 1,), where the members of each begin
    rows: CodeArray  # (most members,)
    copies: CountArray  # (most members,), records of each row
    costs: FloatArray  # (most classes,), of all records
    n_classes: CountArray  # (1,)


def allocate_classes(n_rows: int) -> KnownClasses:
    """Return room for about twenty classes a row."""
    n_classes, n_members = 20 * n_rows + 1_000, min(_MAX_KNOWN_MEMBERS, 100 * n_rows + 10_000)
    starts, n_known = np.zeros(n_classes + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    rows, copies = np.zeros(n_members, dtype=np.int32), np.zeros(n_members, dtype=np.int64)
    return KnownClasses(starts, rows, copies, np.zeros(n_classes), n_known)


@jit_inner
def remember_class(known: KnownClasses, rows: CodeArray, copies: CountArray, n: int, cost: float) -> None:
    """Add a class of n rows, if there is room."""
    number = known.n_classes[0]
    begin = known.starts[number]
    if number == known.costs.size or begin + n > known.rows.size:
        return
    for i in range(n):
        known.rows[begin + i], known.copies[begin + i] = rows[i], copies[i]
    known.costs[number] = cost
    known.starts[number + 1] = begin + n
    known.n_classes[0] = number + 1


@jit_bare
def settle_prices(
    known: KnownClasses, counts: CountArray, k: int, steps: FloatArray, ceilings: FloatArray, prices: FloatArray
) -> None:
    """Raise prices by each step for each record, up to ceilings; lower those of known classes that then cost less."""
    for step in steps:
        for row in range(prices.size):
            if counts[row] < k and prices[row] < ceilings[row]:
                prices[row] = min(ceilings[row], prices[row] + step * counts[row])
        for number in range(known.n_classes[0]):
            excess, squares = -known.costs[number], 0
            for i in range(known.starts[number], known.starts[number + 1]):
                excess += known.copies[i] * prices[known.rows[i]]
                squares += known.copies[i] ** 2
            if excess > 0:
                for i in range(known.starts[number], known.starts[number + 1]):
                    prices[known.rows[i]] -= excess * known.copies[i] / squares


N_TRIALS = 4  # prices that are tried for a row
TRIAL_PRICE_FACTOR = 0.8  # the share of a price that is tried where it was not proven
N_CLASSES = 3  # classes of one row whose members' prices are lowered in a sweep


@jit_bare
def lower_prices(
    rows: SpacedRows,
    scratch: SeparationScratch,
    limits: SearchLimits,
    order: CountArray,
    rank: CountArray,
    run: tuple[int, int],
    prices: FloatArray,
) -> None:
    """Lower prices, in an order, until no class of the rows up to the end of a run exceeds its cost.

    A class belongs to its member that comes last, so that others have their final price: 0 or less for k records.
    """
    for i in range(run[0], run[1]):
        a = order[i]
        if prices[a] <= 0:
            continue
        highest, proven = prices[a], -np.inf
        gather_candidates(rows, scratch, prices, rank, a, highest)
        price = highest
        for _ in range(N_TRIALS):
            prices[a] = price
            bound, value = search_class(rows, scratch, prices, a, limits, (0.0, highest))
            proven = max(proven, price if bound <= MIN_EXCESS else price - bound)
            # Where the search did not come to an end, a lower price is easier to prove.
            if bound <= value + MIN_EXCESS or proven >= TRIAL_PRICE_FACTOR * price:
                break
            price *= TRIAL_PRICE_FACTOR
        prices[a] = proven


@jit_bare
def raise_prices(
    rows: SpacedRows,
    scratch: SeparationScratch,
    limits: SearchLimits,
    order: CountArray,
    run: tuple[int, int],
    step: float,
    prices: FloatArray,
    known: KnownClasses,
) -> None:
    """Raise prices by a step for each record; lower those of classes found to exceed their cost, and remember them."""
    for i in range(run[0], run[1]):
        a = order[i]
        if rows.counts[a] >= limits.k:
            continue
        prices[a] += step * rows.counts[a]
        for _ in range(N_CLASSES):
            if prices[a] <= 0:
                break
            gather_candidates(rows, scratch, prices, order[:0], a, prices[a])
            _, value = search_class(rows, scratch, prices, a, limits, (MIN_EXCESS, prices[a]))
            if scratch.sizes[1] == 0:
                break
            n = _list_members(rows, scratch, limits.k, a)
            squares, paid = 0, 0.0
            for j in range(n):
                squares += scratch.n_best_taken[j] ** 2
                paid += scratch.n_best_taken[j] * prices[scratch.best[j]]
            remember_class(known, scratch.best, scratch.n_best_taken, n, paid - value)
            for j in range(n):
                prices[scratch.best[j]] -= value * scratch.n_best_taken[j] / squares


@jit_inner
def _list_members(rows: SpacedRows, scratch: SeparationScratch, k: int, a: int) -> int:
    """List the rows of fewer than k records of the class found, the searched one with all its copies; return how many.

    Rows of k records have no price.
    """
    n, own = 0, 1
    for j in range(scratch.sizes[1]):
        row, copies = scratch.best[j], scratch.n_best_taken[j]
        if row == a:
            own += copies
        elif rows.counts[row] < k:
            scratch.best[n], scratch.n_best_taken[n] = row, copies
            n += 1
    scratch.best[n], scratch.n_best_taken[n] = a, own
    return n + 1
