"""Full-domain recoding: the slow twin on small lattices, ARX's figures on its own table, and what a budget leaves."""

import copy
import math
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from command import done, run
from hushtable.quality import measure_release
from strategies import draws
from twins import naive, naive_full_domain as slow

LETTERS = "abcdefg"
LOSSES = {
    "arx_geometric": ht.ArxLoss(),
    "arx_arithmetic": ht.ArxLoss(mean="arithmetic"),
    "ncp": "ncp",
    "non_uniform_entropy": "non_uniform_entropy",
    "precision": "precision",
    "discernibility": "discernibility",
    "average_class_size": "average_class_size",
}
MODELS = [
    ht.KAnonymity(2),
    ht.KAnonymity(4),
    ht.DistinctLDiversity(2, "ill"),
    ht.EntropyLDiversity(1.6, "ill"),
    ht.RecursiveCLDiversity(1.5, 2, "ill"),
    ht.AlphaKAnonymity(0.6, 2, "ill"),
    ht.TCloseness(0.3, "ill", ground="equal"),
    ht.TCloseness(0.2, "ill", ground="ordered"),
    ht.BetaLikeness(1.0, "ill"),
    ht.BetaLikeness(0.7, "ill", enhanced=True),
    ht.DeltaDisclosure(1.2, "ill"),
]


def hist(values):
    return {value: values.count(value) for value in set(values)}


def judge(model, everyone: list[int]) -> slow.Passes:
    """The judgement of a model by its definition."""
    totals = hist(everyone)
    name = type(model).__name__
    return {
        "KAnonymity": lambda ill: naive.k_anonymous(len(ill), model.k),
        "DistinctLDiversity": lambda ill: naive.distinct_l(hist(ill), model.l),
        "EntropyLDiversity": lambda ill: naive.entropy_l(hist(ill), model.l),
        "RecursiveCLDiversity": lambda ill: naive.recursive_cl(hist(ill), model.c, model.l),
        "AlphaKAnonymity": lambda ill: naive.alpha_k(hist(ill), len(ill), model.alpha, model.k),
        "TCloseness": lambda ill: (
            (naive.distance_ordered if model.ground == "ordered" else naive.distance_equal)(hist(ill), totals)
            <= model.t + 1e-9
        ),
        "BetaLikeness": lambda ill: naive.beta_likeness(hist(ill), totals, model.beta, model.enhanced),
        "DeltaDisclosure": lambda ill: naive.delta_disclosure(hist(ill), totals, model.delta),
    }[name]


@st.composite
def ladders(draw):
    """A hierarchy of one to three levels above the values, as a tree and as the slow twin has it."""
    n = draw(st.integers(2, 5))
    inner = [draw(st.integers(0, 2)) for _ in range(n)]
    outer = [draw(st.integers(0, 1)) for _ in range(3)]
    height = draw(st.integers(1, 3))
    paths = [[*[LETTERS[v], f"in{inner[v]}", f"out{outer[inner[v]]}"][:height], "*"] for v in range(n)]
    if height == 1:
        tree = [LETTERS[v] for v in range(n)]
    elif height == 2:
        tree = {f"in{g}": [LETTERS[v] for v in range(n) if inner[v] == g] for g in sorted(set(inner))}
    else:
        tree = {
            f"out{o}": {
                f"in{g}": [LETTERS[v] for v in range(n) if inner[v] == g] for g in sorted(set(inner)) if outer[g] == o
            }
            for o in sorted({outer[g] for g in inner})
        }
    texts = [{v: paths[v][level] for v in range(n)} | {-1: "?"} for level in range(height)] + [
        dict.fromkeys(range(-1, n), "*")
    ]
    shares = []
    for level in range(height + 1):
        same = {v: sum(texts[level][w] == texts[level][v] for w in range(n)) / n for v in range(n)}
        shares.append(same | {-1: 1.0 if level == height else 1 / n})
    return ht.Hierarchy.from_dict({"tree": tree}, "c"), slow.Column(texts, shares), n


@st.composite
def cases(draw, max_rows=14):
    """A table with its hierarchies, and the same for the slow twin."""
    made = [draw(ladders()) for _ in range(draw(st.integers(1, 3)))]
    n_rows = draw(st.integers(2, max_rows))
    missing = [draw(st.booleans()) for _ in made]
    rows = [
        tuple(draw(st.integers(-1 if m else 0, n - 1)) for (_, _, n), m in zip(made, missing, strict=True))
        for _ in range(n_rows)
    ]
    ill = [draw(st.sampled_from([-1, 0, 0, 1, 1, 2])) for _ in range(n_rows)]
    frame = pl.DataFrame(
        {
            **{
                f"c{j}": pl.Series([None if row[j] < 0 else LETTERS[row[j]] for row in rows], dtype=pl.String)
                for j in range(len(made))
            },
            "ill": pl.Series([None if v < 0 else v for v in ill], dtype=pl.Int64),
        }
    )
    case = slow.Case([column for _, column, _ in made], rows, ill)
    return frame, {f"c{j}": ladder for j, (ladder, _, _) in enumerate(made)}, case


def released(frame, hierarchies, models, loss, limit, **options):
    method = options.pop("method", "full_domain")
    return ht.anonymize(
        frame,
        quasi_identifiers=list(hierarchies),
        sensitive=["ill"],
        models=models,
        method=method,
        hierarchies=hierarchies,
        loss=loss,
        suppression_limit=limit,
        **options,
    )


def levels_of(release):
    return tuple(int(cells.level.max(initial=0)) for cells in release.recoding.cells)


@settings(max_examples=draws(200))
@given(
    cases(),
    st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique=True),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from([0.0, 0.02, 0.3, 1.0]),
)
def test_the_best_node_is_the_slow_twins(made, models, loss, limit):
    frame, hierarchies, case = made
    judges = [judge(model, case.ill) for model in models]
    value, ties = slow.best(case, lambda ill: all(each(ill) for each in judges), limit, loss)
    if not ties:
        with pytest.raises(ht.InfeasibleError):
            released(frame, hierarchies, models, LOSSES[loss], limit)
        return
    release = released(frame, hierarchies, models, LOSSES[loss], limit)
    assert release.loss == pytest.approx(value, abs=1e-9)
    assert release.trace.optimal
    assert release.trace.bound == pytest.approx(value, abs=1e-6)
    assert release.n_suppressed <= int(limit * frame.height)
    groups = [
        kept for levels in ties for kept in [slow.kept(case, levels, lambda ill: all(each(ill) for each in judges))]
    ]
    assert len(case.rows) - release.n_suppressed in [sum(map(len, kept)) for kept in groups]
    assert release.verify().passed


MEASURES = {
    "arx_geometric": ("arx_loss", {}),
    "arx_arithmetic": ("arx_loss", {"aggregate": "arithmetic"}),
    "non_uniform_entropy": ("non_uniform_entropy", {}),
    "discernibility": ("discernibility", {}),
    "average_class_size": ("average_class_size", {}),
    "ncp": ("set_ncp", {}),
}


@settings(max_examples=draws(60))
@given(cases(), st.sampled_from(sorted(LOSSES)), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_loss_is_what_is_measured_of_the_release(made, loss, limit):
    frame, hierarchies, case = made
    if len(case.rows) < 2:
        return
    release = released(frame, hierarchies, [ht.KAnonymity(2)], LOSSES[loss], limit)
    if loss == "precision":
        assert release.loss == pytest.approx(1 - measure_release(release, "precision"), abs=1e-9)
        return
    measure, options = MEASURES[loss]
    assert release.loss == pytest.approx(measure_release(release, measure, **options), abs=1e-9)


@settings(max_examples=draws(60))
@given(cases(), st.sampled_from(["arx_loss", "ncp", "precision", "non_uniform_entropy"]), st.data())
def test_weights_are_those_of_columns(made, loss, data):
    frame, hierarchies, _ = made
    weights = {name: data.draw(st.sampled_from([0.5, 1.0, 3.0])) for name in hierarchies}
    release = released(frame, hierarchies, [ht.KAnonymity(2)], {loss: {"weights": weights}}, 0.3)
    scaled = released(
        frame, hierarchies, [ht.KAnonymity(2)], {loss: {"weights": {n: 2 * w for n, w in weights.items()}}}, 0.3
    )
    factor = 2 if loss == "non_uniform_entropy" else 1
    assert scaled.loss == pytest.approx(factor * release.loss, abs=1e-9)
    if loss == "arx_loss":
        assert release.loss == pytest.approx(measure_release(release, "arx_loss", weights=weights), abs=1e-9)


@settings(max_examples=draws(60))
@given(cases(), st.integers(1, 12), st.sampled_from([0.0, 0.3, 1.0]))
def test_a_budget_gives_a_release_with_a_bound(made, n_nodes, limit):
    frame, hierarchies, case = made
    value, _ = slow.best(case, lambda ill: len(ill) >= 2, limit, "arx_geometric")
    release = released(frame, hierarchies, [ht.KAnonymity(2)], ht.ArxLoss(), limit, budget=ht.Budget(nodes=n_nodes))
    assert release.trace.bound <= value + 1e-9
    assert release.loss >= value - 1e-9
    assert release.trace.nodes <= n_nodes + 1
    assert release.trace.optimal == (release.trace.gap == 0)


def test_equal_losses_are_equal_whatever_the_lists_hold(tmp_path):
    # A list of three values and one of two: a fifth of the cells is lost in either column.
    for values in ("abc", "ab"):
        (tmp_path / values).write_text("".join(f"{value};*\n" for value in values))
    frame = pl.DataFrame({"c0": list("aabab"), "c1": list("aabaa"), "c2": list("ababa"), "ill": list("xyxyx")})
    hierarchies = {
        name: ht.Hierarchy.from_csv(tmp_path / values, "c")
        for name, values in zip(("c0", "c1", "c2"), ("abc", "ab", "ab"), strict=True)
    }
    release = released(frame, hierarchies, [ht.KAnonymity(2)], ht.ArxLoss(), 0.3, method=ht.FullDomain(alternatives=4))
    assert [each.loss for each in release.alternatives] == [release.loss]


@settings(max_examples=draws(40))
@given(cases(), st.sampled_from([0.0, 0.3]))
def test_alternatives_are_other_nodes_that_hold(made, limit):
    frame, hierarchies, _ = made
    method = ht.FullDomain(alternatives=4)
    release = released(frame, hierarchies, [ht.KAnonymity(2)], ht.ArxLoss(), limit, method=method)
    seen = [levels_of(each) for each in (release, *release.alternatives)]
    assert len(release.alternatives) <= 4
    assert all(each.loss >= release.loss - 1e-12 and each.verify().passed for each in release.alternatives)
    frames = [tuple(each.frame.rows()) for each in (release, *release.alternatives)]
    assert len(seen) == len(frames)


COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
PAY = "salary-class"
K5 = [ht.KAnonymity(5)]


@pytest.fixture(scope="module")
def adult(shared_file: Callable[[str], Path]):
    """ARX's table and hierarchies."""
    ladders_ = {name: shared_file(f"data/arx_adult/adult_hierarchy_{name}.csv") for name in COLUMNS}
    return shared_file("data/arx_adult/adult.csv"), ladders_


# ARX 3.9.2: levels in the order of COLUMNS, score, suppressed records; the others are of a prototype.
ARX = [
    (K5, 0.0, "04023221", 0.5915849773198221, 0),
    (K5, 0.02, "03012112", 0.30334014291297273, 552),
    (K5, 1.0, "03002101", 0.22004987619069327, 3049),
    ([*K5, ht.DistinctLDiversity(2, PAY)], 0.02, "04013111", 0.37892877217642296, 601),
    ([*K5, ht.TCloseness(0.2, PAY, ground="equal")], 0.02, "04023112", 0.5099701989669747, 302),
    (K5, 0.05, "03001112", 0.2518517151856563, None),
    (K5, 0.1, "03001111", 0.2230200994934295, None),
    ([ht.KAnonymity(2)], 0.02, "03011111", 0.21522101472178234, None),
    ([ht.KAnonymity(50)], 0.02, "03113211", 0.48701428189415896, None),
    ([*K5, ht.DistinctLDiversity(2, PAY)], 1.0, "04011101", 0.30938573453757434, None),
    ([*K5, ht.TCloseness(0.2, PAY, ground="equal")], 0.0, "04123221", 0.7356357249611247, None),
]


@pytest.mark.parametrize(("models", "limit", "levels", "score", "n_suppressed"), ARX)
def test_the_optimum_of_arx(adult, models, limit, levels, score, n_suppressed):
    path, ladders_ = adult
    release = ht.anonymize(
        path,
        quasi_identifiers=COLUMNS,
        models=models,
        method="full_domain",
        hierarchies=ladders_,
        loss="arx_loss",
        suppression_limit=limit,
    )
    assert "".join(map(str, levels_of(release))) == levels
    assert release.loss == pytest.approx(score, abs=1e-12)
    assert n_suppressed in (None, release.n_suppressed)
    assert release.trace.optimal
    assert release.trace.gap == 0
    assert measure_release(release, "arx_loss") == pytest.approx(score, abs=1e-12)


def test_without_suppression_the_entropy_is_that_of_arx(adult):
    path, ladders_ = adult
    release = ht.anonymize(
        path,
        quasi_identifiers=COLUMNS,
        models=K5,
        method="full_domain",
        hierarchies=ladders_,
        loss="non_uniform_entropy",
    )
    assert "".join(map(str, levels_of(release))) == "12113221"
    assert release.loss == pytest.approx(382871.4142387471, abs=1e-6)


def test_many_keys_do_not_fit_a_word():
    rng = np.random.default_rng(0)
    names = [f"c{j}" for j in range(30)]
    frame = pl.DataFrame({name: rng.integers(0, 20, 60).astype(str) for name in names})
    ladders_ = dict.fromkeys(names, ht.Hierarchy.suppression())
    release = ht.anonymize(
        frame,
        quasi_identifiers=names,
        models=[ht.KAnonymity(2)],
        method="full_domain",
        hierarchies=ladders_,
        loss="arx_loss",
        budget=ht.Budget(nodes=300),
    )
    assert release.verify().passed
    assert release.trace.bound <= release.loss
    assert math.isfinite(release.trace.gap)


def test_a_population_is_counted_and_nobody_suppressed():
    frame = pl.DataFrame({"zip": ["101", "102", "201"], "sex": ["f", "m", "f"]})
    people = pl.DataFrame({"zip": ["101", "102", "201", "202", "203"], "sex": ["f", "m", "f", "f", "m"]})
    ladders_ = {"zip": ht.Hierarchy.prefix([1]), "sex": ht.Hierarchy.suppression()}
    for model in (ht.KMap(2), ht.DeltaPresence(0.2, 0.7)):
        release = ht.anonymize(
            frame,
            quasi_identifiers=["zip", "sex"],
            models=[model],
            method="full_domain",
            hierarchies=ladders_,
            loss="arx_loss",
            population=people,
            suppression_limit=0.5,
        )
        assert release.n_suppressed == 0
        assert release.verify().passed
        assert release.trace.optimal


def test_persons_are_counted():
    frame = pl.DataFrame({"who": list("aabbcd"), "town": ["x", "x", "y", "y", "x", "y"]})
    release = ht.anonymize(
        frame,
        quasi_identifiers=["town"],
        models=[ht.KAnonymity(3)],
        person="who",
        pseudonyms=ht.Pseudonyms(("who",), bytes(range(32))),
        method="full_domain",
        hierarchies={"town": ht.Hierarchy.suppression()},
        loss="precision",
    )
    assert set(release.frame["town"]) == {"*"}


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_what_no_level_satisfies_is_infeasible(limit):
    frame = pl.DataFrame({"town": ["x", "y"], "ill": ["flu", "flu"]})
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(
            frame,
            quasi_identifiers=["town"],
            models=[ht.DistinctLDiversity(2, "ill")],
            method="full_domain",
            suppression_limit=limit,
        )


def test_options_are_checked():
    with pytest.raises(ht.InputError):
        ht.FullDomain(alternatives=-1)
    with pytest.raises(ht.InputError):
        ht.ArxLoss(mean="median")
    with pytest.raises(ht.InputError):
        ht.ArxLoss(gs_factor=2)
    with pytest.raises(ht.InputError):
        ht.MinGen(tie_break=ht.ArxLoss())


@settings(max_examples=draws(200))
@given(
    cases(),
    st.lists(st.sampled_from(MODELS), min_size=1, max_size=2, unique=True),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from([0.0, 0.02, 0.3, 1.0]),
)
def test_the_certificate_is_checked_without_the_search(made, models, loss, limit):
    frame, hierarchies, _ = made
    try:
        release = released(frame, hierarchies, models, LOSSES[loss], limit)
    except ht.InfeasibleError:
        return
    verdict = ht.check_certificate(frame, release.certificate)
    assert verdict.passed, verdict.failures
    assert verdict.complete
    assert ht.check_certificate(frame, release.certificate.to_dict(), hierarchies).passed


def numbers_in(entry, path=()):
    """The places of all numbers in plain values."""
    if isinstance(entry, bool):
        return
    if isinstance(entry, (int, float)):
        yield path
    items = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    for key, value in items:
        yield from numbers_in(value, (*path, key))


def with_changed(entries, path, change):
    entries = copy.deepcopy(entries)
    *place, last = path
    holder = entries
    for key in place:
        holder = holder[key]
    holder[last] += change
    return entries


def refused(frame, entries):
    try:
        return not ht.check_certificate(frame, entries).passed
    except ht.InputError:
        return True


PEOPLE = pl.DataFrame(
    {
        "zip": ["10115", "10117", "10119", "10295", "10299", "10297", "30159", "30161"],
        "sex": list("fmfmfmff"),
        "ill": [0, 1, 0, 1, 1, 0, 2, 2],
    }
)
PEOPLE_LADDERS = {"zip": ht.Hierarchy.prefix([3, 1]), "sex": ht.Hierarchy.suppression()}


@pytest.mark.parametrize("limit", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("model", [ht.KAnonymity(2), ht.TCloseness(0.4, "ill", ground="equal")])
def test_a_certificate_with_a_changed_number_is_refused(model, limit):
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2), model], "arx_loss", limit)
    entries = release.certificate.to_dict()
    places = list(numbers_in(entries))
    assert len(places) > 20
    for path in places:
        for change in (1, -1):
            assert refused(PEOPLE, with_changed(entries, path, change)), path


@pytest.mark.parametrize("limit", [0.0, 0.25, 1.0])
def test_who_makes_the_digest_anew_is_refused_all_the_same(limit):
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2)], "arx_loss", limit)
    entries = release.certificate.to_dict()
    del entries["sha256"]
    firm = [("value",), ("n_suppressed",), ("n_records",), ("most_suppressed",)]
    firm += [("levels", j) for j in range(2)] + [("n_levels", j) for j in range(2)]
    for i, (_, low, _, witness, _) in enumerate(entries["intervals"]):
        firm += [("intervals", i, end, j) for end in (1, 2) for j in range(len(low))]
        firm += [("intervals", i, 4)] if witness else []
    for path in firm:
        for change in (1, -1):
            forged = ht.Certificate.from_entries(with_changed(entries, path, change))
            assert refused(PEOPLE, forged), path
    for i in range(len(entries["intervals"])):
        fewer = {**entries, "intervals": entries["intervals"][:i] + entries["intervals"][i + 1 :]}
        assert refused(PEOPLE, ht.Certificate.from_entries(fewer))
    assert refused(PEOPLE.head(7), ht.Certificate.from_entries(entries))
    assert not refused(PEOPLE, ht.Certificate.from_entries(entries))


def test_a_certificate_that_reads_the_input_otherwise_is_refused():
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2), ht.DistinctLDiversity(2, "ill")], "arx_loss", 0.25)
    entries = release.certificate.to_dict()
    for name, spec in (("zip", {"kind": "integer"}), ("zip", {"missing_values": ["10115"]}), ("ill", {"kind": "date"})):
        others = {**entries, "specs": {**entries["specs"], name: spec}}
        forged = ht.Certificate.from_entries({key: each for key, each in others.items() if key != "sha256"})
        verdict = ht.check_certificate(PEOPLE, forged)
        assert next(each.condition for each in verdict.failures).startswith("the certificate reads the columns as")
        assert not verdict.held


def test_the_verdict_on_a_certificate_says_what_it_is_about():
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2)], "arx_loss", 0.25)
    verdict = ht.check_certificate(PEOPLE, release.certificate)
    assert verdict.figures["readings"] == {"sex": "category", "zip": "category"}
    assert verdict.figures["hierarchies_of_certificate"] == ["sex", "zip"]
    assert "by arx_loss under k-anonymity (k = 2), up to 0.25 suppressed" in verdict.conditions[-1]
    own = ht.check_certificate(PEOPLE, release.certificate, PEOPLE_LADDERS)
    assert own.passed
    assert own.figures["hierarchies_of_certificate"] == []
    with pytest.raises(ht.InputError, match="by_rank"):
        ht.check_certificate(PEOPLE, release.certificate, by_rank=["zip"])


def test_a_worse_node_has_no_certificate():
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2)], "arx_loss", 0.25)
    entries = release.certificate.to_dict()
    del entries["sha256"]
    top = {**entries, "levels": [1, 3], "n_suppressed": 0, "value": 1.0}
    verdict = ht.check_certificate(PEOPLE, ht.Certificate.from_entries(top))
    assert next(failure.condition for failure in verdict.failures).startswith("no node of the lattice loses less")


def test_a_certificate_in_a_file_is_its_owners_alone(tmp_path):
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2)], "arx_loss", 0.25)
    path = tmp_path / "proof.json"
    release.certificate.write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ht.check_certificate(PEOPLE, ht.Certificate.read(path)).passed
    with pytest.raises(ht.InputError, match="exists"):
        release.certificate.write(path)
    assert "certificate" not in str(release.to_dict())
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ht.InputError):
        ht.Certificate.read(path)
    with pytest.raises(ht.InputError):
        ht.check_certificate(PEOPLE, ht.Certificate.from_entries({"kind": "dream"}))


def test_without_a_proof_there_is_no_certificate():
    release = released(PEOPLE, PEOPLE_LADDERS, [ht.KAnonymity(2)], "arx_loss", 0.25, budget=ht.Budget(nodes=1))
    assert release.certificate is None
    assert not release.trace.optimal


def test_the_command_writes_a_certificate(tmp_path):
    PEOPLE.write_csv(tmp_path / "in.csv")
    asked = ("anonymize", tmp_path / "in.csv", "--qi", "zip,sex", "--k", "2", "--method", "full_domain")
    asked = (*asked, "--loss", "arx_loss", "--kind", "zip=category", "--set", "limits.suppression=0.25")
    asked = (*asked, "-o", tmp_path / "out.csv", "--certificate", tmp_path / "proof.json")
    assert "certificate" not in done(*asked, "--json").out
    certificate = ht.Certificate.read(tmp_path / "proof.json")
    # What the command was told of a column, the checker is told as well: it takes nothing from the certificate.
    assert not ht.check_certificate(tmp_path / "in.csv", certificate).passed
    assert ht.check_certificate(tmp_path / "in.csv", certificate, specs={"zip": ht.ColumnSpec("category")}).passed
    assert stat.S_IMODE((tmp_path / "proof.json").stat().st_mode) == 0o600
    others = [path for path in tmp_path.iterdir() if path.name not in ("proof.json", "in.csv")]
    assert not any("intervals" in path.read_text(encoding="utf-8") for path in others)
    assert run(*asked, "--force", "--external").code == 2
    by_mondrian = ("anonymize", tmp_path / "in.csv", "--qi", "zip,sex", "--k", "2", "-o", tmp_path / "other.csv")
    assert run(*by_mondrian, "--weights", "zip=2", "--certificate", tmp_path / "other.json").code == 2
    assert not (tmp_path / "other.csv").exists()
