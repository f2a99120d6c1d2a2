"""The certificate of prices: what each record has to pay at least, and the slow check of it, by NumPy alone.

If no class of k records or more costs less than its members' prices, no release costs less than all together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import TOLERANCE, BoolArray, CountArray, FloatArray
from hushtable.claims.certificates.record import AS_READ, Certificate, Reading, spec_in
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column, ColumnSpec
from hushtable.errors import InputError, check_columns, check_whole

_ROWS_PER_BLOCK: Final = 128  # rows compared with all others at once
_MAX_NODES_PER_ROW: Final = 20_000  # of the search from one row
_MAX_THRESHOLDS: Final = 32

CellArray = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class SpreadRows:
    """Distinct rows, and how far their cells lie apart."""

    codes: CountArray  # (n_rows, n_columns), 0 is missing
    counts: CountArray
    positions: tuple[FloatArray | None, ...]  # on [0, 1], of every code from 1 on; None for a column without an order
    ordered: CountArray = field(init=False)  # (n_rows, n_ordered), the codes of ordered columns
    at: tuple[FloatArray, ...] = field(init=False)  # of each ordered column by code, with one for the missing one
    flags: CountArray = field(init=False)  # (n_rows, n_others), the values of all other columns, numbered through
    column_of: CountArray = field(init=False)  # (n_flags,), which of the other columns a value is of
    unit: FloatArray = field(init=False)  # (n_others,), the share of one value of the other columns

    def __post_init__(self) -> None:
        is_ordered = np.array([positions is not None for positions in self.positions])
        flags = np.zeros_like(self.codes[:, ~is_ordered])
        domains: list[int] = []
        for j, column in enumerate(self.codes[:, ~is_ordered].T):
            known, each = np.unique(column, return_inverse=True)
            flags[:, j] = sum(domains) + each
            domains.append(len(known))
        derived: dict[str, Any] = {
            "ordered": self.codes[:, is_ordered],
            "at": tuple(np.append(0.0, positions) for positions in self.positions if positions is not None),
            "flags": flags,
            "column_of": np.repeat(np.arange(len(domains)), domains),
            "unit": 1.0 / np.array(domains),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def pair_shares(self, rows: CountArray, other_rows: CountArray) -> FloatArray:
        """Return the summed share of a class of two, for some rows and some others."""
        total = np.full((len(rows), len(other_rows)), 2.0 * self.unit.sum())
        for column, at in zip(self.ordered.T, self.at, strict=True):
            distances = np.abs(at[column[rows]][:, None] - at[column[other_rows]])
            is_missing = column == 0
            if is_missing.any():
                distances[is_missing[rows][:, None] != is_missing[other_rows]] = 1.0
            total += distances
        if len(self.unit):
            total -= (self._indicators(rows) * (2.0 * self.unit[self.column_of])) @ self._indicators(other_rows).T
        return total

    def _indicators(self, rows: CountArray) -> FloatArray:
        indicators = np.zeros((len(rows), len(self.column_of)))
        indicators[np.arange(len(rows))[:, None], self.flags[rows]] = 1.0
        return indicators

    def span_shares(self, low: CellArray, high: CellArray) -> FloatArray:
        """Return the shares of ordered columns between codes; the missing one takes the whole column with it."""
        at = [each[high[..., j]] - each[low[..., j]] for j, each in enumerate(self.at)]
        distances = np.stack(at, axis=-1) if at else np.zeros(low.shape)
        return np.asarray(np.where(low == high, 0.0, np.where(low == 0, 1.0, distances)))

    def set_share(self, n_held: CellArray) -> FloatArray:
        """Return the summed share of the other columns where they hold so many values each."""
        return np.asarray((n_held > 1) * n_held @ self.unit)


def max_pair_excess(space: SpreadRows, prices: FloatArray) -> float:
    """Return by how much the prices of two records exceed what they cost together, at most."""
    worst = float(np.max(prices[space.counts > 1], initial=-np.inf))
    rows = np.argsort(-prices, kind="stable")
    for begin in range(0, len(rows), _ROWS_PER_BLOCK):
        some, other_rows = rows[begin : begin + _ROWS_PER_BLOCK], rows[begin:]
        exceeds = prices[some][:, None] + prices[other_rows] - 2 * space.pair_shares(some, other_rows)
        exceeds[np.arange(len(some)), np.arange(len(some))] = -np.inf
        worst = max(worst, float(exceeds.max()))
    return worst


def find_class_excess(space: SpreadRows, prices: FloatArray, k: int) -> tuple[float, int]:
    """Return by how much a class costs less than its prices, where one is found, and how many searches had no end."""
    order = np.argsort(prices, kind="stable")
    is_dear = (prices[order] > TOLERANCE) & (space.counts[order] < k)
    n_open = 0
    for begin in range(0, len(order), _ROWS_PER_BLOCK):
        ranks = begin + np.flatnonzero(is_dear[begin : begin + _ROWS_PER_BLOCK])
        other_rows = order[: begin + _ROWS_PER_BLOCK]
        shares = space.pair_shares(order[ranks], other_rows)
        is_near = (shares < prices[order[ranks]][:, None] + TOLERANCE) & (np.arange(len(other_rows)) <= ranks[:, None])
        for row, near in zip(order[ranks].tolist(), is_near, strict=True):
            worst, is_settled = _search_from_row(space, prices, k, row, other_rows[near])
            if worst > TOLERANCE:
                return worst, n_open
            n_open += not is_settled
    return -np.inf, n_open


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """What a class holds at least, and the rows that it may hold besides."""

    low: CountArray  # (n_ordered,)
    high: CountArray
    held: BoolArray  # (n_flags,)
    n_held: CountArray  # (n_others,)
    rows: CountArray


def _box_of(space: SpreadRows, members: CountArray, rows: CountArray) -> _Box:
    codes, held = space.ordered[members], np.zeros(len(space.column_of), dtype=bool)
    held[space.flags[members]] = True
    n_held = np.bincount(space.column_of[held], minlength=len(space.unit))
    return _Box(codes.min(axis=0), codes.max(axis=0), held, n_held, rows)


def _search_from_row(space: SpreadRows, prices: FloatArray, k: int, row: int, near: CountArray) -> tuple[float, bool]:
    """Look for a class with a row and some of the rows near it that costs less than its prices."""
    counts = space.counts.copy()
    counts[row] -= 1
    near = near[counts[near] > 0]
    near = near[np.argsort(-prices[near], kind="stable")]
    boxes = [_box_of(space, np.array([row]), near)]
    for _ in range(_MAX_NODES_PER_ROW):
        if not boxes:
            return -np.inf, True
        box = boxes.pop()
        if counts[box.rows].sum() < k - 1:
            continue
        shares = _box_shares(space, box)
        bound, n_taken = _bound_excess(prices[box.rows], counts[box.rows], shares, float(prices[row]), k)
        if bound <= TOLERANCE:
            continue
        members, n_taken = box.rows[n_taken > 0], n_taken[n_taken > 0]
        # What every member pays is the share of the members' own box.
        tight = _box_of(space, np.append(members, row), near[:0])
        share = float(space.span_shares(tight.low, tight.high).sum() + space.set_share(tight.n_held))
        value = prices[row] + n_taken @ prices[members] - (1 + n_taken.sum()) * share
        if value > TOLERANCE:
            return float(value), True
        boxes += _split_box(space, box, tight, members)
    return -np.inf, not boxes


def _box_shares(space: SpreadRows, box: _Box) -> FloatArray:
    """Return the share of what a box holds at least, with each row that it may hold."""
    codes = space.ordered[box.rows]
    width = space.span_shares(np.minimum(codes, box.low), np.maximum(codes, box.high)).sum(axis=1)
    return np.asarray(width + space.set_share(box.n_held + ~box.held[space.flags[box.rows]]))


def _bound_excess(
    prices: FloatArray, counts: CountArray, shares: FloatArray, own: float, k: int
) -> tuple[float, CountArray]:
    """Return a bound on how far prices exceed the cost of a class of a row and others, and the records that reach it.

    A class whose farthest member lies between two thresholds holds rows up to the upper one, each of which pays the
    lower one: the best k - 1, and all that have a higher price than that. Rows come by falling price.
    """
    steps = np.unique(shares)
    if len(steps) > _MAX_THRESHOLDS:
        steps = steps[np.linspace(0, len(steps) - 1, _MAX_THRESHOLDS).astype(int)]
    ends = np.append(steps[1:], np.inf)
    # The last step, and every one where all are looked at, holds what is at it and no more.
    may_hold = (shares < ends[:, None]) * counts
    before = np.cumsum(may_hold, axis=1) - may_hold
    needed = np.clip(k - 1 - before, 0, may_hold)
    paid = prices - steps[:, None]
    n_taken = np.where(paid > 0, may_hold, needed)
    value = own - steps + (n_taken * paid).sum(axis=1)
    value[may_hold.sum(axis=1) < k - 1] = -np.inf
    best = int(value.argmax())
    return float(value[best]), n_taken[best]


def _split_box(space: SpreadRows, box: _Box, tight: _Box, members: CountArray) -> list[_Box]:
    """Return the classes of a box that reach as far as the members in the farthest direction, and the rest."""
    width = space.span_shares(box.low, box.high)
    low, high = np.minimum(box.low, tight.low), np.maximum(box.high, tight.high)
    new = space.flags[members]
    often = np.bincount(new[~box.held[new]], minlength=len(box.held))
    grown = np.concatenate(
        [
            space.span_shares(low, box.high) - width,
            space.span_shares(box.low, high) - width,
            np.where(tight.n_held > box.n_held, np.where(box.n_held == 1, 2.0, 1.0) * space.unit, 0.0),
        ]
    )
    if grown.max() <= 0:
        return []
    side, j = divmod(int(grown.argmax()), max(1, len(low)))
    if len(low) and side < 2:
        column = space.ordered[box.rows, j]
        name, reach = ("low", low) if side == 0 else ("high", high)
        reached = getattr(box, name).copy()
        reached[j] = reach[j]
        is_inside = column > reach[j] if side == 0 else column < reach[j]
        return [replace(box, rows=box.rows[is_inside]), replace(box, **{name: reached})]
    j = int(grown.argmax()) - 2 * len(low)
    flag = int(np.where(space.column_of == j, often, -1).argmax())
    held, n_held = box.held.copy(), box.n_held.copy()
    held[flag], n_held[j] = True, n_held[j] + 1
    return [replace(box, rows=box.rows[space.flags[box.rows, j] != flag]), replace(box, held=held, n_held=n_held)]


KIND: Final = "prices"
_FORM: Final = 1


def build_certificate(columns: Sequence[Column], k: int, counts: Sequence[int], prices: Sequence[float]) -> Certificate:
    """Write prices as others can check them: of the distinct rows, as they come in the data."""
    specs = {column.name: asdict(ColumnSpec(column.kind, column.spec.order)) for column in columns}
    return Certificate.from_entries(
        {
            "kind": KIND,
            "form": _FORM,
            "k": k,
            "columns": [column.name for column in columns],
            "specs": {name: {key: each for key, each in spec.items() if each} for name, spec in specs.items()},
            "by_rank": [column.name for column in columns if column.by_rank],
            "n_records": sum(counts),
            "sum": math.fsum(price * count for price, count in zip(prices, counts, strict=True)),
            "prices": list(prices),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What a certificate of prices holds."""

    k: int
    columns: tuple[str, ...]
    specs: Mapping[str, ColumnSpec]
    by_rank: tuple[str, ...]
    n_records: int
    sum: float
    prices: FloatArray

    @property
    def value(self) -> float:
        """The floor: the mean price over records and columns."""
        return self.sum / self.n_records / len(self.columns)

    def find_rank_differences(self, reading: Reading) -> list[Failure]:
        """Return a failure for each column that is placed by rank here and by value there."""
        names = sorted({*self.by_rank} ^ {*reading.by_rank})
        return [Failure(f"{AS_READ}: {name!r} goes by rank in one of the two alone; say by_rank=") for name in names]

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> _Entries:
        try:
            parsed = cls(
                k=entries["k"],
                columns=tuple(entries["columns"]),
                specs={name: spec_in(spec) for name, spec in entries["specs"].items()},
                by_rank=tuple(entries["by_rank"]),
                n_records=entries["n_records"],
                sum=float(entries["sum"]),
                prices=np.array([float(price) for price in entries["prices"]]),
            )
            is_one = entries["form"] == _FORM and set(parsed.specs) == set(parsed.columns)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            is_one = False
        if not is_one or not parsed.columns or not np.isfinite([*parsed.prices, parsed.sum]).all():
            raise InputError("the certificate of prices is not as it was written.", hint="write it anew.")
        check_whole("the certificate's k", parsed.k, 1)
        check_whole("the certificate's n_records", parsed.n_records, 1)
        return parsed


def check(data: Any, entries: Mapping[str, Any], reading: Reading) -> Verdict:
    """Check that no class of the data costs less than its members' prices, and what they sum up to.

    For k = 2 all pairs are compared: more cost at least half of what their pairs do. Else branch and bound: minutes.
    """
    certificate = _Entries.from_dict(entries)
    frame = reading.open_input(data, certificate.columns)
    check_columns(tuple(reading.by_rank), certificate.columns, "by_rank")
    coded = reading.encode_columns(frame, certificate.columns)
    failures = [*reading.find_differences(frame, coded, certificate.specs), *certificate.find_rank_differences(reading)]
    if failures:
        return reading.verdict_of_failures(failures, certificate.columns, frame.n_rows)
    columns, codes = zip(*(coded[name] for name in certificate.columns), strict=True)
    shifted = np.column_stack(codes).astype(np.int64) + 1
    rows, first, counts = np.unique(shifted, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    if frame.n_rows != certificate.n_records or len(rows) != len(certificate.prices):
        raise InputError(
            f"the certificate speaks of {certificate.n_records} records with {len(certificate.prices)} distinct rows; "
            f"the data have {frame.n_rows} with {len(rows)}.",
            hint="check it against the data that it was made for, in the same order.",
        )
    space = SpreadRows(
        rows[order],
        counts[order],
        tuple(
            value_positions(column, by_rank=column.name in reading.by_rank) if column.is_ordered else None
            for column in columns
        ),
    )
    readings = {column.name: reading.describe_kind(column) for column in columns}
    return _judge_prices(certificate, space, frame.n_rows, readings)


def _judge_prices(certificate: _Entries, space: SpreadRows, n_records: int, readings: Mapping[str, str]) -> Verdict:
    k, prices = certificate.k, certificate.prices
    total = math.fsum((prices * space.counts).tolist())
    condition = f"no class of {k} records or more costs less than its members' prices"
    # A suppressed record costs 1 in every column.
    covers_suppression = bool(prices.max(initial=0.0) <= len(certificate.columns) + TOLERANCE)
    read = ", ".join(f"{name!r} as {kind}" for name, kind in readings.items())
    floor = (
        f"no release in classes of {k} or more{'' if covers_suppression else ' that suppresses no record'} loses less "
        f"than set-NCP {certificate.value:.6g}, reading {read}"
    )
    failures = []
    if certificate.sum > total + TOLERANCE * n_records:
        failures.append(Failure(f"the prices sum up to {total:g}, and not to {certificate.sum:g}"))
    unchecked = {}
    if ((prices > TOLERANCE) & (space.counts >= k)).any():
        failures.append(Failure(f"{condition}: rows of {k} records cost nothing and have a price"))
    elif k == 2:
        worst = max_pair_excess(space, prices)
        if worst > TOLERANCE:
            failures.append(Failure(f"{condition}: a pair costs {worst:g} less"))
    else:
        worst, n_open = find_class_excess(space, prices, k)
        if worst > TOLERANCE:
            failures.append(Failure(f"{condition}: a class costs {worst:g} less"))
        elif n_open:
            unchecked[condition] = f"the search for a class came to no end at {n_open} rows; ask for lower prices"
    figures = {
        "k": k,
        "bound": certificate.value,
        "n_rows": len(prices),
        "covers_suppression": covers_suppression,
        "readings": dict(readings),
    }
    return Verdict((condition, floor), tuple(failures), certificate.columns, n_records, unchecked, figures)


def value_positions(column: Column, *, by_rank: bool) -> FloatArray:
    """Place the values of an ordered column on [0, 1]."""
    if column.n_values <= 1 or by_rank or not column.is_measured:
        return np.linspace(0.0, 1.0, max(1, column.n_values))
    values = column.values
    if column.kind == "decimal":
        scaled = values / np.abs(values[[0, -1]]).max()
        return np.asarray((scaled - scaled[0]) / (scaled[-1] - scaled[0]))
    integers = [int(each) for each in values.astype(np.int64).tolist()]
    return np.array([(each - integers[0]) / (integers[-1] - integers[0]) for each in integers])
