"""Measures by name: what `of` gathers is what the formulas ask for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.claims import Classes
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.models import KAnonymity
from hushtable.quality import MEASURES, measure_release
from hushtable.recoding.recoding import Nodes, Recoding
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table

PEOPLE = pl.DataFrame({"age": [31, 34, 52, 57, 31], "job": ["clerk", "cook", "clerk", "clerk", "clerk"]})
TREE = Hierarchy.from_dict({"tree": {"white": ["clerk", "nurse"], "blue": ["cook", "welder"]}}, "job")


@dataclass(frozen=True)
class FullDomain:
    """A release that publishes every value at one level of its hierarchy; some rows are suppressed."""

    source: Table
    claim: Classes
    partition: Partition
    recoding: Recoding


def full_domain(
    table: Table, ladders: dict[str, Hierarchy], levels: list[int], hidden: Callable[..., Any]
) -> FullDomain:
    codes = [table.codes[table.index(name)] for name in ladders]
    nodes = np.array([each.nodes(level, row) for each, level, row in zip(ladders.values(), levels, codes, strict=True)])
    _, labels, sizes = np.unique(nodes, axis=1, return_inverse=True, return_counts=True)
    gone = hidden(sizes)[labels.reshape(-1)]
    _, first, labels = np.unique(nodes[:, ~gone], axis=1, return_index=True, return_inverse=True)
    dense = np.full(len(gone), -1, dtype=np.int32)
    dense[~gone] = labels.reshape(-1)
    kept = nodes[:, ~gone][:, first]
    cells = tuple(
        Nodes(np.full(len(first), level, np.int32), row.astype(np.int32), np.zeros(len(first), bool), each)
        for each, level, row in zip(ladders.values(), levels, kept, strict=True)
    )
    recoding = Recoding(tuple(table.column(name) for name in ladders), cells, "label")
    claim = Classes(tuple(ladders), (KAnonymity(5),), hierarchies=ladders)
    return FullDomain(table, claim, Partition.from_labels(dense, len(first), table.counts), recoding)


def by_tree() -> FullDomain:
    """Three clerks and a cook as white and blue, the welder suppressed."""
    table = Table.encode(pl.DataFrame({"job": ["clerk", "clerk", "clerk", "cook", "welder", "nurse"]}))
    ladder = TREE.align(table.column("job"))
    released = full_domain(table, {"job": ladder}, [1], lambda sizes: sizes < 0)
    labels = released.partition.labels.copy()
    labels[4] = -1
    return FullDomain(
        table,
        released.claim,
        Partition.from_labels(labels, released.partition.n_classes, table.counts),
        released.recoding,
    )


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # A white or blue cell covers 2 of 4 leaves, a star all: 5 cells of (2 - 1) / 3 and one of 1.
        ("loss_metric", (5 / 3 + 1) / 6),
        ("arx_loss", (5 / 3 + 1) / 6),
        ("granularity", 1 - (5 / 3 + 1) / 6),
        ("precision", 1 - (5 / 2 + 1) / 6),
        # Classes of 4 (white) and 1 (blue), 1 suppressed.
        ("discernibility", 16 + 1 + 6),
        ("average_class_size", 2.5),
        # Of the source: 3, 1, 1, 1.
        ("arx_discernibility", 1 - (23 - 12) / (36 - 12)),
        ("arx_average_class_size", 1 - (2.5 - 1.5) / (6 - 1.5)),
        ("set_ncp", (5 / 2 + 1) / 6),
        # Clerks are 3 of 4 white, the nurse 1 of 4, the cook 1 of 2 blue, the welder 1 of all 6.
        ("non_uniform_entropy", 3 * math.log2(4 / 3) + 2 + 1 + math.log2(6)),
        # The welder's node would be blue, 1 of 2, and is all that is suppressed.
        ("arx_entropy", 3 * math.log2(4 / 3) + 2 + 2),
    ],
)
def test_by_hand(measure, expected):
    assert measure_release(by_tree(), measure) == pytest.approx(expected, abs=1e-9)
    by_column = f"{measure}_by_column"
    if by_column in MEASURES:
        assert measure_release(by_tree(), by_column) == {"job": pytest.approx(expected, abs=1e-9)}


@pytest.mark.parametrize(
    ("levels", "name", "expected"),
    [
        ("04023221", "arx_loss", 0.5915849773198221),
        ("03012112", "arx_loss", 0.30334014291297273),
        ("03002101", "arx_loss", 0.22004987619069327),
        ("04023221", "granularity", 0.28589292),
        ("03012112", "granularity", 0.64540935),
        ("12113221", "arx_entropy", 382871.4142387471),
        ("00113221", "arx_entropy", 261186.6249909758),
    ],
)
def test_the_figures_of_arx_on_its_own_table(
    shared_file: Callable[[str], Path], levels: str, name: str, expected: float
) -> None:
    """ARX 3.9.2, k = 5: classes below 5 are suppressed; its granularity was noted to eight decimals."""
    columns = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    table = Table.encode(shared_file("data/arx_adult/adult.csv"))
    files = {column: shared_file(f"data/arx_adult/adult_hierarchy_{column}.csv") for column in columns}
    ladders = {column: Hierarchy.build(path, table.column(column)) for column, path in files.items()}
    release = full_domain(table, ladders, list(map(int, levels)), lambda sizes: sizes < 5)
    assert measure_release(release, name) == pytest.approx(expected, abs=6e-9 if name == "granularity" else 1e-9)


@pytest.fixture(scope="module")
def release():
    return ht.anonymize(PEOPLE, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)])


def test_of_a_release(release):
    """Ages [31, 34] and [52, 57] of a range of 26; `*` for the job of three, clerk for the other two."""
    assert measure_release(release, "set_ncp_by_column") == pytest.approx(release.quality.by_column)
    assert measure_release(release, "set_ncp") == pytest.approx(release.quality.set_ncp)
    ages = (3 * 3 / 26 + 2 * 5 / 26) / 5
    assert measure_release(release, "loss_metric_by_column") == pytest.approx({"age": ages, "job": 3 / 5})
    assert measure_release(release, "arx_loss_by_column") == pytest.approx({"age": ages, "job": 3 / 5}, abs=1e-9)
    assert measure_release(release, "discernibility") == 9 + 4
    # Of three jobs one is a cook, and four are clerks of all five.
    assert measure_release(release, "non_uniform_entropy_by_column")["job"] == pytest.approx(
        2 * math.log2(5 / 4) + math.log2(5)
    )


def test_options_reach_the_formula(release):
    by_column = measure_release(release, "arx_loss_by_column")
    alone = measure_release(release, "arx_loss", weights={"age": 1, "job": 0}, aggregate="arithmetic")
    assert alone == pytest.approx(by_column["age"] / 2)
    assert measure_release(release, "arx_loss", gs_factor=0.0) == pytest.approx(measure_release(release, "arx_loss"))


def test_classes_that_publish_the_same_are_one():
    """Eight people of one age and job in classes of two: one class is published."""
    same = pl.DataFrame({"age": [30] * 8, "job": ["cook"] * 8})
    release = ht.anonymize(same, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)])
    assert measure_release(release, "average_class_size") == 8
    assert measure_release(release, "arx_average_class_size") == 1


@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_every_measure_is_a_figure_or_says_why_not(measure):
    people = ht.datasets.people(200)
    release = ht.anonymize(
        people, quasi_identifiers=["sex", "education", "income"], models=[ht.KAnonymity(5)], roles="trust"
    )
    assert MEASURES[measure].direction in ("better", "worse")
    if measure == "precision" or measure.startswith("arx_entropy"):
        with pytest.raises(InputError, match="is not defined on"):
            measure_release(release, measure)
        return
    found = measure_release(release, measure)
    assert measure.endswith("_by_column") == isinstance(found, dict)
    figures = list(found.values()) if isinstance(found, dict) else [found]
    assert all(math.isfinite(figure) for figure in figures)
    if MEASURES[measure].unit == "share":
        assert all(-1e-9 <= figure <= 1 + 1e-9 for figure in figures)


def test_central_values_cover_nobody():
    method = ht.Mondrian(recoding="central")
    release = ht.anonymize(PEOPLE, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], method=method, roles="trust")
    with pytest.raises(InputError, match="central values"):
        measure_release(release, "non_uniform_entropy")


@pytest.mark.parametrize(
    ("measure", "options", "match"),
    [
        ("arx_los", {}, "did you mean 'arx_loss'"),
        ("precision", {"gs_factor": 1}, "it takes none"),
        ("arx_entropy", {"weights": {}}, "it takes gs_factor"),
        ("arx_loss", {"weights": {"pay": 1}}, "pay"),
        ("arx_loss", {"weights": {"age": -1}}, "weight -1"),
    ],
)
def test_what_cannot_be_measured(release, measure, options, match):
    with pytest.raises(InputError, match=match):
        measure_release(release, measure, **options)


def test_a_table_is_no_release():
    with pytest.raises(InputError, match="has no classes to measure"):
        measure_release(PEOPLE, "arx_loss")
