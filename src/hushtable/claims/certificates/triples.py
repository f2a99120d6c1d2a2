"""The certificate of triples: what each record of groups has to pay at least, and the slow check of it, by NumPy alone.

If no three records cost less about their mean than their prices together, groups of k records or more lose at least
1.5 (k - 1) / k times all prices: such a group of s records holds each of its pairs in s - 2 triples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hushtable._types import TOLERANCE, CodeArray, CountArray, FloatArray
from hushtable.claims.certificates.record import Certificate, Reading, spec_in
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column, ColumnSpec
from hushtable.errors import InputError, check_whole

KIND: Final = "triples"
_FORM: Final = 1
_MAX_ROWS: Final = 3_000  # of a stratum: the check takes time with their cube
_NUMERIC: Final = ("integer", "decimal")

TripleEntries = Mapping[str, Any]


def build_triple_certificate(
    columns: Sequence[Column], by: Sequence[Column], weights: Mapping[str, float], k: int, prices: FloatArray
) -> Certificate:
    """Write prices of records, in their order, as others can check them."""
    specs = {column.name: asdict(ColumnSpec(column.kind, column.spec.order)) for column in (*columns, *by)}
    return Certificate.from_entries(
        {
            "kind": KIND,
            "form": _FORM,
            "k": k,
            "columns": [column.name for column in columns],
            "by": [column.name for column in by],
            "specs": {name: {key: each for key, each in spec.items() if each} for name, spec in specs.items()},
            "weights": dict(weights),
            "sum": math.fsum(prices.tolist()),
            "prices": prices.tolist(),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class _TriplePrices:
    """What a certificate of triples holds."""

    k: int
    columns: tuple[str, ...]
    by: tuple[str, ...]
    specs: Mapping[str, ColumnSpec]
    weights: FloatArray  # (n_columns,)
    sum: float
    prices: FloatArray

    @classmethod
    def from_dict(cls, entries: TripleEntries) -> _TriplePrices:
        try:
            columns = tuple(entries["columns"])
            parsed = cls(
                k=entries["k"],
                columns=columns,
                by=tuple(entries["by"]),
                specs={name: spec_in(spec) for name, spec in entries["specs"].items()},
                weights=np.array([float(entries["weights"].get(name, 1.0)) for name in columns]),
                sum=float(entries["sum"]),
                prices=np.array([float(price) for price in entries["prices"]]),
            )
            is_one = entries["form"] == _FORM and set(parsed.specs) == {*columns, *parsed.by}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            is_one = False
        if not is_one or not columns or not np.isfinite([*parsed.prices, parsed.sum, *parsed.weights]).all():
            raise InputError("the certificate of triples is not as it was written.", hint="write it anew.")
        check_whole("the certificate's k", parsed.k, 3)
        return parsed


def check(data: object, entries: TripleEntries, reading: Reading) -> Verdict:
    """Check that no three records of a stratum cost less than their prices, and what these sum up to: all triples."""
    certificate = _TriplePrices.from_dict(entries)
    names = (*certificate.columns, *certificate.by)
    frame = reading.open_input(data, names)
    coded = reading.encode_columns(frame, names)
    failures = list(reading.find_differences(frame, coded, certificate.specs))
    if failures:
        return reading.verdict_of_failures(failures, names, frame.n_rows)
    if frame.n_rows != len(certificate.prices):
        raise InputError(
            f"the certificate speaks of {len(certificate.prices)} records; the data have {frame.n_rows}.",
            hint="check it against the data that it was made for, in the same order.",
        )
    points = _standardise([coded[name] for name in certificate.columns]) * np.sqrt(certificate.weights)
    strata = np.array([coded[name][1] for name in certificate.by]).reshape(len(certificate.by), frame.n_rows)
    condition = "no three records cost less than their prices together"
    bound = 1.5 * (certificate.k - 1) / certificate.k * certificate.sum / max(float((points**2).sum()), TOLERANCE)
    floor = f"no groups of {certificate.k} or more lose less than {bound:.6g} of the sum of squares"
    total = math.fsum(certificate.prices.tolist())
    if certificate.sum > total + TOLERANCE * frame.n_rows:
        failures.append(Failure(f"the prices sum up to {total:g}, and not to {certificate.sum:g}"))
    worst = max(_find_excess(points[rows], certificate.prices[rows]) for rows in _split_strata(strata))
    if worst > TOLERANCE:
        failures.append(Failure(f"{condition}: three cost {worst:g} less"))
    readings = {name: reading.describe_kind(coded[name][0]) for name in names}
    figures = {"k": certificate.k, "bound": bound, "readings": readings}
    return Verdict((condition, floor), tuple(failures), names, frame.n_rows, {}, figures)


def _standardise(cells: Sequence[tuple[Column, CodeArray]]) -> FloatArray:
    """Return numbers less their mean, over their standard deviation (n - 1); those of a constant column are 0."""
    standardised = []
    for column, codes in cells:
        if column.kind not in _NUMERIC or (codes < 0).any():
            raise InputError(
                f"column {column.name!r} is not whole: it holds missing cells, or no numbers.",
                hint="a certificate of triples speaks of complete records of numbers.",
            )
        # The extremes first: the square of a large number may be none.
        values = column.values.astype(np.float64) / max(float(np.abs(column.values.astype(np.float64)).max()), 1e-300)
        centred = (values - values[codes].mean())[codes]
        spread = float(np.sqrt((centred**2).sum() / max(1, len(centred) - 1)))
        standardised.append(centred / spread if column.n_values > 1 else np.zeros(len(codes)))
    return np.array(standardised).T


def _split_strata(strata: CodeArray) -> Iterator[CountArray]:
    if not len(strata):
        yield np.arange(strata.shape[1])
        return
    labels = np.unique(strata, axis=1, return_inverse=True)[1].ravel()
    yield from np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def _find_excess(points: FloatArray, prices: FloatArray) -> float:
    """Return by how much three records cost less than their prices together, at most; below 0 if none does."""
    n_rows = len(points)
    if n_rows > _MAX_ROWS:
        raise InputError(
            f"{n_rows:,} records of one stratum are too many triples to look at.",
            hint=f"a certificate of triples is checked for up to {_MAX_ROWS:,} records.",
        )
    thirds = np.zeros((n_rows, n_rows))
    for column in points.T:
        thirds += (column[:, None] - column[None, :]) ** 2 / 3
    # What two rows lack by themselves; a row is no pair with itself.
    excess = prices[:, None] + prices[None, :] - thirds
    np.fill_diagonal(excess, -np.inf)
    worst = -np.inf
    for row in range(n_rows - 2):
        later = slice(row + 1, n_rows)
        of_pairs = excess[later, later] - thirds[row, later][:, None] - thirds[row, later][None, :]
        worst = max(worst, float(of_pairs.max()) + float(prices[row]))
    return worst
