"""ARX's figures on its own table: apply the levels it found, measure, and get its numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hushtable.hierarchy import Hierarchy
from hushtable.quality import measures
from hushtable.quality.loss import loss_metric, loss_metric_by_column, non_uniform_entropy, precision
from hushtable.tables.table import Table

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


@dataclass(frozen=True)
class Scenario:
    name: str
    levels: str
    n_suppressed: int
    n_classes: int
    loss: float | None = None
    entropy: float | None = None
    by_column: tuple[float, ...] = ()
    granularity: float | None = None


# ARX 3.9.2 on adult.csv, k = 5; levels in the order of COLUMNS. The class of suppressed records is not counted.
SCENARIOS = (
    Scenario(
        *("k5 s=0", "04023221", 0, 30),
        loss=0.5915849773198221,
        by_column=(0, 1, 0, 1, 1, 1, 1, 0.2867336893),
        granularity=0.28589292,
    ),
    Scenario(
        *("k5 s=0.02", "03012112", 552, 233),
        loss=0.30334014291297273,
        by_column=(
            *(0.0183011736, 0.2067080191, 0.0183011736, 0.4432564153),
            *(0.3791746789, 0.2869952257, 0.2987865526, 1),
        ),
        granularity=0.64540935,
    ),
    Scenario(
        *("k5 s=1", "03002101", 3049, 649),
        loss=0.22004987619069327,
        by_column=(
            *(0.101087461, 0.2736060291, 0.101087461, 0.101087461),
            *(0.4324845832, 0.3479237119, 0.101087461, 0.3581353001),
        ),
        granularity=0.75890584,
    ),
    Scenario("k5 s=0", "12113221", 0, 48, entropy=382871.4142387471),
    Scenario("k5 s=0.02", "00113221", 309, 599, entropy=261186.6249909758),
    Scenario("k5 s=1", "00113220", 1999, 1397, entropy=227101.2359198958),
    Scenario(
        *("k5 l2 s=0.02", "04013111", 601, 114),
        loss=0.37892877217642296,
        by_column=(0.0199257343, 1, 0.0199257343, 0.4424551864, 1, 0.2884440686, 0.2999469531, 0.300301449),
        granularity=0.54029059,
    ),
    Scenario(
        *("k5 t0.2 s=0.02", "04023112", 302, 34),
        loss=0.5099701989669747,
        by_column=(0.0100125986, 1, 0.0100125986, 1, 1, 0.280618825, 0.2928661418, 1),
        granularity=0.37989917,
    ),
)


@dataclass(frozen=True)
class Adult:
    table: Table
    hierarchies: tuple[Hierarchy, ...]
    leaf_shares: np.ndarray


@pytest.fixture(scope="module")
def adult(shared_file: Callable[[str], Path]) -> Adult:
    table = Table.encode(shared_file("data/arx_adult/adult.csv"))
    hierarchies = tuple(
        Hierarchy.build(shared_file(f"data/arx_adult/adult_hierarchy_{name}.csv"), table.column(name))
        for name in COLUMNS
    )
    return Adult(table, hierarchies, np.array([each.leaf_share for each in hierarchies]))


@dataclass(frozen=True)
class Node:
    """A full-domain recoding: rows by node, classes, and which of them fail the criterion."""

    codes: np.ndarray
    nodes: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    shares: np.ndarray
    suppressed: np.ndarray


def recode(adult: Adult, scenario: Scenario) -> Node:
    table, levels = adult.table, list(map(int, scenario.levels))
    codes = np.array([table.codes[table.index(name)] for name in COLUMNS])
    ladder = list(zip(adult.hierarchies, levels, codes, strict=True))
    nodes = np.array([hierarchy.nodes(level, column) for hierarchy, level, column in ladder])
    shares = np.array([hierarchy.cell_shares(level, column) for hierarchy, level, column in ladder])
    _, first, labels = np.unique(nodes, axis=1, return_index=True, return_inverse=True)
    labels = labels.ravel()
    sizes = np.bincount(labels)
    high_pay = table.codes[table.index("salary-class")] == 0
    rate = np.bincount(labels, weights=high_pay) / sizes
    suppressed = sizes < 5
    if "l2" in scenario.name:
        suppressed |= (rate == 0) | (rate == 1)
    if "t0.2" in scenario.name:
        suppressed |= np.abs(rate - high_pay.mean()) > 0.2
    return Node(codes, nodes, labels, sizes, shares[:, first], suppressed)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: f"{each.name} at {each.levels}")
def test_the_figures_of_arx(adult: Adult, scenario: Scenario) -> None:
    node = recode(adult, scenario)
    assert node.sizes[node.suppressed].sum() == scenario.n_suppressed
    assert (~node.suppressed).sum() == scenario.n_classes
    given = (node.shares, node.sizes, adult.leaf_shares)
    if scenario.loss is not None:
        by_column = measures.arx_loss_by_column(*given, suppressed=node.suppressed)
        assert by_column == pytest.approx(scenario.by_column, abs=1e-9)
        assert measures.arx_loss(*given, suppressed=node.suppressed) == pytest.approx(scenario.loss, abs=1e-12)
        # ARX's figures were noted to eight decimals.
        found = measures.granularity(*given, suppressed=node.suppressed)
        assert found == pytest.approx(scenario.granularity, abs=6e-9)
    else:
        rows = (node.codes, node.nodes, np.ones(node.codes.shape[1], dtype=np.int64))
        found = measures.arx_entropy_by_column(*rows, suppressed=node.suppressed[node.labels]).sum()
        assert found == pytest.approx(scenario.entropy, abs=1e-9)


def test_without_suppression_the_loss_metric_is_the_mean_of_arx_losses(adult: Adult) -> None:
    node = recode(adult, SCENARIOS[0])
    given = (node.shares, node.sizes, adult.leaf_shares)
    assert loss_metric(*given) == pytest.approx(measures.arx_loss(*given, aggregate="arithmetic"), abs=1e-9)


@st.composite
def classes(draw):
    """Shares, sizes, leaf shares and suppressed marks of a few classes; leaf shares are the least."""
    n_columns, n_classes = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    n_leaves = draw(st.lists(st.integers(1, 9), min_size=n_columns, max_size=n_columns))
    shares = [[draw(st.integers(1, d)) / d for _ in range(n_classes)] for d in n_leaves]
    sizes = draw(st.lists(st.integers(1, 9), min_size=n_classes, max_size=n_classes))
    suppressed = draw(st.lists(st.booleans(), min_size=n_classes, max_size=n_classes))
    return np.array(shares), np.array(sizes), 1 / np.array(n_leaves), np.array(suppressed)


@given(classes(), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_arx_loss_is_the_slow_twin(made, gs_factor):
    shares, sizes, leaves, suppressed = made
    g = 1 if gs_factor <= 0.5 else 1 - 2 * (gs_factor - 0.5)
    h = 2 * gs_factor if gs_factor < 0.5 else 1
    n_records, losses = int(sizes.sum()), []
    for row, leaf in zip(shares.tolist(), leaves.tolist(), strict=True):
        raw = 0.0
        for share, size, hidden in zip(row, sizes.tolist(), suppressed.tolist(), strict=True):
            raw += size * ((share + h * (1 - share)) if hidden else g * share)
        room = n_records - g * n_records * leaf
        loss = (raw - g * n_records * leaf) / room if room else 0.0
        losses.append(math.floor(max(0.0, loss) * 1e10) / 1e10)
    found = measures.arx_loss_by_column(shares, sizes, leaves, suppressed=suppressed, gs_factor=gs_factor)
    assert found == pytest.approx(losses, abs=2e-10)
    product = math.prod((loss + 1) ** (1 / len(losses)) for loss in losses) - 1
    given_ = {"suppressed": suppressed, "gs_factor": gs_factor}
    assert measures.arx_loss(shares, sizes, leaves, **given_) == pytest.approx(product, abs=1e-9)
    weighted = measures.arx_loss(shares, sizes, leaves, weights=np.full(len(leaves), 3.0), **given_)
    assert weighted == pytest.approx(product, abs=1e-9)


@given(classes())
def test_granularity_and_loss_metric_are_the_slow_twins(made):
    shares, sizes, leaves, suppressed = made
    cells, lost = [], []
    for row, leaf in zip(shares.tolist(), leaves.tolist(), strict=True):
        published = [
            1.0 if hidden else share
            for share, size, hidden in zip(row, sizes.tolist(), suppressed.tolist(), strict=True)
            for _ in range(size)
        ]
        cells.append(sum(published) / len(published))
        n_leaves = round(1 / leaf)
        losses = [(share * n_leaves - 1) / (n_leaves - 1) if n_leaves > 1 else 0.0 for share in published]
        lost.append(sum(losses) / len(losses))
    mean, least = sum(cells) / len(cells), float(leaves.mean())
    expected = 1.0 if least == 1 else 1 - (mean - least) / (1 - least)
    assert measures.granularity(shares, sizes, leaves, suppressed=suppressed) == pytest.approx(expected)
    kept, n_gone = ~suppressed, int(sizes[suppressed].sum())
    by_column = loss_metric_by_column(shares[:, kept], sizes[kept], leaves, n_gone)
    assert by_column == pytest.approx(lost)
    assert loss_metric(shares[:, kept], sizes[kept], leaves, n_gone) == pytest.approx(sum(lost) / len(lost))
    several = leaves < 1
    by_granularity = 1 - measures.granularity_by_column(shares, sizes, leaves, suppressed=suppressed)
    assert by_granularity[several] == pytest.approx(by_column[several])


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(1, 3), st.booleans()), min_size=1, max_size=12))
def test_entropies_are_the_slow_twins(rows):
    """Values 0, 1 are under node 0 and 2, 3 under node 1; a missing value is a node of its own."""
    codes = np.array([[code for code, _, _ in rows]], dtype=np.int32)
    nodes = np.where(codes < 0, -1, codes // 2).astype(np.int32)
    counts = np.array([count for _, count, _ in rows], dtype=np.int64)
    suppressed = np.array([hidden for _, _, hidden in rows])
    values = [code for code, count, _ in rows for _ in range(count)]
    published = [-1 if code < 0 else code // 2 for code in values]
    gone = [nodes[0, i] for i, (_, count, hidden) in enumerate(rows) if hidden for _ in range(count)]
    kept = -sum(math.log2(values.count(v) / published.count(u)) for v, u in zip(values, published, strict=True))
    lost = -sum(math.log2(gone.count(u) / len(gone)) for u in gone)
    found = measures.arx_entropy_by_column(codes, nodes, counts, suppressed=suppressed)
    assert found.sum() == pytest.approx(kept + lost, abs=1e-9)
    only_generalized = measures.arx_entropy_by_column(codes, nodes, counts, suppressed=suppressed, gs_factor=0.0)
    assert only_generalized.sum() == pytest.approx(kept, abs=1e-9)
    frequencies = np.array([[values.count(code) for code in codes[0].tolist()]])
    covered = np.array([[published.count(node) for node in nodes[0].tolist()]])
    assert non_uniform_entropy(frequencies, covered, counts) == pytest.approx([kept])


@given(classes(), st.data())
def test_precision_is_the_slow_twin(made, data):
    shares, sizes, _, _ = made
    heights = np.array([data.draw(st.integers(1, 4)) for _ in shares])
    levels = np.array([[data.draw(st.integers(0, height)) for _ in sizes] for height in heights.tolist()])
    n_gone = data.draw(st.integers(0, 5))
    cells = [
        levels[j, c] / heights[j] for j in range(len(heights)) for c, size in enumerate(sizes) for _ in range(size)
    ]
    cells += [1.0] * (n_gone * len(heights))
    assert precision(levels, sizes, heights, n_gone) == pytest.approx(1 - sum(cells) / len(cells))


def test_normalized_class_sizes_have_their_ends():
    raw = np.array([1, 1, 2])
    for measure in (measures.arx_discernibility, measures.arx_average_class_size):
        assert measure(raw, raw) == 1.0
        assert measure(np.array([4]), raw) == 0.0
        assert measure(np.array([1]), np.array([1])) == 1.0
    assert measures.arx_discernibility(np.array([], dtype=np.int64), raw, 4) == 0.0
    assert measures.arx_average_class_size(np.array([2, 2]), raw) == pytest.approx(1 - (2 - 4 / 3) / (4 - 4 / 3))
