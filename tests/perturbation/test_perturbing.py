"""Perturbing tables: the promises of every method, and the faults of other programs that are none here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht

METHODS: dict[str, tuple[list[str], Any]] = {
    "microaggregation": (["age", "income"], ht.Microaggregation(k=4, steps=20_000)),
    "each column": (["age", "income"], ht.Microaggregation(each_column=True)),
    "noise": (["age", "income"], "noise"),
    "additive noise": (["age", "income"], ht.Noise(kind="additive")),
    "pram": (["job", "town"], "pram"),
    "exact pram": (["job", "town"], ht.Pram(joint=True, exact=True)),
    "rank_swap": (["age", "income", "pay"], "rank_swap"),
    "shuffle": (["income"], ht.Shuffle(given=["age"])),
    "record_swap": (["town"], ht.RecordSwap(household="home", risk=["job"])),
}


def draw_people(n: int = 240, *, missing: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 90, n)
    income = np.round(np.exp(rng.normal(10, 0.5, n)) + 200 * age).astype(int)
    pay = np.round(income / 12 + rng.normal(0, 100, n), 2)
    table = pl.DataFrame(
        {
            "age": age,
            "income": income,
            "pay": pay,
            "job": rng.choice(["clerk", "cook", "smith"], n, p=[0.7, 0.25, 0.05]),
            "town": np.repeat(rng.choice(["A", "B", "C"], n // 2), 2),
            "home": np.arange(n) // 2,
        }
    )
    holes = pl.Series(rng.random(n) < 0.15)
    return table.with_columns(age=pl.when(~holes).then("age")) if missing else table


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_keeps_its_promises(name: str, missing: bool, tmp_path: Path) -> None:
    columns, method = METHODS[name]
    people = draw_people(missing=missing)
    before = people.clone()
    release = ht.perturb(people, columns=columns, method=method, seed=5)
    frame = release.frame
    assert people.equals(before)
    again = ht.perturb(people, columns=columns, method=method, seed=5)
    assert frame.equals(again.frame)
    for each, name_of_file in ((release, "one.csv"), (again, "same.csv")):
        each.write(tmp_path / name_of_file, keep_order=True)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
    assert frame.schema == people.schema
    assert frame.select(pl.exclude(columns)).equals(people.select(pl.exclude(columns)))
    assert not frame.equals(people)
    verdict = release.verify()
    assert verdict.passed
    is_private = name == "microaggregation"
    assert verdict.complete == is_private
    assert any("no k-anonymity" in fact for fact in release.facts) != is_private
    release.write(tmp_path / "out.csv", external=True)
    entries = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert entries["claim"]["kind"] == ("classes" if is_private else "stated")
    # The seed would undo the perturbation.
    assert "seed" not in json.dumps(entries)


def test_matrices_are_in_the_figures_and_in_no_file(tmp_path: Path) -> None:
    release = ht.perturb(draw_people(), columns=["job"], method="pram")
    assert "smith" in json.dumps(release.figures)
    assert "smith" not in json.dumps(release.to_dict())
    release.write(tmp_path / "out.csv")
    assert "smith" not in (tmp_path / "out.csv.manifest.json").read_text()


@pytest.mark.parametrize("name", [{"microaggregation": {"steps": 1_000}}, "rank_swap", "noise"], ids=str)
def test_all_libraries_get_the_same(name: Any) -> None:
    people = draw_people().select("age", "income")
    kinds = [people, people.to_pandas(), people.to_arrow(), ht.Table.encode(people)]
    found = [ht.perturb(each, columns=["age", "income"], method=name, seed=1).frame for each in kinds]
    assert isinstance(found[3], ht.Table)
    lists = [
        found[0].to_dict(as_series=False),
        {key: list(column) for key, column in found[1].to_dict("list").items()},
        found[2].to_pydict(),
        found[3].decode().to_dict(as_series=False),
    ]
    assert lists[0] == lists[1] == lists[2] == lists[3]


# Microaggregation: the faults of sdcMicro 5.8.1 are named in the facts, section 2.


def smallest_group(frame: pl.DataFrame, columns: list[str]) -> int:
    return int(frame.group_by(columns).len()["len"].min())  # type: ignore[arg-type]


def test_a_stratum_below_k_is_refused_and_not_published() -> None:
    people = draw_people().with_columns(area=pl.Series(["lone"] + ["most"] * 239))
    with pytest.raises(ht.InfeasibleError, match="1 of 2 strata hold fewer than 3"):
        ht.perturb(people, columns=["age"], by=["area"])
    with pytest.raises(ht.InfeasibleError, match="2 records, fewer than 3"):
        ht.perturb(people.head(2), columns=["age"])


def test_strata_are_part_of_the_promise() -> None:
    release = ht.perturb(
        draw_people(), columns=["age", "income"], by=["town"], method=ht.Microaggregation(k=4, steps=1_000)
    )
    assert release.claim.columns == ("town", "age", "income")
    assert smallest_group(release.frame, ["town", "age", "income"]) >= 4


def test_patterns_of_missing_cells_are_no_fingerprint() -> None:
    people = draw_people(missing=True).with_columns(income=pl.when(pl.col("home") > 0).then("income"))
    release = ht.perturb(people, columns=["age", "income", "pay"], method=ht.Microaggregation(k=4, steps=1))
    assert smallest_group(release.frame, ["age", "income", "pay"]) >= 4
    assert release.frame["pay"].null_count() >= 4
    assert "known cells became missing" in " ".join(release.facts)


def test_a_mean_counts_known_cells_only() -> None:
    table = pl.DataFrame({"x": [10, None, 10, 10, None, None]})
    assert ht.perturb(table, columns=["x"]).frame["x"].to_list() == [10, None, 10, 10, None, None]


def test_minus_999_is_a_number() -> None:
    table = pl.DataFrame({"x": [-999, -998, -997]})
    assert ht.perturb(table, columns=["x"]).frame["x"].to_list() == [-998] * 3


def test_weights_and_the_median_are_obeyed() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    plain, heavy = (
        ht.perturb(
            table, columns=["x", "y"], method=ht.Microaggregation(weights=weights, steps=9_000), precision="full"
        )
        for weights in ({}, {"x": 100})
    )
    assert heavy.losses[0].sse_share < plain.losses[0].sse_share / 2  # type: ignore[operator]
    whole = pl.DataFrame({"x": [0, 0, 1, 5, 9, 9]})
    median = ht.perturb(whole, columns=["x"], method=ht.Microaggregation(centre="median"))
    assert median.frame["x"].to_list() == [0, 0, 0, 9, 9, 9]


def test_one_column_has_the_least_loss_and_says_so() -> None:
    table = pl.DataFrame({"x": [1.0, 2, 3, 50, 51, 52, 53]})
    release = ht.perturb(table, columns=["x"], precision="full")
    assert release.trace.optimal
    assert release.frame["x"].to_list() == [2.0] * 3 + [51.5] * 4


def test_whole_numbers_stay_whole_and_full_precision_does_not_round() -> None:
    table = pl.DataFrame({"persons": [0, 0, 1]})
    assert ht.perturb(table, columns=["persons"]).frame["persons"].to_list() == [0, 0, 0]
    assert ht.perturb(table, columns=["persons"], precision="full").frame["persons"].to_list() == [1 / 3] * 3


def test_a_proven_floor_is_a_floor_and_its_prices_come_with_it() -> None:
    people = draw_people(90)
    method = ht.Microaggregation(prove=True, steps=300_000)
    release = ht.perturb(people, columns=["age", "income"], method=method, precision="full")
    quick = ht.perturb(people, columns=["age", "income"], precision="full")
    assert quick.trace.bound < release.trace.bound <= release.loss  # type: ignore[operator]
    assert release.certificate is not None
    assert len(release.certificate.entries["prices"]) == 90
    assert "prices" not in json.dumps(release.to_dict())
    assert release.loss == pytest.approx(sum(each.sse_share for each in release.losses) / 2)  # type: ignore[misc]
    assert release.loss < release.mdav["sse_share"]  # type: ignore[operator]


def test_distances_are_of_doubles() -> None:
    far = [10**9 + each for each in (0, 11, 1, 12, 2, 10)]
    table = pl.DataFrame({"x": far, "y": far})
    found = ht.perturb(table, columns=["x", "y"], method=ht.Microaggregation(search="mdav")).frame["x"].to_list()
    assert [each - 10**9 for each in found] == [1, 11, 1, 11, 1, 11]


def test_each_column_by_itself_is_no_k_anonymity_and_says_so() -> None:
    release = ht.perturb(draw_people(), columns=["age", "income"], method=ht.Microaggregation(each_column=True))
    assert smallest_group(release.frame, ["age", "income"]) < 3
    assert not release.verify().complete
    assert "no k-anonymity" in " ".join(release.notes)


# PRAM: section 3.


def test_a_column_called_f_is_changed() -> None:
    people = draw_people().rename({"job": "f"})
    release = ht.perturb(people, columns=["f"], method=ht.Pram(change=0.3))
    assert release.losses[0].changed_rate == pytest.approx(0.3, abs=0.1)


def test_every_stratum_tells_its_matrix_and_each_is_invariant() -> None:
    people = draw_people()
    release = ht.perturb(people, columns=["job"], by=["town"], method=ht.Pram(change=0.2))
    assert len(release.figures["matrices"]) == 3
    for each in release.figures["matrices"]:
        matrix = np.array(each["matrix"])
        assert matrix.sum(axis=1) == pytest.approx(1)


def test_the_share_of_changes_is_the_one_asked_for() -> None:
    people = draw_people()
    ((entry),) = ht.perturb(people, columns=["job"], method=ht.Pram(change=0.2)).figures["matrices"]
    counts = people["job"].value_counts().sort("job")["count"].to_numpy()
    matrix = np.array(entry["matrix"])
    frequencies = counts / counts.sum()
    assert frequencies @ (1 - np.diag(matrix)) == pytest.approx(0.2, abs=1e-12)
    assert np.abs(frequencies @ matrix - frequencies).max() < 1e-12
    with pytest.raises(ht.InfeasibleError, match=r"change = 0\.9 is more"):
        ht.perturb(people, columns=["job"], method=ht.Pram(change=0.9))


def test_one_category_cannot_be_changed() -> None:
    with pytest.raises(ht.InfeasibleError, match=r"0\.0000"):
        ht.perturb(pl.DataFrame({"job": ["cook"] * 5}), columns=["job"], method="pram")


def test_missing_is_a_category_of_pram() -> None:
    people = draw_people().with_columns(job=pl.when(pl.col("job") != "smith").then("job"))
    found = ht.perturb(people, columns=["job"], method=ht.Pram(change=0.3)).frame["job"]
    assert (found.is_null() != people["job"].is_null()).any()


def test_exact_and_joint_pram_keep_all_frequencies_of_pairs() -> None:
    people = draw_people()
    release = ht.perturb(people, columns=["job", "town"], method=ht.Pram(change=0.3, joint=True, exact=True))
    pairs = [frame.group_by("job", "town").len().sort("job", "town") for frame in (people, release.frame)]
    assert pairs[0].equals(pairs[1])


# Rank swapping: section 4.


def test_a_distance_is_a_share_of_ranks_and_is_kept() -> None:
    table = pl.DataFrame({"x": np.random.default_rng(0).permutation(1000)})
    release = ht.perturb(table, columns=["x"], method=ht.RankSwap(distance=0.05))
    moved = (release.frame["x"] - table["x"]).abs()
    assert moved.max() == 50 or moved.max() > 40  # type: ignore[operator]
    assert moved.max() <= 50  # type: ignore[operator]
    with pytest.raises(ht.InputError, match="distance = 5"):
        ht.RankSwap(distance=5)


def test_ties_change_few_cells_and_how_many_is_told() -> None:
    table = pl.DataFrame({"x": [0] * 900 + [5] * 100})
    release = ht.perturb(table, columns=["x"], method="rank_swap")
    assert release.losses[0].changed_rate == (release.frame["x"] != table["x"]).mean()
    assert release.losses[0].changed_rate < 0.2


@pytest.mark.parametrize("method", ["rank_swap", "shuffle"])
def test_swapping_and_shuffling_return_a_permutation(method: str) -> None:
    people = draw_people(missing=True)
    release = ht.perturb(people, columns=["age", "pay"], by=["town"], method=method)
    for name in ("age", "pay"):
        both = [frame.select("town", name).sort("town", name) for frame in (people, release.frame)]
        assert both[0].equals(both[1])
        assert (release.frame[name].is_null() == people[name].is_null()).all()
    assert len(release.frame["pay"].unique()) == len(people["pay"].unique())


def test_dates_and_ordered_categories_are_swapped_and_others_refused() -> None:
    people = draw_people().with_columns(born=pl.date(2000, 1, 1) + pl.duration(days="age"))
    assert ht.perturb(people, columns=["born"], method="rank_swap").frame.schema == people.schema
    orders = {"job": ht.ColumnSpec("ordered", ("smith", "cook", "clerk"))}
    assert ht.perturb(people, columns=["job"], method="rank_swap", specs=orders).losses[0].changed_rate > 0
    with pytest.raises(ht.ColumnError, match="'job' have no order"):
        ht.perturb(people, columns=["job"], method="rank_swap")
    with pytest.raises(ht.ColumnError, match="'job' are no numbers"):
        ht.perturb(people, columns=["job"])


@pytest.mark.parametrize("method", ["rank_swap", "shuffle"])
def test_a_column_without_any_cell_stays_empty(method: str) -> None:
    table = pl.DataFrame({"x": [1, 2, 3], "none": pl.Series([None] * 3, dtype=pl.Date)})
    found = ht.perturb(table, columns=["x", "none"], method=method, seed=1).frame
    assert found["none"].null_count() == 3
    assert sorted(found["x"]) == [1, 2, 3]


# Noise: section 5.


def noisy(kind: str, amount: float, n: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    one = rng.normal(size=n)
    table = pl.DataFrame({"x": 5 + one, "y": 10 * (0.9 * one + np.sqrt(0.19) * rng.normal(size=n))})
    method = ht.Noise(amount, kind)
    return table.to_numpy(), ht.perturb(table, columns=["x", "y"], method=method, precision="full").frame.to_numpy()


@pytest.mark.parametrize(
    ("kind", "variance", "correlation"),
    [("additive", 1.25, 0.72), ("correlated", 1.25, 0.9), ("transformed", 1.0, 0.9), ("obfuscated", 1.0, 0.9)],
)
def test_an_amount_means_the_same_in_every_kind(kind: str, variance: float, correlation: float) -> None:
    before, after = noisy(kind, 0.5)
    assert np.var(after, axis=0) / np.var(before, axis=0) == pytest.approx(variance, abs=0.06)
    assert np.corrcoef(after.T)[0, 1] == pytest.approx(correlation, abs=0.03)
    # Noise is noise: no function of the original.
    assert abs(np.corrcoef(before[:, 0], after[:, 0])[0, 1]) < 0.95


@pytest.mark.parametrize("amount", [0.1, 0.7, 1.0])
def test_obfuscation_keeps_means_and_covariances(amount: float) -> None:
    before, after = noisy("obfuscated", amount, 300)
    assert np.abs(after.mean(axis=0) - before.mean(axis=0)).max() < 1e-9
    assert np.abs(np.cov(after.T) - np.cov(before.T)).max() < 1e-9 * 100


def test_columns_that_determine_one_another_are_no_obstacle() -> None:
    x = np.random.default_rng(0).normal(size=50)
    table = pl.DataFrame({"x": x, "double": 2 * x, "constant": np.ones(50)})
    after = ht.perturb(table, columns=table.columns, method="noise", precision="full").frame.to_numpy()
    assert np.abs(np.cov(after.T) - np.cov(table.to_numpy().T)).max() < 1e-9


def test_few_records_are_refused_and_not_published_without_noise() -> None:
    with pytest.raises(ht.InfeasibleError, match="4 records without a missing cell are too few"):
        ht.perturb(draw_people().head(4), columns=["age", "income"], method="noise")


def test_zeros_stay_where_asked() -> None:
    table = pl.DataFrame({"x": [0, 0, 0, *range(100, 120)]})
    found = ht.perturb(table, columns=["x"], method=ht.Noise(keep_zeros=True)).frame["x"].to_list()
    assert found[:3] == [0, 0, 0]


# Shuffling: section 6.


def test_shuffling_keeps_rank_correlations_and_nothing_else() -> None:
    rng = np.random.default_rng(2)
    s = rng.normal(size=3_000)
    one, other = s + rng.normal(size=3_000), s + rng.normal(size=3_000)
    table = pl.DataFrame({"s": s, "x": np.exp(one), "y": other})
    release = ht.perturb(table, columns=["x", "y"], method=ht.Shuffle(given=["s"]))
    frame = release.frame
    for pair in (("x", "y"), ("x", "s"), ("y", "s")):
        before, after = (each.select(pl.corr(*pair, method="spearman")).item() for each in (table, frame))
        assert after == pytest.approx(before, abs=0.05)
    # Given s, a value and its shuffled twin have nothing to do with one another.
    rest = [np.log(each["x"].to_numpy()) - s for each in (table, frame)]
    assert abs(np.corrcoef(*rest)[0, 1]) < 0.06
    assert ht.perturb(table, columns=["x"], method=ht.Shuffle(given=["s"])).frame["x"].sort().equals(table["x"].sort())


def test_columns_that_are_one_another_can_be_shuffled() -> None:
    x = np.random.default_rng(0).permutation(200)
    table = pl.DataFrame({"x": x, "same": x, "twice": 2 * x})
    frame = ht.perturb(table, columns=["x", "same"], method=ht.Shuffle(given=["twice"])).frame
    assert (frame["x"] == frame["same"]).all()
    assert frame["x"].sort().equals(table["x"].sort())


# Record swapping: section 8.


def test_record_swapping_swaps_whole_households_to_the_rate_and_keeps_tables_by_size() -> None:
    rng = np.random.default_rng(0)
    homes = np.repeat(np.arange(400), rng.integers(1, 5, 400))
    table = pl.DataFrame(
        {
            "home": homes,
            "region": np.array(["N", "S"])[rng.integers(0, 2, 400)][homes],
            "town": rng.integers(0, 3, 400)[homes],
            "age": rng.integers(0, 30, len(homes)),
        }
    ).with_columns(size=pl.len().over("home"))
    method = ht.RecordSwap(household="home", similar=["size"], risk=["age"], rate=0.1)
    release = ht.perturb(table, columns=["region", "town"], method=method)
    by = ["region", "town", "size"]
    tables = [frame.group_by(by).len().sort(by) for frame in (table, release.frame)]
    assert tables[0].equals(tables[1])
    assert release.frame.group_by("home").agg(pl.col("region").n_unique())["region"].max() == 1
    at_risk = table.with_columns(n=pl.len().over("region", "age")).filter(pl.col("n") < 3)["home"].unique()
    moved = (release.frame["region"] != table["region"]) | (release.frame["town"] != table["town"])
    swapped = set(table.filter(moved)["home"])
    lacking = release.figures["without_donor"]
    assert len(set(at_risk) - swapped) <= lacking
    assert release.figures["swapped"] == len(swapped)
    assert len(swapped) >= 0.1 * 400 - lacking
    mixed = table.with_columns(town=pl.int_range(pl.len()) % 3)
    with pytest.raises(ht.ColumnError, match="households have different cells in columns 'town'"):
        ht.perturb(mixed, columns=["region", "town"], method=method)


def test_swapping_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ht.perturb(draw_people(), columns=["town"], method=ht.RecordSwap(household="home", risk=["job"]))
    assert list(tmp_path.iterdir()) == []


# Measures: section 9.


def test_a_constant_column_has_no_loss_by_its_deviation_and_il1s_is_a_mean() -> None:
    people = draw_people().with_columns(same=pl.lit(7))
    release = ht.perturb(people, columns=["same", "age"], method=ht.Microaggregation(steps=1))
    constant, age = release.losses
    assert (constant.changed_rate, constant.sse_share, constant.il1s) == (0.0, None, None)
    steps = (release.frame["age"] - people["age"]).abs()
    assert age.il1s == pytest.approx((steps / (np.sqrt(2) * people["age"].std())).mean())


def test_correlations_are_measured_on_what_is_published() -> None:
    people = draw_people(missing=True)
    release = ht.perturb(people, columns=["age", "pay", "income"], method="rank_swap")
    for pair in release.pairs:
        for frame, found in ((people, (pair.before, pair.rank_before)), (release.frame, (pair.after, pair.rank_after))):
            known = frame.select(pair.columns).drop_nulls()
            expected = [known.select(pl.corr(*pair.columns, method=kind)).item() for kind in ("pearson", "spearman")]
            assert found == pytest.approx(expected)


def test_more_noise_is_never_more_risk() -> None:
    linked = [
        ht.perturb(draw_people(), columns=["age", "income"], method=ht.Noise(amount)).linkage
        for amount in (0.02, 0.3, 1.0)
    ]
    assert linked == sorted(linked, reverse=True)  # type: ignore[type-var]
    assert linked[0] > linked[-1]  # type: ignore[operator]


# Doors.


SURNAMES = pl.DataFrame({"surname": ["Lang", "Kurz", "Bauer"] * 20, "age": list(range(20, 80))})


def test_a_direct_identifier_is_not_published_unasked() -> None:
    people = ht.datasets.people(n=60, seed=0)
    with pytest.raises(ht.InputError, match="looks like a direct identifier"):
        ht.perturb(people, columns=["income"], method="rank_swap")
    assert ht.perturb(people, columns=["income"], method="rank_swap", keep=[]).frame.columns == ["income"]


@pytest.mark.parametrize(
    "roles",
    [
        {"columns": ["surname"], "method": "pram"},
        {"columns": ["surname"], "method": "record_swap"},
        {"columns": ["age"], "by": ["surname"]},
        {"columns": ["age"], "keep": ["surname"]},
        {"columns": ["age"]},
    ],
)
def test_a_direct_identifier_is_published_in_no_role_unless_it_is_accepted(roles: dict[str, Any]) -> None:
    with pytest.raises(ht.InputError, match=r"'surname' looks like a direct identifier \(.*\) and would be published"):
        ht.perturb(SURNAMES, **roles)
    release = ht.perturb(SURNAMES, **roles, accept={"surname": "made up"})
    assert "Accepted: surname (made up)." in release.facts


def test_a_kept_copy_of_a_perturbed_column_is_told() -> None:
    people = draw_people().with_columns(copy=pl.col("income"))
    release = ht.perturb(people, columns=["income"], keep=["copy"])
    assert any("gives back what was perturbed: 'copy'" in fact for fact in release.facts)
    assert release.to_dict()["warnings"]
    assert not ht.perturb(people, columns=["income"], keep=["age"]).warnings


def test_persons_with_several_records_are_told() -> None:
    visits = draw_people().head(60).with_columns(patient_id=pl.Series([f"P{row // 2:04d}" for row in range(60)]))
    release = ht.perturb(visits, columns=["age"], keep=[])
    assert any("'patient_id' numbers persons, and some have several records" in fact for fact in release.facts)
    assert any("k counts records" in fact for fact in release.facts)


def test_reasons_of_accepted_columns_are_internal(tmp_path: Path) -> None:
    release = ht.perturb(SURNAMES, columns=["surname"], method="pram", accept={"surname": "made up"})
    manifests = {}
    for external in (False, True):
        path = tmp_path / f"{external}.csv"
        release.write(path, external=external)
        manifests[external] = path.with_name(f"{path.name}.manifest.json").read_text()
    assert all('"surname"' in text for text in manifests.values())
    assert ["made up" in text for text in manifests.values()] == [True, False]


def test_whoever_accepts_a_column_says_why() -> None:
    with pytest.raises(ht.InputError, match="gives no reason for 'surname'"):
        ht.perturb(SURNAMES, columns=["surname"], method="pram", accept={"surname": " "})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": []}, "names no column"),
        ({"columns": ["agee"]}, "no column 'agee'"),
        ({"columns": ["age"], "by": ["age"]}, "more than one role"),
        ({"columns": ["age"], "method": ht.Shuffle(given=["age"])}, "more than one role"),
        ({"columns": ["age"], "precision": "high"}, "precision = 'high'"),
        ({"columns": ["age"], "method": "mdva"}, "unknown perturbation 'mdva'"),
        ({"columns": ["age"], "method": ht.Noise}, "given as the class Noise"),
        ({"columns": ["age"], "method": ht.Microaggregation(weights={"x": 1})}, "no column 'x'"),
        ({"columns": ["age"], "seed": -1}, "seed = -1"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        ht.perturb(draw_people(), **arguments)


def test_large_tables_are_grouped_in_blocks() -> None:
    table = pl.DataFrame(np.random.default_rng(0).random((20_050, 2)), schema=["x", "y"])
    release = ht.perturb(table, columns=["x", "y"], method=ht.Microaggregation(search="mdav"), precision="full")
    assert smallest_group(release.frame, ["x", "y"]) >= 3
    assert release.loss < 1.2e-3  # type: ignore[operator]
