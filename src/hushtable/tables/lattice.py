"""The lattice of column sets: on which sets a row is alone, which of them are minimal, and how their classes spread.

Positions are in the order of the walk: columns of many values first, which leave the fewest rows to supersets.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.errors import InputError
from hushtable.kernels import group, keys as kernel, sampling as many_draws, uniques
from hushtable.kernels.evidence import KeyCodes, KeyRows, first_evidence
from hushtable.kernels.keys import KeyRules as KeyRules
from hushtable.search import Budget, n_threads, say_if_first_run

WalkProgress = Callable[[float, int], None]
"""Called now and then with the share of the columns that are done, in [0, 1], and the combinations looked at.

The share never falls, and is 1 when the walk is over.
"""

_WARM_UP_SIZES: Final = (3, 5)
"""Sizes at which a longer walk pauses: what is settled by then need not be walked again."""
_POLL_SECONDS: Final = 0.05
DRAWS_PER_WORD: Final = 64
"""As many as a word has bits."""


class Coverage(NamedTuple):
    """What became of the column sets of one size; the numbers add up to all of them.

    How many of them are walked rather than left depends on the number of threads; what is found does not.
    """

    walked: int
    left: int  # nothing can come of them that is not found already
    pruned: int  # skipped for a reason that may lose something
    not_reached: int  # the budget ended before

    @classmethod
    def from_counts(cls, n_all: int, walked: int, left: int | None = None, pruned: int = 0) -> Coverage:
        """Return the numbers, of so many sets; all that is not walked is left where nothing else is said."""
        left = n_all - walked - pruned if left is None else left
        return cls(walked, left, pruned, n_all - walked - left - pruned)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSets:
    """Rows with column sets on which they are alone."""

    rows: CodeArray = field(repr=False)  # (n_found,), ascending; one for each set, the first smallest first
    paths: NDArray[np.int16] = field(repr=False)  # (n_found, max_size), ascending positions of columns, then -1
    mates: CodeArray = field(repr=False)  # (n_found,), the target that equals the row there
    n_sets: int  # column sets that were looked at, some of them in several stages
    complete_to: int  # up to this size nothing is missing; less than the largest where a budget ended the walk
    coverage: dict[int, Coverage] = field(repr=False)  # by size, of the sets asked for


def build_grid(
    codes: CodeArray,
    widths: Sequence[int] | CountArray,
    probes: CountArray | BoolArray,
    targets: CountArray | BoolArray,
    sizes: Sequence[int],
    *,
    missing_matches: bool = True,
) -> uniques.WalkGrid:
    """Lay rows out for a walk over sets of the sizes asked for, each in 1..n_columns; see `WalkGrid`."""
    allowed = np.zeros(max(sizes) + 1, dtype=np.bool_)
    allowed[list(sizes)] = True
    return uniques.WalkGrid(
        codes,
        np.asarray(widths, dtype=np.int64) + 1,
        np.minimum(probes, 2).astype(np.int8),
        np.minimum(targets, 2).astype(np.int8),
        allowed,
        missing_matches,
    )


def find_smallest_sets(
    rows: uniques.WalkGrid, *, budget: Budget | None = None, progress: WalkProgress | None = None
) -> ColumnSets:
    """Find, for every probe, the smallest column set on which it is alone; of one size, the first of `combinations`.

    The answer does not depend on the number of threads; under a budget of nodes one works. Where a budget ends the
    walk, sets of more than ``complete_to`` columns are smallest ones, but not always the first.
    """
    say_if_first_run(uniques.walk_on, 4)
    max_size = len(rows.allowed) - 1
    n_parts = 1 if budget is not None and budget.nodes is not None else n_threads()
    best = uniques.FoundSets(
        np.full(len(rows.probes), max_size + 1, dtype=np.int32),
        np.full((len(rows.probes), max_size), -1, dtype=np.int16),
        np.full(len(rows.probes), -1, dtype=np.int32),
    )
    stages = _plan_stages(rows.allowed, by_size=budget is not None)
    rows = _with_suffixes(rows)
    watch = Watch(budget, progress, len(rows.codes), n_parts)
    coverage: dict[int, Coverage] = {}
    complete_to = 0
    with ThreadPoolExecutor(n_parts) as pool:
        for done, stage in enumerate(stages):
            watch.start_stage(done, len(stages))
            upto = rows._replace(allowed=rows.allowed[: stage + 1])
            below = _count_sets_below(len(rows.codes), stage)
            # By part, first column and size: sets walked; at size 0, sets of the largest size that need no walk.
            counts = np.zeros((n_parts, len(rows.codes), stage + 1))
            parts = [uniques.FoundSets(best.sizes.copy(), best.paths.copy(), best.mates.copy()) for _ in range(n_parts)]
            walks = [
                pool.submit(uniques.walk_sets, upto, own, watch.pulses[part], counts[part], below, part, n_parts)
                for part, own in enumerate(parts)
            ]
            finished = watch.wait_until_done(walks)
            for own in parts:
                _keep_first(best, own)
            if not finished:
                coverage[stage] = _coverage_at_stop(counts, int(watch.pulses[:, 3].min()), stage)
                break
            coverage |= _coverage_of_stage(counts, [size for size in _list_sizes(upto.allowed) if size > complete_to])
            complete_to = stage
            if not (best.sizes[rows.probes == 1] > stage).any():
                complete_to = max_size
                break
    watch.report_end()
    alone = np.flatnonzero(best.sizes <= max_size).astype(np.int32)
    paths = best.paths[alone]
    # Behind a smaller set, the end of a larger one is still there.
    paths[np.arange(max_size) >= best.sizes[alone, None]] = -1
    coverage = _cover_all_sizes(rows, coverage, complete_to)
    return ColumnSets(alone, paths, best.mates[alone], watch.n_sets, complete_to, coverage)


def find_minimal_sets(
    rows: uniques.WalkGrid, *, budget: Budget | None = None, progress: WalkProgress | None = None
) -> ColumnSets:
    """Find all minimal column sets on which each probe is alone, up to ``complete_to`` columns where a budget ends."""
    say_if_first_run(uniques.walk_all_on, 3)
    max_size = len(rows.allowed) - 1
    stages = [max_size] if budget is None else _plan_stages(rows.allowed, by_size=True)
    watch = Watch(budget, progress, len(rows.codes), 1)
    nothing = np.empty(0, dtype=np.int32)
    sets = nothing, nothing, np.empty((0, max_size), dtype=np.int16)
    coverage: dict[int, Coverage] = {}
    complete_to = 0
    with ThreadPoolExecutor(1) as pool:
        for done, stage in enumerate(stages):
            watch.start_stage(done, len(stages))
            upto = rows._replace(allowed=rows.allowed[: stage + 1])
            counts = np.zeros((1, len(rows.codes), stage + 1))
            walk = pool.submit(uniques.walk_all, upto, watch.pulses[0], counts[0])
            if not watch.wait_until_done([walk]):
                break
            sets = walk.result()
            coverage |= _coverage_of_stage(counts, [size for size in _list_sizes(upto.allowed) if size > complete_to])
            complete_to = stage
    watch.report_end()
    hits, mates, paths = sets
    sizes = (paths >= 0).sum(axis=1)
    order = np.lexsort((sizes, hits))
    hits, mates, paths = hits[order], mates[order], paths[order]
    offsets = np.searchsorted(hits, np.arange(len(rows.probes) + 1))
    is_minimal = uniques.mark_minimal_sets(offsets, paths, len(rows.codes))
    padded = np.full((int(is_minimal.sum()), max_size), -1, dtype=np.int16)
    padded[:, : paths.shape[1]] = paths[is_minimal]
    coverage = _cover_all_sizes(rows, coverage, complete_to)
    return ColumnSets(hits[is_minimal], padded, mates[is_minimal], watch.n_sets, complete_to, coverage)


def hits_by_draw(
    rows: uniques.WalkGrid, draws: Sequence[NDArray[np.int64]], *, budget: Budget | None = None
) -> list[NDArray[np.int64]] | None:
    """Find, for every probe, the draws of targets in which it is alone on a column set with exactly one of the drawn.

    Draws and answer are packed (`pack_draws`), 64 to a walk. None where the budget of nodes, one a walk, ended.
    """
    hits = [np.zeros_like(drawn) for drawn in draws]
    watch = Watch(budget, None, len(rows.codes), len(draws))
    with ThreadPoolExecutor(n_threads()) as pool:
        walks = [
            pool.submit(many_draws.walk_draws, rows, drawn, hit, pulse)
            for drawn, hit, pulse in zip(draws, hits, watch.pulses, strict=True)
        ]
        return hits if watch.wait_until_done(walks) else None


def pack_draws(draws: Iterable[NDArray[np.int64]], n_rows: int) -> list[NDArray[np.int64]]:
    """Return draws of rows as words, one for every row and 64 draws, whose bits say in which draws the row is."""
    words: list[NDArray[np.int64]] = []
    for n_packed, drawn in enumerate(draws):
        bit = n_packed % DRAWS_PER_WORD
        if bit == 0:
            words.append(np.zeros(n_rows, dtype=np.int64))
        words[-1][drawn] |= np.int64(1) << bit
    return words


_LARGEST_SHARE_OF_SUFFIXES: Final = 0.5  # of rows that differ; with more, too few rows are merged


def _with_suffixes(rows: uniques.WalkGrid) -> uniques.WalkGrid:
    """Add which rows are equal from each column on, for the columns from which on many are."""
    n_columns, n_rows = rows.codes.shape
    suffixes, n_suffixes = np.empty_like(rows.codes), np.zeros(n_columns, dtype=np.int64)
    labels, n_classes = np.zeros(n_rows, dtype=np.int64), min(1, n_rows)
    for column in reversed(range(n_columns)):
        # In numpy: the kernel that refines classes would be compiled for this alone.
        keys = labels * rows.widths[column] + rows.codes[column] + 1
        n_keys = n_classes * int(rows.widths[column])
        if n_keys > group.SLOTS_PER_ROW * n_rows + group.SLOTS_ALWAYS:
            break
        is_held = np.zeros(n_keys, dtype=np.bool_)
        is_held[keys] = True
        n_classes = int(is_held.sum())
        if n_classes > _LARGEST_SHARE_OF_SUFFIXES * n_rows:
            break
        labels = (np.cumsum(is_held) - 1)[keys]
        suffixes[column], n_suffixes[column] = labels, n_classes
    return rows._replace(suffixes=suffixes, n_suffixes=n_suffixes)


def _list_sizes(allowed: BoolArray) -> list[int]:
    return [int(size) for size in np.flatnonzero(allowed)]


def _plan_stages(allowed: BoolArray, *, by_size: bool) -> list[int]:
    """Return the sizes at which a walk pauses: all asked for, so that a budget leaves some complete, or two."""
    *smaller, largest = _list_sizes(allowed)
    if by_size:
        return [*smaller, largest]
    return [size for size in _WARM_UP_SIZES if allowed[: size + 1].any() and size < largest] + [largest]


def _count_sets_below(n_columns: int, max_size: int) -> FloatArray:
    """Return how many sets of k columns m columns have, k up to max_size, m below n_columns; rounded beyond 2^53."""
    n_sets = np.ones((max_size + 1, n_columns))
    with np.errstate(over="ignore"):
        for size in range(1, max_size + 1):
            n_sets[size, 0] = 0
            np.cumsum(n_sets[size - 1, :-1], out=n_sets[size, 1:])
    return n_sets


def _coverage_of_stage(counts: FloatArray, sizes: Sequence[int]) -> dict[int, Coverage]:
    """Return what became of the sets of a stage that came to its end; see the kernel for ``counts``."""
    n_columns = counts.shape[1]
    # Every part splits by the first column.
    return {
        size: Coverage.from_counts(
            math.comb(n_columns, size), int((counts[:1] if size == 1 else counts)[:, :, size].sum())
        )
        for size in sizes
    }


def _coverage_at_stop(counts: FloatArray, n_first: int, size: int) -> Coverage:
    """Return what became of the sets of one size when the walk was stopped, of first columns that all parts came to."""
    n_all = math.comb(counts.shape[1], size)
    walked = int((counts[:1] if size == 1 else counts)[:, :n_first, size].sum())
    left = float(counts[:, :n_first, 0].sum())
    return Coverage.from_counts(n_all, walked, min(int(left), n_all - walked) if math.isfinite(left) else 0)


def _cover_all_sizes(rows: uniques.WalkGrid, coverage: Mapping[int, Coverage], complete_to: int) -> dict[int, Coverage]:
    """Add the sizes that no stage came to: nothing can come of them, or they were not reached."""
    return {
        size: coverage.get(size)
        or Coverage.from_counts(math.comb(len(rows.codes), size), 0, None if size <= complete_to else 0)
        for size in _list_sizes(rows.allowed)
    }


def _keep_first(best: uniques.FoundSets, new_sets: uniques.FoundSets) -> None:
    """Update the best sets by new ones that are smaller, or as small and earlier in order."""
    is_tie = new_sets.sizes == best.sizes
    rows = np.flatnonzero((new_sets.sizes < best.sizes) | is_tie)
    best_paths, new_paths = best.paths[rows], new_sets.paths[rows]
    is_used = np.arange(best_paths.shape[1]) < new_sets.sizes[rows, None]
    differs = (best_paths != new_paths) & is_used
    first_difference = differs.argmax(axis=1)
    every = np.arange(len(rows))
    is_earlier = differs.any(axis=1) & (new_paths[every, first_difference] < best_paths[every, first_difference])
    rows = rows[~is_tie[rows] | is_earlier]
    best.sizes[rows] = new_sets.sizes[rows]
    best.paths[rows] = new_sets.paths[rows]
    best.mates[rows] = new_sets.mates[rows]


class Watch:
    """Looks in on running walks: reports their progress, and stops them when the budget ends."""

    def __init__(self, budget: Budget | None, progress: WalkProgress | None, n_columns: int, n_parts: int) -> None:
        budget = budget or Budget()
        self._deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        self._progress = progress
        self._n_columns = n_columns
        self._n_done, self._n_stages = 0, 1
        # Sets looked at, the number at which to stop, first column, first columns settled: see the kernel.
        self.pulses = np.zeros((n_parts, 4), dtype=np.int64)
        self.pulses[:, 1] = budget.nodes or np.iinfo(np.int64).max

    @property
    def n_sets(self) -> int:
        """How many sets were looked at."""
        return int(self.pulses[:, 0].sum())

    def start_stage(self, n_done: int, n_stages: int) -> None:
        """Begin another stage, before its walks do: they start over at the first column."""
        self.pulses[:, 2:] = 0
        if self._deadline and time.monotonic() > self._deadline:
            self.pulses[:, 1] = 0
        self._n_done, self._n_stages = n_done, n_stages

    def report_end(self) -> None:
        """Report that the walk is over."""
        if self._progress:
            self._progress(1.0, self.n_sets)

    def wait_until_done(self, walks: Sequence[Future[Any]]) -> bool:
        """Wait; return whether the walks came to their end."""
        while wait(walks, timeout=_POLL_SECONDS if self._deadline or self._progress else None).not_done:
            if self._progress:
                of_stage = float(self.pulses[:, 2].mean()) / self._n_columns
                self._progress((self._n_done + of_stage) / self._n_stages, self.n_sets)
            if self._deadline and time.monotonic() > self._deadline:
                self.pulses[:, 1] = 0
        for walk in walks:
            walk.result()
        return bool((self.pulses[:, 0] < self.pulses[:, 1]).all())


def iterate_partitions(
    codes: CodeArray, widths: Sequence[int], sets: Iterable[Sequence[int]], *, missing_matches: bool = True
) -> Iterator[tuple[CodeArray, int]]:
    """Yield the class of every row (-1 is none) and their number for each column set; like beginnings cost nothing."""
    done: list[int] = []
    stack = [(np.zeros(codes.shape[1], dtype=np.int32), min(1, codes.shape[1]))]
    for columns in sets:
        shared = 0
        while shared < min(len(done), len(columns)) and done[shared] == columns[shared]:
            shared += 1
        del stack[shared + 1 :]
        for column in columns[shared:]:
            labels, n_classes = stack[-1]
            base = labels if missing_matches else np.where(codes[column] < 0, np.int32(-1), labels)
            refined = np.empty_like(labels)
            stack.append((refined, group.refine_classes(base, n_classes, codes[column], widths[column], refined)))
        done = list(columns)
        yield stack[-1]


def find_unique_rows(labels: CodeArray, n_classes: int, counts: CountArray) -> tuple[CodeArray, CountArray]:
    """Return the row of every class that is one record, -1 for others; and the sizes of all classes."""
    sizes = group.class_sizes(labels, counts, n_classes)
    row_of_class = np.full(n_classes, -1, dtype=np.int32)
    rows = np.flatnonzero((labels >= 0) & (counts > 0))
    row_of_class[labels[rows]] = rows
    row_of_class[sizes != 1] = -1
    return row_of_class, sizes


def renyi_entropy(sizes: CountArray, alpha: float) -> float:
    """Return the Renyi entropy of class sizes as a share of its maximum, in [0, 1]; 0 for one class.

    log2(sum p^alpha) / (1 - alpha), divided by the log2 of the number of classes (Renyi 1961); alpha = 1 is Shannon's.
    """
    if len(sizes) <= 1:
        return 0.0
    shares = sizes / sizes.sum()
    if alpha == 1:
        bits = -float((shares * np.log2(shares)).sum())
    elif math.isinf(alpha):
        bits = -math.log2(shares.max())
    else:
        # Scaled by the largest share, so that a high power does not vanish.
        largest = float(shares.max())
        powers = float(((shares / largest) ** alpha).sum())
        bits = (math.log2(powers) + alpha * math.log2(largest)) / (1 - alpha)
    return min(1.0, max(0.0, bits / math.log2(len(sizes))))


_MAX_CELLS = 2**31  # of the rows of partitions that the kernel holds at a time


@dataclass(frozen=True, slots=True, eq=False)
class KeySets:
    """Minimal keys, those of few columns first, then in the order of their columns."""

    members: BoolArray = field(repr=False)  # (n_keys, n_columns)
    pairs: CountArray = field(repr=False)  # (n_keys,), pairs of rows that agree on the key
    repeated: CountArray = field(repr=False)  # (n_keys,), rows that are not alone on it
    n_sets: int  # column sets that were looked at
    complete_to: int  # up to this size no key is missing


def find_all_keys(
    codes: CodeArray,
    widths: CountArray,
    rules: KeyRules,
    *,
    budget: Budget | None = None,
    progress: WalkProgress | None = None,
) -> KeySets:
    """Find all minimal keys, smaller ones first under a budget; ``widths`` count the missing value.

    Each is certified: it was counted, and a pair of rows shows why no column can go. All rows differ if none may
    repeat.
    """
    n_columns, n_rows = codes.shape
    if n_rows * (n_columns + 1) >= _MAX_CELLS:
        raise InputError(
            f"all keys of {n_rows:,} rows of {n_columns} columns are too many to look for.",
            hint="give sample, which finds one key, or fewer columns.",
        )
    if _is_key(n_rows * (n_rows - 1) // 2, n_rows if n_rows > 1 else 0, rules):
        # Even no column at all would be a key; a key has one.
        alone, rows = rules._replace(max_left=-1, max_size=1), _columns_only(codes, widths)
        singles = np.array([kernel.add_until_key(rows, alone, np.array([j]))[1:] for j in range(n_columns)])
        return _restore_column_order(
            np.eye(n_columns, dtype=np.bool_), np.arange(n_columns), singles, n_columns, rules.max_size
        )
    order = _separating_columns_first(codes)
    rows = _build_key_rows(codes[order], widths[order])
    say_if_first_run(kernel.search_keys, 8)
    n_words = (n_columns + 63) // 64
    evidence = first_evidence(rows, rules.seed) if rules.max_left == 0 else np.zeros((0, n_words), dtype=np.uint64)
    stages = [rules.max_size] if budget is None else [*range(1, rules.max_size + 1)]
    watch = Watch(budget, progress, n_columns, 1)
    complete_to = 0
    words, key_counts = np.zeros((0, n_words), dtype=np.uint64), np.zeros((0, 2), dtype=np.int64)
    with ThreadPoolExecutor(1) as pool:
        for done, stage in enumerate(stages):
            watch.start_stage(done, len(stages))
            upto = rules._replace(max_size=stage)
            if budget is None and progress is None:
                # Nobody looks in: a thread would take longer to start than small tables do.
                result = kernel.search_keys(rows, upto, evidence, watch.pulses[0])
            else:
                walk = pool.submit(kernel.search_keys, rows, upto, evidence, watch.pulses[0])
                watch.wait_until_done([walk])
                result = walk.result()
            more, more_counts, evidence, is_cut, is_finished = result
            if is_finished:
                complete_to = stage if is_cut else rules.max_size
                words, key_counts = more, more_counts
            else:
                # An earlier stage may have found what this one did not come to.
                words, once = np.unique(np.concatenate((words, more)), axis=0, return_index=True)
                key_counts = np.concatenate((key_counts, more_counts))[once]
            if not is_finished or not is_cut:
                break
    watch.report_end()
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :n_columns]
    return _restore_column_order(bits.astype(np.bool_), order, key_counts, watch.n_sets, complete_to)


def find_key_in_sample(codes: CodeArray, widths: CountArray, rules: KeyRules, n_sampled: int) -> KeySets:
    """Find one minimal key, greedily among sampled rows, then counted and pruned on all; None where it is too large."""
    n_columns, n_rows = codes.shape
    sample = np.sort(np.random.default_rng(rules.seed).choice(n_rows, min(n_sampled, n_rows), replace=False))
    say_if_first_run(kernel.order_greedily, 2)
    order = kernel.order_greedily(np.ascontiguousarray(codes[:, sample]), widths)
    rows = _columns_only(codes, widths)
    n_used, pairs, repeated = kernel.add_until_key(rows, rules, order)
    n_sets = n_used
    key = order[: max(1, n_used)]
    is_key = _is_key(pairs, repeated, rules)
    # The last column is needed: without it the first ones were no key.
    for column in key[-2::-1] if is_key else ():
        fewer = key[key != column]
        _, pairs, repeated = kernel.add_until_key(rows, rules, fewer)
        n_sets += 1
        if _is_key(pairs, repeated, rules):
            key = fewer
    key_counts = kernel.add_until_key(rows, rules._replace(max_left=-1), key)[1:]
    members = np.isin(np.arange(n_columns), key)[None]
    result = members[: int(is_key and len(key) <= rules.max_size)]
    return _restore_column_order(result, np.arange(n_columns), np.array([key_counts])[: len(result)], n_sets, 0)


def _build_key_rows(codes: CodeArray, widths: CountArray) -> KeyRows:
    # Half as many bytes where codes are few: most of the search's time is spent on fetching them.
    narrow: KeyCodes = codes.astype(np.int16) if widths.max() <= 2**15 else codes
    return KeyRows(narrow, np.ascontiguousarray(narrow.T), widths)


def _columns_only(codes: CodeArray, widths: CountArray) -> KeyRows:
    return KeyRows(codes, np.empty((0, len(codes)), dtype=np.int32), widths)


def _is_key(pairs: int, repeated: int, rules: KeyRules) -> bool:
    return (pairs if rules.by_pairs else repeated) <= rules.max_left


def _separating_columns_first(codes: CodeArray) -> CountArray:
    """Return the columns in the order of how many pairs of rows agree in them, few first."""
    agreeing = [float((np.bincount(column + 1).astype(np.float64) ** 2).sum()) for column in codes]
    return np.argsort(agreeing, kind="stable")


def _restore_column_order(
    members: BoolArray, order: CountArray, key_counts: CountArray, n_sets: int, complete_to: int
) -> KeySets:
    """Put keys whose columns are in an order of their own into that of the table."""
    sets = np.empty_like(members)
    sets[:, order] = members
    # Of one size, as `itertools.combinations` has them.
    packed = 255 - np.packbits(sets, axis=1)
    by_size = np.lexsort((*packed.T[::-1], sets.sum(axis=1)))
    return KeySets(sets[by_size], key_counts[by_size, 0], key_counts[by_size, 1], n_sets, complete_to)
