"""Checks the certificate of full-domain recoding: intervals that are the lattice, and why each holds nothing better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from hushtable._types import TOLERANCE, BoolArray, CodeArray, CountArray, FloatArray
from hushtable.claims.certificates.record import Reading, spec_in
from hushtable.claims.grouping import build_ground, count_records, count_values, label_rows
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Hierarchy
from hushtable.io import frames
from hushtable.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ClassStats,
    DeltaDisclosure,
    DistinctLDiversity,
    EntropyLDiversity,
    Histogram,
    KAnonymity,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
    describe,
    models_from_claim,
)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedLadder:
    """What the rows of a table publish of one column, at every level; arrays are (n_levels, n_rows)."""

    texts: CountArray = field(repr=False)  # a number for every text
    levels: CountArray = field(repr=False)  # of the hierarchy; a missing value is itself, level 0, below the top
    shares: FloatArray = field(repr=False)  # of the domain; a leaf's at least
    leaf: float

    @property
    def top(self) -> int:
        """The highest level."""
        return len(self.texts) - 1

    @classmethod
    def from_codes(cls, hierarchy: Hierarchy, codes: CodeArray) -> PublishedLadder:
        """Look up what every row publishes."""
        top, is_known = hierarchy.n_levels - 1, codes >= 0
        shape = (top + 1, len(codes))
        texts, levels, shares = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64), np.zeros(shape)
        numbers: dict[tuple[bool, str | None], int] = {}
        for level in range(top + 1):
            at = np.full(len(codes), level)
            if hierarchy.lowest is not None:
                at[is_known] = np.maximum(level, hierarchy.lowest[codes[is_known]])
            for own_level in np.unique(at[is_known]).tolist():
                rows = np.flatnonzero(is_known & (at == own_level))
                nodes = hierarchy.level_codes[own_level][codes[rows]]
                labels = [(own_level == 0, text) for text in hierarchy.labels[own_level]]
                number = np.array([numbers.setdefault(label, len(numbers)) for label in labels])
                texts[level, rows], shares[level, rows] = number[nodes], hierarchy.shares[own_level][nodes]
            star = level == top
            text = hierarchy.labels[top][0] if star else None
            texts[level, ~is_known] = numbers.setdefault((False, text), len(numbers))
            shares[level, ~is_known] = 1.0 if star else hierarchy.leaf_share
            levels[level] = np.where(is_known | star, at, 0)
        return cls(texts, levels, np.maximum(shares, hierarchy.leaf_share), hierarchy.leaf_share)


@dataclass(frozen=True, slots=True, eq=False)
class CellCosts:
    """A loss that is a sum over cells."""

    costs: tuple[FloatArray, ...] = field(repr=False)  # by column, (n_levels, n_rows)
    stars: tuple[FloatArray, ...] = field(repr=False)  # by column, (n_rows,): what a suppressed cell costs
    counts: CountArray = field(repr=False)
    name: str
    options: Mapping[str, Any]  # of the loss
    weights: tuple[float, ...]
    leaves: tuple[float, ...]

    def node_loss(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return the loss of a node with some rows suppressed."""
        del labels
        pairs = zip(self.costs, self.stars, levels, strict=True)
        return self._aggregate_cells([np.where(gone, star, cost[level]) for cost, star, level in pairs])

    def lower_bound(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return what all nodes from one up lose at least at which these rows are suppressed."""
        del labels
        pairs = zip(self.costs, self.stars, levels, strict=True)
        return self._aggregate_cells([np.where(gone, star, cost[level:].min(axis=0)) for cost, star, level in pairs])

    def _aggregate_cells(self, cells: Sequence[FloatArray]) -> float:
        sums = [float((cell * self.counts).sum()) for cell in cells]
        n = int(self.counts.sum())
        if self.name == "non_uniform_entropy":
            return sum(weight * each for weight, each in zip(self.weights, sums, strict=True))
        if self.name != "arx_loss":
            total = sum(self.weights)
            return sum(w * each / n for w, each in zip(self.weights, sums, strict=True)) / total if total else 0.0
        factor, losses = _generalization_factor(self.options), []
        for cost, leaf in zip(sums, self.leaves, strict=True):
            room = n - factor * n * leaf
            losses.append(math.floor(1e10 * max(0.0, (cost - factor * n * leaf) / room) + 1e-4) / 1e10 if room else 0.0)
        max_weight = max(self.weights) or 1.0
        losses = [loss * weight / max_weight for loss, weight in zip(losses, self.weights, strict=True)]
        if self.options.get("mean", "geometric") == "arithmetic":
            return sum(losses) / len(losses)
        return math.exp(sum(math.log1p(loss) for loss in losses) / len(losses)) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ClassCosts:
    """A loss of the sizes of classes."""

    counts: CountArray = field(repr=False)
    is_squared: bool  # the sum of squares, or else the mean
    max_suppressed: int  # records that may be suppressed
    min_size: int  # records that every class holds

    def node_loss(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return the loss of a node with some rows suppressed."""
        del levels
        sizes, n = self._class_sizes(labels, gone)
        if self.is_squared:
            return float(sum(size * size for size in sizes) + (n - sum(sizes)) * n)
        return sum(sizes) / len(sizes) if sizes else math.inf

    def lower_bound(self, levels: Sequence[int], labels: CountArray, gone: BoolArray) -> float:
        """Return what all nodes from one up lose at least at which these rows are suppressed."""
        del levels
        sizes, n = self._class_sizes(labels, gone)
        if self.is_squared:
            return float(sum(size * max(size, self.min_size) for size in sizes) + (n - sum(sizes)) * n)
        n_left = first = max(1, min(sum(sizes), n - self.max_suppressed))
        shared = 0.0
        for size in sorted(sizes):
            n_taken = min(size, n_left)
            shared, n_left = shared + n_taken / max(size, self.min_size), n_left - n_taken
        return first / shared if shared else math.inf

    def _class_sizes(self, labels: CountArray, gone: BoolArray) -> tuple[list[int], int]:
        sizes = np.bincount(labels[~gone], weights=self.counts[~gone]).astype(np.int64)
        return sizes[sizes > 0].tolist(), int(self.counts.sum())


def costs_of(
    entry: Mapping[str, Any],
    columns: Sequence[str],
    ladders: Sequence[PublishedLadder],
    codes: CodeArray,
    counts: CountArray,
    max_suppressed: int,
    min_size: int,
) -> CellCosts | ClassCosts:
    """Return what nodes cost by a loss as policies write it: ``{name: {option: value}}``."""
    ((name, options),) = entry.items()
    if name in ("discernibility", "average_class_size"):
        return ClassCosts(counts, name == "discernibility", max_suppressed, min_size)
    ones = np.ones(len(counts))
    n = int(counts.sum())
    costs: list[FloatArray] = []
    stars = [ones] * len(columns)
    for j, ladder in enumerate(ladders):
        if name == "arx_loss":
            costs.append(ladder.shares * _generalization_factor(options))
        elif name == "ncp":
            is_missing = (codes[j] < 0) & (np.arange(ladder.top + 1) < ladder.top)[:, None]
            costs.append(np.where((ladder.levels == 0) | is_missing, 0.0, ladder.shares))
        elif name == "precision":
            costs.append(ladder.levels / ladder.top)
        elif name == "non_uniform_entropy":
            frequency = _frequencies(codes[j] + 1, counts)
            costs.append(np.log2([_frequencies(texts, counts) for texts in ladder.texts]) - np.log2(frequency))
            stars[j] = math.log2(n) - np.log2(frequency)
        else:
            raise InputError(f"a certificate by the loss {name!r}.", hint="no checker knows it.")
    leaves = tuple(ladder.leaf for ladder in ladders)
    return CellCosts(tuple(costs), tuple(stars), counts, name, options, weights_in(options, columns), leaves)


def weights_in(options: Mapping[str, Any], columns: Sequence[str]) -> tuple[float, ...]:
    """Return the weights of columns by the options of a loss."""
    weights = tuple(float(options.get("weights", {}).get(column, 1.0)) for column in columns)
    if not all(0 <= weight < math.inf for weight in weights):
        raise InputError("a certificate by a loss with a weight below 0.", hint="no loss has one.")
    return weights


def _generalization_factor(options: Mapping[str, Any]) -> float:
    return min(1.0, 2 - 2 * float(options.get("gs_factor", 0.5)))


def _frequencies(codes: CodeArray | CountArray, counts: CountArray) -> FloatArray:
    """Return the records with the code of every row."""
    return np.asarray(np.bincount(codes, weights=counts)[codes])


_LOSS_TOLERANCE: Final = 1e-9  # of a loss, or of a sum of excesses
_PAIRS_PER_STEP: Final = 2_000_000  # pairs of intervals that are compared at once

_IS_BEST: Final = "no node of the lattice loses less"
_IS_RELEASE: Final = "the node is as stated"
_IS_LATTICE: Final = "the intervals are disjoint and together the lattice"
_IS_INPUT: Final = "the input is as stated"

Vector = tuple[int, ...]


def check(data: Any, entries: Mapping[str, Any], reading: Reading) -> Verdict:
    """Check that a node of the lattice is feasible and that none loses less."""
    with complete_entries():
        read = ReadColumns.from_entries(data, entries, reading)
        if read.failures:
            return reading.verdict_of_failures(read.failures, read.columns, read.frame.n_rows)
        checked = _Checked.from_entries(read, entries)
        failures = tuple(checked.find_failures())
    figures = {
        "value": checked.stated_loss,
        "n_intervals": len(checked.leaves),
        "n_nodes": math.prod(checked.heights),
        "readings": dict(read.readings),
        "hierarchies_of_certificate": [name for name in checked.columns if name not in reading.hierarchies],
        **{name: entries[name] for name in ("models", "person", "loss", "suppression_limit")},
    }
    searched = describe_search(figures, f"up to {figures['suppression_limit']:g}")
    conditions = (_IS_INPUT, _IS_LATTICE, _IS_RELEASE, f"{_IS_BEST} {searched}")
    return Verdict(conditions, failures, checked.columns, checked.n_records, figures=figures)


@dataclass(frozen=True, slots=True)
class _CheckedLeaf:
    reason: str
    low: Vector
    high: Vector
    witness: Vector | None
    n_failing: int


@dataclass(frozen=True, slots=True, eq=False)
class _NodeClasses:
    """The classes of a node: labels of rows, and the rows that fail all models, or what is inherited of them."""

    labels: CountArray
    failing: BoolArray
    tagged: BoolArray
    n_tagged: int
    is_hopeless: bool
    is_feasible: bool


@contextmanager
def complete_entries() -> Iterator[None]:
    """Raise InputError where a certificate lacks what is read of it, or has it as another type."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the certificate lacks entries, or they are of another type.", hint="make it anew.") from None


def describe_search(figures: Mapping[str, Any], suppression: str) -> str:
    """Describe what "best" refers to: loss, models, hierarchies and readings, of which none follows from the input."""
    read = ", ".join(f"{name!r} as {kind}" for name, kind in figures["readings"].items())
    models, own = ", ".join(map(describe, models_from_claim(figures["models"]))), figures["hierarchies_of_certificate"]
    along = f", along the certificate's hierarchies of {quote_names(own)}" if own else ""
    (loss,) = figures["loss"]
    return f"by {loss} under {models}, {suppression} suppressed{along}, reading {read}"


@dataclass(frozen=True, slots=True, eq=False)
class ReadColumns:
    """The columns that a certificate speaks of, as the checker reads them."""

    frame: frames.Frame
    columns: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[str, ...]
    judged_columns: tuple[str, ...]
    encoded: Mapping[str, tuple[Column, CodeArray]] = field(repr=False)
    readings: Mapping[str, str]
    failures: tuple[Failure, ...]

    @classmethod
    def from_entries(cls, data: Any, entries: Mapping[str, Any], reading: Reading) -> ReadColumns:
        """Read the columns that the entries name, and say which of them the certificate reads otherwise."""
        columns = tuple(entries["columns"])
        models = models_from_claim(entries["models"])
        person = entries["person"]
        sensitive = tuple(dict.fromkeys(name for model in models for name in model.needs.sensitive))
        judged_columns = (*sensitive, *(() if person is None else (person,)))
        frame = reading.open_input(data, (*columns, *judged_columns), person)
        encoded = reading.encode_columns(frame, (*columns, *judged_columns), sensitive)
        specs = {name: spec_in(spec) for name, spec in entries["specs"].items() if name != person}
        failures = tuple(reading.find_differences(frame, encoded, specs, sensitive))
        readings = {name: reading.describe_kind(encoded[name][0]) for name in (*columns, *sensitive)}
        return cls(frame, columns, models, sensitive, judged_columns, encoded, readings, failures)

    def reference_stats(
        self, codes: Mapping[str, CodeArray], counts: CountArray | None, hierarchies: Mapping[str, Any]
    ) -> ClassStats:
        """Return what models compare classes with: the sensitive values of all rows, and no class."""
        columns = {name: self.encoded[name][0] for name in self.sensitive}
        return ClassStats(
            np.empty(0, dtype=np.int64),
            totals={name: count_records(codes[name] + 1, each.n_values + 1, counts) for name, each in columns.items()},
            grounds={name: build_ground(each, hierarchies.get(name)) for name, each in columns.items()},
        )

    def build_hierarchy(
        self, name: str, codes: CodeArray, counts: CountArray | None, entries: Mapping[str, Any]
    ) -> Hierarchy:
        """Return the hierarchy of a column, whose rows have these codes."""
        column = self.encoded[name][0]
        totals = count_records(codes + 1, column.n_values + 1, counts)
        return Hierarchy.build(entries["hierarchies"][name], column, totals[1:], unknown=entries["unknown"])


@dataclass(frozen=True, slots=True, eq=False)
class _Checked:
    """What a certificate says, and the input, as distinct rows with counts."""

    entries: Mapping[str, Any]
    columns: tuple[str, ...]
    ladders: tuple[PublishedLadder, ...] = field(repr=False)
    counts: CountArray = field(repr=False)
    judged_codes: Mapping[str, CodeArray] = field(repr=False)
    reference: ClassStats = field(repr=False)
    models: tuple[PrivacyModel, ...]
    costs: CellCosts | ClassCosts = field(repr=False)
    leaves: tuple[_CheckedLeaf, ...] = field(repr=False)
    node_classes: dict[Vector, _NodeClasses] = field(default_factory=dict, repr=False)

    @classmethod
    def from_entries(cls, read: ReadColumns, entries: Mapping[str, Any]) -> _Checked:
        columns, judged_columns = read.columns, read.judged_columns
        codes = np.array([read.encoded[name][1] for name in (*columns, *judged_columns)])
        labels, first = label_rows(codes)
        counts = count_records(labels, len(first), read.frame.counts)
        rows = codes[:, first]
        ladders = [
            PublishedLadder.from_codes(read.build_hierarchy(name, rows[j], counts, entries), rows[j])
            for j, name in enumerate(columns)
        ]
        judged_codes = {name: rows[len(columns) + i] for i, name in enumerate(judged_columns)}
        reference = read.reference_stats(judged_codes, counts, entries["hierarchies"])
        min_size = max([1, *(model.min_size for model in read.models)])
        max_suppressed = int(entries["most_suppressed"])
        costs = costs_of(entries["loss"], columns, ladders, rows[: len(columns)], counts, max_suppressed, min_size)
        leaves = tuple(
            _CheckedLeaf(str(reason), tuple(low), tuple(high), None if witness is None else tuple(witness), int(n))
            for reason, low, high, witness, n in entries["intervals"]
        )
        return cls(entries, columns, tuple(ladders), counts, judged_codes, reference, read.models, costs, leaves)

    @property
    def n_records(self) -> int:
        return int(self.counts.sum())

    @property
    def max_suppressed(self) -> int:
        return int(self.entries["most_suppressed"])

    @property
    def stated_loss(self) -> float:
        return float(self.entries["value"])

    @property
    def heights(self) -> tuple[int, ...]:
        """How many levels every column has."""
        return tuple(ladder.top + 1 for ladder in self.ladders)

    @property
    def person(self) -> str | None:
        return None if self.entries["person"] is None else str(self.entries["person"])

    def find_failures(self) -> Iterator[Failure]:
        """Yield the failures; what depends on a failed condition is not checked."""
        limit = float(self.entries["suppression_limit"])
        stated = (tuple(self.entries["n_levels"]), int(self.entries["n_records"]), self.max_suppressed)
        if stated != (self.heights, self.n_records, int(limit * self.n_records)):
            yield Failure(f"{_IS_INPUT}: it has other records, levels, or another limit")
            return
        if not self._is_lattice():
            yield Failure(_IS_LATTICE)
            return
        levels = tuple(self.entries["levels"])
        if len(levels) != len(self.heights) or not self._holds_within((0,) * len(levels), levels):
            yield Failure(f"{_IS_RELEASE}: it is none of the lattice")
            return
        node = self.judge_node(levels)
        n_failing = int(self.counts[node.failing].sum())
        reached = self.costs.node_loss(levels, node.labels, node.failing)
        if not node.is_feasible or n_failing != int(self.entries["n_suppressed"]):
            yield Failure(f"{_IS_RELEASE}: {n_failing} records fail there")
        if not math.isclose(reached, self.stated_loss, rel_tol=_LOSS_TOLERANCE, abs_tol=_LOSS_TOLERANCE):
            yield Failure(f"{_IS_RELEASE}: it loses {reached!r}")
        n_open = sum(not self._is_closed(leaf) for leaf in self.leaves)
        if n_open:
            yield Failure(f"{_IS_BEST}: {n_open} of {len(self.leaves)} intervals are not shown to hold nothing better")

    def judge_node(self, levels: Vector) -> _NodeClasses:
        """Group the rows by what they publish, and judge the classes."""
        if levels not in self.node_classes:
            texts = np.array([ladder.texts[level] for ladder, level in zip(self.ladders, levels, strict=True)])
            labels, first = label_rows(texts)
            stats = self._class_stats(labels, len(first))
            closed = _monotone_models(self.models, self.reference, by_person=self.person is not None)
            tagged = _failing_classes(closed, stats)
            failing = tagged | _failing_classes(self.models, stats)
            n_tagged, n_failing = (int(stats.sizes[classes].sum()) for classes in (tagged, failing))
            if self.max_suppressed:
                is_hopeless = n_tagged > self.max_suppressed or (self.person is None and self._exceeds_bound(stats))
            else:
                # A union of classes that pass passes, so that one of the parts of a class that fails does too.
                is_hopeless = n_failing > 0 and (n_tagged > 0 or all(m.monotone_coarsening for m in self.models))
            is_feasible = n_failing <= self.max_suppressed and not failing.all()
            self.node_classes[levels] = _NodeClasses(
                labels, failing[labels], tagged[labels], n_tagged, is_hopeless, is_feasible
            )
        return self.node_classes[levels]

    def _class_stats(self, labels: CountArray, n_classes: int) -> ClassStats:
        sizes = np.bincount(labels, weights=self.counts, minlength=n_classes).astype(np.int64)
        histograms = {
            name: count_values(labels, codes, n_classes, self.counts) for name, codes in self.judged_codes.items()
        }
        persons = None if self.person is None else histograms[self.person].n_distinct()
        return ClassStats(sizes, histograms, self.reference.totals, grounds=self.reference.grounds, persons=persons)

    def _exceeds_bound(self, stats: ClassStats) -> bool:
        """Tell whether classes exceed a convex bound by more than the records account for that may be suppressed."""
        for model in self.models:
            for name in model.needs.sensitive:
                excess = _excess(model, stats)
                if excess is None:
                    continue
                present = np.flatnonzero(self.reference.totals[name])
                ones = np.ones(len(present), dtype=np.int64)
                alone = Histogram(np.arange(len(present) + 1), (present - 1).astype(np.int32), ones)
                single = ClassStats(ones, {name: alone}, self.reference.totals, grounds=self.reference.grounds)
                highest = _excess(model, single)
                assert highest is not None
                if excess.sum() > self.max_suppressed * highest.max(initial=0.0) + _LOSS_TOLERANCE * self.n_records:
                    return True
        return False

    def _is_closed(self, leaf: _CheckedLeaf) -> bool:
        """Tell whether an interval holds nothing better, and its count is right."""
        if leaf.witness is None:
            if leaf.n_failing:
                return False
            if leaf.reason == "node" and leaf.low == leaf.high:
                node = self.judge_node(leaf.low)
                return not node.is_feasible or self._is_enough(
                    self.costs.node_loss(leaf.low, node.labels, node.failing)
                )
            nobody = np.zeros(len(self.counts), dtype=bool)
            return leaf.reason == "loss" and self._is_enough(
                self.costs.lower_bound(leaf.low, self._class_labels(leaf.low), nobody)
            )
        node = self.judge_node(leaf.witness)
        if node.n_tagged != leaf.n_failing or any(w < h for w, h in zip(leaf.witness, leaf.high, strict=True)):
            return False
        if leaf.reason == "infeasible":
            return node.is_hopeless
        bound = self.costs.lower_bound(leaf.low, self._class_labels(leaf.low), node.tagged)
        return leaf.reason == "failing" and self._is_enough(bound)

    def _class_labels(self, levels: Vector) -> CountArray:
        """Return the classes of a node, where the loss asks for them."""
        return self.judge_node(levels).labels if isinstance(self.costs, ClassCosts) else np.empty(0, dtype=np.int64)

    def _is_enough(self, bound: float) -> bool:
        return bound >= self.stated_loss - _LOSS_TOLERANCE * max(1.0, abs(self.stated_loss))

    def _holds_within(self, low: Sequence[int], high: Sequence[int]) -> bool:
        ends = zip(low, high, self.heights, strict=True)
        return all(isinstance(a, int) and isinstance(b, int) and 0 <= a <= b < height for a, b, height in ends)

    def _is_lattice(self) -> bool:
        """Tell whether the intervals are disjoint and hold as many nodes as there are."""
        width = len(self.heights)
        for leaf in self.leaves:
            vectors = (leaf.low, leaf.high, *(() if leaf.witness is None else (leaf.witness,)))
            if any(len(each) != width for each in vectors) or not self._holds_within(leaf.low, vectors[-1]):
                return False
            if not self._holds_within(leaf.low, leaf.high):
                return False
        volumes = (math.prod(b - a + 1 for a, b in zip(leaf.low, leaf.high, strict=True)) for leaf in self.leaves)
        if sum(volumes) != math.prod(self.heights):
            return False
        low, high = (np.array([getattr(leaf, end) for leaf in self.leaves], dtype=np.int16) for end in ("low", "high"))
        step = max(1, _PAIRS_PER_STEP // max(1, len(low)))
        for begin in range(0, len(low), step):
            meets = np.ones((min(step, len(low) - begin), len(low)), dtype=bool)
            for j in range(width):
                meets &= low[begin : begin + step, j, None] <= high[None, :, j]
                meets &= low[None, :, j] <= high[begin : begin + step, j, None]
            if meets.sum() != len(meets):
                return False
        return True


def _failing_classes(models: Sequence[PrivacyModel], stats: ClassStats) -> BoolArray:
    fails = np.zeros(len(stats.sizes), dtype=bool)
    for model in models:
        fails |= ~model.passes(stats)
    return fails


def _monotone_models(models: Sequence[PrivacyModel], reference: ClassStats, *, by_person: bool) -> list[PrivacyModel]:
    """Return models that every passing class satisfies, and every union of one with other classes."""
    closed: list[PrivacyModel] = []
    for model in models:
        if isinstance(model, (KAnonymity, DistinctLDiversity)):
            closed.append(model)
        elif isinstance(model, AlphaKAnonymity):
            closed.append(KAnonymity(model.k))
        elif isinstance(model, EntropyLDiversity):
            closed.append(DistinctLDiversity(max(1, model.min_size), model.sensitive))
        elif isinstance(model, RecursiveCLDiversity):
            closed.append(DistinctLDiversity(model.l, model.sensitive))
        elif isinstance(model, DeltaDisclosure):
            n_known = int(np.count_nonzero(reference.totals[model.sensitive][1:]))
            closed += [DistinctLDiversity(n_known, model.sensitive)] if n_known else []
        elif model.min_size > 1 and not by_person:
            closed.append(KAnonymity(model.min_size))
    return closed


def _excess(model: PrivacyModel, stats: ClassStats) -> Any:
    """Return by how much every class exceeds a convex bound that follows from a model, in all its records."""
    if isinstance(model, EntropyLDiversity):
        histogram = stats.histograms[model.sensitive].without_missing()
        lacking = math.log(model.l) - np.log(np.maximum(1.0, model.measure(stats)))
        return histogram.sum_by_class(histogram.counts) * np.maximum(0.0, lacking - TOLERANCE)
    bounds: tuple[PrivacyModel, float]
    if isinstance(model, TCloseness):
        bounds = (model, model.t)
    elif isinstance(model, BetaLikeness):
        bounds = (BetaLikeness(model.beta, model.sensitive), model.beta)
    elif isinstance(model, DeltaDisclosure):
        gain = math.expm1(min(model.delta, 700.0))
        bounds = (BetaLikeness(gain, model.sensitive), gain)
    elif isinstance(model, AlphaKAnonymity):
        bounds = (AlphaKAnonymity(model.alpha, 1, model.sensitive), model.alpha)
    else:
        return None
    return stats.sizes * np.maximum(0.0, bounds[0].measure(stats) - bounds[1] - TOLERANCE)
