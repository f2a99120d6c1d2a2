"""The certificate of local suppression: what each record has to pay at least, and that nothing between is possible.

If k records that agree on some columns never blank the others for less than the prices of these records, no release
costs less than all prices. Of cheaper releases than the stated one an integer programme finds none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.claims.certificates.blocks import FloorEntries, StatedFloor, check_floor, read_floor
from hushtable.claims.certificates.lattice import ReadColumns, weights_in
from hushtable.claims.certificates.record import Reading
from hushtable.claims.grouping import count_records, label_rows
from hushtable.claims.verdict import Failure, Verdict
from hushtable.errors import InputError
from hushtable.models import KAnonymity
from hushtable.search import milp

_TOLERANCE: Final = 1e-6
_INFEASIBLE: Final = 2  # as SciPy reports it
_MOST_COLUMNS: Final = 16
_MOST_CHOICES: Final = 200_000

_IS_INPUT: Final = "the input is as stated"
_IS_RELEASE: Final = "what records keep is as stated"
_IS_FLOOR: Final = "no k records cost less than their prices"
_IS_BEST: Final = "no blanks cost less"
_CONDITIONS: Final = (_IS_INPUT, _IS_RELEASE, _IS_FLOOR, _IS_BEST)


def check(data: object, entries: FloorEntries, reading: Reading) -> Verdict:
    """Check that the stated blanks cost what is stated, and that no others cost less than the floor."""
    # A blank is one along every hierarchy.
    entries = {**entries, "hierarchies": {}}
    return check_floor(data, entries, reading, _StatedBlanks.from_entries, _CONDITIONS)


@dataclass(frozen=True, slots=True, eq=False)
class _StatedBlanks(StatedFloor):
    """What a certificate says, and the distinct rows of the input in the order of their codes."""

    codes: CodeArray = field(repr=False)  # (n_columns, n_rows)
    counts: CountArray = field(repr=False)
    weights: FloatArray
    scale: float  # from the sum of weighted blanks to the loss
    k: int
    kept: CountArray = field(repr=False)  # (n, 3): a row, the columns as bits, records

    @classmethod
    def from_entries(cls, read: ReadColumns, entries: FloorEntries) -> _StatedBlanks:
        ((loss, options),) = entries["loss"].items()
        if loss not in ("ncp", "certainty", "minimal_distortion"):
            raise InputError(f"a certificate of blanks by the loss {loss!r}.", hint="no checker knows it.")
        is_by_size = bool(read.models) and all(type(model) is KAnonymity for model in read.models)
        if entries["person"] is not None or not is_by_size:
            raise InputError("a certificate of blanks with persons, or other models.", hint="none is made.")
        codes = np.array([read.encoded[name][1] for name in read.columns])
        labels, first = label_rows(codes)
        counts = count_records(labels, len(first), read.frame.counts)
        order = np.lexsort(tuple(codes[::-1, first]))
        weights = np.array(weights_in(options, read.columns))
        n = int(counts.sum())
        scale = 1 / max(1e-300, n * math.fsum(weights)) if loss == "ncp" else 1.0
        return cls(
            *read_floor(entries, scale * float(weights.max())),
            codes[:, first][:, order],
            counts[order],
            weights,
            scale,
            max(model.min_size for model in read.models),
            np.array(entries["kept"], dtype=np.int64).reshape(-1, 3),
        )

    def judge(self) -> tuple[list[Failure], dict[str, str]]:
        """Return the failures, and why some conditions could not be judged."""
        if self.stated != int(self.counts.sum()) or len(self.prices) != len(self.counts):
            return [Failure(f"{_IS_INPUT}: it has another number of records")], {}
        failures = [*self._release_failures()]
        varied = [j for j, codes in enumerate(self.codes) if (codes != codes[0]).any()]
        if len(varied) > _MOST_COLUMNS:
            why = f"more than {_MOST_COLUMNS} columns have too many sets"
            return failures, {_IS_FLOOR: why, _IS_BEST: why}
        total = float(self.prices @ self.counts)
        unpriced = self.bound / self.scale - _round_up(total, self.weights)
        slack = self.slack / self.scale
        near = _NearSets(self, max(0.0, self.bound / self.scale - total) + slack)
        worst = min((near.look_at(varied, n) for n in range(1 << len(varied))), default=0.0)
        if worst < -slack / max(1, len(self.counts)):
            return [*failures, Failure(f"{_IS_FLOOR}: {self.k} records cost {-worst:g} less")], {}
        if unpriced <= slack:
            return failures, {}
        if near.n_choices > _MOST_CHOICES:
            return failures, {_IS_BEST: "the integer programme has too many choices"}
        least = near.solve()
        if least is None:
            return failures, {_IS_BEST: "the integer programme came to no end"}
        if least < self.bound / self.scale - slack:
            failures.append(Failure(f"{_IS_BEST}: others cost {self.scale * least:g}"))
        return failures, {}

    def _release_failures(self) -> Iterator[Failure]:
        """Yield failures: records that are not those of the input, too few that publish the same, another cost."""
        rows, bits, n_records = self.kept.T
        if len(rows) and (rows.min() < 0 or rows.max() >= len(self.counts)):
            yield Failure(f"{_IS_RELEASE}: it names rows that there are not")
            return
        if (np.bincount(rows, n_records, len(self.counts)) != self.counts).any() or (n_records < 1).any():
            yield Failure(f"{_IS_RELEASE}: it has another number of records of some rows")
            return
        is_kept = ((bits >> np.arange(len(self.codes))[:, None]) & 1).astype(bool)
        published = np.where(is_kept, self.codes[:, rows] + 1, -1)
        labels, first = label_rows(published)
        if count_records(labels, len(first), n_records).min() < self.k:
            yield Failure(f"{_IS_RELEASE}: fewer than {self.k} records publish the same cells")
        cost = self.scale * float(self.weights @ (~is_kept @ n_records))
        yield from self.find_wrong_losses(cost, _IS_RELEASE)


class _NearSets:
    """What rows may keep in classes that cost at most so much more than their prices."""

    def __init__(self, stated: _StatedBlanks, above: float) -> None:
        self.stated, self.above = stated, above
        self.rows: list[CountArray] = []
        self.costs: list[float] = []
        self.classes: list[CountArray] = []
        self.n_choices = self.n_classes = 0

    def look_at(self, varied: list[int], number: int) -> float:
        """Look at the rows that keep all columns but some; return how much the cheapest k records cost above prices."""
        stated = self.stated
        is_blank = np.zeros(len(stated.codes), dtype=bool)
        is_blank[[j for i, j in enumerate(varied) if number >> i & 1]] = True
        cost = float(stated.weights[is_blank].sum())
        labels, first = label_rows(stated.codes[~is_blank]) if (~is_blank).any() else _label_all(len(stated.counts))
        above = _cost_above_prices(stated, labels, len(first), cost)
        near = np.flatnonzero(above <= self.above)
        if len(near):
            names, numbers = np.unique(labels[near], return_inverse=True)
            self.rows.append(near)
            self.costs.append(cost)
            self.classes.append(self.n_classes + numbers)
            self.n_choices += len(near)
            self.n_classes += len(names)
        return float(above.min(initial=math.inf))

    def solve(self) -> float | None:
        """Return what the cheapest release of such classes costs at least; None where no answer was found."""
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint

        if not self.rows:
            return math.inf
        counts, n_x, n_z = self.stated.counts, self.n_choices, self.n_classes
        rows, classes = np.concatenate(self.rows), np.concatenate(self.classes)
        # The solver's tolerances are absolute: the largest weight becomes 1.
        unit = float(self.stated.weights.max())
        costs = np.repeat(self.costs, [len(each) for each in self.rows]) / unit
        x, ones, n = sparse.eye(n_x, format="csr"), np.ones(n_x), counts[rows].astype(float)
        of_rows = sparse.csr_matrix((ones, (rows, np.arange(n_x))), shape=(len(counts), n_x))
        of_classes = sparse.csr_matrix((ones, (classes, np.arange(n_x))), shape=(n_z, n_x))
        no_z = sparse.csr_matrix((len(counts), n_z))
        full = sparse.hstack([of_classes, -self.stated.k * sparse.eye(n_z)])
        there = sparse.hstack([-x, sparse.diags(n) @ of_classes.T])
        solved = milp(
            np.append(costs, np.zeros(n_z)),
            integrality=np.ones(n_x + n_z),
            bounds=Bounds(np.zeros(n_x + n_z), np.append(n, np.ones(n_z))),
            constraints=[
                LinearConstraint(sparse.hstack([of_rows, no_z]), counts, counts),
                LinearConstraint(sparse.vstack([full, there]), 0.0, np.inf),
            ],
            options={"mip_rel_gap": 0.0},
        )
        if solved.status == _INFEASIBLE:
            return math.inf
        return None if solved.mip_dual_bound is None else unit * float(solved.mip_dual_bound)


def _label_all(n_rows: int) -> tuple[CountArray, CountArray]:
    return np.zeros(n_rows, dtype=np.int64), np.zeros(1, dtype=np.int64)


def _cost_above_prices(stated: _StatedBlanks, labels: CountArray, n_classes: int, cost: float) -> FloatArray:
    """Return by how much the cheapest k records of a class cost more than their prices, one of each row among them.

    inf where a class has fewer than k records. Row by row: the definition, one class after the other.
    """
    above = np.full(len(labels), math.inf)
    order = np.lexsort((-stated.prices, labels))
    sizes = count_records(labels, n_classes, stated.counts)
    for rows in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if sizes[labels[rows[0]]] < stated.k:
            continue
        # The dearest k records, a price for each.
        dearest = list(
            itertools.islice(
                (stated.prices[row] for row in rows.tolist() for _ in range(int(stated.counts[row]))), stated.k
            )
        )
        total, last = math.fsum(dearest), dearest[-1]
        swap = np.maximum(0.0, last - stated.prices[rows])
        above[rows] = stated.k * cost - total + swap
    return above


def _round_up(total: float, weights: FloatArray) -> float:
    """Round up to the next sum of weights, where all are multiples of the least."""
    least = float(weights[weights > 0].min(initial=math.inf))
    if not math.isfinite(least) or not np.array_equal(weights / least, np.rint(weights / least)):
        return total
    return least * math.ceil(total / least - _TOLERANCE)
