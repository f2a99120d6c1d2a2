"""Slow, obvious twins of mpUCCs, minimal sample uniques and their statistics: plain Python over itertools and dicts."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

Combo = tuple[str, ...]
Row = tuple[Any, ...]
Precision = int | str | Mapping[str, Any] | None

UNITS = {
    "D": dt.timedelta(days=1),
    "h": dt.timedelta(hours=1),
    "m": dt.timedelta(minutes=1),
    "s": dt.timedelta(seconds=1),
    "ms": dt.timedelta(milliseconds=1),
    "us": dt.timedelta(microseconds=1),
}


class Records(NamedTuple):
    """Some records that are compared, and the positions they had in the user's table."""

    rows: list[Row]
    positions: list[int]


class Pair(NamedTuple):
    """Original and synthetic records, made comparable; `names` are the columns by descending distinct values."""

    names: tuple[str, ...]
    places: dict[str, int]
    original: Records
    synthetic: Records


class TreeRow(NamedTuple):
    """What the tree says about one combination."""

    combo: Combo
    base: Combo | None
    base_is_pruned: bool | None
    entropy: float | None
    base_entropy: float | None
    gain: float | None
    is_pruned: bool | None
    n_unique: int
    n_collisions: int


# Values that can be compared: Python's own equality does the rest (37 == 37.0, and whole numbers exactly).


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def plain(cell: Any) -> Any:
    """A number, a datetime without zone, a text, or None where missing."""
    if is_missing(cell):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dt.datetime):
        return cell.astimezone(dt.UTC).replace(tzinfo=None) if cell.tzinfo else cell
    if isinstance(cell, dt.date):
        return dt.datetime(cell.year, cell.month, cell.day)
    return cell


def family(cells: Iterable[Any]) -> str:
    """What the present cells are: number, moment or text."""
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, (int, float)) for cell in present):
        return "number"
    return "moment" if all(isinstance(cell, dt.datetime) for cell in present) else "text"


def n_decimals(cells: Iterable[Any]) -> int | None:
    """How many decimals the cells have, 0 to 15; a column without cells does not say."""
    present = [cell for cell in cells if cell is not None]
    counts = [next((d for d in range(15) if np.round(cell, d) == cell), 15) for cell in present]
    return max(counts, default=None)


def unit_of(cells: Iterable[Any]) -> str | None:
    """The coarsest unit that says every moment exactly; a column without cells does not say."""
    present = [cell for cell in cells if cell is not None]
    if not present:
        return None
    return next(unit for unit in UNITS if all(floor(cell, unit) == cell for cell in present))


def floor(moment: dt.datetime, unit: str) -> dt.datetime:
    origin = dt.datetime(1970, 1, 1)
    return origin + (moment - origin) // UNITS[unit] * UNITS[unit]


def chosen(precision: Precision, name: str) -> Any:
    return precision.get(name) if isinstance(precision, Mapping) else precision


def comparable(
    ours: list[Any], theirs: list[Any], name: str, numeric: Precision, moment: Precision
) -> tuple[list[Any], list[Any]]:
    """One column of both tables, rounded alike; two families are compared as texts."""
    ours, theirs = [plain(cell) for cell in ours], [plain(cell) for cell in theirs]
    kinds = {family(side) for side in (ours, theirs) if any(cell is not None for cell in side)}
    if kinds == {"number"}:
        decimals = chosen(numeric, name)
        if decimals == "auto":
            decimals = min((d for d in (n_decimals(ours), n_decimals(theirs)) if d is not None), default=None)
        if decimals is not None:
            ours, theirs = rounded(ours, decimals), rounded(theirs, decimals)
    elif kinds == {"moment"}:
        unit = chosen(moment, name)
        if unit == "auto":
            known = [unit for unit in (unit_of(ours), unit_of(theirs)) if unit is not None]
            unit = min(known, key=list(UNITS).index, default=None)
        if unit is not None:
            ours = [None if cell is None else floor(cell, unit) for cell in ours]
            theirs = [None if cell is None else floor(cell, unit) for cell in theirs]
    elif len(kinds) > 1:
        ours = [None if cell is None else str(cell) for cell in ours]
        theirs = [None if cell is None else str(cell) for cell in theirs]
    return ours, theirs


def rounded(cells: list[Any], decimals: int) -> list[Any]:
    if decimals < 0:
        return [None if cell is None else round(Fraction(cell), decimals) for cell in cells]
    return [float(np.round(cell, decimals)) if isinstance(cell, float) else cell for cell in cells]


def distinct(records: Records) -> Records:
    """The first of equal rows."""
    first: dict[Row, int] = {}
    for row, position in zip(*records, strict=True):
        first.setdefault(row, position)
    return Records(list(first), list(first.values()))


def pair(
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    deduplicate: bool = False,
    numeric_precision: Precision = "auto",
    datetime_precision: Precision = "auto",
) -> Pair:
    """Read both tables: round, drop equal rows, sort the columns."""
    names = [name for name in synthetic.columns if columns is None or name in columns]
    sides: list[list[list[Any]]] = [[], []]
    for name in names:
        both = comparable(
            original[name].to_list(), synthetic[name].to_list(), name, numeric_precision, datetime_precision
        )
        for side, cells in zip(sides, both, strict=True):
            side.append(cells)
    tables = [Records(list(zip(*side, strict=True)), list(range(len(side[0])))) for side in sides]
    if deduplicate:
        tables = [distinct(table) for table in tables]
    n_distinct = {name: len({row[j] for row in tables[1].rows} - {None}) for j, name in enumerate(names)}
    ordered = tuple(sorted(names, key=lambda name: -n_distinct[name]))
    return Pair(ordered, {name: j for j, name in enumerate(names)}, *tables)


# mpUCCs


def projected(table: Pair, records: Records, combo: Combo, missing: str) -> list[Row | None]:
    """Every record on a combination; None where it can neither match nor be matched."""
    places = [table.places[name] for name in combo]
    rows = [tuple(row[j] for j in places) for row in records.rows]
    return [None if missing == "never" and None in row else row for row in rows]


def alone(rows: list[Row | None]) -> dict[Row, int]:
    """The rows that occur once, and which record each belongs to."""
    counts = Counter(rows)
    return {row: index for index, row in enumerate(rows) if row is not None and counts[row] == 1}


def collisions(table: Pair, combo: Combo, missing: str = "category") -> dict[int, int]:
    """The synthetic records identified on one combination, and the one original record each equals there."""
    synthetic = alone(projected(table, table.synthetic, combo, missing))
    original = alone(projected(table, table.original, combo, missing))
    return {index: original[row] for row, index in synthetic.items() if row in original}


def allowed_sizes(n_cols: int | Sequence[int] | None, n_columns: int) -> list[int]:
    if n_cols is None:
        return list(range(1, n_columns + 1))
    return [n_cols] if isinstance(n_cols, int) else sorted(set(n_cols))


def combos_in_order(table: Pair, n_cols: int | Sequence[int] | None) -> list[Combo]:
    sizes = allowed_sizes(n_cols, len(table.names))
    return [combo for size in sizes for combo in combinations(table.names, size)]


def identified(
    table: Pair,
    n_cols: int | Sequence[int] | None = None,
    missing: str = "category",
    *,
    all_minimal: bool = False,
    skipped: Iterable[Combo] = (),
) -> set[tuple[int, Combo, int]]:
    """(position of the synthetic record, combination, position of the original one): first smallest, or all minimal."""
    held: dict[int, list[Combo]] = {}
    found = set()
    for combo in combos_in_order(table, n_cols):
        if combo in skipped:
            continue
        for index, match in collisions(table, combo, missing).items():
            before = held.setdefault(index, [])
            if any(set(smaller) < set(combo) for smaller in before) if all_minimal else before:
                continue
            before.append(combo)
            found.add((table.synthetic.positions[index], combo, table.original.positions[match]))
    return found


def entropy(rows: Iterable[Row], alpha: float) -> float:
    """Renyi entropy of the classes of rows as a share of the most that so many classes can have."""
    counts = sorted(Counter(rows).values())
    if len(counts) <= 1:
        return 0.0
    shares = [count / sum(counts) for count in counts]
    if alpha == 1:
        bits = -sum(share * math.log2(share) for share in shares)
    elif alpha == math.inf:
        bits = -math.log2(max(shares))
    else:
        bits = math.log2(sum(share**alpha for share in shares)) / (1 - alpha)
    return bits / math.log2(len(counts))


def base_of(combo: Combo, sizes: Sequence[int]) -> Combo | None:
    """The leading columns of a combination, as many as the largest allowed size below its own."""
    smaller = [size for size in sizes if size < len(combo)]
    return combo[: max(smaller)] if smaller else None


def tree(
    table: Pair,
    n_cols: int | Sequence[int] | None = None,
    missing: str = "category",
    *,
    alpha: float = 2.0,
    min_entropy_delta: float | None = None,
) -> list[TreeRow]:
    """One row per combination, size by size; where no delta is given nothing is pruned."""
    sizes = allowed_sizes(n_cols, len(table.names))
    combos = combos_in_order(table, n_cols)
    entropies = {}
    for combo in combos:
        # What matches nothing is in no class.
        rows = projected(table, table.synthetic, combo, missing)
        entropies[combo] = entropy([row for row in rows if row is not None], alpha)
    pruned: set[Combo] = set()
    for combo in combos:
        base = base_of(combo, sizes)
        if min_entropy_delta is None or base is None:
            continue
        if base in pruned or entropies[combo] - entropies[base] <= min_entropy_delta:
            pruned.add(combo)
    first = Counter(combo for _, combo, _ in identified(table, n_cols, missing, skipped=pruned))
    rows = []
    for combo in combos:
        base = base_of(combo, sizes)
        n_unique = len(alone(projected(table, table.synthetic, combo, missing)))
        before = None if base is None else entropies[base]
        gain = None if before is None else entropies[combo] - before
        base_is_pruned = None if base is None else base in pruned
        rows.append(
            TreeRow(
                combo, base, base_is_pruned, entropies[combo], before, gain, combo in pruned, n_unique, first[combo]
            )
        )
    return rows


def wilson(successes: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The centre of Wilson's interval and half its width."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = (successes + z * z / 2) / (n + z * z)
    spread = successes * (n - successes) / n if n else 0.0
    return rate, z / (n + z * z) * math.sqrt(spread + z * z / 4)


def excess_risk(attack: tuple[float, float], control: tuple[float, float]) -> tuple[float, float]:
    """How much of what the control leaves open the attack adds, and half the width of its interval."""
    (a, e_a), (c, e_c) = attack, control
    return (a - c) / (1 - c), math.hypot(e_a / (1 - c), e_c * (a - 1) / (1 - c) ** 2)


# PETsARD 1.6.0, column by column


def reference_entropy(rows: Iterable[Row], alpha: float) -> float:
    counts = sorted(Counter(rows).values())
    if len(counts) <= 1:
        return 0.0
    return -math.log2(sum((count / sum(counts)) ** alpha for count in counts) + 1e-10) / math.log2(len(counts))


def by_bitmask(names: Sequence[str], sizes: Sequence[int]) -> list[Combo]:
    """Bit i of 1, 2, 3, ... is the i-th name."""
    bits = {name: 1 << i for i, name in enumerate(names)}
    combos = (combo for size in sizes for combo in combinations(names, size))
    return sorted(combos, key=lambda combo: sum(bits[name] for name in combo))


class Reference(NamedTuple):
    """The three outputs of PETsARD: details rows are (size, syn_idx, combination, values, ori_idx)."""

    details: list[tuple[int, int, Combo, Row, int]]
    tree: list[TreeRow]
    totals: dict[str, float]


def petsard(
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    n_cols: int | Sequence[int] | None = None,
    *,
    min_entropy_delta: float = 0.0,
    field_decay_factor: float = 0.5,
    renyi_alpha: float = 2.0,
) -> Reference:
    """Follow PETsARD on tables of whole numbers and texts, its pruning and its double records included."""
    table = pair(original, synthetic, deduplicate=True)
    sizes = allowed_sizes(n_cols, len(table.names))
    pruned: set[Combo] = set()
    held: dict[int, int] = {}
    details, rows = [], []
    for combo in by_bitmask(table.names, sizes):
        base = base_of(combo, sizes)
        if base in pruned:
            pruned.add(combo)
            rows.append(TreeRow(combo, base, True, None, None, None, True, 0, 0))
            continue
        projection = [row for row in projected(table, table.synthetic, combo, "category") if row is not None]
        own = reference_entropy(projection, renyi_alpha)
        before = gain = is_pruned = base_is_pruned = None
        if base is not None:
            before = reference_entropy(projected(table, table.synthetic, base, "category"), renyi_alpha)  # type: ignore[arg-type]
            gain = own - before
            base_is_pruned, is_pruned = False, gain <= min_entropy_delta
        n_unique = n_new = 0
        if is_pruned:
            pruned.add(combo)
        else:
            n_unique = len(alone(list(projection)))
            for index, match in sorted(collisions(table, combo).items()):
                if held.get(index, math.inf) <= len(combo):
                    continue
                held[index] = len(combo)
                n_new += 1
                details.append((len(combo), index, combo, projection[index], match))
        rows.append(TreeRow(combo, base, base_is_pruned, own, before, gain, is_pruned, n_unique, n_new))
    n = len(table.synthetic.rows)
    weighted = sum(row.n_collisions * field_decay_factor ** (len(row.combo) - 1) for row in rows)
    totals = {
        "total_syn_records": n,
        "total_ori_records": len(table.original.rows),
        "total_identified": len(held),
        "identification_rate": len(held) / n if n else 0.0,
        "weighted_identification_rate": weighted / n if n else 0.0,
        "total_combinations_checked": len(rows),
        "total_combinations_pruned": len(pruned),
    }
    return Reference(details, rows, totals)


# Minimal sample uniques


def minimal_uniques(
    frame: pl.DataFrame, max_size: int | None = None, missing: str = "category"
) -> set[tuple[int, frozenset[str]]]:
    """(record, column set) for every set on which the record is alone, and on no smaller part of it."""
    names = frame.columns
    table = pair(frame, frame, deduplicate=False)
    found: set[tuple[int, frozenset[str]]] = set()
    held: dict[int, list[frozenset[str]]] = {}
    for size in range(1, (max_size or len(names)) + 1):
        for combo in combinations(names, size):
            for index in alone(projected(table, table.synthetic, combo, missing)).values():
                columns = frozenset(combo)
                if not any(part < columns for part in held.get(index, [])):
                    held.setdefault(index, []).append(columns)
                    found.add((index, columns))
    return found


def elliot_weight(size: int, n_columns: int, max_size: int | None = None) -> float:
    last = min(max_size or n_columns, n_columns - 1)
    return float(math.prod(n_columns - j for j in range(size, last + 1)))


def ihsn_weight(size: int, n_columns: int) -> float:
    left = n_columns - size
    return (2**left - 1) * math.factorial(size) * math.factorial(left) / math.factorial(n_columns)


def scores(found: Iterable[tuple[int, frozenset[str]]], n_rows: int, weights: Mapping[int, float]) -> list[float]:
    totals = [0.0] * n_rows
    for record, columns in found:
        totals[record] += weights[len(columns)]
    return totals


def disclosure_rate(rows: Sequence[Row], fraction: float) -> float:
    """D: how likely a correct match with a unique record is, from the records alone and those in pairs."""
    counts = Counter(rows)
    n_unique = sum(counts[row] == 1 for row in rows)
    n_paired = sum(counts[row] == 2 for row in rows)
    expected = n_unique * fraction + n_paired * (1 - fraction)
    return n_unique * fraction / expected if expected else 0.0


def dis_suda(score: Sequence[float], rows: Sequence[Row], n_columns: int, fraction: float) -> list[float]:
    """DIS of every record; 0 where nothing makes it unique."""
    rate = disclosure_rate(rows, fraction)
    n_unique = sum(count == 1 for count in Counter(rows).values())
    q = 1 + (8 - n_columns) / 20
    a = sum(s**-q for s in score if s > 0)
    return [1 / (1 + (n_unique / rate - n_unique) / (s**q * a)) if s > 0 else 0.0 for s in score]


def contributions(
    found: Iterable[tuple[int, frozenset[str]]], names: Sequence[str], weights: Mapping[int, float]
) -> dict[str, float]:
    """Share of the total score in sets that hold each column."""
    found = list(found)
    total = sum(weights[len(columns)] for _, columns in found)
    return {
        name: sum(weights[len(columns)] for _, columns in found if name in columns) / total if total else 0.0
        for name in names
    }
