"""Local suppression by definition: all column sets and all partitions of a few rows."""

from itertools import chain, combinations


def kept_sets(n_columns):
    columns = range(n_columns)
    return list(chain.from_iterable(combinations(columns, size) for size in range(n_columns + 1)))


def cost(kept, weights):
    return sum(weight for j, weight in enumerate(weights) if j not in kept)


def agree(one, other, kept):
    return all(one[j] == other[j] for j in kept)


def own_optimum(rows, k, weights):
    """Return the least cost where each row's kept cells fit k rows of the input; None where there are too few."""
    total = 0
    for row in rows:
        costs = [
            cost(kept, weights)
            for kept in kept_sets(len(weights))
            if sum(agree(row, other, kept) for other in rows) >= k
        ]
        if not costs:
            return None
        total += min(costs)
    return total


def block_cost(rows, weights):
    """Return what a class of these rows costs: they keep what they agree on."""
    kept = [j for j in range(len(weights)) if len({row[j] for row in rows}) == 1]
    return len(rows) * cost(kept, weights)


def class_optimum(rows, k, weights):
    """Return the least cost of a partition into classes of k rows or more; None where there is none."""
    best = {(): 0}

    def solve(free):
        if free not in best:
            first, *others = free
            answers = []
            for size in range(k - 1, len(others) + 1):
                for mates in combinations(others, size):
                    rest = solve(tuple(i for i in others if i not in mates))
                    if rest is not None:
                        answers.append(rest + block_cost([rows[i] for i in (first, *mates)], weights))
            best[free] = min(answers, default=None)
        return best[free]

    return solve(tuple(range(len(rows))))


def smallest_by_reading(original, published):
    """Return the smallest class by reading: equal cells; kept cells fit the input; a blank fits all."""
    blank = [{j for j, cell in enumerate(row) if cell == "*"} for row in published]
    n_columns = len(original[0])
    own = [sum(all(cell in ("*", other[j]) for j, cell in enumerate(row)) for other in original) for row in published]
    wildcard = [
        sum(
            all(row[j] == other[j] for j in range(n_columns) if j not in blank[i] | blank[i2])
            for i2, other in enumerate(published)
        )
        for i, row in enumerate(published)
    ]
    return min(published.count(row) for row in published), min(own), min(wildcard)


def cost_above_prices(members, cost, counts, prices, k):
    """Return of every member what the cheapest k records of a class with it cost above prices; inf for too few."""
    records = [row for row in members for _ in range(counts[row])]
    blocks = set(combinations(records, k))
    return [
        min((k * cost - sum(prices[row] for row in block) for block in blocks if member in block), default=float("inf"))
        for member in members
    ]


def best_choice(members, cost, counts, prices, k):
    """Return the least that none, or k or more records of a class cost above prices."""
    records = [row for row in members for _ in range(counts[row])]
    sizes = range(k, len(records) + 1)
    blocks = (block for size in sizes for block in combinations(records, size))
    return min([0.0, *(len(block) * cost - sum(prices[row] for row in block) for block in blocks)])


def smallest_by_set(published, sets):
    """Return the smallest class of equal cells on any of some sets of columns."""
    projected = [[tuple(row[j] for j in columns) for row in published] for columns in sets]
    return min(rows.count(row) for rows in projected for row in rows)


def own_optimum_by_set(rows, k, sets):
    """Return the fewest blanks where, on every set, what each row keeps of it fits k rows of the input."""
    total = 0
    for row in rows:
        total += min(
            len(row) - len(kept)
            for kept in kept_sets(len(row))
            if all(sum(agree(row, other, {*kept} & {*columns}) for other in rows) >= k for columns in sets)
        )
    return total
