"""Slow, obvious reference implementations that the fast code is compared against."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

MISSING = -1

Row = tuple[int, ...]
Histogram = dict[int, int]
Judge = Callable[[list[int]], bool]


class NaiveColumn(NamedTuple):
    """A quasi-identifier: "ordered" with a position in [0, 1] per code, or "category" with a domain size."""

    kind: str
    positions: list[float] | None
    domain: int


class Cut(NamedTuple):
    """One way to split a node: the rows whose code in `column` is among the first `length` go left."""

    column: int
    length: int
    left: list[int]
    right: list[int]


def classes(rows: list[Row]) -> list[list[int]]:
    """Row indices grouped by equal rows, groups in order of first appearance; missing equals only missing."""
    groups: dict[Row, list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(tuple(row), []).append(index)
    return list(groups.values())


def records(members: list[int], counts: list[int]) -> int:
    """Number of records the member rows stand for: the sum of their counts."""
    return sum(counts[index] for index in members)


def class_sizes(groups: list[list[int]], counts: list[int]) -> list[int]:
    """Number of records in each group."""
    return [records(members, counts) for members in groups]


def histogram(members: list[int], counts: list[int], sensitive_codes: list[int]) -> Histogram:
    """Number of records holding each sensitive code among the members, missing (-1) included."""
    found: Histogram = {}
    for index in members:
        code = sensitive_codes[index]
        found[code] = found.get(code, 0) + counts[index]
    return found


def known_counts(hist: Histogram) -> list[int]:
    """Positive record counts of the values that are not missing, largest first."""
    return sorted((count for code, count in hist.items() if code != MISSING and count > 0), reverse=True)


def k_anonymous(size: int, k: int) -> bool:
    """A class is k-anonymous when it holds at least k records."""
    return size >= k


def distinct_l(hist: Histogram, l: int) -> bool:  # noqa: E741
    """A class is distinct l-diverse when it holds at least l different values; missing is not a value."""
    return len(known_counts(hist)) >= l


def alpha_k(hist: Histogram, size: int, alpha: float, k: int) -> bool:
    """(alpha, k)-anonymity: at least k records, and no value but missing has a share of them above alpha."""
    return size >= k and all(count / size <= alpha for count in known_counts(hist))


def entropy_l(hist: Histogram, l: float) -> bool:  # noqa: E741
    """Entropy l-diversity: the Shannon entropy of the shares of the values among the records not missing is at
    least log(l). With n such records and counts c, that is n**n >= l**n * product(c**c), compared exactly here.
    A class with no value at all is not diverse.
    """
    known = known_counts(hist)
    n = sum(known)
    if not known:
        return False
    power_product = 1
    for count in known:
        power_product *= count**count
    return bool(n**n >= Fraction(l) ** n * power_product)


def recursive_cl(hist: Histogram, c: float, l: int) -> bool:  # noqa: E741
    """Recursive (c, l)-diversity: with the counts of the values (not missing) sorted descending as r1..rm,
    r1 < c * (rl + ... + rm); false when there are fewer than l values.
    """
    known = known_counts(hist)
    if not known or len(known) < l:
        return False
    return known[0] < c * sum(known[l - 1 :])


def distribution(hist: Histogram) -> dict[int, Fraction]:
    """Exact share of the records that each code has, missing included."""
    total = sum(hist.values())
    return {code: Fraction(count, total) for code, count in hist.items()}


def distance_equal(hist: Histogram, totals: Histogram) -> float:
    """Variational distance between class and whole: half the sum of |p - q| over all values, missing included."""
    none = Fraction(0)
    p, q = distribution(totals), distribution(hist)
    return float(sum((abs(p.get(code, none) - q.get(code, none)) for code in p.keys() | q.keys()), none) / 2)


def distance_ordered(hist: Histogram, totals: Histogram, domain: int | None = None) -> float:
    """Ordered earth mover's distance: the sum over the m values in order of |cumulative p - q|, over m - 1; 0 when
    m is 1. The values are those with totals > 0, or, given a domain, every code below it and missing if it has
    totals > 0. Missing (-1) comes first.
    """
    p, q = distribution(totals), distribution(hist)
    values = {code for code, count in totals.items() if count > 0}
    if domain is not None:
        values |= set(range(domain))
    if len(values) == 1:
        return 0.0
    moved, carried = Fraction(0), Fraction(0)
    for code in sorted(values):
        carried += p.get(code, 0) - q.get(code, 0)
        moved += abs(carried)
    return float(moved / (len(values) - 1))


def t_closeness(
    hist: Histogram,
    totals: Histogram,
    t: float,
    ground: str,
    positions_or_parents: list[float] | None = None,
) -> bool:
    """t-closeness: the distance between the class's distribution and the whole input's is at most t, with ground
    "equal" (variational) or "ordered" (rank). For "ordered", None counts as values those with totals > 0; a list
    makes every code of the domain, of which it has one entry each, a value.
    """
    if ground == "equal":
        return distance_equal(hist, totals) <= t
    if ground == "ordered":
        domain = None if positions_or_parents is None else len(positions_or_parents)
        return distance_ordered(hist, totals, domain) <= t
    raise ValueError(ground)


def distance_hierarchical(hist: Histogram, totals: Histogram, levels: list[dict[int, int]]) -> float:
    """Earth mover's distance in a hierarchy, as the paper defines it: every node above the leaves moves the smaller of
    its children's summed positive and summed negative extra (p - q), over its height as a share of the root's. A level
    maps each code to its node; level 0 holds the leaves, the last level one node.
    """
    p, q = distribution(totals), distribution(hist)
    height = len(levels) - 1

    def extra(level: int, node: int) -> Fraction:
        members = [code for code, its_node in levels[level].items() if its_node == node]
        return sum((p.get(code, Fraction(0)) - q.get(code, Fraction(0)) for code in members), Fraction(0))

    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in set(levels[level].values()):
            children = {levels[level - 1][code] for code in levels[level] if levels[level][code] == node}
            extras = [extra(level - 1, child) for child in children]
            positive = sum((each for each in extras if each > 0), Fraction(0))
            negative = sum((-each for each in extras if each < 0), Fraction(0))
            cost += Fraction(level, height) * min(positive, negative)
    return float(cost)


def k_map(size: int, population: int, k: int) -> bool:
    """A class that holds a record holds at least k of the population."""
    return size == 0 or population >= k


def delta_presence(size: int, population: int, low: float, high: float) -> bool:
    """The share of the population of a class that is in the table lies within the bounds; a class without population
    has no share: it passes when it has no record, and fails when it does.
    """
    if population == 0:
        return size == 0
    return low <= size / population <= high


def beta_likeness(hist: Histogram, totals: Histogram, beta: float, enhanced: bool) -> bool:
    """beta-likeness: each value (missing too) whose class share q is above its share p in the whole input has
    (q - p) / p at most beta, or, enhanced, at most min(beta, -ln p).
    """
    p, q = distribution(totals), distribution(hist)
    for code, share_q in q.items():
        share_p = p[code]
        if share_q <= share_p:
            continue
        bound = min(beta, -math.log(share_p)) if enhanced else beta
        if float((share_q - share_p) / share_p) > bound:
            return False
    return True


def delta_disclosure(hist: Histogram, totals: Histogram, delta: float) -> bool:
    """delta-disclosure privacy: each value (missing too) with share p > 0 in the whole input has class share
    q > 0 and |ln(q / p)| < delta.
    """
    p, q = distribution(totals), distribution(hist)
    present = [code for code in p if p[code] > 0]
    return all(q.get(code, 0) > 0 and abs(math.log(q[code] / p[code])) < delta for code in present)


def share(column: NaiveColumn, codes_present: set[int]) -> float:
    """Share of a column's domain that a set of codes spans: 0 for one code; for ordered columns 1 when missing is
    among several codes, else the last position minus the first; for category columns the codes over the domain.
    """
    if len(codes_present) <= 1:
        return 0.0
    if column.kind == "category":
        return len(codes_present) / column.domain
    if MISSING in codes_present:
        return 1.0
    assert column.positions is not None
    return column.positions[max(codes_present)] - column.positions[min(codes_present)]


def codes_of(rows: list[Row], members: list[int], column: int) -> set[int]:
    """Different codes that the member rows have in a column."""
    return {rows[index][column] for index in members}


def set_ncp(
    rows: list[Row],
    counts: list[int],
    columns: list[NaiveColumn],
    groups: list[list[int]],
    weights: list[float] | None = None,
) -> float:
    """Normalised certainty penalty: the mean over records, and the weighted mean over columns, of the share of the
    codes present in the record's class. The groups partition the rows; no records or no columns give 0.
    """
    weights = [1.0] * len(columns) if weights is None else weights
    if not rows or not columns:
        return 0.0
    total = 0.0
    for members in groups:
        penalty = 0.0
        for j, column in enumerate(columns):
            penalty += weights[j] * share(column, codes_of(rows, members, j))
        total += records(members, counts) * penalty
    return total / (sum(counts) * sum(weights))


def cut_order(rows: list[Row], counts: list[int], column: NaiveColumn, j: int, node: list[int]) -> list[int]:
    """Codes present in a node in the order cuts go: ascending for an ordered column; by records in the node
    descending, ties by ascending code, for a category column. Missing is code -1.
    """
    frequency = histogram(node, counts, [row[j] for row in rows])
    if column.kind == "ordered":
        return sorted(frequency)
    return sorted(frequency, key=lambda code: (-frequency[code], code))


def allowable_cuts(
    rows: list[Row], counts: list[int], columns: list[NaiveColumn], judge: Judge, j: int, node: list[int]
) -> list[Cut]:
    """Cuts of a node in column j, shortest prefix first, both of whose sides the judge accepts: a proper prefix of
    the column's code order goes left, the rest right.
    """
    order = cut_order(rows, counts, columns[j], j, node)
    cuts: list[Cut] = []
    for length in range(1, len(order)):
        prefix = set(order[:length])
        left = [index for index in node if rows[index][j] in prefix]
        right = [index for index in node if rows[index][j] not in prefix]
        if judge(left) and judge(right):
            cuts.append(Cut(j, length, left, right))
    return cuts


def column_gain(
    rows: list[Row], counts: list[int], column: NaiveColumn, weight: float, j: int, node: list[int], cut: Cut
) -> float:
    """Weighted gain of a cut in column j: weight * (n * share of the node - nl * share left - nr * share right)."""
    n, nl, nr = records(node, counts), records(cut.left, counts), records(cut.right, counts)
    share_node = share(column, codes_of(rows, node, j))
    share_left = share(column, codes_of(rows, cut.left, j))
    share_right = share(column, codes_of(rows, cut.right, j))
    return weight * (n * share_node - nl * share_left - nr * share_right)


def own_gain(
    rows: list[Row], counts: list[int], column: NaiveColumn, weight: float, j: int, node: list[int], cut: Cut
) -> float:
    """Gain of a cut in the column that it cuts."""
    return column_gain(rows, counts, column, weight, j, node, cut)


def cut_cost(counts: list[int], column: NaiveColumn, node: list[int], cut: Cut) -> float:
    """What gains in all columns are divided by."""
    return 1.0


def cut_balance(counts: list[int], column: NaiveColumn, node: list[int], cut: Cut) -> float:
    """Fourth root of the smaller side's share of the node's records."""
    n, nl, nr = records(node, counts), records(cut.left, counts), records(cut.right, counts)
    return math.sqrt(math.sqrt(min(nl, nr) / n))


def best_gain_cut(
    rows: list[Row],
    counts: list[int],
    columns: list[NaiveColumn],
    judge: Judge,
    weights: list[float],
    rescored: int,
    node: list[int],
) -> Cut | None:
    """Allowable cut with the highest gain: the best `rescored` by the cut column's own gain times balance (ties:
    earlier column, shorter prefix), and of those the highest by all columns' gain (ties: ranked earlier).
    """

    def marginal(cut: Cut) -> float:
        j = cut.column
        gain = own_gain(rows, counts, columns[j], weights[j], j, node, cut)
        return gain * cut_balance(counts, columns[j], node, cut)

    def full(cut: Cut) -> float:
        total = 0.0
        for i, column in enumerate(columns):
            gain = own_gain if i == cut.column else column_gain
            total += gain(rows, counts, column, weights[i], i, node, cut)
        return total / cut_cost(counts, columns[cut.column], node, cut)

    cuts = [cut for j in range(len(columns)) for cut in allowable_cuts(rows, counts, columns, judge, j, node)]
    ranked = sorted(cuts, key=lambda cut: (-marginal(cut), cut.column, cut.length))
    return max(ranked[:rescored], key=full, default=None)


def best_median_cut(
    rows: list[Row],
    counts: list[int],
    columns: list[NaiveColumn],
    judge: Judge,
    weights: list[float],
    node: list[int],
) -> Cut | None:
    """Allowable cut nearest the middle (least |2 * nl - n|, ties: shorter prefix) of the first column that has one,
    columns visited by weight times share in the node descending (ties: earlier column).
    """
    n = records(node, counts)
    spans = [weights[j] * share(column, codes_of(rows, node, j)) for j, column in enumerate(columns)]
    for j in sorted(range(len(columns)), key=lambda j: (-spans[j], j)):
        cuts = allowable_cuts(rows, counts, columns, judge, j, node)
        if cuts:
            return min(cuts, key=lambda cut: (abs(2 * records(cut.left, counts) - n), cut.length))
    return None


def mondrian(
    rows: list[Row],
    counts: list[int],
    columns: list[NaiveColumn],
    judge: Judge,
    cut: str = "gain",
    weights: list[float] | None = None,
    rescored: int = 4,
) -> list[list[int]]:
    """Strict multidimensional Mondrian: start from all rows, split each node by its best allowable cut ("gain" or
    "median") until it has none, and return the nodes left, as ascending row indices, depth first, left child first.
    """
    if cut not in ("gain", "median"):
        raise ValueError(cut)
    weights = [1.0] * len(columns) if weights is None else weights
    leaves: list[list[int]] = []
    waiting = [list(range(len(rows)))] if rows else []
    while waiting:
        node = waiting.pop()
        if cut == "gain":
            chosen = best_gain_cut(rows, counts, columns, judge, weights, rescored, node)
        else:
            chosen = best_median_cut(rows, counts, columns, judge, weights, node)
        if chosen is None:
            leaves.append(node)
        else:
            waiting += [chosen.right, chosen.left]
    return leaves


def rows_match(one: Row, other: Row, missing: str) -> bool:
    """Whether records of two rows match, column by column: equal codes with "category"; equal or either missing with
    "wildcard"; equal and neither missing with "worst".
    """
    pairs = list(zip(one, other, strict=True))
    if missing == "category":
        return all(a == b for a, b in pairs)
    if missing == "wildcard":
        return all(a == b or MISSING in (a, b) for a, b in pairs)
    if missing == "worst":
        return all(a == b and a != MISSING for a, b in pairs)
    raise ValueError(missing)


def match_counts(rows: list[Row], counts: list[int], missing: str) -> list[int]:
    """Number of records that match each row's record, itself included; with missing="worst" a row with any missing
    value matches only itself, 1 record, however many records the row stands for.
    """
    found: list[int] = []
    for row in rows:
        if missing == "worst" and MISSING in row:
            found.append(1)
            continue
        found.append(sum(count for other, count in zip(rows, counts, strict=True) if rows_match(row, other, missing)))
    return found


def unique_count(rows: list[Row], counts: list[int]) -> int:
    """Number of records alone in their class: the number of classes of exactly one record."""
    return sum(1 for size in class_sizes(classes(rows), counts) if size == 1)
