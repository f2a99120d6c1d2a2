"""Methods of perturbation side by side."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import hushtable as ht


def draw_people(n: int = 80) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, n)
    return pl.DataFrame({"age": age, "pay": age * 50 + rng.integers(0, 900, n), "job": ["cook", "smith"] * (n // 2)})


def test_figures_are_those_of_each_release_and_impossible_ones_say_why() -> None:
    people, columns = draw_people(), ["age", "pay"]
    methods = [ht.Microaggregation(5, "mdav"), "noise", {"pram": {"change": 0.99999}}, ht.Microaggregation(81)]
    compared = ht.perturbation_tradeoff(people, columns=columns, methods=methods, seed=3)
    grouped, noisy, _, impossible = compared.points
    release = ht.perturb(people, columns=columns, method="noise", seed=3, keep=[])
    assert (noisy.linkage, noisy.claim) == (release.linkage, "stated")
    assert noisy.sse_share == pytest.approx(np.mean([each.sse_share for each in release.losses]))
    assert noisy.correlation_shift == pytest.approx(abs(release.pairs[0].after - release.pairs[0].before))
    assert grouped.claim == "k-anonymity (k = 5)"
    assert "80 records, fewer than 81" in (impossible.reason or "")
    assert impossible.linkage is None
    assert any("Not possible: microaggregation(k=81)" in fact for fact in compared.facts)
    assert compared.to_frame()["method"].to_list() == [point.method for point in compared.points]  # type: ignore[attr-defined]


def test_noise_on_too_few_records_is_a_row_like_other_impossible_methods() -> None:
    compared = ht.perturbation_tradeoff(draw_people(4), columns=["age", "pay"], methods=["noise", "shuffle"])
    assert [point.reason is None for point in compared.points] == [False, True]


def test_what_is_only_measured_may_be_a_direct_identifier() -> None:
    people = draw_people().with_columns(surname=pl.Series(["Lang", "Kurz"] * 40))
    (point,) = ht.perturbation_tradeoff(people, columns=["surname"], methods=["pram"]).points
    assert point.linkage is not None


def test_the_best_are_those_that_no_other_one_beats() -> None:
    compared = ht.perturbation_tradeoff(draw_people(), columns=["age", "pay"])
    for point in compared.points:
        beaten = any(
            other.linkage <= point.linkage and other.sse_share <= point.sse_share and other != point  # type: ignore[operator]
            for other in compared.points
        )
        assert beaten != (point in compared.best)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"methods": "noise"}, "methods is not a list"),
        ({"methods": []}, "methods is not a list"),
        ({"methods": 5}, "methods is not a list"),
        ({"columns": ["job"], "methods": ["noise"]}, "no method perturbs these columns: columns 'job' are no numbers"),
        ({"methods": ["nois"]}, "unknown perturbation 'nois'"),
        ({"columns": ["agee"]}, "no column 'agee'"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ht.InputError, match=said):
        ht.perturbation_tradeoff(draw_people(), **{"columns": ["age"], **arguments})  # type: ignore[arg-type]


def test_a_policy_and_compare_say_where_perturbation_is() -> None:
    from hushtable.anonymizers import METHODS
    from hushtable.perturbation import METHODS as PERTURBATIONS

    people = draw_people()
    policy = ht.Policy.parse("columns: {age: quasi-identifier, pay: other, job: other}\nmodels: [k-anonymity: 5]")
    for name in PERTURBATIONS:
        with pytest.raises(ht.InputError, match=f"method '{name}' is not asked for here"):
            METHODS.read(name)
    with pytest.raises(ht.InputError, match=r"run `hushtable perturb`"):
        ht.compare(people, policy, method=["pram"])
    with pytest.raises(ht.InputError, match=r"run `hushtable perturb`"):
        ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], method={"noise": {"amount": 1}})


def test_what_is_made_of_many_files_is_refused_with_a_way_out(tmp_path) -> None:  # type: ignore[no-untyped-def]
    people = draw_people()
    people.write_parquet(tmp_path / "a.parquet")
    for data in (tmp_path, people.lazy()):
        with pytest.raises(ht.InputError, match="collapse"):
            ht.perturb(data, columns=["age"], method="rank_swap")
    rows = ht.collapse(pl.scan_parquet(tmp_path / "a.parquet"), people.columns)
    assert ht.perturb(rows, columns=["age"], method="rank_swap").n_records == len(people)
