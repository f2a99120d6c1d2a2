"""Axes: the layout of each quasi-identifier's values for cutting, and what a run of them publishes.

A search sees *places*: 0 is the missing value. In a plain column places are codes + 1. The leaves of a hierarchy are in
the order of its branches, so that every node is a run of places. Values in one cell of a grid share a place.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.columns import Column, cells
from hushtable.errors import InputError, check_columns, quote_names
from hushtable.hierarchy import (
    CodeGrid,
    Hierarchy,
    Prefix,
    Rounding,
    Suppression,
    are_codes,
    format_exact,
    groups_of,
    propose_units,
)
from hushtable.kernels import class_profile, group, rows
from hushtable.kernels.class_profile import UNITS_PER_DOMAIN, Axes
from hushtable.recoding.readable import length_in_list
from hushtable.search import run_in_threads
from hushtable.tables import Table

_CODES_PER_BYTE = 256
_MOST_CELLS = 1_000_000
_MAX_VALUES_WITHOUT_PATTERN = 20  # only with more values, texts of one pattern count as codes
_LIST_WEIGHT = 1.8  # a list weighs more than an interval of the same share, as it is several times as long


class Lists(NamedTuple):
    """The limits of lists, and whether longer ones become groups by frequency, whose members no reader knows."""

    max_listed: int  # values
    max_length: int  # characters
    names_groups: bool = True
    min_people: int = 1  # a value that fewer people have may not name its group
    person: str | None = None  # says whose record a row is; without it every record is a person's own
    language: str = "en"  # of the names of groups
    in_units: bool = False  # no lists and no ranges: each column is cut along one ladder of nested units


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The entries of a category's short lists: its values, or the labels below the top of its hierarchy."""

    # Its nodes are published instead of long lists: groups by frequency, or the hierarchy; they are runs of places
    tree: Hierarchy = field(repr=False)
    # (n_values + 1,): the entry in a list of the missing value (0, always 0) and of every code
    unit: CodeArray = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)  # of every entry
    lengths: CountArray = field(repr=False)  # how many characters each adds to a list
    widths: FloatArray = field(repr=False)  # the share of the column under each
    lists: Lists


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One quasi-identifier, laid out."""

    column: Column
    place: CodeArray = field(repr=False)  # (n_values + 1,): of the missing value (entry 0, always 0) and of every code
    n_places: int  # the missing value's included
    positions: FloatArray = field(repr=False)  # (n_places,), on [0, 1], for ordered columns without a hierarchy
    domain: int  # how many values the table has, the missing one included
    hierarchy: Hierarchy | None = None  # aligned to the column
    # Of a grid: where every cell begins, and where the last one ends
    edges: tuple[str, ...] = field(default=(), repr=False)
    rounding: Rounding | None = None  # of numbers and dates that are published to be read
    listing: Listing | None = None  # of categories to be read, without a hierarchy or with one made by a rule
    codes: CodeGrid | None = None  # of codes to be read: they are cut in their order
    is_proposed: bool = False  # whether the hierarchy is a ladder of nested units that nobody gave

    @property
    def tree(self) -> Hierarchy | None:
        """The tree whose lowest node a class publishes: always, or if it has no short list."""
        return self.listing.tree if self.listing else self.hierarchy

    @property
    def is_ordered(self) -> bool:
        """Whether the lowest and highest place of a class determine what it publishes."""
        is_in_order = self.codes is not None or self.column.is_ordered
        return self.hierarchy is not None or (is_in_order and self.listing is None)

    @property
    def is_cut_in_order(self) -> bool:
        """Whether a cut sends the lower places left, not an arbitrary set of places."""
        return self.is_ordered and self.hierarchy is None

    def code_at(self) -> CodeArray:
        """Return a code of every place but the missing value's, shape (n_places - 1,)."""
        codes = np.empty(self.n_places, dtype=np.int32)
        codes[self.place] = np.arange(-1, self.column.n_values, dtype=np.int32)
        return codes[1:]


def check_grid(grid: Mapping[str, float]) -> None:
    """Raise InputError if a grid is not a mapping of columns to widths above 0."""
    if not isinstance(grid, Mapping):
        raise InputError(f"grid = {grid!r}.", hint='a width for every column, for instance {"age": 5}.')
    for name, width in grid.items():
        if not isinstance(width, numbers.Real) or isinstance(width, bool) or not 0 < width < math.inf:
            raise InputError(f"column {name!r} was given the grid {width!r}.", hint="a grid is a width above 0.")


def lay_out(
    table: Table,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    grid: Mapping[str, float],
    readable: Lists | None = None,
) -> tuple[Axis, ...]:
    """Lay out the quasi-identifiers of a table; `readable` gives the limits of lists in readable recodings."""
    check_columns(tuple(grid), quasi_identifiers, "grid")
    both = [name for name in grid if name in hierarchies]
    if both:
        raise InputError(f"columns {quote_names(both)} have a hierarchy and a grid.", hint="give each one of the two.")
    axes = []
    for name in quasi_identifiers:
        column = table.column(name)
        domain = column.n_values + int(bool((table.codes[table.index(name)] < 0).any()))
        in_units = readable is not None and readable.in_units
        codes = _code_grid(column, hierarchies.get(name)) if readable and not in_units else None
        if readable and in_units:
            tree = hierarchies[name] if name in hierarchies else _build_units(table, column, readable)
            axes.append(replace(_lay_out_tree(column, domain, tree), is_proposed=name not in hierarchies))
        elif codes is not None:
            axes.append(_lay_out_codes(column, domain, codes))
        elif name in hierarchies:
            axes.append(_lay_out_tree(column, domain, hierarchies[name], readable))
        elif readable and not column.is_measured:
            axes.append(_lay_out_listing(table, column, domain, readable))
        elif readable and column.n_values > 1:
            axes.append(_lay_out_rounding(column, domain, grid.get(name)))
        elif name in grid:
            axes.append(_lay_out_grid(column, domain, grid[name]))
        else:
            positions = column.positions() if column.is_ordered else np.zeros(column.n_values)
            place = np.arange(column.n_values + 1, dtype=np.int32)
            axes.append(Axis(column, place, len(place), np.append(0.0, positions), domain))
    return tuple(axes)


def places_of_rows(table: Table, axes: Sequence[Axis]) -> CodeArray:
    """Return the places of a table's rows, shape (n_rows, n_columns)."""
    places = np.empty((table.n_rows, len(axes)), dtype=np.int32)
    for j, axis in enumerate(axes):
        places[:, j] = axis.place[table.codes[table.index(axis.column.name)] + 1]
    return places


def pack_rows(table: Table, axes: Sequence[Axis]) -> NDArray[Any]:
    """Return the places of a table's rows in the smallest type of the kernels, padded with zeros to whole words."""
    packed = room_for_rows(table.n_rows, [axis.n_places for axis in axes])
    by = places_for_kernels(table, axes)
    run_in_threads(lambda run: rows.pack_rows(table.codes, *by, packed, run), table.n_rows)
    return packed


def room_for_rows(n_rows: int, n_places: Sequence[int]) -> NDArray[Any]:
    """Allocate zeros for rows of columns with so many places, padded to whole words."""
    dtype: type[np.unsignedinteger[Any]] = np.uint8 if max(n_places) <= _CODES_PER_BYTE else np.uint32
    to_word = 8 // np.dtype(dtype).itemsize
    return np.zeros((n_rows, -(-len(n_places) // to_word) * to_word), dtype=dtype)


def places_for_kernels(table: Table, axes: Sequence[Axis]) -> tuple[CountArray, CodeArray, CountArray]:
    """Return arrays for kernels: the column of each axis, the places of its codes (missing first), their offsets."""
    columns = np.array([table.index(axis.column.name) for axis in axes])
    begins = np.cumsum([0, *(len(axis.place) for axis in axes)])
    return columns, np.concatenate([axis.place for axis in axes]), begins


def pack_axes(axes: Sequence[Axis], weights: Mapping[str, float]) -> Axes:
    """Pack axes into arrays for the kernels."""
    begins = np.cumsum([0, *(axis.n_places for axis in axes)])
    n_levels = max((max(_n_rounds(axis), _tree_depth(axis)) for axis in axes), default=0)
    columns, places = np.zeros(len(axes), dtype=class_profile.AXIS), np.zeros(begins[-1], dtype=class_profile.PLACE)
    levels = np.zeros((n_levels, begins[-1]), dtype=class_profile.LEVEL)
    for j, axis in enumerate(axes):
        run = slice(begins[j], begins[j + 1])
        columns[j] = _build_header(axis, begins[j])
        places["position"][run] = axis.positions
        places["unit"][run] = np.arange(axis.n_places)
        if axis.listing:
            _set_listing(axis, axis.listing, places[run])
        if axis.tree:
            _set_tree_nodes(axis, axis.tree, levels[:, run])
        if axis.rounding:
            # Compared with last cell - first cell, one less than their number; half a cell less for float noise.
            rounded = levels[: len(axis.rounding.steps), run]
            rounded["step"] = ((axis.rounding.min_cells - 1.5) / axis.rounding.width)[:, None]
            rounded["start"][:, 1:], rounded["end"][:, 1:] = _unit_edges(axis.column, axis.rounding)
        if axis.codes:
            _set_code_ranges(axis.codes, levels[: len(axis.codes.min_sizes), run])
    to_read = [_LIST_WEIGHT if axis.listing and not axis.is_ordered else 1.0 for axis in axes]
    weight_by_axis = [weights.get(axis.column.name, 1.0) for axis in axes]
    columns["weight"] = scale_weights([weight * more for weight, more in zip(weight_by_axis, to_read, strict=True)])
    return Axes(columns, places, levels)


def _tree_depth(axis: Axis) -> int:
    return axis.tree.n_levels if axis.tree else 0


def _n_rounds(axis: Axis) -> int:
    if axis.codes:
        return len(axis.codes.min_sizes)
    return len(axis.rounding.steps) if axis.rounding else 0


def _build_header(axis: Axis, begin: int) -> NDArray[Any]:
    header = np.zeros((), dtype=class_profile.AXIS)
    header["begin"], header["is_ordered"], header["domain"] = begin, axis.is_ordered, axis.domain
    header["depth"], header["n_rounds"] = _tree_depth(axis), _n_rounds(axis)
    header["is_plain"] = not header["depth"] and not header["n_rounds"]
    header["keeps_labels"] = axis.codes is not None and axis.codes.keeps_labels
    if axis.listing:
        # A list is one character longer than the sum of its entries' lengths.
        header["most_units"], header["most_chars"] = axis.listing.lists.max_listed, axis.listing.lists.max_length - 1
    elif not axis.is_ordered:
        header["most_units"] = axis.n_places
    return header


def _set_listing(axis: Axis, listing: Listing, places: NDArray[Any]) -> None:
    """Set the list entry of every place, its length in characters, and its share."""
    entry = np.empty(axis.n_places, dtype=np.int32)
    entry[axis.place] = listing.unit
    _, first, inverse = np.unique(entry, return_index=True, return_inverse=True)
    places["unit"] = first[inverse]
    places["chars"] = listing.lengths[entry]
    places["listed"] = np.rint(listing.widths[entry] * UNITS_PER_DOMAIN)


def _set_tree_nodes(axis: Axis, tree: Hierarchy, levels: NDArray[Any]) -> None:
    """Set the node of every place at every level of its tree, and its share."""
    # Entry 0 is the missing value, which only the top node covers.
    levels["node"][: tree.n_levels, 0] = -1
    known, codes = levels[:, 1:], axis.code_at()
    for level in range(tree.n_levels):
        known["node"][level] = tree.level_codes[level, codes]
        known["share"][level] = tree.shares[level][known["node"][level]]


def _set_code_ranges(codes: CodeGrid, levels: NDArray[Any]) -> None:
    """Set the share of the values that ranges of codes cover, by level; a single value, level 0, has none."""
    n_values = len(codes.texts)
    levels["step"] = ((codes.min_sizes - 1.5) / n_values)[:, None]
    levels["start"][:, 1:], levels["end"][:, 1:] = codes.starts / n_values, codes.ends / n_values
    levels["end"][0] = levels["start"][0]


def _unit_edges(column: Column, rounding: Rounding) -> tuple[FloatArray, FloatArray]:
    """Return where the unit over every place begins and ends, on the column's scale: values or ranks."""
    if not column.by_rank:
        starts, ends = rounding.starts / rounding.width, (rounding.ends - rounding.value_width) / rounding.width
        return np.asarray(starts), np.asarray(ends, dtype=np.float64)
    first, after = rounding.n_before(rounding.starts), rounding.n_before(rounding.ends)
    last = float(column.n_values - 1)
    return np.asarray(first / last), np.asarray((after - 1) / last)


def _lay_out_listing(table: Table, column: Column, domain: int, lists: Lists) -> Axis:
    axis = _lay_out_tree(column, domain, _build_groups(table, column, lists))
    assert axis.hierarchy is not None
    texts = (None, *column.texts())
    unit = np.arange(len(texts), dtype=np.int32)
    widths = np.full(len(texts), 1 / max(1, domain))
    return replace(axis, hierarchy=None, listing=_build_listing(axis.hierarchy, unit, texts, widths, lists))


def _build_groups(table: Table, column: Column, lists: Lists) -> Hierarchy:
    """Build groups of a category by frequency; only the value or ``*`` if groups must not be named."""
    if not lists.names_groups:
        return Hierarchy.build(Suppression(), column)
    counts, may_name = count_frequencies(table, column, lists)
    return groups_of(column, counts, may_name, language=lists.language, max_length=lists.max_length)


def _build_units(table: Table, column: Column, lists: Lists) -> Hierarchy:
    """Build the ladder of a column's nested units; of categories that are no codes, groups by frequency."""
    is_rule = column.is_measured or column.n_values > _MAX_VALUES_WITHOUT_PATTERN
    rule = propose_units(column) if is_rule else None
    return _build_groups(table, column, lists) if rule is None else Hierarchy.build(rule, column)


def count_frequencies(table: Table, column: Column, lists: Lists) -> tuple[CountArray, BoolArray]:
    """Count the records of every value, and tell which values enough people have to be shown in a name."""
    codes = table.codes[table.index(column.name)]
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    counts = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1)[1:].astype(np.int64)
    return counts, (
        counts if lists.person is None else _n_persons(table, codes, column, lists.person)
    ) >= lists.min_people


def _n_persons(table: Table, codes: CodeArray, column: Column, person: str) -> CountArray:
    """Count the known persons who have each value."""
    persons = table.codes[table.index(person)]
    known = (codes >= 0) & (persons >= 0)
    width = int(persons.max(initial=0)) + 1
    pairs = np.sort(codes[known].astype(np.int64) * width + persons[known])
    is_new = np.diff(pairs, prepend=-1) > 0
    return np.bincount(pairs[is_new] // width, minlength=column.n_values)


def _build_listing(
    tree: Hierarchy, unit: CodeArray, texts: tuple[str | None, ...], widths: FloatArray, lists: Lists
) -> Listing:
    lengths = np.array([length_in_list(text) for text in texts])
    return Listing(tree, unit, texts, lengths, widths, lists)


def _lay_out_rounding(column: Column, domain: int, step: float | None) -> Axis:
    if step is not None:
        _check_cells(column, step)
    rounding = Rounding.from_column(column, None if step is None else Fraction(str(step)))
    place = np.append(0, rounding.place + 1).astype(np.int32)
    positions = np.append(0.0, rounding.cells / rounding.width)
    return Axis(column, place, len(positions), positions, domain, rounding=rounding)


def _code_grid(column: Column, hierarchy: Hierarchy | None) -> CodeGrid | None:
    """Build the grid of a category of codes, if it has prefixes as hierarchy, or many values and none; else None."""
    if column.kind != "category" or column.separator is not None or column.n_values < 2:
        return None
    if hierarchy is None:
        return (
            CodeGrid.from_texts(column.texts())
            if column.n_values > _MAX_VALUES_WITHOUT_PATTERN and are_codes(column.texts())
            else None
        )
    if not isinstance(hierarchy.rule, Prefix) or not are_codes(column.texts()):
        return None
    codes = CodeGrid.from_texts(column.texts(), hierarchy.rule.lengths)
    # Useless if all values share every prefix.
    return codes if len(codes.lengths) > 1 else None


def _lay_out_codes(column: Column, domain: int, codes: CodeGrid) -> Axis:
    place = np.arange(column.n_values + 1, dtype=np.int32)
    positions = np.append(0.0, np.arange(column.n_values) / column.n_values)
    return Axis(column, place, len(place), positions, domain, codes=codes)


def _lay_out_tree(column: Column, domain: int, hierarchy: Hierarchy, lists: Lists | None = None) -> Axis:
    # `lexsort` sorts by the last key first: the top of the hierarchy.
    order = np.lexsort(hierarchy.level_codes) if column.n_values else np.empty(0, dtype=np.int64)
    place = np.zeros(column.n_values + 1, dtype=np.int32)
    place[order + 1] = np.arange(1, column.n_values + 1)
    is_listed = hierarchy.rule is not None and hierarchy.n_levels > 2 and not column.is_measured
    listing = _list_below_top(hierarchy, lists) if lists and is_listed else None
    return Axis(column, place, len(place), np.zeros(len(place)), domain, hierarchy, listing=listing)


def _list_below_top(hierarchy: Hierarchy, lists: Lists) -> Listing | None:
    """Build lists of the labels below the top of a rule's hierarchy; None if these are lists or intervals."""
    level = hierarchy.n_levels - 2
    labels = hierarchy.labels[level]
    if any(cells.parse_cell(label).form != "value" for label in labels):
        return None
    unit = np.append(0, hierarchy.level_codes[level] + 1).astype(np.int32)
    widths = np.append(hierarchy.leaf_share, hierarchy.shares[level])
    return _build_listing(hierarchy, unit, (None, *labels), widths, lists)


def _lay_out_grid(column: Column, domain: int, step: float) -> Axis:
    """Lay out a number column on a grid: values between the same two multiples of `step` share a place."""
    _check_cells(column, step)
    width = Fraction(str(step))
    cell_of_value = np.array([Fraction(text) // width for text in column.texts()], dtype=object)
    first = int(cell_of_value[0]) if len(cell_of_value) else 0
    n_cells = int(cell_of_value[-1]) - first + 1 if len(cell_of_value) else 0
    place = np.append(0, (cell_of_value - first + 1).astype(np.int32)).astype(np.int32)
    edges = tuple(format_exact((first + i) * width) for i in range(n_cells + 1))
    positions = np.append(0.0, np.arange(n_cells) / max(1, n_cells))
    return Axis(column, place, n_cells + 1, positions, domain, None, edges)


def _check_cells(column: Column, step: float) -> None:
    if column.kind not in ("integer", "decimal"):
        raise InputError(
            f"column {column.name!r} of kind {column.kind} was given the grid {step!r}.",
            hint="a grid is for columns of numbers; give dates and times a hierarchy.",
        )
    ends = [Fraction(column.text(code)) // Fraction(str(step)) for code in (0, -1) if column.n_values]
    n_cells = ends[-1] - ends[0] + 1 if ends else 0
    if n_cells > _MOST_CELLS:
        raise InputError(
            f"the grid {step!r} cuts column {column.name!r} into {n_cells} cells.", hint="take a wider one."
        )


def scale_weights(weights: Sequence[float]) -> FloatArray:
    """Scale weights by a power of two, which is exact, so that the largest is near 1 and sums do not overflow."""
    unscaled = np.array(weights, dtype=np.float64)
    return np.asarray(np.ldexp(unscaled, 1 - np.frexp(unscaled.max(initial=0.0))[1]))


def sort_by_content(table: Table, population: CountArray | None = None, *, first: Collection[str] = ()) -> CountArray:
    """Return the order of rows by codes, columns by name, ties in the table's order; rows without records last.

    The columns ``first`` come before the others.
    """
    order = np.lexsort([table.counts] if population is None else [population, table.counts])
    for name in sorted(table.names, key=lambda name: (name not in first, name), reverse=True):
        codes = table.codes[table.index(name), order] + np.int32(1)
        order = order[group.rows_by_class(codes, table.column(name).n_values + 1)[1]]
    return order[np.argsort(table.counts[order] == 0, kind="stable")]
