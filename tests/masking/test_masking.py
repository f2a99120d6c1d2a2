import io
import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import hushtable as ht
from hushtable.claims import Independence
from hushtable.columns.column import from_texts
from hushtable.masking.amounts import read_amounts
from hushtable.masking.dealing import Types, deal_greedily
from hushtable.masking.search import agreement_bound, mask_types
from hushtable.search.budget import Budget
from strategies import tables
from twins import naive_masking as naive

METHODS = ["auto", "exact", "greedy", "pivot"]
ADULT = "data/adult/adult_ori.csv"


def types_of(clusters, weights=None):
    vectors = sorted({vector for cluster in clusters for vector in cluster})
    supply = np.array([[Counter(cluster)[vector] for vector in vectors] for cluster in clusters], dtype=np.int64)
    n_columns = len(vectors[0])
    return Types(
        np.array(vectors, dtype=np.int32).reshape(len(vectors), n_columns),
        supply,
        np.array(weights or [1.0] * n_columns, dtype=np.float64),
    )


def random_clusters(seed, most=18, holes=False):
    rng = np.random.default_rng(seed)
    n_clusters, n_columns = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    size = int(rng.integers(1, most // n_clusters + 1))
    low = -1 if holes else 0
    cells = rng.integers(low, rng.integers(1, 4), (n_clusters, size, n_columns))
    return [[tuple(map(int, vector)) for vector in cluster] for cluster in cells]


def searched(clusters, method="auto", weights=None):
    return mask_types(types_of(clusters, weights), method, Budget())


def frame_of(n, rng, n_values=3, n_columns=2):
    cells = rng.integers(0, n_values, (n_columns, n))
    frame = pl.DataFrame({f"a{j}": [f"v{code}" for code in row] for j, row in enumerate(cells.tolist())})
    return frame.with_columns(b=pl.Series(rng.integers(0, 50, n)), c=pl.Series(rng.integers(0, 4, n)))


def vectors_of(frame, columns):
    return frame.select(columns).rows(), frame["cluster"].to_list()


@given(st.integers(0, 10**6))
def test_the_twin_agrees_with_its_own_twin(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    clusters = [[tuple(map(int, v)) for v in rng.integers(0, 3, (size, 2))] for _ in range(2)]
    assert naive.fewest_stars(clusters) == naive.fewest_stars_by_permutation(clusters)


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_auto_is_the_least_of_all_dealings(start):
    for seed in range(start, start + 50):
        clusters = random_clusters(seed, most=18)
        least = naive.fewest_stars(clusters)
        found = searched(clusters)
        assert found.cost == least, seed
        assert found.bound == least, seed


@pytest.mark.parametrize("method", METHODS)
def test_methods_keep_their_ratios_and_bounds(method):
    for seed in range(60):
        clusters = random_clusters(seed + 1_000, most=12)
        least = naive.fewest_stars(clusters)
        found = searched(clusters, method)
        ratio = {"greedy": len(clusters[0][0]), "pivot": len(clusters) - 1}.get(method, 1)
        assert found.bound <= least <= found.cost <= ratio * least, seed


def test_the_first_greedy_pass_alone_keeps_its_ratio():
    for seed in range(60):
        clusters = random_clusters(seed + 2_000, most=12)
        types = types_of(clusters)
        assert deal_greedily(types).cost(types) <= len(clusters[0][0]) * naive.fewest_stars(clusters), seed


@pytest.mark.parametrize("method", METHODS)
def test_weights_and_their_ratios(method):
    for seed in range(40):
        clusters = random_clusters(seed + 3_000, most=12)
        weights = [0.5, 2.0, 3.25][: len(clusters[0][0])]
        least = naive.fewest_stars(clusters, weights)
        found = searched(clusters, method, weights)
        ratio = {"greedy": sum(weights) / min(weights), "pivot": len(clusters) - 1}.get(method, 1)
        assert found.bound <= least + 1e-9, seed
        assert least - 1e-9 <= found.cost <= ratio * least + 1e-9, seed


@pytest.mark.parametrize("method", METHODS)
def test_a_cell_that_agrees_with_nothing_is_always_masked(method):
    for seed in range(40):
        clusters = random_clusters(seed + 4_000, most=12, holes=True)
        least = naive.fewest_stars(clusters)
        found = searched(clusters, method)
        assert found.bound <= least <= found.cost, seed
        if method in ("auto", "exact"):
            assert found.cost == least, seed


@pytest.mark.parametrize("method", METHODS)
def test_dealings_use_every_record_once(method):
    for seed in range(30):
        types = types_of(random_clusters(seed + 5_000, most=18))
        dealing = mask_types(types, method, Budget()).dealing
        left = dealing.remaining_types(types)
        assert not left.supply.any()
        assert dealing.counts.min() > 0


def test_the_agreement_bound_is_below_the_least():
    for seed in range(100):
        clusters = random_clusters(seed + 6_000, most=12)
        assert agreement_bound(types_of(clusters)) <= naive.fewest_stars(clusters), seed


def test_the_simple_bound_of_many_columns_is_below_the_agreement_bound(monkeypatch):
    from hushtable.masking import search

    found = [agreement_bound(types_of(random_clusters(seed + 7_000))) for seed in range(60)]
    monkeypatch.setattr(search, "_MAX_COLUMNS_AGREEING", 0)
    simple = [agreement_bound(types_of(random_clusters(seed + 7_000))) for seed in range(60)]
    assert all(low <= high for low, high in zip(simple, found, strict=True))
    assert any(simple)


def test_fractional_weights_can_be_proven():
    clusters = random_clusters(3, most=12)
    found = searched(clusters, weights=[0.3, 0.7, 1.9][: len(clusters[0][0])])
    assert found.optimal


def test_a_programme_too_large_is_thinned(monkeypatch):
    from hushtable.masking import search

    for name, size in (
        ("_MAX_EDGES_EXACT", 0),
        ("_MAX_EDGES_OF_RELAXATION", 400),
        ("_MAX_EDGES_KEPT", 400),
        ("_MAX_EDGES_OF_LARGEST", 400),
    ):
        monkeypatch.setattr(search, name, size)
    rng = np.random.default_rng(5)
    types = types_of([[tuple(map(int, v)) for v in rng.integers(0, 4, (60, 3))] for _ in range(3)])
    found = mask_types(types, "auto", Budget())
    assert found.bound <= mask_types(types, "exact", Budget()).cost <= found.cost <= deal_greedily(types).cost(types)
    assert not found.dealing.remaining_types(types).supply.any()


def test_the_relaxation_rounded_down_is_between_its_floor_and_greedy(monkeypatch):
    from hushtable.masking import search

    monkeypatch.setattr(search, "_MAX_EDGES_EXACT", 0)
    for seed in range(40):
        clusters = random_clusters(seed, most=12)
        least = naive.fewest_stars(clusters)
        found = searched(clusters)
        assert found.bound <= least <= found.cost


# Releases


def example():
    return pl.DataFrame(
        {
            "age": ["30~50"] * 3 + [">50", "30~50"] + ["<30"] * 4 + ["30~50"] * 3,
            "job": ["CEO", "Salesman", *["Prof"] * 4, *["Manager"] * 3, *["Prof"] * 3],
            "income": [25, 4, 10, 20, 11, 6, 18, 13, 7, 15, 9, 6],
        }
    )


@pytest.mark.parametrize("method", METHODS)
def test_example_1_of_the_source(method):
    masked = ht.mask_dependence(example(), a=["age", "job"], b=["income"], clusters=3, method=method)
    assert masked.frame.columns == ["age", "job", "cluster"]
    # The figure's own labels, record by record.
    assert masked.frame["cluster"].to_list() == [3, 1, 2, 3, 2, 1, 3, 2, 1, 3, 2, 1]
    assert naive.is_independent(*vectors_of(masked.frame, ["age", "job"]))
    if method in ("auto", "exact"):
        assert (masked.n_stars, masked.lower_bound, masked.optimal, masked.gap) == (6, 6, True, 0)
        assert masked.stars_by_column == {"age": 3, "job": 3}
        assert masked.share_kept == 0.75


@pytest.mark.parametrize("write", [lambda n: f"{n}k", lambda n: f"{n},000 €", lambda n: f"$ {n}k", lambda n: f"{n} %"])
def test_example_1_with_the_incomes_as_printed(write):
    table = example().with_columns(income=pl.Series([write(n) for n in example()["income"]]))
    masked = ht.mask_dependence(table, a=["age", "job"], b=["income"], clusters=3)
    assert masked.frame["cluster"].to_list() == [3, 1, 2, 3, 2, 1, 3, 2, 1, 3, 2, 1]
    assert (masked.n_stars, masked.optimal) == (6, True)
    # What is published of B is as it was.
    assert masked.cluster_values["income"].to_list() == [write(n) for n in sorted(example()["income"])]
    told = "'income' is text, read as amounts: clustered by amount"
    assert masked.notes == (told,) == tuple(masked.to_dict()["notes"])
    curve = ht.masking_tradeoff(table, a=["age", "job"], b=["income"], clusters=[3])
    assert curve.notes == (told,)
    assert curve.points[0].n_stars == 6


def test_text_that_is_no_amount_is_said_to_be_text():
    table = example().with_columns(income=pl.Series(["low", "high", "mid"] * 4))
    masked = ht.mask_dependence(table, a=["age", "job"], b=["income"], clusters=3)
    (note,) = masked.notes
    assert "'income' is text: clustered by frequency, then by alphabet" in note
    assert note.split(":")[0].replace("'", "&#x27;") in masked._repr_html_()
    assert any(
        note in str(block) for section in ht.report(masked, audience="internal").sections for block in section.blocks
    )
    # An order that was declared is one, and so is text that was declared text.
    order = ht.ColumnSpec("ordered", ("low", "mid", "high"))
    assert not ht.mask_dependence(table, a=["age"], b=["income"], clusters=3, specs={"income": order}).notes
    printed = example().with_columns(income=pl.Series([f"{n}k" for n in example()["income"]]))
    as_text = {"income": ht.ColumnSpec("category")}
    assert (
        "is text: clustered" in ht.mask_dependence(printed, a=["age"], b=["income"], clusters=3, specs=as_text).notes[0]
    )


@pytest.mark.parametrize(
    ("cells", "amounts"),
    [
        (["900", "4k", "1.5M"], [900.0, 4000.0, 1_500_000.0]),
        (["1,5 kg", "20,25 kg"], [1.5, 20.25]),
        (["€ 1.200", "€ 12.000,50"], [1200.0, 12000.5]),
        (["3 Mio", "2 Mrd", "5"], [5.0, 3e6, 2e9]),
        (["5 m", "2 km"], None),
        (["4 B", "2 k"], None),
        (["$ 5", "€ 5"], None),
        (["30~50", "<30"], None),
        (["007k", "12k"], None),
        (["1,500 kg", "900 kg"], None),
        (["EUR 1.200", "EUR 900"], None),
        (["EUR 1.25", "EUR 900"], [1.25, 900.0]),
        (["cook", "4k"], None),
    ],
)
def test_which_texts_are_amounts(cells, amounts):
    column, _ = from_texts("b", cells)
    read = read_amounts(column)
    assert (None if read is None else read[0].values.tolist()) == amounts
    if read is not None:
        by_text = dict(zip(column.values.tolist(), read[0].values[read[1]].tolist(), strict=True))
        assert sorted(by_text.values()) == amounts


def test_amounts_are_published_in_bins_of_round_numbers():
    table = example().with_columns(income=pl.Series([f"{n}k" for n in example()["income"]]))
    masked = ht.mask_dependence(table, a=["age", "job"], b=["income"], clusters=3, publish="bins")
    assert masked.cluster_values["value"].to_list()[:2] == ["[0, 5000)", "[5000, 10000)"]


def test_the_rules_that_masking_keeps_have_figures():
    table = example().with_columns(spends=pl.Series(["much", "little", "little", "much"] * 3))
    masked = ht.mask_dependence(table, a=["age", "job"], b=["income"], clusters=3)
    rules = masked.rules(support=0.2, confidence=0.5)
    frame = rules.to_frame()
    assert frame.height == len(rules.rules) == rules.n_before + rules.n_new > 0
    assert frame["is_before"].sum() == rules.n_before
    first = frame.row(0, named=True)
    both = sum(
        (row[first["given"]], row[first["then"]]) == (first["given_value"], first["then_value"])
        for row in table.iter_rows(named=True)
    )
    assert first["support_before"] == both / 12
    assert not any(cell in repr(rules) for cell in ("Prof", "much"))


@pytest.mark.parametrize("seed", range(25))
def test_every_release_is_independent_and_says_the_truth_elsewhere(seed):
    rng = np.random.default_rng(seed)
    frame = frame_of(int(rng.integers(4, 60)), rng, n_columns=int(rng.integers(1, 4)))
    a = [name for name in frame.columns if name.startswith("a")]
    n_clusters = int(rng.integers(2, 5))
    masked = ht.mask_dependence(
        frame, a=a, b=["b"], clusters=min(n_clusters, frame.height), method=METHODS[seed % 4], seed=seed
    )
    out = masked.frame
    assert naive.is_independent(*vectors_of(out, a))
    assert masked.verify().passed
    kept = frame.with_row_index().filter(~pl.col("index").is_in(list(masked.removed)))
    assert len(masked.removed) == frame.height % masked.n_clusters
    assert out["c"].to_list() == kept["c"].to_list()
    for name in a:
        assert all(cell in ("*", was) for cell, was in zip(out[name], kept[name], strict=True))
    assert sum((out[name] == "*").sum() for name in a) == masked.n_stars == masked.cost
    assert masked.lower_bound <= masked.n_stars
    ends = out.with_columns(kept["b"]).group_by("cluster").agg(low=pl.min("b"), high=pl.max("b")).sort("cluster")
    assert all(high <= low for high, low in zip(ends["high"][:-1], ends["low"][1:], strict=True))
    values = masked.cluster_values
    assert sorted(values["b"]) == sorted(kept["b"])
    assert values.rows() == sorted(values.rows())


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "csv", "Table"])
def test_the_same_kind_comes_back(kind, tmp_path):
    frame = frame_of(31, np.random.default_rng(1))
    expected = ht.mask_dependence(frame, a=["a0", "a1"], b=["b"], clusters=3)
    if kind == "pandas":
        given = frame.to_pandas().set_index(np.arange(100, 131))
        masked = ht.mask_dependence(given, a=["a0", "a1"], b=["b"], clusters=3)
        assert [row - 100 for row in masked.frame.index] == expected.kept.tolist()
        assert masked.cluster_values.index.tolist() == list(range(30))
        found, values = pl.from_pandas(masked.frame), pl.from_pandas(masked.cluster_values)
    elif kind == "pyarrow":
        masked = ht.mask_dependence(frame.to_arrow(), a=["a0", "a1"], b=["b"], clusters=3)
        found, values = pl.from_arrow(masked.frame), pl.from_arrow(masked.cluster_values)
    elif kind == "csv":
        frame.write_csv(tmp_path / "in.csv")
        masked = ht.mask_dependence(tmp_path / "in.csv", a=["a0", "a1"], b=["b"], clusters=3)
        found, values = masked.frame.with_columns(pl.col("c").cast(pl.Int64)), masked.cluster_values
    else:
        masked = ht.mask_dependence(ht.Table.encode(frame), a=["a0", "a1"], b=["b"], clusters=3)
        found, values = masked.frame.decode(), masked.cluster_values.decode()
    assert found.rows() == expected.frame.rows()
    assert found.columns == expected.frame.columns == ["a0", "a1", "c", "cluster"]
    assert values.rows() == expected.cluster_values.rows()
    assert masked.verify().passed


def test_a_counted_table_is_masked_record_by_record():
    frame = frame_of(24, np.random.default_rng(2), n_values=2, n_columns=1)
    counted, _ = ht.Table.encode(frame.with_columns(pl.col("b") // 25)).collapse()
    masked = ht.mask_dependence(counted, a=["a0"], b=["b"], clusters=4)
    assert masked.frame.n_records == 24
    assert masked.verify().passed


def test_missing_cells_are_a_value_or_always_masked():
    frame = pl.DataFrame({"a": ["x", None, "x", None, "y", "y"], "b": [1, 2, 3, 4, 5, 6]})
    kept = ht.mask_dependence(frame, a=["a"], b=["b"], clusters=2)
    assert kept.verify().passed
    assert kept.frame["a"].null_count() == 2
    hidden = ht.mask_dependence(frame, a=["a"], b=["b"], clusters=2, missing="worst")
    assert hidden.verify().passed
    assert hidden.frame["a"].null_count() == 0
    assert all(hidden.frame["a"][row] == "*" for row in (1, 3))


def test_weights_move_the_stars():
    frame = frame_of(60, np.random.default_rng(3), n_values=3)
    options = {"a": ["a0", "a1"], "b": ["b"], "clusters": 3}
    dear = ht.mask_dependence(frame, **options, weights={"a0": 10})
    plain = ht.mask_dependence(frame, **options)
    assert dear.stars_by_column["a0"] <= plain.stars_by_column["a0"]
    assert dear.cost == 10 * dear.stars_by_column["a0"] + dear.stars_by_column["a1"]
    free = ht.mask_dependence(frame, **options, weights={"a0": 0, "a1": 0})
    assert (free.cost, free.optimal) == (0, True)
    assert free.verify().passed


@pytest.mark.parametrize("clustering", ["median", "kmeans", "distance"])
def test_several_mixed_columns_are_cut_into_equal_clusters(clustering):
    rng = np.random.default_rng(4)
    blobs = np.repeat([[0.0, 0.0], [10, 0], [0, 10]], 20, axis=0) + rng.normal(0, 0.3, (60, 2))
    shuffled = rng.permutation(60)
    frame = pl.DataFrame(
        {
            "a": [f"v{code}" for code in rng.integers(0, 3, 60)],
            "x": blobs[shuffled, 0],
            "y": blobs[shuffled, 1],
            "town": [["bonn", "graz", "linz"][place // 20] for place in shuffled.tolist()],
        }
    )

    def distance(one, other):
        return abs(one[0] - other[0]) + abs(one[1] - other[1]) + 5 * (one[2] != other[2])

    masked = ht.mask_dependence(
        frame,
        a=["a"],
        b=["x", "y", "town"],
        clusters=3,
        clustering=distance if clustering == "distance" else clustering,
    )
    assert np.bincount(masked.labels).tolist() == [20, 20, 20]
    assert masked.verify().passed
    towns = {(label, town) for label, town in zip(masked.labels.tolist(), frame["town"], strict=True)}
    assert len(towns) == 3 or clustering == "median"


def test_kmeans_is_never_wider_than_median_cuts():
    rng = np.random.default_rng(8)
    frame = pl.DataFrame({"a": ["v"] * 90, "x": rng.normal(size=90), "y": rng.normal(size=90)})
    spreads = []
    for clustering in ("median", "kmeans"):
        labels = ht.mask_dependence(frame, a=["a"], b=["x", "y"], clusters=6, clustering=clustering).labels
        points = np.array(
            [(frame[name] - frame[name].min()) / (frame[name].max() - frame[name].min()) for name in "xy"]
        )
        spreads.append(sum(points[:, labels == each].var(axis=1).sum() for each in range(6)))
    assert spreads[1] < spreads[0]


def test_kmeans_of_many_records_fills_clusters_with_room():
    rng = np.random.default_rng(9)
    frame = pl.DataFrame({"a": ["v"] * 3_000, "x": rng.exponential(size=3_000), "y": rng.normal(size=3_000)})
    labels = ht.mask_dependence(frame, a=["a"], b=["x", "y"], clusters=7, clustering="kmeans").labels
    assert np.bincount(labels).tolist() == [428] * 7


def test_given_clusters_are_kept():
    frame = frame_of(20, np.random.default_rng(5))
    labels = ["low"] * 7 + ["mid"] * 7 + ["high"] * 6
    masked = ht.mask_dependence(frame, a=["a0"], b=["b"], clusters=3, clustering=labels)
    assert len(masked.removed) == 2
    assert [sorted(["high", "low", "mid"]).index(labels[row]) for row in masked.kept] == masked.labels.tolist()


def test_categories_and_missing_cells_in_b():
    frame = pl.DataFrame({"a": ["x", "y"] * 10, "b": ["p", None, "q", "q"] * 5})
    masked = ht.mask_dependence(frame, a=["a"], b=["b"], clusters=4)
    assert masked.verify().passed
    assert masked.cluster_values["b"].null_count() == 5


def test_missing_whole_numbers_in_b_of_pandas(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"] * 3, "b": pd.array([1, None, 2**62 + 1] * 2, dtype="Int64")})
    masked = ht.mask_dependence(frame, a=["a"], b=["b"], clusters=2)
    assert masked.cluster_values["b"].dtype == "Int64"
    assert sorted(masked.cluster_values["b"].dropna().tolist()) == [1, 1, 2**62 + 1, 2**62 + 1]
    masked.write(tmp_path / "a.csv", tmp_path / "b.csv")
    written = pl.read_csv(tmp_path / "b.csv")["b"]
    assert (sorted(written.drop_nulls()), written.null_count()) == ([1, 1, 2**62 + 1, 2**62 + 1], 2)


def test_ties_are_settled_only_when_asked_and_the_result_says_so():
    rng = np.random.default_rng(6)
    frame = frame_of(120, rng).with_columns(b=pl.Series(rng.integers(0, 3, 120)))
    options = {"a": ["a0", "a1"], "b": ["b"], "clusters": 5}
    plain = ht.mask_dependence(frame, **options)
    settled = ht.mask_dependence(frame, **options, optimise_ties=True)
    assert settled.n_stars < plain.n_stars
    assert settled.verify().passed
    assert not plain.ties_optimised
    assert any("ties" in warning for warning in settled.warnings)
    assert not any("ties" in warning for warning in plain.warnings)
    ordered = sorted(zip(frame["b"], settled.labels.tolist(), strict=True))
    assert [label for _, label in ordered] == sorted(settled.labels.tolist())


def test_the_same_seed_gives_the_same_release_and_another_removes_others():
    frame = frame_of(101, np.random.default_rng(7))
    first, again, other = (ht.mask_dependence(frame, a=["a0"], b=["b"], clusters=10, seed=seed) for seed in (1, 1, 2))
    assert first.frame.equals(again.frame)
    assert first.removed == again.removed
    assert first.removed != other.removed


def test_b_column_by_column_and_in_bins():
    frame = frame_of(40, np.random.default_rng(9)).with_columns(d=pl.lit("x"))
    options = {"a": ["a0"], "b": ["b", "d"], "c": ["c"], "clusters": 4}
    columns = ht.mask_dependence(frame, **options, publish="columns").cluster_values
    assert columns.columns == ["cluster", "column", "value", "n"]
    assert columns.filter(pl.col("column") == "b")["n"].sum() == 40
    binned = ht.mask_dependence(frame, **options, publish="bins").cluster_values
    cells = binned.filter(pl.col("column") == "b")["value"]
    assert cells.str.contains(r"^\[\d+, \d+\)$").all()
    assert binned.group_by("cluster", "column").agg(pl.sum("n"))["n"].unique().to_list() == [10]


def test_columns_of_lists_stay_as_they_are():
    frame = frame_of(12, np.random.default_rng(0)).with_columns(tags=pl.Series([[row] for row in range(12)]))
    masked = ht.mask_dependence(frame, a=["a0"], b=["b"], clusters=2)
    assert masked.frame["tags"].to_list() == frame["tags"].to_list()
    assert {pair.second for pair in masked.pairs()} == {"a1", "c"}


def test_columns_in_none_of_the_three_are_left_out():
    masked = ht.mask_dependence(frame_of(12, np.random.default_rng(0)), a=["a0"], b=["b"], c=[], clusters=2)
    assert masked.frame.columns == ["a0", "cluster"]


def test_a_budget_gives_the_best_so_far():
    frame = frame_of(4_000, np.random.default_rng(10), n_values=7, n_columns=4)
    a = ["a0", "a1", "a2", "a3"]
    masked = ht.mask_dependence(frame, a=a, b=["b"], clusters=5, budget=ht.Budget(seconds=1e-6))
    assert masked.verify().passed
    assert not masked.trace.complete
    assert 0 < masked.lower_bound <= masked.n_stars


def test_the_record_of_a_release_names_no_cell():
    hours = pl.int_range(-90_029, -89_999)
    frame = frame_of(30, np.random.default_rng(11)).with_columns(a0=pl.lit("canary-A"), b=hours)
    masked = ht.mask_dependence(frame, a=["a0", "a1"], b=["b"], clusters=3)
    told = json.dumps(masked.to_dict()) + repr(masked) + masked._repr_html_() + repr(masked.verify())
    assert "canary-A" not in told
    # No number of seconds has a minus sign before 900.
    assert "-900" not in told


def test_dependence_is_gone_and_was_there():
    frame = frame_of(60, np.random.default_rng(12))
    before, after = ht.mask_dependence(frame, a=["a0", "a1"], b=["b"], clusters=3).dependence()
    assert before.mutual_information > 0
    assert (after.mutual_information, after.chi_square) == (0, 0)


def test_the_tradeoff_costs_more_stars_with_more_clusters():
    frame = frame_of(240, np.random.default_rng(13)).with_columns(c=pl.col("b") // 5)
    curve = ht.masking_tradeoff(frame, a=["a0", "a1"], b=["b"], clusters=[2, 6, 12])
    assert [point.clusters for point in curve.points] == [2, 6, 12]
    assert curve.points[0].n_stars < curve.points[-1].n_stars
    assert curve.points[0].bc_after < curve.points[-1].bc_after
    assert json.dumps(curve.to_dict())
    assert curve._repr_html_().startswith("<table>")


def test_both_files_are_written_and_verified(tmp_path):
    frame = frame_of(31, np.random.default_rng(14))
    masked = ht.mask_dependence(frame, a=["a0", "a1"], b=["b"], clusters=3)
    verdict = masked.write(tmp_path / "out.csv", tmp_path / "out.clusters.csv")
    assert verdict.passed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.clusters.csv", "out.csv", "out.csv.manifest.json"]
    assert Independence(("a0", "a1")).verify(tmp_path / "out.csv").passed
    shuffled, expected = pl.read_csv(tmp_path / "out.csv"), masked.frame
    assert shuffled.rows() != expected.rows()
    assert sorted(map(str, shuffled.rows())) == sorted(map(str, expected.rows()))
    masked.write(tmp_path / "out.csv", tmp_path / "out.clusters.csv", keep_order=True, overwrite=True)
    assert pl.read_csv(tmp_path / "out.csv").rows() == expected.rows()
    with pytest.raises(ht.InputError):
        masked.write(tmp_path / "new.csv", tmp_path / "nowhere" / "values.csv")
    assert not (tmp_path / "new.csv").exists()


# Verification


def test_the_verifier_agrees_with_the_twin():
    rng = np.random.default_rng(15)
    outcomes = []
    for _ in range(200):
        n = int(rng.integers(1, 4)) * 2
        frame = pl.DataFrame(
            {"x": rng.integers(0, 2, n), "y": rng.integers(0, 2, n), "cluster": rng.permutation(n) % 2}
        )
        found = Independence(("x", "y")).verify(frame).passed
        assert found == naive.is_independent(*vectors_of(frame, ["x", "y"]))
        outcomes.append(found)
    assert set(outcomes) == {True, False}


def test_a_swapped_cell_fails_the_verification():
    out = ht.mask_dependence(example(), a=["age", "job"], b=["income"], clusters=3).frame
    spoilt = out.with_columns(age=pl.Series(["90", *out["age"][1:]]))
    verdict = Independence(("age", "job")).verify(spoilt)
    assert not verdict.passed
    assert all("'age'" in str(failure) for failure in verdict.failures)
    assert json.dumps(verdict.to_dict())
    assert verdict._repr_html_().startswith("<b>")
    with pytest.raises(ht.VerificationError, match="do not publish"):
        verdict.raise_if_failed()


def test_unequal_or_too_few_clusters_fail_the_verification():
    frame = pl.DataFrame({"x": ["*"] * 3, "cluster": [1, 1, 2]})
    assert "clusters of 1 to 2 records" in map(str, Independence(("x",)).verify(frame).failures)
    assert "2 clusters instead of 3" in map(str, Independence(("x",), n_clusters=3).verify(frame).failures)
    with pytest.raises(ht.InputError, match="no column"):
        Independence(())


# Tables of all kinds


@given(tables(max_rows=14, min_rows=3), st.integers(2, 4), st.sampled_from(METHODS), st.booleans())
def test_random_tables_with_missing_repeated_and_constant_cells(frame, n_clusters, method, strict):
    b = next((name for name in frame.columns if frame[name].n_unique() > 1), None)
    a = [name for name in frame.columns if name != b]
    assume(b is not None and a and n_clusters <= frame.height)
    missing = "worst" if strict else "category"
    masked = ht.mask_dependence(frame, a=a, b=[b], clusters=n_clusters, method=method, missing=missing)
    assert masked.verify().passed
    assert naive.is_independent(*vectors_of(masked.frame, a))
    assert masked.lower_bound <= masked.n_stars == sum((masked.frame[name] == "*").sum() for name in a)
    clusters = [[] for _ in range(n_clusters)]
    codes = masked.table.select(a).codes.T.tolist()
    for label, vector in zip(masked.labels.tolist(), codes, strict=True):
        clusters[label].append(tuple(code + (not strict) for code in vector))
    if frame.height <= 12 and method == "auto":
        assert masked.n_stars == naive.fewest_stars(clusters)


# Wrong input


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"b": ["a0"]}, ht.ColumnError, "more than one of a, b and c"),
        ({"c": ["b"]}, ht.ColumnError, "more than one of a, b and c"),
        ({"a": ["a9"]}, ht.ColumnError, "no column 'a9'"),
        ({"a": []}, ht.ColumnError, "a names no column"),
        ({"b": []}, ht.ColumnError, "b names no column"),
        ({"label": "c"}, ht.ColumnError, "has a column 'c' already"),
        ({"clusters": 1}, ht.InputError, "clusters = 1"),
        ({"clusters": 13}, ht.InputError, "clusters = 13 for 12 records"),
        ({"clusters": 2.0}, ht.InputError, "clusters = 2.0"),
        ({"b": ["same"]}, ht.InputError, "'same' is the same in all 12 records"),
        ({"a": ["starred"]}, ht.InputError, r"'starred' holds '\*'"),
        ({"method": "magic"}, ht.InputError, "method = 'magic'"),
        ({"missing": "wildcard"}, ht.InputError, "missing = 'wildcard'"),
        ({"publish": "all"}, ht.InputError, "publish = 'all'"),
        ({"clustering": "spectral"}, ht.InputError, "clustering = 'spectral'"),
        ({"clustering": "runs", "b": ["b", "c"], "c": []}, ht.InputError, "'runs' was given 2 columns"),
        ({"clustering": [1, 2]}, ht.InputError, "2 labels for 12 records"),
        ({"clustering": [1] * 10 + [2] * 2}, ht.InputError, "2 clusters of 2 to 10 records"),
        ({"clustering": lambda one, other: -1.0}, ht.InputError, "no distance"),
        ({"optimise_ties": True, "clustering": "median"}, ht.InputError, "optimise_ties"),
        ({"weights": {"c": 1}}, ht.ColumnError, "no column 'c'"),
        ({"weights": {"a0": -1}}, ht.InputError, "weight -1"),
    ],
)
def test_wrong_input(changes, error, words):
    frame = frame_of(12, np.random.default_rng(0)).with_columns(same=pl.lit("x"), starred=pl.lit("*"))
    options = {"a": ["a0"], "b": ["b"], "c": ["c"], "clusters": 2} | changes
    with pytest.raises(error, match=words):
        ht.mask_dependence(frame, **options)


def test_too_many_columns_of_a():
    frame = pl.DataFrame({f"a{j}": ["x", "y"] for j in range(13)} | {"b": [1, 2]})
    with pytest.raises(ht.InputError, match="13 columns"):
        ht.mask_dependence(frame, a=frame.columns[:-1], b=["b"], clusters=2)


# Adult


@pytest.mark.parametrize(("clusters", "stars"), [(2, 13_346), (5, 27_595), (10, 30_220), (20, 31_760)])
def test_adult_by_hours_is_proven(shared_file, clusters, stars):
    masked = ht.mask_dependence(
        shared_file(ADULT), a=["sex", "race", "marital"], b=["hr_per_week"], c=["relationship"], clusters=clusters
    )
    assert masked.optimal
    assert masked.n_stars == pytest.approx(stars, rel=0.01)
    assert masked.verify().passed


def test_relationship_gives_back_what_marital_hides(shared_file):
    masked = ht.mask_dependence(
        shared_file(ADULT), a=["sex", "race", "marital"], b=["hr_per_week"], c=["relationship"], clusters=5
    )
    guess = next(each for each in masked.guesses if each.column == "marital")
    assert guess.right_rate == pytest.approx(0.8, abs=0.04)
    assert guess.restored_rate == pytest.approx(0.81, abs=0.03)
    assert any("'marital'" in warning for warning in masked.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [2, 5, 10])
def test_adult_with_five_columns_is_within_five_percent(shared_file, clusters):
    masked = ht.mask_dependence(
        shared_file(ADULT),
        a=["sex", "race", "marital", "relationship", "occupation"],
        b=["hr_per_week"],
        c=[],
        clusters=clusters,
    )
    assert masked.gap < 0.05
    assert masked.verify().passed


@pytest.mark.slow
def test_a_million_records_are_masked():
    rng = np.random.default_rng(0)
    n = 1_000_000
    frame = pl.DataFrame({f"a{j}": rng.binomial(6, 0.3, n) for j in range(3)}).with_columns(
        b=pl.col("a0") + pl.Series(rng.integers(0, 60, n))
    )
    masked = ht.mask_dependence(frame, a=["a0", "a1", "a2"], b=["b"], clusters=5)
    assert masked.verify().passed
    assert masked.gap < 0.01


def test_the_tradeoff_is_drawn_without_a_window():
    people = ht.datasets.people(60)
    curve = ht.masking_tradeoff(people, a=["sex"], b=["income"], c=["education"], clusters=[2, 3])
    axes = curve.plot()
    assert axes.get_xlabel() == "clusters"
    axes.figure.savefig(io.BytesIO())
    assert curve.plot(ax=axes.figure.add_subplot()) is not axes


@pytest.mark.parametrize(
    "roles",
    [
        {"a": ["surname"], "b": ["age"]},
        {"a": ["job"], "b": ["surname"], "c": []},
        {"a": ["job"], "b": ["age"]},
        {"a": ["job"], "b": ["age"], "c": ["surname"]},
    ],
)
def test_a_direct_identifier_is_published_in_no_role_unless_it_is_accepted(roles):
    people = pl.DataFrame(
        {"surname": ["Lang", "Kurz", "Bauer"] * 8, "age": list(range(20, 44)), "job": ["cook", "clerk"] * 12}
    )
    with pytest.raises(ht.InputError, match=r"'surname' looks like a direct identifier \(.*\) and would be published"):
        ht.mask_dependence(people, clusters=2, **roles)
    masked = ht.mask_dependence(people, clusters=2, accept={"surname": "made up"}, **roles)
    assert "Accepted: surname (made up)." in masked.facts
    assert masked.to_dict()["accepted"] == ["surname"]
    assert masked.to_dict()["acceptances"] == {"surname": "made up"}
    with pytest.raises(ht.InputError, match="gives no reason for 'surname'"):
        ht.mask_dependence(people, clusters=2, accept={"surname": " "}, **roles)
    assert len(ht.masking_tradeoff(people, clusters=[2], **roles).points) == 1
