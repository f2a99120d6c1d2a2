"""Attacks: a score of each record, higher for those who look like members. No attack sees who is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.risk.attacks.attack import Coded
from hushtable.risk.members.coding import (
    CodedRecords,
    NearestIndex,
    encode_by_distance,
    encode_by_surprisal,
    log_densities,
)
from hushtable.risk.members.participants import count_equal_rows

_N_NEAR: Final = 5
_RATIO_FLOOR: Final = 0.001  # of a standard deviation: equal records are not infinitely much nearer
_MAX_DENSITY_RECORDS: Final = 1_000  # that a density is a sum over
_MAX_CELLS_OF_TABLE: Final = 1 << 22  # of a table of counts by pairs of values
_SEED_OF_DENSITY: Final = 0


@dataclass(frozen=True)
class MembershipAttacker:
    """What an attacker has: the records that may be members, the synthetic table, and a reference, perhaps none."""

    tables: Coded = field(repr=False)
    targets: CodeArray = field(repr=False)  # (n_columns, n_targets)
    synthetic: CodeArray = field(repr=False)
    reference: CodeArray | None = field(repr=False)
    seed: int

    @property
    def widths(self) -> tuple[int, ...]:
        """How many values each column has in all tables."""
        return self.tables.joint.widths

    def with_synthetic(self, targets: CodeArray, synthetic: CodeArray) -> MembershipAttacker:
        """Return an attacker with the same reference who attacks other records by another table."""
        return MembershipAttacker(self.tables, targets, synthetic, self.reference, self.seed)

    @cached_property
    def known(self) -> CodeArray:
        """All records that the attacker has, of which scales and frequencies are taken."""
        return self.synthetic if self.reference is None else np.hstack([self.synthetic, self.reference])

    @cached_property
    def _records_by_ranks(self) -> list[CodedRecords]:
        return encode_by_distance(self.tables, self.known, [self.targets, self.synthetic, self.reference_rows], "ranks")

    @property
    def reference_rows(self) -> CodeArray:
        """The records of the reference; none where there is none."""
        return self.synthetic[:, :0] if self.reference is None else self.reference

    @cached_property
    def nearest_by_ranks(self) -> tuple[CountArray, FloatArray]:
        """The nearest synthetic records (n_targets, n_near) by ranks of numbers, and squared distances to them."""
        targets, synthetic, _ = self._records_by_ranks
        return NearestIndex(synthetic).find_cheapest(targets, _N_NEAR)

    @cached_property
    def reference_distances_by_ranks(self) -> FloatArray:
        """Squared distances to the nearest records of the reference by ranks of numbers."""
        targets, _, reference = self._records_by_ranks
        return NearestIndex(reference).find_cheapest(targets, _N_NEAR)[1]

    @cached_property
    def distances_by_values(self) -> tuple[FloatArray, FloatArray | None]:
        """Squared distances to the nearest synthetic record and to the nearest of the reference, by numbers."""
        targets, synthetic, reference = encode_by_distance(
            self.tables, self.known, [self.targets, self.synthetic, self.reference_rows], "values"
        )
        to_synthetic = NearestIndex(synthetic).find_cheapest(targets, 1)[1][:, 0]
        return to_synthetic, None if self.reference is None else NearestIndex(reference).find_cheapest(targets, 1)[1][
            :, 0
        ]

    @cached_property
    def agreements(self) -> tuple[FloatArray, FloatArray | None]:
        """The greatest sum of surprisals of equal cells with a synthetic record, and with one of the reference."""
        targets, synthetic, reference = encode_by_surprisal(
            self.tables, self.known, [self.targets, self.synthetic, self.reference_rows]
        )
        total = targets.weights.sum(axis=1, dtype=float)
        with_synthetic = total - NearestIndex(synthetic).find_cheapest(targets, 1)[1][:, 0]
        if self.reference is None:
            return with_synthetic, None
        with_reference = total - NearestIndex(reference).find_cheapest(targets, 1)[1][:, 0]
        return np.asarray(with_synthetic), np.asarray(with_reference)

    @cached_property
    def value_scores(self) -> FloatArray:
        """Scores (n_columns, n_targets) by how often each value occurs."""
        return np.array([self._compare_counts([j]) for j in range(len(self.widths))])

    @cached_property
    def pair_scores(self) -> FloatArray:
        """Scores by how often values and pairs of values occur, summed over columns."""
        total = self.value_scores.sum(axis=0)
        for pair in combinations(range(len(self.widths)), 2):
            total += self._compare_counts(pair)
        return np.asarray(total)

    def _compare_counts(self, columns: tuple[int, ...] | list[int]) -> FloatArray:
        """Return log((count among the synthetic + 1) / (count in the reference + 1)), of tables of one size."""
        assert self.reference is not None
        n_each = min(self.synthetic.shape[1], self.reference.shape[1])
        sides = []
        for count, rows in zip(
            count_cells([self.targets, self.synthetic, self.reference], columns, self.widths),
            (self.synthetic, self.reference),
            strict=True,
        ):
            sides.append(np.log1p(count * (n_each / rows.shape[1])))
        return np.asarray(sides[0] - sides[1])

    @cached_property
    def bandwidth(self) -> float:
        """Silverman's, of as many dimensions as there are columns, whose spread is that of two random records."""
        records = self._sample(self._records_by_ranks[1])
        shifted = np.roll(records.cells, 1, axis=0)
        is_number = np.array(records.is_number)
        costs = np.where(is_number, (records.cells - shifted) ** 2, records.cells != shifted)
        n, d = costs.shape
        spread = math.sqrt(float(costs.sum(axis=1).mean()) / 2 / d) or 1.0
        return float(spread * (4 / (d + 2) / n) ** (1 / (d + 4)))

    def _sample(self, records: CodedRecords) -> CodedRecords:
        rng = np.random.default_rng(_SEED_OF_DENSITY)
        return records.take(rng.permutation(len(records.cells))[:_MAX_DENSITY_RECORDS])

    def compare_densities(self) -> FloatArray:
        """Return the logarithm of the density of the synthetic records over that of the reference."""
        targets, synthetic, reference = self._records_by_ranks
        densities = [log_densities(targets, self._sample(each), self.bandwidth) for each in (synthetic, reference)]
        return densities[0] - densities[1]

    def explain_neighbours(self) -> FloatArray:
        """Return how much better the reference with a target in it explains the synthetic records near the target."""
        _, synthetic, reference = self._records_by_ranks
        near, costs = self.nearest_by_ranks
        touched, which = np.unique(near, return_inverse=True)
        log_density = log_densities(synthetic.take(touched), self._sample(reference), self.bandwidth)
        kernel = -costs / (2 * self.bandwidth**2)
        n_reference = len(reference.cells)
        gains = np.logaddexp(0.0, kernel - math.log(n_reference) - log_density[which.reshape(near.shape)])
        return np.asarray(gains.sum(axis=1))


def count_cells(
    tables: list[CodeArray], columns: list[int] | tuple[int, ...], widths: tuple[int, ...]
) -> list[CountArray]:
    """Count for each record of the first table the records of the others that hold the same values."""
    keys = [np.zeros(table.shape[1], dtype=np.int64) for table in tables]
    n_keys = 1
    for j in columns:
        keys = [key * (widths[j] + 1) + table[j] + 1 for key, table in zip(keys, tables, strict=True)]
        n_keys *= widths[j] + 1
    if n_keys > _MAX_CELLS_OF_TABLE:
        distinct, dense = np.unique(np.concatenate(keys), return_inverse=True)
        n_keys = len(distinct)
        keys = np.split(dense.reshape(-1), np.cumsum([len(key) for key in keys])[:-1])
    return [np.bincount(key, minlength=n_keys)[keys[0]] for key in keys[1:]]


def _score_ratio(attacker: MembershipAttacker) -> FloatArray:
    to_synthetic, to_reference = attacker.distances_by_values
    assert to_reference is not None
    return _compare_distances(to_synthetic, to_reference)


def _score_ratio_of_ranks(attacker: MembershipAttacker) -> FloatArray:
    return _compare_distances(attacker.nearest_by_ranks[1][:, 0], attacker.reference_distances_by_ranks[:, 0])


def _compare_distances(to_synthetic: FloatArray, to_reference: FloatArray) -> FloatArray:
    logs = [np.log(np.sqrt(squared) + _RATIO_FLOOR) for squared in (to_synthetic, to_reference)]
    return np.asarray(logs[1] - logs[0])


def _score_copies(attacker: MembershipAttacker) -> FloatArray:
    tables = [attacker.targets, attacker.synthetic, attacker.reference_rows]
    n_synthetic, n_reference = count_equal_rows(tables, attacker.widths)
    return np.asarray(np.log((n_synthetic + 0.5) / (n_reference + 0.5)))


def _score_agreement(attacker: MembershipAttacker) -> FloatArray:
    with_synthetic, with_reference = attacker.agreements
    assert with_reference is not None
    return with_synthetic - with_reference


def _score_boosting(attacker: MembershipAttacker) -> FloatArray | None:
    """Return the probability that a record is synthetic and not of the reference; None without scikit-learn."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits
    except ImportError:
        return None
    assert attacker.reference is not None
    learner = HistGradientBoostingClassifier(random_state=attacker.seed % 2**32, early_stopping=False)
    labels = np.repeat([1, 0], [attacker.synthetic.shape[1], attacker.reference.shape[1]])
    # scikit-learn takes all cores, and waits for them where others work there too.
    with threadpool_limits(1, "openmp"):
        learner.fit(attacker.known.T, labels)
        return np.asarray(learner.decision_function(attacker.targets.T))


ATTACKS: Final[Mapping[str, Callable[[MembershipAttacker], FloatArray | None]]] = MappingProxyType(
    {
        "distance": lambda attacker: -attacker.distances_by_values[0],
        "ratio": _score_ratio,
        "rank distance": lambda attacker: -attacker.nearest_by_ranks[1][:, 0],
        "rank ratio": _score_ratio_of_ranks,
        "copies": _score_copies,
        "counts": lambda attacker: attacker.value_scores.sum(axis=0),
        "pairs": lambda attacker: attacker.pair_scores,
        "agreement": _score_agreement,
        "agreement alone": lambda attacker: attacker.agreements[0],
        "boosting": _score_boosting,
        "domias": MembershipAttacker.compare_densities,
        "gen-lra": MembershipAttacker.explain_neighbours,
    }
)
"""Every attack by its name."""

WITHOUT_REFERENCE: Final = frozenset({"distance", "rank distance", "copies", "agreement alone"})
"""The attacks that need no reference."""
