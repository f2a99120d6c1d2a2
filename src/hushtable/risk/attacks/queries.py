"""Singling out: queries that select one synthetic record, and how many of them select exactly one person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import comb
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import check_choice, check_whole
from hushtable.kernels.candidates import count_matches
from hushtable.risk.attacks.attack import Attack, Coded, Tries, encode_tables, excess_over_control, random_generator
from hushtable.tables import JointRows

_QUERIES_PER_BATCH: Final = 20_000
# So many random tries for each possible query find nearly all of them.
_TRIES_PER_QUERY: Final = 5
_N_CONTROL_SIZES: Final = 10
_MIN_CONTROL_ROWS: Final = 1000


class _Queries(NamedTuple):
    """Conjunctions: in each column a code from low to high, or another one where negated; -1 is missing."""

    columns: CodeArray
    lows: CodeArray
    highs: CodeArray
    negated: NDArray[np.bool_]

    def take(self, which: Any) -> _Queries:
        return _Queries(*(each[which] for each in self))

    def count_matching_rows(self, rows: JointRows, limit: int | None = None) -> tuple[CountArray, CountArray]:
        """Return how many rows each selects, counted up to one more than a limit, and the last of them."""
        counts = np.empty(len(self.columns), dtype=np.int64)
        last = np.empty_like(counts)
        count_matches(rows.codes, *self, rows.codes.shape[1] if limit is None else limit, counts, last)
        return counts, last


def singling_out(
    original: Any,
    synthetic: Any,
    *,
    control: Any = None,
    n_cols: int = 3,
    mode: Literal["multivariate", "univariate"] = "multivariate",
    n_attacks: int = 500,
    columns: Sequence[str] | None = None,
    control_size: Literal["matched", "anonymeter"] = "matched",
    max_attempts: int = 10_000_000,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> Attack:
    """Count queries that select one synthetic record and exactly one person.

    Parameters
    ----------
    original : path, dataframe or Table
        The records of people.
    synthetic : path, dataframe or Table
        The table that may give them away: synthetic, or released with its values as they were.
    control : path, dataframe or Table, optional
        People of the same kind who were never used for it.
    n_cols : int
        Columns of a query; of no effect with ``mode="univariate"``.
    mode : {"multivariate", "univariate"}
        Conditions on several columns of a synthetic record, or values of one column that occur once, are its least or
        its greatest.
    n_attacks : int
        Queries to find; fewer where there are no more.
    columns : sequence of str, optional
        Columns to attack by; all when not given.
    control_size : {"matched", "anonymeter"}
        Compare as many people as the control has records, or scale the control's successes by a fitted curve, as
        Anonymeter does. The curve raises false alarms: use it only to repeat that program's figure.
    max_attempts : int
        Queries to try.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

    Returns
    -------
    Attack

    Raises
    ------
    InputError
        An option outside its range, or an empty table.
    ColumnError
        The tables have different columns, or a column cannot be coded.

    Notes
    -----
    Giomi et al., "A Unified Framework for Quantifying Privacy Risk in Synthetic Data", PETS 2023. Equal records of a
    table count as one. Of a number or date above the synthetic median a query asks for at least that value, else for
    at most that value; of other columns for the value itself. Of more people fewer or more queries select exactly
    one: as many records are drawn as the smaller table has, by the exact expectation over all draws, so no draw adds
    noise.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "job": ["clerk", "cook", "clerk", "nurse"]})
    >>> singling_out(people, people, n_cols=2, n_attacks=4).n_success
    4
    """
    check_whole("n_attacks", n_attacks, 1)
    check_whole("max_attempts", max_attempts, 1)
    check_choice("mode", mode, ("multivariate", "univariate"))
    check_choice("control_size", control_size, ("matched", "anonymeter"))
    tables = encode_tables(original, synthetic, control, columns, specs)
    n_used = 1 if mode == "univariate" else n_cols
    check_whole("n_cols", n_used, 1, len(tables.joint.names))
    rng = random_generator(seed)
    people, synthetic_rows = tables.merge_equal_rows(tables.original), tables.merge_equal_rows(tables.synthetic)
    if mode == "univariate":
        queries = _rare_values(tables, synthetic_rows, n_attacks, rng)
    else:
        queries = _find_singling_queries(tables, synthetic_rows, n_used, n_attacks, max_attempts, rng)
    n_queries = len(queries.columns)
    on_people, persons = queries.count_matching_rows(people)
    by_chance = _draw_queries(tables, synthetic_rows, n_used, n_queries, rng).count_matching_rows(people, 1)[0]
    compared, control_tries, copy_risk = None, None, 1.0
    if tables.control is not None:
        control_rows = tables.merge_equal_rows(tables.control)
        if control_size == "anonymeter":
            on_control = queries.count_matching_rows(control_rows)[0]
            control_tries = Tries(_scale_successes(on_control, len(control_rows.counts), len(people.counts)), n_queries)
        else:
            n_each = min(people.n_records, control_rows.n_records)
            control_tries = Tries(_mean_successes(queries, control_rows, n_each), n_queries)
            if n_each < people.n_records:
                compared = Tries(_mean_successes(queries, people, n_each), n_queries)
                # In a copy every query fits one person: it hits where that person is drawn.
                share_found = float(1 - _miss_chances(people.n_records, n_each)[people.counts].mean())
                copy_risk = excess_over_control(Tries(share_found * n_queries, n_queries), control_tries).value
    hits = on_people == 1
    return Attack(
        "singling out",
        Tries(int(hits.sum()), n_queries),
        Tries(int((by_chance == 1).sum()), n_queries),
        control_tries,
        compared,
        {"n_attacks": n_attacks, "mode": mode, "n_cols": n_used, "control_size": control_size, "seed": seed},
        partial(_describe_queries, tables, queries.take(hits), people.positions[persons[hits]]),
        copy_risk,
    )


def _find_singling_queries(
    tables: Coded, synthetic: JointRows, n_cols: int, n_wanted: int, max_attempts: int, rng: np.random.Generator
) -> _Queries:
    """Find different queries, made of some columns of a record, that select it alone."""
    n_columns, n_rows = synthetic.codes.shape
    medians = [_median_code(codes) for codes in synthetic.codes]
    is_measured = np.array([scale is not None for scale in tables.scales])
    max_tries = min(max_attempts, _TRIES_PER_QUERY * n_rows * comb(n_columns, n_cols))
    batches: list[_Queries] = []
    found_keys: set[bytes] = set()
    for first in range(0, max_tries, _QUERIES_PER_BATCH):
        n_tried = min(_QUERIES_PER_BATCH, max_tries - first)
        rows = rng.integers(n_rows, size=n_tried)
        columns = np.sort(np.argsort(rng.random((n_tried, n_columns)), axis=1)[:, :n_cols], axis=1).astype(np.int32)
        codes = synthetic.codes[columns, rows[:, None]]
        is_open = is_measured[columns] & (codes >= 0)
        is_above = codes > np.array(medians)[columns]
        lows = np.where(is_open & ~is_above, 0, codes).astype(np.int32)
        highs = np.where(is_open & is_above, np.array(tables.joint.widths)[columns] - 1, codes).astype(np.int32)
        tried = _Queries(columns, lows, highs, np.zeros(columns.shape, dtype=np.bool_))
        alone = tried.take(tried.count_matching_rows(synthetic, 1)[0] == 1)
        keys = [key.tobytes() for key in np.hstack(alone[:3])]
        new = []
        for position, key in enumerate(keys):
            if len(found_keys) < n_wanted and key not in found_keys:
                found_keys.add(key)
                new.append(position)
        batches.append(alone.take(new))
        if len(found_keys) == n_wanted:
            break
    return _Queries(*map(np.concatenate, zip(*batches, strict=True)))


def _median_code(codes: CodeArray) -> float:
    """Return the median code; of codes in order it lies where the median of the values does."""
    valued = codes[codes >= 0]
    return float(np.median(valued)) if len(valued) else -1.0


def _rare_values(tables: Coded, synthetic: JointRows, n_wanted: int, rng: np.random.Generator) -> _Queries:
    """Find values of one column that one record has: the only missing one, the least, the greatest, those seen once."""
    candidates: dict[tuple[int, int, int], None] = {}
    for j, codes in enumerate(synthetic.codes):
        n_of = np.bincount(codes + 1, minlength=tables.joint.widths[j] + 1)
        if n_of[0] == 1:
            candidates[j, -1, -1] = None
        present = np.flatnonzero(n_of[1:])
        if tables.scales[j] is not None and len(present):
            candidates |= {(j, 0, int(present[0])): None, (j, int(present[-1]), tables.joint.widths[j] - 1): None}
        candidates |= {(j, int(code), int(code)): None for code in np.flatnonzero(n_of[1:] == 1)}
    tried = rng.permutation(np.array(list(candidates), dtype=np.int32).reshape(-1, 3))[:, :, None]
    queries = _Queries(tried[:, 0], tried[:, 1], tried[:, 2], np.zeros(tried[:, 0].shape, dtype=np.bool_))
    alone = queries.take(queries.count_matching_rows(synthetic, 1)[0] == 1)
    return alone.take(slice(0, n_wanted))


def _draw_queries(
    tables: Coded, synthetic: JointRows, n_cols: int, n_queries: int, rng: np.random.Generator
) -> _Queries:
    """Make queries of random columns, values and comparisons."""
    n_columns = len(synthetic.codes)
    columns = np.argsort(rng.random((n_queries, n_columns)), axis=1)[:, :n_cols].astype(np.int32)
    values = [np.unique(codes) for codes in synthetic.codes]
    n_values = np.array([len(each) for each in values])
    value_ranks = (rng.random(columns.shape) * n_values[columns]).astype(np.int64)
    codes = np.array(
        [values[j][place] for j, place in zip(columns.flat, value_ranks.flat, strict=True)], dtype=np.int32
    )
    codes = codes.reshape(columns.shape)
    is_measured = np.array([scale is not None for scale in tables.scales])[columns] & (codes >= 0)
    comparisons = np.where(is_measured, rng.integers(6, size=columns.shape), rng.integers(2, size=columns.shape))
    last = np.array(tables.joint.widths)[columns] - 1
    # 0 to 5: equal, unequal, at most, above, at least, below; -1 (missing) is neither above nor below a value.
    lows = np.choose(comparisons, [codes, codes, 0, codes + 1, codes, 0]).astype(np.int32)
    highs = np.choose(comparisons, [codes, codes, codes, last, last, codes - 1]).astype(np.int32)
    return _Queries(columns, lows, highs, comparisons == 1)


def _mean_successes(queries: _Queries, rows: JointRows, n_drawn: int) -> float:
    """Return how many queries select exactly one distinct row of some records drawn, on average over all draws.

    Records are drawn, and then equal ones count as one: of more records a larger share is equal to another.
    """
    missed = _miss_chances(rows.n_records, n_drawn)
    sizes = np.unique(rows.counts)
    selected = np.array(
        [queries.count_matching_rows(rows.take(np.flatnonzero(rows.counts == size)))[0] for size in sizes]
    )
    n_records = sizes @ selected
    expected = 0.0
    for size, n_rows in zip(sizes, selected, strict=True):
        hit = n_rows > 0
        # A row is drawn alone where none of the others is, and not none of all.
        alone = missed[n_records[hit] - size] - missed[n_records[hit]]
        expected += float((n_rows[hit] * alone).sum())
    return expected


def _miss_chances(n_records: int, n_drawn: int) -> FloatArray:
    """Return how often a draw holds none of 0, 1, 2 ... marked records."""
    n_left = n_records - np.arange(n_records)
    return np.append(1.0, np.cumprod(np.maximum(n_left - n_drawn, 0) / n_left))


def _scale_successes(counts: CountArray, n_control: int, n_people: int) -> float:
    """Scale the control's successes to the number of people by a curve that is fitted to smaller controls."""
    if not (counts == 1).any():
        return 0.0
    sizes = np.linspace(min(_MIN_CONTROL_ROWS, n_control), n_control, _N_CONTROL_SIZES).astype(int)
    successes = [stats.hypergeom.pmf(1, n_control, counts, size).sum() for size in sizes]

    def curve(n: Any, weight: float, norm: float) -> Any:
        return norm * (1 - (n * weight + 1) * (1 - weight) ** n) / (n + 1)

    weight = 1 / n_control
    start = (weight, 1 / curve(n_control, weight, 1.0))
    fitted, _ = optimize.curve_fit(curve, sizes.astype(float), successes, p0=start, bounds=(0, (1, np.inf)))
    at_people, at_control = curve(n_people, *fitted), curve(n_control, *fitted)
    return min(float((counts == 1).sum() * at_people / at_control), float(len(counts)))


def _describe_queries(tables: Coded, queries: _Queries, positions: CountArray, values: bool) -> list[str]:
    """Write queries that selected one person, each with the person's position."""
    lines = []
    for columns, lows, highs, position in zip(queries.columns, queries.lows, queries.highs, positions, strict=True):
        parts = []
        for j, low, high in zip(columns.tolist(), lows.tolist(), highs.tolist(), strict=True):
            if low < 0:
                parts.append(f"{tables.joint.names[j]} is missing")
                continue
            is_measured = tables.scales[j] is not None
            sign, code = ("==", low) if low == high and not is_measured else ("<=", high) if low == 0 else (">=", low)
            if low == high and 0 < low < tables.joint.widths[j] - 1:
                sign = "=="
            parts.append(f"{tables.joint.names[j]} {sign} {tables.joint.text(j, code) if values else '?'}")
        lines.append(f"{' & '.join(parts)} (original record {position})")
    return lines
