"""Attacks on synthetic tables: figures of Anonymeter's, its faults, releases that fall and that do not."""

import datetime as dt
import itertools
import pickle

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.kernels.candidates import count_matches
from hushtable.kernels.neighbours import find_nearest_rows
from hushtable.risk import Tries, excess_over_control
from twins import naive_synthetic as naive

HALVES = (["age", "city"], ["job", "pay"])


def people(n, seed):
    """Return made-up people whose columns tell much together."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "city": [f"c{each}" for each in rng.integers(40, size=n)],
            "job": [f"j{each}" for each in rng.integers(40, size=n)],
            "pay": np.round(rng.lognormal(10, 1, n)),
        }
    )


ORIGINAL, CONTROL, UNRELATED = people(300, 1), people(150, 2), people(300, 3)


def test_the_figures_of_anonymeter():
    risk = excess_over_control(Tries(100, 500), Tries(60, 500))
    assert (risk.center, risk.low, risk.high) == pytest.approx((0.0905140, 0.0408430, 0.1401849), abs=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_queries_are_counted_as_the_twin_does(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (4, 30)).astype(np.int32)
    columns = rng.permuted(np.tile(np.arange(4), (25, 1)), axis=1)[:, :2].astype(np.int32)
    lows = rng.integers(-1, 4, columns.shape).astype(np.int32)
    highs = (lows + rng.integers(0, 3, columns.shape)).astype(np.int32)
    negated = rng.random(columns.shape) < 0.3
    limit = [1, 30][seed % 2]
    counts, last = np.empty(25, dtype=np.int64), np.empty(25, dtype=np.int64)
    count_matches(codes, columns, lows, highs, negated, limit, counts, last)
    for i in range(25):
        query = list(zip(columns[i], lows[i], highs[i], negated[i], strict=True))
        assert (counts[i], last[i]) == naive.count_matches(codes.T.tolist(), query, limit)


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    tables = [np.where(rng.random((n, 4)) < 0.1, np.nan, rng.integers(0, 4, (n, 4)) / 4) for n in (15, 20)]
    near, distances = np.empty((15, 3), dtype=np.int64), np.empty((15, 3))
    find_nearest_rows(*tables, 2, near, distances)
    places, far = naive.nearest_rows(*(table.tolist() for table in tables), 2, 3)
    assert near.tolist() == places
    assert distances.tolist() == far


@pytest.fixture(
    params=[
        lambda made, control: ht.singling_out(ORIGINAL, made, control=control, n_attacks=100),
        lambda made, control: ht.singling_out(ORIGINAL, made, control=control, mode="univariate", n_attacks=100),
        lambda made, control: ht.linkability(ORIGINAL, made, control=control, aux_columns=HALVES),
        lambda made, control: ht.inference(ORIGINAL, made, control=control, secret="pay"),
    ],
    ids=["multivariate", "univariate", "linkability", "inference"],
)
def attack(request):
    return request.param


def test_the_people_themselves_fall(attack):
    found = attack(ORIGINAL, people(300, 2))
    assert found.risk.low > (0.5 if found.kind == "singling out" else 0.9)
    assert found.rates["attack"].value > 0.9


def test_unrelated_people_do_not(attack):
    found = attack(UNRELATED, CONTROL)
    assert found.risk.low == 0
    assert found.risk.value < 0.05


def test_the_same_seed_finds_the_same_and_nothing_shows_a_value(attack):
    found = attack(ORIGINAL, CONTROL)
    assert pickle.loads(pickle.dumps(found)).to_dict() == attack(ORIGINAL, CONTROL).to_dict() == found.to_dict()
    assert found.queries() == attack(ORIGINAL, CONTROL).queries()
    assert len(found.queries()) == found.n_success
    shown = " ".join([*found.queries(), repr(found), str(found.to_dict()), found._repr_html_()])
    assert not {"c1", "j1", "c17"} & set(shown.replace("'", " ").split())


def test_witnesses_show_values_when_asked():
    told = ht.singling_out(ORIGINAL, ORIGINAL, n_cols=4, n_attacks=20).queries(values=True)
    assert any("city == c" in line for line in told)
    assert any("pay >=" in line or "pay <=" in line for line in told)
    assert "(" in ht.inference(ORIGINAL, ORIGINAL, secret="job", n_attacks=5).queries(values=True)[0]


def test_a_copy_shows_what_a_copy_is_said_to_show(attack):
    found = attack(ORIGINAL, CONTROL)
    assert found.risk.value == found.most


def test_a_copy_of_people_who_are_alike_shows_what_a_copy_is_said_to_show():
    # Which of equally near records is the first is drawn, once for both.
    alike = pl.DataFrame({"age": [i // 3 for i in range(120)], "job": [f"j{i // 3}" for i in range(120)]})
    others = pl.DataFrame({"age": [500] * 120, "job": ["nurse"] * 120})
    found = ht.linkability(alike, alike, control=others, aux_columns=(["age"], ["job"]), n_attacks=120)
    assert 0 < found.risk.value == found.most


def test_the_least_risk_is_the_first_whose_interval_leaves_0(attack):
    found = attack(ORIGINAL, CONTROL)
    risks = [excess_over_control(Tries(n, found.n_attacks), found.control) for n in range(found.n_attacks + 1)]
    assert found.least == next(risk.value for risk in risks if risk.low > 0)
    assert 0 < found.least < 1
    assert np.isnan(attack(ORIGINAL, None).least)


def test_without_a_control_the_risk_is_the_rate_and_says_so(attack):
    found = attack(ORIGINAL, None)
    assert found.risk == found.rates["attack"]
    assert "no control" in found.notes[0]


def test_sizes_are_matched_by_the_exact_mean_of_all_draws():
    made = pl.concat([UNRELATED, ORIGINAL[:60]])
    found = ht.singling_out(ORIGINAL, made, control=CONTROL, n_attacks=300)
    assert found.compared.n_success < found.attack.n_success
    # A copy's queries find one of two people who are compared, and the risk is what goes beyond the control.
    assert found.most == pytest.approx(excess_over_control(Tries(150, 300), found.control).value)
    assert f"even a copy of the table would show a risk of {round(found.most, 3):g} only" in found.notes[0]
    drawn = [ht.singling_out(ORIGINAL.sample(150, seed=each), made, n_attacks=300).n_success for each in range(12)]
    assert abs(np.mean(drawn) - found.compared.n_success) < 3 * np.std(drawn)


def skewed(rng, n):
    """Return people of whom many are equal, and the more people there are, the more are of a kind of their own."""
    return pl.DataFrame({name: [f"v{each}" for each in rng.zipf(1.5, n)] for name in "ab"})


@pytest.mark.parametrize("seed", range(5))
def test_the_scaled_control_of_the_peer_raises_a_false_alarm(seed):
    # All three tables are drawn alike, so the risk is 0. As many queries select exactly one of 1,000 people as of 400,
    # where the fitted curve has fewer.
    rng = np.random.default_rng(seed)
    original, control, made = (skewed(rng, n) for n in (1000, 400, 1000))
    ours, theirs = (
        ht.singling_out(original, made, control=control, n_cols=2, n_attacks=500, control_size=size)
        for size in ("matched", "anonymeter")
    )
    assert ours.attack == theirs.attack
    assert ours.risk.low == 0 <= ours.risk.value < 0.05 < ours.risk.high
    assert theirs.risk.low > 0.1
    assert theirs.control.n_success < 0.65 * ours.control.n_success


def test_sizes_are_matched_where_records_are_equal():
    # Distinct rows of many records are no sample that the distinct rows of few could be compared with.
    original, control = pl.DataFrame({"a": [*"aaabbcde"]}), pl.DataFrame({"a": [*"abcf"]})
    made = pl.DataFrame({"a": [*"abcdef"], "b": [*"uvwxyz"]})
    original, control = (each.with_columns(b=pl.lit("u")) for each in (original, control))
    found = ht.singling_out(original, made, control=control, n_cols=1, columns=["a"], n_attacks=50)
    draws = [original[list(rows)] for rows in itertools.combinations(range(8), 4)]
    n_each = [ht.singling_out(each, made, n_cols=1, columns=["a"], n_attacks=50).n_success for each in draws]
    assert found.compared.n_success == pytest.approx(np.mean(n_each))
    copied = ht.singling_out(original, original.unique(), control=control, n_cols=1, columns=["a"], n_attacks=50)
    assert copied.most == pytest.approx(excess_over_control(copied.compared, copied.control).value)


def test_intervals_cover_a_known_risk():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        control = rng.uniform(0.05, 0.5)
        attack = rng.uniform(control + 0.1, 0.9)
        risk = excess_over_control(Tries(rng.binomial(500, attack), 500), Tries(rng.binomial(500, control), 500))
        covered += risk.low <= (attack - control) / (1 - control) <= risk.high
    assert 0.91 <= covered / 200 <= 0.99


def test_names_with_blanks_and_quotes_are_attacked():
    odd = ORIGINAL.rename({"age": "the age", "city": "q'`\"", "job": "class"})
    assert ht.singling_out(odd, odd, n_attacks=50).n_success == 50


def test_rare_days_are_attacked():
    days = pl.DataFrame({"born": [dt.datetime(1950, 1, 1) + dt.timedelta(days=each) for each in range(40)]})
    assert ht.singling_out(days, days, mode="univariate", n_attacks=42).n_success >= 40


def test_a_negative_guess_is_not_always_right():
    guessed = pl.DataFrame({"a": ["x", "y"], "gain": [-5.0, -6.0]})
    true = pl.DataFrame({"a": ["x", "y"], "gain": [100.0, -6.1]})
    assert ht.inference(true, guessed, secret="gain").n_success == 1


def test_by_chance_every_person_is_guessed():
    # Anonymeter 1.1.0 aligns its drawn guesses with the people by row label: nearly all guesses are lost, and a lost
    # guess of a missing secret is right.
    rng = np.random.default_rng(0)
    original, made = (
        pl.DataFrame({"a": rng.integers(9, size=n), "s": rng.choice(["x", "y", None], n, p=[0.6, 0.3, 0.1])})
        for n in (800, 1200)
    )
    found = ht.inference(original, made, secret="s", n_attacks=600)
    agreeing = 0.6**2 + 0.3**2 + 0.1**2
    assert found.baseline.n_attacks == 600
    assert abs(found.baseline.n_success - 600 * agreeing) < 4 * np.sqrt(600 * agreeing * (1 - agreeing))


def test_missing_secrets_are_guessed_by_missing_ones_only():
    table = pl.DataFrame({"a": ["x", "y", "z"], "s": ["1a", None, "2b"]})
    guessed = pl.DataFrame({"a": ["x", "y", "z"], "s": [None, None, "2b"]})
    assert ht.inference(table, guessed, secret="s").n_success == 2


def test_more_attacks_than_people_are_what_can_be_made():
    found = ht.linkability(ORIGINAL, ORIGINAL, control=CONTROL[:20], aux_columns=HALVES, n_attacks=5000)
    assert found.n_attacks == 300
    assert found.control.n_attacks == 20
    assert "only 300 of 5,000 attacks could be made" in found.notes


def test_no_attack_is_no_risk_that_is_known():
    same = pl.DataFrame({"a": ["x", "x"], "b": ["y", "y"]})
    table = pl.DataFrame({"a": ["x", "x", "z", "z"], "b": ["y", "w", "y", "w"]})
    found = ht.singling_out(same, table, n_cols=1)
    assert np.isnan(found.risk.value)
    assert found.to_dict()["risk"]["value"] is None
    assert "no attack" in found.notes[0]


def test_a_control_that_always_succeeds_leaves_nothing_to_exceed():
    found = ht.inference(ORIGINAL, ORIGINAL, control=ORIGINAL, secret="job")
    assert np.isnan(found.risk.value)


def test_guessing_by_boosting():
    table = pl.DataFrame({"a": ["x", "y"] * 60, "n": list(range(120)), "s": ["p", "q"] * 60})
    assert ht.inference(table, table, secret="s", model="boosting", n_attacks=40).n_success == 40


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ht.singling_out(ORIGINAL, ORIGINAL, n_cols=5), "n_cols = 5"),
        (lambda: ht.singling_out(ORIGINAL, ORIGINAL, mode="both"), "mode = 'both'"),
        (lambda: ht.singling_out(ORIGINAL, ORIGINAL, n_attacks=0), "n_attacks = 0"),
        (lambda: ht.singling_out(ORIGINAL, ORIGINAL, control_size="half"), "control_size"),
        (lambda: ht.linkability(ORIGINAL, ORIGINAL, aux_columns=(["age"], ["age"])), "named already"),
        (lambda: ht.linkability(ORIGINAL, ORIGINAL, aux_columns=["age"]), "two lists"),
        (lambda: ht.linkability(ORIGINAL, ORIGINAL, aux_columns=("age", "job")), "aux_columns"),
        (lambda: ht.inference(ORIGINAL, ORIGINAL, secret="agee"), "agee"),
        (lambda: ht.inference(ORIGINAL, ORIGINAL, secret="age", aux_columns=["age"]), "named already"),
        (lambda: ht.inference(ORIGINAL, ORIGINAL, secret="job", regression=True), "no number"),
        (lambda: ht.inference(ORIGINAL, ORIGINAL, secret="job", model="deep"), "model"),
    ],
)
def test_what_cannot_be_asked(call, says):
    with pytest.raises(ht.HushError, match=says):
        call()
