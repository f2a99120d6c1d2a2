"""Hierarchy: how the values of one column generalize, level by level, up to ``*``."""

from __future__ import annotations

import datetime as dt
import os
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray, freeze_array, reduce_to_fields
from hushtable.columns import ENGLISH, CellWords, Column, Kind, cells, format_value, from_texts, words_of
from hushtable.errors import HierarchyError
from hushtable.hierarchy import files, rules
from hushtable.hierarchy.grid import Intervals, Number, format_exact, to_exact
from hushtable.hierarchy.ladder import Ladder, Level, Rule
from hushtable.hierarchy.proposal import propose, propose_units
from hushtable.hierarchy.rules import (
    MIN_TAIL_RECORDS,
    Dates,
    Dictionary,
    Frequency,
    Prefix,
    Runs,
    Suppression,
    Tails,
    Times,
)

PROPOSED: Final = ("auto", "units")  # words for a rule that the column decides


def check_labels(
    column: str, values: Sequence[str], level_codes: CodeArray, labels: Sequence[Sequence[str]], *, are_forms: bool
) -> None:
    """Raise HierarchyError if a published label would be read as something that its node does not hold.

    Only a user's own labels are checked as intervals and sets (`are_forms`). A label may equal a value or a label below
    it in the same branch: the cell then stands for the whole node.
    """
    code_of = {text: code for code, text in enumerate(labels[0])}
    # For each label, one value under it at the lowest level where it occurs.
    lowest: dict[str, int] = {}
    reader = _Reader(values)
    for level in range(1, len(labels) - 1):
        codes = level_codes[level]
        sizes = np.bincount(codes, minlength=len(labels[level]))
        member = np.empty(len(sizes), dtype=np.int64)
        member[codes] = np.arange(len(codes))
        for node, label in enumerate(labels[level]):
            if label == cells.SUPPRESSED:
                continue
            where = f"hierarchy of {column!r}: label {node} of level {level}"
            for code, what in ((code_of.get(label), "value"), (lowest.setdefault(label, int(member[node])), "label")):
                if code is not None and codes[code] != node:
                    raise HierarchyError(
                        f"{where} is also a {what} of another branch, that of value {code}.",
                        hint="give it another name: a published cell could mean either.",
                    )
            if are_forms and cells.parse_cell(label).form != "value":
                codes_read = reader.codes_of_label(label)
                if len(codes_read) != sizes[node] or (codes[codes_read] != node).any():
                    raise HierarchyError(
                        f"{where} reads as an interval or a set, but not of the {sizes[node]} values that it holds.",
                        hint="correct its ends or members, or give it a name.",
                    )


class _Reader:
    """Reads labels as intervals and sets of some texts, which may be numbers, dates or codes."""

    def __init__(self, values: Sequence[str]) -> None:
        self.values = values
        self.code_of = {text: code for code, text in enumerate(values)}
        self.sorted: dict[type, tuple[list[Any], CodeArray]] | None = None

    def codes_of_label(self, label: str) -> CodeArray:
        """Return the codes of the values that a set or interval covers; empty if the label is neither."""
        cell = cells.parse_cell(label)
        if cell.form != "set":
            return self._codes_in_interval(label)
        if None in cell.members:
            # Only the top node covers the missing value.
            return np.empty(0, dtype=np.int32)
        texts = map(str, cell.members)
        members = [[self.code_of[text]] if text in self.code_of else self._codes_in_interval(text) for text in texts]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int32), *members])).astype(np.int32)

    def _codes_in_interval(self, text: str) -> CodeArray:
        bounds = cells.parse_cell(text).ends
        keys = [] if bounds is None else [_parse_key(end) for end in (bounds.low, bounds.high) if end is not None]
        if bounds is not None and None not in bounds and None in keys:
            return self._codes_in_range(str(bounds.low), str(bounds.high))
        if bounds is None or len({type(key) for key in keys}) != 1 or keys[0] is None:
            return np.empty(0, dtype=np.int32)
        ranked, codes = self._sort_keys(type(keys[0]))
        begin = 0 if bounds.low is None else bisect_left(ranked, keys[0])
        find = bisect_right if bounds.is_closed else bisect_left
        return codes[begin : len(ranked) if bounds.high is None else find(ranked, keys[-1])]

    def _codes_in_range(self, low: str, high: str) -> CodeArray:
        """Return the values in a range of codes; its ends are prefixes."""
        low, high = low.removesuffix("*"), high.removesuffix("*")
        codes = [code for code, text in enumerate(self.values) if low <= text and text[: len(high)] <= high]
        return np.array(codes, dtype=np.int32)

    def _sort_keys(self, kind: type) -> tuple[list[Any], CodeArray]:
        """Return the sorted keys of one type, and the codes of their values."""
        if self.sorted is None:
            by_type: dict[type, list[tuple[Any, int]]] = {}
            for code, text in enumerate(self.values):
                key = _parse_key(text)
                by_type.setdefault(type(key), []).append((key, code))
            by_type.pop(type(None), None)
            self.sorted = {
                each: ([key for key, _ in sorted(pairs)], np.array([code for _, code in sorted(pairs)], dtype=np.int32))
                for each, pairs in by_type.items()
            }
        return self.sorted.get(kind, ([], np.empty(0, dtype=np.int32)))


def _parse_key(text: str) -> Any:
    """Parse a text as an exact number, a moment or a time of day; None if it is none of these."""
    try:
        return Fraction(to_exact(text.strip()))
    except (ValueError, ArithmeticError):
        pass
    for kind in (dt.datetime, dt.time):
        try:
            moment = kind.fromisoformat(text.strip())
        except ValueError:
            continue
        return moment if moment.tzinfo is None else None
    return None


Unknown = Literal["error", "suppress"]


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """One column's generalization ladder, nested and complete.

    Attributes
    ----------
    column : str
    values : tuple of str
        The leaves, as canonical texts.
    level_codes : ndarray of int32, shape (n_levels, n_values), read-only
        The node of every value at every level. At level 0 every value is its own
        node, at the last level all are under one, ``*``. Dense in each level.
    labels : tuple of tuples of str
        What each node publishes, by level.
    shares : tuple of ndarrays of float64, by level, read-only
        The share of the domain under each node: of the listed leaves, or a width
        (intervals, dates). A node published as ``*`` has the share 1.
    rule : Rule, optional
        What it was made by, where that was no list.
    siblings : tuple of ndarrays of int64, by level, read-only
        How many nodes the parent of each node has under it in the whole list, the node
        itself included; nothing for the values and for ``*``.
    whole : Hierarchy, optional
        The list that it was aligned from, with the values that the column does not hold.
    lowest : ndarray of int32, shape (n_values,), read-only, optional
        The lowest level that each value may be published at; without it, every value as itself.

    Notes
    -----
    A missing value is no leaf of the list: it is a node of its own (-1) below the top
    and under ``*`` there; see `nodes`.

    Examples
    --------
    >>> jobs = Hierarchy.from_dict({"tree": {"blue": ["welder", "plumber"], "white": ["clerk"]}}, "job")
    >>> jobs
    Hierarchy('job': 3 values, 3 levels)
    >>> jobs.labels[1], jobs.level_codes[1].tolist(), jobs.parent(1).tolist()
    (('blue', 'white'), [0, 0, 1], [0, 0])
    >>> print(jobs)
    job: 3 values
    level           nodes  largest share
    0 value             3         0.3333
    1                   2         0.6667
    2 *                 1              1
    """

    column: str
    values: tuple[str, ...] = field(repr=False)
    level_codes: CodeArray = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    shares: tuple[FloatArray, ...] = field(repr=False)
    rule: Rule | None = None
    siblings: tuple[CountArray, ...] = field(default=(), repr=False)
    whole: Hierarchy | None = field(default=None, repr=False)
    lowest: CodeArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_array(self.level_codes)
        for array in (*self.shares, *self.siblings):
            freeze_array(array)
        if self.lowest is not None:
            freeze_array(self.lowest)
        for what, hint in self._list_faults():
            raise HierarchyError(f"hierarchy of {self.column!r}: {what}", hint=hint)
        check_labels(self.column, self.values, self.level_codes, self.labels, are_forms=self.rule is None)

    __reduce__ = reduce_to_fields

    def __repr__(self) -> str:
        return f"Hierarchy({self.column!r}: {self.n_values} values, {self.n_levels} levels)"

    def __str__(self) -> str:
        middle = self.rule.titles(self.n_levels - 2) if self.rule else [""] * (self.n_levels - 2)
        lines = [f"{self.column}: {self.n_values} values", f"{'level':15} nodes  largest share"]
        for level, title in enumerate(["value", *middle, cells.SUPPRESSED]):
            largest = self.shares[level].max(initial=0.0)
            lines.append(f"{f'{level} {title}'.rstrip():15} {self.n_nodes(level):5}  {largest:13.4g}")
        return "\n".join(lines)

    @property
    def n_levels(self) -> int:
        """How many levels there are, the values and ``*`` included."""
        return len(self.labels)

    @property
    def n_values(self) -> int:
        """How many leaves there are."""
        return len(self.values)

    @property
    def leaf_share(self) -> float:
        """The share of one value, and of the missing one; 1 without values."""
        return float(self.shares[0][0]) if self.n_values else 1.0

    def n_nodes(self, level: int) -> int:
        """How many nodes a level has."""
        return len(self.labels[level])

    def parent(self, level: int) -> CodeArray:
        """Return the node at the next level above every node of a level."""
        parents = np.zeros(self.n_nodes(level), dtype=np.int32)
        parents[self.level_codes[level]] = self.level_codes[level + 1]
        return parents

    def nodes(self, level: int, codes: CodeArray) -> CodeArray:
        """Return the nodes of codes at a level; a missing one (-1) is -1 below the top, and 0 there."""
        missing = np.int32(0 if level == self.n_levels - 1 else -1)
        return np.asarray(np.append(self.level_codes[level], missing)[codes])

    def cell_shares(self, level: int, codes: CodeArray) -> FloatArray:
        """Return the shares that codes publish at a level; a missing one (-1) is a leaf below the top."""
        missing = 1.0 if level == self.n_levels - 1 else self.leaf_share
        return np.asarray(np.append(self.shares[level][self.level_codes[level]], missing)[codes])

    def levels_with_missing(self) -> CodeArray:
        """Return the nodes of the missing value (entry 0) and of every value, shape (n_levels, n_values + 1)."""
        missing = [self.n_nodes(level) for level in range(self.n_levels - 1)] + [0]
        return np.column_stack((np.array(missing, dtype=np.int32), self.level_codes))

    def align(self, column: Column, *, unknown: Unknown = "error") -> Hierarchy:
        """Return the hierarchy of a table's column: leaf i is code i, nodes without a value are gone.

        Parameters
        ----------
        column : Column
            Values are found by their canonical texts: a listed ``1.0`` is the integer 1.
        unknown : {"error", "suppress"}
            What becomes of values that are not listed: an error, or ``*`` at every level above 0.

        Returns
        -------
        Hierarchy
            ``level_codes[level, code]`` is the node of a code. Shares stay those of
            the whole list: they do not depend on which values the table happens to hold.

        Raises
        ------
        HierarchyError
            Values are not listed; positions are codes of the column.
        """
        texts = tuple(column.texts())
        if texts == self.values and column.name == self.column:
            return self
        index_of_text = self._places_of_values(column)
        indices = np.fromiter((index_of_text.get(text, -1) for text in texts), dtype=np.int64, count=len(texts))
        unlisted = np.flatnonzero(indices < 0)
        if len(unlisted) and unknown != "suppress":
            raise self._missing_values_error(column, unlisted)
        levels = [self._align_level(level, indices) for level in range(1, self.n_levels - 1)]
        lowest = None if self.lowest is None else np.append(self.lowest, np.int32(0))[indices]
        aligned = _build_hierarchy(column.name, texts, Ladder(levels, self.leaf_share, lowest), self.rule)
        return replace(aligned, whole=self.whole or self)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule, or else the whole tree, as plain values: what a policy holds and `from_dict` reads."""
        if self.rule is not None:
            return rules.to_dict(self.rule)
        if self.n_levels == 2:
            return {"tree": list(self.values)}
        tree: dict[str, Any] = {}
        for index, text in enumerate(self.values):
            node = tree
            path = [self.labels[level][self.level_codes[level, index]] for level in range(self.n_levels - 2, 0, -1)]
            for label in path[:-1]:
                node = node.setdefault(label, {})
            node.setdefault(path[-1], []).append(text)
        return {"tree": tree}

    @classmethod
    def build(
        cls,
        given: Hierarchy | Rule | Mapping[str, Any] | str | os.PathLike[str],
        column: Column,
        counts: CountArray | None = None,
        *,
        unknown: Unknown = "error",
    ) -> Hierarchy:
        """Build the hierarchy of a table's column from anything that a user may give.

        Parameters
        ----------
        given : Hierarchy, rule, mapping, path, "auto" or "units"
            A mapping is read by `from_dict`, a path by `from_csv`.
        column : Column
        counts : ndarray of int64, shape (n_values,), optional
            Records of each value, for `frequency`, `auto`, and for `tails` to count those beyond its ends.
        unknown : {"error", "suppress"}
            As for `align`.

        Examples
        --------
        >>> age, _ = from_texts("age", ["17", "19", "23", "90"])
        >>> Hierarchy.build(Hierarchy.intervals([5, 10], high=80), age).labels[1]
        ('[15, 20)', '[20, 25)', '>=80')
        """
        if isinstance(given, str) and given in PROPOSED:
            # Categories that are no codes have no units: they get what `auto` proposes.
            rule = propose_units(column) if given == "units" else None
            given = propose(column, counts) if rule is None else rule
        if isinstance(given, Mapping):
            given = cls.from_dict(given, column.name)
        if isinstance(given, (str, os.PathLike)):
            given = cls.from_csv(given, column.name)
        if isinstance(given, Hierarchy):
            return given.align(column, unknown=unknown)
        if not isinstance(given, Rule):
            raise HierarchyError(
                f"column {column.name!r} was given a {type(given).__name__} as its hierarchy.",
                hint="give a Hierarchy, a rule, a mapping of one, a path, 'auto' or 'units'.",
            )
        return _build_hierarchy(column.name, tuple(column.texts()), given.ladder(column, counts), given)

    @classmethod
    def auto(cls, column: Column, counts: CountArray | None = None) -> Hierarchy:
        """Propose a hierarchy for any column; see `hushtable.hierarchy.proposal.propose`.

        Examples
        --------
        >>> income, _ = from_texts("income", ["900", "1500", "2200", "2750", "8400"])
        >>> print(Hierarchy.auto(income))
        income: 5 values
        level           nodes  largest share
        0 value             5      0.0001042
        1 width 200         5        0.02083
        2 width 400         5        0.04167
        3 width 800         4        0.08333
        4 width 1600        3         0.1667
        5 *                 1              1
        """
        return cls.build(propose(column, counts), column, counts)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any], column: str) -> Hierarchy | Rule:
        """Read what a policy holds: ``{"tree": ...}`` is a hierarchy, anything else a rule."""
        if set(entry) != {"tree"}:
            return rules.from_dict(entry)
        with files.name_source(f"hierarchy of {column!r}"):
            return _build_from_lines(column, files.parse_tree(entry["tree"]))

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        column: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
    ) -> Hierarchy:
        """Read ARX's form: a line for every value, from the value to the top.

        A header is left out, and so is a line of the empty value: a missing cell is a leaf of its own under ``*``. A
        header is a first line that begins with the column's name, has words as ``level 1``, or lacks the ``*`` that
        ends all others.

        Parameters
        ----------
        path : path
        column : str, optional
            Without it, what follows ``hierarchy_`` in the file's name, or else that name.
        delimiter : str, optional
            The one of ``tab ; | ,`` that splits most lines into as many levels, when not given.
        encoding : str, optional
            Found as that of a table when not given.

        Raises
        ------
        HierarchyError
            Lines of different length, a value twice, labels that do not nest: which line.
        """
        path = Path(path)
        text = files.read_text(path, encoding)
        name = path.stem.rpartition("hierarchy_")[2] if column is None else column
        with files.name_source(str(path)):
            return _build_from_lines(name, files.parse_csv(text, delimiter, name))

    @classmethod
    def from_domains(cls, path_or_text: str | os.PathLike[str]) -> dict[str, Hierarchy]:
        r"""Read MG-GA's form: ``Column/node/node: value, value``, a line for every innermost node.

        Returns
        -------
        dict of column to Hierarchy
            A value that hangs higher than others stays itself until its branch begins.

        Notes
        -----
        Where MG-GA takes the first of two places of a value, this is an error.

        Examples
        --------
        >>> found = Hierarchy.from_domains("Job/Blue: Plumber, Welder\nJob/White: Clerk\n")
        >>> found["Job"].labels[1]
        ('Blue', 'White')
        """
        given = os.fspath(path_or_text)
        is_text = "\n" in given or (":" in given and not Path(given).exists())
        text = given if is_text else files.read_text(given)
        with files.name_source("domains" if is_text else given):
            return {column: _build_from_lines(column, rows) for column, rows in files.parse_domains(text).items()}

    @staticmethod
    def intervals(width: Number | Sequence[Number], low: Number | None = None, high: Number | None = None) -> Intervals:
        """Return the rule of a fixed grid; see `hushtable.hierarchy.grid.Intervals`."""
        return Intervals(width, low, high)  # type: ignore[arg-type]  # made a tuple there

    @staticmethod
    def tails(
        low: Number | dt.date | None = None, high: Number | dt.date | None = None, least: int = MIN_TAIL_RECORDS
    ) -> Tails:
        """Return the rule of top and bottom coding; see `hushtable.hierarchy.rules.Tails`."""
        return Tails(low, high, least)

    @staticmethod
    def prefix(lengths: int | Sequence[int]) -> Prefix:
        """Return the rule of the first characters; see `hushtable.hierarchy.rules.Prefix`."""
        return Prefix(lengths)  # type: ignore[arg-type]  # made a tuple there

    @staticmethod
    def dates(levels: Sequence[str] = ("month", "quarter", "year", "decade")) -> Dates:
        """Return the rule of calendar units; see `hushtable.hierarchy.rules.Dates`."""
        return Dates(tuple(levels))

    @staticmethod
    def times(minutes: int | Sequence[int] = (15, 60, 360)) -> Times:
        """Return the rule of intervals of times of a day; see `hushtable.hierarchy.rules.Times`."""
        return Times((minutes,) if isinstance(minutes, int) else tuple(minutes))

    @staticmethod
    def dictionary(of: str) -> Dictionary:
        """Return the rule of a dictionary of this package; see `hushtable.hierarchy.rules.Dictionary`."""
        return Dictionary(of)

    @staticmethod
    def frequency(fanout: int = 4) -> Frequency:
        """Return the rule of groups of similar frequency; see `hushtable.hierarchy.rules.Frequency`."""
        return Frequency(fanout)

    @staticmethod
    def runs(fanout: int = 2) -> Runs:
        """Return the rule of runs of neighbours; see `hushtable.hierarchy.rules.Runs`."""
        return Runs(fanout)

    @staticmethod
    def suppression() -> Suppression:
        """Return the rule of the value or ``*``."""
        return Suppression()

    def _list_faults(self) -> Iterator[tuple[str, str]]:
        """Yield each fault of the hierarchy's shape, with a hint."""
        if self.level_codes.shape != (self.n_levels, self.n_values) or len(self.shares) != self.n_levels:
            what = f"{self.n_levels} levels of labels, but codes {self.level_codes.shape}."
            yield what, "give codes of shape (n_levels, n_values), and shares by level."
        if len(set(self.values)) < self.n_values:
            yield f"{self.n_values - len(set(self.values))} values are listed again.", "list every value once."
        if self.n_levels < 2 or self.labels[-1] != (cells.SUPPRESSED,):
            yield "its last level is not the one node `*`.", "end with a level that holds all values."
        for level, (codes, labels, shares) in enumerate(zip(self.level_codes, self.labels, self.shares, strict=True)):
            used = np.unique(codes)
            is_dense = np.array_equal(used, np.arange(len(labels))) or (level == self.n_levels - 1 and not len(used))
            if not is_dense or len(shares) != len(labels) or not all(label.strip() for label in labels):
                what = f"level {level} has {len(labels)} labels for {len(used)} nodes."
                yield what, "number nodes 0, 1, 2 ... and give each a label and a share."
        if not np.array_equal(self.level_codes[0], np.arange(self.n_values)):
            yield "level 0 does not hold every value as its own node.", "level 0 are the values."
        for level in range(self.n_levels - 1):
            split = np.flatnonzero(self.parent(level)[self.level_codes[level]] != self.level_codes[level + 1])
            if len(split):
                what = (
                    f"{len(split)} values share a node at level {level} with values they do not share one with at "
                    f"level {level + 1}; the first is value {split[0]}."
                )
                yield what, "values that are equal at a level must be equal at every level above."

    def _places_of_values(self, column: Column) -> dict[str, int]:
        """Map texts to the index of the listed value; an equal text goes before an equal number or date."""
        exact = {text: place for place, text in enumerate(self.values)}
        if not column.is_measured:
            return exact
        return {_canonical_text(text, column.kind): place for text, place in exact.items()} | exact

    def _missing_values_error(self, column: Column, unlisted: CountArray) -> HierarchyError:
        positions = ", ".join(map(str, unlisted[:5].tolist())) + (" ..." if len(unlisted) > 5 else "")
        return HierarchyError(
            f"the hierarchy of {column.name!r} lists {self.n_values} values, but not {len(unlisted)} of the "
            f"{column.n_values} values of the column (positions {positions} of its values).",
            hint="add them, use unknown='suppress' to publish them as `*`, or a rule, which is never incomplete.",
        )

    def _align_level(self, level: int, indices: CountArray) -> Level:
        labels, shares = (*self.labels[level], cells.SUPPRESSED), np.append(self.shares[level], 1.0)
        star = labels.index(cells.SUPPRESSED)
        nodes = np.where(indices < 0, star, np.append(self.level_codes[level], star)[indices])
        used, codes = np.unique(nodes, return_inverse=True)
        siblings = np.append(self.siblings[level], 1)[used] if self.siblings else None
        return Level(codes.astype(np.int32), tuple(labels[node] for node in used.tolist()), shares[used], siblings)


def _canonical_text(text: str, kind: Kind) -> str:
    """Return the canonical text of a listed value; a text of another kind is returned unchanged."""
    try:
        if kind in ("integer", "decimal"):
            return format_exact(to_exact(text.strip()))
        return from_texts("", [text], kind)[0].text(0)
    except (ValueError, ArithmeticError, IndexError):
        return text


def _build_hierarchy(column: str, values: tuple[str, ...], ladder: Ladder, rule: Rule | None = None) -> Hierarchy:
    """Build a hierarchy: the values, the levels of a ladder, and ``*`` on top."""
    n_values = len(values)
    codes = np.zeros((len(ladder.levels) + 2, n_values), dtype=np.int32)
    codes[0] = np.arange(n_values)
    leaf_share = 1 / max(1, n_values) if ladder.leaf_share is None else ladder.leaf_share
    shares = [np.full(n_values, leaf_share)]
    for number, level in enumerate(ladder.levels, start=1):
        codes[number] = level.codes
        counted = np.bincount(level.codes, minlength=len(level.labels)) / max(1, n_values)
        share = counted if level.shares is None else level.shares
        stars = np.array([label == cells.SUPPRESSED for label in level.labels], dtype=bool)
        shares.append(np.where(stars, 1.0, share))
    labels = (
        tuple(cells.format_value(text) for text in values),
        *(level.labels for level in ladder.levels),
        (cells.SUPPRESSED,),
    )
    nothing = np.empty(0, dtype=np.int64)
    between = (
        _count_siblings(codes, place) if level.siblings is None else level.siblings
        for place, level in enumerate(ladder.levels, start=1)
    )
    siblings = (nothing, *between, nothing)
    return Hierarchy(column, values, codes, labels, (*shares, np.ones(1)), rule, siblings, lowest=ladder.lowest)


def _count_siblings(level_codes: CodeArray, level: int) -> CountArray:
    """Count, for every node of a level, the children of its parent."""
    nodes, first = np.unique(level_codes[level], return_index=True)
    parents = level_codes[level + 1, first] if len(nodes) else nodes
    return np.asarray(np.bincount(parents, minlength=1)[parents], dtype=np.int64)


def _build_from_lines(column: str, rows: files.LadderLines) -> Hierarchy:
    values, levels = rows.build_levels()
    return _build_hierarchy(column, values, Ladder(levels))


def check_lines(source: str, rows: list[list[str]], numbers: list[int]) -> None:
    """Raise HierarchyError, naming the line, if rows from value to top do not form a hierarchy."""
    with files.name_source(source):
        _build_from_lines("codes", files.LadderLines(rows, [f"line {number}" for number in numbers]))


_MIN_VALUES_PER_GROUP: Final = 5  # fewer values are mostly listed instead
_MAX_CHARACTERS_PER_LABEL: Final = 40


def groups_of(
    column: Column,
    counts: CountArray,
    may_name: BoolArray | None = None,
    *,
    language: str = ENGLISH,
    max_length: int = _MAX_CHARACTERS_PER_LABEL,
) -> Hierarchy:
    """Return groups of 5, 10, 20 ... values of similar frequency, from the rarest; if ordered, runs of neighbours.

    The groups follow from the data, so the manifest does not list them. A label names the most frequent value of its
    group that enough people have, cut to `max_length` characters. It never equals the text of a value.
    """
    n_values, texts = column.n_values, column.texts()
    # A stable sort: values of one frequency stay in the order of the column.
    order = np.arange(n_values) if column.kind == "ordered" else np.argsort(-counts, kind="stable")
    rank = np.empty(n_values, dtype=np.int32)
    rank[order] = np.arange(n_values)
    weights = np.where(True if may_name is None else may_name, counts + 1, 0)[order]
    ladder, size = Ladder([]), _MIN_VALUES_PER_GROUP
    while size < n_values:
        # The first group is the smaller one: the most frequent values, maybe one that nearly all have.
        codes = ((rank + size - 1 - (n_values - 1) % size) // size).astype(np.int32)
        labels = _name_groups([texts[i] for i in order], weights, np.bincount(codes), words_of(language), max_length)
        ladder.levels.append(Level(codes, labels))
        size *= 2
    return _build_hierarchy(column.name, tuple(texts), ladder)


def _name_groups(
    texts: list[str], weights: CountArray, sizes: CountArray, words: CellWords, max_length: int
) -> tuple[str, ...]:
    """Name the groups of one level, which are runs of texts: by the only value, or by the most frequent one."""
    lasts = np.cumsum(sizes).tolist()
    names: list[str | None] = []
    for last, size in zip(lasts, sizes.tolist(), strict=True):
        run = slice(last - size, last)
        most = last - size + int(weights[run].argmax())
        name = name_of(texts[most], size, words, max_length) if weights[most] else None
        # Two names that were cut may be equal: then the group gets a number instead.
        names.append(format_value(texts[most]) if size == 1 else None if name in names else name)
    unnamed = [place for place, name in enumerate(names) if name is None]
    for number, place in enumerate(unnamed):
        names[place] = words.name_other_group(number if len(unnamed) > 1 else None, int(sizes[place]))
    return tuple(
        _find_free_label(str(name), texts) if size > 1 else str(name) for name, size in zip(names, sizes, strict=True)
    )


def name_of(text: str, size: int, words: CellWords, max_length: int) -> str | None:
    """Name a group by one of its values, cut to fit: ``nu… and 4 more``; None if it would read as another form."""
    name = words.name_group(text, size)
    if len(name) > max_length:
        name = words.name_group(f"{text[: max(1, max_length - (len(name) - len(text)) - 1)].rstrip()}…", size)
    return name if cells.parse_cell(name).form == "value" else None


def _find_free_label(label: str, texts: Collection[str]) -> str:
    """Return a label that differs from every value's text."""
    while label in texts:
        label = f"{label} …"
    return label
