"""mpUCCs as PETsARD 1.6.0 computes them, for comparison with its reports; figures of risk are `hushtable.mpuccs`.

It prunes by an entropy gain that says nothing about who is alone, so that it misses collisions (a third of them on real
tables); it walks by columns and not by sizes, so that a record can be reported on several sets.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.columns import to_json_values
from hushtable.errors import InputError, quote_names
from hushtable.io import frames
from hushtable.risk.collisions import TREE_COLUMNS, datetime_precisions, numeric_precisions
from hushtable.risk.mpuccs import describe_collisions, encode_same_columns, order_columns, sizes_of
from hushtable.search import Trace
from hushtable.tables import (
    Joint,
    Table,
    encode_jointly,
    find_mismatches,
    find_unique_rows,
    iterate_partitions,
    warn_of_mismatches,
)
from hushtable.wording import StatesFacts

_DETAIL_COLUMNS: Final = ("combo_size", "syn_idx", "field_combo", "value_combo", "ori_idx")
# PETsARD's spellings of units, in lower case, and numpy's; nothing here is finer than microseconds.
PETSARD_UNITS: Final = {
    "d": "D",
    "h": "h",
    **dict.fromkeys(("t", "min", "m"), "m"),
    **dict.fromkeys(("s", "sec"), "s"),
    **dict.fromkeys(("l", "ms"), "ms"),
    **dict.fromkeys(("u", "us", "micro", "n", "ns", "nano"), "us"),
}
_UNITS_TO_DETECT: Final = ("D", "H", "T", "s", "us")
_MAX_DECIMALS: Final = 10
_MAX_MOMENTS_TO_DETECT: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class PetsardMpuccs(StatesFacts):
    """The three reports of PETsARD's evaluator: its ``global`` is `summary`.

    Attributes
    ----------
    summary : dict
        Totals and rates, and the configuration.
    trace : Trace
    detail_columns, tree_columns : dict of column name to list
        What `details` and `tree` show.
    source : str
        The dataframe library that frames come in.
    is_alone : bool
        Whether records were looked for in one table, without a synthetic one.
    """

    summary: dict[str, Any]
    trace: Trace = field(repr=False)
    detail_columns: dict[str, list[Any]] = field(repr=False)
    tree_columns: dict[str, list[Any]] = field(repr=False)
    source: str = field(default="polars", repr=False)
    is_alone: bool = field(default=False, repr=False)

    @property
    def counted(self) -> str:
        """What all figures count, as in `Mpuccs`: equal records of a table are always merged."""
        return "distinct rows"

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return tuple(describe_collisions(self.summary, self.counted, is_alone=self.is_alone))

    @property
    def details(self) -> Any:
        """A dataframe with one row per record and column set; positions are those without equal rows."""
        return frames.assemble(self.detail_columns, self.source)

    @property
    def tree(self) -> Any:
        """A dataframe with one row per column set, in the order in which PETsARD looks at them."""
        return frames.assemble(self.tree_columns, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary and the trace as plain values."""
        return dict(to_json_values({**self.summary, "trace": self.trace.to_dict()}))

    def __repr__(self) -> str:
        return (
            f"PetsardMpuccs({self.summary['total_identified']} of {self.summary['total_syn_records']} {self.counted} "
            f"identified, rate {self.summary['identification_rate']:.4g})"
        )


def petsard_mpuccs(
    original: Any,
    synthetic: Any,
    *,
    n_cols: int | Sequence[int] | None = None,
    min_entropy_delta: float = 0.0,
    field_decay_factor: float = 0.5,
    renyi_alpha: float = 2.0,
    numeric_precision: int | None = None,
    datetime_precision: str | None = None,
    values: bool = False,
) -> PetsardMpuccs:
    """Compute mpUCCs as PETsARD 1.6.0 does, pruning and double counts included, for comparison with its reports.

    For figures of risk use `hushtable.mpuccs`, which loses no record.

    Parameters
    ----------
    original, synthetic : path, dataframe or Table
        With the same columns; equal rows of a table count as one.
    n_cols : int or sequence of int, optional
        How many columns a set may have; an int is that size only. All sizes when not given.
    min_entropy_delta : float
        Column sets that add no more than this to the entropy of their base are skipped, and what builds on
        them. Its 0.0 prunes too, against what its guide says.
    field_decay_factor : float
        In (0, 1]. A set of c columns weighs factor ** (c - 1) in the weighted rate.
    renyi_alpha : float
        In its formula, which is Renyi's entropy for 2 only.
    numeric_precision : int, optional
        Decimals to which all decimal numbers are rounded. When not given, the most decimals of any number of
        the original, at most 10; where all are whole, nothing is rounded.
    datetime_precision : str, optional
        Unit to which all moments are cut: ``D``, ``H``, ``T`` or ``min``, ``S``, ``L`` or ``ms``, ``U`` or
        ``us``, ``N`` or ``ns``, in either case. When not given, the finest of the first 100 moments of any
        column of the original; where those are days, nothing is cut. Moments are held in microseconds here.
    values : bool
        Whether `details` shows the values of records.

    Raises
    ------
    InputError
        A size that no set can have (PETsARD reports 0 % then), or an option outside its range.
    ColumnError
        The tables have different columns, or a column cannot be coded.

    Notes
    -----
    PETsARD 1.6.0, ``petsard/evaluator/mpuccs.py``. Missing cells are one value here, where it takes each NaN for
    another; columns whose types differ are compared by value, where it refuses them.

    Examples
    --------
    >>> import polars as pl
    >>> square = pl.DataFrame({"a": [2, 1, 1, 2], "b": [1, 2, 1, 2]})
    >>> petsard_mpuccs(square, square).summary["total_identified"]  # it prunes the only pair
    0
    >>> petsard_mpuccs(square, square, min_entropy_delta=-1).summary["total_identified"]
    4
    """
    _check_options(field_decay_factor, numeric_precision, datetime_precision, renyi_alpha)
    tables = encode_same_columns({"original": original, "synthetic": synthetic})
    detected = _petsard_precisions(tables[0])
    decimals = detected[0] if numeric_precision is None else numeric_precision
    moment = detected[1] if datetime_precision is None else datetime_precision
    read = encode_jointly(
        tables,
        numeric_precisions(tables, decimals),
        datetime_precisions(tables, None if moment is None else PETSARD_UNITS[moment.lower()]),
    )
    warn_of_mismatches(find_mismatches(read, tables), ("original", "synthetic"))
    joint = order_columns(read, merges=True)
    sizes = sizes_of(n_cols, len(joint.names))
    began = time.perf_counter()
    totals, details, tree = _walk_column_sets(
        joint, sizes, delta=min_entropy_delta, decay=field_decay_factor, alpha=renyi_alpha
    )
    if not values:
        del details["value_combo"]
    summary = {
        **totals,
        "config_n_cols": str(n_cols),
        "config_min_entropy_delta": min_entropy_delta,
        "config_field_decay_factor": field_decay_factor,
        "config_renyi_alpha": renyi_alpha,
        "config_numeric_precision": decimals,
        "config_datetime_precision": moment,
    }
    trace = Trace("petsard-1.6", len(tree["check_order"]), time.perf_counter() - began)
    return PetsardMpuccs(summary, trace, details, tree, frames.library_of(original), is_alone=synthetic is None)


def _check_options(decay: float, decimals: int | None, moment: str | None, alpha: float) -> None:
    is_order = isinstance(alpha, (int, float)) and (abs(alpha) <= sys.float_info.max or abs(alpha) == math.inf)
    checks = [
        (is_order, f"renyi_alpha = {alpha!r}", "give a number; inf is allowed."),
        (0 < decay <= 1, f"field_decay_factor = {decay!r}", "give a number above 0, at most 1."),
        (
            decimals is None or (isinstance(decimals, int) and not isinstance(decimals, bool)),
            f"numeric_precision = {decimals!r}",
            "give a whole number of decimals, or None: it is found in the original then.",
        ),
        (
            moment is None or (isinstance(moment, str) and moment.lower() in PETSARD_UNITS),
            f"datetime_precision = {moment!r}",
            f"give one of {quote_names(PETSARD_UNITS)}, or None: it is found in the original then.",
        ),
    ]
    for holds, what, hint in checks:
        if not holds:
            raise InputError(f"{what}.", hint=hint)


def _walk_column_sets(
    joint: Joint, sizes: Sequence[int], *, delta: float, decay: float, alpha: float
) -> tuple[dict[str, Any], dict[str, list[Any]], dict[str, list[Any]]]:
    """Return totals, details and tree of two distinct tables, columns by descending number of values."""
    original, synthetic = joint.tables
    n_synthetic = len(synthetic.counts)
    codes = np.concatenate([synthetic.codes, original.codes], axis=1)
    is_synthetic = np.arange(codes.shape[1]) < n_synthetic
    smallest_sizes = np.full(n_synthetic, len(joint.names) + 1)
    pruned: set[tuple[int, ...]] = set()
    entropies: dict[tuple[int, ...], float] = {}
    details: list[tuple[int, int, str, str, int]] = []
    rows: list[dict[str, Any]] = []
    sets = list(_yield_column_sets(len(joint.names), set(sizes)))
    for order, (latest_first, (labels, n_classes)) in enumerate(
        zip(sets, iterate_partitions(codes, joint.widths, sets), strict=True), start=1
    ):
        columns = latest_first[::-1]
        alone, counts = find_unique_rows(labels, n_classes, is_synthetic.astype(np.int64))
        entropy = _entropy(counts[counts > 0], alpha)
        entropies[columns] = entropy
        base = columns[: max((size for size in sizes if size < len(columns)), default=0)]
        gain = entropy - entropies[base] if base else None
        is_inherited = base in pruned
        is_pruned = is_inherited or (gain is not None and gain <= delta)
        hits = np.empty(0, dtype=np.int32)
        if is_pruned:
            pruned.add(columns)
        else:
            mates, _ = find_unique_rows(labels, n_classes, (~is_synthetic).astype(np.int64))
            hits = np.sort(alone[(alone >= 0) & (mates >= 0)])
            hits = hits[smallest_sizes[hits] > len(columns)]
            smallest_sizes[hits] = len(columns)
            details += _details_of(joint, columns, hits, mates[labels[hits]] - n_synthetic)
        weight = decay ** (len(columns) - 1)
        row = {
            "check_order": order,
            "combo_size": len(columns),
            "field_combo": _format_names(joint, columns),
            "base_combo": _format_names(joint, base) if base else None,
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
        rows.append(row)
    n_identified = int((smallest_sizes <= len(joint.names)).sum())
    totals = {
        "total_syn_records": n_synthetic,
        "total_ori_records": len(original.counts),
        "total_identified": n_identified,
        "identification_rate": n_identified / n_synthetic,
        "weighted_identification_rate": sum(row["weighted_mpuccs_collision_cnt"] for row in rows) / n_synthetic,
        "total_combinations_checked": len(rows),
        "total_combinations_pruned": len(pruned),
    }
    detail_columns = {name: [detail[i] for detail in details] for i, name in enumerate(_DETAIL_COLUMNS)}
    return totals, detail_columns, {name: [row[name] for row in rows] for name in TREE_COLUMNS}


def _yield_column_sets(
    n_columns: int, sizes: Collection[int], chosen: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield column sets, latest column first; as numbers whose bit i is column i, they ascend."""
    for column in range(min(chosen, default=n_columns)):
        larger = (*chosen, column)
        if len(larger) in sizes:
            yield larger
        if len(larger) < max(sizes):
            yield from _yield_column_sets(n_columns, sizes, larger)


def _petsard_precisions(original: Table) -> tuple[int | None, str | None]:
    """Detect the one numeric and the one datetime precision as PETsARD does, from the original alone.

    The most decimals of any value, at most 10, and None for 0; the finest unit of the first 100 moments
    of any column, and None for days. It never finds milliseconds.
    """
    n_decimals = 0
    finest = 0
    for column, codes in zip(original.columns, original.codes, strict=True):
        if column.kind == "decimal":
            texts = (f"{value:.{_MAX_DECIMALS}f}".rstrip("0") for value in column.values.tolist())
            n_decimals = max([n_decimals, *(len(text.partition(".")[2]) for text in texts)])
        elif column.kind == "datetime":
            moments = column.values[codes[codes >= 0][:_MAX_MOMENTS_TO_DETECT]]
            units = (
                unit
                for unit in _UNITS_TO_DETECT
                if (moments.astype(f"datetime64[{PETSARD_UNITS[unit.lower()]}]") == moments).all()
            )
            finest = max(finest, _UNITS_TO_DETECT.index(next(units)))
    return n_decimals or None, _UNITS_TO_DETECT[finest] if finest else None


def _entropy(sizes: CountArray, alpha: float) -> float:
    """Return PETsARD's normalised entropy, which is Renyi's for alpha = 2 only."""
    if len(sizes) <= 1:
        return 0.0
    shares = sizes / sizes.sum()
    return -math.log2(float((shares**alpha).sum()) + 1e-10) / math.log2(len(sizes))


def _format_names(joint: Joint, columns: Sequence[int]) -> str:
    return str(tuple(joint.names[j] for j in columns))


def _details_of(
    joint: Joint, columns: Sequence[int], hits: NDArray[np.integer], mates: NDArray[np.integer]
) -> Iterator[tuple[int, int, str, str, int]]:
    """Yield what `_DETAIL_COLUMNS` names, for each record that is found."""
    codes = joint.tables[1].codes
    for hit, mate in zip(hits.tolist(), mates.tolist(), strict=True):
        cells = tuple(joint.values[j][codes[j, hit]] if codes[j, hit] >= 0 else None for j in columns)
        yield len(columns), hit, _format_names(joint, columns), str(cells), mate
