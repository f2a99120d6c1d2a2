"""What is left of a release: columns, pairs, means, models; and what of it may be shown."""

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import hushtable as ht
from hushtable.claims import Classes
from hushtable.columns.column import ColumnSpec
from hushtable.errors import ColumnError, InputError
from hushtable.io.frames import read
from hushtable.models import KAnonymity
from hushtable.quality.utility import measure_utility

PEOPLE = ht.datasets.people(300, seed=3)
KEPT = ["diagnosis", "blood_pressure", "visit_date"]


def protect(data, **options):
    given = {"quasi_identifiers": ["birth_date", "sex", "education"], "identifiers": ["name"], "roles": "trust"}
    return ht.anonymize(data, models=[ht.KAnonymity(5)], **{**given, **options})


def rounded(found):
    """Return all figures without what the order of sums leaves in them."""
    return json.loads(json.dumps(found.to_dict()), parse_float=lambda text: round(float(text), 9) + 0.0)


@pytest.fixture(scope="module")
def people():
    names = ["name", "birth_date", "sex", "education", "income", *KEPT]
    return PEOPLE.select(names)


def test_what_is_kept_is_as_it_was(people):
    release = protect(people)
    found = release.utility()
    assert [each.name for each in found.columns] == [name for name in people.columns if name != "name"]
    for name in ("income", *KEPT):
        assert found.column(name).distance == 0
        assert found.column(name).untold_rate == 0
    income = found.column("income")
    assert income.mean == pytest.approx(people["income"].mean())
    assert income.variance == pytest.approx(people["income"].var(ddof=0))
    assert (income.mean_shift, income.variance_ratio) == (0, 1)
    assert 0 < found.column("birth_date").distance < 0.2
    assert found.column("birth_date").mean is None


def test_pairs_that_are_kept_are_as_they_were(people):
    found = protect(people).utility()
    by_name = {(each.first, each.second, each.measure): each for each in found.pairs}
    pair = by_name["income", "blood_pressure", "Spearman"]
    known = people.drop_nulls(["income", "blood_pressure"])
    assert pair.original == pytest.approx(stats.spearmanr(known["income"], known["blood_pressure"]).statistic)
    assert pair.difference == 0
    assert by_name["sex", "diagnosis", "Cramer's V"].original == pytest.approx(
        stats.contingency.association(
            pd.crosstab(people["sex"].to_pandas(), people["diagnosis"].fill_null("-").to_pandas()).to_numpy()
        )
    )


@pytest.mark.parametrize("recoding", ["readable", "cut", "tight", "label", "set", "central"])
def test_every_recoding_can_be_read(people, recoding):
    found = protect(people, method=ht.Mondrian(recoding=recoding)).utility()
    assert [each.reason for each in found.columns] == [""] * len(found.columns)
    assert all(0 <= each.distance < 0.5 for each in found.columns)


def test_all_libraries_and_tables_give_the_same(people):
    # pandas has moments for dates, and decimals beside missing cells.
    plain = people.drop("birth_date", "visit_date").with_columns(pl.col("income").fill_null(0))
    options = {"quasi_identifiers": ["income", "sex", "education"]}
    expected = protect(plain, **options).utility()
    for data in (plain.to_pandas(), plain.to_arrow(), ht.Table.encode(plain)):
        assert rounded(protect(data, **options).utility()) == rounded(expected)
    assert isinstance(expected.to_frame(), pl.DataFrame)
    assert isinstance(protect(people.to_pandas()).utility().to_frame(), pd.DataFrame)
    assert isinstance(protect(people.to_arrow()).utility().to_frame(), pa.Table)


def test_rows_that_count_several_are_several(people):
    rows = people.select("sex", "education", "income")
    twice = pl.concat([rows, rows])
    counted, _ = ht.Table.encode(twice).collapse()
    options = {"quasi_identifiers": ["sex", "education"], "identifiers": []}
    assert rounded(protect(counted, **options).utility()) == rounded(protect(twice, **options).utility())


def test_suppressed_records_are_told_and_left_out(people):
    odd = people.with_columns(pl.when(pl.int_range(pl.len()) < 6).then(pl.lit("other")).otherwise("sex").alias("sex"))
    release = protect(odd, sensitive=["diagnosis"], suppression_limit=0.05)
    found = release.utility()
    share = release.n_suppressed / len(odd)
    assert share > 0
    if release.drops_suppressed:
        assert found.n_release == len(odd) - release.n_suppressed
    else:
        assert found.column("diagnosis").untold_rate == pytest.approx(share)
        assert found.column("sex").untold_rate >= share


def test_what_cannot_be_told_is_never_zero(people):
    release = protect(people, pseudonyms=ht.Pseudonyms(("diagnosis",), b"a secret of many bytes"))
    found = release.utility()
    hidden = found.column("diagnosis")
    assert (hidden.distance, hidden.reason) == (None, "its cells are pseudonyms.")
    assert all("diagnosis" not in (each.first, each.second) for each in found.pairs)
    with pytest.raises(InputError, match="target 'diagnosis' is not judged: its cells are pseudonyms"):
        release.utility("diagnosis")
    assert found.to_frame().filter(pl.col("name") == "diagnosis")["distance"].to_list() == [None]


def measured(original, cells, kind="integer"):
    claim = Classes(tuple(cells), (KAnonymity(2),), specs={name: ColumnSpec(kind) for name in cells})
    published = pl.DataFrame({name: pl.Series(each, dtype=pl.String) for name, each in cells.items()})
    return measure_utility(read(pl.DataFrame(original)), read(published), claim)


def test_by_hand():
    """Ages 1 and 3 published as [1, 4): each of 1, 2, 3 a third; the sums of what is too much are 1/6 and 1/6."""
    (age,) = measured({"x": [1, 3]}, {"x": ["[1, 4)", "[1, 4)"]}).columns
    assert age.distance == pytest.approx((1 / 6 + 1 / 6) / 2)
    assert (age.mean, age.released_mean) == (2, pytest.approx(2))
    assert (age.variance, age.released_variance) == (1, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("original", "cells", "distance", "reason"),
    [
        ([5, 5], ["5", "5"], 0, ""),
        ([5, 5], ["[5, 7)", "[5, 7)"], 1, ""),
        ([5, 5], ["*", "*"], None, "no cell of the release says a value."),
        ([None, None], [None, None], None, "the original has no value."),
        ([5], ["5"], 0, ""),
    ],
)
def test_columns_at_the_edge(original, cells, distance, reason):
    (found,) = measured({"x": pl.Series(original, dtype=pl.Int64)}, {"x": cells}).columns
    assert (found.distance, found.reason) == (distance, reason)
    assert found.mean_shift is None


def test_no_rows():
    found = measured({"x": pl.Series([], dtype=pl.Int64)}, {"x": []})
    assert (found.n_original, found.columns[0].distance) == (0, None)


def test_missing_values_of_a_category_are_a_value():
    (found,) = measured({"x": ["a", None, "a", None]}, {"x": ['["a", null]'] * 3 + [None]}, "category").columns
    assert found.distance == pytest.approx(1 / 8)


def test_columns_of_odd_names():
    names = ["first value", 'say "hi"', "*", "^a.*$", "naïve 😀", ""]
    table = pl.DataFrame({name: [1, 1, 2, 2] for name in names[:-1]})
    release = ht.anonymize(table, quasi_identifiers=table.columns[:3], models=[ht.KAnonymity(2)], roles="trust")
    assert [each.distance for each in release.utility().columns] == [0] * 5


def test_categories_of_very_many_values_are_in_no_pair():
    n = 1_000
    table = pl.DataFrame({"code": [f"c{i}" for i in range(n)], "sex": ["f", "m"] * (n // 2), "age": list(range(n))})
    found = ht.anonymize(table, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], roles="trust").utility()
    assert found.column("code").distance == 0
    assert {(each.first, each.second) for each in found.pairs} == {("sex", "age")}


def test_a_column_that_the_original_lacks(people):
    release = protect(people)
    found = measure_utility(read(people.drop("income")), release.edition.frame(), release.claim)
    assert found.column("income").reason == "the original does not have it."
    with pytest.raises(ColumnError):
        found.column("salary")


def test_no_value_is_shown():
    secret = {"pay": [48151623, 48151623, 7, 7], "job": ["spy", "spy", "cook", "cook"]}
    release = ht.anonymize(pl.DataFrame(secret), quasi_identifiers=["pay"], models=[ht.KAnonymity(2)], roles="trust")
    found = release.utility()
    shown = f"{found!r} {found.columns!r} {found.pairs!r} {found._repr_html_()}"
    assert "48151623" not in shown
    assert "spy" not in shown
    assert "spy" not in json.dumps(found.to_dict())


def test_a_name_is_no_html():
    table = pl.DataFrame({"<b>x</b>": [1, 1, 2, 2]})
    page = ht.anonymize(table, quasi_identifiers=["<b>x</b>"], models=[ht.KAnonymity(2)]).utility()._repr_html_()
    assert page.startswith("<table>")
    assert "<b>x</b>" not in page


# Models: few rows and columns, for a machine may have a single core.


@pytest.fixture(scope="module")
def workers():
    rng = np.random.default_rng(0)
    age, hours = rng.integers(18, 70, 400), rng.integers(10, 60, 400)
    return pl.DataFrame({
        "age": age,
        "hours": hours,
        "pay": 100 * hours + 10 * age + rng.integers(0, 100, 400),
        "part": np.where(hours < 30, "yes", "no"),
    })  # fmt: skip


def test_a_model_of_numbers(workers):
    release = ht.anonymize(
        workers, quasi_identifiers=["age", "hours"], models=[ht.KAnonymity(5)], roles="trust", method="mondrian"
    )
    found = release.utility("pay", held_out=0.25, seed=1).target
    assert (found.measure, found.n_held_out, found.n_train, found.seed) == ("R2", 100, 300, 1)
    assert 0.9 < found.originals <= 1
    assert 0.5 < found.release <= found.originals
    assert 0.5 < found.published_alike <= found.originals
    assert release.utility("pay", held_out=0.25, seed=1).target == found
    assert "pay by gradient boosting, R2" in found.sentence


def test_a_model_of_a_category_learns_from_single_values_alone(workers):
    release = ht.anonymize(workers, quasi_identifiers=["age", "part"], models=[ht.KAnonymity(5)], roles="trust")
    found = release.utility("part").target
    assert found.measure == "accuracy"
    assert found.originals > 0.95
    cells = release.frame["part"]
    assert found.n_train < 280 or set(cells.unique()) == {"yes", "no"}


def test_a_release_of_nothing_teaches_nothing(workers):
    """All cells are stars, so that the model says the same of everybody."""
    cells = {"age": ["*"] * 400, "hours": ["*"] * 400, "part": workers["part"].to_list()}
    claim = Classes(
        ("age", "hours"), (KAnonymity(2),), specs={"age": ColumnSpec("integer"), "hours": ColumnSpec("integer")}
    )
    original = read(workers.drop("pay"))
    found = measure_utility(original, read(pl.DataFrame(cells)), claim, target="part", held_out=original).target
    assert found.release == pytest.approx(max(workers["part"].value_counts()["count"]) / 400)
    assert found.published_alike is None


def test_held_out_originals(workers):
    train, control = workers.head(300), workers.tail(100)
    release = ht.anonymize(train, quasi_identifiers=["age", "hours"], models=[ht.KAnonymity(5)], roles="trust")
    found = measure_utility(
        read(train), release.edition.frame(), release.claim, target="part", held_out=read(control)
    ).target
    assert (found.n_train, found.n_held_out, found.published_alike) == (300, 100, None)
    assert found.originals > 0.95
    with pytest.raises(ColumnError):
        measure_utility(
            read(train), release.edition.frame(), release.claim, target="part", held_out=read(control.drop("age"))
        )
    with pytest.raises(InputError, match="no rows to test a model on"):
        measure_utility(read(train), release.edition.frame(), release.claim, target="part")


@pytest.mark.parametrize(
    ("target", "options", "match"),
    [
        ("salary", {}, "salary"),
        ("part", {"held_out": 1.5}, "held_out = 1.5"),
        ("part", {"held_out": 0.001}, "parts 400 rows"),
        ("one", {}, "fewer than two values"),
    ],
)
def test_what_cannot_be_predicted(workers, target, options, match):
    table = workers.with_columns(pl.lit("x").alias("one"))
    release = ht.anonymize(table, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust")
    with pytest.raises(InputError, match=match):
        release.utility(target, **options)


def test_a_target_alone_has_nothing_to_be_predicted_from(workers):
    release = ht.anonymize(workers.select("age"), quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust")
    with pytest.raises(InputError, match="no column to predict from"):
        release.utility("age")


def test_without_scikit_learn_the_extra_is_named(workers, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    release = ht.anonymize(workers, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust")
    with pytest.raises(InputError, match=r"hushtable\[sklearn\]"):
        release.utility("part")


def test_a_model_of_few_rows_takes_one_thread(monkeypatch):
    import threadpoolctl

    limits = []
    limit = threadpoolctl.threadpool_limits
    monkeypatch.setattr(threadpoolctl, "threadpool_limits", lambda n, api: limits.append(n) or limit(n, api))
    few = pl.DataFrame({"age": list(range(20, 32)), "sex": list("mwmwmwmwmwmw")})
    release = ht.anonymize(few, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], roles="trust")
    assert release.utility(target="sex").target is not None
    assert set(limits) == {1}


def test_figures_past_every_float_are_json_all_the_same():
    far = pl.DataFrame({"a": [1e308, -1e308, 1.0, 2.0] * 4, "b": [1, 2, 3, 4] * 4})
    release = ht.anonymize(far, quasi_identifiers=["a"], models=[ht.KAnonymity(2)], roles="trust")
    json.dumps(release.utility().to_dict(), allow_nan=False)
