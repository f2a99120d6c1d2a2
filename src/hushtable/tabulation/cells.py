"""Cells of one or several tables and the sums that bind them, with what a reader knows of every cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CountArray, FloatArray
from hushtable.claims import are_decomposable
from hushtable.errors import InputError, check_choice
from hushtable.wording import careful

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_CELLS: Final = 3_000_000  # of one table: the product of the labels of its dimensions
_MAX_EXACT: Final = 2**52  # sums of cells stay exact as floats
SHOWN, HIDDEN, ABSENT = np.int8(0), np.int8(1), np.int8(2)

CellKey = tuple[tuple[str, str], ...]
"""A cell: its dimensions and labels in the order of names, totals left out. The empty key counts everybody."""


@dataclass(frozen=True, slots=True)
class ReaderKnowledge:
    """What a reader of tables knows besides the cells that are shown.

    Attributes
    ----------
    content : "counts", "sums" or None
        Counts are whole numbers; sums are of any precision. None: counts, if all values are whole numbers.
    zeros : "shown" or "hidden"
        Where zeros are shown, a hidden count is at least 1.
    absent : "zero" or "hidden"
        What a combination means that has no row in its table.
    negative : bool
        Whether a hidden cell may be below zero. Only for sums.
    public : tuple of cells, each of (dimension, label)
        Cells that are known whatever the tables show; the empty one is the total of all.
    alone : tuple of cells
        Hidden cells of one contributor each, who knows its value. The contributor of a count of 1 is one.
    """

    content: Literal["counts", "sums"] | None = None
    zeros: Literal["shown", "hidden"] = "shown"
    absent: Literal["zero", "hidden"] = "zero"
    negative: bool = False
    public: tuple[CellKey, ...] = ((),)
    alone: tuple[CellKey, ...] = ()

    def __post_init__(self) -> None:
        if self.content is not None:
            check_choice("content", self.content, ("counts", "sums"))
        check_choice("zeros", self.zeros, ("shown", "hidden"))
        check_choice("absent", self.absent, ("zero", "hidden"))
        if self.negative and self.content == "counts":
            raise InputError("negative counts.", hint="counts are 0 or more; say content='sums' for sums.")

    @property
    def least_hidden(self) -> float:
        """The smallest value that a hidden cell can have, as far as a reader knows."""
        if self.negative:
            return -np.inf
        return 1.0 if self.content == "counts" and self.zeros == "shown" else 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the knowledge as plain values."""
        return {
            "content": self.content,
            "zeros": self.zeros,
            "absent": self.absent,
            "negative": self.negative,
            "public": [[list(part) for part in key] for key in self.public],
            **({"alone": [[list(part) for part in key] for key in self.alone]} if self.alone else {}),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Dimension:
    """A dimension of a table: its labels, and which label is the sum of which others (positions)."""

    name: str
    labels: tuple[str, ...]
    sums: tuple[tuple[int, tuple[int, ...]], ...]  # (total, its parts), the whole total first
    total: int | None  # the position of the whole total


@dataclass(frozen=True, slots=True, eq=False)
class CellTable:
    """One table: a value for every combination of the labels of its axes, in C order."""

    name: str
    axes: tuple[Dimension, ...]
    values: CountArray  # in units of 10^-decimals; 0 where none is shown
    status: NDArray[np.int8]  # SHOWN, HIDDEN or ABSENT
    at_least: FloatArray  # what a mark such as "<5" says of a hidden cell; -inf and inf where it says nothing
    at_most: FloatArray
    decimals: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of labels per axis."""
        return tuple(len(axis.labels) for axis in self.axes)

    def with_decimals(self, decimals: int) -> CellTable:
        """Return the table in finer units."""
        factor = 10 ** (decimals - self.decimals)
        if len(self.values) and int(np.abs(self.values).max()) * factor >= _MAX_EXACT:
            raise InputError(
                f"values of {self.name} have more than 15 digits in units of 10^-{decimals}.",
                hint="round them to fewer decimals, the same ones in every table.",
            )
        return replace(
            self,
            values=self.values * factor,
            at_least=self.at_least * factor,
            at_most=self.at_most * factor,
            decimals=decimals,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """Sums that hold: in each, the cells times their signs add up to 0."""

    starts: CountArray  # where the entries of each equation begin, and the number of all entries
    cells: CountArray
    signs: FloatArray  # 1 for a total, -1 for its parts
    over: tuple[str, ...]  # the dimension that each adds over

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> CountArray:
        """The equation of every entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def matrix(self, n_cells: int) -> csr_array:
        """Return them as a sparse matrix, an equation a row."""
        from scipy.sparse import csr_array

        # SciPy sorts entries in place, and the first of each equation is its total.
        return csr_array((self.signs, self.cells, self.starts), shape=(len(self), n_cells), copy=True)

    def take(self, chosen: BoolArray) -> Equations:
        """Return some of the equations."""
        lengths = np.diff(self.starts)
        entries = np.repeat(chosen, lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        over = tuple(name for name, is_chosen in zip(self.over, chosen.tolist(), strict=True) if is_chosen)
        return Equations(starts, self.cells[entries], self.signs[entries], over)


@dataclass(frozen=True, slots=True, eq=False)
class CellSystem:
    """All cells of some tables, each once, with the sums that bind them and what a reader knows of each.

    Values are integers in units of 10^-decimals. A cell is known if a table shows it. Cells without a key are no cells
    of a table: they hold the distance of a cell to what its mark allows.
    """

    keys: tuple[CellKey | None, ...]
    values: CountArray  # 0 where unknown
    is_known: BoolArray
    lower: FloatArray  # the least that a reader knows an unknown cell to be
    equations: Equations
    knowledge: ReaderKnowledge
    decimals: int = 0
    is_absent: BoolArray | None = None  # unknown cells without a row in any table: nobody hid them
    is_published: BoolArray | None = None  # shown before: nothing hides them again
    grids: tuple[tuple[tuple[Dimension, ...], CountArray], ...] = ()  # of each table: its axes, and its cells

    @property
    def facts(self) -> tuple[str, ...]:
        """What of the tables no judgement uses."""
        if are_decomposable([[axis.name for axis in axes] for axes, _ in self.grids]):
            return ()
        return (careful("That all tables are sums of one finer table is not used, and who uses it may know more."),)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.keys)

    @property
    def unit(self) -> int:
        """How many units are 1."""
        return int(10**self.decimals)

    @property
    def is_integer(self) -> bool:
        """Whether a reader knows that values are whole numbers of units."""
        return self.knowledge.content == "counts"

    @property
    def hidden(self) -> CountArray:
        """The cells of tables that are hidden."""
        is_cell = np.array([key is not None for key in self.keys], dtype=np.bool_)
        return np.flatnonzero(~self.is_known & is_cell)

    @property
    def marked(self) -> CountArray:
        """The cells that a table hides by a mark."""
        hidden = self.hidden
        return hidden if self.is_absent is None else hidden[~self.is_absent[hidden]]

    def with_hidden(self, is_hidden: BoolArray) -> CellSystem:
        """Return the system where some more cells are hidden, and the least that a reader knows of them."""
        least = self.knowledge.least_hidden
        lower = np.where(is_hidden & self.is_known, np.where(self.values == 0, min(least, 0.0), least), self.lower)
        return replace(self, is_known=self.is_known & ~is_hidden, lower=lower)

    def with_alone(self, keys: Sequence[CellKey]) -> CellSystem:
        """Return the system where some cells, as far as they are hidden, have one contributor."""
        hidden = {self.keys[cell] for cell in self.marked.tolist()}
        alone = dict.fromkeys([*self.knowledge.alone, *(key for key in keys if key in hidden)])
        return replace(self, knowledge=replace(self.knowledge, alone=tuple(alone)))

    def describe(self, cell: int) -> str:
        """Name a cell by its labels."""
        return describe_key(self.keys[cell])

    def describe_equation(self, equation: int) -> str:
        """Name a sum: what is added over which dimension."""
        total = int(self.equations.cells[self.equations.starts[equation]])
        if self.keys[total] is None or not self.equations.over[equation]:
            marked = int(self.equations.cells[self.equations.starts[equation] + 1])
            return f"what the mark of {self.describe(marked)} allows"
        return f"the sum over {self.equations.over[equation]} at {self.describe(total)}"

    def format_value(self, value: float) -> str:
        """Format a number of units."""
        if value in (np.inf, -np.inf):
            return "any number" if value > 0 else "-any number"
        return f"{value / self.unit:,.{self.decimals}f}" if self.decimals else f"{round(value):,}"


def describe_key(key: CellKey | None) -> str:
    """Name a cell by its labels; the one that counts everybody is the total."""
    if key is None:
        return "a limit"
    return ", ".join(f"{name}={label}" for name, label in key) or "the total"


def build_system(tables: Sequence[CellTable], knowledge: ReaderKnowledge | None = None) -> CellSystem:
    """Put the cells of tables together: a cell that several tables hold is one cell, and known if one shows it.

    Raises
    ------
    InputError
        Two tables show different values of one cell, or a total is not the sum of its parts.
    """
    knowledge = knowledge or ReaderKnowledge()
    if knowledge.content is None:
        knowledge = replace(knowledge, content=_choose_content(tables))
    decimals = max(table.decimals for table in tables)
    tables = [table.with_decimals(decimals) for table in tables]
    positions, keys = _number_cells(tables)
    n_cells = len(keys)
    values, is_known = np.zeros(n_cells, dtype=np.int64), np.zeros(n_cells, dtype=np.bool_)
    unit = 10**decimals
    least = knowledge.least_hidden * (1 if knowledge.content == "counts" else unit)
    lower, upper = np.full(n_cells, -np.inf), np.full(n_cells, np.inf)
    is_absent = np.ones(n_cells, dtype=np.bool_)
    for table, places in zip(tables, positions, strict=True):
        status = np.where((table.status == ABSENT) & (knowledge.absent == "zero"), SHOWN, table.status)
        shown = places[status == SHOWN]
        _check_equal(table, keys, shown, values, is_known, table.values[status == SHOWN])
        values[shown], is_known[shown] = table.values[status == SHOWN], True
        is_absent[places[status != ABSENT]] = False
        at_least = np.where(status == ABSENT, min(least, 0.0), np.maximum(table.at_least, least))
        np.maximum.at(lower, places, at_least)
        np.minimum.at(upper, places, table.at_most)
    equations = _merge_equations([_build_equations(*each) for each in zip(tables, positions, strict=True)])
    grids = tuple((table.axes, places.reshape(table.shape)) for table, places in zip(tables, positions, strict=True))
    system = CellSystem(keys, values, is_known, lower, equations, knowledge, decimals, is_absent, grids=grids)
    _check_sums(system)
    return _with_limits(system, np.where(is_known, np.inf, upper))


def _choose_content(tables: Sequence[CellTable]) -> Literal["counts", "sums"]:
    are_counts = all(table.decimals == 0 and (table.values >= 0).all() for table in tables)
    return "counts" if are_counts else "sums"


def _number_cells(tables: Sequence[CellTable]) -> tuple[list[CountArray], tuple[CellKey, ...]]:
    """Return the position of every cell of every table, and the key of each position."""
    numbers: dict[CellKey, int] = {}
    positions = []
    for table in tables:
        if not 0 < np.prod(table.shape, dtype=float) <= MAX_CELLS:
            raise InputError(
                f"{table.name} has {np.prod(table.shape, dtype=float):,.0f} combinations of labels.",
                hint=f"at most {MAX_CELLS:,} are looked at: take fewer dimensions or coarser labels.",
            )
        parts = [
            [() if place == axis.total else ((axis.name, label),) for place, label in enumerate(axis.labels)]
            for axis in table.axes
        ]
        order = sorted(range(len(parts)), key=lambda place: table.axes[place].name)
        found = [
            numbers.setdefault(tuple(part for place in order for part in combination[place]), len(numbers))
            for combination in product(*parts)
        ]
        positions.append(np.array(found, dtype=np.int64))
    return positions, tuple(numbers)


def _check_equal(
    table: CellTable,
    keys: Sequence[CellKey],
    shown: CountArray,
    values: CountArray,
    is_known: BoolArray,
    own: CountArray,
) -> None:
    """Raise InputError if another table shows another value of a cell."""
    differs = np.flatnonzero(is_known[shown] & (values[shown] != own))
    if len(differs):
        raise InputError(
            f"{table.name} shows another value of {describe_key(keys[shown[differs[0]]])} than an earlier table, "
            f"and of {len(differs) - 1:,} more cells.",
            hint="tables are judged together if they count the same people: pass them one by one otherwise.",
        )


def _build_equations(table: CellTable, places: CountArray) -> Equations:
    """Return the sums of a table: for each total of an axis, one for every combination of the other labels."""
    grid = places.reshape(table.shape)
    cells, signs, lengths, over = [], [], [], []
    for position, axis in enumerate(table.axes):
        lines = np.moveaxis(grid, position, -1).reshape(-1, len(axis.labels))
        for total, parts in axis.sums:
            cells.append(lines[:, (total, *parts)].ravel())
            signs.append(np.tile([1.0, *[-1.0] * len(parts)], len(lines)))
            lengths += [len(parts) + 1] * len(lines)
            over += [axis.name] * len(lines)
    if not cells:
        return Equations(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), ())
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Equations(starts, np.concatenate(cells), np.concatenate(signs), tuple(over))


def _merge_equations(parts: Sequence[Equations]) -> Equations:
    """Return the equations of several tables, each once."""
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    merged = Equations(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.signs for part in parts]),
        tuple(name for part in parts for name in part.over),
    )
    if len(parts) == 1:
        return merged
    seen: set[bytes] = set()
    is_first = np.zeros(len(merged), dtype=np.bool_)
    for equation in range(len(merged)):
        entries = merged.cells[merged.starts[equation] : merged.starts[equation + 1]]
        name = np.concatenate([entries[:1], np.sort(entries[1:])]).tobytes()
        is_first[equation] = name not in seen
        seen.add(name)
    return merged.take(is_first)


def find_wrong_sums(system: CellSystem) -> list[tuple[int, int]]:
    """Return the sums whose cells are all known and do not add up, and by how many units each is off."""
    equations = system.equations
    if not len(equations):
        return []
    known = np.minimum.reduceat(system.is_known[equations.cells], equations.starts[:-1])
    sums = np.add.reduceat(system.values[equations.cells] * equations.signs.astype(np.int64), equations.starts[:-1])
    return [(int(place), int(sums[place])) for place in np.flatnonzero(known & (sums != 0))]


def _check_sums(system: CellSystem) -> None:
    wrong = find_wrong_sums(system)
    if wrong:
        shown = "; ".join(
            f"{system.describe_equation(place)}: {system.format_value(abs(off))} too {'much' if off > 0 else 'little'}"
            for place, off in wrong[:5]
        )
        raise InputError(
            f"{len(wrong):,} totals are not the sum of their parts: {shown}.",
            hint="look whether values are rounded, a category has no row (--absent hidden), or a label that is no "
            "total was taken for one (--total).",
        )


def _with_limits(system: CellSystem, upper: FloatArray) -> CellSystem:
    """Return the system where what marks allow at most are sums, too: the limit is a cell and the distance to it.

    So every bound is a lower one.
    """
    marked = np.flatnonzero(np.isfinite(upper))
    if not len(marked):
        return system
    n_marked = len(marked)
    limits = system.n_cells + np.arange(n_marked)
    values = np.concatenate([upper[marked].astype(np.int64), np.zeros(n_marked, dtype=np.int64)])
    lines = np.stack([limits, marked, limits + n_marked], axis=1).tolist()
    return append_equations(system, lines, values, np.repeat([True, False], n_marked))


def append_equations(
    system: CellSystem, lines: Sequence[Sequence[int]], values: CountArray, is_known: BoolArray
) -> CellSystem:
    """Return the system with further cells of no table, of at least 0 each, and sums: a total, then its parts."""
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    entries = np.concatenate([np.asarray(line, dtype=np.int64) for line in lines])
    signs = np.full(len(entries), -1.0)
    signs[starts[:-1]] = 1.0
    ours = Equations(starts, entries, signs, ("",) * len(lines))
    n_cells, n_new = system.n_cells, len(values)
    is_absent = np.zeros(n_cells, dtype=np.bool_) if system.is_absent is None else system.is_absent
    return replace(
        system,
        keys=(*system.keys, *(None,) * n_new),
        values=np.concatenate([system.values, values]),
        is_known=np.concatenate([system.is_known, is_known]),
        lower=np.concatenate([system.lower, np.zeros(n_new)]),
        is_absent=np.concatenate([is_absent, np.zeros(n_new, dtype=np.bool_)]),
        equations=_merge_equations([system.equations, ours]) if len(system.equations) else ours,
    )


def find_sums(
    labels: Sequence[str], total: str | None, children: Mapping[str, Sequence[str]]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield which label is the sum of which others: the whole total of what has no parent, then each parent.

    In place of a part without a label in the table its own parts are taken. One that has none is left out: no row of
    the table counts anybody in it.
    """
    place = {label: position for position, label in enumerate(labels)}

    def find_present(parts: Sequence[str]) -> Iterator[int]:
        for part in parts:
            if part in place:
                yield place[part]
            else:
                yield from find_present(children.get(part, ()))

    sums = [
        (place[parent], tuple(find_present(parts)))
        for parent, parts in children.items()
        if parent in place and parent != total
    ]
    below = {part for _, parts in sums for part in parts}
    top = [position for label, position in place.items() if position not in below and label != total]
    if total is not None and top:
        yield place[total], tuple(top)
    yield from (each for each in sums if each[1])
