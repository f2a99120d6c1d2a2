"""Rows before and after, and which of their cells may be shown.

A row shows what the input holds of one record beside what is published of it. With n the larger of k and 5, and people
counted where the policy counts them, this is defended:

- **No rare cell, and no rare combination of cells.** What a row shows of the input, its masks included, is the same for
  at least n people: of common cells that few people have together, only the first are shown. A published cell that is
  the cell of the input counts as shown, in all rows of its class: there, all rows show it on both sides, or none.
- **A mask does not say what it hides.** Among the rows that are alike so far and publish the same of a column, none is
  masked, or n people are, or all: else the one other value of a column of two would be known. A published cell is
  masked if it names a value, or the end of an interval that the data chose, that fewer than n people have.
- **No cell of a kept column tells about one person.** A cell that is published as it is stands in a row only if n
  people of its class share it together with all that the row shows before.
- **Order says nothing.** Rows stand by class, and within a class in an order that is drawn anew for every outcome,
  never that of the file. Sorting by a column compares shown cells only; masked ones are equal, and last. A filter asks
  for a class, which every row names anyway. What is masked does not depend on page, order or filter.

Not defended: a common cell beside the published cells of its class may fit fewer people than n. So the rows are for
those who work with the table, and no part of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims import Classes
from hushtable.columns import SUPPRESSED, cells, format_values
from hushtable.hierarchy import Hierarchy
from hushtable.release import Release
from hushtable.reporting import PeopleCounter
from hushtable.tables import label_rows

_STYLES_WITH_ENDS_OF_DATA: Final = ("cut", "tight")
_RULES_WITH_ENDS_OF_DATA: Final = ("frequency", "runs")


class ShownCells(NamedTuple):
    """The cells of a column in a row before and after; None is a missing one, or a masked one."""

    before: str | None
    is_before_shown: bool
    after: str | None
    is_after_shown: bool
    is_changed: bool


@dataclass(frozen=True, slots=True, eq=False)
class GuardedColumn:
    """A column before and after, and which of its cells may be shown.

    Attributes
    ----------
    name : str
    texts : tuple of str or None
        What each code of the input is; the last is a missing cell, of code -1.
    codes : ndarray of int32, shape (n_rows,)
    is_shown : ndarray of bool, shape (n_rows,)
        Whether the cell of the input may be shown.
    labels : tuple of str or None
        What is published instead.
    label_codes : ndarray of int32
        The label of each class, by its number; of each code, where ``is_by_value``.
    is_label_shown : ndarray of bool
        Whether each of these may be shown; by value, only beside its cell.
    is_by_value : bool
        Whether what is published follows from the cell alone: the column is kept, or rounded.
    is_starred : bool
        Whether suppressed rows publish ``*`` in a kept column.
    """

    name: str
    texts: tuple[str | None, ...] = field(repr=False)
    codes: CodeArray = field(repr=False)
    is_shown: BoolArray = field(repr=False)
    labels: tuple[str | None, ...] = field(repr=False)
    label_codes: CodeArray = field(repr=False)
    is_label_shown: BoolArray = field(repr=False)
    is_by_value: bool = False
    is_starred: bool = False

    def labels_of_rows(self, rows: CodeArray, classes: CodeArray) -> tuple[CodeArray, BoolArray]:
        """Return the code of the label of each row, and whether it may be shown."""
        if self.is_by_value:
            return self.label_codes[self.codes[rows]], self.is_shown[rows]
        return self.label_codes[classes], self.is_label_shown[classes]

    def describe_row(self, row: int, class_number: int) -> ShownCells:
        """Return the cells of a row."""
        before, is_shown = self.texts[self.codes[row]], bool(self.is_shown[row])
        known = before if is_shown else None
        if self.is_starred and not class_number:
            return ShownCells(known, is_shown, SUPPRESSED, True, True)
        codes, are_shown = self.labels_of_rows(np.array([row]), np.array([class_number]))
        after, is_after_shown = self.labels[codes[0]], bool(are_shown[0])
        is_same = after in (before, None if before is None else cells.format_value(before))
        return ShownCells(known, is_shown, after if is_after_shown else None, is_after_shown, not is_same)


@dataclass(frozen=True, slots=True, eq=False)
class GuardedRows:
    """The rows of a table before and after.

    Attributes
    ----------
    columns : tuple of GuardedColumn
        Those that become coarser first.
    class_of_row : ndarray of int32, shape (n_rows,)
        The number of each row's class, small classes first; 0 for suppressed rows.
    people_of_class : ndarray of int64
        How many people are in each class, those of class 0 included.
    order : ndarray of int32, shape (n_rows,)
        All rows, by class.
    min_people : int
        How many people must share what is shown.
    """

    columns: tuple[GuardedColumn, ...]
    class_of_row: CodeArray = field(repr=False)
    people_of_class: CountArray = field(repr=False)
    order: CodeArray = field(repr=False)
    min_people: int

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.people_of_class) - 1

    def select_rows(
        self,
        column: GuardedColumn | None = None,
        *,
        is_after: bool = False,
        is_descending: bool = False,
        of_class: int | None = None,
    ) -> CodeArray:
        """Return all rows, or those of a class: by class, or by the cells of a column that are shown."""
        rows = self.order
        if of_class is not None:
            first, last = np.searchsorted(self.class_of_row[rows], [of_class, of_class + 1])
            rows = rows[first:last]
        if column is None:
            return rows[::-1] if is_descending else rows
        if is_after:
            keys, is_shown = column.labels_of_rows(rows, self.class_of_row[rows])
            n_keys = len(column.labels)
        else:
            # A missing cell, of code -1, is behind the others.
            keys, is_shown, n_keys = column.codes[rows] % len(column.texts), column.is_shown[rows], len(column.texts)
        ranks = np.where(is_shown, n_keys - 1 - keys if is_descending else keys, n_keys)
        # Numpy sorts short integers in a tenth of the time.
        ranks = ranks.astype(np.uint16) if n_keys < 2**16 else ranks
        return rows[np.argsort(ranks, kind="stable")]


def guard_rows(
    release: Release,
    kept: Sequence[str],
    encode: Callable[[str], tuple[tuple[str | None, ...], CodeArray]],
    people: PeopleCounter,
    min_people: int,
) -> GuardedRows:
    """Decide what rows may show of a release.

    Parameters
    ----------
    release : Release
        In memory.
    kept : sequence of str
        The columns to show besides those that become coarser.
    encode : callable
        Returns what each code of a column is, and the code of each row, -1 for a missing cell.
    people : PeopleCounter
    min_people : int
        How many people must share what is shown.
    """
    numbers, people_of_class = number_classes(release.partition.labels, release.partition.n_classes, people)
    class_of_row = numbers[release.partition.labels]
    # Drawn anew each time: the order of the file may be that of a masked column.
    shuffled = np.random.default_rng().permutation(len(class_of_row)).astype(np.int32)
    order = shuffled[np.argsort(class_of_row[shuffled], kind="stable")]
    groups, n_groups = np.zeros(len(class_of_row), dtype=np.int32), 1
    columns: list[GuardedColumn] = []
    for name in (*release.quasi_identifiers, *kept):
        is_kept = name not in release.quasi_identifiers
        texts, codes = encode(name)
        if is_kept and len(columns) == len(release.quasi_identifiers):
            # From here on, what is shown must be shared within the class.
            groups, n_groups = label_rows((groups, class_of_row), (n_groups, len(people_of_class)), len(codes))
        unguarded = (
            _publish_values(release, name, (*texts, None), codes)
            if is_kept
            else _publish_labels(release, name, (*texts, None), codes, numbers, people, min_people)
        )
        column, groups, n_groups = _choose_cells(unguarded, class_of_row, groups, n_groups, people, min_people)
        columns.append(column)
    return GuardedRows(tuple(columns), class_of_row, people_of_class, order, min_people)


def number_classes(labels: CodeArray, n_classes: int, people: PeopleCounter) -> tuple[CodeArray, CountArray]:
    """Number classes from 1 by their people, equal ones at random; the last number, 0, is for rows of label -1.

    Return also how many people each number has. The labels themselves may follow the order of masked values.
    """
    counts = people.count(labels, n_classes)
    ranked = np.lexsort((np.random.default_rng().permutation(n_classes), counts))
    numbers = np.zeros(n_classes + 1, dtype=np.int32)
    numbers[ranked] = np.arange(1, n_classes + 1)
    in_none = people.count(np.where(labels < 0, np.int32(0), np.int32(-1)), 1)
    return numbers, np.concatenate([in_none, counts[ranked]])


def choose_shown_cells(
    codes: CodeArray, groups: CodeArray, alike: CodeArray, bundles: CodeArray, people: PeopleCounter, min_people: int
) -> BoolArray:
    """Choose which cells of a column are shown.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        -1 is a missing cell.
    groups : ndarray of int32, shape (n_rows,)
        Rows of one group show the same so far.
    alike : ndarray of int32, shape (n_rows,)
        Parts of these groups, whose rows also publish the same of this column.
    bundles : ndarray of int32, shape (n_rows,)
        Rows of one bundle are shown or masked together; -1 for rows on their own.
    people : PeopleCounter
    min_people : int

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        In every part each shown cell is shared by ``min_people``. In every part and every group none is masked, or so
        many people are, or all.
    """
    n_bundles, n_parts = int(bundles.max(initial=-1)) + 1, int(alike.max(initial=-1)) + 1
    pairs, n_pairs = label_rows((alike, codes), (n_parts, int(codes.max(initial=-1)) + 1), len(codes))
    is_shown = np.ones(len(codes), dtype=bool)
    while True:
        enough = people.count(np.where(is_shown, pairs, np.int32(-1)), n_pairs) >= min_people
        kept = is_shown & enough[pairs]
        for parts in (alike, groups):
            # Few masked people would be known by what they are not: all others are masked, too.
            kept &= ~_find_few_masked(kept, parts, people, min_people)[parts]
        is_torn = np.zeros(n_bundles + 1, dtype=bool)
        is_torn[bundles[~kept]] = True
        is_torn[-1] = False
        kept &= ~is_torn[bundles]
        if (kept == is_shown).all():
            return kept
        is_shown = kept


def _find_few_masked(is_shown: BoolArray, groups: CodeArray, people: PeopleCounter, min_people: int) -> BoolArray:
    """Find the groups in which some are masked, but too few people."""
    n_groups = int(groups.max(initial=-1)) + 1
    masked = np.where(is_shown, np.int32(-1), groups)
    has_masked: BoolArray = np.bincount(masked + 1, minlength=n_groups + 1)[1:] > 0
    return has_masked & (people.count(masked, n_groups) < min_people)


def _choose_cells(
    column: GuardedColumn, class_of_row: CodeArray, groups: CodeArray, n_groups: int, people: PeopleCounter, n: int
) -> tuple[GuardedColumn, CodeArray, int]:
    """Return a column with its masks, and the groups of rows that show the same, this column included."""
    n_rows, n_values = len(groups), len(column.texts)
    if column.is_by_value:
        alike, bundles = groups, np.full(n_rows, -1, dtype=np.int32)
    else:
        labels = column.label_codes[class_of_row]
        alike, _ = label_rows((groups, labels), (n_groups, len(column.labels)), n_rows)
        # Where the label is the cell, whoever sees it in one row of a class knows it of all.
        is_same = _codes_of_labels(column)[labels] == column.codes
        is_bundle = np.zeros(int(class_of_row.max(initial=0)) + 1, dtype=bool)
        is_bundle[class_of_row[is_same]] = True
        bundles = np.where(is_bundle[class_of_row], class_of_row, np.int32(-1))
    is_shown = choose_shown_cells(column.codes, groups, alike, bundles, people, n)
    is_label_shown = column.is_label_shown.copy()
    is_label_shown[np.unique(bundles[~is_shown & (bundles >= 0)])] = False
    shown = np.where(is_shown, column.codes, np.int32(n_values))
    guarded = replace(column, is_shown=is_shown, is_label_shown=is_label_shown)
    return guarded, *label_rows((groups, shown), (n_groups, n_values + 1), n_rows)


def _codes_of_labels(column: GuardedColumn) -> CodeArray:
    """Return the value of the input that each label is; -2 for labels that are none."""
    code_of_text = {None: -1} | {
        cells.format_value(text): code for code, text in enumerate(column.texts) if text is not None
    }
    return np.array([code_of_text.get(label, -2) for label in column.labels], dtype=np.int32)


def _publish_labels(
    release: Release,
    name: str,
    texts: tuple[str | None, ...],
    codes: CodeArray,
    numbers: CodeArray,
    people: PeopleCounter,
    min_people: int,
) -> GuardedColumn:
    """Return a column that becomes coarser, with the labels that enough people share and that name no rare value."""
    label_of_class, published = release.recoding.format_labels(name)
    labels = (*published, SUPPRESSED)
    # The entry behind the classes is that of suppressed rows, whose label is -1.
    label_codes = np.append(label_of_class, np.int32(len(published))).astype(np.int32)
    by_number = np.empty_like(label_codes)
    by_number[numbers] = label_codes
    is_shared = people.count(label_codes[release.partition.labels], len(labels)) >= min_people
    counts = people.count(codes % np.int32(len(texts)), len(texts))
    few = frozenset(text for text, n in zip(texts, counts, strict=True) if 0 < n < min_people)
    with_ends = shows_ends_of_data(release, name)
    is_shared &= np.array([not few & values_named_in(label, with_ends=with_ends) for label in labels])
    is_shared |= np.array([label == SUPPRESSED for label in labels])
    unseen = np.zeros(len(codes), dtype=bool)
    return GuardedColumn(name, texts, codes, unseen, labels, by_number, is_shared[by_number])


def shows_ends_of_data(release: Release, name: str) -> bool:
    """Tell whether the data chose the ends of the intervals that a release publishes of a column."""
    return release.recoding.style in _STYLES_WITH_ENDS_OF_DATA or has_ends_of_data(release.hierarchies.get(name))


def has_ends_of_data(ladder: object) -> bool:
    """Tell whether the data chose the ends of the intervals of a hierarchy."""
    rule = ladder.rule if isinstance(ladder, Hierarchy) else None
    return rule is not None and rule.name in _RULES_WITH_ENDS_OF_DATA


def values_named_in(label: str | None, *, with_ends: bool) -> frozenset[str | None]:
    """Return the values that a label names, with the ends of an interval or without."""
    if label is None:
        return frozenset((None,))
    cell = cells.parse_cell(label)
    if cell.form == "set":
        return frozenset(cell.members)
    if cell.ends is not None:
        return frozenset((cell.ends.low, cell.ends.high)) if with_ends else frozenset()
    return frozenset((label,))


def _publish_values(release: Release, name: str, texts: tuple[str | None, ...], codes: CodeArray) -> GuardedColumn:
    """Return a column that keeps its cells, or whose numbers are rounded."""
    labels = texts
    if isinstance(release.claim, Classes) and name in release.claim.rounded:
        values, first_rows = np.unique(codes, return_index=True)
        published = format_values(release.source.frame().column(name).gather(first_rows), name).to_list()
        by_code = dict(zip(values.tolist(), published, strict=True))
        labels = (*(by_code.get(code, text) for code, text in enumerate(texts[:-1])), None)
    every = np.ones(len(texts), dtype=bool)
    starred = name in release.edition.starred
    unseen = np.zeros(len(codes), dtype=bool)
    index = np.arange(len(texts), dtype=np.int32)
    return GuardedColumn(name, texts, codes, unseen, labels, index, every, is_by_value=True, is_starred=starred)
