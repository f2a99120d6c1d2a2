"""The candidate space of cell-level recoding: what a cell may publish, and what each choice costs.

A cell publishes its value, an ancestor of it in the hierarchy, without a hierarchy an interval between two values, or
``*``. Equal rows publish the cheapest candidate they share: not always the lowest, as a loss may charge a node more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.errors import InfeasibleError
from hushtable.hierarchy import Hierarchy
from hushtable.kernels import cost
from hushtable.kernels.cost import Costs
from hushtable.models import PrivacyModel, describe
from hushtable.quality import CellLoss, Loss
from hushtable.recoding import Cells, Nodes, PublishedIntervals, Recoding, layout
from hushtable.tables import Partition, Table


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Everything that one column's cells may publish, one entry a candidate."""

    first: CodeArray  # first place that a candidate covers; "*" covers all places, the missing value's too
    last: CodeArray  # last place that it covers
    level: CodeArray  # of a hierarchy's node; a value has 0, an interval 1, "*" the last level
    costs: FloatArray  # weighted

    def list_covering(self, place: int) -> CountArray:
        """Return the candidates that cover a place."""
        return np.flatnonzero((self.first <= place) & (place <= self.last))


@dataclass(frozen=True, slots=True, eq=False)
class CandidateSpace:
    """What the cells of a table may publish, and at which cost."""

    columns: tuple[Column, ...]
    hierarchies: tuple[Hierarchy | None, ...]  # None: intervals are the candidates
    places: CodeArray = field(repr=False)  # (n_rows, n_columns), see `kernels.cost.Costs`
    codes: tuple[CodeArray, ...] = field(repr=False)  # by column, at every place; entry 0 is -1
    costs: Costs = field(repr=False)
    tie_costs: Costs = field(repr=False)  # of the cheapest candidates, by the objective that breaks ties
    # By column, level and code: the cheapest level to publish for places whose lowest common node is there
    levels_by_node: tuple[CodeArray, ...] = field(repr=False)
    node_costs: tuple[tuple[FloatArray, ...], ...] = field(repr=False)  # weighted, by column and level
    scale: float  # from the sum of weighted cells to the loss

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def recode_classes(self, labels: CodeArray, n_classes: int) -> Recoding:
        """Publish the cheapest common candidates of every class; rows labelled -1 are in no class."""
        return self.recode_runs(*self.runs_of_classes(labels, n_classes))

    def runs_of_classes(self, labels: CodeArray, n_classes: int) -> tuple[CodeArray, CodeArray]:
        """Return the first and the last place of every class in every column."""
        rows = np.flatnonzero(labels >= 0)
        low = np.full((n_classes, len(self.columns)), np.iinfo(np.int32).max, dtype=np.int32)
        high = np.zeros_like(low)
        np.minimum.at(low, labels[rows], self.places[rows])
        np.maximum.at(high, labels[rows], self.places[rows])
        return low, high

    def recode_runs(self, low: CodeArray, high: CodeArray) -> Recoding:
        """Publish the cheapest candidates over runs of places, each of shape (n_classes, n_columns)."""
        cells = [self._publish_runs(j, low[:, j], high[:, j]) for j in range(len(self.columns))]
        return Recoding(self.columns, tuple(cells), "candidates")

    def _publish_runs(self, j: int, low: CodeArray, high: CodeArray) -> Cells:
        mixed = (low == 0) & (high > 0)
        ladder = self.hierarchies[j]
        if ladder is None:
            # The interval of the whole range says no more than "*".
            is_whole = (low == 1) & (high == self.columns[j].n_values) & (high > 1)
            return PublishedIntervals(np.where(mixed, 0, low - 1), high - np.int32(1), mixed | is_whole)
        level, node = self._look_up_levels(j, np.where(mixed, high, low), high)
        return self._build_nodes(j, level, node, mixed)

    def _look_up_levels(self, j: int, low: CodeArray, high: CodeArray) -> tuple[CodeArray, CodeArray]:
        """Return the chosen level of runs of places and a code under each; -1 for missing values alone."""
        ladder = self.hierarchies[j]
        assert ladder is not None
        first, last = self.codes[j][low], self.codes[j][high]
        level = np.full(len(low), -1, dtype=np.int32)
        for i in reversed(range(ladder.n_levels)):
            same = (high > 0) & (ladder.nodes(i, first) == ladder.nodes(i, last))
            level[same] = self.levels_by_node[j][i, first[same]]
        return level, first

    def _build_nodes(self, j: int, level: CodeArray, code: CodeArray, mixed: BoolArray) -> Nodes:
        ladder = self.hierarchies[j]
        assert ladder is not None
        node = np.full(len(level), -1, dtype=np.int32)
        for i in range(ladder.n_levels):
            at = level == i
            node[at] = ladder.level_codes[i, code[at]]
        return Nodes(level, node, mixed, ladder)

    def list_candidates(self, j: int) -> Candidates:
        """List the candidates of a column: values first, ``*`` last."""
        ladder, n_places = self.hierarchies[j], self.columns[j].n_values + 1
        options = [(place, place, 0, 0.0) for place in range(n_places)]
        if ladder is None:
            at = self.costs.positions[self.costs.columns["begin"][j] :]
            is_span, star = self.costs.columns["is_span"][j], float(self.costs.columns["star"][j])
            options += [
                (low, high, 1, float(at[high] - at[low]) if is_span else star)
                for low in range(1, n_places)
                for high in range(low + 1, n_places)
                if (low, high) != (1, n_places - 1)
            ]
        else:
            options += _inner_nodes(ladder, self.codes[j], self.node_costs[j])
        # In a column without values every cell is missing: it has no `*`.
        if n_places > 1:
            top = 1 if ladder is None else ladder.n_levels - 1
            options.append((0, n_places - 1, top, float(self.costs.columns["star"][j])))
        first, last, level, costs = (np.array(each) for each in zip(*options, strict=True))
        return Candidates(first.astype(np.int32), last.astype(np.int32), level.astype(np.int32), costs)

    def publish_candidates(self, j: int, candidates: Candidates, picks: CountArray, is_missing: BoolArray) -> Cells:
        """Publish the picked candidate of every class in a column."""
        is_star = picks == len(candidates.level) - 1
        if self.hierarchies[j] is None:
            low, high = candidates.first[picks] - np.int32(1), candidates.last[picks] - np.int32(1)
            return PublishedIntervals(np.maximum(low, np.where(is_star, 0, -1)).astype(np.int32), high, is_star)
        level = np.where(candidates.last[picks] == 0, -1, candidates.level[picks]).astype(np.int32)
        return self._build_nodes(j, level, self.codes[j][candidates.last[picks]], is_star & is_missing)

    def log10_size(self) -> float:
        """Return the decimal logarithm of the number of tables in the space."""
        total = 0.0
        for j, column in enumerate(self.columns):
            places = np.arange(column.n_values + 1)
            # A missing cell stays missing, or becomes "*" if the column has values.
            n_missing = 1 + int(column.n_values > 0)
            if self.hierarchies[j] is None:
                # Runs that contain a place, except the place alone and the whole range; plus its value and "*".
                runs = places * (column.n_values - places + 1) - 1 - int(column.n_values > 1)
                n_candidates = np.where(places == 0, n_missing, runs + 2)
            else:
                n_candidates = np.array([n_missing, *_n_ancestors(self.hierarchies[j])])[self.codes[j] + 1]
            total += float(np.log10(n_candidates[self.places[:, j]]).sum())
        return total


def lay_out(
    table: Table,
    quasi_identifiers: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    objective: Loss,
    second: Loss | None = None,
) -> CandidateSpace:
    """Build the candidate space of a table of single records; a category without a hierarchy has values and ``*``."""
    assert isinstance(objective, CellLoss)
    assert second is None or isinstance(second, CellLoss)
    columns = tuple(table.column(name) for name in quasi_identifiers)
    laddered = {
        column.name: hierarchies.get(column.name) or Hierarchy.build(Hierarchy.suppression(), column)
        for column in columns
        if column.name in hierarchies or not column.is_ordered
    }
    axes = layout.lay_out(table, quasi_identifiers, laddered, {})
    ladders = tuple(axis.hierarchy for axis in axes)
    codes = tuple(np.append(-1, axis.code_at()).astype(np.int32) for axis in axes)
    n_values = [axis.domain for axis in axes]
    weights, exponent = _scale_weights(objective, quasi_identifiers)
    tie_weights, _ = _scale_weights(second or objective, quasi_identifiers)
    node_costs = [_price_nodes(objective, *each) for each in zip(weights, ladders, n_values, strict=True)]
    tie_costs = [_price_nodes(second or objective, *each) for each in zip(tie_weights, ladders, n_values, strict=True)]
    chosen_levels = [_choose_levels(*each) for each in zip(ladders, node_costs, tie_costs, strict=True)]
    costs = _pack_costs(axes, chosen_levels, node_costs, weights, objective)
    return CandidateSpace(
        columns,
        ladders,
        layout.places_of_rows(table, axes),
        codes,
        costs,
        costs if second is None else _pack_costs(axes, chosen_levels, tie_costs, tie_weights, second),
        tuple(chosen_levels),
        tuple(node_costs),
        math.ldexp(objective.factor(quasi_identifiers, table.n_rows), exponent),
    )


def _scale_weights(objective: CellLoss, names: Sequence[str]) -> tuple[FloatArray, int]:
    """Scale weights by a power of two so that the largest is in [1, 2); return them and the exponent taken out.

    One tolerance then fits all losses. Scaling by a power of two rounds nothing.
    """
    weights = np.array([objective.weights.get(name, 1.0) for name in names], dtype=np.float64)
    exponent = math.frexp(weights.max())[1] - 1 if weights.any() else 0
    return np.ldexp(weights, -exponent), exponent


def _price_nodes(objective: CellLoss, weight: float, ladder: Hierarchy | None, n_values: int) -> tuple[FloatArray, ...]:
    """Return the weighted cost of every node, by level; an empty tuple without a hierarchy."""
    if ladder is None:
        return ()
    return tuple(weight * costs for costs in objective.node_costs(ladder, n_values))


def _choose_levels(ladder: Hierarchy | None, costs: Sequence[FloatArray], tie_costs: Sequence[FloatArray]) -> CodeArray:
    """Choose the cheapest level at or above the lowest common node of a level and code; shape (n_levels, n_values)."""
    if ladder is None:
        return np.empty((0, 0), dtype=np.int32)
    levels = np.full(ladder.level_codes.shape, ladder.n_levels - 1, dtype=np.int32)
    for level in reversed(range(ladder.n_levels - 1)):
        levels[level] = levels[level + 1]
        for code in range(ladder.n_values):
            above = levels[level + 1, code]
            (cost_here, cost_above), (tie_here, tie_above) = (
                (prices[level][ladder.level_codes[level, code]], prices[above][ladder.level_codes[above, code]])
                for prices in (costs, tie_costs)
            )
            if cost_here < cost_above or (cost_here == cost_above and tie_here <= tie_above):
                levels[level, code] = level
    return levels


def _pack_costs(
    axes: Sequence[layout.Axis],
    chosen_levels: Sequence[CodeArray],
    node_costs: Sequence[Sequence[FloatArray]],
    weights: FloatArray,
    objective: CellLoss,
) -> Costs:
    """Pack the costs of all columns into arrays for the kernels."""
    starts = np.cumsum([0, *(axis.n_places for axis in axes)])
    n_levels = max(2, *(axis.hierarchy.n_levels if axis.hierarchy else 2 for axis in axes))
    positions = np.zeros(starts[-1])
    nodes = np.zeros((n_levels, starts[-1]), dtype=cost.NODE)
    for j, axis in enumerate(axes):
        known_places, ladder = slice(int(starts[j]) + 1, int(starts[j + 1])), axis.hierarchy
        if ladder is None:
            positions[known_places] = weights[j] * axis.positions[1:]
            nodes["node"][0, known_places], nodes["least"][1:, known_places] = np.arange(axis.n_places - 1), weights[j]
            continue
        order = axis.code_at()
        for level in range(n_levels):
            at = min(level, ladder.n_levels - 1)
            nodes["node"][level, known_places] = ladder.level_codes[at, order]
            levels_here = chosen_levels[j][at, order]
            nodes["least"][level, known_places] = [
                node_costs[j][i][ladder.level_codes[i, code]] for i, code in zip(levels_here, order, strict=True)
            ]
    columns = np.zeros(len(axes), dtype=cost.COLUMN)
    columns["begin"], columns["star"] = starts[:-1], weights
    columns["is_span"] = [axis.hierarchy is None and objective.by_width for axis in axes]
    return Costs(columns, positions, nodes)


def _n_ancestors(ladder: Hierarchy | None) -> list[int]:
    """Count the distinct labels from every value of a hierarchy up to ``*``."""
    assert ladder is not None
    levels = zip(ladder.labels, ladder.level_codes.tolist(), strict=True)
    paths = zip(*([labels[node] for node in codes] for labels, codes in levels), strict=True)
    return [len(set(path)) for path in paths]


def _inner_nodes(ladder: Hierarchy, codes: CodeArray, costs: Sequence[FloatArray]) -> list[tuple[int, int, int, float]]:
    """List the nodes between the values and ``*`` as runs of places, without those that repeat the label below."""
    nodes = []
    for level in range(1, ladder.n_levels - 1):
        at_place = ladder.level_codes[level, codes[1:]]
        for node, label in enumerate(ladder.labels[level]):
            covered = np.flatnonzero(at_place == node) + 1
            below = ladder.level_codes[level - 1, codes[covered[0]]]
            if label not in (ladder.labels[level - 1][below], ladder.labels[-1][0]):
                nodes.append((int(covered[0]), int(covered[-1]), level, float(costs[level][node])))
    return nodes


def infeasible_error(models: Sequence[PrivacyModel], n_rows: int) -> InfeasibleError:
    """Build the error for records that fail the models even as one class."""
    wanted = " and ".join(map(describe, models))
    return InfeasibleError(
        f"no release of these {n_rows} records can satisfy {wanted}.", hint="ask for less, or add records."
    )


def merge_equal_classes(recoding: Recoding, labels: CodeArray) -> tuple[Partition, Recoding]:
    """Merge blocks that publish the same cells: to readers they are one class."""
    cells = np.array([recoding.format_labels(column.name)[0] for column in recoding.columns])
    _, first, class_of_block = np.unique(cells, axis=1, return_index=True, return_inverse=True)
    class_of_row = class_of_block.reshape(-1)[labels].astype(np.int32)
    partition = Partition.from_labels(class_of_row, len(first), np.ones(len(labels), dtype=np.int64))
    return partition, recoding.take(first)


def publish_picks(space: CandidateSpace, picks: CountArray) -> tuple[Partition, Recoding]:
    """Publish a candidate for every cell; shape (n_rows, n_columns)."""
    rows = np.arange(space.n_rows, dtype=np.int32)
    cells = tuple(
        space.publish_candidates(j, space.list_candidates(j), picks[:, j], space.places[:, j] == 0)
        for j in range(picks.shape[1])
    )
    return merge_equal_classes(Recoding(space.columns, cells, "candidates"), rows)


def row_texts(partition: Partition, recoding: Recoding) -> tuple[tuple[str | None, ...], ...]:
    """Return the texts that every row publishes, column by column."""
    columns = (recoding.format_labels(column.name) for column in recoding.columns)
    return tuple(tuple(texts[i] for i in label[partition.labels].tolist()) for label, texts in columns)
