"""The classes of a table: their sizes, what they tell about sensitive columns, and the households in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, Missing, freeze_array
from hushtable.claims import count_values, match_classes, match_sizes
from hushtable.columns import Column, ColumnSpec, list_items, merge_items
from hushtable.errors import InputError, check_columns
from hushtable.kernels import group
from hushtable.models import ClassStats, DistinctLDiversity, EntropyLDiversity, Ground, Histogram, TCloseness
from hushtable.tables import Partition, Table, count_by_value, encode_jointly, iterate_partitions, open_table

# Counts may be of any size; up to here a table of all sizes is faster than sorting.
_MAX_BINCOUNT_SIZE: Final = 10**7
_NO_CLASSES: Final = freeze_array(np.empty(0, dtype=np.int64))

READINGS: Final[tuple[Missing, ...]] = ("category", "wildcard", "worst")


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The classes of a table by its quasi-identifiers."""

    table: Table
    columns: tuple[str, ...]
    person: str | None
    missing: Missing  # the reading of ``sizes``
    partition: Partition  # missing values are a category of their own
    members: CountArray = field(repr=False)  # (n_classes,): records of every class; persons, where counted
    sizes: CountArray = field(repr=False)  # the same by that reading: how many the records match
    incomplete_classes: CountArray = field(repr=False)  # the classes that miss a quasi-identifier
    is_rough: bool = False  # whether ``sizes`` are records near enough to be taken for those of a class

    @property
    def codes(self) -> CodeArray:
        """The quasi-identifiers of the classes, shape (n_columns, n_classes); -1 is missing."""
        return _class_codes(self.table, self.columns, self.partition)

    @property
    def records(self) -> CountArray:
        """Records of every class."""
        return self.partition.sizes

    @property
    def widths(self) -> tuple[int, ...]:
        """How many values each quasi-identifier has."""
        return tuple(self.table.column(name).n_values for name in self.columns)

    def smallest_by_missing(self) -> dict[str, int]:
        """Return the smallest class by every reading of missing values; 0 of an empty table."""
        if self.is_rough:
            # As a wildcard a missing value is near more, not less.
            smallest = int(self.sizes.min(initial=self.table.n_records))
            return {
                **dict.fromkeys(READINGS, smallest),
                "worst": min(smallest, 1) if len(self.incomplete_classes) else smallest,
            }
        if not len(self.incomplete_classes):
            return dict.fromkeys(READINGS, int(self.members.min(initial=self.table.n_records)))
        codes = self.codes
        others = {each: match_sizes(codes, self.members, each) for each in READINGS if each != self.missing}
        sizes = {**others, self.missing: self.sizes}
        return {each: int(sizes[each].min(initial=self.table.n_records)) for each in READINGS}

    def histogram(self, column: str) -> tuple[CountArray, Histogram]:
        """Return the records and the values of a column that the records of every class match."""
        histogram = self.partition.histogram(self.table, column)
        if self.missing == "category" or not len(self.incomplete_classes):
            return self.records, histogram
        sizes, found = match_classes(self.codes, self.records, {column: histogram}, self.missing)
        return sizes, found[column]


class People(NamedTuple):
    """The population, counted."""

    by_class: CountArray  # (n_classes,): people who share the values of a class
    n_unique: int  # people who share their values with nobody
    n_people: int


def count_classes(table: Table, columns: tuple[str, ...], person: str | None, missing: Missing) -> Counted:
    """Group records with equal quasi-identifiers, and count the records or persons that each class matches."""
    partition = Partition.from_table(table, columns)
    members = partition.sizes if person is None else partition.histogram(table, person).n_distinct()
    first = partition.rows[partition.offsets[:-1]]
    # Few columns miss any cell: only those are looked at class by class.
    incomplete = [row for row in (table.codes[table.index(name)] for name in columns) if row.min(initial=0) < 0]
    gaps = np.flatnonzero(np.any([row[first] < 0 for row in incomplete], axis=0)) if incomplete else _NO_CLASSES
    sizes = members
    if len(gaps) and missing != "category":
        sizes = match_sizes(_class_codes(table, columns, partition), members, missing)
    return Counted(table, columns, person, missing, partition, members, sizes, gaps)


def _class_codes(table: Table, columns: tuple[str, ...], partition: Partition) -> CodeArray:
    positions = np.array([table.index(name) for name in columns], dtype=np.intp)
    return table.codes[np.ix_(positions, partition.rows[partition.offsets[:-1]].astype(np.intp))]


def sum_by_size(sizes: CountArray, entries: CountArray) -> tuple[CountArray, CountArray]:
    """Sum a whole number per class over classes of equal size; return the sizes, ascending, and the sums."""
    if int(sizes.max(initial=0)) < _MAX_BINCOUNT_SIZE:
        positions, distinct = sizes, None
    else:
        distinct, positions = np.unique(sizes, return_inverse=True)
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    sums = np.bincount(positions, weights=entries).astype(np.int64)
    present = np.flatnonzero(np.bincount(positions))
    return present if distinct is None else distinct, sums[present]


def count_population_by_class(classes: Counted, population: Any, specs: Mapping[str, ColumnSpec] | None) -> People:
    """Count the people of the population who share the values of every class.

    Where persons are counted and the population has their column, its persons are counted, too; else each of its
    records is a person. InputError where classes have fewer people in the population than in the table, which is then
    no part of it.
    """
    everyone = open_table(population)
    names = everyone.names
    check_columns(classes.columns, names, "quasi-identifiers of the population")
    persons = [name for name in names if name == classes.person and name not in classes.columns]
    people = Table.encode(everyone, (*classes.columns, *persons), specs)
    codes, labels, n_labels = _code_with_population(classes, people.select(classes.columns))
    n_classes = len(classes.sizes)
    population_labels = labels[n_classes:]
    if classes.person is not None and classes.person in people.names:
        by_label = count_values(
            population_labels.astype(np.int64), people.codes[people.index(classes.person)], n_labels
        ).n_distinct()
    else:
        by_label = group.class_sizes(population_labels, people.counts, n_labels)
    # Labels that only the table has count 0 people, so that nobody matches by them.
    matched = match_sizes(codes[:, group.first_rows(labels, n_labels)], by_label, classes.missing)
    people_by_class = matched[labels[:n_classes]]
    _check_is_part(classes, people_by_class)
    return People(people_by_class, int(np.count_nonzero(by_label == 1)), int(by_label.sum()))


def sum_weights(classes: Counted, column: str) -> FloatArray:
    """Sum the survey weights of every class; InputError for one that is not positive, or differs within a person."""
    table = classes.table
    weights = _weights_of(table, column)
    n_classes = len(classes.members)
    if classes.person is None:
        return np.bincount(classes.partition.labels, weights * table.counts, n_classes).astype(np.float64)
    labels, of_persons = _persons_with_weights(classes, weights, column)
    return np.bincount(labels, of_persons, n_classes).astype(np.float64)


def _code_with_population(classes: Counted, people: Table) -> tuple[CodeArray, CodeArray, int]:
    """Code the classes and, behind them, the population; return their codes, and labels that equal ones share."""
    from hushtable.tables import meet_tables

    columns = tuple(classes.table.column(name) for name in classes.columns)
    joint = encode_jointly(meet_tables((Table(columns, classes.codes, classes.sizes), people)))
    codes = np.ascontiguousarray(np.concatenate([rows.codes for rows in joint.tables], axis=1))
    ((labels, n_labels),) = iterate_partitions(codes, joint.widths, [range(len(codes))])
    return codes, labels, n_labels


def _check_is_part(classes: Counted, people: CountArray) -> None:
    members = classes.members.copy()
    if classes.missing == "worst":
        # A class that matches nothing stands for one record.
        members[classes.incomplete_classes] = 1
    n_records = int(classes.records[people < np.maximum(members, 1)].sum())
    if not n_records:
        return
    hint = "compare tables that are spelled and generalized alike, or give population_size instead."
    if len(classes.incomplete_classes):
        hint = f"{hint} Records with missing cells can match anyone: missing='wildcard'."
    msg = f"{n_records} records are in classes with fewer people in the population than in the data."
    raise InputError(f"{msg} The data are then no part of that population.", hint=hint)


def _weights_of(table: Table, column: str) -> FloatArray:
    """Return the weight of every row."""
    weight_column, codes = table.column(column), table.codes[table.index(column)]
    if weight_column.n_values and weight_column.kind not in ("integer", "decimal"):
        raise InputError(
            f"weights = {column!r}, a column of kind {weight_column.kind}.",
            hint="weights are numbers above 0. If its cells could mean "
            f"two numbers (1,500), say which: columns.{column}.decimal in a policy, ColumnSpec(decimal=',') in Python.",
        )
    weights = np.append(weight_column.values.astype(np.float64), np.nan)[codes]
    # `not > 0` is also true of NaN, a missing weight.
    n_odd = int(table.counts[~(weights > 0)].sum())
    if n_odd:
        raise InputError(
            f"weights = {column!r}: {n_odd} records have no weight, or one that is not above 0.",
            hint="give every record the number of people it stands for.",
        )
    return np.asarray(weights)


def _persons_with_weights(classes: Counted, weights: FloatArray, column: str) -> tuple[CountArray, FloatArray]:
    """Return the class and the weight of every person in every class; rows without a person have none."""
    assert classes.person is not None
    table = classes.table
    codes = table.codes[table.index(classes.person)]
    owned = np.flatnonzero((codes >= 0) & (table.counts > 0))
    persons, first = np.unique(codes[owned], return_index=True)
    expected = weights[owned][first][np.searchsorted(persons, codes[owned])]
    n_odd = int(np.count_nonzero(weights[owned] != expected))
    if n_odd:
        raise InputError(
            f"weights = {column!r}: {n_odd} records have another weight than the first record of their person.",
            hint="give all records of a person one weight: the people that person stands for.",
        )
    width = table.column(classes.person).n_values
    pairs, at = np.unique(classes.partition.labels[owned].astype(np.int64) * width + codes[owned], return_index=True)
    return pairs // width, weights[owned][at]


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """What someone who finds a person's class learns about a sensitive column.

    Of a column of sets every item is looked at: ``distinct_l`` is then 2 where no item is held by all of a class who
    have items, and 1 where one is; ``n_homogeneous`` counts records in classes with an item that all have who have
    some.
    """

    distinct_l: int  # the fewest distinct known values in any class; higher is safer
    entropy_l: float | None  # the least number of equally frequent values as hard to guess; None of sets
    t: float  # in [0, 1]: the largest earth mover's distance between a class and the whole; lower is safer
    ground: str  # "equal", "ordered" or "items": how far apart values lie for ``t``
    n_homogeneous: int  # records in classes with one known value, or none

    def sentence(self, name: str) -> str:
        """Describe the figures, for a column of this name."""
        if self.ground == "items":
            shares = "some class shares an item, or has none" if self.distinct_l < 2 else "no class shares an item"
            return f"Of {name}, {shares}; t is {self.t:.3g}, item by item."
        values = "by their order" if self.ground == "ordered" else "all alike"
        return (
            f"A class holds at least {self.distinct_l} values of {name} (entropy l {self.entropy_l:.3g}); t is "
            f"{self.t:.3g}, values {values}."
        )


def measure_homogeneity(classes: Counted, column: str) -> Homogeneity:
    """Measure one sensitive column; an empty table gets the worst figures."""
    sensitive = classes.table.column(column)
    if sensitive.separator is not None:
        return _measure_item_homogeneity(classes, sensitive)
    sizes, histogram = classes.histogram(column)
    # The order of a single value means nothing, and a file does not tell its kind.
    ground = {column: Ground(sensitive.is_ordered and sensitive.n_values > 1)}
    stats = ClassStats(sizes, {column: histogram}, {column: count_by_value(classes.table, column)}, grounds=ground)
    distinct = DistinctLDiversity(1, column).measure(stats)
    is_empty = not len(distinct)
    return Homogeneity(
        int(distinct.min(initial=classes.table.n_records)),
        0.0 if is_empty else float(EntropyLDiversity(1, column).measure(stats).min()),
        1.0 if is_empty else float(np.clip(TCloseness(1, column).measure(stats).max(), 0.0, 1.0)),
        "ordered" if ground[column].is_ordered else "equal",
        int(classes.records[distinct < 2].sum()),
    )


def _measure_item_homogeneity(classes: Counted, column: Column) -> Homogeneity:
    """Measure a sensitive column of sets, item by item."""
    if classes.missing != "category":
        raise InputError(
            f"missing = {classes.missing!r} was given with sets of items: {column.name!r}.",
            hint="items are counted in classes: missing='category'.",
        )
    table, n_classes = classes.table, len(classes.records)
    codes, labels = table.codes[table.index(column.name)], classes.partition.labels

    def count_by_class(rows: BoolArray) -> CountArray:
        return np.bincount(labels[rows], weights=table.counts[rows], minlength=n_classes).astype(np.int64)

    holds = merge_items(*list_items(column))[1]
    # The last entry serves the missing cells, which index it as -1.
    holds_by_item = np.column_stack([holds, np.zeros(len(holds), dtype=bool)])
    n_known, everyone = count_by_class(codes >= 0), np.maximum(classes.records, 1)
    is_shared, t = n_known == 0, 0.0
    for rows, is_item in [*((each[codes], True) for each in holds_by_item), (codes < 0, False)]:
        n_holding = count_by_class(rows)
        is_shared |= is_item & (n_holding == n_known)
        overall_share = n_holding.sum() / max(table.n_records, 1)
        t = max(t, float(np.abs(n_holding / everyone - overall_share).max(initial=0.0)))
    distinct = np.where(n_known == 0, 0, np.where(is_shared, 1, 2))
    distinct_l = int(distinct.min(initial=2)) if n_classes else 0
    return Homogeneity(distinct_l, None, t if n_classes else 1.0, "items", int(classes.records[distinct < 2].sum()))


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """The risk of households; a record without one is a household of its own.

    ``highest`` and ``average`` are over records, of 1 - the product over the members of a household of (1 - a member's
    individual risk): that anyone of them is found, if finding one has no bearing on finding another. Members are known
    together, so that it says too little: ``average_known`` is the mean over records of 1 / F, F the households of equal
    members, whom a reader who knows the whole household cannot tell apart.
    """

    n_households: int
    n_unique: int  # whose members' values together no other household has
    smallest_class: int  # the fewest households that share them
    highest: float
    average: float
    average_known: float


def household_codes(codes: CodeArray, counts: CountArray) -> CountArray:
    """Return the household of every record, from 0; records without one (-1) are households of their own."""
    of_records = np.repeat(codes.astype(np.int64), counts)
    is_alone = of_records < 0
    of_records[is_alone] = int(codes.max(initial=-1)) + 1 + np.arange(int(is_alone.sum()))
    _, dense = np.unique(of_records, return_inverse=True)
    return np.asarray(dense)


def household_classes(households: CountArray, labels: CodeArray) -> CountArray:
    """Count, for every household, those whose members have the same values, itself included: O(n log n)."""
    ranked = labels[np.lexsort((labels, households))]
    lengths = np.bincount(households)
    starts = np.cumsum(lengths) - lengths
    sizes = np.empty(len(lengths), dtype=np.int64)
    by_length = np.argsort(lengths, kind="stable")
    distinct, begins = np.unique(lengths[by_length], return_index=True)
    ends = np.append(begins, len(by_length))[1:]
    for length, begin, end in zip(distinct.tolist(), begins.tolist(), ends.tolist(), strict=True):
        members = by_length[begin:end]
        lists = np.ascontiguousarray(ranked[starts[members][:, None] + np.arange(length)], dtype=np.int32)
        # As one element of bytes, so that np.unique compares whole households.
        whole = lists.view(np.dtype((np.void, 4 * length))).ravel()
        _, inverse, counts = np.unique(whole, return_inverse=True, return_counts=True)
        sizes[members] = counts[inverse]
    return sizes
