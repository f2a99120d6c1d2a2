"""The certificate of prices: what each record has to pay at least, and the check of it.

Every distinct row of the input has a price. Where no class of k records or more costs less (in records times shares
of columns) than its members' prices, no release of all records costs less than all prices together. The prices say
which records are unlike all others: the certificate stays with those who may see the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hushtable._types import TOLERANCE, FloatArray
from hushtable.claims.certificates.classes import Spread, dear_class, dear_pairs
from hushtable.claims.certificates.reading import AS_READ, Reading, spec_in
from hushtable.claims.certificates.record import Certificate
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column, ColumnSpec
from hushtable.errors import InputError, check_columns, check_whole, with_hint

__all__ = ["KIND", "certify", "check"]

KIND: Final = "prices"
_FORM: Final = 1


def certify(columns: Sequence[Column], k: int, counts: Sequence[int], prices: Sequence[float]) -> Certificate:
    """Write prices as others can check them.

    Parameters
    ----------
    columns : sequence of Column
        The quasi-identifiers: their kinds, orders, and whether values lie as far apart as their ranks.
    k : int
    counts : sequence of int, shape (n_rows,)
        Records of each distinct row, in the order of their first records in the data.
    prices : sequence of float, shape (n_rows,)
        Of a record of each row.
    """
    specs = {column.name: asdict(ColumnSpec(column.kind, column.spec.order)) for column in columns}
    return Certificate.of(
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

    def ranked_otherwise(self, reading: Reading) -> list[Failure]:
        """Say which columns are placed by rank here and by value there."""
        other = sorted({*self.by_rank} ^ {*reading.by_rank})
        return [Failure(f"{AS_READ}: {name!r} goes by rank in one of the two alone; say by_rank=") for name in other]

    @classmethod
    def read(cls, entries: Mapping[str, Any]) -> _Entries:
        try:
            found = cls(
                k=entries["k"],
                columns=tuple(entries["columns"]),
                specs={name: spec_in(spec) for name, spec in entries["specs"].items()},
                by_rank=tuple(entries["by_rank"]),
                n_records=entries["n_records"],
                sum=float(entries["sum"]),
                prices=np.array([float(price) for price in entries["prices"]]),
            )
            is_one = entries["form"] == _FORM and set(found.specs) == set(found.columns)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            is_one = False
        if not is_one or not found.columns or not np.isfinite([*found.prices, found.sum]).all():
            msg = with_hint("the certificate of prices is not as it was written.", "write it anew.")
            raise InputError(msg)
        check_whole("the certificate's k", found.k, 1)
        check_whole("the certificate's n_records", found.n_records, 1)
        return found


def check(data: Any, entries: Mapping[str, Any], reading: Reading) -> Verdict:
    """Check that no class of the data costs less than its members' prices, and what they sum up to.

    Parameters
    ----------
    data : path or dataframe
        The input, rows in the order that the certificate was made for.
    entries : mapping
        What `certify` wrote.
    reading : Reading
        How the columns are read.

    Raises
    ------
    ColumnError
        A column is not in the data.
    InputError
        It is no certificate of prices, or not of this data: numbers of rows and records differ.

    Notes
    -----
    For k = 2 all pairs of rows are compared: three records or more cost at least half of what their pairs do
    together. For larger k a branch and bound of its own looks for a class that costs less, from
    each row over those that are cheaper and near enough: a minute for 20,000 rows, and minutes for prices of an ascent.
    """
    certificate = _Entries.read(entries)
    frame = reading.frame(data, certificate.columns)
    check_columns(tuple(reading.by_rank), certificate.columns, "by_rank")
    coded = reading.coded(frame, certificate.columns)
    failures = [*reading.differences(frame, coded, certificate.specs), *certificate.ranked_otherwise(reading)]
    if failures:
        return reading.refused(failures, certificate.columns, frame.n_rows)
    columns, codes = zip(*(coded[name] for name in certificate.columns), strict=True)
    shifted = np.column_stack(codes).astype(np.int64) + 1
    rows, first, counts = np.unique(shifted, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    if frame.n_rows != certificate.n_records or len(rows) != len(certificate.prices):
        msg = with_hint(
            f"the certificate speaks of {certificate.n_records} records with {len(certificate.prices)} distinct rows; "
            f"the data have {frame.n_rows} with {len(rows)}.",
            "check it against the data that it was made for, in the same order.",
        )
        raise InputError(msg)
    spread = Spread(
        rows[order],
        counts[order],
        tuple(
            _positions(column, by_rank=column.name in reading.by_rank) if column.is_ordered else None
            for column in columns
        ),
    )
    readings = {column.name: reading.told_of(column) for column in columns}
    return _verdict(certificate, spread, frame.n_rows, readings)


def _verdict(certificate: _Entries, spread: Spread, n_records: int, readings: Mapping[str, str]) -> Verdict:
    k, prices = certificate.k, certificate.prices
    total = math.fsum((prices * spread.counts).tolist())
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
    if ((prices > TOLERANCE) & (spread.counts >= k)).any():
        failures.append(Failure(f"{condition}: rows of {k} records cost nothing and have a price"))
    elif k == 2:
        worst = dear_pairs(spread, prices)
        if worst > TOLERANCE:
            failures.append(Failure(f"{condition}: a pair costs {worst:g} less"))
    else:
        worst, n_open = dear_class(spread, prices, k)
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


def _positions(column: Column, *, by_rank: bool) -> FloatArray:
    """Place the values of an ordered column on [0, 1]."""
    if column.n_values <= 1 or by_rank or not column.is_measured:
        return np.linspace(0.0, 1.0, max(1, column.n_values))
    values = column.values
    if column.kind == "decimal":
        scaled = values / np.abs(values[[0, -1]]).max()
        return np.asarray((scaled - scaled[0]) / (scaled[-1] - scaled[0]))
    whole = [int(each) for each in values.astype(np.int64).tolist()]
    return np.array([(each - whole[0]) / (whole[-1] - whole[0]) for each in whole])
