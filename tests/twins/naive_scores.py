"""Slow, obvious twins of the scores of column sets: dicts, loops and fractions over one dict a record.

A twin takes the records (a list of dicts, None for a missing cell) and a column set, and
answers `Parts`: the score, and the value and size of every class (by the tuple of its
cells) or column (by its name). ``order`` lists the values of an ordered column from low
to high; None says that the column has no order.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Record = dict[str, Any]
Order = Sequence[Any] | None


class Parts(NamedTuple):
    """A score, and the values and sizes of its parts."""

    value: float
    values: dict[Hashable, float]
    sizes: dict[Hashable, int]


def classes(records: list[Record], columns: Sequence[str]) -> dict[Hashable, list[Record]]:
    """Records by the tuple of their cells; missing equals only missing."""
    found: dict[Hashable, list[Record]] = {}
    for record in records:
        found.setdefault(tuple(record[name] for name in columns), []).append(record)
    return found


def cells(records: list[Record], name: str) -> list[Any]:
    """All cells of a column, missing ones too."""
    return [record[name] for record in records]


def known(records: list[Record], name: str) -> list[Any]:
    """The cells of a column that are not missing."""
    return [cell for cell in cells(records, name) if cell is not None]


def tally(values: Iterable[Any]) -> dict[Any, int]:
    """How often each value occurs."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    """The share of each value."""
    return {value: Fraction(count, len(values)) for value, count in tally(values).items()}


def number(cell: Any) -> Fraction:
    """A number as it is, a date or datetime in days."""
    if isinstance(cell, dt.datetime):
        return Fraction((cell - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1), 86_400_000_000)
    if isinstance(cell, dt.date):
        return Fraction(cell.toordinal())
    return Fraction(cell)


def entropy(values: Sequence[Any]) -> float:
    """Shannon's entropy of the values, in bits."""
    return -sum(float(p) * math.log2(p) for p in shares(values).values())


def by_class(
    groups: dict[Hashable, list[Record]],
    measure: Callable[[list[Record]], Any],
    aggregate: Callable[[list[float], list[int]], float],
) -> Parts:
    """Measure every class, and aggregate; a class that measures None is left out."""
    measured = {key: measure(members) for key, members in groups.items()}
    values = {key: float(value) for key, value in measured.items() if value is not None}
    sizes: dict[Hashable, int] = {key: len(groups[key]) for key in values}
    return Parts(aggregate(list(values.values()), list(sizes.values())) if values else math.nan, values, sizes)


def over_classes(values: list[float], sizes: list[int]) -> float:
    """The mean over the classes."""
    return sum(values) / len(values)


def over_records(values: list[float], sizes: list[int]) -> float:
    """The mean over the records."""
    return sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)


def least(values: list[float], sizes: list[int]) -> float:
    """The value of the lowest class."""
    return min(values)


def most(values: list[float], sizes: list[int]) -> float:
    """The value of the highest class."""
    return max(values)


def distinction(records: list[Record], columns: Sequence[str]) -> Parts:
    """Classes per record."""
    groups = classes(records, columns)
    parts = by_class(groups, lambda members: Fraction(1, len(members)), over_records)
    return parts._replace(value=len(groups) / len(records))


def separation(records: list[Record], columns: Sequence[str]) -> Parts:
    """The share of the pairs of records that differ; a single record has no equal, so 1."""
    keys = [tuple(record[name] for name in columns) for record in records]
    n = len(records)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    value = sum(keys[i] != keys[j] for i, j in pairs) / len(pairs) if pairs else 1.0

    def others_apart(members: list[Record]) -> Fraction:
        return Fraction(n - len(members), n - 1) if n > 1 else Fraction(1)

    return by_class(classes(records, columns), others_apart, over_records)._replace(value=value)


def k_anonymity(records: list[Record], columns: Sequence[str], *, variant: str = "definition") -> Parts:
    """The smallest class; the paper's mean class size."""
    return by_class(classes(records, columns), len, over_classes if variant == "paper" else least)


def group_entropy(records: list[Record], columns: Sequence[str], *, variant: str = "definition") -> Parts:
    """The entropy of the class; the paper's sum of p ln p."""

    def information(members: list[Record]) -> float:
        share = len(members) / len(records)
        return math.log(share) if variant == "paper" else -math.log2(share)

    return by_class(classes(records, columns), information, over_records)


def attribute_length_penalty(names: Sequence[str], columns: Sequence[str]) -> float:
    """(1 - p)^2 + p^2 for the share p of the columns."""
    p = Fraction(len(columns), len(names))
    return float((1 - p) ** 2 + p**2)


def l_diversity(
    records: list[Record],
    columns: Sequence[str],
    sensitive: str,
    *,
    kind: str = "distinct",
    l: int = 2,  # noqa: E741
    variant: str = "definition",
) -> Parts:
    """How diverse the known sensitive values of the classes are; the worst class, or the paper's mean."""

    def diversity(members: list[Record]) -> float:
        values = known(members, sensitive)
        falling = sorted(tally(values).values(), reverse=True)
        if kind == "distinct":
            return len(falling)
        if kind == "entropy":
            return 2 ** entropy(values) if values else 0.0
        tail = sum(falling[l - 1 :])
        return falling[0] / tail if tail else math.inf

    worst = most if kind == "recursive" else least
    return by_class(classes(records, columns), diversity, over_classes if variant == "paper" else worst)


def total_variation(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> Fraction:
    """Half the summed differences of two distributions."""
    return sum((abs(p.get(x, Fraction(0)) - q.get(x, Fraction(0))) for x in p.keys() | q.keys()), Fraction(0)) / 2


def earth_movers(p: dict[Any, Fraction], whole: dict[Any, Fraction], order: Sequence[Any]) -> Fraction:
    """The work of moving one distribution to the other along the ranks of the m values held, over m - 1."""
    ranked = [value for value in (None, *order) if value in whole]
    if len(ranked) == 1:
        return Fraction(0)
    carried, work = Fraction(0), Fraction(0)
    for value in ranked:
        carried += p.get(value, Fraction(0)) - whole[value]
        work += abs(carried)
    return work / (len(ranked) - 1)


def kullback_leibler(p: dict[Any, Fraction], q: dict[Any, Fraction], log: Callable[[Any], float] = math.log) -> float:
    """The sum of p log(p / q)."""
    return sum(float(share) * log(share / q[value]) for value, share in p.items())


def jensen_shannon(p: dict[Any, Fraction], q: dict[Any, Fraction]) -> float:
    """The mean divergence, in bits, of two distributions from their middle."""
    middle = {x: (p.get(x, Fraction(0)) + q.get(x, Fraction(0))) / 2 for x in p.keys() | q.keys()}
    return (kullback_leibler(p, middle, math.log2) + kullback_leibler(q, middle, math.log2)) / 2


def t_closeness(
    records: list[Record],
    columns: Sequence[str],
    sensitive: str,
    *,
    order: Order = None,
    distance: str = "emd",
    ground: str = "auto",
    variant: str = "definition",
) -> Parts:
    """How far the classes' sensitive values are from the whole's; the farthest, or the paper's mean of KL."""
    whole = shares(cells(records, sensitive))

    def away(members: list[Record]) -> float:
        p = shares(cells(members, sensitive))
        if variant == "paper" or distance == "kl":
            return kullback_leibler(p, whole)
        if distance == "jensen_shannon":
            return jensen_shannon(p, whole)
        if distance == "emd" and ground != "equal" and order is not None:
            return float(earth_movers(p, whole, order))
        return float(total_variation(p, whole))

    return by_class(classes(records, columns), away, over_classes if variant == "paper" else most)


def delta_presence(records: list[Record], columns: Sequence[str], population: list[Record]) -> Parts:
    """The highest share of a class's population that is in the table."""
    here, there = classes(records, columns), classes(population, columns)
    values: dict[Hashable, float] = {}
    for key in [*here, *(key for key in there if key not in here)]:
        people = len(there.get(key, []))
        values[key] = len(here.get(key, [])) / people if people else math.inf
    sizes: dict[Hashable, int] = {key: max(len(here.get(key, [])), len(there.get(key, []))) for key in values}
    return Parts(max(values.values()), values, sizes)


def paper_delta_presence(records: list[Record], columns: Sequence[str], sensitive: str) -> Parts:
    """The largest difference between a value's shares of class and table, mean over the classes."""
    whole = shares(cells(records, sensitive))

    def largest(members: list[Record]) -> Fraction:
        p = shares(cells(members, sensitive))
        return max(abs(p.get(value, Fraction(0)) - whole[value]) for value in whole)

    return by_class(classes(records, columns), largest, over_classes)


def generalization_ratio(
    records: list[Record], columns: Sequence[str], sensitive: str, *, variant: str = "definition"
) -> Parts:
    """Total variation of the classes from the whole, mean over records; the paper's is twice that, over classes."""
    whole = shares(cells(records, sensitive))
    factor = 2 if variant == "paper" else 1
    return by_class(
        classes(records, columns),
        lambda members: factor * total_variation(shares(cells(members, sensitive)), whole),
        over_classes if variant == "paper" else over_records,
    )


def of_target(
    records: list[Record],
    columns: Sequence[str],
    target: str,
    measure: Callable[[list[Any]], Any],
    variant: str,
) -> Parts:
    """Measure the known targets of every class that has some; mean over records, or the paper's over classes."""
    with_target = [record for record in records if record[target] is not None]
    return by_class(
        classes(with_target, columns),
        lambda members: measure(cells(members, target)),
        over_classes if variant == "paper" else over_records,
    )


def variance(values: Sequence[Any]) -> Fraction:
    """The mean squared deviation from the mean."""
    numbers = [number(value) for value in values]
    centre = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((each - centre) ** 2 for each in numbers), Fraction(0)) / len(numbers)


def mean_squared_error(
    records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition"
) -> Parts:
    """The squared distance of the target from the mean of its class."""
    return of_target(records, columns, target, variance, variant)


def accuracy(records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition") -> Parts:
    """The share of records with the most frequent target of their class."""
    return of_target(
        records, columns, target, lambda values: Fraction(max(tally(values).values()), len(values)), variant
    )


def value_range(records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition") -> Parts:
    """How wide the classes range, over how wide the table does; the paper does not scale."""

    def width(values: Sequence[Any]) -> Fraction:
        return number(max(values)) - number(min(values))

    everything = known(records, target)
    span = width(everything) if everything and variant == "definition" else Fraction(1)
    return of_target(records, columns, target, lambda values: width(values) / span if span else 0, variant)


def distinct_values(
    records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition"
) -> Parts:
    """How many targets the classes hold."""
    return of_target(records, columns, target, lambda values: len(set(values)), variant)


def completeness(records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition") -> Parts:
    """The share of records that have a target."""
    return by_class(
        classes(records, columns),
        lambda members: Fraction(len(known(members, target)), len(members)),
        over_classes if variant == "paper" else over_records,
    )


def information_gain(
    records: list[Record],
    columns: Sequence[str],
    target: str,
    *,
    corrected: bool = False,
    variant: str = "definition",
) -> Parts:
    """H(target) less the entropy of the class's targets; less also, corrected, Miller's bias."""
    with_target = [record for record in records if record[target] is not None]
    if not with_target:
        return Parts(math.nan, {}, {})
    whole = entropy(cells(with_target, target))
    bias = 0.0
    if corrected:
        n_cells = len(classes(with_target, list(dict.fromkeys([*columns, target]))))
        n_classes, n_values = len(classes(with_target, columns)), len(classes(with_target, [target]))
        bias = (n_cells - n_classes - n_values + 1) / (2 * len(with_target) * math.log(2))
    return of_target(records, columns, target, lambda values: whole - entropy(values) - bias, variant)


def mutual_information(records: list[Record], columns: Sequence[str], target: str) -> float:
    """H(classes) + H(target) - H(both), in bits, of the records that have a target."""
    with_target = [record for record in records if record[target] is not None]
    keys = [tuple(record[name] for name in columns) for record in with_target]
    values = cells(with_target, target)
    return entropy(keys) + entropy(values) - entropy(list(zip(keys, values, strict=True)))


def gini(records: list[Record], columns: Sequence[str], target: str, *, variant: str = "definition") -> Parts:
    """The chance that two draws, with replacement, of a class's targets differ."""
    return of_target(records, columns, target, lambda values: 1 - sum(p * p for p in shares(values).values()), variant)


def coded(table: Any, names: Sequence[str]) -> list[Record]:
    """The codes of every record, a row as often as it counts; -1 is missing."""
    rows = (
        zip(*[table.codes[table.index(name)].tolist() for name in names], strict=True) if names else [()] * table.n_rows
    )
    return [
        dict(zip(names, row, strict=True))
        for row, count in zip(rows, table.counts.tolist(), strict=True)
        for _ in range(count)
    ]


def objective_of_the_paper(table: Any, columns: Sequence[str]) -> float:
    """(5 distinction + separation / 2 - 0.4 mean class size - A) / 5 A, for the length penalty A."""
    records, columns = coded(table, columns), list(columns)
    penalty = attribute_length_penalty(table.names, columns)
    mean_size = k_anonymity(records, columns, variant="paper").value
    told_apart = 5 * distinction(records, columns).value + 0.5 * separation(records, columns).value
    return (told_apart - 0.4 * mean_size - penalty) / (5 * penalty)
