"""mpUCCs as PETsARD 1.6.0 computes them, for comparison with its reports.

It prunes by an entropy gain that says nothing about who is alone, so that it misses
collisions (a third of them on real tables); it walks by columns and not by sizes, so that
a record can be reported on several sets. Use the default for figures of risk.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.joint import Joint
from hushtable.risk.listing import lone_rows, partitions
from hushtable.risk.precision import UNITS
from hushtable.table import Table

__all__ = ["DETAILS", "TREE", "PetsardResult", "petsard_precisions", "petsard_walk"]

DETAILS: Final = ("combo_size", "syn_idx", "field_combo", "value_combo", "ori_idx")
TREE: Final = (
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

_NUMERIC_DECIMALS: Final = 10
_MOMENTS_LOOKED_AT: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class PetsardResult:
    """The three reports of PETsARD's evaluator as plain columns.

    Attributes
    ----------
    totals : dict
    details, tree : dict of column name to list
    """

    totals: dict[str, Any]
    details: dict[str, list[Any]] = field(repr=False)
    tree: dict[str, list[Any]] = field(repr=False)


def petsard_walk(
    joint: Joint, sizes: Sequence[int], *, min_entropy_delta: float, decay: float, alpha: float
) -> PetsardResult:
    """Walk two distinct tables, the original and the synthetic one, columns by descending number of values."""
    original, synthetic = joint.tables
    n_synthetic = len(synthetic.counts)
    codes = np.concatenate([synthetic.codes, original.codes], axis=1)
    is_synthetic = np.arange(codes.shape[1]) < n_synthetic
    held = np.full(n_synthetic, len(joint.names) + 1)
    pruned: set[tuple[int, ...]] = set()
    entropies: dict[tuple[int, ...], float] = {}
    details: dict[str, list[Any]] = {name: [] for name in DETAILS}
    tree: dict[str, list[Any]] = {name: [] for name in TREE}
    sets = list(_in_order(len(joint.names), set(sizes)))
    for order, (latest_first, (labels, n_classes)) in enumerate(
        zip(sets, partitions(codes, joint.widths, sets), strict=True), start=1
    ):
        columns = latest_first[::-1]
        alone, counts = lone_rows(labels, n_classes, is_synthetic.astype(np.int64))
        entropy = _entropy(counts[counts > 0], alpha)
        entropies[columns] = entropy
        base = columns[: max((size for size in sizes if size < len(columns)), default=0)]
        gain = entropy - entropies[base] if base else None
        is_inherited = base in pruned
        is_pruned = is_inherited or (gain is not None and gain <= min_entropy_delta)
        hits = np.empty(0, dtype=np.int32)
        if is_pruned:
            pruned.add(columns)
        else:
            mates, _ = lone_rows(labels, n_classes, (~is_synthetic).astype(np.int64))
            hits = np.sort(alone[(alone >= 0) & (mates >= 0)])
            hits = hits[held[hits] > len(columns)]
            held[hits] = len(columns)
            _add_details(details, joint, columns, hits, mates[labels[hits]] - n_synthetic)
        weight = decay ** (len(columns) - 1)
        row = {
            "check_order": order,
            "combo_size": len(columns),
            "field_combo": _names(joint, columns),
            "base_combo": _names(joint, base) if base else None,
            "base_is_pruned": is_inherited if base else None,
            "combo_entropy": None if is_inherited else entropy,
            "base_entropy": None if is_inherited or not base else entropies[base],
            "entropy_gain": None if is_inherited else gain,
            "is_pruned": is_pruned if base else None,
            "mpuccs_cnt": 0 if is_pruned else int((alone >= 0).sum()),
            "mpuccs_collision_cnt": len(hits),
            "field_weighted": weight,
            "total_weighted": weight,
            "weighted_mpuccs_collision_cnt": len(hits) * weight,
        }
        for name, value in row.items():
            tree[name].append(value)
    n_identified = int((held <= len(joint.names)).sum())
    totals = {
        "total_syn_records": n_synthetic,
        "total_ori_records": len(original.counts),
        "total_identified": n_identified,
        "identification_rate": n_identified / n_synthetic if n_synthetic else 0.0,
        "weighted_identification_rate": (
            sum(tree["weighted_mpuccs_collision_cnt"]) / n_synthetic if n_synthetic else 0.0
        ),
        "total_combinations_checked": len(tree["check_order"]),
        "total_combinations_pruned": len(pruned),
    }
    return PetsardResult(totals, details, tree)


def _in_order(n_columns: int, sizes: Collection[int], chosen: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield column sets, latest column first; as numbers whose bit i is column i, they ascend."""
    for column in range(min(chosen, default=n_columns)):
        larger = (*chosen, column)
        if len(larger) in sizes:
            yield larger
        if len(larger) < max(sizes):
            yield from _in_order(n_columns, sizes, larger)


def petsard_precisions(original: Table) -> tuple[int | None, str | None]:
    """Detect the one numeric and the one datetime precision as PETsARD does, from the original alone.

    The most decimals of any value, at most 10, and None for 0; the finest unit of the first 100 moments
    of any column, and None for days.
    """
    n_decimals = 0
    finest = 0
    for column, codes in zip(original.columns, original.codes, strict=True):
        if column.kind == "decimal":
            texts = (f"{value:.{_NUMERIC_DECIMALS}f}".rstrip("0") for value in column.values.tolist())
            n_decimals = max(n_decimals, *(len(text.partition(".")[2]) for text in texts))
        elif column.kind == "datetime":
            moments = column.values[codes[codes >= 0][:_MOMENTS_LOOKED_AT]]
            units = (unit for unit in UNITS if (moments.astype(f"datetime64[{unit}]") == moments).all())
            finest = max(finest, UNITS.index(next(units)))
    return n_decimals or None, UNITS[finest] if finest else None


def _entropy(sizes: CountArray, alpha: float) -> float:
    """Return PETsARD's normalised entropy, which is Renyi's for alpha = 2 only."""
    if len(sizes) <= 1:
        return 0.0
    shares = sizes / sizes.sum()
    return -math.log2(float((shares**alpha).sum()) + 1e-10) / math.log2(len(sizes))


def _names(joint: Joint, columns: Sequence[int]) -> str:
    return str(tuple(joint.names[j] for j in columns))


def _add_details(
    details: dict[str, list[Any]],
    joint: Joint,
    columns: Sequence[int],
    hits: NDArray[np.integer],
    mates: NDArray[np.integer],
) -> None:
    codes = joint.tables[1].codes
    names = _names(joint, columns)
    for hit, mate in zip(hits.tolist(), mates.tolist(), strict=True):
        cells = tuple(joint.values[j][codes[j, hit]] if codes[j, hit] >= 0 else None for j in columns)
        for name, value in zip(DETAILS, (len(columns), hit, names, str(cells), mate), strict=True):
            details[name].append(value)
