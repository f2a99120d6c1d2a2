"""Collisions: records that are alone in their table on some columns and equal exactly one original there."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, tee
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns import Column
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.kernels import uniques
from hushtable.search import Budget, Clock, Trace
from hushtable.tables import (
    Coverage,
    Joint,
    JointRows,
    Table,
    WalkProgress,
    find_unique_rows,
    iterate_partitions,
    lattice,
    renyi_entropy,
    to_decimals,
)

TREE_COLUMNS: Final = (
    "check_order",
    "combo_size",
    "field_combo",
    "base_combo",
    "base_is_pruned",
    "combo_entropy",
    "base_entropy",
    "entropy_gain",
    "is_pruned",
    "mpuccs_cnt",
    "mpuccs_collision_cnt",
    "field_weighted",
    "total_weighted",
    "weighted_mpuccs_collision_cnt",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How mpUCCs are looked for; the parameters of `hushtable.mpuccs` of the same names."""

    all_minimal: bool
    missing: str
    min_entropy_delta: float | None
    renyi_alpha: float
    field_decay_factor: float


@dataclass(frozen=True, slots=True, eq=False)
class Collisions:
    """Records with their column sets: by size, then by the order of sets, then by record."""

    rows: CountArray = field(repr=False)  # (n_found,), of the attacking table
    mates: CountArray = field(repr=False)  # (n_found,): rows of the original
    paths: NDArray[np.int16] = field(repr=False)  # (n_found, max_size): columns, then -1
    is_first: BoolArray = field(repr=False)  # the first smallest set of its record
    pruned: frozenset[tuple[int, ...]] = field(repr=False)  # skipped for their entropy
    complete_to: int  # up to this size nothing is missing
    coverage: dict[int, Coverage] = field(repr=False)  # by size
    trace: Trace

    @property
    def sizes(self) -> CountArray:
        """How many columns each set has."""
        return np.asarray((self.paths >= 0).sum(axis=1))

    @property
    def n_identified(self) -> int:
        """How many records have a set."""
        return int(self.is_first.sum())


def find_collisions(
    joint: Joint,
    sizes: Sequence[int],
    how: Settings,
    budget: Budget | None = None,
    progress: WalkProgress | None = None,
) -> Collisions:
    """Find the records of the second table that collide with one of the first; one table collides with itself."""
    codes, attacking, originals = _stack_rows(joint.tables[:2])
    grid = lattice.build_grid(
        codes, joint.widths, attacking, originals, sizes, missing_matches=how.missing == "category"
    )
    began = time.perf_counter()
    pruned: frozenset[tuple[int, ...]] = frozenset()
    if how.min_entropy_delta is not None:
        sets, pruned = _prune_by_entropy(
            grid, attacking, sizes, how.min_entropy_delta, how.renyi_alpha, budget=budget, progress=progress
        )
    elif how.all_minimal:
        sets = lattice.find_minimal_sets(grid, budget=budget, progress=progress)
    else:
        sets = lattice.find_smallest_sets(grid, budget=budget, progress=progress)
    trace = Trace("mpuccs", sets.n_sets, time.perf_counter() - began, complete=sets.complete_to == sizes[-1])
    is_first = np.diff(sets.rows, prepend=-1) != 0
    n_columns = (sets.paths >= 0).sum(axis=1)
    order = np.lexsort((sets.rows, *sets.paths.T[::-1], n_columns))
    return Collisions(
        sets.rows[order].astype(np.int64),
        sets.mates[order].astype(np.int64) - (0 if len(joint.tables) == 1 else joint.tables[1].codes.shape[1]),
        sets.paths[order],
        is_first[order],
        pruned,
        sets.complete_to,
        sets.coverage,
        trace,
    )


def count_by_draw(
    joint: Joint,
    sizes: Sequence[int],
    how: Settings,
    pruned: Collection[tuple[int, ...]],
    draws: Iterable[CountArray],
    budget: Budget | None = None,
) -> CountArray | None:
    """Count, for each of many draws of targets, the records of the second table that collide with one of those drawn.

    Draws are of the rows of the first table and, counted on after them, of the third. Each count is that of
    `find_collisions` with the drawn rows for originals, without sets that were ``pruned`` there; 0s follow the last.
    None where the budget ended.
    """
    codes, attacking, targets = _stack_rows(joint.tables)
    grid = lattice.build_grid(codes, joint.widths, attacking, targets, sizes, missing_matches=how.missing == "category")
    n_attacking = len(joint.tables[1].counts)
    words = lattice.pack_draws((n_attacking + drawn for drawn in draws), codes.shape[1])
    if pruned:
        hits = _hits_outside(grid, sizes, pruned, words, budget)
    else:
        hits = lattice.hits_by_draw(grid, words, budget=budget)
    if hits is None:
        return None
    return np.array([((hit[:n_attacking] >> bit) & 1).sum() for hit in hits for bit in range(lattice.DRAWS_PER_WORD)])


def detail_columns(joint: Joint, collisions: Collisions) -> dict[str, list[Any]]:
    """List collisions as plain columns, with their values where the codes still have a meaning.

    Positions are those of the tables that the user passed.
    """
    attacking = _attacking_rows(joint)
    paths = [tuple(path[path >= 0].tolist()) for path in collisions.paths]
    columns: dict[str, list[Any]] = {
        "combo_size": collisions.sizes.tolist(),
        "syn_idx": attacking.positions[collisions.rows].tolist(),
        "field_combo": [tuple(joint.names[j] for j in path) for path in paths],
    }
    if joint.values:
        columns["value_combo"] = [
            tuple(joint.text(j, attacking.codes[j, row]) for j in path)
            for row, path in zip(collisions.rows, paths, strict=True)
        ]
    columns["ori_idx"] = joint.tables[0].positions[collisions.mates].tolist()
    return columns


def tree_columns(joint: Joint, sizes: Sequence[int], collisions: Collisions, how: Settings) -> dict[str, list[Any]]:
    """List every column set as plain columns, whether it was worth walking or not."""
    attacking = _attacking_rows(joint)
    n_first = Counter(tuple(path[path >= 0].tolist()) for path in collisions.paths[collisions.is_first])
    entropies: dict[tuple[int, ...], float] = {}
    columns: dict[str, list[Any]] = {name: [] for name in TREE_COLUMNS}
    sets, again = tee(_column_sets_by_size(len(joint.names), sizes))
    classes = iterate_partitions(attacking.codes, joint.widths, again, missing_matches=how.missing == "category")
    for order, (path, (labels, n_classes)) in enumerate(zip(sets, classes, strict=True), start=1):
        alone, class_sizes = find_unique_rows(labels, n_classes, attacking.counts)
        base = _base_columns(path, sizes)
        entropies[path] = renyi_entropy(class_sizes[class_sizes > 0], how.renyi_alpha)
        weight = how.field_decay_factor ** (len(path) - 1)
        row = (
            order,
            len(path),
            tuple(joint.names[j] for j in path),
            tuple(joint.names[j] for j in base) if base else None,
            base in collisions.pruned if base else None,
            entropies[path],
            entropies[base] if base else None,
            entropies[path] - entropies[base] if base else None,
            path in collisions.pruned,
            int((alone >= 0).sum()),
            n_first[path],
            weight,
            weight,
            n_first[path] * weight,
        )
        for name, value in zip(TREE_COLUMNS, row, strict=True):
            columns[name].append(value)
    return columns


def _attacking_rows(joint: Joint) -> JointRows:
    return joint.tables[min(1, len(joint.tables) - 1)]


def _stack_rows(tables: Sequence[JointRows]) -> tuple[CodeArray, CountArray, CountArray]:
    """Stack the attacking rows before the others; return the codes, and each row's counts as attacker and as target."""
    if len(tables) == 1:
        (only,) = tables
        return only.codes, only.counts, only.counts
    attacking, *hit = tables[1], tables[0], *tables[2:]
    n_attacking, n_hit = (sum(len(each.counts) for each in some) for some in ([attacking], hit))
    return (
        np.concatenate([each.codes for each in (attacking, *hit)], axis=1),
        np.concatenate([attacking.counts, np.zeros(n_hit, dtype=np.int64)]),
        np.concatenate([np.zeros(n_attacking, dtype=np.int64), *(each.counts for each in hit)]),
    )


def _column_sets_by_size(n_columns: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return (path for size in sizes for path in combinations(range(n_columns), size))


def _base_columns(path: tuple[int, ...], sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the first columns of a set, as many as the next smaller size asked for has; none where there is none."""
    return path[: max((size for size in sizes if size < len(path)), default=0)]


def _prune_by_entropy(
    grid: uniques.WalkGrid,
    attacking: CountArray,
    sizes: Sequence[int],
    delta: float,
    alpha: float,
    *,
    budget: Budget | None,
    progress: WalkProgress | None,
) -> tuple[lattice.ColumnSets, frozenset[tuple[int, ...]]]:
    """Find first smallest sets among those that add entropy to their base; return also the sets skipped."""
    n_columns = len(grid.codes)
    clock = Clock(budget or Budget())
    entropies: dict[tuple[int, ...], float] = {}
    skipped: set[tuple[int, ...]] = set()
    n_walked: Counter[int] = Counter()
    n_all = {size: math.comb(n_columns, size) for size in sizes}
    is_open = attacking == 1
    hits_by_set: list[tuple[tuple[int, ...], CodeArray, CodeArray]] = []
    sets, again = tee(_column_sets_by_size(n_columns, sizes))
    classes = iterate_partitions(grid.codes, (grid.widths - 1).tolist(), again, missing_matches=grid.missing_matches)
    for path, (labels, n_classes) in zip(sets, classes, strict=True):
        if clock.is_over(n_walked.total()):
            break
        n_walked[len(path)] += 1
        if progress:
            progress(n_walked.total() / sum(n_all.values()), n_walked.total())
        alone, class_sizes = find_unique_rows(labels, n_classes, attacking)
        entropies[path] = renyi_entropy(class_sizes[class_sizes > 0], alpha)
        base = _base_columns(path, sizes)
        if base and (base in skipped or entropies[path] - entropies[base] <= delta):
            skipped.add(path)
            continue
        targets, _ = find_unique_rows(labels, n_classes, grid.targets.astype(np.int64))
        hits = alone[(alone >= 0) & (targets >= 0)]
        hits = hits[is_open[hits]]
        is_open[hits] = False
        hits_by_set.append((path, hits, targets[labels[hits]]))
    n_skipped = Counter(map(len, skipped))
    return (
        lattice.ColumnSets(
            *_sort_by_row(hits_by_set, sizes[-1]),
            n_walked.total() - len(skipped),
            max((size for size in sizes if n_walked[size] == n_all[size]), default=0),
            {
                size: Coverage.from_counts(n_all[size], n_walked[size] - n_skipped[size], 0, n_skipped[size])
                for size in sizes
            },
        ),
        frozenset(skipped),
    )


def _hits_outside(
    grid: uniques.WalkGrid,
    sizes: Sequence[int],
    pruned: Collection[tuple[int, ...]],
    draws: Sequence[NDArray[np.int64]],
    budget: Budget | None,
) -> list[NDArray[np.int64]] | None:
    """Find hits by draw on the column sets that were not pruned, one after the other; each is walked as one column."""
    clock = Clock(budget or Budget())
    attacking, targets = grid.probes.astype(np.int64), grid.targets.astype(np.int64)
    hits = [np.zeros_like(drawn) for drawn in draws]
    sets = (path for path in _column_sets_by_size(len(grid.codes), sizes) if path not in pruned)
    classes = iterate_partitions(grid.codes, (grid.widths - 1).tolist(), sets, missing_matches=grid.missing_matches)
    for n_seen, (labels, n_classes) in enumerate(classes):
        if clock.is_over(n_seen):
            return None
        one = lattice.build_grid(labels[None], [n_classes], attacking, targets, [1], missing_matches=False)
        for hit, more in zip(hits, lattice.hits_by_draw(one, draws) or (), strict=True):
            hit |= more
    return hits


def _sort_by_row(
    sets: Sequence[tuple[tuple[int, ...], CodeArray, CodeArray]], max_size: int
) -> tuple[CodeArray, NDArray[np.int16], CodeArray]:
    """Return rows, sets and targets by row, of sets each with its rows and their targets."""
    nobody = np.empty(0, dtype=np.int32)
    rows = np.concatenate([nobody, *(hits for _, hits, _ in sets)])
    mates = np.concatenate([nobody, *(targets for _, _, targets in sets)])
    paths = np.full((len(rows), max_size), -1, dtype=np.int16)
    end = 0
    for path, hits, _ in sets:
        paths[end : end + len(hits), : len(path)] = path
        end += len(hits)
    order = np.argsort(rows)
    return rows[order], paths[order], mates[order]


TIME_UNITS: Final = ("D", "h", "m", "s", "ms", "us")
"""Units of time as numpy writes them, the coarsest first."""

# The digits that a float of a usual size holds reliably.
_MAX_FLOAT_DECIMALS: Final = 15
# Powers of ten that are floats.
_MAX_GIVEN_DECIMALS: Final = 300


def numeric_precisions(tables: Sequence[Table], precision: str | int | Mapping[str, int] | None) -> dict[str, int]:
    """Return with how many decimals the columns of numbers are compared; columns that are not in it, exactly.

    ``"auto"`` takes, for every column of decimal numbers, the fewest that write all values of one of the tables.
    """
    able = _columns_of(tables, ("integer", "decimal"))
    if precision == "auto":
        return {name: min(map(_n_decimals, columns)) for name, columns in able.items() if _has_kind("decimal", columns)}
    return _precision_by_column(
        precision,
        able,
        lambda value: type(value) is int and abs(value) <= _MAX_GIVEN_DECIMALS,
        (
            "numeric_precision",
            "numbers",
            f'a whole number of decimals from -{_MAX_GIVEN_DECIMALS} to {_MAX_GIVEN_DECIMALS}, "auto" or None',
        ),
    )


def datetime_precisions(tables: Sequence[Table], precision: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return to which unit the columns of moments are cut before they are compared.

    ``"auto"`` takes, for every column, the coarsest unit in which all moments of one of the tables are whole.
    """
    able = _columns_of(tables, ("date", "datetime"))
    if precision == "auto":
        finer = {name: columns for name, columns in able.items() if _has_kind("datetime", columns)}
        return {name: min(map(_coarsest_unit, columns), key=TIME_UNITS.index) for name, columns in finer.items()}
    return _precision_by_column(
        precision,
        able,
        lambda value: value in TIME_UNITS,
        ("datetime_precision", "dates", f'one of {quote_names(TIME_UNITS)}, "auto" or None'),
    )


def _columns_of(tables: Sequence[Table], kinds: tuple[str, str]) -> dict[str, list[Column]]:
    """Return the columns that hold values of two kinds only, or none, as they are in tables that have values there."""
    columns = {}
    for name in tables[0].names:
        valued = [column for column in (table.column(name) for table in tables) if column.n_values]
        if all(column.kind in kinds for column in valued):
            columns[name] = valued
    return columns


def _has_kind(kind: str, columns: Sequence[Column]) -> bool:
    return any(column.kind == kind for column in columns)


def _precision_by_column(
    precision: Any, able: Mapping[str, Any], fits: Callable[[Any], bool], words: tuple[str, str, str]
) -> dict[str, Any]:
    """Return a precision for every column it is for; ``words`` are the option, what it is for, and what it may be."""
    option, kind, expected = words
    if precision is None:
        return {}
    by_column = dict(precision) if isinstance(precision, Mapping) else dict.fromkeys(able, precision)
    for value in by_column.values() if isinstance(precision, Mapping) else [precision]:
        if not fits(value):
            raise InputError(f"{option} = {value!r}.", hint=f"give {expected}.")
    unable = [name for name in by_column if name not in able]
    if unable:
        hint = f"it may name {quote_names(able)}." if able else f"no column looked at holds {kind}; leave it out."
        raise ColumnError(f"{option} names {quote_names(unable)}, which hold no {kind}.", hint=hint)
    return by_column


def _n_decimals(column: Column) -> int:
    if column.kind == "integer":
        return 0
    written = (n for n in range(_MAX_FLOAT_DECIMALS) if (to_decimals(column.values, n) == column.values).all())
    return next(written, _MAX_FLOAT_DECIMALS)


def _coarsest_unit(column: Column) -> str:
    whole = (unit for unit in TIME_UNITS[:-1] if (column.values.astype(f"datetime64[{unit}]") == column.values).all())
    return next(whole, TIME_UNITS[-1])
