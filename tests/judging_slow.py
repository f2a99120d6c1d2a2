"""A judge of releases in plain Python, from the definitions of the models alone.

Written by someone who has not read the verifier: rows are dicts, classes are dicts of lists, shares are fractions.
Each check returns complaints, sentences that name positions; none means that all is well.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import hushtable as ht
from reading import MEASURED, Labels, holds, measure, text_of

Row = Mapping[str, Any]
SLACK = 1e-9
"""Of logarithms and sums of floats; whatever is a fraction is compared exactly."""


@dataclass(frozen=True)
class Terms:
    """What is known of the columns of a table."""

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    models: Sequence[Any]
    kinds: Mapping[str, str]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ladders: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Of sensitive columns: the nodes above each value, from the value's parent to the root's children."""


def covers(terms: Terms, published: Row, person: Row) -> bool:
    """Tell whether every published cell is true of a person."""
    return all(
        holds(published[name], person[name], terms.kinds[name], terms.labels.get(name), terms.orders.get(name, ()))
        for name in terms.quasi_identifiers
    )


def untrue_cells(terms: Terms, original: Sequence[Row], published: Sequence[Row]) -> list[str]:
    """Complain of every cell that is not true of the record it was published for."""
    return [
        f"row {i}, column {name!r}: {row[name]!r} is not true of {person[name]!r}"
        for i, (person, row) in enumerate(zip(original, published, strict=True))
        for name in terms.quasi_identifiers
        if not holds(row[name], person[name], terms.kinds[name], terms.labels.get(name), terms.orders.get(name, ()))
    ]


def classes_of(terms: Terms, published: Sequence[Row], left_out: Sequence[bool]) -> dict[tuple[Any, ...], list[int]]:
    """Group rows that publish the same quasi-identifier cells."""
    classes = defaultdict(list)
    for i, row in enumerate(published):
        if not left_out[i]:
            classes[tuple(text_of(row[name]) for name in terms.quasi_identifiers)].append(i)
    return dict(classes)


def is_suppressed(terms: Terms, row: Row) -> bool:
    """Tell whether a row publishes ``*`` in every quasi-identifier and sensitive cell."""
    return all(text_of(row[name]) == "*" for name in [*terms.quasi_identifiers, *terms.sensitive])


def failing_classes(
    terms: Terms,
    published: Sequence[Row],
    original: Sequence[Row],
    left_out: Sequence[bool],
    population: Sequence[Row] | None = None,
) -> list[str]:
    """Complain of every class that fails a model; the reference of t, beta and delta is the original."""
    complaints = []
    classes = classes_of(terms, published, left_out)
    covered = {
        cells: {j for j, person in enumerate(population or ()) if covers(terms, published[rows[0]], person)}
        for cells, rows in classes.items()
    }
    for model in terms.models:
        if model.needs.original:
            continue
        for cells, rows in classes.items():
            members = [published[i] for i in rows]
            if not class_passes(model, members, original, len(covered[cells]), terms):
                complaints.append(f"{model}: fails in the class of rows {rows}, {cells}")
        if isinstance(model, ht.DeltaPresence):
            absent = set(range(len(population or ()))).difference(*covered.values())
            if absent and model.low > 0:
                complaints.append(f"{model}: {len(absent)} people are in no class and known to be absent")
    return complaints


def class_passes(model: Any, members: Sequence[Row], original: Sequence[Row], n_people: int, terms: Terms) -> bool:
    """Judge one class by the definition of one model."""
    size = len(members)
    if isinstance(model, ht.KAnonymity):
        return size >= model.k
    if isinstance(model, ht.KMap):
        return n_people >= model.k
    if isinstance(model, ht.DeltaPresence):
        return n_people > 0 and number(model.low) <= Fraction(size, n_people) <= number(model.high)
    column = model.sensitive
    kind = terms.kinds[column]
    held = Counter(key_of(row[column], kind) for row in members)
    whole = Counter(key_of(row[column], kind) for row in original)
    known = sorted((count for value, count in held.items() if value is not None), reverse=True)
    if isinstance(model, ht.AlphaKAnonymity):
        return size >= model.k and all(Fraction(count, size) <= number(model.alpha) for count in known)
    if isinstance(model, ht.DistinctLDiversity):
        return len(known) >= model.l
    if isinstance(model, ht.EntropyLDiversity):
        return bool(known) and entropy(known) >= math.log(model.l) - SLACK
    if isinstance(model, ht.RecursiveCLDiversity):
        return len(known) >= model.l and known[0] < number(model.c) * sum(known[model.l - 1 :])
    here = {value: Fraction(held[value], size) for value in whole | held}
    there = {value: Fraction(whole[value], len(original)) for value in whole | held}
    if isinstance(model, ht.TCloseness):
        return distance(model, here, there, terms) <= number(model.t)
    if isinstance(model, ht.BetaLikeness):
        return all(_gains_little(model, here[value], there[value]) for value in here)
    if isinstance(model, ht.DeltaDisclosure):
        return all(_is_about_as_frequent(model, here[value], there[value]) for value in here)
    raise TypeError(model)


def number(given: float) -> Fraction:
    """Return a parameter as the decimal number that was written: 0.1 is a tenth."""
    return Fraction(repr(given))


def key_of(value: Any, kind: str) -> Any:
    """Return a sensitive value such that equal values are equal: -0.0 is 0, 1.0 is 1, hiv is HIV; ``*`` is none."""
    text = None if value == "*" else text_of(value)
    if text is None:
        return None
    return measure(text, kind) if kind in MEASURED else folded(text)


def folded(text: str) -> str:
    """Return a text without blanks that are too many, letters' case, width and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def entropy(counts: Sequence[int]) -> float:
    """Return the Shannon entropy of counts."""
    n = sum(counts)
    return -sum(count / n * math.log(count / n) for count in counts)


def distance(
    model: ht.TCloseness, here: Mapping[Any, Fraction], there: Mapping[Any, Fraction], terms: Terms
) -> Fraction:
    """Return the earth mover's distance between a class and the whole."""
    ground, kind = model.ground, terms.kinds[model.sensitive]
    if ground == "auto":
        ground = "equal" if kind == "category" else "ordered"
    if ground == "equal":
        return sum((abs(here[value] - there[value]) for value in here), Fraction(0)) / 2
    if ground == "ordered":
        # An order of the whole's values has no place for another one, so that nothing is known to be near it.
        if any(here[value] and not there[value] for value in here):
            return Fraction(1)
        return _ordered_distance(here, there, kind, terms.orders.get(model.sensitive, ()))
    ladder = {key_of(text, kind): nodes for text, nodes in terms.ladders[model.sensitive].items()}
    return _hierarchical_distance(here, there, ladder)


def _ordered_distance(
    here: Mapping[Any, Fraction], there: Mapping[Any, Fraction], kind: str, order: Sequence[str]
) -> Fraction:
    # Every value of the whole is a step of the order, the missing one the lowest.
    values = sorted(here, key=lambda value: _rank(value, kind, order))
    carried, moved = Fraction(0), Fraction(0)
    for value in values[:-1]:
        carried += here[value] - there[value]
        moved += abs(carried)
    return moved / max(len(values) - 1, 1)


def _rank(value: Any, kind: str, order: Sequence[str]) -> Any:
    if value is None:
        return (0, 0)
    return (1, [*map(folded, order)].index(value)) if kind == "ordered" and order else (1, value)


def _hierarchical_distance(
    here: Mapping[Any, Fraction], there: Mapping[Any, Fraction], ladder: Mapping[Any, Sequence[str]]
) -> Fraction:
    """Move every share as low in the tree as it can: the distance of two values is the height of their lowest node."""
    height = max((len(nodes) for nodes in ladder.values()), default=0) + 1
    total = Fraction(0)
    for level in range(height):
        # The missing value is a node of its own below the top.
        extra: Counter[Any] = Counter()
        for value in here:
            node = None if value is None else (value if level == 0 else ("node", *ladder[value][level - 1 :]))
            extra[node] += here[value] - there[value]
        total += sum((abs(share) for share in extra.values()), Fraction(0)) / 2
    return total / height


def _gains_little(model: ht.BetaLikeness, q: Fraction, p: Fraction) -> bool:
    if q <= p:
        return True
    if p == 0:
        return False
    gain = (q - p) / p
    return gain <= number(model.beta) and (not model.enhanced or float(gain) <= -math.log(p) + SLACK)


def _is_about_as_frequent(model: ht.DeltaDisclosure, q: Fraction, p: Fraction) -> bool:
    if p == 0:
        return True
    return q > 0 and abs(math.log(q / p)) < model.delta - SLACK


def least_records(model: Any) -> int:
    """Return how many records a class that passes a model has at least."""
    if isinstance(model, (ht.KAnonymity, ht.AlphaKAnonymity)):
        return model.k
    if isinstance(model, (ht.DistinctLDiversity, ht.RecursiveCLDiversity)):
        return model.l
    return math.ceil(model.l - SLACK) if isinstance(model, ht.EntropyLDiversity) else 1


def published_failures(
    terms: Terms, published: Sequence[Row], original: Sequence[Row], population: Sequence[Row] | None = None
) -> list[str]:
    """Judge a published table from its cells alone, as whoever receives it can."""
    suppressed = [is_suppressed(terms, row) for row in published]
    complaints = failing_classes(terms, published, original, suppressed, population)
    least = max((least_records(model) for model in terms.models), default=1)
    if 0 < sum(suppressed) < least:
        complaints.append(f"{sum(suppressed)} suppressed records, where a class has {least}")
    complaints += [
        f"{model} does not hold"
        for model in terms.models
        if model.needs.original and not matches(terms, model, published, original)
    ]
    if not published:
        complaints.append("no records")
    return complaints


def wildcard_sizes(terms: Terms, published: Sequence[Row], missing: str) -> list[int]:
    """Count for every row that is not suppressed the rows that it cannot be told from.

    ``"wildcard"``: a missing cell matches whatever there is; ``"worst"``: it matches nothing, not even another one.
    """
    rows = [
        [text_of(row[name]) for name in terms.quasi_identifiers] for row in published if not is_suppressed(terms, row)
    ]

    def is_alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
        if missing == "wildcard":
            return all(a == b or a is None or b is None for a, b in zip(one, other, strict=True))
        return one is other or (one == other and None not in one)

    return [sum(is_alike(row, other) for other in rows) for row in rows]


def matches(terms: Terms, model: Any, published: Sequence[Row], original: Sequence[Row]) -> bool:
    """Judge a notion that compares published rows with original ones; a perfect matching leaves no row out."""
    if isinstance(model, (ht.Global1K, ht.GlobalK1)) and len(published) != len(original):
        return False
    options = [{j for j, person in enumerate(original) if covers(terms, row, person)} for row in published]
    if isinstance(model, (ht.Global1K, ht.GlobalK1)):
        options = [{j for j in found if _is_in_perfect_matching(options, i, j)} for i, found in enumerate(options)]
    by_row = [len(found) for found in options]
    by_person = [sum(j in found for found in options) for j in range(len(original))]
    if isinstance(model, (ht.MatchK1, ht.GlobalK1)):
        return min(by_row) >= model.k
    if isinstance(model, (ht.Match1K, ht.Global1K)):
        return min(by_person) >= model.k
    return min(by_row + by_person) >= model.k


def _is_in_perfect_matching(options: Sequence[set[int]], i: int, j: int) -> bool:
    """Tell whether all rows can be matched when row i takes person j."""
    taken_by = {j: i}
    rest = [row for row in range(len(options)) if row != i]

    def place(row: int, tried: set[int]) -> bool:
        for person in options[row] - tried - {j}:
            tried.add(person)
            if person not in taken_by or place(taken_by[person], tried):
                taken_by[person] = row
                return True
        return False

    return all(place(row, set()) for row in rest)
