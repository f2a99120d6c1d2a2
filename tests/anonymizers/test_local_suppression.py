"""Local suppression: floors and optima by brute force, the laws of its readings, and Adult's figures."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done
from conftest import SHARED
from hushtable.anonymizers import suppression_programme
from hushtable.kernels import class_prices
from twins import naive_suppression as naive

NAMES = ["a", "b", "c"]


def draw(seed, n_rows=8, n_values=3, n_columns=3):
    rng = np.random.default_rng(seed)
    columns = {
        name: [None if x == n_values else int(x) for x in rng.integers(0, n_values + (seed % 3 == 0), n_rows)]
        for name in NAMES[:n_columns]
    }
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))


def suppress(frame, model, names=None, loss="minimal_distortion", **options):
    names = names or [name for name in frame.columns if name in NAMES]
    method = ht.LocalSuppression(**options)
    return ht.anonymize(frame, quasi_identifiers=names, models=[model], method=method, loss=loss, roles="trust")


def cells(release):
    return [tuple(None if cell is None else str(cell) for cell in row) for row in release.frame.select(NAMES).rows()]


def n_blank(rows):
    return sum(cell == "*" for row in rows for cell in row)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [2, 3])
def test_floors_and_classes_against_brute_force(seed, k):
    frame = draw(seed)
    rows, weights = frame.rows(), [1.0, 2.0, 0.5] if seed % 2 else [1.0] * 3
    loss = ht.MinimalDistortion(dict(zip(NAMES, weights, strict=True)))
    own, release = (suppress(frame, model, loss=loss) for model in (ht.MatchK1(k), ht.KAnonymity(k)))
    least_own, least = naive.own_optimum(rows, k, weights), naive.class_optimum(rows, k, weights)
    assert own.loss == own.trace.bound == pytest.approx(least_own)
    assert own.trace.optimal
    assert least_own <= least <= release.loss + 1e-9
    assert least_own - 1e-9 <= release.trace.bound <= least + 1e-9
    assert own.verify().passed
    assert release.verify().passed
    # Few rows are solved, and whoever has the input can check that nothing is better.
    assert release.loss == pytest.approx(least)
    assert release.trace.optimal
    verdict = ht.check_certificate(frame, release.certificate)
    assert verdict.passed
    assert verdict.complete
    assert verdict.figures["optimal"]


@pytest.mark.parametrize("unit", [1e-99, 1e-9, 1e9, 1e99])
def test_only_how_weights_compare_counts(unit):
    frame = draw(1, n_rows=60, n_values=5)
    small, large, dearer = (
        suppress(frame, ht.KAnonymity(k), loss=ht.MinimalDistortion({"a": scale, "b": 2 * scale, "c": scale / 2}))
        for k, scale in ((3, 1.0), (3, unit), (4, unit))
    )
    assert small.trace.gap < 0.05
    assert large.loss == pytest.approx(unit * small.loss)
    assert large.trace.bound == pytest.approx(unit * small.trace.bound)
    assert ht.check_certificate(frame, large.certificate).passed
    entries, others = large.certificate.to_dict(), dearer.certificate.to_dict()
    lie = {**entries, "kept": others["kept"], "value": others["value"], "bound": others["value"]}
    del lie["sha256"]
    assert not ht.check_certificate(frame, ht.Certificate.from_entries(lie)).passed


@pytest.mark.parametrize("loss", ["ncp", "certainty", "minimal_distortion"])
def test_a_certificate_that_says_too_much_fails(loss):
    frame = draw(4)
    release = suppress(frame, ht.KAnonymity(2), loss=loss)
    entries = {name: entry for name, entry in release.certificate.to_dict().items() if name != "sha256"}
    assert ht.check_certificate(frame, ht.Certificate.from_entries(entries)).passed
    row, bits, n_records = entries["kept"][0]
    lies = (
        {"bound": entries["bound"] * 1.2},
        {"bound": entries["bound"] * 1.2, "value": entries["value"] * 1.2},
        {"value": entries["value"] / 2, "bound": entries["bound"] / 2},
        {"prices": [price + 1 for price in entries["prices"]]},
        {"kept": [[row, 7, n_records], *entries["kept"][1:]], "value": entries["value"]},
        {"kept": [[row, bits, n_records + 1], *entries["kept"][1:]]},
        {"kept": [[99, bits, n_records], *entries["kept"][1:]]},
        {"n_records": 3},
    )
    for lie in lies:
        assert not ht.check_certificate(frame, ht.Certificate.from_entries({**entries, **lie})).passed, lie
    assert not ht.check_certificate(draw(5), release.certificate).passed


@pytest.mark.parametrize("seed", range(6))
def test_every_cell_is_kept_or_blank_and_the_readings_are_as_defined(seed):
    frame = draw(seed, n_rows=14)
    original = [tuple(None if cell is None else str(cell) for cell in row) for row in frame.rows()]
    for model in (ht.KAnonymity(3), ht.MatchK1(3)):
        release = suppress(frame, model)
        published = cells(release)
        pairs = [pair for rows in zip(published, original, strict=True) for pair in zip(*rows, strict=True)]
        assert all(cell in (value, "*") for cell, value in pairs)
        assert release.loss == release.blanks.n_cells == n_blank(published)
        blanks = release.blanks
        told = (blanks.smallest_class, blanks.smallest_own, blanks.smallest_wildcard)
        assert told == naive.smallest_by_reading(original, published)
        assert told[1] >= 3
        assert release.to_dict()["blanks"]["smallest_own"] == told[1]
        assert any("protects nobody" in line for line in release.facts) == (blanks.n_cells > 0)


def test_a_later_batch_is_described():
    release = suppress(draw(1, n_rows=300), ht.KAnonymity(8))
    later = release.apply(draw(2, n_rows=200))
    assert later.blanks is None
    assert any("200 records" in line for line in later.facts)
    by_sets = suppress(draw(1, n_rows=300), ht.KAnonymity(8), per_combination=2)
    with pytest.raises(ht.InputError, match="has no next batch"):
        by_sets.apply(draw(2, n_rows=200))


@pytest.mark.parametrize("seed", range(4))
def test_laws_of_the_optimum(seed):
    frame = draw(seed, n_rows=20)
    floors = [suppress(frame, ht.MatchK1(k)).loss for k in (1, 2, 3, 5)]
    assert floors == sorted(floors)
    assert floors[0] == 0
    wider = [suppress(frame, ht.MatchK1(3), NAMES[:n]).loss for n in (1, 2, 3)]
    assert wider == sorted(wider)


def test_a_heavy_column_stays_whole():
    frame = draw(1, n_rows=30, n_values=2)
    for options in ({"weights": {"b": 1e6}}, {"loss": ht.MinimalDistortion({"b": 1e6})}):
        release = suppress(frame, ht.KAnonymity(2), **options)
        assert release.blanks.by_column["b"] == 0
        assert release.loss >= release.trace.bound
    # The floor is one of the loss, which counts cells, and not of the weights.
    assert suppress(frame, ht.KAnonymity(2), weights={"b": 1e6}).trace.bound == suppress(frame, ht.MatchK1(2)).loss


def test_importance_decides_among_equal_costs():
    # Alone in both columns: either blank hides.
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    for first, blanked in (("a", "b"), ("b", "a")):
        release = suppress(frame, ht.KAnonymity(2), importance=[first])
        assert release.blanks.by_column == {first: 0, blanked: 4}
    assert suppress(frame, ht.KAnonymity(2), importance="a") is not None


def test_sensitive_models_and_few_rows_left_over():
    frame = draw(5, n_rows=21).with_columns(ill=pl.Series(["flu", "gout", "mumps"] * 7))
    models = [ht.KAnonymity(4), ht.DistinctLDiversity(2, "ill")]
    release = ht.anonymize(frame, quasi_identifiers=NAMES, models=models, method="suppress", roles="trust")
    assert release.verify().passed
    # One row alone in everything, with others equal: two of those are lent, and nobody else changes.
    frame = pl.DataFrame({"a": [*[1] * 9, 5], "b": [*[1] * 9, 6], "c": [*[1] * 9, 7]})
    release = suppress(frame, ht.KAnonymity(3))
    assert release.loss == 9
    assert sorted(release.partition.sizes.tolist()) == [3, 7]


def test_many_columns_end_with_the_budget():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"q{j:02}": rng.integers(0, 3, 60) for j in range(24)})
    release = ht.anonymize(
        frame,
        quasi_identifiers=frame.columns,
        models=[ht.KAnonymity(3)],
        method="suppress",
        loss="minimal_distortion",
        budget=ht.Budget(nodes=300),
        roles="trust",
    )
    assert release.verify().passed
    assert not release.trace.complete
    assert 0 < release.trace.bound <= release.loss


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"a": -1}}, "the weight -1"),
        ({"importance": ["a", "a"]}, "names a column twice"),
        ({"importance": ["ape"]}, "importance of LocalSuppression"),
        ({"weights": {"ape": 2}}, "weights of LocalSuppression"),
        ({"per_combination": 0}, "per_combination = 0"),
        ({"per_combination": ["a", "b"]}, "per_combination = "),
        ({"per_combination": [["a", "a"]]}, "names a column twice"),
        ({"per_combination": [["a", "ape"]]}, "per_combination of LocalSuppression"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ht.InputError, match=message):
        suppress(draw(1), ht.KAnonymity(2), **options)


def test_other_notions_and_hierarchies_that_leave_values_out_are_refused():
    with pytest.raises(ht.InputError, match=r"it finds \(k,1\)-matching"):
        suppress(draw(1), ht.MatchKK(2))
    with pytest.raises(ht.InfeasibleError):
        suppress(draw(1), ht.MatchK1(9))


def test_the_command_a_policy_and_a_comparison_take_it(tmp_path):
    path = tmp_path / "in.csv"
    frame = draw(4, n_rows=40).with_columns(pl.col("a").cast(pl.String).str.replace("^", "x"))
    frame.write_csv(path)
    names = ",".join(NAMES)
    written = tmp_path / "out.csv"
    asked = ("anonymize", path, "-o", written, "--qi", names, "--k", "3", "--method", "suppress")
    done(*asked, "--loss", "minimal_distortion")
    assert "hold" in done("verify", written).out
    assert set(pl.read_csv(written, infer_schema=False)["a"]) <= {*frame["a"], "*", None}
    policy = ht.Policy.make(
        {
            "columns": dict.fromkeys(NAMES, "quasi-identifier"),
            "models": [{"k-anonymity": 3}],
            "method": {"suppress": {"importance": ["b"], "weights": {"a": 2}}},
        }
    )
    assert ht.Policy.parse(policy.to_yaml()).to_dict() == policy.to_dict()
    assert policy.protect(frame).blanks.smallest_class >= 3
    compared = ht.compare(frame, policy, k=[2, 3], suppression=[0], method=["suppress", "mondrian"])
    assert [row.verified for row in compared.rows if row.method == "suppress"] == [True, True]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sets", [1, 2, [["a", "b"], ["c"]], [["c", "a"], ["a"]]])
def test_combinations_share_cells_on_every_set_above_their_floor(seed, sets):
    frame, k = draw(seed, n_rows=16), 3
    release = suppress(frame, ht.KAnonymity(k), per_combination=sets)
    judged = (
        list(combinations(range(3), sets)) if isinstance(sets, int) else [[NAMES.index(x) for x in s] for s in sets]
    )
    published = cells(release)
    assert naive.smallest_by_set(published, judged) >= k
    assert release.loss == n_blank(published)
    original = [tuple(None if cell is None else str(cell) for cell in row) for row in frame.rows()]
    assert release.trace.bound == naive.own_optimum_by_set(original, k, judged) <= release.loss
    assert release.loss <= suppress(frame, ht.KAnonymity(k)).loss
    assert release.verify().passed
    # The claim is read again from a manifest, and a record that is alone on a set fails it.
    claim = ht.claims.claim_from_dict(release.claim.to_dict())
    assert claim.conditions == release.claim.conditions
    alone = release.frame.with_columns(a=pl.Series(["x", *release.frame["a"].to_list()[1:]]))
    failures = claim.verify(alone).failures
    assert failures
    assert failures[0].rows(alone).tolist()


def test_a_set_of_all_columns_is_k_anonymity():
    frame = draw(4, n_rows=16)
    whole, asked = suppress(frame, ht.KAnonymity(3)), suppress(frame, ht.KAnonymity(3), per_combination=3)
    assert asked.claim.kind == whole.claim.kind == "classes"
    assert asked.loss == whole.loss


def test_combinations_at_the_doors(tmp_path):
    frame = draw(4, n_rows=40)
    path, written = tmp_path / "in.csv", tmp_path / "out.csv"
    frame.write_csv(path)
    policy = ht.Policy.make(
        {
            "columns": dict.fromkeys(NAMES, "quasi-identifier"),
            "models": [{"k-anonymity": 3}],
            "method": {"suppress": {"per_combination": [["a", "b"], ["b", "c"]]}},
        }
    )
    assert ht.Policy.parse(policy.to_yaml()).to_dict() == policy.to_dict()
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    done("anonymize", path, "-o", written, "--policy", tmp_path / "policy.yaml")
    for asked in (("verify", written), ("verify", written, "--policy", tmp_path / "policy.yaml")):
        assert "k-anonymity (k = 3) on a, b" in done(*asked).out
    release = policy.protect(frame)
    assert any("one of these sets" in line for line in release.facts)
    for report in (ht.report(release), ht.report(release, audience="external")):
        assert "share each record's cells" not in str(report.to_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": [ht.MatchK1(2)]}, "models of more than the number of records"),
        ({"models": [ht.DistinctLDiversity(2, "ill")]}, "models of more than the number of records"),
        ({"person": "who"}, "or with persons"),
        ({"average_risk": 0.2}, "a limit of average risk"),
        ({"highest_risk": 0.2}, "limits of the risk"),
    ],
)
def test_combinations_refuse_what_no_set_can_hold(options, message):
    frame = draw(4, n_rows=20).with_columns(ill=pl.Series(["x", "y"] * 10), who=pl.Series(range(20)))
    options = {"models": [ht.KAnonymity(2)], **options}
    method = ht.LocalSuppression(per_combination=2)
    with pytest.raises(ht.InputError, match=message):
        ht.anonymize(frame, quasi_identifiers=NAMES, method=method, roles="trust", **options)


ADULT = {2: (16_199, 16_980, 18_484), 3: (22_245, 23_700, 25_583), 5: (28_546, 30_700, 32_863)}
"""By k: the floor of (k,1), as the project's facts have it; the least bound of prices; the most cells without them."""


def read_adult():
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    path = SHARED / "data" / "arx_adult" / "adult.csv"
    return pl.read_csv(path, separator=";", infer_schema=False).select(names), names


needs_adult = pytest.mark.skipif(not (SHARED / "data" / "arx_adult").is_dir(), reason="the Adult table is not at hand")


@needs_adult
@pytest.mark.parametrize("k", [2, 3, 5])
def test_adult_by_the_walk(monkeypatch, k):
    monkeypatch.setattr(suppression_programme, "_MAX_SETS", 0)
    floor, _, most = ADULT[k]
    frame, names = read_adult()
    own = suppress(frame, ht.MatchK1(k), names)
    assert own.loss == floor
    assert own.trace.optimal
    release = suppress(frame, ht.KAnonymity(k), names)
    assert release.trace.bound == floor
    assert release.loss <= most
    assert release.verify().passed


@needs_adult
@pytest.mark.slow
@pytest.mark.parametrize(("k", "most"), [(2, 17_100), (3, 24_600), (5, 31_900)])
def test_adult_by_programmes(monkeypatch, k, most):
    frame, names = read_adult()
    monkeypatch.setattr(suppression_programme, "_MAX_PARTS", 600)
    release = suppress(frame, ht.KAnonymity(k), names)
    floor, bound, _ = ADULT[k]
    assert floor < bound <= release.trace.bound <= release.loss <= most
    assert release.trace.gap < 0.05
    assert release.verify().passed


def test_programmes_of_parts_reach_the_optimum(monkeypatch):
    # Small parts of a table whose optimum one programme proves.
    frame = draw(3, n_rows=60, n_values=5)
    optimum = suppress(frame, ht.KAnonymity(2))
    assert optimum.trace.optimal
    monkeypatch.setattr(suppression_programme, "_MAX_MEMBERS_OF_PROOF", 0)
    monkeypatch.setattr(suppression_programme, "_MAX_MEMBERS_PER_ROW", 2)
    parts = suppress(frame, ht.KAnonymity(2))
    assert optimum.loss <= parts.loss <= 1.05 * optimum.loss
    assert parts.trace.bound <= optimum.loss


@pytest.mark.parametrize("seed", range(6))
def test_prices_by_definition(seed):
    rng = np.random.default_rng(seed)
    n, k = 7, int(rng.integers(2, 4))
    members = [np.sort(rng.choice(n, rng.integers(1, 6), replace=False)) for _ in range(8)]
    starts = np.append(0, np.cumsum([len(each) for each in members]))
    classes = class_prices.OpenClasses(
        np.concatenate(members).astype(np.int32), starts, rng.integers(0, 4, 8).astype(float)
    )
    counts, prices = rng.integers(1, 4, n), rng.random(n) * 4
    scratch = class_prices.Dearest(np.empty(k), np.empty(k, dtype=np.int64))
    chosen, above = np.zeros(n, dtype=np.int64), np.empty(starts[-1])
    expected = [
        naive.cost_above_prices(each, cost, counts, prices, k)
        for each, cost in zip(members, classes.costs, strict=True)
    ]
    total = class_prices.choose_classes(classes, counts, prices, scratch, chosen)
    assert total == pytest.approx(
        sum(naive.best_choice(each, cost, counts, prices, k) for each, cost in zip(members, classes.costs, strict=True))
    )
    class_prices.cost_above_prices(classes, counts, prices, scratch, above)
    assert above == pytest.approx(np.concatenate(expected))
    class_prices.lower_prices(classes, counts, prices, scratch, 1e-9)
    for each, cost in zip(members, classes.costs, strict=True):
        assert min(naive.cost_above_prices(each, cost, counts, prices, k)) >= -1e-8
