"""Keys: the minimal column sets on which all rows differ, or all but a few."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.errors import InputError, with_hint
from hushtable.kernels import keys as kernel
from hushtable.search import Budget, say_if_first_run
from hushtable.tables.lattice.column_sets import WalkProgress, Watch

__all__ = ["KeyRule", "KeySets", "all_keys", "sampled_key"]

_MOST_PLACES = 2**31  # of the rows of partitions that the kernel holds at a time


@dataclass(frozen=True, slots=True)
class KeyRule:
    """What a key is: how many pairs of rows may agree on it, or how many rows may be not alone; and its size."""

    by_pairs: bool
    most: int
    max_size: int


@dataclass(frozen=True, slots=True, eq=False)
class KeySets:
    """Minimal keys, those of few columns first, then in the order of their columns.

    Attributes
    ----------
    members : ndarray of bool, shape (n_keys, n_columns)
    pairs : ndarray of int64, shape (n_keys,)
        Pairs of rows that agree on the key.
    repeated : ndarray of int64, shape (n_keys,)
        Rows that are not alone on it.
    n_sets : int
        Column sets that were looked at.
    complete_to : int
        Up to this size no key is missing.
    """

    members: BoolArray = field(repr=False)
    pairs: CountArray = field(repr=False)
    repeated: CountArray = field(repr=False)
    n_sets: int
    complete_to: int


def all_keys(
    codes: CodeArray,
    widths: CountArray,
    rule: KeyRule,
    *,
    seed: int = 0,
    budget: Budget | None = None,
    progress: WalkProgress | None = None,
) -> KeySets:
    """Find all minimal keys. Each is certified: it was counted, and a pair of rows shows why no column can go.

    Under a budget, keys of one column are searched first, then of two, and so on.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_columns, n_rows)
        Where no row may be repeated (``rule.most`` is 0), all rows differ.
    widths : ndarray of int64, shape (n_columns,)
        Codes of each column, missing counted.
    """
    n_columns, n_rows = codes.shape
    if n_rows * (n_columns + 1) >= _MOST_PLACES:
        msg = f"all keys of {n_rows:,} rows of {n_columns} columns are too many to look for."
        raise InputError(with_hint(msg, "give sample, which finds one key, or fewer columns."))
    if _is_key(n_rows * (n_rows - 1) // 2, n_rows if n_rows > 1 else 0, rule):
        # Even no column at all would be a key; a key has one.
        alone = kernel.KeyRules(rule.by_pairs, -1, 1, seed)
        rows = _columns_only(codes, widths)
        singles = np.array([kernel.figures(rows, alone, np.array([j]))[1:] for j in range(n_columns)])
        return _in_order(np.eye(n_columns, dtype=np.bool_), np.arange(n_columns), singles, n_columns, rule.max_size)
    order = _most_telling_first(codes)
    rows = _rows(codes[order], widths[order])
    say_if_first_run(kernel.search, 8)
    n_words = (n_columns + 63) // 64
    is_exact = rule.most == 0
    evidence = kernel.first_evidence(rows, seed) if is_exact else np.zeros((0, n_words), dtype=np.uint64)
    stages = [rule.max_size] if budget is None else [*range(1, rule.max_size + 1)]
    watch = Watch(budget, progress, n_columns, 1)
    complete_to = 0
    words, told = np.zeros((0, n_words), dtype=np.uint64), np.zeros((0, 2), dtype=np.int64)
    with ThreadPoolExecutor(1) as pool:
        for done, stage in enumerate(stages):
            watch.enter(done, len(stages))
            rules = kernel.KeyRules(rule.by_pairs, rule.most, stage, seed)
            if budget is None and progress is None:
                # Nobody looks in: a thread would take longer to start than small tables do.
                found = kernel.search(rows, rules, evidence, watch.pulses[0])
            else:
                walk = pool.submit(kernel.search, rows, rules, evidence, watch.pulses[0])
                watch.until_done([walk])
                found = walk.result()
            more, more_told, evidence, is_cut, is_finished = found
            if is_finished:
                complete_to = stage if is_cut else rule.max_size
                words, told = more, more_told
            else:
                # An earlier stage may have found what this one did not come to.
                words, once = np.unique(np.concatenate((words, more)), axis=0, return_index=True)
                told = np.concatenate((told, more_told))[once]
            if not is_finished or not is_cut:
                break
    watch.leave()
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")[:, :n_columns]
    return _in_order(bits.astype(np.bool_), order, told, watch.n_sets, complete_to)


def sampled_key(codes: CodeArray, widths: CountArray, rule: KeyRule, n_sampled: int, *, seed: int = 0) -> KeySets:
    """Find one minimal key: greedily among sampled rows, then counted and pruned on all rows.

    None is returned where the key has too many columns: others may exist.
    """
    n_columns, n_rows = codes.shape
    sample = np.sort(np.random.default_rng(seed).choice(n_rows, min(n_sampled, n_rows), replace=False))
    say_if_first_run(kernel.greedy, 2)
    order = kernel.greedy(np.ascontiguousarray(codes[:, sample]), widths)
    rows = _columns_only(codes, widths)
    rules = kernel.KeyRules(rule.by_pairs, rule.most, rule.max_size, seed)
    n_used, pairs, repeated = kernel.figures(rows, rules, order)
    n_sets = n_used
    key = order[: max(1, n_used)]
    is_key = _is_key(pairs, repeated, rule)
    # The last column is needed: without it the first ones were no key.
    for column in key[-2::-1] if is_key else ():
        fewer = key[key != column]
        _, pairs, repeated = kernel.figures(rows, rules, fewer)
        n_sets += 1
        if _is_key(pairs, repeated, rule):
            key = fewer
    left = kernel.figures(rows, rules._replace(most=-1), key)[1:]
    members = np.isin(np.arange(n_columns), key)[None]
    found = members[: int(is_key and len(key) <= rule.max_size)]
    return _in_order(found, np.arange(n_columns), np.array([left])[: len(found)], n_sets, 0)


def _rows(codes: CodeArray, widths: CountArray) -> kernel.KeyRows:
    # Half as many bytes where codes are few: most of the search's time is spent on fetching them.
    narrow: kernel.KeyCodes = codes.astype(np.int16) if widths.max() <= 2**15 else codes
    return kernel.KeyRows(narrow, np.ascontiguousarray(narrow.T), widths)


def _columns_only(codes: CodeArray, widths: CountArray) -> kernel.KeyRows:
    return kernel.KeyRows(codes, np.empty((0, len(codes)), dtype=np.int32), widths)


def _is_key(pairs: int, repeated: int, rule: KeyRule) -> bool:
    return (pairs if rule.by_pairs else repeated) <= rule.most


def _most_telling_first(codes: CodeArray) -> CountArray:
    """Return the columns in the order of how many pairs of rows agree in them, few first."""
    agreeing = [float((np.bincount(column + 1).astype(np.float64) ** 2).sum()) for column in codes]
    return np.argsort(agreeing, kind="stable")


def _in_order(members: BoolArray, order: CountArray, told: CountArray, n_sets: int, complete_to: int) -> KeySets:
    """Put keys whose columns are in an order of their own into that of the table."""
    sets = np.empty_like(members)
    sets[:, order] = members
    # Of one size, as `itertools.combinations` has them.
    packed = 255 - np.packbits(sets, axis=1)
    by_size = np.lexsort((*packed.T[::-1], sets.sum(axis=1)))
    return KeySets(sets[by_size], told[by_size, 0], told[by_size, 1], n_sets, complete_to)
