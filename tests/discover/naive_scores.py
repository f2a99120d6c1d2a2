"""Slow twins of the scores: lists, dicts and the definitions, record by record."""

import itertools
import math
from collections import Counter
from typing import Any

from hushtable.table import Table

Rows = list[tuple[int, ...]]


def records(table: Table, names: list[str]) -> Rows:
    """Codes of every record, a row as often as it counts; -1 is missing."""
    places = [table.names.index(name) for name in names]
    return [
        tuple(int(table.codes[j, row]) for j in places)
        for row in range(table.n_rows)
        for _ in range(int(table.counts[row]))
    ]


def classes(table: Table, names: list[str]) -> list[list[int]]:
    """Records of each class, in the order of first appearance."""
    found: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(records(table, names)):
        found.setdefault(row, []).append(i)
    return list(found.values())


def column(table: Table, name: str) -> list[int]:
    return [row[0] for row in records(table, [name])]


def distinction(table: Table, names: list[str]) -> float:
    rows = records(table, names)
    return len(set(rows)) / len(rows)


def separation(table: Table, names: list[str]) -> float:
    pairs = list(itertools.combinations(records(table, names), 2))
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0


def class_sizes(table: Table, names: list[str]) -> list[int]:
    return [len(each) for each in classes(table, names)]


def group_entropy(table: Table, names: list[str]) -> float:
    return entropy(records(table, names))


def entropy(values: list[Any]) -> float:
    n = len(values)
    return -sum(count / n * math.log2(count / n) for count in Counter(values).values())


def known_by_class(table: Table, names: list[str], target: str) -> list[list[int]]:
    """Known target codes of every class that has any."""
    codes = column(table, target)
    found = [[codes[i] for i in each if codes[i] >= 0] for each in classes(table, names)]
    return [each for each in found if each]


def weighted(values: list[float], sizes: list[int]) -> float:
    return sum(v * s for v, s in zip(values, sizes, strict=True)) / sum(sizes) if sizes else math.nan


def utility(name: str, table: Table, names: list[str], target: str) -> tuple[float, list[float]]:
    """Return the definition's value and one value a class."""
    held = known_by_class(table, names, target)
    everything = [code for each in held for code in each]
    sizes = [len(each) for each in held]
    per_class = {
        "accuracy": lambda each: max(Counter(each).values()) / len(each),
        "distinct_values": lambda each: float(len(set(each))),
        "gini": lambda each: 1 - sum((c / len(each)) ** 2 for c in Counter(each).values()),
        "information_gain": lambda each: entropy(everything) - entropy(each),
    }[name]
    values = [per_class(each) for each in held]
    return weighted(values, sizes), values


def numbers_by_class(table: Table, names: list[str], target: str) -> list[list[float]]:
    values = table.column(target).values
    if table.column(target).kind in ("date", "datetime"):
        values = values.astype("datetime64[D]").astype(int)
    return [[float(values[code]) for code in each] for each in known_by_class(table, names, target)]


def mean_squared_error(table: Table, names: list[str], target: str) -> float:
    held = numbers_by_class(table, names, target)
    errors = [(y - sum(each) / len(each)) ** 2 for each in held for y in each]
    return sum(errors) / len(errors) if errors else math.nan


def value_range(table: Table, names: list[str], target: str) -> float:
    held = numbers_by_class(table, names, target)
    everything = [y for each in held for y in each]
    if not everything:
        return math.nan
    span = max(everything) - min(everything) or 1.0
    return weighted([(max(each) - min(each)) / span for each in held], [len(each) for each in held])


def shares(values: list[int]) -> dict[int, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def distances(table: Table, names: list[str], sensitive: str) -> dict[str, list[float]]:
    """Kullback-Leibler (nats), total variation, Jensen-Shannon (bits) and largest difference of each class."""
    codes = column(table, sensitive)
    whole = shares(codes)
    found: dict[str, list[float]] = {"kl": [], "total_variation": [], "jensen_shannon": [], "largest": []}
    for each in classes(table, names):
        held = shares([codes[i] for i in each])
        p = [held.get(value, 0.0) for value in whole]
        q = list(whole.values())
        found["kl"].append(sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a))
        found["total_variation"].append(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
        found["largest"].append(max(abs(a - b) for a, b in zip(p, q, strict=True)))
        halves = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        found["jensen_shannon"].append(
            sum(x * math.log2(x / m) / 2 for side in (p, q) for x, m in zip(side, halves, strict=True) if x)
        )
    return found


def arms(table: Table, treatment: str, treated: int) -> tuple[list[int], list[int]]:
    codes = column(table, treatment)
    return [i for i, c in enumerate(codes) if c == treated], [i for i, c in enumerate(codes) if c not in (treated, -1)]


def covariate_shift(table: Table, names: list[str], treatment: str, treated: int) -> float:
    rows = records(table, names)
    one, two = (Counter(rows[i] for i in arm) for arm in arms(table, treatment, treated))
    n, m = sum(one.values()), sum(two.values())
    return sum(abs(one[row] / n - two[row] / m) for row in set(rows)) / 2


def covariate_shift_of_the_paper(table: Table, names: list[str], treatment: str, treated: int) -> float:
    rows = records(table, names)
    one, two = ([rows[i] for i in arm] for arm in arms(table, treatment, treated))
    both = one + two
    steps = [abs(sum(r <= x for r in one) / len(one) - sum(r <= x for r in two) / len(two)) for x in set(both)]
    return max(steps) + sum(abs(one.count(x) / len(one) - both.count(x) / len(both)) for x in set(both))


def smd(table: Table, name: str, treatment: str, treated: int) -> float:
    """Of a column of measured values."""
    codes, values = column(table, name), table.column(name).values.astype(float)
    one, two = ([values[codes[i]] for i in arm if codes[i] >= 0] for arm in arms(table, treatment, treated))
    if not one or not two:
        return math.nan
    means = [sum(x) / len(x) for x in (one, two)]
    variances = [
        sum((v - mean) ** 2 for v in x) / max(len(x) - 1, 1) for x, mean in zip((one, two), means, strict=True)
    ]
    gap, spread = abs(means[0] - means[1]), math.sqrt(sum(variances) / 2)
    return gap / spread if spread else (math.inf if gap else 0.0)


def common_support(table: Table, names: list[str], treatment: str, treated: int) -> float:
    """Share of the records of both arms whose class holds both arms."""
    one, two = arms(table, treatment, treated)
    mixed = [each for each in classes(table, names) if set(each) & set(one) and set(each) & set(two)]
    both = {*one, *two}
    return sum(len(both & set(each)) for each in mixed) / len(both)


def propensity_of_the_paper(table: Table, names: list[str], treatment: str, treated: int) -> float:
    one, two = arms(table, treatment, treated)
    chance = {}
    for each in classes(table, names):
        n_treated, n_control = len(set(each) & set(one)), len(set(each) & set(two))
        for i in each:
            chance[i] = n_treated / max(n_treated + n_control, 1)
    control = sum(chance[i] for i in two) / len(two)
    return sum(abs(chance[i] - control) for i in one) / len(one)


def objective_of_the_paper(table: Table, names: list[str]) -> float:
    rows = records(table, names)
    share = len(names) / len(table.names)
    a = (1 - share) ** 2 + share**2
    k = len(rows) / len(set(rows))
    return (5 * distinction(table, names) + 0.5 * separation(table, names) - 0.4 * k - a) / (5 * a)
