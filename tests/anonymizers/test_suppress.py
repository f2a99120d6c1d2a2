"""Suppression: as few records as it takes, none where it takes none, and never a small group of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.anonymizers.protecting import offending_rows
from hushtable.io import frames


@pytest.fixture
def people():
    ills = ["flu"] * 130 + ["hiv"] * 40 + ["cold"] * 30
    return pl.DataFrame({"age": [20 + i % 40 for i in range(200)], "ill": ills, "id": range(200)})


ALPHA = [ht.KAnonymity(5), ht.AlphaKAnonymity(0.6, 5, "ill")]


def protected(people, models, limit):
    return ht.anonymize(people, quasi_identifiers=["age"], models=models, suppression_limit=limit, roles="trust")


def test_as_few_as_it_takes(people):
    """105 of 175 is the highest count of flu that is at most 60 %."""
    release = protected(people, ALPHA, 0.2)
    assert release.n_suppressed == 25
    assert set(people["ill"].filter(pl.Series(release.suppressed))) == {"flu"}
    assert release.verify().passed


def test_they_are_dropped_where_they_fail_as_a_class(people, tmp_path):
    release = protected(people, ALPHA, 0.2)
    assert release.drops_suppressed
    assert release.frame["id"].to_list() == np.flatnonzero(~release.suppressed).tolist()
    release.write(tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv").height == 175
    assert release.to_dict()["n_records"] == 200


def test_they_count_in_the_loss(people):
    release = protected(people, ALPHA, 0.2)
    kept = release.recoding.shares()[0] @ release.partition.sizes
    assert release.loss == pytest.approx((kept + 25) / 200)


def test_none_where_none_has_to_go(people):
    release = protected(people, [ht.KAnonymity(5)], 0.2)
    assert release.n_suppressed == 0
    assert not release.drops_suppressed


def test_too_low_a_limit_is_infeasible(people):
    with pytest.raises(ht.InfeasibleError, match="alpha"):
        protected(people, ALPHA, 0.1)


def test_two_sensitive_columns():
    frame = pl.DataFrame({"age": [1] * 20, "a": ["x"] * 15 + ["y"] * 5, "b": ["u", "v"] * 5 + ["u"] * 10})
    models = [ht.AlphaKAnonymity(0.7, 2, "a"), ht.AlphaKAnonymity(0.6, 2, "b")]
    table = ht.Table.encode(frame)
    offending = offending_rows(table, models, 20)
    assert protected(frame, models, 0.9).verify().passed
    assert 0 < offending.sum() < 20


def test_suppressed_cells_of_a_table_that_counts():
    people = pl.DataFrame({"age": [20] * 8 + [30] * 4, "ill": ["flu"] * 8 + ["hiv"] * 4})
    table, _ = ht.Table.encode(people).collapse()
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(
            table, quasi_identifiers=["age"], models=[ht.AlphaKAnonymity(0.5, 2, "ill")], suppression_limit=0.4
        )


@pytest.mark.parametrize("limit", [-0.1, 1.1, float("nan")])
def test_the_limit_is_a_share(people, limit):
    with pytest.raises(ht.InputError, match="suppression_limit"):
        protected(people, ALPHA, limit)


def test_a_limit_of_all_records_suppresses_as_few_as_it_takes_and_never_all(people):
    assert protected(people, ALPHA, 1).n_suppressed == 25
    with pytest.raises(ht.InfeasibleError, match="as long as any record"):
        protected(people.with_columns(ill=pl.lit("flu")), ALPHA, 1)


@given(st.data())
def test_the_order_of_rows_and_columns_plays_no_part(data):
    """Also for records that differ in other columns alone."""
    n = data.draw(st.integers(4, 24))
    cells = st.lists(st.sampled_from([None, "u", "v", "w"]), min_size=n, max_size=n)
    frame = pl.DataFrame(
        {
            "age": data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)),
            "a": ["x"] * (n - n // 4) + ["y"] * (n // 4),
            "b": data.draw(cells),
            "note": data.draw(cells),
            "visits": [[i] for i in range(n)],
        },
        schema_overrides={"b": pl.String, "note": pl.String},
    ).with_columns(id=pl.Series(range(n)) * 0.5)
    models = [ht.AlphaKAnonymity(0.6, 2, "a"), ht.AlphaKAnonymity(0.7, 2, "b")]
    rows = np.array(data.draw(st.permutations(range(n))))
    names = data.draw(st.permutations(frame.columns))

    def chosen(source):
        table = ht.Table.encode(source, [name for name in source.columns if name in ("age", "a", "b")])
        return offending_rows(table, models, n // 2, frames.read(source))

    found = chosen(frame)
    assert chosen(frame[rows].select(names)).tolist() == found[rows].tolist()
    assert chosen(frame.to_pandas()).tolist() == found.tolist()
    table = ht.Table.encode(frame.drop("visits"))
    judged = table.select(["age", "a", "b"])
    assert offending_rows(judged, models, n // 2, table).tolist() == found.tolist()
    assert found.any()


def test_a_release_suppresses_the_same_records_in_any_order(people):
    order = np.random.default_rng(1).permutation(200)
    one, other = protected(people, ALPHA, 0.2), protected(people[order], ALPHA, 0.2)
    assert one.frame.sort("id").equals(other.frame.sort("id"))


def test_what_goes_is_spread_over_the_table(people):
    """Not all from one end of a column, which would bend what is left."""
    gone = people.filter(pl.Series(protected(people, ALPHA, 0.2).suppressed))["age"]
    flu = people.filter(pl.col("ill") == "flu")["age"]
    assert gone.min() < flu.quantile(0.25)
    assert gone.max() > flu.quantile(0.75)


MODELS = [
    ht.DistinctLDiversity(2, "ill"),
    ht.EntropyLDiversity(2, "ill"),
    ht.RecursiveCLDiversity(2.0, 2, "ill"),
    ht.AlphaKAnonymity(0.5, 2, "ill"),
    ht.TCloseness(0.1, "ill"),
    ht.BetaLikeness(1.0, "ill"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("known", [0, 1, 2])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_a_sensitive_column_without_values(make, model, known):
    """All missing, or so few known that suppressing all of them does not help."""
    cells = ["flu"] * known + [None] * (8 - known)
    frame = make({"age": [1, 2, 3, 4] * 2, "ill": pl.Series(cells, dtype=pl.String).to_list()})
    try:
        release = protected(frame, [ht.KAnonymity(2), model], 0.9)
    except ht.InfeasibleError:
        return
    assert release.verify().passed
    assert release.n_suppressed - release.trace.trade.n_suppressed <= known
